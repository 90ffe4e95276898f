"""``varlen info``: the contents of a file or a folder of shards."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from varlen.cli.errors import Misuse
from varlen.cli.manual import add_command, check_parent, check_positive
from varlen.display.text import align
from varlen.errors import value_error

if TYPE_CHECKING:
    from varlen.io import Account, ShardSet, Tally

    Ints = npt.NDArray[np.int64]

__all__ = ["add_parser", "as_bytes", "describe", "padding_share"]

_DESCRIPTION = """\
Shows what a .nrt file, a folder of shards or a manifest contains: keys with dims, dtypes and
rows, and a picture of the lengths at each level. Estimates how much of a batch is padding, for
rows drawn at random and for rows sorted by length. Reads only bounds, no values. Deleted rows
are counted apart: all figures but the size are those of the others.

--account shows, by files and columns, what came in and went out when the file was made: values,
nulls, and distinct numbers or words. It also shows what was left out or changed, why, and where
that happened first.

--html writes the figures as one HTML file with pictures; it needs no other file, no script and
no network.
"""
_PICTURE_BINS = 32
_PAGE_BINS = 48
_SIZES = (2, 4, 8, 16, 32, 64, 128, 256)


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = add_command(commands, "info", "show what a file or folder contains", _DESCRIPTION, _run)
    parser.add_argument("path", metavar="FILE|FOLDER", help="a .nrt file, a folder of shards, or a manifest")
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
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the same figures as JSON")
    form.add_argument("--html", action="store_true", help="write them as a page with pictures")
    parser.add_argument(
        "-o", dest="output", metavar="PAGE", help="the page to write (default: FILE.html, in this folder)"
    )
    parser.add_argument("--force", action="store_true", help="replace PAGE if it exists")


def padding_share(lengths: Ints, batch_size: int) -> float:
    """The share of slots that hold padding when consecutive rows are batched and padded to the longest."""
    if not len(lengths):
        return 0.0
    begins = np.arange(0, len(lengths), batch_size)
    counts = np.diff(begins, append=len(lengths))
    slots = int((np.maximum.reduceat(lengths, begins) * counts).sum())
    return 1 - int(lengths.sum()) / slots if slots else 0.0


def describe(path: str | Path, batch_size: int = 32, *, pictures: bool = False) -> dict[str, Any]:
    """The figures that ``varlen info`` prints, as plain Python values; on request those of its pictures."""
    if batch_size < 1:
        raise value_error("batch_size", f"expected at least 1, got {batch_size}")
    from varlen import data
    from varlen.io.dtypes import stand_in_name
    from varlen.io.manifest_file import file_sets

    rest, sets = data.open(path), file_sets(path)
    source = rest.source
    fields: Any = source.fields
    schema = {name: column for part in reversed(sets) for name, column in part.schema.items()}
    sizes = {name: _key_bytes(part, name) for part in sets if part.decodes for name in part.names}
    own_levels = rest._levels(rest.depth)
    counts = [len(rest), *(level.total for level in own_levels)]
    levels = []
    shuffle = np.random.default_rng(0).permutation
    for dim, own_level in enumerate(own_levels, start=1):
        lengths = own_level.lengths
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
            if pictures:
                level |= _picture_figures(lengths, sorted({*_SIZES, batch_size}))
        levels.append(level)
    return {
        "path": str(path),
        "bytes": sum(part.file(i).identity[0] for part in sets for i in range(len(part.paths))),
        "shards": sum(len(part.paths) for part in sets),
        "rows": len(rest),
        "deleted": len(source) - len(rest),
        "row_ids": source.row_ids,
        "keys": {
            name: {
                "dim": entry.dim,
                "dtype": stand_in_name(entry.tag) or str(entry.dtype),
                "rows": counts[entry.dim],
                "trailing": list(entry.trailing),
                "words": None if entry.vocabulary is None else len(entry.vocabulary),
                "padding_id": entry.padding_id,
                "kind": schema[name].kind,
                "nullable": schema[name].nullable,
                "zone": schema[name].zone,
                "dims": list(schema[name].dims),
                "note": schema[name].note,
                **({"bytes": sizes[name][0], "plain_bytes": sizes[name][1]} if name in sizes else {}),
            }
            for name, entry in fields.items()
        },
        "levels": levels,
    }


def _key_bytes(source: ShardSet, name: str) -> tuple[int, int]:
    """The bytes that a key takes in all files, and would take in plain ones."""
    sizes = [source.file(shard).key_bytes(name) for shard in np.flatnonzero(source.counts).tolist()]
    return sum(own for own, _ in sizes), sum(plain for _, plain in sizes)


def _picture_figures(lengths: Ints, batch_sizes: Sequence[int]) -> dict[str, Any]:
    """The bars of the lengths, and the share of padding by batch size."""
    from varlen.display.picture import count_lengths

    counts, edges = count_lengths(lengths, _PAGE_BINS)
    sizes = [size for size in batch_sizes if size <= len(lengths)]
    shuffle, order = np.random.default_rng(0).permutation(lengths), np.sort(lengths)
    return {
        "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
        "padding_by_size": {
            "batch_sizes": sizes,
            "shuffled": [padding_share(shuffle, size) for size in sizes],
            "sorted": [padding_share(order, size) for size in sizes],
        },
    }


def as_bytes(n: int) -> str:
    """A size for people."""
    size = float(n)
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:,.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1000
    raise AssertionError("unreachable")


def _key_rows(facts: dict[str, Any]) -> list[tuple[str, ...]]:
    """The names of the columns, and a row for each key."""
    lines: list[tuple[str, ...]] = [("key", "dim", "dtype", "rows", "")]
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
        notes += [f"{as_bytes(key['bytes'])} of {as_bytes(key['plain_bytes'])}"] if "bytes" in key else []
        notes += [] if key["note"] is None else [f"text: {key['note']}"]
        lines.append((name, str(key["dim"]), key["dtype"], f"{key['rows']:,}", ", ".join(notes)))
    return lines


def _key_table(facts: dict[str, Any]) -> Iterator[str]:
    """A line for each key, under the names of the columns, which are as wide as their contents."""
    lines = _key_rows(facts)
    yield from (line.rstrip() for line in align(lines, right=(1, 3)))


def _run(arguments: argparse.Namespace) -> int:
    check_positive(arguments, "batch_size")
    if arguments.html:
        return _write_page(arguments)
    if arguments.output is not None or arguments.force:
        raise Misuse(f"{'--force' if arguments.output is None else '-o'} needs --html")
    if arguments.account:
        return _print_account(arguments)
    facts = describe(arguments.path, arguments.batch_size)
    if arguments.json:
        print(json.dumps(facts, indent=2, ensure_ascii=False))
        return 0
    print(f"{facts['path']}: {_head(facts)}\n")
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


def _head(facts: dict[str, Any]) -> str:
    shards = "" if facts["shards"] == 1 else f" in {facts['shards']:,} shards"
    deletions = f", {facts['deleted']:,} deleted" if facts["deleted"] else ""
    return f"{facts['rows']:,} rows{deletions}, {as_bytes(facts['bytes'])}{shards}"


def _write_page(arguments: argparse.Namespace) -> int:
    from varlen import data
    from varlen.cli.info_page import page
    from varlen.io.atomic import replace_file, write_all

    source = Path(arguments.path)
    target = Path(f"{source.resolve().stem}.html" if arguments.output is None else arguments.output)
    check_parent(target, arguments.path)
    if target.exists() and not arguments.force:
        raise FileExistsError(f"{target}: already exists; --force replaces it")
    facts = describe(source, arguments.batch_size, pictures=True)
    rows: list[tuple[str, ...]] = []
    reasons: list[str] = []
    if arguments.account:
        account = data.open(source).account
        rows, reasons = _account_rows(account), list(account.summary())
    text = page(facts, _head(facts), _key_rows(facts), rows, reasons)
    with replace_file(target) as fd:
        write_all(fd, [text.encode()])
    print(f"{target}: {as_bytes(target.stat().st_size)}")
    return 0


def _print_account(arguments: argparse.Namespace) -> int:
    from varlen import data

    account = data.open(arguments.path).account
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


def _account_rows(account: Account) -> list[tuple[str, ...]]:
    """The names of the columns, then a row for all rows and each column, input and output side by side."""
    names = ("column", "in", "nulls", "distinct", "out", "nulls", "distinct", "words")
    lines: list[tuple[str, ...]] = [
        names,
        ("rows", *_figures(account.rows.source), *_figures(account.rows.result), ""),
    ]
    for name, balance in account.columns.items():
        words = balance.result.words
        word_text = "" if words is None else f"{words:,}"
        lines.append((name, *_figures(balance.source), *_figures(balance.result), word_text))
    return lines


def _account_table(account: Account) -> Iterator[str]:
    """A line for the rows and for each column."""
    lines = _account_rows(account)
    yield from (line.rstrip() for line in align(lines, right=range(1, len(lines[0]))))


def _figures(tally: Tally) -> tuple[str, str, str]:
    entry = tally.as_dict()
    at_least = "distinct_at_least" in entry
    distinct = entry.get("distinct_at_least", entry.get("distinct"))
    nulls = "" if tally.nulls is None else f"{tally.nulls:,}"
    return f"{tally.values:,}", nulls, "" if distinct is None else f"{'>= ' if at_least else ''}{distinct:,}"
