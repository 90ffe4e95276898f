"""Rows brought to mean 0 and variance 1."""

from __future__ import annotations

from typing import Any

import numpy as np


def layer_norm(values: Any, axes: int, scale: Any, bias: Any, eps: float, xp: Any = np) -> Any:
    """Each row less its mean, over its standard deviation; a row is the last `axes` axes.

    Halves are computed in float32; `scale` and `bias` are of the shape of a row, or None.
    """
    dtype = values.dtype if values.dtype.kind in "fV" else np.result_type(values.dtype, np.float32)
    last = tuple(range(-axes, 0))
    rows = values.astype(np.float32 if dtype.itemsize == 2 else dtype, copy=False)
    if not rows.size:
        return rows.astype(dtype, copy=True)
    rows = rows - rows.mean(last, keepdims=True)
    rows *= 1 / xp.sqrt((rows * rows).mean(last, keepdims=True) + eps)
    if scale is not None:
        rows = rows * scale
    if bias is not None:
        rows = rows + bias
    return rows.astype(dtype, copy=False) if dtype.itemsize == 2 else rows
