"""Batches of data sets that models take as keywords: as those of samples, from files, in every layout."""

import numpy as np
import pytest
import varlen as vl
from varlen.data import BinPacking, Collate, Loader

ROWS = [[5, 6, 7], [8], [], [9, 10], [11, 12, 13, 14]]
LISTS = {"tokens": ROWS, "tags": [[i % 3 for i in row] for row in ROWS], "label": [0, 1, 0, 1, 0]}
NAMES = {"tokens": "input_ids", "tags": "token_type_ids", "label": "labels"}
PICKED = [4, 1, 3]


@pytest.fixture(params=["memory", "file", "shards", "unmapped", "view"])
def ds(request, tmp_path):
    joint = vl.JointNestedRaggedTensorDict(LISTS)
    if request.param == "memory":
        return vl.data.Dataset(joint)
    vl.data.Dataset(joint).save(tmp_path / "rows", rows_per_shard=2 if request.param == "shards" else 5)
    if request.param == "view":
        return vl.open(tmp_path / "rows").select(range(5))
    return vl.open(tmp_path / "rows", mmap=request.param != "unmapped")


def samples(keys=("tokens", "tags", "label")):
    return [{key: LISTS[key][i] for key in keys} for i in PICKED]


def assert_same(batch, wanted):
    assert batch.keys() == wanted.keys()
    for name, value in wanted.items():
        if isinstance(value, int):
            assert batch[name] == value
        else:
            assert batch[name].dtype == value.dtype, name
            np.testing.assert_array_equal(batch[name], value, err_msg=name)


@pytest.mark.parametrize("framework", ["numpy", "torch", None])
@pytest.mark.parametrize(
    "options",
    [
        {"names": NAMES},
        {"names": NAMES, "attention_mask": True, "position_ids": True, "fill": 3},
        {"names": NAMES, "attention_mask": True, "padding_side": "left", "pad_to_multiple_of": 8},
        {"names": NAMES, "max_len": 2, "position_ids": True, "fill": {"tags": 7}},
    ],
    ids=["names", "mask", "left", "cut"],
)
def test_padded_batches_are_those_of_samples(ds, options, framework):
    if framework != "numpy":
        pytest.importorskip("torch")
    wanted = Collate(**options, framework=framework)(samples())
    kind = framework or "torch"  # the default of samples, not of datasets
    assert_same(ds.batch(PICKED, **options, framework=kind), wanted)
    assert_same(ds.collator(**options, framework=kind)(PICKED), wanted)
    assert_same(Collate(**options, framework=framework)([ds[i] for i in PICKED]), wanted)
    assert_same(Collate(**options, framework=framework)(ds.__getitems__(PICKED)), wanted)


def test_labels_are_the_tokens(ds):
    keys, how = ["tokens"], {"names": {"tokens": "input_ids"}, "labels": "input_ids", "framework": "numpy"}
    for layout in ("padded", "ragged"):
        wanted = Collate(**how, layout=layout)(samples(keys))
        assert_same(ds.batch(PICKED, keys=keys, layout=layout, **how), wanted)
    assert (wanted["labels"] == -100).sum() == len(PICKED)


def test_one_row_of_all_samples(ds):
    how = {
        "names": {"tokens": "input_ids"}, "layout": "ragged", "position_ids": True, "document_ids": True,
        "cu_seqlens": True, "framework": "numpy",
    }  # fmt: skip
    assert_same(ds.batch(PICKED, keys=["tokens"], **how), Collate(**how)(samples(["tokens"])))
    assert set(ds.batch(PICKED, keys=["tokens"], **{**how, "cu_seqlens": False})) == {
        "input_ids", "position_ids", "document_ids",
    }  # fmt: skip


def test_bins_are_those_of_the_plain_batch(ds):
    rows = next(iter(BinPacking(ds, 5, batch_size=3, shuffle=False)))
    plain = ds.batch(rows, keys=["tokens"], layout="packed", pad_to=5)
    how = {"keys": ["tokens"], "layout": "packed", "pad_to": 5, "names": {"tokens": "input_ids"}}
    batch = ds.batch(
        rows, **how, labels="input_ids", position_ids=True, document_ids=True, cu_seqlens=True,
        framework="numpy",
    )  # fmt: skip
    np.testing.assert_array_equal(batch["input_ids"], plain["tokens"])
    for name in ("position_ids", "document_ids"):
        np.testing.assert_array_equal(batch[name], plain[name])
        assert batch[name].dtype == np.int64
    ignored = (plain["position_ids"] == 0) | (plain["document_ids"] < 0)
    np.testing.assert_array_equal(batch["labels"], np.where(ignored, -100, batch["input_ids"]))
    assert batch["cu_seq_lens_q"].tolist() == plain["cu_seqlens"].tolist()
    assert batch["max_length_q"] == plain["max_seqlen"]
    assert set(ds.batch(rows, **how, framework="numpy")) == {"input_ids"}


@pytest.mark.parametrize("key", ["tags", "label"])
@pytest.mark.parametrize("how", [{}, {"layout": "ragged"}, {"layout": "packed", "pad_to": 8}])
def test_labels_that_are_bools_are_integers(how, key):
    tags, label = [[x % 2 for x in row] for row in ROWS], [1, 0, 1, 0, 1]
    integers = {**LISTS, "tags": tags, "label": label}
    bools = {**LISTS, "tags": [list(map(bool, row)) for row in tags], "label": list(map(bool, label))}
    batches = [
        vl.data.Dataset(vl.JointNestedRaggedTensorDict(columns)).batch(
            PICKED, keys=["tokens", key], names={"tokens": "input_ids", key: "labels"}, **how
        )
        for columns in (bools, integers)
    ]
    assert_same(*batches)


@pytest.mark.parametrize("labels", ["labels", "input_ids"])
@pytest.mark.parametrize(
    "how",
    [
        {"attention_mask": True, "padding_side": "left"},
        {"layout": "ragged", "document_ids": True, "cu_seqlens": True},
        {"layout": "packed", "pad_to": 8, "document_ids": True, "cu_seqlens": True},
    ],
    ids=["padded", "ragged", "packed"],
)
def test_batches_of_no_rows_are_those_of_rows_but_for_their_size(ds, how, labels):
    names = {"tokens": "input_ids"} | ({"tags": "labels"} if labels == "labels" else {})
    how = {**how, "keys": ["tokens", "tags"], "names": names, "labels": labels, "position_ids": True}
    full, empty = ds.batch(PICKED, **how), ds.batch([], **how)
    assert full.keys() == empty.keys()
    for name, value in full.items():
        if not isinstance(value, int):
            assert (empty[name].dtype, empty[name].ndim) == (value.dtype, value.ndim)
            assert empty[name].size == (name.startswith("cu_"))
    if how.get("layout") != "packed":
        assert_same(Collate(**how, framework="numpy")(ds.__getitems__([])), empty)


def test_records_of_no_rows_know_their_keys(ds):
    assert_same(Collate(keys=["tokens"])(ds.__getitems__([])), ds.batch([], keys=["tokens"]))


def test_cu_seqlens_alone_ask_for_a_model(ds):
    collate = Collate(layout="ragged", cu_seqlens=True, keys=["tokens"], framework="numpy")
    wanted = collate(samples())
    assert wanted["tokens"].shape == (1, 7)
    assert_same(collate(ds.__getitems__(PICKED)), wanted)
    assert_same(collate([ds[i] for i in PICKED]), wanted)


def test_masks_of_packed_rows_are_left_out():
    def packed(masks):
        joint = vl.JointNestedRaggedTensorDict({"input_ids": [[1, 2], [3]], "attention_mask": masks})
        how = {"layout": "packed", "pad_to": 4, "document_ids": True}
        return vl.data.Dataset(joint).batch([1, 0], **how)

    assert set(packed([[1, 1], [1]])) == {"input_ids", "document_ids"}
    with pytest.raises(ValueError, match="'attention_mask': hides tokens in bin 0"):
        packed([[1, 0], [1]])


def test_a_dtype_of_labels_has_to_hold_what_is_padded_alone(ds):
    how = {"names": NAMES, "dtype": {"label": "uint8"}}
    assert ds.batch(PICKED, **how)["labels"].dtype == np.uint8  # one a row
    how = {"keys": ["tags"], "names": {"tags": "labels"}, "dtype": "uint8"}
    assert ds.batch(PICKED, layout="ragged", **how)["labels"].dtype == np.uint8
    with pytest.raises(ValueError, match="fill of 'tags': -100 does not fit uint8"):
        ds.batch(PICKED, **how)


def test_a_model_of_transformers_takes_the_batches_of_loaders(ds):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8,
        max_position_embeddings=8, type_vocab_size=3, num_labels=2,
    )  # fmt: skip
    model = transformers.BertForSequenceClassification(config).eval()
    options = {"names": NAMES, "attention_mask": True, "framework": "torch"}
    with torch.no_grad():
        alone = [model(**ds.batch([i], **options)).loss for i in (0, 1, 3, 4)]
        for loader in (
            Loader(ds, batches=[[0, 1, 3, 4]], **options),
            torch.utils.data.DataLoader(
                ds, sampler=[0, 1, 3, 4], batch_size=4, collate_fn=ds.collator(**options)
            ),
        ):
            [batch] = loader
            torch.testing.assert_close(model(**batch).loss, torch.stack(alone).mean(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"names": {"token": "input_ids"}}, KeyError, "names: 'token' is not one of"),
        ({"names": {"tokens": "x", "tags": "x"}}, ValueError, "'tokens' and 'tags' are both called 'x'"),
        ({"names": NAMES, "masks": True}, ValueError, "masks: names already makes batches for models"),
        ({"names": NAMES, "lengths": True}, ValueError, "lengths: names already makes batches for models"),
        ({"attention_mask": True, "layout": "ragged"}, ValueError, "attention_mask: a ragged batch"),
        ({"attention_mask": True, "layout": "packed", "pad_to": 8}, ValueError, "attention_mask: a packed"),
        ({"document_ids": True}, ValueError, "document_ids: a padded batch"),
        ({"names": NAMES, "layout": "named"}, ValueError, "names: does not apply: models take arrays"),
        (
            {"labels": "input_id", "names": {"tokens": "input_ids"}, "keys": ["tokens"]},
            KeyError,
            "labels: 'input_id'",
        ),
        ({"attention_mask": np.zeros(2)}, TypeError, "attention_mask"),
        ({"names": NAMES, "cu_seqlens": True}, ValueError, "cu_seqlens: a padded batch"),
        (
            {"names": NAMES, "framework": "cupy"},
            ValueError,
            "framework: expected 'numpy' or 'torch' for a batch for models",
        ),
        (
            {"keys": ["tokens"], "attention_mask": True, "fill": 3},
            ValueError,
            r"fill: one value is that of 'input_ids', as none of \['tokens'\] is called",
        ),
    ],
)
def test_what_does_not_fit_is_refused(options, error, text):
    ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict(LISTS))
    with pytest.raises(error, match=text):
        ds.batch([0, 1], **options)


def test_workers_make_batches_for_models_on_the_host():
    pytest.importorskip("torch")
    ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict(LISTS))
    with pytest.raises(ValueError, match="device: workers make batches for models on the host"):
        ds.collator(names=NAMES, device="cuda", framework="torch")


def test_keys_of_more_levels_need_one_axis():
    nested = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[[1, 2], [3]], [[4]]]}))
    how = {"names": {"x": "input_ids"}, "layout": "ragged", "framework": "numpy"}
    with pytest.raises(ValueError, match="layout: 'x' is of dim 2; give flatten=True"):
        nested.batch([0, 1], **how)
    assert nested.batch([0, 1], **how, flatten=True)["input_ids"].tolist() == [[1, 2, 3, 4]]
    assert nested.batch([0, 1], **{**how, "layout": "padded"})["input_ids"].shape == (2, 2, 2)
