"""A loop over padded batches: threads of one process beside the workers of torch's DataLoader."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...harness import Case, Spread, Times, row, spread
from . import mimic
from .mimic_peers import PADDED, fill

WORKERS = 2


def last_batch(batches: Callable[[], Iterable[Any]]) -> Any:
    """A whole epoch, of which the last batch is compared."""
    result = None
    for batch in batches():
        result = batch
    return result


def by_workers(
    dataset: Any, rows: list[np.ndarray], collate_fn: Callable[[Any], Any], workers: int = WORKERS
) -> Callable[[], Any]:
    import torch

    torch.set_num_threads(1)
    lists = [batch.tolist() for batch in rows]
    how = {"num_workers": workers, "persistent_workers": True, "prefetch_factor": 2}
    loader = torch.utils.data.DataLoader(dataset, batch_sampler=lists, collate_fn=collate_fn, **how)
    for _ in loader:  # workers start
        pass
    return lambda: last_batch(lambda: loader)


class _Records:
    """Patients, each with its first events, as somebody's dataset gives them; `cut` has the windows."""

    def __init__(self, held: Any, cut: Callable[[Any, int], Any], count: int) -> None:
        self.held, self.cut, self.count = held, cut, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> Any:
        return self.cut(self.held, i)


@row("loader.mimic", "mimic-like epoch as padded tensors, beside DataLoader with two workers", threads=2)
def _(case: Case) -> None:
    size = mimic.Size(9, 20, 4) if case.tiny else mimic.Size()
    drawn, path = mimic.batches(size), mimic.file(size)
    events = np.diff(drawn.bounds1, prepend=0)
    data = drawn._replace(starts=np.zeros_like(events), ends=np.minimum(events, size.most))
    case.reference = mimic.padded(data, data.rows[-1])
    last = data.ends.tolist()
    peer = "nested_ragged_tensors, DataLoader"
    case.rivals.append(peer)
    case.goal("<= 0.33 of " + peer, 0.33, lambda times: times.ratio("varlen", peer), f"x {peer}")

    def arrays(batch: Any) -> dict[str, Any]:
        return {**case.reference, **{key: np.asarray(batch[key]) for key in PADDED if key in batch}}

    @case.contender("varlen", needs="torch", show=arrays)
    def _() -> Any:
        import varlen

        loader = varlen.data.Loader(
            varlen.open(path), batches=data.rows, framework="torch", max_len=size.most, prefetch=2
        )
        return last_batch, lambda: loader

    @case.contender("varlen, DataLoader", needs="torch", show=arrays)
    def _() -> Any:
        import varlen

        opened = varlen.open(path)
        return (by_workers(opened, data.rows, opened.collator(framework="torch", max_len=size.most)),)

    @case.contender(peer, needs=("torch", "nested_ragged_tensors"), show=arrays)
    def _() -> Any:
        import torch
        from nested_ragged_tensors.ragged_numpy import JointNestedRaggedTensorDict as Joint

        def collate(samples: list[Any]) -> dict[str, Any]:
            dense = Joint.vstack(samples).to_dense()
            return {key: torch.from_numpy(dense[key]) for key in PADDED}

        records = _Records(Joint(tensors_fp=path), lambda joint, i: joint[i, 0 : last[i]], len(last))
        return (by_workers(records, data.rows, collate),)

    @case.contender("datasets, DataLoader", needs=("torch", "datasets"), show=arrays)
    def _() -> Any:
        import torch
        from datasets import Dataset

        names = {"dim_1", "dim_2_1", "dim_2_2"}
        nested = {key: value for key, value in mimic.nested(data).items() if key in names}
        lists = {
            key: [_plain(record[:n]) for record, n in zip(nested[key], last, strict=True)] for key in nested
        }
        held = Dataset.from_dict(lists)

        def collate(samples: list[Any]) -> dict[str, Any]:
            return {key: torch.from_numpy(value) for key, value in fill(samples).items()}

        return (by_workers(held, data.rows, collate),)


def _plain(values: Any) -> Any:
    return [_plain(x) for x in values] if isinstance(values, (list, np.ndarray)) else int(values)


@row(
    "loader.handover",
    "the same epoch through DataLoader with one worker, beside making and moving it",
    threads=2,
)
def _(case: Case) -> None:
    size = mimic.Size(9, 20, 4) if case.tiny else mimic.Size()
    drawn, path = mimic.batches(size), mimic.file(size)
    events = np.diff(drawn.bounds1, prepend=0)
    data = drawn._replace(starts=np.zeros_like(events), ends=np.minimum(events, size.most))
    case.reference = mimic.padded(data, data.rows[-1])
    last = data.ends.tolist()
    here = "varlen, in process"

    def arrays(batch: Any) -> dict[str, Any]:
        return {**case.reference, **{key: np.asarray(batch[key]) for key in PADDED if key in batch}}

    def figure(times: Times) -> Spread:
        rounds = zip(times["varlen"], times[here], times["moving its bytes"], strict=False)
        return spread(ours / (made + moved) for ours, made, moved in rounds)

    case.goal("<= 1.5 of the batch in process and moving its bytes", 1.5, figure, "x both")

    @case.contender("varlen", needs="torch", show=arrays)
    def _() -> Any:
        import varlen

        opened = varlen.open(path)
        collate = opened.collator(framework="torch", max_len=size.most)
        sizes = [sum(value.nbytes for value in collate(rows).values()) for rows in data.rows]
        source, target = (np.ones(max(sizes), np.uint8) for _ in range(2))

        def move() -> None:
            for count in sizes:
                np.copyto(target[:count], source[:count])

        case.yardstick("moving its bytes", move)
        return (by_workers(opened, data.rows, collate, 1),)

    @case.contender(here, needs="torch", show=arrays)
    def _() -> Any:
        import varlen

        opened = varlen.open(path)
        collate = opened.collator(framework="torch", max_len=size.most)
        return lambda: last_batch(lambda: map(collate, data.rows))

    @case.contender(
        "nested_ragged_tensors, DataLoader", needs=("torch", "nested_ragged_tensors"), show=arrays
    )
    def _() -> Any:
        import torch
        from nested_ragged_tensors.ragged_numpy import JointNestedRaggedTensorDict as Joint

        def collate(samples: list[Any]) -> dict[str, Any]:
            dense = Joint.vstack(samples).to_dense()
            return {key: torch.from_numpy(dense[key]) for key in PADDED}

        records = _Records(Joint(tensors_fp=path), lambda joint, i: joint[i, 0 : last[i]], len(last))
        return (by_workers(records, data.rows, collate, 1),)
