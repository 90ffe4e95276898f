"""The folds, and what comes of no rows."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from typing import Any

__all__ = ["EMPTY"]

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
