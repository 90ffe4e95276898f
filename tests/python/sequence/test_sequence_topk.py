"""Means of the largest numbers of each row: of halves, of NaN, of more numbers than there are."""

import numpy as np
import pytest
import varlen as vl
from sequences import gradient
from varlen.sequence import backprop_sequence_topk_avg_pooling as backprop

NAN = float("nan")


def table(*lines):
    """Rows and columns of one table, and its numbers laid end to end."""
    numbers = np.array(lines, float)
    count, width = numbers.shape
    return vl.Ragged(numbers.reshape(-1), [count * width]), *(
        vl.Ragged(np.zeros(n), [n]) for n in (count, width)
    )


def of_tensors(r, **options):
    torch = pytest.importorskip("torch")
    return vl.Ragged(torch.tensor(r.values, **options), levels=r.levels)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_topk_adds_halves_up_in_float32(name):
    x, row, col = table(np.ones(4096))
    big = table([60000, 60000, 0])
    if name == "float16":
        halves = x.astype(name), big[0].astype(name)
    else:
        dtype = pytest.importorskip("ml_dtypes").bfloat16
        halves = tuple(r._make(r.values.astype(dtype), r.levels) for r in (x, big[0]))
    result = vl.sequence_topk_avg_pooling(halves[0], row, col, [4096, 3000], 1).values
    assert (result.dtype, result.tolist()) == (halves[0].dtype, [[1, 1]])
    result = vl.sequence_topk_avg_pooling(halves[1], *big[1:], [2], 1).values
    assert abs(float(result[0, 0]) - 60000) < 200


def test_topk_adds_halves_of_tensors_up_in_float32():
    torch = pytest.importorskip("torch")
    x, row, col = table(np.ones(4096))
    big = table([60000, 60000, 0])
    for dtype in (torch.float16, torch.bfloat16):
        result = vl.sequence_topk_avg_pooling(of_tensors(x, dtype=dtype), row, col, [4096], 1).values
        assert (result.dtype, result.tolist()) == (dtype, [[1]])
        result = vl.sequence_topk_avg_pooling(of_tensors(big[0], dtype=dtype), *big[1:], [2], 1).values
        assert abs(float(result[0, 0]) - 60000) < 200


def test_topk_gradients_of_halves_are_added_up_in_float32():
    x, row, col = table([1.0])
    d = np.array([[1.0] + [2.0**-11] * 8], np.float16)
    result = backprop(d, x, row, col, [1] * 9, 1)
    assert result.values.tolist() == [1 + 2.0**-8]


def test_topk_takes_nan_for_the_largest():
    inf = np.inf
    x, row, col = table([1, NAN, 3], [inf, 5, -inf], [NAN, inf, NAN])
    wanted = [[NAN] * 3, [inf, inf, NAN], [NAN] * 3]
    for values in (x, of_tensors(x), x.astype("float16"), of_tensors(x.astype("float16"))):
        result = vl.sequence_topk_avg_pooling(values, row, col, [1, 2, 3], 1).values
        assert np.array_equal(np.asarray(result), wanted, equal_nan=True)


def test_topk_gives_nan_the_gradient_of_the_largest():
    torch = pytest.importorskip("torch")
    x, row, col = table([1, NAN, 3, 3], [4, 5, 5, 2], [NAN, np.inf, NAN, 0])
    d = np.array([[1.0, 0], [0, 2], [8, 2]])
    wanted = [0, 1, 0, 0, 0, 1, 1, 0, 9, 0, 1, 0]
    assert backprop(d, x, row, col, [1, 2], 1).values.tolist() == wanted
    on_tensors = backprop(torch.tensor(d), of_tensors(x), row, col, [1, 2], 1)
    assert on_tensors.values.tolist() == wanted
    watched = of_tensors(x, requires_grad=True)
    result = vl.sequence_topk_avg_pooling(watched, row, col, [1, 2], 1).values
    assert torch.autograd.grad(result, watched.values, torch.tensor(d))[0].tolist() == wanted


def test_topk_gradients_reach_their_own_numbers_alone():
    x, row, col = table([1.0, 5, 3])
    result = backprop([[np.inf, 1.0]], x, row, col, [1, 2], 1)
    assert result.values.tolist() == [0, np.inf, 0.5]


def test_topk_takes_more_numbers_than_there_are():
    x, row, col = table([1.0, 5, 2], [2, 2, 4])
    ks = [2**62, 1, 10**12]
    for values in (x, of_tensors(x)):
        result = np.asarray(vl.sequence_topk_avg_pooling(values, row, col, ks, 1).values)
        assert np.allclose(result, np.array([[8.0], [8.0]]) / ks + [[0, 5 - 8, 0], [0, 4 - 8, 0]], rtol=1e-12)
    dx, d = gradient(
        pytest.importorskip("torch"), lambda r: vl.sequence_topk_avg_pooling(r, row, col, ks, 1), x
    )
    assert np.allclose(backprop(d, x, row, col, ks, 1).values, dx)


@pytest.mark.parametrize("dtype", ["c16", "U1", "M8[D]", [("a", "f8")]])
def test_topk_names_what_is_of_no_numbers(dtype):
    _, row, col = table([0, 0, 0])
    x = vl.Ragged(np.zeros(3, dtype), [3])
    with pytest.raises(TypeError, match="input: expected bool, integers or floats, got "):
        vl.sequence_topk_avg_pooling(x, row, col, [1], 1)
    with pytest.raises(TypeError, match="input: expected bool, integers or floats, got "):
        backprop([[1.0]], x, row, col, [1], 1)


def test_topk_takes_tensors_of_floats_and_no_complex_numbers():
    torch = pytest.importorskip("torch")
    _, row, col = table([0, 0, 0])
    x = torch.tensor([1.0, 5, 3])
    for dtype in (torch.float16, torch.float8_e5m2):
        best = vl.sequence_topk_avg_pooling(vl.Ragged(x.to(dtype), [3]), row, col, [1, 2], 1)
        assert best.values.dtype == dtype
        assert best.values.tolist() == [[5, 4]]
    with pytest.raises(TypeError, match="input: expected bool, integers or floats, got complex64"):
        vl.sequence_topk_avg_pooling(vl.Ragged(x.to(torch.complex64), [3]), row, col, [1], 1)


def test_topk_refuses_gradients_that_are_no_floats_or_of_another_shape():
    x, row, col = table([1.0, 5, 3])
    with pytest.raises(TypeError, match="dY: expected floats, got int64"):
        backprop([[1]], x, row, col, [2], 1)
    with pytest.raises(ValueError, match=r"dY: has rows of shape \(1,\), expected \(2,\)"):
        backprop([[1.0]], x, row, col, [2, 1], 1)


def test_topk_takes_gradients_of_the_other_kind():
    torch = pytest.importorskip("torch")
    x, row, col = table([1.0, 5, 3])
    assert backprop([[1.0]], of_tensors(x), row, col, [2], 1).values.tolist() == [0, 0.5, 0.5]
    assert backprop(torch.tensor([[1.0]]), x, row, col, [2], 1).values.tolist() == [0, 0.5, 0.5]
