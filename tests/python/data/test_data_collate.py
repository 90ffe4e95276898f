"""Collating samples of any dataset: the structure of the samples, padded or end to end."""

import pickle
from collections import namedtuple

import numpy as np
import pytest
from varlen import _core
from varlen.data import Collate, Dataset, collate, pack
from varlen.joint import JointNestedRaggedTensorDict as Joint
from varlen.types import Ragged

ROWS = [np.array([1.0, 2.0, 3.0]), np.array([]), np.array([4.0])]
DENSE = np.array([[1.0, 2, 3], [0, 0, 0], [4, 0, 0]])
Sample = namedtuple("Sample", "x y")


def test_collate_pads_arrays_of_mappings():
    result = collate([{"x": row, "y": i, "name": str(i), "id": None} for i, row in enumerate(ROWS)])
    np.testing.assert_array_equal(result["x"], DENSE, strict=True)
    np.testing.assert_array_equal(result["x/mask"], DENSE > 0, strict=True)
    assert result["y"].tolist() == [0, 1, 2]
    assert result["name"] == ["0", "1", "2"]
    assert result["id"] == [None] * 3


def test_collate_keeps_tuples():
    dense, mask = collate([(row, i) for i, row in enumerate(ROWS)])[0]
    np.testing.assert_array_equal(dense, DENSE, strict=True)
    assert mask.sum() == 4
    result = Collate(masks=False)([Sample({"x": row}, "s") for row in ROWS])
    assert isinstance(result, Sample)
    np.testing.assert_array_equal(result.x["x"], DENSE, strict=True)
    assert result.y == ["s"] * 3


def test_collate_lays_rows_end_to_end():
    result = Collate(layout="ragged", max_len=2, truncate="left")([{"x": row} for row in ROWS])
    assert result["x"].tolist() == [2, 3, 4]
    assert result["x/offsets"].tolist() == result["x/cu_seqlens"].tolist() == [0, 2, 2, 3]
    assert result["x/cu_seqlens"].dtype == np.int32
    assert result["x/max_length"] == 2
    values, offsets = Collate(layout="ragged")(ROWS)
    assert (values.tolist(), offsets.tolist()) == ([1, 2, 3, 4], [0, 3, 3, 4])


def test_collate_takes_nested_lists():
    result = collate([{"x": [[1, 2], []], "f": [1]}, {"x": [[3]], "f": [2, 3]}])
    assert result["x"].tolist() == [[[1, 2], [0, 0]], [[3, 0], [0, 0]]]
    assert result["x/mask"].sum() == 3
    assert result["f"].tolist() == [[1, 0], [2, 3]]
    result = collate([{"x": [np.array([1, 2]), np.array([3])]}, {"x": [np.array([4])]}])
    assert result["x"].tolist() == [[[1, 2], [3, 0]], [[4, 0], [0, 0]]]
    assert collate([["a", "b"], ["c"]]) == [["a", "b"], ["c"]]


def test_collate_options_are_applied():
    how = Collate(
        padding_side="left", pad_to_multiple_of=4, fill={"x": -1}, dtype={"x": np.float32}, masks=False
    )
    result = how([{"x": row, "i": np.array([2])} for row in ROWS])
    assert result["x"].tolist() == [[-1, 1, 2, 3], [-1, -1, -1, -1], [-1, -1, -1, 4]]
    assert result["x"].dtype == np.float32
    assert result["i"].tolist() == [[0, 0, 0, 2]] * 3
    again = pickle.loads(pickle.dumps(how))
    assert again([{"x": ROWS[2]}])["x"].tolist() == [[-1, -1, -1, 4]]
    wide = collate([np.ones((2, 3)), np.ones((1, 3))])[0]
    assert wide.shape == (2, 2, 3)
    assert collate([np.float32(1), np.float32(2)]).dtype == np.float32


def test_collate_gives_tensors_for_tensors():
    torch = pytest.importorskip("torch")
    result = collate(
        [{"x": torch.tensor([1, 2, 3]), "y": torch.tensor(0.5)}, {"x": torch.tensor([4]), "y": 1.5}]
    )
    assert result["x"].tolist() == [[1, 2, 3], [4, 0, 0]]
    assert isinstance(result["x"], torch.Tensor)
    assert result["x/mask"].dtype == torch.bool
    assert result["y"].tolist() == [0.5, 1.5]
    result = Collate(framework="torch", layout="ragged")(
        [np.arange(3, dtype=np.uint16), np.arange(1, dtype=np.uint16)]
    )
    assert result[0].dtype == torch.int64
    assert isinstance(Collate(framework="numpy")([torch.ones(2)])[0], np.ndarray)


@pytest.mark.parametrize(
    ("samples", "error", "text"),
    [
        ([], ValueError, "samples: a batch needs at least one"),
        ([{"x": 1}, {"y": 1}], ValueError, r"samples\[1\]: has \['y'\], samples\[0\] has \['x'\]"),
        ([{"x": 1}, 5], ValueError, r"samples\[1\]: has int, samples\[0\] has \['x'\]"),
        ([(1, 2), (1,)], ValueError, r"samples\[1\]: expected a tuple of 2"),
        ([{"x": np.ones((2, 3))}, {"x": np.ones((2, 4))}], ValueError, r"samples\[1\]\['x'\]: has shape"),
        ([{"x": [1, "a"]}], (ValueError, TypeError), r"samples\[0\]\['x'\]\[1\]: "),
        ([{"x": [1, [2]]}], (ValueError, TypeError), r"samples\[0\]\['x'\]\[1\]: "),
    ],
)
def test_collate_refuses_samples_that_do_not_fit(samples, error, text):
    with pytest.raises(error, match=text):
        collate(samples)


def test_collate_refuses_options_that_do_not_fit():
    with pytest.raises(ValueError, match="padding_side: expected 'left' or 'right', got"):
        Collate(padding_side="up")
    with pytest.raises(ValueError, match="framework: expected"):
        Collate(framework="jax")
    with pytest.raises(ValueError, match="pad_to_multiple_of: expected at least 1"):
        Collate(pad_to_multiple_of=0)
    with pytest.raises(ValueError, match="more than one level"):
        Collate(layout="ragged")([[[1], [2]], [[3]]])


ORDERS = [(1, 300, 1), (300, 1, 1), (1, 1, 300)]


@pytest.mark.parametrize("numbers", ORDERS)
@pytest.mark.parametrize("layout", ["padded", "ragged"])
@pytest.mark.parametrize(("small", "large"), [("u1", "u2"), ("i1", "f8"), ("u1", "i4")])
def test_the_dtype_of_a_batch_holds_all_samples_whichever_comes_last(numbers, layout, small, large):
    rows = [np.full(i + 1, x, large if x == 300 else small) for i, x in enumerate(numbers)]
    want = [x for row in rows for x in row.tolist()]
    samples = [_core.Joint(["x"], [0], [row], []) for row in rows]
    joints = [Joint._wrap(sample) for sample in samples]
    results = [
        Collate(layout=layout)(rows)[0],
        Collate(layout=layout)([{"x": row} for row in rows])["x"],
        Collate(layout=layout)(joints)["x"],
        Dataset(joints[0]).collator(layout=layout)(joints)["x"],
        Dataset([_core.Joint(["x"], [1], [row], [_core.Level([len(row)])]) for row in rows]).batch(
            [0, 1, 2], layout=layout
        )["x"],
    ]
    for result in results:
        assert result.dtype == np.result_type(small, large)
        assert result[result != 0].tolist() == want
    numbers = Collate()([row[0] for row in rows])
    assert (numbers.dtype, numbers.tolist()) == (np.result_type(small, large), [row[0] for row in rows])


@pytest.mark.parametrize("truncate", ["left", "right"])
@pytest.mark.parametrize("layout", ["padded", "ragged"])
@pytest.mark.parametrize("most", [0, 1, 2, 3, 4])
def test_samples_are_cut_at_their_side(truncate, layout, most):
    rows = [[1, 2, 3], [4], []]
    want = [row[max(len(row) - most, 0) :] if truncate == "left" else row[:most] for row in rows]
    for samples in (rows, [np.array(row, int) for row in rows]):
        values, beside = Collate(layout=layout, truncate=truncate, max_len=most)(samples)
        if layout == "ragged":
            parts = np.split(values, beside[1:-1])
        else:
            parts = [row[there] for row, there in zip(values, beside, strict=True)]
        assert [part.tolist() for part in parts] == want


def test_rows_of_arrow_are_samples():
    pa = pytest.importorskip("pyarrow")
    lists = {"x": [[1, 2], [], [3]], "y": [0, 1, 2], "name": ["a", "b", "c"]}
    table = pa.table(lists)
    rows = [{key: values[i] for key, values in lists.items()} for i in range(3)]
    wanted = Collate(dtype={"x": "int64"})(rows)
    for samples in (
        table,
        table.to_batches()[0],
        [table.slice(0, 1), table.slice(1)],
        [{key: table[key][i] for key in lists} for i in range(3)],
        list(table.to_struct_array().combine_chunks()),
    ):
        found = Collate(dtype={"x": "int64"})(samples)
        assert found.keys() == wanted.keys()
        for key in found:
            np.testing.assert_array_equal(found[key], wanted[key])


def test_a_table_of_arrow_without_rows_is_refused():
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="samples: a batch needs at least one"):
        collate(pa.table({"x": pa.array([], pa.list_(pa.int64()))}))


def test_columns_are_their_rows():
    rows = [{"x": [1, 2], "y": 0, "s": "a"}, {"x": [3], "y": 1, "s": "b"}]
    columns = {"x": [[1, 2], [3]], "y": np.array([0, 1]), "s": ["a", "b"]}
    found, wanted = collate(columns), collate(rows)
    assert found.keys() == wanted.keys()
    for key in found:
        np.testing.assert_array_equal(found[key], wanted[key])
    with pytest.raises(TypeError, match="expected a list of samples, or columns of many; 'y' is int"):
        collate(rows[0])
    with pytest.raises(ValueError, match=r"columns have a value for each sample, .*'x': 2, 'y': 1"):
        collate({"x": [[1], [2]], "y": [0]})
    with pytest.raises(ValueError, match="samples: a batch needs at least one"):
        collate({"x": []})


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_their_rows(library):
    frames = pytest.importorskip(library)
    columns = {"x": [[1, 2], [3], []], "y": [0, 1, 2], "s": ["a", "b", "c"]}
    found, wanted = collate(frames.DataFrame(columns)), collate(columns)
    assert found.keys() == wanted.keys()
    for key in found:
        np.testing.assert_array_equal(found[key], wanted[key])
    packed = pack(frames.DataFrame({"x": columns["x"]}), 3)
    assert packed["x"].tolist() == [[1, 2, 3]]


@pytest.mark.parametrize("values", [["a", "bc"], [np.str_("a"), np.str_("bc")], [b"a", b"bc"], [None, "a"]])
def test_text_stays_a_list(values):
    for found in (collate(values), collate([{"x": value} for value in values])["x"]):
        assert found == values
        assert isinstance(found, list)


@pytest.mark.parametrize("values", [[[], ["a"]], [[[]], [["a"], []]], [[[], ["a"]], []], [[], None]])
def test_lists_without_items_do_not_say_that_others_hold_numbers(values):
    assert collate([{"x": value} for value in values])["x"] == values
    assert collate([{"x": value} for value in reversed(values)])["x"] == values[::-1]


@pytest.mark.parametrize("values", [[None, 1], ["a", 1.5], [None, [1, 2]], ["a", np.ones(2)]])
def test_numbers_in_some_samples_are_refused_in_any_order(values):
    said = r"samples\[0\]\['x'\]: is null" if values[0] is None else r"samples\[1\]\['x'\]: has "
    with pytest.raises((TypeError, ValueError), match=said):
        collate([{"x": value} for value in values])
    said = r"samples\[1\]\['x'\]: is null" if values[0] is None else r"samples(\[1\])?\['x'\]: "
    with pytest.raises((TypeError, ValueError), match=said):
        collate([{"x": value} for value in reversed(values)])


def test_keys_are_those_of_the_batch():
    samples = [{"x": [1, 2], "y": 0, "more": 1}, {"x": [3], "y": 1}]
    assert list(Collate(keys=["y", "x"], masks=False)(samples)) == ["y", "x"]
    assert list(Collate(keys=["y", "x"], names={"x": "input_ids"}, framework="numpy")(samples)) == [
        "y",
        "input_ids",
    ]
    for how in (Collate(keys=["y", "x"]), Collate(keys=["y", "x"], attention_mask=True)):
        with pytest.raises(ValueError, match=r"samples\[1\]: .*'y' is missing"):
            how([samples[0], {"x": [3]}])
        with pytest.raises(KeyError, match="keys: 'y' is not one of"):
            how([{"x": [3]}, samples[0]])
    with pytest.raises(TypeError, match=r"keys: samples\[0\] is list"):
        Collate(keys=["x"])([[1]])
    with pytest.raises(TypeError, match="keys: expected a list of keys, got str"):
        Collate(keys="x")
    ds = Dataset(Joint({"x": [[1, 2], [3]], "y": [0, 1]}))
    for rows in (ds.__getitems__([1]), [ds[1]]):
        assert list(Collate(keys=["x"], masks=False)(rows)) == ["x"]
        assert Collate(keys=["x"], labels="x", framework="numpy")(rows).keys() == {"x", "labels"}


def test_arrays_of_objects_are_lists():
    nested = np.array([np.array([1]), np.array([2, 3])], dtype=object)
    text, alone = np.array(["a", "b"], dtype=object), np.array({"u": 1}, dtype=object)
    batch = collate([{"x": nested, "s": text, "o": alone}, {"x": [[4]], "s": text[:0], "o": alone}])
    assert batch["x"].tolist() == [[[1, 0], [2, 3]], [[4, 0], [0, 0]]]
    assert (batch["s"], batch["o"]["u"].tolist()) == ([["a", "b"], []], [1, 1])
    with pytest.raises(ValueError, match="give nested lists as lists, as `datasets` do without a format"):
        collate([{"x": nested}, {"x": np.array([[4]])}])


def test_words_of_other_libraries_are_pointed_to_ours():
    for given, ours in (("pad_token_id", "fill"), ("return_tensors", "framework"), ("max_length", "max_len")):
        with pytest.raises(TypeError, match=f"no option '{given}'; did you mean '{ours}'"):
            Collate(**{given: 1})
    for layout, text in (
        ("packed", "data.pack fills rows"),
        ("data", "dims.DataSpecs"),
        ("flat", "got 'flat'"),
    ):
        with pytest.raises(ValueError, match=f"layout: expected 'padded' or 'ragged'.*{text}"):
            Collate(layout=layout)


def test_a_sample_without_a_key_is_named():
    with pytest.raises(ValueError, match=r"samples\[1\]: has \['x'\], .*; 'y' is missing"):
        collate([{"x": [1], "y": 2}, {"x": [1]}])


@pytest.mark.parametrize("rows", [[[1, 2], [3]], [[1, 2], [3, 4]], [[], []]])
def test_lists_of_one_length_are_as_lists_of_several(rows):
    samples = [{"x": row} for row in rows]
    longest = max(map(len, rows))
    for fill in (0, 7):
        batch = Collate(fill=fill, dtype="i4")(samples)
        assert batch["x"].tolist() == [row + [fill] * (longest - len(row)) for row in rows]
        assert batch["x"].dtype == np.int32
        lengths = [[len(row)] for row in rows]
        np.testing.assert_array_equal(batch["x/mask"], np.arange(longest) < lengths, strict=True)
    assert Collate(max_len=1, masks=False)(samples)["x"].tolist() == [row[:1] for row in rows]
    assert Collate(pad_to_multiple_of=2, masks=False)(samples)["x"].shape == (2, longest)
    assert Collate(pad_to_multiple_of=3, masks=False)(samples)["x"].shape == (2, 3 * (longest > 0))
    with pytest.raises(ValueError, match=r"samples\['x'\]: fill: 1.5 does not fit int32"):
        Collate(fill=1.5, dtype="i4")(samples)


def test_columns_are_of_dicts_with_the_same_texts_as_keys_in_the_same_order():
    made = "".join(["a", "b"])  # equal to the key of the first, and another object
    columns = _core.columns([{"ab": 1, "c": [2]}, {made: "x", "c": None}])
    assert columns == {"ab": [1, "x"], "c": [[2], None]}
    assert _core.columns([{}, {}]) == {}
    others = [{"c": 1, "ab": 1}, {"ab": 1}, {"ab": 1, "d": 1}, {"ab": 1, 2: 1}, [1, 2], None]
    assert [_core.columns([{"ab": 1, "c": 1}, other]) for other in others] == [None] * len(others)
    assert _core.columns([{2: 1}]) is _core.columns([]) is None
    with pytest.raises(TypeError, match="samples: expected a list, got tuple"):
        _core.columns(({},))
    assert collate([{"x": 1, "y": 2}, {"y": 3, "x": 4}])["x"].tolist() == [1, 4]
    assert collate([{1: 1, "y": 2}, {1: 3, "y": 4}])[1].tolist() == [1, 3]


@pytest.mark.parametrize("other", [None, {"p": 1}, "a", 5, [1, [2]]], ids=repr)
@pytest.mark.parametrize("how", [{}, {"layout": "ragged", "max_len": 1}], ids=["padded", "ragged"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", None])
def test_what_is_no_array_among_arrays_is_named(other, how, dtype):
    if dtype is None:
        first = np.ones(2)
    else:
        torch = pytest.importorskip("torch")
        first = torch.ones(2, dtype=getattr(torch, dtype))
    said = r"samples\[1\]\['x'\]: is null" if other is None else r"samples\[1\]\['x'\].*: expected"
    with pytest.raises((TypeError, ValueError), match=said):
        Collate(**how)([{"x": first}, {"x": other}])


@pytest.mark.parametrize("keys", [["x", "x/mask"], ["x/mask", "x"]], ids=["before", "behind"])
def test_a_key_that_is_called_as_a_mask_is_refused(keys):
    sample = {key: [1, 2] for key in keys}
    with pytest.raises(ValueError, match="samples: 'x/mask' is a key, but also the name of the mask of 'x'"):
        collate([sample])
    with pytest.raises(ValueError, match=r"samples\['in'\]: 'x/mask' is a key"):
        collate([{"in": sample}])
    assert Collate(masks=False)([sample]).keys() == sample.keys()
    assert Collate(layout="ragged", keys=["x"])([sample])["x"].tolist() == [1, 2]


class OnlyStream:
    """A library's object that shows itself to Arrow, and has nothing else."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self.data.__arrow_c_stream__(requested_schema)


def test_what_shows_itself_to_arrow_is_collated_by_rows():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"x": [[1, 2], [], [3]], "n": [4.5, 5.5, 6.5]})
    expected = Collate()(table)
    for same in (OnlyStream(table), table.to_batches()[0]):
        assert_alike(Collate()(same), expected)
    lists = table.column("x")
    for same in (lists, lists.combine_chunks(), OnlyStream(lists)):
        assert_alike(
            dict(zip("xm", Collate()(same), strict=True)), {"x": expected["x"], "m": expected["x/mask"]}
        )
    with pytest.raises(ValueError, match=r"samples\[1\].*null"):
        Collate()(OnlyStream(pa.chunked_array([[[1], [None]]])))


def test_arrays_of_other_libraries_are_collated_by_rows():
    expected = Collate()([[1, 2], [], [3]])
    for name, make in (("polars", "Series"), ("awkward", "Array")):
        module = pytest.importorskip(name)
        given = getattr(module, make)([[1, 2], [], [3]])
        assert_alike(dict(enumerate(Collate()(given))), dict(enumerate(expected)))


@pytest.mark.parametrize("framework", ["numpy", "torch"])
def test_raggeds_in_samples_are_padded_as_lists_are(framework):
    if framework == "torch":
        pytest.importorskip("torch")
    lists = [[[1, 2], [], [3]], [[]], [[4]]]
    raggeds = [Ragged.from_list(rows, dtype="i8") for rows in lists]
    collate_all = Collate(framework=framework)
    assert_alike(*(dict(enumerate(collate_all(rows))) for rows in (raggeds, lists)))
    assert_alike(*(collate_all([{"x": one} for one in rows]) for rows in (raggeds, lists)))
    deep = [Ragged.from_list([rows, rows], dtype="i8") for rows in lists]
    assert_alike(*(dict(enumerate(collate_all(rows))) for rows in (deep, [[rows, rows] for rows in lists])))


def assert_alike(ours, expected):
    assert ours.keys() == expected.keys()
    for key in expected:
        assert ours[key].dtype == expected[key].dtype
        np.testing.assert_array_equal(np.asarray(ours[key]), np.asarray(expected[key]))
