"""Layers around a layer that sees a part of X: the items of nested lists, one of a tuple, each of a list."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

from varlen import ops
from varlen.arguments import as_int
from varlen.backends.values import is_array
from varlen.errors import index_error, type_error, value_error
from varlen.transforms.kinds import check_gradient, kind, kind_error
from varlen.transforms.layer import Backprop, Layer, not_trained, result


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
        Or a Thinc Model where the layer is one.

    Raises
    ------
    TypeError
        X is not a list, or the layer gives neither a list nor an array.
    ValueError
        Items beside lists; another number of results than of items; a gradient that nests differently.

    Notes
    -----
    As Thinc's `with_flatten.v2`, which knows one level. `with_flatten.v1` cuts gradients at the wrong axis.

    Examples
    --------
    >>> layer = vl.transforms.with_flatten(lambda items: [2 * item for item in items])
    >>> layer.predict([[1, 2], [], [3]]), layer.predict([[[1], [2, 3]], []])
    ([[2, 4], [], [6]], [[[2], [4, 6]], []])
    """
    return result(_with_flatten, layer)


def with_getitem(idx: int, layer: Any) -> Layer | Any:
    """The layer sees item `idx` of a tuple, and its result replaces the item. Gradients do the same.

    Parameters
    ----------
    idx
        A place; negatives count from the end.
    layer
        Anything that `as_layer` takes.

    Returns
    -------
    Layer
        Or a Thinc Model where the layer is one.

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
    return result(partial(_with_getitem, as_int(idx, "idx", minimum=-(2**63))), layer)


def with_reshape(layer: Any) -> Layer | Any:
    """The layer sees an array (..., width) as a table: all axes but the last are merged.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes; it gives as many rows, which may be of another width.

    Returns
    -------
    Layer
        Or a Thinc Model where the layer is one.

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
    >>> vl.transforms.with_reshape(lambda table: table @ np.ones((3, 5))).predict(np.ones((4, 2, 3))).shape
    (4, 2, 5)
    """
    return result(_with_reshape, layer)


def map_list(layer: Any) -> Layer | Any:
    """The layer sees each item of a list by itself; the results are a list. Tuples give tuples.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes.

    Returns
    -------
    Layer
        Or a Thinc Model where the layer is one.

    Raises
    ------
    TypeError
        X or a gradient is not a list or tuple.
    ValueError
        A gradient with another number of items than the result.

    Notes
    -----
    As Thinc's `map_list`.

    Examples
    --------
    >>> vl.transforms.map_list(np.sum).predict([np.array([1, 2]), np.array([3])])
    [np.int64(3), np.int64(3)]
    """
    return result(_map_list, layer)


def _with_flatten(layer: Layer) -> Layer:
    return Layer(f"with_flatten({layer.name})", partial(_call_flat, layer), (layer,), _items)


def _call_flat(layer: Layer, X: Any, is_train: bool) -> tuple[Any, Backprop]:
    items = _items(X)
    depth = _depth(X)
    if not is_train:
        return _nested(X, depth, _require_rows(layer.predict(items), len(items))), not_trained
    y, callback = layer(items, True)
    Y = _nested(X, depth, _require_rows(y, len(items)))

    def backprop(dY: Any) -> Any:
        check_gradient(dY, Y)
        if is_array(y):
            parts = [part for part in _arrays(dY) if len(part)]
            flat = ops.flatten(parts) if parts else y[:0]
        else:
            flat = _items(dY, depth)
        return _nested(X, depth, _require_rows(callback(flat), len(items)))

    return Y, backprop


def _depth(X: Any) -> int:
    """How deep lists nest; the deepest says it, for some may be empty."""
    return 1 + max((_depth(x) for x in X if isinstance(x, list)), default=0)


def _items(X: Any, depth: int | None = None) -> list[Any]:
    """The items of nested lists, in order."""
    if not isinstance(X, list):
        raise kind_error(X, expected="nested lists")
    nodes = X
    for d in range(1, _depth(X) if depth is None else depth):
        for i, item in enumerate(nodes):
            if not isinstance(item, list):
                raise value_error("X", f"item {i} of depth {d} is not a list, but others are", row=i)
        nodes = [x for item in nodes for x in item]
    return nodes if nodes is not X else list(X)


def _arrays(Y: Any) -> Iterator[Any]:
    for y in [Y] if is_array(Y) else Y:
        if isinstance(y, list):
            yield from _arrays(y)
        else:
            yield y


def _require_rows(y: Any, count: int) -> Any:
    if not isinstance(y, list) and not is_array(y):
        raise type_error("", f"the layer took a list, but returned a {kind(y)}")
    if len(y) != count:
        raise value_error("", f"the layer took {count} items, but returned {len(y)}")
    return y


def _nested(X: list[Any], depth: int, y: Any) -> Any:
    """The results for the items, nested as the items are."""
    offset = 0

    def nest(x: Any, d: int) -> Any:
        nonlocal offset
        if d < depth:
            return [nest(item, d + 1) for item in x]
        offset += len(x)
        return y[offset - len(x) : offset]

    return nest(X, 1)


def _with_getitem(idx: int, layer: Layer) -> Layer:
    name = f"with_getitem({idx}, {layer.name})"
    return Layer(name, partial(_run_getitem, idx, layer), (layer,), partial(_item, idx))


def _item(idx: int, X: Any, what: str = "X") -> Any:
    if not isinstance(X, (tuple, list)):
        raise kind_error(X, what, "a tuple")
    if not -len(X) <= idx < len(X):
        raise index_error("idx", f"{what} has {len(X)} items, but no item {idx}", number=idx)
    return X[idx]


def _with_item(idx: int, X: Any, item: Any) -> Any:
    index = idx % len(X)
    items = [*X[:index], item, *X[index + 1 :]]
    return items if isinstance(X, list) else tuple(items)


def _run_getitem(idx: int, layer: Layer, X: Any, is_train: bool) -> tuple[Any, Backprop]:
    y, callback = layer(_item(idx, X), is_train)
    count = len(X)

    def backprop(dY: Any) -> Any:
        d = _item(idx, dY, "the gradient")
        if len(dY) != count:
            raise value_error("", f"the gradient: has {len(dY)} items, the result has {count}")
        return _with_item(idx, dY, callback(d))

    return _with_item(idx, X, y), backprop


def _with_reshape(layer: Layer) -> Layer:
    return Layer(f"with_reshape({layer.name})", partial(_call_reshaped, layer), (layer,), _as_table)


def _as_table(X: Any) -> Any:
    if not is_array(X):
        raise kind_error(X, expected="an array")
    if X.ndim < 2:
        raise value_error("X", f"expected an array (..., width), got shape {tuple(X.shape)}")
    return X.reshape(math.prod(X.shape[:-1]), X.shape[-1])


def _call_reshaped(layer: Layer, X: Any, is_train: bool) -> tuple[Any, Backprop]:
    table = _as_table(X)
    outer_shape = tuple(X.shape[:-1])
    y, callback = layer(table, is_train)
    Y = _restore_axes(y, outer_shape)

    def backprop(dY: Any) -> Any:
        check_gradient(dY, Y)
        return _restore_axes(callback(dY.reshape(y.shape)), outer_shape)

    return Y, backprop if is_train else not_trained


def _restore_axes(y: Any, outer_shape: tuple[int, ...]) -> Any:
    rows = math.prod(outer_shape)
    if not is_array(y):
        raise type_error("", f"the layer took an array, but returned a {kind(y)}")
    if y.ndim == 0 or y.shape[0] != rows:
        raise value_error("", f"the layer took {rows} rows, but returned shape {tuple(y.shape)}")
    return y.reshape((*outer_shape, *y.shape[1:]))


def _map_list(layer: Layer) -> Layer:
    return Layer(f"map_list({layer.name})", partial(_call_each, layer), (layer,), _first)


def _first(X: Any) -> Any:
    return X[0] if X else None


def _call_each(layer: Layer, X: Any, is_train: bool) -> tuple[Any, Backprop]:
    if not isinstance(X, (list, tuple)):
        raise kind_error(X, expected="a list")
    pairs = [layer(x, is_train) for x in X]

    def backprop(dY: Any) -> Any:
        if not isinstance(dY, (list, tuple)):
            raise kind_error(dY, "the gradient", "a list")
        if len(dY) != len(pairs):
            raise value_error("", f"the gradient: has {len(dY)} items, the result has {len(pairs)}")
        return type(X)(callback(d) for (_, callback), d in zip(pairs, dY, strict=True))

    return type(X)(y for y, _ in pairs), backprop
