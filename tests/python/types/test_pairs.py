"""Pairs of containers, and batches of everything that can be cut up."""

import pickle

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from varlen import ops
from varlen.testing import strategies

LISTS = [3, 1, 4, 1, 5]


def kinds():
    """Five items, as everything that Thinc calls batchable."""
    r = vl.Ragged(np.arange(8), [3, 0, 1, 2, 2])
    yield from (list(LISTS), tuple(LISTS), np.array(LISTS), r, r.to_padded())
    yield vl.Pairs(list(LISTS), np.arange(10).reshape(5, 2))
    yield vl.Pairs(r, vl.Pairs(tuple(LISTS), list(LISTS)))


@given(st.data())
def test_pairs_index_both_alike(data):
    index = data.draw(strategies.index_for(len(LISTS)))
    array = np.array(LISTS)
    plain = index if isinstance(index, slice) else np.asarray(index, None if len(index) else int)
    for one in (LISTS, tuple(LISTS), array):
        result = vl.Pairs(one, array * 10)[index]
        assert type(result.one) is type(one)
        assert list(result.one) == array[plain].tolist()
        assert result.two.tolist() == (array * 10)[plain].tolist()
        assert len(result) == len(result.one)


def test_pairs_items_are_pairs_of_items():
    pairs = vl.Pairs(["a", "bc"], np.array([1, 2]))
    assert [(item.one, item.two) for item in pairs] == [("a", 1), ("bc", 2)]
    assert (pairs[-1].one, pairs[np.int8(0)].two) == ("bc", 1)
    with pytest.raises(IndexError):
        pairs[2]


def test_pairs_compare_lengths():
    with pytest.raises(ValueError, match="one has 2 items, two has 3"):
        vl.Pairs([1, 2], np.zeros(3))
    with pytest.raises(TypeError, match="two: expected a sequence with a length, got int"):
        vl.Pairs([1], 2)


def test_pairs_are_equal_where_both_are():
    for kind in kinds():
        assert vl.Pairs(kind, kind) == vl.Pairs(kind, kind)
        assert vl.Pairs(kind, kind) != vl.Pairs(kind[:4], kind[:4])
        assert pickle.loads(pickle.dumps(vl.Pairs(kind, kind))) == vl.Pairs(kind, kind)
    assert vl.Pairs([1], [2]) != vl.Pairs((1,), (2,))
    assert vl.Pairs([np.arange(2)], [2]) == vl.Pairs([np.arange(2)], [2])
    assert vl.Pairs([1], [2]) != 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(vl.Pairs([1], [2]))


def test_pairs_show_the_beginning_of_both():
    assert repr(vl.Pairs([1, 2], (3.5, 4))) == "Pairs(one=[1, 2], two=(3.5, 4))"
    assert len(repr(vl.Pairs(list(range(10**6)), np.arange(10**6)))) < 500
    with pytest.raises(TypeError, match="a Pairs is not an array"):
        np.asarray(vl.Pairs([1], [2]))


def as_lists(batch):
    if isinstance(batch, vl.Pairs):
        return [as_lists(batch.one), as_lists(batch.two)]
    if isinstance(batch, vl.Padded):
        return [x.tolist() for x in batch.to_list()]
    return batch.to_list() if isinstance(batch, vl.Ragged) else np.asarray(batch).tolist()


@pytest.mark.parametrize("kind", list(kinds()), ids=lambda kind: type(kind).__name__)
@pytest.mark.parametrize(
    ("size", "counts"), [(2, [2, 2, 1]), (9, [5]), ([1, 3, 5], [1, 3, 1]), (iter([5]), [5])]
)
def test_minibatch_cuts_everything(kind, size, counts):
    size = list(size) if hasattr(size, "__iter__") else size
    size = size or [5]  # an iterator that another kind has used up
    batches = ops.minibatch(size, kind, buffer=2)
    assert len(batches) == len(counts)
    for _ in range(2):
        result = list(batches)
        assert [len(batch) for batch in result] == counts
        assert all(type(batch) is type(kind) for batch in result)
    if isinstance(kind, (list, tuple)):
        assert [x for batch in result for x in batch] == LISTS


@pytest.mark.parametrize("kind", list(kinds()), ids=lambda kind: type(kind).__name__)
def test_minibatch_shuffles_all_items_anew_each_time(kind):
    batches = ops.minibatch(1, kind, shuffle=True, seed=3)
    first, second = ([str(as_lists(batch)) for batch in batches] for _ in range(2))
    whole = [str(as_lists(batch)) for batch in ops.minibatch(1, kind)]
    assert sorted(first) == sorted(second) == sorted(whole)
    orders = ops.minibatch(1, list(range(100)), shuffle=True, seed=3)
    again = ops.minibatch(1, list(range(100)), shuffle=True, seed=3)
    one, other = list(orders), list(orders)
    assert one != other
    assert [one, other] == [list(again), list(again)]


def test_minibatch_draws_as_many_sizes_as_it_needs():
    sizes = iter([2, 2, 9, 7])
    assert [len(batch) for batch in ops.minibatch(sizes, LISTS)] == [2, 2, 1]
    assert next(sizes) == 7


def test_multibatch_keeps_sequences_together():
    batches = ops.multibatch(2, LISTS, np.array(LISTS) * 10, tuple(LISTS), shuffle=True, seed=0)
    assert len(batches) == 3
    for one, tens, three in batches:
        assert (np.array(one) * 10).tolist() == tens.tolist()
        assert tuple(one) == three
    with pytest.raises(ValueError, match=r"others\[0\]: has 2 items, sequence has 5"):
        ops.multibatch(2, LISTS, [1, 2])


def test_minibatch_of_nothing_is_nothing():
    assert list(ops.minibatch(2, [])) == []
    assert len(ops.minibatch([], [])) == 0
    assert list(ops.multibatch(2, [], ())) == []


def test_minibatch_refuses_sizes_that_never_end_or_run_out():
    with pytest.raises(ValueError, match="size: expected at least 1, got 0"):
        ops.minibatch(0, LISTS)
    with pytest.raises(ValueError, match=r"size\[1\]: expected at least 1, got 0"):
        ops.minibatch([3, 0], LISTS)
    with pytest.raises(ValueError, match="size: 2 sizes add up to 4 items, but there are 5"):
        ops.minibatch([3, 1], LISTS)
    with pytest.raises(TypeError, match="size: expected an int"):
        ops.minibatch(1.5, LISTS)
    with pytest.raises(ValueError, match="sequence: expected a sequence with a length, got generator"):
        ops.minibatch(2, (x for x in LISTS))
    with pytest.raises(ValueError, match=r"others\[0\]: expected a sequence with a length, got int"):
        ops.multibatch(2, LISTS, 3)
    with pytest.raises(ValueError, match="buffer"):
        ops.minibatch(2, LISTS, buffer=0)


def test_minibatch_makes_a_buffer_of_batches_first():
    seen = []

    class Watched(list):
        def __getitem__(self, key):
            seen.append(key)
            return super().__getitem__(key)

    batches = iter(ops.minibatch(1, Watched(LISTS), buffer=3))
    next(batches)
    assert len(seen) == 3
