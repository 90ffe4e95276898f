"""Shards that were narrowed each on its own read as one sequence, in the dtype that holds them all."""

import pickle
import re

import numpy as np
import pytest
import varlen
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


WIDE = [np.array([3, -(2**53) - 1]), np.array([0.5])], [np.array([2**63 + 1], "u8"), np.array([-1])]


@BOTH
@pytest.mark.parametrize("parts", WIDE, ids=["floats", "signs"])
def test_integers_that_the_joint_dtype_rounds_are_refused_with_their_place(tmp_path, mmap, parts):
    narrowed(tmp_path, parts)
    source, data = io.open_shards(tmp_path, mmap=mmap), varlen.open(tmp_path, mmap=mmap)
    value = parts[0][-1]
    text = f"part-0.nrt: key 'x': {value} in row 0 does not fit float64"
    reads = [lambda: source.read(0), lambda: source.read_many([1, 0]), lambda: list(source)]
    reads += [lambda: data.batch([1, 0]), lambda: data[0], lambda: data[:], lambda: data.save(tmp_path / "c")]
    for read in reads:
        with pytest.raises(ValueError, match=re.escape(text)):
            read()
    assert data[1].to_list()["x"] == parts[1].tolist()
    assert data.batch([0], keys=["id"])["id"].tolist() == [10]


@BOTH
def test_integers_that_the_joint_dtype_holds_are_floats(tmp_path, mmap):
    narrowed(tmp_path, [np.array([2**53, -(2**60)]), np.array([0.5], "f4")])
    data = varlen.open(tmp_path, mmap=mmap)
    assert data.batch([0, 1], masks=False)["x"].tolist() == [[2.0**53, -(2.0**60)], [0.5, 0.0]]
    assert data[0].to_list()["x"] == [2.0**53, -(2.0**60)]


def test_a_dtype_that_a_batch_asks_for_may_round(tmp_path):
    narrowed(tmp_path, WIDE[0])
    data = varlen.open(tmp_path)
    assert data.batch([0, 1], dtype={"x": "f4"}, masks=False)["x"].tolist() == [[3, -(2.0**53)], [0.5, 0]]
    with pytest.raises(ValueError, match=r"key 'x': -9007199254740993 in row 0"):
        data.batch([0, 1])


def test_rows_of_memory_and_files_are_exact_or_refused(tmp_path):
    Joint = varlen.JointNestedRaggedTensorDict
    whole, half = (Joint({"x": [[x]]}, narrow=False) for x in (2**53 + 1, 0.5))
    whole.save(tmp_path / "a.nrt")
    text = "key 'x': 9007199254740993 in row 0 does not fit float64"
    Dataset = varlen.data.Dataset
    for parts in (lambda: Dataset([whole, half]), lambda: Dataset(whole).concat(Dataset(half)).batch([1, 0])):
        with pytest.raises(ValueError, match=text):
            parts()
    joined = varlen.open(tmp_path / "a.nrt").concat(Dataset(half))
    for read in (lambda: joined.batch([1, 0]), lambda: joined[0], lambda: joined[:]):
        with pytest.raises(ValueError, match=f"a.nrt: {text}"):
            read()
    assert joined[1].to_list() == {"x": [0.5]}


@pytest.mark.parametrize("first", [True, False])
def test_writers_widen_without_rounding(tmp_path, first):
    pieces = [[[1, 2], [2**53 + 1]], [[0.5]]]
    one, other = pieces if first else reversed(pieces)
    writer = io.Writer(tmp_path / "a.nrt", widen=True)
    writer.append({"x": one})
    with pytest.raises(ValueError, match=r"x: 9007199254740993 at row 2 .*does not fit float64"):
        writer.append({"x": other})
    writer.discard()
    assert not list(tmp_path.iterdir())
    with io.Writer(tmp_path / "a.nrt", widen=True) as writer:
        for piece in ([[2**53], [3]], [[0.5]], [[-(2**62)]]):
            writer.append({"x": piece})
    assert io.open_file(tmp_path / "a.nrt").values("x").tolist() == [2.0**53, 3, 0.5, -(2.0**62)]


def test_build_and_map_widen_without_rounding(tmp_path):
    rows = [{"x": [[0.5]]}, {"x": [[2**53 + 1]]}]
    with pytest.raises(RuntimeError, match=r"partition 1: key 'x': 9007199254740993 .* does not fit float64"):
        io.build([0, 1], lambda i: rows[i], tmp_path / "a", workers=1, progress=False)
    data = varlen.data.Dataset(varlen.JointNestedRaggedTensorDict({"i": [0, 1]}))
    for size in (1, 2):
        with pytest.raises(
            (ValueError, OverflowError), match=r"map: rows .*x.*9007199254740993.* does not fit float64"
        ):
            data.map(
                lambda J: {"x": [rows[i]["x"][0] for i in J.to_list()["i"]]},
                tmp_path / "m.nrt",
                batched=True,
                batch_size=size,
                progress=False,
            )
    assert not (tmp_path / "m.nrt").exists()
