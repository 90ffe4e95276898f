"""The dtype in which rows are added up or multiplied, against NumPy, and integers that it cannot hold."""

import numpy as np
import pytest
import varlen as vl
from varlen import ops

LENGTHS = [3, 0, 2]
DTYPES = ["int8", "uint8", "int32", "int64", "uint64", "float32", "float64"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("given", ["bool", "int8", "uint16", "int64", "float32"])
@pytest.mark.parametrize("verb", ["sum", "prod", "mean", "cumsum", "cumprod"])
def test_rows_are_accumulated_as_numpys_dtype_says(verb, given, dtype):
    r = vl.Ragged(np.array([1, 90, 3, 60, 2]).astype(given), LENGTHS)
    result = getattr(r, verb)(dtype=dtype)
    rows = result.values if verb.startswith("cum") else result[[0, 2]]
    wanted = [getattr(np, verb)(row, dtype=dtype) for row in (r.values[:3], r.values[3:])]
    assert result.dtype == dtype
    assert np.array_equal(rows, np.concatenate(wanted) if verb.startswith("cum") else wanted)


def test_tensors_take_a_dtype_of_torch_and_keep_gradients():
    torch = pytest.importorskip("torch")
    r = vl.Ragged(torch.tensor([100, 100, 3], dtype=torch.int8), [2, 1])
    assert r.sum(dtype=torch.int8).tolist() == [-56, 3]
    assert torch.sum(r, dim=1, dtype=torch.float32).tolist() == [200, 3]
    x = torch.ones(3, dtype=torch.float16, requires_grad=True)
    ops.reduce_sum(x, [2, 1], dtype=torch.float32).sum().backward()
    assert x.grad.dtype == torch.float16
    with pytest.raises(OverflowError, match=r"cumsum: about 200 in sequence 0 is not torch\.int8"):
        r.cumsum(dtype=torch.int8, overflow="raise")


@pytest.mark.parametrize(
    ("verb", "x", "text"),
    [
        ("reduce_sum", [[1, 0], [0, 2**63 - 1], [0, 1]], "sum: about 9.22337e.18 in column 1 of sequence 1"),
        (
            "reduce_prod",
            [[1, 0], [2**40, 1], [2**40, 1]],
            "prod: about 1.20893e.24 in column 0 of sequence 1",
        ),
        ("cumsum", [[1, 0], [0, -(2**63)], [0, -1]], "cumsum: .* in column 1 of sequence 1"),
        ("cumprod", [[1, 0], [1, 2**32], [1, 2**32]], "cumprod: .* in column 1 of sequence 1"),
    ],
)
def test_integers_that_wrap_are_refused_by_place(verb, x, text):
    with pytest.raises(OverflowError, match=text):
        getattr(ops, verb)(np.array(x), [1, 2], overflow="raise")
    assert len(getattr(ops, verb)(np.array(x), [1, 2])) > 0


def test_results_at_the_edge_pass():
    most = 2**63 - 1
    assert ops.reduce_sum(np.array([most, 1, -1]), [3], overflow="raise").tolist() == [most]
    assert ops.reduce_prod(np.array([2**40, 2**40, 0]), [3], overflow="raise").tolist() == [0]
    assert ops.reduce_sum(np.array([2**63, most], np.uint64), [2], overflow="raise").tolist() == [2**64 - 1]
    assert ops.cumsum(np.array([most, 0, 1]), [3], exclusive=True, overflow="raise").tolist() == [
        0,
        most,
        most,
    ]


def test_an_overflow_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="overflow: expected 'wrap' or 'raise', got 'clip'"):
        ops.reduce_sum(np.array([1]), [1], overflow="clip")
    with pytest.raises(TypeError, match="overflow: expected integers"):
        ops.reduce_sum(np.array([1.0]), [1], overflow="raise")
