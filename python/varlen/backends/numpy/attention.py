"""Rows of arrays added up by weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from varlen.errors import dtype_error


def weighable(values: Any, scores: Any) -> tuple[Any, Any]:
    """Values and scores in one float dtype; the scores of halves in float32, in which weights are."""
    for rows, name in ((values, "X"), (scores, "scores")):
        if rows.dtype.kind not in "biuf":
            raise dtype_error(name, "numbers", rows.dtype)
    dtype = np.result_type(values.dtype, scores.dtype)
    dtype = dtype if dtype.kind == "f" else np.dtype(np.float64)
    wide = np.promote_types(dtype, np.float32)
    return values.astype(dtype, copy=False), scores.astype(wide, copy=False)
