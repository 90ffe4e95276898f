"""Mix: shares, ends and batches against plain lists; ranks, workers, states, accounts, bad input."""

import json
import pickle
from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import islice

import numpy as np
import pytest
import varlen as vl
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from varlen import _core
from varlen.data import BatchSampler, BinPacking, LengthBuckets, Mix, TokenBudget, WeightedSampler

NAMES = "abcdefgh"
PIN = {"num_replicas": 1, "rank": 0}


def dataset(count, begin=0, lengths=None):
    """Rows with ids of their own."""
    lengths = [1 + i % 4 for i in range(count)] if lengths is None else lengths
    rows = [list(range(n)) for n in lengths]
    return vl.data.Dataset(
        vl.JointNestedRaggedTensorDict(
            {"id": np.arange(begin, begin + count), "x": rows}, schema={"x": "int64"}
        )
    )


SETS = {name: dataset(count, 1000 * i) for i, (name, count) in enumerate({"a": 30, "b": 13, "c": 5}.items())}
HOW = {
    "fixed": lambda ds, **how: BatchSampler(ds, 4, **how),
    "buckets": lambda ds, **how: LengthBuckets(ds, 4, buckets=[2], **how),
    "budget": lambda ds, **how: TokenBudget(ds, 9, **how),
    "bins": lambda ds, **how: BinPacking(ds, 3, batch_size=2, too_long="split", **how),
    "weighted": lambda ds, **how: WeightedSampler(ds, 4, np.arange(len(ds)), num_samples=20),
}
WEIGHTS = {"a": 3, "b": 2, "c": 1}
MIXES = {
    "batches": lambda **how: Mix(
        {name: (ds, HOW["fixed"](ds, shuffle=True)) for name, ds in SETS.items()}, weights=WEIGHTS, **how
    ),
    "samplers": lambda **how: Mix(
        {name: (ds, HOW[kind](ds)) for (name, ds), kind in zip(SETS.items(), HOW, strict=False)},
        weights={0: WEIGHTS, 3: {"a": 1, "b": 1, "c": 1}},
        unit="tokens",
        **how,
    ),
    "bins": lambda **how: Mix({name: (ds, HOW["bins"](ds)) for name, ds in SETS.items()}, **how),
    "rows": lambda **how: Mix(SETS, weights=WEIGHTS, batch_size=4, **how),
    "random rows": lambda **how: Mix(SETS, weights=WEIGHTS, batch_size=4, spread="random", **how),
    "row budget": lambda **how: Mix(SETS, temperature=2, batches=partial(TokenBudget, max_tokens=9), **how),
    "row bins": lambda **how: Mix(
        SETS, batches=partial(BinPacking, size=3, batch_size=2, too_long="split"), unit="tokens", **how
    ),
}


def flat(batches):
    return [row for batch in batches for row in batch]


def owners_of(mix):
    """The source and the row in it of each row of the epoch."""
    begins = np.cumsum([0, *(len(part.dataset) for part in mix._parts)])
    rows = flat(mix)
    sources = np.searchsorted(begins, rows, side="right") - 1
    return sources.tolist(), (np.array(rows, np.int64) - begins[sources]).tolist()


def distance(owners, pieces):
    """The furthest that a source is from its share over all draws, in exact numbers."""
    off, most, steps = [Fraction(0)] * len(pieces[0]), Fraction(0), sorted(pieces)
    for n, owner in enumerate(owners):
        weights = pieces[max(step for step in steps if step <= n)]
        total = sum(weights)
        for i, weight in enumerate(weights):
            off[i] += Fraction(weight, total) - (owner == i)
            most = max(most, abs(off[i]))
    return most


def even_bound(sources):
    return 1 - Fraction(1, 2 * sources - 2) + Fraction(1, 10**5) if sources > 1 else Fraction(1, 10**5)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 7)), min_size=1, max_size=5),
    st.sampled_from(["first", "longest", "all"]),
    st.sampled_from(["even", "random"]),
    st.integers(1, 5),
    st.integers(0, 3),
)
def test_rows_come_as_plain_lists_say(sources, until, spread, size, seed):
    weights = {NAMES[i]: w for i, (_, w) in enumerate(sources)}
    assume(any(weights.values()))

    def make(scale, until):
        sets = {NAMES[i]: dataset(n * scale, 1000 * i) for i, (n, _) in enumerate(sources)}
        how = {"weights": weights, "spread": spread, "seed": seed, "shuffle": False}
        return Mix(sets, until=until, batch_size=size, **how)

    mix = make(1, until)
    assert all(len(batch) == size for batch in list(mix)[:-1])
    owners, rows = owners_of(mix)
    counts = Counter(owners)
    own = {i: [row for owner, row in zip(owners, rows, strict=True) if owner == i] for i in counts}
    for i, (n, _) in enumerate(sources):  # in their order, again and again
        assert own.get(i, []) == [k % n for k in range(counts[i])]
    used = [i for i, (_, w) in enumerate(sources) if w]
    assert set(counts) <= set(used)
    if until == "all":
        assert all(counts[i] == sources[i][0] for i in used)
        return
    if spread == "even":
        assert distance(owners, {0: [*weights.values()]}) <= even_bound(len(sources))
    longer, _ = owners_of(make(len(owners) + 1, "first"))
    assert spread == "random" or longer[: len(owners)] == owners
    if until == "first":
        assert all(counts[i] <= sources[i][0] for i in used)
        wanted = longer[len(owners)]
        assert any(counts[i] == sources[i][0] for i in used)
        assert spread == "random" or counts[wanted] == sources[wanted][0]
    else:
        last = owners[-1]
        assert all(counts[i] >= sources[i][0] for i in used)
        assert counts[last] == sources[last][0]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 5).flatmap(
        lambda k: st.lists(st.lists(st.integers(1, 20), min_size=k, max_size=k), min_size=1, max_size=6)
    ),
    st.integers(1, 9),
)
def test_shares_of_a_schedule_are_as_close_as_can_be(pieces, gap):
    count = len(pieces[0])
    sets = {NAMES[i]: dataset(300, 1000 * i) for i in range(count)}
    weights = {gap * k: dict(zip(NAMES, piece, strict=False)) for k, piece in enumerate(pieces)}
    owners, _ = owners_of(Mix(sets, weights=weights, batch_size=1))
    steps = {step: [*piece.values()] for step, piece in weights.items()}
    assert distance(owners, steps) <= even_bound(count)


def test_steps_of_a_schedule_count_batches_of_all_ranks():
    sets = {"a": dataset(40), "b": dataset(40, 1000)}
    weights = {0: {"a": 1, "b": 0}, 3: {"a": 0, "b": 1}}
    for how in ({"batch_size": 4}, {}):
        parts = sets if how else {name: (ds, BatchSampler(ds, 4)) for name, ds in sets.items()}
        mix = Mix(parts, weights=weights, **how)
        assert [{row >= 40 for row in batch} for batch in mix] == [{False}] * 3 + [{True}] * 10
        assert mix.weights == {0: {"a": 1, "b": 0}, 3: {"a": 0, "b": 1}}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.lists(st.integers(1, 30), min_size=1, max_size=12), st.integers(1, 9)),
        min_size=2,
        max_size=4,
    ),
    st.sampled_from(["rows", "samplers"]),
)
def test_shares_of_tokens_are_about_those_of_the_weights(sources, way):
    sets = {NAMES[i]: dataset(len(n), 1000 * i, n) for i, (n, _) in enumerate(sources)}
    weights = {NAMES[i]: w for i, (_, w) in enumerate(sources)}
    how = {"weights": weights, "unit": "tokens", "until": "longest", "shuffle": False}
    if way == "rows":
        mix = Mix(sets, batch_size=1, **how)
    else:
        parts = {name: (ds, TokenBudget(ds, 40, padded=False, shuffle=False)) for name, ds in sets.items()}
        mix = Mix(parts, **how)
    begins, lengths = np.cumsum([0, *map(len, sets.values())]), mix.lengths
    amounts, largest, total = np.zeros(len(sets)), 0, 0
    shares = np.array([*weights.values()]) / sum(weights.values())
    for batch in mix:
        size = int(lengths[batch].sum())
        largest, total = max(largest, size), total + size
        amounts[np.searchsorted(begins, batch[0], side="right") - 1] += size
        bound = max(largest, 30 if way == "rows" else 40)
        assert (abs(amounts - total * shares) <= bound + 1e-6).all()


def test_sizes_and_temperature_are_the_weights():
    sets = {"a": dataset(90), "b": dataset(10, 1000)}
    assert Mix(sets, batch_size=5).weights == pytest.approx({"a": 0.9, "b": 0.1})
    assert Mix(sets, batch_size=5, temperature=2).weights == pytest.approx({"a": 0.75, "b": 0.25})
    assert Mix(sets, batch_size=5, temperature=float("inf")).weights == {"a": 0.5, "b": 0.5}
    by_tokens = Mix(sets, batch_size=5, unit="tokens").weights
    assert by_tokens["a"] == pytest.approx(SUM(sets["a"]) / (SUM(sets["a"]) + SUM(sets["b"])))
    parts = {
        name: (ds, BatchSampler(ds, size)) for (name, ds), size in zip(sets.items(), (9, 1), strict=True)
    }
    assert Mix(parts).weights == {"a": 0.5, "b": 0.5}
    assert Mix(parts, unit="rows").weights == pytest.approx({"a": 0.9, "b": 0.1})
    assert len(list(Mix(parts))) == 20


def SUM(ds):
    return int(ds.lengths.sum())


def token_mix(ds, sampler, **how):
    """A mix by tokens of rows that a sampler draws, and of others."""
    sources = {"n": (ds, sampler), "a": (SETS["a"], HOW["fixed"](SETS["a"]))}
    return Mix(sources, weights={"n": 1, "a": 1}, unit="tokens", **how, **PIN)


@pytest.mark.parametrize("until", ["first", "longest", "all"])
@pytest.mark.parametrize("spread", ["even", "random"])
@pytest.mark.parametrize("size", [{}, {"batch_size": 3}], ids=["alone", "mixed"])
@pytest.mark.parametrize("counts_rows", [False, True])
def test_a_pass_without_tokens_is_drawn_again(until, spread, size, counts_rows):
    lengths = [0, 0, 3, 0, 0, 1, 0]
    ds = dataset(7, 500, lengths)

    def make(epoch):
        sampler = WeightedSampler(7 if counts_rows else ds, 1, [1, 1, 1, 1, 1, 1, 0], num_samples=2)
        mix = token_mix(ds, sampler, until=until, spread=spread, **size)
        mix.set_epoch(epoch)
        return mix

    for epoch in range(30):
        mix = make(epoch)
        batches = list(mix)
        rows = [row for row in flat(batches) if row < 7]
        if until == "all":
            assert len(rows) == 2
        passes = [rows[i : i + 2] for i in range(0, len(rows) - 1, 2)]
        assert all(any(lengths[row] for row in part) for part in passes)
        assert 6 not in rows
        again = make(0)
        begun = iter(mix)
        had = [next(begun) for _ in range(min(len(batches), epoch % 3))]
        again.load_state_dict(json.loads(json.dumps(mix.state_dict())))
        assert had + list(again) == batches


@pytest.mark.parametrize("spread", ["even", "random"])
@pytest.mark.parametrize("batches", [None, 20])
def test_shares_of_tokens_do_not_hang_on_the_first_draw(spread, batches):
    few, many = dataset(3, 500, [0, 1, 39]), dataset(400, 1000, [5] * 400)
    tokens = Counter()
    for seed in range(12):
        sources = {"few": (few, WeightedSampler(few, 1, num_samples=1)), "many": (many, BatchSampler(400, 9))}
        how = {"weights": {"few": 1, "many": 1}, "unit": "tokens", "until": "longest", "seed": seed}
        mix = Mix(sources, batch_size=batches, spread=spread, **how, **PIN)
        for row in flat(mix):
            tokens[row < 3] += int(mix.lengths[row])
    assert tokens[False] >= 12 * 2000
    assert tokens[True] / tokens[False] == pytest.approx(1, abs=0.01 if spread == "even" else 0.2)


def test_random_draws_are_independent_and_follow_the_weights():
    sets = {"a": dataset(6000), "b": dataset(6000, 10_000)}
    mix = Mix(sets, weights={"a": 3, "b": 1}, spread="random", batch_size=1)
    owners, _ = owners_of(mix)
    a = np.array(owners) == 0
    assert abs(a.mean() - 0.75) < 5 * np.sqrt(0.75 * 0.25 / len(a))
    both = (a[1:] & a[:-1]).mean()
    assert abs(both - 0.75**2) < 0.03
    assert owners_of(Mix(sets, weights={"a": 3, "b": 1}, spread="random", batch_size=1, seed=1))[0] != owners
    tokens = Mix(
        {"a": dataset(3000, 0, [9] * 3000), "b": dataset(9000, 10_000, [1] * 9000)},
        weights={"a": 1, "b": 1}, unit="tokens", spread="random", batch_size=1,
    )  # fmt: skip
    counts = Counter(owners_of(tokens)[0])
    assert 9 * counts[0] / (9 * counts[0] + counts[1]) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("kind", HOW)
def test_batches_of_one_source_are_those_of_its_sampler(kind):
    parts = {name: (ds, HOW[kind](ds)) for name, ds in SETS.items()}
    mix = Mix(parts, until="all", seed=3)
    batches = list(mix)
    assert len(batches) == len(mix)
    for part in mix._parts:
        own = [batch for batch in batches if part.begin <= batch[0] < part.begin + len(part.dataset)]
        assert flat(own) == [
            row for row in flat(batches) if part.begin <= row < part.begin + len(part.dataset)
        ]
        if kind != "weighted":
            assert {row - part.begin for row in flat(own)} == set(range(len(part.dataset)))
    if kind == "bins":
        assert all(batch.bins[-1] == len(batch) for batch in batches)
    plain = {name: (ds, BatchSampler(ds, 4, shuffle=False)) for name, ds in SETS.items()}
    one = Mix({"b": plain["b"]})
    assert list(one) == list(plain["b"][1])


def test_a_batch_says_which_source_each_row_is_from():
    mix = Mix(SETS, weights=WEIGHTS, batch_size=6)
    words = mix.dataset.fields["source"].vocabulary
    for batch in vl.data.Loader(mix.dataset, batches=mix):
        names = [words[i] for i in batch["source"]]
        assert names == [NAMES[i // 1000] for i in batch["id"]]
    assert "source" not in Mix(SETS, batch_size=6, source=None).dataset
    renamed = Mix(SETS, batch_size=6, source="corpus").dataset
    assert renamed.batch([0, 47], framework="torch")["corpus"].tolist() == [0, 2]
    assert renamed[47].to_list()["corpus"] == "c"


def test_views_and_the_same_data_set_twice_are_sources():
    ds = dataset(9)
    mix = Mix({"odd": ds.select([1, 3, 5, 5]), "all": ds}, until="all", batch_size=20, shuffle=False)
    batch = mix.dataset.batch(next(iter(mix)))
    pairs = sorted(zip(batch["source"].tolist(), batch["id"].tolist(), strict=True))
    assert pairs == [(0, 1), (0, 3), (0, 5), (0, 5), *((1, i) for i in range(9))]


def test_rows_that_come_again_have_other_windows():
    ds = dataset(3, 0, [1000] * 3)
    whole = {"a": ds, "b": dataset(40, 1000, [5] * 40)}
    for how in ({"batch_size": 4}, {}, {"batches": partial(TokenBudget, max_tokens=1010)}):
        parts = whole if how else {name: (ds, BatchSampler(ds, 3)) for name, ds in whole.items()}
        mix = Mix(parts, weights={"a": 1, "b": 1}, until="longest", **how)
        options = {"max_len": 2, "window": "random", "windows": True, "seed": 1}
        starts = {}
        for batch in vl.data.Loader(mix.dataset, batches=mix, **options):
            own = dict(zip(batch["id"].tolist(), batch["window/start"].tolist(), strict=True))
            for row, start in own.items():  # twice in a batch, it has one window
                starts.setdefault(row, []).append(start)
        for row in range(3):
            assert len(starts[row]) > 9
            assert len(set(starts[row])) > len(starts[row]) * 0.9


# Ranks, states, workers.


@pytest.mark.parametrize("name", MIXES)
@pytest.mark.parametrize("until", ["first", "longest", "all"])
def test_ranks_share_the_batches(name, until):
    whole = list(MIXES[name](until=until, **PIN))
    for ranks in (2, 3):
        parts = [
            list(MIXES[name](until=until, uneven="empty", num_replicas=ranks, rank=r)) for r in range(ranks)
        ]
        steps = [[tuple(batch) for batch in step] for step in zip(*parts, strict=True)]
        dealt = [batch for step in steps for batch in step if batch]
        assert Counter(dealt) == Counter(map(tuple, whole))
        for k, step in enumerate(steps):  # a step holds what the mix has there, on any rank
            assert Counter(filter(None, step)) == Counter(map(tuple, whole[k * ranks : (k + 1) * ranks]))
        assert len({len(part) for part in parts}) == 1
        repeats = [list(MIXES[name](until=until, num_replicas=ranks, rank=r)) for r in range(ranks)]
        assert all(batch for part in repeats for batch in part)


@pytest.mark.parametrize("name", MIXES)
@pytest.mark.parametrize("until", ["first", "longest", "all"])
def test_a_mix_goes_on_at_every_point(name, until):
    def make(**how):
        mix = MIXES[name](until=until, seed=4, **{**PIN, **how})
        mix.set_epoch(2)
        return mix

    whole = list(make())
    for count in range(len(whole) + 1):
        begun, again = make(), MIXES[name](until=until, seed=4, **PIN)
        batches = iter(begun)
        first = [next(batches) for _ in range(count)]
        state = json.loads(json.dumps(begun.state_dict()))
        assert state == make().state_dict(batches=count)
        again.load_state_dict(state)
        again.set_epoch(2)
        rest = list(again)
        assert first + rest == whole
        assert [getattr(b, "bins", None) for b in first + rest] == [getattr(b, "bins", None) for b in whole]
    again.set_epoch(3)
    whole_next = make()
    whole_next.set_epoch(3)
    assert list(again) == list(whole_next) != whole


@pytest.mark.parametrize("name", MIXES)
def test_a_mix_goes_on_among_other_ranks(name):
    whole = list(MIXES[name](until="all", **PIN))
    for count in range(len(whole) // 2):
        begun = [MIXES[name](until="all", num_replicas=2, rank=r) for r in (0, 1)]
        first = [batch for mix in begun for batch in list(mix)[:count]]
        state = begun[0].state_dict(batches=count)
        assert state == begun[1].state_dict(batches=count)
        again = [MIXES[name](until="all", uneven="repeat", num_replicas=3, rank=r) for r in range(3)]
        for mix in again:
            mix.load_state_dict(state)
        rest = [batch for mix in again for batch in mix]
        assert set(map(tuple, first + rest)) == set(map(tuple, whole))
        assert len(first + rest) - len(whole) in (0, 1, 2)


def ids(batches):
    return [(batch["id"].tolist(), batch["source"].tolist()) for batch in batches]


@pytest.mark.parametrize("name", ["batches", "rows", "row budget"])
def test_loops_of_all_kinds_give_the_same_batches(name):
    data = pytest.importorskip("torch.utils.data")
    mix = MIXES[name](until="longest")
    whole = ids(mix.dataset.batch(rows) for rows in mix)
    assert ids(vl.data.Loader(mix.dataset, batches=MIXES[name](until="longest"), threads=2)) == whole
    assert ids(mix.dataset.epoch(batches=MIXES[name](until="longest"))) == whole
    for workers in (0, 2):
        how = {"num_workers": workers}
        stream = vl.data.IterableDataset(mix.dataset, batches=MIXES[name](until="longest"), framework="torch")
        assert ids(data.DataLoader(stream, batch_size=None, **how)) == whole
        collate = mix.dataset.collator(framework="torch")
        sampler = MIXES[name](until="longest")
        assert ids(data.DataLoader(mix.dataset, batch_sampler=sampler, collate_fn=collate, **how)) == whole


def test_two_ranks_of_two_workers_see_all_and_go_on():
    data = pytest.importorskip("torch.utils.data")

    def loader(rank, state=None):
        mix = MIXES["rows"](until="all", num_replicas=2, rank=rank, uneven="empty")
        batches = vl.data.IterableDataset(mix.dataset, batches=mix, framework="torch")
        if state is not None:
            batches.load_state_dict(state)
        return batches, data.DataLoader(batches, batch_size=None, num_workers=2)

    whole = [ids(loader(rank)[1]) for rank in (0, 1)]
    seen = [row for part in whole for batch, _ in part for row in batch]
    assert sorted(seen) == sorted(row for ds in SETS.values() for row in ds.batch(slice(None))["id"].tolist())
    for rank in (0, 1):
        batches, loop = loader(rank)
        first = [batch for _, batch in zip(range(3), loop, strict=False)]
        state = json.loads(json.dumps(batches.state_dict(batches=3)))
        assert ids(first) + ids(loader(rank, state)[1]) == whole[rank]


def test_bins_of_a_mix_make_blocks():
    for name in ("bins", "row bins"):
        mix = MIXES[name](until="all")
        tokens = 0
        for batch in vl.data.Loader(mix.dataset, batches=mix, layout="packed", pad_to=3):
            assert batch["x"].shape[1] == 3
            tokens += int((batch["document_ids"] >= 0).sum())
        assert tokens == sum(map(SUM, SETS.values()))
        assert 0 <= mix.padding_share() < 0.5


def word_files(folder, words):
    """A file for each list of sentences, whose ids count its own words."""
    for name, rows in words.items():
        vl.JointNestedRaggedTensorDict({"w": rows}).save(folder / f"{name}.nrt")
    return {name: vl.open(folder / f"{name}.nrt") for name in words}


def test_words_are_not_mixed_with_numbers(tmp_path):
    sets = word_files(tmp_path, {"a": [["u", "v"], ["v"]]})
    numbers = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"w": [[1], [2]]}, schema={"w": "uint8"}))
    for parts, how in (({"a": sets["a"], "b": numbers}, {"batch_size": 4}), (
        {name: (ds, BatchSampler(ds, 2)) for name, ds in (("a", sets["a"]), ("b", numbers))}, {}
    )):  # fmt: skip
        with pytest.raises(
            ValueError, match=r"sources\['b'\]: 'w' has another .*: it has no words; .*Writer"
        ):
            Mix(parts, **how)
    for name in ("x", "source"):
        with pytest.raises(ValueError, match=f"vocabularies: '{name}' is no key with words in all sources"):
            Mix(sets, batch_size=2, vocabularies={name: ["u"]})
    with pytest.raises(ValueError, match="vocabularies: key 'w' has the word 'u' twice"):
        Mix(sets, batch_size=2, vocabularies={"w": ["u", "u"]})


WORDS = {
    "a": [("p", ["u", "v"], [["i"], []]), ("q", ["v"], [["i", "j"]])],
    "b": [("r", ["w"], [["k", "k"]]), ("p", [], []), ("r", ["v", "u", "q", "z"], [[], ["j"], ["i"], []])],
    "c": [(f"n{i}", [f"m{3 * i + j}" for j in range(i % 3)], [["j"]] * (i % 3)) for i in range(150)],
}


def word_sets(folder, kind, **options):
    """Data sets with words of dim 0, 1 and 2, whose vocabularies differ."""
    sets = {}
    for name, rows in WORDS.items():
        columns = {key: [row[i] for row in rows] for i, key in enumerate(("id", "w", "deep"))}
        if kind == "memory":
            sets[name] = vl.data.Dataset(vl.JointNestedRaggedTensorDict(columns, row_ids="id", **options))
            continue
        for begin in range(0, len(rows), 100):  # words of the last are new in the second shard
            with vl.io.ShardWriter(
                folder / name, 70, row_ids=None, durable=False, append=begin > 0, **options
            ) as writer:
                writer.append({key: values[begin : begin + 100] for key, values in columns.items()})
        sets[name] = vl.open(folder / name, mmap=kind == "files")
    return sets


def plain_rows(batch):
    return list(zip(*(batch[key] for key in ("source", "id", "w", "deep")), strict=True))


@pytest.mark.parametrize("kind", ["memory", "files", "unmapped", "view"])
def test_vocabularies_of_sources_are_joined(tmp_path, kind):
    sets = word_sets(tmp_path, "memory" if kind == "view" else kind)
    expected = [(name, *row) for name, rows in WORDS.items() for row in rows]
    if kind == "view":
        sets = {name: ds.select(range(len(ds) - 1, -1, -1)) for name, ds in sets.items()}
        expected = [(name, *row) for name, rows in WORDS.items() for row in reversed(rows)]
    mix = Mix(sets, batch_size=16, until="all", seed=3)
    ds = mix.dataset
    for key, number in (("id", 1), ("w", 2), ("deep", 3)):
        own = [sets[name].fields[key].vocabulary for name in sets]
        words = list(dict.fromkeys(word for vocabulary in own for word in vocabulary))
        assert list(ds.fields[key].vocabulary) == words
        assert np.can_cast(np.min_scalar_type(len(words) - 1), ds.fields[key].dtype)
        assert {word for row in expected for word in flat_words(row[number])} <= set(words)
    assert plain_rows(ds[:].to_list()) == expected
    assert [ds[i].to_list()["w"] for i in (0, 3, -1)] == [expected[i][2] for i in (0, 3, -1)]
    words = np.array(ds.fields["w"].vocabulary)
    for rows in mix:
        for each in (ds, pickle.loads(pickle.dumps(ds))):
            assert plain_rows(each[rows].to_list()) == [expected[i] for i in rows]
            batch = each.batch(rows, layout="ragged", keys=["w", "id"])
            assert words[batch["w"]].tolist() == [word for i in rows for word in expected[i][2]]
            padded, mask = (each.batch(rows, max_len=2)[name] for name in ("w", "dim1/mask"))
            assert words[padded[mask]].tolist() == [word for i in rows for word in expected[i][2][:2]]
            assert set(words[padded[~mask]].tolist()) <= {"[PAD]"}
    assert {name: account.rows.source.values for name, account in mix.accounts().items()} == {
        name: len(rows) for name, rows in WORDS.items()
    }
    for name, account in mix.accounts().items():
        account.check()
        assert account.columns["w"].result.values == sum(len(row[1]) for row in WORDS[name])
    if kind in ("files", "unmapped"):
        ds.account.check()
        ds.save(tmp_path / "joined.nrt")
        assert plain_rows(vl.open(tmp_path / "joined.nrt")[:].to_list()) == expected


def flat_words(value):
    return [value] if isinstance(value, str) else [word for part in value for word in flat_words(part)]


def test_joined_vocabularies_resume_on_other_ranks(tmp_path):
    word_sets(tmp_path, "files")

    def make(**options):
        sets = {name: vl.open(tmp_path / name) for name in WORDS}
        parts = {name: (ds, BatchSampler(ds, 2, shuffle=True, seed=1)) for name, ds in sets.items()}
        return Mix(parts, until="all", seed=5, **options)

    def seen(mix, count=None):
        return [plain_rows(mix.dataset[rows].to_list()) for rows in islice(mix, count)]

    whole, ranks = seen(make()), [make(num_replicas=2, rank=rank) for rank in (0, 1)]
    first = [batch for mix in ranks for batch in seen(mix, 7)]
    rest = make()
    rest.load_state_dict(json.loads(json.dumps(ranks[0].state_dict())))
    assert sorted(first + seen(rest)) == sorted(whole)


def test_new_words_keep_the_ids_of_a_run(tmp_path):
    word_sets(tmp_path, "files")
    sets = {name: vl.open(tmp_path / name) for name in WORDS}
    how = {"batch_size": 8, "until": "all", "seed": 2}
    mix = Mix(sets, **how)
    words = {key: mix.dataset.fields[key].vocabulary for key in ("id", "w", "deep")}
    assert len(list(islice(mix, 3))) == 3
    state = json.loads(json.dumps(mix.state_dict()))
    rest, before = list(mix)[3:], mix.dataset
    with vl.io.ShardWriter(tmp_path / "a", 70, append=True, durable=False) as writer:
        writer.append({"id": ["new"], "w": [["new", "w"]], "deep": [[["new"], []]]})
    grown = {name: ds.reload() for name, ds in sets.items()}
    with pytest.raises(
        ValueError, match=r"state: was saved with other ids of the words of '(id|w|deep)', .*vocabularies="
    ):
        Mix(grown, **how).load_state_dict(state)
    again = Mix(grown, vocabularies=words, **how)
    again.load_state_dict(state)
    assert again.growth == {"a": [2]}
    for key, own in words.items():
        assert again.dataset.fields[key].vocabulary == (*own, "new")
    now = list(again)
    assert len(now) == len(rest)
    for mine, theirs in zip(now, rest, strict=True):
        one, two = before.batch(theirs, layout="ragged"), again.dataset.batch(mine, layout="ragged")
        for key in ("source", "id", "w", "deep"):
            np.testing.assert_array_equal(one[key], two[key])
    assert plain_rows(again.dataset[[2]].to_list()) == [("a", "new", ["new", "w"], [["new"], []])]
    assert before.batch([0])["id"].tolist() == [1]
    with vl.io.ShardWriter(tmp_path / "b", 70, append=True, durable=False) as writer:
        writer.append({"id": ["other"], "w": [["w"]], "deep": [[[]]]})
    with pytest.raises(
        ValueError, match=r"reload: 'id' has the new word 'other', .* mix or concat them again"
    ):
        Mix({name: grown[name] for name in "ab"}, batch_size=2).dataset.reload()


@pytest.mark.parametrize("ids", ["uint8", "int32", "int64"])
def test_new_words_keep_the_dtype_of_ids(tmp_path, ids):
    def add(name, words, **how):
        with vl.io.ShardWriter(tmp_path / name, 4, durable=False, **how) as writer:
            writer.append({"w": [words]})

    def mix_of(**how):
        mix = Mix({name: vl.open(tmp_path / name) for name in "ab"}, batch_size=1, until="all", **how)
        assert mix.dataset.fields["w"].dtype == mix.dataset.batch([0])["w"].dtype == ids
        return mix, vl.data.Loader(mix.dataset, batches=mix)

    for name in "ab":
        add(name, ["both", name], ids=ids)
    mix, loader = mix_of()
    state, words = loader.state_dict(), mix.dataset.fields["w"].vocabulary
    add("a", ["new"], append=True)
    mix, loader = mix_of(vocabularies={"w": words})
    loader.load_state_dict(state)
    assert mix.dataset.fields["w"].vocabulary == (*words, "new")
    assert mix.growth == {"a": [1]}


def test_ids_without_a_word_are_named(tmp_path):
    sets = word_sets(tmp_path, "files")
    path = tmp_path / "b" / "part-00000.nrt"
    raw, ids = path.read_bytes(), sets["b"].source.values(0, "w").tobytes()
    assert raw.count(ids) == 1
    path.write_bytes(raw.replace(ids, bytes([200]) + ids[1:]))
    mix = Mix({name: vl.open(tmp_path / name) for name in ("a", "b")}, batch_size=2)
    with pytest.raises(ValueError, match=r"part-00000\.nrt: 'w' has the id 200, but there are 6 words"):
        mix.dataset.batch([2])


def test_a_vocabulary_that_begins_with_another_is_mapped(tmp_path):
    sets = word_files(tmp_path, {"a": [["u", "v"], ["v"]]})
    with vl.io.Writer(tmp_path / "c.nrt", vocabularies={"w": sets["a"].fields["w"].vocabulary}) as writer:
        writer.append({"w": [["w"], ["v", "u", "q"]]})
    mix = Mix({"a": sets["a"], "b": vl.open(tmp_path / "c.nrt")}, batch_size=4, until="all", shuffle=False)
    assert mix.dataset.source.mmap
    assert mix.dataset[:].to_list()["w"] == [["u", "v"], ["v"], ["w"], ["v", "u", "q"]]
    assert "words" not in mix.state_dict()["data"]


def test_a_mix_of_mixes_is_a_mix():
    inner = Mix({"a": SETS["a"], "b": SETS["b"]}, batch_size=4, until="all", source=None)
    outer = Mix({"ab": (inner.dataset, inner), "c": (SETS["c"], BatchSampler(SETS["c"], 4))}, until="all")
    assert sorted(flat(outer)) == list(range(48))
    assert pickle.loads(pickle.dumps(outer)).state_dict() == outer.state_dict()


def test_rows_without_levels_are_mixed():
    sets = {
        name: vl.data.Dataset(vl.JointNestedRaggedTensorDict({"age": list(range(begin, begin + count))}))
        for name, begin, count in (("a", 0, 6), ("b", 50, 3))
    }
    mix = Mix(sets, batch_size=3, until="all", shuffle=False)
    batches = [batch["age"].tolist() for batch in mix.dataset.epoch(batches=mix)]
    assert batches == [[0, 50, 1], [2, 51, 3], [4, 52, 5]]
    with pytest.raises(ValueError, match="unit: these rows have one value a key, and no tokens"):
        Mix(sets, batch_size=3, unit="tokens")


def test_the_check_of_loops_finds_nothing():
    def make_loop(rank, ranks, workers):
        mix = MIXES["rows"](until="all", uneven="empty", num_replicas=ranks, rank=rank)
        return vl.data.Loader(mix.dataset, batches=mix)

    rows = Mix(SETS, batch_size=4).dataset
    report = vl.data.check_loop(make_loop, rows, rows="id", ranks=[1, 2], workers=[0])
    assert report, str(report)


@pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")  # torchdata calls it
@pytest.mark.parametrize("workers", [0, 2])
def test_a_stateful_dataloader_goes_on(workers):
    loaders = pytest.importorskip("torchdata.stateful_dataloader")

    def make():
        mix = MIXES["samplers"](until="longest", seed=1)
        how = {"collate_fn": mix.dataset.collator(framework="torch"), "num_workers": workers}
        return loaders.StatefulDataLoader(mix.dataset, batch_sampler=mix, **how)

    whole, begun, again = ids(make()), make(), make()
    batches = iter(begun)
    first = ids(next(batches) for _ in range(3))
    state = begun.state_dict()
    del batches
    again.load_state_dict(state)
    assert first + ids(again) == whole


def test_files_are_sources(tmp_path):
    parts = {}
    for name, ds in SETS.items():
        ds.save(tmp_path / name, rows_per_shard=7)
        parts[name] = vl.open(tmp_path / name)
    unmapped = {name: vl.open(tmp_path / name, mmap=False) for name in SETS}
    memory = Mix(SETS, batch_size=5)
    expected = ids(memory.dataset.epoch(batches=memory))
    for sets in (parts, unmapped):
        mix = Mix(sets, batch_size=5)
        assert ids(mix.dataset.epoch(batches=mix)) == expected
        again = pickle.loads(pickle.dumps(mix))
        assert ids(again.dataset.epoch(batches=again)) == expected


# Accounts.


@pytest.mark.parametrize("name", MIXES)
@pytest.mark.parametrize("until", ["first", "longest", "all"])
def test_accounts_say_what_was_drawn(name, until):
    for ranks in (1, 2):
        mixes = [MIXES[name](until=until, num_replicas=ranks, rank=r, uneven="empty") for r in range(ranks)]
        parts = [list(mix) for mix in mixes]
        for count in (0, 1, len(parts[0]) // 2, None):
            counts = Counter()
            for mix, part in zip(mixes, parts, strict=True):
                for batch in part[:count]:
                    start = getattr(batch, "start", None)
                    rows = [r for r, s in zip(batch, start or [0] * len(batch), strict=True) if s == 0]
                    counts.update(NAMES[i // 1000] for i in mix.dataset.batch(rows)["id"].tolist())
            accounts = mixes[0].accounts(count)
            assert {name: account.rows.result.values for name, account in accounts.items()} == {
                name: counts[name] for name in SETS
            }
            for account in accounts.values():
                account.check()


# Bad input.


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Mix([SETS["a"]]), TypeError, "sources: expected names to data sets, got list"),
        (lambda: Mix({}), ValueError, "sources: expected at least one"),
        (lambda: Mix({3: SETS["a"]}), TypeError, "sources: expected names, got 3"),
        (lambda: Mix({"a": [[1]]}), TypeError, r"sources\['a'\]: expected a Dataset, .* got list"),
        (
            lambda: Mix({"a": (SETS["a"], [[0]])}),
            TypeError,
            r"sources\['a'\]: expected a sampler .* got list",
        ),
        (lambda: Mix(SETS), ValueError, r"sources\['a'\]: has no sampler; give \(dataset, sampler\)"),
        (
            lambda: Mix({"a": SETS["a"], "n": SETS["a"].select([])}, batch_size=2),
            ValueError,
            r"sources\['n'\]: has no rows",
        ),
        (
            lambda: Mix({"a": (SETS["a"], BatchSampler(29, 2))}),
            ValueError,
            r"sources\['a'\]: its sampler was made for 29 rows, but it has 30",
        ),
        (
            lambda: Mix({"a": SETS["a"], "n": SETS["b"].with_key("y", [0] * 13)}, batch_size=2),
            ValueError,
            r"sources\['n'\]: has a key 'y', which other parts lack",
        ),
        (
            lambda: Mix({"n": SETS["b"].with_key("y", [0] * 13), "a": SETS["a"]}, batch_size=2),
            ValueError,
            r"sources\['a'\]: has no key 'y', which other parts have",
        ),
        (
            lambda: Mix({"a": SETS["a"], "n": SETS["b"].with_key("x", np.arange(13))}, batch_size=2),
            ValueError,
            r"sources\['n'\]: 'x' lies at dim 0",
        ),
        (
            lambda: Mix({"a": (SETS["a"], HOW["bins"](SETS["a"]))}, batch_size=2),
            ValueError,
            r"sources\['a'\]: a BinPacking makes batches of its own",
        ),
        (
            lambda: list(Mix({"a": (SETS["a"], BatchSampler(SETS["a"], 31, drop_last=True))})),
            ValueError,
            "sources: 'a' has no batch: drop_last: it leaves out all rows",
        ),
        *(
            (
                lambda make=make: make(dataset(4, 0, [0, 9, 0, 0])),
                ValueError,
                "unit: 'n' has no tokens, .*leave",
            )
            for make in (
                lambda ds: Mix({"a": SETS["a"], "n": ds.select([0, 2])}, batch_size=1, unit="tokens"),
                lambda ds: token_mix(ds, WeightedSampler(ds, 2, [1, 0, 1, 1])),
                lambda ds: token_mix(ds, WeightedSampler(4, 2, [1, 0, 1, 1])),
                lambda ds: token_mix(ds, TokenBudget(ds, 5, too_long="skip")),
                lambda ds: token_mix(ds, BinPacking(ds, 5, too_long="skip")),
            )
        ),
        (
            lambda: iter(token_mix(dataset(3, 0, [0, 0, 1]), LengthBuckets([0, 0, 1], 2, drop_last=True))),
            ValueError,
            "sources: 'n' drew no tokens in 10000 passes, one after another; give a sampler of more rows",
        ),
        (lambda: Mix(SETS, batch_size=2, unit="batches"), ValueError, "unit: a mixed batch has rows of all"),
        (lambda: Mix(SETS, batch_size=2, unit="bytes"), ValueError, "unit: expected 'batches', 'rows', 'tok"),
        (lambda: Mix(SETS, batch_size=2, until="last"), ValueError, "until: expected 'first', .* got 'last'"),
        (lambda: Mix(SETS, batch_size=2, spread="odd"), ValueError, "spread: expected 'even' or 'random'"),
        (lambda: Mix(SETS, batch_size=0), ValueError, "batch_size: expected at least 1, got 0"),
        (lambda: Mix(SETS, batch_size=2, batches=TokenBudget), ValueError, "batches: pass either"),
        (lambda: Mix(SETS, batches=[[0]]), TypeError, "batches: expected a function of lengths, got list"),
        (lambda: Mix(SETS, batches=list), TypeError, "batches: expected a function that returns a sampler"),
        (
            lambda: Mix(SETS, batches=lambda lengths: BatchSampler(3, 1)),
            ValueError,
            "batches: expected a sampler of 48 rows, got one of 3",
        ),
        (
            lambda: Mix(SETS, batches=partial(TokenBudget, max_tokens=3)),
            ValueError,
            "lengths: row 3 has 4 tokens, over max_tokens=3",
        ),
        (lambda: Mix(SETS, batch_size=2, source="x"), ValueError, "source: 'x' is a key of the sources"),
        (lambda: Mix(SETS, batch_size=2, source=3), TypeError, "source: expected a name or None, got int"),
        (lambda: Mix(SETS, batch_size=2, sed=3), TypeError, "no option 'sed'; did you mean 'seed'"),
        (
            lambda: Mix(SETS, batch_size=2, weights=WEIGHTS, temperature=1),
            ValueError,
            "temperature: pass either",
        ),
        *(
            (
                lambda t=t: Mix(SETS, batch_size=2, temperature=t),
                ValueError,
                "temperature: expected a number above 0, got",
            )
            for t in (0, -1, float("nan"))
        ),
        (
            lambda: Mix(SETS, batch_size=2, temperature=1e-9),
            ValueError,
            "temperature: 1e-09 leaves a source no share",
        ),
        (
            lambda: Mix(SETS, batch_size=2, temperature="2"),
            TypeError,
            "temperature: expected a number, got str",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize(
    ("weights", "error", "text"),
    [
        ({}, ValueError, "weights: expected names to numbers, .* got none"),
        ([1, 2, 3], TypeError, "weights: expected names to numbers, .* got list"),
        ({"a": 1, "b": 1}, KeyError, "weights: no weight for 'c'; 0 leaves a source out"),
        ({**WEIGHTS, "d": 1}, KeyError, "weights: 'd' is no source; there are a, b, c"),
        ({"a": 0, "b": 0, "c": 0}, ValueError, "weights: all are 0; expected one above 0"),
        ({**WEIGHTS, "b": -1}, ValueError, "weights: expected a number of at least 0 for 'b', got -1"),
        ({**WEIGHTS, "b": float("nan")}, ValueError, "weights: expected a number .* for 'b', got nan"),
        ({**WEIGHTS, "b": float("inf")}, ValueError, "weights: expected a number .* for 'b', got inf"),
        ({**WEIGHTS, "b": 5e-324}, ValueError, "weights: 5e-324 for 'b' leaves no share beside 3"),
        (dict.fromkeys("abc", 1e308), ValueError, "weights: the sum is beyond float64; give smaller ones"),
        ({**WEIGHTS, "b": "1"}, TypeError, "weights: expected a number for 'b', got '1'"),
        ({**WEIGHTS, "b": True}, TypeError, "weights: expected a number for 'b', got True"),
        ({**WEIGHTS, "b": None}, TypeError, "weights: expected a number, got NoneType"),
        ({**WEIGHTS, 5: WEIGHTS}, TypeError, "weights: expected names to numbers, .* 'a' among steps"),
        ({0: WEIGHTS, 5: {**WEIGHTS, "d": 1}}, KeyError, "weights: 'd' at step 5 is no source"),
        ({0: WEIGHTS, 5: {"a": 1}}, KeyError, "weights: no weight for 'b' at step 5"),
        ({0: WEIGHTS, 5: dict.fromkeys("abc", 0)}, ValueError, "weights: all are 0 at step 5"),
        ({0: WEIGHTS, 5: 1}, TypeError, "weights: expected names to numbers at step 5, got int"),
        ({3: WEIGHTS}, ValueError, "weights: the first step is 3; give the weights of step 0"),
        ({-1: WEIGHTS, 0: WEIGHTS}, ValueError, "weights: expected at least 0, got -1"),
        ({0.5: WEIGHTS}, TypeError, "weights: expected an int, got 0.5"),
    ],
)  # fmt: skip
def test_weights_that_do_not_fit_are_refused(weights, error, text):
    with pytest.raises(error, match=text):
        Mix(SETS, batch_size=2, weights=weights)


def test_an_epoch_without_end_is_refused_before_the_first_batch():
    mix = Mix(SETS, batch_size=2, weights={**WEIGHTS, "c": 1e-12}, until="longest")
    with pytest.raises(ValueError, match="weights: 'c' with a share of 2e-13 comes whole after"):
        iter(mix)
    assert sum(map(len, Mix(SETS, batch_size=2, weights={**WEIGHTS, "c": 1e-12}, until="all"))) == 48
    ends = Mix(SETS, batch_size=2, weights={0: WEIGHTS, 4: {"a": 1, "b": 0, "c": 1}}, until="all")
    assert set(Counter(owners_of(ends)[0])) == {0, 1, 2}


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"weights": {"a": 1, "b": 1, "c": 1}}, "shares"),
        ({"until": "all"}, "until first, here all"),
        ({"seed": 1}, "seed 0, here 1"),
        ({"batch_size": 5}, "batch_size 4, here 5"),
        ({"sets": {**SETS, "c": dataset(4)}}, "rows of c 5, here 4"),
    ],
)
def test_a_state_of_another_mix_is_refused(how, text):
    def make(sets=SETS, **how):
        return Mix(sets, **{"weights": WEIGHTS, "batch_size": 4, **how})

    with pytest.raises(ValueError, match=f"state: was saved for other data or options: .*{text}"):
        make(**how).load_state_dict(make().state_dict())
    a = Mix({"a": (SETS["a"], TokenBudget(SETS["a"], 9))})
    b = Mix({"a": (SETS["a"], TokenBudget(SETS["a"], 12))})
    with pytest.raises(ValueError, match="a: max_tokens 9, here 12"):
        b.load_state_dict(a.state_dict())
    a, b = (Mix({"a": (SETS["b"], WeightedSampler(SETS["b"], 4, np.arange(13)[::step]))}) for step in (1, -1))
    with pytest.raises(ValueError, match="a: weights"):
        b.load_state_dict(a.state_dict())
    a, b = (Mix(SETS, batches=partial(TokenBudget, max_tokens=n)) for n in (9, 12))
    with pytest.raises(ValueError, match="max_tokens of mixed rows 9, here 12"):
        b.load_state_dict(a.state_dict())


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (([1, 2], [1], [0]), "offsets: expected 0 first"),
        (([0, 2, 1], [1, 1], [0]), "offsets: 1 after 2"),
        (([0], [1], [0]), "offsets: expected 1 to 65536 sources"),
        (([0, 2], [1, 1], [0, 0]), "begins: 0 after 0"),
        (([0, 2, 4], [1], [0]), "weights: expected 2 numbers, got 1"),
        (([0, 2, 4], [1, -1], [0]), "weights: expected numbers of at least 0"),
        (([0, 2, 4], [0, 0], [0]), "weights: the sum of a piece is 0"),
        (([0, 2, 4], [1, 1], [0], [1]), "sizes: expected one for each draw"),
        (([0, 2], [1], [0], [1, -1]), "sizes: expected at least 0"),
        (([0, 2], [1], [0], None, [1, 1]), "goals: expected one for each source"),
        (([0, 2], [1], [0], None, None, [0.5]), "chances: expected 2 numbers, got 1"),
    ],
)
def test_the_core_refuses_what_it_cannot_index(arguments, text):
    with pytest.raises(ValueError, match=text):
        _core.mix_order(*arguments)
