"""The LSTM over packed rows: against a plain loop, against torch's, and its gradients against differences."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from kernels import of_cpu
from oracles import lstm as oracle
from varlen import _core, ops

ALONE = of_cpu("the LSTM has kernels for the CPU alone")
SIZES = [[3, 2, 2, 1], [1], [2, 2], [4, 1], [2, 0], []]


def problem(sizes, depth=1, directions=1, nO=3, nI=2, dtype=np.float64, seed=0):
    draw = np.random.default_rng(seed)
    above = (depth - 1) * directions * 4 * nO * (directions * nO + nO + 2)
    count = directions * 4 * nO * (nI + nO + 2) + above
    shapes = (count,), (depth, directions, nO), (depth, directions, nO), (sum(sizes), nI)
    return [(draw.normal(size=shape) * 0.7).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("depth", [1, 2])
def test_lstm_is_the_plain_loop(sizes, directions, depth):
    given = problem(sizes, depth, directions)
    Y, _ = ops.lstm_forward_training(*given, sizes)
    np.testing.assert_allclose(Y, oracle.lstm(*given, sizes), rtol=1e-12, atol=1e-14)
    assert np.array_equal(ops.lstm_forward_inference(*given, sizes), Y)


@given(st.lists(st.integers(0, 5), max_size=5), st.integers(1, 40), st.sampled_from([np.float32, np.float64]))
def test_lstm_of_any_width(sizes, nO, dtype):
    sizes = sorted(sizes, reverse=True)
    given = problem(sizes, nO=nO, dtype=dtype)
    Y = ops.lstm_forward_inference(*given, np.array(sizes, np.int32))
    assert Y.dtype == dtype
    wanted = oracle.lstm(*(x.astype(np.float64) for x in given), sizes)
    np.testing.assert_allclose(Y, wanted, atol=2e-6 if dtype == np.float32 else 1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gates_are_right_to_the_last_digits(dtype):
    x = np.concatenate([np.linspace(-30, 30, 4001), [0, 1e-30, -1e-4, 700, -700, np.inf, -np.inf, np.nan]])
    x = x.astype(dtype)[None]
    width = x.shape[1]
    gates = np.concatenate([np.full_like(x, -np.inf), np.full_like(x, np.inf), x, x], axis=1)
    zeros = np.zeros_like(gates)
    state = np.zeros((4, 1, width), dtype)
    _core.lstm_step(gates, zeros, zeros[0], state[0], state[1], state[2])
    wide = x.astype(np.longdouble)
    with np.errstate(over="ignore"):
        wanted = [1 / (1 + np.exp(-wide)), np.tanh(wide)]
    tiny, eps = np.finfo(dtype).tiny, np.finfo(dtype).eps
    for result, right in zip((gates[:, 2 * width : 3 * width], gates[:, 3 * width :]), wanted, strict=True):
        np.testing.assert_allclose(result.astype(np.longdouble), right, rtol=4 * float(eps), atol=float(tiny))
    np.testing.assert_array_equal(state[0], gates[:, 3 * width :])


@pytest.mark.parametrize("sizes", SIZES[:4])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("depth", [1, 2])
def test_gradient_agrees_with_differences(sizes, directions, depth):
    params, H0, C0, X = problem(sizes, depth, directions)
    Y, state = ops.lstm_forward_training(params, H0, C0, X, sizes)
    dY = np.random.default_rng(1).normal(size=Y.shape)
    before = [x.copy() for x in (dY, params, *state)]
    dX, d_params = ops.backprop_lstm(dY, sizes, params, state)
    assert all(np.array_equal(a, b) for a, b in zip(before, (dY, params, *state), strict=True))

    def slope(x, d, place):
        step = np.zeros_like(x)
        step.flat[place] = 1e-6
        ends = [
            ops.lstm_forward_inference(*(p + s * step if p is x else p for p in (params, H0, C0, X)), sizes)
            for s in (1, -1)
        ]
        assert d.flat[place] == pytest.approx(((ends[0] - ends[1]) * dY).sum() / 2e-6, abs=1e-7)

    for place in range(X.size):
        slope(X, dX, place)
    for place in range(0, params.size, 7):
        slope(params, d_params, place)


def test_lstm_of_a_padded_as_thinc_runs_it():
    """Packed rows of a Padded in, and back into its block."""
    p = vl.Padded.from_list([np.ones((2, 2)), np.ones((0, 2)), np.ones((3, 2))])
    params, H0, C0, _ = problem([])
    rows = p.to_packed()
    Y = ops.lstm_forward_inference(params, H0, C0, rows, p.size_at_t)
    alone = [ops.lstm_forward_inference(params, H0, C0, np.ones((n, 2)), [1] * n) for n in (2, 0, 3)]
    result = vl.Padded.from_packed(Y, p.size_at_t, p.lengths, p.indices)
    for a, b in zip(ops.padded2list(result), alone, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"sizes": [2, 3]}, ValueError, "size_at_t: step 1 has 3 sequences, the step before 2"),
        ({"sizes": [2, 2]}, ValueError, "size_at_t: adds up to 4, but X has 5 rows"),
        ({"sizes": [6, -1]}, ValueError, "length"),
        ({"params": np.zeros(3)}, ValueError, "params: expected 84 numbers"),
        ({"X": np.zeros((5, 2), np.float32)}, TypeError, "X: expected float64 as params, got float32"),
        ({"H0": np.zeros((1, 3))}, ValueError, "H0: expected 3 dimensions, got 2"),
        ({"C0": np.zeros((1, 1, 4))}, ValueError, "C0: expected the shape of H0"),
        ({"H0": np.zeros((1, 3, 3)), "C0": np.zeros((1, 3, 3))}, ValueError, "1 or 2 directions"),
        ({"params": np.zeros(84, np.int64)}, TypeError, "params: expected float32 or float64"),
    ],
)
def test_what_does_not_fit_is_refused(change, error, text):
    sizes = [3, 2]
    given = dict(zip(("params", "H0", "C0", "X"), problem(sizes), strict=True)) | {"sizes": sizes} | change
    with pytest.raises(error, match=text):
        ops.lstm_forward_training(*(given[name] for name in ("params", "H0", "C0", "X", "sizes")))


def test_gradients_that_do_not_fit_are_refused():
    sizes = [3, 2]
    given = problem(sizes)
    Y, state = ops.lstm_forward_training(*given, sizes)
    with pytest.raises(ValueError, match="dY: expected"):
        ops.backprop_lstm(Y[:4], sizes, given[0], state)
    with pytest.raises(ValueError, match="dY: expected"):
        ops.backprop_lstm(Y.astype(np.float32), sizes, given[0], state)
    with pytest.raises(ValueError, match="lengths: add up to 4"):
        ops.backprop_lstm(Y, [2, 2], given[0], state)
    with pytest.raises(ValueError, match="params: expected"):
        ops.backprop_lstm(Y, sizes, given[0][:-1], state)
    with pytest.raises(ValueError, match="fwd_state: expected"):
        ops.backprop_lstm(Y, sizes, given[0], ())


def test_buffers_of_a_step_are_checked():
    gates, row = np.zeros((2, 12)), np.zeros((2, 3))
    with pytest.raises(ValueError, match="more: expected 2 rows of 12"):
        _core.lstm_step(gates, gates[:1], gates[0], row, row.copy(), row.copy())
    with pytest.raises(ValueError, match="bias: expected 12"):
        _core.lstm_step(gates, gates.copy(), gates[0, :3], row, row.copy(), row.copy())
    with pytest.raises(ValueError, match="out: expected contiguous"):
        _core.lstm_step(gates, gates.copy(), gates[0], row, row.copy(), np.zeros((3, 2)).T)
    with pytest.raises(TypeError, match="gates: expected float32 or float64"):
        _core.lstm_step_back(gates.astype(int), row, row, row, row, gates)


@ALONE
def test_torch_lstm_is_ours():
    torch = pytest.importorskip("torch")
    nI, nO, depth = 3, 4, 2
    torch.manual_seed(0)
    theirs = torch.nn.LSTM(nI, nO, depth, bidirectional=True).double()
    order = [1, 0, 3, 2]  # torch: in, forget, candidates, out
    parts = []
    for layer in range(depth):
        for suffix in ("", "_reverse"):
            for name in ("weight_ih", "bias_ih", "weight_hh", "bias_hh"):
                x = getattr(theirs, f"{name}_l{layer}{suffix}")
                parts.append(x.reshape(4, nO, -1)[order].reshape(-1))
    lengths = [2, 5, 1]
    x = torch.randn(sum(lengths), nI, dtype=torch.float64)
    packed = vl.Ragged(x, lengths).to_padded().to_packed_sequence()
    start = torch.zeros(depth, 2, nO, dtype=torch.float64)
    rows = packed.data.clone().requires_grad_()
    ours, _ = ops.lstm_forward_training(torch.cat(parts), start, start, rows, packed.batch_sizes)
    again = packed.data.clone().requires_grad_()
    wanted = theirs(torch.nn.utils.rnn.PackedSequence(again, packed.batch_sizes))[0].data
    assert torch.allclose(ours, wanted, atol=1e-12)
    (wanted**2).sum().backward()
    want = [p.grad.clone() for p in theirs.parameters()]
    theirs.zero_grad()
    (ours**2).sum().backward()
    assert torch.allclose(rows.grad, again.grad, atol=1e-12)
    for p, right in zip(theirs.parameters(), want, strict=True):
        assert torch.allclose(p.grad, right, atol=1e-12)


@ALONE
def test_torch_gradients_reach_the_start():
    torch = pytest.importorskip("torch")
    sizes = [2, 2, 1]
    given = [torch.tensor(x, requires_grad=True) for x in problem(sizes, depth=1, directions=2, nO=2, nI=1)]
    assert torch.autograd.gradcheck(lambda *xs: ops.lstm_forward_training(*xs, sizes)[0], given)
    Y, state = ops.lstm_forward_training(*(x.detach() for x in given), sizes)
    dX, d_params = ops.backprop_lstm(Y, sizes, given[0].detach(), state)
    wanted = ops.backprop_lstm(Y.numpy(), sizes, given[0].detach().numpy(), tuple(x.numpy() for x in state))
    assert np.allclose(dX.numpy(), wanted[0])
    assert np.allclose(d_params.numpy(), wanted[1])
    with pytest.raises(TypeError, match="X: expected a tensor"):
        ops.lstm_forward_training(*(x.detach() for x in given[:3]), np.zeros((5, 1)), sizes)
    with pytest.raises(TypeError, match="X: a tensor, but params is an array"):
        ops.lstm_forward_training(*(x.detach().numpy() for x in given[:3]), given[3].detach(), sizes)
