"""Shards that were narrowed each on its own read as one sequence, in the dtype that holds them all."""

import pickle
import re

import numpy as np
import pytest
from varlen import io
from varlen.io import FileFormatError

BOTH = pytest.mark.parametrize("mmap", [True, False], ids=["mapped", "pread"])

NARROWED = [np.array([1, 2, 3], np.uint8), np.array([-300], np.int16), np.array([7, 8], np.uint8)]


def narrowed(folder, parts):
    """One row a shard, with what the values need as the dtype of each."""
    for i, part in enumerate(parts):
        tensors = {"dim0/id": np.array([i + 10]), "dim1/bounds": np.array([len(part)]), "dim1/x": part}
        io.save(folder / f"part-{i}.nrt", tensors, row_ids="id")


@BOTH
def test_shards_that_were_narrowed_on_their_own_are_widened(tmp_path, mmap):
    narrowed(tmp_path, NARROWED)
    source = io.open_shards(tmp_path, mmap=mmap)
    for one in (source, pickle.loads(pickle.dumps(source))):
        assert (one.fields["x"].dtype, one.fields["x"].tag) == (np.int16, "I16")
        reads = [one.read(i) for i in range(3)]
        expected = [*NARROWED, *NARROWED, [1, 2, 3, 7, 8]]
        for found, values in zip([*reads, *one, one.read_many([0, 2])], expected, strict=True):
            np.testing.assert_array_equal(found.values("x"), np.array(values, np.int16), strict=True)
        assert one.read(1, 0, 9).values("x").dtype == one.read_many([]).values("x").dtype == np.int16
        assert one.rows_of([12, 11]).tolist() == [2, 1]
    assert [joint.values("x").dtype for joint in source.joints] == [np.uint8, np.int16, np.uint8]


def test_shards_without_rows_have_no_say_in_dtypes(tmp_path):
    narrowed(tmp_path, NARROWED[:1] * 3)
    none = {name: np.array([], np.int64) for name in ("dim0/id", "dim1/bounds", "dim1/x")}
    for i in (0, 2):
        io.save(tmp_path / f"part-{i}.nrt", none, row_ids="id")
    source = io.open_shards(tmp_path)
    assert source.fields["x"].dtype == np.uint8
    assert source.read_many([0]).values("x").tolist() == [1, 2, 3]


def test_indexes_say_the_dtypes_of_shards_that_are_not_opened(tmp_path):
    for name, part in zip("abc", [*NARROWED[:2], np.array([1], "M8[s]")], strict=True):
        with io.ShardWriter(tmp_path / name, rows_per_shard=1) as writer:
            for _ in range(2):
                writer.append({"dim1/bounds": np.array([len(part)]), "dim1/x": part})
    source = io.open_shards([tmp_path / "a", tmp_path / "b"])
    assert source.fields["x"].dtype == np.int16
    assert [file is not None for file in source._files] == [True, False, False, False]
    assert [row.values("x").tolist() for row in source] == [[1, 2, 3], [1, 2, 3], [-300], [-300]]
    with pytest.raises(FileFormatError, match=r"c/part-00000.nrt: key 'x' .* datetime64\[s\]"):
        io.open_shards([tmp_path / "a", tmp_path / "c"])


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("u1", "?", "u1"),
        ("i8", "f4", "f8"),
        ("f2", "u1", "f2"),
        ("u8", "i8", "f8"),
        ("M8[s]", "M8[s]", "M8[s]"),
        ("M8[s]", "M8[ns]", None),
        ("m8[s]", "i8", None),
        ("c8", "f4", None),
    ],
)
def test_numbers_have_a_dtype_that_joins_them(tmp_path, one, other, both):
    narrowed(tmp_path, [np.array([1, 0]).astype(dtype) for dtype in (one, other)])
    if both is None:
        text = re.escape(f"dtype {np.dtype(other)} instead of {np.dtype(one)}")
        with pytest.raises(FileFormatError, match=f"part-1.nrt: key 'x' .* {text}"):
            io.open_shards(tmp_path)
        return
    found = io.open_shards(tmp_path).read_many([1, 0])
    np.testing.assert_array_equal(found.values("x"), np.array([1, 0, 1, 0]).astype(both), strict=True)


def test_ids_that_no_dtype_holds_together_are_found(tmp_path):
    for i, ids in enumerate([np.array([-1, 2**53 + 1]), np.array([2**63 + 1, 2**53], np.uint64)]):
        io.save(tmp_path / f"{i}.nrt", {"dim0/id": ids}, row_ids="id")
    source = io.open_shards(tmp_path)
    assert source.rows_of([2**53, -1]).tolist() == [3, 0]
    assert source.rows_of(np.array([2**63 + 1, 2**53 + 1], np.uint64)).tolist() == [2, 1]
    with pytest.raises(KeyError, match="0 at position 0"):
        source.rows_of([0])
