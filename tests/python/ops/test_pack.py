"""Pack: lists and Ragged to time-major blocks and packed rows, and back, against nested Python lists."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import verbs as oracle
from varlen import _core, ops
from varlen.testing import strategies

TIES = st.sampled_from(["stable", "reversed"])


def fields_of(result):
    return [field.tolist() for field in result[1:]]


@st.composite
def batches(draw, dtype=None, trailing=None):
    """A Ragged of one level, of every kind of rows unless they are given."""
    return draw(strategies.raggeds(depth=1, dtype=dtype, trailing=trailing))


@given(batches(dtype="int16", trailing=()), TIES)
def test_pack_is_the_longest_first_step_by_step(r, ties):
    lists = r.to_list()
    order = oracle.order([len(row) for row in lists], ties)
    steps = oracle.columns(lists, ties)
    sizes = [len(step) for step in steps]
    for result in (_core.ragged2padded(r.values, r.levels[0], ties), _core.list2padded(lists_of(r), ties)):
        assert fields_of(result) == [sizes, [len(lists[i]) for i in order], order]
        assert result[0].tolist() == [step + [0] * (len(lists) - len(step)) for step in steps]
        assert result[0].dtype == (r.dtype if len(r) else result[0].dtype)
    rows, *fields = _core.ragged2packed(r.values, r.levels[0], ties)
    assert rows.tolist() == [x for step in steps for x in step]
    assert fields_of((rows, *fields)) == [sizes, [len(lists[i]) for i in order], order]


def lists_of(r):
    return ops.ragged2list(r) if len(r) else []


@given(batches(), TIES)
def test_pack_and_back_is_the_same_for_every_dtype_and_width(r, ties):
    level = r.levels[0]
    block = _core.ragged2padded(r.values, level, ties)
    rows = _core.ragged2packed(r.values, level, ties)
    for values, found in (_core.padded2ragged(*block), _core.packed2ragged(*rows)):
        assert found == level
        assert values.dtype == r.dtype
        assert values.shape == r.values.shape
        assert values.tobytes() == r.values.tobytes()


@given(batches(), TIES, st.data())
def test_pack_of_lists_is_that_of_ragged(r, ties, data):
    if len(r) == 0:
        return
    arrays = [data.draw(strategies.layouts(np.array(row))) for row in r]
    from_list, from_ragged = _core.list2padded(arrays, ties), _core.ragged2padded(r.values, r.levels[0], ties)
    for one, other in zip(from_list, from_ragged, strict=True):
        assert one.shape == other.shape
        assert native(one) == native(other)


def native(array):
    kind = array.dtype.newbyteorder("=")
    return kind, array.astype(kind).tobytes()


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float16", "float32", "float64", "complex128"])
def test_pack_fills_behind_the_ends(dtype):
    rng = np.random.default_rng(0)
    for n, most, trailing in [(3, 4, ()), (70, 9, (3,)), (2500, 5, ()), (40, 30, (2, 20))]:
        lengths = rng.integers(0, most, n)
        values = rng.integers(1, 100, (lengths.sum(), *trailing)).astype(dtype)
        row = np.arange(7, 7 + int(np.prod(trailing))).reshape(trailing).astype(dtype)
        for fill in (None, 0, 5, row):
            data, sizes, sorted_lengths, indices = _core.ragged2padded(
                values, vl.Level(lengths), "stable", fill
            )
            expected = np.empty(data.shape, dtype)
            expected[...] = 0 if fill is None else fill
            starts = np.cumsum(lengths) - lengths
            for k, i in enumerate(indices):
                expected[: lengths[i], k] = values[starts[i] : starts[i] + lengths[i]]
            assert data.tobytes() == expected.tobytes()
            assert sorted_lengths.tolist() == lengths[indices].tolist()
            assert sizes.tolist() == [(lengths > t).sum() for t in range(len(data))]


@settings(max_examples=15)
@given(
    st.sampled_from([3, 20]),
    st.sampled_from([1, 3, 4, 16, 24, 64, 100, 384]),
    st.sampled_from(["narrow", "wide", "giant", "one"]),
    TIES,
    st.integers(0, 2**32),
)
def test_pack_gives_the_same_for_any_number_of_threads(mbytes, width, kind, ties, seed):
    """Blocks that are cut into chunks, and go past the caches or not: columns in one tile and in several."""
    rng = np.random.default_rng(seed)
    size = min(mbytes * 1_000_000 // width, 5_000_000)
    if kind == "narrow":
        lengths = rng.integers(size // 40, size // 20, 20)
    elif kind == "wide":
        lengths = rng.integers(0, max(size // 2500, 2), 5000)
    else:
        lengths = np.zeros(1 if kind == "one" else 3, np.int64)
        lengths[0] = size // len(lengths)
    values = rng.integers(0, 255, (lengths.sum(), width), np.uint8)
    level = vl.Level(lengths)
    result = []
    for threads in (1, 3):
        vl.set_num_threads(threads)
        block = _core.ragged2padded(values, level, ties, 9)
        rows = _core.ragged2packed(values, level, ties)
        result.append((*block, *rows))
        for back, found in (_core.padded2ragged(*block), _core.packed2ragged(*rows)):
            assert found == level
            assert np.array_equal(back, values)
    vl.set_num_threads(2)
    for one, many in zip(*result, strict=True):
        assert np.array_equal(one, many)
    data, sizes, sorted_lengths, indices = result[0][:4]
    starts = level.offsets[:-1]
    there = np.arange(len(data))[:, None] < sorted_lengths
    expected = values[(starts[indices] + np.arange(len(data))[:, None])[there]]
    assert np.array_equal(result[0][4], expected)
    assert np.array_equal(data[there], expected)
    assert (data[~there] == 9).all()
    assert sizes.tolist() == there.sum(1).tolist()


def test_pack_orders_ties_as_thinc_by_default():
    seqs = [np.full((n, 1), n, np.float32) for n in (2, 3, 2, 3)]
    p = ops.list2padded(seqs)
    assert p.indices.tolist() == [3, 1, 2, 0]
    assert p.size_at_t.tolist() == [4, 4, 2]
    assert ops.list2padded(seqs, ties="stable").indices.tolist() == [1, 3, 0, 2]
    with pytest.raises(ValueError, match="ties: expected 'stable' or 'reversed', got 'any'"):
        ops.list2padded(seqs, ties="any")


def test_pack_of_three_sequences():
    rng = np.random.default_rng(0)
    seqs = [rng.random((n, 5)) for n in (7, 2, 4)]
    p = ops.list2padded(seqs)
    assert p.data.shape == (7, 3, 5)
    assert p.lengths.tolist() == [7, 4, 2]
    assert p.indices.tolist() == [0, 2, 1]
    assert p.size_at_t.tolist() == [3, 3, 2, 2, 1, 1, 1]
    assert not p.data[4:, 1].any()
    for one, other in zip(ops.padded2list(p), seqs, strict=True):
        assert np.array_equal(one, other)


def test_pack_keeps_empty_sequences_and_their_width():
    p = ops.list2padded([np.ones((n, 2), np.int32) for n in (2, 0, 3)])
    assert p.dtype == np.int32
    assert (p.lengths.tolist(), p.indices.tolist(), p.size_at_t.tolist()) == ([3, 2, 0], [2, 0, 1], [2, 2, 1])
    assert [x.shape for x in ops.padded2list(p)] == [(2, 2), (0, 2), (3, 2)]
    p = ops.list2padded([np.ones((0, 2))] * 2)
    assert p.data.shape == (0, 2, 2)
    assert (p.lengths.tolist(), p.size_at_t.tolist()) == ([0, 0], [])
    assert [x.shape for x in ops.padded2list(p)] == [(0, 2), (0, 2)]


def test_pack_of_nothing():
    p = ops.list2padded([])
    assert (p.data.shape, p.data.dtype) == ((0, 0, 0), np.float32)
    for field in (p.size_at_t, p.lengths, p.indices):
        assert (field.shape, field.dtype) == ((0,), np.int64)
    assert ops.padded2list(p) == []
    r = vl.Ragged(np.zeros((0, 4), np.int8), [])
    assert r.to_padded().data.shape == (0, 0, 4)
    assert r.to_padded().to_ragged().equals(r)


@pytest.mark.parametrize("lengths", [[3], [0], [1, 1], [5, 2], [400]])
def test_pack_never_shares_the_input(lengths):
    seqs = [np.ones((n, 2)) for n in lengths]
    p = ops.list2padded(seqs)
    assert not any(np.shares_memory(p.data, x) for x in seqs)
    back = ops.padded2list(p)
    assert not any(np.shares_memory(p.data, x) for x in back)
    assert len({id(x.base) for x in back}) == 1
    r = ops.list2ragged(seqs)
    assert not np.shares_memory(r.to_padded().data, r.values)


def test_pack_refuses_items_that_do_not_fit():
    with pytest.raises(ValueError, match=r"seqs\[1\].*\(2, 3\)"):
        ops.list2padded([np.ones((2, 2)), np.ones((2, 3))])
    with pytest.raises(ValueError, match=r"seqs\[2\]"):
        ops.list2padded([np.ones(2), np.ones(2), np.float32(1)])
    with pytest.raises(TypeError, match="seqs"):
        ops.list2padded([np.array([None, 2])])
    with pytest.raises(TypeError, match="seqs: expected a list of arrays"):
        ops.list2padded(7)
    with pytest.raises(ValueError, match="fill"):
        ops.list2padded([np.ones(2, np.uint8)], fill=300)


def test_pack_refuses_what_is_too_large():
    steps = 2**45
    with pytest.raises(ValueError, match=f"size_at_t: the padded shape .{steps}.* over max_bytes"):
        ops.list2padded([np.empty((steps, 0))])
    for call in (vl.RankTable, lambda lengths: vl.RankTable.of(vl.Level(lengths))):
        with pytest.raises(ValueError, match=f"size_at_t: .*{steps}"):
            call([steps])
    with pytest.raises(ValueError, match="max_bytes"):
        ops.list2padded([np.ones(100)] * 100, max_bytes=79_999)
    giant = vl.Ragged(np.zeros(2_000_000, np.int8), np.array([1] * 1_000_000 + [1_000_000]))
    with pytest.raises(ValueError, match="1000001"):
        giant.to_padded()


def test_pack_takes_one_level_and_says_so():
    r = vl.Ragged(np.arange(4), lengths=[[2, 1], [1, 2, 1]])
    with pytest.raises(ValueError, match="ragged: has 2 levels"):
        ops.ragged2padded(r)
    with pytest.raises(TypeError, match="ragged: expected a Ragged, got list"):
        ops.ragged2padded([1])
    with pytest.raises(TypeError, match="padded: expected a Padded, got list"):
        ops.padded2list([1])
    with pytest.raises(TypeError, match="padded: expected a Padded, got int"):
        ops.padded2ragged(1)


def test_pack_checks_what_the_core_is_given():
    level = vl.Level([2, 1])
    with pytest.raises(ValueError, match="the lengths add up to 3, but there are 4 values"):
        _core.ragged2padded(np.arange(4), level)
    fields = _core.ragged2padded(np.arange(3), level)[1:]
    with pytest.raises(ValueError, match="entries for a block of 3 steps"):
        _core.padded2ragged(np.zeros((3, 2)), *fields)
    with pytest.raises(ValueError, match="entries for a block of 1 columns"):
        _core.padded2ragged(np.zeros((2, 1)), *fields)
    with pytest.raises(ValueError, match=r"expected \(steps, columns, ...\), got shape \(2,\)"):
        _core.padded2ragged(np.zeros(2), *fields)
    with pytest.raises(ValueError, match="rows: there are 4, but the lengths add up to 3"):
        _core.packed2ragged(np.zeros(4), *fields)
    with pytest.raises(ValueError, match="size_at_t: 1 entries, but column 0 has length 2"):
        _core.packed2ragged(np.zeros(3), [2], *fields[1:])


@given(batches(dtype="float32", trailing=(2,)))
def test_pack_is_adjoint_to_its_way_back(r):
    """<to_padded(x), y> = <x, to_ragged(y)> for blocks y of that structure."""
    p = r.to_padded()
    rng = np.random.default_rng(0)
    y = vl.Padded(rng.integers(-5, 5, p.data.shape).astype(np.float32), p.size_at_t, p.lengths, p.indices)
    x = np.nan_to_num(r.values, nan=1, posinf=2, neginf=3) % 7
    there = vl.Ragged(x, levels=r.levels).to_padded()
    left = (there.data.astype(np.float64) * y.data).sum()
    assert left == pytest.approx((x.astype(np.float64) * y.to_ragged().values).sum(), abs=1e-3)
