"""Layers around a layer that sees parts of X: items of nested lists, of a tuple, of a list."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

from varlen import ops
from varlen.arguments import SMALLEST, as_int
from varlen.backends.values import is_array
from varlen.errors import index_error, type_error, value_error
from varlen.transforms.kinds import check_gradient, kind, kind_error
from varlen.transforms.layer import Backprop, Layer, layer_around, not_trained


def run_flatten(layer: Layer, X: Any, is_train: bool) -> tuple[Any, Backprop]:
    """Run `with_flatten`."""
    items = items_of(X)
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
            flat = items_of(dY, depth)
        return _nested(X, depth, _require_rows(callback(flat), len(items)))

    return Y, backprop


def _depth(X: Any) -> int:
    """The depth of nested lists, from the deepest one, because others may be empty."""
    return 1 + max((_depth(x) for x in X if isinstance(x, list)), default=0)


def items_of(X: Any, depth: int | None = None) -> list[Any]:
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
    """The results for the items, nested like the items."""
    offset = 0

    def nest(x: Any, d: int) -> Any:
        nonlocal offset
        if d < depth:
            return [nest(item, d + 1) for item in x]
        offset += len(x)
        return y[offset - len(x) : offset]

    return nest(X, 1)


def item_layer(idx: Any, layer: Any) -> Any:
    """The layer of `with_getitem`."""
    idx = as_int(idx, "idx", minimum=SMALLEST)
    return layer_around(f"with_getitem({idx}, {{}})", partial(_run_getitem, idx), partial(_item, idx), layer)


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


def as_table(X: Any) -> Any:
    """All axes but the last merged."""
    if not is_array(X):
        raise kind_error(X, expected="an array")
    if X.ndim < 2:
        raise value_error("X", f"expected an array (..., width), got shape {tuple(X.shape)}")
    return X.reshape(math.prod(X.shape[:-1]), X.shape[-1])


def run_reshape(layer: Layer, X: Any, is_train: bool) -> tuple[Any, Backprop]:
    """Run `with_reshape`."""
    table = as_table(X)
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


def first_item(X: Any) -> Any:
    """The first item, if there is one."""
    return X[0] if X else None


def run_each(layer: Layer, X: Any, is_train: bool) -> tuple[Any, Backprop]:
    """Run `map_list`."""
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
