"""Arrays that another thread rewrites during a call: numbers may be wrong then, memory never."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Every verb that reads indices or ends from memory of the caller, on arrays large enough that the GIL is
# released; a thread fills these with numbers far outside meanwhile.
PROGRAM = """
import sys, threading, time
import numpy as np
import varlen as vl
from varlen import _core, ops

rng = np.random.default_rng(0)
N, ROWS = 300_000, 50_000
level = vl.Level(np.full(N // 10, 10))
good, bad = {}, (2**62, -(2**62), 10**14, -1)  # no size that memory could hold


def array(name, values):
    good[name] = np.array(values, np.int64)
    return good[name].copy()


def gather_add():
    at = array("at", rng.integers(0, ROWS, (N, 2)))
    table = np.ones((ROWS, 2), np.float32)
    return at, lambda: ops.gather_add(table, at)


def backprop_gather_add():
    at = array("at", rng.integers(0, ROWS, (N, 2)))
    d = np.ones((N, 1), np.float16)  # halves are added in order
    return at, lambda: ops.backprop_gather_add(d, at, ROWS)


def backprop_gather_add_direct():
    at = array("at", rng.integers(0, ROWS, (N, 2)))
    d = np.ones((N, 4), np.float32)
    return at, lambda: ops.backprop_gather_add(d, at, ROWS)


def scatter_add():
    at = array("at", rng.integers(0, ROWS, N))
    values, table = np.ones((N, 2), np.float32), np.zeros((ROWS, 2), np.float32)
    return at, lambda: ops.scatter_add(table, at, values)


def places():
    return array("at", np.tile(rng.permutation(10), N // 10))


def backprop_sort():
    at, d = places(), np.ones(N)
    return at, lambda: ops.backprop_sort(d, at, level)


def backprop_topk():
    at, d = array("at", np.tile(rng.permutation(10)[:5], N // 10)), np.ones(N // 2)
    return at, lambda: ops.backprop_topk(d, at, level)


def backprop_cummax():
    at, d = places(), np.ones(N)
    return at, lambda: ops.backprop_cummax(d, at, level)


def backprop_cummin():
    at, d = places(), np.ones(N, np.float32)
    return at, lambda: ops.backprop_cummin(d, at, level)


def backprop_reduce_max():
    at = array("at", rng.integers(0, 10, N // 10))
    d = np.ones(N // 10)
    return at, lambda: ops.backprop_reduce_max(d, at, level)


def take_rows():
    at, x = array("at", rng.integers(0, ROWS, N)), np.ones((ROWS, 2))
    return at, lambda: _core.take_rows(x, at)


def insert_rows():
    at, x = array("at", np.sort(rng.integers(0, ROWS, N))), np.ones((ROWS, 2))
    return at, lambda: _core.insert_rows(x, at)


def remove_rows():
    at, x = array("at", np.sort(rng.integers(0, ROWS, N))), np.ones((ROWS + N, 2))
    return at, lambda: _core.remove_rows(x, at)


def gather():
    at, r = array("at", rng.integers(0, N // 10, N)), vl.Ragged(np.ones(N), level)
    return at, lambda: r[at]


def gather_mask():
    at, r = array("at", rng.integers(0, 2, N // 80)).view(bool), vl.Ragged(np.ones(N), level)
    good["at"] = np.zeros(N // 80, np.int64)
    return at, lambda: r[at]


def lengths():
    at = array("at", np.full(N, 3))
    return at, lambda: vl.Level(at).row_ids


def offsets():
    at = array("at", np.arange(N))
    return at, lambda: vl.Level.from_offsets(at).row_ids


def row_ids():
    at = array("at", np.arange(N) // 3)
    return at, lambda: vl.Level.from_row_ids(at, N).row_ids


def windows():
    at = array("at", np.full(N, 5))
    return at, lambda: _core.step_windows(at, 2, 1)


def joint():
    at = array("at", np.arange(1, N // 10 + 1) * 10)
    J = _core.Joint(["x"], [1], [np.ones(N)], [at])
    at_2 = at
    return at, lambda: (J.dense(), J.bounds(1), _core.Joint.concat([J, J]), J.take(np.arange(9)))


def nested_joint():
    inner = array("at", np.arange(1, N // 10 + 1) * 10)
    outer = np.arange(1, N // 100 + 1) * 10
    J = _core.Joint(["x"], [2], [np.ones(N)], [outer, inner])
    return inner, lambda: (J.dense(), J.flatten(), J.slice(5, 900).dense(), _core.Joint.stack([J, J]))


def batch():
    inner = array("at", np.arange(1, N // 10 + 1) * 10)
    outer = np.arange(1, N // 100 + 1) * 10
    J = _core.Joint(["x"], [2], [np.ones(N)], [outer, inner])
    names, dims, fill = ["x"], [2], [np.zeros(1)]
    rows = np.arange(N // 100)
    made = [
        _core.Batcher([J], [""], None, None, names, dims, fill, [None], options)
        for options in ({}, {"ragged": True}, {"flatten": True})
    ]
    return inner, lambda: [batcher(rows) for batcher in made]


def run(make):
    at, call = make()
    stop = False
    fine = good["at"].reshape(at.shape) if at.dtype == np.int64 else None

    def rewrite():
        turn = 0
        while not stop:
            if fine is None:
                at.view(np.uint8)[:] = turn % 2
            else:
                # One number at a time, and back again: a check may pass before it.
                k = int(rng.integers(at.size))
                at.reshape(-1)[k] = bad[turn % len(bad)]
                if turn % 3 == 0:
                    at[...] = fine
            turn += 1

    threads = [threading.Thread(target=rewrite, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + float(sys.argv[1])
    refused = done = 0
    while time.monotonic() < end:
        if fine is not None:
            at[...] = fine
        try:
            call()
            done += 1
        except (ValueError, IndexError, OverflowError, MemoryError):
            refused += 1
    stop = True
    for thread in threads:
        thread.join()


sys.setswitchinterval(1e-5)
for make in [globals()[name] for name in sys.argv[2:]]:
    run(make)
    print(make.__name__, flush=True)
"""

GROUPS = [
    ["gather_add", "backprop_gather_add", "backprop_gather_add_direct", "scatter_add"],
    ["backprop_sort", "backprop_topk", "backprop_cummax", "backprop_cummin", "backprop_reduce_max"],
    ["take_rows", "insert_rows", "remove_rows", "gather", "gather_mask", "windows"],
    ["lengths", "offsets", "row_ids", "joint", "nested_joint", "batch"],
]


@pytest.mark.parametrize("verbs", GROUPS, ids=lambda verbs: verbs[0])
def test_a_call_survives_another_thread_that_rewrites_its_indices(verbs):
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", PROGRAM, "0.15", *verbs],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (run.returncode, run.stdout.split()) == (0, verbs), run.stderr[-2000:]
