"""Subclasses of the dialects: their own words, and results of the class that was given."""

import copy
import pickle

import numpy as np
import pytest
import varlen as vl
from varlen import ops, sequence, transforms
from varlen.lod import LoDTensor
from varlen.tf import RaggedTensor
from varlen.thinc import Padded, Pairs
from varlen.thinc import Ragged as ThincRagged
from varlen.types.faces import VerbMethods
from varlen.types.neighbour_methods import NeighbourMethods
from varlen.types.tensor_methods import TensorMethods

KINDS = [LoDTensor, RaggedTensor, ThincRagged]
LEVELS = [[2, 1], [2, 0, 3]]
VALUES = np.array([3.0, 1.0, 4.0, 1.0, 5.0])

each = pytest.mark.parametrize("kind", KINDS)


def deep(kind, values=VALUES):
    return kind(values, LEVELS)


# What gives a container for a container of two levels, by what it is called.
METHODS = {
    "index": lambda r: [r[:2], r[[1, 0]], r[:, :1], r[np.array([True, False])], r.copy(), r.astype("f4")],
    "arithmetic": lambda r: [r + 1, -r, np.exp(r), r > 1, r * r],
    "reduce": lambda r: [r.sum(), r.mean(), r.max(empty=0), r.first(empty=0), r.count(), r.argmax(empty=-1)],
    "scan": lambda r: [r.cumsum(), r.cummax(), r.softmax(), r.log_softmax(level=0)],
    "move": lambda r: [r.reverse(), r.shift(1), r.roll(1, level=0), r.tile((1, 1, 2)), r.sort(), r.argsort()],
    "choose": lambda r: [r.gather([0]), r.boolean_mask(r > 1), r.fill_empty_rows(0.0)[0], *r.split(1)],
    "count": lambda r: [r.diff(), r.rank(), r.unique(), r.topk(1)[0], r.searchsorted(r)],
    "levels": lambda r: [r.add_level([2]), r.drop_level(), r.drop_level(-1)],
}


@each
@pytest.mark.parametrize("name", METHODS)
def test_methods_give_back_the_class(kind, name):
    for k, result in enumerate(METHODS[name](deep(kind))):
        if isinstance(result, (vl.Ragged, tuple)):
            assert type(result) is kind, (name, k)
        assert result is not None


OPS = {
    "expand": lambda r: [
        vl.concatenate([r, r]),
        vl.concatenate([r, r], axis=1),
        vl.stack([r, r]),
        vl.where(r > 1, r, 0.0),
    ],
    "windows": lambda r: [
        ops.windows(r, size=2, step=1),
        ops.seq2col(r, 1),
        ops.insert_rows(r, [0], row_ids=[0]),
        ops.spans(r, [[0, 1]], row_ids=[0]),
    ],
    "sort": lambda r: [ops.sort(r), ops.unique(r)],
    "sequence": lambda r: [
        sequence.sequence_expand(r, vl.Level([1, 0, 2]), level=1),
        sequence.sequence_expand(r, vl.Level([2, 1]), level=0),
        sequence.sequence_expand_as(np.ones(3), r),
        sequence.sequence_concat([r, r]),
        sequence.sequence_slice(r, [0, 0, 1], [1, 0, 1]),
        sequence.sequence_reverse(r),
        sequence.sequence_erase(r, [1.0]),
        sequence.sequence_enumerate(r, 2),
        sequence.sequence_pool(r, "sum"),
        sequence.sequence_first_step(r),
        sequence.sequence_softmax(r),
        sequence.lod_append(r, [1] * 5),
        sequence.lod_reset(r, target_lod=[5]),
        *sequence.split_lod_tensor(r, [True, False], 0),
        sequence.reorder(r, vl.RankTable([2, 1])),
    ],
    "transforms": lambda r: [
        transforms.with_array(np.negative).predict(r),
        transforms.with_padded(lambda p: p).predict(r),
        transforms.with_ragged(lambda x: x).predict(r),
        transforms.with_list(lambda x: x).predict(r),
        transforms.reduce_sum().predict(r),
        transforms.residual(transforms.with_array(np.negative)).predict(r),
    ],
}


@each
@pytest.mark.parametrize("name", OPS)
def test_ops_and_transforms_give_back_the_class(kind, name):
    for k, result in enumerate(OPS[name](deep(kind))):
        found = result[0] if isinstance(result, tuple) else result
        assert not isinstance(found, vl.Ragged) or type(found) is kind, (name, k)


@each
def test_what_was_packed_becomes_the_class_that_it_was(kind):
    flat, r = kind(VALUES, [2, 3]), deep(kind)
    packed = [flat.pack(), ops.pack(flat), ops.pack(r), r.pack(level=0), vl.Packed.from_ragged(r)]
    for p in packed:
        for again in (p, p.copy(), copy.copy(p), copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
            found = again.with_values(again.values + 1).to_ragged()
            assert type(found) is kind
            assert found.equals(p.to_ragged() + 1)
    assert type(r.pack(level=0)[0]) is type(r.pack(level=0).steps()[0]) is kind
    padded = [flat.to_padded(), flat.pack().to_padded(), ops.ragged2padded(flat), vl.Padded.from_ragged(flat)]
    for p in padded:
        for again in (p, p[:], p.copy(), copy.copy(p), copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
            assert type(again.to_ragged()) is type(ops.padded2ragged(again)) is kind
            assert again.to_ragged().equals(flat)
        assert type(vl.Packed.from_padded(p).to_ragged()) is kind
    plain = vl.Padded.from_list([[1.0], [2.0, 3.0]])
    assert type(plain.to_ragged()) is type(vl.Packed.from_padded(plain).to_ragged()) is vl.Ragged


@each
def test_recurrent_layers_give_back_the_class(kind):
    for r, init in ((kind(VALUES, [2, 3]), np.zeros(2)), (deep(kind), np.zeros(3))):
        for inputs in (r, r.pack()):
            outputs, last = sequence.rnn(lambda x, h: (h + x, h + x), inputs, init)
            assert type(outputs) is kind
            assert type(last) is (kind if len(r.levels) > 1 else np.ndarray)


def test_a_padded_of_a_dialect_stays_in_it():
    r = ThincRagged(VALUES, [2, 3])
    for p in (r.to_padded(), ops.ragged2padded(r), r.pack().to_padded(), Own(VALUES, [2, 3]).to_padded()):
        assert type(p) is type(p[:1]) is Padded
        assert p.lengths.dtype == p.to_ragged().lengths.dtype == np.int32
        assert isinstance(p.to_ragged(), ThincRagged)
    assert type(Own(VALUES, [2, 3]).pack().to_padded().to_ragged()) is Own
    assert type(LoDTensor(VALUES, [2, 3]).to_padded()) is vl.Padded
    p = Padded.from_ragged(RaggedTensor(VALUES, [2, 3]))
    assert type(p.to_ragged()) is ThincRagged
    assert type(Padded.from_ragged(Own(VALUES, [2, 3])).to_ragged()) is Own


class Own(ThincRagged):
    """A user's subclass, with a `__dict__` and slots of its own."""

    __slots__ = ("__dict__", "__secret", "unit")

    def keep(self, secret):
        self.__secret = secret
        return self

    @property
    def secret(self):
        return self.__secret


class OwnPadded(vl.Padded):
    """With a `__dict__`."""


class OwnPacked(vl.Packed):
    """With a `__dict__`."""


class OwnPairs(vl.Pairs):
    """With a `__dict__`."""


class OwnTable(vl.RankTable):
    """With a `__dict__`."""


class OwnDataset(vl.Dataset):
    """With a `__dict__`, and made of other arguments."""

    def __init__(self, names, numbers):
        super().__init__(vl.JointNestedRaggedTensorDict({"x": numbers}))
        self.names = names


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_and_pickles_of_pairs_tables_and_datasets_keep_the_attributes_of_a_users_subclass(make):
    pairs, table, dataset = (
        OwnPairs([1, 2], [3, 4]),
        OwnTable([1, 2], [1, 0]),
        OwnDataset(["a"], [[1], [2, 3]]),
    )
    for x in (pairs, table, dataset):
        x.names = ["a"]
        again = make(x)
        assert type(again) is type(x)
        assert again.names == ["a"]
        assert again is not x
        assert (again.names is x.names) == (make is copy.copy)
    assert make(pairs) == pairs
    assert make(table) == table
    assert make(dataset)[1].to_list() == {"x": [2, 3]}
    with make(dataset) as opened:
        assert len(opened) == 2
    assert len(opened) == 0
    item = pairs[1]  # its halves have no length
    item.names = ["b"]
    assert (make(item).one, make(item).two, make(item).names) == (2, 4, ["b"])


@pytest.mark.parametrize(
    "make", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), Own.copy]
)
def test_copies_and_pickles_keep_the_attributes_of_a_users_subclass(make):
    r = Own(VALUES, [2, 3]).keep("x")
    r.names, r.unit, r.itself = ["a"], "mm", r
    again = make(r)
    assert type(again) is Own
    assert again.equals(r)
    assert (again.names, again.unit, again.secret) == (["a"], "mm", "x")
    assert not np.shares_memory(again.values, r.values)
    deep_copied = make not in (copy.copy, Own.copy)
    assert (again.names is r.names) == (not deep_copied)
    assert again.itself is (again if deep_copied else r)
    assert make(Own(VALUES, [2, 3])).__dict__ == {}
    if make is not Own.copy:
        for other in (OwnPadded.from_list([[1], [2, 3]]), OwnPacked([1, 2, 3], [2, 1])):
            other.names = ["a"]
            assert make(other).names == ["a"]
            assert type(make(other)) is type(other)
            assert make(other).equals(other)


@each
def test_dialects_are_containers_like_any_other(kind):
    r = deep(kind)
    assert r.equals(vl.Ragged(VALUES, LEVELS))
    again = pickle.loads(pickle.dumps(r))
    assert type(again) is kind
    assert again.equals(r)
    assert repr(r).startswith(f"{kind.__name__}(")
    assert type(kind.from_list([[1], [2, 3]])) is kind


def test_a_dialects_words_are_its_own():
    public = [name for name in dir(vl.Ragged) if not name.startswith("_") and hasattr(vl.Ragged, name)]
    of_devices = {"cpu", "cuda", "device", "pin_memory", "to"}
    assert of_devices < set(public)
    others = {name for kind in (VerbMethods, TensorMethods, NeighbourMethods) for name in vars(kind)}
    assert len(set(public) - of_devices - others) < 60
    for name in ("lod", "from_lod", "row_splits", "to_tensor", "flat_values", "starts_ends", "to_thinc"):
        assert not hasattr(vl.Ragged, name), name


def test_levels_are_set_in_place_whole_or_not_at_all():
    t = LoDTensor(np.arange(5), [2, 3])
    part = t[:1]
    t.set_recursive_sequence_lengths([[1, 2], [2, 0, 3]])
    assert t.recursive_sequence_lengths() == [[1, 2], [2, 0, 3]]
    t.set_lod([[0, 4, 5]])
    assert t.to_list() == [[0, 1, 2, 3], [4]]
    assert part.to_list() == [[0, 1]]
    for call in (lambda: t.set_lod([[0, 4]]), lambda: t.set_recursive_sequence_lengths([[2, 3], [1, 4]])):
        with pytest.raises(ValueError, match=r"lod|recursive_sequence_lengths"):
            call()
    assert t.lod() == [[0, 4, 5]]


def test_functions_of_tensorflow():
    assert vl.tf.constant([[1, 2], []], "f4").dtype == np.float32
    with pytest.raises(ValueError, match="ragged_rank: lists below level 0 have lengths 1 to 2"):
        vl.tf.constant([[[1], [2, 3]]], ragged_rank=1)
    with pytest.raises(ValueError, match="ragged_rank: expected at most the 1 levels of the lists, got 3"):
        vl.tf.constant([[1]], ragged_rank=3)
    assert vl.tf.range([2, 4], [8, 4], 3).to_list() == [[2, 5], []]
    assert vl.tf.range(0, 10, [3, -1]).to_list() == [[0, 3, 6, 9], []]
    with pytest.raises(ValueError, match="deltas: sequence 1 has a delta of 0"):
        vl.tf.range([1, 1], deltas=[1, 0])
    ids = vl.tf.row_splits_to_segment_ids([0, 2, 2, 5])
    assert vl.tf.segment_ids_to_row_splits(ids).tolist() == [0, 2, 2, 5]
    r = vl.tf.constant([[1.0], [2.0, 3.0]])
    assert vl.tf.map_flat_values(np.add, r, r).to_list() == [[2.0], [4.0, 6.0]]
    with pytest.raises(ValueError, match="args: "):
        vl.tf.map_flat_values(np.add, r, vl.tf.constant([[1.0, 2.0], [3.0]]))
    with pytest.raises(ValueError, match="op: gave 1 rows for 3"):
        vl.tf.map_flat_values(lambda x: x[:1], r)


OF_ARRAYS = {
    "array_to_lod_tensor": lambda f, x: f([x[:2], x[2:3]], vl.lod.lod_rank_table(LoDTensor(x[:3], [2, 1]))),
    "im2sequence": lambda f, x: f(x.reshape(1, 1, 2, 2)),
    "lod_append": lambda f, x: f(x, [1, 3]),
    "lod_reset": lambda f, x: f(x, target_lod=[0, 1, 4]),
    "sequence_expand": lambda f, x: f(x[:2], LoDTensor(x, [1, 3])),
    "sequence_expand_as": lambda f, x: f(x[:2], LoDTensor(x, [1, 3])),
    "sequence_unpad": lambda f, x: f(x.reshape(2, 2), [2, 1]),
}


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_lod_ops_make_lod_tensors_of_arrays(name):
    op = getattr(vl.lod, name)
    result = OF_ARRAYS[name](op, np.arange(4.0)[:, None])
    assert isinstance(result, (LoDTensor, np.ndarray))
    if name != "sequence_expand":  # gives the rows alone
        assert result.has_valid_recursive_sequence_lengths()
    plain = OF_ARRAYS[name](getattr(vl.sequence, name), np.arange(4.0)[:, None])
    assert np.array_equal(getattr(result, "values", result), getattr(plain, "values", plain))
    assert pickle.loads(pickle.dumps(op)) is op


def test_lod_ops_keep_the_class_of_a_ragged():
    r = vl.Ragged([3, 1, 4], [2, 1])
    assert type(vl.lod.sequence_reverse(r)) is vl.Ragged
    assert type(vl.lod.sequence_concat([r, r])) is vl.Ragged
    assert type(vl.lod.sequence_expand_as(np.arange(2), r)) is vl.Ragged
    assert type(vl.lod.sequence_reverse(LoDTensor([3, 1, 4], [2, 1]))) is LoDTensor


def test_thincs_containers_make_each_other():
    p = Padded.from_list([np.ones((1, 2)), np.ones((3, 2))])
    assert type(p[:1]) is Padded
    assert type(p.to_ragged()) is ThincRagged
    both = Pairs([1, 2], [3, 4])
    assert type(both[:1]) is type(both[0]) is Pairs
    assert vl.thinc.from_thinc(both) is both
    assert vl.thinc.from_thinc(3) == vl.thinc.to_thinc(3) == 3


def test_packages_are_found_when_asked_for():
    for name in ("thinc", "lod", "tf", "interop", "testing", "joint", "io", "data", "cli", "display"):
        assert getattr(vl, name).__name__ == f"varlen.{name}"
    names = {}
    exec("from varlen import *", names)
    assert "open" not in names
    assert names["Ragged"] is vl.Ragged
    assert callable(vl.open)
    assert {"open", "thinc", "lod", "tf"} <= set(dir(vl))
