"""What joining, picking and counting give, of nested lists, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, TypeVar

Nested = list[Any]
T = TypeVar("T")


def concatenate(parts: Sequence[Nested], axis: int) -> Nested:
    """Nested lists joined along an axis.

    Parameters
    ----------
    parts
        Nested lists; equally many items in each on the axes above `axis`.
    axis
        The axis that grows, 0 for the outermost.

    Returns
    -------
    A nested list as deep as each part.

    Examples
    --------
    >>> concatenate([[[1], [2]], [[3], []]], 1)
    [[1, 3], [2]]
    """
    if axis == 0:
        return [item for part in parts for item in part]
    return [concatenate(each, axis - 1) for each in zip(*parts, strict=True)]


def stack(parts: Sequence[Nested], axis: int) -> Nested:
    """Nested lists side by side along a new axis.

    Parameters
    ----------
    parts
        As those of `concatenate`.
    axis
        Where the new axis goes, 0 for the outermost.

    Returns
    -------
    A nested list one level deeper than each part.

    Examples
    --------
    >>> stack([[[1], [2]], [[3], []]], 1)
    [[[1], [3]], [[2], []]]
    """
    return list(parts) if axis == 0 else [stack(each, axis - 1) for each in zip(*parts, strict=True)]


def tile(nested: Nested, multiples: Sequence[int]) -> Nested:
    """What lies along each axis, so many times.

    Parameters
    ----------
    nested
        A nested list.
    multiples
        How often, for one axis or more from the outermost on.

    Returns
    -------
    A nested list of the same depth.

    Examples
    --------
    >>> tile([[1], [2, 3]], [1, 2])
    [[1, 1], [2, 3, 2, 3]]
    """
    items = [tile(item, multiples[1:]) for item in nested] if multiples[1:] else nested
    return items * multiples[0]


def gather(nested: Nested, indices: Any, axis: int, batch_dims: int) -> object:
    """Items by their numbers.

    Parameters
    ----------
    nested
        A nested list.
    indices
        An int, or nested lists of ints, that count from 0.
    axis
        The axis that the ints count along.
    batch_dims
        How many outer axes `nested` and `indices` have in common.

    Returns
    -------
    A nested list: the axes above `axis`, those of `indices`, those below `axis`; where an int leaves no axis,
    the item.

    Examples
    --------
    >>> gather([[5, 6], [7]], [[1, 0], [0]], 1, 1)
    [[6, 5], [7]]
    """
    if batch_dims:
        pairs = zip(nested, indices, strict=True)
        return [gather(item, ids, axis - 1, batch_dims - 1) for item, ids in pairs]
    if axis:
        return [gather(item, indices, axis - 1, 0) for item in nested]
    return [gather(nested, i, 0, 0) for i in indices] if isinstance(indices, list) else nested[indices]


def boolean_mask(nested: Nested, mask: Nested, axes: int) -> Nested:
    """What a mask of so many axes is true for.

    Parameters
    ----------
    nested
        A nested list.
    mask
        Bools in lists of the same lengths.
    axes
        How deep the mask is.

    Returns
    -------
    A nested list; lists that lost all items stay.

    Examples
    --------
    >>> boolean_mask([[1, 2], [3]], [[True, False], [True]], 2)
    [[1], [3]]
    """
    pairs = zip(nested, mask, strict=True)
    if axes > 1:
        return [boolean_mask(item, there, axes - 1) for item, there in pairs]
    return [item for item, there in pairs if there]


def cross(parts: Sequence[Nested]) -> list[Nested]:
    """Every item of a sequence with every item of the others of its number: one nested list for each part.

    Parameters
    ----------
    parts
        Lists of equally many sequences.

    Returns
    -------
    One list of sequences for each part: sequence i is as long as the product of the i-th lengths.

    Examples
    --------
    >>> cross([[[1, 2]], [[3]]])
    [[[1, 2]], [[3, 3]]]
    """
    rows = [list(product(*each)) for each in zip(*parts, strict=True)]
    return [[[row[p] for row in sequence] for sequence in rows] for p in range(len(parts))]


def each(nested: Nested, level: int, make: Callable[[Nested], T]) -> T | list[Any]:
    """What `make` gives for each list at a depth.

    Parameters
    ----------
    nested
        A nested list.
    level
        How deep the lists are, 0 for the outermost.
    make
        From one such list to what stands in its place.

    Returns
    -------
    The lists above, with what was made in them.

    Examples
    --------
    >>> each([[1, 2], [3]], 1, sum)
    [3, 3]
    """
    return [each(item, level - 1, make) for item in nested] if level else make(nested)
