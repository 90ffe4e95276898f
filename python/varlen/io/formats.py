"""Descriptions of files and folders that are not ``.nrt``, by their first bytes, and advice."""

from __future__ import annotations

import collections
import os
import re

from varlen.io.errors import FileFormatError, format_error

__all__: list[str] = []

#: The format that a manifest says it has.
MANIFEST = "varlen-set"

_HEAD = 4096

#: The format that a file of `varlen.save` says in its metadata.
TREE = "varlen.tree"

_CONVERT = "`varlen convert` makes one of it"
_UNPACKED = "unpack it, or let `varlen convert` read the table or the lines in it"
_SAVE = "read it, and write its arrays with `varlen.io.save`"

#: First bytes, what begins so, and what to do.
_MAGIC = (
    (b"PAR1", "a Parquet file", _CONVERT),
    (b"ARROW1", "an Arrow file", _CONVERT),
    (b"\x1f\x8b", "a file compressed by gzip", _UNPACKED),
    (b"BZh", "a file compressed by bzip2", _UNPACKED),
    (b"\xfd7zXZ\0", "a file compressed by xz", _UNPACKED),
    (b"\x28\xb5\x2f\xfd", "a file compressed by zstd", _UNPACKED),
    (b"PK\x03\x04", "a zip archive, as .npz files and checkpoints of torch are", _SAVE),
    (b"\x93NUMPY", "an array of NumPy", _SAVE),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", _SAVE),
    (b"SQLite format 3\0", "a database of SQLite", "export its table, which `varlen convert` reads"),
    (b"version https://git-lfs", "a pointer of Git LFS", "fetch the file itself, by `git lfs pull`"),
)
#: Suffixes of what `varlen convert` reads.
_TABLES = (
    ".csv",
    ".tsv",
    ".parquet",
    ".pq",
    ".feather",
    ".arrow",
    ".ipc",
    ".arrows",
    ".jsonl",
    ".ndjson",
    ".json",
)
_PACKED = (".gz", ".bz2", ".xz", ".zst")


def describe_bytes(head: bytes, name: str) -> str | None:
    """A description of a file with these first bytes, and advice; None if they tell nothing.

    >>> describe_bytes(b"PAR1", "a.parquet")
    'is a Parquet file, no .nrt file; `varlen convert` makes one of it'
    """
    if not head:
        return "is empty; make or copy it again"
    for magic, what, deed in _MAGIC:
        if head.startswith(magic):
            return f"is {what}, no .nrt file; {deed}"
    if f'"format":"{TREE}"'.encode() in head:
        return "was written by `varlen.save`, and is no .nrt file; `varlen.load` reads it"
    if re.match(rb"\xff{4}[\0-\xff]{3}\0", head):  # and the size of a schema
        return f"is a stream of Arrow, no .nrt file; {_CONVERT}"
    if re.match(rb"\x80[\x02-\x05]", head):
        return f"is a pickle, no .nrt file; {_SAVE}"
    text = _text(head)
    if text is None:
        return None
    line = text.lstrip("\ufeff \t\r\n").partition("\n")[0]
    if f'"{MANIFEST}"'.encode() in head:
        return "is a manifest of a data set, no .nrt file; `varlen.open` opens it"
    if line.startswith(("{", "[")):
        return f"is JSON, no .nrt file; {_CONVERT}, where each line is an object"
    if line.startswith("<"):
        return "is a page of HTML or XML, no .nrt file; look at where it came from"
    if name.lower().endswith(_TABLES) or any(sign in line for sign in ",;\t|"):
        return f"is text, a table like CSV, and no .nrt file; {_CONVERT}"
    return "is text, no .nrt file; `varlen convert` reads tables like CSV, and JSON lines"


def _text(head: bytes) -> str | None:
    """The first bytes as text; None if they are not text."""
    for cut in range(4):  # a letter may go on behind them
        try:
            text = head[: len(head) - cut].decode("utf-8-sig")
        except UnicodeDecodeError:
            continue
        return None if re.search(r"[\0-\x08\x0e-\x1a\x1c-\x1f]", text) else text
    return None


def describe_file(path: str) -> str | None:
    """A description of a regular file that could not be opened, as from `describe_bytes`."""
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            return describe_bytes(file.read(_HEAD), os.path.basename(path))
    except OSError:
        return None


def explain(error: FileFormatError, path: str, head: bytes | None = None) -> FileFormatError:
    """The error of a file, or one that describes the file if its first bytes allow."""
    reason = describe_file(path) if head is None else describe_bytes(head[:_HEAD], path.partition("?")[0])
    return error if reason is None else format_error(path, reason)


def describe_folder(path: str) -> str:
    """A description of a folder without ``.nrt`` files, and advice."""
    if os.path.isdir(os.path.join(path, "data")) and os.path.isdir(os.path.join(path, "metadata")):
        return "it is laid out as MEDS is; `varlen convert` makes the folder of meds-torch-data of it"
    suffixes: collections.Counter[str] = collections.Counter()
    names = sorted(os.listdir(path))
    for name in names:
        root, last = os.path.splitext(name.lower())
        suffixes[os.path.splitext(root)[1] + last if last in _PACKED else last] += 1
    kind = next((s for s, _ in suffixes.most_common() if s.endswith(_TABLES) or s.startswith(_TABLES)), None)
    if kind:
        files = f"a {kind} file" if suffixes[kind] == 1 else f"{suffixes[kind]:,} {kind} files"
        return f"it holds {files}; `varlen convert` makes a data set of such"
    deeper = next((name for name in names if os.path.isdir(os.path.join(path, name))), None)
    if not names:
        return "it is empty"
    if deeper is not None:
        return (
            f"it holds other folders, such as {deeper!r}; give one of them, or a pattern such as '**/*.nrt'"
        )
    return f"it holds {names[0]!r}" + (f" and {len(names) - 1:,} more" if len(names) > 1 else "")
