"""`varlen verify`: says what is as it was written, names every fault, and ends with a code."""

import json

import pytest
import varlen as vl
from test_cli import LINES, run, write_lines


@pytest.fixture
def folder(tmp_path, capsys):
    lines = write_lines(tmp_path / "a.jsonl", LINES)
    code, _, err = run(capsys, "convert", lines, tmp_path / "out", "--rows-per-shard", "1", "--checksums")
    assert code == 0, err
    return tmp_path / "out"


def test_what_is_as_written_ends_well(folder, capsys):
    code, out, _ = run(capsys, "verify", folder, folder / "part-00000.nrt")
    assert code == 0
    assert out.splitlines()[0].startswith(f"{folder}: 3 files, ")
    assert all(line.endswith(": as written") for line in out.splitlines())
    assert run(capsys, "verify", folder, "--quiet") == (0, "", "")


def test_each_fault_is_a_line(folder, capsys):
    for name in ("part-00000.nrt", "part-00002.nrt"):
        raw = bytearray((folder / name).read_bytes())
        raw[-1] ^= 1
        (folder / name).write_bytes(raw)
    (folder / "part-00001.nrt").unlink()
    code, out, _ = run(capsys, "verify", folder)
    assert code == 1
    lines = out.splitlines()
    assert len(lines) == 3
    assert "part-00000.nrt: " in lines[0]
    assert "expected xxh3_64:" in lines[0]
    assert lines[1] == f"{folder}/part-00001.nrt: is gone, and its index lists it"
    code, out, _ = run(capsys, "verify", folder, "--json")
    (report,) = json.loads(out)
    assert code == 1
    assert [fault["file"] for fault in report["faults"]] == [
        str(folder / f"part-0000{i}.nrt") for i in range(3)
    ]
    assert {"key", "dim", "expected", "found"} <= report["faults"][0].keys()


def test_a_file_without_checksums_is_a_fault_and_a_missing_one_an_error(tmp_path, capsys):
    vl.JointNestedRaggedTensorDict({"x": [1, 2]}).save(tmp_path / "a.nrt")
    code, out, _ = run(capsys, "verify", tmp_path / "a.nrt")
    assert (code, "no checksums" in out) == (1, True)
    code, _, err = run(capsys, "verify", tmp_path / "b.nrt")
    assert (code, "b.nrt" in err) == (1, True)


def test_workers_and_notes_find_the_same(folder, tmp_path, capsys):
    notes = tmp_path / "notes.jsonl"
    code, out, _ = run(capsys, "verify", folder, "--workers", "2", "--resume", notes)
    assert (code, len(notes.read_text().splitlines())) == (0, len(list(folder.glob("*.nrt"))))
    code, again, _ = run(capsys, "verify", folder, "--resume", notes)
    assert (code, again.partition(" in ")[0]) == (0, out.partition(" in ")[0])
    assert run(capsys, "verify", folder, "--workers", "0")[0] == 2
