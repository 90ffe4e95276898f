"""A cache of parts of files behind URLs: bounded, shared by processes, and whole whatever is killed."""

import contextlib
import errno
import multiprocessing
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
import varlen
import varlen.io
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen.io import Cache, cache
from varlen.io.urls import Place, State
from varlen.testing.server import Answer, FileServer

pytest.importorskip("urllib3")

MEGABYTE = 1024 * 1024
CONTEXT = multiprocessing.get_context("spawn")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three shards of some three megabytes."""
    path = tmp_path_factory.mktemp("data") / "shards"
    lengths = np.random.default_rng(0).integers(1000, 3000, 600)
    x = np.random.default_rng(1).integers(0, 1 << 60, lengths.sum())
    with varlen.io.ShardWriter(path, 200) as writer:
        writer.append({"dim1/bounds": np.cumsum(lengths), "dim1/x": x})
    return path


@pytest.fixture
def server(folder, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with FileServer({name: (folder / name).read_bytes() for name in os.listdir(folder)}) as server:
        yield server


def blocks(path):
    return sorted(name for _, _, names in os.walk(path) for name in names if name.endswith(".block"))


def stored(path):
    total = 0
    for top, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += os.path.getsize(os.path.join(top, name)) if name != "count" else 0
    return total


def same(one, other):
    assert list(one) == list(other)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_each_block_is_fetched_once(folder, server, tmp_path):
    store = Cache(tmp_path / "cache", max_bytes=100 * MEGABYTE)
    dataset, local = varlen.open(server.url, cache=store), varlen.open(folder)
    order = np.random.default_rng(2).permutation(600).reshape(12, 50)
    with server.count() as requests:
        for rows in order:
            same(dataset.batch(rows), local.batch(rows))
    total = sum(os.path.getsize(folder / name) for name in os.listdir(folder) if name.endswith(".nrt"))
    assert sum(request.range[1] - request.range[0] + 1 for request in requests) <= total + 3 * 64 * 1024
    with server.count() as requests:
        for again in (dataset, pickle.loads(pickle.dumps(dataset))):
            same(again.batch(order[0]), local.batch(order[0]))
    assert all(request.range[0] == 0 for request in requests)  # headers, in the other process
    assert store.size == stored(store.path)
    store.clear()
    assert (store.size, blocks(store.path)) == (0, [])
    same(dataset.batch(order[1]), local.batch(order[1]))
    assert repr(store) == f"Cache({str(tmp_path / 'cache')!r}, max_bytes={100 * MEGABYTE})"


def test_cache_stays_within_its_bytes(folder, server, tmp_path):
    store = Cache(tmp_path, max_bytes=4 * MEGABYTE)
    dataset, local = varlen.open(server.url, cache=store), varlen.open(folder)
    for rows in np.random.default_rng(3).permutation(600).reshape(60, 10):
        same(dataset.batch(rows), local.batch(rows))
        assert stored(tmp_path) <= 4 * MEGABYTE
        assert store.size >= stored(tmp_path)
    assert blocks(tmp_path)


def test_blocks_that_were_used_last_stay(tmp_path):
    store = Cache(tmp_path, max_bytes=4 * MEGABYTE)
    for number in range(3):
        store._put(f"{number}" * 4, bytes(MEGABYTE))
        path = tmp_path / (f"{number}" * 2) / f"{f'{number}' * 4}.block"
        os.utime(path, (1000 + number, 1000 + number))
    assert store._get("0000", 5, 9, MEGABYTE) == bytes(4)  # a use, which its time now says
    store._put("3333", bytes(MEGABYTE))
    assert blocks(tmp_path) == ["0000.block", "2222.block", "3333.block"]
    assert store._get("1111", 0, 1, MEGABYTE) is None


def test_changed_files_have_other_blocks(server, tmp_path, folder):
    store = Cache(tmp_path, max_bytes=100 * MEGABYTE)
    dataset = varlen.open(server.url, cache=store)
    before = dataset.batch([0])
    varlen.io.save(
        tmp_path / "new.nrt", {"dim1/bounds": np.arange(1, 201), "dim1/x": np.arange(200) + (1 << 59)}
    )
    server.folder = {"part-00000.nrt": (tmp_path / "new.nrt").read_bytes()}
    same(dataset.batch([0]), before)  # of the state that was opened
    assert varlen.open(f"{server.url}/part-00000.nrt", cache=store).batch([0])["x"].tolist() == [[1 << 59]]
    with pytest.raises(varlen.io.StaleFileError, match=r"part-00000\.nrt: was changed"):
        dataset.batch([199])


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b[::-1]])
def test_half_blocks_are_never_read(folder, server, tmp_path, damage):
    local = varlen.open(folder)
    varlen.open(server.url, cache=Cache(tmp_path, max_bytes=100 * MEGABYTE)).batch(range(0, 600, 20))
    for top, _, names in os.walk(tmp_path):
        for name in names:
            if name.endswith(".block"):
                path = os.path.join(top, name)
                with open(path, "rb") as file:
                    body = file.read()
                with open(path, "wb") as file:
                    file.write(damage(body))
    fresh = varlen.open(server.url, cache=Cache(tmp_path, max_bytes=100 * MEGABYTE))
    same(fresh.batch(range(0, 600, 20)), local.batch(range(0, 600, 20)))


def test_failed_reads_leave_no_blocks(server, tmp_path, monkeypatch):
    monkeypatch.setattr(varlen.io.http_store, "_PAUSE", 0.001)
    dataset = varlen.open(server.url, cache=Cache(tmp_path, max_bytes=100 * MEGABYTE))
    server.fault = lambda request, answer: answer._replace(cut=1000)
    with pytest.raises(ConnectionError, match=r"0\.nrt: asked for bytes \d+ to \d+, 5 requests failed"):
        dataset.batch([100])
    server.fault = lambda request, answer: Answer(412)
    with pytest.raises(varlen.io.StaleFileError):
        dataset.batch([100])
    assert blocks(tmp_path) == []


def read_on(url, path, seed):
    dataset = varlen.open(url, cache=Cache(path, max_bytes=5 * MEGABYTE))
    for rows in np.random.default_rng(seed).integers(0, 600, (10_000, 10)):
        dataset.batch(rows)


def test_processes_share_a_folder_and_may_be_killed(folder, server, tmp_path):
    children = [CONTEXT.Process(target=read_on, args=(server.url, tmp_path, seed)) for seed in range(2)]
    for child in children:
        child.start()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(server.requests) < 60:
        time.sleep(0.05)
        assert stored(tmp_path) <= 5 * MEGABYTE
    assert all(child.is_alive() for child in children)
    for child in children:
        os.kill(child.pid, signal.SIGKILL)
        child.join()
    local = varlen.open(folder)
    dataset = varlen.open(server.url, cache=Cache(tmp_path, max_bytes=5 * MEGABYTE))
    for rows in np.random.default_rng(9).permutation(600).reshape(20, 30):
        same(dataset.batch(rows), local.batch(rows))
        assert stored(tmp_path) <= 5 * MEGABYTE


def test_files_without_a_writer_are_removed(tmp_path):
    store = Cache(tmp_path, max_bytes=3 * MEGABYTE)
    store._put("0000", bytes(MEGABYTE))
    left = tmp_path / "00" / ".0000.block.1-0.tmp"
    left.write_bytes(bytes(MEGABYTE))
    os.utime(left, (1000, 1000))
    os.unlink(tmp_path / "count")
    assert store.size == MEGABYTE + 4
    assert not left.exists()


def test_threads_share_a_cache(folder, server, tmp_path):
    dataset = varlen.open(server.url, cache=Cache(tmp_path, max_bytes=6 * MEGABYTE))
    local, errors = varlen.open(folder), []

    def read(seed):
        try:
            for rows in np.random.default_rng(seed).integers(0, 600, (8, 20)):
                same(dataset.batch(rows), local.batch(rows))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert stored(tmp_path) <= 6 * MEGABYTE


def test_cache_without_room_says_so(folder, server, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"max_bytes: expected at least 1048580, a block; got 1000"):
        Cache(tmp_path, max_bytes=1000)
    with pytest.raises(OSError, match=r"the disk has room for \d+ bytes, max_bytes is 1152921504606846976"):
        Cache(tmp_path, max_bytes=1 << 60)
    with pytest.raises(TypeError, match="max_bytes"):
        Cache(tmp_path, max_bytes=1.5)
    dataset = varlen.open(server.url, cache=Cache(tmp_path, max_bytes=100 * MEGABYTE))

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(cache.atomic, "write_all", full)
        with pytest.raises(OSError, match=r"no room in the cache for \d+ bytes: No space left") as caught:
            dataset.batch([0, 300])
        assert caught.value.errno == errno.ENOSPC
        assert str(tmp_path) in str(caught.value)
    assert stored(tmp_path) == 0
    assert len(dataset.batch([0, 300])["x"]) == 2
    with pytest.raises(ValueError, match=r"cache: .* is no URL"):
        varlen.open(folder, cache=Cache(tmp_path, max_bytes=2 * MEGABYTE))


class Bytes:
    """A store of one file."""

    def __init__(self, body):
        self.body, self.head, self.state, self.content, self.files = body, None, None, None, None

    def ranges(self, places):
        return [self.body[place.begin : place.end] for place in places]

    def check(self, states):
        pass


@settings(max_examples=40)
@given(data=st.data())
def test_ranges_are_those_of_the_file(tmp_path_factory, data):
    size = data.draw(st.sampled_from([1, 99, 100, 101, 1234]))
    body = np.random.default_rng(size).bytes(size)
    ranges = st.tuples(st.integers(0, size - 1), st.integers(1, size)).map(
        lambda r: (r[0], min(r[0] + r[1], size))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "BLOCK", 100)
        bytes_store = Cache(
            tmp_path_factory.mktemp("cache"), max_bytes=data.draw(st.sampled_from([2000, 250]))
        )
        store = cache.CacheStore(Bytes(body), bytes_store)
        for places in data.draw(st.lists(st.lists(ranges, min_size=1, max_size=5), max_size=5)):
            parts = store.ranges([Place("a", State(size, "1"), begin, end) for begin, end in places])
            assert parts == [body[begin:end] for begin, end in places]
            assert stored(bytes_store.path) <= bytes_store.max_bytes
