"""Replacements of nulls in columns that a schema declares."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from varlen.interop.nulls import FIELD, Nulls
from varlen.io.dtypes import dtype_named, kind_of
from varlen.io.intent import Schema

__all__: list[str] = []

_NONE_ALLOWED = "the schema says that there is none"


@dataclass(frozen=True)
class DeclaredNulls(Nulls):
    """Replacements of nulls; in columns of a schema they are refused, or NaN if the schema allows them.

    >>> schema = Schema({"x": {"kind": "number", "dtype": "float32", "nullable": False}})
    >>> DeclaredNulls("fill", 0, schema=schema).for_key("x").policy
    'refuse'
    """

    schema: Schema | None = field(default_factory=type(None))

    def for_key(self, name: str) -> Nulls:
        schema = self.schema
        plain = Nulls(self.policy, self.value, self.word, self.why)
        if schema is None:
            return plain
        keys = [key for key in schema if key == name or key.startswith(f"{name}{FIELD}")]
        if any(not schema[key].nullable for key in keys):
            return Nulls(why=_NONE_ALLOWED)
        dtype = schema[name].dtype if name in schema else None
        is_float = dtype is not None and kind_of(dtype_named(dtype)) in "fmM"
        return replace(plain, policy="nan") if plain.policy == "refuse" and is_float else plain
