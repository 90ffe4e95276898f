"""What arithmetic over dims means: combining, reducing, softmax and dot, on models."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from varlen._core import Dim
from varlen.testing.model import At, Axis, Model, fill, walk

from oracles.dims.axes import drop, union


def _divide(a: Any, b: Any) -> float:
    if b:
        return float(a / b)
    return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _nan_or(choose: Callable[..., Any], *values: Any) -> Any:
    return next((v for v in values if v != v), None) if any(v != v for v in values) else choose(values)


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": _divide,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "minimum": lambda a, b: _nan_or(min, a, b),
    "maximum": lambda a, b: _nan_or(max, a, b),
    "squared_difference": lambda a, b: (a - b) * (a - b),
    "logaddexp": lambda a, b: logsumexp([a, b]),
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "logical_and": lambda a, b: bool(a and b),
    "logical_or": lambda a, b: bool(a or b),
    "logical_xor": lambda a, b: bool(a) != bool(b),
}


def apply(function: Callable[..., Any], *models: Model) -> Model:
    """A function of numbers, at each position of the axes that models have together.

    >>> x = Model.from_rows([[7, 8], [9]])
    >>> bias = Model(x.axes[:1], {(0,): 10, (1,): 20})
    >>> apply(lambda a, b: a + b, x, bias).to_list()
    [[17, 18], [29]]
    """
    return fill(union(*(x.axes for x in models)), lambda at: function(*(x[at] for x in models)))


def combine(name: str, a: Model | float, b: Model | float) -> Model:
    """An operator of two models, arithmetic or comparison.

    >>> combine("lt", 7, Model.from_rows([[7, 8], [9]])).to_list()
    [[False, True], [True]]
    """
    return apply(OPERATORS[name], constant(a), constant(b))


def constant(x: Model | float) -> Model:
    """A number as a model over no axes; a model as it is."""
    return x if isinstance(x, Model) else Model([], {(): x})


def where(condition: Model, a: Model | float, b: Model | float) -> Model:
    """The numbers of `a` where a condition holds, those of `b` elsewhere.

    >>> x = Model.from_rows([[7, 8], [9]])
    >>> where(combine("gt", x, 7), x, 0).to_list()
    [[0, 8], [9]]
    """
    return apply(lambda c, x, y: x if c else y, condition, constant(a), constant(b))


def logsumexp(values: Sequence[float]) -> float:
    """The log of the sum of the exponentials; -inf of nothing.

    >>> logsumexp([1000.0, 1000.0]) == 1000 + math.log(2), logsumexp([])
    (True, -inf)
    """
    most = _nan_or(max, *values) if values else -math.inf
    if not math.isfinite(most):
        return float(most)
    return float(most + math.log(sum(math.exp(v - most) for v in values)))


# What modes give of no values; max and min of no integers are an error.
EMPTY: dict[str, Any] = {
    "sum": 0,
    "prod": 1,
    "mean": math.nan,
    "max": -math.inf,
    "min": math.inf,
    "logsumexp": -math.inf,
    "logmeanexp": math.nan,
    "any": False,
    "all": True,
    "argmax": -1,
    "argmin": -1,
}


def fold(mode: str, values: Sequence[Any], *, empty: Any = None, is_float: bool = True) -> Any:
    """One number of some: the ordinal of one for argmax and argmin, the first among equal ones."""
    if not values:
        if empty is None and mode in ("max", "min") and not is_float:
            raise ValueError(f"{mode} of no integers; empty= says what it gives")
        return EMPTY[mode] if empty is None else empty
    match mode:
        case "sum":
            return sum(values)
        case "prod":
            return math.prod(values)
        case "mean":
            return sum(values) / len(values)
        case "max" | "min":
            return _nan_or(max if mode == "max" else min, *values)
        case "logsumexp":
            return logsumexp(values)
        case "logmeanexp":
            return logsumexp(values) - math.log(len(values))
        case "any":
            return any(values)
        case "all":
            return all(values)
        case "argmax" | "argmin":
            best = fold(mode[3:], values)
            return next(i for i, v in enumerate(values) if v == best or (v != v and best != best))
    raise ValueError(f"mode: {mode!r} is none of {sorted(EMPTY)}")


def group(x: Model, dims: Sequence[Dim], at: At) -> list[Any]:
    """The numbers at all positions of some dims, where those of the others are given.

    >>> x = Model.from_rows([[7, 8], [9]])
    >>> group(x, [x.dims[0]], {x.dims[1]: 1})
    [8]
    """
    return [x[each] for each in spots(x, dims, at)]


def spots(x: Model, dims: Sequence[Dim], at: At) -> list[dict[Dim, int]]:
    """The positions that `group` reads."""
    others = {dim: i for dim, i in at.items() if dim not in dims}
    return [each for each in walk([x.axis(dim) for dim in dims], others) if each in x]


def reduce(x: Model, mode: str, dims: Sequence[Dim], *, empty: Any = None, is_float: bool = True) -> Model:
    """One number of all that stand at the positions of some dims, for each position of the others.

    A dim that is kept, and is over one that is not, is as long as it was at the most; each of its positions
    gets the numbers of those that have it.

    >>> x = Model.from_rows([[7, 8], [9], []])
    >>> reduce(x, "sum", x.dims[1:]).to_list(), reduce(x, "sum", x.dims[:1]).to_list()
    ([15, 9, 0], [16, 8])
    """

    def value(at: At) -> Any:
        where = spots(x, dims, at)
        found = fold(mode, [x[each] for each in where], empty=empty, is_float=is_float)
        is_position = where and len(dims) == 1 and mode in ("argmax", "argmin")
        return where[found][dims[0]] if is_position else found

    return fill(drop(x.axes, dims), value)


def softmax(x: Model, dims: Sequence[Dim], *, scale: float = 1.0, mask: Model | None = None) -> Model:
    """Exponentials that sum to 1 over some dims, for each position of the others.

    >>> x = Model.from_rows([[7.0, 7.0], [9.0], []])
    >>> softmax(x, x.dims[1:]).to_list()
    [[0.5, 0.5], [1.0], []]
    """
    kept = constant(True) if mask is None else mask

    def value(at: At) -> float:
        if not kept[at]:
            return 0.0
        values = [scale * x[each] for each in spots(x, dims, at) if kept[each]]
        most = _nan_or(max, *values)
        return math.exp(scale * x[at] - most) / sum(math.exp(v - most) for v in values)

    return fill(x.axes, value)


def log_softmax(x: Model, dims: Sequence[Dim], *, scale: float = 1.0, mask: Model | None = None) -> Model:
    """The logs of `softmax`: numbers less the log of the sum of their exponentials.

    >>> x = Model.from_rows([[0.0, 0.0], [9.0], []])
    >>> log_softmax(x, x.dims[1:]).to_list() == [[-math.log(2), -math.log(2)], [0.0], []]
    True
    """
    kept = constant(True) if mask is None else mask

    def value(at: At) -> float:
        if not kept[at]:
            return -math.inf
        total = logsumexp([scale * x[each] for each in spots(x, dims, at) if kept[each]])
        return math.nan if total == math.inf else float(scale * x[at] - total)

    return fill(x.axes, value)


def dot(a: Model, b: Model, dims: Sequence[Dim]) -> Model:
    """Products, summed over some dims; a model that lacks one of them is the same all along it."""
    order = sorted((d for d in a.dims if d not in dims), key=lambda dim: dim not in b.dims)
    return einsum([a, b], [*order, *(d for d in b.dims if d not in a.dims and d not in dims)])


def einsum(models: Sequence[Model], dims: Sequence[Dim]) -> Model:
    """Products of models, summed over all dims but some.

    >>> x = Model.from_rows([[7, 8], [9], []])
    >>> einsum([x, x, x], []).to_list()
    1584
    """
    product = apply(lambda *values: math.prod(values), *models)
    gone = [dim for dim in product.dims if dim not in dims]
    by_dim: dict[Dim, Axis] = {axis.dim: axis for axis in drop(product.axes, gone)}
    return fill([by_dim[dim] for dim in dims], lambda at: fold("sum", group(product, gone, at)))


def layer_norm(x: Model, dims: Sequence[Dim], *, epsilon: float = 1e-6) -> Model:
    """Numbers less their mean, over their standard deviation, over some dims.

    >>> x = Model.from_rows([[7.0, 9.0], [9.0], []])
    >>> layer_norm(x, x.dims[1:], epsilon=0.5).to_list() == [[-1 / 1.5**0.5, 1 / 1.5**0.5], [0.0], []]
    True
    """

    def value(at: At) -> float:
        values = group(x, dims, at)
        mean = sum(values) / len(values)
        variance = sum((v - mean) * (v - mean) for v in values) / len(values)
        return float((x[at] - mean) / math.sqrt(variance + epsilon))

    return fill(x.axes, value)


def batch_norm(x: Model, feature_dim: Dim, *, epsilon: float = 1e-3) -> Model:
    """Numbers less the mean, over the standard deviation, of all valid positions of each feature.

    >>> feature = vl.Dim(1, name="feature")
    >>> x = Model.from_list([*vl.Dim("time", lengths=[1, 1]).over, feature], [[3.0], [5.0]])
    >>> batch_norm(x, feature, epsilon=0.0).to_list()
    [[-1.0], [1.0]]
    """
    return layer_norm(x, [dim for dim in x.dims if dim != feature_dim], epsilon=epsilon)


def cross_entropy(logits: Model, targets: Model, dim: Dim) -> Model:
    """Minus the log of what softmax over a dim gives to the targets.

    >>> classes = vl.Dim(2, name="classes")
    >>> targets = Model.from_rows([[0, 1], [1], []])
    >>> logits = fill([*targets.axes, classes], lambda at: 0.0)
    >>> cross_entropy(logits, targets, classes).to_list() == [[math.log(2)] * 2, [math.log(2)], []]
    True
    """
    logs = log_softmax(logits, [dim])
    if dim in targets.dims:
        return apply(lambda v: -v, reduce(apply(_weighted, logs, targets), "sum", [dim]))

    def value(at: At) -> float:
        where = {**at, dim: targets[at]}
        if where not in logs:
            raise IndexError(f"target {targets[at]} is no position of {dim.name}")
        return float(-logs[where])

    return fill(drop(union(logits.axes, targets.axes), [dim]), value)


def _weighted(log: float, weight: float) -> float:
    return weight * log if weight else 0.0
