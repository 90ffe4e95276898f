"""``varlen info --html``: its figures as one HTML file, which needs no other file and no script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from varlen.display import svg
from varlen.display.text import plural

__all__ = ["page"]

_STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --back: #fff; --faint: #d8dee4;
  --one: #0072b2; --two: #c2570c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --back: #0d1117; --faint: #30363d; --one: #56b4e9; --two: #f0a35e; }
}
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; background: var(--back); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin-bottom: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .8rem .2rem 0; text-align: left; border-bottom: 1px solid var(--faint);
  white-space: nowrap; }
td.number, th.number { text-align: right; }
td:last-child { white-space: normal; }
.level { display: flex; flex-wrap: wrap; gap: 1rem 2rem; margin-top: 1rem; }
figure { margin: 0; }
svg { max-width: 100%; height: auto; }
svg text { fill: currentColor; font: 12px system-ui, sans-serif; }
.axis { stroke: var(--faint); }
.one { fill: var(--one); } .two { fill: var(--two); }
.line { fill: none; stroke-width: 2; } .one.line { stroke: var(--one); }
.two.line { stroke: var(--two); stroke-dasharray: 6 3; }
"""


def page(
    facts: dict[str, Any],
    head: str,
    keys: Sequence[Sequence[str]],
    account: Sequence[Sequence[str]],
    notes: Iterable[str],
) -> str:
    """A page of what `describe` found, with tables of keys and, where there is one, of the account."""
    title = escape(facts["path"])
    sections = [f"<h1>{title}</h1>\n<p>{escape(head)}</p>", f"<h2>Keys</h2>\n{_grid(keys)}"]
    sections += map(_level, facts["levels"])
    if account:
        lines = "".join(f"<p>{escape(note)}</p>" for note in notes)
        sections.append(f"<h2>Account: what came in and went out</h2>\n{_grid(account)}\n{lines}")
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n<body>\n{chr(10).join(sections)}\n</body>\n</html>\n"
    )


def _grid(rows: Sequence[Sequence[str]]) -> str:
    """A table whose first row has the names; columns of numbers are flush right."""
    body = rows[1:]
    kinds = [
        ' class="number"' if body and all(_is_number(row[i]) for row in body) else ""
        for i in range(len(rows[0]))
    ]
    lines = [
        "<tr>"
        + "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for cell, kind in zip(row, kinds, strict=True))
        + "</tr>"
        for tag, row in zip(["th", *["td"] * len(body)], rows, strict=True)
    ]
    return f'<div class="scroll"><table>{"".join(lines)}</table></div>'


def _is_number(cell: str) -> bool:
    return not cell or cell.removeprefix(">= ").replace(",", "").replace(".", "").isdigit()


def _level(level: dict[str, Any]) -> str:
    counts = f"{plural(level['sequences'], 'sequence')}, {plural(level['rows'], 'row')}"
    title = f"<h2>Level {level['dim']}: {counts}</h2>"
    if "mean" not in level:
        return title
    low, middle, high = level["quartiles"]
    numbers = {
        "shortest": f"{level['shortest']:,}",
        "quartiles": f"{low:,.0f} / {middle:,.0f} / {high:,.0f}",
        "mean": f"{level['mean']:,.1f}",
        "longest": f"{level['longest']:,}",
        "empty": f"{level['empty']:,}",
    }
    bars, sizes = level["histogram"], level["padding_by_size"]
    pictures = [svg.bars(bars["counts"], bars["edges"], "length", "sequences")]
    names = [f"{size:,}" for size in sizes["batch_sizes"]]
    if len(names) > 1:
        series = {name: sizes[name] for name in ("shuffled", "sorted")}
        pictures.append(svg.lines(series, names, "rows per batch", "share of padding"))
    figures = "".join(f"<figure>{picture}</figure>" for picture in pictures)
    return f'{title}\n{_grid([list(numbers), list(numbers.values())])}\n<div class="level">{figures}</div>'
