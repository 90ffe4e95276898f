"""What the core asks of modules above it. It imports none of them: it asks for each by its name, once."""

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
    """Say to the core who finds its hooks."""
    register(find=find)
