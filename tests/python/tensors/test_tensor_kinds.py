"""Tensors of every kind: computed as what they are, or refused by the name of their dtype."""

from __future__ import annotations

import numpy as np
import pytest
import varlen as vl

torch = pytest.importorskip("torch")

ODD = [
    name
    for name in ("complex32", "bits8", "bits16", "bits1x8", "uint1", "uint4", "uint7", "int4", "quint4x2")
    if hasattr(torch, name)
]
VERBS = {
    "sum": lambda r: r.sum(),
    "max": lambda r: r.max(empty=0),
    "softmax": lambda r: r.softmax(),
    "cumsum": lambda r: r.cumsum(),
    "sort": lambda r: r.sort(),
    "rank": lambda r: r.rank(),
    "unique": lambda r: r.unique(),
    "gather_add": lambda r: vl.ops.gather_add(r.values.reshape(-1, 1), torch.tensor([[0, 1]])),
}


def odd_tensor(name):
    dtype = getattr(torch, name)
    width = torch.empty(0, dtype=dtype).element_size()
    memory = torch.arange(3 * width, dtype=torch.uint8)
    return memory.view({1: torch.uint8, 2: torch.int16, 4: torch.int32}[width]).view(dtype)


@pytest.mark.filterwarnings("ignore:ComplexHalf", "ignore:.*quantize", "ignore:.*quantized")
@pytest.mark.parametrize("verb", sorted(VERBS))
@pytest.mark.parametrize("name", ODD)
def test_numbers_that_numpy_does_not_know_are_refused_by_name(name, verb):
    try:
        values = odd_tensor(name)
    except (RuntimeError, KeyError):
        return  # torch cannot make one without a file or a device
    with pytest.raises(TypeError, match=name):
        VERBS[verb](vl.Ragged(values, [2, 1]))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.int64])
def test_average_ranks_are_float64_whatever_the_dtype(dtype):
    values = torch.cat([torch.zeros(1000), torch.ones(3)]).to(dtype)
    ranks = vl.Ragged(values, [1003]).rank(method="average").values
    assert ranks.dtype == torch.float64
    assert ranks[0] == 500.5
    assert ranks[-1] == 1002


@pytest.mark.parametrize("framework", [None, "torch"])
def test_tensors_with_a_conjugate_or_negative_bit_are_read_as_what_they_say(framework):
    plain = torch.tensor([1 + 2j, 3 - 1j])
    conjugate = torch.tensor([1 - 2j, 3 + 1j]).conj()
    negative = torch.tensor([1 + 2j, 3 + 4j]).conj().imag
    assert conjugate.is_conj()
    assert negative.is_neg()
    for given, want in ((conjugate, plain), (negative, torch.tensor([-2.0, -4.0]))):
        dense = vl.ops.pad([given, given[:1]])
        assert torch.equal(dense, torch.stack([want, torch.cat([want[:1], want[:1] * 0])]))
        batch = vl.data.Collate(framework=framework)([{"x": given}, {"x": given[:1]}])
        np.testing.assert_array_equal(np.asarray(batch["x"]), dense.numpy())
        r = vl.Ragged(given, [2])
        assert torch.equal(r.to_dense()[0], want)
        assert r.to_list() == [want.tolist()]
        reason = "conjugate or negative bit" if given.is_contiguous() else "out: is not C-contiguous"
        with pytest.raises(ValueError, match=reason):
            vl.Ragged(want, [2]).to_dense(out=given.reshape(1, 2))


@pytest.mark.filterwarnings("ignore:.*quantize")
def test_a_quantized_tensor_is_refused_by_its_dtype():
    values = torch.quantize_per_tensor(torch.ones(3), 0.5, 0, torch.qint8)
    with pytest.raises(TypeError, match=r"qint8.*dequantize"):
        vl.Ragged(values, [2, 1])


def test_other_layouts_are_named():
    with pytest.raises(TypeError, match="sparse"):
        vl.Ragged(torch.eye(3).to_sparse(), [2, 1])


def test_floats_of_a_byte_are_filled_where_somebody_looks_on():
    x = torch.arange(1.0, 6).to(torch.float8_e4m3fn)
    for call in (
        lambda: vl.ops.shift(x, [3, 0, 2], by=1),
        lambda: vl.ops.shift(x, [3, 0, 2], by=1, fill=8),
        lambda: vl.Ragged(x, [3, 0, 2]).to_dense(fill=8),
        lambda: vl.Ragged(x, [3, 0, 2]).to_dense(max_len=2, mask=True)[0],
        lambda: vl.ops.reduce_first(x, [3, 0, 2], empty=8),
        lambda: vl.ops.reverse(x, [3, 0, 2]),
    ):
        wanted = call()
        with torch.device("cpu"):
            found = call()
        assert found.dtype == wanted.dtype
        assert torch.equal(found.view(torch.uint8), wanted.view(torch.uint8))
