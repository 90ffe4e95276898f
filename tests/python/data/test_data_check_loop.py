"""check_loop sees what loops lose, repeat and reorder, and nothing in loops that are right."""

import itertools
import os
import signal
import time

import numpy as np
import pytest
import varlen as vl
from deep import mostly_deep
from varlen.data import BatchSampler, IterableDataset, Loader, Loop, TokenBudget, check_loop
from varlen.data.loops import trial as loop_trial

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

LENGTHS = np.random.default_rng(0).integers(0, 9, 60)
ROWS = {"id": list(range(60)), "x": [list(range(i, i + n)) for i, n in enumerate(LENGTHS)]}
DS = vl.data.Dataset(vl.JointNestedRaggedTensorDict(ROWS))
HOW = {"framework": "torch", "max_len": 3, "window": "random", "seed": 5}
ALONE = {"ranks": [1], "workers": [0]}


def budget(**options):
    return TokenBudget(DS, 20, seed=3, uneven="empty", **options)


# Five loops, the last two of them broken.


def a_data_loader(rank, ranks, workers):
    import torch

    sampler = budget()
    how = {"batch_sampler": sampler, "collate_fn": DS.collator(**HOW), "num_workers": workers}
    loader = torch.utils.data.DataLoader(DS, **how)

    def epoch(number):
        sampler.set_epoch(number)
        return loader

    return Loop(epoch, sampler.state_dict, sampler.load_state_dict)


def an_iterable_dataset(rank, ranks, workers):
    import torch

    batches = IterableDataset(DS, batches=budget(), **HOW)
    loader = torch.utils.data.DataLoader(batches, batch_size=None, num_workers=workers)
    return Loop(loader, batches.state_dict, batches.load_state_dict)


def a_loader(rank, ranks, workers):
    return Loader(DS, batches=budget(), threads=1 + workers, prefetch=3, **HOW)


def a_loop_that_tells_no_epoch(rank, ranks, workers):
    import torch

    how = {"batch_sampler": budget(), "collate_fn": DS.collator(**HOW), "num_workers": workers}
    return torch.utils.data.DataLoader(DS, **how)


def a_loop_that_shares_nothing(rank, ranks, workers):
    import torch

    how = {"shuffle": True, "collate_fn": DS.collator(**HOW), "num_workers": workers, "drop_last": True}
    return torch.utils.data.DataLoader(DS, 7, **how)


@pytest.mark.parametrize("loop", [a_data_loader, an_iterable_dataset, a_loader])
def test_nothing_is_found_in_loops_that_are_right(loop):
    pytest.importorskip("torch")
    report = check_loop(loop, DS, rows="id")
    assert report, report
    assert report.runs == ((1, 0), (1, 2), (2, 0), (2, 2))
    assert report.notes == ()
    report.raise_for_findings()


@pytest.mark.slow
@pytest.mark.parametrize(
    "loop", [pytest.param(a_data_loader, marks=pytest.mark.deep), an_iterable_dataset, a_loader]
)
def test_nothing_is_found_among_four_ranks(loop):
    pytest.importorskip("torch")
    report = check_loop(loop, DS, rows="id", ranks=[4], epochs=3)
    assert report, report


def test_an_epoch_that_nobody_sets_is_found():
    pytest.importorskip("torch")
    report = check_loop(a_loop_that_tells_no_epoch, DS, rows="id")
    assert [(found.kind, found.ranks, found.workers, found.epoch) for found in report.findings] == [
        ("order", ranks, workers, epoch) for ranks in (1, 2) for workers in (0, 2) for epoch in (1, 2)
    ]
    assert report.notes == ("a resume, as the loop has no state_dict and load_state_dict",)
    assert "call set_epoch() of the sampler before each epoch" in str(report)


def test_ranks_that_share_nothing_are_found():
    pytest.importorskip("torch")
    report = check_loop(a_loop_that_shares_nothing, DS, rows="id", workers=[0])
    alone, together = ([f for f in report.findings if f.ranks == ranks] for ranks in (1, 2))
    assert {found.kind for found in alone} == {"missing"}
    assert {len(found.rows) for found in alone} == {4}
    assert {found.kind for found in together} >= {"repeated"}
    with pytest.raises(ValueError, match=r"repeated: 2 ranks, 0 workers, epoch 0: .* seen more than once"):
        report.raise_for_findings()


# Loops of other libraries.


def test_a_loop_of_accelerate_is_right():
    pytest.importorskip("torch")
    pytest.importorskip("accelerate")

    def make_loop(rank, ranks, workers):
        import accelerate
        import torch

        sampler = TokenBudget(DS, 20, seed=3, num_replicas=1, rank=0)
        how = {"batch_sampler": sampler, "collate_fn": DS.collator(**HOW)}
        loader = accelerate.Accelerator(cpu=True).prepare(torch.utils.data.DataLoader(DS, **how))

        def epoch(number):
            loader.set_epoch(number)
            return loader

        return epoch

    report = check_loop(make_loop, DS, rows="id", workers=[0], allow=["repeated"])
    assert report, report


def test_an_iterable_dataset_in_accelerate_says_what_to_pass():
    pytest.importorskip("torch")
    pytest.importorskip("accelerate")

    def make_loop(rank, ranks, workers):
        import accelerate

        return accelerate.Accelerator(cpu=True).prepare(an_iterable_dataset(rank, ranks, workers).epoch)

    report = check_loop(make_loop, DS, rows="id", workers=[0])
    assert {(found.kind, found.ranks) for found in report.findings} == {("error", 2)}
    assert "give prepare() a varlen.data.Loader" in str(report)


@pytest.mark.slow
@pytest.mark.parametrize("kind", mostly_deep(["Loader", "iterable"], "iterable"))
def test_a_loop_of_lightning_is_right(kind, tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("lightning")

    def make_loop(rank, ranks, workers):
        import lightning
        import torch

        os.environ.update(TORCHELASTIC_RUN_ID="a test", GROUP_RANK="0")  # as torchrun does

        class Seen(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.epochs, self.layer = [], torch.nn.Linear(1, 1)

            def on_train_epoch_start(self):
                self.epochs.append([])

            def training_step(self, batch, index):
                self.epochs[-1].append(batch)
                return self.layer(torch.ones(1)).sum()

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), 0.1)

        seen, make = Seen(), {"Loader": a_loader, "iterable": an_iterable_dataset}[kind]
        loop = make(rank, ranks, workers)
        lightning.Trainer(
            max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False, use_distributed_sampler=False,
            default_root_dir=tmp_path, devices=ranks, strategy="ddp" if ranks > 1 else "auto",
        ).fit(seen, getattr(loop, "epoch", loop))  # fmt: skip
        return lambda epoch: seen.epochs[epoch]

    report = check_loop(make_loop, DS, rows="id", epochs=2)
    assert report, report


def a_sampler(rank, ranks, workers):
    sampler = BatchSampler(24, 5, shuffle=True, uneven="empty")
    assert (sampler.num_replicas, sampler.rank) == (ranks, rank)
    return Loop(lambda e: sampler.set_epoch(e) or sampler, sampler.state_dict, sampler.load_state_dict)


@pytest.mark.parametrize("start", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_processes_are_forked_or_spawned(start):
    report = check_loop(a_sampler, 24, ranks=[2 if start == "fork" else 1], workers=[0], start=start)
    assert report, report


@pytest.mark.slow
@pytest.mark.deep  # a loop of the trainer trains in test_data_frameworks
def test_a_loop_of_the_trainer_is_right(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")

    def make_loop(rank, ranks, workers):
        import torch
        import transformers

        arguments = transformers.TrainingArguments(
            output_dir=str(tmp_path), per_device_train_batch_size=7, report_to=[], use_cpu=True,
            remove_unused_columns=False, dataloader_num_workers=workers,
        )  # fmt: skip
        how = {
            "model": torch.nn.Linear(1, 1),
            "args": arguments,
            "data_collator": DS.collator(framework="torch"),
        }
        loader = transformers.Trainer(train_dataset=DS, **how).get_train_dataloader()

        def epoch(number):
            loader.set_epoch(number)
            return loader

        return epoch

    report = check_loop(make_loop, DS, rows="id", ranks=[1, 2], allow=["repeated"])
    assert report, report


# One planted fault for each kind.


class Steps:
    """A loop of its own, whose fault is in `batches(epoch)`."""

    def __init__(self, batches):
        self.batches, self.epoch, self.had, self.start = batches, 0, 0, 0

    def __iter__(self):
        epoch, self.had, self.start = self.epoch, self.start, 0
        self.epoch += 1
        for batch in self.batches(epoch)[self.had :]:
            self.had += 1
            yield batch

    def state_dict(self):
        return {"epoch": self.epoch - 1, "had": self.had}

    def load_state_dict(self, state):
        self.epoch, self.start = state["epoch"], state["had"]


def shuffled(epoch, rank=0, ranks=1):
    order = np.random.default_rng(epoch).permutation(24)
    return order.reshape(-1, 2)[rank::ranks].tolist()


def kinds(report):
    return {found.kind for found in report.findings}


def test_a_loop_of_ones_own_is_right():
    report = check_loop(lambda rank, ranks, workers: Steps(lambda e: shuffled(e, rank, ranks)), 24)
    assert report, report
    assert str(report).startswith("nothing found in 4 runs: 1 rank, 0 workers; 1 rank, 2 workers; 2 ranks")


def forgetful(loop):
    loop.load_state_dict = lambda state: None
    return loop


DRAW = itertools.count()


def drawn(epoch):
    return [{"id": batch, "noise": next(DRAW)} for batch in shuffled(epoch)]


FAULTS = {
    "missing": lambda: Steps(lambda epoch: shuffled(epoch)[:-1]),
    "repeated": lambda: Steps(lambda epoch: [*shuffled(epoch), [3]]),
    "unknown": lambda: Steps(lambda epoch: [*shuffled(epoch), [99]]),
    "order": lambda: Steps(lambda epoch: shuffled(0)),
    "resume": lambda: forgetful(Steps(shuffled)),
    "error": lambda: Steps(lambda epoch: 1 // 0),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_each_kind_of_fault_is_found(kind):
    report = check_loop(lambda *_: FAULTS[kind](), 24, **ALONE)
    assert kinds(report) == {kind}
    assert not report
    assert f"{kind}: 1 rank, 0 workers" in str(report)
    if kind not in ("error", "resume"):
        assert check_loop(lambda *_: FAULTS[kind](), 24, allow=[kind], **ALONE)


def test_findings_name_their_places():
    report = check_loop(lambda *_: FAULTS["unknown"](), 23, **ALONE)
    first = report.findings[0]
    assert (first.kind, first.epoch, first.rows) == ("unknown", 0, (23, 99))
    assert str(first) == "unknown: 1 rank, 0 workers, epoch 0: 2 of 23 rows are none of the data: 23, 99"
    [found] = check_loop(lambda *_: FAULTS["resume"](), 24, **ALONE).findings
    assert "rank 0, after a resume at batch 3 of epoch 1: batch 0 has rows" in found.text


def test_a_resume_is_compared_to_the_bit():
    report = check_loop(lambda *_: Steps(drawn), 24, rows="id", **ALONE)
    assert kinds(report) == {"resume"}
    assert "batch 0 has the same rows with other numbers" in str(report)


def test_ranks_that_differ_in_steps_are_found():
    def make_loop(rank, ranks, workers):
        return Steps(
            lambda epoch: shuffled(epoch) if ranks == 1 else shuffled(epoch)[rank * 5 :][: 5 + 2 * rank]
        )

    report = check_loop(make_loop, 24, workers=[0])
    assert kinds(report) == {"steps"}
    assert report.findings[0].text == "ranks have 5, 7 steps"


def test_a_rank_that_fails_does_not_hold_up_the_report():
    def make_loop(rank, ranks, workers):
        if rank == 1:
            raise OSError("no data here")
        return Steps(lambda epoch: time.sleep(60))

    report = check_loop(make_loop, 24, ranks=[2], workers=[0], timeout=1)
    assert kinds(report) == {"error"}
    assert "rank 1: OSError: no data here" in str(report)
    assert "rank 0: was stopped after 0 batches of epoch 0, as another rank had failed" in str(report)


def test_rows_are_a_key_a_function_or_the_batch():
    wanted = {str(n) for n in range(24)}
    named = {
        "id": lambda e: [{"id": np.array(batch).astype(str)} for batch in shuffled(e)],
        "function": lambda e: [(None, list(map(str, batch))) for batch in shuffled(e)],
        "batch": lambda e: [list(map(str, batch)) for batch in shuffled(e)],
    }
    rows = {"id": "id", "function": lambda batch: batch[1], "batch": None}
    for kind, batches in named.items():
        report = check_loop(lambda *_, made=batches: Steps(made), wanted, rows=rows[kind], **ALONE)
        assert report, report
    report = check_loop(lambda *_: Steps(named["id"]), wanted, rows="row", **ALONE)
    assert "rows: a batch has no 'row', it is ['id']; name the key of row ids, or a function" in str(report)


def test_rows_that_some_run_lacks_are_missing_where_none_are_said():
    report = check_loop(lambda rank, ranks, _: Steps(lambda e: shuffled(e)[: 12 - e]), **ALONE)
    assert [(found.kind, found.epoch, len(found.rows)) for found in report.findings] == [
        ("missing", 1, 2),
        ("missing", 2, 4),
    ]


class Renewed(Steps):
    """A loop whose state is of another epoch or batch than it says."""

    def __init__(self, epoch=0, had=0):
        super().__init__(shuffled)
        self.wrong_epoch, self.wrong_had = epoch, had

    def load_state_dict(self, state):
        self.epoch, self.start = state["epoch"] - self.wrong_epoch, state["had"] + self.wrong_had


@pytest.mark.parametrize("wrong", [{"epoch": 1}, {"had": -1}, {"had": 1}], ids=str)
def test_a_state_of_another_place_is_found(wrong):
    report = check_loop(lambda *_: Renewed(**wrong), 24, **ALONE)
    assert kinds(report) == {"resume"}


@pytest.mark.parametrize("after", [1, 12, 99])
def test_a_loop_may_stop_anywhere(after):
    assert check_loop(lambda *_: Renewed(), 24, resume_after=after, **ALONE)
    assert check_loop(lambda *_: Renewed(), 24, resume_after=after, epochs=1, **ALONE)


def test_an_order_that_comes_again_later_is_found():
    [found] = check_loop(lambda *_: Steps(lambda epoch: shuffled(epoch % 2)), 24, **ALONE).findings
    assert (found.kind, found.epoch, found.text) == ("order", 2, "its rows come in the order of epoch 0")


def test_few_batches_have_one_order_by_chance():
    lists = [[0, 2, 4], [1, 3, 5]]  # as of rows that are sorted by length
    report = check_loop(lambda *_: Steps(lambda epoch: lists), 6, **ALONE)
    assert report, report
    assert report.notes == ("whether orders repeat, as epochs of few batches come in one order by chance",)
    assert not check_loop(lambda *_: Steps(lambda epoch: lists), 6, shuffle=False, **ALONE).notes


@pytest.mark.parametrize(
    "make",
    [
        lambda batch: [(int(n), "a") for n in batch],
        lambda batch: {f"P{n}" for n in batch},
        lambda batch: np.datetime64("2020-01-01") + np.array(batch),
        lambda batch: iter([np.datetime64("2020-01-01") + n for n in batch]),
        lambda batch: [np.int8(n) for n in batch],
        lambda batch: np.array([str(n) for n in batch], object),
    ],
    ids=["tuples", "texts", "times", "an iterator", "numbers of NumPy", "objects"],
)
def test_ids_are_any_values(make):
    def make_loop(rank, ranks, workers):
        return lambda epoch: map(make, shuffled(epoch))

    report = check_loop(make_loop, make(range(24)), **ALONE)
    assert report, report
    assert kinds(check_loop(make_loop, make(range(1, 25)), **ALONE)) == {"missing", "unknown"}


@pytest.mark.parametrize(
    ("batch", "said"),
    [
        ({"x": [1]}, r"a dict of \['x'\]"),
        (([1, 2], [5, 6]), "a tuple"),
        ([np.arange(2), np.arange(2)], "a ndarray"),
        (vl.Ragged.from_list([[1], [2]]), "a Ragged"),
        (vl.Ragged.from_list([[1], [2]]).to_padded(), "a Padded"),
        (None, "a NoneType"),
        ([3, None], "a NoneType"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_ids_says_what_to_give(batch, said):
    text = f"a batch is no list of ids, it has {said}; name the key of row ids, or give a function"
    with pytest.raises(TypeError, match=text):
        loop_trial._ids_of(batch, None)


def test_rows_of_a_dataset_have_the_ids_of_its_key():
    ids = [100 + n for n in range(24)]
    ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"id": ids, "x": [[n] for n in range(24)]}))
    for part in (ds, ds.select(range(12, 24))):
        report = check_loop(lambda *_, part=part: Loader(part, 2, shuffle=True), part, rows="id", **ALONE)
        assert report, report


def test_a_loop_without_rows_is_found():
    report = check_loop(lambda *_: Steps(lambda epoch: []), **ALONE)
    assert [(found.kind, found.text) for found in report.findings] == [("missing", "no epoch gives a row")]


def test_an_epoch_without_end_is_found():
    report = check_loop(lambda *_: lambda epoch: itertools.repeat([1, 2]), 24, **ALONE)
    assert kinds(report) == {"error"}
    assert "RuntimeError: epoch 0 does not end: 3,401 batches came" in str(report)


def test_an_iterator_is_no_loop_of_several_epochs():
    report = check_loop(lambda *_: iter(shuffled(0)), 24, **ALONE)
    assert "make_loop: a list_iterator yields its batches only once, but the check runs 3 epochs" in str(
        report
    )
    assert check_loop(lambda *_: iter(shuffled(0)), 24, epochs=1, **ALONE)
    assert "epoch 0: expected batches to iterate, got NoneType" in str(
        check_loop(lambda *_: print, 24, **ALONE)
    )


@pytest.mark.parametrize("end", ["exit", "signal"])
def test_a_process_that_ends_says_how(end):
    def batches(epoch):
        yield from shuffled(epoch)[:3]
        os._exit(3) if end == "exit" else os.kill(os.getpid(), signal.SIGKILL)

    text = str(check_loop(lambda *_: batches, 24, **ALONE))
    wanted = {"exit": "by itself after 3 batches of epoch 0, with exit code 3", "signal": "killed by SIGKILL"}
    assert wanted[end] in text


def test_what_lies_around_a_batch_in_memory_is_none_of_it():
    torch = pytest.importorskip("torch")

    class Batch:
        def __init__(self, ids):
            values = torch.full((100,), float(next(DRAW)))
            values[: len(ids)] = torch.tensor(ids)
            self.ids, self.x = ids, vl.Ragged(values[: len(ids)], lengths=[len(ids)])

    make = {"objects": Batch, "what does not pickle": lambda ids: [ids, lambda: ids, (x for x in ids)]}
    for kind, batch in make.items():
        rows = (lambda batch: batch.ids) if kind == "objects" else (lambda batch: batch[0])
        report = check_loop(
            lambda *_, batch=batch: Steps(lambda e: list(map(batch, shuffled(e)))), 24, rows=rows, **ALONE
        )
        assert report, report


def test_threads_that_a_fork_leaves_behind_are_not_waited_for():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:

        def batches(epoch):
            torch.ones(1 << 20).exp()  # by the threads of OpenMP
            return shuffled(epoch)

        batches(0)
        report = check_loop(lambda *_: batches, 24, timeout=20, **ALONE)
    finally:
        torch.set_num_threads(before)
    assert report, report


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: check_loop(3),
            TypeError,
            "make_loop: expected a function of rank, ranks and workers, got int",
        ),
        (lambda: check_loop(print, rows=3), TypeError, "rows: expected a key or a function, got int"),
        (
            lambda: check_loop(print, 3.5),
            TypeError,
            "data: expected a number of rows, their ids or a dataset",
        ),
        (
            lambda: check_loop(print, "abc"),
            TypeError,
            "data: expected a number of rows, their ids or a dataset",
        ),
        (
            lambda: check_loop(print, [1, 2, 1]),
            ValueError,
            "data: expected distinct ids, got 1 2 times",
        ),
        (lambda: check_loop(print, allow=["gone"]), ValueError, "allow: expected 'missing', 'repeated'"),
        (lambda: check_loop(print, ranks=[0]), ValueError, "ranks"),
        (lambda: check_loop(print, epochs=0), ValueError, "epochs"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()
    report = check_loop(lambda *_: 3, **ALONE)
    assert "make_loop: expected batches to iterate, a function of the epoch's number, or a Loop" in str(
        report
    )
