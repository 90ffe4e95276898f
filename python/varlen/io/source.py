"""Files and folders of shards as one sequence of rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from varlen import _core
from varlen.arguments import as_list, unmasked
from varlen.io.dtypes import widened
from varlen.io.file import open_file
from varlen.io.files import Files
from varlen.io.ids import RowIds
from varlen.io.read import read_rows, wanted_ranges
from varlen.io.shards import INDEX, Shard, find_shards

__all__ = ["Source", "open_source"]

Ints = np.ndarray[Any, np.dtype[np.int64]]

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def open_source(path: Paths, *, mmap: bool = True, keys: Iterable[str] | None = None) -> Source:
    """Opens files of rows as one sequence; nothing but headers is read.

    Parameters
    ----------
    path
        A file, a list of files, a pattern with `*`, `?` or `[`, or a folder: of what its `index.json` lists,
        else of all its `.nrt` files in the order of their names.
    mmap
        False: nothing is mapped, every read copies the bytes that it needs.
    keys
        The keys to expose; all by default.

    Raises
    ------
    FileFormatError
        A damaged file, or shards that do not go together; the text names the shard.
    KeyError
        A key that the files do not have.

    Examples
    --------
    >>> import os, tempfile, varlen.io
    >>> folder = tempfile.TemporaryDirectory()
    >>> for i in range(2):
    ...     rows = {"dim1/bounds": np.array([1, 3]), "dim1/t": np.arange(3) + 10 * i}
    ...     varlen.io.save(os.path.join(folder.name, f"part-{i}.nrt"), rows)
    >>> source = varlen.io.open_source(folder.name)
    >>> len(source), source.read(3).values("t")
    (4, array([11, 12]))
    >>> folder.cleanup()
    """
    if keys is not None:
        keys = tuple(dict.fromkeys([keys] if isinstance(keys, str) else as_list(keys, "keys", "keys")))
    name = path if type(path) is str else os.fspath(path) if isinstance(path, os.PathLike) else None
    if name is not None and not name.endswith(INDEX):
        try:
            file = open_file(name, mmap=mmap)
            return Source((Shard(file.path),), mmap, keys, file=file)
        except (FileNotFoundError, IsADirectoryError):
            pass  # a folder, a pattern, or nothing
    return Source(find_shards(path), mmap, keys)


class Source(Files):
    """One logical sequence of rows in one or more files. Made by `open_source`.

    Shards are opened when their rows are first asked for where an index tells how many they have. Any number
    of threads may read one source. Pickles as paths and identities.

    Examples
    --------
    >>> import os, tempfile, varlen.io
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "visits.nrt")
    >>> rows = {"dim0/id": np.array([70, 30]), "dim1/bounds": np.array([2, 3]), "dim1/t": np.array([5, 6, 7])}
    >>> varlen.io.save(path, rows, row_ids="id")
    >>> source = varlen.io.open_source(path, mmap=False)
    >>> source.rows_of([30, 70]), source.read_many([1, 0], ends=1).values("t")
    (array([1, 0]), array([7, 5]))
    >>> folder.cleanup()
    """

    _ids: RowIds | None = None

    def __len__(self) -> int:
        return self._length

    def locate(self, rows: Any) -> tuple[Ints, Ints]:
        """The shard of each row, and its row there; negative rows count from the end.

        Raises IndexError for the first row that is out of range, TypeError for what are not integers.
        """
        index = np.asarray(unmasked(rows, "rows")).reshape(-1)
        if index.dtype.kind not in "iu" and index.size:
            raise TypeError(f"rows: expected integers, got {index.dtype}")
        n = len(self)
        bad = np.flatnonzero((index < -n) | (index >= n))
        if len(bad):
            raise IndexError(f"rows: {index[bad[0]]} at position {bad[0]} is out of range for {n} rows")
        flat = index.astype(np.int64)
        flat = np.where(flat < 0, flat + n, flat)
        shards = np.searchsorted(self.offsets, flat, side="right").astype(np.int64) - 1
        return shards, flat - self.offsets[shards]

    def read(self, row: int, begin: int | None = None, end: int | None = None) -> _core.Joint:
        """One row, or its window `[begin, end)`, as an owned Joint of the row's own dims.

        With `mmap=False` only the row's bytes are read.
        """
        starts, ends = (None if at is None else np.array([at]) for at in (begin, end))
        many = self.read_many(np.array([row]), starts, ends)
        return many.row(0) if many.depth else many

    def read_many(self, rows: Any, starts: Any = None, ends: Any = None) -> _core.Joint:
        """The rows, in their order, as one owned Joint; of each its window of the first level.

        Only the bytes of the windows are read; windows clip as slices do.
        """
        shards, local = self.locate(rows)
        windows = [None if w is None else self._window(w, len(local)) for w in (starts, ends)]
        if len(self.counts) == 0:
            return _core.Joint([], [], [], [], 0)
        touched = np.unique(shards) if len(shards) else np.array([self._first])
        parts = []
        for shard in touched:
            mine = np.flatnonzero(shards == shard)
            cut = [None if w is None else w[mine] for w in windows]
            parts.append(self._read_shard(int(shard), local[mine], cut[0], cut[1]))
        metadata = self._joint_metadata()[0]  # all shards that are needed are open now
        parts = [part.with_meta(metadata) for part in parts]
        if len(parts) == 1:
            return parts[0]
        order = np.argsort(shards, kind="stable")
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return _core.Joint.concat(parts).take(back)

    def prefetch(self, rows: Any, starts: Any = None, ends: Any = None) -> None:
        """Asks the system to read the rows ahead: where the files are not in memory. No-op unmapped."""
        if not self.mmap:
            return
        shards, local = self.locate(rows)
        windows = [None if w is None else self._window(w, len(local)) for w in (starts, ends)]
        for shard in np.unique(shards):
            mine = shards == shard
            cut = [None if w is None else w[mine] for w in windows]
            file = self.file(int(shard))
            file.will_need(*wanted_ranges(file, local[mine], cut[0], cut[1]))

    def rows_of(self, ids: Any) -> Ints:
        """The row that each id stands for; the index is built when it is first asked, and kept.

        Raises KeyError for the first id that is missing, ValueError where one is there twice.
        """
        if self._ids is None:
            name = self.row_ids
            if name is None:
                raise ValueError("ids: these files hold no row ids; save them with row_ids=")
            parts = [self.file(s).values(name) for s in range(len(self.counts)) if self.counts[s]]
            field = self._told().get(name) or self.file(self._first).fields[name]
            self._ids = RowIds(parts, field.vocabulary)
        return self._ids.rows_of(ids)

    def __iter__(self) -> Iterator[_core.Joint]:
        for shard in range(len(self.counts)):
            joint = self.joint(shard)
            for row in range(len(joint)):
                yield widened(joint.row(row), self.wider(shard))

    def __reduce__(self) -> tuple[Any, ...]:
        before = self._known or [None] * len(self._files)
        known = [k if f is None else f.identity for f, k in zip(self._files, before, strict=True)]
        return Source, (self._shards, self.mmap, self._keys, known)

    def __repr__(self) -> str:
        where = self.paths[0] if len(self.paths) == 1 else f"{len(self.paths)} files"
        return f"Source({where}, {len(self)} rows, {len(self._told())} keys, depth {self.depth})"

    def _window(self, given: Any, count: int) -> Ints:
        window = np.asarray(unmasked(given, "starts, ends"))
        if window.dtype.kind not in "iu" and window.size:
            raise TypeError(f"starts, ends: expected integers, got {window.dtype}")
        if window.dtype == np.uint64:
            window = np.minimum(window, np.uint64(np.iinfo(np.int64).max))  # windows clip
        if window.shape not in ((), (count,)):
            raise ValueError(f"starts, ends: expected one a row, {count}, got shape {window.shape}")
        return np.broadcast_to(window.astype(np.int64), (count,))

    def _read_shard(self, shard: int, rows: Ints, starts: Ints | None, ends: Ints | None) -> _core.Joint:
        file = self.file(shard)
        if not self.mmap or starts is not None or ends is not None:
            found = read_rows(file, rows, starts, ends, self._keys)
        else:
            file.guard()
            found = self.joint(shard).take(rows)
        return widened(found, self.wider(shard))
