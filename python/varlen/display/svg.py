"""Pictures as SVG text for pages without scripts: bars and lines, with labels, and numbers in tooltips.

The page that holds them gives the colours: `one` and `two` are classes of marks, `axis` is one of lines. Text
has the colour around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise

from varlen.display.text import plural

__all__ = ["bars", "lines"]

WIDTH, HEIGHT = 480, 200  # pixels
LEFT, TOP, BOTTOM = 56, 12, 42  # margins
RIGHT, LABELS = 12, 76  # the second where lines have their names
TICKS = 5
GAP = 14  # between two names


def bars(counts: Sequence[int], edges: Sequence[int], x: str, y: str) -> str:
    """Bars over whole numbers: `counts[i]` of them from `edges[i]` to below `edges[i + 1]`."""
    right = WIDTH - RIGHT
    top = max(1, *counts)
    scale_x = (right - LEFT) / (edges[-1] - edges[0])
    scale_y = (HEIGHT - BOTTOM - TOP) / top
    marks = [*_y_axis(top, y, right, lambda tick: f"{tick:,.0f}", is_whole=True)]
    for (low, high), count in zip(pairwise(edges), counts, strict=True):
        place, height = LEFT + (low - edges[0]) * scale_x, count * scale_y
        if count:
            height = max(height, 1)  # one sequence in a million is seen
        label = f"{x} {low:,}" if high - low == 1 else f"{x} {low:,} to {high - 1:,}"
        gap = 1 if (high - low) * scale_x > 3 else 0
        marks.append(
            f'<rect class="one" x="{place:.1f}" y="{HEIGHT - BOTTOM - height:.1f}" '
            f'width="{(high - low) * scale_x - gap:.1f}" height="{height:.1f}">'
            f"<title>{escape(label)}: {plural(count, 'sequence')}</title></rect>"
        )
    ticks = [tick for tick in _ticks(edges[-1] - 1, True, edges[0]) if tick >= edges[0]]
    marks += _x_axis([(LEFT + (t - edges[0] + 0.5) * scale_x, f"{t:,.0f}") for t in ticks], x, right)
    return _picture(f"histogram of {x}", marks)


def lines(series: Mapping[str, Sequence[float]], names: Sequence[str], x: str, y: str) -> str:
    """Shares from 0 to 1: a line for each of two series, over names at equal distances."""
    right = WIDTH - LABELS
    top = max(0.05, *(share for shares in series.values() for share in shares))
    step = (right - LEFT - 16) / max(len(names) - 1, 1)
    scale = (HEIGHT - BOTTOM - TOP) / top
    marks = [*_y_axis(top, y, right, lambda tick: f"{tick:.0%}")]
    ends = {}
    for name, kind in zip(series, ("one", "two"), strict=False):
        points = [
            (LEFT + 8 + i * step, HEIGHT - BOTTOM - share * scale) for i, share in enumerate(series[name])
        ]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        marks.append(f'<polyline class="{kind} line" points="{path}"/>')
        for (a, b), size, share in zip(points, names, series[name], strict=True):
            title = f"<title>{escape(name)}, {escape(x)} {escape(size)}: {share:.1%}</title>"
            place = f'x="{a - 3:.1f}" y="{b - 3:.1f}" width="6" height="6"'
            marks.append(f'<rect class="{kind}" {place} rx="{3 if kind == "one" else 0}">{title}</rect>')
        ends[name] = points[-1][1]
    height_above = -float("inf")
    for name, height in sorted(ends.items(), key=lambda item: item[1]):
        height_above = max(height + 4, height_above + GAP)
        marks.append(f'<text x="{right + 6}" y="{height_above:.1f}">{escape(name)}</text>')
    marks += _x_axis([(LEFT + 8 + i * step, size) for i, size in enumerate(names)], x, right)
    return _picture(f"{y} by {x}", marks)


def _picture(label: str, marks: Sequence[str]) -> str:
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    return f'<svg {size} role="img" aria-label="{escape(label)}">{"".join(marks)}</svg>'


def _ticks(top: float, is_whole: bool, low: float = 0.0) -> list[float]:
    """Round numbers from 0 to `top`, so many or fewer between it and `low`."""
    step = 10.0**-6
    while (top - low) / step > TICKS:
        step *= 2.5 if f"{step:e}"[0] == "2" else 2
    step = max(step, 1.0) if is_whole else step
    return [i * step for i in range(int(top / step + 1e-9) + 1)]


def _y_axis(
    top: float, label: str, right: int, text: Callable[[float], str], *, is_whole: bool = False
) -> Iterator[str]:
    scale = (HEIGHT - BOTTOM - TOP) / top
    for tick in _ticks(top, is_whole):
        place = HEIGHT - BOTTOM - tick * scale
        yield f'<line class="axis" x1="{LEFT}" y1="{place:.1f}" x2="{right}" y2="{place:.1f}"/>'
        yield f'<text x="{LEFT - 6}" y="{place + 4:.1f}" text-anchor="end">{text(tick)}</text>'
    middle = (HEIGHT - BOTTOM + TOP) / 2
    turn = f'transform="rotate(-90 12 {middle:.1f})"'
    yield f'<text x="12" y="{middle:.1f}" text-anchor="middle" {turn}>{escape(label)}</text>'


def _x_axis(ticks: Sequence[tuple[float, str]], label: str, right: int) -> Iterator[str]:
    for place, text in ticks:
        yield f'<text x="{place:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{escape(text)}</text>'
    middle = (LEFT + right) / 2
    yield f'<text x="{middle:.1f}" y="{HEIGHT - 6}" text-anchor="middle">{escape(label)}</text>'
