"""The kind of a column's texts: numbers that give the same text back, times, or words.

A text is a number if nobody would read it as anything else: it has no leading zero or plus, and the number
holds every digit. Zeros at the end of a decimal, the form of an exponent and spaces around it do not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from varlen.cli.conversion.typed_texts import comes_back
from varlen.errors import value_error

__all__ = ["TextColumn"]

_DAY = r"\d{4}-\d\d-\d\d"
_CLOCK = r"[T ]\d\d(?::\d\d(?::\d\d(?:\.\d{1,9})?)?)?"
_ZONE = r"(?:Z|[-+]\d\d(?::?\d\d)?)"
_PATTERNS = {
    "positive": r"^[ \t]*(?:0|[1-9][0-9]*)[ \t]*$",
    "negative": r"^[ \t]*-[1-9][0-9]*[ \t]*$",
    "real": r"^[ \t]*-?(?:(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
    r"|(?i:inf(?:inity)?|nan))[ \t]*$",
    "odd": r"^[ \t]*[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?[ \t]*$",
    "bool": r"^(?:true|True|TRUE|false|False|FALSE)$",
    "date": f"^{_DAY}$",
    "naive": f"^{_DAY}{_CLOCK}$",
    "zoned": f"^{_DAY}{_CLOCK}{_ZONE}$",
}
_WHOLE = ("positive", "negative")
_NUMBERS = (*_WHOLE, "real")
_TIMES = ("date", "naive", "zoned")
#: Numbers that may have more digits than a double, or an exponent that it has not.
_LONG = r"[0-9.]{16,}|[eE][-+]?[0-9]{3,}"
_UNITS = ("s", "us", "ns")


@dataclass
class TextColumn:
    """The texts of one column, over all pieces of all files."""

    first: dict[str, _FoundText] = field(default_factory=dict)  # of each kind
    no_double: _FoundText | None = None  # a whole number that is another one as a double
    maximum: int = 0
    minimum: int = 0
    units: set[str] = field(default_factory=lambda: set(_UNITS))

    def add(self, texts: pa.Array, where: Callable[[int], str]) -> None:
        """Adds another piece; nulls do not count. `where` gives the place of a row."""
        rows = np.flatnonzero(texts.is_valid().to_numpy(zero_copy_only=False))
        texts = texts.drop_null()
        for kind, pattern in _PATTERNS.items():
            if len(texts) == 0:
                return
            hits = pc.match_substring_regex(texts, pattern)
            is_hit = hits.to_numpy(zero_copy_only=False)
            if is_hit.any():
                self._take(kind, _Piece(texts.filter(hits), rows[is_hit], where))
                texts, rows = texts.filter(pc.invert(hits)), rows[~is_hit]
        if len(texts):
            self._note("text", _Piece(texts, rows, where), 0)

    def __iadd__(self, later: TextColumn) -> TextColumn:
        """Adds the texts of a later file."""
        self.first = {**self.first, **{k: text for k, text in later.first.items() if k not in self.first}}
        self.no_double = self.no_double or later.no_double
        self.maximum, self.minimum = max(self.maximum, later.maximum), min(self.minimum, later.minimum)
        self.units &= later.units
        return self

    def type(self) -> pa.DataType:
        """The type that gives all texts back."""
        kinds = self.first.keys()
        if kinds <= set(_WHOLE):
            if not kinds:
                return pa.null()
            if self.maximum < 2**63 and self.minimum >= -(2**63):
                return pa.int64()
            return pa.uint64() if self.minimum >= 0 and self.maximum < 2**64 else pa.string()
        if kinds <= set(_NUMBERS):
            return pa.float64() if self.no_double is None else pa.string()
        if kinds <= {"bool"}:
            return pa.bool_()
        if kinds <= {"date"}:
            return pa.date32()
        if kinds <= set(_TIMES):
            self.check_zones()
            unit = next((unit for unit in ("s", "ns", "us") if unit in self.units), None)
            return pa.string() if unit is None else pa.timestamp(unit, "UTC" if self.is_zoned else None)
        return pa.string()

    @property
    def is_zoned(self) -> bool:
        """Whether some time has a zone."""
        return "zoned" in self.first

    def check_zones(self) -> None:
        """Refuses times of which only some have a zone."""
        naive_text = self.first.get("naive") or self.first.get("date")
        if self.is_zoned and naive_text:
            raise value_error(
                "",
                f"{self.first['zoned']} has a zone, {naive_text} has none",
                "give all times a zone or none of them",
            )

    def note(self) -> str | None:
        """The reason why a column is text although some of it looks like numbers or times."""
        others = [kind for kind in self.first if kind not in ("text", "odd")]
        if self.type() != pa.string() or not (others or "odd" in self.first):
            return None
        if "odd" in self.first:
            return f"{self.first['odd']} does not come back from a number"
        if "text" in self.first:
            return f"{self.first[others[0]]} is {_NAMES[others[0]]}, {self.first['text']} is none"
        if not {*others} <= set(_NUMBERS):
            return f"{self.first[others[0]]} is {_NAMES[others[0]]}, {self.first[others[-1]]} is none"
        if "real" in others:
            return f"{self.no_double} does not come back from float64, the type of the others"
        return f"its whole numbers, {self.minimum} to {self.maximum}, fit neither int64 nor uint64"

    def _note(self, kind: str, piece: _Piece, i: int) -> None:
        self.first.setdefault(kind, piece.text_at(i))

    def _take(self, kind: str, piece: _Piece) -> None:
        if kind in _WHOLE:
            self._note(kind, piece, 0)
            self._take_whole(piece)
        elif kind == "real":
            wrong = _first_lost(piece.texts)
            self._note(kind, piece, 0)
            if wrong is not None:
                self._note("odd", piece, wrong)
        elif kind in _TIMES:
            self._take_times(kind, piece)
        else:
            self._note(kind, piece, 0)

    def _take_whole(self, piece: _Piece) -> None:
        lengths = pc.utf8_length(piece.texts).to_numpy()
        if lengths.max() <= 15:
            self.minimum = min(self.minimum, -int("-" in piece.texts[0].as_py()))
            return
        long = lengths > 18
        short = pc.utf8_trim(piece.texts.filter(pa.array(~long)), " \t").cast(pa.int64()).to_numpy()
        misfits = np.flatnonzero(short.astype(np.float64).astype(np.int64) != short)
        places = np.flatnonzero(~long)[misfits[:1]].tolist()
        numbers = [int(short.min()), int(short.max())] if len(short) else []
        for i in np.flatnonzero(long).tolist():
            number = int(piece.texts[i].as_py())
            numbers.append(number)
            if not places and int(float(number)) != number:
                places.append(i)
        self.maximum, self.minimum = max(self.maximum, *numbers), min(self.minimum, *numbers)
        if places and self.no_double is None:
            self.no_double = piece.text_at(places[0])

    def _take_times(self, kind: str, piece: _Piece) -> None:
        kinds = {unit: pa.timestamp(unit, "UTC" if kind == "zoned" else None) for unit in _UNITS}
        fits = {unit for unit in _UNITS if _parses(piece.texts, kinds[unit])}
        if not fits:  # a month 13, say, or a fraction finer than its year allows
            for i in range(len(piece.texts)):
                if not any(_parses(piece.texts.slice(i, 1), kinds[unit]) for unit in _UNITS):
                    self._note("text", piece, i)
                    break
        self.units &= fits
        self._note(kind, piece, 0)


_NAMES = dict.fromkeys(_NUMBERS, "a number") | dict.fromkeys(_TIMES, "a time") | {"bool": "true or false"}


@dataclass(frozen=True)
class _FoundText:
    """A text, whose place is found on demand."""

    text: str
    row: int
    where: Callable[[int], str]

    def __str__(self) -> str:
        return f"{self.text!r} ({self.where(self.row)})"


@dataclass(frozen=True)
class _Piece:
    """Texts of one kind, and their places."""

    texts: pa.Array
    rows: Any
    where: Callable[[int], str]

    def text_at(self, i: int) -> _FoundText:
        return _FoundText(self.texts[i].as_py(), int(self.rows[i]), self.where)


def _parses(texts: pa.Array, kind: pa.DataType) -> bool:
    try:
        texts.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _first_lost(texts: pa.Array) -> int | None:
    """The first real number whose digits a double does not give back."""
    long = np.flatnonzero(pc.match_substring_regex(texts, _LONG).to_numpy(zero_copy_only=False))
    if not len(long):
        return None
    texts = pc.utf8_trim(texts.take(pa.array(long)), " \t")
    shortest = texts.cast(pa.float64()).cast(pa.string())  # as most programs write them
    for i in np.flatnonzero(pc.not_equal(texts, shortest).to_numpy(zero_copy_only=False)).tolist():
        if not comes_back(texts[i].as_py()):
            return int(long[i])
    return None
