"""Tensors end to end, with gaps between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from varlen.backends.torch.cast import cast

if TYPE_CHECKING:
    import torch


def flatten(tensors: Sequence[Any], dtype: Any = None, pad: int = 0) -> torch.Tensor:
    """Tensors end to end, as one through which gradients flow.

    Raises
    ------
    TypeError
        Something among the tensors that is none.
    ValueError
        Tensors that differ in more than their length.

    Examples
    --------
    >>> import torch
    >>> flatten([torch.tensor([1, 2]), torch.tensor([3])], pad=1)
    tensor([0, 1, 2, 0, 3, 0])
    """
    import torch

    tensors = list(tensors)
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"X[{i}]: expected a tensor, got {type(tensor).__name__}")
        if tensor.ndim == 0:
            raise ValueError(f"X[{i}]: expected at least one dimension, got a scalar")
    rows = list(enumerate(tensors))
    if any(not _alike(tensor, tensors[0]) for tensor in tensors):  # those without elements do not count
        rows = [(i, t) for i, t in rows if t.numel()] or [(i, t) for i, t in rows if _alike(t, tensors[0])]
    place, first = rows[0]
    for i, tensor in rows:
        if tensor.ndim != first.ndim or tensor.shape[1:] != first.shape[1:]:
            shapes = f"has shape {tuple(tensor.shape)}, but X[{place}] has {tuple(first.shape)}"
            raise ValueError(f"X[{i}]: {shapes}: only the first dimension may differ")
    pieces = [tensor for _, tensor in rows]
    if pad and any(len(tensor) for tensor in pieces):
        gap = first.new_zeros((pad, *first.shape[1:]))
        pieces = [gap, *(piece for tensor in pieces if len(tensor) for piece in (tensor, gap))]
    result = torch.cat(pieces)
    return result if dtype is None else cast(result, dtype, "X")


def _alike(tensor: torch.Tensor, first: torch.Tensor) -> bool:
    same = tensor.dtype == first.dtype and tensor.ndim == first.ndim
    return bool(same and tensor.shape[1:] == first.shape[1:])
