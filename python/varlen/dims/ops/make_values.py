"""Make Data from dims alone: constants, positions and counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen._core import Dim, Shape
from varlen.arguments import SMALLEST, as_array, as_int, one_number_error
from varlen.backends import backend_of
from varlen.dims.axes import describe
from varlen.dims.base import Annotations, check_data, dtype_name, make_data
from varlen.dims.make import bind_by_others, check_defined, check_dim, check_dims, check_facts
from varlen.dims.ops.combine import check_operand, join_dims, unify_kind
from varlen.dims.out_shape import check_out_shape
from varlen.dims.place import align, coordinates, order_of
from varlen.dims.plan_cache import cached_plan
from varlen.errors import naming, value_error

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape


def shape_of(dims: Sequence[Dim]) -> tuple[Shape, tuple[int, ...] | None]:
    """The shape of dims in any order, and their display order."""
    dim_list = check_dims(dims)
    bind_by_others(dim_list)
    for dim in dim_list:
        if not dim.is_defined:
            raise value_error("dims", f"'{dim.name}' of {describe(dim_list)} has no lengths")
        for outer_dim in dim.over:
            if outer_dim not in dim_list:
                raise value_error(
                    "dims",
                    f"'{dim.name}' has lengths over '{outer_dim.name}', which {describe(dim_list)} lacks",
                )
    places = Shape.arranged(dim_list, static_last=True)
    shape = Shape([dim_list[k] for k in places])
    return shape, order_of(shape, dim_list)


def fill(
    value: Any, dims: Sequence[Dim], dtype: Any, like: Data[Any] | None, out_shape: OutShape | None
) -> Data[Any]:
    """One number at each position of dims."""
    shape, order = shape_of(dims)
    if np.ndim(as_array(value, "value")):
        raise one_number_error("value", np.shape(value))
    values: Any = np.full(shape.array_shape, value, np.float64 if dtype is None and like is None else None)
    if like is not None:
        check_data(like, "like")
        values = backend_of(like._values).like(values, like._values)
        values = backend_of(values).cast(values, like._values.dtype if dtype is None else dtype, "dtype")
    elif dtype is not None:
        values = backend_of(values).cast(values, dtype, "dtype")
    return check_out_shape(make_data(values, shape, order), out_shape)


def fill_like(value: Any, x: Data[Any], dtype: Any, out_shape: OutShape | None) -> Data[Any]:
    """One number at each position of a Data."""
    check_data(x, "x")
    return fill(value, x.dims, dtype, x, out_shape)


def _cast(x: Data[Any], dtype: Any) -> Data[Any]:
    return x._like(backend_of(x._values).cast(x._values, dtype, "dtype"))


def full(
    dims: Sequence[Dim],
    value: complex,
    *,
    dtype: DTypeLike | None = None,
    like: Data[Any] | None = None,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """A Data filled with one number.

    Parameters
    ----------
    dims
        As in `zeros`.
    value
        The number.
    dtype
        By default the dtype of `like`; without `like`, that of the number.
    like, out_shape
        As in `zeros`.

    Returns
    -------
    Data
        The filled Data, over `dims`.

    Raises
    ------
    ValueError, OutShapeError
        As in `zeros`.

    Examples
    --------
    >>> vl.dims.full([vl.Dim("two", 2)], 7).values
    array([7, 7])
    """
    if dtype is None and like is None:
        dtype = as_array(value, "value").dtype
    return fill(value, dims, dtype, like, out_shape)


def full_like(
    x: Data[Any], value: complex, *, dtype: DTypeLike | None = None, out_shape: OutShape | None = None
) -> Data[Any]:
    """A Data filled with one number, like another Data.

    Parameters
    ----------
    x
        As in `zeros_like`.
    value
        The number.
    dtype, out_shape
        As in `zeros_like`.

    Returns
    -------
    Data
        The filled Data, over the dims of `x`.

    Raises
    ------
    OutShapeError
        The dims differ from the expected ones.

    Examples
    --------
    >>> vl.dims.full_like(vl.Data(np.array([3, 1]), [vl.Dim("two", 2)]), 7).values
    array([7, 7])
    """
    return fill_like(value, x, dtype, out_shape)


def range_over_dim(
    dim: Dim, *, like: Data[Any] | None = None, out_shape: OutShape | None = None
) -> Data[Any]:
    """The positions along a dim: 0, 1, ... in each row.

    Parameters
    ----------
    dim
        A Dim with lengths.
    like
        A Data whose kind of array and device the result has. By default NumPy's.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The positions, int64 over the dim and the dims that it depends on; the dim is their `sparse_dim`.

    Raises
    ------
    ValueError
        A dim has no lengths.

    Notes
    -----
    As RETURNN's `range_over_dim`, which returns the positions of the longest row, over the dim alone.

    Examples
    --------
    >>> vl.dims.range_over_dim(vl.Dim("time", lengths=[3, 0, 2])).to_list()
    [[0, 1, 2], [], [0, 1]]
    """
    check_dim(dim)
    check_defined(dim, "dim")
    shape = Shape([*_with_over(dim), dim])
    values: Any = coordinates(shape, shape.rank - 1)
    values = np.ascontiguousarray(np.broadcast_to(values, shape.array_shape))
    if like is not None:
        check_data(like, "like")
        values = backend_of(like._values).like(values, like._values)
    return check_out_shape(make_data(values, shape, None, Annotations(sparse_dim=dim)), out_shape)


def _with_over(dim: Dim) -> list[Dim]:
    """The dims that a dim depends on, directly or not."""
    result: list[Dim] = []
    for outer_dim in dim.over:
        result += [x for x in (*_with_over(outer_dim), outer_dim) if x not in result]
    return result


def arange(
    dim: Dim,
    start: float = 0,
    step: float = 1,
    *,
    dtype: DTypeLike | None = None,
    like: Data[Any] | None = None,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Evenly spaced numbers along a dim, with the same start in each row.

    Parameters
    ----------
    dim
        A Dim with lengths.
    start
        The first number.
    step
        The difference between two neighbours.
    dtype
        By default the dtype of the numbers.
    like
        A Data whose kind of array and device the result has. By default NumPy's.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The numbers, over the dim and the dims that it depends on. If they are its positions, as integers, the
        dim is their `sparse_dim`.

    Raises
    ------
    ValueError
        A dim has no lengths.

    See Also
    --------
    range_over_dim

    Examples
    --------
    >>> vl.dims.arange(vl.Dim("time", lengths=[3, 1]), 10, 5).to_list()
    [[10, 15, 20], [10]]
    """
    result = range_over_dim(dim, like=like)
    check_operand(start, "start")
    check_operand(step, "step")
    for word, number in (("start", start), ("step", step)):
        if type(number) is int:
            as_int(number, word, SMALLEST)
    if (start, step) != (0, 1):
        result = result * step + start
        result = result._with_facts(sparse_dim=None)
    if dtype is not None:
        result = _cast(result, dtype)
        is_integer = "int" in dtype_name(result.dtype)
        result = result if is_integer else result._with_facts(sparse_dim=None)
    return check_out_shape(result, out_shape)


def one_hot(
    x: Data[Any],
    dim: Dim | None = None,
    *,
    dtype: DTypeLike | None = None,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Encode classes one-hot, along one more dim: 1 at the class of each integer, 0 elsewhere.

    Parameters
    ----------
    x
        Integers.
    dim
        The dim of the classes; by default `x.sparse_dim`. Its lengths may depend on dims of `x`.
    dtype
        By default float32.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The encoding, over the dims of `x`, then the classes, which are its `feature_dim`.

    Raises
    ------
    TypeError
        `x` does not hold integers.
    ValueError
        There is neither a `sparse_dim` nor a `dim`, or an integer is not a position of it (checked on the
        host).

    Notes
    -----
    As RETURNN's `one_hot`.

    Examples
    --------
    >>> words = vl.Dim("words", 3)
    >>> x = vl.Data(np.array([2, 0]), [vl.dims.batch_dim], sparse_dim=words)
    >>> vl.dims.one_hot(x).to_list()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    check_data(x, "x")
    classes = x._facts.sparse_dim if dim is None else dim
    if classes is None:
        raise value_error("x", f"{x!r} has no sparse_dim", "pass dim=")
    with naming(sparse_dim="dim"):
        check_facts(x, Annotations(sparse_dim=classes), "one_hot: x")
    plan = _split_classes(x._shape, x._order, classes)
    numbers, places = unify_kind([align(x._values, x._shape, plan.shape), plan.places])
    values = backend_of(numbers).cast(numbers == places, np.float32 if dtype is None else dtype, "dtype")
    return check_out_shape(
        make_data(values, plan.shape, plan.order, Annotations(feature_dim=plan.classes)), out_shape
    )


class _Classes(NamedTuple):
    """The positions along a dim of classes, aligned with integers, and the dims of both."""

    places: Any
    shape: Shape
    order: tuple[int, ...] | None
    classes: Dim


@cached_plan
def _split_classes(shape: Shape, order: tuple[int, ...] | None, classes: Dim) -> _Classes:
    places = range_over_dim(classes)
    target, user_order = join_dims((make_data(None, shape, order), places), "one_hot", True)
    numbers = align(places._values, places._shape, target)
    return _Classes(numbers, target, user_order, target.dims[target.find(classes)])


def num_elements_of_shape(dims: Sequence[Dim]) -> int | Data[Any]:
    """The number of valid positions of some dims.

    Parameters
    ----------
    dims
        Dims with lengths.

    Returns
    -------
    int or Data
        The number; if lengths depend on dims that are not given, int64 over those.

    Raises
    ------
    ValueError
        A dim has no lengths, or appears twice.

    Notes
    -----
    As RETURNN's `num_elements_of_shape`.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[3, 0, 2])
    >>> vl.dims.num_elements_of_shape([vl.dims.batch_dim, time])
    5
    >>> vl.dims.num_elements_of_shape([time, vl.Dim("two", 2)]).values
    array([6, 0, 4])
    """
    dim_list = check_dims(dims)
    outer: list[Dim] = []
    for dim in dim_list:
        outer += [x for x in _with_over(dim) if x not in dim_list and x not in outer]
    shape, _ = shape_of([*outer, *dim_list])
    if not outer:
        return shape.count(shape.rank)
    _, _, level, _, rest = shape.group([k for k, dim in enumerate(shape.dims) if dim not in outer])
    lengths = level.lengths.copy()
    if len(lengths) != rest.count(rest.rank):  # trailing axes of what is left are no sequences of their own
        lengths = np.repeat(lengths, rest.count(rest.rank) // max(len(lengths), 1))
    return make_data(lengths.reshape(rest.array_shape), rest)


def last_frame_position_of_dim(
    dim: Dim, *, like: Data[Any] | None = None, out_shape: OutShape | None = None
) -> Data[Any]:
    """The last position of each row of a dim; -1 for an empty row.

    Parameters
    ----------
    dim
        A Dim with lengths.
    like
        A Data whose kind of array and device the result has. By default NumPy's.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The positions, int64 over the dims that `dim` depends on; `dim` is their `sparse_dim`.

    Raises
    ------
    ValueError
        A dim has no lengths.

    Notes
    -----
    As RETURNN's `last_frame_position_of_dim`, which returns 0 for an empty row.

    Examples
    --------
    >>> vl.dims.last_frame_position_of_dim(vl.Dim("time", lengths=[3, 0, 2])).values
    array([ 2, -1,  1])
    """
    check_dim(dim)
    check_defined(dim, "dim")
    shape = Shape(dim.over)
    lengths = np.asarray(dim.size if dim.is_static else dim.lengths, np.int64)
    values: Any = (lengths - 1).reshape(shape.array_shape)
    if like is not None:
        check_data(like, "like")
        values = backend_of(like._values).like(values, like._values)
    return check_out_shape(make_data(values, shape, None, Annotations(sparse_dim=dim)), out_shape)
