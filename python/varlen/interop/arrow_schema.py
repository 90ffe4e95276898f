"""Schemas of Arrow as declarations of columns, and back, in plain dicts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from varlen.errors import instance_error, twin_error, type_error
from varlen.interop.arrow_columns import _TENSOR, _is_list, extension_name, holds_words, plain_type
from varlen.interop.nulls import FIELD

__all__: list[str] = []

_KIND = b"varlen.kind"
_DIMS = b"varlen.dims"


def columns_of_schema(schema: pa.Schema) -> dict[str, dict[str, Any]]:
    """The arguments of each column of a schema.

    >>> columns_of_schema(pa.schema({"x": pa.list_(pa.int8())}))
    {'x': {'kind': 'number', 'dtype': 'int8', 'level': 1, 'nullable': True}}
    """
    if not isinstance(schema, pa.Schema):
        raise instance_error("schema", "a pyarrow Schema", schema)
    out: dict[str, dict[str, Any]] = {}
    for field in schema:
        for name, column in _leaves(field, field.name, 0, field.nullable):
            if name in out:
                raise twin_error("schema", name)
            out[name] = column
    return out


def _leaves(field: pa.Field, name: str, level: int, nullable: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    kind = plain_type(field.type)
    while _is_list(kind):
        nullable |= kind.value_field.nullable
        kind, level = plain_type(kind.value_type), level + 1
    kind, row_shape = _without_fixed(kind)
    if pa.types.is_struct(kind) and not row_shape:
        for part in kind:
            yield from _leaves(part, f"{name}{FIELD}{part.name}", level, nullable or part.nullable)
        return
    if pa.types.is_dictionary(kind) and not holds_words(kind):
        kind = kind.value_type
    column: dict[str, Any] = {"kind": "number", "dtype": None, "level": level, "nullable": nullable}
    column |= {"trailing": row_shape} if row_shape else {}
    if holds_words(kind):
        column["kind"] = "code"
    elif pa.types.is_decimal(kind):
        column["dtype"] = "int64" if kind.scale <= 0 else "float64"
    else:
        try:
            dtype = np.dtype(kind.to_pandas_dtype())
        except (NotImplementedError, TypeError):
            dtype = np.dtype(object)
        if pa.types.is_date(kind):
            dtype = np.dtype("M8[D]" if pa.types.is_date32(kind) else "M8[ms]")
        elif pa.types.is_timestamp(kind):
            dtype = np.dtype(f"M8[{kind.unit}]")
        if dtype.kind not in "biufmM":
            raise type_error("schema", f"{name}: expected numbers, times or text, got type {kind}")
        column |= {"kind": "time" if dtype.kind in "mM" else "number", "dtype": str(dtype)}
        if getattr(kind, "tz", None) is not None:
            column["zone"] = "UTC"
    metadata = field.metadata or {}
    if _KIND in metadata:
        column["kind"] = metadata[_KIND].decode()
    if _DIMS in metadata:
        column["dims"] = json.loads(metadata[_DIMS])
    yield name, column


def _without_fixed(kind: pa.DataType) -> tuple[pa.DataType, tuple[int, ...]]:
    """The type in lists of a fixed size, or in tensors, and their sizes."""
    if extension_name(kind) == _TENSOR:
        order = kind.permutation or range(len(kind.shape))
        return kind.value_type, tuple(kind.shape[dim] for dim in order)
    sizes = []
    while pa.types.is_fixed_size_list(kind):
        sizes.append(kind.list_size)
        kind = kind.value_type
    return kind, tuple(sizes)


def schema_of_columns(columns: Mapping[str, Mapping[str, Any]]) -> pa.Schema:
    """The schema of columns by their arguments.

    >>> schema_of_columns({"x": {"kind": "code", "level": 1}}).types
    [LargeListType(large_list<item: large_string>)]
    """
    out = []
    for name, column in columns.items():
        kind = pa.large_string()
        if "dtype" in column:
            dtype = np.dtype(column["dtype"])
            kind = pa.from_numpy_dtype(dtype)
            if dtype.kind == "M" and column.get("zone"):
                kind = pa.timestamp(np.datetime_data(dtype)[0], column["zone"])
        nullable = column.get("nullable", True)
        for size in column.get("trailing", ())[::-1]:
            kind = pa.list_(pa.field("item", kind, nullable), size)
        for _ in range(column.get("level", 0)):
            kind = pa.large_list(pa.field("item", kind, nullable))
        metadata = {_KIND: column["kind"].encode()}
        if dims := column.get("dims"):
            metadata[_DIMS] = json.dumps(dims).encode()
        out.append(pa.field(name, kind, nullable, metadata))
    return pa.schema(out)
