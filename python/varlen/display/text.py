"""Text: one line of facts, and the first values. Bounded, however large the container is."""

from __future__ import annotations

from typing import Any

import numpy as np

from varlen.types.ragged import Ragged
from varlen.types.values import is_tensor

ROWS = 6  # sequences that are written, at every level
VALUES = 8  # values of a sequence that are written
WIDTH = 2000  # characters of values at most


def ragged(r: Ragged) -> str:
    """`repr` of a Ragged.

    Examples
    --------
    >>> print(ragged(vl.Ragged(np.arange(100), [100])))
    Ragged(1 sequence, 100 values, length 100, int64)
    [[0, 1, 2, 3, ..., 97, 98, 99]]
    """
    return f"{type(r).__name__}({', '.join(facts(r))})\n{_clip(_sequences(r))}"


def facts(r: Ragged) -> list[str]:
    """What a line says of a Ragged: counts, lengths, trailing dimensions, dtype, device.

    Examples
    --------
    >>> facts(vl.Ragged(np.zeros((3, 2)), [2, 1]))
    ['2 sequences', '3 values of shape (2,)', 'lengths 1 to 2', 'float64']
    """
    inner = [f"{plural(len(level), 'sequence')} at level {d}" for d, level in enumerate(r.levels) if d > 0]
    trailing = tuple(r.values.shape[1:])
    counts = plural(r.total, "value") + (f" of shape {trailing}" if trailing else "")
    dtype = str(r.dtype).removeprefix("torch.") if is_tensor(r.values) else str(r.dtype)
    device = [f"torch, {r.device}"] if is_tensor(r.values) else []
    return [plural(len(r), "sequence"), *inner, counts, *_lengths(r), dtype, *device]


def plural(n: int, word: str) -> str:
    """A number and its word.

    Examples
    --------
    >>> plural(1, "row"), plural(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"


def _lengths(r: Ragged) -> list[str]:
    level = r.levels[0]
    if len(level) == 0:
        return []
    if level.shortest == level.longest:
        return [f"length {level.longest}"]
    return [f"lengths {level.shortest} to {level.longest}"]


def _sequences(r: Ragged) -> str:
    n = len(r)
    shown = list(range(n)) if n <= ROWS else [*range(ROWS // 2), *range(n - ROWS // 2, n)]
    texts = [_one(r.row(i)) for i in shown]
    if n > ROWS:
        texts.insert(ROWS // 2, "...")
    return f"[{', '.join(texts)}]"


def _one(row: Any) -> str:
    if isinstance(row, Ragged):
        return _sequences(row)
    array = row.detach().cpu() if is_tensor(row) else row
    n = len(array)
    ends = [array[:n]] if n <= VALUES else [array[: VALUES // 2], array[n - VALUES // 2 + 1 :]]
    parts = [_plain(end) for end in ends]
    return "[" + ", ..., ".join(", ".join(part) for part in parts) + "]"


def _plain(rows: Any) -> list[str]:
    """Each row of a short array as text without line breaks."""
    if is_tensor(rows):
        rows = (
            rows.float().numpy() if not rows.dtype.is_complex and rows.is_floating_point() else rows.numpy()
        )
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
