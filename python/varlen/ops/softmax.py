"""Softmax inside sequences, its logarithm, and the gradients of both."""

from __future__ import annotations

from typing import Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.backends.values import as_values, is_tensor
from varlen.ops.inputs import rows_and_level
from varlen.types import Ragged
from varlen.types.softmaxes import softened


def softmax_sequences(
    Xs: Any,
    lengths: Any = None,
    *,
    inplace: bool = False,
    axis: int = 0,
    temperature: float = 1.0,
    out: Any = None,
) -> Any:
    """Exponentials of the rows of each sequence, as shares of their sum, column by column.

    Parameters
    ----------
    Xs
        (total, ...) numbers or bools, an array or a tensor, or a `Ragged`, whose innermost level is taken.
    lengths
        (n,) integers, or a `Level`; none beside a Ragged.
    inplace
        Write into Xs, C-contiguous floats, and give it back.
    axis
        What adds up to one. 0, the default: the rows of each sequence, for every column. Another axis of the
        values: the numbers along it, as NumPy counts axes, each row for itself whatever the lengths.
    temperature
        What Xs is divided by, 1e-30 to 1e30: above 1 the shares draw near each other, below 1 apart.
    out
        Of the result's shape and dtype, C-contiguous: filled and given back.

    Returns
    -------
    (total, ...): floats of the same dtype, float64 for integers and bools. A Ragged for a Ragged.

    Raises
    ------
    TypeError, ValueError
        Values that are no numbers, lengths that are negative or do not add up to the rows, a temperature that
        is not above zero; with `inplace` an array that is read-only, not contiguous or not of floats.
    IndexError
        An axis that the values do not have.

    See Also
    --------
    log_softmax_sequences, backprop_softmax_sequences

    Notes
    -----
    As Thinc's `Ops.softmax_sequences`, which clips to [-20, 20] in the place of subtracting the largest, and
    takes `inplace` and `axis` without heed: what it gives is that of axis 0. NaN and +inf make their column
    of the sequence NaN, and so does nothing but -inf; beside other numbers -inf gives 0. Float16 and bfloat16
    are computed in float32. A sequence gives the same bits alone, in a batch and with any number of threads.

    Examples
    --------
    >>> vl.ops.softmax_sequences(np.array([0.0, 0.0, 3.0]), [2, 1])
    array([0.5, 0.5, 1. ])
    >>> vl.ops.softmax_sequences(np.array([[0.0, 0.0], [1.0, 1.0]]), [1, 1], axis=-1)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    return _softmax(Xs, lengths, False, inplace, axis, temperature, out)


def log_softmax_sequences(
    Xs: Any,
    lengths: Any = None,
    *,
    inplace: bool = False,
    axis: int = 0,
    temperature: float = 1.0,
    out: Any = None,
) -> Any:
    """The logarithm of `softmax_sequences`, without its rounding: no share is too small for it.

    Parameters
    ----------
    Xs, lengths, inplace, axis, temperature, out
        As those of `softmax_sequences`.

    Returns
    -------
    (total, ...): dtypes as those of `softmax_sequences`.

    Raises
    ------
    TypeError, ValueError, IndexError
        As those of `softmax_sequences`.

    Examples
    --------
    >>> vl.ops.log_softmax_sequences(np.array([0.0, 1000.0, 3.0]), [2, 1])
    array([-1000.,     0.,     0.])
    """
    return _softmax(Xs, lengths, True, inplace, axis, temperature, out)


def backprop_softmax_sequences(
    dY: Any, Y: Any, lengths: Any = None, *, axis: int = 0, temperature: float = 1.0, out: Any = None
) -> Any:
    """The gradient of `softmax_sequences`: Y dY - Y sum(Y dY), over the temperature.

    Parameters
    ----------
    dY
        (total, ...) floats, an array or a tensor, or a `Ragged`, whose innermost level is taken.
    Y
        What `softmax_sequences` gave, of the shape and dtype of dY.
    lengths
        (n,) integers, or a `Level`; none where dY is a Ragged.
    axis, temperature
        As they were given to `softmax_sequences`.
    out
        Of the shape and dtype of dY, C-contiguous: filled and given back.

    Raises
    ------
    TypeError, ValueError
        Other numbers than floats, shapes or dtypes that differ, and what `softmax_sequences` refuses.

    Notes
    -----
    As Thinc's `Ops.backprop_softmax_sequences`.

    Examples
    --------
    >>> vl.ops.backprop_softmax_sequences(np.array([1.0, 0.0, 1.0]), np.array([0.5, 0.5, 1.0]), [2, 1])
    array([ 0.25, -0.25,  0.  ])
    """
    return _back(dY, Y, lengths, False, axis, temperature, out)


def backprop_log_softmax_sequences(
    dY: Any, Y: Any, lengths: Any = None, *, axis: int = 0, temperature: float = 1.0, out: Any = None
) -> Any:
    """The gradient of `log_softmax_sequences`: dY - exp(Y) sum(dY), over the temperature.

    Parameters
    ----------
    dY, Y, lengths, axis, temperature, out
        As those of `backprop_softmax_sequences`, Y being what `log_softmax_sequences` gave.

    Raises
    ------
    TypeError, ValueError
        As those of `backprop_softmax_sequences`.

    Examples
    --------
    >>> Y = vl.ops.log_softmax_sequences(np.zeros(2), [2])
    >>> vl.ops.backprop_log_softmax_sequences(np.array([1.0, 0.0]), Y, [2])
    array([ 0.5, -0.5])
    """
    return _back(dY, Y, lengths, True, axis, temperature, out)


def _softmax(X: Any, lengths: Any, log: bool, inplace: bool, axis: int, temperature: float, out: Any) -> Any:
    values, level = rows_and_level(X, lengths, "Xs")
    if inplace:
        if out is not None:
            raise TypeError("out: there is none where Xs is written in place")
        values = _contiguous(X.values if isinstance(X, Ragged) else X, "Xs")
    elif out is not None:
        out = _contiguous(out, "out")
    shape = values.shape
    rows, cut = _along(values, level, axis)
    into = out
    if rows is not values and out is not None and out.shape == shape:
        into = out.reshape(rows.shape)
    result = softened(rows, cut, log, temperature, into, inplace)
    if inplace:
        return X
    return _as_given(X, result.reshape(shape) if out is None else out)


def _back(dY: Any, Y: Any, lengths: Any, log: bool, axis: int, temperature: float, out: Any) -> Any:
    values, level = rows_and_level(dY, lengths, "dY")
    given = as_values(Y.values if isinstance(Y, Ragged) else Y, "Y")
    if given.shape != values.shape:
        raise ValueError(f"Y: expected the shape of dY, {tuple(values.shape)}, got {tuple(given.shape)}")
    shape = values.shape
    rows, cut = _along(values, level, axis)
    into = out
    if rows is not values:
        given = given.reshape(rows.shape)
        if out is not None and _contiguous(out, "out").shape == shape:
            into = out.reshape(rows.shape)
    if is_tensor(rows):
        from varlen.backends.torch.softmax import backprop_softmax

        result = backprop_softmax(rows, given, cut, log, temperature, into)
    else:
        result = _core.backprop_softmax(rows, given, cut, log, temperature, into)
    return _as_given(dY, result.reshape(shape) if out is None else out)


def _as_given(X: Any, result: Any) -> Any:
    return X._make(result, X.levels) if isinstance(X, Ragged) else result


def _along(values: Any, level: Level, axis: int) -> tuple[Any, Level]:
    """Rows and the level whose sequences are what stands along an axis."""
    depth = len(values.shape)
    if not -depth <= axis < depth:
        raise IndexError(f"axis: {axis} is out of range for {depth} axes")
    at = axis % depth
    if at == 0:
        return values, level
    shape = tuple(values.shape)
    before = int(np.prod(shape[:at]))
    rows = values.reshape(before * shape[at], *shape[at + 1 :])
    return rows, Level.from_lengths(np.full(before, shape[at]))


def _contiguous(array: Any, argument: str) -> Any:
    """An array or tensor that a view of other shape can be written through."""
    if is_tensor(array):
        whole = array.is_contiguous()
    elif isinstance(array, np.ndarray):
        whole = array.flags.c_contiguous
    else:
        raise TypeError(f"{argument}: expected an array, got {type(array).__name__}")
    if not whole:
        raise ValueError(f"{argument}: is not C-contiguous")
    return array
