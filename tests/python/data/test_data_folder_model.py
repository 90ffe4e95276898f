"""Folders of rows against plain lists, through any sequence of writes, and the datasets that look at them."""

import pickle
import shutil
import tempfile
from pathlib import Path

import varlen as vl
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, precondition, rule
from varlen import io

SCHEMA = {"id": "int64", "x": "int64", "w": str}
counts = st.lists(st.integers(0, 3), max_size=4)
places = st.lists(st.integers(0, 10**6), max_size=3)


class FolderModel(RuleBasedStateMachine):
    """A folder and one beside it with a key more; datasets that were opened, each with the rows it has."""

    datasets = Bundle("datasets")

    @initialize(lengths=counts, size=st.integers(1, 3), how=st.sampled_from(["writer", "build", "save"]))
    def make(self, lengths, size, how):
        self.home = Path(tempfile.mkdtemp())
        self.folder, self.side = self.home / "rows", self.home / "side"
        self.rows, self.versions, self.made, self.size = [], {}, 0, size
        new = self.new_rows([1, *lengths])
        if how == "writer":
            with io.ShardWriter(self.folder, size, schema=SCHEMA, durable=False) as writer:
                writer.append(columns(new))
        elif how == "build":
            io.build([new[:1], new[1:]], columns, self.folder, schema=SCHEMA, durable=False)
        else:
            rows = vl.JointNestedRaggedTensorDict(columns(new), schema=SCHEMA)
            vl.Dataset(rows).save(self.folder, rows_per_shard=size)
        with io.ShardWriter(self.side, size + 1, schema={"y": "int64"}, durable=False) as writer:
            writer.append({"y": [row["y"] for row in new]})
        self.rows = new

    def teardown(self):
        shutil.rmtree(self.home)

    def new_rows(self, lengths):
        first, self.made = self.made, self.made + len(lengths)
        return [
            {"id": i, "x": [i] * n, "w": ["ab"[k % 2] for k in range(n)], "y": [-i] * n}
            for i, n in enumerate(lengths, first)
        ]

    def keep(self, ds, rows, base=True):
        """The pair, once both say the same; `base`: all rows of the files, which a reload may add to."""
        ids = [row["id"] for row in rows]
        assert len(ds) == len(rows)
        assert ds[:].to_list() == columns(rows, list(ds.keys())) if rows else not len(ds[:])
        assert ds.batch(range(len(ds)), keys=["id"])["id"].tolist() == ids
        assert ds.lengths.tolist() == [len(row["x"]) for row in rows]
        ds.account.check()
        assert ds.account.rows.result.values == len(rows)
        return ds, rows, base

    @rule(target=datasets, with_side=st.booleans())
    def open(self, with_side):
        ds = vl.open(self.folder)
        return self.keep(ds.with_file(self.side) if with_side else ds, self.rows)

    @rule(lengths=counts, how=st.sampled_from(["writer", "build"]))
    def append(self, lengths, how):
        new = self.new_rows(lengths)
        if how == "build" and new:
            io.build([new], columns, self.folder, append=True, durable=False)
        else:
            with io.ShardWriter(self.folder, self.size, append=True, durable=False) as writer:
                writer.append(columns(new))
        with io.ShardWriter(self.side, self.size, append=True, durable=False) as writer:
            writer.append({"y": [row["y"] for row in new]})
        self.rows = self.rows + new

    @precondition(lambda self: self.rows)
    @rule(rows=places, by_mask=st.booleans())
    def delete(self, rows, by_mask):
        gone = {row % len(self.rows) for row in rows}
        mask = [row in gone for row in range(len(self.rows))]
        for folder in (self.folder, self.side):
            vl.open(folder).delete(mask if by_mask else sorted(gone))
        self.rows = [row for row, is_gone in zip(self.rows, mask, strict=True) if not is_gone]

    @rule(is_side=st.booleans())
    def compact(self, is_side):
        io.compact(self.side if is_side else self.folder, durable=False)

    @rule(target=datasets, pair=datasets)
    def look_again(self, pair):
        """What is open has the rows that it had, in another process, too."""
        ds, rows, base = pair
        self.keep(ds, rows)
        return self.keep(pickle.loads(pickle.dumps(ds)), rows, base)

    @rule(target=datasets, pair=datasets)
    def reload(self, pair):
        ds, rows, base = pair
        return self.keep(ds.reload(), self.rows) if base else self.keep(ds, rows, base)

    @rule(target=datasets, pair=datasets, rows=places)
    def select(self, pair, rows):
        ds, own, _ = pair
        rows = [row % len(own) for row in rows] if own else []
        return self.keep(ds.select(rows), [own[row] for row in rows], False)

    @rule(target=datasets, pair=datasets)
    def filter(self, pair):
        ds, rows, _ = pair
        return self.keep(ds.filter(min_len=1), [row for row in rows if row["x"]], False)

    @rule(target=datasets, one=datasets, two=datasets)
    def concat(self, one, two):
        if one[0].keys() != two[0].keys():
            one = two
        return self.keep(one[0].concat(two[0]), one[1] + two[1], False)

    @rule(target=datasets, pair=datasets, compress=st.booleans(), in_shards=st.booleans())
    def save(self, pair, compress, in_shards):
        ds, rows, _ = pair
        path = self.home / f"saved-{len(list(self.home.iterdir()))}"
        ds.save(path, compress=compress, rows_per_shard=self.size if in_shards else None)
        return self.keep(vl.open(path), rows, False)

    @rule(with_side=st.booleans())
    def save_manifest(self, with_side):
        ds = vl.open(self.folder)
        ds = ds.with_file(self.side) if with_side else ds
        self.versions[ds.save_manifest(self.home / "set.json")] = self.rows

    @precondition(lambda self: self.versions)
    @rule(target=datasets, data=st.data())
    def open_version(self, data):
        version = data.draw(st.sampled_from(sorted(self.versions)))
        ds = vl.open(self.home / "set.json", version=version)
        return self.keep(ds, self.versions[version], False)


def columns(rows, keys=("id", "x", "w")):
    return {key: [row[key] for row in rows] for key in keys}


FolderModel.TestCase.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)
TestFolderModel = FolderModel.TestCase
