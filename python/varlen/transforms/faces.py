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
        The result for a sequence without rows; None raises an error for it.

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
        The result for a sequence without rows; None, the default, raises an error for it.

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
        The result for a sequence without rows, a number or a row; None, the default, raises an error for it.

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
        The result for a sequence without rows, a number or a row; None, the default, raises an error for it.

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


def with_array(layer: Any, pad: int=0) -> Layer | Any:
    """The layer sees one array: all rows of all sequences, without their bounds.

    Of a Ragged it sees the values, of a Padded the data, padding included, (L, B, ...), of a list or tuple of
    arrays these end to end; an array is seen as it is. It gives as many rows. `varlen.Ragged` and `Padded` go
    out with the very levels that came.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes.
    pad
        For lists alone: the number of zero rows before each array that has rows, and after the last, so that
        windows of neighbours do not reach into another sequence.

    Returns
    -------
    Layer
        The layer; a Thinc Model if `layer` is one.

    Raises
    ------
    TypeError
        X is no container of rows, or the layer gives no array.
    ValueError
        The layer returns another number of rows, or a gradient does not fit the result.

    Notes
    -----
    As Thinc's `with_array`; the gradient's structure, shapes and dtype are compared with those of the result.

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
    """As `with_array`, but the layer sees a table with trailing axes merged; (T, 1) for (T,).

    The steps and columns of a Padded are one axis of rows. A result as wide as what was seen gets its
    trailing axes back; one of another width stays a table.

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
    As Thinc's `with_array2d`, of which a Ragged comes out without its trailing axes.

    Examples
    --------
    >>> layer = vl.transforms.with_array2d(lambda table: table * [1, 10, 100, 1000])
    >>> layer.predict(vl.Ragged(np.ones((1, 2, 2), int), [1])).to_list()
    [[[[1, 10], [100, 1000]]]]
    """
    return wrap("with_array2d({})", partial(as_array2d, pad=as_int(pad, "pad")), layer)


def with_padded(layer: Any) -> Layer | Any:
    """The layer sees a Padded: sequences side by side, time-major, the longest first.

    A Ragged, a list or a tuple of arrays is padded and comes out as what it was; of a nested Ragged the
    innermost sequences are. An array (steps, columns, ...) is seen as columns that are all as long. A
    recurrent module of torch sees a PackedSequence, so that it reads no padding in either direction.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes; it gives a Padded, a recurrent module of torch a PackedSequence.

    Returns
    -------
    Layer
        The layer; a Thinc Model if `layer` is one.

    Raises
    ------
    TypeError
        X is none of these, or the layer gives no Padded.
    ValueError
        The gradient does not fit the result.

    Notes
    -----
    As Thinc's `with_padded`, which flattens trailing axes. A tuple of a block and three arrays of integers of
    one axis is the fields of a Padded, and comes out as such; any other tuple is sequences, as a list is.

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
        Anything that `as_layer` takes; it gives a Ragged.

    Returns
    -------
    Layer
        The layer; a Thinc Model if `layer` is one.

    Raises
    ------
    TypeError
        X is none of these, or the layer gives no Ragged. An array does not say where sequences end.
    ValueError
        The gradient does not fit the result.

    Notes
    -----
    As Thinc's `with_ragged`. A tuple of two is values and lengths, and comes out as such, where the second is
    integers of one axis (or a `Level`) and the first is not; any other tuple is sequences, as a list is.

    Examples
    --------
    >>> vl.transforms.with_ragged(lambda r: r * 10).predict([np.array([1, 2]), np.array([3])])
    [array([10, 20]), array([30])]
    """
    return wrap("with_ragged({})", as_ragged, layer)


def with_list(layer: Any) -> Layer | Any:
    """The layer sees a list with an array per sequence. A Ragged or Padded comes out in its own type.

    Of a nested Ragged it sees the innermost sequences.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes; it gives a list of as many arrays.

    Returns
    -------
    Layer
        The layer; a Thinc Model if `layer` is one.

    Raises
    ------
    TypeError
        X is none of these, or the layer gives no list. An array does not say where sequences end.
    ValueError
        The gradient does not fit the result.

    Notes
    -----
    As Thinc's `with_list`, which flattens trailing axes.

    Examples
    --------
    >>> layer = vl.transforms.with_list(lambda seqs: [seq[::-1] for seq in seqs])
    >>> layer.predict(vl.Ragged([1, 2, 3], [2, 1])).to_list()
    [[2, 1], [3]]
    """
    return wrap("with_list({})", as_list, layer)


def with_flatten(layer: Any) -> Layer | Any:
    """The layer sees all items of nested lists as one list; its result is nested as before.

    Lists may nest to any depth that is the same everywhere. Everything that is not a list is an item, a tuple
    too.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes; it gives a list with a result for each item, or an array with a row
        for each, which is cut into the innermost lists.

    Returns
    -------
    Layer
        The layer; a Thinc Model if `layer` is one.

    Raises
    ------
    TypeError
        X is not a list, or the layer gives neither a list nor an array.
    ValueError
        Items stand beside lists, the numbers of results and items differ, or a gradient nests differently.

    Notes
    -----
    As Thinc's `with_flatten.v2`, which knows one level. `with_flatten.v1` cuts gradients at the wrong axis.

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
    As Thinc's `with_getitem`, which doubles items where idx is negative.

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
        Anything that `as_layer` takes; it gives as many rows, which may be of another width.

    Returns
    -------
    Layer
        The layer; a Thinc Model if `layer` is one.

    Raises
    ------
    TypeError
        X is not an array, or the layer gives none.
    ValueError
        Fewer than two axes; the layer gives another number of rows; a gradient that does not fit.

    Notes
    -----
    As Thinc's `with_reshape`, whose gradients fit no layer that changes the width, nor one of tables.

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
    As Thinc's `map_list`.

    Examples
    --------
    >>> vl.transforms.map_list(np.sum).predict([np.array([1, 2]), np.array([3])])
    [np.int64(3), np.int64(3)]
    """
    return layer_around("map_list({})", nested.run_each, nested.first_item, layer)


def concatenate(*layers: Any) -> Layer | Any:
    """Give X to all layers and concatenate their results along the last axis.

    Their results are of one kind, with sequences of the same lengths: arrays, Ragged, Padded, lists or
    tuples. Rows of one number count as (T, 1). The gradients that they give for X are added.

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
        No layer, or something that cannot be called.
    ValueError
        When it is called: results that differ in more than their last axis.

    Notes
    -----
    As Thinc's `concatenate`, which knows no Padded, adds no gradients of a Ragged, and of lists puts the
    gradients one after another.

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

    The gradients that they give for X are added too.

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
        No layer, or something that cannot be called.
    ValueError
        When it is called: results of different kinds, structures or shapes.

    Notes
    -----
    As Thinc's `add`, which knows arrays only.

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
        Anything that `as_layer` takes; it gives what has the kind, structure and shape of its X.

    Returns
    -------
    Layer
        The layer; a Thinc Model if `layer` is one.

    Raises
    ------
    TypeError
        The layer cannot be called.
    ValueError
        When it is called: the layer gives another kind, structure or shape than X has.

    Notes
    -----
    As Thinc's `residual`, which loses the trailing axes of a Ragged.

    Examples
    --------
    >>> vl.transforms.residual(np.square).predict(np.array([1, 2, 3]))
    array([ 2,  6, 12])
    """
    return layer_around("residual({})", run_residual, None, layer)
