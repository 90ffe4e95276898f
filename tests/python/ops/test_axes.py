"""Reductions and scans along any axes, against every value and its place."""

from itertools import product

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen.testing.strategies import raggeds


def places(r):
    """Each number of a Ragged, and where it is: a number for each axis."""

    def walk(nested, at):
        for i, each in enumerate(nested):
            if isinstance(each, list):
                yield from walk(each, (*at, i))
            else:
                yield (*at, i), each

    return list(walk(r.to_list(), ()))


def plain(r, axes):
    """Sums by brute force: of numbers whose places differ along the axes alone."""
    kept = [axis for axis in range(r.ndim) if axis not in axes]
    found, longest = {}, {}

    def count(tree, at, axis):
        """How many there are at each place that is left: as many as the most that come together there."""
        if axis == r.ndim:
            return
        if axis in kept:
            longest[at] = max(longest.get(at, 0), len(tree))
        for i, each in enumerate(tree):
            count(each, (*at, i) if axis in kept else at, axis + 1)

    def build(at):
        if len(at) == len(kept):
            return found.get(at, 0)
        axis = kept[len(at)]
        width = r.values.shape[axis - len(r.levels)] if axis > len(r.levels) else longest.get(at, 0)
        return [build((*at, i)) for i in range(width)]

    count(r.to_list(), (), 0)
    for at, number in places(r):
        key = tuple(at[axis] for axis in kept)
        found[key] = found.get(key, 0) + number
    return build(())


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_sums_along_any_axes(data):
    r = data.draw(raggeds(dtype="int32", trailing=data.draw(st.sampled_from([(), (2,), (2, 3)]))))
    axes = data.draw(st.sets(st.integers(0, r.ndim - 1), min_size=1))
    result = r.sum(axis=[axis - data.draw(st.sampled_from([0, r.ndim])) for axis in axes])
    assert (result.to_list() if isinstance(result, vl.Ragged) else result.tolist()) == plain(r, axes)


@pytest.mark.parametrize(
    "op", ["sum", "mean", "prod", "max", "min", "any", "all", "norm", "var", "std", "logsumexp"]
)
def test_the_axes_of_a_level_are_the_level(op):
    x = np.arange(1.0, 13).reshape(6, 2)
    r = vl.Ragged(x, [[2, 1], [1, 3, 2]])
    run = getattr(r, op)
    assert run(axis=2).equals(run())
    assert run(axis=-2).equals(run())
    assert np.array_equal(run(axis=(1, 2)), run(level=0))
    # Rows of a rectangle: as NumPy has it.
    by_numpy = {"norm": np.linalg.norm, "logsumexp": np.logaddexp.reduce}.get(op) or getattr(np, op)
    block = np.arange(24.0).reshape(2, 3, 4)
    even = vl.Ragged(block.reshape(6, 4), [3, 3])
    for axes in [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]:
        rest = [axis for axis in range(3) if axis not in axes]
        flat = block.transpose(*axes, *rest).reshape(-1, *(block.shape[axis] for axis in rest))
        result = getattr(even, op)(axis=axes)
        assert np.allclose(
            result.to_dense() if isinstance(result, vl.Ragged) else result, by_numpy(flat, axis=0)
        )


def test_what_is_left_is_as_long_as_the_longest():
    r = vl.Ragged.from_list([[3, 1, 4], [1, 5], [9], [2, 6]])
    assert r.sum(axis=0).tolist() == [15, 12, 4]
    assert r.max(axis=0).tolist() == [9, 6, 4]
    assert r.mean(axis=0).tolist() == [3.75, 4, 4]
    assert r.sum(axis=(0, 1)) == 31
    words = vl.Ragged.from_list([[[1, 2], [], [3]], [], [[4, 5, 6]]])
    assert words.sum(axis=0).to_list() == [[5, 7, 6], [], [3]]
    assert words.sum(axis=1).to_list() == [[4, 2], [], [4, 5, 6]]
    assert words.max(axis=(0, 2), empty=-1).tolist() == [6, -1, 3]


@pytest.mark.parametrize(
    ("axis", "text"),
    [(3, "axis: 3 is out of range for 2 axes"), ((0, -2), "each once"), ((), "axis: expected one")],
)
def test_axes_that_are_none_are_refused(axis, text):
    r = vl.Ragged([1, 2], [2])
    with pytest.raises(ValueError, match=text):
        r.sum(axis=axis)
    with pytest.raises(ValueError, match="level, axis: pass one of them"):
        r.sum(0, level=0)
    with pytest.raises(ValueError, match="level, axis: pass one of them"):
        r.cumsum(0, level=0)


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_scans_along_any_axis(data):
    r = data.draw(raggeds(dtype="int32", trailing=data.draw(st.sampled_from([(), (2,), (2, 3)]))))
    axis = data.draw(st.integers(0, r.ndim - 1))
    exclusive, reverse = data.draw(st.booleans()), data.draw(st.booleans())
    result = r.cumsum(axis=axis, exclusive=exclusive, reverse=reverse)
    assert result.levels == r.levels
    all_of_it = places(r)
    for (at, number), (_, found) in zip(all_of_it, places(result), strict=True):
        line = [
            each
            for other, each in all_of_it
            if other[:axis] + other[axis + 1 :] == at[:axis] + at[axis + 1 :]
            and (other[axis] > at[axis] if reverse else other[axis] < at[axis])
        ]
        assert found == sum(line) + (0 if exclusive else number)


def test_one_inf_stays_in_its_column():
    r = vl.Ragged.from_list([[1.0, np.inf], [2.0], [3.0, 4.0]])
    assert r.cumsum(axis=0).to_list() == [[1, np.inf], [3], [6, np.inf]]
    assert r.cumsum(axis=0, reverse=True).to_list() == [[6, np.inf], [5], [3, 4]]


@pytest.mark.parametrize("axis", [0, 1, 2, 3, (0, 2), (1, 3)])
def test_gradients_flow_along_axes(axis):
    torch = pytest.importorskip("torch")
    x = torch.arange(12, dtype=torch.float64).reshape(6, 2).sin().requires_grad_()

    def over(op):
        def run(x):
            result = getattr(vl.Ragged(x, [[2, 1], [1, 3, 2]]), op)(axis=axis)
            return result.values if isinstance(result, vl.Ragged) else result

        return run

    for op in ["sum", "var", "logsumexp", *(["cumsum"] if isinstance(axis, int) else [])]:
        assert torch.autograd.gradcheck(over(op), x)


def test_every_set_of_axes_of_deep_containers():
    r = vl.Ragged.from_list([[[[1], [2, 3]], []], [], [[[4, 5, 6]], [[7], [], [8]]]])
    for chosen in product([False, True], repeat=4):
        axes = {axis for axis, take in enumerate(chosen) if take}
        if axes:
            result = r.sum(axis=tuple(axes))
            assert (result.to_list() if isinstance(result, vl.Ragged) else result.tolist()) == plain(r, axes)


@given(raggeds(dtype="int32"), st.booleans())
def test_places_of_the_order_are_counted_along_the_axis_that_is_sorted(r, descending):
    for axis in range(r.ndim):
        there = dict(places(r))
        found = r.argsort(axis, descending=descending)
        for (at, which), (_, number) in zip(
            places(found), places(r.sort(axis, descending=descending)), strict=True
        ):
            assert there[(*at[:axis], which, *at[axis + 1 :])] == number
