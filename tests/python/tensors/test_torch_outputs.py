"""Tensors that a caller gives for results: autograd knows that they were written."""

from __future__ import annotations

import numpy as np
import pytest
import varlen as vl

torch = pytest.importorskip("torch")

LENGTHS = [1, 2]
X = torch.tensor([1.0, 2.0, 3.0])


def dataset():
    return vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1.0], [2.0, 3.0]]}))


WRITERS = {
    "to_dense": ((2, 2), lambda out: vl.ops.to_dense(X, LENGTHS, out=out)),
    "Ragged.to_dense": ((2, 2), lambda out: vl.Ragged(X, LENGTHS).to_dense(out=out)),
    "from_dense": ((3,), lambda out: vl.ops.from_dense(torch.ones(2, 2), LENGTHS, out=out)),
    "block_mask": ((3, 3), lambda out: vl.ops.block_mask(LENGTHS, dtype=torch.float32, out=out)),
    "batch": ((2, 2), lambda out: dataset().batch([0, 1], keys=["x"], framework="torch", out={"x": out})),
    "reduce_sum": ((2,), lambda out: vl.ops.reduce_sum(X, LENGTHS, out=out)),
    "softmax": ((3,), lambda out: vl.ops.softmax(X, LENGTHS, out=out)),
    "reduce_ptp": ((2,), lambda out: vl.ops.reduce_ptp(X, LENGTHS, out=out)),
    "pad": ((2, 2), lambda out: vl.ops.pad(list(X.split(LENGTHS)), out=out)),
    "list2ragged": ((3,), lambda out: vl.ops.list2ragged(list(X.split(LENGTHS)), out=out)),
    "scatter_add": ((2,), lambda out: vl.ops.scatter_add(out, [0, 1], X[:2])),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_what_autograd_kept_of_an_output_is_known_to_be_gone(writer):
    shape, write = WRITERS[writer]
    out = torch.full(shape, 9.0)
    a = torch.ones(shape, requires_grad=True)
    y = (a * out).sum()
    write(out)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.parametrize("writer", WRITERS)
def test_outputs_that_autograd_watches_are_refused(writer):
    shape, write = WRITERS[writer]
    out = torch.full(shape, 9.0, requires_grad=True)
    with pytest.raises(ValueError, match=r"^(out: autograd watches the result; leave out away|table: auto)"):
        write(out)
    np.testing.assert_array_equal(out.detach().numpy(), 9)


@pytest.mark.parametrize("writer", WRITERS)
def test_outputs_made_in_inference_mode_are_written_there(writer):
    shape, write = WRITERS[writer]
    with torch.inference_mode():
        out = torch.full(shape, 9.0)
        write(out)
    assert not bool((out == 9).all())


FOLLOWED = {
    "to_dense": ((2, 2), lambda x, out: vl.ops.to_dense(x, LENGTHS, out=out)),
    "from_dense": ((2,), lambda x, out: vl.ops.from_dense(x.reshape(3, 1), [1, 1, 0], out=out)),
    "pad": ((2, 2), lambda x, out: vl.ops.pad(list(x.split(LENGTHS)), out=out)),
    "list2ragged": ((3,), lambda x, out: vl.ops.list2ragged(list(x.split(LENGTHS)), out=out)),
    "reduce_sum": ((2,), lambda x, out: vl.ops.reduce_sum(x, LENGTHS, out=out)),
    "cumsum along columns": ((3, 1), lambda x, out: vl.ops.cumsum(x[:, None], LENGTHS, axis=2, out=out)),
}


@pytest.mark.parametrize("verb", FOLLOWED)
def test_an_output_takes_no_result_that_autograd_watches(verb):
    shape, write = FOLLOWED[verb]
    out = torch.full(shape, 9.0)
    with pytest.raises(ValueError, match=r"^out: autograd watches the result; leave out away"):
        write(X.clone().requires_grad_(), out)
    assert not out.requires_grad
    np.testing.assert_array_equal(out.numpy(), 9)
    with torch.no_grad():
        write(X.clone().requires_grad_(), out)
    assert not bool((out == 9).all())
