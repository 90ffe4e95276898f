"""Thinc's ops and ours, and what it takes for their results to be the same."""

import numpy as np
import pytest

pytest.importorskip("thinc", reason="thinc is not installed")

from thinc.backends import NumpyOps
from thinc.types import Padded
from varlen import thinc

STOCK = NumpyOps()
OURS = thinc.VarlenOps()

# Ours within Thinc, and ours without it.
each = pytest.mark.parametrize("ours", [OURS, thinc.NumpyOps()], ids=["VarlenOps", "NumpyOps"])


def close(got, want):
    """Equal in kind, and in numbers to the rounding of float32."""
    assert type(got) is np.ndarray
    assert got.flags.writeable
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6)


def same(got, want):
    """Equal to the bit, lists and Padded too."""
    if isinstance(want, Padded):
        assert type(got) in (Padded, thinc.Padded)
        for field in ("data", "size_at_t", "lengths", "indices"):
            array = getattr(got, field)
            # Fields of ours cannot be written to.
            same(array.copy() if type(got) is thinc.Padded else array, getattr(want, field))
    elif isinstance(want, (list, tuple)):
        assert type(got) is type(want)
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            same(one, other)
    else:
        assert type(got) is np.ndarray
        assert got.flags.writeable
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        assert got.tobytes() == np.ascontiguousarray(want).tobytes()
