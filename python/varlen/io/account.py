"""An account of the input, the output and everything left out in between; it has to balance.

The reader counts the input before anything changes the values. The output is counted from the written file.
Whoever leaves something out records it in between. Then ``in = out + left out`` holds for the rows and for
each column, or something is lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.errors import error_of, type_error
from varlen.io.distinct import Distinct
from varlen.io.dtypes import kind_of
from varlen.io.errors import FileFormatError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Account", "AccountError", "Balance", "Reason", "Tally"]

Array = np.ndarray[tuple[Any, ...], np.dtype]

#: Where the metadata of a file holds its account.
ACCOUNT = "varlen.account"

#: What a group column has more than groups; its distinct values stay the same.
REPEATS = "repeats in a group"

_MOST_FILES = 1000  # that are named; others are counted together
_MOST_PLACES = 3
_OTHERS = "other files"


class AccountError(ValueError):
    """An account does not balance: a row, a value or a column is missing without a reason.

    Examples
    --------
    >>> issubclass(AccountError, ValueError)
    True
    """


@dataclass
class Tally:
    """Counts of one column on one side.

    Parameters
    ----------
    values : int
        The number of values, including nulls.
    nulls : int or None
        The number of nulls, NaN and NaT; None if they were not counted.
    distinct : int or None
        The number of distinct whole numbers, times, words or word ids; None if they were not counted.
    at_least : bool
        True if there may be more distinct values. The count is exact up to 16,384, and for numbers within
        262,144 of the first one.
    words : int or None
        The number of distinct words in the input, or of words in the output's vocabulary; None for numbers.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.add(np.array([1.0, np.nan]))
    >>> tally.values, tally.nulls
    (2, 1)
    """

    values: int = 0
    # None by a factory, so that the class has no attribute None that nothing documents.
    nulls: int | None = field(default_factory=type(None))
    distinct: int | None = field(default_factory=type(None))
    at_least: bool = False
    words: int | None = field(default_factory=type(None))
    _distinct: Distinct | None = field(init=False, default=None, repr=False, compare=False)

    def add(self, values: Array, *, nulls: int = 0) -> None:
        """Count another piece of values.

        Parameters
        ----------
        values : ndarray (rows, ...)
            Any dtype. NaN and NaT count as nulls; whole numbers and times also as distinct values.
        nulls : int, default 0
            The number of nulls among them that the array does not show.

        Examples
        --------
        >>> tally = Tally()
        >>> tally.add(np.array([7, 7, 9]))
        >>> tally.as_dict()
        {'values': 3, 'nulls': 0, 'distinct': 2}
        """
        self.values += len(values)
        self.count_inside(values, nulls=nulls)

    def count_inside(self, values: Array, *, nulls: int = 0) -> None:
        """Count only nulls and distinct values.

        Parameters
        ----------
        values : ndarray (rows, ...)
            Any dtype.
        nulls : int, default 0
            The number of nulls that the array does not show.

        Examples
        --------
        >>> tally = Tally()
        >>> tally.count_inside(np.array([7, 7, 9]))
        >>> tally.as_dict()
        {'values': 0, 'nulls': 0, 'distinct': 2}
        """
        kind = kind_of(values.dtype)
        if kind == "f":
            with np.errstate(invalid="ignore"):  # ml_dtypes warns of NaNs that signal
                nulls += int(np.count_nonzero(np.isnan(values)))
        elif kind in "mM":
            nulls += int(np.count_nonzero(np.isnat(values)))
        self.nulls = (self.nulls or 0) + nulls
        self.count_distinct(values)

    def count_distinct(self, values: Array | None) -> None:
        """Count only distinct values.

        Parameters
        ----------
        values : ndarray (rows, ...) or None
            Whole numbers or times. Any other dtype, or None in its place, means that distinct values cannot
            be counted.

        Examples
        --------
        >>> tally = Tally(3)
        >>> tally.count_distinct(np.array([7, 7, 9]))
        >>> tally.as_dict()
        {'values': 3, 'distinct': 2}
        """
        if values is None or values.size:
            self._distinct = self._distinct or Distinct()
            if values is None:
                self._distinct.give_up()
            else:
                self._distinct.add(values)

    def count_words(self, words: Iterable[str]) -> None:
        """Count only distinct words.

        Parameters
        ----------
        words : iterable of str
            The words of another piece; they may repeat.

        Examples
        --------
        >>> tally = Tally(3)
        >>> tally.count_words(["a", "b"])
        >>> tally.as_dict()
        {'values': 3, 'distinct': 2, 'words': 2}
        """
        self._distinct = self._distinct or Distinct()
        self._distinct.add_words(words)

    def settle(self) -> None:
        """Store the counts of all pieces so far in `distinct`, `at_least` and `words`.

        Examples
        --------
        >>> tally = Tally()
        >>> tally.settle()
        >>> tally.distinct is None
        True
        """
        if self._distinct is not None and self._distinct.is_whole:
            self.distinct, self.at_least = self._distinct.count, not self._distinct.is_exact
            if self._distinct.is_of_words:
                self.words = self._distinct.count

    def __add__(self, other: Tally) -> Tally:
        for part in (self, other):
            part.settle()
        one = self if other._knows_nothing else other if self._knows_nothing else None
        if one is not None:
            values = self.values + other.values
            total = Tally(values, one.nulls, one.distinct, one.at_least, one.words)
            total._distinct = one._distinct
            return total
        both_nulls = None if self.nulls is None or other.nulls is None else self.nulls + other.nulls
        distinct, at_least = None, False
        if (
            self.distinct is not None and other.distinct is not None
        ):  # which of them are the same is not known
            distinct, at_least = max(self.distinct, other.distinct), True
        words = None if self.words is None and other.words is None else max(self.words or 0, other.words or 0)
        return Tally(self.values + other.values, both_nulls, distinct, at_least, words)

    @property
    def _knows_nothing(self) -> bool:
        return self.values == 0 and self.nulls is None and self.distinct is None and self.words is None

    def as_dict(self) -> dict[str, Any]:
        """Convert to plain Python values, for JSON.

        Returns
        -------
        dict
            ``values``, and each of ``nulls``, ``distinct`` or ``distinct_at_least``, and ``words`` that was
            counted.

        Examples
        --------
        >>> Tally(3, 0, 2).as_dict()
        {'values': 3, 'nulls': 0, 'distinct': 2}
        """
        self.settle()
        name = "distinct_at_least" if self.at_least else "distinct"
        entry = {"nulls": self.nulls, name: self.distinct, "words": self.words}
        return {"values": self.values} | {key: n for key, n in entry.items() if n is not None}


@dataclass
class Reason:
    """A reason for a difference: the number of values it concerns, and the first places.

    Parameters
    ----------
    left_out : int
        The number of values left out; negative if values were added.
    nulls : int or None
        How many of them are nulls, or how many nulls became values; None if unknown.
    changed : int
        The number of values that changed, such as words outside a vocabulary.
    first : list of str
        The first places: file, row and value.

    Examples
    --------
    >>> Reason(left_out=2, first=["a.csv, row 3"]).left_out
    2
    """

    left_out: int = 0
    nulls: int | None = 0
    changed: int = 0
    first: list[str] = field(default_factory=list)

    def __add__(self, other: Reason) -> Reason:
        nulls = None if self.nulls is None or other.nulls is None else self.nulls + other.nulls
        first = list(dict.fromkeys([*self.first, *other.first]))[:_MOST_PLACES]
        return Reason(self.left_out + other.left_out, nulls, self.changed + other.changed, first)

    def as_dict(self) -> dict[str, Any]:
        """Convert to plain Python values, for JSON.

        Returns
        -------
        dict
            ``left_out`` or ``added``, ``nulls``, ``changed``, ``first``; zeros and empty entries are omitted.

        Examples
        --------
        >>> Reason(left_out=-2).as_dict()
        {'added': 2}
        """
        what = "left_out" if self.left_out >= 0 else "added"
        entry = {what: abs(self.left_out), "nulls": self.nulls, "changed": self.changed, "first": self.first}
        return {key: value for key, value in entry.items() if value not in (0, [])}


@dataclass
class Balance:
    """The balance of one column: both sides, and the reasons between them.

    Parameters
    ----------
    source, result : Tally
        The counts of the input and of the output.
    reasons : dict of str to Reason
        The reasons for their difference.

    Examples
    --------
    >>> Balance(Tally(3), Tally(2), {"rows filtered": Reason(1)}).fault() is None
    True
    >>> Balance(Tally(3), Tally(2)).fault()
    '3 values in, 2 out, 0 left out: 1 lost'
    """

    source: Tally = field(default_factory=Tally)
    result: Tally = field(default_factory=Tally)
    reasons: dict[str, Reason] = field(default_factory=dict)

    @property
    def left_out(self) -> int:
        """The number of values left out for a reason, minus those added for one."""
        return sum(reason.left_out for reason in self.reasons.values())

    def add(self, why: str, reason: Reason) -> None:
        """Add one more reason.

        Parameters
        ----------
        why : str
            The reason in words.
        reason : Reason
            Its counts; a reason that concerns no value is not recorded.

        Examples
        --------
        >>> balance = Balance(Tally(3), Tally(2))
        >>> balance.add("rows filtered", Reason(1))
        >>> balance.left_out
        1
        """
        if reason.left_out or reason.nulls or reason.changed:
            self.reasons[why] = self.reasons[why] + reason if why in self.reasons else reason

    def fault(self) -> str | None:
        """Describe what does not balance.

        Returns
        -------
        str or None
            The numbers; None if the account balances.

        Examples
        --------
        >>> Balance(Tally(2, nulls=1), Tally(2, nulls=0)).fault()
        '1 nulls in, 0 out, 0 explained: 1 lost'
        """
        start, end, gap = self.source, self.result, self.left_out
        if loss := start.values - end.values - gap:
            return f"{start.values:,} values in, {end.values:,} out, {gap:,} left out: {_loss_text(loss)}"
        nulls = [reason.nulls for reason in self.reasons.values()]
        if start.nulls is not None and end.nulls is not None and None not in nulls:
            total = sum(n or 0 for n in nulls)
            if loss := start.nulls - end.nulls - total:
                counts = f"{start.nulls:,} nulls in, {end.nulls:,} out, {total:,} explained"
                return f"{counts}: {_loss_text(loss)}"
        start.settle()
        end.settle()
        is_exact = start.distinct is not None and end.distinct is not None
        is_exact = is_exact and not (start.at_least or end.at_least or start.nulls or end.nulls)
        is_exact = is_exact and (start.words is None or end.words is not None)  # no text that became numbers
        if is_exact and not self.reasons.keys() - {REPEATS} and start.distinct != end.distinct:
            return f"{start.distinct:,} distinct values in, {end.distinct:,} out"
        return None

    def __add__(self, other: Balance) -> Balance:
        sums = Balance(self.source + other.source, self.result + other.result, dict(self.reasons))
        for why, reason in other.reasons.items():
            sums.add(why, reason)
        return sums

    def as_dict(self) -> dict[str, Any]:
        """Convert to plain Python values, for JSON.

        Returns
        -------
        dict
            ``in``, ``out`` and ``reasons``.

        Examples
        --------
        >>> Balance(Tally(3), Tally(3)).as_dict()
        {'in': {'values': 3}, 'out': {'values': 3}, 'reasons': {}}
        """
        reasons = {why: reason.as_dict() for why, reason in self.reasons.items()}
        return {"in": self.source.as_dict(), "out": self.result.as_dict(), "reasons": reasons}


def _loss_text(n: int) -> str:
    return f"{n:,} lost" if n > 0 else f"{-n:,} too many"


class Account:
    """An account of input, output and everything left out, by column.

    `varlen convert`, `varlen.io.build`, `Dataset.map`, `Dataset.save` and `varlen.data.pack` keep one. A file
    stores it in its metadata, a folder in its `index.json`. Accounts of parts add up: `a + b`.

    Parameters
    ----------
    files : mapping of str to int, optional
        The input files, and the number of rows in each.

    Attributes
    ----------
    files : dict of str to int
        Rows by file.
    rows : Balance
        The balance of rows, between the files and the result.
    columns : dict of str to Balance
        The balance of values, by column.
    unread : dict of str to str
        Columns that were left out entirely, and why.

    Examples
    --------
    >>> account = Account({"a.csv": 3})
    >>> account.column("x").source.add(np.array([1, 2, 3]))
    >>> account.leave_out(None, "rows filtered", 1)
    >>> account.leave_out("x", "rows filtered", 1, first=["a.csv, row 2: 3"])
    >>> account.set_result(2, {"x": 2})
    >>> account.check()
    >>> account.columns["x"].reasons["rows filtered"].first
    ['a.csv, row 2: 3']
    >>> account.set_result(1, {"x": 2})
    >>> account.check()
    Traceback (most recent call last):
    varlen.io.account.AccountError: the account does not balance: rows: 3 values in, 1 out, 1 left out: 1 lost
    """

    def __init__(self, files: Mapping[str, int] | None = None) -> None:
        self.files: dict[str, int] = {}
        self.rows = Balance()
        self.columns: dict[str, Balance] = {}
        self.unread: dict[str, str] = {}
        for name, rows in (files or {}).items():
            self.add_file(name, rows)

    def column(self, name: str) -> Balance:
        """The balance of a column, created if it is new.

        Parameters
        ----------
        name : str
            A column.

        Returns
        -------
        Balance
            The balance, to add to.

        Examples
        --------
        >>> Account().column("x").source.values
        0
        """
        return self.columns.setdefault(name, Balance())

    def add_file(self, file: str, rows: int) -> None:
        """Record the rows of a file.

        Parameters
        ----------
        file : str
            The name of the file.
        rows : int
            The number of rows to add to its count.

        Examples
        --------
        >>> account = Account()
        >>> account.add_file("a.csv", 3)
        >>> account.files
        {'a.csv': 3}
        """
        name = file if file in self.files or len(self.files) < _MOST_FILES else _OTHERS
        self.files[name] = self.files.get(name, 0) + rows
        self.rows.source.values += rows

    def leave_out(
        self, column: str | None, why: str, values: int, nulls: int | None = 0, first: Iterable[str] = ()
    ) -> None:
        """Record values that are left out, or added if the count is negative.

        Parameters
        ----------
        column : str or None
            The column; None for rows.
        why : str
            The reason.
        values : int
            The number of values.
        nulls : int or None
            How many of them are nulls; None if unknown.
        first : iterable of str
            The first places.

        Examples
        --------
        >>> account = Account({"a.csv": 3})
        >>> account.leave_out(None, "rows filtered", 1)
        >>> account.rows.left_out
        1
        """
        balance = self.rows if column is None else self.column(column)
        balance.add(why, Reason(values, nulls if values or nulls else 0, 0, list(first)[:_MOST_PLACES]))

    def change(
        self, column: str, why: str, values: int, nulls: int | None = 0, first: Iterable[str] = ()
    ) -> None:
        """Record values that go out changed.

        Parameters
        ----------
        column : str
            The column.
        why : str
            The reason.
        values : int
            The number of values.
        nulls : int or None
            How many nulls became values; None if unknown.
        first : iterable of str
            The first places.

        Examples
        --------
        >>> account = Account()
        >>> account.change("code", "words outside the vocabulary", 2)
        >>> account.columns["code"].reasons["words outside the vocabulary"].changed
        2
        """
        self.column(column).add(why, Reason(0, nulls, values, list(first)[:_MOST_PLACES]))

    def set_result(
        self, rows: int, values: Mapping[str, int], words: Mapping[str, Sized] | None = None
    ) -> None:
        """Record the result, counted from what was written.

        Parameters
        ----------
        rows : int
            The number of rows in all written files.
        values : mapping of str to int
            The number of values in each column.
        words : mapping of str to collection, optional
            The vocabulary of each column that has one.

        Examples
        --------
        >>> account = Account({"a.csv": 3})
        >>> account.set_result(3, {})
        >>> account.rows.result.values
        3
        """
        self.rows.result.values = rows
        for name, balance in self.columns.items():
            balance.result.values = values.get(name, 0)
        for name in values.keys() - self.columns.keys():
            self.column(name).result.values = values[name]
        for name, vocabulary in (words or {}).items():
            self.column(name).result.words = len(vocabulary)

    def check(self) -> None:
        """Raise an error if the account does not balance.

        Raises
        ------
        AccountError
            The rows or some columns do not balance. The error gives the numbers of each.

        Examples
        --------
        >>> Account().check()
        """
        faults = list(self._faults())
        if faults:
            suffix = f"; and {len(faults) - 5:,} more columns" if len(faults) > 5 else ""
            raise error_of(AccountError, "", f"the account does not balance: {'; '.join(faults[:5])}{suffix}")

    def _faults(self) -> Iterator[str]:
        if fault := self.rows.fault():
            yield f"rows: {fault}"
        for name, balance in self.columns.items():
            if fault := balance.fault():
                yield f"column {name!r}: {fault}"

    def __add__(self, other: Account) -> Account:
        if not isinstance(other, Account):
            return NotImplemented
        sums = Account()
        for part in (self, other):
            for file, rows in part.files.items():
                sums.add_file(file, rows)
        sums.rows = self.rows + other.rows  # the rows of those files among them
        for name in dict.fromkeys([*self.columns, *other.columns]):
            sums.columns[name] = self.columns.get(name, Balance()) + other.columns.get(name, Balance())
        sums.unread = {**self.unread, **other.unread}
        return sums

    def __iadd__(self, other: Account) -> Self:
        sums = self + other
        self.files, self.rows, self.columns, self.unread = sums.files, sums.rows, sums.columns, sums.unread
        return self

    def __eq__(self, other: object) -> bool:
        return self.as_dict() == other.as_dict() if isinstance(other, Account) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def successor(self) -> Account:
        """Start an account of data made from this result; its own result is not counted yet.

        Returns
        -------
        Account
            An account with the same source and reasons.

        Examples
        --------
        >>> Account({"a.csv": 3}).successor().rows.source.values
        3
        """
        result = self + Account()
        for balance in (result.rows, *result.columns.values()):
            balance.result = Tally()
        return result

    def as_dict(self) -> dict[str, Any]:
        """Convert to plain Python values, for JSON.

        Returns
        -------
        dict
            ``files``, ``rows``, ``columns`` and ``unread``.

        Examples
        --------
        >>> list(Account().as_dict())
        ['version', 'files', 'rows', 'columns', 'unread']
        """
        return {
            "version": 1,
            "files": dict(self.files),
            "rows": self.rows.as_dict(),
            "columns": {name: balance.as_dict() for name, balance in self.columns.items()},
            "unread": dict(self.unread),
        }

    def as_text(self) -> str:
        """Convert to one line of JSON, as in the metadata of a file.

        Returns
        -------
        str
            JSON for `from_text`.

        Examples
        --------
        >>> Account.from_text(Account({"a.csv": 3}).as_text()).files
        {'a.csv': 3}
        """
        return json.dumps(self.as_dict(), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read an account from JSON.

        Parameters
        ----------
        text : str
            JSON from `as_text`.

        Returns
        -------
        Account
            The account.

        Raises
        ------
        FileFormatError
            The text holds no account, or one of a newer version.

        Examples
        --------
        >>> Account.from_text("{}")
        Traceback (most recent call last):
        varlen.io.errors.FileFormatError: account: not the JSON of an account: 'version'
        """
        try:
            return cls.from_dict(json.loads(text))
        except (ValueError, RecursionError) as error:
            if isinstance(error, FileFormatError):
                raise
            raise error_of(FileFormatError, "", f"not JSON: {error}", context="account") from None

    @classmethod
    def from_dict(cls, table: Any) -> Self:
        """Read an account from plain Python values.

        Parameters
        ----------
        table : dict
            A dict from `as_dict`.

        Returns
        -------
        Account
            The account.

        Raises
        ------
        FileFormatError
            The dict holds no account, or one of a newer version.

        Examples
        --------
        >>> Account.from_dict(Account({"a.csv": 3}).as_dict()) == Account({"a.csv": 3})
        True
        """
        try:
            if table["version"] != 1:
                raise error_of(
                    FileFormatError,
                    "",
                    f"version {table['version']!r}; this varlen reads version 1",
                    context="account",
                )
            account = cls({str(name): _number(rows) for name, rows in table["files"].items()})
            account.rows = _balance(table["rows"])
            account.columns = {str(name): _balance(entry) for name, entry in table["columns"].items()}
            account.unread = {str(name): str(why) for name, why in table["unread"].items()}
        except (KeyError, TypeError, AttributeError) as error:
            raise error_of(
                FileFormatError, "", f"not the JSON of an account: {error}", context="account"
            ) from None
        return account

    def __repr__(self) -> str:
        start, end = self.rows.source.values, self.rows.result.values
        return f"Account({len(self.files)} files, {start} rows in, {end} out, {len(self.columns)} columns)"

    def summary(self) -> list[str]:
        """Summarize the account in a few lines.

        Returns
        -------
        list of str
            A line with the counts of input and output, then a line for each reason.

        Examples
        --------
        >>> account = Account({"a.csv": 3})
        >>> account.column("x").source.add(np.array([1, 2, 3]))
        >>> account.leave_out("x", "rows of others", 1, first=["a.csv, row 2: 3"])
        >>> account.set_result(2, {"x": 2})
        >>> print(*account.summary(), sep=chr(10))
        in: 3 rows of 1 file, 3 values in 1 column; out: 2 values
        left out: 1 value of x, rows of others; first a.csv, row 2: 3
        """
        columns = self.columns.values()
        count_in = sum(balance.source.values for balance in columns)
        count_out = sum(balance.result.values for balance in columns)
        rows, files = self.rows.source.values, len(self.files)
        lines = [
            f"in: {_count_text(rows, 'row')} of {_count_text(files, 'file')}, "
            f"{_count_text(count_in, 'value')} in {_count_text(len(self.columns), 'column')}; "
            f"out: {_count_text(count_out, 'value')}"
        ]
        by_reason: dict[str, dict[str, Reason]] = {why: {} for why in self.rows.reasons}
        for name, balance in self.columns.items():
            for why, reason in balance.reasons.items():
                by_reason.setdefault(why, {})[name] = reason
        lines += [_reason_line(why, self.rows.reasons.get(why), names) for why, names in by_reason.items()]
        by_why: dict[str, list[str]] = {}
        for name, why in self.unread.items():
            by_why.setdefault(why, []).append(name)
        for why, names in by_why.items():
            lines.append(f"left out: {_count_text(len(names), 'column')}, {why}: {_name_list(names)}")
        return lines


def _count_text(n: int, noun: str) -> str:
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def _name_list(names: Iterable[str]) -> str:
    items = list(names)
    return ", ".join(items[:5]) + (f" and {len(items) - 5:,} more" if len(items) > 5 else "")


def _reason_line(why: str, rows: Reason | None, names: Mapping[str, Reason]) -> str:
    values = sum(names.values(), Reason())
    total = values if rows is None else rows + values
    verb, count = "changed", values.changed or values.nulls or 0
    if total.left_out:
        verb, count = "left out" if total.left_out > 0 else "added", values.left_out
    parts = [_count_text(abs(rows.left_out), "row")] if rows is not None and rows.left_out else []
    parts += [f"{_count_text(abs(count), 'value')} of {_name_list(names)}"] if names else []
    first = f"; first {total.first[0]}" if total.first else ""
    return f"{verb}: {' and '.join(parts)}, {why}{first}"


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise type_error("", f"{value!r} is no count")
    return value


def _balance(entry: Any) -> Balance:
    reasons = {str(why): _reason(item) for why, item in entry["reasons"].items()}
    return Balance(_tally(entry["in"]), _tally(entry["out"]), reasons)


def _tally(entry: Any) -> Tally:
    counts = {key: _number(n) for key, n in entry.items()}
    floor = counts.get("distinct_at_least")
    distinct = counts.get("distinct") if floor is None else floor
    return Tally(counts["values"], counts.get("nulls"), distinct, floor is not None, counts.get("words"))


def _reason(entry: Any) -> Reason:
    left_out = _number(entry.get("left_out", 0)) - _number(entry.get("added", 0))
    nulls = entry.get("nulls", 0)
    first = [str(place) for place in entry.get("first", [])]
    return Reason(
        left_out, None if nulls is None else _number(nulls), _number(entry.get("changed", 0)), first
    )
