"""First and last rows, and places of extremes, where sequences may be empty: results and gradients."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from varlen import ops
from varlen.testing import strategies

TRAILING = [(), (2,), (0,), (2, 3)]
LENGTHS = st.lists(st.integers(0, 4), max_size=6)


@given(LENGTHS, st.sampled_from(TRAILING), st.sampled_from(["int16", "float32", "bool"]), st.data())
def test_empty_sequences_give_what_is_said(lengths, trailing, dtype, data):
    x = data.draw(strategies.rows(sum(lengths), dtype, trailing))
    none = np.ones(trailing, dtype)
    sequences = np.split(x, np.cumsum(lengths)[:-1]) if lengths else []
    first, last = ops.reduce_first(x, lengths, empty=1), ops.reduce_last(x, lengths, empty=1)
    wanted = [(s[0], s[-1]) if len(s) else (none, none) for s in sequences]
    shape = (len(lengths), *trailing)
    for result, k in ((first, 0), (last, 1)):
        assert result.dtype == x.dtype
        assert result.shape == shape
        assert np.array_equal(
            result, np.array([w[k] for w in wanted], dtype).reshape(shape), equal_nan=dtype == "float32"
        )


def test_rows_may_stand_for_those_that_are_not_there():
    x = np.array([[1, 2], [3, 4]], np.int8)
    assert ops.reduce_first(x, [0, 2], empty=[7, 8]).tolist() == [[7, 8], [1, 2]]
    assert vl.Ragged(x, [0, 2]).last(empty=9).tolist() == [[9, 9], [3, 4]]
    assert ops.argmax(x, [2, 0], empty=5).tolist() == [[1, 1], [5, 5]]
    assert ops.argmin(vl.Ragged(x, [0, 2]), empty=-1).tolist() == [[-1, -1], [0, 0]]


def test_ways_back_leave_empty_sequences_out():
    lengths = [0, 2, 0, 1, 0]
    d = np.array([9.0, 1, 9, 2, 9])
    assert ops.backprop_reduce_first(d, lengths).tolist() == [1, 0, 2]
    assert ops.backprop_reduce_last(d, lengths).tolist() == [0, 1, 2]


@pytest.mark.parametrize("lengths", [[0, 2, 0, 3, 0], [0, 0], [], [5]])
@pytest.mark.parametrize("name", ["reduce_first", "reduce_last"])
def test_tensors_give_the_numbers_of_arrays_and_gradients(lengths, name):
    torch = pytest.importorskip("torch")
    x = torch.randn(sum(lengths), 2, dtype=torch.float64, requires_grad=True)
    result = getattr(ops, name)(x, lengths, empty=7)
    wanted = getattr(ops, name)(x.detach().numpy(), lengths, empty=7)
    assert np.array_equal(result.detach().numpy(), wanted)
    assert torch.autograd.gradcheck(lambda x: getattr(ops, name)(x, lengths, empty=7), (x,))
    assert torch.autograd.gradgradcheck(lambda x: getattr(ops, name)(x, lengths, empty=7), (x,))
    both = torch.func.vmap(lambda x: getattr(ops, name)(x, lengths, empty=7))(torch.stack([x, x * 2]))
    assert torch.equal(both[0], result)
    best = ops.argmax(x, lengths, empty=-2)
    assert np.array_equal(best.numpy(), ops.argmax(x.detach().numpy(), lengths, empty=-2))
    assert ops.reduce_last(x.bfloat16(), lengths, empty=0.5).dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: ops.reduce_first(x, [1, 0, 1], empty=300), (ValueError, OverflowError), "300"),
        (lambda x: ops.reduce_last(x, [1, 0, 1], empty=0.5), ValueError, "0.5"),
        (lambda x: ops.argmax(x, [1, 0, 1], empty=0.5), TypeError, "empty: expected an int"),
        (lambda x: ops.argmin(x, [1, 0, 1], empty=2**63), OverflowError, "empty"),
        (lambda x: ops.argmax(x, [1, 0, 1]), ValueError, "sequence 1 is empty"),
        (lambda x: vl.Ragged(x, [1, 0, 1]).first(), ValueError, "sequence 1 is empty"),
        (lambda x: ops.reduce_ptp(x > 0, [1, 1]), TypeError, "X: expected integers or floats, got bool"),
        (lambda x: ops.backprop_reduce_last(x, [1]), ValueError, "2 rows for 1 sequences"),
        (lambda x: ops.backprop_reduce_first(x, [1, -1]), ValueError, "row 1 has a negative length, -1"),
    ],
)
@pytest.mark.parametrize("kind", ["array", "tensor"])
def test_bad_input_is_refused(call, error, text, kind):
    x = np.array([1, 2], np.int8)
    if kind == "tensor":
        x = pytest.importorskip("torch").from_numpy(x)
    with pytest.raises(error, match=text) as raised:
        call(x)
    if text == "sequence 1 is empty":
        assert (raised.value.argument, raised.value.row, raised.value.number) == ("lengths", 1, 0)
