"""One pass over a dataset in batches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, Generic, cast

import numpy as np

from varlen import _core
from varlen.arguments import MOST_THREADS, as_bool, as_few, as_int, as_shuffle
from varlen.backends.values import ArrayT
from varlen.data.batch import Batch
from varlen.data.batch_list import BatchList
from varlen.data.buffers import Buffers
from varlen.data.devices import usable_device
from varlen.data.devices.loader import prefetch_to
from varlen.data.devices.staging import Ring
from varlen.data.facts import DIGESTS
from varlen.data.options import BatchOptions
from varlen.data.plan import SeedLike
from varlen.data.prefetch import Prefetcher
from varlen.data.sampler import Sampler, refuse_differences
from varlen.data.samplers import BatchSampler
from varlen.data.transport import raise_in_worker
from varlen.errors import instance_error, type_error, value_error

if TYPE_CHECKING:
    from varlen.data.dataset import Dataset
    from varlen.data.sources.memory import ColumnLike

__all__ = ["Epoch"]

Rows = Any

#: Events of a row that a state knows.
_LOOKED_AT = 16


class Epoch(Generic[ArrayT]):
    """The result of `Dataset.epoch`: iterate it for batches, as often as you like; `len` counts them.

    With the same seed every pass is the same; without one each differs.

    Parameters
    ----------
    dataset
        The dataset of the rows.
    options
        The options of the batches.
    batch_size, batches, shuffle, seed, epoch, drop_last, prefetch, progress
        As in `Dataset.epoch`.
    threads
        The batches to make at the same time, at most prefetch and 256.

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
        seed: SeedLike,
        epoch: int | None,
        drop_last: bool,
        prefetch: int,
        progress: bool,
        threads: int = 1,
    ) -> None:
        if (batch_size is None) == (batches is None):
            raise value_error("batch_size", "pass either batch_size or batches")
        batch_size = None if batch_size is None else as_int(batch_size, "batch_size", 1)
        if batches is not None and not hasattr(batches, "__iter__"):
            raise instance_error("batches", "batches of row numbers", batches)
        shuffle, drop_last = as_shuffle(shuffle), as_bool(drop_last, "drop_last")
        if batches is not None and (shuffle or drop_last):
            raise value_error("batches", "come in a fixed order; shuffle and drop_last need batch_size")
        if isinstance(batches, Sampler) and batches._row_count != len(dataset):
            raise value_error(
                "batches",
                f"the sampler was made for {batches._row_count} rows, but the dataset has {len(dataset)}",
                "make a sampler for this dataset, or select() rows from it first",
            )
        prefetch = as_int(prefetch, "prefetch")
        epoch = None if epoch is None else as_int(epoch, "epoch")
        if isinstance(seed, (int, np.integer)):
            seed = as_int(seed, "seed", maximum=None)
        elif not (seed is None or isinstance(seed, np.random.Generator)):
            raise type_error("seed", f"expected an int, a Generator or None; got {type(seed).__name__}")
        self._dataset, self._options = dataset, options
        self._seed, self._epoch, self._prefetch = seed, epoch, prefetch
        self._progress, self._threads = (
            as_bool(progress, "progress"),
            as_few(threads, "threads", MOST_THREADS, 1),
        )
        if self._threads > max(prefetch, 1):
            raise value_error("threads", f"expected 1 to prefetch={prefetch}, got {threads}")
        if batch_size is not None:
            batches = BatchSampler(
                len(dataset), batch_size, shuffle=shuffle, seed=seed if isinstance(seed, int) else 0,
                drop_last=drop_last, uneven="repeat", num_replicas=1, rank=0,
            )  # fmt: skip
            batches.set_epoch(epoch or 0)
        self._is_drawn = batch_size is not None and shuffle and not isinstance(seed, int)
        self._batches: Any = batches
        if isinstance(batches, (list, tuple)):
            self._batches = BatchList(batches, len(dataset))
        self._is_used_up = False  # of an iterator, which gives its batches once
        # What a state says of the data, and the rows that it looks at.
        self._data_identity: tuple[tuple[int, ...], dict[str, Any]] | None = None
        # Of the last pass: the epoch of its sampler, and how many of its batches the loop has had.
        self._had: list[int] | None = None

    def __len__(self) -> int:
        return len(self._batches)

    def __iter__(self) -> Iterator[Batch[ArrayT]]:
        rows = self._rows()
        sampler = self._batches if isinstance(self._batches, Sampler) else None
        self._had = had = [0, 0] if sampler is None else [sampler.epoch, sampler._position]
        result = _count(self._make_batches(rows), had)
        if not self._progress:
            return result
        from tqdm.auto import tqdm

        total = len(self) if hasattr(self._batches, "__len__") else None
        return iter(tqdm(result, total=total, initial=had[1], unit=" batches"))

    def _rows(self) -> Iterator[Rows]:
        if self._is_drawn:
            rng = np.random.default_rng(self._seed)
            self._batches.seed = int(rng.integers(2**63))
            self._batches._epoch_batches = None
        rows: Iterator[Rows] = iter(self._batches)
        if self._is_used_up:
            raise value_error(
                "batches",
                f"a {type(rows).__name__} yields its batches only once, and they are used up",
                "pass a list or a sampler",
            )
        self._is_used_up = rows is self._batches
        return rows

    def state_dict(self) -> dict[str, Any]:
        """The position of the last pass: the batches that the loop has consumed, not those made ahead.

        Returns
        -------
        dict
            A dict of numbers, texts and lists, for `load_state_dict` of an epoch with the same arguments.

        Raises
        ------
        ValueError
            Rows or windows are drawn without an int as seed.
        TypeError
            `batches` is neither a sampler of this module nor a list.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> epoch = ds.epoch(1, shuffle=True, seed=7)
        >>> batch = next(iter(epoch))
        >>> epoch.state_dict()["sampler"]["batches"]
        1
        """
        sampler, had = self._sampler(), self._had
        is_under_way = had is not None and had[0] == sampler.epoch
        return {
            "seed": self._seed,
            "sampler": sampler.state_dict(had[1] if had is not None and is_under_way else None),
            "data": self._identity(sampler._dealer(sampler.epoch)),
            "options": self._options_of_rows(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from a state: the next pass gives the remaining batches.

        Parameters
        ----------
        state
            The result of `state_dict`.

        Raises
        ------
        ValueError
            The state belongs to other rows or keys, or to an epoch with another seed, other batches, or other
            options that select events (`max_len`, `window`, `truncate`, `flatten`). The message says what
            differs. Only a few numbers of the rows are compared.
            Rows may have been added at the end, as `Sampler.load_state_dict` says.
        TypeError
            The argument is not such a state.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> epoch = ds.epoch(1)
        >>> seen = [batch["x"].size for _, batch in zip(range(2), epoch)]
        >>> again = ds.epoch(1)
        >>> again.load_state_dict(epoch.state_dict())
        >>> seen, [batch["x"].size for batch in again]
        ([3, 0], [1])
        """
        parts = {"sampler", "data", "options"}
        is_state = isinstance(state, Mapping) and parts | {"seed"} <= state.keys()
        if not is_state or not all(isinstance(state[name], Mapping) for name in parts):
            raise type_error(
                "state", f"expected the result of state_dict() of an epoch or a loader, got {short(state)}"
            )
        sampler = self._sampler()
        early = self._early_sampler(state)
        identity = self._identity(early)
        place_values(state["data"], identity, early._rows_to_look_at.values())
        own = {"seed": self._seed, **identity, **self._options_of_rows()}
        refuse_differences({"seed": state["seed"], **state["data"], **state["options"]}, own)
        sampler.load_state_dict(state["sampler"])
        self._had = None

    def _sampler(self) -> Sampler:
        if not isinstance(self._batches, Sampler):
            kind = type(self._batches).__name__
            raise type_error(
                "batches",
                f"expected a sampler of varlen.data or a list, because a {kind} has no state to resume from",
            )
        if (self._is_drawn or self._options.is_random) and not isinstance(self._seed, int):
            raise value_error(
                "seed", "a Generator cannot repeat its draws, so the state cannot be restored", "pass an int"
            )
        return self._batches

    def _early_sampler(self, state: Mapping[str, Any]) -> Sampler:
        """The sampler of the rows that a state knows."""
        sampler = self._sampler()
        facts: dict[str, Any] = {}
        if isinstance(sampler, BatchList):
            return sampler.take_first(state["data"].get("rows"))
        for name in ("data", "options"):
            part = state["sampler"].get(name)
            facts.update(part if isinstance(part, Mapping) else {})
        return sampler._first(facts)

    def _identity(self, sampler: Sampler) -> dict[str, Any]:
        """What a state says of the rows of a sampler: the keys, and digests of a few."""
        numbers = tuple(sampler._rows_to_look_at)
        if self._data_identity is None or self._data_identity[0] != numbers:
            keys: Iterable[str] | None = self._options.values["keys"]
            columns: Mapping[str, ColumnLike] = self._dataset.fields
            names: list[str] = [*(columns if keys is None else keys)]
            rows = np.array(numbers, np.int64)
            ends = np.full(len(rows), _LOOKED_AT) if any(columns[name].dim for name in names) else None
            joint = self._dataset.source.read_many(self._dataset._source_rows(rows), None, ends, names)
            digests = [_digest_of(joint.slice(i, i + 1)) for i in range(len(rows))]
            identity: dict[str, Any] = {
                f"key {name}": f"{columns[name].dtype} of dim {columns[name].dim}" for name in names
            }
            identity |= {"rows": sampler._row_count, DIGESTS: " ".join(digests)}
            self._data_identity = numbers, identity
        return dict(self._data_identity[1])

    def _options_of_rows(self) -> dict[str, Any]:
        """Those that decide which events a row gives."""
        values = self._options.values
        others = {"window": values["window"], "truncate": values["truncate"], "flatten": values["flatten"]}
        return {"max_len": self._options.per_axis("max_len"), **others}

    def __repr__(self) -> str:
        suffix = f", {self._prefetch} made ahead" if self._prefetch else ""
        return f"Epoch({self._batches!r}{suffix})"

    def _make_batches(self, rows: Iterable[Rows]) -> Iterator[Batch[ArrayT]]:
        dataset, options, seed = self._dataset, self._options, self._seed

        def make(batch: Any, out: Buffers | Ring | None = None) -> Batch[ArrayT]:
            epoch = getattr(batch, "epoch", 0) if self._epoch is None else self._epoch
            result = dataset._run(options, batch, seed=seed, epoch=epoch, out=out, edges_per_row=True)
            return cast("Batch[ArrayT]", result)

        if options.device is not None:
            yield from self._on_device(options.device, make, rows)
        elif self._prefetch == 0:
            for batch in rows:
                yield make(batch)
        else:
            with Prefetcher(make, rows, **self._prefetch_options) as batches:
                yield from batches

    @property
    def _prefetch_options(self) -> dict[str, int]:
        """How many batches are made ahead, and how many at once: all, where they wait for a network."""
        waits = getattr(getattr(self._dataset, "source", None), "waits", False)
        is_drawn = isinstance(self._seed, np.random.Generator)  # for one batch after another
        threads = min(self._prefetch, MOST_THREADS) if waits and not is_drawn else self._threads
        return {"depth": self._prefetch, "threads": threads}

    def _on_device(self, device: str, make: Any, rows: Iterable[Rows]) -> Iterator[Any]:
        """Batches on a device; one is on its way there, and others are made before it, where they are made
        ahead.
        """
        if self._prefetch == 0:
            for batch in rows:
                yield make(batch)
            return
        framework = self._options.values["framework"] or "torch"
        ring = Ring(usable_device(device, framework).number, self._prefetch + 1)
        with Prefetcher(lambda batch, _: make(batch, ring), rows, **self._prefetch_options) as batches:
            yield from prefetch_to(batches, device)


def _digest_of(row: _core.Joint) -> str:
    digest = hashlib.blake2b(digest_size=4)
    for name, dim in sorted(zip(row.names, row.dims, strict=True)):
        digest.update(np.ascontiguousarray(row.values(name)).tobytes())
        for level in range(1, dim + 1):
            digest.update(row.level(level).offsets.tobytes())
    return digest.hexdigest()


def place_values(theirs: Mapping[str, Any], own: Mapping[str, Any], rows: Iterable[tuple[int, str]]) -> None:
    """Refuse a state where a row holds something else, under the same keys."""
    was, now = dict(theirs), dict(own)
    digests = f"{was.pop(DIGESTS, '')}".split(), now.pop(DIGESTS).split()
    if was != now or len(digests[0]) != len(digests[1]):
        return
    for (row, where), one, other in zip(rows, *digests, strict=True):
        if one != other:
            text = f"was saved for other data: row {row}{where} holds other values"
            raise value_error("state", text, row=row)


def _count(batches: Iterator[Batch[ArrayT]], had: list[int]) -> Iterator[Batch[ArrayT]]:
    try:
        for batch in batches:
            had[1] += 1
            yield batch
    except Exception as error:
        raise_in_worker(error)
        raise
