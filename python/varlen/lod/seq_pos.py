"""Where sequences start inside the sequence that holds them, one vector a sequence, and levels from that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level, RaggedBase
from varlen.arguments import as_int
from varlen.errors import dtype_error, value_error
from varlen.levels import Levels, levels_over_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

DEEPEST = 64  # dims that are taken on trust where no vector stands for them


def starts_of(levels: Levels) -> tuple[Ints, Level]:
    """The starts of all vectors end to end, and the level that cuts them into vectors."""
    over_rows = levels_over_rows(levels)
    starts = [over_rows[0].offsets[:-1]]
    for level, parents, children in zip(levels, over_rows, over_rows[1:], strict=False):
        starts.append(children.offsets[:-1] - parents.offsets[level.row_ids])
    counts = [np.array([len(levels[0])]), *(level.lengths for level in levels[:-1])]
    return np.concatenate(starts), Level.from_lengths(np.concatenate(counts))


def levels_of(start_poses: object, rows: int, dim: int | None) -> Levels:
    """The levels over so many rows that vectors of starts stand for; `LoDTensor.from_seq_pos`."""
    starts, vectors = _vectors(start_poses)
    count = len(vectors)
    dims = 0 if dim is None else as_int(dim, "dim", 1)
    if dims > DEEPEST:
        raise value_error("dim", f"expected at most {DEEPEST}, got {dims}", number=dims)
    levels: list[Level] = []
    base, parents = 0, 1
    begins, sizes = np.zeros(1, np.int64), np.array([rows])
    while len(levels) < dims if dims else base < count and (parents or not levels):
        if base + parents > count:
            raise value_error(
                "start_poses",
                f"dim {len(levels) + 1} needs {parents} vectors from vector {base} on, "
                f"but there are {count} in total",
            )
        level = Level.from_lengths(vectors.lengths[base : base + parents])
        own = starts[vectors.offsets[base] : vectors.offsets[base + parents]]
        _check(own, level, sizes, base)
        levels.append(level)
        begins = begins[level.row_ids] + own
        sizes = np.diff(begins, append=rows)  # the next one begins where this one ends
        base, parents = base + parents, len(own)
    if base != count or not levels:
        raise value_error("start_poses", f"{len(levels)} dims need {base} vectors, but there are {count}")
    return (*levels[1:], Level.from_lengths(sizes))


def _vectors(value: object) -> tuple[Ints, Level]:
    if isinstance(value, RaggedBase):
        starts, levels = value._values, value._levels
    else:
        starts, parts = _core.from_lists(value, -1, None, name="start_poses")
        levels = tuple(parts)
        if starts.size == 0:
            starts = starts.astype(np.int64)
    if len(levels) != 1 or starts.ndim != 1:
        raise value_error("start_poses", "expected a list of lists of starts")
    starts = np.asarray(starts)
    if starts.dtype.kind not in "iu":
        raise dtype_error("start_poses", "integers", f"dtype {starts.dtype}")
    return starts.astype(np.int64, copy=False), levels[0]


def _check(starts: Ints, level: Level, sizes: Ints, base: int) -> None:
    """Hold the vectors of one dim, the first of them number `base`, against the sequences that they cut."""

    def refuse(vector: Any, what: str) -> None:
        raise value_error("start_poses", f"vector {base + int(vector)} {what}", row=base + int(vector))

    is_empty = (level.lengths == 0) & (sizes > 0)
    if is_empty.any():
        i = is_empty.argmax()
        refuse(i, f"is empty, but its sequence has {sizes[i]} rows")
    ids = level.row_ids
    wrong = (level.positions == 0) & (starts != 0)
    if wrong.any():
        i = wrong.argmax()
        refuse(ids[i], f"starts at {starts[i]}, not at 0")
    wrong = np.zeros(len(starts), bool)
    wrong[1:] = (starts[1:] < starts[:-1]) & (ids[1:] == ids[:-1])
    if wrong.any():
        i = wrong.argmax()
        refuse(ids[i], f"has {starts[i]} after {starts[i - 1]}")
    wrong = starts > sizes[ids]
    if wrong.any():
        i = wrong.argmax()
        refuse(ids[i], f"has a start at {starts[i]}, but its sequence has {sizes[ids[i]]} rows")
