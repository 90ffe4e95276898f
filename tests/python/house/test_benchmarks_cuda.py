"""The table of the GPU, as far as it goes without one: results of every row, what is written and said."""

import contextlib
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import time

import pytest
from house import ROOT

sys.path.insert(0, str(ROOT))  # the benchmarks stand beside the package, not inside it
from benchmarks import harness, report
from benchmarks.cuda import __main__ as command
from benchmarks.cuda import machine, timing

torch = pytest.importorskip("torch")
pytest.importorskip("varlen.backends.torch")  # refuses a torch that it does not know

ROWS = command.load()
LINE = "NVIDIA H200, 570.86.15, 9.0, 143771, 1980, 1980, 3201, 3201, 700.00, 31, 0, Enabled\n"


@pytest.mark.parametrize("name", ROWS)
def test_contenders_agree_with_the_reference(name):
    case = timing.DeviceCase(tiny=True, device="cpu")
    with harness.opened(ROWS[name], case=case):
        timing.check(case)
        assert case.goals
        assert "varlen" in case.runs


def test_every_promise_has_a_row():
    promised = {
        "epoch",
        "pad",
        "unpad",
        "gather",
        "expand",
        "concat",
        "reduce",
        "softmax",
        "sort",
        "small",
        "fused",
    }
    assert {name.split(".")[0] for name in ROWS} == promised
    for name, entry in ROWS.items():
        case = timing.DeviceCase(tiny=True, device="cpu")
        with harness.opened(entry, case=case):
            beside = set(case.yardsticks)
        assert beside & {"copy", "torch copy_", "bus"} or name.startswith("small"), name


def test_wrong_results_are_refused():
    case = timing.DeviceCase(device="cpu", reference=torch.arange(2))
    case.contender("peer")(lambda: lambda: torch.tensor([0, 2]))
    with pytest.raises(AssertionError, match="peer: the result"):
        timing.check(case)


def test_poison_shows_what_was_not_written():
    case = timing.DeviceCase(device="cpu", reference=torch.zeros(2))
    out = case.output(case.reference)
    case.contender("varlen", show=lambda _: out)(lambda: lambda: None)
    with pytest.raises(AssertionError, match="varlen: the result"):
        timing.check(case)


def test_peers_that_do_not_run_are_left_out_and_varlen_is_not():
    def fails():
        raise NotImplementedError("no kernel for this GPU\nmore")

    case = timing.DeviceCase(device="cpu", reference=torch.zeros(2))
    case.contender("peer")(lambda: fails)
    case.contender("other peer")(fails)
    case.contender("varlen")(lambda: lambda: torch.zeros(2))
    timing.check(case)
    assert case.skipped == dict.fromkeys(["other peer", "peer"], "does not run here: no kernel for this GPU")
    assert list(case.runs) == ["varlen"]
    case.contender("varlen, otherwise")(lambda: fails)
    with pytest.raises(NotImplementedError):
        timing.check(case)


def test_figures_are_parts_of_a_copy_of_the_same_round():
    took = {"copy": 80.0, "varlen": 100.0, "peer": 200.0}
    case = timing.DeviceCase(device="cpu")
    case.copy(1000, 600)
    assert case.yardsticks["copy"].arguments[0].nbytes == 800
    case.at_least(0.85)
    case.ahead_of("peer")
    for name in ("varlen", "peer"):
        case.contender(name)(lambda: lambda: None)
    names = {id(run): name for name, run in {**case.yardsticks, **case.runs}.items()}
    times = timing.measure(case, 3, lambda run, calls: took[names[id(run)]])
    result = harness.result_of(harness.Row("pad", "some rows", lambda case: None), case, times, 0.0)
    assert [(goal["median"], goal["met"]) for goal in result["goals"]] == [(0.8, False), (2.0, True)]
    assert result["best_peer"] == "peer"
    assert "MISSED" in report.block(result)


def test_calls_are_as_many_as_fill_some_milliseconds():
    asked = []
    case = timing.DeviceCase(device="cpu")
    case.contender("varlen")(lambda: lambda: None)
    timing.measure(case, 2, lambda run, calls: asked.append(calls) or 400_000.0)
    assert asked == [1, 3, 1, 10, 1, 10]
    asked.clear()
    timing.measure(case, 1, lambda run, calls: asked.append(calls) or 10.0)
    assert asked[-1] == timing.MOST_CALLS
    asked.clear()
    times = timing.measure(case, 15, lambda run, calls: asked.append(calls) or 2 * timing.SLOW)
    assert asked == [1] * 4  # seconds are not spent on what is slow
    assert len(times["varlen"]) == 3


class Clock:
    """Events, streams and graphs of a device that is not there, on the clock of the host."""

    def record(self):
        self.at = time.perf_counter()

    def elapsed_time(self, end):
        return (end.at - self.at) * 1000

    def synchronize(self):
        pass

    def wait_stream(self, stream):
        pass

    def replay(self):
        pass


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(torch.cuda, "Event", lambda enable_timing: Clock())
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "Stream", Clock)
    monkeypatch.setattr(torch.cuda, "current_stream", Clock)
    monkeypatch.setattr(torch.cuda, "stream", contextlib.nullcontext)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Clock)
    monkeypatch.setattr(torch.cuda, "graph", lambda graph, stream: contextlib.nullcontext())
    monkeypatch.setattr(timing, "DeviceCase", functools.partial(timing.DeviceCase, tiny=True, device="cpu"))
    monkeypatch.setattr(timing, "AT_LEAST_MS", 0.05)


@pytest.mark.parametrize("pattern", ["^reduce.sum.(128|zipf)", "^pad.16", "^sort.16$", "^small.sum"])
def test_rows_are_checked_timed_and_written(clock, pattern, capsys):
    results = command.table(pattern, quick=True)
    assert [result["name"] for result in results] == [name for name in ROWS if re.search(pattern, name)]
    for result in json.loads(json.dumps(results)):
        assert result["contenders"]["varlen"]["median"] > 0
        assert result["goals"]
        assert all(goal["median"] > 0 for goal in result["goals"])
    printed = capsys.readouterr().out
    assert all(result["title"] in printed for result in results)


def test_row_that_fails_is_written_as_such(clock, monkeypatch, capsys):
    def fails(case):
        raise RuntimeError("out of memory")

    monkeypatch.setitem(ROWS, "pad.1", harness.Row("pad.1", "rows of bytes", fails))
    (result,) = command.table("^pad.1$", quick=True)
    assert result["error"] == "RuntimeError: out of memory"
    assert "FAILED RuntimeError: out of memory" in capsys.readouterr().out


def test_graph_holds_so_many_calls(clock):
    called = []
    replay = timing.in_graph(lambda: called.append(1) or len(called), 5)
    assert len(called) == 6  # one before, so that nothing is made for the first time
    assert replay() == 6


def test_calls_from_python_are_timed_until_they_are_back(clock):
    called = []
    assert timing.on_host(harness.Run(lambda: called.append(1)), 5) > 0
    assert len(called) == 5


def test_gpu_is_told_by_its_driver():
    gpu = machine.find(LINE + LINE)
    assert gpu["name"] == "NVIDIA H200"
    assert gpu["driver"] == "570.86.15"
    assert gpu["most_sm_mhz"] == 1980
    assert gpu["power_limit_w"] == 700.0
    assert machine.find(LINE.replace("Enabled", "[N/A]"))["ecc"] is None


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("NVIDIA H200", "h200.json"),
        ("NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb.json"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090.json"),
    ],
)
def test_results_are_called_by_the_gpu(name, file):
    assert machine.file_name(name) == file


def test_reports_of_tools_are_read():
    assert command.counts_in("F..\n2 failed, 300 passed, 1 skipped in 9.50s\n") == {
        "failed": 2,
        "passed": 300,
        "skipped": 1,
    }
    assert command.counts_in("") == {}
    lines = "FAILED tests/a.py::b[1, 2] - assert 1 - 2\nERROR tests/a.py::c\n"
    assert command.failures_in(lines) == ["tests/a.py::b[1, 2]", "tests/a.py::c"]
    assert command.verdict_in("========= ERROR SUMMARY: 3 errors\n") == "ERROR SUMMARY: 3 errors"
    assert command.verdict_in("========= RACECHECK SUMMARY: 0 hazards displayed\n").startswith("RACECHECK")
    assert command.verdict_in("killed") == "no summary"


def test_what_takes_too_long_is_ended_and_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "LOG", tmp_path / "build" / "gpu.log")
    status, said = command.run(
        sys.executable, "-uc", "import time; print('begun'); time.sleep(60)", seconds=3
    )
    assert status == -1
    assert "begun" in said
    assert "begun" in command.LOG.read_text()


@pytest.fixture
def steps(monkeypatch, tmp_path):
    """A GPU, and steps that say what they find."""
    found = {step: {"ok": True} for step in command.STEPS}
    monkeypatch.setattr(machine, "ask", lambda: LINE)
    monkeypatch.setattr(command.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(command, "LOG", tmp_path / "gpu.log")
    monkeypatch.setattr(command, "build", lambda: found["build"])
    monkeypatch.setattr(command, "tests", lambda: found["tests"])
    monkeypatch.setattr(command, "sanitizers", lambda: found["sanitizers"])
    monkeypatch.setattr(command, "measured", lambda options: found["table"])
    return found


def test_results_have_a_date_a_driver_and_clocks(steps, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "RESULTS", tmp_path / "results")
    assert command.main([]) == 0
    written = json.loads((tmp_path / "results" / "h200.json").read_text())
    assert written["date"].endswith("+00:00")
    assert written["gpu"]["driver"] == "570.86.15"
    assert {"sm_mhz", "memory_mhz", "celsius"} <= set(written["gpu"])
    assert set(command.STEPS) <= set(written)
    assert "table done" in capsys.readouterr().out


def test_failed_step_is_no_success(steps, tmp_path, capsys):
    steps["tests"] = {"ok": False, "failed": 1}
    assert command.main(["--json", str(tmp_path / "a.json")]) == 1
    assert "tests FAILED, sanitizers done" in capsys.readouterr().out
    steps["build"] = {"ok": False}
    assert command.main(["--json", str(tmp_path / "a.json")]) == 1
    assert "table" not in json.loads((tmp_path / "a.json").read_text())  # nothing is measured of an old build


def test_steps_are_chosen(steps, tmp_path):
    assert command.main(["--steps", "table", "--json", str(tmp_path / "a.json")]) == 0
    written = json.loads((tmp_path / "a.json").read_text())
    assert [step for step in command.STEPS if step in written] == ["table"]
    assert command.main(["--steps", "tables"]) == 2


@pytest.mark.skipif(os.name != "posix", reason="the command is a shell's")
def test_machine_without_a_gpu_is_told_in_a_sentence(tmp_path):
    for tool in ("bash", "dirname", "env"):
        (tmp_path / tool).symlink_to(shutil.which(tool))
    done = subprocess.run(
        [str(ROOT / "benchmarks/cuda/run")],
        env={**os.environ, "PATH": str(tmp_path), "PYTHON": sys.executable},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "This machine has no GPU that CUDA runs on: there is no nvidia-smi.\n"
    assert done.stdout == ""


def test_driver_without_a_device_is_told_in_a_sentence(monkeypatch):
    failed = subprocess.CompletedProcess([], 9, "", "NVIDIA-SMI has failed\nbecause of the driver\n")
    monkeypatch.setattr(machine.shutil, "which", lambda name: "nvidia-smi")
    monkeypatch.setattr(machine.subprocess, "run", lambda *args, **named: failed)
    with pytest.raises(machine.NoGpu, match=r"says 'NVIDIA-SMI has failed because of the driver'\.$"):
        machine.find()
