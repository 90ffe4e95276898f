"""Options of file systems behind URLs: headers of HTTP, and what fsspec takes."""

import pickle

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
