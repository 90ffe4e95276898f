"""Files: opening, saving, loading, loading a slice, and how large the mimic-like file is."""

from __future__ import annotations

import json
import mmap
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np

from ...harness import Case, Spread, row
from . import mimic


def _open(case: Case, keys: int) -> None:
    from safetensors.numpy import save_file

    path = mimic.folder() / f"keys-{keys}.nrt"
    bounds = np.arange(1, 5)
    save_file({f"dim1/key_{i:04d}": np.arange(4) for i in range(keys)} | {"dim1/bounds": bounds}, path)
    case.stack.callback(path.unlink)
    raw = path.read_bytes()
    header = raw[8 : 8 + int.from_bytes(raw[:8], "little")]
    case.yardstick("json.loads", json.loads, header)

    def system_calls() -> None:
        descriptor = os.open(path, os.O_RDONLY)
        mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ).close()
        os.close(descriptor)

    case.yardstick("open, mmap, close", system_calls)

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        return varlen.open, path

    @case.contender("varlen, open elsewhere too")
    def _() -> Any:
        import varlen

        other = path.with_suffix(".held.nrt")
        other.write_bytes(raw)
        case.stack.callback(other.unlink)
        held = varlen.open(other)
        return lambda: (varlen.open(other), held)[0]

    @case.contender("mmap and json by hand")
    def _() -> Any:
        def by_hand() -> dict[str, np.ndarray]:
            with path.open("rb") as file:
                held = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            at = 8 + int.from_bytes(held[:8], "little")
            entries = json.loads(held[8:at])
            return {
                key: np.frombuffer(held, np.int64, entry["shape"][0], at + entry["data_offsets"][0])
                for key, entry in entries.items()
            }

        return by_hand

    @case.contender("safetensors", needs="safetensors")
    def _() -> Any:
        import safetensors

        def opened() -> None:
            with safetensors.safe_open(path, "numpy"):
                pass

        return opened

    @case.contender("Bagz, a record a key", needs="bagz")
    def _() -> Any:
        import bagz

        records = str(path.with_suffix(".bagz"))
        with bagz.Writer(records) as writer:
            for _ in range(keys):
                writer.write(np.arange(4).tobytes())
        return bagz.Reader, records


@row("open.10", "open a 10-key file")
def _(case: Case) -> None:
    _open(case, 10)
    case.within("<= 10 us", 10)
    case.over("open, mmap, close", 1.1, text="<= 1.1 of the system calls alone")


@row("open.1000", "open a 1,000-key file")
def _(case: Case) -> None:
    _open(case, 1000)
    case.per("a key", 1000, 50)


def _four_keys(case: Case, dtypes: str = "qqqq") -> tuple[dict[str, np.ndarray], Path]:
    """Upstream's four-key data: 10,000 rows of 5 to 49 numbers."""
    count = case.size(10_000, 30)
    bounds = np.cumsum(np.random.default_rng(42).integers(5, 50, count))
    every = np.arange(int(bounds[-1])) % 49
    values = {f"dim1/key_{i}": (every + i).astype(dtype) for i, dtype in enumerate(dtypes)}
    return {"dim1/bounds": bounds, **values}, mimic.folder() / "four.nrt"


def _joint(tensors: dict[str, np.ndarray]) -> Any:
    import varlen

    return varlen.JointNestedRaggedTensorDict(processed_tensors=tensors)


def _upstream(tensors: dict[str, np.ndarray]) -> Any:
    from nested_ragged_tensors.ragged_numpy import JointNestedRaggedTensorDict

    return JointNestedRaggedTensorDict(processed_tensors=tensors)


def _arrow(tensors: dict[str, np.ndarray]) -> Any:
    import pyarrow

    offsets = np.concatenate([[0], tensors["dim1/bounds"]]).astype(np.int32)
    return pyarrow.table(
        {
            key[5:]: pyarrow.ListArray.from_arrays(offsets, v)
            for key, v in tensors.items()
            if key != "dim1/bounds"
        }
    )


def _write_arrow(path: Path, table: Any) -> None:
    import pyarrow

    with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def _of_arrow(table: Any) -> dict[str, np.ndarray]:
    columns = {f"dim1/{name}": table[name].chunk(0).flatten().to_numpy() for name in table.column_names}
    return {"dim1/bounds": np.cumsum(table[0].chunk(0).value_lengths().to_numpy()), **columns}


def _write_pickle(path: Path, tensors: dict[str, np.ndarray]) -> None:
    with path.open("wb") as file:
        pickle.dump(tensors, file, protocol=pickle.HIGHEST_PROTOCOL)


@row("save", "save the 4-key file", waits=True)
def _(case: Case) -> None:
    tensors, path = _four_keys(case)
    raw = b"".join(array.tobytes() for array in tensors.values())
    other = path.with_suffix(".raw")

    def synced() -> None:
        descriptor = os.open(other, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(descriptor, raw)
        os.fsync(descriptor)
        os.close(descriptor)

    case.yardstick("write and fsync", synced)
    case.over("write and fsync", 1.25, text="at disk speed (write and fsync of the same bytes)")

    @case.contender("varlen")
    def _() -> Any:
        return _joint(tensors).save, path

    @case.contender("upstream, no fsync", needs="nested_ragged_tensors")
    def _() -> Any:
        return _upstream(tensors).save, path

    @case.contender("pickle, no fsync")
    def _() -> Any:
        return _write_pickle, path.with_suffix(".pickle"), tensors

    @case.contender("Arrow IPC, no fsync", needs="pyarrow")
    def _() -> Any:
        return _write_arrow, path.with_suffix(".arrow"), _arrow(tensors)

    @case.contender("numpy by hand, no fsync")
    def _() -> Any:
        def by_hand() -> None:
            with path.with_suffix(".npy").open("wb") as file:
                for array in tensors.values():
                    np.save(file, array)

        return by_hand


@row("save.quick", "save the 4-key file without waiting for the disk", waits=True)
def _(case: Case) -> None:
    tensors, path = _four_keys(case)
    case.goal(
        "as fast as a pickle", 1.0, lambda times: times.ratio("varlen, durable=False", "pickle"), "x pickle"
    )
    case.ours = "varlen, durable=False"

    @case.contender("varlen, durable=False")
    def _() -> Any:
        joint = _joint(tensors)
        return lambda: joint.save(path, durable=False)

    @case.contender("pickle")
    def _() -> Any:
        return _write_pickle, path.with_suffix(".pickle"), tensors

    @case.contender("Arrow IPC", needs="pyarrow")
    def _() -> Any:
        return _write_arrow, path.with_suffix(".arrow"), _arrow(tensors)

    @case.contender("numpy by hand")
    def _() -> Any:
        return np.savez, path.with_suffix(".npz"), *tensors.values()


@row("load", "load the 4-key file: an array for each key")
def _(case: Case) -> None:
    tensors, path = _four_keys(case, "qBqB")
    keys = [name[5:] for name in tensors if name != "dim1/bounds"]
    case.within("<= 30 us", 30, best=70)
    case.reference = tensors
    from safetensors.numpy import load_file, save_file

    save_file(tensors, path)
    case.stack.callback(path.unlink)
    _views(case, tensors, keys, path)

    # From here on what reads the whole file into arrays of its own.
    @case.contender("varlen, copied")
    def _() -> Any:
        import varlen

        return lambda: varlen.JointNestedRaggedTensorDict.load(path).tensors

    @case.contender("safetensors load_file, copied")
    def _() -> Any:
        return load_file, path

    @case.contender("upstream, copied", needs="nested_ragged_tensors")
    def _() -> Any:
        from nested_ragged_tensors.ragged_numpy import JointNestedRaggedTensorDict as Joint

        return lambda: Joint(tensors_fp=path).tensors


def _views(case: Case, tensors: dict[str, np.ndarray], keys: list[str], path: Path) -> None:
    """Contenders whose arrays look into a map of the file."""
    import varlen

    @case.contender("varlen")
    def _() -> Any:
        def viewed() -> dict[str, np.ndarray]:
            joint = varlen.JointNestedRaggedTensorDict.load(path)
            found = {f"dim1/{key}": joint[key].values for key in keys}
            return {"dim1/bounds": joint[keys[0]].levels[0].bounds, **found}

        return viewed

    @case.contender("memmap by hand")
    def _() -> Any:
        from .mimic_peers import mapped

        return mapped, path

    @case.contender("Arrow IPC, mapped", needs="pyarrow")
    def _() -> Any:
        import pyarrow

        target = path.with_suffix(".arrow")
        _write_arrow(target, _arrow(tensors))
        case.stack.callback(target.unlink)

        def viewed() -> dict[str, np.ndarray]:
            table = pyarrow.ipc.open_file(pyarrow.memory_map(str(target))).read_all()
            lists = [table[key].chunk(0) for key in keys]
            found = {f"dim1/{key}": one.values.to_numpy() for key, one in zip(keys, lists, strict=True)}
            return {"dim1/bounds": lists[0].offsets.to_numpy()[1:], **found}

        return viewed


@row("load-slice", "load a slice of 100 rows of the 4-key file")
def _(case: Case) -> None:
    tensors, path = _four_keys(case)
    first, last = case.size(5000, 10), case.size(5100, 15)
    start, end = (int(tensors["dim1/bounds"][at - 1]) for at in (first, last))
    values = {key: array[start:end] for key, array in tensors.items() if key != "dim1/bounds"}
    case.reference = {"dim1/bounds": tensors["dim1/bounds"][first:last] - start, **values}
    case.within("<= 6 us", 6, best=119)
    from safetensors.numpy import save_file

    save_file(tensors, path)
    case.stack.callback(path.unlink)

    @case.contender("varlen", show=lambda joint: joint.tensors)
    def _() -> Any:
        import varlen

        return varlen.JointNestedRaggedTensorDict.load_slice, path, slice(first, last)

    @case.contender("memmap by hand")
    def _() -> Any:
        from .mimic_peers import mapped

        def by_hand() -> dict[str, np.ndarray]:
            entries = mapped(path)
            bounds = entries.pop("dim1/bounds")
            at, to = int(bounds[first - 1]), int(bounds[last - 1])
            return {
                "dim1/bounds": bounds[first:last] - at,
                **{key: view[at:to] for key, view in entries.items()},
            }

        return by_hand

    @case.contender("safetensors by hand", needs="safetensors")
    def _() -> Any:
        import safetensors

        def by_slices() -> dict[str, np.ndarray]:
            with safetensors.safe_open(path, "numpy") as file:
                bounds = file.get_slice("dim1/bounds")[first - 1 : last]
                parts = {key: file.get_slice(key)[bounds[0] : bounds[-1]] for key in values}
                return {"dim1/bounds": bounds[1:] - bounds[0], **parts}

        return by_slices

    @case.contender(
        "Arrow IPC, mapped", needs="pyarrow", show=lambda table: _of_arrow(table.combine_chunks())
    )
    def _() -> Any:
        import pyarrow

        target = path.with_suffix(".arrow")
        _write_arrow(target, _arrow(tensors))
        return lambda: (
            pyarrow.ipc.open_file(pyarrow.memory_map(str(target))).read_all().slice(first, last - first)
        )

    @case.contender("upstream", needs="nested_ragged_tensors", show=lambda joint: joint.tensors)
    def _() -> Any:
        from nested_ragged_tensors.ragged_numpy import JointNestedRaggedTensorDict as Joint

        return lambda: Joint(tensors_fp=path)[first:last]


@row("size", "the mimic-like file on disk, dtypes narrowed")
def _(case: Case) -> None:
    import varlen

    size = mimic.Size(9, 20, 4) if case.tiny else mimic.Size()
    data = mimic.batches(size)
    path = mimic.folder() / "narrow.nrt"
    joint = varlen.JointNestedRaggedTensorDict(mimic.nested(data))
    joint.save(path)
    case.stack.callback(path.unlink)
    narrow, whole = path.stat().st_size / 1e6, mimic.file(size).stat().st_size / 1e6
    text = f"<= 25 MB ({whole:.0f} as int64{_parquet(data)})"
    case.goal(text, 25, lambda _: Spread(narrow, narrow, narrow), "MB")


def _parquet(data: mimic.Batches) -> str:
    try:
        import pyarrow.parquet
    except ImportError:
        return ""
    path = mimic.folder() / "mimic.parquet"
    events = np.concatenate([[0], data.bounds1]).astype(np.int32)
    codes = np.concatenate([[0], data.bounds2]).astype(np.int32)
    columns = {"dim_1": pyarrow.ListArray.from_arrays(events, data.time)}
    for key, flat in (("dim_2_1", data.one), ("dim_2_2", data.two)):
        columns[key] = pyarrow.ListArray.from_arrays(events, pyarrow.ListArray.from_arrays(codes, flat))
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    size = path.stat().st_size
    path.unlink()
    return f", Parquet {size / 1e6:.0f}"
