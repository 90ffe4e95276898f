"""The doors of the joint dict: bad input is refused by key, level and row, and nothing is changed."""

import decimal
import re

import numpy as np
import pytest
from doors import NAN, ODD, OUTPUTS, WHOLE, doors, masked, refuses
from varlen import Ragged
from varlen.joint import JointNestedRaggedTensorDict as Joint
from varlen.joint import is_ndim_list

RAW = {"s": [7, 8, 9], "t": [[1, 2], [], [3]], "c": [[[1], [2, 3]], [], [[]]]}
ENDS = np.array([2, 2, 3])


def example(**options):
    return Joint(RAW, **options)


@pytest.mark.parametrize(
    ("raw", "error", "text"),
    [
        ([1], TypeError, "raw_tensors: expected a dict from keys .*, got list"),
        ("a", TypeError, "raw_tensors: expected a dict from keys .*, got str"),
        ({1: [1]}, TypeError, "raw_tensors: keys are strings, got 1"),
        ({"a": None}, TypeError, "a: expected a list, a tuple or an array, got NoneType"),
        ({"a": 2.5}, TypeError, "a: expected a list, a tuple or an array, got float"),
        ({"a": {0: 1}}, TypeError, "a: expected a list, a tuple or an array, got dict"),
        ({"a": {1}}, TypeError, "a: expected a list, a tuple or an array, got set"),
        ({"a": np.array(1)}, TypeError, "a: expected a list, a tuple or an array, got a scalar"),
        ({"a": masked()}, TypeError, "a: expected an array without a mask"),
        ({"a": [1, [2]]}, ValueError, r"a\[1\]: expected a number, got list: nested deeper"),
        ({"a": [2**64]}, ValueError, "No valid type available for .*key 'a'"),
        (
            {"a": [[2**63], [-1]]},
            ValueError,
            "No valid type available for -1 - .*key 'a'",
        ),
        ({"a": [[], []]}, ValueError, "Cannot infer dtype from empty values.*key 'a'"),
        ({"a": [[1e300]]}, ValueError, r"Cannot store range .*key 'a'"),
        ({"a": [1j]}, ValueError, "Vals must all be ints.*key 'a'"),
        ({"a": [1, 2], "b": [[1]]}, ValueError, "Inconsistent lengths! b has 1 rows at dim 0, a has 2"),
        (
            {"a": [[1, 2], [3]], "b": [[1], [2, 3]]},
            ValueError,
            r"Inconsistent bounds .*\[2 3\] vs. \[1 3\]: row 0 of level 1 has length 1 in 'b' and 2 in 'a'",
        ),
        (
            {"a": [[1, 2]], "b": [[[1], [2, 3]]], "c": [[[1, 2], [3]]]},
            ValueError,
            "row 0 of level 2 has length 2 in 'c' and 1 in 'b'",
        ),
        ({"a": [[1]], "b": [[1], [2]]}, ValueError, "level 1 has 2 rows in 'b' and 1 in 'a'"),
    ],
)
def test_raw_tensors_are_nested_numbers_that_share_their_nesting(raw, error, text):
    with pytest.raises(error, match=text):
        Joint(raw)


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ([1, None], r"a\[1\]: expected a number, got NoneType"),
        ([1, "x"], r"a\[1\]: expected a number, got str"),
        (np.array([1, None]), r"a\[1\]: expected a number, got NoneType"),
        ([[1], [2, None]], r"a\[1\]\[1\]: expected a number, got NoneType"),
        ([[1], [2, "x"]], r"a\[1\]\[1\]: expected a number, got str"),
        ([[1], 2], r"a\[1\]: expected a list or an array, got int"),
        ([masked()], r"a\[0\]: expected an array without a mask"),
    ],
)
def test_what_is_no_number_is_placed_by_the_cause(values, place):
    with pytest.raises(ValueError, match=r"^(Vals must all be ints|Failed to parse a as a nested)") as caught:
        Joint({"a": values})
    assert re.match(place, str(caught.value.__cause__))


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"schema": [1]}, TypeError, "schema: expected a dict"),
        ({"schema": {"t": "nope"}}, TypeError, "schema: key 't': expected a NumPy dtype, got 'nope'"),
        ({"schema": {"t": object}}, TypeError, "schema: key 't': object holds Python objects"),
        ({"schema": {"t": "u1"}}, OverflowError, r"t\[0\]\[1\]: 300 does not fit uint8"),
        ({"schema": {"t": "i1"}}, OverflowError, r"t\[0\]\[1\]: 300 does not fit int8"),
        ({"schema": {"t": bool}}, ValueError, r"t\[0\]\[1\]: 300 is neither 0 nor 1"),
        ({"schema": {"t": str}}, TypeError, r"t\[0\]\[0\]: expected text, got int"),
        ({"schema": {"s": int}}, ValueError, r"s\[1\]: 0.5 is not a whole number"),
        ({"vocabularies": {"w": "ab"}}, TypeError, "vocabularies of 'w': expected a list of words, got str"),
        ({"vocabularies": {"w": [1]}}, TypeError, "vocabularies: word 0 of 'w': expected a string, got int"),
        ({"vocabularies": {"w": ["a", "a"]}}, ValueError, "vocabularies: key 'w' has the word 'a' twice"),
        ({"vocabularies": {"w": ["b"]}}, ValueError, "w: 'a' is not in its vocabulary of 1 words"),
        ({"trailing_dims": {"t": "a"}}, TypeError, "trailing_dims of 't': expected an int, got 'a'"),
        ({"trailing_dims": {"t": -1}}, ValueError, "trailing_dims of 't': expected at least 0, got -1"),
        (
            {"trailing_dims": {"t": 5}},
            ValueError,
            "t: expected 5 fixed dims, of arrays or lists; there are 1 levels",
        ),
        ({"trailing_dims": {"z": 1}}, KeyError, "'z' is not among the keys"),
        ({"row_ids": "t"}, ValueError, "row_ids: 't' is not a key of dim 0"),
        ({"row_ids": 3}, ValueError, "row_ids: 3 is not a key of dim 0"),
    ],
)
def test_options_go_with_the_keys(options, error, text):
    raw = {"s": [1, 0.5], "t": [[1, 300], [-1]]}
    if "vocabularies" in options:
        raw["w"] = ["a", "a"]
    refuses(lambda x: Joint(raw, **x), options, error, text, raw)


def test_none_is_nan_among_floats_alone():
    assert Joint({"t": [None, 1]}, schema={"t": float})["t"].tolist()[1:] == [1.0]
    for schema, given in ((int, None), (int, "5"), (float, "5"), (bool, None)):
        with pytest.raises(TypeError, match=r"t\[0\]: expected a number, got"):
            Joint({"t": [given, 1]}, schema={"t": schema})
    assert Joint({"t": [decimal.Decimal(1)]}).to_list() == {"t": [1.0]}


@pytest.mark.parametrize(
    ("tensors", "error", "text"),
    [
        ([1], TypeError, "processed_tensors: expected a dict"),
        ({5: ENDS}, TypeError, "tensors: names are strings like 'dimK/name', got 5"),
        ({"a": ENDS}, ValueError, "'a' is not the name of a tensor: expected 'dimK/name'"),
        ({"dim0/a": [1]}, TypeError, "dim0/a: expected an array, got list"),
        ({"dim0/a": np.array(1)}, ValueError, "a: expected at least one dimension"),
        ({"dim0/a": np.array([None])}, TypeError, "a: arrays of Python objects"),
        ({"dim0/a": masked()}, TypeError, "a: expected an array without a mask"),
        ({"dim1/a": ENDS}, ValueError, "dim1/bounds is missing, a key at dim 1 needs it"),
        ({"dim1/bounds": ENDS * 1.0, "dim1/a": ENDS}, TypeError, "dim1/bounds: expected integers"),
        ({"dim1/bounds": ENDS[None], "dim1/a": ENDS}, ValueError, "dim1/bounds: expected one dimension"),
        (
            {"dim1/bounds": masked((1, 3)), "dim1/a": ENDS},
            TypeError,
            "dim1/bounds: expected an array without a mask",
        ),
        ({"dim1/bounds": ENDS, "dim2/bounds": ENDS > 2}, TypeError, "dim2/bounds: expected integers"),
        ({"dim1/bounds": np.array([2, 1, 3]), "dim1/a": ENDS}, ValueError, "dim1/bounds: row 1 ends at 1"),
        ({"dim1/bounds": np.array([-2, 1, 3]), "dim1/a": ENDS}, ValueError, "dim1/bounds: row 0 ends at -2"),
        ({"dim1/bounds": ENDS, "dim1/a": np.arange(4)}, ValueError, "a: has 4 rows, but dim 1 has 3"),
        ({"dim0/s": ENDS[1:], "dim1/bounds": ENDS, "dim1/a": ENDS}, ValueError, "s: has 2 rows, but dim 0"),
        (
            {"dim1/bounds": ENDS, "dim2/bounds": ENDS[1:]},
            ValueError,
            "dim2/bounds: has 2 sequences",
        ),
        ({"dim0/a": ENDS, "dim1/bounds": ENDS, "dim1/a": ENDS}, ValueError, "dim1/a: there is a key 'a'"),
    ],
)
def test_processed_tensors_fit_each_other(tensors, error, text):
    refuses(lambda x: Joint(processed_tensors=x).to_dense(), tensors, error, text)


@pytest.mark.parametrize("edit", [lambda b: b.__setitem__(0, 99), lambda b: b.__setitem__(0, -5)])
def test_bounds_that_were_spoilt_are_seen_by_every_operation(edit, tmp_path):
    def spoilt():
        J = example().select("t", "s")
        edit(J.tensors["dim1/bounds"])
        return J

    for act in (
        lambda J: J[0],
        lambda J: J[1:],
        lambda J: J[[0, 1]],
        lambda J: J["t"],
        lambda J: J.to_dense(),
        lambda J: J.to_list(),
        lambda J: J.flatten(),
        lambda J: J.lengths(),
        lambda J: Joint.vstack([J, J]),
        lambda J: Joint.concatenate([J, J]),
        lambda J: J.save(tmp_path / "spoilt.nrt"),
    ):
        refuses(act, spoilt(), ValueError, r"dim1/bounds: row \d ends at", tmp_path)


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        (2**70, IndexError, f"index {2**70} is out of range"),
        ((0, -(2**70)), IndexError, "index -.* is out of range"),
        (True, TypeError, "<class 'bool'> not supported"),
        ((0, True), TypeError, "<class 'bool'> at index 1 not supported"),
        (np.True_, TypeError, "not supported"),
        ([0, 3], IndexError, "Index 3 is out of range at dim 0"),
        ([0.5], TypeError, r"it has the shape \(1,\) and holds float64"),
        ([0, None], TypeError, "holds object"),
        ([[0]], TypeError, r"it has the shape \(1, 1\)"),
        (np.array([2**63], "u8"), OverflowError, "index: .*63 bits"),
        (masked(), TypeError, "index: expected an array without a mask"),
        (np.ma.array([True] * 3, mask=[1, 0, 0]), TypeError, "index: expected an array without a mask"),
        ((0, [9]), IndexError, "Index 9 is out of range"),
        ((0, 9), IndexError, r"Index 9 is out of range at dim 1 \(length 2\)"),
        ("z", KeyError, "Key 'z' not found in 'c', 's', 't'"),
        (("t", 0), TypeError, "<class 'str'> at index 0 not supported"),
    ],
)
def test_indices_are_in_range_and_whole(index, error, text):
    J = example()
    refuses(lambda i: J[i], index, error, text, J)


@pytest.mark.parametrize(
    ("door", "given", "error", "text"),
    doors(
        WHOLE,
        max_len=lambda x: example().to_dense(max_len=x),
        max_bytes=lambda x: example().to_dense(max_bytes=x),
        dim=lambda x: example().lengths(x),
        **{
            "dim of a key": lambda x: example().with_key("n", np.arange(3), x),
            "trailing_dims": lambda x: example(trailing_dims={"t": x}),
        },
    ),
)
def test_numbers_are_whole(door, given, error, text):
    refuses(door, given, error, text)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"padding_side": None}, ValueError, "padding_side must be 'left' or 'right'; got 'None'"),
        ({"truncate": 1}, ValueError, "truncate must be 'left' or 'right'; got '1'"),
        ({"max_len": [1, 1, 1]}, ValueError, "max_len: 3 numbers for 2 levels"),
        ({"max_len": [1, 0.5]}, TypeError, "max_len: expected an int, got 0.5"),
        ({"fill": {"z": 1}}, KeyError, "fill: there is no key 'z'"),
        ({"fill": {"t": 300}}, ValueError, "fill of 't': 300 does not fit uint8"),
        ({"fill": {"t": 1.5}}, ValueError, "fill of 't': 1.5 does not fit uint8"),
        ({"fill": NAN}, ValueError, "fill of 't': nan does not fit"),
        ({"fill": {"t": "a"}}, ValueError, "fill of 't': 'a' does not fit"),
        ({"fill": {"t": None}}, TypeError, "fill of 't': .* got None"),
        ({"out": [1]}, TypeError, "out: expected a dict from names to arrays, got list"),
        ({"out": {"z": ENDS}}, KeyError, "out: there is no 'z' in the result"),
        ({"out": {"t": ENDS}}, ValueError, r"out\['t'\]: needs uint8\(3, 2\), got int64\(3,\)"),
        ({"out": {"dim1/mask": np.zeros((3, 2), "u1")}}, ValueError, r"out\['dim1/mask'\]: needs bool"),
        ({"max_bytes": 3}, ValueError, r"\(3, 2\) of 1 bytes .* 9 bytes, over max_bytes=3; give max_len"),
    ],
)
def test_rectangles_name_options_that_do_not_fit(options, error, text):
    J = example()
    refuses(lambda x: J.to_dense(**x), options, error, text, J)


@pytest.mark.parametrize(("out", "error", "text"), OUTPUTS)
def test_rectangles_are_written_where_they_fit(out, error, text):
    J = Joint({"t": [[1, 2, 3], [4, 5]]}, schema={"t": np.int64})
    refuses(lambda o: J.to_dense(out={"t": o}), out, error, rf"out\['t'\]: .*({text})", J)


def test_outputs_do_not_share_memory():
    values, both = np.arange(6), np.full((3, 2), 7)
    J = Joint(processed_tensors={"dim1/bounds": ENDS, "dim1/t": values[:3], "dim1/u": values[:3] + 1})
    refuses(
        lambda o: J.to_dense(out={"t": o}), values.reshape(3, 2), ValueError, r"out\['t'\]: shares", values
    )
    refuses(lambda o: J.to_dense(out={"t": o, "u": o}), both, ValueError, "shares .* another", J)
    assert J.to_dense(out={"u": both, "t": values[3:].repeat(2).reshape(3, 2)})["u"] is both


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda J: Joint.concatenate(None),
            TypeError,
            "tensors: expected a list of joint dicts",
        ),
        (lambda J: Joint.vstack(3), TypeError, "tensor_dicts: expected a list of joint dicts, got int"),
        (lambda J: Joint.concatenate([J, {}]), TypeError, "tensors: item 1: expected a joint dict, got dict"),
        (lambda J: Joint.vstack([3]), TypeError, "tensor_dicts: item 0: expected a joint dict, got int"),
        (lambda J: Joint.concatenate([J, J.drop("c")]), ValueError, "Keys inconsistent!"),
        (lambda J: J.flatten(None), TypeError, "dim: expected an int, got None"),
        (lambda J: J.flatten(1), ValueError, "Only supports dim = -1 or 2 for now; got 1"),
        (
            lambda J: J.flatten(fill_mode=None),
            ValueError,
            "fill_mode: expected 'first', .*, got None",
        ),
        (lambda J: J.squeeze(1), ValueError, "Only supports dim = 0 for now; got 1"),
        (lambda J: J.lengths(9), IndexError, "dim: expected at most 2, got 9"),
        (lambda J: J.select(None), TypeError, "keys: expected a list of keys, got NoneType"),
        (lambda J: J.select("z"), KeyError, "keys: there is no key 'z'"),
        (lambda J: J.drop(3), TypeError, "keys: expected a list of keys, got int"),
        (lambda J: J.drop(["s", "z"]), KeyError, "keys: there is no key 'z'"),
        (lambda J: J.rename(["s"]), TypeError, "names: expected a dict from old to new names, got list"),
        (lambda J: J.rename({"z": "a"}), KeyError, "names: there is no key 'z'"),
        (lambda J: J.rename(s=5), TypeError, "names: keys are strings, got 5"),
        (lambda J: J.rename(s="t"), ValueError, r"names: \['t'\] would each name two keys"),
        (lambda J: J.rename(s="bounds"), ValueError, "Reserved meta-names"),
        (lambda J: J.with_key(5, [1, 2, 3]), TypeError, "name: keys are strings, got 5"),
        (lambda J: J.with_key("mask", [1, 2, 3]), ValueError, "Reserved meta-names"),
        (lambda J: J.with_key("n", None), TypeError, "n: expected a list, a tuple or an array, got NoneType"),
        (lambda J: J.with_key("n", [1, 2]), ValueError, "n: has 2 rows, but dim 0 has 3"),
        (lambda J: J.with_key("n", [[1], [], [2, 3]]), ValueError, "row 0 of level 1 has length 1 in 'n'"),
        (lambda J: J.with_key("n", Ragged([1], [1])), ValueError, "level 1 has 1 rows in 'n' and 3 in"),
        (lambda J: J.with_key("n", np.arange(4), 1), ValueError, "n: has 4 rows, but dim 1 has 3"),
        (lambda J: J.with_key("n", np.arange(3), 9), ValueError, "n: dim 9 is not one of the 3"),
        (
            lambda J: J.with_key("n", masked((1, 2, 3), (1, 0, 0))),
            TypeError,
            "n: expected an array without a mask",
        ),
        (lambda J: J.with_key("n", np.array([None] * 3)), TypeError, "n: arrays of Python objects"),
        (lambda J: J.with_key("n", [1, 2, 300], dtype="i1"), OverflowError, r"n\[2\]: 300 does not fit int8"),
        (lambda J: J.with_key("n", np.array([1, 2, 300]), dtype="i1"), ValueError, "300.* does not fit int8"),
        (
            lambda J: J.rows_of([1]),
            ValueError,
            "no key of dim 0 holds the ids of rows; name one",
        ),
        (lambda J: J.keys_at_dim(0) and J["s", 0], TypeError, "not supported"),
    ],
)
def test_methods_name_what_does_not_fit(call, error, text):
    refuses(call, example(), error, text)


@pytest.mark.parametrize(
    ("ids", "error", "text"),
    [
        ([7, 99], KeyError, "no row has s 99"),
        ([2**70], KeyError, f"no row has s {2**70}"),
        (["a"], KeyError, "no row has s a"),
        (None, TypeError, "ids: expected integers or strings, position 0 holds NoneType"),
        ([7, None], TypeError, "ids: expected integers or strings, position 1 holds NoneType"),
        (masked((7, 8)), TypeError, "ids: expected an array without a mask"),
    ],
)
def test_ids_are_those_of_rows(ids, error, text):
    refuses(example(row_ids="s").rows_of, ids, error, text)


@pytest.mark.parametrize("where", ["to", "from"])
@pytest.mark.parametrize(
    ("path", "error"),
    [(None, TypeError), (3.5, TypeError), ("no/such/folder/a.nrt", FileNotFoundError), ("a\0b", ValueError)],
)
def test_paths_lead_somewhere(where, path, error, tmp_path):
    door = example().save if where == "to" else Joint.load
    refuses(door, path, error, "", tmp_path)


@pytest.mark.parametrize(
    ("keys", "error", "text"),
    [
        ("t", TypeError, "`keys` must be an iterable of strings"),
        (3, TypeError, "keys: expected a list of keys, got int"),
        ([], ValueError, "`keys` must be non-empty"),
        ([3], TypeError, "`keys` must contain only strings; got elements of type .*int"),
        (["t", "z"], KeyError, r"Requested keys \['z'\] not found"),
        (["bounds"], ValueError, "reserved meta-names"),
    ],
)
def test_keys_of_files_are_there(keys, error, text, tmp_path):
    example().save(tmp_path / "a.nrt")
    refuses(lambda k: Joint(tensors_fp=tmp_path / "a.nrt", keys=k), keys, error, text, tmp_path)
    assert Joint.load(bytes(tmp_path / "a.nrt")) == example()


def test_what_a_file_cannot_hold_leaves_the_old_one(tmp_path):
    path = tmp_path / "a.nrt"
    example().save(path)
    for dtype in ("c16", "S3", "g"):
        odd = Joint(processed_tensors={"dim0/a": np.ones(2, dtype)})
        refuses(lambda J: J.save(path), odd, TypeError, "dim0/a: a file cannot hold dtype", tmp_path)


def test_is_ndim_list_asks_for_a_depth():
    for dim, error in ((0, ValueError), (-1, ValueError), ("1", TypeError), (1.0, TypeError)):
        with pytest.raises(error, match="dim"):
            is_ndim_list([1], dim)


@pytest.mark.parametrize("lay", ODD.values(), ids=ODD)
def test_odd_memory_gives_what_plain_memory_gives(lay):
    want = {"s": [7, 8, 9], "t": [[1, 2], [], [3]]}
    J = Joint({"s": lay([7, 8, 9]), "t": [lay([1, 2]), [], lay([3])]})
    assert J.to_list() == want
    assert J[np.asarray(lay([2, 0]))].to_list() == {"s": [9, 7], "t": [[3], [1, 2]]}
    flat = {
        "dim0/s": np.asarray(lay([7, 8, 9])),
        "dim1/bounds": np.asarray(lay(ENDS)),
        "dim1/t": np.arange(1, 4),
    }
    assert Joint(processed_tensors=flat).to_list() == want
    assert Joint(processed_tensors=flat).to_dense()["t"].tolist() == [[1, 2], [0, 0], [3, 0]]
