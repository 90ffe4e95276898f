"""`varlen convert --workers`: the rows of a plain conversion, a shard for each file, and one account."""

import contextlib
import importlib.util
import json
import os
import pickle

import pytest
import varlen as vl
from deep import mostly_deep
from test_cli import run, write_lines
from varlen.io.building import engines

RECORDS = [
    [{"id": 10 * i + k, "code": [f"w{j + i}" for j in range(k)], "t": [k / 2] * k} for k in range(3)]
    for i in range(3)
]


@pytest.fixture
def inputs(tmp_path, capsys):
    paths = [write_lines(tmp_path / f"in{i}.jsonl", records) for i, records in enumerate(RECORDS)]
    code, _, err = run(capsys, "convert", "--infer-schema", tmp_path / "s.toml", *paths)
    assert code == 0, err
    return paths


@pytest.fixture(params=mostly_deep(["processes", "dask", "ray"], "processes"))
def how(request):
    if request.param == "processes":
        yield ("--workers", "2")
        return
    library = pytest.importorskip(request.param)
    if request.param == "ray":
        library.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    yield ("--engine", request.param)
    if request.param == "ray":
        library.shutdown()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning")
def test_the_rows_are_those_of_one_process(inputs, tmp_path, capsys, how):
    options = ("--schema", tmp_path / "s.toml", "--row-ids", "id", "--checksums")
    assert (
        run(capsys, "convert", *inputs, tmp_path / "one", *options, "--rows-per-shard", "3", "--quiet")[0]
        == 0
    )
    code, out, err = run(capsys, "convert", *inputs, tmp_path / "many", *options, *how)
    assert code == 0, err
    assert out.splitlines()[0] == f"{tmp_path / 'many'}: 9 records, 3 keys, 3 files with a shard each"
    one, many = vl.open(tmp_path / "one"), vl.open(tmp_path / "many", verify="open")
    assert many[:].to_list() == one[:].to_list()
    assert many.fields["code"].vocabulary == one.fields["code"].vocabulary
    assert many.source.counts.tolist() == [3, 3, 3]
    assert many.source.schema.to_toml() == one.source.schema.to_toml()
    assert many.source.row_ids == "id"
    account = many.account
    account.check()
    assert account.files == one.account.files
    assert account.rows.source.values == 9


def test_a_run_goes_on_and_reads_what_changed(inputs, tmp_path, capsys):
    options = ("--schema", tmp_path / "s.toml", "--engine", "processes", "--quiet")
    bad = tmp_path / "in1.jsonl"
    text = bad.read_text()
    bad.write_text(text + json.dumps({"id": 1, "code": [], "t": ["x"]}) + "\n")
    code, _, err = run(capsys, "convert", *inputs, tmp_path / "v", *options)
    assert code == 1
    assert "in1.jsonl, line 4: 't'" in err
    assert not [name for name in os.listdir(tmp_path / "v") if name.endswith((".nrt", ".json"))]
    ready = {name: os.stat(tmp_path / "v" / name).st_ino for name in os.listdir(tmp_path / "v")}
    bad.write_text(text)
    code, _, err = run(capsys, "convert", *inputs, tmp_path / "v", *options)
    assert code == 0, err
    assert vl.open(tmp_path / "v")["id"].tolist() == [r["id"] for records in RECORDS for r in records]
    assert all(name.endswith(".draft") for name in ready)
    before = {path: os.stat(path).st_mtime_ns for path in vl.open(tmp_path / "v").paths}
    assert run(capsys, "convert", *inputs, tmp_path / "v", *options) == (0, "", "")
    assert before == {path: os.stat(path).st_mtime_ns for path in vl.open(tmp_path / "v").paths}
    bad.write_text(text + json.dumps({"id": 1, "code": [], "t": []}) + "\n")
    code, _, err = run(capsys, "convert", *inputs, tmp_path / "v", *options)
    assert (code, "was made of another partition" in err, "--force replaces it" in err) == (1, True, True)


#: Records of two files that have few values or none.
BARE = {
    "empty lists": [[{"id": 1, "x": []}, {"id": 2, "x": []}], [{"id": 3, "x": []}]],
    "empty lists of words": [[{"id": "a", "x": []}], [{"id": "b", "x": []}]],
    "deeper empty lists": [[{"id": 1, "x": []}], [{"id": 2, "x": [[], []]}]],
    "no ids": [[{"x": []}], [{"x": []}, {"x": []}]],
    "lists of ids": [[{"id": []}], [{"id": []}]],
    "a file without records": [[], [{"id": 3, "x": []}]],
    "no records": [[], []],
    "no keys": [[{}], [{}, {}]],
    "no keys after no records": [[], [{}]],
    "objects without fields": [[{"x": {}}], [{"x": {}}]],
    "lists of objects without fields": [[{"x": [{}]}], [{"x": [{}, {}]}]],
}


@pytest.mark.parametrize("name", BARE)
@pytest.mark.parametrize("flags", [[], ["--row-ids", "id"], ["--row-ids", "x"], ["--narrow"]])
def test_records_without_values_are_as_in_one_process(tmp_path, capsys, near, name, flags):
    paths = [write_lines(tmp_path / f"in{i}.jsonl", records) for i, records in enumerate(BARE[name])]
    command = ["convert", *paths, *flags, "--quiet"]
    one = run(capsys, *command, tmp_path / "one", "--rows-per-shard", "2")
    assert run(capsys, *command, tmp_path / "many", "--rows-per-shard", "2", "--workers", "2") == one
    assert run(capsys, *command, tmp_path / "each", "--workers", "2") == one
    if one[0] == 0:
        assert contents(tmp_path / "many") == contents(tmp_path / "one")
        rows = vl.open(tmp_path / "one")[:].to_list()
        assert vl.open(tmp_path / "each")[:].to_list() == rows


def test_files_without_records_and_chosen_columns(inputs, tmp_path, capsys):
    empty = tmp_path / "none.jsonl"
    empty.write_text("")
    options = ("--schema", tmp_path / "s.toml", "--engine", "processes", "--quiet")
    code, _, err = run(capsys, "convert", empty, *inputs, tmp_path / "v", *options)
    assert code == 0, err
    ds = vl.open(tmp_path / "v")
    assert ds.source.counts.tolist() == [0, 3, 3, 3]
    assert ds["id"].tolist() == [r["id"] for records in RECORDS for r in records]
    assert ds.fields["code"].vocabulary == ("[PAD]", "w0", "w1", "w2", "w3")


@pytest.fixture
def near(monkeypatch):
    """An engine of the same process, whose tasks are pickled as those of others are."""

    @contextlib.contextmanager
    def engine_of(*_):
        def run_near(task, tasks):
            for job, partition in tasks:
                again = pickle.loads(pickle.dumps((task, job, partition)))
                yield from engines._loop(again[0], [again[1:]])

        yield run_near

    names = ["varlen.cli.conversion.meds_folder", "varlen.io.rewrite"]
    users = [
        importlib.import_module(n) for n in (names if importlib.util.find_spec("pyarrow") else names[1:])
    ]
    for module in (engines, *users):
        monkeypatch.setattr(module, "engine_of", engine_of)


#: Events of subjects a to e, file by file; b and c go on in the next file.
EVENTS = [
    [("b", 3, "x", 1), ("b", 1, "y", 2)],
    [("b", 2, "z", 3), ("c", 1, "x", 4)],
    [("c", 1, "w", 300), ("c", 0, "x", -1)],
    [("a", 5, "x", 2)],
    [("e", 1, "q", 7), ("e", 2, "x", 70000)],
]
#: The same, with rows of a group in files that are not neighbours.
APART = [*EVENTS[:4], [("a", 1, "x", 4), ("b", 9, "r", 5)], EVENTS[4]]


def write_events(folder, kind, events=EVENTS):
    names = ("subject", "time", "code", "n")
    out = []
    for i, rows in enumerate(events):
        path = folder / f"{kind}{i}.{kind}"
        if kind == "jsonl":
            write_lines(path, [dict(zip(names, row, strict=True)) for row in rows])
        elif kind == "csv":
            path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows), ""]))
        else:
            pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
            columns = zip(*rows, strict=True)
            pq.write_table(pa.table(dict(zip(names, map(list, columns), strict=True))), path)
        out.append(path)
    return out


def contents(folder):
    """The bytes of shards, and the index without what sums of accounts know less well."""
    out = {name: (folder / name).read_bytes() for name in sorted(os.listdir(folder)) if name != "index.json"}
    return out | {"index.json": without_counts(json.loads((folder / "index.json").read_text()))}


def without_counts(table):
    if not isinstance(table, dict):
        return table
    left_out = ("distinct", "distinct_at_least", "words", "varlen.checksum")
    return {name: without_counts(value) for name, value in table.items() if name not in left_out}


GROUPS = ["--group-by", "subject"]


@pytest.mark.parametrize(
    "inputs_of",
    mostly_deep(
        ["jsonl", "jsonl schema", "csv", "csv schema", "parquet", "parquet schema"], "jsonl", "csv schema"
    ),
)
@pytest.mark.parametrize(
    ("flags", "shards"),
    [
        ([], [2, 2, 2, 1, 2]),
        (["--narrow"], [2, 2, 2, 1, 2]),
        (["--types", "n=f4,time=str", "--reserve", "[U]", "--no-padding-id"], [2, 2, 2, 1, 2]),
        ([*GROUPS, "--sort-by", "time"], [2, 1, 1]),
        ([*GROUPS, "--regroup", "--sort-by", "time,code"], [2, 1, 1]),
        ([*GROUPS, "--regroup", "--sort-by", "subject,time", "--narrow"], [4]),
        ([*GROUPS, "--group-by", "time", "--regroup"], [2, 1, 1]),
    ],
)
def test_options_of_all_files_give_the_bytes_of_one_process(tmp_path, capsys, near, inputs_of, flags, shards):
    kind, _, is_declared = inputs_of.partition(" ")
    if kind != "jsonl" or "--group-by" in flags:
        pytest.importorskip("pyarrow")
    paths = write_events(tmp_path, kind)
    if is_declared and "--types" not in flags:
        grouping = [flag for flag in flags if flag != "--narrow"]
        assert run(capsys, "convert", "--infer-schema", tmp_path / "s.toml", *paths, *grouping)[0] == 0
        flags = [*flags, "--schema", tmp_path / "s.toml"]
    cut = ["--rows-per-shard", "2", "--checksums", "--quiet"]
    code, _, err = run(capsys, "convert", *paths, tmp_path / "one", *flags, *cut)
    assert code == 0, err
    code, _, err = run(capsys, "convert", *paths, tmp_path / "many", *flags, *cut, "--workers", "2")
    assert code == 0, err
    assert contents(tmp_path / "many") == contents(tmp_path / "one")
    code, _, err = run(capsys, "convert", *paths, tmp_path / "each", *flags, "--workers", "2", "--quiet")
    assert code == 0, err
    one, each = vl.open(tmp_path / "one"), vl.open(tmp_path / "each")
    assert each.source.counts.tolist() == shards
    assert each[:].to_list() == one[:].to_list()
    assert without_counts(each.account.as_dict()) == without_counts(one.account.as_dict())
    assert each.source.schema.to_toml() == one.source.schema.to_toml()
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {"one", "many", "each"}


@pytest.fixture
def parts_tell(monkeypatch):
    """Whether the parts of each inference told all, so that no process read them again."""
    from varlen.cli.conversion import files

    told, learn = [], files._learn_parts

    def learn_parts(*arguments):
        told.append(learn(*arguments))
        return told[-1]

    monkeypatch.setattr(files, "_learn_parts", learn_parts)
    return told


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [3, 0, 2, 4, 1]])
@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("flags", [[], ["--types", "n=f4,time=str"], [*GROUPS, "--regroup"]])
def test_a_schema_is_inferred_of_parts(tmp_path, capsys, near, parts_tell, kind, order, flags):
    if kind != "jsonl" or flags:
        pytest.importorskip("pyarrow")
    paths = [write_events(tmp_path, kind)[i] for i in order]
    texts = []
    for name, how in (("one", []), ("many", ["--workers", "2"])):
        assert run(capsys, "convert", "--infer-schema", tmp_path / name, *paths, *flags, *how) == (0, "", "")
        texts.append((tmp_path / name).read_text())
    assert texts[0] == texts[1]
    assert parts_tell == [9]
    code, _, err = run(capsys, "convert", "--infer-schema", tmp_path / "one", *paths, "--workers", "2")
    assert (code, "--force replaces it" in err) == (1, True)


RECORD = {"a": 1, "w": "x", "l": [1]}
#: Files by their records, and words of the error that both ways give, if they do.
LATER = {
    "wider": ([{"a": 1}], [{"a": 0.5}], [{"a": 2**40}], ""),
    "unsigned": ([{"a": 1}], [{"a": 2**63 + 5}], [{"a": 7}], ""),
    "deeper, after none": ([RECORD | {"l": []}], [RECORD | {"l": [[2]]}], [RECORD | {"l": []}], ""),
    "words, after none": ([RECORD | {"l": []}], [RECORD | {"l": ["u"]}], [RECORD | {"l": []}], ""),
    "no records": ([], [RECORD], [], ""),
    "no integers of floats": ([{"a": 2**53 + 1}], [{"a": 0.5}], [{"a": 1}], "9007199254740993 is beyond"),
    "no integers of one dtype": (
        [{"a": -1}],
        [{"a": 1}],
        [{"a": 2**63 + 5}],
        "9223372036854775813 is beyond",
    ),
    "true beside numbers": ([{"a": 1}], [{"a": 2}], [{"a": 3}, {"a": True}], "in2.jsonl, line 2: 'a': true"),
    "numbers beside true": ([{"a": True}], [{"a": False}], [{"a": 3}], "in2.jsonl, line 1: 'a': 3 beside"),
    "words beside numbers": ([{"a": 1}], [{"a": 2}], [{"a": "x"}], "in0.jsonl, line 1: 'a'"),
    "numbers beside words": ([{"a": "x"}], [{"a": "y"}], [{"a": "z"}, {"a": 2}], "in2.jsonl, line 2: 'a'"),
    "a key too many": (
        [{"a": 1}],
        [{"a": 2}],
        [{"a": 3}, {"a": 4, "b": 1}],
        "in2.jsonl, line 1: no value for 'b'",
    ),
    "a wrong line": ([{"a": 1}], [{"a": 2}], [{"a": 3}, [4]], "in2.jsonl, line 2: expected an object"),
    "wrong lines of two files": ([{"a": 1}], [[1]], [[4]], "2 wrong rows"),
}


@pytest.mark.parametrize("name", LATER)
def test_what_comes_late_is_widened_or_refused_as_by_one_process(tmp_path, capsys, near, name):
    *files, fault = LATER[name]
    paths = [write_lines(tmp_path / f"in{i}.jsonl", records) for i, records in enumerate(files)]
    results = []
    for how in ([], ["--workers", "2"]):
        code, _, err = run(capsys, "convert", "--infer-schema", tmp_path / "s.toml", *paths, *how, "--force")
        results.append((code, err, None if code else (tmp_path / "s.toml").read_text()))
        (tmp_path / "s.toml").unlink(missing_ok=True)
        cut = ["--rows-per-shard", "2", "--quiet"]
        code, _, err = run(capsys, "convert", *paths, tmp_path / f"v{len(how)}", *cut, *how)
        results.append((code, err, None if code else contents(tmp_path / f"v{len(how)}")))
    assert results[:2] == results[2:]
    code, err, _ = results[1]
    assert (code != 0, fault in err) == (bool(fault), True), err


def test_texts_of_later_files_decide_kinds(tmp_path, capsys, near, parts_tell):
    pytest.importorskip("pyarrow")
    texts = [
        ["1,1,2020-01-01,x", "2,2,2020-01-02,y"],
        ["3,0.5,2020-01-03T10:00:00,x"],
        ["4,1,2020-01-01,0389"],
    ]
    paths = []
    for i, lines in enumerate(texts):
        paths.append(tmp_path / f"in{i}.csv")
        paths[-1].write_text("\n".join(["id,n,t,w", *lines, ""]))
    for name, how in (("one", []), ("many", ["--workers", "2"])):
        assert run(capsys, "convert", "--infer-schema", tmp_path / name, *paths, *how) == (0, "", "")
    assert (tmp_path / "many").read_text() == (tmp_path / "one").read_text()
    assert parts_tell == [4]
    for last, fault in (
        ("5,2,2020-01-04T10:00:00Z,x", "in3.csv, line 2) has a zone"),
        ("5,2", "in3.csv, line 2: 2 fields"),
    ):
        (tmp_path / "in3.csv").write_text(f"id,n,t,w\n{last}\n")
        errors = [
            run(capsys, "convert", *paths, tmp_path / "in3.csv", tmp_path / f"v{i}", *how)[2]
            for i, how in enumerate((["--rows-per-shard", "9"], ["--workers", "2"]))
        ]
        assert fault in errors[0]
        assert errors[1] == errors[0]


def test_nulls_in_lists_take_the_kind_of_other_files(tmp_path, capsys, near):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = [
        pa.array([["a"], []]),
        pa.array([[None], []], pa.list_(pa.null())),
        pa.array([[]], pa.list_(pa.null())),
    ]
    for i, column in enumerate(columns):
        words = pa.array(["u", "v"][: len(column)])
        table = pa.table(
            {"w": words.dictionary_encode() if i else words, "y": column, "g": [7] * len(column)}
        )
        pq.write_table(table, tmp_path / f"{i}.parquet")
    paths = [tmp_path / f"{i}.parquet" for i in range(3)]
    for name, how in (("one", ["--rows-per-shard", "9"]), ("many", ["--workers", "2"])):
        for grouping in ([], ["--group-by", "g"], ["--group-by", "g", "--regroup"]):
            flags = ["--null-word", "NA", "--quiet", "--force", *grouping]
            assert run(capsys, "convert", *paths, tmp_path / name, *flags, *how) == (0, "", "")
            rows = vl.open(tmp_path / name)[:].to_list()
            lists = [["a"], [], ["NA"], [], []]
            assert rows["y"] == ([lists] if grouping else lists)


@pytest.mark.parametrize("cut", [[], ["--rows-per-shard", "2"]])
def test_nulls_balance_in_the_account(tmp_path, capsys, near, cut):
    records = [[{"x": None, "l": [1]}, {"x": 2.5, "l": []}], [{"x": 1, "l": [None, 3]}]]
    paths = [write_lines(tmp_path / f"{i}.jsonl", part) for i, part in enumerate(records)]
    flags = ["--nulls", "nan", "--workers", "2", "--json", *cut]
    code, out, err = run(capsys, "convert", *paths, tmp_path / "v", *flags)
    assert code == 0, err
    assert {name: json.loads(out)["columns"][name]["out"]["nulls"] for name in "xl"} == {"x": 1, "l": 1}


def test_groups_that_lie_apart(tmp_path, capsys, near):
    pytest.importorskip("pyarrow")
    paths = write_events(tmp_path, "csv", APART)
    code, _, err = run(capsys, "convert", *paths, tmp_path / "v", *GROUPS, "--workers", "2")
    assert (code, "the rows of 'a' are not together" in err or "the rows of 'b' are" in err) == (1, True), err
    for name, flags in (("one", ["--rows-per-shard", "9"]), ("many", ["--workers", "2"])):
        code, _, err = run(
            capsys, "convert", *paths, tmp_path / name, *GROUPS, "--regroup", "--quiet", *flags
        )
        assert code == 0, err
    one, many = vl.open(tmp_path / "one"), vl.open(tmp_path / "many")
    assert many.source.counts.tolist() == [3, 1]
    assert many[:].to_list() == one[:].to_list()


@pytest.mark.parametrize("is_declared", [False, True])
def test_vocabularies_and_static_tables(tmp_path, capsys, near, is_declared):
    pytest.importorskip("pyarrow")
    paths = write_events(tmp_path, "csv")
    (tmp_path / "who.csv").write_text("subject,sex,born\nb,f,1\na,m,2\ne,,3\nz,f,4\n")
    (tmp_path / "words.txt").write_text("[PAD]\n?\nx\ny\n")
    static = [
        *GROUPS,
        "--static",
        tmp_path / "who.csv",
        "--null-word",
        "none",
        "--nulls",
        "fill",
        "--fill",
        "0",
    ]
    words = ["--vocabulary", f"code={tmp_path / 'words.txt'}", "--unknown", "?"]
    if is_declared:
        code, _, err = run(capsys, "convert", "--infer-schema", tmp_path / "s.toml", *paths, *static[:4])
        assert code == 0, err
        words += ["--schema", tmp_path / "s.toml"]
    cut = ["--rows-per-shard", "3"]
    results = {}
    for name, how in (("one", cut), ("many", [*cut, "--workers", "2"]), ("each", ["--workers", "2"])):
        code, out, err = run(capsys, "convert", *paths, tmp_path / name, *static, *words, "--json", *how)
        assert code == 0, err
        results[name] = without_counts(json.loads(out))
    assert results["many"] == results["one"] == results["each"]
    assert contents(tmp_path / "many") == contents(tmp_path / "one")
    ds = vl.open(tmp_path / "each")
    assert ds[:].to_list() == vl.open(tmp_path / "one")[:].to_list()
    assert ds["born"].tolist() == [1, 0, 2, 3]
    assert ds.source.counts.tolist() == [2, 1, 1]


def test_force_replaces_what_is_there(inputs, tmp_path, capsys, near):
    options = ["--workers", "2", "--quiet"]
    assert run(capsys, "convert", inputs[0], tmp_path / "v", *options)[0] == 0
    before = contents(tmp_path / "v")
    for flags in ([], ["--rows-per-shard", "2"]):
        code, _, err = run(capsys, "convert", *inputs, tmp_path / "v", *options, *flags)
        assert (code, contents(tmp_path / "v")) == (1, before), err
    for flags, counts in (([], [3, 3, 3]), (["--rows-per-shard", "4"], [4, 4, 1])):
        code, _, err = run(capsys, "convert", *inputs, tmp_path / "v", *options, *flags, "--force")
        assert code == 0, err
        assert vl.open(tmp_path / "v").source.counts.tolist() == counts
    (tmp_path / "v" / "notes.txt").write_text("mine")
    code, _, err = run(capsys, "convert", *inputs, tmp_path / "v", *options, "--force")
    assert (code, "holds 'notes.txt'" in err) == (1, True)


def test_folders_of_files_of_rows(inputs, tmp_path, capsys, near):
    assert run(capsys, "convert", *inputs, tmp_path / "v", "--rows-per-shard", "2", "--quiet")[0] == 0
    for name, flags in (("one", []), ("many", ["--workers", "2"])):
        options = ["--compress", "--checksums", "--quiet", *flags]
        code, _, err = run(capsys, "convert", tmp_path / "v", tmp_path / name, *options)
        assert code == 0, err
    assert contents(tmp_path / "many") == contents(tmp_path / "one")
    assert run(capsys, "convert", tmp_path / "v", tmp_path / "w", "--compress", "--workers", "0")[0] == 2
    (tmp_path / "v" / "part-00001.nrt").write_bytes(b"torn")
    code, _, err = run(capsys, "convert", tmp_path / "v", tmp_path / "w", "--compress", "--workers", "2")
    assert (code, "part-00001.nrt" in err, (tmp_path / "w").exists()) == (1, True, False)


def test_folders_of_meds(tmp_path, capsys, near):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for i, name in enumerate(["train/0", "train/1", "tuning/0"]):
        path = tmp_path / "meds" / "data" / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        columns = {"subject_id": [i, i, i + 9], "code": ["A", f"B{i}", "C"], "numeric_value": [i, 2.5, None]}
        pq.write_table(pa.table({**columns, "time": pa.array([1, 1, None], pa.timestamp("us"))}), path)
    (tmp_path / "meds" / "metadata").mkdir()
    results = []
    for name, flags in (("one", []), ("many", ["--workers", "2"])):
        code, out, err = run(capsys, "convert", tmp_path / "meds", tmp_path / name, *flags, "--json")
        assert code == 0, err
        results.append(json.loads(out))
    assert results[0] == results[1]
    paths = [path for path in sorted((tmp_path / "one").rglob("*")) if path.is_file()]
    assert len(paths) == 8
    for path in paths:
        assert (tmp_path / "many" / path.relative_to(tmp_path / "one")).read_bytes() == path.read_bytes()


def test_tables_of_several_formats(tmp_path, capsys):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    paths = []
    for i in range(2):
        paths.append(tmp_path / f"{i}.parquet")
        pq.write_table(pa.table({"n": [i, i + 1], "w": [["a", f"b{i}"], []]}), paths[-1])
    assert run(capsys, "convert", "--infer-schema", tmp_path / "s.toml", *paths)[0] == 0
    code, _, err = run(
        capsys,
        "convert",
        *paths,
        tmp_path / "v",
        "--schema",
        tmp_path / "s.toml",
        "--workers",
        "2",
        "--compress",
    )
    assert code == 0, err
    assert vl.open(tmp_path / "v")[:].to_list() == {
        "n": [0, 1, 1, 2],
        "w": [["a", "b0"], [], ["a", "b1"], []],
    }
