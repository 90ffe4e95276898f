"""JSON lines, piece by piece, as joint columns: a record a line, nested lists as they are."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from varlen import _core
from varlen._core import Joint, Level
from varlen.io.columns import check_names

if TYPE_CHECKING:
    from varlen.cli.pieces import ConversionPlan

__all__ = ["read_lines"]

#: Bytes of text that are parsed at a time.
_PIECE = 1 << 24

_Column = tuple[str, npt.NDArray[Any], list[Level]]


def _records(path: Path, advance: Callable[[int], Any]) -> Iterator[tuple[list[int], list[dict[str, Any]]]]:
    """The records of each piece, and the lines that they stand in: empty lines hold none."""
    number = 1
    with path.open("rb") as file:
        while read := file.readlines(_PIECE):
            lines, records = [], []
            for k, line in enumerate(read):
                if line.strip():
                    lines.append(number + k)
                    records.append(_record(path, number + k, line))
            yield lines, records
            number += len(read)
            advance(sum(map(len, read)))


def _record(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line, object_pairs_hook=_object)
    except (ValueError, RecursionError) as wrong:
        raise ValueError(f"{path}, line {number}: {wrong}") from None
    if not isinstance(record, dict):
        raise ValueError(f"{path}, line {number}: expected an object, got {type(record).__name__}")
    return record


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} comes twice")
    return out


def _without_nulls(item: Any, value: Any) -> Any:
    if isinstance(item, list):
        return [_without_nulls(part, value) for part in item]
    return value if item is None else item


def _probe(item: Any) -> tuple[int, Any]:
    """How many lists lie around the first leaf, and that leaf; without one, the deepest list and None."""
    if not isinstance(item, list):
        return 0, item
    deepest = 0
    for part in item:
        below, leaf = _probe(part)
        if leaf is not None:
            return below + 1, leaf
        deepest = max(deepest, below)
    return deepest + 1, None


def read_lines(plan: ConversionPlan, advance: Callable[[int], Any] = lambda _: None) -> Iterator[Joint]:
    r"""The records of a file of JSON lines, about 16 MB of text at a time.

    The depth of a key is that of its first leaf, wherever it comes: a second run over the same plan knows
    it from the first line on.

    Raises
    ------
    ValueError
        A line that is not a JSON object, lacks a key or holds a null that is refused; keys whose lists have
        different lengths.

    Examples
    --------
    >>> from varlen.cli.pieces import ConversionPlan
    >>> _ = Path("two.jsonl").write_text('{"t": [1, 2]}\n{"t": []}\n')
    >>> [joint.values("t").tolist() for joint in read_lines(ConversionPlan(Path("two.jsonl")))]
    [[1, 2]]
    """
    policy, value = plan.nulls
    filler = float("nan") if policy == "nan" else value
    keys: list[str] = list(plan.columns or plan.depths)
    for lines, records in _records(plan.path, advance):
        if not plan.columns:
            keys = list(dict.fromkeys(itertools.chain(keys, *records)))
        check_names(keys, "keys")
        columns: list[_Column] = []
        for name in keys:
            column = [record.get(name) for record in records]
            if policy != "refuse":
                column = _without_nulls(column, filler)
            elif None in column:
                line = lines[column.index(None)]
                raise ValueError(f"{plan.path}, line {line}: no value for {name!r}; see --nulls")
            depth, leaf = _probe(column)
            plan.depths[name] = depth = max(depth - 1, plan.depths.get(name, 0))
            if isinstance(leaf, str):
                plan.words.setdefault(name, {})
            try:
                if name in plan.words:
                    values, levels = _core.from_words(column, plan.words[name], depth, name="")
                else:
                    values, levels = _core.from_lists(column, depth, name="")
            except (ValueError, TypeError, OverflowError) as wrong:
                raise ValueError(f"{plan.path}, {_with_line(str(wrong), name, lines)}") from None
            columns.append((name, values, levels))
        yield _joined(plan.path, columns, lines)


def _with_line(text: str, name: str, lines: list[int]) -> str:
    """What the core says of a column, with the line of the record that it points to."""
    if found := re.match(r"\[(\d+)\](.*)", text, re.DOTALL):
        hint = "; see --nulls" if text.endswith("got NoneType") else ""
        return f"line {lines[int(found[1])]}: {name!r}{found[2]}{hint}"
    where = f"line {lines[0]}" if len(lines) == 1 else f"lines {lines[0]} to {lines[-1]}"
    return f"{where}: {name!r}{text}"


def _joined(path: Path, columns: list[_Column], lines: list[int]) -> Joint:
    nest: list[Level] = []
    owner: list[str] = []
    for name, _, levels in columns:
        for d, level in enumerate(levels):
            if d == len(nest):
                nest.append(level)
                owner.append(name)
            elif nest[d] != level:
                row = int(np.flatnonzero(nest[d].lengths != level.lengths)[0])
                record = row
                for above in nest[:d][::-1]:
                    record = int(np.searchsorted(above.bounds, record, "right"))
                raise ValueError(
                    f"{path}, line {lines[record]}: the lists of {name!r} and {owner[d]!r} have different "
                    f"lengths at depth {d + 1}, {int(level.lengths[row])} and {int(nest[d].lengths[row])}; "
                    "convert them into files of their own with --columns"
                )
    names, values, depths = (
        zip(*((n, v, len(ls)) for n, v, ls in columns), strict=True) if columns else ((), (), ())
    )
    return Joint(list(names), list(depths), list(values), nest, len(lines))
