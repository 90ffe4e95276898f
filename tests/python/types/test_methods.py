"""Methods of nested Raggeds at every level: what one level over the same values gives, under those left."""

from functools import partial

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from varlen.testing import strategies

FOLDS = {
    **{name: {} for name in ("sum", "mean", "prod", "any", "all", "norm", "count")},
    **{name: {} for name in ("var", "std", "logsumexp")},
    **{name: {"empty": -1} for name in ("max", "min", "first", "last", "argmax", "argmin")},
}
ROWS = {
    **{name: {} for name in ("cumsum", "cumprod", "cummax", "cummin", "softmax", "log_softmax", "rank")},
    "reverse": {},
    "shift": {"by": 1},
    "roll": {"by": -1},
}
ORDERED = {"sort": {}, "argsort": {}, "unique": {}}


def held(nested, depth):
    """How many values each list at this depth holds, in plain Python."""
    lists = [nested]
    for _ in range(depth + 1):
        lists = [part for each in lists for part in each]

    def count(part):
        return sum(map(count, part)) if isinstance(part, list) else 1

    return [count(part) for part in lists]


def same(result, wanted):
    """Values, and the numbers NaN among them."""
    assert result.dtype == wanted.dtype
    assert np.array_equal(result, wanted, equal_nan=result.dtype.kind == "f")


def at_each_level(r):
    """Each level by number, from both ends, and one level over the same values."""
    nested = r.to_list()
    for level in range(len(r.levels)):
        flat = vl.Ragged(r.values, held(nested, level))
        for number in (level, level - len(r.levels)):
            yield level, number, flat


plain = partial(strategies.raggeds, dtype="float32", trailing=())


@given(plain(), st.sampled_from(list(FOLDS)))
def test_folds_leave_the_levels_above(r, name):
    for level, number, flat in at_each_level(r):
        result = getattr(r, name)(level=number, **FOLDS[name])
        assert isinstance(result, vl.Ragged if level else np.ndarray)
        if level:
            assert result.levels == r.levels[:level]
        same(result.values if level else result, getattr(flat, name)(**FOLDS[name]))


@given(strategies.raggeds(dtype="int16", trailing=()), st.sampled_from(["max", "first", "last", "argmin"]))
def test_sequences_without_rows_are_refused(r, name):
    for _, number, flat in at_each_level(r):
        if (flat.lengths == 0).any():
            with pytest.raises(ValueError, match=f"sequence {int(np.argmin(flat.lengths))} is empty"):
                getattr(r, name)(level=number)
        else:
            assert getattr(r, name)(level=number) is not None


@given(plain(), st.sampled_from(list(ROWS)))
def test_rows_stay_rows_under_all_levels(r, name):
    for _, number, flat in at_each_level(r):
        if name in ("reverse", "shift", "roll") and number not in (-1, len(r.levels) - 1):
            continue  # those move whole lists, as test_shift has it
        result = getattr(r, name)(level=number, **ROWS[name])
        assert result.levels == r.levels
        same(result.values, getattr(flat, name)(**ROWS[name]).values)


@given(strategies.raggeds(dtype="int16", trailing=()), st.sampled_from(list(ORDERED)))
def test_what_is_put_in_order_is_flat_below_its_level(r, name):
    for level, number, flat in at_each_level(r):
        result = getattr(r, name)(level=number)
        wanted = getattr(flat, name)()
        assert result.levels[:level] == r.levels[:level]
        assert result.levels[level:] == wanted.levels
        same(result.values, wanted.values)


@given(strategies.raggeds(dtype="int16", trailing=()), st.integers(1, 3))
def test_the_best_are_chosen_at_every_level(r, k):
    for level, number, flat in at_each_level(r):
        for result, wanted in zip(r.topk(k, level=number), flat.topk(k), strict=True):
            assert result.levels[level:] == wanted.levels
            same(result.values, wanted.values)
        for result, wanted in zip(r.topk(k, level=number, dense=True), flat.topk(k, dense=True), strict=True):
            same(result.values if level else result, wanted)


@pytest.mark.parametrize("name", [*FOLDS, *ROWS, *ORDERED])
def test_a_level_that_is_not_there_is_named(name):
    r = vl.Ragged([3.0, 1.0], [[1], [2]])
    for level in (2, -3):
        with pytest.raises(IndexError, match=f"level: {level} is out of range for 2 levels"):
            getattr(r, name)(level=level, **{**FOLDS, **ROWS}.get(name, {}))
