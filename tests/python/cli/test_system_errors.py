"""Errors of the system and of workers: one line that names the file, whatever ran the task."""

import errno
import os

import pytest
import varlen as vl
from test_cli import run, write_lines
from varlen.cli.errors import one_line
from varlen.io.building import engines


@pytest.fixture
def full_disk(monkeypatch):
    """No byte more is written."""

    def writev(fd, buffers):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "writev", writev)


@pytest.fixture
def inputs(tmp_path):
    return [write_lines(tmp_path / f"{i}.jsonl", [{"id": i, "w": ["a"]}]) for i in range(2)]


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("flags", [["--rows-per-shard", "1"], ["--rows-per-shard", "1", "--compress"], []])
def test_a_full_disk_is_an_error_of_a_file(tmp_path, capsys, full_disk, inputs, flags, workers, monkeypatch):
    near = engines.engine_of
    monkeypatch.setattr(engines, "engine_of", lambda *_: near(None, [], 1))
    code, out, err = run(capsys, "convert", *inputs, tmp_path / "out", *flags, "--workers", workers)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"varlen: {tmp_path}/")
    assert "out" in err.removeprefix(f"varlen: {tmp_path}/").split(":")[0]
    assert err.endswith(": No space left on device\n")


def test_a_full_disk_is_an_error_of_a_file_of_rows(tmp_path, capsys, inputs, monkeypatch):
    assert run(capsys, "convert", *inputs, tmp_path / "in", "--rows-per-shard", "1")[0] == 0

    def writev(fd, buffers):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "writev", writev)
    code, _, err = run(capsys, "convert", tmp_path / "in", tmp_path / "out", "--compress")
    path = tmp_path / ".out.parts" / "new" / "part-00000.nrt"
    assert (code, err) == (1, f"varlen: {path}: No space left on device\n")
    assert not (tmp_path / ".out.parts").exists()
    with pytest.raises(OSError, match=r"a\.nrt") as caught:
        vl.JointNestedRaggedTensorDict({"x": [1]}).save(tmp_path / "a.nrt")
    assert caught.value.filename == str(tmp_path / "a.nrt")


@pytest.mark.parametrize("command", ["info", "verify", "compact"])
def test_what_is_missing_is_named_first(tmp_path, capsys, command):
    code, _, err = run(capsys, command, tmp_path / "none")
    assert (code, err.count("\n"), err.startswith(f"varlen: {tmp_path / 'none'}: ")) == (1, 1, True)


def test_the_trace_of_a_worker_is_no_part_of_a_line():
    def task(job, partition):
        os.stat("/none/at/all")

    with pytest.raises(FileNotFoundError) as caught:
        engines.results_of(
            lambda task, tasks: (engines._result_of(engines._guard(task, *one)) for one in tasks),
            task,
            [((0,), None)],
        )
    assert isinstance(caught.value.__cause__, engines.Trace)
    assert one_line(caught.value) == "/none/at/all: No such file or directory"
    error = ValueError("no such visit")
    error.__cause__ = OSError("it is gone")
    assert one_line(error) == "no such visit: it is gone"


def lost(task, tasks):
    raise engines.TaskError(1, engines.LostWorkerError("its worker ended, 3 times"))
    yield


@pytest.mark.parametrize(
    ("files", "place"), [(("a.csv",), "a.csv"), (("a.csv", "b.csv", "c.csv"), "a.csv and 2 more files")]
)
def test_a_worker_that_ends_names_its_files(files, place):
    with pytest.raises(RuntimeError, match=f"^{place}: its worker ended, 3 times$"):
        engines.run_tasks(lost, None, [((1,), None)], None, sources={1: files})
    with pytest.raises(RuntimeError, match=r"^a\.csv: its worker ended, 3 times$"):
        engines.results_of(lost, None, [((1,), None)], None, {1: "a.csv"})


def test_a_wrong_file_of_a_schema_needs_no_other_place(tmp_path, capsys, inputs, monkeypatch):
    near = engines.engine_of
    monkeypatch.setattr(engines, "engine_of", lambda *_: near(None, [], 1))
    assert run(capsys, "convert", "--infer-schema", tmp_path / "s.toml", *inputs)[0] == 0
    write_lines(tmp_path / "1.jsonl", [{"id": "x", "w": []}])
    schema = ["--schema", tmp_path / "s.toml"]
    errors = [
        run(capsys, "convert", *inputs, tmp_path / how[0], *schema, *how)[2]
        for how in (["--workers", "2"], ["--rows-per-shard", "2"])
    ]
    assert errors[0] == errors[1]
    assert errors[0].startswith(f"varlen: {tmp_path / '1.jsonl'}, line 1: 'id'")


@pytest.mark.parametrize("command", [["verify"], ["compact"], ["convert", "--compress"], ["convert"]])
def test_more_workers_than_there_can_be_are_refused(tmp_path, capsys, inputs, command):
    assert run(capsys, "convert", *inputs, tmp_path / "in", "--rows-per-shard", "1")[0] == 0
    names = [tmp_path / "in", tmp_path / "out"] if "--compress" in command else [tmp_path / "in"]
    names = [*inputs, tmp_path / "out"] if command == ["convert"] else names
    for count, text in ((5000, "at most 1024"), (0, "at least 1")):
        code, _, err = run(capsys, command[0], *names, *command[1:], "--workers", count)
        assert (code, err) == (2, f"varlen: --workers: expected {text}, got {count}\n")
    assert not (tmp_path / "out").exists()
