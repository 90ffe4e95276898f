"""Tensors as they are, with any strides, and parts of them that share their memory."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import torch

from varlen.arguments import as_dtype
from varlen.backends.torch.cast import cast_tensor, pick


def views(x: torch.Tensor, begins: Any, ends: Any) -> list[torch.Tensor]:
    """Rows from each begin to its end, sharing memory."""
    return [x[a:b] for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]


def as_array(x: torch.Tensor, argument: str) -> torch.Tensor:
    """A tensor of any strides: itself."""
    return x


def is_contiguous(x: torch.Tensor) -> bool:
    """Whether the memory of a tensor is in C order."""
    result: bool = x.is_contiguous()
    return result


def tile(x: torch.Tensor, multiples: tuple[int, ...]) -> torch.Tensor:
    """What lies along each axis, so many times."""
    return x.repeat(multiples)


def contiguous(x: torch.Tensor) -> torch.Tensor:
    """A tensor in C order, copied only where it was not."""
    return x.contiguous()


def cast(x: torch.Tensor, dtype: Any, argument: str) -> torch.Tensor:
    """Numbers of another dtype, torch's or NumPy's by its name, which has to hold them; floats round."""
    kind = dtype
    if not isinstance(dtype, torch.dtype):
        kind = _by_name(dtype) if isinstance(dtype, (type, str, np.dtype)) else _torch_dtype(dtype)
    if x.dtype == kind:
        return x
    return x.to(kind) if x.dtype == torch.bool else cast_tensor(x, kind, argument)


def _torch_dtype(dtype: Any) -> Any:
    """The dtype of torch that has the name of one of NumPy."""
    return getattr(torch, as_dtype(dtype, "dtype").name, dtype)


_by_name = lru_cache(maxsize=64)(_torch_dtype)


def take_columns(x: torch.Tensor, columns: Any) -> torch.Tensor:
    """Some columns, in any order."""
    return pick(x, torch.from_numpy(columns).to(x.device), 1)


def zeros(values: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    """Zeros of the dtype of values."""
    return values.new_zeros(shape)
