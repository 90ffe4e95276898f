"""The LSTM of tensors: one op, watched by autograd, and one for its way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from varlen.backends.numpy.lstm import run, run_back
from varlen.backends.torch.autograd import AutogradOp, SavedContext, in_float32, no_second_gradient
from varlen.errors import instance_error, type_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


def _run(params: Array, H0: Array, C0: Array, X: Array, sizes: list[int]) -> tuple[Array, ...]:
    result, state = run(params, H0, C0, X, list(sizes), True)
    # Results of an op are nobody's views; X is an input already.
    return (
        result if result.base is None else result.copy(),
        *(x.copy() if x.base is not None else x for x in state[1:]),
    )


def _shapes(
    params: torch.Tensor, H0: torch.Tensor, C0: torch.Tensor, X: torch.Tensor, sizes: list[int]
) -> tuple[torch.Tensor, ...]:
    depth, directions, nO = H0.shape
    rows = X.shape[0]
    shape = (depth, directions, rows, nO)
    return (
        X.new_empty((rows, directions * nO)),
        X.new_empty(shape),
        X.new_empty((depth, directions, rows, 4 * nO)),
        X.new_empty(shape),
        X.new_empty(shape),
    )


def _gradient(context: SavedContext, d: torch.Tensor) -> tuple[torch.Tensor, ...]:
    params, X, *state = context.saved
    dX, d_params, dH0, dC0 = _lstm_back(d.contiguous(), params, X, *state, context.rest[0])
    return d_params, dH0, dC0, dX


_lstm: AutogradOp = AutogradOp(
    "lstm(Tensor params, Tensor H0, Tensor C0, Tensor X, SymInt[] sizes)"
    " -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    in_float32(_run),
    _shapes,
    _gradient,
    columns=4,
    saves=(0, 3, -2, -3, -4, -5),
)
_lstm_back: AutogradOp = AutogradOp(
    "lstm_back(Tensor d, Tensor params, Tensor X, Tensor Y, Tensor gates, Tensor cells, Tensor hidden,"
    " SymInt[] sizes) -> (Tensor, Tensor, Tensor, Tensor)",
    in_float32(
        lambda d, params, X, Y, gates, cells, hidden, sizes: run_back(
            d, list(sizes), params, (X, Y, gates, cells, hidden)
        )
    ),
    lambda d, params, X, Y, *_: (
        X.new_empty(X.shape),
        params.new_empty(params.shape),
        X.new_empty((*Y.shape[:2], Y.shape[3])),
        X.new_empty((*Y.shape[:2], Y.shape[3])),
    ),
    no_second_gradient("lstm"),
    columns=7,
)


def _on_cpu(x: torch.Tensor, argument: str) -> torch.Tensor:
    if x.device.type not in ("cpu", "meta"):
        raise type_error(
            argument, f"expected a tensor on the CPU, got one on {x.device}; use torch.nn.LSTM there"
        )
    return x


def lstm(
    params: torch.Tensor, H0: Any, C0: Any, X: Any, sizes: list[int], training: bool
) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
    """The forward pass: Y, and the state that `backprop_lstm` takes."""
    arguments = []
    for name, x in (("params", params), ("H0", H0), ("C0", C0), ("X", X)):
        if not isinstance(x, torch.Tensor):
            raise instance_error(name, "a tensor as params", x)
        arguments.append(_on_cpu(x, name))
    result, *state = _lstm(*arguments, sizes)
    return result, (X, *state)


def backprop_lstm(dY: Any, sizes: list[int], params: torch.Tensor, state: tuple[Any, ...]) -> tuple[Any, Any]:
    """Gradients of X and of params."""
    if not isinstance(params, torch.Tensor):
        raise instance_error("params", "a tensor, as dY is", params)
    if not isinstance(state, tuple):
        raise instance_error("fwd_state", "a tuple", state)
    for part in state:
        if not isinstance(part, torch.Tensor):
            raise instance_error("fwd_state", "tensors, as params are", part)
    dX, d_params, _, _ = _lstm_back(_on_cpu(dY, "dY"), params, *state, sizes)
    return dX, d_params
