"""A column as arrays: flat values under levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from varlen._core import Level

__all__ = ["Column"]


@dataclass(frozen=True)
class Column:
    """Flat values under their levels, as one column of an Arrow table holds them."""

    values: np.ndarray
    levels: tuple[Level, ...] = ()
    vocabulary: tuple[str, ...] | None = None
    zone: str | None = None
    has_ids: bool = False  # the ids are those of a dictionary that the column brought


@dataclass(frozen=True)
class Place:
    """The name of a column, and the row that holds an entry inside it."""

    name: str
    row_of: Callable[[int], int]

    def map_rows(self, row_of: Callable[[int], int]) -> Place:
        """The place of what lies inside; `row_of` says which entry of this place has it."""
        return Place(self.name, lambda i: self.row_of(row_of(i)))
