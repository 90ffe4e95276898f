"""Neighbours of tensors compared, and weights added up; watched by autograd."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from varlen.backends.numpy.count import FROM_THE_SECOND, TO_THE_LAST_BUT_ONE
from varlen.backends.torch.gather import gather_window
from varlen.backends.torch.memory import like

if TYPE_CHECKING:
    from varlen._core import Level


def diff(x: torch.Tensor, level: Level, n: int = 1) -> tuple[torch.Tensor, Level]:
    """Each row less the one before it in its sequence, n times over, and their level.

    Examples
    --------
    >>> diff(torch.tensor([3, 1, 4]), vl.Level([2, 1]))[0]
    tensor([-2])
    """
    for _ in range(min(n, max(level.longest, 1))):  # once at least, for the dtype
        later, (kept,) = gather_window(x, (level,), FROM_THE_SECOND)
        sooner = gather_window(x, (level,), TO_THE_LAST_BUT_ONE)[0]
        x, level = _less(later, sooner), kept
    return x, level


def bincount(cells: Any, weights: torch.Tensor, size: int) -> torch.Tensor:
    """The sum of the weights of each of `size` cells.

    Examples
    --------
    >>> bincount(np.array([0, 2, 0]), torch.tensor([1.0, 5.0, 2.0]), 3)
    tensor([3., 0., 5.])
    """
    return weights.new_zeros(size).index_put((like(cells, weights),), weights, accumulate=True)


def _less(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """`a - b` of any dtype that has differences in NumPy."""
    if a.dtype == torch.bool:
        return a != b
    signed = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}.get(a.dtype)
    if signed is None:
        return a - b
    return (a.view(signed) - b.view(signed)).view(a.dtype)  # torch subtracts their bits as signed ones alone
