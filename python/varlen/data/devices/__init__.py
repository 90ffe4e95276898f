"""Devices that batches go to: memory there, and streams on which copies run ahead of the loop.

`torch_device` has them for tensors, `cupy_device` for arrays of CuPy; `device` says what both give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from varlen.data.devices.staging import refuse_child

if TYPE_CHECKING:
    import numpy as np

    from varlen.data.devices.device import Device

__all__: list[str] = []


def kind_name(framework: str, name: str, dtype: np.dtype, torch_name: str | None) -> str:
    """What a library calls the dtype of an output; times are int64 in all of them."""
    if dtype.kind in "mM":
        return "int64"
    if framework == "torch":
        from varlen.data.devices.torch_device import kind_name as name_of
    else:
        from varlen.data.devices.cupy_device import kind_name as name_of
    return name_of(name, dtype, torch_name)


def usable_device(name: str, framework: str) -> Device:
    """The device of a library that has this name."""
    refuse_child()
    if framework == "torch":
        from varlen.data.devices.torch_device import TorchDevice

        return TorchDevice(name)
    from varlen.data.devices.cupy_device import CupyDevice

    return CupyDevice(name)
