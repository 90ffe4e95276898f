"""Files and folders of shards as one sequence of rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from varlen import _core
from varlen.io.errors import FileFormatError
from varlen.io.facts import Identity
from varlen.io.file import File, open_file
from varlen.io.ids import RowIds
from varlen.io.read import read_rows, wanted_ranges
from varlen.io.schema import Field
from varlen.io.shards import INDEX, Index, Shard, find_shards

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
    wanted = None if keys is None else tuple(dict.fromkeys([keys] if isinstance(keys, str) else keys))
    if isinstance(path, (str, os.PathLike)) and not os.fspath(path).endswith(INDEX):
        try:
            return Source(_one(file := open_file(path, mmap=mmap)), mmap, wanted, file=file)
        except (FileNotFoundError, IsADirectoryError):
            pass  # a folder, a pattern, or nothing
    return Source(find_shards(path), mmap, wanted)


def _one(file: File) -> Index:
    return Index((Shard(file.path),))


class Source:
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

    def __init__(
        self,
        index: Index,
        mmap: bool,
        keys: tuple[str, ...] | None,
        identities: Sequence[Identity | None] | None = None,
        file: File | None = None,
    ) -> None:
        self.mmap = mmap
        self._index = index
        self._keys = keys
        self._files: list[File | None] = [None] * len(index.shards)
        self._known = identities
        self._ids: RowIds | None = None
        self._first = 0
        self._fields: dict[str, Field] | None = None
        self._row_ids: str | None = None
        self._rows: tuple[Ints, Ints] | None = None
        if file is not None:
            self._files[0] = file
            self._length = file.count
            if keys is not None:
                self._adopt(0)
            return
        first = next((i for i, shard in enumerate(index.shards) if shard.rows != 0), 0)
        if index.shards:
            self._adopt(first)
        self._length = int(self.offsets[-1])

    @property
    def counts(self) -> Ints:
        """int64, the rows of each shard."""
        return self._spread()[0]

    @property
    def offsets(self) -> Ints:
        """int64, the row at which each shard begins, and the number of rows."""
        return self._spread()[1]

    @property
    def row_ids(self) -> str | None:
        """The name of the key whose values identify rows, or None."""
        self._told()
        return self._row_ids

    def _spread(self) -> tuple[Ints, Ints]:
        if self._rows is None:
            shards = self._index.shards
            rows = [
                self.file(i).count if shard.rows is None else shard.rows for i, shard in enumerate(shards)
            ]
            counts: Ints = np.array(rows, np.int64)
            offsets: Ints = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
            counts.flags.writeable = offsets.flags.writeable = False
            self._rows = counts, offsets
        return self._rows

    def _told(self) -> dict[str, Field]:
        # One file is looked into when something of it is asked for, many when they are opened.
        if self._fields is None:
            if self._index.shards:
                self._adopt(self._first)
            else:
                self._fields = {}
        assert self._fields is not None
        return self._fields

    def __len__(self) -> int:
        return self._length

    @property
    def paths(self) -> list[str]:
        """The files, in the order of their rows."""
        return [shard.path for shard in self._index.shards]

    @property
    def fields(self) -> Mapping[str, Field]:
        """Each exposed key's dim, dtype, trailing dimensions and vocabulary."""
        return self._told()

    @property
    def names(self) -> list[str]:
        """The keys that are exposed."""
        return list(self._told())

    @property
    def depth(self) -> int:
        """Levels of nesting of the deepest key exposed."""
        if self._keys is None and self._index.shards:
            return self.file(self._first).depth
        return max((field.dim for field in self._told().values()), default=0)

    @property
    def joints(self) -> list[_core.Joint]:
        """One Joint a shard: views of the maps; with `mmap=False` every file is read whole."""
        return [self.joint(shard) for shard in range(len(self.counts))]

    def joint(self, shard: int) -> _core.Joint:
        """The rows of one shard."""
        file = self.file(shard)
        if self._keys is None or not file.names:
            return file.joint()
        return file.joint(self._keys)

    def file(self, shard: int) -> File:
        """The opened file of a shard; opened the first time, and refused where it does not fit the others."""
        file = self._files[shard]
        if file is None:
            file = self._open(shard)
            self._check_shard(shard, file)
            self._files[shard] = file
        return file

    def check(self) -> None:
        """Raises StaleFileError where a file that is open was replaced or changed since."""
        for file in self._files:
            if file is not None:
                file.check()

    def guard(self, shards: Iterable[int] | None = None) -> None:
        """Raises StaleFileError where a mapped file was changed in place: for use before large reads."""
        for shard in range(len(self._files)) if shards is None else shards:
            file = self._files[shard]
            if file is not None and self.mmap:
                file.guard()

    def validate(self) -> None:
        """Opens every shard and reads every bound once; FileFormatError says what does not fit."""
        for shard in range(len(self.counts)):
            self.file(shard).validate()

    def locate(self, rows: Any) -> tuple[Ints, Ints]:
        """The shard of each row, and its row there; negative rows count from the end.

        Raises IndexError for the first row that is out of range, TypeError for what are not integers.
        """
        index = np.asarray(rows)
        if index.dtype.kind not in "iu" and index.size:
            raise TypeError(f"rows: expected integers, got {index.dtype}")
        flat = index.reshape(-1).astype(np.int64)
        n = len(self)
        bad = np.flatnonzero((flat < -n) | (flat >= n))
        if len(bad):
            raise IndexError(f"rows: {flat[bad[0]]} at position {bad[0]} is out of range for {n} rows")
        flat = np.where(flat < 0, flat + n, flat)
        shards = np.searchsorted(self.offsets, flat, side="right").astype(np.int64) - 1
        return shards, flat - self.offsets[shards]

    def read(self, row: int, begin: int | None = None, end: int | None = None) -> _core.Joint:
        """One row, or its window `[begin, end)`, as an owned Joint of the row's own dims.

        With `mmap=False` only the row's bytes are read.
        """
        starts = None if begin is None else np.array([begin], np.int64)
        ends = None if end is None else np.array([end], np.int64)
        many = self.read_many(np.array([row], np.int64), starts, ends)
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
            every = np.concatenate(parts) if parts else np.empty(0, np.int64)
            field = self._told().get(name) or self.file(self._first).fields[name]
            self._ids = RowIds(every, field.vocabulary)
        return self._ids.rows_of(ids)

    def __iter__(self) -> Iterator[_core.Joint]:
        for shard in range(len(self.counts)):
            joint = self.joint(shard)
            for row in range(len(joint)):
                yield joint.row(row)

    def __reduce__(self) -> tuple[Any, ...]:
        before = self._known or [None] * len(self._files)
        known = [k if f is None else f.identity for f, k in zip(self._files, before, strict=True)]
        return Source, (self._index, self.mmap, self._keys, known)

    def __repr__(self) -> str:
        where = self.paths[0] if len(self.paths) == 1 else f"{len(self.paths)} files"
        return f"Source({where}, {len(self)} rows, {len(self._told())} keys, depth {self.depth})"

    def _window(self, given: Any, count: int) -> Ints:
        window = np.asarray(given)
        if window.dtype.kind not in "iu" and window.size:
            raise TypeError(f"starts, ends: expected integers, got {window.dtype}")
        if window.shape not in ((), (count,)):
            raise ValueError(f"starts, ends: expected one a row, {count}, got shape {window.shape}")
        return np.broadcast_to(window.astype(np.int64), (count,))

    def _read_shard(self, shard: int, rows: Ints, starts: Ints | None, ends: Ints | None) -> _core.Joint:
        file = self.file(shard)
        if not self.mmap or starts is not None or ends is not None:
            return read_rows(file, rows, starts, ends, self._keys)
        file.guard()
        return self.joint(shard).take(rows)

    def _open(self, shard: int) -> File:
        path, known = self._index.shards[shard].path, self._known[shard] if self._known else None
        file = open_file(path, mmap=self.mmap)
        if known is not None and known != file.identity:
            file = File(path, self.mmap, known)  # says in which way it is another
        return file

    def _adopt(self, shard: int) -> None:
        """Takes keys and ids from this shard: all others must agree with it."""
        self._first = shard
        file = self._files[shard] or self._open(shard)
        while not file.names and self._index.shards[shard].rows is None and shard + 1 < len(self._files):
            shard += 1  # a shard without keys and rows says nothing
            file = self._open(shard)
        self._first = shard
        names = file.names if self._keys is None else self._keys
        missing = [name for name in names if name not in file.fields]
        if missing:
            raise KeyError(f"keys: {missing} not in {file.path}; available: {sorted(file.fields)}")
        self._fields = {name: file.fields[name] for name in names}
        self._row_ids = file.row_ids
        self._check_shard(shard, file)
        self._files[shard] = file

    def _check_shard(self, shard: int, file: File) -> None:
        expected: Shard = self._index.shards[shard]
        if expected.rows is not None and expected.rows != file.count:
            raise FileFormatError(f"{file.path}: has {file.count} rows, its index says {expected.rows}")
        if expected.size is not None and expected.size != file.identity[0]:
            raise FileFormatError(
                f"{file.path}: has {file.identity[0]} bytes, its index says {expected.size}"
            )
        if not file.names and file.count == 0:
            return
        other = f"the others (such as {self.paths[self._first]})"
        for name, field in self._index.fields.items():
            if name in file.fields:
                self._refuse(file, name, field.conflict(file.fields[name], words=False), "the index says")
        for name, field in self._told().items():
            if name not in file.fields:
                raise FileFormatError(f"{file.path}: has no key {name!r}, as {other} have")
            self._refuse(file, name, field.conflict(file.fields[name]), f"{other} have")
            words = file.fields[name].vocabulary
            if words is not None and len(words) > len(field.vocabulary or ()):
                self._told()[name] = file.fields[name]
        if self._keys is None and len(file.fields) > len(self._told()):
            more = sorted(set(file.fields) - set(self._told()))
            raise FileFormatError(f"{file.path}: has keys {more} that {other} have not")
        if file.row_ids != self.row_ids:
            raise FileFormatError(f"{file.path}: row ids are {file.row_ids!r}, {other} have {self.row_ids!r}")

    def _refuse(self, file: File, name: str, conflict: str | None, who: str) -> None:
        if conflict:
            raise FileFormatError(f"{file.path}: key {name!r} does not fit what {who}: it has {conflict}")
