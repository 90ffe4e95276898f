"""Windows of tensors and the ways back, by the names and arguments that the core has for arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import _core
from varlen._core import Level, is_plain_tensor
from varlen.backends.torch.autograd import (
    AutogradOp,
    by_bytes,
    has_no_name,
    in_parts,
    level_of,
    require_device,
    write_result,
)

if TYPE_CHECKING:
    Array = np.ndarray


def _run_places(x: Array, offsets: Any, count: int, shape: list[int], max_bytes: int | None) -> Array:
    left, right, dilation, stride = shape
    level = offsets if type(offsets) is Level else level_of(offsets)
    return _core.seq2col(x, level, left, right, dilation, stride, None, max_bytes, True)[0]


def _run_rows(d: Array, offsets: Any, total: int, shape: list[int], max_bytes: int | None) -> Array:
    left, right, dilation, stride = shape
    level = level_of(offsets)
    return _core.backprop_seq2col(d, level, left, right, dilation, stride, None, max_bytes, None, True)


# A row and its neighbours side by side, (T', K, ...), and the sums of the places of each row: linear, and the
# gradients of each other. `shape` is left, right, dilation, stride.
_places: AutogradOp = AutogradOp(
    "seq2col(Tensor x, Tensor offsets, SymInt kept, SymInt[] shape, SymInt? max_bytes) -> Tensor",
    _run_places,
    lambda x, offsets, count, shape, limit: x.new_empty((count, shape[0] + 1 + shape[1], *x.shape[1:])),
    lambda context, d: _rows(d, context.rest[0], context.rows, *context.rest[2:]),
    batch=(1, 2),
)
_rows: AutogradOp = AutogradOp(
    "backprop_seq2col(Tensor d, Tensor offsets, SymInt total, SymInt[] shape, SymInt? max_bytes) -> Tensor",
    _run_rows,
    lambda d, offsets, total, shape, limit: d.new_empty((total, *d.shape[2:])),
    lambda context, d: _places(d, context.rest[0], context.rows, *context.rest[2:]),
    batch=(2, 1),
)

# Windows, and rows out of them: `steps` is size, step, drop_last; `mean` divides by the windows of each row.
_windows: AutogradOp = AutogradOp(
    "windows(Tensor x, Tensor offsets, SymInt rows, SymInt[] steps, bool mean, SymInt? max_bytes) -> Tensor",
    lambda x, offsets, rows, steps, mean, limit: _core.windows(
        x, level_of(offsets), steps[0], steps[1], bool(steps[2]), limit, mean
    )[0],
    lambda x, offsets, rows, *_: x.new_empty((rows, *x.shape[1:])),
    lambda context, d: _merge_op(d, context.rest[0], context.rows, *context.rest[2:]),
)


def _fake_merged(y: torch.Tensor, offsets: torch.Tensor, total: int, steps: Any, mean: bool, *_: Any) -> Any:
    dtype = torch.float64 if mean and not y.is_floating_point() else y.dtype
    return y.new_empty((total, *y.shape[1:]), dtype=dtype)


_merge_op: AutogradOp = AutogradOp(
    "merge_windows(Tensor y, Tensor offsets, SymInt total, SymInt[] steps, bool mean, SymInt? max_bytes)"
    " -> Tensor",
    lambda y, offsets, total, steps, mean, limit: _core.merge_windows(
        y, None, level_of(offsets), steps[0], steps[1], bool(steps[2]), mean, limit
    ),
    _fake_merged,
    lambda context, d: _windows(d, context.rest[0], context.rows, *context.rest[2:]),
)


def _no_places(rows: int) -> Array:
    """Rows without width: what levels come of them costs no values."""
    return np.empty((rows, 0), np.uint8)


def seq2col(
    x: torch.Tensor,
    level: Level,
    left: int,
    right: int,
    dilation: int = 1,
    stride: int = 1,
    out: Any = None,
    max_bytes: int | None = None,
) -> tuple[torch.Tensor, Level]:
    """`_core.seq2col` of a tensor, watched by autograd."""
    # Every row has a window where none is skipped.
    is_same = stride == 1 and not level.is_on_host
    new_level = (
        level if is_same else _core.seq2col(_no_places(len(x)), level, left, right, dilation, stride)[1]
    )
    shape = [left, right, dilation, stride]

    def places(part: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = _places(require_device(part, "X"), level, new_level.total, shape, max_bytes)
        return result

    result = in_parts(x, places) if x.is_complex() else places(x)
    flat = result.reshape(len(result), result.shape[1] * x.shape[1:].numel()) if x.ndim < 3 else result
    return flat if out is None else write_result(flat, out), new_level


def backprop_seq2col(
    d: torch.Tensor,
    level: Level,
    left: int,
    right: int,
    dilation: int = 1,
    stride: int = 1,
    out: Any = None,
    max_bytes: int | None = None,
    new_level: Level | None = None,
) -> torch.Tensor:
    """`_core.backprop_seq2col` of a tensor, watched by autograd."""
    places = left + 1 + right
    if d.ndim == 2 and d.shape[1] % places == 0:
        d = d.reshape(len(d), places, d.shape[1] // places)
    # What does not fit is refused as it is of arrays.
    if level.is_on_host:
        bare = np.empty((*d.shape[:2], 0) if d.ndim > 2 else tuple(d.shape), np.bool_)
        _core.backprop_seq2col(bare, level, left, right, dilation, stride, None, None, new_level)
    shape = [left, right, dilation, stride]
    return write_result(_rows(require_device(d, "dY"), level, level.total, shape, max_bytes), out)


def windows(
    x: torch.Tensor,
    level: Level,
    size: int,
    step: int,
    drop_last: bool = False,
    max_bytes: int | None = None,
    share: bool = False,
) -> tuple[torch.Tensor, Level, Level]:
    """`_core.windows` of a tensor, watched by autograd."""
    _, outer, inner = _core.windows(_no_places(len(x)), level, size, step, drop_last)
    steps = [size, step, int(drop_last)]

    def take_windows(column: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = _windows(
            require_device(column, "X"), level, inner.total, steps, share, max_bytes
        )
        return result

    # The gradient adds, and sums of complex numbers are those of their parts.
    if has_no_name(x) and not share:
        return by_bytes(x, take_windows), outer, inner
    in_two = x.is_complex() and not is_plain_tensor(x)
    return in_parts(x, take_windows) if in_two else take_windows(x), outer, inner


def merge_windows(
    y: torch.Tensor,
    levels: tuple[Level, ...] | None,
    level: Level,
    size: int,
    step: int,
    drop_last: bool,
    mean: bool,
    max_bytes: int | None = None,
) -> torch.Tensor:
    """`_core.merge_windows` of a tensor, watched by autograd."""
    _core.merge_windows(np.empty((len(y), 0), np.bool_), levels, level, size, step, drop_last, mean)
    steps = [size, step, int(drop_last)]
    result: torch.Tensor = _merge_op(require_device(y, "Y"), level, level.total, steps, mean, max_bytes)
    return result
