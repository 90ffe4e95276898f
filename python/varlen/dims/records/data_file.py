"""Store Data in a safetensors file, with a table of their dims in its metadata.

| metadata | holds |
| --- | --- |
| `dims` | what `write_dims` gives |
| `data` | JSON: for each key the places of its dims in that table, and of those that have a role |
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core, io
from varlen._core import Dim, Shape
from varlen.arguments import as_path
from varlen.backends.numpy.rows import native_order
from varlen.backends.values import is_tensor, memory_of
from varlen.dims.base import Annotations, dtype_name, make_data
from varlen.dims.make import check_facts
from varlen.dims.table import read_dims, write_dims
from varlen.errors import name_file, value_error
from varlen.io.dtypes import dtype_of
from varlen.io.errors import format_error
from varlen.io.save import split_name

if TYPE_CHECKING:
    from varlen.dims.data import Data

_ROLES = ("sparse_dim", "feature_dim", "time_dim")


def save(batch: Mapping[str, Data[Any]], path: str | os.PathLike[str], durable: bool) -> None:
    """As `DataDict.save`."""
    table: list[Dim] = []
    entries: dict[str, Any] = {}
    arrays: dict[str, np.ndarray] = {}
    for key, data in batch.items():
        if split_name(key)[0] is not None:
            raise value_error(
                "",
                "tensors of joint files are called so",
                "take another name",
                context=f"{key!r}",
            )
        entries[key] = _entry(data, table)
        values: Any = data._values.detach().cpu() if is_tensor(data._values) else data._values
        array = memory_of(values)
        if array.dtype.kind in "mM":
            array = native_order(array).view(np.int64)
        if dtype_name(array.dtype) != dtype_name(values.dtype):
            entries[key]["bits_of"] = dtype_name(values.dtype)
        arrays[key] = array
    metadata = {"dims": write_dims(table), "data": json.dumps(entries, separators=(",", ":"))}
    io.save(path, arrays, metadata=metadata, durable=durable)


def _entry(data: Data[Any], table: list[Dim]) -> dict[str, Any]:
    entry: dict[str, Any] = {"dims": [_place(table, dim) for dim in data._shape.dims]}
    if data._order is not None:
        entry["order"] = list(data._order)
    for role in _ROLES:
        dim = getattr(data._facts, role)
        if dim is not None:
            entry[role] = _place(table, dim)
    if data.name is not None:
        entry["name"] = data.name
    if not data.available_for_inference:
        entry["available_for_inference"] = False
    return entry


def _place(table: list[Dim], dim: Dim) -> int:
    """The place of a dim of the same lengths."""
    for k, other in enumerate(table):
        if other is dim or (other == dim and other.level is dim.level and other.over == dim.over):
            return k
    table.append(dim)
    return len(table) - 1


def load(path: str | os.PathLike[str]) -> dict[str, Data[Any]]:
    """As `DataDict.load`."""
    where = as_path(path)
    file = _core.MappedFile(where, None, True, False)
    metadata = file.header.metadata
    if "dims" not in metadata or "data" not in metadata:
        raise format_error(where, "has no dims; a file of Data is what DataDict.save writes")
    try:
        dims = read_dims(metadata["dims"])
        entries = json.loads(metadata["data"])
        return {key: _read(file, key, entry, dims) for key, entry in entries.items()}
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise name_file(error, where, io.FileFormatError) from None


def _read(file: _core.MappedFile, key: str, entry: dict[str, Any], dims: list[Dim]) -> Data[Any]:
    shape = Shape([_dim_of(dims, k) for k in entry["dims"]])
    number = file.header.names.index(key)
    values: Any = file.view(number, dtype_of(file.header.describe(number)[1]))
    if tuple(values.shape) != shape.array_shape:
        raise value_error(
            "",
            f"expected the shape {shape.array_shape}, the file has {values.shape}",
            context=f"{key!r}",
        )
    if "bits_of" in entry:
        values = _from_bits(values, entry["bits_of"])
    order = entry.get("order")
    if order is not None and sorted(order) != list(range(shape.rank)):
        raise value_error("", f"{order} is no order of {shape.rank} dims", context=f"{key!r}")
    data = make_data(values, shape, None if order is None else tuple(order))
    roles: dict[str, Any] = {role: _dim_of(dims, entry[role]) for role in _ROLES if role in entry}
    flag = entry.get("available_for_inference", True)
    facts = Annotations(entry.get("name"), available_for_inference=bool(flag))._replace(**roles)
    data._facts = check_facts(data, facts)
    return data


def _dim_of(dims: list[Dim], place: object) -> Dim:
    if not isinstance(place, int) or not 0 <= place < len(dims):
        raise value_error("", f"place {place!r} among {len(dims)} dims")
    return dims[place]


def _from_bits(bits: np.ndarray, name: str) -> Any:
    """Times, and tensors of dtypes that NumPy lacks."""
    if name.startswith(("datetime64", "timedelta64")):
        return bits.view(name)
    if not name.startswith(("bfloat16", "complex32", "float4_", "float8_")):
        raise value_error("", f"no dtype is called {name!r}")
    import torch

    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        raise value_error("", f"torch has no dtype {name!r}")
    return torch.from_numpy(np.array(bits)).view(dtype)
