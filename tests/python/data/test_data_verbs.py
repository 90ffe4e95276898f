"""Verbs of datasets: views, and what is made of them, are the same rows as a plain list of them."""

import datetime
import functools
import pickle

import numpy as np
import pytest
import varlen
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen.data import Dataset
from varlen.joint import JointNestedRaggedTensorDict as Joint

LISTS = {
    "id": [70, 30, 50, 90, 10],
    "part": ["a", "b", "a", "c", "b"],
    "x": [[1, 2, 3], [], [4], [5, 6], []],
    "y": [[[1], [2, 3], []], [], [[9]], [[], [4, 4]], []],
}
N = 5


def joint(rows=range(N), **more):
    lists = {**LISTS, **more}
    schema = {"part": str, "id": np.int32, "x": np.int16, "y": np.int16}
    return Joint({k: [v[i] for i in rows] for k, v in lists.items()}, schema=schema, row_ids="id")


@functools.cache
def _memory():
    return Dataset(joint())


@pytest.fixture(scope="module")
def datasets(tmp_path_factory):
    """The same rows in memory, in a file, in shards, mapped and read, and in places that were joined."""
    return list(_datasets(tmp_path_factory.mktemp("places")))


def _datasets(folder):
    joint().save(folder / "all.nrt")
    (folder / "shards").mkdir()
    joint([0, 1]).save(folder / "shards" / "a.nrt")
    Joint.concatenate([joint([0, 1]), joint([2, 3, 4])])[2:].save(folder / "shards" / "b.nrt")
    yield _memory()
    for mmap in (True, False):
        yield varlen.open(folder / "all.nrt", mmap=mmap)
        shards = varlen.open(folder / "shards", mmap=mmap)
        yield shards
        first = varlen.open(folder / "shards" / "a.nrt", mmap=mmap)
        yield first.concat(Dataset(shards[2:4]), Dataset(shards[4:5]))
        yield first.select([0]).concat(first.select([1]), Dataset(shards[2:5]))


def rows_of(dataset):
    lists = dataset[:].to_list()
    return [{name: lists[name][i] for name in lists} for i in range(len(dataset))]


def plain(rows):
    return [{name: values[i] for name, values in LISTS.items()} for i in rows]


def same_batch(one, other):
    assert list(one) == list(other)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_view_is_its_rows(datasets, data):
    rows = data.draw(st.lists(st.integers(-N, N - 1), max_size=8))
    again = data.draw(st.lists(st.integers(0, max(len(rows) - 1, 0)), max_size=5)) if rows else []
    options = {"max_len": data.draw(st.sampled_from([None, 1, 2])), "flatten": data.draw(st.booleans())}
    options["layout"] = data.draw(st.sampled_from(["padded", "ragged"]))
    wanted = Dataset(Joint._wrap(joint()._view().take(np.array(rows, int) % N)))
    for dataset in datasets:
        view = dataset.select(rows)
        assert len(view) == len(rows)
        assert rows_of(view) == plain(rows)
        assert [view[i].to_list() for i in range(len(rows))] == plain(rows)
        assert view.lengths.tolist() == wanted.lengths.tolist()
        assert view.lengths_at(2).tolist() == wanted.lengths_at(2).tolist()
        assert rows_of(pickle.loads(pickle.dumps(view))) == plain(rows)
        twice = view.select(again)
        assert rows_of(twice) == plain([rows[i] for i in again])
        for keys in (None, ["id", "x"], ["y"], ["id"]):
            result = view.batch(np.array(again, int), keys=keys, **options)
            same_batch(result, wanted.batch(again, keys=keys, **options))


VERBS = {
    "select": lambda ds, k: ds.select([k, -1, k // 2] if len(ds) else []),
    "reverse": lambda ds, k: ds.select(slice(None, None, -1)),
    "slice": lambda ds, k: ds.select(slice(k % 3, None, 1 + k % 2)),
    "long": lambda ds, k: ds.filter(min_len=k % 3),
    "part": lambda ds, k: ds.filter(lambda rows: rows["part"] != "abc"[k % 3]),
    "shuffle": lambda ds, k: ds.shuffle(k),
    "split": lambda ds, k: ds.split({"a": len(ds) // 2, "b": len(ds) - len(ds) // 2}, seed=k)["b"],
    "split by a key": lambda ds, k: ds.split("part").get("abc"[k % 3], ds),
    "concat": lambda ds, k: ds.concat(ds.select([0] if len(ds) else []), _memory().select([k % N])),
    "pickle": lambda ds, k: pickle.loads(pickle.dumps(ds)),
}


def _verb_of_list(name, rows, k):
    """The same of a list of row numbers of LISTS; shuffles are those of NumPy."""
    n, part = len(rows), LISTS["part"]
    return {
        "select": lambda: [rows[k], rows[-1], rows[k // 2]] if n else [],
        "reverse": lambda: rows[::-1],
        "slice": lambda: rows[k % 3 :: 1 + k % 2],
        "long": lambda: [row for row in rows if len(LISTS["x"][row]) >= k % 3],
        "part": lambda: [row for row in rows if part[row] != "abc"[k % 3]],
        "shuffle": lambda: [rows[i] for i in np.random.default_rng(k).permutation(n)],
        "split": lambda: [rows[i] for i in np.random.default_rng(k).permutation(n)[n // 2 :]],
        "split by a key": lambda: [row for row in rows if part[row] == "abc"[k % 3]] or rows,
        "concat": lambda: [*rows, *rows[:1], k % N],
        "pickle": lambda: rows,
    }[name]()


@settings(max_examples=6, deadline=None)
@given(names=st.lists(st.sampled_from(sorted(VERBS)), min_size=1, max_size=8), data=st.data())
def test_chain_of_verbs_is_that_of_a_list(datasets, names, data):
    for dataset in datasets:
        rows = list(range(N))
        for name in names:
            k = data.draw(st.integers(0, max(len(rows) - 1, 0)))
            dataset, rows = VERBS[name](dataset, k), _verb_of_list(name, rows, k)
        assert rows_of(dataset) == plain(rows)
        assert [row.to_list() for row in dataset] == plain(rows)
        assert dataset.lengths.tolist() == [len(LISTS["x"][row]) for row in rows]
        kept = Dataset(Joint._wrap(joint()._view().take(np.array(rows, int))))
        same_batch(dataset.batch(range(len(rows)), max_len=2), kept.batch(range(len(rows)), max_len=2))


def test_view_counts_random_windows_by_its_own_rows(datasets):
    for dataset in datasets:
        how = {"max_len": 1, "window": "random", "seed": 3, "keys": ["x"], "windows": True}
        view = dataset.select([3, 0])
        same_batch(view.batch([1, 0], **how), Dataset(view[:]).batch([1, 0], **how))


def test_view_deals_records_of_a_prefix_to_its_own_rows():
    view = _memory().select([2, 0])
    batches = [batch["x"].tolist() for batch in view.epoch(1, keys=["x"], prefix=Joint({"x": [[7], [8]]}))]
    assert batches == [[[7, 4]], [[8, 1, 2, 3]]]


def test_view_copies_nothing_and_composes_to_one_index():
    dataset = Dataset(Joint({"x": [[i] for i in range(100)]}))
    view = dataset.select(slice(10, 90)).select(slice(5, None, 2)).shuffle(0)
    assert view.source is dataset.source
    assert view._base is dataset
    assert sorted(view[:]["x"].to_list()) == [[i] for i in range(15, 90, 2)]
    assert repr(view) == "Dataset(38 of 100 rows, x: uint8@1)"


def test_view_finds_the_rows_of_ids(datasets):
    for dataset in datasets:
        view = dataset.select([3, 0, 3])
        assert view.rows_of([70, 90]).tolist() == [1, 0]
        with pytest.raises(KeyError, match="ids: 30 at position 1 is no id of these rows"):
            view.rows_of([70, 30])
        with pytest.raises(KeyError, match="31"):
            view.rows_of([31])


def test_slice_of_a_view_copies_no_row_numbers():
    view = _memory().shuffle(0)
    for rows in (slice(1, 4), slice(None, None, -1), slice(3, 99)):
        some = view.select(rows)
        assert np.shares_memory(some._index, view._index)
        assert rows_of(some) == rows_of(view)[rows]
        assert rows_of(pickle.loads(pickle.dumps(some))) == rows_of(view)[rows]


def test_view_makes_data_and_samples():
    view = _memory().select([3, 2])
    assert view.batch([0, 1], layout="named", keys=["x"])["x"].values.shape == (3,)
    sampler = varlen.data.TokenBudget(view.lengths, 2)
    assert sorted(row for batch in sampler for row in batch) == [0, 1]
    assert [batch["id"].tolist() for batch in view.epoch(1, prefetch=1)] == [[90], [50]]
    assert view.collate(view.__getitems__([1]))["id"].tolist() == [50]


def test_view_of_a_subclass_keeps_its_attributes():
    class Named(Dataset):
        def __init__(self, source, name):
            super().__init__(source)
            self.name = name

    view = Named(joint(), "train").select([1])
    assert type(view) is Named
    assert view.name == "train"


def test_view_refuses_rows_that_are_not_there():
    view = _memory().select([3, 2])
    with pytest.raises(IndexError, match="rows: index 2 at position 1 is out of range for 2 rows") as raised:
        view.select([0, 2])
    assert (raised.value.row, raised.value.number) == (1, 2)
    with pytest.raises(IndexError, match="a mask of 5 for 2 rows"):
        view.select(np.ones(5, bool))
    with pytest.raises(IndexError, match="out of range"):
        view[2]
    with pytest.raises(IndexError):
        view.batch(np.array([2]))


def test_filter_is_a_plain_condition(datasets):
    for dataset in datasets:
        assert rows_of(dataset.filter(min_len=1, max_len=2)) == plain([2, 3])
        assert rows_of(dataset.filter(lambda rows: rows["id"] > 40, min_len=2)) == plain([0, 3])
        assert rows_of(dataset.filter(lambda rows: rows["part"] == "b")) == plain([1, 4])
        assert rows_of(dataset.filter(np.array([0, 1, 0, 1, 0], bool)).filter(max_len=0)) == plain([1])
        assert rows_of(dataset.filter(lambda rows: rows["dim1/lengths"] == 3)) == plain([0])
        assert len(dataset.select([]).filter(min_len=1)) == 0


def test_filter_gives_functions_one_value_a_row():
    seen = []
    _memory().filter(lambda rows: seen.append((sorted(rows), len(rows))) or np.ones(N, bool))
    assert seen == [(["dim1/lengths", "id", "part"], 3)]


def test_filter_refuses_what_is_no_condition():
    dataset = _memory()
    with pytest.raises(TypeError, match="filter: pass a function"):
        dataset.filter()
    with pytest.raises(TypeError, match="function: expected a bool for each row, got dtype int64"):
        dataset.filter(np.arange(N))
    with pytest.raises(ValueError, match=r"function: expected a bool for each of 5 rows, got shape \(2,\)"):
        dataset.filter(lambda rows: np.ones(2, bool))
    with pytest.raises(KeyError, match="'x' lies at dim 1"):
        dataset.filter(lambda rows: rows["x"] > 1)
    with pytest.raises(KeyError, match="'z' is no key of these rows"):
        dataset.filter(lambda rows: rows["z"] > 1)
    with pytest.raises(ValueError, match="min_len"):
        dataset.filter(min_len=-1)


def test_shuffle_is_a_permutation_by_its_seed():
    dataset = Dataset(Joint({"x": [[i] for i in range(50)]}))
    once, again, other = (dataset.shuffle(seed).batch(slice(None))["x"].ravel() for seed in (1, 1, 2))
    assert once.tolist() == again.tolist()
    assert once.tolist() != other.tolist()
    assert sorted(once.tolist()) == list(range(50))
    assert len(dataset.shuffle(np.random.default_rng(0))) == 50
    with pytest.raises(TypeError, match="seed: expected an int"):
        dataset.shuffle("a")


@given(st.lists(st.integers(1, 20), min_size=1, max_size=5), st.booleans(), st.booleans())
def test_split_deals_every_row_once(counts, shuffle, fractions):
    n = sum(counts)
    dataset = Dataset(Joint({"id": np.arange(n), "x": [[1]] * n}))
    sizes = {str(i): count / n if fractions and n else count for i, count in enumerate(counts)}
    parts = dataset.split(sizes, shuffle=shuffle, seed=0)
    assert [len(part) for part in parts.values()] == counts
    ids = [i for part in parts.values() for i in part._source_rows(np.arange(len(part))).tolist()]
    assert sorted(ids) == list(range(n))
    assert shuffle or ids == list(range(n))


def test_split_by_a_key_has_a_part_a_value():
    parts = _memory().split("part")
    assert {name: rows_of(part) for name, part in parts.items()} == {
        "a": plain([0, 2]), "b": plain([1, 4]), "c": plain([3])}  # fmt: skip


def test_split_by_a_key_has_every_row_once():
    rng = np.random.default_rng(0)
    for values in (rng.integers(0, 9, 40), rng.random(40).round(1), rng.integers(0, 3, 40).astype("M8[D]")):
        dataset = Dataset(Joint({"k": values, "x": [[1]] * 40})).shuffle(1)
        kept = dataset[:]["k"]
        parts = dataset.split("k")
        assert list(parts) == [str(value) for value in np.unique(kept)]
        for name, part in parts.items():
            assert {str(value) for value in part[:]["k"]} == {name}
            assert part._index.tolist() == [
                row for row, value in zip(dataset._index, kept, strict=True) if str(value) == name
            ]
    assert _memory().select([]).split("part") == {}


def test_split_by_a_key_needs_one_value_a_row():
    dataset = _memory().with_key("pair", np.zeros((N, 2), int))
    with pytest.raises(ValueError, match=r"sizes: 'pair' has values of shape \(2,\), expected one a row"):
        dataset.split("pair")


def test_split_refuses_sizes_that_are_not_those_of_all_rows():
    dataset = _memory()
    with pytest.raises(ValueError, match=r"expected fractions that add up to 1, got 1\.1"):
        dataset.split({"a": 0.9, "b": 0.2})
    with pytest.raises(ValueError, match="the parts have 4 rows, but there are 5"):
        dataset.split({"a": 2, "b": 2})
    with pytest.raises(ValueError, match="'b' is -1"):
        dataset.split({"a": 6, "b": -1})
    with pytest.raises(ValueError, match="'a' is nan"):
        dataset.split({"a": float("nan")})
    with pytest.raises(TypeError, match="got both"):
        dataset.split({"a": 0.5, "b": 2})
    with pytest.raises(TypeError, match="expected a number for 'a', got str"):
        dataset.split({"a": "1"})
    with pytest.raises(TypeError, match=r"expected names to sizes, such as .*, or a key, got list"):
        dataset.split([0.5, 0.5])
    with pytest.raises(KeyError, match="'x' lies at dim 1"):
        dataset.split("x")


@pytest.mark.parametrize("mmap", [True, False])
def test_concat_widens_and_keeps_words(tmp_path, mmap):
    Joint({"w": [["a"], ["b"]], "n": [[1], [2]]}, schema={"w": str}).save(tmp_path / "a.nrt")
    more = Joint({"w": [["a", "b", "c"]], "n": [[300, -1, 0]]}, schema={"w": str})
    both = varlen.open(tmp_path / "a.nrt", mmap=mmap).select([1, 0]).concat(Dataset(more))
    both = pickle.loads(pickle.dumps(both))
    assert both.fields["w"].vocabulary == ("[PAD]", "a", "b", "c")
    assert both.schema["n"] == np.int16
    assert both.batch([2, 0])["n"].tolist() == [[300, -1, 0], [2, 0, 0]]
    assert both.batch([2, 0], max_len=1)["n"].dtype == np.int16
    assert both[0].schema["n"] == np.int16
    assert both[:].to_list()["w"][2] == ["a", "b", "c"]


def test_values_of_rows_are_not_rounded(tmp_path):
    for name, values in {"a": [2**53, 2**53 + 1], "b": [2.0, 0.5]}.items():
        varlen.io.save(tmp_path / f"{name}.nrt", {"dim0/id": np.array(values)})
    parts = [varlen.open(tmp_path / f"{name}.nrt") for name in "ab"]
    for ds in (varlen.open([tmp_path / "a.nrt", tmp_path / "b.nrt"]), parts[0].concat(parts[1])):
        for read in (
            lambda ds: ds.filter(lambda rows: rows["id"] > 0),
            lambda ds: ds.split("id"),
            lambda ds: ds.join(parts[1].with_key("x", [1, 2]), on="id"),
        ):
            with pytest.raises(ValueError, match=r"a\.nrt: key 'id': 9007199254740993 in row 1 does not fit"):
                read(ds)
        rest = ds.select([3, 0])
        assert [len(part) for part in rest.split("id").values()] == [1, 1]
        assert rest.filter(lambda rows: rows["id"] > 1)[:].to_list() == {"id": [2.0**53]}


def test_ids_of_other_dtypes_are_compared_exactly():
    numbers = [2**53, 2**53 + 1, 5]
    ints = Dataset(Joint({"id": np.array(numbers)}, row_ids="id"))
    floats = Dataset(Joint({"id": np.array([2.0**53, 5.0])}, row_ids="id"))
    assert ints.rows_of(np.array(numbers, np.uint64)).tolist() == [0, 1, 2]
    assert ints.rows_of(np.array([5, 2**53], np.float32)).tolist() == [2, 0]
    assert floats.rows_of([5, 2**53]).tolist() == [1, 0]
    for ds, ids in ((floats, [5, 2**53 + 1]), (ints, [5, 2**64]), (ints, [5.0, np.nan]), (ints, [5, "5"])):
        with pytest.raises(KeyError, match="at position 1 is no row's id"):
            ds.rows_of(np.array(ids, object) if isinstance(ids[1], str) else ids)
    words = Dataset(Joint({"id": ["a", "b"]}, row_ids="id"))
    for kind in (object, np.dtypes.StringDType() if hasattr(np.dtypes, "StringDType") else str):
        assert words.rows_of(np.array(["b", "a"], kind)).tolist() == [1, 0]


def test_words_that_end_in_a_null_are_not_taken_for_others():
    words = ["a", "a\0", "b"]
    ds = Dataset(Joint({"id": words, "w": words, "x": [[1], [2], [3]]}, row_ids="id"))
    assert ds.rows_of(words[::-1]).tolist() == [2, 1, 0]
    assert ds.rows_of("a\0") == 1
    for read in (
        lambda: ds.filter(lambda rows: rows["w"] == "a"),
        lambda: ds.split("w"),
        lambda: ds.join(Dataset(Joint({"id": ["b", "a"], "y": [1, 2]})), on="id"),
    ):
        with pytest.raises(ValueError, match=r"the null at the end of 'a\\x00'"):
            read()


@pytest.mark.parametrize(
    ("ids", "text"), [(["p", "q", "p"], "'p'"), ([7, 8, 7], "7"), ([0.5, 1.5, 0.5], "0.5")]
)
@pytest.mark.parametrize("row_ids", [None, "id"])
def test_ids_that_two_rows_have_are_named(ids, text, row_ids):
    one = Dataset(Joint({"id": sorted(set(ids)), "x": [[1], [2]]}, row_ids="id"))
    two = Dataset(Joint({"id": ids, "y": [[1], [2], [3]]}, row_ids=row_ids))
    with pytest.raises(ValueError, match=f"rows 0 and 2 both have the id {text}"):
        one.join(two, on="id")
    if row_ids:
        with pytest.raises(ValueError, match=f"rows 0 and 2 both have the id {text}"):
            two.rows_of(ids[:1])


def test_words_of_no_rows_are_words(tmp_path):
    none = {"dim0/id": np.empty(0, "U1"), "dim1/bounds": np.empty(0, np.int64), "dim1/w": np.empty(0, "U1")}
    for name in "ab":
        with varlen.io.ShardWriter(tmp_path / name, 2, row_ids="id", padding_id=False) as writer:
            writer.append({f"{key}{name}" if key[-1] == "w" else key: x for key, x in none.items()})
    one, two = (varlen.open(tmp_path / name) for name in "ab")
    assert one.filter(lambda rows: rows["id"] == "a")[:].to_list() == {"id": [], "wa": []}
    assert one.split("id") == {}
    assert one.join(two, on="id")[:].to_list() == {"id": [], "wa": [], "wb": []}
    with varlen.io.ShardWriter(tmp_path / "a", 2, append=True) as writer:
        writer.append({"id": ["x"], "wa": [["y", "z"]]})
    assert one.reload().fields["wa"].vocabulary == ("y", "z")  # no word for padding there either


def test_concat_of_concats_is_one_over_all_sources():
    parts = [Dataset(Joint({"id": [i], "x": [[1] * (1 + i % 3)]})) for i in range(30)]
    joined = functools.reduce(lambda whole, part: whole.concat(part), parts)
    assert joined.source._sources == [part.source for part in parts]
    again = pickle.loads(pickle.dumps(joined.select([29, 0, 7]).concat(joined.select([5]))))
    assert again[:]["id"].tolist() == [29, 0, 7, 5]
    assert again.batch([3, 0])["id"].tolist() == [5, 29]


def test_concat_refuses_what_does_not_fit():
    dataset = _memory()
    with pytest.raises(ValueError, match="part 1: has no key"):
        dataset.concat(Dataset(joint().drop(["x"])))
    with pytest.raises(ValueError, match="part 1: has a key 'z'"):
        dataset.concat(dataset.with_key("z", np.arange(N)))
    text = r"part 1: 'part' has another vocabulary .*: it has no words; .*Writer"
    with pytest.raises(ValueError, match=text):
        dataset.concat(dataset.with_key("part", np.arange(N)))
    with pytest.raises(ValueError, match="vocabularies: 'x' is no key with words in all sources"):
        dataset.concat(dataset, vocabularies={"x": ["a"]})
    with pytest.raises(ValueError, match="part 1: 'x' lies at dim 0"):
        dataset.concat(Dataset(joint().drop(["x"]).with_key("x", np.arange(N))))
    with pytest.raises(TypeError, match=r"others\[0\]: expected a Dataset, got list"):
        dataset.concat([1])


@pytest.mark.parametrize("rows", [None, [3, 0, 2]])
def test_key_is_under_its_rows(datasets, tmp_path, rows):
    for dataset in datasets:
        view = dataset if rows is None else dataset.select(rows)
        z = [[k * 10 + i for i in range(len(row["x"]))] for k, row in enumerate(rows_of(view))]
        w = [[[k] * len(inner) for inner in row["y"]] for k, row in enumerate(rows_of(view))]
        words = [f"word {k}" for k in range(len(view))]
        keyed = view.with_key("z", z).with_key("w", w).with_key("s", words)
        keyed = keyed.with_key("q", np.arange(len(view)))
        keyed = pickle.loads(pickle.dumps(keyed))
        wanted = [{**row, "z": z[k], "w": w[k], "s": words[k], "q": k} for k, row in enumerate(rows_of(view))]
        assert rows_of(keyed) == wanted
        assert [row.to_list() for row in keyed] == wanted
        last = keyed.with_key("x", [[9] * len(row) for row in z]).select([1, 0])
        assert last[0].to_list()["x"] == [9] * len(z[1])
        alone = Dataset(keyed[:])
        for options in ({}, {"max_len": 1}, {"flatten": True}, {"layout": "ragged"}):
            for keys in (None, ["w"], ["z", "q"], ["q"], ["id", "w"], ["x"]):
                same_batch(
                    keyed.batch([1, 0], keys=keys, **options), alone.batch([1, 0], keys=keys, **options)
                )
        keyed.save(tmp_path / "keyed.nrt")
        saved = varlen.open(tmp_path / "keyed.nrt")
        assert rows_of(saved) == wanted


def test_key_refuses_what_does_not_fit():
    dataset = _memory()
    with pytest.raises(ValueError, match="z"):
        dataset.with_key("z", [[1, 2, 3], [], [4], [5], []])
    with pytest.raises(ValueError, match="z"):
        dataset.with_key("z", np.arange(N - 1))
    with pytest.raises(ValueError, match="'z' at dim 3, but these rows have 2 levels"):
        dataset.with_key("z", np.arange(9), 3)
    with pytest.raises(ValueError, match="rows 0 and 2 of this view are the same row"):
        dataset.select([1, 0, 1]).with_key("z", np.arange(3))


def test_key_that_takes_the_place_of_row_ids_is_looked_up():
    dataset = _memory().with_key("id", np.array([1, 2, 3, 4, 1]))
    with pytest.raises(ValueError, match="ids: rows 0 and 4 both have the id 1"):
        dataset.rows_of([2])
    dataset = _memory().with_key("id", list("abcda"), dtype=str)
    with pytest.raises(ValueError, match="ids: rows 0 and 4 both have the id 'a'"):
        dataset.rows_of(["b"])


def test_key_that_takes_the_place_of_row_ids_below_the_rows_is_none(tmp_path):
    dataset = _memory().with_key("id", LISTS["x"])
    with pytest.raises(ValueError, match="ids: these rows have no ids"):
        dataset.rows_of([1])
    dataset.save(tmp_path / "a.nrt")
    assert rows_of(varlen.open(tmp_path / "a.nrt")) == rows_of(dataset)


def test_save_keeps_dtypes_words_and_ids(datasets, tmp_path):
    for dataset in datasets:
        dataset.select([4, 0, 0][:2]).save(tmp_path / "view.nrt")
        saved = varlen.open(tmp_path / "view.nrt")
        assert rows_of(saved) == plain([4, 0])
        assert saved.schema == dataset.schema
        assert saved.fields["part"].vocabulary == dataset.fields["part"].vocabulary
        assert saved.rows_of([70]).tolist() == [1]


def test_save_to_shards_and_over_its_own_file(tmp_path):
    _memory().save(tmp_path / "a.nrt")
    dataset = varlen.open(tmp_path / "a.nrt")
    dataset.select([1, 2]).save(tmp_path / "a.nrt", progress=True)
    assert rows_of(varlen.open(tmp_path / "a.nrt")) == plain([1, 2])
    assert rows_of(dataset) == plain(range(N))
    dataset.shuffle(0).save(tmp_path / "many", rows_per_shard=2)
    assert len(varlen.open(tmp_path / "many").paths) == 3
    with pytest.raises(FileExistsError, match="holds"):
        dataset.save(tmp_path / "many", rows_per_shard=2)
    for shards in (None, 2):
        with pytest.raises(ValueError, match="path: memory://a is a URL; write to a path of this machine"):
            dataset.save("memory://a", rows_per_shard=shards)
    with pytest.raises(ValueError, match="save: these rows have no keys"):
        Dataset([]).save(tmp_path / "none.nrt")


@pytest.mark.parametrize("rows_per_shard", [None, 1])
def test_save_of_no_rows_keeps_their_keys(datasets, tmp_path, rows_per_shard):
    for i, dataset in enumerate(datasets):
        dataset.select([]).save(tmp_path / f"none-{i}.nrt", rows_per_shard=rows_per_shard)
        saved = varlen.open(tmp_path / f"none-{i}.nrt")
        assert len(saved) == 0
        assert saved.schema == dataset.schema
        assert saved.fields["part"].vocabulary == dataset.fields["part"].vocabulary


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_map_takes_words_nested_rows_and_dtypes_of_each_row(tmp_path, size):
    view = _memory().select([1, 0, 3])
    path = tmp_path / "m.nrt"
    words = view.map(
        lambda row: {"w": [f"w{v}" for v in row["x"]], "s": row.to_list()["part"]}, path, batch_size=size
    )
    assert rows_of(words) == [
        {"w": [], "s": "b"}, {"w": ["w1", "w2", "w3"], "s": "a"}, {"w": ["w5", "w6"], "s": "c"}]  # fmt: skip
    nested = view.select([1, 2]).map(lambda row: {"y": row["y"]}, path, batch_size=size)
    assert [row["y"] for row in rows_of(nested)] == [LISTS["y"][0], LISTS["y"][3]]
    wider = view.map(lambda row: Joint({"n": [[10 ** (2 * len(row["x"]))]]})[0], path, batch_size=size)
    assert [row["n"] for row in rows_of(wider)] == [[1], [10**6], [10**4]]
    day, minute = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 30)
    times = view.map(lambda row: {"d": [day, None][: len(row["x"])], "m": minute}, path, batch_size=size)
    assert rows_of(times) == [{"d": d, "m": minute} for d in ([], [day, None], [day, None])]
    times = view.map(lambda row: {"n": [[day], []], "l": minute - minute}, path, batch_size=size)
    assert rows_of(times) == [{"n": [[day], []], "l": datetime.timedelta(0)}] * 3
    torch = pytest.importorskip("torch")
    tensors = view.map(
        lambda row: {"t": torch.ones(2), "s": torch.tensor(3), "l": [torch.tensor(1.5)] * 2},
        path, batch_size=size)  # fmt: skip
    assert rows_of(tensors) == [{"t": [1.0, 1.0], "s": 3, "l": [1.5, 1.5]}] * 3


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_map_is_a_function_of_each_row(datasets, tmp_path, size):
    for dataset in datasets:
        view = dataset.select([3, 0, 2])
        mapped = view.map(
            lambda row: {"n": len(row["x"]), "x": row["x"].tolist()[::-1]},
            tmp_path / "m.nrt",
            batch_size=size,
        )
        assert rows_of(mapped) == [{"n": len(r["x"]), "x": r["x"][::-1]} for r in plain([3, 0, 2])]
        assert mapped.schema["x"].kind == "i"
        same = view.map(lambda row: row, tmp_path / "same.nrt", batch_size=size, progress=True)
        assert rows_of(same) == plain([3, 0, 2])
        assert same.rows_of([50]).tolist() == [2]
        fewer = view.map(lambda rows: rows[:1], tmp_path / "f.nrt", batched=True, batch_size=2)
        assert rows_of(fewer) == plain([3, 2])


def test_map_of_no_rows_has_their_keys(tmp_path):
    none = _memory().select([])
    assert none.map(lambda row: row, tmp_path / "m.nrt").schema == _memory().schema


def test_map_writes_nothing_after_an_error(tmp_path):
    path = tmp_path / "m.nrt"

    def other_keys(row):
        return {"a": [1]} if row["id"] != 50 else {"b": [1]}

    def fails(row):
        raise RuntimeError("no")

    dataset = _memory()
    for size in (1, 1000):
        with pytest.raises(ValueError, match=r"map: rows? 2"):
            dataset.map(other_keys, path, batch_size=size)
    with pytest.raises(TypeError, match="map: row 0: expected a joint dict or a dict, got int"):
        dataset.map(lambda row: 3, path)
    with pytest.raises(ValueError, match="map: row 0: "):
        dataset.map(lambda row: {"a": [1], "b": [1, 2]}, path)
    with pytest.raises(ValueError, match="map: row 0: there are no keys"):
        dataset.map(lambda row: {}, path)
    with pytest.raises(ValueError, match="map: rows 2 to 3: "):
        dataset.map(
            lambda rows: {"a" if len(rows["x"].lengths) and rows["id"][0] == 70 else "b": [1]},
            path, batched=True, batch_size=2)  # fmt: skip
    with pytest.raises(RuntimeError, match="no") as caught:
        dataset.map(fails, path)
    assert getattr(caught.value, "__notes__", ["map: row 0"]) == ["map: row 0"]
    with pytest.raises(TypeError, match="function: expected a function, got int"):
        dataset.map(3, path)
    assert list(tmp_path.iterdir()) == []


def test_unmapped_batch_reads_only_the_keys_that_are_asked_for(tmp_path, monkeypatch):
    _memory().save(tmp_path / "a.nrt")
    dataset = varlen.open(tmp_path / "a.nrt", mmap=False)
    dataset.lengths  # noqa: B018
    seen = []
    real = type(dataset.source).read_many
    monkeypatch.setattr(
        type(dataset.source), "read_many", lambda *given: seen.append(real(*given)) or seen[-1]
    )
    dataset.batch([0, 2], keys=["x"])
    assert seen[0].names == ["x"]
    assert seen[0].depth == 1


WORDS = {
    "id": [1, 2, 3, 4],
    "word": ["b", "a", "b", "c"],
    "ws": [[], ["x", "y", "z"], ["y"], []],
    "deep": [[], [["p"], [], ["q", "p"]], [["q"]], []],
}


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("from_file", [False, True])
def test_words_that_a_map_gives_back_are_what_went_in(tmp_path, size, from_file):
    dataset = varlen.Dataset(varlen.JointNestedRaggedTensorDict(WORDS))
    if from_file:
        dataset.save(tmp_path / "words", rows_per_shard=2)
        dataset = varlen.open(tmp_path / "words")

    def mapped(function, **options):
        rows = dataset.map(function, tmp_path / "out.nrt", batch_size=size, **options)[:].to_list()
        rows.pop("id")
        return rows

    # An empty row of two levels, alone in a batch, does not say how many it has.
    everything = {key: WORDS[key] for key in ("word", "ws", *["deep"] * (size > len(WORDS["id"])))}
    for is_batched in (False, True):
        got = mapped(lambda row: {key: row[key] for key in ("id", *everything)}, batched=is_batched)
        assert got == everything
        got = mapped(
            lambda row: {"id": row["id"], **{f"{k} 2": row[k] for k in everything}}, batched=is_batched
        )
        assert got == {f"{k} 2": everything[k] for k in everything}
    y = dataset.fields["ws"].vocabulary.index("y")
    some = mapped(lambda row: {"id": row["id"], "backwards": row["ws"][::-1]})
    assert some["backwards"] == [row[::-1] for row in WORDS["ws"]]
    some = mapped(lambda row: {"id": row["id"], "ws": row["ws"][row["ws"] != y]})
    assert some["ws"] == [[word for word in row if word != "y"] for row in WORDS["ws"]]
    numbers = mapped(lambda row: {"id": row["id"], "ws": row["ws"].astype(int)})
    assert [list(map(dataset.fields["ws"].vocabulary.__getitem__, row)) for row in numbers["ws"]] == WORDS[
        "ws"
    ]
    text = mapped(lambda row: {"id": row["id"], "ws": row.to_list()["ws"], "word": row["word"]})
    assert text == {"ws": WORDS["ws"], "word": WORDS["word"]}


def test_ids_that_a_map_computes_are_no_words(tmp_path):
    dataset = varlen.Dataset(varlen.JointNestedRaggedTensorDict(WORDS))
    with pytest.raises(
        ValueError, match="map: rows 0 to 3: 'ws' has the id 4 which is none of the rows; give"
    ):
        dataset.map(lambda row: {"ws": row["ws"] + 1}, tmp_path / "out.nrt")
    only = varlen.Dataset(dataset[:3])
    with pytest.raises(ValueError, match="'word' has the id 3, 'c', which is none of the rows"):
        only.map(lambda row: {"word": row["word"] + 1}, tmp_path / "out.nrt")
    assert not (tmp_path / "out.nrt").exists()
    who = varlen.Dataset(varlen.JointNestedRaggedTensorDict({"who": ["b", "a"], "x": [1, 2]}, row_ids="who"))
    same = who.map(lambda row: {"who": row["who"], "y": row["x"]}, tmp_path / "out.nrt")
    assert same[:].to_list() == {"who": ["b", "a"], "y": [1, 2]}
    assert same.rows_of(["a"]).tolist() == [1]
