"""Rows that are reversed, shifted and rolled inside their sequences, against plain Python."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from oracles import verbs as oracle
from varlen import Level, _core, ops
from varlen.testing import strategies


@pytest.fixture
def threads():
    """Sets how many, until the test is over."""
    before = vl.num_threads()
    yield vl.set_num_threads
    vl.set_num_threads(before)


@st.composite
def moving(draw):
    """Rows of any dtype and layout, lengths, and how far each sequence moves."""
    lengths = draw(st.lists(st.integers(0, 40), max_size=5))
    rows = draw(strategies.rows(sum(lengths), draw(strategies.dtypes())))
    by = draw(st.lists(st.integers(-45, 45), min_size=len(lengths), max_size=len(lengths)))
    return draw(strategies.layouts(rows)), lengths, by


def joined(rows, like):
    """Rows as one array of the dtype and shape of `like`."""
    return np.array(rows, like.dtype).reshape(like.shape) if len(like) else like


def same(result, wanted):
    return (
        result.dtype == wanted.dtype and result.shape == wanted.shape and result.tobytes() == wanted.tobytes()
    )


@given(moving())
def test_rows_of_any_dtype_are_reversed(case):
    x, lengths, _ = case
    order = [k for row in oracle.nest(range(len(x)), [lengths]) for k in row[::-1]]
    result = ops.reverse(x, lengths)
    assert same(result, np.ascontiguousarray(x[order]))
    assert same(ops.backprop_reverse(result, lengths), np.ascontiguousarray(x))


@given(moving())
def test_rows_are_shifted_by_any_number_of_places(case):
    x, lengths, by = case
    order = np.array(oracle.shift(range(len(x)), lengths, by, -1), int)
    result = ops.shift(x, lengths, by=by)
    wanted = np.ascontiguousarray(x[order])
    wanted[order < 0] = np.zeros((), x.dtype)
    there = order >= 0
    assert result.shape == x.shape
    assert result[there].tobytes() == wanted[there].tobytes()
    assert not any(result[~there].tobytes())
    one = by[0] if by else 3
    same_for_all = ops.shift(x, lengths, by=one)
    assert same(same_for_all, ops.shift(x, lengths, by=[one] * len(lengths)))


@given(moving())
def test_rows_are_rolled_round_and_round(case):
    x, lengths, by = case
    order = np.array(oracle.shift(range(len(x)), lengths, by), int)
    result = ops.roll(x, lengths, by=np.array(by, np.int8))
    assert same(result, np.ascontiguousarray(x[order]))
    assert same(ops.backprop_roll(result, lengths, by=np.array(by, np.int8)), np.ascontiguousarray(x))
    assert same(ops.roll(x, lengths, by=7), ops.roll(x, lengths, by=[7] * len(lengths)))


def test_fill_is_a_number_or_a_row():
    x = np.arange(6).reshape(3, 2)
    assert ops.shift(x, [2, 1], by=1, fill=9).tolist() == [[9, 9], [0, 1], [9, 9]]
    assert ops.shift(x, [2, 1], by=-1, fill=[7, 8]).tolist() == [[2, 3], [7, 8], [7, 8]]
    assert ops.shift(np.array(["a", "bc"]), [2], by=1).tolist() == ["", "a"]
    assert ops.shift(np.array(["a", "bc"]), [2], by=1, fill="zz").tolist() == ["zz", "a"]
    assert np.isnan(ops.shift(np.ones(2, np.float32), [2], by=1, fill=np.nan)[0])
    assert np.signbit(ops.shift(np.ones(2), [2], by=1, fill=-0.0)[0])


def test_far_moves_lose_everything_or_go_round():
    x = np.arange(1, 6)
    for far in (2**63 - 1, -(2**63)):
        assert ops.shift(x, [3, 2], by=far).tolist() == [0] * 5
        assert ops.shift(x, [3, 2], by=[far, 0]).tolist() == [0, 0, 0, 4, 5]
        assert ops.roll(x, [5], by=far).tolist() == np.roll(x, far % 5).tolist()
    with pytest.raises(OverflowError, match="by"):
        ops.shift(x, [5], by=2**63)


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "f8", "c16", "S3", "S48", "S300"])
def test_sequences_of_any_size_and_threads_move_alike(dtype, threads):
    rng = np.random.default_rng(0)
    width = np.dtype(dtype).itemsize
    lengths = np.concatenate([rng.integers(0, 70, 300), [5_000_000 // width, 3, 0, 1]])
    x = rng.integers(0, 256, (lengths.sum(), width), np.uint8).view(f"V{width}")[:, 0]
    ends = np.cumsum(lengths)
    starts = np.repeat(ends - lengths, lengths)
    inside = np.arange(len(x)) - starts
    by = rng.integers(-80, 80, len(lengths))
    each = np.repeat(lengths, lengths)
    for n in (1, 3):
        threads(n)
        assert ops.reverse(x, lengths).tobytes() == x[starts + each - 1 - inside].tobytes()
        turned = (inside - np.repeat(by, lengths)) % np.maximum(each, 1)
        assert ops.roll(x, lengths, by=by).tobytes() == x[starts + turned].tobytes()
        source = inside - np.repeat(by, lengths)
        wanted = np.where((source >= 0) & (source < each), starts + source, len(x))
        filled = np.append(x, np.full(1, b"\x07" * width, x.dtype))
        assert ops.shift(x, lengths, by=by, fill=filled[-1]).tobytes() == filled[wanted].tobytes()


@pytest.mark.parametrize("width", [1, 4, 40])
def test_outputs_beyond_the_caches_hold_the_same(width):
    n = (66 << 20) // width
    x = np.random.default_rng(0).integers(0, 256, (n, width), np.uint8)
    lengths = [n - 7, 0, 7]
    result = ops.reverse(x, lengths)
    assert np.array_equal(result[: n - 7], x[: n - 7][::-1])
    assert np.array_equal(result[n - 7 :], x[n - 7 :][::-1])
    result = ops.shift(x, lengths, by=5)
    assert np.array_equal(result[5 : n - 7], x[: n - 12])
    assert not result[:5].any()


def test_a_ragged_gives_a_ragged_and_methods_take_a_level():
    r = vl.Ragged.from_list([[[1, 2], [], [3]], [], [[4], [5, 6]]])
    assert ops.reverse(r).to_list() == r.reverse().to_list() == [[[2, 1], [], [3]], [], [[4], [6, 5]]]
    assert r.reverse(level=0).to_list() == [[[3], [], [1, 2]], [], [[5, 6], [4]]]
    assert r.roll(1, level=0).to_list() == [[[3], [1, 2], []], [], [[5, 6], [4]]]
    assert r.roll([1, 0, 0], level=-2).to_list() == [[[3], [1, 2], []], [], [[4], [5, 6]]]
    assert r.roll(1).to_list() == [[[2, 1], [], [3]], [], [[4], [6, 5]]]
    assert r.shift(1, level=0).to_list() == [[[], [1, 2], []], [], [[], [4]]]
    assert r.shift(-1, level=1, fill=9).to_list() == [[[2, 9], [], [9]], [], [[9], [6, 9]]]
    deep = vl.Ragged.from_list([[[[1], [2, 3]], [[4]]], [[[5]]]])
    assert deep.reverse(level=1).to_list() == [[[[2, 3], [1]], [[4]]], [[[5]]]]
    assert deep.shift(1, level=0).to_list() == [[[], [[1], [2, 3]]], [[]]]
    with pytest.raises(ValueError, match=r"fill: at level 0 gaps become empty sequences; .* got 9"):
        r.shift(1, level=0, fill=9)
    with pytest.raises(IndexError, match="level: 2 is out of range"):
        r.reverse(level=2)
    with pytest.raises(IndexError, match="level: 5 is out of range"):
        r.shift(1, level=5, fill=9)


@given(moving())
def test_gradients_are_adjoint(case):
    _, lengths, by = case
    x = np.arange(1.0, sum(lengths) + 1)
    d = np.arange(1.0, sum(lengths) + 1)[::-1] * 2
    assert np.vdot(ops.shift(x, lengths, by=by), d) == np.vdot(x, ops.backprop_shift(d, lengths, by=by))
    assert np.vdot(ops.roll(x, lengths, by=by), d) == np.vdot(x, ops.backprop_roll(d, lengths, by=by))
    assert np.vdot(ops.reverse(x, lengths), d) == np.vdot(x, ops.backprop_reverse(d, lengths))


def test_outputs_that_are_given_are_filled():
    x = np.arange(5)
    out = np.empty_like(x)
    assert ops.reverse(x, [2, 3], out=out) is out
    assert out.tolist() == [1, 0, 4, 3, 2]
    assert ops.shift(x, [2, 3], by=1, out=out) is out
    assert ops.roll(x, [2, 3], by=1, out=out) is out
    assert out.tolist() == [1, 0, 4, 2, 3]


X = np.arange(8).reshape(4, 2)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ops.reverse(X, [1, 2]), ValueError, "lengths: add up to 3, but X has 4 rows"),
        (lambda: ops.reverse(X), TypeError, "lengths: required, because X is not a Ragged"),
        (lambda: ops.reverse(np.array([None]), [1]), TypeError, "X: arrays of Python objects"),
        (lambda: ops.reverse(X, [4], out=X), ValueError, "out: "),
        (
            lambda: ops.reverse(X, [4], out=np.empty((4, 3), int)),
            ValueError,
            r"out: needs int64\(4, 2\), got",
        ),
        (lambda: ops.shift(X, [4], by=1.5), (TypeError, ValueError), "by: expected"),
        (lambda: ops.shift(X, [4], by=True), (TypeError, ValueError), "by: expected"),
        (lambda: ops.shift(X, [4], by=[1, 2]), ValueError, "by: has 2 numbers for 1 sequences"),
        (lambda: ops.shift(X, [4], by=[1.0]), TypeError, "by: expected integers"),
        (lambda: ops.shift(X, [4], by=1, fill=0.5), (TypeError, ValueError), "fill"),
        (lambda: ops.shift(X, [4], by=1, fill=[1, 2, 3]), ValueError, "fill: shape"),
        (lambda: ops.roll(X, [4], by=[[1]]), ValueError, "by: expected one dimension"),
        (lambda: ops.backprop_roll(X, [4], by=0.5), (TypeError, ValueError), "by: expected"),
        (lambda: _core.reverse(X, [4]), TypeError, "lengths: expected a Level, got list"),
        (lambda: _core.roll(X, Level([3]), 1), ValueError, "lengths: they add up to 3, but X has 4"),
    ],
)
def test_bad_input_is_refused_by_name_and_place(call, error, text):
    before = X.copy()
    with pytest.raises(error, match=text):
        call()
    assert np.array_equal(X, before)
