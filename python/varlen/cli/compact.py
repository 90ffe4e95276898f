"""``varlen compact``: deleted rows taken out of the files of a folder."""

from __future__ import annotations

import argparse
import os
import sys

from varlen.cli.manual import add_command, add_engine, check_positive

__all__ = ["add_parser"]

_DESCRIPTION = """\
Takes the rows that Dataset.delete deleted out of the files of a folder of shards. Only files with
deleted rows are written anew; then one new index names them all, so that a reader sees the same
rows before and after it. A run that was stopped goes on with the files that are missing.

The old files stay for programs that opened the folder before, until --clean deletes them.

--workers N writes files in N processes, and --engine on Dask or Ray.
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = add_command(commands, "compact", "take deleted rows out of a folder's files", _DESCRIPTION, _run)
    parser.add_argument("folder", metavar="FOLDER", help="a folder of shards with an index")
    parser.add_argument("--clean", action="store_true", help="delete the files that were replaced")
    add_engine(parser, "processes that write files", "what writes the files")
    parser.add_argument("--quiet", action="store_true", help="no progress bar, no summary")


def _run(arguments: argparse.Namespace) -> int:
    check_positive(arguments, "workers")
    from varlen import io
    from varlen.cli.info import as_bytes

    shards = io.open_shards(arguments.folder) if os.path.exists(arguments.folder) else None
    how = {"engine": arguments.engine, "workers": arguments.workers}
    has_bar = not arguments.quiet and sys.stderr.isatty()
    result = io.compact(arguments.folder, clean=arguments.clean, progress=has_bar, **how)
    if not arguments.quiet and shards is not None:
        count, files = len(shards.deletions), len({*shards.paths} - {*result.paths})
        size = as_bytes(sum(os.stat(path).st_size for path in result.paths))
        end = "" if arguments.clean or not files else "; the old ones stay until --clean"
        loss = f"{_count(count, 'deleted row')} taken out of {_count(files, 'file')}{end}"
        print(f"{arguments.folder}: {_count(len(result), 'row')}, {size}; {loss}")
    return 0


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
