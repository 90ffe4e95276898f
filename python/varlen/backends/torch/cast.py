"""Tensors in another dtype, where every number has to fit."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from varlen.backends.torch.followers import constants_device, shows_numbers
from varlen.errors import overflow_error, type_error, value_error


def as_dtype(value: Any) -> torch.dtype:
    """The dtype of torch that was given; TypeError for anything else."""
    if not isinstance(value, torch.dtype):
        raise type_error("dtype", f"expected a torch.dtype, got {value!r}")
    return value


def bits_of(dtype: torch.dtype) -> torch.dtype:
    """The integers as wide as a dtype."""
    return {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]


_SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}


def has_bits_alone(dtype: torch.dtype) -> bool:
    """Whether torch moves and computes next to nothing of a dtype, whose bits are those of a signed one."""
    return dtype in _SIGNED


def shared_dtype(a: torch.dtype, b: torch.dtype) -> torch.dtype:
    """The dtype that holds the numbers of two: torch's, or NumPy's for unsigned integers."""
    if a is b:
        return a
    floats = [x for x in (a, b) if x.is_floating_point or x.is_complex]
    if any(x.is_floating_point and x.itemsize == 1 for x in floats):
        raise type_error("", f"{a} and {b} have no dtype in common", "use astype() first")
    if not floats and (has_bits_alone(a) or has_bits_alone(b)):
        names = (str(x).removeprefix("torch.") for x in (a, b))
        result: torch.dtype = getattr(torch, np.promote_types(*names).name)
        return result
    return torch.promote_types(a, b)


def in_shared_dtype(values: list[Any]) -> list[Any]:
    """Tensors in a dtype that holds all their numbers, where torch has none; what is no tensor stays."""
    dtypes = dict.fromkeys([x.dtype for x in values if isinstance(x, torch.Tensor)])
    if len(dtypes) < 2 or not any(map(_shares_little, dtypes)):
        return values
    dtype = functools.reduce(shared_dtype, dtypes)
    return [x.to(dtype) if isinstance(x, torch.Tensor) else x for x in values]


def _shares_little(dtype: torch.dtype) -> bool:
    return has_bits_alone(dtype) or (dtype.is_floating_point and dtype.itemsize == 1)


def by_width(x: torch.Tensor, move: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """Moves rows of a tensor; torch moves no unsigned integers of some widths."""
    signed_dtype = _SIGNED.get(x.dtype)
    return move(x) if signed_dtype is None else move(x.view(signed_dtype)).view(x.dtype)


def pick(x: torch.Tensor, places: torch.Tensor, axis: int = 0) -> torch.Tensor:
    """What lies at some places of an axis, of any dtype; autograd follows."""
    if x.dtype in _SIGNED:
        return by_width(x, lambda rows: rows.index_select(axis, places))
    return x.index_select(axis, places)


def cast_tensor(tensor: torch.Tensor, dtype: Any, argument: str) -> torch.Tensor:
    """The tensor in another dtype. Floats round; a number that an integer dtype does not hold is an error,
    and so is a finite one that would become infinite. Numbers that are not there yet are not looked at.
    """
    if tensor.is_complex() and not dtype.is_complex:
        raise value_error(argument, f"complex numbers do not fit {dtype}")
    result = tensor.to(as_dtype(dtype))
    in_graph = torch.compiler.is_compiling()
    if tensor.dtype == dtype or not (in_graph or shows_numbers(tensor)):
        return result
    if dtype.is_floating_point or dtype.is_complex:
        if not _may_overflow(tensor.dtype, dtype):
            return result
        wide = result.detach() if result.element_size() > 1 else result.detach().float()
        numbers = tensor.detach()
        finite = numbers.isfinite() if numbers.is_floating_point() or numbers.is_complex() else True
        unfit = ~wide.isfinite() & finite
    else:
        unfit = result.to(tensor.dtype) != tensor
    if in_graph:  # the graph looks at the numbers when it runs
        torch._assert_async(~unfit.any(), f"{argument}: a number does not fit {dtype}")
        return result
    misfits = unfit.reshape(-1).nonzero()
    if len(misfits):
        value = tensor.reshape(-1)[misfits[0]].item()
        raise value_error(
            argument,
            f"element {int(misfits[0])} is {value}, which does not fit {dtype}",
            row=int(misfits[0]),
            number=value,
        )
    return result


def always_fits(source: torch.dtype, dtype: torch.dtype) -> bool:
    """Whether a dtype holds all numbers of another; floats round."""
    if dtype.is_complex or dtype.is_floating_point:
        return not (source.is_complex and not dtype.is_complex) and not _may_overflow(source, dtype)
    if source.is_complex or source.is_floating_point or dtype == torch.bool:
        return source == dtype
    if source == torch.bool:
        return True
    small, wide = torch.iinfo(source), torch.iinfo(dtype)
    return bool(wide.min <= small.min and small.max <= wide.max)


def _may_overflow(source: torch.dtype, dtype: torch.dtype) -> bool:
    """Whether a dtype of floats may be too small for finite numbers."""
    if source == dtype or source == torch.bool:
        return False
    floats = source.is_floating_point or source.is_complex
    limit = torch.finfo(source).max if floats else torch.iinfo(source).max
    return bool(limit > torch.finfo(dtype).max)


def exactly(value: Any) -> torch.Tensor:
    """A number, or a row of them, as a tensor: Python's floats in full, not in torch's default dtype."""
    is_array = isinstance(value, (torch.Tensor, np.ndarray))
    if is_array:
        return torch.as_tensor(value, device=value.device if isinstance(value, torch.Tensor) else "cpu")
    result = np.asarray(value)
    return torch.as_tensor(result.astype(np.uint64) if result.dtype.kind == "u" else result, device="cpu")


def scalar(value: Any, like: torch.Tensor) -> torch.Tensor:
    """A number as an operand of a tensor: Python's floats in full, which torch then takes as its scalars."""
    dtype = None
    if type(value) in (float, complex):
        full = type(value) is float and (like.is_floating_point() or like.is_complex())
        dtype = torch.float64 if full else torch.result_type(like, value)
    elif type(value) is int and not -(2**63) <= value < 2**63:
        if like.is_floating_point() or like.is_complex():
            dtype = torch.float64
        elif like.dtype is torch.uint64 and 0 <= value < 2**64:
            dtype = torch.uint64
        else:
            raise overflow_error("operand", f"{value} does not fit in {like.dtype}", number=value)
    elif value is None or isinstance(value, (str, bytes)):  # torch speaks of storage and of new()
        raise type_error("operand", f"expected a number, an array or a Ragged, got {value!r}")
    if type(like) is torch.Tensor:
        return torch.as_tensor(value, dtype=dtype, device=like.device)
    with constants_device(like):
        return torch.as_tensor(value, dtype=dtype, device=like.device)
