"""Conversions that are stopped anywhere go on: the result is the same, and no part is made twice."""

import contextlib
import os
import shutil
import threading

import pytest
import varlen as vl
from deep import mostly_deep
from test_cli import run, write_lines
from varlen.cli.conversion import files
from varlen.io import rewrite, work_folder
from varlen.io.building import engines


class Killed(BaseException):
    """The end of the process: what runs after it changes no file."""


#: What changes names, and what notes a part.
STEPS = [(os, name) for name in ("replace", "rename", "unlink", "rmdir", "mkdir")]
STEPS += [(work_folder.WorkFolder, "_note")]


@pytest.fixture
def kill(monkeypatch):
    """Runs a call up to a step, and says whether it came so far."""

    def run_to(stop, call):
        count = 0

        def guard(function):
            def step(*arguments, **options):
                nonlocal count
                count += 1
                if count > stop:
                    raise Killed if count == stop + 1 else OSError("dead")
                return function(*arguments, **options)

            return step

        with monkeypatch.context() as patch:
            for owner, name in STEPS:
                patch.setattr(owner, name, guard(getattr(owner, name)))
            with contextlib.suppress(Killed):
                call()
        return count > stop

    return run_to


def files_of(folder):
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def calls_of(monkeypatch, module, name):
    """The calls of a task."""
    calls, task = [], getattr(module, name)

    def count(*arguments):
        calls.append(arguments[0].number)
        return task(*arguments)

    monkeypatch.setattr(module, name, count)
    return calls


@pytest.fixture
def shards(tmp_path):
    rows = {"id": list(range(6)), "x": [[1, 2], [], [3], [4, 5, 6], [7], []]}
    vl.data.Dataset(vl.JointNestedRaggedTensorDict(rows)).save(tmp_path / "in", rows_per_shard=2)
    return tmp_path / "in"


@pytest.mark.parametrize("part", mostly_deep(range(4), 2))
def test_files_of_rows_are_written_once(shards, tmp_path, capsys, kill, monkeypatch, part):
    command = ["convert", shards, tmp_path / "out", "--compress", "--checksums", "--quiet"]
    assert run(capsys, *command) == (0, "", "")
    expected = files_of(tmp_path / "out")
    calls = calls_of(monkeypatch, rewrite, "write_again")
    for stop in range(part, 1000, 4):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        calls.clear()
        if not kill(stop, lambda: run(capsys, *command)):
            break
        if not (tmp_path / "out").exists():
            assert run(capsys, *command) == (0, "", ""), stop
        assert files_of(tmp_path / "out") == expected, stop
        assert len(calls) <= 4, stop
        assert len({*calls}) == 3
    assert stop > 15


def kill_after_a_part(kill, tmp_path, call):
    notes = tmp_path / ".out.parts" / "notes.jsonl"
    for stop in range(100):
        assert kill(stop, call)
        if notes.exists():
            return
        shutil.rmtree(notes.parent, ignore_errors=True)


def test_what_changed_is_written_anew(shards, tmp_path, capsys, kill, monkeypatch):
    command = ["convert", shards, tmp_path / "out", "--compress", "--quiet"]
    calls = calls_of(monkeypatch, rewrite, "write_again")
    kill_after_a_part(kill, tmp_path, lambda: run(capsys, *command))
    assert not (tmp_path / "out").exists()
    vl.JointNestedRaggedTensorDict({"id": [0, 1], "x": [[9, 9], []]}).save(shards / "part-00000.nrt")
    calls.clear()
    (shards / "index.json").unlink()
    assert run(capsys, *command) == (0, "", "")
    assert calls == [0, 1, 2]
    assert vl.open(tmp_path / "out")["x"].to_list() == [[9, 9], [], [3], [4, 5, 6], [7], []]
    assert not (tmp_path / ".out.parts").exists()


def test_two_processes_do_not_make_one_folder(shards, tmp_path, capsys):
    with work_folder.work_folder(str(tmp_path / "out")):
        code, _, err = run(capsys, "convert", shards, tmp_path / "out", "--compress")
    assert (code, "another process is making it" in err, "out" in err) == (1, True, True)
    assert run(capsys, "convert", shards, tmp_path / "out", "--compress", "--quiet") == (0, "", "")


def test_notes_that_are_torn_are_no_parts(shards, tmp_path, capsys, kill):
    command = ["convert", shards, tmp_path / "out", "--compress", "--quiet"]
    kill_after_a_part(kill, tmp_path, lambda: run(capsys, *command))
    with open(tmp_path / ".out.parts" / "notes.jsonl", "a") as notes:
        notes.write('[3]\n{"made_of": 1}\n{"made_of": "x", "fil')
    assert run(capsys, *command) == (0, "", "")
    assert vl.open(tmp_path / "out")["id"].tolist() == list(range(6))


@pytest.fixture
def meds(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for i, name in enumerate(["train/0", "train/1", "tuning/0"]):
        path = tmp_path / "meds" / "data" / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        columns = {"subject_id": [i, i, i + 9], "code": ["A", f"B{i}", "C"], "numeric_value": [i, 2.5, None]}
        pq.write_table(pa.table({**columns, "time": pa.array([1, 1, None], pa.timestamp("us"))}), path)
    (tmp_path / "meds" / "metadata").mkdir()
    return tmp_path / "meds"


@pytest.mark.parametrize("part", mostly_deep(range(9), 4))
@pytest.mark.parametrize("force", [False, True])
def test_folders_of_meds_are_written_once(meds, tmp_path, capsys, kill, monkeypatch, force, part):
    from varlen.cli.conversion import meds_folder

    command = ["convert", meds, tmp_path / "out", "--quiet", *["--force"] * force]
    assert run(capsys, *command) == (0, "", "")
    expected = files_of(tmp_path / "out")
    calls = [calls_of(monkeypatch, meds_folder, name) for name in ("read_codes", "write_shard")]
    for stop in range(part, 1000, 9):
        if not force:
            shutil.rmtree(tmp_path / "out", ignore_errors=True)
        for one in calls:
            one.clear()
        if not kill(stop, lambda: run(capsys, *command)):
            break
        if force or not (tmp_path / "out").exists():
            assert run(capsys, *command) == (0, "", ""), stop
        assert files_of(tmp_path / "out") == expected, stop
        assert {path.name for path in tmp_path.iterdir()} - {".out.parts"} == {"meds", "out"}
    assert stop > 25


def test_shards_of_meds_are_made_anew_if_codes_changed(meds, tmp_path, capsys, kill, monkeypatch):
    from varlen.cli.conversion import meds_folder

    pq = pytest.importorskip("pyarrow.parquet")
    command = ["convert", meds, tmp_path / "out", "--quiet"]
    calls = calls_of(monkeypatch, meds_folder, "write_shard")
    with monkeypatch.context() as patch:
        patch.setattr(meds_folder, "_with_metadata", None)
        with pytest.raises(TypeError):
            meds_folder.convert_meds(meds, tmp_path / "out")
    assert calls == [0, 1, 2]
    assert run(capsys, *command) == (0, "", "")
    assert calls == [0, 1, 2]
    table = pq.read_table(meds / "data" / "train" / "0.parquet")
    shutil.rmtree(tmp_path / "out")
    with monkeypatch.context() as patch:
        patch.setattr(meds_folder, "_with_metadata", None)
        with pytest.raises(TypeError):
            meds_folder.convert_meds(meds, tmp_path / "out")
    pq.write_table(table.set_column(1, "code", [["A", "B0", "D"]]), meds / "data" / "train" / "0.parquet")
    calls.clear()
    assert run(capsys, *command) == (0, "", "")
    assert calls == [0, 1, 2]
    assert vl.open(tmp_path / "out" / "data" / "train").fields["code"].vocabulary[-1] == "D"


@pytest.fixture
def near(monkeypatch):
    """An engine of the same process."""
    monkeypatch.setattr(engines, "engine_of", lambda *_: contextlib.nullcontext(engines._loop))


def write_events(folder, kind, events):
    paths = []
    for i, rows in enumerate(events):
        paths.append(folder / f"{i}.{kind}")
        if kind == "jsonl":
            write_lines(paths[-1], rows)
        else:
            pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
            pq.write_table(pa.Table.from_pylist(rows), paths[-1])
    return paths


#: Records whose types are known after the last file alone.
EVENTS = [
    [
        {"id": f"{i}{k}", "n": [k - 300 * (i == 2)] * k, "t": [0.5 * k] * k, "w": [f"w{i}"] * k}
        for k in range(1, 4)
    ]
    for i in range(3)
]


@pytest.mark.parametrize("cut", [["--force"], ["--rows-per-shard", "2", "--narrow"], []])
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize("changed", [None, 0, 2])
def test_what_parts_tell_is_learned_once(tmp_path, capsys, near, kill, monkeypatch, cut, kind, changed):
    pytest.importorskip("pyarrow" if kind == "parquet" else "json")
    paths = write_events(tmp_path, kind, EVENTS)
    command = ["convert", *paths, tmp_path / "out", "--workers", "2", "--quiet", "--row-ids", "id", *cut]
    calls, task = [], files.learn_lessons

    def count(job, partition):
        lessons = task(job, partition)
        calls.append(job.number)
        return lessons

    monkeypatch.setattr(files, "learn_lessons", count)
    now = [*EVENTS]
    if changed is not None:
        now[changed] = [{"id": "new", "n": [70000], "t": [], "w": ["other"]}]
        now[changed][0]["t"] = [0.25]
    (tmp_path / "now").mkdir()
    for stop in range(60):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        shutil.rmtree(tmp_path / ".out.parts", ignore_errors=True)
        write_events(tmp_path, kind, EVENTS)
        calls.clear()
        if not kill(stop, lambda: run(capsys, *command)):
            break
        if (tmp_path / "out" / "index.json").exists():
            continue
        had = set(calls)
        if changed is not None:
            shutil.copy(write_events(tmp_path / "now", kind, now)[changed], paths[changed])
            if not cut:  # parts of the files as they were lie there
                shutil.rmtree(tmp_path / "out", ignore_errors=True)
        assert run(capsys, *command) == (0, "", ""), stop
        lost = 1 if len(had) and calls.count(max(had)) == 2 else 0  # the note of the last part may be lost
        again = {0, 1, 2} if changed is not None and kind == "parquet" else {changed} - {None}
        assert len(calls) <= 3 + len(again & had) + lost, (stop, calls)
        ds = vl.open(tmp_path / "out")
        assert [row["n"].tolist() for row in ds] == [row["n"] for rows in now for row in rows]
        words = ds.fields["w"].vocabulary
        assert [[words[i] for i in row["w"]] for row in ds] == [row["w"] for rows in now for row in rows]
        assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {"now", "out"}
    assert stop > 5


@pytest.mark.parametrize("part", mostly_deep(range(8), 5))
@pytest.mark.parametrize("cut", [["--force"], ["--rows-per-shard", "2"], []])
def test_conversions_of_files_go_on(tmp_path, capsys, kill, cut, part):
    records = [[{"id": 2 * i + k, "w": [f"w{i}"] * k} for k in range(2)] for i in range(3)]
    paths = [write_lines(tmp_path / f"{i}.jsonl", part) for i, part in enumerate(records)]
    command = ["convert", *paths, tmp_path / "out", "--engine", "dask", "--quiet", *cut]
    pytest.importorskip("dask")
    assert run(capsys, *command) == (0, "", "")
    expected = files_of(tmp_path / "out")
    for stop in range(part, 1000, 8):
        if cut != ["--force"]:
            shutil.rmtree(tmp_path / "out", ignore_errors=True)
        if not kill(stop, lambda: run(capsys, *command)):
            break
        if cut != ["--rows-per-shard", "2"] or not (tmp_path / "out").exists():
            assert run(capsys, *command) == (0, "", ""), stop
        assert files_of(tmp_path / "out") == expected, stop
    assert stop > 9


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_folder_takes_the_place_of_another(can_exchange, tmp_path, monkeypatch):
    if not can_exchange:
        monkeypatch.setattr(work_folder, "_exchange", lambda a, b: False)
    target = tmp_path / "out"
    for turn in range(3):
        new = tmp_path / "new"
        new.mkdir()
        (new / "turn").write_text(str(turn))
        work_folder.replace_folder(str(new), str(target))
        assert (target / "turn").read_text() == str(turn)
        assert os.listdir(tmp_path) == ["out"]


def test_a_folder_is_never_missing_where_names_change_places_at_once(tmp_path):
    target, stop, missing = tmp_path / "out", threading.Event(), []
    for name in "ab":
        (tmp_path / name).mkdir()
    if not work_folder._exchange(str(tmp_path / "a"), str(tmp_path / "b")):
        pytest.skip("this system renames one name at a time")
    target.mkdir()

    def look():
        while not stop.is_set():
            if not target.exists():
                missing.append(len(missing))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        for _ in range(200):
            new = tmp_path / "new"
            new.mkdir()
            work_folder.replace_folder(str(new), str(target))
    finally:
        stop.set()
        watcher.join()
    assert not missing


def test_the_old_folder_stays_where_the_new_one_gets_no_name(tmp_path, monkeypatch):
    target, new, rename = tmp_path / "out", tmp_path / "new", os.rename
    for folder, text in ((target, "old"), (new, "new")):
        folder.mkdir()
        (folder / "text").write_text(text)

    def fail(source, name):
        if str(source).endswith(".next"):
            raise OSError("no")
        rename(source, name)

    monkeypatch.setattr(work_folder, "_exchange", lambda a, b: False)
    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(OSError, match="no"):
        work_folder.replace_folder(str(new), str(target))
    assert (target / "text").read_text() == "old"
