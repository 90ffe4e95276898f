"""varlen.ops.pad, list2ragged, ragged2list: the public face of lists of arrays, for NumPy and for torch."""

import inspect

import numpy as np
import pytest
import varlen
from varlen import ops

ARRAYS = [np.array([3, 1, 4]), np.array([], int), np.array([1, 5])]


def test_pad_takes_every_option():
    assert ops.pad(ARRAYS).tolist() == [[3, 1, 4], [0, 0, 0], [1, 5, 0]]
    dense, mask = ops.pad(
        ARRAYS, 2, fill=-1, padding_side="left", max_len=2, truncate="left", mask=True, dtype="i2"
    )
    assert dense.tolist() == [[1, 4], [-1, -1], [1, 5]]
    assert mask.tolist() == [[True, True], [False, False], [True, True]]
    assert dense.dtype == np.int16
    out = np.empty((3, 3), int)
    assert ops.pad(ARRAYS, out=out) is out
    with pytest.raises(ValueError, match="over max_bytes=8"):
        ops.pad(ARRAYS, max_bytes=8)


def test_pad_has_the_multiple_of_thinc_in_second_place():
    assert list(inspect.signature(ops.pad).parameters)[:2] == ["arrays", "pad_to_multiple_of"]
    assert ops.pad(ARRAYS, 4).shape == (3, 4)
    assert ops.pad([np.zeros((2, 5, 3)), np.zeros((1, 5, 3))], pad_to_multiple_of=3).shape == (2, 3, 5, 3)


def test_list2ragged_and_back():
    ragged = ops.list2ragged(ARRAYS)
    assert isinstance(ragged, varlen.Ragged)
    assert ragged.to_list() == [[3, 1, 4], [], [1, 5]]
    views = ops.ragged2list(ragged)
    assert all(view.base is ragged.values for view in views)
    assert [view.tolist() for view in views] == ragged.to_list()
    assert ops.list2ragged(views, dtype="u1").values.dtype == np.uint8
    out = np.empty(5, int)
    assert ops.list2ragged(ARRAYS, out=out).values is out
    nested = varlen.Ragged.from_list([[[1], [2, 3]], []])
    assert [[view.tolist() for view in row] for row in ops.ragged2list(nested)] == nested.to_list()


def test_tensors_in_give_tensors():
    torch = pytest.importorskip("torch")
    tensors = [torch.tensor(array, dtype=torch.bfloat16, requires_grad=True) for array in ARRAYS]
    dense, mask = ops.pad(tensors, 4, fill=-1, mask=True)
    assert dense.dtype == torch.bfloat16
    assert dense.tolist() == [[3, 1, 4, -1], [-1] * 4, [1, 5, -1, -1]]
    assert torch.as_tensor(mask).sum() == 5
    dense.sum().backward()
    assert tensors[2].grad.tolist() == [1, 1]
    ragged = ops.list2ragged(tensors)
    assert ragged.values.tolist() == [3, 1, 4, 1, 5]
    assert [row.tolist() for row in ops.ragged2list(ragged)] == [[3, 1, 4], [], [1, 5]]
    nested = varlen.Ragged(torch.arange(3), lengths=[[2, 0], [1, 2]])
    assert [[row.tolist() for row in rows] for rows in ops.ragged2list(nested)] == nested.to_list()


def test_tensors_are_padded_as_arrays_are():
    torch = pytest.importorskip("torch")
    for kind in (torch.int64, torch.bfloat16, torch.float8_e4m3fn):
        tensors = [torch.tensor(array).to(kind) for array in ARRAYS]
        out = torch.empty((3, 3), dtype=kind)
        dense, mask = ops.pad(tensors, 3, fill=2, padding_side="left", mask=True, out=out)
        assert dense is out
        assert dense.float().tolist() == [[3, 1, 4], [2, 2, 2], [2, 1, 5]]
        assert mask.dtype == torch.bool
    mixed = [torch.arange(2), torch.ones(1)]
    assert ops.pad(mixed).tolist() == [[0, 1], [1, 0]]
    assert ops.pad(tensors[:1], dtype=torch.float32).dtype == torch.float32
    with pytest.raises(ValueError, match="over max_bytes"):
        ops.pad(mixed, max_bytes=3)
    assert ops.pad([torch.ones((0, 2), requires_grad=True)]).shape == (1, 0, 2)
