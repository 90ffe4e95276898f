"""Folders of shards from partitions: the same by every engine, whole after kills, strict about parts."""

import contextlib
import functools
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
import traceback

import building
import numpy as np
import pytest
import varlen as vl
import varlen.io
from deep import mostly_deep
from varlen.io import atomic

HERE = os.path.dirname(building.__file__)  # where other processes find it
FIRSTS = [0, 3, 6, 9, 12, 300]


@pytest.fixture
def files(tmp_path):
    out = []
    for i, first in enumerate(FIRSTS):
        out.append(tmp_path / f"{i}.txt")
        out[-1].write_text(str(first))
    return [str(path) for path in out]


def made(files):
    """How often each partition was made."""
    logs = [path.replace(".txt", ".log") for path in files]
    return [len(open(log).readlines()) if os.path.exists(log) else 0 for log in logs]


def listing(folder):
    """Every file that the folder has, with its bytes."""
    return {name: open(os.path.join(folder, name), "rb").read() for name in sorted(os.listdir(folder))}


def plain(folder):
    """The rows, with words."""
    lists = vl.open(folder)[:].to_list()
    return list(zip(lists["id"], lists["word"], lists["value"], strict=True))


def expected():
    out = []
    for first in FIRSTS:
        rows = building.rows(first)
        for i, (a, b) in enumerate([(0, 2), (2, 2), (2, 3)]):
            out.append((first + i, rows["dim1/word"][a:b].tolist(), rows["dim1/value"][a:b].tolist()))
    return out


def test_a_build_holds_the_rows_of_all_partitions_in_order(files, tmp_path):
    shards = varlen.io.build(files, building.numbered, tmp_path / "out", row_ids="id")
    assert plain(tmp_path / "out") == expected()
    assert made(files) == [1] * 6
    assert sorted(os.listdir(tmp_path / "out")) == ["index.json"] + [f"part-{i:05d}.nrt" for i in range(6)]
    assert shards.fields["value"].dtype == np.int64
    assert shards.fields["word"].dtype == np.uint8
    each = [varlen.io.open_file(str(tmp_path / "out" / f"part-{i:05d}.nrt")) for i in range(6)]
    assert len({file.fields["word"].vocabulary for file in each}) == 1
    assert len({str(file.fields["value"].dtype) for file in each}) == 1
    assert vl.open(tmp_path / "out").rows_of([300, 1]).tolist() == [15, 1]


def test_partitions_may_be_nested_lists_with_words(tmp_path):
    parts = [{"id": [1, 2], "word": [["b"], ["a", "b"]]}, {"id": [3], "word": [["c", "a"]]}]
    shards = varlen.io.build(parts, None, tmp_path / "out", row_ids="id")
    assert shards.fields["word"].vocabulary == ("[PAD]", "b", "a", "c")
    assert vl.open(tmp_path / "out")[:].to_list()["word"] == [["b"], ["a", "b"], ["c", "a"]]


def test_words_that_are_given_come_first(tmp_path):
    given = {"word": ["[pad]", "common"]}
    parts = [building.rows(first) for first in (0, 3)]
    shards = varlen.io.build(parts, None, tmp_path / "out", vocabularies=given)
    assert shards.fields["word"].vocabulary == ("[pad]", "common", "w0", "w3")


def test_a_partition_may_come_in_pieces(tmp_path):
    def pieces(first):
        yield building.rows(first)
        yield building.rows(first + 3)

    varlen.io.build([0, 6], pieces, tmp_path / "out")
    whole = [building.rows(first) for first in (0, 3, 6, 9)]
    assert (
        vl.open(tmp_path / "out")[:]["id"].tolist() == np.concatenate([r["dim0/id"] for r in whole]).tolist()
    )


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(sys.path.insert, 0, HERE)
        yield client


@pytest.fixture(scope="module")
def ray_of_two():
    ray = pytest.importorskip("ray")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYTHONPATH", os.pathsep.join([HERE, *sys.path]))
        ray.init(
            num_cpus=2, include_dashboard=False, object_store_memory=100 << 20, logging_level="ERROR",
            log_to_driver=False,
        )  # fmt: skip
        yield ray
        ray.shutdown()


# Ray takes seconds to start: one test of the short run has it.
@pytest.fixture(params=mostly_deep(["loop", "processes", "dask", "ray"], "loop", "processes", "dask"))
def engine(request):
    if request.param == "loop":
        return {}
    if request.param == "processes":
        return {"workers": 2}
    if request.param == "dask":
        return {"engine": request.getfixturevalue("cluster")}
    request.getfixturevalue("ray_of_two")
    return {"engine": "ray"}


pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_every_engine_makes_the_same_files(files, tmp_path, engine):
    varlen.io.build(files, building.numbered, tmp_path / "loop")
    varlen.io.build(files, building.numbered, tmp_path / "out", **engine)
    assert listing(tmp_path / "out") == listing(tmp_path / "loop")
    assert made(files) == [2] * 6


def test_a_worker_that_is_killed_costs_its_partition(files, tmp_path, engine):
    if not engine:
        pytest.skip("a loop has no worker but the process itself; the next test kills that")
    varlen.io.build(files, building.killed_once, tmp_path / "out", **engine)
    assert plain(tmp_path / "out") == expected()
    assert made(files)[3] == 2
    assert sum(made(files)) <= 8  # what else ran in a killed process may be made again


def test_an_error_names_its_partition_and_leaves_the_drafts(files, tmp_path, engine):
    with pytest.raises(RuntimeError, match="partition 3: no such visit"):
        varlen.io.build(files, building.failing, tmp_path / "out", **engine)
    assert "index.json" not in os.listdir(tmp_path / "out")
    assert not [name for name in os.listdir(tmp_path / "out") if name.endswith(".nrt")]


def test_a_worker_that_is_given_up_ends_without_a_word():
    from varlen.io.building import engines

    ours, theirs = multiprocessing.Pipe()
    ours.close()
    assert engines._work(theirs) is None


def test_a_worker_that_always_ends_is_named(files, tmp_path, engine):
    if not engine:
        pytest.skip("a loop has no worker but the process itself")
    with pytest.raises(RuntimeError, match=r"partition 3: its worker ended( with code -9)?, [34] times$"):
        varlen.io.build(files, building.always_killed, tmp_path / "out", **engine)
    assert "index.json" not in os.listdir(tmp_path / "out")


def test_an_error_that_no_pickle_holds_names_its_partition(files, tmp_path, engine):
    with pytest.raises(RuntimeError, match="partition 3: Unportable: C9 in line 3"):
        varlen.io.build(files, building.unportable, tmp_path / "out", **engine)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_says_its_kind_and_where_it_was_raised(files, tmp_path, workers):
    with pytest.raises(RuntimeError, match="partition 3: KeyError: 'code'") as caught:
        varlen.io.build(files, building.lacking, tmp_path / "out", workers=workers)
    shown = "".join(traceback.format_exception(caught.value))
    assert 'return {}["code"]' in shown
    assert "in lacking" in shown


def test_what_cannot_go_to_a_worker_is_named(files, tmp_path):
    with pytest.raises(RuntimeError, match=r"partition 0: what goes to a worker .* such as make: .*lambda"):
        varlen.io.build(files, lambda path: building.numbered(path), tmp_path / "out", workers=2)
    code = (
        "import sys, varlen.io\n"
        "def make(path): return {'id': [1]}\n"
        "varlen.io.build([1, 2], make, sys.argv[1], workers=2)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    (tmp_path / "bare.py").write_text(code)
    for command, text in [
        (["-c", code, str(tmp_path / "a")], "imports what it is given, from modules"),
        ([str(tmp_path / "bare.py"), str(tmp_path / "b")], "under `if __name__ == '__main__':`"),
    ]:
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment)
        assert text in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("after", [0.0, 0.3, 0.6])
def test_a_build_that_was_killed_goes_on(files, tmp_path, after):
    """Half of the partitions are made, then the process is killed: those are not made again."""
    code = (
        "import sys, time, building, varlen.io\n"
        "def make(path):\n"
        "    if path == sys.argv[5]: print('half', flush=True); time.sleep(30)\n"
        "    return building.numbered(path)\n"
        "make.__module__, make.__qualname__ = 'building', 'numbered'\n"
        "varlen.io.build(sys.argv[2:], make, sys.argv[1])\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "out"), *files]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([HERE, *sys.path])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout.readline() == b"half\n"
        time.sleep(after)
        process.kill()
    assert made(files) == [1, 1, 1, 0, 0, 0]
    varlen.io.build(files, building.numbered, tmp_path / "out")
    assert made(files) == [1] * 6
    assert plain(tmp_path / "out") == expected()
    assert not [name for name in os.listdir(tmp_path / "out") if name.startswith(".")]


def stamps(folder):
    """What changes where a file is written again."""
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_a_build_that_is_complete_is_given_at_once(files, tmp_path):
    out = tmp_path / "out"
    varlen.io.build(files, building.numbered, out)
    before = stamps(out)
    out.chmod(0o555)  # nothing is written, not even a lock
    assert len(varlen.io.build(files, building.numbered, out, workers=2)) == 18
    assert made(files) == [1] * 6
    assert stamps(out) == before


@pytest.mark.parametrize("workers", [1, 2])
def test_a_build_with_more_partitions_makes_those_alone(files, tmp_path, workers):
    """The words and the widths of the last partition are new: all shards get them, none is made again."""
    varlen.io.build(files, building.numbered, tmp_path / "whole")
    for count in (3, 5, 6):
        before = stamps(tmp_path / "out") if count > 3 else {}
        varlen.io.build(files[:count], building.numbered, tmp_path / "out", workers=workers)
        assert made(files) == [2] * count + [1] * (6 - count)
        assert stamps(tmp_path / "out").keys() > before.keys()
    assert listing(tmp_path / "out") == listing(tmp_path / "whole")


def test_a_shard_is_written_again_only_where_it_differs(tmp_path):
    parts = [building.rows(first, ["a", "b", "a"]) for first in (0, 3, 6)]
    varlen.io.build(parts[:2], None, tmp_path / "out")
    before = stamps(tmp_path / "out")
    varlen.io.build(parts, None, tmp_path / "out")
    after = stamps(tmp_path / "out")
    assert {name for name in before if before[name] != after[name]} == {"index.json"}


@pytest.mark.parametrize("gone", [[0], [2], [5], [0, 3, 4], list(range(6))])
def test_a_shard_that_was_deleted_is_made_alone(gone, files, tmp_path):
    varlen.io.build(files, building.numbered, tmp_path / "out")
    before = listing(tmp_path / "out")
    for number in gone:
        (tmp_path / "out" / f"part-{number:05d}.nrt").unlink()
    varlen.io.build(files, building.numbered, tmp_path / "out")
    assert made(files) == [1 + (number in gone) for number in range(6)]
    assert listing(tmp_path / "out") == before


def test_a_folder_of_another_build_is_refused(files, tmp_path):
    out = tmp_path / "out"
    varlen.io.build(files, building.numbered, out)
    before = listing(out)
    other = [*files[:2], files[3], files[2], *files[4:]]
    for call, text in [
        (
            lambda: varlen.io.build(files[:5], building.numbered, out),
            r"part-00005\.nrt, which is not of this",
        ),
        (lambda: varlen.io.build(other, building.numbered, out), r"part-00002\.nrt, .* another partition"),
        (
            lambda: varlen.io.build(files, building.failing, out),
            r"part-00000\.nrt, .* another make or other options",
        ),
        (
            lambda: varlen.io.build(files, building.numbered, out, schema={"value": "i4"}),
            r"part-00000\.nrt, .* another make or other options",
        ),
    ]:
        with pytest.raises(FileExistsError, match=text):
            call()
    (out / "part-00005.nrt").unlink()
    with pytest.raises(FileExistsError, match=r"index lists part-00005\.nrt, which is not of this build"):
        varlen.io.build(files[:5], building.numbered, out)
    shutil.copy(out / "part-00000.nrt", out / "visits.nrt")
    with pytest.raises(FileExistsError, match=r"the folder holds visits.nrt, which is not of this build"):
        varlen.io.build(files, building.numbered, out)
    (out / "visits.nrt").unlink()
    varlen.io.build(files, building.numbered, out)
    assert listing(out) == before
    assert made(files) == [1] * 5 + [2]


@pytest.mark.parametrize("first", [0, 3, 5])
def test_a_reader_never_sees_some_of_the_rows(first, files, tmp_path, monkeypatch):
    """Around each name that is given, and where the build ends there: old rows, new rows or an error."""
    out = tmp_path / "out"
    seen = []

    def look():
        try:
            seen.append(plain(out))
        except (FileNotFoundError, varlen.io.FileFormatError):
            seen.append(None)

    steps = [0]

    def replace(source, target, _replace=os.replace):
        look()
        if steps[0] == stop:
            raise KeyboardInterrupt
        steps[0] += 1
        _replace(source, target)
        look()

    for stop in range(100):
        shutil.rmtree(out, ignore_errors=True)
        if first:
            varlen.io.build(files[:first], building.numbered, out, durable=False)
        steps[0] = 0
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", replace)
            with contextlib.suppress(KeyboardInterrupt):
                varlen.io.build(files, building.numbered, out, durable=False)
        look()
        allowed = [None, expected(), expected()[: 3 * first] if first else None]
        assert all(rows in allowed for rows in seen)
        before = made(files)
        varlen.io.build(files, building.numbered, out, durable=False)
        assert plain(out) == expected()
        assert not [name for name in os.listdir(out) if name.startswith(".")]
        if steps[0] != stop:
            break
        if stop > 6:
            assert made(files) == before  # all drafts were there
    assert stop > 6


def test_what_a_killed_worker_left_is_taken_away(files, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    for name in (".part-00003.draft", ".part-00003.shard", "index.json"):
        os.close(atomic.temporary(str(out / name))[0])
    (out / ".notes").write_text("mine")
    varlen.io.build(files, building.numbered, out)
    assert [name for name in os.listdir(out) if name.startswith(".")] == [".notes"]


def test_a_partial_function_is_the_same_in_another_process(files, tmp_path):
    code = (
        "import functools, sys, building, varlen.io\n"
        "varlen.io.build(sys.argv[2:], functools.partial(building.shifted, by=1), sys.argv[1])\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([HERE, *sys.path])}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "out"), *files], check=True, env=environment)
    varlen.io.build(files, functools.partial(building.shifted, by=1), tmp_path / "out")
    assert made(files) == [1] * 6
    with pytest.raises(FileExistsError, match="another make"):
        varlen.io.build(files, functools.partial(building.shifted, by=2), tmp_path / "out")


def test_two_builds_at_once_are_refused(tmp_path):
    def nested(first):
        with pytest.raises(BlockingIOError, match="another writer is at work in the folder"):
            varlen.io.build([1], building.rows, tmp_path / "out")
        return building.rows(first)

    varlen.io.build([0], nested, tmp_path / "out")
    assert len(vl.open(tmp_path / "out")) == 3


@pytest.mark.parametrize(
    ("second", "text"),
    [
        (
            {"id": [3]},
            r"partition 1: has keys \['id'\], .*: \['value', 'word'\] differ",
        ),
        (
            {**building.rows(3), "dim1/word": np.arange(3)},
            "partition 1: key 'word' .* it has no words",
        ),
        ({**building.rows(3), "dim1/value": np.ones((3, 2))}, "partition 1: key 'value' .* trailing shape"),
        ({**building.rows(3), "dim1/value": np.ones(3, "M8[s]")}, "partition 1: key 'value' .* dtype"),
    ],
)
def test_partitions_that_differ_are_refused(second, text, tmp_path):
    with pytest.raises(ValueError, match=text):
        varlen.io.build([building.rows(0), second], None, tmp_path / "out")
    assert not [name for name in os.listdir(tmp_path / "out") if name.endswith((".nrt", ".json"))]


def test_what_does_not_fit_is_refused(tmp_path):
    out = tmp_path / "out"
    for call, error, text in [
        (lambda: varlen.io.build([], None, out), ValueError, "partitions: there are none"),
        (lambda: varlen.io.build("a", None, out), TypeError, "partitions: expected a list"),
        (lambda: varlen.io.build({"id": [1]}, None, out), TypeError, "partitions: expected a list"),
        (lambda: varlen.io.build([1], building.rows, ""), ValueError, "folder: expected a path"),
        (lambda: varlen.io.build([1], 3, out), TypeError, "make: expected a function, got int"),
        (lambda: varlen.io.build([1], None, out, workers=0), ValueError, "workers: expected at least 1"),
        (lambda: varlen.io.build([1], None, out, engine="spark"), ValueError, "engine: expected 'processes'"),
        (lambda: varlen.io.build([lambda: 1], None, out), TypeError, "cannot be pickled"),
    ]:
        with pytest.raises(error, match=text):
            call()
    assert not os.path.exists(out / "index.json")


def test_a_key_without_values_fits_any_dtype_and_words(tmp_path):
    empty = {"id": [7, 8], "word": [[], []], "value": [[], []]}
    parts = [empty, None, empty]
    parts[1] = {
        "dim0/id": np.array([1, 2]),
        "dim1/bounds": np.array([2, 2]),
        "dim1/word": np.array(["b", "a"]),
        "dim1/value": np.array([300, -1]),
    }
    for order in ([0, 1, 2], [1, 0, 2], [0, 2, 1]):
        out = tmp_path / "".join(map(str, order))
        varlen.io.build([parts[i] for i in order], None, out)
        shards = varlen.io.open_shards(out)
        assert shards.fields["word"].vocabulary == ("[PAD]", "b", "a")
        assert shards.fields["value"].dtype == np.int64
        assert vl.open(out)[:]["id"].tolist() == [
            i for part in order for i in ([1, 2] if part == 1 else [7, 8])
        ]
    varlen.io.build([empty, empty], None, tmp_path / "none")
    assert len(vl.open(tmp_path / "none")) == 4


def test_integers_that_no_dtype_holds_are_refused(tmp_path):
    parts = [{"id": np.array([2**63 + 1], "u8")}, {"id": np.array([-1])}]
    with pytest.raises(ValueError, match=r"partition 1: key 'id' .* no dtype holds both uint64 and int64"):
        varlen.io.build(parts, None, tmp_path / "out")


def test_partitions_without_rows_are_shards(tmp_path):
    none = {"dim0/id": np.zeros(0, int), "dim1/bounds": np.zeros(0, int), "dim1/word": np.zeros(0, "U1")}
    varlen.io.build([none, {key: building.rows(0)[key] for key in none}, none], None, tmp_path / "out")
    assert vl.open(tmp_path / "out")[:]["id"].tolist() == [0, 1, 2]


def frame(count):
    pandas = pytest.importorskip("pandas")
    ids = np.repeat(np.arange(count), 1 + np.arange(count) % 3)
    return pandas.DataFrame({"id": ids, "word": [f"w{i % 5}" for i in range(len(ids))]})


def test_a_data_frame_of_dask_is_built(tmp_path, cluster):
    frames = pytest.importorskip("dask.dataframe")
    table = frames.from_pandas(frame(12).set_index("id", drop=False), npartitions=3)
    varlen.io.build(table, building.of_frame, tmp_path / "out", engine=cluster)
    whole = building.of_frame(frame(12))
    ds = vl.open(tmp_path / "out")
    assert ds[:]["id"].tolist() == whole["dim0/id"].tolist()
    assert ds.lengths.tolist() == np.diff(whole["dim1/bounds"], prepend=0).tolist()
    assert len(ds.paths) == 3


def test_a_bag_of_dask_is_built_without_a_cluster(tmp_path):
    bags = pytest.importorskip("dask.bag")
    records = [{"id": i, "words": ["a"] * (i % 3)} for i in range(10)]
    varlen.io.build(
        bags.from_sequence(records, npartitions=4), building.of_records, tmp_path / "out", engine="dask"
    )
    ds = vl.open(tmp_path / "out")
    assert ds[:]["id"].tolist() == list(range(10))
    assert ds.lengths.tolist() == [i % 3 for i in range(10)]


def test_ray_builds_its_datasets_and_names_a_partition_that_fails(files, tmp_path, ray_of_two):
    data = pytest.importorskip("ray.data")
    data.DataContext.get_current().enable_progress_bars = False
    whole = frame(12)
    blocks = [whole[whole["id"] % 12 < 5], whole[whole["id"] >= 5]]
    varlen.io.build(data.from_pandas(blocks), building.of_block, tmp_path / "out")
    ds = vl.open(tmp_path / "out")
    assert ds[:]["id"].tolist() == list(range(12))
    with pytest.raises(RuntimeError, match="partition 3: no such visit"):
        varlen.io.build(files, building.failing, tmp_path / "failed", engine="ray")


def test_what_ray_says_of_a_worker_that_always_ends_is_told_by_its_times():
    from varlen.io.building import engines

    ended = pytest.importorskip("ray.exceptions").WorkerCrashedError

    def get():
        raise ended

    number, error, *_ = engines._result(3, get)
    assert (number, str(error)) == (3, "its worker ended, 3 times")
    assert type(error) is engines.LostWorkerError


def test_progress_is_shown(files, tmp_path, capsys):
    pytest.importorskip("tqdm")
    varlen.io.build(files, building.numbered, tmp_path / "out", progress=True)
    shown = capsys.readouterr().err
    assert "6/6" in shown
    assert "partitions" in shown


def test_results_come_in_the_order_of_tasks_and_a_lost_worker_has_a_number():
    from varlen.io.building import engines

    tasks = [((number,), None) for number in (2, 0, 1)]

    def engine(task, tasks):
        yield from sorted((job[0], task(job, None)) for job, _ in tasks)

    def lost(task, tasks):
        raise engines.TaskError(2, engines.LostWorkerError("its worker ended, 3 times"))
        yield

    assert engines.results_of(engine, lambda job, _: 10 * job[0], tasks) == [20, 0, 10]
    with pytest.raises(RuntimeError, match=r"^file 2: its worker ended, 3 times$"):
        engines.results_of(lost, None, tasks)
