"""Wrong rows of an input, gathered to name each, and errors that name their file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from varlen.cli.errors import one_line
from varlen.errors import as_record, name_file

__all__ = ["Findings", "WrongRows", "different_lists", "naming_file"]

#: Lines that are printed; what comes after them is counted.
_SHOWN = 20


class WrongRows(ValueError):
    """Rows of an input are wrong: `errors` are records of the first ones, `rest` says how many there are."""

    def __init__(self, errors: list[Exception], rest: list[str]) -> None:
        self.lines = [*map(one_line, errors), *rest]
        super().__init__("; ".join(self.lines))
        self.errors, self.rest = errors, rest

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.errors, self.rest)


class Findings:
    """Errors of rows, gathered until the whole input is read, so that one run names them all."""

    def __init__(self) -> None:
        self._errors: list[Exception] = []
        self.count = 0
        self._is_left = False

    def add(self, wrong: Exception) -> None:
        """Adds a wrong row."""
        self.count += 1
        if len(self._errors) < _SHOWN:
            self._errors.append(wrong.with_traceback(None))

    @property
    def is_full(self) -> bool:
        """Whether further errors would not be printed."""
        return len(self._errors) >= _SHOWN

    def leave_rest(self) -> None:
        """Notes that there are more errors, which are not counted."""
        self._is_left = True

    @contextlib.contextmanager
    def gather(self) -> Iterator[None]:
        """Adds the ValueError or TypeError of the block, and continues after it."""
        try:
            yield
        except (ValueError, TypeError) as wrong:
            self.add(wrong)

    def finish(self) -> None:
        """Raises the findings, if there are any."""
        if self.count == 1:
            raise WrongRows(self._errors, [])
        if self.count:
            excess = self.count - len(self._errors)
            rest = [f"and {excess:,} more"] if excess else []
            number = f"more than {self.count:,}" if self._is_left else f"{self.count:,}"
            raise WrongRows(self._errors, [*rest, f"{number} wrong rows, nothing was written"])


#: What to do about keys whose lists differ.
APART = "keys of a file have as many values each: convert them into files of their own with --columns"


def different_lists(key: str, mine: int, other: str, others: int) -> str:
    """The reason why the lists of two keys cannot nest together, without its place."""
    return f"{key!r} has a list of {mine:,} where {other!r} has one of {others:,},"


@contextlib.contextmanager
def naming_file(path: Path | str, kinds: tuple[type[Exception], ...] = (Exception,)) -> Iterator[None]:
    """Errors of these kinds name the file that is read, unless they know another."""
    try:
        yield
    except WrongRows:
        raise
    except kinds as wrong:
        raise name_file(as_record(wrong, ValueError, text=one_line(wrong)), path, ValueError) from None
