"""Numbers in the place of what is masked: a copy, whatever the mask is, over threads too."""

import numpy as np
import pytest
import varlen as vl
from varlen import _core


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "f2", "i4", "f4", "i8", "f8", "M8[s]"])
@pytest.mark.parametrize("count", [0, 1, 7, 1000])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_fills_are_those_of_where(dtype, count, share):
    rng = np.random.default_rng(count)
    room = np.zeros(count + 3, "u1").view(bool)
    room[1 : count + 1] = rng.random(count) < share  # not aligned
    values, fill = rng.integers(0, 2, count).astype(dtype), np.array([1], dtype)
    out = _core.fill_masked(values, room[1 : count + 1], fill)
    assert out.dtype == values.dtype
    np.testing.assert_array_equal(out, np.where(room[1 : count + 1], fill, values))


def test_threads_write_the_same():
    rng = np.random.default_rng(0)
    values, mask = rng.random(300_001), rng.random(300_001) < 0.5
    one = _core.fill_masked(values, mask, np.array([np.nan]))
    threads = vl.num_threads()
    vl.set_num_threads(3)
    try:
        many = _core.fill_masked(values, mask, np.array([np.nan]))
    finally:
        vl.set_num_threads(threads)
    np.testing.assert_array_equal(one, np.where(mask, np.nan, values))
    np.testing.assert_array_equal(many, one)


@pytest.mark.parametrize(("arguments", "text"), [
    ((np.zeros(3), np.zeros(2, bool), np.zeros(1)), "mask: expected 3 bools, got 2 items of 1 bytes"),
    ((np.zeros(3), np.zeros(3), np.zeros(1)), "mask: expected 3 bools, got 3 items of 8 bytes"),
    ((np.zeros(3), np.zeros(3, bool), np.zeros(2)), "fill: expected one item"),
    ((np.zeros(3), np.zeros(3, bool), np.zeros(1, "f4")), "fill: expected one item"),
    ((np.zeros(3, "S3"), np.zeros(3, bool), np.zeros(1, "S3")), "values: expected items of"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(arguments, text):
    with pytest.raises(ValueError, match=text):
        _core.fill_masked(*arguments)
