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
from varlen.errors import dtype_error, overflow_error, type_error, value_error
from varlen.tracing import TracedLevel, count_of, offsets_of

if TYPE_CHECKING:
    Array = np.ndarray


# One row for each sequence, and back.


def _has_gradient(value: Any) -> bool:
    """Whether a number is a tensor whose gradient is wanted."""
    return isinstance(value, torch.Tensor) and value.requires_grad


def reduce(
    op: str, x: torch.Tensor, level: Any, empty: Any = None, out: Any = None, ddof: float = 0
) -> torch.Tensor:
    """One row for each sequence."""
    has_gradient = _has_gradient(empty)
    number = 0 if has_gradient else number_of(empty, "empty")
    number = int(number) if type(number) is bool else number  # a tracer knows none where a schema has numbers
    if op in SUMS:
        rows = SUMS[op](x, level, op, number)
    else:
        rows = statistic_rows(x, level, op, number, as_float(ddof, "ddof"))
    return write_result(
        with_empty(rows, level_array(level, "lengths", rows), empty) if has_gradient else rows, out
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
    has_gradient = _has_gradient(empty)
    rows, which = extreme_rows(x, level, op, 0 if has_gradient else number_of(empty, "empty"))
    rows = with_empty(rows, level_array(level, "lengths", rows), empty) if has_gradient else rows
    return rows, which.int() if narrow else which


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
        raise dtype_error("by", "integers", moves.dtype)
    return moves.long().expand(count_of(level)).contiguous() if moves.ndim == 0 else moves.long()


def shift(x: torch.Tensor, level: Any, by: Any, fill: Any = 0, out: Any = None) -> torch.Tensor:
    """Rows moved inside their sequence, and a number where none came."""
    moves = _moves(by, level)
    row = None if fill is None or isinstance(fill, (bool, int, float)) else _row(fill, x, "fill")
    if row is None or (row.ndim == 0 and not row.requires_grad):
        return write_result(shift_rows(x, level, moves, (fill or 0) if row is None else row.item()), out)
    marks = shift_rows(torch.ones(x.shape[0], dtype=torch.bool), level, moves, 0)
    wide = marks.reshape(-1, *(1 for _ in x.shape[1:]))
    return write_result(torch.where(wide, shift_rows(x, level, moves, 0), row), out)


def roll(x: torch.Tensor, level: Any, by: Any, out: Any = None) -> torch.Tensor:
    """Rows moved round inside their sequence."""
    return write_result(roll_rows(x, level, _moves(by, level)), out)


def sort(
    x: torch.Tensor,
    level: Any,
    descending: bool = False,
    limit: int | None = None,
    with_values: bool = True,
    with_places: bool = False,
    out: Any = None,
) -> tuple[torch.Tensor, torch.Tensor, Any]:
    """The first rows of each sequence in order, the places that they had, their level."""
    new_level = level
    if limit is not None:
        lengths = offsets_of(level).diff().clamp(max=as_int(limit, "k"))
        new_level = TracedLevel(torch.nn.functional.pad(lengths.cumsum(0), (1, 0)), None)
        new_level = TracedLevel(new_level.offsets, new_level.total)
    result, which = sort_rows(x, level, new_level, new_level.total, descending)
    return write_result(result, out), which, new_level


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
    levels = tuple(level_of(item.cpu().numpy()) for item in offsets)
    return np.arange(levels[-1].total), levels


def _moved_by(schema: str, run: Any, sizes_of: Any) -> Any:
    """A registered op that gives the numbers of the rows that a verb picks, and the offsets over them.

    `kept(offsets, *args)` gives the sizes that are known, None where the numbers say them: how many rows,
    then how many offsets each level has.
    """
    name = "varlen::" + schema.partition("(")[0]

    def fake(offsets: list[torch.Tensor], *args: Any) -> tuple[torch.Tensor, list[torch.Tensor]]:
        context = torch.library.get_ctx()
        sizes = sizes_of(offsets, *args)
        bounds = (0, *(1 for _ in sizes[1:]))
        rows, *nest = (
            blank(offsets[0], context.new_dynamic_size(min=low) if size is None else size)
            for size, low in zip(sizes, bounds, strict=True)
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
    counts = [*(item.shape[0] - 1 for item in offsets[1:]), rows]
    return tuple(TracedLevel(item, count) for item, count in zip(offsets, counts, strict=True))


def _move_rows(x: torch.Tensor, levels: Any, op: Any, *args: Any) -> tuple[torch.Tensor, Any]:
    rows, starts = op([offsets_of(level) for level in levels], *args)
    return _picked_rows(x, rows), _nested(starts, rows.shape[0]) if starts else ()


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


def gather_axis(
    x: torch.Tensor, levels: Any, indices: Any, dim: int, batch_depth: int
) -> tuple[torch.Tensor, Any]:
    """Items of an axis by a row of numbers, or those of each sequence by the numbers of a Ragged."""
    depth = len(levels)
    ids, nest = (indices._values, indices._levels) if isinstance(indices, RaggedBase) else (indices, ())
    ids = as_index(ids)
    if len(nest) != batch_depth or batch_depth > 1 or (batch_depth and dim != 1):
        raise value_error(
            "indices", "a graph takes one row of them, or a Ragged of one level with batch_dims=1"
        )
    if dim > depth:
        return pick(x, _level_numbers(ids, x), dim - depth), levels
    if dim == 0:
        return gather(x, levels, ids)
    starts, lengths = offsets_of(levels[dim - 1])[:-1], offsets_of(levels[dim - 1]).diff()
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
    values, inner_levels = (_picked_rows(x, places), ()) if dim == depth else gather(x, levels[dim:], places)
    return values, (*levels[: dim - 1], inner, *inner_levels)


def gather_row(x: torch.Tensor, levels: Any, i: int) -> tuple[torch.Tensor, Any]:
    """Sequence i and the levels below: a copy."""
    values, nest = gather(x, levels, [i])
    return values, nest[1:]


def gather_window(x: torch.Tensor, levels: Any, window: slice, index: Any = None) -> tuple[torch.Tensor, Any]:
    """A slice of every sequence, or of those of an index."""
    sequences = None if index is None else _index(index, count_of(levels[0]))
    return _move_rows(x, levels, _window_places, window.start, window.stop, window.step, sequences)


def gather_column(x: torch.Tensor, levels: Any, position: int) -> tuple[torch.Tensor, Any]:
    """Item `position` of every sequence, and the levels below."""
    return _move_rows(x, levels, _column_places, position)


def repeat(x: torch.Tensor, levels: Any, times: Any) -> tuple[torch.Tensor, Any]:
    """The sequences of the first level, each as often as `times` is long, with the levels below them."""
    return gather(x, levels, tracing.as_traced(times).row_ids)


def concat_levels(levels: list[Any]) -> Any:
    """The sequences of each level after those of the one before it."""
    lengths = torch.cat([offsets_of(level).diff() for level in levels])
    return TracedLevel(torch.nn.functional.pad(lengths.cumsum(0), (1, 0)), sum(item.total for item in levels))


def interleave(values: list[Any], levels: list[Any], argument: str) -> tuple[torch.Tensor, Any]:
    """Sequence i of every part, end to end, and their level."""
    rows = outside.concat(values)
    offsets = torch.stack([offsets_of(level) for level in levels]).sum(0)
    places, begins = [], offsets[:-1]
    for level in levels:
        graph_level = tracing.as_traced(level)
        places.append(begins.index_select(0, graph_level.row_ids) + graph_level.positions)
        begins = begins + graph_level.lengths
    result = torch.empty_like(rows).index_copy(0, _level_numbers(torch.cat(places), rows), rows)
    return result, TracedLevel(offsets, rows.shape[0])


# Rectangles, masks and what a level says.


def pad(x: torch.Tensor, levels: Any, *args: Any, **kwargs: Any) -> Any:
    """A rectangle of sequences, whose widths are worked out when the graph runs, unless they are given."""
    options = PadOptions(*args, **kwargs)
    if options.dtype is not None:
        x = outside.cast(x, options.dtype, "values")
    if options.out is not None:
        check_out(options.out, x.dtype)
    caps = ints_per_level(options.max_len, "max_len", len(levels))
    sizes = options.sizes
    if sizes is None:
        multiple = options.pad_to_multiple
        sizes = [_width(level, n, multiple) for level, n in zip(levels, caps, strict=True)]
    slots = (tuple(levels), sizes, tuple(-1 if n is None else n for n in caps))
    ends = (options.padding_side, options.truncate)
    fill = options.fill
    row = None if fill is None or isinstance(fill, (bool, int, float)) else _row(fill, x, "fill")
    by_torch = row is not None and (row.ndim > 0 or row.requires_grad)  # put in behind, by torch
    number = None if by_torch else fill if row is None else row.item()
    block = pad_rows(x, *slots, *ends, number, options.max_bytes)
    marks: Any = None
    if options.mask or by_torch:
        ones = torch.ones(x.shape[0], dtype=torch.bool, device=x.device)
        marks = pad_rows(ones, *slots, *ends, None, options.max_bytes)
    if row is not None and by_torch:
        wide = marks.reshape(marks.shape + (1,) * (x.ndim - 1))
        block = torch.where(wide, block, row)
    block = write_result(block, options.out)
    return (block, marks) if options.mask else block


def gather_dense(x: torch.Tensor, levels: Any, indices: Any, positions: bool, *args: Any) -> tuple[Any, ...]:
    """A rectangle and its mask, with positions behind them where they are asked for, by `DenseOptions`."""
    is_unseen = (
        isinstance(indices, torch.Tensor)
        and indices.device.type != "cpu"
        and indices.device == x.device
        and indices.dtype is not torch.bool
    )
    arguments, sources = (_with_none(levels, indices), levels) if is_unseen else ((levels, indices), None)
    rows, nest = (x, levels) if indices is None else gather(x, *arguments)
    side, fill, max_len, cut, dtype, multiple, max_bytes = DenseOptions(*args)
    caps = ints_per_level(max_len, "max_len", len(nest))
    sizes = [_width(level, n, multiple) for level, n in zip(sources or nest, caps, strict=True)]
    ends: Any = (max_len, cut, None)
    result = pad(rows, nest, side, fill, True, *ends, dtype, 1, max_bytes, sizes)
    if not positions:
        return tuple(result)
    places = level_array(nest[-1], "positions", x)
    return (*result, pad(places, nest, side, None, False, *ends, None, 1, None, sizes))


def _with_none(levels: Any, indices: torch.Tensor) -> tuple[Any, torch.Tensor]:
    """Levels with an empty sequence at the end, and indices that name it where they are out of range."""
    first, *rest = levels
    offsets, count = offsets_of(first), count_of(first)
    ids = as_unseen(indices)
    ids = torch.where(ids < 0, ids + count, ids)
    ids = torch.where((ids >= 0) & (ids < count), ids, count)
    total = count_of(rest[0]) if rest else first.total
    return (TracedLevel(torch.cat((offsets, offsets[-1:])), total), *rest), ids


def _width(level: Any, max_len: int | None, multiple: int) -> Any:
    """How many slots the sequences of a level get, at most `max_len` and rounded up."""
    if type(level) is Level:
        width = level.longest if max_len is None else min(level.longest, max_len)
        return -(-width // multiple) * multiple
    widest: Any = longest(level.offsets)
    if max_len is not None:
        widest = widest.clamp(max=max_len)
    return (-(-widest // multiple) * multiple).item()


def unpad(
    block: torch.Tensor, levels: Any, padding_side: str = "right", out: torch.Tensor | None = None
) -> torch.Tensor:
    """The rows of a rectangle that the levels say are there."""
    sizes = block.shape[1 : len(levels) + 1]
    return write_result(rows_of(block, tuple(levels), sizes, levels[-1].total, padding_side), out)


def mask_to_level(mask: Any, padding_side: str) -> Any:
    """The level that a mask of a padded block shows."""
    return TracedLevel(_from_mask.torch_op(torch.as_tensor(mask), padding_side), None)


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
    model: Any,
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
    marks = places < lengths if padding_side == "right" else places >= columns - lengths
    return marks.numpy() if type(model) is np.ndarray else _level_numbers(marks, model)


def block_mask(
    level: Any,
    dtype: Any,
    lookback: int | None,
    lookahead: int | None,
    out: Any,
    max_bytes: int | None,
    model: Any = None,
) -> Any:
    """Which rows may look at which."""
    kind = torch.bool if dtype is bool else dtype
    if not isinstance(kind, torch.dtype) or kind.is_complex:
        raise type_error("dtype", f"expected a torch.dtype of bool, integers or floats, got {dtype!r}")
    graph_level = tracing.as_traced(level)
    ids, places = graph_level.row_ids, torch.arange(graph_level.total)
    distance = places[None] - places[:, None]
    marks = ids[None] == ids[:, None]
    if lookback is not None:
        marks = marks & (distance >= -lookback)
    if lookahead is not None:
        marks = marks & (distance <= lookahead)
    mask = torch.where(marks, 0.0, -torch.inf).to(kind) if kind.is_floating_point else marks.to(kind)
    return write_result(_level_numbers(mask, model), out)


def level_array(level: Any, name: str, model: Any) -> Any:
    """The row ids, positions, lengths or int32 offsets of a level: a tensor, but beside an array an array."""
    graph_level = tracing.as_traced(level)
    numbers = graph_level.offsets.int() if name == "offsets32" else getattr(graph_level, name)
    return numbers.numpy() if type(model) is np.ndarray else _level_numbers(numbers, model)


# Values.


def ufunc(function: Any, inputs: list[Any], kwargs: dict[str, Any]) -> Any:
    """A ufunc by the torch function of its name; a size among its inputs stays a size of the graph."""
    operands = [torch.scalar_tensor(x, dtype=torch.int64) if type(x) is int else x for x in inputs]
    return outside.ufunc(function, operands, kwargs)


def take(x: torch.Tensor, rows: Any) -> torch.Tensor:
    """Some rows, in any order."""
    return _picked_rows(x, torch.as_tensor(rows))


def row_as(value: Any, x: torch.Tensor, argument: str = "fill") -> torch.Tensor:
    """A number, or what broadcasts to a row, as one row (1, ...) of the dtype of a tensor."""
    if isinstance(value, (bool, int, float)):
        if not _fits(value, x.dtype):
            raise value_error(argument, f"{value} does not fit {x.dtype}")
        return torch.full((1, *x.shape[1:]), value, dtype=x.dtype)
    return _row(value, x, argument).expand(1, *x.shape[1:])


def _row(value: Any, x: torch.Tensor, argument: str) -> torch.Tensor:
    """What is no plain number as a scalar or a row of the dtype of a tensor."""
    if isinstance(value, (str, bytes, dict, set)):
        raise value_error(argument, f"{value!r} does not fit {x.dtype}")
    row = torch.as_tensor(value)
    if row.is_floating_point() and not hasattr(value, "dtype"):  # Python's floats in full
        row = torch.as_tensor(value, dtype=torch.float64)
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
