"""Sequences are cut first, and rectangles rounded up then: what rounding adds is fill, never rows.

The width of an axis is the longest of the sequences that are kept: those under what was cut have no say.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import varlen as vl


def expected(
    nested: Any, caps: list[Any], multiples: list[int], sizes: list[Any], cut: str, side: str
) -> Any:
    """The rectangle of nested lists of numbers, 0 where nothing is, in plain Python."""

    def kept(node: Any, axis: int) -> Any:
        if axis == len(caps):
            return node
        cap = len(node) if caps[axis] is None else min(caps[axis], len(node))
        some = node[len(node) - cap :] if cut == "left" else node[:cap]
        return [kept(child, axis + 1) for child in some]

    rows = [kept(node, 0) for node in nested]
    widths, level = [], rows
    for axis, multiple in enumerate(multiples):
        longest = max((len(node) for node in level), default=0)
        widths.append(-(-longest // multiple) * multiple if sizes[axis] is None else sizes[axis])
        level = [child for node in level for child in node]

    def block(node: Any, axis: int) -> Any:
        if axis == len(widths):
            return node
        full = np.zeros(widths[axis:], np.int64)
        for i, child in enumerate(node):
            full[i + (widths[axis] - len(node) if side == "left" else 0)] = block(child, axis + 1)
        return full

    return np.array([block(row, 0) for row in rows]).reshape(len(rows), *widths)


FLAT = [[1, 2, 3], [4], [], [5, 6, 7, 8, 9]]
NESTED = [[[1], [2, 3, 4, 5]], [[6, 7, 8], [9], [10, 11]], [], [[12]]]
DEEP = [[[[1, 2], [3]], [[4]]], [[[5], [6, 7, 8], [9]]], [[]], []]


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("cut", ["right", "left"])
@pytest.mark.parametrize("multiple", [1, 4, 64, 2048])
@pytest.mark.parametrize("max_len", [0, 1, 2, 3, 9])
def test_to_dense_cuts_before_it_rounds_up(max_len, multiple, cut, side):
    r = vl.Ragged.from_list(FLAT)
    want = expected(FLAT, [max_len], [multiple], [None], cut, side)
    options: dict[str, Any] = {"max_len": max_len, "pad_to_multiple_of": multiple}
    options |= {"truncate": cut, "padding_side": side}
    dense, mask = r.to_dense(mask=True, **options)
    np.testing.assert_array_equal(dense, want)
    np.testing.assert_array_equal(mask, want != 0)
    np.testing.assert_array_equal(r.to_dense(dtype=np.int16, **options), want)


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("cut", ["right", "left"])
@pytest.mark.parametrize("multiple", [1, 2, 5])
@pytest.mark.parametrize("caps", [(1,), (2,), (1, 2), (None, 2), (2, None), (2, 1), (9, 9)])
def test_an_inner_axis_is_as_wide_as_what_is_kept(caps, multiple, cut, side):
    r = vl.Ragged.from_list(NESTED)
    own = [*caps, None][:2]
    want = expected(NESTED, own, [multiple] * 2, [None] * 2, cut, side)
    dense, mask = r.to_dense(
        mask=True, max_len=list(caps), pad_to_multiple_of=multiple, truncate=cut, padding_side=side
    )
    np.testing.assert_array_equal(dense, want)
    np.testing.assert_array_equal(mask, want != 0)


@pytest.mark.parametrize("caps", [(1, 1, 1), (1, 2), (2, 1), (None, 1, 2), (None, None, 2), (1,)])
@pytest.mark.parametrize("cut", ["right", "left"])
def test_three_levels_keep_the_rule(caps, cut):
    r = vl.Ragged.from_list(DEEP)
    want = expected(DEEP, [*caps, None, None][:3], [2] * 3, [None] * 3, cut, "right")
    np.testing.assert_array_equal(r.to_dense(max_len=list(caps), pad_to_multiple_of=2, truncate=cut), want)


def test_tensors_are_cut_before_they_are_rounded_up():
    torch = pytest.importorskip("torch")
    for grad in (False, True):
        values = torch.arange(1.0, 10.0, requires_grad=grad)
        r = vl.Ragged(values, [3, 1, 0, 5])
        dense, mask = r.to_dense(max_len=2, pad_to_multiple_of=4, mask=True)
        want = expected(FLAT, [2], [4], [None], "right", "right")
        np.testing.assert_array_equal(dense.detach().numpy(), want)
        np.testing.assert_array_equal(mask.numpy(), want != 0)


def joint(nested: Any) -> vl.JointNestedRaggedTensorDict:
    return vl.JointNestedRaggedTensorDict({"x": nested})


@pytest.mark.parametrize("cut", ["right", "left"])
@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"max_len": 2, "pad_to_multiple_of": 4},
        {"max_len": 1},
        {"max_len": 2, "pad_to": 5},
        {"max_len": [2, 1], "pad_to_multiple_of": 4},
        {"max_len": [None, 1], "pad_to_multiple_of": [1, 4]},
        {"max_len": [None, 2], "pad_to": [None, 6]},
    ],
)
def test_a_batch_cuts_before_it_rounds_up(options, saved, cut, tmp_path):
    J = joint(NESTED)
    if saved:
        J.save(tmp_path / "a.nrt")
        ds = vl.open(tmp_path / "a.nrt")
    else:
        ds = vl.Dataset(J)

    def of(option: Any, otherwise: Any) -> list[Any]:
        each = option if isinstance(option, list) else [option]
        return [otherwise if x is None else x for x in [*each, None][:2]]

    given_multiple = options.get("pad_to_multiple_of")
    want = expected(
        NESTED,
        of(options.get("max_len"), None),
        of(given_multiple, 1),
        of(options.get("pad_to"), None),
        cut,
        "right",
    )
    batch = ds.batch(range(4), truncate=cut, **options)
    np.testing.assert_array_equal(batch["x"], want)
    np.testing.assert_array_equal(batch["dim2/mask"], want != 0)


@pytest.mark.parametrize("caps", [[None, 1, 2], [None, 1], [None, None, 1]])
def test_a_batch_of_three_levels_is_as_wide_as_what_is_kept(caps):
    want = expected(DEEP, [*caps, None][:3], [1] * 3, [None] * 3, "right", "right")
    batch = vl.Dataset(joint(DEEP)).batch(range(4), max_len=caps)
    np.testing.assert_array_equal(batch["x"], want)


def test_a_joint_dict_is_as_wide_as_what_is_kept():
    J = joint(NESTED)
    for caps in ([1], [2, 1], [None, 2]):
        dense = J.to_dense(max_len=caps)
        key = "dim2/x" if "dim2/x" in dense else "x"
        want = expected(NESTED, [*caps, None][:2], [1] * 2, [None] * 2, "right", "right")
        np.testing.assert_array_equal(dense[key], want)
