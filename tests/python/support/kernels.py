"""What tests of kernels share."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

# Kernels of devices take the arrays and tensors of the host.
ON_DEVICE = os.environ.get("VARLEN_CUDA_ON_HOST") == "1"

AROUND = 128
MARK = 0xA5


class Guarded:
    """Memory for an output, `shift` bytes off a line of the cache, with marks on both sides."""

    def __init__(self, dtype: Any, shape: tuple[int, ...], shift: int = 0) -> None:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        self.memory = np.full(size + 2 * AROUND + 64, MARK, np.uint8)
        self.at = AROUND + (-self.memory.ctypes.data - AROUND) % 64 + shift
        self.end = self.at + size
        self.out = self.memory[self.at : self.end].view(dtype).reshape(shape)

    def check(self) -> None:
        assert (self.memory[: self.at] == MARK).all(), "written in front of the output"
        assert (self.memory[self.end :] == MARK).all(), "written behind the output"


def draw(count: int, dtype: Any, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, count).astype(bool)
    if kind in "iu":
        return rng.integers(0 if kind == "u" else -50, 50, count).astype(dtype)
    if kind == "c":
        return (rng.integers(-9, 9, count) + 1j * rng.integers(-9, 9, count)).astype(dtype)
    return rng.integers(-8, 9, count).astype(dtype)  # sums of these are exact in any order


def of_cpu(reason: str) -> Any:
    """A mark for what the CPU alone does: it is left out where kernels of devices take the arrays."""
    return pytest.mark.skipif(ON_DEVICE, reason=reason)


def assert_sums(found: Any, want: Any) -> None:
    """The CPU adds in a stated order, to the bit; kernels of devices in their own, close to that.

    Halves are rounded once, by both: what they are rounded from is one number or its neighbour.
    """
    if not ON_DEVICE:
        assert found.tobytes() == want.tobytes()
        return
    size = np.max(np.abs(np.nan_to_num(want.astype(np.float64))), initial=1)
    if want.dtype.itemsize == 2:
        steps = np.abs(_steps(found) - _steps(want))
        assert (np.where(np.isnan(want) & np.isnan(found), 0, steps) <= 1).all()
    else:
        one = {4: 1e-5, 8: 1e-13}[want.dtype.itemsize]
        np.testing.assert_allclose(found, want, rtol=0, atol=one * size)


def _steps(halves: Any) -> Any:
    """How many numbers of the dtype lie between each and zero, below zero for negative ones."""
    bits = halves.view(np.uint16).astype(np.int64)
    return np.where(bits < 0x8000, bits, 0x8000 - bits)
