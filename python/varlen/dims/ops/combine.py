"""Elementwise operations, whose operands line up by their dims."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Shape
from varlen.arguments import as_bool, one_of
from varlen.backends import backend_of
from varlen.dims.axes import describe, every_place, quote_names
from varlen.dims.base import NO_FACTS, Annotations, check_data, is_data, make_data, positions_or_none
from varlen.dims.errors import LengthMismatchError
from varlen.dims.make import check_defined, check_dim, check_dims
from varlen.dims.operators import for_every_dtype
from varlen.dims.out_shape import check_out_shape
from varlen.dims.place import align, order_of
from varlen.errors import error_of, instance_error, name_place, type_error, value_error

if TYPE_CHECKING:
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape

_NUMBERS = (int, float, complex, np.generic)

# Names of operations: those of Python, of NumPy's ufuncs and of RETURNN.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "+": for_every_dtype(operator.add),
    "-": for_every_dtype(operator.sub),
    "*": for_every_dtype(operator.mul),
    "/": for_every_dtype(operator.truediv),
    "//": for_every_dtype(operator.floordiv),
    "%": for_every_dtype(operator.mod),
    "**": for_every_dtype(operator.pow),
    "&": for_every_dtype(operator.and_),
    "|": for_every_dtype(operator.or_),
    "^": for_every_dtype(operator.xor),
    "<": for_every_dtype(operator.lt),
    "<=": for_every_dtype(operator.le),
    ">": for_every_dtype(operator.gt),
    ">=": for_every_dtype(operator.ge),
    "==": for_every_dtype(operator.eq),
    "!=": for_every_dtype(operator.ne),
}
_SYMBOLS = {
    "add": "+",
    "sub": "-",
    "subtract": "-",
    "mul": "*",
    "multiply": "*",
    "truediv": "/",
    "true_divide": "/",
    "divide": "/",
    "floordiv": "//",
    "floor_divide": "//",
    "mod": "%",
    "remainder": "%",
    "pow": "**",
    "power": "**",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "equal": "==",
    "not_equal": "!=",
}
_UFUNCS = {
    "max": "maximum",
    "maximum": "maximum",
    "min": "minimum",
    "minimum": "minimum",
    "logical_and": "logical_and",
    "logical_or": "logical_or",
    "logical_xor": "logical_xor",
    "logaddexp": "logaddexp",
    "arctan2": "arctan2",
    "hypot": "hypot",
    "fmod": "fmod",
    "copysign": "copysign",
}


def combine(
    op: str,
    *operands: Data[Any] | complex,
    order: Sequence[Axis] | None = None,
    broadcast: bool = False,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Combine two or more operands elementwise; an operand without a dim is repeated over it.

    Parameters
    ----------
    op
        "+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "maximum",
        "minimum", "logical_and", "logical_or", "logaddexp", "squared_difference", or the name of one of
        these, as "add".
    *operands
        Data or numbers. More than two are combined from the left.
    order
        All dims of the result, in their order. By default those of the first operand, then those that each
        next operand adds.
    broadcast
        If True, the result may have more dims than any operand.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The result, over the dims of all operands.

    Raises
    ------
    ValueError
        No operand has all dims, and `broadcast` is not set.
    LengthMismatchError
        A dim has different lengths in two operands.
    OutShapeError
        The dims differ from the expected ones.
    TypeError
        An operand is an array, whose axes have no names.

    Notes
    -----
    As RETURNN's `combine`, whose `allow_broadcast_all_sources` is called `broadcast` here.

    Examples
    --------
    >>> time, feature = vl.Dim("time", lengths=[2, 1]), vl.Dim("feature", 2)
    >>> x = vl.Data(np.arange(3), [vl.dims.batch_dim, time])
    >>> w = vl.Data(np.array([1, 10]), [feature])
    >>> vl.dims.combine("*", x, w, broadcast=True).to_list()
    [[[0, 0], [1, 10]], [[2, 20]]]
    """
    if len(operands) < 2:
        raise type_error("operands", f"expected two or more, got {len(operands)}")
    for i, x in enumerate(operands):
        check_operand(x, f"operands[{i}]")
    function = _function_of(op, operands)
    result: Any = operands[0]
    for other in operands[1:]:
        result = _combine(function, result, other, op, as_bool(broadcast, "broadcast"))
    if not is_data(result):
        raise type_error("operands", "expected a Data among them")
    if order is not None:
        result = result._reorder_dims(every_place(result, order))
    return check_out_shape(result, out_shape)


def _function_of(op: str, operands: Sequence[object]) -> Callable[[Any, Any], Any]:
    if isinstance(op, str) and op in ("squared_difference", "squared_diff"):
        return lambda a, b: (a - b) * (a - b)
    one_of(op, "op", sorted([*_SYMBOLS, *_FUNCTIONS, *_UFUNCS]))
    symbol = _SYMBOLS.get(op, op)
    if symbol in _FUNCTIONS:
        return _FUNCTIONS[symbol]
    backend = backend_of(*[x._values for x in operands if is_data(x)])
    return lambda a, b: backend.ufunc(_UFUNCS[op], [a, b], {})


def operands(function: Callable[[Any, Any], Any], a: object, b: object, name: str) -> Any:
    """The result of a Python operator, or NotImplemented."""
    if not (is_operand(a) and is_operand(b)):
        other = b if is_data(a) else a
        if hasattr(other, "shape"):
            raise error_of(
                TypeError,
                "",
                f"the axes of an array of shape {tuple(other.shape)} have no names",
                "make it a Data(array, dims)",
                context=name,
            )
        return NotImplemented
    return _combine(function, a, b, name, False)


def is_operand(x: object) -> bool:
    """Whether it is a Data, or a number of Python, NumPy or torch."""
    return is_data(x) or isinstance(x, _NUMBERS) or (hasattr(x, "shape") and tuple(x.shape) == ())


def check_operand(x: object, argument: str) -> None:
    """Refuse anything but a Data or a number."""
    if not is_operand(x):
        raise instance_error(argument, "a Data or a number", x)


def _combine(function: Callable[[Any, Any], Any], a: object, b: object, name: str, broadcast: bool) -> Any:
    if not is_data(b):
        if not is_data(a):
            return function(a, b)
        return make_data(
            function(a._values, _number(b, name, a)), a._shape, a._order, _computed_facts(a._facts)
        )
    if not is_data(a):
        return make_data(
            function(_number(a, name, b), b._values), b._shape, b._order, _computed_facts(b._facts)
        )
    shape, order = join_dims((a, b), name, broadcast)
    x, y = lined_up((a, b), shape)
    return make_data(function(x, y), shape, order, _computed_facts(agree(a._facts, b._facts)))


def _number(x: Any, name: str, like: Data[Any]) -> Any:
    """A number as an operand; beside tensors, a NumPy number becomes a Python number."""
    check_operand(x, name)
    is_foreign = isinstance(x, (np.ndarray, np.generic)) and not isinstance(like._values, np.ndarray)
    return x.item() if is_foreign else x


def _computed_facts(facts: Annotations) -> Annotations:
    """The annotations of computed numbers, which are no longer positions of a dim."""
    return facts if facts is NO_FACTS else facts._replace(name=None, sparse_dim=None)


def agree(a: Annotations, b: Annotations) -> Annotations:
    """The annotations of both operands, or of the one that has them."""
    if a is NO_FACTS and b is NO_FACTS:
        return NO_FACTS

    def one(x: object, y: object) -> Any:
        return x if y is None or x is y or (x is not None and x == y) else y if x is None else None

    return Annotations(
        sparse_dim=one(a.sparse_dim, b.sparse_dim),
        feature_dim=one(a.feature_dim, b.feature_dim),
        time_dim=one(a.time_dim, b.time_dim),
        beam=a.beam if a.beam is not None else b.beam,
        available_for_inference=a.available_for_inference and b.available_for_inference,
    )


def join_dims(parts: Sequence[Data[Any]], name: str, broadcast: bool) -> tuple[Shape, tuple[int, ...] | None]:
    """The shape of the dims of all operands, and their display order."""
    first = parts[0]
    shape = first._shape
    try:
        for other in parts[1:]:
            shape = shape.join(other._shape)
    except LengthMismatchError as error:
        raise name_place(error, name, LengthMismatchError) from None
    if not broadcast and all(x._shape.rank < shape.rank for x in parts):
        texts = " and ".join(describe(x.dims) for x in parts)
        hint = "if you want the outer product, pass broadcast=True to dims.combine"
        if namesakes := _namesakes(shape.dims):
            hint += f"; {quote_names(namesakes, 'and')} is a different dim in each (see Dim.declare_same_as)"
        raise value_error("", f"no operand has all dims of {texts}", hint, context=name)
    if shape is first._shape:
        return shape, first._order
    dims = list(first.dims)
    for other in parts[1:]:
        dims += [dim for dim in other.dims if not any(dim == x for x in dims)]
    if len(dims) != shape.rank:  # a dim twice: the order in which the values lie
        return shape, None
    return shape, order_of(shape, dims)


def _namesakes(dims: Sequence[Dim]) -> list[Dim]:
    """Dims that have the name of an earlier one."""
    names = [dim.name for dim in dims]
    return [dim for k, dim in enumerate(dims) if dim.name in names[:k] and dim not in dims[:k]]


def lined_up(parts: Sequence[Data[Any]], shape: Shape) -> list[Any]:
    """The values of operands as they broadcast against those of a shape, of one kind of array."""
    return unify_kind([align(x._values, x._shape, shape) for x in parts])


def unify_kind(values: list[object]) -> list[Any]:
    """Values of one kind of array: NumPy arrays become the other kind if there is one."""
    like = next((x for x in values if not isinstance(x, np.ndarray)), None)
    if like is not None:
        backend = backend_of(like)
        values = [backend.like(x, like) if isinstance(x, np.ndarray) else x for x in values]
    return values


def where(
    condition: Data[Any],
    a: Data[Any] | complex,
    b: Data[Any] | complex,
    *,
    broadcast: bool = False,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Choose numbers from one operand where a condition holds, else from another.

    Parameters
    ----------
    condition
        Bools: True takes from `a`, False from `b`.
    a, b
        Data or numbers.
    broadcast
        If True, the result may have more dims than any of the three.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The result, over the dims of all operands.

    Raises
    ------
    ValueError
        None of the three has all dims, and `broadcast` is not set.
    LengthMismatchError
        A dim has different lengths in two operands.

    Examples
    --------
    >>> x = vl.Data(np.arange(3), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
    >>> vl.dims.where(x > 0, x, -1).to_list()
    [[-1, 1], [2]]
    """
    check_data(condition, "condition")
    args = [condition, *[x for x in (a, b) if is_data(x)]]
    shape, order = join_dims(args, "where", as_bool(broadcast, "broadcast"))
    values = iter(lined_up(args, shape))
    mask = next(values)
    choices = [
        next(values) if is_data(x) else _number(x, name, condition) for x, name in ((a, "a"), (b, "b"))
    ]
    backend = backend_of(mask)
    facts = [x._facts for x in (a, b) if is_data(x)]
    result = make_data(backend.where(mask, *choices), shape, order)
    if len(facts) == 2:
        result._facts = positions_or_none(result._values, agree(*facts))
    return check_out_shape(result, out_shape)


def compatible_to(data: Data[Any], dims: Sequence[Dim], expand: bool) -> Data[Any]:
    """As `Data.compatible_to`."""
    dim_list = check_dims(dims)
    missing = [dim for dim in data.dims if dim not in dim_list]
    if missing:
        raise value_error(
            "dims",
            f"{quote_names(missing, 'and')} of {describe(data.dims)} is not among {describe(dim_list)}",
        )
    if as_bool(expand, "expand"):
        for dim in dim_list:
            if data._shape.find(dim) < 0:
                data = expand_dim(data, dim)
    return data._reorder_dims([data._shape.find(dim) for dim in dim_list if data._shape.find(dim) >= 0])


def with_dims_of(data: Data[Any], dims: Sequence[Dim]) -> Data[Any]:
    """The same values, repeated over the dims that they lack."""
    for dim in dims:
        if data._shape.find(dim) < 0:
            data = expand_dim(data, dim)
    return data


def expand_dim(data: Data[Any], dim: Dim, *, out_shape: OutShape | None = None) -> Data[Any]:
    """Repeat the numbers over a new dim. Rarely needed: operands line up by themselves.

    Parameters
    ----------
    data
        Values of any dtype, which are repeated.
    dim
        A Dim with lengths, which `data` lacks. Dims that its lengths depend on are added too.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The values over the dims of `data`, then the new ones.

    Raises
    ------
    ValueError
        `data` already has the dim, or the dim has no lengths.

    Examples
    --------
    >>> x = vl.Data(np.array([1, 2]), [vl.dims.batch_dim])
    >>> vl.dims.expand_dim(x, vl.Dim("time", lengths=[2, 1])).to_list()
    [[1, 1], [2]]
    """
    check_data(data, "data")
    check_dim(dim)
    if data._shape.find(dim) >= 0:
        raise value_error("dim", f"'{dim.name}' is in {describe(data.dims)} already")
    check_defined(dim, "dim")
    new = [*[x for x in dim.over if data._shape.find(x) < 0], dim]
    dims = [*data.dims, *new]
    order = Shape.arranged(dims)
    shape = Shape([dims[k] for k in order])
    backend = backend_of(data._values)
    values = align(data._values, data._shape, shape)
    if tuple(values.shape) != shape.array_shape:
        times = [
            1 if have == want else want for have, want in zip(values.shape, shape.array_shape, strict=True)
        ]
        values = backend.tile(values, tuple(times))
    return check_out_shape(make_data(values, shape, order_of(shape, dims), data._facts), out_shape)
