"""Layers around a layer: it sees another container than the one that comes, and the same kind goes out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from varlen.arguments import as_int
from varlen.transforms.convert import (
    Conversion,
    as_array,
    as_array2d,
    as_laid_out,
    as_list,
    as_padded,
    as_ragged,
)
from varlen.transforms.kinds import check_gradient, check_structure
from varlen.transforms.layer import Backprop, Layer, not_trained, result


def with_array(layer: Any, pad: int = 0) -> Layer | Any:
    """The layer sees one array: all rows of all sequences, without their bounds.

    Of a Ragged it sees the values, of a Padded the data, padding included, (L, B, ...), of a list or tuple of
    arrays these end to end; an array is seen as it is. It gives as many rows. `varlen.Ragged` and `Padded` go
    out with the very levels that came.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes.
    pad
        With lists alone: so many rows of zeros stand before each array that has rows, and behind the last, so
        that windows of neighbours do not reach into another sequence.

    Returns
    -------
    Layer
        Or a Thinc Model where the layer is one.

    Raises
    ------
    TypeError
        X is no container of rows, or the layer gives no array.
    ValueError
        The layer gives another number of rows, or a gradient does not fit the result.

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
    enter = partial(as_array, pad=pad) if as_int(pad, "pad") else as_array
    return result(partial(_wrap, "with_array", enter), layer)


def with_array2d(layer: Any, pad: int = 0) -> Layer | Any:
    """As `with_array`, but the layer sees a table with trailing axes merged; (T, 1) for (T,).

    The steps and columns of a Padded are one axis of rows. A result as wide as what was seen gets its
    trailing axes back; one of another width stays a table.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes.
    pad
        As that of `with_array`.

    Returns
    -------
    Layer
        Or a Thinc Model where the layer is one.

    Raises
    ------
    TypeError, ValueError
        As those of `with_array`, when it is called.

    Notes
    -----
    As Thinc's `with_array2d`, of which a Ragged comes out without its trailing axes.

    Examples
    --------
    >>> layer = vl.transforms.with_array2d(lambda table: table * [1, 10, 100, 1000])
    >>> layer.predict(vl.Ragged(np.ones((1, 2, 2), int), [1])).to_list()
    [[[[1, 10], [100, 1000]]]]
    """
    return result(partial(_wrap, "with_array2d", partial(as_array2d, pad=as_int(pad, "pad"))), layer)


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
        Or a Thinc Model where the layer is one.

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
    return result(partial(_wrap, "with_padded", as_padded), layer)


def with_ragged(layer: Any) -> Layer | Any:
    """The layer sees a Ragged. A Padded, list or tuple of arrays comes out in its own type.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes; it gives a Ragged.

    Returns
    -------
    Layer
        Or a Thinc Model where the layer is one.

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
    return result(partial(_wrap, "with_ragged", as_ragged), layer)


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
        Or a Thinc Model where the layer is one.

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
    return result(partial(_wrap, "with_list", as_list), layer)


def _wrap(name: str, enter: Callable[[Any], Conversion], layer: Layer) -> Layer:
    forward = partial(_run, enter, layer)
    return Layer(f"{name}({layer.name})", forward, (layer,), partial(_enter, enter))


def _enter(enter: Callable[[Any], Conversion], X: Any) -> Any:
    return enter(X)[0]


def _run(enter: Callable[[Any], Conversion], layer: Layer, X: Any, is_train: bool) -> tuple[Any, Backprop]:
    argument, leave = enter(X)
    if not is_train:
        return leave(layer.predict(argument)), not_trained
    y, callback = layer(argument, True)
    Y = leave(y)

    def backprop(dY: Any) -> Any:
        check_gradient(dY, Y)
        d = enter(dY)[0]
        if type(X) is tuple:  # fields of a container, or sequences: the small arrays are compared too
            check_structure(d, y, "the gradient", "the result")
        return leave(callback(as_laid_out(d, y)))

    return Y, backprop
