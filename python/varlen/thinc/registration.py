"""Makes VarlenOps the default ops of Thinc and spaCy on the CPU, VarlenCupyOps on GPUs, and undoes it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import catalogue
import thinc.backends
import thinc.model
from thinc import registry
from thinc.backends import CupyOps, NumpyOps

from varlen.thinc.varlen_cupy_ops import VarlenCupyOps
from varlen.thinc.varlen_ops import VarlenOps

# What get_ops("cpu") chooses from, and the ops of CuPy.
_OURS = {"numpy": VarlenOps, "apple": VarlenOps, "bigendian": VarlenOps, "cupy": VarlenCupyOps}

_lock = threading.RLock()
_undo: list[Callable[[], None]] = []


def install() -> Callable[[], None]:
    """Make VarlenOps the default of this process on the CPU, VarlenCupyOps on GPUs, until `uninstall`.

    From then on `get_ops("cpu")`, `get_ops("numpy")`, `require_cpu`, `get_array_ops`, `Model.to_cpu` and new
    threads use VarlenOps, and so does this thread if it uses NumpyOps. Instances of NumpyOps that modules
    hold become VarlenOps. `get_ops("cupy")`, `require_gpu`, `prefer_gpu` (also spaCy's) and `Model.to_gpu`
    use VarlenCupyOps. Existing models keep their ops. Call it again to patch modules that were imported
    since.

    Returns
    -------
    The function `uninstall`.

    Raises
    ------
    ImportError
        Thinc is not installed.

    Examples
    --------
    >>> import varlen.thinc
    >>> from thinc.api import get_ops
    >>> undo = varlen.thinc.install()
    >>> get_ops("cpu").name
    'varlen'
    >>> undo()
    >>> get_ops("numpy").name
    'numpy'
    """
    with _lock:
        if not _undo:
            _undo.append(lambda: None)
            _register()
            _set(thinc.model, "NumpyOps", VarlenOps)
            _set(thinc.model, "CupyOps", VarlenCupyOps)
            _set(thinc.backends, "CupyOps", VarlenCupyOps)  # what require_gpu takes
            _set_current()
        _patch_modules()
    return uninstall


def uninstall() -> None:
    """Undo `install`. Does nothing if it is not installed.

    Examples
    --------
    >>> import varlen.thinc
    >>> varlen.thinc.uninstall()
    """
    with _lock:
        while _undo:
            _undo.pop()()


def _set(holder: Any, name: str, value: Any) -> None:
    original = getattr(holder, name)
    setattr(holder, name, value)
    _undo.append(lambda: setattr(holder, name, original))


def _register() -> None:
    """Register ours under the names of the ops that they stand in for."""
    for key, ops in registry.ops.get_all().items():
        if ops.name not in _OURS:
            continue
        place = ("thinc", "ops", key)
        original = catalogue.REGISTRY.get(place)
        registry.ops.register(key, func=_factory(ops.name))
        if original is None:  # it came from an entry point
            _undo.append(lambda place=place: catalogue.REGISTRY.pop(place, None))  # type: ignore[misc]
        else:
            _undo.append(lambda place=place, original=original: catalogue.REGISTRY.update({place: original}))  # type: ignore[misc]


def _factory(name: str) -> Callable[..., Any]:
    def make(*args: Any, **kwargs: Any) -> Any:
        return _OURS[name](*args, **kwargs)

    make.name = name  # type: ignore[attr-defined]
    return make


def _set_current() -> None:
    """Replace the current NumpyOps or CupyOps of this thread, with their settings."""
    old_ops = thinc.backends.context_ops.get()
    if old_ops is not None and type(old_ops) not in (NumpyOps, CupyOps):
        return
    ops = VarlenCupyOps() if type(old_ops) is CupyOps else VarlenOps()
    for name, value in vars(old_ops).items() if old_ops is not None else ():
        setattr(ops, name, value)
    thinc.backends.set_current_ops(ops)

    def undo() -> None:
        if thinc.backends.context_ops.get() is ops:
            thinc.backends.set_current_ops(old_ops)

    _undo.append(undo)


def _patch_modules() -> None:
    """Replace the instances that modules keep, and the function that chooses ops by an array."""
    chooser = thinc.backends.get_array_ops
    original = getattr(chooser, "original", chooser)

    def get_array_ops(arr: Any) -> Any:
        ops = original(arr)
        return VarlenOps() if type(ops) is NumpyOps else ops

    get_array_ops.original = original  # type: ignore[attr-defined]
    for module, name, value in _module_attributes():
        if value is original:
            _set(module, name, get_array_ops)
        elif type(value) is NumpyOps:
            _set(value, "__class__", VarlenOps)


def _module_attributes() -> Iterator[tuple[Any, str, Any]]:
    for module in list(sys.modules.values()):
        try:
            names = object.__getattribute__(module, "__dict__")  # a lazy module is not loaded by that
        except AttributeError:
            continue
        for name, value in list(names.items()):
            yield module, name, value
