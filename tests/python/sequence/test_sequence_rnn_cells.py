"""rnn: what a cell may give, and what gradients may come back; the step and both shapes are named."""

import re
from collections import namedtuple

import numpy as np
import pytest
import varlen as vl
from varlen import sequence

torch = pytest.importorskip("torch")

X = vl.Ragged(np.arange(12.0).reshape(6, 2), [3, 1, 2])
H = np.ones((3, 2))
Pair = namedtuple("Pair", "h c")


def two(x, state, is_train=False):
    h, c = state
    result = h + x, (h + x, c * 2)
    return (result, lambda dy, d: (dy + d[0], (dy + d[0], d[1] * 2))) if is_train else result


def plain(x, h, is_train=False):
    return (h + x, lambda d: (d, d)) if is_train else h + x


def in_pairs(x, state, is_train=False):
    """As `two`, with named tuples in place of tuples."""
    assert type(state) is tuple
    result = two(x, state, is_train)
    if not is_train:
        return result[0], Pair(*result[1])

    def backprop(dy, d):
        assert type(d) is tuple
        dx, before = result[1](dy, d)
        return dx, Pair(*before)

    return Pair(result[0][0], Pair(*result[0][1])), backprop


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("lengths", [[3, 1, 2], [2, 2, 2], [3, 0, 3]])
def test_named_tuples_are_tuples(lengths, reverse):
    x = vl.Ragged(X.values, lengths)
    wanted, back = sequence.rnn(two, x, (H, H), reverse=reverse, is_train=True)
    result, backprop = sequence.rnn(in_pairs, x, Pair(H, H), reverse=reverse, is_train=True)
    results = [
        result,
        sequence.rnn(in_pairs, x, (H, H), reverse=reverse),
        backprop(result[0], Pair(*result[1])),
    ]
    for (y, last), (y_wanted, last_wanted) in zip(results, [wanted, wanted, back(*wanted)], strict=True):
        assert y.equals(y_wanted)
        assert type(last) is tuple
        assert all(np.array_equal(a, b) for a, b in zip(last, last_wanted, strict=True))
    alone = sequence.rnn(lambda x, s: Pair(*two(x, s)[1]), x, (H, H), reverse=reverse)[1]
    assert type(alone) is tuple
    assert np.array_equal(alone[0], wanted[1][0])
    assert sequence.rnn(lambda x, h: Pair(h + x, h + x), x, H, reverse=reverse)[0].equals(wanted[0])


def at(step, given, otherwise=lambda x, h: h + x):
    """A cell that gives something else at a step; X is stepped through in threes, twos and ones."""
    return lambda x, h: given(x, h) if len(x) == 3 - step else otherwise(x, h)


@pytest.mark.parametrize("step", [0, 1, 2])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (lambda x, h: None, "NoneType"),
        (lambda x, h: 3.0, "float"),
        (lambda x, h: np.float64(3), "float64"),
        (lambda x, h: np.array(3.0), "a scalar"),
        (lambda x, h: h.tolist(), "list"),
        (lambda x, h: "abc"[: len(x)], "str"),
        (lambda x, h: (x, None), "NoneType"),
        (lambda x, h: (None, h), "NoneType"),
        (lambda x, h: (h.tolist(), h), "list"),
        (lambda x, h: (x, h.tolist()), "list"),
        (lambda x, h: (x, np.array(3.0)), "a scalar"),
        (lambda x, h: ((x, x), h), "tuple"),
    ],
)
def test_cells_give_arrays(given, kind, step, reverse):
    text = f"^cell: gave {kind} at step {step}, expected an array of {3 - step} rows"
    with pytest.raises(TypeError, match=text):
        sequence.rnn(at(step, given), X, H, reverse=reverse)


def test_cells_of_tuples_give_tuples():
    for given, kind in (
        (None, "NoneType"),
        (3.0, "float"),
        ([H, H], "list"),
        ((H, None, H), "(ndarray, NoneType, ndarray)"),
    ):
        text = "cell: expected a tuple of 2 states, or an output and a tuple of 2 states, got " + kind
        with pytest.raises(TypeError, match=f"^{re.escape(text)}"):
            sequence.rnn(lambda x, s, given=given: given, X, (H, H))
    with pytest.raises(TypeError, match=r"^cell: gave NoneType at step 0"):
        sequence.rnn(lambda x, s: (x, (x, None)), X, (H, H))


@pytest.mark.parametrize("step", [0, 1, 2])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("tensors", [False, True])
def test_outputs_have_rows_of_one_shape(step, reverse, tensors):
    x, h = X, H
    if tensors:
        x, h = X._make(torch.from_numpy(X.values), X.levels), torch.from_numpy(H)
    cell = at(step, lambda x, h: (x[:, :1], h), lambda x, h: (x, h))
    shapes = ("(2,)", "(1,)") if step == 0 else ("(1,)", "(2,)")
    text = f"cell: step {step or 1} has rows of shape {shapes[0]}, step 0 has {shapes[1]}"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        sequence.rnn(cell, x, h, reverse=reverse)


def test_outputs_are_of_one_kind():
    kinds = [lambda x, h: (torch.from_numpy(x), h), lambda x, h: (x, h)]
    for one, other in (kinds, kinds[::-1]):
        with pytest.raises(TypeError, match=r"^cell: step 1 is of type \w+, step 0 of type \w+"):
            sequence.rnn(at(1, one, other), X, H)


@pytest.mark.parametrize("tensors", [False, True])
@pytest.mark.parametrize("pairs", [False, True])
def test_states_have_rows_of_one_shape(tensors, pairs):
    x, h = X, H
    if tensors:
        x, h = X._make(torch.from_numpy(X.values), X.levels), torch.from_numpy(H)
    init = (h, h) if pairs else h

    def run(step, reverse):
        def narrow(x, s):
            return x, (s[0], s[1][:, :1]) if pairs else s[:, :1]

        return sequence.rnn(at(step, narrow, lambda x, s: (x, s)), x, init, reverse=reverse)

    # The state of step 0 goes on through all steps: what ends there has it, what ends later too.
    for step, reverse, named in ((1, False, 1), (2, False, 2), (2, True, 2), (1, True, 1)):
        text = f"cell: the state has rows of shape (1,) at step {named}, (2,) before"
        with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
            run(step, reverse)
    assert run(0, False)[0].equals(x)


def test_states_may_widen_where_they_start():
    result = sequence.rnn(lambda x, h: x + h, X, np.ones((3, 1)))[1]
    assert np.array_equal(result, sequence.rnn(lambda x, h: x + h, X, H)[1])


(Y, LAST), BACK = sequence.rnn(plain, X, H, is_train=True)
(_, PAIR), BACK_OF_TWO = sequence.rnn(two, X, (H, H), is_train=True)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: sequence.rnn(None, X, H), TypeError, "cell: expected a callable, got NoneType"),
        (
            lambda: sequence.rnn(lambda x, h, is_train: h[:2], X, H, is_train=True),
            TypeError,
            r"cell: with is_train, expected it to return \(result, backprop\), got ndarray",
        ),
        (
            lambda: BACK(Y._make(Y.values[:, :1], Y.levels)),
            ValueError,
            r"d_outputs: has rows of shape \(1,\), expected \(2,\)",
        ),
        (
            lambda: BACK(vl.Ragged(Y.values, [1, 3, 2])),
            ValueError,
            "d_outputs: nest differently: sequence 0",
        ),
        (lambda: BACK(Y.values), TypeError, "d_outputs: expected a Ragged, got ndarray"),
        (lambda: BACK(Y, H[:, :1]), ValueError, r"d_last: has rows of shape \(1,\), expected"),
        (lambda: BACK(Y, H[:2]), ValueError, "d_last: has 2 rows for 3 sequences"),
        (lambda: BACK(Y, (H, H)), TypeError, "d_last: expected one state, got a tuple of 2"),
        (lambda: BACK(Y, [H, H]), TypeError, "d_last: expected a tuple of states, got a list of arrays"),
        (lambda: BACK_OF_TWO(Y, H), TypeError, "d_last: expected a tuple of 2 states, got ndarray"),
        (lambda: BACK_OF_TWO(Y, (H,)), TypeError, "d_last: expected a tuple of 2 states, got a tuple of 1"),
        (
            lambda: BACK_OF_TWO(Y, (H, H[:, :1])),
            ValueError,
            r"d_last\[1\]: has rows of shape \(1,\), expected \(2,\)",
        ),
    ],
)
def test_cells_and_gradients_are_named(call, error, text):
    with pytest.raises(error, match=f"^{text}"):
        call()
