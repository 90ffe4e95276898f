"""Errors are records: each knows its argument, its reason and its advice, which make up the text.

`argument`, `reason` and `advice` are attributes. An error may also have `file`, `place` (in the file, in
words), `context` (the operation or object, in words), `code`, `row` and `number`. The core raises these
errors too. A caller that has other names for arguments, or knows the file or the place of a row in it,
changes the attribute, never the text.
"""

from __future__ import annotations

import copyreg
import operator
import os
from collections.abc import Iterable
from functools import partial
from typing import Any, SupportsIndex, TypeGuard, TypeVar, Union

from varlen import tracing

__all__: list[str] = []

RaisedT = TypeVar("RaisedT", bound=BaseException)
ErrorT = TypeVar("ErrorT", bound=Exception)
StrPath = Union[str, "os.PathLike[str]"]

_PLAIN = (ValueError, TypeError, OverflowError, IndexError, KeyError, RuntimeError)


def error_of(
    kind: type[ErrorT],
    argument: str,
    reason: str,
    advice: str = "",
    *,
    file: StrPath = "",
    place: str = "",
    context: str = "",
    row: SupportsIndex | None = None,
    number: object = None,
) -> ErrorT:
    """An error about an argument, a row or a file, with the same fields as errors of the core."""
    if tracing.is_tracing():  # errors in a graph have no attributes
        return kind(_text(argument, reason, advice, context))
    error: Any = kind("")
    error.reason = reason
    if row is not None:
        error.row = operator.index(row)
    if number is not None:
        error.number = number
    fields = {"argument": argument, "advice": advice, "file": os.fspath(file), "place": place}
    fields["context"] = context
    result: ErrorT = with_fields(error, **{name: value for name, value in fields.items() if value})
    return result


value_error = partial(error_of, ValueError)
type_error = partial(error_of, TypeError)
index_error = partial(error_of, IndexError)
overflow_error = partial(error_of, OverflowError)


def instance_error(
    argument: str, expected: str, value: object, advice: str = "", *, row: SupportsIndex | None = None
) -> TypeError:
    """An error about a value of another class, "a Ragged" say."""
    return type_error(argument, f"expected {expected}, got {type(value).__name__}", advice, row=row)


def dtype_error(argument: str, expected: str, dtype: object, advice: str = "") -> TypeError:
    """An error about an array of another kind of dtype, "integers" say."""
    return type_error(argument, f"expected {expected}, got {dtype}", advice)


def contract_error(kind: type[ErrorT], argument: str, text: str) -> ErrorT:
    """An error in the words of another system, whose text names the argument itself."""
    error: Any = error_of(kind, "", text)
    if not tracing.is_tracing():
        error.argument, error.is_whole = argument, True
    result: ErrorT = error
    return result


def file_error(file: StrPath, reason: str, argument: str = "", place: str = "") -> ValueError:
    """An error about a file, or about an argument in it."""
    return error_of(ValueError, argument, reason, file=file, place=place)


def twin_error(argument: str, name: str, rest: str = "", file: StrPath = "") -> ValueError:
    """An error about two columns with the same name."""
    return value_error(argument, f"two columns have the name {name!r}{rest}", file=file)


def no_column_error(
    argument: str, name: str, columns: Iterable[str], hint: str = "", file: StrPath = ""
) -> ValueError:
    """An error about a column that is not among those of a table."""
    return value_error(argument, f"no column {name!r}{hint}; there are {', '.join(columns)}", file=file)


def row_error(
    argument: str, fault: str, row: int, rest: str = "", advice: str = "", code: str = ""
) -> ValueError:
    """An error about the value of a column in a row; `place_row` gives the place of the row."""
    error: Any = ValueError("")
    error.argument, error.fault, error.rest, error.advice, error.code = argument, fault, rest, advice, code
    result: ValueError = place_row(error, row)
    return result


def place_row(error: RaisedT, row: int, where: str | None = None) -> RaisedT:
    """The same error of `row_error` about another row; `where` names its place in words."""
    record: Any = error
    record.row = row
    record.reason = f"{record.fault}{f' at row {row}' if where is None else where}{record.rest}"
    return _tell(error)


def as_record(error: Exception, *kinds: type[Exception], text: str | None = None) -> Exception:
    """The error as one of these kinds, or as the first; it keeps a foreign error's text, or `text`."""
    is_ours = "reason" in vars(error)
    stays = type(error) in kinds or (is_ours and isinstance(error, kinds))
    result: Any = error if stays else next((kind for kind in kinds if isinstance(error, kind)), kinds[0])("")
    vars(result).update(vars(error))
    if not is_ours:
        result.reason = str(error) if text is None else text
    record: Exception = _tell(result)
    return record


def with_fields(error: RaisedT, **fields: object) -> RaisedT:
    """The same error with other attributes, and the text that they make."""
    vars(error).update(fields)
    return _tell(error)


def name_file(error: Exception, file: StrPath, *kinds: type[Exception], place: str = "") -> Exception:
    """The same error about a file, as one of these kinds; one that knows its file stays as it is."""
    if "file" in vars(error):
        return error
    fields = {"file": os.fspath(file)} | ({"place": place} if place else {})
    return with_fields(as_record(error, *kinds), **fields)


def name_place(error: Exception, place: str, *kinds: type[Exception], advice: str = "") -> Exception:
    """The same error with its place in front, such as "row 3" or "sum of [time(3)]".

    Its argument stays. It becomes one of these kinds, if any are given.
    """
    result = as_record(error, *(kinds or (_own_kind(error),)))
    context = ": ".join(filter(None, (place, vars(result).get("context"))))
    return with_fields(result, context=context, **_more_advice(result, advice))


def name_item(error: Exception, item: str, *kinds: type[Exception], advice: str = "") -> Exception:
    """The same error about an item of an argument, such as "samples[3]"; the reason names the part of it.

    An item of "" belongs to no argument. The error becomes one of these kinds, if any are given.
    """
    record: Any = as_record(error, *(kinds or (_own_kind(error),)))
    inner = vars(record).get("argument") or ""
    if inner and inner != item:
        record.reason = f"{inner}: {record.reason}"
        if is_of_row(record):
            record.fault = f"{inner}: {record.fault}"
    result: Exception = with_fields(record, argument=item, **_more_advice(record, advice))
    return result


def _own_kind(error: Exception) -> type[Exception]:
    return type(error) if isinstance(error, _PLAIN) and not isinstance(error, UnicodeError) else ValueError


def _more_advice(error: Exception, advice: str) -> dict[str, str]:
    return {"advice": "; ".join(filter(None, (vars(error).get("advice"), advice)))} if advice else {}


def tell_cause(error: Exception) -> Exception:
    """The same error with its cause, if any, at the end of its reason."""
    if error.__cause__ is None:
        return error
    result = as_record(error, type(error))
    return with_fields(result, reason=f"{vars(result)['reason']} ({error.__cause__})")


class _RecordType(type):
    """The class of one error, which carries the error's attributes."""

    record: dict[str, Any]


def _record_type(kind: type[Exception], record: dict[str, Any]) -> type[Exception]:
    def begin(error: Exception, *args: object) -> None:
        vars(error).update(record)

    # A KeyError shows its text as Python writes a string.
    own = {"__init__": begin, "__str__": Exception.__str__, "__module__": kind.__module__, "record": record}
    new_type: Any = _RecordType(kind.__name__, (kind,), own)
    result: type[Exception] = new_type
    return result


def _parts(kind: _RecordType) -> tuple[Any, ...]:
    return _record_type, (kind.__bases__[0], kind.record)


copyreg.pickle(_RecordType, _parts)


def with_record_type(error: Exception) -> Exception:
    """The same error for a receiver that keeps only its class and its text, such as torch's DataLoader."""
    return _record_type(type(error), dict(vars(error)))(*error.args)


class _OfRow(ValueError):
    """An error of `row_error` as type checkers see it."""

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
    error: RaisedT, new_name: str | None = None, /, *, advice: str | None = None, **names: str
) -> RaisedT:
    """The same error about an argument of the caller: `new_name`, or the name of its own in `names`.

    An error that knows no argument stays as it is; one about "data[0]" is about `data`.
    """
    record: Any = error
    argument = getattr(record, "argument", None)
    if not argument:
        return error
    name, bracket, item = argument.partition("[")
    if new_name is None and argument not in names and name not in names:
        return error
    record.argument = (
        new_name if new_name is not None else names.get(argument) or f"{names[name]}{bracket}{item}"
    )
    if advice is not None:
        record.advice = advice
    return _tell(error)


def _tell(error: RaisedT) -> RaisedT:
    """The error with the text that its attributes make."""
    record: Any = error
    context = getattr(record, "context", "")
    argument = "" if getattr(record, "is_whole", False) else getattr(record, "argument", "")
    text = _text(argument, record.reason, getattr(record, "advice", ""), context)
    if file := getattr(record, "file", ""):
        place = getattr(record, "place", "")
        text = f"{file}, {place}: {text}" if place else f"{file}: {text}"
    record.args = (text,)
    if isinstance(error, ImportError):  # whose text is not made of its arguments
        error.msg = text
    return error


def _text(argument: str, reason: str, advice: str, context: str = "") -> str:
    text = ": ".join([part for part in (context, argument, reason) if part])
    return f"{text}; {advice}" if advice else text


class naming:
    """Names the arguments of the caller in errors of the block, as `name_argument` does.

    It costs some hundred nanoseconds; small calls catch the error and call `name_argument` instead.
    """

    __slots__ = ("_advice", "_names", "_new_name")

    def __init__(self, new_name: str | None = None, /, *, advice: str | None = None, **names: str) -> None:
        self._new_name, self._advice, self._names = new_name, advice, names

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if error is not None:
            name_argument(error, self._new_name, advice=self._advice, **self._names)
