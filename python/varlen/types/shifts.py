"""Rows that change places inside their sequence, as methods of a Ragged."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.backends.values import apply_rows, as_ints, is_tensor

if TYPE_CHECKING:
    from typing_extensions import Self

    from varlen.backends.values import Values
    from varlen.levels import Levels


def reversed_rows(values: Any, level: Level, out: Any = None) -> Any:
    """The rows of each sequence, last to first, of arrays or tensors.

    Examples
    --------
    >>> reversed_rows(np.array([3, 1, 4]), vl.Level([2, 1]))
    array([1, 3, 4])
    """
    if is_tensor(values):
        from varlen.backends.torch import shift as torch_shift

        return torch_shift.reverse(values, level, out)
    return _core.reverse(values, level, out)


def shifted(values: Any, level: Level, by: Any, fill: Any = 0, out: Any = None) -> Any:
    """The rows of each sequence, `by` places on, of arrays or tensors.

    Examples
    --------
    >>> shifted(np.array([3, 1, 4]), vl.Level([2, 1]), 1)
    array([0, 3, 0])
    """
    if is_tensor(values):
        from varlen.backends.torch import shift as torch_shift

        return torch_shift.shift(values, level, by, fill, out)
    return _core.shift(values, level, as_ints(by), None if is_zero(fill) else fill, out)


def rolled(values: Any, level: Level, by: Any, out: Any = None) -> Any:
    """The rows of each sequence, `by` places on, round and round, of arrays or tensors.

    Examples
    --------
    >>> rolled(np.array([3, 1, 4]), vl.Level([2, 1]), 1)
    array([1, 3, 4])
    """
    if is_tensor(values):
        from varlen.backends.torch import shift as torch_shift

        return torch_shift.roll(values, level, by, out)
    return _core.roll(values, level, as_ints(by), out)


def is_zero(fill: Any) -> bool:
    """Whether the fill is the plain 0, which stands for zero bytes of any dtype.

    Examples
    --------
    >>> is_zero(0), is_zero(-0.0)
    (True, False)
    """
    return type(fill) is int and fill == 0


class Shifts:
    """Methods of `varlen.Ragged`, which inherits them.

    Each gives a Ragged of the same shape. `level` is the one inside whose sequences something moves: rows,
    where it is the innermost, which -1 stands for; else whole sequences of the level below. The functions of
    `varlen.ops` say more.

    Examples
    --------
    >>> r = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
    >>> r.reverse().to_list(), r.reverse(level=0).to_list()
    ([[[2, 1], [3]], [[4]]], [[[3], [1, 2]], [[4]]])
    """

    __slots__ = ()

    if TYPE_CHECKING:
        _values: Values
        _levels: Levels

        @classmethod
        def _make(cls, values: Any, levels: Any) -> Self: ...

        def _over(self, level: int) -> tuple[Values, Level, Levels]: ...

    def reverse(self, level: int = -1) -> Self:
        """What is in each sequence, last to first.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).reverse().to_list()
        [[1, 3], [4]]
        """
        return self._moved(level, lambda rows, over, _: reversed_rows(rows, over))

    def shift(self, by: Any, level: int = -1, *, fill: Any = 0) -> Self:
        """What is in each sequence, `by` places on: one int, or one for each sequence of the level.

        What leaves the sequence is lost. Where nothing arrives there is `fill`; above the innermost level, an
        empty sequence.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).shift(-1, fill=9).to_list()
        [[1, 9], [9]]
        >>> vl.Ragged.from_list([[[1, 2], [3]], [[4]]]).shift(1, level=0).to_list()
        [[[], [1, 2]], [[]]]
        """
        if not is_zero(fill) and level not in (-1, len(self._levels) - 1):
            self._over(level)  # an IndexError where there is no such level
            raise ValueError(f"fill: at level {level} empty sequences arrive, not {fill!r}")
        return self._moved(
            level, lambda rows, over, gap: shifted(rows, over, by, fill if gap is None else gap)
        )

    def roll(self, by: Any, level: int = -1) -> Self:
        """What is in each sequence, `by` places on, round and round: one int, or one for each sequence.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1], [3, 1]).roll(1).to_list()
        [[4, 3, 1], [1]]
        """
        return self._moved(level, lambda rows, over, _: rolled(rows, over, by))

    def _moved(self, level: int, move: Callable[[Any, Level, int | None], Any]) -> Self:
        """`move` of rows and their level, or of the numbers of sequences; there the last one is empty."""
        levels = self._levels
        at = len(self._over(level)[2])
        if at == len(levels) - 1:
            return self._make(move(self._values, levels[at], None), levels)
        count = levels[at].total
        order = move(np.arange(count), levels[at], count)
        offsets = levels[at + 1].offsets
        inner = (Level.from_offsets(np.append(offsets, offsets[-1])), *levels[at + 2 :])
        values, picked = apply_rows(self._values, lambda rows: _core.gather(rows, inner, order))
        return self._make(values, (*levels[: at + 1], *picked))
