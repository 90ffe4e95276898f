"""Look-up of values in a sorted array."""

import numpy as np
import pytest
from varlen.io import lookup
from varlen.io.row_ids import RowIds


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float64", "U3"])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("shape", [(0,), (5,), (1024,), (2500,), (3, 1000)])
def test_values_are_found_as_numpy_finds_them(dtype, side, shape, monkeypatch):
    monkeypatch.setattr(lookup, "_AT_ONCE", 1000)
    rng = np.random.default_rng(0)
    array = np.sort(rng.integers(0, 200, 300).astype(dtype))
    values = rng.integers(0, 256, shape).astype(dtype)
    found = lookup.search_sorted(array, values, side)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, np.searchsorted(array, values, side))


def test_many_ids_are_rows():
    ids = np.random.default_rng(0).permutation(5000)
    rows = RowIds([ids[:2000], ids[2000:]])
    assert ids[rows.rows_of(np.arange(5000))].tolist() == list(range(5000))
    with pytest.raises(KeyError, match="5000 at position 1999"):
        rows.rows_of(np.append(np.arange(1999), 5000))
    with pytest.raises(ValueError, match="rows 3 and 5 both have the id 7"):
        RowIds([np.array([1, 2, 3, 7, 4, 7, 7])])
