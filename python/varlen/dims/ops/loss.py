"""Losses over dims: cross entropy, CTC and edit distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from varlen import ops
from varlen._core import Dim, Shape
from varlen.arguments import SMALLEST, as_bool, as_fraction, as_int, one_of
from varlen.backends import backend_of
from varlen.backends.values import device_of
from varlen.dims.axes import describe, place
from varlen.dims.base import check_data, dtype_name, make_data
from varlen.dims.ops.combine import combine, expand_dim, unify_kind, where
from varlen.dims.ops.dot import dot
from varlen.dims.ops.elementwise import log
from varlen.dims.ops.faces import log_softmax
from varlen.dims.ops.reduce import reduce
from varlen.dims.out_shape import check_out_shape
from varlen.dims.place import align, move, order_of, reshape
from varlen.dims.plan_cache import cached_plan
from varlen.errors import value_error

if TYPE_CHECKING:
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape


def cross_entropy(
    estimated: Data[Any],
    target: Data[Any],
    axis: Axis = "F",
    *,
    estimated_type: Literal["logits", "probs", "log-probs"] = "logits",
    label_smoothing: float = 0.0,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """The cross entropy: minus the log probability of the target, at each position.

    Parameters
    ----------
    estimated
        Floats over the classes.
    target
        Integers: the class at each position. If it has the dim of the classes, its numbers are the share of
        each class.
    axis
        The dim of the classes, with a fixed size or with lengths, as in a pointer network.
    estimated_type
        The kind of numbers in `estimated`: "logits", "probs" or "log-probs".
    label_smoothing
        The share of the target, 0 to 1, that is spread evenly over all classes.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The loss at each position, over the dims of both without the classes. It is not summed, so `mean`
        divides by the number of valid positions.

    Raises
    ------
    ValueError
        A target is not a class (checked on the host; the message names its position), the type is unknown,
        the smoothing is not from 0 to 1, or a target of floats lacks the dim of classes.
    LengthMismatchError
        A dim has different lengths in the two operands.
    OutShapeError
        The dims differ from the expected ones.

    Notes
    -----
    As RETURNN's `cross_entropy`; the smoothing is that of `torch.nn.functional.cross_entropy`. A class whose
    share in the target is 0 adds nothing, whatever its probability.

    Examples
    --------
    >>> time, words = vl.Dim("time", lengths=[2, 1]), vl.Dim("words", 2)
    >>> logits = vl.Data(np.zeros((3, 2)), [vl.dims.batch_dim, time, words])
    >>> target = vl.Data(np.array([0, 1, 1]), [vl.dims.batch_dim, time], sparse_dim=words)
    >>> loss = vl.dims.cross_entropy(logits, target, words)
    >>> loss, loss.mean("*").item()
    (Data([batch(2), time(1 to 2)], float64), 0.6931471805599453)
    """
    one_of(estimated_type, "estimated_type", ("logits", "probs", "log-probs"))
    label_smoothing = as_fraction(label_smoothing, "label_smoothing")
    check_data(estimated, "estimated")
    check_data(target, "target")
    classes = estimated._shape.dims[place(estimated, axis)]
    is_sparse = target._shape.find(classes) < 0
    if is_sparse:
        _check_sparse(target, classes)
    logs = log_softmax(estimated, classes) if estimated_type == "logits" else estimated
    if is_sparse:
        scores = _pick(logs, target, classes)
        loss = -(log(scores) if estimated_type == "probs" else scores)
    if estimated_type == "probs" and (label_smoothing or not is_sparse):
        logs = log(logs)
    if not is_sparse:
        loss = -_weigh(logs, target, classes)
    if label_smoothing:
        loss = loss * (1 - label_smoothing) - reduce(logs, "mean", classes) * label_smoothing
    return check_out_shape(loss, out_shape)


def _weigh(logs: Data[Any], target: Data[Any], classes: Dim) -> Data[Any]:
    """The sum of logs by the target; 0 of a probability of 0 that counts nothing."""
    mask = combine("&", logs == -np.inf, target == 0, broadcast=True)
    return dot(target, where(mask, 0.0, logs, broadcast=True), classes)


def _check_sparse(target: Data[Any], classes: Dim) -> None:
    sparse = target._facts.sparse_dim
    if sparse is not None and sparse != classes:
        raise value_error(
            "target",
            f"its classes are {describe([sparse])[1:-1]}, those estimated {describe([classes])[1:-1]}",
        )
    if "int" not in dtype_name(target.dtype):
        text = describe([classes])[1:-1]
        raise value_error("target", f"expected integers, or floats over {text}, got {target!r}")


def _pick(x: Data[Any], indices: Data[Any], dim: Dim) -> Data[Any]:
    """The numbers at some positions along a dim, which goes; of each position of all other dims."""
    plan = _places_along(x._shape, x._order, x._shape.find(dim), indices._shape, indices._order)
    shape = plan.shape
    values, numbers = move(x, plan.target), indices._values
    is_host = device_of(numbers) == "cpu"
    if is_host:
        numbers = backend_of(numbers).readable(numbers)
    first, places = unify_kind([plan.first, align(numbers, indices._shape, shape)])
    if is_host and 0 not in shape.array_shape:
        _check_positions(places, plan.sizes, shape, dim)
    rows = (first + places).reshape(-1)
    backend = backend_of(values)
    if isinstance(values, np.ndarray):
        rows = backend_of(rows).readable(rows)
    result = backend.take_rows(backend.contiguous(values).reshape(-1), rows)
    return make_data(reshape(result, shape.array_shape), shape, plan.order)


class _Places(NamedTuple):
    """Where numbers along a dim begin and how many there are, for each position of all other dims."""

    target: Shape  # the dim behind all others
    shape: Shape  # of what is picked
    order: tuple[int, ...] | None
    first: Any
    sizes: Any


@cached_plan
def _places_along(
    shape: Shape, order: tuple[int, ...] | None, k: int, target: Shape, at_order: tuple[int, ...] | None
) -> _Places:
    dim, user_dims = shape.dims[k], make_data(None, shape, order).dims
    others = [other for other in shape.dims if other != dim]
    if any(dim in other.over for other in others):
        raise value_error("", f"'{dim.name}' of {describe(user_dims)} has other dims over it")
    layout, rest = Shape([*others, dim]), Shape(others)
    level = layout.span(layout.rank - 1, layout.rank)
    joint = rest.join(target)
    first, sizes = (
        align(other.reshape(rest.array_shape), rest, joint) for other in (level.offsets[:-1], level.lengths)
    )
    dims = [other for other in user_dims if other != dim]
    dims += [other for other in make_data(None, target, at_order).dims if other not in dims]
    return _Places(layout, joint, order_of(joint, dims), first, dim.size if dim.is_static else sizes)


def _check_positions(numbers: Any, sizes: Any, shape: Shape, dim: Dim) -> None:
    """Refuse positions that the dim does not have; on a device the reading kernel does."""
    if int(numbers.min()) >= 0 and (numbers < sizes).all():
        return
    wrong = np.broadcast_to((numbers < 0) | (numbers >= sizes), shape.array_shape)
    row = int(wrong.reshape(-1).argmax())
    number = np.broadcast_to(numbers, shape.array_shape).reshape(-1)[row]
    text = f"{number} at position {row} is no position of {describe([dim])[1:-1]}"
    raise value_error("target", text, row=row, number=int(number))


def ctc_loss(
    logits: Data[Any],
    targets: Data[Any],
    *,
    blank: int,
    axis: Axis = "T",
    targets_axis: Axis = "T",
    classes: Axis = "F",
    is_normalized: bool = False,
    zero_infinity: bool = False,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """The CTC loss: minus the log probability of the labels of each sequence, over all alignments.

    Parameters
    ----------
    logits
        Floats over the classes, the blank among them, at each position of the time.
    targets
        Integers: the labels of each sequence, none of them the blank.
    blank
        The class that stands for no label; -1 is the last.
    axis, targets_axis
        The time dim of the logits, and that of the labels.
    classes
        The classes of the logits.
    is_normalized
        If True, `logits` are log probabilities already.
    zero_infinity
        If True, an infinite loss becomes 0 and has no gradient.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The loss over all other dims: inf if a sequence is too short for its labels.

    Raises
    ------
    ValueError
        A label is the blank or not a class, or the blank is not a class.
    LengthMismatchError
        A dim has different lengths in the two operands.
    OutShapeError
        The dims differ from the expected ones.

    See Also
    --------
    varlen.ops.ctc_loss

    Notes
    -----
    As RETURNN's `ctc_loss`, whose `blank_index` is called `blank` here.

    Examples
    --------
    >>> time, spell = vl.Dim("time", lengths=[2, 1]), vl.Dim("spell", lengths=[1, 1])
    >>> labels = vl.Dim("labels", 2)
    >>> logits = vl.Data(np.zeros((3, 2)), [vl.dims.batch_dim, time, labels])
    >>> targets = vl.Data(np.array([1, 1]), [vl.dims.batch_dim, spell])
    >>> vl.dims.exp(-vl.dims.ctc_loss(logits, targets, blank=0)).values
    array([0.75, 0.5 ])
    """
    for x, name in ((logits, "logits"), (targets, "targets")):
        check_data(x, name)
    time = logits._shape.dims[place(logits, axis)]
    spelling = targets._shape.dims[place(targets, targets_axis, "targets_axis")]
    labels = logits._shape.dims[place(logits, classes, "classes")]
    size = logits._shape.extent(logits._shape.find(labels))
    blank_id = as_int(blank, "blank", SMALLEST)
    if not -size <= blank_id < size:
        raise value_error("blank", f"{blank_id} is no class of {describe([labels])[1:-1]}, which has {size}")
    logs = logits if as_bool(is_normalized, "is_normalized") else log_softmax(logits, labels)
    rest, order = _outer((logs, targets), ([time, labels], [spelling]))
    rows, units = _sequences(logs, rest, [time, labels])
    label_rows, spelled_units = _sequences(targets, rest, [spelling])
    losses = ops.ctc_loss(
        rows,
        label_rows,
        units,
        spelled_units,
        blank=blank_id % size,
        zero_infinity=as_bool(zero_infinity, "zero_infinity"),
    )
    return check_out_shape(make_data(losses.reshape(rest.array_shape), rest, order), out_shape)


def edit_distance(
    a: Data[Any],
    b: Data[Any],
    *,
    axis: Axis = "T",
    b_axis: Axis = "T",
    normalize: bool = False,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """The edit distance: the fewest substitutions, insertions and deletions from `b` to `a`, by sequence.

    Parameters
    ----------
    a, b
        Integers: hypotheses and references.
    axis, b_axis
        The dim of the sequences of `a`, and that of `b`.
    normalize
        If True, divide by the length of the sequence of `b`, which gives an error rate. If that is empty, the
        result is 0 for an empty sequence of `a`, else inf.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The distances, int64 over all other dims; with `normalize` float64.

    Raises
    ------
    TypeError
        The values are not integers.
    LengthMismatchError
        A dim has different lengths in the two operands.
    OutShapeError
        The dims differ from the expected ones.

    See Also
    --------
    varlen.ops.edit_distance

    Notes
    -----
    As RETURNN's `edit_distance`.

    Examples
    --------
    >>> x = vl.Data.from_list([[3, 1, 4], [1]], [vl.dims.batch_dim, vl.Dim("found")])
    >>> y = vl.Data.from_list([[3, 4], [1, 5]], [vl.dims.batch_dim, vl.Dim("true")])
    >>> vl.dims.edit_distance(x, y).values
    array([1, 1])
    """
    for x, name in ((a, "a"), (b, "b")):
        check_data(x, name)
    a_dim, b_dim = a._shape.dims[place(a, axis)], b._shape.dims[place(b, b_axis, "b_axis")]
    rest, order = _outer((a, b), ([a_dim], [b_dim]))
    rows, units = _sequences(a, rest, [a_dim])
    others, other_units = _sequences(b, rest, [b_dim])
    distances: Any = ops.edit_distance(rows, others, units, other_units, normalize=normalize)
    return check_out_shape(make_data(distances.reshape(rest.array_shape), rest, order), out_shape)


def _outer(operands: tuple[Data[Any], Data[Any]], inner: tuple[list[Dim], list[Dim]]) -> tuple[Shape, Any]:
    """The shape of all dims but the inner ones of both, and its order."""
    shape, dims = Shape([]), []
    for x, inner_dims in zip(operands, inner, strict=True):
        shape = shape.join(Shape([dim for dim in x._shape.dims if dim not in inner_dims]))
        dims += [dim for dim in x.dims if dim not in inner_dims and dim not in dims]
    return shape, order_of(shape, dims)


def _sequences(x: Data[Any], outer: Shape, inner: list[Dim]) -> tuple[Any, Any]:
    """Rows along the first of the inner dims for each position of the outer ones, and their level."""
    for dim in outer.dims:
        if x._shape.find(dim) < 0:
            x = expand_dim(x, dim)
    layout = Shape([*outer.dims, *[x._shape.dims[x._shape.find(dim)] for dim in inner]])
    rank = outer.rank
    values = backend_of(x._values).contiguous(move(x, layout))
    tail = [layout.extent(k) for k in range(rank + 1, layout.rank)]
    return values.reshape((layout.count(rank + 1), *tail)), layout.span(rank, rank + 1)
