"""How many threads a process has, that the pool lives through forks, and that large calls hold nobody up."""

import multiprocessing
import os
import sys
import threading
import time

import numpy as np
import pytest
import varlen
from house import in_python


@pytest.fixture
def restored():
    before = varlen.num_threads()
    yield
    varlen.set_num_threads(before)


def test_number_of_threads_is_what_was_set(restored):
    for n in (1, 3, 2):
        varlen.set_num_threads(n)
        assert varlen.num_threads() == n


@pytest.mark.parametrize("n", [0, -1])
def test_number_of_threads_below_one_is_refused(restored, n):
    varlen.set_num_threads(3)
    with pytest.raises(ValueError, match=f"n: expected at least 1, got {n}"):
        varlen.set_num_threads(n)
    assert varlen.num_threads() == 3


@pytest.mark.parametrize("n", ["two", 1.5, None])
def test_number_of_threads_is_an_int(restored, n):
    with pytest.raises(TypeError):
        varlen.set_num_threads(n)


ASK = "import varlen; print(varlen.num_threads())"


def test_default_is_the_cores_this_process_may_use():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert 1 <= int(in_python(ASK)[0]) <= min(8, cores)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_default_follows_the_affinity():
    core = min(os.sched_getaffinity(0))
    assert in_python(f"import os; os.sched_setaffinity(0, [{core}]); {ASK}")[0] == "1"


@pytest.mark.parametrize(("text", "n"), [("3", "3"), ("1", "1"), ("007", "7"), ("256", "256")])
def test_variable_sets_the_threads(text, n):
    told, warned = in_python(ASK, VARLEN_NUM_THREADS=text)
    assert told == n
    assert "VARLEN_NUM_THREADS" not in warned


@pytest.mark.parametrize("text", ["257", "9" * 30, "9" * 5000])
def test_variable_of_too_many_threads_is_the_most_with_a_warning(text):
    told, warned = in_python(ASK, VARLEN_NUM_THREADS=text)
    assert told == "256"
    assert f"at most 256, got '{text[:30]}'; this process has 256 threads" in warned


@pytest.mark.parametrize("text", ["", "0", "-2", " 5", "+5", "two", "3.5", "4x"])
def test_variable_that_is_no_number_is_ignored_with_a_warning(text):
    told, warned = in_python(ASK, VARLEN_NUM_THREADS=text)
    assert told == in_python(ASK)[0]
    assert "RuntimeWarning: VARLEN_NUM_THREADS: expected a whole number of at least 1" in warned


def tell(queue):
    queue.put(varlen.num_threads())


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_worker_starts_with_one_thread(method, restored):
    varlen.set_num_threads(4)
    context = multiprocessing.get_context(method)
    queue = context.SimpleQueue()
    worker = context.Process(target=tell, args=(queue,))
    worker.start()
    worker.join(60)
    assert worker.exitcode == 0
    assert queue.get() == 1
    assert varlen.num_threads() == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_child_has_one_thread_until_it_asks_for_more():
    code = (
        "import os, varlen\n"
        "varlen.set_num_threads(4)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    first = varlen.num_threads()\n"
        "    varlen.set_num_threads(3)\n"
        "    os._exit(10 * first + varlen.num_threads())\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), varlen.num_threads())"
    )
    assert in_python(code)[0] == "13 4"


# Work that is cut for the pool: 8 MB of rows, gathered backwards.
GATHER = """
import os, signal, threading
import numpy as np, varlen
from varlen._core import Joint, Level

values = np.arange(1 << 20)
joint = Joint(["x"], [1], [values], [Level(np.full(512, 2048))])
backwards = np.arange(511, -1, -1)
wanted = values.reshape(512, 2048)[::-1].ravel()

def right():
    return np.array_equal(joint.take(backwards).values("x"), wanted)

def child(threads):
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)  # a child that waits for threads it does not have is ended
        first = right()
        varlen.set_num_threads(threads)
        os._exit(0 if first and right() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

varlen.set_num_threads(4)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_pool_works_in_children_forked_after_use():
    assert (
        in_python(GATHER + "assert right(); print([child(n) for n in (1, 4)], right())")[0] == "[0, 0] True"
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_pool_works_in_children_forked_amid_work():
    code = """
stop = threading.Event()
def keep_busy():
    while not stop.is_set():
        right()
threads = [threading.Thread(target=keep_busy) for _ in range(2)]
for thread in threads: thread.start()
codes = {child(3) for _ in range(10)}
stop.set()
for thread in threads: thread.join()
print(codes, right())
"""
    assert in_python(GATHER + code)[0] == "{0} True"


def test_pool_serves_threads_that_share_one_object():
    code = """
results = []
threads = [threading.Thread(target=lambda: results.append(all(right() for _ in range(10)))) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(results)
"""
    assert in_python(GATHER + code)[0] == str([True] * 6)


def test_a_large_call_lets_other_threads_run():
    r = varlen.Ragged(np.zeros(4_000_000), [4_000_000])
    turns, is_done, interval = [0], threading.Event(), sys.getswitchinterval()

    def take_turns():
        while not is_done.is_set():
            turns[0] += 1
            time.sleep(0)

    def turns_in_a_call():
        start = turns[0]
        varlen.ops.reverse(r.values, r.levels[0])
        return turns[0] - start

    thread = threading.Thread(target=take_turns)
    sys.setswitchinterval(60)  # nobody takes the GIL from a thread that holds it
    try:
        thread.start()
        assert any(turns_in_a_call() for _ in range(20))
    finally:
        is_done.set()
        sys.setswitchinterval(interval)
        thread.join()
