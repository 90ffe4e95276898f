"""Rows deleted from a folder: every reader sees the others alone, as if the deleted had never been there."""

import itertools
import json
import pickle

import numpy as np
import pytest
import varlen as vl
from growth import ALL, FIRST, MORE, add, begin, run_killed
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen import io

N = 14
ROWS = {
    "id": list(range(50, 50 + N)),
    "word": [f"w{i % 3}" for i in range(N)],
    "x": [[10 * i + k for k in range(i % 4)] for i in range(N)],
}
DELETED = [0, 3, 4, 5, 13]


def rest_of(rows, deletions):
    count = len(next(iter(rows.values())))
    return {name: [v[i] for i in range(count) if i not in set(deletions)] for name, v in rows.items()}


REST = rest_of(ROWS, DELETED)


def text_of(folder):
    with open(f"{folder}/index.json") as file:
        return file.read()


def make(path, rows=ROWS, size=4, **options):
    with io.ShardWriter(path, size, durable=False, **options) as writer:
        writer.append(rows)
    return str(path)


@pytest.fixture
def folder(tmp_path):
    return make(tmp_path / "a", row_ids="id")


@pytest.fixture
def rest(folder):
    return vl.open(folder).delete(DELETED)


@st.composite
def deletions(draw):
    """Rows of some shards, and steps that delete, add and compact, as a list does them."""
    size = draw(st.integers(1, 5))
    counts = draw(st.lists(st.integers(0, 4), min_size=1, max_size=12))
    steps = draw(
        st.lists(
            st.one_of(
                st.tuples(st.just("delete"), st.sets(st.integers(0, 30))),
                st.tuples(st.just("add"), st.lists(st.integers(0, 4), min_size=1, max_size=3)),
                st.tuples(st.just("compact"), st.booleans()),
            ),
            max_size=5,
        )
    )
    return size, counts, steps


@settings(max_examples=30)
@given(deletions(), st.booleans())
def test_steps_do_what_they_do_to_a_list(tmp_path_factory, case, checks):
    size, counts, steps = case
    number = itertools.count(1000)

    def new(lengths):
        first = [next(number) for _ in lengths]
        return [(i, [i + k for k in range(n)]) for i, n in zip(first, lengths, strict=True)]

    def columns(rows):
        return {"id": np.array([i for i, _ in rows], np.int32), "x": [x for _, x in rows]}

    path = tmp_path_factory.mktemp("lists") / "a"
    plain = new(counts)
    schema = {"id": "int32", "x": "int32"}
    make(path, columns(plain), size, row_ids="id", schema=schema, checksums=checks)
    ds = vl.open(path)
    for verb, what in steps:
        if verb == "delete":
            rows = sorted(row for row in what if row < len(plain))
            ds = ds.delete(rows)
            plain = [row for i, row in enumerate(plain) if i not in what]
            known = len(plain)
        elif verb == "add":
            known = len(plain)
            plain += (more := new(what))
            with io.ShardWriter(path, size, append=True, durable=False) as writer:
                writer.append(columns(more))
            ds = ds.reload()
        else:
            known = len(plain)
            io.compact(path, clean=what, durable=False)
            ds = ds.reload()
        assert ds.new_rows == range(known, len(plain))
        for each in (ds, vl.open(path, verify="read" if checks else "never")):
            assert len(each) == len(plain)
            assert each["id"].tolist() == [i for i, _ in plain]
            assert each[:].to_list()["x"] == [x for _, x in plain]
            assert each.lengths.tolist() == [len(x) for _, x in plain]
            assert each.rows_of([i for i, _ in plain]).tolist() == list(range(len(plain)))
        account = ds.account
        account.check()
        assert account.rows.result.values == len(plain)
    if checks:
        assert io.verify(path) == []


@pytest.mark.parametrize("options", [{}, {"mmap": False}, {"keys": ["id", "x"]}])
@pytest.mark.parametrize(
    "how",
    [
        {"rows": DELETED},
        {"rows": [0, 3, 4, 5, -1, 3]},
        {"rows": np.isin(np.arange(N), DELETED)},
        {"rows": lambda columns: np.isin(columns["id"], [50, 53, 54, 55, 63])},
        {"ids": np.array([63, 50, 53, 54, 55])},
    ],
)
def test_rows_are_named_by_number_mask_function_and_id(folder, how, options):
    ds = vl.open(folder, **options)
    rest = ds.delete(**how)
    names = ds.keys()
    assert len(ds) == N
    assert ds[:].to_list() == {name: ROWS[name] for name in names}
    for each in (rest, vl.open(folder, **options), pickle.loads(pickle.dumps(rest)), ds.reload()):
        assert len(each) == len(REST["id"])
        assert each[:].to_list() == {name: REST[name] for name in names}
        assert [row["x"].tolist() for row in each] == REST["x"]
        assert each[-1].to_list()["x"] == REST["x"][-1]
        assert each.batch([2, 0])["id"].tolist() == [REST["id"][2], REST["id"][0]]


def test_one_row_a_slice_and_none_at_all(folder):
    ds = vl.open(folder)
    assert ds.delete(3)["id"].tolist() == [i for i in ROWS["id"] if i != 53]
    assert ds.reload().delete(slice(0, 2))["id"].tolist() == [52, *ROWS["id"][4:]]
    before = (ds.reload(), text_of(folder))
    assert ds.reload().delete([])["id"].tolist() == before[0]["id"].tolist()
    assert ds.delete([3])["id"].tolist() == before[0]["id"].tolist()  # it is gone already
    assert text_of(folder) == before[1]


def test_all_rows_may_go(folder):
    ds = vl.open(folder).delete(slice(None))
    assert (len(ds), ds.keys(), ds.lengths.tolist()) == (0, ["id", "word", "x"], [])
    assert ds[:].to_list() == {"id": [], "word": [], "x": []}
    io.compact(folder, clean=True)
    ds = vl.open(folder)
    assert (len(ds), ds.fields["word"].vocabulary) == (0, ("[PAD]", "w0", "w1", "w2"))
    with io.ShardWriter(folder, 4, append=True) as writer:
        writer.append({"id": [7], "word": ["w9"], "x": [[1]]})
    assert vl.open(folder)[:].to_list() == {"id": [7], "word": ["w9"], "x": [[1]]}


def test_views_of_the_rest_count_the_rest(rest):
    some = rest.select([3, 0])
    assert some["id"].tolist() == [REST["id"][3], REST["id"][0]]
    assert pickle.loads(pickle.dumps(some))["id"].tolist() == some["id"].tolist()
    assert rest.filter(min_len=2)["x"].to_list() == [x for x in REST["x"] if len(x) >= 2]
    assert sorted(rest.shuffle(seed=1)["id"].tolist()) == REST["id"]
    parts = rest.split({"a": 4, "b": 5}, shuffle=False)
    assert [part["id"].tolist() for part in parts.values()] == [REST["id"][:4], REST["id"][4:]]
    both = rest.concat(rest.select([0]), rest)
    assert both["id"].tolist() == [*REST["id"], REST["id"][0], *REST["id"]]
    keyed = rest.with_key("n", np.arange(9))
    assert keyed[:].to_list() == {**REST, "n": list(range(9))}
    assert keyed.reload()["n"].tolist() == list(range(9))


def test_rows_that_are_joined_behind_others(tmp_path, rest):
    other = vl.open(make(tmp_path / "b", row_ids="id")).select([0]).with_key("id", np.array([99]))
    other.save(tmp_path / "c", rows_per_shard=1)
    both = rest.concat(vl.open(tmp_path / "c"))
    assert both["id"].tolist() == [*REST["id"], 99]
    assert both.rows_of([99, REST["id"][1]]).tolist() == [9, 1]
    assert both.reload()["id"].tolist() == both["id"].tolist()
    vl.open(tmp_path / "c").delete([0])
    assert both.reload()["id"].tolist() == REST["id"]


def test_an_id_may_come_again_once_its_row_is_gone(tmp_path):
    path = make(tmp_path / "a", {"id": [7, 8, 7], "x": [[1], [2], [3]]}, 2, row_ids="id")
    with pytest.raises(ValueError, match="rows 0 and 2 both have the id 7"):
        vl.open(path).rows_of([8])
    rest = vl.open(path).delete([0])
    assert rest.rows_of([8, 7]).tolist() == [0, 1]
    with pytest.raises(KeyError, match="9 at position 0"):
        rest.rows_of([9])
    keyed = rest.with_key("id", np.array([5, 6]))
    assert keyed.rows_of([6, 5]).tolist() == [1, 0]


@pytest.mark.parametrize("layout", ["padded", "ragged"])
def test_samplers_loaders_and_epochs_deal_the_rest(rest, layout):
    batches = [
        vl.data.BatchSampler(rest.lengths, 3, shuffle=True, seed=1),
        vl.data.TokenBudget(rest.lengths, 5, seed=1),
        vl.data.ShardSampler(rest, 3, window=2, seed=1),
    ]
    for sampler in batches:
        loader = vl.data.Loader(rest, batches=sampler, layout=layout)
        assert sorted(i for batch in loader for i in batch["id"].tolist()) == REST["id"]
    epoch = rest.epoch(4, layout=layout, prefetch=2)
    assert [i for batch in epoch for i in batch["id"].tolist()] == REST["id"]


def test_batches_are_those_of_a_data_set_without_the_rows(tmp_path, rest):
    whole = vl.open(make(tmp_path / "b", REST, row_ids="id"))
    for how in ({}, {"layout": "ragged"}, {"max_len": 2, "window": "random", "seed": 3}):
        one, other = (dict(each.batch([7, 1, 8], keys=["id", "x"], **how)) for each in (rest, whole))
        assert one.keys() == other.keys()
        for name in one:
            np.testing.assert_array_equal(one[name], other[name])


def test_a_state_is_refused_once_rows_are_gone_and_goes_on_once_they_are_compacted(folder):
    def loader_of(ds):
        sampler = vl.data.BatchSampler(ds.lengths, 2, shuffle=True, seed=3)
        return vl.data.Loader(ds, batches=sampler)

    ds = vl.open(folder)
    loader = loader_of(ds)
    next(iter(loader))
    state = json.loads(json.dumps(loader.state_dict()))
    rest = ds.delete([2])
    with pytest.raises(ValueError, match=r"was saved for other data or options: rows 14, here 13$"):
        loader_of(rest).load_state_dict(state)
    with io.ShardWriter(folder, 4, append=True) as writer:
        writer.append({"id": [1, 2], "word": ["w1", "w1"], "x": [[1], [2]]})
    with pytest.raises(ValueError, match="was saved for other data"):
        loader_of(rest.reload()).load_state_dict(state)
    loader = loader_of(rest)
    whole = [batch["id"].tolist() for batch in loader_of(rest)]
    first = next(iter(loader))["id"].tolist()
    state = json.loads(json.dumps(loader.state_dict()))
    io.compact(folder, clean=True)
    again = loader_of(vl.open(folder))
    again.load_state_dict(state)
    assert [first, *(batch["id"].tolist() for batch in again)] == whole


def test_engines_and_files_take_the_rest(tmp_path, rest):
    rest.save(tmp_path / "one.nrt")
    assert vl.open(tmp_path / "one.nrt")[:].to_list() == REST
    doubled = rest.map(double, tmp_path / "doubled", rows_per_shard=4)
    assert doubled["x"].to_list() == [[2 * x for x in row] for row in REST["x"]]
    by_shard = rest.filter(min_len=1, path=tmp_path / "filtered")
    assert by_shard["x"].to_list() == [x for x in REST["x"] if x]
    assert len(by_shard.source.counts) == 4
    for each in (doubled, by_shard):
        account = each.account
        account.check()
        assert account.rows.reasons["deleted"].left_out == len(DELETED)


def double(row):
    return {"x": [2 * x for x in row["x"].tolist()]}


def test_arrow_and_its_like_get_the_rest(rest):
    pa = pytest.importorskip("pyarrow")
    assert pa.table(rest)["id"].to_pylist() == REST["id"]


def test_a_file_with_the_same_rows_deleted_stays_beside_it(tmp_path, rest):
    scores = make(tmp_path / "b", {"score": [[float(v) for v in row] for row in ROWS["x"]]}, 5)
    with pytest.raises(ValueError, match="14 rows, but there are 9"):
        rest.with_file(scores)
    vl.open(scores).delete(DELETED)
    both = rest.with_file(scores)
    assert both["score"].to_list() == REST["x"]
    assert len(both.source.counts) > 1  # its shards are views
    plain = make(tmp_path / "c", {"rank": list(range(9))}, 5)
    three = both.with_file(plain)
    assert three[:].to_list() == {**REST, "score": REST["x"], "rank": list(range(9))}
    assert three.batch([8, 0])["rank"].tolist() == [8, 0]
    account = three.account
    account.check()
    assert account.rows.reasons["deleted"].left_out == len(DELETED)
    assert three.reload()[:].to_list() == three[:].to_list()
    vl.open(plain).delete([0])
    with pytest.raises(ValueError, match=r"reload: .*a with .* has 9 rows, .*c with .* has 8; add"):
        three.reload()
    vl.open(scores).delete([1])
    rest.delete([1])
    with pytest.raises(ValueError, match=r"of 9 rows .*a with .*: row 0 was deleted in .*c with .* alone"):
        three.reload()
    less = both.reload()
    assert less["id"].tolist() == rest_of(REST, [1])["id"]
    assert less["score"].to_list() == rest_of(REST, [1])["x"]


def test_files_with_other_rows_deleted_go_together_row_by_row(tmp_path):
    for name, gap in (("a", [0]), ("b", [13])):
        vl.open(make(tmp_path / name, {name: list(range(N))}, 5)).delete(gap)
    both = vl.open(tmp_path / "a").with_file(tmp_path / "b")
    assert both[:].to_list() == {"a": list(range(1, 14)), "b": list(range(13))}
    assert both.batch([12, 0])["b"].tolist() == [12, 0]
    both.save_manifest(tmp_path / "set.json")
    assert vl.open(tmp_path / "set.json")[:].to_list() == both[:].to_list()
    assert both.reload()[:].to_list() == both[:].to_list()
    io.compact(tmp_path / "a")
    assert both.reload()[:].to_list() == both[:].to_list()


def test_joins_find_rows_by_their_ids(tmp_path, rest):
    ages = vl.open(make(tmp_path / "b", {"id": [*range(40, 70)], "age": [*range(30)]}, 7, row_ids="id"))
    joined = rest.join(ages)
    assert joined["age"].tolist() == [i - 40 for i in REST["id"]]
    fewer = ages.delete(ids=[51])
    with pytest.raises(KeyError, match="51"):
        rest.join(fewer)


def test_a_manifest_keeps_what_was_deleted_version_by_version(tmp_path, folder):
    scores = make(tmp_path / "b", {"score": ROWS["x"]}, 5)
    ages = make(tmp_path / "c", {"id": ROWS["id"][::-1], "age": [*range(N)]}, 5)
    ds = vl.open(folder).with_file(scores).join(vl.open(ages), on="id")
    manifest = tmp_path / "set.json"
    assert ds.save_manifest(manifest) == 1
    first = vl.open(manifest)
    own, theirs = vl.open(folder).delete(DELETED), vl.open(scores).delete(DELETED)
    ds = own.with_file(scores).join(vl.open(ages), on="id")
    assert ds.save_manifest(manifest) == 2
    assert ds.save_manifest(manifest) == 2
    expected = {**REST, "score": REST["x"], "age": rest_of({"age": [*range(N)][::-1]}, DELETED)["age"]}
    for each in (ds, vl.open(manifest), pickle.loads(pickle.dumps(vl.open(manifest))), first.reload()):
        assert each[:].to_list() == expected
    assert vl.open(manifest, version=1)["id"].tolist() == ROWS["id"]
    assert '"deleted": [0, 3]' in manifest.read_text()
    text = manifest.read_text().replace('"deleted": [0, 3]', '"deleted": [3, 0]')
    manifest.write_text(text)
    with pytest.raises(io.FileFormatError, match=r"version 2: .*deleted rows are not in order"):
        vl.open(manifest)
    assert len(theirs) == 9


def test_a_remote_folder_shows_the_rest(folder, rest):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.put(folder, "/deletions", recursive=True)
    ds = vl.open("memory://deletions")
    assert ds[:].to_list() == REST
    assert ds.rows_of([REST["id"][4]]).tolist() == [4]
    with pytest.raises(ValueError, match=r"delete: .* is behind a URL; delete the rows where the files are"):
        ds.delete([0])
    with pytest.raises(ValueError, match="is a URL; compact the folder where its files are"):
        io.compact("memory://deletions")
    memory.rm("/deletions", recursive=True)


def test_what_cannot_be_deleted_says_what_can(tmp_path, folder, rest):
    vl.JointNestedRaggedTensorDict(ROWS).save(tmp_path / "one.nrt")
    one, memory = vl.open(tmp_path / "one.nrt"), vl.Dataset(vl.JointNestedRaggedTensorDict(ROWS))
    cases = [
        (
            lambda: one.delete([0]),
            ValueError,
            r"delete: .*one\.nrt is no folder with an index; save\(path, rows",
        ),
        (lambda: memory.delete([0]), ValueError, "delete: these rows are not in one folder of shards alone"),
        (
            lambda: rest.select([0]).delete([0]),
            ValueError,
            "delete: this is a view of some rows; delete them",
        ),
        (
            lambda: rest.with_key("n", np.arange(9)).delete([0]),
            ValueError,
            "not in one folder of shards alone",
        ),
        (lambda: rest.delete(), TypeError, "delete: pass rows or ids"),
        (lambda: rest.delete([0], ids=[50]), TypeError, "delete: pass rows or ids, not both"),
        (lambda: rest.delete([9]), IndexError, "index 9 at position 0 is out of range for 9 rows"),
        (lambda: rest.delete([True]), IndexError, "a mask of 1 for 9 rows"),
        (lambda: rest.delete("a"), TypeError, "rows"),
        (lambda: rest.delete([0.5]), TypeError, "expected integers"),
        (lambda: rest.delete(ids=[50]), KeyError, "50 at position 0 is no row's id"),
        (lambda: rest.delete(lambda columns: columns["none"]), KeyError, "'none' is no key"),
        (lambda: rest.delete(lambda columns: columns["id"]), TypeError, "expected a bool for each row"),
        (
            lambda: vl.open([folder, make(tmp_path / "b")]).delete([0]),
            ValueError,
            "the rows are in 2 folders",
        ),
        (lambda: vl.open(f"{folder}/*.nrt").delete([0]), ValueError, "no folder with an index"),
    ]
    before = text_of(folder)
    for call, kind, text in cases:
        with pytest.raises(kind, match=text):
            call()
    assert text_of(folder) == before
    with pytest.raises(ValueError, match="reload: this is a view"):
        rest.select([0]).reload()


def test_files_that_were_written_anew_are_refused(folder):
    ds = vl.open(folder)
    ds.delete([0])
    io.compact(folder)
    for rows in ([1], slice(None)):
        with pytest.raises(
            io.StaleFileError, match=r"delete: was written anew since it was opened.*; reload"
        ):
            ds.delete(rows)
    assert len(vl.open(folder)) == N - 1


def test_a_list_that_is_wrong_is_refused(folder, rest):
    path = f"{folder}/index.json"
    table = json.loads(text_of(folder))
    assert table["version"] == 2
    assert [entry.get("deleted") for entry in table["shards"]] == [[0, 3], [0, 1], None, [1]]
    for bad, fault in [
        ([3, 0], "not in order, or not among its 4 rows"),
        ([0, 4], "not in order, or not among its 4 rows"),
        ([-1], "not in order, or not among its 4 rows"),
        ([1, 1], "not in order"),
        ([0.5], "no list of numbers"),
        ([[0]], "no list of numbers"),
        (["a"], "no list of numbers"),
        ([2**70], "no list of numbers"),
        ({"0": 1}, "expected a list of deleted rows"),
    ]:
        table["shards"][0]["deleted"] = bad
        with open(path, "w") as file:
            json.dump(table, file)
        with pytest.raises(io.FileFormatError, match=f"shard 'part-00000.nrt': .*{fault}"):
            vl.open(folder)
    table["version"] = 3
    with open(path, "w") as file:
        json.dump(table, file)
    with pytest.raises(io.FileFormatError, match="version 3; this varlen reads versions 1 and 2"):
        vl.open(folder)


def test_builds_do_not_bring_deleted_rows_back(tmp_path):
    parts = [{"x": [[1], [2]]}, {"x": [[3], [4]]}]
    path = tmp_path / "a"
    io.build(parts, None, path)
    vl.open(path).delete([1])
    io.build(parts, None, path)  # it is complete
    assert vl.open(path)["x"].to_list() == [[1], [3], [4]]
    more = [*parts, {"x": [[5]]}]
    with pytest.raises(FileExistsError, match="1 rows were deleted from the folder; append=True adds to it"):
        io.build(more, None, path)
    io.build(more, None, path, append=True)
    assert vl.open(path)["x"].to_list() == [[1], [3], [4], [5]]
    io.compact(path, clean=True)
    io.build(more, None, path, append=True)  # every partition is there, the one of a compacted shard too
    assert vl.open(path)["x"].to_list() == [[1], [3], [4], [5]]
    with pytest.raises(FileExistsError, match="not of this build"):
        io.build(more, None, path)


def test_two_writers_at_once_are_one_error(folder):
    ds = vl.open(folder)
    with io.ShardWriter(folder, 2, append=True) as writer:
        with pytest.raises(BlockingIOError, match="another writer is at work in the folder"):
            ds.delete([0])
        with pytest.raises(BlockingIOError, match="another writer is at work in the folder"):
            io.compact(folder)
        writer.discard()
    one, other = vl.open(folder), vl.open(folder)
    one.delete([0])
    assert other.delete([0, 1])["id"].tolist() == ROWS["id"][2:]


DELETE = "import varlen as vl\nvl.open(sys.argv[1]).delete([1])\n"


def test_a_kill_at_any_step_leaves_all_rows_or_the_rest(tmp_path):
    expected, stop, code, states = rest_of(FIRST, [1]), 0, 9, []
    while code == 9:
        stop += 1
        folder = begin(tmp_path / str(stop), checksums=True)
        code = run_killed(DELETE, folder, stop)
        ds = vl.open(folder, verify="open")
        assert ds[:].to_list() in (FIRST, expected)
        assert io.verify(folder) == []
        states.append(len(ds))
        add(folder)
        assert vl.open(folder)[:].to_list() == {name: ds[:].to_list()[name] + MORE[name] for name in FIRST}
    assert code == 0
    assert stop > 4
    assert states == sorted(states, reverse=True)
    assert (states[0], states[-1]) == (3, 2)


def test_added_rows_and_deleted_ones_are_told_apart(tmp_path):
    folder = begin(tmp_path / "a")
    ds = vl.open(folder)
    add(folder)
    now = ds.delete([1])
    assert (len(now), now.new_rows) == (4, range(2, 4))
    assert now[:].to_list() == rest_of(ALL, [1])
    assert now.reload()[:].to_list() == rest_of(ALL, [1])


def test_a_damaged_index_is_not_sealed_again(tmp_path):
    folder = begin(tmp_path / "a", checksums=True)
    ds = vl.open(folder)
    index = folder / "index.json"
    raw = index.read_bytes()
    index.write_bytes(raw.replace(b'"rows": 2', b'"rows":  2', 1))
    with pytest.raises(io.ChecksumError, match="index"):
        ds.delete([0])
