"""Joint dicts that many tests look at, held in memory, in a file, or loaded from one."""

import numpy as np
from hypothesis import strategies as st
from varlen.joint import JointNestedRaggedTensorDict as Joint

RAW = {
    "T": [[1, 2, 3], [4, 5], [6, 7]],
    "id": [[[1, 2, 3], [3, 4], [1, 2]], [[3], [3, 2, 2]], [[], [8, 9]]],
    "val": [[[1, 0.2, 0], [3.1, 0], [1, 2.2]], [[3], [3.3, 2, 0]], [[], [1.0, 0]]],
}
HELD = ("memory", "file", "loaded")


def hold(joint, held, folder):
    """The same content, held in another way."""
    if held == "memory":
        return joint
    path = folder / f"held{len(list(folder.iterdir()))}.nrt"
    joint.save(path)
    lazy = Joint(tensors_fp=path)
    if held == "loaded":
        lazy.tensors  # noqa: B018  from here on its arrays are its own
    return lazy


def same(a, b):
    """Equal keys, dtypes, shapes and values; NaN equals NaN."""
    assert a.keys() == b.keys()
    for key in a:
        assert a[key].dtype == b[key].dtype, key
        np.testing.assert_array_equal(a[key], b[key], err_msg=key)


def lists(dense):
    return {key: value.tolist() for key, value in dense.items()}


def nested(depth):
    leaf = st.integers(0, 300)
    shape = st.lists(leaf, max_size=3)
    for _ in range(depth - 1):
        shape = st.lists(shape, max_size=3)
    return shape


def outline(rows, levels):
    """Values of fewer levels that share the nesting: the length of what lies below, at each place."""
    return [len(row) if levels == 0 else outline(row, levels - 1) for row in rows]


@st.composite
def raws(draw):
    deepest = draw(st.integers(1, 3))
    rows = draw(st.lists(nested(deepest), min_size=1, max_size=4))
    return {"deep": rows} | {f"at{d}": outline(rows, d) for d in range(deepest)}, deepest


def pick(rows, index):
    if isinstance(index, list):
        if index and isinstance(index[0], bool):
            return [row for row, keep in zip(rows, index, strict=True) if keep]
        return [rows[i] for i in index]
    return rows[index]
