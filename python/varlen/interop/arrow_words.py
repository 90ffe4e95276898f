"""Texts of Arrow, as ids and a vocabulary, and bytes: the core numbers the words that differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varlen import _core
from varlen.errors import row_error, value_error
from varlen.interop.arrow_part import Part
from varlen.interop.column import Column, Place
from varlen.interop.nulls import Nulls

__all__: list[str] = []

#: The bytes of an offset, or of a view.
TEXTS = {"u": 4, "U": 8, "vu": 16}
BYTES = {"z": 4, "Z": 8, "vz": 16}

Ids = NDArray[np.int64]


def words_of(part: Part, begin: int, end: int, place: Place, nulls: Nulls) -> Column:
    """Texts as ids of their words."""
    ids, words = _number(part, begin, end, place)
    return Column(*_with_word(ids, words, nulls))


def ids_of(ids: Ids, words: Part, place: Place, nulls: Nulls) -> Column:
    """Ids of a dictionary of texts, -1 for nulls; they stay what they are if each word is there once."""
    word_ids, vocabulary = _number(words, 0, words.length, place.map_rows(lambda i: int(np.argmax(ids == i))))
    if len(vocabulary) == words.length:
        values, levels, has = _with_word(ids, vocabulary, nulls)
        return Column(values, levels, has, has_ids=True)
    ids = np.append(word_ids, -1)[ids]
    if nulls.policy == "refuse" and nulls.word is None and (ids < 0).any():
        raise row_error(place.name, "null", place.row_of(int(np.argmax(ids < 0))), advice=nulls.why)
    new_words, first = np.unique(ids[ids >= 0], return_index=True)
    order = new_words[np.argsort(first)]  # as the words come
    new_ids = np.full(len(vocabulary) + 1, -1)
    new_ids[order] = np.arange(len(order))
    return Column(*_with_word(new_ids[ids], [vocabulary[i] for i in order], nulls))


def bytes_of(part: Part, begin: int, end: int, place: Place) -> np.ndarray:
    """Bytes, all of one width; empty where they are missing."""
    ids, words = _number(part, begin, end, place)
    for i, word in enumerate(words):
        if word.endswith(b"\0"):
            why = " ends in a zero, which NumPy's bytes drop"
            raise row_error(place.name, repr(word), place.row_of(int(np.argmax(ids == i))), why)
    return np.array([*words, b""], np.bytes_).take(ids)


def texts_of(column: Column, name: str) -> np.ndarray:
    """The words of a column as text of a fixed width, as lists of strings are."""
    if (column.values < 0).any():
        raise value_error(name, "text has nothing that stands for a null", "pass nulls='fill' and a word")
    words = column.vocabulary or ()
    for word in words:
        if word.endswith("\0"):
            raise value_error(name, f"{word!r} ends in a zero, which NumPy's text drops")
    return np.array([*words, ""]).take(column.values)


def join_words(columns: Sequence[Column]) -> list[Column]:
    """Columns with one vocabulary: that of the first, and what others add."""
    ids = {word: i for i, word in enumerate(columns[0].vocabulary or ())}
    result = []
    for column in columns:
        new_ids = [ids.setdefault(word, len(ids)) for word in column.vocabulary or ()]
        result.append(replace(column, values=np.array([*new_ids, -1], np.int64)[column.values]))
    return [replace(column, vocabulary=tuple(ids)) for column in result]


def _with_word(ids: Ids, words: list[str], nulls: Nulls) -> tuple[Ids, tuple[()], tuple[str, ...]]:
    """Ids and words, and the word that stands for nulls, where there are some; it writes to the ids."""
    word = str(nulls.value) if nulls.word is None and nulls.policy == "fill" else nulls.word
    if word is not None and (missing := ids < 0).any():
        if word not in words:
            words = [*words, word]
        np.putmask(ids, missing, words.index(word))
    return ids, (), tuple(words)


def _number(part: Part, begin: int, end: int, place: Place) -> tuple[Ids, list[Any]]:
    is_text = part.format in TEXTS
    width = TEXTS[part.format] if is_text else BYTES[part.format]
    bits = part.buffers[0] if part.null_count != 0 else None
    places, pieces = part.buffers[1], part.buffers[2:]
    try:
        return _core.words_from_arrow(width, places, pieces, bits, part.offset + begin, end - begin, is_text)
    except ValueError as error:
        fault, row = vars(error)["reason"], vars(error).get("row")
        raise row_error(place.name, fault, place.row_of(row or 0)) from None
