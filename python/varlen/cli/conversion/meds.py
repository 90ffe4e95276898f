"""MEDS folders, as they are on disk, into the folder that meds-torch-data reads.

The layout, and what each file holds, are those of meds-torch-data's own preprocessing: codes of train are
numbered from 1 in their order as text, values less the mean of their code over its deviation, days since
the event before, static codes and times in a table beside each shard. Subjects without events are left
out of the table as well: there they shift the rows of those behind them.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from varlen._core import Joint, Level
from varlen.cli.conversion.wrong import name_file
from varlen.cli.errors import Misuse
from varlen.cli.manual import check_parent

__all__ = ["CodeStatistics", "convert_meds", "convert_shard"]

_COLUMNS = ("subject_id", "time", "code", "numeric_value")
_SECONDS_PER_DAY = 86400.0
_OWN = {"data", "metadata", "tokenization"}

#: The word of id 0, which pads.
_PAD = "[PAD]"


class CodeStatistics:
    """How often each code comes, in how many subjects, and the sums of its values.

    Examples
    --------
    >>> statistics = CodeStatistics()
    >>> events = {"subject_id": [1, 1], "time": [None, 0], "code": ["B", "A"], "numeric_value": [None, 2.0]}
    >>> statistics.add(pa.table(events))
    >>> statistics.table().column("code").to_pylist()
    ['A', 'B']
    """

    def __init__(self) -> None:
        self._parts: list[pa.Table] = []

    def add(self, events: pa.Table) -> None:
        """Takes the rows of one shard into account; a subject is in one shard only."""
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
        found = table.group_by("code").aggregate(
            [
                ([], "count_all"),
                ("subject", "count_distinct"),
                ("value", "count"),
                ("value", "sum"),
                ("square", "sum"),
            ]
        )
        self._parts.append(found)

    def table(self) -> pa.Table:
        """The codes sorted as text, with their index from 1 and their figures."""
        names = {
            "code/n_occurrences": ("count_all", pa.int64()),
            "code/n_subjects": ("subject_count_distinct", pa.int64()),
            "values/n_occurrences": ("value_count", pa.int64()),
            "values/sum": ("value_sum", pa.float64()),
            "values/sum_sqd": ("square_sum", pa.float64()),
        }
        merged = (
            pa.concat_tables(self._parts)
            .group_by("code")
            .aggregate([(old, "sum") for old, _ in names.values()])
            .sort_by("code")
        )
        columns = {"code": merged.column("code").cast(pa.string())}
        for name, (old, kind) in names.items():
            columns[name] = pc.fill_null(merged.column(f"{old}_sum"), 0).cast(kind)
        columns["code/vocab_index"] = pa.array(np.arange(1, merged.num_rows + 1))
        return pa.table(columns)


@dataclass(frozen=True)
class _Shard:
    """Rows of a file that go into one shard: all of it, or those of the subjects of one split."""

    name: str
    path: Path
    split: str
    subjects: pa.Array | None = None


def _shards_of(folder: Path) -> list[_Shard]:
    files = sorted((folder / "data").rglob("*.parquet"))
    if not files:
        raise FileNotFoundError(f"{folder}/data: no Parquet file")
    names = [path.relative_to(folder / "data").with_suffix("").as_posix() for path in files]
    splits_path = folder / "metadata" / "subject_splits.parquet"
    known = _splits_of(splits_path) if splits_path.is_file() else {}
    tops = {name.split("/")[0] for name in names if "/" in name}
    if all("/" in name for name in names) and (not known or tops <= set(known)):
        return [_Shard(name, path, name.split("/")[0]) for name, path in zip(names, files, strict=True)]
    if not known:
        raise ValueError(
            f"{folder}: neither data/SPLIT/*.parquet nor metadata/subject_splits.parquet says which subjects "
            "are those of the train split"
        )
    return [
        _Shard(f"{split}/{name}", path, split, subjects)
        for name, path in zip(names, files, strict=True)
        for split, subjects in known.items()
    ]


def _splits_of(path: Path) -> dict[str, pa.Array]:
    table = pq.read_table(path, columns=["subject_id", "split"])
    out = {}
    for split in pc.unique(table.column("split")).to_pylist():
        chosen = table.filter(pc.equal(table.column("split"), split))
        out[split] = chosen.column("subject_id").combine_chunks()
    return out


def _read(shard: _Shard) -> pa.Table:
    """The events of a shard, checked: what they lack is named with the row."""
    with name_file(shard.path):
        table = pq.read_table(shard.path)
        missing = [name for name in _COLUMNS[:3] if name not in table.column_names]
        if missing:
            raise ValueError(f"no column {missing[0]!r}; there are {', '.join(table.column_names)}")
        if "numeric_value" not in table.column_names:
            table = table.append_column("numeric_value", pa.nulls(table.num_rows, pa.float32()))
        table = table.select(list(_COLUMNS))
        for name in ("subject_id", "code"):
            if table.column(name).null_count:
                row = int(np.flatnonzero(table.column(name).is_null().to_numpy())[0])
                raise ValueError(f"{name}: null at row {row}")
        if shard.subjects is not None:
            table = table.filter(pc.is_in(table.column("subject_id"), shard.subjects))
        kind = table.schema.field("time").type
        if not (pa.types.is_timestamp(kind) or pa.types.is_null(kind)):
            raise ValueError(f"time: expected times, got {kind}")
        return table.set_column(1, "time", table.column("time").cast(pa.timestamp("us")))


def _normalize(events: pa.Table, codes: pa.Table) -> tuple[pa.Table, int]:
    """Codes as indices and values normalized; how many rows had other codes and were left out."""
    at = pc.index_in(events.column("code").cast(pa.string()), codes.column("code").combine_chunks())
    known = pc.is_valid(at)
    left_out = events.num_rows - int(pc.sum(known).as_py() or 0)
    events, at = events.filter(known), at.filter(known)
    which = at.to_numpy().astype(np.int64)
    counts = codes.column("values/n_occurrences").to_numpy().astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = codes.column("values/sum").to_numpy() / counts
        deviation = np.sqrt(codes.column("values/sum_sqd").to_numpy() / counts - mean**2)
        values = events.column("numeric_value").cast(pa.float64())
        numbers = values.fill_null(float("nan")).to_numpy()
        normal = ((numbers - mean[which]) / deviation[which]).astype(np.float32)
    normal[np.isinf(normal)] = np.nan
    out = pa.table(
        {
            "subject_id": events.column("subject_id"),
            "time": events.column("time"),
            "code": codes.column("code/vocab_index").to_numpy()[which],
            "numeric_value": pa.array(normal, mask=values.is_null().to_numpy()),
        }
    )
    return out, left_out


def _starts(*columns: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The rows at which one of the columns differs from the row before; the first row is one."""
    if len(columns[0]) == 0:
        return np.zeros(0, np.int64)
    changes = np.ones(len(columns[0]), bool)
    changes[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return np.flatnonzero(changes)


def convert_shard(events: pa.Table) -> tuple[Joint, pa.Table, int]:
    """The events of a shard as a joint and a schema table.

    Parameters
    ----------
    events
        Rows of subject_id, time (null for static ones), code (an index) and numeric_value; those of a subject
        stand together, in the order of their times.

    Returns
    -------
    joint : Joint
        time_delta_days at dim 1, code and numeric_value at dim 2, a row for each subject with events.
    schema : Table
        subject_id, static_code, static_numeric_value, start_time, time and measurements_per_event.
    without : int
        Subjects without events, which are in neither.

    Raises
    ------
    ValueError
        The rows of a subject lie apart, or its times go backwards.

    Examples
    --------
    >>> rows = {"subject_id": [1, 1, 1], "time": pa.array([None, 0, 86400_000_000], pa.timestamp("us")),
    ...         "code": [3, 1, 2], "numeric_value": pa.array([None, 0.5, None], pa.float32())}
    >>> joint, schema, _ = convert_shard(pa.table(rows))
    >>> joint.values("time_delta_days"), schema.column("static_code").to_pylist()
    (array([nan,  1.], dtype=float32), [[3]])
    """
    subject = events.column("subject_id").to_numpy()
    is_static = events.column("time").is_null().to_numpy()
    first = _starts(subject)
    ids = subject[first]
    if len(np.unique(ids)) < len(ids):
        runs = np.unique(ids, return_index=True)[1]
        again = ids[np.setdiff1d(np.arange(len(ids)), runs)[0]]
        raise ValueError(f"subject_id: the rows of {again} are not together")
    dynamic, static = events.filter(pa.array(~is_static)), events.filter(pa.array(is_static))
    owner, when = dynamic.column("subject_id").to_numpy(), dynamic.column("time").cast(pa.int64()).to_numpy()
    event = _starts(owner, when)
    event_owner, event_time = owner[event], when[event]
    same = event_owner[1:] == event_owner[:-1]
    backwards = np.flatnonzero(same & (event_time[1:] < event_time[:-1]))
    if len(backwards):
        raise ValueError(f"time: the events of subject {event_owner[backwards[0]]} are not in their order")
    days = np.full(len(event), np.nan, np.float32)
    seconds = (event_time[1:] - event_time[:-1])[same] // 1_000_000  # whole ones, as there
    days[1:][same] = (seconds / _SECONDS_PER_DAY).astype(np.float32)
    per_event = np.diff(np.append(event, len(owner)))
    row = _starts(event_owner)
    without = len(ids) - len(row)
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
    return joint, schema, without


def _bounds_by(ids: npt.NDArray[Any], owners: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Offsets of the rows of each id, which come in the order of `ids`."""
    order = np.argsort(ids, kind="stable")
    counts = np.zeros(len(ids), np.int64)
    found = order[np.searchsorted(ids[order], owners)] if len(owners) else np.zeros(0, np.int64)
    np.add.at(counts, found, 1)
    return np.concatenate([[0], np.cumsum(counts)])


def _lists(
    offsets: npt.NDArray[np.int64], values: Any, there: npt.NDArray[np.bool_] | None = None
) -> pa.Array:
    """Lists of these offsets; null where nothing is there."""
    flat = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    where = pa.array(offsets, mask=None if there is None else np.append(~there, False))
    return pa.LargeListArray.from_arrays(where, flat)


def _with_metadata(codes: pa.Table, folder: Path) -> pa.Table:
    """The codes with the columns of the folder's own table of codes."""
    path = folder / "metadata" / "codes.parquet"
    if not path.is_file():
        return codes
    with name_file(path):
        known = pq.read_table(path)
        if "code" not in known.column_names:
            raise ValueError(f"no column 'code'; there are {', '.join(known.column_names)}")
        if len(pc.unique(known.column("code"))) < known.num_rows:
            raise ValueError("a code comes twice")
        at = pc.index_in(codes.column("code"), known.column("code").cast(pa.string()).combine_chunks())
        for name in known.column_names:
            if name not in codes.column_names:
                codes = codes.append_column(name, known.column(name).take(at))
    return codes


def _check(arguments: argparse.Namespace, folder: Path) -> None:
    plain = {"sources", "target", "force", "quiet", "run", "nulls", "batch_rows"}
    given = [name for name, value in vars(arguments).items() if name not in plain and value]
    if given or arguments.nulls != "refuse":
        name = (given or ["nulls"])[0]
        raise Misuse(f"--{name.replace('_', '-')}: {folder} is a folder of MEDS, which is converted whole")
    target = arguments.target
    check_parent(target, target)
    if target.exists() and not arguments.force:
        raise FileExistsError(f"{target}: already exists; --force replaces it")
    if target.exists() and (target.samefile(folder) or folder.resolve().is_relative_to(target.resolve())):
        raise Misuse(f"{target}: IN and OUT are the same folder")
    if target.is_file():
        raise Misuse(f"{target}: is a file; a folder of MEDS becomes a folder")
    if target.is_dir():
        others = sorted(path.name for path in target.iterdir() if path.name not in _OWN)
        if others:
            raise FileExistsError(
                f"{target}: holds {others[0]!r}; --force replaces folders of this kind only"
            )


@contextlib.contextmanager
def _new_folder(target: Path) -> Iterator[Path]:
    """A folder that takes the place of the target when it is complete."""
    target = target.resolve()
    new, old = (target.with_name(f".{target.name}.{os.getpid()}-{word}") for word in ("new", "old"))
    new.mkdir()
    try:
        yield new
        if target.exists():
            target.rename(old)
        try:
            new.rename(target)
        except BaseException:
            if old.exists():
                old.rename(target)
            raise
    except BaseException:
        shutil.rmtree(new)
        raise
    if old.exists():
        shutil.rmtree(old)


def convert_meds(arguments: argparse.Namespace, folder: Path) -> int:
    """Converts a folder of MEDS, shard by shard; gives the exit code."""
    from tqdm import tqdm

    from varlen import io
    from varlen.cli.info import as_bytes

    _check(arguments, folder)
    start = time.perf_counter()
    shards = _shards_of(folder)
    bar: dict[str, Any] = {"unit": " shards", "leave": False, "disable": arguments.quiet or None}
    statistics = CodeStatistics()
    splits = {shard.split for shard in shards}
    train = [shard for shard in shards if shard.split == "train"]
    if not train:
        raise ValueError(
            f"{folder}: no train split among {', '.join(sorted(splits))}, whose codes are numbered"
        )
    for shard in tqdm(train, desc="reading", **bar):
        statistics.add(_read(shard))
    codes = statistics.table()
    words = {"code": [_PAD, *codes.column("code").to_pylist()]}
    subjects = events = left_out = without = size = 0
    with _new_folder(arguments.target) as new:
        for shard in tqdm(shards, desc="writing", **bar):
            table, unknown = _normalize(_read(shard), codes)
            left_out += unknown
            if shard.subjects is not None and not table.num_rows:
                continue  # the file has no subject of this split
            with name_file(shard.path):
                joint, schema, static_only = convert_shard(table)
            without += static_only
            data = new / "data" / f"{shard.name}.nrt"
            tokens = new / "tokenization" / "schemas" / f"{shard.name}.parquet"
            data.parent.mkdir(parents=True, exist_ok=True)
            tokens.parent.mkdir(parents=True, exist_ok=True)
            with io.Writer(data, vocabularies=words, schema={"code": np.int64}) as writer:
                writer.append(joint)
            pq.write_table(schema, tokens)
            subjects += schema.num_rows
            events += joint.rows(1)
            size += data.stat().st_size
        (new / "metadata").mkdir()
        pq.write_table(_with_metadata(codes, folder), new / "metadata" / "codes.parquet")
        for name in ("dataset.json", "subject_splits.parquet"):
            if (folder / "metadata" / name).is_file():
                shutil.copyfile(folder / "metadata" / name, new / "metadata" / name)
    if not arguments.quiet:
        took = time.perf_counter() - start
        print(
            f"{arguments.target}: {subjects:,} subjects, {events:,} events, {codes.num_rows:,} codes, "
            f"{as_bytes(size)} in {took:,.1f} s"
        )
        if left_out:
            print(f"  {left_out:,} rows with codes that the train split lacks were left out")
        if without:
            print(f"  {without:,} subjects without events were left out")
    return 0
