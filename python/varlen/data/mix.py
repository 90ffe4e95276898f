"""One sampler over several data sets: each has its share of the batches, or of the rows of each batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from varlen import _core
from varlen.arguments import as_int, one_of, vocabularies_of
from varlen.data.dataset import Dataset
from varlen.data.facts import facts_of, facts_of_words, rows_to_look_at
from varlen.data.mix_weights import Pieces, pieces_of, shares_of_sizes
from varlen.data.options import check_names
from varlen.data.records import PackedRows, RowNumbers
from varlen.data.sampler import Ints, OrderKeywords, Sampler, cut, with_order
from varlen.data.samplers import length_of_rows
from varlen.data.sources.extra_key import KeyedSource
from varlen.data.sources.memory import Column
from varlen.data.sources.translation import TranslatedSource, join_vocabularies
from varlen.errors import instance_error, type_error, value_error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from varlen.io import Account

__all__ = ["Mix"]

_MOST_DRAWS = 2**31 - 1
_MOST_TRIES = 10_000


class Mix(Sampler):
    """Sample batches of several data sets, each with its share.

    `mix.dataset` has the rows of all of them, one data set after another, and the mix is a sampler of its
    rows: `Loader(mix.dataset, batches=mix)`, `IterableDataset(mix.dataset, batches=mix)`, or a DataLoader
    with `batch_sampler=mix` and `collate_fn=mix.dataset.collator()`. Its batches depend only on seed and
    epoch, and it has ranks, states and epochs as every sampler has them.

    Rows may have been added at the end of each source when a state is loaded: the epoch goes on with the rows
    that it began with, in their order, and the next one has all. `growth` says which are new.

    There are two ways to mix. If each data set comes with a sampler, every batch is one of these samplers'
    batches: rows of one data set. With `batch_size` or `batches`, a batch has rows of several data sets. The
    key `source` of a batch says which data set each row is from.

    Parameters
    ----------
    sources
        A mapping of names to data sets, or to pairs of a data set and its sampler. All have the same keys at
        the same dims. If vocabularies of a key differ, `mix.dataset` has one with the words of all: those of
        the first source, then new ones. Ids of the others are translated as rows are read. Order, seed and
        options of a sampler hold; epoch, ranks and state are those of the mix.
    weights
        The share of each source: a mapping of names to numbers, of which only the ratios count. 0 leaves a
        source out. Or a schedule, a mapping of steps to such mappings: each holds from its step on, the first
        is step 0. Steps count the batches of an epoch, those of all ranks together; with `batches` the rows.
        By default the sizes of the sources.
    unit
        What weights and sizes count: "batches", "rows" or "tokens". By default batches, and rows in mixed
        batches; then no source is ever a whole one away from its share. Otherwise it is off by about the
        largest batch, or row.
    temperature
        Instead of weights: sizes to the power of 1 / temperature are the weights. 1 takes the sizes as they
        are, higher ones favour small sources, infinity makes all equal.
    until
        The end of an epoch. "first": a source that has run out would be next. "longest": every source has
        come whole at least once; those that run out begin again, in another order if they shuffle, and with
        other random windows in other batches. "all": every batch or row has come exactly once; the others go
        on where a source has run out, in the ratios of their weights.
    spread
        "even" for turns that follow the shares as closely as possible; "random" for a source drawn by its
        weight each time, independent of those before.
    batch_size
        The rows of a mixed batch; the last may have fewer, unless `drop_last`. Rows come in the order of the
        mix, so that with an even spread each batch has about the shares of the mix.
    batches
        Instead of batch_size: a function that gets the lengths of the rows in their order, and returns a
        sampler that puts them into batches, such as `functools.partial(vl.data.BinPacking, size=2048)`.
    shuffle
        Whether each seed and epoch gives another order of the rows of sources without sampler, and other
        ranks to the batches of a step.
    source
        The name of the key that `mix.dataset` has beside those of the sources, whose words are the names of
        the sources; None for no such key.
    vocabularies
        Words by key, which the ids of `mix.dataset` begin with: those of a model, or of
        `mix.dataset.fields[key].vocabulary` before a source had new words.
    seed, drop_last, uneven, num_replicas, rank
        As in `Sampler`: the order, the last step, and the processes that share the batches.

    Raises
    ------
    ValueError, TypeError, KeyError
        Sources are empty or have other keys, or one has words where another has numbers; weights are
        negative, not numbers, all 0 or of other names; an option does not fit; a source has no tokens where
        those count. The message names the source.

    Examples
    --------
    >>> import varlen as vl
    >>> notes = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[n] for n in range(6)]}))
    >>> labs = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[n] for n in range(90, 93)]}))
    >>> how = {"weights": {"notes": 2, "labs": 1}, "until": "all", "shuffle": False}
    >>> mix = Mix({"notes": notes, "labs": labs}, batch_size=3, **how)
    >>> mix
    Mix(3 batches of 9 rows in epoch 0, 0.0% padding)
    >>> [batch["x"].ravel().tolist() for batch in vl.data.Loader(mix.dataset, batches=mix)]
    [[0, 90, 1], [2, 91, 3], [4, 92, 5]]
    >>> mix.dataset.batch([0, 6])["source"], mix.dataset.fields["source"].vocabulary
    (array([0, 1], dtype=uint8), ('notes', 'labs'))
    """

    _OPTIONS = ("until", "unit", "spread", "_batch_size", "_shares", "_schedule")

    @with_order
    def __init__(
        self,
        sources: Mapping[str, Any],
        *,
        weights: Mapping[str, float] | Mapping[int, Mapping[str, float]] | None = None,
        unit: Literal["batches", "rows", "tokens"] | None = None,
        temperature: float | None = None,
        until: Literal["first", "longest", "all"] = "first",
        spread: Literal["even", "random"] = "even",
        batch_size: int | None = None,
        batches: Callable[[Any], Sampler] | None = None,
        shuffle: bool = True,
        source: str | None = "source",
        vocabularies: Mapping[str, Sequence[str]] | None = None,
        **order: Unpack[OrderKeywords],
    ) -> None:
        check_names(order, OrderKeywords, type(self).__init__)
        one_of(until, "until", ("first", "longest", "all"))
        one_of(spread, "spread", ("even", "random"))
        one_of(unit, "unit", ("batches", "rows", "tokens", None))
        if batch_size is not None and batches is not None:
            raise value_error("batches", "pass either batch_size or batches, got both")
        if weights is not None and temperature is not None:
            raise value_error("temperature", "pass either weights or temperature, got both")
        self._batch_size = None if batch_size is None else as_int(batch_size, "batch_size", 1)
        if batches is not None and not callable(batches):
            raise instance_error("batches", "a function of lengths", batches)
        self._is_mixed = batch_size is not None or batches is not None
        datasets, samplers = _checked_sources(sources, self._is_mixed)
        self.until, self.spread = until, spread
        self.unit: str = unit or ("rows" if self._is_mixed else "batches")
        if self._is_mixed and self.unit == "batches":
            raise value_error("unit", "a mixed batch has rows of all sources", "pass 'rows' or 'tokens'")
        self._user_pieces = None if weights is None else pieces_of(weights, [*datasets])
        self._temperature = temperature
        self._word_keys, self.dataset = _join_datasets(datasets, source, vocabularies_of(vocabularies))
        if self.unit == "tokens" and self.dataset.depth == 0:
            raise value_error("unit", "these rows have one value a key, and no tokens", "pass another unit")
        super().__init__(length_of_rows(self.dataset), shuffle=shuffle, **order)
        self._batches_of = batches
        parts: list[_Part] = []
        begin = 0
        for name, dataset in datasets.items():
            parts.append(_Part(name, dataset, samplers[name], begin, len(dataset), begin))
            begin += len(dataset)
        self._take(parts)

    def _take(self, parts: list[_Part]) -> None:
        """Mix these parts, with the weights that they have."""
        self._parts = parts
        for part in parts if self.unit == "tokens" else ():
            if not part.has_tokens(self.lengths):
                raise value_error(
                    "unit", f"{part.name!r} has no tokens, and so no share of them", "leave it out"
                )
        inner = self._sampler_of(self.lengths[self._known_rows])  # refuses rows that do not fit
        self._inner_options = {} if inner is None else inner._options()
        pieces = self._user_pieces or shares_of_sizes(self._part_sizes(), self._temperature)
        self._shares, self._schedule = pieces.shares, pieces.steps

    @property
    def weights(self) -> dict[str, float] | dict[int, dict[str, float]]:
        """The shares of the sources in this epoch, or those of each step at which they change.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2], [3], [4]]}))
        >>> Mix({"a": ds, "b": ds}, weights={"a": 1, "b": 3}, batch_size=3).weights
        {'a': 0.25, 'b': 0.75}
        """
        early: Any = self._dealer(self.epoch)
        return Pieces(early._schedule, early._shares).by_name([part.name for part in self._parts])

    @property
    def new_rows(self) -> Sequence[int]:
        """The rows of `mix.dataset` that are not in this epoch: they were added after its state was saved.

        The epoch goes on with the rows that it began with, in their ratios; the next one has all.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2], [3], [4]]}))
        >>> state = Mix({"a": ds.select([0, 1]), "b": ds}, batch_size=3).state_dict()
        >>> mix = Mix({"a": ds, "b": ds}, batch_size=3)
        >>> mix.load_state_dict(state)
        >>> mix.new_rows, mix.growth
        ([2], {'a': [2]})
        """
        early: Any = self._dealer(self.epoch)
        if early is self:
            return []
        is_new = np.ones(len(self.lengths), bool)
        is_new[early._known_rows] = False
        rows: list[int] = np.flatnonzero(is_new).tolist()
        return rows

    @property
    def growth(self) -> dict[str, list[int]]:
        """The new rows of each source that has some, counted as its data set does.

        Examples
        --------
        >>> import varlen as vl
        >>> old, new = (vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1]] * n})) for n in (4, 6))
        >>> mix = Mix({"a": new, "b": old}, batch_size=3)
        >>> mix.load_state_dict(Mix({"a": old, "b": old}, batch_size=3).state_dict())
        >>> mix.growth
        {'a': [4, 5]}
        """
        rows = np.array(self.new_rows, np.int64)
        own = {part.name: rows[part.owns(rows)] - part.begin for part in self._parts}
        return {name: numbers.tolist() for name, numbers in own.items() if len(numbers)}

    def accounts(self, batches: int | None = None) -> dict[str, Account]:
        """What was drawn of each source in this epoch: the account of its rows.

        Parameters
        ----------
        batches
            The number of batches that each rank has had in this epoch, as in `state_dict`. By default all
            of the epoch.

        Returns
        -------
        dict of str to Account
            The accounts by the names of the sources. Each counts what the source had, what was not drawn, and
            what was drawn again; over all ranks.

        Raises
        ------
        ValueError
            There are fewer batches than that.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2], [3], [4]]}))
        >>> mix = Mix({"a": ds, "b": ds}, weights={"a": 1, "b": 2}, batch_size=3, until="longest")
        >>> for line in mix.accounts()["b"].summary():
        ...     print(line)
        in: 3 rows of 1 file, 4 values in 1 column; out: 7 values
        added: 2 rows and 3 values of x, taken again; first row 0
        """
        numbers = [self._row_numbers(draw, 0) for draw in self._draws_of_ranks(batches)]
        firsts = [_whole_rows(rows) for rows in numbers]
        rows = np.concatenate([np.empty(0, np.int64), *firsts])
        accounts = {}
        for part in self._parts:
            own = rows[part.owns(rows)] - part.begin
            accounts[part.name] = part.dataset._with_rows(own, "the mix").account
        return accounts

    def _draws_of_ranks(self, batches: int | None) -> list[_Draw]:
        """What all ranks had after each had so many batches."""
        earlier, count = self._position - self._steps, len(self._batches())
        steps = count if batches is None else as_int(batches, "batches") - earlier
        if not 0 <= steps <= count:
            raise value_error("batches", f"expected {earlier} to {earlier + count}, got {batches}")
        rng = np.random.default_rng([self.seed, self.epoch])
        early: Any = self._dealer(self.epoch)
        rest: list[_Draw] = early._deal(rng)
        draws: list[_Draw] = []
        for replicas, number in (*self._earlier_ranks, (self.num_replicas, steps)):
            rest = self._in_steps(rest, replicas, rng)
            again: Iterable[_Draw] = cycle(rest) if self.uneven == "repeat" else rest
            draws += islice(again, replicas * number)
            rest = rest[replicas * number :]
        return draws

    def _part_sizes(self) -> Ints:
        """The size of each source, as weights count it."""
        if self.unit == "rows":
            return np.array([part.count for part in self._parts], np.int64)
        return np.array([_Stream(part, self, 0).passes[0].amount for part in self._parts], np.int64)

    def _sampler_of(self, lengths: Ints) -> Sampler | None:
        """The sampler that puts rows of these lengths into batches."""
        if self._batches_of is None:
            return None
        sampler = self._batches_of(lengths)
        if not isinstance(sampler, Sampler):
            raise type_error(
                "batches", f"expected a function that returns a sampler, got {type(sampler).__name__} from it"
            )
        if sampler._row_count != len(lengths):
            raise value_error(
                "batches", f"expected a sampler of {len(lengths)} rows, got one of {sampler._row_count}"
            )
        return sampler

    # What a state says of the mix.

    def _identity(self) -> dict[str, Any]:
        if self._facts is None:
            counts = {f"rows of {part.name}": part.count for part in self._parts}
            facts = {part.name: facts_of(self.lengths[part.rows]) for part in self._parts}
            all_facts = {**facts_of(self.lengths[self._known_rows]), **counts, "sources": facts}
            if self._word_keys:
                all_facts["words"] = {key: facts_of_words(self._words(key)) for key in self._word_keys}
            self._facts = self.lengths, all_facts
        return dict(self._facts[1])

    def _words(self, key: str) -> tuple[str, ...]:
        return (self.dataset.fields[key].vocabulary if key in self.dataset else None) or ()

    def _first(self, facts: Mapping[str, Any]) -> Sampler:
        words = facts.get("words")
        for key, own in words.items() if isinstance(words, Mapping) else ():
            if own != facts_of_words(self._words(key)[: own[0]]):
                reason = f"was saved with other ids of the words of {key!r}, of which it had {own[0]}"
                advice = "the words of that mix as vocabularies= keep their ids where sources have new ones"
                raise value_error("state", reason, advice)
        parts: list[_Part] = []
        for part in self._parts:
            parts.append(part.first(facts, sum(early.count for early in parts)))
        if all(early.count == part.count for early, part in zip(parts, self._parts, strict=True)):
            return self
        early_mix = self._early_copy()
        early_mix._take(parts)
        return early_mix

    @property
    def _known_rows(self) -> Ints:
        return np.concatenate([part.rows for part in self._parts])

    @property
    def _row_count(self) -> int:
        return sum(part.count for part in self._parts)

    @property
    def _count_shown(self) -> int:
        return self._row_count

    @property
    def _rows_to_look_at(self) -> dict[int, tuple[int, str]]:
        looks: dict[int, tuple[int, str]] = {}
        for part in self._parts:
            places = rows_to_look_at(part.count, max(16 // len(self._parts), 2))
            numbers = part.rows[places].tolist()
            looks |= {row: (row - part.begin, f" of {part.name!r}") for row in numbers}
        return looks

    def _options(self) -> dict[str, Any]:
        options = {
            **super()._options(),
            **{f"{key} of mixed rows": x for key, x in self._inner_options.items()},
        }
        for part in self._parts:
            if part.sampler is not None:
                own = {**part.sampler._identity(), **part.sampler._options()}
                options |= {f"{part.name}: {key}": value for key, value in own.items()}
        return options

    # How batches are dealt.

    def _deal(self, rng: np.random.Generator) -> list[Any]:
        entropy = int(rng.integers(2**63))
        streams = [_Stream(part, self, entropy) for part in self._parts]
        order = self._order(streams, entropy)
        if not self._is_mixed:
            draws = [draw for stream in streams for draw in stream.draws]
            return [draws[i] for i in order.tolist()]
        draws = self._mixed_batches(np.concatenate([stream.rows for stream in streams])[order], rng)
        for turn, draw in enumerate(draws if self.until == "longest" else ()):
            draw.turn = turn
        return draws

    def _mixed_batches(self, rows: Ints, rng: np.random.Generator) -> list[_Draw]:
        """Rows in the order of the mix as batches."""
        sampler = self._sampler_of(self.lengths[rows])
        if sampler is not None:
            batches = sampler._deal(rng)
            if type(sampler)._row_numbers is not Sampler._row_numbers:
                return [_Draw(sampler, batch, rows) for batch in batches]
            return [_Draw(None, rows[batch]) for batch in batches]
        assert self._batch_size is not None
        return [_Draw(None, batch) for batch in cut(rows, self._batch_size, self.drop_last)]

    def _order(self, streams: list[_Stream], entropy: int) -> Ints:
        """The draws of all streams, counted through, in the order of the mix."""
        begins = self._schedule * (self._batch_size or 1)
        last = self._shares[-1]
        shares, goals = self._shares, None
        if self.until == "longest":
            goals = np.array(
                [len(stream.passes[0]) * (w > 0) for stream, w in zip(streams, last, strict=True)]
            )
            self._make_passes(streams, goals)
        is_random = self.spread == "random"
        while True:
            counts = [len(stream) for stream in streams]
            offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
            sizes, chances = None, None
            if is_random:  # a source whose draws are small is drawn more often
                shares = self._shares / np.array([stream.mean for stream in streams])
                chances = np.random.default_rng([entropy, len(streams)]).random(int(offsets[-1]))
            elif self.unit != ("rows" if self._is_mixed else "batches"):
                sizes = np.concatenate([stream.sizes for stream in streams])
            order, wants = _core.mix_order(
                offsets, shares, begins, sizes, goals, chances, self.until == "all"
            )
            if wants < 0 or goals is None:
                return order
            streams[wants].extend(max(len(streams[wants].passes) // 4, 1))

    def _make_passes(self, streams: list[_Stream], goals: Ints) -> None:
        """About as many passes of each source as the longest takes; refuses more draws than there can be."""
        last = self._shares[-1]
        amounts = np.array([stream.passes[0].amount for stream in streams], np.float64)
        spans = np.divide(amounts, last, out=np.zeros_like(last), where=goals > 0)
        means = np.array([stream.mean for stream in streams])
        draws = float((spans.max() * last / means).sum())
        if draws > _MOST_DRAWS:
            part = self._parts[int(np.argmax(spans))]
            raise value_error(
                "weights",
                f"{part.name!r} with a share of {last[int(np.argmax(spans))]:.3g} comes whole after "
                f"{draws:.3g} draws; there may be {_MOST_DRAWS}",
                "give it a greater weight, or until='first' or 'all'",
            )
        for stream, share in zip(streams, last.tolist(), strict=True):
            while (count := int(np.ceil(spans.max() * share / stream.pass_mean)) - len(stream.passes)) > 0:
                stream.extend(min(count, len(stream.passes)))  # what a pass has is known better then

    def _in_steps(self, batches: list[Any], replicas: int, rng: np.random.Generator) -> list[Any]:
        """The batches step by step, where the mix has them; those of a step go to any rank."""
        steps = len(batches) // replicas
        if replicas == 1 or steps == 0 or not self.shuffle:
            return batches
        places = np.arange(steps * replicas).reshape(steps, replicas)
        order = rng.permuted(places, axis=1).ravel().tolist()
        return [batches[i] for i in order] + batches[steps * replicas :]

    def _empty_batch(self) -> Any:
        sampler: Any = next((p.sampler for p in self._parts if p.sampler is not None), None)
        if self._is_mixed:
            sampler = self._sampler_of(self.lengths[:0])
        if sampler is None or type(sampler)._row_numbers is Sampler._row_numbers:
            return _Draw(None, np.empty(0, np.int64))
        return _Draw(sampler, sampler._empty_batch())

    def _row_numbers(self, batch: Any, epoch: int) -> RowNumbers:
        # Windows of a row are others where it comes again.
        number = epoch + (batch.turn << 32)
        if batch.sampler is None:
            return RowNumbers(batch.batch.tolist(), number)
        if type(batch.sampler)._row_numbers is Sampler._row_numbers:
            return RowNumbers((batch.batch + batch.place).tolist(), number)
        numbers: RowNumbers = batch.sampler._row_numbers(batch.batch, number)
        rows = np.array(numbers, np.int64)
        is_begin = isinstance(batch.place, int)
        numbers[:] = (rows + batch.place if is_begin else batch.place[rows]).tolist()
        return numbers

    def _sizes(self, batches: list[Any], padded: bool) -> Ints:
        result = np.zeros(len(batches), np.int64)
        samplers = {id(draw.sampler): draw.sampler for draw in batches}
        for key, sampler in samplers.items():
            places = [i for i, draw in enumerate(batches) if id(draw.sampler) == key]
            own = [batches[i].batch for i in places]
            result[places] = super()._sizes(own, padded) if sampler is None else sampler._sizes(own, padded)
        return result


class _Draw:
    """One batch of a sampler, and what its row numbers are in the rows of all sources.

    sampler: None for rows of the mix. place: what is added to them, or where each is found. turn: another
    number where the same rows come again.
    """

    __slots__ = ("batch", "place", "sampler", "turn")

    def __init__(self, sampler: Sampler | None, batch: Any, place: Any = 0, turn: int = 0) -> None:
        self.sampler, self.batch, self.place, self.turn = sampler, batch, place, turn

    def __len__(self) -> int:
        return len(self.batch)


class _Part:
    """One source of a mix: its rows begin at `begin` among all, and `count` of them are in the epoch.

    seed: where they began when the epoch did, on which their order depends.
    """

    def __init__(
        self, name: str, dataset: Dataset, sampler: Sampler | None, begin: int, count: int, seed: int
    ) -> None:
        self.name, self.dataset, self.sampler = name, dataset, sampler
        self.begin, self.count, self.seed = begin, count, seed

    def first(self, facts: Mapping[str, Any], seed: int) -> _Part:
        """The part of the rows that a state knows."""
        if self.sampler is not None:
            prefix = f"{self.name}: "
            own = {key.removeprefix(prefix): x for key, x in facts.items() if key.startswith(prefix)}
            sampler = self.sampler._first(own)
            return _Part(self.name, self.dataset, sampler, self.begin, sampler._row_count, seed)
        count = facts.get(f"rows of {self.name}")
        count = min(count, self.count) if isinstance(count, int) and count > 0 else self.count
        return _Part(self.name, self.dataset, None, self.begin, count, seed)

    def has_tokens(self, lengths: Ints) -> bool:
        """Whether rows that may be drawn have tokens; lengths: those of all rows of the mix."""
        own = self.sampler
        if own is None:
            return bool(lengths[self.rows].any())
        return bool((own.lengths if own._has_lengths else lengths[self.rows])[own._drawn_rows].any())

    @property
    def rows(self) -> Ints:
        """Those in the epoch."""
        rows = np.arange(self.count) if self.sampler is None else self.sampler._known_rows
        return self.begin + rows

    def owns(self, rows: Ints) -> Any:
        """Which rows are of this source."""
        return (rows >= self.begin) & (rows < self.begin + len(self.dataset))


class _Pass:
    """All draws of a source once: batches of its sampler, or rows."""

    def __init__(self, draws: Any, sizes: Ints | None) -> None:
        self.draws, self.sizes = draws, sizes
        self.amount = len(draws) if sizes is None else int(sizes.sum())

    def __len__(self) -> int:
        return len(self.draws)


class _Stream:
    """The draws of a source, pass after pass; each pass is drawn anew."""

    def __init__(self, part: _Part, mix: Mix, entropy: int) -> None:
        self._part, self._mix = part, mix
        seed = part.sampler.seed if part.sampler is not None else 0
        self._rng = np.random.default_rng([entropy, part.seed, seed])
        self.passes: list[_Pass] = []
        self.extend(1)

    def __len__(self) -> int:
        return sum(map(len, self.passes))

    @property
    def mean(self) -> float:
        """The mean size of a draw."""
        return sum(part.amount for part in self.passes) / len(self)

    @property
    def pass_mean(self) -> float:
        """The mean size of a pass."""
        return self.mean * len(self) / len(self.passes)

    @property
    def sizes(self) -> Ints:
        """The size of each draw."""
        return np.concatenate([part.sizes for part in self.passes if part.sizes is not None])

    def extend(self, count: int) -> None:
        """Makes more passes."""
        for _ in range(count):
            self.passes.append(self._pass())

    def _pass(self) -> _Pass:
        """Draws that have tokens where those count: a few rows of many empty ones may have none."""
        for _ in range(_MOST_TRIES):
            draws = self._try_pass()
            if draws.amount:
                return draws
        reason = f"{self._part.name!r} drew no tokens in {_MOST_TRIES} passes, one after another"
        raise value_error("sources", reason, "give a sampler of more rows, or leave its empty rows out")

    def _try_pass(self) -> _Pass:
        part, unit, mix, rng = self._part, self._mix.unit, self._mix, self._rng
        sampler = part.sampler
        batches = None if sampler is None else sampler._deal(rng)
        if batches is not None and not any(map(len, batches)):
            assert sampler is not None
            raise value_error("sources", f"{part.name!r} has no batch: {sampler._why_nothing()}")
        if mix._is_mixed:
            rows = _row_order(part.count, rng, mix.shuffle)
            rows = part.begin + (rows if batches is None else np.concatenate(batches))
            return _Pass(rows, mix.lengths[rows] if unit == "tokens" else None)
        assert sampler is not None
        assert batches is not None
        turn = len(self.passes)
        if sampler._has_lengths:
            draws = [_Draw(sampler, batch, part.begin, turn) for batch in batches]
        else:  # the mix knows them
            draws = [_Draw(None, part.begin + batch, turn=turn) for batch in batches]
        if unit == "tokens":
            return _Pass(draws, mix._sizes(draws, padded=False))
        return _Pass(draws, np.array([len(batch) for batch in batches], np.int64) if unit == "rows" else None)

    @property
    def draws(self) -> list[_Draw]:
        """The batches of all passes."""
        return [draw for part in self.passes for draw in part.draws]

    @property
    def rows(self) -> Ints:
        """The rows of all passes."""
        return np.concatenate([part.draws for part in self.passes])


def _row_order(count: int, rng: np.random.Generator, shuffle: bool) -> Ints:
    return rng.permutation(count) if shuffle else np.arange(count)


def _whole_rows(rows: RowNumbers) -> Ints:
    """The rows of a batch; one that is split counts where its first piece is."""
    numbers = np.array(rows, np.int64)
    if isinstance(rows, PackedRows) and rows.start is not None:
        return np.asarray(numbers[np.array(rows.start, np.int64) == 0])
    return numbers


def _checked_sources(sources: Any, is_mixed: bool) -> tuple[dict[str, Dataset], dict[str, Sampler | None]]:
    """The data sets and samplers by name; refuses those that do not go together."""
    if not isinstance(sources, Mapping):
        raise instance_error("sources", "names to data sets", sources)
    if not sources:
        raise value_error("sources", "expected at least one")
    datasets: dict[str, Dataset] = {}
    samplers: dict[str, Sampler | None] = {}
    for name, entry in sources.items():
        if not isinstance(name, str):
            raise type_error("sources", f"expected names, got {name!r}")
        where = f"sources[{name!r}]"
        is_pair = isinstance(entry, (tuple, list)) and len(entry) == 2
        dataset, sampler = entry if is_pair else (entry, None)
        if not isinstance(dataset, Dataset):
            raise instance_error(where, "a Dataset, or a Dataset and its sampler", dataset)
        if not (sampler is None or isinstance(sampler, Sampler)):
            raise instance_error(where, "a sampler of varlen.data beside the Dataset", sampler)
        _check_source(where, dataset, sampler, is_mixed)
        datasets[name], samplers[name] = dataset, sampler
    return datasets, samplers


def _check_source(where: str, dataset: Dataset, sampler: Sampler | None, is_mixed: bool) -> None:
    if not len(dataset):
        raise value_error(where, "has no rows", "leave it out")
    if sampler is None:
        if not is_mixed:
            raise value_error(
                where,
                "has no sampler",
                "give (dataset, sampler) for batches of one source, or batch_size= for mixed batches",
            )
        return
    if sampler._row_count != len(dataset):
        raise value_error(
            where, f"its sampler was made for {sampler._row_count} rows, but it has {len(dataset)}"
        )
    if is_mixed and type(sampler)._row_numbers is not Sampler._row_numbers:
        raise value_error(
            where,
            f"a {type(sampler).__name__} makes batches of its own, which mixed batches cannot be made of",
            "leave batch_size and batches out, or give a sampler of rows",
        )


def _join_datasets(
    datasets: Mapping[str, Dataset], key: str | None, vocabularies: Mapping[str, Sequence[str]]
) -> tuple[list[str], Dataset]:
    """The keys whose ids are translated, and the rows of all, with a key that says which one each is of."""
    labels = [f"sources[{name!r}]" for name in datasets]
    sources = join_vocabularies([dataset.source for dataset in datasets.values()], vocabularies, labels)
    word_keys = {name for source in sources if isinstance(source, TranslatedSource) for name in source.tables}
    if key is not None:
        if not isinstance(key, str):
            raise instance_error("source", "a name or None", key)
        if any(key in dataset for dataset in datasets.values()):
            raise value_error(
                "source", f"{key!r} is a key of the sources", "give another name, or None for no such key"
            )
    names = tuple(datasets)
    dtype = np.min_scalar_type(max(len(names) - 1, 1))
    parts = []
    for i, (dataset, source) in enumerate(zip(datasets.values(), sources, strict=True)):
        part, own = dataset, source
        if key is not None:
            column = Column(0, dtype, vocabulary=names)
            own = KeyedSource(source, key, column, np.full(len(source), i, dtype))
        if own is not dataset.source:
            part = dataset._with_source(own)
            if dataset._index is not None:
                part = part._with_rows(dataset._index)
        parts.append(part)
    return sorted(word_keys), parts[0].concat(*parts[1:])
