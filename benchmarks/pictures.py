"""Pictures of the table: `python -m benchmarks.pictures docs/speed.md docs/pictures`.

Each dot is one benchmark, at how many times as fast varlen is; each line is a chapter. One picture compares
with the best peer, the other with the floor: the least time in which memory could do the same. Both are read
off the page, so page and pictures agree. Plain SVG, no library; colours follow the page or the reader.
"""

from __future__ import annotations

import math
import re
import statistics
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

Chapters = dict[str, list[tuple[str, float]]]

FLOOR = re.compile(r"x (.*\b(?:memcpy|fill|memset|read|mmap|fsync)\b.*)")
WIDTH, LEFT, RIGHT, TOP, LINE = 380, 66, 48, 42, 23
STYLE = """
.speed { --ink: #1f2328; --faint: #d0d7de; --ahead: #0b7a75; --behind: #c2570c; }
@media (prefers-color-scheme: dark) {
  .speed { --ink: #e6edf3; --faint: #3d444d; --ahead: #4fc3b9; --behind: #f0883e; }
}
.speed text { fill: var(--ink); font: 13px system-ui, sans-serif; }
.speed .small { font-size: 12px; }
.speed .end { text-anchor: end; }
.speed .middle { text-anchor: middle; }
.speed .grid { stroke: var(--faint); stroke-width: 1; }
.speed .one { stroke: var(--ink); stroke-width: 1.5; }
.speed .ahead { fill: var(--ahead); fill-opacity: .55; }
.speed .behind { fill: var(--behind); fill-opacity: .75; }
.speed .median { stroke: var(--ink); stroke-width: 2.5; }
"""


def read(page: str) -> tuple[Chapters, Chapters]:
    """By chapter, the rows and how many times as fast varlen is: as the best peer, as the floor."""
    peers: Chapters = {}
    floors: Chapters = {}
    chapter = title = ""
    for line in page.splitlines():
        if line.startswith("### "):
            chapter = line.removeprefix("### ")
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("| ") or len(cells) != 6 or cells[0] in ("row", "---"):
            continue
        title, _, figure, _, _, against_peer = (cells[0] or title, *cells[1:])
        if found := re.match(r"([\d.e+-]+)x(?: \(|$)", against_peer):
            peers.setdefault(chapter, []).append((title, float(found[1])))
        number, _, rest = figure.partition(" ")
        if FLOOR.fullmatch(rest.split(") ", 1)[-1]):
            floors.setdefault(chapter, []).append((title, 1 / float(number)))
    return peers, floors


def draw(chapters: Chapters, title: str, less: str, more: str) -> str:
    """One picture: a line for each chapter, a dot for each row, a bar at the median."""
    ratios = [ratio for rows in chapters.values() for _, ratio in rows]
    low = min(-1, math.floor(math.log2(min(ratios))))
    high = max(1, math.ceil(math.log2(max(ratios))))
    scale = (WIDTH - LEFT - RIGHT) / (high - low)

    def at(ratio: float) -> float:
        return round(LEFT + (math.log2(ratio) - low) * scale, 1)

    bottom = TOP + LINE * len(chapters)
    every = 1 if high - low <= 7 else 2
    ticks = [k for k in range(low, high + 1) if k % every == 0]
    parts = []
    for k in ticks:
        kind = "one" if k == 0 else "grid"
        label = f"{2**k}" if k >= 0 else f"1/{2**-k}"
        parts.append(f'<line class="{kind}" x1="{at(2**k)}" x2="{at(2**k)}" y1="{TOP}" y2="{bottom}"/>')
        parts.append(f'<text class="small middle" x="{at(2**k)}" y="{bottom + 15}">{label}</text>')
    parts.append(f'<text class="small end" x="{at(1) - 6}" y="{TOP - 8}">{escape(less)}</text>')
    parts.append(f'<text class="small" x="{at(1) + 6}" y="{TOP - 8}">{escape(more)}</text>')
    for i, (chapter, rows) in enumerate(chapters.items()):
        y = TOP + LINE * i + LINE / 2
        median = statistics.median(ratio for _, ratio in rows)
        parts.append(f'<text class="end" x="{LEFT - 8}" y="{y + 4}">{escape(chapter)}</text>')
        for row, ratio in rows:
            kind = "ahead" if ratio >= 1 else "behind"
            told = f"<title>{escape(row)}: {ratio:.3g}</title>"
            parts.append(f'<circle class="{kind}" cx="{at(ratio)}" cy="{y}" r="4">{told}</circle>')
        parts.append(f'<line class="median" x1="{at(median)}" x2="{at(median)}" y1="{y - 8}" y2="{y + 8}"/>')
        parts.append(f'<text class="small end" x="{WIDTH - 4}" y="{y + 4}">{median:.2f}×</text>')
    body = "\n".join(parts)
    size = f'viewBox="0 0 {WIDTH} {bottom + 24}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="speed" role="img" {size}>\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n"
        f'<text x="{LEFT}" y="14">{escape(title)}</text>\n{body}\n</svg>\n'
    )


def main(arguments: Sequence[str]) -> int:
    """Draw what the page at arguments[0] says into the folder arguments[1]."""
    page, folder = map(Path, arguments)
    peers, floors = read(page.read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {
        "peers.svg": draw(peers, "times as fast as the best peer", "◀ slower", "faster ▶"),
        "floors.svg": draw(floors, "times as fast as the floor", "◀ slower", "faster ▶"),
    }
    for name, text in drawn.items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
