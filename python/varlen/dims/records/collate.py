"""Samples as a batch of Data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Level
from varlen.arguments import is_listed
from varlen.backends import backend_of
from varlen.backends.values import is_array, is_tensor
from varlen.dims.make import from_levels, from_list
from varlen.dims.place import order_of
from varlen.errors import error_of, instance_error, name_item, name_place, value_error

if TYPE_CHECKING:
    from varlen.dims.data import Data
    from varlen.dims.records.spec import DataSpec


def collate(specs: Mapping[str, DataSpec], samples: Sequence[Mapping[str, Any]]) -> dict[str, Data[Any]]:
    """As `DataSpecs.collate`."""
    if isinstance(samples, Mapping) or not is_listed(samples):
        raise instance_error("samples", "a list of dicts", samples)
    rows = list(samples)
    for i, sample in enumerate(rows):
        if not isinstance(sample, Mapping):
            raise instance_error(f"samples[{i}]", "a dict", sample, row=i)
    bound: dict[Dim, Dim] = {}
    result = {}
    for key, spec in specs.items():
        values = [_value_of(key, spec, sample, i) for i, sample in enumerate(rows)]
        try:
            data = _batch_of(key, spec, values, bound)
        except (TypeError, ValueError) as error:
            raise name_place(name_item(error, ""), repr(key)) from None
        for dim in data._shape.dims:
            bound.setdefault(dim, dim)
        result[key] = data
    return result


def _value_of(key: str, spec: DataSpec, sample: Mapping[str, object], i: int) -> Any:
    if key in sample:
        return sample[key]
    if spec.default is None:
        raise error_of(
            KeyError, f"samples[{i}]", f"{key!r} is missing among {list(sample)}, and has no default"
        )
    return spec.default


def _batch_of(key: str, spec: DataSpec, values: list[Any], bound: Mapping[Dim, Dim]) -> Data[Any]:
    """The values of one key: the samples count the batch, what they hold goes by the other dims."""
    dims = [bound.get(dim, dim) for dim in spec.dims]
    batches = [k for k, dim in enumerate(dims) if dim.kind == "batch"]
    if len(batches) != 1:
        raise value_error(
            "", f"a batch is made of samples along one dim of kind 'batch', the spec has {len(batches)}"
        )
    batch = dims.pop(batches[0])
    values = _unify_samples(values)
    front = max([k + 1 for k, dim in enumerate(dims) if not dim.is_static], default=0)
    facts = {"name": key, "dtype": spec.dtype, **spec.facts}
    if front > 1 and values and all(is_array(value) and value.ndim == len(dims) for value in values):
        data = _pad_rectangles(values, batch, dims, front, facts)
    else:
        data = from_list(values, [batch, *dims], **facts)
    return data._reorder_dims(order_of(data._shape, spec.dims) or range(data._shape.rank))


def _unify_samples(values: list[Any]) -> list[Any]:
    """Samples of one kind: where some are arrays or tensors, lists become such, empty ones of their rows."""
    first = next((value for value in values if is_array(value)), None)
    if first is None or all(map(is_array, values)):
        return values
    result = []
    for value in values:
        if not is_array(value):
            array = np.asarray(value) if np.size(value) else np.zeros((0, *first.shape[1:]), np.bool_)
            value = backend_of(first).like(array, first) if is_tensor(first) else array
        result.append(value)
    return result


def _pad_rectangles(
    arrays: list[Any], batch: Dim, dims: list[Dim], front: int, facts: Mapping[str, object]
) -> Data[Any]:
    """One array a sample, whose first axes are as long as they are: lengths of those are over the batch."""
    sizes = np.array([array.shape[:front] for array in arrays], np.int64).reshape(len(arrays), front)
    counts = np.cumprod(sizes, 1)
    inner = [Level(sizes[:, k].repeat(counts[:, k - 1])) for k in range(1, front)]
    batch = batch if batch.is_defined else batch.bind(len(arrays))
    new_dims = [
        dim.bind(sizes[:, k], batch) if k < front and not dim.is_defined else dim
        for k, dim in enumerate(dims)
    ]
    rows = [
        array.reshape((int(count), *array.shape[front:]))
        for array, count in zip(arrays, counts[:, -1], strict=True)
    ]
    values = backend_of(rows[0]).concat(rows)
    return from_levels(values, (Level(sizes[:, 0]), *inner), [batch, *new_dims], **facts)
