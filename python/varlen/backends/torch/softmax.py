"""Softmax inside sequences of tensors, and its gradients of every order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import _core, tracing
from varlen._core import Level
from varlen.arguments import one_number_error
from varlen.backends.torch.autograd import AutogradOp, SavedContext, level_of, write_result
from varlen.backends.torch.followers import is_followed, shows_numbers
from varlen.backends.torch.memory import float_of
from varlen.backends.torch.sums import multiply, repeat_rows, sums
from varlen.errors import type_error

if TYPE_CHECKING:
    Array = np.ndarray


def _dtype(dtype: torch.dtype) -> torch.dtype:
    return dtype if dtype.is_floating_point else torch.float64


def _run(x: Array, offsets: Any, log: bool, temperature: float) -> Array:
    return _core.softmax(x, offsets if type(offsets) is Level else level_of(offsets), log, temperature)


_softmax: AutogradOp = AutogradOp(
    "softmax_sequences(Tensor x, Tensor offsets, bool log, float temperature) -> Tensor",
    _run,
    lambda x, offsets, log, temperature: x.new_empty(x.shape, dtype=_dtype(x.dtype)),
    lambda context, d: _gradient_op(d, context.saved[0], *context.rest),
    saves=(-1,),
    like=lambda x, offsets, log, temperature: "log_softmax" if log else "softmax",
)


def _run_back(dy: Array, y: Array, offsets: Array, log: bool, temperature: float) -> Array:
    return _core.backprop_softmax(dy, y, level_of(offsets), log, temperature)


def _sums_of_rows(x: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """The sum of each sequence, for every row of it."""
    return repeat_rows(sums(x, offsets), offsets, x.shape[0])


def _gradient_of_back(context: SavedContext, d: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    (dy, y), (offsets, log, temperature) = context.saved, context.rest
    if log:
        result = y.exp()
        by_dy = (d - _sums_of_rows(multiply(d, result), offsets)) / temperature
        return by_dy, -multiply(d * _sums_of_rows(dy, offsets), result) / temperature
    by_dy, by_d = (_sums_of_rows(multiply(item, y), offsets) for item in (dy, d))
    by_y = d * dy - multiply(d, by_dy) - multiply(dy, by_d)
    return _gradient_op(d, y, offsets, log, temperature), by_y / temperature


_gradient_op: AutogradOp = AutogradOp(
    "backprop_softmax_sequences(Tensor dY, Tensor Y, Tensor offsets, bool log, float temperature) -> Tensor",
    _run_back,
    lambda dy, *_: torch.empty_like(dy),
    _gradient_of_back,
    columns=2,
    saves=(0, 1),
)


def softmax(
    x: torch.Tensor, level: Level, log: bool, temperature: Any, out: Any = None, inplace: bool = False
) -> torch.Tensor:
    """`_core.softmax` of a tensor, watched by autograd, as is a temperature that is a tensor."""
    if inplace and not x.is_floating_point():
        raise type_error("X", f"expected floats to write in place, got {x.dtype}")
    if type(temperature) is float:
        result = _softmax(x, level, log, temperature)
    elif isinstance(temperature, torch.Tensor) and (tracing.is_tracing() or is_followed(temperature)):
        result = _softmax(x / _check_temperature(temperature), level, log, 1.0)
    else:
        result = _softmax(x, level, log, float_of(temperature, "temperature"))
    out = x if inplace else out
    return result if out is None else write_result(result, out)


def _check_temperature(temperature: torch.Tensor) -> torch.Tensor:
    """A temperature that somebody follows: one number above 0, as far as it can be looked at."""
    if temperature.numel() != 1:
        raise one_number_error("temperature", temperature.shape)
    if not tracing.is_tracing() and shows_numbers(temperature):
        _core.softmax(
            np.empty(0), Level([]), False, float(temperature.detach())
        )  # refuses what is no temperature
    return temperature.reshape(())


def shares(x: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """Softmax by offsets, inside gradients of other ops."""
    result: torch.Tensor = _softmax(x, offsets, False, 1.0)
    return result


def backprop_softmax(
    dY: torch.Tensor, Y: Any, level: Level, log: bool, temperature: float, out: Any = None
) -> torch.Tensor:
    """`_core.backprop_softmax` of tensors, watched by autograd."""
    y = Y if isinstance(Y, torch.Tensor) else torch.from_numpy(Y)
    if y.dtype != dY.dtype:
        raise type_error("Y", f"expected {dY.dtype} as dY, got {y.dtype}")
    result = _gradient_op(dY, y, level, log, float_of(temperature, "temperature"))
    return write_result(result, out)
