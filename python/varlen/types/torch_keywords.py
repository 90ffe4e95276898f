"""Methods of a Ragged that are called with torch's keywords, such as `dim=1`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, TypedDict

from varlen.backends.values import is_tensor
from varlen.errors import type_error
from varlen.types.torch_table import by_torch


class TorchKeywords(TypedDict, total=False):
    """The keywords of torch's functions along an axis."""

    dim: Any
    dims: Any
    keepdim: bool
    p: Any
    correction: Any
    unbiased: bool
    sorted: bool
    stable: bool


# What torch calls an argument of a method.
_NAMES = {"axis": "dim", "by": "shifts", "sizes": "split_size_or_sections"}

# What an array takes in the place of torch's keywords.
_INSTEAD = {
    "dim": "axis=", "dims": "axis=", "unbiased": "ddof=", "correction": "ddof=",
    "keepdim": "NumPy's function of that name, with keepdims=",
}  # fmt: skip


def by_torch_keywords(r: Any, name: str, torch: TorchKeywords, **arguments: Any) -> Any:
    """The function of torch that a method becomes, with the arguments of both that say something."""
    method = f"{type(r).__name__}.{name}()"
    for key in torch:
        if key not in TorchKeywords.__annotations__ or not is_tensor(r._values):
            raise type_error("", f"{method} got an unexpected keyword argument {key!r}", _way(key, arguments))
    function = getattr(type(r), name)
    axis = function.__defaults__[-1] if function.__defaults__ else None
    defaults = {"axis": axis, **(function.__kwdefaults__ or {})}
    options = {
        _NAMES.get(key, key): x
        for key, x in arguments.items()
        if key not in defaults or not _is_same(x, defaults[key])
    }
    if "dim" in options and ("dim" in torch or "dims" in torch):
        raise type_error("dim", f"{method} takes either axis or dim, got both")
    import torch as library

    return by_torch(getattr(library, name), (r,), {**options, **torch})


def _is_same(x: Any, default: Any) -> bool:
    """Whether an argument is its default, which may be NaN."""
    return x is default or (type(x) is type(default) and (x == default or x != x))


def _way(key: str, arguments: Iterable[str]) -> str:
    """What to write in the place of a keyword."""
    if key in _INSTEAD:
        return f"use {_INSTEAD[key]}"
    names = difflib.get_close_matches(key, [*arguments, *TorchKeywords.__annotations__], 2)
    return f"did you mean {' or '.join(names)}?" if names else f"it takes {', '.join(arguments)}"
