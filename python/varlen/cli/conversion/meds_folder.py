"""Conversion of a folder of MEDS into the folder that meds-torch-data reads."""

from __future__ import annotations

import bisect
import contextlib
import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from varlen.cli.conversion.meds import COLUMNS, PAD, CodeStatistics, convert_shard, id_text, normalize
from varlen.cli.conversion.meds_account import MedsAccount
from varlen.cli.conversion.tables import text_in
from varlen.cli.conversion.wrong import Findings, naming_file
from varlen.cli.errors import Misuse
from varlen.cli.manual import check_parent
from varlen.errors import file_error, no_column_error, twin_error, value_error
from varlen.io import atomic
from varlen.io.building.engines import engine_of
from varlen.io.building.origin import hash_of, state_of_file
from varlen.io.work_folder import Part, WorkFolder, replace_folder, work_folder

__all__ = ["convert_meds"]

_OWN = {"data", "metadata", "tokenization"}


@dataclass(frozen=True)
class _Shard:
    """Rows of a file that go into one shard: all of it, or those of the subjects of one split."""

    name: str
    path: Path
    split: str
    subjects: pa.Array | None = None


def _shards_of(folder: Path) -> tuple[list[_Shard], dict[str, pa.Array]]:
    """The shards, and the subjects of each split, if a table states them.

    A folder with the name of a split states the split; the table may lack it.
    """
    files = sorted((folder / "data").rglob("*.parquet"))
    if not files:
        raise FileNotFoundError(f"{folder}/data: no Parquet file")
    names = [path.relative_to(folder / "data").with_suffix("").as_posix() for path in files]
    splits_path = folder / "metadata" / "subject_splits.parquet"
    splits: dict[str, pa.Array] = {}
    if splits_path.is_file():
        with naming_file(splits_path):
            splits = _splits_of(splits_path)
    tops = {name.split("/")[0] for name in names if "/" in name}
    if all("/" in name for name in names) and (not splits or tops & set(splits)):
        return [
            _Shard(name, path, name.split("/")[0]) for name, path in zip(names, files, strict=True)
        ], splits
    if not splits:
        raise file_error(
            folder,
            "neither data/SPLIT/*.parquet nor metadata/subject_splits.parquet says which subjects "
            "are those of the train split",
        )
    shards = [
        _Shard(f"{split}/{name}", path, split, subjects)
        for name, path in zip(names, files, strict=True)
        for split, subjects in splits.items()
    ]
    return shards, splits


def _splits_of(path: Path) -> dict[str, pa.Array]:
    table = pq.read_table(path, columns=["subject_id", "split"])
    for name in table.column_names:
        if table.column(name).null_count:
            row = int(np.flatnonzero(table.column(name).is_null().to_numpy())[0])
            raise value_error(name, f"null at row {row}", row=row)
    table = pa.table(
        {"subject_id": table.column(0).cast(pa.int64()), "split": table.column(1).cast(pa.string())}
    )
    table = table.group_by(["subject_id", "split"], use_threads=False).aggregate([])
    ids = table.column("subject_id").to_numpy()
    one, count = np.unique(ids, return_counts=True)
    if len(one) < len(ids):
        subject = one[count > 1][0]
        names = table.filter(pc.equal(table.column("subject_id"), subject)).column("split").to_pylist()
        raise value_error("", f"subject {subject} is in the splits {names[0]!r} and {names[1]!r}")
    out = {}
    for split in pc.unique(table.column("split")).to_pylist():
        if "/" in split or split in ("", ".", ".."):
            raise value_error("split", f"{split!r} is no name of a folder")
        part = table.filter(pc.equal(table.column("split"), split))
        out[split] = part.column("subject_id").combine_chunks()
    return out


class _Subjects:
    """The file and the split of each subject; the split must be that of its folder."""

    def __init__(self, splits: dict[str, pa.Array], folders_split: bool, drop: bool) -> None:
        self._drop = drop
        self._folders_split = folders_split
        self._splits = splits
        self._ids: list[npt.NDArray[np.int64]] = []
        self._paths: list[Path] = []
        self.unsplit: list[int] = []

    def add(self, path: Path, split: str, ids: npt.NDArray[np.int64]) -> None:
        """Adds the subjects of a whole file."""
        self._ids.append(ids)
        self._paths.append(path)
        if self._folders_split:
            for other, subjects in self._splits.items():
                wrong = np.intersect1d(ids, subjects.to_numpy()) if other != split else ids[:0]
                if len(wrong):
                    raise file_error(
                        path,
                        f"subject {id_text(wrong)} is in the folder {split!r}, but "
                        f"subject_splits.parquet says {other!r}",
                    )
            return
        absent = np.setdiff1d(ids, np.concatenate([one.to_numpy() for one in self._splits.values()]))
        if len(absent) and not self._drop:
            raise file_error(
                path,
                f"subject {id_text(absent)} is in no split of subject_splits.parquet; add it there, or "
                "leave such subjects out by --drop-unsplit",
            )
        self.unsplit += absent.tolist()

    def finish(self) -> None:
        """Refuses a subject in two files: its events would be two rows."""
        ids = np.concatenate(self._ids)
        files = np.repeat(np.arange(len(self._ids)), [len(one) for one in self._ids])
        order = np.argsort(ids, kind="stable")
        repeats = np.flatnonzero(ids[order][1:] == ids[order][:-1])
        if len(repeats):
            first, second = files[order[repeats[0]]], files[order[repeats[0] + 1]]
            raise value_error(
                f"{self._paths[second]}",
                f"subject {ids[order[repeats[0]]]} is in {self._paths[first]} already",
                "put all rows of a subject into one file",
            )

    def without_rows(self) -> int:
        """The number of subjects in the table that are in no file."""
        subjects = [one.to_numpy() for one in self._splits.values()]
        return len(np.setdiff1d(np.concatenate(subjects), np.concatenate(self._ids))) if subjects else 0


def _read(shard: _Shard) -> pa.Table:
    """The events of a shard, checked; errors name the row and what it lacks."""
    with naming_file(shard.path):
        table = pq.read_table(shard.path, partitioning=None)
        missing = [name for name in COLUMNS[:3] if name not in table.column_names]
        if missing:
            raise no_column_error("", missing[0], table.column_names)
        if "numeric_value" not in table.column_names:
            table = table.append_column("numeric_value", pa.nulls(table.num_rows, pa.float32()))
        table = table.select(list(COLUMNS))
        table = _with_kinds(table)
        findings = Findings()
        for name in ("subject_id", "code"):
            for row in np.flatnonzero(table.column(name).is_null().to_numpy()).tolist():
                findings.add(value_error(name, f"null at row {row}", file=shard.path, row=row))
        findings.finish()
        if shard.subjects is not None:
            table = table.filter(pc.is_in(table.column("subject_id"), shard.subjects))
        return table


def _with_kinds(table: pa.Table) -> pa.Table:
    """The columns of events with MEDS's types; codes may be a dictionary."""
    types = pa.types
    rules = (
        ("integers", pa.int64(), types.is_integer),
        ("times", pa.timestamp("us"), types.is_timestamp),
        ("text", pa.string(), text_in),
        ("numbers", None, lambda kind: types.is_floating(kind) or types.is_integer(kind)),
    )
    for i, (name, (what, kind, fits)) in enumerate(zip(COLUMNS, rules, strict=True)):
        column = table.column(i)
        if not (fits(column.type) or types.is_null(column.type)):
            raise value_error(name, f"expected {what}, got {column.type}")
        if pa.types.is_integer(column.type) and kind is None:
            kind = pa.float64()
        if kind is not None:
            table = table.set_column(i, name, _cast(name, column, kind))
    return table


def _cast(name: str, column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """The values in MEDS's type; the error names the first that does not fit, and its row."""

    def fits(count: int) -> bool:
        with contextlib.suppress(pa.ArrowInvalid):
            return bool(column.slice(0, count).cast(kind))
        return False

    try:
        return column.cast(kind)
    except pa.ArrowInvalid:
        row = bisect.bisect_left(range(1, len(column)), True, key=lambda count: not fits(count))
        value = column.slice(row, 1).cast(pa.string())[0]
        raise value_error(
            name,
            f"{value} at row {row} does not fit {kind}, which MEDS has",
            "cast the column first",
            row=row,
        ) from None


def _check_schemas(shards: Sequence[_Shard]) -> tuple[list[str], str | None]:
    """The columns of events that are left out, and the zone of their times, if they have one.

    Times with a zone in one file and without in another are refused.
    """
    extras: dict[str, None] = {}
    first: tuple[str | None, Path] | None = None
    for path in dict.fromkeys(shard.path for shard in shards):
        with naming_file(path):
            schema = pq.read_schema(path)
        repeats = [name for name in schema.names if schema.names.count(name) > 1]
        if repeats:
            raise twin_error("", repeats[0], file=path)
        extras.update(dict.fromkeys(name for name in schema.names if name not in COLUMNS))
        kind = schema.field("time").type if "time" in schema.names else pa.null()
        if not pa.types.is_timestamp(kind):
            continue
        first = first or (kind.tz, path)
        if (first[0] is None) != (kind.tz is None):
            one, other = (first[1], path) if kind.tz is None else (path, first[1])
            raise file_error(
                path,
                f"time: times have a zone in {one} and none in {other}; give all of them a zone, or none",
            )
    return list(extras), first[0] if first else None


def _with_metadata(codes: pa.Table, folder: Path, accounts: MedsAccount) -> pa.Table:
    """The codes with the columns of the folder's own table of codes."""
    path = folder / "metadata" / "codes.parquet"
    if not path.is_file():
        return codes
    with naming_file(path):
        table = pq.read_table(path)
        if "code" not in table.column_names:
            raise value_error("", f"no column 'code'; there are {', '.join(table.column_names)}")
        if len(pc.unique(table.column("code"))) < table.num_rows:
            raise value_error("", "a code comes twice")
        index = pc.index_in(codes.column("code"), table.column("code").cast(pa.string()).combine_chunks())
        for name in table.column_names:
            if name not in codes.column_names:
                codes = codes.append_column(name, table.column(name).take(index))
        accounts.add_metadata(table.num_rows, int(pc.sum(pc.is_valid(index)).as_py() or 0))
    return codes


def _check_target(folder: Path, target: Path, force: bool) -> None:
    check_parent(target, target)
    if target.exists() and not force:
        raise FileExistsError(f"{target}: already exists; --force replaces it")
    if target.exists() and (target.samefile(folder) or folder.resolve().is_relative_to(target.resolve())):
        raise Misuse(f"{target}: IN and OUT are the same folder")
    if target.is_file():
        raise Misuse(f"{target}: is a file; a folder of MEDS becomes a folder")
    if target.is_dir():
        others = sorted(path.name for path in target.iterdir() if path.name not in _OWN)
        if others:
            raise FileExistsError(f"{target}: holds {others[0]!r}; --force replaces such folders only")


class CodesTask(NamedTuple):
    """The arguments of a task: the number of a shard, and where its codes go."""

    number: int
    path: str


class ShardTask(NamedTuple):
    """The arguments of a task: the number of a shard, its files, its codes, and whether it has checksums."""

    number: int
    data: Path
    tokens: Path
    codes: pa.Table
    checksums: bool


def read_codes(task: CodesTask, shard: _Shard) -> None:
    """Writes down the codes of one shard."""
    statistics = CodeStatistics()
    statistics.add(_read(shard))
    with atomic.naming_target(task.path):
        statistics.write(task.path)


def write_shard(task: ShardTask, shard: _Shard) -> dict[str, Any]:
    """Writes the events of one shard, and the table beside them; returns its counts and its account."""
    from varlen import io

    _, data, tokens, codes, checksums = task
    accounts = MedsAccount()
    events_of = _read(shard)
    table, nan = normalize(events_of, codes)
    names = codes.column("code").combine_chunks()
    unknown = events_of.filter(pc.invert(pc.is_in(events_of.column("code"), names)))
    account = accounts.shard(shard.path, events_of, unknown, table, nan)
    if shard.subjects is not None and not events_of.num_rows:  # the file has no subject of this split
        accounts.add_shard(account, None)
        return {"accounts": accounts.as_dict(), "counts": [0] * 5}
    with naming_file(shard.path):
        joint, schema = convert_shard(table)
    data.parent.mkdir(parents=True, exist_ok=True)
    tokens.parent.mkdir(parents=True, exist_ok=True)
    account.leave_out("time_delta_days", "days between events", -joint.rows(1), None)
    words = {"code": [PAD, *names.to_pylist()]}
    kinds = {"code": np.int64}
    with io.Writer(data, vocabularies=words, schema=kinds, account=account, checksums=checksums) as writer:
        writer.append(joint)
    with atomic.naming_target(tokens):
        pq.write_table(schema, tokens)
    accounts.add_shard(account, tokens)
    no_events = _subjects(events_of) - schema.num_rows
    counts = [schema.num_rows, joint.rows(1), unknown.num_rows, no_events, data.stat().st_size]
    return {"accounts": accounts.as_dict(), "counts": counts}


def _read_codes(run: Any, work: WorkFolder, shards: Sequence[_Shard], bar: dict[str, Any]) -> pa.Table:
    """The codes of the shards of the train split."""
    names = [f"codes-{i:05d}.arrow" for i in range(len(shards))]
    paths = [f"{work.path}/{name}" for name in names]
    parts = [
        Part(_origin_of(shard), (name,), str(shard.path), CodesTask(i, path), shard)
        for i, (shard, name, path) in enumerate(zip(shards, names, paths, strict=True))
    ]
    work.run(run, read_codes, parts, {"desc": "reading", **bar})
    statistics = CodeStatistics()
    for path in paths:
        statistics.read(path)
    return statistics.table()


def _write_shards(
    run: Any,
    work: WorkFolder,
    shards: Sequence[_Shard],
    codes: pa.Table,
    checksums: bool,
    bar: dict[str, Any],
) -> list[dict[str, Any]]:
    """Writes the shards, and returns what each counted."""
    how = hash_of(repr(codes.to_pydict()).encode()), checksums
    root = Path(work.path)
    parts = []
    for i, shard in enumerate(shards):
        data = Path(work.result, "data", f"{shard.name}.nrt")
        tokens = Path(work.result, "tokenization", "schemas", f"{shard.name}.parquet")
        names = tuple(str(path.relative_to(root)) for path in (data, tokens))
        task = ShardTask(i, data, tokens, codes, checksums)
        parts.append(Part((_origin_of(shard), how), names, str(shard.path), task, shard))
    counts = work.run(run, write_shard, parts, {"desc": "writing", **bar})
    work.delete_others()
    return counts


def _origin_of(shard: _Shard) -> object:
    """What tells the rows of a shard from others."""
    subjects = None if shard.subjects is None else hash_of(shard.subjects.to_numpy().tobytes())
    return state_of_file(shard.path), subjects


def convert_meds(
    folder: Path,
    target: Path,
    *,
    force: bool = False,
    quiet: bool = True,
    drop_unsplit: bool = False,
    as_json: bool = False,
    checksums: bool = False,
    engine: str | None = None,
    workers: int = 1,
) -> None:
    """Converts a folder of MEDS, one shard in the memory of a worker at a time."""
    from tqdm import tqdm

    from varlen.cli.info import as_bytes

    _check_target(folder, target, force)
    start = time.perf_counter()
    shards, split_ids = _shards_of(folder)
    more_columns, zone = _check_schemas(shards)
    roster = _Subjects(split_ids, all(shard.subjects is None for shard in shards), drop_unsplit)
    bar: dict[str, Any] = {"unit": " shards", "leave": False, "disable": quiet or None}
    splits = {shard.split for shard in shards}
    train = [shard for shard in shards if shard.split == "train"]
    if not train:
        raise file_error(
            folder, f"no train split among {', '.join(sorted(splits))}, whose codes are numbered"
        )
    with work_folder(str(target)) as work, engine_of(engine, [], workers) as run:
        codes = _read_codes(run, work, train, bar)
        names = codes.column("code").to_pylist()
        if PAD in names:
            raise value_error(
                "code",
                f"{PAD!r} is a code of the train split, but the word of padding",
                "give it another name",
                file=folder,
            )
        accounts = MedsAccount()
        for shard in tqdm({shard.path: shard for shard in shards}.values(), desc="checking", **bar):
            ids = pq.read_table(shard.path, columns=["subject_id"], partitioning=None).column(0)
            count = len(roster.unsplit)
            with naming_file(shard.path):
                ids = _cast("subject_id", ids, pa.int64())
            roster.add(shard.path, shard.split, pc.unique(ids).to_numpy())
            accounts.add_file(shard.path, ids, roster.unsplit[count:])
        roster.finish()
        parts = _write_shards(run, work, shards, codes, checksums, bar)
        for part in parts:
            accounts += MedsAccount.from_dict(part["accounts"])
        subjects, events, left_out, no_events, size = (
            sum(column) for column in zip(*(part["counts"] for part in parts), strict=True)
        )
        code_table = _with_metadata(codes, folder, accounts)
        accounts.finish(more_columns)
        metadata = Path(work.result, "metadata")
        metadata.mkdir()
        with atomic.naming_target(metadata):
            (metadata / "account.json").write_text(accounts.total.as_text() + "\n")
            pq.write_table(code_table, metadata / "codes.parquet")
            for name in ("dataset.json", "subject_splits.parquet"):
                if (folder / "metadata" / name).is_file():
                    shutil.copyfile(folder / "metadata" / name, metadata / name)
        replace_folder(work.result, str(target))
    if as_json:
        print(json.dumps(accounts.total.as_dict(), indent=2, ensure_ascii=False))
    elif not quiet:
        seconds = time.perf_counter() - start
        print(
            f"{target}: {subjects:,} subjects, {events:,} events, {codes.num_rows:,} codes, "
            f"{as_bytes(size)} in {seconds:,.1f} s"
        )
        for line in accounts.total.summary():
            print(f"  {line}")
        if left_out:
            print(f"  {left_out:,} rows with codes that the train split lacks were left out")
        if no_events:
            print(f"  {no_events:,} subjects without events were left out")
        if roster.unsplit:
            print(f"  {len(roster.unsplit):,} subjects in no split were left out: {id_text(roster.unsplit)}")
        if absent := roster.without_rows():
            print(f"  {absent:,} subjects of subject_splits.parquet have no rows")
        if more_columns:
            print(f"  columns left out: {', '.join(more_columns)}")
        if zone is not None:
            print(f"  time: times of {zone} became UTC")


def _subjects(events: pa.Table) -> int:
    return len(pc.unique(events.column("subject_id")))
