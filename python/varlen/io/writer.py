"""Files written in pieces, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from varlen import _core
from varlen._methods import adopt_methods
from varlen.arguments import (
    PADDING,
    as_bool,
    as_dtype,
    check_schema_keys,
    dtypes_of,
    new_words,
    vocabularies_of,
)
from varlen.errors import file_error, row_error, type_error, value_error
from varlen.io import atomic
from varlen.io.account import ACCOUNT, Account
from varlen.io.bits import as_compress, compress_file
from varlen.io.checksums import as_checksums, checksum_in, read_tensors, with_checksums, zeros_of
from varlen.io.column_buffer import ColumnBuffer
from varlen.io.dtypes import (
    as_kind_of,
    cast_exactly,
    dtype_of,
    first_misfit,
    little_endian,
    promote,
    schema_hint,
    smallest_integer,
    tag_of,
)
from varlen.io.file_counts import read_written
from varlen.io.intent import Schema, plain_columns
from varlen.io.pieces import Piece, Shape, as_piece
from varlen.io.row_ids import check_row_ids, row_ids_error
from varlen.io.save import Entry, data_order, header_bytes
from varlen.io.schema import Field, check_metadata, encode_metadata, store

__all__ = ["Writer"]

Array = np.ndarray[tuple[Any, ...], np.dtype]


def ids_of(value: Any) -> np.dtype | None:
    """The given dtype for ids of strings; None for the smallest that holds them."""
    ids = None if value is None else as_dtype(value, "ids")
    if ids is not None and ids.kind not in "iu":
        raise type_error("ids", f"expected an integer dtype, got {ids}")
    return ids


def _example(words: Mapping[str, int]) -> str:
    """An example of the words of rows."""
    return next((word for word in words if word != PADDING), "")


# Dim, values as the file holds them, and the dtype they are handed out with.
_Part = tuple[int, Array, np.dtype]


class _Column:
    """The rows of one key in the pieces so far."""

    def __init__(self, dim: int, dtype: np.dtype, row_shape: tuple[int, ...], kind: np.dtype) -> None:
        self.dim = dim
        self.dtype = dtype  # as stored
        self.kind = kind  # as given: times keep their unit
        self.trailing = row_shape
        self.rows = 0
        self.has_values = False  # in the shards before, too
        self.is_open = False  # no file has its dim and trailing shape
        self.parts: list[np.dtype] = []  # part i, of one dtype, is the spool's column (name, i)
        self.minimum = self.maximum = 0
        self.wide: tuple[int, Any] | None = (
            None  # the first integer that float64 does not hold, and its place
        )


@adopt_methods
class Writer(atomic.AtomicWriter):
    """A writer of one file, which appears complete when the writer is closed.

    Memory stays bounded for any number of rows: columns wait in an unlisted temporary file beside the target.
    An error, even one inside the `with` block, leaves nothing behind and keeps the old file.

    Parameters
    ----------
    path
        The file to write or replace.
    schema
        Dtypes by key: pieces are cast to them, and a value that does not fit is an error. A number is no
        time, and a word no number. Other keys keep the dtype of their first piece. A `Schema` must name all
        keys; another key, kind or nesting is an error, and so is a null that it forbids. The file stores the
        schema.
    widen
        True: if the pieces of a key differ in dtype, the key gets a dtype that holds them all, instead of an
        error.
    narrow
        True: integers are stored in the smallest dtype that holds them all, unsigned if none is negative.
        Keys in `schema` keep their dtype.
    row_ids
        The name of the `dim0` key whose values identify rows.
    vocabularies
        The strings of each key; strings of the rows extend them. Words that you pass, or that rows bring with
        their ids, keep their ids.
    metadata
        Further strings for the header.
    ids
        The dtype of the ids of strings; by default the smallest that holds them all.
    durable
        False leaves out fsync, as in `varlen.io.save`.
    account
        The account of the input, which must be complete when the writer is closed. The writer counts the
        output, stores the account in the file, and raises `varlen.io.AccountError` if it does not balance.
    padding_id
        True: new vocabularies, except that of row ids, begin with "[PAD]", and its id 0 pads batches. False:
        they begin with the first word.
    checksums
        True: the file stores a checksum of each tensor and of its header, as in `varlen.io.save`.
    compress
        As in `varlen.io.save`. Closing the writer then takes as much room again, in a temporary file.

    Examples
    --------
    >>> import os, tempfile, varlen.io
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "visits.nrt")
    >>> with varlen.io.Writer(path, schema={"t": np.float32}) as writer:
    ...     writer.append({"dim1/bounds": np.array([2, 3]), "dim1/t": np.array([0.5, 1.0, 2.0])})
    ...     writer.append({"dim1/bounds": np.array([1]), "dim1/t": np.array([4.0])})
    >>> varlen.io.open_file(path).joint().row(2).values("t")
    array([4.], dtype=float32)
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        schema: Schema | Mapping[str, DTypeLike] | None = None,
        widen: bool = False,
        narrow: bool = False,
        row_ids: str | None = None,
        vocabularies: Mapping[str, Sequence[str]] | None = None,
        metadata: Mapping[str, str] | None = None,
        ids: DTypeLike | None = None,
        durable: bool = True,
        account: Account | None = None,
        padding_id: bool = True,
        checksums: bool = False,
        compress: bool = False,
    ) -> None:
        self.path = atomic.resolve(path)
        self._account = self._counts = account  # counts go to that of all shards, where there are some
        self.rows = 0
        self._schema = dtypes_of(schema)
        self._intent = schema if isinstance(schema, Schema) else None
        self._schema_dtypes = {name: dtype for name, dtype in self._schema.items() if dtype.kind not in "UTO"}
        self._text_keys = self._schema.keys() - self._schema_dtypes.keys()
        self._widen = widen
        self._narrow = narrow
        self._row_ids = check_row_ids(row_ids)
        self._padding_id = as_bool(padding_id, "padding_id")
        self._durable = durable
        self._has_checksums = as_checksums(checksums)
        self._compress = as_compress(compress)
        self._metadata = check_metadata(metadata)
        self._ids = ids_of(ids)
        self._ids_made: set[str] = set()  # keys whose ids are made here
        self._id_dtypes: dict[str, np.dtype] = {}  # of single keys
        self._words = {
            n: {word: i for i, word in enumerate(words)} for n, words in vocabularies_of(vocabularies).items()
        }
        self._given_words = set(self._words)  # keys whose bare integers are ids
        self._columns: dict[str, _Column] | None = None
        self._totals: list[int] = []
        self._buffer = ColumnBuffer(self.path)
        self.checksum: str | None = None  # of the header, once the file is there
        self._open = True

    @property
    def fields(self) -> dict[str, Field]:
        """The keys written so far.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> folder = tempfile.TemporaryDirectory()
        >>> writer = varlen.io.Writer(f"{folder.name}/a.nrt")
        >>> writer.append({"code": [[1, 2], [3]]})
        >>> list(writer.fields)
        ['code']
        >>> writer.discard()
        >>> folder.cleanup()
        """
        return {
            name: Field(
                c.dim,
                c.kind,
                tag_of(c.dtype, name),
                c.trailing,
                tuple(self._words[name]) if name in self._words else None,
            )
            for name, c in (self._columns or {}).items()
        }

    def append(self, rows: Any) -> None:
        """Add rows.

        Parameters
        ----------
        rows : joint dict, Joint, dict or table
            A joint dict, a `_core.Joint`, or a dict: arrays by full name, such as `dim1/bounds`, or nested
            lists by key, of numbers, words, dates, arrays, tensors and Raggeds. Ids of another vocabulary
            become ids of the writer's. None in lists of numbers or times is NaN or NaT, unless the schema
            says otherwise. Also an Arrow table or record batch, or a frame that exports one: its columns are
            keys, and a field of a struct is "column.field". Its nulls are errors, unless a `Schema` allows
            them in floats and times: they become NaN or NaT.

        Raises
        ------
        ValueError
            A key is missing or new, differs from earlier pieces in its dim, trailing shape or dtype, or mixes
            numbers and words. The error names it, and nothing of the piece is kept.
        TypeError
            The argument holds no rows, or a dtype that a file cannot hold.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> folder = tempfile.TemporaryDirectory()
        >>> writer = varlen.io.Writer(f"{folder.name}/a.nrt")
        >>> writer.append({"code": [[1, 2], [3]]})
        >>> writer.rows
        2
        >>> writer.discard()
        >>> folder.cleanup()
        """
        if not self._open:
            raise file_error(self.path, "the writer is closed")
        piece = as_piece(rows, self._schema, self._first_words, self._intent, self._shape_of)
        words = {name: dict(id_map) for name, id_map in self._words.items()}
        columns = {}
        for name, (dim, array) in piece.columns.items():
            ids_or_values = self._as_ids(name, array, piece.vocabularies, words)
            columns[name] = self._prepare(name, dim, ids_or_values, piece.levels)
        self._check_keys(columns, len(piece.levels))
        if self._intent is not None:
            self._intent.check_rows(
                {n: (dim, kind, values) for n, (dim, values, kind) in columns.items()}, words
            )
        # Nothing was changed up to here; from here on a failure ends the writer.
        try:
            self._keep(columns, piece)
        except BaseException:
            self.discard()
            raise
        self._words = words

    def close(self) -> None:
        """Write the file. Closing twice does nothing.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> folder = tempfile.TemporaryDirectory()
        >>> writer = varlen.io.Writer(f"{folder.name}/a.nrt")
        >>> writer.append({"code": [[1, 2], [3]]})
        >>> writer.close()
        >>> varlen.io.open_file(writer.path).count
        2
        >>> folder.cleanup()
        """
        if not self._open:
            return
        try:
            self._assemble()
        finally:
            self.discard()

    def discard(self) -> None:
        """Drop all rows: no file is written.

        Examples
        --------
        >>> import tempfile, varlen.io
        >>> folder = tempfile.TemporaryDirectory()
        >>> writer = varlen.io.Writer(f"{folder.name}/a.nrt")
        >>> writer.append({"code": [[1, 2], [3]]})
        >>> writer.discard()
        >>> folder.cleanup()
        """
        self._open = False
        self._buffer.close()

    def _begin_with(self, fields: Mapping[str, Field], depth: int) -> None:
        """Take over keys from the fields of a folder, as if rows were written with them."""
        self._words = {
            n: {w: i for i, w in enumerate(f.vocabulary)}
            for n, f in fields.items()
            if f.vocabulary is not None
        }
        self._columns = {n: _Column(f.dim, dtype_of(f.tag), f.trailing, f.dtype) for n, f in fields.items()}
        for column in self._columns.values():
            column.has_values = True
        self._totals = [0] * depth

    def _continue(self, other: Writer) -> None:
        """Take over the keys, dims, dtypes, trailing shapes and vocabularies of another writer."""
        self._words = {name: dict(id_map) for name, id_map in other._words.items()}
        if other._columns is not None:
            self._columns = {
                n: _Column(c.dim, c.dtype, c.trailing, c.kind) for n, c in other._columns.items()
            }
            for name, column in self._columns.items():
                column.has_values = other._columns[name].has_values
                column.is_open = not column.has_values
            self._totals = [0] * len(other._totals)

    def _first_words(self, name: str) -> Sequence[str]:
        """The first words of a vocabulary from rows; nothing if the key has one already."""
        return () if name in self._words else new_words(name, self._padding_id, self._row_ids)

    def _shape_of(self, name: str) -> Shape | None:
        """The dim and trailing shape of a key in the pieces before, or in the schema."""
        if self._columns is not None and name in self._columns:
            return self._columns[name].dim, self._columns[name].trailing
        column = None if self._intent is None else self._intent.get(name)
        return None if column is None else (column.level, tuple(column.trailing))

    def _as_ids(
        self,
        name: str,
        array: Array,
        vocabularies: Mapping[str, Sequence[str]],
        words: dict[str, dict[str, int]],
    ) -> Array:
        """Strings, and ids of the piece's vocabulary, as ids of the writer's; other values as they are."""
        if array.size == 0 and name in words and name not in (*self._given_words, *vocabularies):
            array = array.astype("U1")  # lists without a word, of whatever dtype
        is_text = array.dtype.kind in "UTO"
        if array.dtype.kind in "mM" or not (is_text or name in vocabularies):
            self._check_bare(name, array, words)
            return array
        if array.size and name in self._schema_dtypes and name not in self._given_words:
            word = array.flat[0] if is_text else vocabularies[name][array.flat[0]]
            if isinstance(word, str):
                says = f", but the schema says {self._schema_dtypes[name]}"
                raise row_error(name, f"the word {str(word)!r}", 0, says)
        column = (self._columns or {}).get(name)
        had_numbers = name not in words and column is not None and column.rows > 0
        if is_text:
            words.setdefault(name, {word: i for i, word in enumerate(self._first_words(name))})
            bits = store(name, array, words)
        else:
            id_map = words.setdefault(name, {})
            own = list(vocabularies[name])
            if array.size and not 0 <= int(array.min()) <= int(array.max()) < len(own):
                raise value_error(name, f"ids {array.min()} to {array.max()}, for {len(own)} strings")
            bits = np.array([id_map.setdefault(word, len(id_map)) for word in own], np.int64)[array]
        if had_numbers:
            word = _example(words[name])
            raise value_error(name, f"{word!r} is a word, the pieces before hold numbers without words")
        self._ids_made.add(name)
        dtype = self._id_dtypes.get(name, self._ids)
        if dtype is None:
            return bits
        if len(words[name]) - 1 > np.iinfo(dtype).max:
            word = list(words[name])[np.iinfo(dtype).max + 1]
            raise value_error(name, f"the word {word!r} gets an id that does not fit {dtype}")
        return bits.astype(dtype)

    def _check_bare(self, name: str, array: Array, words: Mapping[str, Mapping[str, int]]) -> None:
        """Refuse numbers for a key of strings, unless they are ids of the given vocabulary."""
        if array.size == 0:
            return
        if name not in self._given_words and name in self._text_keys:
            raise row_error(name, f"dtype {array.dtype}, but the schema says text: {array.flat[0]}", 0)
        if name not in words:
            return
        if name not in self._given_words:
            raise value_error(
                name,
                "numbers without a vocabulary, but the pieces before hold words such as "
                f"{_example(words[name])!r}",
            )
        count = len(words[name])
        if array.dtype.kind in "iu" and not 0 <= array.min() <= array.max() < count:
            raise value_error(name, f"ids {array.min()} to {array.max()}, for {count} strings")

    def _prepare(self, name: str, dim: int, array: Array, levels: Sequence[_core.Level]) -> _Part:
        target, column = self._schema_dtypes.get(name), (self._columns or {}).get(name)
        expected = target if target is not None or column is None else column.kind
        array = array if expected is None else as_kind_of(array, expected)
        bits = store(name, array, {})
        kind = (array if array.dtype.kind in "mM" else bits).dtype.newbyteorder("=")
        if target is not None and target != kind:
            values = array if array.dtype.kind in "mM" else bits
            cast = cast_exactly(name, values, target, True, levels[: max(dim, 0)])
            bits, kind = store(name, cast, {}), target
        tag_of(bits.dtype, name)
        if column is not None and len(bits) == 0 and column.has_values and kind.kind in "biuf":
            bits, kind = bits.astype(column.dtype), column.kind  # no value, so any dtype holds its values
        if column is not None:
            now, previous = (dim, tuple(bits.shape[1:])), (column.dim, column.trailing)
            if now != previous and not (column.is_open and not column.rows and now[0] >= previous[0]):
                raise value_error(
                    name,
                    f"dim {now[0]}, trailing shape {now[1]}, "
                    f"but {previous[0]} and {previous[1]} in the pieces before",
                    "" if column.has_values else "they have no value: give a Schema with its level",
                )
            times = kind.kind in "mM" or column.kind.kind in "mM"
            if column.rows and column.kind != kind and (times or not (self._widen or name in self._ids_made)):
                hint = schema_hint(kind, column.kind) + ("" if times else ", or widen=True")
                raise value_error(name, f"dtype {kind}, but {column.kind} in the pieces before", hint)
            if column.rows:
                self._check_exact(name, column, bits)
        return dim, little_endian(bits), kind

    def _check_exact(self, name: str, column: _Column, bits: Array) -> None:
        """Refuse integers of this or an earlier piece that the dtype of all pieces would round."""
        common = promote(name, column.dtype, bits.dtype)
        tag_of(common, name)
        cast_exactly(name, bits, common)
        if common.kind == "f" and column.wide is not None:
            place, value = column.wide
            raise value_error(
                name,
                f"{value} at row {place} of the pieces before does not fit {common}, which "
                f"{bits.dtype} beside it needs",
                "pass a schema",
                row=place,
            )

    def _check_keys(self, piece: Mapping[str, Any], depth: int) -> None:
        if self._columns is None:
            if self._row_ids is not None and piece.get(self._row_ids, (None,))[0] != 0:
                raise row_ids_error(self._row_ids)
            return
        if piece.keys() != self._columns.keys():
            missing, extras = (
                sorted(self._columns.keys() - piece.keys()),
                sorted(piece.keys() - self._columns.keys()),
            )
            raise value_error("rows", f"keys {missing} are missing and {extras} are new in this piece")
        dims = [part[0] for name, part in piece.items() if part[0] > self._columns[name].dim]
        if depth != max([len(self._totals), *dims]):
            raise value_error("rows", f"{depth} levels, but {len(self._totals)} in the pieces before")

    def _keep(self, columns: Mapping[str, _Part], piece: Piece) -> None:
        if self._columns is None:
            self._columns = {
                name: _Column(dim, array.dtype, tuple(array.shape[1:]), kind)
                for name, (dim, array, kind) in columns.items()
            }
            self._totals = [0] * len(piece.levels)
            for column in self._columns.values():
                column.is_open = True
        self._totals += [0] * (len(piece.levels) - len(self._totals))
        for number, level in enumerate(piece.levels):
            self._buffer.append(number, (level.bounds + self._totals[number]).view(np.uint8))
            self._totals[number] += level.total
        for name, (dim, array, kind) in columns.items():
            column = self._columns[name]
            column.dim, column.trailing = dim, tuple(array.shape[1:])  # others where it had no value yet
            if not column.parts or column.parts[-1] != array.dtype:
                column.parts.append(array.dtype)
                column.dtype = promote(name, column.dtype, array.dtype) if column.rows else array.dtype
                column.kind = kind if kind.kind in "mM" else column.dtype
            if self._widen and column.wide is None and array.dtype.kind in "iu":
                place = first_misfit(array, np.dtype(np.float64))
                column.wide = None if place is None else (column.rows + place[0], array[place])
            column.rows += len(array)
            column.has_values |= len(array) > 0
            if self._counts is not None:
                values = array.view(kind) if kind.kind in "mM" else array
                self._counts.column(name).result.count_inside(values)
            if self._narrow and array.size and array.dtype.kind in "iu":
                column.minimum = min(column.minimum, int(array.min()))
                column.maximum = max(column.maximum, int(array.max()))
            self._buffer.append((name, len(column.parts) - 1), array.reshape(-1).view(np.uint8).copy())
        self.rows += piece.rows

    def _assemble(self) -> None:
        columns = self._columns or {}
        for name in columns.keys() - self._schema_dtypes.keys():  # kept wide until all values were seen
            column = columns[name]
            if name in self._ids_made and self._ids is None:
                column.dtype = column.kind = smallest_integer(0, len(self._words[name]) - 1)
            elif self._narrow and name not in self._ids_made and column.kind.kind in "iu":
                column.dtype = column.kind = smallest_integer(column.minimum, column.maximum)
        sizes = [self.rows, *self._totals]
        entries: list[tuple[Entry, str | int]] = [
            ((f"dim{number + 1}/bounds", "I64", (sizes[number],)), number)
            for number in range(len(self._totals))
        ]
        for name, c in columns.items():
            entries.append(((f"dim{c.dim}/{name}", tag_of(c.dtype), (c.rows, *c.trailing)), name))
        kinds = {name: c.kind for name, c in columns.items()}
        words = {name: list(id_map) for name, id_map in self._words.items() if name in columns}
        ids = self._row_ids if self._row_ids in columns else None  # without rows there may be no keys
        file_metadata = encode_metadata(kinds, words, ids, self._metadata, plain_columns(self._intent))
        if self._account is not None:
            self._account.set_result(self.rows, {name: c.rows for name, c in columns.items()}, words)
            self._account.check()
            file_metadata[ACCOUNT] = self._account.as_text()
        # What a shard lacks is found by the account of all shards, where there is one.
        if columns and self._intent is None and self._counts is self._account:
            check_schema_keys(self._schema, columns)
        tensors = [entry for entry, _ in entries]
        if self._has_checksums:  # known once the values are there; their texts are as long as these
            file_metadata = with_checksums(file_metadata, zeros_of(name for name, _, _ in tensors))
        with atomic.replace_file(self.path, self._durable) as fd:
            if not self._compress:
                self._write_plain(fd, file_metadata, entries)
                return
            plain, path = atomic.temporary(self.path)
            try:
                os.unlink(path)
                self._write_plain(plain, file_metadata, entries)
                self.checksum = compress_file(plain, fd, self._has_checksums)
            finally:
                os.close(plain)

    def _write_plain(
        self, fd: int, metadata: Mapping[str, str], entries: Sequence[tuple[Entry, str | int]]
    ) -> None:
        """The header, the columns in the order of the data, and the account of what was written."""
        columns = self._columns or {}
        tensors = [entry for entry, _ in entries]
        atomic.write_all(fd, (header_bytes(tensors, metadata),))
        for _, key in sorted(entries, key=lambda entry: data_order(entry[0])):
            if isinstance(key, int):
                self._buffer.copy(key, fd)
                continue
            column = columns[key]
            for part, dtype in enumerate(column.parts):
                if dtype == column.dtype:
                    self._buffer.copy((key, part), fd)
                    continue
                for chunk in self._buffer.chunks((key, part)):
                    cast = chunk.view(dtype).astype(column.dtype)
                    atomic.write_all(fd, (cast.view(np.uint8),))
        if self._has_checksums:
            header = header_bytes(tensors, with_checksums(metadata, read_tensors(fd)))
            os.lseek(fd, 0, os.SEEK_SET)
            atomic.write_all(fd, (header,))
            self.checksum = checksum_in(header)
        if self._account is not None:
            self._account.set_result(*read_written(fd))
            self._account.check()
