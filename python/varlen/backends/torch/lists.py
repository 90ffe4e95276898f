"""Lists of tensors to one tensor, and one to lists of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import _core
from varlen._core import is_plain_tensor
from varlen.arguments import is_zero
from varlen.backends.torch.autograd import write_result
from varlen.backends.torch.concat import from_list
from varlen.backends.torch.followers import is_followed
from varlen.backends.torch.memory import as_numpy, byte_limit, fill_of, fill_row, from_memory, like

if TYPE_CHECKING:
    from varlen.levels import Levels


def list2dense(
    tensors: Sequence[Any],
    pad_to_multiple: int = 1,
    fill: Any = 0,
    padding_side: str = "right",
    max_len: int | None = None,
    truncate: str = "right",
    mask: bool = False,
    out: Any = None,
    dtype: Any = None,
    max_bytes: int | None = None,
) -> Any:
    """Tensors of different lengths as one rectangle, or that and its mask."""
    options = (padding_side, max_len, truncate, True, None, None)
    first = tensors[0]
    if dtype is None and not is_followed(fill) and all(_is_plain(x, first.dtype) for x in tensors):
        row = 0 if is_zero(fill) else fill_row(fill, first.dtype, tuple(first.shape[1:]))
        arrays = [as_numpy(tensor) for tensor in tensors]
        rows, marks = _core.list2dense(arrays, pad_to_multiple, row, *options, max_bytes)
        block, flags = from_memory(rows, first), like(marks, first)
    else:
        values, levels = from_list(tensors, dtype)
        numbers = _core.ragged2list(np.arange(len(values)), levels)
        limit = byte_limit(max_bytes, values)
        rows, marks = _core.list2dense(numbers, pad_to_multiple, 0, *options, limit)
        flags = like(marks, values)
        blank = fill_of(fill, values)
        if len(values):
            wide = flags.reshape(flags.shape + (1,) * (values.ndim - 1))
            block = torch.where(wide, values[like(rows, values)], blank)
        else:
            shape = (*rows.shape, *values.shape[1:])
            block = torch.cat([blank.expand(shape), values.reshape(0, *shape[1:])])
    block = write_result(block, out)
    return (block, flags) if mask else block


def list2ragged(tensors: Any, dtype: Any = None, out: Any = None) -> tuple[torch.Tensor, Levels]:
    """Tensors end to end, and their level."""
    values, levels = from_list(tensors, dtype)
    return write_result(values, out), levels


def ragged2list(values: torch.Tensor, levels: Levels) -> list[Any]:
    """Each sequence as a view; lists of lists of views where there is more than one level."""
    rows = list(values.split(levels[-1].lengths.tolist()))
    for level in reversed(levels[:-1]):
        rows = [rows[a:b] for a, b in pairwise(level.offsets.tolist())]
    return rows


def _is_plain(tensor: Any, dtype: torch.dtype) -> bool:
    """Whether it is memory on the host that nobody watches."""
    return bool(is_plain_tensor(tensor) and tensor.dtype == dtype and tensor.device.type == "cpu")
