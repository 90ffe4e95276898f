"""Convolve each row with the rows behind it, column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen._core import Level
from varlen.backends import backend_of
from varlen.backends.numeric import as_of, as_row_dtype, conjugate, gradient_as, numbers, widen_halves
from varlen.backends.values import as_values
from varlen.errors import value_error
from varlen.ops.support.inputs import units_of
from varlen.sequence.inputs import gradient_rows
from varlen.tracing import eager_only
from varlen.types import Ragged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import RowsLike, SameT, SequencesLike, Values


@eager_only()
def row_conv(input: SameT | Sequence[Any], filter: RowsLike, *, level: int = -1) -> SameT:
    """Convolve each row with the rows that follow it: each is multiplied by a filter row, then added up.

    Parameters
    ----------
    input
        `Ragged` of rows (T, D); or an array or a tensor (n, T, D), n sequences of T rows; floats, or
        complex numbers.
    filter
        (1 + future, D): the first row applies to the row itself, the second to the next one, and so on. Rows
        after the end of a sequence count as zero.
    level
        The level whose sequences are convolved; levels below it are merged. -1 is the innermost.

    Returns
    -------
    Ragged, numpy.ndarray or torch.Tensor
        Of the shape and structure of `input`. Float16 and bfloat16 are added up in float32.

    Raises
    ------
    ValueError
        The filter has no rows, or another width.
    TypeError
        `input` is neither a Ragged nor such an array, an argument does not hold numbers, or arrays and
        tensors are mixed.
    IndexError
        There is no such level.

    Notes
    -----
    As Paddle's `row_conv`, which makes the filter itself from future_context_size, refuses empty sequences,
    and does not check the width of the filter.

    Examples
    --------
    >>> r = vl.Ragged([[1.0], [2.0], [3.0]], [2, 1])
    >>> vl.row_conv(r, np.array([[1.0], [10.0]])).values.ravel()
    array([21.,  2.,  3.])
    """
    r, shape = _sequences_of(input)
    filter = _filter_of_rows(r, filter)
    values, units, _ = units_of(r, None, level)
    rows, taps = widen_halves(numbers(values, "input", True)), widen_halves(filter)
    backend = backend_of(rows)
    result = backend.ufunc("multiply", [rows, taps[0]], {})
    for k in range(1, len(taps)):
        term = backend.ufunc("multiply", [backend.shift(rows, units, -k), taps[k]], {})
        result = backend.ufunc("add", [result, term], {})
    result = as_of(result, values, filter)
    return cast("SameT", r._make(result, r.levels) if shape is None else result.reshape(shape))


def backprop_row_conv(
    dY: SequencesLike, input: SameT | Sequence[Any], filter: RowsLike, *, level: int = -1
) -> tuple[SameT, Values]:
    """The gradients of `row_conv`, for the input and the filter.

    Parameters
    ----------
    dY
        The gradient of the result of `row_conv`, in its structure; or its rows.
    input, filter, level
        The arguments of `row_conv`.

    Returns
    -------
    d_input : Ragged, numpy.ndarray or torch.Tensor
        Of the structure and dtype of `input`.
    d_filter : numpy.ndarray or torch.Tensor
        (1 + future, D), of the dtype of `filter`.

    Raises
    ------
    ValueError, TypeError, IndexError
        As in `row_conv`; or dY has another shape or nesting, or is an array beside tensors.

    Examples
    --------
    >>> r = vl.Ragged([[1.0], [2.0], [3.0]], [2, 1])
    >>> dx, dfilter = vl.sequence.backprop_row_conv(np.ones((3, 1)), r, np.array([[1.0], [10.0]]))
    >>> dx.values.ravel(), dfilter.ravel()
    (array([ 1., 11.,  1.]), array([6., 2.]))
    """
    r, shape = _sequences_of(input)
    filter = _filter_of_rows(r, filter)
    values, units, _ = units_of(r, None, level)
    numbers(values, "input", True)
    gradient = as_row_dtype(_rows_of_gradient(dY, r, shape), "dY", values)
    rows, d, weights = widen_halves(values), widen_halves(gradient), conjugate(widen_halves(filter))
    dX, taps = d * weights[0], [(conjugate(rows) * d).sum(0)]
    for k in range(1, len(weights)):
        dX = dX + backend_of(d).shift(d, units, k) * weights[k]
        taps.append((conjugate(backend_of(rows).shift(rows, units, -k)) * d).sum(0))
    dX = gradient_as(dX, values, gradient, filter)
    d_filter = backend_of(d).concat([tap[None] for tap in taps])
    d_filter = gradient_as(d_filter, filter, values, gradient)
    d_input: Any = r._make(dX, r.levels) if shape is None else dX.reshape(shape)
    return d_input, d_filter


def _sequences_of(input: SequencesLike) -> tuple[Ragged[Any], tuple[int, ...] | None]:
    """A Ragged as it is, a rectangle as sequences of one length, and its shape."""
    if isinstance(input, Ragged):
        return input, None
    block = as_values(input, "input")
    if block.ndim != 3:
        raise value_error("input", f"expected a Ragged or (n, T, D), got shape {tuple(block.shape)}")
    n, length, width = block.shape
    level = Level.from_lengths(np.full(n, length))
    return Ragged._make(block.reshape(n * length, width), (level,)), tuple(block.shape)


def _filter_of_rows(r: Ragged[Any], value: object) -> Any:
    expected = tuple(r.values.shape[1:])
    filter = as_row_dtype(value, "filter", r.values)
    if tuple(filter.shape[1:]) != expected or not len(filter):
        raise value_error(
            "filter", f"expected one row or more of shape {expected}, got {tuple(filter.shape)}"
        )
    return filter


def _rows_of_gradient(dY: SequencesLike, r: Ragged[Any], shape: tuple[int, ...] | None) -> Any:
    """The rows of a gradient of the result of `row_conv`, a Ragged or a rectangle."""
    inner = tuple(r.values.shape[1:])
    if shape is not None and not isinstance(dY, Ragged):
        rows = as_values(dY, "dY")
        if tuple(rows.shape) not in (shape, (r.total, *inner)):
            raise value_error("dY", f"expected shape {shape}, got {tuple(rows.shape)}")
        return rows.reshape(r.values.shape)
    return gradient_rows(dY, r.total, r.levels, inner=inner)
