"""Numbers of each sequence summed up, run through, normalised and counted, as methods of a Ragged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from varlen.backends.values import ArrayT
from varlen.ops.attention import attention_pool
from varlen.ops.bins import bincount
from varlen.ops.differences import diff
from varlen.ops.search import searchsorted
from varlen.ops.window import sliding_window
from varlen.types.faces import VerbMethods

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from varlen.backends.values import RaggedT, SequencesLike


class ComputingMethods(VerbMethods[ArrayT]):
    """Methods of `varlen.Ragged`, which inherits them.

    All take `level`: the level whose sequences become one row each, together with all that nests below it;
    -1 is the innermost. Of a Ragged of one level they give an array (n, ...), of a deeper one a Ragged of the
    levels above. Those that compute take `axis` in its stead, one or several, as a Ragged of TensorFlow does:
    0 is across the sequences, place by place, and what is left is as long as the longest of what comes
    together. `empty` is what a sequence without rows gives; None refuses it with a ValueError that names
    it. The functions of `varlen.ops` say more.

    Examples
    --------
    >>> r = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
    >>> r.sum().to_list(), r.sum(level=0)
    ([[3, 3], [4]], array([6, 4]))
    >>> r.sum(axis=0).to_list(), r.sum(axis=1).to_list(), r.sum(axis=(0, 1))
    ([[5, 2], [3]], [[4, 2], [4]], array([8, 2]))
    >>> r = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
    >>> r.cumsum().to_list(), r.cumsum(level=0).to_list()
    ([[[1, 3], [3]], [[4]]], [[[1, 3], [6]], [[4]]])
    >>> r.cumsum(axis=0).to_list()
    [[[1, 2], [3]], [[5]]]
    >>> r = vl.Ragged.from_list([[[0.0, 0.0], [5.0]], [[1.0]]])
    >>> r.softmax().to_list()
    [[[0.5, 0.5], [1.0]], [[1.0]]]
    >>> r = vl.Ragged.from_list([[[3, 2], [1]], [[4]]])
    >>> r.diff().to_list(), r.diff(level=0).to_list()
    ([[[-1], []], [[]]], [[-1, -1], []])
    """

    __slots__ = ()

    def attention_pool(
        self, scores: SequencesLike, *, level: int = -1, temperature: float = 1.0
    ) -> ArrayT | Any:
        """The sum of each sequence's rows, weighted by the softmax of scores; as `ops.attention_pool`.

        Parameters
        ----------
        scores
            (total,), or (total, heads), or a Ragged of these that nests as this one.
        level
            The level whose sequences become one row each; -1 is the innermost.
        temperature
            The divisor of the scores.

        Returns
        -------
        (n, ...) or (n, heads, ...) array or tensor, or Ragged of the levels above
            Zeros for a sequence without rows.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.attention_pool`.

        Examples
        --------
        >>> vl.Ragged([1.0, 3.0, 5.0], [2, 1]).attention_pool(np.zeros(3))
        array([2., 5.])
        """
        return attention_pool(self, scores, level=level, temperature=temperature)

    def diff(self, n: int = 1, *, level: int = -1) -> Self:
        """Subtract from each row the previous row of its sequence, n times; as `np.diff`.

        Parameters
        ----------
        n
            How often; a sequence loses n rows, or all.
        level
            The level inside whose sequences it happens; -1 is the innermost.

        Returns
        -------
        Ragged
            Fewer rows of the same dtype: bools are compared, unsigned integers go round. Watched by autograd.

        Raises
        ------
        ValueError
            n is below 0.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).diff().to_list()
        [[-2, 3], [], [4]]
        """
        result: Self = diff(self, n=n, level=level)
        return result

    def bincount(
        self, minlength: int = 0, weights: SequencesLike | None = None, *, level: int = -1
    ) -> ArrayT | Any:
        """Count how often each number occurs in each sequence, or add up weights.

        Parameters
        ----------
        minlength, weights, level
            As those of `ops.bincount`.

        Returns
        -------
        (n, k) array or tensor, or Ragged of the levels above
            int64, or with weights float64; of tensors, the dtype of the weights, through which gradients
            flow.

        Raises
        ------
        TypeError, ValueError
            As those of `ops.bincount`.

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

    @overload
    def searchsorted(self, v: RaggedT, side: str = "left", *, level: int = -1) -> RaggedT: ...
    @overload
    def searchsorted(self, v: ArrayLike | ArrayT, side: str = "left", *, level: int = -1) -> ArrayT: ...
    def searchsorted(
        self, v: RaggedT | ArrayLike | ArrayT, side: str = "left", *, level: int = -1
    ) -> RaggedT | ArrayT:
        """Find where numbers go in each ascending sequence; as `np.searchsorted`.

        Parameters
        ----------
        v, side, level
            As those of `ops.searchsorted`.

        Returns
        -------
        array, tensor or Ragged
            As v: places inside the sequences, int64, from 0 to their lengths.

        Raises
        ------
        ValueError
            Another side; another number of sequences; rows of several.

        Notes
        -----
        As `np.searchsorted`. Sequences must ascend, with NaN last; this is not checked.

        Examples
        --------
        >>> r = vl.Ragged([1, 3, 5, 2], [3, 1])
        >>> r.searchsorted(vl.Ragged([4, 0, 2], [2, 1]), side="right").to_list(), r.searchsorted([3, 3])
        ([[2, 0], [1]], array([1, 1]))
        """
        queries: Any = v
        result: RaggedT | ArrayT = searchsorted(self, queries, side=side, level=level)
        return result

    def sliding_window(self, width: int, *, level: int = -1) -> Self:
        """Join each row with the next `width` - 1 rows of its sequence, if there are enough.

        Nothing is padded: a sequence loses `width` - 1 rows, or all. `ops.windows` has shorter windows and
        steps, `sequence_enumerate` pads, `ops.ngrams` hashes.

        Parameters
        ----------
        width, level
            As those of `ops.sliding_window`.

        Returns
        -------
        Ragged
            Rows (width, ...) of the same dtype. Watched by autograd.

        Raises
        ------
        ValueError
            A width below 1, or a result beyond half of the machine's memory.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).sliding_window(2).to_list()
        [[[3, 1], [1, 4]], [], [[1, 5]]]
        """
        result: Self = sliding_window(self, width=width, level=level)
        return result
