"""Nested rows of a few keys, drawn at random, and what a batch of them is: by plain loops over lists."""

import numpy as np
from hypothesis import strategies as st
from oracles import verbs as oracle
from varlen import _core


class Table:
    """Records of `depth` levels with keys at every dim: y (0), a and w (1), b (2), c (3), x (deepest)."""

    def __init__(self, skeleton, depth, seed=0):
        rng = np.random.default_rng(seed)
        self.depth, self.offsets, rows = depth, [], skeleton
        self.counts = [len(rows)]
        for level in range(depth):
            lengths = list(rows) if level == depth - 1 else [len(row) for row in rows]
            self.offsets.append(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).tolist())
            self.counts.append(self.offsets[-1][-1])
            rows = [] if level == depth - 1 else [inner for row in rows for inner in row]
        dtypes = [np.int64, np.uint8, np.int32, np.uint16]
        self.values, self.dims = {}, {}
        for dim, name in enumerate("yabc"[: depth + 1]):
            self.values[name] = rng.integers(1, 100, self.counts[dim]).astype(dtypes[dim])
            self.dims[name] = dim
        x = rng.random(self.counts[depth], np.float32)
        self.values["x"], self.dims["x"] = np.where(x < 0.3, np.float32(np.nan), x), depth
        self.values["w"], self.dims["w"] = rng.random((self.counts[1], 2)), 1
        for name, dtype, dim in (("t", "M8[s]", 1), ("s", "m8[D]", depth), ("e", "f2", max(depth - 1, 0))):
            self.values[name] = rng.integers(-9, 9, self.counts[dim]).astype(dtype)
            self.dims[name] = dim

    def joint(self, trusted=True):
        levels = [np.array(o[1:], np.int64) for o in self.offsets]
        if trusted:
            levels = [_core.Level.from_bounds(ends) for ends in levels]
        names = list(self.values)
        arrays = [self.values[name] for name in names]
        return _core.Joint(names, [self.dims[n] for n in names], arrays, levels, self.counts[0])

    def column(self, name, rows):
        """Rows of a key as an array: times as such, numbers as floats."""
        values = self.values[name]
        dtype = values.dtype if values.dtype.kind in "mM" else np.float64
        return np.array(rows, dtype).reshape(-1, *values.shape[1:])

    def under(self, dim, row, deeper):
        """Rows of dim `deeper` under one row of `dim`."""
        low, high = row, row + 1
        for level in range(dim, deeper):
            low, high = self.offsets[level][low], self.offsets[level][high]
        return range(low, high)

    def nested(self, name, dim, row):
        """The value of a key in a row of `dim`, nested as lists down to its dim."""
        if dim == self.dims[name]:
            return self.values[name][row]
        return [self.nested(name, dim + 1, i) for i in self.under(dim, row, dim + 1)]

    def record(self, name, row, flatten=False, fill_mode="first"):
        """A key of a record as a list over its events, or over its deepest rows."""
        dim = self.dims[name]
        if not flatten or dim in (0, self.depth):
            events = self.under(0, row, self.depth if flatten else 1)
            return [self.nested(name, self.depth if flatten else 1, i) for i in events]
        values = self.values[name]
        missing = {"f": np.nan, "M": "NaT", "m": "NaT"}.get(values.dtype.kind, 0)
        hole = np.full(values.shape[1:], missing if fill_mode == "nan" else 0, values.dtype)
        out = []
        for i in self.under(0, row, dim):
            under = len(self.under(dim, i, self.depth))
            out += [values[i] if fill_mode == "repeat" or k == 0 else hole for k in range(under)]
        return out


@st.composite
def tables(draw, least_rows=0):
    depth = draw(st.integers(1, 3))
    record = st.integers(0, 4)
    for _ in range(depth - 1):
        record = st.lists(record, max_size=4)
    rows = draw(st.lists(record, min_size=least_rows, max_size=5))
    return Table(rows, depth, draw(st.integers(0, 9)))


def expected(table, rows, options=None):
    """The batch by loops: `options` as Dataset.batch takes them, prefix and suffix as lists by key."""
    o = {"start": None, "end": None, "flatten": False, "fill_mode": "first", "padding_side": "right"}
    o |= {"truncate": "right", "fill": {}, "max_len": None, "prefix": {}, "suffix": {}, "layout": "padded"}
    o |= options or {}
    axes = 1 if o["flatten"] else table.depth
    dims = {name: min(dim, axes) for name, dim in table.dims.items()}
    lists = {}
    for name, dim in dims.items():
        if dim == 0:
            continue
        lists[name] = []
        for k, row in enumerate(rows):
            seq = table.record(name, row, o["flatten"], o["fill_mode"])
            window = oracle.cut(seq, o["start"] and o["start"][k], o["end"] and o["end"][k], None)
            before, after = o["prefix"].get(name, []), o["suffix"].get(name, [])
            lists[name].append(oracle.join(before, window, after, o["max_len"], o["truncate"]))
    out = {}
    for axis in range(axes + 1):
        keys = [name for name, dim in dims.items() if dim == axis]
        if axis and o["layout"] == "padded" and keys:
            like, side = lists[keys[0]], o["padding_side"]
            sizes = oracle.longest(like, axis)
            shape = (len(rows), *sizes)
            mask = oracle.pad(oracle.present(like, axis), sizes, False, side)
            out[f"dim{axis}/mask"] = np.array(mask, bool).reshape(shape)
        for name in keys:
            values = table.values[name]
            trailing = values.shape[1:]
            if axis == 0:
                out[name] = values[list(rows)]
            elif o["layout"] == "ragged":
                leaves = oracle.flatten(lists[name], axis)[0]
                out[name] = np.array(leaves, values.dtype).reshape(-1, *trailing)
            else:
                fill = np.full(trailing, o["fill"].get(name, 0), values.dtype)
                result = oracle.pad(lists[name], sizes, fill, side)
                out[name] = np.array(result, values.dtype).reshape(*shape, *trailing)
    return out


def assert_same(result, wanted):
    """Every array that is wanted is there: the same dtype, shape and bytes (NaN is NaN)."""
    for name, array in wanted.items():
        assert name in result, f"{name} is missing in {list(result)}"
        assert result[name].dtype == array.dtype, name
        np.testing.assert_array_equal(result[name], array, err_msg=name, strict=True)
