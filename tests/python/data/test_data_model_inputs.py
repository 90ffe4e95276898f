"""Batches that models take as keywords: names, masks, positions, labels; one flat row of all samples."""

from collections import UserDict, namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
import varlen as vl
from varlen.data import Collate

ROWS = [[5, 6, 7], [8], []]
SAMPLES = [{"tokens": row, "label": i} for i, row in enumerate(ROWS)]
NAMES = {"tokens": "input_ids", "label": "labels"}


def as_lists(batch):
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in batch.items()}


def test_names_masks_and_positions():
    how = Collate(names=NAMES, attention_mask=True, position_ids=True, fill=9, framework="numpy")
    assert as_lists(how(SAMPLES)) == {
        "input_ids": [[5, 6, 7], [8, 9, 9], [9, 9, 9]],
        "labels": [0, 1, 2],
        "attention_mask": [[1, 1, 1], [1, 0, 0], [0, 0, 0]],
        "position_ids": [[0, 1, 2], [0, 0, 0], [0, 0, 0]],
    }
    assert {value.dtype for value in how(SAMPLES).values()} == {np.dtype(np.int64)}
    assert "names={'tokens': 'input_ids', 'label': 'labels'}" in repr(how)


def test_left_padding_and_multiples():
    how = Collate(
        names={"tokens": "input_ids"}, attention_mask=True, position_ids=True, labels="input_ids",
        padding_side="left", pad_to_multiple_of=4, framework="numpy",
    )  # fmt: skip
    batch = as_lists(how(SAMPLES[:2]))
    assert batch["attention_mask"] == [[0, 1, 1, 1], [0, 0, 0, 1]]
    assert batch["position_ids"] == [[0, 0, 1, 2], [0, 0, 0, 0]]
    assert batch["labels"] == [[-100, -100, 6, 7], [-100, -100, -100, -100]]  # padding predicts nothing
    assert batch["input_ids"] == [[0, 5, 6, 7], [0, 0, 0, 8]]


def test_labels_of_samples_are_padded_with_what_losses_ignore():
    samples = [{"input_ids": [1, 2], "labels": [3, 4]}, {"input_ids": [5], "labels": [6]}]
    assert Collate(attention_mask=True, fill=7, framework="numpy")(samples)["labels"].tolist() == [
        [3, 4],
        [6, -100],
    ]
    how = Collate(attention_mask=True, fill={"labels": -1}, framework="numpy")
    assert how(samples)["labels"].tolist() == [[3, 4], [6, -1]]
    assert how(samples)["input_ids"].tolist() == [[1, 2], [5, 0]]


def test_a_mask_of_the_samples_is_kept():
    samples = [{"input_ids": [1, 2], "attention_mask": [0, 1]}, {"input_ids": [5], "attention_mask": [1]}]
    batch = Collate(attention_mask=True, framework="numpy")(samples)
    assert as_lists(batch) == {"input_ids": [[1, 2], [5, 0]], "attention_mask": [[0, 1], [1, 0]]}


def test_one_row_of_all_samples():
    how = Collate(
        names={"tokens": "input_ids"}, layout="ragged", labels="input_ids", position_ids=True,
        document_ids=True, cu_seqlens=True, framework="numpy",
    )  # fmt: skip
    batch = how([{"tokens": row} for row in [[5, 6, 7], [], [8]]])
    assert as_lists(batch) == {
        "input_ids": [[5, 6, 7, 8]],
        "labels": [[-100, 6, 7, -100]],
        "position_ids": [[0, 1, 2, 0]],
        "document_ids": [[0, 0, 0, 2]],
        "cu_seq_lens_q": [0, 3, 3, 4],
        "cu_seq_lens_k": [0, 3, 3, 4],
        "max_length_q": 3,
        "max_length_k": 3,
    }
    assert batch["cu_seq_lens_q"].dtype == np.int32
    renamed = Collate(
        layout="ragged", document_ids=True, names={"document_ids": "seq_idx"}, framework="numpy"
    )
    assert renamed([{"x": [1]}, {"x": [2]}])["seq_idx"].tolist() == [[0, 1]]


def test_tensors_are_the_default_and_their_integers_are_wide():
    torch = pytest.importorskip("torch")
    for rows in (ROWS, [np.array(row, np.int16) for row in ROWS], [torch.tensor(row).int() for row in ROWS]):
        batch = Collate(names={"x": "input_ids"}, attention_mask=True, labels="input_ids")(
            [{"x": row, "weight": 0.5} for row in rows]
        )
        assert (
            batch["input_ids"].dtype == batch["labels"].dtype == batch["attention_mask"].dtype == torch.int64
        )
        assert batch["labels"].tolist() == [[5, 6, 7], [8, -100, -100], [-100, -100, -100]]
        assert batch["input_ids"].tolist() == [[5, 6, 7], [8, 0, 0], [0, 0, 0]]
        assert batch["weight"].dtype == torch.float32


@pytest.mark.parametrize("seed", range(5))
def test_the_same_values_as_plain_lists(seed):
    rng = np.random.default_rng(seed)
    rows = [rng.integers(1, 99, n).tolist() for n in rng.integers(0, 9, rng.integers(1, 9))]
    samples = [{"input_ids": row} for row in rows]
    size = max(map(len, rows))
    batch = Collate(attention_mask=True, position_ids=True, labels="input_ids", framework="numpy")(samples)
    for i, row in enumerate(rows):
        rest = size - len(row)
        assert batch["input_ids"][i].tolist() == row + [0] * rest
        assert batch["labels"][i].tolist() == row + [-100] * rest
        assert batch["attention_mask"][i].tolist() == [1] * len(row) + [0] * rest
        assert batch["position_ids"][i].tolist() == [*range(len(row)), *[0] * rest]
    flat = Collate(
        layout="ragged", position_ids=True, document_ids=True, labels="input_ids", framework="numpy"
    )(samples)
    assert flat["input_ids"].tolist() == [[x for row in rows for x in row]]
    assert flat["labels"].tolist() == [[x if j else -100 for row in rows for j, x in enumerate(row)]]
    assert flat["position_ids"].tolist() == [[j for row in rows for j in range(len(row))]]
    assert flat["document_ids"].tolist() == [[i for i, row in enumerate(rows) for _ in row]]


def test_a_dtype_that_is_asked_for_is_kept():
    samples = [
        {"input_ids": [1, 2], "labels": [0.5, 2.5], "w": 0.5},
        {"input_ids": [3], "labels": [1.5], "w": 1},
    ]
    for given, wanted in ((None, "float32"), ("float64", "float64"), ("float16", "float16")):
        dtype = None if given is None else {"labels": given, "w": given}
        batch = Collate(attention_mask=True, dtype=dtype, framework="numpy")(samples)
        assert (batch["labels"].dtype, batch["w"].dtype, batch["input_ids"].dtype) == (
            wanted,
            wanted,
            "int64",
        )
    how = Collate(attention_mask=True, dtype={"input_ids": "int32"}, framework="numpy")
    assert how(samples)["input_ids"].dtype == "int32"


@pytest.mark.parametrize(
    "labels",
    [[[True, False], [], [True]], [[1, 0], [], [1]], [np.array(row, np.uint8) for row in ([1, 0], [], [1])]],
)
def test_labels_of_any_width_hold_what_losses_ignore(labels):
    samples = [{"input_ids": [1] * len(row), "labels": row} for row in labels]
    batch = Collate(attention_mask=True, framework="numpy")(samples)
    assert batch["labels"].tolist() == [[1, 0], [-100, -100], [1, -100]]
    assert batch["labels"].dtype == np.int64
    assert Collate(attention_mask=True, framework="numpy")(
        [{"input_ids": [1], "labels": label} for label in (True, False)]
    )["labels"].tolist() == [1, 0]


def test_labels_of_samples_in_one_row_predict_nothing_across_them():
    samples = [{"input_ids": [1, 2], "labels": [11, 12]}, {"input_ids": [3, 4], "labels": [13, 14]}]
    for source, wanted in (("labels", [-100, 12, -100, 14]), (None, [11, 12, 13, 14])):
        how = Collate(layout="ragged", labels=source, position_ids=True, framework="numpy")
        assert how(samples)["labels"].tolist() == [wanted]
    left = Collate(labels="labels", padding_side="left", framework="numpy")
    assert left([samples[0], {"input_ids": [3], "labels": [13]}])["labels"].tolist() == [
        [11, 12],
        [-100, -100],
    ]


def test_labels_of_rows_of_vectors_are_ignored_as_rows():
    samples = [{"x": np.ones((2, 3), int)}, {"x": np.ones((1, 3), int)}]
    batch = Collate(labels="x", padding_side="left", framework="numpy")(samples)
    assert (batch["labels"] == -100).all(2).tolist() == [[False, False], [True, True]]
    assert (batch["labels"][0] == 1).all()


def test_labels_of_samples_are_one_for_each_token():
    samples = [{"input_ids": [1, 2], "labels": [1, 2]}, {"input_ids": [3, 4], "labels": [3]}]
    for options in ({"layout": "ragged", "position_ids": True}, {"labels": "labels"}):
        with pytest.raises(
            ValueError, match=r"samples\[1\]\['labels'\]: has 1, expected one for each of the 2"
        ):
            Collate(framework="numpy", **options)(samples)
    assert Collate(attention_mask=True, framework="numpy")(samples)["labels"].tolist() == [[1, 2], [3, -100]]


@pytest.mark.parametrize("layout", ["padded", "ragged"])
def test_samples_without_tokens_are_integers_too(layout):
    batch = Collate(position_ids=True, labels="input_ids", layout=layout, framework="numpy")(
        [{"input_ids": []}] * 2
    )
    assert {value.dtype for value in batch.values()} == {np.dtype(np.int64)}
    assert batch["input_ids"].size == 0


def test_one_row_has_no_mask_and_refuses_those_that_hide():
    how = Collate(layout="ragged", position_ids=True, framework="numpy")
    samples = [{"input_ids": [1, 2], "attention_mask": [1, 1]}, {"input_ids": [3], "attention_mask": [1]}]
    assert sorted(how(samples)) == ["input_ids", "position_ids"]
    samples.append({"input_ids": [4, 5], "attention_mask": [1, 0]})
    with pytest.raises(ValueError, match=r"samples\[2\]\['attention_mask'\]: hides tokens"):
        how(samples)


def test_names_of_what_is_made():
    names = {"cu_seqlens": "cu_seqlens", "max_seqlen": "max_seqlen", "position_ids": "places"}
    batch = Collate(layout="ragged", cu_seqlens=True, position_ids=True, names=names, framework="numpy")(
        [{"input_ids": [1, 2]}, {"input_ids": [3]}]
    )
    assert as_lists(batch) == {
        "input_ids": [[1, 2, 3]], "places": [[0, 1, 0]], "cu_seqlens": [0, 2, 3], "max_seqlen": 2
    }  # fmt: skip
    with pytest.raises(KeyError, match="names: 'position_ids' is not one of"):
        Collate(names={"position_ids": "places"}, attention_mask=True)([{"input_ids": [1]}])
    with pytest.raises(ValueError, match="names: 'x' and 'attention_mask' are both called 'x'"):
        Collate(names={"attention_mask": "x"}, attention_mask=True)([{"x": [1]}])


SAMPLE = namedtuple("SAMPLE", "tokens label")


@dataclass
class Fields:
    tokens: list
    label: int


@pytest.mark.parametrize("layout", ["padded", "ragged"])
def test_samples_of_every_form_give_one_batch(layout):
    pa = pytest.importorskip("pyarrow")
    rows = [[5, 6, 7], [8], [], [1, 2]]
    table = pa.table({"tokens": rows, "label": [0, 1, 2, 3]})
    ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"tokens": rows, "label": [0, 1, 2, 3]}))
    forms = {
        "lists": [{"tokens": row, "label": i} for i, row in enumerate(rows)],
        "columns": {"tokens": rows, "label": [0, 1, 2, 3]},
        "arrays": [{"tokens": np.array(row, np.uint8), "label": np.int8(i)} for i, row in enumerate(rows)],
        "columns of arrays": {"tokens": [np.array(row, int) for row in rows], "label": np.arange(4)},
        "named tuples": [SAMPLE(row, i) for i, row in enumerate(rows)],
        "dataclasses": [Fields(row, i) for i, row in enumerate(rows)],
        "user dicts": [UserDict(tokens=row, label=i) for i, row in enumerate(rows)],
        "a table": table,
        "scalars": [{key: table[key][i] for key in ("tokens", "label")} for i in range(4)],
        "records": ds.__getitems__([0, 1, 2, 3]),
        "rows of a data set": [ds[i] for i in range(4)],
    }
    extras = {"attention_mask": True} if layout == "padded" else {"document_ids": True, "cu_seqlens": True}
    how = Collate(names=NAMES, layout=layout, position_ids=True, fill=9, framework="numpy", **extras)
    wanted = as_lists(how(forms["lists"]))
    assert wanted["labels"] == [0, 1, 2, 3]
    for form, samples in forms.items():
        batch = how(samples)
        assert as_lists(batch) == wanted, form
        assert {value.dtype for name, value in batch.items() if "cu" not in name and "max" not in name} == {
            np.dtype(np.int64)
        }, form


def test_rows_of_a_data_set_have_labels_and_options():
    ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [4]], "y": [[0.5, 1, 2], [3]]}))
    rows = ds.__getitems__([1, 0])
    how = Collate(names={"x": "input_ids", "y": "labels"}, attention_mask=True, framework="numpy")
    assert how(rows)["labels"].tolist() == [[3, -100, -100], [0.5, 1, 2]]
    how = Collate(names={"x": "input_ids"}, labels="input_ids", fill={"x": 9, "y": -1}, framework="numpy")
    assert as_lists(how(rows)) == {
        "input_ids": [[4, 9, 9], [1, 2, 3]], "y": [[3, -1, -1], [0.5, 1, 2]],
        "labels": [[4, -100, -100], [1, 2, 3]],
    }  # fmt: skip
    with pytest.raises(KeyError, match="fill: 'z' is not one of"):
        Collate(names={"x": "input_ids"}, fill={"z": 9})(rows)
    with pytest.raises(KeyError, match="names: 'z' is not one of"):
        Collate(names={"z": "input_ids"})(rows)


def test_the_models_of_transformers_take_them():
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    torch.manual_seed(0)
    bert = transformers.BertForSequenceClassification(
        transformers.BertConfig(vocab_size=30, num_labels=3, **sizes)
    ).eval()
    batch = Collate(names=NAMES, attention_mask=True, position_ids=True)(SAMPLES[:2])
    both = bert(**batch)
    alone = bert(input_ids=torch.tensor([[8]]))
    torch.testing.assert_close(both.logits[1:], alone.logits)
    assert torch.isfinite(both.loss)
    causal = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(vocab_size=30, num_key_value_heads=2, **sizes)
    ).eval()
    padded = Collate(names={"tokens": "input_ids"}, attention_mask=True, labels="input_ids")
    samples = [{"tokens": row} for row in ([5, 6, 7], [8, 9])]
    loss = causal(**padded(samples)).loss
    single = [causal(input_ids=(x := torch.tensor([s["tokens"]])), labels=x).loss for s in samples]
    torch.testing.assert_close(loss, (single[0] * 2 + single[1]) / 3)


def _tiny(kind):
    """A model of one layer, and what its batches are made with."""
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    if kind in ("one label", "a number", "a label a token"):
        count = {"one label": 3, "a number": 1, "a label a token": 4}[kind]
        config = transformers.BertConfig(vocab_size=40, num_labels=count, **sizes)
        head = "Token" if kind == "a label a token" else "Sequence"
        return getattr(transformers, f"BertFor{head}Classification")(config)
    if kind == "rotary":
        return transformers.LlamaForCausalLM(
            transformers.LlamaConfig(vocab_size=40, num_key_value_heads=2, **sizes)
        )
    if kind == "learned positions":
        return transformers.GPT2LMHeadModel(
            transformers.GPT2Config(
                vocab_size=40, n_embd=16, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=2
            )
        )
    heads = {"encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}
    heads |= {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    return transformers.BartForConditionalGeneration(
        transformers.BartConfig(vocab_size=40, d_model=16, max_position_embeddings=64, **heads)
    )


# The first place of a row is what a head of one label, and a decoder, look at: those are padded right.
KINDS = ["one label", "a number", "an encoder and a decoder"]
BOTH_SIDES = ["a label a token", "rotary", "learned positions"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize(
    ("kind", "side"),
    [*((kind, "right") for kind in KINDS), *((k, side) for k in BOTH_SIDES for side in ("right", "left"))],
)
def test_the_loss_of_a_batch_is_that_of_its_samples(kind, side):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = _tiny(kind).eval()
    is_causal = kind in ("rotary", "learned positions")
    rng = np.random.default_rng(0)
    rows = [rng.integers(3, 40, n).tolist() for n in (4, 9, 2, 6)]
    labels = {
        "one label": [0, 2, 1, 1],
        "a number": [0.5, 0.25, -1.0, 2.0],
        "a label a token": [rng.integers(0, 4, len(row)).tolist() for row in rows],
        "an encoder and a decoder": [rng.integers(3, 40, n).tolist() for n in (3, 1, 7, 2)],
    }.get(kind, rows)
    shares = [len(label) - is_causal if isinstance(label, list) else 1 for label in labels]
    alone = [
        model(input_ids=torch.tensor([row]), labels=torch.tensor([label])).loss
        for row, label in zip(rows, labels, strict=True)
    ]
    wanted = sum(loss * share for loss, share in zip(alone, shares, strict=True)) / sum(shares)
    samples = [{"tokens": row, "target": label} for row, label in zip(rows, labels, strict=True)]
    names = {"tokens": "input_ids", "target": "labels"}
    for multiple in (None, 8):
        how = Collate(
            names=names, attention_mask=True, padding_side=side, pad_to_multiple_of=multiple,
            position_ids=kind in BOTH_SIDES, labels="labels" if is_causal else None,
        )  # fmt: skip
        loss = model(**how(samples)).loss
        torch.testing.assert_close(loss, wanted)
        loss.backward()
    if is_causal:
        flat = Collate(names={"tokens": "input_ids"}, layout="ragged", position_ids=True, labels="input_ids")
        batch = flat([{"tokens": row, "attention_mask": [1] * len(row)} for row in rows])
        torch.testing.assert_close(model(**batch, use_cache=False).loss, wanted)
        flat = Collate(names=names, layout="ragged", position_ids=True, labels="labels", cu_seqlens=True)
        torch.testing.assert_close(model(**flat(samples), use_cache=False).loss, wanted)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("seed", range(4))
def test_the_batches_of_the_collators_of_transformers(seed):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    side, multiple = ("right", "left")[seed % 2], (None, 4)[seed // 2]
    words = tokenizers.models.WordLevel({"[PAD]": 0, "[UNK]": 1}, unk_token="[UNK]")
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(words), pad_token="[PAD]", padding_side=side
    )
    rng = np.random.default_rng(seed)

    def rows(lengths):
        return [rng.integers(1, 50, n).tolist() for n in lengths]

    lengths = rng.integers(1, 9, 5)
    samples = [{"input_ids": row, "attention_mask": [1] * len(row)} for row in rows(lengths)]
    how = {"padding_side": side, "pad_to_multiple_of": multiple, "attention_mask": True}
    flat = {"layout": "ragged", "position_ids": True}
    of_tokens, of_decoder = rows(lengths), rows(rng.integers(1, 9, 5))
    of_transformers = {"tokenizer": tokenizer, "pad_to_multiple_of": multiple}
    for collator, labels, options in (
        (transformers.DataCollatorWithPadding(**of_transformers), [0, 1, 2, 1, 0], how),
        (transformers.DataCollatorWithPadding(**of_transformers), [0.1] * 5, how),
        (transformers.DataCollatorForTokenClassification(**of_transformers), of_tokens, how),
        (transformers.DataCollatorForSeq2Seq(**of_transformers), of_decoder, how),
        (
            transformers.DataCollatorWithFlattening(return_flash_attn_kwargs=True),
            of_tokens, {**flat, "cu_seqlens": True, "labels": "labels"},
        ),
        (transformers.DataCollatorWithFlattening(), None, {**flat, "labels": "input_ids"}),
    ):  # fmt: skip
        own = samples if labels is None else [s | {"labels": x} for s, x in zip(samples, labels, strict=True)]
        wanted, found = dict(collator([dict(sample) for sample in own])), Collate(**options)(own)
        assert found.keys() == wanted.keys()
        for name, value in wanted.items():
            if isinstance(value, int):
                assert found[name] == value
            else:
                assert found[name].dtype == value.dtype
                assert torch.equal(found[name], value)


def test_wrong_input():
    ok = [{"x": [1], "y": [2]}]
    with pytest.raises(KeyError, match="names: 'z' is not one of"):
        Collate(names={"z": "input_ids"})(ok)
    with pytest.raises(ValueError, match="names: 'x' and 'y' are both called 'y'"):
        Collate(names={"x": "y"})(ok)
    with pytest.raises(ValueError, match=r"names: none of the sequences .* is called 'input_ids'"):
        Collate(attention_mask=True, framework="numpy")(ok)
    with pytest.raises(KeyError, match="labels: 'z' is not one of the sequences"):
        Collate(names={"x": "input_ids"}, labels="z", framework="numpy")(ok)
    with pytest.raises(ValueError, match="labels: the samples have their own, 'y'"):
        Collate(names={"x": "input_ids", "y": "labels"}, labels="input_ids")(ok)
    with pytest.raises(ValueError, match="attention_mask: a ragged batch has no padding"):
        Collate(layout="ragged", attention_mask=True)
    with pytest.raises(ValueError, match="document_ids: a padded batch has one sample per row"):
        Collate(document_ids=True)
    with pytest.raises(ValueError, match="masks: attention_mask already makes batches for models"):
        Collate(masks=True, attention_mask=True)
    with pytest.raises(TypeError, match="names: expected a mapping"):
        Collate(names=["x"])
    with pytest.raises(TypeError, match="names: expected a name for 'x'"):
        Collate(names={"x": 1})
    with pytest.raises(TypeError, match="labels: expected the name of the tokens"):
        Collate(labels=True)
    with pytest.raises(TypeError, match="attention_mask: a model's batch is of mappings"):
        Collate(attention_mask=True)([[1, 2]])
    with pytest.raises(ValueError, match=r"samples\[1\]: .*'x' is missing"):
        Collate(names={"x": "input_ids"})([{"x": [1]}, {"y": [1]}])


@pytest.mark.parametrize("kind", [dict, UserDict])
def test_labels_that_are_bools_are_integers(kind):
    how = Collate(names={"x": "input_ids"}, framework="numpy")
    flat = how([kind({"x": [1, 2], "labels": [True, False]}), kind({"x": [3], "labels": [True]})])
    assert as_lists(flat)["labels"] == [[1, 0], [1, -100]]
    nested = how([kind({"x": [1], "labels": [[True], []]}), kind({"x": [3], "labels": [[False, True]]})])
    assert as_lists(nested)["labels"] == [[[1, -100], [-100, -100]], [[0, 1], [-100, -100]]]
    assert flat["labels"].dtype == nested["labels"].dtype == np.int64


def test_labels_of_samples_without_tokens_are_integers():
    batch = Collate(attention_mask=True, framework="numpy")([{"input_ids": [], "labels": []}] * 2)
    assert {value.dtype for value in batch.values()} == {np.dtype(np.int64)}
    assert {value.shape for value in batch.values()} == {(2, 0)}


def test_a_fill_that_no_tokens_take_is_refused():
    with pytest.raises(ValueError, match=r"fill: one value is that of 'input_ids', as none of \['tokens'\]"):
        Collate(attention_mask=True, fill=9)([{"tokens": [1, 2]}, {"tokens": [3]}])


@pytest.mark.parametrize(
    "value", [[1, 2**63], 2**63, np.array([2**63], np.uint64)], ids=["list", "one", "array"]
)
def test_integers_that_do_not_fit_int64_are_refused(value):
    how = Collate(names={"x": "input_ids"}, framework="numpy")
    with pytest.raises((ValueError, OverflowError), match=r"9223372036854775808.* does not fit int64"):
        how([{"x": value}])
    wide = Collate(names={"x": "input_ids"}, dtype="uint64", framework="numpy")([{"x": value}])
    assert wide["input_ids"].max() == 2**63
