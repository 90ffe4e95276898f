"""Batches: an epoch from a file, one collate, one record or window."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ... import yardstick
from ...harness import Case, row
from . import mimic
from .mimic_peers import (
    PADDED,
    RAGGED,
    Buffers,
    One,
    RaggedBuffers,
    by_numba,
    by_numba_ragged,
    fill,
    fresh,
    join,
    mapped,
    pickled,
    upstream,
)  # fmt: skip

LISTS = ("dim_1", "dim_2_1", "dim_2_2")


def _data(case: Case) -> tuple[mimic.Batches, Path]:
    size = mimic.Size(9, 20, 4) if case.tiny else mimic.Size()
    return mimic.batches(size), mimic.file(size)


def _only(keys: tuple[str, ...], case: Case) -> Callable[[Any], dict[str, Any]]:
    """Compare these keys; the others count as the reference's."""
    return lambda result: {**case.reference, **{key: result[key] for key in keys}}


def _narrowed(case: Case) -> Callable[[Any], dict[str, Any]]:
    """Cut what was padded beforehand to the depth that this batch needs."""
    depth = case.reference["dim_2_1"].shape[2]
    return lambda result: {
        key: value[..., :depth] if value.ndim > 2 else value for key, value in result.items()
    }


def _epoch(one: One, batches: list[np.ndarray]) -> Any:
    result = None
    for rows in batches:
        result = one(rows)
    return result


def _upstream(case: Case, data: mimic.Batches, path: Path, dense: bool) -> None:
    show = None if dense else lambda result: {key: result[key] for key in RAGGED}

    @case.contender("upstream in memory", needs="nested_ragged_tensors", show=show)
    def _() -> Any:
        from nested_ragged_tensors.ragged_numpy import JointNestedRaggedTensorDict as Joint

        return _epoch, upstream(Joint(processed_tensors=data.tensors()), data, dense), data.rows

    @case.contender("upstream from file", needs="nested_ragged_tensors", show=show)
    def _() -> Any:
        from nested_ragged_tensors.ragged_numpy import JointNestedRaggedTensorDict as Joint

        return _epoch, upstream(Joint(tensors_fp=path), data, dense), data.rows


@row("epoch.padded", "mimic-like epoch from file, 1250 patients x 256 events, batch 64, padded with out=")
def _(case: Case) -> None:
    data, path = _data(case)
    case.reference = mimic.padded(data, data.rows[-1])
    buffers = Buffers(case, data, data.rows)
    case.yardstick("NT fill", buffers.clear)
    case.over("NT fill", 1.2)
    case.within("about 150 ms", 150, "ms", best=301)

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        opened = varlen.open(path)

        def one(rows: np.ndarray) -> Any:
            return opened.batch(rows, start=data.starts[rows], end=data.ends[rows], out=buffers.flat)

        return _epoch, one, data.rows

    @case.contender("numba", needs="numba")
    def _() -> Any:
        return _epoch, by_numba(mapped(path), data, buffers.shaped), data.rows

    @case.contender("dense, cut beforehand", show=_narrowed(case))
    def _() -> Any:
        held = mimic.padded(data, np.arange(len(data.starts)))
        return _epoch, lambda rows: {key: np.stack([held[key][i] for i in rows]) for key in PADDED}, data.rows

    @case.contender("pickle", show=_only(LISTS, case))
    def _() -> Any:
        samples = pickled(data)
        return _epoch, lambda rows: fill(samples(rows)), data.rows

    _upstream(case, data, path, dense=True)


@row("epoch.ragged", "the same epoch, ragged")
def _(case: Case) -> None:
    data, path = _data(case)
    case.reference = mimic.ragged(data, data.rows[-1])
    buffers = RaggedBuffers(case, data, data.rows)
    case.yardstick("memcpy", buffers.copy)
    case.over("memcpy", 1.3, text="<= 1.3 memcpy of what it moves")
    case.within("about 12 ms", 12, "ms", best=18.5)

    # Offsets where a file has bounds, with room for the leading zero.
    names = ("dim1/offsets", "dim_1", "dim2/offsets", "dim_2_1", "dim_2_2")

    def as_file(result: dict[str, Any]) -> dict[str, Any]:
        shown = {key: result[name] for key, name in zip(RAGGED, names, strict=True)}
        return {key: array[1:] if key.endswith("bounds") else array for key, array in shown.items()}

    @case.contender("varlen", show=as_file)
    def _() -> Any:
        import varlen

        opened = varlen.open(path)
        kept = [buffers.flat[key] for key in RAGGED]
        kept = [
            case.buffer(len(a) + 1, a.dtype) if k.endswith("s") else a
            for k, a in zip(RAGGED, kept, strict=True)
        ]
        out = dict(zip(names, kept, strict=True))

        def one(rows: np.ndarray) -> Any:
            starts, ends = data.starts[rows], data.ends[rows]
            return opened.batch(rows, start=starts, end=ends, layout="ragged", out=out, cu_seqlens=False)

        return _epoch, one, data.rows

    @case.contender("numba", needs="numba")
    def _() -> Any:
        return _epoch, by_numba_ragged(mapped(path), data, buffers.shaped), data.rows

    @case.contender("pickle")
    def _() -> Any:
        samples = pickled(data)
        return _epoch, lambda rows: join(samples(rows)), data.rows

    _upstream(case, data, path, dense=False)


def _collate(case: Case) -> tuple[mimic.Batches, Path, Buffers]:
    """One batch of that epoch, and the peers that cannot take an output."""
    data, path = _data(case)
    rows = data.rows[0]
    case.reference = mimic.padded(data, rows)
    buffers = Buffers(case, data, [rows])
    case.yardstick("NT fill", buffers.clear)

    @case.contender("dense, cut beforehand", show=_narrowed(case))
    def _() -> Any:
        cut = mimic.padded(data, rows)
        samples = [{key: cut[key][i] for key in PADDED} for i in range(len(rows))]
        return lambda: {key: np.stack([sample[key] for sample in samples]) for key in PADDED}

    @case.contender("pickle", show=_only(LISTS, case))
    def _() -> Any:
        return fill, pickled(data)(rows)

    @case.contender("upstream", needs="nested_ragged_tensors")
    def _() -> Any:
        from nested_ragged_tensors.ragged_numpy import JointNestedRaggedTensorDict as Joint

        joint = Joint(processed_tensors=data.tensors())
        samples = [joint[i, int(data.starts[i]) : int(data.ends[i])] for i in rows.tolist()]
        return lambda: Joint.vstack(samples).to_dense()

    return data, path, buffers


@row("collate.out", "its collate, 64 records, with out=")
def _(case: Case) -> None:
    data, path, buffers = _collate(case)
    rows = data.rows[0]
    case.over("NT fill", 1.2)
    case.within("about 7 ms", 7, "ms", best=16)

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        opened = varlen.open(path)
        starts, ends = data.starts[rows], data.ends[rows]
        return lambda: opened.batch(rows, start=starts, end=ends, out=buffers.flat)

    @case.contender("numba", needs="numba")
    def _() -> Any:
        return by_numba(mapped(path), data, buffers.shaped), rows


@row("collate.fresh", "its collate, 64 records, into fresh memory")
def _(case: Case) -> None:
    data, path, _ = _collate(case)
    rows = data.rows[0]
    case.within("<= 20 ms", 20, "ms", best=24)

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        opened = varlen.open(path)
        starts, ends = data.starts[rows], data.ends[rows]
        return lambda: opened.batch(rows, start=starts, end=ends)

    @case.contender("varlen, from 64 samples")
    def _() -> Any:
        import varlen

        opened = varlen.open(path)
        samples = [opened[i, int(data.starts[i]) : int(data.ends[i])] for i in rows.tolist()]
        return opened.collate, samples

    @case.contender("numba", needs="numba")
    def _() -> Any:
        return by_numba(mapped(path), data, fresh), rows


def _one(case: Case, index: Any) -> None:
    """A record or a window of one: views, in varlen and by hand; copies upstream."""
    data, path = _data(case)
    patient, window = index if isinstance(index, tuple) else (index, slice(0, 1 << 40))
    first = int(data.bounds1[patient - 1]) + window.start
    last = min(int(data.bounds1[patient]), first + window.stop - window.start)
    codes = [int(data.bounds2[at - 1]) for at in (first, last)]
    bounds = data.bounds2[first:last] - codes[0]
    case.reference = {
        "dim_1": data.time[first:last],
        "dim_2_1": np.split(data.one[codes[0] : codes[1]], bounds[:-1]),
        "dim_2_2": np.split(data.two[codes[0] : codes[1]], bounds[:-1]),
    }
    case.within("<= 1 us", 1, best=1.14)

    def of_joint(joint: Any) -> dict[str, Any]:
        tensors = joint.tensors
        ends = tensors["dim1/bounds"][:-1]
        result = {key: np.split(tensors[f"dim1/{key}"], ends) for key in ("dim_2_1", "dim_2_2")}
        return {"dim_1": tensors["dim0/dim_1"], **result}

    @case.contender("varlen", show=of_joint)
    def _() -> Any:
        import varlen

        return operator.getitem, varlen.open(path), index

    @case.contender("pickled lists")
    def _() -> Any:
        held = mimic.nested(data)
        if isinstance(index, tuple):
            return lambda: {key: value[patient][window] for key, value in held.items()}
        return lambda: {key: value[patient] for key, value in held.items()}

    def of_views(views: tuple[np.ndarray, ...]) -> dict[str, Any]:
        time, ends, one, two = views
        at = ends[:-1] - codes[0]
        return {"dim_1": time, "dim_2_1": np.split(one, at), "dim_2_2": np.split(two, at)}

    @case.contender("memmap views by hand", show=of_views)
    def _() -> Any:
        entries = mapped(path)
        bounds1, bounds2 = entries["dim1/bounds"], entries["dim2/bounds"]
        time, one, two = entries["dim1/dim_1"], entries["dim2/dim_2_1"], entries["dim2/dim_2_2"]

        def by_hand() -> tuple[np.ndarray, ...]:
            start = int(bounds1[patient - 1])
            end = min(int(bounds1[patient]), start + window.stop)
            start += window.start
            a, b = int(bounds2[start - 1]), int(bounds2[end - 1])
            return time[start:end], bounds2[start:end], one[a:b], two[a:b]

        return by_hand

    @case.contender("upstream in memory", needs="nested_ragged_tensors", show=of_joint)
    def _() -> Any:
        from nested_ragged_tensors.ragged_numpy import JointNestedRaggedTensorDict as Joint

        return operator.getitem, Joint(processed_tensors=data.tensors()), index

    @case.contender("upstream from file", needs="nested_ragged_tensors", show=of_joint)
    def _() -> Any:
        from nested_ragged_tensors.ragged_numpy import JointNestedRaggedTensorDict as Joint

        return operator.getitem, Joint(tensors_fp=path), index


@row("record", "one record from an open file")
def _(case: Case) -> None:
    _one(case, case.size(37, 3))


@row("window", "one window of a record from an open file")
def _(case: Case) -> None:
    _one(case, (case.size(37, 3), slice(3, 23)))


@row("record.tensors", "one record from an open file as a padded batch of tensors")
def _(case: Case) -> None:
    data, path = _data(case)
    events = np.diff(data.bounds1, prepend=0)
    data = data._replace(starts=np.zeros_like(events), ends=events)  # whole records
    rows = np.array([int(np.argmin(np.abs(events[1:] - 40))) + 1])
    case.reference = mimic.padded(data, rows)
    case.beat()

    def show(result: dict[str, Any]) -> dict[str, np.ndarray]:
        return {key: np.asarray(result[key]) for key in PADDED}

    @case.contender("varlen", needs="torch", show=show)
    def _() -> Any:
        import varlen

        opened, index = varlen.open(path), rows.tolist()
        return lambda: opened.batch(index, framework="torch")

    @case.contender("numba, by hand", needs=("torch", "numba"), show=show)
    def _() -> Any:
        import torch

        one = by_numba(mapped(path), data, fresh)
        return lambda: {key: torch.from_numpy(array) for key, array in one(rows).items()}

    @case.contender("memmap, by hand", needs="torch", show=show)
    def _() -> Any:
        import torch

        entries = mapped(path)
        bounds1, bounds2 = entries["dim1/bounds"], entries["dim2/bounds"]

        def by_hand() -> dict[str, torch.Tensor]:
            start, end = int(bounds1[rows[0] - 1]), int(bounds1[rows[0]])
            lengths = np.diff(bounds2[start - 1 : end])
            mask = np.arange(lengths.max()) < lengths[:, None]
            time = entries["dim1/dim_1"][start:end].copy()
            arrays = {"dim1/mask": np.ones(end - start, bool), "dim_1": time, "dim2/mask": mask}
            for key in ("dim_2_1", "dim_2_2"):
                arrays[key] = np.zeros(mask.shape, np.int64)
                arrays[key][mask] = entries[f"dim2/{key}"][bounds2[start - 1] : bounds2[end - 1]]
            return {key: torch.from_numpy(array[None]) for key, array in arrays.items()}

        return by_hand


@row("mapped-rows", "4096 rows of 1 KB from a mapped file, warm")
def _(case: Case) -> None:
    count, many = case.size(4096, 16), case.size(65_536, 40)
    from safetensors.numpy import save_file

    table = np.random.default_rng(0).random((many, 256), np.float32)
    path = mimic.folder() / f"rows-{many}.nrt"
    save_file({"dim1/x": table.reshape(-1), "dim1/bounds": np.arange(1, many + 1) * 256}, path)
    case.stack.callback(path.unlink)
    rows = np.random.default_rng(1).integers(0, many, count)
    case.reference = table[rows]
    case.per("a row", count, 90, best=100)
    out = case.buffer((count, 256), np.float32)

    @case.contender("varlen", show=lambda result: result["x"].reshape(count, 256))
    def _() -> Any:
        import varlen

        opened = varlen.open(path)
        kept = {"x": out.reshape(-1)}
        return lambda: opened.batch(rows, layout="ragged", out=kept)

    view = mapped(path)["dim1/x"].reshape(many, 256)

    @case.contender("np.take of a memmap", show=lambda _: out)
    def _() -> Any:
        return lambda: view.take(rows, axis=0, out=out, mode="clip")

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from .. import by_hand

        return by_hand.take, view, rows, out

    @case.contender("pread", show=lambda _: out)
    def _() -> Any:
        import os

        descriptor = os.open(path, os.O_RDONLY)
        case.stack.callback(os.close, descriptor)
        first = path.stat().st_size - many * 256 * 4
        places, parts = (first + rows * 1024).tolist(), [memoryview(line).cast("B") for line in out]

        def by_pread() -> None:
            for at, part in zip(places, parts, strict=True):
                os.preadv(descriptor, [part], at)

        return by_pread

    @case.contender("safetensors", needs="safetensors", show=np.concatenate)
    def _() -> Any:
        import safetensors

        part = case.stack.enter_context(safetensors.safe_open(path, "numpy")).get_slice("dim1/x")
        places = (rows * 256).tolist()
        return lambda: [part[at : at + 256].reshape(1, 256) for at in places]

    case.yardstick("memcpy", yardstick.memcpy, out, table[:count])
