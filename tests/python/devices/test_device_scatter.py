"""Lookups on a device: numbers of arrays, also where the indices lie there and nobody looks at them."""

import numpy as np
import pytest
from devices import Array, call
from varlen import _core

host = pytest.importorskip("varlen._cuda_host", reason="the kernels of devices were not built for the host")

X = np.arange(10.0).reshape(5, 2)
INDICES = np.array([[0, 1, 4], [3, 3, 0]])
DY = X[:2] + 1


@pytest.fixture(autouse=True)
def _on_devices():
    """Kernels of devices alone: arrays of the host stay what they are."""
    _core.forget_kernels()  # those that get the arrays of the host as well
    _core.register(kernels=host.kernels)
    yield
    _core.forget_kernels()


@pytest.mark.parametrize("place", [Array, np.asarray])
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1", "?"])
def test_lookups_give_what_they_give_of_arrays(place, dtype):
    x, dy = X.astype(dtype), DY.astype(dtype)
    for index in ("i4", "u4", "i8", "u8"):
        at = INDICES.astype(index)
        np.testing.assert_array_equal(
            call(_core.gather_add, Array(x), place(at)).numbers, _core.gather_add(x, at)
        )
        np.testing.assert_array_equal(
            call(_core.backprop_gather_add, Array(dy), place(at), 5).numbers,
            _core.backprop_gather_add(dy, at, 5),
        )
        wanted = _core.scatter_added(x, at[0], x[:3])
        np.testing.assert_array_equal(
            call(_core.scatter_added, Array(x), place(at[0]), Array(x[:3])).numbers, wanted
        )
        table = Array(x.copy())
        assert call(_core.scatter_add, table, place(at[0]), Array(x[:3])) is None
        np.testing.assert_array_equal(table.numbers, wanted)


def test_results_go_to_the_array_that_was_given():
    out = Array(np.zeros((2, 2)))
    assert call(_core.gather_add, Array(X), Array(INDICES), out) is out
    np.testing.assert_array_equal(out.numbers, _core.gather_add(X, INDICES))
    out = Array(np.ones((5, 2)))
    assert call(_core.backprop_gather_add, Array(DY), INDICES, 5, out) is out
    np.testing.assert_array_equal(out.numbers, _core.backprop_gather_add(DY, INDICES, 5))


def test_indices_that_nobody_saw_never_leave_the_table():
    at = np.array([[0, 5], [-1, 2**62], [4, 4]])
    found = call(_core.gather_add, Array(X), Array(at)).numbers
    np.testing.assert_array_equal(found, [X[0], [0, 0], 2 * X[4]])
    back = call(_core.backprop_gather_add, Array(X[:3]), Array(at), 5).numbers
    np.testing.assert_array_equal(back, [X[0], [0, 0], [0, 0], [0, 0], 2 * X[2]])


def test_indices_of_the_host_are_checked_there():
    for verb, *rest in ((_core.gather_add,), (_core.backprop_gather_add, 3)):
        with pytest.raises(IndexError, match=r"^indices: position 1, 0 holds 5, but the table has"):
            call(verb, Array(X[:2] if rest else X), np.array([[0, 1], [5, 0]]), *rest)


def test_what_does_not_go_together_is_refused():
    with pytest.raises(ValueError, match=r"^indices: expected an array on the host, got one on device 0"):
        call(_core.gather_add, X, Array(INDICES))
    with pytest.raises(ValueError, match=r"^values: expected an array on device 0, got one on the host"):
        call(_core.scatter_added, Array(X), INDICES[0], X[:3])
    with pytest.raises(ValueError, match=r"^table: expected an array on device 0, got one on the host"):
        call(_core.scatter_add, X.copy(), INDICES[0], Array(X[:3]))
    with pytest.raises(ValueError, match=r"^table: is not C-contiguous"):
        call(_core.scatter_add, Array(np.zeros((2, 5)).T), INDICES[0], Array(X[:3]))
    with pytest.raises(TypeError, match=r"^indices: expected integers, got dtype float32"):
        call(_core.gather_add, Array(X), Array(INDICES.astype(np.float32)))
    x = X.copy()
    with pytest.raises(ValueError, match=r"^table: "):
        call(_core.scatter_add, Array(x), INDICES[0], Array(x[:3]))
