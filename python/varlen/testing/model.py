"""A plain model of Data: a dict with a number for each valid position of its dims, without padding.

A position is a dict from dims to ints. All axes are alike: an axis has a length at each position of the axes
that it depends on. A static or scalar axis depends on none. The order of axes only matters for lists and
flattening.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from varlen._core import Dim
from varlen.dims import LengthMismatchError, batch_dim

At = Mapping[Dim, int]


class Axis(NamedTuple):
    """A dim with its lengths. Axes of one dim may have different lengths, as in two batches.

    Parameters
    ----------
    dim
        The identity of the axis. Lengths that the dim is bound to are not read.
    over
        The dims that the length depends on.
    length
        Returns the length at a position of these dims, which may include other dims.

    Examples
    --------
    >>> Axis.from_dim(vl.Dim("time", lengths=[3, 1, 0])).length({batch_dim: 1})
    1
    """

    dim: Dim
    over: frozenset[Dim]
    length: Callable[[At], int]

    @staticmethod
    def from_dim(dim: Dim | Axis) -> Axis:
        """Make the axis of a dim; its length is the longest if a position is incomplete.

        Parameters
        ----------
        dim
            A dim with lengths; an axis is returned unchanged.

        Returns
        -------
        Axis
            The axis, with the lengths of the dim.

        Examples
        --------
        >>> Axis.from_dim(vl.Dim("time", lengths=[3, 1, 0])).length({})
        3
        """
        if isinstance(dim, Axis):
            return dim
        if dim.size is not None:
            return Axis.fixed(dim, dim.size)
        lengths = np.ravel(np.asarray(dim.lengths)).tolist()
        axes = [Axis.from_dim(item) for item in dim.over]
        places = [tuple(at[item] for item in dim.over) for at in walk(axes)]
        lengths = dict(zip(places, np.ravel(np.asarray(dim.lengths)).tolist(), strict=True))
        return Axis.derived(dim, axes, lambda at: lengths.get(tuple(at[item] for item in dim.over), 0))

    @staticmethod
    def derived(dim: Dim, over: Iterable[Axis], length: Callable[[At], int]) -> Axis:
        """Make an axis whose lengths depend on others; the longest if a position is incomplete.

        Parameters
        ----------
        dim
            The identity of the axis.
        over
            The axes that the length depends on.
        length
            Returns the length at a position of all these axes.

        Returns
        -------
        Axis
            The new axis.

        Examples
        --------
        >>> batch = Axis.fixed(batch_dim, 3)
        >>> time = Axis.derived(vl.Dim("time"), [batch], lambda at: [3, 1, 0][at[batch_dim]])
        >>> time.length({batch_dim: 1}), time.length({})
        (1, 3)
        """
        over = list(over)

        def longest(at: At) -> int:
            missing = [axis for axis in over if axis.dim not in at]
            return max((length(item) for item in walk(missing, at)), default=0)

        return Axis(dim, frozenset(axis.dim for axis in over), longest)

    @staticmethod
    def fixed(dim: Dim, length: int) -> Axis:
        """Make an axis of one length.

        Parameters
        ----------
        dim
            The identity of the axis.
        length
            The length.

        Returns
        -------
        Axis
            The new axis, which depends on no other.

        Examples
        --------
        >>> Axis.fixed(vl.Dim("beam"), 4).length({})
        4
        """
        return Axis(dim, frozenset(), lambda _: length)


def walk(axes: Iterable[Axis], at: At | None = None) -> list[dict[Dim, int]]:
    """List all valid positions, in row-major order of the given axes.

    Parameters
    ----------
    axes
        The axes in any order; an axis may come before those that it depends on.
    at
        A given position of other dims.

    Returns
    -------
    list of dict
        The positions, each with `at` in it.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> [tuple(at.values()) for at in walk([Axis.from_dim(time.over[0]), Axis.from_dim(time)])]
    [(0, 0), (0, 1), (1, 0)]
    """
    axes = list(axes)
    places, queue = [dict(at or {})], {axis.dim: axis for axis in axes}
    if len(queue) < len(axes):
        raise ValueError("a dim stands twice")
    while queue:
        axis = next(a for a in queue.values() if not (a.over & queue.keys()) - {a.dim})
        del queue[axis.dim]
        places = [{**item, axis.dim: i} for item in places for i in range(axis.length(item))]
    return sorted(places, key=lambda item: [item[axis.dim] for axis in axes])


class Model:
    """Axes in an order, and a number for each of their valid positions.

    Parameters
    ----------
    axes
        Dims with lengths, or axes; each dim once.
    table
        A dict from all valid positions, tuples of ints in the order of the axes, to numbers.

    Raises
    ------
    LengthMismatchError
        A valid position has no number, or a number has no valid position.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = Model([*time.over, time], {(0, 0): 7, (0, 1): 8, (1, 0): 9})
    >>> x[{batch_dim: 0, time: 1}], x.to_list()
    (8, [[7, 8], [9]])
    """

    def __init__(self, axes: Iterable[Dim | Axis], table: Mapping[tuple[int, ...], Any]) -> None:
        self.axes = tuple(Axis.from_dim(axis) for axis in axes)
        self.table = dict(table)
        wrong = {tuple(at[d] for d in self.dims) for at in walk(self.axes)} ^ self.table.keys()
        if wrong:
            raise LengthMismatchError(
                f"{min(wrong)} is a number or a valid position of {self.dims}, not both"
            )

    @property
    def dims(self) -> tuple[Dim, ...]:
        """The dims of the axes.

        Returns
        -------
        tuple of Dim
            The dims, in the order of the axes.

        Examples
        --------
        >>> Model.from_rows([[7, 8], [9]]).dims[0] == batch_dim
        True
        """
        return tuple(axis.dim for axis in self.axes)

    def axis(self, dim: Dim) -> Axis:
        """The axis of a dim.

        Parameters
        ----------
        dim
            One of the dims.

        Returns
        -------
        Axis
            The axis, with its lengths in this model.

        Raises
        ------
        ValueError
            The model has no such dim.

        Examples
        --------
        >>> Model.from_rows([[7, 8], [9]]).axis(batch_dim).length({})
        2
        """
        for axis in self.axes:
            if axis.dim == dim:
                return axis
        raise ValueError(f"{dim} is none of {self.dims}")

    def __getitem__(self, at: At) -> Any:
        return self.table[tuple(at[dim] for dim in self.dims)]

    def __contains__(self, at: At) -> bool:
        return all(dim in at for dim in self.dims) and tuple(at[dim] for dim in self.dims) in self.table

    def __repr__(self) -> str:
        return f"Model({self.dims}, {self.to_list()})"

    @staticmethod
    def from_data(data: Any) -> Model:
        """Make the model of a Data from its `dims` and its `to_list()`.

        Parameters
        ----------
        data
            A Data, or a model. A dim may come before one that its lengths depend on.

        Returns
        -------
        Model
            A model of the same positions and numbers.

        Examples
        --------
        >>> x = vl.Data(np.array([7, 8, 9]), [batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> Model.from_data(x.time_major()).table
        {(0, 0): 7, (0, 1): 9, (1, 0): 8}
        """
        if isinstance(data, Model):
            return data
        order = sorted(data.dims, key=lambda dim: len(dim.over))
        return transpose(Model.from_list(order, data.transpose(order).to_list()), data.dims)

    @staticmethod
    def from_list(axes: Iterable[Dim | Axis], nested: Any) -> Model:
        """Make the model of nested lists that hold only valid positions.

        Parameters
        ----------
        axes
            Dims or axes, one for each depth of the lists.
        nested
            Nested lists; a number if there are no axes.

        Returns
        -------
        Model
            A model of all the numbers.

        Raises
        ------
        LengthMismatchError
            A list has more or fewer items than there are positions.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> Model.from_list([time, *time.over], [[7, 9], [8]]).table
        {(0, 0): 7, (0, 1): 9, (1, 0): 8}
        """
        order = [Axis.from_dim(axis) for axis in axes]
        table: dict[tuple[int, ...], Any] = {}

        def read(place: tuple[int, ...], part: Any) -> None:
            if len(place) == len(order):
                table[place] = part
                return
            positions = items(order, place)
            if not isinstance(part, list) or len(part) != len(positions):
                text = f"{len(part)} items" if isinstance(part, list) else "a number"
                raise LengthMismatchError(f"the list at {place} has {text} where there are {len(positions)}")
            for i, item in zip(positions, part, strict=True):
                read((*place, i), item)

        read((), nested)
        return Model(order, table)

    @staticmethod
    def from_rows(rows: Sequence[Sequence[Any]], name: str = "time") -> Model:
        """Make a model of sequences, over the batch and a new dim.

        Parameters
        ----------
        rows
            Lists of numbers.
        name
            The name of the new dim.

        Returns
        -------
        Model
            A model with two axes.

        Examples
        --------
        >>> Model.from_rows([[7, 8], [9]]).table
        {(0, 0): 7, (0, 1): 8, (1, 0): 9}
        """
        lengths = [len(row) for row in rows]
        batch = Axis.fixed(batch_dim, len(rows))
        time = Axis.derived(Dim(name=name), [batch], lambda at: lengths[at[batch_dim]])
        return Model.from_list([batch, time], [list(row) for row in rows])

    def to_list(self) -> list[Any]:
        """The numbers as nested lists in the order of the axes.

        Returns
        -------
        list
            Nested lists; a number if there are no axes.

        Examples
        --------
        >>> transpose(Model.from_rows([[7, 8], [9], []]), [1, 0]).to_list()
        [[7, 9], [8]]
        """

        def write(place: tuple[int, ...]) -> Any:
            if len(place) == len(self.axes):
                return self.table[place]
            return [write((*place, i)) for i in items(self.axes, place)]

        nested: list[Any] = write(())
        return nested


def items(axes: Sequence[Axis], place: tuple[int, ...]) -> list[int]:
    """List the positions on the next axis at one position of the outer axes, as in nested lists.

    If an axis depends on one that comes later, a position counts as soon as any position there allows it.

    Parameters
    ----------
    axes
        All axes.
    place
        The positions on the first axes.

    Returns
    -------
    list of int
        The positions, ascending.

    Examples
    --------
    >>> x = transpose(Model.from_rows([[7, 8], [], [9]]), [1, 0])
    >>> items(x.axes, (0,)), items(x.axes, (1,))
    ([0, 2], [0])
    """
    first = axes[: len(place) + 1]
    dims = [axis.dim for axis in first]
    outer_axes = [*first, *(axis for axis in axes_needed(axes, dims) if axis.dim not in dims)]
    return sorted({at[dims[-1]] for at in walk(outer_axes) if tuple(at[d] for d in dims[:-1]) == place})


def axes_needed(axes: Iterable[Axis], dims: Iterable[Dim]) -> list[Axis]:
    """List the axes of some dims, and of the dims that these depend on.

    Parameters
    ----------
    axes
        All axes.
    dims
        The dims to look up.

    Returns
    -------
    list of Axis
        The axes, in the order of `axes`.

    Examples
    --------
    >>> x = Model.from_rows([[7, 8], [9]])
    >>> [axis.dim.name for axis in axes_needed(x.axes, x.dims[1:])]
    ['batch', 'time']
    """
    by_dim, result, queue = {axis.dim: axis for axis in axes}, set[Dim](), list(dims)
    while queue:
        dim = queue.pop()
        if dim in by_dim and dim not in result:
            result.add(dim)
            queue += by_dim[dim].over
    return [axis for dim, axis in by_dim.items() if dim in result]


def fill(axes: Iterable[Dim | Axis], value: Callable[[At], Any]) -> Model:
    """Make a model by computing a value at each valid position.

    Parameters
    ----------
    axes
        Dims or axes.
    value
        Returns the number at a position.

    Returns
    -------
    Model
        A model over these axes.

    Examples
    --------
    >>> x = Model.from_rows([[7, 8], [9]])
    >>> fill(x.axes, lambda at: 10 * x[at]).to_list()
    [[70, 80], [90]]
    """
    order = [Axis.from_dim(axis) for axis in axes]
    return Model(order, {tuple(at[axis.dim] for axis in order): value(at) for at in walk(order)})


def transpose(x: Model, order: Sequence[int | Dim]) -> Model:
    """Reorder the axes of a model.

    Parameters
    ----------
    x
        A model.
    order
        Dims, or numbers of axes.

    Returns
    -------
    Model
        A model of the same positions.

    Examples
    --------
    >>> transpose(Model.from_rows([[7, 8], [9]]), [1, 0]).table
    {(0, 0): 7, (0, 1): 9, (1, 0): 8}
    """
    axes = [x.axes[item] if isinstance(item, int) else x.axis(item) for item in order]
    if len(axes) != len(x.axes):
        raise ValueError(f"order: {len(axes)} axes where there are {len(x.axes)}")
    return fill(axes, lambda at: x[at])


def take(x: Model, dim: Dim, positions: Sequence[int]) -> Model:
    """Take some positions of a dim, such as one row of the batch; axes that depend on it follow.

    Parameters
    ----------
    x
        A model.
    dim
        One of its dims, which keeps its identity.
    positions
        The positions to keep; if the dim depends on others, they must be valid everywhere.

    Returns
    -------
    Model
        A model over the same dims.

    Examples
    --------
    >>> take(Model.from_rows([[7, 8], [9]]), batch_dim, [1]).to_list()
    [[9]]
    """
    axes = {axis.dim: axis for axis in x.axes} | {dim: Axis.fixed(dim, len(positions))}
    for axis in sorted(x.axes, key=lambda axis: len(axis.over)):
        if dim in axis.over:
            outer_axes = [axes[item] for item in axis.over if item in axes]
            axes[axis.dim] = Axis.derived(axis.dim, outer_axes, _length_back(axis, dim, positions))
    return fill(axes.values(), lambda at: x[_source_place(at, dim, positions)])


def _source_place(at: At, dim: Dim, positions: Sequence[int]) -> At:
    return {**at, dim: positions[at[dim]]}


def _length_back(axis: Axis, dim: Dim, positions: Sequence[int]) -> Callable[[At], int]:
    return lambda at: axis.length(_source_place(at, dim, positions))


def describe(at: At) -> str:
    """Format a position for people.

    Parameters
    ----------
    at
        A position.

    Returns
    -------
    str
        The name of each dim with its number.

    Examples
    --------
    >>> describe({batch_dim: 1, vl.Dim("time"): 0})
    'batch 1, time 0'
    """
    return ", ".join(f"{dim.name} {i}" for dim, i in at.items()) or "all positions"


def differences(found: Model, expected: Model, *, tolerance: float = 0.0, ordered: bool = True) -> str | None:
    """Describe the first difference of two models in dims, lengths or numbers. NaN equals NaN.

    Parameters
    ----------
    found, expected
        Two models.
    tolerance
        The relative and absolute tolerance of numbers.
    ordered
        If False, the order of the axes does not matter.

    Returns
    -------
    str or None
        The first difference, or None.

    Examples
    --------
    >>> x = Model.from_rows([[7, 8], [9]])
    >>> differences(fill(x.axes, lambda at: x[at] + at[batch_dim]), x)
    '10 where 9 is expected, at batch 1, time 0'
    """
    if not ordered and set(found.dims) == set(expected.dims):
        return differences(transpose(found, expected.dims), expected, tolerance=tolerance)
    if found.dims != expected.dims:
        return f"dims {found.dims} where {expected.dims} are expected"
    for a, b in zip(found.axes, expected.axes, strict=True):
        context = axes_needed(expected.axes, (a.over | b.over) - {a.dim})
        for at in walk(context):
            if a.length(at) != b.length(at):
                found_length, place = a.length(at), f"{a.dim.name} at {describe(at)}"
                return f"length {found_length} where {b.length(at)} is expected, of {place}"
    for at in walk(expected.axes):
        if not _close(found[at], expected[at], tolerance):
            return f"{found[at]} where {expected[at]} is expected, at {describe(at)}"
    return None


def _close(a: Any, b: Any, tolerance: float) -> bool:
    if a == b or (a != a and b != b):
        return True
    return bool(math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance))
