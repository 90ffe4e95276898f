"""Manifest files: a JSON file that lists the files of a data set, version after version."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from varlen.arguments import as_int, as_path
from varlen.errors import name_file, value_error
from varlen.io.cache import open_store
from varlen.io.errors import FileFormatError, format_error
from varlen.io.formats import MANIFEST
from varlen.io.layout import Identity
from varlen.io.schema import load_json
from varlen.io.shard_index import INDEX, Ints, Shard, as_deletions, folder_of
from varlen.io.shard_set import ShardSet, open_shards
from varlen.io.urls import is_url, join_url
from varlen.io.waits import map_items

if TYPE_CHECKING:
    from varlen.io.cache import Cache

__all__: list[str] = []

MOST_BYTES = 100_000_000
_BYTES_TO_LOOK_AT = 4096
_HEAD_BYTES = 1 << 16  # of a file behind a URL, in one request

Options = Mapping[str, Any] | None


def is_manifest(path: object) -> bool:
    """Whether a path is a file that says that it is a manifest; JSON behind a URL is nothing else.

    >>> is_manifest("visits/index.json"), is_manifest("a.nrt"), is_manifest("memory://set.json")
    (False, False, True)
    """
    if not has_name(path) or is_url(path):
        return is_url(path) and has_name(path)
    try:
        with open(cast("str", path), "rb") as file:
            return f'"{MANIFEST}"'.encode() in file.read(_BYTES_TO_LOOK_AT)
    except (OSError, ValueError):
        return False  # whoever opens it says what is wrong


def has_name(path: object) -> bool:
    """Whether a path or a URL has the name of a manifest.

    >>> has_name("set.json"), has_name("visits/index.json"), has_name("http://host/set.json?key=1")
    (True, False, True)
    """
    if not isinstance(path, (str, bytes, os.PathLike)):
        return False
    text = os.fsdecode(path)
    if ".json" not in text:
        return False
    name = str(text).partition("?")[0].rpartition("/")[2] if is_url(text) else os.path.basename(text)
    return isinstance(name, str) and name.endswith(".json") and name != INDEX


def full_name(path: str | os.PathLike[str]) -> str:
    """The absolute path of a manifest, or its URL."""
    return str(path) if is_url(path) else os.path.abspath(as_path(path))


def header_digest(path: str) -> str:
    """A digest of a file's header: its keys, shapes, places and vocabularies."""
    with open(path, "rb") as file:
        first = file.read(8)
        return _digest_of(first + file.read(_header_bytes(first)))


def _digest_of(head: bytes) -> str:
    return hashlib.blake2b(head, digest_size=8).hexdigest()


def _header_bytes(first: bytes) -> int:
    return min(int.from_bytes(first[:8], "little"), MOST_BYTES)


def _look_at(path: str, options: Options, cache: object) -> tuple[int, str, Identity | None]:
    """The size of a file, the digest of its header, and the identity of one behind a URL."""
    if not is_url(path):
        return os.stat(path).st_size, header_digest(path), None
    from varlen.io.remote import identity_of

    store = open_store(path, options, cache)
    raw, state = store.head(path, _HEAD_BYTES)
    count = 8 + _header_bytes(raw)
    if count > len(raw) and len(raw) == _HEAD_BYTES:
        raw, state = store.head(path, count)
    return state.size, _digest_of(raw[:count]), identity_of(state)


class ManifestPart(NamedTuple):
    """Files that hold the same rows as the other parts, under keys of their own."""

    keys: tuple[str, ...]
    on: tuple[str, str] | None
    shards: tuple[Shard, ...]
    identities: tuple[Identity | None, ...]
    place: str
    faults: list[FileFormatError]

    @property
    def names(self) -> tuple[str, ...]:
        """The keys, and that of the ids by which rows are found."""
        return tuple(dict.fromkeys([*self.keys, *(self.on or ())[1:]]))

    def open(
        self,
        mmap: bool = True,
        verify: str = "never",
        options: Options = None,
        cache: str | Cache | None = None,
    ) -> ShardSet:
        """The files as one set; those behind URLs are mapped where a folder keeps copies."""
        mmap = mmap and (isinstance(cache, str) or not any(is_url(shard.path) for shard in self.shards))
        # A copy in a folder has another identity.
        identities = None if isinstance(cache, str) else self.identities
        how: dict[str, Any] = {"cache": cache, "storage_options": options, "verify": verify}
        return ShardSet(self.shards, mmap, self.names, identities, **how)


class _Folders:
    """The files that folders have now, where those of a manifest are gone as `compact` wrote them anew."""

    def __init__(self, options: Options, cache: object) -> None:
        self._options, self._cache = options, cache
        self._files: dict[str, dict[tuple[str, int, int], tuple[Shard, Ints]]] = {}
        self.has_losses = False  # a file lost rows that the version has
        self.deletes_rows = False  # files that are there are without the rows that their folder says

    def find(self, path: str, entry: Mapping[str, Any]) -> tuple[Shard, Ints] | None:
        """The shard that has the rows of a file now, and which of them; None if there is none."""
        folder = folder_of(path)
        if folder not in self._files:
            try:
                self._files[folder] = dict(self._list(folder))
            except (OSError, ValueError, IndexError):  # no folder of shards, and so no files in its index
                self._files[folder] = {}
        return self._files[folder].get((path, entry["rows"], entry["size"]))

    def _list(self, folder: str) -> Iterator[tuple[tuple[str, int, int], tuple[Shard, Ints]]]:
        """By path, rows and size: the files of a folder, and those that they were made of."""
        from varlen.io.compaction import sources_of  # only where a file is gone
        from varlen.io.reload import place_beside

        cache: Any = self._cache
        shards = open_shards(folder, storage_options=self._options, cache=cache)
        for number, shard in enumerate(shards._shards):
            if not shard.is_listed:
                continue
            file = shards.file(number)
            sources, parts = sources_of(file), list[Ints]()
            for source in sources:
                parts = [np.delete(rows, source.deletions) for rows in (*parts, np.arange(source.rows))]
            keys = [(place_beside(shard.path, source.name), source.rows, source.size) for source in sources]
            own = (shard.path, file.count, file.identity[0])
            for key, rows in zip((*keys, own), (*parts, np.arange(file.count)), strict=True):
                if len(rows) == file.count:
                    yield key, (shard, rows if shard.deletions is None else np.delete(rows, shard.deletions))


def manifest_parts(
    path: str | os.PathLike[str],
    version: int | None = None,
    options: Options = None,
    cache: object = None,
    *,
    loses_rows: bool = False,
) -> list[ManifestPart]:
    """The parts of a version, by default the last; files that are not what they were are its faults.

    A file may have been compacted since. loses_rows: also if rows of the version were deleted before that;
    then all parts are without the rows that were deleted in their folders.
    """
    name, folders = full_name(path), _Folders(options, cache)
    versions = read_manifest(name, options, cache)["versions"]
    number = len(versions) if version is None else as_int(version, "version", 1)
    if number > len(versions):
        raise value_error("version", f"expected 1 to {len(versions)}, got {number}", file=name, number=number)
    parts, place = versions[number - 1]["parts"], f"version {number}"
    result = [_part(name, place, part, folders, "on" in part) for part in parts]
    if loses_rows and folders.has_losses:
        folders.deletes_rows = True
        result = [_part(name, place, part, folders, True) for part in parts]
    return result


def _part(
    manifest: str, place: str, part: dict[str, Any], folders: _Folders, loses_rows: bool
) -> ManifestPart:
    """A part; loses_rows: files may have lost rows."""

    def find(entry: dict[str, Any]) -> tuple[Shard, Identity | None] | FileFormatError:
        try:
            return _shard(manifest, place, entry, folders, loses_rows)
        except FileFormatError as error:
            return error

    entries = map_items(find, part["files"], is_url(manifest))
    faults = [one for one in entries if isinstance(one, FileFormatError)]
    pairs = [one for one in entries if not isinstance(one, FileFormatError)]
    shards, identities = (tuple(column) for column in zip(*pairs, strict=True)) if pairs else ((), ())
    pair: Any = tuple(part["on"]) if "on" in part else None
    return ManifestPart(tuple(part["keys"]), pair, shards, identities, place, faults)


def file_sets(path: Any, options: Options = None) -> list[ShardSet]:
    """The files of each part of a manifest; those of any other path are one set."""
    if not is_manifest(path):
        return [open_shards(path, storage_options=options)]
    parts = manifest_parts(path, options=options)
    for part in parts:
        if part.faults:
            raise part.faults[0]
    return [part.open(options=options) for part in parts]


def _shard(
    manifest: str, where: str, entry: dict[str, Any], folders: _Folders, loses_rows: bool
) -> tuple[Shard, Identity | None]:
    """A file of a part, which is there and has the size and the header that it had, and its identity; or the
    one that `compact` made of it.
    """
    steps = entry["path"].split("/")
    path = os.path.join(os.path.dirname(manifest), *steps)
    if is_url(manifest):
        path = functools.reduce(join_url, steps, folder_of(manifest))
    try:
        size, digest, identity = _look_at(path, folders._options, folders._cache)
    except OSError as error:
        if is_url(path) and not isinstance(error, FileNotFoundError):
            raise  # of the network
        home = folders.find(path, entry)
        if home is not None:
            return _check_rows(manifest, where, entry, *home, folders, loses_rows), None
        raise format_error(manifest, f"{entry['path']}: {error.strerror or 'no such file'}", where) from None
    if size != entry["size"]:
        text = f"{entry['path']} has {size} bytes, but had {entry['size']}"
        raise format_error(manifest, text, where, "it was changed after the version was kept")
    if digest != entry["header"]:
        text = f"{entry['path']} has another header"
        raise format_error(manifest, text, where, "it was changed after the version was kept")
    deletions: Any = as_deletions(entry.get("deleted"), entry["rows"])
    if folders.deletes_rows and (home := folders.find(path, entry)) is not None:
        deletions = home[0].deletions
    how: dict[str, Any] = {"checksum": entry.get("checksum"), "deletions": deletions}
    return Shard(path, entry["rows"], size, has_index=False, **how), identity


def _check_rows(
    manifest: str,
    where: str,
    entry: dict[str, Any],
    shard: Shard,
    rows: Ints,
    folders: _Folders,
    loses_rows: bool,
) -> Shard:
    """The shard that has these rows of a file that is gone; refused where the version has others."""
    expected = np.delete(np.arange(entry["rows"]), entry.get("deleted") or [])
    if not np.array_equal(rows, expected):
        losses = np.setdiff1d(expected, rows)
        folders.has_losses = folders.has_losses or not loses_rows
        if not loses_rows or len(losses) + len(rows) != len(expected):
            text = f"{entry['path']} was compacted, and {len(losses)} of its {len(expected)} rows are gone"
            advice = "open the files that are there and save_manifest; a dataset of the version may reload"
            raise format_error(manifest, text, where, advice)
    return shard._replace(fields=None, has_index=False)


def read_manifest(path: str, options: Options = None, cache: object = None) -> dict[str, Any]:
    """A manifest, checked."""
    if is_url(path):
        raw = open_store(path, options, cache).content(path, MOST_BYTES + 1)[0]
    else:
        with open(path, "rb") as file:
            raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise format_error(path, f"larger than a manifest may be, {MOST_BYTES} bytes")
    try:
        table = load_json(raw, "")
    except FileFormatError as error:
        raise name_file(error, path, FileFormatError) from None
    if not isinstance(table, dict) or table.get("format") != MANIFEST:
        raise format_error(path, "is JSON, but not a manifest of a data set; `varlen convert` reads lines")
    if table.get("version") != 1:
        raise format_error(path, f"version {table.get('version')!r}; this varlen reads version 1")
    versions = table.get("versions")
    if not isinstance(versions, list) or not versions:
        raise format_error(path, "has no list of versions")
    for number, version in enumerate(versions, start=1):
        fault = fault_of(version)
        if fault:
            raise format_error(path, fault, f"version {number}")
    return table


def fault_of(version: Any) -> str:
    """What is wrong with a version; nothing if it is as it should be."""
    if not isinstance(version, dict) or not _is_count(version.get("rows")):
        return "has no number of rows"
    parts = version.get("parts")
    if not isinstance(parts, list) or not parts:
        return "has no list of parts"
    keys: set[str] = set()
    for i, part in enumerate(parts):
        if not isinstance(part, dict) or not _are_texts(part.get("keys")):
            return f"part {i} has no list of keys"
        twins = keys.intersection(part["keys"])
        if twins or len(set(part["keys"])) < len(part["keys"]):
            return f"part {i} has a key twice: {part['keys']}"
        keys.update(part["keys"])
        if "on" in part and (not _are_texts(part["on"]) or len(part["on"]) != 2):
            return f"part {i} is joined on {part['on']!r}, expected two keys"
        if not isinstance(part.get("files"), list) or not part["files"]:
            return f"part {i} has no list of files"
        for file in part["files"]:
            if not isinstance(file, dict) or not isinstance(file.get("path"), str):
                return f"a file of part {i} has no path"
            steps = file["path"].split("/")
            if any(step in ("", ".", "..") or "\0" in step or "\\" in step for step in steps):
                return f"{file['path']!r} is not the path of a file below the manifest"
            if not _is_count(file.get("rows")) or not _is_count(file.get("size")):
                return f"{file['path']!r} has {file.get('rows')!r} rows and {file.get('size')!r} bytes"
            marks = file.get("header"), file.get("checksum", "")
            if not all(isinstance(mark, str) for mark in marks):
                return f"{file['path']!r} has no digest of its header"
            deletions = as_deletions(file.get("deleted"), file["rows"])
            if isinstance(deletions, str):
                return f"{file['path']!r}: {deletions}"
        count = sum(file["rows"] - len(file.get("deleted") or ()) for file in part["files"])
        if "on" not in part and count != version["rows"]:
            return f"part {i} has {count} rows, the version {version['rows']}"
    return ""


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
