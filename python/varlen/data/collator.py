"""Functions for DataLoader's `collate_fn`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.arguments import as_int
from varlen.data.memory import columns_of, joint_of
from varlen.data.options import BatchOptions
from varlen.data.plan import Batch, Plan, Seed
from varlen.data.records import Records

if TYPE_CHECKING:
    from varlen.data.dataset import Dataset

__all__ = ["Collator"]


class Collator:
    """A dataset and the options of its batches, as one function. Made by `Dataset.collator`.

    It pickles as the dataset does, by its paths: workers of any start method open the files themselves.
    Random windows of an int seed change with `set_epoch`; with none, every worker has randomness of its own.

    Examples
    --------
    >>> import pickle, varlen as vl
    >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
    >>> collate = pickle.loads(pickle.dumps(ds.collator(padding_side="left")))
    >>> collate([ds[2], ds[0]])["x"]
    array([[0, 0, 4],
           [1, 2, 3]], dtype=uint8)
    """

    def __init__(self, dataset: Dataset, options: BatchOptions, seed: Seed) -> None:
        self.dataset, self.options, self.seed = dataset, options, seed
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """The epoch that random windows of an int seed depend on."""
        self.epoch = as_int(epoch, "epoch")

    def __call__(self, samples: Any) -> Batch:
        """The batch of row numbers, of what `Dataset.__getitems__` gives, or of records."""
        if isinstance(samples, Records):
            rows = samples.rows
        elif not hasattr(samples, "__len__"):
            raise TypeError(f"samples: expected a list of rows, got {type(samples).__name__}")
        elif isinstance(samples, np.ndarray) or not len(samples) or _is_int(samples[0]):
            rows = samples
        else:
            return collate_joints(samples, self.options)
        return self.dataset._run(self.options, rows, seed=self.seed, epoch=self.epoch, whole_edges=True)

    def __repr__(self) -> str:
        return f"Collator({self.dataset!r})"


def _is_int(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def collate_joints(samples: Sequence[Any], options: BatchOptions, seed: Seed = None) -> Batch:
    """Records, each a JointNestedRaggedTensorDict whose outer dim are its events, as one batch.

    As `JointNestedRaggedTensorDict.vstack(samples).to_dense()`, without the copy in between. Where dtypes
    differ, the batch has the one that holds all.
    """
    joints = [joint_of(sample, f"samples[{i}]") for i, sample in enumerate(samples)]
    labels = [f"samples[{i}]" for i in range(len(joints))]
    columns = columns_of(joints[0], lift=1)
    for joint in joints[1:]:
        for name, column in columns.items():
            dtype = joint.values(name).dtype if name in joint.names else column.dtype
            if dtype != column.dtype:
                columns[name] = replace(column, dtype=np.result_type(dtype, column.dtype))
    plan = Plan(joints, labels, columns, options, lift=True)
    return plan.run(np.arange(len(joints)), seed=seed)
