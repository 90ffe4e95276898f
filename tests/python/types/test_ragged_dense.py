"""Rectangles of a Ragged in memory that is given, and back."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from varlen.testing import strategies


def test_dense_goes_into_out_and_comes_back():
    r = vl.Ragged(np.arange(5, dtype="i4"), lengths=[3, 0, 2])
    out = np.full((3, 3), 77, "f8")
    assert r.to_dense(out=out, dtype="f8", fill=-1) is out
    np.testing.assert_array_equal(out, [[0, 1, 2], [-1, -1, -1], [3, 4, -1]])
    flat = np.empty(5)
    back = vl.Ragged.from_dense(out, lengths=r.levels[0], out=flat)
    assert back.values is flat
    assert back.levels[0] is r.levels[0]
    np.testing.assert_array_equal(flat, r.values)
    with pytest.raises(ValueError, match=r"out: .*\(3, 3\)"):
        r.to_dense(out=np.empty((3, 4), "i4"))
    with pytest.raises(ValueError, match="lengths: row 0 has length 4, the block is 3 wide"):
        vl.Ragged.from_dense(out, [4, 0, 0])
    with pytest.raises(ValueError, match="mask"):
        vl.Ragged.from_dense(out, mask=np.array([[True, False, True]] * 3))


@given(strategies.raggeds(), st.sampled_from(["left", "right"]), st.integers(1, 3))
def test_dense_of_any_depth_comes_back(r, side, multiple):
    block, mask = r.to_dense(padding_side=side, mask=True, pad_to_multiple_of=multiple)
    assert block.shape[len(r.levels) + 1 :] == r.shape[len(r.levels) + 1 :]
    assert all(size % multiple == 0 for size in block.shape[1 : len(r.levels) + 1])
    assert mask.sum() == r.total
    assert block[mask].tobytes() == np.ascontiguousarray(r.values).tobytes()
    assert vl.Ragged.from_dense(block, r.levels, padding_side=side).equals(r, equal_nan=True)


@given(
    strategies.raggeds(depth=2, dtype="int32", trailing=()),
    st.integers(0, 3),
    st.sampled_from(["left", "right"]),
)
def test_dense_cuts_the_outermost_level_or_each(r, most, cut):
    end = slice(None, most) if cut == "right" else slice(-most or None, None if most else 0)
    for max_len, want in [(most, r[:, end]), ((most, None), r[:, end]), ((most, most), r[:, end, end])]:
        block, mask = r.to_dense(max_len=max_len, truncate=cut, mask=True)
        np.testing.assert_array_equal(block[mask], want.values)
        np.testing.assert_array_equal(
            mask.sum(2)[mask.any(2)], want.levels[1].lengths[want.levels[1].lengths > 0]
        )


def test_dense_names_what_does_not_fit():
    r = vl.Ragged(np.arange(5), [3, 0, 2])
    for options, error, text in [
        ({"padding_side": "up"}, ValueError, "padding_side"),
        ({"truncate": "up"}, ValueError, "truncate"),
        ({"max_len": -1}, ValueError, "max_len: expected at least 0, got -1"),
        ({"max_len": [1, 2]}, ValueError, "max_len: 2 numbers for 1 levels"),
        ({"pad_to_multiple_of": 0}, ValueError, "pad_to_multiple_of: expected at least 1, got 0"),
        ({"fill": 0.5}, (ValueError, TypeError), "fill"),
        ({"max_bytes": 8}, ValueError, "72 bytes.*max_bytes=8"),
    ]:
        with pytest.raises(error, match=text):
            r.to_dense(**options)
    for arguments, error, text in [
        ({}, TypeError, "exactly one of lengths and mask"),
        ({"lengths": [1, 1]}, ValueError, "lengths: 2 of them for 3 rows"),
        ({"lengths": [1, 1, -1]}, ValueError, "lengths: row 2 has a negative length"),
        ({"lengths": [[1, 1, 1], [1, 1, 1]]}, ValueError, r"block: expected \(n, width, ...\) for 2 levels"),
    ]:
        with pytest.raises(error, match=text):
            vl.Ragged.from_dense(np.zeros((3, 3)), **arguments)
