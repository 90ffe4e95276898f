"""torch tensors as values: seen as NumPy arrays where the core moves rows, and given back as tensors.

Nothing here imports torch before a caller brought a tensor. Tensors on the CPU share memory both ways. Where
autograd watches a tensor, or it lies on a device, its rows are picked by torch with the row numbers that the
core works out, so that gradients flow and data stays where it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from varlen import _core
from varlen._core import Level
from varlen.backends import arrays
from varlen.backends.torch.cast import bits_of, cast, exactly, scalar

if TYPE_CHECKING:
    import torch

    from varlen.levels import Levels

T = TypeVar("T")

# What a NumPy ufunc is called in torch, where that is something else.
_NAMES = {"absolute": "abs", "bitwise_count": "", "conjugate": "conj", "equal": "eq", "invert": "bitwise_not"}
_NAMES |= {"left_shift": "bitwise_left_shift", "power": "pow", "right_shift": "bitwise_right_shift"}
_NAMES |= {"degrees": "rad2deg", "radians": "deg2rad", "rint": "round", "fabs": "abs"}


def as_rows(tensor: torch.Tensor, argument: str = "values") -> torch.Tensor:
    """A dense tensor of at least one dimension whose rows lie end to end; a copy only where they did not.

    Raises
    ------
    TypeError
        Sparse, nested and quantized tensors.
    ValueError
        A scalar.

    Examples
    --------
    >>> import torch
    >>> as_rows(torch.arange(6).reshape(2, 3).T).is_contiguous()
    True
    """
    import torch

    if tensor.is_quantized:
        raise TypeError(f"{argument}: expected plain numbers, got {tensor.dtype}; give dequantize() of it")
    if tensor.is_nested:
        raise TypeError(
            f"{argument}: expected a dense tensor, got a nested one; give Ragged.from_nested(...)"
        )
    if tensor.layout != torch.strided:
        raise TypeError(f"{argument}: expected a dense tensor, got layout {tensor.layout}")
    if tensor.ndim == 0:
        raise ValueError(f"{argument}: expected at least one dimension, got a scalar")
    return tensor.resolve_conj().resolve_neg().contiguous()


def as_numpy(tensor: torch.Tensor) -> NDArray[Any]:
    """The memory of a tensor on the CPU as an array that shares it.

    dtypes that NumPy has no name for (bfloat16, the float8 family) show as integers of their width.

    Raises
    ------
    TypeError
        The tensor lies on a device.

    Examples
    --------
    >>> import torch
    >>> as_numpy(torch.ones(2, dtype=torch.bfloat16))
    array([16256, 16256], dtype=int16)
    """
    if tensor.device.type != "cpu":
        raise TypeError(f"expected a tensor on the CPU, got one on {tensor.device}")
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if _numpy_name(tensor.dtype) is None:
        tensor = tensor.view(bits_of(tensor.dtype))
    array: NDArray[Any] = tensor.numpy()
    return array


def to_write(out: torch.Tensor) -> NDArray[Any]:
    """The memory of a tensor that is to be written.

    Raises
    ------
    ValueError
        A tensor with a conjugate or negative bit: what is written to its memory would read as other numbers.

    Examples
    --------
    >>> import torch
    >>> to_write(torch.zeros(2)).shape
    (2,)
    """
    if out.is_conj() or out.is_neg():
        raise ValueError("out: has a conjugate or negative bit; give resolve_conj().resolve_neg() of it")
    return as_numpy(out)


def tensor_of(array: NDArray[Any], dtype: torch.dtype | None = None) -> torch.Tensor:
    """An array as a tensor that shares its memory; `dtype` says what bit patterns mean.

    Read-only arrays are copied, because a tensor could write to them.

    Raises
    ------
    TypeError
        A dtype that torch does not have.

    Examples
    --------
    >>> import torch
    >>> tensor_of(np.array([16256], np.int16), torch.bfloat16)
    tensor([1.], dtype=torch.bfloat16)
    """
    import torch

    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        array = array.copy()
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if dtype is not None and _numpy_name(dtype) is None:
        return torch.from_numpy(array).view(dtype)
    return torch.from_numpy(array)


def apply_rows(
    tensor: torch.Tensor, call: Callable[[NDArray[Any]], tuple[NDArray[Any], T]]
) -> tuple[torch.Tensor, T]:
    """What `call`, which only moves rows, makes of a tensor; autograd and devices included.

    Examples
    --------
    >>> import torch
    >>> apply_rows(torch.arange(3), lambda rows: (rows[1:], None))
    (tensor([1, 2]), None)
    """
    if tensor.device.type == "cpu" and not tensor.requires_grad:
        moved, rest = call(as_numpy(tensor))
        return tensor_of(moved, tensor.dtype), rest
    rows = np.arange(len(tensor))
    picked, rest = call(rows)
    if picked.size and np.shares_memory(picked, rows):
        return tensor[int(picked[0]) : int(picked[-1]) + 1], rest
    return tensor[tensor_of(picked).to(tensor.device)], rest


def concat(values: list[Any], axis: int = 0) -> torch.Tensor:
    """Tensors, and arrays among them, one after another, on the device of the first tensor.

    Examples
    --------
    >>> import torch
    >>> concat([torch.arange(2), np.array([7])])
    tensor([0, 1, 7])
    """
    import torch

    first = next(x for x in values if isinstance(x, torch.Tensor))
    parts = [x if isinstance(x, torch.Tensor) else tensor_of(x).to(first.device) for x in values]
    return torch.cat(parts, axis)


def call(ufunc: np.ufunc, inputs: list[Any], kwargs: dict[str, Any]) -> Any:
    """A NumPy ufunc by the torch function of its name, so that dtypes and gradients are torch's.

    Raises
    ------
    TypeError
        torch has no such function, or not with these keywords.

    Examples
    --------
    >>> import torch
    >>> call(np.add, [torch.arange(2), 10], {})
    tensor([10, 11])
    """
    import torch

    name = _NAMES.get(ufunc.__name__, ufunc.__name__)
    function = getattr(torch, name, None) if name else None
    if function is None:
        raise TypeError(f"torch has no {ufunc.__name__}; use .values, or values that are a NumPy array")
    if set(kwargs) - {"out"}:
        raise TypeError(
            f"{ufunc.__name__} of tensors does not take {', '.join(sorted(set(kwargs) - {'out'}))}"
        )
    first = next(x for x in inputs if isinstance(x, torch.Tensor))
    tensors = [_operand(x, first) for x in inputs]
    out = kwargs.get("out")
    if out is None:
        return function(*tensors)
    return function(*tensors, out=out[0] if len(out) == 1 else out)


def filled(fill: Any, dtype: torch.dtype, shape: tuple[int, ...]) -> NDArray[Any]:
    """The memory of a tensor of this shape that holds `fill`.

    Examples
    --------
    >>> import torch
    >>> filled(-1, torch.int8, (2,))
    array([-1, -1], dtype=int8)
    """
    try:
        return as_numpy(cast(exactly(fill), dtype, "fill").expand(shape).contiguous())
    except (RuntimeError, TypeError, ValueError) as error:
        raise ValueError(f"fill: {str(error).removeprefix('fill: ')}") from None


def from_list(data: Any, dtype: Any = None) -> tuple[torch.Tensor, Levels]:
    """Nested lists of tensors, end to end, and their levels; a list of scalars is a sequence too.

    Raises
    ------
    TypeError
        Something among the tensors that is none.
    ValueError
        Tensors nested at different depth.

    Examples
    --------
    >>> import torch
    >>> from_list([torch.arange(2), torch.arange(1)])[0]
    tensor([0, 1, 0])
    """
    import torch

    levels: list[Level] = []
    rows = list(data)
    while any(isinstance(row, (list, tuple)) for row in rows):
        for i, row in enumerate(rows):
            if not isinstance(row, (list, tuple)):
                raise ValueError(f"data: item {i} of depth {len(levels) + 1} is a tensor beside lists")
        levels.append(Level([len(row) for row in rows]))
        rows = [x for row in rows for x in row]
    for i, row in enumerate(rows):
        if not isinstance(row, torch.Tensor):
            raise TypeError(
                f"data: item {i} of depth {len(levels) + 1} is no tensor but {type(row).__name__}"
            )
        if row.shape[1:] != rows[0].shape[1:] or row.ndim != rows[0].ndim:
            shapes = f"{tuple(row.shape)}, the first has {tuple(rows[0].shape)}"
            raise ValueError(f"data: item {i} of depth {len(levels) + 1} has shape {shapes}")
    if rows and rows[0].ndim == 0:
        if not levels:
            raise ValueError("data: expected tensors of one dimension and more inside a list, got numbers")
        values = torch.stack(rows)
    else:
        levels.append(Level([len(row) for row in rows]))
        values = torch.cat(rows)
    return values if dtype is None else cast(values, dtype, "data"), tuple(levels)


def readable(tensor: torch.Tensor) -> NDArray[Any]:
    """Values as numbers that NumPy can print: dtypes that it lacks become float32.

    Examples
    --------
    >>> import torch
    >>> readable(torch.ones(1, dtype=torch.bfloat16))
    array([1.], dtype=float32)
    """
    tensor = tensor.detach().cpu()
    return as_numpy(tensor.float() if _numpy_name(tensor.dtype) is None else tensor)


def pad(
    tensor: torch.Tensor,
    levels: Levels,
    padding_side: str = "right",
    fill: Any = None,
    mask: bool = False,
    max_len: Any = None,
    truncate: str = "right",
    out: torch.Tensor | None = None,
    dtype: torch.dtype | None = None,
    pad_to_multiple: int = 1,
    max_bytes: int | None = None,
    sizes: Any = None,
) -> Any:
    """`Ragged.to_dense` of a tensor: a tensor, or a tensor and its mask.

    Examples
    --------
    >>> import torch
    >>> pad(torch.tensor([1.0, 2.0]), (Level([2, 0]),), "left", -1)
    tensor([[ 1.,  2.],
            [-1., -1.]])
    """
    import torch

    if dtype is not None:
        tensor = cast(tensor, dtype, "values")
    if out is not None and (not isinstance(out, torch.Tensor) or out.dtype != tensor.dtype):
        raise TypeError(f"out: expected a tensor of {tensor.dtype}")
    options: dict[str, Any] = {"padding_side": padding_side, "truncate": truncate, "max_len": max_len}
    options |= {"pad_to_multiple": pad_to_multiple, "max_bytes": max_bytes, "sizes": sizes}
    if tensor.device.type == "cpu" and not tensor.requires_grad:
        row = None if fill is None else filled(fill, tensor.dtype, tuple(tensor.shape[1:]))
        into = None if out is None else to_write(out)
        result = _core.pad(as_numpy(tensor), levels, fill=row, mask=mask, out=into, **options)
        block, *marks = result if isinstance(result, tuple) else (result,)
        block = tensor_of(block, tensor.dtype) if out is None else out
        return (block, tensor_of(marks[0])) if mask else block
    # torch picks the rows: the core says which goes where, and where there is none.
    rows, marks = _core.pad(np.arange(len(tensor)), levels, mask=True, **options)
    there = tensor_of(marks).to(tensor.device)
    source = tensor if len(tensor) else tensor.new_zeros((1, *tensor.shape[1:]))
    blank = cast(exactly(0 if fill is None else fill), tensor.dtype, "fill").to(tensor.device)
    wide = there.reshape(there.shape + (1,) * (tensor.ndim - 1))
    block = torch.where(wide, source[tensor_of(rows).to(tensor.device)], blank)
    if out is not None:
        block = out.copy_(block)
    return (block, there) if mask else block


def unpad(
    block: torch.Tensor, levels: Levels, padding_side: str = "right", out: torch.Tensor | None = None
) -> torch.Tensor:
    """`Ragged.from_dense` of a tensor: its rows that the levels say are there.

    Examples
    --------
    >>> import torch
    >>> unpad(torch.tensor([[1, 2], [3, 0]]), (Level([2, 1]),))
    tensor([1, 2, 3])
    """
    import torch

    if out is not None and not isinstance(out, torch.Tensor):
        raise TypeError(f"out: expected a tensor, got {type(out).__name__}")
    slots, trailing = block.shape[: len(levels) + 1], block.shape[len(levels) + 1 :]
    into = None if out is None else to_write(out)

    def moved(rows: NDArray[Any]) -> tuple[NDArray[Any], None]:
        return _core.unpad(rows.reshape(*slots, *rows.shape[1:]), levels, padding_side, into), None

    values, _ = apply_rows(block.reshape(math.prod(slots), *trailing), moved)
    return values if out is None else out


def copy(tensor: torch.Tensor) -> torch.Tensor:
    """Values in memory of their own; autograd follows.

    Examples
    --------
    >>> import torch
    >>> copy(torch.arange(2))
    tensor([0, 1])
    """
    return tensor.clone()


def device_of(tensor: torch.Tensor) -> str:
    """Where values are, as torch says it.

    Examples
    --------
    >>> import torch
    >>> device_of(torch.arange(2))
    'cpu'
    """
    return str(tensor.device)


def like(array: NDArray[Any], tensor: torch.Tensor) -> torch.Tensor:
    """An array as a tensor on the device of another.

    Examples
    --------
    >>> import torch
    >>> like(np.arange(2), torch.zeros(3))
    tensor([0, 1])
    """
    return tensor_of(array).to(tensor.device)


def from_memory(array: NDArray[Any], tensor: torch.Tensor) -> torch.Tensor:
    """What the core made of the memory of a tensor, as one of its dtype.

    Examples
    --------
    >>> import torch
    >>> from_memory(np.array([16256], np.int16), torch.zeros(3, dtype=torch.bfloat16))
    tensor([1.], dtype=torch.bfloat16)
    """
    return tensor_of(array, tensor.dtype)


def row_as(given: Any, tensor: torch.Tensor) -> torch.Tensor:
    """A number, or what broadcasts to a row, as one row (1, ...) of the dtype of a tensor; autograd follows.

    Examples
    --------
    >>> import torch
    >>> row_as(7, torch.zeros((3, 2), dtype=torch.int8))
    tensor([[7, 7]], dtype=torch.int8)
    """
    import torch

    shape = tuple(tensor.shape[1:])
    if isinstance(given, torch.Tensor):
        return cast(given, tensor.dtype, "fill").to(tensor.device).expand(1, *shape)
    return tensor_of(filled(given, tensor.dtype, (1, *shape)), tensor.dtype).to(tensor.device)


def to_state(tensor: torch.Tensor) -> tuple[str, NDArray[Any], bool]:
    """What a pickle holds of a tensor: the name of its dtype, just its own rows, whether it wants gradients.

    Examples
    --------
    >>> import torch
    >>> to_state(torch.arange(3)[1:])
    ('int64', array([1, 2]), False)
    """
    return str(tensor.dtype).removeprefix("torch."), as_numpy(tensor.cpu()), tensor.requires_grad


def from_state(state: tuple[str, NDArray[Any], bool]) -> torch.Tensor:
    """A tensor on the CPU from what `to_state` gave.

    Examples
    --------
    >>> import torch
    >>> from_state(to_state(torch.ones(1)))
    tensor([1.])
    """
    import torch

    name, array, requires_grad = state
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        _raise_dtype(name)
    return tensor_of(array, dtype).requires_grad_(requires_grad)


def dtype_of(dtype: Any) -> np.dtype[Any]:
    """The NumPy dtype for a torch dtype.

    Raises
    ------
    TypeError
        NumPy has none.

    Examples
    --------
    >>> import torch
    >>> dtype_of(torch.float16)
    dtype('float16')
    """
    name = _numpy_name(dtype)
    if name is None:
        _raise_dtype(str(dtype))
    return np.dtype(name)


def _numpy_name(dtype: torch.dtype) -> str | None:
    name = str(dtype).removeprefix("torch.")
    known = hasattr(np, name) and name not in ("bool", "complex32")
    return {"bool": "bool"}.get(name, name if known else None)


def _operand(x: Any, beside: torch.Tensor) -> torch.Tensor:
    import torch

    if isinstance(x, torch.Tensor):
        return x
    return tensor_of(x).to(beside.device) if isinstance(x, np.ndarray) and x.ndim else scalar(x, beside)


def _raise_dtype(name: str) -> NoReturn:
    raise TypeError(f"NumPy and torch do not both have a dtype {name}")


def where(there: torch.Tensor, values: Any, others: torch.Tensor) -> torch.Tensor:
    """A number, or values, where there is something, others where there is not.

    Examples
    --------
    >>> import torch
    >>> where(torch.tensor([True, False]), 7, torch.tensor([1, 2]))
    tensor([7, 2])
    """
    import torch

    return torch.where(there, values, others)


def as_tensor(given: Any, argument: str) -> torch.Tensor:
    """What was given as a tensor: itself, or one that shares the memory of an array.

    Examples
    --------
    >>> as_tensor([1, 0], "which")
    tensor([1, 0])
    """
    import torch

    return given if isinstance(given, torch.Tensor) else tensor_of(arrays.as_rows(given, argument))
