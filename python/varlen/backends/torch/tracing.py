"""Levels in a graph of torch.compile: registered ops that make, check and pick offsets, which are tensors."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import _core, tracing
from varlen._core import Level
from varlen.backends.torch.autograd import AutogradOp, level_of
from varlen.backends.torch.followers import numbers_of, unfollowed
from varlen.levels import describe_difference, level_from
from varlen.tracing import TracedLevel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


@functools.cache
def _leave_untraced() -> None:
    """Let torch run `TracedLevel._make`, which comes behind a graph, and not compile it on its own."""
    from torch._dynamo.eval_frame import skip_code

    skip_code(TracedLevel._make.__code__)


def blank(beside: torch.Tensor, *sizes: Any, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    """What a registered op gives, without numbers in it, on the device of a tensor.

    One made by `beside.new_empty` would be a constant, if `beside` is a tensor that the graph itself writes
    down, and its numbers, which are none, be read while the graph is made.

    Examples
    --------
    >>> blank(torch.ones(2), 3).shape
    torch.Size([3])
    """
    return torch.empty(sizes, dtype=dtype, device=beside.device)


def fake_offsets(given: torch.Tensor, count: Any) -> torch.Tensor:
    """Offsets without numbers in them, as what a registered op gives is told to torch.

    Examples
    --------
    >>> fake_offsets(torch.ones(2), 3).shape
    torch.Size([3])
    """
    _leave_untraced()  # whatever makes a TracedLevel comes by here, or has one
    return blank(given, count)


def _run_checked(given: Array, name: str, count: int | None, said: str) -> tuple[Array, Array]:
    make = Level.from_lengths if name == "lengths" else Level.from_offsets
    level = level_from(given, make, name)
    if count is not None and level.total != count:
        raise ValueError(f"{name}: {said.format(level.total, count)}")
    return level.offsets, np.array(True)


def _fake_checked(given: torch.Tensor, name: str, *_: Any) -> tuple[torch.Tensor, torch.Tensor]:
    offsets = fake_offsets(given, given.shape[0] + (name == "lengths"))
    return offsets, blank(given, dtype=torch.bool)


_checked: AutogradOp = AutogradOp(
    "checked_offsets(Tensor given, str name, SymInt? count, str said) -> (Tensor, Tensor)",
    _run_checked,
    _fake_checked,
)
_same: AutogradOp = AutogradOp(
    "same_offsets(Tensor a, Tensor b, SymInt level) -> Tensor",
    lambda a, b, level: _run_same(level_of(a), level_of(b), level),
    lambda a, b, level: blank(a, dtype=torch.bool),
)


def _run_same(a: Level, b: Level, level: int) -> Array:
    if a != b:
        raise ValueError(f"the containers nest differently: {describe_difference((a,), (b,), level)}")
    return np.array(True)


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


def as_index(indices: Any) -> torch.Tensor:
    """Numbers of sequences, one row of them; those below 0 are refused when the graph runs.

    Raises
    ------
    TypeError
        They are no integers.
    ValueError
        They have more axes than one.

    Examples
    --------
    >>> as_index([1, 0])
    tensor([1, 0])
    """
    index = torch.as_tensor(indices)
    if index.dtype == torch.bool or index.is_floating_point() or index.is_complex():
        raise TypeError(f"indices: expected integers, got {index.dtype}")
    if index.ndim != 1:
        raise ValueError(f"indices: in a graph expected one row of integers, got {index.ndim} axes")
    torch._assert_async((index >= 0).all(), "indices: one is negative")
    return index


def as_key(key: Any) -> torch.Tensor:
    """A list, an array or a tensor of integers or bools that picks sequences.

    Raises
    ------
    IndexError
        It is something else.

    Examples
    --------
    >>> as_key([True, False])
    tensor([ True, False])
    """
    index = torch.as_tensor(key)
    if index.is_floating_point() or index.is_complex() or index.ndim != 1:
        got = f"{index.ndim} axes of {index.dtype}"
        raise IndexError(f"index: expected one row of integers or bools, got {got}")
    return index


def as_bools(given: Any, argument: str) -> torch.Tensor:
    """Bools as a tensor.

    Raises
    ------
    TypeError
        They are something else.

    Examples
    --------
    >>> as_bools([True], "mask")
    tensor([True])
    """
    mask = torch.as_tensor(given)
    if mask.dtype != torch.bool:
        raise TypeError(f"{argument}: expected bools, got {mask.dtype}")
    return mask


def counted_before(there: torch.Tensor) -> torch.Tensor:
    """How many of bools are True before each place, and in all.

    Examples
    --------
    >>> counted_before(torch.tensor([True, False, True]))
    tensor([0, 1, 1, 2])
    """
    return torch.nn.functional.pad(there.cumsum(0), (1, 0))


def checked_offsets(given: Any, name: str, count: Any, said: str) -> torch.Tensor:
    """Offsets from lengths or offsets of any integer dtype, which an op of the graph checks.

    Examples
    --------
    >>> checked_offsets([2, 1], "lengths", 3, "add up to {}, not {}")
    tensor([0, 2, 3])
    """
    numbers = given if isinstance(given, torch.Tensor) else torch.as_tensor(given)
    if not len(numbers) and not isinstance(given, torch.Tensor):
        numbers = numbers.long()
    offsets, fits = _checked.registered(numbers, name, count, said)
    torch._assert_async(fits, name)  # keeps the check in the graph where nothing reads the offsets
    result: torch.Tensor = offsets
    return result


def known(condition: Any) -> Any:
    """Whether a condition on sizes is sure to hold.

    Examples
    --------
    >>> known(torch.ones(3).shape[0] > 2)
    True
    """
    from torch.fx.experimental.symbolic_shapes import guard_or_false

    return guard_or_false(condition)


def longest(offsets: torch.Tensor) -> torch.Tensor:
    """The longest sequence, as a tensor of one number.

    Examples
    --------
    >>> longest(torch.tensor([0, 2, 3]))
    tensor(2)
    """
    result: torch.Tensor = _longest.registered(offsets)
    return result


def positions(level: Any) -> torch.Tensor:
    """The place of each row in its sequence.

    Examples
    --------
    >>> positions(TracedLevel(torch.tensor([0, 2, 3]), 3))
    tensor([0, 1, 0])
    """
    result: torch.Tensor = _positions.registered(tracing.offsets_of(level), level.total)
    return result


def refuse_difference(a: torch.Tensor, b: torch.Tensor, level: int) -> None:
    """An error of the running graph where levels differ.

    Raises
    ------
    ValueError
        They differ.

    Examples
    --------
    >>> refuse_difference(torch.tensor([0, 2]), torch.tensor([0, 2]), 0)
    """
    torch._assert_async(_same.registered(a, b, level), "levels")


def row_ids(level: Any) -> torch.Tensor:
    """The sequence that each row is in.

    Examples
    --------
    >>> row_ids(TracedLevel(torch.tensor([0, 2, 3]), 3))
    tensor([0, 0, 1])
    """
    lengths = tracing.offsets_of(level).diff()
    return torch.repeat_interleave(lengths, output_size=level.total)


def _functions() -> dict[Any, str]:
    """The functions of torch by the names that they have, which a graph does not tell."""
    places = (torch.nn.functional, torch._C.TensorBase, torch.Tensor, torch)
    named = [(name, given) for place in places for name, given in vars(place).items()]
    return {given: name for name, given in named if callable(given) and not isinstance(given, type)}


_NAMES = _functions()


def name_of(function: Any) -> Any:
    """What a function of torch is called.

    Examples
    --------
    >>> name_of(torch.exp), name_of(torch.Tensor.__rsub__)
    ('exp', '__rsub__')
    """
    return _NAMES.get(function) or function.__name__


name_of._dynamo_marked_constant = True  # type: ignore[attr-defined]  # called while a graph is traced


def _kept(offsets: Array) -> torch.Tensor:
    """What `Level._tensor` keeps, in any mode; the Level cannot be written through it."""
    with torch.inference_mode(False), unfollowed():
        return torch.from_numpy(offsets.copy())


tracing.is_tracing = torch.compiler.is_dynamo_compiling
tracing.numbers_of = numbers_of
tracing.tensors = sys.modules[__name__]
_core.make_tensors_by(_kept)
