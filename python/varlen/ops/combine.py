"""Several containers to one, and one to several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen import tracing
from varlen._core import Level, RaggedBase
from varlen.arguments import as_int, as_list, axis_of, is_listed, scalar_error
from varlen.backends import backend_of
from varlen.backends.values import one_device
from varlen.errors import type_error, value_error
from varlen.levels import describe_difference, each_level, flatten_levels, same_levels
from varlen.ops.dims import expand_dims
from varlen.ops.support.inputs import as_level, regroup, same_kind
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from varlen.backends.values import RaggedT
    from varlen.levels import Levels
    from varlen.types import Ragged


def concatenate(raggeds: Iterable[RaggedT], axis: int = 0) -> RaggedT:
    """Concatenate sequences (axis 0), the contents of each sequence (ragged axes), or rows.

    Parameters
    ----------
    raggeds
        At least one Ragged; all have equally many levels and rows of one shape. Different dtypes are promoted
        as in NumPy.
    axis
        0: n and m sequences make n + m. 1: joins the sequences i of all parts end to end; all parts have the
        same number. A deeper ragged axis: joins the sequences of a deeper level; the levels above must be
        alike. An axis of the rows: puts rows side by side; all levels must be alike, and are shared.

    Returns
    -------
    Ragged
        The parts joined, in the class of the first. The values are a copy. Lengths on a device are joined
        there, and nothing waits for them.

    Raises
    ------
    TypeError
        A part is not a Ragged.
    ValueError
        There is no such axis, there is nothing to concatenate, or levels, rows or numbers of sequences do not
        fit; the message names the part.

    Examples
    --------
    >>> a, b = vl.Ragged([3, 1, 4], [2, 1]), vl.Ragged([1, 5], [0, 2])
    >>> vl.concatenate([a, b]).to_list(), vl.concatenate([a, b], axis=1).to_list()
    ([[3, 1], [4], [], [1, 5]], [[3, 1], [4, 1, 5]])
    >>> deep = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
    >>> vl.concatenate([deep, deep * 10], axis=2).to_list()
    [[[1, 2, 10, 20], [3, 30]], [[4, 40]]]
    """
    parts = parts_of(raggeds, "raggeds")
    dim = axis_of(axis, parts[0].ndim)
    depth = len(parts[0]._levels)
    if dim > depth:
        require_same_nesting(parts, depth, "raggeds")
        side_by_side = _side_by_side([part._values for part in parts], dim - depth)
        return cast("RaggedT", same_kind(parts[0], side_by_side))
    if dim == 0:
        return cast("RaggedT", join_raggeds(parts, "raggeds"))
    require_same_nesting(parts, dim - 1, "raggeds")
    check_rows(parts, "raggeds")
    return cast("RaggedT", interleave(parts, dim - 1, "raggeds"))


def stack(raggeds: Iterable[RaggedT], axis: int = 0) -> RaggedT:
    """Stack along a new axis. At axis 0 each part becomes one sequence of a new outermost level.

    Parameters
    ----------
    raggeds
        At least one Ragged, as for `concatenate`.
    axis
        The position of the new axis in the result. 1: sequence i holds the sequences i of all parts. After
        the ragged axes: rows side by side, of parts that nest alike.

    Returns
    -------
    Ragged
        The parts stacked, in the class of the first, with one axis more. The values are a copy.

    Raises
    ------
    TypeError, ValueError
        As `concatenate`.

    Examples
    --------
    >>> a, b = vl.Ragged([3, 1, 4], [2, 1]), vl.Ragged([1, 5], [1, 1])
    >>> vl.stack([a, b]).to_list(), vl.stack([a, b], axis=1).to_list()
    ([[[3, 1], [4]], [[1], [5]]], [[[3, 1], [1]], [[4], [5]]])
    >>> vl.stack([a, -a], axis=2).to_list()
    [[[3, -3], [1, -1]], [[4, -4]]]
    """
    parts = parts_of(raggeds, "raggeds")
    dim = axis_of(axis, parts[0].ndim + 1)
    return cast("RaggedT", concatenate([expand_dims(part, dim) for part in parts], dim))


@eager_only()
def split(ragged: RaggedT, sizes: int | Sequence[int] | Any, axis: int = 0) -> list[RaggedT]:
    """Split into consecutive pieces: `sizes` sequences in each, or sizes[k] in piece k.

    Parameters
    ----------
    ragged
        A Ragged of any depth; its outermost level is cut.
    sizes
        A number (the last piece may be shorter), or numbers that add up to len(ragged).
    axis
        0 for the sequences. An axis of the rows is split instead: `sizes` are then columns.

    Returns
    -------
    list of Ragged
        The pieces, in the class of `ragged`. They share its values.

    Raises
    ------
    TypeError
        The sizes are not integers, or the axis is ragged.
    ValueError
        A size is below 0 (below 1 for a single number), or the sizes do not add up; there is no such axis.

    Examples
    --------
    >>> [len(piece) for piece in vl.split(vl.Ragged([3, 1, 4], [1, 1, 1]), 2)]
    [2, 1]
    """
    if not hasattr(ragged, "__len__") or not hasattr(ragged, "__getitem__"):
        raise type_error("ragged", f"expected a Ragged, got {type(ragged).__name__}")
    if getattr(ragged, "ndim", 1) == 0:
        raise scalar_error("ragged")
    place = axis_of(axis, getattr(ragged, "ndim", 1))
    n = len(ragged) if place == 0 else getattr(ragged, "shape", ())[place]
    if n is None:
        raise type_error(
            "axis", f"expected 0 or an axis of the rows, got {axis}", "r[:, a:b] slices sequences"
        )
    if isinstance(sizes, str) or not is_listed(sizes):
        cuts = [*range(0, n, as_int(sizes, "sizes", 1)), n] if n else [0]
    else:
        (level,) = each_level([sizes], Level, "sizes")
        if level.total != n:
            things = "sequences" if place == 0 else "columns"
            raise value_error("sizes", f"they add up to {level.total}, but there are {n} {things}")
        cuts = level.offsets.tolist()
    runs = [slice(a, b) for a, b in pairwise(cuts)]
    keys: Any = [(*(slice(None),) * place, run) for run in runs] if place else runs
    return cast("list[RaggedT]", [ragged[key] for key in keys])


def parts_of(value: object, argument: str) -> list[Ragged[Any]]:
    """Raggeds to join: at least one, all with as many levels."""
    if isinstance(value, RaggedBase):
        raise type_error(argument, "expected a list of Ragged, got one Ragged")
    parts = as_list(value, argument, "Ragged")
    if not parts:
        raise value_error(argument, "expected at least one part, got none")
    for p, part in enumerate(parts):
        if not isinstance(part, RaggedBase):
            makes = "; Ragged.from_dense makes one of a rectangle" if getattr(part, "ndim", 0) > 1 else ""
            raise type_error(
                argument, f"part {p}: expected a Ragged, got {type(part).__name__}{makes}", row=p
            )
        if p and type(part._values) is not np.ndarray:
            one_device(part._values, f"{argument}: part {p}", parts[0]._values, "the first")
        if len(part._levels) != len(parts[0]._levels):
            raise value_error(
                argument, f"part {p} has {len(part._levels)} levels, the first has {len(parts[0]._levels)}"
            )
    return parts


def require_same_nesting(parts: list[Ragged[Any]], depth: int, argument: str) -> None:
    """Refuse parts that nest differently from the first in the outermost `depth` levels."""
    first = parts[0]._levels[:depth]
    for p, part in enumerate(parts):
        if not same_levels(part._levels[:depth], first):
            difference = describe_difference(part._levels[:depth], first)
            raise value_error(argument, f"part {p} nests differently from the first: {difference}")


def check_rows(parts: list[Ragged[Any]], argument: str) -> None:
    """Refuse parts with rows of another shape than the first."""
    for p, part in enumerate(parts):
        if part._values.shape[1:] != parts[0]._values.shape[1:]:
            raise value_error(
                argument,
                f"part {p} has rows of shape {tuple(part._values.shape[1:])}, "
                f"the first has {tuple(parts[0]._values.shape[1:])}",
            )


def interleave(parts: list[Ragged[Any]], place: int, argument: str) -> Ragged[Any]:
    """Sequence i of a level of every part, end to end; the parts nest alike above it."""
    first = tracing.count_of(parts[0]._levels[place])
    for p, part in enumerate(parts):
        count = tracing.count_of(part._levels[place])
        if tracing.holds_surely(count != first):
            raise value_error(argument, f"part {p} has {count} sequences, the first has {first}")
    nests = [part._levels[place:] for part in parts]
    rows, inner_levels = _interleave([part._values for part in parts], nests, argument)
    result: Ragged[Any] = regroup(parts[0], rows, (*parts[0]._levels[:place], *inner_levels))
    return result


def _side_by_side(values: list[Any], axis: int) -> Any:
    """Rows joined along one of their axes."""
    shapes = [tuple(x.shape[1:axis]) + tuple(x.shape[axis + 1 :]) for x in values]
    for p, (x, shape) in enumerate(zip(values, shapes, strict=True)):
        if x.ndim != values[0].ndim or shape != shapes[0]:
            raise value_error(
                "raggeds",
                f"part {p} has rows of shape {tuple(x.shape[1:])}, "
                f"the first has {tuple(values[0].shape[1:])}",
            )
    return backend_of(*values).concat(values, axis, "raggeds")


def join_raggeds(parts: list[Ragged[Any]], argument: str) -> Ragged[Any]:
    """The sequences of each part after those of the part before it."""
    check_rows(parts, argument)
    values: list[Any] = [part._values for part in parts]
    backend = backend_of(*values)
    nests = zip(*[part._levels for part in parts], strict=True)
    levels = tuple(map(backend.concat_levels, map(list, nests)))
    result: Ragged[Any] = regroup(parts[0], backend.concat(values, 0, argument), levels)
    return result


def _interleave(values: list[Any], nests: list[Levels], argument: str) -> tuple[Any, Levels]:
    """Sequence i of every part, end to end, and their levels."""
    backend = backend_of(*values)
    rows, level = backend.interleave(values, [flatten_levels(nest) for nest in nests], argument)
    if len(nests[0]) == 1:
        return rows, (level,)
    lengths = [[backend.level_array(level, "lengths", values[0]) for level in nest] for nest in nests]
    result = [as_level(sum(item[0] for item in lengths))]
    for d in range(1, len(nests[0])):
        outer_levels = [flatten_levels(nest[:d]) for nest in nests]
        inner, _ = backend.interleave([item[d] for item in lengths], outer_levels, argument)
        result.append(as_level(inner))
    return rows, tuple(result)
