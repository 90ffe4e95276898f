"""What levels compose to: against a loop, kept by identity, let go of, asked for by many threads."""

from __future__ import annotations

import copy
import gc
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from varlen import _core
from varlen.levels import flatten_levels, levels_over_rows


@st.composite
def nestings(draw, depth=4):
    """Levels that fit each other, outermost first."""
    lengths = draw(st.lists(st.integers(0, 3), max_size=4))
    levels = [vl.Level(lengths)]
    for _ in range(draw(st.integers(0, depth - 1))):
        count = levels[-1].total
        levels.append(vl.Level(draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))))
    return tuple(levels)


@given(nestings())
def test_flattened_level_cuts_the_rows_as_the_outermost_does(levels):
    offsets = levels[0].offsets
    for below in levels[1:]:
        offsets = below.offsets[offsets]
    assert flatten_levels(levels).offsets.tolist() == offsets.tolist()
    for k, level in enumerate(levels_over_rows(levels)):
        assert level == flatten_levels(levels[k:])


def test_composed_level_is_kept_by_identity():
    above, below, same = vl.Level([2, 1]), vl.Level([3, 0, 2]), vl.Level([3, 0, 2])
    flat = above.compose(below)
    assert flat.lengths.tolist() == [3, 2]
    assert above.compose(below) is flat
    other = above.compose(same)  # equal, but another level
    assert other is not flat
    assert other == flat
    assert above.compose(below) is not flat  # the last one is kept, and no more
    assert above.compose(below) == flat


def test_composed_numbers_are_worked_out_once_though_the_object_goes():
    above, below = vl.Level(np.full(1000, 2)), vl.Level(np.full(2000, 3))
    at = above.compose(below).row_ids.ctypes.data
    gc.collect()
    assert above.compose(below).row_ids.ctypes.data == at
    nested = vl.Ragged(np.zeros(6000), levels=(above, below))
    assert vl.ops.segment_ids(nested, level=0).ctypes.data == at


def test_composed_level_outlives_those_it_was_made_of():
    above, below = vl.Level([2, 1]), vl.Level([3, 0, 2])
    flat = above.compose(below)
    del above, below
    gc.collect()
    assert flat.row_ids.tolist() == [0, 0, 0, 1, 1]


def test_kept_levels_are_in_no_cycle():
    levels = tuple(vl.Level(np.ones(100, int)) for _ in range(3))
    flatten_levels(levels)
    gc.collect()
    del levels
    assert gc.collect() == 0


def test_level_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="add up to 3, but the one below it has 2 sequences"):
        vl.Level([2, 1]).compose(vl.Level([1, 1]))
    with pytest.raises(TypeError, match="below: expected a Level, got list"):
        vl.Level([2, 1]).compose([1, 1, 1])


@pytest.mark.parametrize("protocol", range(6))
def test_level_is_pickled_without_what_it_keeps(protocol):
    above, below = vl.Level([2, 1]), vl.Level([3, 0, 2])
    bare = pickle.dumps(above, protocol)
    flat = above.compose(below)
    assert pickle.dumps(above, protocol) == bare
    assert pickle.loads(bare).compose(below) == flat
    assert copy.deepcopy(above).compose(copy.deepcopy(below)) == flat


def test_level_is_copied():
    level = vl.Level([2, 0, 1])
    for made in (copy.copy(level), copy.deepcopy(level)):
        assert made.offsets.tolist() == level.offsets.tolist()


def test_threads_are_given_one_level():
    for _ in range(20):
        above, below = vl.Level(np.full(500, 4)), vl.Level(np.full(2000, 2))
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(above.compose, [below] * 64))
        assert all(level is found[0] for level in found)
        assert found[0].longest == 8


def test_threads_with_levels_of_their_own_do_not_mix_them_up():
    above = vl.Level(np.full(50, 2))
    inner = [vl.Level(np.full(100, k)) for k in range(8)]

    def ask(k):
        return all(above.compose(inner[k]).total == 100 * k for _ in range(300))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(8)))


def test_sum_of_an_outer_level_is_that_of_the_flat_rows():
    values = np.arange(12.0)
    nested = vl.Ragged(values, [[2, 1], [3, 4, 5]])
    for _ in range(2):
        assert nested.sum(level=0).tolist() == [21.0, 45.0]
        assert nested.softmax(level=0).equals(
            vl.Ragged(vl.Ragged(values, [7, 5]).softmax().values, levels=nested.levels)
        )


def test_compose_is_a_method_of_the_core():
    assert _core.Level.compose.__doc__.startswith("The level that cuts")
