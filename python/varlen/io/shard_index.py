"""Folders of shards: the files of a data set, their order and their index."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from varlen.arguments import as_path
from varlen.errors import instance_error, name_file, value_error
from varlen.io import atomic
from varlen.io.account import Account
from varlen.io.cache import open_store
from varlen.io.checksums import CHECKSUM, NO_CHECKSUM, compare, library, seal
from varlen.io.dtypes import TAG_ORDER, face_dtype
from varlen.io.errors import FileFormatError, checksum_error, format_error
from varlen.io.formats import describe_folder
from varlen.io.schema import Field, Metadata, load_json
from varlen.io.urls import is_http, is_pattern, is_url, join_url

__all__ = ["INDEX"]

INDEX = "index.json"

_MAX_INDEX = 100_000_000

Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]


class Shard(NamedTuple):
    """One file, and its fields from an index; None if there is no index."""

    path: str
    rows: int | None = None
    size: int | None = None
    fields: Mapping[str, Field] | None = None  # one object for all shards of an index
    checksum: str | None = None  # of its header
    has_index: bool = True  # where its rows are known: by the index of its folder, not by a manifest
    deletions: Ints | None = None  # the rows of the file that were deleted, in order; they are in `rows`
    account: Any = None  # one object for all shards of an index: the account of its rows, as JSON

    @property
    def is_listed(self) -> bool:
        """Whether an index lists it."""
        return self.rows is not None and self.has_index


def find_shards(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    options: Mapping[str, Any] | None = None,
    cache: object = None,
    *,
    verify: bool = False,
    sizes: bool = True,
) -> tuple[Shard, ...]:
    """The files, in the order of their rows, of a file, a list of files, a pattern, a folder or its index; or
    of URLs of these, with the options of their file system and a cache.

    verify: compare an index with its checksum. sizes: refuse listed files that are gone or have another size.
    """
    if not isinstance(path, (str, bytes, os.PathLike)):
        if not isinstance(path, (list, tuple)):
            raise instance_error("path", "a path or a list of paths", path)
        parts = [find_shards(item, options, cache, verify=verify, sizes=sizes) for item in path]
        if not parts:
            raise value_error("path", "the list of files is empty")
        return tuple(shard for part in parts for shard in part)
    if is_url(path):
        return _find_remote(str(path), options, cache, verify)
    name = os.path.abspath(as_path(path))
    if os.path.isdir(name):
        index = os.path.join(name, INDEX)
        if os.path.exists(index):
            return read_index(index, verify=verify, sizes=sizes)
        files = sorted(glob.glob(os.path.join(glob.escape(name), "*.nrt")))
        return _files(files, "" if files else f"no .nrt file in folder {name}: {describe_folder(name)}")
    if os.path.basename(name) == INDEX:
        return read_index(name, verify=verify, sizes=sizes)
    if not os.path.exists(name) and glob.has_magic(name):
        return _files(sorted(glob.glob(name, recursive=True)), f"no file is called {name}")
    return (Shard(name),)


def refuse_options(path: object, shards: Sequence[Shard], options: Mapping[str, Any] | None) -> None:
    """Refuse options of a file system where no file is behind a URL."""
    if options is not None and not any(is_url(shard.path) for shard in shards):
        raise value_error("storage_options", f"{path} is no URL; only file systems behind URLs have options")


def _find_remote(
    url: str, options: Mapping[str, Any] | None, cache: object, verify: bool
) -> tuple[Shard, ...]:
    path = url.partition("?")[0]
    if os.path.splitext(path)[1] in (".nrt", ".safetensors") and not is_pattern(url):
        return (Shard(url),)
    store = open_store(url, options, cache)
    index = url if path.endswith(f"/{INDEX}") else join_url(url, INDEX)
    if not is_pattern(url):
        try:
            raw = store.content(index, _MAX_INDEX + 1)[0]
        except (FileNotFoundError, NotADirectoryError):
            if index == url:
                raise
        else:
            return _parse_index(index, raw, verify)
    files = store.files(url)
    return (Shard(url),) if files is None else tuple(Shard(file) for file in files)


def _files(paths: Sequence[str], message: str) -> tuple[Shard, ...]:
    if not paths:
        raise FileNotFoundError(message)
    return tuple(Shard(path) for path in paths)


def read_index(path: str, *, verify: bool = False, sizes: bool = True) -> tuple[Shard, ...]:
    """An index file, checked: its shards lie in its own folder, and have the stated sizes."""
    with open(path, "rb") as file:
        return _parse_index(path, file.read(_MAX_INDEX + 1), verify, sizes)


def _parse_index(path: str, raw: bytes, verify: bool = False, sizes: bool = True) -> tuple[Shard, ...]:
    if len(raw) > _MAX_INDEX:
        raise format_error(path, f"larger than an index may be, {_MAX_INDEX} bytes")
    if verify:
        check_index(path, raw)
    try:
        table = load_json(raw, "")
    except FileFormatError as error:
        raise name_file(error, path, FileFormatError) from None
    if not isinstance(table, dict) or table.get("format") != "varlen-index":
        raise format_error(path, "not an index of shards")
    if table.get("version") not in (1, 2):
        raise format_error(path, f"version {table.get('version')!r}; this varlen reads versions 1 and 2")
    entries = table.get("shards")
    if not isinstance(entries, list):
        raise format_error(path, "has no list of shards")
    folder = folder_of(path)
    fields = _fields(path, table.get("keys", {}))
    shards = tuple(_shard(path, folder, i, entry, fields, sizes) for i, entry in enumerate(entries))
    shards = tuple(shard._replace(account=table.get("account")) for shard in shards)
    total = table.get("rows")
    if total != sum(shard.rows or 0 for shard in shards):
        raise format_error(path, f"says {total!r} rows, its shards have {sum(s.rows or 0 for s in shards)}")
    return shards


def folder_of(path: str) -> str:
    """The folder of a file, or the URL of the folder of one behind a URL.

    >>> folder_of("memory://index.json"), folder_of("http://host/a/index.json?key=1")
    ('memory://', 'http://host/a?key=1')
    """
    if not is_url(path):
        return os.path.dirname(path)
    head, mark, query = path.partition("?") if is_http(path) else (path, "", "")
    head = head.rpartition("/")[0]
    head += "/" * head.endswith(":/")  # the root of a file system
    return head + mark + query


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def check_index(path: str, raw: bytes) -> None:
    """Compare the bytes of an index with its checksum."""
    library("verify")
    checksums = compare(raw, CHECKSUM)
    if checksums is None:
        advice = "write the folder with checksums=True"
        raise format_error(path, "its bytes cannot be verified: it has no checksum", "", advice)
    if checksums[0] != checksums[1]:
        raise checksum_error(path, "index", *checksums)


def _shard(index: str, folder: str, i: int, entry: object, fields: Mapping[str, Field], sizes: bool) -> Shard:
    if not isinstance(entry, dict) or not isinstance(entry.get("path"), str):
        raise format_error(index, f"shard {i} has no path")
    name, rows, size = entry["path"], entry.get("rows"), entry.get("size")
    if name in ("", ".", "..") or os.path.basename(name) != name or "\0" in name:
        raise format_error(index, f"shard {i}: {name!r} is not the name of a file in its folder")
    if not (isinstance(rows, int) and _count(rows) and _count(size)):
        raise format_error(index, f"shard {name!r} has {rows!r} rows and {size!r} bytes")
    checksum = entry.get("checksum")
    if not (checksum is None or isinstance(checksum, str)):
        raise format_error(index, f"shard {name!r} has the checksum {checksum!r}")
    deletions = as_deletions(entry.get("deleted"), rows)
    if isinstance(deletions, str):
        raise format_error(index, f"shard {name!r}: {deletions}")
    path = _path_of(folder, name)
    shard = Shard(path, rows, size, fields, checksum, deletions=deletions)
    if is_url(folder) or not sizes:  # the size of a URL's is looked at when it is opened
        return shard
    try:
        real = os.stat(path).st_size
    except OSError as error:
        raise format_error(index, f"shard {name!r}: {error.strerror}") from None
    if real != size:
        raise format_error(index, f"shard {name!r} has {real} bytes, the index says {size}")
    return shard


def as_deletions(rows: object, count: int) -> Ints | str | None:
    """The rows of a file that a list says were deleted, or what is wrong with the list."""
    if rows is None or rows == []:
        return None
    if not isinstance(rows, list):
        return f"expected a list of deleted rows, got {rows!r}"
    try:
        array = np.array(rows)
    except (ValueError, OverflowError):
        return "its deleted rows are no list of numbers"
    if array.ndim != 1 or array.dtype != np.int64:
        return "its deleted rows are no list of numbers"
    if array[0] < 0 or array[-1] >= count or (array[1:] <= array[:-1]).any():
        return f"its deleted rows are not in order, or not among its {count} rows"
    array.flags.writeable = False
    return array


def _fields(path: str, keys: object) -> dict[str, Field]:
    out = {}
    for name, entry in keys.items() if isinstance(keys, dict) else ():
        is_valid = (
            isinstance(entry, dict)
            and isinstance(entry.get("tag"), str)
            and entry["tag"] in TAG_ORDER
            and isinstance(entry.get("dim"), int)
        )
        row_shape = entry.get("trailing", []) if is_valid else None
        if not isinstance(row_shape, list) or not all(_count(size) for size in row_shape):
            raise format_error(path, f"key {name!r}: not a dim, a tag and trailing sizes")
        tag = entry["tag"]
        try:
            dtype = Metadata(1, {name: str(entry.get("dtype", ""))}).dtype(name, face_dtype(tag))
        except FileFormatError as error:
            raise name_file(error, path, FileFormatError) from None
        out[name] = Field(entry["dim"], dtype, tag, tuple(row_shape))
    return out


def entry_of(shard: Shard) -> dict[str, Any]:
    """A shard as an index has it."""
    entry: dict[str, Any] = {"path": os.path.basename(shard.path), "rows": shard.rows, "size": shard.size}
    if shard.checksum is not None:
        entry["checksum"] = shard.checksum
    if shard.deletions is not None:
        entry["deleted"] = shard.deletions.tolist()
    return entry


def write_index(
    folder: str,
    shards: Sequence[Shard],
    fields: Mapping[str, Field],
    durable: bool = True,
    account: Account | None = None,
    old_files: Sequence[str] = (),
) -> None:
    """Writes the index of a folder's shards, atomically.

    `old_files` are files of the folder that are in no use any more, but by readers of an older index.
    """
    table: dict[str, Any] = {
        "format": "varlen-index",
        "version": 1,
        "rows": 0,
        "keys": {
            name: {"dim": f.dim, "dtype": str(f.dtype), "tag": f.tag, "trailing": list(f.trailing)}
            for name, f in fields.items()
        },
        "shards": [entry_of(shard) for shard in shards],
    }
    if account is not None:
        table["account"] = account.as_dict()
    write_table(folder, {**table, "old_files": [*old_files]}, durable)


def write_table(folder: str, table: Mapping[str, Any], durable: bool = True) -> None:
    """Writes an index as it is, but for its version, the number of rows and its checksum."""
    text = index_bytes(table)
    if len(text) > _MAX_INDEX:
        advice = "compact the folder"
        raise value_error(
            "", f"its index would be larger than one may be, {_MAX_INDEX} bytes", advice, file=folder
        )
    with atomic.replace_file(os.path.join(folder, INDEX), durable) as fd:
        atomic.write_all(fd, (text,))


def index_bytes(table: Mapping[str, Any]) -> bytes:
    """The text of an index, with its own checksum where all its shards have one.

    It has version 2 where rows are deleted, so that readers that would show them refuse it.
    """
    entries, table = table["shards"], dict(table)
    table["version"] = 2 if any("deleted" in entry for entry in entries) else 1
    table["rows"] = sum(entry["rows"] or 0 for entry in entries)
    for name in (CHECKSUM, *["old_files"] * (not table.get("old_files"))):
        table.pop(name, None)
    has_checksums = bool(entries) and all("checksum" in entry for entry in entries)
    if has_checksums:
        table = {"format": table["format"], CHECKSUM: NO_CHECKSUM, **table}  # near the front, before all else
    raw = json_of(table)
    return seal(raw, CHECKSUM) if has_checksums else raw


_NUMBERS = re.compile(r'(?<="deleted": \[)[\s\d,]*')


def json_of(table: Mapping[str, Any]) -> bytes:
    """The text of an index or a manifest; lists of deleted rows are one line each."""
    text = json.dumps(table, ensure_ascii=False, indent=1)
    return _NUMBERS.sub(lambda numbers: " ".join(numbers[0].split()), text).encode() + b"\n"


def read_table(folder: str) -> dict[str, Any]:
    """The JSON of an index that was checked before."""
    with open(os.path.join(folder, INDEX), "rb") as file:
        table: dict[str, Any] = json.load(file)
    return table


def listed_names(index: str) -> list[str]:
    """The names in an index, whose files may be gone."""
    try:
        with open(index, "rb") as file:
            return [shard["path"] for shard in json.load(file)["shards"]]
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return []


def account_of(shard: Shard) -> Account | None:
    """The account in the index that lists a shard, of all its shards; None if it holds none."""
    try:
        return None if shard.account is None else Account.from_dict(shard.account)
    except (ValueError, RecursionError, AttributeError) as error:
        raise name_file(error, _path_of(folder_of(shard.path), INDEX), FileFormatError) from None


def _path_of(folder: str, name: str) -> str:
    return join_url(folder, name) if is_url(folder) else os.path.join(folder, name)
