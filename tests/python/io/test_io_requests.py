"""Requests for files behind URLs: as few as a batch needs, over few connections, and every fault told."""

import itertools
import multiprocessing
import os
import re
import sys
import time
import warnings

import numpy as np
import pytest
import varlen
import varlen.io
from remote_shards import write_shards
from varlen.io import http_store
from varlen.testing.server import Answer, FileServer

pytest.importorskip("urllib3")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "shards"
    write_shards(path)
    return path


@pytest.fixture
def server(folder, monkeypatch):
    monkeypatch.setattr(http_store, "_PAUSE", 0.001)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with FileServer({name: (folder / name).read_bytes() for name in os.listdir(folder)}) as server:
        yield server


def same(one, other):
    assert list(one) == list(other)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_batches_need_only_requests_for_values(folder, server):
    local, dataset = varlen.open(folder), varlen.open(server.url)
    order = np.random.default_rng(2).permutation(300).reshape(15, 20)
    same(dataset.batch(order[0]), local.batch(order[0]))
    for rows in order[1:]:
        with server.count() as requests:
            batch = dataset.batch(rows)
        same(batch, local.batch(rows))
        shards = {request.path for request in requests}
        assert shards == {f"part-{row // 50:05d}.nrt" for row in rows}
        by_shard = [[r.range for r in requests if r.path == shard] for shard in shards]
        # Ranges of one file lie further apart than a request costs, and none begins after another has ended.
        for ranges in map(sorted, by_shard):
            assert all(b[0] - a[1] > 64 * 1024 for a, b in itertools.pairwise(ranges))


def test_batches_take_one_round_trip_each(server):
    dataset = varlen.open(server.url)
    dataset.batch(range(0, 300, 15))
    server.latency = 0.1
    with server.count() as requests:
        dataset.batch(range(1, 300, 15))
    assert len(requests) >= 6
    assert max(request.begin for request in requests) < min(request.end for request in requests)


def test_connections_stay_open(server):
    dataset = varlen.open(server.url)
    for start in range(20):
        dataset.batch(range(start, 300, 15))
    assert len(server.requests) > 120
    assert server.connections <= 13  # two ranges of each of six shards at once, and the index


def test_reads_say_which_state_of_the_file_they_want(server):
    dataset = varlen.open(server.url)
    with server.count() as requests:
        dataset.batch([0])
    assert requests
    assert all(re.fullmatch('"[^"]+"', request.headers["If-Match"]) for request in requests)
    server.folder = {**server.folder, "part-00000.nrt": server.folder["part-00000.nrt"][::-1]}
    with (
        server.count() as requests,
        pytest.raises(varlen.io.StaleFileError, match=r"00000\.nrt: was changed"),
    ):
        dataset.batch([1])
    assert len(requests) <= 2  # one for each key; the answer has no bytes


def test_weak_tags_are_compared_by_the_reader(server):
    def weak(_, answer):
        return Answer(answer.status, {**answer.headers, "ETag": f'W/"{tag}"'}, answer.body)

    server.fault, tag = weak, "1"
    dataset = varlen.open(server.url)
    with server.count() as requests:
        dataset.batch([0])
    assert "If-Match" not in requests[-1].headers
    tag = "2"
    with pytest.raises(varlen.io.StaleFileError, match=r'W/"1".* then, .*W/"2"'):
        dataset.batch([1])


def test_busy_servers_are_asked_again_when_they_say(folder, server):
    dataset = varlen.open(server.url)
    dataset.batch([0])
    seen = []

    def busy(request, answer):
        seen.append(request)
        return Answer(429, {"Retry-After": "1"}) if len(seen) == 1 else answer

    server.fault = busy
    begin = time.monotonic()
    same(dataset.batch([1], keys=["x"]), varlen.open(folder).batch([1], keys=["x"]))
    assert time.monotonic() - begin >= 1
    assert len(seen) == 2


def test_long_pauses_are_cut(server, monkeypatch):
    monkeypatch.setattr(http_store, "_LONGEST_PAUSE", 0.01)
    dataset = varlen.open(server.url)
    server.fault = lambda request, answer: Answer(503, {"Retry-After": "86400"})
    begin = time.monotonic()
    with pytest.raises(
        ConnectionError, match=r"part-00002\.nrt: asked for bytes 0 to 65535, 5 requests failed"
    ):
        dataset.batch([100])
    assert time.monotonic() - begin < 3


@pytest.mark.parametrize(("fault", "kind", "text"), [
    (lambda r, a: Answer(403), PermissionError, "answered 403 Forbidden to bytes {}: '{}'"),
    (lambda r, a: Answer(416), varlen.io.StaleFileError, "{1}: the server has no bytes {0}"),
    (lambda r, a: Answer(412), varlen.io.StaleFileError, "{1}: was changed since it was opened"),
    (lambda r, a: Answer(429), ConnectionError, "{1}: asked for bytes {0}, 5 requests failed, the last"),
    (lambda r, a: Answer(500), ConnectionError, "{1}: asked for bytes {0}, 5 requests failed, the last"),
    (lambda r, a: None, ConnectionError, "{1}: asked for bytes {0}, 5 requests failed, the last"),
    (lambda r, a: Answer(a.status, a.headers, a.body, cut=7), ConnectionError,
     "{1}: asked for bytes {0}, 5 requests failed, the last"),
    (lambda r, a: Answer(a.status, a.headers, a.body[:-1]), OSError, "{1}: fewer bytes came than"),
    (lambda r, a: Answer(200, a.headers, a.body), OSError,
     "{1}: asked for bytes {0}, the server answered 200"),
])  # fmt: skip
def test_every_fault_names_file_and_range(server, fault, kind, text):
    dataset = varlen.open(server.url)
    dataset.batch([0])
    with server.count() as requests:
        expected = dataset.batch([1], keys=["x"])["x"]
    first, last = requests[0].range
    server.fault = fault
    with pytest.raises(kind) as caught:
        dataset.batch([1], keys=["x"])
    where = f"{server.url}/part-00000.nrt"
    assert text.format(f"{first} to {last}", where).strip() in str(caught.value)
    server.fault = None
    np.testing.assert_array_equal(dataset.batch([1], keys=["x"])["x"], expected)


@pytest.mark.parametrize("fault", [
    lambda r, a: Answer(503), lambda r, a: Answer(429, {"Retry-After": "0"}), lambda r, a: None,
    lambda r, a: Answer(429, {"Retry-After": "soon"}), lambda r, a: Answer(503, {"Retry-After": ""}),
    lambda r, a: Answer(a.status, a.headers, a.body, cut=len(a.body) // 2),
])  # fmt: skip
def test_faults_that_pass_change_nothing(folder, server, fault):
    local, dataset, seen = varlen.open(folder), varlen.open(server.url), set()

    def once(request, answer):  # the first time for each range
        key = request.path, request.range
        if key in seen:
            return answer
        seen.add(key)
        return fault(request, answer)

    server.fault = once
    for rows in ([0, 60, 299], [5, 120], range(0, 300, 7)):
        same(dataset.batch(rows), local.batch(rows))


def test_epochs_ahead_of_a_network_make_batches_at_once(folder, server):
    dataset, local = varlen.open(server.url), varlen.open(folder)
    list(dataset.epoch(50))
    server.latency, server.peak = 0.1, 0
    how = {"max_len": 8, "window": "random", "seed": 3}
    batches = list(dataset.epoch(10, prefetch=6, **how))
    assert server.peak >= 6  # a batch of one shard asks for two ranges at most
    for batch, expected in zip(batches, local.epoch(10, **how), strict=True):
        same(batch, expected)


def test_file_systems_of_fsspec_are_looked_at_once_a_batch(folder, monkeypatch):
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    system.store.clear()
    for name in os.listdir(folder):
        system.pipe(f"/shards/{name}", (folder / name).read_bytes())
    dataset, local = varlen.open("memory://shards"), varlen.open(folder)
    calls = []
    for name in ("info", "ls"):
        real = getattr(type(system), name)

        def spy(self, *given, real=real, **options):
            calls.append(real.__name__)
            return real(self, *given, **options)

        monkeypatch.setattr(type(system), name, spy)
    order = np.random.default_rng(2).permutation(300).reshape(15, 20)
    dataset.batch(order[0])
    calls.clear()
    same(dataset.batch(order[1]), local.batch(order[1]))
    dataset.batch([0, 1, 2], max_len=2)
    assert calls == ["ls", "info"]  # of a folder where many files were read, of a file where it was one
    system.pipe("/shards/part-00003.nrt", (folder / "part-00003.nrt").read_bytes()[::-1])
    with pytest.raises(varlen.io.StaleFileError, match=r"part-00003\.nrt: was changed"):
        dataset.batch(order[2])


def test_forked_children_open_connections_of_their_own(folder, server):
    dataset, local = varlen.open(server.url), varlen.open(folder)
    dataset.batch(range(0, 300, 15))
    own = {request.connection for request in server.requests}
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(False)
    rows = range(2, 300, 15)
    with warnings.catch_warnings(), server.count() as requests:
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        child = context.Process(target=lambda: sender.send(dataset.batch(rows)["x"]))
        child.start()
        sender.close()
        try:
            assert receiver.poll(30)
            np.testing.assert_array_equal(receiver.recv(), local.batch(rows)["x"])
        finally:
            child.join(30)
            receiver.close()
    assert own.isdisjoint(request.connection for request in requests)
    same(dataset.batch(rows), local.batch(rows))


def test_http_without_urllib3_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "urllib3", None)
    with pytest.raises(ModuleNotFoundError, match=r"http://host/a\.nrt: HTTP URLs need urllib3: pip install"):
        varlen.open("http://host/a.nrt")


def test_lists_of_urls_and_paths_are_read_together(folder, server):
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    system.store.clear()
    names = sorted(name for name in os.listdir(folder) if name.endswith(".nrt"))
    system.pipe("/shards/b.nrt", (folder / names[1]).read_bytes())
    places = [f"{server.url}/{names[0]}", "memory://shards/b.nrt", *(str(folder / n) for n in names[2:])]
    dataset, local = varlen.open(places), varlen.open(folder)
    for rows in ([0, 70, 299, 51, 120], [60], [], range(0, 300, 9)):
        same(dataset.batch(rows), local.batch(rows))
        same(dataset.batch(rows, max_len=3), local.batch(rows, max_len=3))
