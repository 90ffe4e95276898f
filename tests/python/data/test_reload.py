"""A dataset opened again: what is new is told, and what changed is refused with the row that did."""

import pickle

import numpy as np
import pytest
import varlen as vl
from growth import ALL, FIRST, MORE, add, begin
from varlen import io


@pytest.mark.parametrize("options", [{}, {"mmap": False}, {"keys": ["x"]}])
def test_added_rows_are_there_and_counted(tmp_path, options):
    ds = vl.open(begin(tmp_path / "a"), **options)
    assert ds.reload().new_rows == range(3, 3)
    add(tmp_path / "a")
    grown = ds.reload()
    assert (len(ds), len(grown), grown.new_rows) == (3, 5, range(3, 5))
    assert grown[:].to_list() == {name: ALL[name] for name in ds.fields}
    assert grown.select(grown.new_rows)[:].to_list() == {name: MORE[name] for name in ds.fields}
    assert grown.source.mmap is ds.source.mmap
    assert grown.reload().new_rows == range(5, 5)


def test_another_process_and_another_folder_reload_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ds = vl.open(begin("a"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    add(tmp_path / "a")
    for each in (ds, pickle.loads(pickle.dumps(ds))):
        assert each.reload()[:].to_list() == ALL


def test_files_of_a_pattern_and_a_list(tmp_path):
    for i in range(2):
        vl.JointNestedRaggedTensorDict({"x": [[i]]}).save(tmp_path / f"{i}.nrt")
    pattern, files = vl.open(tmp_path / "*.nrt"), vl.open([tmp_path / "0.nrt", tmp_path / "1.nrt"])
    vl.JointNestedRaggedTensorDict({"x": [[2], [3]]}).save(tmp_path / "2.nrt")
    assert pattern.reload().new_rows == range(2, 4)
    assert files.reload().new_rows == range(2, 2)
    vl.JointNestedRaggedTensorDict({"x": [[9]]}).save(tmp_path / "00.nrt")
    with pytest.raises(ValueError, match=r"00\.nrt: reload: row 1 has 9 in 'x', but had 1"):
        pattern.reload()[:]


def test_a_file_that_was_written_anew(tmp_path):
    path = tmp_path / "a.nrt"
    vl.JointNestedRaggedTensorDict({"x": [[1], [2, 3]]}).save(path)
    ds = vl.open(path)
    assert ds[:].to_list() == {"x": [[1], [2, 3]]}
    vl.JointNestedRaggedTensorDict({"x": [[1], [2, 3], [400]]}).save(path)  # another dtype, the same numbers
    assert ds.reload()[:].to_list() == {"x": [[1], [2, 3], [400]]}
    vl.JointNestedRaggedTensorDict({"x": [[1], [2, 5], [400]]}).save(path)
    with pytest.raises(
        io.StaleFileError, match="reload: row 1 has 5 in 'x', but had 3; rows may only be added"
    ) as e:
        ds.reload()
    assert e.value.row == 1
    vl.JointNestedRaggedTensorDict({"x": [[1], [2], [3]]}).save(path)
    with pytest.raises(io.StaleFileError, match="row 1 has 1 in 'dim1', but had 2"):
        ds.reload()
    vl.JointNestedRaggedTensorDict({"x": [[1]]}).save(path)
    with pytest.raises(ValueError, match="reload: 1 rows, but there were 2"):
        ds.reload()
    vl.JointNestedRaggedTensorDict({"y": [[1], [2, 3]]}).save(path)
    with pytest.raises(ValueError, match="there was a key 'x', which is gone"):
        ds.reload()
    vl.JointNestedRaggedTensorDict({"x": [[1], [2, 3]], "y": [1, 2]}).save(path)
    with pytest.raises(ValueError, match="there is a key 'y', which the rows did not have"):
        ds.reload()
    vl.JointNestedRaggedTensorDict({"x": [1, 2]}).save(path)
    with pytest.raises(ValueError, match="key 'x' is at dim 0"):
        ds.reload()
    assert ds[:].to_list() == {"x": [[1], [2, 3]]}


def test_deep_levels_and_nan_are_compared(tmp_path):
    path = tmp_path / "a.nrt"
    first = {"x": [[[1.0, np.nan], []], [[2.0]]]}
    vl.JointNestedRaggedTensorDict(first).save(path)
    ds = vl.open(path)
    vl.JointNestedRaggedTensorDict({"x": [*first["x"], [[3.0]]]}).save(path)
    assert ds.reload().new_rows == range(2, 3)
    vl.JointNestedRaggedTensorDict({"x": [[[1.0, np.nan], []], [[2.0, 3.0]]]}).save(path)
    with pytest.raises(io.StaleFileError, match="row 1 has 2 in 'dim2', but had 1"):
        ds.reload()


def test_a_shard_without_its_index_is_not_said_to_be_new(tmp_path):
    ds = vl.open(begin(tmp_path / "a", {"x": FIRST["x"]}))
    (tmp_path / "a" / "index.json").unlink()
    with pytest.raises(
        io.StaleFileError, match=r"part-0000\d\.nrt: reload: is listed by no index\.json any more"
    ):
        ds.reload()


def test_a_shard_that_changed_before_it_was_read(tmp_path):
    ds = vl.open(begin(tmp_path / "a", {"x": FIRST["x"]}))
    (tmp_path / "a" / "index.json").unlink()
    (tmp_path / "a" / "part-00001.nrt").unlink()
    vl.JointNestedRaggedTensorDict({"x": [[3, 3, 3]]}).save(tmp_path / "a" / "part-00001.nrt")
    with pytest.raises(
        io.StaleFileError, match=r"part-00001\.nrt: reload: was written anew, and cannot be compared"
    ):
        ds.reload()


def test_a_build_with_wider_dtypes_keeps_its_rows(tmp_path):
    parts = [{"x": [[1], [2]]}, {"x": [[3]]}]
    io.build(parts, None, tmp_path / "a", schema=None)
    ds = vl.open(tmp_path / "a")
    assert ds[:].to_list() == {"x": [[1], [2], [3]]}
    io.build([*parts, {"x": [[0.5]]}], None, tmp_path / "a")
    assert ds.reload()[:].to_list() == {"x": [[1.0], [2.0], [3.0], [0.5]]}


def test_views_memory_and_chains(tmp_path):
    memory = vl.Dataset(vl.JointNestedRaggedTensorDict(FIRST))
    assert memory.reload() is memory
    ds = vl.open(begin(tmp_path / "a", {"x": FIRST["x"]}))
    with pytest.raises(ValueError, match="this is a view of some rows"):
        ds.select([1]).reload()
    chain = vl.Dataset(vl.JointNestedRaggedTensorDict({"x": [[7]]})).concat(ds)
    swapped = ds.concat(vl.Dataset(vl.JointNestedRaggedTensorDict({"x": [[7]]})))
    keyed = ds.with_key("y", [[8, 8], [], [9]])
    assert keyed.reload()[:].to_list() == keyed[:].to_list()
    add(tmp_path / "a", {"x": MORE["x"]})
    assert chain.reload()[:].to_list() == {"x": [[7], *ALL["x"]]}
    with pytest.raises(ValueError, match="part 0 of the concatenation has 5 rows, but had 3"):
        swapped.reload()
    with pytest.raises(ValueError, match="there are 2 new rows, which have no 'y'"):
        keyed.reload()


def test_a_subclass_keeps_its_own(tmp_path):
    class Own(vl.Dataset):
        pass

    ds = Own(vl.open(begin(tmp_path / "a")).source)
    ds.note = "mine"
    add(tmp_path / "a")
    grown = ds.reload()
    assert (type(grown), grown.note, grown.new_rows) == (Own, "mine", range(3, 5))


@pytest.mark.parametrize("clean", [False, True])
@pytest.mark.parametrize("is_read", [False, True])
@pytest.mark.parametrize("options", [{}, {"mmap": False}])
def test_deletions_that_were_compacted_before_they_were_seen(tmp_path, clean, is_read, options):
    rows = {"id": list(range(9)), "x": [[i] * (i % 3) for i in range(9)]}
    folder = begin(tmp_path / "a", rows, row_ids="id")
    left = list(range(9))
    ds = vl.open(folder, **options)
    joined = ds.with_key("n", np.arange(9))
    if is_read:
        assert ds[:].to_list() == rows
    writer, new = vl.open(folder), []
    for step, deleted in enumerate(([1, 2], [6], [0, 3])):  # of those that are left
        writer = writer.delete(deleted)
        left = [row for i, row in enumerate(left) if i not in deleted]
        if step != 1:
            io.compact(folder, clean=clean)
            writer = vl.open(folder)
        if step == 0:
            add(folder, {"id": [50, 51], "x": [[5], []]})
            writer, new = vl.open(folder), [50, 51]
            left = [*left, *new]
        again = ds.reload()
        assert again["id"].tolist() == left
        assert again.select(again.new_rows)["id"].tolist() == new
        assert again.reload()["id"].tolist() == left
        assert list(again.reload().new_rows) == []
    assert again[:].to_list()["x"] == [[] if i > 50 else [5] if i == 50 else [i] * (i % 3) for i in left]
    with pytest.raises(ValueError, match="reload: deleted rows were taken out of the files, and 'n' has"):
        joined.reload()


def test_a_file_that_changed_before_it_was_compacted_is_compared(tmp_path):
    rows = {"x": [[1], [2], [3], [4]]}
    folder = begin(tmp_path / "a", rows)
    ds = vl.open(folder)
    assert ds[:].to_list() == rows
    vl.JointNestedRaggedTensorDict({"x": [[1], [9]]}, schema={"x": "int64"}).save(vl.open(folder).paths[0])
    vl.open(folder).delete([0])
    io.compact(folder)
    with pytest.raises(
        io.StaleFileError, match="reload: row 0 has 9 in 'x', but had 2; rows may only be added"
    ):
        ds.reload()
    assert vl.open(folder)[:].to_list() == {"x": [[9], [3], [4]]}
