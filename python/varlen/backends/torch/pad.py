"""Tensors to rectangles and back: each the gradient of the other."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from varlen import _core
from varlen._core import Level, is_plain_tensor, on_tensors
from varlen.arguments import ints_per_level
from varlen.backends.torch.autograd import NAMELESS, AutogradOp, has_no_name, level_of, write_result
from varlen.backends.torch.cast import bits_of, cast_tensor
from varlen.backends.torch.followers import is_followed
from varlen.backends.torch.memory import (
    as_numpy,
    at_least_one,
    fill_of,
    fill_row,
    like,
    number_of,
    on_host,
    tensor_of,
    writing,
)
from varlen.backends.torch.span import take
from varlen.errors import instance_error, type_error

if TYPE_CHECKING:
    from varlen.levels import Levels

    Array = np.ndarray

_LONGEST = operator.attrgetter("longest")
_ON_HOST = operator.attrgetter("is_on_host")
_from_numpy: Callable[[Any], torch.Tensor] = torch.from_numpy
_new: Callable[..., Any] = tuple.__new__  # a third of the time that PadOptions(...) takes


class PadOptions(NamedTuple):
    """What the core's `pad` takes behind values and levels, in its order."""

    padding_side: str = "right"
    fill: Any = None
    mask: bool = False
    max_len: Any = None
    truncate: str = "right"
    out: Any = None
    dtype: Any = None
    pad_to_multiple: int = 1
    max_bytes: int | None = None
    sizes: Any = None


def levels_of(value: Any) -> Levels:
    """Levels as they are, or from tensors of their offsets."""
    if type(value) is tuple and value and type(value[0]) is Level:
        return value
    return tuple(level_of(as_numpy(x.cpu()) if isinstance(x, torch.Tensor) else x) for x in value)


def _run_pad(
    x: Array, offsets: Any, sizes: Any, caps: Any, side: str, cut: str, fill: Any, limit: Any
) -> Array:
    levels = levels_of(offsets)
    caps = None if set(caps) == {-1} else _limits(caps)
    block: Array = _core.pad(x, levels, side, fill, False, caps, cut, None, None, 1, limit, list(sizes))
    return block


def _run_unpad(d: Any, offsets: Any, sizes: Any, caps: Any, total: int, side: str, cut: str) -> Array:
    levels = levels_of(offsets)
    room = [size if count < 0 else min(size, count) for size, count in zip(sizes, caps, strict=True)]
    if not isinstance(d, np.ndarray):
        return _core.unpad(d, levels, side, None, room, cut)
    if all(map(operator.le, map(_LONGEST, levels), room)):
        return _core.unpad(d, levels, side)
    rows, mask = _core.pad(np.arange(total), levels, side, None, True, _limits(caps), cut, sizes=list(sizes))
    result = np.zeros((total, *d.shape[len(levels) + 1 :]), d.dtype)
    result[rows[mask]] = d[mask]  # what was cut has no gradient
    return result


def _unpad_elsewhere(
    d: torch.Tensor, offsets: Any, sizes: Any, caps: Any, total: int, side: str, cut: str
) -> torch.Tensor:
    """The rows of a rectangle on a device for which some were cut: these are zeros."""
    levels = levels_of(offsets)
    rows, mask = _core.pad(np.arange(total), levels, side, None, True, _limits(caps), cut, sizes=list(sizes))
    flat = d.reshape(mask.size, *d.shape[len(levels) + 1 :])
    result = flat.new_zeros((total, *flat.shape[1:]))
    return result.index_copy_(0, like(rows[mask], d), flat[like(np.flatnonzero(mask), d)])


def _limits(caps: Any) -> list[int | None]:
    """How many rows of a sequence are kept, level by level; None is no limit."""
    return [None if count < 0 else count for count in caps]


# A rectangle and its rows. `most` is how many rows of a sequence are kept at each level, -1 for all.
pad_rows: AutogradOp = AutogradOp(
    "pad(Tensor x, Tensor[] offsets, SymInt[] sizes, SymInt[] most, str side, str cut, Scalar? fill,"
    " SymInt? max_bytes) -> Tensor",
    _run_pad,
    lambda x, offsets, sizes, *_: x.new_empty((offsets[0].shape[0] - 1, *sizes, *x.shape[1:])),
    lambda context, d: _unpad(d.contiguous(), *context.rest[:3], context.rows, *context.rest[3:5]),
    batch=(-1, -1),
)
_unpad: AutogradOp = AutogradOp(
    "unpad(Tensor d, Tensor[] offsets, SymInt[] sizes, SymInt[] most, SymInt total, str side, str cut)"
    " -> Tensor",
    _run_unpad,
    lambda d, offsets, sizes, limit, total, *_: d.new_empty((total, *d.shape[len(offsets) + 1 :])),
    lambda context, d: pad_rows(d.contiguous(), *context.rest[:3], *context.rest[4:6], None, None),
    batch=(-1, -1),
    elsewhere=_unpad_elsewhere,
)


# The rows of a rectangle that holds all of them: what a graph has for `unpad`.
rows_of: AutogradOp = AutogradOp(
    "rows_of(Tensor d, Tensor[] offsets, SymInt[] sizes, SymInt total, str side) -> Tensor",
    lambda d, offsets, sizes, total, side: _core.unpad(d, levels_of(offsets), side),
    lambda d, offsets, sizes, total, side: d.new_empty((total, *d.shape[len(offsets) + 1 :])),
    lambda context, d: pad_rows(
        d.contiguous(),
        *context.rest[:2],
        [-1] * len(context.rest[1]),
        context.rest[3],
        context.rest[3],
        None,
        None,
    ),
    batch=(-1, -1),
)


def pad(
    x: torch.Tensor,
    levels: Levels,
    padding_side: str = "right",
    fill: Any = None,
    mask: bool = False,
    max_len: Any = None,
    truncate: str = "right",
    out: torch.Tensor | None = None,
    dtype: torch.dtype | None = None,
    pad_to_multiple: int = 1,
    max_bytes: int | None = None,
    sizes: Any = None,
) -> Any:
    """A rectangle of sequences: a tensor, or a tensor and its mask."""
    if dtype is not None:
        x = cast_tensor(x, dtype, "values")
    if out is not None:
        check_out(out, x.dtype)
    options = (padding_side, fill, mask, max_len, truncate, out, None, pad_to_multiple, max_bytes, sizes)
    if not is_plain_tensor(x) or (fill is not None and is_followed(fill)):
        return _pad_followed(x, levels, _new(PadOptions, options))
    if out is None and fill is None:
        result = on_tensors(_core.pad, x, levels, *options)
        if result is not NotImplemented:
            return result
    row = None if fill is None else fill_row(fill, x.dtype, tuple(x.shape[1:]))
    if out is None:
        return _pad_plain(x, levels, _new(PadOptions, options), row, None)
    with writing(out):
        target = as_numpy(out) if on_host(x) else out
        result = _pad_plain(x, levels, _new(PadOptions, options), row, target)
    return (out, result[1]) if mask else out


def _pad_plain(x: torch.Tensor, levels: Levels, options: PadOptions, row: Any, out: Any) -> Any:
    """`pad` of a tensor that nobody follows, in the memory of `out` where it is given."""
    side, _, mask, max_len, truncate, _, dtype, multiple, max_bytes, sizes = options
    if x.dtype is torch.bfloat16:
        row = None if row is None else row.view(_core.bfloat16)
        out = out.view(_core.bfloat16) if isinstance(out, np.ndarray) else out
    arguments = (levels, side, row, mask, max_len, truncate, out, dtype, multiple, max_bytes, sizes)
    result = on_tensors(_core.pad, x, *arguments)
    if result is NotImplemented:
        if not on_host(x):
            return pad_elsewhere(x, levels, options)
        rows = as_numpy(x)
        view = rows.view(_core.bfloat16) if x.dtype is torch.bfloat16 else rows
        result = _core.pad(view, *arguments)
        block = tensor_of((result[0] if mask else result).view(rows.dtype), x.dtype)
        result = (block, _from_numpy(result[1])) if mask else block
    return result


def _is_asked(mask: Any) -> bool:
    """Whether a mask is asked for, where none can be written to."""
    if mask is not None and not isinstance(mask, bool):
        raise instance_error("mask", "True or False", mask)
    return bool(mask)


def check_out(out: Any, dtype: torch.dtype) -> None:
    """Refuse an `out` that is no tensor of a dtype."""
    if not isinstance(out, torch.Tensor) or out.dtype != dtype:
        raise type_error("out", f"expected a tensor of {dtype}")


def _pad_followed(x: torch.Tensor, levels: Levels, options: PadOptions) -> Any:
    side, fill, _, max_len, cut, out, _, multiple, max_bytes, sizes = options
    mask_option: Any = options.mask
    mask = mask_option if type(mask_option) is bool else _is_asked(mask_option)
    is_wider = max_len is not None and multiple != 1  # cut first, and wider than what is kept then
    if x.dtype in NAMELESS and has_no_name(x):
        bits = None if fill is None else fill_of(fill, x).view(bits_of(x.dtype))
        result = _pad_followed(x.view(bits_of(x.dtype)), levels, options._replace(fill=bits, out=None))
        block, marks = result if mask else (result, None)
        block = write_result(block.view(x.dtype), out)
        return (block, marks) if mask else block
    if is_wider or x.device.type not in ("cpu", "cuda", "meta"):
        return pad_elsewhere(x, levels, options)
    marks = None
    if mask or max_len is not None or sizes is not None or multiple != 1:
        how = (levels, side, None, mask, max_len, cut, None, None, multiple, None, sizes)
        shape = core_beside(x, levels, _core.pad, (x.shape[0], 0), *how)
        shape, marks = shape if mask else (shape, None)
        widths = shape.shape[1:-1]
    else:
        widths = tuple(map(_LONGEST, levels))
    caps: tuple[int, ...] = (-1,) * len(levels)
    if max_len is not None:
        caps = tuple(-1 if n is None else n for n in ints_per_level(max_len, "max_len", len(levels)))
    blank = None if fill is None else fill_of(fill, x)
    by_torch = blank is not None and (blank.ndim > 0 or is_followed(fill))  # put in behind, by torch
    value = None if fill is None or by_torch else number_of(fill, "fill")
    block = pad_rows(x, tuple(levels), widths, caps, side, cut, value, max_bytes)
    if by_torch:
        ones = _core.pad(
            np.ones(x.shape[0], np.bool_), levels, side, None, False, max_len, cut, sizes=list(widths)
        )
        block = torch.where(like(ones.reshape(ones.shape + (1,) * (x.ndim - 1)), x), block, blank)
    block = block if out is None else write_result(block, out)
    if mask and not isinstance(marks, torch.Tensor):
        marks = like(np.asarray(marks), x)
    return (block, marks) if mask else block


def core_beside(x: torch.Tensor, levels: Levels, function: Any, shape: Any, *args: Any) -> Any:
    """A call with rows without columns, for sizes and marks: on the device of levels that lie there alone."""
    if all(map(_ON_HOST, levels)):
        return function(np.empty(shape, np.uint8), *args)
    return on_tensors(function, x.new_empty(tuple(shape), dtype=torch.uint8), *args)


def pad_elsewhere(x: torch.Tensor, levels: Levels, options: PadOptions) -> Any:
    """A rectangle of values on a device: the core says which row goes where, and torch picks it."""
    with_mask = _is_asked(options.mask)
    rows, marks = _core.pad(np.arange(x.shape[0]), levels, *options._replace(fill=None, mask=True, out=None))
    mask = like(marks, x)
    source = at_least_one(x)
    blank = fill_of(0 if options.fill is None else options.fill, x)
    wide = mask.reshape(mask.shape + (1,) * (x.ndim - 1))
    block = torch.where(wide, source[like(rows, x)], blank)
    block = write_result(block, options.out)
    return (block, mask) if with_mask else block


def unpad(
    block: torch.Tensor, levels: Levels, padding_side: str = "right", out: torch.Tensor | None = None
) -> torch.Tensor:
    """The rows of a rectangle that the levels say are there."""
    if out is not None and not isinstance(out, torch.Tensor):
        raise instance_error("out", "a tensor", out)
    depth = len(levels) + 1
    plain = is_plain_tensor(block)
    by_autograd = not plain and block.device.type in ("cpu", "cuda", "meta")
    if by_autograd and out is None and not (block.dtype in NAMELESS and has_no_name(block)):
        # Refuses what does not fit.
        core_beside(block, levels, _core.unpad, (*block.shape[:depth], 0), levels, padding_side)
        sizes = tuple(map(int, block.shape[1:depth]))  # a tracer has tensors there
        result: torch.Tensor = _unpad(
            block, tuple(levels), sizes, (-1,) * len(levels), levels[-1].total, padding_side, padding_side
        )
        return result
    slots, row_shape = block.shape[:depth], block.shape[depth:]
    if plain and out is None:
        output: Any = on_tensors(_core.unpad, block, levels, padding_side)
        if output is not NotImplemented:
            return output
    if plain and on_host(block):
        if out is None:
            return tensor_of(_core.unpad(as_numpy(block), levels, padding_side), block.dtype)
        with writing(out):
            _core.unpad(as_numpy(block), levels, padding_side, as_numpy(out))
        return out
    if plain and out is not None:
        with writing(out):
            output = on_tensors(_core.unpad, block, levels, padding_side, out)
        if output is not NotImplemented:
            return out
    numbers = np.arange(math.prod(slots)).reshape(slots)
    values = take(
        block.reshape(math.prod(slots), *row_shape), like(_core.unpad(numbers, levels, padding_side), block)
    )
    return write_result(values, out)
