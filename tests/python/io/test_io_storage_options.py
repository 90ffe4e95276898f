"""Options of file systems behind URLs: headers of HTTP, and what fsspec takes."""

import os
import pickle

import numpy as np
import pytest
import varlen
import varlen.io
from varlen.testing.server import Answer, FileServer


@pytest.fixture
def folder(tmp_path):
    rows = varlen.JointNestedRaggedTensorDict({"x": [[i] * (i % 3) for i in range(20)]})
    varlen.data.Dataset(rows).save(tmp_path / "shards", rows_per_shard=10)
    return tmp_path / "shards"


def test_http_sends_the_headers_with_each_request(folder, tmp_path):
    pytest.importorskip("urllib3")

    def locked(request, answer):
        return answer if request.headers.get("Authorization") == "Bearer secret" else Answer(401)

    with FileServer(folder, fault=locked) as server:
        how = {"storage_options": {"headers": {"Authorization": "Bearer secret"}}}
        for more in (
            {},
            {"cache": tmp_path / "copies"},
            {"cache": varlen.io.Cache(tmp_path, max_bytes=2**21)},
        ):
            dataset = varlen.open(server.url, **how, **more)
            for again in (dataset, pickle.loads(pickle.dumps(dataset))):
                assert again.batch([5, 19])["x"].tolist() == [[5, 5], [19, 0]]
            assert len(dataset) == dataset.account.rows.source.values == 20
        with pytest.raises(
            PermissionError, match=r"answered 401 Unauthorized to the whole file: '.*x\.json'"
        ):
            varlen.open(server.url)
        with pytest.raises(TypeError, match="storage_options: HTTP has no 'key'"):
            varlen.open(server.url, storage_options={"key": "a"})
    with pytest.raises(ValueError, match=r"storage_options: .* is no URL"):
        varlen.open(folder, storage_options={"key": "a"})
    with pytest.raises(TypeError, match="storage_options"):
        varlen.open("http://host/a.nrt", storage_options="key")


def test_fsspec_takes_its_options(folder):
    fsspec = pytest.importorskip("fsspec")
    seen = []

    class Locked(fsspec.filesystem("file").__class__):
        protocol = "locked"

        def __init__(self, key=None, **options):
            super().__init__(**options)
            seen.append(key)

    fsspec.register_implementation("locked", Locked, clobber=True)
    dataset = varlen.open(f"locked://{folder}", storage_options={"key": "secret"})
    assert len(pickle.loads(pickle.dumps(dataset)).batch([0, 19])["x"]) == 2
    assert set(seen) == {"secret"}
    Locked.clear_instance_cache()


def run_s3(command, port):
    import subprocess

    return subprocess.Popen([command, "-H", "127.0.0.1", "-p", str(port)], stdout=-3, stderr=-3)


def test_s3_of_motos_server_gives_the_rows_of_the_folder(folder, tmp_path):
    """Rows, the requests of a batch, a file that changes, and a wrong key, against an S3 server."""
    import shutil
    import socket
    import time

    pytest.importorskip("s3fs", reason="needs s3fs, which is installed beside moto[server]")
    command = shutil.which("moto_server")
    if command is None:
        pytest.skip("needs moto_server: pip install 'moto[server]' s3fs")
    import fsspec

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = run_s3(command, port)
    how = {
        "key": "a",
        "secret": "b",
        "client_kwargs": {"region_name": "us-east-1"},
        "endpoint_url": f"http://127.0.0.1:{port}",
    }
    try:
        system = fsspec.filesystem("s3", **how)
        for _ in range(100):
            try:
                system.call_s3("create_bucket", Bucket="data")
                break
            except Exception:
                time.sleep(0.2)
        for name in os.listdir(folder):
            system.pipe(f"data/shards/{name}", (folder / name).read_bytes())
        dataset, local = varlen.open("s3://data/shards", storage_options=how), varlen.open(folder)
        cache = varlen.io.Cache(tmp_path / "cache", max_bytes=2**22)
        parts = varlen.open("s3://data/shards/*.nrt", storage_options=how, cache=cache)
        for rows in ([0, 19, 5], [11], range(20)):
            for remote in (dataset, parts):
                np.testing.assert_array_equal(remote.batch(rows)["x"], local.batch(rows)["x"])
        first = (folder / "part-00000.nrt").read_bytes()
        system.pipe("data/shards/part-00000.nrt", first[::-1])
        with pytest.raises(varlen.io.StaleFileError, match=r"part-00000\.nrt: was changed"):
            dataset.batch([5, 19])
        with pytest.raises(FileNotFoundError):
            varlen.open("s3://data/none.nrt", storage_options=how)
    finally:
        server.terminate()
        server.wait()
