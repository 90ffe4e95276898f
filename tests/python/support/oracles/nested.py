"""What joining, picking and counting give, of nested lists, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, TypeVar

Nested = list[Any]
T = TypeVar("T")


def concatenate(parts: Sequence[Nested], axis: int) -> Nested:
    """Nested lists joined along an axis.

    >>> concatenate([[[1], [2]], [[3], []]], 1)
    [[1, 3], [2]]
    """
    if axis == 0:
        return [item for part in parts for item in part]
    return [concatenate(each, axis - 1) for each in zip(*parts, strict=True)]


def stack(parts: Sequence[Nested], axis: int) -> Nested:
    """Nested lists side by side along a new axis.

    >>> stack([[[1], [2]], [[3], []]], 1)
    [[[1], [3]], [[2], []]]
    """
    return list(parts) if axis == 0 else [stack(each, axis - 1) for each in zip(*parts, strict=True)]


def tile(nested: Nested, multiples: Sequence[int]) -> Nested:
    """What lies along each axis, so many times.

    >>> tile([[1], [2, 3]], [1, 2])
    [[1, 1], [2, 3, 2, 3]]
    """
    items = [tile(item, multiples[1:]) for item in nested] if multiples[1:] else nested
    return items * multiples[0]


def gather(nested: Nested, indices: Any, axis: int, batch_dims: int) -> object:
    """Items by their numbers.

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

    >>> boolean_mask([[1, 2], [3]], [[True, False], [True]], 2)
    [[1], [3]]
    """
    pairs = zip(nested, mask, strict=True)
    if axes > 1:
        return [boolean_mask(item, there, axes - 1) for item, there in pairs]
    return [item for item, there in pairs if there]


def cross(parts: Sequence[Nested]) -> list[Nested]:
    """Every item of a sequence with every item of the others of its number: one nested list for each part.

    >>> cross([[[1, 2]], [[3]]])
    [[[1, 2]], [[3, 3]]]
    """
    rows = [list(product(*each)) for each in zip(*parts, strict=True)]
    return [[[row[p] for row in sequence] for sequence in rows] for p in range(len(parts))]


def each(nested: Nested, level: int, make: Callable[[Nested], T]) -> T | list[Any]:
    """What `make` gives for each list at a depth.

    >>> each([[1, 2], [3]], 1, sum)
    [3, 3]
    """
    return [each(item, level - 1, make) for item in nested] if level else make(nested)
