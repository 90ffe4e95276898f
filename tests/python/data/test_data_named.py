"""Batches of a dataset as Data: every level is a Dim, keys share them, and all batches have the same ones."""

import pickle

import numpy as np
import pytest
import varlen as vl
from varlen.dims import DataDict, DataSpec, DataSpecs, batch_dim

ROWS = {
    "id": [7, 8, 9],
    "time": [[0.5, 2.0], [], [5.5]],
    "code": [[[7, 8], [9]], [], [[1]]],
    "place": [[np.array([1.0, 2.0]), np.array([3.0, 4.0])], [], [np.array([5.0, 6.0])]],
    "word": [["the", "cat"], [], ["the"]],
}
VISIT, CODE = vl.Dim("visit"), vl.Dim("code")
DIMS = [batch_dim, VISIT, CODE]


@pytest.fixture
def ds():
    return vl.data.Dataset(
        vl.JointNestedRaggedTensorDict(ROWS, trailing_dims={"place": 1}, schema={"word": str})
    )


def test_batch_has_a_dim_for_each_level_that_keys_share(ds):
    batch = ds.batch([2, 0], layout="named", dims=DIMS)
    assert isinstance(batch, DataDict)
    assert batch["id"].to_list() == [9, 7]
    assert batch["time"].dims == (batch_dim, VISIT)
    assert batch["code"].dims == (batch_dim, VISIT, CODE)
    assert batch["code"].to_list() == [[[1]], [[7, 8], [9]]]
    assert batch["place"].to_list() == [[[5, 6]], [[1, 2], [3, 4]]]
    assert batch["time"].axis(VISIT).level is batch["code"].axis(VISIT).level
    labels = batch["word"].vocab.labels
    assert [[labels[i] for i in row] for row in batch["word"].to_list()] == [["the"], ["the", "cat"]]
    assert sorted(batch) == sorted(ROWS)


def test_batch_is_the_ragged_batch(ds):
    rows = np.array([1, 2, 0, 2])
    plain = ds.batch(rows, layout="ragged")
    for key, data in ds.batch(rows, layout="named").items():
        assert data.values.tolist() == plain[key].tolist()
        assert data.values.dtype == plain[key].dtype


def test_all_batches_have_the_same_dims(ds):
    one, other = ds.batch([0], layout="named"), ds.batch([1, 2], layout="named", max_len=1)
    for key in one:
        assert one[key].dims == other[key].dims
        assert one[key].sparse_dim == other[key].sparse_dim
    assert [dim.name for dim in one["code"].dims] == ["batch", "dim1", "dim2"]
    schema = ds.data_schema()
    schema.check(one)
    assert ds.data_schema(DIMS) is ds.data_schema(tuple(DIMS))
    first = ds.batch([0], layout="named", dims=DIMS)
    for max_len in range(20):  # more options than are kept
        ds.batch([0], layout="named", max_len=max_len)
    assert ds.batch([0], layout="named", dims=DIMS)["place"].dims == first["place"].dims


def test_tensors_are_data_with_their_gradients(ds):
    torch = pytest.importorskip("torch")
    batch = ds.batch([0, 2], layout="named", framework="torch", dims=DIMS)
    time = batch["time"]
    assert isinstance(time.values, torch.Tensor)
    weight = torch.tensor([2.0], requires_grad=True)
    (time.apply(lambda x: x * weight) * batch["code"].sum(CODE)).sum("*").values.backward()
    assert weight.grad.item() == 0.5 * 15 + 2.0 * 9 + 5.5


def test_schema_names_dims_dtypes_and_classes(ds):
    words = vl.dims.FeatureDim("words", 3)
    schema = DataSpecs(
        {
            **ds.data_schema(DIMS),
            "word": DataSpec([batch_dim, VISIT], "int64", sparse_dim=words, available_for_inference=False),
        }
    )
    batch = ds.batch([2, 0], layout="named", dims=schema)
    assert batch["word"].sparse_dim == words
    assert batch["word"].dtype == np.int64
    assert "word" not in batch.for_inference()
    with pytest.raises(KeyError, match="the schema has no 'code'"):
        ds.batch([0], layout="named", keys=["code"], dims=DataSpecs({"id": schema["id"]}))
    wrong = DataSpecs({**schema, "code": DataSpec([batch_dim, VISIT])})
    with pytest.raises(ValueError, match="'code' has 3 dims of rows and levels and 0 trailing dims"):
        ds.batch([0], layout="named", dims=wrong)


def _batches(ds, **options):
    """The batch of two rows in each way that there is to one."""
    yield ds.batch([2, 0], layout="named", **options)
    yield ds.collator(layout="named", **options)([2, 0])
    yield ds.collator(layout="named", **options)([ds[2], ds[0]])
    yield from ds.epoch(batches=[[2, 0]], layout="named", **options)


def test_keys_of_the_schema_are_those_of_the_batch(ds, tmp_path):
    schema = ds.data_schema(DIMS)
    some = DataSpecs({key: schema[key] for key in ("time", "id")})
    for batch in _batches(ds, dims=some):
        assert set(batch) == {"time", "id"}
        assert batch["time"].to_list() == [[5.5], [0.5, 2.0]]
        some.check(batch)
    for batch in _batches(ds, dims=some, keys=["id"]):
        assert list(batch) == ["id"]
    for batch in _batches(ds, dims=DataSpecs({"id": schema["id"]}), flatten=True):
        assert list(batch) == ["id"]
    assert ds.data_schema(some) is some
    J = vl.JointNestedRaggedTensorDict(
        {"id": [7, 8], "time": [[0.5], [2.0, 1.0]], "code": [[[1]], [[2], []]]}
    )
    J.save(tmp_path / "rows.nrt")
    for mmap in (True, False):
        batch = vl.open(tmp_path / "rows.nrt", mmap=mmap).batch([1], layout="named", dims=some)
        assert set(batch) == {"time", "id"}
        assert batch["time"].to_list() == [[2.0, 1.0]]


def test_key_of_the_schema_that_the_dataset_lacks_is_named(ds):
    schema = DataSpecs({"id": DataSpec([batch_dim]), "label": DataSpec([batch_dim], default=0)})
    text = "the schema has 'label', which is not one of .*'id'"
    for make in (ds.batch, lambda rows, **options: list(ds.epoch(1, **options))):
        with pytest.raises(KeyError, match=text):
            make([0], layout="named", dims=schema)
    with pytest.raises(KeyError, match=text):
        ds.collator(layout="named", dims=schema)
    with pytest.raises(KeyError, match=text):
        ds.data_schema(schema)
    assert list(ds.batch([0], layout="named", dims=schema, keys=["id"])) == ["id"]
    with pytest.raises(KeyError, match="keys: 'label' is not one of"):
        ds.batch([0], layout="named", dims=schema, keys=["label"])


@pytest.mark.parametrize("given", ["float64", np.float64, {"time": "f8"}, {"time": np.float64}, "of torch"])
def test_dtype_that_is_not_that_of_the_schema_is_named(ds, given):
    if given == "of torch":
        given = pytest.importorskip("torch").float64
    schema = DataSpecs({"time": DataSpec([batch_dim, VISIT], "float32"), "id": DataSpec([batch_dim])})
    text = "dtype of 'time': asked for float64, but the schema says float32"
    with pytest.raises(ValueError, match=text):
        ds.batch([0], layout="named", dims=schema, dtype=given)
    with pytest.raises(ValueError, match=text):
        ds.collator(layout="named", dims=schema, dtype=given)


def test_dtype_stands_beside_a_schema_that_says_none(ds):
    schema = DataSpecs({"time": DataSpec([batch_dim, VISIT], "float32"), "id": DataSpec([batch_dim])})
    batch = ds.batch([0], layout="named", dims=schema, dtype={"id": "int32", "time": ">f4", "code": "int8"})
    assert batch["id"].dtype == np.int32
    assert batch["time"].dtype == np.float32
    assert ds.batch([0], layout="named", dims=schema, keys=["id"], dtype="float64")["id"].dtype == np.float64


def test_fill_is_for_keys_that_a_prefix_lacks(ds, tmp_path):
    J = vl.JointNestedRaggedTensorDict({"time": [[0.5], [2.0, 1.0]], "code": [[3], [4, 5]]})
    J.save(tmp_path / "rows.nrt")
    for mmap in (True, False):
        rows = vl.open(tmp_path / "rows.nrt", mmap=mmap)
        batch = rows.batch([1, 0], layout="named", prefix={"code": [9]}, fill={"time": 7}, max_len=2)
        assert batch["time"].to_list() == [[7.0, 2.0], [7.0, 0.5]]
        assert batch["code"].to_list() == [[9, 4], [9, 3]]


def test_what_stands_beside_keys_is_data(ds):
    options = {"windows": True, "lengths": True, "parts": True, "positions": True, "max_len": 1}
    batch = ds.batch([0, 1, 2], layout="named", dims=DIMS, window="to_end", nan=0.0, **options)
    assert batch["window/start"].to_list() == [1, 0, 0]
    assert batch["window/end"].dims == (batch_dim,)
    assert batch["dim1/lengths"].to_list() == [1, 0, 1]
    assert batch["dim1/part"].to_list() == [[2], [], [2]]
    assert batch["dim1/positions"].dims == (batch_dim, VISIT)
    assert batch["time/mask"].to_list() == [[True], [], [True]]
    assert batch["place/mask"].dims == batch["place"].dims


def test_one_level_in_place_of_all(ds):
    batch = ds.batch([0, 2], layout="named", flatten=True, keys=["code", "time"], fill_mode="repeat")
    assert batch["code"].to_list() == [[7, 8, 9], [1]]
    assert batch["time"].to_list() == [[0.5, 0.5, 2.0], [5.5]]
    assert batch["time"].dims == batch["code"].dims
    assert batch["code"].dims[1] != ds.batch([0], layout="named")["code"].dims[1]


def test_rows_that_are_not_mapped_are_the_same(tmp_path):
    J = vl.JointNestedRaggedTensorDict(ROWS, trailing_dims={"place": 1}, schema={"word": str})
    J.save(tmp_path / "rows.nrt")
    mapped, read = (vl.open(tmp_path / "rows.nrt", mmap=mmap) for mmap in (True, False))
    one, other = (ds.batch([2, 0], layout="named", max_len=1, windows=True) for ds in (mapped, read))
    assert list(one) == list(other)
    for key in one:
        assert one[key].to_list() == other[key].to_list()


@pytest.mark.parametrize("workers", [0, 2])
def test_loader_gives_data_of_the_same_dims(ds, workers):
    loaders = pytest.importorskip("torch.utils.data")
    collate = ds.collator(layout="named", dims=DIMS, framework="torch")
    loader = loaders.DataLoader(ds, batch_size=2, collate_fn=collate, num_workers=workers)
    batches = list(loader)
    assert [batch["time"].to_list() for batch in batches] == [[[0.5, 2.0], []], [[5.5]]]
    schema = ds.data_schema(DIMS)
    for batch in batches:
        schema.check(batch)
        assert batch["place"].dims == schema["place"].dims
    again = pickle.loads(pickle.dumps(collate))
    assert again([0])["place"].dims == schema["place"].dims
    assert again([ds[2], ds[0]])["code"].to_list() == [[[1]], [[7, 8], [9]]]


@pytest.mark.parametrize("prefetch", [0, 2])
def test_epoch_gives_data(ds, prefetch):
    batches = ds.epoch(2, layout="named", prefetch=prefetch)
    assert [batch["code"].to_list() for batch in batches] == [[[[7, 8], [9]], []], [[[1]]]]


def test_batch_of_no_rows_is_data(ds):
    batch = ds.batch([], layout="named")
    assert batch["code"].to_list() == []
    assert batch["place"].dims[-1].size == 2


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"dims": DIMS}, ValueError, "dims: only named batches have dims"),
        (
            {"layout": "named", "pad_to": 3},
            ValueError,
            "pad_to: does not apply: a ragged batch has no padding",
        ),
        ({"layout": "named", "padding_side": "left"}, ValueError, "padding_side: Data have no padding"),
        ({"layout": "named", "fill": 7}, ValueError, "fill: Data have no padding"),
        ({"layout": "named", "fill": {"time": 7}}, ValueError, "fill: Data have no padding"),
        (
            {"layout": "named", "fill_mode": "repeat"},
            ValueError,
            "fill_mode: 'repeat' needs flatten=True",
        ),
        ({"layout": "named", "cu_seqlens": True}, ValueError, "cu_seqlens: named batches keep their lengths"),
        ({"layout": "named", "dims": DIMS[:2]}, ValueError, "expected 3, .* got 2"),
        ({"layout": "named", "dims": ["a", "b", "c"]}, TypeError, "expected a Dim"),
        (
            {"layout": "named", "framework": "cupy"},
            ValueError,
            "framework: expected 'numpy' or 'torch' for named batches",
        ),
        (
            {"layout": "dense"},
            ValueError,
            "layout: expected 'padded', 'ragged', 'packed' or 'named', got 'dense'$",
        ),
        ({"layout": "data"}, ValueError, "layout: expected .*, got 'data'; 'data' is now called 'named'"),
    ],
)
def test_options_that_do_not_fit_are_refused(ds, options, error, text):
    with pytest.raises(error, match=text):
        ds.batch([0], **options)


def test_data_are_made_on_the_host_by_workers(ds):
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match="device: workers make Data on the host"):
        ds.collator(layout="named", device="cuda")
    with pytest.raises(ValueError, match="DataSpecs makes Data of samples"):
        vl.data.Collate(layout="named")
