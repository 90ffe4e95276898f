"""Thinc's ops on sequences, which the ops for the CPU and for CUDA share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from varlen._core import Level
from varlen._methods import adopt_methods
from varlen.arguments import SMALLEST, as_array, as_int, as_ints, is_listed
from varlen.errors import contract_error, index_error, instance_error, naming
from varlen.ops.flatten import unpad
from varlen.thinc.faces import DeclaredOps
from varlen.thinc.levels import SUM, expand_rows, level_of
from varlen.thinc.types import Padded

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from varlen.backends.table import Backend
    from varlen.thinc.levels import Array, Ints


def _window_level(X: Array, nW: int, lengths: Ints | None, op: str, what: str) -> Level:
    """The sequences of rows under windows: one where there are no lengths."""
    if X.ndim != 2:
        raise contract_error(
            ValueError,
            "dY" if op.startswith("backprop") else "seq",
            f"{op} requires {what} array of dimensionality 2, was {X.ndim}",
        )
    return _one(len(X)) if lengths is None else level_of(lengths, len(X))


@lru_cache(maxsize=64)
def _one(rows: int) -> Level:
    return Level.from_lengths((rows,))


@adopt_methods
class Ops(DeclaredOps):
    """Thinc's ops on sequences, which the ops classes of `varlen.thinc` share.

    `NumpyOps` needs no thinc. `VarlenOps` and `VarlenCupyOps` also inherit from Thinc's own classes.

    Examples
    --------
    >>> isinstance(vl.thinc.get_current_ops(), vl.thinc.Ops)
    True
    """

    name: str = "base"
    _verbs: Backend

    if TYPE_CHECKING:
        xp: Any

        def alloc(self, shape: Any, *, dtype: Any = ...) -> Any: ...
        def asarray(self, data: Any, dtype: Any = ...) -> Any: ...

    def _new_padded(self, *fields: Any) -> Padded[Any]:
        return Padded._make(*fields)

    def flatten(
        self,
        X: Sequence[Array] | None,
        dtype: DTypeLike | None = None,
        pad: int = 0,
        ndim_if_empty: int = 2,
    ) -> Array:
        """Lay arrays end to end, optionally with padding between them.

        Parameters
        ----------
        X
            Arrays of any lengths that agree in all other axes; None for no array.
        dtype
            The dtype of the result; None for that of the arrays.
        pad
            The number of zero rows before each array that has rows, and after the last.
        ndim_if_empty
            The number of axes of the result if there is no array.

        Returns
        -------
        (total, ...) the rows of all arrays; float32 if there is neither an array nor a dtype.

        Notes
        -----
        Like NumpyOps' `flatten`, but faster.

        Examples
        --------
        >>> vl.thinc.NumpyOps().flatten([np.array([1.0, 2.0]), np.array([3.0])], pad=1)
        array([0., 1., 2., 0., 3., 0.])
        """
        if X is not None and not is_listed(X):
            raise instance_error("X", "a list of arrays", X)
        if X is None or len(X) == 0:
            return self.alloc((0,) * ndim_if_empty, dtype=dtype or "f")  # type: ignore[no-any-return]
        full = [x for x in X if x.size]
        if not full:
            return self.alloc(X[0].shape, dtype=dtype or "f")  # type: ignore[no-any-return]
        flat = self._verbs.flatten(full, None, max(0, as_int(pad, "pad", SMALLEST)))
        return flat if dtype is None else self.asarray(flat, dtype=dtype)  # type: ignore[no-any-return]

    def unflatten(self, X: Array, lengths: Ints, pad: int = 0) -> list[Array]:
        """Split the result of `flatten` into views of its arrays.

        Parameters
        ----------
        X
            (total, ...) the rows of all arrays.
        lengths
            (n,) integers: the length of each sequence.
        pad
            The `pad` that `flatten` got.

        Returns
        -------
        n arrays that share the memory of X.

        Raises
        ------
        IndexError
            The lengths and the padding do not add up to the rows.
        ValueError
            A length is below 0.

        Notes
        -----
        Like NumpyOps' `unflatten`, which does not check the sum.

        Examples
        --------
        >>> vl.thinc.NumpyOps().unflatten(np.array([1.0, 2.0, 3.0]), [2, 1])
        [array([1., 2.]), array([3.])]
        """
        if as_int(pad, "pad", SMALLEST) <= 0:
            return self._verbs.ragged2list(X, level_of(lengths, len(X)))
        level = level_of(lengths)
        counts = (level.lengths > 0).cumsum()
        rows = level.total + pad * (int(counts[-1]) + 1) if level.total else 0
        if rows != len(X):
            raise index_error("lengths", f"{SUM}: {rows} with pad={pad}, but there are {len(X)}")
        ends = level.bounds + pad * counts
        return self._verbs.views(X, ends - level.lengths, ends)

    def pad(self, seqs: Sequence[Array], round_to: int = 1) -> Array:
        """Lay arrays side by side, padded with zeros.

        Parameters
        ----------
        seqs
            (length, ...) arrays of one dtype that agree in all other axes; at least one.
        round_to
            Round the padded length up to a multiple of this.

        Returns
        -------
        (n, longest, ...) of the dtype of the arrays.

        Raises
        ------
        ValueError
            There is no array, the arrays differ, or `round_to` is below 1.

        Notes
        -----
        Like NumpyOps' `pad`, but faster.

        Examples
        --------
        >>> vl.thinc.NumpyOps().pad([np.array([1.0, 2.0]), np.array([3.0])])
        array([[1., 2.],
               [3., 0.]])
        """
        if as_int(round_to, "round_to", SMALLEST) < 1:
            raise contract_error(
                ValueError, "round_to", f"Rounding for padding must at least be 1, was: {round_to}"
            )
        has_items = is_listed(seqs)
        if not has_items:
            raise instance_error("seqs", "a list of arrays", seqs)
        if not len(seqs):
            raise contract_error(ValueError, "seqs", "Cannot pad empty sequence")
        if len({seq.ndim for seq in seqs}) != 1:
            raise contract_error(ValueError, "seqs", "Cannot pad sequences with different ndims")
        if len({seq.dtype for seq in seqs}) != 1:
            raise contract_error(ValueError, "seqs", "Cannot pad sequences with different dtypes")
        if len({seq.shape[1:] for seq in seqs}) != 1:
            raise contract_error(ValueError, "seqs", "Cannot pad sequences that differ on other dimensions")
        with naming(arrays="seqs"):
            dense: Array = self._verbs.list2dense(seqs, round_to)
        return dense

    def unpad(self, padded: Array, lengths: Sequence[int]) -> list[Array]:
        """Split the result of `pad` into views of its arrays.

        Parameters
        ----------
        padded
            (n, longest, ...): the result of `pad`.
        lengths
            The lengths of the arrays. Fewer than n lengths give only the first arrays.

        Returns
        -------
        One array for each length, which shares the memory of padded.

        Raises
        ------
        ValueError
            A length is below 0 or above the longest.
        IndexError
            There are more lengths than sequences.

        Notes
        -----
        Like NumpyOps' `unpad`, but faster.

        Examples
        --------
        >>> vl.thinc.NumpyOps().unpad(np.array([[1.0, 2.0], [3.0, 0.0]]), [2, 1])
        [array([1., 2.]), array([3.])]
        """
        return unpad(padded, lengths)

    def list2padded(self, seqs: Sequence[Array]) -> Padded[Any]:
        """Lay arrays side by side, time-major, the longest first.

        Parameters
        ----------
        seqs
            (length, width) arrays of one width.

        Returns
        -------
        Padded
            A `Padded` of `varlen.thinc`, or of Thinc if the ops need thinc. Its data is (longest, n, width)
            and never shares memory with the arrays; the other fields are int32.

        Notes
        -----
        Like NumpyOps' `list2padded`, with the same order of equal lengths, but faster.

        Examples
        --------
        >>> padded = vl.thinc.NumpyOps().list2padded([np.ones((1, 1)), np.ones((2, 1))])
        >>> padded.data.shape, padded.size_at_t, padded.indices
        ((2, 2, 1), array([2, 1], dtype=int32), array([1, 0], dtype=int32))
        """
        return self._new_padded(*self._verbs.list2padded(seqs))

    def padded2list(self, padded: Padded[Any]) -> list[Array]:
        """Split the result of `list2padded` into its arrays, in their original order.

        Parameters
        ----------
        padded
            A `Padded` of `varlen.thinc` or of Thinc.

        Returns
        -------
        (length, width) arrays: views of one new array.

        Raises
        ------
        ValueError
            The fields do not fit each other.

        Notes
        -----
        Like NumpyOps' `padded2list`, but faster.

        Examples
        --------
        >>> ops = vl.thinc.NumpyOps()
        >>> ops.padded2list(ops.list2padded([np.array([[1.0]]), np.array([[2.0], [3.0]])]))
        [array([[1.]]), array([[2.],
               [3.]])]
        """
        fields = padded.size_at_t, padded.lengths, padded.indices
        return self._verbs.ragged2list(*self._verbs.padded2ragged(padded.data, *fields))

    def seq2col(self, seq: Array, nW: int, *, lengths: Ints | None = None) -> Array:
        """Join each row with nW neighbours on either side.

        Parameters
        ----------
        seq
            (total, width) float32 or float64: all rows, end to end.
        nW
            The number of neighbours on either side.
        lengths
            (n,) integers: the length of each sequence; None for one sequence of all rows.

        Returns
        -------
        (total, (2 * nW + 1) * width) of the same dtype; zeros in place of neighbours outside the sequence.

        Raises
        ------
        ValueError
            The array does not have two axes, or a length is below 0.
        IndexError
            The lengths do not add up to the rows.

        Notes
        -----
        Like NumpyOps' `seq2col`, but faster.

        Examples
        --------
        >>> vl.thinc.NumpyOps().seq2col(np.array([[1.0], [2.0], [3.0]]), 1, lengths=np.array([2, 1]))
        array([[0., 1., 2.],
               [1., 2., 0.],
               [0., 3., 0.]])
        """
        level = _window_level(seq, nW, lengths, "seq2col", "sequence")
        nW = as_int(nW, "nW", 0)
        return self._verbs.seq2col(seq, level, nW, nW)[0]  # type: ignore[no-any-return]

    def backprop_seq2col(self, dY: Array, nW: int, *, lengths: Ints | None = None) -> Array:
        """The gradient of `seq2col`: each row sums the gradients of its copies.

        Parameters
        ----------
        dY
            (total, (2 * nW + 1) * width) the gradient of the result.
        nW
            The number of neighbours on either side.
        lengths
            (n,) integers: the length of each sequence; None for one sequence of all rows.

        Returns
        -------
        (total, width) of the dtype of dY.

        Raises
        ------
        ValueError
            The array does not have two axes, its width is not a multiple of 2 * nW + 1, or a length is below
            0.
        IndexError
            The lengths do not add up to the rows.

        Notes
        -----
        Like NumpyOps' `backprop_seq2col`, but faster.

        Examples
        --------
        >>> vl.thinc.NumpyOps().backprop_seq2col(np.ones((3, 3)), 1, lengths=np.array([2, 1]))
        array([[2.],
               [2.],
               [1.]])
        """
        level = _window_level(dY, nW, lengths, "backprop_seq2col", "gradient")
        nW = as_int(nW, "nW", 0)
        return self._verbs.backprop_seq2col(dY, level, nW, nW)  # type: ignore[no-any-return]

    def reduce_first(self, X: Array, lengths: Ints) -> tuple[Array, Array]:
        """The first row of each sequence, and where the sequences start.

        Parameters
        ----------
        X
            (total, width) float32 or float64: all rows, end to end.
        lengths
            (n,) integers, none of them 0: the length of each sequence.

        Returns
        -------
        (n, width) of the dtype of X, and (n + 1,) int32: the starts, and the end of the last.

        Raises
        ------
        ValueError
            A length is below 1.
        IndexError
            The lengths do not add up to the rows.

        Notes
        -----
        Like NumpyOps' `reduce_first`, but faster.

        Examples
        --------
        >>> vl.thinc.NumpyOps().reduce_first(np.array([[1.0], [2.0], [3.0]]), np.array([2, 1]))
        (array([[1.],
               [3.]]), array([0, 2, 3], dtype=int32))
        """
        if len(lengths) == 0:
            return self._none_of(X), self.xp.asarray(lengths, "int32")
        level = level_of(lengths, len(X), 1)
        return self._verbs.gather_column(X, (level,), 0)[0], self._verbs.level_array(
            level, "offsets32", X
        ).copy()

    def reduce_last(self, X: Array, lengths: Ints) -> tuple[Array, Array]:
        """The last row of each sequence, and its index.

        Parameters
        ----------
        X
            (total, width) float32 or float64: all rows, end to end.
        lengths
            (n,) integers, none of them 0: the length of each sequence.

        Returns
        -------
        (n, width) of the dtype of X, and (n,) int64, the indices of these rows.

        Raises
        ------
        ValueError
            A length is below 1.
        IndexError
            The lengths do not add up to the rows.

        Notes
        -----
        Like NumpyOps' `reduce_last`, but faster.

        Examples
        --------
        >>> vl.thinc.NumpyOps().reduce_last(np.array([[1.0], [2.0], [3.0]]), np.array([2, 1]))
        (array([[2.],
               [3.]]), array([1, 2]))
        """
        if len(lengths) == 0:
            return self._none_of(X), self.xp.asarray(lengths, "int32")
        level = level_of(lengths, len(X), 1)
        return self._verbs.gather_column(X, (level,), -1)[0], self._verbs.like(level.bounds - 1, X)

    def _none_of(self, X: Array) -> Array:
        return self.alloc((0, *X.shape[1:]), dtype=X.dtype)  # type: ignore[no-any-return]

    def backprop_reduce_first(self, d_firsts: Array, starts_ends: Ints) -> Array:
        """The gradient of `reduce_first`: the first row of sequence i gets row i, the others zeros.

        Parameters
        ----------
        d_firsts
            (n, width) the gradient of the first rows.
        starts_ends
            (n + 1,) integers that `reduce_first` returned.

        Returns
        -------
        (total, width) of the dtype of d_firsts.

        Raises
        ------
        ValueError
            `starts_ends` decrease, do not begin with 0, hold only one number, or do not fit the rows.

        Notes
        -----
        Like NumpyOps' `backprop_reduce_first`, but faster.

        Examples
        --------
        >>> vl.thinc.NumpyOps().backprop_reduce_first(np.array([[5.0], [7.0]]), np.array([0, 2, 3]))
        array([[5.],
               [0.],
               [7.]])
        """
        if len(starts_ends) == 0:
            return self._none_of(d_firsts)
        if len(starts_ends) == 1:
            raise contract_error(ValueError, "starts_ends", "starts_ends must not have size 1")
        with naming("starts_ends"):
            level = Level.from_offsets(as_ints(starts_ends))
        return expand_rows(self._verbs.expand_end, "d_firsts", d_firsts, level, False)  # type: ignore[no-any-return]

    def backprop_reduce_last(self, d_lasts: Array, lasts: Ints) -> Array:
        """The gradient of `reduce_last`: the last row of sequence i gets row i, the others zeros.

        Parameters
        ----------
        d_lasts
            (n, width) the gradient of the last rows.
        lasts
            (n,) integers that `reduce_last` returned.

        Returns
        -------
        (total, width) of the dtype of d_lasts.

        Raises
        ------
        ValueError
            `lasts` decrease or do not fit the rows.

        Notes
        -----
        Like NumpyOps' `backprop_reduce_last`, but faster.

        Examples
        --------
        >>> vl.thinc.NumpyOps().backprop_reduce_last(np.array([[5.0], [7.0]]), np.array([1, 2]))
        array([[0.],
               [5.],
               [7.]])
        """
        if len(lasts) == 0:
            return self._none_of(d_lasts)
        with naming("lasts"):
            level = Level.from_bounds(as_array(lasts, "lasts") + 1)
        return expand_rows(self._verbs.expand_end, "d_lasts", d_lasts, level, True)  # type: ignore[no-any-return]

    def softmax_sequences(self, Xs: Array, lengths: Ints, *, inplace: bool = False, axis: int = -1) -> Array:
        """The softmax of each column inside each sequence.

        Parameters
        ----------
        Xs
            (total, width) float32 or float64: all rows, end to end.
        lengths
            (n,) integers: the length of each sequence.
        inplace, axis
            Accepted for compatibility, and ignored, as in NumpyOps.

        Returns
        -------
        (total, width) of the dtype of Xs.

        Raises
        ------
        NotImplementedError
            `Xs` has more than two axes.
        ValueError
            A length is below 0.
        IndexError
            The lengths do not add up to the rows.

        Notes
        -----
        Like NumpyOps' `softmax_sequences`, but this subtracts the maximum; Thinc clips to 20.

        Examples
        --------
        >>> vl.thinc.NumpyOps().softmax_sequences(np.zeros((3, 1)), np.array([2, 1]))
        array([[0.5],
               [0.5],
               [1. ]])
        """
        if Xs.ndim >= 3:
            raise NotImplementedError(f"Softmax currently only supports 2d. Got: {Xs.ndim}")
        return self._verbs.softmax(Xs, level_of(lengths, len(Xs)), False, 1.0)  # type: ignore[no-any-return]

    def ngrams(self, n: int, keys: Array) -> Array:
        """Hash every n consecutive keys.

        Parameters
        ----------
        n
            The number of keys in a hash.
        keys
            (total,) uint64.

        Returns
        -------
        (total - n + 1,) uint64; (0,) if there are fewer keys, or n is below 1.

        Notes
        -----
        Like NumpyOps' `ngrams`, but faster. The hash is MurmurHash64A.

        Examples
        --------
        >>> vl.thinc.NumpyOps().ngrams(2, np.array([1, 2, 3], np.uint64))
        array([ 2346165840139155392, 16863871380863422640], dtype=uint64)
        """
        if as_int(n, "n", SMALLEST) < 1:
            return self.alloc((0,), dtype="uint64")  # type: ignore[no-any-return]
        return self._verbs.ngrams(n, keys, Level.from_lengths((len(keys),)))[0]  # type: ignore[no-any-return]
