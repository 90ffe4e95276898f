"""Neighbours of tensors compared, and weights added up; watched by autograd."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from varlen.arguments import fits_memory
from varlen.backends.numpy.count import FROM_THE_SECOND, TO_THE_LAST_BUT_ONE
from varlen.backends.torch.arithmetic import ufunc
from varlen.backends.torch.cast import bits_of, has_bits_alone
from varlen.backends.torch.gather import gather_window
from varlen.backends.torch.memory import like

if TYPE_CHECKING:
    from varlen._core import Level


_COUNTED = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def diff(x: torch.Tensor, level: Level, n: int = 1) -> tuple[torch.Tensor, Level]:
    """Each row less the one before it in its sequence, n times over, and their level."""
    if not level.is_on_host:
        level.sync()  # how many rows are left only its numbers say
    for _ in range(min(n, max(level.longest, 1))):  # once at least, for the dtype
        later, (new_level,) = gather_window(x, (level,), FROM_THE_SECOND)
        sooner = gather_window(x, (level,), TO_THE_LAST_BUT_ONE)[0]
        x, level = _is_less(later, sooner), new_level
    return x, level


def counts_there(ids: torch.Tensor, level: Level, minlength: int, weights: Any) -> Any:
    """How often each number is in each sequence, (n, k), or the sums of weights, of tensors on a device.

    None leaves it to the host: for its own tensors, for what are no integers, and for numbers below 0.
    """
    if ids.device.type == "cpu" or ids.dtype not in _COUNTED or not ids.numel():
        return None
    if weights is not None and not (isinstance(weights, torch.Tensor) and weights.device == ids.device):
        return None
    minimum, maximum = torch.stack(ids.aminmax()).tolist()
    if minimum < 0:
        return None
    width = max(minlength, maximum + 1)
    size = fits_memory(len(level) * width, "minlength")
    cells = like(level.row_ids, ids) * width + ids
    counts = torch.bincount(cells, minlength=size) if weights is None else bincount(cells, weights, size)
    return counts.reshape(len(level), width)


def bincount(cells: Any, weights: torch.Tensor, size: int) -> torch.Tensor:
    """The sum of the weights of each of `size` cells."""
    places = cells if isinstance(cells, torch.Tensor) else like(cells, weights)
    return weights.new_zeros(size).index_put((places,), weights, accumulate=True)


def _is_less(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """`a - b` of any dtype that has differences in NumPy."""
    if a.dtype == torch.bool:
        return a != b
    if has_bits_alone(a.dtype):
        kind = bits_of(a.dtype)
        return (a.view(kind) - b.view(kind)).view(a.dtype)  # torch subtracts their bits as signed ones alone
    difference: torch.Tensor = ufunc("subtract", [a, b], {})
    return difference
