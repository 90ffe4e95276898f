"""Functions for DataLoader's `collate_fn`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, cast

import numpy as np

from varlen.arguments import as_int
from varlen.backends.values import ArrayT
from varlen.data.batch import Batch
from varlen.data.devices.staging import FreshBlocks
from varlen.data.options import BatchOptions, per_key
from varlen.data.plan import BatchPlan, SeedLike, draw_seed
from varlen.data.records import Records
from varlen.data.shared_number import SharedNumber
from varlen.data.sources.memory import as_joint, columns_of
from varlen.data.transport import offer, raise_in_worker
from varlen.errors import instance_error, value_error
from varlen.io.dtypes import refuse_misfits, shared_dtype

if TYPE_CHECKING:
    from collections.abc import Mapping

    from varlen.backends.values import Indices, Values
    from varlen.data.buffers import Buffers
    from varlen.data.dataset import Dataset
    from varlen.data.devices.staged_batch import StagedBatch

__all__ = ["Collator", "StagedCollator"]


class Collator(Generic[ArrayT]):
    """A dataset and the options of its batches, as one function. `Dataset.collator` makes it.

    It pickles as the paths of its files: workers of any start method open them themselves.

    With a seed, the random window of a row depends only on the seed, the epoch and the row, not on the batch
    or the worker. The epoch comes from the batch sampler (`TokenBudget`, `LengthBuckets`); with any other
    sampler, call `set_epoch` before each epoch. Both work with persistent workers. Without a seed, every
    batch has new windows.

    Parameters
    ----------
    dataset
        The dataset to take rows from.
    options
        The options of the batches.
    seed
        The seed of random windows: an int; a numpy.random.Generator, from which one number is drawn; or None.

    Examples
    --------
    >>> import pickle, varlen as vl
    >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
    >>> collate = pickle.loads(pickle.dumps(ds.collator(padding_side="left")))
    >>> collate([ds[2], ds[0]])["x"]
    array([[0, 0, 4],
           [1, 2, 3]], dtype=uint8)
    """

    _staging: Any = None  # where blocks of batches that go to a device come from

    def __init__(self, dataset: Dataset, options: BatchOptions, seed: SeedLike) -> None:
        self.dataset, self.options = dataset, options
        self._schema = None  # which copies in workers have, too
        if options.is_named:
            self._schema = dataset._schema_for(options)
        # A generator would be copied to every worker, and each would draw the same numbers.
        self.seed = draw_seed(seed, ())[0] if isinstance(seed, np.random.Generator) else seed
        has_seed = options.is_random and self.seed is not None
        self._epoch = SharedNumber() if has_seed else None

    @property
    def epoch(self) -> int | None:
        """The epoch from `set_epoch`; None for the epoch of the batch sampler, or 0.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3]]}))
        >>> collate = ds.collator(max_len=1, window="random", seed=0)
        >>> collate.set_epoch(3)
        >>> collate.epoch
        3
        """
        return None if self._epoch is None else self._epoch.get()

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch that random windows depend on, in this process and in its workers.

        Parameters
        ----------
        epoch
            At least 0.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [list(range(90))]}))
        >>> collate = ds.collator(max_len=1, window="random", seed=0)
        >>> first = collate([0])["x"]
        >>> collate.set_epoch(1)
        >>> bool((collate([0])["x"] == first).all())
        False
        """
        number = as_int(epoch, "epoch")
        if self._epoch is not None:
            self._epoch.set(number)

    def __call__(self, samples: Any) -> Batch[ArrayT]:
        """Make the batch of row numbers, of the result of `Dataset.__getitems__`, or of records.

        Parameters
        ----------
        samples
            Row numbers of the dataset, `Records`, or JointNestedRaggedTensorDicts, one per row.

        Returns
        -------
        dict
            The batch, as `Dataset.batch` returns it.

        Raises
        ------
        TypeError
            The samples are of another kind.
        ValueError
            The samples are records, but random windows with a seed depend on row numbers.
        """
        offer()
        try:
            return cast("Batch[ArrayT]", self._batch_of(samples))
        except Exception as error:
            raise_in_worker(error)
            raise

    def _batch_of(self, samples: Any) -> Any:
        if isinstance(samples, Records):
            rows = samples.rows
        elif not hasattr(samples, "__len__"):
            raise instance_error("samples", "a list of rows", samples)
        elif isinstance(samples, np.ndarray) or not len(samples) or _is_int(samples[0]):
            rows = samples
        elif self._epoch is not None:
            raise value_error(
                "seed",
                "random windows depend on row numbers, which records do not have",
                "collate row numbers, or leave the seed out",
            )
        else:
            batch = collate_joints(samples, self.options, out=self._staging)
            if self._schema is not None:
                batch = self.dataset._named_batch(batch, self.options, self._schema)
            return batch
        epoch = self.epoch
        if epoch is None:
            epoch = getattr(rows, "epoch", 0)
        return self._batch(rows, epoch)

    def _batch(self, rows: Indices, epoch: int) -> Any:
        return self.dataset._run(
            self.options, rows, seed=self.seed, epoch=epoch, out=self._staging, edges_per_row=True
        )

    def __repr__(self) -> str:
        return f"Collator({self.dataset!r})"


class StagedCollator(Collator[Any]):
    """A collator of batches for a device. `Dataset.collator(device=...)` makes it.

    It touches no device, so it works in forked DataLoader workers. Each batch is one block of memory, which
    the parent process copies to the device.

    Parameters
    ----------
    dataset, options, seed
        As in `Collator`.

    Examples
    --------
    >>> import varlen as vl
    >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
    >>> ds.collator(device="cuda", masks=False)([2, 0])
    StagedBatch(['x'], 132 bytes)
    """

    _staging = FreshBlocks()

    if TYPE_CHECKING:

        def __call__(self, samples: Any) -> StagedBatch: ...  # type: ignore[override]


def _is_int(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def collate_joints(
    samples: Sequence[Any],
    options: BatchOptions,
    seed: SeedLike = None,
    out: Mapping[str, Values] | Buffers | None = None,
) -> Any:
    """Make one batch of records, each a JointNestedRaggedTensorDict whose outer dim are its events.

    As `JointNestedRaggedTensorDict.vstack(samples).to_dense()`, without the copy in between. If dtypes
    differ, the batch has the one that holds all.
    """
    joints = [as_joint(sample, f"samples[{i}]") for i, sample in enumerate(samples)]
    labels = [f"samples[{i}]" for i in range(len(joints))]
    columns = columns_of(joints[0], lift=1)
    names = set()
    for joint, label in zip(joints, labels, strict=True):
        for name, column in columns.items():
            dtype = joint.values(name).dtype if name in joint.names else column.dtype
            if dtype != column.dtype:
                names.add(name)
                columns[name] = replace(column, dtype=shared_dtype(f"{label}: {name}", column.dtype, dtype))
    casts = per_key("dtype", options.values["dtype"], names, columns)
    wider = {name: columns[name].dtype for name in names if not casts.get(name)}
    for joint, label in zip(joints, labels, strict=True) if wider else ():
        refuse_misfits(joint, wider, source=label)
    plan = BatchPlan(joints, labels, columns, options, lift=True)
    return plan.run(np.arange(len(joints)), seed=seed, out=out)
