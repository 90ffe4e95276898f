"""Accounts: in = out + left out, for rows and for each column; what nobody explains is found."""

import json
import os
import pickle

import building
import numpy as np
import pytest
import varlen as vl
import varlen.io
from varlen.cli import main
from varlen.data import saving
from varlen.io import Account, AccountError, Balance, Reason, Tally, Writer
from varlen.io.column_buffer import ColumnBuffer
from varlen.io.distinct import Distinct
from varlen.io.file_counts import read_all_written


def dataset():
    rows = {"age": [61, 35, 70], "code": [["a", "b"], [], ["a"]], "x": [[1.0, float("nan")], [], [4.0]]}
    return vl.data.Dataset(vl.JointNestedRaggedTensorDict(rows, schema={"code": str}))


# Counting.


@pytest.mark.parametrize("dtype", ["u1", "i4", "i8", "u8", "M8[s]", ">i8"])
@pytest.mark.parametrize("spread", [1, 10**12])
def test_distinct_numbers_are_exact_near_together_and_up_to_a_limit(dtype, spread):
    low = 0 if np.dtype(dtype).kind == "u" else -50
    if np.dtype(dtype).itemsize < 8 and spread > 1:
        pytest.skip("the numbers do not fit")
    values = (np.random.default_rng(0).integers(low, 100, 1000) * spread).astype(dtype)
    found = Distinct()
    for piece in np.array_split(values, 7):
        found.add(piece)
    found.add(values[:0])
    assert (found.count, found.is_exact) == (len(np.unique(values)), True)


def test_distinct_numbers_beyond_the_limit_are_a_lower_bound():
    found = Distinct()
    found.add(np.arange(100_000) * 10**9)
    found.add(np.array([7]))
    assert not found.is_exact
    assert 16_384 <= found.count <= 100_001
    for extreme in (np.array([2**63 - 1, -(2**63)]), np.array([2**64 - 1, 0], "u8")):
        found = Distinct()
        found.add(extreme)
        assert (found.count, found.is_exact) == (2, True)


def test_distinct_values_of_columns_that_hold_floats_too_are_not_counted():
    tally = Tally()
    for piece in ([1, 2], [0.5, np.nan], [3]):
        tally.add(np.array(piece))
    assert tally.as_dict() == {"values": 5, "nulls": 1}


@pytest.mark.parametrize(
    ("balance", "text"),
    [
        (Balance(Tally(3), Tally(2)), "3 values in, 2 out, 0 left out: 1 lost"),
        (Balance(Tally(2), Tally(3), {"x": Reason(1)}), "2 values in, 3 out, 1 left out: 2 too many"),
        (Balance(Tally(2, nulls=2), Tally(2, nulls=1)), "2 nulls in, 1 out, 0 explained: 1 lost"),
        (Balance(Tally(2, distinct=2), Tally(2, distinct=1)), "2 distinct values in, 1 out"),
        (Balance(Tally(2, nulls=2), Tally(2, nulls=1), {"filled": Reason(0, 1, 1)}), None),
        (Balance(Tally(2, distinct=2, at_least=True), Tally(2, distinct=1)), None),
        (Balance(Tally(2, distinct=2), Tally(1, distinct=1), {"x": Reason(1)}), None),
        (Balance(Tally(2), Tally(2, nulls=1, distinct=1)), None),
    ],
)
def test_a_balance_says_what_is_lost(balance, text):
    assert balance.fault() == text


def test_accounts_of_parts_add_up():
    parts = []
    for file, values in (("a", [1, 2]), ("b", [2, 3, 4])):
        part = Account({file: len(values)})
        part.column("x").source.add(np.array(values))
        part.leave_out("x", "rows filtered", 1, first=[f"{file}, row 0"])
        part.leave_out(None, "rows filtered", 1)
        part.set_result(len(values) - 1, {"x": len(values) - 1}, {"x": "w" * len(values)})
        part.check()
        parts.append(part)
    both = parts[0] + parts[1]
    both.check()
    assert both.files == {"a": 2, "b": 3}
    assert both.as_dict()["columns"]["x"] == {
        "in": {"values": 5, "nulls": 0, "distinct_at_least": 3},
        "out": {"values": 3, "words": 3},
        "reasons": {"rows filtered": {"left_out": 2, "first": ["a, row 0", "b, row 0"]}},
    }
    assert both + Account() == both
    assert Account.from_text(both.as_text()) == both


def test_files_beyond_a_thousand_are_counted_together():
    account = Account({str(i): 2 for i in range(1200)})
    assert (len(account.files), account.files["other files"]) == (1001, 400)
    assert sum(account.files.values()) == account.rows.source.values == 2400
    assert Account.from_text(account.as_text()) == account


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        '{"version": 2}',
        '{"version": 1, "files": {"a": "x"}, "rows": {}, "columns": {}, "unread": {}}',
        '{"version": 1, "files": {}, "rows": 3, "columns": {}, "unread": {}}',
    ],
)
def test_what_is_no_account_is_refused(text):
    with pytest.raises(varlen.io.FileFormatError, match=r"^account: "):
        Account.from_text(text)


# Datasets.


def test_views_go_on_with_the_account_of_their_source(tmp_path):
    dataset().save(tmp_path / "a.nrt")
    ds = vl.open(tmp_path / "a.nrt")
    assert ds.account.as_dict()["columns"]["x"]["out"] == {"values": 3, "nulls": 1}
    assert ds.account.as_dict()["columns"]["code"]["out"] == {
        "values": 3,
        "nulls": 0,
        "distinct": 2,
        "words": 3,
    }
    some = ds.filter(min_len=1).select([1, 1, 0])
    account = some.account
    account.check()
    assert {why: reason.left_out for why, reason in account.rows.reasons.items()} == {
        "by filter, select": 1,
        "taken again": -1,
    }
    assert account.rows.reasons["by filter, select"].first == ["row 1"]
    assert account.columns["x"].reasons["taken again"].left_out == -1
    assert account.columns["x"].result.values == len(some[:]["x"].values)
    ds.shuffle(seed=0).account.check()
    assert ds.shuffle(seed=0).account.rows.left_out == 0
    parts = ds.split({"train": 2, "test": 1}, seed=0)
    assert sum(part.account.rows.result.values for part in parts.values()) == 3
    parts["test"].account.check()


@pytest.mark.parametrize("rows_per_shard", [None, 2])
def test_what_is_saved_keeps_its_account(tmp_path, rows_per_shard):
    ds = dataset().filter(min_len=1)
    ds.save(tmp_path / "some", rows_per_shard=rows_per_shard)
    account = vl.open(tmp_path / "some").account
    account.check()
    assert account.files == {"memory": 3}
    assert account.rows.reasons["by filter"].left_out == 1
    assert account.columns["code"].result.words == 3
    again = vl.open(tmp_path / "some").select([0])
    again.save(tmp_path / "again")
    last = vl.open(tmp_path / "again").account
    assert list(last.rows.reasons) == ["by filter", "by select"]
    assert last.rows.source.values == 3


@pytest.mark.parametrize("batched", [False, True])
def test_map_says_what_it_left_out_and_made(tmp_path, batched):
    def first(rows):
        lists = rows.to_list()
        return {"x": [x[:1] for x in lists["x"]] if batched else lists["x"][:1], "n": lists["age"]}

    account = dataset().map(first, tmp_path / "m.nrt", batched=batched, batch_size=2).account
    account.check()
    assert account.columns["x"].reasons["by map"].left_out == 1
    assert account.columns["n"].reasons["by map"].left_out == -3
    assert account.columns["age"].reasons["a key that map leaves out"].left_out == 3
    fewer = dataset().map(lambda rows: rows[:1], tmp_path / "f.nrt", batched=True).account
    assert fewer.rows.reasons["by map"].left_out == 2
    none = dataset().select([]).map(lambda rows: rows, tmp_path / "none.nrt", batched=batched)
    none.account.check()


def test_datasets_that_are_joined_add_up_and_keys_are_said(tmp_path):
    dataset().save(tmp_path / "a.nrt")
    one = vl.open(tmp_path / "a.nrt")
    account = one.with_key("age", [1, 2, 3]).concat(dataset()).account
    account.check()
    assert account.rows.source.values == 6
    assert {why: r.left_out for why, r in account.columns["age"].reasons.items()} == {
        "by with_key": 3,
        "as with_key gives them": -3,
    }
    some = vl.open([tmp_path / "a.nrt"], keys=["x"]).account
    assert (list(some.columns), sorted(some.unread)) == (["x"], ["age", "code"])


def test_an_open_dataset_keeps_its_account_when_its_folder_changes(tmp_path):
    folder = tmp_path / "a"
    dataset().save(folder, rows_per_shard=2)
    ds, twice = vl.open(folder), vl.open([folder, folder])
    before = ds.account.as_dict()
    twice.select([0, 5]).account.check()
    assert twice.account.rows.result.values == len(twice) == 6
    with varlen.io.ShardWriter(folder, 2, append=True, durable=False) as writer:
        writer.append(dataset()[:2])
    vl.open(folder).delete([1])
    varlen.io.compact(folder, durable=False)
    for same in (ds, pickle.loads(pickle.dumps(ds))):
        assert same.account.as_dict() == before
        same.select([2]).account.check()
        same.concat(vl.open(folder)).account.check()
    assert ds.reload().account.rows.result.values == 4


def test_files_without_an_account_begin_one(tmp_path):
    vl.JointNestedRaggedTensorDict({"x": [[1], [2, 3]]}).save(tmp_path / "a.nrt")
    account = vl.open(tmp_path / "a.nrt").account
    account.check()
    assert account.files == {str(tmp_path / "a.nrt"): 2}
    assert account.columns["x"].source.values == account.columns["x"].result.values == 3


# What is lost is found, and nothing replaces what was there.


def _without_last(joint):
    return joint.slice(0, max(len(joint) - 1, 0))


@pytest.fixture
def planted(monkeypatch):
    """Plants a loss: of a row that is read or written, of a value, of a key, of bytes, of a shard."""

    def plant(where):
        append, read, finish = Writer.append, saving.read_batch, varlen.io.ShardWriter._finish
        if where == "row read":
            monkeypatch.setattr(saving, "read_batch", lambda *args: _without_last(read(*args)))
        elif where == "row written":
            monkeypatch.setattr(Writer, "append", lambda self, rows: append(self, _without_last(rows)))
        elif where == "value":
            monkeypatch.setattr(Writer, "append", lambda self, rows: append(self, shorter(rows)))
        elif where == "key":
            monkeypatch.setattr(Writer, "append", lambda self, rows: append(self, rows.select(["age", "x"])))
        elif where == "null":
            monkeypatch.setattr(Writer, "append", lambda self, rows: append(self, filled(rows)))
        elif where == "bytes":
            monkeypatch.setattr(ColumnBuffer, "copy", lambda *_: None)
        elif where == "shard":

            def forget(self):
                finish(self)
                for shard in self._shards[1:]:
                    os.unlink(shard.path)
                self._shards = self._shards[:1]

            monkeypatch.setattr(varlen.io.ShardWriter, "_finish", forget)

    def shorter(rows):
        lists = vl.JointNestedRaggedTensorDict._wrap(rows).to_list()
        for name in ("x", "code"):
            lists[name] = [row[:-1] for row in lists[name]]
        return vl.JointNestedRaggedTensorDict(lists, schema={"code": str, "x": np.float32})

    def filled(rows):
        names = rows.names
        values = [np.nan_to_num(rows.values(n)) if n == "x" else rows.values(n) for n in names]
        return vl._core.Joint(names, rows.dims, values, [rows.level(1)], len(rows), rows.meta)

    return plant


@pytest.mark.parametrize("where", ["row read", "row written", "value", "key", "null", "bytes", "shard"])
@pytest.mark.parametrize("rows_per_shard", [None, 1])
def test_what_save_loses_is_found(tmp_path, planted, where, rows_per_shard):
    if where == "shard" and rows_per_shard is None:
        pytest.skip("one file has no shards")
    dataset().save(tmp_path / "a.nrt")
    ds, target = vl.open(tmp_path / "a.nrt"), tmp_path / "out"
    if rows_per_shard is None:
        target.write_bytes(b"what was there")
    planted(where)
    error = varlen.io.FileFormatError if where == "bytes" else AccountError
    with pytest.raises(error) as wrong:
        ds.save(target, rows_per_shard=rows_per_shard)
    if where != "bytes":
        assert {
            "row read": "rows: 3 values in",
            "key": "'code': 3 values in, 0 out",
            "null": "1 nulls in, 0",
        }.get(where, "lost") in str(wrong.value)
    assert sorted(os.listdir(tmp_path)) == (["a.nrt"] if rows_per_shard else ["a.nrt", "out"])
    assert rows_per_shard or target.read_bytes() == b"what was there"


@pytest.mark.parametrize("where", ["row read", "row written", "value", "key", "bytes"])
def test_what_map_loses_is_found(tmp_path, planted, where):
    target = tmp_path / "out.nrt"
    target.write_bytes(b"what was there")
    ds = dataset()
    planted(where)
    with pytest.raises(ValueError, match=r"lost|past the end"):
        ds.map(lambda rows: rows, target, batched=True)
    assert target.read_bytes() == b"what was there"
    assert os.listdir(tmp_path) == ["out.nrt"]


# Packing.


@pytest.mark.parametrize("too_long", ["skip", "split"])
def test_packing_says_what_it_skips(too_long):
    lists = [[1, 2, 3], list(range(9)), [], [5, 6]]
    batch = vl.data.pack({"x": lists, "y": lists}, 4, too_long=too_long)
    account = batch.account
    account.check()
    assert (account.rows.source.values, account.columns["y"].source.values) == (4, 14)
    over = account.columns["x"].reasons.get("rows over size")
    if too_long == "split":
        assert (over, account.columns["x"].result.values, account.rows.result.values) == (None, 14, 4)
    else:
        assert (over.left_out, over.first) == (9, ["row 1: 9 tokens"])
        assert (account.rows.result.values, account.columns["y"].result.values) == (3, 5)
    assert dataset().batch([0]).account is None


def test_bins_say_what_they_cut_and_skip():
    bins = vl.data.BinPacking([3, 9, 0, 7], 5, max_len=6, too_long="skip")
    account = bins.account
    account.check()
    assert account.as_dict()["columns"]["tokens"] == {
        "in": {"values": 19},
        "out": {"values": 3},
        "reasons": {
            "tokens over max_len": {
                "left_out": 4,
                "nulls": None,
                "first": ["row 1: 9 tokens", "row 3: 7 tokens"],
            },
            "rows over size": {
                "left_out": 12,
                "nulls": None,
                "first": ["row 1: 9 tokens", "row 3: 7 tokens"],
            },
        },
    }
    assert account.rows.result.values == 2
    vl.data.BinPacking([3, 9], 5, too_long="split").account.check()


@pytest.mark.parametrize("lost", [1, 2])
def test_a_token_that_packing_loses_is_found(monkeypatch, lost):
    fill = vl._core.fill_bins

    def forget(lengths, *args):
        order, offsets = fill(lengths, *args)
        return order[:-lost], np.minimum(offsets, len(order) - lost)

    monkeypatch.setattr(vl._core, "fill_bins", forget)
    with pytest.raises(AccountError, match="column 'values'"):
        vl.data.pack([[1, 2, 3], [4], [5, 6]], 4)


# Builds.


@pytest.mark.parametrize("workers", [1, 2])
def test_a_build_merges_the_accounts_of_its_partitions(tmp_path, workers):
    paths = []
    for i, first in enumerate((0, 300)):
        paths.append(str(tmp_path / f"{i}.txt"))
        (tmp_path / f"{i}.txt").write_text(str(first))
    varlen.io.build(paths, building.numbered, tmp_path / "out", workers=workers, row_ids="id")
    account = vl.open(tmp_path / "out").account
    account.check()
    assert account.files == dict.fromkeys(paths, 3)
    assert account.columns["word"].result.as_dict()["words"] == 4
    assert (account.columns["value"].source.values, account.columns["value"].result.values) == (6, 6)
    parts = [vl.open(path).account for path in sorted((tmp_path / "out").glob("*.nrt"))]
    assert sum(part.rows.result.values for part in parts) == account.rows.result.values == 6


def test_pieces_of_every_form_are_counted(tmp_path):
    lists = {
        "a": [1, 2],
        "b": [[1.5, 2.0], []],
        "c": [[["x"], []], [["y", "x"]]],
        "d": [np.arange(2), np.arange(3)],
        "e": vl.Ragged.from_list([[1, 2], [3]]),
        "f": vl.Ragged.from_list([[[1, 2], [3]], [[4]]]),
        "g": vl.Ragged(np.ones((4, 3)), [4, 0]),
        "h": vl.Ragged(np.array(["x", "y"]), [0, 2]),
        "i": np.array([[1, 2], [3]], object),
        "j": np.array([np.arange(2), np.arange(1)], object),
    }
    joint = vl.JointNestedRaggedTensorDict({"x": [[1], [2, 3]]})
    flat = {"dim0/id": np.arange(2), "dim1/bounds": np.array([1, 3]), "dim1/t": np.arange(3)}
    forms = [
        *(
            ({name: lists[name]}, count)
            for name, count in zip(lists, (2, 2, 3, 5, 3, 4, 4, 2, 3, 3), strict=True)
        )
    ]
    for i, (rows, expected) in enumerate([*forms, (joint, 3), (flat, 5)]):
        varlen.io.build([i], lambda _, rows=rows: rows, tmp_path / str(i))
        account = vl.open(tmp_path / str(i)).account
        account.check()
        assert sum(balance.source.values for balance in account.columns.values()) == expected
        assert account.files == {"partition 0": 2}


def test_columns_of_arrow_and_pandas_are_counted(tmp_path):
    pyarrow, pandas = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    lists = [[1, 2, 3], [], [4]]
    columns = pyarrow.array(lists), pyarrow.chunked_array([lists[:2], lists[2:]]), pandas.Series(lists)
    for i, column in enumerate(columns):
        varlen.io.build([i], lambda _, x=column: {"x": x}, tmp_path / str(i))
        assert vl.open(tmp_path / str(i))[:].to_list() == {"x": lists}


def test_what_is_no_column_is_named_before_it_is_counted(tmp_path):
    with pytest.raises(RuntimeError, match="partition 0: rows: 'x' is one int; a dict holds many rows"):
        varlen.io.build([0], lambda _: {"x": 5}, tmp_path / "out")


@pytest.mark.parametrize(
    ("rows", "distinct"),
    [
        ({"w": ["a", "b", "a"]}, 2),
        ({"w": [["a", "b"], ["c"]]}, 3),
        ({"w": np.array(["a", "b", "a"])}, 2),
        ({"w": np.array(["a", "b", "a"], object)}, 2),
        ({"dim0/w": np.array(["a", "b", "c"])}, 3),
        ({"w": np.array([7, 9, 7])}, 2),
        ({"w": np.array([[7, 9], [7, 8]])}, 3),
        ({"w": np.array(["2020-01-01", "2020-01-02"], "M8[D]")}, 2),
    ],
)
def test_a_value_that_a_partition_exchanges_is_found(tmp_path, monkeypatch, rows, distinct):
    varlen.io.build([0, 1], lambda _: rows, tmp_path / "out")
    account = vl.open(sorted((tmp_path / "out").glob("*.nrt"))[0]).account.columns["w"]
    assert account.source.as_dict()["distinct"] == account.result.as_dict()["distinct"] == distinct
    prepare = varlen.io.Writer._prepare

    def exchange(self, name, dim, given, dtype):
        dim, stored, kind = prepare(self, name, dim, given, dtype)
        return dim, np.full_like(stored, stored.flat[0]), kind

    monkeypatch.setattr(varlen.io.Writer, "_prepare", exchange)
    with pytest.raises(RuntimeError, match=f"column 'w': {distinct} distinct values in, 1 out"):
        varlen.io.build([0], lambda _: rows, tmp_path / "lost")


@pytest.mark.parametrize(
    ("pieces", "distinct"), [([np.array([1, 2]), [3, 4]], None), ([["a"], np.array(["b", "a"])], 2)]
)
def test_pieces_of_several_kinds_have_no_count_of_what_is_distinct(tmp_path, pieces, distinct):
    varlen.io.build([0], lambda _: ({"w": piece} for piece in pieces), tmp_path / "out")
    assert vl.open(tmp_path / "out").account.columns["w"].source.as_dict().get("distinct") == distinct


@pytest.mark.parametrize("where", ["row written", "value", "key"])
def test_what_a_partition_loses_is_found(tmp_path, planted, where):
    planted(where)
    rows = dataset().source.joint(0)
    with pytest.raises(RuntimeError, match="partition 0: the account does not balance"):
        varlen.io.build([0], lambda _: vl.JointNestedRaggedTensorDict._wrap(rows)._view(), tmp_path / "out")
    assert not list((tmp_path / "out").glob("*.nrt"))


def test_a_shard_that_a_build_loses_is_found(tmp_path, monkeypatch):
    plan = varlen.io.building.plan
    monkeypatch.setattr(plan, "read_all_written", lambda paths: read_all_written(paths[:1]))
    with pytest.raises(AccountError, match="rows: 6 values in, 3 out"):
        varlen.io.build([0, 3], building.rows, tmp_path / "out")
    assert not (tmp_path / "out" / "index.json").exists()


# What people see.


def test_info_shows_the_account(tmp_path, capsys):
    dataset().filter(min_len=1).save(tmp_path / "a.nrt")
    assert main(["info", "--account", "--json", str(tmp_path / "a.nrt")]) == 0
    assert Account.from_dict(json.loads(capsys.readouterr().out)) == vl.open(tmp_path / "a.nrt").account
    assert main(["info", "--account", str(tmp_path / "a.nrt")]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith("in: 3 rows of 1 file, 9 values in 3 columns; out: 8 values")
    assert said[2].split() == ["column", "in", "nulls", "distinct", "out", "nulls", "distinct", "words"]
    assert [line.split() for line in said[3:7]] == [
        ["rows", "3", "2"],
        ["age", "3", "0", "3", "2", "0", "2"],
        ["code", "3", "0", "2", "3", "0", "2", "3"],
        ["x", "3", "1", "3", "1"],
    ]
    assert said[8:] == ["left out: 1 row and 1 value of age, by filter; first row 1", "", "memory: 3 rows"]
