"""Dims as text for the metadata of a file: their parts and their lengths, each once."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Level
from varlen.dims.make import check_dims
from varlen.dims.vocabulary import Vocabulary
from varlen.errors import instance_error, value_error

if TYPE_CHECKING:
    from collections.abc import Sequence


_VERSION = 1
_SORTS = {"quotient": (2, 3), "sum": (1, 2), "product": (1, 2), "multiple": (2,)}


def write_dims(dims: Iterable[Dim]) -> str:
    """Write dims as JSON, for a file's metadata.

    Dims that share parts or lengths share them in the text too. Each name has an id that is unique across
    processes, so dims that come from the same Dim are equal across files.

    Parameters
    ----------
    dims
        Any dims, derived ones too.

    Returns
    -------
    str
        JSON for `read_dims`. Lengths on a device are waited for.

    Examples
    --------
    >>> time = Dim("time", lengths=[3, 0, 2])
    >>> text = write_dims([time, 2 * time + 1])
    >>> read_dims(text) == [time, 2 * time + 1]
    True
    """
    writer = _Writer()
    places = [writer.dim(dim) for dim in check_dims(dims)]
    return json.dumps(
        {
            "version": _VERSION,
            "dims": places,
            "all": writer.dims,
            "words": writer.words,
            "factors": writer.factors,
            "lengths": writer.lengths,
        },
        separators=(",", ":"),
    )


def read_dims(text: str) -> list[Dim]:
    """Read the dims that `write_dims` wrote.

    Parameters
    ----------
    text
        JSON, from a file that may be damaged: each part of it is checked.

    Returns
    -------
    list of Dim
        The dims in their order. They equal the ones that were written, if these are still in use, and the
        ones read from other files. Lengths that shared a Level share it again.

    Raises
    ------
    TypeError
        The text is not a str.
    ValueError
        The text is not a table of dims, or a name is already in use with another size or kind.

    Examples
    --------
    >>> time = Dim("time", lengths=[3, 0, 2])
    >>> a, b = read_dims(write_dims([time, time + 1]))
    >>> a.level is b.derived_from.level, (b - 1).lengths
    (True, array([3, 0, 2]))
    """
    if not isinstance(text, str):
        raise instance_error("text", "str", text)
    try:
        table = json.loads(text)
        if table["version"] != _VERSION:
            raise value_error("", f"version {table['version']!r}, expected {_VERSION}")
        reader = _Reader(table)
        return [reader.dims[_place(k, len(reader.dims))] for k in table["dims"]]
    except RecursionError:
        raise value_error("text", "expected a table of dims: nested too deep") from None
    except (KeyError, TypeError, IndexError, OverflowError, ValueError) as error:
        raise value_error("text", f"expected a table of dims: {error}") from None


class _Writer:
    """Parts before what is made of them; each is named by its place."""

    def __init__(self) -> None:
        self.dims: list[Any] = []
        self.words: list[Any] = []
        self.factors: list[Any] = []
        self.lengths: list[list[int]] = []
        self._places: dict[Any, int] = {}
        self._levels: list[Level] = []  # so that none of them gets the address of one that died

    def dim(self, dim: Dim) -> int:
        word, bindings, name, priority = dim._state()
        bound = [
            [self.word(w), [self.dim(d) for d in outer_dims], self.level(level)]
            for w, outer_dims, level in bindings
        ]
        return self._put(self.dims, [self.word(word), bound, name, priority])

    def word(self, word: tuple[Any, ...]) -> int:
        terms = [t if isinstance(t, int) else [t[0], self.factor(t[1]), self.word(t[2])] for t in word]
        return self._put(self.words, terms)

    def factor(self, factor: tuple[Any, ...]) -> int:
        sort, *rest = factor
        if sort == "name":
            high, low, name, kind, size, vocab = rest
            labels = vocab and [list(vocab.labels), vocab.unknown, vocab.bos, vocab.eos]
            return self._put(self.factors, [sort, f"{high:016x}{low:016x}", name, kind, size, labels])
        return self._put(self.factors, [sort, *(self.word(r) if isinstance(r, tuple) else r for r in rest)])

    def level(self, level: Level) -> int:
        self._levels.append(level)
        return self._put(self.lengths, level.lengths.tolist(), ("level", id(level)))

    def _put(self, rows: list[Any], row: Any, key: Any = None) -> int:
        key = key or (id(rows), json.dumps(row))
        if key not in self._places:
            rows.append(row)
            self._places[key] = len(rows) - 1
        return self._places[key]


def _place(place: object, count: int) -> int:
    if not isinstance(place, int) or not 0 <= place < count:
        raise value_error("", f"place {place!r} among {count}")
    return place


class _Reader:
    """Each part is looked up by its place, and made once."""

    def __init__(self, table: dict[str, Any]) -> None:
        self._levels = [Level(np.array(numbers, np.int64)) for numbers in table["lengths"]]
        self._words: dict[int, Any] = {}
        self._factors: dict[int, Any] = {}
        self._table = table
        self.dims: list[Dim] = []
        for word, bindings, name, priority in table["all"]:
            bound = tuple(
                (
                    self.word(w),
                    tuple(self.dims[_place(d, len(self.dims))] for d in outer_dims),
                    self.level(level),
                )
                for w, outer_dims, level in bindings
            )
            self.dims.append(Dim._restored((self.word(word), bound, name, priority)))

    def level(self, place: object) -> Level:
        return self._levels[_place(place, len(self._levels))]

    def word(self, place: Any) -> Any:
        terms = self._table["words"][_place(place, len(self._table["words"]))]
        if place not in self._words:
            self._words[place] = tuple(
                t if isinstance(t, int) else (t[0], self.factor(t[1]), self.word(t[2])) for t in terms
            )
        return self._words[place]

    def factor(self, place: Any) -> Any:
        sort, *rest = self._table["factors"][_place(place, len(self._table["factors"]))]
        if place not in self._factors:
            self._factors[place] = (
                sort,
                *(self._name(*rest) if sort == "name" else self._restore_words(sort, rest)),
            )
        return self._factors[place]

    def _name(self, number: str, name: str, kind: str, size: int, labels: Any) -> tuple[Any, ...]:
        bits = int(number, 16)
        vocab = None if labels is None else Vocabulary(*labels)
        return bits >> 64, bits & (2**64 - 1), name, kind, size, vocab

    def _restore_words(self, sort: str, rest: Sequence[object]) -> tuple[Any, ...]:
        words = _SORTS[sort]
        return tuple(self.word(r) if k in words else r for k, r in enumerate(rest, 1))
