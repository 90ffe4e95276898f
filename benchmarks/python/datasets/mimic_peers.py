"""How each peer makes one batch of the mimic-like data: a function of the batch's rows."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ... import yardstick
from ...harness import Case
from . import mimic

DTYPES = {"F32": np.float32, "I64": np.int64, "U8": np.uint8}
One = Callable[[np.ndarray], Any]
PADDED = ("dim1/mask", "dim_1", "dim2/mask", "dim_2_1", "dim_2_2")
RAGGED = ("dim1/bounds", "dim1/dim_1", "dim2/bounds", "dim2/dim_2_1", "dim2/dim_2_2")
FLAT = ("dim1/bounds", "dim2/bounds", "dim1/dim_1", "dim2/dim_2_1", "dim2/dim_2_2")


def mapped(path: Path) -> dict[str, np.ndarray]:
    """The entries of a file as views of one map, by hand."""
    raw = np.memmap(path, np.uint8, "r")
    size = int(raw[:8].view("<u8")[0])
    header = json.loads(bytes(raw[8 : 8 + size]))
    at = 8 + size
    return {
        key: np.asarray(raw[at + entry["data_offsets"][0] : at + entry["data_offsets"][1]]).view(
            DTYPES[entry["dtype"]]
        )
        for key, entry in header.items()
    }


class Buffers:
    """Outputs kept between batches: as large as the largest batch needs, shaped anew for each."""

    def __init__(self, case: Case, data: mimic.Batches, batches: list[np.ndarray]) -> None:
        self.shapes = [data.shape(rows) for rows in batches]
        large = max(int(np.prod(shape)) for shape in self.shapes)
        small = max(int(np.prod(shape[:2])) for shape in self.shapes)
        self.flat = {
            "dim1/mask": case.buffer(small, bool),
            "dim_1": case.buffer(small, np.int64),
            "dim2/mask": case.buffer(large, bool),
            "dim_2_1": case.buffer(large, np.int64),
            "dim_2_2": case.buffer(large, np.int64),
        }

    def shaped(self, shape: tuple[int, int, int]) -> dict[str, np.ndarray]:
        """The start of each buffer, in the shape that a batch needs."""
        wanted = {key: shape[:2] if key in ("dim1/mask", "dim_1") else shape for key in PADDED}
        return {key: self.flat[key][: int(np.prod(s))].reshape(s) for key, s in wanted.items()}

    def clear(self) -> None:
        """The yardstick: what the batches fill, filled past the caches."""
        for shape in self.shapes:
            for out in self.shaped(shape).values():
                yardstick.nt_fill(out)


class RaggedBuffers:
    """The same for batches laid end to end."""

    def __init__(self, case: Case, data: mimic.Batches, batches: list[np.ndarray]) -> None:
        windows = [[data.window(int(row)) for row in rows] for rows in batches]
        self.sizes = [
            (len(w), sum(b - a for a, b, _, _ in w), sum(d - c for _, _, c, d in w)) for w in windows
        ]
        rows, events, codes = (max(size[i] for size in self.sizes) for i in range(3))
        lengths = dict(zip(RAGGED, (rows, events, events, codes, codes), strict=True))
        self.flat = {key: case.buffer(n, np.int64) for key, n in lengths.items()}
        self.source = np.ones(sum(sum((r, 2 * e, 2 * c)) for r, e, c in self.sizes), np.int64)

    def shaped(self, size: tuple[int, int, int]) -> dict[str, np.ndarray]:
        """The start of each buffer, as long as a batch needs."""
        rows, events, codes = size
        return {
            key: self.flat[key][:n]
            for key, n in zip(RAGGED, (rows, events, events, codes, codes), strict=True)
        }

    def copy(self) -> None:
        """The yardstick: as many bytes as the batches move, from a source as large as all of them."""
        at = 0
        for size in self.sizes:
            for out in self.shaped(size).values():
                yardstick.memcpy(out, self.source[at : at + len(out)])
                at += len(out)


def fresh(shape: tuple[int, int, int]) -> dict[str, np.ndarray]:
    """Outputs of their own for one batch."""
    kinds = (bool, np.int64, bool, np.int64, np.int64)
    shapes = (shape[:2], shape[:2], shape, shape, shape)
    return {key: np.empty(s, kind) for key, s, kind in zip(PADDED, shapes, kinds, strict=True)}


def upstream(joint: Any, data: mimic.Batches, dense: bool) -> One:
    """nested_ragged_tensors, in memory or from its file: a window a row, vstack, to_dense."""
    starts, ends = data.starts.tolist(), data.ends.tolist()

    def one(rows: np.ndarray) -> Any:
        stacked = type(joint).vstack([joint[i, starts[i] : ends[i]] for i in rows.tolist()])
        return stacked.to_dense() if dense else stacked.tensors

    return one


def pickled(data: mimic.Batches) -> Callable[[np.ndarray], list[dict[str, Any]]]:
    """The windows of a batch out of unpickled lists."""
    held = pickle.loads(pickle.dumps(mimic.nested(data)))
    starts, ends = data.starts.tolist(), data.ends.tolist()
    return lambda rows: [{k: v[i][starts[i] : ends[i]] for k, v in held.items()} for i in rows.tolist()]


def fill(samples: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Lists of arrays to padded, as upstream's benchmark does it, with NumPy for torch's slower slices."""
    width = max(len(sample["dim_1"]) for sample in samples)
    depth = max(max(map(len, sample["dim_2_1"]), default=0) for sample in samples)
    result = {"dim_1": np.zeros((len(samples), width), np.int64)}
    for key in ("dim_2_1", "dim_2_2"):
        result[key] = np.zeros((len(samples), width, depth), np.int64)
    for b, sample in enumerate(samples):
        result["dim_1"][b, : len(sample["dim_1"])] = sample["dim_1"]
        for key in ("dim_2_1", "dim_2_2"):
            for e, array in enumerate(sample[key]):
                result[key][b, e, : len(array)] = array
    return result


def join(samples: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Lists of arrays laid end to end."""
    deep = [array for sample in samples for array in sample["dim_2_1"]]
    return {
        "dim1/bounds": np.cumsum([len(sample["dim_1"]) for sample in samples]),
        "dim1/dim_1": np.concatenate([sample["dim_1"] for sample in samples]),
        "dim2/bounds": np.cumsum(np.fromiter(map(len, deep), np.int64, len(deep))),
        "dim2/dim_2_1": np.concatenate(deep),
        "dim2/dim_2_2": np.concatenate([array for sample in samples for array in sample["dim_2_2"]]),
    }


def by_numba(
    entries: dict[str, np.ndarray], data: mimic.Batches, outputs: Callable[[Any], dict[str, Any]]
) -> One:
    """Padded batches by hand, straight from the flat arrays of the file."""
    from .. import by_hand

    given = tuple(entries[key] for key in FLAT)

    def one(rows: np.ndarray) -> Any:
        width, depth, _, _ = by_hand.batch_sizes(given[0], given[1], rows, data.starts, data.ends)
        out = outputs((len(rows), width, depth))
        by_hand.batch_padded(given, rows, data.starts, data.ends, *(out[key] for key in PADDED))
        return out

    return one


def by_numba_ragged(
    entries: dict[str, np.ndarray], data: mimic.Batches, outputs: Callable[[Any], Any]
) -> One:
    """Ragged batches by hand, straight from the flat arrays of the file."""
    from .. import by_hand

    given = tuple(entries[key] for key in FLAT)

    def one(rows: np.ndarray) -> Any:
        _, _, events, codes = by_hand.batch_sizes(given[0], given[1], rows, data.starts, data.ends)
        out = outputs((len(rows), events, codes))
        by_hand.batch_ragged(given, rows, data.starts, data.ends, *(out[key] for key in RAGGED))
        return out

    return one
