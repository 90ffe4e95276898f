"""The table of differences from upstream: each line of the manual, and what it says."""

import copy
import re

import house
import numpy as np
import pytest
from joint_data import RAW
from varlen.joint import JointNestedRaggedTensorDict as Joint

upstream = pytest.importorskip("nested_ragged_tensors.ragged_numpy").JointNestedRaggedTensorDict

TOLD = {}
SHORT = {"S": [8, 9], "T": [[1, 2], [3]]}


def difference(line):
    """Ties a test to the first cell of its line in the table."""

    def tie(test):
        TOLD[line] = test
        return test

    return tie


def theirs(act, *errors):
    """What upstream answers; its error where it has one of these."""
    try:
        return act()
    except errors as error:
        return type(error)


@difference('`J["key"]`')
def test_key():
    assert theirs(lambda: upstream(SHORT)["T"], TypeError) is TypeError
    assert Joint(SHORT)["T"].to_list() == SHORT["T"]
    assert Joint(SHORT)["S"].tolist() == SHORT["S"]


@difference("lists, masks, NumPy integers, `J[i, [j, k]]`")
def test_indices():
    for index in ([1, 0], np.array([True, False]), np.int64(1), (0, [1, 0])):
        assert theirs(lambda i=index: upstream(SHORT)[i], TypeError) is TypeError
    J = Joint(SHORT)
    assert J[[1, 0]].to_list() == {"S": [9, 8], "T": [[3], [1, 2]]}
    assert J[np.array([True, False])].to_list() == {"S": [8], "T": [[1, 2]]}
    assert J[np.int64(1)] == J[1]
    assert J[0, [1, 0]].to_list() == {"S": 8, "T": [2, 1]}


@difference("slices with negative or too large bounds, below dim 0")
def test_slices():
    for index, right in ((slice(1, 10), False), (slice(None, -1), False), (slice(-2, None), True)):
        found = upstream(RAW)[index].tensors
        rows = RAW["T"][index]
        assert (found["dim1/T"].tolist() == [x for row in rows for x in row]) == right
        assert right <= (found["dim1/bounds"].tolist() != np.cumsum([len(row) for row in rows]).tolist())
        assert Joint(RAW)[index].tensors["dim1/T"].tolist() == [x for row in RAW["T"][index] for x in row]


@difference("an index that selects no rows")
def test_no_rows():
    nothing = np.array([], int)
    assert theirs(lambda: upstream(RAW)[nothing], ValueError) is ValueError
    assert Joint(RAW)[nothing].schema == {"T": np.uint8, "id": np.uint8, "val": np.float32}


@difference("an empty last row, or a key without values, in a file")
def test_empty_rows_of_files(tmp_path):
    Joint({"T": [[1, 2], []]}).save(tmp_path / "a.nrt")
    with pytest.raises(Exception, match=r"slice|index|range|bound"):
        upstream(tensors_fp=tmp_path / "a.nrt")[1]
    assert Joint(tensors_fp=tmp_path / "a.nrt")[1].to_list() == {"T": []}


@difference("gathering rows of keys of dim 0")
def test_gather():
    assert upstream(SHORT)[np.array([1, 0])].keys() == {"T"}
    assert Joint(SHORT)[np.array([1, 0])].keys() == {"S", "T"}


@difference("`vstack` of rows with keys of dim 0")
def test_vstack():
    assert upstream.vstack([upstream(SHORT)[i] for i in range(2)]).keys() == {"T"}
    assert Joint.vstack(list(Joint(SHORT))) == Joint(SHORT)


@difference("`J[i, j]` through a level at which no key lies")
def test_bare_levels():
    raw = {"id": [[[1], [2, 3]], [[4, 5, 6]]]}
    assert upstream(raw)[1, 0].tensors["dim0/id"].tolist() == [1]
    assert Joint(raw)[1, 0].tensors["dim0/id"].tolist() == [4, 5, 6]


@difference("`len(J[i])` if a key has fewer levels than the index")
def test_length():
    assert len(Joint({"S": [8, 9], "T": [[1, 2, 3], [3]]})[0]) == 3


@difference("`len`, `bool` and `to_dense` if nothing remains")
def test_nothing_left():
    J, other = Joint(RAW), upstream(RAW)
    assert theirs(lambda: len(other[0, 0, 0]), KeyError) is KeyError
    assert theirs(lambda: other[0:0].to_dense(), IndexError) is IndexError
    assert theirs(lambda: len(upstream({})), ValueError) is ValueError
    assert (len(J[0, 0, 0]), bool(J[0, 0, 0]), J[0, 0, 0].to_dense(), len(Joint({}))) == (0, False, {}, 0)
    assert J[0:0].to_dense()["id"].shape == (0, 0, 0)


@difference("`schema` after a slice")
def test_schema_after_a_slice():
    assert set(upstream(SHORT)[1:].schema) == {"dim0/S", "dim1/T", "dim1/bounds"}
    assert set(Joint(SHORT)[1:].schema) == {"S", "T"}


@difference("`concatenate` given equal dtypes but different schemas")
def test_schemas_of_parts():
    parts = [cls({"T": [[1]]}, schema={"T": int}) for cls in (upstream, Joint)]
    others = [cls({"T": [[2]]}, schema={"T": np.int64}) for cls in (upstream, Joint)]
    assert theirs(lambda: upstream.concatenate([parts[0], others[0]]), ValueError) is ValueError
    assert Joint.concatenate([parts[1], others[1]]).to_list() == {"T": [[1], [2]]}
    wide = Joint({"T": [[300]]})
    wide._schema = parts[1].schema
    assert Joint.concatenate([parts[1], wide]).to_list() == {"T": [[1], [300]]}


@difference("the schema dict that you pass")
def test_given_schema():
    given = [{"T": int}, {"T": int}]
    upstream(SHORT, schema=given[0])
    Joint(SHORT, schema=given[1])
    assert (set(given[0]), set(given[1])) == ({"S", "T"}, {"T"})


@difference("a value that its schema cannot hold")
def test_schema_is_checked():
    assert upstream({"T": [[1.5]]}, schema={"T": int}).tensors["dim1/T"].tolist() == [1]
    with pytest.raises(ValueError, match=r"T\[0\]\[0\]: 1.5 is not a whole number"):
        Joint({"T": [[1.5]]}, schema={"T": int})
    with pytest.raises(OverflowError, match="300 does not fit uint8"):
        Joint({"T": [[300]]}, schema={"T": np.uint8})


@difference("integers that need both a sign and 64 bits")
def test_wide_integers():
    assert upstream({"T": [2**63, -1]}).schema == {"T": np.float32}
    with pytest.raises(ValueError, match="No valid type available"):
        Joint({"T": [2**63, -1]})


@difference("infinity in lists and arrays of floats")
def test_infinity():
    assert theirs(lambda: upstream({"T": [[float("inf")]]}), ValueError) is ValueError
    for given in ([[np.inf, 1.5]], [np.array([np.inf, 1.5], "f4")], [np.array([np.inf, 1.5])]):
        np.testing.assert_array_equal(Joint({"T": given}).tensors["dim1/T"], np.float32([np.inf, 1.5]))


@difference("an integer beside floats, if float32 rounds it")
def test_rounded_integers():
    assert upstream({"T": [[2**24 + 1], [0.5]]}).to_dense()["T"].tolist() == [[2.0**24], [0.5]]
    with pytest.raises(OverflowError, match=r"T\[0\]\[0\]: 16777217 does not fit float32"):
        Joint({"T": [[2**24 + 1], [0.5]]})
    assert Joint({"T": [[2**24 + 1], [0.5]]}, narrow=False).to_list()["T"] == [[2.0**24 + 1], [0.5]]


@difference("lengths of keys of dim 0")
def test_dim_0_lengths():
    raw = {"A": [0, 1, 2], "B": [[1, 2], [4]]}
    assert upstream(raw).keys() == {"A", "B"}
    with pytest.raises(ValueError, match="Inconsistent lengths!"):
        Joint(raw)


@difference("tuples; arrays of several axes")
def test_tuples_and_axes():
    for raw in ({"T": ([1], [2])}, {"T": np.ones((2, 2))}):
        assert theirs(lambda r=raw: upstream(r), ValueError) is ValueError
    assert upstream({"T": [np.ones((2, 2))]}).max_n_dims == 3
    assert Joint({"T": ([1], [2])}).to_list() == {"T": [[1], [2]]}
    assert Joint({"T": [np.ones((2, 2))]}).max_n_dims == 2


@difference("arrays of times; strings in lists and arrays")
def test_times_and_strings():
    days, words = np.array(["2020-01-01"], "M8[D]"), np.array(["b"])
    for array in (days, words):
        assert theirs(lambda array=array: upstream({"a": [array]}), ValueError) is ValueError
    assert theirs(lambda: upstream({"a": [["b"]]}), ValueError) is ValueError
    J = Joint({"day": [days], "word": [words], "list": [["b"]]})
    assert J.schema == {"day": days.dtype, "word": np.uint8, "list": np.uint8}
    assert J.vocabularies["word"] == J.vocabularies["list"] == ("[PAD]", "b")


@difference("arrays of int64 and float64, alone or in lists")
def test_dtypes_of_arrays():
    for value in (np.array([1, 2]), [np.array([1, 2])], [np.array([1]), np.array([0.5])]):
        wide = np.asarray(value[-1]).dtype
        assert upstream({"a": value}).schema["a"] in (np.uint8, np.float32)
        assert Joint({"a": value}).schema["a"] == wide
        assert Joint({"a": value}, narrow=True).schema == upstream({"a": value}).schema


@difference("lists that contain only empty arrays")
def test_empty_arrays():
    value = {"a": [np.array([], np.int16), np.array([], np.int16)]}
    assert theirs(lambda: upstream(value), ValueError) is ValueError
    assert Joint(value).tensors["dim1/a"].dtype == np.int16


@difference("names with a slash")
def test_slashes():
    assert theirs(lambda: upstream({"a/b": [1]}).schema and upstream({"a/b": [1]}).keys()) != {"a/b"}
    assert Joint({"a/b": [1]}).keys() == {"a/b"}


@difference("`to_dense` of keys of dim 0")
def test_dense_copies():
    for cls, shared in ((upstream, True), (Joint, False)):
        J = cls(SHORT)
        assert np.shares_memory(J.to_dense()["S"], J.tensors["dim0/S"]) is shared


@difference("`squeeze` of several rows")
def test_squeeze():
    assert upstream(SHORT).squeeze(0).tensors["dim0/T"].tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="squeeze: dim 0 has length 2, not 1"):
        Joint(SHORT).squeeze(0)


@difference("`flatten` with empty inner rows")
def test_flatten():
    raw = {"ts": [1, 2, 3], "id": [[1, 2], [], [3]]}
    assert Joint(raw).flatten().to_list() == {"ts": [1, 0, 3], "id": [1, 2, 3]}
    last = {"ts": [1, 2], "id": [[1], []]}
    assert theirs(lambda: upstream(last).flatten(), IndexError) is IndexError
    assert Joint(last).flatten().to_list() == {"ts": [1], "id": [1]}


@difference("`flatten` of one dim")
def test_flatten_of_one_dim():
    assert theirs(lambda: upstream({"T": [1]}).flatten(), KeyError) is KeyError
    assert theirs(lambda: Joint({"T": [1]}).flatten(), ValueError) is ValueError


@difference("`keys` after edits of `.tensors`")
def test_keys_are_never_stale():
    for cls, there in ((upstream, False), (Joint, True)):
        J = cls(SHORT)
        assert J.keys() == {"S", "T"}
        J.tensors["dim0/new"] = np.zeros(2)
        assert (J.keys() == {"S", "T", "new"}) is there


@difference("`J[True]`, `J[i, False]`")
def test_bools():
    assert upstream(SHORT)[True].tensors["dim0/T"].tolist() == [3]
    for index in (True, (0, False)):
        with pytest.raises(TypeError, match="<class 'bool'>"):
            Joint(SHORT)[index]


@difference("`key in J`")
def test_membership():
    assert "T" not in list(upstream(SHORT))
    assert "T" in Joint(SHORT)


@difference("a path as text")
def test_text_paths(tmp_path):
    Joint(SHORT).save(str(tmp_path / "a.nrt"))
    text = str(tmp_path / "a.nrt")
    assert theirs(lambda: upstream(tensors_fp=text), AttributeError) is AttributeError
    assert Joint(tensors_fp=text) == Joint(SHORT)


@difference("damaged files: levels that do not fit, duplicate names")
def test_damaged_files(tmp_path):
    path = tmp_path / "a.nrt"
    Joint(SHORT).save(path)
    whole = path.read_bytes()
    at = whole.rindex(np.array([2, 3]).tobytes())
    path.write_bytes(whole[:at] + np.array([3, 2]).tobytes() + whole[at + 16 :])
    assert len(upstream(tensors_fp=path)) == 2
    with pytest.raises(ValueError, match="dim1"):
        Joint(tensors_fp=path).to_dense()


@difference("`load`, `load_slice`, `pre_raggedified`, `schema` by position")
def test_first_generation(tmp_path):
    Joint(SHORT, {"T": int}).save(tmp_path / "a.nrt")
    assert not hasattr(upstream, "load")
    assert Joint.load(tmp_path / "a.nrt").schema["T"] == np.int64
    assert Joint.load_slice(tmp_path / "a.nrt", 1).to_list() == {"S": 9, "T": [3]}


def test_every_line_of_the_table_has_a_test():
    text = (house.ROOT / "docs/coming/nested_ragged_tensors.md").read_text()
    table = re.search(r"<!-- differences: begin -->(.*)<!-- differences: end -->", text, re.DOTALL)[1]
    lines = [line.strip("|").split("|")[0].strip() for line in table.splitlines() if line.startswith("|")]
    assert lines[2:] == list(TOLD)
    assert copy.copy(lines[:1]) == ["what"]
