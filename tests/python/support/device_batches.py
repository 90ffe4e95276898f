"""Batches as tests of devices make them: a table, where it may lie, and options of all kinds."""

import os

import numpy as np
import varlen as vl
from varlen.data import Dataset

TABLE = {
    "id": np.array([7, 8, 9, 10, 11]),
    "time": [[0.5, np.nan, 2.0], [], [5.5], [1.0, 3.0], [np.nan]],
    "code": [[[7, 8], [], [9]], [], [[1, 2, 3, 4, 5]], [[6], [6]], [[]]],
    "day": [
        [np.datetime64("2020-01-01", "D")] * 3, np.array([], "M8[D]"), [np.datetime64("2020-02-01", "D")],
        [np.datetime64("2021-01-01", "D")] * 2, [np.datetime64("NaT", "D")],
    ],
    "flag": [[True, False, True], [], [True], [False, False], [True]],
}  # fmt: skip
ROWS = [3, 0, 1, 4, 2, 0]
OPTIONS = {
    "plain": {},
    "left": {
        "padding_side": "left",
        "fill": {"code": -1, "time": 0.5, "day": "2000-01-01"},
        "dtype": {"code": "int64"},
    },
    "cut": {"max_len": 2, "truncate": "left"},
    "random windows": {"max_len": 2, "window": "random", "seed": 3, "windows": True},
    "inner axes cut": {"max_len": (3, 1), "truncate": "left", "padding_side": "left"},
    "sizes": {"pad_to_multiple_of": (4, 8)},
    "dtypes": {"dtype": {"code": "float32", "time": "float64", "id": "int16", "flag": "uint8"}},
    "half numbers": {"dtype": {"time": "float16", "code": "float16"}},
    "NaN": {"nan": -1.0},
    "NaN of another dtype": {"nan": {"time": 2.0}, "dtype": {"time": "float64"}, "fill": {"time": 7.0}},
    "flat": {"flatten": True, "keys": ["time", "code", "id"], "nan": 0.0},
    "flat, NaN between": {"flatten": True, "fill_mode": "nan", "keys": ["code", "time"], "nan": 9.0},
    "flat, repeated": {"flatten": True, "fill_mode": "repeat", "padding_side": "left", "parts": True},
    "edges": {"prefix": {"time": [0.25]}, "suffix": {"time": [9.0, np.nan]}, "keys": ["time"], "parts": True},
    "small arrays": {"lengths": True, "windows": True, "parts": True, "masks": False},
    "some keys": {"keys": ["code"]},
    "one value a row": {"keys": ["id"], "dtype": "float64"},
    "ragged": {"layout": "ragged", "positions": True, "lengths": True},
    "ragged with NaN": {"layout": "ragged", "nan": 0.0, "dtype": {"time": "float64"}, "parts": True},
}

# Where the rows lie.
KINDS = ("memory", "parts", "mapped", "read")


def dataset_of(kind, folder):
    """The table as a dataset; files go to the folder."""
    table = vl.JointNestedRaggedTensorDict(TABLE)
    if kind == "memory":
        return Dataset(table)
    if kind == "parts":  # whose dtypes differ
        wide = {"code": [[[1000]]], "time": [[0.1]], "id": np.array([1])}
        small = vl.JointNestedRaggedTensorDict({key: TABLE[key] for key in wide})
        return Dataset([small, vl.JointNestedRaggedTensorDict(wide)])
    table.save(folder / "a.nrt")
    return vl.open(folder / "a.nrt", mmap=kind == "mapped")


def fitting(ds, options):
    """The options, without keys that the dataset lacks."""
    known = {**options}
    for name in ("fill", "dtype", "nan"):
        if isinstance(known.get(name), dict):
            known[name] = {key: value for key, value in known[name].items() if key in ds.fields}
    return known


def batch_after_a_child_was_told(ds, **there):
    """A forked child makes a batch for the device that its parent uses, and is told that it cannot send it
    there; what the parent then gets of row 2. `there` is the device or the framework.
    """
    ds.batch([0], **there)
    collate = ds.collator(**there)
    child = os.fork()
    if child == 0:
        told = False
        try:
            staged = collate([0])  # needs no device
            staged.to()
        except RuntimeError as error:
            told = "forked child" in str(error)
        os._exit(0 if told else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return ds.batch([2], **there)
