"""Seeded rows of the lengths that the table is about."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Rows(NamedTuple):
    """Rows laid end to end."""

    values: np.ndarray
    lengths: np.ndarray
    offsets: np.ndarray

    @property
    def flat(self) -> np.ndarray:
        """The numbers of all rows, for kernels that know no rows of several."""
        return self.values.reshape(-1)

    @property
    def width(self) -> int:
        """Numbers a row."""
        return int(np.prod(self.values.shape[1:], dtype=int))


def lengths(count: int, mean: int, seed: int = 0) -> np.ndarray:
    """Lengths uniform in [0, 2 mean]."""
    return np.random.default_rng(seed).integers(0, 2 * mean + 1, count)


def drawn(kind: str, count: int, mean: int) -> Rows:
    """Rows of plain numbers whose lengths are of one kind: equal, zipf, one giant and so on."""
    rng = np.random.default_rng(7)
    uniform = lengths(count, mean)
    giant = np.full(count, mean // 2)
    giant[count // 2] = count * mean // 2
    result = {
        "equal": np.full(count, mean),
        "uniform": uniform,
        "zipf": np.minimum(rng.zipf(1.2, count), 16 * mean),
        "lognormal": rng.lognormal(np.log(mean) - 0.5, 1.0, count).astype(np.int64),
        "many-empty": np.where(rng.random(count) < 0.9, 0, uniform * 10),
        "one-giant": giant,
        "sorted": np.sort(uniform)[::-1].copy(),
        "all-empty": np.zeros(count, np.int64),
    }[kind]
    return of_lengths(result)


def of_lengths(given: np.ndarray, width: int = 0, dtype: Any = np.float32, seed: int = 0) -> Rows:
    """Rows of these lengths, of `width` numbers each (0: plain numbers)."""
    offsets = np.concatenate([[0], np.cumsum(given)])
    shape = (int(offsets[-1]), width) if width else (int(offsets[-1]),)
    values = np.random.default_rng(seed + 1).integers(1, 100, shape).astype(dtype)
    return Rows(values, given, offsets)


def rows(count: int, mean: int, width: int = 0, dtype: Any = np.float32, seed: int = 0) -> Rows:
    """Rows whose lengths are uniform in [0, 2 mean]."""
    return of_lengths(lengths(count, mean, seed), width, dtype, seed)


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
