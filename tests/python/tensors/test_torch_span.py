"""Rows put in between those of tensors, as between those of arrays."""

import numpy as np
import pytest
import varlen as vl
from varlen import ops

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("kind", [np.array, torch.tensor, lambda x: torch.tensor(x, dtype=torch.bfloat16)])
def test_inserted_rows_of_a_list_are_what_the_dtype_holds(kind):
    X = kind([3.0, 1.0, 4.0])
    r = ops.insert_rows(X, [1, 1], rows=[7, 8.5])
    assert type(r) is vl.Ragged
    assert r.values.dtype == X.dtype
    assert r.to_list() == [[3, 7, 8.5, 1, 4]]
    for rows, text in (
        ([[7.0], [8.0]], "^rows: expected "),
        ([7.0], "^rows: expected "),
        (7.0, "^rows: expected at least one dimension"),
        ("ab", "^rows: expected at least one dimension"),
        (["a", "b"], "^rows: .* does not fit "),
        ([1e300, 1j], "^rows: .* does not fit "),
    ):
        with pytest.raises((TypeError, ValueError), match=text):
            ops.insert_rows(X, [1, 1], rows=rows)
    with pytest.raises(TypeError, match=r"^max_bytes: expected an int"):
        ops.insert_rows(X, [1], max_bytes="a")
    integers = kind([3.0, 1.0]).astype(int) if isinstance(X, np.ndarray) else kind([3.0, 1.0]).int()
    with pytest.raises(ValueError, match=r"^rows: .*5\.5.* does not fit int"):
        ops.insert_rows(integers, [1], rows=[5.5])


def test_inserted_rows_keep_their_gradient_or_are_refused():
    rows = torch.tensor([7.0], requires_grad=True)
    with pytest.raises(
        ValueError, match=r"^rows: a tensor that requires gradients, which would be lost here; pass tensor"
    ):
        ops.insert_rows(np.ones(3), [1], rows=rows)
    (d,) = torch.autograd.grad(ops.insert_rows(torch.ones(3), [1], rows=rows).values[1], rows)
    assert d.tolist() == [1]


def test_verbs_that_change_lengths_give_a_ragged_for_arrays_and_tensors():
    for X in (np.array([3, 1, 4, 1, 5]), torch.tensor([3, 1, 4, 1, 5])):
        for r in (
            ops.insert_rows(X, [1], lengths=[3, 0, 2], row_ids=[0]),
            ops.fill_empty_rows(X, 0, [3, 0, 2])[0],
            ops.unique(X, [3, 0, 2]),
            ops.topk(X, [3, 0, 2], k=1)[0],
            ops.diff(X, [3, 0, 2]),
            ops.gather(X, [0, 2], [3, 0, 2]),
            ops.tile(X, [1, 2], [3, 0, 2]),
        ):
            assert type(r) is vl.Ragged
            assert type(r.values) is type(X)
