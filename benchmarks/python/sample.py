"""Seeded rows of the lengths that the table is about."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Rows(NamedTuple):
    """Rows laid end to end."""

    values: np.ndarray
    lengths: np.ndarray
    offsets: np.ndarray


def lengths(count: int, mean: int, seed: int = 0) -> np.ndarray:
    """Lengths uniform in [0, 2 mean]."""
    return np.random.default_rng(seed).integers(0, 2 * mean + 1, count)


def rows(count: int, mean: int, width: int = 0, dtype: Any = np.float32, seed: int = 0) -> Rows:
    """Rows of `width` numbers each (0: plain numbers) whose lengths are uniform in [0, 2 mean]."""
    drawn = lengths(count, mean, seed)
    offsets = np.concatenate([[0], np.cumsum(drawn)])
    shape = (int(offsets[-1]), width) if width else (int(offsets[-1]),)
    values = np.random.default_rng(seed + 1).integers(1, 1000, shape).astype(dtype)
    return Rows(values, drawn, offsets)


def padded(source: Rows) -> np.ndarray:
    """The reference: zeros, and a slice a row."""
    out = np.zeros(
        (len(source.lengths), int(source.lengths.max(initial=0)), *source.values.shape[1:]),
        source.values.dtype,
    )
    for i, (start, n) in enumerate(zip(source.offsets, source.lengths, strict=False)):
        out[i, :n] = source.values[start : start + n]
    return out


def arrays(source: Rows) -> list[np.ndarray]:
    """The rows as arrays of their own."""
    return [source.values[a:b].copy() for a, b in zip(source.offsets[:-1], source.offsets[1:], strict=True)]
