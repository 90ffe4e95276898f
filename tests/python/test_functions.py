"""Functions of NumPy and torch on a Ragged: what the containers mean, or a refusal that leads on."""

import numpy as np
import pytest
import varlen as vl

R = vl.Ragged([3.0, 1.0, 4.0, 1.0, 5.0], [3, 0, 2])
ROWS = vl.Ragged(np.arange(10.0).reshape(5, 2), [3, 0, 2])


def test_functions_of_numpy_reduce_along_the_axes_of_the_container():
    assert np.sum(R) == R.values.sum()
    assert np.mean(R) == R.values.mean()
    assert np.sum(R, axis=1).tolist() == R.sum().tolist() == [8, 0, 6]
    assert np.sum(R, 0).tolist() == R.sum(axis=0).tolist() == [4, 6, 4]
    assert np.max(ROWS, axis=2).to_list() == ROWS.max(axis=2).to_list()
    assert np.std(ROWS, axis=1, ddof=1)[0].tolist() == [2, 2]
    assert np.cumsum(R, axis=1).to_list() == [[3, 4, 8], [], [1, 6]]
    assert np.argmax(ROWS, axis=2).values.tolist() == [1] * 5
    with pytest.raises(ValueError, match="axis: places are counted along axis 1"):
        np.argmax(R, axis=0)


def test_functions_of_numpy_on_each_number_keep_the_levels():
    assert np.clip(R, 2, 4).to_list() == [[3, 2, 4], [], [2, 4]]
    assert np.zeros_like(R).to_list() == [[0, 0, 0], [], [0, 0]]
    assert np.concatenate([R, R], axis=1).to_list() == vl.concatenate([R, R], axis=1).to_list()
    assert np.stack([R, R]).to_list() == vl.stack([R, R]).to_list()
    assert np.where(R > 2, R, 0.0).to_list() == [[3, 0, 4], [], [0, 5]]
    assert np.shape(R) == (3, None)


def test_equality_by_numpy_is_that_of_containers():
    assert np.array_equal(R, R)
    assert np.array_equal(R, R.copy())
    assert not np.array_equal(R, vl.Ragged(R.values, [2, 1, 2]))
    assert not np.array_equal(R, R.values)
    assert np.array_equal(vl.Ragged([[1, 2], [3, 4]], [1, 1]), [[[1, 2]], [[3, 4]]])
    assert np.allclose(R, R + 1e-12)


@pytest.mark.parametrize(
    ("call", "way"),
    [
        (lambda: np.median(R), "r.values, r.to_dense"),
        (lambda: np.sort(R), r"use r\.sort\(\)"),
        (lambda: np.unique(R), r"use r\.unique\(\)"),
        (lambda: np.cumsum(R), r"r\.cumsum\(\), which goes along each sequence"),
        (lambda: np.sum(R, axis=1, keepdims=True), "does not take keepdims"),
        (lambda: np.std(R, 1, None, None, 1), "only its axis by position; got 1 after it"),
        (lambda: np.clip(R, 2, 3, out=np.zeros(5)), "np.clip with out"),
        (lambda: np.zeros_like(R, shape=(3,)), "np.zeros_like with shape"),
        (lambda: np.reshape(R, (5,)), "np.reshape has no meaning"),
    ],
)
def test_functions_of_numpy_without_a_meaning_name_the_method(call, way):
    with pytest.raises(TypeError, match=way):
        call()


def test_functions_of_torch_count_the_axes_of_the_container():
    torch = pytest.importorskip("torch")
    r = vl.Ragged(torch.from_numpy(ROWS.values), ROWS.levels)
    soft = torch.nn.functional.softmax(r, dim=-1)
    assert torch.equal(soft.values, torch.softmax(r.values, -1))
    assert torch.softmax(r, 1).to_list() == r.softmax().to_list()
    assert torch.sum(r) == r.values.sum()
    assert torch.equal(torch.sum(r, dim=1), r.sum())
    assert torch.equal(torch.cumsum(r, 1).values, r.cumsum().values)
    assert torch.cat([r, r]).to_list() == vl.concatenate([r, r]).to_list()


def test_functions_of_torch_on_rows_and_numbers_keep_levels_and_gradients():
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(ROWS.values).requires_grad_()
    r = vl.Ragged(x, ROWS.levels)
    layer = torch.nn.Linear(2, 3).double()
    assert torch.equal(layer(r).values, layer(x))
    assert torch.equal(
        torch.nn.functional.layer_norm(r, (2,)).values, torch.nn.functional.layer_norm(x, (2,))
    )
    ids = vl.Ragged(torch.tensor([1, 0, 1]), [2, 1])
    assert torch.nn.functional.embedding(ids, torch.eye(2)).to_list() == [[[0, 1], [1, 0]], [[0, 1]]]
    bias = torch.ones(2, dtype=torch.float64)
    for result, wanted in (
        (torch.relu(r), torch.relu(x)), (bias + r, bias + x), (bias - r, bias - x), (r * bias, x * bias),
        (bias / (r + 1), bias / (x + 1)), (bias < r, bias < x), (torch.where(r > 2, r, 0.0), x * (x > 2)),
    ):  # fmt: skip
        assert isinstance(result, vl.Ragged)
        assert torch.equal(result.values, wanted)
    torch.exp(r).sum().sum().backward()
    assert torch.allclose(x.grad, x.exp())


@pytest.mark.parametrize(
    ("call", "way"),
    [
        (lambda torch, r: torch.sort(r), r"use r\.sort\(\)"),
        (lambda torch, r: torch.max(r, 1), r"r\.max\(axis=1\) and r\.argmax\(axis=1\)"),
        (lambda torch, r: torch.nn.functional.normalize(r), "torch.normalize has no meaning"),
        (lambda torch, r: torch.nn.functional.layer_norm(r, (3, 2)), "fewer than 2 axes"),
    ],
)
def test_functions_of_torch_without_a_meaning_name_the_method(call, way):
    torch = pytest.importorskip("torch")
    r = vl.Ragged(torch.zeros(3, 2), [2, 1])
    with pytest.raises(TypeError, match=way):
        call(torch, r)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_what_an_array_means_beside_a_ragged_depends_on_its_axes_alone(n):
    """Rows of two numbers: n sequences, n of them 2 or not, change nothing."""
    r = vl.Ragged(np.arange(2.0 * n).reshape(n, 2), [1] * n)
    row, each = np.array([10.0, 20.0]), np.arange(n * 2.0).reshape(n, 2)
    assert (r + row).values.tolist() == (r.values + row).tolist()
    assert (r + each).values.tolist() == (r.values + each).tolist()
    assert (r + each[:, :1]).values.tolist() == (r.values + each[:, :1]).tolist()
    assert (r + each[:, None]).values.tolist() == (r.values + each).tolist()
    flat = vl.Ragged(np.arange(float(n)), [1] * n)
    assert (flat - flat.mean()).values.tolist() == [0.0] * n
    assert (flat + np.ones((n, 1))).values.tolist() == (flat.values + 1).tolist()
    if n != 2:
        with pytest.raises(ValueError, match="broadcast"):
            r + np.ones(n)
    with pytest.raises(ValueError, match=rf"\({n + 1}, 2\) does not go with {n} sequences"):
        r + np.ones((n + 1, 2))


def test_lists_beside_a_ragged_mean_what_arrays_mean():
    r = vl.Ragged([1.0, 2.0, 5.0], [0, 2, 1])
    for limits in ([2, 3, 4], np.array([2, 3, 4])):
        assert np.clip(r, limits, 9).to_list() == [[], [3, 3], [5]]
    assert np.zeros_like(r, dtype=np.float32).dtype == np.float32
    assert np.allclose(vl.Ragged(np.ones(3), [2, 1]), 1.0)
    assert not np.allclose(r, [1, 2, 3])


def test_spreads_by_torch_and_by_numpy_are_theirs():
    torch = pytest.importorskip("torch")
    for values in (R.values, torch.from_numpy(R.values)):
        r = vl.Ragged(values, R.levels)
        assert float(torch.std(r)) == pytest.approx(np.std(R.values, ddof=1))
        assert float(np.std(r)) == pytest.approx(np.std(R.values))
        assert torch.var(r, dim=1)[0] == pytest.approx(np.var([3, 1, 4], ddof=1))
        assert torch.var(r, dim=1, correction=0)[0] == pytest.approx(np.var([3, 1, 4]))
        assert np.var(r, axis=1)[0] == pytest.approx(np.var([3, 1, 4]))


@pytest.mark.parametrize(
    "call",
    [
        lambda torch, r, x: x.add_(r),
        lambda torch, r, x: torch.exp(r, out=x),
        lambda torch, r, x: x.to(r),
        lambda torch, r, x: torch.softmax(r, 1, torch.float64),
        lambda torch, r, x: torch.sum(r, 1, True),
        lambda torch, r, x: np.copy(r),
        lambda torch, r, x: torch.where(r > 0),
        lambda torch, r, x: torch.max(r, r),
    ],
)
def test_what_would_be_lost_is_refused(call):
    torch = pytest.importorskip("torch")
    x = torch.ones(2)
    with pytest.raises(TypeError):
        call(torch, vl.Ragged(torch.tensor([1.0, 2.0, 5.0]), [2, 1]), x)
    assert x.tolist() == [1, 1]


def test_modules_of_torch_take_a_ragged():
    torch = pytest.importorskip("torch")
    r = vl.Ragged(torch.tensor([0.0, 0.0, 5.0]), [2, 1])
    assert torch.nn.Softmax(dim=1)(r).to_list() == [[0.5, 0.5], [1.0]]
    assert torch.nn.ReLU()(r - 1).to_list() == [[0, 0], [4]]


def test_a_condition_a_sequence_chooses_whole_rows():
    a = vl.Ragged(np.arange(1.0, 7.0).reshape(3, 2), [2, 1])
    for condition in ([True, False], np.array([True, False])):
        assert vl.where(condition, a, -a).to_list() == [[[1, 2], [3, 4]], [[-5, -6]]]


EACH_NUMBER = [
    "celu", "elu", "gelu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "logsigmoid",
    "mish", "relu", "relu6", "selu", "sigmoid", "silu", "softplus", "softshrink", "softsign", "tanh",
    "tanhshrink",
]  # fmt: skip


@pytest.mark.parametrize("name", EACH_NUMBER)
def test_functions_of_each_number_in_torch_nn_compute(name):
    torch = pytest.importorskip("torch")
    function = getattr(torch.nn.functional, name)
    x = torch.tensor([[0.5, -1.0], [2.0, -3.0], [0.0, 0.1]], requires_grad=True)
    r = vl.Ragged(x, [2, 1])
    result = function(r)
    assert isinstance(result, vl.Ragged)
    assert result.levels is r.levels or result.levels == r.levels
    assert torch.equal(result.values, function(x))
    (wanted,) = torch.autograd.grad(function(x).sum(), x)
    (found,) = torch.autograd.grad(result.values.sum(), x)
    assert torch.equal(found, wanted)


def test_modules_of_each_number_compute():
    torch = pytest.importorskip("torch")
    x = torch.tensor([[0.5, -1.0], [2.0, -3.0], [0.0, 0.1]])
    r, nn = vl.Ragged(x, [2, 1]), torch.nn
    for module in (
        nn.LogSigmoid(), nn.Hardshrink(), nn.Softshrink(), nn.Tanh(), nn.Sigmoid(), nn.PReLU(), nn.PReLU(2),
        nn.GLU(), nn.AlphaDropout(0), nn.Identity(),
    ):  # fmt: skip
        assert torch.equal(module(r).values, module(x)), module
    assert torch.allclose(nn.Softmin(dim=-1)(r).values, nn.Softmin(dim=-1)(x))
    assert torch.allclose(nn.Softmin(dim=1)(r)[0], (-x[:2]).softmax(0))
    torch.manual_seed(0)
    result = nn.functional.alpha_dropout(r, 0.5, training=True)
    torch.manual_seed(0)
    assert torch.equal(result.values, nn.functional.alpha_dropout(x, 0.5, training=True))


def test_functions_along_the_axes_of_rows_count_those_of_the_container():
    torch = pytest.importorskip("torch")
    x, F = torch.randn(3, 4, 2), torch.nn.functional
    r = vl.Ragged(x, [2, 1])
    for dim, inside in ((2, 1), (3, 2), (-1, 2), (-2, 1)):
        assert torch.equal(F.normalize(r, dim=dim).values, F.normalize(x, dim=inside))
        assert torch.equal(F.glu(r, dim=dim).values, F.glu(x, dim=inside))
    assert F.gumbel_softmax(r, hard=True).values.sum(-1).tolist() == torch.ones(3, 4).tolist()
    for dim in (0, 1, 4, -3, -4):
        with pytest.raises(
            TypeError, match=rf"torch\.normalize has no meaning .* a dim of the rows, 2 or more; got {dim}$"
        ):
            F.normalize(r, dim=dim)
    with pytest.raises(TypeError, match=r"torch\.prelu of rows with fewer than 1 axes"):
        torch.nn.PReLU(2)(vl.Ragged(torch.zeros(3), [2, 1]))


def test_flatten_and_unflatten_are_those_of_torch_on_axes_that_a_container_has():
    torch = pytest.importorskip("torch")
    x = torch.arange(24.0).reshape(3, 4, 2)
    r = vl.Ragged(x, [2, 1])
    assert torch.nn.Flatten()(r).to_list() == [x[:2].flatten().tolist(), x[2:].flatten().tolist()]
    for result in (torch.nn.Flatten(2)(r), torch.flatten(r, -2), r.flatten(2, 3)):
        assert torch.equal(result.values, x.flatten(1))
        assert result.levels == r.levels
    assert torch.equal(torch.flatten(r), x.flatten())
    for result in (torch.nn.Unflatten(2, (2, -1))(r), torch.unflatten(r, -2, (2, 2)), r.unflatten(2, [2, 2])):
        assert torch.equal(result.values, x.unflatten(1, (2, 2)))
        assert result.levels == r.levels
    for dim in (0, 1, -4):
        with pytest.raises(
            TypeError, match=rf"^dim: expected an axis of the rows, 2 or more, got {dim}; add_"
        ):
            torch.nn.Unflatten(dim, (1, 2))(r)
    for sizes in ((3, -1), (2, 1), (-1, -1), (0, -1), (-2, -2), ()):
        with pytest.raises(ValueError, match=r"^sizes: .* do not divide an axis of 4$"):
            r.unflatten(2, sizes)
    with pytest.raises(ValueError, match=r"^dim: 4 is out of range for 4 axes$"):
        r.unflatten(4, (1,))
    with pytest.raises(ValueError, match=r"^start_dim: 3 is behind end_dim, 1$"):
        r.flatten(3, 1)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int64", "bool"])
def test_sigmoid_of_arrays_is_that_of_tensors(dtype):
    torch = pytest.importorskip("torch")
    x = np.array([0, 1, 1, 7], dtype) if dtype == "bool" else np.array([0, 1, 5, 100], dtype)
    x = np.concatenate([x, -x, [np.inf, -np.inf, np.nan]]).astype(dtype) if dtype.startswith("f") else x
    result = vl.Ragged(x, [len(x) - 1, 1]).sigmoid().values
    wanted = torch.from_numpy(x.astype(np.float64)).sigmoid().numpy()
    assert result.dtype == (dtype if dtype.startswith("f") else np.result_type(x, np.float32))
    np.testing.assert_allclose(result, wanted, rtol=8 * np.finfo(result.dtype).eps, atol=1e-7)


@pytest.mark.parametrize(
    "module", ["BatchNorm1d(2)", "LSTM(2, 2)", "GRU(2, 2)", "InstanceNorm1d(2)", "MultiheadAttention(2, 1)"]
)
def test_modules_that_count_axes_are_refused_and_told_what_to_take(module):
    torch = pytest.importorskip("torch")
    kind, _, numbers = module.rstrip(")").partition("(")
    layer = getattr(torch.nn, kind)(*map(int, numbers.split(",")))
    r = vl.Ragged(torch.zeros(3, 2), [2, 1])
    with pytest.raises(
        TypeError, match=r"takes no Ragged; give it r\.values, r\.to_dense\(\) or r\.pack\(\)"
    ):
        layer(*[r] * (3 if "Attention" in module else 1))


@pytest.mark.parametrize("tensors", [False, True])
def test_ufuncs_of_two_results_give_two_containers(tensors):
    x = np.array([7.5, -7.5, 0.0, -0.0, np.inf, -np.inf, -0.25, 1e20])
    values = x
    if tensors:
        values = pytest.importorskip("torch").from_numpy(x)
    r = vl.Ragged(values, [3, 0, 5])
    for given, function in ((r, np.modf), (r, np.frexp)):
        with np.errstate(all="ignore"):
            wanted = function(x)
        for part, want in zip(function(given), wanted, strict=True):
            assert part.lengths.tolist() == [3, 0, 5]
            if function is np.modf:
                assert np.signbit(np.asarray(part.values)).tolist() == np.signbit(want).tolist()
            keep = np.isfinite(x) if function is np.frexp else slice(None)
            np.testing.assert_array_equal(np.asarray(part.values)[keep], want[keep])
    ints = vl.Ragged(values[:4], [1, 3]).astype(np.int64 if not tensors else values.long().dtype)
    for whole in (divmod(ints, 3), np.divmod(ints, 3), np.divmod(ints, -3)):
        assert all(isinstance(part, vl.Ragged) for part in whole)
    for a, b in ((r[:1], 2), (r[:1], -2.0), (ints, 3), (ints, -3), (ints, ints * 0 + 2)):
        quotient, rest = divmod(a, b)
        beside = np.asarray(b.values) if isinstance(b, vl.Ragged) else b
        want = np.divmod(np.asarray(a.values), beside)
        np.testing.assert_array_equal(np.asarray(quotient.values), want[0])
        np.testing.assert_array_equal(np.asarray(rest.values), want[1])
    out = r.copy(), r.copy()
    result = np.modf(r, out=out)
    assert result[0] is out[0]
    assert result[1] is out[1]
    np.testing.assert_array_equal(np.asarray(out[1].values), np.modf(x)[1])
    with pytest.raises((TypeError, ValueError), match="modf"):
        np.modf(r, out=(vl.Ragged(values == 0, r.levels), out[1]))


def test_the_gradient_goes_through_both_results_of_a_ufunc():
    torch = pytest.importorskip("torch")
    x = torch.tensor([7.5, -7.5, 1.25], dtype=torch.float64, requires_grad=True)
    r = vl.Ragged(x, [2, 1])
    for part, want in zip((*np.divmod(r, 2), *np.modf(r)), (0, 1, 1, 0), strict=True):
        (grad,) = torch.autograd.grad(part.values.sum(), x, allow_unused=True)
        assert (torch.zeros(3) if grad is None else grad).tolist() == [want] * 3
