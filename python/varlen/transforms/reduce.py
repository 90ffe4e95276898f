"""Layers that reduce each sequence to one row, and a layer that joins each row with its neighbours."""

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


def expand_window(window_size: int = 1) -> Layer:
    """Join each row with `window_size` neighbours on either side; a layer around `ops.seq2col`.

    Places outside the row's own sequence are zero.

    Parameters
    ----------
    window_size
        The number of neighbours on either side, 0 or more.

    Returns
    -------
    Layer
        It returns the type that it gets: a Ragged, a Padded, a list or a tuple, with rows of (2 * window_size
        + 1) * width numbers. An array is one sequence.

    Raises
    ------
    ValueError
        `window_size` is below 0.

    Notes
    -----
    Like Thinc's `expand_window`, which takes a Ragged or an array.

    Examples
    --------
    >>> vl.transforms.expand_window(1).predict(vl.Ragged([1, 2, 3], [2, 1])).to_list()
    [[[0, 1, 2], [1, 2, 0]], [[0, 3, 0]]]
    """
    return Layer("expand_window", partial(_window, as_int(window_size, "window_size")))


def reduce_rows(name: str, empty: Any, X: Any, is_train: bool) -> tuple[Any, Backprop]:
    """One row of each sequence, by the verb `ops.reduce_<name>`, and its gradient."""
    r, leave = as_ragged(X)
    level, outer_levels = r.levels[-1], r.levels[:-1]
    verb, gradient = getattr(ops, f"reduce_{name}"), getattr(ops, f"backprop_reduce_{name}")
    places = []
    if name == "max":
        rows, *places = verb(r.values, level, empty=empty, which=True)
    else:
        rows = verb(r.values, level, empty=empty)
    Y = r._make(rows, outer_levels) if outer_levels else rows

    def backprop(dY: Any) -> Any:
        check_gradient(dY, Y)
        return leave(r._make(gradient(dY.values if outer_levels else dY, *places, level), r.levels))

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
