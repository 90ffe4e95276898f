"""The backend of libraries that have NumPy's functions, tried with NumPy itself."""

import device_verbs
import numpy as np
import pytest
import varlen as vl
from varlen import backends
from varlen.backends import arrays
from varlen.backends.namespace import Library, NamespaceBackend
from varlen.backends.table import Backend


class Other(np.ndarray):
    """An array of NumPy that is said to be of another library."""


@pytest.fixture
def other(monkeypatch):
    backend = NamespaceBackend(Library(np))
    monkeypatch.setitem(backends._BACKENDS, Other, backend)
    return backend


MIXED = ("sequences", "beams")  # verbs of two arguments of one kind, of which the core gives NumPy's own
CASES = [
    pytest.param(make, step, id=f"{make.__name__}-{name}")
    for make, name, step in device_verbs.CASES
    if name not in MIXED
]


@pytest.mark.parametrize(("make", "step"), CASES)
def test_it_gives_what_the_backend_of_numpy_gives(make, step, other):
    device_verbs.check(step, make, lambda x: x.view(Other), np.ndarray, np.asarray)


def test_it_has_all_verbs_of_the_table(other):
    assert {name for name in vars(Backend) if name[0] != "_"} <= set(dir(other))
    assert repr(other) == "NamespaceBackend(numpy)"


def test_levels_are_those_of_numpy(other):
    mask = np.array([[True, False], [True, True]])
    assert other.mask_to_level(mask, "right") == arrays.mask_to_level(mask, "right")
    assert other.concat_levels([vl.Level([1]), vl.Level([2])]).lengths.tolist() == [1, 2]


def test_numbers_are_cast_where_they_fit(other):
    for given, dtype in (
        (np.int64, np.uint8),
        (np.int64, np.float32),
        (np.float64, np.float16),
        (np.uint8, np.int8),
        (np.int8, np.uint64),
        (np.uint64, np.int64),
        (bool, np.float16),
        (np.float64, np.int32),
    ):
        numbers = np.array([0, 1, 100], given)
        assert other.cast(numbers, dtype, "values").tolist() == arrays.cast(numbers, dtype, "values").tolist()
    for number, dtype in (
        (300, np.uint8),
        (-1, np.uint8),
        (-1, np.uint64),
        (0.5, np.int32),
        (1e6, np.float16),
    ):
        for backend in (other, arrays):
            with (
                np.errstate(over="ignore"),
                pytest.raises(ValueError, match=r"values: element 1 .*does not fit"),
            ):
                backend.cast(np.array([0, number]), dtype, "values")
    with pytest.raises(
        ValueError, match="values: element 1 is 18446744073709551615, which does not fit int64"
    ):
        other.cast(np.array([0, 2**64 - 1], np.uint64), np.int64, "values")
    with pytest.raises(ValueError, match="values: complex numbers do not fit"):
        other.cast(np.ones(1, complex), float, "values")


def test_complex_numbers_are_added_in_parts(other):
    x = np.array([1 + 2j, 3j])
    assert other.in_parts(x, lambda rows: rows.sum(axis=0, keepdims=True)).tolist() == [1 + 5j]


def test_what_it_refuses_it_names(other):
    x = np.zeros((2, 2))
    with pytest.raises(ValueError, match="X: expected at least one dimension"):
        other.as_rows(np.array(1.0), "X")
    with pytest.raises(TypeError, match="out: expected an array of numpy"):
        other.assign([1], x)
    with pytest.raises(ValueError, match="out: needs float64"):
        other.assign(np.zeros(3), x)
    with pytest.raises(TypeError, match="expected an array on the CPU, got one on cpu"):
        other.as_numpy(x)
    with pytest.raises(TypeError, match="numpy has no sproing"):
        other.ufunc("sproing", [x], {})
    with pytest.raises(ValueError, match="lists nested 2 deep"):
        other.list2padded([[np.zeros(1)]])
    with pytest.raises(ValueError, match="out: shares memory"):
        other.expand_mean(x, vl.Level([1, 1]), x)
    with pytest.raises(TypeError, match="weights: expected numbers"):
        other.bincount(np.array([0]), np.array(["a"]), 1)
    with pytest.raises(TypeError, match="varlen has no LSTM"):
        other.backprop_lstm(x, [1], x, ())
