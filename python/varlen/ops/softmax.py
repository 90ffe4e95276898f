"""Softmax inside sequences, its logarithm, and the gradients of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen._core import RaggedBase
from varlen.arguments import as_bool, axis_of, check_output
from varlen.backends import backend_of
from varlen.errors import instance_error, name_argument, type_error, value_error
from varlen.ops.support.axes import in_line
from varlen.ops.support.inputs import rows_along, rows_of, same_kind, units_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import Lengths, Output, SameT, SequencesLike


def backprop_softmax(
    dY: SameT | Sequence[Any],
    Y: Any,
    lengths: Lengths | None = None,
    *,
    axis: int | None = None,
    level: int = -1,
    temperature: float = 1.0,
    out: Any = None,
) -> SameT:
    """The gradient of `softmax`: Y dY - Y sum(Y dY), over the temperature.

    Parameters
    ----------
    dY
        (total, ...) floats, an array or a tensor, or a `Ragged`.
    Y
        The result of `softmax`, of the shape and dtype of dY.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis, level, temperature
        The arguments of `softmax`.
    out
        Of the shape and dtype of dY, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, ...), the gradient of X, of the dtype of dY. A Ragged if dY is one.

    Raises
    ------
    TypeError, ValueError
        The values are not floats, shapes or dtypes differ; or as in `softmax`.

    Notes
    -----
    As Thinc's `Ops.backprop_softmax_sequences`.

    Examples
    --------
    >>> vl.ops.backprop_softmax(np.array([1.0, 0.0, 1.0]), np.array([0.5, 0.5, 1.0]), [2, 1])
    array([ 0.25, -0.25,  0.  ])
    """
    result: SameT = _softmax_gradient(dY, Y, lengths, False, axis, level, temperature, out)
    return result


def backprop_log_softmax(
    dY: SameT | Sequence[Any],
    Y: Any,
    lengths: Lengths | None = None,
    *,
    axis: int | None = None,
    level: int = -1,
    temperature: float = 1.0,
    out: Any = None,
) -> SameT:
    """The gradient of `log_softmax`: dY - exp(Y) sum(dY), over the temperature.

    Parameters
    ----------
    dY
        As in `backprop_softmax`.
    Y
        The result of `log_softmax`, of the shape and dtype of dY.
    lengths, axis, level, temperature, out
        As in `backprop_softmax`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, ...), the gradient of X, of the dtype of dY. A Ragged if dY is one.

    Raises
    ------
    TypeError, ValueError
        As in `backprop_softmax`.

    Examples
    --------
    >>> Y = vl.ops.log_softmax(np.zeros(2), [2])
    >>> vl.ops.backprop_log_softmax(np.array([1.0, 0.0]), Y, [2])
    array([ 0.5, -0.5])
    """
    result: SameT = _softmax_gradient(dY, Y, lengths, True, axis, level, temperature, out)
    return result


def exponentiate(
    X: Any,
    lengths: Any,
    log: bool,
    axis: int | None,
    level: int,
    temperature: float,
    out: Any,
    inplace: bool,
) -> Any:
    """Softmax inside the sequences of a level or along an axis, or its logarithm."""
    if out is not None:
        check_output(out, X, lengths)
    if inplace is not False and as_bool(inplace, "inplace"):
        if out is not None:
            raise type_error("out", "leave it out with inplace=True, which writes into X")
        if not isinstance(X, RaggedBase) and not hasattr(X, "dtype"):
            raise instance_error("X", "an array to write in place", X)
        if rows_of(X, "X") is not (X._values if isinstance(X, RaggedBase) else X):
            raise value_error(
                "X", "is not C-contiguous, so it cannot be written in place; pass a contiguous copy"
            )
    if axis is None:
        values, units, _ = units_of(X, lengths, level)
        result = backend_of(values).softmax(values, units, log, temperature, out, inplace)
    else:
        if inplace:
            out = rows_of(X, "X")
        values, units, restore = _rows_in_line(X, lengths, axis, level)
        result = restore(backend_of(values).softmax(values, units, log, temperature))
        try:
            result = result if out is None else backend_of(result).assign(out, result)
        except (TypeError, ValueError) as error:
            raise name_argument(error, **({"out": "X"} if inplace else {})) from None
    return X if inplace else same_kind(X, result)


def _softmax_gradient(
    dY: SequencesLike,
    Y: SequencesLike,
    lengths: Any,
    log: bool,
    axis: int | None,
    level: int,
    temperature: float,
    out: Output | None,
) -> Any:
    if out is not None:
        check_output(out, dY, Y, lengths)
    gradient, y = rows_of(dY, "dY"), rows_of(Y, "Y")
    if y.shape != gradient.shape:
        raise value_error("Y", f"expected the shape of dY, {tuple(gradient.shape)}, got {tuple(y.shape)}")
    if axis is None:
        rows, units, _ = units_of(dY, lengths, level, "dY")
        result = backend_of(rows).backprop_softmax(rows, y, units, log, temperature, out)
    else:
        rows, units, restore = _rows_in_line(dY, lengths, axis, level, "dY")
        y = _rows_in_line(same_kind(dY, y), lengths, axis, level, "Y")[0]
        result = restore(backend_of(rows).backprop_softmax(rows, y, units, log, temperature))
        result = result if out is None else backend_of(result).assign(out, result)
    return same_kind(dY, result)


def _rows_in_line(X: SequencesLike, lengths: Lengths, axis: int, level: int, argument: str = "X") -> Any:
    values, levels = rows_along(X, lengths, axis, level, argument)
    return in_line(values, levels, axis_of(axis, len(levels) + values.ndim))
