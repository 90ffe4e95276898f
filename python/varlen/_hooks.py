"""Hooks of the core: it imports no module above it, and asks for each object by name, once."""

import importlib
from typing import Any

from varlen._core import register

_HOMES = {
    "FileFormatError": "varlen.io.errors",
    "LengthMismatchError": "varlen.dims.errors",
    "StaleFileError": "varlen.io.errors",
    "as_lengths": "varlen.dims.make",
    "as_vocabulary": "varlen.dims.vocabulary",
    "backend_of": "varlen.backends",
    "mask_of_dim": "varlen.dims.export",
}


def find(name: str) -> Any:
    """The object of a hook that nobody has registered."""
    return getattr(importlib.import_module(_HOMES[name]), name)


def install() -> None:
    """Tell the core how to find its hooks."""
    register(find=find)
