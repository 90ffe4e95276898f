"""rnn over torch's LSTM, GRU and RNN: what their cells give step by step."""

import numpy as np
import pytest
import varlen as vl
from varlen import sequence

torch = pytest.importorskip("torch")

LENGTHS = [3, 0, 1, 5, 0, 3]
WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def cell_of(layer, depth=0, backward=False):
    kind = getattr(torch.nn, f"{type(layer).__name__}Cell")
    cell = kind(layer.weight_ih_l0.shape[1] if not depth else layer.hidden_size, layer.hidden_size).double()
    for name in WEIGHTS:
        getattr(cell, name).data = getattr(layer, f"{name}_l{depth}" + "_reverse" * backward).data
    return cell


def states(name, shape):
    torch.manual_seed(1)
    made = tuple(torch.randn(shape, dtype=torch.float64, requires_grad=True) for _ in range(2))
    return made if name == "LSTM" else made[0]


def each(state):
    return state if isinstance(state, tuple) else (state,)


def inputs():
    torch.manual_seed(0)
    return vl.Ragged(torch.randn(sum(LENGTHS), 4, dtype=torch.float64, requires_grad=True), LENGTHS)


@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("order", ["stable", "reversed"])
@pytest.mark.parametrize("with_init", [False, True])
def test_a_layer_gives_what_its_cell_gives(name, reverse, order, with_init):
    layer = getattr(torch.nn, name)(4, 3).double()
    init = states(name, (len(LENGTHS), 3)) if with_init else None
    results = []
    for cell in (layer, cell_of(layer)):
        x = inputs()
        y, last = sequence.rnn(cell, x, init, reverse=reverse, order=order)
        loss = sum(
            (one * torch.arange(1.0, one.numel() + 1).reshape(one.shape)).sum()
            for one in (y.values, *each(last))
        )
        watched = [x.values, *(each(init) if with_init else ())]
        results.append((y, each(last), torch.autograd.grad(loss, watched)))
    (y, last, back), (y_wanted, last_wanted, back_wanted) = results
    assert y.levels == y_wanted.levels
    for a, b in zip((y.values, *last, *back), (y_wanted.values, *last_wanted, *back_wanted), strict=True):
        torch.testing.assert_close(a, b)


def test_layers_and_directions_are_rows_of_states():
    layer = torch.nn.LSTM(4, 3, num_layers=2, bidirectional=True, proj_size=2).double()
    x = inputs()
    y, (h, c) = sequence.rnn(layer, x)
    assert (y.values.shape, h.shape, c.shape) == ((12, 4), (6, 4, 2), (6, 4, 3))
    packed = torch.nn.utils.rnn.pack_sequence([x.row(i) for i in (3, 0, 5, 2)])
    wanted, (h_wanted, c_wanted) = layer(packed)
    torch.testing.assert_close(y.pack().values, wanted.data)
    torch.testing.assert_close(h[[3, 0, 5, 2]], h_wanted.transpose(0, 1))
    torch.testing.assert_close(c[[3, 0, 5, 2]], c_wanted.transpose(0, 1))
    assert not h[[1, 4]].any()
    again = sequence.rnn(layer, x, (h, c))
    assert again[1][0].shape == h.shape


def test_levels_above_stay():
    layer = torch.nn.GRU(4, 3).double()
    x = vl.Ragged(inputs().values, levels=[vl.Level([2, 4]), vl.Level(LENGTHS)])
    y, last = sequence.rnn(layer, x)
    assert y.levels == x.levels
    assert last.levels == x.levels[:1]
    assert torch.equal(sequence.rnn(layer, x, last)[1].values, sequence.rnn(layer, inputs(), last.values)[1])


def test_nothing_to_run_over_gives_the_states_back():
    layer = torch.nn.LSTM(4, 3)
    y, (h, _) = sequence.rnn(
        layer, vl.Ragged(torch.zeros(0, 4), [0, 0]), (torch.ones(2, 3), torch.zeros(2, 3))
    )
    assert y.values.shape == (0, 3)
    assert h.tolist() == [[1] * 3] * 2


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (
            lambda f, x: sequence.rnn(f, vl.Ragged(np.zeros((2, 4)), [2])),
            TypeError,
            "inputs: expected tensors for GRU",
        ),
        (
            lambda f, x: sequence.rnn(f, x, is_train=True),
            TypeError,
            "is_train: autograd already computes the gradients of GRU",
        ),
        (
            lambda f, x: sequence.rnn(f, x, torch.zeros(6, 2)),
            ValueError,
            r"init: rows have shape \(2,\), expected \(3,\)",
        ),
        (lambda f, x: sequence.rnn(f, x, torch.zeros(5, 3)), ValueError, "init: has 5 rows for 6 sequences"),
        (lambda f, x: sequence.rnn(f, x, (torch.zeros(6, 3),) * 2), TypeError, "init: expected one state"),
        (
            lambda f, x: sequence.rnn(f, vl.Ragged(torch.zeros(2, 5), [2])),
            ValueError,
            r"inputs: rows have shape \(5,\)",
        ),
        (
            lambda f, x: sequence.rnn(
                f, vl.Ragged(x.values, levels=[vl.Level([2, 4]), x.levels[0]]), level=0
            ),
            ValueError,
            "level: GRU runs over rows",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, error, said):
    with pytest.raises(error, match=said):
        call(torch.nn.GRU(4, 3).double(), inputs())
