"""An LSTM over packed rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import Case, row


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _by_hand(params: np.ndarray, X: np.ndarray, sizes: np.ndarray, width: int) -> np.ndarray:
    """A product for all rows, one for each step, and NumPy in between."""
    Wx, bx, Wh, bh = np.split(params, np.cumsum([4 * width * width, 4 * width, 4 * width * width]))
    gates = X @ Wx.reshape(4 * width, width).T + (bx + bh)
    back = np.ascontiguousarray(Wh.reshape(4 * width, width).T)
    Y = np.empty_like(X)
    h, c = np.zeros((2, sizes[0], width), X.dtype)
    begin = 0
    for n in sizes.tolist():
        f, i, o, new = np.split(gates[begin : begin + n] + h[:n] @ back, 4, axis=1)
        c = _sigmoid(f) * c[:n] + _sigmoid(i) * np.tanh(new)
        h = _sigmoid(o) * np.tanh(c)
        Y[begin : begin + n] = h
        begin += n
    return Y


@row("lstm.forward", "LSTM over 256 sequences of mean 20, 96 wide")
def _(case: Case) -> None:
    draw = np.random.default_rng(0)
    width = case.size(96, 4)
    lengths = draw.integers(1, 40, case.size(256, 5))
    sizes = (lengths[:, None] > np.arange(lengths.max())).sum(axis=0).astype(np.int32)
    params = (draw.normal(size=4 * width * (2 * width + 2)) * 0.1).astype(np.float32)
    X = draw.normal(size=(sizes.sum(), width)).astype(np.float32)
    start = np.zeros((1, 1, width), np.float32)
    wanted = _by_hand(params, X, sizes, width)
    case.reference = True

    def near(Y: np.ndarray) -> bool:
        return bool(np.allclose(Y, wanted, atol=1e-5))

    @case.contender("varlen", show=near)
    def _() -> Any:
        import varlen

        return varlen.ops.lstm_forward_inference, params, start, start, X, sizes

    @case.contender("thinc", needs="thinc", show=near)
    def _() -> Any:
        from thinc.backends import NumpyOps

        return NumpyOps().lstm_forward_inference, params, start, start, X, sizes

    @case.contender("numpy by hand", show=near)
    def _() -> Any:
        return _by_hand, params, X, sizes, width

    case.share(1, 1)
