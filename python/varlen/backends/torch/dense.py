"""Some sequences of tensors as a rectangle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import _core
from varlen._core import is_plain_tensor, on_tensors
from varlen.backends.numpy.dense import numbers_named, picked_levels
from varlen.backends.torch.autograd import has_no_name
from varlen.backends.torch.cast import always_fits, as_dtype, cast
from varlen.backends.torch.followers import is_followed
from varlen.backends.torch.gather import gather
from varlen.backends.torch.memory import dtype_of, filled, like, on_host
from varlen.backends.torch.pad import pad

if TYPE_CHECKING:
    from varlen.levels import Levels


def gather_dense(
    x: torch.Tensor,
    levels: Levels,
    indices: Any,
    positions: bool,
    side: str,
    fill: Any,
    max_len: Any,
    cut: str,
    dtype: Any,
    multiple: int,
    max_bytes: int | None,
) -> tuple[Any, ...]:
    """A rectangle and its mask, with positions behind them where they are asked for.

    Examples
    --------
    >>> how = ("right", -1, None, "right", None, 1, None)
    >>> gather_dense(torch.tensor([3, 1, 4]), (vl.Level([2, 1]),), [1, 0], False, *how)[0]
    tensor([[ 4, -1],
            [ 3,  1]])
    """
    kind = x.dtype if dtype is None else as_dtype(dtype)
    if not (kind is x.dtype or on_host(x) or always_fits(x.dtype, kind)):
        x, dtype = cast(x, kind, "values"), None  # which looks at them, as `pad` does
    there = isinstance(indices, torch.Tensor) and indices.device.type != "cpu"
    if is_plain_tensor(x) and not (is_followed(fill) or has_no_name(x) or _has_no_name(kind)):
        unseen = there and indices.device == x.device and indices.dtype is torch.int64
        index = indices.cpu() if there and not unseen else indices
        index = index.numpy() if isinstance(index, torch.Tensor) and not unseen else index
        if not (index is None or unseen or all(level.is_on_host for level in levels)):
            index, unseen = like(numbers_named(levels, index), x), True
        picked = levels if index is None or unseen else picked_levels(levels, index)
        row = None if fill is None else filled(fill, kind, tuple(x.shape[1:]))
        if row is not None and kind is torch.bfloat16:
            row = row.view(_core.bfloat16)
        to = None if kind is x.dtype else _core.bfloat16 if kind is torch.bfloat16 else dtype_of(kind)
        source = None if index is None else levels
        how = (side, row, max_len, cut, to, multiple, max_bytes)
        made: Any = on_tensors(_core.gather_dense, x, picked, source, index, positions, *how)
        if made is not NotImplemented:
            return tuple(made)
    picked, rows = levels, x
    if indices is not None:
        rows, picked = gather(x, levels, indices.cpu() if there else indices)
    made = pad(
        rows,
        picked,
        side,
        fill,
        True,
        max_len,
        cut,
        None,
        kind if dtype is not None else None,
        multiple,
        max_bytes,
    )
    if not positions:
        return made
    nothing = np.empty((rows.shape[0], 0), np.uint8)
    sizes = (side, None, max_len, cut, None, multiple, max_bytes)
    places = _core.gather_dense(nothing, picked, None, None, True, *sizes)[2]
    return (*made, like(places, rows))


def _has_no_name(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point and dtype.itemsize == 1
