"""Arrays end to end with gaps between them, the arrays again, and rectangles without their padding."""

import numpy as np
import pytest
import varlen as vl
from doors import INTEGERS, WHOLE, doors, masked, refuses
from hypothesis import given
from hypothesis import strategies as st
from oracles import layout as oracle_layout
from varlen import ops
from varlen.testing import strategies


@st.composite
def lists_of_rows(draw):
    lengths = draw(strategies.lengths())
    rows = draw(strategies.rows(sum(lengths)))
    return rows, lengths


def cut(rows, lengths):
    ends = np.cumsum(lengths, dtype=int)
    return [rows[end - n : end] for end, n in zip(ends, lengths, strict=True)]


@given(lists_of_rows(), st.integers(0, 3))
def test_flatten_lays_end_to_end_with_gaps(drawn, pad):
    rows, lengths = drawn
    arrays = cut(rows, lengths)
    if not arrays:
        return
    flat = ops.flatten(arrays, pad=pad)
    assert flat.dtype == rows.dtype.newbyteorder("=")
    assert flat.shape[1:] == rows.shape[1:]
    zero = np.zeros(rows.shape[1:], flat.dtype)
    expected = oracle_layout.spaced([list(array) for array in arrays], pad, zero)
    assert len(flat) == len(expected)
    for row, wanted in zip(flat, expected, strict=True):
        np.testing.assert_array_equal(row, wanted)


@given(lists_of_rows(), st.integers(0, 3))
def test_unflatten_gives_the_arrays_back_as_views(drawn, pad):
    rows, lengths = drawn
    flat = ops.flatten(cut(rows, lengths), pad=pad) if lengths else rows
    back = ops.unflatten(flat, lengths, pad)
    assert len(back) == len(lengths)
    for array, wanted in zip(back, cut(rows, lengths), strict=True):
        assert array.shape == wanted.shape
        np.testing.assert_array_equal(array, wanted)
        assert not array.size or np.shares_memory(array, flat)


@given(lists_of_rows(), st.sampled_from(["left", "right"]))
def test_unpad_turns_pad_round(drawn, side):
    rows, lengths = drawn
    if not lengths:
        return
    block = ops.pad(cut(rows, lengths), padding_side=side)
    for block_ in (block, np.asfortranarray(block)):
        back = ops.unpad(block_, lengths, padding_side=side)
        for array, wanted in zip(back, cut(rows, lengths), strict=True):
            np.testing.assert_array_equal(array, wanted)
            assert not array.size or np.shares_memory(array, block_)


def test_unflatten_takes_strides_levels_and_read_only_memory():
    x = np.arange(20).reshape(5, 4)[:, ::2]
    x.flags.writeable = False
    back = ops.unflatten(x, vl.Level([2, 0, 3]))
    assert [array.tolist() for array in back] == [x[:2].tolist(), [], x[2:].tolist()]
    assert not back[0].flags.writeable
    assert ops.unflatten([1, 2, 3], np.array([1, 2], np.uint8))[1].tolist() == [2, 3]


def test_flatten_of_nothing():
    assert ops.flatten([]).shape == (0, 0)
    assert ops.flatten(None).dtype == np.float32
    empty = ops.flatten([], dtype="i", ndim_if_empty=1)
    assert (empty.shape, empty.dtype) == ((0,), np.int32)
    assert ops.flatten([np.zeros((0, 3))] * 2).shape == (0, 3)
    assert ops.flatten([np.zeros((0, 3))] * 2, pad=4).shape == (0, 3)


def test_flatten_with_gaps_as_thinc_has_it():
    arrays = [np.array([1, 2]), np.array([], int), np.array([3])]
    assert ops.flatten([arrays[0][:, None], arrays[1][:, None], arrays[2][:, None]], pad=1).tolist() == [
        [0], [1], [2], [0], [3], [0],
    ]  # fmt: skip
    assert [a.tolist() for a in ops.unflatten(ops.flatten(arrays, pad=1), [2, 0, 1], 1)] == [[1, 2], [], [3]]
    assert ops.flatten([[1, 2], [3]], pad=2).tolist() == [0, 0, 1, 2, 0, 0, 3, 0, 0]


def test_flatten_keeps_the_dtype_of_what_is_empty():
    assert ops.flatten([np.zeros((0, 2), np.int16)]).dtype == np.int16
    assert ops.flatten([np.zeros((5, 0), np.int16), np.zeros((3, 0), np.int16)]).shape == (8, 0)
    mixed = ops.flatten([np.zeros(1, np.int32), np.zeros(1, np.float32)])
    assert mixed.dtype == np.float64


def test_flatten_leaves_out_what_is_empty_and_unlike():
    a = np.ones((2, 3), np.float32)
    for empty in (np.zeros((0, 5)), np.zeros(0, int), np.zeros((4, 0), ">i8"), []):
        for arrays in ([a, empty, a], [empty, a, a], [a, a, empty]):
            flat = ops.flatten(arrays)
            assert (flat.shape, flat.dtype) == ((4, 3), np.float32)
            assert ops.flatten(arrays, pad=1).shape == (7, 3)
    none = ops.flatten([np.zeros((0, 5), np.int8), np.zeros((0, 2))])
    assert (none.shape, none.dtype) == ((0, 5), np.int8)


def test_flatten_casts_what_fits():
    assert ops.flatten([[1, 2], [3]], dtype="f").dtype == np.float32
    assert ops.flatten([[1, 2], [3]], dtype=np.uint8, pad=1).tolist() == [0, 1, 2, 0, 3, 0]
    with pytest.raises(OverflowError, match=r"X\[1\]\[0\]"):
        ops.flatten([[1, 2], [300]], dtype=np.uint8)


def test_list2array_is_flatten():
    assert ops.list2array([np.array([1]), np.array([2, 3])]).tolist() == [1, 2, 3]


def test_unpad_cuts_as_it_is_told():
    block = np.array([[1, 2, 0], [3, 4, 5]])
    assert [x.tolist() for x in ops.unpad(block, [2, 3])] == [[1, 2], [3, 4, 5]]
    assert [x.tolist() for x in ops.unpad(block, [2])] == [[1, 2]]
    assert ops.unpad(block, []) == []
    with pytest.raises(IndexError, match="there are 3, but padded has 2"):
        ops.unpad(block, [2, 3, 1])
    with pytest.raises(ValueError, match="sequence 1 has 4 rows, but padded is 3 wide"):
        ops.unpad(block, [2, 4])
    with pytest.raises(ValueError, match="padding_side"):
        ops.unpad(block, [2], padding_side="top")
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        ops.unpad(block[0], [2])


def test_pad_as_thinc_has_it():
    assert ops.pad([np.array([1, 2]), np.array([3])]).tolist() == [[1, 2], [3, 0]]
    rows = [np.ones((2, 3)), np.ones((3, 3))]
    assert ops.pad(rows, 4).shape == (2, 4, 3)
    assert ops.pad([np.ones(2), np.ones(4)], 8).shape == (2, 8)
    assert ops.pad([np.ones(2), np.ones(4)], 5).shape == (2, 5)
    with pytest.raises(ValueError, match="pad_to_multiple_of"):
        ops.pad(rows, 0)
    with pytest.raises(ValueError, match=r"arrays\[1\].*dimensions"):
        ops.pad([np.ones(2), np.ones((2, 2))])
    with pytest.raises(ValueError, match=r"arrays\[1\].*first dimension"):
        ops.pad([np.ones((2, 2)), np.ones((2, 3))])
    assert ops.pad([np.zeros((0, 2)), np.ones((2, 2))])[0].tolist() == [[0, 0], [0, 0]]
    assert ops.pad([np.zeros((0, 2))] * 2).shape == (2, 0, 2)
    assert ops.pad([]).shape == (0, 0)
    assert ops.pad([np.array([1], np.int32), np.array([1.5], np.float32)]).dtype == np.float64
    dense, mask = ops.pad([[1, 2], [3]], padding_side="left", fill=-1, mask=True)
    assert dense.tolist() == [[1, 2], [-1, 3]]
    assert mask.tolist() == [[True, True], [False, True]]


@pytest.mark.parametrize("lengths", [[], [10], [5, 1], [2, 0, 1], [0, 0]])
def test_lists_ragged_and_padded_are_the_same_thing(lengths):
    rows = np.arange(2.0 * sum(lengths)).reshape(-1, 2)
    arrays = cut(rows, lengths)
    r = ops.list2ragged(arrays)
    p = ops.list2padded(arrays)
    for back in (ops.ragged2list(r), ops.padded2list(p), ops.ragged2list(ops.padded2ragged(p))):
        assert len(back) == len(arrays)
        assert all(np.array_equal(a, b) for a, b in zip(back, arrays, strict=True))
    if lengths:
        assert ops.padded2ragged(ops.ragged2padded(r)).equals(r)


@pytest.mark.parametrize(
    ("door", "given", "error", "text"),
    doors(INTEGERS, lengths=lambda x: ops.unflatten(np.zeros(3), x))
    + doors(INTEGERS, lengths_=lambda x: ops.unpad(np.zeros((2, 2)), x))
    + doors([(-1, ValueError, "-1"), *WHOLE[:-1]], pad=lambda x: ops.unflatten(np.zeros(3), [3], x)),
)
def test_bad_numbers_are_refused(door, given, error, text):
    refuses(door, given, error, text.replace("lengths_", "lengths"))


@pytest.mark.parametrize("lengths", [[2, 2], [2, 9, 1], [-1, 6], [5, 1], []])
@pytest.mark.parametrize("pad", [0, 1])
def test_lengths_that_do_not_add_up_are_refused(lengths, pad):
    with pytest.raises(ValueError, match="lengths"):
        ops.unflatten(np.zeros((5, 2)), lengths, pad)


def test_gaps_that_are_missing_are_refused():
    flat = ops.flatten([[1, 2], [3]], pad=1)
    for wrong in (flat[:-1], flat[1:-1], np.append(flat, 0)):
        with pytest.raises(ValueError, match="gaps of 1 add up to 6"):
            ops.unflatten(wrong, [2, 1], 1)


def test_bad_arrays_are_refused():
    with pytest.raises(ValueError, match=r"X\[1\]: has shape \(1, 3\), but X\[0\] has \(1, 2\)"):
        ops.flatten([np.ones((1, 2)), np.ones((1, 3))])
    with pytest.raises(ValueError, match=r"X\[2\]: has shape \(1, 3\), but X\[1\] has \(1, 2\)"):
        ops.flatten([np.ones((0, 7)), np.ones((1, 2)), np.ones((1, 3))])
    with pytest.raises(TypeError, match=r"X\[0\]"):
        ops.flatten([np.array([None])])
    with pytest.raises(TypeError, match=r"X\[1\]"):
        ops.flatten([np.ones(1), masked()])
    with pytest.raises(ValueError, match="scalar"):
        ops.flatten([np.float32(1)])
    with pytest.raises(ValueError, match="pad"):
        ops.flatten([np.ones(1)], pad=-1)
    with pytest.raises((OverflowError, ValueError), match=r"pad|max_bytes"):
        ops.flatten([np.ones(1)], pad=2**62)
    with pytest.raises(ValueError, match="max_bytes"):
        ops.flatten([np.ones(1)], pad=2**50)
    with pytest.raises(TypeError, match="dtype"):
        ops.flatten([np.ones(1)], dtype="no such")
    with pytest.raises(TypeError, match="masked"):
        ops.unflatten(masked(), [2])
    with pytest.raises(ValueError, match="scalar"):
        ops.unflatten(3, [3])


def test_views_outside_are_refused():
    x = np.zeros(3)
    for begin, end in [(-1, 1), (0, 4), (2, 1)]:
        with pytest.raises(ValueError, match="view 1"):
            vl._core.views(x, [0, begin], [1, end])
    with pytest.raises(ValueError, match="1 for 2"):
        vl._core.views(x, [0, 1], [1])


def test_tensors_give_tensors_and_gradients():
    torch = pytest.importorskip("torch")
    a = torch.ones(2, 3, requires_grad=True)
    b, empty = torch.full((1, 3), 2.0, requires_grad=True), torch.ones(0, 3)
    flat = ops.flatten([a, empty, b], pad=1)
    assert flat[:, 0].tolist() == [0, 1, 1, 0, 2, 0]
    (flat * torch.arange(6.0)[:, None]).sum().backward()
    assert a.grad[:, 0].tolist() == [1, 2]
    assert b.grad[:, 0].tolist() == [4]
    back = ops.unflatten(flat, torch.tensor([2, 0, 1]), 1)
    assert [tuple(x.shape) for x in back] == [(2, 3), (0, 3), (1, 3)]
    assert back[0].data_ptr() == flat[1:].data_ptr()
    assert ops.unflatten(flat, [2, 4])[1].shape == (4, 3)
    assert ops.flatten([torch.ones(0, dtype=torch.int8), a]).dtype == torch.float32
    assert ops.flatten([torch.ones(1), torch.ones(1, dtype=torch.int8)], torch.int16).dtype == torch.int16
    assert [x.tolist() for x in ops.unpad(torch.tensor([[1, 2], [3, 4]]), [1, 2], padding_side="left")] == [
        [2],
        [3, 4],
    ]
    with pytest.raises(ValueError, match=r"X\[1\]: has shape \(1, 2\)"):
        ops.flatten([a, torch.ones(1, 2)])
    with pytest.raises(TypeError, match=r"X\[1\]"):
        ops.flatten([a, np.ones((1, 3))])
    with pytest.raises(ValueError, match="add up to 2"):
        ops.unflatten(flat, [2])
