"""Keys of several files and datasets as one: what lists would give, at every door, and levels that agree."""

import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen import io

BASE = {"id": [7, 3, 9, 5, 1], "code": [[1, 2], [], [3], [4, 5, 6], [7]]}
MORE = {"score": [[0.5, 1], [], [2], [3, 4, 5], [6]], "deep": [[[1], []], [], [[2, 3]], [[4], [5], []], [[]]]}
BOTH = {**BASE, **MORE}


def folder(path, rows, size, **options):
    with io.ShardWriter(path, size, durable=False, **options) as writer:
        writer.append(rows)
    return vl.open(path)


@pytest.fixture(params=["shards", "one file", "memory", "unmapped", "view", "chain"])
def base(request, tmp_path):
    joint = vl.JointNestedRaggedTensorDict(BASE, schema={"id": np.int64, "code": np.int64})
    if request.param == "memory":
        return vl.Dataset(joint)
    if request.param == "chain":
        return vl.Dataset(joint[:2]).concat(vl.Dataset(joint[2:]))
    if request.param == "view":
        return vl.Dataset(vl.Dataset(joint)[[4, 3, 2, 1, 0]]).select([4, 3, 2, 1, 0])
    if request.param == "one file":
        joint.save(tmp_path / "base.nrt")
        return vl.open(tmp_path / "base.nrt")
    folder(tmp_path / "base", joint, 2)
    return vl.open(tmp_path / "base", mmap=request.param == "shards")


@pytest.fixture(params=[1, 2, 3, 9])
def other(request, tmp_path):
    folder(tmp_path / "more", MORE, request.param)
    return tmp_path / "more"


def same(one, two):
    assert one.keys() == two.keys()
    for name in one:
        np.testing.assert_array_equal(np.asarray(one[name]), np.asarray(two[name]), err_msg=name)


def whole():
    schema = {"id": np.int64, "code": np.int64, "score": float, "deep": np.int64}
    return vl.Dataset(vl.JointNestedRaggedTensorDict(BOTH, schema=schema))


def test_keys_of_a_file_beside_others_are_as_if_they_were_of_one(base, other):
    ds, expected = base.with_file(other), whole()
    assert ds.keys() == ["id", "code", "score", "deep"]
    assert (len(ds), ds.depth) == (5, 2)
    assert ds[:].to_list() == BOTH
    assert [ds[i].to_list() for i in (0, 1, -1)] == [expected[i].to_list() for i in (0, 1, -1)]
    assert ds[[4, 0, 0]].to_list() == expected[[4, 0, 0]].to_list()
    assert ds[3:1:-1].to_list() == expected[3:1:-1].to_list()
    assert ds["deep"].to_list() == BOTH["deep"]
    assert ds["id"].tolist() == BASE["id"]
    assert ds.lengths_at(2).tolist() == expected.lengths_at(2).tolist()
    for how in (
        {},
        {"max_len": 2, "padding_side": "left"},
        {"keys": ["score"]},
        {"keys": ["id"]},
        {"keys": ["deep", "id"], "layout": "ragged"},
        {"flatten": True},
        {"max_len": 1, "window": "random", "seed": 3},
        {"start": [0, 1, 0], "end": [1, 3, 9]},
        {"layout": "packed", "pad_to": 6, "keys": ["code", "score"]},
    ):
        same(ds.batch([3, 0, 2], **how), expected.batch([3, 0, 2], **how))
    same(ds.batch([], keys=["score"]), expected.batch([], keys=["score"]))
    assert ds.select([2, 0]).with_key("y", [1, 2])[:].to_list() == {
        **expected[[2, 0]].to_list(), "y": [1, 2],
    }  # fmt: skip


def test_they_go_through_loops_pickles_views_and_files(base, other, tmp_path):
    ds, expected = base.with_file(other), whole()
    for each in (ds, pickle.loads(pickle.dumps(ds))):
        batches, wanted = each.epoch(2, shuffle=True, seed=1), expected.epoch(2, shuffle=True, seed=1)
        for one, two in zip(batches, wanted, strict=True):
            same(one, two)
        loader = vl.data.Loader(each, 2)
        assert [b["score"].shape[0] for b in loader] == [2, 2, 1]
        again = vl.data.Loader(each, 2)
        again.load_state_dict(loader.state_dict())
    assert ds.filter(min_len=2)[:].to_list() == expected.filter(min_len=2)[:].to_list()
    assert ds.concat(ds)[7].to_list() == expected[2].to_list()
    assert str(ds).splitlines()[0].startswith("Dataset(5 rows")
    assert ds.describe()["name"] == expected.describe()["name"]
    assert "score" in ds._repr_html_()
    ds.save(tmp_path / "out.nrt")
    assert vl.open(tmp_path / "out.nrt")[:].to_list() == BOTH
    ds.account.check()
    vl.open(tmp_path / "out.nrt").account.check()
    assert ds.map(lambda row: {"n": [len(row["score"])]}, tmp_path / "map.nrt")["n"].to_list() == [
        [2],
        [0],
        [1],
        [3],
        [1],
    ]


def test_tensors_and_workers(base, other):
    torch = pytest.importorskip("torch")
    ds = base.with_file(other)
    batch = ds.batch([0, 3], framework="torch")
    assert isinstance(batch["score"], torch.Tensor)
    assert batch["score"].tolist() == [[0.5, 1, 0], [3, 4, 5]]
    loader = torch.utils.data.DataLoader(
        ds,
        batch_size=2,
        num_workers=1,
        collate_fn=ds.collator(framework="torch"),
        multiprocessing_context="fork",
    )
    assert [b["code"].tolist() for b in loader][1] == [[3, 0, 0], [4, 5, 6]]


def test_aligned_files_are_views(tmp_path):
    folder(tmp_path / "a", BASE, 2)
    folder(tmp_path / "b", MORE, 3)
    ds = vl.open(tmp_path / "a").with_file(tmp_path / "b")
    assert ds.source.mmap
    assert ds.source.counts.tolist() == [2, 1, 1, 1]
    for shard in range(4):
        joint = ds.source.joint(shard)
        assert not joint.values("score").flags.owndata
        assert ds.source.joint(shard) is joint
    row = ds[3]
    assert np.shares_memory(row["score"], ds.source._parts[1].values(1, "score"))


def test_rows_are_found_by_their_ids(base):
    order = [4, 2, 0, 1, 3]
    rows = {
        "id": [BASE["id"][i] for i in order] + [100],
        "score": [MORE["score"][i] for i in order] + [[9.0]],
    }
    other = vl.Dataset(vl.JointNestedRaggedTensorDict(rows))
    expected = {**BASE, "score": MORE["score"]}
    ds = base.join(other, on="id")
    assert ds[:].to_list() == expected
    assert ds[[1, 4]].to_list() == {name: [rows[1], rows[4]] for name, rows in expected.items()}
    same(ds.batch([3, 1], max_len=2), whole().batch([3, 1], max_len=2, keys=["id", "code", "score"]))
    assert pickle.loads(pickle.dumps(ds))[:].to_list() == expected
    assert base.join(other.select([5, 4, 3, 2, 1, 0]), on="id")[:].to_list() == expected
    assert base.select([2, 0]).join(other, on="id")["score"].to_list() == [[2], [0.5, 1]]
    ds.account.check()


def test_row_ids_and_words_are_ids(tmp_path):
    one = folder(tmp_path / "a", {"who": ["ann", "bob", "cid"], "x": [[1], [2], [3]]}, 2, row_ids="who")
    two = folder(tmp_path / "b", {"name": ["cid", "ann", "bob"], "y": [3, 1, 2]}, 2, row_ids="name")
    ds = one.join(two)
    assert ds[:].to_list() == {
        "who": ["ann", "bob", "cid"],
        "x": [[1], [2], [3]],
        "name": ["ann", "bob", "cid"],
        "y": [1, 2, 3],
    }
    assert ds.rows_of(["cid"]).tolist() == [2]
    assert two.join(one)["x"].to_list() == [[3], [1], [2]]
    with pytest.raises(ValueError, match="on: the ids of the other are numbers, here text"):
        one.join(vl.Dataset(vl.JointNestedRaggedTensorDict({"who": [1], "z": [2]})), on="who")


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_rows_joined_are_lists_side_by_side(data):
    lengths = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=9))
    n = len(lengths)
    base = {"id": list(range(n)), "x": [list(range(k)) for k in lengths]}
    more = {
        "y": [[v + 0.5 for v in row] for row in base["x"]],
        "z": [[[v] * (v % 3) for v in row] for row in base["x"]],
    }
    schema = {"id": np.int64, "x": np.int64, "y": float, "z": np.int64}
    joint = vl.JointNestedRaggedTensorDict(base, schema={k: schema[k] for k in base})
    order = data.draw(st.permutations(range(n)))
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        rows = vl.JointNestedRaggedTensorDict(more, schema={k: schema[k] for k in more})
        folder(path / "a", joint, data.draw(st.integers(1, 5)))
        folder(path / "b", rows, data.draw(st.integers(1, 5)))
        ds = vl.open(path / "a").with_file(path / "b")
        assert ds[:].to_list() == {**base, **more}
        mixed = {
            "id": [base["id"][i] for i in order],
            **{k: [rows[i] for i in order] for k, rows in more.items()},
        }
        other = vl.Dataset(vl.JointNestedRaggedTensorDict(mixed, schema={k: schema[k] for k in mixed}))
        got = vl.open(path / "a").join(other, on="id")
        assert got[:].to_list() == {**base, **more}
        picks = data.draw(st.lists(st.integers(0, n - 1), max_size=5))
        for each in (ds, got):
            expected = {k: [v[i] for i in picks] for k, v in {**base, **more}.items()}
            assert each[picks].to_list() == expected


def test_sequences_that_differ_are_named_with_both_numbers(base, tmp_path):
    rows = {"score": [[0.5, 1], [], [2], [3, 4], [6]]}
    vl.JointNestedRaggedTensorDict(rows).save(tmp_path / "b.nrt")
    with pytest.raises(
        ValueError, match=r"b\.nrt: row 3 has a sequence of 2 in 'score', but of 3 in 'code'"
    ) as error:
        base.with_file(tmp_path / "b.nrt")
    assert error.value.row == 3
    deep = {"deep": [[[1], []], [], [[2, 3]], [[4], [5], []], [[]]]}
    also = {"other": [[[1], []], [], [[2, 3]], [[4], [], [5]], [[]]]}
    for name, each in (("c", deep), ("d", also)):
        vl.JointNestedRaggedTensorDict(each).save(tmp_path / f"{name}.nrt")
    with pytest.raises(ValueError, match=r"row 3 has a sequence of 0 in 'other', but of 1 in 'deep'"):
        base.with_file(tmp_path / "c.nrt").with_file(tmp_path / "d.nrt")


@pytest.mark.parametrize("ids", [[7, 3, 9, 5], ["p", "q", "r", "s"]])
def test_ids_that_keys_leave_out_are_compared_all_the_same(tmp_path, ids):
    def opened(name, key, rows, is_hidden):
        if not (tmp_path / name).exists():
            with io.ShardWriter(tmp_path / name, 1, row_ids="id") as writer:  # words that go on
                writer.append({"id": rows, key: [[row] * 2 for row in range(4)]})
        return vl.open(tmp_path / name, keys=[key] if is_hidden else None)

    turned = {"y": [[3, 3], [2, 2], [1, 1], [0, 0]]}
    for is_hidden in (True, False):
        ds = opened("base", "x", ids, is_hidden)
        other = opened("other", "y", ids[::-1], True)
        assert ds.join(other)["y"].to_list() == turned["y"]
        with pytest.raises(ValueError, match=f"row 0 has the id {ids[3]} in 'id', but {ids[0]} here"):
            ds.with_file(tmp_path / "other", keys=["y"])
        opened("same", "y", ids, True)
        both = ds.with_file(tmp_path / "same", keys=["y"])
        assert both["y"].to_list() == turned["y"][::-1]
        assert both.rows_of([ids[2], ids[0]]).tolist() == [2, 0]
    hidden = opened("base", "x", ids, True).concat(opened("more", "x", ids, True).select([]))
    with pytest.raises(ValueError, match=r"^ids: some or all of these rows have no ids"):
        hidden.rows_of(ids[3:])


def test_what_does_not_fit_is_refused(base, tmp_path):
    vl.JointNestedRaggedTensorDict({"score": [[1.0], []]}).save(tmp_path / "short.nrt")
    with pytest.raises(ValueError, match=r"short\.nrt: 2 rows, but there are 5: row 2 is only here"):
        base.with_file(tmp_path / "short.nrt")
    vl.JointNestedRaggedTensorDict({"code": BASE["code"]}).save(tmp_path / "twin.nrt")
    with pytest.raises(ValueError, match=r"twin\.nrt: both have a key 'code'; open one with keys"):
        base.with_file(tmp_path / "twin.nrt")
    with pytest.raises(FileNotFoundError):
        base.with_file(tmp_path / "none.nrt")
    other = vl.Dataset(vl.JointNestedRaggedTensorDict({"id": [7, 3, 9, 5], "age": [1, 2, 3, 4]}))
    with pytest.raises(KeyError, match="other: 1 at position 4 is no row's id") as error:
        base.join(other, on="id")
    assert error.value.row == 4
    twice = vl.Dataset(vl.JointNestedRaggedTensorDict({"id": [7, 3, 9, 5, 1, 7], "age": [1, 2, 3, 4, 5, 6]}))
    with pytest.raises(ValueError, match="other: rows 0 and 5 both have the id 7"):
        base.join(twice, on="id")
    with pytest.raises(ValueError, match="on: these rows have no ids"):
        base.join(other)
    with pytest.raises(KeyError, match="'age' is no key of these rows"):
        base.join(other, on="age")
    for on in ([1], np.array(["id"]), 3):
        with pytest.raises(TypeError, match="on: keys are strings"):
            base.join(other, on=on)
    with pytest.raises(TypeError, match="other: expected a Dataset, got dict"):
        base.join({"id": [7]}, on="id")


def test_ids_that_are_in_both_files_agree(tmp_path):
    ds = folder(tmp_path / "a", BASE, 2, row_ids="id")
    folder(tmp_path / "b", {"id": BASE["id"], "age": [1, 2, 3, 4, 5]}, 3, row_ids="id")
    assert ds.with_file(tmp_path / "b")[:].to_list() == {**BASE, "age": [1, 2, 3, 4, 5]}
    folder(tmp_path / "c", {"id": [7, 3, 5, 9, 1], "age": [1, 2, 3, 4, 5]}, 3, row_ids="id")
    with pytest.raises(ValueError, match=r"c: row 2 has the id 5 in 'id', but 9 here; join"):
        ds.with_file(tmp_path / "c")
    assert ds.join(vl.open(tmp_path / "c"))["age"].tolist() == [1, 2, 4, 3, 5]


def test_joined_files_grow_together(tmp_path):
    ds = folder(tmp_path / "a", BASE, 2)
    folder(tmp_path / "b", MORE, 3)
    both = ds.with_file(tmp_path / "b")
    with io.ShardWriter(tmp_path / "a", 2, append=True) as writer:
        writer.append({"id": [2], "code": [[8]]})
    with pytest.raises(ValueError, match=r"reload: .*a with .* has 6 rows, .*b with .* has 5; add"):
        both.reload()
    with io.ShardWriter(tmp_path / "b", 2, append=True) as writer:
        writer.append({"score": [[7.0]], "deep": [[[]]]})
    grown = both.reload()
    assert grown.new_rows == range(5, 6)
    assert grown[5].to_list() == {"id": 2, "code": [8], "score": [7.0], "deep": [[]]}


def test_checksums_are_compared_in_all_files(tmp_path):
    folder(tmp_path / "a", BASE, 2, checksums=True)
    folder(tmp_path / "b", MORE, 9, checksums=True)
    path = tmp_path / "b" / "part-00000.nrt"
    raw = bytearray(path.read_bytes())
    offset = bytes(raw).rindex(np.array([0.5, 1.0, 2.0]).tobytes())
    raw[offset] ^= 1
    path.write_bytes(raw)
    both = vl.open(tmp_path / "a", verify="read").with_file(tmp_path / "b", verify="read")
    assert both.batch([0], keys=["code", "deep"])["code"].tolist() == [[1, 2]]
    with pytest.raises(io.ChecksumError, match="score"):
        both.batch([0], keys=["score"])


# Batches of rows that lie in another order.

DTYPES = {"id": "int64", "x": "int64", "y": "float32", "z": "int64", "age": "int64"}
HOW = [
    {},
    {"layout": "ragged"},
    {"layout": "ragged", "cu_seqlens": False, "parts": True},
    {"layout": "packed", "pad_to": 5, "keys": ["x", "y"]},
    {"layout": "named"},
    {"max_len": 2, "window": "random", "seed": 3, "windows": True, "epoch": 2},
    {"max_len": 2, "truncate": "left", "padding_side": "left", "lengths": True, "positions": True},
    {"max_len": (2, 1)},
    {"keys": ["z", "age", "id"], "masks": False},
    {"keys": ["y"]},
    {"keys": ["age", "id"]},
    {"keys": ["age", "x"], "max_len": 1, "windows": True},
    {"dtype": {"y": "float64", "x": "int32"}, "fill": {"y": -1, "x": 7}, "pad_to": 5},
    {"nan": {"y": 9}, "dtype": "float32"},
    {"flatten": True, "keys": ["z", "age"]},
    {"flatten": True, "layout": "packed", "pad_to": 6, "max_len": 6},
    {"flatten": True, "layout": "named"},
    {"framework": "torch", "lengths": True},
    {"prefix": {"x": [5]}},
    {"max_bytes": 10**6, "pad_to_multiple_of": 4},
]


def alike(one, two):
    """The same arrays in the same order."""
    assert list(one) == list(two)
    is_named = isinstance(one, vl.dims.DataDict)
    for name in one:
        left, right = (each[name].values if is_named else each[name] for each in (one, two))
        assert np.asarray(left).dtype == np.asarray(right).dtype
        np.testing.assert_array_equal(np.asarray(left), np.asarray(right), err_msg=name)


def in_another_order(kind, folder_of, rows, order):
    """The rows of a whole dataset as a join: `y`, `z` and `age` lie in another order, or `z` and `age`."""
    here = ("id", "x", "y") if kind == "deep" else ("id", "x")
    own = {key: rows[key] for key in here}
    other = {key: rows[key] for key in rows if key == "id" or key not in here}
    if kind != "beside":
        other = {key: [values[i] for i in order] for key, values in other.items()}
    one, two = (
        vl.JointNestedRaggedTensorDict(part, schema={key: np.dtype(DTYPES[key]) for key in part})
        for part in (own, other)
    )
    if kind == "memory":
        return vl.Dataset(one).join(vl.Dataset(two), on="id")
    size = {"files": 100, "deep": 3}.get(kind, 2)
    is_small = {"compress": kind in ("compressed", "beside")}
    one, two = (
        folder(folder_of / "a", one, size, **is_small),
        folder(folder_of / "b", two, size + 1, **is_small),
    )
    if kind == "beside":
        return one.with_file(folder_of / "b", keys=["y", "z", "age"])
    if kind == "unmapped":
        two = vl.open(folder_of / "b", mmap=False)
    return one.join(two, on="id")


ROWS = {
    "id": list(range(7)),
    "x": [[i] * n for i, n in enumerate((3, 0, 1, 5, 2, 4, 1))],
    "y": [[i + 0.5 if i % 2 else float("nan")] * n for i, n in enumerate((3, 0, 1, 5, 2, 4, 1))],
    "z": [[[i] * (j % 3) for j in range(n)] for i, n in enumerate((3, 0, 1, 5, 2, 4, 1))],
    "age": [40 + i for i in range(7)],
}


def one_dataset():
    schema = {key: np.dtype(DTYPES[key]) for key in ROWS}
    return vl.Dataset(vl.JointNestedRaggedTensorDict(ROWS, schema=schema))


@pytest.mark.parametrize("kind", ["memory", "files", "shards", "unmapped", "deep", "compressed", "beside"])
@pytest.mark.parametrize("how", HOW)
def test_batches_in_another_order_are_those_of_one_dataset(tmp_path, kind, how):
    if "framework" in how:
        pytest.importorskip("torch")
    whole = one_dataset()
    ds = in_another_order(kind, tmp_path, ROWS, [4, 1, 6, 0, 2, 5, 3])
    for rows in ([3, 0, 6, 3], [1], [], np.array([-1, 2]), slice(1, 5)):
        alike(ds.batch(rows, **how), whole.batch(rows, **how))
    view, whole_view = ds.select([5, 5, 2, 0]), whole.select([5, 5, 2, 0])
    alike(view.batch([0, 3, 1], **how), whole_view.batch([0, 3, 1], **how))
    alike(
        view.batch([3, 2], **{**how, "seed": np.random.default_rng(1)}),
        whole_view.batch([3, 2], **{**how, "seed": np.random.default_rng(1)}),
    )
    if how.get("layout") not in ("packed", "named") and "prefix" not in how and "seed" not in how:
        buffers = vl.data.Buffers()
        alike(ds.batch([2, 0], out=buffers, **how), whole.batch([2, 0], **how))
        alike(ds.batch([2, 3, 0], out=buffers, **how), whole.batch([2, 3, 0], **how))
    again = pickle.loads(pickle.dumps(ds))
    alike(again.batch([6, 3], **how), whole.batch([6, 3], **how))


def test_windows_of_rows_in_another_order_may_be_given(tmp_path):
    ds = in_another_order("shards", tmp_path, ROWS, [4, 1, 6, 0, 2, 5, 3])
    whole = one_dataset()
    how = {"start": [1, 0], "end": [3, 2], "windows": True}
    alike(ds.batch([3, 0], **how), whole.batch([3, 0], **how))
    loader = vl.data.Loader(ds, 3, shuffle=True, seed=1, threads=2, max_len=2, window="random")
    other = vl.data.Loader(whole, 3, shuffle=True, seed=1, max_len=2, window="random")
    for one, two in zip(loader, other, strict=True):
        alike(one, two)


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ({"keys": ["none"]}, KeyError),
        ({"dtype": {"none": "int64"}}, KeyError),
        ({"fill": {"none": 1}}, KeyError),
        ({"max_len": (1, 1, 1)}, ValueError),
        ({"fill": {"z": 0.5}}, (ValueError, OverflowError, TypeError)),
        ({"max_bytes": 1}, ValueError),
    ],
)
def test_options_that_do_not_fit_rows_in_another_order_are_refused(tmp_path, how, error):
    ds = in_another_order("shards", tmp_path, ROWS, [4, 1, 6, 0, 2, 5, 3])
    whole = one_dataset()
    with pytest.raises(error) as own:
        ds.batch([3, 0], **how)
    with pytest.raises(error) as expected:
        whole.batch([3, 0], **how)
    assert str(own.value) == str(expected.value)
    with pytest.raises(IndexError, match="7"):
        ds.batch([7])


def test_levels_of_rows_in_another_order_are_compared_where_they_are_read(tmp_path):
    ds = in_another_order("shards", tmp_path, ROWS, [4, 1, 6, 0, 2, 5, 3])
    source = pickle.loads(pickle.dumps(ds)).source
    part = source._parts[1]
    part._index[[0, 3]] = part._index[[3, 0]]
    with pytest.raises(ValueError, match="row 0 has a sequence of 5 in 'y', but of 3 in 'x'"):
        vl.Dataset(source).batch([0, 4])
    assert vl.Dataset(source).batch([4])["y"].shape == (1, 2)
