"""Thinc's Models as layers, and layers as Thinc's Models. Thinc is imported when a Model is made."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from varlen._core import Level
from varlen.backends.values import is_array
from varlen.interop import thinc as interop
from varlen.ops.inputs import one_level
from varlen.transforms.layer import Backprop, Layer, as_layer, not_trained
from varlen.types import Padded, Pairs, Ragged

# Thinc's arrays of lengths, by the level that was made of each, so that the same array is handed back.
Kept = dict[int, tuple[Level, Any]]


def from_model(given: Any) -> Layer:
    """A Layer that calls a Model with Thinc's containers, and gives ours.

    Examples
    --------
    >>> from_model(Relu(4, 3))  # doctest: +SKIP
    Layer('relu')
    """
    return Layer(given.name, partial(_run, given))


def model(make: Callable[..., Layer], *layers: Any) -> Any:
    """A Model of what `make` makes of layers. Those that are Models are its layers.

    It takes and gives Thinc's containers, and ours where ours came.

    Examples
    --------
    >>> model(lambda layer: layer, Relu(4, 3)).name  # doctest: +SKIP
    'relu'
    """
    from thinc.api import Model

    models = [layer for layer in layers if isinstance(layer, Model)]
    # A copy of the Model calls the copies of its layers: places, not layers, are kept.
    places = [None if isinstance(layer, Model) else as_layer(layer) for layer in layers]
    only = models[0] if len(models) == 1 else None
    return Model(
        make(*map(as_layer, layers)).name,
        partial(_forward, make, places),
        init=partial(_init, make, places),
        layers=models,
        dims={} if only is None else {name: only.maybe_get_dim(name) for name in only.dim_names},
    )


def chain(*layers: Any) -> Any:
    """Thinc's own chain of Models, and of other layers as Models.

    Examples
    --------
    >>> chain(vl.transforms.list2ragged(), with_array(Relu(4, 3))).name  # doctest: +SKIP
    'list2ragged>>with_array(relu)'
    """
    from thinc.api import Model
    from thinc.api import chain as chained

    models = [layer if isinstance(layer, Model) else as_layer(layer).to_thinc() for layer in layers]
    return chained(*models) if len(models) > 1 else models[0]


def from_thinc(x: Any, kept: Kept | None = None) -> Any:
    """Containers of Thinc as varlen's, in lists and tuples too; all else stays.

    Examples
    --------
    >>> from_thinc([3, 1])
    [3, 1]
    """
    types = _types()
    if types is None:
        return x
    if isinstance(x, types.Ragged):
        values, level = interop.ragged_parts(x)
        if kept is not None:
            kept[id(level)] = level, x.lengths
        return Ragged(values, levels=level)
    if isinstance(x, types.Padded):
        return Padded(*interop.padded_parts(x))
    if isinstance(x, types.Pairs):
        return Pairs(from_thinc(x.one, kept), from_thinc(x.two, kept))
    return _map_items(x, partial(from_thinc, kept=kept))


def to_thinc(x: Any, kept: Kept | None = None) -> Any:
    """Containers of varlen as Thinc's, in lists and tuples too; all else stays. A nested Ragged is refused.

    Examples
    --------
    >>> to_thinc([3, 1])
    [3, 1]
    """
    if isinstance(x, Pairs):
        return _types().Pairs(to_thinc(x.one, kept), to_thinc(x.two, kept))
    if not isinstance(x, (Ragged, Padded)):
        return _map_items(x, partial(to_thinc, kept=kept))
    if isinstance(x, Padded):
        return interop.new_padded(x.data, *x._fields)
    level = one_level(x)
    result = interop.new_ragged(x.values, level)
    if kept and id(level) in kept:
        result.lengths = kept[id(level)][1]
    return result


def _types() -> Any:
    """Thinc's types; without them nothing is of Thinc's."""
    return sys.modules.get("thinc.types")


def _map_items(x: Any, convert: Callable[[Any], Any]) -> Any:
    if type(x) not in (list, tuple) or not x or is_array(x[0]):
        return x
    converted = [convert(item) for item in x]
    return x if all(a is b for a, b in zip(converted, x, strict=True)) else type(x)(converted)


def _is_ours(x: Any) -> bool:
    if type(x) in (list, tuple):
        return any(_is_ours(item) for item in x if not is_array(item))
    return isinstance(x, (Ragged, Padded, Pairs))


def _run(given: Any, X: Any, is_train: bool) -> tuple[Any, Backprop]:
    if not is_train:
        return from_thinc(given.predict(to_thinc(X))), not_trained
    Y, back = given(to_thinc(X), True)
    return from_thinc(Y), lambda dY: from_thinc(back(to_thinc(dY)))


def _layer(make: Callable[..., Layer], places: list[Layer | None], given: Any) -> Layer:
    models = iter(given.layers)
    return make(*(from_model(next(models)) if place is None else place for place in places))


def _forward(
    make: Callable[..., Layer], places: list[Layer | None], given: Any, X: Any, is_train: bool
) -> tuple[Any, Backprop]:
    layer = _layer(make, places, given)
    kept: Kept = {}
    leave: Callable[[Any], Any] = _same if _is_ours(X) else partial(to_thinc, kept=kept)
    Y, back = layer(from_thinc(X, kept), is_train)
    return leave(Y), lambda dY: leave(back(from_thinc(dY)))


def _init(
    make: Callable[..., Layer], places: list[Layer | None], given: Any, X: Any = None, Y: Any = None
) -> None:
    layer = _layer(make, places, given)
    inside_X, inside_Y = (None if x is None else to_thinc(layer.sample(from_thinc(x))) for x in (X, Y))
    for inner in given.layers:
        # As Thinc's own combinators: Y is passed on only where the output width is not known.
        inner.initialize(X=inside_X, Y=inside_Y if inner.has_dim("nO") is None else None)
        if len(given.layers) == 1:
            for name in inner.dim_names:
                if inner.maybe_get_dim(name) is not None:
                    given.set_dim(name, inner.get_dim(name))


def _same(x: Any) -> Any:
    return x
