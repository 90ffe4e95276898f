"""A file's metadata about its keys: units of time, vocabularies, row ids."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from varlen.arguments import PADDING, as_mapping, padding_id
from varlen.errors import error_of, type_error, value_error
from varlen.io.dtypes import common_dtype, has_stand_in, tag_of
from varlen.io.errors import FileFormatError

__all__ = ["VERSION", "Field", "decode_metadata", "encode_strings"]

VERSION = 1

# Vocabularies lie in the header, which the format caps at 100 MB; half of that leaves room for escapes.
_MAX_VOCABULARY = 48 * 1024 * 1024

Array = np.ndarray[tuple[Any, ...], np.dtype]


@dataclass(frozen=True)
class Field:
    """One key of a file.

    Parameters
    ----------
    dim
        The number of levels above the values.
    dtype
        The dtype of the arrays that you get: `datetime64[ns]` if the file holds int64 and declares times.
    tag
        The dtype in the file, by the format's name, such as "I64".
    trailing
        The fixed dimensions after the ragged ones.
    vocabulary
        The strings that integer values stand for, or None.

    Examples
    --------
    >>> Field(1, np.dtype("datetime64[ns]"), "I64").unit
    'ns'
    """

    dim: int
    dtype: np.dtype
    tag: str
    trailing: tuple[int, ...] = ()
    # By a factory, so that the class has no attribute None that nothing documents.
    vocabulary: tuple[str, ...] | None = field(default_factory=type(None), repr=False)

    @property
    def unit(self) -> str | None:
        """The unit of time, such as "ns"; None if the key holds no times.

        Examples
        --------
        >>> Field(0, np.dtype("m8[s]"), "I64").unit
        's'
        """
        return np.datetime_data(self.dtype)[0] if self.dtype.kind in "mM" else None

    @property
    def padding_id(self) -> int | None:
        """The id of the word "[PAD]", which stands for no value; None if the vocabulary lacks it.

        Examples
        --------
        >>> Field(1, np.dtype("u1"), "U8", vocabulary=("[PAD]", "HR")).padding_id
        0
        """
        return padding_id(self.vocabulary)

    def conflict(self, other: Field, *, words: bool = True, widen: bool = False) -> str | None:
        """The reason why rows of two fields cannot be joined; None if they can.

        Parameters
        ----------
        other : Field
            The field of the same key in other rows.
        words : bool, default True
            Compare the vocabularies too; one may continue the other.
        widen : bool, default False
            Allow dtypes to differ if a common dtype holds both.

        Returns
        -------
        str or None
            The reason; None if there is none.

        Examples
        --------
        >>> Field(1, np.dtype("u1"), "U8").conflict(Field(1, np.dtype("f4"), "F32"))
        'dtype float32 instead of uint8'
        """
        for what, mine, theirs in (
            ("dim", self.dim, other.dim),
            ("dtype", self.dtype, other.dtype),
            ("trailing shape", self.trailing, other.trailing),
        ):
            if mine != theirs and not (widen and what == "dtype" and self._wider(other) is not None):
                return f"{what} {theirs} instead of {mine}"
        a, b = self.vocabulary, other.vocabulary
        count = min(len(a or ()), len(b or ()))
        if words and ((a is None) != (b is None) or (a or ())[:count] != (b or ())[:count]):
            if a and b and (a[0] == PADDING) != (b[0] == PADDING):
                return f"another vocabulary, one of the two with {PADDING!r} at 0; padding_id= says which"
            return "another vocabulary"
        return None

    def join(self, other: Field) -> Field:
        """The field of rows joined from both.

        Parameters
        ----------
        other : Field
            The field of the same key in other rows, without a conflict.

        Returns
        -------
        Field
            The field, with the dtype that holds both, and the longer vocabulary.

        Examples
        --------
        >>> Field(1, np.dtype("u1"), "U8").join(Field(1, np.dtype("f4"), "F32")).dtype
        dtype('float32')
        """
        dtype = self._wider(other)
        assert dtype is not None
        words = max(self.vocabulary, other.vocabulary, key=lambda words: -1 if words is None else len(words))
        if dtype == self.dtype:
            return self if words is self.vocabulary else replace(self, vocabulary=words)
        return replace(self, dtype=dtype, tag=tag_of(dtype), vocabulary=words)

    def _wider(self, other: Field) -> np.dtype | None:
        if self.tag != other.tag and (has_stand_in(self.tag) or has_stand_in(other.tag)):
            return None
        return common_dtype(self.dtype, other.dtype)


class _SchemaHolder(Protocol):
    @property
    def dim(self) -> int: ...
    @property
    def vocabulary(self) -> tuple[str, ...] | None: ...


def joint_metadata(fields: Mapping[str, _SchemaHolder], row_ids: str | None) -> dict[str, Any] | None:
    """The metadata of a Joint of these keys: their vocabularies, the key of its row ids.

    >>> joint_metadata({"id": Field(0, np.dtype("i8"), "I64")}, "id")
    {'row_ids': 'id'}
    """
    words = {name: field.vocabulary for name, field in fields.items() if field.vocabulary is not None}
    has_ids = row_ids is not None and row_ids in fields and fields[row_ids].dim == 0
    return make_metadata(words, row_ids if has_ids else None)


def make_metadata(
    vocabularies: Mapping[str, Sequence[str]] | None, row_ids: str | None
) -> dict[str, Any] | None:
    """The metadata of a Joint; None if it is empty.

    >>> make_metadata({"code": ["a"]}, None), make_metadata(None, None)
    ({'vocabularies': {'code': ('a',)}}, None)
    """
    metadata: dict[str, Any] = {}
    if vocabularies:
        metadata["vocabularies"] = {key: tuple(words) for key, words in vocabularies.items()}
    if row_ids is not None:
        metadata["row_ids"] = row_ids
    return metadata or None


@dataclass(frozen=True)
class Metadata:
    """The metadata of a file; empty for a file that another library wrote."""

    version: int | None = None
    dtypes: Mapping[str, str] = field(default_factory=dict)
    row_ids: str | None = None
    vocabularies: Mapping[str, str] = field(default_factory=dict, repr=False)
    declared: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def dtype(self, name: str, file_dtype: np.dtype) -> np.dtype:
        """The dtype of the values that you get; it differs from the stored one only for times."""
        text = self.dtypes.get(name)
        if text is None or not text.startswith(("datetime64[", "timedelta64[")):
            return file_dtype
        try:
            dtype = np.dtype(text)
        except TypeError:
            raise error_of(
                FileFormatError, "schema", f"key {name!r} has dtype {text!r}, which is no dtype"
            ) from None
        if file_dtype != np.int64:
            raise error_of(
                FileFormatError, "schema", f"key {name!r} is {text}, but is stored as {file_dtype}, not int64"
            )
        return dtype

    def vocabulary(self, name: str) -> tuple[str, ...] | None:
        """The strings of a key, read from the header on first use."""
        text = self.vocabularies.get(name)
        if text is None:
            return None
        words = load_json(text, f"vocabulary of {name!r}")
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise error_of(FileFormatError, "", f"vocabulary of {name!r}: not a list of strings")
        if len(set(words)) < len(words):
            word = next(word for i, word in enumerate(words) if words.index(word) < i)
            raise error_of(FileFormatError, "", f"vocabulary of {name!r}: has the word {word!r} twice")
        return tuple(words)


def load_json(text: str | bytes, what: str) -> Any:
    """The object in JSON text; FileFormatError if it is not JSON, or has a name twice.

    >>> load_json('{"a": 1, "a": 2}', "index")
    Traceback (most recent call last):
    varlen.io.errors.FileFormatError: index: has the name 'a' twice
    """

    def unique_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) < len(pairs):
            names = [name for name, _ in pairs]
            repeat = next(name for name in names if names.count(name) > 1)
            raise error_of(FileFormatError, what, f"has the name {repeat!r} twice")
        return table

    try:
        return json.loads(text, object_pairs_hook=unique_dict)
    except FileFormatError:
        raise
    except (ValueError, RecursionError) as error:
        raise error_of(FileFormatError, what, f"not JSON: {error}" if text else "is empty") from None


def check_version(metadata: Mapping[str, str]) -> int | None:
    """The version of varlen's own metadata, None if there is none; a newer one than ours is refused."""
    text = metadata.get("varlen.version")
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise error_of(FileFormatError, "", f"metadata varlen.version: {text!r} is not a version")
    if int(text) > VERSION:
        raise error_of(
            FileFormatError,
            "",
            f"written as version {text}; this varlen reads up to {VERSION}, take a newer one",
        )
    return int(text)


def decode_metadata(metadata: Mapping[str, str]) -> Metadata:
    """The schema that a file's metadata holds; unknown entries are ignored.

    >>> decode_metadata({"varlen.version": "1", "varlen.schema": '{"row_ids": "id"}'}).row_ids
    'id'
    """
    version = check_version(metadata)
    if version is None:
        return Metadata()
    schema = load_json(metadata.get("varlen.schema", "{}"), "metadata varlen.schema")
    keys = schema.get("keys", {}) if isinstance(schema, dict) else None
    row_ids = schema.get("row_ids") if isinstance(schema, dict) else None
    if not isinstance(keys, dict) or not (row_ids is None or isinstance(row_ids, str)):
        raise error_of(FileFormatError, "", "metadata varlen.schema: not an object with keys and row_ids")
    dtypes, intents = {}, {}
    for name, entry in keys.items():
        if not isinstance(entry, dict) or not isinstance(entry.get("dtype", ""), str):
            raise error_of(
                FileFormatError, "", f"metadata varlen.schema: key {name!r} is not an object with a dtype"
            )
        dtypes[name] = entry.get("dtype", "")
        if isinstance(entry.get("column"), dict):
            intents[name] = entry["column"]
    prefix = "varlen.vocabulary."
    words = {key[len(prefix) :]: value for key, value in metadata.items() if key.startswith(prefix)}
    return Metadata(version, dtypes, row_ids, words, intents)


def encode_metadata(
    fields: Mapping[str, np.dtype],
    vocabularies: Mapping[str, Sequence[str]],
    row_ids: str | None,
    extra: Mapping[str, str] | None,
    intents: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, str]:
    """The metadata of a file with these keys: all that `decode_metadata` reads, and additions."""
    out = {"format": "varlen", "varlen.version": str(VERSION)}
    description: dict[str, Any] = {
        "keys": {name: {"dtype": str(dtype.newbyteorder("="))} for name, dtype in sorted(fields.items())}
    }
    for name, column in (intents or {}).items():
        if name in fields:
            description["keys"][name]["column"] = dict(column)
    if row_ids is not None:
        description["row_ids"] = row_ids
    out["varlen.schema"] = json.dumps(description, ensure_ascii=False, separators=(",", ":"))
    size = 0
    for name, words in sorted(vocabularies.items()):
        text = json.dumps(list(words), ensure_ascii=False, separators=(",", ":"))
        out[f"varlen.vocabulary.{name}"] = text
        size += len(text)
        if size > _MAX_VOCABULARY:
            raise value_error(
                "",
                f"vocabulary of {name!r}: the vocabularies take over {_MAX_VOCABULARY} bytes, more than a "
                "header holds",
                "store ids, and the strings in a file of their own",
            )
    return out | check_metadata(extra)


def check_metadata(metadata: Mapping[str, str] | None) -> dict[str, str]:
    """The users' own strings in a header, checked."""
    texts = {} if metadata is None else dict(as_mapping(metadata, "metadata", "keys to strings"))
    for key, value in texts.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise type_error("metadata", f"expected strings, got {key!r}: {value!r}")
        if key == "format" or key.startswith("varlen."):
            raise value_error("metadata", f"{key!r} is a key of varlen's own")
    return texts


def id_dtype(words: int) -> np.dtype:
    """The smallest dtype for the ids of this many words.

    >>> id_dtype(256), id_dtype(257)
    (dtype('uint8'), dtype('uint16'))
    """
    return np.min_scalar_type(max(words - 1, 0))


def union_of_words(vocabularies: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """One vocabulary for several: the words of the first, then new ones.

    >>> union_of_words([("a", "b"), ("c", "a")])
    ('a', 'b', 'c')
    """
    return tuple(dict.fromkeys(itertools.chain.from_iterable(vocabularies)))


def ids_of_words(words: Sequence[str], vocabulary: Sequence[str]) -> Array:
    """The ids of words in a vocabulary that has them.

    >>> ids_of_words(("c", "a"), ("a", "b", "c"))
    array([2, 0], dtype=uint8)
    """
    place = {word: i for i, word in enumerate(vocabulary)}
    return np.array([place[word] for word in words], id_dtype(len(place)))


def encode_strings(array: Array, id_map: dict[str, int]) -> Array:
    """Ids of an array of strings; new words get the next ids in `id_map`.

    >>> words = {"a": 0}
    >>> encode_strings(np.array(["b", "a", "b"]), words), words
    (array([1, 0, 1]), {'a': 0, 'b': 1})
    """
    # A set of the distinct words first: vocabularies are small beside the data.
    distinct, first, inverse = np.unique(array, return_index=True, return_inverse=True)
    ids = np.empty(len(distinct), np.int64)
    for i in np.argsort(first, kind="stable"):
        ids[i] = id_map.setdefault(str(distinct[i]), len(id_map))
    return ids[inverse.reshape(array.shape)] if len(distinct) else np.zeros(array.shape, np.int64)


def store(name: str, array: Array, words: dict[str, dict[str, int]]) -> Array:
    """An array as the file holds it: times as int64, strings as ids whose words go into `words`."""
    if array.dtype.kind in "mM":
        if np.datetime_data(array.dtype)[0] == "generic":
            raise type_error(name, "times need a unit, such as datetime64[ns]")
        return np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False)).view(np.int64)
    if array.dtype.kind in "UT":
        return encode_strings(array, words.setdefault(name, {}))
    if array.dtype.kind == "O":
        for position, item in enumerate(array.flat):
            if not isinstance(item, str):
                raise type_error(
                    name, f"position {position} holds {type(item).__name__}, not a string", row=position
                )
        return encode_strings(array, words.setdefault(name, {}))
    return array
