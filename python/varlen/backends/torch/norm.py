"""Rows of tensors brought to mean 0 and variance 1, by torch."""

from __future__ import annotations

from typing import Any

import torch


def layer_norm(values: torch.Tensor, axes: int, scale: Any, bias: Any, eps: float) -> torch.Tensor:
    """Each row less its mean, over its standard deviation; a row is the last `axes` axes."""
    if not values.is_floating_point():
        values = values.to(torch.get_default_dtype())
    if not values.numel():
        return values.clone()
    return torch.nn.functional.layer_norm(values, values.shape[-axes:], scale, bias, eps)
