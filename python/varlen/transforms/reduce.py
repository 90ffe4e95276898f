"""Layers that make one row of each sequence, and the one that puts neighbours beside each row."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from varlen import ops
from varlen.arguments import as_int
from varlen.backends.values import is_array
from varlen.transforms.convert import as_ragged
from varlen.transforms.kinds import check_gradient
from varlen.transforms.layer import Backprop, Layer


def reduce_sum(*, empty: Any = 0) -> Layer:
    """The sum of each sequence's rows: (n, ...) for a Ragged, a Padded or a list of n sequences.

    Parameters
    ----------
    empty
        What a sequence without rows gives; None refuses such a sequence.

    Returns
    -------
    Layer
        Y is an array, or for a nested Ragged, whose innermost sequences are taken, a Ragged of the levels
        above. The gradient is of the kind of X.

    Notes
    -----
    As Thinc's `reduce_sum`, but trailing axes stay.

    Examples
    --------
    >>> Y, backprop = vl.transforms.reduce_sum()(vl.Ragged([1.0, 2.0, 3.0], [2, 1]), True)
    >>> Y, backprop(Y).to_list()
    (array([3., 3.]), [[3.0, 3.0], [3.0]])
    """
    return Layer("reduce_sum", partial(_reduce, _sum, empty))


def reduce_mean(*, empty: Any = 0) -> Layer:
    """The mean of each sequence's rows: (n, ...) for a Ragged, a Padded or a list of n sequences.

    Parameters
    ----------
    empty
        What a sequence without rows gives; None refuses such a sequence.

    Returns
    -------
    Layer
        Y and the gradient are of the kinds that `reduce_sum` gives. Floats keep their dtype; integers give
        float64.

    Notes
    -----
    As Thinc's `reduce_mean`, but trailing axes stay.

    Examples
    --------
    >>> Y, backprop = vl.transforms.reduce_mean()(vl.Ragged([1.0, 2.0, 3.0], [2, 1]), True)
    >>> Y, backprop(Y).to_list()
    (array([1.5, 3. ]), [[0.75, 0.75], [3.0]])
    """
    return Layer("reduce_mean", partial(_reduce, _mean, empty))


def reduce_max(*, empty: Any = None) -> Layer:
    """The largest number of each sequence, column by column: (n, ...) for n sequences.

    The gradient goes to the first row that holds it.

    Parameters
    ----------
    empty
        What a sequence without rows gives; None, the default, refuses such a sequence.

    Returns
    -------
    Layer
        Y and the gradient are of the kinds that `reduce_sum` gives, and of the dtype of X.

    Notes
    -----
    As Thinc's `reduce_max`, but trailing axes stay.

    Examples
    --------
    >>> Y, backprop = vl.transforms.reduce_max()(vl.Ragged([1.0, 2.0, 3.0], [2, 1]), True)
    >>> Y, backprop(Y).to_list()
    (array([2., 3.]), [[0.0, 2.0], [3.0]])
    """
    return Layer("reduce_max", partial(_reduce, _max, empty))


def reduce_first(*, empty: Any = None) -> Layer:
    """The first row of each sequence: (n, ...) for a Ragged, a Padded or a list of n sequences.

    Parameters
    ----------
    empty
        What a sequence without rows gives, a number or a row; None, the default, refuses such a sequence.

    Returns
    -------
    Layer
        Y and the gradient are of the kinds that `reduce_sum` gives. Rows may be of any dtype.

    Notes
    -----
    As Thinc's `reduce_first`, but trailing axes stay.

    Examples
    --------
    >>> Y, backprop = vl.transforms.reduce_first()(vl.Ragged([1.0, 2.0, 3.0], [2, 1]), True)
    >>> Y, backprop(Y).to_list()
    (array([1., 3.]), [[1.0, 0.0], [3.0]])
    """
    return Layer("reduce_first", partial(_reduce, _first_rows, empty))


def reduce_last(*, empty: Any = None) -> Layer:
    """The last row of each sequence: (n, ...) for a Ragged, a Padded or a list of n sequences.

    Parameters
    ----------
    empty
        What a sequence without rows gives, a number or a row; None, the default, refuses such a sequence.

    Returns
    -------
    Layer
        Y and the gradient are of the kinds that `reduce_sum` gives. Rows may be of any dtype.

    Notes
    -----
    As Thinc's `reduce_last`, but trailing axes stay.

    Examples
    --------
    >>> Y, backprop = vl.transforms.reduce_last()(vl.Ragged([1.0, 2.0, 3.0], [2, 1]), True)
    >>> Y, backprop(Y).to_list()
    (array([2., 3.]), [[0.0, 2.0], [3.0]])
    """
    return Layer("reduce_last", partial(_reduce, _last_rows, empty))


def expand_window(window_size: int = 1) -> Layer:
    """Join each row with `window_size` neighbours on either side; a layer around `ops.seq2col`.

    Places outside the row's own sequence are zero.

    Parameters
    ----------
    window_size
        Neighbours on either side, 0 or more.

    Returns
    -------
    Layer
        A Ragged, a Padded, a list or a tuple comes out as what it was, with rows of
        (2 * window_size + 1) * width numbers; an array is one sequence.

    Raises
    ------
    ValueError
        A window_size below 0.

    Notes
    -----
    As Thinc's `expand_window`, which takes a Ragged or an array.

    Examples
    --------
    >>> vl.transforms.expand_window(1).predict(vl.Ragged([1, 2, 3], [2, 1])).to_list()
    [[[0, 1, 2], [1, 2, 0]], [[0, 3, 0]]]
    """
    return Layer("expand_window", partial(_window, as_int(window_size, "window_size")))


Reduced = tuple[Any, Callable[[Any], Any]]


def _sum(values: Any, level: Any, empty: Any) -> Reduced:
    return ops.reduce_sum(values, level, empty=empty), lambda d: ops.backprop_reduce_sum(d, level)


def _mean(values: Any, level: Any, empty: Any) -> Reduced:
    return ops.reduce_mean(values, level, empty=empty), lambda d: ops.backprop_reduce_mean(d, level)


def _max(values: Any, level: Any, empty: Any) -> Reduced:
    result, which = ops.reduce_max(values, level, empty=empty, which=True)
    return result, lambda d: ops.backprop_reduce_max(d, which, level)


def _first_rows(values: Any, level: Any, empty: Any) -> Reduced:
    result = ops.reduce_first(values, level, empty=empty)
    return result, lambda d: ops.backprop_reduce_first(d, level)


def _last_rows(values: Any, level: Any, empty: Any) -> Reduced:
    result = ops.reduce_last(values, level, empty=empty)
    return result, lambda d: ops.backprop_reduce_last(d, level)


def _reduce(
    op: Callable[[Any, Any, Any], Reduced], empty: Any, X: Any, is_train: bool
) -> tuple[Any, Backprop]:
    r, leave = as_ragged(X)
    rows, back = op(r.values, r.levels[-1], empty)
    above = r.levels[:-1]
    Y = r._make(rows, above) if above else rows

    def backprop(dY: Any) -> Any:
        check_gradient(dY, Y)
        return leave(r._make(back(dY.values if above else dY), r.levels))

    return Y, backprop


def _window(nW: int, X: Any, is_train: bool) -> tuple[Any, Backprop]:
    if is_array(X):
        return _run_window(X, None, nW, lambda values: values, lambda d: d)
    r, leave = as_ragged(X)
    return _run_window(
        r.values,
        r.levels[-1],
        nW,
        lambda values: leave(r._make(values, r.levels)),
        lambda d: as_ragged(d)[0].values,
    )


def _run_window(
    values: Any, level: Any, nW: int, leave: Callable[[Any], Any], enter: Callable[[Any], Any]
) -> tuple[Any, Backprop]:
    Y = leave(ops.seq2col(values, nW, lengths=level))
    shape = values.shape

    def backprop(dY: Any) -> Any:
        check_gradient(dY, Y)
        return leave(ops.backprop_seq2col(enter(dY), nW, lengths=level).reshape(shape))

    return Y, backprop
