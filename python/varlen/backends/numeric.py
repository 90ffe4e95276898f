"""Numbers of arrays and tensors alike: which are taken, and the dtypes that they are worked with in."""

from __future__ import annotations

from typing import Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.backends import backend_of
from varlen.backends.values import as_values, is_tensor, one_device
from varlen.errors import dtype_error, type_error


def numbers(values: Any, argument: str, complexes: bool = False) -> Any:
    """Values that are bool, integers or floats, or complex numbers where those are taken."""
    kind = values.dtype.kind if isinstance(values, np.ndarray) else ""
    if (kind and kind in "biu") or _are_numbers(values, complexes):
        return values
    kinds = "numbers" if complexes else "bool, integers or floats"
    raise type_error(argument, f"expected {kinds}, got {_name(values.dtype)}")


def floats(values: Any, argument: str) -> Any:
    """Values that are floats."""
    if not (_are_numbers(values, False) and is_float(values)):
        raise dtype_error(argument, "floats", _name(values.dtype))
    return values


def is_float(values: Any) -> bool:
    """Whether numbers are floats; NumPy does not say so of bfloat16."""
    return bool(values.is_floating_point() if is_tensor(values) else values.dtype.kind in "fV")


def is_bool(values: Any) -> bool:
    """Whether values are bools, whose numbers need not show."""
    return _name(values.dtype) == "bool"


def is_complex(values: Any) -> bool:
    """Whether values are complex numbers."""
    return bool(values.is_complex() if is_tensor(values) else values.dtype.kind == "c")


def conjugate(values: Any) -> Any:
    """The conjugates of complex numbers; real ones as they are, without a copy."""
    return values.conj() if is_complex(values) else values


def as_row_dtype(value: Any, argument: str, rows: Any, other: str = "input") -> Any:
    """Numbers of the kind of `rows`, an array or a tensor; errors call the rows `other`."""
    result = as_values(value, argument)
    if is_tensor(result) != is_tensor(rows):
        kind = "a tensor" if is_tensor(rows) else "an array"
        raise type_error(argument, f"expected {kind} as {other} is one, got {type(value).__name__}")
    one_device(result, argument, rows, other)
    return numbers(result, argument, True)


def widen_halves(values: Any) -> Any:
    """Halves as float32, in which they are added up; all others as they are."""
    if not _is_half(values.dtype):
        return values
    return values.float() if is_tensor(values) else values.astype(np.float32)


def as_of(result: Any, *operands: Any) -> Any:
    """What was made of numbers that were widened: a half again where the numbers, as given, make one."""
    if not any(_is_half(x.dtype) for x in operands):
        return result
    dtype = common_dtype(*operands)
    return cast(result, dtype) if _is_half(dtype) else result


def gradient_as(result: Any, x: Any, *operands: Any) -> Any:
    """A gradient of `x` as `as_of` has it; the real part alone where `x` is real."""
    result = as_of(result, *operands)
    if is_complex(x) or not is_complex(result):
        return result
    return as_values(result.real)


def common_dtype(*operands: Any) -> Any:
    """The dtype that holds the numbers of several arrays, or of several tensors."""
    dtype = operands[0].dtype if is_tensor(operands[0]) else operands[0].dtype.newbyteorder("=")
    for other in operands[1:]:
        if other.dtype != dtype:
            dtype = _wider(dtype, other.dtype, is_tensor(other))
    return dtype


def cast(values: Any, dtype: Any) -> Any:
    """Values in a dtype, themselves where they have it."""
    return values.to(dtype) if is_tensor(values) else values.astype(dtype, copy=False)


def float64_values(values: Any) -> Any:
    """float64 as values of this kind call it."""
    if not is_tensor(values):
        return np.float64
    import torch

    return torch.float64


def is_nan(values: Any) -> Any:
    """Which numbers are NaN."""
    return backend_of(values).ufunc("isnan", [values], {})


def product(a: Any, b: Any) -> Any:
    """The product of matrices in the dtype of both; halves are added up in float32."""
    if is_tensor(a) and common_dtype(a, b).itemsize > 1:  # torch adds halves up in float32 by itself
        dtype = common_dtype(a, b)
        return backend_of(a).ufunc("matmul", [a.to(dtype), b.to(dtype)], {})
    return as_of(widen_halves(a) @ widen_halves(b), a, b)


def as_pairs(values: Any) -> Any:
    """Complex numbers as pairs of real ones in the last axis, which ops that know reals take; watched."""
    if not is_tensor(values):
        native = cast(backend_of(values).contiguous(values), values.dtype.newbyteorder("="))
        return native.view(native.real.dtype)
    import torch

    return torch.view_as_real(values.resolve_conj()).flatten(-2)


def from_pairs(values: Any) -> Any:
    """The way back from `as_pairs`."""
    if not is_tensor(values):
        return values.view(np.result_type(values.dtype, np.complex64))
    import torch

    return torch.view_as_complex(values.reshape(*values.shape[:-1], values.shape[-1] // 2, 2))


def _are_numbers(values: Any, complexes: bool) -> bool:
    if is_tensor(values):
        return complexes or not values.is_complex()
    return complexes if values.dtype.kind == "c" else _is_known(values.dtype, complexes)


def _is_known(dtype: Any, long: bool) -> bool:
    """Whether the core knows the numbers of a dtype of NumPy; long doubles are known to NumPy alone."""
    if dtype.kind in "biu":
        return True
    if dtype.kind == "f":
        return bool(dtype.itemsize in (2, 4, 8) or (long and dtype.itemsize > 8))
    try:
        _core.reduce("sum", np.empty(0, dtype), Level([]), 0)
    except TypeError:
        return False
    return True


def _is_half(dtype: Any) -> bool:
    """Or a quarter, which torch has."""
    if isinstance(dtype, np.dtype):
        return dtype.itemsize == 2 and dtype.kind in "fV"
    return bool(dtype.itemsize <= 2 and dtype.is_floating_point)


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _wider(a: Any, b: Any, is_torch: bool) -> Any:
    if is_torch:
        from varlen.backends.torch.cast import shared_dtype

        return shared_dtype(a, b)
    try:
        return np.result_type(a, b)
    except TypeError:  # bfloat16 beside float16 and the like have no dtype in common
        return np.dtype(np.float64 if max(a.itemsize, b.itemsize) > 2 else np.float32)
