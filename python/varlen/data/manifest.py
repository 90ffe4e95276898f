"""Manifests: a JSON file that keeps which files a data set is made of, version after version.

Each version lists its parts. A part is files that hold the same rows as the other parts, under keys of its
own; `on` names the keys of ids by which its rows are found, where they lie in another order.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen.arguments import as_bool, as_list, as_mapping, as_path, check_hashable, one_of
from varlen.data.sources.alignment import (
    AlignedSource,
    TakenSource,
    align,
    bare,
    check_counts,
    check_losses,
    lost_rows,
    moved_rows,
)
from varlen.data.sources.chain import JoinedSource
from varlen.data.sources.memory import Ints, Source, rest_of
from varlen.data.sources.translation import TranslatedSource
from varlen.data.views import Views
from varlen.errors import error_of, name_file, naming, value_error
from varlen.io import Cache, FileFormatError, ShardSet, atomic, open_shards
from varlen.io.errors import format_error
from varlen.io.folder_lock import lock_folder
from varlen.io.formats import MANIFEST
from varlen.io.manifest_file import (
    MOST_BYTES,
    fault_of,
    full_name,
    has_name,
    header_digest,
    is_manifest,
    manifest_parts,
    read_manifest,
)
from varlen.io.reload import compare_sets
from varlen.io.row_ids import RowIds
from varlen.io.shard_index import entry_of, json_of
from varlen.io.urls import is_url, local_path

if TYPE_CHECKING:
    from varlen.data.rows import Rows

__all__: list[str] = []


def find_rows(ids: Views, name: str, other: Views, other_name: str) -> Ints:
    """The row of another dataset for each row, by their ids."""
    own, theirs = ids._id_values(name), other._id_values(other_name)
    if (own.dtype.kind in "UTO") != (theirs.dtype.kind in "UTO"):
        kinds = ["text" if array.dtype.kind in "UTO" else "numbers" for array in (theirs, own)]
        raise value_error("on", f"the ids of the other are {kinds[0]}, here {kinds[1]}")
    with naming("other"):
        return RowIds([theirs]).rows_of(own)


def save_manifest(dataset: Rows, path: object) -> int:
    """Add the files of a dataset to a manifest as its next version, unless they are the last; the version."""
    name = os.path.abspath(local_path(as_path(path)))
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
    if fault := fault_of(version):
        raise _save_error(fault)
    with lock_folder(folder):
        versions = read_manifest(name)["versions"] if os.path.exists(name) else []
        if versions and versions[-1] == version:
            return len(versions)
        table = {"format": MANIFEST, "version": 1, "versions": [*versions, version]}
        text = json_of(table)
        if len(text) > MOST_BYTES:
            raise value_error("path", f"{name} would be larger than a manifest may be, {MOST_BYTES} bytes")
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
        if isinstance(part, JoinedSource) and all(isinstance(own, ShardSet) for own in part._sources):
            advice = "vl.open([*files]), or a pattern such as 'a*/*.nrt', opens the files of several as one"
            raise _save_error("several data sets one after another are no files of one", advice)
        owners = part._sources if isinstance(part, JoinedSource) else [part]
        if any(isinstance(own, TranslatedSource) for own in owners):
            reason = "ids are translated as rows are read, from files of several vocabularies"
            raise _save_error(reason, "save(path) writes them with one; open or join that")
        raise _save_error("some rows or keys are in memory", "save them, and open or join that")
    if part.waits:
        advice = "a manifest lies above its files; open them by their URLs, and use with_file or join"
        raise _save_error(f"{part.paths[0]} is behind a URL", advice)
    if part.bad_shards:
        raise _save_error(f"{part.bad_shards[0].path} was left out")
    for shard in range(len(part.paths)):
        part.file(shard)  # whose rows and keys are those that its index says
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


def open_source(path: Any, version: int | None = None, **options: Any) -> Any:
    """The rows of what `varlen.open` takes: a manifest, or files."""
    if is_manifest(path) or (version is not None and has_name(path)):
        return open_manifest(path, version, **options)
    if version is not None:
        raise value_error("version", f"{path} is no manifest; only manifests have versions")
    return open_shards(path, **options)


def open_manifest(
    path: Any,
    version: int | None = None,
    *,
    mmap: bool = True,
    keys: Iterable[str] | None = None,
    cache: Any = None,
    storage_options: Any = None,
    verify: str = "never",
    on_bad_shard: str = "error",
    loses_rows: bool = False,
) -> AlignedSource:
    """The rows of a version of a manifest, by default the last; loses_rows is that of `manifest_parts`."""
    name, mmap = full_name(path), as_bool(mmap, "mmap")
    for option, value in (("cache", cache), ("storage_options", storage_options)):
        if value is not None and not is_url(name):
            raise value_error(option, f"{path} is no URL; only files behind URLs have one")
    one_of(verify, "verify", ("never", "read", "open"))
    one_of(on_bad_shard, "on_bad_shard", ("error", "skip"))
    if on_bad_shard == "skip":
        raise value_error("on_bad_shard", "a manifest opens whole: its parts have the same rows")
    options = None if storage_options is None else as_mapping(storage_options, "storage_options", "options")
    if not (cache is None or isinstance(cache, Cache)):
        cache = os.path.abspath(as_path(cache, "cache", "a folder"))
    parts: list[Source] = []
    entries = manifest_parts(name, version, options, cache, loses_rows=loses_rows)
    for entry in entries:
        if entry.faults:
            raise entry.faults[0]
        own: Any = entry.open(mmap, verify, options, cache)
        if loses_rows and entry.on is None:
            check_counts([*parts[:1], own])
        if entry.on is not None:
            own = _source_by_ids(name, entry.place, parts, own, entry.on)
        parts.append(own)
    owners = {key for entry in entries for key in entry.keys}
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


def reload_manifest(source: AlignedSource) -> AlignedSource:
    """The same version of a manifest, or what is the last now; its first rows are those of the source."""
    assert source.manifest is not None
    path, version = source.manifest
    first: Any = bare(source._parts[0])
    new = open_manifest(
        path, version, mmap=first._maps or first.waits, keys=source._wants, verify=first._verify,
        cache=first._cache, storage_options=first._options, loses_rows=True,
    )  # fmt: skip
    if len(new._parts) != len(source._parts):
        text = f"the last version has {len(new._parts)} parts, but there were {len(source._parts)}"
        raise format_error(path, text, "reload")
    check_losses(source._parts, new._parts)
    gaps = lost_rows(source._parts[0], new._parts[0])
    for old_part, part_now in zip(source._parts, new._parts, strict=True):
        part: Any = bare(old_part)
        new_part: Any = bare(part_now)
        is_taken = isinstance(part, TakenSource)
        index = moved_rows(part, new_part._source, gaps) if is_taken else np.empty(0, np.int64)
        if index is None or (is_taken and not np.array_equal(index, new_part._index[: len(index)])):
            raise format_error(path, f"rows of {sorted(part.fields)} have other ids", "reload")
        compare_sets(*(part._source, new_part._source) if is_taken else (part, new_part))
    return new
