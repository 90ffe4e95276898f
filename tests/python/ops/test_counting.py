"""Neighbours compared, numbers counted and looked up, windows of rows; sums that one number cannot spoil."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from nested import deeper, raised
from oracles import nested as oracle
from varlen import Level
from varlen.ops.dims import merge_dims

few = settings(max_examples=40, deadline=None)


@st.composite
def raggeds(draw, dtypes="int64", least=-9):
    """A Ragged of one to three levels of small numbers."""
    n, levels = draw(st.integers(0, 3)), []
    for _ in range(draw(st.integers(1, 3))):
        levels.append(Level(np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), np.int64)))
        n = levels[-1].total
    values = draw(st.lists(st.integers(least, 9), min_size=n, max_size=n))
    return vl.Ragged(np.array(values, draw(st.sampled_from(dtypes.split()))), levels=tuple(levels))


def sequences(r, at):
    """The rows of each sequence of a level, as lists."""
    return merge_dims(r, at + 1, len(r.levels)).to_list() if at + 1 < len(r.levels) else r.to_list()


def _list(result):
    return result.to_list() if isinstance(result, vl.Ragged) else result.tolist()


@given(raggeds("int64 uint8 float32 bool", least=0), st.integers(0, 3), st.data())
@few
def test_neighbours_are_compared_inside_sequences(r, n, data):
    at = data.draw(st.integers(0, len(r.levels) - 1))

    def wanted(x):
        return np.diff(np.array(x, r.dtype), n).tolist()

    assert r.diff(n, level=at).to_list() == oracle.each(sequences(r, at), at + 1, wanted)
    assert raised(deeper(r).diff(n)).to_list() == r.diff(n).to_list()
    torch = pytest.importorskip("torch")
    if r.dtype != np.uint8 or n < 2:
        tensor = vl.Ragged(torch.from_numpy(r.values.copy()), levels=r.levels)
        assert tensor.diff(n, level=at).to_list() == r.diff(n, level=at).to_list()


def test_diff_takes_rows_dates_and_layouts():
    days = vl.Ragged(np.array(["2020-01-01", "2020-01-03", "2021-01-01"], "M8[D]"), [2, 1]).diff()
    assert days.values.tolist() == [np.timedelta64(2, "D")]
    wide = vl.Ragged(np.arange(12).reshape(6, 2)[::-1], [4, 2])
    assert wide.diff(2).to_list() == [[[0, 0], [0, 0]], []]
    with pytest.raises(ValueError, match="n: expected at least 0, got -1"):
        wide.diff(-1)


@given(raggeds("int64 uint8", least=0), st.integers(0, 12), st.data())
@few
def test_numbers_are_counted_in_each_sequence(r, minlength, data):
    at = data.draw(st.integers(0, len(r.levels) - 1))
    width = max(minlength, max(r.values.tolist(), default=-1) + 1)

    def wanted(x):
        return [x.count(i) for i in range(width)]

    result = r.bincount(minlength, level=at)
    assert _list(result) == oracle.each(sequences(r, at), at + 1, wanted)
    assert _list(r.bincount(minlength, r * 0 + 2, level=at)) == _list(result * 2.0)
    torch = pytest.importorskip("torch")
    tensor = vl.Ragged(torch.from_numpy(r.values.astype(np.int64)), levels=r.levels)
    assert _list(tensor.bincount(minlength, level=at)) == _list(result)


def test_counting_names_what_it_does_not_take():
    r = vl.Ragged([1, 0, 2], [2, 1])
    for call, kind, text in (
        (lambda: (r - 1).bincount(), ValueError, "X: row 1, in sequence 0, is -1"),
        (lambda: (r * 1.0).bincount(), TypeError, "X: expected integers, got float64"),
        (lambda: vl.Ragged([[1]], [1]).bincount(), ValueError, r"got rows of shape \(1,\)"),
        (lambda: r.bincount(weights=[1.0]), ValueError, r"weights: have shape \(1,\), expected \(3,\)"),
        (
            lambda: r.bincount(weights=r[:1]),
            ValueError,
            "weights: nest differently: level 0 has 1 sequences in one and 2",
        ),
        (lambda: r.bincount(weights=["a", "b", "c"]), TypeError, "weights: expected numbers"),
        (lambda: r.bincount(2**62), OverflowError, "minlength"),
        (lambda: r.searchsorted([1, 2, 3]), ValueError, "v: has 3 sequences, expected 2"),
        (lambda: r.searchsorted([1, 2], side="up"), ValueError, "side: expected 'left' or 'right', got 'up'"),
        (lambda: deeper(r).searchsorted(deeper(deeper(r))), ValueError, "v: nests differently"),
        (lambda: vl.Ragged([[1]], [1]).searchsorted([1]), ValueError, "expected plain numbers in both"),
        (lambda: r.sliding_window(0), ValueError, "width: expected at least 1, got 0"),
    ):
        with pytest.raises(kind, match=text):
            call()


@given(raggeds("int64 float32 uint8", least=0), st.sampled_from(["left", "right"]), st.data())
@few
def test_numbers_are_looked_up_in_each_sequence(r, side, data):
    r = r.sort()
    level = r.levels[-1]
    lengths = data.draw(st.lists(st.integers(0, 3), min_size=len(level), max_size=len(level)))
    asked = data.draw(st.lists(st.integers(-1, 10), min_size=sum(lengths), max_size=sum(lengths)))
    queries = vl.Ragged(
        np.array(asked, np.int64), levels=(*r.levels[:-1], Level(np.array(lengths, np.int64)))
    )
    wanted = []
    for x, q in zip(vl.Ragged(r.values, levels=(level,)), _inner(queries), strict=True):
        wanted += np.searchsorted(x, q, side).tolist()
    result = r.searchsorted(queries, side)
    assert result.values.tolist() == wanted
    assert result.levels == queries.levels
    below = deeper(r).searchsorted(
        vl.Ragged(queries.values, levels=(*deeper(r).levels[:2], *queries.levels)), side
    )
    assert below.values.tolist() == wanted


def _inner(r):
    return vl.Ragged(r.values, levels=r.levels[-1:])


def test_numbers_are_looked_up_in_the_order_of_sorting():
    torch = pytest.importorskip("torch")
    nan = np.nan
    r = vl.Ragged([1.0, nan, 2.0, nan, nan], [2, 3])
    for side in ("left", "right"):
        wanted = [np.searchsorted(x, [nan, 1.5], side).tolist() for x in r]
        assert r.searchsorted(np.array([[nan, 1.5]] * 2), side).tolist() == wanted
    half = vl.Ragged(torch.tensor([1.0, 2.0, 3.0], dtype=torch.bfloat16), [2, 1])
    assert half.searchsorted(torch.tensor([1.5, 4.0])).tolist() == [1, 1]
    deep = vl.Ragged.from_list([[[1, 2], [4]], [[3]]])
    assert deep.searchsorted([3, 3], level=0).tolist() == [2, 0]
    assert vl.Ragged(np.zeros(0), [0, 0]).searchsorted([1.0, 2.0]).tolist() == [0, 0]


@given(raggeds(), st.integers(1, 4), st.data())
@few
def test_windows_of_rows_stay_inside_sequences(r, width, data):
    at = data.draw(st.integers(0, len(r.levels) - 1))

    def wanted(x):
        return [x[i : i + width] for i in range(len(x) - width + 1)]

    assert r.sliding_window(width, level=at).to_list() == oracle.each(sequences(r, at), at + 1, wanted)


def test_ops_count_arrays_with_lengths():
    r = vl.Ragged([1, 3, 5, 2], [3, 1])
    assert vl.ops.diff(r.values, r.lengths).equals(vl.ops.diff(r))
    assert vl.ops.diff(deeper(r)).levels[:2] == deeper(r).levels[:2]
    assert np.array_equal(vl.ops.bincount(r, weights=r), r.bincount(weights=r.values))
    assert np.array_equal(vl.ops.bincount(r.values, r.lengths, minlength=9), r.bincount(9))
    assert (
        vl.ops.searchsorted(r.values, [4, 3], r.lengths).tolist() == vl.ops.searchsorted(r, [4, 3]).tolist()
    )
    with pytest.raises(TypeError, match="lengths: required"):
        vl.ops.diff([1, 2])
    with pytest.raises(ValueError, match="lengths: add up to 1, but X has 2 rows"):
        vl.ops.searchsorted([1, 2], [1], [1])


def test_counting_has_gradients():
    torch = pytest.importorskip("torch")
    x = torch.randn(5, dtype=torch.float64, requires_grad=True)
    ids = vl.Ragged(torch.tensor([0, 2, 0, 1, 1]), [3, 0, 2])

    def all_of(x):
        r = vl.Ragged(x, [3, 0, 2])
        return r.diff(2).values, r.sliding_window(2).values, ids.bincount(weights=r)

    assert torch.autograd.gradcheck(all_of, (x,))
    assert torch.equal(ids.bincount(weights=x.detach())[:, 0].bool(), torch.tensor([True, False, False]))


def test_variance_is_stable_and_scans_start_anew():
    """Where TensorFlow gives -1.0, and where one inf reaches all later rows."""
    near = vl.Ragged(np.array([10000, 10001, 10002, 1], np.float32), [3, 1])
    assert near.var().tolist() == pytest.approx([2 / 3, 0])
    poisoned = vl.Ragged([np.inf, 1.0, 2.0, 3.0], [2, 2])
    assert poisoned.cumsum().to_list() == [[np.inf, np.inf], [2.0, 5.0]]
    large = vl.Ragged(np.array([3e38, 1, 0.5, 0.25], np.float32), [2, 2])
    assert large.cumsum()[1].tolist() == [0.5, 0.75]
    torch = pytest.importorskip("torch")
    assert vl.Ragged(torch.tensor(near.values), [3, 1]).var().tolist() == pytest.approx([2 / 3, 0])
    assert vl.Ragged(torch.tensor(poisoned.values), [2, 2]).cumsum()[1].tolist() == [2.0, 5.0]


def test_differences_do_not_look_across_borders():
    with np.errstate(all="raise"):
        assert vl.Ragged([np.inf, np.inf, 1, 2], [1, 1, 2]).diff().to_list() == [[], [], [1]]
        assert vl.Ragged(np.array([3e38, -3e38], "f4"), [1, 1]).diff().to_list() == [[], []]


@pytest.mark.parametrize(
    ("dtype", "found"), [("M8[s]", "m8[s]"), ("m8[s]", "m8[s]"), ("?", "?"), ("u1", "u1")]
)
def test_differences_of_nothing_have_their_dtype(dtype, found):
    for lengths in ([], [0, 0]):
        assert vl.Ragged(np.zeros(0, dtype), lengths).diff().dtype == found


def test_tensors_are_compared_and_counted_as_arrays_are():
    torch = pytest.importorskip("torch")
    for dtype in (torch.uint8, torch.uint16, torch.uint32, torch.uint64):
        x = torch.tensor([3, 1, 4], dtype=dtype)
        assert vl.Ragged(x, [2, 1]).diff().to_list() == vl.Ragged(x.numpy(), [2, 1]).diff().to_list()
    counts = vl.Ragged(torch.tensor([1, 0]), [2]).bincount(weights=np.array([0.5, 2]))
    assert isinstance(counts, torch.Tensor)
    assert counts.tolist() == [[2, 0.5]]
    with pytest.raises(OverflowError, match="X: entry 0 is 9223372036854775809, beyond int64"):
        vl.Ragged(np.array([2**63 + 1], "u8"), [1]).bincount()
