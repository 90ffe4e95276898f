"""Thinc's ops and transforms, case by case: its results where they are right, else the wanted ones."""

import numpy as np
import pytest
import varlen as vl
from thinc_samples import TENS, of_lengths, ragged, same
from varlen import ops, transforms
from varlen.thinc import Ragged


def test_33_sums():
    same(ops.reduce_sum(TENS, [2, 3]), [[2, 4], [18, 21]])
    same(ops.reduce_sum(TENS, [2, 0, 3])[1], [0, 0])


def test_34_means():
    same(ops.reduce_mean(TENS, [2, 3]), [[1, 2], [6, 7]])
    same(ops.reduce_mean(TENS, [2, 0, 3])[1], [0, 0])


def test_35_maxima():
    most, which = ops.reduce_max(TENS, [2, 3], which=True)
    same(most, [[2, 3], [8, 9]])
    same(which, [[1, 1], [2, 2]])
    same(ops.reduce_max(np.ones((2, 1)), [2], which=True)[1], [[0]])
    with pytest.raises(ValueError, match="sequence 1 is empty"):
        ops.reduce_max(TENS, [2, 0, 3])


def test_36_ends():
    same(ops.reduce_first(TENS, [2, 3]), [[0, 1], [4, 5]])
    same(ops.reduce_last(TENS, [2, 3]), [[2, 3], [8, 9]])


REDUCTIONS = [ops.reduce_sum, ops.reduce_mean, ops.reduce_max, ops.reduce_first, ops.reduce_last]


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("lengths", [[-1, 6], [2, 9], [2, 2]])
def test_37_lengths_that_do_not_fit(op, lengths):
    with pytest.raises(ValueError, match="length"):
        op(TENS, lengths)


@pytest.mark.parametrize("op", REDUCTIONS)
def test_38_no_sequences_and_no_width(op):
    result = op(np.zeros((0, 2)), [])
    result = result[0] if isinstance(result, tuple) else result
    assert (result.shape, result.dtype) == ((0, 2), np.float64)
    result = op(np.zeros((5, 0)), [2, 3])
    assert (result[0] if isinstance(result, tuple) else result).shape == (2, 0)
    same(ops.reduce_sum(np.zeros((0, 2)), [0, 0]), np.zeros((2, 2)))


def test_39_maxima_of_what_is_no_number():
    most, which = ops.reduce_max(np.full((2, 1), -np.inf), [2], which=True)
    assert (most.item(), which.item()) == (-np.inf, 0)
    most, which = ops.reduce_max(np.array([1, np.nan, 2]), [3], which=True)
    assert np.isnan(most[0])
    assert which[0] == 1


def test_40_ways_back_of_sums():
    d = np.array([[0.0, 1.0], [2.0, 3.0]])
    same(ops.backprop_reduce_sum(d, [2, 1]), [[0, 1], [0, 1], [2, 3]])
    same(ops.backprop_reduce_mean(d, [2, 1]), [[0, 0.5], [0, 0.5], [2, 3]])
    same(ops.backprop_reduce_sum(np.array([1.0, 9.0, 2.0]), [2, 0, 1]), [1, 1, 2])


def test_41_way_back_of_maxima():
    d = np.array([[1.0, 2.0], [3.0, 4.0]])
    same(ops.backprop_reduce_max(d, [[0, 1], [0, 0]], [2, 1]), [[1, 0], [0, 2], [3, 4]])
    for wrong in (5, -1):
        with pytest.raises(IndexError, match=f"which: {wrong} in row 0"):
            ops.backprop_reduce_max(d, [[wrong, 0], [0, 0]], [2, 1])
    with pytest.raises(ValueError, match="2 rows for 3"):
        ops.backprop_reduce_max(d, [[0, 1], [0, 0]], [1, 1, 1])


def test_42_ways_back_of_ends():
    d = np.array([1.0, 2.0])
    same(ops.backprop_reduce_first(d, [3, 2]), [1, 0, 0, 2, 0])
    same(ops.backprop_reduce_last(d, [3, 2]), [0, 0, 1, 0, 2])
    with pytest.raises(ValueError, match="2 rows for 0"):
        ops.backprop_reduce_first(d, [])


def test_43_windows_of_one_sequence():
    x = np.array([[1], [2], [3]])
    same(ops.seq2col(x, 1), [[0, 1, 2], [1, 2, 3], [2, 3, 0]])
    same(ops.seq2col(x, 2), [[0, 0, 1, 2, 3], [0, 1, 2, 3, 0], [1, 2, 3, 0, 0]])
    same(ops.seq2col(x, 0), x)


@pytest.mark.parametrize("lengths", [[1, 3], [1, 0, 3]])
def test_44_windows_end_with_their_sequence(lengths):
    x = np.array([[1], [2], [3], [4]])
    same(ops.seq2col(x, 1, lengths=lengths), [[0, 1, 0], [0, 2, 3], [2, 3, 4], [3, 4, 0]])
    same(ops.seq2col(np.array([[1, 2]]), 1), [[0, 0, 1, 2, 0, 0]])
    assert ops.seq2col(np.zeros((0, 2)), 1).shape == (0, 6)


def test_45_way_back_of_windows():
    same(ops.backprop_seq2col(np.arange(9.0).reshape(3, 3), 1), [[4], [12], [12]])
    with pytest.raises(ValueError, match="do not divide"):
        ops.backprop_seq2col(np.ones((2, 4)), 1)


@pytest.mark.parametrize("nW", range(5))
def test_46_ways_back_are_adjoint(nW):
    draw = np.random.default_rng(nW)
    lengths = draw.integers(0, 5, 6)
    X, Y = draw.normal(size=(lengths.sum(), 2)), draw.normal(size=(lengths.sum(), 2 * (2 * nW + 1)))
    one = (Y * ops.seq2col(X, nW, lengths=lengths)).sum()
    assert one == pytest.approx((ops.backprop_seq2col(Y, nW, lengths=lengths) * X).sum())
    d = draw.normal(size=(6, 2))
    for op, back in ((ops.reduce_sum, ops.backprop_reduce_sum), (ops.reduce_mean, ops.backprop_reduce_mean)):
        assert (d * op(X, lengths)).sum() == pytest.approx((back(d, lengths) * X).sum())


def test_47_softmax():
    same(ops.softmax(np.zeros((3, 1)), [2, 1]), [[0.5], [0.5], [1]])
    result = ops.softmax(np.array([[100.0], [90.0]]), [2])
    np.testing.assert_allclose(result[:, 0], [0.9999546, 4.5397868e-05], rtol=1e-6)


def test_48_way_back_of_softmax():
    result = ops.backprop_softmax(np.array([[1.0], [0], [1]]), np.array([[0.5], [0.5], [1]]), [2, 1])
    same(result, [[0.25], [-0.25], [0]])


def test_49_gather_add():
    table = np.arange(8.0).reshape(4, 2)
    same(ops.gather_add(table, np.array([[0, 1], [3, 3]])), [[2, 4], [12, 14]])
    for wrong in (4, -1):
        with pytest.raises(IndexError, match=str(wrong)):
            ops.gather_add(table, np.array([[wrong, 0]]))
    assert ops.gather_add(table, np.zeros((0, 2), np.int64)).shape == (0, 2)


def test_50_scatter_add():
    table = np.zeros((3, 1))
    ops.scatter_add(table, np.array([0, 2, 0]), np.array([[1.0], [5.0], [2.0]]))
    same(table, [[3], [0], [5]])
    with pytest.raises(IndexError, match="-1"):
        ops.scatter_add(table, np.array([-1]), np.ones((1, 1)))
    same(table, [[3], [0], [5]])


@pytest.mark.parametrize("lengths", [[], [10], [5, 1], [2, 0, 1], [0, 0]])
def test_51_round_trips(lengths):
    items = of_lengths(lengths, 3)
    for result in (ops.ragged2list(ops.list2ragged(items)), ops.padded2list(ops.list2padded(items))):
        assert len(result) == len(items)
        for a, b in zip(result, items, strict=True):
            same(a, b)
    r = Ragged(np.ones((sum(lengths), 3)), lengths)
    assert ops.padded2ragged(ops.ragged2padded(r)).equals(r)


def test_52_with_array_sees_rows():
    seen = []
    layer = transforms.with_array(lambda x: seen.append(x.shape) or x)
    r = ragged()
    result = layer.predict(r)
    assert seen == [(6, 2)]
    assert result.levels[0] is r.levels[0]
    assert layer.predict(ops.list2padded(of_lengths([2, 1], 4))).data.shape == (2, 2, 4)
    assert seen[1] == (2, 2, 4)


def test_53_with_array_puts_rows_between():
    seen = []

    def layer(x, is_train):
        seen.append(x.tolist())
        return x, lambda d: d

    items = [np.array([1.0, 2.0]), np.array([]), np.array([3.0])]
    result, back = transforms.with_array(layer, pad=1)(items, True)
    assert seen == [[0, 1, 2, 0, 3, 0]]
    assert [x.tolist() for x in result] == [x.tolist() for x in back(result)] == [[1, 2], [], [3]]


def test_54_with_padded_of_an_array():
    seen = []
    result = transforms.with_padded(lambda p: seen.append(p) or p).predict(np.ones((4, 2, 3)))
    assert isinstance(result, np.ndarray)
    same(seen[0].lengths, [4, 4])
    same(seen[0].indices, [0, 1])


def test_55_trailing_axes_survive_transforms():
    r = ragged(np.ones((6, 2, 3)))
    for wrap in (transforms.with_list, transforms.with_padded):
        assert wrap(lambda x: x).predict(r).dataXd.shape == (6, 2, 3)


def test_56_with_flatten():
    def double(x, is_train):
        return [2 * each for each in x], lambda d: [10 * each for each in d]

    result, back = transforms.with_flatten(double)([[1, 2], [], [3]], True)
    assert result == [[2, 4], [], [6]]
    assert back(result) == [[20, 40], [], [60]]
    assert transforms.with_flatten(double).predict([[[1], []], [], [[2, 3]]]) == [[[2], []], [], [[4, 6]]]


def test_57_gradients_of_another_shape():
    _, back = transforms.reduce_sum()(ragged(), True)
    with pytest.raises(ValueError, match=r"has shape \(3, 2\), the result has \(4, 2\)"):
        back(np.ones((3, 2)))
    with pytest.raises(ValueError, match="is int64, the result is float64"):
        back(np.ones((4, 2), np.int64))


def test_58_minibatch():
    assert [len(x) for x in ops.minibatch(2, list(range(5)))] == [2, 2, 1]
    assert len(ops.minibatch(2, list(range(5)))) == 3
    assert [len(x) for x in ops.minibatch([1, 3, 5], list(range(5)))] == [1, 3, 1]
    assert list(ops.minibatch(2, [])) == []
    with pytest.raises(ValueError, match="len"):
        ops.minibatch(2, iter([1]))
    for sizes in (0, [1]):
        with pytest.raises(ValueError, match="size"):
            list(ops.minibatch(sizes, list(range(5))))
    assert [x.lengths.tolist() for x in ops.minibatch(3, ragged())] == [[2, 0, 3], [1]]


def test_59_memory_of_every_kind():
    X = np.arange(20).reshape(5, 4)
    for given in (X.astype(np.int64), X.T.copy().T, np.repeat(X, 2, 0)[::2]):
        frozen = given.view()
        frozen.flags.writeable = False
        for op in (ops.reduce_sum, ops.reduce_mean, ops.softmax):
            np.testing.assert_allclose(op(frozen, [2, 3]), op(X.astype(np.float32), [2, 3]), rtol=1e-6)
        same(ops.seq2col(frozen, 1, lengths=[2, 3]), ops.seq2col(X, 1, lengths=[2, 3]))


def test_60_threads_and_lengths_do_not_matter():
    x = np.random.default_rng(0).normal(size=1_000_000).astype(np.float32)
    was = vl.num_threads()
    try:
        result = []
        for threads in (1, 2):
            vl.set_num_threads(threads)
            result.append([ops.reduce_sum(x, [len(x)]), ops.softmax(x, [len(x)]), ops.cumsum(x, [len(x)])])
            same(ops.reduce_sum(x, np.ones(len(x), int)), x)
            same(ops.cumsum(x, np.ones(len(x), int)), x)
    finally:
        vl.set_num_threads(was)
    for a, b in zip(*result, strict=True):
        same(a, b)
