"""Raggeds joined, repeated, picked from and chosen between, at any axis."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from nested import deeper, raised
from oracles import nested as oracle
from varlen import Level
from varlen.levels import flatten_levels
from varlen.ops import concatenate, cross, stack, where


@st.composite
def deep(draw, depth=None, rows=()):
    """A Ragged of one to three levels of numbers that are all different."""
    depth = depth or draw(st.integers(1, 3))
    n, levels = draw(st.integers(0, 3)), []
    for _ in range(depth):
        levels.append(
            Level(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)) or np.zeros(0, np.int64))
        )
        n = levels[-1].total
    shape = (n, *rows)
    return vl.Ragged(np.arange(1, 1 + int(np.prod(shape))).reshape(shape), levels=tuple(levels))


def grown(draw, r, at):
    """Another Ragged that nests as this one above a level."""
    levels, n = list(r.levels[:at]), len(r.levels[at])
    for _ in r.levels[at:]:
        levels.append(Level(np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), np.int64)))
        n = levels[-1].total
    return vl.Ragged(-np.arange(n), levels=tuple(levels))


few = settings(max_examples=40, deadline=None)


@given(st.data())
@few
def test_parts_are_joined_at_any_axis(data):
    r = data.draw(deep())
    axis = data.draw(st.integers(0, r.ndim - 1))
    parts = [r, grown(data.draw, r, axis - 1) if axis else data.draw(deep(len(r.levels))), r]
    lists = [part.to_list() for part in parts]
    result = concatenate(parts, axis)
    assert result.to_list() == oracle.concatenate(lists, axis) == concatenate(parts, axis - r.ndim).to_list()
    if axis:
        assert result.equals(vl.sequence_concat(parts, level=axis - 1))
        assert all(a is b for a, b in zip(result.levels[: axis - 1], r.levels, strict=False))
    assert stack(parts, axis).to_list() == oracle.stack(lists, axis)


def test_rows_are_joined_along_axes_of_their_own():
    torch = pytest.importorskip("torch")
    r = vl.Ragged(np.arange(12).reshape(2, 2, 3), [1, 1])
    assert np.array_equal(concatenate([r, -r], 3).values, np.concatenate([r.values, -r.values], 2))
    assert concatenate([r, r[:, :, :1]], -2).levels is r.levels
    assert stack([r, r], -1).values.shape == (2, 2, 3, 2)
    mixed = concatenate([r, vl.Ragged(torch.zeros(2, 1, 3), levels=r.levels)], 2)
    assert mixed.values.shape == (2, 3, 3)
    with pytest.raises(ValueError, match=r"part 1 has rows of shape \(2, 1\), the first has \(2, 3\)"):
        concatenate([r, r[..., :1]], 2)
    with pytest.raises(ValueError, match="part 1 nests differently from the first: sequence 0 of level 0"):
        concatenate([r, vl.Ragged(r.values, [2, 0])], 2)
    for axis in (4, -5):
        with pytest.raises(ValueError, match=f"axis: {axis} is out of range for 4 axes"):
            concatenate([r], axis)


@given(st.data())
@few
def test_what_lies_along_axes_is_repeated(data):
    r = data.draw(deep(rows=data.draw(st.sampled_from([(), (2,)]))))
    times = data.draw(st.lists(st.integers(0, 2), min_size=r.ndim, max_size=r.ndim))
    assert r.tile(times).to_list() == oracle.tile(r.to_list(), times)


def ids_for(draw, r, axis, batch):
    """Numbers that are there, for each batch."""
    sizes = r.levels[axis - 1].lengths if axis else np.array([len(r)])
    least = np.full(len(r.levels[batch - 1]) if batch else 1, 9)
    over = (
        flatten_levels(r.levels[batch - 1 : axis - 1]).row_ids if 0 < batch < axis else np.arange(len(sizes))
    )
    np.minimum.at(least, over if batch else 0 * over, sizes)
    lengths = [draw(st.integers(0, 3)) if most else 0 for most in least]
    ids = [draw(st.integers(0, most - 1)) for most, k in zip(least, lengths, strict=True) for _ in range(k)]
    return np.array(ids, np.int64), Level(np.array(lengths, np.int64))


@given(st.data())
@few
def test_items_are_picked_at_any_axis(data):
    r = data.draw(deep(rows=data.draw(st.sampled_from([(), (2,)]))))
    depth = len(r.levels)
    batch = data.draw(st.integers(0, depth))
    axis = data.draw(st.integers(batch, depth))
    ids, level = ids_for(data.draw, r, axis, batch)
    if batch == 0:
        result = r.gather(ids, axis)
        assert _list(result) == oracle.gather(r.to_list(), ids.tolist(), axis, 0)
        pairs = vl.Ragged(ids, [len(ids), 0])
        assert _list(r.gather(pairs, axis)) == oracle.gather(r.to_list(), pairs.to_list(), axis, 0)
        return
    indices = vl.Ragged(ids, levels=(*r.levels[: batch - 1], level))
    result = r.gather(indices, axis, batch_dims=batch)
    assert _list(result) == oracle.gather(r.to_list(), indices.to_list(), axis, batch)


def _list(result):
    return result.to_list() if isinstance(result, vl.Ragged) else result.tolist()


def test_numbers_that_are_not_there_are_refused():
    r = vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2])
    for ids, text in (
        ([2, 0, 2], "entry 2 is 2, out of range for 2 items of sequence 2"),
        ([-1], "entry 0 is -1"),
    ):
        nest = [1, 0, 2] if len(ids) == 3 else [1, 0, 0]
        with pytest.raises(IndexError, match="indices: " + text):
            r.gather(vl.Ragged(ids, nest), batch_dims=1)
    with pytest.raises(IndexError, match="entry 1 is 3, out of range for 3 items"):
        r.gather([0, 3])
    with pytest.raises(IndexError, match="indices: 0 out of range for 0 items of sequence 1"):
        r.gather([0], axis=1)
    with pytest.raises(TypeError, match="indices: expected integers, got float64"):
        r.gather([0.0])
    with pytest.raises(ValueError, match="indices: has 2 sequences, level 0 has 3"):
        r.gather([[1], [0]], batch_dims=1)
    with pytest.raises(ValueError, match="batch_dims: expected at most 1, got 2"):
        r.gather([0], axis=1, batch_dims=2)
    with pytest.raises(ValueError, match="axis of the rows"):
        vl.Ragged(np.zeros((1, 2)), [1]).gather(r, axis=2)
    with pytest.raises(ValueError, match=r"nests? differently: sequence 0 of level 0"):
        deeper(r).gather(vl.Ragged([0], levels=(Level([2, 1, 1]), Level([1, 0, 0, 0]))), batch_dims=2)
    wide = vl.Ragged(np.arange(6).reshape(2, 3), [1, 1])
    assert wide.gather([2, 0], axis=2).to_list() == [[[2, 0]], [[5, 3]]]
    assert r.gather([2], axis=0).to_list() == [[1, 5]]
    full = r[[0, 2]]
    assert full.gather([1, 0], batch_dims=1).tolist() == [1, 1]
    assert full.gather(np.array([[1, 0], [0, 0]]), batch_dims=1).to_list() == [[1, 3], [1, 1]]
    assert full.gather([[1], [0]], axis=1).to_list() == [[[1], [3]], [[5], [1]]]


@given(st.data())
@few
def test_masks_leave_out_what_they_are_false_for(data):
    rows = data.draw(st.sampled_from([(), (2,)]))
    r = data.draw(deep(rows=rows))
    axes = data.draw(st.integers(1, r.ndim))
    depth = min(axes - 1, len(r.levels))
    shape = (r.levels[depth - 1].total if depth else len(r), *(rows if axes == r.ndim else ()))
    size = int(np.prod(shape))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool).reshape(shape)
    if depth:
        mask = vl.Ragged(mask, levels=r.levels[:depth])
    result, flat = r.boolean_mask(mask), r.boolean_mask(mask, flatten=True)
    assert result.to_list() == oracle.boolean_mask(r.to_list(), _list(mask), axes)
    assert _list(flat) == _flat(result.to_list(), axes - 1)


def _flat(nested, times):
    for _ in range(times):
        nested = [item for part in nested for item in part]
    return nested


def test_masks_that_do_not_fit_are_refused():
    r = vl.Ragged([3, 1, 4], [2, 1])
    with pytest.raises(TypeError, match="mask: expected bools, got int64"):
        r.boolean_mask([1, 0])
    with pytest.raises(ValueError, match="mask: has 3 entries for 2 sequences"):
        r.boolean_mask([True, False, True])
    with pytest.raises(
        ValueError, match=r"mask: nests? differently: sequence 0 of level 0 has length 1 in one and 2"
    ):
        r.boolean_mask(vl.Ragged([True, True, False], [1, 2]))
    with pytest.raises(ValueError, match="mask: has 4 axes, X has 2"):
        r.boolean_mask(deeper(r) > 1)
    assert r[:1].boolean_mask(np.array([[True, False]])).to_list() == [[3]]


def test_containers_of_fewer_levels_go_to_all_values_below():
    r = vl.Ragged.from_list([[[1, 2], [3]], [], [[4], [], [5, 6]]])
    per_inner, per_outer = vl.Ragged([10, 20, 30, 40, 50], levels=r.levels[:1]), np.array([100, 0, 200])
    wanted = [[[11, 12], [23]], [], [[34], [], [55, 56]]]
    assert (r + per_inner).to_list() == (per_inner + r).to_list() == wanted
    assert (r + per_outer).equals(r + r.broadcast_rows(per_outer, level=0))
    assert (r + per_inner).equals(r + r.broadcast_rows(per_inner))
    assert (r * per_inner).levels is r.levels
    assert r.broadcast_rows([1, 2, 3, 4, 5]).to_list() == [[[1, 1], [2]], [], [[3], [], [5, 5]]]
    below = raised(deeper(r) + vl.Ragged(per_inner.values, levels=deeper(r).levels[:3]))
    assert below.to_list() == wanted
    wide = vl.Ragged(np.ones((6, 2)), levels=r.levels)
    assert (wide * per_inner).values[:, 1].tolist() == [10, 10, 20, 30, 50, 50]
    assert (wide * r).values.tolist() == [[v, v] for v in range(1, 7)]  # two values a row, not two rows
    assert np.add(r, 1, where=per_inner > 15, out=r.copy()).to_list() == [
        [[1, 2], [4]],
        [],
        [[5], [], [6, 7]],
    ]
    with pytest.raises(ValueError, match="sequence 1 of level 0 has length 0 in one and 1 in the other"):
        r + vl.Ragged(np.zeros(5), [2, 1, 2])
    with pytest.raises(ValueError, match="rows: has 2 rows, level 0 has 3 sequences"):
        r.broadcast_rows([1, 2], level=0)
    with pytest.raises(ValueError, match="rows: has 2 levels, expected fewer than 2"):
        r.broadcast_rows(r)


def test_values_or_sequences_are_chosen():
    a, b = vl.Ragged([3, 1, 4], [2, 1]), vl.Ragged([7, 8, 9], [2, 1])
    assert where(a > 1, a, b).to_list() == [[3, 8], [4]]
    assert where([True, False], a, b).to_list() == where(a[:, 0] < 4, a, b).to_list() == [[3, 1], [9]]
    assert where(a > 1, 1.5, b).to_list() == [[1.5, 8], [1.5]]
    other = vl.Ragged([7, 8, 9, 9], [0, 4])
    assert where([True, False], a, other).to_list() == [[3, 1], [7, 8, 9, 9]]
    x, y = deeper(a), deeper(other)
    there = vl.Ragged([True, False], levels=x.levels[:2])
    assert raised(where(there, x, y)).to_list() == [[3, 1], [7, 8, 9, 9]]
    for call, kind, text in (
        (lambda: where([1, 0], a, b), TypeError, "condition: expected bools"),
        (lambda: where([True], 1, 2), TypeError, "expected a Ragged as condition"),
        (lambda: where([True], a, other), ValueError, r"condition: has shape \(1,\) for 2 sequences of x"),
        (lambda: where(a > 1, a, other), ValueError, "condition: has 1 levels; x and y"),
        (lambda: where(a > 1, x, 0), ValueError, "nest differently"),
    ):
        with pytest.raises(kind, match=text):
            call()


@given(st.data())
@few
def test_items_are_crossed_sequence_by_sequence(data):
    r = data.draw(deep(1))
    parts = [r, grown(data.draw, r, 0), grown(data.draw, r, 0)][: data.draw(st.integers(1, 3))]
    result = cross(parts)
    assert [x.to_list() for x in result] == oracle.cross([x.to_list() for x in parts])
    assert [raised(x).to_list() for x in cross([deeper(x) for x in parts])] == [x.to_list() for x in result]
    assert all(x.levels[0] is result[0].levels[0] for x in result)


def test_what_cannot_be_crossed_is_refused():
    r = vl.Ragged([3, 1, 4], [2, 1])
    with pytest.raises(ValueError, match="part 1 has 1 sequences, the first has 2"):
        cross([r, r[:1]])
    many = vl.Ragged(np.zeros((2**16, 0), np.int8), [2**16])
    with pytest.raises(OverflowError, match="more than 63 bits can count"):
        cross([many] * 4)


def test_empty_sequences_get_a_row():
    r = vl.Ragged([3, 1, 4], [0, 2, 0, 0, 1, 0])
    filled, there = r.fill_empty_rows(7)
    assert filled.to_list() == [[7], [3, 1], [7], [7], [4], [7]]
    assert there.tolist() == [True, False, True, True, False, True]
    nested, there = deeper(r).fill_empty_rows(7)
    assert raised(nested).equals(filled)
    assert there.levels == nested.levels[:2]
    wide = vl.Ragged(np.ones((1, 2)), [1, 0])
    assert wide.fill_empty_rows([5, 6])[0].to_list() == [[[1, 1]], [[5, 6]]]
    assert wide.fill_empty_rows(5)[0].to_list() == [[[1, 1]], [[5, 5]]]
    for default in (1.5, [1, 2]):
        with pytest.raises(ValueError, match="default: "):
            r.fill_empty_rows(default)


def test_gradients_flow_through_all_of_them():
    torch = pytest.importorskip("torch")
    levels = Level([2, 0, 1]), Level([2, 0, 3])
    x = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    w = torch.randn(3, dtype=torch.float64, requires_grad=True)
    there = vl.Ragged(np.array([True, False, True]), levels=levels[:1])

    def all_of(x, w):
        r = vl.Ragged(x, levels=levels)
        inner = vl.Ragged(w, levels=levels[:1])
        result = [
            r * inner,
            r + w[:, None],
            r.tile([1, 2, 1, 2]),
            concatenate([r, r * 2], 2),
            stack([r, r], 3),
        ]
        result += [r.gather([0, 2]), r.boolean_mask(there)]
        result += [
            where(there, r, 0.0),
            where(there, r, r * w[:, None]),
            *cross([r, inner.add_level([1, 1, 1], -1)]),
        ]
        result += [r.fill_empty_rows(w[:2])[0], r.boolean_mask(there, flatten=True)]
        return tuple(m.values for m in result)

    arrays = [m.numpy() for m in all_of(x.detach(), w.detach())]
    assert torch.autograd.gradcheck(all_of, (x, w))
    plain = vl.Ragged(x.detach().numpy(), levels=levels)
    assert np.array_equal(arrays[2], plain.tile([1, 2, 1, 2]).values)
    assert np.array_equal(arrays[7], where(there, plain, 0.0).values)


def test_arrays_and_tensors_go_together():
    torch = pytest.importorskip("torch")
    r, t = vl.Ragged([1, 2, 3], [2, 1]), vl.Ragged(torch.arange(3.0), [2, 1])
    assert where(torch.tensor([True, False]), r, 0).to_list() == [[1, 2], [0]]
    assert where(t > 0, 1, 2).to_list() == [[2, 1], [1]]
    assert where(r > 1, t, r).to_list() == [[1, 1], [2]]
    assert t.gather(torch.tensor([1, 0])).to_list() == [[2], [0, 1]]
    assert t.boolean_mask(torch.tensor([True, False])).to_list() == [[0, 1]]
    per_inner = vl.Ragged(np.array([10, 20]), [2])
    below = vl.Ragged(t.values, levels=(per_inner.levels[0], t.levels[0]))
    assert (per_inner + below).to_list() == (below + per_inner).to_list() == [[[10, 11], [22]]]


def test_nothing_is_a_mask_and_a_condition_for_nothing():
    none = vl.Ragged(np.zeros(0), [])
    assert none.boolean_mask([]).equals(none)
    assert where([], none, none).equals(none)
    with pytest.raises(TypeError, match="mask: expected bools, got float64"):
        none.boolean_mask(np.zeros(0))


def test_numbers_that_a_dtype_does_not_hold_are_refused():
    r = vl.Ragged(np.array([1, 2], "u1"), [2, 0])
    assert where(r > 1, r, 255).to_list() == [[255, 2], []]
    assert where(r > 1, r, 0.5).to_list() == [[0.5, 2], []]
    with pytest.raises(OverflowError, match="y: 300 does not fit uint8"):
        where(r > 1, r, 300)
    with pytest.raises(OverflowError, match=f"indices: entry 0 is {2**64 - 1}, beyond int64"):
        r.gather(np.array([2**64 - 1], "u8"))
    with pytest.raises(ValueError, match="default: 'xyz' does not fit <U2"):
        vl.Ragged(np.array(["ab"]), [1, 0]).fill_empty_rows("xyz")
    with pytest.raises(OverflowError, match=f"multiples: {2 * 2**60} do not fit into memory"):
        r.tile([2**60, 1])
    with pytest.raises(ValueError, match=r"default: expected one number, got shape \(3,\)"):
        r.fill_empty_rows([1, 2, 3])
    with pytest.raises(TypeError, match="default: expected an array without a mask"):
        r.fill_empty_rows(np.ma.masked)
    with pytest.raises(TypeError, match="default: expected a number or a row, got None"):
        r.fill_empty_rows(None)


def test_default_rows_that_a_tensor_does_not_hold_are_refused():
    torch = pytest.importorskip("torch")
    for x, row in (
        (torch.tensor([1]), 0.5),
        (torch.tensor([1], dtype=torch.uint8), 300),
        (torch.ones(1), 1j),
    ):
        for one in (row, torch.tensor(row)):
            with pytest.raises(ValueError, match=r"default: .* not fit"):
                vl.Ragged(x, [1, 0]).fill_empty_rows(one)
