"""Layers that convert X for an inner layer, and convert its result back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from varlen.transforms.convert import Conversion, as_laid_out
from varlen.transforms.kinds import check_gradient, check_structure
from varlen.transforms.layer import Backprop, Layer, layer_around, not_trained


def wrap(name: str, enter: Callable[[Any], Conversion], layer: Any) -> Any:
    """A layer that converts X by `enter` for an inner layer, and converts its result back."""
    return layer_around(name, partial(_run, enter), partial(_enter, enter), layer)


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
