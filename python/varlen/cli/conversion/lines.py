"""JSON lines, piece by piece, as joint columns: a record a line, nested lists as they are."""

from __future__ import annotations

import functools
import itertools
import json
import math
import operator
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from varlen import _core
from varlen._core import Joint, Level
from varlen.cli.conversion.counting import count_list
from varlen.cli.conversion.inputs import Input, open_bytes
from varlen.cli.conversion.intent import NULL
from varlen.cli.conversion.typed_texts import LEADING, NOT_GIVEN_BACK, comes_back, parse_texts
from varlen.cli.conversion.words import UnknownWord, unknown_word
from varlen.cli.conversion.wrong import APART, different_lists
from varlen.errors import (
    as_record,
    file_error,
    is_of_row,
    name_file,
    place_row,
    value_error,
    with_fields,
)
from varlen.io.columns import check_names, fold_levels
from varlen.io.dtypes import cast_exactly, row_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.cli.conversion.plan import ConversionPlan

__all__ = ["read_lines"]

#: Bytes of text that are parsed at a time.
_PIECE = 1 << 24

#: Of a line that may hold a number of more digits than a double has.
_LONG = re.compile(rb"[0-9.]{17,}|[0-9.][eE][-+]?[0-9]{3,}")

#: The record and the places in its lists, in an argument of the core.
_PLACES = re.compile(r"\[(\d+)\](.*)")

_Column = tuple[str, np.ndarray, list[Level]]


def _records(
    plan: ConversionPlan, one: Input, advance: Callable[[int], Any]
) -> Iterator[tuple[list[int], list[dict[str, Any]]]]:
    """The records of each piece, and their lines; empty lines hold no record."""
    number, offset = 1, 0
    plan.account.add_file(str(one.path), 0)
    with open_bytes(one) as (content, file):
        while read := content.readlines(_PIECE):
            lines, records, rows = [], [], 0
            for k, line in enumerate(read):
                if line.strip():
                    rows += 1
                    with plan.findings.gather():
                        is_long = _LONG.search(line) is not None
                        plan.has_long |= is_long
                        plan.has_bools |= b"true" in line or b"false" in line
                        records.append(_record(one.path, number + k, line, is_long))
                        lines.append(number + k)
            plan.account.add_file(str(one.path), rows)
            if records:
                yield lines, records
            number += len(read)
            advance(file.tell() - offset)
            offset = file.tell()


def _record(path: Path, number: int, line: bytes, is_long: bool) -> dict[str, Any]:
    try:
        number_of = _exact if is_long else None
        record = json.loads(line, object_pairs_hook=_object, parse_float=number_of)
    except (ValueError, RecursionError) as wrong:
        raise name_file(wrong, path, ValueError, place=f"line {number}") from None
    if not isinstance(record, dict):
        raise file_error(path, f"expected an object, got {type(record).__name__}", place=f"line {number}")
    return record


class _RoundedNumber(float):
    """A number with more digits than a double holds."""

    text: str


_RoundedNumber.__name__ = "float"  # in errors


def _exact(text: str) -> float:
    number = float(text)
    if repr(number) == text or comes_back(text):
        return number
    result = _RoundedNumber(number)
    result.text = text
    return result


def _check_digits(column: Sequence[object]) -> None:
    for k, item in enumerate(column):
        stack = [item]
        while stack:
            part = stack.pop()
            if isinstance(part, list):
                stack += part
            elif isinstance(part, _RoundedNumber):
                raise _record_error(k, f"{part.text} has more digits than a double", "see --types")


def _check_bools(plan: ConversionPlan, name: str, column: Sequence[object], depth: int, leaf: object) -> None:
    """Refuse true and false beside numbers, earlier ones included: they would become 1 and 0."""
    leaves = column
    for _ in range(depth):
        leaves = list(itertools.chain.from_iterable([item for item in leaves if type(item) is list]))
    kinds = {kind is bool for kind in set(map(type, leaves)) if kind in (bool, int, float, _RoundedNumber)}
    column_name = plan.booleans.setdefault(name, isinstance(leaf, bool)) if kinds else False
    if kinds <= {column_name}:
        return
    other = "numbers" if not column_name else "true and false"
    advice = f"give one kind, or --types {name}=DTYPE"
    for k, item in enumerate(column):
        stack = [item]
        while stack:
            part = stack.pop()
            if isinstance(part, list):
                stack += part
            elif isinstance(part, (bool, int, float)) and isinstance(part, bool) is not column_name:
                raise _record_error(k, f"{json.dumps(part)} beside {other}", advice)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        keys = [key for key, _ in pairs]
        raise value_error("", f"the key {next(key for key in keys if keys.count(key) > 1)!r} comes twice")
    return out


def _without_nulls(item: object, value: object, depth: int) -> Any:
    """The lists with the value in place of nulls, and an empty list in place of a null list, as in tables."""
    if isinstance(item, list):
        return [_without_nulls(part, value, depth - 1) for part in item]
    if item is not None:
        return item
    return value if depth == 0 else []


def _has_null(items: Sequence[object]) -> bool:
    return any(item is None or (isinstance(item, list) and _has_null(item)) for item in items)


def _as_texts(item: object) -> Any:
    """Integers as text; the core refuses other numbers among words."""
    if isinstance(item, list):
        return [_as_texts(part) for part in item]
    return str(item) if type(item) is int else item


def _holds_text(column: Sequence[object]) -> bool:
    return isinstance(_probe(column)[1], str)


def _probe(item: object) -> tuple[int, Any]:
    """The depth of lists around the first leaf, and that leaf; without one, the greatest depth and None."""
    if not isinstance(item, list):
        return 0, item
    deepest = 0
    for part in item:
        depth, leaf = _probe(part)
        if leaf is not None:
            return depth + 1, leaf
        deepest = max(deepest, depth)
    return deepest + 1, None


def _fields(items: Sequence[object], keys: list[str]) -> list[str]:
    """The fields of the objects in nested lists, in the order of their first appearance."""
    names = dict.fromkeys(keys)
    stack = [items]
    while stack:
        for item in stack.pop():
            if isinstance(item, list):
                stack.append(item)
            elif isinstance(item, dict) and not item.keys() <= names.keys():
                names.update(dict.fromkeys(item))
    return list(names)


def _pick(item: object, field: str) -> Any:
    """The same nested lists with a field in place of each object; nulls stay."""
    if isinstance(item, list):
        return [_pick(part, field) for part in item]
    if item is None:
        return None
    if not isinstance(item, dict):
        raise value_error("", f"expected an object, as in other lines, got {type(item).__name__}")
    return item.get(field)


def _pick_fast(items: list[Any], field: str, depth: int) -> list[Any]:
    if depth == 0:
        return [item.get(field) for item in items]
    return [_pick_fast(item, field, depth - 1) for item in items]


def _leaves(
    plan: ConversionPlan, name: str, column: list[object], bad: dict[int, Exception]
) -> Iterator[tuple[str, list[Any], int, Any]]:
    """The columns in a column: itself, or one for each field of its objects, and of theirs.

    Each comes with its depth and its first leaf; records that do not fit go into `bad`.
    """
    depth, leaf = _probe(column)
    if not isinstance(leaf, dict) and name not in plan.fields:
        yield name, column, depth - 1, leaf
        return
    plan.fields[name] = _fields(column, plan.fields.get(name, []))
    if not plan.fields[name]:
        plan.account.unread[name] = "objects without a field"
    for field in plan.fields[name]:
        try:
            inner = _pick_fast(column, field, depth - 1)
        except (AttributeError, TypeError):
            inner = []
            for k, item in enumerate(column):
                try:
                    inner.append(_pick(item, field))
                except ValueError as wrong:
                    bad.setdefault(k, with_fields(as_record(wrong, ValueError), argument=repr(name)))
                    inner.append(None)
            if bad:
                return
        yield from _leaves(plan, f"{name}.{field}", inner, bad)


def read_lines(
    plan: ConversionPlan, one: Input, advance: Callable[[int], Any] = lambda _: None
) -> Iterator[Joint]:
    r"""The records of a file of JSON lines, about 16 MB of text at a time.

    The depth of a key is that of its first leaf, wherever it is: a second pass over the same plan knows it
    from the first line on. Objects make a key for each of their fields, in lists too: `visit.code`.

    A line that is not a JSON object, lacks a key, holds a null that is refused, or lists of different lengths
    in keys that share them, goes into the findings of the plan, and the others go on.
    """
    for lines, records in _records(plan, one, advance):
        while records:
            bad: dict[int, Exception] = {}
            joint = _join_records(plan, one.path, lines, records, bad)
            for k, error in bad.items():
                plan.findings.add(
                    name_file(error, one.path, ValueError, place=f"line {lines[k]}" if k >= 0 else "")
                )
            if not bad:
                if joint is not None:
                    yield joint
                break
            if -1 in bad or plan.findings.is_full:  # it cannot be told which, or would not be printed
                break
            rest = [k for k in range(len(records)) if k not in bad]
            lines, records = [lines[k] for k in rest], [records[k] for k in rest]


def _join_records(
    plan: ConversionPlan,
    path: Path,
    lines: list[int],
    records: list[dict[str, Any]],
    bad: dict[int, Exception],
) -> Joint | None:
    """The records as a joint; records that cannot be joined go into `bad`, an unknown one as -1."""
    keys: list[str] = list(plan.wanted_columns or plan.keys)
    if not plan.wanted_columns:
        keys = list(dict.fromkeys(itertools.chain(keys, *records)))
    check_names(keys, "keys")
    columns: list[_Column] = []
    counts: dict[str, tuple[int, int]] = {}
    for top in keys:
        nulls = plan.declared_nulls.for_key(top)
        if nulls.policy == "refuse" and nulls.word is None:
            gaps = [k for k, record in enumerate(records) if record.get(top) is None]
            if len(gaps) == len(records):  # one line says it for all
                gaps = [-1]
            for k in gaps:
                bad[k] = value_error("", f"no value for {top!r}", nulls.why)
            if gaps == [-1]:
                with_fields(bad[-1], place=f"line {lines[0]}")
        if bad:
            return None
        for name, column, depth, leaf in _leaves(plan, top, [record.get(top) for record in records], bad):
            if plan.wanted_types.get(name) is str:
                column = _as_texts(column)
            is_typed = isinstance(plan.wanted_types.get(name), np.dtype)
            if (isinstance(leaf, str) and not is_typed) or plan.wanted_types.get(name) is str:
                plan.words.begin(name)
            own = plan.declared_depths if leaf is None else {}  # empty lists may be of any depth
            plan.depths[name] = depth = max(depth, own.get(name, 0), plan.depths.get(name, 0))
            nulls = plan.declared_nulls.for_key(name)
            policy, filler = nulls.policy, float("nan") if nulls.policy == "nan" else nulls.value
            careful = policy != "refuse" or nulls.word is not None
            count, missing = count_list(column, depth, careful=careful)
            if plan.has_bools and name not in plan.words and name not in plan.types:
                try:
                    _check_bools(plan, name, column, depth, leaf)
                except ValueError as wrong:
                    k, error = _in_column(wrong, name, column, lines)
                    bad[k] = error
                    return None
            elif isinstance(leaf, (int, float)):
                plan.booleans.setdefault(name, False)
            counts[name] = count // max(math.prod(plan.fixed_shapes.get(name, ())), 1), missing
            if plan.words.null_word == NULL and _has_null(column):  # also a list, which becomes empty
                plan.with_nulls.add(name)
            if name in plan.words and nulls.word is not None:
                column = _without_nulls(column, nulls.word, depth + 1)
            elif policy == "fill" or (policy == "nan" and name not in plan.words):
                is_text = name in plan.words or isinstance(leaf, str)
                is_time = is_typed and plan.wanted_types[name].kind == "M" and policy == "nan"
                text = "NaT" if is_time else str(filler)
                is_text |= is_time and leaf is None
                column = _without_nulls(column, text if is_text else filler, depth + 1)
            elif None in column:
                is_word = name in plan.words and nulls.why == plan.declared_nulls.why
                why = "see --null-word" if is_word else nulls.why
                for k, item in enumerate(column):
                    if item is None:
                        bad.setdefault(k, value_error("", f"no value for {name!r}", why))
                return None
            if any(name == column_name for column_name, _, _ in columns):
                message = f"two keys are called {name!r}: one of them is a field of an object"
                bad[-1] = value_error("", message, place=f"line {lines[0]}")
                return None
            try:
                columns.append((name, *_flat_column(plan, name, column, depth)))
            except (ValueError, TypeError, OverflowError) as wrong:
                k, error = _in_column(wrong, name, column, lines)
                bad[k] = error
                return None
        if bad:
            return None
    plan.keys = keys  # not those of lines that were refused
    joint = _join(columns, lines, bad)
    if joint is not None:
        _count(plan, joint, counts)
        plan.words.locate(lambda k: f"{path}, line {lines[k]}")
        others = set().union(*records).difference(keys) if plan.wanted_columns else ()
        plan.account.unread.update(dict.fromkeys(others, "not among --columns"))
    return joint


def _count(plan: ConversionPlan, joint: Joint, counts: dict[str, tuple[int, int]]) -> None:
    """Counts the input for the account; nulls that became NaN are counted among the values."""
    for name, (count, nulls) in counts.items():
        tally = plan.account.column(name).source
        tally.values += count
        is_text = name in plan.words
        tally.nulls = (tally.nulls or 0) + (nulls if is_text or plan.nulls[0] == "fill" else 0)
        if not is_text:
            tally.count_inside(joint.values(name))
        elif nulls:
            tally.count_distinct(None)  # what they became is a word by now
        plan.missing[name] = plan.missing.get(name, 0) + nulls


def _flat_column(
    plan: ConversionPlan, name: str, column: Sequence[object], depth: int
) -> tuple[np.ndarray, list[Level]]:
    if name not in plan.words and not (_holds_text(column) and name in plan.wanted_types):
        if plan.words.is_given(name) and any(column):
            raise value_error("", "numbers, but --vocabulary gives words for it")
        dtype = plan.wanted_types.get(name)
        # What floats do not hold is rounded where they are asked for by name.
        is_float = isinstance(dtype, np.dtype) and dtype.kind == "f" and name in plan.types
        if not is_float and plan.has_long:
            _check_digits(column)
        try:
            values, levels = _core.from_lists(column, depth, np.float64 if is_float else None, name="")
        except (ValueError, TypeError, OverflowError) as wrong:
            raise _advise(wrong, column, "--nulls") from None
        values, levels = fold_levels("", values, levels, plan.fixed_shapes.get(name, ()))
        if not isinstance(dtype, np.dtype):
            return values, levels
        is_explicit, who = name in plan.types, plan.says(name)
        return cast_exactly("", values, dtype, is_explicit, levels, who), levels
    own: dict[str, int] = {}
    try:
        ids, levels = _core.from_words(column, own, depth, name="")
    except (ValueError, TypeError, OverflowError) as wrong:
        raise _advise(wrong, column, "--null-word") from None
    try:
        if name in plan.words:
            plan.account.column(name).source.count_words(own)
            codes = plan.words.encode(name, list(own), ids)
            plan.words.place(name, lambda i: row_of(levels, i))
            return fold_levels("", codes, levels, plan.fixed_shapes.get(name, ()))
        values, zones = parse_texts(list(own), plan.wanted_types[name], plan.says(name))
        _check_zones(plan, name, list(own), zones)
        if plan.schema is not None and name in plan.schema:
            intent = plan.schema[name]
            intent.check_zone("", values.dtype, 1 in plan.time_zones.get(name, {}))
            for i, text in enumerate(own if intent.kind == "id" else ()):
                if str(values[i]) != text.strip():
                    why = f"does not come back from {values.dtype}, as an id must"
                    raise unknown_word(f"{text!r} {why}", i)
        if values.dtype.kind in "iuf":
            _count_leading(plan, name, list(own), ids)
        return fold_levels("", values[ids], levels, plan.fixed_shapes.get(name, ()))
    except UnknownWord as wrong:
        k = wrong.index if name in plan.words else int((ids == wrong.index).argmax())
        raise with_fields(as_record(wrong, ValueError), row=row_of(levels, k)) from None


def _advise(wrong: Exception, column: Sequence[object], option: str) -> Exception:
    """An error of the core with advice for the command line: `option` if it met a null."""
    places = [int(i) for i in re.findall(r"\[(\d+)\]", vars(wrong).get("argument", ""))]
    if places and functools.reduce(operator.getitem, places, column) is None:
        return with_fields(wrong, advice=f"see {option}")
    return with_fields(wrong, advice="see --types") if "advice" in vars(wrong) else wrong


def _record_error(k: int, reason: str, advice: str = "") -> ValueError:
    return with_fields(value_error("", reason, advice), row=k)


def _count_leading(plan: ConversionPlan, name: str, texts: list[str], ids: npt.NDArray[np.int64]) -> None:
    """Counts texts that begin with a zero or a plus, and become numbers all the same."""
    hits = [i for i, text in enumerate(texts) if re.match(LEADING, text)]
    if hits:
        first = f"{plan.reading}: {texts[hits[0]]!r}"
        plan.account.change(name, NOT_GIVEN_BACK, int(np.isin(ids, hits).sum()), 0, [first])


def _check_zones(plan: ConversionPlan, name: str, texts: list[str], zones: npt.NDArray[np.int8]) -> None:
    """Refuses times without a zone beside times with one, in all pieces."""
    examples = plan.time_zones.setdefault(name, {})
    for zone, other, text in ((1, 0, "has a zone, {} has none"), (0, 1, "has no zone, {} has one")):
        rows = np.flatnonzero(zones == zone)
        if len(rows) and other in examples:
            reason = text.format(repr(examples[other]))
            advice = "give all times a zone, or none"
            raise unknown_word(f"{texts[rows[0]]!r} {reason}", int(rows[0]), advice)
        if len(rows):
            examples.setdefault(zone, texts[rows[0]])


def _in_column(
    wrong: Exception, name: str, column: Sequence[object], lines: list[int]
) -> tuple[int, Exception]:
    """The record with the error of a column, -1 if unknown, and the error of its key."""
    if is_of_row(wrong):
        wrong = place_row(wrong, wrong.row, "")
    error: Any = as_record(wrong, ValueError)
    k, suffix = getattr(error, "row", None), ""
    if places := _PLACES.fullmatch(getattr(error, "argument", "")):  # of the core, which got the whole column
        k, suffix = int(places[1]), places[2]
    if k is None:
        k = 0 if len(lines) == 1 else -1
        if k < 0:
            with_fields(error, place=f"lines {lines[0]} to {lines[-1]}")
    return k, with_fields(error, argument=f"{name!r}{suffix}", row=k)


def _join(columns: list[_Column], lines: list[int], bad: dict[int, Exception]) -> Joint | None:
    nest: list[Level] = []
    owner: list[str] = []
    for name, _, levels in columns:
        for d, level in enumerate(levels):
            if d == len(nest):
                nest.append(level)
                owner.append(name)
            elif nest[d] != level:
                row = int(np.flatnonzero(nest[d].lengths != level.lengths)[0])
                mine, others = int(level.lengths[row]), int(nest[d].lengths[row])
                fault = f"{different_lists(name, mine, owner[d], others)} at depth {d + 1}"
                bad[row_of(nest[:d], row)] = value_error("", fault, APART)
                return None
    names, values, depths = (
        zip(*((n, v, len(ls)) for n, v, ls in columns), strict=True) if columns else ((), (), ())
    )
    return Joint(list(names), list(depths), list(values), nest, len(lines))
