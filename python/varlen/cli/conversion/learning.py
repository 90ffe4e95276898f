"""Dtypes, depths and words that hold for all inputs, learned in one pass: at once, or part by part.

A reader keeps what it has learned from one file to the next. Parts that are read apart tell the same if all
of them have the same keys, depths and kinds; `merge_lessons` says where they do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen.cli.conversion.plan import ConversionPlan
from varlen.errors import file_error, type_error, value_error

if TYPE_CHECKING:
    from varlen.cli.conversion.static import StaticUse

__all__: list[str] = []

_UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
_SIGNED = (np.int8, np.int16, np.int32, np.int64)


class PieceRange(NamedTuple):
    """The dtype of a key's values in one piece, and their span."""

    dtype: np.dtype
    low: Any
    high: Any
    has_values: bool

    @classmethod
    def from_values(cls, values: np.ndarray) -> PieceRange:
        """The range of an array."""
        return cls(values.dtype, *_span(values), values.size > 0)


@dataclass
class ValueRange:
    """The range of a key's values: the dtype that holds all pieces, and the span of the numbers."""

    dtype: np.dtype | None = None
    low: Any = None
    high: Any = None
    most_whole: int = 0  # of the integers, without their signs
    has_values: bool = False

    def add(self, piece: PieceRange) -> None:
        """Adds another piece; an empty one counts only if nothing else gives the dtype."""
        dtype, low, high, has_values = piece
        if low is not None:
            self.low = low if self.low is None else min(self.low, low)
            self.high = high if self.high is None else max(self.high, high)
            if dtype.kind in "iu":
                self.most_whole = max(self.most_whole, abs(low), abs(high))
        if self.dtype is None or (has_values and not self.has_values):
            self.dtype = dtype
        elif has_values:
            kinds = {self.dtype.kind, dtype.kind}
            if len(kinds) > 1 and kinds & set("mM"):
                raise type_error("", f"{self.dtype} and {dtype}")
            self.dtype = self._promote(dtype)
        self.has_values |= has_values

    def _promote(self, other: np.dtype) -> np.dtype:
        """NumPy's promotion, except that integers stay integers if one dtype holds them."""
        assert self.dtype is not None
        dtype = np.promote_types(self.dtype, other)
        if dtype.kind != "f" or "f" in (self.dtype.kind, other.kind):
            return dtype
        if self.low >= 0:
            return np.dtype(np.uint64)
        return np.dtype(np.int64) if self.high < 2**63 else dtype

    def check(self, name: str) -> None:
        """Refuses a float dtype for integers that it cannot hold."""
        if self.dtype is not None and self.dtype.kind == "f" and self.most_whole > 2**53:
            raise value_error(
                name,
                f"{self.most_whole} is beyond the integers of {self.dtype}, which holds the other values",
                f"see --types, as in {name}={self.dtype} or {name}=str",
            )

    def narrowest(self) -> np.dtype | None:
        """The narrowest dtype that holds every value; floats become float32 if their span allows."""
        if self.dtype is None or self.low is None or self.dtype.kind not in "iuf":
            return self.dtype
        if self.dtype.kind == "f":
            fits = max(abs(self.low), abs(self.high)) <= np.finfo(np.float32).max
            return np.dtype(np.float32) if fits and self.dtype.itemsize > 4 else self.dtype
        for kind in _UNSIGNED if self.low >= 0 else _SIGNED:
            if np.iinfo(kind).min <= self.low and self.high <= np.iinfo(kind).max:
                return np.dtype(kind)
        return self.dtype


def _span(values: np.ndarray) -> tuple[Any, Any]:
    """The least and the greatest finite number; 0 if none is finite, None for other values."""
    if values.size == 0 or values.dtype.kind not in "iufb":
        return None, None
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    return (finite.min().item(), finite.max().item()) if finite.size else (0, 0)


class PartLessons(NamedTuple):
    """What a part tells: its plan, its number of rows, and the ranges of its keys, piece by piece."""

    plan: ConversionPlan
    rows: int
    ranges: dict[str, list[PieceRange]]
    null_lists: set[str]
    static_uses: list[StaticUse]


#: What a plan learns beside its words, and what JSON makes of it.
_LISTS = {"with_nulls": set, "keys": list}
_PLAIN = ("levels", "depths", "fields", "booleans", "has_long", "has_bools")


def note_of(lessons: PartLessons) -> dict[str, Any]:
    """The lessons of a part without static tables, as JSON has them."""
    plan = lessons.plan
    state = {name: [*getattr(plan, name)] for name in _LISTS} | {n: getattr(plan, n) for n in _PLAIN}
    state |= {"trailing": plan.trailing, "words": plan.words.state}
    state["zones"] = {name: [*own.items()] for name, own in plan.time_zones.items()}
    ranges = {name: [[p.dtype.str, *p[1:]] for p in pieces] for name, pieces in lessons.ranges.items()}
    return {"rows": lessons.rows, "ranges": ranges, "null_lists": [*lessons.null_lists], "state": state}


def lessons_of(plan: ConversionPlan, note: Mapping[str, Any]) -> PartLessons:
    """The lessons in a note, of a part of the plan."""
    own, state = plan.part(plan.inputs), note["state"]
    for name in _PLAIN:
        setattr(own, name, state[name])
    for name, kind in _LISTS.items():
        setattr(own, name, kind(state[name]))
    own.trailing = {name: tuple(shape) for name, shape in state["trailing"].items()}
    own.time_zones = {name: dict(zones) for name, zones in state["zones"].items()}
    own.words = plan.words.with_state(state["words"])
    ranges = {
        name: [PieceRange(np.dtype(dtype), *span) for dtype, *span in pieces]
        for name, pieces in note["ranges"].items()
    }
    return PartLessons(own, note["rows"], ranges, {*note["null_lists"]}, [])


def learn_dtypes(plan: ConversionPlan, *, narrow: bool) -> int:
    """Learns in one pass the dtype that holds all pieces of each key, the depths and the vocabularies.

    Returns the number of rows.
    """
    spans, late = _read_spans(plan)
    if late:
        spans, _ = _read_spans(plan)
    _settle_dtypes(plan, spans, plan.rows_read, narrow)
    return plan.rows_read


def learn_part(plan: ConversionPlan) -> PartLessons:
    """What the files of a plan tell alone."""
    ranges: dict[str, list[PieceRange]] = {}
    if _read_spans(plan, ranges)[1]:
        ranges = {}
        _read_spans(plan, ranges)
    null_lists = set() if plan.lines else plan.tables.null_lists
    uses = [table.use for table in plan.static_tables]
    return PartLessons(plan.part(plan.inputs), plan.rows_read, ranges, null_lists, uses)


def merge_lessons(plan: ConversionPlan, lessons: Sequence[PartLessons], *, narrow: bool) -> int | None:
    """Gives the plan what the parts tell together, as one pass over all of them would, and returns the rows.

    Returns None, and changes nothing, if parts differ in what a reader takes from one file to the next.
    """
    parts = [part for part in lessons if part.rows]
    if not parts or not _agree([part.plan for part in parts]):
        return None
    spans: dict[str, ValueRange] = {}
    try:
        for part in parts:
            for name, pieces in part.ranges.items():
                span = spans.setdefault(name, ValueRange())
                for piece in pieces:
                    span.add(piece)
        for name, span in spans.items():
            if name not in plan.wanted_types:
                span.check(name)
    except (TypeError, ValueError):
        return None
    first = parts[0].plan
    for name in ("levels", "trailing", "depths", "keys", "fields"):
        setattr(plan, name, getattr(first, name))
    for part in parts:
        own = part.plan
        plan.with_nulls |= own.with_nulls
        plan.has_long |= own.has_long
        plan.has_bools |= own.has_bools
        plan.booleans |= own.booleans
        for name, zones in own.time_zones.items():
            plan.time_zones[name] = zones | plan.time_zones.get(name, {})
        plan.words.add(own.words)
        if not plan.lines:
            plan.tables.null_lists |= part.null_lists
        for table, use in zip(plan.static_tables, part.static_uses, strict=True):
            table.add_use(use)
    rows = sum(part.rows for part in parts)
    _settle_dtypes(plan, spans, rows, narrow)
    return rows


def _agree(plans: Sequence[ConversionPlan]) -> bool:
    """Whether a reader of all would have read each of them as it was read alone."""
    kinds = [
        (
            plan.levels,
            plan.trailing,
            plan.depths,
            set(plan.keys),
            {name: set(fields) for name, fields in plan.fields.items()},
            set(plan.words.keys),
        )
        for plan in plans
    ]
    flags: dict[str, set[bool]] = {}
    zones: dict[str, set[int]] = {}
    for plan in plans:
        for name, is_bool in plan.booleans.items():
            flags.setdefault(name, set()).add(is_bool)
        for name, examples in plan.time_zones.items():
            zones.setdefault(name, set()).update(examples)
    counts = [*map(len, flags.values()), *map(len, zones.values())]
    return max(counts, default=0) < 2 and all(kind == kinds[0] for kind in kinds)


def _settle_dtypes(plan: ConversionPlan, spans: dict[str, ValueRange], rows: int, narrow: bool) -> None:
    """Gives the plan the dtypes of its keys, of so many rows."""
    if plan.lines and not spans and rows:
        raise file_error(plan.inputs[0].path, f"{rows:,} records, but none of them has a value")
    for name, span in spans.items():
        if name not in plan.wanted_types:
            span.check(name)
        dtype = span.narrowest() if narrow else span.dtype
        if dtype is not None and name not in plan.fields:
            plan.dtypes[name] = dtype
    plan.is_learned = True
    for name in plan.types:
        if name not in plan.dtypes:
            raise value_error("--types", f"no key {name!r}; there are {', '.join(plan.dtypes)}")


def _read_spans(
    plan: ConversionPlan, ranges: dict[str, list[PieceRange]] | None = None
) -> tuple[dict[str, ValueRange], bool]:
    """The range of each key's values, and whether a key came late, or turned out late to hold words.

    If so, earlier nulls were not seen, or seen as numbers. `ranges` take those of each piece.
    """
    spans: dict[str, ValueRange] = {}
    bare: set[str] = set()
    plan.levels, plan.with_nulls = {}, set()
    is_new, is_first = False, True
    for joint in plan.read("reading"):
        is_new |= not is_first and any(name not in spans for name in joint.names)
        is_first = False
        for name in joint.names:
            plan.levels[name] = joint.dim(name) or 0
            values = joint.values(name)
            plan.trailing[name] = values.shape[1:]
            if (
                values.dtype.kind in "fmM"
                and (np.isnan(values) if values.dtype.kind == "f" else np.isnat(values)).any()
            ):
                plan.with_nulls.add(name)
            piece = PieceRange.from_values(values)
            if ranges is not None:
                ranges.setdefault(name, []).append(piece)
            try:
                spans.setdefault(name, ValueRange()).add(piece)
            except TypeError:
                kinds = f"{spans[name].dtype} and {values.dtype}"
                raise value_error(
                    f"{plan.reading}: {name}", f"no dtype holds both {kinds}", "see --types"
                ) from None
            if name not in plan.words:
                bare.add(name)
    return spans, is_new or any(name in plan.words for name in bare)
