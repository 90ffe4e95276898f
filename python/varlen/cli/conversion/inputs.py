"""The input files of a conversion: given by name, pattern or folder, plain or compressed."""

from __future__ import annotations

import bz2
import contextlib
import csv
import glob
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from varlen.cli.errors import Misuse, one_line
from varlen.errors import file_error
from varlen.io.manifest_file import is_manifest

__all__ = ["Input", "find_inputs", "first_lines", "is_meds", "open_bytes"]

_KINDS = {
    ".jsonl": "lines",
    ".ndjson": "lines",
    ".json": "lines",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrow",
}
_COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")

#: What separates fields where a header lacks what its suffix says.
_DELIMITERS = (";", "\t", "|", ",")


@dataclass(frozen=True)
class Input:
    """A file, its format and its compression."""

    path: Path
    kind: str
    compression: str = ""
    separator: str | None = None

    @classmethod
    def from_path(cls, path: Path, separator: str | None = None) -> Input:
        """The input of a file, by its suffixes."""
        last = path.suffix.lower()
        compression = last if last in _COMPRESSIONS else ""
        suffix = Path(path.stem).suffix.lower() if compression else last
        kind = _KINDS.get(suffix)
        if kind is None:
            formats = ", ".join(sorted(_KINDS))
            raise Misuse(f"{path}: cannot tell the format from {suffix!r}; known: {formats}")
        if compression and kind in ("parquet", "arrow"):
            raise Misuse(f"{path}: {suffix} files are compressed inside; unpack this one")
        return cls(path, kind, compression, separator if kind == "csv" else None)

    @property
    def usual_delimiter(self) -> str:
        """The separator of fields, by the suffix."""
        name = self.path.stem if self.compression else self.path.name
        return "\t" if name.lower().endswith(".tsv") else ","

    @cached_property
    def delimiter(self) -> str:
        """The separator of fields: the given one, the usual one, or that of the header."""
        if self.separator is not None:
            return self.separator
        lines = first_lines(self, 2)
        fields = [next(csv.reader([line], delimiter=self.usual_delimiter), []) for line in lines]
        if not lines or len(fields[0]) > 1:
            return self.usual_delimiter
        for sign in _DELIMITERS:
            counts = {len(next(csv.reader([line], delimiter=sign), [])) for line in lines}
            if len(counts) == 1 and counts.pop() > 1:  # in the first row too: it may be one name
                return sign
        return self.usual_delimiter


def find_inputs(names: Sequence[str], separator: str | None = None) -> list[Input]:
    """The files of names, patterns and folders, in this order; those of a folder or pattern sorted.
    `separator` is the given separator of CSV fields, if any.
    """
    inputs: list[Input] = []
    for name in names:
        inputs += _inputs_of(name, separator)
    paths: set[Path] = set()
    for one in inputs:
        path = one.path.resolve()
        if path in paths:
            raise Misuse(f"{one.path}: given twice")
        paths.add(path)
    lines = [one.path for one in inputs if one.kind == "lines"]
    tables = [one.path for one in inputs if one.kind != "lines"]
    if lines and tables:
        raise Misuse(f"{lines[0]} holds lines and {tables[0]} a table; convert them apart")
    return inputs


def is_meds(folder: Path) -> bool:
    """Whether a folder is laid out as MEDS is."""
    return (folder / "data").is_dir() and (folder / "metadata").is_dir()


def _inputs_of(name: str, separator: str | None) -> list[Input]:
    path = Path(name)
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.is_file() and not _is_hidden(p.relative_to(path)))
        inputs = [Input.from_path(p, separator) for p in files if _is_known(p)]
        if not inputs:
            raise FileNotFoundError(f"{path}: holds no file of a known format")
        return inputs
    if glob.has_magic(name) and not path.exists():
        matches = sorted(glob.glob(name, recursive=True))
        if not matches:
            raise FileNotFoundError(f"{name}: no file matches")
        return [Input.from_path(Path(match), separator) for match in matches if Path(match).is_file()]
    one = Input.from_path(path, separator)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    if is_manifest(path):
        raise Misuse(
            f"{path}: is a manifest of a data set, no table; varlen.open(...).save(...) writes its rows"
        )
    return [one]


def _is_known(path: Path) -> bool:
    with contextlib.suppress(Misuse):
        Input.from_path(path)
        return True
    return False


def _is_hidden(path: Path) -> bool:
    """Whether it belongs to another program, such as ``_SUCCESS``; columns in folder names are refused."""
    for part in path.parent.parts:
        if "=" in part:
            raise Misuse(f"{path}: the folder {part!r} holds a column that the files lack; put it into them")
    return any(part.startswith((".", "_")) for part in path.parts)


@contextlib.contextmanager
def open_bytes(one: Input) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """The unpacked content of a file, and the file itself, whose position shows the progress."""
    with one.path.open("rb") as file:
        if not one.compression:
            yield file, file
            return
        try:
            with _decompress(one, file) as content:
                yield content, file
        except (EOFError, lzma.LZMAError, zlib.error, OSError) as wrong:
            if isinstance(wrong, OSError) and wrong.errno is not None:
                raise  # of the system
            why = f"is cut short or damaged, or no {one.compression} file: {one_line(wrong)}"
            raise file_error(one.path, why) from None


def _decompress(one: Input, file: IO[bytes]) -> Any:
    if one.compression == ".zst":
        import pyarrow as pa

        return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd"))
    openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    return openers[one.compression](file, "rb")


def first_lines(one: Input, count: int) -> list[str]:
    r"""The first rows of CSV as text, without empty ones; quotes hold a row together."""
    lines: list[str] = []
    with open_bytes(one) as (content, _):
        while len(lines) < count and (raw := content.readline()):
            while raw.count(b'"') % 2 and (line := content.readline()):
                raw += line
            if raw.strip():
                lines.append(raw.decode("utf-8-sig" if not lines else "utf-8"))
    return lines
