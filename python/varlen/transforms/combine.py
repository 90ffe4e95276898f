"""Layers of several layers: chained, side by side, and residual."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from varlen.backends import backend_of
from varlen.backends.values import as_values
from varlen.errors import naming, type_error, value_error
from varlen.transforms.convert import as_array
from varlen.transforms.kinds import check_gradient, check_structure
from varlen.transforms.layer import Backprop, Layer, Run, is_model, not_trained, result
from varlen.types import Padded


def chain(*layers: Any) -> Layer | Any:
    """Chain layers: each sees the result of the one before it. Gradients flow back the other way.

    Parameters
    ----------
    *layers
        At least one; anything that `as_layer` takes.

    Returns
    -------
    Layer
        The layer; a Thinc Model if one of the layers is one.

    Raises
    ------
    TypeError
        There is no layer, or one that cannot be called.

    Notes
    -----
    Like Thinc's `chain`.

    Examples
    --------
    >>> layer = vl.transforms.chain(vl.transforms.list2ragged(), vl.transforms.reduce_sum())
    >>> layer.name, layer.predict([np.array([1, 2]), np.array([3])])
    ('list2ragged>>reduce_sum', array([3, 3]))
    """
    if any(map(is_model, layers)):
        from varlen.transforms import thinc_layer

        with naming(given="layers"):
            return thinc_layer.chain(*layers)
    return join_layers(">>", _one_by_one, layers)


def join_layers(symbol: str, run: Run, layers: tuple[Any, ...]) -> Any:
    """A layer of several, which has their names with a symbol between them."""
    if not layers:
        raise type_error("layers", "expected at least one")
    with naming(layer="layers"):
        return result(partial(_join, symbol, run), *layers)


def _join(symbol: str, run: Run, *layers: Layer) -> Layer:
    return Layer(symbol.join(layer.name for layer in layers), partial(run, layers), layers)


def total(parts: Sequence[Any], what: str = "results") -> Any:
    """The sum of containers of one kind and structure."""
    first = parts[0]
    values, leave = as_array(first)
    for part in parts[1:]:
        check_structure(part, first, f"the layers' {what}", "the first")
        term = as_array(part)[0]
        if tuple(term.shape) != tuple(values.shape):
            raise value_error(
                "",
                f"the layers' {what} differ in their shapes: {tuple(values.shape)} and {tuple(term.shape)}",
            )
        values = values + term
    return leave(values) if len(parts) > 1 else first


def _sum_gradients(dXs: list[Any]) -> Any:
    """The gradient of X; a layer may have none where X is not a container, a text say."""
    terms = [dX for dX in dXs if dX is not None]
    return total(terms, "gradients") if terms else None


def _one_by_one(layers: tuple[Layer, ...], X: Any, is_train: bool) -> tuple[Any, Backprop]:
    backs = []
    for layer in layers:
        X, callback = layer(X, is_train)
        backs.append(callback)

    def backprop(dY: Any) -> Any:
        for callback in reversed(backs):
            dY = callback(dY)
        return dY

    return X, backprop if is_train else not_trained


def run_concatenate(layers: tuple[Layer, ...], X: Any, is_train: bool) -> tuple[Any, Backprop]:
    """Run `concatenate`."""
    pairs = [layer(X, is_train) for layer in layers]
    results = [Y for Y, _ in pairs]
    conversions = []
    for Y in results:
        check_structure(Y, results[0], "the layers' results", "the first")
        conversions.append(as_array(Y))
    n_axes = 2 if isinstance(results[0], Padded) else 1
    columns = [_with_columns(values, n_axes) for values, _ in conversions]
    shapes = [tuple(values.shape) for values, _ in conversions]
    for shape in columns[1:]:
        if tuple(shape.shape[:-1]) != tuple(columns[0].shape[:-1]):
            raise value_error("", f"the layers' results: shapes {shapes[0]} and {tuple(shape.shape)}")
    Y = conversions[0][1](_concat_columns(columns))
    ends = np.cumsum([0, *(part.shape[-1] for part in columns)]).tolist()

    def backprop(dY: Any) -> Any:
        check_gradient(dY, Y)
        d = as_array(dY)[0]
        dXs = []
        for k, (_, callback) in enumerate(pairs):
            part = d[..., ends[k] : ends[k + 1]]
            part = as_values(part)
            dXs.append(callback(conversions[k][1](part.reshape(shapes[k]))))
        return _sum_gradients(dXs)

    return Y, backprop if is_train else not_trained


def _with_columns(values: Any, n_axes: int) -> Any:
    return values[..., None] if values.ndim == n_axes else values


def _concat_columns(columns: list[Any]) -> Any:
    return backend_of(columns[0]).concat(columns, columns[0].ndim - 1)


def run_add(layers: tuple[Layer, ...], X: Any, is_train: bool) -> tuple[Any, Backprop]:
    """Run `add`."""
    pairs = [layer(X, is_train) for layer in layers]
    Y = total([Y for Y, _ in pairs])

    def backprop(dY: Any) -> Any:
        check_gradient(dY, Y)
        return _sum_gradients([callback(dY) for _, callback in pairs])

    return Y, backprop if is_train else not_trained


def run_residual(layer: Layer, X: Any, is_train: bool) -> tuple[Any, Backprop]:
    """Run `residual`."""
    y, callback = layer(X, is_train)
    Y = total([X, y])

    def backprop(dY: Any) -> Any:
        check_gradient(dY, Y)
        return total([dY, callback(dY)], "gradients")

    return Y, backprop if is_train else not_trained
