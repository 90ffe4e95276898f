"""Concat: containers one after another, sequence by sequence, and under a new level."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from oracles import verbs as oracle
from varlen import _core
from varlen.ops import split, stack
from varlen.testing import strategies


@st.composite
def alike(draw, count=None):
    """Several containers of as many levels and of rows of one shape."""
    depth, trailing = draw(st.integers(1, 3)), draw(st.sampled_from([(), (2,), (0,)]))
    n = draw(st.integers(1, 4)) if count is None else count
    return [draw(strategies.raggeds(depth=depth, dtype="int16", trailing=trailing)) for _ in range(n)]


@given(alike())
def test_concatenate_is_addition_of_lists(parts):
    result = vl.concatenate(parts)
    assert result.to_list() == oracle.concat([part.to_list() for part in parts])
    assert result.dtype == parts[0].dtype
    assert result.shape[1:] == parts[0].shape[1:]


@given(alike(), st.data())
def test_concatenate_inside_sequences_is_addition_of_each(parts, data):
    n = min(len(part) for part in parts)
    cut = [part[:n] for part in parts]
    axis = data.draw(st.sampled_from([1, 1 - cut[0].ndim]))
    assert vl.concatenate(cut, axis).to_list() == oracle.concat([part.to_list() for part in cut], axis=1)


@given(alike())
def test_stack_makes_each_part_a_sequence(parts):
    assert stack(parts).to_list() == [part.to_list() for part in parts]


@given(strategies.raggeds(), st.data())
def test_split_and_concatenate_are_inverse(r, data):
    sizes = data.draw(st.lists(st.integers(0, 2), max_size=4).filter(lambda s: sum(s) <= len(r)))
    sizes.append(len(r) - sum(sizes))
    pieces = split(r, sizes)
    assert [len(piece) for piece in pieces] == sizes
    assert all(p.values.size == 0 or np.shares_memory(p.values, r.values) for p in pieces)
    assert vl.concatenate(pieces).equals(r, equal_nan=True)


@pytest.mark.parametrize("given", [None, 3, 1.5], ids=str)
def test_split_of_no_ragged_is_refused(given):
    with pytest.raises(TypeError, match="ragged: expected a Ragged, got ") as raised:
        split(given, 1)
    assert raised.value.argument == "ragged"


@given(strategies.raggeds(), st.integers(1, 9))
def test_split_by_a_number_leaves_the_rest_in_the_last(r, size):
    pieces = r.split(size)
    assert sum(len(piece) for piece in pieces) == len(r)
    assert all(len(piece) == size for piece in pieces[:-1])


def test_concatenate_promotes_dtypes_as_numpy_does():
    parts = [vl.Ragged(np.array([1], dtype), [1]) for dtype in ("int8", "uint8", "float32")]
    assert vl.concatenate(parts[:2]).dtype == np.int16
    assert vl.concatenate(parts).dtype == np.float32
    swapped = vl.Ragged(np.array([1], ">i4"), [1])
    assert vl.concatenate([swapped, swapped]).values.tolist() == [1, 1]
    assert vl.concatenate([swapped, vl.Ragged(np.array([2], "<i4"), [1])]).values.tolist() == [1, 2]


@pytest.mark.parametrize("threads", [1, 3])
def test_concatenate_of_many_small_and_few_large(threads):
    rng = np.random.default_rng(0)
    sizes = [*rng.integers(0, 40, 3000).tolist(), 900_000, 3, 500_000]
    parts = [vl.Ragged(rng.integers(0, 255, n, np.uint8), [n]) for n in sizes]
    vl.set_num_threads(threads)
    result = vl.concatenate(parts)
    vl.set_num_threads(2)
    assert result.values.tobytes() == b"".join(part.values.tobytes() for part in parts)
    assert result.lengths.tolist() == sizes


def test_concatenate_names_what_does_not_fit():
    r = vl.Ragged(np.arange(3), [2, 1])
    cases = [
        ([], ValueError, "expected at least one part"),
        (r, TypeError, "a list of Ragged"),
        ([r, [1]], TypeError, "part 1: expected a Ragged, got list"),
        (
            [r, vl.Ragged(np.arange(3), lengths=[[2], [2, 1]])],
            ValueError,
            "part 1 has 2 levels, the first has 1",
        ),
        ([r, r, vl.Ragged(np.zeros((1, 2)), [1])], ValueError, r"part 2 has rows of shape \(2,\)"),
        ([r, vl.Ragged(np.array(["a"]), [1])], (TypeError, ValueError), ""),
    ]
    for parts, kind, text in cases[:5]:
        with pytest.raises(kind, match=text):
            vl.concatenate(parts)
    with pytest.raises(ValueError, match="part 1 has 1 sequences, the first has 2"):
        vl.concatenate([r, r[:1]], axis=1)
    with pytest.raises(ValueError, match="axis: 2 is out of range for 2 axes"):
        vl.concatenate([r, r], axis=2)


def test_split_names_sizes_that_do_not_fit():
    r = vl.Ragged(np.arange(3), [2, 1])
    for sizes, text in [
        (0, "at least 1"),
        ([1], "add up to 1, but there are 2"),
        ([3, -1], "row 1 has a negative"),
    ]:
        with pytest.raises(ValueError, match=text):
            r.split(sizes)
    with pytest.raises(TypeError, match="integers"):
        r.split([1.0, 1.0])


def test_concat_of_the_core_refuses_arrays_that_differ():
    with pytest.raises(ValueError, match="array 1 has dtype int64, the first has int32"):
        _core.concat([np.zeros(1, np.int32), np.zeros(1, np.int64)])
    with pytest.raises(ValueError, match="rows of array 1 have another shape"):
        _core.concat([np.zeros((1, 2)), np.zeros((1, 3))])
    with pytest.raises(TypeError, match="Python objects"):
        _core.concat([np.array([None])])
    with pytest.raises(OverflowError, match="levels"):
        _core.concat_levels([_core.Level([2**62])] * 2)
