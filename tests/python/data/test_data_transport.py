"""Batches of a DataLoader's workers arrive whole, in memory that is used again and not left behind."""

import collections
import glob
import os
import random
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
import varlen as vl
from varlen.data import transport

torch = pytest.importorskip("torch", reason="torch is not installed")

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="other systems send as torch does"
)


@pytest.fixture
def dataset(tmp_path):
    rng = random.Random(3)
    lengths = [rng.randrange(6) for _ in range(60)]
    rows = {
        "x": [[rng.random() for _ in range(n)] for n in lengths],
        "code": [[rng.randrange(300) for _ in range(n)] for n in lengths],
        "flag": [bool(n % 2) for n in lengths],
        "when": [np.datetime64("2020-01-01", "s") + n for n in lengths],
    }
    with vl.io.Writer(tmp_path / "a.nrt") as writer:
        writer.append(rows)
    return vl.open(str(tmp_path / "a.nrt"))


def files():
    return sorted(glob.glob(f"{transport._FOLDER}/{transport._PREFIX}{os.getpid()}-*"))


def loader(dataset, collate, **options):
    batches = [list(range(k, k + 5)) for k in range(0, 60, 5)]
    options = {"num_workers": 1, "timeout": 60, "batch_sampler": batches, **options}
    return torch.utils.data.DataLoader(dataset, collate_fn=collate, **options)


def same(a, b):
    assert list(a) == list(b)
    for name in a:
        assert type(a[name]) is type(b[name])
        assert a[name].dtype == b[name].dtype
        assert a[name].shape == b[name].shape
        left, right = (v.float() if isinstance(v, torch.Tensor) else v for v in (a[name], b[name]))
        np.testing.assert_array_equal(np.asarray(left), np.asarray(right))


@pytest.mark.parametrize(
    "options", [{}, {"dtype": {"x": "bfloat16"}}, {"layout": "ragged"}, {"keys": ["flag"]}]
)
@pytest.mark.parametrize("framework", ["torch", "numpy"])
def test_batches_are_those_of_one_process(dataset, framework, options):
    if framework == "numpy":
        options = {name: value for name, value in options.items() if name != "dtype"}
    collate = dataset.collator(framework=framework, **options)
    kept = list(loader(dataset, collate, num_workers=2))
    assert all(type(batch) is vl.data.Batch for batch in kept)
    for k, batch in enumerate(kept):  # held to the end, after the workers have ended
        expected = collate(list(range(5 * k, 5 * k + 5)))
        numbers = {name: value for name, value in batch.items() if not hasattr(value, "dtype")}
        assert numbers == {name: value for name, value in expected.items() if name in numbers}
        assert list(batch) == list(expected)
        arrays = [name for name in batch if name not in numbers]
        same({name: batch[name] for name in arrays}, {name: expected[name] for name in arrays})
    assert files() == []


@pytest.mark.parametrize("options", [{}, {"names": {"x": "input_ids"}, "attention_mask": True}])
def test_batches_of_samples_share_memory_too(options):
    samples = [{"x": list(range(n % 4)), "name": str(n)} for n in range(60)]
    collate = vl.data.Collate(framework="torch", **options)
    for k, batch in enumerate(loader(samples, collate)):
        expected = collate(samples[5 * k : 5 * k + 5])
        assert type(batch) is type(expected) is vl.data.Batch
        assert batch.pop("name") == expected.pop("name")
        same(batch, expected)
        assert batch.device == "cpu"
        places = [value.data_ptr() for value in batch.values()]
        assert max(places) - min(places) < 4096  # one block; torch alone sends each by itself
    assert files() == []


def test_nested_batches_of_samples_arrive_whole():
    samples = [{"inner": {"x": [n, n]}, "pair": ([n], n)} for n in range(60)]
    batch = next(iter(loader(samples, vl.data.Collate(framework="torch"))))
    assert type(batch) is dict
    assert batch["inner"]["x"].tolist() == [[n, n] for n in range(5)]
    assert batch["pair"][1].tolist() == list(range(5))


def test_spawned_workers_share_memory_too(dataset):
    collate = dataset.collator(framework="torch")
    for k, batch in enumerate(loader(dataset, collate, multiprocessing_context="spawn")):
        same(batch, collate(list(range(5 * k, 5 * k + 5))))
    assert files() == []


def page(batch):
    return batch["x"].data_ptr() // 4096


def test_blocks_are_used_again_when_nobody_holds_them(dataset):
    torch_loader = loader(dataset, dataset.collator(framework="torch", max_len=5), persistent_workers=True)
    dropped = {page(batch) for _ in range(4) for batch in torch_loader}
    assert len(dropped) <= 8  # of 48 batches: those on the way, and one in hand
    kept = [batch for _ in range(2) for batch in torch_loader]
    assert len({page(batch) for batch in kept}) == 24
    for k, batch in enumerate(kept):
        same(batch, dataset.batch(range(5 * (k % 12), 5 * (k % 12) + 5), framework="torch", max_len=5))


@pytest.fixture
def few_descriptors():
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened = max(map(int, os.listdir("/proc/self/fd")))
    resource.setrlimit(resource.RLIMIT_NOFILE, (opened + 30, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


Named = collections.namedtuple("Named", "x y")
SAMPLES = {
    "mapping": lambda n: {"x": [n] * (n % 4), "y": n},
    "nested": lambda n: {"inner": {"x": [n] * (n % 4)}, "y": n},
    "tuple": lambda n: ([n] * (n % 4), n),
    "named tuple": lambda n: Named([n] * (n % 4), n),
}
OPTIONS = {
    "tensors": {"framework": "torch"},
    "arrays": {},
    "ragged": {"layout": "ragged", "framework": "torch"},
    "model": {"names": {"code": "input_ids"}, "attention_mask": True},
    "named": {"layout": "named", "framework": "torch"},
    "staged": {"device": "cuda", "keys": ["code"]},
}


@pytest.mark.parametrize("kind", [*SAMPLES, *OPTIONS])
def test_batches_that_are_held_keep_no_descriptors(dataset, few_descriptors, kind):
    data, collate = dataset, None
    if kind in SAMPLES:
        data, collate = [SAMPLES[kind](n) for n in range(60)], vl.data.Collate(framework="torch")
    else:
        collate = dataset.collator(**OPTIONS[kind])
    batches = [list(range(k, k + 5)) for k in range(56)]
    held = list(loader(data, collate, batch_sampler=batches, worker_init_fn=no_torch_sharing))
    assert len(held) == 56
    for rows, batch in zip(batches, held, strict=True):
        given = rows if kind in OPTIONS else [data[row] for row in rows]
        wanted = collate(given)
        assert type(batch) is type(wanted)
        assert repr(batch) == repr(wanted)
        if kind == "staged":
            lengths = wanted._block.array[: 5 * 8]  # what is behind is aligned
            np.testing.assert_array_equal(batch._block.array[: 5 * 8], lengths)


def no_torch_sharing(_):
    """In a worker: torch sends nothing by itself."""
    torch.UntypedStorage._share_fd_cpu_ = None


def test_one_view_keeps_a_batch(dataset):
    held = []
    for batch in loader(dataset, dataset.collator(framework="torch", max_len=5)):
        held.append((batch["x"][2:4, 1:], batch["x"][2:4, 1:].clone()))
        del batch
    assert all(torch.equal(view, copy) for view, copy in held)


def test_a_forked_child_does_not_free_the_batch_of_its_parent(dataset):
    batches = iter(loader(dataset, dataset.collator(framework="numpy", max_len=5), persistent_workers=True))
    first = next(batches)
    copy = {name: value.copy() for name, value in first.items()}
    child = os.fork()
    if child == 0:
        first.clear()
        os._exit(0)
    os.waitpid(child, 0)
    for _ in batches:
        pass
    same(dict(first), copy)


@pytest.mark.parametrize(
    "options",
    [{"framework": "torch"}, {"dtype": {"x": "bfloat16"}, "framework": "torch"}, {}, {"layout": "ragged"}],
)
def test_without_room_batches_come_through_the_pipe(dataset, monkeypatch, options):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    monkeypatch.setattr(torch.UntypedStorage, "_share_fd_cpu_", full)  # torch has no more room
    collate = dataset.collator(**options)
    numbers = {"dim1/max_length"}
    for k, batch in enumerate(loader(dataset, collate, multiprocessing_context="fork")):
        wanted = collate(list(range(5 * k, 5 * k + 5)))
        assert type(batch) is vl.data.Batch
        assert all(batch[name] == wanted[name] for name in numbers & wanted.keys())
        same(*({name: x for name, x in each.items() if name not in numbers} for each in (batch, wanted)))
        assert all(x.flags.writeable for x in batch.values() if isinstance(x, np.ndarray))
    assert files() == []


def test_a_batch_of_a_worker_that_has_ended_says_so():
    outbox = transport.Outbox(os.getpid())
    name, _ = outbox.take(100)
    outbox.close()
    with pytest.raises(ConnectionError, match=f"worker {os.getpid()} ended before its batch was taken"):
        transport.Inbox().open(name, [])


def test_a_loop_that_is_left_leaves_nothing_behind(dataset):
    for batch in loader(dataset, dataset.collator(framework="torch"), num_workers=2, prefetch_factor=4):
        assert len(batch["flag"]) == 5
        break
    del batch
    deadline = time.monotonic() + 30
    while files() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert files() == []


def test_a_killed_worker_leaves_nothing_behind_the_parent(tmp_path):
    script = tmp_path / "loop.py"
    script.write_text(
        textwrap.dedent(
            """
            import os, signal, sys
            import torch, varlen as vl

            ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2]] * 400}))
            data = torch.utils.data.DataLoader(ds, batch_size=2, num_workers=1, collate_fn=ds.collator())
            batches = iter(data)
            next(batches)
            os.kill(batches._workers[0].pid, signal.SIGKILL)
            try:
                for _ in batches:
                    pass
            except RuntimeError as wrong:
                print(os.getpid(), "DataLoader worker" in str(wrong))
            """
        )
    )
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    pid, found = done.stdout.split()
    assert found == "True"
    assert glob.glob(f"{transport._FOLDER}/{transport._PREFIX}{pid}-*") == []


def test_files_of_long_ago_are_swept(monkeypatch, tmp_path):
    monkeypatch.setattr(transport, "_FOLDER", str(tmp_path))
    old, new, other = (tmp_path / name for name in ("varlen-batch-1-2-a-0", "varlen-batch-1-2-b-0", "else"))
    for path in (old, new, other):
        path.write_bytes(b"")
    for path in (old, other):
        os.utime(path, (0, 0))
    transport._sweep()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["else", "varlen-batch-1-2-b-0"]


def test_files_of_processes_that_have_ended_are_swept(monkeypatch, tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    monkeypatch.setattr(transport, "_FOLDER", str(tmp_path))
    here, own, gone = transport._namespace(), os.getpid(), ended.pid
    left = [f"varlen-batch-{gone}-{gone}-{here}-a-0"]
    kept = [
        f"varlen-batch-{own}-{gone}-{here}-a-0",
        f"varlen-batch-{gone}-{own}-{here}-a-0",
        f"varlen-batch-{gone}-{gone}-1-a-0",  # of another container
        f"varlen-batch-{gone}",
    ]
    for name in (*left, *kept):
        (tmp_path / name).write_bytes(b"")
    transport._sweep()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)


def test_an_outbox_keeps_few_blocks(monkeypatch, tmp_path):
    monkeypatch.setattr(transport, "_FOLDER", str(tmp_path))
    outbox, inbox = transport.Outbox(os.getpid()), transport.Inbox()
    for size in range(1000, 100_000, 1000):
        name, memory = outbox.take(size)
        opened = inbox.open(name, outbox.take_closed())
        memory.bytes[64] = size % 251
        assert opened.bytes[64] == size % 251
        opened.state[0] = transport._FREE
    assert len(outbox._blocks) <= transport._SPARE + 1
    assert len(inbox._blocks) <= transport._SPARE + 1
    outbox.close()
    assert list(tmp_path.iterdir()) == []


def test_other_pickles_of_a_batch_are_batches(dataset):
    import copy
    import pickle

    batch = dataset.batch([0, 1, 2])
    for other in (pickle.loads(pickle.dumps(batch)), copy.deepcopy(batch)):
        same(batch, other)
