"""torch tensors as values: seen as NumPy arrays where the core moves rows, and given back as tensors.

Tensors on the CPU share memory both ways. Where somebody follows a tensor, or it lies on a device, its rows
are picked by torch with the row numbers that the core works out: gradients flow, and data stays where it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
import torch

from varlen import _core
from varlen._core import is_plain_tensor
from varlen.arguments import (
    LARGEST,
    as_float,
    as_int,
    gradient_error,
    one_number_error,
    refuse_mask,
    scalar_error,
)
from varlen.arguments import as_dtype as named_dtype
from varlen.backends.numpy.rows import as_rows as rows_of_array
from varlen.backends.torch.cast import as_dtype, bits_of, cast_tensor, exactly
from varlen.backends.torch.followers import constants_device, is_followed, suspend_modes
from varlen.errors import type_error, value_error

if TYPE_CHECKING:
    from varlen._core import Level


T = TypeVar("T")


def as_rows(tensor: torch.Tensor, argument: str = "values") -> torch.Tensor:
    """A dense tensor of at least one dimension whose rows lie end to end; a copy only where they did not."""
    if tensor.is_quantized:
        raise type_error(argument, f"expected plain numbers, got {tensor.dtype}", "give dequantize() of it")
    if tensor.is_nested:
        raise type_error(
            argument, "expected a dense tensor, got a nested one", "give Ragged.from_nested(...)"
        )
    if tensor.layout != torch.strided:
        raise type_error(argument, f"expected a dense tensor, got layout {tensor.layout}")
    if tensor.ndim == 0:
        raise scalar_error(argument)
    return tensor.resolve_conj().resolve_neg().contiguous()


def on_host(tensor: torch.Tensor) -> bool:
    """Whether a tensor shows its memory to NumPy."""
    return bool(tensor.device.type == "cpu")


def as_numpy(tensor: torch.Tensor) -> np.ndarray:
    """The memory of a tensor on the CPU as an array that shares it.

    dtypes that NumPy has no name for (bfloat16, the float8 family) show as integers of their width.
    """
    if not on_host(tensor):
        raise type_error("", f"expected a tensor on the CPU, got one on {tensor.device}")
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if _numpy_name(tensor.dtype) is None:
        tensor = tensor.view(bits_of(tensor.dtype))
    array: np.ndarray = tensor.numpy()
    return array


def refuse_watched(*tensors: torch.Tensor) -> None:
    """Refuse an output that autograd watches, or will by what is written there."""
    for tensor in tensors:
        if tensor.requires_grad:
            raise value_error("out", "autograd watches the result", "leave out away")


class writing:
    """While the core writes the memory of tensors: then what autograd kept of them is known to be gone.

    A class, because a generator costs more than half a microsecond.
    """

    __slots__ = ("_outs",)

    def __init__(self, *outs: torch.Tensor) -> None:
        refuse_watched(*outs)
        for out in outs:
            if out.is_conj() or out.is_neg():
                advice = "give resolve_conj().resolve_neg() of it"
                raise value_error("out", "has a conjugate or negative bit", advice)
        self._outs = outs

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if error is None:
            for out in self._outs:
                if not out.is_inference():
                    torch.autograd.graph.increment_version(out)


def tensor_of(array: np.ndarray, dtype: torch.dtype | None = None) -> torch.Tensor:
    """An array as a tensor that shares its memory; `dtype` says what bit patterns mean.

    Read-only arrays are copied, because a tensor could write to them.
    """
    if not array.flags.writeable:
        array = array.copy()
    try:
        tensor = torch.from_numpy(array)
    except ValueError:  # strides that are negative or within an element, or bytes in another order
        tensor = torch.from_numpy(array.astype(array.dtype.newbyteorder("="), "C"))
    return tensor.view(dtype) if dtype is not None and _numpy_name(dtype) is None else tensor


def as_tensors(arrays: Mapping[str, Any]) -> dict[str, Any] | None:
    """Arrays as `tensor_of` gives them, in one go; None where one is no array, or torch lacks its dtype."""
    share = torch.from_numpy
    try:
        return {
            name: share(array if array.flags.writeable else array.copy()) for name, array in arrays.items()
        }
    except (AttributeError, TypeError, ValueError):
        return None


def share_memory(x: Any) -> torch.Tensor:
    """A tensor as it is, or one over the memory of an array of NumPy or, by DLPack, of another library."""
    if isinstance(x, torch.Tensor):
        return x
    return tensor_of(x) if isinstance(x, np.ndarray) else torch.from_dlpack(x)


def apply_rows(
    tensor: torch.Tensor, call: Callable[[np.ndarray], tuple[np.ndarray, T]]
) -> tuple[torch.Tensor, T]:
    """What `call`, which only moves rows, makes of a tensor; autograd and devices included."""
    if on_host(tensor) and is_plain_tensor(tensor):
        array, rest = call(as_numpy(tensor))
        return tensor_of(array, tensor.dtype), rest
    rows = np.arange(len(tensor))
    index, rest = call(rows)
    if index.size and np.shares_memory(index, rows):
        return tensor[int(index[0]) : int(index[-1]) + 1], rest
    return tensor[like(index, tensor)], rest


def fill_row(fill: Any, dtype: torch.dtype, shape: Sequence[int], argument: str = "fill") -> np.ndarray:
    """The memory of a row of this shape that holds `fill`: a number, or what broadcasts to the row."""
    if is_followed(fill):
        raise gradient_error(argument)
    core_kind = core_dtype(dtype)
    with suspend_modes():
        if core_kind is not None:
            numbers = _host_fill(fill, argument) if isinstance(fill, torch.Tensor) else fill
            row: np.ndarray = _core.fill_row(numbers, core_kind, shape, argument)[0, ...]
            return row.view(np.int16) if dtype is torch.bfloat16 else row
        try:
            value = exactly(fill)
        except (RuntimeError, TypeError, ValueError):
            raise value_error(argument, f"{short(fill)} does not fit {dtype}") from None
        tensor = cast_tensor(as_row(value, shape, argument), dtype, argument).expand(shape)
        return as_numpy(tensor.contiguous().cpu())


def _host_fill(fill: torch.Tensor, argument: str) -> torch.Tensor:
    """The numbers of a tensor as NumPy reads them."""
    if fill.device.type == "meta":
        raise value_error(argument, "a tensor that is a shape alone has no numbers")
    return _readable(fill.detach().cpu())


def at_least_one(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor with a row of zeros where it has none to be picked; autograd follows."""
    return tensor if len(tensor) else torch.cat((tensor, tensor.new_zeros((1, *tensor.shape[1:]))))


def core_dtype(dtype: torch.dtype) -> Any:
    """The dtype that the core computes with; None where it only moves the bytes."""
    if dtype is torch.bfloat16:
        return _core.bfloat16
    name = _numpy_name(dtype)
    return None if name is None else np.dtype(name)


def as_row(value: torch.Tensor, shape: Sequence[int], argument: str) -> torch.Tensor:
    """One number, of whatever axes, as a scalar; a row as it is."""
    if value.numel() == 1:
        return value.reshape(())
    axes = tuple(value.shape)
    if len(shape) == 0:
        raise one_number_error(argument, axes)
    tail = tuple(shape)[len(shape) - len(axes) :] if len(axes) <= len(shape) else ()
    if len(tail) != len(axes) or any(n not in (1, size) for n, size in zip(axes, tail, strict=True)):
        raise value_error(argument, f"shape {axes} does not broadcast to a row of shape {tuple(shape)}")
    return value


def readable(tensor: torch.Tensor) -> np.ndarray:
    """Values as numbers that NumPy can print: dtypes that it lacks become float32."""
    if tensor.dtype in _READ_AS_THEY_ARE and type(tensor) is torch.Tensor and on_host(tensor):
        numbers: np.ndarray = tensor.numpy()
        return numbers
    return as_numpy(_readable(tensor.detach().cpu()))


_READ_AS_THEY_ARE = {torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}


def _readable(tensor: torch.Tensor) -> torch.Tensor:
    if _numpy_name(tensor.dtype) is not None:
        return tensor
    return tensor.to(torch.complex64 if tensor.is_complex() else torch.float32)


def copy(tensor: torch.Tensor) -> torch.Tensor:
    """Values in memory of their own; autograd follows."""
    return tensor.clone()


def device_of(tensor: torch.Tensor) -> str:
    """Where values are, as torch says it."""
    return str(tensor.device)


def to_device(tensor: torch.Tensor, device: Any, non_blocking: bool = False) -> torch.Tensor:
    """A tensor on a device: itself where it lies there."""
    target = device_named(device)
    try:
        return tensor.to(target, non_blocking=non_blocking)
    except AssertionError as error:  # so says a build of torch that knows no such devices
        raise value_error("device", f"torch has no {target} here: {error}") from error


def device_named(device: Any) -> torch.device:
    """The device of torch that is meant."""
    try:
        return torch.device(device)
    except (RuntimeError, TypeError, ValueError) as error:
        raise type_error("device", f'expected one of torch, as "cuda:1" or "cpu"; got {device!r}') from error


def pin(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor in memory of the host that a device reads by itself."""
    if not on_host(tensor):
        raise type_error("pin_memory", f"the values lie on {tensor.device}, not on the CPU")
    return tensor.pin_memory()


def like(array: np.ndarray, tensor: torch.Tensor) -> torch.Tensor:
    """An array as a tensor on the device of another."""
    with constants_device(tensor):
        return tensor_of(array).to(tensor.device)


def from_memory(array: np.ndarray, tensor: torch.Tensor) -> torch.Tensor:
    """What the core made of the memory of a tensor, as one of its dtype."""
    return tensor_of(array, tensor.dtype)


def row_as(value: Any, tensor: torch.Tensor, argument: str) -> torch.Tensor:
    """What broadcasts to a row, as one row (1, ...) of the dtype of a tensor; autograd follows."""
    return fill_of(value, tensor, argument).expand(1, *tensor.shape[1:])


def to_state(tensor: torch.Tensor) -> tuple[str, np.ndarray, bool]:
    """What a pickle holds of a tensor: its dtype's name, its own rows, whether it wants gradients."""
    return str(tensor.dtype).removeprefix("torch."), as_numpy(tensor.cpu()), tensor.requires_grad


def from_state(state: tuple[str, np.ndarray, bool]) -> torch.Tensor:
    """A tensor on the CPU from what `to_state` gave."""
    name, array, requires_grad = state
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        _raise_dtype(name)
    return tensor_of(array, dtype).requires_grad_(requires_grad)


def dtype_of(dtype: Any) -> np.dtype:
    """The NumPy dtype for a torch dtype."""
    name = _numpy_name(dtype)
    if name is None:
        _raise_dtype(str(dtype))
    return np.dtype(name)


def _numpy_name(dtype: torch.dtype) -> str | None:
    name = str(dtype).removeprefix("torch.")
    has_name = hasattr(np, name) and name not in ("bool", "complex32")
    return {"bool": "bool"}.get(name, name if has_name else None)


def _raise_dtype(name: str) -> NoReturn:
    raise type_error("", f"NumPy and torch do not both have a dtype {name}")


def astype(tensor: torch.Tensor, dtype: Any) -> torch.Tensor:
    """Values of another dtype, always copied; autograd follows."""
    return tensor.to(as_dtype(dtype), copy=True)


def split(tensor: torch.Tensor, level: Level) -> list[torch.Tensor]:
    """The rows of each sequence, sharing memory."""
    return list(tensor.split(level.lengths.tolist()))


def as_tensor(value: Any, argument: str) -> torch.Tensor:
    """What was given as a tensor: itself, or one that shares the memory of an array."""
    return value if isinstance(value, torch.Tensor) else tensor_of(rows_of_array(value, argument))


def fill_of(value: Any, x: torch.Tensor, argument: str = "fill") -> torch.Tensor:
    """A number as a scalar, or a row, as a tensor of the dtype of x and beside it; autograd follows."""
    shape = tuple(x.shape[1:])
    if is_followed(value):
        return cast_tensor(as_row(value, shape, argument), x.dtype, argument).to(x.device)
    blank = fill_row(value, x.dtype, () if _is_one(value) else shape, argument)
    with constants_device(x):
        return tensor_of(blank, x.dtype).to(x.device)


def _is_one(value: Any) -> bool:
    """Whether it is one number, of whatever axes."""
    if isinstance(value, (bool, int, float, complex)):
        return True
    try:
        return math.prod(np.shape(value)) == 1
    except (RuntimeError, ValueError):  # neither a number nor a row
        return False


def number_of(value: Any, argument: str) -> Any:
    """A number of Python, given as one or as a list, an array or a tensor of one."""
    if value is None or isinstance(value, (bool, int, float, complex)):
        return value  # a graph cannot ask its own numbers for attributes
    numbers = value if hasattr(value, "item") else np.asarray(refuse_mask(value, argument))
    refuse_mask(numbers, argument)
    if math.prod(numbers.shape) != 1:
        raise one_number_error(argument, numbers.shape)
    number = numbers.item()
    if number is None:
        raise value_error(argument, f"expected one number, got {value!r}")
    return number


def byte_limit(max_bytes: Any, rows: torch.Tensor) -> int | None:
    """A limit for rows as one for their numbers, of 8 bytes each, that stand in their place."""
    if max_bytes is None:
        return None
    width = max(1, rows.element_size() * math.prod(rows.shape[1:]))
    return min(as_int(max_bytes, "max_bytes") * 8 // width, LARGEST)


def float_of(value: Any, argument: str) -> float:
    """A number that no gradient goes through, as a float of Python."""
    if isinstance(value, torch.Tensor) and not is_followed(value):
        value = value.detach()
    return as_float(value, argument)


def number_as(value: torch.Tensor, x: torch.Tensor, argument: str) -> torch.Tensor:
    """One number that somebody follows, in the dtype of x and beside it, without axes."""
    if value.numel() != 1:
        raise one_number_error(argument, value.shape)
    return cast_tensor(value, x.dtype, argument).to(x.device).reshape(())


def fill_where(x: torch.Tensor, gaps: np.ndarray, fill: Any) -> torch.Tensor:
    """X with a number where a mask is true; autograd follows."""
    return x.where(~like(gaps, x), fill_of(fill, x.reshape(-1)))


def transpose(x: torch.Tensor, axes: tuple[int, ...]) -> torch.Tensor:
    """Axes in another order; a view."""
    return x.permute(axes)


def to_dtype(tensor: torch.Tensor, dtype: Any) -> torch.Tensor:
    """Values in a dtype of torch, or NumPy's by its name; themselves where they have it."""
    if isinstance(dtype, str) and dtype.startswith(("bfloat16", "float8_")):  # which NumPy may not have
        dtype = getattr(torch, dtype, dtype)
    if not isinstance(dtype, torch.dtype):
        dtype = as_dtype(getattr(torch, named_dtype(dtype, "dtype").name, dtype))
    return tensor.to(dtype)
