"""Batches: one call gives what loops over lists give, whatever the options and wherever the rows lie."""

import numpy as np
import pytest
from batches import Table, assert_same, expected, tables
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen import _core
from varlen.data import Buffers, Dataset
from varlen.joint import JointNestedRaggedTensorDict as Joint

SIDES = st.sampled_from(["left", "right"])


def rows_of(table, draw, most=6):
    n = table.counts[0]
    return draw(st.lists(st.integers(0, n - 1), max_size=most)) if n else []


def dataset(table, draw):
    """The same rows in one part, in several, trusted or not."""
    joint = table.joint(draw(st.booleans()))
    cut = draw(st.integers(0, table.counts[0]))
    parts = draw(st.sampled_from([[joint], [joint.slice(0, cut), joint.slice(cut, table.counts[0])]]))
    return Dataset(parts)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_batch_is_what_loops_give(data):
    draw = data.draw
    table = draw(tables())
    rows = rows_of(table, draw)
    windows = st.lists(st.integers(-5, 6), min_size=len(rows), max_size=len(rows))
    options = {
        "start": draw(st.none() | windows),
        "end": draw(st.none() | windows),
        "flatten": draw(st.booleans()),
        "fill_mode": draw(st.sampled_from(["first", "repeat", "nan"])),
        "padding_side": draw(SIDES),
        "truncate": draw(SIDES),
        "max_len": draw(st.none() | st.integers(0, 5)),
        "layout": draw(st.sampled_from(["padded", "ragged"])),
        "fill": draw(st.sampled_from([{}, {"a": 7, "x": np.nan, "w": -1.5}])),
    }
    result = dataset(table, draw).batch(np.array(rows, np.int64), **options)
    assert_same(result, expected(table, rows, options))


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_batch_joins_prefix_and_suffix(data):
    draw = data.draw
    table = draw(tables(least_rows=1))
    rows = rows_of(table, draw)
    flatten = draw(st.booleans())
    axes = 1 if flatten else table.depth
    names = [name for name, dim in table.dims.items() if dim > 0 and (flatten or dim == 1)]
    edges = {}
    for which in ("prefix", "suffix"):
        count = draw(st.integers(0, 3))
        lists = {name: [np.ones(table.values[name].shape[1:]) * 3] * count for name in names}
        edges[which] = lists if draw(st.booleans()) else {}
    given_edges = {
        which: {name: table.column(name, v) for name, v in lists.items()} or None
        for which, lists in edges.items()
    }
    for which, lists in edges.items():  # keys that a prefix lacks: filled at its own depth, empty below
        if lists:
            count = len(next(iter(lists.values())))
            edges[which] = {n: lists.get(n, [[]] * count) for n, d in table.dims.items() if d > 0}
    options = {
        "flatten": flatten,
        "padding_side": draw(SIDES),
        "max_len": draw(st.none() | st.integers(6, 9)),
    }
    result = Dataset(table.joint()).batch(rows, **options, **given_edges, parts=True)
    wanted = expected(table, rows, options | edges)
    assert_same(result, wanted)
    if axes:
        np.testing.assert_array_equal(result["dim1/part"] > 0, result["dim1/mask"])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_batch_casts_and_replaces_nan(data):
    draw = data.draw
    table = draw(tables())
    rows = rows_of(table, draw)
    options = {"flatten": draw(st.booleans()), "padding_side": draw(SIDES)}
    options["layout"] = draw(st.sampled_from(["padded", "ragged"]))
    options["fill_mode"] = draw(st.sampled_from(["first", "nan"]))
    dtype = {"a": np.int64, "x": np.float64, "y": np.float32}
    result = dataset(table, draw).batch(rows, **options, dtype=dtype, nan=-1, fill={"x": 5})
    wanted = expected(table, rows, options | {"fill": {"x": 5}})
    for name, to in dtype.items():
        wanted[name] = wanted[name].astype(to)
    floats = [name for name, values in table.values.items() if values.dtype.kind == "f"]
    for name in floats:
        axes = min(table.dims[name], 1) if options["flatten"] else table.dims[name]
        present = ~np.isnan(wanted[name])
        wanted[name] = np.where(present, wanted[name], wanted[name].dtype.type(-1))
        if options["layout"] == "padded" and axes:
            mask = result[f"dim{axes}/mask"]
            present &= mask.reshape(mask.shape + (1,) * (present.ndim - mask.ndim))
        wanted[f"{name}/mask"] = present
    assert_same(result, wanted)


@pytest.mark.parametrize("which", ["prefix", "suffix"])
def test_keys_that_an_edge_lacks_are_filled_beside_it(which):
    """With what the key is padded with."""
    ds = Dataset(Joint({"a": [[1], [2, 3]], "b": [[1.0], [2.0, 3.0]]}))
    result = ds.batch([0, 1], **{which: {"a": [9]}}, fill={"b": -1})
    rows = {"a": [[1], [2, 3]], "b": [[1.0], [2.0, 3.0]]}
    edge, pad = {"a": 9, "b": -1}, {"a": 0, "b": -1}
    for key, (one, two) in rows.items():
        joined = [[edge[key], *row] if which == "prefix" else [*row, edge[key]] for row in (one, two)]
        assert result[key].tolist() == [[*joined[0], pad[key]], joined[1]]


def test_batch_gives_offsets_of_every_level():
    table = Table([[2, 0], [], [1]], 2)
    result = Dataset(table.joint()).batch([2, 0, 1, 0], layout="ragged", positions=True)
    assert result["dim1/offsets"].tolist() == [0, 1, 3, 3, 5]
    assert result["dim2/offsets"].tolist() == [0, 1, 3, 3, 5, 5]
    assert result["dim1/cu_seqlens"].dtype == np.int32
    assert result["dim1/cu_seqlens"].tolist() == result["dim1/offsets"].tolist()
    assert result["dim1/max_length"] == 2
    assert result["dim1/positions"].tolist() == [0, 0, 1, 0, 1]


def test_batch_sizes_are_as_asked():
    table = Table([[2, 0, 3], [], [1]], 2)
    ds = Dataset(table.joint())
    assert ds.batch([0, 1], pad_to_multiple_of=4)["b"].shape == (2, 4, 3)
    assert ds.batch([0, 1], pad_to_multiple_of=[4, 2])["b"].shape == (2, 4, 4)
    assert ds.batch([0, 1], pad_to=[5, None])["b"].shape == (2, 5, 3)
    assert ds.batch([0, 1], max_len=[2, 1])["b"].shape == (2, 2, 1)
    kept = ds.batch([0], max_len=[None, 1], truncate="left")["b"]
    assert kept[0, 2, 0] == table.values["b"][4]
    assert ds.batch([], keys=["b"])["b"].shape == (0, 0, 0)
    assert ds.batch([1], keys=["b"])["b"].shape == (1, 0, 0)
    with pytest.raises(ValueError, match="pad_to: the longest sequence of axis 1 takes 3 slots, over 2"):
        ds.batch([0], pad_to=2)


def test_batch_reuses_buffers():
    table = Table([[2, 0, 3], [], [1]], 2)
    ds = Dataset(table.joint())
    wanted = ds.batch([0, 2])
    flat = {name: np.empty(array.size + 7, array.dtype) for name, array in wanted.items()}
    result = ds.batch([0, 2], out=flat)
    assert_same(result, wanted)
    assert all(np.shares_memory(result[name], flat[name]) for name in result)
    exact = {name: np.empty_like(array) for name, array in wanted.items()}
    assert ds.batch([0, 2], out=exact)["b"] is exact["b"]
    buffers = Buffers()
    ds.batch([2], out=buffers)
    assert_same(ds.batch([0, 2], out=buffers), wanted)
    first = dict(buffers)
    assert_same(ds.batch([0, 2], out=buffers), wanted)
    assert all(buffers[name] is array for name, array in first.items())


@pytest.mark.parametrize(
    ("out", "error", "text"),
    [
        ({"a": np.empty(9, np.int8)}, TypeError, r"out\['a'\]: has dtype int8, the batch gives uint8"),
        ({"a": np.empty(1, np.uint8)}, ValueError, r"out\['a'\]: has room for 1 entries, the batch needs 6"),
        ({"a": np.empty(99, np.uint8)[::2]}, ValueError, "C-contiguous"),
        ({"a": [0] * 6}, TypeError, r"out\['a'\]: expected an array, got list"),
        ({"q": np.empty(9)}, ValueError, "out: the batch has no 'q'"),
    ],
)
def test_batch_refuses_buffers_that_do_not_fit(out, error, text):
    ds = Dataset(Table([[2, 0, 3], [], [1]], 2).joint())
    with pytest.raises(error, match=text):
        ds.batch([0, 2], out=out)
    frozen = np.zeros(9, np.uint8)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="writeable"):
        ds.batch([0, 2], out={"a": frozen})
    assert not frozen.any()


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"keys": ["q"]}, KeyError, "keys: 'q' is not one of"),
        ({"keys": "a"}, TypeError, "keys: expected a list"),
        ({"padding_side": "up"}, ValueError, "padding_side: expected 'left' or 'right', got 'up'"),
        ({"window": "random"}, ValueError, "window: 'random' needs max_len"),
        (
            {"window": "middle", "max_len": 2},
            ValueError,
            "window: expected None, .* or 'balanced_random', got 'middle'",
        ),
        ({"max_len": -1}, ValueError, "max_len: expected at least 0, got -1"),
        ({"max_len": 1.5}, TypeError, "max_len: expected an int"),
        (
            {"max_len": [2, 1], "layout": "ragged"},
            ValueError,
            "max_len: a ragged batch cuts only its first axis",
        ),
        (
            {"pad_to": 4, "layout": "ragged"},
            ValueError,
            "pad_to: does not apply: a ragged batch has no padding",
        ),
        ({"fill": {"q": 1}}, KeyError, "fill: 'q' is not one of"),
        ({"fill": {"a": -1}}, ValueError, "fill of .a.: -1 does not fit uint8"),
        ({"fill": {"a": 1.5}}, ValueError, "fill of .a.: 1.5 does not fit uint8"),
        ({"nan": {"a": 0}}, ValueError, "nan: 'a' is uint8, which has no NaN"),
        (
            {"dtype": {"x": "int32"}},
            ValueError,
            "'x' row 0 holds a value that the dtype of the batch does not",
        ),
        ({"start": [0]}, ValueError, "start: has 1 entries for 2 rows"),
        ({"end": [0.5, 1.0]}, TypeError, "end: expected integers"),
        (
            {"max_bytes": 260},
            ValueError,
            r"b: the padded shape \(2, 3, 3\) of 4 bytes an entry takes the result to \d+",
        ),
        ({"prefix": {"q": [1]}}, KeyError, "prefix: 'q' is not a key of the batch"),
        ({"prefix": {"b": [1]}}, ValueError, "prefix: its keys have dims"),
        ({"prefix": {"a": [300]}}, ValueError, "prefix: 'a' row 0 holds a value"),
        ({"prefix": 5}, TypeError, "prefix: expected a JointNestedRaggedTensorDict, got int"),
        ({"seed": "x", "max_len": 1, "window": "random"}, TypeError, "seed: expected an int"),
    ],
)
def test_batch_refuses_options_that_do_not_fit(options, error, text):
    table = Table([[2, 0, 3], [], [1]], 2)
    table.values["x"][:] = 0.5
    with pytest.raises(error, match=text):
        Dataset(table.joint()).batch([0, 2], **options)


@pytest.mark.parametrize(
    ("rows", "error", "text"),
    [
        ([3], IndexError, "rows: index 3 at position 0 is out of range"),
        (np.array([0, -4]), IndexError, "rows: index -4 at position 1"),
        (np.array([0, 3], np.int8), IndexError, "rows: index 3 at position 1"),
        ([0.5], TypeError, "rows: expected integers"),
        ([[0]], TypeError, "rows: expected one dimension"),
        (np.array([[0]]), TypeError, "rows: expected one dimension"),
        (np.array(0), TypeError, "rows: expected one dimension"),
        ([True, False], IndexError, "rows: a mask of 2 for 3 rows"),
        (["a"], TypeError, "rows: expected integers"),
    ],
)
def test_batch_refuses_rows_that_there_are_not(rows, error, text):
    for ds in _whole_and_view():
        with pytest.raises(error, match=text):
            ds.batch(rows)


def _whole_and_view():
    ds = Dataset(Table([[2, 0, 3], [], [1]], 2).joint())
    return ds, ds.select([0, 1, 2])


@pytest.mark.parametrize("ds", _whole_and_view(), ids=["whole", "view"])
def test_batch_takes_rows_of_any_kind(ds):
    wanted = ds.batch([2, 0])["y"].tolist()
    assert ds.batch(np.array([-1, 0], np.int8))["y"].tolist() == wanted
    assert ds.batch(np.array([2, 0], np.uint64))["y"].tolist() == wanted
    assert ds.batch(np.array([0, 2, 1])[::-1])["y"].tolist() == [ds.batch([i])["y"][0] for i in (1, 2, 0)]
    assert ds.batch([True, False, True])["y"].tolist() == wanted[::-1]
    assert ds.batch(slice(None, None, -2))["y"].tolist() == wanted
    given = np.array([2, 0])
    view = ds.select(given)
    given[:] = 1
    assert view.batch(np.arange(2))["y"].tolist() == wanted


@pytest.mark.parametrize("flatten", [False, True])
@pytest.mark.parametrize(
    ("level", "ends"),
    [(0, [2, 1, 3]), (0, [2, 9, 3]), (0, [-1, 2, 3]), (1, [2, 1, 5]), (1, [7, 2, 5]), (1, [0, -9, 5])],
)
def test_batch_refuses_damaged_levels(level, ends, flatten):
    levels = [np.array([1, 2, 3]), np.array([1, 2, 5])]
    levels[level] = np.array(ends)
    joint = _core.Joint(["a", "b"], [1, 2], [np.arange(3), np.arange(5)], levels)
    ds = Dataset(joint)
    with pytest.raises(ValueError, match=rf"dim{level + 1}/bounds: row \d"):
        ds.batch([0, 1, 2], flatten=flatten)
    for start in ([0, 0, 0], [1, 1, 1]):  # windows read less, and never beyond
        for row in range(3):
            try:
                ds.batch([row] * 3, flatten=flatten, start=start, layout="ragged")
            except ValueError as error:
                assert "/bounds" in str(error)  # noqa: PT017


@pytest.mark.parametrize("rows", [range(1, 4), slice(1, 4), range(3, 0, -1)])
def test_rows_may_be_a_range_or_a_slice(rows):
    ds = Dataset(Joint({"x": [[1], [2, 3], [], [4]]}))
    lists = [1, 2, 3] if isinstance(rows, slice) else list(rows)
    assert ds.batch(rows)["x"].tolist() == ds.batch(lists)["x"].tolist()
    assert next(iter(ds.epoch(batches=[rows], prefetch=1)))["x"].tolist() == ds.batch(lists)["x"].tolist()


def test_records_of_a_range_are_its_rows():
    ds = Dataset(Joint({"x": [[1], [2, 3], [], [4]]}))
    assert [row.to_list()["x"] for row in ds.__getitems__(range(1, 3))] == [[2, 3], []]


WORDS = {"vocabularies": {"code": ["[UNK]", "x", "[PAD]"], "kind": ["a", "b"]}}


def test_a_key_with_a_padding_word_is_padded_with_its_id():
    """In every layout that pads, in batches and dense; what was given as fill comes first."""
    rows = {"code": [["x", "x"], ["x"]], "kind": [["b", "b"], ["b"]], "n": [[7, 8], [9]]}
    joint = Joint(rows, **WORDS)
    data = Dataset([joint])
    assert data.fields["code"].padding_id == 2
    assert data.fields["kind"].padding_id is data.fields["n"].padding_id is None
    for batch in (data.batch([0, 1]), joint.to_dense(), data.batch([0, 1], flatten=True)):
        assert batch["code"].tolist() == [[1, 1], [1, 2]]
        assert batch["kind"].tolist() == [[1, 1], [1, 0]]
        assert batch["n"].tolist() == [[7, 8], [9, 0]]
    left = data.batch([0, 1], padding_side="left", pad_to=3, dtype={"code": "int64"})
    assert left["code"].tolist() == [[2, 1, 1], [2, 2, 1]]
    for batch in (data.batch([0, 1], fill=0), joint.to_dense(fill=0), data.batch([0, 1], fill={"code": 0})):
        assert batch["code"].tolist() == [[1, 1], [1, 0]]
    assert joint.to_dense(fill={"n": 5})["code"].tolist() == [[1, 1], [1, 2]]
    assert data.batch([0, 1], fill={"n": 5})["code"].tolist() == [[1, 1], [1, 2]]
    how = {"names": {"code": "input_ids"}, "labels": "input_ids", "framework": "numpy"}
    model = data.batch([0, 1], keys=["code"], **how)
    assert model["input_ids"].tolist() == [[1, 1], [1, 2]]
    assert model["labels"].tolist() == [[1, 1], [1, -100]]


@pytest.mark.parametrize(("options", "shape"), [
    ({"max_len": 1}, (2, 1, 1)),
    ({"max_len": 1, "truncate": "left"}, (2, 1, 3)),
    ({"max_len": [1, 2], "truncate": "left"}, (2, 1, 2)),
    ({}, (2, 2, 3)),
])  # fmt: skip
def test_inner_axes_are_as_wide_as_the_longest_sequence_that_is_kept(options, shape):
    nested = Joint({"x": [[[1], [2, 3, 4]], [[5]]]})
    assert Dataset(nested).batch([0, 1], **options)["x"].shape == shape
