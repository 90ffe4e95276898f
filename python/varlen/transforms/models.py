"""Layers as Models, which have parameters and dimensions, and Models as layers; for each class of Models."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from varlen.transforms.layer import Backprop, Layer, as_layer, not_trained


class ModelKind(NamedTuple):
    """A class of Models, and how their containers come from varlen's and become such."""

    # Gives the class, which is imported then.
    model: Callable[[], Any]
    # The containers of Models as varlen's, and back; `kept` is what the second knows of the first.
    enter: Callable[..., Any]
    leave: Callable[..., Any]
    # Whether an X is of varlen, so that varlen's containers are what it gives.
    stays: Callable[[Any], bool]


def from_model(kind: ModelKind, given: Any) -> Layer:
    """A Layer that calls a Model with its containers, and gives ours."""
    return Layer(given.name, partial(_run, kind, given))


def model(kind: ModelKind, make: Callable[..., Layer], *layers: Any, **options: Any) -> Any:
    """A Model of what `make` makes of layers. Those that are Models are its layers.

    It takes and gives its containers, and varlen's where such came and may stay.
    """
    cls = kind.model()
    models = [layer for layer in layers if isinstance(layer, cls)]
    # A copy of the Model calls the copies of its layers: places, not layers, are kept.
    places = [None if isinstance(layer, cls) else as_layer(layer) for layer in layers]
    only = models[0] if len(models) == 1 else None
    given: dict[str, Any] = {
        "init": partial(_init, kind, make, places),
        "dims": {} if only is None else {name: only.maybe_get_dim(name) for name in only.dim_names},
    }
    name = make(*(from_model(kind, x) if isinstance(x, cls) else as_layer(x) for x in layers)).name
    return cls(name, partial(_forward, kind, make, places), layers=models, **given | options)


def _run(kind: ModelKind, given: Any, X: Any, is_train: bool) -> tuple[Any, Backprop]:
    if not is_train:
        return kind.enter(given.predict(kind.leave(X))), not_trained
    Y, back = given(kind.leave(X), True)
    return kind.enter(Y), lambda dY: kind.enter(back(kind.leave(dY)))


def _layer(kind: ModelKind, make: Callable[..., Layer], places: list[Layer | None], given: Any) -> Layer:
    layers = given.layers
    built = getattr(given, "_built", None)  # models of ours keep what they made
    if built is not None and built[0] is make and built[1] == layers:
        kept: Layer = built[2]
        return kept
    made = _make_layer(kind, make, places, layers)
    if built is not None:
        given._built = make, list(layers), made
    return made


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
    given: Any,
    X: Any,
    is_train: bool,
) -> tuple[Any, Backprop]:
    layer = _layer(kind, make, places, given)
    kept: dict[int, Any] = {}
    leave: Callable[[Any], Any] = _identity if kind.stays(X) else partial(kind.leave, kept=kept)
    Y, back = layer(kind.enter(X, kept), is_train)
    return leave(Y), lambda dY: leave(back(kind.enter(dY)))


def _init(
    kind: ModelKind,
    make: Callable[..., Layer],
    places: list[Layer | None],
    given: Any,
    X: Any = None,
    Y: Any = None,
) -> None:
    layer = _layer(kind, make, places, given)
    inside_X, inside_Y = (None if x is None else kind.leave(layer.sample(kind.enter(x))) for x in (X, Y))
    for inner in given.layers:
        # As Thinc's own combinators: Y is passed on only where the output width is not known.
        inner.initialize(X=inside_X, Y=None if inner.has_dim("nO") else inside_Y)
        if len(given.layers) == 1:
            for name in inner.dim_names:
                if inner.maybe_get_dim(name) is not None:
                    given.set_dim(name, inner.get_dim(name))


def _identity(x: Any) -> Any:
    return x
