"""Thinc's layers around sequences: varlen's transforms as Models, on the containers of `varlen.thinc`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, ParamSpec, cast

import numpy as np

from varlen import transforms, types
from varlen.arguments import as_int
from varlen.errors import naming
from varlen.thinc.initializers import get_width
from varlen.thinc.model import Model
from varlen.thinc.types import Padded, Ragged, from_thinc
from varlen.transforms import Layer
from varlen.transforms.combine import total
from varlen.transforms.layer import as_layer, is_model
from varlen.transforms.models import ModelKind, model

P = ParamSpec("P")


def _enter(x: Any, cache: Any = None) -> Any:
    return x if type(x) in _PLAIN else from_thinc(x)


# What is no container of Thinc; nothing is looked for in it.
_PLAIN = (np.ndarray, list, tuple)


def as_thinc(x: Any, cache: Any = None) -> Any:
    """Containers of varlen as those of `varlen.thinc`, in tuples too; all else stays."""
    if isinstance(x, types.Ragged):
        return x if isinstance(x, Ragged) else Ragged._make(x._values, x._levels)
    if isinstance(x, types.Padded):
        return x if isinstance(x, Padded) else Padded._make(x._data, *x._fields)
    if type(x) is tuple and any(isinstance(item, (types.Ragged, types.Padded)) for item in x):
        return tuple(map(as_thinc, x))
    return x


def _never(x: Any) -> bool:
    return False


def _model_class() -> type[Model]:
    return Model


OURS = ModelKind(_model_class, _enter, as_thinc, _never)


def as_model(layer: Any, argument: str = "layer") -> Model:
    """A Model of anything that `varlen.transforms.as_layer` takes."""
    if isinstance(layer, Model):
        return layer
    with naming(given=argument):
        result = as_layer(layer)
    return Model(result.name, partial(_call, result))


def _call(layer: Layer, model: Model, X: Any, is_train: bool) -> Any:
    return layer(X, is_train)


Dims = dict[str, int | None]


def _model_of(
    transform: Callable[P, Layer | Any],
    init: Callable[..., None] | None = None,
    dims: Callable[..., Dims] | None = None,
) -> Callable[P, Model]:
    """The transform as a function that makes a Model, or a Thinc Model if one of the layers is one."""
    signature = inspect.signature(transform)

    @wraps(transform)
    def layer(*args: P.args, **kwargs: P.kwargs) -> Model:
        arguments = signature.bind(*args, **kwargs).arguments
        has_layers = "layers" in arguments
        layers = (
            arguments.pop("layers")
            if has_layers
            else [arguments.pop("layer")]
            if "layer" in arguments
            else []
        )
        if any(map(is_model, layers)):
            return cast(Model, transform(*args, **kwargs))
        models = [as_model(one, "layers" if has_layers else "layer") for one in layers]
        options = {} if dims is None or not models else {"init": init, "dims": dims(*models)}
        make = partial(_with_layers, transform, has_layers, arguments)
        return cast(Model, model(OURS, make, *models, **options))

    layer.__module__ = __name__
    layer.__doc__ = _docstring(transform)
    return layer


def _with_layers(transform: Any, has_layers: bool, arguments: dict[str, Any], *layers: Layer) -> Layer:
    if layers and not has_layers:
        arguments = arguments | {"layer": layers[0]}
    result: Layer = transform(*layers) if has_layers else transform(**arguments)
    return result


def _docstring(transform: Any) -> str:
    """The docstring of a transform, about Models and on the containers of `varlen.thinc`."""
    text: str = transform.__doc__
    for ours, theirs in _WORDS.items():
        text = text.replace(ours, theirs)
    return text


_WORDS = {
    "vl.transforms.": "vl.thinc.",
    "vl.Ragged": "vl.thinc.Ragged",
    "vl.Padded": "vl.thinc.Padded",
    "    Layer\n": "    Model\n",
    "`as_layer`": "`varlen.transforms.as_layer`",
}


def _dims_of_chain(first: Model, *others: Model) -> Dims:
    last = others[-1] if others else first
    sizes: Dims = {"nO": last.maybe_get_dim("nO")}
    return sizes | ({} if first.has_dim("nI") is False else {"nI": first.maybe_get_dim("nI")})


def _init_chain(model: Model, X: Any = None, Y: Any = None) -> None:
    """Each layer sees what those before it give for X; Y goes to those that do not know their width."""
    sample = None if X is None else as_thinc(from_thinc(X))
    for layer in model.layers:
        layer.initialize(X=sample, Y=Y if layer.has_dim("nO") is None else None)
        sample = None if sample is None else layer.predict(sample)
    last = model.layers[-1].maybe_get_dim("nO")
    _set(model, "nI", model.layers[0].maybe_get_dim("nI"))
    _set(model, "nO", get_width(sample) if last is None and sample is not None else last)


def _dims_side_by_side(*layers: Model) -> Dims:
    blind = any(layer.has_dim("nI") is False for layer in layers)
    return {"nO": None} if blind else {"nO": None, "nI": None}


def _init_side_by_side(
    widths: Callable[[list[int]], int], model: Model, X: Any = None, Y: Any = None
) -> None:
    for layer in model.layers:
        layer.initialize(X=X, Y=Y if layer.has_dim("nO") is None else None)
    sizes = [layer.maybe_get_dim("nO") for layer in model.layers]
    _set(model, "nI", None if X is None else get_width(X))
    _set(model, "nO", widths([n for n in sizes if n is not None]) if None not in sizes else None)


def _set(model: Model, name: str, size: int | None) -> None:
    if size is not None and model.has_dim(name) is not False:
        model.set_dim(name, size)


def _first(widths: list[int]) -> int:
    return widths[0]


add = _model_of(transforms.add, partial(_init_side_by_side, _first), _dims_side_by_side)
chain = _model_of(transforms.chain, _init_chain, _dims_of_chain)
concatenate = _model_of(transforms.concatenate, partial(_init_side_by_side, sum), _dims_side_by_side)
expand_window = _model_of(transforms.expand_window)
list2array = _model_of(transforms.list2array)
list2padded = _model_of(transforms.list2padded)
list2ragged = _model_of(transforms.list2ragged)
map_list = _model_of(transforms.map_list)
padded2list = _model_of(transforms.padded2list)
ragged2list = _model_of(transforms.ragged2list)
reduce_first = _model_of(transforms.reduce_first)
reduce_last = _model_of(transforms.reduce_last)
reduce_max = _model_of(transforms.reduce_max)
reduce_mean = _model_of(transforms.reduce_mean)
reduce_sum = _model_of(transforms.reduce_sum)
residual = _model_of(transforms.residual)
with_array = _model_of(transforms.with_array)
with_array2d = _model_of(transforms.with_array2d)
with_flatten = _model_of(transforms.with_flatten)
with_flatten_v2 = with_flatten
with_getitem = _model_of(transforms.with_getitem)
with_list = _model_of(transforms.with_list)
with_padded = _model_of(transforms.with_padded)
with_ragged = _model_of(transforms.with_ragged)
with_reshape = _model_of(transforms.with_reshape)


def noop(*layers: Any) -> Model:
    """Return X itself; gradients pass unchanged.

    Parameters
    ----------
    *layers
        Layers to keep; they are not called.

    Returns
    -------
    Model

    Notes
    -----
    Like Thinc's `noop`.

    Examples
    --------
    >>> vl.thinc.noop().predict([3, 1])
    [3, 1]
    """
    return Model("noop", _pass, layers=[as_model(layer, "layers") for layer in layers])


def clone(orig: Model, n: int) -> Model:
    """Chain a layer and copies of it, each with its own parameters.

    Parameters
    ----------
    orig
        The first layer.
    n
        The number of layers in all; 0 gives `noop`.

    Returns
    -------
    Model

    Raises
    ------
    ValueError
        `n` is below 0.

    Notes
    -----
    Like Thinc's `clone`.

    Examples
    --------
    >>> vl.thinc.clone(vl.thinc.Linear(3), 2).name
    'linear>>linear'
    """
    as_int(n, "n")
    with naming(layers="orig"):
        return chain(orig, *(orig.copy() for _ in range(n - 1))) if n > 1 else orig if n else noop()


def tuplify(layer1: Any, layer2: Any, *layers: Any) -> Model:
    """Give X to all layers and return a tuple of their results. Their gradients for X are added.

    Parameters
    ----------
    layer1, layer2, *layers
        Anything that `varlen.transforms.as_layer` takes.

    Returns
    -------
    Model

    Notes
    -----
    Like Thinc's `tuplify`, which adds only gradients that are arrays.

    Examples
    --------
    >>> vl.thinc.tuplify(vl.thinc.noop(), vl.thinc.reduce_sum()).predict(vl.thinc.Ragged([1, 2], [2]))[1]
    array([3])
    """
    models = [as_model(layer1, "layer1"), as_model(layer2, "layer2")]
    models += [as_model(layer, "layers") for layer in layers]
    name = f"tuple({', '.join(model.name for model in models)})"
    return Model(name, _tuple, init=_init_tuple, layers=models, dims={"nI": None})


def _tuple(model: Model, X: Any, is_train: bool) -> Any:
    Ys, backs = zip(*(layer(X, is_train) for layer in model.layers), strict=True)

    def backprop(dYs: Any) -> Any:
        return as_thinc(total([callback(dY) for callback, dY in zip(backs, dYs, strict=True)], "gradients"))

    return Ys, backprop


def _init_tuple(model: Model, X: Any = None, Y: Any = None) -> None:
    for k, layer in enumerate(model.layers):
        layer.initialize(X=X, Y=Y[k] if Y is not None and layer.has_dim("nO") is None else None)
    _set(model, "nI", model.layers[0].maybe_get_dim("nI"))


def _pass(model: Model, X: Any, is_train: bool) -> Any:
    return X, _identity


def _identity(dY: Any) -> Any:
    return dY
