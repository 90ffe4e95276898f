"""The verbs inside a graph of torch.compile: those of this package, or another way that a tracer can follow.

`backend_of` gives this module where a function is traced, so that ops and containers need not ask. Most verbs
are registered ops of torch, in a graph as outside. What is here reads no numbers of a level while it is
traced: the graph works them out when it runs, and refuses there what does not fit. Tensors on a device go
the way that they have outside, which breaks the graph.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import _core, tracing
from varlen._core import Level, RaggedBase
from varlen.arguments import as_float, as_int, ints_per_level
from varlen.backends import torch as outside
from varlen.backends.numpy.dense import DenseOptions
from varlen.backends.torch.autograd import AutogradOp, level_of, write_result
from varlen.backends.torch.cast import pick
from varlen.backends.torch.dense import as_unseen
from varlen.backends.torch.memory import as_row, number_of, tensor_of
from varlen.backends.torch.pad import PadOptions, check_out, pad_rows, rows_of
from varlen.backends.torch.reduce import statistic_rows
from varlen.backends.torch.reduce_dense import block_rows, has_own_gradient
from varlen.backends.torch.shift import roll_rows, shift_rows
from varlen.backends.torch.sort import sort_rows
from varlen.backends.torch.sums import SUMS, end_rows, extreme_rows, with_empty
from varlen.backends.torch.tracing import as_index, as_tensor, blank, fake_offsets, longest
from varlen.errors import overflow_error, type_error, value_error
from varlen.tracing import TracedLevel, count_of, offsets_of

if TYPE_CHECKING:
    Array = np.ndarray


# One row for each sequence, and back.


def _has_gradient(given: Any) -> bool:
    """Whether a number is a tensor whose gradient is wanted."""
    return isinstance(given, torch.Tensor) and given.requires_grad


def reduce(
    op: str, x: torch.Tensor, level: Any, empty: Any = None, out: Any = None, ddof: float = 0
) -> torch.Tensor:
    """One row for each sequence."""
    followed = _has_gradient(empty)
    number = 0 if followed else number_of(empty, "empty")
    number = int(number) if type(number) is bool else number  # a tracer knows none where a schema has numbers
    if op in SUMS:
        rows = SUMS[op](x, level, op, number)
    else:
        rows = statistic_rows(x, level, op, number, as_float(ddof, "ddof"))
    return write_result(
        with_empty(rows, level_array(level, "lengths", rows), empty) if followed else rows, out
    )


def reduce_dense(
    op: str,
    block: torch.Tensor,
    level: Any,
    padding_side: str = "right",
    empty: Any = None,
    out: Any = None,
    ddof: float = 0,
) -> torch.Tensor:
    """One row for each sequence of a rectangle."""
    if _has_gradient(empty) or (block.requires_grad and not has_own_gradient(op)):
        return reduce(op, unpad(block, (level,), padding_side), level, empty, out, ddof)
    return write_result(block_rows(op, block, level, padding_side, empty, ddof), out)


def reduce_extreme(
    op: str, x: torch.Tensor, level: Any, empty: Any = None, narrow: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest or smallest rows, and the places inside the sequences."""
    followed = _has_gradient(empty)
    found, which = extreme_rows(x, level, op, 0 if followed else number_of(empty, "empty"))
    found = with_empty(found, level_array(level, "lengths", found), empty) if followed else found
    return found, which.int() if narrow else which


def reduce_end(x: torch.Tensor, level: Any, last: bool, empty: Any = None) -> torch.Tensor:
    """The first or last row of each sequence: of x, or one that stands behind it for those without rows."""
    if empty is None:
        result: torch.Tensor = end_rows(x, level, last)
        return result
    offsets = offsets_of(level)
    begins, ends = offsets[:-1], offsets[1:]
    rows = torch.where(begins < ends, ends - 1 if last else begins, x.shape[0])
    return _picked_rows(torch.cat((x, row_as(empty, x, "empty"))), rows)


def broadcast_rows(rows: torch.Tensor, level: Any) -> torch.Tensor:
    """Row i for every row of sequence i."""
    return outside.expand(rows, level)


# Rows that change places, or are put in order.


def _moves(by: Any, level: Any) -> torch.Tensor:
    """How far each sequence goes; the core looks at the numbers when the graph runs."""
    if type(by) is int and not -(2**63) <= by < 2**63:
        raise overflow_error("by", f"{by} does not fit 64 bits")
    moves = torch.as_tensor(by)
    if moves.is_floating_point() or moves.is_complex() or moves.dtype == torch.bool:
        raise type_error("by", f"expected integers, got {moves.dtype}")
    return moves.long().expand(count_of(level)).contiguous() if moves.ndim == 0 else moves.long()


def shift(x: torch.Tensor, level: Any, by: Any, fill: Any = 0, out: Any = None) -> torch.Tensor:
    """Rows moved inside their sequence, and a number where none came."""
    moves = _moves(by, level)
    row = None if fill is None or isinstance(fill, (bool, int, float)) else _row(fill, x, "fill")
    if row is None or (row.ndim == 0 and not row.requires_grad):
        return write_result(shift_rows(x, level, moves, (fill or 0) if row is None else row.item()), out)
    there = shift_rows(torch.ones(x.shape[0], dtype=torch.bool), level, moves, 0)
    wide = there.reshape(-1, *(1 for _ in x.shape[1:]))
    return write_result(torch.where(wide, shift_rows(x, level, moves, 0), row), out)


def roll(x: torch.Tensor, level: Any, by: Any, out: Any = None) -> torch.Tensor:
    """Rows moved round inside their sequence."""
    return write_result(roll_rows(x, level, _moves(by, level)), out)


def sort(
    x: torch.Tensor,
    level: Any,
    descending: bool = False,
    most: int | None = None,
    with_values: bool = True,
    with_places: bool = False,
    out: Any = None,
) -> tuple[torch.Tensor, torch.Tensor, Any]:
    """The first rows of each sequence in order, the places that they had, their level."""
    kept = level
    if most is not None:
        lengths = offsets_of(level).diff().clamp(max=as_int(most, "k"))
        kept = TracedLevel(torch.nn.functional.pad(lengths.cumsum(0), (1, 0)), None)
        kept = TracedLevel(kept.offsets, kept.total)
    result, which = sort_rows(x, level, kept, kept.total, descending)
    return write_result(result, out), which, kept


def diff(x: torch.Tensor, level: Any, n: int = 1) -> tuple[torch.Tensor, Any]:
    """Each row less the one before it in its sequence, n times; the level of what is left."""
    for _ in range(as_int(n, "n")):
        later, (shorter,) = gather_window(x, (level,), slice(1, None))
        earlier = gather_window(x, (level,), slice(None, -1))[0]
        torch._check(later.shape[0] == earlier.shape[0])
        level = shorter
        x = torch.logical_xor(later, earlier) if x.dtype == torch.bool else later - earlier
    return x, level


# Sequences picked, cut, repeated and brought together.


def _pick_tensors(rows: Array, levels: tuple[Level, ...]) -> tuple[torch.Tensor, list[torch.Tensor]]:
    return tensor_of(rows), [tensor_of(level.offsets) for level in levels]


def _numbers(offsets: list[torch.Tensor]) -> tuple[Array, tuple[Level, ...]]:
    """A number for each row, which a verb of the core moves, and the levels above them."""
    levels = tuple(level_of(each.cpu().numpy()) for each in offsets)
    return np.arange(levels[-1].total), levels


def _moved_by(schema: str, run: Any, kept: Any) -> Any:
    """A registered op that gives the numbers of the rows that a verb picks, and the offsets over them.

    `kept(offsets, *args)` gives the sizes that are known, None where the numbers say them: how many rows,
    then how many offsets each level has.
    """
    name = "varlen::" + schema.partition("(")[0]

    def fake(offsets: list[torch.Tensor], *args: Any) -> tuple[torch.Tensor, list[torch.Tensor]]:
        context = torch.library.get_ctx()
        sizes = kept(offsets, *args)
        least = (0, *(1 for _ in sizes[1:]))
        rows, *nest = (
            blank(offsets[0], context.new_dynamic_size(min=low) if size is None else size)
            for size, low in zip(sizes, least, strict=True)
        )
        return rows, nest

    torch.library.define(name, schema[schema.index("(") :])
    for kind in ("CPU", "CUDA"):  # of tensors on a device the host waits for numbers
        torch.library.impl(name, kind, lambda offsets, *args: _pick_tensors(*run(*_numbers(offsets), *args)))
    torch.library.register_fake(name, fake)
    return getattr(torch.ops.varlen, name.removeprefix("varlen::")).default


def _as_index(index: Any) -> Any:
    return None if index is None else index.cpu().numpy()


_gather_places = _moved_by(
    "gather_places(Tensor[] offsets, Tensor index) -> (Tensor, Tensor[])",
    lambda rows, levels, index: _core.gather(rows, levels, _as_index(index)),
    lambda offsets, index: (None, index.shape[0] + 1, *(None for _ in offsets[1:])),
)
_slice_places = _moved_by(
    "slice_places(Tensor[] offsets, SymInt? start, SymInt? stop, SymInt? step) -> (Tensor, Tensor[])",
    lambda rows, levels, *bounds: _core.gather(rows, levels, slice(*bounds)),
    lambda offsets, *_: (None, *(None for _ in offsets)),
)
_window_places = _moved_by(
    "window_places(Tensor[] offsets, SymInt? start, SymInt? stop, SymInt? step, Tensor? index)"
    " -> (Tensor, Tensor[])",
    lambda rows, levels, start, stop, step, index: _core.gather_window(
        rows, levels, slice(start, stop, step), _as_index(index)
    ),
    lambda offsets, start, stop, step, index: (
        None,
        offsets[0].shape[0] if index is None else index.shape[0] + 1,
        *(None for _ in offsets[1:]),
    ),
)
_column_places = _moved_by(
    "column_places(Tensor[] offsets, SymInt at) -> (Tensor, Tensor[])",
    lambda rows, levels, at: _core.gather_column(rows, levels, at),
    lambda offsets, at: (
        (offsets[0].shape[0] - 1,)
        if len(offsets) == 1
        else (None, offsets[0].shape[0], *(None for _ in offsets[2:]))
    ),
)


def _nested(offsets: list[torch.Tensor], rows: Any) -> tuple[Any, ...]:
    """Levels over so many rows, from offsets that the core made."""
    counts = [*(each.shape[0] - 1 for each in offsets[1:]), rows]
    return tuple(TracedLevel(each, count) for each, count in zip(offsets, counts, strict=True))


def _move_rows(x: torch.Tensor, levels: Any, op: Any, *args: Any) -> tuple[torch.Tensor, Any]:
    rows, picked = op([offsets_of(level) for level in levels], *args)
    return _picked_rows(x, rows), _nested(picked, rows.shape[0]) if picked else ()


def _picked_rows(x: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    return pick(x, _level_numbers(rows, x))


def _level_numbers(numbers: torch.Tensor, x: Any) -> torch.Tensor:
    """Numbers of a level on the device of a tensor."""
    return numbers.to(x.device) if isinstance(x, torch.Tensor) and x.device != numbers.device else numbers


def _index(index: Any, count: Any) -> torch.Tensor:
    """The numbers of sequences that a slice, a mask or integers say."""
    if isinstance(index, slice):
        return torch.arange(count)[index]
    index = as_tensor(index)
    return index.nonzero().reshape(-1) if index.dtype == torch.bool else index


def gather(x: torch.Tensor, levels: Any, index: Any) -> tuple[torch.Tensor, Any]:
    """The sequences of a slice, a mask or integers: copies, where a view would be none."""
    if isinstance(index, slice) and index.step is not None and index.step < 0:  # torch has no such slices
        return _move_rows(x, levels, _slice_places, index.start, index.stop, index.step)
    return _move_rows(x, levels, _gather_places, _index(index, count_of(levels[0])))


def gather_axis(x: torch.Tensor, levels: Any, indices: Any, at: int, shared: int) -> tuple[torch.Tensor, Any]:
    """Items of an axis by a row of numbers, or those of each sequence by the numbers of a Ragged."""
    depth = len(levels)
    ids, nest = (indices._values, indices._levels) if isinstance(indices, RaggedBase) else (indices, ())
    ids = as_index(ids)
    if len(nest) != shared or shared > 1 or (shared and at != 1):
        raise value_error(
            "indices", "a graph takes one row of them, or a Ragged of one level with batch_dims=1"
        )
    if at > depth:
        return pick(x, _level_numbers(ids, x), at - depth), levels
    if at == 0:
        return gather(x, levels, ids)
    starts, lengths = offsets_of(levels[at - 1])[:-1], offsets_of(levels[at - 1]).diff()
    ids = _level_numbers(ids, starts)
    if nest:
        owners = tracing.as_traced(nest[0]).row_ids
        torch._assert_async((ids < lengths.index_select(0, owners)).all(), "indices: one is out of range")
        inner: Any = nest[0]
        places = starts.index_select(0, owners) + ids
    else:
        torch._assert_async((ids < lengths[:, None]).all(), "indices: one is out of range")
        places, width = (starts[:, None] + ids).reshape(-1), ids.shape[0]
        count = starts.shape[0]
        inner = TracedLevel(torch.arange(count + 1) * width, count * width)
    values, below = (_picked_rows(x, places), ()) if at == depth else gather(x, levels[at:], places)
    return values, (*levels[: at - 1], inner, *below)


def gather_row(x: torch.Tensor, levels: Any, i: int) -> tuple[torch.Tensor, Any]:
    """Sequence i and the levels below: a copy."""
    values, picked = gather(x, levels, [i])
    return values, picked[1:]


def gather_window(x: torch.Tensor, levels: Any, window: slice, index: Any = None) -> tuple[torch.Tensor, Any]:
    """A slice of every sequence, or of those of an index."""
    picked = None if index is None else _index(index, count_of(levels[0]))
    return _move_rows(x, levels, _window_places, window.start, window.stop, window.step, picked)


def gather_column(x: torch.Tensor, levels: Any, at: int) -> tuple[torch.Tensor, Any]:
    """Item `at` of every sequence, and the levels below."""
    return _move_rows(x, levels, _column_places, at)


def repeat(x: torch.Tensor, levels: Any, times: Any) -> tuple[torch.Tensor, Any]:
    """The sequences of the first level, each as often as `times` is long, with the levels below them."""
    return gather(x, levels, tracing.as_traced(times).row_ids)


def concat_levels(levels: list[Any]) -> Any:
    """The sequences of each level after those of the one before it."""
    lengths = torch.cat([offsets_of(level).diff() for level in levels])
    return TracedLevel(torch.nn.functional.pad(lengths.cumsum(0), (1, 0)), sum(each.total for each in levels))


def interleave(values: list[Any], levels: list[Any], argument: str) -> tuple[torch.Tensor, Any]:
    """Sequence i of every part, end to end, and their level."""
    rows = outside.concat(values)
    offsets = torch.stack([offsets_of(level) for level in levels]).sum(0)
    places, begins = [], offsets[:-1]
    for level in levels:
        traced = tracing.as_traced(level)
        places.append(begins.index_select(0, traced.row_ids) + traced.positions)
        begins = begins + traced.lengths
    result = torch.empty_like(rows).index_copy(0, _level_numbers(torch.cat(places), rows), rows)
    return result, TracedLevel(offsets, rows.shape[0])


# Rectangles, masks and what a level says.


def pad(x: torch.Tensor, levels: Any, *given: Any, **named: Any) -> Any:
    """A rectangle of sequences, whose widths are worked out when the graph runs, unless they are given."""
    options = PadOptions(*given, **named)
    if options.dtype is not None:
        x = outside.cast(x, options.dtype, "values")
    if options.out is not None:
        check_out(options.out, x.dtype)
    kept = ints_per_level(options.max_len, "max_len", len(levels))
    sizes = options.sizes
    if sizes is None:
        multiple = options.pad_to_multiple
        sizes = [_width(level, n, multiple) for level, n in zip(levels, kept, strict=True)]
    slots = (tuple(levels), sizes, tuple(-1 if n is None else n for n in kept))
    ends = (options.padding_side, options.truncate)
    fill = options.fill
    row = None if fill is None or isinstance(fill, (bool, int, float)) else _row(fill, x, "fill")
    apart = row is not None and (row.ndim > 0 or row.requires_grad)  # put in behind, by torch
    number = None if apart else fill if row is None else row.item()
    block = pad_rows(x, *slots, *ends, number, options.max_bytes)
    marks: Any = None
    if options.mask or apart:
        there = torch.ones(x.shape[0], dtype=torch.bool, device=x.device)
        marks = pad_rows(there, *slots, *ends, None, options.max_bytes)
    if row is not None and apart:
        wide = marks.reshape(marks.shape + (1,) * (x.ndim - 1))
        block = torch.where(wide, block, row)
    block = write_result(block, options.out)
    return (block, marks) if options.mask else block


def gather_dense(x: torch.Tensor, levels: Any, indices: Any, positions: bool, *given: Any) -> tuple[Any, ...]:
    """A rectangle and its mask, with positions behind them where they are asked for, by `DenseOptions`."""
    is_unseen = (
        isinstance(indices, torch.Tensor)
        and indices.device.type != "cpu"
        and indices.device == x.device
        and indices.dtype is not torch.bool
    )
    named, known = (_with_none(levels, indices), levels) if is_unseen else ((levels, indices), None)
    rows, picked = (x, levels) if indices is None else gather(x, *named)
    side, fill, max_len, cut, dtype, multiple, max_bytes = DenseOptions(*given)
    kept = ints_per_level(max_len, "max_len", len(picked))
    sizes = [_width(level, n, multiple) for level, n in zip(known or picked, kept, strict=True)]
    ends: Any = (max_len, cut, None)
    made = pad(rows, picked, side, fill, True, *ends, dtype, 1, max_bytes, sizes)
    if not positions:
        return tuple(made)
    places = level_array(picked[-1], "positions", x)
    return (*made, pad(places, picked, side, None, False, *ends, None, 1, None, sizes))


def _with_none(levels: Any, indices: torch.Tensor) -> tuple[Any, torch.Tensor]:
    """Levels with an empty sequence at the end, and indices that name it where they are out of range."""
    first, *rest = levels
    offsets, count = offsets_of(first), count_of(first)
    ids = as_unseen(indices)
    ids = torch.where(ids < 0, ids + count, ids)
    ids = torch.where((ids >= 0) & (ids < count), ids, count)
    total = count_of(rest[0]) if rest else first.total
    return (TracedLevel(torch.cat((offsets, offsets[-1:])), total), *rest), ids


def _width(level: Any, most: int | None, multiple: int) -> Any:
    """How many slots the sequences of a level get, at most `most` and rounded up."""
    if type(level) is Level:
        width = level.longest if most is None else min(level.longest, most)
        return -(-width // multiple) * multiple
    widest: Any = longest(level.offsets)
    if most is not None:
        widest = widest.clamp(max=most)
    return (-(-widest // multiple) * multiple).item()


def unpad(
    block: torch.Tensor, levels: Any, padding_side: str = "right", out: torch.Tensor | None = None
) -> torch.Tensor:
    """The rows of a rectangle that the levels say are there."""
    sizes = block.shape[1 : len(levels) + 1]
    return write_result(rows_of(block, tuple(levels), sizes, levels[-1].total, padding_side), out)


def mask_to_level(mask: Any, padding_side: str) -> Any:
    """The level that a mask of a padded block shows."""
    return TracedLevel(_from_mask.registered(torch.as_tensor(mask), padding_side), None)


_from_mask: AutogradOp = AutogradOp(
    "offsets_from_mask(Tensor mask, str side) -> Tensor",
    lambda mask, side: _core.mask_to_level(mask, side).offsets,
    lambda mask, side: fake_offsets(mask, mask.shape[0] + 1),
)


def mask(
    level: Any,
    max_len: int | None,
    padding_side: str,
    width: int | None,
    multiple: int,
    max_bytes: int | None,
    beside: Any,
) -> Any:
    """True where a rectangle of the sequences holds data; an array beside an array."""
    lengths = offsets_of(level).diff()[:, None]
    if max_len is not None:
        lengths = lengths.clamp(max=max_len)
    if width is None:
        columns = _width(level, max_len, multiple)
    else:
        columns = width
        torch._assert_async((lengths <= width).all(), f"lengths: a sequence has rows over width={width}")
    places = torch.arange(columns)
    there = places < lengths if padding_side == "right" else places >= columns - lengths
    return there.numpy() if type(beside) is np.ndarray else _level_numbers(there, beside)


def block_mask(
    level: Any,
    dtype: Any,
    before: int | None,
    behind: int | None,
    out: Any,
    max_bytes: int | None,
    beside: Any = None,
) -> Any:
    """Which rows may look at which."""
    kind = torch.bool if dtype is bool else dtype
    if not isinstance(kind, torch.dtype) or kind.is_complex:
        raise type_error("dtype", f"expected a torch.dtype of bool, integers or floats, got {dtype!r}")
    traced = tracing.as_traced(level)
    ids, places = traced.row_ids, torch.arange(traced.total)
    ahead = places[None] - places[:, None]
    there = ids[None] == ids[:, None]
    if before is not None:
        there = there & (ahead >= -before)
    if behind is not None:
        there = there & (ahead <= behind)
    mask = torch.where(there, 0.0, -torch.inf).to(kind) if kind.is_floating_point else there.to(kind)
    return write_result(_level_numbers(mask, beside), out)


def level_array(level: Any, name: str, beside: Any) -> Any:
    """The row ids, positions, lengths or int32 offsets of a level: a tensor, but beside an array an array."""
    traced = tracing.as_traced(level)
    numbers = traced.offsets.int() if name == "offsets32" else getattr(traced, name)
    return numbers.numpy() if type(beside) is np.ndarray else _level_numbers(numbers, beside)


# Values.


def ufunc(function: Any, inputs: list[Any], kwargs: dict[str, Any]) -> Any:
    """A ufunc by the torch function of its name; a size among its inputs stays a size of the graph."""
    given = [torch.scalar_tensor(x, dtype=torch.int64) if type(x) is int else x for x in inputs]
    return outside.ufunc(function, given, kwargs)


def take(x: torch.Tensor, rows: Any) -> torch.Tensor:
    """Some rows, in any order."""
    return _picked_rows(x, torch.as_tensor(rows))


def row_as(given: Any, x: torch.Tensor, argument: str = "fill") -> torch.Tensor:
    """A number, or what broadcasts to a row, as one row (1, ...) of the dtype of a tensor."""
    if isinstance(given, (bool, int, float)):
        if not _fits(given, x.dtype):
            raise value_error(argument, f"{given} does not fit {x.dtype}")
        return torch.full((1, *x.shape[1:]), given, dtype=x.dtype)
    return _row(given, x, argument).expand(1, *x.shape[1:])


def _row(given: Any, x: torch.Tensor, argument: str) -> torch.Tensor:
    """What is no plain number as a scalar or a row of the dtype of a tensor."""
    if isinstance(given, (str, bytes, dict, set)):
        raise value_error(argument, f"{given!r} does not fit {x.dtype}")
    row = torch.as_tensor(given)
    if row.is_floating_point() and not hasattr(given, "dtype"):  # Python's floats in full
        row = torch.as_tensor(given, dtype=torch.float64)
    return outside.cast(as_row(row, x.shape[1:], argument), x.dtype, argument)


def _fits(number: float, dtype: torch.dtype) -> bool:
    """Whether a dtype holds a number: floats round, and no finite number becomes infinite."""
    if dtype == torch.bool:
        return number in (0, 1)
    if dtype.is_floating_point or dtype.is_complex:
        return abs(number) <= torch.finfo(dtype).max or number != number or abs(number) == math.inf
    limits = torch.iinfo(dtype)
    return number % 1 == 0 and limits.min <= number <= limits.max


def where(mask: Any, values: Any, others: Any) -> torch.Tensor:
    """A number, or values, where a mask is true, others where it is not."""
    return torch.where(torch.as_tensor(mask), values, others)


_OUTSIDE: Any = outside
for _name in _OUTSIDE.__all__:  # the verbs that need no other way
    globals().setdefault(_name, getattr(outside, _name))
