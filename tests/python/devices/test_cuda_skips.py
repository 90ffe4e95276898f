"""Tests that need a device are counted as skipped, with what is missing, or fail where one is promised."""

import os
import re
import subprocess
import sys

import pytest
import varlen
from house import ROOT

# The tests of every file but the largest, so that this takes a second.
SOME = ["test_cuda_process.py", "test_cuda_sizes.py", "test_cuda_streams.py"]


def outcome(**environment):
    """What pytest prints of tests on a device."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
    clean.pop("REQUIRE_CUDA", None)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=line"]
        + [f"tests/cuda/{name}" for name in SOME],
        cwd=ROOT, env=clean | environment, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.fixture(autouse=True)
def _without_a_device():
    if varlen.cuda.is_available():
        pytest.skip("there is a device here, and its tests run")


def count_of(word, text):
    return int(re.search(rf"(\d+) {word}", text.splitlines()[-1])[1])


def test_skipped_tests_are_counted_with_what_is_missing():
    code, text = outcome()
    assert code == 0, text
    count = count_of("skipped", text)
    assert count > 100
    assert re.search(rf"^SKIPPED \[{count}\] .*: {re.escape(str(varlen.cuda.status()))}$", text, re.MULTILINE)


def test_promised_device_that_is_missing_fails_every_test():
    code, text = outcome(REQUIRE_CUDA="1")
    assert code == 1
    assert count_of("errors", text) > 100
    assert "passed" not in text.splitlines()[-1]
    assert f"REQUIRE_CUDA=1, but {varlen.cuda.status()}" in text
