"""Rectangles of a Ragged in memory that is given, and back."""

import numpy as np
import pytest
import varlen as vl


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
