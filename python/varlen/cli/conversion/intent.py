"""The schema of a conversion: learned from the input, or declared and enforced."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Joint
from varlen.io import Schema, SchemaColumn

if TYPE_CHECKING:
    from varlen.cli.conversion.plan import ConversionPlan

__all__: list[str] = []

#: The word of nulls while a schema is inferred.
NULL = "\0"


def infer_schema(plan: ConversionPlan) -> Schema:
    """The schema of the columns, from a pass over the whole input."""
    if plan.lines and plan.groups:  # the pass before read events, not the records of their groups
        for joint in itertools.islice(plan.read("reading"), 1):
            plan.levels = dict(zip(joint.names, joint.dims, strict=True))
    words = {name for name in plan.words.keys if name in plan.levels}
    with_nulls = plan.with_nulls | {name for name in words if NULL in plan.words.words_of(name)}
    if not plan.lines:
        with_nulls |= plan.tables.null_lists
    columns = {
        name: _column(
            plan,
            name,
            None if name in words else plan.dtypes[name],
            {"level": level, "trailing": plan.trailing[name], "nullable": name in with_nulls},
        )
        for name, level in plan.levels.items()
    }
    return Schema(columns)


def schema_of(plan: ConversionPlan, first: Joint | None, dtypes: dict[str, Any]) -> Schema | dict[str, Any]:
    """The schema that the file keeps: the given one, or that of the first piece."""
    if plan.schema is not None:
        return plan.schema
    if first is None:
        return dtypes
    return Schema(
        {
            name: _column(
                plan,
                name,
                None if name in plan.words else dtypes.get(name, first.values(name).dtype),
                {"level": dim, "trailing": first.values(name).shape[1:]},
            )
            for name, dim in zip(first.names, first.dims, strict=True)
        }
    )


def _column(plan: ConversionPlan, name: str, dtype: Any, options: dict[str, Any]) -> SchemaColumn:
    if dtype is None:
        note = None if plan.lines else plan.tables.notes.get(name)
        is_id = name == plan.words.row_ids
        return SchemaColumn("id" if is_id else "code", note=note, **options)
    dtype = np.dtype(dtype)
    kind = "time" if dtype.kind in "mM" else "number"
    if dtype.kind in "iu" and name in (plan.words.row_ids, *plan.groups[:1]):
        kind = "id"
    return SchemaColumn(kind, str(dtype), zone="UTC" if name in plan.zones else None, **options)
