"""Conversions to tensors, dtypes and other dims, as RETURNN's frontend names them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import dims as _dims
from varlen.arguments import as_dtype
from varlen.dims import Data, Dim
from varlen.errors import overflow_error, value_error
from varlen.returnn.frontend.operands import check_tensor
from varlen.returnn.tensor import Tensor, as_tensor

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


# RETURNN's default dtypes; its places are int32, ours int64.
FLOAT, INT, PLACE = "float32", "int32", "int64"


def convert_to_tensor(
    value: Any,
    *,
    dims: Sequence[Dim] | None = None,
    dtype: DTypeLike | None = None,
    sparse_dim: Dim | None = None,
    feature_dim: Dim | None = None,
    shape: Sequence[Dim] | None = None,
    device: str | None = None,
    keep_scalar_on_cpu: bool = False,
    name: str | None = None,
) -> Tensor:
    """Convert a rectangle to a Tensor; a Tensor stays one.

    Parameters
    ----------
    value
        A number, an array or a tensor; padding is dropped.
    dims
        A Dim for each axis; new ones of their sizes by default.
    dtype
        The dtype to cast values to, also those of a Tensor. By default arrays and tensors keep theirs. A
        Python float gives float32, an int int32; lists give float64 and int64, as in NumPy.
    sparse_dim
        The Dim that integers index.
    feature_dim
        The dim that "F" stands for.
    shape
        `dims` under its older name.
    device
        The device of the result: "cpu" keeps the kind of array, others give a tensor.
    keep_scalar_on_cpu
        Whether a number without dims stays on its device.
    name
        The name in messages.

    Returns
    -------
    Tensor
        A Tensor of the valid values.

    Raises
    ------
    OverflowError
        An int does not fit its dtype.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.convert_to_tensor([3, 1], dims=[vl.Dim("two", 2)]), rf.convert_to_tensor(3)
    (Tensor([two(2)], int64), Tensor([], int32))
    """
    if isinstance(value, Data):
        return on_device(value if dtype is None else value.cast(dtype), device)
    array = value if hasattr(value, "dtype") else np.asarray(value)
    dtype = default_dtype(value) if dtype is None else dtype
    dims = shape if dims is None else dims
    if dims is None:
        dims = [Dim(size, name=f"{name or 'const'}_dim{k}") for k, size in enumerate(array.shape)]
    if type(value) is int and dtype == INT and not -(2**31) <= value < 2**31:
        raise overflow_error(
            "value", f"{value} does not fit {INT}, the dtype of ints", "pass dtype='int64'", number=value
        )
    facts: dict[str, Any] = {"sparse_dim": sparse_dim, "feature_dim": feature_dim}
    data = Data.from_padded(array, dims, name=name, dtype=dtype, **facts)
    return on_device(data, None if keep_scalar_on_cpu and not data.ndim else device)


def default_dtype(value: Any) -> Any:
    """The dtype that RETURNN gives values: their own, or float32 and int32 for a number of Python."""
    if hasattr(value, "dtype"):
        return value.dtype
    dtype = np.asarray(value).dtype
    return {float: FLOAT, int: INT}.get(type(value), dtype)


def on_device(data: Data[Any], device: Any = None) -> Tensor:
    """A Data as a Tensor on a device; arrays become tensors for any but the CPU."""
    if device is None:
        return as_tensor(data)
    if str(device) != "cpu" and isinstance(data.values, np.ndarray):
        data = data.torch()
    return as_tensor(data.to(device))


def needs_tensors(dtype: Any) -> bool:
    """Whether torch, which the caller has loaded, has a dtype of numbers that NumPy lacks here.

    >>> needs_tensors("float32")
    False
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    try:
        as_dtype(dtype, "dtype")
    except TypeError:
        return isinstance(getattr(torch, str(dtype).removeprefix("torch."), None), torch.dtype)
    return False


def with_roles(data: Data[Any], sparse_dim: Dim | None = None, feature_dim: Dim | None = None) -> Tensor:
    """A Data as a Tensor with the roles that are not None."""
    roles: dict[str, Any] = {"sparse_dim": sparse_dim, "feature_dim": feature_dim}
    facts = {word: dim for word, dim in roles.items() if dim is not None}
    return as_tensor(data.copy(**facts) if facts else data)


def number(value: Any, argument: str) -> Any:
    """A number, also of a Tensor without dims."""
    if not isinstance(value, Data):
        return value
    if value.ndim:
        raise value_error(argument, f"expected a number, or a tensor without dims, got {value!r}")
    return value.item()


def copy(tensor: Data[Any]) -> Tensor:
    """Copy the values.

    Parameters
    ----------
    tensor
        Any values.

    Returns
    -------
    Tensor
        The copy, over the same dims; autograd follows a tensor.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.zeros(2), [vl.Dim("two", 2)])
    >>> rf.copy(x).values is x.values
    False
    """
    check_tensor(tensor, "tensor")
    packed = tensor.packed()
    values: Any = packed.values
    own = values.clone() if hasattr(values, "clone") else values.copy()
    return as_tensor(packed._like(own))


def replace_dim(source: Data[Any], *, in_dim: Dim, out_dim: Dim | None = None) -> tuple[Tensor, Dim]:
    """Replace one dim by another.

    Parameters
    ----------
    source
        Any values.
    in_dim
        A dim of `source`.
    out_dim
        A dim of the same lengths, or without lengths; a new one by default.

    Returns
    -------
    tuple of Tensor and Dim
        The result, and the new dim with its lengths.

    Raises
    ------
    LengthMismatchError
        The lengths differ. RETURNN does not check this.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, time])
    >>> rf.replace_dim(x, in_dim=time, out_dim=vl.Dim("heard"))[0]
    Tensor([batch(2), heard(1 to 2)], int64)
    """
    check_tensor(source, "source")
    new = in_dim.copy(name=f"new-{in_dim.name}", same_as_self=False) if out_dim is None else out_dim
    result = source.replace_dim(in_dim, new)
    return as_tensor(result), result.axis(new)


def expand_dims(source: Data[Any], dims: Sequence[Dim]) -> Tensor:
    """Repeat the values over more dims.

    Parameters
    ----------
    source
        Any values.
    dims
        Dims that `source` lacks.

    Returns
    -------
    Tensor
        The values, with these dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.expand_dims(x, [vl.Dim("three", 3), vl.Dim("four", 4)]).ndim
    3
    """
    check_tensor(source, "source")
    result = as_tensor(source)
    for dim in dims:
        result = as_tensor(_dims.expand_dim(result, dim))
    return result
