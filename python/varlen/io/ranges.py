"""Rows and windows of one file by reads of only their bytes, for file systems that should not be mapped.

A part of the second layer of reading, beside `file.py`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np

from varlen import _core
from varlen.arguments import refuse_mask
from varlen.errors import type_error, value_error
from varlen.io.dtypes import dtype_of
from varlen.io.errors import format_error
from varlen.io.file import File

if TYPE_CHECKING:
    from varlen.io.remote import RemoteFile

__all__ = ["as_window", "clip_windows"]

Array = np.ndarray[tuple[Any, ...], np.dtype]
Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]
_T = TypeVar("_T")
Steps: TypeAlias = Generator[tuple[Ints, Ints], Array, _T]


def read_rows(
    file: File,
    rows: Ints,
    starts: Ints | None = None,
    ends: Ints | None = None,
    keys: Sequence[str] | None = None,
) -> _core.Joint:
    """The rows, in the given order, as new columns; of each row only `[starts, ends)` of its first level.

    It opens the file once, reads the ends of each level once, and then the values of all keys at once.
    Windows clip as slices do. A file that was replaced raises StaleFileError.
    """
    return run_steps(file, steps_of_rows(file, rows, starts, ends, keys))


def run_steps(file: File, steps: Steps[_T]) -> _T:
    """The result of steps, by reads of one file."""
    reader = file.reader()
    try:
        ranges = next(steps)
        while True:
            ranges = steps.send(reader.read(*ranges))
    except StopIteration as stop:
        result: _T = stop.value
        return result
    finally:
        reader.close()


def steps_of_rows(
    file: File,
    rows: Ints,
    starts: Ints | None = None,
    ends: Ints | None = None,
    keys: Sequence[str] | None = None,
) -> Steps[_core.Joint]:
    """The same step by step: it yields ranges of the data, and is sent their bytes, end to end."""
    own_keys = [name for name in (file.names if keys is None else keys) if file.fields[name].dim >= 0]
    dims = [file.fields[name].dim for name in own_keys]
    depth = file.depth if keys is None else max(dims, default=0)
    if depth == 0 and not (starts is None and ends is None):
        raise value_error("", "starts, ends: rows without a level have no windows")
    begins, stops = rows, rows + 1
    levels: list[_core.Level] = []
    spans = [(begins, stops)]
    for number in range(1, depth + 1):
        lengths, begins, stops = yield from _descend(file, number, begins, stops)
        if number == 1:
            begins, stops = clip_windows(begins, stops, starts, ends)
            lengths = stops - begins
        levels.append(_core.Level.from_lengths(lengths))
        spans.append((begins, stops))
    values = yield from _read_values(file, own_keys, spans)
    return _core.Joint(own_keys, dims, values, levels, len(rows))


def _read_values(file: File, names: Sequence[str], spans: Sequence[tuple[Ints, Ints]]) -> Steps[list[Array]]:
    """The values of keys under the spans of their dims, by one read: a server gets all its ranges at once."""
    entries = [file.entry(name) for name in names]
    places = [
        (file.fields[name], entry.dtype, *_byte_range(file, entry.number))
        for name, entry in zip(names, entries, strict=True)
    ]
    if not places:
        return []
    begins = [first_byte + spans[field.dim][0] * width for field, _, first_byte, width in places]
    stops = [first_byte + spans[field.dim][1] * width for field, _, first_byte, width in places]
    raw = yield np.concatenate(begins), np.concatenate(stops)
    out, offset = [], 0
    for field, dtype, _, width in places:
        first, last = spans[field.dim]
        rows = int((last - first).sum())
        part = raw[offset : offset + rows * width]
        offset += rows * width
        if part.ctypes.data % dtype.alignment:
            part = part.copy()
        out.append(part.view(dtype).reshape(rows, *field.trailing))
    return out


def clip_windows(begins: Ints, stops: Ints, starts: Ints | None, ends: Ints | None) -> tuple[Ints, Ints]:
    """Each range cut to its window, which counts from the range's begin, or from its end if negative.

    >>> clip_windows(np.array([10, 20]), np.array([15, 22]), np.array([1, -1]), np.array([3, 99]))
    (array([11, 21]), array([13, 22]))
    """
    lengths = stops - begins
    first = np.zeros_like(lengths) if starts is None else _clip(starts, lengths)
    last = lengths if ends is None else _clip(ends, lengths)
    return begins + first, begins + np.maximum(first, last)


def _clip(ends: Ints, lengths: Ints) -> Ints:
    return np.clip(np.where(ends < 0, ends + lengths, ends), 0, lengths)


def _byte_range(file: File, index: int) -> tuple[int, int]:
    """The start of a tensor's data, and the bytes of one of its rows."""
    _, tag, shape, begin, _ = file.header.describe(index)
    width = dtype_of(tag).itemsize
    for size in shape[1:]:
        width *= size
    return begin, width


def _descend(file: File, number: int, begins: Ints, stops: Ints) -> Steps[tuple[Ints, Ints, Ints]]:
    """Lengths of the sequences [begins, stops) of a level, end to end, and the rows below each range."""
    has_rows = stops > begins
    first, last = begins[has_rows], stops[has_rows]
    sizes = last - first
    ends = yield from _ends(file, number, first, last)
    # Each range brings the end before its first sequence, 0 for the very first: lengths are differences.
    tail = np.cumsum(sizes + 1)
    head = tail - sizes - 1
    lengths = np.diff(ends)
    is_inside = np.ones(len(lengths), bool)
    is_inside[tail[:-1] - 1] = False
    lengths = lengths[is_inside]
    limit = file.layout.rows[number]
    bad = np.flatnonzero(lengths < 0)
    if len(bad) or (len(ends) and (ends[head].min() < 0 or (limit >= 0 and ends[tail - 1].max() > limit))):
        where = np.repeat(first - np.cumsum(sizes) + sizes, sizes)[bad[:1]] + bad[:1]
        what = (
            f"row {where[0]} ends before the row in front of it"
            if len(bad)
            else f"an end is not in 0 to {limit}"
        )
        raise format_error(file.path, f"dim{number}/bounds: {what}")
    next_begins = np.zeros(len(begins), np.int64)
    next_stops = np.zeros(len(begins), np.int64)
    next_begins[has_rows] = ends[head]
    next_stops[has_rows] = ends[tail - 1]
    return lengths, next_begins, next_stops


def _ends(file: File, number: int, first: Ints, last: Ints) -> Steps[Ints]:
    """For each range of sequences the end before it, then its own ends; all ranges in one array."""
    index = file.layout.bounds[number - 1]
    if file.is_remote:
        all_ends = yield from cast("RemoteFile", file).level_ends(number)
        if all_ends is not None:
            return _cut_ends(all_ends, first, last)
    lead = first > 0
    if index >= 0:
        begin, width = _byte_range(file, index)
        tag = file.header.describe(index)[1]
        raw = yield begin + (first - lead) * width, begin + last * width
        ends: Ints = raw.view(dtype_of(tag)).astype(np.int64, copy=False)
    else:  # lengths only: the level was added up when it was first asked for
        offsets = file.owned_level(number).offsets
        return np.concatenate([offsets[:0], *(offsets[a : b + 1] for a, b in zip(first, last, strict=True))])
    missing = np.cumsum(last - first + lead) - (last - first)
    return np.insert(ends, missing[~lead], 0)


def _cut_ends(ends: Ints, first: Ints, last: Ints) -> Ints:
    """The same from the ends of the whole level.

    >>> _cut_ends(np.array([2, 3, 7]), np.array([0, 2]), np.array([1, 3]))
    array([0, 2, 3, 7])
    """
    sizes = last - first + 1
    tail = np.cumsum(sizes)
    places = np.repeat(first - tail + sizes - 1, sizes) + np.arange(int(sizes.sum()))
    cut: Ints = np.where(places < 0, 0, ends[np.maximum(places, 0)]) if len(ends) else places * 0
    return cut


def wanted_ranges(file: File, rows: Ints, starts: Ints | None, ends: Ints | None) -> tuple[Ints, Ints]:
    """Bytes of the data of a mapped file that the rows need, in the file's order; reads their bounds."""
    begins, stops = rows, rows + 1
    out = []
    for dim in range(file.depth + 1):
        if dim > 0:
            level = file.level(dim)
            bounds = level.bounds if isinstance(level, _core.Level) else level
            has_rows = stops > begins
            begins, stops = (
                np.where(has_rows & (begins > 0), bounds[np.maximum(begins - 1, 0)], 0)
                if len(bounds)
                else begins * 0,
                np.where(has_rows, bounds[np.maximum(stops - 1, 0)], 0) if len(bounds) else stops * 0,
            )
            if dim == 1:
                begins, stops = clip_windows(begins, stops, starts, ends)
        for name, field in file.fields.items():
            if field.dim == dim:
                begin, width = _byte_range(file, file.entry(name).number)
                out.append((begin + begins * width, begin + stops * width))
    if not out:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    firsts, lasts = (np.concatenate(part) for part in zip(*out, strict=True))
    order = np.argsort(firsts, kind="stable")
    return firsts[order], lasts[order]


def as_window(value: object, count: int) -> Ints:
    """The starts or ends of windows, one per row."""
    window = np.asarray(refuse_mask(value, "starts, ends"))
    if window.dtype.kind not in "iu" and window.size:
        raise type_error("", f"starts, ends: expected integers, got {window.dtype}")
    if window.dtype == np.uint64:
        window = np.minimum(window, np.uint64(np.iinfo(np.int64).max))  # windows clip
    if window.shape not in ((), (count,)):
        raise value_error("", f"starts, ends: expected one a row, {count}, got shape {window.shape}")
    return np.broadcast_to(window.astype(np.int64), (count,))
