"""What verbs need to know of lengths that lie on a device: each row of the table in docs/guides/gpu.md.

pytest -p host_cuda tests/python/devices/host_cuda_levels.py
"""

import itertools
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import varlen as vl
from varlen import _core, _cuda_host, ops

if "host_cuda" not in sys.modules:
    raise RuntimeError("run this with pytest -p host_cuda")

from host_cuda import device

PAGE = Path(__file__).parents[3] / "docs/guides/gpu.md"
LENGTHS = [3, 0, 2]
X = np.random.default_rng(0).standard_normal((5, 2))
SAID = {"nothing": {}, "`total`": {"total": 5}, "`max_len`": {"max_len": 3}, "the numbers: it waits": {}}
FACTS = [*SAID][:3]


def block_of(r):
    return torch.arange(18.0, dtype=r.values.dtype, device=r.values.device).reshape(3, 3, 2) + r.values.sum()


def ids_of(r):
    return vl.Ragged(torch.arange(5, device=r.values.device), r.levels[0])


# By the row of the table and the name that stands there.
VERBS = {
    "nothing": {
        "sum": lambda r: (r.sum(), r.mean(empty=0), r.max(empty=0), r.var(empty=0), r.argmax(empty=-1)),
        "reduce_dense": lambda r: ops.reduce_dense(block_of(r).detach(), r.levels[0]),
        "attention_pool": lambda r: ops.attention_pool(r, r.values[:, 0]),
        "softmax": lambda r: r.softmax(),
        "cumsum": lambda r: r.cumsum(),
        "sort": lambda r: (r.sort(), r.argsort()),
        "rank": lambda r: r.rank(),
        "reverse": lambda r: r.reverse(),
        "roll": lambda r: r.roll(1),
        "shift": lambda r: r.shift(-1),
        "seq2col": lambda r: ops.seq2col(r, 1),
        "concatenate": lambda r: (
            vl.concatenate([r, r * 2]),
            vl.concatenate([r, r], 1),
            vl.concatenate([r, r], 2),
        ),
        "stack": lambda r: (vl.stack([r, r * 2]), vl.stack([r, r], 1)),
        "to_dense(max_len=)": lambda r: (
            r.to_dense(max_len=3),
            r.to_dense(max_len=2),
            r.to_dense(max_len=2, padding_side="left", truncate="left"),
        ),
        "sequence_enumerate": lambda r: vl.sequence_enumerate(ids_of(r), 2),
        "topk(dense=True)": lambda r: r.topk(2, dense=True),
    },
    "`total`": {
        "row_ids": lambda r: r.row_ids,
        "positions": lambda r: ops.positions(r),
        "broadcast_rows": lambda r: ops.broadcast_rows(r, r.values[:3]),
        "block_mask": lambda r: ops.block_mask(r),
        "from_dense": lambda r: ops.from_dense(block_of(r), r.levels[0]),
        "reduce_dense": lambda r: ops.reduce_dense(block_of(r), r.levels[0]),
    },
    "`max_len`": {
        "to_dense": lambda r: r.to_dense(mask=True),
        "mask": lambda r: ops.mask(r),
        "gather_dense": lambda r: ops.gather_dense(r, [2, 0], positions=True),
    },
    "the numbers: it waits": {
        "r[1]": lambda r: r[2],
        "r[[2, 0]]": lambda r: r[[2, 0]],
        "r[:, :2]": lambda r: r[:, :2],
        "reverse(level=0)": lambda r: vl.Ragged(r.values, levels=(vl.Level([2, 1]), r.levels[0])).reverse(
            level=0
        ),
        "boolean_mask": lambda r: r.boolean_mask(torch.tensor([True, False, True]).cuda()),
        "split": lambda r: r.split(2),
        "windows": lambda r: ops.windows(r, size=2, step=1),
        "seq2col(stride=2)": lambda r: ops.seq2col(r, 1, stride=2),
        "diff": lambda r: r.diff(),
        "fill_empty_rows": lambda r: r.fill_empty_rows(0)[0],
        "sequence_enumerate(pad_value=1)": lambda r: vl.sequence_enumerate(ids_of(r), 2, 1),
        "ngrams": lambda r: ops.ngrams(2, ids_of(r)),
        "tile": lambda r: ops.tile(r, [1, 2, 1]),
        "ops.unpad": lambda r: tuple(ops.unpad(block_of(r), r.levels[0])),
        "searchsorted": lambda r: vl.Ragged(r.values[:, 0].detach().abs(), r.levels[0]).searchsorted(
            torch.ones(3, 1).cuda().double()
        ),
        "topk": lambda r: r.topk(2),
        "unique": lambda r: vl.Ragged(r.values[:, 0].detach(), r.levels[0]).unique(),
        "spans": lambda r: ops.spans(r, [(0, 1), (1, 2)], row_ids=[0, 2]),
        "pack": lambda r: r.pack().values,
        "to_padded": lambda r: r.to_padded().data,
        "torch.compile": lambda r: _compiled(r.values, r.levels[0]),
    },
}
CASES = [(row, name) for row, verbs in VERBS.items() for name in verbs]


def _mean(x, level):
    return vl.Ragged(x, level).mean(empty=0)


def _compiled(x, level):
    torch.compiler.reset()
    return torch.compile(_mean, fullgraph=True, backend="aot_eager")(x, level)


def tensors(result):
    if isinstance(result, (tuple, list)):
        return [x for each in result for x in tensors(each)]
    return [result.values] if isinstance(result, vl.Ragged) else [result]


def numbers(result):
    return [x.detach().cpu() for x in tensors(result)]


def both_ways(step, level):
    """What a step gives, and the gradient of its sum; with how often somebody waited."""
    x = torch.tensor(X, device="cuda", requires_grad=True)
    before = _cuda_host.waits() + device.waits()
    results = step(vl.Ragged(x, level))
    watched = [each.sum() for each in tensors(results) if each.requires_grad]
    if watched:
        sum(watched).backward()
    waits = _cuda_host.waits() + device.waits() - before
    return [*numbers(results), *([x.grad.cpu()] if watched else [])], waits


def born(**said):
    return vl.Level(torch.tensor(LENGTHS).cuda(), **said)


@pytest.mark.parametrize(("row", "name"), CASES)
def test_verbs_need_what_the_table_says(row, name):
    step = VERBS[row][name]
    found, waits = both_ways(step, born(**SAID[row]))
    wanted, _ = both_ways(step, vl.Level(LENGTHS))
    assert (waits > 0) == (row not in FACTS)
    for x, y in itertools.zip_longest(found, wanted):
        torch.testing.assert_close(x, y)


def test_rows_of_the_table_name_the_verbs():
    rows = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", PAGE.read_text(), re.MULTILINE))
    for row, verbs in VERBS.items():
        assert set(re.findall(r"`([^`]+)`", rows[row])) - {"empty="} == {*verbs}


@pytest.mark.parametrize("name", ["`total`", "`max_len`"])
def test_facts_that_nobody_gave_are_asked_for(name):
    asked, level, x = name.strip("`"), born(), torch.tensor(X).cuda()
    verb = {
        "total": lambda: _core.on_tensors(_core.level_numbers, level, "row_ids", x),
        "max_len": lambda: vl.Ragged(x, level).to_dense(),
    }[asked]
    with pytest.raises(ValueError, match=rf"^{asked}: .*give {asked}=, or call level.sync\(\)"):
        verb()


def test_text_shows_lengths_of_a_device_as_those_of_the_host():
    x = torch.tensor(X).cuda()
    assert repr(vl.Ragged(x, born())) == repr(vl.Ragged(x, vl.Level(LENGTHS)))
    assert vl.Ragged(x, born())._repr_html_() == vl.Ragged(x, vl.Level(LENGTHS))._repr_html_()


OF_LENGTHS = {
    "mask": lambda x: ops.mask(x, max_len=3),
    "mask cut": lambda x: ops.mask(x, 2, "left", width=4),
    "mask of a width": lambda x: ops.mask(x, width=3, pad_to_multiple_of=2),
    "cu_seqlens": ops.cu_seqlens,
    "positions": ops.positions,
    "segment_ids": ops.segment_ids,
    "block_mask": ops.block_mask,
}


@pytest.mark.parametrize("name", OF_LENGTHS)
def test_masks_and_places_lie_where_the_numbers_of_a_level_do(name):
    step = OF_LENGTHS[name]
    wanted = torch.from_numpy(np.array(step(LENGTHS)))
    level, before = born(total=5, max_len=3), _cuda_host.waits() + device.waits()
    found = step(level)
    assert (found.device.type, _cuda_host.waits() + device.waits()) == ("cuda", before)
    torch.testing.assert_close(found.cpu(), wanted)
    assert step(level.sync()).device.type == "cuda"
    torch.testing.assert_close(step(torch.tensor(LENGTHS).cuda()).cpu(), wanted)


def test_widths_of_masks_hold_what_lengths_on_a_device_say():
    with pytest.raises(
        ValueError, match="width: expected at least 3, the bound of lengths on a device, got 2"
    ):
        ops.mask(born(max_len=3), width=2)
    level = born()
    with pytest.raises(ValueError, match="row 0 has length 3, over max_len=2"):
        (ops.mask(level, width=2), level.sync())


def test_lengths_on_a_device_need_no_level():
    lengths = torch.tensor(LENGTHS).cuda()
    block = torch.arange(9.0, device="cuda").reshape(3, 3).requires_grad_()
    of_host = block.detach().cpu().requires_grad_()
    for op in ("mean", "max"):
        found = ops.reduce_dense(block, lengths, op, empty=0)
        wanted = ops.reduce_dense(of_host, LENGTHS, op, empty=0)
        (found.sum() + wanted.sum().item()).backward()
        wanted.sum().backward()
        torch.testing.assert_close(found.cpu(), wanted)
    torch.testing.assert_close(block.grad.cpu(), of_host.grad)
    assert ops.from_dense(block, lengths).to_list() == ops.from_dense(of_host, LENGTHS).to_list()
    rows = [x.tolist() for x in ops.unflatten(torch.arange(5.0).cuda(), lengths)]
    assert rows == [[0, 1, 2], [], [3, 4]]
    with pytest.raises(ValueError, match="lengths: add up to 5, but X has 4 rows"):
        ops.unflatten(torch.arange(4.0).cuda(), lengths)


def test_levels_of_a_device_are_made_of_lengths_or_offsets():
    numbers = torch.tensor([1, 2]).cuda()
    for name in ("bounds", "row_ids"):
        with pytest.raises(TypeError, match=f"^{name}: lie on a device, .*copy them to the host first"):
            getattr(vl.Level, f"from_{name}")(numbers)
    nothing = vl.Level(numbers[:0])
    assert (nothing.total, nothing.longest, nothing.is_on_host) == (0, 0, False)


def test_named_sequences_are_found_without_their_lengths():
    x = torch.tensor(X).cuda()
    for named in ([2, 0], np.array([True, False, True]), slice(None, None, -1), torch.tensor([-1])):
        r = vl.Ragged(x, born(max_len=3))
        found = ops.gather_dense(r, named, positions=True)
        wanted = ops.gather_dense(vl.Ragged(x, LENGTHS), named, positions=True, max_len=3)
        assert not r.levels[0].is_on_host
        width = wanted[0].shape[1]
        assert all(torch.equal(a[:, :width], b) for a, b in zip(found, wanted, strict=True))
        assert not found[1][:, width:].any()
    with pytest.raises(IndexError, match="3"):
        ops.gather_dense(vl.Ragged(x, born(max_len=3)), [3])


@pytest.mark.parametrize("verb", ["attention_pool", "reduce_dense", "gather_dense"])
def test_a_capture_holds_what_needs_no_numbers_and_its_gradient(verb):
    x = torch.tensor(X, device="cuda", requires_grad=True)
    lengths, index = torch.tensor(LENGTHS).cuda(), torch.tensor([1, 0], dtype=torch.int32).cuda()
    _cuda_host.begin_capture()  # whatever waits raises from here on
    try:
        r = vl.Ragged(x, vl.Level(lengths, total=5, max_len=3))
        result = {
            "attention_pool": lambda: ops.attention_pool(r, x[:, 0]),
            "reduce_dense": lambda: ops.reduce_dense(r.to_dense(), r.levels[0], "mean", empty=0),
            "gather_dense": lambda: ops.gather_dense(r, index)[0],
        }[verb]()
        result.sum().backward()
        assert not r.levels[0].is_on_host
    finally:
        _cuda_host.end_capture()
    assert x.grad.shape == x.shape


@pytest.mark.parametrize("end", ["first", "last"])
def test_ends_of_no_rows_are_followed_by_autograd(end):
    level = vl.Level(torch.tensor([0, 0]).cuda(), total=0, max_len=1)
    x = torch.zeros(0, 2, device="cuda", requires_grad=True)
    rows = getattr(vl.Ragged(x, level), end)(empty=7)
    assert rows.tolist() == [[7, 7], [7, 7]]
    rows.sum().backward()
    assert x.grad.shape == (0, 2)


def test_bounds_wider_than_a_rectangle_are_no_lengths():
    block = torch.arange(9.0).reshape(3, 3).cuda()
    level = born(total=5, max_len=50)
    assert [rows.tolist() for rows in ops.unpad(block, level)] == [[0, 1, 2], [], [6, 7]]
    with pytest.raises(ValueError, match="sequence 0 has 3 rows, but padded is 2 wide"):
        ops.unpad(block[:, :2], born(total=5, max_len=50))
    rows = vl.Ragged(torch.tensor(X).cuda(), born(total=5, max_len=50))
    padded, length = vl.sequence_pad(rows, 0.0, 3)
    assert padded.shape == (3, 3, 2)
    assert vl.sequence_unpad(padded, length).values.tolist() == X.tolist()
    rows = vl.Ragged(torch.tensor(X).cuda(), born(total=5, max_len=50))
    with pytest.raises(ValueError, match="maxlen: 2, but sequence 0 of level 0 has 3 rows"):
        vl.sequence_pad(rows, 0.0, 2)


def test_loose_bounds_add_no_steps():
    x = torch.tensor(X).cuda()
    loose = [vl.Ragged(x, born(total=5, max_len=2**40)) for _ in range(4)]
    assert vl.sequence.max_sequence_len(vl.sequence.lod_rank_table(loose[0])) == 3
    assert loose[1].to_padded().data.shape == (3, 3, 2)
    assert len(vl.sequence.lod_tensor_to_array(loose[2], vl.sequence.lod_rank_table(loose[2]))) == 3
    assert loose[3].pack().values.shape == (5, 2)
    assert {r.levels[0].longest for r in loose} == {3}


def test_the_best_of_few_need_no_numbers_where_the_bound_says_so():
    r = vl.Ragged(torch.tensor(X).cuda(), born(max_len=3))
    before = _cuda_host.waits()
    best, which = r.topk(4)
    assert _cuda_host.waits() == before
    assert torch.equal(best.values, r.sort(descending=True).values)
    assert which.levels[0] is r.levels[0]


def model(x, lengths):
    r = vl.Ragged(x, lengths)
    shares = r.softmax()
    return shares.sum(), r.mean(empty=0), (shares * r).to_dense(max_len=4, fill=-1)


def test_a_graph_of_lengths_on_a_device_takes_any():
    torch.compiler.reset()
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager", dynamic=True)
    for k, lengths in enumerate(([4, 0, 2], [1, 4, 1], [0, 2, 4], [4, 1, 1])):
        with torch.compiler.set_stance("default" if k == 0 else "fail_on_recompile"):
            results = []
            for run in (compiled, model):
                x = torch.randn(6, 2, generator=torch.Generator().manual_seed(k)).cuda().requires_grad_()
                outputs = run(x, torch.tensor(lengths).cuda())
                sum((each**2).sum() for each in outputs).backward()
                results.append([*numbers(outputs), x.grad.cpu()])
        for found, wanted in zip(*results, strict=True):
            torch.testing.assert_close(found, wanted)
    torch.compiler.reset()
