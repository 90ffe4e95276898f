"""The doors that take tensors: bad input is refused by name, and no number wraps."""

import numpy as np
import pytest
import varlen as vl
from doors import refuses
from varlen import Ragged, ops

torch = pytest.importorskip("torch")

T = torch.tensor
BOTH = (TypeError, ValueError)


def example(dtype=None):
    return Ragged(T([1, 300], dtype=dtype), [2, 0])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: Ragged(T([1, 2]), T([1.0, 2.0])),
            TypeError,
            "lengths: expected integers, got dtype float32",
        ),
        (lambda: Ragged(T([1, 2]), T([True, True])), TypeError, "lengths: expected integers, got dtype bool"),
        (lambda: Ragged(T([1, 2]), T([3, -1])), ValueError, "lengths: row 1 has a negative length, -1"),
        (lambda: Ragged(T(1), [1]), ValueError, "values: expected at least one dimension"),
        (lambda: Ragged(T([1, 2]).to_sparse(), [2]), TypeError, "values: expected a dense tensor"),
        (lambda: example()[T([1.0])], IndexError, "not by Tensor of float32"),
        (lambda: example()[T([5])], IndexError, "index 5 at position 0 is out of range for 2 sequences"),
        (lambda: example().astype("f4"), TypeError, "dtype: expected a torch.dtype, got 'f4'"),
        (
            lambda: example().to_dense(dtype=torch.uint8),
            ValueError,
            "values: element 1 is 300, .* torch.uint8",
        ),
        (lambda: example().to_dense(dtype=np.int8), TypeError, "dtype: expected a torch.dtype"),
        (
            lambda: example(torch.int16).to_dense(fill=2**20),
            ValueError,
            "fill: 1048576 does not fit int16",
        ),
        (lambda: example().to_dense(fill=1.5), ValueError, "fill: 1.5 does not fit int64"),
        (lambda: example().to_dense(fill="a"), ValueError, "fill: "),
        (lambda: example().to_dense(fill=[1, 2]), ValueError, "fill: "),
        (lambda: example().to_dense(max_len=1.5), TypeError, "max_len: expected an integer"),
        (lambda: example().to_dense(padding_side=None), ValueError, "padding_side must be .*; got None"),
        (lambda: example().to_dense(max_bytes=3), ValueError, "32 bytes, over max_bytes=3; give max_len"),
        (lambda: Ragged.from_list([T(1), T(2)]), ValueError, "data: expected tensors of one dimension"),
        (
            lambda: Ragged.from_list([T([1]), [T(1)]]),
            ValueError,
            "data: item 0 of depth 1 is a tensor beside",
        ),
        (
            lambda: Ragged.from_list([T([1]), np.array([2])]),
            TypeError,
            r"data: item 1 .*: expected a tensor, got numpy\.ndarray",
        ),
        (
            lambda: Ragged.from_list([torch.ones(1, 2), torch.ones(1, 3)]),
            ValueError,
            r"data: item 1 .* \(1, 3\)",
        ),
        (lambda: Ragged.from_list([T([1]), T([[1]])]), ValueError, r"data: item 1 .* shape \(1, 1\)"),
        (lambda: Ragged.from_list([T([300])], torch.uint8), ValueError, "data: element 0 is 300"),
        (
            lambda: ops.pad([T([1]), None]),
            TypeError,
            "data: item 1 of depth 1: expected a tensor, got NoneType",
        ),
        (lambda: ops.pad([T([1]), T([[1]])]), ValueError, r"arrays\[1\]: has shape \(1, 1\)"),
        (
            lambda: ops.pad([T([1], dtype=torch.uint8)] * 2, fill=300),
            ValueError,
            "fill: 300 does not fit uint8",
        ),
        (lambda: Ragged.from_dense(torch.ones(2, 3), T([1, 4])), ValueError, "lengths: row 1 has length 4"),
        (
            lambda: Ragged.from_dense(torch.ones(2, 3), mask=torch.ones(2, 3)),
            TypeError,
            "mask: expected bool",
        ),
        (lambda: vl.concatenate([example(), [1]]), TypeError, "raggeds: part 1: expected a Ragged, got list"),
    ],
)
def test_tensors_are_what_is_asked_for(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    ("out", "error", "text"),
    [
        ([1, 2], TypeError, "out: .*"),
        (np.zeros((2, 2), int), TypeError, "out: .*"),
        (torch.zeros(2, 2), BOTH, "out: .*(int64|float32)"),
        (torch.zeros(2, 3, dtype=torch.int64), ValueError, r"out: .*\(2, 3\)"),
        (torch.zeros(2, 1, dtype=torch.int64), ValueError, r"out: .*\(2, 1\)"),
    ],
)
def test_outputs_are_written_where_they_fit(out, error, text):
    refuses(lambda o: example().to_dense(out=o), out, error, text)
    refuses(lambda o: ops.pad([T([1, 300]), T([7])], out=o), out, error, text)
    refuses(lambda o: Ragged.from_dense(T([[1, 2], [3, 4]]), [2, 1], out=o), out, BOTH, "out: ")


def test_numbers_that_fit_are_cast():
    r = Ragged(T([1.0, 2.0, 255.0]), [2, 1])
    assert r.to_dense(dtype=torch.uint8, fill=7).tolist() == [[1, 2], [255, 7]]
    assert r.to_dense(dtype=torch.float16).dtype == torch.float16
    with pytest.raises(ValueError, match="values: element 0 is nan"):
        Ragged(T([float("nan")]), [1]).to_dense(dtype=torch.int32)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: Ragged.from_list(T(1)), TypeError, "data: expected a list or tuple, got Tensor"),
        (lambda: ops.list2array(T(1)), ValueError, "X: expected at least one dimension, got a scalar"),
        (lambda: ops.pad(T(1)), TypeError, "arrays: expected a list of arrays, got Tensor"),
        (lambda: ops.list2ragged(T(1)), TypeError, "arrays: expected a list of arrays, got Tensor"),
        (lambda: ops.list2padded(T(1)), TypeError, "seqs: expected a list of arrays, got Tensor"),
        (lambda: example().max(empty=np.array([None])), ValueError, r"empty: .* got array\(\[None\]"),
        (lambda: example().to_dense(fill=np.array([None])), ValueError, r"fill: array\(\[None\]"),
        (lambda: example()[::0], ValueError, "slice step cannot be zero"),
        (
            lambda: ops.backprop_lstm(np.ones((3, 2)), [3], torch.ones(2), (1,)),
            TypeError,
            "fwd_state: .* tensors",
        ),
    ],
)
def test_tensors_that_are_no_list_and_no_number_are_refused(call, error, text):
    with pytest.raises(error, match=text) as found:
        call()
    assert "reason" in vars(found.value)
