"""What becomes of the axes of a `Model`: some go, some come together, one is named anew."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from varlen._core import Dim
from varlen.dims import LengthMismatchError
from varlen.testing.model import At, Axis, Model, axes_needed, describe, walk


def to_padded(x: Model, *, fill: Any = 0, side: str = "right") -> list[Any]:
    """The numbers in a rectangle: each axis is as long as at its longest, and the rest is filled.

    >>> x = Model.from_rows([[7, 8], [9]])
    >>> to_padded(x), to_padded(x, side="left", fill=-1)
    ([[7, 8], [9, 0]], [[7, 8], [-1, 9]])
    """
    extents = [axis.length({}) for axis in x.axes]

    def place(at: At) -> tuple[int, ...]:
        shifts = [extent - axis.length(at) for axis, extent in zip(x.axes, extents, strict=True)]
        return tuple(at[dim] + (n if side == "left" else 0) for dim, n in zip(x.dims, shifts, strict=True))

    there = {place(at): x[at] for at in walk(x.axes)}

    def write(where: tuple[int, ...]) -> Any:
        if len(where) == len(extents):
            return there.get(where, fill)
        return [write((*where, i)) for i in range(extents[len(where)])]

    nested: list[Any] = write(())
    return nested


def replace_dim(x: Model, old: Dim, new: Dim) -> Model:
    """The same numbers, one dim under another name.

    >>> x, space = Model.from_rows([[7, 8], [9]]), vl.Dim("space")
    >>> replace_dim(x, x.dims[1], space).dims[1] == space
    True
    """

    def renamed(axis: Axis) -> Axis:
        over = frozenset(new if dim == old else dim for dim in axis.over)
        return Axis(
            new if axis.dim == old else axis.dim,
            over,
            lambda at: axis.length({old if dim == new else dim: i for dim, i in at.items()}),
        )

    x.axis(old)
    return Model([renamed(axis) for axis in x.axes], x.table)


def drop(axes: Iterable[Axis], dims: Iterable[Dim]) -> list[Axis]:
    """The axes that are left when some are gone; what was over those is as long as it was at the most.

    >>> (time,) = drop(Model.from_rows([[7, 8], [9]]).axes, [vl.dims.batch_dim])
    >>> time.length({vl.dims.batch_dim: 1})
    2
    """
    gone = set(dims)

    def kept(axis: Axis) -> Axis:
        return Axis(
            axis.dim, axis.over - gone, lambda at: axis.length({d: i for d, i in at.items() if d not in gone})
        )

    return [kept(axis) if axis.over & gone else axis for axis in axes if axis.dim not in gone]


def union(*groups: Iterable[Axis]) -> list[Axis]:
    """The axes that several models have together: those of the first, then the new ones of each that follows.

    A dim that is over others in one and over none in the other has the lengths that vary; those of the other
    have to reach as far.

    >>> x = Model.from_rows([[7, 8], [9]])
    >>> [axis.dim.name for axis in union(x.axes, [Axis.from_dim(vl.Dim(1, name="beam"))])]
    ['batch', 'time', 'beam']
    """
    found: dict[Dim, Axis] = {}
    axes = [axis for group in groups for axis in group]
    for axis in axes:
        if axis.dim not in found or len(axis.over) > len(found[axis.dim].over):
            found[axis.dim] = axis
    for axis in axes:
        best = found[axis.dim]
        for at in walk(axes_needed(found.values(), best.over), None):
            one, other = axis.length(at), best.length(at)
            if one != other and not (axis.over < best.over and one > other):
                raise LengthMismatchError(
                    f"{axis.dim.name} has length {one} in one, {other} in another, at {describe(at)}"
                )
    return list(found.values())
