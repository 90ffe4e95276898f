"""Ragged against its model, a list of lists, through any sequence of operations."""

import pickle
import shutil
import tempfile
from pathlib import Path

import numpy as np
import varlen as vl
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, multiple, rule
from oracles import verbs as oracle
from varlen.testing import strategies


class RaggedModel(RuleBasedStateMachine):
    """Pairs of a Ragged of one level and the lists that it stands for."""

    pairs = Bundle("pairs")

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.saved = 0

    def teardown(self):
        shutil.rmtree(self.folder)

    def keep(self, r, lists):
        """The pair, once both say the same in every way that they can be asked."""
        assert r.to_list() == lists
        assert len(r) == len(lists)
        assert r.lengths.tolist() == [len(row) for row in lists]
        assert r.offsets.tolist() == oracle.offsets([len(row) for row in lists])
        assert [row.tolist() for row in r] == lists
        assert (r.longest, r.total) == (max(map(len, lists), default=0), sum(map(len, lists)))
        assert r.values.flags.c_contiguous
        assert r.dtype == np.int32
        return r, lists

    @rule(target=pairs, lists=strategies.nested_lists(leaves=st.integers(-(2**31), 2**31 - 1)))
    def construct(self, lists):
        flat = np.array([x for row in lists for x in row], np.int32)
        return self.keep(vl.Ragged(flat, np.array([len(row) for row in lists], int)), lists)

    @rule(target=pairs, pair=pairs, data=st.data())
    def index(self, pair, data):
        r, lists = pair
        index = data.draw(strategies.index_for(len(r)))
        return self.keep(r[index], oracle.gather(lists, strategies.as_index(index)))

    @rule(target=pairs, pair=pairs, window=strategies.slices(5))
    def window(self, pair, window):
        r, lists = pair
        return self.keep(r[:, window], oracle.window(lists, window))

    @rule(target=pairs, pair=pairs, data=st.data())
    def index_and_window(self, pair, data):
        r, lists = pair
        index, window = data.draw(strategies.index_for(len(r))), data.draw(strategies.slices(5))
        want = oracle.window(oracle.gather(lists, strategies.as_index(index)), window)
        return self.keep(r[index, window], want)

    @rule(target=pairs, a=pairs, b=pairs)
    def concatenate(self, a, b):
        return self.keep(vl.concatenate([a[0], b[0]]), oracle.concat([a[1], b[1]]))

    @rule(target=pairs, a=pairs, b=pairs)
    def concatenate_inside(self, a, b):
        n = min(len(a[0]), len(b[0]))
        want = oracle.concat([a[1][:n], b[1][:n]], axis=1)
        return self.keep(vl.concatenate([a[0][:n], b[0][:n]], axis=1), want)

    @rule(target=pairs, pair=pairs, size=st.integers(1, 3))
    def split(self, pair, size):
        r, lists = pair
        pieces = [(piece, lists[i * size : (i + 1) * size]) for i, piece in enumerate(r.split(size))]
        return multiple(*(self.keep(*piece) for piece in pieces))

    @rule(target=pairs, pair=consumes(pairs), protocol=st.integers(2, 5))
    def pickle(self, pair, protocol):
        r, lists = pair
        buffers = []
        way = {"buffer_callback": buffers.append} if protocol == 5 else {}
        stream = pickle.dumps(r, protocol, **way)
        return self.keep(pickle.loads(stream, buffers=buffers or None), lists)

    @rule(target=pairs, pair=pairs, mmap=st.booleans())
    def save_and_reopen(self, pair, mmap):
        r, lists = pair
        self.saved += 1
        path = self.folder / f"{self.saved}.nrt"
        arrays = {"dim1/bounds": r.levels[0].bounds, "dim1/x": r.values}
        vl.JointNestedRaggedTensorDict(processed_tensors=arrays).save(path)
        return self.keep(vl.open(path, mmap=mmap)[:]["x"], lists)

    @rule(target=pairs, pair=pairs, side=st.sampled_from(["left", "right"]), multiple_of=st.integers(1, 3))
    def pad_and_unpad(self, pair, side, multiple_of):
        r, lists = pair
        block, mask = r.to_dense(padding_side=side, fill=-7, mask=True, pad_to_multiple_of=multiple_of)
        assert (block[~mask] == -7).all()
        assert mask.sum(1).tolist() == r.lengths.tolist()
        back = vl.Ragged.from_dense(block, r.lengths, padding_side=side)
        assert vl.Ragged.from_dense(block, mask=mask, padding_side=side).equals(back)
        return self.keep(back, lists)

    @rule(pair=pairs, other=pairs)
    def compare(self, pair, other):
        assert pair[0].equals(other[0]) == (pair[1] == other[1])

    @rule(target=pairs, pair=pairs)
    def write_a_copy(self, pair):
        r, lists = pair
        other = r.copy()
        other.values[...] = 0
        self.keep(r, lists)
        return self.keep(other, [[0] * len(row) for row in lists])


RaggedModel.TestCase.settings = settings(max_examples=30, stateful_step_count=15, deadline=None)
TestRaggedModel = RaggedModel.TestCase
