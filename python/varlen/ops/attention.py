"""Sequences pooled by attention: their rows added up, by shares that their scores say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from varlen._core import RaggedBase
from varlen.backends import backend_of
from varlen.backends.numeric import numbers
from varlen.backends.values import as_values, one_device
from varlen.errors import instance_error, value_error
from varlen.levels import check_nest
from varlen.ops.reduce import wrap_units
from varlen.ops.support.inputs import regroup, units_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen._core import Level
    from varlen.backends.values import ArrayT, Lengths, Rows, RowsT, SequencesLike, Values


@overload
def attention_pool(
    X: RaggedBase[ArrayT],
    scores: SequencesLike,
    lengths: None = None,
    *,
    level: int = -1,
    temperature: float = 1.0,
) -> ArrayT | Any: ...
@overload
def attention_pool(
    X: RowsT | Sequence[Any],
    scores: SequencesLike,
    lengths: Lengths,
    *,
    level: int = -1,
    temperature: float = 1.0,
) -> RowsT: ...
def attention_pool(
    X: Any, scores: SequencesLike, lengths: Any = None, *, level: int = -1, temperature: float = 1.0
) -> Rows:
    """The sum of each sequence's rows, weighted by the softmax of their scores.

    Parameters
    ----------
    X
        (total, ...) numbers, an array or a tensor, or a Ragged.
    scores
        (total,), or (total, heads): a sum for each head. Or a Ragged of these that nests as X.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    level
        The level whose sequences become one row each, together with all that nests below it; -1 is the
        innermost.
    temperature
        The divisor of the scores.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        The weighted sums: (n, ...), with heads (n, heads, ...), for more levels a Ragged of those above;
        zeros for a sequence without rows. The dtype is the common float dtype of X and the scores; integers
        give float64.

    Raises
    ------
    TypeError, ValueError
        The values are not numbers, the scores have another shape, or the lengths do not add up to the rows.
    IndexError
        There is no such level.

    See Also
    --------
    softmax, reduce_sum, backprop_attention_pool

    Notes
    -----
    Equals `reduce_sum(softmax(scores)[..., None] * X)`, but reads X once and makes nothing of its size.
    Weights are float32, or float64 for float64; sums are added as in `reduce_sum`. Autograd follows tensors,
    any number of times.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> vl.ops.attention_pool(X, np.array([0.0, 0.0, 7.0]), [2, 0, 1])
    array([[2., 3.],
           [0., 0.],
           [5., 6.]])
    """
    values, units, outer_levels = units_of(X, lengths, level)
    rows, weights, _ = _attention_weights(X, values, scores, units, temperature)
    sums = backend_of(rows).weighted_sum(weights, rows.reshape(rows.shape[0], _size(values)), units)
    return wrap_units(X, sums.reshape(_shape(sums.shape[0], values, scores)), outer_levels)


@overload
def backprop_attention_pool(
    dY: SequencesLike,
    X: RaggedBase[ArrayT],
    scores: SequencesLike,
    lengths: None = None,
    *,
    temperature: float = 1.0,
) -> tuple[RaggedBase[ArrayT], ArrayT]: ...
@overload
def backprop_attention_pool(
    dY: SequencesLike,
    X: RowsT | Sequence[Any],
    scores: SequencesLike,
    lengths: Lengths,
    *,
    temperature: float = 1.0,
) -> tuple[RowsT, RowsT]: ...
def backprop_attention_pool(
    dY: SequencesLike, X: Any, scores: Any, lengths: Any = None, *, temperature: float = 1.0
) -> tuple[Any, Any]:
    """The gradients of `attention_pool`, from the gradient of its result.

    Parameters
    ----------
    dY
        (n, ...), or (n, heads, ...).
    X, scores, lengths, temperature
        The arguments of `attention_pool`.

    Returns
    -------
    tuple
        The gradient of X, a Ragged if X is one, and the gradient of the scores, in their shape.

    Raises
    ------
    TypeError, ValueError
        As in `attention_pool`; or `dY` has another shape than its result.

    Examples
    --------
    >>> dX, d = vl.ops.backprop_attention_pool(np.ones(1), np.array([1.0, 3.0]), np.zeros(2), [2])
    >>> dX, d
    (array([0.5, 0.5]), array([-0.5,  0.5]))
    """
    values, units, _ = units_of(X, lengths)
    rows, weights, heads = _attention_weights(X, values, scores, units, temperature)
    backend = backend_of(rows)
    gradient = numbers(as_values(dY, "dY"), "dY")
    one_device(gradient, "dY", values, "X")
    if isinstance(gradient, np.ndarray):
        gradient = backend.like(gradient, rows)
    elif isinstance(rows, np.ndarray):
        raise instance_error("dY", "an array, as X is", dY)
    shape = _shape(len(units), values, scores)
    if tuple(gradient.shape) != shape:
        raise value_error("dY", f"expected shape {shape}, got {tuple(gradient.shape)}")
    size = _size(values)
    d = backend.to_dtype(gradient, weights.dtype).reshape(len(units), heads, size)
    d_values = backend.weighted_sum_to_values(d, weights, units, rows.dtype).reshape(values.shape)
    d_weights = backend.weighted_sum_to_weights(d, rows.reshape(rows.shape[0], size), units)
    d_scores = backend.backprop_softmax(d_weights, weights, units, False, temperature)
    is_ragged = isinstance(X, RaggedBase)
    return regroup(X, d_values, X._levels) if is_ragged else d_values, d_scores.reshape(_rows(scores).shape)


def _attention_weights(
    X: SequencesLike, values: Values, scores: SequencesLike, units: Level, temperature: float
) -> tuple[Any, Any, int]:
    """The rows and the weights (total, heads) in what is computed in, and how many heads there are."""
    if isinstance(scores, RaggedBase):
        nest = X._levels if isinstance(X, RaggedBase) else (units,)
        check_nest(scores._levels, nest, "scores")
    marks = _rows(scores)
    one_device(marks, "scores", values, "X")
    if marks.ndim not in (1, 2) or marks.shape[0] != values.shape[0]:
        count = values.shape[0]
        raise value_error(
            "scores", f"expected ({count},) or ({count}, heads) for {count} rows, got {tuple(marks.shape)}"
        )
    rows, wide = backend_of(values, marks).weighable(values, marks)
    heads = 1 if marks.ndim == 1 else marks.shape[1]
    weights = backend_of(rows).softmax(wide.reshape(wide.shape[0], heads), units, False, temperature)
    return rows, weights, heads


def _rows(scores: SequencesLike) -> Any:
    return scores._values if isinstance(scores, RaggedBase) else as_values(scores, "scores")


def _size(values: Values) -> Any:
    """Numbers of a row."""
    size = 1
    for extent in values.shape[1:]:
        size *= extent
    return size


def _shape(count: object, values: Values, scores: SequencesLike) -> tuple[Any, ...]:
    """Of the result: with an axis of heads where the scores have one."""
    return (count, *_rows(scores).shape[1:], *values.shape[1:])
