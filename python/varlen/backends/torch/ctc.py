"""Connectionist temporal classification of tensors: one op, watched by autograd, and one for its way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import _core, tracing
from varlen.backends.torch.autograd import AutogradOp, level_of, no_second_gradient
from varlen.backends.torch.memory import as_numpy, tensor_of
from varlen.backends.torch.pad import pad
from varlen.errors import dtype_error, value_error

if TYPE_CHECKING:
    from varlen._core import Level

    Array = np.ndarray


def _run(
    log_probs: Array, offsets: Any, targets: Array, target_offsets: Any, blank: int, zero_infinity: bool
) -> tuple[Array, Array]:
    levels = level_of(offsets), level_of(target_offsets)
    return _core.ctc_loss(log_probs, levels[0], targets, levels[1], blank, zero_infinity, True)


def _run_first(
    log_probs: Array, offsets: Any, targets: Array, target_offsets: Any, blank: int, zero_infinity: bool
) -> Array:
    levels = level_of(offsets), level_of(target_offsets)
    return _core.ctc_loss(log_probs, levels[0], targets, levels[1], blank, zero_infinity)


_ctc: AutogradOp = AutogradOp(
    "ctc_loss(Tensor log_probs, Tensor offsets, Tensor targets, Tensor target_offsets, int blank,"
    " bool zero_infinity) -> (Tensor, Tensor)",
    _run,
    lambda x, offsets, *_: (x.new_empty((offsets.shape[0] - 1,)), x.new_empty(x.shape)),
    lambda context, d: _ctc_back(d, context.saved[0], context.rest[0]),
    saves=(-2,),
    run_first=_run_first,
)


def _run_back(d: Array, gradient: Array, offsets: Any) -> Array:
    product: Array = _core.expand(d, level_of(offsets))[:, None] * gradient
    return product


_ctc_back: AutogradOp = AutogradOp(
    "ctc_loss_back(Tensor d, Tensor gradient, Tensor offsets) -> Tensor",
    _run_back,
    lambda d, gradient, offsets: torch.empty_like(gradient),
    no_second_gradient("ctc_loss"),
    columns=2,
)


def ctc_loss(
    log_probs: torch.Tensor, level: Level, targets: Any, target_level: Level, blank: int, zero_infinity: bool
) -> torch.Tensor:
    """The loss of each sequence, watched by autograd."""
    x, labels = _widen_halves(log_probs), _labels(targets)
    if x.device.type not in ("cpu", "meta"):
        return padded_loss(x, level, labels, target_level, blank, zero_infinity)
    result: torch.Tensor = _ctc.first(x, level, labels.to(x.device), target_level, blank, zero_infinity)
    return result


def backprop_ctc_loss(
    d: Any,
    log_probs: torch.Tensor,
    level: Level,
    targets: Any,
    target_level: Level,
    blank: int,
    zero_infinity: bool,
) -> torch.Tensor:
    """The gradient of log probabilities from that of the losses."""
    x, labels = _widen_halves(log_probs).detach(), _labels(targets)
    d_losses = torch.as_tensor(d, dtype=x.dtype, device=x.device)
    if x.device.type not in ("cpu", "meta"):
        with torch.enable_grad():
            x = x.requires_grad_()
            loss = padded_loss(x, level, labels, target_level, blank, zero_infinity)
        gradient = torch.autograd.grad(loss, x, d_losses.detach())[0]
    else:
        unit = _ctc(x, level, labels.to(x.device), target_level, blank, zero_infinity)[1]
        gradient = _ctc_back(d_losses, unit, level)
    return gradient.to(log_probs.dtype)


def padded_loss(
    x: torch.Tensor,
    level: Level,
    targets: torch.Tensor,
    target_level: Level,
    blank: int,
    zero_infinity: bool,
) -> torch.Tensor:
    """The loss as torch computes it from a rectangle, for devices."""
    if not tracing.is_tracing():
        # Numbers on the device are looked at here: torch would read beyond its memory for a wrong label.
        no_rows = np.empty((0, x.shape[1]), np.float32)
        empty_level = _core.Level(np.zeros(len(target_level), np.int64))
        _core.ctc_loss(no_rows, empty_level, as_numpy(targets.cpu()), target_level, blank, zero_infinity)
        if len(level) != len(target_level):
            raise value_error(
                "targets", f"has {len(target_level)} sequences, expected {len(level)} as log_probs"
            )
        if not len(level):
            return x.sum() * 0 + x.new_empty((0,))
    block = pad(x, (level,))
    if not tracing.is_tracing() and not x.shape[0]:
        block = x.new_zeros((len(level), 1, x.shape[1])) + x.sum()
    lengths, target_lengths = (_lengths(item) for item in (level, target_level))
    return torch.nn.functional.ctc_loss(
        block.transpose(0, 1),
        targets.to(block.device, torch.int64),
        lengths,
        target_lengths,
        blank,
        "none",
        zero_infinity,
    )


def _lengths(level: Level) -> torch.Tensor:
    lengths: Any = level.lengths
    return lengths if isinstance(lengths, torch.Tensor) else tensor_of(lengths)


def _widen_halves(log_probs: torch.Tensor) -> torch.Tensor:
    """Halves as float32."""
    if log_probs.ndim != 2:
        raise value_error("log_probs", f"expected (rows, classes), got {log_probs.ndim} dimensions")
    if not log_probs.is_floating_point():
        raise dtype_error("log_probs", "floats", log_probs.dtype)
    return log_probs if log_probs.dtype == torch.float64 else log_probs.float()


def _labels(targets: Any) -> torch.Tensor:
    labels = targets if isinstance(targets, torch.Tensor) else torch.as_tensor(targets)
    if labels.is_floating_point() or labels.is_complex() or labels.dtype == torch.bool:
        if labels.numel():
            raise dtype_error("targets", "integers", labels.dtype)
        labels = labels.long()
    return labels
