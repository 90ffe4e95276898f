"""Text: one line of facts, and the first values. Bounded, however large the container is."""

from __future__ import annotations

from typing import Any

import numpy as np

from varlen.backends.values import is_tensor
from varlen.types.packed import Packed
from varlen.types.padded import Padded
from varlen.types.pairs import Pairs
from varlen.types.ragged import Ragged
from varlen.types.ranks import RankTable

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


def padded(p: Padded) -> str:
    """`repr` of a Padded: its columns, without what stands behind their ends.

    Examples
    --------
    >>> print(padded(vl.Padded.from_list([[1, 2], [3, 4, 5]])))
    Padded(2 sequences, 3 steps, 5 rows, lengths 2 to 3, int64)
    [[3, 4, 5], [1, 2]]
    """
    trailing = tuple(p.data.shape[2:])
    rows = plural(p.total, "row") + (f" of shape {trailing}" if trailing else "")
    counts = [plural(len(p), "sequence"), plural(len(p.size_at_t), "step"), rows]
    if len(p):
        counts += _range(int(p.lengths[-1]), int(p.lengths[0]))
    texts = _some([p.data[: p.lengths[k], k] for k in _shown(len(p))], len(p))
    return f"{type(p).__name__}({', '.join([*counts, *_kind(p)])})\n{_clip(texts)}"


def packed_steps(p: Packed) -> str:
    """`repr` of a Packed: its steps.

    Examples
    --------
    >>> print(packed_steps(vl.Ragged([1, 2, 3], [1, 2]).pack()))
    Packed(2 sequences, 2 steps, 3 rows, lengths 1 to 2, int64)
    [[2, 1], [3]]
    """
    trailing = tuple(p.values.shape[1:])
    below = [f"{plural(len(level), 'sub-sequence')}" for level in p.inner]
    rows = [plural(len(p.values), "row") + (f" of shape {trailing}" if trailing else "")]
    counts = [*_ranked(p.table), *below, *rows, *_ranks(p.table)]
    steps = _some([p[t] for t in _shown(len(p))], len(p))
    return f"{type(p).__name__}({', '.join([*counts, *_kind(p)])})\n{_clip(steps)}"


def table(t: RankTable) -> str:
    """`repr` of a RankTable.

    Examples
    --------
    >>> print(table(vl.RankTable([2, 1])))
    RankTable(2 sequences, 2 steps, 3 rows, lengths 1 to 2)
    """
    counts = [*_ranked(t), plural(t.total, "row"), *_ranks(t)]
    return f"{type(t).__name__}({', '.join(counts)})"


def pairs(p: Pairs[Any]) -> str:
    """`repr` of Pairs: of each of the two, cut short.

    Examples
    --------
    >>> pairs(vl.Pairs([3, 1], np.array([30, 10])))
    'Pairs(one=[3, 1], two=array([30, 10]))'
    """
    with np.printoptions(threshold=VALUES, edgeitems=2, precision=4, suppress=True):
        one, two = (_cut(part) for part in (p.one, p.two))
    return f"{type(p).__name__}(one={one}, two={two})"


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
    level = r.levels[0]
    lengths = _range(level.shortest, level.longest) if len(level) else []
    return [plural(len(r), "sequence"), *inner, counts, *lengths, *_kind(r)]


def plural(n: int, word: str) -> str:
    """A number and its word.

    Examples
    --------
    >>> plural(1, "row"), plural(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"


def _range(shortest: int, longest: int) -> list[str]:
    return [f"length {longest}" if shortest == longest else f"lengths {shortest} to {longest}"]


def _ranked(t: RankTable) -> list[str]:
    return [plural(len(t), "sequence"), plural(t.longest, "step")]


def _ranks(t: RankTable) -> list[str]:
    return _range(t.level.shortest, t.longest) if len(t) else []


def _kind(container: Ragged | Padded | Packed) -> list[str]:
    """The dtype; of tensors also where they are."""
    dtype = str(container.dtype)
    torch = dtype.startswith("torch.")
    return [dtype.removeprefix("torch."), f"torch, {container.device}"] if torch else [dtype]


def _shown(n: int) -> list[int]:
    return list(range(n)) if n <= ROWS else [*range(ROWS // 2), *range(n - ROWS // 2, n)]


def _sequences(r: Ragged) -> str:
    return _some([r.row(i) for i in _shown(len(r))], len(r))


def _some(rows: list[Any], n: int) -> str:
    """The first and the last of n sequences."""
    texts = [_one(row) for row in rows]
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


def _cut(part: Any) -> str:
    """The repr of anything, in one line of at most so many characters."""
    some = type(part)(part[:VALUES]) if isinstance(part, (list, tuple)) and len(part) > VALUES else part
    text = " ".join(repr(some).split())
    if some is not part:
        text = f"{text[:-1]}, ...{text[-1]}"
    return text if len(text) <= WIDTH // 10 else text[: WIDTH // 10 - 3] + "..."
