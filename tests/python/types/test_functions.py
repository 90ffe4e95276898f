"""Functions of NumPy and torch on a Ragged: what the containers mean, or a refusal that leads on."""

import importlib.util
import inspect
import sys

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
    with pytest.raises(ValueError, match="axis: which=True needs axis=1"):
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
        (lambda: np.cov(R), "r.values, r.to_dense"),
        (lambda: np.argsort(R, order="x"), r"np\.argsort with order .* use r\.argsort\(\)"),
        (lambda: np.split(R, 2, axis=1), r"use r\[:, a:b\]"),
        (lambda: np.cumsum(R), r"r\.cumsum\(\), which goes along each sequence"),
        (lambda: np.sum(R, 1, None, None, False, 0, True, 1), "7 positional arguments but 8"),
        (lambda: np.concatenate([R, R], None), "np.concatenate with axis=None has no meaning"),
        (lambda: np.clip(R, 2, 3, out=np.zeros(5)), "np.clip with out"),
        (lambda: np.zeros_like(R, shape=(3,)), "np.zeros_like with shape"),
        (lambda: np.maximum.reduce(R, out=np.zeros(3)), r"np.maximum.reduce has no .* use r.max\(\)"),
        (lambda: np.maximum.accumulate(R), r"np.maximum.accumulate has no .* use r.cummax\(\)"),
        (lambda: np.add.at(R, [0], 1), r"np.add.at has no meaning for a Ragged; use r\[key\]"),
        (lambda: np.subtract.outer(R, R), "np.subtract.outer has no meaning for a Ragged; use vl.cross"),
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
        (lambda torch, r: torch.max(r, 0), r"use r\.max\(axis=0\)"),
        (lambda torch, r: torch.outer(r, r), "torch.outer has no meaning"),
        (lambda torch, r: torch.nn.functional.normalize(r), "dim: torch.normalize of a Ragged goes along"),
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
    with pytest.raises(ValueError, match=rf"\({n + 1}, 2\) does not match {n} sequences"):
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
        lambda torch, r, x: torch.std(r, 1, True, correction=0),
        lambda torch, r, x: np.copy(r),
        lambda torch, r, x: torch.where(r > 0),
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
    for dim in (0, 1, -3, -4):
        with pytest.raises(TypeError, match=rf"not along {dim}; use .* or a dim of the rows, 2 or more$"):
            F.normalize(r, dim=dim)
    with pytest.raises(ValueError, match="dim: 4 is out of range"):
        F.normalize(r, dim=4)
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
        with pytest.raises(ValueError, match=r"^sizes: .* do not multiply to the size of the axis, 4$"):
            r.unflatten(2, sizes)
    with pytest.raises(ValueError, match=r"^dim: 4 is out of range for 4 axes$"):
        r.unflatten(4, (1,))
    with pytest.raises(ValueError, match=r"^start_dim: 3 is after end_dim, 1$"):
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


# One sequence of rows: what a function gives of the rectangle (1, 4, 3) is what it gives of the container.
ONE = np.array([[[3.0, -1.0, 0.5], [0.0, 2.0, -2.5], [1.5, 1.0, 4.0], [-1.0, 2.0, 0.25]]])
AXES = [
    ((), {}),
    ((1,), {}),
    ((), {"axis": 1}),
    ((None,), {}),
    ((0,), {}),
    ((), {"axis": -1}),
    ((), {"axis": (0, 1)}),
]
SINGLE = [((1,), {}), ((), {"axis": 1}), ((0,), {}), ((), {"axis": -1})]
KEEP = [((1,), {"keepdims": keep}) for keep in (True, False)]
KEEP += [((), {"keepdims": True, "axis": axis}) for axis in (None, 0, -1, (0, 1), (1, 2))]
DTYPES = [((1,), {"dtype": dtype}) for dtype in (None, np.float32, "float64")] + [((1, np.float32), {})]
DEFAULT = [((1,), {"out": None, "where": True}), ((), {"axis": None, "out": None})]
INITIAL = [((1,), {"initial": x}) for x in (0, 1.5, -7)] + [
    ((), {"initial": 2.0}),
    ((1, None, False, 3.0), {}),
]
SPREAD = [((1,), {"ddof": x}) for x in (0, 1, 0.5, False)] + [
    ((1, None, None, 1), {}),
    ((), {"correction": 1}),
]
OF_NUMPY = {
    "sum": AXES + KEEP + DTYPES + DEFAULT + [((1, None, None, True, 2.0), {}), ((1,), {"initial": 0})],
    "prod": AXES + KEEP + DTYPES + DEFAULT + [((1, None, None, False, 2.0), {}), ((1,), {"initial": 0})],
    "mean": AXES + KEEP + DTYPES + DEFAULT, "max": AXES + KEEP + DEFAULT + INITIAL,
    "min": AXES + KEEP + DEFAULT + INITIAL, "any": AXES + KEEP + DEFAULT, "all": AXES + KEEP + DEFAULT,
    "std": AXES + KEEP + DTYPES + DEFAULT + SPREAD, "var": AXES + KEEP + DTYPES + DEFAULT + SPREAD,
    "argmax": [*SINGLE[:2], SINGLE[3], ((), {}), ((1,), {"keepdims": True}), ((), {"keepdims": True})],
    "argmin": [*SINGLE[:2], SINGLE[3], ((), {}), ((1, None), {"keepdims": False})],
    "ptp": AXES + KEEP,
    "cumsum": SINGLE + DTYPES + [((1, None, None), {})], "cumprod": SINGLE + DTYPES,
    "sort": [((), {}), ((1,), {}), ((-1, "stable"), {}), ((0,), {"kind": None, "stable": None})],
    "argsort": [((), {}), ((1, "stable"), {}), ((), {"axis": -1, "order": None, "stable": True})],
    "clip": [((0, 2), {}), ((), {"a_min": 0, "a_max": None}), ((None, 2), {}), ((0, 2, None), {})],
    "round": [((), {}), ((1,), {}), ((), {"decimals": 0}), ((0, None), {})],
    "nan_to_num": [((), {}), ((True, 1.0), {}), ((), {"nan": 0.0, "posinf": None, "neginf": 0})],
    "isclose": [((0.5,), {}), ((0.0, 0, 0.5, False), {}), ((2.0,), {"rtol": 0, "atol": 1})],
    "zeros_like": [((), {}), ((np.int8,), {}), ((None, "K", True, None), {}), ((), {"dtype": None})],
    "full_like": [((0,), {}), ((7, np.float32), {}), ((), {"fill_value": 0.0})],
    "copy": [((), {}), (("K", False), {})], "real": [((), {})], "isreal": [((), {})],
}  # fmt: skip
WHERE = ONE > 0
NOT_OF_NUMPY = [
    *((name, ((1,), {"out": np.zeros((1, 3))}), "out") for name in ("sum", "max", "std", "argmax", "cumsum")),
    *((name, ((1,), {"where": WHERE}), "where") for name in ("sum", "any")),
    ("sum", ((1, None, np.zeros((1, 3))), {}), "out"), ("std", ((1,), {"mean": np.zeros((1, 1, 3))}), "mean"),
    ("std", ((1,), {"dtype": int}), "dtype: np.std of a Ragged returns floats"),
    ("clip", ((0, 2, np.zeros((1, 4, 3))), {}), "out"), ("zeros_like", ((None, "F"), {}), "order"),
    ("zeros_like", ((None, "K", False), {}), "subok"), ("copy", (("C",), {}), "order"),
    ("size", ((1,), {}), "axis"),
    ("round", ((1, np.zeros((1, 4, 3))), {}), "out"), ("full_like", ((0,), {"shape": (2,)}), "shape"),
]  # fmt: skip


def rectangle(x):
    """A result without its levels: all sequences are equally long."""
    return np.asarray(x.to_dense() if isinstance(x, vl.Ragged) else x)


@pytest.mark.parametrize("name", OF_NUMPY)
def test_arguments_of_functions_of_numpy_mean_what_numpy_means(name):
    function = getattr(np, name)
    for args, kwargs in OF_NUMPY[name]:
        result, wanted = function(vl.Ragged(ONE[0], [4]), *args, **kwargs), function(ONE, *args, **kwargs)
        said = f"{args} {kwargs}"
        assert result.dtype == wanted.dtype, said
        assert rectangle(result).shape == np.shape(wanted), said
        np.testing.assert_allclose(rectangle(result), wanted, rtol=1e-6, err_msg=said)


@pytest.mark.parametrize(("name", "call", "said"), NOT_OF_NUMPY)
def test_arguments_of_functions_of_numpy_that_are_not_taken_are_named(name, call, said):
    args, kwargs = call
    with pytest.raises(TypeError, match=said):
        getattr(np, name)(vl.Ragged(ONE[0], [4]), *args, **kwargs)


def test_every_parameter_of_functions_of_numpy_is_tried():
    for name, calls in OF_NUMPY.items():
        parameters = inspect.signature(getattr(np, name)).parameters
        tried = {list(parameters)[k + 1] for args, _ in calls for k in range(len(args))}
        tried |= {key for _, kwargs in calls for key in kwargs}
        tried |= {said.split()[-1].strip(":") for n, _, said in NOT_OF_NUMPY if n == name}
        elsewhere = {"out", "where", "order", "subok", "shape", "kwargs", "device", "mean", "min", "max"}
        assert set(list(parameters)[1:]) - tried <= elsewhere, name


def spelled(calls):
    """The same calls with torch's own names."""
    names = {"axis": "dim", "keepdims": "keepdim"}
    return [(args, {names.get(key, key): x for key, x in kwargs.items()}) for args, kwargs in calls] + [
        call for call in calls if call[1]
    ]


T_AXES = [((), {}), ((1,), {}), ((0,), {}), ((), {"axis": 1}), ((), {"axis": -1})]
T_KEEP = [((1, keep), {}) for keep in (True, False)] + [((), {"axis": 0, "keepdims": True})]
T_DTYPES = [((1,), {"dtype": "float64"}), ((1,), {"dtype": None}), ((-1,), {"dtype": "float32"})]
T_SPREAD = [
    ((False,), {}), ((True,), {}), ((), {"unbiased": False}), ((1,), {"unbiased": False}), ((1, False), {}),
    ((1, True, True), {}), ((1, False, False), {}), ((1,), {"correction": 0}), ((None,), {"correction": 2}),
    ((1,), {"correction": None}), ((), {"correction": 0}), (((0, 1),), {"correction": 0, "keepdims": True}),
]  # fmt: skip
OF_TORCH = {
    "sum": T_AXES + T_KEEP + T_DTYPES + [(([],), {}), ((), {"axis": (0, 1)}), ((), {"dtype": "float64"})],
    "mean": T_AXES + T_KEEP + T_DTYPES, "prod": T_AXES + T_KEEP + T_DTYPES, "any": T_AXES + T_KEEP,
    "all": T_AXES + T_KEEP, "amax": T_AXES + T_KEEP + [(((),), {})], "amin": T_AXES + T_KEEP,
    "argmax": [((), {}), ((1,), {}), ((-1, True), {}), ((None,), {}), ((1, False), {})],
    "argmin": [((), {}), ((1,), {}), ((), {"axis": -1, "keepdims": True})],
    "std": T_AXES[:2] + T_SPREAD, "var": T_AXES[:2] + T_SPREAD, "logsumexp": T_AXES[1:] + T_KEEP,
    "max": [((), {})], "min": [((), {})], "cumsum": T_AXES[1:] + T_DTYPES, "cumprod": T_AXES[1:] + T_DTYPES,
    "softmax": [*T_AXES[1:], *T_DTYPES, ((1, "float64"), {})],
    "log_softmax": [*T_AXES[1:], *T_DTYPES, ((1, "float64"), {})],
    "nn.functional.softmax": [((1,), {}), ((), {"dim": -1, "dtype": "float64"})],
    "nn.functional.softmin": [((1,), {}), ((), {"dim": -1, "dtype": "float64"})],
    "nn.functional.log_softmax": [((1,), {"dtype": None}), ((), {"dim": -1, "dtype": "float64"})],
    "clamp": [((0, 2), {}), ((), {"min": 0, "max": None})],
    "round": [((), {"decimals": 1}), ((), {"decimals": 0})],
    "div": [((2.0,), {"rounding_mode": None}), ((2.0,), {"rounding_mode": "floor"})],
    "add": [((1.0,), {"alpha": 0}), ((1.0,), {"alpha": 2})], "sub": [((1.0,), {"alpha": 0})],
    "nan_to_num": [((0.0,), {}), ((), {"nan": None})], "zeros_like": [((), {"dtype": "float64"})],
    "nn.functional.leaky_relu": [((0.0,), {}), ((), {"negative_slope": 0})],
    "nn.functional.normalize": [((), {"dim": 2}), ((), {"p": 1, "dim": -1})],
    "nn.functional.layer_norm": [(((3,), None, None, 0.0), {}), ((), {"normalized_shape": [3]})],
    "flatten": [((), {}), ((1,), {}), ((), {"start_dim": 0, "end_dim": -1})],
    "unflatten": [((2, (3, 1)), {}), ((), {"dim": 2, "sizes": (1, 3)})],
}  # fmt: skip


def torch_function(torch, name):
    for part in name.split("."):
        torch = getattr(torch, part)
    return torch


def torch_cases():
    return [
        (name, call)
        for name, calls in OF_TORCH.items()
        for call in (calls if "." in name or name in ("clamp", "div", "add", "sub") else spelled(calls))
    ]


@pytest.mark.parametrize("first", ["position", "keyword"])
def test_arguments_of_functions_of_torch_mean_what_torch_means(first):
    torch = pytest.importorskip("torch")
    whole = torch.from_numpy(ONE.astype(np.float32))
    for name, (args, kwargs) in torch_cases():
        function = torch_function(torch, name)
        args = [getattr(torch, x) if isinstance(x, str) and x.startswith("float") else x for x in args]
        kwargs = {k: getattr(torch, x) if k == "dtype" and x else x for k, x in kwargs.items()}
        if first == "keyword" and not args:
            result, wanted = (
                function(input=vl.Ragged(whole[0], [4]), **kwargs),
                function(input=whole, **kwargs),
            )
        else:
            result, wanted = (
                function(vl.Ragged(whole[0], [4]), *args, **kwargs),
                function(whole, *args, **kwargs),
            )
        said = f"{name} {args} {kwargs}"
        assert result.dtype == wanted.dtype, said
        assert rectangle(result).shape == tuple(wanted.shape), said
        np.testing.assert_allclose(rectangle(result), wanted.numpy(), rtol=2e-5, atol=1e-6, err_msg=said)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda torch, r: torch.std(r, 1, unbiased=False, correction=1), "correction"),
        (lambda torch, r: torch.var(r, dtype=torch.float64), "dtype"),
        (lambda torch, r: torch.sum(r, 1, out=torch.zeros(3)), "out"),
        (lambda torch, r: torch.max(r, 0), r"use r\.max\(axis=0\)"),
        (lambda torch, r: torch.max(r, dim=0), r"use r\.max\(axis=0\)"),
        (lambda torch, r: torch.cat([r], out=r.values), "out"),
        (lambda torch, r: torch.matmul(r, r.values, out=r.values), "out"),
    ],
)
def test_arguments_of_functions_of_torch_that_are_not_taken_are_named(call, said):
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=said):
        call(torch, vl.Ragged(torch.ones(4, 3), [4]))


def test_axes_of_one_stay_where_containers_nest():
    deep = vl.Ragged.from_list([[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 1], [2, 3]]])
    whole = np.asarray(deep)
    for axis in (None, 0, 1, 2, (0, 1), (1, 2), (0, 2), (0, 1, 2)):
        result, wanted = np.sum(deep, axis=axis, keepdims=True), np.sum(whole, axis=axis, keepdims=True)
        assert rectangle(result).tolist() == wanted.tolist()
    uneven = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
    assert np.sum(uneven, axis=1, keepdims=True).to_list() == [[[4, 2]], [[4]]]
    assert np.sum(uneven, axis=2, keepdims=True).to_list() == [[[3], [3]], [[4]]]
    assert np.sum(uneven, axis=0, keepdims=True).to_list() == [[[5, 2], [3]]]


def test_the_largest_of_nothing_says_what_may_be_given():
    for r in (vl.Ragged(np.ones(0), []), vl.Ragged(np.ones(0), [0]), vl.Ragged(np.ones(2), [2, 0])):
        axis = None if r.total == 0 else 1
        with pytest.raises(
            ValueError,
            match=r"np.max: .* pass empty= for its result: r\.max\(empty=\.\.\.\), or pass initial=$",
        ):
            np.max(r, axis=axis)
        assert np.max(np.max(r, axis=axis, initial=0.5)) == max(0.5, *r.values, 0)
    with pytest.raises(ValueError, match=r"^initial: 0\.5 does not fit int64$"):
        np.max(vl.Ragged([3, 1], [2]), axis=1, initial=0.5)
    with pytest.raises(ValueError, match=r"^axis: 5 is out of range"):
        np.max(vl.Ragged(np.ones(0), [0]), axis=5)


@pytest.mark.parametrize("kind", ["Padded", "Packed", "Pairs", "Data"])
def test_functions_on_containers_that_are_no_arrays_name_what_is_one(kind):
    r = vl.Ragged([3.0, 1.0, 4.0], [2, 1])
    given, way = {
        "Padded": (vl.Padded.from_ragged(r), r"\.data, \.to_list\(\)"),
        "Packed": (r.pack(), r"\.values, \.steps\(\)"),
        "Pairs": (vl.Pairs(r, r), r"\.one and \.two"),
        "Data": (
            vl.Data(r.values, [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])]),
            r"\.values, the valid",
        ),
    }[kind]
    calls = [np.sum, np.std, np.copy, np.shape, np.argsort, np.squeeze, lambda x: np.clip(x, 0, 1)]
    calls += [lambda x: np.concatenate([x, x]), lambda x: np.array_equal(x, x), lambda x: np.max(x, axis=0)]
    if "torch" in sys.modules or importlib.util.find_spec("torch"):
        torch = pytest.importorskip("torch")
        calls += [torch.sum, torch.exp, lambda x: torch.cat([x, x]), lambda x: torch.std(x, unbiased=False)]
    for call in calls:
        with pytest.raises(TypeError, match=rf"^(np|torch)\.\w+ cannot take a {kind}; use its .*{way}"):
            call(given)
    with pytest.raises(TypeError, match=rf"^a {kind} is not an array; use its {way}"):
        np.asarray(given)


def test_arguments_of_ufuncs_are_those_of_numpy():
    r, x = vl.Ragged(ONE[0], [4]), ONE[0]
    assert np.add(r, r, dtype=np.float32).dtype == np.float32
    with pytest.raises(TypeError, match="Cannot cast"):
        np.add(r, r, dtype=np.int32, casting="safe")
    for where, each in ((False, False), (True, True), (r > 0, x > 0)):
        out = vl.Ragged(np.full_like(x, 7), levels=r.levels)
        np.negative(r, out=out, where=where)
        assert out.values.tolist() == np.negative(x, out=np.full_like(x, 7), where=each).tolist()


@pytest.mark.parametrize("tensors", [False, True])
def test_what_does_not_broadcast_against_each_row_is_told_its_axis(tensors):
    ones = pytest.importorskip("torch").ones if tensors else np.ones
    r = vl.Ragged(ones((5, 4)), [3, 2])
    for call in (lambda x: r * x, lambda x: x - r, lambda x: r < x, lambda x: vl.where(r > 0, r, x)):
        with pytest.raises(
            ValueError,
            match=r"^an array of shape \(2,\) cannot broadcast against each row, of shape \(4,\); "
            r"a number for each of 2 sequences is x\[:, None\]$",
        ):
            call(ones(2))
        with pytest.raises(ValueError, match=r"\(3,\) cannot broadcast against each row, of shape \(4,\)$"):
            call(ones(3))
    assert (r * ones(2)[:, None]).to_list() == r.to_list()
    with pytest.raises(ValueError, match=r"^rows of shape \(3,\) cannot broadcast .*, of shape \(4,\)$"):
        r + vl.Ragged(ones((5, 3)), levels=r.levels)
    for x in (
        ones(4),
        ones(1),
        ones((2, 4)),
        ones((2, 1)),
        ones((2, 1, 4)),
        ones((1, 4)),
        vl.Ragged(ones(5), [3, 2]),
    ):
        assert (r * x).to_list() == r.to_list()


def test_arguments_that_numpy_does_not_take_together_are_refused():
    r = vl.Ragged([3.0, 1.0], [2])
    for call in (
        lambda: np.std(r, axis=1, ddof=1, correction=0),
        lambda: np.var(r, axis=1, ddof=2, correction=1),
        lambda: np.sort(r, kind="stable", stable=True),
        lambda: np.argsort(r, kind="none"),
    ):
        with pytest.raises(ValueError, match=r"got both|kind"):
            call()


def test_an_initial_text_is_among_those_of_each_sequence():
    r = vl.Ragged(np.array(["b", "a", "d"]), [2, 0, 1])
    assert np.max(r, axis=1, initial="c").tolist() == ["c", "c", "d"]
    assert np.min(r, axis=1, initial="c").tolist() == ["a", "c", "c"]
    assert np.max(r, initial="e") == "e"
    assert np.min(vl.Ragged(np.array([b"b"]), [1]), initial=b"c") == b"b"


def test_functions_of_torch_that_give_floats_give_no_integers():
    torch = pytest.importorskip("torch")
    r = vl.Ragged(torch.tensor([3.0, 1.0]), [2])
    for call in (torch.softmax, torch.log_softmax, torch.mean):
        with pytest.raises(
            TypeError,
            match=f"dtype: torch.{call.__name__} of a Ragged returns floats, .* got torch.int64",
        ):
            call(r, dim=1, dtype=torch.int64)
    assert torch.softmax(r, dim=1, dtype=torch.bfloat16).dtype is torch.bfloat16


def test_any_and_all_of_no_axes_are_of_each_number():
    torch = pytest.importorskip("torch")
    r = vl.Ragged(torch.tensor([3.0, 0.0]), [2])
    assert torch.any(r, dim=()).to_list() == torch.all(r, dim=()).to_list() == [[True, False]]


def test_flags_are_no_arrays():
    given = np.array([0, 1])
    r = vl.Ragged([3.0, 1.0], [2])
    for call in (
        lambda: vl.ops.reduce_max(r, which=given),
        lambda: vl.ops.cummin(r, which=given),
        lambda: vl.ops.backprop_cumsum(r, reverse=given),
        lambda: vl.ops.block_mask(r, causal=given),
    ):
        with pytest.raises(TypeError, match=r"(which|reverse|causal): expected"):
            call()
    with pytest.raises(TypeError, match="level: expected an int"):
        r.cumsum(axis=1, level=given)


def test_what_operators_of_tensors_refuse_is_the_operand():
    torch = pytest.importorskip("torch")
    ints, floats = (vl.Ragged(torch.tensor([1, 2], dtype=d), [2]) for d in (torch.int64, torch.float32))
    for call in (
        lambda: ints % 0,
        lambda: ints // (ints * 0),
        lambda: divmod(ints, 0),
        lambda: np.fmod(ints, 0),
    ):
        with pytest.raises(ValueError, match=r"^operand: .* divides no integers by 0") as raised:
            call()
        assert raised.value.argument == "operand"
    for other in (None, "a", b"a"):
        with pytest.raises(TypeError, match=r"^operand: expected a number, an array or a Ragged, got "):
            floats + other
    with pytest.raises(
        OverflowError, match=r"^operand: 9223372036854775808 does not fit in torch\.int64"
    ) as raised:
        ints + 2**63
    assert raised.value.number == 2**63
    assert (floats + 10**30).values.tolist() == torch.full((2,), 1e30).tolist()
    assert (ints.astype(torch.uint64) + 2**63).to_list() == [[2**63 + 1, 2**63 + 2]]
