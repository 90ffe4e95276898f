"""Files checked on engines: the faults of one process in the order of the files, and none checked again."""

import importlib
import os

import pytest
from deep import mostly_deep
from varlen import io

pytest.importorskip("xxhash")
module = importlib.import_module("varlen.io.verify")

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def folder(tmp_path):
    with io.ShardWriter(tmp_path / "a", 2, checksums=True) as writer:
        writer.append({"x": [[i, i + 1] for i in range(10)], "word": [["a", "b"] for _ in range(10)]})
    return tmp_path / "a"


def flip(path, at=-1):
    raw = bytearray(path.read_bytes())
    raw[at] ^= 1
    path.write_bytes(raw)


def texts(faults):
    return [(type(fault), str(fault), vars(fault)) for fault in faults]


@pytest.mark.parametrize("engine", mostly_deep(["processes", "dask", "ray"], "processes"))
def test_every_engine_finds_the_same_faults(folder, engine):
    if engine != "processes":
        pytest.importorskip(engine)
    how = {"engine": engine, "workers": 2}
    assert io.verify(folder, **how) == []
    for number in (3, 1):
        flip(folder / f"part-0000{number}.nrt")
    (folder / "part-00004.nrt").unlink()
    alone = io.verify(folder)
    assert [os.path.basename(fault.file) for fault in alone] == [f"part-0000{i}.nrt" for i in (1, 3, 4)]
    assert texts(io.verify(folder, **how)) == texts(alone)
    if engine == "ray":
        importlib.import_module("ray").shutdown()


def test_a_run_that_was_stopped_goes_on(folder, tmp_path, monkeypatch):
    notes, seen = tmp_path / "verify.jsonl", []

    def faults_of(shard, options, own=module.faults_of):
        seen.append(os.path.basename(shard.path))
        if len(seen) == 3:
            raise KeyboardInterrupt
        return own(shard)

    monkeypatch.setattr(module, "faults_of", faults_of)
    with pytest.raises(KeyboardInterrupt):
        io.verify(folder, resume=notes)
    assert len(notes.read_text().splitlines()) == 2
    assert io.verify(folder, resume=notes) == []
    names = [f"part-0000{i}.nrt" for i in range(5)]
    assert seen == [*names[:3], *names[2:]]
    seen[:] = [None] * 3
    assert io.verify(folder, resume=notes) == []
    assert seen[3:] == []
    raw = (folder / names[2]).read_bytes()
    flip(folder / names[2])
    assert len(io.verify(folder, resume=notes)) == len(io.verify(folder, resume=notes)) == 1  # not noted
    assert seen[3:] == [names[2]] * 2
    (folder / names[2]).write_bytes(raw)
    notes.write_text(notes.read_text()[:-9])  # killed while it wrote the last line
    assert io.verify(folder, resume=notes) == []
    assert set(seen[5:]) == {names[2], names[4]}


def test_files_that_do_not_agree_are_a_fault(tmp_path):
    for name, rows in {"a": {"x": [[1]]}, "b": {"y": [[1]]}}.items():
        with io.Writer(tmp_path / f"{name}.nrt", checksums=True) as writer:
            writer.append(rows)
    (fault,) = io.verify(tmp_path)
    assert "'y'" in str(fault) or "'x'" in str(fault)


def test_options_that_do_not_fit_are_refused(folder, tmp_path):
    for options, error, text in [
        ({"workers": 0}, ValueError, "workers: expected at least 1"),
        ({"engine": "spark"}, ValueError, "engine: expected 'processes'"),
        ({"resume": 3}, TypeError, "resume"),
    ]:
        with pytest.raises(error, match=text):
            io.verify(folder, **options)
    with pytest.raises(FileNotFoundError):
        io.verify(tmp_path / "none.nrt", workers=2)
