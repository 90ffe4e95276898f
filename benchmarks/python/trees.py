"""Files of objects that nest: written and read whole, beside what NumPy, torch and awkward write."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..harness import Case, row
from . import sample
from .indexing import awkward_lists
from .neighbours import _path


def _sources(case: Case) -> dict[str, sample.Rows]:
    """Two keys of sequences."""
    count = case.size(300_000, 50)
    return {
        "time": sample.rows(count, 5, dtype=np.float64),
        "code": sample.rows(count, 5, dtype=np.int32, seed=5),
    }


def _arrays(sources: dict[str, sample.Rows]) -> dict[str, np.ndarray]:
    """Values and offsets by name."""
    return {
        f"{key}/{name}": part
        for key, source in sources.items()
        for name, part in (("values", source.values), ("offsets", source.offsets))
    }


def _raggeds(sources: dict[str, sample.Rows]) -> Any:
    import varlen as vl

    return {key: vl.Ragged(source.values, source.lengths) for key, source in sources.items()}


def _parts(tree: Any) -> dict[str, np.ndarray]:
    """The same of Raggeds."""
    return {
        f"{key}/{name}": part
        for key, r in tree.items()
        for name, part in (("values", r.values), ("offsets", r.offsets))
    }


def _table(sources: dict[str, sample.Rows]) -> Any:
    import awkward as ak

    return ak.zip({key: awkward_lists(x.values, x.offsets) for key, x in sources.items()}, depth_limit=1)


def _parts_of_table(table: Any) -> dict[str, np.ndarray]:
    import awkward as ak

    result = {}
    for key in table.fields:
        result[f"{key}/values"] = np.asarray(ak.to_numpy(ak.flatten(table[key])))
        result[f"{key}/offsets"] = np.concatenate([[0], np.cumsum(np.asarray(ak.num(table[key])))])
    return result


def _write(path: str, raw: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(descriptor, raw)
    os.close(descriptor)


def _read(path: str, into: np.ndarray) -> None:
    with open(path, "rb", buffering=0) as file:
        file.readinto(into)


def _load(path: str) -> dict[str, np.ndarray]:
    import varlen as vl

    return _parts(vl.load(path, mmap=False))


def _safe(path: str) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    arrays: dict[str, np.ndarray] = load_file(path)
    return arrays


def _pt(path: str) -> dict[str, np.ndarray]:
    import torch

    return {key: part.numpy() for key, part in torch.load(path).items()}


def _npz(path: str) -> dict[str, np.ndarray]:
    with np.load(path) as file:
        return {key.replace("\\", "/"): file[key] for key in file.files}


def _parquet(path: str) -> Any:
    import awkward as ak

    return ak.from_parquet(path)


@row("files.save", "a dict of two Raggeds of 300 k sequences of mean 5 to a file, not synced", waits=True)
def _(case: Case) -> None:
    sources = _sources(case)
    arrays = _arrays(sources)
    case.reference = arrays
    raw = b"".join(array.tobytes() for array in arrays.values())
    case.yardstick("write", _write, _path("raw"), raw)
    case.over("write", 1.2)
    ours, npz, parquet, safe, pickled = map(
        _path, ("x.safetensors", "x.npz", "x.parquet", "y.safetensors", "x.pt")
    )

    @case.contender("varlen", show=lambda _: _load(ours))
    def _() -> Any:
        import varlen as vl

        tree = _raggeds(sources)
        return lambda: vl.save(tree, ours, durable=False)

    @case.contender("np.savez", show=lambda _: _npz(npz))
    def _() -> Any:
        return lambda: np.savez(npz, **arrays)

    @case.contender("safetensors", needs="safetensors", show=lambda _: _safe(safe))
    def _() -> Any:
        from safetensors.numpy import save_file

        return save_file, arrays, safe

    @case.contender("torch", needs="torch", show=lambda _: _pt(pickled))
    def _() -> Any:
        import torch

        return torch.save, {key: torch.from_numpy(array) for key, array in arrays.items()}, pickled

    @case.contender(
        "ak.to_parquet", needs=("awkward", "pyarrow"), show=lambda _: _parts_of_table(_parquet(parquet))
    )
    def _() -> Any:
        import awkward as ak

        return ak.to_parquet, _table(sources), parquet


@row("files.read", "the same read again, nothing mapped")
def _(case: Case) -> None:
    sources = _sources(case)
    arrays = _arrays(sources)
    case.reference = arrays
    size = sum(array.nbytes for array in arrays.values())
    _write(raw := _path("raw"), bytes(size))
    case.yardstick("read into memory", _read, raw, np.ones(size, np.uint8))
    case.over("read into memory", 1.5)

    @case.contender("varlen", show=_parts)
    def _() -> Any:
        import varlen as vl

        path = _path("x.safetensors")
        vl.save(_raggeds(sources), path, durable=False)
        return lambda: vl.load(path, mmap=False)

    @case.contender("np.load")
    def _() -> Any:
        np.savez(path := _path("x.npz"), **arrays)
        return _npz, path

    @case.contender("safetensors", needs="safetensors")
    def _() -> Any:
        from safetensors.numpy import save_file

        save_file(arrays, path := _path("y.safetensors"))
        return _safe, path

    @case.contender("torch", needs="torch", show=lambda x: {key: part.numpy() for key, part in x.items()})
    def _() -> Any:
        import torch

        path = _path("x.pt")
        torch.save({key: torch.from_numpy(array) for key, array in arrays.items()}, path)
        return torch.load, path

    @case.contender("ak.from_parquet", needs=("awkward", "pyarrow"), show=_parts_of_table)
    def _() -> Any:
        import awkward as ak

        ak.to_parquet(_table(sources), path := _path("x.parquet"))
        return _parquet, path
