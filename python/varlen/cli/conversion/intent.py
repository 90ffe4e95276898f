"""What columns are meant to be in a conversion: learned from the input, or declared and enforced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Joint
from varlen.io import Schema, SchemaColumn

if TYPE_CHECKING:
    from varlen.cli.conversion.plan import ConversionPlan
    from varlen.interop.arrow import Nulls

__all__: list[str] = []

#: The word of nulls while a schema is inferred.
NULL = "\0"


def infer_schema(plan: ConversionPlan) -> Schema:
    """What the columns are, from a pass over all of the input."""
    words = {name for name in plan.words.keys if name in plan.levels}
    with_nulls = plan.with_nulls | {name for name in words if NULL in plan.words.of(name)}
    columns = {
        name: _column(plan, name, level, None if name in words else plan.dtypes[name], name in with_nulls)
        for name, level in plan.levels.items()
    }
    return Schema(columns)


def schema_of(plan: ConversionPlan, first: Joint | None, dtypes: dict[str, Any]) -> Schema | dict[str, Any]:
    """The schema that was given, or what the columns of the first piece are: what the file keeps."""
    if plan.schema is not None:
        return plan.schema
    if first is None:
        return dtypes
    return Schema(
        {
            name: _column(
                plan,
                name,
                dim,
                None if name in plan.words else dtypes.get(name, first.values(name).dtype),
                True,
            )
            for name, dim in zip(first.names, first.dims, strict=True)
        }
    )


def _column(plan: ConversionPlan, name: str, level: int, dtype: Any, nullable: bool) -> SchemaColumn:
    if dtype is None:
        note = None if plan.lines else plan.tables.notes.get(name)
        is_id = name == plan.words.row_ids
        return SchemaColumn("id" if is_id else "code", None, nullable, level, note=note)
    dtype = np.dtype(dtype)
    kind = "time" if dtype.kind in "mM" else "number"
    if dtype.kind in "iu" and name in (plan.words.row_ids, *plan.groups[:1]):
        kind = "id"
    return SchemaColumn(kind, str(dtype), nullable, level, "UTC" if name in plan.zones else None)


def nulls_of(schema: Schema | None, name: str, nulls: Nulls) -> Nulls:
    """What becomes of the nulls of a column: refused where the schema allows none, NaN where it does."""
    from varlen.interop.arrow import Nulls

    if schema is None or name not in schema:
        return nulls
    column = schema[name]
    if not column.nullable:
        return Nulls()
    floats = column.dtype is not None and np.dtype(column.dtype).kind in "fmM"
    return Nulls("nan", word=nulls.word) if nulls.policy == "refuse" and floats else nulls


def check_zone(name: str, column: SchemaColumn, dtype: np.dtype[Any], is_zoned: bool) -> None:
    """Refuses times with a zone where none is declared, and times without where one is."""
    if dtype.kind == "M" and is_zoned != (column.zone is not None):
        have, says = ("a zone", "none") if is_zoned else ("no zone", "one")
        raise ValueError(f"{name}: times have {have}, but the schema says {says}")
