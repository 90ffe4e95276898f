"""Layers that reduce or convert, and layers around layers."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from __future__ import annotations

from functools import partial
from typing import Any

from varlen.arguments import as_int
from varlen.transforms import nested
from varlen.transforms.combine import join_layers, run_add, run_concatenate, run_residual
from varlen.transforms.conversions import convert
from varlen.transforms.convert import as_array, as_array2d, as_list, as_padded, as_ragged
from varlen.transforms.layer import Layer, layer_around
from varlen.transforms.reduce import reduce_rows
from varlen.transforms.wrap import wrap


def reduce_sum(*, empty: Any = 0) -> Layer:
    """The sum of each sequence's rows: (n, ...) for a Ragged, a Padded or a list of n sequences.

    Parameters
    ----------
    empty
        The result for a sequence without rows; None raises an error for it.

    Returns
    -------
    Layer
        Y is an array. A nested Ragged is reduced over its innermost sequences and gives a Ragged of the
        levels above. The gradient has the type of X.

    Notes
    -----
    Like Thinc's `reduce_sum`, but trailing axes stay.

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
        The result for a sequence without rows; None raises an error for it.

    Returns
    -------
    Layer
        Y and the gradient have the types that `reduce_sum` gives. Floats keep their dtype; integers give
        float64.

    Notes
    -----
    Like Thinc's `reduce_mean`, but trailing axes stay.

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
        The result for a sequence without rows; None, the default, raises an error for it.

    Returns
    -------
    Layer
        Y and the gradient have the types that `reduce_sum` gives, and the dtype of X.

    Notes
    -----
    Like Thinc's `reduce_max`, but trailing axes stay.

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
        The result for a sequence without rows, a number or a row; None, the default, raises an error for it.

    Returns
    -------
    Layer
        Y and the gradient have the types that `reduce_sum` gives. Rows may be of any dtype.

    Notes
    -----
    Like Thinc's `reduce_first`, but trailing axes stay.

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
        The result for a sequence without rows, a number or a row; None, the default, raises an error for it.

    Returns
    -------
    Layer
        Y and the gradient have the types that `reduce_sum` gives. Rows may be of any dtype.

    Notes
    -----
    Like Thinc's `reduce_last`, but trailing axes stay.

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
        Y is (total, ...). The gradient is split like X, and has its type.

    Notes
    -----
    Like Thinc's `list2array`, which is documented to take a Ragged, but does not.

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
        Y is a Ragged of one level. The gradient is a list of arrays of the original shapes.

    Notes
    -----
    Like Thinc's `list2ragged`, whose gradients lose trailing axes, and which refuses a Ragged.

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
    Like Thinc's `ragged2list`.

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
        Y is a Padded. The gradient is a list of arrays of the original shapes.

    Notes
    -----
    Like Thinc's `list2padded`, which takes arrays of two axes only.

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
        Y is a list. The gradient is a Padded with the columns in the order of X.

    Notes
    -----
    Like Thinc's `padded2list`; the gradient has the columns of X.

    Examples
    --------
    >>> vl.transforms.padded2list().predict(vl.Padded.from_list([[1], [2, 3]]))
    [array([1]), array([2, 3])]
    """
    return Layer("padded2list", partial(convert, "padded2list"))


def with_array(layer: Any, pad: int=0) -> Layer | Any:
    """The layer sees one array: all rows of all sequences, without their bounds.

    It sees the values of a Ragged, the data of a Padded, (L, B, ...) with padding, the arrays of a list or
    tuple end to end, or an array as it is. It returns as many rows. A `varlen.Ragged` or `Padded` keeps its
    levels.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes.
    pad
        For lists only: the number of zero rows before each array that has rows, and after the last, so that
        windows of neighbours do not reach into another sequence.

    Returns
    -------
    Layer
        The layer; a Thinc Model if `layer` is one.

    Raises
    ------
    TypeError
        X is no container of rows, or the layer returns no array.
    ValueError
        The layer returns another number of rows, or a gradient does not fit the result.

    Notes
    -----
    Like Thinc's `with_array`, but the gradient must have the structure, shapes and dtype of the result.

    Examples
    --------
    >>> layer = vl.transforms.with_array(np.negative)
    >>> layer.predict(vl.Ragged([1, 2, 3], [2, 1])).to_list()
    [[-1, -2], [-3]]
    >>> layer.predict([np.array([1, 2]), np.array([3])])
    [array([-1, -2]), array([-3])]
    """
    return wrap("with_array({})", partial(as_array, pad=as_int(pad, "pad")), layer)


def with_array2d(layer: Any, pad: int=0) -> Layer | Any:
    """Like `with_array`, but the layer sees a table with trailing axes merged; (T, 1) for (T,).

    The steps and columns of a Padded become one axis of rows. A result as wide as the table gets the trailing
    axes back; one of another width stays a table.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes.
    pad
        As in `with_array`.

    Returns
    -------
    Layer
        The layer; a Thinc Model if `layer` is one.

    Raises
    ------
    TypeError, ValueError
        As in `with_array`, when it is called.

    Notes
    -----
    Like Thinc's `with_array2d`, which drops the trailing axes of a Ragged.

    Examples
    --------
    >>> layer = vl.transforms.with_array2d(lambda table: table * [1, 10, 100, 1000])
    >>> layer.predict(vl.Ragged(np.ones((1, 2, 2), int), [1])).to_list()
    [[[[1, 10], [100, 1000]]]]
    """
    return wrap("with_array2d({})", partial(as_array2d, pad=as_int(pad, "pad")), layer)


def with_padded(layer: Any) -> Layer | Any:
    """The layer sees a Padded: sequences side by side, time-major, the longest first.

    A Ragged, list or tuple of arrays is padded, and comes out in its own type. A nested Ragged is padded by
    its innermost sequences. An array (steps, columns, ...) holds columns of equal length. A recurrent module
    of torch sees a PackedSequence, and reads no padding in either direction.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes; it returns a Padded, or a PackedSequence if it is a recurrent module
        of torch.

    Returns
    -------
    Layer
        The layer; a Thinc Model if `layer` is one.

    Raises
    ------
    TypeError
        X is none of these, or the layer returns no Padded.
    ValueError
        The gradient does not fit the result.

    Notes
    -----
    Like Thinc's `with_padded`, which flattens trailing axes. A tuple of a block and three arrays of integers
    of one axis holds the fields of a Padded, and comes out as such. Any other tuple holds sequences, like a
    list.

    Examples
    --------
    >>> def steps(padded):
    ...     data = padded.data.cumsum(axis=0)
    ...     return vl.Padded(data, padded.size_at_t, padded.lengths, padded.indices)
    >>> vl.transforms.with_padded(steps).predict(vl.Ragged([1, 2, 3, 4], [3, 1])).to_list()
    [[1, 3, 6], [4]]
    """
    return wrap("with_padded({})", as_padded, layer)


def with_ragged(layer: Any) -> Layer | Any:
    """The layer sees a Ragged. A Padded, list or tuple of arrays comes out in its own type.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes; it returns a Ragged.

    Returns
    -------
    Layer
        The layer; a Thinc Model if `layer` is one.

    Raises
    ------
    TypeError
        X is none of these, or the layer returns no Ragged. An array has no bounds of sequences.
    ValueError
        The gradient does not fit the result.

    Notes
    -----
    Like Thinc's `with_ragged`. A tuple of two holds values and lengths, and comes out as such, if the second
    is integers of one axis (or a `Level`) and the first is not. Any other tuple holds sequences, like a list.

    Examples
    --------
    >>> vl.transforms.with_ragged(lambda r: r * 10).predict([np.array([1, 2]), np.array([3])])
    [array([10, 20]), array([30])]
    """
    return wrap("with_ragged({})", as_ragged, layer)


def with_list(layer: Any) -> Layer | Any:
    """The layer sees a list with an array per sequence. A Ragged or Padded comes out in its own type.

    It sees the innermost sequences of a nested Ragged.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes; it returns a list of as many arrays.

    Returns
    -------
    Layer
        The layer; a Thinc Model if `layer` is one.

    Raises
    ------
    TypeError
        X is none of these, or the layer returns no list. An array has no bounds of sequences.
    ValueError
        The gradient does not fit the result.

    Notes
    -----
    Like Thinc's `with_list`, which flattens trailing axes.

    Examples
    --------
    >>> layer = vl.transforms.with_list(lambda seqs: [seq[::-1] for seq in seqs])
    >>> layer.predict(vl.Ragged([1, 2, 3], [2, 1])).to_list()
    [[2, 1], [3]]
    """
    return wrap("with_list({})", as_list, layer)


def with_flatten(layer: Any) -> Layer | Any:
    """The layer sees all items of nested lists as one list; its result is nested as before.

    Lists may nest to any depth that is the same everywhere. Everything that is not a list is an item, even a
    tuple.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes; it returns a list with a result for each item, or an array with a row
        for each, which is split into the innermost lists.

    Returns
    -------
    Layer
        The layer; a Thinc Model if `layer` is one.

    Raises
    ------
    TypeError
        X is not a list, or the layer returns neither a list nor an array.
    ValueError
        Items and lists are mixed, the numbers of results and items differ, or a gradient nests differently.

    Notes
    -----
    Like Thinc's `with_flatten.v2`, which takes only one level. `with_flatten.v1` cuts gradients at the wrong
    axis.

    Examples
    --------
    >>> layer = vl.transforms.with_flatten(lambda items: [2 * item for item in items])
    >>> layer.predict([[1, 2], [], [3]]), layer.predict([[[1], [2, 3]], []])
    ([[2, 4], [], [6]], [[[2], [4, 6]], []])
    """
    return layer_around("with_flatten({})", nested.run_flatten, nested.items_of, layer)


def with_getitem(idx: int, layer: Any) -> Layer | Any:
    """The layer sees item `idx` of a tuple, and its result replaces the item. Gradients do the same.

    Parameters
    ----------
    idx
        The position of the item; a negative one counts from the end.
    layer
        Anything that `as_layer` takes.

    Returns
    -------
    Layer
        The layer; a Thinc Model if `layer` is one.

    Raises
    ------
    TypeError
        X is not a tuple or list.
    IndexError
        It has no such item.

    Notes
    -----
    Like Thinc's `with_getitem`, which doubles items if idx is negative.

    Examples
    --------
    >>> vl.transforms.with_getitem(-1, np.negative).predict((np.array([1]), np.array([2])))
    (array([1]), array([-2]))
    """
    return nested.item_layer(idx, layer)


def with_reshape(layer: Any) -> Layer | Any:
    """The layer sees an array (..., width) as a table: all axes but the last are merged.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes; it returns as many rows, which may have another width.

    Returns
    -------
    Layer
        The layer; a Thinc Model if `layer` is one.

    Raises
    ------
    TypeError
        X is not an array, or the layer returns none.
    ValueError
        X has fewer than two axes, the layer returns another number of rows, or a gradient does not fit.

    Notes
    -----
    Like Thinc's `with_reshape`, whose gradients fail for layers that change the width, and for tables.

    Examples
    --------
    >>> layer = vl.transforms.with_reshape(lambda table: table @ np.ones((3, 5)))
    >>> layer.predict(np.ones((4, 2, 3))).shape
    (4, 2, 5)
    """
    return layer_around("with_reshape({})", nested.run_reshape, nested.as_table, layer)


def map_list(layer: Any) -> Layer | Any:
    """The layer sees each item of a list by itself; the results are a list. Tuples give tuples.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes.

    Returns
    -------
    Layer
        The layer; a Thinc Model if `layer` is one.

    Raises
    ------
    TypeError
        X or a gradient is not a list or tuple.
    ValueError
        A gradient has another number of items than the result.

    Notes
    -----
    Like Thinc's `map_list`.

    Examples
    --------
    >>> vl.transforms.map_list(np.sum).predict([np.array([1, 2]), np.array([3])])
    [np.int64(3), np.int64(3)]
    """
    return layer_around("map_list({})", nested.run_each, nested.first_item, layer)


def concatenate(*layers: Any) -> Layer | Any:
    """Give X to all layers and concatenate their results along the last axis.

    The results have one type, with sequences of the same lengths: arrays, Ragged, Padded, lists or tuples.
    Rows of one number count as (T, 1). The gradients for X are added.

    Parameters
    ----------
    *layers
        At least one; anything that `as_layer` takes.

    Returns
    -------
    Layer
        The layer; a Thinc Model if one of `layers` is one.

    Raises
    ------
    TypeError
        There is no layer, or one that cannot be called.
    ValueError
        When it is called: results that differ in more than their last axis.

    Notes
    -----
    Like Thinc's `concatenate`, which takes no Padded, does not add gradients of a Ragged, and puts gradients
    of lists one after another.

    Examples
    --------
    >>> layer = vl.transforms.concatenate(vl.transforms.reduce_sum(), vl.transforms.reduce_max())
    >>> layer.predict(vl.Ragged([[1], [2], [3]], [2, 1]))
    array([[3, 2],
           [3, 3]])
    """
    return join_layers("|", run_concatenate, layers)


def add(*layers: Any) -> Layer | Any:
    """Give X to all layers and add their results: arrays, Ragged, Padded, lists or tuples.

    The gradients for X are added too.

    Parameters
    ----------
    *layers
        At least one; anything that `as_layer` takes.

    Returns
    -------
    Layer
        The layer; a Thinc Model if one of `layers` is one.

    Raises
    ------
    TypeError
        There is no layer, or one that cannot be called.
    ValueError
        When it is called: results of different kinds, structures or shapes.

    Notes
    -----
    Like Thinc's `add`, which takes only arrays.

    Examples
    --------
    >>> vl.transforms.add(np.negative, np.square).predict(np.array([1, 2, 3]))
    array([0, 2, 6])
    """
    return join_layers("+", run_add, layers)


def residual(layer: Any) -> Layer | Any:
    """Add X to the layer's result for it: arrays, Ragged, Padded, lists or tuples.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes; its result has the kind, structure and shape of X.

    Returns
    -------
    Layer
        The layer; a Thinc Model if `layer` is one.

    Raises
    ------
    TypeError
        The layer cannot be called.
    ValueError
        When it is called: the layer returns another kind, structure or shape than X has.

    Notes
    -----
    Like Thinc's `residual`, which loses the trailing axes of a Ragged.

    Examples
    --------
    >>> vl.transforms.residual(np.square).predict(np.array([1, 2, 3]))
    array([ 2,  6, 12])
    """
    return layer_around("residual({})", run_residual, None, layer)
