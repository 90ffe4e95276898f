"""What the constructor of a joint dict takes, infers and refuses."""

import re
from pathlib import Path

import numpy as np
import pytest
from varlen import Ragged
from varlen.joint import JointNestedRaggedTensorDict as Joint
from varlen.joint import is_ndim_list, pprint_dense


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, 2, 256], np.uint16),
        ([1, 66000], np.uint32),
        ([4 * 10**10], np.uint64),
        ([-66000, 66000], np.int32),
        ([128, -128], np.int16),
        ([True, False], np.bool_),
        ([True, 5], np.uint8),
        ([True, 0.5], np.float32),
        ([1, 2, 3.2], np.float32),
        ([float("nan")], np.float32),
        ([3.14, 2**65], np.float32),
        ([2**63], np.uint64),
        ([np.int64(3), np.float64(2)], np.float32),
    ],
    ids=str,
)
def test_smallest_dtype_that_holds_the_values(values, dtype):
    assert Joint({"a": values}).schema == {"a": dtype}
    assert Joint({"a": [values]}).tensors["dim1/a"].dtype == dtype
    assert Joint._infer_dtype(values) == dtype


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1e39], "Cannot store range [1e+39, 1e+39] as np.float32 (the only supported float dtype)."),
        ([1e39, float("nan")], "Cannot store range [1e+39, 1e+39] as np.float32"),
        ([3.14, 10**400], "Cannot store range [3.14, 1000"),
        ([4 * 10**19, -4 * 10**19], "No valid type available for -4" + "0" * 19 + " - 4" + "0" * 19 + "!"),
        ([2**63, -1], "No valid type available for -1 - 9223372036854775808!"),
    ],
    ids=["large", "nan", "huge", "wide", "signs"],
)
def test_values_that_no_dtype_holds_are_refused(values, text):
    for raw in (values, [values]):
        with pytest.raises(ValueError, match="^" + re.escape(text)):
            Joint({"a": raw})


def test_array_rows_keep_their_dtype_unless_they_are_to_be_narrowed():
    rows = [np.array([1, 2]), np.array([3.5, 4, 5])[::2], np.array([], np.float32)]
    assert Joint({"a": rows}, narrow=True).schema == {"a": np.float32}
    assert Joint({"a": rows[:1]}, narrow=True).schema == {"a": np.uint8}
    for narrow in (None, False):
        assert Joint({"a": rows}, narrow=narrow).schema == {"a": np.float64}
        assert Joint({"a": rows[:1]}, narrow=narrow).schema == {"a": np.int64}
    assert Joint({"a": [np.array([1, 2], np.int16)], "b": [1]}, narrow=False).schema == {
        "a": np.int16,
        "b": np.int64,
    }
    assert Joint({"a": [[0.5]], "b": [np.array([1], np.float16)]}, narrow=False).schema == {
        "a": np.float64,
        "b": np.float16,
    }


@pytest.mark.parametrize(
    "value",
    [[[b"a"]], [[1], 2], [[None]], [[[1], 2]], [[1], "x"], [[{}]], [[[1]], [2]]],
    ids=str,
)
def test_what_is_no_nested_list_of_numbers_is_refused(value):
    with pytest.raises(ValueError, match=r"^Failed to parse K as a nested list of numbers!$"):
        Joint({"K": value})


@pytest.mark.parametrize("value", [[b"a"], [1, "a"], [1, None], [None]], ids=str)
def test_what_is_no_list_of_numbers_is_refused(value):
    with pytest.raises(ValueError, match=r"^Vals must all be ints, floats, or bools$"):
        Joint({"K": value})
    with pytest.raises(ValueError, match="K"):
        Joint({"K": [1, [2]]})


@pytest.mark.parametrize("words", [["a", "b", "a"], [["a"], [], ["b", "a"]], [[["b"], []], [["a"]]]], ids=str)
def test_lists_of_words_become_ids_with_a_vocabulary(words):
    J = Joint({"w": words})
    assert J.to_list() == {"w": words}
    assert J.vocabularies["w"][0] == "[PAD]"
    assert Joint({"w": words}, schema={"w": str}) == J
    assert Joint({"w": words}, padding_id=False).to_list() == {"w": words}


def test_words_beside_other_objects_name_their_place():
    with pytest.raises(TypeError, match=r"w\[1\]\[0\]: expected text, got int"):
        Joint({"w": [["a"], [1]]})
    with pytest.raises(ValueError, match="Failed to parse w"):
        Joint({"w": [["a"]]}, schema={"w": np.int64})


def test_tuples_nest_as_lists_do():
    assert Joint({"a": ([1, 2], (3,))}).to_list() == {"a": [[1, 2], [3]]}
    assert Joint({"a": [([1, 2], [3]), ([],)]}).to_list() == {"a": [[[1, 2], [3]], [[]]]}


def test_further_axes_of_arrays_are_fixed():
    block = np.array([[1, 2], [3, 4]])
    assert Joint({"a": block}).tensors["dim0/a"].tolist() == block.tolist()
    J = Joint({"a": [block, block[:1]]})
    assert (J.max_n_dims, J.tensors["dim1/a"].shape, J.tensors["dim1/a"].dtype) == (2, (3, 2), np.int64)


@pytest.mark.parametrize("dtype", ["?", "i1", "i8", "u4", "f2", "f4", "f8", "M8[s]"])
def test_arrays_and_raggeds_keep_their_dtype_where_lists_are_narrowed(dtype):
    x = np.zeros(3, dtype)
    keys = {
        "whole": (x, 0),
        "rows": ([x[:2], x[2:]], 1),
        "deep": ([[x[:1], x[1:2]], [x[2:]]], 2),
        "ragged": (Ragged(x, [2, 1]), 1),
    }
    for name, (value, dim) in keys.items():
        assert Joint({name: value}).tensors[f"dim{dim}/{name}"].dtype == dtype, name
        if dtype == "i8":
            assert Joint({name: value}, narrow=True).tensors[f"dim{dim}/{name}"].dtype == np.uint8
    J = Joint({"a": Ragged(np.array([200, 100]), [1, 1])})
    assert (J["a"] * 10).to_list() == [[2000], [1000]]
    J = J.with_key("b", [np.array([1]), np.array([2])]).with_key("c", [[1], [2]])
    assert (J.tensors["dim1/b"].dtype, J.tensors["dim1/c"].dtype) == (np.int64, np.uint8)
    assert Joint({"a": np.array([1, 2], object)}).schema == {"a": np.uint8}


def test_schema_casts_and_checks():
    assert Joint(
        {"a": [1], "b": [[2]], "c": [0.5]}, schema={"a": int, "b": float, "c": "float16"}
    ).schema == {
        "a": int,
        "b": float,
        "c": "float16",
    }
    assert Joint({"b": [[2]]}, schema={"b": float}).tensors["dim1/b"].dtype == np.float64
    assert Joint({"b": [[2]]}, schema={"b": int, "c": int}).schema == {"b": int, "c": int}
    np.testing.assert_array_equal(
        Joint({"a": [None, 2.0]}, schema={"a": np.float32}).tensors["dim0/a"], np.float32([np.nan, 2])
    )
    nested = Joint({"a": [[None, 2.0], [], [3]]}, schema={"a": np.float32}).tensors["dim1/a"]
    np.testing.assert_array_equal(nested, np.float32([np.nan, 2, 3]), strict=True)
    for wrong in ([[None, 2.0], None], [[1.0], [None, "x"]]):
        with pytest.raises(ValueError, match="Failed to parse a as a nested list of numbers"):
            Joint({"a": wrong}, schema={"a": np.float32})
    for bad in ([[300]], [300]):
        with pytest.raises(OverflowError, match="300"):
            Joint({"a": bad}, schema={"a": np.uint8})
    with pytest.raises(ValueError, match="nan"):
        Joint({"a": [[float("nan")]]}, schema={"a": int})


def test_exactly_one_source():
    text = "Exactly one of `raw_tensors`, `processed_tensors`, `tensors_fp` must be non-null! Got "
    with pytest.raises(ValueError, match=re.escape(text)) as caught:
        Joint()
    assert str(caught.value) == text + "raw_tensors=None processed_tensors=None tensors_fp=None"
    with pytest.raises(ValueError, match=re.escape(text)):
        Joint(None)
    with pytest.raises(ValueError, match=re.escape(text)) as caught:
        Joint(tensors_fp="foo", raw_tensors={"a": [1, 2, 3]})
    given = "raw_tensors={'a': [1, 2, 3]} processed_tensors=None tensors_fp=foo"
    assert str(caught.value) == text + given
    with pytest.raises(ValueError, match="Exactly one"):
        Joint({"a": [1]}, {"dim0/a": np.array([1])})
    with pytest.raises(ValueError, match=r"`keys` may only be specified alongside `tensors_fp`\."):
        Joint({"a": [1]}, keys={"a"})


@pytest.mark.parametrize(
    ("raw", "names"),
    [
        ({"bounds": [1]}, ["bounds"]),
        ({"mask": [1]}, ["mask"]),
        ({"mask": [1], "T": [1], "bounds": [1]}, ["bounds", "mask"]),
    ],
)
def test_reserved_names_are_refused(raw, names):
    text = (
        f"Reserved meta-names {names} cannot be used as user tensor names; "
        "they collide with internal ragged-structure tensors."
    )
    with pytest.raises(ValueError, match="^" + re.escape(text) + "$"):
        Joint(raw)
    assert Joint({"lengths": [[1], [2]]}).keys() == {"lengths"}


def test_first_generation_forms():
    raw = {"T": [[1, 2], [3]]}
    want = Joint(raw, schema={"T": int})
    for J in (
        Joint(raw, {"T": int}),
        Joint(raw, {"T": int}, False),
        Joint(tensors=raw, schema={"T": int}, pre_raggedified=False),
    ):
        assert want == J
        assert J.schema == {"T": int}
    flat = {
        "dim1/lengths": np.array([2, 1]),
        "dim1/bounds": np.array([2, 3]),
        "dim1/T": [np.array([1, 2]), np.array([3])],
        "dim0/S": np.array([8, 9]),
    }
    for J in (Joint(flat, {"T": int}, True), Joint(flat, pre_raggedified=True)):
        assert J.to_list() == {"T": [[1, 2], [3]], "S": [8, 9]}
    del flat["dim1/bounds"]
    assert Joint(flat, None, True).to_list()["T"] == [[1, 2], [3]]
    with pytest.raises(TypeError, match="schema: given twice"):
        Joint(raw, {"T": int}, schema={"T": int})


def test_processed_tensors_are_taken_as_they_are():
    tensors = {"dim1/T": np.array([1, 2, 3]), "dim1/bounds": np.array([2, 3])}
    J = Joint(processed_tensors=tensors)
    assert J.tensors is tensors
    assert J.schema == {"T": np.dtype(np.int64)}
    assert J[1].to_list() == {"T": [3]}


@pytest.mark.parametrize(
    ("tensors", "text"),
    [
        ({"dim1/T": np.array([1])}, "dim1/bounds is missing, a key at dim 1 needs it"),
        ({"dim1/bounds": np.array([2]), "dim1/T": np.array([1])}, "T: has 1 rows, but dim 1 has 2"),
        ({"T": np.array([1])}, "'T' is not the name of a tensor: expected 'dimK/name'"),
        ({"dim1/bounds": np.array([2, 1, 3]), "dim1/T": np.arange(3)}, "dim1/bounds: "),
        ({"dim1/bounds": np.array([1]), "dim1/T": np.arange(1), "dim0/T": np.arange(1)}, "dim0/T: there is"),
    ],
)
def test_processed_tensors_that_do_not_fit_are_refused_when_used(tensors, text):
    J = Joint(processed_tensors=tensors)
    with pytest.raises(ValueError, match="^" + re.escape(text)):
        J.to_dense()


def test_tensors_are_live():
    J = Joint({"S": [8, 9], "T": [[1, 2], [3]], "id": [[[1], [2]], [[3]]]})
    tensors = J.tensors
    tensors["dim1/T"] = tensors["dim1/T"] * 10
    assert J[0].to_list()["T"] == [10, 20]
    tensors["dim1/T"][2] = 7
    assert J.to_dense()["T"].tolist() == [[10, 20], [7, 0]]
    tensors["dim0/flag"] = np.array([True, False])
    assert J.keys() == {"S", "T", "id", "flag"}
    assert J[1].to_list()["flag"] is False
    for name in ("dim2/id", "dim2/bounds"):
        tensors.pop(name)
    assert (J.max_n_dims, J.keys()) == (2, {"S", "T", "flag"})
    tensors["dim1/bounds"][0] = 1  # in place: the next read sees it
    assert J.to_list()["T"] == [[10], [20, 7]]
    J._tensors = {"dim0/x": np.array([4])}
    assert J.to_list() == {"x": [4]}


def test_tensors_are_plain_and_writable():
    class Odd(np.ndarray):
        pass

    J = Joint({"T": [[1, 2], [3]], "S": [8, 9]})
    for part in (J, J[0], J[1:], J[[1]], J.flatten(), Joint.vstack([J[0], J[1]])):
        assert all(type(a) is np.ndarray and a.flags.writeable for a in part.tensors.values())
    odd = Joint(processed_tensors={"dim0/x": np.arange(2).view(Odd)})
    assert type(odd.to_dense()["x"]) is np.ndarray


def test_slices_and_unsqueeze_share_memory():
    J = Joint({"T": [[1, 2], [3]]})
    values = J.tensors["dim1/T"]
    assert np.shares_memory(J[1:].tensors["dim1/T"], values)
    assert np.shares_memory(J.unsqueeze(0).tensors["dim2/T"], values)
    assert np.shares_memory(J[0].tensors["dim0/T"], values)


def test_small_doors_of_upstream():
    J = Joint({"S": [8, 9], "T": [[1, 2], [3]]})
    assert (J._get_dim("T"), J._get_dim("S")) == (1, 0)
    with pytest.raises(KeyError, match="Key 'x' not found in 'S', 'T'"):
        J._get_dim("x")
    with J._tensor_at_key("dim1/T") as values:
        assert values.tolist() == [1, 2, 3]
    assert J._tensor_keys == {"dim0/S", "dim1/T", "dim1/bounds"}
    assert J._tensors is J.tensors
    assert Joint.__module__ == "varlen.joint"


class Sub(Joint):
    """A subclass that adds nothing."""


class Counted(Joint):
    """A subclass whose constructor does something of its own."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.made = True


@pytest.mark.parametrize("cls", [Sub, Counted])
def test_subclasses_stay_what_they_are(cls):
    J = cls({"S": [8, 9], "T": [[1, 2], [3]]})
    parts = [J[0], J[1:], J[[1]], J[0, 1:], J.flatten(), J.unsqueeze(0), J.unsqueeze(0).squeeze(0)]
    parts += [cls.vstack([J[0], J[1]]), cls.concatenate([J, J]), J.select("T"), J.drop("S"), J.rename(S="x")]
    for part in parts:
        assert type(part) is cls
        assert getattr(part, "made", cls is Sub)
    assert type(Joint.concatenate([J, J])) is Joint


@pytest.mark.parametrize(
    ("value", "dim", "answer"),
    [
        ([1, 2], 1, True),
        ([[1], [2]], 2, True),
        ([[1], [2]], 1, False),
        ([[[1]], [[np.int8(1)]]], 3, True),
        ([[[1, 2], [4]], [np.array([1])]], 3, True),
        (np.zeros((2, 2)), 2, True),
        ((1, 2), 1, False),
        ([1, None], 1, False),
        ([], 5, True),
        ([True, np.bool_(True), 0.5], 1, True),
    ],
)
def test_ndim_lists(value, dim, answer):
    assert is_ndim_list(value, dim) is answer


def test_ndim_list_needs_a_dim():
    with pytest.raises(ValueError, match="dim must be positive, but got 0"):
        is_ndim_list([1], 0)


def test_print_of_nothing(capsys):
    pprint_dense({})
    assert capsys.readouterr().out == "\n"


def test_print_groups_by_dims(capsys):
    pprint_dense({"b": np.zeros((1, 1, 1), int), "dim1/mask": np.ones((1, 1), bool), "a": np.array([[3]])})
    assert capsys.readouterr().out == "dim1/mask\n[[ True]]\n.\na\n[[3]]\n.\n---\n.\nb\n[[[0]]]\n"


@pytest.mark.parametrize("path", ["a.nrt", b"a.nrt", Path("a.nrt")])
def test_paths_are_given_as_files(path):
    with pytest.raises(TypeError, match=r"raw_tensors: expected a dict .*; pass a file as tensors_fp="):
        Joint(path)


BOOLS, EMPTY = np.array([True, False]), np.array([])


@pytest.mark.parametrize("narrow", [True, False])
@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ([BOOLS, EMPTY], bool),
        ([EMPTY, BOOLS], bool),
        ([[True, False], EMPTY], bool),
        ([EMPTY, np.array([1, 2], np.uint8)], np.uint8),
        ([[EMPTY, np.array([1], np.uint8)], [], [EMPTY]], np.uint8),
        ([np.array([], "M8[s]"), np.array([1], np.uint8)], np.uint8),
        ([np.array([], "U1"), np.array([1], np.float32)], np.float32),
        ([EMPTY, np.array(["2020-01-01"], "M8[D]")], "M8[D]"),
        ([np.array([], np.int32), EMPTY.astype(np.int32)], np.int32),
        ([EMPTY, EMPTY.astype(np.float32)], np.float32),
        ([np.array([], "M8[s]"), []], "M8[s]"),
        (np.zeros(0, np.int16), np.int16),
    ],
)
def test_empty_arrays_decide_no_dtype_unless_all_are_empty(value, dtype, narrow):
    J = Joint({"a": value}, narrow=narrow)
    wide = not narrow and dtype == np.float32 and not any(map(len, value))
    assert J.tensors[f"dim{J.max_n_dims - 1}/a"].dtype == (np.float64 if wide else np.dtype(dtype))
    assert [len(row) for row in J.to_list()["a"]] == [len(row) for row in value]


@pytest.mark.parametrize("narrow", [True, False])
def test_arrays_of_times_keep_their_unit(narrow, tmp_path):
    days, spans = np.array(["2020-01-01", "NaT"], "M8[D]"), np.array([3, 4, 5], "m8[ms]")
    J = Joint(
        {"day": days, "at": [spans[:1], spans[1:]], "one": [np.datetime64("2021", "s")] * 2}, narrow=narrow
    )
    J.save(tmp_path / "a.nrt")
    for one in (J, Joint(tensors_fp=tmp_path / "a.nrt")):
        assert {key: dtype.str for key, dtype in one.schema.items()} == {
            "day": "<M8[D]",
            "at": "<m8[ms]",
            "one": "<M8[s]",
        }
        np.testing.assert_array_equal(one["day"], days)
        np.testing.assert_array_equal(one["at"].values, spans)
    with pytest.raises(TypeError, match="t: times need a unit"):
        Joint({"t": [np.array([5], "m8")]}, narrow=narrow)


@pytest.mark.parametrize("kind", ["U1", object, np.dtypes.StringDType()], ids=str)
def test_arrays_of_strings_become_ids_and_a_vocabulary(kind, tmp_path):
    words = np.array(["b", "a", "b"], kind)
    J = Joint({"flat": words, "two": [words[:0], words[:2], words[2:]], "block": words[:, None]})
    J.save(tmp_path / "a.nrt")
    for one in (J, Joint(tensors_fp=tmp_path / "a.nrt")):
        assert dict(one.vocabularies) == dict.fromkeys(("flat", "two", "block"), ("[PAD]", "b", "a"))
        assert one.to_list() == {
            "flat": ["b", "a", "b"],
            "two": [[], ["b", "a"], ["b"]],
            "block": [["b"], ["a"], ["b"]],
        }
        assert one["two"].values.dtype == np.uint8
    with pytest.raises(ValueError, match="w: 'a' is not in its vocabulary of 1 words"):
        Joint({"w": words}, vocabularies={"w": ["b"]})


NESTS = [
    [[1, 2], [3]],
    [[1], [2]],
    [[], [], [3]],
    [[], []],
    [[[1, 2], [3]], [[4]]],
    [[[1], [2]], [[3], [4]]],
    [[[], []], [[]]],
    [[], [[5]]],
    [[[[1], []], []], [[[2, 3]]]],
]


@pytest.mark.parametrize("nest", NESTS, ids=str)
def test_a_ragged_nests_as_what_it_is(nest):
    ragged = Ragged.from_list(nest, dtype=np.int16)
    J = Joint({"x": ragged}, narrow=False)
    assert J.keys_at_dim(len(ragged.levels)) == {"x"}
    assert J.to_list() == {"x": nest}
    assert J["x"].values.dtype == np.int16
    assert J["x"].levels == ragged.levels


def test_keys_of_a_joint_dict_build_it_again():
    raw = {"id": [7, 8], "w": [["a"], []], "t": [[1.5], []], "c": [[[1, 2]], []], "d": [[[[], []]], []]}
    J = Joint(raw, schema={"w": str, "d": np.int8})
    for part in (J, J[:1], J[1:], J[0:0], J[[0, 1, 0]]):
        again = Joint(dict(part.items()), vocabularies=part.vocabularies)
        assert again == part
        assert again.schema == part.schema
    with pytest.raises(ValueError, match="w: ids 1 to 1, for a vocabulary of 0 words"):
        Joint({"w": J["w"]}, vocabularies={"w": []})


def test_a_ragged_of_tensors_is_taken():
    torch = pytest.importorskip("torch")
    assert Joint({"x": Ragged(torch.tensor([1.0, 2.0, 3.0]), [1, 2])}).to_list() == {"x": [[1.0], [2.0, 3.0]]}
    with pytest.raises(TypeError, match="x: values of Tensor cannot become an array"):
        Joint({"x": Ragged(torch.zeros(3, requires_grad=True), [1, 2])})


@pytest.mark.parametrize("dtype", ["int64", "float16", "float32", "bool"])
@pytest.mark.parametrize("narrow", [None, False])
def test_tensors_are_rows_as_arrays_are(dtype, narrow):
    torch = pytest.importorskip("torch")
    arrays = [np.array([3, 1, 4], dtype), np.array([], dtype), np.array([1], dtype)]
    tensors = list(map(torch.from_numpy, arrays))
    for nest in (lambda rows: rows, lambda rows: [rows, [], rows[:1]]):
        one, two = Joint({"x": nest(arrays)}, narrow=narrow), Joint({"x": nest(tensors)}, narrow=narrow)
        assert one.equals(two)
        assert one["x"].dtype == two["x"].dtype


def test_series_of_lists_are_rows():
    polars = pytest.importorskip("polars")
    assert Joint({"x": polars.Series([[1, 2], [], [3]])}).to_list() == {"x": [[1, 2], [], [3]]}
