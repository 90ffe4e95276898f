"""Reductions of arrays of a device: close to what they give of arrays, and of the kind that was given."""

import numpy as np
import pytest
import varlen as vl
from device_calls import LEVEL, WHICH, D
from device_calls import REALS as X
from devices import Array, call
from varlen import _core

host = pytest.importorskip("varlen._cuda_host", reason="the kernels of devices were not built for the host")

OPS = ["sum", "mean", "prod", "max", "min", "any", "all", "norm", "logsumexp", "var", "std"]


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
    one = {2: 1e-2, 4: 1e-5}.get(wanted.dtype.itemsize, 1e-12)
    np.testing.assert_allclose(found.numbers, wanted, rtol=one, atol=one)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u8", "?"])
def test_results_are_those_of_arrays(op, dtype):
    x = (np.abs(X) if dtype[0] in "u?" else X).astype(dtype)
    same(call(_core.reduce, op, Array(x), LEVEL, 1, None, 0.5), _core.reduce(op, x, LEVEL, 1, None, 0.5))
    wanted = _core.reduce(op, x, LEVEL, 0)
    out = Array(np.zeros_like(wanted))
    assert call(_core.reduce, op, Array(x), LEVEL, 0, out) is out
    same(out, wanted)


@pytest.mark.parametrize("op", ["var", "std"])
def test_spreads_that_overflow_are_infinite_and_those_of_infinities_are_nan(op):
    most = np.finfo(float).max
    level = vl.Level([3, 2, 2, 2, 1, 2])
    x = np.array([1e160, 2e160, 5e160, most, -most, 1, np.inf, -np.inf, 1, np.inf, np.nan, 1e160])
    wanted = _core.reduce(op, x, level)
    np.testing.assert_array_equal(wanted, [np.inf] * 2 + [np.nan] * 4)
    np.testing.assert_array_equal(call(_core.reduce, op, Array(x), level).numbers, wanted)
    many = np.tile([most, -most], 50_000)
    assert call(_core.reduce, op, Array(many), vl.Level([len(many)])).numbers == [np.inf]


@pytest.mark.parametrize("op", ["max", "min"])
@pytest.mark.parametrize("narrow", [False, True])
def test_extremes_have_their_places(op, narrow):
    found, which = call(_core.reduce_extreme, op, Array(X), LEVEL, 7, narrow)
    wanted, places = _core.reduce_extreme(op, X, LEVEL, 7, narrow)
    same(found, wanted)
    same(which, places)


@pytest.mark.parametrize("op", ["prod", "norm", "logsumexp", "var", "std"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_gradients_are_those_of_arrays(op, dtype):
    x, d = X.astype(dtype), D.astype(dtype)
    result = _core.reduce(op, x, LEVEL, 0)
    wanted = _core.backprop_reduce(op, d, x, LEVEL, result)
    same(call(_core.backprop_reduce, op, Array(d), Array(x), LEVEL, Array(result)), wanted)


@pytest.mark.parametrize("dtype", ["i4", "?", "f2", "f4", "f8"])
def test_repeats_are_added_up(dtype):
    groups, blocks = vl.Level([4, 0, 1]), vl.Level([2, 3, 1])
    x = X.astype(dtype)
    same(call(_core.reduce_blocks, Array(x), groups, blocks), _core.reduce_blocks(x, groups, blocks))


def test_rows_go_to_where_they_came_from():
    wanted = _core.expand_which(D, LEVEL, WHICH)
    for which in (WHICH, Array(WHICH), Array(WHICH.astype(np.int32))):
        same(call(_core.expand_which, Array(D), LEVEL, which), wanted)
    same(call(_core.expand_mean, Array(D), LEVEL), _core.expand_mean(D, LEVEL))


def test_places_that_lie_are_seen_on_the_host_and_hold_nothing_on_a_device():
    wrong = WHICH + 9
    with pytest.raises(IndexError, match="which: 10 in row 0"):
        call(_core.expand_which, Array(D), LEVEL, wrong)
    assert not call(_core.expand_which, Array(D), LEVEL, Array(wrong)).numbers.any()


def test_arrays_of_two_places_are_refused():
    with pytest.raises(ValueError, match=r"^d: expected an array on device 0, got one on the host"):
        call(_core.backprop_reduce, "var", D, Array(X), LEVEL)
    with pytest.raises(ValueError, match=r"^out: expected an array on device 0, got one on the host"):
        call(_core.reduce, "sum", Array(X), LEVEL, 0, np.zeros((3, 2)))
    with pytest.raises(TypeError, match="which: expected int64 or int32 on a device, got dtype float64"):
        call(_core.expand_which, Array(D), LEVEL, Array(D))
