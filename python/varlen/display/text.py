"""Text: one line of facts, and the first values. Bounded, however large the container is.

These functions know no container: they take the name of its class and what it carries.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen.backends.values import device_of, readable

if TYPE_CHECKING:
    from varlen._core import Level
    from varlen.backends.values import Values
    from varlen.levels import Levels

ROWS = 6  # sequences that are written, at every level
VALUES = 8  # values of a sequence that are written
WIDTH = 2000  # characters of values at most
LINE = 100  # characters of one line of a table
KEYS = 20  # keys that are written


class Column(NamedTuple):
    """A key: its values under levels, outermost first, and the words of ids."""

    name: str
    values: Values
    levels: Levels = ()
    words: Sequence[str] | None = None
    is_single: bool = False  # one value, which an index left behind


def keys_text(title: str, keys: Sequence[tuple[str, str, str]]) -> str:
    """A line for each key: its name, its kind, its first values."""
    first = keys[:KEYS]
    rest = [f"  ... {plural(len(keys) - KEYS, 'more key')}"] if len(keys) > KEYS else []
    fronts = align([key[:2] for key in first])
    body = (
        f"  {front}  {clip(values, LINE - 4 - len(front))}"
        for front, (_, _, values) in zip(fronts, first, strict=True)
    )
    return "\n".join([title, *body, *rest])


def key_texts(columns: Sequence[Column]) -> list[tuple[str, str, str]]:
    """Name, kind and first values of the keys that are shown; of the others the name alone."""
    texts = [(column.name, dtype_text(column), column_text(column)) for column in columns[:KEYS]]
    return [*texts, *((column.name, "", "") for column in columns[KEYS:])]


def column_text(column: Column) -> str:
    """The first values of a key in brackets; words in place of their ids."""
    _, values, levels, words, is_single = column
    if is_single and len(values) == 1:
        return _row_texts(readable(values), words)[0]
    return _sequences(values, levels, words=words) if levels else _row(values, words)


def dtype_text(column: Column) -> str:
    """The dtype of a key, or that it holds words."""
    return ", ".join(_kind(column.values)) if column.words is None else "words"


def align(lines: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """The cells of lines in columns as wide as their contents; those of the numbers `right` end together."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            f"{cell:>{width}}" if i in right else f"{cell:<{width}}"
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]


def ragged_text(name: str, values: Values, levels: Levels) -> str:
    """Values under levels, outermost first."""
    return f"{name}({', '.join(facts(values, levels))})\n{clip(_sequences(values, levels))}"


def padded(name: str, data: Values, lengths: Any) -> str:
    """A time-major block (steps, columns, ...): its columns, without the padding after their ends."""
    n = len(lengths)
    rows = plural(int(lengths.sum(dtype=np.int64)), "row") + _shape_text(data.shape[2:])
    counts = [plural(n, "sequence"), plural(len(data), "step"), rows]
    if n:
        counts += _range(int(lengths[-1]), int(lengths[0]))
    texts = _abbreviate([_row(data[: lengths[k], k]) for k in _shown_rows(n)], n)
    return f"{name}({', '.join([*counts, *_kind(data)])})\n{clip(texts)}"


def packed_steps(name: str, values: Values, level: Level, steps: Level, inner: Levels) -> str:
    """Steps of rows, or of sub-sequences."""
    sub_counts = [plural(len(item), "sub-sequence") for item in inner]
    rows = [plural(len(values), "row") + _shape_text(values.shape[1:])]
    counts = [*_describe_level(level), *sub_counts, *rows, *_lengths(level)]
    body = _sequences(values, (steps, *inner))
    return f"{name}({', '.join([*counts, *_kind(values)])})\n{clip(body)}"


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


def _sequences(
    values: Values,
    levels: Levels,
    begin: int = 0,
    end: int | None = None,
    words: Sequence[str] | None = None,
) -> str:
    """Sequences begin to end of the outermost of these levels."""
    n = (len(levels[0]) if end is None else end) - begin
    cuts = [levels[0].offsets[begin + i : begin + i + 2].tolist() for i in _shown_rows(n)]
    if len(levels) > 1:
        return _abbreviate([_sequences(values, levels[1:], a, b, words) for a, b in cuts], n)
    return _abbreviate([_row(values[a:b], words) for a, b in cuts], n)


def _abbreviate(texts: list[str], n: int) -> str:
    """The first and the last of n sequences."""
    if n > ROWS:
        texts.insert(ROWS // 2, "...")
    return f"[{', '.join(texts)}]"


def _row(rows: Values, words: Sequence[str] | None = None) -> str:
    """The first and the last rows of one sequence."""
    n = len(rows)
    ends = [rows] if n <= VALUES else [rows[: VALUES // 2], rows[n - VALUES // 2 + 1 :]]
    return "[" + ", ..., ".join(", ".join(_row_texts(readable(end), words)) for end in ends) + "]"


def _row_texts(rows: Any, words: Sequence[str] | None = None) -> list[str]:
    """Each row of a short array as text without line breaks."""
    if words is not None and rows.ndim == 1 and rows.dtype.kind in "iu":
        return [_word(words[i]) if 0 <= i < len(words) else f"id {i}" for i in rows.tolist()]
    with np.printoptions(threshold=VALUES, edgeitems=2, linewidth=WIDTH, precision=4, suppress=True):
        if rows.ndim > 1:
            return [" ".join(np.array2string(row, separator=", ").split()) for row in rows]
        return [str(x) for x in rows.tolist()] if rows.dtype.kind in "biu" else _scalars(rows)


def _scalars(rows: Any) -> list[str]:
    if rows.dtype.kind in "SU":
        return [_word(x) if rows.dtype.kind == "U" else repr(x) for x in rows.tolist()]
    return [f"{x:.5g}" if rows.dtype.kind == "f" else str(x) for x in rows]


def _word(word: str) -> str:
    return repr(word if len(word) <= LINE // 2 else f"{word[: LINE // 2 - 3]}...")


def clip(text: str, width: int = WIDTH) -> str:
    """At most so many characters, cut between two values if there is a place."""
    if len(text) <= width:
        return text
    end = text.rfind(", ", 0, width - 4)
    return f"{text[:end]}, ..." if end > 0 else f"{text[: max(width - 3, 0)]}..."


def _cut(part: object) -> str:
    """The repr of anything, in one line of at most so many characters."""
    head = type(part)(part[:VALUES]) if isinstance(part, (list, tuple)) and len(part) > VALUES else part
    text = " ".join(repr(head).split())
    if head is not part:
        text = f"{text[:-1]}, ...{text[-1]}"
    return text if len(text) <= WIDTH // 10 else text[: WIDTH // 10 - 3] + "..."
