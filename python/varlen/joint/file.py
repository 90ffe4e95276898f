"""Joint dicts and files: which keys of a file are wanted, how a file becomes a view, and saving."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from varlen import _core
from varlen.joint import build
from varlen.joint.index import Indexing

__all__: list[str] = []

Self = TypeVar("Self", bound=Indexing)

Array = np.ndarray[Any, Any]


def resolve_keys(path: Path, keys: Iterable[str]) -> list[str]:
    """The full names of the tensors that the keys need, sorted, bounds among them."""
    if isinstance(keys, (str, bytes)):
        raise TypeError("`keys` must be an iterable of strings, not a bare str/bytes.")
    asked = list(keys)
    if not asked:
        raise ValueError("`keys` must be non-empty.")
    strangers = sorted({type(key).__name__ for key in asked if not isinstance(key, str)})
    if strangers:
        raise TypeError(f"`keys` must contain only strings; got elements of type {strangers}.")
    reserved = set(asked) & set(build.RESERVED)
    if reserved:
        raise ValueError(
            f"`keys` may not contain reserved meta-names {sorted(reserved)}; these refer to internal "
            "ragged-structure tensors, not user-level data."
        )
    from varlen.io.file import open_file

    fields = open_file(path).fields
    missing = set(asked) - set(fields)
    if missing:
        raise KeyError(f"Requested keys {sorted(missing)} not found in {path}. Available: {sorted(fields)}")
    depth = max(fields[key].dim for key in asked)
    names = {f"dim{fields[key].dim}/{key}" for key in asked}
    return sorted(names | {f"dim{d}/bounds" for d in range(1, depth + 1)})


def open_joint(path: Path, subset: list[str] | None) -> tuple[_core.Joint, tuple[str, ...]]:
    """A view of the whole file, and the order that its tensors are shown in."""
    from varlen.io.file import open_file

    handle = open_file(path)
    if subset is None:
        joint = handle.joint()
        shown = {f"dim{dim}/{name}" for name, dim in zip(joint.names, joint.dims, strict=True)}
        shown |= {f"dim{d}/bounds" for d in range(1, joint.depth + 1)}
        order = tuple(name for name in handle.header.names if name in shown)
    else:
        names = [full.partition("/")[2] for full in subset]
        joint = handle.joint([name for name in names if name in handle.fields])
        order = tuple(subset)
    words = {name: handle.fields[name].vocabulary for name in joint.names}
    about = build.about({name: w for name, w in words.items() if w is not None}, handle.row_ids)
    if about is not None and about.get("row_ids") not in joint.names:
        about.pop("row_ids", None)
    return joint.with_meta(about) if about else joint, order


def save(path: Any, arrays: Mapping[str, Array], about: Mapping[str, Any]) -> None:
    """Writes the tensors, with what belongs to those keys that are there."""
    from varlen import io

    bare = {full.partition("/")[2] for full in arrays}
    words = {key: words for key, words in about.get("vocabularies", {}).items() if key in bare}
    row_ids = about.get("row_ids")
    if f"dim0/{row_ids}" not in arrays:
        row_ids = None
    io.save(path, arrays, vocabularies=words or None, row_ids=row_ids)


def load(cls: type[Self], path: Path, index: Any) -> Self:
    """Rows of a file as arrays of their own: the file may go away."""
    lazy = cls(tensors_fp=path)  # type: ignore[call-arg]
    part: Self = lazy[index]
    if isinstance(index, slice):
        part._order = lazy._order
    part.tensors  # noqa: B018  copies what lies in the map
    return part
