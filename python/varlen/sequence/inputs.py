"""The arguments of ops on sequences, and whole sequences selected from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.arguments import LARGEST, as_ints, is_zero, refuse_mask
from varlen.backends import arrays, backend_of
from varlen.backends.values import as_values
from varlen.errors import dtype_error, instance_error, naming, overflow_error, value_error
from varlen.levels import check_nest
from varlen.types import Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from varlen.backends.values import SequencesLike, Values
    from varlen.levels import Levels


def sequences(x: SequencesLike, argument: str = "x") -> Ragged[Any]:
    """The argument, which must be a Ragged."""
    if not isinstance(x, Ragged):
        raise instance_error(argument, "a Ragged", x)
    return x


def select(x: Ragged[Any], k: int, index: Any) -> tuple[Values, Levels]:
    """Sequences of level `k`, in any order and as often as wanted: their rows, and the levels from `k` on.

    Autograd follows tensors.
    """
    result = x._make(x.values, x.levels[k:])[index]
    return result.values, result.levels


def gradient_rows(
    dY: SequencesLike,
    count: int,
    levels: Levels = (),
    argument: str = "dY",
    inner: tuple[int, ...] | None = None,
) -> Any:
    """The rows of a gradient, which has `count` rows, or nests as `levels` do.

    `inner` is the required shape of a row, if given.
    """
    if isinstance(dY, Ragged):
        check_nest(dY.levels, levels, argument)
        rows = dY.values
    else:
        rows = as_values(dY, argument)
        if len(rows) != count:
            raise value_error(argument, f"has {len(rows)} rows, expected {count}")
    if inner is not None:
        require_row_shape(rows, inner, argument)
    return rows


def require_row_shape(rows: Any, inner: Sequence[int], argument: str) -> None:
    """Refuse rows of another shape."""
    if tuple(rows.shape[1:]) != tuple(inner):
        raise value_error(argument, f"has rows of shape {tuple(rows.shape[1:])}, expected {tuple(inner)}")


def per_sequence(value: object, count: int, argument: str, minimum: int | None = 0) -> NDArray[np.int64]:
    """A number for each of `count` sequences: (count,), (count, 1), a Ragged of such, or one for all."""
    numbers = array_of(value, argument)
    if numbers.dtype.kind not in "iu" and numbers.size:
        numbers = _integers(value, numbers, argument)
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if numbers.shape not in ((), (count,)):
        raise value_error(argument, f"expected {count} numbers, one a sequence, got shape {numbers.shape}")
    if numbers.dtype.kind in "uO":
        is_outside = (numbers > LARGEST) | (numbers < -LARGEST - 1 if numbers.dtype.hasobject else False)
        if np.any(is_outside):
            index = int(np.argmax(is_outside))
            where = f"sequence {index} has {numbers[index]}" if numbers.ndim else str(numbers)
            raise overflow_error(argument, f"{where}, which does not fit 63 bits")
    result = (numbers if numbers.ndim else np.full(count, numbers)).astype(np.int64, copy=False)
    if minimum is not None and count and result.min() < minimum:
        i = int((result < minimum).argmax())
        raise value_error(
            argument,
            f"sequence {i} has {result[i]}, expected {minimum} or more",
            row=i,
            number=int(result[i]),
        )
    return result


def _integers(value: Any, numbers: Any, argument: str) -> np.ndarray:
    """Integers of Python that NumPy reads as floats or objects, because some are beyond int64."""
    if numbers.dtype.hasobject or isinstance(value, (list, tuple)):
        objects = numbers if numbers.dtype.hasobject else np.asarray(value, np.object_)
        if all(isinstance(x, (int, np.integer)) and not isinstance(x, bool) for x in objects.flat):
            return objects
    raise dtype_error(argument, "integers", numbers.dtype)


def array_of(value: object, argument: str) -> np.ndarray:
    """Numbers as NumPy reads them, of a Ragged its rows; dtypes that NumPy does not know become float32."""
    if isinstance(value, Ragged):
        value = value.values
    if backend_of(value) is not arrays:
        numbers: np.ndarray = as_ints(value)
        return numbers
    try:
        return np.asarray(refuse_mask(value, argument))
    except ValueError:
        raise value_error(argument, "not a rectangle of numbers") from None


def fill_for(values: SequencesLike, fill: object) -> Any:
    """The fill for the core; 0 and 0.0 mean zero bytes of any dtype."""
    refuse_mask(fill, "pad_value")
    zero = is_zero(fill) or (type(fill) is float and fill == 0 and math.copysign(1, fill) > 0)
    if zero and isinstance(values, np.ndarray) and values.dtype.kind not in "biufc":
        return np.zeros((), values.dtype)
    return 0 if zero else fill


def naming_pad_value() -> naming:
    """Name `pad_value` in errors about the fill, and about sequences without rows."""
    return naming(fill="pad_value", empty="pad_value")


def in_parts(d: SequencesLike, add: Callable[[Any], Any]) -> Any:
    """`add(d)`, where `add` sums rows of real numbers; complex numbers are passed as two columns."""
    return backend_of(d).in_parts(d, add)


def scatter_rows(d: SequencesLike, rows: NDArray[np.int64], total: int) -> Any:
    """`total` rows: d at the rows it was taken from, and zeros. The gradient of picking rows."""
    return in_parts(d, lambda part: backend_of(part).backprop_gather_add(part, rows[:, None], total))
