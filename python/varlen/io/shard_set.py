"""Rows of many shards: the third and last layer of reading.

A shard is a file of rows (`file.py`); `shard_index.py` finds the shards of a data set, `agreement.py` checks
that they go together, and `ShardSet` counts their rows through and reads them.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from varlen import _core
from varlen.arguments import (
    as_bool,
    as_list,
    as_mapping,
    as_path,
    check_hashable,
    one_of,
    refuse_mask,
)
from varlen.errors import dtype_error, index_error, value_error
from varlen.io.account import Account
from varlen.io.agreement import Agreement
from varlen.io.bad_shards import BadShard, leave_out_bad
from varlen.io.cache import Cache
from varlen.io.checksums import library
from varlen.io.dtypes import has_stand_in, widen
from varlen.io.errors import name_only_file
from varlen.io.file import BitColumn, File, open_file, refuse_left_behind
from varlen.io.intent import Schema
from varlen.io.layout import Identity
from varlen.io.ranges import as_window, read_rows, steps_of_rows, wanted_ranges
from varlen.io.row_ids import RowIds
from varlen.io.schema import Field
from varlen.io.shard_index import INDEX, Shard, account_of, find_shards, folder_of, refuse_options
from varlen.io.urls import is_url
from varlen.io.verification import check_header, check_tensors, levels_of, tensors_of
from varlen.io.waits import map_items

if TYPE_CHECKING:
    from varlen.backends.values import Indices, RowsLike
    from varlen.io.remote import RemoteFile


__all__ = ["ShardSet", "open_shards"]

Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]

#: A shard, its rows, where their windows begin and end, and the keys.
Want = tuple[int, Ints, Ints | None, Ints | None, Sequence[str] | None]

_lock = threading.Lock()  # around what a file that is opened adds to the fields of a set


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()  # another thread of the parent may have held it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def open_shards(
    path: Paths,
    *,
    mmap: bool = True,
    keys: Iterable[str] | None = None,
    cache: str | os.PathLike[str] | Cache | None = None,
    storage_options: Mapping[str, Any] | None = None,
    verify: Literal["never", "read", "open"] = "never",
    on_bad_shard: Literal["error", "skip"] = "error",
) -> ShardSet:
    """Open one or more files of rows as one sequence; only headers are read.

    Parameters
    ----------
    path : path or sequence of paths
        A file, a list of files, a pattern with `*`, `?` or `[`, or a folder: the shards that its
        `index.json` lists, else all its `.nrt` files in the order of their names. Each may be a URL.
    mmap : bool, default True
        False maps nothing: every read copies the bytes that it needs.
    keys : iterable of str, optional
        The keys to expose; all by default.
    cache : path, optional
        A folder for whole copies of remote files, made when they are first read; or a `Cache` for parts.
    storage_options : mapping, optional
        The options of the file system that the URLs name, as in `varlen.open`.
    verify : {"never", "read", "open"}
        When bytes are compared with their checksums, as in `varlen.open`.
    on_bad_shard : {"error", "skip"}
        What happens to a shard that is not as it was written, as in `varlen.open`.

    Returns
    -------
    ShardSet
        The rows of all files, in order. Rows that `Dataset.delete` deleted are among them, and `deletions`
        has their numbers; a `Dataset` shows the others alone.

    Raises
    ------
    FileFormatError
        A file is damaged, or the shards do not fit each other; the error names the shard.
    FileNotFoundError
        There is no such file or folder, or the folder holds no shards.
    KeyError
        The files lack one of `keys`.

    Examples
    --------
    >>> import os, tempfile, varlen.io
    >>> folder = tempfile.TemporaryDirectory()
    >>> for i in range(2):
    ...     rows = {"dim1/bounds": np.array([1, 3]), "dim1/t": np.arange(3) + 10 * i}
    ...     varlen.io.save(os.path.join(folder.name, f"part-{i}.nrt"), rows)
    >>> shards = varlen.io.open_shards(folder.name)
    >>> len(shards), shards.read(3).values("t")
    (4, array([11, 12]))
    >>> folder.cleanup()
    """
    if keys is not None:
        names = [keys] if isinstance(keys, str) else as_list(keys, "keys", "keys")
        for name in names:
            check_hashable(name, "keys")
        keys = tuple(dict.fromkeys(names))
    name = path if type(path) is str else None
    if isinstance(path, (bytes, os.PathLike)):
        path = name = os.fsdecode(path)
    mmap = as_bool(mmap, "mmap")
    is_usual = isinstance(verify, str) and isinstance(on_bad_shard, str)
    if not (is_usual and verify == "never" and on_bad_shard == "error"):
        _check_trust(verify, on_bad_shard)
    is_bounded = isinstance(cache, Cache)
    folder = None if cache is None or is_bounded else os.path.abspath(as_path(cache, "cache", "a folder"))
    options = None if storage_options is None else as_mapping(storage_options, "storage_options", "options")
    is_plain = cache is None and options is None and on_bad_shard == "error"
    if name and not name.endswith(INDEX) and not is_url(name) and is_plain:
        try:
            file = open_file(name, mmap=mmap)
        except (FileNotFoundError, IsADirectoryError):
            pass  # a folder, a pattern, or nothing
        else:
            return ShardSet((Shard(file.path),), mmap, keys, file=file, verify=verify)
    shards = find_shards(path, options, cache, verify=verify != "never", sizes=on_bad_shard == "error")
    origin = _absolute(path), on_bad_shard
    far = [is_url(shard.path) for shard in shards]
    refuse_options(path, shards, options)
    if cache is not None and not any(far):
        raise value_error("cache", f"{path} is no URL; only files behind URLs are copied")
    if folder is None and any(far):
        mmap = False
    place = cache if isinstance(cache, Cache) else folder
    how: dict[str, Any] = {"cache": place, "storage_options": options}
    if on_bad_shard == "error":
        result = ShardSet(shards, mmap, keys, **how, verify=verify)
        result._origin = origin
        return result

    def part(shard: Shard, verify: str = "open") -> ShardSet:
        return ShardSet((shard,), mmap, keys, **how, verify=verify)

    good, bad = leave_out_bad(shards, part, lambda shard: len(part(shard, "read")))
    result = ShardSet(good, mmap, keys, **how, bad_shards=bad)
    result._origin = origin
    return result


def _absolute(path: Paths) -> Paths:
    """The same files from any working folder."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return [str(_absolute(item)) for item in path]
    name = os.fsdecode(path)
    return name if is_url(name) else os.path.abspath(name)


def _check_trust(verify: str, on_bad_shard: str) -> None:
    one_of(verify, "verify", ("never", "read", "open"))
    one_of(on_bad_shard, "on_bad_shard", ("error", "skip"))
    if on_bad_shard == "skip" and verify != "open":
        reason = "'skip' needs verify='open': rows cannot lose their numbers once they are read"
        raise value_error("on_bad_shard", reason)
    if verify != "never":
        library("verify")


class ShardSet:
    """The rows of one or more files as one sequence, as they lie there. `open_shards` makes it.

    Rows that were deleted are read and counted as the others are; `deletions` and `rest` tell them apart.
    If an index gives a shard's number of rows, the set opens the shard only when you read from it. Any number
    of threads may read one set. It pickles as the paths and identities of its files: another process opens
    them again, and refuses a file that has changed.

    Parameters
    ----------
    shards, mmap, keys
        The files in the order of their rows, whether to map them, and the keys to expose, None for all.
    identities
        The identity that each file must have; None for a file that was not open before.
    file
        The opened file, if there is only one shard.
    cache
        The folder for copies of files behind URLs, or the cache of their parts.
    storage_options
        The options of the file system of the URLs.
    verify
        When bytes are compared with their checksums: "never", "read" or "open".
    bad_shards
        Shards that were left out, because their bytes are not those that were written.

    Examples
    --------
    >>> import os, tempfile, varlen.io
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "visits.nrt")
    >>> rows = {"dim0/id": np.array([70, 30]), "dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
    >>> varlen.io.save(path, rows, row_ids="id")
    >>> shards = varlen.io.open_shards(path, mmap=False)
    >>> shards.rows_of([30, 70]), shards.read_many([1, 0], ends=1).values("t")
    (array([1, 0]), array([7, 5]))
    >>> shards.names, shards.depth, shards.row_ids, shards.counts, shards.offsets, shards.bad_shards
    (['id', 't'], 1, 'id', array([2]), array([0, 2]), ())
    >>> folder.cleanup()
    """

    def __init__(
        self,
        shards: tuple[Shard, ...],
        mmap: bool,
        keys: tuple[str, ...] | None,
        identities: Sequence[Identity | None] | None = None,
        file: File | None = None,
        cache: str | Cache | None = None,
        storage_options: Mapping[str, Any] | None = None,
        verify: str = "never",
        bad_shards: tuple[BadShard, ...] = (),
    ) -> None:
        self.mmap = self._maps = mmap
        self.decodes = False  # of mapped files that were saved with `compress=`
        self.bad_shards = bad_shards
        self._verify = verify
        # The shards whose bytes are still to be compared, by what is read of them: keys, a level, or all.
        self._unread: dict[tuple[str, ...] | int | None, set[int]] | None = {} if verify == "read" else None
        self._cache = cache
        self._options = storage_options
        self._shards = shards
        self._keys = keys
        self._files: list[File | None] = [None] * len(shards)
        self._expected = identities
        # For a network, so it asks for much at once.
        self.waits = any(is_url(shard.path) for shard in shards)
        self._opened_files: dict[int, File] = {}  # opened together, before they are compared
        self._first = 0  # the shard that states the fields
        self._agreement: Agreement | None = None
        self._counts_and_offsets: tuple[Ints, Ints] | None = None
        self._wider: dict[int, dict[str, np.dtype]] = {}
        self._joints: dict[int, tuple[tuple[Any], _core.Joint]] = {}
        self._ids: RowIds | None = None
        self.has_deletions = file is None and any(shard.deletions is not None for shard in shards)
        self._origin: tuple[Paths, str] | None = None  # the path of several files, and `on_bad_shard`
        if file is not None:
            if verify != "never":
                check_header(file, shards[0])
            self._files[0] = file
            self._length = file.count
            self._settle_mode(file)
            if keys is not None:
                self._agree(0)
            else:
                refuse_left_behind(file)
            if verify == "open":
                self._check_all()
            return
        first = next((i for i, shard in enumerate(shards) if shard.rows != 0), 0)
        unknown = [i for i, shard in enumerate(shards) if shard.rows is None and is_url(shard.path)]
        self._opened_files = dict(zip(unknown, map_items(self._open, unknown), strict=True))
        if shards:
            self._agree(first)
            self._settle_mode(self.file(self._first))
            self._widen_all()
        self._length = int(self.offsets[-1])
        self._opened_files = {}
        if verify == "open":
            self._check_all()

    def __len__(self) -> int:
        return self._length

    @property
    def counts(self) -> Ints:
        """The rows of each shard, int64."""
        return self._count_rows()[0]

    @property
    def offsets(self) -> Ints:
        """The first row of each shard, and the number of rows at the end; int64."""
        return self._count_rows()[1]

    @functools.cached_property
    def deletions(self) -> Ints:
        """The rows that were deleted, in order, int64.

        Examples
        --------
        >>> import tempfile, varlen as vl
        >>> folder = tempfile.TemporaryDirectory()
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [1, 2, 3]}))
        >>> ds.save(f"{folder.name}/numbers", rows_per_shard=2)
        >>> vl.open(f"{folder.name}/numbers").delete([1]).source.deletions
        array([1])
        >>> folder.cleanup()
        """
        begins = self.offsets.tolist() if self.has_deletions else []
        pairs = zip(self._shards, begins, strict=False)
        parts = [shard.deletions + begin for shard, begin in pairs if shard.deletions is not None]
        rows = np.concatenate([np.empty(0, np.int64), *parts])
        rows.flags.writeable = False
        return rows

    @functools.cached_property
    def rest(self) -> Ints | None:
        """The rows that were not deleted, in order, int64; None where none was."""
        if not self.has_deletions:
            return None
        rows = np.delete(np.arange(len(self)), self.deletions)
        rows.flags.writeable = False
        return rows

    @property
    def row_ids(self) -> str | None:
        """The name of the key whose values identify rows, or None."""
        agreement = self._find_agreement()
        return None if agreement is None else agreement.row_ids

    @functools.cached_property
    def paths(self) -> list[str]:
        """The files, in the order of their rows."""
        return [shard.path for shard in self._shards]

    @property
    def account(self) -> Account:
        """The account from the index, or the sum of the files' accounts.

        A file without an account counts as its own source. Keys that are not exposed are listed as unread.
        """
        shards = [shard for shard in self._shards if shard.is_listed and shard.account is not None]
        in_index = {id(shard.account): shard for shard in shards}
        parts = [account for shard in in_index.values() if (account := account_of(shard)) is not None]
        folders = {folder_of(shard.path) for shard in in_index.values()}
        for bad in self.bad_shards:
            if not bad.in_index or folder_of(bad.path) not in folders:
                # The header of a shard with a wrong tensor is right.
                has_header = hasattr(bad.error, "key") and not is_url(bad.path)
                parts.append(_account_of(open_file(bad.path)) if has_header else bad.account())
        for i, shard in enumerate(self._shards):
            if id(shard.account) not in in_index:
                parts.append(_account_of(self.file(i)))
        total = sum(parts[1:], parts[0]) if parts else Account()
        if self.bad_shards:
            total = self._without_bad(total)
        for name in total.columns.keys() - set(self.names) if self._keys is not None else ():
            del total.columns[name]
            total.unread[name] = "not among the keys that were opened"
        return total

    @property
    def fields(self) -> Mapping[str, Field]:
        """Each exposed key's dim, dtype, trailing dimensions and vocabulary.

        If shards differ in their dtypes, the dtype here holds them all, and rows and batches have it.
        """
        agreement = self._find_agreement()
        return {} if agreement is None else agreement.fields

    @property
    def schema(self) -> Schema:
        """The schema: the one declared at writing, else one derived from the keys."""
        fields = self.fields
        first_schema = self.file(self._first).schema if self._shards else {}
        return Schema({n: first_schema.get(n) or column for n, column in Schema.of(fields).items()})

    @property
    def declared(self) -> Schema:
        """The declarations of the keys that were written with a schema.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> folder = tempfile.TemporaryDirectory()
        >>> with varlen.io.Writer(f"{folder.name}/a.nrt", schema={"x": "int8"}) as writer:
        ...     writer.append({"x": [1, 2]})
        >>> len(varlen.io.open_shards(f"{folder.name}/a.nrt").declared)
        0
        >>> folder.cleanup()
        """
        if not self._shards:
            return Schema({})
        file = self.file(self._first)
        schema, intents = file.schema, file.layout.schema.declared
        return Schema({name: schema[name] for name in self.fields if name in intents and name in schema})

    @property
    def opens_together(self) -> bool:
        """Whether all files may be opened for a few rows; False if each would be copied first."""
        return not isinstance(self._cache, str) or None not in self._files

    @property
    def checks_reads(self) -> bool:
        """Whether bytes are still to be compared with their checksums before they are first read."""
        return self._unread is not None

    @property
    def names(self) -> list[str]:
        """The exposed keys."""
        return list(self.fields)

    @property
    def depth(self) -> int:
        """The number of levels of the deepest exposed key."""
        if self._keys is None and self._shards:
            return self.file(self._first).depth
        return max((field.dim for field in self.fields.values()), default=0)

    @property
    def joints(self) -> list[_core.Joint]:
        """One Joint per shard, with its own dtypes: views of maps; with `mmap=False` files are read whole."""
        return [self.joint(shard) for shard in range(len(self.counts))]

    def joint(self, shard: int, keys: Sequence[str] | None = None) -> _core.Joint:
        """The rows of one shard, with the dtypes of its file and the vocabularies of all shards so far.

        Parameters
        ----------
        shard : int
            The number of the shard.
        keys : sequence of str, optional
            The keys whose bytes are read now, and compared with their checksums; all by default. The result
            has all keys.

        Returns
        -------
        _core.Joint
            Views of the map, or copies with `mmap=False`.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim0/id": np.array([70, 30]), "dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows, row_ids="id")
        ...     shards = varlen.io.open_shards(folder)
        ...     shards.joint(0).values("t")
        array([5, 6, 7])
        """
        file = self.file(shard)
        if self._unread is not None:
            # Numbers that NumPy has no dtype for are read before a batch is.
            early = [] if keys is None else [n for n, f in self.fields.items() if has_stand_in(f.tag)]
            if keys is None or keys or early:
                self._touch(shard, None if keys is None else (*keys, *early))
        joint = file.joint() if self._keys is None or not file.names else file.joint(self._keys)
        agreement = self._find_agreement()
        if len(self._files) == 1 or agreement is None:
            return joint
        metadata = agreement.metadata
        entry = self._joints.get(shard)
        if entry is None or entry[0] is not metadata:
            entry = metadata, joint.with_meta(metadata[0])
            if self.mmap:
                self._joints[shard] = entry
        return entry[1]

    def plan_source(
        self, shard: int, keys: Sequence[str] | None = None
    ) -> tuple[_core.Joint, list[BitColumn]]:
        """What batches of rows of one shard are planned with, as `File.plan_source` says.

        Parameters
        ----------
        shard : int
            The number of the shard.
        keys : sequence of str, optional
            The keys whose bytes are read now, as in `joint`.

        Returns
        -------
        tuple of _core.Joint and list
            The joint of the shard, and the keys beside it, whose blocks are decoded into batches.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows)
        ...     varlen.io.open_shards(folder).plan_source(0)[1]
        []
        """
        file = self.file(shard)
        if not file.decodes:
            return self.joint(shard, keys if file.mmap else None), []
        if self._unread is not None:  # levels are decoded here
            self._touch(shard, file.depth if keys is not None else None)
        return file.plan_source(None if self._keys is None or not file.names else self._keys)

    def ends(self, shard: int, dim: int) -> Ints:
        """The ends of a level of one shard, without its values.

        Parameters
        ----------
        shard : int
            The number of the shard.
        dim : int
            1 for the outermost level.

        Returns
        -------
        ndarray of int64
            One end for each sequence of the level.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows)
        ...     varlen.io.open_shards(folder).ends(0, 1)
        array([2, 3])
        """
        if self._unread is not None:
            self._touch(shard, dim)
        level = self.file(shard).level(dim)
        return level.bounds if isinstance(level, _core.Level) else level

    def values(self, shard: int, name: str) -> np.ndarray[tuple[Any, ...], np.dtype]:
        """The flat values of a key in one shard, with the dtype of its file.

        Parameters
        ----------
        shard : int
            The number of the shard.
        name : str
            A key.

        Returns
        -------
        ndarray
            A read-only array.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows)
        ...     varlen.io.open_shards(folder).values(0, "t")
        array([5, 6, 7])
        """
        if self._unread is not None:
            self._touch(shard, (name,))
        return self.file(shard).values(name)

    def touch(self, rows: Indices, keys: tuple[str, ...] | None = None) -> None:
        """Compare bytes with their checksums before they are first read, if the set was opened for that.

        Only the shards of the rows are read, and each tensor once in a process.

        Parameters
        ----------
        rows : array_like of int
            Row numbers; those out of range are left to whoever reads them.
        keys : tuple of str, optional
            The keys that are read; all by default.

        Raises
        ------
        ChecksumError
            A tensor's bytes are not those that were written. The error names the file and the tensor.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows, checksums=True)
        ...     varlen.io.open_shards(folder, verify="read").touch([0])
        """
        if self._unread is None or not (unread := self._find_unread(keys)):
            return
        numbers = np.asarray(rows).reshape(-1)
        numbers = np.where(numbers < 0, numbers + len(self), numbers)
        shards = np.unique(np.searchsorted(self.offsets[1:], numbers, side="right"))
        for shard in unread.intersection(shards.tolist()):
            self._touch(shard, keys)

    def wider(self, shard: int) -> Mapping[str, np.dtype]:
        """The keys that a shard stores in a narrower dtype than `fields` gives.

        Parameters
        ----------
        shard : int
            The number of the shard.

        Returns
        -------
        dict of str to dtype
            Each such key, and the dtype of `fields`.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim0/id": np.array([70, 30]), "dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows, row_ids="id")
        ...     shards = varlen.io.open_shards(folder)
        ...     shards.wider(0)
        {}
        """
        dtypes = self._wider.get(shard)
        if dtypes is None:
            own = self.file(shard).fields
            dtypes = {
                name: field.dtype
                for name, field in self.fields.items()
                if name in own and (own[name].dtype != field.dtype or has_stand_in(own[name].tag))
            }
            self._wider[shard] = dtypes
        return dtypes

    def file(self, shard: int) -> File:
        """The file of a shard, opened on first use.

        Parameters
        ----------
        shard : int
            The number of the shard.

        Returns
        -------
        File
            The file; every call on this set returns the same object.

        Raises
        ------
        FileFormatError
            The file does not fit the others, or its index.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim0/id": np.array([70, 30]), "dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows, row_ids="id")
        ...     shards = varlen.io.open_shards(folder)
        ...     shards.file(0).count
        2
        """
        file = self._files[shard]
        if file is None:
            file = self._open(shard)
            agreement = self._find_agreement()
            assert agreement is not None
            with _lock:
                file = self._files[shard] or file  # another thread may have been faster
                agreement.add(self._shards[shard], file)
                self._files[shard] = file
        return file

    def check(self) -> None:
        """Raise an error if files were replaced or changed since they were opened.

        Raises
        ------
        StaleFileError
            A file changed. The error names it.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim0/id": np.array([70, 30]), "dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows, row_ids="id")
        ...     shards = varlen.io.open_shards(folder)
        ...     shards.check()
        """
        for file in self._files:
            if file is not None:
                file.check()

    def guard(self, shards: Iterable[int] | None = None) -> None:
        """Raise an error if mapped files were changed in place; call it before large reads.

        Parameters
        ----------
        shards : iterable of int, optional
            The shards to check; all by default.

        Raises
        ------
        StaleFileError
            A file changed. The error names it.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim0/id": np.array([70, 30]), "dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows, row_ids="id")
        ...     shards = varlen.io.open_shards(folder)
        ...     shards.guard([0])
        """
        for shard in range(len(self._files)) if shards is None else shards:
            file = self._files[shard]
            if file is not None and self._maps:
                file.guard()

    def validate(self) -> None:
        """Open every shard, and read every bound and every word id once.

        Raises
        ------
        FileFormatError
            A bound or a word id does not fit. The error names the file and the place.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim0/id": np.array([70, 30]), "dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows, row_ids="id")
        ...     shards = varlen.io.open_shards(folder)
        ...     shards.validate()
        """
        for shard in range(len(self.counts)):
            if self._unread is not None:
                self._touch(shard, None)
            self.file(shard).validate()

    def locate(self, rows: Indices) -> tuple[Ints, Ints]:
        """The shard of each row, and the row's number in it.

        Parameters
        ----------
        rows : array_like of int
            Row numbers; negative ones count from the end.

        Returns
        -------
        tuple of ndarray of int64
            Shards, and rows inside them.

        Raises
        ------
        IndexError
            A row is out of range. The error names the first one.
        TypeError
            The row numbers are not integers.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim0/id": np.array([70, 30]), "dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows, row_ids="id")
        ...     shards = varlen.io.open_shards(folder)
        ...     shards.locate([-1])
        (array([0]), array([1]))
        """
        index = np.asarray(refuse_mask(rows, "rows")).reshape(-1)
        if index.dtype.kind not in "iu" and index.size:
            raise dtype_error("rows", "integers", index.dtype)
        n = len(self)
        bad = np.flatnonzero((index < -n) | (index >= n))
        if len(bad):
            text = f"{index[bad[0]]} at position {bad[0]} is out of range for {n} rows"
            raise index_error("rows", text, row=bad[0], number=int(index[bad[0]]))
        flat = index.astype(np.int64)
        flat = np.where(flat < 0, flat + n, flat)
        shards = np.searchsorted(self.offsets, flat, side="right").astype(np.int64) - 1
        return shards, flat - self.offsets[shards]

    def read(self, row: int, begin: int | None = None, end: int | None = None) -> _core.Joint:
        """Read one row, or a window of it; with `mmap=False` only its bytes are read.

        Parameters
        ----------
        row : int
            A row number.
        begin, end : int, optional
            The window of events, counted and clipped as in a slice.

        Returns
        -------
        _core.Joint
            A copy, with the dims inside the row.

        Raises
        ------
        IndexError
            The row is out of range.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim0/id": np.array([70, 30]), "dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows, row_ids="id")
        ...     shards = varlen.io.open_shards(folder)
        ...     shards.read(0, 1).values("t")
        array([6])
        """
        starts, ends = (None if place is None else np.array([place]) for place in (begin, end))
        joint = self.read_many(np.array([row]), starts, ends)
        return joint.row(0) if joint.depth else joint

    def read_many(
        self,
        rows: Indices,
        starts: RowsLike | None = None,
        ends: RowsLike | None = None,
        keys: Sequence[str] | None = None,
    ) -> _core.Joint:
        """Read rows in the given order, or a window of each; only the bytes of the windows are read.

        Parameters
        ----------
        rows : array_like of int
            Row numbers; negative ones count from the end.
        starts, ends : array_like of int, optional
            The window of events, one entry per row or one for all, counted and clipped as in a slice.
        keys : sequence of str, optional
            The keys to read, with the levels that they need; all by default.

        Returns
        -------
        _core.Joint
            A copy, with the dtypes of `fields`.

        Raises
        ------
        IndexError
            A row is out of range. The error names the first one.
        TypeError, ValueError
            The windows are not integers, or not one per row.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim0/id": np.array([70, 30]), "dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows, row_ids="id")
        ...     shards = varlen.io.open_shards(folder)
        ...     shards.read_many([1, 0], ends=1).values("t")
        array([7, 5])
        """
        shards, local = self.locate(rows)
        windows = [None if w is None else as_window(w, len(local)) for w in (starts, ends)]
        if len(self.counts) == 0:
            return _core.Joint([], [], [], [], 0)
        uniques = np.unique(shards) if len(shards) else np.array([self._first])

        wants: list[Want] = []
        for shard in uniques.tolist():
            mine = np.flatnonzero(shards == shard)
            first, last = (None if w is None else w[mine] for w in windows)
            wants.append((shard, local[mine], first, last, keys))
        if self._unread is not None:
            for shard in uniques.tolist():
                self._touch(shard, None if keys is None else tuple(keys))
        parts = self._read_remote(wants) if self.waits else [self._read_shard(*want) for want in wants]
        agreement = self._find_agreement()
        assert agreement is not None
        metadata = agreement.metadata[0]  # complete only now: each shard that is opened may add words
        parts = [part.with_meta(metadata) for part in parts]
        if len(parts) == 1:
            return parts[0]
        order = np.argsort(shards, kind="stable")
        inverse = np.empty_like(order)
        inverse[order] = np.arange(len(order))
        return _core.Joint.concat(parts).take(inverse)

    def prefetch(self, rows: Indices, starts: RowsLike | None = None, ends: RowsLike | None = None) -> None:
        """Ask the operating system to read rows of mapped files ahead; does nothing with `mmap=False`.

        Parameters
        ----------
        rows : array_like of int
            Row numbers.
        starts, ends : array_like of int, optional
            Windows, as in `read_many`.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim0/id": np.array([70, 30]), "dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows, row_ids="id")
        ...     shards = varlen.io.open_shards(folder)
        ...     shards.prefetch([0, 1])
        """
        if not self.mmap:
            return
        shards, local = self.locate(rows)
        windows = [None if w is None else as_window(w, len(local)) for w in (starts, ends)]
        for shard in np.unique(shards):
            mine = shards == shard
            cut = [None if w is None else w[mine] for w in windows]
            file = self.file(int(shard))
            if self._unread is not None:
                self._touch(int(shard), file.depth)
            file.will_need(*wanted_ranges(file, local[mine], cut[0], cut[1]))

    def rows_of(self, ids: RowsLike) -> Ints:
        """Find the row of each id; the first call sorts the ids and keeps them. Deleted rows have none.

        Parameters
        ----------
        ids : array_like
            Ids of rows, numbers or strings.

        Returns
        -------
        ndarray of int64
            The row of each id.

        Raises
        ------
        KeyError
            No row has one of the ids. The error names the first one.
        ValueError
            The files hold no ids, or hold one twice.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> rows = {"dim0/id": np.array([70, 30]), "dim1/bounds": np.array([2, 3]), "dim1/t": np.arange(5, 8)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     varlen.io.save(f"{folder}/a.nrt", rows, row_ids="id")
        ...     shards = varlen.io.open_shards(folder)
        ...     shards.rows_of([30])
        array([1])
        """
        if self._ids is None:
            name = self.row_ids
            if name is None:
                raise value_error("ids", "these files hold no row ids", "save them with row_ids=")
            full = np.flatnonzero(self.counts).tolist()
            parts = map_items(lambda shard: self._rest_of(shard, self.values(shard, name)), full, self.waits)
            self._ids = RowIds(parts, self.id_field.vocabulary)
        rows = self._ids.rows_of(ids)
        return rows if self.rest is None else self.rest[rows]

    @property
    def id_field(self) -> Field:
        """The field of the row ids, also where `keys` left them out."""
        name = self.row_ids or ""
        if name in self.fields:
            return self.fields[name]
        parts = (self.file(shard).fields[name] for shard in np.flatnonzero(self.counts).tolist())
        first = self.file(self._first).fields[name]
        return max([first, *parts], key=lambda field: len(field.vocabulary or ()))  # words go on

    def _rest_of(self, shard: int, values: Ints) -> Ints:
        """Those of the values of all rows of a shard whose rows were not deleted."""
        deletions = self._shards[shard].deletions
        return values if deletions is None else np.delete(values, deletions, axis=0)

    def __iter__(self) -> Iterator[_core.Joint]:
        for shard in range(len(self.counts)):
            joint = self.joint(shard)
            path = self._shards[shard].path
            for row in range(len(joint)):
                yield widen(joint.slice(row, row + 1), self.wider(shard), [row], path).row(0)

    def __reduce__(self) -> tuple[Any, ...]:
        expected = self._expected or [None] * len(self._files)
        identities = [k if f is None else f.identity for f, k in zip(self._files, expected, strict=True)]
        if isinstance(self._cache, str):  # a copy elsewhere has another identity
            identities = [None] * len(identities)
        # What was compared when it was opened has the same identity there.
        verify = "read" if self._verify == "read" else "never"
        how = (self._shards, self._maps, self._keys, identities, None, self._cache, self._options)
        arguments = (*how, verify, self.bad_shards)
        return (ShardSet, arguments, {"_origin": self._origin}) if self._origin else (ShardSet, arguments)

    def __repr__(self) -> str:
        where = self.paths[0] if len(self.paths) == 1 else f"{len(self.paths)} files"
        return f"ShardSet({where}, {len(self)} rows, {len(self.fields)} keys, depth {self.depth})"

    def _without_bad(self, account: Account) -> Account:
        """The account of the rows that are left, where bad shards were left out."""
        result = account.successor()
        counts = {
            name: sum(self.file(i).layout.rows[field.dim] for i in range(len(self._shards)))
            for name, field in self.fields.items()
            if field.dim >= 0
        }
        why, first = "in bad shards", [bad.places for bad in self.bad_shards]
        result.leave_out(None, why, sum(bad.rows for bad in self.bad_shards), first=first)
        for name, balance in result.columns.items():
            missing = balance.source.values - balance.left_out - counts.get(name, 0)
            result.leave_out(name, why, missing, None, first)
        words = {name: field.vocabulary for name, field in self.fields.items() if field.vocabulary}
        result.set_result(len(self), counts, words)
        return result

    def _settle_mode(self, file: File) -> None:
        """Rows of files that are decoded are read as those of files that are not mapped."""
        self.decodes = file.decodes
        self.mmap = self._maps and not self.decodes

    def _count_rows(self) -> tuple[Ints, Ints]:
        if self._counts_and_offsets is None:
            shards = enumerate(self._shards)
            rows = [self.file(i).count if shard.rows is None else shard.rows for i, shard in shards]
            counts: Ints = np.array(rows, np.int64)
            offsets: Ints = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
            counts.flags.writeable = offsets.flags.writeable = False
            self._counts_and_offsets = counts, offsets
        return self._counts_and_offsets

    def _find_agreement(self) -> Agreement | None:
        # A single file is read when something of it is asked for, several when they are opened.
        if self._agreement is None and self._shards:
            self._agree(self._first)
        return self._agreement

    def _agree(self, shard: int) -> None:
        """Compare the fields of this shard with those of all.

        A shard without rows takes the fields of the next that has rows, or else of the next that has keys.
        """
        file = self._files[shard] or self._open(shard)
        for other in range(shard + 1, len(self._files)):
            if file.names and file.count:
                break
            other_file = self._open(other)
            if other_file.names and (other_file.count or not file.names):
                shard, file = other, other_file
        self._first = shard
        agreement = Agreement(file, self._keys)
        agreement.add(self._shards[shard], file)
        self._agreement = agreement
        self._files[shard] = file

    def _widen_all(self) -> None:
        """Widens the dtypes to those of all shards, which the index states; otherwise it opens them."""
        agreement, visits = self._find_agreement(), set()
        assert agreement is not None
        for i, shard in enumerate(self._shards):
            if shard.rows == 0:
                continue  # holds no value, so any dtype holds its values
            if shard.fields is None or not agreement.fields.keys() <= shard.fields.keys():
                self.file(i)
            elif id(shard.fields) not in visits:
                visits.add(id(shard.fields))
                agreement.add_stated(shard)

    def _open(self, shard: int) -> File:
        path, identity = self._shards[shard].path, self._expected[shard] if self._expected else None
        if shard in self._opened_files:
            return self._opened_files[shard]
        if is_url(path):
            from varlen.io.remote import RemoteFile, fetch_whole

            if not isinstance(self._cache, str):
                checksum = self._shards[shard].checksum
                remote = RemoteFile(path, identity, self._options, self._cache, checksum)
                return self._with_header(remote, shard)
            path = fetch_whole(path, self._cache, self._options)
        try:
            file = open_file(path, mmap=self._maps)
        except FileNotFoundError:
            if self._shards[shard].rows is None:
                raise
            reason = "is gone since its folder was opened; reload() finds the rows if they were compacted"
            raise FileNotFoundError(2, reason, path) from None
        if identity is not None and identity != file.identity:
            file = File(path, self._maps, identity)  # raises the error that says how it differs
        return self._with_header(file, shard)

    def _with_header(self, file: File, shard: int) -> File:
        """The file, whose header has its checksum."""
        if self._verify != "never":
            check_header(file, self._shards[shard])
        return file

    def _read_remote(self, wants: Sequence[Want]) -> list[_core.Joint]:
        """What `_read_shard` gives for each; files behind URLs are opened, and read, at the same time."""
        from varlen.io.remote import read_together

        files = map_items(self.file, [want[0] for want in wants])
        far = [i for i, file in enumerate(files) if file.is_remote]
        steps = []
        for i in far:
            _, rows, starts, ends, keys = wants[i]
            steps.append(steps_of_rows(files[i], rows, starts, ends, self._keys if keys is None else keys))
        results = read_together([cast("RemoteFile", files[i]) for i in far], steps)
        joints = dict(zip(far, results, strict=True))
        parts = []
        for i, want in enumerate(wants):
            if i in joints:
                parts.append(widen(joints[i], self.wider(want[0]), want[1], files[i].path))
            else:
                parts.append(self._read_shard(*want))
        return parts

    def _find_unread(self, what: tuple[str, ...] | int | None) -> set[int] | None:
        """The shards whose keys, or whose level, are still to be compared; none if there are none."""
        table = self._unread
        if table is None:
            return None
        unread = table.get(what)
        if unread is None:
            unread = table[what] = set(range(len(self._shards)))
        return unread

    def _touch(self, shard: int, what: tuple[str, ...] | int | None) -> None:
        """Compare what is read of a shard with its checksums, the first time."""
        unread = self._find_unread(what)
        if not unread or shard not in unread:
            return
        file = self.file(shard)
        if isinstance(what, int):
            check_tensors(file, levels_of(file, what))
        else:
            check_tensors(file, tensors_of(file, self._keys if what is None else what))
        unread.discard(shard)
        if what is None and not unread:
            self._unread = None

    def _check_all(self) -> None:
        for shard in range(len(self._shards)):
            file = self.file(shard)
            check_tensors(file, tensors_of(file, self._keys))

    def _read_shard(
        self, shard: int, rows: Ints, starts: Ints | None, ends: Ints | None, keys: Sequence[str] | None
    ) -> _core.Joint:
        file = self.file(shard)
        if not self.mmap or starts is not None or ends is not None:
            result = read_rows(file, rows, starts, ends, self._keys if keys is None else keys)
        else:
            file.guard()
            joint = self.joint(shard, ())
            try:
                result = (joint if keys is None else joint.select(keys)).take(rows)
            except ValueError as error:
                raise name_only_file(error, [file.path]) from None
        return widen(result, self.wider(shard), rows, file.path)


def _account_of(file: File) -> Account:
    account = file.account
    if account is None:
        account = Account({file.path: file.count})
        values = {name: file.layout.rows[field.dim] for name, field in file.fields.items() if field.dim >= 0}
        for name, count in values.items():
            account.column(name).source.values = count
        words = {name: field.vocabulary for name, field in file.fields.items() if field.vocabulary}
        account.set_result(file.count, values, words)
    return account
