"""Vocabularies of a conversion: learned on the way or given, with reserved words."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from varlen.arguments import PADDING, new_words
from varlen.errors import error_of, value_error, with_fields

if TYPE_CHECKING:
    from varlen.io import Account

__all__ = ["UnknownWord", "Vocabularies", "read_vocabularies", "unknown_word"]

_MOST_PLACES = 3


class UnknownWord(ValueError):
    """An error about a word that its vocabulary lacks, or that is reserved, and the value's number."""

    reason: str
    advice: str = ""
    index: int


def unknown_word(reason: str, index: int, advice: str = "") -> UnknownWord:
    """The record of a word, the value at `index`."""
    return with_fields(error_of(UnknownWord, "", reason, advice), index=index)


class Vocabularies:
    """Ids of the words of each key."""

    def __init__(
        self,
        specials: Sequence[str] = (),
        unknown: str | None = None,
        vocabularies: dict[str, list[str]] | None = None,
        null_word: str | None = None,
        *,
        padding: bool = False,
        row_ids: str | None = None,
    ) -> None:
        self._adds_padding = padding and PADDING not in specials
        self._row_ids = row_ids
        self._reserved_words = list(specials)
        self._unknown = unknown
        self._user_words = vocabularies or {}
        self.null_word = null_word
        marks = {*specials, *[PADDING] * self._adds_padding, *([unknown] if unknown is not None else [])}
        self._closed_keys = marks - {null_word}
        self._words: dict[str, dict[str, int]] = {}
        self._unknown_words: dict[str, set[str]] = {}
        self._unknown_values: dict[str, int] = {}
        self._unknown_at: dict[str, int] = {}  # the first value of the last piece, until it has a place
        self._unknown_rows: dict[str, tuple[int, str]] = {}
        self._unknown_places: dict[str, list[str]] = {}

    def __contains__(self, key: object) -> bool:
        return key in self._words

    @property
    def keys(self) -> list[str]:
        """Keys that have words."""
        return list(self._words)

    @property
    def row_ids(self) -> str | None:
        """The key whose words identify records."""
        return self._row_ids

    @property
    def user_keys(self) -> list[str]:
        """Keys whose words come from outside."""
        return list(self._user_words)

    def words_of(self, key: str) -> list[str]:
        """The words of a key, by their ids."""
        return list(self._words[key])

    def is_given(self, key: str) -> bool:
        """Whether the words of this key come from outside."""
        return key in self._user_words

    def begin(self, key: str) -> dict[str, int]:
        """The words of a key with their ids; a new key gets a new vocabulary."""
        if key not in self._words:
            first_words = [*new_words(key, self._adds_padding, self._row_ids), *self._reserved_words]
            words = {word: i for i, word in enumerate(self._user_words.get(key, first_words))}
            if key in self._user_words and self._unknown is not None and self._unknown not in words:
                raise value_error(key, f"--unknown {self._unknown!r} is not in the vocabulary given")
            self._words[key] = words
        return self._words[key]

    def begin_pass(self) -> None:
        """Counts unknown words anew."""
        self._unknown_words.clear()
        self._unknown_values.clear()
        self._unknown_places.clear()

    def encode(self, key: str, words: Sequence[str], ids: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
        """Ids into `words` as ids of the key."""
        id_map = self.begin(key)
        is_given = key in self._user_words
        table = np.empty(len(words), np.int64)
        unknown: list[int] = []
        for i, word in enumerate(words):
            if word in self._closed_keys and not (is_given and word == PADDING and word in id_map):
                hint = "--no-padding-id takes it" if word == PADDING and self._adds_padding else ""
                raise unknown_word(f"the word {word!r} is reserved", _first(ids, i), hint)
            number = id_map.get(word)
            if number is None and is_given:
                if self._unknown is None:
                    text = f"the word {word!r} is not in the vocabulary given"
                    raise unknown_word(text, _first(ids, i), "see --unknown")
                unknown.append(i)
                number = id_map[self._unknown]
            table[i] = id_map.setdefault(word, len(id_map)) if number is None else number
        if unknown:
            self._unknown_words.setdefault(key, set()).update(words[i] for i in unknown)
            count = int(np.isin(ids, unknown).sum())
            if count and len(self._unknown_places.get(key, ())) < _MOST_PLACES:
                index = int(np.isin(ids, unknown).argmax())
                self._unknown_at[key] = index
                self._unknown_rows[key] = index, words[int(ids[index])]
            self._unknown_values[key] = self._unknown_values.get(key, 0) + count
        out: npt.NDArray[np.int64] = table[ids]
        return out

    def add(self, other: Vocabularies) -> None:
        """Adds the words of a later part, and its counts of unknown ones."""
        for key, words in other._words.items():
            own = self.begin(key)
            for word in words:
                own.setdefault(word, len(own))
        for key, unknown in other._unknown_words.items():
            self._unknown_words.setdefault(key, set()).update(unknown)
            self._unknown_values[key] = self._unknown_values.get(key, 0) + other._unknown_values[key]

    @property
    def state(self) -> dict[str, Any]:
        """What was learned, as JSON has it."""
        unknown = {key: [*words] for key, words in self._unknown_words.items()}
        words = {key: [*own] for key, own in self._words.items()}
        return {
            "words": words,
            "unknown": unknown,
            "values": self._unknown_values,
            "at": self._unknown_places,
        }

    def with_state(self, state: Mapping[str, Any]) -> Vocabularies:
        """A copy that has learned this instead."""
        out = copy.copy(self)
        out._words = {key: {word: i for i, word in enumerate(own)} for key, own in state["words"].items()}
        out._unknown_words = {key: {*words} for key, words in state["unknown"].items()}
        out._unknown_values, out._unknown_places = {**state["values"]}, {**state["at"]}
        out._unknown_at, out._unknown_rows = {}, {}
        return out

    def place(self, key: str, row_of: Callable[[int], int]) -> None:
        """Sets the rows of the values of the key that were encoded last."""
        if (index := self._unknown_at.pop(key, None)) is not None:
            self._unknown_rows[key] = row_of(index), self._unknown_rows[key][1]

    def locate(self, locate: Callable[[int], str]) -> None:
        """Sets the places of the last piece's rows, for its unknown words."""
        for key, (row, word) in self._unknown_rows.items():
            self._unknown_places.setdefault(key, []).append(f"{locate(row)}: {word!r}")
        self._unknown_rows.clear()
        self._unknown_at.clear()

    def account_for(self, account: Account) -> None:
        """Adds the values that became the unknown word."""
        for key, count in self._unknown_values.items():
            first = self._unknown_places.get(key, ())
            account.change(key, f"words outside the vocabulary became {self._unknown!r}", count, 0, first)

    def summary(self) -> list[str]:
        """A line for each key with words that its vocabulary lacks."""
        return [
            f"{key}: {self._unknown_values[key]:,} values of {len(words):,} words outside the vocabulary "
            f"became {self._unknown!r}"
            for key, words in self._unknown_words.items()
        ]


def _first(ids: npt.NDArray[np.integer], i: int) -> int:
    hits = np.flatnonzero(ids == i)
    return int(hits[0]) if len(hits) else 0


def read_vocabularies(items: Sequence[str]) -> dict[str, list[str]]:
    """The words of ``FILE`` or ``KEY=FILE``: a ``.nrt`` file, shards, JSON, or text with a word a line."""
    out: dict[str, list[str]] = {}
    for item in items:
        key, _, name = item.partition("=") if "=" in item and not Path(item).exists() else ("", "", item)
        path = Path(name)
        if not path.exists():
            raise FileNotFoundError(f"--vocabulary: {path}: no such file")
        vocabularies = _words_in(path, key)
        if key and key not in vocabularies:
            raise value_error(
                f"--vocabulary: {path}", f"no words of {key!r}; it has those of {', '.join(vocabularies)}"
            )
        for one in [key] if key else vocabularies:
            words = vocabularies[one]
            if len(set(words)) < len(words):
                repeat = next(word for i, word in enumerate(words) if word in words[:i])
                raise value_error(f"--vocabulary: {path}", f"the word {repeat!r} comes twice")
            out[one] = words
    return out


def _words_in(path: Path, key: str) -> dict[str, list[str]]:
    kind = path.suffix.lower()
    if path.is_dir() or kind in (".nrt", ".safetensors"):
        from varlen import io

        shards = io.open_shards(path)
        vocabularies = {  # the ids of its rows are no words of other rows, unless they are asked for
            name: list(field.vocabulary)
            for name, field in shards.fields.items()
            if field.vocabulary is not None and (name == key or name != shards.row_ids)
        }
        if not vocabularies:
            raise value_error(f"--vocabulary: {path}", "no key has a vocabulary")
        return vocabularies
    if kind == ".json":
        content = json.loads(path.read_text("utf-8"))
        if isinstance(content, list) and key:
            content = {key: content}
        if not isinstance(content, dict) or not all(_are_words(words) for words in content.values()):
            raise value_error(f"--vocabulary: {path}", "expected an object of keys to lists of words")
        return content
    if not key:
        raise value_error(f"--vocabulary: {path}", f"a list of words needs its key, as in code={path}")
    return {key: path.read_text("utf-8").splitlines()}


def _are_words(words: object) -> bool:
    return isinstance(words, list) and all(isinstance(word, str) for word in words)
