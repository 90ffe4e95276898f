"""Hooks of the core and the containers: they import no module above them, and ask for objects by name."""

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

#: What containers ask for.
_ABOVE = {"save_tree": "varlen.io.tree"}


def find(name: str) -> Any:
    """The object of a hook."""
    return getattr(importlib.import_module((_HOMES | _ABOVE)[name]), name)


def install() -> None:
    """Tell the core how to find its hooks."""
    register(find=find)
