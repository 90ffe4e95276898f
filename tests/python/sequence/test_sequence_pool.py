"""Sequences to one row each, and softmax inside them, as Paddle has them and at any level."""

import re
from functools import partial

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from nested import deeper, raised
from oracles import sequence as oracle
from sequences import everywhere, gradient, plain, rows_of
from varlen.sequence import backprop_sequence_pool, backprop_sequence_softmax
from varlen.testing import strategies

TYPES = ["average", "sum", "sqrt", "max", "last", "first"]
ROWS = np.array([1.0, 3, 2, 4, 6, 5, 1])


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("average", [2, 4, 3, 0]),
        ("sum", [4, 12, 6, 0]),
        ("SQRT", [2.8284, 6.9282, 4.2426, 0]),
        ("max", [3, 6, 5, 0]),
        ("last", [3, 6, 1, 0]),
        ("first", [1, 2, 5, 0]),
    ],
)
def test_pool_gives_what_paddle_gives(kind, wanted):
    r = vl.Ragged(ROWS, [2, 3, 2, 0])
    assert np.allclose(everywhere(lambda x: vl.sequence_pool(x, kind), r), wanted, atol=1e-4)


def test_pool_takes_the_innermost_level_or_any_other():
    r = vl.Ragged(ROWS, [[2, 0, 3], [1, 2, 1, 0, 3]])
    result = vl.sequence_pool(r, "sum")
    assert result.values.tolist() == [1, 5, 4, 0, 12]
    assert result.levels[0] is r.levels[0]
    for kind in TYPES:
        for level in (-1, -2):
            below = raised(vl.sequence_pool(deeper(r), kind, level=level))
            assert plain(below) == plain(vl.sequence_pool(r, kind, level=level))
    assert vl.sequence_pool(r, "first").values.tolist() == [1, 3, 4, 0, 6]
    assert vl.sequence_last_step(r).values.tolist() == [1, 2, 4, 0, 1]
    assert vl.sequence_pool(r, "sum", level=0).tolist() == [6, 0, 16]
    assert vl.sequence_first_step(r, level=0).tolist() == [1, 0, 4]


def test_pool_names_the_largest_row():
    r = vl.Ragged(ROWS, [2, 3, 2, 0])
    index = everywhere(lambda x: vl.sequence_pool(x, "max", with_index=True)[1], r)
    assert index == [1, 4, 5, -1]
    wide = vl.Ragged(np.array([[1.0, 5], [2, 5]]), [0, 2])
    assert vl.sequence_pool(wide, "max", with_index=True)[1].tolist() == [[-1, -1], [1, 0]]


@pytest.mark.parametrize("kind", TYPES)
def test_pool_fills_for_empty_sequences_however_many(kind):
    r = vl.Ragged(np.ones((12, 2, 3)), [0, 0, 4, 0, 3, 0, 0, 5, 0, 0])
    result = vl.sequence_pool(r, kind, pad_value=0.25)
    assert everywhere(lambda x: vl.sequence_pool(x, kind, pad_value=0.25), r) == result.tolist()
    assert result.shape == (10, 2, 3)
    assert (result == 0.25).all(axis=(1, 2)).tolist() == [n == 0 for n in r.lengths]
    none = vl.sequence_pool(vl.Ragged(np.ones((0, 2)), [0, 0, 0]), kind, pad_value=0.25)
    assert none.tolist() == [[0.25, 0.25]] * 3


def test_pool_moves_rows_of_any_dtype():
    days = np.array(["2020-01-01", "2021-01-01"], "M8[D]")
    result = vl.sequence_last_step(vl.Ragged(days, [2, 0]))
    assert result.tolist() == [days[1].item(), None]  # no time, and not the first of 1970
    assert vl.sequence_pool(vl.Ragged([3, 1], [1, 1]), "sum").dtype == np.int64
    assert vl.sequence_pool(vl.Ragged([3, 1], [2]), "average").tolist() == [2.0]


@given(strategies.lengths(), st.sampled_from(TYPES), st.sampled_from(["int32", "float16", "float64"]))
def test_pool_is_what_the_oracle_says(lengths, kind, dtype):
    rows = np.random.default_rng(len(lengths)).integers(-9, 9, sum(lengths)).astype(dtype)
    r = vl.Ragged(rows, np.array(lengths, np.int64))
    wanted = oracle.sequence_pool([row.tolist() for row in r], kind, 2)
    result = everywhere(lambda x: vl.sequence_pool(x, kind, pad_value=2.0), r)
    assert np.allclose(result, wanted, rtol=2e-3)


@pytest.mark.parametrize("kind", TYPES)
def test_pool_has_the_gradient_of_autograd(kind):
    torch = pytest.importorskip("torch")
    r = vl.Ragged(np.random.default_rng(1).normal(size=(8, 2)), [[2, 0, 2], [3, 0, 4, 1]])
    for level in (-1, 0):
        pooled = partial(vl.sequence_pool, pool_type=kind, level=level)

        dx, d = gradient(torch, pooled, r)
        assert np.allclose(backprop_sequence_pool(d, r, kind, level=level).values, dx)
        on_tensors = backprop_sequence_pool(torch.tensor(d), r, kind, level=level).values
        assert np.allclose(on_tensors.numpy(), dx)
        x = torch.tensor(r.values, requires_grad=True)
        assert torch.autograd.gradcheck(lambda x, f=pooled: rows_of(f(r._make(x, r.levels))), x)


def test_pool_refuses_what_it_cannot_do():
    r = vl.Ragged([3, 1], [2])
    with pytest.raises(ValueError, match=r"pool_type: expected .*, got 'mean'"):
        vl.sequence_pool(r, "mean")
    with pytest.raises(TypeError, match="input: expected a Ragged, got ndarray"):
        vl.sequence_pool(np.ones(3), "sum")
    with pytest.raises(ValueError, match="with_index: only"):
        vl.sequence_pool(r, "sum", with_index=True)
    with pytest.raises(IndexError, match="level: 1 is out of range for 1 levels"):
        vl.sequence_pool(r, "sum", level=1)
    for kind in ("max", "sum", "last"):
        with pytest.raises(TypeError, match=r"pad_value: .*masked"):
            vl.sequence_pool(r, kind, pad_value=np.ma.masked)
    with pytest.raises(ValueError, match="sequence 1 is empty; pass pad_value= for its result"):
        vl.sequence_pool(vl.Ragged([1.0], [1, 0]), "sum", pad_value=None)
    with pytest.raises(ValueError, match=r"pad_value: 0\.5 does not fit int64"):
        vl.sequence_pool(r, "max", pad_value=0.5)
    with pytest.raises(ValueError, match=r"pad_value: expected one number, got shape \(2,\)"):
        vl.sequence_pool(r, "first", pad_value=[1, 2])
    with pytest.raises(ValueError, match="dY: has 2 rows, expected 1"):
        backprop_sequence_pool([1.0, 2.0], r, "sum")


def test_softmax_gives_what_paddle_gives():
    rows = [0.7, 1, 0.6, 1.5, 1.1, 1.2, 0.2, 0.6, 1.9, 3.1, 2.5, 0.8, 0.1, 2.4, 1.3]
    wanted = [0.307248, 0.414742, 0.278010, 0.598688, 0.401312, 0.254424, 0.093597, 0.139631, 0.512347, 1]
    wanted += [0.845535, 0.154465, 0.069958, 0.697773, 0.232269]
    result = everywhere(vl.sequence_softmax, vl.Ragged(np.array(rows), [3, 2, 4, 1, 2, 3]))
    assert np.allclose([x for row in result for x in row], wanted, atol=1e-6)
    result = everywhere(vl.sequence_softmax, vl.Ragged(np.array([1.0, 2, 3]), [0, 2, 0, 1]))
    assert np.allclose([x for row in result for x in row], [0.268941, 0.731059, 1], atol=1e-6)


def test_softmax_subtracts_the_maximum():
    assert everywhere(vl.sequence_softmax, vl.Ragged([1.0, 2, 3, 4000], [4])) == [[0, 0, 0, 1]]


def test_softmax_of_wide_rows_is_column_by_column():
    r = vl.Ragged(np.array([[1.0, 9], [2, 9], [3, 7]]), [2, 1])
    result = everywhere(vl.sequence_softmax, r)
    assert np.allclose([row for each in result for row in each], [[0.268941, 0.5], [0.731059, 0.5], [1, 1]])


def test_softmax_has_the_gradient_of_autograd():
    torch = pytest.importorskip("torch")
    r = vl.Ragged(np.random.default_rng(1).normal(size=(6, 2)), [[2, 1], [3, 0, 3]])
    for level in (-1, 0):
        dx, d = gradient(torch, lambda x, level=level: vl.sequence_softmax(x, level=level), r)
        y = vl.sequence_softmax(r, level=level)
        assert np.allclose(backprop_sequence_softmax(d, y, level=level).values, dx)
        of_tensors = y._make(torch.tensor(y.values), y.levels)
        result = backprop_sequence_softmax(torch.tensor(d), of_tensors, level=level)
        assert np.allclose(result.values.numpy(), dx)


@pytest.mark.parametrize(
    "name", ["uint16", "uint32", "uint64", "int8", "bool", "float8_e5m2", "float8_e4m3fn"]
)
def test_pool_takes_the_ends_of_tensors_that_torch_hardly_knows(name):
    torch = pytest.importorskip("torch")
    x = torch.tensor([[1, 0], [0, 1], [1, 1]]).to(getattr(torch, name))
    for lengths, wanted in (([2, 1], [[0, 1], [1, 1]]), ([0, 2, 1], [[0, 0], [0, 1], [1, 1]])):
        r = vl.Ragged(x, lengths)
        result = vl.sequence_last_step(r)
        assert (result.dtype, result.double().tolist()) == (x.dtype, wanted)
        first = vl.sequence_first_step(r)
        assert (first.dtype, first.double().tolist()) == (x.dtype, [*wanted[:-2], [1, 0], [1, 1]])
    result = vl.sequence_pool(vl.Ragged(x, [0, 3]), "last", pad_value=1)
    assert (result.dtype, result.double().tolist()) == (x.dtype, [[1, 1], [1, 1]])
    result = vl.Ragged(x, [3]).last()
    assert (result.dtype, result.double().tolist()) == (x.dtype, [[1, 1]])


def test_pool_refuses_integers_as_gradients_that_are_divided():
    r = vl.Ragged([1.0, 2, 3, 4, 5], [2, 3])
    wanted = {
        "sum": [1, 1, 2, 2, 2],
        "max": [0, 1, 0, 0, 2],
        "first": [1, 0, 2, 0, 0],
        "last": [0, 1, 0, 0, 2],
    }
    kinds = [np.asarray, pytest.importorskip("torch").tensor]
    for kind in kinds:
        d = kind([1, 2])
        for name in ("average", "sqrt"):
            with pytest.raises(TypeError, match="dY: expected floats, got int64"):
                backprop_sequence_pool(d, r, name)
        for name, rows in wanted.items():
            result = backprop_sequence_pool(d, r, name).values
            assert (result.dtype, result.tolist()) == (d.dtype, rows)


@pytest.mark.parametrize("kind", TYPES)
def test_pool_takes_arrays_as_gradients_of_tensors(kind):
    torch = pytest.importorskip("torch")
    r = vl.Ragged(np.array([[1.0, 5], [3, 4], [2, 2]]), [2, 0, 1])
    d = np.array([[1.0, 2], [3, 4], [5, 6]])
    of_tensors = r._make(torch.tensor(r.values), r.levels)
    result = backprop_sequence_pool(d, of_tensors, kind).values
    assert result.tolist() == backprop_sequence_pool(d, r, kind).values.tolist()


@pytest.mark.parametrize("kind", TYPES)
def test_pool_refuses_gradients_of_another_shape(kind):
    r = vl.Ragged(np.ones((3, 2)), [2, 1])
    for d in (np.ones(2), np.ones((2, 1)), np.ones((2, 2, 1))):
        with pytest.raises(ValueError, match=r"dY: has rows of shape \(.*\), expected \(2,\)"):
            backprop_sequence_pool(d, r, kind)
    with pytest.raises(TypeError, match="dY: expected numbers, got <U1"):
        backprop_sequence_pool(np.full((2, 2), "a"), r, kind)


NO_NUMBERS = "input: expected bool, integers or floats, got "


def test_pool_and_softmax_name_what_is_of_no_numbers():
    torch = pytest.importorskip("torch")
    others = [np.zeros(2, dtype) for dtype in ("c16", "U1", "M8[D]", [("a", "f8")])]
    others.append(torch.zeros(2, dtype=torch.complex64))
    for rows in others:
        r = vl.Ragged(rows, [2])
        for kind in TYPES[:4]:
            if str(rows.dtype) not in ("<U1", "datetime64[D]"):
                with pytest.raises(TypeError, match=NO_NUMBERS):
                    vl.sequence_pool(r, kind)
            with pytest.raises(TypeError, match=NO_NUMBERS):
                backprop_sequence_pool(torch.ones(1, dtype=torch.complex64), r, kind)
        with pytest.raises(TypeError, match=NO_NUMBERS):
            vl.sequence_softmax(r)
    r = vl.Ragged(np.array([1j, 2]), [2])
    assert backprop_sequence_pool([3j], r, "last").values.tolist() == [0, 3j]
    for kind in ("average", "sqrt"):
        for d in (np.array([1j]), torch.tensor([1j])):
            with pytest.raises(TypeError, match="dY: expected floats, got complex"):
                backprop_sequence_pool(d, vl.Ragged([1.0, 2], [2]), kind)


def test_softmax_refuses_gradients_of_another_shape_or_kind():
    torch = pytest.importorskip("torch")
    y = vl.Ragged(np.ones((2, 1)), [2])
    for d in (np.ones(2), np.ones((2, 2)), torch.ones((2, 2))):
        with pytest.raises(ValueError, match=r"dY: has rows of shape \(.*\), expected \(1,\)"):
            backprop_sequence_softmax(d, y)
    with pytest.raises(TypeError, match="dY: expected a tensor as Y is one, got ndarray"):
        backprop_sequence_softmax(np.ones((2, 1)), y._make(torch.ones((2, 1)), y.levels))
    for d in ([[1], [2]], [["a"], ["b"]], torch.ones((2, 1)).to(torch.complex64)):
        with pytest.raises(TypeError, match=r"dY: expected floats, got "):
            backprop_sequence_softmax(d, y)


@pytest.mark.parametrize(
    ("rows", "pooled"),
    [
        (np.array([5, 1, 9], "M8[s]"), {"max": [5, None], "average": [3, None], "first": [5, None]}),
        (np.array([5, 1, 9], "m8[ms]"), {"max": [5, 0], "sum": [6, 0], "average": [3, 0], "last": [1, 0]}),
        (np.array(["b", "a", "c"]), {"max": ["b", ""], "last": ["a", ""]}),
    ],
)
def test_pool_takes_times_durations_and_text(rows, pooled):
    r = vl.Ragged(rows[:2], [2, 0])
    for kind in ("average", "sum", "sqrt", "max", "first", "last"):
        if kind in pooled:
            wanted = np.array(["NaT" if x is None else x for x in pooled[kind]], rows.dtype)
            result = vl.sequence_pool(r, kind)
            assert result.dtype == rows.dtype
            assert np.array_equal(result, wanted, equal_nan=rows.dtype.kind != "U")
            assert vl.sequence_pool(r, kind, pad_value=rows[2])[1] == rows[2]
        elif kind not in ("first", "last"):
            with pytest.raises(TypeError, match=re.escape(f"got {rows.dtype}, for which")):
                vl.sequence_pool(r, kind)
    assert vl.sequence_pool(r, "max", with_index=True)[1].tolist() == [0, -1]
    nested = vl.Ragged(rows, [[1, 2], [2, 0, 1]])
    assert vl.sequence_pool(nested, "max", level=0).tolist() == [max(rows[:2]).item(), rows[2].item()]


@pytest.mark.parametrize("name", ["float8_e5m2", "float8_e4m3fn"])
def test_pool_and_softmax_take_floats_of_a_byte_as_methods_do(name):
    torch = pytest.importorskip("torch")
    r = vl.Ragged(torch.tensor([1.0, 3.0, 2.0]).to(getattr(torch, name)), [2, 1])
    for kind, wanted in (("sum", [4, 2]), ("average", [2, 2]), ("max", [3, 2]), ("sqrt", [2.75, 2])):
        result = vl.sequence_pool(r, kind)
        assert result.dtype == r.dtype
        assert np.allclose(result.float().numpy(), wanted, atol=0.3)
    assert vl.sequence_softmax(r).values.float().tolist() == r.softmax().values.float().tolist()
