"""Replacements of nulls, which arrays cannot hold, in columns of Arrow and records of JSON."""

from __future__ import annotations

from dataclasses import dataclass
from reprlib import repr as short
from typing import Any

from varlen.arguments import one_of, refuse_gradient
from varlen.errors import type_error, value_error

__all__ = ["Nulls"]

#: A part of a column name for the fields of a struct: `visit.code`.
FIELD = "."

_NULLS_HINT = "say what nulls become: 'nan', or 'fill' and a value"


@dataclass(frozen=True)
class Nulls:
    """The replacement of a null: ``refuse`` raises, ``nan`` gives NaN (NaT, or id -1), ``fill`` gives
    `value`.

    A null list is an empty list, except under ``refuse``.
    """

    policy: str = "refuse"
    value: Any = None
    word: str | None = None
    why: str = _NULLS_HINT

    def for_key(self, name: str) -> Nulls:
        """The policy for the nulls of one column."""
        return self

    def __post_init__(self) -> None:
        one_of(self.policy, "nulls", ("refuse", "nan", "fill"))
        if self.word is not None and not isinstance(self.word, str):
            raise type_error("word", f"expected a string, got {short(self.word)}")
        refuse_gradient(self.value, "fill")
        if (self.policy == "fill") != (self.value is not None):
            raise value_error("fill", f"needs nulls='fill', got {short(self.value)} with {self.policy!r}")
