"""Events of MEDS as joint columns: codes as indices, values normalized, days between events.

The layout and the contents of the files are those of meds-torch-data's own preprocessing: codes of train
numbered from 1 in text order, values minus the mean of their code over its deviation, days since the previous
event, static codes and times in a table beside each shard. Subjects without events are left out of the table
as well: there they would shift the rows of later subjects.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from varlen._core import Joint, Level
from varlen.errors import value_error

__all__ = ["COLUMNS", "PAD", "CodeStatistics", "LostValues", "convert_shard", "id_text", "normalize"]

#: What an event has.
COLUMNS = ("subject_id", "time", "code", "numeric_value")
_SECONDS_PER_DAY = 86400.0
_SHOWN = 20  # subjects that an error names

#: The word of id 0, which pads.
PAD = "[PAD]"

_ALIKE = "values of codes whose values are all alike in the train split became NaN"
_INFINITE = "infinite values became NaN"
_TOO_LARGE = "values that are beyond float32 when they are normalized became NaN"


class CodeStatistics:
    """The count of each code, its number of subjects, and the sums of its values."""

    def __init__(self) -> None:
        self._parts: list[pa.Table] = []

    def add(self, events: pa.Table) -> None:
        """Adds the rows of one shard; a subject is in one shard only."""
        values = events.column("numeric_value").cast(pa.float64())
        finite = pc.if_else(pc.is_finite(values), values, pa.scalar(None, pa.float64()))
        table = pa.table(
            {
                "code": events.column("code"),
                "subject": events.column("subject_id"),
                "value": finite,
                "square": pc.multiply(finite, finite),
            }
        )
        stats = table.group_by("code").aggregate(
            [
                ([], "count_all"),
                ("subject", "count_distinct"),
                ("value", "count"),
                ("value", "sum"),
                ("square", "sum"),
            ]
        )
        self._parts.append(stats)

    def write(self, path: str) -> None:
        """Writes the rows so far into a file of Arrow."""
        [stats] = self._parts
        with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, stats.schema) as writer:
            writer.write_table(stats)

    def read(self, path: str) -> None:
        """Adds the rows of a file."""
        with pa.OSFile(path) as file:
            self._parts.append(pa.ipc.open_file(file).read_all())

    def table(self) -> pa.Table:
        """The codes sorted as text, with their index from 1 and their figures."""
        names = {
            "code/n_occurrences": ("count_all", pa.int64()),
            "code/n_subjects": ("subject_count_distinct", pa.int64()),
            "values/n_occurrences": ("value_count", pa.int64()),
            "values/sum": ("value_sum", pa.float64()),
            "values/sum_sqd": ("square_sum", pa.float64()),
        }
        totals = (
            pa.concat_tables(self._parts)
            .group_by("code")
            .aggregate([(old, "sum") for old, _ in names.values()])
            .sort_by("code")
        )
        columns = {"code": totals.column("code").cast(pa.string())}
        for name, (old, kind) in names.items():
            columns[name] = pc.fill_null(totals.column(f"{old}_sum"), 0).cast(kind)
        columns["code/vocab_index"] = pa.array(np.arange(1, totals.num_rows + 1))
        return pa.table(columns)


@dataclass(frozen=True)
class LostValues:
    """Values that become NaN for one reason, and the code and the value of the first of them."""

    why: str
    values: int
    first: str


def normalize(events: pa.Table, codes: pa.Table) -> tuple[pa.Table, list[LostValues]]:
    """Codes as indices and normalized values, without rows of other codes; and the values that become NaN."""
    index = pc.index_in(events.column("code").cast(pa.string()), codes.column("code").combine_chunks())
    is_known = pc.is_valid(index)
    events, index = events.filter(is_known), index.filter(is_known)
    which = index.to_numpy().astype(np.int64)
    counts = codes.column("values/n_occurrences").to_numpy().astype(np.float64)
    values = events.column("numeric_value").cast(pa.float64())
    numbers = values.fill_null(float("nan")).to_numpy()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mean = codes.column("values/sum").to_numpy() / counts
        deviation = np.sqrt(codes.column("values/sum_sqd").to_numpy() / counts - mean**2)
        normal = ((numbers - mean[which]) / deviation[which]).astype(np.float32)
    overflow = ~(np.isnan(numbers) | np.isfinite(normal))
    normal[overflow] = np.nan
    is_alike = ~(deviation[which] > 0)
    reasons = {_ALIKE: is_alike, _INFINITE: ~is_alike & np.isinf(numbers)}
    reasons[_TOO_LARGE] = ~np.logical_or.reduce(list(reasons.values()))
    losses = []
    for why, holds in reasons.items():
        rows = np.flatnonzero(overflow & holds)
        if len(rows):
            first = f"code {events.column('code')[rows[0]].as_py()!r}: {numbers[rows[0]]}"
            losses.append(LostValues(why, len(rows), first))
    out = pa.table(
        {
            "subject_id": events.column("subject_id"),
            "time": events.column("time"),
            "code": codes.column("code/vocab_index").to_numpy()[which],
            "numeric_value": pa.array(normal, mask=values.is_null().to_numpy()),
        }
    )
    return out, losses


def _starts(*columns: np.ndarray) -> npt.NDArray[np.int64]:
    """The rows at which one of the columns differs from the row before; the first row is one."""
    if len(columns[0]) == 0:
        return np.zeros(0, np.int64)
    changes = np.ones(len(columns[0]), bool)
    changes[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return np.flatnonzero(changes)


def convert_shard(events: pa.Table) -> tuple[Joint, pa.Table]:
    """The events of a shard as a joint and a schema table."""
    subject = events.column("subject_id").to_numpy()
    is_static = events.column("time").is_null().to_numpy()
    first = _starts(subject)
    ids = subject[first]
    if len(np.unique(ids)) < len(ids):
        runs = np.unique(ids, return_index=True)[1]
        again = ids[np.setdiff1d(np.arange(len(ids)), runs)]
        raise value_error("subject_id", f"the rows of {id_text(again)} are not together")
    dynamic, static = events.filter(pa.array(~is_static)), events.filter(pa.array(is_static))
    owner, when = dynamic.column("subject_id").to_numpy(), dynamic.column("time").cast(pa.int64()).to_numpy()
    event = _starts(owner, when)
    event_owner, event_time = owner[event], when[event]
    same_owner = event_owner[1:] == event_owner[:-1]
    backwards = np.flatnonzero(same_owner & (event_time[1:] < event_time[:-1]))
    if len(backwards):
        raise value_error(
            "time", f"the events of subject {id_text(event_owner[backwards])} are not in their order"
        )
    days = np.full(len(event), np.nan, np.float32)
    seconds = (event_time[1:] - event_time[:-1])[same_owner] // 1_000_000  # whole ones, as there
    days[1:][same_owner] = (seconds / _SECONDS_PER_DAY).astype(np.float32)
    per_event = np.diff(np.append(event, len(owner)))
    row = _starts(event_owner)
    ids = event_owner[row]
    static = static.filter(pc.is_in(static.column("subject_id"), pa.array(ids)))
    event_bounds = np.append(row, len(event))
    joint = Joint(
        ["time_delta_days", "code", "numeric_value"],
        [1, 2, 2],
        [
            days,
            dynamic.column("code").to_numpy().astype(np.int64),
            dynamic.column("numeric_value").fill_null(float("nan")).to_numpy().astype(np.float32),
        ],
        [Level.from_offsets(event_bounds), Level.from_lengths(per_event)],
    )
    has_static = np.isin(ids, static.column("subject_id").to_numpy())
    static_bounds = _bounds_by(ids, static.column("subject_id").to_numpy())
    times = pa.array(event_time, pa.int64()).cast(pa.timestamp("us"))
    schema = pa.table(
        {
            "subject_id": ids,
            "static_code": _lists(static_bounds, static.column("code"), has_static),
            "static_numeric_value": _lists(static_bounds, static.column("numeric_value"), has_static),
            "start_time": pa.array(event_time[row]).cast(pa.timestamp("us")),
            "time": _lists(event_bounds, times),
            "measurements_per_event": _lists(event_bounds, pa.array(per_event.astype(np.uint32))),
        }
    )
    return joint, schema


def _bounds_by(ids: np.ndarray, owners: np.ndarray) -> npt.NDArray[np.int64]:
    """Offsets of the rows of each id; rows come in the order of `ids`."""
    order = np.argsort(ids, kind="stable")
    counts = np.zeros(len(ids), np.int64)
    places = order[np.searchsorted(ids[order], owners)] if len(owners) else np.zeros(0, np.int64)
    np.add.at(counts, places, 1)
    return np.concatenate([[0], np.cumsum(counts)])


def _lists(
    offsets: npt.NDArray[np.int64], values: object, mask: npt.NDArray[np.bool_] | None = None
) -> pa.Array:
    """Lists with these offsets; null where `mask` is False."""
    flat = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    where = pa.array(offsets, mask=None if mask is None else np.append(~mask, False))
    return pa.LargeListArray.from_arrays(where, flat)


def id_text(subjects: Iterable[int]) -> str:
    """The first few of the distinct ids of subjects, as text."""
    ids = [str(subject) for subject in dict.fromkeys(subjects)]
    suffix = f" and {len(ids) - _SHOWN:,} more" if len(ids) > _SHOWN else ""
    return ", ".join(ids[:_SHOWN]) + suffix
