"""Batches of a batch: sequences of any kind in pieces, shuffled or in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np

from varlen.arguments import as_bool, as_int, check_step, index_array, is_listed, rng_of
from varlen.backends import backend_of
from varlen.errors import value_error
from varlen.tracing import eager_only

T = TypeVar("T")


class SizedGenerator(Generic[T]):
    """A generator with a length, which can be iterated again.

    Parameters
    ----------
    get_items
        A function without arguments, called at the start of each iteration; it returns the items.
    length
        The length.

    Notes
    -----
    As Thinc's `SizedGenerator`.

    Examples
    --------
    >>> batches = vl.ops.SizedGenerator(lambda: iter("ab"), 2)
    >>> len(batches), list(batches), list(batches)
    (2, ['a', 'b'], ['a', 'b'])
    """

    def __init__(self, get_items: Callable[[], Iterable[T]], length: int) -> None:
        self.get_items = get_items
        self.length = as_int(length, "length")

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[T]:
        yield from self.get_items()


@eager_only()
def minibatch(
    size: int | Iterable[int],
    sequence: Any,
    *,
    shuffle: bool = False,
    buffer: int = 1,
    seed: Any = None,
) -> SizedGenerator[Any]:
    """Batches of `size` items; the last batch holds the rest.

    Parameters
    ----------
    size
        The number of items in a batch, or an iterable with a number for each batch, from which only as many
        are drawn as needed.
    sequence
        Ragged, Padded, Pairs, an array, a tensor, a list or a tuple; batches are of the same kind.
    shuffle
        If True, each iteration has a new order. By default items keep their order.
    buffer
        The number of batches to make before the first one is returned.
    seed
        The seed of the order, as in `np.random.default_rng`: the same seed gives the same orders. None gives
        new ones each time.

    Returns
    -------
    SizedGenerator
        Its length is the number of batches.

    Raises
    ------
    ValueError
        The sequence has no length, a size is below 1, or the sizes end before the items do.
    TypeError
        A size is not an integer.

    Notes
    -----
    As Thinc's `Ops.minibatch`, which never ends for sizes of 0, and whose order depends on NumPy's global
    state.

    Examples
    --------
    >>> [batch.to_list() for batch in vl.ops.minibatch(2, vl.Ragged([3, 1, 4, 1], [1, 0, 3]))]
    [[[3], []], [[1, 4, 1]]]
    >>> list(vl.ops.minibatch([1, 3], "a b c d".split()))
    [['a'], ['b', 'c', 'd']]
    """
    cuts = _cuts(size, _count(sequence, "sequence"))
    return _batches(cuts, lambda key: take(sequence, key), shuffle, buffer, seed)


@eager_only()
def multibatch(
    size: int | Iterable[int],
    sequence: Any,
    *others: Any,
    shuffle: bool = False,
    buffer: int = 1,
    seed: Any = None,
) -> SizedGenerator[list[Any]]:
    """Batches of several sequences of equal length, side by side.

    Parameters
    ----------
    size
        The number of items in a batch, or an iterable with a number for each batch, from which only as many
        are drawn as needed.
    sequence, *others
        Ragged, Padded, Pairs, arrays, tensors, lists or tuples, all with as many items.
    shuffle
        If True, each iteration has a new order, the same for all sequences.
    buffer
        The number of batches to make before the first one is returned.
    seed
        The seed of the order, as in `np.random.default_rng`: the same seed gives the same orders. None gives
        new ones each time.

    Returns
    -------
    SizedGenerator
        A generator of lists, each with a batch of every sequence, in its kind. Its length is the number of
        batches.

    Raises
    ------
    ValueError
        Sequences have different lengths or none, a size is below 1, or the sizes end before the items do.
    TypeError
        A size is not an integer.

    Notes
    -----
    As Thinc's `Ops.multibatch`.

    Examples
    --------
    >>> list(vl.ops.multibatch(2, [3, 1, 4], ("a", "b", "c")))
    [[[3, 1], ('a', 'b')], [[4], ('c',)]]
    """
    count = _count(sequence, "sequence")
    for k, other in enumerate(others):
        if (other_count := _count(other, f"others[{k}]")) != count:
            raise value_error(f"others[{k}]", f"has {other_count} items, sequence has {count}")
    parts = (sequence, *others)
    cuts = _cuts(size, count)
    return _batches(cuts, lambda key: [take(one, key) for one in parts], shuffle, buffer, seed)


def _count(sequence: object, argument: str) -> int:
    if not hasattr(sequence, "__len__") or getattr(sequence, "ndim", 1) == 0:
        raise value_error(argument, f"expected a sequence with a length, got {type(sequence).__name__}")
    return len(sequence)


def _cuts(size: object, count: int) -> list[int]:
    """Where batches begin and end: 0 first, `count` last."""
    if isinstance(size, (bool, np.bool_)) or not is_listed(size):
        return [*range(0, count, as_int(size, "size", 1)), count]
    cuts, sizes = [0], iter(size)
    while cuts[-1] < count and (one := next(sizes, None)) is not None:
        cuts.append(min(count, cuts[-1] + as_int(one, f"size[{len(cuts) - 1}]", 1)))
    if cuts[-1] < count:
        raise value_error("size", f"{len(cuts) - 1} sizes add up to {cuts[-1]} items, but there are {count}")
    return cuts


def _batches(
    cuts: list[int], batch: Callable[[Any], T], shuffle: bool, buffer: int, seed: Any
) -> SizedGenerator[T]:
    limit = as_int(buffer, "buffer", 1)
    rng = rng_of(seed, "seed") if as_bool(shuffle, "shuffle") else None

    def items() -> Iterator[T]:
        order = None if rng is None else rng.permutation(cuts[-1])
        batches: list[T] = []
        for begin, end in pairwise(cuts):
            key = slice(begin, end)
            batches.append(batch(key if order is None else order[key]))
            if len(batches) >= limit:
                yield from batches
                batches = []
        yield from batches

    return SizedGenerator(items, len(cuts) - 1)


def take(batch: Any, key: Any) -> Any:
    """What a slice, a mask or integers choose of a batch of any kind; lists and tuples stay what they are."""
    if isinstance(key, slice):
        check_step(key)
        return batch[key]
    index = index_array(key)
    if isinstance(batch, (list, tuple)):
        places = np.arange(len(batch))[index].tolist()
        items = [batch[i] for i in places]
        return items if isinstance(batch, list) else tuple(items)
    return (
        batch[backend_of(batch).like(index, batch)]
        if hasattr(batch, "device") and not hasattr(batch, "_levels")
        else batch[index]
    )
