"""The doors of windows: bad input is refused by name and place, outputs that are given are filled."""

import numpy as np
import pytest
import varlen as vl
from doors import OUTPUTS, WHOLE, doors, masked, refuses
from varlen import _core, ops


def test_out_is_filled_and_given_back():
    X = np.arange(6, dtype=np.int64).reshape(3, 2)
    out = np.full((3, 6), 7)
    assert ops.seq2col(X, 1, out=out) is out
    assert out.tolist() == ops.seq2col(X, 1).tolist()
    dX = np.full((3, 2), 7)
    assert ops.backprop_seq2col(out, 1, out=dX) is dX
    result = ops.seq2col(vl.Ragged(X, [1, 2]), 1, out=out)
    assert result.values is out


@pytest.mark.parametrize(
    ("door", "out", "error", "text"),
    doors(
        OUTPUTS,
        out=lambda x: ops.seq2col(np.zeros((2, 1), np.int64), 1, out=x),
    )
    + doors(OUTPUTS, out=lambda x: ops.backprop_seq2col(np.zeros((2, 9), np.int64), 1, out=x)),
)
def test_outputs_are_checked(door, out, error, text):
    refuses(door, out, error, text)


def test_an_output_in_the_input_is_refused():
    block = np.arange(12)
    with pytest.raises(ValueError, match="out"):
        ops.seq2col(block[:3], 1, out=block[:9].reshape(3, 3))
    assert block.tolist() == list(range(12))


X = np.arange(8.0).reshape(4, 2)


@pytest.mark.parametrize(
    ("door", "given", "error", "text"),
    doors(
        [entry for entry in WHOLE if entry[0] != -1]
        + [(-1, ValueError, "-1"), (None, TypeError, "expected an int")],
        nW=lambda x: ops.seq2col(X, x),
        dilation=lambda x: ops.seq2col(X, 1, dilation=x),
        stride=lambda x: ops.backprop_seq2col(X, 1, stride=x, lengths=[4]),
        size=lambda x: ops.windows(X, size=x, step=1),
        step=lambda x: ops.average_windows(X, [4], size=1, step=x),
    ),
)
def test_numbers_are_whole(door, given, error, text):
    refuses(door, given, error, text)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ops.seq2col(X, -2), ValueError, "nW: expected at least 0, got -2"),
        (lambda: ops.seq2col(X, 1, left=-1), ValueError, "left: expected at least 0, got -1"),
        (lambda: ops.seq2col(X, 1, stride=0), ValueError, "stride: expected at least 1, got 0"),
        (lambda: ops.seq2col(X, 1, dilation=0), ValueError, "dilation: expected at least 1, got 0"),
        (
            lambda: ops.seq2col(X, 1, lengths=[1, 2]),
            ValueError,
            "lengths: they add up to 3, but X has 4 rows",
        ),
        (lambda: ops.seq2col(X, 1, lengths=[5, -1]), ValueError, "lengths: row 1 has a negative length, -1"),
        (lambda: ops.seq2col(X, 1, lengths=[1.0, 3.0]), TypeError, "lengths: expected integers"),
        (
            lambda: ops.seq2col(vl.Ragged(X, [4]), 1, lengths=[4]),
            TypeError,
            "lengths: not allowed, because X is a Ragged",
        ),
        (lambda: ops.seq2col(np.array([None]), 1), TypeError, "X: arrays of Python objects"),
        (lambda: ops.seq2col(masked(), 1), TypeError, "X: expected an array without a mask"),
        (lambda: ops.seq2col(np.array(3), 1), ValueError, "X: expected at least one dimension"),
        (lambda: ops.seq2col(X, 2**62), OverflowError, "left: 4611686018427387904 places and"),
        (lambda: ops.seq2col(X, 2**61), OverflowError, r"X: 4611686018427387905 places of 2 numbers"),
        (
            lambda: ops.seq2col(X, 2**57),
            OverflowError,
            r"X: the result, \(4, 576460752303423490\) of 8 bytes",
        ),
        (lambda: ops.seq2col(X, 1, max_bytes=9), ValueError, "takes 192 bytes, over max_bytes=9"),
        (lambda: ops.seq2col(X, 2**50), ValueError, "X: the result, .* over max_bytes="),
        (lambda: ops.backprop_seq2col(X, 1), ValueError, r"dY: 2 numbers a row do not divide into 3 places"),
        (lambda: ops.backprop_seq2col(X[:, 0], 1), ValueError, "dY: expected at least two dimensions"),
        (lambda: ops.backprop_seq2col(X[None], 1), ValueError, "dY: axis 1 has 4 entries, not 3 places"),
        (
            lambda: ops.backprop_seq2col(X, 0, lengths=[3]),
            ValueError,
            "lengths: they add up to 3, but dY has 4",
        ),
        (
            lambda: ops.backprop_seq2col(X, 0, stride=2),
            TypeError,
            "lengths: required, because a stride needs those of X",
        ),
        (
            lambda: ops.backprop_seq2col(X, 0, stride=2, lengths=[4]),
            ValueError,
            "lengths: with stride 2 they keep 2 rows, but dY has 4",
        ),
        (
            lambda: ops.backprop_seq2col(vl.Ragged(X, [3, 1]), 0, stride=2, lengths=[4, 4]),
            ValueError,
            "dY: sequence 0 has 3 rows, but lengths make 2",
        ),
        (
            lambda: ops.backprop_seq2col(vl.Ragged(X, [3, 1]), 0, lengths=[4]),
            ValueError,
            "dY: has 2 sequences, but lengths make 1",
        ),
        (
            lambda: ops.backprop_seq2col(X + 1j, 0),
            TypeError,
            "dY: expected bool, integers or floats, got complex128",
        ),
        (lambda: ops.backprop_seq2col(X[:1], 0, lengths=[2**55], stride=2**55), ValueError, "dY: the result"),
        (lambda: ops.windows(X, size=0, step=1), ValueError, "size: expected at least 1, got 0"),
        (lambda: ops.windows(X, size=1, step=0), ValueError, "step: expected at least 1, got 0"),
        (
            lambda: ops.windows(X, [3], size=1, step=1),
            ValueError,
            "lengths: they add up to 3, but X has 4 rows",
        ),
        (
            lambda: ops.windows(X, size=2, step=1, max_bytes=95),
            ValueError,
            "takes 96 bytes, over max_bytes=95",
        ),
        (
            lambda: ops.average_windows(X, [4], size=2, step=1),
            ValueError,
            "Y: has 4 rows, but the windows .* have 6",
        ),
        (
            lambda: ops.average_windows(vl.Ragged(X, [4]), [4], size=4, step=4),
            ValueError,
            "Y: expected two levels",
        ),
        (
            lambda: ops.average_windows(vl.Ragged(X, [[1], [4]]), [4], size=2, step=2),
            ValueError,
            "Y: sequence 0 has 1 windows, but lengths make 2",
        ),
        (
            lambda: ops.backprop_windows(vl.Ragged(X, [[2], [3, 1]]), [4], size=2, step=2),
            ValueError,
            "dY: window 0 has 3 rows, but lengths make 2",
        ),
        (
            lambda: ops.average_windows(vl.Ragged(X, [[2], [2, 2]]), [2, 2], size=2, step=2),
            ValueError,
            "Y: has 1 sequences, but lengths make 2",
        ),
        (
            lambda: ops.average_windows(X.astype("S3"), [4], size=4, step=4),
            TypeError,
            r"Y: expected bool, .*got \|S3",
        ),
        (
            lambda: ops.backprop_average_windows(X.astype(int), [4], size=4, step=4),
            TypeError,
            "dX: expected floats, got int64",
        ),
        (lambda: _core.seq2col(X, [4], 1, 1), TypeError, "lengths: expected a Level, got list"),
        (lambda: _core.seq2col(X, vl.Level([4]), -1, 1), ValueError, "left: expected at least 0, got -1"),
    ],
)
def test_bad_input_is_refused_by_name_and_place(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_numbers_beyond_every_sequence_change_nothing():
    far = 2**62
    assert ops.seq2col(X, 1, dilation=far).tolist() == np.pad(X, ((0, 0), (2, 2))).tolist()
    assert ops.seq2col(X, 0, stride=far).tolist() == X[:1].tolist()
    assert ops.windows(X, size=far, step=far).to_list() == [[X.tolist()]]
    once = ops.backprop_seq2col(np.pad(X, ((0, 0), (2, 2))), 1, dilation=far)
    assert once.tolist() == X.tolist()
