"""`Model`: a Layer with parameters, dimensions and layers of its own, and the interface of Thinc's."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Any

from varlen._methods import adopt_methods
from varlen.arguments import as_int
from varlen.errors import contract_error, error_of, type_error, value_error
from varlen.thinc.current import get_current_ops
from varlen.transforms import Layer

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from varlen.thinc.numpy_ops import NumpyOps

    Array = NDArray[Any]
    Key = tuple[int, str]
    Optimizer = Callable[[Key, Array, Array], tuple[Array, Array]]
    Operators = dict[str, Callable[[Any, Any], Any]]

_ids = count(1)
_lock = Lock()
# What a transform made of the layers, once it is called: (make, layers, Layer).
_NOT_BUILT: tuple[Any, list[Any], Any] = (None, [], None)
_operators: ContextVar[Operators | None] = ContextVar("varlen_thinc_operators", default=None)


@adopt_methods
class Model(Layer):
    """A layer with parameters, like Thinc's `Model`. `Linear` and other functions make models.

    `model(X, is_train)` returns Y and backprop. Backprop accumulates the gradients of parameters, and
    `finish_update` passes them to an optimizer. A Model is a `varlen.transforms.Layer`, and works wherever
    one does.

    Parameters
    ----------
    name
        The name in errors and `repr`.
    forward
        A function: forward(model, X, is_train) returns (Y, backprop).
    init
        A function: init(model, X=None, Y=None) sets dimensions and parameters.
    dims
        {name: size}; None for a size that is not known yet.
    params
        {name: array}; None for a parameter that is not made yet.
    layers
        The Models that it calls.
    attrs
        {name: anything}.
    refs
        {name: a Model of its layers}, or None.
    ops
        The ops that the model computes with; None for `get_current_ops()`.

    Notes
    -----
    Unlike Thinc's `Model` it has no shims, and no methods for bytes, disks and devices. Pickle it instead: it
    then keeps its id.

    Examples
    --------
    >>> def forward(model, X, is_train):
    ...     return X * model.get_param("scale"), lambda dY: dY * model.get_param("scale")
    >>> scale = vl.thinc.Model("scale", forward, params={"scale": np.array([2.0])})
    >>> vl.thinc.with_array(scale).predict(vl.thinc.Ragged([[1.0], [2.0], [3.0]], [2, 1])).to_list()
    [[[2.0], [4.0]], [[6.0]]]
    """

    __slots__ = ("_attrs", "_dims", "_func", "_grads", "_id", "_init", "_layer", "_ops", "_params", "_refs")

    _layers: list[Model]  # type: ignore[assignment]

    def __init__(
        self,
        name: str,
        forward: Callable[..., Any],
        *,
        init: Callable[..., Any] | None = None,
        dims: dict[str, int | None] | None = None,
        params: dict[str, Array | None] | None = None,
        layers: Sequence[Model] = (),
        attrs: dict[str, Any] | None = None,
        refs: dict[str, Model | None] | None = None,
        ops: NumpyOps | None = None,
    ) -> None:
        super().__init__(name, self._run)
        self._func = forward
        self._layer = _NOT_BUILT
        self._layers = list(layers)
        self._dims = dict(dims or {})
        self._params = dict(params or {})
        self._grads: dict[str, Array] = {}
        self._attrs = dict(attrs or {})
        self._refs = dict(refs or {})
        self._init = init
        self._ops = get_current_ops() if ops is None else ops
        with _lock:
            self._id = next(_ids)

    @property
    def name(self) -> str:
        """The name in errors and `repr`. It can be set."""
        return self._name

    @name.setter
    def name(self, value: str) -> None:
        self._name = value

    @property
    def id(self) -> int:
        """The unique number of the model."""
        return self._id

    @property
    def ops(self) -> NumpyOps:
        """The ops that the model computes with. They can be set."""
        return self._ops

    @ops.setter
    def ops(self, value: NumpyOps) -> None:
        self._ops = value

    @property
    def init(self) -> Callable[..., Any] | None:
        """init(model, X=None, Y=None), which `initialize` calls, or None."""
        return self._init

    @property
    def layers(self) -> list[Model]:  # type: ignore[override]
        """The models that this one calls. More can be appended."""
        return self._layers

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes of the model, which can be set."""
        return self._attrs

    @property
    def dim_names(self) -> tuple[str, ...]:
        """The names of the dimensions, including those without a size."""
        return tuple(self._dims)

    @property
    def param_names(self) -> tuple[str, ...]:
        """The names of the parameters, including those not allocated yet."""
        return tuple(self._params)

    @property
    def grad_names(self) -> tuple[str, ...]:
        """The names of the parameters that have a gradient."""
        return tuple(name for name in self._params if name in self._grads)

    @property
    def ref_names(self) -> tuple[str, ...]:
        """The names of the references, including those to nothing."""
        return tuple(self._refs)

    if TYPE_CHECKING:

        def has_dim(self, name: str) -> bool | None: ...
        def get_dim(self, name: str) -> int: ...
        def maybe_get_dim(self, name: str) -> int | None: ...
        def has_param(self, name: str) -> bool | None: ...
        def get_param(self, name: str) -> Array: ...
        def maybe_get_param(self, name: str) -> Array | None: ...
        def has_grad(self, name: str) -> bool | None: ...
        def get_grad(self, name: str) -> Array: ...
        def maybe_get_grad(self, name: str) -> Array | None: ...
        def has_ref(self, name: str) -> bool | None: ...
        def get_ref(self, name: str) -> Model: ...
        def maybe_get_ref(self, name: str) -> Model | None: ...
        def __add__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __matmul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __floordiv__(self, other: Any) -> Any: ...
        def __mod__(self, other: Any) -> Any: ...
        def __pow__(self, other: Any) -> Any: ...
        def __lshift__(self, other: Any) -> Any: ...
        def __rshift__(self, other: Any) -> Any: ...
        def __and__(self, other: Any) -> Any: ...
        def __xor__(self, other: Any) -> Any: ...
        def __or__(self, other: Any) -> Any: ...

    def _run(self, X: Any, is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
        pair: tuple[Any, Callable[[Any], Any]] = self._func(self, X, is_train)
        return pair

    def set_dim(self, name: str, value: int, *, force: bool = False) -> None:
        """Set the size of a dimension, once.

        Parameters
        ----------
        name
            The name of the dimension.
        value
            Its size.
        force
            Whether it may change while no parameter exists yet.

        Raises
        ------
        KeyError
            No such dimension.
        ValueError
            The dimension already has another size.

        Examples
        --------
        >>> vl.thinc.Linear(2).set_dim("nI", 3)
        """
        if name not in self._dims:
            raise error_of(KeyError, "", f"Cannot set unknown dimension '{name}' for model '{self.name}'.")
        value = value if value is None else as_int(value, "value")
        old = self._dims[name]
        has_params = any(x is not None for x in self._params.values())
        if old is not None and old != value and (has_params or not force):
            raise value_error(
                "", f"Attempt to change dimension '{name}' for model '{self.name}' from {old} to {value}"
            )
        self._dims[name] = value

    def set_param(self, name: str, value: Array | None) -> None:
        """Set a parameter.

        Parameters
        ----------
        name
            The name of the parameter, which may be new.
        value
            An array, or None to unset it.

        Examples
        --------
        >>> vl.thinc.Linear(2, 3).set_param("b", np.zeros(2, np.float32))
        """
        self._params[name] = value

    def set_grad(self, name: str, value: Array) -> None:
        """Set the gradient of a parameter.

        Parameters
        ----------
        name
            The name of the parameter.
        value
            An array of its shape.

        Examples
        --------
        >>> vl.thinc.Linear(2, 3).set_grad("b", np.zeros(2, np.float32))
        """
        self._grads[name] = value

    def inc_grad(self, name: str, value: Array) -> None:
        """Add to the gradient of a parameter.

        Parameters
        ----------
        name
            The name of the parameter.
        value
            An array of its shape.

        Examples
        --------
        >>> model = vl.thinc.Linear(2, 3)
        >>> model.inc_grad("b", np.ones(2))
        >>> model.inc_grad("b", np.ones(2))
        >>> model.get_grad("b")
        array([2., 2.])
        """
        if name in self._grads:
            self._grads[name] += value
        else:
            self._grads[name] = value.copy()

    def set_ref(self, name: str, value: Model | None) -> None:
        """Set a reference: a name for this model or one of its layers.

        Parameters
        ----------
        name
            The name of the reference.
        value
            The model itself or one below it, or None to unset it.

        Raises
        ------
        ValueError
            The model is not in the tree.

        Examples
        --------
        >>> model = vl.thinc.with_array(vl.thinc.Linear(2, 3))
        >>> model.set_ref("output", model.layers[0])
        >>> model.get_ref("output").name
        'linear'
        """
        if value is not None and not any(node is value for node in self.walk()):
            raise value_error("", "Cannot add reference to node not in tree.")
        self._refs[name] = value

    def initialize(self, X: Any = None, Y: Any = None) -> Self:
        """Infer the dimensions and allocate the parameters.

        Parameters
        ----------
        X, Y
            Sample inputs and outputs; their widths set the dimensions that are still unknown.

        Returns
        -------
        Model
            This model.

        Raises
        ------
        ValueError
            A dimension stays unknown.

        Examples
        --------
        >>> vl.thinc.Linear(2).initialize(X=np.ones((1, 3), np.float32)).get_param("W").shape
        (2, 3)
        """
        if self.init is not None:
            self.init(self, X=X, Y=Y)
        return self

    def finish_update(self, optimizer: Optimizer) -> None:
        """Let an optimizer update the parameters of all layers from their gradients.

        Parameters
        ----------
        optimizer
            A function: optimizer((model id, name), parameter, gradient) returns the new parameter and
            gradient.

        Examples
        --------
        >>> model = vl.thinc.Linear(1, 1).initialize()
        >>> model.set_grad("b", np.array([0.5], np.float32))
        >>> model.finish_update(lambda key, weights, gradient: (weights - gradient, gradient * 0))
        >>> model.get_param("b")
        array([-0.5], dtype=float32)
        """
        for node in self.walk():
            for name in node.grad_names:
                key = node.id, name
                node._params[name], node._grads[name] = optimizer(
                    key, node.get_param(name), node._grads[name]
                )

    def get_gradients(self) -> dict[Key, tuple[Array, Array]]:
        """Return the parameters that have gradients, with their gradients, of all layers.

        Returns
        -------
        dict
            {(model id, name): (parameter, gradient)}.

        Examples
        --------
        >>> vl.thinc.Linear(1, 1).initialize().get_gradients()
        {}
        """
        return {
            (node.id, name): (node.get_param(name), node.get_grad(name))
            for node in self.walk()
            for name in node.grad_names
        }

    @contextmanager
    def use_params(self, params: dict[Key, Array]) -> Iterator[None]:
        """Use other parameters inside a block.

        Parameters
        ----------
        params
            {(model id, name): array}. Entries for other models are ignored.

        Returns
        -------
        A context manager.

        Examples
        --------
        >>> model = vl.thinc.Linear(1, 1).initialize()
        >>> with model.use_params({(model.id, "b"): np.ones(1)}):
        ...     model.get_param("b")
        array([1.])
        """
        old_params = dict(self._params)
        self._params |= {name: params[self.id, name] for name in old_params if (self.id, name) in params}
        try:
            with ExitStack() as stack:
                for layer in self.layers:
                    stack.enter_context(layer.use_params(params))
                yield
        finally:
            self._params |= old_params

    def walk(self, *, order: str = "bfs") -> Iterator[Model]:
        """The model and all layers below it, each once.

        Parameters
        ----------
        order
            "bfs" yields level by level, "dfs_pre" each model before its layers, "dfs_post" after them.

        Returns
        -------
        Iterator of Model

        Raises
        ------
        ValueError
            `order` is none of these.

        Examples
        --------
        >>> [node.name for node in vl.thinc.chain(vl.thinc.Linear(2), vl.thinc.Linear(1)).walk()]
        ['linear>>linear', 'linear', 'linear']
        """
        if order == "bfs":
            nodes: list[Model] = [self]
            for node in nodes:
                nodes += [x for x in dict.fromkeys(node.layers) if x not in nodes]
            return iter(nodes)
        if order not in ("dfs_pre", "dfs_post"):
            raise contract_error(ValueError, "order", "Invalid order, must be one of: bfs, dfs_pre, dfs_post")
        return self._walk_deep(order == "dfs_post", {self})

    def _walk_deep(self, postorder: bool, visits: set[Model]) -> Iterator[Model]:
        if not postorder:
            yield self
        for layer in self.layers:
            if layer not in visits:
                visits.add(layer)
                yield from layer._walk_deep(postorder, visits)
        if postorder:
            yield self

    def remove_node(self, node: Model) -> None:
        """Remove a model from all layers. References to it become empty.

        Parameters
        ----------
        node
            A model below this one.

        Examples
        --------
        >>> model = vl.thinc.chain(vl.thinc.list2ragged(), vl.thinc.reduce_sum())
        >>> model.remove_node(model.layers[0])
        >>> model.predict(vl.thinc.Ragged([1, 2, 3], [2, 1]))
        array([3, 3])
        """
        for child in list(self.walk()):
            child._layers = [layer for layer in child._layers if layer is not node]
        tree = set(self.walk())
        for child in tree:
            child._refs = {name: ref if ref in tree else None for name, ref in child._refs.items()}

    def replace_node(self, old: Model, new: Model) -> bool:
        """Replace a model with another everywhere in the tree.

        Parameters
        ----------
        old
            A model below this one.
        new
            The replacement.

        Returns
        -------
        bool
            Whether `old` was there.

        Examples
        --------
        >>> model = vl.thinc.chain(vl.thinc.list2ragged(), vl.thinc.reduce_sum())
        >>> model.replace_node(model.layers[1], vl.thinc.reduce_max())
        True
        >>> model.predict([np.array([1, 2]), np.array([3])])
        array([2, 3])
        """
        nodes = list(self.walk(order="dfs_post"))
        for node in nodes:
            if node is not old:
                node._layers = [new if layer is old else layer for layer in node._layers]
                node._refs = {name: new if ref is old else ref for name, ref in node._refs.items()}
        return old in nodes

    def replace_callbacks(
        self, forward: Callable[..., Any], *, init: Callable[..., Any] | None = None
    ) -> None:
        """Replace the functions of the model.

        Parameters
        ----------
        forward, init
            As in the constructor.

        Examples
        --------
        >>> model = vl.thinc.noop()
        >>> model.replace_callbacks(lambda model, X, is_train: (2 * X, lambda dY: 2 * dY))
        >>> model.predict(4)
        8
        """
        self._func = forward
        self._init = init

    def copy(self) -> Self:
        """Copy the model, with its parameters, gradients, attributes and layers.

        Returns
        -------
        Model
            The copy has its own id. A layer used twice is also used twice in the copy.

        Examples
        --------
        >>> model = vl.thinc.Linear(2, 3).initialize()
        >>> other = model.copy()
        >>> other.id == model.id, np.array_equal(other.get_param("W"), model.get_param("W"))
        (False, True)
        """
        copies: dict[Model, Model] = {}
        for node in self.walk(order="dfs_post"):
            clone = type(node)(
                node.name,
                node._func,
                init=node.init,
                dims=node._dims,
                params=copy.deepcopy(node._params),
                layers=[copies[layer] for layer in node.layers],
                attrs=copy.deepcopy(node._attrs),
                ops=node.ops,
            )
            clone._grads = copy.deepcopy(node._grads)
            copies[node] = clone
        for node, clone in copies.items():
            clone._refs = {name: copies.get(ref) if ref else None for name, ref in node._refs.items()}
        return copies[self]  # type: ignore[return-value]

    @classmethod
    @contextmanager
    def define_operators(cls, operators: Operators) -> Iterator[None]:
        """Define operators between models inside a block.

        Parameters
        ----------
        operators
            {symbol: a function of two models}: "+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&",
            "^", "|".

        Returns
        -------
        A context manager.

        Examples
        --------
        >>> from varlen.thinc import Linear, Model, chain
        >>> with Model.define_operators({">>": chain}):
        ...     model = Linear(4) >> Linear(2)
        >>> model.name
        'linear>>linear'
        """
        token = _operators.set(dict(operators))
        try:
            yield
        finally:
            _operators.reset(token)

    def __repr__(self) -> str:
        return f"Model({self.name!r})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        names = {*Layer.__slots__, *Model.__slots__} - {"_layer"}
        return None, {name: getattr(self, name) for name in sorted(names)}

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        global _ids  # optimizers know models by their numbers: they stay, and are not given again
        for name, value in state[1].items():
            setattr(self, name, value)
        self._layer = _NOT_BUILT
        with _lock:
            _ids = count(max(next(_ids), self._id + 1))


def _operate(symbol: str, model: Model, other: Any) -> Any:
    operators = _operators.get() or {}
    if symbol not in operators:
        raise type_error("", f"Undefined operator: {symbol}")
    return operators[symbol](model, other)


_SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "matmul": "@",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "lshift": "<<",
    "rshift": ">>",
    "and": "&",
    "xor": "^",
    "or": "|",
}


def _operator(name: str, symbol: str) -> Callable[[Model, Any], Any]:
    def method(self: Model, other: Any) -> Any:
        return _operate(symbol, self, other)

    method.__name__, method.__qualname__ = name, f"Model.{name}"
    return method


# For each table: its word, the setup, name and value of its example, and the error for an unset value.
_TABLES = {
    "dim": ("dimension", "model = vl.thinc.Linear(2, 3)", "nO", "2", ValueError),
    "param": (
        "parameter",
        "model = vl.thinc.Linear(2, 3).initialize()",
        "b",
        "array([0., 0.], dtype=float32)",
        KeyError,
    ),
    "grad": (
        "gradient",
        """model = vl.thinc.Linear(2, 3)
        >>> model.set_grad("b", np.ones(2))""",
        "b",
        "array([1., 1.])",
        KeyError,
    ),
    "ref": (
        "reference",
        """model = vl.thinc.noop()
        >>> model.set_ref("whole", model)""",
        "whole",
        "Model('noop')",
        ValueError,
    ),
}


def _readers(table: str) -> Iterator[Callable[..., Any]]:
    """`has_`, `get_` and `maybe_get_` of a table of names."""
    word, setup, example, repr_text, unset = _TABLES[table]
    attribute = f"_{table}s"

    def has(self: Model, name: str) -> bool | None:
        values: dict[str, Any] = getattr(self, attribute)
        return False if name not in values else True if values[name] is not None else None

    def get(self: Model, name: str) -> object:
        values: dict[str, Any] = getattr(self, attribute)
        if name not in values:
            raise error_of(KeyError, "", f"Cannot get {word} '{name}' for model '{self.name}'")
        if values[name] is None:
            raise unset(f"Cannot get {word} '{name}' for model '{self.name}': value unset")
        return values[name]

    def maybe_get(self: Model, name: str) -> object | None:
        values: dict[str, Any] = getattr(self, attribute)
        return values.get(name)

    texts = {
        has: (
            f"Whether the model has a {word} of this name.",
            "True if it has a value, None if its value is unset, False if there is none.",
            "True",
        ),
        get: (f"Return the {word} of this name.", "Its value.", repr_text),
        maybe_get: (
            f"Return the {word} of this name, or None.",
            "Its value, or None if it has none.",
            repr_text,
        ),
    }
    raises = f"""
        Raises
        ------
        KeyError
            The model has no {word} of this name{", or its value is unset." if unset is KeyError else "."}
        """ + ("" if unset is KeyError else "ValueError\n            Its value is unset.\n        ")
    for method, (summary, result, output) in texts.items():
        method.__name__ = f"{method.__name__}_{table}"
        method.__qualname__ = f"Model.{method.__name__}"
        method.__doc__ = f"""{summary}

        Parameters
        ----------
        name
            The name of the {word}.

        Returns
        -------
        {result}
        {raises if method is get else ""}
        Examples
        --------
        >>> {setup}
        >>> model.{method.__name__}("{example}")
        {output}
        """
        yield method


for _table in _TABLES:
    for _method in _readers(_table):
        setattr(Model, _method.__name__, _method)
for _name, _symbol in _SYMBOLS.items():
    setattr(Model, f"__{_name}__", _operator(f"__{_name}__", _symbol))
