"""Sequences of tensors repeated as a whole, their repeats added up: each the gradient of the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import _core
from varlen._core import Level
from varlen.backends.torch.autograd import (
    AutogradOp,
    by_bytes,
    has_no_name,
    in_parts,
    level_of,
    require_device,
)
from varlen.levels import flatten_levels

if TYPE_CHECKING:
    from varlen.levels import Levels


def _repeat_rows(x: np.ndarray, groups: Any, blocks: Any, total: int) -> np.ndarray:
    group_level, block_level = level_of(groups), level_of(blocks)
    times = group_level.lengths // np.maximum(block_level.lengths, 1)
    return _core.gather(x, (block_level,), Level.from_lengths(times).row_ids)[0]


_expand_blocks: AutogradOp = AutogradOp(
    "expand_blocks(Tensor x, Tensor groups, Tensor blocks, SymInt total) -> Tensor",
    _repeat_rows,
    lambda x, groups, blocks, total: x.new_empty((total, *x.shape[1:])),
    lambda context, d: _reduce_blocks(d, *context.rest[:2], context.rows),
)
_reduce_blocks: AutogradOp = AutogradOp(
    "reduce_blocks(Tensor d, Tensor groups, Tensor blocks, SymInt total) -> Tensor",
    lambda d, groups, blocks, total: _core.reduce_blocks(d, level_of(groups), level_of(blocks)),
    lambda d, groups, blocks, total: d.new_empty((total, *d.shape[1:])),
    lambda context, d: _expand_blocks(d, *context.rest[:2], context.rows),
)


def repeat(x: torch.Tensor, levels: Levels, times: Level) -> tuple[torch.Tensor, Levels]:
    """The sequences of the first level, each as often as `times` is long, with the levels below them."""
    inner_levels = _core.gather(np.empty((len(x), 0), np.uint8), levels, times.row_ids)[1]
    blocks = flatten_levels(levels)
    return _expand_groups(x, Level.from_lengths(times.lengths * blocks.lengths), blocks), inner_levels


def _expand_groups(x: torch.Tensor, groups: Level, blocks: Level) -> torch.Tensor:
    if x.is_complex():
        return in_parts(x, lambda part: _expand_groups(part, groups, blocks))
    if has_no_name(x):
        return by_bytes(x, lambda rows: _expand_groups(rows, groups, blocks))
    result: torch.Tensor = _expand_blocks(require_device(x, "x"), groups, blocks, groups.total)
    return result


def reduce_blocks(d: torch.Tensor, groups: Level, blocks: Level) -> torch.Tensor:
    """The gradient of `repeat`: the repeats of each sequence, added up."""
    result: torch.Tensor = _reduce_blocks(require_device(d, "dY"), groups, blocks, blocks.total)
    return result
