"""Tensors in order, the ways back, and gradients of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch

from varlen import _core
from varlen._core import Level
from varlen.backends.torch.autograd import (
    AutogradOp,
    SavedContext,
    as_numbers,
    from_numbers,
    has_no_name,
    level_of,
    offsets_of,
    write_result,
)
from varlen.backends.torch.followers import is_followed, remove_transforms, suspend_modes
from varlen.backends.torch.memory import fill_of, like, tensor_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


def _run_sort(x: Array, offsets: Any, new_offsets: Any, total: int, descending: bool) -> tuple[Array, Array]:
    level = offsets if type(offsets) is Level else level_of(offsets)
    first = level if new_offsets is offsets else level_of(new_offsets)
    limit = None if first is level else first.longest
    result, which, _ = _core.sort(x, level, descending, limit, True, True)
    return result, which


def _fake_sort(x: torch.Tensor, offsets: torch.Tensor, new_offsets: torch.Tensor, total: int, _: bool) -> Any:
    result = x.new_empty((total, *x.shape[1:]))
    return result, result.new_empty(result.shape, dtype=torch.int64)


def _gradient_of_back(context: SavedContext, d: torch.Tensor) -> Any:
    (which,), (offsets, new_offsets, _) = context.saved, context.rest
    if not len(d):
        return d.new_zeros(which.shape), None
    starts = torch.repeat_interleave(
        offsets_of(offsets, d)[:-1], offsets_of(new_offsets, d).diff(), output_size=which.shape[0]
    )
    marks = which >= 0
    places = torch.where(marks, starts.reshape(-1, *(1 for _ in which.shape[1:])) + which, 0)
    return torch.where(marks, d.gather(0, places), 0), None


sort_rows: AutogradOp = AutogradOp(
    "sort(Tensor x, Tensor offsets, Tensor kept, SymInt total, bool descending) -> (Tensor, Tensor)",
    _run_sort,
    _fake_sort,
    lambda context, d: _unsort(d, context.saved[0], *context.rest[:2], context.rows),
    saves=(-2,),
)
_unsort: AutogradOp = AutogradOp(
    "unsort(Tensor d, Tensor which, Tensor offsets, Tensor kept, SymInt total) -> Tensor",
    lambda d, which, offsets, new_level, total: _core.unsort(
        d, level_of(offsets), level_of(new_level), which
    ),
    lambda d, which, offsets, new_level, total: d.new_empty((total, *d.shape[1:])),
    _gradient_of_back,
    columns=2,
    saves=(1,),
)
_rank: AutogradOp = AutogradOp(
    "rank(Tensor x, Tensor offsets, str method, bool descending) -> Tensor",
    lambda x, offsets, method, descending: _core.rank(x, level_of(offsets), method, descending),
    lambda x, offsets, method, descending: x.new_empty(
        x.shape, dtype=torch.float64 if method == "average" else torch.int64
    ),
)


def sort(
    x: torch.Tensor,
    level: Level,
    descending: bool = False,
    limit: int | None = None,
    with_values: bool = True,
    with_places: bool = False,
    out: Any = None,
) -> tuple[torch.Tensor, torch.Tensor, Level]:
    """The first rows of each sequence in order, watched by autograd, their places and their level."""
    new_level = level if limit is None else _core.sort_kept(level, limit)
    result, which = sort_rows(x, level, new_level, new_level.total, descending)
    return result if out is None else write_result(result, out), which, new_level


def unsort(d: torch.Tensor, level: Level, new_level: Level, which: Any, out: Any = None) -> torch.Tensor:
    """Each element to the row of its sequence that `which` says, else zeros."""
    places = which if isinstance(which, torch.Tensor) else tensor_of(which)
    result = _unsort(d, places, level, new_level, level.total)
    return write_result(result, out)


def rank(x: torch.Tensor, level: Level, method: str, descending: bool = False) -> torch.Tensor:
    """The rank of each number inside its sequence, from 1."""
    # Ranks are no numbers of the dtype of x: float32 holds floats of 8 bits, in their order.
    result: torch.Tensor = _rank(
        x.float() if has_no_name(x) and not x.is_complex() else x, level, method, descending
    )
    return result


def unique(
    x: torch.Tensor, level: Level, inverse: bool = False, counts: bool = False
) -> tuple[Any, Any, Any, Level]:
    """The distinct numbers of each sequence, which of them each row is, how often they are, their level."""
    tensor = remove_transforms(x, "unique")
    with suspend_modes():
        numbers = tensor.detach()
        result: Any = _core.on_tensors(_core.unique, numbers, level, inverse, counts)
        if result is not NotImplemented:
            return cast("tuple[Any, Any, Any, Level]", result)
        array = as_numbers(numbers)
    rows, which, often, new_level = _core.unique(array, level, inverse, counts)
    return (
        from_numbers(rows, x),
        None if which is None else tensor_of(which),
        None if often is None else tensor_of(often),
        new_level,
    )


def fill_block(rows: torch.Tensor, count: int, k: int, fill: Any) -> torch.Tensor:
    """(count, k, ...) of `fill`, made of no rows, which autograd goes on watching."""
    shape = rows.shape[1:]
    blank = fill_of(fill, rows).expand(count * k, *shape) if is_followed(fill) else None
    blank = rows.new_full((count * k, *shape), fill) if blank is None else blank
    return torch.cat([blank, rows]).reshape(count, k, *shape)


def order_with_nan_first(x: torch.Tensor, level: Level) -> torch.Tensor:
    """The rows of each sequence, the largest first and NaN before all; ties in their order."""
    rows = x.argsort(descending=True, stable=True)
    return rows[like(level.row_ids, x)[rows].argsort(stable=True)]
