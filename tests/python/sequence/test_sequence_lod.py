"""Levels replaced and added, sequences dealt out and gathered again: by place, and by a mask at any level."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from nested import deeper, raised
from oracles import lod as oracle_lod
from varlen import sequence
from varlen.testing.strategies import raggeds


def lengths(r):
    return [level.lengths.tolist() for level in r.levels]


def ragged(nesting, rows=None):
    rows = np.arange(sum(nesting[-1])) if rows is None else rows
    return vl.lod.LoDTensor.from_recursive_sequence_lengths(rows, nesting)


def test_lists_are_held_against_their_lengths():
    r = vl.lod.create_lod_tensor([[1, 2, 3], [3, 4]], [[3, 2]])
    assert r.values.tolist() == [[1], [2], [3], [3], [4]]
    assert lengths(r) == [[3, 2]]
    with pytest.raises(
        ValueError, match="recursive_seq_lens: differs from the lengths of data: sequence 0 of level 0"
    ):
        vl.lod.create_lod_tensor([[1, 2, 3], [3, 4]], [[2, 2]], "place")
    deep = vl.lod.create_lod_tensor([[[1, 2], []], [[3]]], [[2, 1], [2, 0, 1]])
    assert deep.to_list() == [[[[1], [2]], []], [[[3]]]]
    assert vl.lod.create_lod_tensor([], [[], []]).shape == (0, None, None, 1)
    rows = np.zeros((5, 2))
    assert vl.lod.create_lod_tensor(rows, [[3, 2]]).values is rows
    again = vl.lod.create_lod_tensor(r, [[2], [1, 4]])
    assert again.values is r.values
    assert lengths(again) == [[2], [1, 4]]


def test_random_integers_reach_both_ends():
    r = vl.lod.create_random_int_lodtensor([[2, 1], [3, 0, 30]], [4], None, low=-1, high=1, seed=0)
    assert r.values.shape == (33, 4)
    assert r.dtype == np.int64
    assert set(r.values.ravel().tolist()) == {-1, 0, 1}
    same = vl.lod.create_random_int_lodtensor([[2, 1], [3, 0, 30]], (4,), None, -1, 1, seed=0)
    assert same.equals(r)


X = np.arange(10).reshape(10, 1)


def test_levels_are_replaced():
    x = vl.Ragged(X, [3, 2, 5])
    y = ragged([[2, 2], [2, 2, 1, 5]])
    assert lengths(vl.lod_reset(x, target_lod=[0, 7, 10])) == [[7, 3]]
    assert lengths(vl.lod_reset(x, target_lod=[7, 3])) == [[7, 3]]
    assert lengths(vl.lod_reset(x, np.array([0, 4, 7, 10], np.int32), [0, 7, 10])) == [[4, 3, 3]]
    assert lengths(vl.lod_reset(x, y=np.array([[4, 6]]))) == [[4, 6]]
    assert lengths(vl.lod_reset(x, y)) == lengths(y)
    assert vl.lod_reset(x, y).levels is y.levels
    assert vl.lod_reset(x, y).values is x.values
    assert lengths(vl.lod_reset(X, target_lod=[[2, 0], [4, 6]])) == [[2, 0], [4, 6]]
    assert lengths(vl.lod_reset(X, target_lod=vl.Level([0, 10]))) == [[0, 10]]
    assert lengths(vl.lod_reset(deeper(x), target_lod=[10])) == [[10]]
    assert lengths(vl.lod_reset(X[:0], target_lod=[])) == [[]]


def test_levels_are_added():
    x = vl.Ragged(X, [3, 2, 5])
    for ones in ([1] * 10, list(range(11))):
        assert lengths(vl.lod_append(x, ones)) == [[3, 2, 5], [1] * 10]
        assert lengths(raised(vl.lod_append(deeper(x), ones))) == [[3, 2, 5], [1] * 10]
    assert lengths(vl.lod_append(x, [2, 1, 2, 4, 1])) == [[2, 1, 2], [2, 1, 2, 4, 1]]
    assert lengths(vl.lod_append(x, [3, 0, 2, 5], empty="before")) == [[2, 1, 1], [3, 0, 2, 5]]
    assert lengths(vl.lod_append(X, [4, 6])) == [[4, 6]]


def test_as_many_sequences_as_rows_leave_the_levels_above():
    """What Paddle gives: the levels stay, and the innermost one counts the new sequences."""
    x = vl.Ragged(X, [3, 2, 5])
    new = [2, 0, 3, 1, 1, 0, 0, 1, 1, 1]
    for r, above in ((x, [[3, 2, 5]]), (x.add_level([1, 2]), [[1, 2], [3, 2, 5]])):
        for level in (new, np.cumsum([0, *new]), vl.Level(new)):
            found = vl.lod_append(r, level)
            assert lengths(found) == [*above, new]
            assert found.values is x.values
    assert vl.lod_append(x, [10 - 7, 2, 5]).values is x.values


def test_lengths_are_appended_one_after_another():
    a, b = ragged([[2, 1], [1, 0, 2]]), ragged([[0, 1], [2]])
    assert lengths(vl.concatenate([a, b])) == [[2, 1, 0, 1], [1, 0, 2, 2]]


def test_parts_of_equally_many_sequences():
    r = vl.lod.LoDTensor.from_lod(np.arange(20), [[0, 2, 4, 5, 6], [0, 1, 6, 8, 13, 15, 20]])
    parts = sequence.split_lod(r, 2)
    assert [lengths(part) for part in parts] == [[[2, 2], [1, 5, 2, 5]], [[1, 1], [2, 5]]]
    assert all(np.shares_memory(part.values, r.values) for part in parts)
    assert sequence.merge_lod([*parts, r[:0]]).equals(r)
    assert [len(part) for part in sequence.split_lod(r, 3)] == [2, 2, 0]
    assert [len(part) for part in sequence.split_lod(r[:0], 2)] == [0, 0]
    five = ragged([[1] * 5])
    for num in range(1, 8):
        parts = sequence.split_lod(five, num)
        assert len(parts) == num
        assert sequence.merge_lod(parts).equals(five)


def test_empty_sequences_are_routed_back_to_their_places():
    r = ragged([[2, 0, 1, 0, 3]])
    for mask in ([1, 1, 0, 0, 1], [0, 1, 1, 1, 0], [1] * 5, [0] * 5):
        there = np.array(mask, bool)
        yes, no = sequence.split_lod_tensor(input=r, mask=there[:, None], level=0)
        assert yes.to_list() == [each for each, m in zip(r.to_list(), mask, strict=True) if m]
        assert sequence.merge_lod_tensor(yes, no, r, there).equals(r)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_routes_go_out_and_back_at_any_level(data):
    r = data.draw(raggeds())
    at = data.draw(st.integers(0, len(r.levels) - 1))
    n = len(r.levels[at])
    mask = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    level = data.draw(st.sampled_from([at, at - len(r.levels)]))
    ids = vl.Ragged(np.arange(r.total), levels=r.levels)
    for which, part in zip((True, False), sequence.split_lod_tensor(ids, mask, level), strict=True):
        assert part.to_list() == oracle_lod.routed(ids.to_list(), [*mask], at, which)
        assert part.levels[: max(at - 1, 0)] == r.levels[: max(at - 1, 0)]
    yes, no = sequence.split_lod_tensor(r, mask, level)
    back = sequence.merge_lod_tensor(yes, no, data.draw(st.sampled_from([r, None])), mask, level)
    assert back.equals(r, equal_nan=r.dtype.kind in "fcM")
    assert back.dtype == r.dtype


def test_branches_may_change_what_they_are_given():
    r = deeper(vl.Ragged(np.arange(6), [2, 0, 1, 3]))
    mask = [True, False, False, True]
    yes, no = sequence.split_lod_tensor(r, mask, 2)
    back = sequence.merge_lod_tensor(yes[:, :, :, :1] * 0.5, no.astype(np.float32), r, mask, level=2)
    assert raised(back).to_list() == [[0.0], [], [2.0], [1.5]]
    assert back.dtype == np.float64
    assert back.levels[0] is r.levels[0]


def test_rows_without_levels_are_routed():
    rows = np.arange(6).reshape(3, 2)
    yes, no = sequence.split_lod_tensor(rows, [[True], [False], [True]])
    assert (yes.tolist(), no.tolist()) == ([[0, 1], [4, 5]], [[2, 3]])
    assert sequence.merge_lod_tensor(yes, no, rows, [True, False, True]).tolist() == rows.tolist()
    assert sequence.merge_lod_tensor(rows[:0], rows, None, [False] * 3).tolist() == rows.tolist()


def test_tensors_are_routed_with_their_gradients():
    torch = pytest.importorskip("torch")
    x = torch.arange(12.0, dtype=torch.float64).reshape(6, 2).requires_grad_()
    mask = torch.tensor([True, False, True, True, False])
    nesting = [[2, 0, 3], [1, 0, 2, 0, 3]]

    def out_and_back(x):
        yes, no = sequence.split_lod_tensor(ragged(nesting, x), mask, 1)
        return yes.values * 2, sequence.merge_lod_tensor(yes * yes, no, None, mask, 1).values

    assert torch.autograd.gradcheck(out_and_back, x)
    rows = sequence.split_lod_tensor(x, mask.new_tensor([1, 0, 0, 1, 1, 0]))
    assert torch.equal(rows[0], x[[0, 3, 4]])
    (dx,) = torch.autograd.grad(
        sequence.merge_lod_tensor(rows[1], rows[0], x, [True] * 3 + [False] * 3).sum(), x
    )
    assert torch.equal(dx, torch.ones_like(x))
    reset = vl.lod_reset(ragged(nesting, x), target_lod=[6])
    assert reset.values is x
    assert vl.lod_append(ragged(nesting, x), torch.tensor([1, 2, 3])).levels[1].lengths.tolist() == [
        1,
        0,
        1,
        0,
        1,
    ]
    half = ragged([[1, 2]], x.detach().to(torch.bfloat16)[:3])
    yes, no = sequence.split_lod_tensor(half, [True, False])
    assert sequence.merge_lod_tensor(yes, no, half, [True, False]).equals(half)


R = ragged([[2, 1], [1, 0, 2]])
YES, NO = sequence.split_lod_tensor(R, [True, False, True], level=1)
FLAT = vl.Ragged(X, [3, 2, 5])
A, B = sequence.split_lod_tensor(FLAT, [True, False, True])
SPLIT, MERGE = sequence.split_lod_tensor, sequence.merge_lod_tensor


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: SPLIT(FLAT, [True]),
            ValueError,
            r"mask: expected 3 bools, one for each of the sequences of level 0",
        ),
        (lambda: SPLIT(R, [True] * 2, 1), ValueError, r"expected 3 bools, .*of level 1, got shape \(2,\)"),
        (lambda: SPLIT(FLAT, [1, 0, 1]), TypeError, "mask: expected bools, got int64"),
        (lambda: SPLIT(FLAT, [[True, False, True]]), ValueError, r"got shape \(1, 3\)"),
        (lambda: SPLIT(FLAT, [True] * 3, 1), IndexError, "level: 1 is out of range for 1 levels"),
        (lambda: SPLIT(X, [True] * 10, 1), IndexError, "level: 1 is out of range for rows without levels"),
        (lambda: SPLIT(X, [True] * 9), ValueError, "mask: expected 10 bools, one for each of the rows"),
        (lambda: SPLIT(5, [True]), ValueError, "input: expected at least one dimension"),
        (
            lambda: MERGE(A, B, FLAT, [True] * 4),
            ValueError,
            "mask: expected 3 bools, .*of in_true and in_false",
        ),
        (
            lambda: MERGE(A, B, FLAT, [True, False, False]),
            ValueError,
            "mask: is True for 1 of the sequences of level 0, but in_true has 2",
        ),
        (lambda: MERGE(A, YES, None, [True] * 3), ValueError, "in_false: has 2 levels, in_true has 1"),
        (lambda: MERGE(A, X, None, [True] * 3), TypeError, "in_true, in_false: expected two of one kind"),
        (
            lambda: MERGE(A, vl.Ragged(np.zeros((2, 3)), levels=B.levels), None, [True, False, True]),
            ValueError,
            r"in_false: has rows of shape \(3,\), in_true of shape \(1,\)",
        ),
        (
            lambda: MERGE(YES, NO, None, [True, True, False], 1),
            ValueError,
            "mask: is True for 2 sequences in sequence 0 of level 0, but in_true has 1",
        ),
        (
            lambda: MERGE(YES, NO[:1], None, [True, False, True], 1),
            ValueError,
            "in_true, in_false: nest differently above level 1: level 0 has 2 sequences in one and 1",
        ),
        (
            lambda: MERGE(YES, NO, ragged([[1, 2], [1, 0, 2]]), [True, False, True], 1),
            ValueError,
            "x: nests differently above level 1: sequence 0 of level 0 has length 1 in one and 2",
        ),
        (
            lambda: MERGE(YES, NO, FLAT[:2], [True, False, True], 1),
            ValueError,
            "x: has 1 levels, in_true has more",
        ),
        (
            lambda: MERGE(A, B, FLAT[:2], [True, False, True]),
            ValueError,
            "x: has 2 sequences of level 0, the mask",
        ),
        (lambda: MERGE(A, B, X, [True, False, True]), TypeError, "x: expected a Ragged"),
        (
            lambda: MERGE(X, X, X, [True] * 10 + [False] * 10),
            ValueError,
            "x: has 10 rows, the mask is for 20",
        ),
        (lambda: sequence.split_lod(FLAT, 0), ValueError, "num: expected at least 1, got 0"),
        (lambda: sequence.split_lod(X, 2), TypeError, "x: expected a Ragged"),
        (lambda: sequence.merge_lod([]), ValueError, "expected at least one part"),
        (lambda: sequence.merge_lod([R, FLAT]), ValueError, "part 1 has 1 levels, the first has 2"),
        (lambda: vl.lod_reset(X), ValueError, "y, target_lod: pass one of them"),
        (
            lambda: vl.lod_reset(X, target_lod=[0, 7, 9]),
            ValueError,
            "target_lod: as lengths: the lengths add up to 16, but there are 10 values; as offsets: ",
        ),
        (
            lambda: vl.lod_reset(X, target_lod=[0, 10]),
            ValueError,
            "target_lod: is ambiguous: it fits 10 rows both as lengths and as off",
        ),
        (lambda: vl.lod_reset(X, target_lod=[4, -4, 10]), ValueError, "row 1 has a negative length, -4"),
        (
            lambda: vl.lod_reset(X, target_lod=[10.0]),
            TypeError,
            "target_lod: expected integers, got dtype float64",
        ),
        (lambda: vl.lod_reset(X, R), ValueError, "y: the lengths add up to 3, but there are 10 values"),
        (
            lambda: vl.lod_append(FLAT, [4, 6]),
            ValueError,
            "sequence 0 of level 0 ends at 3, inside a sequence of",
        ),
        (
            lambda: vl.lod_append(FLAT, [3, 0, 2, 5]),
            ValueError,
            "beside an empty sequence of level 1; pass empty=",
        ),
        (
            lambda: vl.lod_append(FLAT, R),
            TypeError,
            "level: expected lengths, offsets or a Level, got a Ragged",
        ),
        (lambda: vl.lod_append(FLAT, [[2], [5, 5]]), ValueError, "level: expected one level, got 2"),
        (
            lambda: vl.lod.create_lod_tensor("abc", [[3]]),
            TypeError,
            "data: expected an array, lists or a Ragged",
        ),
        (
            lambda: vl.lod.create_lod_tensor(X, [[3]]),
            ValueError,
            "recursive_seq_lens: the lengths add up to 3",
        ),
        (
            lambda: vl.lod.create_lod_tensor([[1]], [[1], [1]]),
            ValueError,
            "differs from the lengths of data: one has 1 levels",
        ),
        (
            lambda: vl.lod.create_random_int_lodtensor([[2]], [1], None, 1, 0),
            ValueError,
            "high: expected at least low, which is 1, got 0",
        ),
        (
            lambda: vl.lod.create_random_int_lodtensor([[2]], -1, None, 0, 1),
            ValueError,
            "base_shape: expected",
        ),
        (
            lambda: vl.lod.create_random_int_lodtensor([[2**50]], [2**10], None, 0, 1),
            OverflowError,
            "base_shape: 1152921504606846976 do not fit into memory",
        ),
        (
            lambda: vl.lod.create_random_int_lodtensor([[2], [1]], 1, None, 0, 1),
            ValueError,
            "recursive_seq_lens: the lengths of level 0 add up to 2, but level 1 has 1",
        ),
    ],
)
def test_bad_input_is_refused_by_name_and_place(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_a_reason_is_said_once_and_of_its_argument():
    x = vl.Ragged([1, 2, 3, 4, 5], [2, 3])
    with pytest.raises(ValueError, match=r"^target_lod: the lengths add up to 6, but there are 5 values$"):
        vl.lod_reset(x, target_lod=vl.Level([6]))
    with pytest.raises(ValueError, match=r"^level: "):
        vl.lod_append(x, [1, 2, 2])
