"""Tensors end to end, with gaps between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from varlen.backends.nested import flat_parts
from varlen.backends.torch.cast import cast_tensor

if TYPE_CHECKING:
    import torch


def flatten(tensors: Sequence[Any], dtype: Any = None, pad: int = 0) -> torch.Tensor:
    """Tensors end to end, as one through which gradients flow."""
    import torch

    pieces = flat_parts(tensors, torch.Tensor, "a tensor")
    first = pieces[0]
    if pad and any(len(tensor) for tensor in pieces):
        gap = first.new_zeros((pad, *first.shape[1:]))
        pieces = [gap, *(piece for tensor in pieces if len(tensor) for piece in (tensor, gap))]
    result = torch.cat(pieces)
    return result if dtype is None else cast_tensor(result, dtype, "X")
