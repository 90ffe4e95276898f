"""The declarations of a dataset's schema: saved with its rows, and the names of its dims."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from varlen.data.sources.alignment import AlignedSource, TakenSource
from varlen.data.sources.chain import JoinedSource
from varlen.data.sources.memory import Source
from varlen.data.sources.wrapper import WrappedSource
from varlen.dims import Dim, batch_dim
from varlen.io import Schema, SchemaColumn, ShardSet

__all__: list[str] = []


def declared_columns(source: Source) -> dict[str, SchemaColumn]:
    """The columns that the files of a source declare; of several, where all say the same.

    >>> import varlen as vl
    >>> declared_columns(vl.Dataset(vl.JointNestedRaggedTensorDict({"x": [1, 2]})).source)
    {}
    """
    own: Any = source
    if isinstance(own, ShardSet):
        return dict(own.declared)
    if isinstance(source, WrappedSource):
        return {n: c for n, c in declared_columns(source._source).items() if n not in source._columns}
    if isinstance(source, TakenSource):
        return declared_columns(source._source)
    if isinstance(source, AlignedSource):
        parts = enumerate(map(declared_columns, source._parts))
        return {n: c for i, columns in parts for n, c in columns.items() if source._owners.get(n) == i}
    if isinstance(source, JoinedSource):
        first, *others = map(declared_columns, source._full)
        return {n: c for n, c in first.items() if all(other.get(n) == c for other in others)}
    return {}


def schema_of_source(source: Source) -> Schema | None:
    """The schema of rows that are saved: what was declared, and what else there is; None without the first.

    >>> import varlen as vl
    >>> schema_of_source(vl.Dataset(vl.JointNestedRaggedTensorDict({"x": [1, 2]})).source)
    """
    intents = declared_columns(source)
    if not intents:
        return None
    fields: Any = {name: field for name, field in source.fields.items() if field.dim >= 0}
    columns = {}
    for name, column in Schema.of(fields).items():
        intent = intents.get(name, column)
        columns[name] = intent if column.dtype is None else replace(intent, dtype=column.dtype)
    return Schema(columns)


def declared_dims(source: Source, depth: int) -> tuple[list[Dim], dict[str, list[Dim]]] | None:
    """Dims of rows and levels, and of the axes behind them by key, as they are declared; None where none is.

    >>> import varlen as vl
    >>> declared_dims(vl.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1], [2]]})).source, 1)
    """
    columns = {name: column for name, column in declared_columns(source).items() if column.dims}
    if not columns:
        return None
    levels = [f"dim{k}" for k in range(1, depth + 1)]
    axes: dict[str, Dim] = {}
    row_dims: dict[str, list[Dim]] = {}
    for key, column in columns.items():
        levels[: column.level] = column.dims[: column.level]
        for name, size in zip(column.dims[column.level :], column.trailing, strict=True):
            row_dims.setdefault(key, []).append(axes.setdefault(name, Dim(name=name, size=size)))
    return [batch_dim, *(Dim(name=name) for name in levels)], row_dims
