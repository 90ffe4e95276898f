"""Shards of an S3 server behind a proxy that is slow and makes faults: the folder's rows, or an error that
names the file.
"""

import gzip
import os
import pickle
import re

import numpy as np
import pytest
import varlen
import varlen.io
from remote_shards import Proxy, moto_server, write_shards
from varlen.testing.server import Answer

fsspec = pytest.importorskip("fsspec")
URL = "s3://data/shards"
MANY = [299, 0, 60, 120, 5]  # rows of four files
OPTIONS = {"client_kwargs": {"region_name": "us-east-1"}, "secret": "b"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("xxhash")
    path = tmp_path_factory.mktemp("data") / "shards"
    write_shards(path, checksums=True)
    return path


@pytest.fixture(scope="module")
def bucket(folder):
    """The server's file system, and the proxy before it."""
    with moto_server() as port, Proxy(port) as proxy:
        system = fsspec.filesystem("s3", **OPTIONS, key="direct", endpoint_url=f"http://127.0.0.1:{port}")
        system.call_s3("create_bucket", Bucket="data")
        upload(system, folder)
        yield system, proxy


def upload(system, folder):
    for name in os.listdir(folder):
        system.pipe(f"data/shards/{name}", (folder / name).read_bytes())


@pytest.fixture
def proxy(bucket):
    proxy = bucket[1]
    yield proxy
    proxy.fault, proxy.latency = None, 0.0


@pytest.fixture
def options(proxy, monkeypatch):
    """Of a file system that asks once."""
    import s3fs

    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    once = {"retries": {"total_max_attempts": 1}}
    return {**OPTIONS, "key": "once", "endpoint_url": proxy.url, "config_kwargs": once}


def same(one, other):
    assert list(one) == list(other)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def same_epochs(one, other, **how):
    for batch, expected in zip(one.epoch(40, **how), other.epoch(40, **how), strict=True):
        same(batch, expected)


def test_every_reader_gives_the_rows_of_the_folder(folder, proxy, options, tmp_path):
    proxy.latency = 0.005
    how, local = {"storage_options": options}, varlen.open(folder)
    for path, more in (
        (URL, {}),
        (f"{URL}/*.nrt", {}),
        (URL, {"verify": "read"}),
        (URL, {"cache": tmp_path / "copies"}),
    ):
        dataset = varlen.open(path, **how, **more)
        same(dataset.batch(MANY), local.batch(MANY))
    remote = varlen.open(URL, **how)
    same_epochs(remote, local, max_len=8, window="random", seed=3, prefetch=3)
    batches = varlen.data.ShardSampler(remote, 60, window=2, seed=0)
    for batch, rows in zip(varlen.data.Loader(remote, batches=batches), batches, strict=True):
        same(batch, local.batch(rows))
    assert len(remote.reload()) == 300
    assert varlen.io.verify(URL, storage_options=options) == []


def test_epochs_over_a_cache_ask_for_the_state_of_each_file(folder, proxy, options, tmp_path):
    local = varlen.open(folder)
    cache = varlen.io.Cache(tmp_path, max_bytes=2**24)
    # A look, a head, a look, a block and a look at each file, and three for the index; then a look at that.
    for count in (33, 1):
        with proxy.count() as requests:
            dataset = varlen.open(URL, storage_options=options, cache=cache)
            same_epochs(dataset, local, max_len=8)
        assert len(requests) == count
    assert {request.range for request in requests} == {None}
    for again in (dataset, pickle.loads(pickle.dumps(dataset))):
        with proxy.count() as requests:
            same_epochs(again, local, max_len=8)
        assert requests == []


def test_batches_ask_for_values_and_look_at_their_files_once(folder, proxy, options):
    dataset = varlen.open(URL, storage_options=options)
    dataset.batch(range(0, 300, 20))
    with proxy.count() as requests:
        dataset.batch(MANY)
    assert len([request for request in requests if request.range]) <= 2 * len(MANY)
    assert [request.path for request in requests if not request.range] == ["data"]  # one listing


def busy(status):
    return lambda request, answer: Answer(status, {"Retry-After": "0"})


def cut(_, answer):
    return answer._replace(cut=len(answer.body) // 2)


def compress(_, answer):
    return answer._replace(
        headers={**answer.headers, "Content-Encoding": "gzip"}, body=gzip.compress(answer.body)
    )


def change_tag(_, answer):
    headers = {name: text for name, text in answer.headers.items() if name.lower() != "etag"}
    return Answer(
        answer.status,
        {**headers, "ETag": '"other"'},
        re.sub(rb"<ETag>.*?</ETag>", b"<ETag>&quot;other&quot;</ETag>", answer.body),
    )


def page(_, answer):
    return Answer(200, {"Content-Type": "text/html"}, b"<html>who are you?</html>")


FAULTS = {
    "403": (busy(403), PermissionError),
    "404": (busy(404), FileNotFoundError),
    **{str(status): (busy(status), OSError) for status in (416, 429, 500, 503)},
    "closed": (lambda *_: None, OSError),
    "cut": (cut, OSError),
    "gzip": (compress, OSError),
    "tag": (change_tag, varlen.io.StaleFileError),
    "page": (page, (OSError, varlen.io.FileFormatError, varlen.io.StaleFileError)),
}


def raise_first(faults):
    raise faults[0]


@pytest.mark.parametrize("name", FAULTS)
def test_faults_name_the_file_and_change_nothing(folder, proxy, options, tmp_path, name):
    how, local = {"storage_options": options}, varlen.open(folder)
    dataset = varlen.open(URL, **how)
    dataset.batch(range(0, 300, 20))
    proxy.fault, kind = FAULTS[name]
    cached = varlen.io.Cache(tmp_path / "cache", max_bytes=2**22)
    doors = [lambda: dataset.batch([1]), lambda: dataset.batch(MANY), lambda: next(iter(dataset.epoch(9)))]
    if name != "tag":  # what is opened now is the other file
        doors += [
            dataset.reload,
            lambda: varlen.open(URL, **how),
            lambda: varlen.open(f"{URL}/part-00000.nrt", **how),
            lambda: varlen.open(f"{URL}/*.nrt", **how),
            lambda: varlen.open(URL, **how, cache=cached).batch([0]),
            lambda: varlen.open(URL, **how, cache=tmp_path / "copies"),
            lambda: raise_first(varlen.io.verify(URL, **how)),
        ]
    for door in doors:
        with pytest.raises(kind, match=r"s3://data/shards"):
            door()
    proxy.fault = None
    same(dataset.batch(MANY), local.batch(MANY))
    assert not os.path.exists(tmp_path / "copies") or os.listdir(tmp_path / "copies") == []


def test_faults_in_an_epoch_name_the_file_that_was_read(proxy, options):
    dataset = varlen.open(URL, storage_options=options)
    proxy.fault = lambda request, answer: Answer(403) if "part-00003" in request.path else answer
    sizes = []
    with pytest.raises(PermissionError, match=r"part-00003\.nrt"):
        sizes.extend(len(batch["x"]) for batch in dataset.epoch(25, shuffle=False, prefetch=2))
    assert sizes == [25] * 6


def test_faults_that_pass_change_nothing(folder, proxy):
    local, seen = varlen.open(folder), set()
    how = {**OPTIONS, "key": "again", "endpoint_url": proxy.url}
    dataset = varlen.open(URL, storage_options=how)

    def once(request, answer):  # the first time for each range
        key = request.path, request.range
        if request.range is None or key in seen:
            return answer
        seen.add(key)
        return cut(request, answer)

    proxy.fault = once
    for rows in ([0, 60, 299], range(0, 300, 7)):
        same(dataset.batch(rows), local.batch(rows))
    assert len(seen) > 6


def test_wrong_bytes_of_the_right_length_are_found_by_checksums(folder, proxy, options):
    def swap(request, answer):
        return answer._replace(body=answer.body[::-1]) if request.range and request.range[0] else answer

    dataset = varlen.open(URL, storage_options=options, verify="read")
    proxy.fault = swap
    with pytest.raises(varlen.io.FileFormatError, match=r"part-0000[01]\.nrt"):
        dataset.batch([0, 60])
    faults = varlen.io.verify(URL, storage_options=options)
    assert {os.path.basename(fault.file) for fault in faults} == set(os.listdir(folder)) - {"index.json"}


def test_changes_and_other_urls_are_told(folder, bucket, proxy, options):
    system = bucket[0]
    dataset = varlen.open(URL, storage_options=options)
    dataset.batch(MANY)
    first = (folder / "part-00000.nrt").read_bytes()
    try:
        system.pipe("data/shards/part-00000.nrt", first[::-1])
        for rows in ([0], MANY):
            with pytest.raises(varlen.io.StaleFileError, match=r"part-00000\.nrt: was changed"):
                dataset.batch(rows)
    finally:
        system.pipe("data/shards/part-00000.nrt", first)
    with pytest.raises(FileNotFoundError, match=r"s3://data/none\.nrt"):
        varlen.open("s3://data/none.nrt", storage_options=options)
    with pytest.raises(ValueError, match=r"storage_options: .* is no URL"):
        varlen.io.verify(folder, storage_options=options)
