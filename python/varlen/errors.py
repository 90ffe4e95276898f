"""Errors are records: each knows its argument, what is wrong and what to do; the text is made of that.

`argument`, `reason` and `advice` are attributes, as are `code`, `row` and `number` where there are some. The
core raises such errors too. A caller that has other names for arguments, or other places of rows, changes the
attribute, never the text.
"""

from __future__ import annotations

from typing import Any, TypeGuard, TypeVar

__all__: list[str] = []

RaisedT = TypeVar("RaisedT", bound=BaseException)


def error_of(kind: type[Exception], argument: str, reason: str, advice: str = "") -> Exception:
    """An error that knows its argument, as those of the core do; `name_argument` gives it another."""
    error: Any = kind("")
    error.argument, error.reason, error.advice = argument, reason, advice
    named: Exception = name_argument(error, argument)
    return named


def row_error(
    argument: str, fault: str, row: int, rest: str = "", advice: str = "", code: str = ""
) -> ValueError:
    """An error about the value of a column in a row; `place_row` says where that row is."""
    error: Any = ValueError("")
    error.argument, error.fault, error.rest, error.advice, error.code = argument, fault, rest, advice, code
    placed: ValueError = place_row(error, row)
    return placed


def place_row(error: RaisedT, place: int | str) -> RaisedT:
    """The same error of `row_error` about another row, or with where that row is in words."""
    record: Any = error
    if isinstance(place, int):
        record.row, place = place, f"at row {place}"
    record.reason = f"{record.fault} {place}{record.rest}"
    return name_argument(error, record.argument)


class _OfRow(ValueError):
    """What type checkers see of an error of `row_error`."""

    argument: str
    fault: str
    rest: str
    advice: str
    code: str
    row: int


def is_of_row(error: BaseException) -> TypeGuard[_OfRow]:
    """Whether `row_error` made it."""
    return hasattr(error, "fault")


def name_argument(
    error: RaisedT, to: str | None = None, /, *, advice: str | None = None, **names: str
) -> RaisedT:
    """The same error about an argument of the caller: `to`, or what its own argument is called in `names`.

    An error that knows no argument stays as it is.
    """
    record: Any = error
    argument = getattr(record, "argument", None)
    if argument is None or (to is None and argument not in names):
        return error
    record.argument = names[argument] if to is None else to
    record.advice = getattr(record, "advice", "") if advice is None else advice
    fault = f"{record.argument}: {record.reason}" if record.argument else record.reason
    record.args = (f"{fault}; {record.advice}" if record.advice else fault,)
    return error


class naming:
    """Names the arguments of the caller in errors of the block, as `name_argument` does.

    It costs some hundred nanoseconds; what small calls pass catches the error and calls that.
    """

    __slots__ = ("_advice", "_names", "_to")

    def __init__(self, to: str | None = None, /, *, advice: str | None = None, **names: str) -> None:
        self._to, self._advice, self._names = to, advice, names

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if error is not None:
            name_argument(error, self._to, advice=self._advice, **self._names)
