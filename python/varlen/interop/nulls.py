"""What becomes of nulls where arrays have none; for columns of Arrow and for records of JSON alike."""

from __future__ import annotations

from dataclasses import dataclass
from reprlib import repr as short
from typing import Any

from varlen.arguments import one_of, refuse_gradient

__all__ = ["Nulls"]

#: A part of a column name for the fields of a struct: `visit.code`.
FIELD = "."

_NULLS_HINT = "say what nulls become: 'nan', or 'fill' and a value"


@dataclass(frozen=True)
class Nulls:
    """What becomes of a null: ``refuse`` raises, ``nan`` gives NaN (NaT, or id -1), ``fill`` gives `value`.

    A null list is an empty list, except under ``refuse``.

    Parameters
    ----------
    policy : {"refuse", "nan", "fill"}
        What is done.
    value : scalar
        What stands for a null with ``fill``; None otherwise.
    word : str, optional
        What stands for a null among strings, whatever the policy says of others.
    why : str, optional
        What the error says to do, where a null is refused.

    Raises
    ------
    ValueError
        Another policy, ``fill`` without a value, or a value without ``fill``.

    Examples
    --------
    >>> Nulls("fill", 0).value
    0
    """

    policy: str = "refuse"
    value: Any = None
    word: str | None = None
    why: str = _NULLS_HINT

    def of(self, name: str) -> Nulls:
        """What becomes of the nulls of one column.

        Examples
        --------
        >>> Nulls("nan").of("x").policy
        'nan'
        """
        return self

    def __post_init__(self) -> None:
        one_of(self.policy, "nulls", ("refuse", "nan", "fill"))
        if self.word is not None and not isinstance(self.word, str):
            raise TypeError(f"word: expected a string, got {short(self.word)}")
        refuse_gradient(self.value, "fill")
        if (self.policy == "fill") != (self.value is not None):
            raise ValueError(f"fill: goes with nulls='fill', got {short(self.value)} with {self.policy!r}")
