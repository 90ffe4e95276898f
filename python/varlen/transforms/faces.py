"""Layers that reduce or convert."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from __future__ import annotations

from functools import partial
from typing import Any

from varlen.transforms.conversions import convert
from varlen.transforms.layer import Layer
from varlen.transforms.reduce import reduce_rows


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
    return Layer("reduce_sum", partial(reduce_rows, "sum", empty))


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
    return Layer("reduce_mean", partial(reduce_rows, "mean", empty))


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
    return Layer("reduce_max", partial(reduce_rows, "max", empty))


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
    return Layer("reduce_first", partial(reduce_rows, "first", empty))


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
    return Layer("reduce_last", partial(reduce_rows, "last", empty))


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
    return Layer("list2array", partial(convert, "list2array"))


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
    return Layer("list2ragged", partial(convert, "list2ragged"))


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
    return Layer("ragged2list", partial(convert, "ragged2list"))


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
    return Layer("list2padded", partial(convert, "list2padded"))


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
    return Layer("padded2list", partial(convert, "padded2list"))
