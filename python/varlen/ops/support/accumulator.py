"""The dtype in which rows are added up or multiplied, and integers that are beyond it."""

from __future__ import annotations

from reprlib import repr as short
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen import tracing
from varlen.backends import backend_of
from varlen.backends.values import is_tensor, readable
from varlen.errors import error_of, type_error, value_error
from varlen.ops.faces.folds import COMPOSED

if TYPE_CHECKING:
    from collections.abc import Callable

    from varlen._core import Level
    from varlen.backends.values import DTypes, Output, RowsLike, SequencesLike

WRAP = "wrap"  # the default of `overflow`: a verb that is given this very text accumulates as by itself
_NOT_NUMBERS = "mMUSV"  # the letters that NumPy has for times, durations, text, bytes and records


class Integers(NamedTuple):
    """The integers of a dtype, and the dtype of 64 bits in which they are added up."""

    name: str
    low: int
    high: int
    wide: str


# By name, and by the dtypes of NumPy and the names of torch's. Bools are 0 and 1.
_INTEGERS: dict[Any, Integers] = {}
for _name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    _low, _high = (0, 1) if _name == "bool" else (int(np.iinfo(_name).min), int(np.iinfo(_name).max))
    _integers = Integers(_name, _low, _high, "uint64" if _name.startswith("u") else "int64")
    _INTEGERS |= dict.fromkeys((_name, np.dtype(_name), f"torch.{_name}"), _integers)


def integers_of(dtype: DTypes) -> Integers | None:
    """The integers that a dtype of any library has; None for others than integers and bools."""
    if isinstance(dtype, np.dtype):
        return _INTEGERS.get(dtype if dtype.isnative else dtype.newbyteorder("="))
    return _INTEGERS.get(str(dtype))


def is_plain(dtype: object, overflow: Any) -> bool:
    """Whether a verb is to accumulate as it does by itself."""
    return dtype is None and type(overflow) is str and overflow == WRAP


def accumulate(
    verb: str,
    op: str,
    values: Any,
    level: Level,
    options: dict[str, Any],
    dtype: Any = None,
    overflow: str = "wrap",
    out: Any = None,
    where: str = "sequence {}",
) -> Any:
    """Rows reduced or scanned in a dtype, which the result has.

    `verb` is "reduce" or "scan" of the backend, `options` what it takes beside its op. `where` names a
    sequence of the level in errors.
    """
    if is_plain(dtype, overflow):
        return _run(verb, op, values, level, options, out)
    if type(overflow) is not str or overflow not in ("wrap", "raise"):
        raise value_error("overflow", f"expected 'wrap' or 'raise', got {short(overflow)}")
    backend = backend_of(values)
    integers, kind = integers_of(values.dtype), values.dtype
    if dtype is None:
        target = _INTEGERS[integers.wide] if integers else None
    else:
        if getattr(kind, "kind", "f") in _NOT_NUMBERS:
            raise type_error("dtype", f"expected numbers to accumulate in {dtype}, got {kind}")
        kind = backend.to_dtype(values[:0], dtype).dtype
        if getattr(kind, "kind", "f") in _NOT_NUMBERS:
            raise type_error("dtype", f"expected a dtype of numbers, got {kind}")
        target = integers_of(kind)
        if target is not None and target.name == "bool":
            target = None
    is_whole = integers is not None and target is not None and op in ("sum", "prod")
    if overflow == "raise" and not is_whole:
        raise type_error(
            "overflow",
            f"'raise' needs integers, got the {op} of {values.dtype} in {kind}; too large floats become inf",
        )
    empty = options.get("empty")
    if (
        target is not None
        and isinstance(empty, (int, float, np.number))
        and not target.low <= empty <= target.high
    ):
        raise value_error("empty", f"{empty} does not fit {target.name}", number=empty)
    # Sums and products of integers are the same modulo 2 to their bits, whenever they are narrowed.
    rows = values if is_whole else backend.to_dtype(values, dtype)
    result = _run(verb, op, rows, level, options)
    if overflow == "raise" and target is not None:
        _refuse_lost(verb, op, values, level, options, result, target, where)
    if dtype is not None:
        result = backend.to_dtype(result, dtype)
    return result if out is None else backend.assign(out, result)


@tracing.eager_only("overflow='raise'")
def _refuse_lost(
    verb: str,
    op: str,
    values: Any,
    level: Level,
    options: dict[str, Any],
    result: Any,
    target: Integers,
    where: str,
) -> None:
    """Refuse the first number beyond the integers that are wanted; `result` is right modulo 2**64."""
    integers: Any = integers_of(values.dtype)
    if op == "sum" and _holds(target, integers.low, integers.high, level.longest):
        return
    rows, backend = values, backend_of(values)
    if backend.device_of(values) == "cpu":
        rows = _host_numbers(values)
        if not rows.size or (op == "sum" and _holds(target, int(rows.min()), int(rows.max()), level.longest)):
            return
    numbers = _host_numbers(result).astype(target.wide, copy=False)
    count_rounds = _rounds_of_sums if op == "sum" else _rounds_of_products
    rounds, number_at = count_rounds(verb, rows, level, options, numbers)
    is_lost = (rounds != 0) | (numbers < target.low) | (numbers > target.high)
    if not is_lost.any():
        return
    place = tuple(np.argwhere(is_lost)[0].tolist())
    number = number_at(place)
    where = where.format(place[0] if verb == "reduce" else int(level.row_ids[place[0]]))
    if len(place) > 1:
        where = f"column {place[1] if len(place) == 2 else place[1:]} of {where}"
    holder = "float64', which rounds"
    for name in ("uint64", "int64"):
        if type(number) is int and _holds(_INTEGERS[name], number, number, 1):
            holder = f"{name}'"
    raise error_of(
        OverflowError,
        "",
        f"{number} in {where} is beyond {target.name}, which holds {target.low} to {target.high}",
        f"pass dtype='{holder}, or overflow='wrap'",
        context=f"{op if verb == 'reduce' else f'cum{op}'}",
    )


def _rounds_of_sums(
    verb: str, rows: Any, level: Level, options: dict[str, Any], numbers: np.ndarray
) -> tuple[np.ndarray, Callable[[Any], Any]]:
    """How often each sum modulo 2**64 went round, and what tells the sum at a place.

    The upper halves of numbers add up without loss in up to 2**31 rows. The lower halves carry less than
    2**32 to them; what else the result's upper half has comes of going round.
    """
    backend = backend_of(rows)
    halves = backend.ufunc("right_shift", [backend.to_dtype(rows, "int64"), 32], {})
    if integers_of(rows.dtype) == _INTEGERS["uint64"]:
        halves = backend.ufunc("bitwise_and", [halves, 2**32 - 1], {})
    if options.get("empty") is not None:
        options = {**options, "empty": int(options["empty"]) >> 32}
    upper = _host_numbers(_run(verb, "sum", halves, level, options))
    rounds = ((numbers >> 32).astype(np.int64) - upper) >> 32
    return rounds, lambda place: int(numbers[place]) - (int(rounds[place]) << 64)


def _rounds_of_products(
    verb: str, rows: SequencesLike, level: Level, options: dict[str, Any], numbers: np.ndarray
) -> tuple[np.ndarray, Callable[[Any], Any]]:
    """Which products modulo 2**64 went round, and what tells the product at a place.

    A product of 64 bits has fewer than 64 factors beside 1 and -1, so that in float64 it is off by 2**18 at
    most, and one that went round by 2**64 at least. NaN is infinity by 0, and that product is 0.
    """
    backend = backend_of(rows)
    if options.get("empty") is not None:
        options = {**options, "empty": float(options["empty"])}
    estimate = _host_numbers(_run(verb, "prod", backend.to_dtype(rows, "float64"), level, options))
    rounds = abs(estimate - numbers.astype(np.float64)) > 2.0**63
    return rounds, lambda place: f"about {estimate[place]:.6g}" if rounds[place] else int(numbers[place])


def _host_numbers(x: Any) -> np.ndarray:
    """Numbers on the host."""
    if not is_tensor(x):
        return readable(x)
    try:
        numbers: np.ndarray = tracing.numbers_of(x)
    except NotImplementedError:
        raise NotImplementedError(
            "overflow: 'raise' must read numbers, which vmap, fake tensors and inputs of a graph being built "
            "do not show; check before, and pass overflow='wrap' there"
        ) from None
    return numbers


def _run(
    verb: str, op: str, rows: SequencesLike, level: Level, options: dict[str, Any], out: Output | None = None
) -> Any:
    if verb == "reduce":
        return _fold(op, rows, level, out=out, **options)
    return backend_of(rows).scan(op, rows, level, **options, out=out)


def _fold(
    op: str, values: SequencesLike, level: Level, empty: RowsLike, out: Output | None = None, ddof: float = 0
) -> Any:
    """A row for each sequence of a level: by the kernel of that name, or by what is composed of others."""
    function = COMPOSED.get(op)
    backend = backend_of(values)
    if function is None:
        return backend.reduce(op, values, level, empty, out, ddof)
    rows = function(backend, values, level, empty)
    return rows if out is None else backend.assign(out, rows)


def _holds(integers: Integers, low: int, high: int, count: int) -> bool:
    """Whether integers hold all sums of up to so many numbers of a range."""
    return integers.low <= min(low, 0) * count and max(high, 0) * count <= integers.high
