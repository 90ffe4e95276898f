"""Batches for loaders that iterate their dataset, shared by their worker processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

from varlen.arguments import as_int
from varlen.backends.values import ArrayT
from varlen.data.dataset import Dataset
from varlen.data.epoch import Epoch
from varlen.data.options import BatchOptions, with_options
from varlen.data.passes import Pass, Passes
from varlen.data.sampler import ORDER, OrderKeywords, Sampler, split_options
from varlen.data.samplers import batches_of
from varlen.data.shards import refuse_dispatchers
from varlen.data.transport import offer
from varlen.errors import instance_error, value_error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from varlen.data.options import BatchKeywords

    class _Keywords(BatchKeywords, OrderKeywords, total=False):
        pass


__all__ = ["IterableDataset"]


class IterableDataset(Epoch[ArrayT]):
    """Batches of a dataset as a torch IterableDataset, for `DataLoader(..., batch_size=None)`.

    The worker processes of a loader share the batches, so that each comes once, in the sampler's order, for
    any number of workers. Each pass is the next epoch, with another order and other windows, unless
    `set_epoch` names one; persistent workers follow. Processes that train together get their shares as with
    any sampler.

    torchdata's StatefulDataLoader keeps its state, for the same number of workers. With another DataLoader,
    pass the number of batches that your loop has consumed to `state_dict(batches=...)`; any number of workers
    can resume from that.

    Parameters
    ----------
    dataset
        A `Dataset`.
    batch_size
        The rows per batch.
    batches
        Instead of batch_size: a sampler, such as `TokenBudget`, or lists of row numbers.
    shuffle
        Options for batch_size, as in `BatchSampler`.
    seed
        The seed of the order and of random windows, an int.
    drop_last, uneven, num_replicas, rank
        Options for batch_size, as in `BatchSampler`.
    **options
        As in `Dataset.batch`, but for `device`: workers make batches on the host.

    Raises
    ------
    TypeError, ValueError
        An argument or an option does not fit.

    Examples
    --------
    >>> import torch
    >>> import varlen as vl
    >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
    >>> batches = IterableDataset(ds, 2, framework="torch")
    >>> batches
    IterableDataset(BatchSampler(2 batches of 3 rows in epoch 0, 42.9% padding))
    >>> loader = torch.utils.data.DataLoader(batches, batch_size=None)
    >>> [tuple(batch["x"].shape) for batch in loader]
    [(2, 3), (1, 1)]
    """

    @with_options(OrderKeywords, ORDER, others=True)
    def __init__(
        self,
        dataset: Dataset,
        batch_size: int | None = None,
        *,
        batches: Iterable[Any] | None = None,
        shuffle: bool = False,
        **options: Unpack[_Keywords],
    ) -> None:
        if not isinstance(dataset, Dataset):
            raise instance_error("dataset", "a varlen.Dataset", dataset)
        order, batch_options = split_options(options)
        config = BatchOptions(**batch_options)
        if config.device is not None or config.goes_to is not None:
            raise value_error("device", "workers make batches on the host", "move them in the loop")
        batches = batches_of(dataset, batch_size, batches, shuffle, order)
        drop_last = order["drop_last"]
        if batch_size is not None:
            shuffle = drop_last = False
        super().__init__(
            dataset, config, batch_size=None, batches=batches, shuffle=shuffle, seed=order["seed"],
            epoch=None, drop_last=drop_last, prefetch=0, progress=False,
        )  # fmt: skip
        sampler = self._batches if isinstance(self._batches, Sampler) else None
        self._passes = Passes(0 if sampler is None else sampler.epoch)
        # Where the sampler was put last; elsewhere it was told so itself, and that holds.
        self._resume_place = (0, None) if sampler is None else (sampler.epoch, sampler._start)
        self._repeats = 0  # in a worker: how many passes it has begun
        self._user_epoch: tuple[int, bool] | None = None  # in a worker: the epoch that it alone was told
        # In a worker: its number, that of all, and how many of its batches came before; of the state that
        # the next pass goes on from, and of this pass with what its batches are counted from.
        self._next_share: tuple[int, int, int] | None = None
        self._share: tuple[int, int, int] | None = None
        self._begin: Any = None
        _be_known_to_torch()

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next pass, here and in workers; later passes count up from it.

        Parameters
        ----------
        epoch
            At least 0. The epoch of a loaded state resumes; any other starts from the beginning.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[n] for n in range(9)]}))
        >>> batches = IterableDataset(ds, 9, shuffle=True)
        >>> first = next(iter(batches))["x"].ravel().tolist()
        >>> batches.set_epoch(1)
        >>> next(iter(batches))["x"].ravel().tolist() == first
        False
        """
        number = as_int(epoch, "epoch")
        if _worker()[2] is None:
            self._passes.set(number)
        else:
            self._user_epoch = number, self._user_epoch is not None and self._user_epoch == (number, True)
        if isinstance(self._batches, Sampler):
            self._batches.set_epoch(number)
            self._resume_place = number, self._batches._start

    def _rows(self) -> Iterator[Any]:
        number, count, this_pass = _worker(self._repeats)
        sampler = self._batches if isinstance(self._batches, Sampler) else None
        if sampler is not None:
            sampler._find_rank()
        refuse_dispatchers(sampler)
        _refuse_stacks(self)
        was, old_count, skip = self._next_share or (number, count, 0)
        if (was, old_count) != (number, count):
            raise value_error(
                "state", f"belongs to worker {was} of {old_count}, but this is worker {number} of {count}"
            )
        self._next_share = self._share = None
        if sampler is not None:
            is_elsewhere = sampler.epoch != self._resume_place[0] or sampler._start not in (
                None,
                self._resume_place[1],
            )
            state = (sampler.epoch, sampler._start is not None) if is_elsewhere else self._user_epoch
            epoch, goes_on = self._passes.begin(this_pass, state)
            self._be_at(sampler, epoch, goes_on)
        self._user_epoch = None
        rows = super()._rows() if sampler is None else sampler._rest(sampler._begin(), sampler._place)
        if this_pass is not None:
            offer()
            self._repeats += 1
            self._share = number, count, skip
            self._begin = sampler.state_dict() if sampler is not None else None
        return islice(rows, number + skip * count, None, count)

    def _be_at(self, sampler: Sampler, epoch: int, goes_on: bool) -> None:
        """The sampler in an epoch: at its begin, unless that goes on where a state was."""
        sampler.set_epoch(epoch)
        if not goes_on:
            sampler._start, sampler._earlier_ranks, sampler._steps = None, (), 0
        self._resume_place = epoch, sampler._start

    def state_dict(self, batches: int | None = None) -> dict[str, Any]:
        """The position of the last pass, as of `Epoch.state_dict`; in a worker, the batches it has made.

        Parameters
        ----------
        batches
            The number of batches of this epoch that the loop has consumed, including those before an earlier
            state. Pass it if workers make the batches. By default the batches of the last pass in this
            process.

        Returns
        -------
        dict
            A dict of numbers, texts and lists, for `load_state_dict`.

        Raises
        ------
        ValueError
            There are fewer batches than that, or an earlier state had more.
        TypeError
            `batches` is neither a sampler of this module nor a list.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> IterableDataset(ds, 1).state_dict(batches=2)["sampler"]["batches"]
        2
        """
        last = self._passes.last() if _worker()[2] is None else None
        if last is not None and (self._had is None or last[0] != self._sampler().epoch):
            self._be_at(self._sampler(), *last)  # workers made the last pass
            self._had = None
        state = super().state_dict()
        worker = None
        if batches is not None:
            state["sampler"] = self._batches.state_dict(batches)
        elif self._share is not None and self._had is not None:
            number, count, skip = self._share
            steps = self._had[1] - self._begin["batches"]
            state["sampler"], worker = self._begin, [number, count, skip + steps]
        return {**state, "worker": worker}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from a state: the next pass gives the remaining batches.

        Parameters
        ----------
        state
            The result of `state_dict`.

        Raises
        ------
        ValueError
            The state belongs to something else, as in `Epoch.load_state_dict`; or it comes from a worker, and
            another one resumes.
        TypeError
            The argument is not such a state.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> batches = IterableDataset(ds, 1)
        >>> batches.load_state_dict(batches.state_dict(batches=2))
        >>> [batch["x"].tolist() for batch in batches]
        [[[4]]]
        """
        worker = state.get("worker") if isinstance(state, Mapping) else None
        if worker is not None:
            try:
                number, count, had = (as_int(n, "worker") for n in worker)
            except (TypeError, ValueError) as error:
                raise value_error(
                    "state", f"expected three numbers of a worker, got {short(worker)}"
                ) from error
            worker = number, count, had
        super().load_state_dict(state)
        self._next_share, self._share = worker, None
        sampler = self._sampler()
        epoch = sampler.epoch
        self._resume_place = epoch, sampler._start
        if _worker()[2] is None:
            self._passes.set(epoch, goes_on=True)
        else:
            self._user_epoch = epoch, True

    def __getstate__(self) -> dict[str, Any]:
        refuse_dispatchers()  # before workers start that would not see it
        _refuse_stacks(self)
        return self.__dict__

    def __repr__(self) -> str:
        return f"IterableDataset({self._batches!r})"


def _worker(repeat: int = 0) -> tuple[int, int, Pass | None]:
    """Which worker of a DataLoader this is, of how many, and in which pass; None outside of them."""
    loaders = sys.modules.get("torch.utils.data")
    worker = None if loaders is None else loaders.get_worker_info()
    if worker is None:
        return 0, 1, None
    from multiprocessing import current_process, parent_process

    parent, numbers = parent_process(), getattr(current_process(), "_identity", ())
    owner = os.getppid() if parent is None or parent.pid is None else parent.pid
    first = (numbers[-1] if numbers else os.getpid()) - worker.id
    return (
        worker.id,
        worker.num_workers,
        Pass(owner, worker.seed - worker.id, repeat, first, worker.num_workers),
    )


def _refuse_stacks(dataset: object) -> None:
    """Refuses a DataLoader that makes batches of batches: with an axis more, or of several for one."""
    data = sys.modules.get("torch.utils.data")
    frame = None if data is None else sys._getframe(1)
    while frame is not None and data is not None:
        loader = frame.f_locals.get("loader") if frame.f_code.co_name == "__init__" else None
        if isinstance(loader, data.DataLoader) and loader.dataset is dataset:
            size = loader.batch_size
            if size is not None and (size > 1 or loader.collate_fn is data.default_collate):
                raise value_error(
                    "batch_size",
                    f"the dataset yields whole batches, but the DataLoader would batch {size} of them again",
                    "pass batch_size=None; if a loop needs a size, pass 1 and a collate_fn that returns "
                    "the only item",
                )
            return
        frame = frame.f_back


def _be_known_to_torch() -> None:
    from torch.utils import data

    if not issubclass(IterableDataset, data.IterableDataset):
        data.IterableDataset.register(IterableDataset)
