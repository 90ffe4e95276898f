"""Data by name: what keys have, how samples become a batch, joint dicts, files, pickles."""

import copy
import json
import pickle

import numpy as np
import pytest
import varlen as vl
from varlen import io
from varlen.dims import (
    DataDict,
    DataSpec,
    DataSpecs,
    FeatureDim,
    LengthMismatchError,
    OutShapeError,
    SpatialDim,
    batch_dim,
)

TIME, TARGET = SpatialDim("time"), SpatialDim("target")
FEATURE, WORDS = FeatureDim("feature", 2), FeatureDim("words", vocab=["a", "b", "c", "d"])
SPECS = {
    "data": {"dims": [batch_dim, TIME, FEATURE], "dtype": "float32"},
    "mask": {"dims": [TIME, batch_dim], "dtype": "bool", "default": None},
    "classes": {"dims": [batch_dim, TARGET], "sparse_dim": WORDS, "available_for_inference": False},
    "weight": {"dims": [batch_dim], "dtype": "float64", "default": 1.0},
}
KINDS = [np.asarray, lambda array: pytest.importorskip("torch").as_tensor(array)]
SAMPLES = [
    {"data": [[0, 1], [2, 3]], "mask": [True, False], "classes": [3, 0, 1]},
    {"data": np.zeros((0, 2)), "mask": np.zeros(0, bool), "classes": [], "weight": 0.5},
    {"data": [[4, 5]], "mask": [True], "classes": [2]},
]


def batch_of(samples=SAMPLES):
    return DataSpecs(SPECS).collate(samples)


def test_batch_of_samples_has_their_values_by_the_dims_of_the_schema():
    batch = batch_of()
    assert list(batch) == list(SPECS)
    assert batch["data"].dtype == np.float32
    assert batch["data"].to_list() == [[[0, 1], [2, 3]], [], [[4, 5]]]
    assert batch["mask"].dims == (TIME, batch_dim)
    assert batch["mask"].batch_major().to_list() == [[True, False], [], [True]]
    assert batch["classes"].to_list() == [[3, 0, 1], [], [2]]
    assert batch["classes"].vocab.labels == ("a", "b", "c", "d")
    assert batch["weight"].to_list() == [1.0, 0.5, 1.0]
    assert batch["data"].name == "data"


def test_dims_of_several_keys_are_bound_once():
    batch = batch_of()
    time = batch["data"].axis(TIME)
    assert batch["mask"].axis(TIME).level is time.level
    assert batch["data"].axis("B").level is batch["classes"].axis("B").level
    assert TIME.lengths is None  # the schema serves the next batch
    assert batch_of(SAMPLES[:1])["data"].lengths(TIME).tolist() == [2]


@pytest.mark.parametrize("kind", KINDS, ids=["arrays", "tensors"])
def test_batch_of_arrays_and_tensors_is_that_of_lists(kind):
    wanted = batch_of()
    samples = [{key: kind(np.array(value)) for key, value in sample.items()} for sample in SAMPLES]
    samples[1]["data"] = kind(np.zeros((0, 2)))
    samples[1]["classes"] = kind(np.zeros(0, np.int64))
    for key, data in batch_of(samples).items():
        assert data.values.tolist() == wanted[key].values.tolist()
        assert str(data.dtype).endswith(str(wanted[key].dtype))


def test_lengths_that_differ_among_keys_name_key_and_row():
    samples = [SAMPLES[0], {**SAMPLES[2], "mask": [True, True]}]
    with pytest.raises(LengthMismatchError, match="'mask': 'time' is 1 long in row 1, but 2 are given"):
        batch_of(samples)


def test_missing_key_of_a_sample_is_named():
    with pytest.raises(KeyError, match=r"samples\[1\]: 'data' is missing"):
        batch_of([SAMPLES[0], {"classes": []}])


def test_integers_outside_the_classes_are_refused():
    with pytest.raises(ValueError, match=r"'classes': values: 4 at position 3 is no position of words\(4\)"):
        batch_of([SAMPLES[0], {**SAMPLES[2], "classes": [4]}])


def test_batch_of_no_samples_has_no_rows():
    batch = batch_of([])
    assert batch["data"].to_list() == []
    assert batch["data"].dims[2] == FEATURE


@pytest.mark.parametrize("kind", KINDS, ids=["arrays", "tensors"])
def test_batch_of_rectangles_has_two_ragged_dims(kind):
    spec = DataSpec([batch_dim, TIME, TARGET, FEATURE])
    shapes = [(2, 1), (0, 3), (1, 2)]
    arrays = [np.arange(n * m * 2.0).reshape(n, m, 2) for n, m in shapes]
    batch = DataSpecs({"x": spec}).collate([{"x": kind(array)} for array in arrays])
    assert batch["x"].to_list() == [array.tolist() for array in arrays]
    assert batch["x"].lengths(TIME).tolist() == [2, 0, 1]
    assert batch["x"].lengths(TARGET).tolist() == [1, 3, 2]  # over the batch, not over the time
    channels_first = DataSpecs({"x": DataSpec([batch_dim, FEATURE, TIME])})
    arrays = [np.arange(4.0).reshape(2, 2), np.arange(2.0).reshape(2, 1)]
    data = channels_first.collate([{"x": kind(array)} for array in arrays])["x"]
    assert data.to_padded().tolist() == [[[0, 1], [2, 3]], [[0, 0], [1, 0]]]


def test_default_stands_beside_arrays():
    torch = pytest.importorskip("torch")
    schema = DataSpecs({"x": DataSpec([batch_dim, TIME, FEATURE], default=[])})
    assert schema.collate([{}, {"x": torch.ones(1, 2)}])["x"].to_list() == [[], [[1, 1]]]
    assert schema.collate([{}, {"x": np.ones((1, 2))}])["x"].to_list() == [[], [[1, 1]]]


def test_classes_of_no_labels_are_integers():
    schema = DataSpecs({"y": DataSpec([batch_dim, TARGET], sparse_dim=WORDS)})
    assert schema.collate([{"y": []}, {"y": []}])["y"].dtype == np.int64


def test_inference_has_what_needs_no_labels():
    batch = batch_of()
    assert list(batch.for_inference()) == ["data", "mask", "weight"]
    assert list(DataSpecs(SPECS).for_inference()) == ["data", "mask", "weight"]
    assert list(DataSpecs.of(batch).for_inference()) == ["data", "mask", "weight"]


def test_schema_of_a_batch_is_the_one_it_was_made_by():
    batch = batch_of()
    schema = DataSpecs(SPECS)
    for key, spec in DataSpecs.of(batch).items():
        assert spec.dims == schema[key].dims
        assert spec.sparse_dim == schema[key].sparse_dim
    schema.check(batch)
    assert set(batch.dims) == set(schema.dims)


def test_schema_refuses_other_data():
    batch = batch_of()
    schema = DataSpecs(SPECS)
    with pytest.raises(KeyError, match="'mask' is missing"):
        schema.check({"data": batch["data"]})
    with pytest.raises(OutShapeError, match=r"'data': .*'target' is not expected"):
        schema.check(batch | {"data": batch["classes"]})
    with pytest.raises(TypeError, match="'data': expected float32, got float64"):
        schema.check(batch | {"data": batch["data"].cast("float64")})


@pytest.mark.parametrize(
    ("spec", "error", "text"),
    [
        ({"dims": ["time"]}, TypeError, "expected a Dim"),
        ({"dims": [TIME, TIME]}, ValueError, "'time' is twice"),
        ({"dims": [TIME], "time_dim": TARGET}, ValueError, "time_dim"),
        ({"dims": [TIME], "dtype": "nonsense"}, TypeError, "expected a NumPy dtype"),
        ({"dims": [TIME], "shape": 3}, TypeError, "there is no 'shape'"),
        ({"dtype": "int32"}, TypeError, "expected dims"),
        (3, TypeError, "expected a dict"),
    ],
)
def test_bad_spec_is_named(spec, error, text):
    with pytest.raises(error, match=rf"specs\['x'\].*{text}"):
        DataSpecs({"x": spec})


def test_origin_extern_data_is_taken_as_it_is_written():
    schema = DataSpecs({"data": {"dim_tags": [batch_dim, TIME, FEATURE]}})
    assert schema["data"].dims == (batch_dim, TIME, FEATURE)


def test_keys_of_other_lengths_are_refused():
    one = vl.Data(np.arange(3), [batch_dim, TIME.bind([2, 1])])
    other = vl.Data(np.arange(3), [batch_dim, TIME.bind([1, 2])])
    with pytest.raises(LengthMismatchError, match="'time' of 'x' and of 'y'"):
        DataDict({"x": one, "y": other})
    with pytest.raises(LengthMismatchError, match="batch"):
        DataDict({"x": vl.Data(np.arange(3), [batch_dim]), "y": vl.Data(np.arange(2), [batch_dim])})
    with pytest.raises(TypeError, match=r"data\['x'\]: expected a Data"):
        DataDict({"x": np.zeros(2)})


def test_batch_is_a_mapping_that_makes_others():
    batch = batch_of()
    more = batch | {"twice": batch["data"] * 2}
    assert len(more) == 5
    assert list(batch) == list(SPECS)
    assert "twice" in more
    assert "data: [batch(3), time(0 to 2), feature(2)] float32" in repr(more)
    assert "<b>twice</b>" in more._repr_html_()


# Joint dicts.

JOINT = vl.JointNestedRaggedTensorDict(
    {
        "id": [7, 8, 9],
        "time": [[0.5, 2.0], [], [5.5]],
        "code": [[[7, 8], [9]], [], [[1]]],
        "place": [[np.array([1.0, 2.0]), np.array([3.0, 4.0])], [], [np.array([5.0, 6.0])]],
        "word": [["the", "cat"], [], ["the"]],
    },
    trailing_dims={"place": 1},
    schema={"word": str},
)


def test_levels_of_a_joint_dict_are_dims_that_its_keys_share():
    visit, code = vl.Dim("visit"), vl.Dim("code")
    batch = DataDict.from_joint(JOINT, [batch_dim, visit, code])
    assert batch["id"].dims == (batch_dim,)
    assert batch["code"].dims == (batch_dim, visit, code)
    assert batch["code"].to_list() == [[[7, 8], [9]], [], [[1]]]
    assert batch["place"].dims[:2] == (batch_dim, visit)
    assert batch["place"].dims[2].size == 2
    assert batch["word"].vocab.labels == ("[PAD]", "the", "cat")
    assert batch["time"].axis(visit).level is batch["code"].axis(visit).level
    assert np.shares_memory(batch["time"].values, JOINT.__varlen_joint__().values("time"))
    assert (batch["time"] * batch["code"].sum(code)).to_list() == [[7.5, 18.0], [], [5.5]]


def test_data_is_a_joint_dict_again():
    batch = DataDict.from_joint(JOINT)
    again = vl.JointNestedRaggedTensorDict.from_data(batch)
    assert again == JOINT
    assert vl.data.Dataset(batch).batch([2, 0], layout="ragged")["time"].tolist() == [5.5, 0.5, 2.0]


def test_joint_dict_of_tensors_is_data():
    torch = pytest.importorskip("torch")
    arrays = {"x": vl.Ragged(torch.arange(3), [2, 1]), "id": torch.tensor([7, 8])}
    batch = DataDict.from_joint(arrays)
    assert batch["x"].to_list() == [[0, 1], [2]]
    assert batch["id"].to_list() == [7, 8]


def test_one_key_of_a_joint_dict_is_data():
    assert vl.Data.from_joint(JOINT, "time").to_list() == [[0.5, 2.0], [], [5.5]]
    with pytest.raises(KeyError, match="'nothing' is not one of"):
        vl.Data.from_joint(JOINT, "nothing")


def test_joint_dict_needs_a_dim_for_each_level():
    with pytest.raises(ValueError, match=r"expected 3, the rows' and one a level, got \[batch\]"):
        DataDict.from_joint(JOINT, [batch_dim])
    with pytest.raises(TypeError, match="expected a joint dict"):
        DataDict.from_joint(3)


def test_dims_that_do_not_nest_are_no_joint_dict():
    one = vl.Data(np.arange(3), [batch_dim, TIME.bind([2, 1])])
    other = vl.Data(np.arange(3), [batch_dim, TARGET.bind([1, 2])])
    with pytest.raises(ValueError, match="'y': 'target' has other lengths than 'time'"):
        vl.JointNestedRaggedTensorDict.from_data({"x": one, "y": other})


# Files and pickles.


def assert_same(one, other):
    assert list(one) == list(other)
    for key, data in one.items():
        assert other[key].values.tolist() == data.values.tolist()
        assert other[key].dtype == data.dtype
        assert other[key].dims == data.dims
        assert repr(other[key]) == repr(data)


def test_file_gives_back_data_dims_and_facts(tmp_path):
    torch = pytest.importorskip("torch")
    batch = batch_of()
    longer = batch["data"].axis(TIME) + 1
    batch |= {"next": vl.Data(np.arange(6.0), [batch_dim, longer])}
    path = tmp_path / "batch.safetensors"
    batch.save(path)
    again = DataDict.load(path)
    assert_same(batch, again)
    time = again["data"].axis(TIME)
    assert again["mask"].axis(TIME).level is time.level
    assert not again["data"].values.flags.writeable
    other = tmp_path / "other.safetensors"
    batch_of(SAMPLES[:1]).save(other)
    assert DataDict.load(other)["data"].dims == again["data"].dims  # equal across files
    assert again.torch()["data"].values.dtype == torch.float32


def test_file_is_read_by_others(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "batch.safetensors"
    batch_of().save(path)
    assert safetensors.load_file(path)["data"].tolist() == [[0, 1], [2, 3], [4, 5]]


def test_file_keeps_dtypes_that_numpy_lacks_and_times(tmp_path):
    torch = pytest.importorskip("torch")
    two = vl.Dim("two", 2)
    batch = DataDict(
        {
            "half": vl.Data(torch.tensor([1.5, 2.5], dtype=torch.bfloat16), [two]),
            "when": vl.Data(np.array(["2020-01-01", "NaT"], "M8[s]"), [two]),
            "number": vl.Data(np.array(3.0), []),
        }
    )
    path = tmp_path / "batch.safetensors"
    batch.save(path)
    again = DataDict.load(path)
    assert again["half"].values.dtype == torch.bfloat16
    assert again["half"].to_list() == [1.5, 2.5]
    assert again["when"].dtype == np.dtype("M8[s]")
    assert again["when"].values[0] == batch["when"].values[0]
    assert again["number"].item() == 3.0


def test_key_of_a_joint_file_is_refused(tmp_path):
    batch = DataDict({"dim1/x": vl.Data(np.zeros(2), [vl.Dim("two", 2)])})
    with pytest.raises(ValueError, match="'dim1/x': tensors of joint files are called so"):
        batch.save(tmp_path / "batch.safetensors")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda entries: entries["x"].update(dims=[0, 7]),
        lambda entries: entries["x"].update(dims=[0]),
        lambda entries: entries["x"].update(order=[1, 1]),
        lambda entries: entries["x"].update(dims=None),
        lambda entries: entries.update(y=entries["x"]),
        lambda entries: entries["x"].update(bits_of="nonsense"),
        lambda entries: entries["x"].update(sparse_dim=-1),
    ],
)
def test_damaged_file_is_refused(tmp_path, change):
    path = tmp_path / "batch.safetensors"
    data = vl.Data(np.arange(3), [batch_dim, TIME.bind([2, 1])])
    DataDict({"x": data}).save(path)
    metadata = dict(io.read_header(path).metadata)
    entries = json.loads(metadata["data"])
    change(entries)
    metadata = {"dims": metadata["dims"], "data": json.dumps(entries)}
    io.save(path, {"x": data.values}, metadata=metadata)
    with pytest.raises(io.FileFormatError, match=r"batch\.safetensors"):
        DataDict.load(path)


def test_file_without_dims_is_refused(tmp_path):
    io.save(tmp_path / "x", {"x": np.zeros(2)})
    with pytest.raises(io.FileFormatError, match="has no dims"):
        DataDict.load(tmp_path / "x")


@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_pickled_data_are_the_same(again):
    batch = batch_of()
    other = again(batch)
    assert_same(batch, other)
    assert other["data"].axis(TIME).level is other["mask"].axis(TIME).level
    padded = again(batch["data"].padded(-1, "left"))
    assert padded.storage == "padded"
    assert padded.values.tolist() == batch["data"].padded(-1, "left").values.tolist()
    plain = again(vl.Data(np.arange(2), [vl.Dim("two", 2)]))
    assert (plain + plain).to_list() == [0, 2]
    assert list(again(DataSpecs(SPECS))) == list(SPECS)


def test_batch_in_tensors_and_back():
    torch = pytest.importorskip("torch")
    batch = batch_of()
    there = batch.torch()
    assert isinstance(there["data"].values, torch.Tensor)
    assert there.device == "cpu"
    assert there.to("cpu") is there
    assert_same(batch, there.numpy())
    assert there.to("meta")["data"].device == "meta"
    with pytest.raises(TypeError):
        batch.to("cuda")


@pytest.mark.parametrize("dtype", ["float32", np.int64, np.dtype("bool")])
def test_values_are_cast_to_dtypes_by_their_name_in_both_libraries(dtype):
    pytest.importorskip("torch")
    x = vl.Data(np.array([0.0, 1.5, -2.5]), [batch_dim, TIME.bind([2, 1])])
    wanted = x.values.astype(dtype)
    assert x.cast(dtype).values.dtype == wanted.dtype
    assert x.torch().cast(dtype).values.tolist() == x.cast(dtype).values.tolist() == wanted.tolist()
    assert str(x.torch().cast(dtype).dtype) == f"torch.{wanted.dtype}"
