"""Some sequences of tensors as a rectangle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from varlen import _core
from varlen._core import is_plain_tensor, on_tensors
from varlen.arguments import LARGEST, as_int
from varlen.backends.numpy.dense import DenseOptions, numbers_named, picked_levels
from varlen.backends.torch.autograd import has_no_name
from varlen.backends.torch.cast import always_fits, as_dtype, bits_of, cast_tensor
from varlen.backends.torch.followers import is_followed
from varlen.backends.torch.gather import gather
from varlen.backends.torch.memory import at_least_one, dtype_of, fill_of, fill_row, like, on_host
from varlen.backends.torch.pad import core_beside, pad
from varlen.backends.torch.span import take
from varlen.errors import dtype_error

if TYPE_CHECKING:
    from varlen.levels import Levels


def gather_dense(
    x: torch.Tensor, levels: Levels, indices: Any, positions: bool, *args: Any
) -> tuple[Any, ...]:
    """A rectangle and its mask, with positions behind them where they are asked for, by `DenseOptions`."""
    options = DenseOptions(*args)
    side, fill, max_len, cut, dtype, multiple, max_bytes = options
    kind = x.dtype if dtype is None else as_dtype(dtype)
    if not (kind is x.dtype or kind.is_floating_point or on_host(x) or always_fits(x.dtype, kind)):
        x, dtype = cast_tensor(x, kind, "values"), None  # which looks at them, as `pad` does
    sequences, unseen = _place_indices(x, levels, indices)
    if is_plain_tensor(x) and not (is_followed(fill) or has_no_name(x) or _has_no_name(kind)):
        index = sequences if unseen or not isinstance(sequences, torch.Tensor) else sequences.numpy()
        nest = levels if index is None or unseen else picked_levels(levels, index)
        row = None if fill is None else fill_row(fill, kind, tuple(x.shape[1:]))
        if row is not None and kind is torch.bfloat16:
            row = row.view(_core.bfloat16)
        core_kind = None if kind is x.dtype else _core.bfloat16 if kind is torch.bfloat16 else dtype_of(kind)
        source = None if index is None else levels
        how = options._replace(fill=row, dtype=core_kind)
        result: Any = on_tensors(_core.gather_dense, x, nest, source, index, positions, *how)
        if result is not NotImplemented:
            return tuple(result)
    if unseen:
        result = _by_places(x, levels, sequences, positions, options._replace(dtype=kind))
        if result is not NotImplemented:
            return tuple(result)
        sequences = sequences.cpu()
    rows, nest = (x, levels) if sequences is None else gather(x, levels, sequences)
    cast_to = kind if dtype is not None else None
    result = pad(rows, nest, side, fill, True, max_len, cut, None, cast_to, multiple, max_bytes)
    if not positions:
        return result
    how = options._replace(fill=None, dtype=None)
    shape = (rows.shape[0], 0)
    places = core_beside(rows, nest, _core.gather_dense, shape, nest, None, None, True, *how)[2]
    return (*result, places if isinstance(places, torch.Tensor) else like(places, rows))


def _place_indices(x: torch.Tensor, levels: Levels, indices: Any) -> tuple[Any, bool]:
    """Indices, and whether nobody looks at them: int64 beside the rows then, else where the host has them."""
    if isinstance(indices, torch.Tensor) and indices.device.type != "cpu":
        if indices.device != x.device or indices.dtype is torch.bool or not is_plain_tensor(indices):
            return indices.cpu(), False
        return as_unseen(indices), True
    if indices is None or all(level.is_on_host for level in levels):
        return indices, False
    index = indices.numpy() if isinstance(indices, torch.Tensor) else indices
    return like(numbers_named(levels, index), x), True


def as_unseen(indices: torch.Tensor) -> torch.Tensor:
    """Integers as int64; those that it does not hold are out of range."""
    if indices.dtype.is_floating_point or indices.dtype.is_complex:
        raise dtype_error("indices", "integers", f"dtype {indices.dtype}")
    wide = indices.long()
    return torch.where(wide < 0, LARGEST, wide) if indices.dtype is torch.uint64 else wide


def _by_places(
    x: torch.Tensor, levels: Levels, indices: torch.Tensor, positions: bool, options: DenseOptions
) -> Any:
    """A rectangle of the dtype that is named, its mask and positions: a kernel says which row goes where,
    autograd follows torch.
    """
    numbers = torch.arange(x.shape[0], device=x.device)
    kind, fill, limit = options.dtype, options.fill, options.max_bytes
    if limit is not None:
        # Of slots, which have 17 bytes here, and those of a row, a mark and a position there.
        width = kind.itemsize * math.prod(x.shape[1:]) + (9 if positions else 1)
        limit = min(as_int(limit, "max_bytes") * 17 // width, LARGEST)
    how = options._replace(fill=None, dtype=None, max_bytes=limit)
    result: Any = on_tensors(_core.gather_dense, numbers, levels, levels, indices, True, *how)
    if result is NotImplemented:
        return result
    places, marks, *rest = result
    blank = x.new_zeros(()) if fill is None else fill_of(fill, x)
    is_nameless = has_no_name(x)  # it has no gradient, which a view of bits would lose
    rows, blank = (item.view(bits_of(x.dtype)) if is_nameless else item for item in (x, blank))
    items = take(at_least_one(rows), places.reshape(-1)).reshape(*places.shape, *x.shape[1:])
    block = torch.where(marks.reshape(*marks.shape, *(1 for _ in x.shape[1:])), items, blank)
    return (block.view(x.dtype) if is_nameless else block).to(kind), marks, *rest[: int(positions)]


def _has_no_name(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point and dtype.itemsize == 1
