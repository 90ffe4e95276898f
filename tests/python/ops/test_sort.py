"""Sequences in order: sorted, the best of each, ranks, distinct numbers, against plain Python and NumPy."""

from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from kernels import ON_DEVICE
from oracles import sort as oracle_sort
from oracles import verbs as oracle
from varlen import ops
from varlen.testing import strategies

FLOATS = ["float16", "float32", "float64", ml_dtypes.bfloat16]
INTS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
METHODS = ["ordinal", "min", "max", "dense", "average"]


@pytest.fixture
def threads():
    """Sets how many, until the test is over."""
    before = vl.num_threads()
    yield vl.set_num_threads
    vl.set_num_threads(before)


def of_dtype(whole, dtype):
    """Small whole numbers as a dtype; the largest of them as its extremes."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return whole > 0
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        result = whole.astype(dtype)
        return np.where(whole == 5, info.max, np.where(whole == 6, info.min, result)).astype(dtype)
    special = {3: -0.0, 4: np.nan, 5: np.inf, 6: -np.inf}
    result = whole.astype(np.float64)
    for number, value in special.items():
        result[whole == number] = value
    result[whole == -3] = -np.nan
    return result.astype(dtype)


@st.composite
def numbers(draw, dtypes=(*FLOATS, *INTS, ">f4", ">i8"), trailing=((), (), (1,), (3,), (2, 2), (0,)), most=9):
    """Rows with many equal numbers, extremes and NaN, in any layout, and lengths."""
    lengths = draw(strategies.lengths(max_rows=6, max_length=most))
    shape = (sum(lengths), *draw(st.sampled_from(trailing)))
    x = draw(hnp.arrays(np.int64, shape, elements=st.integers(-3, 6)))
    return draw(strategies.layouts(of_dtype(x, draw(st.sampled_from(dtypes))))), lengths


def by_columns(x, lengths, made_of):
    """`made_of` of each column of each sequence, a list as long as its column, put together again."""
    wide = x.reshape(len(x), int(np.prod(x.shape[1:])))
    out = np.empty(wide.shape, object)
    for begin, end in pairwise(oracle.offsets(lengths)):
        for c in range(wide.shape[1]):
            out[begin:end, c] = made_of(wide[begin:end, c].tolist())
    return out.reshape(x.shape)


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def take(x, which, lengths, kept=None):
    """The rows of x that places inside its sequences name."""
    starts = np.repeat(oracle.offsets(lengths)[:-1], lengths if kept is None else kept)
    at = which + starts.reshape(-1, *[1] * (which.ndim - 1)).astype(np.int64)
    return np.take_along_axis(x.astype(x.dtype.newbyteorder("=")), at, 0) if len(x) else x[:0]


@given(numbers(), st.booleans())
def test_sequences_are_sorted_column_by_column(case, descending):
    x, lengths = case
    which = ops.argsort(x, lengths, descending=descending)
    assert which.dtype == np.int64
    wanted = by_columns(x, lengths, lambda row: oracle_sort.places(row, descending))
    assert np.array_equal(which, wanted.astype(np.int64))
    result = ops.sort(x, lengths, descending=descending)
    assert same_bits(result, np.ascontiguousarray(take(x, which, lengths).astype(result.dtype)))
    assert result.dtype == x.dtype.newbyteorder("=")


@given(numbers(), st.sampled_from(METHODS), st.booleans())
def test_ranks(case, method, descending):
    x, lengths = case
    result = ops.rank(x, lengths, method=method, descending=descending)
    assert result.dtype == (np.float64 if method == "average" else np.int64)
    wanted = by_columns(x, lengths, lambda row: oracle_sort.ranks(row, method, descending))
    assert np.array_equal(result, wanted.astype(result.dtype))


@given(numbers(trailing=((),)))
def test_distinct_numbers(case):
    x, lengths = case
    values, inverse, counts = ops.unique(x, lengths, inverse=True, counts=True)
    rows = oracle.nest(x.tolist(), [lengths])
    groups = [oracle_sort.groups(row) for row in rows]
    assert values.lengths.tolist() == counts.lengths.tolist() == [len(g) for g in groups]
    assert counts.values.tolist() == [len(group) for g in groups for group in g]
    firsts = [group[0] for g in groups for group in g]
    wanted = take(x, np.array(firsts, np.int64), lengths, values.lengths)
    assert same_bits(values.values, wanted.astype(values.dtype))
    for row, g, place in zip(rows, groups, oracle.nest(inverse.tolist(), [lengths]), strict=True):
        assert place == [next(k for k, group in enumerate(g) if i in group) for i in range(len(row))]
    assert same_bits(ops.unique(x, lengths).values, values.values)
    assert ops.unique(x, lengths, counts=True)[1].equals(counts)


@given(numbers(), st.integers(1, 12), st.booleans())
def test_the_best_are_the_first_of_all(case, k, largest):
    x, lengths = case
    best, which = ops.topk(x, lengths, k=k, largest=largest)
    order = vl.Ragged(ops.argsort(x, lengths, descending=largest), lengths)
    assert which.equals(order[:, :k])
    assert same_bits(best.values, vl.Ragged(ops.sort(x, lengths, descending=largest), lengths)[:, :k].values)
    dense, places = ops.topk(x, lengths, k=k, largest=largest, dense=True, fill=1)
    assert dense.shape == places.shape == (len(lengths), k, *x.shape[1:])
    mask = np.arange(k) < best.lengths[:, None]
    assert same_bits(dense[mask], best.values)
    assert np.array_equal(places[mask], which.values)
    assert (places[~mask] == -1).all()
    assert (dense[~mask] == 1).all()


LONG = [63, 64, 65, 0, 66, 200, 1023, 1024, 1025, 3000]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", [*FLOATS, *INTS])
def test_long_sequences(dtype, descending):
    rng = np.random.default_rng(0)
    x = (
        rng.integers(0, 2**63, sum(LONG))
        .astype(np.int64)
        .view(np.uint8)[: sum(LONG) * np.dtype(dtype).itemsize]
    )
    x = (x.view(np.uint8) % 2).view(bool) if dtype == "bool" else x.view(dtype)
    few = of_dtype(rng.integers(-3, 7, len(x)), dtype)
    for values in (x, few):
        which = ops.argsort(values, LONG, descending=descending)
        result = ops.sort(values, LONG, descending=descending)
        for begin, end in pairwise(oracle.offsets(LONG)):
            with np.errstate(invalid="ignore"):  # signalling NaN
                wide = values[begin:end].astype(float) if np.dtype(dtype).kind in "fV" else values[begin:end]
            order = np.argsort(wide, kind="stable")
            if descending:  # NaN stay where they are, groups of equal ones turn round
                n = np.count_nonzero(wide == wide)
                back = np.argsort(wide[::-1], kind="stable")
                back = len(wide) - 1 - back[wide[::-1][back] == wide[::-1][back]]
                order = np.concatenate([back[::-1], order[n:]])
            assert np.array_equal(which[begin:end], order)
            assert same_bits(result[begin:end], values[begin:end][order])


@pytest.mark.parametrize("k", [1, 7, 600, 2000])
@pytest.mark.parametrize("order", ["random", "rising", "falling", "equal", "nan"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_few_of_many(dtype, order, k):
    n = 5000
    x = np.random.default_rng(1).integers(-500, 500, n).astype(dtype)
    x = {"rising": np.sort(x), "falling": np.sort(x)[::-1], "equal": np.zeros(n, dtype)}.get(order, x)
    if order == "nan" and dtype != "int16":
        x[10:] = np.nan
    lengths = [3000, 0, 2000]
    for largest in (True, False):
        best, which = ops.topk(x, lengths, k=k, largest=largest)
        whole = vl.Ragged(ops.argsort(x, lengths, descending=largest), lengths)
        assert which.equals(whole[:, :k])
        assert same_bits(best.values, take(x, which.values, lengths, which.lengths))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_sequence_alone_and_many_threads_give_the_same(dtype, threads):
    rng = np.random.default_rng(2)
    # Threads share half a million numbers; kernels that run thread by thread take a minute for them.
    few, giants = (40, [3000, 500, 0, 1400]) if ON_DEVICE else (2000, [300_000, 500, 0, 140_000])
    lengths = np.concatenate([rng.integers(0, 90, few), giants])
    x = rng.integers(-9999, 9999, lengths.sum()).astype(dtype)
    wide = np.stack([x, x[::-1]], 1)
    result = []
    for n in (1, 3):
        threads(n)
        with_columns = ops.argsort(wide, lengths)
        result.append(
            (
                ops.sort(x, lengths),
                ops.argsort(x, lengths, descending=True),
                ops.rank(x, lengths, method="dense"),
                ops.unique(x, lengths).values,
                ops.topk(x, lengths, k=3)[1].values,
                ops.topk(x, lengths, k=100_000)[1].values,
                with_columns,
            )
        )
    assert all(same_bits(a, b) for a, b in zip(*result, strict=True))
    offsets = oracle.offsets(lengths.tolist())
    for i in (0, 1, few - 1, few, few + 1, few + 3):
        some = slice(offsets[i], offsets[i + 1])
        assert np.array_equal(result[0][0][some], np.sort(x[some]))
        assert np.array_equal(result[0][6][some, 1], np.argsort(wide[some, 1], kind="stable"))
        assert same_bits(ops.sort(x[some], [lengths[i]]), result[0][0][some])


@given(numbers(("float32", "float64")), st.integers(1, 5))
def test_gradients_are_adjoint_to_what_they_belong_to(case, k):
    x, lengths = case
    x = np.nan_to_num(np.ascontiguousarray(x), posinf=9, neginf=-9)
    which = ops.argsort(x, lengths)
    d = np.arange(x.size, dtype=x.dtype).reshape(x.shape)
    back = ops.backprop_sort(d, which, lengths)
    assert np.array_equal(take(back, which, lengths), d)
    assert np.sum(ops.sort(x, lengths) * d) == pytest.approx(np.sum(x * back))
    best, which = ops.topk(x, lengths, k=k)
    d = vl.Ragged(
        np.arange(best.values.size, dtype=x.dtype).reshape(best.values.shape) + 1, levels=best.levels
    )
    back = ops.backprop_topk(d, which, lengths)
    assert back.lengths.tolist() == list(lengths)
    assert np.sum(best.values * d.values) == pytest.approx(np.sum(x * back.values))
    assert np.count_nonzero(back.values) == d.values.size
    rectangle = ops.topk(x, lengths, k=k, dense=True)[1]
    flat = ops.backprop_topk(
        d.to_dense(pad_to_multiple_of=k) if d.total else np.zeros(rectangle.shape, x.dtype),
        rectangle,
        lengths,
    )
    assert np.array_equal(flat, back.values)


@given(strategies.raggeds(dtype="int32", trailing=()), st.booleans())
def test_a_ragged_is_ordered_at_any_level(r, descending):
    for level in range(len(r.levels)):
        result = r.sort(level=level, descending=descending)
        over = result.levels[-1]
        assert len(result.levels) == level + 1
        assert np.array_equal(result.values, ops.sort(r.values, over, descending=descending))
        assert np.array_equal(
            r.rank(level=level, method="min").values, ops.rank(r.values, over, method="min")
        )
        assert r.rank(level=level).levels == r.levels
        assert r.unique(level=level).levels[:-1] == r.levels[:level]
        assert r.topk(2, level=level)[1].values.tolist() == ops.topk(r.values, over, k=2)[1].values.tolist()
    assert ops.sort(r).equals(r.sort())
    assert ops.argsort(r).equals(r.argsort())
    assert ops.rank(r, method="max").equals(r.rank(method="max"))
    assert all(a.equals(b) for a, b in zip(ops.unique(r, inverse=True), r.unique(inverse=True), strict=True))
    back = ops.backprop_sort(ops.sort(r), ops.argsort(r))
    assert back.equals(r)


def test_rectangles_stand_under_the_levels_above():
    r = vl.Ragged.from_list([[[3, 1, 2], []], [[5]]])
    best, which = r.topk(2, dense=True, fill=-9)
    assert best.to_list() == [[[3, 2], [-9, -9]], [[5, -9]]]
    assert which.to_list() == [[[0, 2], [-1, -1]], [[0, -1]]]
    assert r.topk(2, level=0, dense=True)[0].tolist() == [[3, 2], [5, 0]]


def test_nothing_gives_nothing_of_the_same_dtype():
    for lengths in ([], [0, 0]):
        x = np.zeros((0, 2), np.float32)
        assert ops.sort(x, lengths).dtype == np.float32
        assert ops.sort(x, lengths).shape == (0, 2)
        assert ops.topk(x, lengths, k=3, dense=True)[0].shape == (len(lengths), 3, 2)
        assert ops.unique(x[:, 0], lengths).lengths.tolist() == lengths


def test_results_can_be_given():
    x = np.array([3.0, 1.0, 2.0])
    out = np.full(3, 9.0)
    assert ops.sort(x, [3], out=out) is out
    assert out.tolist() == [1, 2, 3]
    assert ops.backprop_sort(out, [2, 0, 1], [3], out=x) is x
    assert x.tolist() == [2, 3, 1]
    with pytest.raises(ValueError, match="out"):
        ops.sort(x, [3], out=x)
    assert x.tolist() == [2, 3, 1]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ops.sort([1, 2, 3], [1, 1]), ValueError, "lengths: add up to 2, but X has 3 rows"),
        (lambda: ops.sort([1, 2], [3, -1]), ValueError, "lengths.*row 1"),
        (lambda: ops.argsort([1, 2]), TypeError, "lengths: required"),
        (lambda: ops.unique(vl.Ragged([1], [1]), [1]), TypeError, "lengths: not allowed, because X"),
        (lambda: ops.rank(np.zeros(1, complex), [1]), TypeError, "X: expected bool, integers"),
        (lambda: ops.sort(np.zeros(1, complex), [1]), TypeError, "X: expected bool, integers"),
        (lambda: ops.sort(np.zeros(1), [1], out=np.zeros(2)), ValueError, "out"),
        (lambda: ops.sort(np.zeros(1), [1], out=np.zeros(1, int)), (TypeError, ValueError), "out"),
        (lambda: ops.topk([1], [1], k=0), ValueError, "k: .*0"),
        (lambda: ops.topk([1], [1], k=1.5), TypeError, "k"),
        (lambda: ops.topk(np.uint8([1]), [1], k=2, dense=True, fill=-1), (ValueError, OverflowError), "fill"),
        (lambda: ops.topk(np.uint8([]), [0], k=2, dense=True, fill=-1), (ValueError, OverflowError), "fill"),
        (lambda: ops.unique([[1]], [1]), ValueError, r"X: expected numbers \(T,\), got shape \(1, 1\)"),
        (lambda: ops.rank([1], [1], method="mean"), ValueError, "method: .*'mean'"),
        (lambda: ops.rank([1], [1], method=None), ValueError, "method: .*None"),
        (lambda: ops.backprop_sort([1.0], [1], [1]), IndexError, "which: 1 in row 0.*sequence 0 of length 1"),
        (lambda: ops.backprop_sort([1.0, 2.0], [0, -2], [1, 1]), IndexError, "which: -2 in row 1.*ce 1"),
        (lambda: ops.backprop_sort([1.0], [[0]], [1]), ValueError, r"which: expected \(1,\), got \(1, 1\)"),
        (lambda: ops.backprop_sort([1.0], [0.5], [1]), TypeError, "which"),
        (lambda: ops.backprop_topk([1.0], [0], [1]), ValueError, "which"),
        (lambda: ops.backprop_topk([[1.0]], [[0, 0]], [1]), ValueError, "which"),
        (lambda: ops.backprop_topk([[1.0]], [[0]], [1, 1]), ValueError, "lengths: 2 sequences, but dY has 1"),
        (lambda: vl.Ragged([1], [1]).sort(level=1), IndexError, "level: 1 is out of range for 1 levels"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_by_name(call, error, text):
    with pytest.raises(error, match=text):
        call()


@given(strategies.raggeds(dtype="int16", trailing=()), st.booleans())
def test_ops_and_methods_sort_along_levels_and_axes_alike(r, descending):
    for level in range(len(r.levels)):
        assert ops.sort(r, level=level, descending=descending).equals(
            r.sort(level=level, descending=descending)
        )
        assert ops.rank(r, level=level).equals(r.rank(level=level))
        for a, b in zip(ops.topk(r, k=2, level=level), r.topk(2, level=level), strict=True):
            assert a.equals(b)
        for a, b in zip(
            ops.unique(r, level=level, counts=True), r.unique(level=level, counts=True), strict=True
        ):
            assert a.equals(b)
    for axis in range(r.ndim):
        result = ops.sort(r, axis=axis, descending=descending)
        assert result.equals(r.sort(axis, descending=descending))
        assert result.levels == r.levels
        assert np.array_equal(np.sort(result.values), np.sort(r.values))
    assert r.sort(r.ndim - 1, descending=descending).equals(r.sort(descending=descending))


def test_what_lies_across_sequences_is_sorted_place_by_place():
    r = vl.Ragged([3, 1, 2, 5, 0], [3, 2])
    assert r.sort(0).to_list() == [[3, 0, 2], [5, 1]]
    assert r.argsort(0).to_list() == [[0, 1, 0], [1, 0]]
