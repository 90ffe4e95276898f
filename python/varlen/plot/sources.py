"""Levels and lengths of everything that has them."""

from __future__ import annotations

import os
from typing import Any

from varlen._core import Level
from varlen.arguments import SMALLEST, as_array, as_int
from varlen.data import Dataset, Sampler
from varlen.dims import Data
from varlen.errors import dtype_error, error_of, instance_error, type_error, value_error
from varlen.joint import JointNestedRaggedTensorDict
from varlen.levels import Levels
from varlen.types import Packed, Padded, Ragged

__all__: list[str] = []

EXPECTED = "a Ragged, Data, joint dict, Dataset or lengths"


def levels_of(source: Any, key: str | None = None) -> Levels:
    """All levels, outermost first; `key` says how deep those of a joint dict or Dataset go."""
    if isinstance(source, (Dataset, JointNestedRaggedTensorDict)):
        return _levels_of_keys(source, key)
    if key is not None:
        raise type_error("key", f"only a joint dict and a Dataset have keys, got {type(source).__name__}")
    if isinstance(source, Level):
        return (source,)
    if isinstance(source, (Ragged, Data)):
        levels: Levels = source.levels
        if not levels:
            raise value_error("source", f"no dim of {source!r} is ragged")
        return levels
    if isinstance(source, (Padded, Packed, Sampler)):
        return (Level.from_lengths(source.lengths),)
    return (_level_of_numbers(source),)


def _levels_of_keys(source: Dataset | JointNestedRaggedTensorDict, key: str | None) -> Levels:
    is_joint = isinstance(source, JointNestedRaggedTensorDict)
    if key is not None and key not in source.keys():  # noqa: SIM118 - `in` of these asks for rows, too
        raise error_of(KeyError, "key", f"there is no {key!r}; there are {', '.join(sorted(source.keys()))}")
    if isinstance(source, JointNestedRaggedTensorDict):
        joint = source._view()
        dims = [d for name, d in zip(joint.names, joint.dims, strict=True) if key in (None, name)]
        levels = tuple([joint.level(d) for d in range(1, max(dims, default=0) + 1)])
    else:
        depth = source.depth if key is None else source.fields[key].dim
        levels = tuple(source._levels(depth))
    if not levels:
        what = f"key {key!r} has" if key is not None else "all keys have"
        hint = "; a single record has no lengths" if is_joint and key is None else ""
        raise value_error("source", f"{what} one value a row, and no lengths{hint}")
    return levels


def _level_of_numbers(source: Any) -> Level:
    if isinstance(source, (str, bytes, dict)) or not hasattr(source, "__len__"):
        advice = "vl.open(path) opens files" if isinstance(source, (str, os.PathLike)) else ""
        raise instance_error("source", EXPECTED, source, advice)
    numbers = as_array(source, "source", EXPECTED)
    if numbers.size == 0 and not hasattr(source, "dtype"):
        numbers = numbers.astype(int)
    if numbers.dtype.kind not in "iu":
        raise dtype_error("source", f"{EXPECTED}", f"an array of {numbers.dtype}")
    if numbers.ndim != 1:
        raise value_error("source", f"expected one length for each sequence, got shape {numbers.shape}")
    return Level.from_lengths(numbers)


def number_of(level: int, levels: Levels) -> int:
    """The number of a level, counted from 0; negative ones from the innermost."""
    number = as_int(level, "level", SMALLEST)
    if not -len(levels) <= number < len(levels):
        raise value_error("level", f"{number} is out of range for {len(levels)} levels", number=number)
    return number % len(levels)
