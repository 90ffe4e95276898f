"""Ops on sequences where there is nothing: no sequences, empty ones, rows without width; and odd memory."""

import numpy as np
import pytest
import varlen as vl
from nested import deeper
from sequences import rows_of

KINDS = ("sum", "sqrt", "max", "last")
NONE = np.zeros(0, np.int64)


def calls(width):
    """Each op, of rows of `width` numbers."""
    pads = np.ones((2, width))
    result = {
        f"pool {kind}": lambda x, k=kind: vl.sequence_pool(x, k) for kind in ("sum", "sqrt", "max", "last")
    }
    result |= {
        "index": lambda x: vl.sequence_pool(x, "max", with_index=True)[1],
        "softmax": vl.sequence_softmax,
        "reverse": vl.sequence_reverse,
        "reshape": lambda x: vl.sequence_reshape(x, 2 * width + 1),
        "enumerate": lambda x: vl.sequence_enumerate(x, 3, 7),
        "concat": lambda x: vl.sequence_concat([x, x]),
        "slice": lambda x: vl.sequence_slice(x, 0, 0),
        "pad": lambda x: vl.sequence_pad(x, 1, 2)[0],
        "pad to nothing": lambda x: vl.sequence_pad(x, 1)[0],
        "unpad": lambda x: vl.sequence_unpad(np.ones((4, 0)), [0] * 4),
        "mask": vl.sequence_mask,
        "conv": lambda x: vl.sequence_conv(x, np.ones((3 * width, 2)), -1, 3, 1, pads),
        "row_conv": lambda x: vl.row_conv(x, pads),
    }
    return result


@pytest.mark.parametrize("width", [0, 1, 3])
@pytest.mark.parametrize("lengths", [[], [0], [0, 0, 0]])
def test_ops_take_sequences_without_rows(width, lengths):
    r = vl.Ragged(np.ones((0, width)), np.array(lengths, np.int64))
    for name, call in calls(width).items():
        result = call(r)
        rows = rows_of(result)
        if isinstance(result, vl.Ragged):
            assert len(rows) == 0 or name.startswith(("pool", "index")), name
            assert result.levels == r.levels or name == "unpad", name
        else:
            assert len(rows) == len(lengths), name
        assert rows_of(call(deeper(r))).shape == rows.shape, name


def test_ops_take_sequences_of_nothing_of_tensors():
    torch = pytest.importorskip("torch")
    for lengths in ([], [0, 0]):
        x = torch.ones((0, 2), dtype=torch.float64, requires_grad=True)
        r = vl.Ragged(x, np.array(lengths, np.int64))
        pads, weights = torch.ones(2, 2, dtype=torch.float64), torch.ones(6, 2, dtype=torch.float64)
        for name, call in calls(2).items():
            if name == "conv":
                result = vl.sequence_conv(r, weights, -1, 3, 1, pads)
            elif name == "row_conv":
                result = vl.row_conv(r, pads)
            else:
                result = call(r)
            rows = rows_of(result)
            if isinstance(rows, torch.Tensor) and rows.requires_grad:
                (dx,) = torch.autograd.grad(rows.sum(), x)
                assert dx.shape == x.shape, name


def test_ops_take_widthless_rows_and_no_sequences():
    r = vl.Ragged(np.ones((3, 0)), [2, 1])
    assert vl.sequence_pool(r, "sum").shape == (2, 0)
    assert vl.sequence_concat([r, r]).lengths.tolist() == [4, 2]
    assert vl.sequence_pad(r, 0)[0].shape == (2, 2, 0)
    assert vl.sequence_reverse(r).values.shape == (3, 0)
    assert vl.sequence_slice(r, 0, 1).values.shape == (2, 0)
    none = vl.Ragged(NONE, NONE)
    assert vl.sequence_erase(none, [1]).values.shape == (0,)
    assert vl.sequence_scatter(np.ones((0, 3)), none, np.ones(0)).shape == (0, 3)
    assert vl.sequence_scatter(np.ones((2, 0)), vl.Ragged(NONE, [0, 0]), np.ones(0)).shape == (2, 0)
    assert vl.sequence_topk_avg_pooling(none.astype(float), none, none, [2], 2).values.shape == (0, 2)
    assert vl.im2sequence(np.ones((0, 3, 4, 4)), 2).values.shape == (0, 12)
    assert vl.im2sequence(np.ones((2, 0, 4, 4)), 2).values.shape == (18, 0)
    assert vl.sequence_mask(NONE, 3).shape == (0, 3)


def test_ops_take_rows_of_any_memory():
    big = np.arange(6, dtype=">i4")
    strided = np.arange(12)[::2]
    still = np.arange(6)
    still.flags.writeable = False
    for x in (big, strided, still):
        r = vl.Ragged(x, [4, 2])
        assert vl.sequence_concat([r, r]).values.tolist() == [*x[:4], *x[:4], *x[4:], *x[4:]]
        assert vl.sequence_erase(r, [x[0], x[5]]).to_list() == [x[1:4].tolist(), [x[4]]]
        assert vl.sequence_erase(r, [x[0], x[5]]).dtype == x.dtype
        assert vl.sequence_enumerate(r, 2, 9).values[:, 1].tolist() == [*x[1:4], 9, x[5], 9]
        assert vl.sequence_slice(r, np.array([1, 0], np.int32), 1).values.tolist() == [x[1], x[4]]
    for dtype in ("int8", "uint8"):
        assert vl.sequence_reverse(vl.Ragged(np.arange(3, dtype=dtype), [3])).values.tolist() == [2, 1, 0]


def test_erase_compares_numbers_not_bits():
    floats = vl.Ragged(np.array([0.0, -0.0, np.nan, 1.5, np.inf]), [5])
    assert vl.sequence_erase(floats, [0]).values.tolist()[1:] == [1.5, np.inf]
    assert vl.sequence_erase(floats, [np.nan, np.inf, 2.0**70]).values.shape == (4,)
    small = vl.Ragged(np.array([44, 255], np.uint8), [2])
    assert vl.sequence_erase(small, [300, -1, 44.5]).values.tolist() == [44, 255]
    wide = vl.Ragged(np.array([2**63 - 1, -1]), [2])
    assert vl.sequence_erase(wide, np.array([2**64 - 1], np.uint64)).values.tolist() == [2**63 - 1, -1]
    assert vl.sequence_erase(wide, np.array([2.0**63])).values.tolist() == [2**63 - 1, -1]
    many = vl.Ragged(np.arange(100, dtype=np.int16), [60, 40])
    assert vl.sequence_erase(many, range(0, 100, 2)).values.tolist() == list(range(1, 100, 2))
    assert vl.sequence_erase(vl.Ragged(np.array([True, False]), [2]), [1]).values.tolist() == [False]
