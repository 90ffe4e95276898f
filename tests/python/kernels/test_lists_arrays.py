"""list2ragged, list2dense, ragged2list: against the oracle, in every dtype, layout, side and way to fail."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import verbs as oracle
from varlen import Level, _core

ml_dtypes = pytest.importorskip("ml_dtypes")

DTYPES = ["?", "u1", "i2", "f4", ">i4", "f8", "c8", "c16", "M8[s]", "S3", "S5", "U4", "u1,f4", "f2"]
SIDES = st.sampled_from(["right", "left"])
ROWS = st.sampled_from([(), (), (1,), (3,), (2, 2), (0,)])


def as_bytes(array):
    """What the memory holds, so that NaN equals itself."""
    return np.ascontiguousarray(array).tobytes()


@st.composite
def array_lists(draw, dtype=None, row=None):
    """Arrays of one dtype and row shape: contiguous, strided, reversed, Fortran-ordered, read-only."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)) if dtype is None else dtype)
    row = draw(ROWS) if row is None else row
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    longest = draw(st.sampled_from([0, 1, 3, 9, 40]))
    arrays = []
    for length in rng.integers(0, longest + 1, draw(st.integers(0, 30))):
        raw = rng.integers(0, 2 if dtype.kind == "b" else 100, (2 * length, *row, dtype.itemsize), np.uint8)
        wide = np.ascontiguousarray(raw).view(dtype).reshape(2 * length, *row)
        layout = rng.integers(0, 5)
        result = [
            wide[:length],
            wide[::2],
            wide[::-2],
            np.asfortranarray(wide[:length]),
            wide[length:].copy(),
        ][layout]
        result.flags.writeable = bool(rng.integers(0, 2))
        arrays.append(result)
    return arrays


@given(array_lists())
def test_list2ragged_lays_rows_end_to_end(arrays):
    values, level = _core.list2ragged(arrays)
    assert level.lengths.tolist() == [len(a) for a in arrays]
    if arrays:
        assert values.dtype == arrays[0].dtype.newbyteorder("=")
        assert values.shape == (sum(map(len, arrays)), *arrays[0].shape[1:])
        assert as_bytes(values) == b"".join(as_bytes(a.astype(values.dtype)) for a in arrays)
        out = np.empty_like(values)
        assert _core.list2ragged(tuple(arrays), out=out)[0] is out
        assert as_bytes(out) == as_bytes(values)
    else:
        assert (values.shape, values.dtype) == ((0,), float)


@given(
    array_lists(), SIDES, SIDES, st.integers(1, 5), st.none() | st.integers(0, 12), st.booleans(), st.data()
)
def test_list2dense_equals_the_oracle(arrays, side, cut, round_to, max_len, filled, data):
    kept = [
        a if max_len is None else a[:max_len] if cut == "right" else a[max(0, len(a) - max_len) :]
        for a in arrays
    ]
    width = -(-max(map(len, kept), default=0) // round_to) * round_to
    dtype = arrays[0].dtype.newbyteorder("=") if arrays else np.dtype(float)
    row = arrays[0].shape[1:] if arrays else ()
    fill = np.ones(1, "u1").repeat(dtype.itemsize).view(dtype)[0] if filled else 0
    want = np.zeros((len(arrays), width, *row), dtype)
    want[...] = np.array(fill, dtype) if filled else np.zeros((), dtype)
    want_mask = np.zeros((len(arrays), width), bool)
    for i, array in enumerate(kept):
        at = slice(0, len(array)) if side == "right" else slice(width - len(array), width)
        want[i, at], want_mask[i, at] = array, True
    out = None
    if data.draw(st.booleans()):
        out = (
            np.frombuffer(bytearray(b"\xa5" * (want.nbytes + 1)), "u1")[: want.nbytes]
            .view(dtype)
            .reshape(want.shape)
        )
    dense, mask = _core.list2dense(arrays, round_to, fill, side, max_len, cut, True, out)
    assert out is None or dense is out
    assert (dense.shape, dense.dtype) == (want.shape, dtype)
    assert as_bytes(dense) == as_bytes(want)
    np.testing.assert_array_equal(mask, want_mask)


def test_list2dense_fills_what_is_wider():
    out = np.full((2, 5), 7)
    assert _core.list2dense([np.arange(3), np.arange(1)], fill=-1, padding_side="left", out=out) is out
    assert out.tolist() == [[-1, -1, 0, 1, 2], [-1, -1, -1, -1, 0]]


@pytest.mark.parametrize("count", [3, 127, 128, 129, 1000])
@pytest.mark.parametrize("length", [1, 700])
def test_lists_of_any_size_are_whole(count, length):
    arrays = [np.arange(i, i + length + i % 3, dtype="i4") for i in range(count)]
    values, level = _core.list2ragged(arrays)
    np.testing.assert_array_equal(values, np.concatenate(arrays))
    dense = _core.list2dense(arrays, fill=-1)
    np.testing.assert_array_equal(dense[dense >= 0], values)
    assert level.longest == dense.shape[1]


def test_large_lists_use_threads_and_give_the_same():
    rng = np.random.default_rng(0)
    for lengths in ([600_000, 3, 0, 200_000], rng.integers(0, 3000, 600), rng.integers(0, 9, 150_000)):
        arrays = [np.full(int(n), i, "i4") for i, n in enumerate(lengths)]
        values, _ = _core.list2ragged(arrays)
        np.testing.assert_array_equal(values, np.repeat(np.arange(len(arrays), dtype="i4"), lengths))
        dense = _core.list2dense(arrays, max_len=2000, fill=-1, padding_side="left")
        assert ((dense >= 0).sum(1) == np.minimum(lengths, 2000)).all()
        assert (dense.max(1, initial=-1)[np.array(lengths) > 0] == np.flatnonzero(np.array(lengths))).all()


def test_array_likes_and_dtypes_are_promoted_as_numpy_does():
    values, _ = _core.list2ragged([np.arange(2, dtype="i1"), [1.5], (), np.arange(1, dtype="f4")])
    assert values.dtype == np.result_type("i1", "f8", "f4")
    assert values.tolist() == [0, 1, 1.5, 0]
    assert _core.list2ragged([[], np.arange(2, dtype="i1")])[0].dtype == np.int8
    assert _core.list2ragged([np.arange(2, dtype=">i4")])[0].dtype == np.dtype("i4")
    assert _core.list2dense([np.ones(2, ml_dtypes.bfloat16)]).dtype == ml_dtypes.bfloat16
    assert _core.list2dense([np.ones(2)], dtype=ml_dtypes.bfloat16, fill=1.5).dtype == ml_dtypes.bfloat16
    assert _core.list2dense(np.arange(6).reshape(2, 3)).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert _core.list2dense(iter([[1], [2, 3]])).tolist() == [[1, 0], [2, 3]]
    assert _core.list2dense([np.ones((1, 2)), np.ones((2, 2))], fill=[5, 6])[0].tolist() == [[1, 1], [5, 6]]
    nat = np.datetime64("NaT", "s")
    assert np.isnat(_core.list2dense([np.zeros(1, "M8[s]"), np.zeros(2, "M8[s]")], fill=nat)[0, 1])
    subclass = np.arange(3).view(type("Sub", (np.ndarray,), {}))
    assert _core.list2ragged([subclass, np.arange(1)])[0].tolist() == [0, 1, 2, 0]


X = np.arange(3)


@pytest.mark.parametrize(
    ("arrays", "options", "error", "text"),
    [
        ([X, X[None]], {}, ValueError, r"arrays\[1\]: has shape \(1, 3\), but arrays\[0\] has \(3,\)"),
        ([X[None], X[None, :2]], {}, ValueError, r"arrays\[1\]: .*: only the first dimension may differ"),
        ([X, 3], {}, ValueError, r"arrays\[1\]: expected at least one dimension, got a scalar"),
        ([X, "abc"], {}, TypeError, r"arrays\[1\]: expected an array, got str"),
        ([X, None], {}, TypeError, r"arrays\[1\]: expected an array, got NoneType"),
        ([np.array([None])], {}, TypeError, r"arrays\[0\]: arrays of Python objects"),
        ([X, np.zeros(1, "M8[s]")], {}, TypeError, "arrays: no dtype holds int64 and datetime64"),
        (3, {}, TypeError, "arrays: expected a list of arrays"),
        ([X], {"round_to": 0}, ValueError, "round_to: expected at least 1, got 0"),
        (
            [X],
            {"round_to": 2**63 - 1, "max_len": 2},
            OverflowError,
            "1 sequences padded to 9223372036854775807",
        ),
        ([X], {"round_to": "2"}, TypeError, "round_to: expected an integer, got str"),
        ([X], {"max_len": -1}, ValueError, "max_len: expected at least 0, got -1"),
        ([X], {"padding_side": "up"}, ValueError, "padding_side must be 'left' or 'right'; got 'up'"),
        ([X], {"truncate": 3}, ValueError, "truncate must be 'left' or 'right'; got 3"),
        (
            [X],
            {"max_bytes": 23},
            ValueError,
            "1 sequences padded to 3 rows of 8 bytes are 24 bytes, over max_bytes=23",
        ),
        ([X], {"fill": 0.5}, ValueError, "fill: 0.5 does not fit int64"),
        ([X], {"fill": -1, "dtype": "u1"}, ValueError, "fill: -1 does not fit uint8"),
        ([X], {"fill": "a"}, ValueError, "fill: 'a' does not fit int64"),
        ([X, X + 254], {"dtype": "u1"}, OverflowError, r"arrays\[1\]\[2\]: 256 does not fit uint8"),
        ([X], {"out": np.zeros((1, 2), int)}, ValueError, r"out: has shape \(1, 2\), but \(1, 3\) is needed"),
        ([X], {"out": np.zeros((1, 3))}, TypeError, "out: has dtype float64, but int64 is needed"),
        ([X], {"out": np.zeros((3, 1), int).T}, ValueError, "out: must be writeable and C-contiguous"),
        ([X], {"out": [[0, 0, 0]]}, TypeError, "out: expected an array, got list"),
    ],
)
def test_list2dense_errors_name_the_place(arrays, options, error, text):
    if "out" in options and isinstance(options["out"], np.ndarray) and options["out"].shape == (1, 3):
        options["out"].flags.writeable = False
    with pytest.raises(error, match=text):
        _core.list2dense(arrays, **options)
    np.testing.assert_array_equal(X, [0, 1, 2])


@given(st.data(), st.integers(1, 3))
def test_ragged2list_gives_views(data, depth):
    levels, n = [], data.draw(st.integers(0, 4))
    for _ in range(depth):
        levels.append(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
        n = sum(levels[-1])
    values = np.arange(2 * n * 2, dtype=data.draw(st.sampled_from(["i4", ">f8", "f2"]))).reshape(2 * n, 2)[
        ::2
    ]
    views = _core.ragged2list(values, [Level.from_lengths(np.array(x, int)) for x in levels])
    rows, sizes = oracle.flatten(views, depth)
    assert sizes == levels
    for i, row in enumerate(rows):
        np.testing.assert_array_equal(row, values[i])
    flat, _ = oracle.flatten(views, depth - 1)
    assert all(view.base is values and view.dtype == values.dtype and view.shape[1:] == (2,) for view in flat)


def test_ragged2list_views_share_memory_and_its_rights():
    values, level = np.arange(5), Level.from_lengths([2, 0, 3])
    before = sys.getrefcount(values)
    views = _core.ragged2list(values, level)
    assert sys.getrefcount(values) == before + 3
    views[2][0] = 9
    assert values.tolist() == [0, 1, 9, 3, 4]
    assert [view.flags.c_contiguous and view.flags.writeable for view in views] == [True] * 3
    del views
    assert sys.getrefcount(values) == before
    values.flags.writeable = False
    assert not _core.ragged2list(values, [level])[0].flags.writeable


@pytest.mark.parametrize("dtype", ["?", "u1", "i8", "u8", "f4", "f2", "c8", "M8[D]", "S2", "i2,f4"])
def test_to_lists_gives_python_scalars(dtype):
    values = np.frombuffer(bytes(range(2)) * 48, np.uint8)[: 6 * np.dtype(dtype).itemsize].view(dtype)
    level = Level.from_lengths([4, 0, 2])
    assert _core.to_lists(values, level) == [values[:4].tolist(), [], values[4:].tolist()]
    assert _core.to_lists(values[::-1], level) == [values[::-1][:4].tolist(), [], values[::-1][4:].tolist()]
    assert _core.to_lists(values, []) == values.tolist()
    assert type(_core.to_lists(values, level)[0][0]) is type(values.tolist()[0])


def test_levels_must_fit():
    two, three = Level.from_lengths([1, 1]), Level.from_lengths([1, 1, 1])
    for back in (_core.ragged2list, _core.to_lists):
        with pytest.raises(ValueError, match="levels: level 0 ends at 2, but values has 3 rows"):
            back(np.arange(3), two)
        with pytest.raises(ValueError, match="levels: level 0 ends at 2, but level 1 has 3 rows"):
            back(np.arange(3), [two, three])
        with pytest.raises(TypeError, match="levels: expected Level objects, got int"):
            back(np.arange(3), [3])
        with pytest.raises(TypeError, match="values: expected an array, got list"):
            back([1, 2, 3], three)
        with pytest.raises(ValueError, match="values: expected at least one dimension"):
            back(np.array(3), three)
