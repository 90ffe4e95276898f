"""Epoch after epoch of batches for a training loop, made by threads of its own process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

from varlen.arguments import as_int, option_error
from varlen.backends.values import ArrayT
from varlen.data.batch import Batch
from varlen.data.collation.samples import Collate
from varlen.data.dataset import Dataset
from varlen.data.epoch import Epoch
from varlen.data.options import BatchKeywords, BatchOptions, check_names, with_options
from varlen.data.prefetch import Prefetcher
from varlen.data.sampler import ORDER, OrderKeywords, Sampler, split_options
from varlen.data.samplers import batches_of
from varlen.errors import instance_error, type_error, value_error

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from varlen.backends.kinds import CupyArray
    from varlen.data.options import ArrayBatchKeywords

    class _Keywords(ArrayBatchKeywords, OrderKeywords, total=False):
        batches: Iterable[Any] | None
        shuffle: bool
        prefetch: int
        threads: int
        progress: bool


__all__ = ["Loader"]

# What DataLoaders have, and what it is here.
_ELSEWHERE = {
    "batch_sampler": "batches= takes a sampler of batches",
    "collate": "collate_fn= makes batches of the samples of other datasets",
    "generator": "seed= is of the order and of random windows",
    "num_workers": "threads= says how many batches are made at the same time",
    "pin_memory": "device= pins memory and copies the batches",
    "prefetch_factor": "prefetch= says how many batches are made ahead",
    "sampler": "batches= takes a sampler of batches",
}


class Samples(Protocol):
    """A map-style dataset of any library."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Any: ...


class Loader(Epoch[ArrayT]):
    """Batches of a dataset for a training loop: threads make them ahead, without worker processes.

    Each iteration is an epoch. After one, whole or left early, the next begins, with another order and other
    windows, unless `set_epoch` names it. The core releases the GIL while it makes a batch, so threads replace
    worker processes, and nothing travels between processes. Batch memory is reused once you drop the batch;
    batches you keep are never overwritten. With a `device` the batch is already there, through pinned memory.

    An error in a thread is raised when you ask for its batch. The threads end with the iteration, however
    it ends. `len` is the number of batches of an epoch.

    Parameters
    ----------
    dataset
        A `Dataset`; or any other dataset with `__len__` and `__getitem__` or `__getitems__`, whose samples go
        to `collate_fn`.
    batch_size
        The rows per batch.
    batches
        Instead of batch_size: a sampler, such as `TokenBudget`, or lists of row numbers.
    shuffle
        Whether the order of the rows changes every epoch; an option for batch_size.
    seed
        The seed of the order and of random windows, an int.
    drop_last, uneven, num_replicas, rank
        Options for batch_size, as in `BatchSampler`: with several processes, each gets its share.
    prefetch
        The batches to make ahead, at least 1.
    threads
        The batches to make at the same time, at most prefetch and 256. Rows behind URLs are waited for: then
        all `prefetch` batches are made at the same time, so that as many requests are under way.
    collate_fn
        The function that makes a batch from samples of other datasets; `varlen.data.collate` by default.
    progress
        Show a progress bar.
    **options
        As in `Dataset.batch`.

    Raises
    ------
    TypeError, ValueError
        An argument or an option does not fit.

    Examples
    --------
    >>> import varlen as vl
    >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
    >>> loader = Loader(ds, 2, shuffle=True, seed=7, framework="numpy")
    >>> loader
    Loader(BatchSampler(2 batches of 3 rows in epoch 0, 33.3% padding), 2 made ahead)
    >>> sum(batch["x"].sum() for batch in loader), loader.state_dict()["sampler"]["epoch"]
    (np.uint64(10), 1)
    """

    _under_way = 0  # passes that have begun, and not ended

    @overload
    def __init__(
        self: Loader[CupyArray], dataset: Dataset, batch_size: int | None = None, *,
        framework: Literal["cupy"], device: torch.device | str | int | None = None,
        **options: Unpack[_Keywords],
    ) -> None: ...  # fmt: skip
    @overload
    def __init__(
        self: Loader[torch.Tensor], dataset: Dataset, batch_size: int | None = None, *,
        device: torch.device | str | int, framework: Literal["torch"] | None = None,
        **options: Unpack[_Keywords],
    ) -> None: ...  # fmt: skip
    @overload
    def __init__(
        self: Loader[torch.Tensor], dataset: Dataset, batch_size: int | None = None, *,
        framework: Literal["torch"], **options: Unpack[_Keywords],
    ) -> None: ...  # fmt: skip
    @overload
    def __init__(
        self: Loader[NDArray[Any]], dataset: Dataset, batch_size: int | None = None, *,
        framework: Literal["numpy"] | None = None, **options: Unpack[_Keywords],
    ) -> None: ...  # fmt: skip
    @overload
    def __init__(
        self: Loader[Any], dataset: Samples, batch_size: int | None = None, *,
        collate_fn: Callable[[list[Any]], Any] | None = None, **options: Unpack[_Keywords],
    ) -> None: ...  # fmt: skip
    @with_options(OrderKeywords, ORDER, others=True)
    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = None,
        *,
        batches: Iterable[Any] | None = None,
        shuffle: bool = False,
        prefetch: int = 2,
        threads: int = 1,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        progress: bool = False,
        **options: Any,
    ) -> None:
        order, options = split_options(options)
        _check_options(dataset, options)
        self._collate_fn = None if isinstance(dataset, Dataset) else _collate_fn(dataset, collate_fn, options)
        if self._collate_fn is None and collate_fn is not None:
            raise value_error(
                "collate_fn",
                "not allowed: a Dataset makes its batches itself",
                "pass the options of ds.batch instead",
            )
        rows = dataset if self._collate_fn is None else len(dataset)
        batches = batches_of(rows, batch_size, batches, shuffle, order)
        drop_last = order["drop_last"]
        if batch_size is not None:
            shuffle = drop_last = False
        if self._collate_fn is not None and collate_fn is None and _may_be_empty(batches):
            raise value_error(
                "uneven",
                "'empty' needs a batch without samples, which the default collate_fn cannot make",
                "use 'repeat' or 'drop', or pass a collate_fn",
            )
        super().__init__(
            dataset, BatchOptions(**({} if self._collate_fn else options)), batch_size=None, batches=batches,
            shuffle=shuffle, seed=order["seed"], epoch=None, drop_last=drop_last,
            prefetch=as_int(prefetch, "prefetch", 1), progress=progress, threads=threads,
        )  # fmt: skip

    @property
    def sampler(self) -> Sampler | None:
        """The sampler, whose epoch Lightning and other loops set; None for batches without a sampler.

        Examples
        --------
        >>> import varlen as vl
        >>> loader = Loader(vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1], [2]]})), 1)
        >>> loader.sampler
        BatchSampler(2 batches of 2 rows in epoch 0, 0.0% padding)
        """
        return self._batches if isinstance(self._batches, Sampler) else None

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next iteration.

        Parameters
        ----------
        epoch
            At least 0.

        Examples
        --------
        >>> import varlen as vl
        >>> loader = Loader(vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1], [2]]})), 1)
        >>> loader.set_epoch(3)
        >>> loader.state_dict()["sampler"]["epoch"]
        3
        """
        number = as_int(epoch, "epoch")
        if hasattr(self._batches, "set_epoch"):
            self._batches.set_epoch(number)

    def state_dict(self) -> dict[str, Any]:
        """The position of the loop in its last iteration, or at the start of an epoch set since then.

        Returns
        -------
        dict
            A dict of numbers, texts and lists, for `load_state_dict` of a loader with the same arguments.

        Raises
        ------
        ValueError
            Rows or windows are random, and the seed is not an int.
        TypeError
            `batches` is neither a sampler of this module nor a list.

        Examples
        --------
        >>> import varlen as vl
        >>> loader = Loader(vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1], [2]]})), 1)
        >>> batch = next(iter(loader))
        >>> loader.state_dict()["sampler"]["batches"]
        1
        """
        sampler = self.sampler
        if self._had is not None and sampler is not None and sampler._is_told and not self._under_way:
            self._had, sampler._earlier_ranks, sampler._steps = None, (), 0  # the epoch begins anew
        return super().state_dict()

    def __iter__(self) -> Iterator[Batch[ArrayT]]:
        sampler, had = self.sampler, self._had or [-1, 0]
        was_left = sampler is not None and had[0] == sampler.epoch and had[1] > 0
        if sampler is not None and was_left and not (sampler._is_told or self._under_way):
            sampler.set_epoch(sampler.epoch + 1)
        epoch = 0 if sampler is None else sampler.epoch
        batches: Any = super().__iter__()
        if sampler is not None:
            sampler._is_told = False
        self._under_way += 1
        try:
            yield from batches
        finally:
            self._under_way -= 1
        if sampler is not None and sampler.epoch == epoch:  # or another was set meanwhile
            sampler.set_epoch(epoch + 1)
            self._had = None

    def _identity(self, sampler: Sampler) -> dict[str, Any]:
        return {} if self._collate_fn else super()._identity(sampler)

    def _make_batches(self, rows: Iterable[object]) -> Iterator[Batch[ArrayT]]:
        collate_fn, dataset = self._collate_fn, self._dataset
        if collate_fn is None:
            results: Any = super()._make_batches(rows)
            yield from results
            return
        fetch = getattr(dataset, "__getitems__", None) or (lambda batch: [dataset[i] for i in batch])
        how = {"depth": self._prefetch, "threads": self._threads}
        with Prefetcher(lambda batch, _: collate_fn(fetch(batch)), rows, **how) as batches:
            yield from batches

    def __repr__(self) -> str:
        suffix = f" by {self._threads} threads" if self._threads > 1 else ""
        return f"Loader({self._batches!r}, {self._prefetch} made ahead{suffix})"

    def _repr_html_(self) -> str:
        from varlen.display.html import keys_html
        from varlen.display.text import LINE, clip

        facts = {"dataset": self._dataset, "batches": self._batches, "made ahead": self._prefetch}
        return keys_html("Loader", [(name, clip(repr(value), LINE)) for name, value in facts.items()])


def _check_options(dataset: object, options: Mapping[str, object]) -> None:
    """Refuses what a DataLoader has, and a Loader has in another way, before anything else is said."""
    for name in options:
        if name in _ELSEWHERE:
            raise option_error(name, f"; {_ELSEWHERE[name]}")
    if isinstance(dataset, Dataset):
        check_names(options, BatchKeywords, Loader.__init__)


def _collate_fn(dataset: object, function: object, options: Any) -> Callable[[list[Any]], Any]:
    """What makes a batch of samples of another dataset."""
    if not hasattr(dataset, "__len__") or not hasattr(dataset, "__getitem__"):
        kind = type(dataset).__name__
        raise type_error("dataset", f"expected __len__ and __getitem__, got {kind}; varlen.open opens files")
    if isinstance(dataset, Mapping):
        raise type_error(
            "dataset", f"expected rows by number, got {type(dataset).__name__} of {short([*dataset])}"
        )
    if function is None and isinstance(dataset, (str, bytes)):
        raise type_error("dataset", f"expected rows, got {short(dataset)}; varlen.open opens files")
    if function is None:
        collate: Callable[[list[Any]], Any] = Collate(**options)
        return collate
    if options:
        raise value_error(
            f"{next(iter(options))}", "collate_fn makes the batches; it has no such option here"
        )
    if not callable(function):
        raise instance_error("collate_fn", "a function", function)
    result: Callable[[list[Any]], Any] = function
    return result


def _may_be_empty(batches: object) -> bool:
    return isinstance(batches, Sampler) and batches.num_replicas > 1 and batches.uneven == "empty"
