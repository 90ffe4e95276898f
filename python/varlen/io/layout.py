"""Bytes and header of one file: the first of the three layers of reading.

The core maps or reads the bytes (`_core.MappedFile`, `_core.FileReader`) and checks the header;
`FileLayout` gives the place and dtype of each key, computed once for each state of a file. Above it lie the
rows of one file (`file.py`) and the rows of many shards (`shard_set.py`).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from varlen import _core
from varlen.arguments import as_path
from varlen.errors import error_of
from varlen.io.bits import BitTable, has_bits
from varlen.io.checksums import read_checksums
from varlen.io.dtypes import dtype_of, face_dtype
from varlen.io.errors import FileFormatError
from varlen.io.formats import TREE, explain
from varlen.io.schema import Field, Metadata, check_version, decode_metadata

__all__ = ["read_header"]

Array = np.ndarray[tuple[Any, ...], np.dtype]

# (size, mtime_ns, inode)
Identity = tuple[int, int, int]


class TensorEntry(NamedTuple):
    """The place and the dtypes of a key's values."""

    number: int  # among the tensors of the header
    dim: int
    file_dtype: np.dtype
    dtype: np.dtype  # of the memory: times have their unit
    aligned: bool  # in memory, where the file is mapped


class FileLayout:
    """Keys, dims, dtypes and levels. Immutable. `view` gives a tensor by its number in the header."""

    __slots__ = (
        "_checksums",
        "_entries",
        "_fields",
        "_schema",
        "bits",
        "bounds",
        "count",
        "depth",
        "header",
        "left_behind",
        "lengths",
        "outer",
        "rows",
    )

    def __init__(self, outer: _core.Header, read: Callable[[int, int], Array]) -> None:
        """`read` gives bytes of the data, which hold the plain header where a file has blocks of bits."""
        self.outer = outer  # the header that the file begins with
        self.bits = BitTable(outer, read) if has_bits(outer.metadata) else None
        header = outer if self.bits is None else self.bits.header
        if header.metadata.get("format") == TREE:
            raise error_of(FileFormatError, "", "was written by `varlen.save`; `varlen.load` reads it")
        check_version(header.metadata)
        self.header = header
        self.depth, self.bounds, self.lengths, self.rows = header.layout()
        self.count = max(self.rows[0], 0)
        self.left_behind = [f"dim{dim}/{name}" for name, dim, _ in header.columns() if dim < 0]
        self._schema: Metadata | None = None
        self._fields: Mapping[str, Field] | None = None
        self._entries: dict[str, TensorEntry] = {}
        self._checksums: dict[str, str] | None = None

    @property
    def checksums(self) -> dict[str, str]:
        """The checksum of each tensor, by its name in the file; empty if the file holds none."""
        if self._checksums is None:
            self._checksums = read_checksums(self.outer.metadata)
        return self._checksums

    def stored(self, number: int) -> int:
        """The number of a tensor among those that the file begins with, which its bytes and checksum have."""
        return number if self.bits is None else self.bits.numbers[number]

    @property
    def schema(self) -> Metadata:
        """The metadata's schema; empty for files of other libraries."""
        if self._schema is None:
            self._schema = decode_metadata(self.header.metadata)
        return self._schema

    @property
    def known_fields(self) -> Mapping[str, Field] | None:
        """The result of `fields` if it was computed before."""
        return self._fields

    def fields(self, view: Callable[[int], Array]) -> Mapping[str, Field]:
        """Each key's dim, dtype, trailing dimensions and vocabulary."""
        if self._fields is None:
            schema, fields, entries = self.schema, {}, {}
            for name, (dim, index) in self._read_keys(view).items():
                _, tag, shape, begin, _ = self.header.describe(index)
                file_dtype = dtype_of(tag)
                dtype = schema.dtype(name, file_dtype) if schema.dtypes else file_dtype
                face = face_dtype(tag) if dtype is file_dtype else dtype
                words = schema.vocabulary(name)
                if words is not None and file_dtype.kind not in "iu":
                    raise error_of(
                        FileFormatError, "", f"vocabulary of {name!r}: the key is {dtype}, ids are integers"
                    )
                fields[name] = Field(dim, face, tag, shape[1:], words)
                is_aligned = (self.header.data_start + begin) % file_dtype.alignment == 0
                entries[name] = TensorEntry(index, dim, file_dtype, dtype, is_aligned)
            self._entries = entries
            self._fields = fields
        return self._fields

    def entry(self, name: str) -> TensorEntry:
        """The place of a key; call `fields` first."""
        return self._entries[name]

    def key_of(self, index: int) -> str | None:
        """The key of a tensor, by its index in the header; None for levels and keys left behind."""
        return next((key for key, e in self._entries.items() if e.number == index and e.dim >= 0), None)

    def _read_keys(self, view: Callable[[int], Array]) -> dict[str, tuple[int, int]]:
        keys = {name: (dim, index) for name, dim, index in self.header.columns()}
        if any(index >= 0 for index in self.lengths) and not self._is_first_generation(view):
            for dim, index in enumerate(self.lengths, start=1):
                if index >= 0 and self.bounds[dim - 1] >= 0:
                    self._add_lengths_key(keys, dim, index, view)
        return keys

    def _add_lengths_key(
        self, keys: dict[str, tuple[int, int]], dim: int, index: int, view: Callable[[int], Array]
    ) -> None:
        rows = self.rows[dim]
        shape = self.header.describe(index)[2]
        if rows < 0:
            ends = view(self.bounds[dim - 1])
            rows = int(ends[-1]) if len(ends) else 0
        if "lengths" in keys:
            raise error_of(FileFormatError, f"dim{dim}/lengths", "the same name is there at another depth")
        if shape[0] != rows:
            raise error_of(
                FileFormatError, f"dim{dim}/lengths", f"has {shape[0]} rows, but dim {dim} has {rows}"
            )
        keys["lengths"] = (dim, index)

    def _is_first_generation(self, view: Callable[[int], Array]) -> bool:
        """True if every level has, beside its bounds, the lengths of the first generation.

        A later file may hold a key that somebody called "lengths": not the differences of the bounds.
        """
        if self.schema.version is not None or any(index < 0 for index in self.lengths):
            return False
        for b, n in zip(self.bounds, self.lengths, strict=True):
            if b >= 0:
                ends, counts = view(b), view(n)
                zero = ends.dtype.type(0)
                if ends.shape != counts.shape or not np.array_equal(np.diff(ends, prepend=zero), counts):
                    return False
        return True


# Layouts of files that were open a moment ago, by identity. Kept only where the file is older than the
# clock of the file system is coarse: a later change then shows in its time.
_recent: dict[Identity, FileLayout] = {}
_lock = threading.Lock()
_MOST_LAYOUTS = 64
_LARGEST_HEADER = 256 * 1024
_SETTLED_NS = 100_000_000


def known_layout(identity: Identity) -> FileLayout | None:
    """The layout of a file in this state, if it is still known."""
    return _recent.get(identity)


def known_header(identity: Identity) -> _core.Header | None:
    """The header of a file in this state, if it is still known."""
    layout = _recent.get(identity)
    return None if layout is None else layout.outer


def keep_layout(identity: Identity, layout: FileLayout) -> None:
    """Keeps the layout for the next open."""
    if identity in _recent or layout.outer.data_start > _LARGEST_HEADER:
        return
    if time.time_ns() - identity[1] < _SETTLED_NS:
        return
    with _lock:
        while len(_recent) >= _MOST_LAYOUTS:
            del _recent[next(iter(_recent))]
        _recent[identity] = layout


def renew_lock() -> None:
    """Gives a forked child a lock of its own: another thread may have held the parent's."""
    global _lock
    _lock = threading.Lock()


def read_header(path: str | os.PathLike[str]) -> _core.Header:
    """Read and check the header of any safetensors file, whatever its tensors are called.

    Parameters
    ----------
    path : path
        A regular file.

    Returns
    -------
    _core.Header
        Names, dtypes, shapes and places of its tensors, and its metadata.

    Examples
    --------
    >>> import os, tempfile, varlen.io
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "weights.safetensors")
    >>> varlen.io.save(path, {"w": np.zeros((2, 3), np.float32)})
    >>> varlen.io.read_header(path).describe(0)
    ('w', 'F32', (2, 3), 0, 24)
    >>> folder.cleanup()
    """
    name = as_path(path)
    try:
        return _core.MappedFile(name, None, False, False).header
    except FileFormatError as error:
        raise explain(error, name) from None
