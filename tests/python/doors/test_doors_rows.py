"""A row or a number that the text of an error names is an attribute of the error."""

import re

import numpy as np
import pytest
import varlen as vl
from varlen import data, dims, lod, ops, sequence, tf, thinc, transforms

R = vl.Ragged([3, 1, 4, 1, 5], [2, 0, 3])
NEST = vl.Ragged([1.0, 2, 3], [[2], [1, 2]])
FLAT = transforms.with_array(lambda x: x)
JOINT = vl.JointNestedRaggedTensorDict
BIG = np.array([2**64 - 1], np.uint64)

# A call, the row that its error names, and the number.
BAD = {
    "negative lengths": (lambda: vl.Level([2, -1]), 1, -1),
    "lengths of a dim": (lambda: vl.Dim("time", lengths=[3, -2]), 1, -2),
    "a negative number to count": (lambda: vl.Ragged([1, -2], [2]).bincount(), 1, -2),
    "an empty sequence": (lambda: R.max(), 1, 0),
    "a level": (lambda: R.mean(level=7), None, 7),
    "a start behind the end": (lambda: R.flatten(1, 0), None, 1),
    "an order": (lambda: R.pack(order=[0, 1, 7]), 2, 7),
    "a step": (lambda: R.pack()[5], None, 5),
    "an index of Padded": (lambda: R.to_padded()[5], None, 5),
    "an index of Thinc's Ragged": (lambda: thinc.Ragged(np.arange(5.0), np.array([2, 3]))[9], None, 9),
    "an item of a layer": (lambda: transforms.with_getitem(4, FLAT)(([1],), False), None, 4),
    "indices": (lambda: R.gather([7]), 0, 7),
    "indices beyond int64": (lambda: R.gather(BIG), 0, 2**64 - 1),
    "rows of a block": (lambda: sequence.sequence_unpad(np.zeros((2, 2)), [1, 3]), 1, 3),
    "a row too long for its block": (lambda: sequence.sequence_pad(R, 0, maxlen=1), 0, 2),
    "rows that fill no row": (
        lambda: sequence.sequence_reshape(vl.Ragged(np.zeros((3, 2)), [1, 2]), 3),
        0,
        1,
    ),
    "a length of a mask": (lambda: sequence.sequence_mask([3, -1]), 1, -1),
    "places": (
        lambda: sequence.sequence_scatter(
            np.zeros((3, 2)), vl.Ragged([0, 5, 0], [1, 1, 1]), vl.Ragged([1.0, 1, 1], [1, 1, 1])
        ),
        1,
        5,
    ),
    "rows that are no matrix": (lambda: NEST @ vl.Ragged([1.0, 2], [[1], [2]]), 0, 2),
    "rows for a matrix": (lambda: NEST @ np.zeros((3, 2)), 0, 1),
    "containers of other lengths": (lambda: R + vl.Ragged([1, 2, 3, 4, 5], [2, 1, 2]), 1, None),
    "a gradient of other lengths": (lambda: ops.backprop_insert_rows(R, [1], [5]), None, None),
    "the first start": (lambda: tf.RaggedTensor.from_row_starts([1, 2], [1]), 0, 1),
    "the last start": (lambda: tf.RaggedTensor.from_row_starts([1, 2], [0, 5]), 1, 5),
    "levels of lists": (lambda: tf.constant([[1]], ragged_rank=5), None, 5),
    "a view of sequences": (lambda: lod.LoDTensor(np.arange(3), [[0, 3]]).slice_in_level(0, 0, 7), None, 7),
    "a null among samples": (lambda: data.collate([[1], None]), 1, None),
    "a null of a key": (lambda: data.collate([{"a": [1]}, {"a": None}]), 1, None),
    "a tuple among samples": (lambda: data.collate([(1, 2), (3,)]), 1, None),
    "a row over the budget": (lambda: data.TokenBudget([1, 9], 5), 1, 9),
    "a row over the bin": (lambda: data.BinPacking([1, 9], 5), 1, 9),
    "what is no joint dict": (lambda: JOINT.vstack([1]), 0, None),
    "a label twice": (lambda: dims.Vocabulary(["a", "a"]), 1, None),
    "a label of another kind": (lambda: dims.Vocabulary(["a", 1]), 1, None),
    "an amount": (lambda: ops.shift(R, by=2**70), None, None),
}

NAMED = re.compile(
    r"(?<!no )\b(?:row|sequence|position|item|entry|column|part)s? (\d+)(?: and (\d+))?\b|^\w+\[(\d+)\]"
)


@pytest.mark.parametrize(("call", "row", "number"), BAD.values(), ids=BAD)
def test_an_error_knows_the_row_and_the_number_that_it_names(call, row, number):
    with pytest.raises((ValueError, TypeError, IndexError, OverflowError)) as raised:
        call()
    error = raised.value
    assert (getattr(error, "row", None), getattr(error, "number", None)) == (row, number)
    named = {int(digits) for match in NAMED.findall(str(error)) for digits in match if digits}
    assert row in named or not named
    assert number is None or number == 0 or str(number) in str(error)
