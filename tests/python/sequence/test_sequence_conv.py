"""Convolutions through sequences, with windows anywhere and rows around that are trained."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from nested import deeper
from oracles import sequence as oracle
from sequences import everywhere, rows_of
from varlen.sequence import backprop_row_conv, backprop_sequence_conv
from varlen.testing import strategies


def columns(r, *window, padding=None):
    """The windows themselves: those times a filter that leaves them as they are."""
    length = window[1]
    return everywhere(
        lambda x: vl.sequence_conv(x, np.eye(length * x.values.shape[1]), *window, padding_data=padding), r
    )


def test_conv_lays_out_the_windows_that_paddle_does():
    r = vl.Ragged(np.array([[1.0, 1], [2, 2], [3, 3], [4, 4]]), [3, 1])
    result = columns(r, -1, 3)
    assert result == [[[0, 0, 1, 1, 2, 2], [1, 1, 2, 2, 3, 3], [2, 2, 3, 3, 0, 0]], [[0, 0, 4, 4, 0, 0]]]
    result = columns(r, -1, 3, padding=np.array([[-1.0, -1], [-2, -2]]))
    assert result == [
        [[-1, -1, 1, 1, 2, 2], [1, 1, 2, 2, 3, 3], [2, 2, 3, 3, -2, -2]],
        [[-1, -1, 4, 4, -2, -2]],
    ]
    one = vl.Ragged(np.array([[1.0], [2], [3], [4]]), [3, 1])
    assert columns(one, 0, 2) == [[[1, 2], [2, 3], [3, 0]], [[4, 0]]]
    assert columns(one, 1, 2) == [[[2, 3], [3, 0], [0, 0]], [[0, 0]]]
    assert columns(one, -2, 2) == [[[0, 0], [0, 1], [1, 2]], [[0, 0]]]


def test_conv_takes_inner_sequences_together():
    r = vl.Ragged(np.array([[1.0], [2], [3]]), [[2], [2, 1]])
    result = vl.sequence_conv(r, np.eye(2), 0, level=0)
    assert result.values.tolist() == [[1, 2], [2, 3], [3, 0]]
    assert result.levels == r.levels
    result = vl.sequence_conv(r, np.eye(2), 0, context_stride=2, level=0)
    assert result.to_list() == [[[1, 2], [3, 0]]]


@given(strategies.lengths(5, 4), st.integers(-4, 4), st.integers(1, 4), st.booleans(), st.integers(1, 2))
def test_conv_is_what_the_oracle_says(lengths, start, length, padded, stride):
    rng = np.random.default_rng(abs(start))
    r = vl.Ragged(rng.integers(-9, 9, (sum(lengths), 2)).astype(float), np.array(lengths, np.int64))
    weights = rng.integers(-9, 9, (2 * length, 3)).astype(float)
    pads = rng.integers(-9, 9, (max(0, -start) + max(0, start + length - 1), 2)).astype(float)
    result = everywhere(
        lambda x: vl.sequence_conv(x, weights, start, length, stride, pads if padded else None), r
    )
    plain = pads.tolist() if padded else None
    assert result == oracle.sequence_conv(r.to_list(), weights.tolist(), start, length, plain, stride)
    result = everywhere(lambda x: vl.row_conv(x, weights[:, :2]), r)
    assert result == oracle.row_conv(r.to_list(), weights[:, :2].tolist())


@pytest.mark.parametrize("start", [-4, -1, 1, 3])
def test_conv_has_the_gradients_of_autograd(start):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(1)
    levels = vl.Ragged(np.zeros(6), [[2, 1], [3, 0, 3]]).levels
    count = max(0, -start) + max(0, start + 2)
    for level, stride in ((-1, 1), (0, 2)):
        arrays = [rng.normal(size=shape) for shape in ((6, 2), (6, 2), (count, 2), (2,))]
        tensors = [torch.tensor(each, requires_grad=True) for each in arrays]

        def conv(x, weights, pads, bias, level=level, stride=stride):
            r = vl.Ragged(x, levels=levels)
            return vl.sequence_conv(r, weights, start, 3, stride, pads, bias, level=level).values

        result = conv(*tensors)
        assert np.allclose(result.detach().numpy(), conv(*arrays))
        d = rng.normal(size=result.shape)
        wanted = torch.autograd.grad(result, tensors, torch.tensor(d))
        for kind in (np.asarray, torch.tensor):
            x, weights, pads, _ = (kind(each) for each in arrays)
            r = vl.Ragged(x, levels=levels)
            backs = backprop_sequence_conv(kind(d), r, weights, start, 3, stride, pads, level=level)
            for back, want in zip(backs, wanted, strict=True):
                assert np.allclose(np.asarray(rows_of(back)), want.numpy())
    assert torch.autograd.gradcheck(conv, tensors)


def test_row_conv_has_the_gradients_of_autograd():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(1)
    x, weights = (torch.tensor(rng.normal(size=s), requires_grad=True) for s in ((5, 2), (3, 2)))
    r = vl.Ragged(x, [2, 0, 3])
    result = vl.row_conv(r, weights).values
    d = torch.randn(result.shape, dtype=result.dtype)
    wanted = torch.autograd.grad(result, (x, weights), d)
    for kind in (torch.Tensor.numpy, torch.Tensor.clone):
        of = r._make(kind(x.detach()), r.levels)
        for r in (of, deeper(of)):
            backs = backprop_row_conv(kind(d), r, kind(weights.detach()))
            assert backs[0].levels == r.levels
            for back, want in zip(backs, wanted, strict=True):
                assert np.allclose(np.asarray(rows_of(back)), want.numpy())


def test_row_conv_takes_rectangles():
    block = np.arange(12.0).reshape(2, 3, 2)
    weights = np.array([[1.0, 1], [10, 10]])
    result = vl.row_conv(block, weights)
    assert result.shape == block.shape
    assert np.array_equal(result[:, :2], block[:, :2] + 10 * block[:, 1:])
    assert backprop_row_conv(result, block, weights)[0].shape == block.shape


def test_conv_refuses_what_does_not_fit():
    r = vl.Ragged(np.ones((3, 2)), [2, 1])
    with pytest.raises(ValueError, match=r"filter: has 5 rows, expected 2 \* 2 = 4"):
        vl.sequence_conv(r, np.ones((5, 1)))
    with pytest.raises(ValueError, match=r"filter: expected \(context_length \* 2, M\), got \(4,\)"):
        vl.sequence_conv(r, np.ones(4))
    with pytest.raises(ValueError, match="context_length"):
        vl.sequence_conv(r, np.ones((0, 1)))
    with pytest.raises(ValueError, match="context_stride"):
        vl.sequence_conv(r, np.ones((4, 1)), context_stride=0)
    with pytest.raises(ValueError, match=r"padding_data: expected shape \(1, 2\), got \(2, 2\)"):
        vl.sequence_conv(r, np.ones((4, 1)), padding_data=np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"bias: expected shape \(1,\), got \(2,\)"):
        vl.sequence_conv(r, np.ones((4, 1)), bias=np.ones(2))
    with pytest.raises(ValueError, match=r"filter: expected one row or more of shape \(2,\), got \(2, 3\)"):
        vl.row_conv(r, np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"input: expected a Ragged or \(n, T, D\), got shape \(3, 2\)"):
        vl.row_conv(np.ones((3, 2)), np.ones((2, 2)))


def test_conv_takes_lists_and_refuses_other_kinds():
    r = vl.Ragged(np.ones((3, 1)), [3])
    assert vl.sequence_conv(r, [[1.0], [2.0]], padding_data=[[5.0]]).values.ravel().tolist() == [7, 3, 3]
    torch = pytest.importorskip("torch")
    of_tensors = vl.Ragged(torch.ones(3, 1), [3])
    with pytest.raises(TypeError, match="filter: expected a tensor as input is one, got ndarray"):
        vl.sequence_conv(of_tensors, np.ones((2, 1)))
    with pytest.raises(TypeError, match="bias: expected an array as input is one, got Tensor"):
        vl.sequence_conv(r, np.ones((2, 1)), bias=torch.ones(1))
    half = vl.Ragged(torch.ones((3, 1), dtype=torch.bfloat16), [3])
    result = vl.sequence_conv(half, torch.ones((2, 1), dtype=torch.bfloat16))
    assert (result.dtype, result.values.ravel().tolist()) == (torch.bfloat16, [1, 2, 2])


HALVES = ["float16", "bfloat16"]


def half(name):
    return np.dtype(getattr(pytest.importorskip("ml_dtypes"), name) if name == "bfloat16" else name)


@pytest.mark.parametrize("name", HALVES)
def test_conv_adds_halves_up_in_float32(name):
    count = 4096  # more ones than either half counts one by one, and a number of both
    x = np.ones((count, 2), half(name))
    r = vl.Ragged(x, [count])
    backs = backprop_row_conv(x, r, x[:1])[1], *backprop_sequence_conv(x, r, x[:2], 0)[1:4:2]
    for back in backs:
        assert back.dtype == x.dtype
        assert (back.astype(float) == count).all()
    steps = np.array([[1.0]] + [[2.0**-9]] * 8, x.dtype)
    result = vl.row_conv(vl.Ragged(np.ones((9, 1), x.dtype), [9]), steps)
    assert float(result.values[0, 0]) == 1 + 2.0**-6


def test_row_conv_adds_halves_of_tensors_up_in_float32():
    torch = pytest.importorskip("torch")
    for dtype in (torch.float16, torch.bfloat16):
        steps = torch.tensor([[1.0]] + [[2.0**-9]] * 8, dtype=dtype)
        result = vl.row_conv(vl.Ragged(torch.ones((9, 1), dtype=dtype), [9]), steps).values
        assert (result.dtype, float(result[0, 0])) == (dtype, 1 + 2.0**-6)


@pytest.mark.parametrize("name", HALVES)
def test_conv_keeps_halves(name):
    dtype = half(name)
    x, pads = np.ones((3, 1), dtype), np.full((1, 1), 5, dtype)
    r = vl.Ragged(x, [3])
    result = vl.sequence_conv(r, np.ones((2, 1), dtype), padding_data=pads, bias=x[0])
    assert (result.dtype, result.values.ravel().tolist()) == (dtype, [7, 3, 3])
    backs = backprop_sequence_conv(x, r, np.ones((2, 1), dtype), padding_data=pads)
    assert [rows_of(back).dtype for back in backs] == [dtype] * 4
    assert [rows_of(back).dtype for back in backprop_row_conv(x, r, x)] == [dtype] * 2
    wide = vl.sequence_conv(r, np.ones((2, 1), np.float32))
    assert wide.dtype == np.float32


def test_conv_of_complex_numbers_has_the_gradients_of_autograd():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(1)
    levels = vl.Ragged(np.zeros(5), [2, 0, 3]).levels

    def conv(x, weights, pads):
        return vl.sequence_conv(vl.Ragged(x, levels=levels), weights, padding_data=pads).values

    def ahead(x, weights, _):
        return vl.row_conv(vl.Ragged(x, levels=levels), weights).values

    for real in (None, 0, 1, 2):
        arrays = [rng.normal(size=s) + 1j * rng.normal(size=s) for s in ((5, 2), (6, 2), (2, 2))]
        arrays = [each.real.copy() if k == real else each for k, each in enumerate(arrays)]
        tensors = [torch.tensor(each, requires_grad=True) for each in arrays]
        for call, backprop in ((conv, backprop_sequence_conv), (ahead, backprop_row_conv)):
            result = call(*tensors)
            assert np.allclose(result.detach().numpy(), call(*arrays))
            assert torch.autograd.gradcheck(call, tensors)
            d = rng.normal(size=result.shape) + 1j * rng.normal(size=result.shape)
            wanted = torch.autograd.grad(result, tensors, torch.tensor(d), allow_unused=True)
            for kind in (np.asarray, torch.tensor):
                x, weights, pads = (kind(each) for each in arrays)
                r = vl.Ragged(x, levels=levels)
                pads = {"padding_data": pads} if call is conv else {}
                backs = backprop(kind(d), r, weights, **pads)
                for back, want in zip(backs, wanted, strict=False):
                    assert np.allclose(np.asarray(rows_of(back)), want.numpy())
                    assert np.iscomplexobj(np.asarray(rows_of(back))) == want.is_complex()


def test_conv_refuses_gradients_of_another_shape_or_kind():
    r = vl.Ragged(np.ones((3, 2)), [2, 1])
    block = np.ones((2, 3, 2))
    with pytest.raises(ValueError, match=r"dY: has rows of shape \(2,\), expected \(1,\)"):
        backprop_sequence_conv(np.ones((3, 2)), r, np.ones((4, 1)))
    for d in (np.ones((3, 1)), np.ones(3), np.ones((3, 2, 2))):
        with pytest.raises(ValueError, match=r"dY: has rows of shape \(.*\), expected \(2,\)"):
            backprop_row_conv(d, r, np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"dY: expected shape \(2, 3, 2\), got \(3, 2, 2\)"):
        backprop_row_conv(np.ones((3, 2, 2)), block, np.ones((2, 2)))
    with pytest.raises(TypeError, match="dY: expected numbers, got <U1"):
        backprop_row_conv(np.full((3, 2), "a"), r, np.ones((2, 2)))
    torch = pytest.importorskip("torch")
    of_tensors = vl.Ragged(torch.ones(3, 2), [2, 1])
    for backprop, rows in ((backprop_sequence_conv, 4), (backprop_row_conv, 1)):
        with pytest.raises(TypeError, match="dY: expected an array as input is one, got Tensor"):
            backprop(torch.ones(3, 2), r, np.ones((rows, 2)))
        with pytest.raises(TypeError, match="dY: expected a tensor as input is one, got ndarray"):
            backprop(np.ones((3, 2)), of_tensors, torch.ones(rows, 2))


@pytest.mark.parametrize("dtype", ["U1", "M8[D]", "m8[s]", [("a", "f8")]])
def test_conv_names_what_is_of_no_numbers(dtype):
    r, weights = vl.Ragged(np.zeros((3, 1), dtype), [2, 1]), np.ones((2, 1))
    numbers = vl.Ragged(np.ones((3, 1)), [2, 1])
    for call in (vl.sequence_conv, vl.row_conv):
        with pytest.raises(TypeError, match="input: expected numbers, got "):
            call(r, weights)
        with pytest.raises(TypeError, match="filter: expected numbers, got "):
            call(numbers, np.zeros((2, 1), dtype))
    with pytest.raises(TypeError, match="bias: expected numbers, got "):
        vl.sequence_conv(numbers, weights, bias=np.zeros(1, dtype))


@pytest.mark.parametrize("start", [2**40, -(2**40), 2**70])
def test_conv_names_a_window_too_far_away(start):
    r = vl.Ragged(np.ones((3, 1)), [2, 1])
    with pytest.raises(ValueError, match=f"context_start: expected -2147483648 to 2147483648, got {start}"):
        vl.sequence_conv(r, np.ones((2, 1)), start)


def test_conv_keeps_what_padding_adds_to_integers():
    r = vl.Ragged(np.array([[1], [2]]), [2])
    result = vl.sequence_conv(r, np.array([[1], [1]]), padding_data=np.array([[0.5]]))
    assert result.values.ravel().tolist() == [1.5, 3]


@pytest.mark.parametrize("dtype", [">f2", ">f4", ">c8"])
def test_conv_takes_numbers_of_another_byte_order(dtype):
    x, weights = np.array([[1], [2]], dtype), np.array([[1], [10]], dtype)
    r, native = vl.Ragged(x, [2]), np.dtype(dtype).newbyteorder("=")
    result = vl.sequence_conv(r, weights, 0, padding_data=x[:1])
    assert (result.dtype, result.values.ravel().tolist()) == (native, [21, 12])
    assert vl.sequence_conv(r, weights, 0).values.ravel().tolist() == [21, 2]
    assert vl.row_conv(r, weights).values.ravel().tolist() == [21, 2]
    backs = backprop_sequence_conv(x, r, weights, 0, padding_data=x[:1])
    assert [rows_of(back).ravel().tolist() for back in backs] == [[1, 12], [5, 4], [20], [3]]
    assert [rows_of(back).ravel().tolist() for back in backprop_row_conv(x, r, weights)] == [[1, 12], [5, 2]]
