"""Laws of the joint dict: what a nested list would answer, it answers too, wherever it is held."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_data import HELD, RAW, hold, lists, pick, raws, same
from oracles import verbs as oracle
from varlen.joint import JointNestedRaggedTensorDict as Joint


@pytest.fixture(params=HELD)
def make(request, tmp_path):
    return lambda raw, **options: hold(Joint(raw, **options), request.param, tmp_path)


SLICES = [slice(1, 10), slice(None, -1), slice(-2, None), slice(-9, 2), slice(2, 1), slice(7, None)]


@pytest.mark.parametrize("index", SLICES, ids=str)
def test_slices_clip_and_count_from_the_end_as_lists_do(make, index):
    J = make(RAW)
    part = J[index].to_list()
    assert part["T"] == RAW["T"][index]
    assert part["id"] == RAW["id"][index]
    inner = J[0, index].to_list()
    assert inner["T"] == RAW["T"][0][index]
    assert inner["id"] == RAW["id"][0][index]


def test_last_row_may_be_empty(make):
    J = make({"T": [[1, 2], []], "Z": [[0, 0], []]})
    assert J[1].to_list() == {"T": [], "Z": []}
    assert J[1].schema == {"T": np.uint8, "Z": np.uint8}
    empty = make({"Z": [[], []]}, schema={"Z": np.int16})
    assert empty.schema == {"Z": np.int16}
    assert empty[0].to_list() == {"Z": []}


def test_gather_takes_keys_of_dim_0_along(make):
    J = make({"S": [8, 9, 10], "T": [[1], [2, 3], []]})
    assert J[np.array([2, 0])].to_list() == {"S": [10, 8], "T": [[], [1]]}
    assert make({"S": [8, 9, 10]})[[1, 1]].to_list() == {"S": [9, 9]}


def test_schema_has_bare_keys_after_every_index(make):
    J = make(RAW)
    for part in (J[1:], J[0], J[0, 1:], J[[0]], J[0, 0]):
        assert part.schema == {"T": np.uint8, "id": np.uint8, "val": np.float32}
    assert Joint.concatenate([J[1:], Joint(RAW)]).to_list()["T"] == [*RAW["T"][1:], *RAW["T"]]


def test_flatten_leaves_out_what_has_no_place(make):
    J = make({"ts": [1, 2, 3], "id": [[1, 2], [], [3]]})
    assert J.flatten().to_list() == {"ts": [1, 0, 3], "id": [1, 2, 3]}
    last = make({"ts": [1, 2], "id": [[1], []]})
    assert last.flatten().to_list() == {"ts": [1], "id": [1]}
    first = make({"id": [[], [[1, 2, 3], [4]], [[5], [6, 7]]]})
    assert first.flatten().tensors["dim1/bounds"].tolist() == [0, 4, 7]


def test_squeeze_needs_a_single_row(make):
    with pytest.raises(ValueError, match="squeeze: dim 0 has length 3, not 1"):
        make(RAW).squeeze(0)


def test_empty_and_fully_indexed_objects_answer(make):
    J = make(RAW)
    dense = J[:0].to_dense()
    assert {key: value.shape for key, value in dense.items()} == {
        "dim1/mask": (0, 0),
        "T": (0, 0),
        "dim2/mask": (0, 0, 0),
        "id": (0, 0, 0),
        "val": (0, 0, 0),
    }
    one = J[0, 0, 0]
    assert (len(one), one.to_dense(), bool(one)) == (0, {}, False)
    assert "'dim-2/T': array([1], dtype=uint8)" in repr(one)
    shallow = make({"T": [1, 2]})[0]
    assert (len(shallow), shallow.to_dense(), shallow.to_list()) == (0, {}, {"T": 1})


def test_dense_has_the_right_rank_where_a_level_has_no_rows(make):
    J = make({"id": [[[1, 2]], [], [[3]]]})
    dense = Joint.vstack([J[1:2]]).to_dense()
    assert dense["id"].shape == (1, 1, 0, 0)
    assert J[1:2].to_dense(empty_keys=True)["id"].shape == (1, 0, 0)


def test_lengths_at_dim_0_agree():
    with pytest.raises(ValueError, match="Inconsistent lengths! B has 2 rows at dim 0, A has 3"):
        Joint({"A": [0, 1, 2], "B": [[1, 2], [4, 5, 6]]})
    with pytest.raises(ValueError, match="Inconsistent lengths! B has 3 rows at dim 0, A has 2"):
        Joint({"A": [0, 1], "B": [1, 2, 3]})


def test_keys_of_one_level_agree():
    with pytest.raises(ValueError, match=r"Inconsistent bounds tensors! \[2 3\] vs. \[1 3\]"):
        Joint({"A": [[1, 2], [3]], "B": [[1], [2, 3]]})


def test_dense_never_shares_memory(make):
    J = make({"S": [1, 2], "T": [[1], [2]]})
    dense = J.to_dense()
    assert all(array.flags.writeable and array.flags.owndata for array in dense.values())
    dense["S"][0] = 99
    assert J.to_list()["S"] == [1, 2]


def test_names_with_slashes_are_whole(make):
    J = make({"a/b": [[1, 2], [3]], "b": [1, 2]})
    assert J.keys() == {"a/b", "b"}
    assert (J._get_dim("b"), J._get_dim("a/b")) == (0, 1)
    assert J.schema == {"b": np.uint8, "a/b": np.uint8}
    assert J[0].to_list() == {"a/b": [1, 2], "b": 1}


@pytest.mark.parametrize(
    "nothing", [[], np.array([], int), np.zeros(3, bool), np.array([], np.uint8)], ids=str
)
def test_empty_choice_is_empty(make, nothing):
    J = make(RAW)[nothing]
    assert J.to_list() == {"T": [], "id": [], "val": []}
    assert J.schema == {"T": np.uint8, "id": np.uint8, "val": np.float32}


def test_given_schema_is_not_touched():
    schema = {"a": "int16"}
    J = Joint({"a": [1], "b": [2]}, schema=schema)
    assert schema == {"a": "int16"}
    assert J.schema == {"a": "int16", "b": np.uint8}
    J.unsqueeze(0).schema["c"] = int
    assert "c" not in J.schema


def test_flatten_of_one_dim_is_refused(make):
    with pytest.raises(ValueError, match="flatten: needs at least two dims, there are 1"):
        make({"a": [1, 2]}).flatten()


def test_ints_go_through_levels_without_a_key(make):
    J = make({"id": [[[1], [2, 3]], [[4, 5, 6]], [[7], [8]]]})
    assert J[1, 0].to_list() == {"id": [4, 5, 6]}
    assert J[2, 1].to_list() == {"id": [8]}
    assert J[2, 1, 0].to_list() == {"id": 8}


def test_length_does_not_count_what_was_left_behind(make):
    J = make({"S": [8, 9], "T": [[1], [2, 3]]})
    assert [len(J[0]), len(J[1])] == [1, 2]
    assert len(make({"S": [8, 9], "T": [1, 2]})[0]) == 0


# --- any nesting, any chain of operations, against the lists themselves


INDEX = st.one_of(
    st.integers(-4, 3),
    st.slices(4).filter(lambda s: s.step in (None, 1)),
    st.lists(st.integers(-4, 3), max_size=4),
    st.lists(st.booleans(), min_size=1, max_size=4),
)


def outcome(act):
    try:
        return act()
    except (IndexError, ValueError) as error:
        return type(error)


@settings(max_examples=150)
@given(raws(), st.lists(INDEX, min_size=1, max_size=3), st.sampled_from(["memory", "pickled", "copied"]))
def test_indices_do_to_all_keys_what_they_do_to_lists(raw, indices, way):
    rows, deepest = raw
    J = Joint(rows, schema=dict.fromkeys(rows, np.int64))
    J = {
        "memory": lambda: J,
        "pickled": lambda: pickle.loads(pickle.dumps(J)),
        "copied": lambda: copy.deepcopy(J),
    }[way]()
    want, ints = dict(rows), 0
    for index in indices:
        if ints > deepest:
            return
        model = want[f"at{ints}"] if ints < deepest else want["deep"]
        if isinstance(index, list) and index and isinstance(index[0], bool) and len(index) != len(model):
            with pytest.raises(IndexError, match="the mask has"):
                J[index]
            return
        expected = outcome(lambda m=model, i=index: pick(m, i))
        if expected is IndexError:
            with pytest.raises(IndexError, match="out of range at dim 0"):
                J[index]
            return
        left = {key: rows for key, rows in want.items() if key == "deep" or int(key[2:]) >= ints}
        want |= {key: pick(rows, index) for key, rows in left.items()}
        J = J[index]
        ints += isinstance(index, int)
    assert {key: J.to_list()[key] for key in want} == want


@settings(max_examples=60)
@given(raws(), st.data())
def test_chains_of_shapes_end_where_they_began(raw, data):
    rows, _ = raw
    J = Joint(rows, schema=dict.fromkeys(rows, np.int64))
    cut = data.draw(st.integers(0, len(J)))
    assert Joint.concatenate([J[:cut], J[cut:]]) == J
    assert Joint.vstack(list(J)) == J
    assert J.unsqueeze(0).squeeze(0) == J
    assert J[np.arange(len(J))] == J
    same(J.to_dense(empty_keys=True), Joint.vstack(list(J)).to_dense(empty_keys=True))


@settings(max_examples=80)
@given(raws(), st.sampled_from(["first", "repeat"]), st.integers(-4, 3))
def test_flatten_fills_and_merges(raw, fill_mode, start):
    rows, deepest = raw
    J = Joint(rows, schema=dict.fromkeys(rows, np.int64))[start:]
    if J.max_n_dims < 2 or J.max_n_dims != deepest + 1:
        return
    want = {key: rows[key][start:] for key in rows}
    _, levels = oracle.flatten(want["deep"], deepest)
    outer, _ = oracle.flatten(want[f"at{deepest - 1}"], deepest - 1)
    want[f"at{deepest - 1}"] = oracle.nest(
        oracle.broadcast_rows(outer, levels[-1], fill_mode), merged(levels)
    )
    want["deep"] = oracle.nest(oracle.flatten(want["deep"], deepest)[0], merged(levels))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert J.flatten(fill_mode=fill_mode).to_list() == want


def merged(levels):
    """The lengths of all levels but the last two, which are one."""
    if len(levels) < 2:
        return []
    return [*levels[:-2], [sum(part) for part in oracle.nest(levels[-1], [levels[-2]])]]


@settings(max_examples=80)
@given(raws(), st.sampled_from(["left", "right"]), st.integers(-4, 3))
def test_dense_is_padding_of_every_key(raw, side, start):
    rows, _ = raw
    J = Joint(rows, schema=dict.fromkeys(rows, np.int64))[start:]
    dense = J.to_dense(padding_side=side, empty_keys=True)
    for key in rows:
        depth = J._get_dim(key)
        want, (_, levels) = rows[key][start:], oracle.flatten(rows[key][start:], depth)
        sizes = [max(level, default=0) for level in levels]
        assert dense[key].tolist() == (oracle.pad(want, sizes, 0, side) if depth else want)
        assert dense[key].shape == (len(want), *sizes)


@settings(max_examples=40)
@given(raws())
def test_files_hold_what_memory_held(tmp_path_factory, raw):
    J = Joint(raw[0], schema=dict.fromkeys(raw[0], np.int64))
    path = tmp_path_factory.mktemp("laws") / "j.nrt"
    J.save(path)
    lazy = Joint(tensors_fp=path)
    assert lazy == J
    for i in range(len(J)):
        assert lazy[i].to_list() == J[i].to_list()
        assert lists(lazy[i, -2:].to_dense()) == lists(J[i, -2:].to_dense())
    assert Joint.load(path) == J
    assert Joint(tensors_fp=path, keys=["deep"]).to_list() == {"deep": raw[0]["deep"]}
