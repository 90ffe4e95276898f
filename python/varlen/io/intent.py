"""Declarations of columns: their kinds, dtypes, nesting, time zones and nulls."""

from __future__ import annotations

import json
import os
import re
import sys
import zoneinfo
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.arguments import as_mapping, as_path, one_of
from varlen.errors import name_item, name_place, type_error, value_error
from varlen.io import atomic
from varlen.io.dtypes import dtype_named, kind_of
from varlen.io.errors import FileFormatError
from varlen.io.schema import Field

if TYPE_CHECKING:
    import pyarrow as pa

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Schema", "SchemaColumn"]

KINDS = ("id", "code", "number", "time", "text")


@dataclass(frozen=True)
class SchemaColumn:
    """The declaration of one column.

    Parameters
    ----------
    kind : {"id", "code", "number", "time", "text"}
        Ids are whole numbers or text and never rounded; codes and text are words of a vocabulary.
    dtype : str, optional
        The dtype of numbers, ids and times, such as "int64" and "datetime64[s]"; None for words.
    nullable : bool, default True
        Allow nulls: NaN among floats, NaT among times, an empty list for a list.
    level : int, default 0
        The number of levels of lists around each value.
    zone : str, optional
        The time zone, such as "UTC", "Europe/Berlin" or "+01:00"; the values are in UTC. None for times
        without a zone.
    note : str, optional
        A remark for people; it has no effect.
    trailing : tuple of int, default ()
        The fixed dims of each value, after the levels: (2, 3) for matrices of 2 rows and 3 columns. Lists may
        stand for them if all have these lengths.
    dims : tuple of str, default ()
        The names of its axes: one for each level, then one for each fixed dim. Empty for axes without names.

    Raises
    ------
    ValueError
        The kind is unknown, the dtype does not fit the kind, a column without times has a zone, or `dims`
        does not name each axis.

    Examples
    --------
    >>> SchemaColumn("time", "datetime64[s]", zone="UTC").level
    0
    """

    kind: str
    # By factories, so that the class has no attribute None that nothing documents.
    dtype: str | None = field(default_factory=type(None))
    nullable: bool = True
    level: int = 0
    zone: str | None = field(default_factory=type(None))
    note: str | None = field(default_factory=type(None))
    trailing: tuple[int, ...] = ()
    dims: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        one_of(self.kind, "kind", KINDS)
        for name, kinds in (("nullable", bool), ("level", int)):
            if type(getattr(self, name)) is not kinds:
                raise value_error(name, f"expected {kinds.__name__}, got {getattr(self, name)!r}")
        if self.level < 0:
            raise value_error("level", f"expected at least 0, got {self.level}")
        for name in ("dtype", "zone", "note"):
            if not isinstance(getattr(self, name), (str, type(None))):
                raise value_error(name, f"expected a string, got {getattr(self, name)!r}")
        try:
            dtype_kind = None if self.dtype is None else kind_of(dtype_named(self.dtype))
        except TypeError:
            raise value_error("dtype", f"{self.dtype!r} is no dtype of NumPy") from None
        choices = {"id": (None, *"iu"), "number": tuple("biufc"), "time": tuple("mM")}.get(self.kind, (None,))
        if dtype_kind not in choices:
            raise value_error("dtype", f"{self.dtype!r} does not fit kind {self.kind!r}")
        if self.zone is not None and self.kind != "time":
            raise value_error("zone", f"is for times, not for kind {self.kind!r}")
        if self.zone is not None and not _is_zone(self.zone):
            raise value_error(
                "zone",
                f"{self.zone!r} is no time zone",
                "give one such as 'UTC', 'Europe/Berlin' or '+01:00'",
            )
        self._take_dims()

    def _take_dims(self) -> None:
        for name, kind in (("trailing", int), ("dims", str)):
            value = getattr(self, name)
            if not isinstance(value, (tuple, list)) or not all(type(item) is kind for item in value):
                raise value_error(name, f"expected a list of {kind.__name__}, got {value!r}")
            object.__setattr__(self, name, tuple(value))
        if any(size < 0 for size in self.trailing):
            raise value_error("trailing", f"expected sizes from 0, got {self.trailing}")
        axes = self.level + len(self.trailing)
        if self.dims and len(self.dims) != axes:
            raise value_error(
                "dims", f"{len(self.dims)} names {self.dims} for {axes} axes", "give each one a name"
            )
        if len(set(self.dims)) < len(self.dims) or "" in self.dims:
            raise value_error("dims", f"expected names that differ, got {self.dims}")

    def check_zone(self, name: str, dtype: np.dtype, is_zoned: bool) -> None:
        """Refuse times with a zone if none is declared, and times without a zone if one is.

        Parameters
        ----------
        name : str
            The name of the column, for the error.
        dtype : numpy.dtype
            The dtype of its values.
        is_zoned : bool
            Whether the values have a zone.

        Raises
        ------
        ValueError
            The values have a zone and the column has none, or the other way round.

        Examples
        --------
        >>> SchemaColumn("time", "datetime64[s]").check_zone("t", np.dtype("M8[s]"), True)
        Traceback (most recent call last):
        ValueError: t: times have a zone, but the schema says none
        """
        if dtype.kind == "M" and is_zoned != (self.zone is not None):
            have, says = ("a zone", "none") if is_zoned else ("no zone", "one")
            raise value_error(name, f"times have {have}, but the schema says {says}")

    @property
    def is_words(self) -> bool:
        """Whether the column holds words of a vocabulary, not numbers.

        Examples
        --------
        >>> SchemaColumn("code").is_words
        True
        """
        return self.dtype is None


class Schema(Mapping[str, SchemaColumn]):
    """The declared columns of a data set, in order.

    A writer, `build` and ``varlen convert`` enforce the schema that you pass: missing or new columns, another
    kind, nesting or dtype, and forbidden nulls are errors. The file stores it.

    Parameters
    ----------
    columns : mapping of str to SchemaColumn, or to a dict of its arguments
        The declaration of each column.

    Raises
    ------
    TypeError, ValueError
        A name is not a string, or a column contradicts itself. The error names it.

    Examples
    --------
    >>> schema = Schema({"code": {"kind": "code", "level": 1}, "age": {"kind": "number", "dtype": "float32"}})
    >>> schema["age"].dtype, schema.dtypes
    ('float32', {'code': <class 'str'>, 'age': dtype('float32')})
    >>> print(schema.to_toml())
    [columns.code]
    kind = "code"
    level = 1
    <BLANKLINE>
    [columns.age]
    kind = "number"
    dtype = "float32"
    <BLANKLINE>
    >>> Schema.from_toml(schema.to_toml()) == schema
    True
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, SchemaColumn | Mapping[str, Any]]) -> None:
        self._columns: dict[str, SchemaColumn] = {}
        names = [one.name for one in fields(SchemaColumn)]
        for name, entry in as_mapping(columns, "columns", "names to what they are").items():
            if not isinstance(name, str):
                raise type_error("columns", f"names are strings, got {name!r}")
            if isinstance(entry, SchemaColumn):
                self._columns[name] = entry
                continue
            if not isinstance(entry, Mapping):
                form = "a dict from arguments of SchemaColumn to what they are"
                raise type_error("columns", f"{name!r}: expected {form}, got {type(entry).__name__}")
            words = entry
            extras = [word for word in words if word not in names]
            if extras or "kind" not in words:
                what = f"there is no {extras[0]!r} among {', '.join(names)}" if extras else "expected a kind"
                raise value_error("columns", f"{name!r}: {what}")
            try:
                self._columns[name] = SchemaColumn(**words)
            except ValueError as wrong:
                raise name_item(name_item(wrong, repr(name)), "columns") from None
        self._check_dims()

    def _check_dims(self) -> None:
        """Refuses a level of two names, and a name of two levels or sizes."""
        axis_of: dict[str, tuple[str, Any]] = {}
        name_of: dict[Any, tuple[str, str]] = {}
        for column, intent in self._columns.items():
            axes = [*(f"level {k + 1}" for k in range(intent.level)), *(f"size {n}" for n in intent.trailing)]
            for dim, axis in zip(intent.dims, axes, strict=False):
                other, previous = axis_of.setdefault(dim, (column, axis))
                if previous != axis:
                    raise value_error("dims", f"{dim!r} is {axis} of {column!r}, but {previous} of {other!r}")
                if axis.startswith("level"):
                    other, previous = name_of.setdefault(axis, (column, dim))
                    if previous != dim:
                        raise value_error(
                            "dims", f"{axis} is {dim!r} in {column!r}, but {previous!r} in {other!r}"
                        )

    def __getitem__(self, name: str) -> SchemaColumn:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"Schema({self._columns!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._columns,)

    @property
    def dtypes(self) -> dict[str, Any]:
        """The dtype that a writer casts each column to, `str` for words.

        Examples
        --------
        >>> Schema({"code": SchemaColumn("code")}).dtypes
        {'code': <class 'str'>}
        """
        return {n: str if c.dtype is None else dtype_named(c.dtype) for n, c in self._columns.items()}

    @classmethod
    def of(cls, stored: Mapping[str, Field], declared: Mapping[str, object] | None = None) -> Schema:
        """The schema of a file or data set, as far as the file states it.

        Parameters
        ----------
        stored : mapping of str to Field
            Fields, such as `File.fields` or `ShardSet.fields`.
        declared : mapping of str to dict, optional
            Declarations of some keys, as arguments of SchemaColumn.

        Returns
        -------
        Schema
            The schema. Words count as codes unless declared otherwise, and nulls are allowed.

        Raises
        ------
        FileFormatError
            A declaration contradicts itself.

        Examples
        --------
        >>> Schema.of({"t": Field(1, np.dtype("M8[s]"), "I64")})["t"] == SchemaColumn(
        ...     "time", "datetime64[s]", level=1
        ... )
        True
        """
        intents = declared or {}
        try:
            return cls({name: _column_of(one, intents.get(name)) for name, one in stored.items()})
        except (TypeError, ValueError) as wrong:
            raise name_place(wrong, "schema", FileFormatError) from None

    @classmethod
    def from_toml(cls, text: str) -> Schema:
        r"""Read a schema from TOML text.

        Parameters
        ----------
        text : str
            A table ``columns`` with a table for each column, as `to_toml` writes it.

        Returns
        -------
        Schema
            The schema, with the columns in their order.

        Raises
        ------
        ValueError
            The text is not TOML or holds other tables, or a column contradicts itself.

        Examples
        --------
        >>> Schema.from_toml('[columns.x]\nkind = "number"\ndtype = "int8"')["x"].dtype
        'int8'
        """
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as wrong:
            raise value_error("", f"no TOML: {wrong}") from None
        if table.keys() != {"columns"} or not isinstance(table["columns"], dict):
            raise value_error("", f"expected tables [columns.NAME] alone, got {', '.join(table) or 'none'}")
        return cls(table["columns"])

    def to_toml(self) -> str:
        """Convert to TOML text: one table per column, without defaults.

        Returns
        -------
        str
            TOML for `from_toml`.

        Examples
        --------
        >>> print(Schema({"a b": SchemaColumn("text", nullable=False)}).to_toml())
        [columns."a b"]
        kind = "text"
        nullable = false
        <BLANKLINE>
        """
        return "\n".join(
            f"[columns.{_key(name)}]\n"
            + "".join(f"{word} = {_quote(value)}\n" for word, value in unusual_arguments(column).items())
            for name, column in self._columns.items()
        )

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the schema as TOML, for people to edit.

        Parameters
        ----------
        path : path
            The file to write or replace.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Schema({}).write(f"{folder}/x.toml")
        """
        with atomic.replace_file(os.path.abspath(as_path(path)), True) as fd:
            atomic.write_all(fd, (self.to_toml().encode(),))

    @classmethod
    def from_arrow(cls, schema: Any) -> Schema:
        """Convert an Arrow schema: struct fields become columns, lists become levels.

        Parameters
        ----------
        schema : pyarrow.Schema
            The schema of a table. Decimals are numbers, int64 if they have no fraction.

        Returns
        -------
        Schema
            The schema. Strings are codes, unless `to_arrow` noted another kind.

        Raises
        ------
        ValueError
            Two columns have the same name.
        TypeError
            The type of a column is neither numbers nor times nor text.

        Examples
        --------
        >>> import pyarrow as pa
        >>> Schema.from_arrow(pa.schema({"v": pa.list_(pa.string()), "x": pa.float32()})).dtypes
        {'v': <class 'str'>, 'x': dtype('float32')}
        """
        from varlen.interop.arrow_schema import columns_of_schema

        return cls(columns_of_schema(schema))

    def to_arrow(self) -> pa.Schema:
        """Convert to an Arrow schema, with the kind of each column in its metadata.

        Returns
        -------
        pyarrow.Schema
            The schema: a large list for each level, of numbers, times or large strings; fixed dims are lists
            of fixed size.

        Examples
        --------
        >>> Schema({"x": SchemaColumn("number", "int8", level=1)}).to_arrow().types
        [LargeListType(large_list<item: int8>)]
        """
        from varlen.interop.arrow_schema import schema_of_columns

        return schema_of_columns({name: unusual_arguments(column) for name, column in self._columns.items()})

    def check_rows(
        self,
        columns: Mapping[str, tuple[int, np.dtype, np.ndarray]],
        words: Mapping[str, object],
        where: str = "rows",
    ) -> None:
        """Raise an error if rows differ from the schema, or hold nulls that it forbids.

        Parameters
        ----------
        columns : mapping of str to (int, dtype, ndarray)
            The level of each key, its dtype and its values.
        words : mapping of str to words
            The vocabularies, by key.
        where : str, default "rows"
            The words with which the error begins.

        Raises
        ------
        ValueError
            As in `check`, or there is a forbidden null. The error names its row.

        Examples
        --------
        >>> schema = Schema({"x": SchemaColumn("number", "float32", nullable=False)})
        >>> schema.check_rows({"x": (0, np.dtype("f4"), np.array([1, np.nan], "f4"))}, {})
        Traceback (most recent call last):
        ValueError: rows: x: null at row 1, but the schema says that there is none
        """
        self.check(
            {
                name: Field(dim, dtype, "", values.shape[1:], () if name in words else None)
                for name, (dim, dtype, values) in columns.items()
            },
            where,
        )
        for name, (_, dtype, values) in columns.items():
            if self[name].nullable or kind_of(dtype) not in "fmM":
                continue
            with np.errstate(invalid="ignore"):  # ml_dtypes warns of NaNs that signal
                null = np.isnat(values.view(dtype)) if dtype.kind in "mM" else np.isnan(values)
            if null.any():
                row = int(np.argwhere(null)[0][0])
                raise value_error(
                    "",
                    f"null at row {row}, but the schema says that there is none",
                    row=row,
                    context=f"{where}: {name}",
                )

    def check(self, stored: Mapping[str, Field], where: str = "rows") -> None:
        """Raise an error if keys differ from the schema.

        Parameters
        ----------
        stored : mapping of str to Field
            The fields of the keys.
        where : str, default "rows"
            The words with which the error begins.

        Raises
        ------
        ValueError
            A key is missing or new, or has another kind, nesting, dtype or fixed dims. The error names it.

        Examples
        --------
        >>> schema = Schema({"x": SchemaColumn("number", "int8")})
        >>> schema.check({"x": Field(1, np.dtype("i1"), "I8")})
        Traceback (most recent call last):
        ValueError: rows: x: level 1, but the schema says 0
        """
        missing = [name for name in self._columns if name not in stored]
        extras = [name for name in stored if name not in self._columns]
        if missing or extras:
            what = f"has no column {missing[0]!r}, which" if missing else f"has a column {extras[0]!r} that"
            says = "the schema has" if missing else "the schema lacks"
            raise value_error(where, f"{what} {says}")
        for name, column in self._columns.items():
            entry = stored[name]
            if entry.dim != column.level:
                raise value_error(
                    "",
                    f"level {entry.dim}, but the schema says {column.level}",
                    context=f"{where}: {name}",
                )
            if entry.trailing != column.trailing:
                raise value_error(
                    "",
                    f"values of fixed dims {entry.trailing}, but the schema says {column.trailing}",
                    context=f"{where}: {name}",
                )
            if (entry.vocabulary is not None) != column.is_words:
                what = "numbers" if column.is_words else "words"
                raise value_error(
                    "",
                    f"holds {what}, but the schema says {column.kind}",
                    context=f"{where}: {name}",
                )
            if column.dtype is not None and entry.dtype != dtype_named(column.dtype):
                raise value_error(
                    "",
                    f"{entry.dtype}, but the schema says {column.dtype}",
                    context=f"{where}: {name}",
                )


def plain_columns(schema: Schema | None) -> dict[str, dict[str, Any]] | None:
    """The arguments of each column, as a file keeps them.

    >>> plain_columns(Schema({"x": SchemaColumn("code")}))
    {'x': {'kind': 'code'}}
    """
    return None if schema is None else {name: unusual_arguments(column) for name, column in schema.items()}


def unusual_arguments(column: SchemaColumn) -> dict[str, Any]:
    """The arguments of a column that differ from the defaults.

    >>> unusual_arguments(SchemaColumn("code", level=1))
    {'kind': 'code', 'level': 1}
    """
    out = {one.name: getattr(column, one.name) for one in fields(column)}
    usual = {"nullable": True, "level": 0, "trailing": (), "dims": ()}
    return {name: value for name, value in out.items() if value != usual.get(name)}


def _column_of(entry: Field, intent: object = None) -> Any:
    """The declaration of a column, or one made from its field."""
    if isinstance(intent, dict):
        return {"trailing": entry.trailing, **intent}
    if intent is not None:
        return intent
    options: dict[str, Any] = {"level": max(entry.dim, 0), "trailing": entry.trailing}  # below 0: left behind
    if entry.vocabulary is not None:
        return SchemaColumn("code", **options)
    return SchemaColumn("time" if entry.dtype.kind in "mM" else "number", str(entry.dtype), **options)


def _is_zone(name: str) -> bool:
    """Whether the zone exists; any name may if the machine has no list of zones."""
    if name == "UTC" or re.fullmatch(r"[-+]([01]\d|2[0-3]):[0-5]\d", name):
        return True
    try:
        zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return not zoneinfo.available_timezones()
    return True


def _quote(value: object) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, tuple):
        return f"[{', '.join(map(_quote, value))}]"
    return str(value).lower()  # TOML's booleans


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "a").replace("-", "a").isalnum()
    return name if bare else _quote(name)
