"""What is erased: rows and whole sequences that equal a token, exactly, and nothing else."""

import ml_dtypes
import numpy as np
import pytest
import varlen as vl
from varlen.sequence import backprop_sequence_erase

NAN = float("nan")
DTYPES = [
    np.bool_, np.int8, np.uint8, np.int16, np.int64, np.uint64, np.float16, np.float32, np.float64,
    np.longdouble, np.complex64, ">i4", ">f8", ml_dtypes.bfloat16,
]  # fmt: skip


def everyhow(values, tokens, nested=None):
    """What is left of values: rows, rows of tensors, whole sequences of one row, and what has a gradient."""
    r = vl.Ragged(values, [len(values)])
    deep = vl.Ragged(values, [[len(values)], [1] * len(values)])
    each = [[token] for token in tokens] if nested is None else nested
    left = vl.sequence_erase(r, tokens).values.tolist()
    assert repr(vl.sequence_erase(deep, each, level=0).values.tolist()) == repr(left)
    for x, given, level in ((r, tokens, -1), (deep, each, 0)):
        back = backprop_sequence_erase(np.ones(len(left)), x, given, level=level)
        assert repr([v for v, d in zip(values.tolist(), back.values, strict=True) if d]) == repr(left)
    return left


def test_nan_equals_nothing():
    assert repr(everyhow(np.array([5.0, NAN, 1]), [NAN, 1])) == "[5.0, nan]"
    assert everyhow(np.array([5.0, 1]), [NAN, 1]) == [5]
    r = vl.Ragged.from_list([[[5.0], [1.0]], [[7.0, 2.0], [2.0]]])
    for tokens in ([[NAN]], [[NAN, 2.0], [NAN]], [[9.0]]):
        assert vl.sequence_erase(r, tokens, level=0).equals(r)
    deep = vl.Ragged.from_list([[[[5.0], [1.0]], [[6.0], [1.0]]]])
    assert vl.sequence_erase(deep, [[[NAN], [1.0]], [[6.0], [1.0]]], level=0).to_list() == [[[[5.0], [1.0]]]]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("of", DTYPES)
def test_tokens_of_any_dtype_erase_what_they_equal(dtype, of):
    if np.dtype(of).kind == "c":
        with pytest.raises(TypeError, match="tokens: expected numbers, got complex64"):
            everyhow(np.array([1]).astype(dtype), np.array([1]).astype(of))
        return
    values, tokens = np.array([0, 1, 3, 1]).astype(dtype), np.array([1, 7]).astype(of)
    left = everyhow(values, tokens, vl.Ragged(tokens, [1, 1]))
    assert left == [v for v in values.tolist() if v != 1]


@pytest.mark.parametrize(
    ("values", "tokens", "left"),
    [
        (np.array([2**53, 2**53 + 1]), [float(2**53)], [2**53 + 1]),
        (np.array([2**53, 2**53 + 1]), [2**53 + 1, 0.5], [2**53]),
        (np.array([2.0**53]), [2**53 + 1], [2.0**53]),
        (np.array([2**63 - 1, -(2**63)]), [2.0**63], [2**63 - 1, -(2**63)]),
        (np.array([2**63 - 1, -(2**63)]), [-(2.0**63), np.inf, -np.inf], [2**63 - 1]),
        (np.array([2.0**63, 2.0**64]), [2**63 - 1, 2**64 - 1], [2.0**63, 2.0**64]),
        (np.array([0.1], np.float32), [0.1], np.array([0.1], np.float32).tolist()),
        (np.array([0.1], np.float32), [float(np.float32(0.1))], []),
        (np.array([np.inf, 1], np.float16), [100_000, -(2**63), 1e300], [np.inf, 1]),
        (np.array([np.inf, 1], np.float16), [np.inf], [1]),
        (np.array([-0.0, 0.0, 2]), [0], [2]),
        (np.array([255, 1], np.uint8), [-1, 257], [255, 1]),
        (np.array([-1, 1]), np.array([2**64 - 1], np.uint64), [-1, 1]),
        (np.array([True, False]), [2, 1.0], [False]),
        (np.array([2**53, 2**53 + 1]).astype(np.longdouble), [2**53 + 1], [2**53]),
        (np.array([1, 2j, 2]), [2], [1, 2j]),
    ],
)
def test_a_token_that_the_dtype_cannot_hold_equals_nothing(values, tokens, left):
    assert everyhow(values, tokens) == left


def test_integers_beyond_int64_erase_beside_negatives():
    r = vl.Ragged(np.array([2**64 - 1, 1, 2**64 - 2], np.uint64), [3])
    assert vl.sequence_erase(r, [2**64 - 1, -1]).to_list() == [[1, 2**64 - 2]]
    with pytest.raises(OverflowError, match=r"^tokens: no 64-bit integer type holds both -1 and 1844"):
        vl.sequence_erase(vl.Ragged(r.values, [[3], [1, 1, 1]]), [[2**64 - 1], [-1]], level=0)


def test_tensors_are_erased_as_arrays_are():
    torch = pytest.importorskip("torch")
    for values, tokens in (
        (np.array([2**53, 2**53 + 1]), [float(2**53)]),
        (np.array([0.1, 2], np.float32), [0.1, 2]),
        (np.array([NAN, 2]), [NAN, 2]),
    ):
        r = vl.Ragged(torch.tensor(values), [2])
        wanted = vl.sequence_erase(vl.Ragged(values, [2]), tokens).values
        for given in (tokens, np.array(tokens), torch.tensor(np.array(tokens))):
            assert np.array_equal(vl.sequence_erase(r, given).values.numpy(), wanted, equal_nan=True)
    r = vl.Ragged(torch.tensor([0.1, 2]).bfloat16(), [2])
    assert vl.sequence_erase(r, [0.1, 2]).values.tolist() == r.values[:1].tolist()


def test_nothing_is_erased_of_no_rows():
    torch = pytest.importorskip("torch")
    for rows in (
        np.zeros(0, np.int32),
        torch.zeros(0, dtype=torch.int32),
        torch.zeros(0, 1, dtype=torch.int32),
    ):
        left = vl.sequence_erase(vl.Ragged(rows, [0, 0]), [1])
        assert (left.to_list(), left.values.dtype) == ([[], []], rows.dtype)


def test_what_are_no_tokens_is_refused():
    r = vl.Ragged.from_list([[[1], [2]]])
    for tokens, text in (
        (2, "expected a list of sequences, got int"),
        (None, "expected a list of sequences, got NoneType"),
        ([2], "expected sequences like those to erase, got 2"),
        (np.array([2]), "expected sequences like those to erase, got np.int64"),
        (["a"], "expected sequences like those to erase, got 'a'"),
        ([["a"]], "expected numbers, got <U1"),
    ):
        with pytest.raises(TypeError, match=rf"^tokens.*: {text}|^tokens: {text}"):
            vl.sequence_erase(r, tokens, level=0)
    for values in (np.array(["a", "b"]), np.array([1, 2], "M8[s]")):
        x = vl.Ragged(values, [[2], [1, 1]])
        for tokens, level in (([1], -1), ([[1]], 0)):
            with pytest.raises(TypeError, match=r"^tokens: numbers never equal values of "):
                vl.sequence_erase(x, tokens, level=level)
            assert vl.sequence_erase(x, [], level=level).equals(x)
    with pytest.raises(TypeError, match=r"^tokens: expected an array without a mask"):
        vl.sequence_erase(r, np.ma.array([1, 2], mask=[True, False]))
    with pytest.raises(ValueError, match=r"^tokens: not a rectangle"):
        vl.sequence_erase(r, [[1], [2, 3]])
    with pytest.raises(ValueError, match=r"^tokens: expected rows of one number, got shape \(2,\)"):
        vl.sequence_erase(r, vl.Ragged(np.ones((1, 2)), [1]), level=0)


def test_tokens_and_rows_of_the_other_byte_order():
    r = vl.Ragged(np.array([2**63, 2**62, 2], ">u8"), [3])
    assert vl.sequence_erase(r, [2**63]).to_list() == [[2**62, 2]]
    assert vl.sequence.backprop_sequence_erase(np.ones(2), r, [2**63]).to_list() == [[0, 1, 1]]


def test_tokens_that_64_bits_do_not_hold_are_refused():
    for tokens in ([2**70, 0.5], [2**70], [2**70, 1]):
        with pytest.raises(OverflowError, match="tokens"):
            vl.sequence_erase(vl.Ragged([1.0, 2], [2]), tokens)
