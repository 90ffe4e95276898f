"""Transforms: reductions, windows, parts of nested lists and tuples, and several layers together."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from test_transforms import KINDS, Linear, container, identity, same, sequences
from varlen import ops, transforms

REDUCTIONS = ["sum", "mean", "max", "first", "last"]


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("trailing", [(), (3,), (2, 3)])
@pytest.mark.parametrize("lengths", [[], [1], [3, 1, 4]])
def test_reductions_are_those_of_ops_and_so_are_gradients(op, kind, trailing, lengths):
    if not lengths and kind in ("list", "tuple"):
        return
    rng = np.random.default_rng(1)
    values = rng.random((sum(lengths), *trailing))
    X = container(kind, values, lengths)
    Y, backprop = getattr(transforms, f"reduce_{op}")()(X, True)
    rows = Y.values if kind == "nested" else Y
    by_hand = {"first": lambda x, axis: x[0], "last": lambda x, axis: x[-1]}.get(op) or getattr(np, op)
    for got, x in zip(rows, sequences(X), strict=True):
        np.testing.assert_allclose(got, by_hand(x, axis=0))
    assert rows.shape == (len(lengths), *trailing)
    if kind == "nested":
        assert Y.levels[0] is X.levels[0]
    d = rng.random(rows.shape)
    dX = backprop(Y._make(d, Y.levels) if kind == "nested" else d)
    assert type(dX) is type(X)
    # What a step along a gives along d is what a step along d gives along a: one number is enough to see.
    along, step = rng.random(values.shape), 1e-6
    there, back = (
        getattr(transforms, f"reduce_{op}")().predict(container(kind, values + s * along, lengths))
        for s in (step, -step)
    )
    there, back = (x.values if kind == "nested" else x for x in (there, back))
    slope = ((there - back) / (2 * step) * d).sum()
    steps = sequences(container(kind, along, lengths))
    told = sum((g * a).sum() for g, a in zip(sequences(dX), steps, strict=True))
    np.testing.assert_allclose(told, slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("op", REDUCTIONS)
def test_reductions_refuse_gradients_that_do_not_fit(op):
    Y, backprop = getattr(transforms, f"reduce_{op}")()(vl.Ragged(np.ones((3, 2), np.float32), [1, 2]), True)
    for bad in (Y[:1], Y[:, :1], Y.astype(np.float64), [Y]):
        with pytest.raises(ValueError, match="the gradient"):
            backprop(bad)
    with pytest.raises(TypeError, match="got NoneType"):
        backprop(None)
    assert backprop(Y).values.dtype == np.float32


@pytest.mark.parametrize("op", ["max", "first", "last"])
def test_reductions_name_the_sequence_that_is_empty(op):
    layer = getattr(transforms, f"reduce_{op}")()
    with pytest.raises(ValueError, match="sequence 1 is empty"):
        layer.predict(vl.Ragged(np.ones(3), [1, 0, 2]))


def test_reductions_say_what_empty_sequences_give():
    r = vl.Ragged(np.ones((1, 2)), [0, 1])
    assert transforms.reduce_sum().predict(r).tolist() == [[0, 0], [1, 1]]
    for reduce in (transforms.reduce_max, transforms.reduce_first, transforms.reduce_last):
        Y, backprop = reduce(empty=-1)(r, True)
        assert Y.tolist() == [[-1, -1], [1, 1]]
        assert backprop(Y).to_list() == [[], [[1.0, 1.0]]]
    none = vl.Ragged(np.ones((0, 2), np.float32), [0, 0])
    Y, backprop = transforms.reduce_mean()(none, True)
    assert Y.shape == (2, 2)
    assert backprop(Y).values.shape == (0, 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("trailing", [(), (3,), (2, 3)])
@pytest.mark.parametrize(("lengths", "nW"), [([], 1), ([0, 0], 1), ([3, 0, 4], 2), ([1, 2], 0), ([2], 3)])
def test_windows_are_those_of_ops_and_gradients_their_transpose(kind, trailing, lengths, nW):
    if not lengths and kind in ("list", "tuple"):
        return
    rng = np.random.default_rng(2)
    values = rng.integers(-4, 5, (sum(lengths), *trailing)).astype(np.float64)
    X = container(kind, values, lengths)
    Y, backprop = transforms.expand_window(nW)(X, True)
    assert type(Y) is type(X)
    want = ops.seq2col(values, nW, lengths=lengths)
    same(sequences(Y), sequences(container(kind, want, lengths)))
    d = rng.integers(-4, 5, want.shape).astype(np.float64)
    dX = backprop(container(kind, d, lengths))
    assert type(dX) is type(X)
    back = ops.backprop_seq2col(d, nW, lengths=lengths).reshape(values.shape)
    same(sequences(dX), sequences(container(kind, back, lengths)))
    assert (want * d).sum() == (back * values).sum()


def test_window_of_an_array_is_that_of_one_sequence():
    X = np.array([[1.0], [2.0]])
    Y, backprop = transforms.expand_window()(X, True)
    assert Y.tolist() == [[0, 1, 2], [1, 2, 0]]
    assert backprop(Y).tolist() == [[2.0], [4.0]]
    with pytest.raises(ValueError, match="window_size: expected at least 0"):
        transforms.expand_window(-1)


def nested(draw_from, depth):
    for _ in range(depth):
        draw_from = st.lists(draw_from, max_size=3)
    return draw_from


def times(k, x):
    return [times(k, item) for item in x] if isinstance(x, list) else k * x


@given(st.integers(1, 4).flatmap(lambda depth: nested(st.integers(-9, 9), depth)))
def test_with_flatten_keeps_any_nesting(X):
    def double(items, is_train):
        assert not any(isinstance(item, list) for item in items)
        return [2 * x for x in items], lambda ds: [10 * d for d in ds]

    Y, backprop = transforms.with_flatten(double)(X, True)
    assert Y == transforms.with_flatten(double).predict(X) == times(2, X)
    assert backprop(X) == times(10, X)


def test_with_flatten_of_small_lists():
    layer = transforms.with_flatten(lambda xs, is_train: ([2 * x for x in xs], lambda d: [10 * x for x in d]))
    Y, backprop = layer([[1, 2], [], [3]], True)
    assert Y == [[2, 4], [], [6]]
    assert backprop([[1, 2], [], [3]]) == [[10, 20], [], [30]]
    for bad in ([[1, 2], [3]], [[1], [2], [3]], [1, 2, 3]):
        with pytest.raises(ValueError, match="the gradient"):
            backprop(bad)
    with pytest.raises(TypeError, match="the gradient"):
        backprop(None)


def test_with_flatten_cuts_arrays_at_rows():
    W = np.arange(6.0).reshape(3, 2)
    stacked = transforms.chain(lambda xs, is_train: (np.array(xs).reshape(-1, 3), list), Linear(W))
    X = [[[np.ones(3)], []], [], [[np.zeros(3), np.ones(3)]]]
    Y, backprop = transforms.with_flatten(stacked)(X, True)
    assert [[y.shape for y in ys] for ys in Y] == [[(1, 2), (0, 2)], [], [(2, 2)]]
    dX = backprop(Y)
    assert [[len(x) for x in xs] for xs in dX] == [[1, 0], [], [2]]
    np.testing.assert_array_equal(dX[0][0][0], np.ones(3) @ W @ W.T)
    with pytest.raises(ValueError, match="has shape"):
        backprop([[Y[0][0][:, :1], Y[0][1]], [], Y[2]])


def test_with_flatten_refuses_what_does_not_nest():
    layer = transforms.with_flatten(lambda xs: xs)
    with pytest.raises(ValueError, match="item 1 of depth 1 is not a list"):
        layer.predict([[1], 2])
    with pytest.raises(TypeError, match="expected nested lists, got Ragged"):
        layer.predict(vl.Ragged([1], [1]))
    with pytest.raises(ValueError, match="took 2 items, but returned 1"):
        transforms.with_flatten(lambda xs: xs[:1]).predict([[1], [2]])


@pytest.mark.parametrize("idx", [0, 1, 2, -1, -3])
def test_with_getitem_touches_one_item(idx):
    layer = transforms.with_getitem(idx, Linear(np.full((1, 1), 2.0)))
    X = tuple(np.full((1, 1), k) for k in (1.0, 2.0, 3.0))
    Y, backprop = layer(X, True)
    want = [1.0, 2.0, 3.0]
    want[idx] *= 2
    assert isinstance(Y, tuple)
    assert [float(y[0, 0]) for y in Y] == want
    assert [float(d[0, 0]) for d in backprop(X)] == want
    with pytest.raises(ValueError, match="has 4 items, the result has 3"):
        backprop((*X, X[0]))


def test_with_getitem_refuses_what_is_not_there():
    for idx in (2, -3):
        with pytest.raises(IndexError, match=f"no item {idx}"):
            transforms.with_getitem(idx, identity).predict((1, 2))
    with pytest.raises(TypeError, match="expected a tuple, got int"):
        transforms.with_getitem(0, identity).predict(3)
    with pytest.raises(TypeError, match="idx"):
        transforms.with_getitem("a", identity)


@pytest.mark.parametrize("shape", [(4, 2, 3), (2, 3), (0, 2, 3), (2, 2, 2, 3)])
def test_with_reshape_may_change_the_width(shape):
    rng = np.random.default_rng(3)
    X, W = rng.random(shape), rng.random((3, 5))
    seen = []

    def look(x, is_train):
        seen.append(x.shape)
        return Linear(W)(x, is_train)

    Y, backprop = transforms.with_reshape(look)(X, True)
    assert seen == [(int(np.prod(shape[:-1])), 3)]
    np.testing.assert_allclose(Y, X @ W)
    d = rng.random(Y.shape)
    np.testing.assert_allclose(backprop(d), d @ W.T)
    with pytest.raises(ValueError, match="the gradient"):
        backprop(Y[..., :4])
    with pytest.raises(ValueError, match="width"):
        transforms.with_reshape(look).predict(np.ones(3))
    with pytest.raises(TypeError, match="expected an array, got list"):
        transforms.with_reshape(look).predict([1])


def test_map_list_calls_the_layer_for_each_item():
    W = np.ones((2, 1))
    X = [np.ones((n, 2)) for n in (2, 0, 1)]
    Y, backprop = transforms.map_list(Linear(W))(X, True)
    same(Y, [x @ W for x in X])
    same(backprop(Y), [y @ W.T for y in Y])
    assert isinstance(transforms.map_list(identity).predict(tuple(X)), tuple)
    with pytest.raises(ValueError, match="has 2 items, the result has 3"):
        backprop(Y[:2])
    with pytest.raises(TypeError, match="expected a list, got Ragged"):
        transforms.map_list(identity).predict(vl.Ragged([1], [1]))


@pytest.mark.parametrize("kind", [*KINDS, "array"])
@pytest.mark.parametrize("name", ["concatenate", "add", "residual"])
def test_layers_together_are_their_results_together_and_gradients_are_added(kind, name):
    rng = np.random.default_rng(4)
    lengths = [2, 0, 3, 1]
    values = rng.integers(-3, 4, (6, 2)).astype(np.float32)
    X = values if kind == "array" else container(kind, values, lengths)
    A, B = (rng.integers(-3, 4, (2, 2)).astype(np.float32) for _ in range(2))
    a, b = (transforms.with_array(Linear(W)) for W in (A, B))
    layer = transforms.residual(a) if name == "residual" else getattr(transforms, name)(a, b)
    if name == "concatenate":
        want, d = np.hstack([values @ A, values @ B]), rng.integers(-3, 4, (6, 4)).astype(np.float32)
        want_d = d[:, :2] @ A.T + d[:, 2:] @ B.T
    else:
        first, back = (values, np.eye(2, dtype="f")) if name == "residual" else (values @ B, B)
        want, d = values @ A + first, rng.integers(-3, 4, (6, 2)).astype(np.float32)
        want_d = d @ A.T + d @ back.T
    as_kind = (lambda v: v) if kind == "array" else lambda v: container(kind, v, lengths)
    flat = (lambda v: [v]) if kind == "array" else sequences
    Y, backprop = layer(X, True)
    assert type(Y) is type(X)
    same(flat(Y), flat(as_kind(want)))
    same(flat(backprop(as_kind(d))), flat(as_kind(want_d)))


@pytest.mark.parametrize("kind", [*KINDS, "array"])
def test_concatenate_knows_rows_of_one_number_and_of_more_axes(kind):
    for trailing, wide in (((), (2,)), ((2, 3), (2, 6))):
        values = np.arange(6.0 * int(np.prod(trailing))).reshape(6, *trailing)
        X = values if kind == "array" else container(kind, values, [2, 0, 3, 1])
        Y, backprop = transforms.concatenate(identity, transforms.with_array(np.negative))(X, True)
        row = np.concatenate([values.reshape(6, *trailing[:-1], -1)] * 2, -1)
        assert row.shape[1:] == wide
        flat = Y if kind == "array" else np.concatenate(sequences(Y))
        assert flat.shape[1:] == wide
        Y, backprop = transforms.concatenate(identity, identity)(X, True)
        dX = backprop(Y)
        got = [dX] if kind == "array" else sequences(dX)
        same(got, [2 * values] if kind == "array" else [2 * x for x in sequences(X)])


def test_layers_together_must_fit():
    r = vl.Ragged(np.ones((3, 2)), [1, 2])
    shorter = transforms.with_list(lambda seqs: [seqs[0], seqs[1][:1]])
    for name in ("concatenate", "add"):
        with pytest.raises(ValueError, match="sequence 1 of level 0"):
            getattr(transforms, name)(identity, shorter).predict(r)
        with pytest.raises(ValueError, match="expected a Ragged, as the first is, got a list"):
            getattr(transforms, name)(identity, transforms.ragged2list()).predict(r)
        with pytest.raises(TypeError, match="at least one"):
            getattr(transforms, name)()
    with pytest.raises(ValueError, match="shapes"):
        transforms.residual(transforms.with_array(Linear(np.ones((2, 3))))).predict(r)
    with pytest.raises(ValueError, match="shapes"):
        transforms.add(identity, transforms.with_array(Linear(np.ones((2, 1))))).predict(r)
    with pytest.raises(TypeError, match="at least one"):
        transforms.chain()


def test_chain_goes_there_and_back():
    A, B = np.arange(6.0).reshape(2, 3), np.arange(3.0).reshape(3, 1)
    X = [np.ones((2, 2)), np.ones((1, 2))]
    layer = transforms.chain(
        transforms.list2ragged(), transforms.with_array(Linear(A)), transforms.with_array(Linear(B)),
        transforms.reduce_sum(),
    )  # fmt: skip
    Y, backprop = layer(X, True)
    np.testing.assert_array_equal(Y, [(X[0] @ A @ B).sum(0), (X[1] @ A @ B).sum(0)])
    d = np.array([[1.0], [2.0]])
    same(backprop(d), [np.ones((2, 1)) @ d[:1] @ B.T @ A.T, np.ones((1, 1)) @ d[1:] @ B.T @ A.T])


def test_layers_without_gradients_for_what_is_no_array_have_none_together():
    def count(text, is_train):
        return np.full((1, 1), len(text)), lambda dY: None

    for make in (transforms.concatenate, transforms.add):
        Y, backprop = make(count, count)("text", True)
        assert backprop(Y) is None


def test_fields_of_a_ragged_come_and_go_as_a_pair():
    """As Thinc's `with_ragged` has it: a tuple of values and lengths."""

    def twice(r, is_train):
        assert isinstance(r, vl.Ragged)
        return r * 2, lambda d: d * 2

    layer = transforms.with_ragged(twice)
    for values in (np.arange(6.0).reshape(3, 2), np.arange(3.0), np.arange(6).reshape(3, 2)):
        for lengths in (np.array([2, 1], np.int32), vl.Level([2, 1])):
            (Y, after), backprop = layer((values, lengths), True)
            assert after is lengths
            np.testing.assert_array_equal(Y, values * 2)
            dX, after = backprop((Y, lengths))
            assert after is lengths
            np.testing.assert_array_equal(dX, values * 4)
    with pytest.raises(ValueError, match=r"lengths|levels"):
        layer.predict((np.arange(3.0), np.array([2, 2])))
    Y, backprop = layer((np.arange(3.0), np.array([2, 1])), True)
    with pytest.raises(ValueError, match=r"the gradient: .*sequence 0 of level 0"):
        backprop((Y[0], np.array([1, 2])))


def test_a_layer_that_changes_lengths_changes_those_of_the_pair():
    Y, lengths = transforms.with_ragged(lambda r: r[:, :1]).predict((np.arange(3.0), np.array([2, 1])))
    assert Y.tolist() == [0, 2]
    assert lengths.tolist() == [1, 1]


def test_a_tuple_of_sequences_is_told_from_fields_by_what_is_in_it():
    layer = transforms.with_ragged(lambda r: r * 2)
    for pair in (([1, 2, 3], [2, 1]), ([1.0, 2.0], [3.0]), ([[1, 2]], [[3, 4]])):
        X = tuple(map(np.array, pair))
        found = layer.predict(X)
        assert isinstance(found, tuple)
        assert [x.tolist() for x in found] == [(2 * x).tolist() for x in X]
    four = tuple(np.array([k, k]) for k in range(4))
    assert [x.tolist() for x in transforms.with_padded(lambda p: p).predict(four)] == [
        [k, k] for k in range(4)
    ]


def test_fields_of_a_padded_come_and_go_as_four():
    """As Thinc's `with_padded` has it."""
    p = vl.Padded.from_list([np.ones((1, 2)), np.ones((3, 2))])
    X = (p.data, p.size_at_t, p.lengths, p.indices)

    def twice(padded, is_train):
        assert isinstance(padded, vl.Padded)
        double = lambda q: vl.Padded(q.data * 2, q.size_at_t, q.lengths, q.indices)  # noqa: E731
        return double(padded), double

    Y, backprop = transforms.with_padded(twice)(X, True)
    assert isinstance(Y, tuple)
    np.testing.assert_array_equal(Y[0], p.data * 2)
    for a, b in zip(Y[1:], X[1:], strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(backprop(Y)[0], p.data * 4)
    with pytest.raises(ValueError, match="its indices differ from those of the result"):
        backprop((*Y[:3], Y[3][::-1].copy()))
