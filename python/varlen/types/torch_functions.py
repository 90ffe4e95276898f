"""Functions of torch that verbs here express, or that go along an axis of each row.

Each is a function of the parameters that it takes, by torch's names. Its axes are those of the container.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen import tracing
from varlen._core import RaggedBase
from varlen.arguments import as_int, axis_of, one_of
from varlen.backends import backend_of
from varlen.backends.numeric import is_float
from varlen.backends.values import is_tensor, take
from varlen.errors import instance_error, type_error, value_error
from varlen.levels import scale_level
from varlen.ops.combine import concatenate
from varlen.ops.einsum import einsum
from varlen.ops.gather import boolean_mask
from varlen.ops.matmul import matmul
from varlen.ops.reduce import reduce_rows
from varlen.ops.support.axes import axes_of
from varlen.ops.support.inputs import same_kind
from varlen.ops.support.outputs import ragged_like
from varlen.ops.where import where
from varlen.types import numpy_functions
from varlen.types.indexing import add_axes
from varlen.types.signatures import ALIASES

if TYPE_CHECKING:
    from varlen.types.ragged import Ragged

FUNCTIONS: dict[str, Callable[..., Any]] = {}

# Those whose Ragged may come second.
_OF_TWO = ("matmul", "bmm", "allclose", "equal")


class ValuesAndIndices(NamedTuple):
    """What torch's functions give that also say where the numbers were, such as `torch.sort`."""

    values: Any
    indices: Any


def call(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """The result of a function of torch that is here, of the arguments that it takes."""
    function = FUNCTIONS[name]
    options = {ALIASES.get(key, key): x for key, x in kwargs.items() if key != "out"}  # out is None
    if not tracing.is_tracing():
        signature = numpy_functions.signature_of(function)
        try:
            signature.bind(*args, **options)
        except TypeError:
            got_names = ", ".join([f"{len(args)} by position", *options])
            names = ", ".join(signature.parameters)
            raise type_error("", f"torch.{name} of a Ragged takes {names}; got {got_names}") from None
        first = next(iter(signature.parameters))
        x = args[0] if args else options[first]
        if first == "input" and name not in _OF_TWO and not isinstance(x, RaggedBase):
            raise type_error(
                "input", f"torch.{name} of {type(x).__name__} and a Ragged has no meaning", "use r.values"
            )
    return function(*args, **options)


def _function(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names or (function.__name__.strip("_"),):
            FUNCTIONS[name] = function
        return function

    return add


def _row_axis(name: str, r: Ragged[Any], dim: Any, way: str = "r.values, or r.to_dense()") -> int:
    """The axis of the values that is an axis of each row; TypeError where it is another."""
    depth = len(r._levels)
    place = axis_of(dim, r.ndim, "dim") - depth
    if place < 1:
        way += f", or a dim of the rows, {depth + 1} or more" if r.ndim > depth + 1 else ""
        raise type_error(
            "dim", f"torch.{name} of a Ragged goes along an axis of its rows, not along {dim}", f"use {way}"
        )
    return place


def _is_row_axis(r: Ragged[Any], dim: Any) -> bool:
    return axis_of(dim, r.ndim, "dim") > len(r._levels)


def _on_row_axis(name: str, r: Ragged[Any], dim: Any, *args: Any, **options: Any) -> Any:
    """A function of torch along an axis of each row, on the values; every part of its result."""
    import torch

    if not is_tensor(r._values):
        raise type_error("input", f"torch.{name} along an axis of rows takes tensors", "use r.torch()")
    function = getattr(torch if hasattr(torch, name) else torch.nn.functional, name)
    result = function(r._values, *args, dim=_row_axis(name, r, dim), **options)
    if isinstance(result, torch.Tensor):
        return same_kind(r, result)
    parts = [same_kind(r, part) for part in result]
    return ValuesAndIndices(*parts) if hasattr(result, "indices") else tuple(parts)


def _along_others(name: str, dim: Any, way: str = "use r.to_dense()") -> TypeError:
    return type_error("dim", f"torch.{name} of a Ragged goes along each sequence, not along {dim}", way)


def _keep(result: Any, r: Ragged[Any], dim: Any, keepdim: bool) -> Any:
    return add_axes(result, [axis_of(dim, r.ndim, "dim")]) if keepdim else result


# Order


@_function("sort")
def _sort(input: Any, dim: Any = -1, descending: bool = False, *, stable: Any = None) -> Any:
    if is_tensor(input._values) and _is_row_axis(input, dim):
        return _on_row_axis("sort", input, dim, descending=descending, stable=True)
    if descending and _has_nan(input):
        return _sort_falling(input, axis_of(dim, input.ndim, "dim"))
    return ValuesAndIndices(
        input.sort(axis=dim, descending=descending), input.argsort(axis=dim, descending=descending)
    )


def _has_nan(r: Ragged[Any]) -> bool:
    """Whether NaN is among the numbers; of those in a graph nobody knows."""
    return is_float(r._values) and (tracing.is_tracing() or bool((r._values != r._values).any()))


def _sort_falling(r: Any, axis: int) -> ValuesAndIndices:
    """As torch sorts: NaN is the greatest, and equal numbers keep their order."""
    level = axis - 1
    if level < 0:
        raise type_error(
            "dim", "torch.sort of a Ragged with NaN goes along each sequence", "use r.sort(axis=0)"
        )
    rising = r.reverse(level=level)
    order = rising.argsort(axis=axis).reverse(level=level)
    lengths = backend_of(order._values).level_array(r._levels[level], "lengths", order._values)
    last = order.broadcast_rows(lengths - 1, level=level)
    places = (last._values.reshape(-1, *(1,) * (order._values.ndim - 1))) - order._values
    return ValuesAndIndices(rising.sort(axis=axis).reverse(level=level), same_kind(order, places))


@_function("argsort")
def _argsort(input: Any, dim: Any = -1, descending: bool = False, *, stable: Any = None) -> Any:
    return _sort(input, dim, descending).indices


@_function("topk")
def _topk(input: Any, k: Any, dim: Any = -1, largest: bool = True, sorted: bool = True) -> Any:
    if _is_row_axis(input, dim):
        return _on_row_axis("topk", input, dim, k, largest=largest, sorted=sorted)
    if axis_of(dim, input.ndim, "dim") != len(input._levels):
        raise _along_others("topk", dim)
    if largest and _has_nan(input):
        key = (slice(None),) * len(input._levels) + (slice(as_int(k, "k", 1)),)
        return ValuesAndIndices(*(part[key] for part in _sort(input, dim, True)))
    return ValuesAndIndices(*input.topk(k, largest=largest))


def extremes(name: str, r: Ragged[Any], dim: Any, keepdim: bool) -> ValuesAndIndices:
    """The largest or smallest numbers along an axis, and where they were."""
    if axis_of(dim, r.ndim, "dim") < len(r._levels):
        raise type_error(
            "dim", f"torch.{name} of a Ragged has indices along each sequence or along its rows, got {dim}",
            f"use r.{name}(axis={dim})",
        )  # fmt: skip
    values, places = getattr(r, name)(axis=dim), getattr(r, f"arg{name}")(axis=dim)
    return ValuesAndIndices(_keep(values, r, dim, keepdim), _keep(places, r, dim, keepdim))


def _running_extreme(name: str) -> None:
    def run(input: Any, dim: Any = -1) -> Any:
        if _is_row_axis(input, dim):
            return _on_row_axis(name, input, dim)
        if axis_of(dim, input.ndim, "dim") != len(input._levels):
            raise _along_others(name, dim, f"use r.{name}(axis={dim})")
        values = getattr(input, name)(axis=dim)
        is_new = (input == values) | (input != input)
        rows, level = input._values, input._levels[axis_of(dim, input.ndim, "dim") - 1]
        positions = backend_of(rows).level_array(level, "positions", rows)
        positions = positions.reshape(-1, *(1,) * (len(rows.shape) - 1)) + 0 * (rows == rows)
        places = where(is_new, same_kind(input, positions), 0).cummax(axis=dim)
        if getattr(rows, "requires_grad", False):  # the gradient goes where the places are
            first = (positions * 0 + 1).cumsum(0) - 1 - positions
            values = same_kind(input, rows.gather(0, first + places._values))
        return ValuesAndIndices(values, places)

    FUNCTIONS[name] = run


for _name in ("cummax", "cummin"):
    _running_extreme(_name)


@_function("median")
def _median(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    if dim is None:
        return _middle(input.reshape(-1))
    if _is_row_axis(input, dim):
        return _on_row_axis("median", input, dim, keepdim=keepdim)
    depth = len(input._levels)
    if axis_of(dim, input.ndim, "dim") != depth:
        raise _along_others("median", dim)
    offsets = _filled_offsets(input._levels[-1])
    rows, order = _sort(input, dim)
    starts, ends = offsets[:-1], offsets[1:] - 1
    last = take(rows._values, ends)
    middle, end = (
        (take(rows._values, places), take(order._values, places)) for places in ((starts + ends) >> 1, ends)
    )
    backend = backend_of(last)
    parts = [backend.where(last == last, a, b) for a, b in zip(middle, end, strict=True)]
    if depth > 1:
        parts = [ragged_like(input, part, input._levels[:-1]) for part in parts]
    return ValuesAndIndices(*(_keep(part, input, dim, keepdim) for part in parts))


def _filled_offsets(level: Any) -> Any:
    """The offsets of sequences that all have rows: an array, or a tensor of a graph, which refuses others."""
    if tracing.is_tracing():
        offsets = tracing.offsets_of(level)
        tracing.tensors.refuse_false(offsets.diff() > 0, "input: a sequence is empty and has no median")
        return offsets
    if level.shortest == 0 and len(level):
        row = int((level.lengths == 0).argmax())
        raise value_error(
            "input", f"sequence {row} is empty and has no median", "use r[r.lengths > 0]", row=row
        )
    return level.offsets


def _middle(numbers: Any) -> Any:
    """The lower one of the two numbers in the middle."""
    return numbers.median() if is_tensor(numbers) else np.sort(numbers)[(len(numbers) - 1) // 2]


@_function("quantile")
def _quantile(
    input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Any:
    if dim is not None and _is_row_axis(input, dim):
        numpy_functions.refuse_several(q, "an axis of rows")
        return _on_row_axis("quantile", input, dim, q, keepdim=keepdim, interpolation=interpolation)
    return _quantile_of_sequences(input, q, dim, interpolation, keepdim)


@tracing.eager_only("torch.quantile along sequences")
def _quantile_of_sequences(r: Any, q: Any, *options: Any) -> Any:
    return numpy_functions.FUNCTIONS["quantile"](r, q.tolist() if is_tensor(q) else q, *options)


@_function("unique")
def _unique(
    input: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Any = None,
) -> Any:
    if dim is not None:
        raise type_error("dim", "torch.unique of a Ragged is that of all its numbers", "use r.unique()")
    import torch

    values = input.torch()._values
    result = torch.unique(values, sorted, return_inverse, return_counts)
    if not return_inverse:
        return result
    return (result[0], same_kind(input, result[1]), *result[2:])


@_function("bucketize")
def _bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    return _each_number("bucketize", input, boundaries, out_int32=out_int32, right=right)


@_function("searchsorted")
def _searchsorted(sorted_sequence: Any, input: Any, *, right: bool = False, side: Any = None) -> Any:
    word = ("right" if right else "left") if side is None else side
    one_of(word, "side", ("left", "right"))
    if right and word == "left":
        raise value_error("side", "'left' contradicts right=True", "pass one of them")
    if isinstance(sorted_sequence, RaggedBase):
        ragged: Any = sorted_sequence
        return ragged.searchsorted(input, word)
    return _each_number("bucketize", input, sorted_sequence, right=word == "right")


@_function("isin")
def _isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    if not isinstance(elements, RaggedBase):
        raise instance_error("elements", "a Ragged", elements)
    others = test_elements._values if isinstance(test_elements, RaggedBase) else test_elements
    return _each_number("isin", elements, others, assume_unique=assume_unique, invert=invert)


def _each_number(name: str, r: Any, *args: Any, **options: Any) -> Any:
    """A function of torch of each number, on the values."""
    import torch

    return same_kind(r, getattr(torch, name)(r.torch()._values, *args, **options))


@_function("histc")
def _histc(input: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    return input.torch()._values.histc(bins, min, max)


@_function("count_nonzero")
def _count_nonzero(input: Any, dim: Any = None) -> Any:
    return (input != 0).sum(axis=tuple(range(input.ndim)) if dim is None else dim)


# Neighbours


@_function("diff")
def _diff(input: Any, n: int = 1, dim: Any = -1) -> Any:
    if _is_row_axis(input, dim):
        return _on_row_axis("diff", input, dim, n)
    return numpy_functions.FUNCTIONS["diff"](input, n, dim)


@_function("flip")
def _flip(input: Any, dims: Any, *more: int) -> Any:
    return numpy_functions.FUNCTIONS["flip"](input, (*_dims(dims), *more))


@_function("roll")
def _roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    import torch

    dim = dims[0] if isinstance(dims, Sequence) and len(dims) == 1 else dims
    by = shifts[0] if isinstance(shifts, Sequence) and len(shifts) == 1 else shifts
    if dim is not None and not isinstance(dim, Sequence) and _is_row_axis(input, dim):
        return same_kind(input, torch.roll(input.torch()._values, by, _row_axis("roll", input, dim)))
    if dim is None or isinstance(dim, Sequence):
        raise type_error("dims", "torch.roll of a Ragged goes along one axis", "name one axis at a time")
    return numpy_functions.FUNCTIONS["roll"](input, by, dim)


# Sums


@_function("linalg_norm", "linalg_vector_norm")
def _norm(input: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    if isinstance(ord, str):
        raise value_error("ord", f"expected the order of a norm of vectors, got {ord!r}", "use a number")
    order = 2.0 if ord is None else float(ord)
    r = input if dtype is None else input.astype(dtype)
    axes = tuple(range(r.ndim)) if dim is None else _dims(dim)
    if order == 2:
        result = r.norm(axis=axes)
    elif np.isinf(order):
        op, empty = ("amax", 0) if order > 0 else ("amin", None)
        result = reduce_rows(op, abs(r), None, axes, -1, empty)
    elif order == 0:
        result = _count_nonzero(r, axes)
    else:
        result = (abs(r) ** order).sum(axis=axes) ** (1 / order)
    return add_axes(result, axes_of(axes, r.ndim)) if keepdim else result


@_function("norm")
def _norm_by_p(input: Any, p: Any = None, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    return _norm(input, None if p == "fro" else p, dim, keepdim, dtype=dtype)


@_function("nansum")
def _nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    r = input if dtype is None else input.astype(dtype)
    axes = tuple(range(r.ndim)) if dim is None else _dims(dim)
    result = (where(r == r, r, 0) if is_float(r._values) else r).sum(axis=axes)
    return add_axes(result, axes_of(axes, r.ndim)) if keepdim else result


@_function("nanmean")
def _nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    r = input if dtype is None else input.astype(dtype)
    return numpy_functions.FUNCTIONS["nanmean"](r, axis=dim, **({"keepdims": True} if keepdim else {}))


# Products


@_function("einsum")
def sum_products(equation: Any, *operands: Any) -> Any:
    """The result of `einsum` of NumPy or torch."""
    parts = operands[0] if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else operands
    return einsum(equation.replace(" ", "") if isinstance(equation, str) else equation, *parts)


@_function("matmul")
def _matmul(input: Any, other: Any) -> Any:
    return matmul(input, other)


@_function("bmm")
def _bmm(input: Any, mat2: Any) -> Any:
    return matmul(input, mat2)


# Each row


@_function("glu")
def _glu(input: Any, dim: Any = -1) -> Any:
    return _on_row_axis("glu", input, dim)


@_function("gumbel_softmax")
def _gumbel_softmax(
    logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: Any = -1
) -> Any:
    return _on_row_axis("gumbel_softmax", logits, dim, tau=tau, hard=hard, eps=eps)


@_function("normalize")
def _normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Any:
    return _on_row_axis("normalize", input, dim, p=p, eps=eps)


# Places


@_function("gather", "take_along_dim")
def _gather(
    input: Any, dim: Any, index: Any = None, *, indices: Any = None, sparse_grad: bool = False
) -> Any:
    if isinstance(dim, RaggedBase) or (index is None and indices is None):
        dim, index = index, dim  # torch.take_along_dim(input, indices, dim)
    places = index if indices is None else indices
    return numpy_functions.FUNCTIONS["take_along_axis"](input, places, -1 if dim is None else dim)


@_function("masked_select")
def _masked_select(input: Any, mask: Any) -> Any:
    return boolean_mask(input, mask, flatten=True)


@_function("index_select")
def _index_select(input: Any, dim: Any, index: Any) -> Any:
    if _is_row_axis(input, dim):
        return same_kind(
            input, input.torch()._values.index_select(_row_axis("index_select", input, dim), index)
        )
    return numpy_functions.FUNCTIONS["take"](input, index, dim)


@_function("repeat_interleave")
def _repeat_interleave(input: Any, repeats: Any, dim: Any = None, *, output_size: Any = None) -> Any:
    if dim is not None and _is_row_axis(input, dim):
        row_axis = _row_axis("repeat_interleave", input, dim)
        return same_kind(input, input.torch()._values.repeat_interleave(repeats, row_axis))
    if tracing.is_tracing():
        return _repeat_in_graph(input, repeats, dim)
    counts = repeats.cpu().numpy() if is_tensor(repeats) else repeats
    return numpy_functions.FUNCTIONS["repeat"](input, counts, dim)


def _repeat_in_graph(r: Any, repeats: Any, dim: Any) -> Any:
    """Rows or sequences, each so many times: how many there are then, the running graph says."""
    import torch

    if dim is None:
        return r._values.reshape(-1).repeat_interleave(repeats)
    place, level = axis_of(dim, r.ndim, "dim"), r._levels[-1]
    if place == 0:
        return r[torch.arange(tracing.count_of(r._levels[0])).repeat_interleave(repeats)]
    if place < len(r._levels):
        raise type_error(
            "dim", f"goes along sequences or their rows, not along {dim}", "use r.tile(multiples)"
        )
    rows = r._values.repeat_interleave(repeats, 0)
    if is_tensor(repeats) and repeats.ndim:
        ends = torch.nn.functional.pad(repeats.cumsum(0), (1, 0))
        new_level: Any = tracing.TracedLevel(ends[tracing.offsets_of(level)], rows.shape[0])
    else:
        new_level = scale_level(level, repeats)
    return ragged_like(r, rows, (*r._levels[:-1], new_level))


# Pieces


def pieces(name: str, r: Any, sizes: Any, dim: Any) -> Any:
    """Runs of sequences, or of an axis of each row, as `torch.split`, `chunk`, `tensor_split` have them."""
    import torch

    if _is_row_axis(r, dim):
        row_axis = _row_axis(name, r, dim)
        _check_pieces(name, sizes, r._values.shape[row_axis])
        return tuple(same_kind(r, part) for part in getattr(torch, name)(r.torch()._values, sizes, row_axis))
    if axis_of(dim, r.ndim, "dim") != 0:
        _row_axis(name, r, dim, "r.split(sizes), or r[:, a:b]")
    _check_pieces(name, sizes, len(r))
    runs = getattr(torch, name)(torch.arange(len(r)), sizes)
    if name == "tensor_split":  # whose runs may overlap
        return tuple(numpy_functions.runs_of(r, runs))
    result, end = [], 0
    for run in runs:
        begin, end = end, end + run.shape[0]
        result.append(r[begin:end])
    return tuple(result)


def _check_pieces(name: str, sizes: Any, length: int) -> None:
    argument = {"split": "split_size_or_sections", "chunk": "chunks"}.get(name, "indices_or_sections")
    if isinstance(sizes, (int, np.integer)):
        as_int(sizes, argument, 1)
    elif name == "split" and isinstance(sizes, (list, tuple)):
        total = sum(as_int(size, argument, 0) for size in sizes)
        if total != length:
            raise value_error(argument, f"they add up to {total}, but there are {length}", number=total)


@_function("split")
def _split(input: Any, split_size_or_sections: Any, dim: int = 0) -> Any:
    return pieces("split", input, split_size_or_sections, dim)


@_function("chunk")
def _chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    return pieces("chunk", input, chunks, dim)


@_function("tensor_split")
def _tensor_split(input: Any, indices_or_sections: Any, dim: int = 0) -> Any:
    return pieces("tensor_split", input, indices_or_sections, dim)


@_function("unbind")
def _unbind(input: Any, dim: int = 0) -> Any:
    if _is_row_axis(input, dim):
        return _on_row_axis("unbind", input, dim)
    if axis_of(dim, input.ndim, "dim") != 0:
        _row_axis("unbind", input, dim, "list(r)")
    return tuple(input)


# Shapes


@_function("unsqueeze")
def _unsqueeze(input: Any, dim: Any) -> Any:
    return add_axes(input, [axis_of(dim, input.ndim + 1, "dim")])


@_function("squeeze")
def _squeeze(input: Any, dim: Any = None) -> Any:
    if dim is not None:
        shape = input._values.shape
        places = {dim: _row_axis("squeeze", input, dim, "r.drop_level()") for dim in _dims(dim)}
        dim = tuple(dim for dim, place in places.items() if shape[place] == 1)  # torch keeps the others
    return numpy_functions.FUNCTIONS["squeeze"](input, dim)


def _dims(dim: Any) -> tuple[int, ...]:
    return tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)


@_function("flatten")
def _flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    return input.flatten(start_dim, end_dim)


@_function("unflatten")
def _unflatten(input: Any, dim: Any, sizes: Any) -> Any:
    return input.unflatten(dim, sizes)


@_function("reshape", "view")
def _reshape(input: Any, *shape: Any) -> Any:
    return input.reshape(*shape)


@_function("nested_to_padded_tensor")
def _to_padded_tensor(input: Any, padding: Any, output_size: Any = None) -> Any:
    if output_size is not None:
        raise type_error(
            "output_size", "a Ragged is padded to its longest sequence", "use r.to_dense(length)"
        )
    return input.torch().to_dense(fill=padding)


@_function("hstack")
def _hstack(parts: Any) -> Any:
    return concatenate(list(parts), axis=1)


@_function("vstack", "row_stack")
def _vstack(parts: Any) -> Any:
    return concatenate(list(parts), axis=0)


# Equality


@_function("allclose")
@tracing.eager_only("torch.allclose")
def _allclose(
    input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    return bool(np.allclose(input, other, rtol, atol, equal_nan))


@_function("equal")
@tracing.eager_only("torch.equal")
def _equal(input: Any, other: Any) -> bool:
    return bool(np.array_equal(input, other))
