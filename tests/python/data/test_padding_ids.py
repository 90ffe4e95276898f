"""Keys of words: id 0 is padding at every door that makes a vocabulary, and stands for no value."""

import json

import numpy as np
import pytest
import varlen as vl
from varlen import _core, io

Joint = vl.JointNestedRaggedTensorDict

WORDS = {"code": [["b", "a"], [], ["b"]], "sex": ["m", "f", "m"], "id": ["r1", "r2", "r3"]}
TEXT = dict.fromkeys(WORDS, str)
IDS = {"code": ["[PAD]", "b", "a"], "sex": ["[PAD]", "m", "f"], "id": ["r1", "r2", "r3"]}


def entries(rows):
    """The same rows as flat arrays of text."""
    flat = [word for row in rows["code"] for word in row]
    return {
        "dim1/bounds": np.cumsum([len(row) for row in rows["code"]]),
        "dim1/code": np.array(flat),
        "dim0/sex": np.array(rows["sex"]),
        "dim0/id": np.array(rows["id"]),
    }


def halves(rows):
    return [{k: v[:1] for k, v in rows.items()}, {k: v[1:] for k, v in rows.items()}]


def joint(path, **options):
    Joint(WORDS, schema=TEXT, row_ids="id", **options).save(path)


def joint_of_arrays(path, **options):
    raw = {"code": [np.array(row, "U1") for row in WORDS["code"]], "sex": np.array(WORDS["sex"])}
    Joint({**raw, "id": np.array(WORDS["id"])}, row_ids="id", **options).save(path)


NUMBERS = {"code": [[1, 2], [], [3]], "id": WORDS["id"]}


def key_by_key(path, **options):
    J = Joint(NUMBERS, schema={"id": str}, row_ids="id")
    for key in ("code", "sex", "id"):
        J = J.with_key(key, WORDS[key], dtype=str, **options)
    J.save(path)


def keys_of_a_dataset(path, **options):
    Joint(NUMBERS, schema={"id": str}, row_ids="id").save(f"{path}.numbers")
    ds = vl.open(f"{path}.numbers")
    for key in ("code", "sex", "id"):
        ds = ds.with_key(key, WORDS[key], dtype=str, **options)
    ds.save(path)


def written(make, pieces):
    def write(path, **options):
        with make(path, row_ids="id", **options) as writer:
            for piece in pieces:
                writer.append(piece)

    return write


def shards(path, **options):
    return io.ShardWriter(path, 2, **options)


def saved(path, **options):
    io.save(path, entries(WORDS), row_ids="id", **options)


def built(path, **options):
    io.build(halves(WORDS), None, path, row_ids="id", **options)


def built_of_arrays(path, **options):
    io.build([entries(part) for part in halves(WORDS)], None, path, row_ids="id", **options)


DOORS = {
    "joint dict": joint,
    "joint dict of arrays": joint_of_arrays,
    "with_key": key_by_key,
    "with_key of a dataset": keys_of_a_dataset,
    "save": saved,
    "Writer": written(io.Writer, halves(WORDS)),
    "Writer of arrays": written(io.Writer, [entries(part) for part in halves(WORDS)]),
    "ShardWriter": written(shards, halves(WORDS)),
    "ShardWriter of arrays": written(shards, [entries(part) for part in halves(WORDS)]),
    "build": built,
    "build of arrays": built_of_arrays,
}


def opened(path):
    """The rows, with the words of all files."""
    ds = vl.open(path)
    assert len(ds.batch(range(len(ds))))
    return ds


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("padding_id", [True, False])
def test_every_door_reserves_id_0_unless_told_otherwise(tmp_path, door, padding_id):
    path = tmp_path / "a.nrt"
    DOORS[door](path, **({} if padding_id else {"padding_id": False}))
    ds = opened(path)
    expected = IDS if padding_id else {key: [w for w in words if w != "[PAD]"] for key, words in IDS.items()}
    assert {key: list(ds.fields[key].vocabulary) for key in IDS} == expected
    assert [ds.fields[key].padding_id for key in IDS] == [0 if padding_id else None] * 2 + [None]
    assert [row.to_list()["code"] for row in map(ds.__getitem__, range(3))] == WORDS["code"]
    words = np.array(ds.fields["code"].vocabulary)[ds.batch([0, 1, 2], max_len=3)["code"]]
    hole = "[PAD]" if padding_id else "b"
    assert words.tolist() == [["b", "a"], [hole, hole], ["b", hole]]
    for file in [path] if path.is_file() else sorted(path.glob("*.nrt")):
        io.open_file(file).validate()


@pytest.mark.parametrize("door", DOORS)
def test_padding_id_is_a_bool(tmp_path, door):
    with pytest.raises(TypeError, match="padding_id: expected True or False"):
        DOORS[door](tmp_path / "a.nrt", padding_id=np.zeros(2))


def test_a_vocabulary_that_is_there_stays_as_it_is(tmp_path):
    """One that was given, one that rows bring with their ids, that of a file which is written again."""
    given = {"code": ["x", "b"]}
    closed = Joint({"code": [["b"], ["x"]]}, vocabularies=given)
    assert closed.vocabularies["code"] == ("x", "b")
    old = Joint(WORDS, schema=TEXT, padding_id=False)
    for make in (io.Writer, shards):
        for pieces, words in (
            ([{"code": [["a"]]}], ("x", "b", "a")),
            ([closed, {"code": [["a"]]}], ("x", "b", "a")),
        ):
            path = tmp_path / f"{make.__name__}{len(pieces)}"
            with make(path, vocabularies=given) as writer:
                for piece in pieces:
                    writer.append(piece)
            assert opened(path).fields["code"].vocabulary == words
        path = tmp_path / make.__name__
        with make(path) as writer:
            writer.append(old)
            writer.append({key: values[:1] for key, values in WORDS.items()})
        assert vl.open(path).fields["code"].vocabulary == ("b", "a")
        assert vl.open(path).fields["code"].padding_id is None
    same = vl.open(path).save(tmp_path / "again.nrt")
    assert same is None
    assert vl.open(tmp_path / "again.nrt").fields["sex"].vocabulary == ("m", "f")
    none = {"code": []}
    with io.Writer(tmp_path / "none.nrt", vocabularies=none) as writer:
        writer.append({"code": [["a"]], "sex": ["f"]})
    fields = vl.open(tmp_path / "none.nrt").fields
    assert (fields["code"].vocabulary, fields["sex"].vocabulary) == (("a",), ("[PAD]", "f"))


def test_the_word_itself_keeps_its_id(tmp_path):
    rows = {"code": [["a", "[PAD]"], ["[PAD]", "b"]]}
    J = Joint(rows, schema={"code": str})
    with io.Writer(tmp_path / "a.nrt") as writer:
        writer.append(rows)
    for one in (J, Joint(tensors_fp=tmp_path / "a.nrt")):
        assert one.vocabularies["code"] == ("[PAD]", "a", "b")
        assert one.to_list() == rows


def test_a_build_goes_on_with_the_words_that_are_there(tmp_path):
    """Ids of partitions that were built without padding stay; new ones bring it, after the words."""
    parts = halves(WORDS)
    io.build(parts[:1], None, tmp_path / "old", padding_id=False)
    before = vl.open(tmp_path / "old").fields["code"].vocabulary
    with pytest.raises(FileExistsError, match="other options"):
        io.build(parts, None, tmp_path / "old")
    io.build(parts, None, tmp_path / "old", padding_id=False)
    after = vl.open(tmp_path / "old").fields["code"].vocabulary
    assert after[: len(before)] == before == ("b", "a")
    account = vl.open(io.build(parts, None, tmp_path / "new").paths).account
    assert account.columns["code"].result.words == 3


def test_map_makes_words_with_padding_and_leaves_those_that_came_with_ids(tmp_path):
    joint(tmp_path / "a.nrt", padding_id=False)
    ds = vl.open(tmp_path / "a.nrt")
    kept = ds.map(lambda row: row, tmp_path / "kept.nrt")
    assert kept.fields["code"].vocabulary == ("b", "a")
    for batched in (False, True):
        made = ds.map(
            lambda rows: rows.to_list(), tmp_path / f"made{batched}.nrt", batched=batched, batch_size=2
        )
        words = {key: list(made.fields[key].vocabulary) for key in IDS}
        assert words == IDS
        assert [row.to_list()["code"] for row in map(made.__getitem__, range(3))] == WORDS["code"]


def test_parts_with_and_without_padding_have_one_vocabulary_together():
    with_it, without = Joint(WORDS, schema=TEXT), Joint(WORDS, schema=TEXT, padding_id=False)
    for parts, words in (
        ([with_it, without], ("[PAD]", "b", "a")),
        ([without, with_it], ("b", "a", "[PAD]")),
    ):
        both = Joint.concatenate(parts)
        assert both.vocabularies["code"] == words
        assert both.to_list()["code"] == 2 * WORDS["code"]
        dense = both.to_dense()
        assert {words[i] for i in dense["code"][~dense["dim1/mask"]]} == {"[PAD]"}


LAST = {"vocabularies": {"kind": ["x", "y", "[PAD]"], "code": ["a", "[PAD]", "b"]}}
NESTED = {"kind": [["x", "y"], ["x"]], "code": [[["a", "b"], ["a"]], [["b", "b"]]], "t": [[1.5, 2.5], [0.5]]}


@pytest.mark.parametrize("fill_mode", ["first", "nan"])
@pytest.mark.parametrize("place", ["memory", "file"])
def test_places_that_flatten_leaves_empty_hold_padding(tmp_path, fill_mode, place):
    J = Joint(NESTED, **LAST)
    if place == "file":
        J.save(tmp_path / "a.nrt")
        J = Joint(tensors_fp=tmp_path / "a.nrt")
    assert J.flatten(fill_mode=fill_mode).to_list()["kind"] == [["x", "[PAD]", "y"], ["x", "[PAD]"]]
    twice = J.flatten(fill_mode=fill_mode).flatten(fill_mode=fill_mode).to_list()
    assert twice["kind"] == ["x", "[PAD]", "y", "x", "[PAD]"]
    ds = vl.Dataset(J)
    how = {"flatten": True, "fill_mode": fill_mode}
    batch = ds.batch([0, 1], **how)
    assert batch["kind"].tolist() == [[0, 2, 1], [0, 2, 2]]
    assert batch["code"].tolist() == [[0, 2, 0], [2, 2, 1]]
    hole = 0 if fill_mode == "first" else np.nan
    np.testing.assert_array_equal(batch["t"], np.float32([[1.5, hole, 2.5], [0.5, hole, 0]]))
    assert ds.batch([0, 1], layout="ragged", **how)["kind"].tolist() == [0, 2, 1, 0, 2]
    assert ds.batch([0, 1], layout="named", **how)["kind"].values.tolist() == [0, 2, 1, 0, 2]
    assert ds.batch([0, 1], fill={"kind": "y"}, **how)["kind"].tolist() == [[0, 1, 1], [0, 1, 1]]
    assert ds.batch([0, 1], start=[0, 0], end=[3, 1], **how)["kind"].tolist() == [[0, 2, 1], [0, 2, 2]]
    floats = ds.batch([0, 1], dtype={"kind": "float32"}, **how)["kind"]
    between = 2 if fill_mode == "first" else np.nan
    np.testing.assert_array_equal(floats, np.float32([[0, between, 1], [0, between, 2]]))
    packed = ds.batch([0, 1], layout="packed", pad_to=6, keys=["kind", "code"], **how)
    assert packed["kind"].tolist() == [[0, 2, 1, 0, 2, 2]]


def test_rows_between_have_the_bytes_of_those_beside_them():
    """Of the core, which reads as many bytes as its own rows have."""
    joint = Joint(NESTED, **LAST).__varlen_joint__()
    for row in (np.zeros((1, 2), "u1"), np.zeros(1, "u8"), np.zeros(2, "u1")):
        with pytest.raises(ValueError, match="between of 'kind': expected one row like those of its values"):
            joint.flatten("first", {"kind": row})
    fill = np.zeros(1, "u1")
    with pytest.raises(ValueError, match="kind: the row between is not like that of padding"):
        _core.Batcher([joint], [""], None, None, ["kind"], [1], [fill], [None], {}, [np.zeros(1, "u8")])
    flat = joint.flatten("first", {"kind": np.full(1, 9, "u1")})
    assert flat.values("kind").tolist() == [0, 9, 1, 0, 9]


def test_data_with_a_vocabulary_is_padded_with_its_word():
    ds = vl.Dataset(Joint(NESTED, **LAST))
    named = ds.batch([0, 1], layout="named")
    kind = named["kind"]
    assert kind.vocab.labels == ("x", "y", "[PAD]")
    assert kind.to_padded().tolist() == [[0, 1], [0, 2]] == kind.padded().values.tolist()
    assert kind.to_padded(fill=0).tolist() == [[0, 1], [0, 0]]
    assert named["t"].to_padded().tolist() == [[1.5, 2.5], [0.5, 0]]
    assert named["code"].to_padded().tolist() == [[[0, 2], [0, 1]], [[2, 2], [1, 1]]]


def test_positions_that_dims_add_hold_padding():
    """At the ends of rows, where rows are moved on, and where windows reach out of them."""
    named = vl.Dataset(Joint(NESTED, **LAST)).batch([0, 1], layout="named")
    kind, t = named["kind"], named["t"]
    assert vl.dims.pad(kind, "dim1", 1, 1).to_list() == [[2, 0, 1, 2], [2, 0, 2]]
    assert vl.dims.shift(kind, "dim1", 1).to_list() == [[2, 0], [2]]
    width = vl.Dim("width", 2)
    assert vl.dims.window(kind, "dim1", width).to_list() == [[[0, 1], [1, 2]], [[0, 2]]]
    assert vl.dims.pad(kind, "dim1", 1, value=0).to_list() == [[0, 0, 1], [0, 0]]
    assert vl.dims.pad(t, "dim1", 1).to_list() == [[0, 1.5, 2.5], [0, 0.5]]
    rf = pytest.importorskip("varlen.returnn.frontend")
    dim = kind.axis("dim1")
    assert rf.pad(kind, axes=[dim], padding=[(1, 0)])[0].to_list() == [[2, 0, 1], [2, 0]]
    assert rf.window(kind, spatial_dim=dim, window_dim=width)[0].to_list() == [[[0, 1], [1, 2]], [[0, 2]]]


def test_data_of_returnn_is_padded_with_its_word():
    returnn = pytest.importorskip("varlen.returnn")
    time = vl.Dim("time", lengths=[2, 1])
    words = vl.Dim(name="words", kind="feature", vocab=["x", "y", "[PAD]"])
    raw = np.array([[0, 1], [0, 0]], np.int32)
    x = returnn.Tensor("x", [vl.dims.batch_dim, time], "int32", sparse_dim=words, raw_tensor=raw)
    assert x.to_padded().tolist() == [[0, 1], [0, 2]]


def test_samples_of_words_are_padded_with_theirs():
    J = Joint(NESTED, **LAST)
    batch = vl.data.Collate()([J[0], J[1]])
    assert batch["kind"].tolist() == [[0, 1], [0, 2]]
    assert J.to_dense()["code"].tolist() == [[[0, 2], [0, 1]], [[2, 2], [1, 1]]]


def test_strings_of_arrow_leave_id_0_to_padding():
    pa = pytest.importorskip("pyarrow")
    from varlen.interop.arrow import from_arrow, to_arrow

    rows = [["b", "a"], [], ["b"]]
    column = from_arrow(pa.array(rows))
    assert (column.values.tolist(), column.vocabulary) == ([1, 2, 1], ("[PAD]", "b", "a"))
    assert to_arrow(column.values, column.levels, column.vocabulary).to_pylist() == rows
    assert vl.Ragged(column.values, levels=column.levels).to_dense().tolist() == [[1, 2], [0, 0], [1, 0]]
    plain = from_arrow(pa.array(rows), padding_id=False)
    assert (plain.values.tolist(), plain.vocabulary) == ([0, 1, 0], ("b", "a"))
    own = from_arrow(pa.array(rows, pa.list_(pa.dictionary(pa.int8(), pa.string()))))
    assert own.vocabulary == ("b", "a")
    with pytest.raises(TypeError, match="padding_id: expected True or False"):
        from_arrow(pa.array(rows), padding_id=np.zeros(2))


def test_info_says_which_keys_have_a_padding_id(tmp_path, capsys):
    from varlen.cli import main

    joint(tmp_path / "new.nrt")
    joint(tmp_path / "old.nrt", padding_id=False)
    for name, padding in (("new", 0), ("old", None)):
        assert main(["info", str(tmp_path / f"{name}.nrt"), "--json"]) in (0, None)
        keys = json.loads(capsys.readouterr().out)["keys"]
        assert keys["code"]["padding_id"] == padding
        assert keys["id"]["padding_id"] is None


def test_files_with_and_without_padding_are_not_opened_together(tmp_path):
    joint(tmp_path / "new.nrt")
    joint(tmp_path / "old.nrt", padding_id=False)
    text = r"key 'code' .* another vocabulary, one of the two with '\[PAD\]' at 0; padding_id= says which"
    with pytest.raises(io.FileFormatError, match=rf"old\.nrt: {text}"):
        vl.open([tmp_path / "new.nrt", tmp_path / "old.nrt"])


def test_numbers_beside_words_are_shown_a_word_of_the_rows(tmp_path):
    with io.Writer(tmp_path / "a.nrt") as writer:
        writer.append({"code": [["b"]]})
        with pytest.raises(ValueError, match="the pieces before hold words such as 'b'"):
            writer.append({"code": [[1]]})
    with io.Writer(tmp_path / "a.nrt") as writer:
        writer.append({"code": [[1]]})
        with pytest.raises(ValueError, match="code: 'b' is a word, the pieces before hold numbers"):
            writer.append({"code": [["b"]]})
