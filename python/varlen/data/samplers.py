"""Batch samplers: which rows go together, from their lengths alone. They iterate lists of row numbers, and
fit torch's `DataLoader(batch_sampler=...)`, `Dataset.epoch(batches=...)` and a plain loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from varlen import _core
from varlen.arguments import as_bool, as_int, one_of
from varlen.backends.values import as_ints
from varlen.data.records import RowNumbers

__all__ = ["BatchSampler", "LengthBuckets", "TokenBudget"]

Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]


class HasLengths(Protocol):
    """A dataset, or anything else whose `lengths` are those of its rows."""

    @property
    def lengths(self) -> Any: ...


class BatchSampler:
    """Base class of the samplers: seed and epoch, replicas, and the number of batches.

    The list of batches of an epoch is computed from the seed and the epoch, the same in every process.
    Replica `rank` of `num_replicas` takes every num_replicas-th batch, from number `rank` on. Where the
    number of batches does not divide, the first batches are taken again, so that each replica has as many;
    with `drop_last` the rest is left out.

    The subclasses, `LengthBuckets` and `TokenBudget`, choose which rows go together.

    Parameters
    ----------
    lengths
        (rows,) integers, the length of every row.
    shuffle
        Another order of rows and batches for each seed and epoch.
    seed
        int, at least 0.
    drop_last
        Leave out small batches, and those that do not divide among replicas.
    num_replicas, rank
        How many replicas there are, and which this is.

    Examples
    --------
    >>> isinstance(TokenBudget([3, 1, 2], 4), BatchSampler)
    True
    """

    def __init__(
        self,
        lengths: ArrayLike | HasLengths,
        *,
        shuffle: bool,
        seed: int,
        drop_last: bool,
        num_replicas: int,
        rank: int,
    ) -> None:
        self.lengths: Ints = _core.Level.from_lengths(_lengths_of(lengths)).lengths
        num_replicas, rank = as_int(num_replicas, "num_replicas", 1), as_int(rank, "rank")
        if rank >= num_replicas:
            raise ValueError(f"rank: expected 0 to {num_replicas - 1}, got {rank}")
        self.shuffle, self.drop_last = as_bool(shuffle, "shuffle"), as_bool(drop_last, "drop_last")
        self.seed = as_int(seed, "seed", most=None)
        self.num_replicas, self.rank = num_replicas, rank
        self.epoch = 0
        self._epoch_batches: tuple[int, list[Ints]] | None = None

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next iteration: another order, the same on every replica.

        Parameters
        ----------
        epoch
            At least 0.

        Examples
        --------
        >>> sampler = LengthBuckets(range(20), 2)
        >>> first = list(sampler)
        >>> sampler.set_epoch(1)
        >>> list(sampler) == first
        False
        """
        self.epoch = as_int(epoch, "epoch")

    def __len__(self) -> int:
        """Batches of this replica in this epoch."""
        return len(self._batches())

    def __iter__(self) -> Iterator[RowNumbers]:
        epoch = self.epoch
        for batch in self._batches():
            yield self._row_numbers(batch, epoch)

    def padding_share(self) -> float:
        """The share of padded slots of this epoch's batches that hold no data.

        Returns
        -------
        float
            From 0, where nothing is padded, to 1.

        Examples
        --------
        >>> round(LengthBuckets([1, 3, 2, 2], 2, shuffle=False).padding_share(), 3)
        0.2
        """
        slots = values = 0
        for batch in self._batches():
            lengths = self.lengths[batch]
            slots += int(lengths.max(initial=0)) * len(batch)
            values += int(lengths.sum())
        return 1 - values / slots if slots else 0.0

    def _batches(self) -> list[Ints]:
        if self._epoch_batches is None or self._epoch_batches[0] != self.epoch:
            rng = np.random.default_rng([self.seed, self.epoch])
            self._epoch_batches = self.epoch, self._own_share(self._deal(rng))
        return self._epoch_batches[1]

    def _deal(self, rng: np.random.Generator) -> list[Ints]:
        raise NotImplementedError

    def _row_numbers(self, batch: Any, epoch: int) -> RowNumbers:
        """What is yielded for a batch of `_deal`."""
        return RowNumbers(batch.tolist(), epoch)

    def _own_share(self, batches: list[Ints]) -> list[Ints]:
        n, count = self.num_replicas, len(batches)
        own = count // n if self.drop_last else -(-count // n)
        return [batches[(self.rank + k * n) % count] for k in range(own)]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_epoch_batches": None}


def _lengths_of(given: Any) -> Any:
    """Lengths, or those of a dataset, a Ragged or a joint dict."""
    lengths = getattr(given, "lengths", given)
    return as_ints(lengths() if callable(lengths) else lengths)


class LengthBuckets(BatchSampler):
    """Batches of a fixed number of rows of similar length, so that there is little padding.

    Parameters
    ----------
    lengths
        (rows,) integers, the length of every row or any other measure; or a dataset, for its `lengths`.
    batch_size
        Rows of a batch.
    bucket_size
        Rows of a bucket: shuffled rows are cut into buckets, each is sorted by length and cut into batches.
        Larger buckets give less padding and less randomness. 100 batches by default; without `shuffle` all
        rows.
    buckets
        In place of bucket_size: increasing lengths that separate the buckets. Row i is in bucket
        `np.searchsorted(buckets, lengths[i])`: bucket 0 holds lengths up to buckets[0]. Rows of one bucket
        come in random order, and every bucket has a last batch of its own.
    shuffle
        Another order of rows and batches for each seed and epoch.
    seed
        int, at least 0.
    drop_last
        Leave out batches with fewer than batch_size rows, and those that do not divide among replicas.
    num_replicas, rank
        As those of `BatchSampler`: every replica gets as many batches.

    Raises
    ------
    ValueError, TypeError
        Lengths that are negative or not integers, sizes below 1, buckets that do not increase.

    Examples
    --------
    >>> list(LengthBuckets([5, 1, 4, 2], 2, shuffle=False))
    [[1, 3], [2, 0]]
    >>> sampler = LengthBuckets(np.arange(10), 3, seed=1)
    >>> sampler.set_epoch(2)
    >>> sorted(row for batch in sampler for row in batch) == list(range(10))
    True
    """

    def __init__(
        self,
        lengths: ArrayLike | HasLengths,
        batch_size: int,
        *,
        bucket_size: int | None = None,
        buckets: Sequence[int] | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
        num_replicas: int = 1,
        rank: int = 0,
    ) -> None:
        super().__init__(
            lengths, shuffle=shuffle, seed=seed, drop_last=drop_last, num_replicas=num_replicas, rank=rank
        )
        self.batch_size = as_int(batch_size, "batch_size", 1)
        if bucket_size is not None and buckets is not None:
            raise ValueError("buckets: give bucket_size or buckets, not both")
        self.bucket_size = None if bucket_size is None else as_int(bucket_size, "bucket_size", 1)
        self.buckets = None if buckets is None else np.asarray(as_ints(buckets))
        if self.buckets is not None:
            if self.buckets.dtype.kind not in "iuf":
                raise TypeError(f"buckets: expected lengths, got dtype {self.buckets.dtype}")
            if self.buckets.ndim != 1 or not bool((self.buckets[1:] > self.buckets[:-1]).all()):
                raise ValueError("buckets: expected increasing lengths")
            if np.isnan(self.buckets).any():
                raise ValueError("buckets: expected lengths, got nan")

    def _deal(self, rng: np.random.Generator) -> list[Ints]:
        n = len(self.lengths)
        order = rng.permutation(n) if self.shuffle else np.arange(n)
        if self.buckets is not None:
            bucket = np.searchsorted(self.buckets, self.lengths[order])
            key = np.argsort(bucket, kind="stable")
            order, bucket = order[key], bucket[key]
            edges = np.flatnonzero(np.diff(bucket)) + 1
        else:
            size = self.bucket_size or (100 * self.batch_size if self.shuffle else n)
            size = max(min(size, n), 1)
            edges = np.arange(size, n, size)
            bucket = np.arange(n) // size
            order = order[np.lexsort((self.lengths[order], bucket))]
        batches = []
        for part in np.split(order, edges):
            cuts = np.arange(self.batch_size, len(part), self.batch_size)
            batches += [batch for batch in np.split(part, cuts) if len(batch)]
        if self.drop_last:
            batches = [batch for batch in batches if len(batch) == self.batch_size]
        if self.shuffle:
            batches = [batches[i] for i in rng.permutation(len(batches))]
        return batches


class TokenBudget(BatchSampler):
    """Batches of as many rows as fit a number of tokens: many short rows, or few long ones.

    Parameters
    ----------
    lengths
        (rows,) integers, the tokens of every row; or a dataset, for its `lengths`.
    max_tokens
        The most tokens of a batch.
    padded
        Count the tokens of the padded batch, its longest row times its rows. With False, for ragged batches,
        count the sum of the lengths.
    max_len
        The length that rows are cut to, as by `Dataset.batch(max_len=...)`: longer rows count as this.
    max_batch
        The most rows of a batch.
    too_long
        What to do with a row that is over the budget by itself: "raise" a ValueError, put it "alone" into a
        batch, or "skip" it.
    bucket_size
        How many rows are sorted by length together, as in `LengthBuckets`. By default all rows without
        `shuffle`, and 100 times the rows of a mean batch with it; 1 keeps the order of the rows.
    shuffle, seed, num_replicas, rank
        As those of `LengthBuckets`.
    drop_last
        Leave out the batches that do not divide among replicas. No batch is left out for being small.

    Raises
    ------
    ValueError, TypeError
        Lengths that are negative or not integers, sizes below 1, a row over max_tokens where too_long is
        "raise".

    Examples
    --------
    >>> list(TokenBudget([2, 9, 3, 4], 10, shuffle=False))
    [[0, 2], [3], [1]]
    >>> list(TokenBudget([2, 9, 3, 4], 10, shuffle=False, padded=False))
    [[0, 2, 3], [1]]
    >>> TokenBudget([2, 90], 10)
    Traceback (most recent call last):
    ValueError: lengths: row 1 has 90 tokens, over max_tokens=10; give max_len, or too_long='alone' or 'skip'
    """

    def __init__(
        self,
        lengths: ArrayLike | HasLengths,
        max_tokens: int,
        *,
        padded: bool = True,
        max_len: int | None = None,
        max_batch: int | None = None,
        too_long: Literal["raise", "alone", "skip"] = "raise",
        bucket_size: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
        num_replicas: int = 1,
        rank: int = 0,
    ) -> None:
        super().__init__(
            lengths, shuffle=shuffle, seed=seed, drop_last=drop_last, num_replicas=num_replicas, rank=rank
        )
        self.max_tokens = as_int(max_tokens, "max_tokens", 1)
        self.max_batch = None if max_batch is None else as_int(max_batch, "max_batch", 1)
        self.bucket_size = None if bucket_size is None else as_int(bucket_size, "bucket_size", 1)
        self.padded = as_bool(padded, "padded")
        one_of(too_long, "too_long", ("raise", "alone", "skip"))
        if max_len is not None:
            self.lengths = np.minimum(self.lengths, as_int(max_len, "max_len", 1))
        is_over = self.lengths > self.max_tokens
        if too_long == "raise" and is_over.any():
            row = int(np.argmax(is_over))
            raise ValueError(
                f"lengths: row {row} has {self.lengths[row]} tokens, over max_tokens={max_tokens}; "
                "give max_len, or too_long='alone' or 'skip'"
            )
        self._rows: Ints = np.flatnonzero(~is_over) if too_long == "skip" else np.arange(len(self.lengths))

    def _deal(self, rng: np.random.Generator) -> list[Ints]:
        rows = rng.permutation(self._rows) if self.shuffle else self._rows
        n = len(rows)
        size = self.bucket_size
        if size is None:
            mean = max(float(self.lengths[rows].mean()), 1.0) if n else 1.0
            size = min(max(int(100 * self.max_tokens / mean), 1), n) if self.shuffle else n
            size = max(size, 1)
        order = rows[np.lexsort((self.lengths[rows], np.arange(n) // size))]
        most = self.max_batch or max(n, 1)
        ends = _core.token_budget(self.lengths[order], self.max_tokens, most, self.padded)
        batches = [batch for batch in np.split(order, ends[:-1]) if len(batch)]
        if self.shuffle:
            batches = [batches[i] for i in rng.permutation(len(batches))]
        return batches
