"""What joining, picking and counting give, of nested lists, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

Nested = list[Any]


def concatenate(parts: Sequence[Nested], axis: int) -> Nested:
    """Nested lists joined along an axis.

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

    Examples
    --------
    >>> stack([[[1], [2]], [[3], []]], 1)
    [[[1], [3]], [[2], []]]
    """
    return list(parts) if axis == 0 else [stack(each, axis - 1) for each in zip(*parts, strict=True)]


def tile(nested: Any, multiples: Sequence[int]) -> Nested | Any:
    """What lies along each axis, so many times.

    Examples
    --------
    >>> tile([[1], [2, 3]], [1, 2])
    [[1, 1], [2, 3, 2, 3]]
    """
    return [tile(item, multiples[1:]) for item in nested] * multiples[0] if multiples else nested


def gather(nested: Nested, indices: Any, axis: int, batch_dims: int) -> Nested | Any:
    """Items by their numbers.

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

    Examples
    --------
    >>> cross([[[1, 2]], [[3]]])
    [[[1, 2]], [[3, 3]]]
    """
    rows = [list(product(*each)) for each in zip(*parts, strict=True)]
    return [[[row[p] for row in sequence] for sequence in rows] for p in range(len(parts))]


def each(nested: Nested, level: int, make: Callable[[Nested], Any]) -> Nested | Any:
    """What `make` gives for each list at a depth.

    Examples
    --------
    >>> each([[1, 2], [3]], 1, sum)
    [3, 3]
    """
    return [each(item, level - 1, make) for item in nested] if level else make(nested)
