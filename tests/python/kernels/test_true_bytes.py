"""Bools are True where their byte is not zero, wherever they are read as numbers."""

from __future__ import annotations

import numpy as np
import pytest
import varlen as vl

BYTES = np.array([2, 1, 0, 255, 0, 0, 128, 3], np.uint8)
LENGTHS = [3, 0, 3, 2]

VERBS = {
    "sum": lambda x: x.sum(),
    "prod": lambda x: x.prod(),
    "mean": lambda x: x.mean(empty=0),
    "max": lambda x: x.max(empty=False),
    "min": lambda x: x.min(empty=False),
    "any": lambda x: x.any(),
    "all": lambda x: x.all(),
    "norm": lambda x: x.norm(),
    "argmax": lambda x: x.argmax(empty=-1),
    "argmin": lambda x: x.argmin(empty=-1),
    "sort": lambda x: x.sort().values,
    "argsort": lambda x: x.argsort().values,
    "rank": lambda x: x.rank().values,
    "unique": lambda x: x.unique().values,
    "cumsum": lambda x: x.cumsum().values,
    "cumprod": lambda x: x.cumprod().values,
    "cummax": lambda x: x.cummax().values,
    "cummin": lambda x: x.cummin().values,
    "softmax": lambda x: x.softmax().values,
    "erase": lambda x: vl.sequence_erase(x, [True]).values,
    "erase_false": lambda x: vl.sequence_erase(x, [False]).values,
    "where_max": lambda x: vl.ops.reduce_max(x.values, x.lengths, empty=False, which=True)[1],
    "cummax_which": lambda x: vl.ops.cummax(x.values, x.lengths, which=True)[1],
    "to_list": lambda x: [number for row in x.to_list() for number in row],
    "to_ints": lambda x: x.to_dense(dtype=np.int64),
    "gather_add": lambda x: vl.ops.gather_add(x.values.reshape(-1, 1), np.array([[0, 2], [2, 4]])),
    "scatter": lambda x: vl.ops.backprop_gather_add(x.values[:2].reshape(-1, 1), np.array([[0], [2]]), 3),
    "mask": lambda x: np.asarray(vl.Ragged(np.arange(4.0), [1, 1, 1, 1])[x.values[:4]].values),
}


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_a_bool_is_true_whatever_its_byte(verb):
    odd = vl.Ragged(BYTES.view(bool).copy(), LENGTHS)
    plain = vl.Ragged(BYTES != 0, LENGTHS)
    call = VERBS[verb]
    result, expected = np.asarray(call(odd)), np.asarray(call(plain))
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result.view(np.uint8), expected.view(np.uint8))


def test_lists_of_bools_read_what_is_not_zero_as_true():
    odd = BYTES.view(bool)
    values, _ = vl._core.from_lists([odd[:3], odd[3:]], 1, np.int64)
    np.testing.assert_array_equal(values, BYTES != 0)
    assert vl._core.from_lists([[1, 2], odd[:2]], 1)[0].tolist() == [1, 2, 1, 1]


def test_the_core_itself_erases_true_bytes_as_true():
    level = vl.Level([3, 2])
    odd = np.array([0, 2, 1, 255, 0], np.uint8).view(bool)
    for tokens, want in (([True], [0, 0]), ([False], [1, 1, 1]), ([False, True], [])):
        kept, ends = vl._core.erase(odd, level, np.array(tokens))
        assert kept.view(np.uint8).tolist() == want
        assert ends.offsets[-1] == len(want)
    kept, _ = vl._core.erase(odd, level, np.array([3], np.uint8).view(bool))
    assert kept.view(np.uint8).tolist() == [0, 0]
