"""The base of all batch samplers: seeds and epochs, ranks, and states to resume from."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Mapping, Sequence
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from varlen import _core
from varlen.arguments import as_bool, as_int, as_shuffle, one_of
from varlen.backends.values import as_ints
from varlen.data.facts import DIGESTS, MARKS, facts_of, place_change, rows_to_look_at
from varlen.data.options import with_options
from varlen.data.ranks import as_rank, group_rank
from varlen.data.records import RowNumbers
from varlen.data.shards import refuse_shards_of
from varlen.errors import type_error, value_error

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Sampler"]

Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]
_T = TypeVar("_T", bound=np.generic)
Uneven = Literal["repeat", "drop", "empty"]


class HasLengths(Protocol):
    """A dataset, or any object whose `lengths` are the lengths of its rows."""

    @property
    def lengths(self) -> Any: ...


class OrderKeywords(TypedDict, total=False):
    """How the batches of an epoch are dealt out, beside `shuffle`; `Sampler` says what each does."""

    seed: int
    drop_last: bool
    uneven: Uneven | None
    num_replicas: int | None
    rank: int | None


class Sampler:
    """Base class of the batch samplers: seed and epoch, ranks, state, and the number of batches.

    The batches of an epoch depend only on seed and epoch, so every process computes the same ones. Each step
    takes `num_replicas` of them, one for each rank. With `shuffle`, the batches of a step hold about the same
    number of tokens, so that no rank waits for the others.

    Accelerate's `prepare` divides the batches of a DataLoader among ranks itself: give the sampler
    `num_replicas=1` there. Lightning's Trainer does not touch a sampler if `use_distributed_sampler=False`.

    Parameters
    ----------
    lengths
        (rows,) integers, the length of every row.
    shuffle
        Whether each seed and epoch gives another order of rows and batches.
    seed
        int, at least 0.
    drop_last
        Drop batches that are not full, in rows or bins.
    uneven
        The last step if batches do not divide evenly among ranks: "repeat" takes the first batches again;
        "drop" leaves the rest out; "empty" gives the other ranks a batch without rows, so that every row
        comes exactly once. By default "drop" with drop_last, else "repeat". Options that leave out all rows
        raise an error.
    num_replicas, rank
        The number of processes that share the rows, and the number of this one. By default from
        torch.distributed, provided it is initialised before the first batch; else from WORLD_SIZE and RANK in
        the environment; else one process.

    Examples
    --------
    >>> isinstance(vl.data.TokenBudget([3, 1, 2], 4), Sampler)
    True
    """

    _has_lengths = True  # or only the number of rows is known
    # Beside those of this class, what batches depend on. A `batch_size` that others see says that all batches
    # but the last have as many rows: Accelerate leaves out those that have not.
    _OPTIONS: tuple[str, ...] = ()

    def __init__(
        self,
        lengths: ArrayLike | HasLengths,
        *,
        shuffle: bool = False,
        seed: int = 0,
        drop_last: bool = False,
        uneven: Uneven | None = None,
        num_replicas: int | None = None,
        rank: int | None = None,
    ) -> None:
        self.lengths: Ints = _core.Level.from_lengths(_lengths_of(lengths)).lengths
        self.num_replicas, self.rank = as_rank(num_replicas, rank)
        self._is_found = num_replicas is None and rank is None
        self.shuffle, self.drop_last = as_shuffle(shuffle), as_bool(drop_last, "drop_last")
        one_of(uneven, "uneven", ("repeat", "drop", "empty", None))
        self.uneven: Uneven = uneven or ("drop" if self.drop_last else "repeat")
        self.seed = as_int(seed, "seed", maximum=None)
        self.epoch = 0
        self._epoch_batches: tuple[Any, list[Ints]] | None = None
        self._facts: tuple[Ints, dict[str, Any]] | None = None  # what a state says of these lengths
        # The epoch of a state that was saved when there were fewer rows, and the sampler of those.
        self._early: tuple[int, Sampler] | None = None
        # Steps that this epoch had among other numbers of ranks, each with that number; and those since.
        self._earlier_ranks: tuple[tuple[int, int], ...] = ()
        self._steps = 0
        self._start: int | None = None  # where a state that was loaded goes on
        self._is_told = False  # whether the epoch was set since
        self._pass: object = None  # the last iteration, which says where the epoch is

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, and with it the order, of the next iteration; the same on every rank.

        Parameters
        ----------
        epoch
            At least 0. The epoch of a loaded state resumes; any other starts from the beginning.

        Examples
        --------
        >>> sampler = vl.data.LengthBuckets(range(20), 2)
        >>> first = list(sampler)
        >>> sampler.set_epoch(1)
        >>> list(sampler) == first
        False
        """
        number, self._is_told = as_int(epoch, "epoch"), True
        if number != self.epoch:
            self.epoch, self._earlier_ranks, self._steps, self._start = number, (), 0, None
            self._pass = None

    @property
    def sampler(self) -> Self:
        """Returns itself: Lightning looks for a sampler inside the batch sampler and tells it the epoch.

        Examples
        --------
        >>> sampler = vl.data.LengthBuckets([5, 1, 4, 2], 2)
        >>> sampler.sampler is sampler
        True
        """
        return self

    def __len__(self) -> int:
        """The number of batches of this rank in this epoch."""
        self._refuse_nothing()
        return len(self._batches()) + self._position - self._steps

    def __iter__(self) -> Iterator[RowNumbers]:
        return self._rest(self._begin())

    def _begin(self) -> int:
        """How many batches of this epoch an iteration leaves out, as a state says."""
        self._find_rank()
        self._refuse_nothing()
        refuse_shards_of(self)
        start = self._start
        if start is None:
            start, self._earlier_ranks = 0, ()
        elif start == len(self._batches()) and not self._is_told:
            self._start = None  # torchdata asks for the end of an epoch, and then for the next one
        self._steps = start
        return start

    def _rest(self, start: int, own: tuple[int, Any] | None = None) -> Iterator[RowNumbers]:
        """The batches from `start` on, of an epoch and the ranks before; by default those that are set when
        the first batch is asked for.
        """
        self._find_rank()
        epoch, history = own or self._place
        this = object()
        if (epoch, history) == self._place:
            self._start = None  # not before: a DataLoader asks for two iterators, and uses one
            self._pass = this
        for k, batch in enumerate(self._deal_rest(epoch, history)[start:], start + 1):
            if self._pass is this:
                self._steps = k
            yield self._row_numbers(batch, epoch)

    def _refuse_nothing(self) -> None:
        """Refuses an epoch without batches where there are rows."""
        if self._earlier_ranks or not len(self.lengths) or self._batches():
            return
        count = len(self._dealer(self.epoch)._deal(np.random.default_rng([self.seed, self.epoch])))
        if count:
            raise value_error(
                "uneven",
                f"'drop' leaves no batch: there are {count} for {self.num_replicas} ranks",
                "pass 'repeat' or 'empty', or make batches smaller",
            )
        raise value_error("", f"{self._why_nothing()}; an epoch of {len(self.lengths)} rows has no batch")

    def _why_nothing(self) -> str:
        """The option that left all rows out, and what else to give."""
        return "drop_last: it leaves out all rows, as none of the batches is full; give a smaller batch_size"

    @property
    def _row_count(self) -> int:
        """The rows of the data that the batches are of."""
        return len(self.lengths)

    @property
    def new_rows(self) -> Sequence[int]:
        """The rows that are not in this epoch: they were added after its state was saved.

        The epoch goes on with the rows that it began with; the next one has all.

        Examples
        --------
        >>> state = vl.data.BatchSampler([3, 1, 2], 2, shuffle=True).state_dict()
        >>> again = vl.data.BatchSampler([3, 1, 2, 5, 4], 2, shuffle=True)
        >>> again.load_state_dict(state)
        >>> again.new_rows, sorted(row for batch in again for row in batch)
        (range(3, 5), [0, 1, 2])
        >>> again.set_epoch(1)
        >>> again.new_rows, sorted(row for batch in again for row in batch)
        (range(5, 5), [0, 1, 2, 3, 4])
        """
        return range(self._dealer(self.epoch)._row_count, self._row_count)

    @property
    def _count_shown(self) -> int:
        """The rows, or pieces of rows, that the batches are of."""
        return len(self.lengths)

    def _row_numbers(self, batch: Any, epoch: int) -> RowNumbers:
        """What is given for a batch of `_deal`."""
        return RowNumbers(batch.tolist(), epoch)

    def padding_share(self) -> float:
        """The share of slots in this epoch's padded batches that hold no data.

        Returns
        -------
        float
            From 0, if nothing is padded, to 1.

        Examples
        --------
        >>> round(vl.data.LengthBuckets([1, 3, 2, 2], 2, shuffle=False).padding_share(), 3)
        0.2
        """
        batches = [batch for batch in self._batches() if len(batch)]
        slots = int(self._sizes(batches, padded=True).sum())
        return 1 - int(self._sizes(batches, padded=False).sum()) / slots if slots else 0.0

    def state_dict(self, batches: int | None = None) -> dict[str, Any]:
        """The position in this epoch, to resume from in another process.

        Parameters
        ----------
        batches
            The number of batches that this rank has consumed in this epoch, including those before an earlier
            state. By default the number taken from the sampler. DataLoader workers run ahead of the loop, so
            pass the number there. torchdata's StatefulDataLoader knows it by itself.

        Returns
        -------
        dict
            A dict of numbers, texts and lists. It is equal on every rank after the same number of steps.

        Raises
        ------
        ValueError
            There are fewer batches than that, or an earlier state had more.

        Examples
        --------
        >>> sampler = vl.data.LengthBuckets([5, 1, 4, 2], 2, seed=1)
        >>> seen = next(iter(sampler))
        >>> state = sampler.state_dict()
        >>> again = vl.data.LengthBuckets([5, 1, 4, 2], 2, seed=1)
        >>> again.load_state_dict(state)
        >>> sorted(seen + list(again)[0])
        [0, 1, 2, 3]
        """
        self._find_rank()
        earlier = self._position - self._steps
        steps = self._steps if batches is None else as_int(batches, "batches") - earlier
        if not 0 <= steps <= len(self._batches()):
            raise value_error("batches", f"expected {earlier} to {len(self)}, got {batches}")
        return {
            "epoch": self.epoch,
            "batches": earlier + steps,
            "steps": [list(run) for run in (*self._earlier_ranks, (self.num_replicas, steps))],
            "data": self._dealer(self.epoch)._identity(),
            "options": self._dealer(self.epoch)._options(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from a state: the next iteration gives the remaining batches.

        The number of DataLoader workers may change, and so may the number of ranks, if all ranks took equally
        many steps. Rows may have been added at the end: the epoch goes on with those that it began with, and
        `new_rows` come from the next epoch on.

        Parameters
        ----------
        state
            The result of `state_dict`.

        Raises
        ------
        ValueError
            The state belongs to other rows, or to a sampler with other options. The message names each
            difference.
        TypeError
            The argument is not such a state.

        Examples
        --------
        >>> state = vl.data.TokenBudget([2, 9, 3, 4], 10).state_dict()
        >>> vl.data.TokenBudget([2, 9, 3, 4], 12).load_state_dict(state)
        Traceback (most recent call last):
        ValueError: state: was saved for other data or options: max_tokens 10, here 12
        """
        epoch, runs = _checked_state(state)
        early = self._first({**state["data"], **state["options"]})
        refuse_differences({**state["data"], **state["options"]}, {**early._identity(), **early._options()})
        self._find_rank()
        history, steps = self._split(runs)
        previous, self._early = self._early, None if early is self else (epoch, early)
        self._epoch_batches = None
        count = len(self._deal_rest(epoch, history))
        if steps > count:
            self._early, self._epoch_batches = previous, None
            raise value_error("state", f"{steps} batches of epoch {epoch} were taken, of {count}")
        self.epoch, self._earlier_ranks = epoch, history
        self._steps = self._start = steps
        self._is_told, self._pass = False, None

    def _split(self, runs: Sequence[tuple[int, int]]) -> tuple[tuple[tuple[int, int], ...], int]:
        """The steps of a state: those among other numbers of ranks, and those among this one since."""
        *history, (replicas, steps) = runs
        return (tuple(history), steps) if replicas == self.num_replicas else (tuple(runs), 0)

    @property
    def _place(self) -> tuple[int, Any]:
        """The epoch, and its steps among other numbers of ranks."""
        return self.epoch, self._earlier_ranks

    @property
    def _position(self) -> int:
        """Batches of this epoch that were taken."""
        return sum(steps for _, steps in self._earlier_ranks) + self._steps

    def __repr__(self) -> str:
        rank = f", rank {self.rank} of {self.num_replicas}" if self.num_replicas > 1 else ""
        name = type(self).__name__
        padding = f", {self.padding_share():.1%} padding" if self._has_lengths else ""
        count = len(self._batches()) + self._position - self._steps
        new = f", {len(self.new_rows)} new rows from the next on" if self.new_rows else ""
        rows = self._dealer(self.epoch)._count_shown
        return f"{name}({count} batches of {rows} rows in epoch {self.epoch}{padding}{new}{rank})"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_epoch_batches": None, "_facts": None, "_pass": None}

    # How batches are dealt.

    def _deal(self, rng: np.random.Generator) -> list[Ints]:
        """The batches of an epoch, for all ranks."""
        raise NotImplementedError

    def _empty_batch(self) -> Ints:
        """A batch without rows."""
        return np.empty(0, np.int64)

    def _sizes(self, batches: list[Ints], padded: bool) -> Ints:
        """The tokens of each batch, which has rows: with its padding, or without."""
        if not batches:
            return np.empty(0, np.int64)
        counts = np.array([len(batch) for batch in batches])
        lengths, begins = self.lengths[np.concatenate(batches)], np.cumsum(counts) - counts
        return counts * np.maximum.reduceat(lengths, begins) if padded else np.add.reduceat(lengths, begins)

    @property
    def _counts_padding(self) -> bool:
        """Whether a batch costs its padding, too."""
        return True

    def _batches(self) -> list[Ints]:
        """Those of this rank, from the last change of the number of ranks on."""
        self._find_rank()
        return self._deal_rest(self.epoch, self._earlier_ranks)

    def _deal_rest(self, epoch: int, history: tuple[tuple[int, int], ...]) -> list[Ints]:
        which = epoch, history, self.num_replicas, self.rank
        if self._epoch_batches is None or self._epoch_batches[0] != which:
            rng = np.random.default_rng([self.seed, epoch])
            batches = self._dealer(epoch)._deal(rng)
            for replicas, steps in history:
                batches = self._in_steps(batches, replicas, rng)[steps * replicas :]
            self._epoch_batches = which, self._own_share(self._in_steps(batches, self.num_replicas, rng))
        return self._epoch_batches[1]

    def _find_rank(self) -> None:
        """A group of processes may have come together since; what was given stays."""
        group = group_rank() if self._is_found else None
        if group is None or group == (self.num_replicas, self.rank):
            return
        runs = [*self._earlier_ranks, (self.num_replicas, self._steps)]
        self.num_replicas, self.rank = group
        if self._start is not None:  # of a state that was loaded before
            self._earlier_ranks, self._steps = self._split(runs if self._steps else runs[:-1] or runs)
            self._start = self._steps

    def _in_steps(self, batches: list[Ints], replicas: int, rng: np.random.Generator) -> list[Ints]:
        """The batches step by step: `replicas` of about the same size each, the last step what is left."""
        steps = len(batches) // replicas
        if replicas == 1 or steps == 0 or not self.shuffle:
            return batches
        sizes = self._sizes(batches[: steps * replicas], self._counts_padding)
        groups = np.argsort(sizes, kind="stable").reshape(steps, replicas)
        order = rng.permuted(groups, axis=1)[rng.permutation(steps)].ravel()
        return [batches[i] for i in order] + batches[steps * replicas :]

    def _own_share(self, batches: list[Ints]) -> list[Ints]:
        n, count = self.num_replicas, len(batches)
        steps = count // n if self.uneven == "drop" else -(-count // n)
        places = [self.rank + k * n for k in range(steps)]
        if self.uneven == "empty":
            return [batches[place] if place < count else self._empty_batch() for place in places]
        return [batches[place % count] for place in places]

    # What a state says of the sampler.

    def _identity(self) -> dict[str, Any]:
        if self._facts is None or self._facts[0] is not self.lengths:
            self._facts = self.lengths, facts_of(self.lengths)
        return dict(self._facts[1])

    def _first(self, facts: Mapping[str, Any]) -> Sampler:
        """The sampler of the rows that a state knows: this one, or that of its first rows."""
        count = facts.get("rows")
        if not isinstance(count, int) or not 0 <= count < len(self.lengths):
            return self
        early = self._early_copy()
        early._cut(count)
        return early

    def _early_copy(self) -> Self:
        early = copy.copy(self)
        early._epoch_batches = early._facts = early._pass = early._early = None
        return early

    @property
    def _known_rows(self) -> Ints:
        """The numbers of its rows."""
        return np.arange(self._row_count)

    @property
    def _drawn_rows(self) -> Ints:
        """Places in `lengths` of the rows that an epoch may have."""
        return np.arange(len(self.lengths))

    @property
    def _rows_to_look_at(self) -> dict[int, tuple[int, str]]:
        """Rows that are spread over all; and of each its number in its source, and which that is."""
        return {row: (row, "") for row in rows_to_look_at(self._row_count)}

    def _cut(self, count: int) -> None:
        """Leave out all but the first lengths."""
        self.lengths = self.lengths[:count]

    def _dealer(self, epoch: int) -> Sampler:
        """The sampler of the rows that an epoch has."""
        return self._early[1] if self._early is not None and self._early[0] == epoch else self

    def _options(self) -> dict[str, Any]:
        names = ("seed", "shuffle", "drop_last", "uneven", *self._OPTIONS)
        values = {name.removeprefix("_"): getattr(self, name) for name in names}
        plain = {name: x.tolist() if isinstance(x, np.ndarray) else x for name, x in values.items()}
        return {"sampler": type(self).__name__, **plain}


_PARAMETERS = inspect.signature(Sampler).parameters
#: The keywords of order that a caller leaves out.
ORDER = {name: _PARAMETERS[name].default for name in OrderKeywords.__annotations__}
with_order = with_options(OrderKeywords, ORDER)


def cut(
    rows: np.ndarray[tuple[Any, ...], np.dtype[_T]], size: int, drop_last: bool = False
) -> list[np.ndarray[tuple[Any, ...], np.dtype[_T]]]:
    """Rows as batches of `size`; the last one may have fewer."""
    stop = len(rows) // size * size if drop_last else len(rows)
    return [rows[begin : begin + size] for begin in range(0, stop, size)]


def split_options(options: Mapping[str, object]) -> tuple[OrderKeywords, dict[str, Any]]:
    """The keywords of order, and the others."""
    order: Any = {name: options.get(name, default) for name, default in ORDER.items()}
    order["seed"] = as_int(order["seed"], "seed", maximum=None)
    return order, {name: option for name, option in options.items() if name not in ORDER}


def refuse_differences(theirs: Mapping[str, object], own: Mapping[str, object]) -> None:
    """Refuse a state that was taken of something else."""
    names = [name for name in {**own, **theirs} if own.get(name) != theirs.get(name)]
    names = [name for name in names if name.rpartition(": ")[2] not in MARKS]
    names = [name for name in names if name != DIGESTS] or names
    if names:
        text = "; ".join(f"{name} {theirs.get(name)}, here {own.get(name)}" for name in names)
        hint = place_change(theirs, own) if "lengths" in names and "rows" not in names else ""
        raise value_error("state", f"was saved for other data or options: {text}{hint}")


def _checked_state(state: Any) -> tuple[int, list[tuple[int, int]]]:
    """The epoch of a state, and its steps among each number of ranks."""
    parts = ("data", "options")
    is_state = isinstance(state, Mapping) and {"epoch", "steps", *parts} <= state.keys()
    if not is_state or not all(isinstance(state[name], Mapping) for name in parts):
        hint = (
            "; state['sampler'] is of the sampler"
            if isinstance(state, Mapping) and "sampler" in state
            else ""
        )
        raise type_error(
            "state", f"expected the result of a sampler's state_dict(), got {short(state)}{hint}"
        )
    try:
        runs = [(as_int(n, "ranks", 1), as_int(k, "steps")) for n, k in state["steps"]]
        if runs:
            return as_int(state["epoch"], "epoch"), runs
    except (TypeError, ValueError, OverflowError):
        pass
    text = f"epoch {short(state['epoch'])} and steps {short(state['steps'])}"
    raise value_error("state", f"expected an epoch, and ranks and steps in pairs; got {text}")


def _lengths_of(value: Any) -> Any:
    """Lengths, or those of a dataset, a Ragged or a joint dict."""
    lengths = getattr(value, "lengths", value)
    if hasattr(value, "set_epoch") and lengths is value:
        raise type_error(
            "lengths",
            f"expected the lengths of rows, got a {type(value).__name__}; Lightning passes it, "
            "unless its Trainer has use_distributed_sampler=False",
        )
    return as_ints(lengths() if callable(lengths) else lengths)
