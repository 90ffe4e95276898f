"""Errors name the argument that the caller gave."""

from __future__ import annotations

import numpy as np
import pytest
import varlen as vl


def ragged(kind):
    values = np.array([3, 1, 4], np.int8)
    if kind == "tensor":
        values = pytest.importorskip("torch").from_numpy(values)
    return vl.Ragged(values, [2, 1, 0])


@pytest.mark.parametrize("kind", ["array", "tensor"])
@pytest.mark.parametrize("verb", ["first", "last", "max", "min", "sum"])
def test_empty_is_called_empty(kind, verb):
    with pytest.raises(ValueError, match=r"^empty: .*does not fit"):
        getattr(ragged(kind), verb)(empty=10**30 if verb == "sum" else 300)


@pytest.mark.parametrize("maxlen", [2**62, 2**61, 2**50])
def test_a_mask_that_is_too_large_says_why(maxlen):
    with pytest.raises((ValueError, OverflowError, MemoryError), match=r"^maxlen: .*\w{3}"):
        vl.sequence_mask(ragged("array"), maxlen)


@pytest.mark.parametrize("kind", ["array", "tensor"])
def test_a_default_is_called_default(kind):
    with pytest.raises(ValueError, match=r"^default: "):
        ragged(kind).fill_empty_rows(300)
