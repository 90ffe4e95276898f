"""Connectionist temporal classification of arrays; halves by way of float32."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.backends.numpy.rows import to_dtype

if TYPE_CHECKING:
    from varlen._core import Level


def ctc_loss(
    log_probs: Any, level: Level, targets: Any, target_level: Level, blank: int, zero_infinity: bool
) -> np.ndarray:
    """The loss of each sequence."""
    return _core.ctc_loss(_widen_halves(log_probs), level, targets, target_level, blank, zero_infinity)


def backprop_ctc_loss(
    d: Any, log_probs: Any, level: Level, targets: Any, target_level: Level, blank: int, zero_infinity: bool
) -> np.ndarray:
    """The gradient of log probabilities from that of the losses."""
    rows = _widen_halves(log_probs)
    d = to_dtype(d, rows.dtype)
    gradient = _core.backprop_ctc_loss(d, rows, level, targets, target_level, blank, zero_infinity)
    result: np.ndarray = to_dtype(gradient, log_probs.dtype)
    return result


def _widen_halves(log_probs: Any) -> Any:
    is_half = log_probs.dtype == np.float16 or log_probs.dtype == _core.bfloat16
    return to_dtype(log_probs, np.dtype(np.float32)) if is_half else log_probs
