"""`varlen convert --workers`: the rows of a plain conversion, a shard for each file, and one account."""

import json
import os

import pytest
import varlen as vl
from deep import mostly_deep
from test_cli import run, write_lines

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
    assert (code, "was made of another partition" in err) == (1, True)


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


def test_options_of_all_files_are_refused(inputs, tmp_path, capsys):
    code, _, err = run(capsys, "convert", *inputs, tmp_path / "v", "--workers", "2")
    assert (code, "need --schema, by which all files are read alike" in err) == (2, True)
    for flags in (
        ["--group-by", "id"],
        ["--narrow"],
        ["--rows-per-shard", "3"],
        ["--force"],
        ["--types", "t=f4"],
    ):
        options = ("--schema", tmp_path / "s.toml", "--workers", "2", *flags)
        code, _, err = run(capsys, "convert", *inputs, tmp_path / "v", *options)
        assert (code, f"{flags[0]}: --workers and --engine read each file alone" in err) == (2, True)
    assert run(capsys, "convert", *inputs, tmp_path / "v", "--workers", "0")[0] == 2
    assert not (tmp_path / "v").exists()


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
