"""Layers as Models and Models as layers, for each class of Models."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from varlen.transforms.layer import Backprop, Layer, as_layer, not_trained


class ModelKind(NamedTuple):
    """A class of Models, with conversions of its containers from and to varlen's."""

    # Gives the class, which is imported then.
    model: Callable[[], Any]
    # The containers of Models as varlen's, and back; `kept` is what the second knows of the first.
    enter: Callable[..., Any]
    leave: Callable[..., Any]
    # Whether an X is of varlen, so that varlen's containers are what it gives.
    stays: Callable[[Any], bool]


def from_model(kind: ModelKind, node: Any) -> Layer:
    """A Layer that calls a Model with its containers, and returns varlen's."""
    return Layer(node.name, partial(_run, kind, node))


def model(kind: ModelKind, make: Callable[..., Layer], *layers: Any, **options: Any) -> Any:
    """A Model of the result of `make` for layers; Models among these are its layers.

    It takes and returns its own containers, and varlen's if they came in and may stay.
    """
    cls = kind.model()
    models = [layer for layer in layers if isinstance(layer, cls)]
    # A copy of the Model calls the copies of its layers: places, not layers, are kept.
    places = [None if isinstance(layer, cls) else as_layer(layer) for layer in layers]
    only_model = models[0] if len(models) == 1 else None
    settings: dict[str, Any] = {
        "init": partial(_init, kind, make, places),
        "dims": {}
        if only_model is None
        else {name: only_model.maybe_get_dim(name) for name in only_model.dim_names},
    }
    name = make(*(from_model(kind, x) if isinstance(x, cls) else as_layer(x) for x in layers)).name
    return cls(name, partial(_forward, kind, make, places), layers=models, **settings | options)


def _run(kind: ModelKind, node: Any, X: Any, is_train: bool) -> tuple[Any, Backprop]:
    if not is_train:
        return kind.enter(node.predict(kind.leave(X))), not_trained
    Y, callback = node(kind.leave(X), True)
    return kind.enter(Y), lambda dY: kind.enter(callback(kind.leave(dY)))


def _layer(kind: ModelKind, make: Callable[..., Layer], places: list[Layer | None], node: Any) -> Layer:
    layers = node.layers
    record = getattr(node, "_layer", None)  # models of ours keep what they made
    if record is not None and record[0] is make and record[1] == layers:
        layer: Layer = record[2]
        return layer
    result = _make_layer(kind, make, places, layers)
    if record is not None:
        node._layer = make, list(layers), result
    return result


def _make_layer(
    kind: ModelKind, make: Callable[..., Layer], places: list[Layer | None], layers: list[Any]
) -> Layer:
    models = iter(layers)
    if all(place is None for place in places):  # layers may have been added or taken out
        return make(*(from_model(kind, layer) for layer in models))
    return make(*(from_model(kind, next(models)) if place is None else place for place in places))


def _forward(
    kind: ModelKind,
    make: Callable[..., Layer],
    places: list[Layer | None],
    node: Any,
    X: Any,
    is_train: bool,
) -> tuple[Any, Backprop]:
    layer = _layer(kind, make, places, node)
    cache: dict[int, Any] = {}
    leave: Callable[[Any], Any] = _identity if kind.stays(X) else partial(kind.leave, cache=cache)
    Y, callback = layer(kind.enter(X, cache), is_train)
    return leave(Y), lambda dY: leave(callback(kind.enter(dY)))


def _init(
    kind: ModelKind,
    make: Callable[..., Layer],
    places: list[Layer | None],
    node: Any,
    X: Any = None,
    Y: Any = None,
) -> None:
    layer = _layer(kind, make, places, node)
    inside_X, inside_Y = (None if x is None else kind.leave(layer.sample(kind.enter(x))) for x in (X, Y))
    for inner in node.layers:
        # As Thinc's own combinators: Y is passed on only where the output width is not known.
        inner.initialize(X=inside_X, Y=None if inner.has_dim("nO") else inside_Y)
        if len(node.layers) == 1:
            for name in inner.dim_names:
                if inner.maybe_get_dim(name) is not None:
                    node.set_dim(name, inner.get_dim(name))


def _identity(x: Any) -> Any:
    return x
