"""Manifests: a JSON file that keeps which files a data set is made of, version after version.

Each version lists its parts. A part is files that hold the same rows as the other parts, under keys of its
own; `on` names the keys of ids by which its rows are found, where they lie in another order.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen.arguments import as_int, as_list, as_path, check_hashable
from varlen.data.sources.alignment import AlignedSource, TakenSource, align, bare, lost_rows
from varlen.data.sources.memory import Ints, Source, rest_of
from varlen.data.views import Views
from varlen.errors import error_of, name_file, naming, value_error
from varlen.io import FileFormatError, ShardSet, atomic
from varlen.io.errors import format_error
from varlen.io.folder_lock import lock_folder
from varlen.io.reload import compare_sets
from varlen.io.row_ids import RowIds
from varlen.io.schema import load_json
from varlen.io.shard_index import INDEX, Shard, as_deletions, entry_of, json_of
from varlen.io.urls import is_url

if TYPE_CHECKING:
    from varlen.data.rows import Rows

__all__: list[str] = []

_FORMAT = "varlen-set"
_MOST_BYTES = 100_000_000
_BYTES_TO_LOOK_AT = 4096


def is_manifest(path: object) -> bool:
    """Whether a path is a file that says that it is a manifest.

    >>> is_manifest("visits/index.json"), is_manifest("a.nrt")
    (False, False)
    """
    if not has_name(path):
        return False
    try:
        with open(cast("str", path), "rb") as file:
            return f'"{_FORMAT}"'.encode() in file.read(_BYTES_TO_LOOK_AT)
    except (OSError, ValueError):
        return False  # whoever opens it says what is wrong


def has_name(path: object) -> bool:
    """Whether a path has the name of a manifest.

    >>> has_name("set.json"), has_name("visits/index.json"), has_name("a.nrt")
    (True, False, False)
    """
    if not isinstance(path, (str, os.PathLike)) or is_url(path):
        return False
    name = os.path.basename(os.fspath(path))
    return isinstance(name, str) and name.endswith(".json") and name != INDEX


def find_rows(ids: Views, name: str, other: Views, other_name: str) -> Ints:
    """The row of another dataset for each row, by their ids."""
    own, theirs = ids._row_values(name), other._row_values(other_name)
    if (own.dtype.kind in "UTO") != (theirs.dtype.kind in "UTO"):
        kinds = ["text" if array.dtype.kind in "UTO" else "numbers" for array in (theirs, own)]
        raise value_error("on", f"the ids of the other are {kinds[0]}, here {kinds[1]}")
    with naming("other"):
        return RowIds([theirs]).rows_of(own)


def save_manifest(dataset: Rows, path: object) -> int:
    """Add the files of a dataset to a manifest as its next version, unless they are the last; the version."""
    name = os.path.abspath(as_path(path))
    if not has_name(name):
        raise value_error("path", f"expected the name of a manifest, such as set.json, got {name}")
    if not dataset._is_whole:
        raise _save_error("this is a view of some rows", "keep the dataset of all")
    folder = os.path.dirname(name)
    if not os.path.isdir(folder):
        raise FileNotFoundError(2, "there is no such folder", folder)
    own: Any = dataset.source
    source: Any = own if isinstance(own, AlignedSource) else AlignedSource([own])
    parts = [
        _part_of(part, names, folder)
        for i, part in enumerate(source._parts)
        if (names := source._own(i, None)) or i == 0
    ]
    for part in parts:
        if "on" in part and part["on"][0] not in source.fields:
            raise _save_error(f"rows are joined on {part['on'][0]!r}, which is not among the keys")
    version = {"rows": len(dataset), "parts": parts}
    if fault := _fault(version):
        raise _save_error(fault)
    with lock_folder(folder):
        versions = _read(name)["versions"] if os.path.exists(name) else []
        if versions and versions[-1] == version:
            return len(versions)
        table = {"format": _FORMAT, "version": 1, "versions": [*versions, version]}
        text = json_of(table)
        if len(text) > _MOST_BYTES:
            raise value_error("path", f"{name} would be larger than a manifest may be, {_MOST_BYTES} bytes")
        with atomic.replace_file(name) as fd:
            atomic.write_all(fd, (text,))
    return len(versions) + 1


def _save_error(reason: str, advice: str = "") -> ValueError:
    return value_error("", reason, advice, context="save_manifest")


def _part_of(part: Any, names: Sequence[str], folder: str) -> dict[str, Any]:
    """A part with these keys as the manifest has it."""
    result: dict[str, Any] = {}
    if isinstance(part, TakenSource) and part.on is not None:
        result["on"] = list(part.on)
        part = part._source
    part = bare(part)
    if not isinstance(part, ShardSet):
        advice = "save them, and open or join that"
        raise _save_error("some rows or keys are in memory, or several sources one after another", advice)
    if part.waits:
        raise _save_error(f"{part.paths[0]} is behind a URL")
    if part.bad_shards:
        raise _save_error(f"{part.bad_shards[0].path} was left out")
    part.check()
    files = [_file_of(part, shard, folder) for shard in range(len(part.paths))]
    return {**result, "keys": list(names), "files": files}


def _file_of(part: ShardSet, shard: int, folder: str) -> dict[str, Any]:
    path = part.paths[shard]
    place = os.path.relpath(path, folder)
    if place.split(os.sep)[0] == os.pardir:
        advice = "put the manifest into a folder above them"
        raise value_error("path", f"{path} is not in the folder of the manifest, {folder}", advice)
    entry = {"path": place.replace(os.sep, "/"), "rows": int(part.counts[shard])}
    entry |= {"size": os.stat(path).st_size, "header": header_digest(path)}
    index_entry = entry_of(part._shards[shard])
    return entry | {name: index_entry[name] for name in ("checksum", "deleted") if name in index_entry}


def header_digest(path: str) -> str:
    """A digest of a file's header: its keys, shapes, places and vocabularies."""
    with open(path, "rb") as file:
        first = file.read(8)
        size = min(int.from_bytes(first, "little"), _MOST_BYTES)
        return hashlib.blake2b(first + file.read(size), digest_size=8).hexdigest()


def open_manifest(
    path: Any,
    version: int | None = None,
    *,
    mmap: bool = True,
    keys: Iterable[str] | None = None,
    verify: str = "never",
) -> AlignedSource:
    """The rows of a version of a manifest, by default the last."""
    name = os.path.abspath(os.fspath(path))
    versions = _read(name)["versions"]
    number = len(versions) if version is None else as_int(version, "version", 1)
    if number > len(versions):
        raise value_error("version", f"expected 1 to {len(versions)}, got {number}", file=name, number=number)
    where = f"version {number}"
    entry = versions[number - 1]
    parts: list[Source] = []
    for part in entry["parts"]:
        shards = tuple(_shard(name, where, file) for file in part["files"])
        names = dict.fromkeys([*part["keys"], *part.get("on", [])[1:]])
        own: Any = ShardSet(shards, mmap, tuple(names), verify=verify)
        if "on" in part:
            own = _source_by_ids(name, where, parts, own, tuple(part["on"]))
        parts.append(own)
    owners = {key for part in entry["parts"] for key in part["keys"]}
    selection = None if keys is None else [keys] if isinstance(keys, str) else as_list(keys, "keys", "keys")
    for key in selection or ():
        check_hashable(key, "keys")
        if key not in owners:
            raise error_of(KeyError, "keys", f"{key!r} is no key of {name}; available: {sorted(owners)}")
    return align(parts, None if selection is None else list(dict.fromkeys(selection)), (name, version))


def _source_by_ids(
    name: str, where: str, parts: Sequence[Source], own: ShardSet, on: tuple[str, str]
) -> Source:
    """A part whose rows are found by ids."""
    other = _view_of(cast("Source", own))
    base = _view_of(align(parts)) if parts else None
    if base is None or on[0] not in base or on[1] not in other:
        raise format_error(name, f"a part is joined on {on[0]!r} and {on[1]!r}, which are no keys", where)
    try:
        rows = other._source_rows(find_rows(base, on[0], other, on[1]))
        return TakenSource(cast("Source", own), rows, on)
    except (KeyError, ValueError) as error:
        raise name_file(error, name, FileFormatError, place=where) from None


def _view_of(source: Source) -> Views:
    """The rows of a source that were not deleted."""
    view, rows = Views(source), rest_of(source)
    if rows is not None:
        view._index, view._count = rows, len(rows)
    return view


def _shard(manifest: str, where: str, entry: dict[str, Any]) -> Shard:
    """A file of a part, which is there and has the size and the header that it had."""
    path = os.path.join(os.path.dirname(manifest), *entry["path"].split("/"))
    try:
        size = os.stat(path).st_size
        digest = header_digest(path)
    except OSError as error:
        raise format_error(manifest, f"{entry['path']}: {error.strerror}", where) from None
    if size != entry["size"]:
        text = f"{entry['path']} has {size} bytes, but had {entry['size']}"
        raise format_error(manifest, text, where, "it was changed after the version was kept")
    if digest != entry["header"]:
        text = f"{entry['path']} has another header"
        raise format_error(manifest, text, where, "it was changed after the version was kept")
    deletions: Any = as_deletions(entry.get("deleted"), entry["rows"])
    return Shard(
        path, entry["rows"], size, checksum=entry.get("checksum"), has_index=False, deletions=deletions
    )


def _read(path: str) -> dict[str, Any]:
    """A manifest, checked."""
    with open(path, "rb") as file:
        raw = file.read(_MOST_BYTES + 1)
    if len(raw) > _MOST_BYTES:
        raise format_error(path, f"larger than a manifest may be, {_MOST_BYTES} bytes")
    try:
        table = load_json(raw, "")
    except FileFormatError as error:
        raise name_file(error, path, FileFormatError) from None
    if not isinstance(table, dict) or table.get("format") != _FORMAT:
        raise format_error(path, "not a manifest of a data set")
    if table.get("version") != 1:
        raise format_error(path, f"version {table.get('version')!r}; this varlen reads version 1")
    versions = table.get("versions")
    if not isinstance(versions, list) or not versions:
        raise format_error(path, "has no list of versions")
    for number, version in enumerate(versions, start=1):
        fault = _fault(version)
        if fault:
            raise format_error(path, fault, f"version {number}")
    return table


def _fault(version: Any) -> str:
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


def reload_manifest(source: AlignedSource) -> AlignedSource:
    """The same version of a manifest, or what is the last now; its first rows are those of the source."""
    assert source.manifest is not None
    path, version = source.manifest
    first: Any = bare(source._parts[0])
    new = open_manifest(
        path, version, mmap=first.mmap or first.decodes, keys=source._wants, verify=first._verify
    )
    if len(new._parts) != len(source._parts):
        text = f"the last version has {len(new._parts)} parts, but there were {len(source._parts)}"
        raise format_error(path, text, "reload")
    gaps = lost_rows(source._parts[0], new._parts[0])
    for old_part, part_now in zip(source._parts, new._parts, strict=True):
        part: Any = bare(old_part)
        new_part: Any = bare(part_now)
        is_taken = isinstance(part, TakenSource)
        index = np.delete(part._index, gaps) if is_taken else None
        if index is not None and not np.array_equal(index, new_part._index[: len(index)]):
            raise format_error(path, f"rows of {sorted(part.fields)} have other ids", "reload")
        compare_sets(*(part._source, new_part._source) if is_taken else (part, new_part))
    return new
