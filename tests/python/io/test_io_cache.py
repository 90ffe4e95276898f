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
    assert (
        sum(min(r.range[1] + 1, os.path.getsize(folder / r.path)) - r.range[0] for r in requests)
        <= total + 3 * 64 * 1024
    )
    with server.count() as requests:
        for again in (dataset, pickle.loads(pickle.dumps(dataset))):
            same(again.batch(order[0]), local.batch(order[0]))
    assert requests == []
    assert store.size == stored(store.path)
    store.clear()
    assert (store.size, blocks(store.path)) == (0, [])
    same(dataset.batch(order[1]), local.batch(order[1]))
    assert repr(store) == f"Cache({str(tmp_path / 'cache')!r}, max_bytes={100 * MEGABYTE})"


@pytest.mark.parametrize("checksums", [False, True])
def test_second_opens_ask_for_states_alone(server, tmp_path, checksums):
    files, _ = small_files(tmp_path / "data", checksums=checksums)
    server.folder, sent = files, []
    server.fault = lambda _, answer: sent.append(len(answer.body)) or answer
    store = Cache(tmp_path / "cache", max_bytes=2 * MEGABYTE)
    # The index and three files; an index with checksums of its files says which they are.
    for path, counts in (("", (4, 1 if checksums else 4)), ("/part-00000.nrt", (1, 1))):
        for turn, count in enumerate(counts):
            sent.clear()
            with server.count() as requests:
                dataset = varlen.open(server.url + path, cache=store)
                assert dataset.batch([0, -1])["x"].tolist() == ([[0], [5]] if path == "" else [[0], [1]])
                assert dataset[:].to_list()["x"][1] == [1]
            assert len(requests) == count
            assert sum(sent) == 0 or (turn == 0 and path == "")
    again = pickle.loads(pickle.dumps(dataset))
    with server.count() as requests:
        assert again.batch([1])["x"].tolist() == [[1]]
    assert requests == []


def small_files(folder, first=0, **options):
    """Three shards of two rows, and a manifest of them."""
    with varlen.io.ShardWriter(folder, 2, durable=False, **options) as writer:
        writer.append({"x": [[first + row] for row in range(6)]})
    files = {name: (folder / name).read_bytes() for name in os.listdir(folder)}
    varlen.open(folder).save_manifest(folder.parent / "set.json")
    text = (folder.parent / "set.json").read_bytes()
    return files, {"set.json": text, **{f"{folder.name}/{name}": raw for name, raw in files.items()}}


def test_second_opens_of_a_manifest_ask_for_states_alone(server, tmp_path):
    _, server.folder = small_files(tmp_path / "data")
    store, sent = Cache(tmp_path / "cache", max_bytes=2 * MEGABYTE), []
    server.fault = lambda _, answer: sent.append(len(answer.body)) or answer
    for turn in range(2):
        sent.clear()
        with server.count() as requests:
            dataset = varlen.open(f"{server.url}/set.json", cache=store)
            assert dataset.batch([5, 2])["x"].tolist() == [[5], [2]]
        assert len(requests) == 4
        assert (sum(sent) == 0) == (turn == 1)


def no_tag(_, answer):
    """A server that tells the time of a change alone, which a client compares itself."""
    headers = {{"ETag": "Last-Modified"}.get(n, n): v.strip('"') for n, v in answer.headers.items()}
    return answer._replace(headers=headers)


def no_mark(_, answer):
    """A server that tells no change but of the size."""
    return answer._replace(headers={name: v for name, v in answer.headers.items() if name != "ETag"})


def weak_tag(_, answer):
    return answer._replace(headers={n: f"W/{v}" if n == "ETag" else v for n, v in answer.headers.items()})


def unconditional(request, answer):
    """A server that does not know If-None-Match."""
    if answer.status != 304:
        return answer
    (first, last), body = request.range, unconditional.server.folder[request.path]
    part = body[first : last + 1]
    place = {"Content-Range": f"bytes {first}-{first + len(part) - 1}/{len(body)}"}
    return Answer(206, {**answer.headers, **place}, part)


@pytest.mark.parametrize("fault", [None, no_tag, no_mark, weak_tag, unconditional])
@pytest.mark.parametrize("whole", [False, True])
def test_a_file_of_the_same_name_and_size_is_read_anew(server, tmp_path, fault, whole):
    one, _ = small_files(tmp_path / "one")
    two, _ = small_files(tmp_path / "two", 10)
    server.folder, server.fault, unconditional.server = one, fault, server
    store = tmp_path / "cache" if whole else Cache(tmp_path / "cache", max_bytes=2 * MEGABYTE)
    paths = ["", "/part-00001.nrt"]
    before = [varlen.open(server.url + path, cache=store) for path in paths]
    for dataset in before:
        assert dataset[:].to_list()["x"][-1] in ([5], [3])
    server.folder = {**one, "part-00001.nrt": two["part-00001.nrt"]}
    assert list(map(len, server.folder.values())) == list(map(len, one.values()))
    for _ in range(2):
        mixed, single = (varlen.open(server.url + path, cache=store) for path in paths)
        assert mixed[:].to_list()["x"] == [[0], [1], [12], [13], [4], [5]]
        assert single.batch([0, 1])["x"].tolist() == [[12], [13]]
    server.folder = two
    assert varlen.open(server.url, cache=store)[:].to_list()["x"][::5] == [[10], [15]]
    server.folder = {}
    with pytest.raises(FileNotFoundError):
        varlen.open(f"{server.url}/part-00001.nrt", cache=store)


def test_another_process_reads_the_files_that_were_opened(server, tmp_path):
    one, _ = small_files(tmp_path / "one")
    two, _ = small_files(tmp_path / "two", 10)
    server.folder, store = one, Cache(tmp_path / "cache", max_bytes=2 * MEGABYTE)
    raw = pickle.dumps(opened := varlen.open(server.url, cache=store))
    opened[:]
    everything = pickle.dumps(opened)
    server.folder = two
    assert pickle.loads(everything)[:].to_list()["x"][::5] == [[0], [5]]
    assert pickle.loads(raw).batch([0])["x"].tolist() == [[0]]
    varlen.open(server.url, cache=store)
    for pickled in (raw, everything):
        with pytest.raises(varlen.io.StaleFileError, match=r"part-00000\.nrt: is another file"):
            pickle.loads(pickled).batch([0])


def test_a_manifest_names_a_file_that_was_replaced(server, tmp_path):
    _, one = small_files(tmp_path / "data")
    store = Cache(tmp_path / "cache", max_bytes=2 * MEGABYTE)
    server.folder = one
    varlen.open(f"{server.url}/set.json", cache=store)
    varlen.io.save(tmp_path / "new.nrt", {"dim1/bounds": np.arange(1, 3), "dim1/y": np.array([6, 7])})
    server.folder = {**one, "data/part-00001.nrt": (tmp_path / "new.nrt").read_bytes()}
    with pytest.raises(varlen.io.FileFormatError, match=r"version 1: data/part-00001\.nrt has"):
        varlen.open(f"{server.url}/set.json", cache=store)


def test_an_index_that_says_which_files_it_means_is_believed(server, tmp_path):
    one, _ = small_files(tmp_path / "one", checksums=True)
    two, _ = small_files(tmp_path / "two", 10, checksums=True)
    server.folder, store = one, Cache(tmp_path / "cache", max_bytes=2 * MEGABYTE)
    varlen.open(server.url, cache=store)[:]
    server.folder = two  # with its index
    dataset = varlen.open(server.url, cache=store, verify="read")
    assert dataset[:].to_list()["x"][::5] == [[10], [15]]
    # A file that is not the one of the index, once its blocks are gone: an error, and then its own rows.
    server.folder = {**two, "part-00000.nrt": one["part-00000.nrt"]}
    for name in blocks(store.path):
        path = os.path.join(store.path, name[:2], name)
        if not name.endswith("-state.block") and os.path.getsize(path) == len(two["part-00000.nrt"]) + 4:
            os.unlink(path)
    assert varlen.open(server.url, cache=store)[:].to_list()["x"][::5] == [[0], [15]]
    with pytest.raises(varlen.io.ChecksumError, match=r"part-00000\.nrt: header: the checksum"):
        varlen.open(server.url, cache=store, verify="read")


def test_the_last_state_of_a_file_is_read_whole_or_not_at_all(tmp_path):
    store, state = Cache(tmp_path, max_bytes=2 * MEGABYTE), State(9, '"a"')
    assert store._last_state("a") is None
    store._note_state("a", state)
    assert (store._last_state("a"), store._last_state("b")) == (state, None)
    (name,) = blocks(tmp_path)
    path = tmp_path / name[:2] / name
    for damage in (lambda raw: raw[:3], lambda raw: b"", lambda raw: raw[::-1]):
        store._note_state("a", state)
        path.write_bytes(damage(path.read_bytes()))
        assert store._last_state("a") is None
    store._note_state("a", state)
    store._note_state("a", None)
    assert store._last_state("a") is None


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
    before, last = dataset.batch([0]), int(dataset.batch([199])["x"][0, -1])
    raw, numbers = (folder / "part-00000.nrt").read_bytes(), [last, last + 1]
    assert raw[-8:] == np.int64(last).tobytes()  # in the last of its blocks
    store.clear()
    for number in numbers:
        server.folder = {"part-00000.nrt": raw[:-8] + np.int64(number).tobytes()}
        opened = varlen.open(f"{server.url}/part-00000.nrt", cache=store)
        assert opened.batch([199])["x"][0, -1] == number
    server.folder = {"part-00000.nrt": raw}
    assert varlen.open(f"{server.url}/part-00000.nrt", cache=store).batch([199])["x"][0, -1] == last
    same(dataset.batch([0]), before)
    varlen.io.save(
        tmp_path / "new.nrt", {"dim1/bounds": np.arange(1, 201), "dim1/x": np.arange(200) + (1 << 59)}
    )
    server.folder = {"part-00000.nrt": (tmp_path / "new.nrt").read_bytes()}
    same(dataset.batch([0]), before)  # of the state that was opened
    assert varlen.open(f"{server.url}/part-00000.nrt", cache=store).batch([0])["x"].tolist() == [[1 << 59]]
    store.clear()
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
    whole = blocks(tmp_path)
    server.fault = lambda request, answer: answer._replace(cut=1000)
    with pytest.raises(ConnectionError, match=r"0\.nrt: asked for bytes \d+ to \d+, 5 requests failed"):
        dataset.batch([100])
    server.fault = lambda request, answer: Answer(412)
    with pytest.raises(varlen.io.StaleFileError):
        dataset.batch([199])
    assert [name for name in whole if "state" not in name] == [
        name for name in blocks(tmp_path) if "state" not in name
    ]


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
    before = stored(tmp_path)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(cache.atomic, "write_all", full)
        with pytest.raises(OSError, match=r"no room in the cache for \d+ bytes: No space left") as caught:
            dataset.batch([199, 300])
        assert caught.value.errno == errno.ENOSPC
        assert str(tmp_path) in str(caught.value)
    assert stored(tmp_path) == before
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
