"""Notebook HTML: a table of facts, a picture of the lengths, the first values. No script, no style sheet.

These functions know no container: they take the name of its class and what it carries.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from varlen._core import Level
from varlen.backends.values import device_of
from varlen.display import text
from varlen.display.picture import count_lengths
from varlen.display.text import plural

if TYPE_CHECKING:
    from varlen.backends.values import Values
    from varlen.levels import Levels

BINS = 40
BAR, HEIGHT = 8, 60  # pixels


def ragged_html(name: str, values: Values, levels: Levels) -> str:
    """Values under levels, outermost first."""
    shape = (len(levels[0]), *(None for _ in levels), *values.shape[1:])
    memory = int(values.nbytes) + sum(level.offsets.nbytes for level in levels)
    rows = [
        ("sequences", " / ".join(f"{len(level):,}" for level in levels)),
        ("values", f"{levels[-1].total:,}"),
        ("shape", str(shape)),
        *_kind(values, memory),
    ]
    return _page(name, rows, pictures(levels), text.ragged_text(name, values, levels))


def padded(name: str, data: Values, lengths: object, memory: int) -> str:
    """A time-major block (steps, columns, ...)."""
    level = Level(lengths)
    rows = [
        ("sequences", f"{len(level):,}"),
        ("steps", f"{len(data):,}"),
        ("rows", f"{level.total:,}"),
        ("shape", str(tuple(data.shape))),
        *_kind(data, memory),
    ]
    return _page(name, rows, pictures((level,)), text.padded(name, data, lengths))


def packed_steps(name: str, values: Values, level: Level, steps: Level, inner: Levels) -> str:
    """Steps of rows, or of sub-sequences; as `text.packed_steps`."""
    rows = [
        ("sequences", f"{len(level):,}"),
        ("steps", f"{len(steps):,}"),
        ("sub-sequences" if inner else "rows", f"{steps.total:,}"),
        ("shape of values", str(tuple(values.shape))),
        *_kind(values, int(values.nbytes)),
    ]
    body = text.packed_steps(name, values, level, steps, inner)
    return _page(name, rows, pictures((level,)), body)


def keys_html(
    title: str,
    rows: Sequence[tuple[str, str]],
    keys: Sequence[tuple[str, str, str]] = (),
    levels: Levels = (),
) -> str:
    """Facts, keys with their kinds and first values, and a picture for each level."""
    cells = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(kind)}</td>"
        f'<td style="text-align:left">{escape(text.clip(values, text.LINE))}</td></tr>'
        for name, kind, values in keys[: text.KEYS]
    )
    entries = f"<table>{cells}</table>" if keys else ""
    count = len(keys) - text.KEYS
    rest = f"<div>... {plural(count, 'more key')}</div>" if count > 0 else ""
    images = "".join(pictures(levels))
    return f"<div><b>{escape(title)}</b>{table(rows)}{entries}{rest}{images}</div>"


def pictures(levels: Levels) -> list[str]:
    """A histogram for each level that has sequences."""
    return [
        f"<div>{escape(_title(d, level, len(levels)))}<br/>{histogram(level)}</div>"
        for d, level in enumerate(levels)
        if len(level)
    ]


def _kind(values: Values, memory: int) -> list[tuple[str, str]]:
    return [("dtype", str(values.dtype)), ("device", device_of(values)), ("memory", size(memory))]


def _page(name: str, rows: Sequence[tuple[str, str]], images: Sequence[str], body: str) -> str:
    values = escape(body.partition("\n")[2])
    return f"<div><b>{escape(name)}</b>{table(rows)}{''.join(images)}<pre>{values}</pre></div>"


def histogram(level: Level) -> str:
    """The lengths of a level as an inline SVG of bars, each with its numbers in a tooltip."""
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
    """How many sequences fall in each of at most 40 bins of whole lengths, and the bins' edges."""
    return count_lengths(level.lengths, BINS)


def table(rows: Sequence[tuple[str, str]]) -> str:
    """Names and their values, one per row."""
    cells = (f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    return f"<table>{''.join(cells)}</table>"


def cells_html(lines: Sequence[Sequence[str]]) -> str:
    """A table of cells under the names of the columns, the first of the lines."""
    head, *rows = lines
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{names}</tr>{body}</table>"


def size(count: int) -> str:
    """Bytes for people."""
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
