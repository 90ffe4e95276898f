"""`Layer`: a function with its gradient. `as_layer` makes one from any callable."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, cast

from varlen.errors import instance_error, naming, type_error, value_error

if TYPE_CHECKING:
    from thinc.model import Model

    from varlen.backends.values import Rows

Backprop = Callable[[Any], Any]
Forward = Callable[[Any, bool], tuple[Any, Backprop]]
Run = Callable[..., tuple[Any, Backprop]]

# What wraps the layers of Thinc and of torch, set by `register` when `varlen.transforms` is loaded.
_CONVERTERS: dict[str, Callable[..., Any]] = {}


def register(**converters: Callable[..., Any]) -> None:
    """Say what turns other libraries' layers into layers (from_model, from_module), and back (to_model)."""
    _CONVERTERS.update(converters)


class Layer:
    """A function with its gradient: `layer(X, is_train)` returns Y and backprop, and backprop(dY) returns dX.

    Parameters
    ----------
    name
        The name in errors and `repr`.
    forward
        A function: forward(X, is_train) returns (Y, backprop). Without is_train backprop is not called.
    layers
        The layers that it calls.
    sample
        A function that returns the input of the inner layers for X. Thinc initializes its models with it.

    Notes
    -----
    It is called like Thinc's `Model`, but has no parameters, dimensions or state of its own. It is picklable
    if its functions are.

    Examples
    --------
    >>> twice = vl.transforms.Layer("twice", lambda X, is_train: (2 * X, lambda dY: 2 * dY))
    >>> Y, backprop = twice(np.array([1.0, 2.0]), is_train=True)
    >>> Y, backprop(np.ones(2)), twice.predict(3)
    (array([2., 4.]), array([2., 2.]), 6)
    """

    __slots__ = ("_forward", "_layers", "_name", "_sample")

    def __init__(
        self,
        name: str,
        forward: Forward,
        layers: tuple[Layer, ...] = (),
        sample: Callable[[Any], Any] | None = None,
    ) -> None:
        self._name = name
        self._layers = tuple(layers)
        self._forward = forward
        self._sample = sample

    @property
    def name(self) -> str:
        """The name of the layer in errors and `repr`."""
        return self._name

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers that it calls, outermost first."""
        return self._layers

    def predict(self, X: Any) -> Rows:
        """The result for X, without a gradient.

        Parameters
        ----------
        X
            The input; the function that made the layer documents its kinds.

        Returns
        -------
        object
            The result Y.

        Examples
        --------
        >>> vl.transforms.list2ragged().predict([[1, 2], [3]]).to_list()
        [[1, 2], [3]]
        """
        return self._forward(X, False)[0]

    def __call__(self, X: Any, is_train: bool) -> tuple[Any, Backprop]:
        return self._forward(X, is_train)

    def begin_update(self, X: Any) -> tuple[Any, Backprop]:
        """The result for X, and the function for its gradient; Thinc's name for `layer(X, is_train=True)`.

        Parameters
        ----------
        X
            The input of the layer.

        Returns
        -------
        Y : object
            The result of `predict`.
        backprop : callable
            backprop(dY) returns dX, of the kind and structure of X.

        Examples
        --------
        >>> vl.transforms.reduce_sum().begin_update(vl.Ragged([1.0, 2.0], [2]))[0]
        array([3.])
        """
        return self._forward(X, True)

    def sample(self, X: Any) -> Rows:
        """Return the input of the inner layers for X. Thinc initializes its models with it.

        Parameters
        ----------
        X
            The input of the layer.

        Returns
        -------
        object
            X itself if the layer passes it on unchanged.

        Examples
        --------
        >>> vl.transforms.with_array(np.tanh).sample(vl.Ragged([1, 2], [2]))
        array([1, 2])
        """
        return X if self._sample is None else self._sample(X)

    def to_thinc(self) -> Model[Any, Any]:
        """Convert to a Thinc `Model` that takes and returns Thinc's own containers.

        Returns
        -------
        thinc.model.Model
            Inner layers that are Thinc Models are its own layers.

        Raises
        ------
        ModuleNotFoundError
            Thinc is not installed.

        Examples
        --------
        >>> model = vl.transforms.reduce_sum().to_thinc()  # doctest: +SKIP
        """
        return _CONVERTERS["to_model"](partial(_identity, self))

    def __repr__(self) -> str:
        return f"Layer({self.name!r})"


def result(make: Callable[..., Layer], *layers: Any) -> Any:
    """The result of `make` for layers of any kind: a Layer, or a Thinc Model if one of them is one."""
    with naming(given="layer"):
        if any(map(is_model, layers)):
            return _CONVERTERS["to_model"](make, *layers)
        return make(*map(as_layer, layers))


def layer_around(
    name: str,
    run: Run,
    sample: Callable[[Any], Any] | None,
    layer: Any,
) -> Any:
    """A layer around one of any kind: `run(layer, X, is_train)`; `name` has a place for that of the other."""
    return result(partial(_layer_around, name, run, sample), layer)


def _layer_around(
    name: str,
    run: Run,
    sample: Callable[[Any], Any] | None,
    layer: Layer,
) -> Layer:
    return Layer(name.format(layer.name), partial(run, layer), (layer,), sample)


def as_layer(given: Any) -> Layer:
    """Make a Layer from any callable.

    Parameters
    ----------
    given
        A Layer; a torch module, whose gradients come from autograd; a Thinc Model; `f(x, is_train)`, which
        returns (y, backprop); or `f(x)`, which returns y and has no gradient. A function counts as f(x,
        is_train) if it has a parameter of that name, or a second required parameter.

    Returns
    -------
    Layer
        A Layer is returned unchanged.

    Raises
    ------
    TypeError
        `given` cannot be called.

    Examples
    --------
    >>> as_layer(np.tanh).predict(np.zeros(1))
    array([0.])
    >>> as_layer(lambda x, is_train: (2 * x, lambda d: 2 * d))(1.0, True)[1](1.0)
    2.0
    >>> as_layer(np.tanh)(np.zeros(1), True)[1](np.ones(1))
    Traceback (most recent call last):
    TypeError: tanh is a function f(x) -> y, which has no gradient; pass f(x, is_train) -> (y,...
    """
    if isinstance(given, Layer):
        return given
    if is_model(given):
        return cast(Layer, _CONVERTERS["from_model"](given))
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(given, torch.nn.Module):
        return cast(Layer, _CONVERTERS["from_module"](given))
    if not callable(given):
        raise instance_error("given", "a callable", given)
    name = getattr(given, "__name__", None) or type(given).__name__
    return Layer(name, partial(_LIKE[_takes_is_train(given)], name, given))


def not_trained(dY: Any) -> NoReturn:
    """The backprop of a call without `is_train`: it raises."""
    raise value_error("", "the layer was called with is_train=False, so it has no gradient")


def _takes_is_train(function: Callable[..., Any]) -> str:
    """How it takes `is_train`: by "place", by "name", or "" where it takes none."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some of C say nothing about themselves
        return ""
    for parameter in parameters:
        if parameter.name == "is_train":
            return "name" if parameter.kind is parameter.KEYWORD_ONLY else "place"
    by_place = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return "place" if sum(p.default is p.empty for p in by_place) >= 2 else ""


def _by_place(name: str, f: Callable[..., Any], X: Any, is_train: bool) -> tuple[Any, Backprop]:
    output = f(X, is_train)
    return output if type(output) is tuple and len(output) == 2 else _two(name, output)


def _by_name(name: str, f: Callable[..., Any], X: Any, is_train: bool) -> tuple[Any, Backprop]:
    return _two(name, f(X, is_train=is_train))


def _call_function(name: str, f: Callable[..., Any], X: Any, is_train: bool) -> tuple[Any, Backprop]:
    return f(X), partial(_no_gradient, name)


_LIKE = {"place": _by_place, "name": _by_name, "": _call_function}


def _two(name: str, output: Any) -> tuple[Any, Backprop]:
    if not isinstance(output, tuple) or len(output) != 2:
        got = f"{len(output)} items" if isinstance(output, tuple) else type(output).__name__
        raise type_error("", f"{name} must return (y, backprop) when called as f(x, is_train), got {got}")
    return output


def _no_gradient(name: str, dY: Any) -> NoReturn:
    raise type_error(
        "",
        f"{name} is a function f(x) -> y, which has no gradient",
        "pass f(x, is_train) -> (y, backprop), or a torch module",
    )


def is_model(value: Any) -> bool:
    """Whether it is a Thinc Model; Thinc is looked for among the loaded modules."""
    thinc = sys.modules.get("thinc.model")
    return thinc is not None and isinstance(value, thinc.Model)


def _identity(layer: Layer) -> Layer:
    return layer
