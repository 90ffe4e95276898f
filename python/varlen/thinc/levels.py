"""Lengths as Thinc's ops take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from varlen._core import Level
from varlen.errors import index_error, name_place, naming, value_error

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray
    Ints = Array | Sequence[int]

SUM = "must sum up to the number of rows"


def expand_rows(verb: Any, argument: str, rows: Any, *others: Any) -> Any:
    """What a verb of a backend makes of a gradient, which the caller's argument is called here."""
    with naming(rows=argument):
        return verb(rows, *others)


def level_of(lengths: Ints, rows: int | None = None, minimum: int = 0) -> Level:
    """The level over so many rows; lengths that do not fit raise Thinc's own errors."""
    condition = "> 0" if minimum else ">= 0"
    try:
        level = Level.from_lengths(lengths, check=True)  # Thinc's errors come at the call
    except ValueError as error:
        raise name_place(error, f"all sequence lengths must be {condition}") from None
    if minimum and len(level) and level.shortest < minimum:
        index = int((level.lengths == 0).argmax())
        raise value_error(
            "lengths", f"all sequence lengths must be {condition}, was: 0, sequence {index}", row=index
        )
    if rows is not None and level.total != rows:
        raise index_error("lengths", f"{SUM}: {level.total}, but there are {rows}")
    return level
