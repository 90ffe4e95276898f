"""Edit distance: Myers's words against the plain table, and what is compared with what."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from oracles import losses as oracle
from varlen import _core, ops


def split(rows, lengths):
    return [list(x) for x in np.split(rows, np.cumsum(lengths)[:-1])] if len(lengths) else []


def wanted(a, b):
    found = [oracle.edits(x, y) for x, y in zip(a, b, strict=True)]
    kinds = [
        [s, (n - s + len(x) - len(y)) // 2, (n - s - len(x) + len(y)) // 2]
        for (n, s), x, y in zip(found, a, b, strict=True)
    ]
    return [n for n, _ in found], kinds


def flat(nested, dtype):
    return np.array([x for row in nested for x in row], dtype), [len(row) for row in nested]


@st.composite
def pairs(draw):
    """Rows that repeat keys, so that distances are not the lengths."""
    keys = draw(st.sampled_from([st.integers(0, 1), st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1)]))
    row = st.lists(keys, max_size=9).flatmap(lambda x: st.sampled_from([x, x * 3, x * 9 + x[:2]]))
    rows = draw(st.lists(st.tuples(row, row), max_size=5))
    return [list(a) for a, _ in rows], [list(b) for _, b in rows]


@pytest.mark.parametrize("low", [0, 100, 240, 256, 1000, 8191, 2**40, -5, -(2**63)])
def test_distances_are_those_of_keys_wherever_they_begin(low):
    rng = np.random.default_rng(3)
    lengths = rng.integers(0, 12, 40)
    a, b = (rng.integers(0, 7, lengths.sum()) for _ in range(2))
    expected = wanted(split(a, lengths), split(b, lengths))[0]
    assert ops.edit_distance(a + low, b + low, lengths, lengths).tolist() == expected


@given(pairs())
def test_distances_are_those_of_the_plain_table(drawn):
    a, b = drawn
    (x, n), (y, m) = flat(a, np.int64), flat(b, np.int64)
    distances, kinds = ops.edit_distance(x, y, n, m, counts=True)
    assert distances.dtype == np.int64 == kinds.dtype
    assert (distances.tolist(), kinds.tolist()) == wanted(a, b)
    assert ops.edit_distance(x, y, n, m).tolist() == distances.tolist()
    assert ops.edit_distance(y, x, m, n).tolist() == distances.tolist()


@pytest.mark.parametrize("spread", [1, 10**12])  # few numbers, and a table of keys
def test_distances_around_words_and_strips_of_them(spread):
    rng = np.random.default_rng(1)
    for n in (1, 63, 64, 65, 127, 128, 129, 192, 255, 256, 257, 511, 512, 513, 700):
        a, b = (rng.integers(0, 5, k) * spread for k in (n, n + rng.integers(0, 9)))
        b[: n // 2] = a[: n // 2]
        b[3:] = np.roll(b[3:], 2)
        for x, y in ((a, b), (b, a), (a, a), (a, b[:0]), (b[:7], a)):
            [found] = ops.edit_distance(x, y, [len(x)], [len(y)])
            assert found == _core.edit_distance(x, vl.Level([len(x)]), y, vl.Level([len(y)]), True)[0][0]
    assert found == oracle.edits(y.tolist(), x.tolist())[0]


def test_distances_are_the_same_for_any_threads_and_alone():
    rng = np.random.default_rng(2)
    n, m = rng.integers(0, 90, (2, 3000))
    n[7], m[7] = 4000, 3500
    n[-1] = 0
    a, b = rng.integers(0, 300, n.sum()), rng.integers(0, 300, m.sum())
    before, found = vl.num_threads(), []
    try:
        for threads in (1, 3):
            vl.set_num_threads(threads)
            for spread in (1, 10**9):
                for counts in (False, True):
                    result = ops.edit_distance(a * spread, b * spread, n, m, counts=counts)
                    found.append((result[0] if counts else result).tolist())
    finally:
        vl.set_num_threads(before)
    assert all(x == found[0] for x in found)
    one, other = (vl.Ragged(x, k)[[5, 7, 11]] for x, k in ((a, n), (b, m)))
    assert ops.edit_distance(one, other).tolist() == [found[0][i] for i in (5, 7, 11)]


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", ">i4", "u4", "i8", ">u8", "?", "S1", "U1"])
def test_keys_of_any_dtype_are_compared_by_equality(kind):
    rng = np.random.default_rng(3)
    a, b = (rng.integers(0, 2, k).astype(kind) for k in (30, 20))
    found = ops.edit_distance(a, b, [10, 0, 20], [0, 5, 15])
    assert found.tolist() == wanted(split(a, [10, 0, 20]), split(b, [0, 5, 15]))[0]
    strided = np.repeat(a, 2)[::2]
    assert ops.edit_distance(strided, b, [30], [20]).tolist() == ops.edit_distance(a, b, [30], [20]).tolist()


@pytest.mark.parametrize("counts", [False, True])
def test_keys_of_both_signs_are_numbers_not_bits(counts):
    a, b = np.array([-1, 5], np.int64), np.array([2**64 - 1, 5], np.uint64)
    for x, y in ((a, b), (b, a)):
        found = ops.edit_distance(x, y, [2], [2], counts=counts)
        assert (found[0] if counts else found).tolist() == [1]
    assert ops.edit_distance(b, b, [2], [2]).tolist() == [0]
    assert ops.edit_distance(a.astype("i1"), b[1:], [2], [1]).tolist() == [1]


def test_words_are_compared_whole():
    a = vl.Ragged(np.array(["the", "cat", "a"]), [2, 0, 1])
    b = vl.Ragged(np.array(["the", "hat", "sat", "x", "ab"]), [3, 1, 1])
    distances, kinds = ops.edit_distance(a, b, counts=True)
    assert distances.tolist() == [2, 1, 1]
    assert kinds.tolist() == [[1, 0, 1], [0, 0, 1], [1, 0, 0]]
    empty = vl.Ragged(np.array([], "U3"), [0, 0, 0])
    assert ops.edit_distance(empty, b).tolist() == [3, 1, 1]
    with pytest.raises(TypeError, match="expected int64 as the other side"):
        ops.edit_distance(a, vl.Ragged([1, 2, 3], [1, 1, 1]))


def test_shares_are_of_the_reference():
    found = ops.edit_distance([1, 2, 3], [1, 2], [1, 0, 2], [1, 0, 1], normalize=True)
    assert found.dtype == np.float64
    assert found.tolist() == [0, 0, 1]
    with np.errstate(all="raise"):
        assert ops.edit_distance([1], [2], [1, 0], [0, 1], normalize=True).tolist() == [np.inf, 1]


def test_levels_above_are_kept_and_those_below_are_one_sequence():
    a = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
    b = vl.Ragged.from_list([[[1], [2, 3]], [[5]]])
    inner = ops.edit_distance(a, b)
    assert isinstance(inner, vl.Ragged)
    assert inner.to_list() == [[1, 1], [1]]
    assert ops.edit_distance(a, b, level=0).tolist() == [0, 1]
    distances, kinds = ops.edit_distance(a, b, counts=True)
    assert distances.to_list() == inner.to_list()
    assert kinds.to_list() == [[[0, 1, 0], [0, 0, 1]], [[1, 0, 0]]]
    with pytest.raises(ValueError, match="b: nests differently"):
        ops.edit_distance(a, vl.Ragged.from_list([[[1], [2, 3], []], [[5]]]))


def test_nothing_is_at_no_distance():
    for n in (0, 3):
        none = vl.Ragged(np.empty(0, np.int32), [0] * n)
        assert ops.edit_distance(none, none).tolist() == [0] * n
        assert ops.edit_distance(none, none, counts=True)[1].shape == (n, 3)
        assert ops.edit_distance(none, none, normalize=True).tolist() == [0] * n


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"a": np.array([0.5, 1])}, TypeError, "a: expected integers, got dtype float64"),
        ({"b": np.array([[1], [2]])}, ValueError, "b: expected one dimension, got 2"),
        ({"b_lengths": [2]}, ValueError, "b: has 1 sequences, expected 2 as a"),
        ({"a_lengths": [1, 2]}, ValueError, "lengths: add up to 3, but a has 2 rows"),
        ({"b_lengths": [3, -1]}, ValueError, "-1"),
        ({"b_lengths": None}, TypeError, "lengths: required, because b is not a Ragged"),
        ({"level": 1}, IndexError, "level"),
    ],
)
def test_bad_pairs_are_refused(change, error, text):
    given = {"a": np.array([1, 2]), "b": np.array([1, 2]), "a_lengths": [1, 1], "b_lengths": [2, 0], **change}
    with pytest.raises(error, match=text):
        ops.edit_distance(**given)


def test_distances_of_tensors_are_tensors():
    torch = pytest.importorskip("torch")
    a, b = torch.tensor([1, 2, 3]), torch.tensor([1, 3], dtype=torch.int32)
    found = ops.edit_distance(a, b, [3], [2])
    assert found.tolist() == [1]
    assert found.dtype == torch.int64
    shares, kinds = ops.edit_distance(a, b.numpy(), [3], [2], normalize=True, counts=True)
    assert (shares.tolist(), kinds.tolist()) == ([0.5], [[0, 1, 0]])
    assert isinstance(kinds, torch.Tensor)
    assert ops.edit_distance(a.numpy(), b, [3], [2]).tolist() == [1]
