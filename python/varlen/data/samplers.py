"""Batch samplers, which group rows by their lengths alone. They iterate over lists of row numbers, and fit
torch's `DataLoader(batch_sampler=...)`, `Dataset.epoch(batches=...)` and a plain loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from varlen import _core
from varlen.arguments import as_array, as_bool, as_int, one_of
from varlen.data.options import check_names
from varlen.data.sampler import HasLengths, Ints, OrderKeywords, Sampler, cut, with_order
from varlen.errors import type_error, value_error

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["BatchSampler", "LengthBuckets", "TokenBudget"]


class BatchSampler(Sampler):
    """Batches of a fixed number of rows, in the order of the rows or in random order.

    Parameters
    ----------
    lengths
        (rows,) integers, the length of every row; or a dataset, for its `lengths`; or the number of rows.
    batch_size
        The rows per batch; the last batch may have fewer, unless `drop_last`.
    shuffle
        Whether each seed and epoch gives another order of the rows.
    seed, drop_last, uneven, num_replicas, rank
        As in `Sampler`: the order, the last step, and the processes that share the rows.

    Raises
    ------
    ValueError, TypeError
        The batch_size is below 1, lengths are negative or not integers, or the rank does not fit.

    Examples
    --------
    >>> list(BatchSampler(5, 2))
    [[0, 1], [2, 3], [4]]
    >>> [list(BatchSampler(5, 2, uneven="empty", num_replicas=2, rank=rank)) for rank in (0, 1)]
    [[[0, 1], [4]], [[2, 3], []]]
    >>> BatchSampler(5, 2)
    BatchSampler(3 batches of 5 rows in epoch 0)
    """

    _OPTIONS = ("batch_size",)

    @with_order
    def __init__(
        self,
        lengths: int | ArrayLike | HasLengths,
        batch_size: int,
        *,
        shuffle: bool = False,
        **order: Unpack[OrderKeywords],
    ) -> None:
        check_names(order, OrderKeywords, type(self).__init__)
        super().__init__(length_of_rows(lengths), shuffle=shuffle, **order)
        self.batch_size = as_int(batch_size, "batch_size", 1)
        self._has_lengths = not is_count(lengths)

    def _deal(self, rng: np.random.Generator) -> list[Ints]:
        n = len(self.lengths)
        return cut(rng.permutation(n) if self.shuffle else np.arange(n), self.batch_size, self.drop_last)


def is_count(lengths: object) -> bool:
    return isinstance(lengths, (int, np.integer)) and not isinstance(lengths, bool)


def length_of_rows(lengths: Any) -> Any:
    """Lengths, all 1 where only the number of rows is known."""
    if is_count(lengths):
        return np.ones(as_int(lengths, "lengths", maximum=2**40), np.int64)
    return np.ones(len(lengths), np.int64) if getattr(lengths, "depth", 1) == 0 else lengths


class LengthBuckets(Sampler):
    """Batches of a fixed number of rows of similar length, so that there is little padding.

    Parameters
    ----------
    lengths
        (rows,) integers, the length of every row or any other measure; or a dataset, for its `lengths`.
    batch_size
        The rows per batch.
    bucket_size
        The rows per bucket: shuffled rows are cut into buckets, and each bucket is sorted by length and cut
        into batches. Larger buckets give less padding and less randomness. 100 batches by default; without
        `shuffle` all rows.
    buckets
        Instead of bucket_size: increasing lengths that separate the buckets. Row i is in bucket
        `np.searchsorted(buckets, lengths[i])`: bucket 0 holds lengths up to buckets[0]. Rows of one bucket
        come in random order, and every bucket has a last batch of its own.
    shuffle
        Whether each seed and epoch gives another order of rows and batches.
    seed, drop_last, uneven, num_replicas, rank
        As in `Sampler`: the order, the last step, and the processes that share the rows.

    Raises
    ------
    ValueError, TypeError
        Lengths are negative or not integers, a size is below 1, or the buckets do not increase.

    Examples
    --------
    >>> list(LengthBuckets([5, 1, 4, 2], 2, shuffle=False))
    [[1, 3], [2, 0]]
    >>> sampler = LengthBuckets(np.arange(10), 3, seed=1)
    >>> sampler.set_epoch(2)
    >>> sorted(row for batch in sampler for row in batch) == list(range(10))
    True
    """

    _OPTIONS = ("_batch_size", "bucket_size", "buckets")

    @with_order
    def __init__(
        self,
        lengths: ArrayLike | HasLengths,
        batch_size: int,
        *,
        bucket_size: int | None = None,
        buckets: Sequence[int] | None = None,
        shuffle: bool = True,
        **order: Unpack[OrderKeywords],
    ) -> None:
        check_names(order, OrderKeywords, type(self).__init__)
        super().__init__(lengths, shuffle=shuffle, **order)
        self._batch_size = as_int(batch_size, "batch_size", 1)
        if bucket_size is not None and buckets is not None:
            raise value_error("buckets", "pass either bucket_size or buckets, got both")
        self.bucket_size = None if bucket_size is None else as_int(bucket_size, "bucket_size", 1)
        self.buckets = None if buckets is None else as_array(buckets, "buckets")
        if self.buckets is not None:
            if self.buckets.dtype.kind not in "iuf":
                raise type_error("buckets", f"expected lengths, got dtype {self.buckets.dtype}")
            if self.buckets.ndim != 1 or not bool((self.buckets[1:] > self.buckets[:-1]).all()):
                raise value_error("buckets", "expected increasing lengths")
            if np.isnan(self.buckets).any():
                raise value_error("buckets", "expected lengths, got nan")

    def _deal(self, rng: np.random.Generator) -> list[Ints]:
        n = len(self.lengths)
        order = rng.permutation(n) if self.shuffle else np.arange(n)
        if self.buckets is not None:
            bucket = np.searchsorted(self.buckets, self.lengths[order])
            key = np.argsort(bucket, kind="stable")
            parts = np.split(order[key], np.flatnonzero(np.diff(bucket[key])) + 1)
        else:
            size = self.bucket_size or (100 * self._batch_size if self.shuffle else n)
            parts = _sorted_parts(order, self.lengths, max(min(size, n), 1))
        batches = [batch for part in parts for batch in cut(part, self._batch_size, self.drop_last)]
        if self.shuffle:
            batches = [batches[i] for i in rng.permutation(len(batches))]
        return batches


class TokenBudget(Sampler):
    """Batches filled up to a number of tokens: many short rows, or few long ones.

    Parameters
    ----------
    lengths
        (rows,) integers, the tokens of every row; or a dataset, for its `lengths`.
    max_tokens
        The most tokens per batch.
    padded
        Count the tokens of the padded batch, its longest row times its rows. With False, for ragged batches,
        count the sum of the lengths.
    max_len
        The length that rows are cut to, as by `Dataset.batch(max_len=...)`; longer rows count as this long.
    max_batch
        The most rows per batch.
    too_long
        What to do with a row over the budget: "raise" a ValueError, put it "alone" into a batch, or "skip"
        it.
    bucket_size
        The number of rows to sort by length together, as in `LengthBuckets`. By default all rows without
        `shuffle`, and 100 times the rows of a mean batch with it; 1 keeps the order of the rows.
    shuffle, seed
        As in `LengthBuckets`.
    drop_last
        Same as uneven="drop": no batch is dropped for being small.
    uneven, num_replicas, rank
        As in `LengthBuckets`.

    Raises
    ------
    ValueError, TypeError
        Lengths are negative or not integers, a size is below 1, or a row exceeds max_tokens and too_long is
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

    _OPTIONS = ("max_tokens", "padded", "max_batch", "bucket_size", "too_long")

    @with_order
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
        **order: Unpack[OrderKeywords],
    ) -> None:
        check_names(order, OrderKeywords, type(self).__init__)
        super().__init__(lengths, shuffle=shuffle, **order)
        self.max_tokens = as_int(max_tokens, "max_tokens", 1)
        self.max_batch = None if max_batch is None else as_int(max_batch, "max_batch", 1)
        self.bucket_size = None if bucket_size is None else as_int(bucket_size, "bucket_size", 1)
        self.padded = as_bool(padded, "padded")
        one_of(too_long, "too_long", ("raise", "alone", "skip"))
        self.too_long = too_long
        if max_len is not None:
            self.lengths = np.minimum(self.lengths, as_int(max_len, "max_len", 1))
        is_over = self.lengths > self.max_tokens
        if too_long == "raise" and is_over.any():
            row = int(np.argmax(is_over))
            raise value_error(
                "lengths",
                f"row {row} has {self.lengths[row]} tokens, over max_tokens={max_tokens}",
                "give max_len, or too_long='alone' or 'skip'",
                row=row,
                number=int(self.lengths[row]),
            )
        self._rows: Ints = np.flatnonzero(~is_over) if too_long == "skip" else np.arange(len(self.lengths))

    @property
    def _drawn_rows(self) -> Ints:
        return self._rows

    def _cut(self, count: int) -> None:
        super()._cut(count)
        self._rows = self._rows[self._rows < count]

    @property
    def _counts_padding(self) -> bool:
        return self.padded

    def _why_nothing(self) -> str:
        return f"too_long: 'skip' leaves out all rows, each over max_tokens={self.max_tokens}; give max_len"

    def _deal(self, rng: np.random.Generator) -> list[Ints]:
        rows = rng.permutation(self._rows) if self.shuffle else self._rows
        n = len(rows)
        size = self.bucket_size
        if size is None:
            mean = max(float(self.lengths[rows].mean()), 1.0) if n else 1.0
            size = min(max(int(100 * self.max_tokens / mean), 1), n) if self.shuffle else n
            size = max(size, 1)
        order = np.concatenate([rows[:0], *_sorted_parts(rows, self.lengths, size)])
        limit = self.max_batch or max(n, 1)
        ends = _core.token_budget(self.lengths[order], self.max_tokens, limit, self.padded)
        batches = [batch for batch in np.split(order, ends[:-1]) if len(batch)]
        if self.shuffle:
            batches = [batches[i] for i in rng.permutation(len(batches))]
        return batches


def _sorted_parts(rows: Ints, lengths: Ints, size: int) -> list[Ints]:
    """Rows in parts of `size`, each sorted by length."""
    return [part[np.argsort(lengths[part], kind="stable")] for part in cut(rows, size)]


def batches_of(
    lengths: ArrayLike | HasLengths | int,
    batch_size: int | None,
    batches: object,
    shuffle: bool,
    order: OrderKeywords,
) -> Any:
    """The batches that were given, or those of `batch_size` rows as `BatchSampler` deals them."""
    if (batch_size is None) == (batches is None):
        raise value_error("batch_size", "pass either batch_size or batches")
    if batch_size is not None:
        return BatchSampler(lengths, batch_size, shuffle=shuffle, **order)
    if any(order.get(name) is not None for name in ("uneven", "num_replicas", "rank")):
        raise value_error(
            "batches", "are already shared between ranks; uneven, num_replicas and rank need batch_size"
        )
    return batches
