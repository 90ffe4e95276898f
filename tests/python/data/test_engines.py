"""Verbs of datasets on engines: the folder of one process bit by bit, shard by shard, with one account."""

import os
import subprocess
import sys

import numpy as np
import pytest
import steps
import varlen as vl
import varlen.io
from deep import mostly_deep

HERE = os.path.dirname(steps.__file__)
N = 11

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def rows(first, last):
    return {
        "id": list(range(first, last)),
        "word": [f"w{i % 4}" for i in range(first, last)],
        "x": [[100 * i + k for k in range(i % 3)] for i in range(first, last)],
    }


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv(steps.FOLDER, str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([HERE, *sys.path]))
    with varlen.io.ShardWriter(tmp_path / "source", rows_per_shard=3, row_ids="id") as writer:
        writer.append(rows(0, N))
    return vl.open(tmp_path / "source")


@pytest.fixture(params=mostly_deep(["loop", "processes", "dask", "ray"], "loop", "processes"))
def engine(request):
    if request.param == "loop":
        yield {"rows_per_shard": 3}
        return
    if request.param == "processes":
        yield {"workers": 2}
        return
    if request.param == "dask":
        pytest.importorskip("dask")
        yield {"engine": "dask"}
        return
    ray = pytest.importorskip("ray")
    ray.init(
        num_cpus=2, include_dashboard=False, object_store_memory=100 << 20, logging_level="ERROR",
        log_to_driver=False,
    )  # fmt: skip
    yield {"engine": "ray"}
    ray.shutdown()


def listing(folder):
    return {name: (folder / name).read_bytes() for name in sorted(os.listdir(folder))}


def forget(tmp_path):
    (tmp_path / "calls").unlink(missing_ok=True)


def same(one, other):
    """The same rows, keys and account; ids of words have the width that their number needs."""
    widths = [{n: f.dtype for n, f in ds.fields.items() if f.vocabulary is None} for ds in (one, other)]
    assert widths[0] == widths[1]
    assert {n: (f.dim, f.vocabulary) for n, f in one.fields.items()} == {
        n: (f.dim, f.vocabulary) for n, f in other.fields.items()
    }
    np.testing.assert_equal(one[:].to_list(), other[:].to_list())
    assert one.source.row_ids == other.source.row_ids
    assert balance(one.account) == balance(other.account)


def balance(account):
    """What came in, went out and why; nulls and distinct values of several shards are not counted."""
    table = account.as_dict()
    for column in table["columns"].values():
        column["in"].pop("nulls", None)
        for count in ("nulls", "distinct"):
            column["out"].pop(count, None)
    return table


def test_map_is_the_same_on_every_engine(source, tmp_path, engine):
    alone = source.map(steps.doubled, tmp_path / "alone.nrt")
    source.map(steps.doubled, tmp_path / "loop", rows_per_shard=3)
    forget(tmp_path)
    own = source.map(steps.doubled, tmp_path / "own", **engine)
    assert steps.calls() == list(range(N))
    assert listing(tmp_path / "own") == listing(tmp_path / "loop")
    assert own.source.counts.tolist() == [3, 3, 3, 2]
    same(own, alone)
    again = source.map(steps.doubled, tmp_path / "own", **engine)
    same(again, own)
    assert steps.calls() == list(range(N))


def test_many_rows_at_once_are_mapped_too(source, tmp_path, engine):
    alone = source.map(steps.longer, tmp_path / "alone.nrt", batched=True)
    own = source.map(steps.longer, tmp_path / "own", batched=True, batch_size=2, **engine)
    same(own, alone)
    assert own.rows_of([4, 10]).tolist() == [2, 5]


def test_filter_is_the_same_on_every_engine(source, tmp_path, engine):
    source.filter(steps.even, min_len=1).save(tmp_path / "alone.nrt")
    alone = vl.open(tmp_path / "alone.nrt")
    loop = source.filter(steps.even, min_len=1, path=tmp_path / "loop", rows_per_shard=3)
    forget(tmp_path)
    own = source.filter(steps.even, min_len=1, path=tmp_path / "own", **engine)
    assert steps.calls() == list(range(N))
    assert listing(tmp_path / "own") == listing(tmp_path / "loop")
    same(own, alone)
    same(loop, alone)
    mask = source.filter(np.arange(N) % 2 == 0, min_len=1, path=tmp_path / "mask", **engine)
    same(mask, alone)


@pytest.mark.parametrize("verb", ["map", "filter"])
def test_a_run_that_was_killed_goes_on(source, tmp_path, verb):
    """The process is killed in the third shard of four; the first two are not made again."""
    call = {
        "map": "ds.map(steps.killed, sys.argv[2], rows_per_shard=3)",
        "filter": "ds.filter(steps.even_once, path=sys.argv[2], rows_per_shard=3)",
    }[verb]
    code = f"import sys, steps, varlen as vl\nds = vl.open(sys.argv[1])\n{call}\n"
    command = [sys.executable, "-c", code, str(tmp_path / "source"), str(tmp_path / "own")]
    assert subprocess.run(command, check=False).returncode == -9
    assert steps.calls() == [*range(6), *([6] if verb == "map" else []), 7]
    with pytest.raises(FileNotFoundError):
        vl.open(tmp_path / "own")
    forget(tmp_path)
    steps.called(7)
    assert subprocess.run(command, check=True).returncode == 0
    assert steps.calls() == sorted([7, *range(6, N)])
    own = vl.open(tmp_path / "own")
    if verb == "map":
        same(own, source.map(steps.doubled, tmp_path / "alone.nrt"))
    else:
        assert own["id"].tolist() == [0, 2, 4, 6, 8, 10]


@pytest.mark.parametrize("engine", [{"rows_per_shard": 3}, {"workers": 2}], ids=["loop", "processes"])
def test_a_worker_that_fails_names_the_row(source, tmp_path, engine):
    with pytest.raises(RuntimeError, match="partition 2: no such visit"):
        source.map(steps.failing, tmp_path / "own", **engine)
    with pytest.raises(RuntimeError, match="map: row 4: 'id' has one value a row"):
        source.map(lambda row: {"id": np.repeat(row["id"], 1 + (row["id"][0] == 4))},
                   tmp_path / "other", rows_per_shard=3)  # fmt: skip
    assert not list((tmp_path / "own").glob("*.nrt"))


def test_views_and_memory_are_mapped_in_parts(source, tmp_path, engine):
    for name, own in {
        "view": source.select([9, 1, 1, 4, 0]), "memory": vl.Dataset(source[:]),
        "keyed": source.with_key("y", np.arange(N)), "chain": source.concat(vl.Dataset(source[:3])),
        "none": source.select([]),
    }.items():  # fmt: skip
        alone = own.map(_same_row, tmp_path / f"{name}.nrt")
        parts = own.map(_same_row, tmp_path / name, rows_per_shard=2)
        same(parts, alone)
        assert parts.source.counts.max(initial=0) <= 2


def _same_row(row):
    return row


def test_other_rows_functions_and_options_are_refused(source, tmp_path):
    own = tmp_path / "own"
    source.map(steps.doubled, own, rows_per_shard=3)
    before = listing(own)
    for call in (
        lambda: source.map(steps.failing, own, rows_per_shard=3),
        lambda: source.map(lambda row: row, own, rows_per_shard=3),
        lambda: source.select(slice(None, None, -1)).map(steps.doubled, own, rows_per_shard=3),
        lambda: source.map(steps.doubled, own, rows_per_shard=4),
        lambda: source.filter(steps.even, path=own, rows_per_shard=3),
    ):
        with pytest.raises(FileExistsError, match="the folder holds part-0000"):
            call()
    assert listing(own) == before
    scale = 2
    first = source.map(lambda row: {"y": row["x"] * scale}, tmp_path / "scale", rows_per_shard=4)
    assert first["y"].values.max() == 2 * source["x"].values.max()
    scale = 3
    with pytest.raises(FileExistsError, match="another make"):
        source.map(lambda row: {"y": row["x"] * scale}, tmp_path / "scale", rows_per_shard=4)


def test_options_that_do_not_fit_are_refused(source, tmp_path):
    for call, error, text in [
        (lambda: source.map(steps.doubled, tmp_path / "o", workers=0), ValueError, "workers: expected at"),
        (lambda: source.map(steps.doubled, tmp_path / "o", rows_per_shard=0), ValueError, "rows_per_shard"),
        (lambda: source.map(steps.doubled, tmp_path / "o", engine="spark"), ValueError, "engine: expected"),
        (lambda: source.map(3, tmp_path / "o", workers=2), TypeError, "function: expected a function"),
        (lambda: source.filter(steps.even, workers=2), ValueError, "workers: goes with path"),
        (lambda: source.filter(steps.even, engine="dask"), ValueError, "engine: goes with path"),
        (lambda: source.filter(path=tmp_path / "o"), TypeError, "filter: pass a function"),
    ]:
        with pytest.raises(error, match=text):
            call()
    assert not (tmp_path / "o").exists()


def test_a_view_reads_the_lengths_and_values_of_its_own_shards(source, tmp_path):
    view = source.select([10, 0, 9, 2, 0])
    lists = rows(0, N)
    assert view.filter(lambda columns: columns["id"] > 1)["id"].tolist() == [10, 9, 2]
    assert source.select([10, 0, 9, 2, 0]).lengths.tolist() == [len(lists["x"][i]) for i in (10, 0, 9, 2, 0)]
    assert source.source._files[1] is None  # nothing is read of a shard without rows of the view
