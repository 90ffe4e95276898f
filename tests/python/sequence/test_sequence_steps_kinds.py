"""concat_outputs: steps are of one kind and of one row shape, and which one is not is named."""

import numpy as np
import pytest
import varlen as vl
from varlen import sequence

torch = pytest.importorskip("torch")

TABLE = vl.RankTable([3, 1, 2], [0, 2, 1])
SIZES = [3, 2, 1]


def result(shape=(), dtype=float):
    return [np.ones((size, *shape), dtype) for size in SIZES]


def tensors(shape=()):
    return [torch.ones(size, *shape) for size in SIZES]


def nested(inner=np.ones):
    return [vl.Ragged(inner(size), [1] * size) for size in SIZES]


@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize(
    ("others", "one", "text"),
    [
        (result(), tensors(), "step {} is of type {}, step 0 of type {}"),
        (tensors(), result(), "step {} is of type {}, step 0 of type {}"),
        (result(), nested(), "step {} is of type {}, step 0 of type {}"),
        (nested(), result(), "step {} is of type {}, step 0 of type {}"),
        (nested(), tensors(), "step {} is of type {}, step 0 of type {}"),
    ],
)
def test_steps_are_of_one_kind(others, one, at, text):
    steps = others.copy()
    steps[at] = one[at]
    away = at or 1
    text = text.format(away, type(steps[away]).__name__, type(steps[0]).__name__)
    for dtype in (float, int):
        steps = [x.astype(dtype) if isinstance(x, np.ndarray) and i else x for i, x in enumerate(steps)]
        with pytest.raises(TypeError, match=f"^steps: {text}"):
            sequence.concat_outputs(steps, TABLE)


def test_steps_of_sub_sequences_are_of_one_kind():
    steps = nested()
    steps[1] = vl.Ragged(torch.ones(2), [1, 1])
    with pytest.raises(TypeError, match=r"^dY: step 1 holds values of type Tensor, step 0 of ndarray"):
        sequence.backprop_segment_inputs(steps, TABLE)
    steps[1] = vl.Ragged(np.ones(2), [[1, 1], [1, 1]])
    with pytest.raises(ValueError, match=r"^steps: step 1 has 2 levels, step 0 has 1"):
        sequence.concat_outputs(steps, TABLE)


@pytest.mark.parametrize("kind", ["arrays", "tensors", "raggeds"])
def test_steps_have_rows_of_one_shape(kind):
    steps = tensors((2,)) if kind == "tensors" else result((2,))
    steps[2] = steps[2][:, :1]
    if kind == "raggeds":
        steps = [vl.Ragged(step, [1] * len(step)) for step in steps]
    with pytest.raises(ValueError, match=r"^steps: step 2 has rows of shape \(1,\), step 0 has \(2,\)$"):
        sequence.concat_outputs(steps, TABLE)


@pytest.mark.parametrize(
    "wrong", [None, 3, 3.0, [1.0, 2.0], (1.0, 2.0), "ab", np.array(3.0), torch.tensor(1.0)]
)
@pytest.mark.parametrize("at", [0, 1])
def test_steps_are_arrays(wrong, at):
    steps = result(dtype=int)
    steps[at] = wrong
    kind = type(wrong).__name__
    with pytest.raises(TypeError, match=f"^steps: step {at} is of type {kind}, expected an array of rows"):
        sequence.concat_outputs(steps, TABLE)


@pytest.mark.parametrize(
    ("steps", "error", "text"),
    [
        (None, TypeError, "expected a list of arrays, got NoneType"),
        (result(dtype=object), TypeError, "step 0 holds Python objects"),
        (np.ma.masked_array([1.0]), ValueError, "1 steps, but the longest sequence has length 3"),
        ([np.ma.masked_array(x) for x in result()], TypeError, "step 0: expected an array without a mask"),
    ],
)
def test_steps_are_named_in_errors(steps, error, text):
    with pytest.raises(error, match=f"^steps: {text}"):
        sequence.concat_outputs(steps, TABLE)


def test_dtypes_of_steps_are_promoted():
    steps = result()
    steps[1] = steps[1].astype(np.int8)
    assert sequence.concat_outputs(steps, TABLE).dtype == np.float64
    steps = tensors()
    steps[0] = steps[0].to(torch.int8)
    assert sequence.concat_outputs(steps, TABLE).dtype == torch.float32
