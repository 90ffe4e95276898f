"""Layers of several: one after another, side by side, and around themselves."""

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
from varlen.transforms.layer import Backprop, Layer, is_model, not_trained, result
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
        Or a Thinc Model where one of the layers is one.

    Raises
    ------
    TypeError
        No layer, or something that cannot be called.

    Notes
    -----
    As Thinc's `chain`.

    Examples
    --------
    >>> layer = vl.transforms.chain(vl.transforms.list2ragged(), vl.transforms.reduce_sum())
    >>> layer.name, layer.predict([np.array([1, 2]), np.array([3])])
    ('list2ragged>>reduce_sum', array([3, 3]))
    """
    if any(map(is_model, _require_layers(layers))):
        from varlen.transforms import thinc_layer

        with naming(given="layers"):
            return thinc_layer.chain(*layers)
    with naming(layer="layers"):
        return result(_chain, *layers)


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
        Or a Thinc Model where one of the layers is one.

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
    with naming(layer="layers"):
        return result(_concatenate, *_require_layers(layers))


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
        Or a Thinc Model where one of the layers is one.

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
    >>> layer = vl.transforms.add(vl.transforms.with_array(np.negative), vl.transforms.with_array(np.square))
    >>> layer.predict(vl.Ragged([1, 2, 3], [2, 1])).to_list()
    [[0, 2], [6]]
    """
    with naming(layer="layers"):
        return result(_add, *_require_layers(layers))


def residual(layer: Any) -> Layer | Any:
    """Add X to the layer's result for it: arrays, Ragged, Padded, lists or tuples.

    Parameters
    ----------
    layer
        Anything that `as_layer` takes; it gives what has the kind, structure and shape of its X.

    Returns
    -------
    Layer
        Or a Thinc Model where the layer is one.

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
    return result(_residual, layer)


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


def _require_layers(layers: tuple[Any, ...]) -> tuple[Any, ...]:
    if not layers:
        raise type_error("layers", "expected at least one")
    return layers


def _chain(*layers: Layer) -> Layer:
    return Layer(">>".join(layer.name for layer in layers), partial(_one_by_one, layers), layers)


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


def _concatenate(*layers: Layer) -> Layer:
    return Layer("|".join(layer.name for layer in layers), partial(_run_concatenate, layers), layers)


def _run_concatenate(layers: tuple[Layer, ...], X: Any, is_train: bool) -> tuple[Any, Backprop]:
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


def _add(*layers: Layer) -> Layer:
    return Layer("+".join(layer.name for layer in layers), partial(_run_add, layers), layers)


def _run_add(layers: tuple[Layer, ...], X: Any, is_train: bool) -> tuple[Any, Backprop]:
    pairs = [layer(X, is_train) for layer in layers]
    Y = total([Y for Y, _ in pairs])

    def backprop(dY: Any) -> Any:
        check_gradient(dY, Y)
        return _sum_gradients([callback(dY) for _, callback in pairs])

    return Y, backprop if is_train else not_trained


def _residual(layer: Layer) -> Layer:
    return Layer(f"residual({layer.name})", partial(_run_residual, layer), (layer,))


def _run_residual(layer: Layer, X: Any, is_train: bool) -> tuple[Any, Backprop]:
    y, callback = layer(X, is_train)
    Y = total([X, y])

    def backprop(dY: Any) -> Any:
        check_gradient(dY, Y)
        return total([dY, callback(dY)], "gradients")

    return Y, backprop if is_train else not_trained
