"""Places of input rows: their file, and the line or the row in it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import NamedTuple

from varlen.cli.conversion.inputs import Input, open_bytes

__all__ = ["Places", "RowPlace", "lines_of"]


class RowPlace(NamedTuple):
    """The place of a row: its file, its number there, and the word for it."""

    file: Input
    row: int
    name: str


class Places:
    r"""Files in the order of their rows, and the place of each row."""

    def __init__(self) -> None:
        self._starts: list[tuple[int, Input]] = []
        self._line_numbers: _LineNumbers | None = None

    def begin(self, one: Input, row: int) -> None:
        """Notes the row, counted over all files, at which a file begins."""
        self._starts.append((row, one))

    @property
    def start(self) -> int:
        """The row, counted over all files, at which the last file begins."""
        return self._starts[-1][0]

    def locate(self, row: int) -> RowPlace:
        """The place of a row, counted over all files: a row of a file, or a line of text."""
        start, one = [item for item in self._starts if item[0] <= row][-1]
        if one.kind not in ("csv", "lines"):
            return RowPlace(one, row - start, f"row {row - start}")
        if self._line_numbers is None or self._line_numbers.one is not one:
            self._line_numbers = _LineNumbers(one)
        return RowPlace(one, row - start, f"line {self._line_numbers.line_of(row - start)}")


class _LineNumbers:
    """The first lines of rows; it reads the file as far as needed, and again to go back."""

    def __init__(self, one: Input) -> None:
        self.one = one
        self._lines = lines_of(one)
        self._row = self._line = -1

    def line_of(self, row: int) -> int:
        if row < self._row:
            self._lines, self._row = lines_of(self.one), -1
        while self._row < row:
            self._line = next(self._lines)[0]
            self._row += 1
        return self._line


def lines_of(one: Input) -> Iterator[tuple[int, list[str]]]:
    """The first line of each row of CSV after the header, or of JSON lines, and the fields of CSV.

    Empty lines hold no row.
    """
    with open_bytes(one) as (content, _):
        if one.kind == "lines":
            for number, raw in enumerate(content, 1):
                if raw.strip():
                    yield number, []
            return
        text = io.TextIOWrapper(content, "utf-8-sig", "replace", newline="")
        reader = csv.reader(text, delimiter=one.delimiter)
        line, is_header = 1, True
        for fields in reader:
            if fields and not is_header:
                yield line, fields
            is_header &= not fields
            line = reader.line_num + 1
