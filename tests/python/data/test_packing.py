"""Packed blocks: every token once, each sequence by itself, from lists, containers and data sets alike."""

import json
import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen.data import BinPacking, attention_mask, document_mask, pack

IDS = ("position_ids", "document_ids", "cu_seqlens", "max_seqlen")


def _sequences(batch, key):
    """The sequences of a packed batch, by its ids."""
    found = []
    for row, ids, places in zip(batch[key], batch["document_ids"], batch["position_ids"], strict=True):
        for document in range(int(ids.max(initial=-1)) + 1):
            at = np.flatnonzero(ids == document)
            assert places[at].tolist() == list(range(len(at)))
            if len(at):
                assert at[-1] - at[0] + 1 == len(at)
                found.append(row[at].tolist())
    return found


def _check_lengths(batch, size):
    """`cu_seqlens` cuts where the ids do, at what is left too."""
    ids, places = batch["document_ids"].reshape(-1), batch["position_ids"].reshape(-1)
    assert batch["cu_seqlens"].dtype == np.int32
    assert batch["cu_seqlens"][-1] == ids.size == len(batch["document_ids"]) * size
    longest = 0
    for begin, end in pairwise(batch["cu_seqlens"].tolist()):
        assert len(set(ids[begin:end].tolist())) <= 1
        assert places[begin:end].tolist() == list(range(end - begin))
        longest = max(longest, end - begin)
    assert batch["max_seqlen"] == longest


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.lists(st.integers(0, 30), max_size=30), st.sampled_from(["best", "first"]))
def test_pack_holds_every_token_once(size, lengths, fit):
    tokens = iter(range(1, 10_000))
    rows = [[next(tokens) for _ in range(n)] for n in lengths]
    batch = pack(
        vl.Ragged(np.array([x for row in rows for x in row], np.int64), lengths),
        size,
        fit=fit,
        too_long="split",
        fill=-7,
    )
    _check_lengths(batch, size)
    pieces = [row[at : at + size] for row in rows for at in range(0, len(row), size)]
    assert sorted(_sequences(batch, "values")) == sorted(pieces)
    assert (batch["values"][batch["document_ids"] < 0] == -7).all()


KINDS = {
    "words of 64 bits": lambda i: np.uint64(2**64 - 1 - i),
    "halves": lambda i: np.float16(i / 4),
    "truth": lambda i: i % 3 == 0,
    "times": lambda i: np.datetime64(i, "ns"),
    "durations": lambda i: np.timedelta64(-i, "ms"),
    "rows": lambda i: np.array([i, -i], np.int16),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("too_long", ["skip", "split"])
@settings(max_examples=15, deadline=None)
@given(st.integers(1, 6), st.lists(st.integers(0, 9), min_size=1, max_size=12))
def test_tokens_of_each_kind_come_out_once_and_are_counted(kind, too_long, size, lengths):
    numbers = iter(range(sum(lengths)))
    whole = [[KINDS[kind](next(numbers)) for _ in range(n)] for n in lengths]
    kept = [row for row in whole if too_long == "split" or len(row) <= size]
    empty = np.array([KINDS[kind](0)])[:0]
    batch = pack([np.array(row) if row else empty for row in whole], size, too_long=too_long)
    want = [str(row[i : i + size]) for row in map(_plain, kept) for i in range(0, len(row), size)]
    assert sorted(map(str, map(_plain, _sequences(batch, "values")))) == sorted(want)
    account = batch.account
    account.check()
    assert account.rows.source.values == len(whole)
    values = account.columns["values"]
    assert (values.source.values, values.result.values) == (sum(lengths), sum(map(len, kept)))
    assert values.left_out == sum(lengths) - sum(map(len, kept))


def _plain(row):
    return np.array(row).tolist()


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(1, 4), st.lists(st.integers(0, 25), max_size=25), st.booleans())
def test_bins_of_a_batch_are_rows_of_its_block(size, batch_size, lengths, shuffle):
    tokens = iter(range(1, 10_000))
    rows = [[next(tokens) for _ in range(n)] for n in lengths]
    ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": rows}) if any(lengths) else _empty(lengths))
    sampler = BinPacking(lengths, size, batch_size=batch_size, too_long="split", shuffle=shuffle)
    found = []
    batches = list(ds.epoch(batches=sampler, layout="packed", pad_to=size))
    for batch, dealt in zip(batches, sampler, strict=True):
        assert batch["x"].shape == (len(dealt.bins) - 1, size)
        _check_lengths(batch, size)
        found += _sequences(batch, "x")
    assert all(len(batch["x"]) == batch_size for batch in batches[:-1])
    pieces = [row[at : at + size] for row in rows for at in range(0, len(row), size)]
    assert sorted(found) == sorted(pieces)


def _empty(lengths):
    return vl.JointNestedRaggedTensorDict({"x": vl.Ragged(np.empty(0, np.int64), lengths)})


def test_split_rows_are_pieces_of_the_size():
    sampler = BinPacking([2300, 40, 0], 1000, too_long="split", shuffle=False)
    pieces = [piece for rows in sampler for piece in zip(rows, rows.start, rows.end, strict=True)]
    assert sorted(pieces) == [(0, 0, 1000), (0, 1000, 2000), (0, 2000, 2300), (1, 0, 40), (2, 0, 0)]
    rows = pickle.loads(pickle.dumps(next(iter(sampler))))
    assert (rows, rows.bins, rows.start, rows.end) == ([0], [0, 1], [0], [1000])


@pytest.mark.parametrize("lengths", ["mimic", "log-normal"])
@pytest.mark.parametrize("fit", ["best", "first"])
@pytest.mark.parametrize("size", [256, 2048, 8192])
def test_packed_rows_are_99_per_cent_full(lengths, fit, size):
    rng = np.random.default_rng(0)
    if lengths == "mimic":
        path = Path(__file__).parents[3] / "benchmarks" / "data" / "mimic.json"
        spec = json.loads(path.read_text())["num_events"]
        weights = np.array(spec["freq"])
        drawn = rng.choice(spec["N"], 20_000, p=weights / weights.sum())
    else:
        drawn = np.exp(rng.normal(5.5, 0.9, 20_000)).astype(np.int64) + 1
    assert BinPacking(drawn, size, batch_size=8, fit=fit, too_long="split").padding_share() < 0.01


def test_drop_last_leaves_out_a_batch_of_fewer_bins():
    counts = [len(rows.bins) - 1 for rows in BinPacking([3] * 7, 3, batch_size=3, drop_last=True)]
    assert counts == [3, 3]


def test_records_are_the_pieces_of_rows():
    ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3, 4, 5]]}))
    sampler = BinPacking(ds, 3, too_long="split", shuffle=False)
    records = [ds.__getitems__(rows) for rows in sampler]
    assert [[record.to_list() for record in some] for some in records] == [
        [{"x": [1, 2, 3]}],
        [{"x": [4, 5]}],
    ]
    assert records[1][0].to_list() == {"x": [4, 5]}


@pytest.mark.parametrize("workers", [0, 2])
def test_pieces_go_through_a_dataloader(workers):
    data = pytest.importorskip("torch.utils.data", reason="tensors")
    ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [list(range(1, 24)), [30, 31], [40]]}))
    sampler = BinPacking(ds, 10, batch_size=2, too_long="split", seed=3)
    collate = ds.collator(layout="packed", pad_to=10, framework="torch")
    loader = data.DataLoader(ds, batch_sampler=sampler, collate_fn=collate, num_workers=workers)
    found = [batch["x"][batch["document_ids"] >= 0].tolist() for batch in loader]
    assert sorted(token for tokens in found for token in tokens) == [*range(1, 24), 30, 31, 40]
    plain = ds.epoch(batches=sampler, layout="packed", pad_to=10, prefetch=1)
    assert [batch["x"][batch["document_ids"] >= 0].tolist() for batch in plain] == found


def test_packed_tensors_keep_their_gradient():
    torch = pytest.importorskip("torch")
    values = torch.arange(1.0, 7, requires_grad=True)
    batch = pack({"x": vl.Ragged(values, [3, 1, 2])}, 4)
    assert batch["document_ids"].dtype == torch.int32
    (batch["x"] ** 2).sum().backward()
    assert values.grad.tolist() == [2, 4, 6, 8, 10, 12]


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_masks_keep_attention_inside_its_sequence():
    torch = pytest.importorskip("torch")
    flex = pytest.importorskip("torch.nn.attention.flex_attention", reason="FlexAttention")
    attend = torch.nn.functional.scaled_dot_product_attention
    torch.manual_seed(0)
    lengths = [9, 30, 4, 64, 17, 1]
    packed = pack(vl.Ragged(torch.arange(sum(lengths)), lengths), 64, fill=-1)
    ids, tokens = packed["document_ids"], packed["values"]
    one = torch.randn(sum(lengths), 2, 8)
    q = k = v = one[tokens].transpose(1, 2)
    for causal in (True, False):
        mask = attention_mask(ids, causal)
        dense = attend(q, k, v, attn_mask=mask[:, None])
        block = flex.create_block_mask(
            document_mask(ids, causal), len(ids), None, 64, 64, device="cpu", BLOCK_SIZE=16
        )
        torch.testing.assert_close(flex.flex_attention(q, k, v, block_mask=block), dense)
        for begin, end in pairwise(np.cumsum([0, *lengths])):
            alone = one[begin:end].transpose(0, 1)[None]
            at = (tokens >= begin) & (tokens < end)
            there = dense.transpose(1, 2)[at]
            torch.testing.assert_close(
                there, attend(alone, alone, alone, is_causal=causal)[0].transpose(0, 1)
            )


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype stage")
def test_cu_seqlens_are_what_attention_of_torch_takes():
    torch = pytest.importorskip("torch")
    attend = torch.nn.functional.scaled_dot_product_attention
    torch.manual_seed(0)
    lengths = [9, 30, 4, 64, 17, 1]
    packed = pack(vl.Ragged(torch.arange(sum(lengths)), lengths), 64)
    tokens, cuts, longest = packed["values"], packed["cu_seqlens"], packed["max_seqlen"]
    rows = torch.randn(sum(lengths), 2, 8)[tokens].reshape(-1, 2, 8)
    nested = torch.nested.nested_tensor_from_jagged(rows, cuts.long(), max_seqlen=longest).transpose(1, 2)
    found = attend(nested, nested, nested).transpose(1, 2).values()
    batch = rows.reshape(*tokens.shape, 2, 8).transpose(1, 2)
    mask = attention_mask(packed["document_ids"], causal=False)[:, None]
    wanted = attend(batch, batch, batch, attn_mask=mask).transpose(1, 2).reshape(rows.shape)
    torch.testing.assert_close(found, wanted)
    varlen = pytest.importorskip("torch.nn.attention.varlen", reason="torch has varlen_attn from 2.10 on")
    some, cuts = rows.to("meta", torch.bfloat16), cuts.to("meta")  # it has no kernel for CPUs
    assert varlen.varlen_attn(some, some, some, cuts, cuts, longest, longest).shape == rows.shape


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_the_loss_of_packed_rows_is_that_of_their_sequences():
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(vocab_size=40, num_key_value_heads=2, use_cache=False, **sizes)
    )
    rows = [torch.randint(3, 40, (n,)) for n in (9, 3, 12, 5, 2, 7)]
    alone = [model(input_ids=row[None], labels=row[None]).loss * (len(row) - 1) for row in rows]
    wanted = sum(alone) / sum(len(row) - 1 for row in rows)
    batch = pack({"input_ids": rows}, 16, labels="input_ids")
    torch.testing.assert_close(model(**batch).loss, wanted)
    given = pack({"input_ids": rows, "labels": rows}, 16, labels="labels")
    torch.testing.assert_close(model(**given).loss, wanted)


def test_labels_are_ignored_where_a_sequence_begins_and_where_none_is():
    rows = [[1, 2, 3], [4], [5, 6], [7, 8]]
    batch = pack({"input_ids": rows}, 5, labels="input_ids", fill=9)
    assert batch["labels"].tolist() == [[-100, 2, 3, -100, 6], [-100, 8, -100, -100, -100]]
    assert batch["input_ids"].tolist() == [[1, 2, 3, 5, 6], [7, 8, 4, 9, 9]]
    own = {"input_ids": rows, "labels": vl.Ragged(np.arange(1, 9, dtype=np.uint8), [3, 1, 2, 2])}
    for source, fill, wanted in (
        (None, 9, [[1, 2, 3, 5, 6], [7, 8, 4, -100, -100]]),
        (None, {"labels": -1}, [[1, 2, 3, 5, 6], [7, 8, 4, -1, -1]]),
        ("labels", None, [[-100, 2, 3, -100, 6], [-100, 8, -100, -100, -100]]),
    ):
        batch = pack(own, 5, labels=source, fill=fill)
        assert batch["labels"].tolist() == wanted
        assert batch["labels"].dtype == np.int64
    pieces = pack([[1, 2, 3]], 2, too_long="split", labels="values")
    assert sorted(pieces["labels"].tolist()) == [[-100, -100], [-100, 2]]


def test_pack_takes_samples_as_they_are():
    pa = pytest.importorskip("pyarrow")
    datasets = pytest.importorskip("datasets")
    columns = {"input_ids": [[1, 2, 3], [4], [5, 6]], "labels": [[7, 8, 9], [1], [2, 3]]}
    wanted = pack(columns, 5)
    table = pa.table(columns)
    held = datasets.Dataset.from_dict(columns)
    for samples in (table.to_pylist(), table, table.to_batches()[0], held, held[:]):
        found = pack(samples, 5)
        assert found.keys() == wanted.keys()
        for name, value in wanted.items():
            np.testing.assert_array_equal(found[name], value)
    assert type(pack(held.with_format("torch"), 5)["labels"]).__name__ == "Tensor"
    with pytest.raises(ValueError, match=r"sequences\[1\]: .*'y' is missing"):
        pack([{"x": [1], "y": [2]}, {"x": [1]}], 5)


def test_attention_mask_is_the_block_mask_of_each_bin():
    batch = pack([[1] * 3, [2] * 2, [3] * 4], 6)
    cuts = batch["cu_seqlens"].tolist()
    for causal in (True, False):
        made = attention_mask(batch["document_ids"], causal)
        whole = vl.ops.block_mask(np.diff(cuts), causal)
        for b, mask in enumerate(made):
            assert (mask == whole[b * 6 : b * 6 + 6, b * 6 : b * 6 + 6]).all()


def test_rows_in_order_open_a_bin_where_they_do_not_fit():
    J = vl.JointNestedRaggedTensorDict({"id": [7, 8, 9], "x": [[1, 2], [3, 4], [5, 6]]})
    batch = vl.data.Dataset(J).batch([0, 1, 2], layout="packed", pad_to=5, fill={"x": 99})
    assert batch["x"].tolist() == [[1, 2, 3, 4, 99], [5, 6, 99, 99, 99]]
    assert batch["id"].tolist() == [7, 8, 9]


@pytest.mark.parametrize("fill", [None, 3, {"w": [5, 6]}], ids=["zero", "one for all", "a row"])
def test_rows_of_many_numbers_fill_bins_as_pack_does(fill):
    columns = {"x": [[1], [2, 3]], "w": [np.ones((1, 2), np.float32), np.full((2, 2), 2, np.float32)]}
    ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict(columns))
    rows = next(iter(BinPacking(ds, 4, shuffle=False)))
    wanted = pack(columns, 4, fill=fill)["w"]
    np.testing.assert_array_equal(ds.batch(rows, layout="packed", pad_to=4, fill=fill)["w"], wanted)
    assert ds.batch([], layout="packed", pad_to=4, fill=fill)["w"].shape == (0, 4, 2)


def _batch(**options):
    J = vl.JointNestedRaggedTensorDict({"x": [[1, 2], [3]], "y": [[[1], [2]], [[3]]]})
    return vl.data.Dataset(J).batch([0, 1], **{"layout": "packed", "pad_to": 5, "keys": ["x"], **options})


def _dataset():
    return vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2], [3]]}))


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: pack([[1], [1, 2, 3]], 2), ValueError, "row 1 has 3 tokens, over size=2; give too_long"),
        (
            lambda: pack({"x": [[1]], "text": ["a"]}, 2),
            ValueError,
            r"\['text'\].*; give the columns that",
        ),
        (lambda: pack({"cu_seqlens": [[1]]}, 2), ValueError, "'cu_seqlens' is a name that packed"),
        (lambda: pack({"a": [[1]], "b": [[1, 2]]}, 2), ValueError, "'b' and 'a' differ in their lengths"),
        (lambda: pack({}, 2), ValueError, "expected at least one name"),
        (lambda: pack([[1]], 2, fill={"x": 1}), KeyError, "fill: 'x' is not one of"),
        (
            lambda: BinPacking([1], 2, max_len=1, too_long="split"),
            ValueError,
            "max_len: cannot be combined with too_long='split'",
        ),
        (lambda: BinPacking([1], 2, batch_size=0), ValueError, "batch_size: expected at least 1, got 0"),
        (lambda: _batch(pad_to=None), ValueError, "pad_to: a packed batch needs the size"),
        (lambda: _batch(pad_to=1), ValueError, "rows: row 0 has 2 tokens, over pad_to=1"),
        (lambda: _batch(keys=["y"]), ValueError, "layout: 'y' is of dim 2"),
        (lambda: _batch(padding_side="left"), ValueError, "padding_side: packed bins"),
        (lambda: _batch(positions=True), ValueError, "positions: does not apply: a packed batch"),
        (lambda: _batch(out={}), ValueError, "out: a packed batch"),
        (lambda: attention_mask(np.zeros(3, int)), ValueError, "document_ids: expected"),
        (lambda: document_mask(np.zeros((1, 3))), TypeError, "document_ids: expected integers, got float64"),
        (lambda: pack([[1]], 2**62), OverflowError, f"size: 1 rows of {2**62} tokens do not fit"),
        (lambda: pack([[1]], 2, labels="x"), KeyError, "labels: 'x' is not one of"),
        (lambda: pack([[1]], 2, labels=True), TypeError, "labels: expected the name of the tokens"),
        (lambda: pack({"x": [[1]], "labels": [[1]]}, 2, labels="x"), ValueError, "labels='labels'"),
        (lambda: pack(_dataset(), 2), TypeError, "rows of a Dataset are packed by BinPacking"),
        (lambda: pack(_dataset()[0], 2), TypeError, "rows of a Joint.* are packed by BinPacking"),
    ],
)
def test_packing_refuses_what_has_no_place(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_bins_that_overflow_are_named():
    ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2], [3]]}))
    rows = next(iter(BinPacking(ds, 3)))
    with pytest.raises(ValueError, match="bin 0 of the batch has 5 tokens, over pad_to=3"):
        ds.batch(rows, layout="packed", pad_to=3, prefix={"x": [9]})
