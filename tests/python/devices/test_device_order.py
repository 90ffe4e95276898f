"""Orders, ranks, distinct numbers, hashes and what is erased, of arrays of a device: what arrays give."""

import numpy as np
import pytest
import varlen as vl
from devices import Array, call
from varlen import _core

host = pytest.importorskip("varlen._cuda_host", reason="the kernels of devices were not built for the host")

LEVEL = vl.Level([3, 0, 2])
X = np.array([[1, -2], [3, 0.5], [1, np.nan], [-0.0, 2], [0.0, 2]])
NUMBERS = np.array([3, 1, 3, 2, 2])
METHODS = ["ordinal", "min", "max", "dense", "average"]


@pytest.fixture(autouse=True)
def _on_devices():
    """Kernels of devices alone: arrays of the host stay what they are."""
    _core.forget_kernels()  # those that get the arrays of the host as well
    _core.register(kernels=host.kernels)
    yield
    _core.forget_kernels()


def same(found, wanted):
    assert type(found) is Array
    assert found.numbers.dtype == wanted.dtype
    np.testing.assert_array_equal(found.numbers, wanted)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_rows_go_back_to_where_they_came_from(dtype):
    _, which, kept = _core.sort(X, LEVEL, True, 2, False, True)
    d = np.arange(1.0, 9).reshape(4, 2).astype(dtype)
    wanted = _core.unsort(d, LEVEL, kept, which)
    for places in (which, which.astype("i4"), Array(which)):
        same(call(_core.unsort, Array(d), LEVEL, kept, places), wanted)
    out = Array(np.zeros_like(wanted))
    assert call(_core.unsort, Array(d), LEVEL, kept, Array(which), out) is out
    same(out, wanted)


def test_of_two_rows_that_go_to_one_place_the_later_stays():
    which = np.array([1, 1, 1, 0, -1])
    wanted = _core.unsort(NUMBERS, LEVEL, LEVEL, which)
    assert wanted.tolist() == [0, 3, 0, 2, 0]
    same(call(_core.unsort, Array(NUMBERS), LEVEL, LEVEL, Array(which)), wanted)


def test_places_that_lie_are_seen_on_the_host_and_take_nothing_on_a_device():
    wrong = np.array([3, 0, -9, 2, 1 << 62])
    with pytest.raises(IndexError, match="which: 3 in row 0 is outside sequence 0 of length 3"):
        call(_core.unsort, Array(NUMBERS), LEVEL, LEVEL, wrong)
    same(call(_core.unsort, Array(NUMBERS), LEVEL, LEVEL, Array(wrong)), np.array([1, 0, 0, 0, 0]))


def test_places_on_a_device_are_int64_and_shaped_as_the_rows():
    with pytest.raises(TypeError, match="which: expected int64 on a device, got dtype int32"):
        call(_core.unsort, Array(NUMBERS), LEVEL, LEVEL, Array(np.zeros(5, np.int32)))
    with pytest.raises(ValueError, match=r"which: expected \(5,\), got \(4,\)"):
        call(_core.unsort, Array(NUMBERS), LEVEL, LEVEL, Array(np.zeros(4, np.int64)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("descending", [False, True])
def test_ranks_are_those_of_arrays(method, descending):
    for x in (X, X.astype("f2"), NUMBERS, NUMBERS.astype("u1"), NUMBERS > 1):
        same(call(_core.rank, Array(x), LEVEL, method, descending), _core.rank(x, LEVEL, method, descending))


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("counts", [False, True])
def test_distinct_numbers_are_those_of_arrays(inverse, counts):
    for x in (NUMBERS, NUMBERS > 1, X[:, 0].copy(), X[:, 1].astype("f2"), NUMBERS.astype("i2")):
        *found, kept = call(_core.unique, Array(x), LEVEL, inverse, counts)
        *wanted, level = _core.unique(x, LEVEL, inverse, counts)
        assert kept == level
        for each, other in zip(found, wanted, strict=True):
            if other is None:
                assert each is None
            else:
                same(each, other)


def test_there_may_be_no_rows_and_no_sequences():
    for level in (vl.Level([]), vl.Level([0, 0])):
        none = np.zeros(0)
        same(call(_core.rank, Array(none), level, "min"), np.zeros(0, np.int64))
        same(call(_core.unsort, Array(none), level, level, Array(np.zeros(0, np.int64))), none)
        values, inverse, counts, kept = call(_core.unique, Array(none), level, True, True)
        same(values, none)
        same(inverse, np.zeros(0, np.int64))
        same(counts, np.zeros(0, np.int64))
        assert kept == level
        rows, left = call(_core.erase, Array(np.zeros(0, np.uint8)), level, np.zeros(1, np.uint8))
        assert (len(rows.numbers), left) == (0, level)


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "i8", "u8"])
def test_hashes_are_those_of_arrays(dtype):
    ids = NUMBERS.astype(dtype)
    same(call(_core.hash, Array(ids), 5), _core.hash(ids, 5))
    found, grams = call(_core.ngrams, 2, Array(ids), LEVEL)
    wanted, level = _core.ngrams(2, ids, LEVEL)
    assert grams == level
    same(found, wanted)


def test_hashes_refuse_what_they_refuse_of_arrays():
    with pytest.raises(TypeError, match="ids: expected integers, got dtype float64"):
        call(_core.hash, Array(X[:, 0].copy()), 5)
    with pytest.raises(ValueError, match="keys: expected one dimension, got 2"):
        call(_core.ngrams, 2, Array(np.ones((5, 1), np.int64)), LEVEL)


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8"])
def test_tokens_are_erased_as_those_of_arrays(dtype):
    rows = NUMBERS.astype(dtype)
    for tokens in ([], [1], [2, 3], [1, 2, 3], [4, 5, 6, 7, 8, 9]):
        named = np.array(tokens, dtype)
        found, left = call(_core.erase, Array(rows), LEVEL, named)
        wanted, level = _core.erase(rows, LEVEL, named)
        assert left == level
        same(found, wanted)


def test_any_byte_of_a_bool_but_0_is_true():
    bools = np.array([0, 1, 7, 2, 0], np.uint8).view(bool)
    rows, left = call(_core.erase, Array(bools), LEVEL, np.array([True]))
    assert (len(rows.numbers), left.lengths.tolist()) == (2, [1, 0, 1])
    kept = call(_core.unique, Array(bools), LEVEL)[3]
    assert kept.lengths.tolist() == [2, 0, 2]
    assert call(_core.rank, Array(bools), LEVEL, "max").numbers.tolist() == [1, 3, 3, 2, 1]
