"""Hypothesis strategies for values over named dims: shapes that break code, in any order of the dims.

They draw no rows, only empty ones, static dims of size 0, two dynamic dims over the batch, and lengths that
depend on another dynamic dim, on a static one, or on nothing. They need hypothesis, from the extra `test`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from varlen._core import Dim, Shape
from varlen.dims import Data, batch_dim
from varlen.testing.model import Axis, Model, fill, take, transpose, walk

# Hypothesis reads the source of a function each time that it makes a strategy of it.
_composite = cache(st.composite)

SHAPES = [
    "B",
    "BT",
    "BTF",
    "BTS",
    "BTSF",
    "BHTF",
    "BTU",
    "BTUF",
    "BHV",
    "BZ",
    "BTZ",
    "BHTS",
    "BF",
    "F",
    "ZF",
    "",
]
"""The dims that are drawn together, by their letters.

B is the batch; F and H are static; T and S are dynamic over B, U over B and T, V over B and H, Z over
nothing.
"""

IDENTITIES: dict[str, Dim] = {
    "B": batch_dim,
    "T": Dim(name="time", kind="spatial"),
    "S": Dim(name="source", kind="spatial"),
    "U": Dim(name="unit", kind="spatial"),
    "V": Dim(name="voice", kind="spatial"),
    "Z": Dim(name="zone", kind="spatial"),
}
"""The dims with lengths, by letter: the same in all draws, with new lengths in each."""

OVER = {"T": "B", "S": "B", "U": "BT", "V": "BH", "Z": "", "B": ""}


@dataclass(frozen=True)
class Sample:
    """Values over dims, as nested lists to make a Data from, and as a model.

    Parameters
    ----------
    dims
        Bound dims, in the order of the lists.
    nested
        Nested lists; a number if there are no dims.
    model
        The same values as a model.

    Examples
    --------
    >>> time = Dim("time", lengths=[2, 1])
    >>> sample_of([*time.over, time], [7, 8, 9]).nested
    [[7, 8], [9]]
    """

    dims: tuple[Dim, ...]
    nested: Any
    model: Model

    def letters(self) -> dict[str, Dim]:
        """The bound dims by their letters in `SHAPES`.

        Returns
        -------
        dict
            The dim of each letter; static dims go by their names.

        Examples
        --------
        >>> sample_of([IDENTITIES["B"].bind(2)], [7, 8]).letters()
        {'B': Dim('batch', length 2)}
        """
        names = {dim: letter for letter, dim in IDENTITIES.items()}
        return {names.get(dim, dim.name): dim for dim in self.dims}


def data_of(sample: Sample, dtype: str = "float64") -> Data[Any]:
    """Make the Data of a sample.

    Parameters
    ----------
    sample
        Values over dims.
    dtype
        The dtype of the values.

    Returns
    -------
    Data
        The values over the same dims, in the order of the sample.

    Examples
    --------
    >>> time = Dim("time", lengths=[2, 1])
    >>> data_of(sample_of([time, *time.over], [7, 8, 9]))
    Data([time(1 to 2), batch(2)], float64)
    """
    order = sorted(sample.dims, key=lambda dim: len(dim.over))
    numbers = list(transpose(sample.model, order).table.values())
    return Data(np.array(numbers, dtype).reshape(Shape(order).array_shape), order).transpose(sample.dims)


def sample_of(dims: Sequence[Dim], numbers: Iterable[Any]) -> Sample:
    """Put numbers at the valid positions of dims, in row-major order of these dims.

    Parameters
    ----------
    dims
        Bound dims.
    numbers
        At least as many numbers as there are positions.

    Returns
    -------
    Sample
        A sample over these dims.

    Examples
    --------
    >>> time = Dim("time", lengths=[2, 1])
    >>> sample_of([time, *time.over], [7, 8, 9]).nested
    [[7, 8], [9]]
    """
    source = iter(numbers)
    model = fill(dims, lambda _: next(source))
    return Sample(tuple(dims), model.to_list(), model)


def bound(dim: Dim, lengths: Sequence[int], over: Sequence[Dim]) -> Dim:
    """Bind a dim to lengths, in row-major order of the dims that they depend on.

    Parameters
    ----------
    dim
        The dim to bind.
    lengths
        A length for each position of `over`.
    over
        The bound dims that the lengths depend on.

    Returns
    -------
    Dim
        The same dim, bound.

    Examples
    --------
    >>> heads = Dim(2, name="heads")
    >>> bound(IDENTITIES["V"], [1, 2, 3, 0], [batch_dim.bind(2), heads]).lengths.tolist()
    [[1, 2], [3, 0]]
    """
    if not over:
        return dim.bind(lengths[0])
    is_rectangle = not any(other.over for other in over)
    shape = [Axis.from_dim(other).length({}) for other in over] if is_rectangle else [len(lengths)]
    return dim.bind(np.array(lengths, np.int64).reshape(shape), over=list(over))


def dims_of(
    letters: str, *, max_rows: int = 3, longest: int = 3, min_size: int = 0
) -> SearchStrategy[tuple[Dim, ...]]:
    """Draw bound dims, in the order of their letters.

    Parameters
    ----------
    letters
        Letters as in `SHAPES`; a dim's letter comes after the letters of dims that it depends on.
    max_rows
        The most rows of the batch.
    longest
        The longest length.
    min_size
        The smallest size of static dims.

    Returns
    -------
    A strategy of tuples of dims.

    Examples
    --------
    >>> dims_of("BTF").validate()
    """
    return _composite(_draw_dims)(letters, max_rows, longest, min_size)


def _draw_dims(draw: DrawFn, letters: str, max_rows: int, longest: int, min_size: int) -> tuple[Dim, ...]:
    dims: dict[str, Dim] = {}
    for letter in letters:
        if letter == "B":
            dims[letter] = batch_dim.bind(draw(_seldom_none(0, max_rows)))
        elif letter in IDENTITIES:
            outer_dims = [dims[other] for other in OVER[letter]]
            count = len(walk([Axis.from_dim(dim) for dim in outer_dims]))
            lists = st.lists(st.integers(0, longest), min_size=count, max_size=count)
            equal = st.integers(0, longest).map(lambda n, count=count: [n] * count)
            dims[letter] = bound(IDENTITIES[letter], draw(lists | lists | equal), outer_dims)
        else:
            dims[letter] = Dim(draw(_seldom_none(min_size, 3)), name=letter, kind="feature")
    return tuple(dims.values())


def _seldom_none(minimum: int, maximum: int) -> SearchStrategy[int]:
    """Evenly drawn, 0 would leave half of the samples without a number."""
    numbers = [n for n in range(1, maximum + 1) if n >= minimum]
    return st.sampled_from([*numbers, *numbers, *numbers, *range(minimum, 1)])


def values(dtype: str = "float64", *, finite: bool = True) -> SearchStrategy[Any]:
    """Draw numbers that a dtype holds exactly.

    Parameters
    ----------
    dtype
        A dtype of bools, integers or floats.
    finite
        If False, floats include NaN and infinities.

    Returns
    -------
    A strategy of bools, ints or floats.

    Examples
    --------
    >>> values("int64").validate()
    """
    if dtype == "bool":
        return st.booleans()
    if "int" in dtype:
        return st.integers(0 if dtype[0] == "u" else -9, 9)
    small = st.integers(-36, 36).map(lambda i: i / 4)
    return small if finite else small | st.sampled_from([float("nan"), float("inf"), float("-inf"), -0.0])


def samples(
    dtype: str = "float64",
    *,
    shapes: Sequence[str] = tuple(SHAPES),
    ordered: bool = False,
    finite: bool = True,
    min_size: int = 0,
) -> SearchStrategy[Sample]:
    """Draw values over any dims, in any order of the dims.

    Parameters
    ----------
    dtype
        As in `values`.
    shapes
        The letters of dims to choose from.
    ordered
        If True, the dims come in the order of the letters.
    finite
        As in `values`.
    min_size
        The smallest size of static dims.

    Returns
    -------
    A strategy of samples.

    Examples
    --------
    >>> samples("int64", shapes=["BT"]).validate()
    """
    return _composite(_draw_sample)(dtype, list(shapes), ordered, finite, min_size)


def _draw_sample(
    draw: DrawFn, dtype: str, shapes: list[str], ordered: bool, finite: bool, min_size: int
) -> Sample:
    dims = draw(dims_of(draw(st.sampled_from(shapes)), min_size=min_size))
    if not ordered:
        dims = tuple(draw(st.permutations(dims)))
    count = len(walk([Axis.from_dim(dim) for dim in dims]))
    return sample_of(dims, draw(st.lists(values(dtype, finite=finite), min_size=count, max_size=count)))


def other_over(
    sample: Sample, letters: str, dtype: str = "float64", *, finite: bool = True
) -> SearchStrategy[Sample]:
    """Draw another operand: values over some of the dims of a sample, in any order.

    The dims keep their lengths. A dim without the dims that it depends on is as long as its longest row.

    Parameters
    ----------
    sample
        The first operand.
    letters
        The letters of dims to draw from, among those of the sample.
    dtype, finite
        As in `values`.

    Returns
    -------
    A strategy of samples.

    Examples
    --------
    >>> other_over(sample_of([IDENTITIES["B"].bind(2)], [7, 8]), "B").validate()
    """
    return _composite(_draw_other)(sample, letters, dtype, finite)


def _draw_other(draw: DrawFn, sample: Sample, letters: str, dtype: str, finite: bool) -> Sample:
    candidates = [dim for letter, dim in sample.letters().items() if letter in letters]
    dim_map: dict[Dim, Dim] = {}
    for dim in sorted((dim for dim in candidates if draw(st.booleans())), key=lambda dim: len(dim.over)):
        missing = [other for other in dim.over if other not in dim_map or dim_map[other].over != other.over]
        if not missing:
            dim_map[dim] = dim
        elif len(missing) == len(dim.over):
            dim_map[dim] = bound(dim, [Axis.from_dim(dim).length({})], [])
    dims = draw(st.permutations(list(dim_map.values())))
    count = len(walk([Axis.from_dim(dim) for dim in dims]))
    return sample_of(dims, draw(st.lists(values(dtype, finite=finite), min_size=count, max_size=count)))


def orders(sample: Sample) -> SearchStrategy[Sample]:
    """Draw another order of the dims, with the same values.

    Parameters
    ----------
    sample
        The sample to permute.

    Returns
    -------
    A strategy of samples.

    Examples
    --------
    >>> orders(sample_of([IDENTITIES["B"].bind(2)], [7, 8])).validate()
    """
    return st.permutations(sample.dims).map(lambda dims: permuted(sample, dims))


def permuted(sample: Sample, dims: Sequence[Dim]) -> Sample:
    """Bring the dims into the given order.

    Parameters
    ----------
    sample
        The sample to permute.
    dims
        Its dims, in the new order.

    Returns
    -------
    Sample
        The sample over these dims.

    Examples
    --------
    >>> time = Dim("time", lengths=[2, 1])
    >>> permuted(sample_of([*time.over, time], [7, 8, 9]), [time, *time.over]).nested
    [[7, 9], [8]]
    """
    model = transpose(sample.model, dims)
    return Sample(tuple(dims), model.to_list(), model)


def row_alone(sample: Sample, row: int) -> Sample:
    """Make a batch of one row: the dims stay the same, with the lengths of that row.

    Parameters
    ----------
    sample
        A sample over the batch and other dims.
    row
        The row to take.

    Returns
    -------
    Sample
        A batch of one row.

    Examples
    --------
    >>> time = Dim("time", lengths=[2, 1])
    >>> row_alone(sample_of([*time.over, time], [7, 8, 9]), 1).nested
    [[9]]
    """
    model = take(sample.model, batch_dim, [row])
    dim_map: dict[Dim, Dim] = {}
    for dim in sorted(sample.dims, key=lambda dim: len(dim.over)):
        outer_dims = [dim_map.get(other, other) for other in dim.over]
        if dim == batch_dim:
            dim_map[dim] = dim.bind(1)
        elif batch_dim in outer_dims:
            lengths = [
                model.axis(dim).length(at) for at in walk([Axis.from_dim(other) for other in outer_dims])
            ]
            dim_map[dim] = bound(dim, lengths, outer_dims)
        else:
            dim_map[dim] = dim
    dims = [dim_map[dim] for dim in sample.dims]
    return Sample(tuple(dims), model.to_list(), Model(dims, model.table))
