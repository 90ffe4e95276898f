"""``varlen verify``: every byte of files and folders compared with its checksum."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from varlen.cli.errors import one_line
from varlen.cli.manual import add_command, add_engine, check_positive

__all__ = ["add_parser"]

_DESCRIPTION = """\
Compares every byte of files and folders of shards with the checksums that were stored when they
were written: those of an index, of each header and of each array. Then it checks that bounds and
ids of words fit. Of a manifest it checks all files of the last version. It prints each fault,
with its file and its place, and ends with exit code 1 if there is one.

`varlen convert --checksums`, and checksums=True in Python, store checksums. A file without them
is a fault. The package xxhash computes them: pip install 'varlen[checksums]'.

--workers N checks files in N processes, and --engine on Dask or Ray. --resume FILE notes each file
that is right; a run that was stopped goes on from there, and later runs check only files that are
new, changed or wrong.
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = add_command(commands, "verify", "compare all bytes with their checksums", _DESCRIPTION, _run)
    parser.add_argument(
        "paths",
        metavar="FILE|FOLDER",
        nargs="+",
        help="a .nrt file, a folder of shards, or a manifest",
    )
    parser.add_argument("--json", action="store_true", help="print faults and sizes as JSON")
    parser.add_argument("--quiet", action="store_true", help="print faults only")
    add_engine(parser, "processes that check files", "what runs the checks")
    parser.add_argument("--resume", metavar="FILE", help="note files that are right, and skip those noted")


def _run(arguments: argparse.Namespace) -> int:
    from varlen.cli.info import as_bytes

    check_positive(arguments, "workers")
    how = {"engine": arguments.engine, "workers": arguments.workers, "resume": arguments.resume}
    reports = [_report(path, how) for path in arguments.paths]
    if arguments.json:
        print(json.dumps(reports, indent=2, ensure_ascii=False))
    else:
        for report in reports:
            for fault in report["faults"]:
                print(fault["text"])
            if not report["faults"] and not arguments.quiet:
                speed = f"{as_bytes(report['bytes'])} in {report['seconds']:,.1f} s"
                print(f"{report['path']}: {_files(report['files'])}, {speed}: as written")
    return 1 if any(report["faults"] for report in reports) else 0


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def _report(path: str, how: dict[str, Any]) -> dict[str, Any]:
    """The faults of a file or a folder, and its size."""
    from varlen import io
    from varlen.io.manifest_file import file_sets

    start = time.perf_counter()
    faults = io.verify(path, **how)
    seconds = time.perf_counter() - start
    sets = [] if faults else file_sets(path)
    files = [shards.file(i) for shards in sets for i in range(len(shards.paths))]
    return {
        "path": path,
        "files": len(files),
        "bytes": sum(file.identity[0] for file in files),
        "seconds": round(seconds, 3),
        "faults": [
            {
                "text": one_line(fault),
                "file": getattr(fault, "file", ""),
                **{name: getattr(fault, name) for name in _FIELDS if hasattr(fault, name)},
            }
            for fault in faults
        ],
    }


_FIELDS = ("argument", "key", "dim", "expected", "found")
