"""Files that are no ``.nrt``: every door says what they are and what to do."""

import bz2
import gzip
import lzma
import pickle
import re

import numpy as np
import pytest
import varlen
from varlen import io
from varlen.cli import main
from varlen.io import FileFormatError

CONTENTS = {
    "a.csv": (b"id,w\n1,a\n", "is text, a table like CSV"),
    "a.nrt": ("id;wört\n1;a\n".encode() * 500, "is text, a table like CSV"),
    "a.jsonl": (b'{"a": 1}\n', "is JSON"),
    "a.json": (b"\xef\xbb\xbf[1]", "is JSON"),
    "a.txt": (b"hello", "is text, no .nrt file"),
    "page.nrt": (b"<!DOCTYPE html><html>", "is a page of HTML"),
    "a.parquet": (b"PAR1....", "is a Parquet file"),
    "a.feather": (b"ARROW1\0\0", "is an Arrow file"),
    "a.arrows": (b"\xff\xff\xff\xff\xf8\0\0\0\x10", "is a stream of Arrow"),
    "a.csv.gz": (gzip.compress(b"a\n1\n"), "is a file compressed by gzip"),
    "a.csv.bz2": (bz2.compress(b"a\n1\n"), "is a file compressed by bzip2"),
    "a.csv.xz": (lzma.compress(b"a\n1\n"), "is a file compressed by xz"),
    "a.csv.zst": (b"\x28\xb5\x2f\xfd\x04\0", "is a file compressed by zstd"),
    "a.pkl": (pickle.dumps([1]), "is a pickle"),
    "a.h5": (b"\x89HDF\r\n\x1a\n", "is an HDF5 file"),
    "lfs.nrt": (b"version https://git-lfs.github.com/spec/v1\noid", "git lfs pull"),
    "empty.nrt": (b"", "is empty; make or copy it again"),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_a_file_of_another_format_is_named_at_every_door(tmp_path, capsys, name):
    content, text = CONTENTS[name]
    path = tmp_path / name
    path.write_bytes(content)
    for door in (
        varlen.open,
        io.open_file,
        io.open_shards,
        io.read_header,
        lambda path: varlen.open([path]),
        lambda path: varlen.open(f"file://{path}"),
        lambda path: varlen.JointNestedRaggedTensorDict(tensors_fp=path).tensors,
    ):
        with pytest.raises(FileFormatError, match=re.escape(name)) as found:
            door(path)
        assert text in str(found.value)
        assert "bytes" not in str(found.value)
    assert main(["info", str(path)]) == 1
    assert text in capsys.readouterr().err


def test_arrays_of_numpy_are_named(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    np.savez(tmp_path / "a.npz", x=np.zeros(3))
    for name, text in (("a.npy", "is an array of NumPy"), ("a.npz", "is a zip archive, as .npz files")):
        with pytest.raises(FileFormatError, match=text):
            varlen.open(tmp_path / name)


def test_a_damaged_file_is_not_taken_for_another_format(tmp_path):
    path = tmp_path / "a.nrt"
    io.save(path, {"dim0/x": np.arange(3)})
    content = path.read_bytes()
    for cut in (4, 8, 30):
        path.write_bytes(content[:cut])
        with pytest.raises(FileFormatError, match="bytes"):
            varlen.open(path)


def test_a_folder_without_files_says_what_it_holds(tmp_path):
    def said():
        with pytest.raises(FileNotFoundError, match=r"no \.nrt file in folder") as found:
            varlen.open(tmp_path)
        return str(found.value)

    assert "it is empty" in said()
    (tmp_path / "data").mkdir()
    assert "it holds other folders, such as 'data'" in said()
    (tmp_path / "metadata").mkdir()
    assert "laid out as MEDS" in said()
    (tmp_path / "metadata").rmdir()
    for name in ("a.csv.gz", "b.csv.gz", "c.md"):
        (tmp_path / name).write_bytes(b"")
    assert "it holds 2 .csv.gz files; `varlen convert`" in said()
