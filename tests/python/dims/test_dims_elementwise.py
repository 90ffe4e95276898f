"""Functions of one number by their names: those of NumPy and of torch, over any dims, with gradients."""

import math

import numpy as np
import pytest
from varlen import Data, Dim, dims
from varlen.dims import batch_dim

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

TIME = Dim("time", lengths=[5, 0, 8])
NUMBERS = np.array([-np.inf, -30.0, -6.5, -2.5, -1.0, -1e-9, 0.0, 1e-9, 0.5, 2.5, 30.0, np.inf, np.nan])
OF_NUMPY = {"abs": "abs", "is_finite": "isfinite", "round": "rint"}
OF_NUMPY |= {
    name: name
    for name in (
        *("ceil", "cos", "exp", "expm1", "floor", "log", "log1p", "logical_not"),
        *("sign", "sin", "sqrt", "square", "tan", "tanh"),
    )
}
OF_TORCH = {"elu": "elu", "gelu": "gelu", "log_sigmoid": "logsigmoid", "relu": "relu", "sigmoid": "sigmoid"}
OF_TORCH |= {"silu": "silu"}
SMOOTH = [
    name for name in (*OF_NUMPY, *OF_TORCH, "rsqrt", "softplus") if name not in ("is_finite", "logical_not")
]


def data(values=NUMBERS):
    return Data(values, [batch_dim, TIME], sparse_dim=None, name="x")


@pytest.mark.parametrize("name", OF_NUMPY)
def test_functions_of_numpy_are_applied_to_all_numbers(name):
    found = getattr(dims, name)(data())
    assert np.array_equal(found.values, getattr(np, OF_NUMPY[name])(NUMBERS), equal_nan=True)
    assert (found.dims, found.name) == ((batch_dim, TIME), None)


@pytest.mark.parametrize("name", OF_TORCH)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_activations_of_arrays_are_those_of_torch(name, dtype):
    torch = pytest.importorskip("torch")
    values = NUMBERS[1:-2].astype(dtype)
    wanted = getattr(torch.nn.functional, OF_TORCH[name])(torch.tensor(values)).numpy()
    time = Dim("time", lengths=[5, 0, 5])
    found = getattr(dims, name)(Data(values, [batch_dim, time])).values
    assert found.dtype == dtype
    assert np.allclose(
        found, wanted, rtol=1e-6 if dtype == "float32" else 1e-12, atol=1e-6 if dtype == "float32" else 1e-12
    )
    tensors = getattr(dims, name)(Data(torch.tensor(values), [batch_dim, time])).values
    assert np.allclose(tensors.numpy(), wanted)


def test_activations_hold_at_both_ends():
    ends = Data(np.array([-np.inf, np.inf]), [batch_dim])
    assert dims.relu(ends).values.tolist() == [0, np.inf]
    assert dims.elu(ends).values.tolist() == [-1, np.inf]
    assert dims.sigmoid(ends).values.tolist() == [0, 1]
    assert dims.softplus(ends).values.tolist() == [0, np.inf]
    assert dims.log_sigmoid(ends).values.tolist() == [-np.inf, 0]
    nan = Data(np.array([np.nan]), [batch_dim])
    for name in OF_TORCH:
        assert math.isnan(getattr(dims, name)(nan).item()), name


@pytest.mark.parametrize("name", SMOOTH)
def test_functions_of_tensors_have_gradients(name):
    torch = pytest.importorskip("torch")
    values = torch.tensor([0.3, 0.7, 1.2, 1.7, 2.6], dtype=torch.float64, requires_grad=True)
    x = Data(values, [batch_dim, Dim("time", lengths=[2, 3])])
    function = getattr(dims, name)
    assert torch.autograd.gradcheck(lambda v: function(x._like(v)).values, (values,))
    array = function(x._like(values.detach().numpy())).values
    assert np.allclose(array, function(x).values.detach().numpy(), rtol=1e-12)


def test_relu_and_abs_keep_integers():
    x = Data(np.array([-2, 3]), [batch_dim], sparse_dim=None)
    assert dims.relu(x).values.dtype == dims.abs(x).values.dtype == np.int64


def test_numbers_are_clipped_by_bounds_over_their_dims():
    x = data(np.arange(13.0))
    assert dims.clip_by_value(x, 2, 5).values.tolist() == [2, 2, 2, 3, 4, *[5] * 8]
    greatest = Data(np.array([3.0, 0.0, 10.0]), [batch_dim])
    assert dims.clip_by_value(x, 1, greatest).to_list() == [[1, 1, 2, 3, 3], [], [5, 6, 7, 8, 9, 10, 10, 10]]
    assert np.isnan(dims.clip_by_value(data(), 0, 1).values[-1])


def test_functions_take_data_alone():
    with pytest.raises(TypeError, match="x: expected a Data, got ndarray"):
        dims.exp(np.zeros(3))
