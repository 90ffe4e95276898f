"""Masks and places from lengths: rectangles, packed rows, and which rows see which."""

import numpy as np
import pytest
import varlen as vl
from doors import INTEGERS, ODD, WHOLE, doors, refuses
from hypothesis import given
from hypothesis import strategies as st
from oracles import layout as oracle_layout
from varlen import ops
from varlen.testing import strategies

reach = st.one_of(st.none(), st.integers(0, 9))
DTYPES = ["bool", "int8", "uint16", "int32", "int64", "float16", "float32", "float64"]


@given(strategies.lengths(), st.booleans(), st.tuples(reach, reach), st.sampled_from(DTYPES))
def test_block_mask_is_where_rows_see_each_other(lengths, causal, window, dtype):
    result = ops.block_mask(lengths, causal, window, dtype=dtype)
    before, behind = (sum(lengths) if x is None else x for x in window)
    sees = np.array(oracle_layout.block_mask(lengths, before, 0 if causal else behind), bool)
    sees = sees.reshape(sum(lengths), -1) if sum(lengths) else np.zeros((0, 0), bool)
    assert result.dtype == dtype
    wanted = np.where(sees, 0, -np.inf) if result.dtype.kind == "f" else sees
    np.testing.assert_array_equal(result, wanted.astype(dtype))


@pytest.mark.parametrize("dtype", ["bool", "float16", "float32", "float64"])
def test_block_mask_is_the_same_for_any_number_of_threads(dtype):
    lengths = np.random.default_rng(3).integers(0, 400, 12)
    was = vl.num_threads()
    try:
        vl.set_num_threads(1)
        one = ops.block_mask(lengths, window=(50, 7), dtype=dtype)
        vl.set_num_threads(3)
        more = ops.block_mask(lengths, window=(50, 7), dtype=dtype)
    finally:
        vl.set_num_threads(was)
    assert one.tobytes() == more.tobytes()
    ids, at = ops.segment_ids(lengths), np.arange(lengths.sum())
    apart = at[None, :] - at[:, None]
    sees = (ids[:, None] == ids[None, :]) & (apart >= -50) & (apart <= 7)
    assert np.array_equal(one == (0 if dtype != "bool" else 1), sees)


def test_block_mask_fills_what_is_given():
    out = np.full((3, 3), 7, np.int8)
    assert ops.block_mask([1, 2], dtype=np.int8, out=out) is out
    assert out.tolist() == [[1, 0, 0], [0, 1, 1], [0, 1, 1]]
    for wrong in (np.zeros((3, 3)), np.zeros((3, 4), np.int8), np.zeros((3, 6), np.int8)[:, ::2]):
        with pytest.raises(ValueError, match="out"):
            ops.block_mask([1, 2], dtype=np.int8, out=wrong)
    with pytest.raises(TypeError, match="out"):
        ops.block_mask([1, 2], out=[[True]])


def test_block_mask_is_refused_where_it_is_too_large():
    with pytest.raises(ValueError, match="max_bytes=8"):
        ops.block_mask([1, 2], max_bytes=8)
    with pytest.raises(ValueError, match="max_bytes"):
        ops.block_mask([2**30])
    with pytest.raises(OverflowError, match="63 bits"):
        ops.block_mask([2**40])


@given(strategies.lengths(), st.sampled_from(["left", "right"]), st.integers(1, 4), st.integers(0, 7))
def test_mask_is_that_of_pad(lengths, side, round_to, max_len):
    arrays = [np.zeros(n) for n in lengths]
    for most in (None, max_len):
        _, there = ops.pad(arrays, round_to, padding_side=side, max_len=most, mask=True)
        result = ops.mask(lengths, most, side, pad_to_multiple_of=round_to)
        assert (result.dtype, result.shape) == (np.bool_, there.shape)
        assert np.array_equal(result, there)


def test_mask_is_as_wide_as_it_is_told():
    assert ops.mask([1, 2], width=3).tolist() == [[True, False, False], [True, True, False]]
    assert ops.mask([], width=3).shape == (0, 3)
    with pytest.raises(ValueError, match="sequence 1 has 2 rows, over width=1"):
        ops.mask([1, 2], width=1)
    assert ops.mask([1, 2], 1, width=1).all()
    with pytest.raises(ValueError, match="max_bytes=5"):
        ops.mask([1, 3], max_bytes=5)


@given(strategies.lengths())
def test_places_are_those_of_the_level(lengths):
    ids = [i for i, n in enumerate(lengths) for _ in range(n)]
    assert ops.segment_ids(lengths).tolist() == ids
    assert ops.positions(lengths).tolist() == [j for n in lengths for j in range(n)]
    ends = ops.cu_seqlens(lengths)
    assert (ends.dtype, ends.tolist()) == (np.int32, [0, *np.cumsum(lengths).tolist()])


@pytest.mark.parametrize("kind", ODD)
def test_lengths_may_be_oddly_laid_out(kind):
    lengths = ODD[kind]([3, 0, 2])
    assert ops.cu_seqlens(lengths).tolist() == [0, 3, 3, 5]
    assert ops.mask(lengths).sum() == 5


def test_levels_and_ragged_are_lengths():
    level = vl.Level([2, 1])
    r = vl.Ragged(np.zeros(3), levels=[vl.Level([2]), level])
    for given_ in (level, r):
        assert ops.positions(given_) is level.positions
        assert ops.cu_seqlens(given_) is level.offsets32
        assert ops.mask(given_).shape == (2, 2)
        assert ops.block_mask(given_).shape == (3, 3)


def test_lengths_beyond_int32_are_refused():
    level = vl.Level([2**31 - 1, 1])
    assert level.lengths32.tolist() == [2**31 - 1, 1]
    for name in ("offsets", "lengths"):
        with pytest.raises(OverflowError, match=rf"{name}: {2**31} rows do not fit int32"):
            getattr(level if name == "offsets" else vl.Level([0, 2**31]), f"{name}32")
    with pytest.raises(OverflowError, match="int32"):
        ops.cu_seqlens(level)


@pytest.mark.parametrize(
    ("door", "given", "error", "text"),
    [
        case
        for f in (ops.mask, ops.positions, ops.segment_ids, ops.cu_seqlens, ops.block_mask)
        for case in doors(INTEGERS, lengths=f)
    ]
    + doors(WHOLE[:-1], window=lambda x: ops.block_mask([2], window=x))
    + doors(WHOLE[:-1], max_len=lambda x: ops.mask([2], x), width=lambda x: ops.mask([2], width=x)),
)
def test_bad_numbers_are_refused(door, given, error, text):
    refuses(door, given, error, text)


def test_bad_options_are_refused():
    with pytest.raises(TypeError, match="dtype"):
        ops.block_mask([2], dtype="M8[s]")
    with pytest.raises(TypeError, match="dtype"):
        ops.block_mask([2], dtype=complex)
    with pytest.raises(ValueError, match="padding_side"):
        ops.mask([2], padding_side="top")
    with pytest.raises(ValueError, match="values"):
        vl._core.block_mask(vl.Level([1]), np.zeros(3))


def test_tensors_give_tensors():
    torch = pytest.importorskip("torch")
    lengths = torch.tensor([1, 2])
    assert ops.mask(lengths).tolist() == [[True, False], [True, True]]
    assert torch.equal(ops.positions(lengths), torch.tensor([0, 0, 1]))
    assert torch.equal(ops.segment_ids(lengths), torch.tensor([0, 1, 1]))
    assert torch.equal(ops.cu_seqlens(lengths), torch.tensor([0, 1, 3], dtype=torch.int32))
    sees = ops.block_mask(lengths)
    assert sees.dtype == torch.bool
    r = vl.Ragged(torch.zeros(3), [1, 2])
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        added = ops.block_mask(r, dtype=dtype)
        assert added.dtype == dtype
        assert torch.equal(added == 0, sees)
        assert torch.equal(added.exp().bool(), sees)
    out = torch.ones(3, 3)
    assert ops.block_mask(vl.Level([1, 2]), dtype=torch.float32, out=out) is out
    assert torch.equal(out == 0, sees)
    with pytest.raises(TypeError, match="out"):
        ops.block_mask(lengths, out=out)
    with pytest.raises(TypeError, match="dtype"):
        ops.block_mask(lengths, dtype=np.float32)
    query = torch.randn(1, 3, 4)
    packed = torch.nn.functional.scaled_dot_product_attention(query, query, query, attn_mask=sees)
    alone = torch.nn.functional.scaled_dot_product_attention(query[:, 1:], query[:, 1:], query[:, 1:])
    torch.testing.assert_close(packed[:, 1:], alone)
