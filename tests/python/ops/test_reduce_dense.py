"""Masked pooling: what reductions give of the rows of a padded rectangle."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from varlen import ops

OPS = ("sum", "mean", "prod", "max", "min", "any", "all", "norm", "logsumexp", "var", "std")


@pytest.fixture(params=["numpy", "torch"])
def kind(request):
    """What makes an array, or a tensor."""
    if request.param == "numpy":
        return np.asarray
    return pytest.importorskip("torch").as_tensor


def chain(block, lengths, op, side, **options):
    rows = ops.from_dense(block, lengths, padding_side=side)
    return getattr(ops, f"reduce_{op}")(rows, **options)


@given(
    st.lists(st.integers(0, 9), max_size=6),
    st.integers(0, 2),
    st.sampled_from([(), (3,), (2, 0), (17,)]),
    st.sampled_from(["f2", "f4", "f8", "i2", "u8", "?"]),
    st.sampled_from(["right", "left"]),
    st.sampled_from(OPS),
)
def test_a_rectangle_gives_the_bits_of_its_rows(lengths, spare, trailing, dtype, side, op):
    width = max(lengths, default=0) + spare
    numbers = np.random.default_rng(len(lengths)).normal(0, 3, (len(lengths), width, *trailing))
    block = numbers.astype(dtype)
    found = ops.reduce_dense(block, lengths, op, padding_side=side, empty=1)
    wanted = chain(block, lengths, op, side, empty=1)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize(("width", "columns"), [(5000, 3), (70_000, 17), (1200, 1)])
@pytest.mark.parametrize("side", ["right", "left"])
def test_long_sequences_lie_where_they_are(width, columns, side):
    lengths = [width, 0, 3, width - 1]
    block = np.random.default_rng(0).normal(size=(4, width, columns)).astype("f4")
    for op in ("sum", "max", "var"):
        found = ops.reduce_dense(block, lengths, op, padding_side=side, empty=0)
        assert found.tobytes() == chain(block, lengths, op, side, empty=0).tobytes()


def test_padding_is_never_read():
    block = np.full((3, 4, 2), np.nan)
    block[0, :2], block[2, :4] = 1, 2
    assert ops.reduce_dense(block, [2, 0, 4], "sum").tolist() == [[2, 2], [0, 0], [8, 8]]
    assert ops.reduce_dense(block, mask=~np.isnan(block[..., 0])).tolist() == [[1, 1], [0, 0], [2, 2]]


def test_empty_sequences_give_what_the_reduction_gives():
    block = np.ones((2, 3))
    for op in OPS:
        if op in ("max", "min"):
            with pytest.raises(ValueError, match="sequence 1 is empty"):
                ops.reduce_dense(block, [1, 0], op)
        else:
            assert np.array_equal(
                ops.reduce_dense(block, [1, 0], op), chain(block, [1, 0], op, "right"), equal_nan=True
            )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([2, 1], "sum"), "lengths: 2 of them for 3 rows"),
        (([2, 1, 5], "sum"), "row 2 has length 5, the block is 4 wide"),
        (([2, 1, 4], "median"), "op"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, said, kind):
    with pytest.raises(ValueError, match=said):
        ops.reduce_dense(kind(np.ones((3, 4, 2))), *arguments)


def test_out_is_filled_and_given_back(kind):
    block = kind(np.ones((2, 3, 2)))
    out = block[:, 0] * 0
    assert ops.reduce_dense(block, [2, 3], "sum", out=out) is out
    assert out.tolist() == [[2, 2], [3, 3]]


@pytest.mark.parametrize("op", ["sum", "mean", "max", "prod", "norm", "logsumexp", "var"])
@pytest.mark.parametrize("side", ["right", "left"])
def test_autograd_follows(op, side):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    block = torch.randn(4, 5, 2, dtype=torch.float64, requires_grad=True)
    level = vl.Level([3, 0, 5, 1])

    def pooled(x):
        return ops.reduce_dense(x, level, op, padding_side=side, empty=0)

    assert torch.autograd.gradcheck(pooled, block)
    if op in ("sum", "mean"):
        assert torch.autograd.gradgradcheck(pooled, block)
    with torch.no_grad():
        assert torch.equal(pooled(block), chain(block, level, op, side, empty=0))
