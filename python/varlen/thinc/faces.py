"""Verbs of the backends, as Thinc's ops name them."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from __future__ import annotations

from typing import TYPE_CHECKING

from varlen.thinc.levels import expand_rows, level_of

if TYPE_CHECKING:
    from varlen.backends.table import Backend
    from varlen.thinc.levels import Array, Ints


class DeclaredOps:
    """Methods of `varlen.thinc.Ops`, which inherits them."""

    _verbs: Backend

    def reduce_sum(self, X: Array, lengths: Ints) -> Array:
        """The sum of each sequence's rows, column by column; zeros for an empty one.

        Parameters
        ----------
        X
            (total, width) float32 or float64: all rows, end to end.
        lengths
            (n,) integers: the length of each sequence.

        Returns
        -------
        (n, width) of the dtype of X.

        Raises
        ------
        ValueError
            A length is below 0.
        IndexError
            The lengths do not add up to the rows.

        Notes
        -----
        Like NumpyOps' `reduce_sum`, but faster.

        Examples
        --------
        >>> vl.thinc.NumpyOps().reduce_sum(np.array([[1.0], [2.0], [3.0]]), np.array([2, 0, 1]))
        array([[3.],
               [0.],
               [3.]])
        """
        return self._verbs.reduce("sum", X, level_of(lengths, len(X)), 0)  # type: ignore[no-any-return]

    def reduce_mean(self, X: Array, lengths: Ints) -> Array:
        """The mean of each sequence's rows, column by column; zeros for an empty one.

        Parameters
        ----------
        X, lengths
            As in `reduce_sum`.

        Returns
        -------
        (n, width) of the dtype of X.

        Raises
        ------
        ValueError, IndexError
            As in `reduce_sum`.

        Notes
        -----
        Like NumpyOps' `reduce_mean`, but faster.

        Examples
        --------
        >>> vl.thinc.NumpyOps().reduce_mean(np.array([[1.0], [2.0], [3.0]]), np.array([2, 0, 1]))
        array([[1.5],
               [0. ],
               [3. ]])
        """
        return self._verbs.reduce("mean", X, level_of(lengths, len(X)), 0)  # type: ignore[no-any-return]

    def reduce_max(self, X: Array, lengths: Ints) -> tuple[Array, Array]:
        """The largest number of each sequence, column by column, and its row in the sequence.

        Ties give the first row. NaN counts as larger than any number.

        Parameters
        ----------
        X
            (total, width) float32 or float64: all rows, end to end.
        lengths
            (n,) integers, none of them 0: the length of each sequence.

        Returns
        -------
        (n, width) of the dtype of X, and (n, width) int32.

        Raises
        ------
        ValueError
            A length is below 1.
        IndexError
            The lengths do not add up to the rows.

        Notes
        -----
        Like NumpyOps' `reduce_max`, but faster.

        Examples
        --------
        >>> vl.thinc.NumpyOps().reduce_max(np.array([[1.0], [2.0], [3.0]]), np.array([2, 1]))
        (array([[2.],
               [3.]]), array([[1],
               [0]], dtype=int32))
        """
        return self._verbs.reduce_extreme("max", X, level_of(lengths, len(X), 1), None, True)

    def backprop_reduce_sum(self, d_sums: Array, lengths: Ints) -> Array:
        """The gradient of `reduce_sum`: every row of sequence i gets row i.

        Parameters
        ----------
        d_sums
            (n, width) the gradient of the sums.
        lengths
            (n,) integers: the length of each sequence.

        Returns
        -------
        (total, width) of the dtype of d_sums.

        Raises
        ------
        ValueError
            A length is below 0, or the number of lengths is not the number of rows.

        Notes
        -----
        Like NumpyOps' `backprop_reduce_sum`, but faster.

        Examples
        --------
        >>> vl.thinc.NumpyOps().backprop_reduce_sum(np.array([[1.0], [2.0]]), np.array([2, 1]))
        array([[1.],
               [1.],
               [2.]])
        """
        return expand_rows(self._verbs.expand, "d_sums", d_sums, level_of(lengths))  # type: ignore[no-any-return]

    def backprop_reduce_mean(self, d_means: Array, lengths: Ints) -> Array:
        """The gradient of `reduce_mean`: every row of sequence i gets row i divided by its length.

        Parameters
        ----------
        d_means
            (n, width) the gradient of the means.
        lengths
            (n,) integers: the length of each sequence.

        Returns
        -------
        (total, width) of the dtype of d_means.

        Raises
        ------
        ValueError
            As in `backprop_reduce_sum`.

        Notes
        -----
        Like NumpyOps' `backprop_reduce_mean`, but faster.

        Examples
        --------
        >>> vl.thinc.NumpyOps().backprop_reduce_mean(np.array([[1.0], [2.0]]), np.array([2, 1]))
        array([[0.5],
               [0.5],
               [2. ]])
        """
        return expand_rows(self._verbs.expand_mean, "d_means", d_means, level_of(lengths))  # type: ignore[no-any-return]

    def backprop_reduce_max(self, d_maxes: Array, which: Array, lengths: Ints) -> Array:
        """The gradient of `reduce_max`: each number goes back to its row, the others get zeros.

        Parameters
        ----------
        d_maxes
            (n, width) the gradient of the maxima.
        which
            (n, width) integers: the rows that `reduce_max` returned.
        lengths
            (n,) integers, none of them 0: the length of each sequence.

        Returns
        -------
        (total, width) of the dtype of d_maxes.

        Raises
        ------
        ValueError
            A length is below 1.
        IndexError
            A row is beyond its sequence.

        Notes
        -----
        Like NumpyOps' `backprop_reduce_max`, but faster.

        Examples
        --------
        >>> d, which = np.array([[5.0], [7.0]]), np.array([[1], [0]])
        >>> vl.thinc.NumpyOps().backprop_reduce_max(d, which, np.array([2, 1]))
        array([[0.],
               [5.],
               [7.]])
        """
        return expand_rows(self._verbs.expand_which, "d_maxes", d_maxes, level_of(lengths, None, 1), which)  # type: ignore[no-any-return]

    def backprop_softmax_sequences(self, dY: Array, Y: Array, lengths: Ints) -> Array:
        """The gradient of `softmax_sequences`.

        Parameters
        ----------
        dY
            (total, width) the gradient of the result.
        Y
            (total, width) the result.
        lengths
            (n,) integers: the length of each sequence.

        Returns
        -------
        (total, width) of the dtype of dY.

        Raises
        ------
        ValueError
            A length is below 0.
        IndexError
            The lengths do not add up to the rows.

        Notes
        -----
        Like NumpyOps' `backprop_softmax_sequences`, but faster.

        Examples
        --------
        >>> dY, Y = np.array([[1.0], [0.0], [1.0]]), np.array([[0.5], [0.5], [1.0]])
        >>> vl.thinc.NumpyOps().backprop_softmax_sequences(dY, Y, np.array([2, 1]))
        array([[ 0.25],
               [-0.25],
               [ 0.  ]])
        """
        return self._verbs.backprop_softmax(dY, Y, level_of(lengths, len(dY)), False, 1.0)  # type: ignore[no-any-return]

    def gather_add(self, table: Array, indices: Array) -> Array:
        """Add up the table rows that each row of indices selects.

        Parameters
        ----------
        table
            (rows, width) float32 or float64.
        indices
            (n, k) integers in 0 ... rows - 1.

        Returns
        -------
        (n, width) of the dtype of table.

        Raises
        ------
        IndexError
            An index names no row.

        Notes
        -----
        Like NumpyOps' `gather_add`, but faster, and every index is checked.

        Examples
        --------
        >>> vl.thinc.NumpyOps().gather_add(np.array([[1.0], [2.0], [4.0]]), np.array([[0, 1], [2, 2]]))
        array([[3.],
               [8.]])
        """
        return self._verbs.gather_add(table, indices)  # type: ignore[no-any-return]

    def hash(self, ids: Array, seed: int) -> Array:
        """Four hashes of 32 bits for each id.

        Parameters
        ----------
        ids
            (n,) uint64.
        seed
            From 0 to 2**32 - 1.

        Returns
        -------
        (n, 4) uint32.

        Notes
        -----
        Like NumpyOps' `hash`, but faster. The hash is MurmurHash3_x64_128.

        Examples
        --------
        >>> vl.thinc.NumpyOps().hash(np.array([1], np.uint64), 0)
        array([[4211459146,    4457399, 3547175942, 1032506804]], dtype=uint32)
        """
        return self._verbs.hash(ids, seed)  # type: ignore[no-any-return]
