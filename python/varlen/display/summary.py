"""Tables of what numbers and words there are: counts, quantiles, the most frequent words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from varlen.backends.values import readable
from varlen.display.html import cells_html
from varlen.display.text import Column, align, dtype_text

if TYPE_CHECKING:
    from varlen.levels import Levels

__all__ = ["Summary"]

_QUARTILES = {"min": 0.0, "25%": 0.25, "50%": 0.5, "75%": 0.75, "max": 1.0}
_NAMES = ("name", "dtype", "count", "missing", "mean", "std", *_QUARTILES, "most frequent")
_WORDS = 3  # that are named
_BLANK = dict.fromkeys(_NAMES)


class Summary(dict[str, list[Any]]):
    """Columns of a table by name, as `pandas.DataFrame` and `polars.DataFrame` take them.

    A row describes the lengths of a level, or the values of a key. Cells without a meaning hold None.

    Examples
    --------
    >>> vl.Ragged([3, 1, 4], [2, 1]).describe()["mean"]
    [1.5, 2.6666666666666665]
    """

    def __repr__(self) -> str:
        return "\n".join(line.rstrip() for line in align(self._lines(), range(2, len(self) - 1)))

    def _repr_html_(self) -> str:
        return cells_html(self._lines())

    def _lines(self) -> list[list[str]]:
        names = [name for name, cells in self.items() if any(cell is not None for cell in cells)]
        rows = zip(*(self[name] for name in names), strict=True)
        return [names, *([_cell_text(cell) for cell in row] for row in rows)]


def summarize(lengths: Iterable[tuple[str, NDArray[np.int64]]], columns: Iterable[Column]) -> Summary:
    """A row for each level and for each key."""
    rows = [{"name": name, "dtype": "lengths", **_number_figures(values)} for name, values in lengths]
    rows += [
        {"name": column.name, "dtype": dtype_text(column), **_column_figures(column)} for column in columns
    ]
    return Summary({name: [{**_BLANK, **row}[name] for row in rows] for name in _NAMES})


def level_lengths(levels: Levels) -> list[tuple[str, NDArray[np.int64]]]:
    """The lengths of the levels of a container."""
    names = ["lengths"] if len(levels) == 1 else [f"lengths at level {d}" for d in range(len(levels))]
    return [(name, level.lengths) for name, level in zip(names, levels, strict=True)]


def _column_figures(column: Column) -> dict[str, Any]:
    values = np.asarray(readable(column.values)).reshape(-1)
    if column.words is not None:
        return _word_figures(*np.unique(values, return_counts=True), column.words)
    if values.dtype.kind in "US":
        words, counts = np.unique(values, return_counts=True)
        return _word_figures(np.arange(len(words)), counts, words.tolist())
    return _number_figures(values)


def _word_figures(ids: NDArray[Any], counts: NDArray[np.int64], words: Sequence[Any]) -> dict[str, Any]:
    top = np.argsort(-counts, kind="stable")[:_WORDS]
    names = [f"{words[ids[i]]!r} {counts[i]:,}" if 0 <= ids[i] < len(words) else f"id {ids[i]}" for i in top]
    return {"count": int(counts.sum()), "missing": 0, "most frequent": ", ".join(names)}


def _number_figures(values: NDArray[Any]) -> dict[str, Any]:
    kind = values.dtype.kind
    is_time = kind in "mM"
    if kind not in "biufmM":
        return {"count": values.size}
    is_missing = np.isnat(values) if is_time else np.isnan(values) if kind == "f" else np.zeros(0, bool)
    missing = int(is_missing.sum())
    valid = values[~is_missing] if missing else values
    result: dict[str, Any] = {"count": valid.size, "missing": missing}
    if not valid.size:
        return result
    if not is_time:
        with np.errstate(invalid="ignore", over="ignore"):  # of infinities, and of squares
            result |= {"mean": float(valid.mean(dtype=np.float64)), "std": float(valid.std(dtype=np.float64))}
    order = np.sort(valid)  # quartiles of times are times that are there
    result |= {name: _quantile(order, share, is_time) for name, share in _QUARTILES.items()}
    return result


def _quantile(order: NDArray[Any], share: float, is_time: bool) -> Any:
    place = share * (len(order) - 1)
    low = int(place)
    if is_time or place == low:
        return order[low] if is_time else order[low].item()
    one, other = float(order[low]), float(order[low + 1])
    return one + (place - low) * (other - one)


def _cell_text(cell: Any) -> str:
    if cell is None:
        return ""
    return f"{cell:,}" if type(cell) is int else f"{cell:.5g}" if isinstance(cell, float) else str(cell)
