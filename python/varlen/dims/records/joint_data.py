"""Convert joint dicts to Data and back: every level is a Dim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Joint, Level, RaggedBase
from varlen.backends.values import memory_of
from varlen.dims.axes import describe
from varlen.dims.constructors import batch_dim
from varlen.dims.make import check_dims, from_levels
from varlen.dims.place import in_order
from varlen.dims.records.spec import DataSpec
from varlen.errors import instance_error, name_item, name_place, value_error

if TYPE_CHECKING:
    from varlen.dims.data import Data
    from varlen.levels import Levels


def level_dims(depth: int) -> tuple[Dim, ...]:
    """New dims for rows and levels: the batch, "dim1", "dim2" and so on."""
    return (batch_dim, *[Dim(name=f"dim{k}") for k in range(1, depth + 1)])


def from_joint(joint: object, dims: Sequence[Dim] | None) -> dict[str, Data[Any]]:
    """As `DataDict.from_joint`."""
    words: Mapping[str, Any] = {}
    if hasattr(joint, "__varlen_joint__"):
        view: Joint = joint.__varlen_joint__()
        words = (view.meta or {}).get("vocabularies", {})
        columns = {
            name: (view.values(name), tuple([view.level(k) for k in range(1, dim + 1)]))
            for name, dim in zip(view.names, view.dims, strict=True)
            if dim >= 0
        }
        base_levels = tuple([view.level(k) for k in range(1, view.depth + 1)])
    elif isinstance(joint, Mapping):
        columns = {
            name: (value._values, value._levels) if isinstance(value, RaggedBase) else (value, ())
            for name, value in joint.items()
        }
        base_levels = max((levels for _, levels in columns.values()), key=len, default=())
    else:
        raise instance_error("joint", "a joint dict", joint)
    dim_list = level_dims(len(base_levels)) if dims is None else check_dims(dims)
    if len(dim_list) <= len(base_levels):
        raise value_error(
            "dims", f"expected {len(base_levels) + 1}, the rows' and one a level, got {describe(dim_list)}"
        )
    specs = {
        name: spec_of_column(name, dim_list[: len(levels) + 1], values.shape[1:], words.get(name))
        for name, (values, levels) in columns.items()
    }
    return columns_as_data(columns, specs)


def spec_of_column(
    name: str, dims: Sequence[Dim], sizes: Sequence[int], words: Sequence[str] | None
) -> DataSpec:
    """The spec of a key of a joint dict: dims of rows and levels, those of axes, the classes of its words.

    Axes of rows and classes get new dims, which are named as the key.
    """
    if len(sizes) == 1:
        axis_dims = [Dim(name=name, size=sizes[0], kind="feature")]
    else:
        axis_dims = [Dim(name=f"{name}{k}", size=size) for k, size in enumerate(sizes)]
    sparse = None if words is None else Dim(name=name, kind="feature", vocab=list(words))
    return DataSpec([*dims, *axis_dims], sparse_dim=sparse)


def columns_as_data(
    columns: Mapping[str, tuple[Any, Levels]], specs: Mapping[str, DataSpec]
) -> dict[str, Data[Any]]:
    """A Data for each key, of values under the first levels; dims without lengths are bound once."""
    bound: dict[Dim, Dim] = {}
    result = {}
    for name, (values, levels) in columns.items():
        spec = specs[name]
        dims = [bound.get(dim, dim) for dim in spec.dims]
        try:
            result[name] = from_levels(values, levels, dims, name=name, dtype=spec.dtype, **spec.facts)
        except (TypeError, ValueError) as error:
            raise name_place(name_item(error, ""), repr(name)) from None
        for dim in result[name]._shape.dims:
            bound.setdefault(dim, dim)
    return result


def joint_of(batch: Mapping[str, Data[Any]]) -> Joint:
    """The core's columns of Data whose ragged dims nest in the same levels."""
    dims: list[int] = []
    arrays: list[np.ndarray] = []
    words: dict[str, tuple[str, ...]] = {}
    levels: list[Level] = []
    names: list[Dim] = []
    for key, value in batch.items():
        data = in_order(value)
        shape = data._shape
        if not shape.rank:
            raise value_error("", "a number without dims has no rows", context=f"{key!r}")
        own = tuple([shape.span(k, k + 1) for k in range(1, shape.ragged)])
        for k, level in enumerate(own):
            if k < len(levels) and not (levels[k] is level or levels[k] == level):
                raise value_error(
                    "",
                    f"'{shape.dims[k + 1].name}' has other lengths than '{names[k].name}', and "
                    "keys of a joint dict share their levels",
                    context=f"{key!r}",
                )
        if len(own) > len(levels):
            levels, names = list(own), list(shape.dims[1 : shape.ragged])
        dims.append(len(own))
        arrays.append(memory_of(data._values))
        if data.vocab is not None:
            words[key] = data.vocab.labels
    meta = {"vocabularies": words} if words else None
    return Joint(list(batch), dims, arrays, levels, -1, meta)
