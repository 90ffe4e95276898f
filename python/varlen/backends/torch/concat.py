"""Tensors to one tensor: end to end, sequence by sequence, or row by row of nested lists."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import _core
from varlen._core import Level, is_plain_tensor, on_plain_tensors
from varlen.backends.nested import nested_rows
from varlen.backends.torch.cast import cast_tensor, in_shared_dtype
from varlen.backends.torch.memory import as_numpy, from_memory, on_host, tensor_of
from varlen.backends.torch.span import take

if TYPE_CHECKING:
    from varlen.levels import Levels


def concat(values: list[Any], axis: int = 0, argument: str = "values") -> torch.Tensor:
    """Tensors, and arrays among them, one after another, on the device of the first tensor."""
    if not all(map(torch.is_tensor, values)):
        first = next(filter(torch.is_tensor, values))
        values = [x if isinstance(x, torch.Tensor) else tensor_of(x).to(first.device) for x in values]
    return torch.cat(in_shared_dtype(values), axis)


def interleave(values: list[Any], levels: list[Level], argument: str) -> tuple[torch.Tensor, Level]:
    """Sequence i of every part, end to end, and their level."""
    first = next(x for x in values if isinstance(x, torch.Tensor))
    if _are_alike(values, first):
        result = on_plain_tensors(_core.interleave, list(values), list(levels))
        if result is not None and result is not NotImplemented:
            return result
    if all(_is_plain(x, first) for x in values):
        rows, level = _core.interleave([as_numpy(x) for x in values], levels)
        return from_memory(rows, first), level
    ends = list(accumulate((len(x) for x in values), initial=0))
    numbers: Any = NotImplemented
    if not on_host(first):
        ranges = [torch.arange(a, b, device=first.device) for a, b in pairwise(ends)]
        numbers = on_plain_tensors(_core.interleave, ranges, list(levels))
    if numbers is None or numbers is NotImplemented:
        numbers = _core.interleave([np.arange(a, b) for a, b in pairwise(ends)], levels)
    index, level = numbers
    return take(concat(values), index), level


def from_list(data: Any, dtype: Any = None) -> tuple[torch.Tensor, Levels]:
    """Nested lists of tensors, end to end, and their levels; a list of scalars is a sequence too."""
    rows, levels = nested_rows(data, torch.Tensor, "a tensor", "tensors")
    values = torch.stack(rows) if rows and rows[0].ndim == 0 else torch.cat(rows)
    return values if dtype is None else cast_tensor(values, dtype, "data"), levels


def _are_alike(values: list[Any], first: torch.Tensor) -> bool:
    """Whether all are tensors of one dtype on one device."""
    kind = first.dtype, first.device
    return all(isinstance(x, torch.Tensor) and (x.dtype, x.device) == kind for x in values)


def _is_plain(x: Any, first: torch.Tensor) -> bool:
    """Whether the core can read it as a part of the dtype of the first, and nobody watches."""
    return bool(is_plain_tensor(x) and x.dtype == first.dtype and on_host(x))
