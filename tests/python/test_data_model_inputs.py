"""Batches that models take as keywords: names, masks, positions, labels; one flat row of all samples."""

import numpy as np
import pytest
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
    assert batch["labels"] == [[-100, 5, 6, 7], [-100, -100, -100, 8]]
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
        assert batch["weight"].dtype == torch.float64


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
    with pytest.raises(ValueError, match="document_ids: a padded batch has a sample a row"):
        Collate(document_ids=True)
    with pytest.raises(ValueError, match="masks: attention_mask makes batches for models"):
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
