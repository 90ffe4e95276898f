"""``varlen convert``: JSON lines, tables and MEDS folders into .nrt files."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from varlen.cli.conversion.inputs import Input, find_inputs, is_meds
from varlen.cli.errors import Misuse
from varlen.cli.manual import add_command, add_engine, check_parent, check_positive

if TYPE_CHECKING:
    from varlen.cli.conversion.plan import ConversionPlan, StaticSource
    from varlen.io import Account, ShardSet

__all__ = ["add_parser", "add_reading", "run"]

_ROWS_AT_ONCE = 4096

_DESCRIPTION = """\
Converts IN... into OUT piece by piece; memory use does not grow with the input. IN is a file, a
pattern or a folder; several inputs become one data set, in this order.

  .jsonl .ndjson .json   one record per line: an object of numbers, strings, nested lists or
                         objects; fields of objects, also in lists, become keys (visit.code)
  .parquet .pq           tables: a list column becomes a nested key, and each field of a struct
  .feather .arrow .ipc   becomes a key (visit.code); these, CSV and .zst need pyarrow
  .csv .tsv
  .gz .bz2 .xz .zst      compressed JSON lines, CSV and TSV
  a folder of MEDS       data/ and metadata/, as meds-torch-data reads them: see below
  .nrt, a folder of them with --compress the same rows in fewer bytes, which only varlen reads;
                         without it the plain files of compressed ones, bit for bit

OUT is one .nrt file, or with --rows-per-shard a folder of them with an index. Rows keep their
order. The command leaves out an index that pandas stored. If rows are wrong, it names all of
them and writes nothing.

Strings become ids, and the file stores their vocabulary. --vocabulary uses an existing one,
such as the training set's for a validation set: FILE is a .nrt file, a folder of shards, JSON
(key to words), or, as KEY=FILE, a text file with one word per line. A word that it lacks is
refused, or becomes --unknown WORD. Row ids in FILE are never used as vocabulary. Id 0 is the
word [PAD], which pads batches, unless you pass --no-padding-id or an existing vocabulary.
--reserve gives its words the first ids; no value may be one of them.

Commas separate the fields of .csv, and tabs those of .tsv. If the header has none, the command
looks there for semicolons, tabs or bars; --delimiter CHAR names the separator instead. An empty
CSV field is a null. In columns of numbers and times, so are NA, NULL, nan and the like; in
columns of words they are words.

--group-by nests a long table, or lines with one event each: consecutive rows with the same
value become one record, and a second --group-by makes sequences inside it. Group columns keep
one value per group, and --constant columns one per record; a record with several values there
is refused. So are a null or NaN in a group column, and a group whose rows are not together.
--regroup gathers such rows, and uses files beside OUT if there are many. --sort-by orders the
contents of a record by keys that have a value for each element. With --regroup it can order the
records too, by the first group column.

--static joins tables that have one row per id. The id is the value of the first --group-by, or
of --row-ids.

A column gets the type that holds all its values in all files. A whole number that would change,
for example beside floats, is refused; --types names the type to read instead, also for the ids
of static tables. A value that does not fit a named type is refused; only floats are rounded.

A CSV column becomes numbers or times only if every text in every file survives the round trip.
One leading zero or plus (0389, +5), more digits than int64 or a double can hold, or one word
(V10) makes it text, and the summary says so. Zeros at the end of a decimal, an exponent and
spaces around a number do not. Columns with words in --vocabulary are text. If --types or a
schema makes them numbers, 0389 becomes 389, and the account counts such texts; a column that a
schema calls an id refuses them.

--infer-schema events.toml IN... writes down each column's kind, dtype, nesting and zone, and
whether it has nulls. Edit the file; --schema events.toml then checks every later input. If a
column is missing or new, a value does not fit, or a null is forbidden, the command names it and
writes nothing. OUT stores the schema, so --schema train.nrt checks a validation set against the
schema of the training set.

Times with a zone become UTC, and the summary says so. One column may not mix times with and
without a zone. Strings in JSON lines are words, unless --types reads them as times or numbers,
as in t=datetime64[s]. true and false beside numbers are refused, unless --types names their key.

The account at the end states what came in, what went out, what was left out and why. OUT stores
it, and `varlen info --account OUT` shows all of it. If a row or a value is lost, the command
fails, and OUT stays as it was.

--workers N converts files in N processes, and --engine on Dask or Ray: OUT is a folder with a
shard for each file, or with --rows-per-shard the folder that one process writes. It is the same
on every engine. Files that share a group are one shard, which one process makes; so are all
files if --sort-by orders the records. Without --schema the processes read all files first, for
their types and words; with it, no file is read twice for others. --infer-schema takes --workers
and --engine, too.

A run with --workers or --engine that was stopped goes on where it was, and so does one that
converts a folder of MEDS or of .nrt files: files that are done and did not change are not read
again. They wait in OUT, or in the folder .OUT.parts beside it; there are types and words, too.

A folder of MEDS becomes the folder that meds-torch-data makes of it: data/SHARD.nrt with
time_delta_days, code and numeric_value; tokenization/schemas/SHARD.parquet with static codes
and times; metadata/codes.parquet with the index of each code; metadata/account.json with the
account. The codes are those of the train split; rows with other codes are left out and counted.
Values are normalized by the mean and deviation of their code. Values of codes without a
deviation, infinite values, and values beyond float32 become NaN and are counted. Days count
whole seconds. A subject in no split is refused; --drop-unsplit leaves it out and counts it. A
subject in two files, in two splits, or in a split other than its folder's is refused.
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = add_command(
        commands,
        "convert",
        "turn JSON lines, Parquet, Feather, Arrow, CSV or MEDS into .nrt",
        _DESCRIPTION,
        run,
    )
    parser.set_defaults(append=False)
    add = parser.add_argument
    add("sources", metavar="IN", nargs="+", help="files, patterns or folders to read")
    add(
        "target",
        metavar="OUT",
        type=Path,
        nargs="?",
        help="the .nrt file to write, or the folder with --rows-per-shard",
    )
    add_reading(parser)
    add(
        "--schema",
        metavar="FILE",
        help="check columns against this schema: TOML, or a file or folder made with one",
    )
    add(
        "--infer-schema",
        metavar="TOML",
        type=Path,
        help="write the columns' schema into this file, and no OUT",
    )
    add("--types", metavar="A=TYPE,...", help="read these columns as str, or as a NumPy dtype")
    add(
        "--vocabulary",
        metavar="[KEY=]FILE",
        action="append",
        default=[],
        help="use this vocabulary's words and ids; may be repeated",
    )
    add("--reserve", metavar="WORD,...", help="give these words the first ids of every vocabulary")
    add("--no-padding-id", action="store_true", help="do not reserve id 0 of words for padding")
    add("--unknown", metavar="WORD", help="the word that replaces words missing from --vocabulary")
    add("--row-ids", metavar="KEY", help="the key that identifies records, with one value per record")
    add(
        "--narrow",
        action="store_true",
        help="store integers in the narrowest dtype that holds them, floats as float32",
    )
    add("--rows-per-shard", metavar="N", type=int, help="write shards of N records into the folder OUT")
    add_engine(
        parser,
        "processes that convert files, a shard for each",
        "what converts the files, a shard for each",
        default=None,
    )
    add("--compress", action="store_true", help="store numbers in as few bits as they need")
    add("--drop-unsplit", action="store_true", help="leave out MEDS subjects that are in no split")
    add("--checksums", action="store_true", help="store checksums, which `varlen verify` compares")
    add("--force", action="store_true", help="replace OUT if it exists")
    add("--json", action="store_true", help="print only the account, as JSON")
    add("--quiet", action="store_true", help="no progress bar, no summary")


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Adds the options of inputs, which say how their rows are read."""
    add = parser.add_argument
    add(
        "--group-by",
        metavar="COL",
        action="append",
        default=[],
        help="nest a long table by this column; may be repeated",
    )
    add("--regroup", action="store_true", help="gather the rows of each group first")
    add("--constant", metavar="A,B,...", help="keep one value per record of columns that repeat it")
    add("--sort-by", metavar="A,B,...", help="order the contents of each record by these keys")
    add("--columns", metavar="A,B,...", help="read only these columns or keys")
    add("--delimiter", metavar="CHAR", help="the separator of CSV fields (default: from the header)")
    add(
        "--nulls",
        choices=("refuse", "nan", "fill"),
        default="refuse",
        help="refuse nulls, or replace them by NaN or --fill (default: refuse)",
    )
    add("--fill", metavar="VALUE", help="the value for --nulls fill")
    add("--null-word", metavar="WORD", help="the word that replaces nulls among strings")
    add(
        "--static",
        metavar="FILE",
        action="append",
        default=[],
        help="join a table with one row per id to the records; may be repeated",
    )
    add("--batch-rows", metavar="N", type=int, default=65536, help="rows to read at a time (default: 65536)")


def _check(arguments: argparse.Namespace) -> list[Input]:
    """Checks the arguments against each other, and returns the inputs."""
    if (arguments.nulls == "fill") != (arguments.fill is not None):
        raise Misuse("--nulls fill and --fill VALUE go together")
    check_positive(arguments, "rows_per_shard", "batch_rows", "workers")
    for option in ("columns", "sort_by", "reserve", "group_by", "constant"):
        names = _names(arguments, option) or []
        repeats = [name for i, name in enumerate(names) if name in names[:i]]
        if repeats or "" in names:
            flag = f"--{option.replace('_', '-')}"
            raise Misuse(f"{flag}: {repeats[0]!r} is given twice" if repeats else f"{flag}: an empty name")
    for option in ("regroup", "constant"):
        if getattr(arguments, option) and not arguments.group_by:
            raise Misuse(f"--{option} needs --group-by")
    for name in _names(arguments, "constant") or []:
        if name in arguments.group_by:
            raise Misuse(f"--constant: {name!r} is a column of --group-by, which has one value a group")
    _types(arguments)
    sort_by = _names(arguments, "sort_by") or []
    if arguments.group_by and arguments.group_by[0] in sort_by and not arguments.regroup:
        raise Misuse(f"--sort-by {arguments.group_by[0]}: records are ordered by --regroup alone")
    if arguments.static and not (arguments.group_by or arguments.row_ids):
        raise Misuse("--static joins by the first --group-by, or by --row-ids: give one of them")
    if arguments.unknown is not None and not arguments.vocabulary:
        raise Misuse("--unknown goes with --vocabulary: without it all words are learned")
    is_folder = arguments.append or _makes_parts(arguments) or arguments.rows_per_shard is not None
    if not is_folder and arguments.target.is_dir():
        advice = "give a file, or --rows-per-shard N; `varlen append` adds to a folder of shards"
        raise Misuse(f"{arguments.target}: is a folder; {advice}")
    if is_folder and arguments.target.is_file():
        raise Misuse(f"{arguments.target}: is a file; --rows-per-shard writes a folder")
    inputs = find_inputs(arguments.sources, _delimiter(arguments))
    tables = [*inputs, *find_inputs(arguments.static)]
    if arguments.delimiter is not None and all(one.kind != "csv" for one in tables):
        raise Misuse(f"--delimiter: no CSV among {', '.join(str(one.path) for one in tables[:3])}")
    _check_target(arguments, inputs)
    return inputs


def _is_parallel(arguments: argparse.Namespace) -> bool:
    return (arguments.workers or 1) > 1 or arguments.engine is not None


def _makes_parts(arguments: argparse.Namespace) -> bool:
    """Whether OUT becomes a folder of a shard for each part."""
    return _is_parallel(arguments) and arguments.infer_schema is None


def _check_target(arguments: argparse.Namespace, inputs: list[Input]) -> None:
    target = arguments.target
    if target.exists() and not (target.is_file() or target.is_dir()):
        raise Misuse(f"{target}: is neither a file nor a folder")
    for path in [*(one.path for one in inputs), *map(Path, arguments.sources), *map(Path, arguments.static)]:
        if target.exists() and path.exists() and target.samefile(path):
            raise Misuse(f"{target}: IN and OUT are the same file")
    check_parent(target, target)
    if arguments.append or (_makes_parts(arguments) and not (arguments.force or arguments.rows_per_shard)):
        return
    if target.exists() and not arguments.force:
        advice = "; `varlen append` adds to it" if target.is_dir() else ""
        raise FileExistsError(f"{target}: already exists; --force replaces it{advice}")
    if target.is_dir():
        others = [p.name for p in target.iterdir() if not _is_ours(p)]
        if others:
            raise FileExistsError(f"{target}: holds {min(others)!r}; --force replaces folders of shards only")


def _is_ours(path: Path) -> bool:
    from varlen.io.folder_lock import LOCK
    from varlen.io.shard_index import INDEX

    return path.name in (INDEX, LOCK) or path.name.startswith(("part-", ".part-"))


def _names(arguments: argparse.Namespace, option: str) -> list[str] | None:
    value = getattr(arguments, option)
    return [name.strip() for name in value.split(",")] if isinstance(value, str) else value


def _types(arguments: argparse.Namespace) -> dict[str, Any]:
    """The types of columns: `str`, or dtypes of numbers and times."""
    import numpy as np

    out: dict[str, Any] = {}
    for item in (arguments.types or "").split(","):
        name, sign, kind = item.strip().partition("=")
        if not item.strip() and arguments.types is None:
            continue
        if not sign or not name or name in out:
            raise Misuse(
                f"--types: {item!r} is " + (f"given for {name!r} twice" if name in out else "no A=TYPE")
            )
        try:
            out[name] = str if kind in ("str", "string", "text") else np.dtype(kind)
        except TypeError:
            raise Misuse(f"--types: {name}: {kind!r} is neither str nor a dtype of NumPy") from None
        if out[name] is not str and out[name].kind in "mM" and np.datetime_data(out[name])[0] == "generic":
            raise Misuse(f"--types: {name}: {kind!r} has no unit; expected one such as {kind}[s]")
        if out[name] is not str and out[name].kind not in "biufmM":
            raise Misuse(f"--types: {name}: {kind!r} is neither str nor of numbers or times")
    return out


def _delimiter(arguments: argparse.Namespace) -> str | None:
    """The given delimiter: one sign, or the name of one that is hard to type in a shell."""
    value: str | None = arguments.delimiter
    if value is None:
        return None
    sign = {"\\t": "\t", "tab": "\t", "space": " "}.get(value, value)
    if len(sign) != 1 or not sign.isascii() or sign in '"\r\n':
        raise Misuse(f"--delimiter: expected one sign, or tab, got {value!r}")
    return sign


def _fill(text: str | None) -> Any:
    """A number if the text is one, else the text itself."""
    for read in (int, float):
        try:
            return read(text)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            continue
    return text


def _refuse_flags(arguments: argparse.Namespace, names: set[str], source: Path, what: str) -> None:
    """Refuses options that mean nothing for a source that is converted whole."""
    plain = {"sources", "target", "force", "quiet", "json", "run", "parser", "nulls", "batch_rows", *names}
    flags = [name for name, value in vars(arguments).items() if name not in plain and value]
    if flags or arguments.nulls != "refuse":
        name = (flags or ["nulls"])[0]
        raise Misuse(f"--{name.replace('_', '-')}: {source} is {what}, which is converted whole")


def _has_rows(path: Path) -> bool:
    """Whether it is a data set already: a file, shards with an index, or nothing but files of rows."""
    if path.is_dir():
        names = [entry.name for entry in path.iterdir() if not entry.name.startswith(".")]
        return "index.json" in names or (bool(names) and all(name.endswith(".nrt") for name in names))
    return path.suffix in (".nrt", ".safetensors")


def _rewrite(arguments: argparse.Namespace) -> int:
    """Makes compressed files of plain ones, or plain ones of compressed ones."""
    source, target = Path(arguments.sources[0]), arguments.target
    if len(arguments.sources) > 1:
        raise Misuse(f"{source}: is a data set, which is converted alone")
    _refuse_flags(arguments, {"compress", "checksums", "workers", "engine"}, source, "a data set")
    check_positive(arguments, "workers")
    if target.exists() and source.exists() and target.samefile(source):
        raise Misuse(f"{target}: IN and OUT are the same file")
    check_parent(target, target)
    if target.exists() and (target.is_dir() or not arguments.force):
        advice = "--force replaces no folder" if target.is_dir() else "--force replaces it"
        raise FileExistsError(f"{target}: already exists; {advice}")
    from varlen.cli.info import as_bytes
    from varlen.io.rewrite import rewrite
    from varlen.io.shard_index import find_shards

    source_bytes = sum(Path(shard.path).stat().st_size for shard in find_shards(source))
    how = {name: getattr(arguments, name) for name in ("compress", "checksums", "engine")}
    paths = rewrite(str(source), str(target), workers=arguments.workers or 1, **how)
    size = sum(Path(path).stat().st_size for path in paths)
    if arguments.json:
        print(json.dumps({"bytes": size, "source_bytes": source_bytes, "files": len(paths)}, indent=2))
    elif not arguments.quiet:
        print(f"{target}: {as_bytes(size)}, {size / max(source_bytes, 1):.2f} of {as_bytes(source_bytes)}")
    return 0


def _run_meds(arguments: argparse.Namespace, folder: Path) -> int:
    plain = {"drop_unsplit", "checksums", "workers", "engine"}
    _refuse_flags(arguments, plain, folder, "a folder of MEDS")
    check_positive(arguments, "workers")
    from varlen.cli.conversion.meds_folder import convert_meds

    convert_meds(
        folder,
        arguments.target,
        force=arguments.force,
        quiet=arguments.quiet,
        drop_unsplit=arguments.drop_unsplit,
        as_json=arguments.json,
        checksums=arguments.checksums,
        engine=arguments.engine,
        workers=arguments.workers or 1,
    )
    return 0


def _place_target(arguments: argparse.Namespace) -> None:
    """OUT is the last name, unless a schema alone is asked for."""
    if arguments.infer_schema is not None:
        arguments.sources += [] if arguments.target is None else [str(arguments.target)]
        arguments.target = arguments.infer_schema
        if arguments.schema is not None:
            raise Misuse("--infer-schema and --schema exclude each other")
    elif arguments.target is None:
        if len(arguments.sources) < 2:
            raise Misuse("OUT: give the file, or with --rows-per-shard the folder, to write")
        arguments.target = Path(arguments.sources.pop())


def run(arguments: argparse.Namespace) -> int:
    """Converts the inputs into OUT, or adds them to the folder of `varlen append`."""
    _place_target(arguments)
    folder = _target_folder(arguments) if arguments.append else None
    sources = [Path(source) for source in arguments.sources]
    if len(sources) == 1 and is_meds(sources[0]):
        if folder is not None:
            advice = "convert it with `varlen convert`, and append the files that come out"
            raise Misuse(f"{sources[0]}: is a folder of MEDS, which is converted whole; {advice}")
        return _run_meds(arguments, sources[0])
    if any(_has_rows(source) for source in sources):
        return _rewrite(arguments) if folder is None else _append_rows(arguments, folder)
    inputs = _check(arguments)
    import time

    from varlen import io
    from varlen.cli.conversion.intent import schema_of
    from varlen.cli.conversion.learning import learn_dtypes
    from varlen.cli.conversion.plan import cast
    from varlen.cli.conversion.wrong import naming_file
    from varlen.cli.info import as_bytes

    start = time.perf_counter()
    is_inferring = arguments.infer_schema is not None
    with _plan(arguments, inputs, folder) as plan:
        static = _static_source(arguments)
        if _is_parallel(arguments):
            return _run_parallel(arguments, plan, static)
        static.open(plan)
        if plan.lines or arguments.narrow or is_inferring or arguments.nulls == "nan" or plan.needs_pass():
            count = learn_dtypes(plan, narrow=arguments.narrow)
            if is_inferring:
                return _write_schema(arguments, plan, count)
        words, account = plan.words, io.Account()
        user_types = {name: dtype for name, dtype in plan.wanted_types.items() if dtype is not str}
        dtypes = {name: dtype for name, dtype in plan.dtypes.items() if name not in user_types}
        options = _options(arguments, {name: words.words_of(name) for name in words.keys}, account)
        records = 0
        wrong = (ValueError, TypeError, OverflowError)
        # Errors at the end are the input's fault too, except those of the system.
        with (
            naming_file(inputs[0].path, wrong),
            contextlib.ExitStack() as stack,
        ):
            pieces = plan.read("writing")
            first = next(pieces, None)
            options["schema"] = schema_of(plan, first, {**dtypes, **user_types})
            writer = stack.enter_context(_writer(arguments, options, folder))
            for joint in pieces if first is None else itertools.chain([first], pieces):
                with naming_file(plan.reading, wrong):
                    rows = cast(joint, dtypes)
                    writer.append(rows if folder is None else rows.with_meta(_words_of(words, joint)))
                records += len(joint)
            account += plan.whole_account()
        if folder is not None:
            _settle(account, arguments.target, folder)
        if arguments.json:
            print(json.dumps(account.as_dict(), indent=2, ensure_ascii=False))
        elif not arguments.quiet:
            shards = io.open_shards(arguments.target)
            size = sum(Path(path).stat().st_size for path in shards.paths)
            seconds = time.perf_counter() - start
            rest = "" if folder is None else f" added to {len(folder):,}"
            print(
                f"{arguments.target}: {records:,} records{rest}, {len(shards.names)} keys, "
                f"{as_bytes(size)} in {seconds:,.1f} s"
            )
            for line in (*account.summary(), *_remarks(plan)):
                print(f"  {line}")
    return 0


def _write_schema(arguments: argparse.Namespace, plan: ConversionPlan, rows: int) -> int:
    from varlen.cli.conversion.intent import infer_schema
    from varlen.errors import file_error

    if not rows:
        raise file_error(plan.inputs[0].path, "has no rows, so the types of its columns are unknown")
    infer_schema(plan).write(arguments.infer_schema)
    return 0


def _plan(arguments: argparse.Namespace, inputs: list[Input], folder: ShardSet | None) -> ConversionPlan:
    """The inputs and the options for reading them."""
    from varlen import io
    from varlen.cli.conversion.intent import NULL
    from varlen.cli.conversion.plan import ConversionPlan
    from varlen.cli.conversion.words import Vocabularies, read_vocabularies

    types = _types(arguments)
    schema = None if arguments.schema is None else io.read_schema(arguments.schema)
    has_padding = not arguments.no_padding_id
    if folder is not None:
        schema, has_padding = folder.schema, _has_padding(folder)
    overlap = [name for name in types if schema is not None and name in schema]
    if overlap:
        raise Misuse(f"--types: {overlap[0]!r} is in --schema already")
    is_inferring = arguments.infer_schema is not None
    words = Vocabularies(
        _names(arguments, "reserve") or (),
        arguments.unknown,
        read_vocabularies(arguments.vocabulary),
        NULL if is_inferring else arguments.null_word,
        padding=has_padding,
        row_ids=arguments.row_ids,
    )
    return ConversionPlan(
        inputs,
        rows=arguments.batch_rows,
        columns=_names(arguments, "columns"),
        groups=tuple(arguments.group_by),
        constants=tuple(_names(arguments, "constant") or ()),
        regroup=arguments.regroup,
        sort_by=tuple(_names(arguments, "sort_by") or ()),
        nulls=("nan", None) if is_inferring else (arguments.nulls, _fill(arguments.fill)),
        types=types,
        schema=schema,
        words=words,
        folder=arguments.target.resolve().parent,
        quiet=arguments.quiet,
    )


def _options(arguments: argparse.Namespace, words: Mapping[str, Any], account: Account) -> dict[str, Any]:
    """The options of the writer of OUT."""
    return {
        "vocabularies": words,
        "row_ids": arguments.row_ids,
        "account": account,
        "checksums": arguments.checksums,
        "compress": arguments.compress,
    }


def _static_source(arguments: argparse.Namespace) -> StaticSource:
    from varlen.cli.conversion.plan import StaticSource

    key = arguments.group_by[0] if arguments.group_by else arguments.row_ids
    return StaticSource(find_inputs(arguments.static, _delimiter(arguments)), key)


def _remarks(plan: Any) -> list[str]:
    """Remarks about the new data set."""
    out: list[str] = plan.words.summary()
    sources = [*plan.inputs, *(table.source for table in plan.static_tables)]
    out += [
        f"{one.path}: its fields end at {one.delimiter!r}, as the header shows; see --delimiter"
        for one in sources
        if one.kind == "csv" and one.delimiter not in (one.separator, one.usual_delimiter)
    ]
    for table in plan.static_tables:
        out += table.summary()
        out += [f"{name}: is text: {why}; see --types" for name, why in table.notes.items()]
    out += [f"{name}: times of {zone} became UTC" for name, zone in plan.zones.items()]
    for table in plan.static_tables:
        out += [f"{name}: times of {zone} became UTC" for name, zone in table.zones.items()]
    if not plan.lines:
        out += [f"{name}: is text: {why}; see --types" for name, why in plan.tables.notes.items()]
    if not plan.lines and plan.tables.left_out:
        names = ", ".join(repr(name) for name in plan.tables.left_out)
        out.append(f"an index of pandas was left out: {names}; --columns takes it")
    return out


def _run_parallel(arguments: argparse.Namespace, plan: ConversionPlan, static: StaticSource) -> int:
    """Converts files on an engine, into OUT, or into a folder beside it if OUT is to be replaced or cut."""
    from varlen import io
    from varlen.cli.conversion.files import convert_files, learn_files
    from varlen.io.building.engines import engine_of
    from varlen.io.work_folder import replace_folder, work_folder

    target = str(arguments.target.resolve())
    is_inferring = arguments.infer_schema is not None
    is_learning = plan.schema is None or arguments.narrow
    is_beside = arguments.rows_per_shard is not None or arguments.force
    with engine_of(arguments.engine, [], arguments.workers or 1) as run, contextlib.ExitStack() as stack:
        has_work = not is_inferring and (is_beside or is_learning)
        work = stack.enter_context(work_folder(target)) if has_work else None
        if is_learning:
            rows = learn_files(run, arguments, plan, static, work)
            if is_inferring:
                return _write_schema(arguments, plan, rows)
        if work is None or not is_beside:
            try:
                convert_files(run, arguments, plan, static, target)
            except FileExistsError as error:
                advice = "--force replaces it"
                raise FileExistsError(f"{arguments.target}: holds other files; {advice}") from error
        else:
            is_cut = arguments.rows_per_shard is not None
            parts = os.path.join(work.path, "parts") if is_cut else work.result
            try:
                convert_files(run, arguments, plan, static, parts)
            except FileExistsError:  # of inputs that changed since
                shutil.rmtree(parts)
                convert_files(run, arguments, plan, static, parts)
            if is_cut:
                _cut(arguments, plan, io.open_shards(parts), work.result)
            replace_folder(work.result, target)
    shards = io.open_shards(target)
    account = shards.account
    if arguments.json:
        print(json.dumps(account.as_dict(), indent=2, ensure_ascii=False))
    elif not arguments.quiet:
        count, files = len(shards), len(plan.inputs)
        is_each = len(shards.paths) == files and arguments.rows_per_shard is None
        what = "with a shard each" if is_each else f"in {len(shards.paths):,} shards"
        print(f"{arguments.target}: {count:,} records, {len(shards.names)} keys, {files:,} files {what}")
        for line in (*account.summary(), *(_remarks(plan) if plan.is_learned else ())):
            print(f"  {line}")
    return 0


def _cut(arguments: argparse.Namespace, plan: ConversionPlan, parts: ShardSet, folder: str) -> None:
    """Writes the rows of parts into shards of --rows-per-shard, as one process would."""
    import numpy as np

    from varlen import io
    from varlen.cli.conversion.plan import cast

    account = io.Account()
    words = {name: field.vocabulary for name, field in parts.fields.items() if field.vocabulary}
    dtypes = plan.dtypes if plan.is_learned else dict.fromkeys(words, np.dtype(np.int64))
    options = {**_options(arguments, words, account), "schema": parts.schema, "row_ids": parts.row_ids}
    shutil.rmtree(folder)
    with io.ShardWriter(folder, arguments.rows_per_shard, **options) as writer:
        for path in parts.paths:
            joint = io.open_file(path).joint()
            for begin in range(0, max(len(joint), 1), _ROWS_AT_ONCE):
                writer.append(cast(joint.slice(begin, min(begin + _ROWS_AT_ONCE, len(joint))), dtypes))
        account += parts.account.successor()


def _target_folder(arguments: argparse.Namespace) -> ShardSet:
    """The folder to add to; its row ids become those of the rows, and its largest shard the size of one."""
    from varlen import io

    target = arguments.target
    if not (target / "index.json").is_file():
        what = "is no folder of shards with an index" if target.exists() else "there is no such folder"
        raise FileNotFoundError(f"{target}: {what}; `varlen convert --rows-per-shard N` makes one")
    folder = io.open_shards(target)
    arguments.row_ids = folder.row_ids
    if arguments.rows_per_shard is None:
        arguments.rows_per_shard = max(int(folder.counts.max(initial=0)), 1)
    return folder


def _has_padding(folder: ShardSet) -> bool:
    """Whether words begin with that of the padding."""
    fields = [field for name, field in folder.fields.items() if name != folder.row_ids]
    return all(field.padding_id == 0 for field in fields if field.vocabulary is not None)


def _words_of(words: Any, joint: Any) -> dict[str, Any]:
    """The vocabularies of the ids in a piece."""
    return {"vocabularies": {name: words.words_of(name) for name in joint.names if name in words}}


def _settle(account: Account, target: Path, folder: ShardSet) -> None:
    """Counts what was added, for an account of that alone, which has to balance."""
    from varlen import io
    from varlen.io.file_counts import read_all_written

    account.set_result(*read_all_written(io.open_shards(target).paths[len(folder.paths) :]))
    account.check()


def _append_rows(arguments: argparse.Namespace, folder: ShardSet) -> int:
    """Adds the rows of data sets."""
    from varlen import data, io

    plain = {"rows_per_shard", "row_ids", "append", "target"}
    for source in map(Path, arguments.sources):
        _refuse_flags(arguments, plain, source, "a data set")
        if not _has_rows(source):
            raise Misuse(f"{source}: is no data set, as {arguments.sources[0]} is; append them one by one")
        if source.samefile(arguments.target):
            raise Misuse(f"{source}: IN and FOLDER are the same folder")
    account = io.Account()
    with _writer(arguments, {"account": account}, folder) as writer:
        for source in arguments.sources:
            rows = data.open(source)
            for begin in range(0, len(rows), _ROWS_AT_ONCE):
                writer.append(rows[begin : begin + _ROWS_AT_ONCE])
            account += rows.account.successor()
    _settle(account, arguments.target, folder)
    if arguments.json:
        print(json.dumps(account.as_dict(), indent=2, ensure_ascii=False))
    elif not arguments.quiet:
        count = writer.rows
        print(f"{arguments.target}: {count:,} records added to {len(folder):,}")
    return 0


@contextlib.contextmanager
def _writer(
    arguments: argparse.Namespace, options: dict[str, Any], folder: ShardSet | None = None
) -> Iterator[Any]:
    """The writer of OUT. Existing files stay until the new ones are complete."""
    from varlen import io
    from varlen.io.shard_index import read_table
    from varlen.io.work_folder import new_folder

    target = arguments.target.resolve()
    if folder is not None:
        own = {} if read_table(str(target)).get("account") is None else {"account": options["account"]}
        with io.ShardWriter(target, arguments.rows_per_shard, append=True, **own) as writer:
            yield writer
    elif arguments.rows_per_shard is None:
        with io.Writer(target, **options) as writer:
            yield writer
    elif not target.is_dir():
        with io.ShardWriter(target, arguments.rows_per_shard, **options) as writer:
            yield writer
    else:
        with (
            new_folder(str(target)) as new,
            io.ShardWriter(new, arguments.rows_per_shard, **options) as writer,
        ):
            yield writer
