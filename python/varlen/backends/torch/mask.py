"""Masks as tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen import _core, tracing
from varlen._core import Level
from varlen.backends.torch.memory import as_numpy, tensor_of, to_write
from varlen.backends.torch.tracing import mask_to_level as traced_mask_to_level

if TYPE_CHECKING:
    import torch


def mask_to_level(mask: torch.Tensor, padding_side: str) -> Level:
    """The level of the rows that a mask of a padded block shows.

    Examples
    --------
    >>> import torch
    >>> mask_to_level(torch.tensor([[True, False], [True, True]]), "right").lengths
    array([1, 2])
    """
    if tracing.is_tracing():
        traced: Any = traced_mask_to_level(mask, padding_side)
        level: Level = traced
        return level
    return _core.mask_to_level(as_numpy(mask), padding_side)


def block_mask(
    level: Level,
    dtype: Any,
    before: int | None,
    behind: int | None,
    out: Any,
    max_bytes: int | None,
    beside: Any = None,
) -> torch.Tensor:
    """Which rows may look at which, on the device of `beside` where that is a tensor, or written to `out`.

    Raises
    ------
    TypeError
        A dtype of other things than numbers; an `out` that is not a tensor, or of another dtype.

    Examples
    --------
    >>> import torch
    >>> block_mask(Level([1, 1]), torch.bfloat16, None, None, None, None)
    tensor([[0., -inf],
            [-inf, 0.]], dtype=torch.bfloat16)
    """
    import torch

    kind = torch.bool if dtype is bool else dtype
    if not isinstance(kind, torch.dtype) or kind.is_complex:
        raise TypeError(f"dtype: expected a torch.dtype of bool, integers or floats, got {dtype!r}")
    pair = torch.tensor([-torch.inf, 0] if kind.is_floating_point else [0, 1]).to(kind)
    if out is None:
        mask = tensor_of(_core.block_mask(level, as_numpy(pair), before, behind, None, max_bytes), kind)
        return mask.to(beside.device) if isinstance(beside, torch.Tensor) else mask
    if not isinstance(out, torch.Tensor) or out.dtype != kind:
        got = out.dtype if isinstance(out, torch.Tensor) else type(out).__name__
        raise TypeError(f"out: expected a tensor of {kind}, got {got}")
    _core.block_mask(level, as_numpy(pair), before, behind, to_write(out), max_bytes)
    return out
