"""What integers stand for goes with the rows: vocabularies, units of time and the key of row ids."""

import pickle

import numpy as np
import pytest
import varlen
import varlen.io
from varlen import _core
from varlen.data import Dataset
from varlen.joint import JointNestedRaggedTensorDict as Joint

TIMES = np.array([0, 1, 2, 3, 4], "M8[s]")
WORDS = [["a", "b"], [], ["b", "c"], ["a"]]
PLACES = ["memory", "parts", "mapped", "read", "mapped shards", "read shards"]


def joint(rows=slice(None), words=("a", "b", "c")):
    chosen = WORDS[rows]
    J = Joint({"w": chosen, "id": list("pqrs")[rows]}, schema={"w": str}, vocabularies={"w": words,
              "id": list("pqrs")}, row_ids="id")  # fmt: skip
    return J.with_key("t", TIMES[: sum(map(len, chosen))], 1)


@pytest.fixture(params=PLACES)
def ds(request, tmp_path):
    """Rows whose last part knows a further word."""
    parts = [joint(slice(0, 2), ["a", "b"]), joint(slice(2, 4))]
    if request.param == "memory":
        return Dataset(joint())
    if request.param == "parts":
        return Dataset(parts)
    mmap = request.param.startswith("mapped")
    if request.param.endswith("shards"):
        for i, part in enumerate(parts):
            part.save(tmp_path / f"{i}.nrt")
        return varlen.open(tmp_path, mmap=mmap)
    joint().save(tmp_path / "a.nrt")
    return varlen.open(tmp_path / "a.nrt", mmap=mmap)


INDICES = {
    "row": (2, ["b", "c"]),
    "last row": (-1, ["a"]),
    "window": ((2, slice(1, 2)), ["c"]),
    "slice": (slice(1, 4), WORDS[1:]),
    "step": (slice(None, None, 2), [WORDS[0], WORDS[2]]),
    "rows": ([3, 0], [["a"], ["a", "b"]]),
    "mask": (np.array([True, False, False, True]), [["a", "b"], ["a"]]),
    "all": (slice(None), WORDS),
}


@pytest.mark.parametrize("index", INDICES)
def test_rows_keep_words_units_and_ids(ds, index, tmp_path):
    index, words = INDICES[index]
    for source in (ds, pickle.loads(pickle.dumps(ds))):
        rows = source[index]
        assert rows.to_list()["w"] == words
        assert rows.row_ids == "id"
        assert rows.tensors[next(name for name in rows.tensors if name.endswith("/t"))].dtype == TIMES.dtype
    if isinstance(index, (int, tuple)):
        return
    rows = ds[index]
    rows.save(tmp_path / "rows.nrt")
    again = Joint.load(tmp_path / "rows.nrt")
    assert again.to_list() == rows.to_list()
    assert again.rows_of(rows.to_list()["id"]).tolist() == list(range(len(rows)))
    assert again.tensors["dim1/t"].dtype == TIMES.dtype


def test_rows_of_shards_have_the_words_of_all(ds):
    assert ds[[3, 0]].vocabularies["w"] == ("a", "b", "c")
    assert ds[0].vocabularies == ds[3].vocabularies
    assert [row.to_list()["w"] for row in ds] == WORDS


def test_writer_writes_the_words_of_rows_from_another_vocabulary(ds, tmp_path):
    first = Joint({"w": [["c", "z"]], "id": ["o"]}, schema={"w": str, "id": str}, row_ids="id")
    with varlen.io.Writer(tmp_path / "all.nrt", row_ids="id") as writer:
        writer.append(first.with_key("t", TIMES[:2], 1))
        writer.append(ds[2:])
        writer.append(ds[[1, 0]])
    again = varlen.open(tmp_path / "all.nrt")
    assert again[:].to_list()["w"] == [["c", "z"], ["b", "c"], ["a"], [], ["a", "b"]]
    assert again.rows_of(list("pqrso")).tolist() == [4, 3, 1, 2, 0]


def test_joints_of_sources_and_files_know_their_words(ds):
    source = ds.source
    if isinstance(source, varlen.io.ShardSet):
        assert source.read(3).meta["vocabularies"]["w"] == ("a", "b", "c")
        assert [row.meta["row_ids"] for row in source] == ["id"] * 4
    else:
        assert [part.meta["row_ids"] for part in source] == ["id"] * len(source.counts)


def test_fields_tell_vocabulary_and_unit(ds):
    fields = ds.fields
    ds[:]  # opens every shard
    fields = ds.fields
    assert fields["w"].vocabulary == ("a", "b", "c")
    assert fields["id"].vocabulary == ("p", "q", "r", "s")
    assert fields["t"].vocabulary is None
    assert (fields["t"].unit, fields["w"].unit) == ("s", None)


def test_rows_of_text_ids_are_found(ds):
    assert ds.rows_of(["s", "q"]).tolist() == [3, 1]
    with pytest.raises(KeyError, match="x"):
        ds.rows_of(["x"])


def test_keys_that_were_left_out_take_their_words_along(tmp_path):
    joint().save(tmp_path / "a.nrt")
    rows = varlen.open(tmp_path / "a.nrt", keys=["t"])[:]
    assert (dict(rows.vocabularies), rows.row_ids) == ({}, None)
    rows = varlen.open(tmp_path / "a.nrt", keys=["w"])[[0]]
    assert (list(rows.vocabularies), rows.row_ids) == (["w"], None)


@pytest.mark.parametrize(("count", "dtype"), [(254, "u1"), (255, "u1"), (256, "u2")])
def test_joined_vocabularies_have_the_smallest_ids(count, dtype):
    """As they have that are made of all the words at once, or saved."""
    words = [f"w{i}" for i in range(count)]
    parts = [Joint({"w": [chosen]}, schema={"w": str}) for chosen in (words[:9], words[4:])]
    whole = Joint.concatenate(parts)
    assert whole.to_list() == {"w": [words[:9], words[4:]]}
    assert whole.tensors["dim1/w"].dtype == dtype
    assert Joint({"w": [words]}, schema={"w": str}).tensors["dim1/w"].dtype == dtype


def test_parts_without_rows_say_nothing_of_words():
    parts = [joint(), joint()[:0], Joint._wrap(_core.Joint([], [], [], [], 0))]
    assert Dataset(parts)[[3]].to_list()["w"] == [["a"]]
