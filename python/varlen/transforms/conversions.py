"""Layers that turn one kind of container into another; their gradients go the other way."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from varlen import ops
from varlen.ops.support.inputs import one_level
from varlen.transforms.convert import Conversion, as_array, as_laid_out, as_padded, as_ragged
from varlen.transforms.kinds import check_gradient, kind_error
from varlen.transforms.layer import Backprop, Layer
from varlen.types import Padded, Ragged


def list2array() -> Layer:
    """Lay the arrays of a list end to end as one array; for a Ragged return its values.

    Returns
    -------
    Layer
        Y is (total, ...). The gradient is cut as X was, and of its kind.

    Notes
    -----
    As Thinc's `list2array`, which says that it takes a Ragged, but does not.

    Examples
    --------
    >>> Y, backprop = vl.transforms.list2array()([np.array([1.0]), np.array([2.0, 3.0])], True)
    >>> Y, backprop(Y)
    (array([1., 2., 3.]), [array([1.]), array([2., 3.])])
    """
    return Layer("list2array", partial(_convert, _list2array))


def list2ragged() -> Layer:
    """Convert a list of arrays (length, ...) to a Ragged. A Ragged passes through.

    Returns
    -------
    Layer
        Y is a Ragged of one level. The gradient is a list of arrays of the shapes that came.

    Notes
    -----
    As Thinc's `list2ragged`, whose gradients lose trailing axes, and which refuses a Ragged.

    Examples
    --------
    >>> r, backprop = vl.transforms.list2ragged()([np.array([1.0]), np.array([2.0, 3.0])], True)
    >>> r.lengths.tolist(), backprop(r)
    ([1, 2], [array([1.]), array([2., 3.])])
    """
    return Layer("list2ragged", partial(_convert, _list2ragged))


def ragged2list() -> Layer:
    """Convert a Ragged of one level to a list of views, (length, ...) each.

    Returns
    -------
    Layer
        Y is a list. The gradient is a Ragged.

    Notes
    -----
    As Thinc's `ragged2list`.

    Examples
    --------
    >>> Y, backprop = vl.transforms.ragged2list()(vl.Ragged([1.0, 2.0], [0, 2]), True)
    >>> Y, backprop(Y).lengths.tolist()
    ([array([], dtype=float64), array([1., 2.])], [0, 2])
    """
    return Layer("ragged2list", partial(_convert, _ragged2list))


def list2padded() -> Layer:
    """Convert a list of arrays (length, ...) to a Padded. A Padded passes through.

    Returns
    -------
    Layer
        Y is a Padded. The gradient is a list of arrays of the shapes that came.

    Notes
    -----
    As Thinc's `list2padded`, which takes arrays of two axes only.

    Examples
    --------
    >>> p, backprop = vl.transforms.list2padded()([np.array([1.0]), np.array([2.0, 3.0])], True)
    >>> p.data.tolist(), backprop(p)
    ([[2.0, 1.0], [3.0, 0.0]], [array([1.]), array([2., 3.])])
    """
    return Layer("list2padded", partial(_convert, _list2padded))


def padded2list() -> Layer:
    """Convert a Padded to a list of arrays (length, ...), in their original order.

    Returns
    -------
    Layer
        Y is a list. The gradient is a Padded with the order of columns that X has.

    Notes
    -----
    As Thinc's `padded2list`; the gradient has the columns that X has.

    Examples
    --------
    >>> vl.transforms.padded2list().predict(vl.Padded.from_list([[1], [2, 3]]))
    [array([1]), array([2, 3])]
    """
    return Layer("padded2list", partial(_convert, _padded2list))


def _convert(convert: Callable[[Any], Conversion], X: Any, is_train: bool) -> tuple[Any, Backprop]:
    Y, back = convert(X)

    def backprop(dY: Any) -> Any:
        check_gradient(dY, Y)
        return back(dY)

    return Y, backprop


def _list2array(X: Any) -> Conversion:
    if not isinstance(X, (Ragged, list, tuple)):
        raise kind_error(X, expected="a list of arrays, or a Ragged")
    return as_array(X)


def _list2ragged(X: Any) -> Conversion:
    if not isinstance(X, (Ragged, list, tuple)):
        raise kind_error(X, expected="a list of arrays, or a Ragged")
    return as_ragged(X)


def _ragged2list(X: Any) -> Conversion:
    level = one_level(X, "X")
    return ops.ragged2list(X), lambda d: X._make(ops.flatten(d) if d else X.values, (level,))


def _list2padded(X: Any) -> Conversion:
    if not isinstance(X, (Padded, list, tuple)):
        raise kind_error(X, expected="a list of arrays, or a Padded")
    return as_padded(X)


def _padded2list(X: Any) -> Conversion:
    if not isinstance(X, Padded):
        raise kind_error(X, expected="a Padded")
    return X.to_list(), lambda d: as_laid_out(ops.list2padded(d), X) if d else X
