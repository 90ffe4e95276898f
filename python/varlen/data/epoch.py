"""One pass over a dataset in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, cast

import numpy as np

from varlen.arguments import as_bool, as_int
from varlen.backends.values import ArrayT
from varlen.data.batch import Batch
from varlen.data.buffers import Buffers
from varlen.data.device_loader import ahead
from varlen.data.devices import usable_device
from varlen.data.options import BatchOptions
from varlen.data.plan import Seed
from varlen.data.prefetch import Prefetcher
from varlen.data.staging import Ring

if TYPE_CHECKING:
    from varlen.data.dataset import Dataset

__all__ = ["Epoch"]

Rows = Any


class Epoch(Generic[ArrayT]):
    """The result of `Dataset.epoch`: iterating gives batches, as often as wanted; `len` is their number.

    With the same seed every pass is the same; without one each differs.

    Parameters
    ----------
    dataset
        Where the rows are.
    options
        Of the batches.
    batch_size, batches, shuffle, seed, epoch, drop_last, prefetch, progress
        As `Dataset.epoch` takes them.

    Examples
    --------
    >>> import varlen as vl
    >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
    >>> len(ds.epoch(2)), len(ds.epoch(2, drop_last=True))
    (2, 1)
    """

    def __init__(
        self,
        dataset: Dataset,
        options: BatchOptions,
        *,
        batch_size: int | None,
        batches: Iterable[Rows] | None,
        shuffle: bool,
        seed: Seed,
        epoch: int | None,
        drop_last: bool,
        prefetch: int,
        progress: bool,
    ) -> None:
        if (batch_size is None) == (batches is None):
            raise ValueError("batch_size: give batch_size or batches, one of them")
        batch_size = None if batch_size is None else as_int(batch_size, "batch_size", 1)
        if batches is not None and not hasattr(batches, "__iter__"):
            raise TypeError(f"batches: expected batches of row numbers, got {type(batches).__name__}")
        shuffle, drop_last = as_bool(shuffle, "shuffle"), as_bool(drop_last, "drop_last")
        if batches is not None and (shuffle or drop_last):
            raise ValueError("batches: their order is given; shuffle and drop_last need batch_size")
        prefetch = as_int(prefetch, "prefetch")
        epoch = None if epoch is None else as_int(epoch, "epoch")
        if isinstance(seed, (int, np.integer)):
            seed = as_int(seed, "seed", most=None)
        elif not (seed is None or isinstance(seed, np.random.Generator)):
            raise TypeError(f"seed: expected an int, a Generator or None; got {type(seed).__name__}")
        self._dataset, self._options = dataset, options
        self._batch_size, self._batches = batch_size, batches
        self._shuffle, self._seed, self._epoch = shuffle, seed, epoch
        self._drop_last, self._prefetch = drop_last, prefetch
        self._progress = as_bool(progress, "progress")

    def __len__(self) -> int:
        if self._batches is not None:
            return len(self._batches)  # type: ignore[arg-type]
        size, n = self._batch_size or 1, len(self._dataset)
        return n // size if self._drop_last else -(-n // size)

    def __iter__(self) -> Iterator[Batch[ArrayT]]:
        result = self._make_batches(self._rows())
        if not self._progress:
            return result
        from tqdm.auto import tqdm

        total = len(self) if self._batches is None or hasattr(self._batches, "__len__") else None
        return iter(tqdm(result, total=total, unit=" batches"))

    def _rows(self) -> Iterable[Rows]:
        if self._batches is not None:
            return self._batches
        n, size = len(self._dataset), self._batch_size or 1
        order = np.arange(n)
        if self._shuffle:
            order = self._generator().permutation(n)
        stop = n // size * size if self._drop_last else n
        return [order[at : at + size] for at in range(0, stop, size)]

    def _generator(self) -> np.random.Generator:
        if isinstance(self._seed, np.random.Generator):
            return self._seed
        return np.random.default_rng(None if self._seed is None else [self._seed, self._epoch or 0])

    def _make_batches(self, rows: Iterable[Rows]) -> Iterator[Batch[ArrayT]]:
        dataset, options, seed = self._dataset, self._options, self._seed

        def make(batch: Any, out: Buffers | Ring | None = None) -> Batch[ArrayT]:
            epoch = getattr(batch, "epoch", 0) if self._epoch is None else self._epoch
            result = dataset._run(options, batch, seed=seed, epoch=epoch, out=out, edges_per_row=True)
            return cast("Batch[ArrayT]", result)

        if options.device is not None:
            yield from self._on_device(options.device, make, rows)
        elif self._prefetch == 0:
            yield from map(make, rows)
        else:
            with Prefetcher(make, rows, depth=self._prefetch) as batches:
                yield from batches

    def _on_device(self, device: str, make: Any, rows: Iterable[Rows]) -> Iterator[Any]:
        """Batches on a device; one is on its way there, and others are made before it, where they are made
        ahead.
        """
        if self._prefetch == 0:
            yield from map(make, rows)
            return
        framework = self._options.values["framework"] or "torch"
        ring = Ring(usable_device(device, framework).number, self._prefetch + 1)
        with Prefetcher(lambda batch, _: make(batch, ring), rows, depth=self._prefetch) as staged:
            yield from ahead(staged, device)
