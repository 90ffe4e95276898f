"""Text: one line of facts, and the first values. Bounded, however large the container is.

These functions know no container: they take the name of its class and what it carries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.backends.values import device_of, readable

if TYPE_CHECKING:
    from varlen._core import Level
    from varlen.backends.values import Values
    from varlen.levels import Levels

ROWS = 6  # sequences that are written, at every level
VALUES = 8  # values of a sequence that are written
WIDTH = 2000  # characters of values at most


def ragged_text(name: str, values: Values, levels: Levels) -> str:
    """Values under levels, outermost first."""
    return f"{name}({', '.join(facts(values, levels))})\n{_clip(_sequences(values, levels))}"


def padded(name: str, data: Values, lengths: Any) -> str:
    """A time-major block (steps, columns, ...): its columns, without the padding after their ends."""
    n = len(lengths)
    rows = plural(int(lengths.sum(dtype=np.int64)), "row") + _shape_text(data.shape[2:])
    counts = [plural(n, "sequence"), plural(len(data), "step"), rows]
    if n:
        counts += _range(int(lengths[-1]), int(lengths[0]))
    texts = _abbreviate([_row(data[: lengths[k], k]) for k in _shown_rows(n)], n)
    return f"{name}({', '.join([*counts, *_kind(data)])})\n{_clip(texts)}"


def packed_steps(name: str, values: Values, level: Level, steps: Level, inner: Levels) -> str:
    """Steps of rows, or of sub-sequences."""
    sub_counts = [plural(len(item), "sub-sequence") for item in inner]
    rows = [plural(len(values), "row") + _shape_text(values.shape[1:])]
    counts = [*_describe_level(level), *sub_counts, *rows, *_lengths(level)]
    body = _sequences(values, (steps, *inner))
    return f"{name}({', '.join([*counts, *_kind(values)])})\n{_clip(body)}"


def table(name: str, level: Level) -> str:
    """The sequences that a table ranks."""
    counts = [*_describe_level(level), plural(level.total, "row"), *_lengths(level)]
    return f"{name}({', '.join(counts)})"


def pairs(name: str, one: object, two: object) -> str:
    """Two objects of any kind, each cut short."""
    with np.printoptions(threshold=VALUES, edgeitems=2, precision=4, suppress=True):
        first, second = (_cut(part) for part in (one, two))
    return f"{name}(one={first}, two={second})"


def facts(values: Values, levels: Levels) -> list[str]:
    """One line about values under levels: counts, lengths, trailing dimensions, dtype, device."""
    outer, *deeper = levels
    inner = [f"{plural(len(level), 'sequence')} at level {d}" for d, level in enumerate(deeper, 1)]
    counts = plural(levels[-1].total, "value") + _shape_text(values.shape[1:])
    return [plural(len(outer), "sequence"), *inner, counts, *_lengths(outer), *_kind(values)]


def plural(n: int, word: str) -> str:
    """A number and its word."""
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"


def _range(shortest: int, longest: int) -> list[str]:
    return [f"length {longest}" if shortest == longest else f"lengths {shortest} to {longest}"]


def _describe_level(level: Level) -> list[str]:
    return [plural(len(level), "sequence"), plural(level.longest, "step")]


def _lengths(level: Level) -> list[str]:
    if not level.is_on_host:
        level.lengths  # noqa: B018  # rows are shown beside it, whose numbers the host needs
    return _range(level.shortest, level.longest) if len(level) else []


def _shape_text(row_shape: Any) -> str:
    return f" of shape {tuple(row_shape)}" if len(row_shape) else ""


def _kind(values: Values) -> list[str]:
    """The dtype; for tensors also the device."""
    dtype = str(values.dtype)
    torch = dtype.startswith("torch.")
    return [dtype.removeprefix("torch."), f"torch, {device_of(values)}"] if torch else [dtype]


def _shown_rows(n: int) -> list[int]:
    return list(range(n)) if n <= ROWS else [*range(ROWS // 2), *range(n - ROWS // 2, n)]


def _sequences(values: Values, levels: Levels, begin: int = 0, end: int | None = None) -> str:
    """Sequences begin to end of the outermost of these levels."""
    n = (len(levels[0]) if end is None else end) - begin
    cuts = [levels[0].offsets[begin + i : begin + i + 2].tolist() for i in _shown_rows(n)]
    if len(levels) > 1:
        return _abbreviate([_sequences(values, levels[1:], a, b) for a, b in cuts], n)
    return _abbreviate([_row(values[a:b]) for a, b in cuts], n)


def _abbreviate(texts: list[str], n: int) -> str:
    """The first and the last of n sequences."""
    if n > ROWS:
        texts.insert(ROWS // 2, "...")
    return f"[{', '.join(texts)}]"


def _row(rows: Values) -> str:
    """The first and the last rows of one sequence."""
    n = len(rows)
    ends = [rows] if n <= VALUES else [rows[: VALUES // 2], rows[n - VALUES // 2 + 1 :]]
    return "[" + ", ..., ".join(", ".join(_row_texts(readable(end))) for end in ends) + "]"


def _row_texts(rows: Any) -> list[str]:
    """Each row of a short array as text without line breaks."""
    with np.printoptions(threshold=VALUES, edgeitems=2, linewidth=WIDTH, precision=4, suppress=True):
        if rows.ndim > 1:
            return [" ".join(np.array2string(row, separator=", ").split()) for row in rows]
        return [str(x) for x in rows.tolist()] if rows.dtype.kind in "biu" else _scalars(rows)


def _scalars(rows: Any) -> list[str]:
    if rows.dtype.kind in "SU":
        return [repr(x) for x in rows.tolist()]
    return [f"{x:.5g}" if rows.dtype.kind == "f" else str(x) for x in rows]


def _clip(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 3] + "..."


def _cut(part: object) -> str:
    """The repr of anything, in one line of at most so many characters."""
    head = type(part)(part[:VALUES]) if isinstance(part, (list, tuple)) and len(part) > VALUES else part
    text = " ".join(repr(head).split())
    if head is not part:
        text = f"{text[:-1]}, ...{text[-1]}"
    return text if len(text) <= WIDTH // 10 else text[: WIDTH // 10 - 3] + "..."
