"""Batches as Data: every level of a dataset is a Dim, and keys share them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from varlen import _core
from varlen.arguments import as_dtype
from varlen.backends.values import memory_of
from varlen.dims import Data, DataDict, DataSpec, DataSpecs, Dim, batch_dim
from varlen.dims.make import check_dims
from varlen.dims.records.joint_data import columns_as_data, level_dims, spec_of_column
from varlen.errors import error_of, value_error

if TYPE_CHECKING:
    from varlen.backends.values import DTypes
    from varlen.data.sources.memory import ColumnLike

__all__: list[str] = []

_MADE = re.compile(r"dim(\d+)/(offsets|max_length|positions|lengths|part)|window/(start|end)|(.+)/mask")


def schema_of(
    columns: Mapping[str, ColumnLike],
    dims: object,
    flatten: bool,
    keys: Iterable[str] | None = None,
    row_dims: Mapping[str, Sequence[Dim]] | None = None,
) -> DataSpecs:
    """The DataSpecs of batches of some keys."""
    depth = max((column.dim for column in columns.values()), default=0)
    depth = min(depth, 1) if flatten else depth
    if isinstance(dims, DataSpecs):
        for key in dims if keys is None else keys:
            if key not in columns:
                raise error_of(
                    KeyError, "dims", f"the schema has {key!r}, which is not one of {list(columns)}"
                )
            if key not in dims:
                raise error_of(KeyError, "dims", f"the schema has no {key!r} among {list(dims)}")
            column = columns[key]
            counts = (min(column.dim, depth) + 1, len(column.trailing))
            if len(dims[key].dims) != sum(counts):
                raise value_error(
                    "dims",
                    f"{key!r} has {counts[0]} dims of rows and levels and {counts[1]} trailing dims, "
                    f"the schema says {dims[key]!r}",
                )
        return dims
    if dims is None:
        lead = [batch_dim, Dim(name="flat")] if flatten and depth else list(level_dims(depth))
    else:
        lead = check_dims(dims)
    if len(lead) <= depth:
        raise value_error("dims", f"expected {depth + 1}, the rows' and one for each level, got {len(lead)}")
    specs = {}
    for key, column in columns.items():
        front = lead[: min(column.dim, depth) + 1]
        axes = (row_dims or {}).get(key, ())
        sizes = () if axes else column.trailing
        specs[key] = spec_of_column(key, [*front, *axes], sizes, column.vocabulary)
    return DataSpecs(specs)


def check_dtypes(schema: DataSpecs, keys: Iterable[str], dtype: DTypes) -> None:
    """Refuse dtypes of a batch that are not those of its DataSpecs."""
    for key in keys:
        user_dtype = dtype.get(key) if isinstance(dtype, Mapping) else dtype
        schema_dtype = schema[key].dtype
        if user_dtype is None or schema_dtype is None:
            continue
        name = as_dtype(user_dtype, f"dtype of {key!r}").newbyteorder("=")
        if name != as_dtype(schema_dtype, "dtype").newbyteorder("="):
            raise value_error("", f"dtype of {key!r}: asked for {name}, but the schema says {schema_dtype}")


def as_data(batch: Mapping[str, Any], schema: DataSpecs, depths: Mapping[str, int]) -> DataDict:
    """The arrays of a ragged batch as Data."""
    levels: list[_core.Level] = []
    while (offsets := batch.get(f"dim{len(levels) + 1}/offsets")) is not None:
        levels.append(_core.Level.from_offsets(memory_of(offsets)))
    deepest = max(depths, key=lambda key: depths[key], default=None)
    front = [batch_dim] if deepest is None else schema[deepest].dims[: depths[deepest] + 1]
    columns, specs = {}, {}
    for name, values in batch.items():
        depth = depths.get(name)
        spec = None if depth is None else schema[name]
        if depth is None:
            match = _MADE.fullmatch(name)
            parts: tuple[str | None, ...] = (None,) * 4 if match is None else match.groups()
            number, what, window, key = parts
            if window is not None or what == "lengths":
                depth, spec = 0, DataSpec(front[:1])
            elif what in ("positions", "part"):
                depth = int(number or 0)
                spec = DataSpec(front[: depth + 1])
            elif key is not None and key in depths:
                depth = depths[key]
                spec = DataSpec(schema[key].dims)
        if depth is not None and spec is not None:
            columns[name], specs[name] = (values, tuple(levels[:depth])), spec
    data: dict[str, Data[Any]] = columns_as_data(columns, specs)
    return DataDict(data)
