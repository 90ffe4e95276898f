"""Masks as tensors."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from varlen import _core
from varlen._core import Level, is_plain_tensor, on_tensors
from varlen.backends.numpy import mask as arrays
from varlen.backends.torch.followers import numbers_of, suspend_modes
from varlen.backends.torch.memory import as_numpy, like, on_host, tensor_of, writing
from varlen.errors import type_error

if TYPE_CHECKING:
    import torch


def mask_to_level(mask: torch.Tensor, padding_side: str) -> Level:
    """The level of the rows that a mask of a padded block shows."""
    return _core.mask_to_level(numbers_of(mask), padding_side)


def mask(level: Level, *options: Any) -> Any:
    """True where a rectangle of the sequences holds data: as that of arrays, on the device of the last."""
    *sizes, model = options
    model = model.detach()  # whoever follows its numbers does not follow lengths
    if on_host(model) or not is_plain_tensor(model):
        return like(arrays.mask(level, *sizes), model)
    result: Any = on_tensors(_core.mask, level, *arrays.sizes_of(*sizes), model)
    return like(arrays.mask(level, *sizes), model) if result is NotImplemented else result


def level_array(level: Level, name: str, model: torch.Tensor) -> torch.Tensor:
    """The row ids, positions, lengths or int32 offsets of a level, on the device of another tensor."""
    model = model.detach()  # whoever follows its numbers does not follow lengths
    if not on_host(model) and is_plain_tensor(model):
        result: Any = on_tensors(_core.level_numbers, level, name, model)
        if result is not NotImplemented:
            return result
    return like(getattr(level, name), model)


def block_mask(
    level: Level,
    dtype: Any,
    lookback: int | None,
    lookahead: int | None,
    out: Any,
    max_bytes: int | None,
    model: Any = None,
) -> torch.Tensor:
    """Which rows may look at which, on the device of `model` where that is a tensor, or written to `out`."""
    import torch

    kind = torch.bool if dtype is bool else dtype
    if not isinstance(kind, torch.dtype) or kind.is_complex:
        raise type_error("dtype", f"expected a torch.dtype of bool, integers or floats, got {dtype!r}")
    if out is not None and (not isinstance(out, torch.Tensor) or out.dtype != kind):
        got = out.dtype if isinstance(out, torch.Tensor) else type(out).__name__
        raise type_error("out", f"expected a tensor of {kind}, got {got}")
    with suspend_modes():
        pair = as_numpy(
            torch.tensor([-torch.inf, 0] if kind.is_floating_point else [0, 1], device="cpu").to(kind)
        )
    place = model if out is None else out
    if isinstance(place, torch.Tensor):
        place = place.detach()  # whoever follows its numbers does not follow lengths
    if isinstance(place, torch.Tensor) and not on_host(place) and is_plain_tensor(place):
        with nullcontext() if out is None else writing(out):
            result: Any = on_tensors(
                _core.block_mask, level, pair, lookback, lookahead, out, max_bytes, place
            )
        if result is not NotImplemented:
            return result if out is None else out
    if out is None:
        mask = tensor_of(_core.block_mask(level, pair, lookback, lookahead, None, max_bytes), kind)
        return mask.to(model.device) if isinstance(model, torch.Tensor) else mask
    with writing(out):
        _core.block_mask(level, pair, lookback, lookahead, as_numpy(out), max_bytes)
    return out
