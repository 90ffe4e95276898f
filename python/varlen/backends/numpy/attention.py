"""Rows of arrays added up by weights."""

from __future__ import annotations

from typing import Any

import numpy as np


def weighable(values: Any, scores: Any) -> tuple[Any, Any]:
    """Values and scores in one float dtype; the scores of halves in float32, in which weights are.

    Raises
    ------
    TypeError
        They are not numbers.

    Examples
    --------
    >>> values, scores = weighable(np.ones((2, 3), np.float16), np.ones(2, np.float16))
    >>> values.dtype, scores.dtype
    (dtype('float16'), dtype('float32'))
    """
    for rows, name in ((values, "X"), (scores, "scores")):
        if rows.dtype.kind not in "biuf":
            raise TypeError(f"{name}: expected numbers, got {rows.dtype}")
    dtype = np.result_type(values.dtype, scores.dtype)
    dtype = dtype if dtype.kind == "f" else np.dtype(np.float64)
    wide = np.promote_types(dtype, np.float32)
    return values.astype(dtype, copy=False), scores.astype(wide, copy=False)
