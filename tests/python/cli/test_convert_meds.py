"""Folders of MEDS become what meds-torch-data's own preprocessing makes of them, and are read by it."""

import importlib.util
import json
import math
import subprocess
import sys

import numpy as np
import pytest
import varlen
from varlen.cli import main

pytest.importorskip("pyarrow", reason="pyarrow is not installed")

import pyarrow as pa
import pyarrow.parquet as pq

MINUTE = 60 * 10**6
SHARDS = {  # subject, minutes or None for static, code, value
    "train/0": [
        (1, None, "F", None),
        (1, 0, "HR", 1.0),
        (1, 0, "BP", 7.0),
        (1, 90, "HR", 3.0),
        (2, None, "M", None),  # and no event
        (3, 5, "DX", None),
    ],
    "train/1": [(4, None, "F", None), (4, None, "OLD", 2.0), (4, 1, "HR", 5.0), (4, 2, "BP", 9.0)],
    "tuning/0": [(5, None, "M", None), (5, 0, "HR", 2.0), (5, 0, "NEW", 1.0), (5, 1440, "DX", None)],
}


def write_shard(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    subjects, minutes, codes, values = zip(*rows, strict=True)
    times = pa.array([None if m is None else m * MINUTE for m in minutes], pa.timestamp("us"))
    table = pa.table({"subject_id": subjects, "time": times, "code": codes})
    pq.write_table(table.append_column("numeric_value", pa.array(values, pa.float32())), path)


@pytest.fixture
def meds(tmp_path):
    folder = tmp_path / "meds"
    for name, rows in SHARDS.items():
        write_shard(folder / "data" / f"{name}.parquet", rows)
    (folder / "metadata").mkdir()
    (folder / "metadata" / "dataset.json").write_text(json.dumps({"dataset_name": "toy"}))
    known = pa.table({"code": ["HR", "DX"], "description": ["heart rate", "a disease"]})
    pq.write_table(known, folder / "metadata" / "codes.parquet")
    return folder


def model(name):
    """What the shard holds, in plain lists: subjects with events, their days, codes and values."""
    train = [row for shard in ("train/0", "train/1") for row in SHARDS[shard]]
    index = {code: i + 1 for i, code in enumerate(sorted({row[2] for row in train}))}
    moments = {}
    for code in index:
        values = [v for _, _, c, v in train if c == code and v is not None]
        mean = sum(values) / len(values) if values else math.nan
        squares = sum(v * v for v in values) / len(values) - mean**2 if values else math.nan
        moments[code] = mean, math.sqrt(squares)
    subjects = {}
    for subject, minute, code, value in SHARDS[name]:
        if code not in index:
            continue
        mean, deviation = moments[code]
        normal = math.nan if value is None or not deviation else (value - mean) / deviation
        subjects.setdefault(subject, {}).setdefault(minute, []).append((index[code], normal))
    return {subject: events for subject, events in subjects.items() if set(events) - {None}}


def test_a_folder_of_meds_is_converted(meds, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["convert", str(meds), str(out)]) == 0
    said = capsys.readouterr().out
    assert "4 subjects, 7 events, 6 codes" in said
    assert "1 rows with codes that the train split lacks were left out" in said
    assert "1 subjects without events were left out" in said
    words = ["[PAD]", "BP", "DX", "F", "HR", "M", "OLD"]
    for name in SHARDS:
        expected = model(name)
        schema = pq.read_table(out / "tokenization" / "schemas" / f"{name}.parquet").to_pylist()
        rows = varlen.JointNestedRaggedTensorDict(tensors_fp=out / "data" / f"{name}.nrt").to_list()
        assert [row["subject_id"] for row in schema] == list(expected)
        for i, (row, events) in enumerate(zip(schema, expected.values(), strict=True)):
            minutes = [minute for minute in events if minute is not None]
            assert row["static_code"] == ([c for c, _ in events[None]] if None in events else None)
            assert row["measurements_per_event"] == [len(events[m]) for m in minutes]
            assert len(row["time"]) == len(minutes)
            assert row["start_time"] == row["time"][0]
            assert [[words.index(c) for c in event] for event in rows["code"][i]] == [
                [c for c, _ in events[m]] for m in minutes
            ]
            for got, m in zip(rows["numeric_value"][i], minutes, strict=True):
                np.testing.assert_allclose(got, [v for _, v in events[m]], rtol=1e-5)
            days = [math.nan, *np.diff(minutes) / 1440]
            np.testing.assert_allclose(rows["time_delta_days"][i], days, rtol=1e-6)
    codes = pq.read_table(out / "metadata" / "codes.parquet").to_pydict()
    assert codes["code"] == words[1:]
    assert codes["code/vocab_index"] == [1, 2, 3, 4, 5, 6]
    assert codes["code/n_occurrences"] == [2, 1, 2, 3, 1, 1]
    assert codes["code/n_subjects"] == [2, 1, 2, 2, 1, 1]
    assert codes["values/sum"] == [16, 0, 0, 9, 0, 2]
    assert codes["description"] == [None, "a disease", None, "heart rate", None, None]
    data = varlen.open(out / "data" / "train" / "*.nrt")
    assert data.fields["code"].vocabulary == tuple(words)
    assert data.batch([0, 2], keys=["code"])["code"].shape == (2, 2, 2)


READ = """
import json, sys, meds_torchdata
options = {"max_seq_len": 5, "batch_mode": "SEM"}
config = meds_torchdata.MEDSTorchDataConfig(tensorized_cohort_dir=sys.argv[1], **options)
for split in ("train", "tuning"):
    data = meds_torchdata.MEDSPytorchDataset(config, split=split)
    batch = data.collate([data[i] for i in range(len(data))])
    values = batch.numeric_value.where(batch.numeric_value_mask, float("nan"))
    columns = [column.tolist() for column in (batch.code, values, batch.time_delta_days)]
    print(json.dumps([split, data.schema_df["subject_id"].to_list(), *columns]))
"""


def test_meds_torch_data_reads_the_result(meds, tmp_path):
    """Its batches hold the events of the model, subject by subject."""
    if importlib.util.find_spec("meds_torchdata") is None:
        pytest.skip("meds-torch-data is not installed")
    assert main(["convert", str(meds), str(tmp_path / "out"), "--quiet"]) == 0
    # in a process of its own, for its imports warn, which is an error here
    command = [sys.executable, "-c", READ, str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    batches = [json.loads(line) for line in done.stdout.splitlines()]
    for split, ids, codes, values, days in batches:
        expected = {}
        for name in SHARDS:
            expected.update(model(name) if name.startswith(split) else {})
        assert ids == list(expected)
        for i, events in enumerate(expected.values()):
            minutes = [minute for minute in events if minute is not None]
            for j, minute in enumerate(minutes):
                found = [(c, v) for c, v in zip(codes[i][j], values[i][j], strict=True) if c]
                np.testing.assert_allclose(found, events[minute], rtol=1e-5)
            found = days[i][1 : len(minutes)]
            np.testing.assert_allclose(found, np.diff(minutes) / 1440, rtol=1e-6)
    assert [split for split, *_ in batches] == ["train", "tuning"]


@pytest.mark.parametrize("number", [0, 1])
def test_codes_may_be_a_dictionary(meds, tmp_path, number):
    """As categories are written; in one of the shards alone, too."""
    assert main(["convert", str(meds), str(tmp_path / "plain"), "--quiet"]) == 0
    path = meds / "data" / "train" / f"{number}.parquet"
    table = pq.read_table(path)
    pq.write_table(table.set_column(2, "code", table.column("code").dictionary_encode()), path)
    assert main(["convert", str(meds), str(tmp_path / "out"), "--quiet"]) == 0
    for name in SHARDS:
        one, two = (tmp_path / folder / "data" / f"{name}.nrt" for folder in ("plain", "out"))
        assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize(
    ("column", "values", "text"),
    [
        ("subject_id", ["a"], "subject_id: expected integers, got string"),
        ("code", [7], "code: expected text, got int64"),
        ("numeric_value", ["7"], "numeric_value: expected numbers, got string"),
        ("time", [7.5], "time: expected times, got double"),
    ],
)
def test_columns_of_other_types_are_named(meds, tmp_path, capsys, column, values, text):
    path = meds / "data" / "train" / "2.parquet"
    write_shard(path, [(9, 0, "A", 1.0)])
    table = pq.read_table(path)
    pq.write_table(table.set_column(table.column_names.index(column), column, pa.array(values)), path)
    assert main(["convert", str(meds), str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "2.parquet: " in said
    assert text in said


def test_nested_ragged_tensors_reads_the_result(meds, tmp_path):
    peer = pytest.importorskip("nested_ragged_tensors.ragged_numpy", reason="the peer is not installed")
    assert main(["convert", str(meds), str(tmp_path / "out"), "--quiet"]) == 0
    path = tmp_path / "out" / "data" / "train" / "0.nrt"
    ours = varlen.JointNestedRaggedTensorDict(tensors_fp=path)
    theirs = peer.JointNestedRaggedTensorDict(tensors_fp=path)
    for i in range(len(ours)):
        a, b = ours[i].to_dense(), theirs[i].to_dense()
        assert a.keys() == b.keys()
        for name in a:
            assert a[name].dtype == b[name].dtype
            np.testing.assert_array_equal(a[name], b[name])


def test_splits_come_from_the_table_where_folders_do_not_say_them(meds, tmp_path):
    rows = [*SHARDS["train/0"], *SHARDS["train/1"], *SHARDS["tuning/0"]]
    flat = tmp_path / "flat"
    write_shard(flat / "data" / "all.parquet", rows)
    (flat / "metadata").mkdir()
    assert main(["convert", str(flat), str(tmp_path / "none"), "--quiet"]) == 1
    splits = pa.table({"subject_id": [1, 2, 3, 4, 5], "split": ["train"] * 4 + ["tuning"]})
    pq.write_table(splits, flat / "metadata" / "subject_splits.parquet")
    for source, target in ((flat, "a"), (meds, "b")):
        assert main(["convert", str(source), str(tmp_path / target), "--quiet"]) == 0
    one = varlen.open(tmp_path / "a" / "data" / "train" / "all.nrt")
    two = varlen.open(tmp_path / "b" / "data" / "train" / "*.nrt")
    for left, right in zip(one, two, strict=True):
        np.testing.assert_equal(left.to_list(), right.to_list())


def write_splits(folder, splits):
    table = pa.table({"subject_id": list(splits), "split": list(splits.values())})
    pq.write_table(table, folder / "metadata" / "subject_splits.parquet")


@pytest.fixture
def flat(tmp_path):
    """A folder whose table says the splits."""
    folder = tmp_path / "flat"
    write_shard(folder / "data" / "0.parquet", [*SHARDS["train/0"], *SHARDS["train/1"]])
    write_shard(folder / "data" / "1.parquet", SHARDS["tuning/0"])
    (folder / "metadata").mkdir()
    write_splits(folder, dict.fromkeys([1, 2, 3, 4], "train") | {5: "tuning"})
    return folder


def test_every_subject_is_in_a_split_or_left_out_by_name(flat, tmp_path, capsys):
    write_splits(flat, {1: "train", 2: "train", 4: "train", 8: "tuning"})
    assert main(["convert", str(flat), str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "0.parquet: subject 3 is in no split of subject_splits.parquet" in said
    assert not (tmp_path / "out").exists()
    assert main(["convert", str(flat), str(tmp_path / "out"), "--drop-unsplit"]) == 0
    said = capsys.readouterr().out
    assert "2 subjects in no split were left out: 3, 5" in said
    assert "1 subjects of subject_splits.parquet have no rows" in said
    assert [path.name for path in (tmp_path / "out" / "data").iterdir()] == ["train"]


def test_a_split_that_the_table_lacks_keeps_its_folder(meds, tmp_path, capsys):
    write_splits(meds, dict.fromkeys([1, 2, 3, 4], "train"))
    assert main(["convert", str(meds), str(tmp_path / "out"), "--quiet"]) == 0
    found = sorted(path.relative_to(tmp_path / "out" / "data") for path in tmp_path.glob("out/data/*/*.nrt"))
    assert [path.as_posix() for path in found] == [f"{name}.nrt" for name in SHARDS]


@pytest.mark.parametrize(
    ("splits", "text"),
    [
        (
            {1: "train", 5: "train"},
            "subject 5 is in the folder 'tuning', but subject_splits.parquet says 'train'",
        ),
        ({1: "../train"}, "'../train' is no name of a folder"),
        ({1: None}, "split: null at row 0"),
    ],
)
def test_splits_that_contradict_are_named(meds, tmp_path, capsys, splits, text):
    write_splits(meds, splits)
    assert main(["convert", str(meds), str(tmp_path / "out")]) == 1
    assert text in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_subject_is_in_one_split_and_in_one_file(flat, tmp_path, capsys):
    splits = pa.table({"subject_id": [1, 2, 3, 4, 5, 1], "split": ["train"] * 4 + ["tuning"] * 2})
    pq.write_table(splits, flat / "metadata" / "subject_splits.parquet")
    assert main(["convert", str(flat), str(tmp_path / "out")]) == 1
    assert "subject 1 is in the splits 'train' and 'tuning'" in capsys.readouterr().err
    write_splits(flat, dict.fromkeys([1, 2, 3, 4], "train") | {5: "tuning"})
    write_shard(flat / "data" / "2.parquet", [(4, 9, "HR", 1.0)])
    assert main(["convert", str(flat), str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "2.parquet: subject 4 is in " in said
    assert "0.parquet already" in said


def test_what_meds_has_no_place_for_is_said(flat, tmp_path, capsys):
    path = flat / "data" / "0.parquet"
    table = pq.read_table(path).append_column("text_value", pa.array(["x"] * 10))
    zoned = table.column("time").cast(pa.timestamp("us", "UTC"))
    pq.write_table(table.set_column(1, "time", zoned), path)
    assert main(["convert", str(flat), str(tmp_path / "out")]) == 1
    assert "times have a zone in" in capsys.readouterr().err
    table = pq.read_table(flat / "data" / "1.parquet")
    zoned = table.column("time").cast(pa.timestamp("us", "UTC"))
    pq.write_table(table.set_column(1, "time", zoned), flat / "data" / "1.parquet")
    assert main(["convert", str(flat), str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "columns left out: text_value" in said
    assert "time: times of UTC became UTC" in said
    assert "1 value of numeric_value, values of codes whose values are all alike in the train split" in said


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            [(11, 0, "A", 1.0), (12, 0, "A", 1.0), (11, 1, "A", 1.0)],
            "subject_id: the rows of 11 are not together",
        ),
        ([(11, 5, "A", 1.0), (11, 1, "A", 1.0)], "time: the events of subject 11 are not in their order"),
        (
            [(11, 5, "A", 1.0), (11, 1, "A", 1.0), (12, 5, "A", 1.0), (12, 1, "A", 1.0)],
            "time: the events of subject 11, 12 are not in their order",
        ),
        ([(1, 5, None, 1.0)], "code: null at row 0"),
        ([(1, 5, None, 1.0), (1, 6, None, 1.0)], "code: null at row 1"),
    ],
)
def test_wrong_events_are_named_and_the_next_run_goes_on(meds, tmp_path, capsys, rows, text):
    write_shard(meds / "data" / "train" / "2.parquet", rows)
    assert main(["convert", str(meds), str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert text in said
    assert "2.parquet" in said
    assert {path.name for path in tmp_path.iterdir()} == {"meds", ".out.parts"}
    (meds / "data" / "train" / "2.parquet").unlink()
    for name in ("out", "again"):
        assert main(["convert", str(meds), str(tmp_path / name)]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"meds", "out", "again"}
    results = []
    for folder in (tmp_path / "out", tmp_path / "again"):
        paths = [path for path in folder.rglob("*") if path.is_file()]
        results.append({path.relative_to(folder): path.read_bytes() for path in paths})
    assert results[0] == results[1]


def test_meds_is_converted_whole_into_a_folder_of_its_own(meds, tmp_path, capsys):
    out = tmp_path / "out"
    for options, code, text in (
        ([str(out), "--columns", "code"], 2, "--columns: "),
        ([str(out), "--nulls", "nan"], 2, "--nulls: "),
        ([str(meds), "--force"], 2, "IN and OUT are the same folder"),
        ([str(tmp_path), "--force"], 2, "IN and OUT are the same folder"),
        ([str(tmp_path)], 1, "already exists"),
    ):
        assert main(["convert", str(meds), *options]) == code
        assert text in capsys.readouterr().err
    assert main(["convert", str(meds), str(out), "--quiet"]) == 0
    assert main(["convert", str(meds), str(out), "--quiet", "--force"]) == 0
    (out / "notes.txt").write_text("mine")
    assert main(["convert", str(meds), str(out), "--quiet", "--force"]) == 1
    assert "holds 'notes.txt'" in capsys.readouterr().err


# The account.


def test_every_measurement_is_in_a_shard_beside_it_or_said(meds, tmp_path, capsys):
    rows = sum(len(shard) for shard in SHARDS.values())
    assert main(["convert", str(meds), str(tmp_path / "out"), "--json"]) == 0
    printed = capsys.readouterr().out
    assert json.loads(printed) == json.loads((tmp_path / "out" / "metadata" / "account.json").read_text())
    account = varlen.io.Account.from_dict(json.loads(printed))
    account.check()
    assert sum(account.files.values()) == account.rows.source.values == rows
    assert account.rows.reasons["codes that the train split lacks"].left_out == 1
    code, static = account.columns["code"], account.columns["static_code"]
    assert (code.source.values, code.reasons["static, in the table beside"].left_out) == (rows, 5)
    assert code.result.values == rows - 1 - 5
    assert (static.source.values, static.reasons["subjects without events"].left_out) == (5, 1)
    shards = varlen.open(str(tmp_path / "out" / "data" / "*" / "*.nrt")).account
    shards.check()
    assert shards.columns["code"].result.values == code.result.values


@pytest.mark.parametrize("lost", ["event", "static"])
def test_a_measurement_that_meds_loses_is_found(meds, tmp_path, capsys, monkeypatch, lost):
    from varlen.cli.conversion import meds_folder

    real = meds_folder.convert_shard

    def forget(table):
        is_static = table.column("time").is_null().to_numpy()
        of_kind = np.flatnonzero(is_static if lost == "static" else ~is_static)
        return real(table.take(np.delete(np.arange(table.num_rows), of_kind[:1])))

    monkeypatch.setattr(meds_folder, "convert_shard", forget)
    assert main(["convert", str(meds), str(tmp_path / "out"), "--quiet"]) == 1
    assert "the account does not balance" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.fixture
def plain(tmp_path):
    """A folder without events."""
    (tmp_path / "in" / "metadata").mkdir(parents=True)
    return tmp_path / "in"


def test_words_of_meds_are_counted_in_and_out(meds, tmp_path, capsys):
    assert main(["convert", str(meds), str(tmp_path / "out"), "--json"]) == 0
    account = varlen.io.Account.from_dict(json.loads(capsys.readouterr().out))
    rows = [row for shard in SHARDS.values() for row in shard]
    code, number = account.columns["code"], account.columns["numeric_value"]
    assert code.source.as_dict() == {"values": 14, "nulls": 0, "distinct": 7, "words": 7}
    assert code.result.distinct == len({"HR", "BP", "DX"})
    assert code.reasons["codes that the train split lacks"].first == [
        f"{meds}/data/tuning/0.parquet: code 'NEW'"
    ]
    assert number.source.nulls == sum(row[3] is None for row in rows)
    assert number.reasons["static, in the table beside"].nulls == 5  # one of them had a value: that of OLD


def test_words_that_become_one_are_found(plain, tmp_path, capsys, monkeypatch):
    from varlen.cli.conversion import meds_folder

    write_shard(plain / "data" / "train" / "0.parquet", [(1, 0, "A", None), (1, 1, "B", None)])
    real = meds_folder.normalize

    def merge(events, codes):
        table, lost = real(events, codes)
        return table.set_column(2, "code", pa.array(np.ones(table.num_rows, np.int64))), lost

    assert main(["convert", str(plain), str(tmp_path / "out"), "--quiet"]) == 0
    monkeypatch.setattr(meds_folder, "normalize", merge)
    assert main(["convert", str(plain), str(tmp_path / "out"), "--quiet", "--force"]) == 1
    assert "column 'code': 2 distinct values in, 1 out" in capsys.readouterr().err


def test_values_that_become_nan_say_why(plain, tmp_path, capsys):
    rows = [(1, 0, "A", 1.0), (1, 1, "A", 2.0), (2, 0, "B", 5.0), (2, 0, "A", math.inf)]
    write_shard(plain / "data" / "train" / "0.parquet", rows)
    path = plain / "data" / "tuning" / "0.parquet"
    write_shard(path, [(3, 0, "A", 1.0), (3, 1, "A", math.nan), (3, 2, "A", None)])
    table = pq.read_table(path)
    pq.write_table(table.set_column(3, "numeric_value", pa.array([1e300, math.nan, None])), path)
    assert main(["convert", str(plain), str(tmp_path / "out"), "--json"]) == 0
    number = varlen.io.Account.from_dict(json.loads(capsys.readouterr().out)).columns["numeric_value"]
    assert (number.source.nulls, number.result.nulls) == (2, 5)
    said = {why: (one.changed, one.nulls, one.first) for why, one in number.reasons.items()}
    train = plain / "data" / "train" / "0.parquet"
    assert said == {
        "values of codes whose values are all alike in the train split became NaN": (
            1,
            -1,
            [f"{train}: code 'B': 5.0"],
        ),
        "infinite values became NaN": (1, -1, [f"{train}: code 'A': inf"]),
        "values that are beyond float32 when they are normalized became NaN": (
            1,
            -1,
            [f"{path}: code 'A': 1e+300"],
        ),
    }


def test_subjects_of_unknown_codes_alone_are_counted(flat, tmp_path, capsys):
    write_splits(flat, {1: "train", 2: "tuning", 3: "train", 4: "tuning", 5: "held_out"})
    table = pq.read_table(flat / "data" / "0.parquet")
    codes = [f"NEW{s.as_py()}" if s.as_py() == 2 else "HR" for s in table.column("subject_id")]
    pq.write_table(table.set_column(2, "code", pa.array(codes)), flat / "data" / "0.parquet")
    assert main(["convert", str(flat), str(tmp_path / "out")]) == 0
    assert "1 subjects without events were left out" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("column", "values", "text"),
    [
        ("subject_id", pa.array([1, 1, 2**63 + 1], pa.uint64()), "subject_id: 9223372036854775809 at row 2"),
        ("time", pa.array([0, 1, 0], pa.timestamp("ns")), "time: 1970-01-01 00:00:00.000000001 at row 1"),
        ("numeric_value", pa.array([0, 2**53 + 1, 0]), "numeric_value: 9007199254740993 at row 1"),
        ("code", pa.array(["a", "[PAD]", "b"]), "code: '[PAD]' is a code of the train split"),
    ],
)
def test_values_that_meds_cannot_hold_are_named(plain, tmp_path, capsys, column, values, text):
    path = plain / "data" / "train" / "0.parquet"
    write_shard(path, [(1, 0, "A", None), (1, 1, "B", 1.0), (2, 0, "A", 2.0)])
    table = pq.read_table(path)
    pq.write_table(table.set_column(table.column_names.index(column), column, values), path)
    assert main(["convert", str(plain), str(tmp_path / "out")]) == 1
    assert text in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_codes_that_a_folder_describes_and_nobody_has_are_counted(meds, tmp_path, capsys):
    known = pa.table({"code": ["HR", "DX", "GONE"], "description": ["heart rate", "a disease", "no"]})
    pq.write_table(known, meds / "metadata" / "codes.parquet")
    assert main(["convert", str(meds), str(tmp_path / "out"), "--json"]) == 0
    account = varlen.io.Account.from_dict(json.loads(capsys.readouterr().out))
    balance = account.columns["metadata/codes"]
    assert (balance.source.values, balance.result.values, balance.left_out) == (3, 2, 1)
