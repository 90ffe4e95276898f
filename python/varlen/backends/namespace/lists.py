"""Lists of arrays to one array, and one to lists of arrays."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level, on_tensors
from varlen.backends.namespace.library import LibraryVerbs, at_device
from varlen.backends.nested import flat_parts, nested_rows
from varlen.backends.numpy.concat import promote_dtypes
from varlen.errors import value_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from varlen.levels import Levels


class Lists(LibraryVerbs):
    """Arrays of a library laid end to end."""

    if TYPE_CHECKING:
        cast: Callable[..., Any]
        assign: Callable[..., Any]
        pad: Callable[..., Any]
        ragged2padded: Callable[..., Any]
        views: Callable[..., Any]

    @at_device
    def concat(self, values: list[Any], axis: int = 0, argument: str = "values") -> Any:
        """Arrays one after another, those of NumPy among them too, of the dtype that holds all."""
        return self.xp.concatenate(self._match_first(values, argument), axis)

    def interleave(self, values: list[Any], levels: list[Level], argument: str) -> tuple[Any, Level]:
        """Sequence i of every part, end to end, and their level."""
        pair: tuple[Any, Level] = on_tensors(
            _core.interleave, self._match_first(values, argument), list(levels)
        )
        return pair

    def _match_first(self, values: list[Any], argument: str) -> list[Any]:
        first = self.first(values)
        return [self.like(x, first) for x in promote_dtypes(list(values), argument)]

    def from_list(self, data: Any, dtype: Any = None) -> tuple[Any, Levels]:
        """Nested lists of arrays, end to end, and their levels; a list of scalars is a sequence too."""
        if isinstance(data, self.type):  # its rows are sequences
            data = list(data)
        name = self.xp.__name__
        rows, levels = nested_rows(data, self.type, f"an array of {name}", f"arrays of {name}")
        join = self.xp.stack if rows and rows[0].ndim == 0 else self.xp.concatenate
        with self.library.device_of(self.first(rows)):
            values = join(promote_dtypes(rows, "data"))
        return values if dtype is None else self.cast(values, dtype, "data"), levels

    def list2ragged(self, arrays: Any, dtype: Any = None, out: Any = None) -> tuple[Any, Levels]:
        """Arrays end to end, and their level."""
        values, levels = self.from_list(arrays, dtype)
        return values if out is None else self.assign(out, values), levels

    def ragged2list(self, values: Any, levels: Any) -> list[Any]:
        """Each sequence as a view; lists of lists of views where there is more than one level."""
        levels = (levels,) if isinstance(levels, Level) else levels
        offsets = levels[-1].offsets
        rows: list[Any] = self.views(values, offsets[:-1], offsets[1:])
        for level in reversed(levels[:-1]):
            rows = [rows[a:b] for a, b in pairwise(level.offsets.tolist())]
        return rows

    def list2dense(
        self,
        arrays: Any,
        pad_to_multiple: int = 1,
        fill: Any = 0,
        padding_side: str = "right",
        max_len: int | None = None,
        truncate: str = "right",
        mask: bool = False,
        out: Any = None,
        dtype: Any = None,
        max_bytes: int | None = None,
    ) -> Any:
        """Arrays of different lengths as one rectangle, or that and its mask."""
        values, levels = self.from_list(arrays, dtype)
        options = (max_len, truncate, out, None, pad_to_multiple, max_bytes)
        return self.pad(values, levels, padding_side, fill, mask, *options)

    def list2padded(
        self, seqs: Any, ties: str = "reversed", fill: Any = None, max_bytes: int | None = None
    ) -> tuple[Any, Any, Any, Any]:
        """Arrays side by side, time-major, the longest first: the block, size_at_t, lengths and indices."""
        if not len(seqs):
            _, *counts = _core.list2padded([], ties, fill, max_bytes)
            return self.xp.zeros((0, 0, 0), np.float32), *counts
        values, levels = self.from_list(seqs)
        if len(levels) > 1:
            raise value_error("seqs", f"expected a list of arrays, got lists nested {len(levels)} deep")
        fields: tuple[Any, Any, Any, Any] = self.ragged2padded(values, levels[0], ties, fill, max_bytes)
        return fields

    def flatten(self, X: Any, dtype: Any = None, pad: int = 0) -> Any:
        """Arrays end to end on their first axis, with rows of zeros between them where a pad is given."""
        parts = flat_parts(X, self.type, f"an array of {self.xp.__name__}")
        first = parts[0]
        with self.library.device_of(first):
            if pad and any(len(part) for part in parts):
                gap = self.xp.zeros((pad, *first.shape[1:]), first.dtype)
                parts = [gap, *(piece for part in parts if len(part) for piece in (part, gap))]
            result = self.xp.concatenate(promote_dtypes(parts, "X"))
        return result if dtype is None else self.cast(result, dtype, "X")
