"""Devices by whatever names them, and whose arrays lie there where the caller's do not say it."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np

from varlen.arguments import as_int
from varlen.errors import type_error, value_error

__all__: list[str] = []

_MOST_DEVICES = 127  # torch counts them in a byte


def _is_cupy_device(device: Any) -> bool:
    cupy = sys.modules.get("cupy")
    return cupy is not None and isinstance(device, cupy.cuda.Device)


def device_name(device: Any) -> str:
    """What torch calls a device that batches can go to: "cpu", "cuda" or "cuda:1"."""
    if _is_cupy_device(device):
        device = int(device.id)
    if isinstance(device, (int, np.integer)) and not isinstance(device, bool):
        return f"cuda:{as_int(device, 'device', 0, _MOST_DEVICES)}"
    name = device if isinstance(device, str) else str(device) if hasattr(device, "type") else None
    if name is None:
        kind = type(device).__name__
        raise type_error(
            "device", f"expected 'cuda', a number, a torch.device or a cupy.cuda.Device, got {kind}"
        )
    kind, _, number = name.partition(":")
    is_number = ":" not in name or (number.isdecimal() and int(number) <= _MOST_DEVICES)
    if kind not in ("cpu", "cuda") or not is_number:
        raise value_error("device", f"expected 'cpu', 'cuda' or 'cuda:<number>', got {name!r}")
    return "cpu" if kind == "cpu" else name


def library_of(x: Any) -> Literal["torch", "cupy"] | None:
    """The library of a tensor or an array of CuPy; None for anything else."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and isinstance(x, torch.Tensor):
        return "torch"
    return "cupy" if cupy is not None and isinstance(x, cupy.ndarray) else None


def framework_of(device: Any) -> Literal["torch", "cupy"]:
    """Whose arrays what goes to a device becomes: those of the library that the device is of.

    A name or a number says no library: then tensors where torch was imported, else arrays of CuPy where that
    is installed, else tensors.
    """
    if _is_cupy_device(device):
        return "cupy"
    if sys.modules.get("torch") is not None:
        return "torch"
    if sys.modules.get("cupy") is not None or find_spec("cupy") is not None:
        return "cupy"
    if find_spec("torch") is not None:
        return "torch"
    raise RuntimeError(
        "device: arrays there need CuPy or torch, and neither is installed: "
        "pip install cupy-cuda13x, or torch"
    )
