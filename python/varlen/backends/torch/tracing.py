"""Levels in a graph of torch.compile: registered ops that make, check and pick offsets, which are tensors."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch._guards import active_fake_mode
from torch.fx.experimental.proxy_tensor import get_proxy_mode

from varlen import _core, tracing
from varlen._core import Level
from varlen.backends.torch.autograd import AutogradOp, level_of
from varlen.backends.torch.followers import constant, count_modes, numbers_of, suspend_modes
from varlen.errors import dtype_error, index_error, value_error
from varlen.levels import describe_difference, level_from
from varlen.tracing import TracedLevel

if TYPE_CHECKING:
    Array = np.ndarray


_FOLDER = f"{Path(__file__).parents[2].as_posix()}/"  # of varlen, as torch's rules of tracing write it

_is_dynamo: Callable[[], bool] = torch.compiler.is_dynamo_compiling

# Modes of shapes alone in which make_fx or torch.export met lengths that are inputs of their graph.
_graph_modes: set[weakref.ref[Any]] = set()


def _is_tracing() -> bool:
    """Whether a function is traced to a graph, where graphs of make_fx or torch.export were met."""
    return _is_dynamo() or _in_graph_mode(active_fake_mode())


def _in_graph_mode(mode: Any) -> bool:
    return mode is not None and weakref.ref(mode) in _graph_modes


def is_traced(value: Any) -> bool:
    """Whether a function is traced to a graph, where numbers are needed that may be an input of it.

    torch.compile says so itself. make_fx and torch.export call the function with tensors that have a shape
    alone; offsets are tensors there from the first lengths or indices on that do not show their numbers.
    """
    if _is_dynamo():
        return True
    mode = active_fake_mode() if count_modes() else None
    if mode is None or _in_graph_mode(mode):
        return mode is not None
    several = value if isinstance(value, (list, tuple)) else (value,)
    hidden = any(getattr(x, "fake_mode", None) is mode for x in several)
    if not hidden or mode.shape_env is None or get_proxy_mode() is None:
        return False
    _graph_modes.add(weakref.ref(mode, _graph_modes.discard))
    tracing.is_tracing = _is_tracing  # takes longer, and is needed from here on
    return True


def offsets_tensor(level: Level) -> torch.Tensor:
    """The offsets of a level from outside: an input of a graph of torch.compile, a constant of others."""
    offsets: torch.Tensor = level._tensor
    return offsets if _is_dynamo() else constant(offsets)


def as_tensor(value: Any) -> torch.Tensor:
    """Numbers from outside as a tensor of the graph."""
    # A list may hold sizes of the graph, which as_tensor would fix.
    numbers = torch.tensor(value) if isinstance(value, (list, tuple)) else torch.as_tensor(value)
    return numbers if _is_dynamo() else constant(numbers)


def array(numbers: torch.Tensor) -> Any:
    """What is an array outside: one of torch.compile, while the graphs of others know tensors alone."""
    return numbers.numpy() if _is_dynamo() else numbers


@functools.cache
def _leave_untraced() -> None:
    """Let torch run `TracedLevel._make`, which comes behind a graph, and not compile it on its own."""
    from torch._dynamo.eval_frame import skip_code

    skip_code(TracedLevel._make.__code__)


def trace_from_callers() -> None:
    """Let torch.compile trace functions of varlen as part of what calls them, never on their own.

    A caller whose graph ends inside of one runs it outside. Its parts would be compiled on their own there,
    some for a graph and others not, and would hand each other levels and tensors that they cannot read.
    """
    rules: Any = sys.modules.get("torch._dynamo.trace_rules")
    if rules is None or _FOLDER in rules.get_mod_inlinelist():  # torch.export may trace without it
        return
    rules.get_mod_inlinelist().add(_FOLDER)
    if _FOLDER not in rules.SKIP_DIRS:
        rules.add("varlen")


trace_from_callers._dynamo_marked_constant = True  # type: ignore[attr-defined]  # called while a graph is traced


def blank(model: torch.Tensor, *sizes: Any, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    """What a registered op gives, without numbers in it, on the device of a tensor.

    One made by `beside.new_empty` would be a constant, if `model` is a tensor that the graph itself writes
    down, and its numbers, which are none, be read while the graph is made.
    """
    return torch.empty(sizes, dtype=dtype, device=model.device)


def fake_offsets(model: torch.Tensor, count: Any) -> torch.Tensor:
    """Offsets without numbers in them, as what a registered op gives is told to torch."""
    _leave_untraced()  # whatever makes a TracedLevel comes by here, or has one
    return blank(model, count)


def _run_checked(numbers: Array, name: str, count: int | None, message: str) -> tuple[Array, Array]:
    make = Level.from_lengths if name == "lengths" else Level.from_offsets
    level = level_from(numbers, make, name)
    if count is not None and level.total != count:
        raise value_error(name, f"{message.format(level.total, count)}")
    return level.offsets, np.array(True)


def _fake_checked(numbers: torch.Tensor, name: str, *_: Any) -> tuple[torch.Tensor, torch.Tensor]:
    offsets = fake_offsets(numbers, numbers.shape[0] + (name == "lengths"))
    return offsets, blank(numbers, dtype=torch.bool)


_check_op: AutogradOp = AutogradOp(
    "checked_offsets(Tensor given, str name, SymInt? count, str said) -> (Tensor, Tensor)",
    _run_checked,
    _fake_checked,
)
_same_op: AutogradOp = AutogradOp(
    "same_offsets(Tensor a, Tensor b, SymInt level) -> Tensor",
    lambda a, b, level: _run_same(level_of(a), level_of(b), level),
    lambda a, b, level: blank(a, dtype=torch.bool),
)


def _run_same(a: Level, b: Level, level: int) -> Array:
    if a != b:
        raise value_error("", f"the containers nest differently: {describe_difference((a,), (b,), level)}")
    return np.array(True)


def _read(tensor: torch.Tensor, name: str) -> Any:
    """The numbers of a tensor that somebody follows, for a level of them, or a level of the graph."""
    return tracing.level_of(tensor, name) if is_traced(tensor) and name in _OF_GRAPHS else numbers_of(tensor)


_OF_GRAPHS = ("lengths", "offsets")  # what levels of a graph are made of


_longest: AutogradOp = AutogradOp(
    "longest(Tensor offsets) -> Tensor",
    lambda offsets: np.array(level_of(offsets).longest),
    lambda offsets: blank(offsets),
)


def _run_positions(offsets: Array, total: int) -> Array:
    positions: Array = level_of(offsets).positions.copy()
    return positions


_positions: AutogradOp = AutogradOp(
    "positions(Tensor offsets, SymInt total) -> Tensor",
    _run_positions,
    lambda offsets, total: blank(offsets, total),
)


arange = torch.arange


def last_of_units(lengths: torch.Tensor, units: torch.Tensor, count: Any) -> torch.Tensor:
    """The length that the units of each of `count` sequences have, which is one; 0 where there is no unit."""
    return lengths.new_zeros(count).scatter_reduce(0, units, lengths, "amax")


def as_index(indices: Any) -> torch.Tensor:
    """Numbers of sequences, one row of them; those below 0 are refused when the graph runs."""
    index = as_tensor(indices)
    if index.dtype == torch.bool or index.is_floating_point() or index.is_complex():
        raise dtype_error("indices", "integers", index.dtype)
    if index.ndim != 1:
        raise value_error("indices", f"in a graph expected one row of integers, got {index.ndim} axes")
    torch._assert_async((index >= 0).all(), "indices: one is negative")
    return index


def as_key(key: Any) -> torch.Tensor:
    """A list, an array or a tensor of integers or bools that picks sequences."""
    index = as_tensor(key)
    if index.is_floating_point() or index.is_complex() or index.ndim != 1:
        got = f"{index.ndim} axes of {index.dtype}"
        raise index_error("index", f"expected one row of integers or bools, got {got}")
    return index


def int_in(key: Any) -> Any:
    """The integer that an array or a tensor without axes holds, a number of the graph; None for others."""
    index = as_tensor(key)
    others = index.dtype == torch.bool or index.is_floating_point() or index.is_complex()
    return None if index.ndim or others else index.item()


def as_bools(value: Any, argument: str) -> torch.Tensor:
    """Bools as a tensor."""
    mask = as_tensor(value)
    if mask.dtype != torch.bool:
        raise dtype_error(argument, "bools", mask.dtype)
    return mask


def counted_before(marks: torch.Tensor) -> torch.Tensor:
    """How many of bools are True before each place, and in all."""
    return torch.nn.functional.pad(marks.cumsum(0), (1, 0))


def checked_offsets(value: Any, name: str, count: Any, message: str) -> torch.Tensor:
    """Offsets from lengths or offsets of any integer dtype, which an op of the graph checks."""
    numbers = as_tensor(value)
    if not isinstance(value, torch.Tensor) and not len(numbers):
        numbers = numbers.long()
    if numbers.device.type not in ("cpu", "meta"):
        numbers = numbers.cpu()  # levels are of the host
    offsets, fits = _check_op.torch_op(numbers, name, count, message)
    torch._assert_async(fits, name)  # keeps the check in the graph where nothing reads the offsets
    result: torch.Tensor = offsets
    return result


def holds_surely(condition: Any) -> Any:
    """Whether a condition on sizes is sure to hold."""
    from torch.fx.experimental.symbolic_shapes import guard_or_false

    return guard_or_false(condition)


def longest(offsets: torch.Tensor) -> torch.Tensor:
    """The longest sequence, as a tensor of one number."""
    result: torch.Tensor = _longest.torch_op(offsets)
    return result


def positions(level: Any) -> torch.Tensor:
    """The place of each row in its sequence."""
    result: torch.Tensor = _positions.torch_op(tracing.offsets_of(level), level.total)
    return result


def refuse_difference(a: torch.Tensor, b: torch.Tensor, level: int) -> None:
    """An error of the running graph where levels differ."""
    torch._assert_async(_same_op.torch_op(a, b, level), "levels")


def refuse_false(marks: torch.Tensor, text: str) -> None:
    """An error of the running graph where a mark is False."""
    torch._assert_async(marks.all(), text)


def pair_places(level: Any, rows: Any, columns: Any) -> torch.Tensor:
    """The rows that numbers of sequences and numbers inside them name; the graph refuses others."""
    offsets, keys = tracing.offsets_of(level), [as_tensor(rows), as_tensor(columns)]
    for key in keys:
        if key.dtype == torch.bool or key.is_floating_point() or key.is_complex():
            raise index_error("", f"pairs of indices in a graph take integers, got {key.dtype}")
    sequences, ids = torch.broadcast_tensors(*(key.to(offsets.device) for key in keys))
    places = _counted_up(sequences, offsets.shape[0] - 1)
    return offsets[places] + _counted_up(ids, offsets.diff()[places])


def _counted_up(numbers: torch.Tensor, counts: Any) -> torch.Tensor:
    """Numbers below 0 counted from the end."""
    places = torch.where(numbers < 0, numbers + counts, numbers)
    torch._assert_async(((places >= 0) & (places < counts)).all(), "index: one is out of range")
    return places


def write_rows(values: torch.Tensor, where: Any, rows: torch.Tensor, place: torch.Tensor) -> None:
    """Write rows where others stand: as many as those, or what broadcasts against each."""
    if rows.ndim and rows.ndim == place.ndim and not holds_surely(rows.shape[0] == 1):
        torch._check(rows.shape[0] == place.shape[0])
    values[where] = rows


def row_ids(level: Any) -> torch.Tensor:
    """The sequence that each row is in."""
    lengths = tracing.offsets_of(level).diff()
    return torch.repeat_interleave(lengths, output_size=level.total)


def _functions() -> dict[Any, str]:
    """The functions of torch by the names that they have, which a graph does not tell."""
    places = (torch.nn.functional, torch._C.TensorBase, torch.Tensor, torch)
    pairs = [(name, call) for place in places for name, call in vars(place).items()]
    return {call: name for name, call in pairs if callable(call) and not isinstance(call, type)}


_NAMES = _functions()


def name_of(function: Any) -> Any:
    """What a function of torch is called."""
    return _NAMES.get(function) or function.__name__


name_of._dynamo_marked_constant = True  # type: ignore[attr-defined]  # called while a graph is traced


def _kept_offsets(offsets: Array) -> torch.Tensor:
    """What `Level._tensor` keeps, in any mode; the Level cannot be written through it."""
    with torch.inference_mode(False), suspend_modes():
        return torch.from_numpy(offsets.copy())


tracing.is_tracing = _is_dynamo
tracing.is_traced = is_traced
tracing.numbers_of = numbers_of
tracing.tensors = sys.modules[__name__]
_core.register(level_tensor=_kept_offsets, read_tensor=_read)
