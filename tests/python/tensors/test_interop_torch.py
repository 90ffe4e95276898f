"""torch as values: shared memory, every dtype, gradients, and no import of torch for those without."""

import pickle
import sys

import house
import numpy as np
import pytest
import varlen as vl

torch = pytest.importorskip("torch")

DTYPES = ["bool", "uint8", "int16", "int64", "float16", "bfloat16", "float32", "complex64", "float8_e4m3fn"]


def ragged(dtype="float32", trailing=(), lengths=(3, 0, 2)):
    n = sum(lengths) * int(np.prod(trailing, dtype=int))
    values = torch.arange(n, dtype=torch.float32).reshape(sum(lengths), *trailing)
    return vl.Ragged(values.to(getattr(torch, dtype)), list(lengths))


def same(a, b):
    """Equal bytes: for dtypes that torch cannot compare too."""
    assert a.dtype == b.dtype
    bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[a.element_size()]
    return torch.equal(a.contiguous().view(bits), b.contiguous().view(bits))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("trailing", [(), (3,)])
def test_tensors_of_every_dtype_are_moved_and_stay_tensors(dtype, trailing):
    r = ragged(dtype, trailing)
    picked = r[[2, 0, 2]]
    assert isinstance(picked.values, torch.Tensor)
    assert same(picked.values, r.values[[3, 4, 0, 1, 2, 3, 4]])
    assert same(r[:, -2:].values, r.values[[1, 2, 3, 4]])
    assert same(r[::-1].values, r.values[[3, 4, 0, 1, 2]])
    assert same(vl.concatenate([r, r]).values, torch.cat([r.values, r.values]))
    assert str(r.dtype) == f"torch.{dtype}"


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_are_pickled_by_their_own_rows(dtype):
    wide = ragged(dtype, lengths=(3, 1000, 2))
    r = wide[::2]
    part = wide[:1]
    for protocol in (2, 3, 4, 5):
        back = pickle.loads(pickle.dumps(r, protocol))
        assert same(back.values, r.values)
        assert back.levels == r.levels
    assert len(pickle.dumps(part)) < 800


def test_tensors_are_shared_not_copied():
    values = torch.arange(5.0)
    r = vl.Ragged(values, [3, 0, 2])
    assert r.values is values
    for part in (r[1:].values, r[:, :].values, r.row(2)):
        part[-2] = 99
        assert values.tolist() == [0, 1, 2, 99, 4]
        values[3] = 3
    assert r.row(0).dtype == torch.float32


def test_structure_may_be_tensors_too():
    r = vl.Ragged(np.arange(5), torch.tensor([3, 0, 2]))
    assert r.equals(vl.Ragged(np.arange(5), [3, 0, 2]))
    assert vl.Ragged.from_offsets(torch.arange(5), torch.tensor([0, 3, 5])).lengths.tolist() == [3, 2]
    assert r[torch.tensor([2, 0])].to_list() == [[3, 4], [0, 1, 2]]
    assert r[torch.tensor([True, False, True])].to_list() == [[0, 1, 2], [3, 4]]
    assert r[torch.tensor(1)].tolist() == []


def test_cu_seqlens_are_a_tensor_beside_tensors():
    assert ragged().cu_seqlens.dtype == torch.int32
    assert ragged().cu_seqlens.tolist() == [0, 3, 3, 5]


@pytest.mark.parametrize(
    "pick",
    [
        lambda r: r[[2, 0, 2]],
        lambda r: r[1:],
        lambda r: r[:, 1:],
        lambda r: r[np.array([True, False, True])][::-1],
        lambda r: vl.concatenate([r, r], axis=1),
        lambda r: r * 2 + torch.tensor([1.0, 2.0, 3.0]),
        lambda r: np.exp(r),
    ],
)
def test_gradients_flow_through_what_moves_rows(pick):
    weights = torch.arange(5.0)
    values = torch.ones(5, requires_grad=True)
    out = pick(vl.Ragged(values * 1, [3, 0, 2])).values
    (out * torch.arange(1.0, len(out) + 1)).sum().backward()
    plain = pick(vl.Ragged(np.arange(5), [3, 0, 2])) if len(out) else None
    assert values.grad.shape == weights.shape
    assert values.grad.abs().sum() > 0
    assert plain is not None


def test_gradient_of_gather_counts_how_often_a_row_was_picked():
    values = torch.ones(5, requires_grad=True)
    vl.Ragged(values, [3, 0, 2])[[2, 0, 0]].values.sum().backward()
    assert values.grad.tolist() == [2, 2, 2, 1, 1]


@pytest.mark.parametrize("dtype", DTYPES)
def test_rectangles_of_every_dtype_and_back(dtype):
    r = ragged(dtype, (2,))
    block, mask = r.to_dense(padding_side="left", mask=True)
    assert (block.shape, mask.dtype) == ((3, 3, 2), torch.bool)
    assert same(block[mask], r.values)
    assert same(vl.Ragged.from_dense(block, r.lengths, padding_side="left").values, r.values)
    out = torch.empty_like(block)
    assert r.to_dense(padding_side="left", out=out) is out
    assert same(out, block)


@pytest.mark.parametrize("side", ["left", "right"])
def test_rectangles_with_gradients_are_those_without(side):
    plain = ragged(trailing=(2,))
    r = vl.Ragged(plain.values.clone().requires_grad_(), levels=plain.levels)
    for options in ({"fill": -1}, {"max_len": 2, "mask": True}, {"pad_to_multiple_of": 4}):
        got, want = r.to_dense(side, **options), plain.to_dense(side, **options)
        if "mask" in options:
            assert torch.equal(got[1], want[1])
            got, want = got[0], want[0]
        assert torch.equal(got, want)
    r.to_dense(side, fill=5, max_len=2, truncate="left").sum().backward()
    assert r.values.grad.tolist() == [[0, 0], [1, 1], [1, 1], [1, 1], [1, 1]]
    block = plain.to_dense(side).requires_grad_()
    back = vl.Ragged.from_dense(block, r.levels, padding_side=side)
    assert torch.equal(back.values, plain.values)
    back.values.sum().backward()
    assert torch.equal(block.grad.bool().any(-1), plain.to_dense(side, mask=True)[1])


def test_lists_of_tensors_make_tensors():
    r = vl.Ragged.from_list([torch.arange(3), torch.arange(0), torch.arange(2)])
    assert isinstance(r.values, torch.Tensor)
    assert r.to_list() == [[0, 1, 2], [], [0, 1]]
    deep = vl.Ragged.from_list([[torch.ones(2)], [], [torch.ones(1), torch.ones(0)]], dtype=torch.bfloat16)
    assert deep.to_list() == [[[1, 1]], [], [[1], []]]
    assert deep.dtype == torch.bfloat16
    with pytest.raises(ValueError, match="a tensor beside lists"):
        vl.Ragged.from_list([torch.ones(1), [torch.ones(1)]])


def test_arithmetic_is_that_of_torch():
    r = ragged("bfloat16")
    assert (r + 1).dtype == torch.bfloat16
    assert (2.5 - r).values.tolist() == [2.5, 1.5, 0.5, -0.5, -1.5]
    assert (r > 1).to_list() == [[False, False, True], [], [True, True]]
    assert (r**2).values.tolist() == [0, 1, 4, 9, 16]
    assert (r + np.array([1, 2, 3])).values.tolist() == [1, 2, 3, 6, 7]
    assert np.add(r, 1, out=(r,)) is r
    assert r.values.tolist() == [1, 2, 3, 4, 5]
    assert r.equals(r.copy())
    assert r.astype(torch.int64).to_list() == [[1, 2, 3], [], [4, 5]]
    with pytest.raises(TypeError, match="torch has no cbrt"):
        np.cbrt(r)


def test_text_and_pages_name_torch_and_the_device():
    assert "bfloat16, torch, cpu" in repr(ragged("bfloat16"))
    assert "torch.bfloat16" in ragged("bfloat16")._repr_html_()
    assert repr(ragged()).endswith("[[0, 1, 2], [], [3, 4]]")


def test_memory_that_does_not_lie_end_to_end_is_copied():
    r = vl.Ragged(torch.arange(6).reshape(2, 3).T, [1, 2])
    assert r.to_list() == [[[0, 3]], [[1, 4], [2, 5]]]
    assert r[[1]].to_list() == [[[1, 4], [2, 5]]]
    assert vl.Ragged(torch.arange(6)[::2], [3]).to_list() == [[0, 2, 4]]


def test_tensors_without_rows_are_refused():
    with pytest.raises(ValueError, match="values: expected at least one dimension"):
        vl.Ragged(torch.tensor(1), [1])
    with pytest.raises(TypeError, match="values: expected a dense tensor"):
        vl.Ragged(torch.eye(2).to_sparse(), [2])
    with pytest.raises(ValueError, match="add up to 2, but there are 3"):
        vl.Ragged(torch.zeros(3), [2])


def test_torch_is_not_imported_for_those_who_bring_none():
    code = "import sys, numpy as np, varlen as vl\nr = vl.Ragged(np.arange(3), [2, 1])\n"
    code += "repr(r[[1, 0]] + 1), r._repr_html_(), r[:, :1].to_list(), vl.concatenate([r, r]), r.to_dense()\n"
    code += "print('torch' in sys.modules)"
    assert house.in_python(code)[0] == "False"
    assert "torch" in sys.modules


@pytest.mark.parametrize("dtype", [torch.float8_e5m2, torch.float8_e4m3fn, torch.bfloat16])
def test_floats_that_numpy_lacks_are_numbers(dtype: torch.dtype) -> None:
    r = vl.Ragged(torch.tensor([1.0, 3.0, 2.0, 0.5]).to(dtype), [3, 1])
    wide = vl.Ragged(r.values.float(), [3, 1])
    for op in ("sum", "mean", "max", "min", "softmax", "cumsum", "sort", "any", "argmax"):
        result, wanted = getattr(r, op)(), getattr(wide, op)()
        rows, others = (x.values if isinstance(x, vl.Ragged) else x for x in (result, wanted))
        assert rows.dtype == (dtype if others.is_floating_point() else others.dtype)
        assert torch.equal(rows.float(), others.to(rows.dtype).float())


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.int64, torch.float16, torch.bfloat16, torch.complex64]
)
def test_python_numbers_are_as_exact_as_the_dtype(dtype: torch.dtype) -> None:
    x = torch.tensor([1, 3], dtype=dtype)
    r = vl.Ragged(x, [2])
    for result, wanted in ((r + 0.1, x + 0.1), (1e6 * r, 1e6 * x), (r / 0.3, x / 0.3), (r == 0.1, x == 0.1)):
        assert result.dtype == wanted.dtype
        assert result.to_list() == [wanted.tolist()]
    if dtype.is_floating_point:
        blank = torch.tensor(0.1, dtype=torch.float64).to(dtype).item()
        for values in (x, x.clone().requires_grad_()):
            assert vl.Ragged(values, [2, 0]).to_dense(fill=0.1)[1].tolist() == [blank, blank]
            assert vl.Ragged(values, [2, 0]).max(empty=0.1)[1].item() == blank


def test_rows_of_tensors_fill() -> None:
    row = torch.tensor([1.0, 2.0], dtype=torch.bfloat16)
    r = vl.Ragged(torch.zeros(2, 2, dtype=torch.bfloat16), [2, 0])
    assert torch.equal(vl.tf.RaggedTensor(r.values, levels=r.levels).to_tensor(row)[1], row.expand(2, 2))
    assert torch.equal(r.last(empty=row)[1], row)
    learned = torch.tensor([1.0, 2.0], requires_grad=True)
    vl.Ragged(torch.ones(2, 2), [2, 0]).last(empty=learned).sum().backward()
    assert learned.grad.tolist() == [1, 1]
    most = vl.Ragged(torch.ones(1, dtype=torch.uint64), [1, 0]).to_dense(fill=2**64 - 1)
    assert most[1].tolist() == [2**64 - 1]
