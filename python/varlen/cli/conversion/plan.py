"""Inputs as a stream of joint columns, with dtypes learned in one pass."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen._core import Joint
from varlen.cli.conversion.inputs import Input
from varlen.cli.conversion.order import sort_inside
from varlen.cli.conversion.words import Vocabularies
from varlen.cli.conversion.wrong import Findings, naming_file
from varlen.errors import no_column_error, value_error
from varlen.io.account import Account
from varlen.io.declared_nulls import DeclaredNulls

#: What to do about nulls.
SEE_NULLS = "see --nulls"

if TYPE_CHECKING:
    from varlen.cli.conversion.regroup import GatheredRows
    from varlen.cli.conversion.static import StaticTable
    from varlen.cli.conversion.tables import TableReader
    from varlen.io import Schema

__all__ = ["ConversionPlan", "FileMap", "StaticSource", "cast"]

FileMap = Callable[[Callable[[Input], Any], Sequence[Input]], Iterable[Any]]


class _NoBar(contextlib.nullcontext[None]):
    def update(self, _: int) -> None:
        """Shows nothing."""


@dataclass
class ConversionPlan:
    """The inputs and the options for reading; `words`, `depths` and `dtypes` are learned on the way."""

    inputs: list[Input]
    rows: int = 65536
    columns: list[str] | None = None
    groups: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    regroup: bool = False
    sort_by: tuple[str, ...] = ()
    nulls: tuple[str, Any] = ("refuse", None)
    types: dict[str, Any] = field(default_factory=dict)
    schema: Schema | None = None
    levels: dict[str, int] = field(default_factory=dict)
    trailing: dict[str, tuple[int, ...]] = field(default_factory=dict)
    with_nulls: set[str] = field(default_factory=set)
    words: Vocabularies = field(default_factory=Vocabularies)
    static_tables: list[StaticTable] = field(default_factory=list)
    folder: Path = Path()
    quiet: bool = True
    depths: dict[str, int] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    has_long: bool = False  # some number may have more digits than a double
    has_bools: bool = False  # some line has true or false
    booleans: dict[str, bool] = field(default_factory=dict)  # keys of true and false alone, and of numbers
    time_zones: dict[str, dict[int, str]] = field(default_factory=dict)
    fields: dict[str, list[str]] = field(default_factory=dict)
    dtypes: dict[str, np.dtype] = field(default_factory=dict)
    findings: Findings = field(default_factory=Findings)
    account: Account = field(default_factory=Account)
    missing: dict[str, int] = field(default_factory=dict)  # nulls of lines
    gathered_rows: GatheredRows | None = None
    file_map: FileMap = map  # how a function of each file is called
    is_learned: bool = False
    _lines_of: Input | None = None  # the file of lines that is read
    _stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __enter__(self) -> ConversionPlan:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def part(self, inputs: list[Input], columns: list[str] | None = None) -> ConversionPlan:
        """A plan for some of the inputs, which knows what this one has learned; or of some columns alone."""
        fresh: dict[str, Any] = {"findings": Findings(), "account": Account(), "missing": {}}
        fresh |= {"quiet": True, "file_map": map}
        if columns is not None:
            fresh |= {"columns": columns, "groups": (), "constants": (), "regroup": False, "sort_by": ()}
        out = replace(
            self, inputs=inputs, gathered_rows=None, static_tables=[], _lines_of=None,
            _stack=contextlib.ExitStack(), **fresh,
        )  # fmt: skip
        if "tables" in vars(self):
            out.tables = self.tables.part(inputs, columns)
        return out

    @property
    def lines(self) -> bool:
        """Whether the inputs are JSON lines, not tables."""
        return self.inputs[0].kind == "lines"

    @cached_property
    def wanted_columns(self) -> list[str] | None:
        """The chosen columns, after those that group rows or are constant in groups; None for all."""
        if self.columns is None:
            return None
        return [
            *(name for name in (*self.groups, *self.constants) if name not in self.columns),
            *self.columns,
        ]

    @cached_property
    def tables(self) -> TableReader:
        """The reader of the tables."""
        from varlen.cli.conversion.tables import TableReader

        columns = (self.schema or {}).items()
        ids = [name for name, column in columns if column.kind == "id" and not column.is_words]
        reader = TableReader(
            self.inputs,
            self.rows,
            self.wanted_columns,
            self.types,
            self.words.user_keys,
            self.wanted_types,
            self.fixed_shapes,
            ids,
            self.file_map,
        )
        missing = [name for name in self.groups if name not in reader.columns]
        if missing:
            raise no_column_error("", missing[0], reader.columns, file=self.inputs[0].path)
        return reader

    def scratch(self) -> Path:
        """A folder for files that live as long as the plan is entered."""
        folder = tempfile.TemporaryDirectory(prefix=".varlen-", dir=self.folder)
        return Path(self._stack.enter_context(folder))

    def has_text(self) -> bool:
        """Whether some column of the tables holds strings: its vocabulary is known only after a pass."""
        return self.tables.has_text() or any(table.has_text() for table in self.static_tables)

    @property
    def reading(self) -> Path:
        """The file being read, for errors about its contents."""
        now = self._lines_of if self.lines else None if self.regroup else self.tables.reading
        return (now or self.inputs[0]).path

    @property
    def wanted_types(self) -> dict[str, Any]:
        """The declared types, one by one or by the schema."""
        return {**(self.schema.dtypes if self.schema is not None else {}), **self.types}

    @cached_property
    def fixed_shapes(self) -> dict[str, tuple[int, ...]]:
        """The fixed dims that the schema declares."""
        return {name: column.trailing for name, column in (self.schema or {}).items() if column.trailing}

    @cached_property
    def declared_depths(self) -> dict[str, int]:
        """The lists around each value that the schema declares."""
        columns = (self.schema or {}).items()
        return {name: column.level + len(column.trailing) for name, column in columns if column.level}

    @cached_property
    def declared_nulls(self) -> DeclaredNulls:
        """The replacements of nulls, by column."""
        return DeclaredNulls(*self.nulls, self.words.null_word, SEE_NULLS, self.schema)

    def says(self, name: str) -> str:
        """The option that declares the type of a key."""
        return "--types" if name in self.types else "the schema"

    @property
    def zones(self) -> dict[str, str]:
        """The zone of each key of times before it became UTC."""
        if not self.lines:
            return self.tables.zones
        return {name: "a zone" for name, zones in self.time_zones.items() if 1 in zones}

    def needs_pass(self) -> bool:
        """Whether the dtypes or vocabularies of the tables are known only after a pass."""
        return len(self.inputs) > 1 or self.has_text() or self.tables.has_decimals()

    def read(self, phase: str) -> Iterator[Joint]:
        """The pieces, once through, with a progress bar that names the pass."""
        self.words.begin_pass()
        self.findings = Findings()
        self.account, self.missing = Account(), {}
        for table in self.static_tables:
            table.begin_pass()
        if self.lines:
            bar = self._bar(phase, lambda: sum(one.path.stat().st_size for one in self.inputs), "B")
            is_grouped = self.groups and self.is_learned
            pieces = self._from_events(bar.update) if is_grouped else self._from_lines(bar.update)
        else:
            bar = self._bar(phase, lambda: self.tables.total, " rows")
            self.tables.counts = self.regroup or phase == "writing"
            pieces = self._from_tables(bar.update)
        inner = [name for name in self.sort_by if name not in self.groups[:1]]
        if self.lines and self.groups and not self.is_learned:
            inner = []
        with bar:
            for joint in pieces:
                count = self.findings.count
                for table in self.static_tables:
                    with self.findings.gather():
                        joint = table.join(joint, self.words)
                if self.findings.count == count:
                    if phase == "writing":
                        self._check_row_ids(joint)
                    yield sort_inside(joint, inner, self.words) if inner else joint
        self.findings.finish()

    def _check_row_ids(self, joint: Joint) -> None:
        name = self.words.row_ids
        if name is not None and joint.dim(name) != 0:
            with naming_file(self.reading):
                raise value_error("--row-ids", f"{name!r} is not a key with one value a record")

    def _bar(self, phase: str, count: Callable[[], int | None], unit: str) -> Any:
        """A progress bar; without one nothing is made that a process leaves behind if it is ended."""
        if self.quiet:
            return _NoBar()
        from tqdm import tqdm

        return tqdm(total=count(), unit=unit, desc=phase, unit_scale=True, leave=False, disable=None)

    @property
    def rows_read(self) -> int:
        """The number of rows of the inputs in the last whole pass."""
        return (self.account if self.lines else self.tables.account).rows.source.values

    def whole_account(self) -> Account:
        """The account of the last whole pass: the input, and everything left out on the way."""
        account = self.account if self.lines else self.tables.account + self.account
        self._count_nulls(account, self.missing if self.lines else self.tables.missing)
        account += self.static_account()
        self.words.account_for(account)
        return account

    def static_account(self) -> Account:
        """The account of the static tables."""
        account = Account()
        for table in self.static_tables:
            self._count_nulls(account, table.missing)
        return sum((table.account() for table in self.static_tables), account)

    def _count_nulls(self, account: Account, missing: dict[str, int]) -> None:
        policy, value = self.nulls
        for key, count in missing.items():
            word = self.words.null_word if key in self.words else None
            if word is not None or policy == "fill":
                became = str(value) if word is None and key in self.words else word or value
                still = word is None and value != value  # NaN, which counts as a null
                account.change(key, f"nulls became {became!r}", count, 0 if still else count)

    def _from_lines(self, advance: Callable[[int], Any]) -> Iterator[Joint]:
        return (joint for _, joint in self._lines(advance))

    def _lines(self, advance: Callable[[int], Any]) -> Iterator[tuple[Input, Joint]]:
        from varlen.cli.conversion.lines import read_lines

        for one in self.inputs:
            self._lines_of = one
            with naming_file(one.path):
                for joint in read_lines(self, one, advance):
                    for name in self.groups:
                        if joint.dim(name) != 0:
                            names = ", ".join(joint.names)
                            what = "no key" if joint.dim(name) is None else "lists are no group, in the key"
                            raise value_error("--group-by", f"{what} {name!r}; there are {names}")
                    yield one, joint

    def _from_events(self, advance: Callable[[int], Any]) -> Iterator[Joint]:
        """Events of JSON lines, which have their dtypes and ids already, by their groups."""
        from varlen.cli.conversion.events import EventReader
        from varlen.cli.conversion.joints import read_joints
        from varlen.interop.arrow import Nulls

        pieces = ((one, cast(joint, self.dtypes)) for one, joint in self._lines(advance))
        words = {name: self.words.words_of(name) for name in self.groups if name in self.words}
        events = EventReader(pieces, self.inputs, self.groups, self.words)
        for joint, _ in read_joints(self, events, Nulls("nan"), Vocabularies(vocabularies=words)):
            yield joint

    def _from_tables(self, advance: Callable[[int], Any]) -> Iterator[Joint]:
        from varlen.cli.conversion.joints import read_joints

        nulls = self.declared_nulls
        for joint, rows in read_joints(self, self.tables, nulls, self.words, self.schema, self.wanted_types):
            advance(rows)
            yield joint


class StaticSource(NamedTuple):
    """The files of static tables, and the key that finds their rows."""

    inputs: list[Input]
    key: str

    def open(self, plan: ConversionPlan) -> None:
        """Gives the plan the tables."""
        if not self.inputs:
            return
        from varlen.cli.conversion.static import StaticTable

        kind = plan.types.get(self.key)
        plan.static_tables = [StaticTable(one, self.key, plan.declared_nulls, kind) for one in self.inputs]


def cast(joint: Joint, dtypes: dict[str, np.dtype]) -> Joint:
    """The same columns in the named dtypes; others stay. The spans were learned, so nothing is lost."""
    values = [joint.values(name) for name in joint.names]
    values = [
        _finer(name, array, dtypes[name])
        if array.dtype.kind in "mM" and name in dtypes
        else array.astype(dtypes.get(name, array.dtype), copy=False)
        for name, array in zip(joint.names, values, strict=True)
    ]
    levels = [joint.level(dim) for dim in range(1, joint.depth + 1)]
    return Joint(joint.names, joint.dims, values, levels, len(joint))


def _finer(name: str, times: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if times.dtype == dtype:
        return times
    try:
        cast = times.astype(dtype)
        misfit = (cast.astype(times.dtype) != times) & ~np.isnat(times)
    except OverflowError:
        misfit = np.ones(len(times), bool)
    if misfit.any():
        raise value_error(
            name, f"{times[misfit.argmax()]} does not fit {dtype}, as other files have it", "see --types"
        )
    return cast
