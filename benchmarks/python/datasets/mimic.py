"""Patients > events > codes, with the lengths that upstream's own benchmark draws."""

from __future__ import annotations

import functools
import itertools
import json
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

SPEC = Path(__file__).parents[2] / "data" / "mimic.json"


class Batches(NamedTuple):
    """Flat arrays as they lie in the file, a window of events per patient, and the rows of each batch."""

    bounds1: np.ndarray
    bounds2: np.ndarray
    time: np.ndarray
    one: np.ndarray
    two: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    rows: list[np.ndarray]

    def tensors(self) -> dict[str, np.ndarray]:
        """The entries of the file."""
        return {
            "dim1/bounds": self.bounds1,
            "dim1/dim_1": self.time,
            "dim2/bounds": self.bounds2,
            "dim2/dim_2_1": self.one,
            "dim2/dim_2_2": self.two,
        }

    def window(self, row: int) -> tuple[int, int, int, int]:
        """First and last event, first and last code of the window of one patient."""
        base = int(self.bounds1[row - 1]) if row else 0
        first, last = base + int(self.starts[row]), base + int(self.ends[row])
        codes = [int(self.bounds2[at - 1]) if at else 0 for at in (first, last)]
        return first, last, codes[0], codes[1]

    def shape(self, rows: np.ndarray) -> tuple[int, int, int]:
        """Rows, the longest window and the deepest event of a batch."""
        windows = [self.window(int(row)) for row in rows]
        codes = np.diff(self.bounds2, prepend=0)
        deepest = max(int(codes[first:last].max(initial=0)) for first, last, _, _ in windows)
        return len(rows), max(last - first for first, last, _, _ in windows), deepest


def _draw(rng: np.random.Generator, spec: dict[str, list[int]], count: int) -> np.ndarray:
    weights = np.array(spec["freq"])
    return rng.choice(spec["N"], size=count, replace=True, p=weights / weights.sum())


class Size(NamedTuple):
    """Patients, events of a window at most, patients of a batch."""

    patients: int = 1250
    most: int = 256
    batch: int = 64


@functools.cache
def batches(size: Size) -> Batches:
    """Lengths as upstream draws them with seed 0; values below 100 as int64, as there, drawn in one piece."""
    patients, most, batch = size
    spec = json.loads(SPEC.read_text())
    rng = np.random.default_rng(0)
    events = _draw(rng, spec["num_events"], patients)
    codes = _draw(rng, spec["num_codes_per_event"], int(events.sum()))
    total = int(codes.sum())
    time, one, two = (rng.choice(100, size=n) for n in (len(codes), total, total))
    starts = np.array([rng.choice(n - most) if n > most else 0 for n in events])
    order = rng.permutation(patients)
    rows = [order[at : at + batch] for at in range(0, patients, batch)]
    return Batches(
        np.cumsum(events), np.cumsum(codes), time, one, two, starts, np.minimum(starts + most, events), rows
    )


def nested(data: Batches) -> dict[str, list]:
    """Lists of arrays, as the pickled data set of upstream's benchmark holds them."""
    codes = np.concatenate([[0], data.bounds2])
    events = np.concatenate([[0], data.bounds1])
    result: dict[str, list] = {"dim_1": [], "dim_2_1": [], "dim_2_2": []}
    for first, last in itertools.pairwise(events):
        result["dim_1"].append(data.time[first:last])
        for key, flat in (("dim_2_1", data.one), ("dim_2_2", data.two)):
            result[key].append([flat[codes[e] : codes[e + 1]] for e in range(first, last)])
    return result


def padded(data: Batches, rows: np.ndarray) -> dict[str, np.ndarray]:
    """The reference: one batch by loops."""
    windows = [data.window(int(row)) for row in rows]
    ends = np.concatenate([[0], data.bounds2])
    shape = data.shape(rows)
    out = {
        "dim1/mask": np.zeros(shape[:2], bool),
        "dim_1": np.zeros(shape[:2], np.int64),
        "dim2/mask": np.zeros(shape, bool),
        "dim_2_1": np.zeros(shape, np.int64),
        "dim_2_2": np.zeros(shape, np.int64),
    }
    for b, (first, last, _, _) in enumerate(windows):
        out["dim1/mask"][b, : last - first] = True
        out["dim_1"][b, : last - first] = data.time[first:last]
        for e in range(first, last):
            n = ends[e + 1] - ends[e]
            out["dim2/mask"][b, e - first, :n] = True
            out["dim_2_1"][b, e - first, :n] = data.one[ends[e] : ends[e + 1]]
            out["dim_2_2"][b, e - first, :n] = data.two[ends[e] : ends[e + 1]]
    return out


def ragged(data: Batches, rows: np.ndarray) -> dict[str, np.ndarray]:
    """The reference: one batch, laid end to end."""
    windows = [data.window(int(row)) for row in rows]
    codes = np.diff(data.bounds2, prepend=0)
    return {
        "dim1/bounds": np.cumsum([last - first for first, last, _, _ in windows]),
        "dim1/dim_1": np.concatenate([data.time[first:last] for first, last, _, _ in windows]),
        "dim2/bounds": np.cumsum(np.concatenate([codes[first:last] for first, last, _, _ in windows])),
        "dim2/dim_2_1": np.concatenate([data.one[a:b] for _, _, a, b in windows]),
        "dim2/dim_2_2": np.concatenate([data.two[a:b] for _, _, a, b in windows]),
    }


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="varlen-bench-")


def folder() -> Path:
    """A folder for the files of one run, gone when the process ends."""
    return Path(_folder().name)


def free_path() -> str:
    """A path in a new folder of this run, where nothing is yet."""
    return str(Path(tempfile.mkdtemp(dir=folder())) / "data")


@functools.cache
def file(size: Size) -> Path:
    """The data set as a file, gone when the process ends."""
    from safetensors.numpy import save_file

    path = folder() / f"mimic-{size.patients}.nrt"
    save_file(batches(size).tensors(), path)
    return path
