"""One record over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen.arguments import SMALLEST, as_int, as_list
from varlen.data import Dataset
from varlen.display.text import plural
from varlen.errors import error_of, index_error, instance_error, type_error, value_error
from varlen.joint import JointNestedRaggedTensorDict
from varlen.plot import canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from varlen import _core

    Array = NDArray[Any]

__all__ = ["timeline"]

MOST_EVENTS = 20_000
MOST_WORDS = 8  # of a key that have lanes of their own
DOT_EVENTS = 500  # of a line that have a dot each


_UNITS = {
    "Y": "years",
    "M": "months",
    "W": "weeks",
    "D": "days",
    "h": "hours",
    "m": "minutes",
    "s": "seconds",
}


class Lane(NamedTuple):
    """A key and its values over time: words with lanes of their own, or numbers along one line."""

    key: str
    times: Array
    values: Array
    words: tuple[str, ...] = ()  # `values` are numbers of these


def timeline(
    source: Any,
    time: str = "time",
    *,
    row: int | None = None,
    keys: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one record: its events over time, words as marks and numbers as lines, in lanes by key.

    Parameters
    ----------
    source
        A Dataset or a joint dict, or one row of them; or a dict from keys to the lists of one record.
    time
        The key that says when events are: numbers, datetime64 or timedelta64.
    row
        The row to draw, if there are several; the first by default.
    keys
        The keys to draw, from top to bottom; by default all with a value for each time, or several. Single
        values of the record go into the title.
    ax
        The Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes, with time to the right.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    IndexError
        The row is out of range.
    TypeError, ValueError, KeyError
        The source has no records, a key is missing, or has no value for each time.

    Notes
    -----
    Keys of words, bools and few different integers have a lane for each of their 8 most frequent values.
    Numbers share a lane that is scaled to their range. It draws the first 20,000 values of a key, and the
    title says so.

    Examples
    --------
    >>> visits = {"age": [61], "time": [[0.0, 1.5, 4.0]], "pulse": [[72.0, 88.0, 80.0]]}
    >>> J = vl.JointNestedRaggedTensorDict({**visits, "code": [[[7, 8], [], [7]]]})
    >>> ax = vl.plot.timeline(J)
    >>> ax.get_title(loc="left").splitlines(), [label.get_text() for label in ax.get_yticklabels()]
    (['Row 0: 3 events', 'age 61'], ['88', '72', '7', '8'])
    """
    record, name = _record(source, row, time)
    dims = dict(zip(record.names, record.dims, strict=True))
    words: Mapping[str, Sequence[str]] = (record.meta or {}).get("vocabularies", {})
    if time in words:
        raise type_error("time", f"expected numbers or times in {time!r}, got words")
    when, unit = _times(record.values(time), time)
    names = _keys(dims, time, keys)
    lanes = [lane for key in names if (lane := _lane(record, key, dims, time, when, words.get(key)))]
    if keys is not None and len(lanes) < len(names):
        missing = next(key for key in names if key not in {lane.key for lane in lanes})
        raise value_error("keys", f"{missing!r} has rows of several numbers, and no line of its own")
    lanes = lanes or [Lane("", when, np.zeros(len(when), np.int64), (time,))]
    heights = [len(lane.words) * 0.8 if lane.words else 1.6 for lane in lanes]
    target = canvas.as_axes(ax, 7.2, min(max(1.3 + 0.36 * (sum(heights) + len(lanes)), 2.2), 9))
    count = max(record.rows(dims[key]) for key in [time, *names])
    title = f"{name}: {plural(len(when), 'event')}" if name else plural(len(when), "event")
    if count > MOST_EVENTS:
        title += f", first {MOST_EVENTS:,} values drawn"
    single = [f"{key} {_single(record, key, words.get(key))}" for key in dims if dims[key] < 0]
    canvas.label(target, title, ", ".join(single[:4]), unit)
    if not len(when):
        canvas.say_empty(target, "no events")
        return target
    _draw(target, lanes, heights)
    if when.dtype.kind == "M":
        canvas.shorten_dates(target.xaxis)
    return target


def _record(source: Any, row: int | None, time: str) -> tuple[_core.Joint, str]:
    """One record, and what to call it."""
    if type(source) is dict:
        source = JointNestedRaggedTensorDict(source, narrow=False)
    if not isinstance(source, (Dataset, JointNestedRaggedTensorDict)):
        raise instance_error("source", "a Dataset, a joint dict or a record", source)
    if time not in source.keys():  # noqa: SIM118 - `in` of these asks for rows, too
        raise error_of(
            KeyError, "time", f"there is no {time!r}; there are {', '.join(sorted(source.keys()))}"
        )
    if isinstance(source, Dataset):
        dim = source.fields[time].dim
    else:
        joint = source._view()
        dim = joint.dims[joint.names.index(time)]
        if dim == 0:
            if row is not None:
                raise type_error("row", "this is one record already")
            return joint, ""
    if dim < 1:
        raise value_error("time", f"{time!r} has one value in a record, not one for each event")
    number = 0 if row is None else as_int(row, "row", SMALLEST)
    if not -len(source) <= number < len(source):
        if row is None:
            raise value_error("source", "there are no rows")
        raise index_error("row", f"{number} is out of range for {plural(len(source), 'row')}", number=number)
    return source[number]._view(), f"Row {number % len(source):,}"


def _keys(dims: Mapping[str, int], time: str, keys: Any) -> list[str]:
    """The keys that have values below those of time."""
    if keys is None:
        return [key for key, dim in dims.items() if dim >= dims[time] and key != time]
    names = as_list(keys, "keys", "keys")
    for key in names:
        if key not in dims:
            raise error_of(KeyError, "keys", f"there is no {key!r}; there are {', '.join(sorted(dims))}")
        if dims[key] < dims[time]:
            raise value_error("keys", f"{key!r} has no value for each {time!r}")
    return names


def _lane(
    record: _core.Joint,
    key: str,
    dims: Mapping[str, int],
    time: str,
    when: Array,
    words: Sequence[str] | None,
) -> Lane | None:
    """The values of a key, each with its time; None where they are rows of several numbers."""
    values = record.values(key)[:MOST_EVENTS]
    if values.ndim > 1:
        return None
    places = np.arange(len(values))
    for d in range(dims[key], dims[time], -1):
        places = record.level(d).row_ids[places]
    times = when[places]
    is_there = ~(_is_missing(times) | _is_missing(values))
    times, values = times[is_there], values[is_there]
    if words is None and values.dtype.kind not in "biuSU":
        return Lane(key, times, values)
    unique, ids, counts = np.unique(values, return_inverse=True, return_counts=True)
    if words is None and values.dtype.kind in "iu" and len(unique) > MOST_WORDS:
        return Lane(key, times, values)
    names = [str(value) if words is None else words[int(value)] for value in unique.tolist()]
    return Lane(key, times, *_frequent(ids.reshape(-1), counts, names))


def _is_missing(values: Array) -> NDArray[np.bool_]:
    """Where numbers are NaN, and times NaT."""
    if values.dtype.kind in "mM":
        return np.isnat(values)
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)


def _frequent(ids: Array, counts: Array, names: list[str]) -> tuple[Array, tuple[str, ...]]:
    """The numbers of the most frequent words, in the order of the vocabulary, and of all others as one."""
    if len(names) <= MOST_WORDS:
        return ids, tuple(names)
    frequent = np.sort(np.argsort(-counts, kind="stable")[: MOST_WORDS - 1])
    places = np.full(len(names), MOST_WORDS - 1)
    places[frequent] = np.arange(MOST_WORDS - 1)
    return places[ids], (*[names[i] for i in frequent], f"{len(names) - len(frequent):,} others")


def _times(values: Array, time: str) -> tuple[Array, str]:
    """Times as matplotlib takes them, and what to write below them."""
    if values.ndim != 1 or values.dtype.kind not in "iufmM":
        kind = f"rows of shape {values.shape[1:]}" if values.ndim > 1 else str(values.dtype)
        raise type_error("time", f"expected numbers or times in {time!r}, got {kind}")
    if values.dtype.kind != "m":
        return values, time
    unit, step = np.datetime_data(values.dtype)
    numbers = np.where(np.isnat(values), np.nan, values.astype(np.int64) * float(step))
    return numbers, f"{time} ({_UNITS.get(unit, unit)})"


def _single(record: _core.Joint, key: str, words: Sequence[str] | None) -> str:
    value = record.values(key)[0]
    if words is not None:
        return words[int(value)]
    return f"{value:.4g}" if isinstance(value, np.floating) else str(value)


def _draw(ax: Axes, lanes: Sequence[Lane], heights: Sequence[float]) -> None:
    """Lanes from top to bottom, each below the name of its key."""
    top = 0.0
    ticks: list[float] = []
    texts: list[str] = []
    for lane, height, (color, _) in zip(lanes, heights, canvas.styles(len(lanes)), strict=True):
        if lane.key:
            ax.text(
                0.004,
                top + 0.5,
                lane.key,
                transform=ax.get_yaxis_transform(),
                color=color,
                va="center",
                weight="bold",
                fontsize="small",
            )
        top += 1
        if lane.words:
            rows = top + 0.4 + 0.8 * np.arange(len(lane.words))
            ax.hlines(
                rows, 0, 1, transform=ax.get_yaxis_transform(), color=canvas.PALE, linewidth=0.8, zorder=0
            )
            ax.plot(lane.times, rows[lane.values], "|", color=color, markersize=9, markeredgewidth=1.6)
            ticks += rows.tolist()
            texts += lane.words
        else:
            for place, text in _plot_numbers(ax, lane, top, height, color):
                ticks.append(place)
                texts.append(text)
        top += height
    ax.set_yticks(ticks, [_shorten(text) for text in texts], fontsize="small")
    ax.set_ylim(top + 0.2, 0)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def _plot_numbers(ax: Axes, lane: Lane, top: float, height: float, color: str) -> list[tuple[float, str]]:
    """A line that fills its lane; the places and texts of its largest and smallest value."""
    values = lane.values
    finite = np.isfinite(values) if values.dtype.kind == "f" else np.ones(len(values), bool)
    times, values = lane.times[finite], values[finite]
    if not len(values):
        return [(top + height / 2, "no values")]
    low, high = values.min(), values.max()
    span = (high - low) or np.ones((), values.dtype)
    share = (values - low) / span if high > low else np.full(len(values), 0.5)
    style = "-" if len(values) > DOT_EVENTS else ".-" if values.dtype.kind == "f" else "."
    order = np.argsort(times, kind="stable")
    ax.plot(times[order], (top + 0.15 + (height - 0.3) * (1 - share))[order], style, color=color, linewidth=1)
    if high == low:
        return [(top + height / 2, _number(low))]
    return [(top + 0.15, _number(high)), (top + height - 0.15, _number(low))]


def _number(value: Any) -> str:
    return str(value) if isinstance(value, (np.datetime64, np.timedelta64)) else f"{value:.4g}"


def _shorten(text: str) -> str:
    return text if len(text) <= 18 else f"{text[:17]}…"
