"""Products of the matrices of sequences, of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from varlen import _core
from varlen.backends.blocks import Blocks, multiply_blocks


def product(a: Any, A: Blocks, b: Any, B: Blocks) -> Any:
    """The products of matrices that lie end to end."""
    return multiply_blocks(a, A, b, B, _empty, np.matmul, _core.gather)


def promote_pair(a: Any, b: Any) -> tuple[Any, Any]:
    """Both as arrays of one dtype."""
    dtype = a.dtype
    if dtype is b.dtype and dtype.isnative:
        return a, b
    dtype = np.result_type(a, b)
    return a.astype(dtype, copy=False), b.astype(dtype, copy=False)


def _empty(count: int, like: Any) -> Any:
    return np.empty(count, like.dtype)
