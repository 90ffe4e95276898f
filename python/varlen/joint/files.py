"""Joint dicts and files: the wanted keys of a file, views of files, and saving."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from varlen import _core, io
from varlen.arguments import as_list, as_path
from varlen.errors import contract_error, error_of
from varlen.io import columns
from varlen.io.dtypes import small_keys, widen
from varlen.io.file import File, open_file

__all__: list[str] = []

Array = np.ndarray[tuple[Any, ...], np.dtype]


def resolve_keys(path: Path, keys: Iterable[str]) -> list[str]:
    """The full names of the tensors that the keys need, sorted, bounds among them."""
    if isinstance(keys, (str, bytes)):
        raise contract_error(
            TypeError, "keys", "`keys` must be an iterable of strings, not a bare str/bytes."
        )
    key_list = as_list(keys, "keys", "keys")
    if not key_list:
        raise contract_error(ValueError, "keys", "`keys` must be non-empty.")
    wrong_types = sorted({type(key).__name__ for key in key_list if not isinstance(key, str)})
    if wrong_types:
        raise contract_error(
            TypeError, "keys", f"`keys` must contain only strings; got elements of type {wrong_types}."
        )
    clashes = set(key_list) & set(columns.RESERVED)
    if clashes:
        raise contract_error(
            ValueError,
            "keys",
            f"`keys` may not contain reserved meta-names {sorted(clashes)}; these refer to internal "
            "ragged-structure tensors, not user-level data.",
        )
    fields = open_file(path).fields
    missing = set(key_list) - set(fields)
    if missing:
        raise error_of(
            KeyError, "", f"Requested keys {sorted(missing)} not found in {path}. Available: {sorted(fields)}"
        )
    depth = max(fields[key].dim for key in key_list)
    names = {f"dim{fields[key].dim}/{key}" for key in key_list}
    return sorted(names | {f"dim{d}/bounds" for d in range(1, depth + 1)})


# The files that were read last stay open, so that reading from them again costs no more than a look at the
# file's time. A map needs no descriptor; of a file that was deleted it holds the disk space.
_recent: dict[str, tuple[File, _core.Joint]] = {}
_MOST_FILES = 4


def open_joint(path: str | os.PathLike[str], subset: list[str] | None = None) -> _core.Joint:
    """A view of the whole file, or of some of its tensors, mapped."""
    where = as_path(path, "fp")
    entry = _recent.get(where) if subset is None else None
    if entry is not None:
        now = os.stat(where)
        if entry[0].identity == (now.st_size, now.st_mtime_ns, now.st_ino):
            return entry[1]
    handle = open_file(where)
    names = None
    if subset is not None:
        names = [name for name in (full.partition("/")[2] for full in subset) if name in handle.fields]
    joint = handle.joint(names)
    joint = widen(joint, small_keys(joint))
    if subset is None:
        while len(_recent) >= _MOST_FILES:
            _recent.pop(next(iter(_recent)), None)
        _recent[where] = handle, joint
    return joint


def tensor_names(path: Path, subset: list[str] | None) -> tuple[str, ...]:
    """The names of a file's tensors as upstream shows them: sorted for a subset, else as they lie in it."""
    if subset is not None:
        return tuple(subset)
    header = open_file(path).header
    places = [(header.describe(i)[3:], name) for i, name in enumerate(header.names)]
    return tuple(name for _, name in sorted(places, key=lambda place: place[0]))


def save(
    path: Any,
    arrays: Mapping[str, Array],
    metadata: Mapping[str, Any],
    **options: Any,
) -> None:
    """Write the tensors, with the metadata of their keys."""
    bare = {full.partition("/")[2] for full in arrays}
    words = {key: words for key, words in metadata.get("vocabularies", {}).items() if key in bare}
    row_ids = metadata.get("row_ids")
    if f"dim0/{row_ids}" not in arrays:
        row_ids = None
    path = as_path(path, "fp")
    io.save(path, arrays, vocabularies=words or None, row_ids=row_ids, **options)
