"""Tensors of arrays, dtypes and more dims, as RETURNN's frontend names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import dims
from varlen.dims import Data, Dim
from varlen.returnn.tensor import Tensor, as_tensor

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


def convert_to_tensor(
    value: Any,
    *,
    dims: Sequence[Dim] = (),
    dtype: DTypeLike | None = None,
    sparse_dim: Dim | None = None,
    name: str | None = None,
) -> Tensor:
    """A rectangle as a Tensor; a Tensor as itself.

    Parameters
    ----------
    value
        A number, an array or a tensor; padding is dropped.
    dims
        A Dim for each axis.
    dtype
        Values of another dtype are cast. By default arrays and tensors keep theirs; floats of Python are
        float32, ints int32.
    sparse_dim
        The Dim that integers are positions of.
    name
        What messages call it.

    Returns
    -------
    Tensor
        Of the valid values.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.convert_to_tensor([3, 1], dims=[vl.Dim("two", 2)])
    Tensor([two(2)], int32)
    """
    if isinstance(value, Data):
        return as_tensor(value)
    array = value if hasattr(value, "dtype") else np.asarray(value)
    dtype = default_dtype(value) if dtype is None else dtype
    data = Data.from_padded(array, dims, name=name, dtype=dtype, sparse_dim=sparse_dim)
    return as_tensor(data)


def default_dtype(value: Any) -> Any:
    """The dtype that RETURNN gives values: their own, or float32 and int32 for numbers of Python.

    Examples
    --------
    >>> default_dtype(0.5), default_dtype([3, 1]), default_dtype(np.float64(1)), default_dtype(True)
    ('float32', 'int32', dtype('float64'), dtype('bool'))
    """
    if hasattr(value, "dtype"):
        return value.dtype
    dtype = np.asarray(value).dtype
    return {"f": "float32", "i": "int32"}.get(dtype.kind, dtype)


def cast(tensor: Data[Any], dtype: DTypeLike) -> Tensor:
    """Values of another dtype.

    Parameters
    ----------
    tensor
        Any values.
    dtype
        A name, or a dtype of NumPy or torch.

    Returns
    -------
    Tensor
        Over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.cast(vl.Data(np.array([3, 1]), [vl.Dim("two", 2)]), "float32").dtype
    dtype('float32')
    """
    return as_tensor(tensor.cast(dtype))


def copy_to_device(x: Data[Any], device: str) -> Tensor:
    """The same with values on a device.

    Parameters
    ----------
    x
        Of tensors; arrays are on the CPU alone.
    device
        "cpu", "cuda" and so on.

    Returns
    -------
    Tensor
        Of the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.copy_to_device(vl.Data(np.array([3, 1]), [vl.Dim("two", 2)]), "cpu").device
    'cpu'
    """
    return as_tensor(x.to(device))


def expand_dim(source: Data[Any], dim: Dim) -> Tensor:
    """The same, repeated over one more dim.

    Parameters
    ----------
    source
        Any values.
    dim
        A dim that it lacks.

    Returns
    -------
    Tensor
        With that dim.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.expand_dim(vl.Data(np.array([3, 1]), [vl.Dim("two", 2)]), vl.Dim("three", 3)).ndim
    2
    """
    return as_tensor(dims.expand_dim(source, dim))


def expand_dims(source: Data[Any], dims: Sequence[Dim]) -> Tensor:
    """The same, repeated over more dims.

    Parameters
    ----------
    source
        Any values.
    dims
        Dims that it lacks.

    Returns
    -------
    Tensor
        With these dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.expand_dims(x, [vl.Dim("three", 3), vl.Dim("four", 4)]).ndim
    3
    """
    result = as_tensor(source)
    for dim in dims:
        result = expand_dim(result, dim)
    return result
