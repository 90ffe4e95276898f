"""What varlen.cuda says: one sentence, for each thing that can be missing."""

import os
import types

import house
import pytest
import varlen
from varlen import cuda

FOUND = {"code": 0, "count": 1, "driver": 13000, "runtime": 13000, "name": "Test 1000", "text": "no error"}


def told(monkeypatch, module):
    monkeypatch.setattr(cuda, "_module", lambda: module)
    monkeypatch.setattr(cuda, "_status_cache", {})
    return cuda.status()


def module_that_finds(**found):
    return types.SimpleNamespace(probe=lambda: FOUND | found, __archs__="75-real 90-virtual")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("off", "VARLEN_CUDA was OFF"),
        ("no compiler", "no nvcc was found"),
        ("no GPU", "the machine that built it has no GPU"),
        ("built", "its module is missing"),
    ],
)
def test_status_says_why_it_was_not_built(monkeypatch, state, words):
    monkeypatch.setattr(cuda._core, "cuda_state", state)
    status = told(monkeypatch, None)
    assert status.code == "not built"
    assert words in str(status)
    assert not status
    assert not cuda.is_available()


def test_the_build_says_what_became_of_cuda():
    assert cuda._core.cuda_state in {"off", "no compiler", "no GPU", "built"}


@pytest.mark.parametrize(
    ("found", "code", "words"),
    [
        ({}, "ok", "CUDA is ready: Test 1000;"),
        ({"count": 3}, "ok", "Test 1000 and 2 more"),
        ({"code": 35, "count": 0, "driver": 0}, "no driver", "no CUDA driver"),
        (
            {"code": 35, "count": 0, "driver": 12040},
            "driver too old",
            "knows CUDA 12.4, varlen was built with CUDA 13.0",
        ),
        ({"code": 100, "count": 0}, "no device", "sees no device"),
        ({"count": 0}, "no device", "sees no device"),
        ({"code": 209}, "no kernel image", "75-real 90-virtual"),
        ({"code": 3, "count": 0}, "forked", "forked child"),
        ({"code": 804, "text": "bad mix"}, "error", "bad mix (error 804)"),
    ],
)
def test_status_names_what_is_missing(monkeypatch, found, code, words):
    status = told(monkeypatch, module_that_finds(**found))
    assert status.code == code
    assert words in str(status)
    assert "\n" not in str(status)
    assert str(status).endswith(".")
    assert bool(status) == (code == "ok")


def test_status_is_asked_once_in_each_process(monkeypatch):
    asked = []
    module = types.SimpleNamespace(probe=lambda: asked.append(os.getpid()) or FOUND, __archs__="")
    told(monkeypatch, module)
    cuda.status()
    assert len(asked) == 1
    monkeypatch.setattr(os, "getpid", lambda: -1)
    cuda.status()
    assert len(asked) == 2


def test_status_of_this_machine_is_a_sentence():
    assert varlen.cuda.status() is varlen.cuda.status()
    assert str(varlen.cuda.status()).endswith(".")


def test_module_imports_without_a_driver_and_leaves_cuda_alone():
    """Importing must not start the driver: forked workers could not use it any more."""
    pytest.importorskip("varlen._cuda", reason=str(varlen.cuda.status()))
    code = (
        "import sys; from varlen import _cuda; import varlen\n"
        "maps = open('/proc/self/maps').read() if sys.platform == 'linux' else ''\n"
        "assert 'libcuda.so' not in maps\n"
        "assert _cuda.__version__ == varlen.__version__\n"
        "print(_cuda.__archs__)"
    )
    assert "virtual" in house.in_python(code)[0]


@pytest.mark.cuda
def test_module_runs_on_the_device():
    assert varlen.cuda.status().device_count >= 1
