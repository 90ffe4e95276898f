"""The operands of arithmetic on the values of a container: other containers, arrays and numbers."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import tracing
from varlen._core import RaggedBase
from varlen.backends import backend_of
from varlen.backends.values import broadcast_rows, one_device
from varlen.errors import name_item, value_error
from varlen.levels import Levels, find_difference, flatten_levels, same_levels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from varlen.types import Ragged

_SCALARS = (int, float, complex, np.generic, str, bytes, numbers.Number)  # as np.isscalar has it


def align(inputs: Iterable[Any], others: tuple[Any, ...] = ()) -> tuple[Any, int, list[Any]]:
    """The deepest Ragged among inputs and others, how many trailing axes the widest of them has, and what
    stands for each input beside it.
    """
    model: Any = None
    axes = 0
    for x in (*inputs, *others):
        if isinstance(x, RaggedBase):
            axes = max(axes, x._values.ndim)
            if model is None or len(x._levels) > len(model._levels):
                model = x
    operands: list[Any] = []
    for x in inputs:
        if x is model and x._values.ndim == axes:
            operands.append(x._values)
        else:
            operands.append(x if type(x) in (int, float) else operand(x, model, axes - 1))
    return model, axes - 1, operands


def operand(x: Any, model: Ragged[Any], row_ndim: int) -> Any:
    """An operand as what broadcasts against the values of `model`, whose rows have up to `row_ndim` axes."""
    if isinstance(x, RaggedBase):
        rows, depth = x._values, len(x._levels)
        one_device(rows, "operand", model._values, "another operand")
        if x is not model and not same_levels(x._levels, model._levels[:depth]):
            difference, row = find_difference(model._levels[:depth], x._levels)
            raise value_error("", f"the containers nest differently: {difference}", row=row)
        if x is not model:
            _check_rows(rows.shape[1:], model, "rows of shape")
        if depth == len(model._levels) and rows.ndim == row_ndim + 1:
            return rows
        return _rows(rows, model._levels[depth:], row_ndim)
    if x is None or isinstance(x, _SCALARS):
        return x
    try:
        x = backend_of(x).as_array(x, "operand")
    except (TypeError, ValueError) as error:
        raise name_item(error, "") from None  # operands have no names
    one_device(x, "operand", model._values, "another operand")
    return x if x.ndim == 0 else _array(x, model, row_ndim)


def _check_rows(shape: Any, model: Ragged[Any], what: str) -> None:
    """Refuse what does not broadcast against each row, and say how a number is given to each sequence."""
    row = tuple(model._values.shape[1:])
    if tracing.is_tracing() or shape == row:
        return
    if all(a in (b, 1) or b == 1 for a, b in zip(shape[::-1], row[::-1], strict=False)):
        return
    n = len(model._levels[0])
    way = f"; a number for each of {n} sequences is x[:, None]" if tuple(shape) == (n,) else ""
    raise value_error("", f"{what} {tuple(shape)} cannot broadcast against each row, of shape {row}{way}")


def _rows(x: Any, inner_levels: Levels, row_ndim: int) -> Any:
    """Rows of the same rank for each value that nests below; their axes stay the outer ones."""
    if x.ndim - 1 < row_ndim:
        x = x.reshape((*x.shape, *(1,) * (row_ndim + 1 - x.ndim)))
    return broadcast_rows(x, flatten_levels(inner_levels)) if inner_levels else x


def _array(x: Any, model: Ragged[Any], row_ndim: int) -> Any:
    """An array as what broadcasts against the values; only the number of its axes decides."""
    n, depth = tracing.count_of(model._levels[0]), len(model._levels)
    shape = tuple(x.shape)
    if x.ndim <= row_ndim:
        _check_rows(shape, model, "an array of shape")
        return x
    if x.ndim == row_ndim + 1:
        rows = x
    elif x.ndim <= row_ndim + 1 + depth and all(size == 1 for size in shape[1 : 1 + depth]):
        rows = x.reshape((shape[0], *shape[1 + depth :]))
    else:
        rows = None
    if rows is None or shape[0] not in (n, 1):
        width = "" if row_ndim == 0 else f", or up to {row_ndim} axes that broadcast against each row"
        raise value_error(
            "",
            f"an array of shape {shape} does not match {n} sequences of rows with {row_ndim} axes: "
            f"expected {row_ndim + 1} axes, the first of {n}, a row for each sequence{width}",
        )
    return rows if shape[0] == 1 != n else _rows(rows, model._levels, row_ndim)
