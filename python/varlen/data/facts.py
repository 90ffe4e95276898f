"""What a state says of the lengths of its rows, and where they are not what they were."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__: list[str] = []

Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]

_BLOCKS = 16

#: Facts that are not compared as they are; most tell where a change is.
MARKS = ("moments", "blocks", "sources", "words")

#: The name of the digests of rows, which say nothing to a reader.
DIGESTS = "a few rows"

#: Rows that a state knows the values of.
_LOOKED_AT = 16


def facts_of(lengths: Ints) -> dict[str, Any]:
    """Their number, sum and digest; and two moments and the digests of blocks, by which a change is placed.

    >>> facts_of(np.array([3, 1]))["tokens"]
    4
    """
    places = np.arange(len(lengths), dtype=np.uint64)
    weights = lengths.astype(np.uint64)
    blocks = "".join(digest_of(lengths[begin:end], 2) for begin, end in _block_bounds(len(lengths)))
    return {
        "rows": len(lengths),
        "tokens": int(lengths.sum()),
        "lengths": digest_of(lengths, 8),
        "moments": [int((places * weights).sum()), int((places * places * weights).sum())],  # modulo 2**64
        "blocks": blocks,
    }


def rows_to_look_at(count: int, limit: int = _LOOKED_AT) -> list[int]:
    """Rows that are spread over all."""
    rows: list[int] = np.unique(np.linspace(0, max(count - 1, 0), limit).astype(np.int64)).tolist()
    return rows[:count]


def digest_of(array: np.ndarray[Any, np.dtype], size: int) -> str:
    """A digest of the bytes of an array."""
    return hashlib.blake2b(np.ascontiguousarray(array).tobytes(), digest_size=size).hexdigest()


def facts_of_words(words: Sequence[str]) -> list[Any]:
    """Their number and a digest, by which a state knows the ids of a vocabulary.

    >>> facts_of_words(("a",))[0]
    1
    """
    text = json.dumps(words).encode()
    return [len(words), hashlib.blake2b(text, digest_size=8).hexdigest()]


def place_change(theirs: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    """Which row has another length, where one alone has, or between which rows the first is; or nothing.

    >>> place_change(facts_of(np.array([3, 1])), facts_of(np.array([3, 2])))
    '; row 1 is 1 longer'
    """
    try:
        for name, facts in own.get("sources", {}).items():
            if facts["lengths"] != theirs["sources"][name]["lengths"]:
                return f"{place_change(theirs['sources'][name], facts)} in {name!r}"
        change = own["tokens"] - theirs["tokens"]
        first, second = (_wrap(a - b) for a, b in zip(own["moments"], theirs["moments"], strict=True))
        # One change of `change` at a row gives the moments row * change and row**2 * change.
        row = first // change if change else -1
        if 0 <= row < own["rows"] and row * change == first and _wrap(row * row * change) == second:
            return f"; row {row} is {abs(change)} {'longer' if change > 0 else 'shorter'}"
        bounds = _block_bounds(own["rows"])
        width = len(own["blocks"]) // max(len(bounds), 1)
        for i, (begin, end) in enumerate(bounds):
            part = slice(i * width, (i + 1) * width)
            if own["blocks"][part] != theirs["blocks"][part]:
                return f"; the first row that differs is one of {begin} to {end - 1}"
    except (KeyError, TypeError, ValueError):
        pass  # a state without them
    return ""


def _wrap(number: int) -> int:
    """A number modulo 2**64, between -2**63 and 2**63."""
    return (number + 2**63) % 2**64 - 2**63


def _block_bounds(count: int) -> list[tuple[int, int]]:
    edges = np.unique(np.linspace(0, count, _BLOCKS + 1).astype(np.int64)).tolist()
    return list(itertools.pairwise(edges))
