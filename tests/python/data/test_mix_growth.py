"""Mixes of sources that were grown at their ends: an epoch keeps its rows, changes are told."""

import itertools
import json
from collections import Counter
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen import io
from varlen.data import BatchSampler, BinPacking, LengthBuckets, Mix, TokenBudget, WeightedSampler

FIRST = {"a": 30, "b": 13, "c": 5}
NEW = {"a": 4, "b": 0, "c": 9}
WEIGHTS = {"a": 3, "b": 2, "c": 1}


def lengths_of(name, count):
    return [1 + (i * 7 + ord(name)) % 5 for i in range(count)]


def dataset(name, count, change=None):
    """Rows whose ids name them; `change` is a row that has an event more."""
    lengths = lengths_of(name, count)
    if change is not None:
        lengths[change] += 1
    rows = [[i] * n for i, n in enumerate(lengths)]
    ids = 1000 * ord(name) + np.arange(count)
    return vl.Dataset(vl.JointNestedRaggedTensorDict({"id": ids, "x": rows}, schema={"x": "int64"}))


def sets(*counts):
    total = Counter()
    for each in counts:
        total.update(each)
    return {name: dataset(name, total[name]) for name in FIRST}


def nested(data, **how):
    inner = Mix({name: (data[name], BatchSampler(data[name], 4)) for name in "ac"}, until="all", source=None)
    return Mix({"ac": (inner.dataset, inner), "b": (data["b"], BatchSampler(data["b"], 3))}, **how)


KINDS = {
    "batches": lambda data, **how: Mix(
        {
            "a": (data["a"], BatchSampler(data["a"], 4, shuffle=True)),
            "b": (data["b"], TokenBudget(data["b"], 9)),
            "c": (data["c"], WeightedSampler(data["c"], 2)),
        },
        weights={0: WEIGHTS, 3: dict.fromkeys("abc", 1)}, unit="tokens", **how,
    ),
    "bins": lambda data, **how: Mix(
        {name: (ds, BinPacking(ds, 3, batch_size=2, too_long="split")) for name, ds in data.items()}, **how
    ),
    "rows": lambda data, **how: Mix(data, weights=WEIGHTS, batch_size=4, **how),
    "sizes": lambda data, **how: Mix(data, temperature=2, batch_size=4, unit="tokens", **how),
    "random": lambda data, **how: Mix(data, batch_size=4, spread="random", **how),
    "row budget": lambda data, **how: Mix(data, batches=partial(TokenBudget, max_tokens=9), **how),
    "row bins": lambda data, **how: Mix(
        data, batches=partial(BinPacking, size=3, batch_size=2, too_long="split"), **how
    ),
    "rows of samplers": lambda data, **how: Mix(
        {name: (ds, LengthBuckets(ds, 2)) for name, ds in data.items()}, batch_size=5, **how
    ),
    "nested": nested,
}  # fmt: skip


def plain(mix, batches):
    """Batches by ids, which stay when rows get other numbers; with their pieces, bins and epochs."""
    ids = mix.dataset.batch(slice(None))["id"]
    return [
        (
            ids[list(batch)].tolist(),
            batch.epoch,
            *(getattr(batch, name, None) for name in ("start", "end", "bins")),
        )
        for batch in batches
    ]


def stopped(mix, count):
    batches = plain(mix, itertools.islice(mix, count))
    return batches, json.loads(json.dumps(mix.state_dict()))


def drawn(accounts):
    return {name: account.rows.result.values for name, account in accounts.items()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("until", ["first", "longest", "all"])
def test_an_epoch_goes_on_with_the_rows_that_it_began_with(kind, until):
    how = {"until": until, "seed": 3}
    make = KINDS[kind]
    old, new = sets(FIRST), sets(FIRST, NEW)
    whole = plain(mix := make(old, **how), mix)
    for taken in (0, 1, len(whole) // 2, len(whole)):
        batches, state = stopped(make(old, **how), taken)
        again = make(new, **how)
        again.load_state_dict(state)
        again.set_epoch(0)
        assert sum(map(len, again.growth.values())) == len(again.new_rows) == 13
        assert batches + plain(again, again) == whole
        assert len(again) == len(whole)
        assert again.padding_share() == pytest.approx(make(old, **how).padding_share())
        assert again.weights == make(old, **how).weights
        assert drawn(again.accounts()) == drawn(make(old, **how).accounts())
        again.set_epoch(1)
        fresh = make(new, **how)
        fresh.set_epoch(1)
        assert again.new_rows == []
        assert again.growth == {}
        assert again.weights == fresh.weights
        assert plain(again, again) == plain(fresh, fresh)


@pytest.mark.parametrize("kind", KINDS)
def test_it_may_be_stopped_and_grow_twice_among_other_ranks(kind):
    make = KINDS[kind]
    how = {"until": "all", "seed": 5, "uneven": "empty"}
    data = [sets(FIRST), sets(FIRST, NEW), sets(FIRST, NEW, {"a": 1, "b": 6})]
    whole = plain(mix := make(data[0], **how), mix)
    begun = [make(data[0], num_replicas=2, rank=rank, **how) for rank in (0, 1)]
    had = [stopped(mix, 2) for mix in begun]
    assert had[0][1] == had[1][1]
    middle = make(data[1], **how)
    middle.load_state_dict(had[0][1])
    more, state = stopped(middle, 3)
    known = {key: x for key, x in state["data"].items() if key.startswith("rows of ")}
    assert known == {key: x for key, x in had[0][1]["data"].items() if key.startswith("rows of ")}
    rest = []
    for rank in range(3):
        mix = make(data[2], num_replicas=3, rank=rank, **how)
        mix.load_state_dict(state)
        rest += plain(mix, (batch for batch in mix if batch))
    assert sorted(map(repr, had[0][0] + had[1][0] + more + rest)) == sorted(map(repr, whole))


@settings(max_examples=60, deadline=None)
@given(
    old=st.lists(st.integers(1, 12), min_size=1, max_size=5),
    data=st.data(),
    until=st.sampled_from(["first", "longest", "all"]),
    is_mixed=st.booleans(),
)
def test_sources_of_all_sizes_grow(old, data, until, is_mixed):
    more = data.draw(st.lists(st.integers(0, 9), min_size=len(old), max_size=len(old)))
    names = "abcde"[: len(old)]

    def make(counts):
        parts = {name: dataset(name, n) for name, n in zip(names, counts, strict=True)}
        if not is_mixed:
            parts = {name: (ds, BatchSampler(ds, 3, shuffle=True)) for name, ds in parts.items()}
        return Mix(parts, until=until, **({"batch_size": 3} if is_mixed else {}))

    whole = plain(mix := make(old), mix)
    first, state = stopped(make(old), data.draw(st.integers(0, len(whole))))
    again = make([n + k for n, k in zip(old, more, strict=True)])
    again.load_state_dict(state)
    again.set_epoch(0)
    assert first + plain(again, again) == whole
    grown = {name: [*range(n, n + k)] for name, n, k in zip(names, old, more, strict=True) if k}
    assert again.growth == grown
    assert len(again.new_rows) == sum(more)


def test_what_is_new_is_shown():
    mix = KINDS["rows"](sets(FIRST, NEW))
    assert mix.growth == {}
    assert "new rows" not in repr(mix)
    mix.load_state_dict(KINDS["rows"](sets(FIRST)).state_dict())
    assert mix.growth == {"a": [30, 31, 32, 33], "c": [*range(5, 14)]}
    assert [int(i) for i in mix.dataset.batch(mix.new_rows)["id"] % 1000] == [
        row for rows in mix.growth.values() for row in rows
    ]
    assert repr(mix).startswith("Mix(")
    assert "of 48 rows in epoch 0" in repr(mix)
    assert "13 new rows from the next on" in repr(mix)


@pytest.mark.parametrize("kind", ["batches", "rows", "row budget"])
@pytest.mark.parametrize("name", FIRST)
def test_a_row_that_changed_is_told_with_its_source(kind, name):
    state = KINDS[kind](sets(FIRST)).state_dict()
    changed = {**sets(FIRST, NEW), name: dataset(name, (FIRST[name] + NEW[name]), change=3)}
    mix = KINDS[kind](changed)
    with pytest.raises(ValueError, match=f"saved for other data .*; row 3 is 1 longer in '{name}'"):
        mix.load_state_dict(state)
    assert mix.growth == {}
    whole = plain(other := KINDS[kind](changed), other)
    assert plain(mix, mix) == whole


def test_a_source_that_lost_rows_or_is_gone_is_told():
    state = KINDS["rows"](sets(FIRST)).state_dict()
    fewer = {**sets(FIRST, NEW), "b": dataset("b", 12)}
    with pytest.raises(ValueError, match="rows of b 13, here 12") as info:
        KINDS["rows"](fewer).load_state_dict(state)
    assert "rows of a" not in str(info.value)
    others = {**sets(FIRST), "d": dataset("d", 3)}
    with pytest.raises(ValueError, match="rows of d None, here 3"):
        Mix(others, batch_size=4, weights={**WEIGHTS, "d": 1}).load_state_dict(state)


@pytest.mark.parametrize("count", [None, "5", -1, 10**30, 2.5, True])
def test_a_state_with_other_counts_is_refused(count):
    state = KINDS["rows"](sets(FIRST)).state_dict()
    state["data"] = {**state["data"], "rows of a": count}
    mix = KINDS["rows"](sets(FIRST, NEW))
    with pytest.raises(ValueError, match="state: was saved for other data or options"):
        mix.load_state_dict(state)
    assert mix.new_rows == []


# A run over folders that grow between its parts.

SHARES = {"a": 2, "b": 1, "c": 1}
SIZE = 4


def rows(name, begin, end, change=None):
    lengths = lengths_of(name, end)
    ids = [1000 * ord(name) + i for i in range(begin, end)]
    return {"id": ids, "x": [[i + (i == change)] * lengths[i] for i in range(begin, end)]}


def grow(folder, name, begin, end, **how):
    with io.ShardWriter(folder, 4, append=begin > 0, durable=False, checksums=True) as writer:
        writer.append(rows(name, begin, end, **how))


def build(folder, name, begin, end):
    parts = [rows(name, i, min(i + 3, end)) for i in range(begin, end, 3)]
    io.build(parts, None, folder, append=begin > 0, durable=False, checksums=True)


def order_of(counts, shares):
    """Sources and rows until each source came whole, in exact numbers: of those owed a part of a row, the
    one that would be late first (Tijdeman, 1980).
    """
    weights = {name: Fraction(share, sum(shares.values())) for name, share in shares.items()}
    part, had, order = Fraction(1, 2 * len(shares) - 2), Counter(), []
    while any(had[name] < counts[name] for name in counts):
        debts = {name: len(order) * weight - had[name] for name, weight in weights.items()}
        owed = [name for name in debts if debts[name] + weights[name] >= part]
        source = min(owed, key=lambda name: (1 - part - debts[name]) / weights[name])
        order.append((source, had[source] % counts[source]))
        had[source] += 1
    return order


def rows_of(batches):
    return [(chr(i // 1000), i % 1000) for batch in batches for i in batch["id"].tolist()]


def run_steps(folder, ranks, state, steps, door, **how):
    """The batches of so many steps of some ranks; their state; and what the mix said before."""
    results, states, told = [], [], {}
    for rank in range(ranks):
        data = {name: vl.open(folder / name, verify="read") for name in FIRST}
        order = {"num_replicas": ranks, "rank": rank, "uneven": "empty", "seed": 7, **how}
        mix = Mix(data, weights=SHARES, batch_size=SIZE, until="longest", **order)
        loop = door(mix)
        if state is not None:
            loop.load_state_dict(state)
        told = {"growth": mix.growth, "accounts": mix.accounts()}
        if door is not workers_of:
            results.append([*itertools.islice(loop, steps)])
            states.append(loop.state_dict())
            continue
        loader = pytest.importorskip("torch.utils.data").DataLoader(loop, batch_size=None, num_workers=2)
        results.append([*itertools.islice(loader, steps)])
        had = 0 if state is None else state["sampler"]["batches"]
        states.append(loop.state_dict(batches=had + len(results[-1])))
    assert all(state == states[0] for state in states)
    in_order = [batch for step in zip(*results, strict=True) for batch in step if len(batch["id"])]
    return in_order, json.loads(json.dumps(states[0])), told


def workers_of(mix):
    return vl.data.IterableDataset(mix.dataset, batches=mix, framework="torch")


def threads_of(mix):
    return vl.data.Loader(mix.dataset, batches=mix, threads=2)


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_run_of_three_sources_is_stopped_grown_and_resumed(tmp_path, shuffle):
    pytest.importorskip("xxhash")
    how = {"shuffle": shuffle}
    for name, count in FIRST.items():
        (build if name == "b" else grow)(tmp_path / name, name, 0, count)
    one, state, _ = run_steps(tmp_path, 2, None, 3, threads_of, **how)
    grow(tmp_path / "a", "a", 30, 37)
    grow(tmp_path / "c", "c", 5, 6)
    two, state, told = run_steps(tmp_path, 3, state, 2, workers_of, **how)
    assert told["growth"] == {"a": [*range(30, 37)], "c": [5]}
    build(tmp_path / "b", "b", 13, 20)
    three, state, told = run_steps(tmp_path, 1, state, None, threads_of, **how)
    assert told["growth"] == {"a": [*range(30, 37)], "b": [*range(13, 20)], "c": [5]}
    check_epoch(one + two + three, told["accounts"], FIRST, shuffle)
    after = {"a": 37, "b": 20, "c": 6}
    next_epoch, _, told = run_steps(tmp_path, 2, state, None, threads_of, **how)
    assert told["growth"] == {}
    check_epoch(next_epoch, told["accounts"], after, shuffle)
    for name, count in after.items():
        assert io.verify(tmp_path / name) == []
        assert len(vl.open(tmp_path / name)) == count


def check_epoch(batches, accounts, counts, shuffle):
    """What came is what plain lists say, in the ranks' order of each step; and the accounts say it, too."""
    order, got = order_of(counts, SHARES), rows_of(batches)
    assert shuffle or got == order
    assert Counter(source for source, _ in got) == Counter(source for source, _ in order)
    times = Counter(got)
    for name, count in counts.items():
        drawn = sum(source == name for source, _ in order)
        own = [times[name, row] for row in range(count)]
        assert sum(own) == drawn
        assert set(own) <= {drawn // count, -(-drawn // count)}  # pass after pass, none lost or twice in one
        account = accounts[name]
        account.check()
        assert account.rows.result.values == drawn
