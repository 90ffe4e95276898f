"""Folders of shards: the files of a data set, their order and their index."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from varlen.errors import instance_error, name_file, value_error
from varlen.io import atomic
from varlen.io.account import Account
from varlen.io.checksums import CHECKSUM, NO_CHECKSUM, compare, library, seal
from varlen.io.dtypes import TAG_ORDER, face_dtype
from varlen.io.errors import FileFormatError, checksum_error, format_error
from varlen.io.formats import describe_folder
from varlen.io.schema import Field, Metadata, load_json
from varlen.io.stores import store_of
from varlen.io.urls import is_pattern, is_url, join_url

__all__ = ["INDEX"]

INDEX = "index.json"

_MAX_INDEX = 100_000_000


class Shard(NamedTuple):
    """One file, and its fields from an index; None if there is no index."""

    path: str
    rows: int | None = None
    size: int | None = None
    fields: Mapping[str, Field] | None = None  # one object for all shards of an index
    checksum: str | None = None  # of its header
    has_index: bool = True  # where its rows are known: by the index of its folder, not by a manifest

    @property
    def is_listed(self) -> bool:
        """Whether an index lists it."""
        return self.rows is not None and self.has_index


def find_shards(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    options: Mapping[str, Any] | None = None,
    *,
    verify: bool = False,
    sizes: bool = True,
) -> tuple[Shard, ...]:
    """The files, in the order of their rows, of a file, a list of files, a pattern, a folder or its index; or
    of URLs of these, with the options of their file system.

    verify: compare an index with its checksum. sizes: refuse listed files that are gone or have another size.
    """
    if not isinstance(path, (str, os.PathLike)):
        if not isinstance(path, (list, tuple)):
            raise instance_error("path", "a path or a list of paths", path)
        parts = [find_shards(item, options, verify=verify, sizes=sizes) for item in path]
        if not parts:
            raise value_error("path", "the list of files is empty")
        return tuple(shard for part in parts for shard in part)
    if is_url(path):
        return _find_remote(str(path), options, verify)
    if not os.fspath(path):
        raise FileNotFoundError(2, "No such file or folder", "")
    name = os.path.abspath(os.fspath(path))
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


def _find_remote(url: str, options: Mapping[str, Any] | None, verify: bool) -> tuple[Shard, ...]:
    path = url.partition("?")[0]
    if os.path.splitext(path)[1] in (".nrt", ".safetensors") and not is_pattern(url):
        return (Shard(url),)
    store = store_of(url, options)
    index = url if path.endswith(f"/{INDEX}") else join_url(url, INDEX)
    if not is_pattern(url):
        try:
            raw = store.content(index, _MAX_INDEX + 1)
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
    if table.get("version") != 1:
        raise format_error(path, f"version {table.get('version')!r}; this varlen reads version 1")
    entries = table.get("shards")
    if not isinstance(entries, list):
        raise format_error(path, "has no list of shards")
    folder = _folder_of(path)
    fields = _fields(path, table.get("keys", {}))
    shards = tuple(_shard(path, folder, i, entry, fields, sizes) for i, entry in enumerate(entries))
    total = table.get("rows")
    if total != sum(shard.rows or 0 for shard in shards):
        raise format_error(path, f"says {total!r} rows, its shards have {sum(s.rows or 0 for s in shards)}")
    return shards


def _folder_of(path: str) -> str:
    if not is_url(path):
        return os.path.dirname(path)
    head, _, tail = path.rpartition(f"/{INDEX}")
    head += "/" * head.endswith(":/")  # the root of a file system
    return head + tail  # a query comes behind the name


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
    if not _count(rows) or not _count(size):
        raise format_error(index, f"shard {name!r} has {rows!r} rows and {size!r} bytes")
    checksum = entry.get("checksum")
    if not (checksum is None or isinstance(checksum, str)):
        raise format_error(index, f"shard {name!r} has the checksum {checksum!r}")
    if is_url(folder):  # its size is looked at when it is opened
        return Shard(join_url(folder, name), rows, size, fields, checksum)
    path = os.path.join(folder, name)
    if not sizes:
        return Shard(path, rows, size, fields, checksum)
    try:
        real = os.stat(path).st_size
    except OSError as error:
        raise format_error(index, f"shard {name!r}: {error.strerror}") from None
    if real != size:
        raise format_error(index, f"shard {name!r} has {real} bytes, the index says {size}")
    return Shard(path, rows, size, fields, checksum)


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


def _entry(shard: Shard) -> dict[str, Any]:
    entry = {"path": os.path.basename(shard.path), "rows": shard.rows, "size": shard.size}
    return entry if shard.checksum is None else {**entry, "checksum": shard.checksum}


def write_index(
    folder: str,
    shards: Sequence[Shard],
    fields: Mapping[str, Field],
    durable: bool = True,
    account: Account | None = None,
) -> None:
    """Writes the index of a folder's shards, atomically."""
    table: dict[str, Any] = {
        "format": "varlen-index",
        "version": 1,
        "rows": sum(shard.rows or 0 for shard in shards),
        "keys": {
            name: {"dim": f.dim, "dtype": str(f.dtype), "tag": f.tag, "trailing": list(f.trailing)}
            for name, f in fields.items()
        },
        "shards": [_entry(shard) for shard in shards],
    }
    if account is not None:
        table["account"] = account.as_dict()
    with atomic.replace_file(os.path.join(folder, INDEX), durable) as fd:
        atomic.write_all(fd, (index_bytes(table),))


def index_bytes(table: Mapping[str, Any]) -> bytes:
    """The text of an index, with its own checksum where all its shards have one."""
    entries = table["shards"]
    has_checksums = bool(entries) and all("checksum" in entry for entry in entries)
    if has_checksums:
        table = {"format": table["format"], CHECKSUM: NO_CHECKSUM, **table}  # near the front, before all else
    text = json.dumps(table, ensure_ascii=False, indent=1).encode() + b"\n"
    return seal(text, CHECKSUM) if has_checksums else text


def listed_names(index: str) -> list[str]:
    """The names in an index, whose files may be gone."""
    try:
        with open(index, "rb") as file:
            return [shard["path"] for shard in json.load(file)["shards"]]
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return []


def read_account(folder: str, options: Mapping[str, Any] | None = None) -> Account | None:
    """The account in the index of a folder, or of a URL of one; None if it holds none."""
    index = join_url(folder, INDEX) if is_url(folder) else os.path.join(folder, INDEX)
    if is_url(index):
        raw = store_of(index, options).content(index, _MAX_INDEX + 1)
    else:
        with open(index, "rb") as file:
            raw = file.read(_MAX_INDEX + 1)
    try:
        account = json.loads(raw).get("account")
        return None if account is None else Account.from_dict(account)
    except (ValueError, RecursionError, AttributeError) as error:
        raise name_file(error, index, FileFormatError) from None


def folder_of(path: str) -> str:
    """The folder of a file or a URL."""
    if not is_url(path):
        return os.path.dirname(path)
    path, mark, query = path.partition("?")
    return path.rpartition("/")[0] + mark + query
