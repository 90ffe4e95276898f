"""Training loops of other libraries take our data sets, samplers, loaders and collate functions."""

import logging
import os

import numpy as np
import pytest
import varlen as vl
from deep import mostly_deep
from varlen.data import Collate, IterableDataset, Loader, TokenBudget

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

WORDS, ROWS = 30, 40


@pytest.fixture
def ds(tmp_path):
    rng = np.random.default_rng(0)
    rows = [rng.integers(1, WORDS, n).tolist() for n in rng.integers(1, 9, ROWS)]
    path = tmp_path / "rows.nrt"
    label = [len(row) % 2 for row in rows]
    vl.JointNestedRaggedTensorDict({"id": list(range(ROWS)), "x": rows, "label": label}).save(path)
    return vl.open(path)


HOW = {"framework": "torch", "dtype": {"x": "int64", "label": "int64"}}


def tagger():
    """Embeds tokens, takes the mean of those that exist, and gives a loss."""
    torch = pytest.importorskip("torch")

    class Tagger(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.head = torch.nn.Embedding(WORDS, 4), torch.nn.Linear(4, 2)

        def forward(self, batch):
            mask = batch["dim1/mask"].unsqueeze(-1)
            mean = (self.embed(batch["x"]) * mask).sum(1) / mask.sum(1).clamp(min=1)
            return torch.nn.functional.cross_entropy(self.head(mean), batch["label"])

    torch.manual_seed(0)
    return Tagger()


def test_a_loop_of_torch_trains_from_threads_and_workers_alike(ds):
    torch = pytest.importorskip("torch")
    losses = []
    for workers in (None, 0, 1, "iterable"):
        model = tagger()
        optimizer = torch.optim.SGD(model.parameters(), 0.5)
        sampler = TokenBudget(ds, 40, seed=1)
        if workers is None:
            loader = told = Loader(ds, batches=sampler, **HOW)
        elif workers == "iterable":
            told = IterableDataset(ds, batches=sampler, **HOW)
            loader = torch.utils.data.DataLoader(told, batch_size=None, num_workers=2)
        else:
            told = sampler
            loader = torch.utils.data.DataLoader(
                ds, batch_sampler=sampler, collate_fn=ds.collator(**HOW), num_workers=workers
            )
        own = []
        for epoch in range(3):
            told.set_epoch(epoch)
            for batch in loader:
                loss = model(batch)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                own.append(loss.item())
        losses.append(own)
    assert losses[0] == losses[1] == losses[2] == losses[3]
    assert np.mean(losses[0][-5:]) < np.mean(losses[0][:5])


def loader_of(kind, ds, sampler):
    torch = pytest.importorskip("torch")
    if kind == "Loader":
        return Loader(ds, batches=sampler, **HOW)
    if kind == "iterable":
        batches = IterableDataset(ds, batches=sampler, **HOW)
        return torch.utils.data.DataLoader(batches, batch_size=None, num_workers=1)
    return torch.utils.data.DataLoader(ds, batch_sampler=sampler, collate_fn=ds.collator(**HOW))


def lightning_module():
    torch = pytest.importorskip("torch")
    lightning = pytest.importorskip("lightning")
    logging.getLogger("lightning").setLevel(logging.ERROR)

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model, self.to_library = tagger(), []

        def training_step(self, batch, index):
            self.to_library.append(batch["id"].tolist())
            return self.model(batch)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    return Module()


def lightning_trainer(folder, callbacks=()):
    lightning = pytest.importorskip("lightning")
    return lightning.Trainer(
        max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=bool(callbacks),
        callbacks=[*callbacks], enable_progress_bar=False, enable_model_summary=False,
        use_distributed_sampler=False, default_root_dir=folder,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["Loader", "DataLoader", "iterable"])
def test_lightning_trains(ds, kind, tmp_path):
    torch = pytest.importorskip("torch")
    module = lightning_module()
    before = module.model.head.weight.detach().clone()
    lightning_trainer(tmp_path).fit(module, loader_of(kind, ds, TokenBudget(ds, 40)))
    wanted = []
    for epoch in range(2):
        sampler = TokenBudget(ds, 40)
        sampler.set_epoch(epoch)
        wanted += list(sampler)
    assert module.to_library == wanted
    assert not torch.equal(module.model.head.weight, before)


def test_lightning_goes_on_in_and_between_epochs(ds, tmp_path):
    pytest.importorskip("lightning")
    from lightning.pytorch.callbacks import ModelCheckpoint

    def make():
        return Loader(ds, batches=TokenBudget(ds, 40), max_len=3, window="random", seed=7, **HOW)

    each_step = ModelCheckpoint(tmp_path, filename="{step}", every_n_train_steps=1, save_top_k=-1)
    whole = lightning_module()
    lightning_trainer(tmp_path, [each_step]).fit(whole, make())
    count = len(make())
    assert len(whole.to_library) == 2 * count
    for step in (2, count):
        rest = lightning_module()
        lightning_trainer(tmp_path).fit(rest, make(), ckpt_path=tmp_path / f"step={step}.ckpt")
        assert rest.to_library == whole.to_library[step:]


@pytest.mark.parametrize("kind", ["Loader", "DataLoader", "iterable"])
def test_accelerate_trains(ds, kind):
    torch = pytest.importorskip("torch")
    accelerate = pytest.importorskip("accelerate")
    accelerator = accelerate.Accelerator(cpu=True)
    model = tagger()
    sampler = TokenBudget(ds, 40, num_replicas=1, rank=0)
    model, optimizer, loader = accelerator.prepare(
        model,
        torch.optim.SGD(model.parameters(), 0.1),
        loader_of(kind, ds, sampler),
    )
    seen = []
    for batch in loader:
        seen.extend(batch["id"].tolist())
        loss = model(batch)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    assert sorted(seen) == list(range(ROWS))
    assert np.isfinite(loss.item())


def tiny_bert():
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=WORDS, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=16, num_labels=2,
    )  # fmt: skip
    return transformers, transformers.BertForSequenceClassification(config)


@pytest.mark.parametrize("by", mostly_deep(["Collate", "collator", "iterable"], "Collate", "iterable"))
def test_a_trainer_of_hugging_face_trains(ds, by, tmp_path):
    """From rows, which a function batches, or from whole batches, one at a time."""
    torch = pytest.importorskip("torch")
    transformers, model = tiny_bert()
    seen = []
    how = {"names": {"x": "input_ids", "label": "labels"}, "attention_mask": True, "framework": "torch"}

    def collate(rows):
        if by == "iterable":
            batch = rows[0]
        else:
            batch = Collate(**how)(rows) if by == "Collate" else ds.collator(**how)(rows)
        seen.append(batch.pop("id").tolist())
        return batch

    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    batches = IterableDataset(ds, batches=TokenBudget(ds, 40, seed=1), **how)
    steps = len(batches) + 2  # into the second epoch
    length = {"max_steps": steps} if by == "iterable" else {"num_train_epochs": 1}
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path), per_device_train_batch_size=1 if by == "iterable" else 8, report_to=[],
        use_cpu=True, save_strategy="no", disable_tqdm=True, remove_unused_columns=False,
        dataloader_num_workers=0, logging_strategy="no", **length,
    )  # fmt: skip
    before = model.classifier.weight.detach().clone()
    rows = batches if by == "iterable" else ds
    trainer = transformers.Trainer(model=model, args=arguments, train_dataset=rows, data_collator=collate)
    result = trainer.train()
    assert np.isfinite(result.training_loss)
    assert not torch.equal(model.classifier.weight, before)
    if by != "iterable":
        assert {row for rows in seen for row in rows} == set(range(ROWS))
    else:
        wanted = []
        for epoch in range(2):
            batches.set_epoch(epoch)
            wanted += [batch["id"].tolist() for batch in batches]
        assert seen[:steps] == wanted[:steps]


@pytest.mark.parametrize("form", [None, "numpy", "torch", "arrow", "pandas", "polars"])
def test_rows_of_hugging_face_datasets_are_collated(form):
    torch = pytest.importorskip("torch")
    datasets = pytest.importorskip("datasets")
    if form in ("pandas", "polars"):
        pytest.importorskip(form)
    columns = {
        "x": [[1, 2, 3], [4], []], "y": [0, 1, 2], "name": ["a", "b", "c"], "tags": [[], ["u", "v"], ["w"]],
        "both": [{"u": 1, "v": [0.5]}, {"u": 2, "v": []}, {"u": 3, "v": [1.5, 2]}],
    }  # fmt: skip
    held = datasets.Dataset.from_dict(columns).with_format(form)
    for samples in (held[:], [held[i] for i in range(3)]):
        batch = Collate(framework="numpy")(samples)
        assert batch["x"].tolist() == [[1, 2, 3], [4, 0, 0], [0, 0, 0]]
        assert batch["x/mask"].sum(1).tolist() == [3, 1, 0]
        assert batch["y"].tolist() == [0, 1, 2]
        assert (batch["name"], batch["tags"]) == (columns["name"], columns["tags"])
        assert batch["both"]["u"].tolist() == [1, 2, 3]
        assert batch["both"]["v"].tolist() == [[0.5, 0], [0, 0], [1.5, 2]]
        how = Collate(names={"x": "input_ids", "y": "labels"}, attention_mask=True)
        of_model = how(samples)
        assert of_model["attention_mask"].tolist() == [[1, 1, 1], [1, 0, 0], [0, 0, 0]]
        assert of_model["input_ids"].dtype == of_model["labels"].dtype == torch.int64
        assert (of_model["name"], of_model["labels"].tolist()) == (columns["name"], [0, 1, 2])


def test_the_loader_takes_a_dataset_of_hugging_face():
    pytest.importorskip("torch")
    datasets = pytest.importorskip("datasets")
    held = datasets.Dataset.from_dict({"x": [[1, 2, 3], [4], [5, 6]]})
    assert [batch["x"].shape for batch in Loader(held, 2)] == [(2, 3), (1, 2)]


@pytest.mark.parametrize("workers", [0, 2])
def test_grain_reads_rows_by_number(ds, workers):
    grain = pytest.importorskip("grain")
    source = grain.MapDataset.source(ds).shuffle(seed=1).map(_of_row).batch(8, batch_fn=Collate())
    if workers == 0:
        batches = list(source.to_iter_dataset())
    else:
        pytest.importorskip("grain.multiprocessing")
        batches = list(source.to_iter_dataset(grain.ReadOptions(num_threads=workers, prefetch_buffer_size=4)))
    assert sorted(i for batch in batches for i in batch["id"].tolist()) == list(range(ROWS))
    for batch in batches:
        for i, row, mask in zip(batch["id"], batch["x"], batch["x/mask"], strict=True):
            assert row[mask].tolist() == ds[int(i)].to_list()["x"]


def test_grain_trains(ds):
    grain = pytest.importorskip("grain")
    torch = pytest.importorskip("torch")
    model = tagger()
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    rows = grain.MapDataset.source(ds).seed(1).shuffle().map(_of_row)
    batches = rows.batch(8, batch_fn=Collate(framework="torch", dtype=HOW["dtype"])).to_iter_dataset()
    before, losses = model.head.weight.detach().clone(), []
    for batch in batches:
        loss = model({**batch, "dim1/mask": batch["x/mask"]})
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert len(losses) == ROWS // 8
    assert np.isfinite(losses).all()
    assert not torch.equal(model.head.weight, before)


def _of_row(row):
    return {"id": int(row["id"][0]), "x": row["x"], "label": int(row["label"][0])}
