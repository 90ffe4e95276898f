"""Ufuncs, equality and rectangles: what works on values of containers that nest alike, or down to a level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.arguments import unmasked
from varlen.backends.values import broadcast_rows, is_tensor, like
from varlen.levels import Levels, describe_difference, flatten_levels, same_levels

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from varlen.backends.values import Values
    from varlen.types.ragged import Ragged


def apply(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`ufunc(*inputs, **kwargs)` where one of inputs or outputs is a Ragged: on values, levels shared.

    Another Ragged nests alike, or has fewer levels, which are the outer ones: each of its rows goes to all
    values below it. Scalars go to every value. What an array means depends on how many axes it has, never on
    its sizes: one with as many axes as a row of the values, or fewer, broadcasts against each row; one with
    an axis more gives a row to each sequence, (n, *row); one with the axes of the container has 1 for each
    ragged axis, (n, 1, ..., *row).

    Raises
    ------
    ValueError
        Containers that nest differently, naming the first sequence; arrays that do not fit.

    Examples
    --------
    >>> r = vl.Ragged([1, 2, 3], [2, 1])
    >>> (r + np.array([10, 20])).to_list(), (r * r > 3).to_list()
    ([[11, 12], [23]], [[False, True], [True]])
    >>> deep = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
    >>> (deep - deep.max()).to_list()
    [[[-1, 0], [0]], [[0]]]
    """
    if ufunc is np.matmul and method == "__call__" and not kwargs:
        from varlen.types.product import matmul

        return matmul(*inputs)
    if method != "__call__" or ufunc.signature is not None:
        return NotImplemented
    outs = kwargs.pop("out", None) or ()
    model, room = model_of((*inputs, *outs, kwargs.get("where")))
    for x in inputs:
        if not _is_ragged(x) and not is_tensor(x) and getattr(x, "__array_ufunc__", True) is None:
            return NotImplemented
    given = [operand(x, model, room) for x in inputs]
    if "where" in kwargs:
        kwargs["where"] = operand(kwargs["where"], model, room)
    if outs:
        kwargs["out"] = tuple(None if out is None else _target(out, model) for out in outs)
    if any(is_tensor(x) for x in given):
        from varlen.backends.torch.memory import call

        result = call(ufunc, given, kwargs)
    else:
        result = ufunc(*given, **kwargs)
    if result is NotImplemented or result is None:
        return result
    if not isinstance(result, tuple):
        return outs[0] if outs and outs[0] is not None else model._make(_moved(result), model.levels)
    kept = outs or (None,) * len(result)
    return tuple(
        model._make(_moved(part), model.levels) if out is None else out
        for part, out in zip(result, kept, strict=True)
    )


def equal_values(a: Values, b: Values, equal_nan: bool) -> bool:
    """Whether values have one shape and equal entries.

    Examples
    --------
    >>> nan = np.array([np.nan])
    >>> equal_values(nan, nan, False), equal_values(nan, nan, True)
    (False, True)
    """
    if tuple(a.shape) != tuple(b.shape):
        return False
    if is_tensor(a) != is_tensor(b):
        a, b = (like(x, b) if isinstance(x, np.ndarray) and is_tensor(b) else x for x in (a, b))
        b = like(b, a) if isinstance(b, np.ndarray) else b
    with np.errstate(invalid="ignore"):
        equal: Any = a == b
        if equal_nan and not (isinstance(a, np.ndarray) and a.dtype.kind in "SUV"):
            equal = equal | ((a != a) & (b != b))
    return bool(equal if isinstance(equal, bool) else equal.all())


def as_rectangle(r: Ragged, dtype: DTypeLike | None, copy: bool | None) -> NDArray[Any]:
    """What `np.asarray(r)` gives: an ordinary array, if all sequences of each level are equally long.

    Raises
    ------
    ValueError
        Naming the first sequence of another length.

    Examples
    --------
    >>> np.asarray(vl.Ragged([3, 1, 4, 1], [2, 2]))
    array([[3, 1],
           [4, 1]])
    """
    for d, level in enumerate(r.levels):
        if level.longest != level.shortest:
            i = int((level.lengths != level.lengths[0]).argmax())
            where = f" of level {d}" if len(r.levels) > 1 else ""
            raise ValueError(
                f"a Ragged is no rectangle: sequence {i}{where} has length {level.lengths[i]}, "
                f"sequence 0 has {level.lengths[0]}; use to_dense() to pad, or .values"
            )
    values = r.values.numpy() if is_tensor(r.values) else r.values
    shape = (len(r), *(level.longest for level in r.levels), *values.shape[1:])
    return np.array(values.reshape(shape), dtype=dtype, copy=copy)


def _moved(values: Any) -> Any:
    """Values that a container can hold."""
    if isinstance(values, np.ndarray) and values.dtype.hasobject:
        raise TypeError("operand: the result would hold Python objects, which cannot be moved as bytes")
    return values


def _is_ragged(x: Any) -> bool:
    return hasattr(x, "levels") and hasattr(x, "_make")


def model_of(operands: tuple[Any, ...]) -> tuple[Ragged, int]:
    """The deepest Ragged among operands, and how many trailing axes the widest of them has.

    Examples
    --------
    >>> r = vl.Ragged([3, 1, 4], [2, 1])
    >>> model_of((2, r))[0] is r
    True
    """
    raggeds = [x for x in operands if _is_ragged(x)]
    return max(raggeds, key=lambda r: len(r.levels)), max(r.values.ndim for r in raggeds) - 1


def operand(x: Any, model: Ragged, room: int) -> Any:
    """What stands for an operand beside the values of `model`, whose rows have up to `room` axes.

    Raises
    ------
    ValueError
        A Ragged that nests differently, an array that does not fit.

    Examples
    --------
    >>> r = vl.Ragged([3, 1, 4], [2, 1])
    >>> operand(r, r, 0), operand([10, 20], r, 0), operand(2, r, 0)
    (array([3, 1, 4]), array([10, 10, 20]), 2)
    """
    if _is_ragged(x):
        depth = len(x.levels)
        if not same_levels(x.levels, model.levels[:depth]):
            parted = describe_difference(model.levels[:depth], x.levels)
            raise ValueError(f"the containers nest differently: {parted}")
        return _rows(x.values, model.levels[depth:], room)
    if not is_tensor(x):
        if np.isscalar(x) or x is None:
            return x
        x = np.asarray(unmasked(x, "operand"))
    return x if x.ndim == 0 else _array(x, model, room)


def _rows(x: Any, below: Levels, room: int) -> Any:
    """Rows of the same rank for each value that nests below; their axes stay the outer ones."""
    if x.ndim - 1 < room:
        x = x.reshape((*x.shape, *(1,) * (room + 1 - x.ndim)))
    return broadcast_rows(x, flatten_levels(below)) if below else x


def _array(x: Any, model: Ragged, room: int) -> Any:
    """An array as what broadcasts against the values, by how many axes it has alone."""
    n, depth = len(model), len(model.levels)
    shape = tuple(x.shape)
    if x.ndim <= room:
        return x
    if x.ndim == room + 1:
        rows = x
    elif x.ndim <= room + 1 + depth and all(size == 1 for size in shape[1 : 1 + depth]):
        rows = x.reshape((shape[0], *shape[1 + depth :]))
    else:
        rows = None
    if rows is None or shape[0] not in (n, 1):
        width = "" if room == 0 else f", or up to {room} axes that broadcast against each row"
        raise ValueError(
            f"an array of shape {shape} does not go with {n} sequences of rows with {room} axes: expected "
            f"{room + 1} axes, the first of {n}, a row for each sequence{width}"
        )
    return rows if shape[0] == 1 != n else _rows(rows, model.levels, room)


def _target(out: Any, model: Ragged) -> Any:
    """Where results go: the values of a container that nests alike."""
    if not _is_ragged(out):
        raise TypeError(f"out: expected a Ragged that nests like the inputs, got {type(out).__name__}")
    if not same_levels(out.levels, model.levels):
        raise ValueError(f"out: nests differently: {describe_difference(model.levels, out.levels)}")
    return out.values
