"""Functions of NumPy that verbs here express, and those that work on all numbers as they lie.

Each is a function of the parameters that it takes, by NumPy's names; all others are refused.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Level, RaggedBase
from varlen.arguments import as_bool, axis_of, one_of
from varlen.backends import backend_of
from varlen.backends.numeric import float64_values, is_bool, is_float
from varlen.backends.values import is_tensor, like, readable, take
from varlen.errors import instance_error, type_error, value_error
from varlen.levels import check_nest, equal_lengths, scale_level
from varlen.ops.combine import concatenate
from varlen.ops.gather import boolean_mask
from varlen.ops.matmul import matmul
from varlen.ops.support.inputs import same_kind
from varlen.ops.support.outputs import ragged_like
from varlen.ops.where import where as choose
from varlen.types.indexing import add_axes

if TYPE_CHECKING:
    from varlen.types.ragged import Ragged

    Function = Callable[..., Any]

FUNCTIONS: dict[str, Function] = {}


def call(func: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    """The result of a function of NumPy that is here; NotImplemented of any other."""
    name = func.__name__
    function = FUNCTIONS.get(name)
    if function is None:
        return NotImplemented
    arguments, extras = _arguments(func, function, args, kwargs)
    if extras:
        raise type_error(
            "", f"np.{name} with {', '.join(extras)} has no meaning for a Ragged", "use the result"
        )
    return function(**arguments)


def _arguments(
    func: Function, function: Function, args: Any, kwargs: Any
) -> tuple[dict[str, Any], list[str]]:
    """The arguments that say something, by name, and the names of those that the function does not take."""
    signature, names = signature_of(func), signature_of(function).parameters
    arguments = signature.bind(*args, **kwargs).arguments
    result = {
        key: x
        for key, x in arguments.items()
        if not _is_default(x, signature.parameters[key].default) or (key == "axis" and key in names)
    }
    return result, [key for key in result if key not in names]


@functools.cache
def signature_of(function: Function) -> inspect.Signature:
    """The signature of a function, which is looked up once."""
    return inspect.signature(function)


def _is_default(x: object, default: object) -> bool:
    return x is default or (type(x) is type(default) and isinstance(x, (bool, str, int)) and x == default)


def _function(*names: str) -> Callable[[Function], Function]:
    def add(function: Function) -> Function:
        for name in names or (function.__name__.strip("_"),):
            FUNCTIONS[name] = function
        return function

    return add


def _refuse_axis(name: str, axis: object, r: Ragged[Any], way: str = "r.values") -> TypeError:
    depth = len(r._levels)
    return type_error(
        "axis",
        f"np.{name} of a Ragged goes along each sequence, axis {depth}, or over all numbers; got {axis}",
        f"use {way}",
    )


def _is_innermost(r: Ragged[Any], axis: object) -> bool:
    return axis_of(axis, r.ndim) == len(r._levels)


def _numbers(x: Any) -> Any:
    """All numbers of a container in one row; anything else as it is."""
    return x._values.reshape(-1) if isinstance(x, RaggedBase) else x


def _host(x: Any) -> Any:
    """The values of a container as NumPy reads them; anything else as it is."""
    return readable(x._values) if isinstance(x, RaggedBase) else x


# One sequence, of all numbers, is what an axis of None means; rows have axes that NumPy and torch know.


def _flat(r: Ragged[Any]) -> Ragged[Any]:
    result: Ragged[Any] = ragged_like(r, r._values.reshape(-1), (equal_lengths(1, r.size),))
    return result


def _over_rows(func: Function, r: Ragged[Any], axis: int, **options: Any) -> Any:
    """A function along an axis of each row; it may drop the axis."""
    if is_tensor(r._values):
        raise type_error("axis", f"np.{func.__name__} along an axis of rows of tensors", "use r.values")
    row_axis = axis_of(axis, r.ndim) - len(r._levels)
    return same_kind(r, func(r._values, axis=row_axis, **options))


def refuse_several(q: Any, of: str) -> None:
    """ValueError for several fractions, whose axis would come before that of the sequences."""
    if isinstance(q, (list, tuple)) or getattr(q, "ndim", None):
        raise value_error("q", f"several numbers for {of}", "give one at a time")


def _reduce_sequences(
    name: str, r: Ragged[Any], axis: Any, function: Function, keepdims: bool, **options: Any
) -> Any:
    """A function of the innermost sequences; over all numbers, or along an axis of each row."""
    is_kept = as_bool(keepdims, "keepdims")
    if axis is None:
        result = function(_flat(r), **options)[..., 0][()]
        return result.reshape((*result.shape, *(1,) * r.ndim)) if is_kept else result
    place = axis_of(axis, r.ndim)
    depth = len(r._levels)
    if place > depth:
        refuse_several(options.get("q"), "an axis of rows")
        return _over_rows(getattr(np, name), r, axis, keepdims=is_kept, **options)
    if place < depth:
        raise _refuse_axis(name, axis, r, "r.flatten(), which merges levels")
    result = function(r, **options)
    outer = r._levels[:-1]
    if outer:
        refuse_several(options.get("q"), "nested sequences")
        result = ragged_like(r, result, outer)
    return add_axes(result, [place]) if is_kept else result


# Order


_METHODS = ("linear", "lower", "higher", "nearest", "midpoint", "median")


def _quantiles(r: Ragged[Any], q: Any = 0.5, method: str = "linear") -> Any:
    """What lies a fraction of the way through the sorted numbers of each sequence; NaN, or NaT, if empty."""
    fractions = np.asarray(q, np.float64)
    if not ((fractions >= 0) & (fractions <= 1)).all():
        raise value_error("q", f"expected fractions from 0 to 1, got {q}")
    one_of(method, "method", _METHODS)
    level = r._levels[-1]
    rows = r.sort(axis=len(r._levels))._values
    are_times = isinstance(rows, np.ndarray) and rows.dtype.kind in "mM"
    if not (are_times or is_float(rows)):
        rows = backend_of(rows).astype(rows, float64_values(rows))
    shape = (*fractions.shape, len(level), *rows.shape[1:])
    if not len(rows):
        return np.full(shape, "NaT", rows.dtype) if are_times else like(np.full(shape, np.nan), rows)
    starts = np.minimum(level.offsets[:-1], len(rows) - 1)
    ends = np.maximum(level.lengths - 1, 0)
    places = None if method == "median" else np.multiply.outer(fractions, ends.astype(np.float64))
    low, high = (ends >> 1, (ends + 1) >> 1) if places is None else _neighbours(places, method)

    def pick(positions: Any) -> Any:
        return take(rows, (starts + positions).reshape(-1)).reshape(shape)

    a = pick(low)
    b = a if high is low else pick(high)
    if places is None or method == "midpoint":
        has_sum = not are_times or (places is None and rows.dtype.kind == "m")  # as NumPy rounds
        result = (a + b) / 2 if has_sum else b - (b - a) / 2
    elif method == "linear":
        w = like((places - low).reshape(*places.shape, *(1,) * (rows.ndim - 1)), rows)
        w = w if are_times or w.dtype == rows.dtype else backend_of(rows).astype(w, rows.dtype)
        result = backend_of(rows).where(w < 0.5, a + (b - a) * w, b - (b - a) * (1 - w))
    else:
        result = a
    is_empty = level.lengths == 0
    if isinstance(rows, np.ndarray) and not is_empty.any() and not np.isnan(rows.max()):
        return result
    last = pick(np.broadcast_to(ends, low.shape))
    is_void = like(np.broadcast_to(is_empty.reshape(-1, *(1,) * (rows.ndim - 1)), shape).copy(), rows)
    if are_times:
        return np.where((last != last) | is_void, np.array("NaT", rows.dtype), result)
    return backend_of(rows).where((last != last) | is_void, last * 0 + float("nan"), result)


def _neighbours(places: Any, method: str) -> tuple[Any, Any]:
    """The places of the numbers beside a fraction of a place; the same array twice for one."""
    if method == "nearest":
        low = high = np.rint(places).astype(np.int64)
    else:
        low, high = (round_to(places).astype(np.int64) for round_to in (np.floor, np.ceil))
    return low if method != "higher" else high, high if method != "lower" else low


@_function("median")
def _median(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    if axis is not None and axis_of(axis, a.ndim) > len(a._levels):
        return _over_rows(np.median, a, axis, keepdims=keepdims)
    return _reduce_sequences("median", a, axis, functools.partial(_quantiles, method="median"), keepdims)


@_function("quantile")
def _quantile(a: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Any:
    return _reduce_sequences("quantile", a, axis, _quantiles, keepdims, q=q, method=method)


@_function("percentile")
def _percentile(a: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Any:
    return _quantile(a, np.true_divide(q, 100), axis, method, keepdims)


@_function("unique")
def _unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: Any = None, equal_nan: bool = True,
) -> Any:  # fmt: skip
    if axis is None:
        options: Any = {
            "return_index": return_index,
            "return_inverse": return_inverse,
            "return_counts": return_counts,
        }
        return np.unique(_host(ar), equal_nan=equal_nan, **options)
    if return_index or not equal_nan or not _is_innermost(ar, axis):
        raise _refuse_axis("unique", axis, ar, "r.unique(inverse=, counts=, level=)")
    return ar.unique(inverse=return_inverse, counts=return_counts)


@_function("searchsorted")
def _searchsorted(a: Any, v: Any, side: str = "left") -> Any:
    if isinstance(a, RaggedBase):
        ragged: Any = a
        return ragged.searchsorted(v, side)
    options: Any = {"side": side}
    return same_kind(v, like(np.searchsorted(a, _host(v), **options), v._values))


# Neighbours


@_function("diff")
def _diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    if axis_of(axis, a.ndim) > len(a._levels):
        return _over_rows(np.diff, a, axis, n=n)
    if not _is_innermost(a, axis):
        raise _refuse_axis("diff", axis, a)
    return a.diff(n)


@_function("flip")
def _flip(m: Any, axis: Any = None) -> Any:
    axes = range(m.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    depth = len(m._levels)
    for place in sorted({axis_of(item, m.ndim) for item in axes}):
        if place > depth:
            rows = m._values
            m = same_kind(m, rows.flip(place - depth) if is_tensor(rows) else np.flip(rows, place - depth))
        else:
            m = m[::-1] if place == 0 else m.reverse(level=place - 1)
    return m


@_function("roll")
def _roll(a: Any, shift: Any, axis: Any = None) -> Any:
    if axis is None or not 1 <= axis_of(axis, a.ndim) <= len(a._levels):
        raise _refuse_axis("roll", axis, a, "r.roll(by)")
    return a.roll(shift, level=axis_of(axis, a.ndim) - 1)


# Sums


@_function("count_nonzero")
def _count_nonzero(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    counts = np.sum(a != 0, axis=axis, keepdims=keepdims)
    return int(counts) if axis is None and not keepdims else counts


@_function("average")
def _average(a: Any, axis: Any = None, weights: Any = None, keepdims: bool = False) -> Any:
    if weights is None:
        return fold("mean", a, axis, keepdims)
    if not isinstance(weights, RaggedBase):
        raise type_error(
            "weights", "expected a Ragged that nests as the numbers", "use r.broadcast_rows(...)"
        )
    check_nest(weights._levels, a._levels, "weights")
    axes: Any = {"axis": axis, "keepdims": keepdims}
    divisor: Any = weights
    total = np.sum(divisor, **axes)
    empty = _numbers(total) == 0
    if bool(empty.any() if hasattr(empty, "any") else empty):
        row = int(np.flatnonzero(readable(empty) if hasattr(empty, "ndim") and empty.ndim else [empty])[0])
        raise value_error(
            "weights", f"add up to 0 in sequence {row}", "leave it out, as r[r.lengths > 0] does", row=row
        )
    return np.sum(a * weights, **axes) / total


@_function("histogram")
def _histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    if isinstance(weights, RaggedBase) and isinstance(a, RaggedBase):
        check_nest(weights._levels, a._levels, "weights")
    return np.histogram(_host(a), _host(bins), range, density, _host(weights))


@_function("histogram_bin_edges")
def _histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    return np.histogram_bin_edges(_host(a), bins, range, _host(weights))


# Numbers that are not there


def fold(name: str, r: Ragged[Any], axis: Any, keepdims: bool, **options: Any) -> Any:
    """A reduction that gives NaN of a sequence without numbers."""
    is_kept = as_bool(keepdims, "keepdims")
    if axis is None:
        result = getattr(_flat(r), name)(empty=np.nan, **options)[0]
        return result.reshape((1,) * r.ndim) if is_kept else result
    result = getattr(r, name)(axis=axis, empty=np.nan, **options)
    return add_axes(result, [axis_of(axis, r.ndim)]) if is_kept else result


def _is_number(r: Ragged[Any]) -> Ragged[Any]:
    marks: Ragged[Any] = same_kind(r, r._values == r._values)
    return marks


_NEUTRAL = {"nansum": 0, "nanprod": 1, "nanmean": 0, "nanmax": -np.inf, "nanmin": np.inf}


def _over_columns_without_nan(name: str, r: Ragged[Any], **options: Any) -> Any:
    """A reduction of rows with columns: a number that changes nothing takes the place of NaN."""
    if name not in _NEUTRAL or "initial" in options:
        raise _refuse_axis(name, options.get("axis"), r, "r.values, or vl.where(np.isnan(r), 0, r)")
    mask = _is_number(r)
    function = np.sum if name == "nanmean" else getattr(np, name.removeprefix("nan"))
    if name in ("nanmax", "nanmin"):
        options["initial"] = _NEUTRAL[name]  # of a sequence without rows
    result = function(choose(mask, r, _NEUTRAL[name]), **options)
    if name in ("nansum", "nanprod"):
        return result
    options.pop("initial", None)
    counts: Any = np.sum(mask, **options)
    if name == "nanmean":
        return result / counts
    if isinstance(result, RaggedBase):
        return choose(counts > 0, result, np.nan)
    if is_tensor(result):
        return result.masked_fill(counts == 0, np.nan)
    return np.where(counts == 0, np.array(np.nan, result.dtype), result)[()]


def _without_nan(name: str) -> None:
    function = getattr(np, name.removeprefix("nan"))
    names = set(signature_of(getattr(np, name)).parameters) - {"out", "overwrite_input", "where", "weights"}

    def run(a: Any, **options: Any) -> Any:
        axis = options.get("axis")
        if not is_float(a._values):
            return function(a, **options)
        is_one = isinstance(axis, int)
        if is_one and axis_of(axis, a.ndim) > len(a._levels) and not is_tensor(a._values):
            return _over_rows(getattr(np, name), a, options.pop("axis"), **options)
        if a._values.ndim > 1 or (axis is not None and not (is_one and _is_innermost(a, axis))):
            return _over_columns_without_nan(name, a, **options)
        selection = boolean_mask(a, _is_number(a))
        if name not in ("nanmax", "nanmin", "nanmean") or "initial" in options:
            return function(selection, **options)
        options.pop("axis", None)
        return fold(name.removeprefix("nan"), selection, axis, options.pop("keepdims", False), **options)

    parameters = [
        inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        for key in signature_of(getattr(np, name)).parameters
        if key in names
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    FUNCTIONS[name] = run


for _name in ("sum", "prod", "mean", "max", "min", "var", "std", "median", "quantile", "percentile"):
    _without_nan(f"nan{_name}")


def _with_numbers(name: str, number: float) -> None:
    """A function after NaN was replaced by a number that changes nothing."""

    def run(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        if name.startswith("nanarg") and is_float(a._values):
            _refuse_nan_alone(name, a, axis)
        options = {"dtype": dtype} if dtype is not None else {}
        if keepdims:
            options["keepdims"] = True
        rows = a._values
        if is_float(rows):
            a = same_kind(a, backend_of(rows).where(rows == rows, rows, rows * 0 + number))
            a = choose(_is_number(a), a, number)
        return getattr(np, name.removeprefix("nan"))(a, axis=axis, **options)

    FUNCTIONS[name] = run


def _refuse_nan_alone(name: str, r: Ragged[Any], axis: Any) -> None:
    """Refuse sequences that hold NaN alone, which have no largest number."""
    rows = readable(r._values)
    if axis is None or rows.ndim > 1 or not _is_innermost(r, axis):
        return
    level: Level = r._levels[-1]
    selection = np.bincount(level.row_ids[rows == rows], minlength=len(level))
    bad = (selection == 0) & (level.lengths > 0)
    if bad.any():
        row = int(bad.argmax())
        raise value_error("", f"np.{name}: sequence {row} holds NaN alone", row=row)


for _name, _number in [("cumsum", 0), ("cumprod", 1), ("argmax", -np.inf), ("argmin", np.inf)]:
    _with_numbers(f"nan{_name}", _number)


# Places


@_function("take_along_axis")
def _take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    if axis is None or not isinstance(indices, RaggedBase) or not _is_innermost(arr, axis):
        raise _refuse_axis("take_along_axis", axis, arr, "r[indices] with a Ragged of integers, or r.gather")
    return arr[indices]


@_function("take")
def _take(a: Any, indices: Any, axis: Any = None) -> Any:
    if axis is None:
        return take(_numbers(a), np.asarray(indices))
    return a[(slice(None),) * axis_of(axis, a.ndim) + (indices,)]


@_function("compress", "extract")
def _compress(condition: Any, a: Any = None, axis: Any = None, arr: Any = None) -> Any:
    r = a if arr is None else arr
    if not isinstance(condition, RaggedBase):
        condition = np.asarray(condition, bool)  # numbers, too, say what to keep, and are no places
    if axis is None:
        return boolean_mask(r, condition, flatten=True)
    return r[(slice(None),) * axis_of(axis, r.ndim) + (condition,)]


@_function("nonzero")
def coordinates(a: Any) -> tuple[Any, ...]:
    """The places of all numbers that are not zero, an array an axis: what an index of pairs takes."""
    places, *row_places = np.nonzero(readable(a._values))
    result = row_places
    for level in reversed(a._levels):
        result = [level.positions[places], *result]
        places = level.row_ids[places]
    return (places, *result)


@_function("flatnonzero")
def _flatnonzero(a: Any) -> Any:
    return np.flatnonzero(readable(_numbers(a)))


@_function("argwhere")
def _argwhere(a: Any) -> Any:
    return np.stack(coordinates(a), axis=1)


@_function("repeat")
def _repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    if axis is None:
        count = a.size
    else:
        place = axis_of(axis, a.ndim)
        if place not in (0, len(a._levels)):
            raise _refuse_axis("repeat", axis, a, "r.tile(multiples)")
        count = len(a) if place == 0 else a.total
    if isinstance(repeats, RaggedBase):
        check_nest(repeats._levels, a._levels, "repeats")
        repeats = readable(repeats._values)
    repeats = np.asarray(repeats)
    entries = repeats.size
    if entries == 1:
        repeats = repeats.reshape(())
    elif repeats.ndim == 1 and entries != count:
        raise value_error("repeats", f"has {entries} entries, expected one or {count}", number=entries)
    if entries and repeats.dtype.kind in "if" and repeats.min() < 0:
        raise value_error("repeats", f"expected at least 0, got {repeats.min()}")
    index = np.repeat(np.arange(count), repeats)
    if axis is None:
        return take(_numbers(a), index)
    if place == 0:
        return a[index]
    level = a._levels[-1]
    if np.ndim(repeats) == 0:
        level = scale_level(level, int(repeats))
    else:
        ends = np.concatenate(([0], np.cumsum(repeats)))
        level = Level.from_offsets(ends[level.offsets])
    return ragged_like(a, take(a._values, index), (*a._levels[:-1], level))


# Products


@_function("dot")
def _dot(a: Any, b: Any) -> Any:
    if np.ndim(b) == 0:
        return a * b
    if np.ndim(b) > 2:
        raise type_error("b", "np.dot of a Ragged takes a vector or a matrix", "use a @ b")
    return matmul(a, b)


# Joining and splitting


def _into_pieces(name: str) -> None:
    def run(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
        if axis_of(axis, ary.ndim) != 0:
            raise _refuse_axis(name, axis, ary, "r[:, a:b]")
        return runs_of(ary, getattr(np, name)(np.arange(len(ary)), indices_or_sections))

    FUNCTIONS[name] = run


def runs_of(r: Any, places: Iterable[Any]) -> list[Any]:
    """The sequences at each run of places, which share their values."""
    return [r[int(run[0]) : int(run[-1]) + 1] if len(run) else r[:0] for run in places]


for _name in ("split", "array_split"):
    _into_pieces(_name)


@_function("hstack")
def _hstack(tup: Any) -> Any:
    return concatenate(list(tup), axis=1)


@_function("vstack")
def _vstack(tup: Any) -> Any:
    return concatenate(list(tup), axis=0)


@_function("append")
def _append(arr: Any, values: Any, axis: Any = None) -> Any:
    if axis is None:
        return np.append(_host(arr), _host(values))
    return concatenate([arr, values], axis)


@_function("expand_dims")
def _expand_dims(a: Any, axis: Any) -> Any:
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    return add_axes(a, sorted(axis_of(item, a.ndim + len(axes)) for item in axes))


@_function("squeeze")
def _squeeze(a: Any, axis: Any = None) -> Any:
    shape, depth = a._values.shape, len(a._levels)
    if axis is None:
        places = [k for k in range(1, len(shape)) if shape[k] == 1]
    else:
        places = [
            axis_of(item, a.ndim) - depth for item in ((axis,) if isinstance(axis, int) else tuple(axis))
        ]
    if any(place < 1 for place in places):
        raise type_error("axis", f"axis {axis} of a Ragged is no axis of its rows", "use r.drop_level()")
    if any(shape[place] != 1 for place in places):
        raise value_error("axis", f"the rows are {tuple(shape[1:])}, and axis {axis} is not 1 long")
    rest = [size for k, size in enumerate(shape) if k not in places]
    return same_kind(a, a._values.reshape(rest))


@_function("reshape")
def _reshape(a: Any, shape: Any = None, newshape: Any = None) -> Any:
    return a.reshape(newshape if shape is None else shape)


@_function("ravel")
def _ravel(a: Any) -> Any:
    return _numbers(a)


@_function("select")
def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    if len(condlist) != len(choicelist):
        raise value_error("choicelist", f"has {len(choicelist)} items for {len(condlist)} conditions")
    result = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = choose(condition, choice, result)
    return result


# Writing


@_function("copyto")
def _copyto(dst: Any, src: Any, where: Any = True) -> None:
    dst[... if where is True else where] = src


@_function("putmask", "place")
def _putmask(a: Any = None, mask: Any = None, values: Any = None, arr: Any = None, vals: Any = None) -> None:
    (a if arr is None else arr)[mask] = values if vals is None else vals


# Each number


def _each_number(name: str, *names: str) -> None:
    """A function of each number of its first argument, or of the second where that is the Ragged."""
    func = getattr(np, name)

    def run(**arguments: Any) -> Any:
        first = arguments.pop(names[0])
        plain = {key: _host(x) for key, x in arguments.items()}
        result = func(_host(first), **plain)
        return same_kind(first, like(result, first._values)) if isinstance(first, RaggedBase) else result

    parameters = [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY) for key in names]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    FUNCTIONS[name] = run


for _name, _names in {
    "isin": "element test_elements assume_unique invert kind",
    "digitize": "x bins right",
    "interp": "x xp fp left right period",
    "sinc": "x",
    "angle": "z deg",
    "fix": "x",
    "i0": "x",
    "isposinf": "x",
    "isneginf": "x",
}.items():
    _each_number(_name, *_names.split())


# What is asked of the dtype and the memory


@_function("iscomplexobj")
def _iscomplexobj(x: Any) -> bool:
    return bool(np.iscomplexobj(_host(x)))


@_function("isrealobj")
def _isrealobj(x: Any) -> bool:
    return not _iscomplexobj(x)


@_function("array_repr", "array_str")
def _text(a: Any = None, arr: Any = None) -> str:
    return repr(arr if a is None else a)


@_function("norm")
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord not in (None, 2) or axis is None:
        raise type_error("", "np.linalg.norm of a Ragged is the Euclidean one, along an axis", "use r.norm()")
    result = x.norm(axis=axis)
    return add_axes(result, [axis_of(axis, x.ndim)]) if keepdims else result


def masked(
    name: str, r: Ragged[Any], where: Any, axis: Any, initial: Any
) -> tuple[Ragged[Any], dict[str, Any]]:
    """What a reduction with `where` reduces, and its further options."""
    if not isinstance(where, (RaggedBase, bool)):
        raise instance_error("where", "a Ragged of bools or a bool", where)
    rows: Any = r._values
    mask = where if isinstance(where, RaggedBase) else same_kind(r, (rows == rows) & where)
    if not is_bool(mask._values):
        raise type_error("where", f"expected bools, got {mask._values.dtype}")
    neutral = {"sum": 0, "prod": 1, "any": False, "all": True, "max": initial, "min": initial}.get(name)
    if neutral is not None:
        return choose(mask, r, neutral), {}
    if name in ("max", "min"):
        raise value_error("where", f"np.{name} with where needs initial", "pass initial=")
    if (
        r._values.ndim > 1
        or (axis is not None and not _is_innermost(r, axis))
        or name not in ("mean", "var", "std")
    ):
        raise type_error(
            "where", f"np.{name} with where goes along each sequence of plain numbers", "use r[mask]"
        )
    check_nest(mask._levels, r._levels, "where")
    return boolean_mask(r, mask), {"empty": np.nan}
