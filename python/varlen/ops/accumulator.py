"""The dtype in which rows are added up or multiplied, and what becomes of integers that it cannot hold."""

from __future__ import annotations

from reprlib import repr as short
from typing import TYPE_CHECKING, Any

from varlen import tracing
from varlen.backends import backend_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from varlen._core import Level


def accumulate(
    verb: str,
    run: Callable[[Any, Any], Any],
    values: Any,
    level: Level,
    dtype: Any = None,
    overflow: str = "wrap",
    out: Any = None,
    is_running: bool = False,
) -> Any:
    """The result of run(values, out), as it is where values have the dtype first, as NumPy has it.

    Raises
    ------
    OverflowError
        A result is no number of its dtype, where overflow is "raise".
    TypeError, ValueError
        An `overflow` that there is not, or "raise" of others than integers.

    Examples
    --------
    >>> level, values = vl.Level([2, 1]), np.array([100, 100, 3], np.int8)
    >>> def run(x, out):
    ...     return np.add.reduceat(x, [0, 2], dtype=np.int64)
    >>> accumulate("sum", run, values, level, "int8")
    array([-56,   3], dtype=int8)
    >>> accumulate("sum", run, values, level, "int8", "raise")
    Traceback (most recent call last):
    OverflowError: sum: about 200 in sequence 0 is not int8; ...
    """
    if type(overflow) is not str or overflow not in ("wrap", "raise"):
        raise ValueError(f"overflow: expected 'wrap' or 'raise', got {short(overflow)}")
    backend = backend_of(values)
    if dtype is None:
        result = run(values, out if overflow == "wrap" else None)
    else:
        # Modulo 2 to the bits of an integer it makes no difference when it is narrowed.
        result = run(backend.to_dtype(values, dtype), None)
        result = backend.to_dtype(result, dtype)
    if overflow == "raise":
        _refuse_wrapped(verb, run, values, level, result, is_running)
    elif dtype is None:
        return result
    return result if out is None else backend.assign(out, result)


def _refuse_wrapped(
    verb: str, run: Callable[[Any, Any], Any], values: Any, level: Level, result: Any, is_running: bool
) -> None:
    """Beside the same in float64: numbers that wrapped are at least 2 to their bits away from it."""
    if tracing.is_tracing():
        raise ValueError("overflow: 'raise' looks at numbers, which a graph that is traced has not")
    names = [str(each.dtype).removeprefix("torch.").removeprefix("u") for each in (values, result)]
    if not (names[0] == "bool" or names[0].startswith("int")) or not names[1].startswith("int"):
        raise TypeError(
            f"overflow: expected integers for 'raise', got {values.dtype} added up in {result.dtype}; "
            "floats that are too large become inf"
        )
    backend = backend_of(values)
    about = run(backend.to_dtype(values, "float64"), None)
    apart = abs(about - backend.to_dtype(result, "float64"))
    wrapped = apart > 2.0 ** (int(names[1][3:]) - 2)  # NaN is infinity by 0, and that is 0
    if not wrapped.any():
        return
    place = int(backend.true_places(wrapped.reshape(-1))[0])
    columns = 1
    for extent in result.shape[1:]:
        columns *= int(extent)
    row, column = divmod(place, columns)
    where = f"sequence {int(level.row_ids[row]) if is_running else row}"
    if result.ndim > 1:
        where = f"column {column} of {where}"
    number = float(about.reshape(-1)[place])
    raise OverflowError(
        f"{verb}: about {number:.6g} in {where} is not {result.dtype}; "
        f"give a dtype that holds it, or overflow='wrap' for what is left of it modulo 2**{names[1][3:]}"
    )
