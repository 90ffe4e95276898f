"""Joint dicts that many tests look at, held in memory, in a file, or loaded from one."""

import numpy as np
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
