"""Sequences of tensors picked and cut: views where NumPy gives views, gradients where autograd watches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import _core
from varlen._core import on_plain_tensors
from varlen.backends.torch.memory import like
from varlen.backends.torch.span import take

if TYPE_CHECKING:
    from varlen.levels import Levels


def gather(x: torch.Tensor, levels: Levels, index: Any) -> tuple[torch.Tensor, Levels]:
    """The sequences of a slice, a mask or integers; those of a slice of step 1 share memory."""
    if type(index) is slice and index.step in (None, 1):
        begin = index.indices(len(levels[0]))[0]
        return _share_rows(x, levels, begin, _core.gather, index)
    return _copy_rows(x, _core.gather, levels, index)


def gather_row(x: torch.Tensor, levels: Levels, i: int) -> tuple[torch.Tensor, Levels]:
    """Sequence i and the levels below, sharing memory."""
    return _share_rows(x, levels, i, _core.gather_row, i)


def gather_window(
    x: torch.Tensor, levels: Levels, window: slice, index: Any = None
) -> tuple[torch.Tensor, Levels]:
    """A slice of every sequence, or of those of an index."""
    return _copy_rows(x, _core.gather_window, levels, window, index)


def gather_column(x: torch.Tensor, levels: Levels, position: int) -> tuple[torch.Tensor, Levels]:
    """Item `position` of every sequence, and the levels below."""
    return _copy_rows(x, _core.gather_column, levels, position)


def _copy_rows(
    x: torch.Tensor, op: Callable[..., Any], levels: Levels, *args: Any
) -> tuple[torch.Tensor, Levels]:
    """Rows that the core moves; where somebody follows them, torch takes them by the numbers of the core."""
    result: Any = on_plain_tensors(op, x, levels, *args)
    if result is None or result is NotImplemented:
        rows, rest = op(np.arange(levels[-1].total), levels, *args)
        places = torch.from_numpy(rows) if result is None and x.device.type == "cpu" else like(rows, x)
        result = take(x, places), rest
    pair: tuple[torch.Tensor, Levels] = result
    return pair


def _share_rows(
    x: torch.Tensor, levels: Levels, begin: int, op: Callable[..., Any], index: Any
) -> tuple[torch.Tensor, Levels]:
    """Rows as they lie, from the first one of sequence `begin` on, cut by torch, so that all see it."""
    rows, rest = op(np.empty((levels[-1].total, 0), np.uint8), levels, index)  # no columns: levels at no cost
    begin = min(begin + len(levels[0]) if begin < 0 else begin, len(levels[0]))
    for level in levels:
        begin = int(level.offsets[begin])
    return x[begin : begin + len(rows)], rest
