"""Values as people bring them: NumPy arrays, torch tensors, or what NumPy can read.

A container keeps values as they came. Where the core moves them it sees their bytes through a NumPy view, and
what it gives becomes the caller's kind again. torch is looked for among the loaded modules, never imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.arguments import unmasked

if TYPE_CHECKING:
    from typing import TypeAlias

    import torch
    from numpy.typing import NDArray

    Values: TypeAlias = NDArray[Any] | torch.Tensor

T = TypeVar("T")


def is_tensor(x: object) -> bool:
    """Whether `x` is a torch tensor.

    Examples
    --------
    >>> is_tensor(np.zeros(2))
    False
    """
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def as_values(x: Any, argument: str = "values") -> Values:
    """Rows that the core can move: `x` itself where its memory is contiguous, a copy where it is not.

    Parameters
    ----------
    x
        An array (total, ...) of any dtype of fixed width, a torch tensor, or what `np.asarray` reads.
    argument
        What an error calls it.

    Raises
    ------
    TypeError
        Arrays of Python objects, masked arrays, sparse tensors.
    ValueError
        A scalar: rows need at least one dimension.

    Examples
    --------
    >>> x = np.arange(3)
    >>> as_values(x) is x
    True
    """
    if type(x) is np.ndarray and x.ndim and x.flags.c_contiguous and not x.dtype.hasobject:
        return x
    if is_tensor(x):
        from varlen.backends.torch.memory import as_rows

        return as_rows(x, argument)
    if not isinstance(x, np.ndarray):
        given = x
        try:
            x = np.asarray(x)
        except ValueError as error:
            raise ValueError(
                f"{argument}: not a rectangle of values ({error}); for nested lists use Ragged.from_list"
            ) from None
        if x.dtype.hasobject and isinstance(given, (list, tuple)):
            _core.from_lists(given, 0, name=argument)  # says which item is no number
    unmasked(x, argument)
    if x.dtype.hasobject:
        raise TypeError(f"{argument}: arrays of Python objects cannot be moved as bytes (dtype {x.dtype})")
    if x.ndim == 0:
        raise ValueError(f"{argument}: expected at least one dimension, got the scalar {x}")
    return x if x.flags.c_contiguous else np.ascontiguousarray(x)


def memory_of(values: Values) -> NDArray[Any]:
    """The memory of values as NumPy sees it, shared; bit patterns where NumPy has no name for the dtype.

    Examples
    --------
    >>> memory_of(np.arange(2))
    array([0, 1])
    """
    if isinstance(values, np.ndarray):
        return values
    from varlen.backends.torch.memory import as_numpy

    return as_numpy(values)


def apply_rows(values: Values, call: Callable[[NDArray[Any]], tuple[NDArray[Any], T]]) -> tuple[Values, T]:
    """What `call`, which only moves rows, makes of values of any kind; the rows come first in its result.

    Examples
    --------
    >>> apply_rows(np.arange(3), lambda rows: (rows[::-1], "reversed"))
    (array([2, 1, 0]), 'reversed')
    """
    if isinstance(values, np.ndarray):
        return call(values)
    from varlen.backends.torch.memory import apply_rows as through_torch

    return through_torch(values, call)


def copy_of(values: Values) -> Values:
    """Values in memory of their own, of their kind; autograd follows tensors.

    Examples
    --------
    >>> copy_of(np.arange(2))
    array([0, 1])
    """
    return values.copy() if isinstance(values, np.ndarray) else values.clone()


def device_of(values: Values) -> str:
    """Where values are: "cpu", or what a tensor says.

    Examples
    --------
    >>> device_of(np.arange(2))
    'cpu'
    """
    return "cpu" if isinstance(values, np.ndarray) else str(values.device)


def row_as(given: Any, values: Values, argument: str) -> Any:
    """A number, or what broadcasts to a row, as one row, (1, ...), of the kind and the dtype of the values.

    Raises
    ------
    ValueError
        The dtype does not hold it, or it has another shape.
    TypeError
        None, or a masked array.

    Examples
    --------
    >>> row_as(7, np.zeros((3, 2), np.int8), "padding")
    array([[7, 7]], dtype=int8)
    >>> row_as(300, np.zeros(3, np.int8), "padding")
    Traceback (most recent call last):
    ValueError: padding: 300 does not fit int8
    """
    shape = tuple(values.shape[1:])
    if unmasked(given, argument) is None:
        raise TypeError(f"{argument}: expected a number or a row, got None")
    try:
        broadcasts = np.broadcast_shapes(np.shape(given), shape) == shape
    except ValueError:
        broadcasts = False
    if not broadcasts:
        raise ValueError(f"{argument}: shape {np.shape(given)} does not broadcast to rows of shape {shape}")
    try:
        if isinstance(values, np.ndarray):
            number = not is_tensor(given) and np.ndim(given) == 0
            fill = given if number else np.broadcast_to(as_ints(given), shape)
            return _core.pad(values[:0], (Level([0]),), fill=fill, sizes=1)[0]
        from varlen.backends.torch.cast import cast
        from varlen.backends.torch.memory import filled, tensor_of

        if is_tensor(given):  # autograd goes on
            return cast(given, values.dtype, argument).to(values.device).expand(1, *shape)
        return tensor_of(filled(given, values.dtype, (1, *shape)), values.dtype).to(values.device)
    except (TypeError, ValueError, RuntimeError) as error:
        said = str(error).removeprefix("fill: ").removeprefix(f"{argument}: ")
        raise ValueError(f"{argument}: {said}") from None


def as_ints(x: Any) -> Any:
    """Lengths or offsets for the core: tensors come to the host, everything else is left as it is.

    Examples
    --------
    >>> as_ints([1, 2])
    [1, 2]
    """
    return x.detach().cpu().numpy() if is_tensor(x) else x


def like(array: NDArray[Any], values: Values) -> Values:
    """An array as a tensor on the device of `values` where those are a tensor.

    Examples
    --------
    >>> like(np.arange(2), np.zeros(3))
    array([0, 1])
    """
    if isinstance(values, np.ndarray):
        return array
    from varlen.backends.torch.memory import tensor_of

    return tensor_of(array).to(values.device)


def from_memory(array: NDArray[Any], values: Values) -> Values:
    """What the core made of the memory of `values`, as values of their kind and dtype.

    Examples
    --------
    >>> from_memory(np.arange(2), np.zeros(3))
    array([0, 1])
    """
    if isinstance(values, np.ndarray):
        return array
    from varlen.backends.torch.memory import tensor_of

    return tensor_of(array, values.dtype)


def to_state(values: Values) -> Any:
    """What a pickle holds of values: arrays as they are, tensors as their memory and the name of their dtype.

    Examples
    --------
    >>> to_state(np.arange(2))
    array([0, 1])
    """
    if isinstance(values, np.ndarray):
        return values
    from varlen.backends.torch.memory import to_state as packed_torch

    return packed_torch(values)


def from_state(state: Any) -> Values:
    """Values from what `to_state` gave.

    Examples
    --------
    >>> from_state(to_state(np.arange(2)))
    array([0, 1])
    """
    if isinstance(state, np.ndarray):
        return state
    from varlen.backends.torch.memory import from_state as unpacked_torch

    return unpacked_torch(state)


def take(values: Values, rows: Any) -> Any:
    """Some rows, in any order, of arrays or tensors; watched by autograd.

    Examples
    --------
    >>> take(np.array([3, 1, 4]), np.array([2, 2, 0]))
    array([4, 4, 3])
    """
    if isinstance(values, np.ndarray):
        return values.take(rows, axis=0)  # a third of the time of values[rows] where rows are wide
    if values.requires_grad and values.device.type == "cpu":
        from varlen.backends.torch.span import take_rows

        return take_rows(values, rows)
    return values[like(rows, values)]


def spread(rows: Any, level: _core.Level) -> Any:
    """Row i for every row of sequence i, of arrays or tensors; watched by autograd.

    Examples
    --------
    >>> spread(np.array([10, 20]), _core.Level([2, 1]))
    array([10, 10, 20])
    """
    if isinstance(rows, np.ndarray):
        return rows[level.row_ids] if rows.dtype.hasobject else _core.expand(as_values(rows), level)
    if rows.device.type == "cpu" and rows.requires_grad:
        from varlen.backends.torch.reduce import expand

        return expand(rows, level)
    return rows[like(level.row_ids, rows)]
