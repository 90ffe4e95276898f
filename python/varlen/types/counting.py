"""Neighbours compared, numbers counted and looked up, windows of rows, as methods of a Ragged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.ops.bins import bincount
from varlen.ops.differences import diff
from varlen.ops.search import searchsorted
from varlen.ops.window import sliding_window

if TYPE_CHECKING:
    from typing_extensions import Self


class Counting:
    """Methods of `varlen.Ragged`, which inherits them.

    All take `level`: the level whose sequences are gone through, together with all that nests below it, whose
    borders are then gone; -1 is the innermost.

    Examples
    --------
    >>> r = vl.Ragged.from_list([[[3, 2], [1]], [[4]]])
    >>> r.diff().to_list(), r.diff(level=0).to_list()
    ([[[-1], []], [[]]], [[-1, -1], []])
    """

    __slots__ = ()

    def diff(self, n: int = 1, *, level: int = -1) -> Self:
        """Each row less the one before it in its sequence, n times over; a sequence loses n rows, or all.

        As `np.diff`: bools are compared, unsigned integers go round. Watched by autograd.

        Raises
        ------
        ValueError
            n is below 0.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).diff().to_list()
        [[-2, 3], [], [4]]
        """
        result: Self = diff(self, n=n, level=level)
        return result

    def bincount(self, minlength: int = 0, weights: Any = None, *, level: int = -1) -> Any:
        """How often each number from 0 on is in each sequence, or the sum of its weights.

        Parameters
        ----------
        minlength
            At least so many numbers are counted; else as many as the largest needs.
        weights
            One for each value, (total,), or a Ragged that nests as this one.

        Returns
        -------
        (n, k), or a Ragged of the levels above: int64, or with weights float64; of tensors, the dtype of the
        weights, through which gradients flow.

        Raises
        ------
        TypeError
            Values that are no integers.
        ValueError
            One below 0, which is named; rows of several; weights of another shape.

        Notes
        -----
        As TensorFlow's `tf.math.bincount(axis=-1)`.

        Examples
        --------
        >>> vl.Ragged([1, 1, 2, 0], [3, 1]).bincount(minlength=4)
        array([[0, 2, 1, 0],
               [1, 0, 0, 0]])
        """
        return bincount(self, minlength=minlength, weights=weights, level=level)

    def searchsorted(self, v: Any, side: str = "left", *, level: int = -1) -> Any:
        """Where numbers go in the sequence of their number, which ascends, so that it still does.

        Parameters
        ----------
        v
            What is looked up: a Ragged with as many sequences at the level, whatever their lengths, or an
            array (n, ...), a row for each.
        side
            "left" before equal numbers, "right" behind them.

        Returns
        -------
        As v: places inside the sequences, int64, from 0 to their lengths.

        Raises
        ------
        ValueError
            Another side; another number of sequences; rows of several.

        Notes
        -----
        As `np.searchsorted`. That sequences ascend, NaN last, is not checked.

        Examples
        --------
        >>> r = vl.Ragged([1, 3, 5, 2], [3, 1])
        >>> r.searchsorted(vl.Ragged([4, 0, 2], [2, 1]), side="right").to_list(), r.searchsorted([3, 3])
        ([[2, 0], [1]], array([1, 1]))
        """
        return searchsorted(self, v, side=side, level=level)

    def sliding_window(self, width: int, *, level: int = -1) -> Self:
        """Each row with the `width` - 1 behind it, where its sequence has as many: rows (width, ...).

        Nothing is padded: a sequence loses `width` - 1 rows, or all. `ops.windows` has shorter windows and
        steps, `sequence_enumerate` pads, `ops.ngrams` hashes. Watched by autograd.

        Raises
        ------
        ValueError
            A width below 1, or a result beyond half of the machine's memory.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).sliding_window(2).to_list()
        [[[3, 1], [1, 4]], [], [[1, 5]]]
        """
        result: Self = sliding_window(self, width=width, level=level)
        return result
