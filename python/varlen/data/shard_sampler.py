"""Batches in an order that reads each shard about once in an epoch, and mixes the rows of near shards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.arguments import as_int
from varlen.data.facts import digest_of
from varlen.data.options import check_names
from varlen.data.sampler import Ints, OrderKeywords, Sampler, cut, with_order
from varlen.data.samplers import length_of_rows
from varlen.errors import instance_error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from varlen.data.dataset import Dataset

__all__ = ["ShardSampler"]


class ShardSampler(Sampler):
    """Batches of a fixed number of rows, whose shards are those of a window that goes over all shards once.

    For data behind URLs with a `varlen.io.Cache` smaller than they are, and for slow disks: a full shuffle
    reads every shard throughout the epoch, this one while the window is over it. The shards come in random
    order, and each row at a random place within half a window of its shard's. Ranks share the window.

    Parameters
    ----------
    dataset
        A Dataset, or a view of one.
    batch_size
        The rows per batch; the last batch may have fewer, unless `drop_last`.
    window
        How many shards are read at a time, at least 1. More mix better. As many as there are, or more, are a
        full shuffle.
    shuffle
        Whether each seed and epoch gives another order; False takes the rows as they come.
    seed, drop_last, uneven, num_replicas, rank
        As in `Sampler`: the order, the last step, and the processes that share the rows.

    Raises
    ------
    ValueError, TypeError
        The dataset is something else, a number is below 1, or the rank does not fit.

    Examples
    --------
    >>> shards = [vl.JointNestedRaggedTensorDict({"x": [[i]] * 4}) for i in range(50)]
    >>> ds = vl.data.Dataset(shards)
    >>> batch = list(ShardSampler(ds, 20, window=2, seed=1))[5]
    >>> np.unique(np.array(batch) // 4).size  # of the 50 shards
    6
    """

    _OPTIONS = ("batch_size", "window")

    @with_order
    def __init__(
        self,
        dataset: Dataset,
        batch_size: int,
        *,
        window: int = 16,
        shuffle: bool = True,
        **order: Unpack[OrderKeywords],
    ) -> None:
        check_names(order, OrderKeywords, type(self).__init__)
        if not hasattr(dataset, "source") or not hasattr(dataset, "row_numbers"):
            raise instance_error("dataset", "a Dataset, which knows the shards of its rows", dataset)
        super().__init__(length_of_rows(len(dataset)), shuffle=shuffle, **order)
        self.batch_size = as_int(batch_size, "batch_size", 1)
        self.window = as_int(window, "window", 1)
        self._has_lengths = False
        rows = dataset._source_rows(np.arange(len(dataset)))
        numbers = dataset.source.offsets[1:].searchsorted(rows, side="right")
        # The shards that have rows, counted through.
        self._shards: Ints = np.unique(numbers, return_inverse=True)[1].reshape(-1)

    def _deal(self, rng: np.random.Generator) -> list[Ints]:
        order = self._order(rng) if self.shuffle else np.arange(len(self.lengths))
        return cut(order, self.batch_size, self.drop_last)

    def _order(self, rng: np.random.Generator) -> Ints:
        n, sizes = len(self.lengths), np.bincount(self._shards)
        if self.window >= len(sizes):
            return rng.permutation(n)
        shards = rng.permutation(len(sizes))
        begins = np.empty(len(sizes), np.int64)
        begins[shards] = np.cumsum(sizes[shards]) - sizes[shards]
        # Anywhere in the shard, and so anywhere in the epoch; then up to half a window away. What is thrown
        # over an edge comes back from it, so that the rows stay evenly spread.
        places = begins[self._shards] + rng.random(n) * sizes[self._shards]
        places += (rng.random(n) - 0.5) * (self.window - 1) * n / len(sizes)
        places = np.abs(places)
        return np.argsort(np.where(places > n, 2 * n - places, places), kind="stable")

    def _in_steps(self, batches: list[Ints], replicas: int, rng: np.random.Generator) -> list[Ints]:
        return batches  # steps of batches of about the same size would come in another order

    def _cut(self, count: int) -> None:
        super()._cut(count)
        self._shards = np.unique(self._shards[:count], return_inverse=True)[1].reshape(-1)

    def _identity(self) -> dict[str, Any]:
        return {**super()._identity(), "shards": digest_of(self._shards, 8)}
