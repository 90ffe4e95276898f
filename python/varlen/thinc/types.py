"""The containers as Thinc's code uses them: `Ragged` whose items are Ragged, `Padded` and `Pairs`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from varlen.types import Padded, Pairs
from varlen.types import Ragged as _Ragged
from varlen.types.indexing import int_index

__all__ = ["Padded", "Pairs", "Ragged"]


class Ragged(_Ragged):
    """A `varlen.Ragged` whose items are of its own kind, as Thinc's are: `r[i]` is a Ragged of one sequence.

    It is made as `varlen.Ragged` is, and is one: all that takes those takes these. Only an int as index, and
    iterating, give something else: a Ragged of one sequence that shares memory, where `varlen.Ragged` gives
    the sequence itself, which is `r.row(i)` here. Tuples address rows inside sequences in both.

    Examples
    --------
    >>> from varlen.thinc.types import Ragged
    >>> r = Ragged(np.array([3, 1, 4]), [1, 2])
    >>> r[1]
    Ragged(1 sequence, 2 values, length 2, int64)
    [[1, 4]]
    >>> [x.lengths.tolist() for x in r], r[1, 0]
    ([[1], [2]], np.int64(1))
    """

    __slots__ = ()

    @property
    def lengths(self) -> Any:
        """Of the outermost level: int32 (n,), read-only, as Thinc has them.

        OverflowError where int32 cannot count the rows of one.
        """
        return self._levels[0].lengths32

    def __getitem__(self, key: Any) -> Any:
        if type(key) is not slice:
            i = key if type(key) is int else int_index(key)
            if i is None:
                return self._by_others(key)
            n = len(self._levels[0])
            if not -n <= i < n:
                raise IndexError(f"index {i} is out of range for {n} sequences")
            i %= n
            key = slice(i, i + 1)
        return super().__getitem__(key)

    def __iter__(self) -> Iterator[Ragged]:
        return (self[i] for i in range(len(self)))

    def _by_others(self, key: Any) -> Any:
        if not isinstance(key, tuple):
            return super().__getitem__(key)
        found = _Ragged._make(self._values, self._levels)[key]
        return self._make(found._values, found._levels) if isinstance(found, _Ragged) else found
