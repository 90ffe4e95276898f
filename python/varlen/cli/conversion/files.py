"""Conversions of many files on an engine: a shard for each file, and one vocabulary and account for all.

Files that share a group are read together, by one task; the group column of each tells before. Types and
words that no schema declares are learned of each part first, and kept until the folder is there. One
process learns them of all files where parts differ, or a part has an error, which is then that of a
conversion without an engine.
"""

from __future__ import annotations

import argparse
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from varlen import _core
from varlen.cli.conversion.inputs import Input
from varlen.cli.conversion.intent import NULL, schema_of
from varlen.cli.conversion.learning import (
    PartLessons,
    learn_dtypes,
    learn_part,
    lessons_of,
    merge_lessons,
    note_of,
)
from varlen.cli.conversion.plan import ConversionPlan, StaticSource
from varlen.cli.conversion.plan import cast as cast_columns
from varlen.cli.conversion.words import Vocabularies
from varlen.cli.conversion.wrong import naming_file
from varlen.io import Account, Schema
from varlen.io.building.drafts import Step
from varlen.io.building.engines import LostWorkerError, results_of, run_tasks
from varlen.io.building.plan import build_folder
from varlen.io.dtypes import dtype_named
from varlen.io.file import File
from varlen.io.work_folder import Part, WorkFolder

__all__: list[str] = []

_WRONG = (ValueError, TypeError, OverflowError)

_JOINED = "joined by id, from static tables"

#: Options that change no row.
_OUTER = {
    "sources", "target", "workers", "engine", "quiet", "json", "force", "run", "parser", "schema",
    "rows_per_shard", "checksums", "compress",
}  # fmt: skip


class SourceFile(NamedTuple):
    """A file, and its size and time, so that one that changed is read again."""

    source: Input
    size: int
    time: int


Partition = tuple[SourceFile, ...]


class FileStep(Step):
    """The records of a partition's files."""

    def __init__(self, plan: ConversionPlan, static: StaticSource, identity: bytes) -> None:
        self._template = pickle.dumps(plan.part(plan.inputs))  # threads share the step, but no plan
        self._static, self.identity = static, identity
        self.schema: Schema | dict[str, Any] = plan.schema or {}

    def plan(self) -> ConversionPlan:
        """A plan of its own, of all files."""
        return cast(ConversionPlan, pickle.loads(self._template))

    def open(self, partition: Partition) -> ConversionPlan:
        """The plan of the files, which knows what was learned of all files."""
        plan = self.plan().part([one.source for one in partition])
        self._static.open(plan)
        return plan

    def pieces(self, partition: Partition, account: Account) -> Iterator[_core.Joint]:
        """The records, piece after piece, with the words that they know."""
        with naming_file(partition[0].source.path, _WRONG), self.open(partition) as plan:
            if not plan.is_learned and (plan.lines or plan.nulls[0] == "nan" or plan.needs_pass()):
                learn_dtypes(plan, narrow=False)
            dtypes = {name: dtype for name, dtype in plan.dtypes.items() if name not in plan.wanted_types}
            records = count = 0
            for joint in plan.read("writing"):
                own = {name: plan.words.words_of(name) for name in joint.names if name in plan.words}
                yield cast_columns(joint, dtypes).with_meta({"vocabularies": own})
                records, count = records + len(joint), count + 1
            if count == 0:
                yield self._no_records(plan)
            static_keys = [name for table in plan.static_tables for name in table.keys]
            plan.static_tables = []  # they are counted once, for all files
            account += plan.whole_account()
            for name in static_keys:
                account.leave_out(name, _JOINED, -records, None)

    def sources(self, partition: Partition) -> tuple[str, ...]:
        """The files of a partition."""
        return tuple(str(one.source.path) for one in partition)

    def settle(self, account: Account, files: Sequence[File]) -> None:
        """Counts the static tables, which the records of all files use."""
        if not self._static.inputs:
            return
        plan = self.plan()
        plan.words = Vocabularies(null_word=plan.words.null_word)
        self._static.open(plan)
        key = self._static.key
        for file in (file for file in files if file.names):  # one without any record has no key
            ids, vocabulary = file.joint().values(key), file.fields[key].vocabulary
            if vocabulary is not None:
                ids = plan.words.encode(key, vocabulary, ids)
            for table in plan.static_tables:
                table.join(_core.Joint([key], [0], [ids], [], len(ids)), plan.words)
        for column in account.columns.values():
            column.reasons.pop(_JOINED, None)
        account += plan.static_account()

    def _no_records(self, plan: ConversionPlan) -> _core.Joint:
        """Nothing, but under the keys of the schema."""
        schema = self.schema
        names = [name for name in schema if plan.columns is None or name in (plan.wanted_columns or ())]
        columns = [schema[name] for name in names]
        for name, column in zip(names, columns, strict=True):
            if column.is_words:
                plan.words.begin(name)
        dtypes = [dtype_named(column.dtype or "int64") for column in columns]
        values = [
            np.zeros((0, *column.trailing), dtype) for column, dtype in zip(columns, dtypes, strict=True)
        ]
        dims = [column.level for column in columns]
        levels = [np.zeros(0, np.int64)] * max(dims, default=0)
        own = {name: plan.words.words_of(name) for name in names if name in plan.words}
        return _core.Joint(names, dims, values, levels, 0, {"vocabularies": own})


class KeyTask(NamedTuple):
    """The arguments of the task that finds the groups of a file: its number, and the conversion."""

    number: int
    step: FileStep


def find_groups(task: KeyTask, file: SourceFile) -> set[Any]:
    """The distinct values of the first group column."""
    files, out = task.step.plan(), set[Any]()
    name = files.groups[0]
    with naming_file(file.source.path, _WRONG), files.part([file.source], [name]) as plan:
        plan.nulls = "nan", None  # whoever groups the rows refuses them, and says why
        if not plan.is_learned:
            plan.words = Vocabularies(null_word=NULL)
            plan.__dict__.pop("declared_nulls", None)
        for joint in plan.read("reading"):
            values = np.unique(joint.values(name))
            if name in plan.words:
                words = plan.words.words_of(name)
                out.update(words[i] for i in values.tolist())
            else:
                out.update((values.astype("M8[us]") if values.dtype.kind == "M" else values).tolist())
    return out


def join_files(files: Sequence[SourceFile], keys: Sequence[set[Any]]) -> list[Partition]:
    """Runs of files, so that no two of them share a key.

    >>> join_files(["a", "b", "c", "d"], [{1}, {2, 3}, set(), {3, 4}])
    [('a',), ('b', 'c', 'd')]
    """
    last = {key: i for i, own in enumerate(keys) for key in own}
    out: list[Partition] = []
    begin = end = 0
    for i, own in enumerate(keys):
        end = max([end, i, *(last[key] for key in own)])
        if end == i:
            out.append(tuple(files[begin : i + 1]))
            begin = i + 1
    return out


class FileCall(NamedTuple):
    """The arguments of a task that calls a function of a file: its number, and the function."""

    number: int
    function: Callable[[Input], Any]


def call_function(task: FileCall, source: Input) -> Any:
    """The result of the function."""
    return task.function(source)


class LearnTask(NamedTuple):
    """The arguments of the task that learns types and words of a part: its number, and the conversion."""

    number: int
    step: FileStep


def learn_lessons(task: LearnTask, partition: Partition) -> PartLessons:
    """What the part tells."""
    with task.step.open(partition) as plan:
        return learn_part(plan)


def learn_note(task: LearnTask, partition: Partition) -> dict[str, Any]:
    """What the part tells, as JSON has it."""
    return note_of(learn_lessons(task, partition))


def learn_files(
    run: Any,
    arguments: argparse.Namespace,
    plan: ConversionPlan,
    static: StaticSource,
    work: WorkFolder | None,
) -> int:
    """Learns the types and words of all files, part by part on an engine, and returns the number of rows.

    The work folder keeps what parts tell, so that a run which goes on reads none of them again for that.
    """

    def map_files(function: Callable[[Input], Any], inputs: Sequence[Input]) -> Iterable[Any]:
        tasks = [(FileCall(i, function), one) for i, one in enumerate(inputs)]
        results = _try_all(run, call_function, tasks)
        return map(function, inputs) if results is None else results

    plan.file_map = map_files
    static.open(plan)
    rows = _learn_parts(run, arguments, plan, static, work)
    return learn_dtypes(plan, narrow=arguments.narrow) if rows is None else rows


def _learn_parts(
    run: Any,
    arguments: argparse.Namespace,
    plan: ConversionPlan,
    static: StaticSource,
    work: WorkFolder | None,
) -> int | None:
    """Learns what the parts tell; None if they do not tell all."""
    if not plan.lines:
        _ = plan.tables  # the columns and types of all files, for each part
    step, files = FileStep(plan, static, b""), [state_of(one) for one in plan.inputs]
    try:  # events of lines nest after they are learned
        parts = [(file,) for file in files] if plan.lines else _partitions(run, step, plan, files)
    except (ValueError, TypeError):
        return None
    if len(parts) == 1:
        return None
    bar = {"desc": "reading", "unit": " parts", "leave": False, "disable": plan.quiet or None}
    tasks = [(LearnTask(i, step), part) for i, part in enumerate(parts)]
    if work is None or static.inputs:
        lessons = _try_all(run, learn_lessons, tasks, bar)
    else:
        type_files = [] if plan.lines else files  # all give columns their types
        how = _identity(arguments, plan, static, []), type_files
        jobs = [Part((how, own), (), str(own[0].source.path), task, own) for task, own in tasks]
        notes = _try(lambda: work.run(run, learn_note, jobs, bar))
        lessons = None if notes is None else [lessons_of(plan, note) for note in notes]
    return None if lessons is None else merge_lessons(plan, lessons, narrow=arguments.narrow)


def _try_all(run: Any, task: Any, tasks: Sequence[tuple[Any, Any]], bar: Any = None) -> list[Any] | None:
    """The results of tasks, or None if one of them fails: one process then raises what it finds first."""
    return _try(lambda: results_of(run, task, tasks, bar))


def _try(call: Callable[[], list[Any]]) -> list[Any] | None:
    try:
        return call()
    except LostWorkerError:
        raise
    except Exception:
        return None


def convert_files(
    run: Any, arguments: argparse.Namespace, plan: ConversionPlan, static: StaticSource, folder: str
) -> FileStep:
    """Makes the folder of a shard for each input, or for inputs that share a group, on an engine."""
    files = [state_of(one) for one in plan.inputs]
    is_last = arguments.rows_per_shard is None  # else the files are written once more
    step = FileStep(plan, static, _identity(arguments, plan, static, files))
    options = {
        "vocabularies": {}, "row_ids": arguments.row_ids, "durable": True,
        "padding_id": not arguments.no_padding_id, "checksums": arguments.checksums and is_last,
        "compress": arguments.compress and is_last,
    }  # fmt: skip
    has_bar = not arguments.quiet and sys.stderr.isatty()
    parts = _partitions(run, step, plan, files)
    if plan.schema is None:
        step.schema = _learned_schema(step, plan, parts)
        if not step.schema:  # no file has records, and so none has keys
            options["row_ids"] = None
    build_folder(run, parts, step, folder, {"schema": step.schema, **options}, has_bar)
    return step


def _partitions(run: Any, step: FileStep, plan: ConversionPlan, files: list[SourceFile]) -> list[Partition]:
    if not plan.groups or len(files) == 1:
        return [(file,) for file in files]
    if plan.groups[0] in plan.sort_by:  # one order of the records of all files
        return [tuple(files)]
    keys: dict[int, set[Any]] = {}
    tasks = [(KeyTask(i, step), file) for i, file in enumerate(files)]
    sources = {i: (str(file.source.path),) for i, file in enumerate(files)}
    run_tasks(run, find_groups, tasks, None, take=keys.__setitem__, sources=sources)
    return join_files(files, [keys[i] for i in range(len(files))])


def _learned_schema(
    step: FileStep, plan: ConversionPlan, parts: Sequence[Partition]
) -> Schema | dict[str, Any]:
    """The schema that the first records have."""
    first = None
    for part in parts:
        with naming_file(part[0].source.path, _WRONG), step.open(part) as own:
            first = next(own.read("writing"), None)
        if first is not None:
            break
    if first is None:
        return {}
    dtypes = {name: dtype for name, dtype in plan.wanted_types.items() if dtype is not str}
    return schema_of(plan, first, {**plan.dtypes, **dtypes})


def _identity(
    arguments: argparse.Namespace, plan: ConversionPlan, static: StaticSource, files: list[SourceFile]
) -> bytes:
    """What the records depend on beside their own file."""
    how = {name: value for name, value in vars(arguments).items() if name not in _OUTER}
    names = [Path(item.partition("=")[2] or item) for item in arguments.vocabulary]
    words = [repr(path.stat().st_mtime_ns) for path in names if path.exists()]
    others = [state_of(one) for one in static.inputs] + (files if plan.is_learned else [])
    states = [(str(one.source.path), one.size, one.time) for one in others]
    schema = "" if plan.schema is None else plan.schema.to_toml()
    return repr(("convert", sorted(how.items()), words, states, schema)).encode()


def state_of(source: Input) -> SourceFile:
    """The file as it is now."""
    stat = source.path.stat()
    return SourceFile(replace(source), stat.st_size, stat.st_mtime_ns)
