"""Transforms: containers in, the same kind out, and gradients that mirror them."""

import itertools

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from varlen import ops, transforms
from varlen.testing import strategies

KINDS = ["ragged", "padded", "list", "tuple", "nested"]
WRAPS = ["with_array", "with_array2d", "with_padded", "with_ragged", "with_list"]


def container(kind, values, lengths):
    """The same sequences in a container of each kind."""
    r = vl.Ragged(values, lengths)
    if kind == "ragged":
        return r
    if kind == "padded":
        return r.to_padded()
    if kind == "nested":
        n = len(lengths)
        return vl.Ragged(values, levels=[vl.Level([n // 2, 0, n - n // 2]), r.levels[0]])
    return list(r) if kind == "list" else tuple(r)


def sequences(X):
    """The arrays of a container, in their order."""
    if isinstance(X, vl.Padded):
        return X.to_list()
    if isinstance(X, vl.Ragged):
        return list(vl.Ragged(X.values, levels=X.levels[-1:]))
    return list(X)


def same(got, want):
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        assert a.shape == b.shape
        assert a.dtype.newbyteorder("=") == b.dtype.newbyteorder("=")
        assert a.astype(b.dtype).tobytes() == b.tobytes()


class Linear:
    """A small layer with its gradients, for arrays of any number of axes."""

    def __init__(self, W):
        self.W = W

    def __call__(self, X, is_train):
        def backprop(dY):
            assert dY.shape == (*X.shape[:-1], self.W.shape[1])
            return dY @ self.W.T

        return X @ self.W, backprop


def linear_inside(name, W):
    """A layer for what `with_x` shows that multiplies each row by W."""
    inner = Linear(W)
    if name in ("with_array", "with_array2d"):
        return inner
    if name == "with_list":
        return transforms.map_list(inner)
    return transforms.with_array(inner)


def identity(X, is_train):
    return X, lambda dY: dY


@given(data=st.data(), lengths=strategies.lengths(5, 4), dtype=strategies.dtypes())
def test_same_kind_dtype_and_trailing_axes_go_out(data, lengths, dtype):
    trailing = data.draw(st.sampled_from([(), (3,), (2, 3), (0,)]))
    values = data.draw(strategies.rows(sum(lengths), dtype, trailing))
    layers = [getattr(transforms, name)(identity) for name in WRAPS]
    for layer, kind in itertools.product(layers, KINDS):
        X = container(kind, values, lengths)
        Y, backprop = layer(X, True)
        for got in (layer.predict(X), Y, backprop(Y)):
            assert type(got) is type(X)
            same(sequences(got), sequences(X))
            if isinstance(X, vl.Ragged):
                assert all(a is b for a, b in zip(got.levels, X.levels, strict=True))
            if isinstance(X, vl.Padded):
                assert all(a is b for a, b in zip(got._fields, X._fields, strict=True))


@given(lengths=strategies.lengths(5, 4), seed=st.integers(0, 9))
def test_gradients_are_those_of_a_loop_over_sequences(lengths, seed):
    rng = np.random.default_rng(seed)
    values, d = (rng.integers(-3, 4, (sum(lengths), k)).astype(np.float32) for k in (3, 2))
    W = rng.integers(-3, 4, (3, 2)).astype(np.float32)
    for name, kind in itertools.product(WRAPS, KINDS):
        if not lengths and kind in ("list", "tuple"):
            continue  # nothing says how wide they are
        X, dY = container(kind, values, lengths), container(kind, d, lengths)
        Y, backprop = getattr(transforms, name)(linear_inside(name, W))(X, True)
        same(sequences(Y), [x @ W for x in sequences(X)])
        dX = backprop(dY)
        assert type(dX) is type(X)
        same(sequences(dX), [g @ W.T for g in sequences(dY)])


@pytest.mark.parametrize("name", ["with_padded", "with_ragged", "with_list"])
@pytest.mark.parametrize("kind", KINDS)
def test_layers_that_change_lengths_get_gradients_of_their_own(name, kind):
    """The layer keeps every first row of two, and its gradient says of what lengths those were."""
    values = np.arange(12.0).reshape(6, 2)

    def halve(seqs, is_train):
        def backprop(ds):
            back = [np.zeros_like(x) for x in seqs]
            for x, d in zip(back, ds, strict=True):
                x[::2] = d
            return back

        return [x[::2] for x in seqs], backprop

    inner = transforms.with_list(halve)
    X = container(kind, values, [3, 0, 1, 2])
    Y, backprop = getattr(transforms, name)(inner)(X, True)
    assert type(Y) is type(X)
    same(sequences(Y), [x[::2] for x in sequences(X)])
    kept = values.copy()
    kept[1] = kept[5] = 0
    same(sequences(backprop(Y)), sequences(container(kind, kept, [3, 0, 1, 2])))
    with pytest.raises(ValueError, match="the gradient"):
        backprop(X)


def test_padded_keeps_its_columns_and_steps():
    """Other orders of ties, and steps that no sequence reaches, are those of X."""
    r = vl.Ragged(np.arange(6.0), [2, 2, 1, 1])
    p = r.to_padded(ties="stable")
    wide = vl.Padded(np.pad(p.data, ((0, 2), (0, 0))), [*p.size_at_t, 0, 0], p.lengths, p.indices)
    for X in (p, wide):
        for name in WRAPS:
            Y, backprop = getattr(transforms, name)(identity)(X, True)
            assert Y == X
            assert backprop(Y) == X
        Y, backprop = transforms.padded2list()(X, True)
        assert backprop(Y) == X


def test_padded_from_a_layer_may_have_columns_of_its_own():
    r = vl.Ragged(np.arange(6.0), [2, 2, 1, 1])

    def other_order(padded, is_train):
        result = padded.to_ragged().to_padded(ties="stable")

        def backprop(dY):
            assert dY.indices.tolist() == result.indices.tolist()
            return dY.to_ragged().to_padded()

        return result, backprop

    Y, backprop = transforms.with_padded(other_order)(r, True)
    assert Y.equals(r)
    assert backprop(Y).equals(r)


@pytest.mark.parametrize("lengths", [[], [10], [5, 1], [2, 0, 1], [0, 0]])
@pytest.mark.parametrize("trailing", [(), (2,), (2, 3)])
def test_conversions_there_and_back_are_identities(lengths, trailing):
    rng = np.random.default_rng(0)
    seqs = [rng.random((n, *trailing), np.float32) for n in lengths]
    for there, back in (("list2ragged", "ragged2list"), ("list2padded", "padded2list")):
        layer = transforms.chain(getattr(transforms, there)(), getattr(transforms, back)())
        Y, backprop = layer(seqs, True)
        same(Y, seqs)
        same(backprop(seqs), seqs)
    if lengths:
        r = ops.list2ragged(seqs)
        assert transforms.with_padded(identity).predict(r).equals(r)
        flat, backprop = transforms.list2array()(seqs, True)
        assert flat.shape == (sum(lengths), *trailing)
        same(backprop(flat), seqs)


def test_conversions_take_what_is_converted_already():
    r = vl.Ragged(np.arange(3.0), [1, 2])
    Y, backprop = transforms.list2ragged()(r, True)
    assert Y is r
    assert backprop(r).equals(r)
    p = r.to_padded()
    assert transforms.list2padded().predict(p) is p
    Y, backprop = transforms.list2array()(r, True)
    assert Y is r.values
    assert backprop(Y).levels[0] is r.levels[0]


def test_with_array_sees_values_and_data():
    seen = []

    def look(X, is_train):
        seen.append(X)
        return X, lambda dY: dY

    r = vl.Ragged(np.ones((3, 2)), [1, 2])
    assert transforms.with_array(look).predict(r).levels[0] is r.levels[0]
    assert seen[-1] is r.values
    p = r.to_padded()
    transforms.with_array(look).predict(p)
    assert seen[-1] is p.data
    X = np.ones((4, 2, 3))
    assert transforms.with_array(look).predict(X) is X
    transforms.with_array2d(look).predict(X)
    assert seen[-1].shape == (4, 6)
    transforms.with_array2d(look).predict(p)
    assert seen[-1].shape == (4, 2)


def test_with_array_pads_between_the_arrays_of_a_list():
    def look(X, is_train):
        np.testing.assert_array_equal(X, [0, 1, 2, 0, 3, 0])

        def backprop(dY):
            np.testing.assert_array_equal(dY, [0, 5, 6, 0, 7, 0])
            return np.array([9.0, 5, 6, 9, 7, 9])

        return 10 * X + 1, backprop

    X = [np.array([1.0, 2]), np.array([]), np.array([3.0])]
    Y, backprop = transforms.with_array(look, pad=1)(X, True)
    same(Y, [np.array([11.0, 21]), np.array([]), np.array([31.0])])
    dY = [np.array([5.0, 6]), np.array([]), np.array([7.0])]
    same(backprop(dY), dY)


def test_with_padded_of_an_array_has_columns_of_one_length():
    def look(padded, is_train):
        assert padded.lengths.tolist() == [4, 4]
        assert padded.indices.tolist() == [0, 1]
        assert padded.size_at_t.tolist() == [2] * 4
        return padded, lambda dY: dY

    X = np.arange(24.0).reshape(4, 2, 3)
    Y, backprop = transforms.with_padded(look)(X, True)
    np.testing.assert_array_equal(Y, X)
    np.testing.assert_array_equal(backprop(Y), X)


def test_with_padded_of_an_array_cannot_give_columns_of_other_lengths():
    def shorter(padded, is_train):
        data = padded.data[:-1]
        kept = vl.Padded(data, padded.size_at_t[:-1], padded.lengths - 1, padded.indices)
        return kept, lambda dY: vl.Padded(np.pad(dY.data, ((0, 1), (0, 0))), *padded._fields)

    X = np.arange(6.0).reshape(3, 2)
    Y, backprop = transforms.with_padded(shorter)(X, True)
    np.testing.assert_array_equal(Y, X[:2])
    np.testing.assert_array_equal(backprop(Y), [[0, 1], [2, 3], [0, 0]])
    with pytest.raises(ValueError, match="which an array cannot express"):
        transforms.with_padded(lambda padded: vl.Ragged(X, [2, 1]).to_padded()).predict(X)


def test_tuples_are_sequences_however_many():
    four = tuple(np.arange(n) for n in (4, 2, 0, 1))
    same(transforms.with_padded(identity).predict(four), four)
    two = (np.array([1.0, 2.0]), np.array([2]))
    got = transforms.with_ragged(identity).predict(two)
    assert [x.tolist() for x in got] == [[1.0, 2.0], [2.0]]


def test_with_array2d_gives_trailing_axes_back_where_the_width_is_kept():
    r = vl.Ragged(np.arange(12.0).reshape(2, 2, 3), [2])
    assert transforms.with_array2d(np.negative).predict(r).values.shape == (2, 2, 3)
    W = np.ones((6, 4))
    Y, backprop = transforms.with_array2d(Linear(W))(r, True)
    assert Y.values.shape == (2, 4)
    assert backprop(Y).values.shape == (2, 2, 3)


def bad_gradients():
    X = vl.Ragged(np.ones((3, 2), np.float32), [1, 2])
    yield X, X.astype(np.float64), ValueError, "is float64, the result is float32"
    yield X, vl.Ragged(X.values, [2, 1]), ValueError, "sequence 0 of level 0"
    yield X, vl.Ragged(np.ones((3, 3), np.float32), [1, 2]), ValueError, r"shape \(3, 3\)"
    yield X, list(X), ValueError, "expected a Ragged, as the result is, got a list"
    yield X, None, TypeError, "expected a Ragged, as the result is, got NoneType"
    yield list(X), list(X)[:1], ValueError, "has 1 items, the result has 2"
    yield list(X), [x[:1] for x in X], ValueError, "item 1 has 1 rows"
    yield list(X), [x.astype("f8") for x in X], ValueError, "item 0: is float64"
    yield list(X), X, ValueError, "expected a list, as the result is, got a Ragged"
    p = X.to_padded()
    yield p, X, ValueError, "expected a Padded"
    yield p, vl.Ragged(X.values, [2, 1]).to_padded(), ValueError, "indices differ from those of the result"
    yield X.values, X.values[:2], ValueError, r"shape \(2, 2\)"
    yield X.values, "text", TypeError, "got str"


@pytest.mark.parametrize(("X", "dY", "error", "text"), list(bad_gradients()))
def test_gradients_that_do_not_fit_are_refused(X, dY, error, text):
    layers = [transforms.with_array, transforms.with_array2d, transforms.residual, transforms.add]
    for make in [*layers, transforms.concatenate]:
        Y, backprop = make(transforms.with_array(identity))(X, True)
        with pytest.raises(error, match=text):
            backprop(dY)
        backprop(Y)


@pytest.mark.parametrize("name", WRAPS)
@pytest.mark.parametrize("X", [None, 3, "text", {1: 2}])
def test_what_is_no_container_is_refused(name, X):
    with pytest.raises(TypeError, match=f"X: expected .* got {type(X).__name__}"):
        getattr(transforms, name)(identity).predict(X)


@pytest.mark.parametrize("name", ["with_ragged", "with_list"])
def test_arrays_do_not_say_where_sequences_end(name):
    with pytest.raises(TypeError, match="does not say where its sequences end"):
        getattr(transforms, name)(identity).predict(np.ones((3, 2)))


@pytest.mark.parametrize(
    ("name", "given", "error"),
    [
        ("with_array", [1], TypeError),
        ("with_array", np.ones(2), ValueError),
        ("with_array2d", np.ones((2, 2)), ValueError),
        ("with_padded", np.ones((3, 1)), TypeError),
        ("with_ragged", np.ones(3), TypeError),
        ("with_list", np.ones(3), TypeError),
    ],
)
def test_what_a_layer_gives_is_checked(name, given, error):
    with pytest.raises(error, match="the layer took"):
        getattr(transforms, name)(lambda X: given).predict(vl.Ragged(np.ones((3, 2)), [3]))


def test_nested_ragged_cannot_lose_sequences_below_others():
    r = container("nested", np.ones(3), [1, 1, 1])
    with pytest.raises(ValueError, match="the layer took 3 sequences of level 1, but returned 2"):
        transforms.with_list(lambda seqs: seqs[:2]).predict(r)
