"""What memory allows: copy, fill, fill past the caches and reading, compiled by `cc` when first asked for."""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).parent / "cpp" / "yardstick.c"


@functools.cache
def _library() -> ctypes.CDLL | None:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        target = f"{folder}/yardstick.so"
        result = subprocess.run(
            [compiler, "-O2", "-shared", "-fPIC", "-o", target, str(SOURCE)], capture_output=True
        )
        if result.returncode != 0:
            return None
        library = ctypes.CDLL(target)
    at, size = ctypes.c_void_p, ctypes.c_size_t
    library.copy.argtypes = [at, at, size]
    library.fill.argtypes = library.nt_fill.argtypes = [at, ctypes.c_int, size]
    library.nt_copy_fill.argtypes = [at, at, size, size]
    library.nt_copy_fill.restype = None
    library.read_all.argtypes = [at, size]
    library.read_all.restype = ctypes.c_uint64
    library.copy.restype = library.fill.restype = library.nt_fill.restype = None
    return library


def compiled() -> bool:
    """Whether a C compiler was found; without one the fills are NumPy's, and no fill goes past the caches."""
    return _library() is not None


def memcpy(out: np.ndarray, source: np.ndarray) -> None:
    """Copy the bytes of `source` into `out`."""
    library = _library()
    if library is None:
        out.view(np.uint8).reshape(-1)[: source.nbytes] = source.view(np.uint8).reshape(-1)
    else:
        library.copy(out.ctypes.data, source.ctypes.data, source.nbytes)


def memset(out: np.ndarray) -> None:
    """Clear the bytes of `out`."""
    library = _library()
    if library is None:
        out.fill(0)
    else:
        library.fill(out.ctypes.data, 0, out.nbytes)


def nt_fill(out: np.ndarray) -> None:
    """Clear the bytes of `out` with stores that go past the caches."""
    library = _library()
    if library is None:
        out.fill(0)
    else:
        library.nt_fill(out.ctypes.data, 0, out.nbytes)


def nt_copy_fill(out: np.ndarray, source: np.ndarray) -> None:
    """Copy `source` to the front of `out` and clear the rest, with stores that go past the caches."""
    library = _library()
    if library is None:
        memcpy(out, source)
        out.view(np.uint8).reshape(-1)[source.nbytes :] = 0
    else:
        library.nt_copy_fill(out.ctypes.data, source.ctypes.data, source.nbytes, out.nbytes)


def read(source: np.ndarray) -> None:
    """Read the bytes of `source`."""
    library = _library()
    if library is None:
        np.bitwise_xor.reduce(source.reshape(-1).view(np.uint8))
    else:
        library.read_all(source.ctypes.data, source.nbytes)
