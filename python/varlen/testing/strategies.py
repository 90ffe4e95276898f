"""Hypothesis strategies for ragged data: the shapes that break code, drawn often.

They draw no sequences, only empty ones, one giant; width zero; strided, Fortran-ordered, read-only and
big-endian memory; NaN, infinities and the extremes of integers. They need hypothesis, from the extra `test`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from hypothesis.strategies import DrawFn, SearchStrategy

from varlen import Ragged

# Hypothesis reads the source of a function each time that it makes a strategy of it.
_composite = cache(st.composite)

DTYPES = ["bool", "int8", "uint16", "int32", "int64", "uint64", "float16", "float32", "float64"]
DTYPES += ["complex128", "datetime64[ns]", "S3", ">i4", ">f8"]


def lengths(max_rows: int = 8, max_length: int = 6) -> SearchStrategy[list[int]]:
    """Draw lengths of sequences, including none, only zeros and one giant.

    Parameters
    ----------
    max_rows
        The most sequences. A giant has up to four empty ones around it instead.
    max_length
        The longest length; the giant is eight times as long.

    Returns
    -------
    A strategy of lists of ints.

    Examples
    --------
    >>> lengths(max_rows=2).map(len).validate()
    """
    lists = st.lists(st.integers(0, max_length), max_size=max_rows)
    zeros = st.integers(0, max_rows).map(lambda n: [0] * n)
    giant = st.tuples(st.integers(0, 2), st.integers(0, 2)).map(
        lambda at: [0] * at[0] + [8 * max_length] + [0] * at[1]
    )
    return st.one_of(lists, lists, zeros, giant)


def dtypes() -> SearchStrategy[np.dtype]:
    """Draw dtypes of every width and byte order.

    Returns
    -------
    A strategy of the dtypes in `DTYPES`.

    Examples
    --------
    >>> dtypes().validate()
    """
    return st.sampled_from(DTYPES).map(np.dtype)


def rows(
    count: int, dtype: np.dtype | str | None = None, trailing: tuple[int, ...] | None = None
) -> SearchStrategy[np.ndarray]:
    """Draw rows of any dtype, trailing dimensions (including 0) and memory layout.

    Parameters
    ----------
    count
        The number of rows.
    dtype
        The dtype; None draws one of `dtypes`.
    trailing
        The shape of a row; None draws one.

    Returns
    -------
    A strategy of arrays of shape (count, ...).

    Examples
    --------
    >>> rows(3, "int32", ()).validate()
    """
    return _composite(_draw_rows)(count, dtype, trailing)


def _draw_rows(
    draw: DrawFn, count: int, dtype: np.dtype | str | None, trailing: tuple[int, ...] | None
) -> np.ndarray:
    kind = np.dtype(draw(dtypes()) if dtype is None else dtype)
    rest = draw(st.sampled_from([(), (), (), (1,), (3,), (2, 2), (0,)])) if trailing is None else trailing
    array = draw(hnp.arrays(kind, (count, *rest), fill=st.nothing() if count < 20 else None))
    result: np.ndarray = draw(layouts(array))
    return result


def layouts(array: np.ndarray) -> SearchStrategy[np.ndarray]:
    """Draw a memory layout of the values: contiguous, Fortran-ordered, strided, reversed or read-only.

    Parameters
    ----------
    array
        An array with at least one axis; it is copied.

    Returns
    -------
    A strategy of arrays of the same shape, dtype and values.

    Examples
    --------
    >>> layouts(np.arange(3)).validate()
    """

    def with_step(step: int) -> np.ndarray:
        wide = np.zeros((abs(step) * len(array), *array.shape[1:]), array.dtype)[::step]
        wide[...] = array
        return wide

    def read_only() -> np.ndarray:
        copy: np.ndarray = array.copy()
        copy.flags.writeable = False
        return copy

    makers: list[Callable[[], np.ndarray]] = [array.copy, array.copy, read_only]
    makers.append(lambda: np.asfortranarray(array))
    if len(array):
        makers += [lambda: with_step(2), lambda: with_step(-1)]
    return st.sampled_from(makers).map(lambda make: make())


def levels(depth: int = 1, max_rows: int = 6, max_length: int = 5) -> SearchStrategy[list[list[int]]]:
    """Draw lengths of levels that fit each other, outermost first.

    Parameters
    ----------
    depth
        The number of levels.
    max_rows, max_length
        As in `lengths`, for the outermost level; `max_length` also limits the others.

    Returns
    -------
    A strategy of lists of lists of ints.

    Examples
    --------
    >>> levels(2).validate()
    """
    return _composite(_draw_levels)(depth, max_rows, max_length)


def _draw_levels(draw: DrawFn, depth: int, max_rows: int, max_length: int) -> list[list[int]]:
    result = [draw(lengths(max_rows, max_length))]
    for _ in range(1, depth):
        n = sum(result[-1])
        result.append(draw(st.lists(st.integers(0, max_length), min_size=n, max_size=n)))
    return result


def raggeds(
    depth: int | None = None,
    dtype: np.dtype | str | None = None,
    trailing: tuple[int, ...] | None = None,
) -> SearchStrategy[Ragged]:
    """Draw containers of any shape that a Ragged of arrays can have.

    Parameters
    ----------
    depth
        The number of levels; None draws 1 to 3.
    dtype, trailing
        As in `rows`.

    Returns
    -------
    A strategy of `varlen.Ragged`.

    Examples
    --------
    >>> raggeds(depth=1, dtype="int64").validate()
    """
    return _composite(_draw_ragged)(depth, dtype, trailing)


def _draw_ragged(
    draw: DrawFn, depth: int | None, dtype: np.dtype | str | None, trailing: tuple[int, ...] | None
) -> Ragged[Any]:
    nesting = draw(levels(draw(st.integers(1, 3)) if depth is None else depth, max_rows=5, max_length=4))
    values = draw(rows(sum(nesting[-1]), dtype, trailing))
    return Ragged(values, lengths=[np.array(x, np.int64) for x in nesting])


def nested_lists(depth: int = 1, leaves: SearchStrategy[Any] | None = None) -> SearchStrategy[list[Any]]:
    """Draw nested lists of one depth.

    Parameters
    ----------
    depth
        The number of levels of lists below the outermost.
    leaves
        A strategy of their contents; None draws ints from -100 to 100.

    Returns
    -------
    A strategy of lists.

    Examples
    --------
    >>> nested_lists(2).validate()
    """
    return _composite(_draw_lists)(depth, leaves)


def _draw_lists(draw: DrawFn, depth: int, leaves: SearchStrategy[Any] | None) -> list[Any]:
    nesting = draw(levels(depth))
    n = sum(nesting[-1])
    items = st.integers(-100, 100) if leaves is None else leaves
    values: list[Any] = draw(st.lists(items, min_size=n, max_size=n))
    for sizes in reversed(nesting):
        values = [values[begin:end] for begin, end in pairwise(accumulate(sizes, initial=0))]
    return values


def slices(size: int) -> SearchStrategy[slice]:
    """Draw slices that reach beyond both ends, with steps of both signs.

    Parameters
    ----------
    size
        The number of items to choose from.

    Returns
    -------
    A strategy of slices.

    Examples
    --------
    >>> slices(3).validate()
    """
    limits = st.none() | st.integers(-size - 2, size + 2)
    step = st.sampled_from([None, 1, 1, 2, 3, -1, -2])
    return st.builds(slice, limits, limits, step)


def index_for(size: int) -> SearchStrategy[Any]:
    """Draw an index for `r[...]` that selects several sequences.

    It draws slices, masks, and integers of several dtypes, with duplicates and negatives. Masks and integers
    come as lists and as arrays.

    Parameters
    ----------
    size
        The number of sequences to choose from.

    Returns
    -------
    A strategy of slices, lists and arrays.

    Examples
    --------
    >>> index_for(3).validate()
    """
    mask = st.lists(st.booleans(), min_size=size, max_size=size)
    choices: list[SearchStrategy[Any]] = [slices(size), mask.map(np.array).map(lambda m: m.astype(bool))]
    if size:
        choices.append(mask)
        ints = st.lists(st.integers(-size, size - 1), max_size=size + 2)
        kinds = st.sampled_from(["int8", "int32", "int64", ">i4"])
        choices += [ints, st.builds(lambda x, kind: np.array(x, kind), ints, kinds)]
    return st.one_of(choices)


def as_index(index: Any) -> slice | Sequence[Any]:
    """Convert an index of `index_for` to the form that lists take.

    Parameters
    ----------
    index
        An index that `index_for` drew.

    Returns
    -------
    The same slice, or a list.

    Examples
    --------
    >>> as_index(np.array([True, False]))
    [True, False]
    """
    plain: slice | Sequence[Any] = index.tolist() if isinstance(index, np.ndarray) else index
    return plain
