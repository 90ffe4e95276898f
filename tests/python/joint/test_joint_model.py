"""The joint dict against its model, a dict of nested lists, through any sequence of operations."""

import copy
import pickle
import shutil
import tempfile
import warnings
from pathlib import Path

import numpy as np
import varlen
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, rule
from joint_data import pick, raws
from oracles import verbs as oracle
from varlen.joint import JointNestedRaggedTensorDict as Joint
from varlen.testing import strategies

PLAIN = strategies.slices(4).filter(lambda s: s.step in (None, 1))


def depth_of(model):
    """Levels that are left; -1 where every dim was indexed away."""
    return max(-1, *(dim for dim, _ in model.values()))


def rows_in(model):
    return max((len(lists) for dim, lists in model.values() if dim >= 0), default=0)


def at(model, i):
    """The model of row i: one dim fewer, and of keys of dim 0 the value that is left behind."""
    return {name: (dim - 1, lists[i] if dim >= 0 else lists) for name, (dim, lists) in model.items()}


def some(model, index):
    return {name: (dim, pick(lists, index) if dim >= 0 else lists) for name, (dim, lists) in model.items()}


def stacked(models):
    """Each model as a row; values that an index left behind are rows of dim 0 again."""
    return {name: (dim + 1, [model[name][1] for model in models]) for name, (dim, _) in models[0].items()}


def merged(lists, levels):
    """The two deepest of `levels` and the rows above them made one."""
    return oracle.concat(lists) if levels == 1 else [merged(row, levels - 1) for row in lists]


def filled(outer, deep, levels, how):
    """Values one level above `deep`, at its places."""
    if levels == 0:
        return oracle.broadcast_rows(outer, [len(row) for row in deep], how)
    return [filled(*rows, levels - 1, how) for rows in zip(outer, deep, strict=True)]


def flat(model, how):
    deepest = depth_of(model)
    deep = next(lists for dim, lists in model.values() if dim == deepest)
    out = {}
    for name, (dim, lists) in model.items():
        if dim == deepest:
            out[name] = dim - 1, merged(lists, dim)
        else:
            out[name] = dim, filled(lists, deep, dim, how) if dim == deepest - 1 else lists
    return out


class JointModel(RuleBasedStateMachine):
    """Pairs of a joint dict and {name: (dim, nested lists)}; below dim 0 one value that was left behind."""

    pairs = Bundle("pairs")

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.saved = 0

    def teardown(self):
        shutil.rmtree(self.folder)

    def keep(self, J, model):
        """The pair, once both say the same in every way that they can be asked."""
        assert J.to_list() == {name: lists for name, (_, lists) in model.items()}
        assert J.keys() == model.keys()
        assert (len(J), J.max_n_dims) == (rows_in(model), depth_of(model) + 1)
        for name, (dim, lists) in model.items():
            assert J._get_dim(name) == dim
            values = J[name]
            assert values.dtype == np.int64
            if dim >= 0:
                assert (values.to_list() if dim else values.tolist()) == lists
        return J, model

    @rule(target=pairs, raw=raws())
    def construct(self, raw):
        rows, _ = raw
        J = Joint(rows, schema=dict.fromkeys(rows, np.int64))
        # Lists without leaves do not tell how deep they would be.
        return self.keep(J, {name: (J._get_dim(name), lists) for name, lists in rows.items()})

    @rule(target=pairs, pair=pairs, window=PLAIN)
    def cut(self, pair, window):
        J, model = pair
        if depth_of(model) < 0:
            return self.keep(J, model)
        return self.keep(J[window], some(model, window))

    @rule(target=pairs, pair=pairs, data=st.data())
    def gather(self, pair, data):
        J, model = pair
        if depth_of(model) < 0:
            return self.keep(J, model)
        n = rows_in(model)
        index = data.draw(
            strategies.index_for(n).filter(lambda i: not isinstance(i, slice) or i.step in (None, 1))
        )
        return self.keep(J[index], some(model, strategies.as_index(index)))

    @rule(target=pairs, pair=pairs, data=st.data(), window=st.none() | PLAIN)
    def take_row(self, pair, data, window):
        J, model = pair
        if rows_in(model) == 0:
            return self.keep(J, model)
        i = data.draw(st.integers(-rows_in(model), rows_in(model) - 1))
        row = at(model, i)
        if window is None or depth_of(row) < 0:
            return self.keep(J[i], row)
        return self.keep(J[i, window], some(row, window))

    @rule(target=pairs, pair=pairs, data=st.data())
    def stack_rows(self, pair, data):
        J, model = pair
        n = rows_in(model)
        if n == 0 or min(dim for dim, _ in model.values()) < 0:
            return self.keep(J, model)
        rows = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4))
        return self.keep(Joint.vstack([J[i] for i in rows]), stacked([at(model, i) for i in rows]))

    @rule(target=pairs, pair=pairs, windows=st.lists(PLAIN, min_size=1, max_size=3))
    def join_pieces(self, pair, windows):
        J, model = pair
        if min(dim for dim, _ in model.values()) < 0:
            return self.keep(J, model)
        pieces = [some(model, window) for window in windows]
        want = {name: (dim, oracle.concat([p[name][1] for p in pieces])) for name, (dim, _) in model.items()}
        return self.keep(Joint.concatenate([J[window] for window in windows]), want)

    @rule(target=pairs, pair=pairs, how=st.sampled_from(["first", "repeat"]))
    def flatten(self, pair, how):
        J, model = pair
        if depth_of(model) < 1:
            return self.keep(J, model)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "flatten.*all inner ragged rows are empty")
            return self.keep(J.flatten(fill_mode=how), flat(model, how))

    @rule(target=pairs, pair=pairs)
    def one_dim_more_and_one_fewer(self, pair):
        J, model = pair
        if min(dim for dim, _ in model.values()) < 0:
            return self.keep(J, model)
        taller, _ = self.keep(J.unsqueeze(0), stacked([model]))
        self.keep(taller.squeeze(0), model)
        if rows_in(model) == 1:
            self.keep(J.squeeze(0), at(model, 0))
        return taller, stacked([model])

    @rule(target=pairs, pair=pairs, data=st.data())
    def choose_and_rename_keys(self, pair, data):
        J, model = pair
        names = data.draw(st.lists(st.sampled_from(sorted(model)), min_size=1, unique=True))
        chosen = {name: model[name] for name in names}
        self.keep(J.select(names), chosen)
        if len(names) < len(model):
            self.keep(J.drop(names), {name: pair for name, pair in model.items() if name not in names})
        new = {name: f"{name}+" for name in names if f"{name}+" not in model}
        renamed = {new.get(name, name): pair for name, pair in model.items()}
        self.keep(J.rename(new), renamed)
        return self.keep(J.select(names), chosen)

    @rule(target=pairs, pair=pairs, data=st.data())
    def add_a_key(self, pair, data):
        J, model = pair
        name = data.draw(st.sampled_from(sorted(model)))
        dim, lists = model[name]
        if dim < 0 or rows_in(model) == 0:
            return self.keep(J, model)
        count = len(oracle.flatten(lists, dim)[0])
        flat = np.arange(count)
        values = oracle.nest(flat.tolist(), oracle.flatten(lists, dim)[1])
        nested = J.with_key("new", values, dtype=np.int64) if count else J.with_key("new", flat, dim)
        other, want = self.keep(J.with_key("new", flat, dim), {**model, "new": (dim, values)})
        assert other == nested
        return other, want

    @rule(target=pairs, pair=pairs, how=st.sampled_from(["fp", "load", "open", "read", "subset"]))
    def save_and_reopen(self, pair, how):
        J, model = pair
        if min(dim for dim, _ in model.values()) < 0:
            return self.keep(J, model)
        self.saved += 1
        path = self.folder / f"{self.saved}.nrt"
        J[:].save(path)
        self.keep(Joint.load_slice(path, slice(-1, None)), some(model, slice(-1, None)))
        if how == "subset":
            name = sorted(model)[-1]
            return self.keep(Joint(tensors_fp=path, keys=[name]), {name: model[name]})
        if how in ("open", "read"):
            ds = varlen.open(path, mmap=how == "open")
            for i in range(len(ds)):
                self.keep(ds[i], at(model, i))
            return self.keep(ds[:], model)
        return self.keep(Joint(tensors_fp=path) if how == "fp" else Joint.load(path), model)

    @rule(target=pairs, pair=consumes(pairs), protocol=st.integers(2, 5))
    def pickle(self, pair, protocol):
        J, model = pair
        buffers = []
        way = {"buffer_callback": buffers.append} if protocol == 5 else {}
        stream = pickle.dumps(J, protocol, **way)
        return self.keep(pickle.loads(stream, buffers=buffers or None), model)

    @rule(target=pairs, pair=pairs, way=st.sampled_from([copy.copy, copy.deepcopy]))
    def copy_and_edit(self, pair, way):
        J, model = pair
        other = way(J[:]) if depth_of(model) >= 0 else way(J)
        for full, array in other.tensors.items():
            if not full.endswith("/bounds"):
                other.tensors[full] = array + 1
        self.keep(J, model)

        def one_more(lists):
            return [one_more(item) for item in lists] if isinstance(lists, list) else lists + 1

        return self.keep(other, {name: (dim, one_more(lists)) for name, (dim, lists) in model.items()})

    @rule(pair=pairs, other=pairs)
    def compare(self, pair, other):
        if min(dim for _, model in (pair, other) for dim, _ in model.values()) >= 0:
            assert (pair[0] == other[0]) == (pair[1] == other[1])


JointModel.TestCase.settings = settings(max_examples=30, stateful_step_count=15, deadline=None)
TestJointModel = JointModel.TestCase


def test_strided_arrays_of_tensors_are_read_as_they_are_now():
    flat, ends = np.arange(12), np.array([0, 2, 0, 3, 0, 6])
    J = Joint(processed_tensors={"dim1/bounds": ends[1::2], "dim1/x": flat[::2]})
    assert J.to_list() == {"x": [[0, 2], [4], [6, 8, 10]]}
    flat[:] = -1
    ends[3] = 4
    assert J.to_list() == {"x": [[-1, -1], [-1, -1], [-1, -1]]}
