"""Fields of a container as a tuple, as Thinc takes them: (values, lengths), or the four of a Padded.

A tuple may be a batch of sequences as well. Its contents decide: sequences have the same number of axes
and one kind of numbers.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from varlen._core import Level
from varlen.backends.values import as_ints, is_array
from varlen.transforms.kinds import expect
from varlen.types import Padded, Ragged


def is_pair(X: Any) -> bool:
    """Whether a tuple is (values, lengths): a Level after rows, or integers after rows of other numbers."""
    if type(X) is not tuple or len(X) != 2 or not is_array(X[0]) or X[0].ndim == 0:
        return False
    if type(X[1]) is Level:
        return True
    return _are_integers(X[1]) and (X[0].ndim > 1 or not _are_integers(X[0]))


def is_four(X: Any) -> bool:
    """Whether a tuple is (data, size_at_t, lengths, indices): a block, then three integer vectors."""
    if type(X) is not tuple or len(X) != 4 or not is_array(X[0]) or X[0].ndim < 2:
        return False
    return all(map(_are_integers, X[1:]))


def pair_as_ragged(X: tuple[Any, Any]) -> Any:
    """A Ragged of values and lengths, and the way back."""
    values, lengths = X
    ragged = Ragged(
        values, levels=lengths if type(lengths) is Level else Level.from_lengths(as_ints(lengths))
    )
    return ragged, partial(_pair_of_ragged, lengths, ragged._levels[0])


def four_as_padded(X: tuple[Any, ...]) -> Any:
    """A Padded of its four fields, and the way back."""
    padded = Padded(*X)
    return padded, partial(_four_of_padded, X[1:], padded)


def _are_integers(x: Any) -> bool:
    return is_array(x) and x.ndim == 1 and np.asarray(as_ints(x[:0])).dtype.kind in "iu"


def _pair_of_ragged(lengths: Any, level: Level, y: Any) -> tuple[Any, Any]:
    y = expect(Ragged, y)
    if y._levels[0] == level:
        return y._values, lengths
    return y._values, y._levels[0] if type(lengths) is Level else y._levels[0].lengths


def _four_of_padded(fields: tuple[Any, ...], padded: Padded[Any], y: Any) -> tuple[Any, ...]:
    y = expect(Padded, y)
    if y._fields is padded._fields or all(map(np.array_equal, y._fields, padded._fields)):
        return (y._data, *fields)
    return (y._data, *y._fields)
