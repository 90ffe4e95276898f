"""Files behind URLs: the same rows as on the disk, by reads of only what is needed, and clear errors."""

import contextlib
import itertools
import multiprocessing
import os
import pickle
import re
import threading
import time
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import varlen
import varlen.io
from hypothesis import given
from hypothesis import strategies as st
from varlen.io import http_store
from varlen.io.remote import _blocks
from varlen.joint import JointNestedRaggedTensorDict as Joint


class Files:
    """A server on loopback whose files are bytes in a dict, and whose answers a test can bend."""

    def __init__(self):
        self.files, self.requests, self.bend, self.tag = {}, [], None, "1"
        files = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                files.answer(self)

            def log_message(self, *given):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def answer(self, handler):
        body = self.files.get(handler.path.lstrip("/").partition("?")[0])
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", handler.headers.get("Range", ""))
        self.requests.append((handler.path, wanted and tuple(map(int, wanted.groups()))))
        if body is None:
            handler.send_error(404)
            return
        status, headers = 200, {"ETag": f'"{self.tag}"'}
        part = body
        if wanted:
            first, last = int(wanted[1]), min(int(wanted[2]), len(body) - 1)
            if first > last:
                handler.send_error(416)
                return
            status, part = 206, body[first : last + 1]
            headers["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
        length = len(part)
        if self.bend is not None:
            bent = self.bend(len(self.requests), status, headers, part)
            if bent is None:
                return  # the connection is closed without an answer
            status, headers, part = bent
        handler.send_response(status)
        headers = {"Content-Length": str(length), **headers}
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        with contextlib.suppress(OSError):
            handler.wfile.write(part)

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def files(monkeypatch):
    pytest.importorskip("urllib3")
    monkeypatch.setattr(http_store, "_PAUSE", 0.001)
    monkeypatch.setattr(http_store, "_TIMEOUT", 5.0)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server = Files()
    yield server
    server.close()


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 5, n)
    inner = rng.integers(0, 4, lengths.sum())
    split = np.split(np.arange(inner.sum()), np.cumsum(inner)[:-1])
    events = np.split(np.arange(len(split)), np.cumsum(lengths)[:-1])
    return Joint({
        "id": np.arange(n).tolist(),
        "x": [np.arange(k).tolist() for k in lengths],
        "y": [[split[e].tolist() for e in row] for row in events],
    })  # fmt: skip


def folder_of(tmp_path, indexed=True):
    """A folder of four shards, and its files' bytes by name."""
    folder = tmp_path / "shards"
    varlen.data.Dataset(rows()).save(folder, rows_per_shard=100)
    if not indexed:
        (folder / "index.json").unlink()
    return folder, {f"shards/{name.name}": name.read_bytes() for name in folder.iterdir()}


def memory_files(content):
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    system.store.clear()
    for name, body in content.items():
        system.pipe(f"/{name}", body)
    return system


def same_batches(one, other):
    assert len(one) == len(other)
    assert one.lengths.tolist() == other.lengths.tolist()
    for wanted in ([0], [399, 5, 5, 250, 101], []):
        for options in ({}, {"keys": ["x"]}, {"keys": ["id"]}, {"flatten": True}, {"max_len": 2}):
            result, expected = one.batch(wanted, **options), other.batch(wanted, **options)
            assert list(result) == list(expected)
            for name in result:
                np.testing.assert_array_equal(result[name], expected[name], err_msg=name)
    assert one[-1].to_list() == other[-1].to_list()
    assert one.select([7, 3])[:].to_list() == other[[7, 3]].to_list()


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("scheme", ["http", "memory", "file"])
def test_url_is_the_same_rows_as_its_folder(tmp_path, files, scheme, indexed):
    folder, content = folder_of(tmp_path, indexed)
    local = varlen.open(folder)
    names = sorted(name for name in content if name.endswith(".nrt"))
    if scheme == "http":
        files.files = content
        base = files.url
        where = f"{base}/shards" if indexed else [f"{base}/{name}" for name in names]
    elif scheme == "memory":
        memory_files(content)
        base, where = "memory://", "memory://shards" if indexed else "memory://shards/*.nrt"
    else:
        pytest.importorskip("fsspec")
        base, where = f"file://{tmp_path}", f"file://{folder}"
    same_batches(varlen.open(where), local)
    one = varlen.open(
        f"{base.rstrip('/') if scheme != 'memory' else base}/{names[0]}".replace(":///s", "://s")
    )
    assert len(one) == 100
    again = pickle.loads(pickle.dumps(varlen.open(where).select([399, 0])))
    assert again[:].to_list() == local[[399, 0]].to_list()
    cached = varlen.open(where, cache=tmp_path / "cache")
    same_batches(cached, local)
    same_batches(pickle.loads(pickle.dumps(cached)), local)
    assert len(list((tmp_path / "cache").iterdir())) == 4
    shards = varlen.open(where, keys=["x"])
    assert shards.keys() == ["x"]
    assert len(list(shards.epoch(64, prefetch=2))) == 7


def test_http_batch_reads_only_its_ranges(tmp_path, files):
    path = tmp_path / "a.nrt"
    Joint({"x": [[i] * 1000 for i in range(1000)], "z": [[i] * 1000 for i in range(1000)]}).save(path)
    files.files = {"a.nrt": path.read_bytes()}
    dataset = varlen.open(f"{files.url}/a.nrt")
    assert len(files.requests) == 1
    dataset.lengths  # noqa: B018
    files.requests.clear()
    assert dataset.batch([5, 900], keys=["x"], max_len=2)["x"].tolist() == [[5, 5], [900, 900]]
    assert sum(last - first + 1 for _, (first, last) in files.requests) < 10_000
    assert len(files.requests) <= 4


def test_http_batch_asks_only_the_shards_of_its_rows(tmp_path, files):
    folder, content = folder_of(tmp_path)
    files.files = content
    local = varlen.open(folder)
    for options in ({}, {"max_len": 2}, {"max_len": 1, "window": "random", "seed": 0}):
        dataset = varlen.open(f"{files.url}/shards")
        files.requests.clear()
        batch = dataset.select([305, 7, 310]).batch([2, 0], keys=["x"], **options)
        assert {path for path, _ in files.requests} == {"/shards/part-00003.nrt"}
        wanted = local.select([305, 7, 310]).batch([2, 0], keys=["x"], **options)
        np.testing.assert_array_equal(batch["x"], wanted["x"])
        assert dataset.lengths.tolist() == local.lengths.tolist()


def test_http_shards_are_asked_at_once(tmp_path, files):
    _, files.files = folder_of(tmp_path)
    asked, most = [], []

    def slowly(number, *answer):
        asked.append(number)
        most.append(len(asked))
        time.sleep(0.02)
        asked.pop()
        return answer

    dataset = varlen.open(f"{files.url}/shards")
    names = [f"{files.url}/shards/part-0000{i}.nrt" for i in range(4)]
    files.bend = slowly
    for look in (
        lambda: dataset[[350, 0, 150, 250]].to_list() == rows()[[350, 0, 150, 250]].to_list(),
        lambda: dataset.lengths.tolist() == varlen.data.Dataset(rows()).lengths.tolist(),
        lambda: len(dataset.filter(lambda columns: columns["id"] > 9)) == 390,
        lambda: len(varlen.open(names, cache=tmp_path / "cache")[[0, 399]]) == 2,
    ):
        most.clear()
        assert look()
        assert max(most, default=2) > 1  # lengths come with the headers of short files


def test_http_header_may_be_longer_than_the_first_request(tmp_path, files):
    words = [f"a rather long word, number {i}" for i in range(5000)]
    Joint({"w": [words]}, schema={"w": str}).save(tmp_path / "a.nrt")
    files.files = {"a.nrt": (tmp_path / "a.nrt").read_bytes()}
    dataset = varlen.open(f"{files.url}/a.nrt?key=1")
    assert dataset[0].to_list()["w"] == words
    assert len(files.requests) <= 6


def opened(tmp_path, files):
    rows().save(tmp_path / "a.nrt")
    files.files = {"a.nrt": (tmp_path / "a.nrt").read_bytes()}
    return varlen.open(f"{files.url}/a.nrt")


def test_http_failures_on_the_way_are_tried_three_times(tmp_path, files):
    dataset = opened(tmp_path, files)
    expected = varlen.open(tmp_path / "a.nrt")[3].to_list()
    for fault in ("cut", "gone", "busy", "too many"):
        seen = {}

        def bend(_, status, headers, part, fault=fault, seen=seen):
            count = seen[headers["Content-Range"]] = seen.get(headers["Content-Range"], 0) + 1
            if count > 4:
                return status, headers, part
            if fault == "cut":
                return status, headers, part[:-1]
            return None if fault == "gone" else ({"busy": 503}.get(fault, 429), headers, part)

        files.bend = bend
        assert dataset[3].to_list() == expected

        def always(_, status, headers, part, fault=fault):
            if fault == "cut":
                return status, headers, part[:-1]
            return None if fault == "gone" else ({"busy": 503}.get(fault, 429), headers, part)

        files.bend = always
        files.requests.clear()
        with pytest.raises(
            ConnectionError, match=r"a\.nrt: asked for .*, 5 requests failed, the last with: "
        ):
            dataset.batch([3])
        assert len(files.requests) == 5
    files.bend = None
    assert dataset[3].to_list() == expected


@pytest.mark.parametrize("fault", ["cut", "empty", "gone", "busy"])
def test_http_index_that_is_cut_short_is_asked_for_again(tmp_path, files, fault):
    folder, files.files = folder_of(tmp_path)
    expected = varlen.open(folder)[3].to_list()
    for most in (2, 99):
        seen = []

        def bend(_, status, headers, part, most=most, seen=seen):
            if "/index.json" not in files.requests[-1][0] or len(seen) == most:
                return status, headers, part
            seen.append(1)
            if fault in ("cut", "empty"):
                return status, headers, part[: len(part) // 2] if fault == "cut" else b""
            return None if fault == "gone" else (503, headers, part)

        files.bend = bend
        if most == 2:
            assert varlen.open(f"{files.url}/shards")[3].to_list() == expected
        else:
            with pytest.raises(
                ConnectionError, match=r"index\.json: asked for .*, 5 requests failed, the last with: "
            ):
                varlen.open(f"{files.url}/shards")
            assert len(seen) == 5


@pytest.mark.parametrize(("bend", "text"), [
    (lambda n, status, headers, part: (200, {"ETag": headers["ETag"]}, part), "does not serve ranges"),
    (lambda n, status, headers, part: (206, {"ETag": headers["ETag"]}, part), "says Content-Range ''"),
    (lambda n, status, headers, part: (
        206, {**headers, "Content-Range": re.sub(r"bytes \d+", "bytes 1", headers["Content-Range"])}, part),
     "the server sent 1 to"),
    (lambda n, status, headers, part: (
        206, {**headers, "Content-Range": headers["Content-Range"].rpartition("/")[0] + "/*"}, part),
     "expected bytes of a known size"),
    (lambda n, status, headers, part: (
        206, {**headers, "Content-Length": str(len(part) + 1)}, part + b"x"), "more bytes came than"),
    (lambda n, status, headers, part: (403, headers, part), "the server answered 403"),
    (lambda n, status, headers, part: (400, headers, part), "the server answered 400 Bad Request"),
    (lambda n, status, headers, part: (status, {**headers, "Content-Encoding": "gzip"}, part),
     "expected the file's own bytes, the server compressed them (gzip)"),
])  # fmt: skip
def test_http_answers_that_are_wrong_are_refused(tmp_path, files, bend, text):
    dataset = opened(tmp_path, files)
    files.bend = bend
    files.requests.clear()
    with pytest.raises(OSError, match=re.escape(text)) as caught:
        dataset.batch([3])
    assert "a.nrt" in str(caught.value)
    assert len(files.requests) == 1


@pytest.mark.parametrize(("bend", "kind", "text"), [
    (lambda status, headers, part: (204, {}, b""), OSError, "the whole file, the server answered 204"),
    (lambda status, headers, part: (304, {}, b""), OSError, "the whole file, the server answered 304"),
    (lambda status, headers, part: (416, {"Content-Length": "0"}, b""), varlen.io.FileFormatError,
     "index.json: is empty"),
    (lambda status, headers, part: (
        206, {**headers, "Content-Range": re.sub(r"bytes \d+", "bytes 1", headers["Content-Range"])}, part),
     OSError, "the server sent 1 to"),
    (lambda status, headers, part: (206, {**headers, "Content-Length": str(len(part) - 1)}, part[:-1]),
     OSError, "fewer bytes came than"),
])  # fmt: skip
def test_http_index_that_is_answered_wrongly_is_refused(tmp_path, files, bend, kind, text):
    _, files.files = folder_of(tmp_path)
    files.bend = lambda _, status, headers, part: bend(status, headers, part)
    with pytest.raises(kind, match=re.escape(text)) as caught:
        varlen.open(f"{files.url}/shards")
    assert "index.json" in str(caught.value)
    assert len(files.requests) == 1


def test_http_urls_may_have_any_letters(tmp_path, files):
    rows().save(tmp_path / "a.nrt")
    for name in ("d%C3%A9j%C3%A0.nrt", "a%20b.nrt"):
        files.files[name] = (tmp_path / "a.nrt").read_bytes()
    for name in ("d\u00e9j\u00e0.nrt", "a b.nrt", "a%20b.nrt"):
        assert varlen.open(f"{files.url}/{name}")[3].to_list() == rows()[3].to_list()


def test_http_index_that_is_compressed_is_refused(tmp_path, files):
    _, files.files = folder_of(tmp_path)
    files.bend = lambda n, status, headers, part: (status, {**headers, "Content-Encoding": "gzip"}, part)
    with pytest.raises(
        OSError, match=r"index\.json: asked for the whole file, expected the file's own bytes"
    ):
        varlen.open(f"{files.url}/shards")


def test_http_file_that_changes_in_between_is_stale(tmp_path, files):
    dataset = opened(tmp_path, files)
    dataset.source.check()
    pickled = pickle.dumps(dataset)
    files.tag = "2"
    with pytest.raises(varlen.io.StaleFileError, match=r"a\.nrt: was changed since it was opened"):
        dataset.batch([3])
    with pytest.raises(varlen.io.StaleFileError, match="was changed"):
        dataset.source.check()
    with pytest.raises(varlen.io.StaleFileError, match="is another file than before"):
        len(pickle.loads(pickled))
    files.tag = "1"
    files.files["a.nrt"] += b"more"
    with pytest.raises(varlen.io.StaleFileError, match="was changed"):
        dataset[0]
    files.files["a.nrt"] = b""
    with pytest.raises(varlen.io.StaleFileError, match=r"the server has no bytes \d+ to \d+; is it empty"):
        dataset[0]
    files.files.clear()
    with pytest.raises(FileNotFoundError):
        dataset[0]
    with pytest.raises(varlen.io.StaleFileError, match="cannot be found any more"):
        dataset.source.check()


def test_fsspec_file_that_changes_in_between_is_stale(tmp_path):
    rows().save(tmp_path / "a.nrt")
    system = memory_files({"a.nrt": (tmp_path / "a.nrt").read_bytes()})
    dataset = varlen.open("memory://a.nrt")
    assert dataset[3].to_list() == rows()[3].to_list()
    system.pipe("/a.nrt", b"short")
    with pytest.raises(varlen.io.StaleFileError, match="was changed since it was opened"):
        dataset[3]


def test_fsspec_file_that_changes_while_it_is_read_is_stale(tmp_path, monkeypatch):
    rows().save(tmp_path / "a.nrt")
    body = (tmp_path / "a.nrt").read_bytes()
    system = memory_files({"a.nrt": body})
    dataset = varlen.open("memory://a.nrt")
    real = type(system).cat_file

    def changed(self, path, *given, **options):
        system.pipe("/a.nrt", body[::-1])
        return real(self, path, *given, **options)

    monkeypatch.setattr(type(system), "cat_file", changed)
    with pytest.raises(varlen.io.StaleFileError, match="was changed since it was opened"):
        dataset[3]


def test_fsspec_short_bodies_are_refused(tmp_path, monkeypatch):
    rows().save(tmp_path / "a.nrt")
    system = memory_files({"a.nrt": (tmp_path / "a.nrt").read_bytes()})
    dataset = varlen.open("memory://a.nrt")
    monkeypatch.setattr(type(system), "cat_ranges", lambda self, paths, *_, **given: [b""] * len(paths))
    with pytest.raises(OSError, match=r"a\.nrt: asked for bytes \d+ to \d+, got 0 bytes"):
        dataset[3]


def test_fsspec_errors_of_ranges_are_raised(tmp_path, monkeypatch):
    rows().save(tmp_path / "a.nrt")
    system = memory_files({"a.nrt": (tmp_path / "a.nrt").read_bytes()})
    dataset = varlen.open("memory://a.nrt")

    def denied(self, path, *_, **given):
        raise PermissionError(13, "denied", path)

    monkeypatch.setattr(type(system), "cat_file", denied)
    with pytest.raises(PermissionError, match="denied"):
        dataset[3]


def test_fsspec_patterns_are_those_of_paths(tmp_path):
    _, content = folder_of(tmp_path)
    memory_files({**content, "one/part-[0].nrt": content["shards/part-00000.nrt"]})
    for pattern, count in (("part-0000?", 400), ("part-0000[02]", 200), ("*", 400)):
        assert len(varlen.open(f"memory://shards/{pattern}.nrt")) == count
    assert len(varlen.open("memory://one/part-[0].nrt")) == 100
    with pytest.raises(FileNotFoundError, match="no \\.nrt file at memory://shards/x"):
        varlen.open("memory://shards/x?.nrt")


def test_fsspec_root_of_a_file_system_may_be_a_folder_of_shards(tmp_path):
    _, content = folder_of(tmp_path)
    memory_files({name.partition("/")[2]: body for name, body in content.items()})
    dataset = varlen.open("memory://")
    assert len(dataset) == 400
    assert dataset.source._shards[1].rows == 100  # as the index says


def test_fsspec_systems_that_read_in_a_thread_live_through_a_fork(tmp_path):
    fsspec, asyn = pytest.importorskip("fsspec"), pytest.importorskip("fsspec.asyn")
    rows().save(tmp_path / "a.nrt")
    body = (tmp_path / "a.nrt").read_bytes()

    class Threaded(asyn.AsyncFileSystem):
        protocol = "threaded"

        async def _info(self, path, **_):
            return {"name": path, "size": len(body), "type": "file", "etag": "1"}

        async def _cat_file(self, path, start=None, end=None, **_):
            return body[start:end]

    fsspec.register_implementation("threaded", Threaded, clobber=True)
    dataset = varlen.open("threaded://a.nrt")
    expected = dataset.batch([3, 0])["x"].tolist()
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        child = context.Process(target=lambda: sender.send(dataset.batch([3, 0])["x"].tolist()))
        child.start()
    sender.close()
    try:
        assert receiver.poll(30)
        assert receiver.recv() == expected
    finally:
        child.join(30)
        receiver.close()


def test_cache_keeps_nothing_of_a_copy_that_failed(tmp_path, files):
    opened(tmp_path, files)
    files.bend = lambda n, status, headers, part: (status, headers, part if len(part) < 9 else part[:-1])
    with pytest.raises(ConnectionError, match="5 requests failed"):
        varlen.open(f"{files.url}/a.nrt", cache=tmp_path / "cache")
    assert os.listdir(tmp_path / "cache") == []
    files.bend = None
    dataset = varlen.open(f"{files.url}/a.nrt", cache=tmp_path / "cache")
    files.tag = "2"
    files.bend = lambda n, status, headers, part: (status, headers, part)
    again = varlen.open(f"{files.url}/a.nrt", cache=tmp_path / "cache")
    assert again[3].to_list() == dataset[3].to_list()
    assert len(os.listdir(tmp_path / "cache")) == 2
    with pytest.raises(ValueError, match=r"cache: .* is no URL"):
        varlen.open(tmp_path / "a.nrt", cache=tmp_path / "cache")


def test_url_that_holds_no_rows_is_refused(tmp_path, files):
    files.files = {"a.nrt": b"abc", "b.nrt": b"\xff" * 100, "shards/index.json": b"{}"}
    for name, text in (
        ("a.nrt", "a.nrt: is text, no .nrt file"),
        ("b.nrt", "not safetensors"),
        ("shards", "not an index"),
    ):
        with pytest.raises(varlen.io.FileFormatError, match=text):
            varlen.open(f"{files.url}/{name}")
    with pytest.raises(FileNotFoundError, match=r"none\.nrt"):
        varlen.open(f"{files.url}/none.nrt")
    with pytest.raises(FileNotFoundError, match="HTTP cannot list files"):
        varlen.open(f"{files.url}/nothing/")
    memory_files({"a/b.txt": b""})
    with pytest.raises(FileNotFoundError, match=r"no \.nrt file at memory://a"):
        varlen.open("memory://a")


def test_index_behind_a_url_is_held_against_its_shards(tmp_path, files):
    _, content = folder_of(tmp_path)
    files.files = {**content, "shards/part-00001.nrt": content["shards/part-00001.nrt"] + b"x"}
    dataset = varlen.open(f"{files.url}/shards")
    assert dataset[0].to_list() == rows()[0].to_list()
    with pytest.raises(varlen.io.FileFormatError, match=r"part-00001\.nrt"):
        dataset[150]
    del files.files["shards/part-00002.nrt"]
    with pytest.raises(FileNotFoundError, match=r"part-00002\.nrt"):
        dataset[250]


@given(st.lists(st.tuples(st.integers(0, 40_000_000), st.integers(1, 20_000_000)), min_size=1, max_size=6))
def test_blocks_hold_all_ranges_once(ranges):
    first = np.array([begin for begin, _ in ranges])
    last = first + np.array([size for _, size in ranges])
    blocks = _blocks(first, last)
    assert all(end - begin <= 8 * 1024 * 1024 for begin, end in blocks)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(blocks))
    for begin, end in zip(first, last, strict=True):
        inside = [(max(a, begin), min(b, end)) for a, b in blocks if a < end and b > begin]
        assert sum(b - a for a, b in inside) == end - begin
