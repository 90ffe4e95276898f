"""Datasets of other vocabularies one after another: words of plain lists, whatever is done with the rows."""

import itertools
import json
import pickle

import numpy as np
import pytest
import varlen as vl
from varlen.data.sources.translation import TranslatedSource

#: Records of three data sets: an id, words, and words in lists.
PARTS = {
    "a": [("a0", ["u", "v"], [["i"], []]), ("a1", [], []), ("a2", ["v"], [["i", "j"]])],
    "b": [(f"b{i}", ["w", "v", "u"][: i % 4], [["k", "i"]] * (i % 4)) for i in range(9)],
    "c": [(f"c{i}", [f"m{3 * i + j}" for j in range(i % 3)], [["j"]] * (i % 3)) for i in range(300)],
}
KEYS = ("id", "w", "deep")
PLAIN = [record for records in PARTS.values() for record in records]


def columns_of(records):
    return {key: [record[i] for record in records] for i, key in enumerate(KEYS)}


def write(folder, records, **how):
    with vl.io.ShardWriter(folder, 100, row_ids="id", durable=False, **how) as writer:
        writer.append(columns_of(records))


@pytest.fixture(params=["memory", "files", "unmapped", "manifests"])
def sets(request, tmp_path):
    if request.param == "memory":
        rows = {
            name: vl.JointNestedRaggedTensorDict(columns_of(records), row_ids="id")
            for name, records in PARTS.items()
        }
        return {name: vl.data.Dataset(own) for name, own in rows.items()}
    for name, records in PARTS.items():
        write(tmp_path / name, records)
        if request.param == "manifests":
            vl.open(tmp_path / name).save_manifest(tmp_path / f"{name}.json")
    suffix = ".json" if request.param == "manifests" else ""
    return {name: vl.open(tmp_path / f"{name}{suffix}", mmap=request.param != "unmapped") for name in PARTS}


def concat(sets, **how):
    one, *others = sets.values()
    return one.concat(*others, **how)


def records_of(batch, dataset):
    """The records of ragged rows, in words."""
    flat = {key: [dataset.fields[key].vocabulary[i] for i in np.asarray(batch[key]).tolist()] for key in KEYS}
    outer, inner = (np.asarray(batch[f"dim{dim}/offsets"]).tolist() for dim in (1, 2))
    lists = [flat["deep"][a:b] for a, b in itertools.pairwise(inner)]
    spans = list(itertools.pairwise(outer))
    return [(flat["id"][i], flat["w"][a:b], lists[a:b]) for i, (a, b) in enumerate(spans)]


def rows_of(dataset, rows=None):
    numbers = range(len(dataset)) if rows is None else rows
    return records_of(dataset.batch([*numbers], layout="ragged"), dataset)


def test_words_are_those_of_plain_lists(sets, tmp_path):
    ds = concat(sets)
    assert ds.fields["w"].vocabulary[:4] == ("[PAD]", "u", "v", "w")
    assert ds.fields["id"].vocabulary == tuple(record[0] for record in PLAIN)
    order = np.random.default_rng(0).permutation(len(PLAIN)).tolist()
    assert rows_of(ds, order) == [PLAIN[i] for i in order]
    assert ds.rows_of(["c7", "b2", "a0"]).tolist() == [len(PLAIN) - 293, 5, 0]
    view = ds.select(order[:40])
    assert rows_of(view) == [PLAIN[i] for i in order[:40]]
    left = ds.filter(lambda columns: columns["id"] != "b3")
    assert rows_of(left) == [record for record in PLAIN if record[0] != "b3"]
    assert rows_of(pickle.loads(pickle.dumps(view.concat(sets["b"])))) == rows_of(view) + PARTS["b"]
    assert rows_of(
        left.map(
            lambda row: {key: row[key][::-1] if key == "w" else row[key] for key in KEYS}, tmp_path / "m.nrt"
        )
    ) == [(name, own[::-1], deep) for name, own, deep in PLAIN if name != "b3"]
    ds.save(tmp_path / "s", rows_per_shard=50)
    again = vl.open(tmp_path / "s")
    assert rows_of(again) == PLAIN
    assert {key: again.fields[key].vocabulary for key in KEYS} == {
        key: ds.fields[key].vocabulary for key in KEYS
    }
    again.save_manifest(tmp_path / "set.json")
    assert rows_of(vl.open(tmp_path / "set.json").concat(sets["a"])) == PLAIN + PARTS["a"]
    assert ds.batch([0, 4, 1])["w"].tolist() == [[1, 2], [3, 0], [0, 0]]  # 0 is the id of the padding


def test_the_words_of_a_model_come_first(sets):
    own = {"w": ["v", "[PAD]", "new"], "deep": ["k"]}
    ds = concat(sets, vocabularies=own)
    assert rows_of(ds) == PLAIN
    for key, first in own.items():
        assert ds.fields[key].vocabulary[: len(first)] == tuple(first)
    one = sets["a"].concat(vocabularies=own)
    assert rows_of(one) == PARTS["a"]
    assert one.batch([0])["w"].tolist() == [[3, 0]]
    with pytest.raises(ValueError, match="vocabularies: 'y' is no key with words in all sources"):
        concat(sets, vocabularies={"y": ["a"]})


def test_an_epoch_goes_on_among_other_ranks(sets):
    ds = concat(sets)

    def loaders(ranks):
        how = {"shuffle": True, "seed": 3, "uneven": "empty", "num_replicas": ranks}
        samplers = [vl.data.BatchSampler(ds, 7, rank=rank, **how) for rank in range(ranks)]
        return [vl.data.Loader(ds, batches=sampler, layout="ragged") for sampler in samplers]

    begun = loaders(2)
    had = [record for loader in begun for batch in itertools.islice(loader, 5)
           for record in records_of(batch, ds)]  # fmt: skip
    state = json.loads(json.dumps(begun[0].state_dict()))
    for ranks in (1, 3):
        rest = loaders(ranks)
        for loader in rest:
            loader.load_state_dict(state)
        seen = had + [record for loader in rest for batch in loader
                      for record in records_of(batch, ds)]  # fmt: skip
        assert sorted(seen) == sorted(PLAIN)


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
def test_workers_give_the_same_words(sets):
    data = pytest.importorskip("torch.utils.data")
    ds = concat(sets)
    batches = vl.data.BatchSampler(ds, 50, num_replicas=1, rank=0)
    loader = data.DataLoader(
        ds, batch_sampler=batches, num_workers=2, collate_fn=ds.collator(layout="ragged")
    )
    assert [record for batch in loader for record in records_of(batch, ds)] == PLAIN


def test_deleted_and_new_rows(tmp_path):
    for name, records in PARTS.items():
        write(tmp_path / name, records)
    sets = {name: vl.open(tmp_path / name) for name in "ab"}
    sets["b"] = sets["b"].delete(ids=["b1", "b8"])
    ds = concat(sets)
    expected = [record for record in PARTS["a"] + PARTS["b"] if record[0] not in ("b1", "b8")]
    assert rows_of(ds) == expected
    assert ds.rows_of(["b7"]).tolist() == [9]
    before = ds.fields["w"].vocabulary
    new = [("new", ["other", "u"], [["j", "k"], []])]
    write(tmp_path / "b", new, append=True)
    again = ds.reload()
    assert rows_of(again) == expected + new
    assert again.fields["w"].vocabulary == (*before, "other")
    assert rows_of(ds) == expected


def test_a_manifest_of_translated_ids_names_the_way(sets, tmp_path):
    with pytest.raises(ValueError, match=r"save_manifest: .*(several vocabularies|in memory); save"):
        concat(sets).save_manifest(tmp_path / "all.json")


def test_empty_parts_have_no_words():
    rows = vl.JointNestedRaggedTensorDict(columns_of(PARTS["a"]))
    none = vl.data.Dataset(rows[:0])
    assert rows_of(none.concat(vl.data.Dataset(rows))) == PARTS["a"]
    assert len(none.concat(none)) == 0


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i4", "i8", "u8"])
@pytest.mark.parametrize("shape", [(0,), (40,), (20, 2)])
def test_translated_ids_are_those_of_plain_lists(dtype, shape):
    table = np.array([2, 0, 1, 400], np.uint16)
    source = TranslatedSource(vl.data.Dataset(vl.JointNestedRaggedTensorDict({})).source, {}, {"w": table})
    ids = np.random.default_rng(0).integers(0, 4, shape).astype(dtype)
    new = source._new_ids("w", ids, "")
    assert (new.dtype, new.shape) == (table.dtype, shape)
    assert new.ravel().tolist() == [table.tolist()[i] for i in ids.ravel().tolist()]
    for wrong in (4, np.iinfo(dtype).max, *[-1] * (np.dtype(dtype).kind == "i")):
        odd = np.append(ids.ravel(), np.array([wrong]).astype(dtype))
        with pytest.raises(ValueError, match=f"'w' has the id {wrong}, but there are 4 words"):
            source._new_ids("w", odd, "")
