"""Gather: sequences by index, mask and slice, windows and columns, against nested Python lists."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import verbs as oracle
from varlen import _core
from varlen.testing import strategies


def call(function, r, argument):
    """A function of the core on a Ragged, as nested lists; what it gives has to fit together."""
    values, levels = function(r.values, r.levels, argument)
    return vl.Ragged(values, levels=levels).to_list() if levels else values.tolist()


@st.composite
def select(draw, dtype="int16"):
    r = draw(strategies.raggeds(dtype=dtype))
    return r, draw(strategies.index_for(len(r)))


@given(select())
def test_gather_is_indexing_of_lists(case):
    r, index = case
    given_index = index if isinstance(index, slice) else np.asarray(index, None if len(index) else np.int64)
    assert call(_core.gather, r, given_index) == oracle.gather(r.to_list(), strategies.as_index(index))


@given(st.data(), strategies.dtypes())
def test_gather_moves_every_dtype_and_width(data, dtype):
    r = data.draw(strategies.raggeds(dtype=dtype))
    index = np.array(
        data.draw(st.lists(st.integers(0, max(len(r) - 1, 0)), max_size=9 if len(r) else 0)), int
    )
    values, levels = _core.gather(r.values, r.levels, index)
    assert values.dtype == r.dtype
    assert values.tobytes() == b"".join(flat(r, i).tobytes() for i in index)
    assert levels[0].lengths.tolist() == r.lengths[index].tolist()


def flat(r, i):
    """The values of sequence i, through all levels."""
    begin, end = i, i + 1
    for level in r.levels:
        begin, end = level.offsets[begin], level.offsets[end]
    return r.values[begin:end]


@given(strategies.raggeds(dtype="int32"), strategies.slices(4))
def test_gather_window_is_a_slice_of_every_sequence(r, window):
    assert call(_core.gather_window, r, window) == oracle.window(r.to_list(), window)


@given(strategies.raggeds(dtype="int32"), st.integers(-3, 3))
def test_gather_column_is_one_row_of_every_sequence(r, at):
    lists = r.to_list()
    short = [i for i, row in enumerate(lists) if not -len(row) <= at < len(row)]
    if short:
        with pytest.raises(IndexError, match=f"sequence {short[0]} of length {len(lists[short[0]])}"):
            _core.gather_column(r.values, r.levels, at)
    else:
        assert call(_core.gather_column, r, at) == [row[at] for row in lists]


@given(strategies.raggeds(dtype="int32"))
def test_gather_row_is_a_view_of_one_sequence(r):
    lists = r.to_list()
    for i in range(-len(r), len(r)):
        assert call(_core.gather_row, r, i) == lists[i]
        values, _ = _core.gather_row(r.values, r.levels, i)
        assert values.size == 0 or np.shares_memory(values, r.values)


def test_gather_of_a_step_of_one_shares_values_and_whole_levels():
    r = vl.Ragged(np.arange(6), lengths=[[2, 0, 1], [1, 2, 3]])
    values, levels = _core.gather(r.values, r.levels, slice(None))
    assert values is r.values
    assert all(a is b for a, b in zip(levels, r.levels, strict=True))
    part, _ = _core.gather(r.values, r.levels, slice(1, None))
    assert np.shares_memory(part, r.values)
    assert part.tolist() == [3, 4, 5]


def test_gather_window_that_cuts_nothing_shares_values():
    r = vl.Ragged(np.arange(5), [2, 0, 3])
    values, levels = _core.gather_window(r.values, r.levels, slice(None, 3))
    assert values is r.values
    assert levels[0] is r.levels[0]


@pytest.mark.parametrize("count", [3, 200_000])
@pytest.mark.parametrize("bad", [-4, 3])
def test_gather_names_the_first_bad_index(count, bad):
    r = vl.Ragged(np.arange(6), [3, 1, 2])
    index = np.zeros(count, np.int64)
    index[-2:] = bad
    with pytest.raises(
        IndexError, match=rf"index {bad} at position {count - 2} is out of range for 3 sequences"
    ):
        _core.gather(r.values, r.levels, index)
    with pytest.raises(IndexError, match=f"index {bad} is out of range for 3 sequences"):
        _core.gather_row(r.values, r.levels, bad)


@pytest.mark.parametrize("index", [2**63 - 1, -(2**63)])
def test_gather_refuses_extreme_integers(index):
    r = vl.Ragged(np.arange(100), [1] * 100)
    with pytest.raises(IndexError, match=str(index)):
        _core.gather(r.values, r.levels, np.array([0] * 40 + [index]))


def test_gather_refuses_masks_of_another_length():
    r = vl.Ragged(np.arange(6), [3, 1, 2])
    with pytest.raises(IndexError, match="the mask has 2 entries in 1 dimensions for 3 sequences"):
        _core.gather(r.values, r.levels, np.array([True, False]))


def test_gather_refuses_sums_beyond_63_bits():
    wide = _core.Level(np.array([2**61], np.int64))
    with pytest.raises(OverflowError, match="index"):
        _core.gather(np.empty((2**61, 0), np.int8), (wide,), np.zeros(5, np.int64))


@settings(max_examples=20)
@given(st.sampled_from([1, 2, 3, 4, 12, 40]), st.sampled_from([0, 5, 300]), st.integers(0, 2**32))
def test_gather_gives_the_same_for_any_number_of_threads(width, giant, seed):
    """Long enough that the copy and the pass over the index are both cut into chunks."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 6, 60_000)
    lengths[7] += giant * 1000
    r = vl.Ragged(rng.integers(0, 255, (lengths.sum(), width), np.uint8), lengths)
    index = rng.integers(-60_000, 60_000, 60_000)
    result = []
    for threads in (1, 3):
        vl.set_num_threads(threads)
        result.append(_core.gather(r.values, r.levels, index))
    vl.set_num_threads(2)
    (one, (level_one,)), (many, (level_many,)) = result
    assert level_one == level_many
    assert one.tobytes() == many.tobytes()
    starts = r.offsets[:-1][index]
    taken = r.lengths[index]
    rows = np.repeat(starts - np.cumsum(taken) + taken, taken) + np.arange(taken.sum())
    assert one.tobytes() == r.values[rows].tobytes()


@pytest.mark.parametrize("step", [2, 3, -1, -2])
def test_a_mask_with_gaps_picks_what_it_says(step):
    flags = np.random.default_rng(step + 5).integers(0, 2, 40).astype(bool)
    mask = flags[::step]
    r = vl.Ragged(np.arange(3 * len(mask)), [3] * len(mask))
    picked = [row for row, flag in zip(r.to_list(), mask.tolist(), strict=True) if flag]
    assert r[mask].to_list() == picked
    assert r[mask, 1:].to_list() == [row[1:] for row in picked]
