"""Sequences of tensors picked and cut: views where NumPy gives views, gradients where autograd watches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import _core
from varlen._core import on_tensors
from varlen.backends.torch.memory import apply_rows, like
from varlen.backends.torch.span import take

if TYPE_CHECKING:
    from varlen.levels import Levels

_from_numpy: Callable[[Any], torch.Tensor] = torch.from_numpy


def gather(x: torch.Tensor, levels: Levels, index: Any) -> tuple[torch.Tensor, Levels]:
    """The sequences of a slice, a mask or integers; those of a slice of step 1 share memory.

    Examples
    --------
    >>> gather(torch.tensor([3, 1, 4]), (vl.Level([2, 1]),), slice(1, None))[0]
    tensor([4])
    """
    if not x.requires_grad:
        moved: tuple[torch.Tensor, Levels] = _moved(x, _core.gather, levels, index)
        return moved
    if type(index) is slice and index.step in (None, 1):
        begin = index.indices(len(levels[0]))[0]
        view: tuple[torch.Tensor, Levels] = _view(
            x, levels, begin, *_core.gather(_no_columns(x), levels, index)
        )
        return view
    result: tuple[torch.Tensor, Levels] = _picked(x, _core.gather, levels, index)
    return result


def gather_row(x: torch.Tensor, levels: Levels, i: int) -> tuple[torch.Tensor, Levels]:
    """Sequence i and the levels below, sharing memory.

    Examples
    --------
    >>> gather_row(torch.tensor([3, 1, 4]), (vl.Level([2, 1]),), 0)
    (tensor([3, 1]), ())
    """
    if not x.requires_grad:
        moved: tuple[torch.Tensor, Levels] = _moved(x, _core.gather_row, levels, i)
        return moved
    result: tuple[torch.Tensor, Levels] = _view(x, levels, i, *_core.gather_row(_no_columns(x), levels, i))
    return result


def gather_window(
    x: torch.Tensor, levels: Levels, window: slice, index: Any = None
) -> tuple[torch.Tensor, Levels]:
    """A slice of every sequence, or of those of an index.

    Examples
    --------
    >>> gather_window(torch.tensor([3, 1, 4]), (vl.Level([2, 1]),), slice(0, 1))[0]
    tensor([3, 4])
    """
    if not x.requires_grad:
        moved: tuple[torch.Tensor, Levels] = _moved(x, _core.gather_window, levels, window, index)
        return moved
    result: tuple[torch.Tensor, Levels] = _picked(x, _core.gather_window, levels, window, index)
    return result


def gather_column(x: torch.Tensor, levels: Levels, at: int) -> tuple[torch.Tensor, Levels]:
    """Item `at` of every sequence, and the levels below.

    Examples
    --------
    >>> gather_column(torch.tensor([3, 1, 4]), (vl.Level([2, 1]),), 0)
    (tensor([3, 4]), ())
    """
    if not x.requires_grad:
        moved: tuple[torch.Tensor, Levels] = _moved(x, _core.gather_column, levels, at)
        return moved
    result: tuple[torch.Tensor, Levels] = _picked(x, _core.gather_column, levels, at)
    return result


def _moved(x: torch.Tensor, op: Callable[..., Any], *args: Any) -> Any:
    """Rows that the core moves; torch does where the core cannot read the memory."""
    result = on_tensors(op, x, *args)
    return apply_rows(x, lambda each: op(each, *args)) if result is NotImplemented else result


def _picked(x: torch.Tensor, op: Callable[..., Any], *args: Any) -> Any:
    """Rows that torch takes by the numbers that the core works out."""
    rows, rest = op(np.arange(x.shape[0]), *args)
    return take(x, _from_numpy(rows) if x.device.type == "cpu" else like(rows, x)), rest


def _view(x: torch.Tensor, levels: Levels, begin: int, rows: Any, rest: Levels) -> Any:
    """As many rows as those without columns, from the first one of sequence `begin` on."""
    begin = min(begin + len(levels[0]) if begin < 0 else begin, len(levels[0]))
    for level in levels:
        begin = int(level.offsets[begin])
    return x.narrow(0, begin, len(rows)), rest


def _no_columns(x: torch.Tensor) -> Any:
    """Rows without width, from which the core works out levels at no cost."""
    return np.empty((x.shape[0], 0), np.uint8)
