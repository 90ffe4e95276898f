"""What the LSTM means: a sequence at a time, on NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oracles.verbs import offsets

Array = NDArray[Any]


def lstm(params: Array, H0: Array, C0: Array, X: Array, sizes: Sequence[int]) -> Array:
    """An LSTM over packed rows, a sequence at a time, on NumPy arrays.

    >>> start = np.zeros((1, 1, 1))
    >>> lstm(np.zeros(20), start, start, np.ones((3, 2)), [2, 1]).tolist()
    [[0.0], [0.0], [0.0]]
    """
    for layer in range(H0.shape[0]):
        sides = []
        for d in range(H0.shape[1]):
            side, params = _lstm_side(params, H0[layer, d], C0[layer, d], X, sizes, 1 - 2 * d)
            sides.append(side)
        X = np.concatenate(sides, axis=1)
    return X


def _lstm_side(
    params: Array, h0: Array, c0: Array, X: Array, sizes: Sequence[int], way: int
) -> tuple[Array, Array]:
    n, wide, Y = len(h0), X.shape[1], np.zeros((len(X), len(h0)))
    Wx, bx, Wh, bh, rest = np.split(params, np.cumsum([4 * n * wide, 4 * n, 4 * n * n, 4 * n]))
    for i in range(max(sizes, default=0)):
        h, c = h0, c0
        for row in [s + i for s, size in zip(offsets(sizes), sizes, strict=False) if i < size][::way]:
            h, c = _lstm_cell(Wx.reshape(-1, wide) @ X[row] + bx + Wh.reshape(-1, n) @ h + bh, c)
            Y[row] = h
    return Y, rest


def _lstm_cell(gates: Array, c: Array) -> tuple[Array, Array]:
    forget, let_in, out, new = np.split(gates, 4)
    f, i, o = (1 / (1 + np.exp(-x)) for x in (forget, let_in, out))
    c = f * c + i * np.tanh(new)
    return o * np.tanh(c), c
