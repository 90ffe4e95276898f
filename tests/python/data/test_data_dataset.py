"""Datasets: rows and batches are the same in memory, from a file and from shards, mapped or read."""

import os
import pickle

import numpy as np
import pytest
import varlen
import varlen.io
from batches import Table, assert_same, expected, tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from varlen import _core
from varlen.data import Dataset, Records
from varlen.joint import JointNestedRaggedTensorDict as Joint

SKELETON = [[2, 0, 3], [], [1], [4, 4], [0], [1, 1, 1]]


def tensors(joint):
    """Everything of a joint under its full names."""
    out = {f"dim{d}/bounds": joint.bounds(d) for d in range(1, joint.depth + 1)}
    pairs = zip(joint.names, joint.dims, strict=True)
    return out | {f"dim{dim}/{name}": np.array(joint.values(name)) for name, dim in pairs}


def places(table, folder):
    """The same rows in memory, in parts, in a file, in shards, mapped and read."""
    joint, n = table.joint(), table.counts[0]
    cut = n // 2
    paths = []
    for i, part in enumerate([joint, joint.slice(0, cut), joint.slice(cut, n)]):
        paths.append(str(folder / f"part-{i}.nrt"))
        varlen.io.save(paths[-1], tensors(part))
    yield Dataset(joint)
    yield Dataset([Joint._wrap(joint.slice(0, cut)), joint.slice(cut, n)])
    for mmap in (True, False):
        yield varlen.open(paths[0], mmap=mmap)
        yield varlen.open(paths[1:], mmap=mmap)


def same_rows(one, other):
    left, right = one.tensors, other.tensors
    assert set(left) == set(right)
    for name, array in left.items():
        np.testing.assert_array_equal(array, right[name], err_msg=name, strict=True)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_dataset_is_the_same_wherever_it_lies(tmp_path_factory, data):
    table = data.draw(tables(least_rows=2))
    n = table.counts[0]
    rows = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=5))
    options = {
        "flatten": data.draw(st.booleans()),
        "padding_side": data.draw(st.sampled_from(["left", "right"])),
    }
    options["start"] = data.draw(st.lists(st.integers(-3, 3), min_size=len(rows), max_size=len(rows)))
    wanted = expected(table, rows, options)
    whole = Joint._wrap(table.joint())
    for ds in places(table, tmp_path_factory.mktemp("places")):
        assert len(ds) == n
        assert sorted(ds.keys()) == sorted(table.values)
        assert_same(ds.batch(rows, **options), wanted)
        for dim in range(1, table.depth + 1):
            assert ds.lengths_at(dim).tolist() == [len(table.under(0, row, dim)) for row in range(n)]
        for row in (0, -1):
            same_rows(ds[row].drop([k for k, d in table.dims.items() if d == 0]), whole[row].drop(
                [k for k, d in table.dims.items() if d == 0]))  # fmt: skip
        same_rows(ds[np.array(rows)], whole[np.array(rows)])
        same_rows(ds[1:n], whole[1:n])
        if ds.source.mmap:
            same_rows(pickle.loads(pickle.dumps(ds))[0:n], whole[0:n])


def test_batch_is_the_chain_that_it_replaces():
    """Bit for bit: getitem, flatten, slice, vstack and to_dense, ours and upstream's."""
    upstream = pytest.importorskip("nested_ragged_tensors.ragged_numpy").JointNestedRaggedTensorDict
    rng = np.random.default_rng(0)
    skeleton = [rng.integers(1, 5, rng.integers(1, 6)).tolist() for _ in range(20)]
    table = Table(skeleton, 2)
    del table.values["w"], table.dims["w"], table.values["y"], table.dims["y"]
    held = tensors(table.joint())
    ds = Dataset(table.joint())
    for kind in (Joint, upstream):
        chain = kind(processed_tensors=dict(held))
        for _ in range(10):
            rows = rng.integers(0, 20, 4)
            starts = [int(rng.integers(0, len(skeleton[row]))) for row in rows]
            ends = [int(start + rng.integers(1, 4)) for start in starts]
            side = str(rng.choice(["left", "right"]))
            views = [chain[int(i), a:b] for i, a, b in zip(rows, starts, ends, strict=True)]
            result = ds.batch(rows, start=starts, end=ends, padding_side=side)
            assert_same(result, kind.vstack(views).to_dense(padding_side=side))
            flat = [chain[int(i)].flatten()[a:b] for i, a, b in zip(rows, starts, ends, strict=True)]
            result = ds.batch(rows, start=starts, end=ends, padding_side=side, flatten=True)
            assert_same(result, kind.vstack(flat).to_dense(padding_side=side))


def test_collate_of_records_is_their_batch():
    table = Table(SKELETON, 2)
    ds = Dataset(table.joint())
    rows = [5, 1, 0, 3]
    wanted = ds.batch(rows)
    assert_same(ds.collate([ds[row] for row in rows]), wanted)
    assert_same(ds.collate(rows), wanted)
    assert_same(ds.collate(np.array(rows)), wanted)
    records = ds.__getitems__(rows)
    assert isinstance(records, Records)
    assert_same(ds.collate(records), wanted)
    assert len(records) == 4
    same_rows(records[2], ds[0])
    same_rows(list(records)[3], ds[3])
    assert_same(ds.collate(records[1:3]), ds.batch(rows[1:3]))
    windows = [ds[row, 1:3] for row in rows]
    result = ds.collator(keys=["a", "b"], padding_side="left")(windows)
    assert_same(result, ds.batch(rows, keys=["a", "b"], start=[1] * 4, end=[3] * 4, padding_side="left"))
    with pytest.raises(TypeError, match=r"samples\[1\]: expected a JointNestedRaggedTensorDict, got int"):
        ds.collate([ds[0], 5])


@pytest.mark.parametrize("place", ["memory", "mapped", "read"])
def test_parts_that_were_narrowed_on_their_own_are_widened(tmp_path, place):
    parts = [Joint({"x": [[1, 2], [3]]}), Joint({"x": [[300]]}), Joint({"x": [[-1], []]})]
    assert [part.schema["x"] for part in parts] == [np.uint8, np.uint16, np.int8]
    for i, part in enumerate(parts):
        part.save(tmp_path / f"{i}.nrt")
    ds = Dataset(parts) if place == "memory" else varlen.open(tmp_path, mmap=place == "mapped")
    ds = pickle.loads(pickle.dumps(ds))
    assert ds.schema["x"] == np.int32
    assert ds.lengths.tolist() == [2, 1, 1, 1, 0]
    wide = np.array([[1, 2], [300, 0], [-1, 0]], np.int32)
    np.testing.assert_array_equal(ds.batch([0, 2, 3])["x"], wide, strict=True)
    np.testing.assert_array_equal(ds.batch([2, 3], layout="ragged")["x"], wide[1:, 0], strict=True)
    np.testing.assert_array_equal(ds.batch([0, 2, 3], flatten=True)["x"], wide, strict=True)
    assert ds.batch([1], start=[0], end=[1])["x"].dtype == np.int32
    assert ds[[2, 0]].to_list() == {"x": [[300], [1, 2]]}
    assert {ds[i].schema["x"] for i in (0, 2, (0, slice(1)), [0], slice(2))} == {np.dtype(np.int32)}
    assert_same(ds.collate([ds[0], ds[2]]), ds.batch([0, 2]))
    assert_same(ds.collate(ds.__getitems__([0, 2])), ds.batch([0, 2]))


def test_dataset_with_nothing_in_it():
    empty = Dataset(Table([], 2).joint())
    assert len(empty) == 0
    assert empty.lengths.tolist() == []
    assert empty.batch([])["b"].shape == (0, 0, 0)
    assert list(empty.epoch(3)) == []
    nothing = Dataset(Table([[], []], 2).joint())
    assert nothing.batch([0, 1])["b"].shape == (2, 0, 0)
    assert nothing.batch([1, 0, 1], flatten=True, pad_to=2)["b"].tolist() == [[0, 0]] * 3
    flat = Table([0, 2], 1)
    mixed = Dataset(
        [Table([[1, 2]], 2).joint().select(["a", "b"]), Table([[], []], 2).joint().select(["a", "b"])]
    )
    assert mixed.batch([2, 0])["dim2/mask"].shape == (2, 2, 2)
    assert flat.joint().depth == 1


@pytest.mark.parametrize("rows", [[2, 0, 2], []])
def test_dataset_of_rows_of_no_width(tmp_path, rows):
    wide = {"dim0/a": np.zeros((3, 0), np.int16), "dim1/b": np.zeros((4, 2, 0)), "dim1/n": np.arange(4)}
    varlen.io.save(tmp_path / "a.nrt", {**wide, "dim1/bounds": np.array([1, 1, 4])})
    for mmap in (True, False):
        ds = varlen.open(tmp_path / "a.nrt", mmap=mmap)
        batch = ds.batch(rows)
        assert batch["a"].shape == (len(rows), 0)
        assert batch["b"].shape == (*batch["n"].shape, 2, 0)
        assert ds.batch(rows, max_len=1)["b"].shape[2:] == (2, 0)
        assert ds[rows].to_list()["n"] == [[[0], [], [1, 2, 3]][row] for row in rows]


def test_dataset_finds_rows_by_id(tmp_path):
    held = tensors(Table([1, 0, 2], 1).joint())
    held["dim0/id"] = np.array([70, 30, 50])
    path = str(tmp_path / "ids.nrt")
    varlen.io.save(path, held, row_ids="id")
    ds = varlen.open(path)
    rows = ds.rows_of([50, 70])
    assert rows.tolist() == [2, 0]
    assert ds.batch(rows)["id"].tolist() == [50, 70]
    with pytest.raises(KeyError, match="31"):
        ds.rows_of([31])
    with pytest.raises(ValueError, match="ids"):
        Dataset(Table([1], 1).joint()).rows_of([1])


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        (9, IndexError, "Index 9 is out of range at dim 0"),
        (-7, IndexError, "out of range"),
        ([0, 9], IndexError, "rows: index 9 at position 1 is out of range for 6 rows"),
        (1.5, TypeError, "rows: expected"),
        (((0, 1), 2), TypeError, "index"),
        ([True], IndexError, "rows: a mask of 1 for 6 rows"),
    ],
)
def test_dataset_refuses_rows_that_there_are_not(index, error, text):
    joint = Table(SKELETON, 2).joint()
    for ds in (Dataset(joint), Dataset([joint.slice(0, 2), joint.slice(2, 6)])):
        with pytest.raises(error, match=text):
            ds[index]


@pytest.mark.parametrize(
    ("parts", "error", "text"),
    [
        (5, TypeError, "source: expected a JointNestedRaggedTensorDict, got int"),
        (
            Dataset(Joint({"x": [[1]]})),
            TypeError,
            "source: expected a JointNestedRaggedTensorDict, got Dataset; it is a dataset",
        ),
        ([Joint({"x": [[1]]}), Joint({"y": [[1]]})], ValueError, "part 1: has a key 'y', which other parts"),
        ([Joint({"x": [[1]], "y": [[1]]}), Joint({"x": [[1]]})], ValueError, "part 1: has no key 'y'"),
        ([Joint({"x": [[1]]}), Joint({"x": [[[1]]]})], ValueError, "part 1: 'x' lies at dim 2"),
        (
            [Joint({"x": [1]}), _core.Joint(["x"], [0], [np.array([1], "M8[s]")], [])],
            ValueError,
            r"part 1: 'x' is datetime64\[s\], in other parts uint8",
        ),
    ],
)
def test_dataset_refuses_parts_that_do_not_fit(parts, error, text):
    with pytest.raises(error, match=text):
        Dataset(parts)


def test_dataset_closes(tmp_path):
    varlen.io.save(tmp_path / "a.nrt", tensors(Table(SKELETON, 2).joint()))
    for again in (varlen.open(tmp_path / "a.nrt"), varlen.open(tmp_path / "a.nrt").select([1, 0])):
        assert len(again[0].keys()) == len(again.keys())
        again.close()
        assert again[:].to_list() == {}
        with pytest.raises(IndexError):
            again[0]
    with Dataset(Table(SKELETON, 2).joint()) as ds:
        kept = ds.batch([0])
    assert len(ds) == 0
    assert kept["y"].size == 1
    with pytest.raises(IndexError):
        ds.batch([0])
    with pytest.raises(ValueError, match="dim: expected 1 to 2, got 3"):
        Dataset(Table(SKELETON, 2).joint()).lengths_at(3)


def test_a_table_is_refused_with_what_makes_a_file_of_it(tmp_path):
    for name in ("a.csv", "a.nrt"):  # whatever it is called
        (tmp_path / name).write_text("patient,code\n7,HR\n" * 9)
        with pytest.raises(
            varlen.io.FileFormatError, match=rf"{name}: is text, a table like CSV.*varlen convert"
        ):
            varlen.open(tmp_path / name)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="descriptors are listed in /proc")
def test_shards_hold_no_descriptors(tmp_path):
    for k in range(40):
        Joint({"x": [[k], [k, k]]}).save(tmp_path / f"{k:02}.nrt")
    before = len(os.listdir("/proc/self/fd"))
    opened = [varlen.open(tmp_path), varlen.open(tmp_path, mmap=False)]
    batches = [ds.batch(range(80)) for ds in opened]
    assert len(os.listdir("/proc/self/fd")) == before
    assert [int(batch["x"].sum()) for batch in batches] == [3 * sum(range(40))] * 2
