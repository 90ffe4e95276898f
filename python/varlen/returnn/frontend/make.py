"""Tensors over given dims, as RETURNN's frontend names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from varlen import dims as _dims
from varlen.backends.values import is_tensor
from varlen.dims import Data, Dim
from varlen.errors import value_error
from varlen.returnn.frontend.convert import FLOAT, default_dtype, needs_tensors, on_device, with_roles
from varlen.returnn.frontend.math import where
from varlen.returnn.frontend.operands import check_tensor
from varlen.returnn.frontend.reduce import check_alone
from varlen.returnn.tensor import Tensor

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


def range_over_dim(dim: Dim, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """The positions in a dim, counted from 0.

    Parameters
    ----------
    dim
        A dim with lengths.
    dtype
        The dtype of the integers; int64 by default.
    device
        The device of the result.

    Returns
    -------
    Tensor
        The positions, over the dim and the dims that it depends on, without padding.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.range_over_dim(vl.Dim("time", lengths=[3, 1])).to_list()
    [[0, 1, 2], [0]]
    """
    result = _dims.range_over_dim(dim)
    return on_device(result if dtype is None else result.cast(dtype), device)


def zeros(
    dims: Sequence[Dim],
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    sparse_dim: Dim | None = None,
    feature_dim: Dim | None = None,
    like: Data[Any] | None = None,
) -> Tensor:
    """Make a Tensor of zeros.

    Parameters
    ----------
    dims
        Dims with lengths.
    dtype
        The dtype of the values; float32 by default, or that of `like`.
    device
        The device of the result: "cpu" gives an array, others a tensor.
    sparse_dim
        The Dim that they index.
    feature_dim
        The dim that "F" stands for.
    like
        A tensor that gives the kind of array, the device and the dtype by default.

    Returns
    -------
    Tensor
        A Tensor over these dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.zeros([vl.Dim("two", 2)], dtype="int64").to_list()
    [0, 0]
    """
    if like is not None:
        check_tensor(like, "like")
    out_dtype = FLOAT if dtype is None and like is None else dtype
    facts: dict[str, Any] = {"sparse_dim": sparse_dim, "feature_dim": feature_dim, "like": like}
    return full(dims=dims, fill_value=0, dtype=out_dtype, device=device, **facts)


def ones(
    dims: Sequence[Dim],
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    sparse_dim: Dim | None = None,
    feature_dim: Dim | None = None,
    like: Data[Any] | None = None,
) -> Tensor:
    """Make a Tensor of ones.

    Parameters
    ----------
    dims, dtype, device, sparse_dim, feature_dim, like
        As in `zeros`.

    Returns
    -------
    Tensor
        A Tensor over these dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.ones([vl.Dim("two", 2)], dtype="int64").to_list()
    [1, 1]
    """
    if like is not None:
        check_tensor(like, "like")
    out_dtype = FLOAT if dtype is None and like is None else dtype
    facts: dict[str, Any] = {"sparse_dim": sparse_dim, "feature_dim": feature_dim, "like": like}
    return full(dims=dims, fill_value=1, dtype=out_dtype, device=device, **facts)


def full(
    *,
    dims: Sequence[Dim],
    fill_value: Any,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    sparse_dim: Dim | None = None,
    feature_dim: Dim | None = None,
    like: Data[Any] | None = None,
) -> Tensor:
    """Make a Tensor filled with one number.

    Parameters
    ----------
    dims
        Dims with lengths.
    fill_value
        The number, or a tensor over none or some of these dims.
    dtype
        The dtype of the values; by default that of `like`. Without `like`, a Python float gives float32, an
        int int32, a bool bool, and a number with a dtype its own.
    device, sparse_dim, feature_dim, like
        As in `zeros`.

    Returns
    -------
    Tensor
        A Tensor over these dims; autograd follows a tensor.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.full(dims=[vl.Dim("two", 2)], fill_value=7, dtype="int64").to_list()
    [7, 7]
    """
    if like is not None:
        check_tensor(like, "like")
    if like is not None:
        dtype = like._values.dtype if dtype is None else dtype
        mask = _dims.full(dims, True, like=like, dtype="bool")
        result = _dims.where(mask, fill_value, fill_value, broadcast=True).cast(dtype)
    elif isinstance(fill_value, Data):
        value = fill_value if dtype is None else fill_value.cast(dtype)
        result = _dims.where(_dims.full(dims, False), value, value, broadcast=True)
    else:
        kind = default_dtype(fill_value) if dtype is None else dtype
        if needs_tensors(kind):
            result = _dims.full(dims, fill_value).torch().cast(kind)
        else:
            result = _dims.full(dims, fill_value, dtype=kind)
    return on_device(with_roles(result, sparse_dim, feature_dim), device)


def constant(
    fill_value: Any,
    *,
    dims: Sequence[Dim],
    dtype: DTypeLike | None = None,
    device: str | None = None,
    sparse_dim: Dim | None = None,
    feature_dim: Dim | None = None,
    like: Data[Any] | None = None,
) -> Tensor:
    """Make a Tensor filled with one number, like `full`.

    Parameters
    ----------
    fill_value, dims, dtype, device, sparse_dim, feature_dim, like
        As in `full`.

    Returns
    -------
    Tensor
        A Tensor over these dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.constant(7, dims=[vl.Dim("two", 2)]).to_list()
    [7, 7]
    """
    if like is not None:
        check_tensor(like, "like")
    facts: dict[str, Any] = {"sparse_dim": sparse_dim, "feature_dim": feature_dim, "like": like}
    return full(dims=dims, fill_value=fill_value, dtype=dtype, device=device, **facts)


def sequence_mask(
    dims: Dim | Sequence[Dim], *, device: str | None = None, like: Data[Any] | None = None
) -> Tensor:
    """The mask of the valid positions in a rectangle of dims.

    Parameters
    ----------
    dims
        Dims with lengths.
    device, like
        As in `zeros`.

    Returns
    -------
    Tensor
        Bools over these dims and the dims that they depend on: True at all valid positions, and False in the
        padding of its `raw_tensor`.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.sequence_mask(vl.Dim("time", lengths=[2, 1])).raw_tensor
    array([[ True,  True],
           [ True, False]])
    """
    if like is not None:
        check_tensor(like, "like")
    dim_list = [dims] if isinstance(dims, Dim) else list(dims)
    outer_dims = [dim for inner in dim_list for dim in _dims.range_over_dim(inner).dims]
    mask_dims = list(dict.fromkeys([*outer_dims, *dim_list]))
    return on_device(_dims.full(mask_dims, True, like=like, dtype="bool"), device)


def sparse_to_dense(
    labels: Data[Any], *, label_value: Any, other_value: Any, axis: Dim | None = None
) -> Tensor:
    """Put one value at the class of each position, and another at the other classes.

    Parameters
    ----------
    labels
        Classes.
    label_value, other_value
        Numbers or tensors.
    axis
        The dim of the classes; `sparse_dim` by default.

    Returns
    -------
    Tensor
        The values, with the dim of the classes.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([2, 0]), [vl.Dim("two", 2)], sparse_dim=vl.Dim("words", 3))
    >>> rf.sparse_to_dense(x, label_value=7, other_value=-1).to_list()
    [[-1, -1, 7], [7, -1, -1]]
    """
    check_tensor(labels, "labels")
    is_label = _dims.one_hot(labels, axis, dtype=bool)
    return where(is_label, label_value, other_value, allow_broadcast_all_sources=True)


def num_elements_of_shape(
    dims: Dim | Sequence[Dim],
    *,
    use_mask: bool = True,
    device: str | None = None,
    source: Data[Any] | None = None,
    distributed: bool = False,
) -> int | Tensor:
    """The number of valid positions of some dims.

    Parameters
    ----------
    dims
        Dims with lengths.
    use_mask
        Accepted for compatibility: padding has no positions.
    device
        The device of the counts, if they are a tensor; by default that of `source`.
    source
        The tensor whose positions are counted; it has all these dims.
    distributed
        Must be False: the count covers this process alone.

    Returns
    -------
    int or Tensor
        A number; integers over other dims if a dim depends on dims that are not given.

    Raises
    ------
    ValueError
        `distributed` is True, or `source` lacks a dim.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> rf.num_elements_of_shape([vl.dims.batch_dim, time]), rf.num_elements_of_shape(time).values
    (4, array([3, 1]))
    """
    if source is not None:
        check_tensor(source, "source")
    check_alone(distributed)
    dim_list = [dims] if isinstance(dims, Dim) else list(dims)
    if source is not None:
        missing = [dim for dim in dim_list if dim not in source.dims_set]
        if missing:
            raise value_error("source", f"{source!r} lacks '{missing[0].name}'")
        dim_list = [source.axis(dim) for dim in dim_list]
    count = _dims.num_elements_of_shape(dim_list)
    if source is not None and isinstance(count, Data) and is_tensor(source.values):
        count = count.torch().to(source.device)
    return on_device(count, device) if isinstance(count, Data) else count
