"""``varlen info``: the contents of a file or a folder of shards."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from varlen.cli.manual import add_command, check_positive
from varlen.errors import value_error

if TYPE_CHECKING:
    from varlen.io import Account, Tally

__all__ = ["add_parser", "as_bytes", "describe", "padding_share"]

_DESCRIPTION = """\
Shows what a .nrt file or a folder of shards contains: keys with dims, dtypes and rows, and a
picture of the lengths at each level. Estimates how much of a batch is padding, for rows drawn
at random and for rows sorted by length. Reads only bounds, no values.

--account shows, by files and columns, what came in and went out when the file was made: values,
nulls, and distinct numbers or words. It also shows what was left out or changed, why, and where
that happened first.
"""
_PICTURE_BINS = 32


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = add_command(commands, "info", "show what a file or folder contains", _DESCRIPTION, _run)
    parser.add_argument("path", metavar="FILE|FOLDER", help="a .nrt file, or a folder of shards")
    parser.add_argument(
        "--batch-size",
        type=int,
        default=32,
        metavar="N",
        help="batch size for the padding estimate (default: 32)",
    )
    parser.add_argument(
        "--account",
        action="store_true",
        help="show what came in, what went out, and what was left out and why",
    )
    parser.add_argument("--json", action="store_true", help="print the same figures as JSON")


def padding_share(lengths: npt.NDArray[np.int64], batch_size: int) -> float:
    """The share of slots that hold padding when consecutive rows are batched and padded to the longest."""
    slots = 0
    for begin in range(0, len(lengths), batch_size):
        part = lengths[begin : begin + batch_size]
        slots += int(part.max()) * len(part)
    return 1 - int(lengths.sum()) / slots if slots else 0.0


def describe(path: str | Path, batch_size: int = 32) -> dict[str, Any]:
    """The figures that ``varlen info`` prints, as plain Python values."""
    if batch_size < 1:
        raise value_error("batch_size", f"expected at least 1, got {batch_size}")
    from varlen.io import open_shards
    from varlen.io.dtypes import stand_in_name

    source = open_shards(path)
    schema = source.schema
    joints = source.joints
    depth = source.depth
    levels = []
    shuffle = np.random.default_rng(0).permutation
    for dim in range(1, depth + 1):
        lengths = np.concatenate([joint.level(dim).lengths for joint in joints])
        level: dict[str, Any] = {"dim": dim, "sequences": len(lengths), "rows": int(lengths.sum())}
        if len(lengths):
            quartiles = np.percentile(lengths, [25, 50, 75])
            level |= {
                "shortest": int(lengths.min()),
                "quartiles": [float(q) for q in quartiles],
                "mean": float(lengths.mean()),
                "longest": int(lengths.max()),
                "empty": int((lengths == 0).sum()),
                "padding": {
                    "batch_size": batch_size,
                    "shuffled": padding_share(shuffle(lengths), batch_size),
                    "sorted": padding_share(np.sort(lengths), batch_size),
                },
            }
            from varlen.display.picture import sparkline

            level["picture"] = sparkline(lengths, _PICTURE_BINS)
        levels.append(level)
    return {
        "path": str(path),
        "bytes": sum(Path(shard).stat().st_size for shard in source.paths),
        "shards": len(source.paths),
        "rows": sum(len(joint) for joint in joints),
        "row_ids": source.row_ids,
        "keys": {
            name: {
                "dim": entry.dim,
                "dtype": stand_in_name(entry.tag) or str(entry.dtype),
                "rows": sum(joint.rows(entry.dim) for joint in joints),
                "trailing": list(entry.trailing),
                "words": None if entry.vocabulary is None else len(entry.vocabulary),
                "padding_id": entry.padding_id,
                "kind": schema[name].kind,
                "nullable": schema[name].nullable,
                "zone": schema[name].zone,
                "dims": list(schema[name].dims),
                "note": schema[name].note,
            }
            for name, entry in source.fields.items()
        },
        "levels": levels,
    }


def as_bytes(n: int) -> str:
    """A size for people."""
    size = float(n)
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:,.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1000
    raise AssertionError("unreachable")


def _key_table(facts: dict[str, Any]) -> Iterator[str]:
    """A line for each key, under the names of the columns, which are as wide as their contents."""
    lines = [("key", "dim", "dtype", "rows", "")]
    for name, key in facts["keys"].items():
        notes = [f"rows of {tuple(key['trailing'])}"] if key["trailing"] else []
        notes += [f"dims {' x '.join(key['dims'])}"] if key["dims"] else []
        notes += [f"{key['words']:,} words"] if key["words"] is not None else []
        notes += [key["zone"]] if key["zone"] is not None else []
        notes += [key["kind"]] if key["kind"] in ("id", "text") and name != facts["row_ids"] else []
        notes += [] if key["nullable"] else ["no nulls"]
        notes += ["row ids"] if name == facts["row_ids"] else []
        if key["words"] is not None and name != facts["row_ids"]:
            notes.append("no padding id" if key["padding_id"] is None else f"padding id {key['padding_id']}")
        notes += [] if key["note"] is None else [f"text: {key['note']}"]
        lines.append((name, str(key["dim"]), key["dtype"], f"{key['rows']:,}", ", ".join(notes)))
    name_wide, _, dtype_wide, rows_wide, _ = (max(map(len, column)) for column in zip(*lines, strict=True))
    for name, dim, dtype, rows, note in lines:
        yield f"{name:<{name_wide}}  {dim:>3}  {dtype:<{dtype_wide}}  {rows:>{rows_wide}}  {note}".rstrip()


def _run(arguments: argparse.Namespace) -> int:
    check_positive(arguments, "batch_size")
    if arguments.account:
        return _print_account(arguments)
    facts = describe(arguments.path, arguments.batch_size)
    if arguments.json:
        print(json.dumps(facts, indent=2, ensure_ascii=False))
        return 0
    shards = "" if facts["shards"] == 1 else f" in {facts['shards']:,} shards"
    print(f"{facts['path']}: {facts['rows']:,} rows, {as_bytes(facts['bytes'])}{shards}\n")
    for line in _key_table(facts):
        print(line)
    for level in facts["levels"]:
        print(f"\nlevel {level['dim']}: {level['sequences']:,} sequences, {level['rows']:,} rows")
        if "mean" in level:
            low, middle, high = level["quartiles"]
            pad = level["padding"]
            print(f"  lengths  {level['picture']}")
            print(
                f"  mean {level['mean']:,.1f}, quartiles {low:,.0f} / {middle:,.0f} / {high:,.0f}, "
                f"{level['empty']:,} empty"
            )
            print(
                f"  padding in batches of {pad['batch_size']}: {pad['shuffled']:.0%} shuffled, "
                f"{pad['sorted']:.0%} sorted by length"
            )
    return 0


def _print_account(arguments: argparse.Namespace) -> int:
    from varlen.io import open_shards

    account = open_shards(arguments.path).account
    if arguments.json:
        print(json.dumps(account.as_dict(), indent=2, ensure_ascii=False))
        return 0
    head, *reasons = account.summary()
    print(f"{arguments.path}: {head}\n")
    for line in _account_table(account):
        print(line)
    for line in ["", *reasons] if reasons else []:
        print(line)
    print()
    for file, rows in account.files.items():
        print(f"{file}: {rows:,} rows")
    return 0


def _account_table(account: Account) -> Iterator[str]:
    """A line for the rows and for each column, with input and output side by side."""
    names = ("column", "in", "nulls", "distinct", "out", "nulls", "distinct", "words")
    lines = [names, ("rows", *_figures(account.rows.source), *_figures(account.rows.result), "")]
    for name, balance in account.columns.items():
        words = balance.result.words
        word_text = "" if words is None else f"{words:,}"
        lines.append((name, *_figures(balance.source), *_figures(balance.result), word_text))
    first, *widths = (max(map(len, column)) for column in zip(*lines, strict=True))
    for name, *figures in lines:
        rest = "  ".join(f"{text:>{width}}" for text, width in zip(figures, widths, strict=True))
        yield f"{name:<{first}}  {rest}".rstrip()


def _figures(tally: Tally) -> tuple[str, str, str]:
    entry = tally.as_dict()
    at_least = "distinct_at_least" in entry
    distinct = entry.get("distinct_at_least", entry.get("distinct"))
    nulls = "" if tally.nulls is None else f"{tally.nulls:,}"
    return f"{tally.values:,}", nulls, "" if distinct is None else f"{'>= ' if at_least else ''}{distinct:,}"
