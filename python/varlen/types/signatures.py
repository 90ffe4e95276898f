"""The arguments of functions of NumPy and torch, by the names of their parameters.

Arguments that differ from the defaults are kept: the function uses them, or refuses them by name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from varlen.errors import type_error
from varlen.types.namesakes import NUMPY, TORCH

# The parameters of functions, in the order of their positions.
_OF_NUMPY = {
    **NUMPY,
    "sort": "a axis kind order stable", "argsort": "a axis kind order stable",
    "concatenate": "parts axis out dtype casting", "stack": "parts axis out dtype casting",
    "array_equal": "a1 a2 equal_nan", "array_equiv": "a1 a2", "allclose": "a b rtol atol equal_nan",
    "shape": "a", "ndim": "a", "size": "a axis", "clip": "a a_min a_max out", "round": "a decimals out",
    "around": "a decimals out", "nan_to_num": "x copy nan posinf neginf", "real": "val", "imag": "val",
    "isclose": "a b rtol atol equal_nan", "zeros_like": "a dtype order subok shape",
    "ones_like": "a dtype order subok shape", "empty_like": "prototype dtype order subok shape",
    "full_like": "a fill_value dtype order subok shape", "copy": "a order subok", "isreal": "x",
    "iscomplex": "x",
}  # fmt: skip
_OF_TORCH = {
    **TORCH,
    **dict.fromkeys(("cat", "concat", "concatenate", "stack"), "parts dim"),
    "softmin": TORCH["softmax"],
}  # fmt: skip

# Other names that torch and NumPy take for a parameter.
ALIASES = {
    "axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "self": "input", "x2": "other",
    "tensors": "parts", "arrays": "parts", "tensor": "input",
}  # fmt: skip

# What parameters are by default, where that says nothing.
_SILENT: dict[str, tuple[Any, ...]] = {
    "axis": (None,), "dim": (None,), "dtype": (None,), "out": (None,), "keepdims": (False,),
    "keepdim": (False,), "initial": (None,), "where": (True,), "ddof": (0,), "order": ("K", None),
    "shape": (None,), "casting": ("same_kind",), "equal_nan": (False,),
    "unbiased": (None,), "correction": (None,),
}  # fmt: skip


def given_to(library: str, name: str, args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by the names of their parameters, without the defaults."""
    names = (_OF_NUMPY if library == "np" else _OF_TORCH)[name].split()
    if name in ("std", "var") and len(args) > 1 and isinstance(args[1], bool):
        names = [names[0], *names[2:]]  # torch.std(x, unbiased, keepdim)
    if len(args) > len(names):
        raise type_error(
            "",
            f"{library}.{name} of a Ragged takes up to {len(names)} arguments by position, "
            f"{', '.join(names)}; got {len(args)}",
        )
    arguments = dict(zip(names, args, strict=False))
    for key, x in kwargs.items():
        key = ALIASES.get(key, key) if library == "torch" or key == "arrays" else key
        if key in arguments:
            raise type_error("", f"{library}.{name} of a Ragged got {key} twice")
        arguments[key] = x
    return {key: x for key, x in arguments.items() if not _is_silent(key, x, name)}


def _is_silent(key: str, x: object, name: str) -> bool:
    if key == "subok":
        return x is (name != "copy")
    if key == "axis" and name in ("concatenate", "sort", "argsort"):
        return False  # None lays all numbers in a row
    return x is np._NoValue or any(
        x is silent or (type(x) is type(silent) and x == silent) for silent in _SILENT.get(key, ())
    )
