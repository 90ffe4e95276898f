"""Names that are loaded when first asked for."""

import importlib
import sys
from collections.abc import Callable
from typing import Any


def loaded_from(
    package: str, homes: dict[str, str], adapt: Callable[[Any, str], Any] | None = None
) -> Callable[[str], Any]:
    """The `__getattr__` of a package: `homes` says which module each name lives in.

    What is found there goes through `adapt` with its name, where that is given.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(homes[name]), name)
        value = value if adapt is None else adapt(value, name)
        setattr(sys.modules[package], name, value)
        return value

    return get
