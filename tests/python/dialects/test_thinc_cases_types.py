"""Thinc's containers, case by case: its results where they are right, the wanted ones where they are not."""

import numpy as np
import pytest
from thinc_samples import ROWS, TENS, of_lengths, ragged, same
from varlen import ops
from varlen.thinc import Padded


def test_01_length_and_offsets():
    r = ragged()
    assert len(r) == 4
    same(r.starts_ends, [0, 2, 2, 5, 6])
    assert r.starts_ends.dtype == r.lengths.dtype == np.int32
    same(r[2].dataXd, ROWS[2:5])


def test_02_an_empty_item_keeps_width_and_dtype():
    r = ragged(ROWS.astype(np.float32))
    same(r[1].lengths, [0])
    assert (r[1].dataXd.shape, r[1].dataXd.dtype) == ((0, 2), np.float32)


def test_03_negative_items():
    assert ragged()[-1].equals(ragged()[3])
    same(ragged()[-1].lengths, [1])


def test_04_integers_of_numpy():
    assert ragged()[np.int64(2)].equals(ragged()[2])


@pytest.mark.parametrize("i", [4, -5])
def test_05_items_out_of_range(i):
    with pytest.raises(IndexError, match=f"{i} is out of range for 4"):
        ragged()[i]


def test_06_a_slice_shares_memory():
    part = ragged()[1:3]
    same(part.dataXd, ROWS[2:5])
    same(part.lengths, [0, 3])
    assert np.shares_memory(part.dataXd, ROWS)


@pytest.mark.parametrize(
    ("key", "items"),
    [
        (slice(2), [0, 1]),
        (slice(-2, None), [2, 3]),
        (slice(None, None, 2), [0, 2]),
        (slice(None, None, -1), [3, 2, 1, 0]),
    ],
)
def test_07_slices_of_every_kind(key, items):
    r = ragged()
    same(r[key].lengths, r.lengths[items])
    same(r[key].dataXd, np.concatenate([r[i].dataXd for i in items]))


def test_08_slices_clip():
    assert len(ragged()[3:1]) == len(ragged()[0:0]) == 0
    assert ragged()[0:100].equals(ragged())


def test_09_lists_gather():
    r = ragged()[[2, 0]]
    same(r.dataXd, ROWS[[2, 3, 4, 0, 1]])
    same(r.lengths, [3, 2])
    assert not np.shares_memory(r.dataXd, ROWS)
    same(ragged()[[3, 3]].lengths, [1, 1])


def test_10_lists_with_empty_items_no_items_and_masks():
    same(ragged()[[0, 1]].lengths, [2, 0])
    assert len(ragged()[[]]) == 0
    same(ragged()[np.array([True, False, True, False])].lengths, [2, 3])


def test_11_trailing_axes_survive():
    r = ragged(np.arange(24).reshape(6, 2, 2))
    assert r[0].dataXd.shape == r[:1].dataXd.shape == r[[0]].dataXd.shape == (2, 2, 2)


def test_12_one_axis():
    r = ragged(np.arange(5), [2, 3])
    assert (r.data.shape, r.dataXd.shape) == ((5, 1), (5,))


@pytest.mark.parametrize("lengths", [[1, 1], [100], [-1, 7]])
def test_13_lengths_that_do_not_fit(lengths):
    with pytest.raises(ValueError, match="length"):
        ragged(ROWS, lengths)


def test_14_nothing_keeps_its_shape():
    for lengths in ([], [0, 0]):
        assert ragged(np.zeros((0, 4)), lengths).data.shape == (0, 4)
    assert ragged(np.zeros((5, 0)), [2, 3]).data.shape == (5, 0)


def test_15_iteration():
    assert [x.lengths.tolist() for x in ragged()] == [[2], [0], [3], [1]]
    assert [x.lengths.tolist() for x in ops.list2padded(of_lengths([2, 3]))] == [[3], [2]]


def test_16_padded():
    p = ops.list2padded(of_lengths([7, 2, 4]))
    assert p.data.shape == (7, 3, 5)
    for field, wanted in zip(
        (p.lengths, p.indices, p.size_at_t), ([7, 4, 2], [0, 2, 1], [3, 3, 2, 2, 1, 1, 1]), strict=True
    ):
        same(field, wanted)
    assert not p.data[4:, 1].any()


def test_17_ties():
    p = ops.list2padded(of_lengths([2, 3, 2, 3]))
    same(p.indices, [3, 1, 2, 0])
    same(p.size_at_t, [4, 4, 2])
    same(Padded.from_list(of_lengths([2, 3, 2, 3]), ties="stable").indices, [1, 3, 0, 2])


def test_18_padded_with_an_empty_item():
    p = ops.list2padded(of_lengths([2, 0, 3]))
    for field, wanted in zip(
        (p.lengths, p.indices, p.size_at_t), ([3, 2, 0], [2, 0, 1], [2, 2, 1]), strict=True
    ):
        same(field, wanted)
    assert [x.shape for x in ops.padded2list(p)] == [(2, 5), (0, 5), (3, 5)]


def test_19_padded_of_empty_items():
    p = ops.list2padded(of_lengths([0, 0], 2))
    assert p.data.shape == (0, 2, 2)
    same(p.lengths, [0, 0])
    assert p.size_at_t.shape == (0,)


def test_20_padded_of_nothing():
    p = ops.list2padded([])
    assert p.data.shape == (0, 0, 0)
    assert all(len(x) == 0 and x.dtype == np.int64 for x in (p.size_at_t, p.lengths, p.indices))
    assert ops.padded2list(p) == []


def test_21_padded_of_one_is_a_copy():
    item = np.ones((3, 2))
    p = ops.list2padded([item])
    assert p.data.shape == (3, 1, 2)
    same(p.size_at_t, [1, 1, 1])
    assert not np.shares_memory(p.data, item)


def test_22_padded_keeps_dtypes():
    p = ops.list2padded(of_lengths([6, 5, 2, 1], dtype=np.int32))
    assert p.data.dtype == np.int32
    same(p.size_at_t, [4, 3, 2, 2, 2, 1])


def test_23_columns_of_a_padded():
    part = ops.list2padded(of_lengths([7, 2, 4]))[1:3]
    same(part.size_at_t, [2, 2, 1, 1])
    assert part.data.shape == (4, 2, 5)
    for result, wanted in zip(ops.padded2list(part), of_lengths([7, 2, 4])[1:], strict=True):
        same(result, wanted)


def test_24_pad():
    same(ops.pad([np.array([1, 2]), np.array([3])]), [[1, 2], [3, 0]])
    assert ops.pad(of_lengths([2, 3]), pad_to_multiple_of=4).shape[1] == 4


def test_25_pad_in_multiples():
    assert [ops.pad(of_lengths([2, 4]), k).shape[1] for k in (8, 5)] == [8, 5]
    with pytest.raises(ValueError, match="pad_to_multiple_of"):
        ops.pad(of_lengths([2]), 0)


def test_26_pad_of_what_does_not_go_together():
    for other in (np.ones(2), np.ones((2, 3))):
        with pytest.raises(ValueError, match=r"arrays\[1\]: has shape"):
            ops.pad([np.ones((2, 2)), other])
    assert ops.pad([]).shape == (0, 0)
    assert ops.pad([np.ones(1, np.int32), np.ones(2, np.float32)]).dtype == np.float64
    same(ops.pad([np.ones((0, 2)), np.ones((2, 2))])[0], np.zeros((2, 2)))
    assert ops.pad([np.ones((0, 2)), np.ones((0, 2))]).shape == (2, 0, 2)


def test_27_pad_to_the_left():
    dense, mask = ops.pad([[1, 2], [3]], padding_side="left", fill=-1, mask=True)
    same(dense, [[1, 2], [-1, 3]])
    same(mask, [[True, True], [False, True]])


def test_28_unpad():
    block = np.array([[1, 2, 0], [3, 4, 5]])
    assert [x.tolist() for x in ops.unpad(block, [2, 3])] == [[1, 2], [3, 4, 5]]
    assert [x.tolist() for x in ops.unpad(block, [2])] == [[1, 2]]
    with pytest.raises(IndexError, match="3"):
        ops.unpad(block, [1, 1, 1])


def test_29_flatten_of_nothing():
    result = ops.flatten([])
    assert (result.shape, result.dtype) == ((0, 0), np.float32)
    result = ops.flatten([], dtype="i", ndim_if_empty=1)
    assert (result.shape, result.dtype) == ((0,), np.int32)
    assert ops.flatten([np.zeros((0, 3)), np.zeros((0, 3))]).shape == (0, 3)


def test_30_flatten_with_rows_between():
    items = [np.array([1, 2]), np.array([], int), np.array([3])]
    flat = ops.flatten(items, pad=1)
    same(flat, [0, 1, 2, 0, 3, 0])
    assert [x.tolist() for x in ops.unflatten(flat, [2, 0, 1], pad=1)] == [[1, 2], [], [3]]
    same(ops.flatten([[1, 2], [3]], pad=2), [0, 0, 1, 2, 0, 0, 3, 0, 0])


def test_31_flatten_keeps_dtypes():
    assert ops.flatten([np.array([], np.int32)]).dtype == np.int32
    assert ops.flatten([np.ones(1, np.int32), np.ones(1, np.float32)]).dtype == np.float64


@pytest.mark.parametrize("lengths", [[2, 2], [2, 9, 1], [-1, 6]])
def test_32_unflatten(lengths):
    parts = ops.unflatten(TENS, [2, 0, 3])
    assert [len(x) for x in parts] == [2, 0, 3]
    assert np.shares_memory(parts[2], TENS)
    with pytest.raises(ValueError, match="length"):
        ops.unflatten(TENS, lengths)
