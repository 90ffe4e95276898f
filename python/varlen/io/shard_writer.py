"""Many rows to a folder of shards and an index."""

from __future__ import annotations

import contextlib
import inspect
import os
from typing import Any

import numpy as np

from varlen._methods import adopt_methods
from varlen.arguments import as_bool, as_int, dtypes_of, option_error, vocabularies_of
from varlen.errors import file_error, value_error
from varlen.io import atomic
from varlen.io.account import Account
from varlen.io.bits import as_compress
from varlen.io.building.drafts import Shard as Draft
from varlen.io.building.drafts import write_shard
from varlen.io.checksums import as_checksums
from varlen.io.dtypes import schema_hint
from varlen.io.file import open_file
from varlen.io.file_counts import read_all_written
from varlen.io.folder_lock import FolderLock, delete_drafts
from varlen.io.growth import Folder, joint_of, publish, read_folder
from varlen.io.intent import Schema
from varlen.io.pieces import as_piece
from varlen.io.row_ids import check_row_ids
from varlen.io.schema import Field, check_metadata
from varlen.io.shard_index import INDEX, Shard, listed_names, write_index
from varlen.io.urls import local_path
from varlen.io.writer import Writer

__all__ = ["ShardWriter"]

# What a writer takes beside its path.
_OPTIONS = list(inspect.signature(Writer).parameters)[1:]

# What a folder that is appended to has already.
_OF_FOLDER = ("schema", "vocabularies", "ids", "widen", "narrow")


@adopt_methods
class ShardWriter(atomic.AtomicWriter):
    """A writer of `part-00000.nrt`, `part-00001.nrt`, ... in a folder, which closing indexes.

    Only `close` names the shards and writes the index: until then, and after an error, the folder holds no
    shard. `varlen.open` reads the shards as one sequence.

    Parameters
    ----------
    folder
        The folder, created if it is missing. It must not hold shards yet, unless you append to it.
    rows_per_shard
        The number of rows in each shard except the last.
    append
        True: add rows to a finished folder. It keeps its files, and closing adds new ones and replaces the
        index, so that a reader sees the old data set or the new. Keys, dims, dtypes, declarations,
        vocabularies, row ids and checksums are those of the folder; words may be new. Rows that do not fit
        are refused, and nothing is written. Another writer that appends meanwhile is refused, too. New shards
        are compressed where those of the folder are, or with `compress=True`.
    **options
        As in `varlen.io.Writer`. All shards have the dtypes of the first one, or of `schema`. The index
        stores the `account`.

    Examples
    --------
    >>> import os, tempfile, numpy as np, varlen.io
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "visits")
    >>> with varlen.io.ShardWriter(path, rows_per_shard=2) as writer:
    ...     writer.append({"dim1/bounds": np.array([2, 3, 3]), "dim1/t": np.array([5, 6, 7])})
    >>> sorted(os.listdir(path)), len(varlen.io.open_shards(path))
    (['index.json', 'part-00000.nrt', 'part-00001.nrt'], 3)
    >>> folder.cleanup()
    """

    def __init__(
        self, folder: str | os.PathLike[str], rows_per_shard: int, *, append: bool = False, **options: Any
    ) -> None:
        rows_per_shard = as_int(rows_per_shard, "rows_per_shard", 1)
        if options.get("narrow"):
            raise value_error(
                "narrow",
                "cannot be used: all shards share their dtypes, which are known only after the last",
                "name the dtypes in schema=",
            )
        for name in options:
            if name not in _OPTIONS:
                raise option_error(name, advice=f"the options are {', '.join(_OPTIONS)}")
        self._schema = dtypes_of(options.get("schema"))
        check_row_ids(options.get("row_ids"))
        check_metadata(options.get("metadata"))
        vocabularies_of(options.get("vocabularies"))
        self.path = os.path.abspath(local_path(folder))
        self.rows = 0
        self._lock: FolderLock | None = None
        self._id_dtypes: dict[str, np.dtype] = {}
        self._made_folder = False
        self._base = self._begin_append(options) if as_bool(append, "append") else None
        if self._base is None:
            self._made_folder = not os.path.isdir(self.path)
            if self._made_folder:
                os.mkdir(self.path)
            files = [n for n in sorted(os.listdir(self.path)) if n == INDEX or n.endswith(".nrt")]
            if files:
                advice = ""
                if INDEX in files:
                    advice = "; append=True adds to a finished folder"
                    gaps = set(listed_names(os.path.join(self.path, INDEX))) - set(files)
                    if gaps:
                        advice = f" and lacks {min(gaps)}: a writer is at work there, or was killed"
                raise FileExistsError(17, f"the folder holds {files[0]} already{advice}", self.path)
        self._rows_per_shard = rows_per_shard
        self._account: Account | None = options.pop("account", None)
        self._options = {"ids": np.int32, **options}  # as wide in the first shard as in the last
        self._writer: Writer | None = None
        self._previous: Writer | None = None
        self._shards: list[Shard] = []
        self._fields: dict[str, Field] = {}
        self._with_values: set[str] = set()  # the keys that some shard has a value of
        self._is_uneven = False
        self._open = True
        try:
            writer = self._open_next()  # refuses values that are no options
            writer.discard()
            if self._base is not None and self._base.fields:
                self._base.begin(writer)
                self._previous, self._fields = writer, self._base.fields
                self._with_values = set(self._fields)
        except BaseException:
            self.discard()
            raise

    def append(self, rows: Any) -> None:
        """Append rows, to as many shards as they fill; an error closes the writer.

        Parameters
        ----------
        rows : joint dict, Joint or dict
            As in `Writer.append`.

        Raises
        ------
        ValueError, TypeError
            As in `Writer.append`; everything written so far is deleted.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> folder = tempfile.TemporaryDirectory()
        >>> writer = varlen.io.ShardWriter(f"{folder.name}/visits", rows_per_shard=1)
        >>> writer.append({"code": [[1, 2], [3]]})
        >>> writer.rows
        2
        >>> writer.discard()
        >>> folder.cleanup()
        """
        if not self._open:
            raise file_error(self.path, "the writer is closed")
        try:
            any_writer = self._writer or self._previous
            if any_writer is None:
                any_writer = self._writer = self._open_next()
            if self._base is None:
                how = self._schema, any_writer._first_words, any_writer._intent, any_writer._shape_of
                joint = joint_of(as_piece(rows, *how))
            else:
                joint = self._base.read(rows, any_writer)
            start = 0
            if len(joint) == 0 and not self._shards:  # no rows, but their keys
                self._writer = self._writer or self._open_next()
                self._writer.append(joint)
            while start < len(joint):
                writer = self._writer = self._writer or self._open_next()
                end = min(len(joint), start + self._rows_per_shard - writer.rows)
                writer.append(joint.slice(start, end))
                if writer.rows == self._rows_per_shard:
                    self._finish()
                start = end
            self.rows += len(joint)
        except BaseException:
            self.discard()
            raise

    def close(self) -> None:
        """Write the index and name the shards. Closing twice does nothing.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> folder = tempfile.TemporaryDirectory()
        >>> writer = varlen.io.ShardWriter(f"{folder.name}/visits", rows_per_shard=1)
        >>> writer.append({"code": [[1, 2], [3]]})
        >>> writer.close()
        >>> varlen.io.open_shards(writer.path).counts
        array([1, 1])
        >>> folder.cleanup()
        """
        if not self._open:
            return
        if self._base is not None:
            self._close_append(self._base)
            return
        paths = [os.path.join(self.path, INDEX)]
        try:
            if self._writer is not None or not self._shards:
                self._writer = self._writer or self._open_next()
                self._finish()
            self._rewrite_bare()
            if self._account is not None:
                words = {name: field.vocabulary for name, field in self._fields.items() if field.vocabulary}
                self._account.set_result(*read_all_written([shard.path for shard in self._shards]), words)
                self._account.check()
            paths += [os.path.join(self.path, f"part-{i:05d}.nrt") for i in range(len(self._shards))]
            durable = self._options.get("durable", True)
            shards = [shard._replace(path=path) for shard, path in zip(self._shards, paths[1:], strict=True)]
            # First, so that a reader misses files; all files of a folder without an index are its rows.
            write_index(self.path, shards, self._fields, durable, self._account)
            for shard, path in zip(self._shards, paths[1:], strict=True):
                os.rename(shard.path, path)
            if durable:
                atomic.sync_folder(self.path)
            self._open = False
        except BaseException:
            for path in reversed(paths):
                with contextlib.suppress(OSError):
                    os.unlink(path)
            self.discard()
            raise

    def discard(self) -> None:
        """Delete all shards, and the folder if the writer made it.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> folder = tempfile.TemporaryDirectory()
        >>> writer = varlen.io.ShardWriter(f"{folder.name}/visits", rows_per_shard=1)
        >>> writer.append({"code": [[1, 2], [3]]})
        >>> writer.discard()
        >>> folder.cleanup()
        """
        self._open = False
        paths = [shard.path for shard in self._shards]
        if self._writer is not None:
            self._writer.discard()
            paths.append(self._writer.path)  # already listed where `close` failed at its end
        for path in paths:
            with contextlib.suppress(OSError):
                os.unlink(path)
        if self._made_folder:
            with contextlib.suppress(OSError):
                os.rmdir(self.path)
        if self._lock is not None:
            self._lock.release()

    def _begin_append(self, options: dict[str, Any]) -> Folder:
        """Lock a finished folder, and take over what its rows are like."""
        for name in _OF_FOLDER:
            if options.get(name):
                raise value_error(name, "is the folder's with append=True", "leave it out")
        row_ids, checksums = options.pop("row_ids", None), options.pop("checksums", None)
        if not os.path.isdir(self.path):
            raise FileNotFoundError(2, "there is no such folder", self.path)
        self._lock = FolderLock(self.path)
        try:
            delete_drafts(self.path)
            base = read_folder(self.path)
            if row_ids not in (None, base.row_ids):
                raise value_error("row_ids", f"{row_ids!r}, but {base.row_ids!r} in {self.path}")
            if checksums and not base.has_checksums:
                raise value_error("checksums", f"{self.path} has none", "leave it out")
            as_checksums(base.has_checksums)
        except BaseException:
            self._lock.release()
            raise
        options |= base.options
        options["compress"] = as_compress(options.get("compress", False)) or base.has_bits
        self._id_dtypes = base.id_dtypes
        return base

    def _close_append(self, base: Folder) -> None:
        try:
            if self._writer is not None:
                self._finish()
            self._rewrite_bare()
            if self._shards:
                assert self._lock is not None
                durable = self._options.get("durable", True)
                account = base.sum_accounts(self._account, [s.path for s in self._shards], self._fields)
                publish(base, self._lock, self._shards, self._fields, durable, account)
                self._shards = []
        finally:
            self.discard()

    def _rewrite_bare(self) -> None:
        """Gives shards without a value of a key the dim, dtype and words that later ones have."""
        if not self._is_uneven:
            return
        words = {name: field.vocabulary for name, field in self._fields.items() if field.vocabulary}
        how = [self._options.get(name) for name in ("durable", "schema", "checksums", "compress")]
        durable, schema, checksums, compress = how
        intent = schema if isinstance(schema, Schema) else None
        for number, shard in enumerate(self._shards):
            file = open_file(shard.path)
            if any(field.conflict(self._fields[name]) for name, field in file.fields.items()):
                task = Draft(
                    number, shard.path, shard.path, self._fields, words, durable is not False, intent,
                    bool(checksums), bool(compress),
                )  # fmt: skip
                write_shard(task)
                file = open_file(shard.path)
                self._shards[number] = shard._replace(size=file.identity[0], checksum=file.checksum)

    def _open_next(self) -> Writer:
        name = f".part-{len(self._shards):05d}.{os.getpid()}-{os.urandom(6).hex()}{atomic.SUFFIX}"
        writer = Writer(os.path.join(self.path, name), **self._options)
        writer._counts = self._account
        writer._id_dtypes = self._id_dtypes
        if self._previous is not None:
            writer._continue(self._previous)
        return writer

    def _finish(self) -> None:
        writer = self._writer
        assert writer is not None
        fields = writer.fields
        for key, field in self._fields.items():
            conflict = field.conflict(fields[key])
            if conflict and key in self._with_values:
                hint = schema_hint(field.dtype, fields[key].dtype)
                raise value_error(key, f"{conflict} in the shards before", hint)
            self._is_uneven |= conflict is not None
        writer.close()
        self._with_values |= {key for key, column in (writer._columns or {}).items() if column.has_values}
        self._previous = writer
        size = os.stat(writer.path).st_size
        self._shards.append(Shard(writer.path, writer.rows, size, checksum=writer.checksum))
        self._writer = None
        self._fields = fields
