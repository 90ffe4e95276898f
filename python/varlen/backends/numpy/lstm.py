"""The LSTM of arrays: the products with the weights are NumPy's, what happens between them is the core's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.backends.numpy.rows import native_order, plain_rows
from varlen.errors import instance_error, type_error, value_error

if TYPE_CHECKING:
    Array = np.ndarray


def lstm(
    params: Any, H0: Any, C0: Any, X: Any, sizes: list[int], training: bool
) -> tuple[Array, tuple[Array, ...]]:
    """The forward pass: Y, and the state that `backprop_lstm` takes."""
    arguments = (("params", params), ("H0", H0), ("C0", C0), ("X", X))
    rows: list[Any] = [native_order(plain_rows(x, name, "params")) for name, x in arguments]
    return run(rows[0], rows[1], rows[2], rows[3], sizes, training)


def backprop_lstm(dY: Any, sizes: list[int], params: Any, state: tuple[Any, ...]) -> tuple[Array, Array]:
    """Gradients of X and of params."""
    rows, weights = (native_order(plain_rows(x, n, "params")) for n, x in (("dY", dY), ("params", params)))
    return run_back(rows, sizes, weights, state)[:2]


@dataclass
class Cell:
    """The weights of one layer in one direction: views of params, or of their gradients."""

    inputs: Array
    bias: Array
    hidden: Array
    bias_of_hidden: Array

    @staticmethod
    def all(params: Array, depth: int, directions: int, nO: int, nI: int) -> Iterator[Cell]:
        """Layer by layer, direction by direction."""
        start = 0
        for layer in range(depth):
            width = nI if layer == 0 else nO * directions
            for _ in range(directions):
                ends = np.cumsum([start, 4 * nO * width, 4 * nO, 4 * nO * nO, 4 * nO])
                parts = [params[a:b] for a, b in pairwise(ends)]
                yield Cell(parts[0].reshape(4 * nO, width), parts[1], parts[2].reshape(4 * nO, nO), parts[3])
                start = int(ends[-1])


def _check(params: Array, H0: Array, C0: Array, X: Array, sizes: list[int]) -> None:
    if params.dtype not in (np.float32, np.float64):
        raise type_error("params", f"expected float32 or float64, got {params.dtype}")
    for name, x, ndim in (("params", params, 1), ("H0", H0, 3), ("C0", C0, 3), ("X", X, 2)):
        if x.dtype != params.dtype:
            raise type_error(name, f"expected {params.dtype} as params, got {x.dtype}")
        if x.ndim != ndim:
            raise value_error(name, f"expected {ndim} dimensions, got {x.ndim}")
    if H0.shape != C0.shape:
        raise value_error("C0", f"expected the shape of H0, {H0.shape}, got {C0.shape}")
    depth, directions, nO = H0.shape
    if depth < 1 or directions not in (1, 2):
        raise value_error("H0", f"expected (depth, 1 or 2 directions, nO), got {H0.shape}")
    _check_params(params, depth, directions, nO, X.shape[1])
    if sum(sizes) != len(X):
        raise value_error("size_at_t", f"adds up to {sum(sizes)}, but X has {len(X)} rows")


def _check_params(params: Array, depth: int, directions: int, nO: int, nI: int) -> None:
    upper_count = (depth - 1) * directions * 4 * nO * (directions * nO + nO + 2)
    count = directions * 4 * nO * (nI + nO + 2) + upper_count
    if len(params) != count:
        sizes = f"depth {depth}, {directions} directions, nO {nO}, nI {nI}"
        raise value_error("params", f"expected {count} numbers for {sizes}, got {len(params)}")


def _steps(sizes: list[int], backward: bool) -> list[tuple[int, int]]:
    """Where the rows of each step begin and end, in the order of running."""
    ends = np.cumsum([0, *sizes]).tolist()
    steps = list(pairwise(ends))
    return steps[::-1] if backward else steps


def run(
    params: Array, H0: Array, C0: Array, X: Array, sizes: list[int], training: bool
) -> tuple[Array, tuple[Array, ...]]:
    """The forward pass on arrays: Y, and the state (X, outputs, gates, cells and hidden states before)."""
    _check(params, H0, C0, X, sizes)
    depth, directions, nO = H0.shape
    rows, batch = len(X), max(sizes, default=0)
    buffers = depth if training else min(depth, 2)  # a layer may read what the one below wrote
    Y = np.empty((buffers, directions, rows, nO), X.dtype)
    gates = np.empty((buffers, directions, rows, 4 * nO), X.dtype)
    were = np.empty((2, buffers, directions, rows, nO), X.dtype) if training else None
    product = np.empty((batch, 4 * nO), X.dtype)
    cells_of_all = Cell.all(params, depth, directions, nO, X.shape[1])
    layer_X = X
    for layer in range(depth):
        buffer = layer % buffers
        for d in range(directions):
            cell = next(cells_of_all)
            G, out = gates[buffer, d], Y[buffer, d]
            np.matmul(layer_X, cell.inputs.T, out=G)
            bias = cell.bias + cell.bias_of_hidden
            hidden = np.repeat(H0[layer, d][None], batch, 0)
            cells = np.repeat(C0[layer, d][None], batch, 0)
            weights = np.ascontiguousarray(cell.hidden.T)
            for a, b in _steps(sizes, d == 1):
                n = b - a
                np.matmul(hidden[:n], weights, out=product[:n])
                states = (None, None) if were is None else (were[0, buffer, d, a:b], were[1, buffer, d, a:b])
                _core.lstm_step(G[a:b], product[:n], bias, cells[:n], hidden[:n], out[a:b], *states)
        layer_X = Y[buffer].transpose(1, 0, 2).reshape(rows, directions * nO)
    return layer_X, (X, Y, gates, *were) if were is not None else ()


def run_back(
    dY: Array, sizes: list[int], params: Array, state: tuple[Array, ...]
) -> tuple[Array, Array, Array, Array]:
    """The way back on arrays: gradients of X, params, H0 and C0."""
    if not isinstance(state, tuple):
        raise instance_error("fwd_state", "a tuple", state)
    if len(state) != 5:
        raise value_error("fwd_state", f"expected what lstm_forward_training gave, got {len(state)} parts")
    X, Y, gates, cells_were, hidden_were = state
    depth, directions, rows, nO = Y.shape
    if dY.shape != (rows, directions * nO) or dY.dtype != X.dtype:
        raise value_error("dY", f"expected {X.dtype}{(rows, directions * nO)}, got {dY.dtype}{dY.shape}")
    if sum(sizes) != rows:
        raise value_error("lengths", f"add up to {sum(sizes)}, but dY has {rows} rows")
    _check_params(params, depth, directions, nO, X.shape[1])
    d_params = np.empty_like(params)
    starts = np.zeros((2, depth, directions, nO), X.dtype)
    cells_of_all = list(Cell.all(params, depth, directions, nO, X.shape[1]))
    d_cells_of_all = list(Cell.all(d_params, depth, directions, nO, X.shape[1]))
    batch = max(sizes, default=0)
    d_gates = np.empty((rows, 4 * nO), X.dtype)
    for layer in reversed(range(depth)):
        layer_X = X if layer == 0 else Y[layer - 1].transpose(1, 0, 2).reshape(rows, directions * nO)
        d_layer_X = np.zeros_like(layer_X)
        for d in range(directions):
            cell, d_cell = cells_of_all[layer * directions + d], d_cells_of_all[layer * directions + d]
            d_out = np.ascontiguousarray(dY[:, d * nO : (d + 1) * nO])
            d_state = np.zeros((2, batch, nO), X.dtype)
            for a, b in reversed(_steps(sizes, d == 1)):
                n = b - a
                cell_state = cells_were[layer, d, a:b]
                _core.lstm_step_back(
                    gates[layer, d, a:b], cell_state, d_out[a:b], d_state[0, :n], d_state[1, :n], d_gates[a:b]
                )
                np.matmul(d_gates[a:b], cell.hidden, out=d_state[0, :n])
            # The start of every sequence is behind its rows now, whichever step they ended at.
            starts[:, layer, d] = d_state.sum(axis=1)
            np.matmul(d_gates.T, layer_X, out=d_cell.inputs)
            np.matmul(d_gates.T, hidden_were[layer, d], out=d_cell.hidden)
            d_cell.bias[:] = d_cell.bias_of_hidden[:] = d_gates.sum(axis=0)
            d_layer_X += d_gates @ cell.inputs
        dY = d_layer_X
    return dY, d_params, starts[0], starts[1]
