"""Ops on NumPy arrays besides those on sequences: lookups, LSTM, maxout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen import _core
from varlen.backends import arrays
from varlen.ops.lstm import backprop_lstm, lstm_forward_inference, lstm_forward_training
from varlen.thinc.sequence_ops import Ops

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from varlen.backends.table import Backend

    Array = np.ndarray


def _lstm_inputs(params: Array, H0: Array, C0: Array, X: Array) -> tuple[Array, Array, Array, Array]:
    """The arguments of `ops.lstm_...`: Thinc's H0 starts the cells, C0 the hidden state; dtype of params."""
    own, hidden, cells, rows = (np.ascontiguousarray(x, params.dtype) for x in (params, C0, H0, X))
    return own, hidden, cells, rows


class _LSTMState(Sequence[Any]):
    """What NumpyOps keeps of an LSTM, (Y, G, C, X), worked out on demand from what varlen keeps."""

    def __init__(self, own: tuple[Any, ...]) -> None:
        self.own = own

    def __len__(self) -> int:
        return 4

    def __getitem__(self, key: Any) -> Any:
        X, Y, gates, cells_before, _ = self.own
        if isinstance(key, slice):
            return tuple(self[k] for k in range(4)[key])
        k = range(4)[key]
        if k in (0, 3):
            return Y if k == 0 else X
        blocks = gates.reshape(*Y.shape[:3], 4, Y.shape[3])
        if k == 1:  # Thinc has the four gates of a number side by side
            return np.ascontiguousarray(blocks.swapaxes(-1, -2)).reshape(gates.shape)
        forget_gate, input_gate, _, new = (blocks[..., g, :] for g in range(4))
        return forget_gate * cells_before + input_gate * new


class CpuOps(Ops):
    """Thinc's ops on sequences, and what models around them need, on the CPU.

    Examples
    --------
    >>> issubclass(vl.thinc.NumpyOps, CpuOps)
    True
    """

    _verbs: Backend = cast("Backend", arrays)

    def scatter_add(self, table: Array, indices: Array, values: ArrayLike) -> None:
        """Add each row of values to the row of table that its index names, in place.

        Negative indices are skipped if `indices` is int32 of one axis, and count from the end otherwise, as
        in NumpyOps.

        Parameters
        ----------
        table
            (rows, ...) numbers, changed in place.
        indices
            Integers of any shape.
        values
            The shape of `indices` followed by that of a table row, or one that broadcasts to it. Values are
            cast to the dtype of `table`.

        Raises
        ------
        IndexError
            An index names no row.
        ValueError
            The values have another shape, or share memory with `table`.

        Notes
        -----
        Like NumpyOps' `scatter_add`, but faster.

        Examples
        --------
        >>> table = np.zeros((2, 1))
        >>> vl.thinc.NumpyOps().scatter_add(table, np.array([1, 1]), np.array([[3.0], [4.0]]))
        >>> table
        array([[0.],
               [7.]])
        """
        shape = (*indices.shape, *table.shape[1:])
        rows = np.asarray(values)
        if rows.shape != shape or rows.dtype != table.dtype:
            rows = np.broadcast_to(rows, shape).astype(table.dtype)
        if indices.size and indices.min() < 0:
            mask = indices >= 0
            if indices.dtype == np.int32 and indices.ndim == 1:
                indices, rows = indices[mask], rows[mask]
            else:
                indices = np.where(mask, indices, indices + len(table))
        arrays.scatter_add(table, indices, rows)

    def lstm_forward_training(
        self, params: Array, H0: Array, C0: Array, X: Array, size_at_t: Array
    ) -> tuple[Array, _LSTMState]:
        """Run an LSTM over packed rows, and keep the state for its gradient.

        Parameters
        ----------
        params
            All weights in one axis, float32 or float64, in the order of Thinc's LSTM.
        H0
            (depth, directions, nO) initial cell states, as in NumpyOps.
        C0
            (depth, directions, nO) initial hidden states, as in NumpyOps.
        X
            (T, nI) packed rows: all first rows, all second rows, and so on.
        size_at_t
            (steps,) integers that never increase and sum to T: the number of sequences at each step.

        Returns
        -------
        (T, directions * nO) of the dtype of params, and the state: Y, G, C, X, as in NumpyOps.

        Raises
        ------
        TypeError
            `params` is neither float32 nor float64.
        ValueError
            Shapes do not fit, or sizes increase or do not add up to T.

        Notes
        -----
        Like NumpyOps' `lstm_forward_training`, but faster.

        Examples
        --------
        >>> start, X, sizes = np.zeros((1, 1, 1)), np.ones((3, 2)), np.array([2, 1])
        >>> Y, state = vl.thinc.NumpyOps().lstm_forward_training(np.zeros(20), start, start, X, sizes)
        >>> Y.shape, len(state)
        ((3, 1), 4)
        """
        inputs: list[Any] = [*_lstm_inputs(params, H0, C0, X), size_at_t]
        Y, state = lstm_forward_training(*inputs)
        return Y, _LSTMState(state)

    def lstm_forward_inference(
        self, params: Array, H0: Array, C0: Array, X: Array, size_at_t: Array
    ) -> Array:
        """Run an LSTM as `lstm_forward_training` does, without the state.

        Parameters
        ----------
        params, H0, C0, X, size_at_t
            As in `lstm_forward_training`.

        Returns
        -------
        (T, directions * nO) of the dtype of params.

        Notes
        -----
        Like NumpyOps' `lstm_forward_inference`, but faster.

        Examples
        --------
        >>> start, X, sizes = np.zeros((1, 1, 1)), np.ones((3, 2)), np.array([2, 1])
        >>> vl.thinc.NumpyOps().lstm_forward_inference(np.zeros(20), start, start, X, sizes).shape
        (3, 1)
        """
        inputs: list[Any] = [*_lstm_inputs(params, H0, C0, X), size_at_t]
        result: Array = lstm_forward_inference(*inputs)
        return result

    def backprop_lstm(
        self, dY: Array, lengths: Array, params: Array, fwd_state: _LSTMState
    ) -> tuple[Array, Array]:
        """The gradients of the rows and of params.

        Parameters
        ----------
        dY
            (T, directions * nO) the gradient of Y.
        lengths
            The size_at_t of the forward pass.
        params
            The weights of the forward pass.
        fwd_state
            The state that came with Y.

        Returns
        -------
        Gradients of X, (T, nI), and of params.

        Raises
        ------
        TypeError, ValueError
            An argument does not fit the state.

        Notes
        -----
        Unlike NumpyOps' `backprop_lstm`, this includes the gradients of the first step and of the second
        bias, and the previous hidden state in the gradient of the weights.

        Examples
        --------
        >>> ops, params, start = vl.thinc.NumpyOps(), np.zeros(20), np.zeros((1, 1, 1))
        >>> Y, state = ops.lstm_forward_training(params, start, start, np.ones((3, 2)), np.array([2, 1]))
        >>> dX, d_params = ops.backprop_lstm(np.ones_like(Y), np.array([2, 1]), params, state)
        >>> dX.shape, d_params.shape
        ((3, 2), (20,))
        """
        own: Any = np.ascontiguousarray
        return backprop_lstm(own(dY, params.dtype), lengths, own(params), fwd_state.own)

    def maxout(self, X: Array) -> tuple[Array, Array]:
        """The largest of each row's pieces, and its index.

        Parameters
        ----------
        X
            (n, nO, pieces) float32 or float64.

        Returns
        -------
        (n, nO) of the dtype of X, and (n, nO) int32; ties give the first piece.

        Notes
        -----
        Like NumpyOps' `maxout`, bit for bit, but faster.

        Examples
        --------
        >>> vl.thinc.NumpyOps().maxout(np.array([[[1.0, 3.0], [2.0, 0.0]]]))
        (array([[3., 2.]]), array([[1, 0]], dtype=int32))
        """
        return _core.maxout(X)
