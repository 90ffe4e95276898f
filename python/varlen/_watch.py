"""What is told to other libraries once they are imported, by whoever imports them, before or after varlen."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

_LISTENERS: dict[str, list[Callable[[Any], None]]] = {}


class _Watch:
    """A finder of modules that finds none itself: it notices the imports of some."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in _LISTENERS:
            return None
        listeners = _LISTENERS.pop(name)
        if not _LISTENERS:
            sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path, target)
        loader: Any = spec.loader if spec is not None else None
        if loader is not None:
            run = loader.exec_module

            def run_and_tell(module: object) -> None:
                run(module)
                for tell in listeners:
                    tell(module)

            loader.exec_module = run_and_tell
        return spec


def tell(module: str, listener: Callable[[Any], None]) -> None:
    """Call a function with a module: now if it is there, else when it is imported."""
    library = sys.modules.get(module)
    if library is not None:
        listener(library)
        return
    _LISTENERS.setdefault(module, []).append(listener)
    if not any(isinstance(finder, _Watch) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Watch())
