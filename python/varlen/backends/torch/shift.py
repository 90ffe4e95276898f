"""Rows of tensors that change places inside their sequence, and gradients of that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import _core
from varlen._core import Level
from varlen.arguments import as_ints
from varlen.backends.torch.autograd import (
    AutogradOp,
    by_bytes,
    has_no_name,
    into,
    level_of,
)
from varlen.backends.torch.followers import is_followed
from varlen.backends.torch.memory import fill_of, like, tensor_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


def _fake(x: torch.Tensor, *_: Any) -> torch.Tensor:
    return torch.empty_like(x)


_reverse: AutogradOp = AutogradOp(
    "reverse(Tensor x, Tensor offsets) -> Tensor",
    lambda x, offsets: _core.reverse(x, level_of(offsets)),
    _fake,
    lambda seen, d: _reverse(d, *seen.rest),
)

# `by` holds a number for each sequence.
shift_rows: AutogradOp = AutogradOp(
    "shift(Tensor x, Tensor offsets, Tensor by, Scalar fill) -> Tensor",
    lambda x, offsets, by, fill: _core.shift(
        x, level_of(offsets), by, None if type(fill) is int and fill == 0 else fill
    ),
    _fake,
    lambda seen, d: shift_rows(d, seen.rest[0], -seen.rest[1], 0),
)
roll_rows: AutogradOp = AutogradOp(
    "roll(Tensor x, Tensor offsets, Tensor by) -> Tensor",
    lambda x, offsets, by: _core.roll(x, level_of(offsets), by),
    _fake,
    lambda seen, d: roll_rows(d, seen.rest[0], -seen.rest[1]),
)


def reverse(x: torch.Tensor, level: Level, out: Any = None) -> torch.Tensor:
    """`_core.reverse` of a tensor, watched by autograd.

    Examples
    --------
    >>> reverse(torch.tensor([3, 1, 4]), Level([2, 1]))
    tensor([1, 3, 4])
    """
    if has_no_name(x):
        return into(by_bytes(x, lambda rows: _core.reverse(rows, level)), out)
    return into(_reverse(x, level), out)


def shift(x: torch.Tensor, level: Level, by: Any, fill: Any = 0, out: Any = None) -> torch.Tensor:
    """`_core.shift` of a tensor, watched by autograd.

    Examples
    --------
    >>> shift(torch.tensor([3, 1, 4]), Level([2, 1]), 1, 9)
    tensor([9, 3, 9])
    """
    if is_followed(fill):
        return into(_shift_followed(x, level, by, fill), out)
    number = fill.item() if hasattr(fill, "item") else fill
    if not isinstance(number, (bool, int, float, complex)):
        raise TypeError(f"fill: expected a number for tensors, got {type(fill).__name__}")
    moves = _each(by, level)
    if has_no_name(x):
        if number != 0:
            raise TypeError(f"fill: tensors of {x.dtype} are moved as bytes, and filled with 0 only")
        return into(by_bytes(x, lambda rows: _core.shift(rows, level, moves)), out)
    _core.shift(np.empty(0, _dtype(x)), Level([]), 0, number)  # refuses what the dtype cannot hold
    return into(shift_rows(x, level, tensor_of(moves), number), out)


def _shift_followed(x: torch.Tensor, level: Level, by: Any, fill: torch.Tensor) -> torch.Tensor:
    """Where somebody follows the fill, torch puts it in."""
    if fill.numel() != 1:
        raise TypeError(f"fill: expected a number for tensors, got shape {tuple(fill.shape)}")
    there = _core.shift(np.ones(level.total, np.bool_), level, _each(by, level))
    wide = like(there.reshape(-1, *(1 for _ in x.shape[1:])), x)
    return torch.where(wide, shift(x, level, by, 0), fill_of(fill, x).reshape(()))


def roll(x: torch.Tensor, level: Level, by: Any, out: Any = None) -> torch.Tensor:
    """`_core.roll` of a tensor, watched by autograd.

    Examples
    --------
    >>> roll(torch.tensor([3, 1, 4]), Level([3]), 1)
    tensor([4, 3, 1])
    """
    moves = _each(by, level)
    if has_no_name(x):
        return into(by_bytes(x, lambda rows: _core.roll(rows, level, moves)), out)
    return into(roll_rows(x, level, tensor_of(moves)), out)


def _each(by: Any, level: Level) -> Array:
    """A number for each sequence."""
    moves = as_ints(by)
    _core.roll(np.empty((level.total, 0), np.uint8), level, moves)  # refuses what is no such number
    return np.ascontiguousarray(np.broadcast_to(np.asarray(moves, np.int64), len(level)))


def _dtype(x: torch.Tensor) -> Any:
    """That the core fills with the same numbers."""
    return _core.bfloat16 if x.dtype == torch.bfloat16 else str(x.dtype).removeprefix("torch.")
