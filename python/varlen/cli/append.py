"""``varlen append``: rows of JSON lines, tables and data sets added to a folder of shards."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from varlen.cli.convert import add_reading, run
from varlen.cli.manual import add_command

__all__ = ["add_parser"]

_DESCRIPTION = """\
Adds the rows of IN... to FOLDER, a finished folder of shards. IN is what `varlen convert` takes:
JSON lines, Parquet, Feather, Arrow, CSV; or .nrt files and folders of them. Give the options that
shape the rows, such as --group-by, as they were given to `varlen convert`.

Keys, dims, dtypes, row ids, vocabularies, declarations and checksums are those of FOLDER. If a
column is missing or new, or a value does not fit, the command names it and adds nothing. New words
get the next ids.

Old files stay as they are. A reader sees the old rows or all of them, and a command that is
stopped adds nothing. Another writer that is at work in FOLDER is an error.
"""

# What belongs to the folder.
_OPTIONS: dict[str, Any] = {
    "append": True, "types": None, "schema": None, "infer_schema": None, "vocabulary": [], "reserve": None,
    "no_padding_id": False, "unknown": None, "row_ids": None, "narrow": False, "compress": False,
    "drop_unsplit": False, "checksums": False, "force": False, "workers": None, "engine": None,
}  # fmt: skip


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = add_command(commands, "append", "add rows to a folder of shards", _DESCRIPTION, run)
    add = parser.add_argument
    add("sources", metavar="IN", nargs="+", help="files, patterns or folders to read")
    add("target", metavar="FOLDER", type=Path, nargs="?", help="the folder to add to")
    add_reading(parser)
    rows_help = "rows of a new shard (default: those of the largest there is)"
    add("--rows-per-shard", metavar="N", type=int, help=rows_help)
    add("--json", action="store_true", help="print only the account, as JSON")
    add("--quiet", action="store_true", help="no progress bar, no summary")
    parser.set_defaults(**_OPTIONS)
