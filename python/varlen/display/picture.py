"""Pictures of lengths in plain text, for terminals and reprs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

__all__ = ["bars", "count_lengths", "sparkline"]

_BLOCKS = "▁▂▃▄▅▆▇█"
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def count_lengths(lengths: np.ndarray, bins: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Counts of whole-number bins of equal width, and the edges between them."""
    low, high = int(lengths.min()), int(lengths.max())
    bins = min(bins, high - low + 1)
    step = -(-(high - low + 1) // bins)
    edges = low + step * np.arange(-(-(high - low + 1) // step) + 1)
    return np.bincount((lengths - low) // step, minlength=len(edges) - 1).astype(np.int64), edges


def sparkline(lengths: np.ndarray, bins: int = 24) -> str:
    """One line: the shortest length, a bar for each bin, the longest length."""
    if len(lengths) == 0:
        return "none"
    counts, _ = count_lengths(np.asarray(lengths), bins)
    top = counts.max()
    line = "".join(_BLOCKS[0] if c == 0 else _BLOCKS[max(1, int(np.ceil(c / top * 8)) - 1)] for c in counts)
    return f"{int(lengths.min()):,} {line} {int(lengths.max()):,}"


def bars(lengths: np.ndarray, bins: int = 10, width: int = 40) -> str:
    """A line for each bin: its lengths, a bar, how many sequences it holds."""
    if len(lengths) == 0:
        return "no sequences"
    counts, edges = count_lengths(np.asarray(lengths), bins)
    names = [f"{a:,}" if b - a == 1 else f"{a:,} to {b - 1:,}" for a, b in pairwise(edges)]
    wide = max(len(name) for name in names)
    lines = []
    for name, count in zip(names, counts, strict=True):
        eighths = -(-int(count) * width * 8 // int(counts.max()))
        bar = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
        lines.append(f"{name:>{wide}} |{bar:<{width}} {count:,}")
    return "\n".join(lines)
