"""``varlen convert``: JSON lines and tables into .nrt files."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from varlen.cli.errors import Misuse
from varlen.cli.manual import add_command, check_parent, check_positive

__all__ = ["add_parser"]

_DESCRIPTION = """\
Converts IN into OUT, piece by piece, in memory that does not grow with the input.

  .jsonl .ndjson .json     a record a line, an object whose values are numbers, strings or nested lists
  .parquet .pq             tables; list columns nest by themselves, the fields of a struct become
  .feather .arrow .ipc     keys of their own (visit.code); these and CSV need pyarrow
  .csv

OUT is one .nrt file, or with --rows-per-shard a folder of them with an index. Rows keep their
order. Strings become ids into a vocabulary that is kept in the file.

A long table, an event a row, nests with --group-by: consecutive rows with the same value become
one record, a second --group-by one sequence inside it. The group columns keep one value a group.
Rows of a group that are not together are refused, unless --regroup gathers them in memory.
"""
_TABLES = {".parquet", ".pq", ".feather", ".arrow", ".ipc", ".arrows", ".csv"}
_LINES = {".jsonl", ".ndjson", ".json"}


def add_parser(commands: Any) -> None:
    """Adds the command to the parser.

    Examples
    --------
    >>> commands = argparse.ArgumentParser().add_subparsers()
    >>> add_parser(commands)
    >>> list(commands.choices)
    ['convert']
    """
    parser = add_command(
        commands, "convert", "JSON lines, Parquet, Feather, Arrow or CSV into .nrt", _DESCRIPTION, _run
    )
    add = parser.add_argument
    add("source", metavar="IN", type=Path, help="the file to read")
    add(
        "target",
        metavar="OUT",
        type=Path,
        help="the .nrt file, or with --rows-per-shard the folder, to write",
    )
    add(
        "--group-by",
        metavar="COL",
        action="append",
        default=[],
        help="nest a long table by this column; may be repeated",
    )
    add("--regroup", action="store_true", help="gather the rows of each group first, in memory (tables only)")
    add("--columns", metavar="A,B,...", help="only these columns or keys")
    add(
        "--nulls",
        choices=("refuse", "nan", "fill"),
        default="refuse",
        help="what a null becomes (default: refuse)",
    )
    add("--fill", metavar="VALUE", help="the value for --nulls fill")
    add("--row-ids", metavar="KEY", help="the key, one value a record, by which records are looked up")
    add(
        "--narrow",
        action="store_true",
        help="store integers in the narrowest dtype that holds them, floats as float32",
    )
    add("--rows-per-shard", metavar="N", type=int, help="write shards of N records into the folder OUT")
    add("--batch-rows", metavar="N", type=int, default=65536, help="rows read at a time (default: 65536)")
    add("--force", action="store_true", help="replace OUT if it is there")
    add("--quiet", action="store_true", help="no progress bar, no summary")


def _check(arguments: argparse.Namespace) -> None:
    kind = arguments.source.suffix.lower()
    if kind not in _TABLES | _LINES:
        raise Misuse(
            f"{arguments.source}: cannot tell the format from {kind!r}; "
            f"known: {', '.join(sorted(_TABLES | _LINES))}"
        )
    if (arguments.nulls == "fill") != (arguments.fill is not None):
        raise Misuse("--nulls fill and --fill VALUE go together")
    check_positive(arguments, "rows_per_shard", "batch_rows")
    for option, names in (("--columns", _columns(arguments) or []), ("--group-by", arguments.group_by)):
        twice = [name for i, name in enumerate(names) if name in names[:i]]
        if twice or "" in names:
            raise Misuse(f"{option}: {twice[0]!r} is given twice" if twice else f"{option}: an empty name")
    if kind in _LINES and (arguments.group_by or arguments.regroup):
        raise Misuse("--group-by and --regroup nest tables; JSON lines nest by their lists")
    if arguments.regroup and not arguments.group_by:
        raise Misuse("--regroup needs --group-by")
    if arguments.rows_per_shard is None and arguments.target.is_dir():
        raise Misuse(f"{arguments.target}: is a folder; give a file, or --rows-per-shard N")
    if arguments.rows_per_shard is not None and arguments.target.is_file():
        raise Misuse(f"{arguments.target}: is a file; --rows-per-shard writes a folder")
    if not arguments.source.is_file():
        raise FileNotFoundError(f"{arguments.source}: no such file")
    if arguments.target.exists() and not (arguments.target.is_file() or arguments.target.is_dir()):
        raise Misuse(f"{arguments.target}: is neither a file nor a folder")
    if arguments.target.exists() and arguments.target.samefile(arguments.source):
        raise Misuse(f"{arguments.target}: IN and OUT are the same file")
    check_parent(arguments.target, arguments.target)
    if arguments.target.exists() and not arguments.force:
        raise FileExistsError(f"{arguments.target}: already exists; --force replaces it")
    if arguments.target.is_dir():
        others = [p.name for p in arguments.target.iterdir() if not _is_ours(p)]
        if others:
            raise FileExistsError(
                f"{arguments.target}: holds {min(others)!r}; --force replaces folders of shards only"
            )


def _is_ours(path: Path) -> bool:
    return path.name == "index.json" or (path.name.startswith("part-") and path.suffix == ".nrt")


def _columns(arguments: argparse.Namespace) -> list[str] | None:
    if arguments.columns is None:
        return None
    return [name.strip() for name in arguments.columns.split(",")]


def _fill(text: str | None) -> Any:
    """A number where the text is one, the text itself otherwise."""
    for read in (int, float):
        try:
            return read(text)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            continue
    return text


def _run(arguments: argparse.Namespace) -> int:
    _check(arguments)
    import time

    from varlen import io
    from varlen.cli.info import as_bytes
    from varlen.cli.pieces import ConversionPlan, cast, learn_dtypes, name_file

    plan = ConversionPlan(
        arguments.source,
        rows=arguments.batch_rows,
        columns=_columns(arguments),
        groups=tuple(arguments.group_by),
        regroup=arguments.regroup,
        nulls=(arguments.nulls, _fill(arguments.fill)),
        quiet=arguments.quiet,
    )
    start = time.perf_counter()
    if plan.lines or arguments.narrow or plan.has_text():
        learn_dtypes(plan, narrow=arguments.narrow)
    options: dict[str, Any] = {
        "schema": plan.dtypes,
        "vocabularies": {name: list(words) for name, words in plan.words.items()},
        "row_ids": arguments.row_ids,
    }
    records = 0
    # Errors at the end are the input's fault too, except those of the system.
    with (
        name_file(arguments.source, (ValueError, TypeError, OverflowError)),
        _writer(arguments, options) as writer,
    ):
        for joint in plan.read("writing"):
            if arguments.row_ids is not None and joint.dim(arguments.row_ids) != 0:
                raise ValueError(f"--row-ids: {arguments.row_ids!r} is not a key with one value a record")
            writer.append(cast(joint, plan.dtypes))
            records += len(joint)
    if not arguments.quiet:
        found = io.open_shards(arguments.target)
        size = sum(Path(path).stat().st_size for path in found.paths)
        took = time.perf_counter() - start
        print(
            f"{arguments.target}: {records:,} records, {len(found.names)} keys, "
            f"{as_bytes(size)} in {took:,.1f} s"
        )
    return 0


@contextlib.contextmanager
def _writer(arguments: argparse.Namespace, options: dict[str, Any]) -> Iterator[Any]:
    """The writer of OUT. What is there stays until the new files are complete."""
    from varlen import io

    target = arguments.target.resolve()
    if arguments.rows_per_shard is None:
        with io.Writer(target, **options) as writer:
            yield writer
    elif not target.is_dir():
        with io.ShardWriter(target, arguments.rows_per_shard, **options) as writer:
            yield writer
    else:
        new, old = (target.with_name(f".{target.name}.{os.getpid()}-{word}") for word in ("new", "old"))
        with io.ShardWriter(new, arguments.rows_per_shard, **options) as writer:
            yield writer
        target.rename(old)
        try:
            new.rename(target)
        except BaseException:
            old.rename(target)
            shutil.rmtree(new)
            raise
        shutil.rmtree(old)
