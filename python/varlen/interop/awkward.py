"""Arrays of awkward to columns, over the same memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from varlen._core import level_from_arrow
from varlen.interop.column import Column
from varlen.interop.nulls import FIELD

__all__: list[str] = []


def is_awkward(data: object) -> bool:
    """Whether it is an array of awkward, without importing that."""
    kind = type(data)
    return kind.__module__.split(".")[0] == "awkward" and hasattr(data, "layout")


def columns_of_layout(layout: Any, name: str) -> dict[str, Column] | None:
    """The columns of lists, records and numbers; None where there is something else, such as an option."""
    kind = type(layout).__name__
    if layout.parameters.get("__array__") is not None:  # text and the like
        return None
    if kind in ("ListOffsetArray", "ListArray"):
        if kind == "ListArray":
            layout = layout.to_ListOffsetArray64(False)
        offsets = layout.offsets.data
        offsets = np.ascontiguousarray(offsets, np.int32 if offsets.dtype == np.int32 else np.int64)
        width, count = offsets.itemsize, len(layout)
        level, first = level_from_arrow(offsets.view(np.uint8), width, 0, count, len(layout.content))
        columns = columns_of_layout(layout.content[first : first + level.total], name)
        if columns is None:
            return None
        return {key: replace(column, levels=(level, *column.levels)) for key, column in columns.items()}
    if kind == "RecordArray" and not layout.is_tuple:
        fields: dict[str, Column] = {}
        for field in layout.fields:
            columns = columns_of_layout(layout.content(field), f"{name}{FIELD}{field}" if name else field)
            if columns is None:
                return None
            fields |= columns
        return fields
    if kind == "NumpyArray" and isinstance(layout.data, np.ndarray):
        return {name: Column(np.require(layout.data, requirements=("C", "A")))}
    return None


def as_arrow(data: Any) -> Any:
    """The array of pyarrow that awkward makes."""
    import awkward as ak

    return ak.to_arrow(data, extensionarray=False, list_to32=False)
