"""The state of CUDA: whether the kernels are built, find a driver and a device, and run."""

import importlib
import os
from dataclasses import dataclass
from types import ModuleType

from varlen import _core

__all__ = ["Status", "is_available", "load", "status"]

# cudaError_t, as the runtime numbers them.
_SUCCESS = 0
_INITIALIZATION = 3
_INSUFFICIENT_DRIVER = 35
_NO_DEVICE = 100
_NO_KERNEL_IMAGE = 209


# By what the build says became of it.
_WHY_NOT = {
    "off": "VARLEN_CUDA was OFF",
    "no compiler": "no nvcc was found on PATH or in CUDACXX",
    "no GPU": "the machine that built it has no GPU; VARLEN_CUDA=ON builds for all",
    "built": "its module is missing",
}


@dataclass(frozen=True)
class Status:
    """The state of CUDA in one sentence; true if kernels can run.

    Parameters
    ----------
    code : str
        "not built", "no driver", "driver too old", "no device", "no kernel image", "forked", "error" or "ok".
    text : str
        The sentence.
    device_count : int, default 0
        The number of devices that this process sees.

    Examples
    --------
    >>> found = Status("no device", "The CUDA driver sees no device.")
    >>> print(found)
    The CUDA driver sees no device.
    >>> bool(found)
    False
    """

    code: str
    text: str
    device_count: int = 0

    def __str__(self) -> str:
        return self.text

    def __bool__(self) -> bool:
        return self.code == "ok"


# A forked child cannot use the driver that its parent started, so each process asks for itself.
_status_cache: dict[int, Status] = {}


def status() -> Status:
    """Say in a sentence whether CUDA can be used, and if not, what is missing.

    The first call in each process starts the driver. The import does not, since forked workers cannot use a
    driver that their parent started.

    Returns
    -------
    Status
        The state, which prints as the sentence; true if kernels can run.

    Examples
    --------
    >>> varlen.cuda.status().code in {"ok", "not built", "no driver", "no device"}
    True
    """
    pid = os.getpid()
    if pid not in _status_cache:
        _status_cache.clear()
        _status_cache[pid] = _ask()
    return _status_cache[pid]


def is_available() -> bool:
    """Whether GPU kernels can run here.

    Returns
    -------
    bool
        True if the code of `status` is "ok".

    See Also
    --------
    status : says what is missing.

    Examples
    --------
    >>> varlen.cuda.is_available() == bool(varlen.cuda.status())
    True
    """
    return bool(status())


def load() -> None:
    """Load the GPU kernels, if they can run.

    You need not call it: the first tensor on a device loads them.

    See Also
    --------
    status : says whether they can.

    Examples
    --------
    >>> varlen.cuda.load()
    """
    module = _module() if status() else None
    if module is not None:
        _core.register(kernels=module.kernels)


def _module() -> ModuleType | None:
    try:
        return importlib.import_module("varlen._cuda")
    except ImportError:
        return None


def _ask() -> Status:
    module = _module()
    if module is None:
        return Status("not built", f"varlen was built without CUDA: {_WHY_NOT[_core.cuda_state]}.")
    probe: dict[str, int | str] = module.probe()
    code, count = probe["code"], int(probe["count"])
    needs = f"built with CUDA {_version(probe['runtime'])} for {module.__archs__}"
    if code == _SUCCESS and count > 0:
        rest = "" if count == 1 else f" and {count - 1} more"
        return Status("ok", f"CUDA is ready: {probe['name']}{rest}; varlen was {needs}.", count)
    if code == _INSUFFICIENT_DRIVER and probe["driver"] == 0:
        return Status("no driver", f"There is no CUDA driver on this machine; varlen was {needs}.")
    if code == _INSUFFICIENT_DRIVER:
        driver = _version(probe["driver"])
        return Status(
            "driver too old", f"The CUDA driver is too old: it knows CUDA {driver}, varlen was {needs}."
        )
    if code == _NO_DEVICE or (code == _SUCCESS and count == 0):
        return Status("no device", f"The CUDA driver sees no device; varlen was {needs}.")
    if code == _NO_KERNEL_IMAGE:
        return Status(
            "no kernel image", f"varlen's kernels do not run on {probe['name']}: it was {needs}.", count
        )
    if code == _INITIALIZATION:
        return Status(
            "forked", "CUDA cannot be used in a forked child of a process that used it; spawn it instead."
        )
    return Status("error", f"CUDA cannot be used: {probe['text']} (error {code}); varlen was {needs}.", count)


def _version(number: int | str) -> str:
    major, rest = divmod(int(number), 1000)
    return f"{major}.{rest // 10}"
