"""Levels in a graph of torch.compile: registered ops that make, check and pick offsets, which are tensors."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import _core, tracing
from varlen._core import Level, RaggedBase
from varlen.backends.torch.autograd import AutogradOp, level_of
from varlen.backends.torch.memory import tensor_of
from varlen.tracing import TracedLevel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


@functools.cache
def _leave_untraced() -> None:
    """Let torch run `TracedLevel._make`, which comes behind a graph, and not compile it on its own."""
    from torch._dynamo.eval_frame import skip_code

    skip_code(TracedLevel._make.__code__)


def _fake_offsets(given: torch.Tensor, count: Any) -> torch.Tensor:
    _leave_untraced()  # whatever makes a TracedLevel comes by here, or has one
    return given.new_empty((count,), dtype=torch.int64)


_from_lengths: AutogradOp = AutogradOp(
    "offsets_from_lengths(Tensor lengths) -> Tensor",
    lambda lengths: Level.from_lengths(lengths).offsets,
    lambda lengths: _fake_offsets(lengths, lengths.shape[0] + 1),
)
_from_offsets: AutogradOp = AutogradOp(
    "offsets_from_offsets(Tensor offsets) -> Tensor",
    lambda offsets: Level.from_offsets(offsets).offsets,
    lambda offsets: _fake_offsets(offsets, offsets.shape[0]),
)
_from_mask: AutogradOp = AutogradOp(
    "offsets_from_mask(Tensor mask, str side) -> Tensor",
    lambda mask, side: _core.mask_to_level(mask, side).offsets,
    lambda mask, side: _fake_offsets(mask, mask.shape[0] + 1),
)
_longest: AutogradOp = AutogradOp(
    "longest(Tensor offsets) -> Tensor",
    lambda offsets: np.array(level_of(offsets).longest),
    lambda offsets: offsets.new_empty((), dtype=torch.int64),
)


def _run_positions(offsets: Array, total: int) -> Array:
    positions: Array = level_of(offsets).positions.copy()
    return positions


_positions: AutogradOp = AutogradOp(
    "positions(Tensor offsets, SymInt total) -> Tensor",
    _run_positions,
    lambda offsets, total: offsets.new_empty((total,), dtype=torch.int64),
)


def _numbers(*offsets: torch.Tensor) -> tuple[Array, tuple[Level, ...]]:
    """A number for each row, which a verb of the core moves, and the levels above them."""
    levels = tuple(level_of(each.numpy()) for each in offsets)
    return np.arange(levels[-1].total), levels


def _picked(rows: Array, levels: tuple[Level, ...]) -> tuple[torch.Tensor, list[torch.Tensor]]:
    return tensor_of(rows), [tensor_of(level.offsets) for level in levels]


torch.library.define("varlen::gather_places", "(Tensor[] offsets, Tensor index) -> (Tensor, Tensor[])")


@torch.library.impl("varlen::gather_places", "CPU")  # type: ignore[untyped-decorator]
def _gather_places(
    offsets: list[torch.Tensor], index: torch.Tensor
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    rows, levels = _numbers(*offsets)
    return _picked(*_core.gather(rows, levels, index.numpy()))


@torch.library.register_fake("varlen::gather_places")  # type: ignore[untyped-decorator]
def _fake_gather_places(
    offsets: list[torch.Tensor], index: torch.Tensor
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    context = torch.library.get_ctx()
    below = [each.new_empty((context.new_dynamic_size() + 1,)) for each in offsets[1:]]
    rows = index.new_empty((context.new_dynamic_size(),), dtype=torch.int64)
    return rows, [_fake_offsets(index, index.shape[0] + 1), *below]


def gather(x: torch.Tensor, levels: Any, index: Any) -> tuple[torch.Tensor, Any]:
    """The sequences of a slice, a mask or integers, in a graph: copies, where a view would be none.

    Examples
    --------
    >>> x, level = torch.tensor([3, 1, 4]), TracedLevel(torch.tensor([0, 2, 3]), 3)
    >>> gather(x, (level,), slice(1, None))[0]
    tensor([4])
    """
    if isinstance(index, slice):
        index = torch.arange(tracing.count_of(levels[0]))[index]
    index = torch.as_tensor(index)
    if index.dtype == torch.bool:
        index = index.nonzero().reshape(-1)
    offsets = [tracing.offsets_of(level) for level in levels]
    rows, picked = torch.ops.varlen.gather_places(offsets, index)
    return x.index_select(0, rows), _nested(picked, rows.shape[0])


def as_index(indices: Any) -> torch.Tensor:
    """Numbers of sequences, one row of them; those below 0 are refused when the graph runs.

    Raises
    ------
    TypeError
        They are no integers.
    ValueError
        They are a Ragged, or have more axes than one.

    Examples
    --------
    >>> as_index([1, 0])
    tensor([1, 0])
    """
    if isinstance(indices, RaggedBase):
        raise ValueError("indices: in a graph expected one row of integers, got a Ragged")
    index = torch.as_tensor(indices)
    if index.dtype == torch.bool or index.is_floating_point() or index.is_complex():
        raise TypeError(f"indices: expected integers, got {index.dtype}")
    if index.ndim != 1:
        raise ValueError(f"indices: in a graph expected one row of integers, got {index.ndim} axes")
    torch._assert_async((index >= 0).all(), "indices: one is negative")
    return index


def _nested(offsets: list[torch.Tensor], rows: Any) -> tuple[TracedLevel, ...]:
    """Levels over so many rows, from offsets that the core made."""
    counts = [each.shape[0] - 1 for each in offsets[1:]]
    return tuple(TracedLevel(each, count) for each, count in zip(offsets, [*counts, rows], strict=True))


def lengths_to_offsets(lengths: Any) -> torch.Tensor:
    """Offsets from lengths, which are checked when the graph runs.

    Examples
    --------
    >>> lengths_to_offsets([2, 1])
    tensor([0, 2, 3])
    """
    result: torch.Tensor = _from_lengths.registered(torch.as_tensor(lengths))
    return result


def as_offsets(offsets: Any) -> torch.Tensor:
    """Offsets of any integer dtype as int64, checked when the graph runs.

    Examples
    --------
    >>> as_offsets(torch.tensor([0, 2, 3], dtype=torch.int32))
    tensor([0, 2, 3])
    """
    result: torch.Tensor = _from_offsets.registered(torch.as_tensor(offsets))
    return result


def mask_to_level(mask: Any, side: str) -> TracedLevel:
    """The level that a mask of a padded block shows.

    Examples
    --------
    >>> mask_to_level(torch.tensor([[True, False], [True, True]]), "right").offsets
    tensor([0, 1, 3])
    """
    return TracedLevel(_from_mask.registered(torch.as_tensor(mask), side), None)


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


def mask(
    level: Any, max_len: int | None, padding_side: str, width: int | None, multiple: int
) -> torch.Tensor:
    """True where a rectangle of the sequences holds data.

    Examples
    --------
    >>> mask(TracedLevel(torch.tensor([0, 1, 3]), 3), None, "right", None, 1)
    tensor([[ True, False],
            [ True,  True]])
    """
    lengths = tracing.offsets_of(level).diff()[:, None]
    if max_len is not None:
        lengths = lengths.clamp(max=max_len)
    if width is None:
        columns = longest_width(level, max_len, multiple)
    else:
        columns = width
        torch._assert_async((lengths <= width).all(), f"lengths: a sequence has rows over width={width}")
    places = torch.arange(columns)
    return places < lengths if padding_side == "right" else places >= columns - lengths


def longest_width(level: Any, most: int | None, multiple: int) -> Any:
    """How many slots the sequences of a level get, at most `most` and rounded up, in a graph.

    Examples
    --------
    >>> longest_width(TracedLevel(torch.tensor([0, 1, 3]), 3), None, 4)
    4
    """
    if type(level) is Level:
        width = level.longest if most is None else min(level.longest, most)
        return -(-width // multiple) * multiple
    widest: Any = longest(level.offsets)
    if most is not None:
        widest = widest.clamp(max=most)
    return (-(-widest // multiple) * multiple).item()


def refuse_difference(a: torch.Tensor, b: torch.Tensor) -> None:
    """An error of the running graph where levels differ.

    Raises
    ------
    RuntimeError
        They differ.

    Examples
    --------
    >>> refuse_difference(torch.tensor([0, 2]), torch.tensor([0, 2]))
    """
    torch._assert_async((a == b).all(), "the containers nest differently")


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


NAMES = _functions()


def _kept(offsets: Array) -> torch.Tensor:
    """What `Level._tensor` keeps; the Level itself cannot be written through it."""
    return torch.from_numpy(offsets.copy())


tracing.is_tracing = torch.compiler.is_dynamo_compiling
tracing.tensors = sys.modules[__name__]
_core.make_tensors_by(_kept)
