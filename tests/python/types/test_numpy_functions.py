"""Functions of NumPy that go along sequences: as NumPy on each sequence alone, and on all numbers."""

import warnings

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

torch = pytest.importorskip("torch")

R = vl.Ragged([3.0, 1.0, 4.0, 1.0, 5.0], [3, 0, 2])
F = vl.Ragged([3.0, np.nan, 4.0, 1.0, 5.0, np.nan], [3, 0, 2, 1])

_floats = st.one_of(st.just(float("nan")), st.integers(-4, 4).map(float), st.floats(-1e3, 1e3, width=32))


@st.composite
def rows(draw, least=0, numbers=_floats):
    """Sequences of floats as lists."""
    return draw(st.lists(st.lists(numbers, min_size=least, max_size=6), max_size=5))


def ragged(lists, kind=np.array):
    return vl.Ragged(kind([x for row in lists for x in row]).astype(float), [len(row) for row in lists])


def alone(func, lists):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [func(np.array(row, float)) for row in lists]


@pytest.mark.parametrize("dtype", ["M8[D]", "M8[ns]", "m8[s]"])
@given(lists=rows(numbers=st.integers(-1000, 1000)))
def test_medians_and_quantiles_of_times_are_times(dtype, lists):
    """Dates have no median in NumPy; here it lies in the middle, the later of two that are as near."""
    sequences = [np.array(row, np.int64).astype(dtype) for row in lists]
    times = vl.Ragged(ragged(lists).values.astype(np.int64).astype(dtype), [len(row) for row in lists])
    for method in ("linear", "lower", "higher", "nearest", "midpoint"):
        want = [np.quantile(x, 0.4, method=method) if len(x) else np.datetime64("NaT") for x in sequences]
        found = np.quantile(times, 0.4, axis=1, method=method)
        assert found.dtype == dtype
        assert_array_equal(found, np.array(want, dtype))
    middle = [np.quantile(x, 0.5, method="midpoint") if len(x) else np.datetime64("NaT") for x in sequences]
    medians = [np.median(x) if len(x) else "NaT" for x in sequences] if dtype[0] == "m" else middle
    assert_array_equal(np.median(times, axis=1), np.array(medians, dtype))


@given(rows())
def test_medians_and_quantiles_are_those_of_each_sequence(lists):
    r = ragged(lists)
    for name, args in [("median", ()), ("quantile", (0.3,)), ("percentile", (75,))]:
        func = getattr(np, name)
        want = alone(lambda x, f=func, a=args: f(x, *a) if len(x) else np.nan, lists)
        for x in (r, r.torch()):
            got = getattr(np, name)(x, *args, axis=1)
            assert_allclose(np.asarray(got), want, rtol=1e-12)
            assert type(got) is type(x.values)
    for method in ("lower", "higher", "nearest", "midpoint"):
        want = alone(lambda x, m=method: np.quantile(x, 0.4, method=m) if len(x) else np.nan, lists)
        assert_allclose(np.quantile(r, 0.4, axis=1, method=method), want, rtol=1e-12)
    several = np.quantile(r, [0.25, 0.5], axis=1)
    assert several.shape == (2, len(r))
    assert_allclose(several[1], np.median(r, axis=1), rtol=1e-12)
    if r.total:
        assert_allclose(np.median(r), np.median(r.values))
        assert_allclose(np.quantile(r, [0.1, 0.9]), np.quantile(r.values, [0.1, 0.9]), rtol=1e-12)


@given(rows())
def test_variants_without_nan_are_those_of_each_sequence(lists):
    r = ragged(lists)
    for name in ("nansum", "nanprod", "nanmean", "nanmax", "nanmin", "nanvar", "nanstd", "nanmedian"):
        func = getattr(np, name)

        def safe(x, func=func, name=name):
            gone = not np.isfinite(x).any() and name not in ("nansum", "nanprod")
            return np.nan if gone else func(x)

        assert_allclose(func(r, axis=1), alone(safe, lists), rtol=1e-9, atol=1e-9)
        if np.isfinite(r.values).any():
            assert_allclose(func(r), func(r.values), rtol=1e-9, atol=1e-9)
    for name in ("nancumsum", "nancumprod"):
        got = getattr(np, name)(r, axis=1)
        assert_allclose(
            got.values, np.concatenate([np.empty(0), *alone(getattr(np, name), lists)]), rtol=1e-9
        )
    assert_allclose(np.nanquantile(r, 0.5, axis=1), np.nanmedian(r, axis=1), rtol=1e-12)


@given(rows(least=1, numbers=st.integers(-9, 9).map(float)))
def test_functions_of_whole_sequences_are_those_of_numpy(lists):
    r = ragged(lists)
    marks = r > 0
    for got, func in [
        (np.count_nonzero(r, axis=1), np.count_nonzero),
        (np.average(r, axis=1), np.average),
        (np.average(r, axis=1, weights=r * r + 1), lambda x: np.average(x, weights=x * x + 1)),
        (np.sum(r, axis=1, where=marks), lambda x: x.sum(where=x > 0)),
        (np.prod(r, axis=1, where=marks), lambda x: x.prod(where=x > 0)),
        (np.max(r, axis=1, where=marks, initial=-1), lambda x: x.max(where=x > 0, initial=-1)),
        (np.any(r, axis=1, where=marks), lambda x: x.any(where=x > 0)),
        (np.all(r, axis=1, where=marks), lambda x: x.all(where=x > 0)),
        (np.mean(r, axis=1, where=marks), lambda x: x.mean(where=x > 0)),
        (np.std(r, axis=1, where=marks), lambda x: x.std(where=x > 0)),
        (np.ptp(r, axis=1), np.ptp),
        (np.add.reduce(r, axis=1), np.add.reduce),
        (np.maximum.reduce(r, axis=1), np.maximum.reduce),
        (np.linalg.norm(r, axis=1), np.linalg.norm),
        (np.nanargmax(r, axis=1), np.nanargmax),
    ]:
        assert_allclose(got, alone(func, lists), rtol=1e-12)
    for got, func in [
        (np.diff(r), np.diff),
        (np.diff(r, n=2, axis=1), lambda x: np.diff(x, n=2)),
        (np.flip(r, axis=1), np.flip),
        (np.roll(r, 2, axis=1), lambda x: np.roll(x, 2)),
        (np.repeat(r, 2, axis=1), lambda x: np.repeat(x, 2)),
        (np.repeat(r, (marks * 1).values, axis=1), lambda x: np.repeat(x, x > 0)),
        (np.unique(r, axis=1), np.unique),
        (np.take_along_axis(r, np.argsort(r, axis=1), axis=1), np.sort),
        (np.isin(r, [1, 3]), lambda x: np.isin(x, [1, 3])),
        (np.digitize(r, [-3, 0, 4]), lambda x: np.digitize(x, [-3, 0, 4])),
        (np.searchsorted([-3, 0, 4], r), lambda x: np.searchsorted([-3, 0, 4], x)),
        (np.interp(r, [-9, 9], [0, 1]), lambda x: np.interp(x, [-9, 9], [0, 1])),
        (np.add.accumulate(r, axis=1), np.add.accumulate),
        (np.sinc(r), np.sinc),
        (np.hstack([r, r]), lambda x: np.hstack([x, x])),
        (np.append(r, r, axis=1), lambda x: np.append(x, x)),
        (np.select([marks], [r], -1), lambda x: np.select([x > 0], [x], -1)),
    ]:
        want = alone(func, lists)
        assert_allclose(got.values, np.concatenate([np.empty(0), *want]), rtol=1e-12)
        assert got.lengths.tolist() == [len(x) for x in want]


def test_without_an_axis_all_numbers_are_meant():
    for func in (np.unique, np.ravel, np.count_nonzero, np.flatnonzero):
        assert_array_equal(func(R), func(R.values))
    assert_array_equal(np.sort(R, axis=None), np.sort(R.values))
    assert_array_equal(np.repeat(R, 2), np.repeat(R.values, 2))
    assert_array_equal(np.take(R, [0, 2]), R.values[[0, 2]])
    assert np.average(R, weights=R) == np.average(R.values, weights=R.values)
    assert [x.tolist() for x in np.histogram(R, bins=3)] == [
        x.tolist() for x in np.histogram(R.values, bins=3)
    ]
    counts, edges = np.histogram(R, bins=[0, 2, 6], weights=R * 2)
    assert (counts.tolist(), edges.tolist()) == ([4, 24], [0, 2, 6])
    assert np.nansum(F) == 13
    assert np.isnan(np.nanmean(F, axis=1)).tolist() == [False, True, False, True]


def test_places_of_numbers_index_by_pairs():
    rows, columns = np.nonzero(R > 2)
    assert R[rows, columns].tolist() == R[R > 2].values.tolist()
    assert [x.tolist() for x in np.where(R > 2)] == [rows.tolist(), columns.tolist()]
    assert np.argwhere(R > 2).tolist() == [[0, 0], [0, 2], [2, 1]]
    q = vl.Ragged.from_list([[[3, 1], [4]], [], [[1, 5, 9]]])
    assert q[np.nonzero(q > 3)].tolist() == [4, 5, 9]
    assert np.extract(R > 2, R).tolist() == [3, 4, 5]
    assert np.compress([True, False, True], R, axis=0).to_list() == [[3, 1, 4], [1, 5]]


def test_keepdims_dtype_and_rows_of_axes():
    assert np.median(R[::2], axis=1, keepdims=True).shape == (2, 1)
    assert np.nanmax(F, axis=1, keepdims=True).shape == (4, 1)
    assert np.sum(R, axis=1, keepdims=True, where=R > 1).tolist() == [[7], [0], [5]]
    assert np.nansum(F, axis=1, dtype=np.float32).dtype == np.float32
    w = vl.Ragged(np.arange(10.0).reshape(5, 2), [3, 0, 2])
    assert np.median(w, axis=2).to_list() == [[0.5, 2.5, 4.5], [], [6.5, 8.5]]
    assert_allclose(np.median(w, axis=1), [[2, 3], [np.nan, np.nan], [7, 8]])
    assert np.diff(w, axis=2).values.tolist() == [[1.0]] * 5
    q = vl.Ragged.from_list([[[3, 1], [4]], [], [[1, 5, 9]]])
    assert np.median(q, axis=2).to_list() == [[2, 4], [], [5]]
    assert np.expand_dims(R, 1).shape == (3, 1, None) or np.expand_dims(R, 1).shape == (3, None, None)


def test_gradients_flow_through():
    x = torch.tensor([3.0, 1.0, 4.0, 1.0, 5.0, 2.0], requires_grad=True)
    r = vl.Ragged(x, [4, 2])
    np.median(r, axis=1).sum().backward()
    assert x.grad.tolist() == [0.5, 0.5, 0, 0, 0.5, 0.5] or x.grad.sum() == 2


def test_writing_functions_write():
    r = R.copy()
    np.putmask(r, r > 3, 0)
    np.copyto(r, 9, where=r == 3)
    np.place(r, r == 1, 7)
    assert r.to_list() == [[9, 7, 0], [], [7, 0]]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: np.median(R, axis=0), "np.median of a Ragged goes along each sequence, axis 1, .*got 0"),
        (lambda: np.median(R, axis=1, out=np.zeros(3)), "np.median with out has no meaning"),
        (lambda: np.quantile(R, 2, axis=1), "q: expected fractions from 0 to 1, got 2"),
        (lambda: np.quantile(R, 0.5, axis=1, method="hazen"), "method"),
        (lambda: np.percentile(R[:, :, None], [5, 95], axis=2), "q: .* one at a time"),
        (lambda: np.take_along_axis(R, np.array([0]), 1), "r.gather"),
        (lambda: np.average(R, axis=1, weights=R), "weights: add up to 0 in sequence 1"),
        (lambda: np.nanargmax(F[[3]], axis=1), "sequence 0 holds NaN alone"),
        (lambda: np.max(R, axis=1, where=R > 1), "needs initial"),
        (lambda: np.roll(R, 1), "r.roll"),
        (lambda: np.add.at(R, 0, 1), "np.add.at has no meaning for a Ragged; use r.key. = "),
        (lambda: np.add.outer(R, R), "np.add.outer has no meaning .* vl.cross"),
        (lambda: np.add.reduceat(R, [0]), "np.add.reduceat has no meaning .* r.sum()"),
        (lambda: np.subtract.reduce(R, axis=1), "np.subtract.reduce has no meaning"),
        (lambda: np.rot90(R), r"use r.values, r.to_dense\(\)$"),
        (lambda: np.rot90(R[:1]), r"use r.values, r.to_dense\(\) or np.asarray\(r\)$"),
    ],
)
def test_what_has_no_meaning_says_so(call, text):
    with pytest.raises((TypeError, ValueError), match=text):
        call()


def test_the_array_that_a_refusal_names_is_one():
    assert np.asarray(R[:1]).shape == (1, 3)
