"""Thinc's ops on the kernels of the core. This module imports thinc; `varlen.thinc` reaches it when asked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from thinc import registry
from thinc.backends import NumpyOps
from thinc.types import Padded

from varlen import _core
from varlen._core import Level
from varlen.interop.thinc import new_padded
from varlen.ops.flatten import unpad
from varlen.ops.lstm import backprop_lstm, lstm_forward_inference, lstm_forward_training

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_SUM = "lengths must sum up to the number of rows"


def _level(lengths: Any, rows: int | None = None, least: int = 0) -> Level:
    """The sequences of so many rows; what does not fit raises what Thinc raises, in its words."""
    allowed = "> 0" if least else ">= 0"
    try:
        level = Level.from_lengths(lengths)
    except ValueError as error:
        raise ValueError(f"all sequence lengths must be {allowed}: {error}") from None
    if least and len(level) and level.shortest < least:
        at = int((level.lengths == 0).argmax())
        raise ValueError(f"all sequence lengths must be {allowed}, was: 0, sequence {at}")
    if rows is not None and level.total != rows:
        raise IndexError(f"{_SUM}: {level.total}, but there are {rows}")
    return level


def _around(X: Array, nW: int, lengths: Any, op: str, what: str) -> Level:
    """The sequences of a window's rows: one where nothing else is said."""
    if X.ndim != 2:
        raise ValueError(f"{op} requires {what} array of dimensionality 2, was {X.ndim}")
    return _one(len(X)) if lengths is None else _level(lengths, len(X))


@lru_cache(maxsize=64)
def _one(rows: int) -> Level:
    return Level.from_lengths((rows,))


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
        each = gates.reshape(*Y.shape[:3], 4, Y.shape[3])
        if k == 1:  # Thinc has the four gates of a number side by side
            return np.ascontiguousarray(each.swapaxes(-1, -2)).reshape(gates.shape)
        forget, let_in, _, new = (each[..., g, :] for g in range(4))
        return forget * cells_before + let_in * new


@registry.ops("VarlenOps")
class VarlenOps(NumpyOps):  # type: ignore[misc]
    """NumpyOps whose sequence ops, and maxout, are varlen's kernels.

    `use_ops("varlen")` selects it, `varlen.thinc.install()` makes it the default on the CPU. What it does not
    say otherwise is as in NumpyOps: results, dtypes, orders of ties, texts of errors, float64 that stays.
    Large results lie in recycled memory; work from 2 MB on is shared between threads, and its bits
    are the same for any number of them.

    Parameters
    ----------
    device_type, device_id, use_blis
        As NumpyOps takes them. `use_blis=False` multiplies matrices with NumPy.

    Examples
    --------
    >>> from varlen.thinc import VarlenOps
    >>> VarlenOps().reduce_sum(np.array([[1.0], [2.0], [3.0]]), np.array([2, 0, 1]))
    array([[3.],
           [0.],
           [3.]])
    """

    name = "varlen"

    def flatten(
        self,
        X: Sequence[Any],
        dtype: Any = None,
        pad: int = 0,
        ndim_if_empty: int = 2,
    ) -> Array:
        """Arrays laid end to end; with pad rows of zeros before each that has rows, and after the last."""
        if X is None or len(X) == 0:
            return self.alloc((0,) * ndim_if_empty, dtype=dtype or "f")  # type: ignore[no-any-return]
        full = [x for x in X if x.size]
        if not full:
            return self.alloc(X[0].shape, dtype=dtype or "f")  # type: ignore[no-any-return]
        flat = _core.flatten(full, None, max(0, int(pad)))
        return flat if dtype is None else flat.astype(dtype, copy=False)

    def unflatten(self, X: Array, lengths: Any, pad: int = 0) -> list[Array]:
        """The way back: views of X. Lengths that do not sum up to the rows are an IndexError."""
        if pad <= 0:
            return _core.ragged2list(X, _level(lengths, len(X)))
        level = _level(lengths)
        there = (level.lengths > 0).cumsum()
        rows = level.total + pad * (int(there[-1]) + 1) if level.total else 0
        if rows != len(X):
            raise IndexError(f"{_SUM}: {rows} with pad={pad}, but there are {len(X)}")
        ends = level.bounds + pad * there
        return _core.views(X, ends - level.lengths, ends)

    def pad(self, seqs: Sequence[Any], round_to: int = 1) -> Array:
        """Arrays side by side, (sequences, longest, ...), zeros behind their ends."""
        if round_to < 1:
            raise ValueError(f"Rounding for padding must at least be 1, was: {round_to}")
        if not seqs:
            raise ValueError("Cannot pad empty sequence")
        if len({seq.ndim for seq in seqs}) != 1:
            raise ValueError("Cannot pad sequences with different ndims")
        if len({seq.dtype for seq in seqs}) != 1:
            raise ValueError("Cannot pad sequences with different dtypes")
        if len({seq.shape[1:] for seq in seqs}) != 1:
            raise ValueError("Cannot pad sequences that differ on other dimensions")
        dense: Array = _core.list2dense(seqs, round_to)
        return dense

    def unpad(self, padded: Array, lengths: Sequence[int]) -> list[Array]:
        """The way back: views of padded, for as many sequences as there are lengths."""
        return unpad(padded, lengths)

    def list2padded(self, seqs: Sequence[Any]) -> Padded:
        """Arrays side by side in Thinc's Padded, never a view of them."""
        padded: Padded = new_padded(*_core.list2padded(seqs))
        return padded

    def padded2list(self, padded: Padded) -> list[Array]:
        """The way back: views of one array."""
        fields = padded.size_at_t, padded.lengths, padded.indices
        return _core.ragged2list(*_core.padded2ragged(padded.data, *fields))

    def seq2col(self, seq: Array, nW: int, *, lengths: Any = None) -> Array:
        """Each row with its nW neighbours on either side beside it."""
        level = _around(seq, nW, lengths, "seq2col", "sequence")
        return _core.seq2col(seq, level, nW, nW)[0]

    def backprop_seq2col(self, dY: Array, nW: int, *, lengths: Any = None) -> Array:
        """The gradient. A width that does not divide into the places is a ValueError."""
        level = _around(dY, nW, lengths, "backprop_seq2col", "gradient")
        return _core.backprop_seq2col(dY, level, nW, nW)

    def reduce_sum(self, X: Array, lengths: Any) -> Array:
        """The sum of each sequence, zeros of none."""
        return _core.reduce("sum", X, _level(lengths, len(X)), 0)

    def reduce_mean(self, X: Array, lengths: Any) -> Array:
        """The mean of each sequence, zeros of none."""
        return _core.reduce("mean", X, _level(lengths, len(X)), 0)

    def reduce_max(self, X: Array, lengths: Any) -> tuple[Array, Array]:
        """The largest number of each sequence, and its row inside it: the first of equals. NaN propagates."""
        return _core.reduce_extreme("max", X, _level(lengths, len(X), 1), narrow=True)

    def reduce_first(self, X: Array, lengths: Any) -> tuple[Array, Array]:
        """The first row of each sequence, and the offsets."""
        if len(lengths) == 0:
            return self._none_of(X), lengths
        level = _level(lengths, len(X), 1)
        return _core.gather_column(X, (level,), 0)[0], level.offsets32.copy()

    def reduce_last(self, X: Array, lengths: Any) -> tuple[Array, Array]:
        """The last row of each sequence, and which they are."""
        if len(lengths) == 0:
            return self._none_of(X), lengths
        level = _level(lengths, len(X), 1)
        return _core.gather_column(X, (level,), -1)[0], level.bounds - 1

    def _none_of(self, X: Array) -> Array:
        return self.alloc((0, *X.shape[1:]), dtype=X.dtype)  # type: ignore[no-any-return]

    def backprop_reduce_sum(self, d_sums: Array, lengths: Any) -> Array:
        """Each row for all rows of its sequence."""
        return _core.expand(d_sums, _level(lengths))

    def backprop_reduce_mean(self, d_means: Array, lengths: Any) -> Array:
        """Each row, divided by the length, for all rows of its sequence."""
        level = _level(lengths)
        return _core.expand(_core.divided_by_lengths(d_means, level), level)

    def backprop_reduce_max(self, d_maxes: Array, which: Array, lengths: Any) -> Array:
        """Each number for the row that it came from, zeros for the others."""
        return _core.expand_which(d_maxes, _level(lengths, None, 1), which)

    def backprop_reduce_first(self, d_firsts: Array, starts_ends: Any) -> Array:
        """Each row for the first of its sequence, zeros for the others."""
        if len(starts_ends) == 0:
            return self._none_of(d_firsts)
        if len(starts_ends) == 1:
            raise ValueError("starts_ends must not have size 1")
        return _core.expand_end(d_firsts, Level.from_offsets(starts_ends), False)

    def backprop_reduce_last(self, d_lasts: Array, lasts: Any) -> Array:
        """Each row for the last of its sequence, zeros for the others."""
        if len(lasts) == 0:
            return self._none_of(d_lasts)
        return _core.expand_end(d_lasts, Level.from_bounds(np.asarray(lasts) + 1), True)

    def softmax_sequences(self, Xs: Array, lengths: Any, *, inplace: bool = False, axis: int = -1) -> Array:
        """The softmax of each column inside each sequence; `inplace` and `axis` mean nothing.

        The maximum is subtracted, where Thinc clips to 20.
        """
        if Xs.ndim >= 3:
            raise NotImplementedError(f"Softmax currently only supports 2d. Got: {Xs.ndim}")
        return _core.softmax(Xs, _level(lengths, len(Xs)))

    def backprop_softmax_sequences(self, dY: Array, Y: Array, lengths: Any) -> Array:
        """The gradient."""
        return _core.backprop_softmax(dY, Y, _level(lengths, len(dY)))

    def gather_add(self, table: Array, indices: Array) -> Array:
        """The sum of the rows that each row of indices names. IndexError where there is no such row."""
        return _core.gather_add(table, indices)

    def scatter_add(self, table: Array, indices: Array, values: Any) -> None:
        """Add each row of values to the row of table that its index names, in place.

        Below 0 an index is left out where they are int32 in one axis, and counts from the end otherwise, as
        with NumpyOps.
        """
        wanted = (*indices.shape, *table.shape[1:])
        if np.shape(values) != wanted or getattr(values, "dtype", None) != table.dtype:
            values = np.broadcast_to(values, wanted).astype(table.dtype)
        if indices.size and indices.min() < 0:
            there = indices >= 0
            if indices.dtype == np.int32 and indices.ndim == 1:
                indices, values = indices[there], values[there]
            else:
                indices = np.where(there, indices, indices + len(table))
        _core.scatter_add(table, indices, values)

    def hash(self, ids: Array, seed: int) -> Array:
        """Four hashes of 32 bits for each id."""
        return _core.hash(ids, seed)

    def ngrams(self, n: int, keys: Array) -> Array:
        """A hash for every n keys that follow each other."""
        if n < 1:
            return self.alloc((0,), dtype="uint64")  # type: ignore[no-any-return]
        return _core.ngrams(n, keys, Level.from_lengths((len(keys),)))[0]

    def lstm_forward_training(
        self, params: Array, H0: Array, C0: Array, X: Array, size_at_t: Array
    ) -> tuple[Array, Any]:
        """An LSTM over packed rows, and what its gradient needs: Y, G, C, X as NumpyOps has them.

        As in NumpyOps, H0 is what the cells start with, and C0 the hidden state.
        """
        inputs: list[Any] = [*_lstm_inputs(params, H0, C0, X), size_at_t]
        Y, state = lstm_forward_training(*inputs)
        return Y, _LSTMState(state)

    def lstm_forward_inference(
        self, params: Array, H0: Array, C0: Array, X: Array, size_at_t: Array
    ) -> Array:
        """The same without the gradient."""
        inputs: list[Any] = [*_lstm_inputs(params, H0, C0, X), size_at_t]
        result: Array = lstm_forward_inference(*inputs)
        return result

    def backprop_lstm(self, dY: Array, lengths: Array, params: Array, fwd_state: Any) -> tuple[Array, Array]:
        """The gradients of the rows and of params: those that Thinc's leaves out too."""
        own: Any = np.ascontiguousarray
        return backprop_lstm(own(dY, params.dtype), lengths, own(params), fwd_state.own)

    def maxout(self, X: Array) -> tuple[Array, Array]:
        """The largest of each row's pieces, and which it is: bit for bit NumpyOps'."""
        return _core.maxout(X)
