"""Verbs on tensors of a CUDA device that is memory of the host, beside those of the CPU.

    pytest -p host_cuda tests/python/tensors/host_cuda_verbs.py

needs the kernels that run on the host (`_cuda_host`), torch and g++.
"""

import re
import sys

import numpy as np
import pytest
import test_torch_fullgraph_verbs as samples
import torch
import varlen as vl
from varlen import ops

if "host_cuda" not in sys.modules:
    raise RuntimeError("run this with pytest -p host_cuda")

BESIDE = {"beside_tensors", "products"}  # tensors of the CPU, which torch refuses as well
STEPS = [
    pytest.param(step, make, id=f"{make.__name__}-{name}")
    for make, table in (
        (samples.flat, samples.OF_FLAT),
        (samples.whole, samples.OF_WHOLE),
        (samples.deep, samples.OF_DEEP),
    )
    for name, step in table.items()
    if name not in BESIDE
]


def tensors(result):
    if isinstance(result, (tuple, list)):
        return [x for each in result for x in tensors(each)]
    if isinstance(result, vl.Ragged):
        return [result.values]
    return [result] if isinstance(result, torch.Tensor) else []


def both_ways(step, r):
    """The tensors that a step gives, and the gradient of a weighted sum of them."""
    results = tensors(step(r))
    watched = [x for x in results if x.requires_grad]
    if watched:
        weights = [torch.arange(1.0, x.numel() + 1, device=x.device).reshape(x.shape) for x in watched]
        sum((x * weight).sum() for x, weight in zip(watched, weights, strict=True)).backward()
    return results, r.values.grad


def on_device(r):
    x = r.values.detach().cuda()
    return vl.Ragged(x.requires_grad_(r.values.requires_grad), levels=r.levels)


def check(step, r, wanted_step, monkeypatch):
    wanted, gradient = both_ways(wanted_step, r)
    monkeypatch.setattr(samples, "WEIGHT", samples.WEIGHT.cuda())
    found, other = both_ways(step, on_device(r))
    assert [x.device.type for x in found] == ["cuda"] * len(wanted)
    for x, y in zip(found, wanted, strict=True):
        torch.testing.assert_close(x.detach().cpu(), y.detach(), equal_nan=True)
    assert (gradient is None) == (other is None)
    if gradient is not None:
        assert other.device.type == "cuda"
        torch.testing.assert_close(other.cpu(), gradient)


@pytest.mark.parametrize("k", range(3))
@pytest.mark.parametrize(("step", "make"), STEPS)
def test_verbs_give_what_they_give_on_the_cpu(step, make, k, monkeypatch):
    check(step, make(k), step, monkeypatch)


@pytest.mark.parametrize(("step", "make"), STEPS)
def test_verbs_are_one_graph_there_too(step, make, monkeypatch):
    torch.compiler.reset()
    check(torch.compile(step, fullgraph=True, backend="aot_eager"), make(0), step, monkeypatch)
    torch.compiler.reset()


def test_rows_that_were_cut_have_no_gradient():
    x = torch.arange(10.0).reshape(5, 2).cuda().requires_grad_()
    block = vl.Ragged(x, [3, 0, 2]).to_dense(max_len=2, truncate="left")
    (block * torch.arange(1.0, 13, device="cuda").reshape(3, 2, 2)).sum().backward()
    assert x.grad.tolist() == [[0, 0], [1, 2], [3, 4], [9, 10], [11, 12]]


def test_masks_of_every_size_lie_there():
    r = vl.Ragged(torch.zeros(6, device="cuda"), [3, 1, 2])
    for sizes in ({}, {"max_len": 2}, {"width": 5}, {"padding_side": "left"}):
        mask = ops.mask(r, **sizes)
        assert mask.device.type == "cuda"
        assert mask.cpu().numpy().tolist() == ops.mask([3, 1, 2], **sizes).tolist()
    with pytest.raises(ValueError, match="lengths: sequence 0 has 3 rows, over width=2"):
        ops.mask(r, width=2)


@pytest.mark.parametrize(
    "kind", ["float16", "bfloat16", "float8_e4m3fn", "int8", "uint8", "bool", "complex64"]
)
def test_rectangles_of_every_dtype(kind):
    x = torch.tensor([1, 0, 1, 1, 0], dtype=getattr(torch, kind))
    r, s = vl.Ragged(x, [3, 0, 2]), vl.Ragged(x.cuda(), [3, 0, 2])
    wanted, found = r.to_dense(fill=1), s.to_dense(fill=1)
    assert found.device.type == "cuda"
    assert torch.equal(found.cpu().view(torch.uint8), wanted.view(torch.uint8))
    back = vl.Ragged.from_dense(found, [3, 0, 2]).values
    assert back.device.type == "cuda"
    assert torch.equal(back.cpu().view(torch.uint8), x.view(torch.uint8))


def test_outputs_are_written_there():
    x = torch.arange(5.0, device="cuda")
    out = torch.full((3, 3), -1.0, device="cuda")
    assert vl.Ragged(x, [3, 0, 2]).to_dense(out=out) is out
    assert out.tolist() == [[0, 1, 2], [0, 0, 0], [3, 4, 0]]
    mask = torch.zeros(5, 5, dtype=torch.bool, device="cuda")
    assert ops.block_mask(vl.Ragged(x, [3, 0, 2]), out=mask, dtype=torch.bool) is mask
    assert mask.sum().item() == 13


def test_lengths_may_lie_there():
    lengths = torch.tensor([3, 0, 2], device="cuda")
    x = torch.arange(5.0, device="cuda")
    assert ops.reduce_sum(x, lengths).tolist() == [3, 0, 7]
    assert np.array_equal(vl.Ragged(x, lengths).lengths, [3, 0, 2])


# Those that take no level apart, which somebody would have to look at.
OF_DEVICE = {
    "dense": lambda r: r.to_dense(),
    "dense and mask": lambda r: r.to_dense(max_len=3, fill=1, mask=True, padding_side="left"),
    "mask": lambda r: ops.mask(r, width=6),
    "mask of the first rows": lambda r: ops.mask(r, max_len=2),
    "block_mask": lambda r: ops.block_mask(r),
    "from_dense": lambda r: vl.Ragged.from_dense(r.to_dense(), r.levels[0]),
    "mean": lambda r: r.mean(empty=0),
    "var": lambda r: r.var(empty=0),
    "max": lambda r: r.max(empty=0),
    "first": lambda r: ops.reduce_first(r, empty=-1.0),
    "last": lambda r: ops.reduce_last(r, empty=-1.0),
    "attention": lambda r: (r.softmax() * r).sum(),
    "centred": lambda r: r - r.mean(empty=0),
    "cumsum": lambda r: r.cumsum(),
    "sort": lambda r: r.sort(descending=True),
    "rank": lambda r: r.rank(),
    "moved": lambda r: r.reverse().roll(1).shift(1),
    "seq2col": lambda r: ops.seq2col(r, 1),
    "row_ids": lambda r: r.row_ids,
    "positions": lambda r: r.positions,
}


@pytest.mark.parametrize("name", OF_DEVICE)
def test_verbs_wait_for_no_lengths_of_a_device(name):
    def run(lengths):
        x = torch.tensor([[0.5], [-2.0], [3.0], [1.0], [4.0]], device="cuda", requires_grad=True)
        r = vl.Ragged(x, lengths)
        results, gradient = both_ways(OF_DEVICE[name], r)
        return r.levels[0], [*results, *([] if gradient is None else [gradient])]

    _, wanted = run(vl.Level([3, 0, 2]))
    level, found = run(vl.Level(torch.tensor([3, 0, 2], device="cuda"), max_len=3))
    assert not level.is_on_host
    assert len(found) == len(wanted)
    for x, y in zip(found, wanted, strict=True):
        torch.testing.assert_close(x, y)


def test_nested_lengths_of_a_device_wait_for_nothing():
    x = torch.arange(5.0, device="cuda")
    lengths = [torch.tensor(each, device="cuda", dtype=torch.int32) for each in ([2, 1], [3, 0, 2])]
    r = vl.Ragged(x, lengths)
    wanted = vl.Ragged(x, [[2, 1], [3, 0, 2]])
    assert torch.equal(r.sum(level=0), wanted.sum(level=0))
    assert torch.equal(r.sum().values, wanted.sum().values)
    assert not any(level.is_on_host for level in r.levels)
    with pytest.raises(ValueError, match=r"lengths\[0\]|lengths: they add up to 3, but there are 4 rows"):
        vl.Ragged(x, [lengths[0], torch.tensor([3, 0, 1, 1], device="cuda")]).sum(level=0)


def test_lengths_of_a_device_show_where_somebody_looks():
    lengths = torch.tensor([3, 0, 2], device="cuda")
    r = vl.Ragged(torch.arange(5.0, device="cuda"), lengths)
    lengths.zero_()  # the level has its own
    assert r[0].tolist() == [0, 1, 2]
    assert r.levels[0].is_on_host
    assert r.longest == 3
    x = torch.arange(5.0)
    assert ops.reduce_sum(x, torch.tensor([3, 0, 2], device="cuda")).tolist() == [3, 0, 7]


def test_lengths_of_a_device_that_lie_are_told():
    x = torch.arange(5.0, device="cuda")
    r = vl.Ragged(x, torch.tensor([3, -1, 3], device="cuda"))
    with pytest.raises(ValueError, match="lengths: row 1 has a negative length, -1"):
        r.sum()


def test_want_of_memory_is_the_error_of_torch():
    with pytest.raises(torch.OutOfMemoryError, match=r"^CUDA out of memory"):
        ops.backprop_reduce_sum(torch.ones(2, device="cuda"), vl.Level([2**45, 1]))


def test_tensors_of_two_places_are_refused():
    with pytest.raises(ValueError, match="Y: expected an array on device 0, got one on the host"):
        ops.backprop_softmax(torch.ones(2).cuda(), torch.ones(2), [2])


def test_keys_are_hashed_and_tokens_erased_there():
    keys = torch.tensor([3, 1, 4, 1, 5])
    r, s = vl.Ragged(keys, [3, 0, 2]), vl.Ragged(keys.cuda(), [3, 0, 2])
    for call in (
        lambda r: ops.hash(r.values, 7),
        lambda r: ops.ngrams(2, r).values,
        lambda r: vl.sequence_erase(r, [1]).values,
        lambda r: vl.sequence_erase(r.astype(torch.float16), [1, 0.5]).values,
        lambda r: vl.sequence_erase(r > 1, [True]).values,
        lambda r: vl.sequence_erase(r.astype(torch.bfloat16), [1]).values,
    ):
        found = call(s)
        assert found.device.type == "cuda"
        assert torch.equal(found.cpu(), call(r))
    x = torch.tensor([1.0, 2, 3], device="cuda", requires_grad=True)
    vl.sequence_erase(vl.Ragged(x, [2, 1]), [2]).values.sum().backward()
    assert x.grad.tolist() == [1, 0, 1]


@pytest.mark.parametrize("kind", range(3))
def test_containers_go_there_and_back(kind):
    r = vl.Ragged(torch.arange(5.0, requires_grad=True), [3, 0, 2])
    x = [r, r.to_padded(), r.pack()][kind]
    there = x.cuda()
    assert there.device == "cuda:0"
    assert there.to("cuda:0") is there
    assert there.cpu().equals(x)


def test_numbers_are_counted_and_looked_up_there():
    counted = vl.Ragged(torch.tensor([1, 1, 2, 0]), [3, 1])
    weights = torch.tensor([0.5, 0.5, 2, 1], requires_grad=True)
    for there in (counted.cuda(), counted):
        placed = weights.to(there.values.device)
        for found in (there.bincount(4), there.bincount(weights=placed)):
            assert found.device == there.values.device
        assert there.bincount(4).tolist() == [[0, 2, 1, 0], [1, 0, 0, 0]]
        assert there.bincount(weights=placed).tolist() == [[0, 1, 2], [1, 0, 0]]
    with pytest.raises(ValueError, match="row 1, in sequence 0, is -1"):
        vl.Ragged(torch.tensor([1, -1]).cuda(), [2]).bincount()
    r = vl.Ragged(torch.tensor([1.0, 3.0, torch.nan, 2.0, 2.0, 7.0]), [3, 0, 3])
    queries = vl.Ragged(torch.tensor([3.0, torch.nan, 9.0, 2.0]), [2, 0, 2])
    for side in ("left", "right"):
        found = r.cuda().searchsorted(queries.cuda(), side)
        assert found.device == "cuda:0"
        assert found.cpu().equals(r.searchsorted(queries, side))


def test_indices_may_lie_there():
    r = vl.Ragged(torch.arange(12.0).reshape(6, 2), [3, 0, 3])
    index = torch.tensor([2, 0, -2])
    for found, wanted in (
        (r.cuda()[index.cuda()], r[index]),
        (r.cuda().gather(index[:2].cuda()), r.gather(index[:2])),
    ):
        assert found.cpu().equals(wanted)
    found = ops.gather_dense(r.cuda(), index.cuda(), padding_side="left", fill=7, positions=True)
    wanted = ops.gather_dense(r, index, padding_side="left", fill=7, positions=True)
    assert all(torch.equal(x.cpu(), y) for x, y in zip(found, wanted, strict=True))
    block, mask = ops.gather_dense(r.cuda(), torch.tensor([0, 5, -9]).cuda(), max_len=2, fill=7)
    assert block[1:].unique().tolist() == [7]
    assert mask.tolist() == [[True] * 2, [False] * 2, [False] * 2]


def _gather_dense(x, levels, index, how):
    return ops.gather_dense(vl.Ragged(x, levels=levels), index, positions=True, **how)


def test_rectangles_of_indices_there_take_as_many_bytes_with_autograd_as_without():
    index = torch.tensor([0, 1]).cuda()
    for positions, least in ((False, 2 * 2 * 5), (True, 2 * 2 * 13)):
        for is_followed in (False, True):
            r = vl.Ragged(torch.ones(3, device="cuda").requires_grad_(is_followed), [1, 2])
            assert ops.gather_dense(r, index, positions=positions, max_bytes=least)[0].shape == (2, 2)
            with pytest.raises(ValueError, match="over max_bytes"):
                ops.gather_dense(r, index, positions=positions, max_bytes=least - 1)


HOW = {"padding_side": "left", "max_len": 3}
NAMED = [0, 9, -9, 127, -1]


@pytest.mark.parametrize("lengths", [([1, 4, 0, 2],), ([1, 0, 2], [4, 1, 2])])
@pytest.mark.parametrize(
    ("way", "how", "index"),
    [
        *(("alone", how, index) for how in ({}, HOW) for index in ([0, 0], NAMED)),
        *(("autograd", how, index) for how in ({}, HOW) for index in ([0, 0], NAMED)),
        ("fill with a gradient", {"pad_to_multiple_of": 4}, NAMED),
        ("compiled", HOW, NAMED),
    ],
)
def test_indices_there_have_one_width_and_one_range(lengths, way, how, index):
    levels = tuple(vl.Level(each) for each in lengths)
    x = torch.arange(1.0, 15.0).reshape(7, 2).requires_grad_(way == "autograd")
    there = x.detach().cuda().requires_grad_(x.requires_grad)
    fill = torch.tensor(9.0, device="cuda", requires_grad=True) if way == "fill with a gradient" else 9.0
    named = torch.tensor(index, device="cuda", dtype=torch.int8 if way == "alone" else torch.int64)
    run = _gather_dense
    if way == "compiled":
        torch.compiler.reset()
        run = torch.compile(_gather_dense, fullgraph=True, backend="aot_eager")
    found = run(there, levels, named, {**how, "fill": fill})
    # Beside all sequences those that are named are as wide as the longest; an empty one stands for none.
    n = len(levels[0])
    inside = [i % n if -n <= i < n else n for i in index]
    padded = (vl.Level([*lengths[0], 0]), *levels[1:])
    wide = _gather_dense(x, padded, [*inside, *range(n)], {**how, "fill": 9.0})
    for y, wanted in zip(found, wide, strict=True):
        assert torch.equal(y.detach().cpu(), wanted[: len(index)].detach())
    if way == "autograd":
        (d,) = torch.autograd.grad((found[0] ** 2).sum(), there)
        (wanted,) = torch.autograd.grad((wide[0][: len(index)] ** 2).sum(), x)
        assert torch.equal(d.cpu(), wanted)


@pytest.mark.parametrize("op", ["sum", "max", "var"])
def test_rectangles_are_pooled_where_they_lie(op):
    block = torch.randn(4, 5, 3)
    found = ops.reduce_dense(block.cuda(), [3, 5, 1, 2], op)
    torch.testing.assert_close(found.cpu(), ops.reduce_dense(block, [3, 5, 1, 2], op))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_attention_pools_there(dtype):
    x, scores = torch.randn(9, 4).to(dtype), torch.randn(9, 2).to(dtype)
    lengths = [4, 0, 5]
    results = []
    for device in ("cpu", "cuda"):
        given = [each.clone().to(device).requires_grad_() for each in (x, scores)]
        pooled = ops.attention_pool(given[0], given[1], lengths)
        pooled.pow(2).sum().backward()
        results.append([pooled.detach(), *(each.grad for each in given)])
    for found, wanted in zip(*reversed(results), strict=True):
        torch.testing.assert_close(found.cpu(), wanted)


def pair():
    x = torch.tensor([1.0, 2.0, 3.0])
    return vl.Ragged(x.cuda(), [1, 2]), vl.Ragged(x, [1, 2])


def wide(r):
    return vl.Ragged(r.values[:, None], r.levels)


def moving(x, h):
    return h + x


# What is called, the argument that lies elsewhere, and the one beside it.
OF_TWO_DEVICES = [
    (lambda a, b: a + b, "operand:", "another operand"),
    (lambda a, b: a < b, "operand:", "another operand"),
    (np.maximum, "operand:", "another operand"),
    (lambda a, b: np.add(a, 1, out=b), "out:", "an operand"),
    (lambda a, b: wide(a) @ wide(b).values[:1], "b:", "a"),
    (lambda a, b: vl.matmul(wide(a), wide(b), transpose_b=True), "b:", "a"),
    (lambda a, b: vl.sequence_conv(wide(a), wide(b).values, context_length=3), "filter:", "input"),
    (lambda a, b: a.equals(b), "other:", "this"),
    (lambda a, b: vl.where(a > 1, a, b), "x:", "y"),
    (lambda a, b: vl.where(a > 1, b, b), "condition:", "x"),
    (lambda a, b: a.boolean_mask(b > 1), "mask:", "X"),
    (lambda a, b: a.searchsorted(b), "v:", "X"),
    (lambda a, b: vl.sequence_expand_as(a.values[:2], b), "x:", "y"),
    (lambda a, b: vl.sequence_pad(a, b.values[:1]), "pad_value:", "x"),
    (lambda a, b: a.broadcast_rows(b.values[:2]), "rows:", "X"),
    (lambda a, b: a.astype(torch.int64).bincount(weights=b.values), "weights:", "X"),
    (ops.attention_pool, "scores:", "X"),
    (lambda a, b: vl.sequence.rnn(moving, a, b.values[:2]), "init:", "inputs"),
    (lambda a, b: vl.cross([a, b]), "raggeds: part 1", "the first"),
    (lambda a, b: vl.concatenate([a, b]), "raggeds: part 1", "the first"),
    (lambda a, b: vl.stack([a, b], 1), "raggeds: part 1", "the first"),
    (lambda a, b: ops.pad([a.values, b.values]), "data: item 1 of depth 1", "the first"),
    (lambda a, b: ops.list2ragged([a.values, b.values]), "data: item 1 of depth 1", "the first"),
]


@pytest.mark.parametrize("case", range(len(OF_TWO_DEVICES)))
def test_tensors_of_two_devices_are_refused_by_name(case):
    step, name, other = OF_TWO_DEVICES[case]
    there, here = pair()
    for a, b in ((there, here), (here, there)):
        with pytest.raises(ValueError, match=rf"^{name} lies on c\S+, {other} on c\S+; move one") as error:
            step(a, b)
        assert {"cpu", "cuda:0"} <= set(re.findall(r"cpu|cuda:0", str(error.value)))
    for join in (ops.pad, ops.list2ragged):
        with pytest.raises(ValueError, match=r"^arrays: array 1 is on cuda:0, the first on cpu"):
            join([np.ones(2), there.values])


def test_arrays_of_numpy_go_where_the_others_lie():
    there, _ = pair()
    array = vl.Ragged(np.array([1.0, 2.0, 3.0], np.float32), [1, 2])
    for step in (np.add, lambda a, b: vl.concatenate([a, b]), lambda a, b: vl.where(a > 1, a, b)):
        assert {step(there, array).device, step(array, there).device} == {"cuda:0"}
    pooled = ops.attention_pool(array, there.values)
    torch.testing.assert_close(pooled, ops.attention_pool(there, there.values))


def test_floats_that_are_too_large_are_refused_where_somebody_looks():
    r = vl.Ragged(torch.tensor([1.0, 1e6]).cuda(), [1, 1])
    with pytest.raises(ValueError, match=r"^values: element 1 is .*does not fit torch.float16"):
        r.to_dense(dtype=torch.float16)
    block, _ = ops.gather_dense(r, torch.tensor([1, 0]).cuda(), dtype=torch.float16)
    assert block.tolist() == [[float("inf")], [1]]


@pytest.mark.parametrize(("values", "dtype"), [([1, 300], "int8"), ([1, -3], "uint8")])
def test_integers_that_a_dtype_does_not_hold_are_refused_by_all_rectangles(values, dtype):
    r, kind = vl.Ragged(torch.tensor(values).cuda(), [1, 1]), getattr(torch, dtype)
    calls = (
        lambda: r.to_dense(dtype=kind),
        lambda: ops.gather_dense(r, torch.tensor([1, 0]).cuda(), dtype=kind),
        lambda: ops.gather_dense(r, dtype=kind),
    )
    for call in calls:
        with pytest.raises(ValueError, match=f"^values: element 1 is .*does not fit torch.{dtype}"):
            call()
    assert ops.gather_dense(r, [0], dtype=torch.float64)[0].tolist() == [[1]]


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.uint16])
def test_indices_of_few_bits_look_rows_up(dtype):
    table, indices = torch.tensor([[1.0], [2], [4]]).cuda(), torch.tensor([0, 2]).to(dtype).cuda()
    assert ops.gather_add(table, indices[None]).tolist() == [[5]]
    ops.scatter_add(table, indices, table[1:].clone())
    assert table.tolist() == [[3], [2], [8]]


def test_what_lies_on_a_device_is_not_pinned():
    joint = vl.JointNestedRaggedTensorDict({"x": [[1.0], [2.0, 3.0]]})
    batch = vl.data.Dataset(joint).batch([0, 1], framework="torch")
    for held in (pair()[0], batch.to("cuda")):
        with pytest.raises(TypeError, match=r"^pin_memory: the values lie on cuda:0"):
            held.pin_memory()
    for held in (pair()[0], batch, joint):
        with pytest.raises(TypeError, match=r"^device: expected one of torch, .*got 'tpu'"):
            held.to("tpu")
