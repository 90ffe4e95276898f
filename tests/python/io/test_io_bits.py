"""Compressed files: the same rows as plain ones from every call, the plain file bit for bit, and no other
reader takes their bytes for numbers.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import multiprocessing
import os
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen import io
from varlen.cli import main
from varlen.io import FileFormatError
from varlen.io.rewrite import rewrite

N = 300


def entries(n=N, seed=0):
    rng = np.random.default_rng(seed)
    outer = rng.integers(0, 30, n)
    inner = rng.integers(0, 6, outer.sum())
    lab = np.round(rng.lognormal(3, 1, inner.sum()), 1).astype(np.float32)
    lab[rng.random(len(lab)) < 0.3] = np.nan
    lab[::50] = -0.0
    return {
        "dim0/id": rng.permutation(n) + 100 + 1000 * seed,
        "dim0/sex": rng.integers(0, 2, n).astype(bool),
        "dim1/bounds": np.cumsum(outer),
        "dim1/t": rng.integers(0, 10**9, outer.sum()).astype("M8[s]"),
        "dim1/unit": np.array(["mg", "ml", "g"])[rng.integers(0, 3, outer.sum())],
        "dim2/bounds": np.cumsum(inner),
        "dim2/code": rng.integers(0, 5000, inner.sum()).astype(np.int32),
        "dim2/lab": lab,
        "dim2/point": rng.random((inner.sum(), 3)),
    }


def save_both(folder, **options):
    rows = entries(**options)
    for name, compress in (("plain.nrt", False), ("small.nrt", True)):
        io.save(folder / name, rows, row_ids="id", metadata={"note": "ä"}, compress=compress)
    return folder / "plain.nrt", folder / "small.nrt"


@pytest.fixture
def both(tmp_path):
    return save_both(tmp_path)


@pytest.fixture
def datasets(both):
    return [vl.open(path) for path in both]


def same(a, b):
    """Whether two results are equal to the bit, whatever they are."""
    if isinstance(a, dict) or hasattr(a, "keys"):
        assert list(a.keys()) == list(b.keys())
        for key in a.keys():  # noqa: SIM118
            same(a[key], b[key])
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    elif hasattr(a, "to_list") and hasattr(a, "tensors"):
        same(dict(a.tensors), dict(b.tensors))
    elif hasattr(a, "values") and hasattr(a, "levels"):
        same([a.values, *[level.offsets for level in a.levels]], [b.values, *[x.offsets for x in b.levels]])
    elif hasattr(a, "numpy") and hasattr(a, "untyped_storage"):
        assert a.dtype == b.dtype
        same(a.numpy(), b.numpy())
    elif isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        is_same = a.tobytes() == b.tobytes()  # without a difference for the eye, which takes minutes
        assert is_same
    else:
        assert repr(a) == repr(b)


ROWS = [5, 299, -1, 5, 17]
CALLS = {
    "padded": lambda ds: ds.batch(ROWS),
    "ragged": lambda ds: ds.batch(ROWS, layout="ragged", positions=True, lengths=True),
    "window": lambda ds: ds.batch(ROWS, max_len=[4, 2], window="random", seed=3, windows=True, parts=True),
    "starts": lambda ds: ds.batch(np.array([5, 17]), start=np.array([1, -3]), end=np.array([7, 99])),
    "left": lambda ds: ds.batch(ROWS, padding_side="left", truncate="left", max_len=5, fill={"code": -1}),
    "flatten": lambda ds: ds.batch(ROWS, flatten=True, layout="ragged"),
    "flatten padded": lambda ds: ds.batch(ROWS, flatten=True, fill_mode="repeat"),
    "nan": lambda ds: ds.batch(ROWS, nan={"lab": 0.5}, keys=["lab", "code"]),
    "nan ragged": lambda ds: ds.batch(ROWS, nan={"lab": 0.5}, keys=["lab", "t"], layout="ragged"),
    "dtype": lambda ds: ds.batch(ROWS, dtype={"code": "int64", "lab": "float64", "point": "float32"}),
    "prefix": lambda ds: ds.batch(
        ROWS,
        keys=["code", "lab"],
        prefix=vl.JointNestedRaggedTensorDict({"code": [[[1]]], "lab": [[[2.5]]]}),
        max_len=6,
    ),
    "keys": lambda ds: ds.batch(ROWS, keys=["id", "sex"]),
    "torch": lambda ds: ds.batch(ROWS, framework="torch"),
    "torch ragged": lambda ds: ds.batch(ROWS, framework="torch", layout="ragged"),
    "model": lambda ds: ds.batch(
        ROWS, names={"code": "input_ids"}, keys=["code"], flatten=True, attention_mask=True
    ),
    "packed": lambda ds: ds.batch(ROWS, layout="packed", pad_to=512, keys=["code", "lab"], flatten=True),
    "named": lambda ds: [d.values for d in ds.batch(ROWS, layout="named").values()],
    "no rows": lambda ds: ds.batch([]),
    "row": lambda ds: ds[5],
    "last": lambda ds: ds[-1],
    "slice": lambda ds: ds[3:20],
    "steps": lambda ds: ds[3:200:7],
    "index": lambda ds: ds[[9, 2, 2]],
    "tuple": lambda ds: ds[5, 0],
    "key": lambda ds: [ds["code"], ds["id"], ds["t"]],
    "iteration": lambda ds: [row for _, row in zip(range(9), ds, strict=False)],
    "lengths": lambda ds: [ds.lengths, ds.lengths_at(2)],
    "windows": lambda ds: ds.windows(4),
    "ids": lambda ds: ds.rows_of([100, 399]),
    "filter": lambda ds: ds.filter(lambda columns: columns["sex"]).batch([3, 1]),
    "select": lambda ds: ds.select([7, 3, 3]).batch([0, 1, 2]),
    "fields": lambda ds: ds.fields,
    "account": lambda ds: ds.account.rows.result.values,
    "epoch": lambda ds: list(ds.epoch(64, shuffle=True, seed=2, layout="ragged")),
    "prefetch": lambda ds: list(ds.epoch(64, prefetch=2)),
    "buffers": lambda ds: ds.batch(ROWS, out=vl.data.Buffers()),
    "getitems": lambda ds: ds.collate(ds.__getitems__([1, 2])),
    "copy": lambda ds: pickle.loads(pickle.dumps(ds)).batch(ROWS),
    "tables": lambda ds: ds[:4].to_list(),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_compressed_file_gives_what_the_plain_one_gives(datasets, call):
    plain, small = (CALLS[call](ds) for ds in datasets)
    same(plain, small)


@pytest.mark.parametrize(
    "call", ["padded", "ragged", "starts", "row", "slice", "index", "key", "lengths", "copy"]
)
def test_so_does_one_that_is_read_without_a_map(both, call):
    plain, small = (vl.open(path, mmap=False) for path in both)
    same(CALLS[call](plain), CALLS[call](small))


@pytest.mark.parametrize(
    "call", ["padded", "ragged", "starts", "row", "slice", "index", "key", "lengths", "ids"]
)
def test_so_does_one_behind_a_url(both, call):
    memory = pytest.importorskip("fsspec").filesystem("memory")
    for path in both:
        memory.pipe(f"/bits/{path.name}", path.read_bytes())
    plain, small = (vl.open(f"memory://bits/{path.name}") for path in both)
    same(CALLS[call](plain), CALLS[call](small))
    mixed = [
        vl.open([f"memory://bits/{name}.nrt" for name in names])
        for names in (["plain"] * 2, ["plain", "small"])
    ]
    same(*(ds.batch([1, N + 1]) for ds in mixed))


def test_errors_of_batches_are_the_same(datasets):
    for options in ({"dtype": {"code": "int8"}}, {"keys": ["x"]}, {"max_bytes": 10}):
        texts = []
        for ds in datasets:
            with pytest.raises((ValueError, KeyError)) as caught:
                ds.batch(ROWS, **options)
            texts.append(str(caught.value).replace("small.nrt", "plain.nrt"))
        assert texts[0] == texts[1]


def test_keys_and_levels_of_the_file_are_the_same(both):
    plain, small = (io.open_file(path) for path in both)
    assert (small.mmap, small.decodes, plain.decodes) == (False, True, False)
    assert (plain.depth, plain.count, plain.row_ids) == (small.depth, small.count, small.row_ids)
    assert plain.header.metadata == small.header.metadata
    for name in plain.header.names:
        same(plain.array(name), small.array(name))
    same(plain.level(2), small.level(2).bounds)
    small.validate()
    assert small.key_bytes("code")[0] < 0.5 * small.key_bytes("code")[1]
    assert both[1].stat().st_size < 0.9 * both[0].stat().st_size


@pytest.mark.parametrize("mmap", [True, False])
def test_shards_may_be_of_both_kinds(tmp_path, mmap):
    plain, small = tmp_path / "plain", tmp_path / "small"
    for folder in (plain, small):
        folder.mkdir()
        for i in range(3):
            rows = {name: values for name, values in entries(20, i).items() if name != "dim1/unit"}
            io.save(folder / f"{i}.nrt", rows, row_ids="id", compress=folder is small and i != 1)
    a, b = (vl.open(folder, mmap=mmap) for folder in (plain, small))
    rows = [0, 59, 21, 40]
    for options in ({}, {"layout": "ragged"}, {"keys": ["lab"], "flatten": True}):
        same(a.batch(rows, **options), b.batch(rows, **options))
    same(a[30], b[30])
    same(a[rows], b[rows])
    same(a.lengths, b.lengths)
    joined = a.concat(vl.open(small / "0.nrt"))
    same(joined.batch([0, 60, 79]), b.concat(vl.open(plain / "0.nrt")).batch([0, 60, 79]))


def test_shards_of_other_dtypes_are_widened(tmp_path):
    for name, compress in (("a", False), ("b", True)):
        (tmp_path / name).mkdir()
        for i, dtype in enumerate((np.int16, np.int64)):
            rows = {"dim1/bounds": np.array([2, 5]), "dim1/x": np.arange(5, dtype=dtype) * 1000}
            io.save(tmp_path / name / f"{i}.nrt", rows, compress=compress)
    a, b = vl.open(tmp_path / "a"), vl.open(tmp_path / "b")
    same(a.batch([0, 3]), b.batch([0, 3]))
    same(a.batch([0, 3], layout="ragged"), b.batch([0, 3], layout="ragged"))
    same(a[0], b[0])


def test_a_key_more_and_named_keys(both):
    plain, small = (vl.open(path, keys=["code", "id"]) for path in both)
    same(plain.batch(ROWS), small.batch(ROWS))
    more = [
        ds.with_key("age", np.arange(N), dim=0) if hasattr(ds, "with_key") else ds for ds in (plain, small)
    ]
    same(more[0].batch(ROWS), more[1].batch(ROWS))


def _batch_in_child(ds, pipe):
    pipe.send(ds.batch(ROWS, layout="ragged")["lab"].tobytes())


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_decode_too(datasets, method):
    context = multiprocessing.get_context(method)
    end, other = context.Pipe()
    process = context.Process(target=_batch_in_child, args=(datasets[1], other))
    process.start()
    assert end.recv() == datasets[0].batch(ROWS, layout="ragged")["lab"].tobytes()
    process.join()


@pytest.mark.parametrize("kind", ["save", "foreign", "first generation", "any tensors", "empty"])
def test_the_plain_file_comes_back_bit_for_bit(tmp_path, kind):
    path = tmp_path / "plain.nrt"
    rows = {name: values for name, values in entries().items() if values.dtype.kind not in "MU"}
    if kind == "save":
        io.save(path, entries(), row_ids="id", vocabularies={"code": [f"c{i}" for i in range(5000)]})
    elif kind == "foreign":
        rows["dim2/code"] = rows["dim2/code"].astype(np.uint16)
        rows["dim1/half"] = np.arange(rows["dim1/bounds"][-1]).astype(np.float16)
        safetensors.numpy.save_file(rows, path, {"made": "elsewhere"})
    elif kind == "first generation":
        lengths = {"dim1/lengths": np.array([2, 0, 3]), "dim1/x": np.arange(5, dtype=np.float32)}
        safetensors.numpy.save_file(lengths, path)
    elif kind == "any tensors":
        io.save(
            path, {"dim0/x": np.random.default_rng(0).random((5, 7, 3)), "dim0/y": np.zeros((5, 0), np.int8)}
        )
    else:
        io.save(path, {"dim1/bounds": np.zeros(0, np.int64), "dim1/x": np.zeros(0, np.float32)})
    small, back = tmp_path / "small.nrt", tmp_path / "back.nrt"
    rewrite(str(path), str(small), compress=True)
    rewrite(str(small), str(back), compress=False)
    assert back.read_bytes() == path.read_bytes()
    again = tmp_path / "again.nrt"
    rewrite(str(small), str(again), compress=True)
    assert again.read_bytes() == small.read_bytes()
    a, b = io.open_file(path), io.open_file(small)
    for name in a.header.names:
        same(a.array(name), b.array(name))


def test_every_writer_compresses(tmp_path):
    rows = {name.partition("/")[2]: None for name in entries()}
    piece = entries()
    plain, small = tmp_path / "a.nrt", tmp_path / "b.nrt"
    for path, compress in ((plain, False), (small, True)):
        with io.Writer(path, row_ids="id", compress=compress, account=io.Account()) as writer:
            writer.append(piece)
            writer._account.rows.source.values = N
            for name in rows.keys() - {"bounds"}:
                key = next(full for full in piece if full.endswith("/" + name))
                writer._account.column(name).source.values = len(piece[key])
    assert small.stat().st_size < plain.stat().st_size
    assert vl.open(small).source.decodes
    same(vl.open(plain).batch(ROWS), vl.open(small).batch(ROWS))
    with io.ShardWriter(tmp_path / "shards", 100, row_ids="id", compress=True) as writer:
        writer.append(piece)
    shards = vl.open(tmp_path / "shards")
    assert shards.source.decodes
    same(vl.open(plain).batch(ROWS, keys=["code", "lab"]), shards.batch(ROWS, keys=["code", "lab"]))
    vl.open(plain).save(tmp_path / "c.nrt", compress=True)
    same(vl.open(plain).batch(ROWS), vl.open(tmp_path / "c.nrt").batch(ROWS))
    assert sorted(name for name in os.listdir(tmp_path) if "tmp" in name) == []


def _rows_of(first):
    return {
        "dim0/id": np.arange(2) + first,
        "dim1/bounds": np.array([2, 3]),
        "dim1/word": np.array(["a", f"w{first}", "b"]),
    }


def test_build_compresses_and_asks_for_the_same_again(tmp_path):
    shards = io.build([0, 2], _rows_of, tmp_path / "small", compress=True)
    plain = io.build([0, 2], _rows_of, tmp_path / "plain")
    assert shards.decodes
    same(plain.read_many([3, 0]).values("word"), shards.read_many([3, 0]).values("word"))
    with pytest.raises(FileExistsError, match="other options"):
        io.build([0, 2], _rows_of, tmp_path / "small")


def test_compress_is_a_bool(tmp_path):
    for call in (
        lambda: io.save(tmp_path / "a.nrt", entries(), compress="zstd"),
        lambda: io.Writer(tmp_path / "a.nrt", compress="no"),
        lambda: io.ShardWriter(tmp_path / "s", 2, compress="yes"),
    ):
        with pytest.raises(TypeError, match="compress"):
            call()
    assert not (tmp_path / "a.nrt").exists()
    assert not (tmp_path / "s").exists()


def test_a_file_that_no_reader_would_decode_is_not_written(tmp_path):
    entries = {"dim0/x": np.arange(3), "weights": np.arange(9)}
    with pytest.raises(ValueError, match="compress: the name of 'weights' is not dimK/name"):
        io.save(tmp_path / "a.nrt", entries, compress=True)
    assert not (tmp_path / "a.nrt").exists()
    io.save(tmp_path / "a.nrt", entries)
    with pytest.raises(FileFormatError, match="not dimK/name"):
        rewrite(str(tmp_path / "a.nrt"), str(tmp_path / "b.nrt"), compress=True)


def test_other_readers_see_bytes_under_other_names(both):
    arrays = safetensors.numpy.load_file(both[1])
    assert {name.partition("/")[0] for name in arrays} == {"compressed header", "compressed"}
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.uint8)}
    upstream = pytest.importorskip("nested_ragged_tensors.ragged_numpy")
    joint = upstream.JointNestedRaggedTensorDict(tensors_fp=both[1])
    with pytest.raises(Exception):  # noqa: B017, PT011
        joint.to_dense()


def damage(path, change):
    """The file with another header of its own."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    table = json.loads(raw[8 : 8 + size])
    change(table)
    text = json.dumps(table, separators=(",", ":")).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + raw[8 + size :])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda t: t["__metadata__"].update({"varlen.version": "3"}), "written as version 3"),
        (lambda t: t["__metadata__"].update({"varlen.version": "x"}), "is not a version"),
        (lambda t: t["__metadata__"].pop("varlen.bits.data_size"), "without the header"),
        (lambda t: t["__metadata__"].update({"varlen.bits.data_size": "9"}), "past the end"),
        (lambda t: t.update({"top": t.pop("compressed header")}), "without the header"),
        (
            lambda t: t.update({"compressed/dim2/x": t.pop("compressed/dim2/code")}),
            "no blocks for this tensor",
        ),
    ],
)
def test_a_header_that_lies_is_an_error_that_names_the_file(both, change, text):
    damage(both[1], change)
    with pytest.raises(FileFormatError, match=rf"small\.nrt.*{text}"):
        vl.open(both[1])


@pytest.mark.parametrize("mmap", [True, False])
def test_a_damaged_block_names_file_key_and_block(both, mmap):
    path = both[1]
    raw = bytearray(path.read_bytes())
    table = io.read_header(path)
    number = table.names.index("compressed/dim2/code")
    end = table.data_start + table.describe(number)[4]
    raw[end - 8] = 9  # the kind of the last block
    path.write_bytes(raw)
    ds = vl.open(path, mmap=mmap)
    for call in (
        lambda: ds.batch([N - 1, N - 2, N - 3], keys=["code"]),
        lambda: ds.batch([N - 1, N - 2, N - 3], keys=["code"], layout="ragged"),
        lambda: ds.batch([N - 1, N - 2, N - 3], keys=["code"], dtype={"code": "float64"}),
        lambda: ds[N - 5 :],
        lambda: ds["code"],
    ):
        with pytest.raises(FileFormatError, match=r"small\.nrt.*code.*block \d+ is of a kind"):
            call()
    same(ds.batch(ROWS, keys=["lab"]), vl.open(both[0]).batch(ROWS, keys=["lab"]))


@pytest.mark.parametrize("places", [[0, 1, 2**63, 2**64 - 1], [0, 50, 9, 60], [2**64 - 1, 0, 1, 2]])
def test_blocks_out_of_order_are_an_error(tmp_path, places):
    path = tmp_path / "a.nrt"
    codes = np.random.default_rng(0).integers(0, 100, 4000)
    io.save(path, {"dim1/bounds": np.array([2000, 4000]), "dim1/code": codes}, compress=True)
    raw = bytearray(path.read_bytes())
    table = io.read_header(path)
    end = table.data_start + table.describe(table.names.index("compressed/dim1/code"))[4]
    for number, place in enumerate(places):
        at = end - 24 * (4 - number) + 8
        raw[at : at + 8] = place.to_bytes(8, "little")
    path.write_bytes(raw)
    with pytest.raises(FileFormatError, match=r"a\.nrt.*code.*out of order"):
        vl.open(path, mmap=False).batch([0])


def test_a_file_cut_short_is_refused(both):
    both[1].write_bytes(both[1].read_bytes()[:-100])
    with pytest.raises(FileFormatError):
        vl.open(both[1])


def test_a_file_changed_in_place_is_seen(both):
    ds = vl.open(both[1])
    ds.batch([1])
    with both[1].open("r+b") as file:
        file.truncate(5000)
    with pytest.raises(io.StaleFileError):
        ds.batch([1])


def test_convert_makes_compressed_files_and_plain_ones(tmp_path, both, capsys):
    small, back = str(tmp_path / "c.nrt"), str(tmp_path / "d.nrt")
    assert main(["convert", str(both[0]), small, "--compress"]) == 0
    assert "c.nrt: " in capsys.readouterr().out
    assert main(["convert", small, back, "--quiet"]) == 0
    assert (tmp_path / "d.nrt").read_bytes() == both[0].read_bytes()
    assert main(["convert", small, back]) != 0
    assert "already exists" in capsys.readouterr().err
    assert main(["convert", small, back, "--force", "--narrow"]) == 2
    assert "--narrow" in capsys.readouterr().err
    with io.ShardWriter(tmp_path / "shards", 100, row_ids="id") as writer:
        writer.append(entries())
    assert main(["convert", str(tmp_path / "shards"), str(tmp_path / "few"), "--compress"]) == 0
    assert main(["convert", str(tmp_path / "few"), str(tmp_path / "plain")]) == 0
    for name in os.listdir(tmp_path / "shards"):
        assert (tmp_path / "plain" / name).read_bytes() == (tmp_path / "shards" / name).read_bytes()
    same(vl.open(tmp_path / "few").batch(ROWS), vl.open(tmp_path / "shards").batch(ROWS))


def test_convert_compresses_tables(tmp_path):
    lines = tmp_path / "a.jsonl"
    lines.write_text("\n".join(json.dumps({"x": [i, i + 1], "w": [["a"], ["b", "a"]]}) for i in range(50)))
    assert main(["convert", str(lines), str(tmp_path / "a.nrt"), "--quiet"]) == 0
    assert main(["convert", str(lines), str(tmp_path / "b.nrt"), "--quiet", "--compress"]) == 0
    same(vl.open(tmp_path / "a.nrt").batch([3, 1]), vl.open(tmp_path / "b.nrt").batch([3, 1]))
    assert vl.open(tmp_path / "b.nrt").source.decodes


def test_info_says_the_bytes_of_each_key(both, capsys):
    assert main(["info", str(both[1]), "--json"]) == 0
    keys = json.loads(capsys.readouterr().out)["keys"]
    assert keys["code"]["bytes"] < 0.5 * keys["code"]["plain_bytes"]
    assert main(["info", str(both[1])]) == 0
    assert " of " in next(line for line in capsys.readouterr().out.splitlines() if line.startswith("code"))
    assert main(["info", str(both[0]), "--json"]) == 0
    assert "bytes" not in json.loads(capsys.readouterr().out)["keys"]["code"]


def _tokens(n=200, mean=2000):
    """Tokens of so many rows, whose blocks lie further apart than a request costs."""
    rng = np.random.default_rng(5)
    lengths = rng.integers(mean // 2, mean * 3 // 2, n)
    return {"dim1/bounds": np.cumsum(lengths), "dim1/token": rng.integers(0, 50_000, lengths.sum())}


@pytest.fixture
def server(tmp_path, monkeypatch):
    pytest.importorskip("urllib3")
    from varlen.testing.server import FileServer

    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with io.ShardWriter(tmp_path / "far", 50, compress=True, checksums=True) as writer:
        writer.append(_tokens())
    names = os.listdir(tmp_path / "far")
    with FileServer({name: (tmp_path / "far" / name).read_bytes() for name in names}) as server:
        yield server


def test_a_server_is_asked_only_for_the_blocks_of_the_rows(tmp_path, server):
    local, far = vl.open(tmp_path / "far"), vl.open(server.url)
    same(local.batch([0, 60, 120, 180]), far.batch([0, 60, 120, 180]))
    size = sum(path.stat().st_size for path in (tmp_path / "far").iterdir())
    for rows in ([7], [199, 3], [60, 61, 110]):
        with server.count() as requests:
            batch = far.batch(rows)
        same(local.batch(rows), batch)
        assert {request.path for request in requests} == {f"part-{row // 50:05d}.nrt" for row in rows}
        assert len(requests) <= len(rows)
        asked = sum(request.range[1] - request.range[0] for request in requests)
        values = batch["token"].shape[1] * len(rows)
        assert asked < 2 * (values + 2048 * len(rows)) + 64 * 1024 < 0.2 * size


def test_shards_behind_urls_are_asked_at_once(server):
    far = vl.open(server.url)
    server.latency = 0.1
    # Headers of the other shards; records, which are kept; blocks. Then only blocks.
    for rows, expected in (([0, 60, 120, 180], [3, 4, 4]), ([1, 61, 121, 181], [4])):
        with server.count() as requests:
            far.batch(rows)
        begins = sorted(request.begin for request in requests)
        pauses = [i for i, (a, b) in enumerate(itertools.pairwise(begins), 1) if b - a > 0.05]
        assert np.diff([0, *pauses, len(begins)]).tolist() == expected


def test_a_small_file_is_opened_by_one_request(both, monkeypatch):
    pytest.importorskip("urllib3")
    from varlen.testing.server import FileServer

    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    io.save(both[1], {"dim1/bounds": np.array([2, 5]), "dim1/x": np.arange(5)}, compress=True)
    with FileServer({"a.nrt": both[1].read_bytes()}) as server:
        with server.count() as requests:
            ds = vl.open(f"{server.url}/a.nrt")
            assert ds.lengths.tolist() == [2, 3]
        assert len(requests) == 1
        same(ds.batch([1, 0]), vl.open(both[1]).batch([1, 0]))


@pytest.mark.parametrize("start", ["plain", "compressed"])
def test_convert_keeps_checksums_and_adds_them(tmp_path, start):
    with io.ShardWriter(tmp_path / "a", 100, row_ids="id", compress=start == "compressed") as writer:
        writer.append(entries())
    with io.ShardWriter(tmp_path / "sealed", 100, row_ids="id", checksums=True) as writer:
        writer.append(entries())
    sealed = {path.name: path.read_bytes() for path in (tmp_path / "sealed").iterdir()}
    for source, target, options in (
        ("a", "plain", ["--checksums"]),
        ("a", "small", ["--checksums", "--compress"]),
        ("small", "back", []),
        ("sealed", "again", ["--compress"]),
    ):
        assert main(["convert", str(tmp_path / source), str(tmp_path / target), "--quiet", *options]) == 0
        assert io.verify(tmp_path / target) == []
        assert vl.open(tmp_path / target).source.decodes == ("--compress" in options)
        if "--compress" not in options:
            assert {path.name: path.read_bytes() for path in (tmp_path / target).iterdir()} == sealed
    for path in (tmp_path / "small").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


def test_checksums_are_of_the_bytes_that_are_stored(tmp_path):
    xxhash = pytest.importorskip("xxhash")
    io.save(tmp_path / "a.nrt", entries(), compress=True, checksums=True)
    checksums = io.open_file(tmp_path / "a.nrt").checksums
    arrays = safetensors.numpy.load_file(tmp_path / "a.nrt")
    assert checksums == {
        name: f"xxh3_64:{xxhash.xxh3_64_hexdigest(array.tobytes())}" for name, array in arrays.items()
    }


def test_joint_dicts_are_saved_and_read(tmp_path):
    joint = vl.JointNestedRaggedTensorDict({"a": [[1, 2], [3]], "b": [[[1.5], []], [[2.5, 0.25]]]})
    joint.save(tmp_path / "a.nrt", compress=True)
    assert io.open_file(tmp_path / "a.nrt").decodes
    for back in (
        vl.JointNestedRaggedTensorDict(tensors_fp=tmp_path / "a.nrt"),
        vl.JointNestedRaggedTensorDict.load(tmp_path / "a.nrt"),
        vl.load(tmp_path / "a.nrt"),
        vl.load(tmp_path / "a.nrt", mmap=False),
    ):
        assert type(back) is type(joint)
        assert back.to_list() == joint.to_list()
        assert back[1].to_list() == joint[1].to_list()


LAYOUTS = ["padded", "ragged"]
DTYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "M8[s]", "?"]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_batches_of_any_numbers_are_those_of_the_plain_file(data):
    lengths = data.draw(st.lists(st.integers(0, 1500), min_size=1, max_size=6))
    dtype = np.dtype(data.draw(st.sampled_from(DTYPES)))
    total, seed = sum(lengths), data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    kind = data.draw(st.sampled_from(["bits", "few", "steps", "decimals", "constant"]))
    if kind == "bits" or dtype.kind == "?":
        raw = rng.integers(0, 256, total * dtype.itemsize, np.uint8)
        values = (raw % 2).view(bool) if dtype.kind == "?" else raw.view(dtype)
    else:
        numbers = {
            "few": rng.integers(0, 100, total),
            "steps": np.cumsum(rng.integers(0, 3, total)),
            "decimals": np.round(rng.normal(0, 50, total), data.draw(st.integers(0, 3))),
            "constant": np.full(total, 7),
        }[kind]
        values = numbers.astype("i8").astype(dtype) if dtype.kind != "f" else numbers.astype(dtype)
    rows = {"dim1/bounds": np.cumsum(lengths), "dim1/x": values}
    picks = data.draw(st.lists(st.integers(-len(lengths), len(lengths) - 1), max_size=5))
    layout = data.draw(st.sampled_from(LAYOUTS))
    with tempfile.TemporaryDirectory() as folder:
        for name, compress in (("a.nrt", False), ("b.nrt", True)):
            io.save(f"{folder}/{name}", rows, durable=False, compress=compress)
        for mmap in (True, False):
            a, b = (vl.open(f"{folder}/{name}", mmap=mmap) for name in ("a.nrt", "b.nrt"))
            same(a.batch(picks, layout=layout), b.batch(picks, layout=layout))
            same(a["x"], b["x"])


@settings(max_examples=150, deadline=None)
@given(at=st.floats(0, 1, exclude_max=True), bits=st.integers(1, 255), cut=st.integers(0, 40))
def test_hostile_bytes_are_format_errors_or_other_numbers(at, bits, cut):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.nrt"
        io.save(path, entries(40), row_ids="id", durable=False, compress=True)
        raw = bytearray(path.read_bytes())
        raw[int(at * len(raw))] ^= bits
        path.write_bytes(raw[: len(raw) - cut] if cut < 20 else raw)
        for mmap in (True, False):
            with contextlib.suppress(FileFormatError):
                ds = vl.open(path, mmap=mmap)
                ds.source.validate()
                ds.batch([0, 39, 7])
                ds.batch([5, 6], layout="ragged")
                ds[3:30].to_list()


@pytest.mark.parametrize("how", ["folder", "option"])
def test_rows_are_added_to_a_folder_in_its_form_or_as_asked(tmp_path, how):
    rows = {name: values for name, values in entries(30).items() if name != "dim1/unit"}
    folder, options = tmp_path / "a", {"compress": how == "option"}
    with io.ShardWriter(folder, 20, row_ids="id", checksums=True, compress=how == "folder") as writer:
        writer.append(rows)
    with io.ShardWriter(folder, 20, append=True, **options) as writer:
        writer.append({**rows, "dim0/id": rows["dim0/id"] + 5000})
    shards = io.open_shards(folder)
    assert [shards.file(i).decodes for i in range(4)] == [how == "folder"] * 2 + [True] * 2
    assert io.verify(folder) == []
    io.build([0], _rows_of, tmp_path / "b", compress=how == "folder")
    shards = io.build([0, 2], _rows_of, tmp_path / "b", append=True, **options)
    assert [shards.file(i).decodes for i in range(2)] == [how == "folder", True]
    assert shards.read_many([3, 0]).values("id").tolist() == [3, 0]


def test_keys_of_a_compressed_file_beside_those_of_another(datasets, tmp_path):
    lengths = np.diff(datasets[0].lengths.cumsum(), prepend=0)
    rows = {
        "dim0/age": np.arange(N),
        "dim1/bounds": np.cumsum(lengths),
        "dim1/dose": np.arange(lengths.sum()),
    }
    for name, compress in (("c.nrt", False), ("d.nrt", True)):
        io.save(tmp_path / name, rows, compress=compress)
    joined = [
        ds.with_file(tmp_path / name)
        for ds, name in zip(datasets * 2, ("c.nrt", "c.nrt", "d.nrt", "d.nrt"), strict=True)
    ]
    for options in ({}, {"layout": "ragged"}, {"keys": ["dose", "lab"], "flatten": True}):
        results = [ds.batch(ROWS, **options) for ds in joined]
        for result in results[1:]:
            same(results[0], result)
    for ds in joined[1:]:
        same(joined[0][7], ds[7])


def test_maps_and_reloads_of_compressed_data_sets(tmp_path):
    with io.ShardWriter(tmp_path / "a", 4, compress=True) as writer:
        writer.append({"x": [[1, 2], [3], [], [4, 5], [6]]})
    ds = vl.open(tmp_path / "a")
    ds.map(lambda row: {"y": row["x"] * 2}, tmp_path / "b.nrt")
    assert vl.open(tmp_path / "b.nrt")[:].to_list() == {"y": [[2, 4], [6], [], [8, 10], [12]]}
    with io.ShardWriter(tmp_path / "a", 4, append=True) as writer:
        writer.append({"x": [[7]]})
    again = ds.reload()
    assert again.batch([5, 0])["x"].tolist() == [[7, 0], [1, 2]]
    assert again.source.decodes
