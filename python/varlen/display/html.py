"""Notebook HTML: a table of facts, a picture of the lengths, the first values. No script, no style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from varlen._core import Level
from varlen.display import text
from varlen.display.text import plural
from varlen.types.packed import Packed
from varlen.types.padded import Padded
from varlen.types.ragged import Ragged

BINS = 40
BAR, HEIGHT = 8, 60  # pixels


def ragged(r: Ragged) -> str:
    """A Ragged as a notebook shows it.

    Examples
    --------
    >>> ragged(vl.Ragged([3, 1, 4], [2, 1])).startswith("<div>")
    True
    """
    rows = [
        ("sequences", " / ".join(f"{len(level):,}" for level in r.levels)),
        ("values", f"{r.total:,}"),
        ("shape", str(r.shape)),
        ("dtype", str(r.dtype)),
        ("device", r.device),
        ("memory", size(r.nbytes)),
    ]
    pictures = [
        f"<div>{escape(_title(d, level, len(r.levels)))}<br/>{histogram(level)}</div>"
        for d, level in enumerate(r.levels)
        if len(level)
    ]
    return _page(type(r).__name__, rows, pictures, text.ragged(r))


def padded(p: Padded) -> str:
    """A Padded as a notebook shows it.

    Examples
    --------
    >>> padded(vl.Padded.from_list([[1, 2], [3]])).startswith("<div>")
    True
    """
    rows = [
        ("sequences", f"{len(p):,}"),
        ("steps", f"{len(p.size_at_t):,}"),
        ("rows", f"{p.total:,}"),
        ("shape", str(p.shape)),
        ("dtype", str(p.dtype)),
        ("device", p.device),
        ("memory", size(p.nbytes)),
    ]
    return _page(type(p).__name__, rows, _picture(Level(p.lengths)), text.padded(p))


def packed_steps(p: Packed) -> str:
    """A Packed as a notebook shows it.

    Examples
    --------
    >>> packed_steps(vl.Ragged([1, 2, 3], [1, 2]).pack()).startswith("<div>")
    True
    """
    rows = [
        ("sequences", f"{len(p.level):,}"),
        ("steps", f"{len(p):,}"),
        ("sub-sequences" if p.inner else "rows", f"{p.total:,}"),
        ("shape of values", str(tuple(p.values.shape))),
        ("dtype", str(p.dtype)),
        ("device", p.device),
        ("memory", size(p.values.nbytes)),
    ]
    return _page(type(p).__name__, rows, _picture(p.level), text.packed_steps(p))


def _picture(level: Level) -> list[str]:
    return [f"<div>{escape(_title(0, level, 1))}<br/>{histogram(level)}</div>"] if len(level) else []


def _page(name: str, rows: Sequence[tuple[str, str]], pictures: Sequence[str], shown: str) -> str:
    values = escape(shown.partition("\n")[2])
    return f"<div><b>{escape(name)}</b>{table(rows)}{''.join(pictures)}<pre>{values}</pre></div>"


def histogram(level: Level) -> str:
    """The lengths of a level as an inline SVG of bars, each with its numbers in a tooltip.

    Examples
    --------
    >>> histogram(Level([1, 2, 2])).count("<rect")
    2
    """
    counts, edges = bins(level)
    top = max(int(counts.max()), 1)
    bars = []
    for i, count in enumerate(counts.tolist()):
        height = -(-HEIGHT * count // top)  # rounded up, so that one sequence in a million is seen
        low, high = int(edges[i]), int(edges[i + 1]) - 1
        label = f"length {low}" if low == high else f"lengths {low} to {high}"
        bars.append(
            f'<rect x="{i * BAR}" y="{HEIGHT - height}" width="{BAR - 1}" height="{height}" fill="#4c78a8">'
            f"<title>{label}: {plural(count, 'sequence')}</title></rect>"
        )
    width = BAR * len(bars)
    line = f'<line x1="0" y1="{HEIGHT}" x2="{width}" y2="{HEIGHT}" stroke="#888"/>'
    return (
        f'<svg width="{width}" height="{HEIGHT + 1}" role="img" '
        f'aria-label="histogram of lengths">{"".join(bars)}{line}</svg>'
    )


def bins(level: Level) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many sequences fall in each of at most 40 bins of whole lengths, and the bins' edges.

    Examples
    --------
    >>> bins(Level([1, 2, 2]))
    (array([1, 2]), array([1, 2, 3]))
    """
    low, high = level.shortest, level.longest
    step = -(-(high - low + 1) // BINS)
    edges = np.arange(low, high + 1 + step, step, dtype=np.int64)
    counts, _ = np.histogram(level.lengths, edges)
    return counts.astype(np.int64), edges


def table(rows: Sequence[tuple[str, str]]) -> str:
    """Names and what they are, one a row.

    Examples
    --------
    >>> table([("dtype", "int64")])
    '<table><tr><th>dtype</th><td>int64</td></tr></table>'
    """
    cells = (f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    return f"<table>{''.join(cells)}</table>"


def size(count: int) -> str:
    """Bytes for people.

    Examples
    --------
    >>> size(10), size(1536), size(5 << 30)
    ('10 B', '1.5 KB', '5.0 GB')
    """
    amount, unit = float(count), "B"
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if amount < 1024 or unit == "TB":
            break
        amount /= 1024
    return f"{count} B" if unit == "B" else f"{amount:.1f} {unit}"


def _title(d: int, level: Level, levels: int) -> str:
    which = f"level {d}: " if levels > 1 else ""
    mean = level.total / len(level)
    return f"{which}lengths {level.shortest} to {level.longest}, mean {mean:.3g}"
