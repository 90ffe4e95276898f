"""pad, unpad, mask_to_level: against the oracle, in every width, side, depth, and kind of store."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import verbs as oracle
from varlen import Level, _core

DTYPES = ["bool", "u1", "<i2", ">i4", "f4", "f8", "M8[ns]", "c16", "S3", "V5", "S12", "S20", "f2"]
SIDES = st.sampled_from(["right", "left"])


@st.composite
def nests(draw, max_depth=3):
    """Levels that fit each other, and how many rows lie under the deepest."""
    depth = draw(st.integers(1, max_depth))
    n = draw(st.integers(0, 20 if depth == 1 else 5))
    lengths = []
    for d in range(depth):
        longest = draw(
            st.sampled_from([0, 3, 8, 90] if depth == 1 else [1, 3, 9] if d == depth - 1 else [2, 4])
        )
        rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        lengths.append(rng.integers(0, longest + 1, n) * (rng.random(n) < 0.8))
        n = int(lengths[-1].sum())
    return lengths


def levels_of(nest):
    return [Level.from_lengths(lengths) for lengths in nest]


def random_bytes(dtype, count, row, seed=0):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, (count, *row)).astype(bool)
    return rng.integers(1, 256, (count, *row, dtype.itemsize), np.uint8).view(dtype).reshape(count, *row)


def as_bytes(array):
    return np.ascontiguousarray(array).view(np.uint8) if array.size else array.shape


def expected(values, nest, sizes, side, cut, fill):
    """The rectangle by way of row numbers, and its mask."""
    rows = oracle.nest(range(len(values)), [list(map(int, lengths)) for lengths in nest])
    at = np.array(oracle.pad(rows, sizes, -1, side, cut), int).reshape(len(nest[0]), *sizes)
    return np.concatenate([values, fill[None]]).astype(values.dtype)[at], at >= 0


@given(
    nests(), st.sampled_from(DTYPES), st.sampled_from([(), (), (1,), (3,), (0,), (40, 2)]), SIDES, SIDES,
    st.booleans(), st.booleans(), st.data(),
)  # fmt: skip
def test_pad_equals_the_oracle(nest, dtype, row, side, cut, filled, past_caches, data):
    values = random_bytes(dtype, int(nest[-1].sum()), row)
    longest = [int(lengths.max(initial=0)) for lengths in nest]
    sizes = [data.draw(st.sampled_from([size, size + 2, size // 2])) for size in longest]
    fill = random_bytes(dtype, 1, row, seed=1)[0] if filled else np.zeros((1, *row), dtype)[0]
    out = np.frombuffer(bytearray(b"\xa5" * 8192), np.uint8)  # poisoned
    want, want_mask = expected(values, nest, sizes, side, cut, np.asarray(fill, dtype))
    if want.nbytes <= out.size - 1 and np.dtype(dtype).itemsize > 1 and not row:  # anywhere in memory
        out = out[1 : 1 + want.nbytes].view(dtype).reshape(want.shape)
    else:
        out = np.full(want.shape, fill, dtype)  # of zeros alone NumPy makes shorter strings
    got, mask = _core.pad(
        values, levels_of(nest), side, truncate=cut, sizes=sizes, fill=fill if filled else None, mask=True,
        out=out, past_caches=past_caches,
    )  # fmt: skip
    assert got is out
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(as_bytes(got), as_bytes(want))
    np.testing.assert_array_equal(mask, want_mask)
    fresh = _core.pad(values, levels_of(nest), side, truncate=cut, sizes=sizes, fill=fill if filled else None)
    np.testing.assert_array_equal(as_bytes(fresh), as_bytes(want))


@given(nests(), st.sampled_from(DTYPES), st.sampled_from([(), (3,), (0,), (40, 2)]), SIDES, st.integers(0, 2))
def test_unpad_is_the_way_back(nest, dtype, row, side, more):
    values = random_bytes(dtype, int(nest[-1].sum()), row)
    levels = levels_of(nest)
    dense = _core.pad(values, levels, side, sizes=[level.longest + more for level in levels])
    np.testing.assert_array_equal(as_bytes(_core.unpad(dense, levels, side)), as_bytes(values))
    out = np.empty_like(values)
    assert _core.unpad(dense, levels, side, out=out) is out
    np.testing.assert_array_equal(as_bytes(out), as_bytes(values))


@given(nests(max_depth=1), SIDES, st.integers(0, 3))
def test_masks_give_their_level_back(nest, side, more):
    level = Level.from_lengths(nest[0])
    _, mask = _core.pad(np.zeros(level.total), level, side, sizes=[level.longest + more], mask=True)
    assert _core.mask_to_level(mask, side) == level


def test_masks_with_holes_are_refused():
    mask = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]], bool)
    with pytest.raises(ValueError, match="mask: row 1 of the mask has a gap"):
        _core.mask_to_level(mask)
    assert list(_core.mask_to_level(mask[[0, 0]]).lengths) == [2, 2]
    assert list(_core.mask_to_level(mask[[2]], "left").lengths) == [2]
    with pytest.raises(ValueError, match="mask: row 0"):
        _core.mask_to_level(mask, "left")
    with pytest.raises(TypeError, match="mask: expected bool, got int64"):
        _core.mask_to_level(np.ones((2, 2), np.int64))


@pytest.fixture(params=[1, 3])
def threads(request):
    before = _core.num_threads()
    _core.set_num_threads(request.param)
    yield request.param
    _core.set_num_threads(before)


@pytest.mark.parametrize("lengths", [[900_000], [3, 600_000, 0, 5], [7] * 90_000, [300] * 3000])
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("past_caches", [True, False])
def test_threads_change_nothing(threads, lengths, side, past_caches):
    level = Level.from_lengths(lengths)
    values = np.arange(level.total, dtype=np.int32)
    dense, mask = _core.pad(values, level, side, fill=-1, mask=True, past_caches=past_caches)
    there = np.arange(level.longest) < level.lengths[:, None]
    there = there[:, ::-1] if side == "left" else there
    np.testing.assert_array_equal(mask, there)
    np.testing.assert_array_equal(dense[there], values)
    assert (dense[~there] == -1).all()
    np.testing.assert_array_equal(_core.unpad(dense, level, side), values)


@given(nests(max_depth=2), SIDES, SIDES, st.sampled_from([None, -7, 3.5]), st.booleans(), st.integers(0, 3))
@example([np.array([300, 2])], "left", "left", None, True, 1)
def test_pad_converts_on_the_way(nest, side, cut, nan, past_caches, spare):
    total = int(nest[-1].sum())
    values = np.where(np.arange(total) % 5 == 0, np.nan, np.arange(total)).astype(np.float32)
    levels = levels_of(nest)
    sizes = [max(0, level.longest + 1 - spare) for level in levels]
    got, mask, nans = _core.pad(
        values, levels, side, truncate=cut, sizes=sizes, fill=-2.5, dtype="f8", mask=True, nan=nan,
        nan_mask=True, past_caches=past_caches,
    )  # fmt: skip
    clean = values.astype(np.float64) if nan is None else np.where(np.isnan(values), nan, values)
    want, want_mask = expected(clean.astype(np.float64), nest, sizes, side, cut, np.float64(-2.5))
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(mask, want_mask)
    want_nans, _ = expected(np.isnan(values), nest, sizes, side, cut, np.False_)
    np.testing.assert_array_equal(nans, want_nans)


def test_pad_takes_big_endian_and_strided_values():
    values = np.arange(10, dtype=">i4")[::2]
    level = Level.from_lengths([2, 3])
    want = [[0, 2, 0], [4, 6, 8]]
    same = _core.pad(values, level)
    assert same.dtype == np.dtype(">i4")
    assert same.tolist() == want
    other = _core.pad(values, level, dtype="i2")
    assert other.dtype == np.dtype("i2")
    assert other.tolist() == want


def test_pad_sizes_are_capped_and_rounded():
    level = Level.from_lengths([5, 1])
    values = np.arange(6)
    assert _core.pad(values, level, max_len=[3]).shape == (2, 3)
    assert _core.pad(values, level, pad_to_multiple=4).shape == (2, 8)
    assert _core.pad(values, level, max_len=[3], pad_to_multiple=2).shape == (2, 4)
    assert _core.pad(values, level, sizes=[0]).shape == (2, 0)


LEVEL = Level.from_lengths([2, 3])
VALUES = np.arange(5, dtype=np.int64)
REFUSED = [
    ({"values": [1, 2]}, TypeError, "values: expected an array, got list"),
    ({"values": np.arange(4)}, ValueError, "levels: level 0 covers 5 rows, but values has 4"),
    ({"levels": []}, ValueError, "levels: expected at least one"),
    ({"levels": [[2, 3]]}, TypeError, "levels: expected Level objects, got list"),
    ({"levels": [LEVEL, LEVEL]}, ValueError, "levels: level 0 covers 5 sequences, but the next level has 2"),
    ({"padding_side": "up"}, ValueError, "padding_side must be 'left' or 'right'; got 'up'"),
    ({"truncate": "no"}, ValueError, "truncate must be 'left' or 'right'; got 'no'"),
    ({"sizes": [1, 2]}, ValueError, "sizes: 2 numbers for 1 levels"),
    ({"sizes": [-1]}, ValueError, "sizes: expected at least 0, got -1"),
    ({"pad_to_multiple": 0}, ValueError, "pad_to_multiple: expected at least 1, got 0"),
    ({"fill": 1.5}, ValueError, "fill: 1.5 does not fit int64"),
    ({"fill": float("nan")}, ValueError, "fill: nan does not fit int64"),
    ({"fill": 2**63}, ValueError, "fill: 9223372036854775808 does not fit int64"),
    ({"fill": [1, 2]}, ValueError, r"fill: expected one number, got shape \(2,\)"),
    ({"fill": "x"}, ValueError, "fill: 'x' does not fit int64"),
    ({"dtype": "M8[s]"}, TypeError, r"values: int64 does not become datetime64\[s\]"),
    ({"nan_mask": True}, TypeError, "nan_mask: expected values of a float dtype, got int64"),
    ({"max_bytes": 47}, ValueError, r"values: the padded shape \(2, 3\) .* to 48 bytes, over max_bytes=47"),
    ({"sizes": [2**62]}, OverflowError, r"values: the padded shape \(2, 46\d+\) does not fit 63 bits"),
    ({"sizes": [2**45]}, ValueError, "over max_bytes="),
    ({"out": np.zeros((2, 4), np.int64)}, ValueError, r"out: needs int64\(2, 3\), got int64\(2, 4\)"),
    ({"out": np.zeros((2, 3), np.int32)}, ValueError, r"out: needs int64\(2, 3\), got int32\(2, 3\)"),
    ({"out": np.zeros((3, 2), np.int64).T}, ValueError, "out: is not C-contiguous"),
    ({"out": np.broadcast_to(np.int64(0), (2, 3))}, ValueError, "out: is read-only"),
    ({"out": [1]}, TypeError, "out: expected an array, got list"),
    ({"mask": np.zeros((2, 3))}, ValueError, r"mask: needs bool\(2, 3\), got float64\(2, 3\)"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "error", "text"), REFUSED)
def test_pad_refuses(given, error, text):
    with pytest.raises(error, match=text):
        _core.pad(**{"values": VALUES, "levels": LEVEL, **given})


def test_pad_refuses_an_output_that_it_reads():
    memory = np.arange(8, dtype=np.int64)
    with pytest.raises(ValueError, match="out: shares memory with an input"):
        _core.pad(memory[:5], LEVEL, out=memory[2:].reshape(2, 3))
    assert memory.tolist() == list(range(8))


def test_pad_leaves_the_output_alone_where_a_value_does_not_fit():
    out = np.full((2, 3), 9, np.int8)
    values = np.array([1, 2, 3, 200, 5])
    with pytest.raises(ValueError, match=r"values: element 3 \(row 3\) is 200, which does not fit int8"):
        _core.pad(values, LEVEL, out=out, dtype="i1")
    assert (out == 9).all()


def test_unpad_refuses():
    dense = np.zeros((2, 2))
    with pytest.raises(ValueError, match="lengths: row 1 has length 3, the block is 2 wide"):
        _core.unpad(dense, LEVEL)
    with pytest.raises(ValueError, match="lengths: 2 of them for 3 rows"):
        _core.unpad(np.zeros((3, 3)), LEVEL)
    with pytest.raises(ValueError, match=r"block: expected \(n, width, ...\) for 1 levels, got shape \(2,\)"):
        _core.unpad(np.zeros(2), LEVEL)
    block = np.zeros((2, 3))
    with pytest.raises(ValueError, match="out: shares memory"):
        _core.unpad(block, LEVEL, out=block.reshape(-1)[:5])


def test_large_outputs_use_memory_again():
    level = Level.from_lengths([1 << 20] * 3)
    values = np.arange(level.total)
    _core.release_memory()
    first = _core.pad(values, level)
    at = first.ctypes.data
    assert at % 64 == 0
    view = first[1]
    del first
    other = _core.pad(values, level)
    assert other.ctypes.data != at  # the view keeps it
    del view, other
    again = _core.pad(values, level)
    assert (again.reshape(-1) == values).all()
    del again
    assert _core.release_memory() >= values.nbytes
    assert _core.release_memory() == 0
