"""The prefetcher: batches in order, good until the next is taken; errors arrive; threads end."""

import gc
import threading

import numpy as np
import pytest
import varlen as vl
from batches import Table, assert_same
from varlen.data import Buffers, Dataset, Prefetcher


def threads_left():
    return [t for t in threading.enumerate() if t.name.startswith("varlen-prefetch")]


def fill(item, buffers):
    array = buffers.grow("x", np.dtype(np.int64), 4)[:4]
    array[:] = item
    return array


@pytest.mark.parametrize(("depth", "threads"), [(1, 1), (2, 1), (3, 3)])
def test_prefetcher_keeps_order_and_the_batch_that_was_taken(depth, threads):
    seen = set()
    with Prefetcher(fill, range(50), depth=depth, threads=threads) as ahead:
        for i, batch in enumerate(ahead):
            seen.add(batch.ctypes.data)
            assert batch.tolist() == [i] * 4
            threading.Event().wait(0.0005)  # others are filled meanwhile
            assert batch.tolist() == [i] * 4
    assert i == 49
    assert len(seen) <= depth + 2
    assert not threads_left()


@pytest.mark.parametrize("slow", [0, 1, 2])
def test_prefetcher_hands_on_batches_in_order_whichever_is_ready_first(slow):
    """One thread waits until all others have made theirs."""
    others = threading.Barrier(3)

    def waits(item, buffers):
        if item < 3:
            if item == slow:
                others.wait(10)
                threading.Event().wait(0.05)  # they are handed over meanwhile
            else:
                result = fill(item, buffers)
                others.wait(10)
                return result
        return fill(item, buffers)

    with Prefetcher(waits, range(6), depth=3, threads=3) as ahead:
        assert [int(batch[0]) for batch in ahead] == list(range(6))


@pytest.mark.parametrize("threads", [1, 2])
def test_prefetcher_hands_on_what_comes_before_an_error(threads):
    failed = threading.Event()

    def fails(item, buffers):
        if item == 1:
            failed.set()
            raise ZeroDivisionError("item 1")
        if threads == 2:
            failed.wait(10)
        return fill(item, buffers)

    ahead = Prefetcher(fails, range(9), depth=2, threads=threads)
    assert next(ahead).tolist() == [0] * 4
    with pytest.raises(ZeroDivisionError, match="item 1"):
        next(ahead)
    assert not threads_left()


def test_prefetcher_carries_errors():
    def fails(item, buffers):
        if item == 2:
            raise ZeroDivisionError("item 2")
        return fill(item, buffers)

    ahead = Prefetcher(fails, range(9), depth=2)
    assert [int(next(ahead)[0]) for _ in range(2)] == [0, 1]
    with pytest.raises(ZeroDivisionError, match="item 2"):
        next(ahead)
    assert list(ahead) == []
    assert not threads_left()

    def items():
        yield 0
        raise KeyError("items")

    with Prefetcher(fill, items()) as ahead:
        assert next(ahead).tolist() == [0] * 4
        with pytest.raises(KeyError, match="items"):
            next(ahead)
    assert not threads_left()


def test_prefetcher_ends_when_left_early_or_dropped():
    with Prefetcher(fill, range(10**9)) as ahead:
        kept = next(ahead)
    assert kept.tolist() == [0] * 4
    assert list(ahead) == []
    dropped = Prefetcher(fill, range(10**9), depth=2, threads=2)
    next(dropped)
    del dropped
    gc.collect()
    assert not threads_left()


def test_threads_that_cannot_start_leave_none_behind(monkeypatch):
    start, started = threading.Thread.start, []

    def one(thread):
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", one)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        Prefetcher(fill, range(10**9), depth=3, threads=3)
    gc.collect()
    assert not threads_left()


def test_prefetcher_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="depth: expected at least 1"):
        Prefetcher(fill, [], depth=0)
    with pytest.raises(ValueError, match="threads: expected 1 to depth=2, got 3"):
        Prefetcher(fill, [], depth=2, threads=3)
    with pytest.raises(ValueError, match="slack"):
        Buffers(slack=-1)


def test_epoch_is_the_same_with_and_without_prefetch():
    ds = Dataset(Table([[2, 0, 3], [], [1], [4, 4], [1, 1, 1]] * 7, 2).joint())
    options = {"shuffle": True, "seed": 3, "max_len": 2, "window": "random"}
    plain = list(ds.epoch(4, **options))
    assert len(plain) == len(ds.epoch(4)) == 9
    for prefetch in (1, 3):
        for batch, wanted in zip(ds.epoch(4, prefetch=prefetch, **options), plain, strict=True):
            assert_same(batch, wanted)
    assert not threads_left()
    assert sorted(np.concatenate([b["y"] for b in plain]).tolist()) == sorted(
        ds.batch(range(35))["y"].tolist()
    )
    again = [batch["y"].tolist() for batch in ds.epoch(4, **{**options, "epoch": 1})]
    assert again != [batch["y"].tolist() for batch in plain]
    assert len(list(ds.epoch(4, drop_last=True))) == 8
    assert [len(b["y"]) for b in ds.epoch(batches=[[1], [2, 3]])] == [1, 2]


def test_epoch_shows_progress(capsys):
    ds = Dataset(Table([[2, 0], [1]], 2).joint())
    assert len(list(ds.epoch(1, progress=True))) == 2
    assert "2/2" in capsys.readouterr().err


def test_epoch_takes_a_prefix_of_every_row():
    table = Table([2, 0, 3], 1)
    ds = Dataset(table.joint())
    fixed = Table([1, 2, 1], 1, seed=9).joint().select(["a", "x", "w"])
    result = next(iter(ds.epoch(batches=[[2, 1]], prefix=fixed)))
    assert result["dim1/mask"].sum(1).tolist() == [4, 2]
    assert result["a"][1, :2].tolist() == fixed.values("a")[1:3].tolist()
    with pytest.raises(ValueError, match="prefix: has 2 records; one for all, or one for each of 3 rows"):
        next(iter(ds.epoch(2, prefix=fixed.slice(0, 2))))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "batch_size: pass either batch_size or batches"),
        ({"batch_size": 0}, "batch_size: expected at least 1"),
        ({"batches": [], "shuffle": True}, "batches: come in a fixed order"),
        ({"batch_size": 1, "prefetch": -1}, "prefetch: expected at least 0"),
    ],
)
def test_epoch_refuses_what_does_not_fit(options, text):
    with pytest.raises(ValueError, match=text):
        Dataset(Table([1], 1).joint()).epoch(**options)


def test_a_depth_beyond_what_there_is_to_make_costs_nothing():
    with Prefetcher(lambda item, buffers: item, range(9), depth=2**62) as batches:
        assert list(batches) == list(range(9))
    ds = Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2], [3]]}))
    assert [batch["x"].tolist() for batch in ds.epoch(1, prefetch=2**62)] == [[[1, 2]], [[3]]]


def of_batch(framework, layout, rows=range(30)):
    """A dataset's batch as its arrays or tensors, each alone, and the buffers that it was made in."""
    if framework == "torch":
        pytest.importorskip("torch")
    lists = [list(range(i)) for i in range(30)]
    nested = [[[j] * (j % 3) for j in range(i)] for i in range(30)]
    joint = vl.JointNestedRaggedTensorDict({"id": list(range(30)), "x": lists, "y": nested}, row_ids="id")
    dataset, buffers = Dataset(joint), Buffers()
    batch = dataset.batch(
        list(rows), layout=layout, framework=framework, lengths=layout != "named", out=buffers
    )
    return dict(batch), buffers


@pytest.mark.parametrize("layout", ["padded", "ragged", "named"])
@pytest.mark.parametrize("framework", ["numpy", "torch"])
def test_buffers_know_who_holds_them(framework, layout):
    batch, buffers = of_batch(framework, layout)
    names = list(batch)
    for name in names:
        kept = batch[name] if layout != "named" else batch[name].values
        batch = {}
        inside = any(np.shares_memory(np.asarray(kept), buffer) for buffer in buffers.values())
        assert buffers.is_free is not inside, name
        del kept
        assert buffers.is_free
        batch, buffers = of_batch(framework, layout)
    view = next(iter(buffers.values()))[:1]
    batch = {}
    assert not buffers.is_free
    del view
    assert buffers.is_free


@pytest.mark.parametrize("size", [4, 5000])
@pytest.mark.parametrize("keep", [1, 3, 9])
def test_prefetcher_leaves_alone_what_is_held(keep, size):
    def make(item, buffers):
        array = buffers.grow("x", np.dtype(np.int64), size)[:size]
        array[:] = item
        return {"x": array}

    held = []
    with Prefetcher(make, range(60), depth=2, threads=2) as ahead:
        for i, batch in enumerate(ahead):
            held.append((i, batch["x"][1:2]))
            held = held[-keep:]
            threading.Event().wait(0.0005)
            assert all(x.tolist() == [j] for j, x in held)


def test_prefetcher_goes_round_with_few_buffers():
    def make(item, buffers):
        return {"x": buffers.grow("x", np.dtype(np.int64), 5000)}

    seen = set()
    with Prefetcher(make, range(200), depth=2) as ahead:
        for batch in ahead:
            seen.add(batch["x"].ctypes.data)
    assert len(seen) <= 4
