"""Rows of tensors that change places inside their sequence, and gradients of that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import _core
from varlen._core import Level
from varlen.arguments import as_ints, is_zero
from varlen.backends.torch.autograd import (
    NAMELESS,
    AutogradOp,
    by_bytes,
    has_no_name,
    level_of,
    write_result,
)
from varlen.backends.torch.cast import bits_of
from varlen.backends.torch.followers import is_followed
from varlen.backends.torch.memory import core_dtype, fill_of, like, tensor_of
from varlen.levels import equal_lengths

if TYPE_CHECKING:
    Array = np.ndarray


def _fake(x: torch.Tensor, *_: Any) -> torch.Tensor:
    return torch.empty_like(x)


_reverse: AutogradOp = AutogradOp(
    "reverse(Tensor x, Tensor offsets) -> Tensor",
    lambda x, offsets: _core.reverse(x, offsets if type(offsets) is Level else level_of(offsets)),
    _fake,
    lambda context, d: _reverse(d, *context.rest),
)

# `by` holds a number for each sequence.
shift_rows: AutogradOp = AutogradOp(
    "shift(Tensor x, Tensor offsets, Tensor by, Scalar fill) -> Tensor",
    lambda x, offsets, by, fill: _core.shift(
        x,
        offsets if type(offsets) is Level else level_of(offsets),
        by,
        None if type(fill) is int and fill == 0 else fill,
    ),
    _fake,
    lambda context, d: shift_rows(d, context.rest[0], -context.rest[1], 0),
)
roll_rows: AutogradOp = AutogradOp(
    "roll(Tensor x, Tensor offsets, Tensor by) -> Tensor",
    lambda x, offsets, by: _core.roll(x, offsets if type(offsets) is Level else level_of(offsets), by),
    _fake,
    lambda context, d: roll_rows(d, context.rest[0], -context.rest[1]),
)


def reverse(x: torch.Tensor, level: Level, out: Any = None) -> torch.Tensor:
    """`_core.reverse` of a tensor, watched by autograd."""
    if x.dtype in NAMELESS and has_no_name(x):
        result = by_bytes(x, lambda rows: reverse(rows, level))
    else:
        result = _reverse(x, level)
    return result if out is None else write_result(result, out)


def shift(x: torch.Tensor, level: Level, by: Any, fill: Any = 0, out: Any = None) -> torch.Tensor:
    """`_core.shift` of a tensor, watched by autograd."""
    number = 0 if fill is None else fill
    moves = _amounts(by, level)
    if x.dtype in NAMELESS and has_no_name(x):
        bits = 0 if is_zero(number) else fill_of(number, x).view(bits_of(x.dtype))
        return write_result(by_bytes(x, lambda rows: shift(rows, level, moves, bits)), out)
    if not isinstance(number, (bool, int, float, complex)):
        row = fill_of(number, x)
        if row.ndim > 0 or is_followed(number):
            return write_result(_shift_around(x, level, moves, row), out)
        number = row.item()
    if number != 0:  # refuses what the dtype cannot hold
        _core.shift(np.empty(0, core_dtype(x.dtype)), Level([]), 0, number)
    result = shift_rows(x, level, tensor_of(moves), number)
    return result if out is None else write_result(result, out)


def _shift_around(x: torch.Tensor, level: Level, moves: Array, row: torch.Tensor) -> torch.Tensor:
    """Where the fill is a row, or somebody follows it, torch puts it in."""
    marks = _core.shift(np.ones(level.total, np.bool_), level, moves)
    wide = like(marks.reshape(-1, *(1 for _ in x.shape[1:])), x)
    return torch.where(wide, shift(x, level, moves, 0), row)


def roll(x: torch.Tensor, level: Level, by: Any, out: Any = None) -> torch.Tensor:
    """`_core.roll` of a tensor, watched by autograd."""
    moves = _amounts(by, level)
    if x.dtype in NAMELESS and has_no_name(x):
        result = by_bytes(x, lambda rows: roll(rows, level, moves))
    else:
        result = roll_rows(x, level, tensor_of(moves))
    return result if out is None else write_result(result, out)


def _amounts(by: Any, level: Level) -> Array:
    """A number for each sequence."""
    moves = as_ints(by)
    bare = level if level.is_on_host else equal_lengths(len(level), 0)
    _core.roll(np.empty((bare.total, 0), np.uint8), bare, moves)  # refuses what is no such number
    return np.ascontiguousarray(np.broadcast_to(np.asarray(moves, np.int64), len(level)))
