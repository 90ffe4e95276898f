"""A folder of MEDS, as it is on disk, into the folder that meds-torch-data reads."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from varlen.cli.conversion.meds import COLUMNS, PAD, CodeStatistics, convert_shard, normalize
from varlen.cli.conversion.tables import text_in
from varlen.cli.conversion.wrong import Findings, name_file
from varlen.cli.errors import Misuse
from varlen.cli.manual import check_parent

__all__ = ["convert_meds"]

_OWN = {"data", "metadata", "tokenization"}


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
        missing = [name for name in COLUMNS[:3] if name not in table.column_names]
        if missing:
            raise ValueError(f"no column {missing[0]!r}; there are {', '.join(table.column_names)}")
        if "numeric_value" not in table.column_names:
            table = table.append_column("numeric_value", pa.nulls(table.num_rows, pa.float32()))
        table = table.select(list(COLUMNS))
        findings = Findings()
        for name in ("subject_id", "code"):
            for row in np.flatnonzero(table.column(name).is_null().to_numpy()).tolist():
                findings.add(f"{shard.path}: {name}: null at row {row}")
        findings.finish()
        table = _with_kinds(table)
        if shard.subjects is not None:
            table = table.filter(pc.is_in(table.column("subject_id"), shard.subjects))
        return table


def _with_kinds(table: pa.Table) -> pa.Table:
    """The columns of events with the types that MEDS gives them; codes may be a dictionary's."""
    types = pa.types
    wanted = (
        ("integers", pa.int64(), types.is_integer),
        ("times", pa.timestamp("us"), types.is_timestamp),
        ("text", pa.string(), text_in),
        ("numbers", None, lambda kind: types.is_floating(kind) or types.is_integer(kind)),
    )
    for i, (name, (what, kind, fits)) in enumerate(zip(COLUMNS, wanted, strict=True)):
        column = table.column(i)
        if not (fits(column.type) or types.is_null(column.type)):
            raise ValueError(f"{name}: expected {what}, got {column.type}")
        if kind is not None:
            table = table.set_column(i, name, column.cast(kind))
    return table


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


def convert_meds(folder: Path, target: Path, *, force: bool = False, quiet: bool = True) -> None:
    """Converts a folder of MEDS, shard by shard, in memory for one of them.

    Parameters
    ----------
    folder
        Holds data/SPLIT/*.parquet, or data/*.parquet and metadata/subject_splits.parquet.
    target
        The folder to make, whole or not at all.
    force
        Replace what an earlier conversion made.
    quiet
        No progress bar, no summary.

    Raises
    ------
    ValueError
        There is no train split, or an event lacks what it needs: its file and row are named.
    FileExistsError
        The target is there, or holds something else.

    Examples
    --------
    >>> for name in ("meds/data/train", "meds/metadata"):
    ...     Path(name).mkdir(parents=True)
    >>> time = pa.array([0], pa.timestamp("us"))
    >>> table = pa.table({"subject_id": [7], "time": time, "code": ["HR"], "numeric_value": [61.0]})
    >>> pq.write_table(table, "meds/data/train/0.parquet")
    >>> convert_meds(Path("meds"), Path("tensors"))
    >>> sorted(path.name for path in Path("tensors").iterdir())
    ['data', 'metadata', 'tokenization']
    """
    from tqdm import tqdm

    from varlen import io
    from varlen.cli.info import as_bytes

    _check_target(folder, target, force)
    start = time.perf_counter()
    shards = _shards_of(folder)
    bar: dict[str, Any] = {"unit": " shards", "leave": False, "disable": quiet or None}
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
    words = {"code": [PAD, *codes.column("code").to_pylist()]}
    subjects = events = left_out = without = size = 0
    with _new_folder(target) as new:
        for shard in tqdm(shards, desc="writing", **bar):
            table, unknown = normalize(_read(shard), codes)
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
    if not quiet:
        took = time.perf_counter() - start
        print(
            f"{target}: {subjects:,} subjects, {events:,} events, {codes.num_rows:,} codes, "
            f"{as_bytes(size)} in {took:,.1f} s"
        )
        if left_out:
            print(f"  {left_out:,} rows with codes that the train split lacks were left out")
        if without:
            print(f"  {without:,} subjects without events were left out")
