"""Counts of distinct whole numbers or words, in bounded memory and time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

__all__: list[str] = []

Array = np.ndarray[tuple[Any, ...], np.dtype]

#: Numbers that lie this near to the first one have a mark each: any count of them is exact.
_SPAN = 1 << 20
#: Others are kept sorted, so many at most: beyond that the count is a lower bound.
_MOST = 1 << 14


class Distinct:
    """Distinct integers, times or words, counted piece by piece.

    >>> found = Distinct()
    >>> found.add(np.array([7, 7, 9]))
    >>> found.add(np.array([9, 11], np.uint8))
    >>> found.count, found.is_exact
    (3, True)
    """

    __slots__ = ("_base", "_marks", "_sample", "_unit", "_words", "is_exact", "is_whole")

    def __init__(self) -> None:
        self._base = 0
        self._marks: Array | None = None
        self._sample: Array | None = None
        self._unit: np.dtype | None = None  # of times, which other units count otherwise
        self._words: set[str] = set()
        self.is_exact = True
        self.is_whole = True  # until something else came, such as floats, which are not counted

    def give_up(self) -> None:
        """Notes that values came whose distinct ones cannot be counted."""
        self.is_whole = False

    def add(self, values: Array) -> None:
        """Counts another piece."""
        if values.dtype.kind not in "iumM" or self.is_of_words:
            self.is_whole = self.is_whole and values.size == 0
        if not (self.is_exact and self.is_whole) or values.size == 0:
            return
        flat = values.reshape(-1)
        if flat.dtype.kind in "mM":
            self._unit = self._unit or flat.dtype
            self.is_whole = self._unit == flat.dtype
            flat = flat.astype(flat.dtype.newbyteorder("="), copy=False).view(np.int64)
        if self._sample is None and self._mark(flat):
            return
        if self._sample is None:
            numbers = (
                np.zeros(0, np.int64) if self._marks is None else np.flatnonzero(self._marks) + self._base
            )
            self._sample, self._marks = numbers, None
        runs = np.ones(flat.size, bool)  # the values of a group stand together, mostly
        np.not_equal(flat[1:], flat[:-1], out=runs[1:])
        uniques = flat[runs].astype(np.int64)
        union = np.sort(np.concatenate([self._sample, uniques[: 2 * _MOST]]))
        self._sample = union[np.concatenate([[True], union[1:] != union[:-1]])]
        self.is_exact = uniques.size <= 2 * _MOST and len(self._sample) <= _MOST

    def add_words(self, words: Iterable[str]) -> None:
        """Counts the distinct words of another piece."""
        self.is_whole = self.is_whole and self._marks is None and self._sample is None
        if self.is_exact and self.is_whole:
            self._words.update(words)
            self.is_exact = len(self._words) <= _MOST

    def _mark(self, flat: Array) -> bool:
        """Marks the numbers; False if one of them is too far from the first."""
        low, high = int(flat.min()), int(flat.max())
        base = low - _SPAN // 4 if self._marks is None else self._base
        if low < base or high >= base + _SPAN or not -(2**62) < base < 2**62:
            return False
        if self._marks is None:
            self._base, self._marks = base, np.zeros(_SPAN, bool)  # pages that nothing marks take no memory
        self._marks[flat.astype(np.int64, copy=False) - base] = True
        return True

    @property
    def is_of_words(self) -> bool:
        """Words were counted, not numbers."""
        return bool(self._words)

    @property
    def count(self) -> int:
        """The count; a lower bound if it is not exact."""
        if self._sample is not None:
            return len(self._sample)
        return len(self._words) if self._marks is None else int(np.count_nonzero(self._marks))
