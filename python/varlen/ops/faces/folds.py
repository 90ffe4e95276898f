"""The folds: what comes of no rows, and what computes them."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from typing import Any

from varlen.ops import compositions

__all__ = ["COMPOSED", "EMPTY", "EMPTY_OF_DIMS", "EXTREMES", "UFUNCS"]

#: Each fold, and what it gives for a sequence without rows: None refuses one.
EMPTY: dict[str, Any] = {
    "sum": 0,
    "mean": 0,
    "prod": 1,
    "max": None,
    "min": None,
    "any": False,
    "all": True,
    "norm": 0,
    "var": float("nan"),
    "std": float("nan"),
    "logsumexp": float("-inf"),
    "ptp": None,
    "mode": None,
}

#: The same of no positions of dims, but for extremes.
EMPTY_OF_DIMS: dict[str, Any] = {
    "sum": 0,
    "mean": float("nan"),
    "prod": 1,
    "any": False,
    "all": True,
    "norm": 0,
    "var": float("nan"),
    "std": float("nan"),
    "logsumexp": float("-inf"),
    "ptp": None,
    "mode": None,
}

#: What extremes give for no positions of dims, if they are of floats.
EXTREMES: dict[str, float] = {
    "max": float("-inf"),
    "min": float("inf"),
}

#: The ufuncs that bring two results together.
UFUNCS: dict[str, str] = {
    "sum": "add",
    "prod": "multiply",
    "max": "maximum",
    "min": "minimum",
    "any": "logical_or",
    "all": "logical_and",
    "logsumexp": "logaddexp",
}

#: Those that are no op of `reduce`: other verbs express them, or one of their own.
COMPOSED: dict[str, Any] = {
    "ptp": compositions.ptp,
    "mode": compositions.mode,
    "amax": compositions.amax,
    "amin": compositions.amin,
}
