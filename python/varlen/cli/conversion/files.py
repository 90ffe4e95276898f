"""Conversions of many files on an engine: a shard for each file, and one vocabulary and account for all."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from varlen import _core
from varlen.cli.conversion.inputs import Input
from varlen.cli.conversion.plan import ConversionPlan, cast, learn_dtypes
from varlen.cli.conversion.words import Vocabularies
from varlen.cli.conversion.wrong import naming_file
from varlen.cli.errors import Misuse
from varlen.io import Account, Schema, ShardSet, open_shards, read_schema
from varlen.io.building.drafts import Step
from varlen.io.building.engines import engine_of
from varlen.io.building.plan import build_folder

__all__: list[str] = []

#: Options that look at more than one file.
WHOLE = (
    "group_by", "regroup", "constant", "static", "vocabulary", "reserve", "unknown", "narrow", "types",
    "infer_schema", "rows_per_shard", "drop_unsplit", "force",
)  # fmt: skip


class SourceFile(NamedTuple):
    """A file, and its size and time, so that one that changed is read again."""

    source: Input
    size: int
    time: int


class FileStep(Step):
    """The records of one file, as a schema has them."""

    def __init__(self, schema: Schema, how: dict[str, Any]) -> None:
        self.schema, self.how = schema, how
        self.identity = b"convert" + schema.to_toml().encode() + repr(sorted(how.items())).encode()

    def pieces(self, partition: SourceFile, account: Account) -> Iterator[_core.Joint]:
        """The records, piece after piece, with the words that they know."""
        how = dict(self.how)
        null_word, padding, row_ids = (how.pop(name) for name in ("null_word", "padding", "row_ids"))
        words = Vocabularies(null_word=null_word, padding=padding, row_ids=row_ids)
        path, count = partition.source.path, 0
        with (
            naming_file(path, (ValueError, TypeError, OverflowError)),
            ConversionPlan([partition.source], schema=self.schema, words=words, **how) as plan,
        ):
            if plan.lines or plan.nulls[0] == "nan" or plan.needs_pass():
                learn_dtypes(plan, narrow=False)
            dtypes = {name: dtype for name, dtype in plan.dtypes.items() if name not in plan.wanted_types}
            for joint in plan.read("writing"):
                own = {name: words.words_of(name) for name in joint.names if name in words}
                yield cast(joint, dtypes).with_meta({"vocabularies": own})
                count += 1
            if count == 0:
                yield self._no_records(plan, words)
            account += plan.whole_account()

    def _no_records(self, plan: ConversionPlan, words: Vocabularies) -> _core.Joint:
        """Nothing, but under the keys of the schema."""
        names = [name for name in self.schema if plan.columns is None or name in plan.columns]
        columns = [self.schema[name] for name in names]
        for name, column in zip(names, columns, strict=True):
            if column.is_words:
                words.begin(name)
        dtypes = [np.dtype(np.int64 if column.dtype is None else column.dtype) for column in columns]
        values = [
            np.zeros((0, *column.trailing), dtype) for column, dtype in zip(columns, dtypes, strict=True)
        ]
        dims = [column.level for column in columns]
        levels = [np.zeros(0, np.int64)] * max(dims, default=0)
        own = {name: words.words_of(name) for name in names if name in words}
        return _core.Joint(names, dims, values, levels, 0, {"vocabularies": own})


def convert_files(arguments: argparse.Namespace, inputs: list[Input], how: dict[str, Any]) -> ShardSet:
    """The folder of a shard for each input, made on an engine."""
    for option in WHOLE:
        if getattr(arguments, option):
            flag = f"--{option.replace('_', '-')}"
            raise Misuse(f"{flag}: --workers and --engine read each file alone, and make a shard of it")
    if arguments.schema is None:
        advice = "`varlen convert --infer-schema FILE IN...` writes one"
        raise Misuse(f"--workers and --engine need --schema, by which all files are read alike; {advice}")
    schema = read_schema(arguments.schema)
    parts = [_state(one) for one in inputs]
    folder = str(arguments.target.resolve())
    options = {
        "schema": schema, "vocabularies": {}, "row_ids": arguments.row_ids, "durable": True,
        "padding_id": not arguments.no_padding_id, "checksums": arguments.checksums,
        "compress": arguments.compress,
    }  # fmt: skip
    names = {"null_word": arguments.null_word, "padding": not arguments.no_padding_id}
    step = FileStep(schema, {**how, **names, "row_ids": arguments.row_ids, "quiet": True})
    has_bar = not arguments.quiet and sys.stderr.isatty()
    with engine_of(arguments.engine, parts, arguments.workers or 1) as run:
        build_folder(run, parts, step, folder, options, has_bar)
    return open_shards(folder)


def _state(source: Input) -> SourceFile:
    stat = source.path.stat()
    return SourceFile(source, stat.st_size, stat.st_mtime_ns)
