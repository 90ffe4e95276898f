"""Data sets: opening many shards, epochs over them, views of some of their rows."""

from __future__ import annotations

import functools
import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...harness import US, Case, row, spread
from . import mimic
from .peers import CHUNK, MOSAICML, write_litdata

_BATCH = 64
KEYS = ("code", "time")


class Lists(NamedTuple):
    """Sequences of codes and times, in a file and in a folder of shards."""

    codes: np.ndarray
    times: np.ndarray
    offsets: np.ndarray
    file: Path
    shards: Path

    def cut(self, array: np.ndarray, rows: Any) -> list[np.ndarray]:
        """The sequences of some rows."""
        return [array[self.offsets[i] : self.offsets[i + 1]] for i in rows]


@functools.cache
def _lists(rows: int, shards: int) -> Lists:
    import varlen

    rng = np.random.default_rng(0)
    lengths = rng.integers(50, 400, rows)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    codes = rng.integers(0, 5000, offsets[-1]).astype(np.int32)
    times = rng.random(offsets[-1]).astype(np.float32)
    file, folder = (mimic.folder() / f"{name}-{rows}-{shards}" for name in ("one.nrt", "shards"))
    arrays = {"dim1/bounds": offsets[1:], "dim1/code": codes, "dim1/time": times}
    varlen.io.save(file, arrays, durable=False)
    with varlen.io.ShardWriter(folder, rows // shards, durable=False) as writer:
        writer.append(arrays)
    return Lists(codes, times, offsets, file, folder)


def _memmaps(data: Lists) -> list[np.ndarray]:
    """Codes and times, each mapped from a file of its own."""
    held: list[np.ndarray] = []
    for name, array in (("codes", data.codes), ("times", data.times)):
        path = data.file.with_suffix(f".{name}")
        array.tofile(path)
        held.append(np.memmap(path, array.dtype, "r"))
    return held


def _records(data: Lists) -> list[dict[str, np.ndarray]]:
    rows = range(len(data.offsets) - 1)
    return [
        dict(zip(KEYS, pair, strict=True))
        for pair in zip(data.cut(data.codes, rows), data.cut(data.times, rows), strict=True)
    ]


def _pad(codes: list[np.ndarray], times: list[np.ndarray]) -> dict[str, np.ndarray]:
    """A collate by hand: two padded arrays and their mask."""
    lengths = np.array([len(code) for code in codes])
    out = {
        "dim1/mask": np.arange(lengths.max()) < lengths[:, None],
        "code": np.zeros((len(codes), lengths.max()), np.int32),
        "time": np.zeros((len(codes), lengths.max()), np.float32),
    }
    for i, (code, time) in enumerate(zip(codes, times, strict=True)):
        out["code"][i, : len(code)] = code
        out["time"][i, : len(time)] = time
    return out


def _last(batches: Any) -> Any:
    for batch in batches:
        last = batch
    return last


def _epoch_of_datasets(held: Any, batches: list[Any]) -> Any:
    """Batches by numbers of rows or slices, each collated."""

    def epoch() -> Any:
        for rows in batches:
            some = held[rows]
            last = _pad(list(some["code"]), list(some["time"]))
        return {**last, "code": last["code"].astype(np.int32), "time": last["time"].astype(np.float32)}

    return epoch


def _epoch(case: Case, rows: int = 12_800, shards: int = 64) -> tuple[Lists, list[np.ndarray]]:
    """A set and the rows of each batch of one epoch, of which the last batch is the reference."""
    data = _lists(case.size(rows, 10 * shards), shards)
    order = np.random.default_rng(1).permutation(len(data.offsets) - 1)
    batches = [order[at : at + _BATCH] for at in range(0, len(order), _BATCH)]
    case.reference = _pad(data.cut(data.codes, batches[-1]), data.cut(data.times, batches[-1]))
    return data, batches


@row("sets.epoch", "epoch over 200 shards, 5,000 sequences of 50 to 400, shuffled, padded batches of 64")
def _(case: Case) -> None:
    shards = 200
    data, batches = _epoch(case, 5_000, shards)
    per_shard = (len(data.offsets) - 1) // shards
    case.goal("<= 1.05 of one file", 1.05, lambda t: t.ratio("varlen", "varlen, one file"), "x one file")

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        opened = varlen.open(data.shards)
        return lambda: _last(opened.epoch(batches=batches))

    @case.contender("varlen, one file")
    def _() -> Any:
        import varlen

        opened = varlen.open(data.file)
        return lambda: _last(opened.epoch(batches=batches))

    @case.contender("datasets and a collate", needs="datasets")
    def _() -> Any:
        import datasets

        columns = {
            "code": data.cut(data.codes, range(len(data.offsets) - 1)),
            "time": data.cut(data.times, range(len(data.offsets) - 1)),
        }
        held = datasets.Dataset.from_dict(columns).with_format("numpy")

        return _epoch_of_datasets(held, batches)

    @case.contender("Lance and a collate", needs="lance")
    def _() -> Any:
        import lance
        import pyarrow as pa

        columns = {
            name: pa.ListArray.from_arrays(pa.array(data.offsets.astype(np.int32)), pa.array(flat))
            for name, flat in (("code", data.codes), ("time", data.times))
        }
        path = mimic.free_path()
        held = lance.write_dataset(pa.table(columns), path, max_rows_per_file=per_shard)

        def lists(column: Any) -> list[np.ndarray]:
            return np.split(column.flatten().to_numpy(), column.offsets.to_numpy()[1:-1])

        def epoch() -> Any:
            for rows in batches:
                some = held.take(rows.tolist())
                last = _pad(*(lists(some.column(name).combine_chunks()) for name in ("code", "time")))
            return last

        return epoch

    @case.contender("litdata and a collate", needs="litdata")
    def _() -> Any:
        from litdata import StreamingDataset

        path = mimic.free_path()
        write_litdata(_records(data), path, chunk_size=per_shard)
        held = StreamingDataset(path, batch_decode=False)

        def epoch() -> Any:
            for rows in batches:
                some = [held[i] for i in rows.tolist()]
                last = _pad([record["code"] for record in some], [record["time"] for record in some])
            return last

        return epoch

    @case.contender("memmaps of shards by hand")
    def _() -> Any:
        held = []
        for at in range(0, len(data.offsets) - 1, per_shard):
            offsets = data.offsets[at : at + per_shard + 1]
            part = data._replace(
                offsets=offsets - offsets[0], file=data.file.with_stem(f"{data.file.stem}-{at}")
            )
            whole = slice(offsets[0], offsets[-1])
            part = part._replace(codes=data.codes[whole], times=data.times[whole])
            held.append((*_memmaps(part), part.offsets))

        def epoch() -> Any:
            for rows in batches:
                codes, times = [], []
                for shard, i in zip((rows // per_shard).tolist(), (rows % per_shard).tolist(), strict=True):
                    code, time, offsets = held[shard]
                    codes.append(code[offsets[i] : offsets[i + 1]])
                    times.append(time[offsets[i] : offsets[i + 1]])
                last = _pad(codes, times)
            return last

        return epoch

    @case.contender("DataLoader over memmaps", needs="torch")
    def _() -> Any:
        from torch.utils.data import DataLoader, Dataset

        held = _memmaps(data)

        class Mapped(Dataset[Any]):
            def __len__(self) -> int:
                return len(data.offsets) - 1

            def __getitem__(self, i: int) -> list[np.ndarray]:
                return [array[data.offsets[i] : data.offsets[i + 1]] for array in held]

        loader = DataLoader(
            Mapped(), batch_sampler=batches, collate_fn=lambda rows: _pad(*map(list, zip(*rows, strict=True)))
        )
        return lambda: _last(loader)


@row(
    "sets.mix",
    "epoch over a mix of 4 sets, 12,800 sequences of 50 to 400, a row of each in turn, batches of 64",
)
def _(case: Case) -> None:
    data = _lists(case.size(12_800, 640), 64)
    count = len(data.offsets) - 1
    parts = np.arange(count).reshape(4, -1)
    order = parts.T.ravel()
    batches = [order[at : at + _BATCH] for at in range(0, count, _BATCH)]

    def own(batch: Any) -> dict[str, Any]:
        return {name: batch[name] for name in ("dim1/mask", "code", "time")}

    case.reference = _pad(data.cut(data.codes, batches[-1]), data.cut(data.times, batches[-1]))
    case.goal(
        "<= 5 us a batch more than one set",
        5.0,
        lambda t: spread(
            (mix - one) / len(batches) / US
            for mix, one in zip(t["varlen"], t["varlen, one set"], strict=False)
        ),
        "us",
    )

    def sets() -> list[Any]:
        import varlen

        opened = varlen.open(data.file)
        folder = mimic.folder() / f"mix-{count}"
        folder.mkdir(exist_ok=True)
        files = [folder / f"{i}.nrt" for i in range(4)]
        for file, rows in zip(files, parts, strict=True):
            if not file.exists():
                opened.select(rows).save(file)
        return [varlen.open(file) for file in files]

    @case.contender("varlen", show=own)
    def _() -> Any:
        import varlen

        how: dict[str, Any] = {"until": "all", "batch_size": _BATCH, "shuffle": False}
        named = dict(zip("abcd", sets(), strict=True))
        mix = varlen.data.Mix(named, weights=dict.fromkeys(named, 1), **how)

        def epoch() -> Any:
            mix._epoch_batches = None  # as for an epoch of its own
            return _last(mix.dataset.epoch(batches=mix))

        return epoch

    @case.contender("varlen, one set", show=own)
    def _() -> Any:
        first, *others = sets()
        joined = first.concat(*others)
        return lambda: _last(joined.epoch(batches=batches))

    @case.contender("interleave_datasets and a collate", needs="datasets")
    def _() -> Any:
        import datasets

        held = [
            datasets.Dataset.from_dict(
                {"code": data.cut(data.codes, rows), "time": data.cut(data.times, rows)}
            )
            for rows in parts
        ]
        mixed = datasets.interleave_datasets(held).with_format("numpy")

        return _epoch_of_datasets(mixed, [slice(at, at + _BATCH) for at in range(0, count, _BATCH)])

    def records(result: list[dict[str, Any]]) -> dict[str, Any]:
        """The last batch of the reference, from batches in whatever order."""
        places = {row: (part, i) for part in result for i, row in enumerate(part["row"])}
        some = [places[row] for row in batches[-1].tolist()]
        lengths = [part["dim1/mask"][i].sum() for part, i in some]
        lists = ([part[name][i, :n] for (part, i), n in zip(some, lengths, strict=True)] for name in KEYS)
        return _pad(*lists)

    @case.contender("MosaicML streaming and a collate", needs=("torch", MOSAICML), show=records)
    def _() -> Any:
        from torch.utils.data import DataLoader

        from . import mosaicml

        held = _records(data)
        folder = Path(mimic.free_path())
        for i, rows in enumerate(parts):
            mosaicml.write(
                [{**held[row], "row": np.array([row])} for row in rows], str(folder / str(i)), CHUNK
            )
        streams = [mosaicml.streaming.Stream(local=str(folder / str(i)), proportion=0.25) for i in range(4)]
        how = {"streams": streams, "batching_method": "stratified", "batch_size": _BATCH}
        mixed = mosaicml.streaming.StreamingDataset(**how, epoch_size=count)

        def collate(some: list[dict[str, np.ndarray]]) -> dict[str, Any]:
            lists = ([record[name] for record in some] for name in KEYS)
            return {**_pad(*lists), "row": [int(record["row"][0]) for record in some]}

        loader = DataLoader(mixed, batch_size=_BATCH, collate_fn=collate)
        return lambda: list(loader)

    @case.contender("memmaps by hand")
    def _() -> Any:
        codes, times = _memmaps(data)

        def epoch() -> Any:
            begins = [0, 0, 0, 0]
            rows: list[int] = []
            for n in range(count):
                source = n % 4
                rows.append(int(parts[source, begins[source]]))
                begins[source] += 1
                if len(rows) == _BATCH or n == count - 1:
                    last = _pad(data.cut(codes, rows), data.cut(times, rows))
                    rows = []
            return last

        return epoch


@row(
    "sets.join",
    "epoch over codes in 64 shards and times in a file beside them, 12,800 sequences, padded batches of 64",
)
def _(case: Case) -> None:
    data, batches = _epoch(case)
    case.goal("<= 1.2 of one set", 1.2, lambda t: t.ratio("varlen", "varlen, one set"), "x one set")

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        times = data.file.with_suffix(".times.nrt")
        arrays = {"dim1/bounds": data.offsets[1:], "dim1/time": data.times}
        varlen.io.save(times, arrays, durable=False)
        joined = varlen.open(data.shards, keys=["code"]).with_file(times)
        return lambda: _last(joined.epoch(batches=batches))

    @case.contender("varlen, one set")
    def _() -> Any:
        import varlen

        opened = varlen.open(data.shards)
        return lambda: _last(opened.epoch(batches=batches))

    @case.contender("concatenate_datasets and a collate", needs="datasets")
    def _() -> Any:
        import datasets

        rows = range(len(data.offsets) - 1)
        parts = [{"code": data.cut(data.codes, rows)}, {"time": data.cut(data.times, rows)}]
        held = datasets.concatenate_datasets([datasets.Dataset.from_dict(part) for part in parts], axis=1)
        held = held.with_format("numpy")

        return _epoch_of_datasets(held, batches)

    @case.contender("memmaps by hand")
    def _() -> Any:
        codes, times = _memmaps(data)

        def epoch() -> Any:
            for rows in batches:
                last = _pad(data.cut(codes, rows), data.cut(times, rows))
            return last

        return epoch


@row(
    "sets.join_by_ids",
    "epoch over codes joined with times that lie in another order, 12,800 sequences, padded batches of 64",
)
def _(case: Case) -> None:
    data, batches = _epoch(case)
    count = len(data.offsets) - 1
    order = np.random.default_rng(2).permutation(count)
    case.goal("<= 2 of one file", 2.0, lambda t: t.ratio("varlen", "varlen, one file"), "x one file")

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        codes = varlen.open(data.file, keys=["code"]).with_key("row", np.arange(count), dim=0)
        path = data.file.with_suffix(".by_ids.nrt")
        times = np.concatenate(data.cut(data.times, order))
        bounds = np.cumsum(np.diff(data.offsets)[order])
        arrays = {"dim0/row": order, "dim1/bounds": bounds, "dim1/time": times}
        varlen.io.save(path, arrays, durable=False)
        joined = codes.join(varlen.open(path), on="row")
        return lambda: _last(joined.epoch(batches=batches, keys=["code", "time"]))

    @case.contender("varlen, one file")
    def _() -> Any:
        import varlen

        opened = varlen.open(data.file)
        return lambda: _last(opened.epoch(batches=batches))

    @case.contender("memmaps by hand")
    def _() -> Any:
        codes, times = _memmaps(data)
        place = np.argsort(order)
        bounds = np.concatenate([[0], np.cumsum(np.diff(data.offsets)[order])])
        times = np.concatenate(data.cut(times, order))

        def epoch() -> Any:
            for rows in batches:
                places = place[rows]
                last = _pad(data.cut(codes, rows), [times[bounds[i] : bounds[i + 1]] for i in places])
            return last

        return epoch


@row("sets.filter", "filter of 1 M rows by length, from their bounds on")
def _(case: Case) -> None:
    n = case.size(1_000_000, 1000)
    bounds = np.cumsum(np.random.default_rng(0).integers(0, 20, n))
    values = np.zeros(bounds[-1], np.uint8)
    lengths = np.diff(bounds, prepend=0)
    case.reference = np.flatnonzero((lengths >= 4) & (lengths <= 16))
    case.within("<= 5 ms", 5, "ms")

    @case.contender("varlen", show=lambda view: view._source_rows(np.arange(len(view))))
    def _() -> Any:
        import varlen

        joint = varlen.JointNestedRaggedTensorDict(
            processed_tensors={"dim1/bounds": bounds, "dim1/x": values}
        )
        return lambda: varlen.data.Dataset(joint).filter(min_len=4, max_len=16)

    @case.contender("datasets.filter, batched", needs="datasets", show=lambda found: np.array(found["row"]))
    def _() -> Any:
        import datasets

        datasets.disable_progress_bars()
        held = datasets.Dataset.from_dict({"row": np.arange(n), "length": lengths}).with_format("numpy")
        return lambda: held.filter(
            lambda some: (some["length"] >= 4) & (some["length"] <= 16),
            batched=True,
            batch_size=n,
            keep_in_memory=True,
            load_from_cache_file=False,
        )


@row("sets.open", "open of a folder of 500 shards, with its index")
def _(case: Case) -> None:
    shards = case.size(500, 5)
    data = _lists(case.size(5000, 50), shards)
    case.reference = np.array([len(data.offsets) - 1])
    case.per("a shard", shards, 20_000)

    @case.contender("varlen", show=lambda opened: np.array([len(opened)]))
    def _() -> Any:
        import varlen

        return varlen.open, data.shards

    @case.contender("safetensors, each header", needs="safetensors", show=np.array)
    def _() -> Any:
        import safetensors

        paths = sorted(data.shards.glob("*.nrt"))

        def headers() -> list[int]:
            rows = 0
            for path in paths:
                with safetensors.safe_open(path, "numpy") as file:
                    rows += file.get_slice("dim1/bounds").get_shape()[0]
            return [rows]

        return headers


def _events(part: tuple[int, int]) -> dict[str, np.ndarray]:
    """Some work for each partition: words to ids, events sorted within their patient."""
    seed, rows = part
    rng = np.random.default_rng(seed)
    lengths = rng.integers(50, 400, rows)
    owner = np.repeat(np.arange(rows), lengths)
    time = rng.random(len(owner))
    order = np.lexsort((time, owner))
    codes = np.char.add("code ", rng.integers(0, 2000, len(owner)).astype(str))
    return {"dim1/bounds": np.cumsum(lengths), "dim1/time": time[order], "dim1/code": codes[order]}


@row("sets.build", "build of 16 shards with 2 workers, beside one process", threads=2)
def _(case: Case) -> None:
    parts = [(seed, case.size(2500, 5)) for seed in range(case.size(16, 3))]
    case.reference = sum(int(_events(part)["dim1/bounds"][-1]) for part in parts)
    one = "varlen, one process"
    case.goal("<= 0.59 of one process", 1 / 1.7, lambda times: times.ratio("varlen", one), "x one process")

    def builder(workers: int) -> Any:
        import shutil

        import varlen

        def build() -> Any:
            folder = mimic.folder() / f"built-{workers}"
            shutil.rmtree(folder, ignore_errors=True)
            return varlen.io.build(parts, _events, folder, workers=workers, durable=False)

        return build

    def tokens(shards: Any) -> int:
        import varlen

        return int(varlen.open(list(shards.paths)).lengths.sum())

    @case.contender("varlen", show=tokens)
    def _() -> Any:
        return builder(2)

    @case.contender(one, show=tokens)
    def _() -> Any:
        return builder(1)


@row(
    "sets.deletions",
    "epoch over 64 shards, 12,800 sequences of which 1 % are deleted, shuffled, padded batches of 64",
)
def _(case: Case) -> None:
    data, _ = _epoch(case)
    count = len(data.offsets) - 1
    rest = np.delete(np.arange(count), np.arange(7, count, 100))
    order = np.random.default_rng(1).permutation(len(rest))
    batches = [order[at : at + _BATCH] for at in range(0, len(order), _BATCH)]
    last = rest[batches[-1]]
    case.reference = _pad(data.cut(data.codes, last), data.cut(data.times, last))
    case.goal("<= 1.1 of compacted", 1.1, lambda t: t.ratio("varlen", "varlen, compacted"), "x compacted")

    def make(name: str) -> Any:
        """A copy of the folder, with deleted rows."""
        import varlen

        folder = Path(case.stack.enter_context(tempfile.TemporaryDirectory(dir=mimic.folder()))) / name
        shutil.copytree(data.shards, folder)
        opened = varlen.open(folder)
        opened.delete(np.delete(np.arange(count), rest))
        return folder

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        opened = varlen.open(make("rest"))
        return lambda: _last(opened.epoch(batches=batches))

    @case.contender("varlen, compacted")
    def _() -> Any:
        import varlen

        folder = make("compacted")
        varlen.io.compact(folder, clean=True, durable=False)
        opened = varlen.open(folder)
        return lambda: _last(opened.epoch(batches=batches))

    @case.contender("varlen, a view of all")
    def _() -> Any:
        import varlen

        view = varlen.open(data.shards).select(rest)
        return lambda: _last(view.epoch(batches=batches))

    @case.contender("memmaps by hand")
    def _() -> Any:
        codes, times = _memmaps(data)

        def epoch() -> Any:
            for rows in batches:
                some = rest[rows]
                padded = _pad(data.cut(codes, some), data.cut(times, some))
            return padded

        return epoch
