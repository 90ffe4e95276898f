"""Options of batches: declared once, remembered by their values, refused by their names."""

import inspect
import pickle

import numpy as np
import pytest
from varlen import _core, data
from varlen.data import (
    BatchSampler,
    BinPacking,
    Collate,
    Dataset,
    LengthBuckets,
    Loader,
    TokenBudget,
)
from varlen.data.model_inputs import ModelKeywords
from varlen.data.options import BatchKeywords, BatchOptions, PaddingKeywords
from varlen.data.sampler import ORDER, OrderKeywords
from varlen.joint import JointNestedRaggedTensorDict as Joint

J = Joint({"y": [1, 2], "t": [[1.5, 2.0], [3.0]], "code": [[7, 8], [9]]})


@pytest.fixture
def ds():
    return Dataset(J)


def test_signatures_show_every_option_with_its_default():
    shown = inspect.signature(Dataset.batch).parameters
    own = {"self", "rows", "start", "end", "seed", "epoch", "out"}
    assert set(shown) - own == set(BatchKeywords.__annotations__)
    assert set(PaddingKeywords.__annotations__) < set(BatchKeywords.__annotations__)
    for name, value in BatchOptions().values.items():
        assert shown[name].default == value
        assert shown[name].kind is inspect.Parameter.KEYWORD_ONLY
    shown = inspect.signature(Collate).parameters
    assert set(shown) == {"nulls", *PaddingKeywords.__annotations__, *ModelKeywords.__annotations__}
    assert shown["nulls"].default == "refuse"
    assert shown["cu_seqlens"].default is shown["attention_mask"].default is False


def test_samplers_and_loaders_show_and_take_the_keywords_of_order():
    for made in (
        BatchSampler,
        LengthBuckets,
        TokenBudget,
        BinPacking,
        data.Mix,
        Loader,
        data.IterableDataset,
    ):
        shown = inspect.signature(made).parameters
        assert {name: shown[name].default for name in ORDER} == ORDER, made
        assert shown["shuffle"].annotation == "bool"
    assert set(ORDER) == set(OrderKeywords.__annotations__)
    shown = inspect.signature(data.WeightedSampler).parameters
    assert {name: shown[name].default for name in ORDER} == ORDER
    for made in (BatchSampler, LengthBuckets, TokenBudget, BinPacking, data.WeightedSampler):
        with pytest.raises(TypeError, match="there is no option 'sed'; did you mean 'seed'"):
            made([3, 1], 2, sed=1)


@pytest.mark.parametrize(
    ("door", "text"),
    [
        (lambda ds: ds.batch([0], max_length=3), "there is no option 'max_length'; did you mean 'max_len'"),
        (lambda ds: ds.batch([0], pad_to_multiple=3), "'pad_to_multiple'; did you mean 'pad_to_multiple_of'"),
        (lambda ds: ds.collator(paddingside="left"), "'paddingside'; did you mean 'padding_side'"),
        (lambda ds: ds.epoch(2, window_="random"), "'window_'; did you mean 'window'"),
        (lambda ds: Collate(pad_to=3), "there is no option 'pad_to'"),
        (lambda ds: Collate(xyz=3), "there is no option 'xyz'$"),
    ],
)
def test_options_that_are_not_there_are_refused(ds, door, text):
    with pytest.raises(TypeError, match=text):
        door(ds)


def test_options_are_remembered_by_value(ds):
    fill, multiple, keys = {"code": 0}, [1], ["code"]
    assert ds.batch([0, 1], fill=fill, keys=keys)["code"].tolist() == [[7, 8], [9, 0]]
    fill["code"] = 5
    assert ds.batch([0, 1], fill=fill, keys=keys)["code"].tolist() == [[7, 8], [9, 5]]
    keys[0] = "y"
    del fill["code"]
    assert list(ds.batch([0, 1], fill=fill, keys=keys)) == ["y"]
    assert ds.batch([0, 1], pad_to_multiple_of=multiple)["code"].shape == (2, 2)
    multiple[0] = 3
    assert ds.batch([0, 1], pad_to_multiple_of=multiple)["code"].shape == (2, 3)
    row = np.array(4)
    assert ds.batch([1], fill=row, pad_to=2)["code"].tolist() == [[9, 4]]
    row[...] = 6
    assert ds.batch([1], fill=row, pad_to=2)["code"].tolist() == [[9, 6]]


def test_large_fills_are_compared_whole():
    rows, fill = np.ones((1, 3000), np.int64), np.zeros(3000, np.int64)
    ds = Dataset(_core.Joint(["x"], [1], [rows], [_core.Level([1])]))
    for value in (0, 5):
        fill[1500] = value
        assert ds.batch([0], fill={"x": fill}, pad_to=2)["x"][0, 1, 1500] == value


@pytest.mark.parametrize(
    "make", [float, np.float64, np.array, lambda x: {"t": x}], ids=["float", "float64", "array", "dict"]
)
def test_zero_is_not_minus_zero(ds, make):
    for zero, sign in ((0.0, False), (-0.0, True), (0.0, False)):
        batch = ds.batch([1], keys=["t"], fill=make(zero), pad_to=2)
        assert np.signbit(batch["t"][0, 1]) == sign


def test_equal_options_of_other_kinds_are_told_apart(ds):
    assert ds.batch([0], max_len=1)["t"].shape == (1, 1)
    with pytest.raises(TypeError, match="max_len: expected an int, got True"):
        ds.batch([0], max_len=True)
    with pytest.raises(TypeError, match=r"max_len: expected an int, got 1\.0"):
        ds.batch([0], max_len=1.0)
    with pytest.raises(TypeError, match="max_len: expected an int, got '1'"):
        ds.batch([0], max_len="1")
    assert ds.batch([0], keys=("y", "t")).keys() == ds.batch([0], keys=["y", "t"]).keys()


def test_a_prefix_that_is_edited_is_joined_as_it_is_now(ds):
    prefix = Joint({"code": [5]})
    assert ds.batch([1], keys=["code"], prefix=prefix)["code"].tolist() == [[5, 9]]
    prefix.tensors["dim0/code"] = np.array([4], np.uint8)
    assert ds.batch([1], keys=["code"], prefix=prefix)["code"].tolist() == [[4, 9]]
    lists = {"code": [6]}
    assert ds.batch([1], keys=["code"], prefix=lists)["code"].tolist() == [[6, 9]]
    lists["code"].append(3)
    assert ds.batch([1], keys=["code"], prefix=lists)["code"].tolist() == [[6, 3, 9]]


def test_collators_keep_the_options_that_they_were_made_with(ds):
    fill = {"code": 1}
    collate, samples = ds.collator(fill=fill, keys=["code"]), Collate(fill=fill)
    batches = ds.epoch(2, fill=fill, keys=["code"])
    fill["code"] = 2
    want = [[7, 8], [9, 1]]
    assert collate([0, 1])["code"].tolist() == want
    assert next(iter(batches))["code"].tolist() == want
    for made in (samples, pickle.loads(pickle.dumps(samples))):
        assert made([{"code": [7, 8]}, {"code": [9]}])["code"].tolist() == want
        assert repr(made) == "Collate(fill={'code': 1})"


@pytest.mark.parametrize("option", ["fill", "dtype"])
@pytest.mark.parametrize(
    ("samples", "text"),
    [
        ([{"labels": [1, 2]}, {"labels": [3]}], "'lables' is not one of .*labels.*; did you mean 'labels'"),
        ([({"labels": [1]}, 2)], "'lables' is not one of .*labels.*; did you mean 'labels'"),
        ([{"a": {"labels": [1]}, "b": J}], "'lables' is not one of .*'a', 'b', 'code', 'labels'.*"),
        ([J, J], r"'lables' is not one of \['code', 't', 'y'\]$"),
        ([[1, 2], [3]], r"'lables' is not one of \[\]$"),
    ],
)
def test_keys_that_no_sample_has_are_refused(option, samples, text):
    value = -100 if option == "fill" else np.int64
    with pytest.raises(KeyError, match=f"{option}: {text.removesuffix('$')}"):
        Collate(**{option: {"lables": value}})(samples)


def test_fills_go_to_the_keys_that_they_name():
    batch = Collate(fill={"x": -1, "code": 3}, masks=False)(
        [{"x": [1, 2], "z": [1], "j": J}, {"x": [3], "z": [], "j": J[:1]}]
    )
    assert batch["x"].tolist() == [[1, 2], [3, -1]]
    assert batch["z"].tolist() == [[1], [0]]
    assert batch["j"]["code"][1].tolist() == [[7, 8], [3, 3]]
    assert batch["j"]["t"][1].tolist() == [[1.5, 2.0], [0.0, 0.0]]


def test_near_keys_are_named(ds):
    with pytest.raises(KeyError, match=r"fill: 'cod' is not one of .*; did you mean 'code'"):
        ds.batch([0], fill={"cod": 1})
    with pytest.raises(KeyError, match=r"keys: 'codes' is not one of .*; did you mean 'code'"):
        ds.batch([0], keys=["codes"])
