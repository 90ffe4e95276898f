"""Samples as mappings: rows of columns, and samples with fields instead of keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from varlen.errors import type_error, value_error

__all__: list[str] = []


def rows_of_columns(columns: Mapping[Any, Any]) -> list[Any]:
    """Samples from the values of all by their keys, as a slice of `datasets` and a tokenizer have them."""
    items: dict[Any, list[Any]] = {}
    for key, column in columns.items():
        is_text = isinstance(column, (str, bytes))
        if is_text or not isinstance(column, Iterable) or getattr(column, "ndim", 1) == 0:
            raise type_error(
                "samples",
                f"expected a list of samples, or columns of many; {key!r} is {type(column).__name__}",
            )
        items[key] = column.to_list() if hasattr(column, "to_list") else list(column)
    counts = {key: len(column) for key, column in items.items()}
    if len(set(counts.values())) > 1:
        raise value_error("samples", f"columns have a value for each sample, their lengths are {counts}")
    return [dict(zip(items, row, strict=True)) for row in zip(*items.values(), strict=True)]


def is_frame(value: object) -> bool:
    """Whether a value is a frame of pandas or Polars, without importing them."""
    return hasattr(value, "to_dict") and hasattr(value, "columns")


def frame_as_columns(samples: Any) -> Any:
    """A frame of pandas or Polars as lists by its names, with None for what is missing among objects."""
    if not is_frame(samples):
        return samples
    if type(samples).__module__.startswith("polars."):
        return samples.to_dict(as_series=False)
    return {name: _with_none(samples[name]) for name in samples.columns}


def rows_of_frames(frames: Iterable[object]) -> list[Any]:
    """The rows of frames, one frame after the other: `datasets` give one of one row for each sample."""
    return [row for frame in frames for row in rows_of_columns(frame_as_columns(frame))]


def _with_none(column: Any) -> list[Any]:
    """The values of a column of pandas: NaN of floats is a number, what other columns lack is None."""
    values: list[Any] = column.tolist()
    if not column.hasnans or (column.dtype.kind == "f" and isinstance(column.dtype, np.dtype)):
        return values
    return [None if missing else value for value, missing in zip(values, column.isna(), strict=True)]


def as_mappings(samples: list[Any]) -> list[Any]:
    """Samples with fields, named tuples and dataclasses, as mappings; all others as they are."""
    return samples if isinstance(samples[0], Mapping) else [_as_mapping(sample) for sample in samples]


def _as_mapping(sample: object) -> Any:
    if isinstance(sample, tuple) and hasattr(sample, "_fields"):
        return dict(zip(sample._fields, sample, strict=True))
    if is_dataclass(sample) and not isinstance(sample, type):
        return {field.name: getattr(sample, field.name) for field in fields(sample)}
    return sample
