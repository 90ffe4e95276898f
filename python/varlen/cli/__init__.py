"""The command line: ``varlen`` and ``python -m varlen``.

Exit codes: 0 success, 1 failure (the reason in one line on stderr), 2 wrong usage.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from varlen._core import __version__
from varlen.cli.errors import Misuse, one_line

__all__ = ["main"]

_COMMANDS = ("demo", "info", "convert", "append", "compact", "verify", "bench")  # modules of this package

_EPILOG = """\
examples:
  varlen demo                                   batch the standard library's sources
  varlen info visits.nrt                        show what a file contains
  varlen info --html visits.nrt                 write it as a page with pictures
  varlen convert visits.jsonl visits.nrt        convert nested lists, one record per line
  varlen convert events.parquet out/ --group-by patient --group-by visit --rows-per-shard 100000
  varlen append more.parquet out/               add rows to a folder of shards
  varlen compact out/                           take deleted rows out of the files
  varlen verify out/                            compare all bytes with their checksums
  varlen bench --rows pad                       run the benchmarks whose name matches

`varlen COMMAND --help` explains a command.
"""


def _parser(command: str | None) -> argparse.ArgumentParser:
    """The parser of one command, or of all if none is named, for the list."""
    from varlen.cli.manual import Parser

    parser = Parser(
        prog="varlen",
        description="Work with sequences of different lengths: inspect and convert files, run benchmarks.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"varlen {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in [command] if command in _COMMANDS else _COMMANDS:
        import_module(f"varlen.cli.{name}").add_parser(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code."""
    args = sys.argv[1:] if argv is None else argv
    parser = _parser(args[0] if args else None)
    arguments, rest = parser.parse_known_args(args)
    if rest:  # what stands behind an option that stands between names
        if "sources" not in arguments or any(one.startswith("-") for one in rest):
            arguments.parser.refuse(rest)
        arguments.sources += rest if arguments.target is None else [str(arguments.target), *rest]
        arguments.target = None
    run: Callable[[argparse.Namespace], int] = arguments.run
    if argv is None:  # the process is the command's own: what it wrote so far is taken away
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return run(arguments)
    except KeyboardInterrupt:
        print("varlen: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away, for example `| head`: not worth a word
        return 1
    except Misuse as wrong:
        print(f"varlen: {wrong}", file=sys.stderr)
        return 2
    except (
        OSError,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        OverflowError,
        ImportError,
        MemoryError,
        RuntimeError,
    ) as wrong:
        for line in getattr(wrong, "lines", [one_line(wrong)]):
            print(f"varlen: {line}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
