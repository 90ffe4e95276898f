"""Values of any kind, each verb by the backend that the values belong to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen.arguments import TENSOR, as_ints
from varlen.backends import arrays, backend_of
from varlen.errors import type_error, value_error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import torch
    from numpy.typing import ArrayLike, DTypeLike
    from typing_extensions import TypeVar

    from varlen._core import Level, RaggedBase
    from varlen.backends.kinds import CupyArray

    Values: TypeAlias = np.ndarray | torch.Tensor | CupyArray
    # Rows as a caller writes them: a number, lists of numbers, an array or a tensor.
    RowsLike: TypeAlias = ArrayLike | Values
    # The same, or a container that knows its lengths, or a list of what is an array each.
    SequencesLike: TypeAlias = RowsLike | RaggedBase[Any] | Sequence[Any]
    # Which rows are meant: integers, a mask or a slice.
    Indices: TypeAlias = RowsLike | slice
    # Where a verb writes what it gives: of the kind that it would make.
    Output: TypeAlias = Values | RaggedBase[Any]
    # A dtype by NumPy's or torch's object, a type of Python or a name.
    DTypes: TypeAlias = DTypeLike | torch.dtype
    Lengths: TypeAlias = ArrayLike | Values | Level | Sequence[Level]
    Axes: TypeAlias = int | Sequence[int] | None
    # What a function gives back that takes arrays, tensors and containers; its overloads say which.
    Rows: TypeAlias = np.ndarray | torch.Tensor | RaggedBase[Any] | Any

    # The kind of array that a container holds. Not its dtype: what a method gives often has another one.
    ArrayT = TypeVar("ArrayT", np.ndarray, torch.Tensor, CupyArray)
    # The kind of array that a function is given: what is neither an array nor a tensor becomes an array.
    RowsT = TypeVar("RowsT", np.ndarray, torch.Tensor, CupyArray, default=np.ndarray)
    # The class of a container that a function is given, and gives back.
    RaggedT = TypeVar("RaggedT", bound=RaggedBase[Any])
    # What a function gives back as it came: a container of that class, or an array of that dtype.
    SameT = TypeVar("SameT", bound=Values | RaggedBase[Any], default=np.ndarray)
    # The states of a recurrent layer or a beam: rows, a container, or a tuple of them.
    StateT = TypeVar("StateT")
else:
    from typing import TypeVar

    ArrayT = TypeVar("ArrayT")

__all__ = [
    "apply_rows",
    "as_ints",
    "as_values",
    "broadcast_rows",
    "copy_of",
    "device_of",
    "from_memory",
    "from_state",
    "is_array",
    "is_tensor",
    "like",
    "memory_of",
    "one_device",
    "readable",
    "row_as",
    "take",
    "to_state",
]

T = TypeVar("T")


def is_array(x: object) -> bool:
    """Whether `x` is an array of any kind that there is a backend for."""
    return isinstance(x, np.ndarray) or (backend_of(x) is not arrays and hasattr(x, "shape"))


def is_tensor(x: object) -> bool:
    """Whether `x` is a torch tensor."""
    return backend_of(x) is not arrays and hasattr(x, TENSOR)  # a dtype of torch has none


def as_values(x: Any, argument: str = "values") -> Values:
    """Rows that the core can move: `x` itself where its memory is contiguous, a copy where it is not."""
    if type(x) is np.ndarray and x.ndim and x.flags.c_contiguous and not x.dtype.hasobject:
        return x
    rows: Values = backend_of(x).as_rows(x, argument)
    return rows


def memory_of(values: Values) -> np.ndarray:
    """The memory of values as NumPy sees it, shared; bit patterns where NumPy has no name for the dtype."""
    array: np.ndarray = backend_of(values).as_numpy(values)
    return array


def readable(values: Values) -> np.ndarray:
    """Numbers as NumPy reads them, on the CPU; float32 where NumPy has no name for the dtype."""
    array: np.ndarray = backend_of(values).readable(values)
    return array


def apply_rows(values: Values, call: Callable[[np.ndarray], tuple[np.ndarray, T]]) -> tuple[Values, T]:
    """The result of `call` on values of any kind, which it only moves; the rows come first in it."""
    result: tuple[Values, T] = backend_of(values).apply_rows(values, call)
    return result


def copy_of(values: Values) -> Values:
    """Values in memory of their own, of their kind; autograd follows tensors."""
    own: Values = backend_of(values).copy(values)
    return own


def device_of(values: Values) -> str:
    """Where values are: "cpu", or what a tensor says."""
    return backend_of(values).device_of(values)


def one_device(x: Any, argument: str, values: Any, other: str) -> None:
    """Refuse arrays of two devices in one call; NumPy's go where the others lie, as numbers do."""
    if x is values or isinstance(x, np.ndarray) or isinstance(values, np.ndarray):
        return
    x_device, device = getattr(x, "device", None), getattr(values, "device", None)
    if x_device == device or x_device is None or device is None or not (x.ndim and values.ndim):
        return
    name = argument if ": " in argument else argument + ":"
    raise value_error(
        "", f"{name} lies on {device_of(x)}, {other} on {device_of(values)}", "move one of them there"
    )


def to_device(values: Values, device: Any, non_blocking: bool) -> Values:
    """Values on a device: themselves where they lie there."""
    result: Values = backend_of(values).to_device(values, device, non_blocking)
    return result


def pin(values: Values) -> Values:
    """Values in memory of the host that a device reads by itself."""
    result: Values = backend_of(values).pin(values)
    return result


def row_as(value: Any, values: Values, argument: str) -> Any:
    """What broadcasts to a row, as one row (1, ...) of the kind and dtype of the values."""
    if value is None:
        raise type_error(argument, "expected a number or a row, got None")
    return backend_of(values).row_as(value, values, argument)


def like(array: np.ndarray, values: Values) -> Values:
    """An array as a tensor on the device of `values` where those are a tensor."""
    result: Values = backend_of(values).like(array, values)
    return result


def from_memory(array: np.ndarray, values: Values) -> Values:
    """What the core made of the memory of `values`, as values of their kind and dtype."""
    result: Values = backend_of(values).from_memory(array, values)
    return result


def to_state(values: Values, by_torch: bool = False) -> Any:
    """What a pickle holds of values: arrays as they are, tensors as their memory and the name of their dtype.

    Where torch saves them, tensors are as they are, too, without rows of others.
    """
    if not (by_torch and is_tensor(values)):
        return backend_of(values).to_state(values)
    tensor: Any = values
    own = tensor.untyped_storage().nbytes() == tensor.nbytes
    state = tensor.detach() if own else tensor.detach().clone()
    return state.requires_grad_(tensor.requires_grad)


def from_state(state: Any) -> Values:
    """Values from what `to_state` gave."""
    if not isinstance(state, tuple):
        return cast("Values", state)
    from varlen.backends.torch.memory import from_state

    return from_state(state)


def take(values: Values, rows: Any) -> Any:
    """Some rows, in any order, of arrays or tensors; watched by autograd."""
    return backend_of(values).take(values, rows)


def broadcast_rows(rows: Any, level: Level) -> Any:
    """Row i for every row of sequence i, of arrays or tensors; watched by autograd."""
    return backend_of(rows).broadcast_rows(rows, level)
