"""Rows of one file: the second layer of reading.

A file is opened and checked once, shared in the process, and mapped or read by ranges (`ranges.py`). Below it
lie bytes and header (`layout.py`), above it the rows of many shards (`shard_set.py`).
"""

from __future__ import annotations

import functools
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from varlen import _core
from varlen.arguments import as_list, as_path
from varlen.errors import error_of, index_error, name_file
from varlen.io import small_floats
from varlen.io.account import ACCOUNT, Account
from varlen.io.bits import BitReader, Reader
from varlen.io.checksums import CHECKSUM
from varlen.io.dtypes import dtype_of, joint_row
from varlen.io.errors import FileFormatError, StaleFileError, format_error, stale_error
from varlen.io.formats import explain
from varlen.io.intent import Schema
from varlen.io.layout import (
    FileLayout,
    Identity,
    TensorEntry,
    keep_layout,
    known_header,
    known_layout,
    renew_lock,
)
from varlen.io.schema import Field, joint_metadata

__all__ = ["File", "open_file"]

Array = np.ndarray[tuple[Any, ...], np.dtype]
# A key in blocks of bits: its name, its dim, an array of its values without rows, and the blocks.
BitColumn = tuple[str, int, Array, _core.Bits]
_T = TypeVar("_T")


class File:
    """A `.nrt` file. `open_file` makes it; any number of threads may read it.

    Its arrays are read-only views of one map of the file, or copies with `mmap=False`. Opening an unchanged
    file twice returns the same object. It pickles as its path and identity: another process opens the file
    again, and checks that it is still the same.

    Parameters
    ----------
    path : str
        An absolute path.
    mmap : bool
        Whether the file is mapped.
    expect : tuple or None
        The size, time and inode that the file must have.

    Examples
    --------
    >>> import os, tempfile, varlen.io
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "visits.nrt")
    >>> varlen.io.save(path, {"dim1/bounds": np.array([2, 3]), "dim1/t": np.array([5, 6, 7])})
    >>> file = varlen.io.open_file(path)
    >>> file.count, file.depth, file.names, file.joint().row(0).values("t")
    (2, 1, ['t'], array([5, 6]))
    >>> file.header.names, file.fields["t"].dim, file.fields["t"].dtype, file.row_ids
    (['dim1/bounds', 'dim1/t'], 1, dtype('int64'), None)
    >>> folder.cleanup()
    """

    __slots__ = (
        "__weakref__",
        "_bits",
        "_core",
        "_identity",
        "_joints",
        "_layout",
        "_levels",
        "_mmap",
        "_path",
        "_right_tensors",
    )

    is_remote = False  # whether its bytes come from a server

    def __init__(self, path: str, mmap: bool, expect: Identity | None) -> None:
        self._path = path
        self._mmap = mmap
        try:
            self._core = _core.MappedFile(path, expect, mmap, True, known_header)
        except FileFormatError as error:
            raise explain(error, path) from None
        self._identity: Identity = self._core.identity
        self._layout = known_layout(self._identity) or self._name_file(
            lambda: FileLayout(self._core.header, self._read_outer)
        )
        self._levels: dict[int, _core.Level] = {}
        self._joints: dict[tuple[str, ...] | None, _core.Joint] = {}
        self._bits: dict[int, Any] = {}
        self._right_tensors: set[int] = set()  # tensors whose bytes have their checksums

    @property
    def path(self) -> str:
        """The absolute path that was opened."""
        return self._path

    @property
    def mmap(self) -> bool:
        """Whether arrays are views of the mapped file; otherwise each is read into its own memory."""
        return self._mmap and self._layout.bits is None

    @property
    def decodes(self) -> bool:
        """Whether the file was saved with `compress=`, and is mapped: batches are decoded from the map."""
        table = self._layout.bits
        return self._mmap and table is not None and table.is_numeric

    @property
    def identity(self) -> Identity:
        """The identity of the opened file: its size in bytes, modification time in ns, and inode."""
        return self._identity

    @property
    def layout(self) -> FileLayout:
        """The place of each key's tensors in the file, according to its header."""
        return self._layout

    @property
    def header(self) -> _core.Header:
        """The checked table of tensors."""
        return self._layout.header

    @property
    def schema(self) -> Schema:
        """The schema: the one declared at writing, else one derived from the keys."""
        intents = self._name_file(lambda: self._layout.schema).declared
        return self._name_file(lambda: Schema.of(self.fields, intents))

    @property
    def depth(self) -> int:
        """The number of levels."""
        return self._layout.depth

    @property
    def count(self) -> int:
        """The number of rows of the outermost dim."""
        return self._layout.count

    @property
    def fields(self) -> Mapping[str, Field]:
        """Each key's dim, dtype, trailing dimensions and vocabulary."""
        cache = self._layout.known_fields
        return self._name_file(lambda: self._layout.fields(self._view)) if cache is None else cache

    @property
    def names(self) -> list[str]:
        """The keys, without the levels, in the order of the header."""
        return list(self.fields)

    @property
    def row_ids(self) -> str | None:
        """The name of the key whose values identify the rows, or None."""
        name = self._name_file(lambda: self._layout.schema).row_ids
        if name is not None and (name not in self.fields or self.fields[name].dim != 0):
            raise format_error(self.path, f"row_ids: {name!r} is not a key of dim 0")
        return name

    @property
    def user_metadata(self) -> dict[str, str]:
        """The strings of the header that are not varlen's own."""
        entries = self.header.metadata.items()
        return {key: text for key, text in entries if key != "format" and not key.startswith("varlen.")}

    @property
    def account(self) -> Account | None:
        """The account that the file stores, of its input and everything left out; None if there is none."""
        text = self.header.metadata.get(ACCOUNT)
        return None if text is None else self._name_file(lambda: Account.from_text(text))

    @property
    def checksum(self) -> str | None:
        """The checksum of the header, as it was written; None if the file holds none."""
        return self._layout.outer.metadata.get(CHECKSUM)

    @property
    def checksums(self) -> Mapping[str, str]:
        """The checksum of each tensor's bytes in the file, by its name there; empty if it holds none."""
        return self._name_file(lambda: self._layout.checksums)

    def head(self) -> bytes:
        """Read the bytes before the data: the header and its length.

        Returns
        -------
        bytes
            As they are in the file now.

        Raises
        ------
        StaleFileError
            The file was replaced, changed or removed.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows)
        ...     varlen.io.open_file(f"{folder}/a.nrt").head()[8:24]
        b'{"__metadata__":'
        """
        with open(self._path, "rb") as file:
            if _identity(os.fstat(file.fileno())) != self._identity:
                self.check()
            return file.read(self._layout.outer.data_start)

    def entry(self, name: str) -> TensorEntry:
        """The place of a key's values in the file.

        Parameters
        ----------
        name : str
            A key.

        Returns
        -------
        TensorEntry
            Its number in the header, its dim, and the dtypes in the file and in memory.

        Raises
        ------
        KeyError
            There is no such key.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows)
        ...     file = varlen.io.open_file(f"{folder}/a.nrt")
        ...     file.entry("t").dim
        1
        """
        if name not in self.fields:
            raise error_of(KeyError, "", f"{name!r} is not in {self.path}; there are {sorted(self.fields)}")
        return self._layout.entry(name)

    def key_bytes(self, name: str) -> tuple[int, int]:
        """The bytes of a key's values in the file, and in a plain file.

        Parameters
        ----------
        name : str
            A key.

        Returns
        -------
        tuple of int
            Both sizes; they differ where the file was saved with `compress=`.

        Raises
        ------
        KeyError
            There is no such key.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim1/bounds": np.array([2000]), "dim1/t": np.arange(2000)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows, compress=True)
        ...     varlen.io.open_file(f"{folder}/a.nrt").key_bytes("t")
        (64, 16000)
        """
        number = self.entry(name).number
        _, _, _, begin, end = self.header.describe(number)
        table = self._layout.bits
        return end - begin if table is None else table.nbytes(number), end - begin

    def check(self) -> None:
        """Raise an error if the path no longer leads to the opened file.

        Raises
        ------
        StaleFileError
            The file was replaced, changed or removed.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows)
        ...     file = varlen.io.open_file(f"{folder}/a.nrt")
        ...     file.check()
        """
        try:
            now = _identity(os.stat(self._path))
        except OSError as error:
            raise stale_error(self.path, f"cannot be found any more: {error.strerror}") from None
        if now != self._identity:
            what = "was replaced" if now[2] != self._identity[2] else "was changed in place"
            raise stale_error(
                self.path,
                f"{what} since it was opened: {self._identity[0]} bytes then, {now[0]} now; open it again",
            )

    def guard(self) -> None:
        """Raise an error if a mapped file was changed in place: its bytes may be gone.

        Call it before large reads: a process that reads a part cut off a mapped file ends. It looks at the
        path once. A file that was replaced or unlinked stays readable through its map.

        Raises
        ------
        StaleFileError
            The file was changed in place.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows)
        ...     file = varlen.io.open_file(f"{folder}/a.nrt")
        ...     file.guard()
        """
        if self._core.changed:
            self.check()

    def validate(self) -> None:
        """Read every bound and every word id once, and raise an error if one does not fit.

        Opening checks only the last bounds.

        Raises
        ------
        FileFormatError
            A bound does not fit, or an id has no word. The error names the level or the key, and the row.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows)
        ...     file = varlen.io.open_file(f"{folder}/a.nrt")
        ...     file.validate()
        """
        joint = self.joint()
        self._name_file(joint.check)
        refuse_left_behind(self)
        for name, field in self.fields.items():
            if field.vocabulary is not None:
                words = len(field.vocabulary)
                self._name_file(functools.partial(refuse_wordless, joint, name, words))

    def joint(self, keys: Iterable[str] | None = None) -> _core.Joint:
        """The keys with the levels they need: views of the map, or read whole with `mmap=False`.

        Parameters
        ----------
        keys : iterable of str, optional
            The keys to read; all by default.

        Returns
        -------
        _core.Joint
            The columns; `meta` holds their vocabularies and the key of row ids.

        Raises
        ------
        KeyError
            There is no such key.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows)
        ...     file = varlen.io.open_file(f"{folder}/a.nrt")
        ...     file.joint().row(1).values("t")
        array([7])
        """
        names = None if keys is None else tuple(dict.fromkeys(as_list(keys, "keys", "keys")))
        joint = self._joints.get(names)
        if joint is None:
            joint = self._name_file(lambda: self._make_joint(names))
            if self.mmap:
                joint = self._joints.setdefault(names, joint)
        return joint

    def array(self, full: str) -> Array:
        """Read one tensor by its full name.

        Parameters
        ----------
        full : str
            `dimK/name` or `dimK/bounds`.

        Returns
        -------
        ndarray
            A read-only array with the dtype of its key.

        Raises
        ------
        KeyError
            There is no such tensor.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows)
        ...     file = varlen.io.open_file(f"{folder}/a.nrt")
        ...     file.array("dim1/bounds")
        array([2, 3])
        """
        try:
            index = self.header.names.index(full)
        except ValueError:
            raise error_of(
                KeyError, "", f"{full!r} is not in {self.path}; there are {sorted(self.header.names)}"
            ) from None
        name = self._layout.key_of(index) if self.fields else None
        return self._view(index) if name is None else self.values(name)

    def values(self, name: str) -> Array:
        """The flat values of a key.

        Parameters
        ----------
        name : str
            A key.

        Returns
        -------
        ndarray (total, ...)
            A read-only array with the dtype of the key's field.

        Raises
        ------
        KeyError
            There is no such key.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows)
        ...     file = varlen.io.open_file(f"{folder}/a.nrt")
        ...     file.values("t")
        array([5, 6, 7])
        """
        self.entry(name)  # refuses a key that is not there
        values = self._values(name)
        return values if small_floats.name_of(values.dtype) is None else small_floats.as_float32(values)

    def _values(self, name: str) -> Array:
        index, _, file_dtype, dtype, is_aligned = self._layout.entry(name)
        array = self._core.view(index, file_dtype) if is_aligned and self.mmap else self._view(index)
        return array if dtype is file_dtype else array.view(dtype)

    def level(self, number: int) -> Array | _core.Level:
        """The ends of a level.

        Parameters
        ----------
        number : int
            The level; 1 is the outermost.

        Returns
        -------
        ndarray of int64 or Level
            The ends; a Level if the file stores only lengths.

        Raises
        ------
        IndexError
            There is no such level.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows)
        ...     file = varlen.io.open_file(f"{folder}/a.nrt")
        ...     file.level(1)
        array([2, 3])
        """
        if not 1 <= number <= self.depth:
            raise index_error(
                "number", f"expected a level from 1 to {self.depth}, got {number}", number=number
            )
        index = self._layout.bounds[number - 1]
        if index >= 0 and self._layout.bits is None:
            ends = self._view(index)
            return ends if ends.dtype == np.int64 else ends.astype(np.int64)
        return self.owned_level(number)

    def owned_level(self, number: int) -> _core.Level:
        """A level that is no view of the file: lengths are added up, blocks decoded, once, and kept.

        Parameters
        ----------
        number : int
            The level; 1 is the outermost.

        Returns
        -------
        Level
            The level with the lengths in the file.

        Raises
        ------
        FileFormatError
            The lengths do not add up to the rows below.

        Examples
        --------
        >>> import tempfile, safetensors.numpy, varlen.io
        >>> rows = {"dim1/lengths": np.array([2, 1]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     safetensors.numpy.save_file(rows, f"{folder}/a.nrt")
        ...     file = varlen.io.open_file(f"{folder}/a.nrt")
        ...     file.owned_level(1).bounds
        array([2, 3])
        """
        level = self._levels.get(number)
        if level is None:
            rows = self._layout.rows
            index = self._layout.bounds[number - 1]
            if index >= 0:
                ends = self._view(index).astype(np.int64, copy=False)
                level = self._name_file(lambda: _core.Level.from_bounds(ends))
            else:
                counts = self._view(self._layout.lengths[number - 1])
                level = self._name_file(lambda: _core.Level.from_lengths(counts))
            if rows[number] not in (-1, level.total):
                what = "lengths: adds up to" if index < 0 else "bounds: ends at"
                raise format_error(
                    self.path,
                    f"dim{number}/{what} {level.total}, but dim {number} has {rows[number]} rows",
                )
            self._levels[number] = level
        return level

    def reader(self) -> Reader:
        """Open a second handle to the file, for reading ranges of its data.

        Returns
        -------
        Reader
            The handle: `read(begins, ends)` gives bytes of the data, decoded where the file is compressed.
            Close it after use.

        Raises
        ------
        StaleFileError
            The file was replaced, changed or removed.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows)
        ...     file = varlen.io.open_file(f"{folder}/a.nrt")
        ...     file.reader().close()
        """
        return self._decoder(None if self._mmap else self._outer_reader())

    def _outer_reader(self) -> Reader:
        """A reader of the file's own data."""
        return _core.FileReader(self._path, self._identity, self._layout.outer.data_start)

    def _decoder(self, fetch: Reader | None) -> Reader:
        """A reader of the plain data by one of the file's own; from the map without one."""
        table = self._layout.bits
        if table is None:
            return fetch or self._outer_reader()
        if fetch is None:
            return BitReader(table, self._path, blocks_of=self._bits_of)
        return BitReader(table, self._path, fetch=fetch, records=self._bits)

    def _bits_of(self, number: int) -> _core.Bits:
        """The blocks of a tensor in the map."""
        bits: _core.Bits | None = self._bits.get(number)
        if bits is None:
            table = self._layout.bits
            assert table is not None
            data = self._core.view(table.numbers[number], np.dtype(np.uint8))
            bits = self._bits.setdefault(number, _core.Bits(data, table.count(number), table.widths[number]))
        return bits

    def _read_outer(self, begin: int, end: int) -> Array:
        """Bytes of the file's own data, before its layout is known."""
        reader = _core.FileReader(self._path, self._identity, self._core.header.data_start)
        data = reader.read([begin], [end])
        reader.close()
        return data

    def plan_source(self, keys: Iterable[str] | None = None) -> tuple[_core.Joint, list[BitColumn]]:
        """What a batch is planned with: levels, and the keys whose blocks are decoded into the batch.

        Parameters
        ----------
        keys : iterable of str, optional
            The keys to read; all by default.

        Returns
        -------
        tuple of _core.Joint and list
            The joint without these keys; of each its name, dim, an array without rows, and its blocks. All
            keys are in the joint, and the list is empty, where the file is not decoded.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows, compress=True)
        ...     joint, columns = varlen.io.open_file(f"{folder}/a.nrt").plan_source()
        >>> joint.depth, joint.names, columns[0][:2]
        (1, [], ('t', 1))
        """
        if not self.decodes:
            return self.joint(keys), []
        return self._name_file(lambda: self._make_plan_source(keys))

    def _make_plan_source(self, keys: Iterable[str] | None) -> tuple[_core.Joint, list[BitColumn]]:
        fields = self.fields
        names = [name for name in (fields if keys is None else keys) if fields[name].dim >= 0]
        depth = self.depth if keys is None else max((fields[name].dim for name in names), default=0)
        levels = [self.owned_level(number) for number in range(1, depth + 1)]
        joint = _core.Joint([], [], [], levels, self.count)
        columns = []
        for name in names:
            index, dim, _, dtype, _ = self._layout.entry(name)
            columns.append((name, dim, np.empty((0, *fields[name].trailing), dtype), self._bits_of(index)))
        return joint, columns

    def will_need(self, begins: Array, ends: Array) -> None:
        """Ask the operating system to read ranges of the data ahead.

        Parameters
        ----------
        begins, ends : ndarray of int64
            The start and the end of each range, in bytes from the start of the data.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows)
        ...     file = varlen.io.open_file(f"{folder}/a.nrt")
        ...     file.will_need(np.array([0]), np.array([16]))
        """
        if self.mmap:
            self._core.will_need(begins, ends)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self._path, self._mmap, self._identity)

    def __repr__(self) -> str:
        return f"File({self.path!r}, {self.count} rows, {len(self.fields)} keys, depth {self.depth})"

    def _name_file(self, make: Callable[[], _T]) -> _T:
        """The result of `make`; its errors name the file."""
        try:
            return make()
        except ValueError as error:
            raise name_file(error, self._path, FileFormatError, StaleFileError) from None

    def _view(self, index: int) -> Array:
        _, tag, shape, begin, end = self.header.describe(index)
        if self.mmap:
            view = self._core.view(index, dtype_of(tag))
            if view.flags.aligned:
                return view
            view = view.copy()  # tensors of other writers may lie at any offset
        else:
            reader = self.reader()
            view = reader.read(np.array([begin]), np.array([end])).view(dtype_of(tag)).reshape(shape)
            reader.close()
        view.flags.writeable = False
        return view

    def _make_joint(self, names: tuple[str, ...] | None) -> _core.Joint:
        fields = self.fields
        for name in names or ():
            self.entry(name)
        own_keys = [n for n in (fields if names is None else names) if fields[n].dim >= 0]
        dims = [fields[name].dim for name in own_keys]
        depth = self.depth if names is None else max(dims, default=0)
        values = [self._values(name) for name in own_keys]
        levels = [self.level(d) for d in range(1, depth + 1)]
        metadata = joint_metadata({name: fields[name] for name in own_keys}, self.row_ids)
        return _core.Joint(own_keys, dims, values, levels, self.count, metadata, self._path)


_handles: weakref.WeakValueDictionary[tuple[str, bool], File] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()  # another thread may have held it
    renew_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def refuse_left_behind(file: File) -> None:
    """FileFormatError for values without rows, which a joint dict keeps after an integer index."""
    for full in file.layout.left_behind:
        raise format_error(
            file.path,
            f"{full}: belongs to no row, because an index chose one row of a joint dict; to read the "
            "other keys, name them in keys=",
        )


def refuse_wordless(joint: _core.Joint, name: str, words: int) -> None:
    """ValueError for an id without a word; the error names its row."""
    ids = joint.values(name)
    if ids.size == 0 or (int(ids.max()) < words and int(ids.min()) >= 0):
        return
    place = np.argwhere((ids < 0) | (ids >= words))[0]
    row = joint_row(joint, dict(zip(joint.names, joint.dims, strict=True))[name], int(place[0]))
    raise error_of(
        ValueError,
        "",
        f"row {row} holds the id {ids[tuple(place)]}, its vocabulary has {words} words",
        row=row,
        context=f"key {name!r}",
    )


def _identity(info: os.stat_result) -> Identity:
    return info.st_size, info.st_mtime_ns, info.st_ino


def open_file(path: str | os.PathLike[str], *, mmap: bool = True) -> File:
    """Open a `.nrt` or safetensors file whose tensors are called `dimK/name`.

    Only the header is read and checked. If the file is already open and unchanged, the handle is shared.

    Parameters
    ----------
    path
        A regular file.
    mmap
        False for network file systems: reads copy the bytes that they need, and a file that disappears raises
        an error instead of a crash.

    Returns
    -------
    File
        The handle, shared by all who have this file open.

    Raises
    ------
    FileFormatError
        The file is damaged, or has another format; the error says what is wrong, and where.
    OSError
        There is no such file, or it may not be read.

    Examples
    --------
    >>> import varlen.io
    >>> varlen.io.open_file("/no/such/file")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: '/no/such/file'
    """
    full = as_path(path)
    if not full.startswith("/"):
        full = os.path.abspath(full)
    handle = _handles.get((full, mmap))
    if handle is not None and handle.identity == _identity(os.stat(full)):
        return handle
    return _share(File(full, mmap, None))


def _share(handle: File) -> File:
    key = (handle.path, handle._mmap)
    keep_layout(handle.identity, handle.layout)
    with _lock:
        other = _handles.get(key)
        if other is not None and other.identity == handle.identity:
            return other
        _handles[key] = handle
    return handle


def _reopen(path: str, mmap: bool, identity: Identity) -> File:
    handle = _handles.get((path, mmap))
    if handle is not None and handle.identity == identity:
        return handle
    return _share(File(path, mmap, identity))
