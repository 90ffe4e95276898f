"""rnn: against torch's layers, one sequence at a time, and finite differences; nested, reversed, empty."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from nested import deeper
from oracles import rnn as oracle
from varlen import sequence

torch = pytest.importorskip("torch")
LENGTHS = st.lists(st.integers(0, 5), max_size=6)


def mixed(x, h):
    """A cell of numbers whose output is not its state."""
    after = 3 * h + x
    return after - 2 * x, after


@given(LENGTHS, st.booleans(), st.sampled_from(["stable", "reversed", "torch"]), st.booleans())
def test_rnn_is_one_sequence_at_a_time(lengths, reverse, order, tensors):
    x = vl.Ragged(np.arange(sum(lengths)), lengths)
    init = np.arange(len(lengths)) + 100
    outputs, last = oracle.rnn(mixed, x.to_list(), init.tolist(), reverse)
    if tensors:
        x, init = x._make(torch.from_numpy(x.values), x.levels), torch.from_numpy(init)
    for r in (x, deeper(x)):
        ys, h = sequence.rnn(mixed, r, init, reverse=reverse, order=order)
        assert ys.levels == r.levels
        assert ys._make(ys.values, ys.levels[-1:]).to_list() == outputs
        assert (h.values if isinstance(h, vl.Ragged) else h).tolist() == last
        assert isinstance(h, vl.Ragged) == (r is not x)
        if r is not x:
            assert h.levels == r.levels[:2]


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("reverse", [False, True])
def test_rnn_is_what_torch_has_on_packed_sequences(kind, reverse):
    torch.manual_seed(0)
    lengths = [3, 5, 1, 5, 2, 3, *[4] * 16]
    net = getattr(torch.nn, kind)(3, 4, dtype=torch.float64, bidirectional=reverse)
    cell = getattr(torch.nn, kind + "Cell")(3, 4, dtype=torch.float64)
    with torch.no_grad():
        for name, weights in cell.named_parameters():
            weights.copy_(getattr(net, f"{name}_l0{'_reverse' if reverse else ''}"))
    values = torch.randn(sum(lengths), 3, dtype=torch.float64, requires_grad=True)
    x = vl.Ragged(values, lengths)
    packed = torch.nn.utils.rnn.pack_sequence(list(x), enforce_sorted=False)
    out, state = net(packed)
    wanted = vl.Packed.from_packed_sequence(out).to_ragged().values[:, -4:]
    result, last = sequence.rnn(cell, x, reverse=reverse)
    pairs = [(result.values, wanted)]
    for a, b in zip(last if kind == "LSTM" else [last], state if kind == "LSTM" else [state], strict=True):
        pairs.append((a, b[-1]))
    weights = [torch.randn(a.shape, dtype=torch.float64) for a, _ in pairs]
    for a, b in pairs:
        assert torch.allclose(a, b, rtol=1e-10, atol=1e-12)
    mine, theirs = (
        torch.autograd.grad(sum((w * pair[k]).sum() for w, pair in zip(weights, pairs, strict=True)), values)[
            0
        ]
        for k in (0, 1)
    )
    assert torch.allclose(mine, theirs, rtol=1e-10, atol=1e-12)


def test_rnn_of_words_then_of_sentences():
    torch.manual_seed(0)
    words = vl.Ragged(
        torch.randn(9, 3, dtype=torch.float64, requires_grad=True), [[2, 0, 3], [3, 0, 1, 4, 1]]
    )
    of_words, of_sentences = (
        torch.nn.LSTMCell(3, 4, dtype=torch.float64), torch.nn.GRUCell(4, 2, dtype=torch.float64)
    )  # fmt: skip
    _, (sentences, _) = sequence.rnn(of_words, words)
    _, documents = sequence.rnn(of_sentences, sentences)
    assert sentences.levels == words.levels[:1]
    rows = []
    for document in words:
        h = torch.zeros(1, 2, dtype=torch.float64)
        for sentence in document:
            state = (torch.zeros(1, 4, dtype=torch.float64),) * 2
            for word in sentence:
                state = of_words(word[None], state)
            h = of_sentences(state[0], h)
        rows.append(h)
    assert torch.allclose(documents, torch.cat(rows), rtol=1e-10, atol=1e-12)
    for result in (documents, torch.cat(rows)):
        words.values.grad = None
        result.sin().sum().backward()
        rows.append(words.values.grad)
    assert torch.allclose(rows[-1], rows[-2], rtol=1e-10, atol=1e-12)


def test_rnn_above_the_innermost_level_steps_over_sub_sequences():
    x = vl.Ragged.from_list([[[1, 2], []], [[3]], []])
    ys, last = sequence.rnn(lambda step, h: (step * 10, h + step.sum()), x, np.zeros(3, int), level=0)
    assert ys.to_list() == [[[10, 20], []], [[30]], []]
    assert last.tolist() == [3, 3, 0]


W, U = np.random.default_rng(0).normal(size=(2, 3, 3))


def plain(x, h, is_train=False):
    """A recurrent layer whose output is its state, with its way back."""
    after = np.tanh(x @ W + h @ U)

    def backprop(d):
        d = d * (1 - after**2)
        return d @ W.T, d @ U.T

    return (after, backprop) if is_train else after


def gated(x, state, is_train=False):
    """One of two states and an output of its own."""
    h, c = state
    a = np.tanh(x @ W + h @ U)
    after = c + a * h

    def backprop(dy, d):
        dh, dc = d
        da = (dh + dy + dc * h) * (1 - a**2)
        return da @ W.T, (da @ U.T + dc * a, dc + dy)

    result = a + c, (a, after)
    return (result, backprop) if is_train else result


def both(x, state, is_train=False):
    """Two states, the first of which is the output."""
    result = gated(x, state, is_train)
    if not is_train:
        return result[1]
    return result[0][1], lambda d: result[1](np.zeros_like(d[0]), d)


@pytest.mark.parametrize("cell", [plain, gated, both])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("lengths", [[2, 0, 3, 3, 1], [], [0, 0]])
def test_rnn_of_arrays_goes_back(cell, reverse, lengths):
    rng = np.random.default_rng(1)
    parts = [
        rng.normal(size=(sum(lengths), 3)),
        *rng.normal(size=(2 if cell is not plain else 1, len(lengths), 3)),
    ]

    def run(parts, **options):
        x, *init = parts
        state = tuple(init) if len(init) > 1 else init[0]
        return sequence.rnn(cell, vl.Ragged(x, lengths), state, reverse=reverse, **options)

    def flat(result):
        y, last = result
        return [y.values, *(last if isinstance(last, tuple) else [last])]

    result, backprop = run(parts, is_train=True)
    for a, b in zip(flat(result), flat(run(parts)), strict=True):
        assert np.array_equal(a, b)
    d = [rng.normal(size=one.shape) for one in flat(result)]
    d_last = tuple(d[1:]) if len(d) > 2 else d[1]
    back = flat(backprop(result[0]._make(d[0], result[0].levels), d_last))
    move = [rng.normal(size=one.shape) for one in parts]
    ends = []
    for sign in (1e-6, -1e-6):
        moved = flat(run([one + sign * by for one, by in zip(parts, move, strict=True)]))
        ends.append(sum((one * by).sum() for one, by in zip(moved, d, strict=True)))
    wanted = (ends[0] - ends[1]) / 2e-6
    assert sum((one * by).sum() for one, by in zip(back, move, strict=True)) == pytest.approx(
        wanted, abs=1e-7
    )
    alone = backprop(result[0]._make(d[0], result[0].levels))
    zeros = tuple(np.zeros_like(one) for one in d[1:]) if len(d) > 2 else np.zeros_like(d[1])
    for a, b in zip(flat(alone), flat(backprop(result[0]._make(d[0], result[0].levels), zeros)), strict=True):
        assert np.array_equal(a, b)


@settings(max_examples=20)
@given(LENGTHS)
def test_rnn_goes_back_under_other_levels(lengths):
    x = deeper(vl.Ragged(np.ones((sum(lengths), 3)), lengths))
    init = vl.Ragged(np.ones((len(lengths), 3)), levels=x.levels[:2])
    (y, last), backprop = sequence.rnn(plain, x, init, is_train=True)
    dx, d_init = backprop(y, last)
    assert dx.levels == x.levels
    assert d_init.levels == last.levels == x.levels[:2]
    flat = vl.Ragged(x.values, lengths)
    (y, last), backprop = sequence.rnn(plain, flat, init.values, is_train=True)
    wanted, d_wanted = backprop(y, last)
    assert np.array_equal(dx.values, wanted.values)
    assert np.array_equal(d_init.values, d_wanted)


def test_rnn_without_rows_knows_what_outputs_would_be():
    x = vl.Ragged(np.zeros((0, 3), np.float32), [0, 0])
    y, last = sequence.rnn(lambda x, h: (np.zeros((len(x), 5), np.int8), h), x, np.ones((2, 1)))
    assert (y.values.shape, y.dtype, y.lengths.tolist()) == ((0, 5), np.int8, [0, 0])
    assert last.tolist() == [[1], [1]]
    y, (h, c) = sequence.rnn(torch.nn.LSTMCell(3, 4), vl.Ragged(torch.zeros(0, 3), []))
    assert y.values.shape == h.shape == c.shape == (0, 4)


X = vl.Ragged(np.zeros((6, 3)), [3, 1, 2])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: sequence.rnn(plain, X.values, np.zeros((3, 3))), TypeError, "inputs: expected a Ragged"),
        (lambda: sequence.rnn(plain, X), TypeError, "init: required: only torch cells over tensors"),
        (
            lambda: sequence.rnn(plain, X, np.zeros((2, 3))),
            ValueError,
            "init: has 2 rows for 3 sequences",
        ),
        (lambda: sequence.rnn(plain, X, np.zeros((3, 3)), level=1), IndexError, "level: 1 is out of range"),
        (
            lambda: sequence.rnn(plain, X, X),
            ValueError,
            "init: expected a Ragged that nests like the levels above",
        ),
        (
            lambda: sequence.rnn(lambda x, h: h[:1], X, np.zeros((3, 3))),
            ValueError,
            "cell: gave 1 rows at step 0, which has 3",
        ),
        (
            lambda: sequence.rnn(lambda x, h: (x, h[0]), X, (np.zeros((3, 3)),)),
            TypeError,
            r"expected a tuple of 1 states, or .* got \(ndarray, ndarray\)",
        ),
        (lambda: sequence.rnn(lambda x, h: x, X, (np.zeros((3, 3)),)), TypeError, "got ndarray"),
    ],
)
def test_rnn_refuses_what_does_not_fit(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_torch_cells_need_tensors() -> None:
    cell = torch.nn.GRUCell(3, 3)
    with pytest.raises(TypeError, match="inputs: expected tensors for GRUCell, got ndarray"):
        sequence.rnn(cell, X, np.zeros((3, 3)))
