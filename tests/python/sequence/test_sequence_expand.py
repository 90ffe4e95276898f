"""Sequences, and rows, repeated as often as other sequences are long; and the sums of their repeats."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from nested import deeper, levels_above, raised
from oracles import sequence as oracle
from sequences import everywhere
from varlen import Level, _core
from varlen.sequence import backprop_sequence_expand, backprop_sequence_expand_as
from varlen.testing import strategies


def over(*lengths):
    """What is expanded after: the levels count, rows of width 0 stand below."""
    return vl.Ragged(np.empty((sum(lengths[-1]), 0)), list(lengths))


def expanded(x, y, ref_level=-1):
    """At one level, and two levels deeper, where the repeats stay in the sequences above."""
    result = vl.sequence_expand(x, y, ref_level)
    below = vl.sequence_expand(deeper(x), y, ref_level)
    times = y.levels[ref_level]
    outer, inner = levels_above(len(x))
    assert below.levels[0] == outer
    assert below.levels[1].offsets.tolist() == times.offsets[inner.offsets].tolist()
    assert below.levels[2:] == result.levels
    assert np.array_equal(below.values, result.values)
    return result.values.tolist(), result.lengths.tolist()


def test_sequences_are_repeated_as_paddle_repeats_them():
    y = over([2, 2], [3, 3, 1, 1])
    assert expanded(vl.Ragged([1, 2, 3, 4], [2, 2]), y, 0) == ([1, 2, 1, 2, 3, 4, 3, 4], [2, 2, 2, 2])
    y = over([2, 2], [3, 3, 0, 2])
    x = vl.Ragged([1, 2, 3, 4], [1, 3])
    assert expanded(x, y, 0) == ([1, 1, 2, 3, 4, 2, 3, 4], [1, 1, 3, 3])
    with pytest.raises(ValueError, match="x: has 2 sequences, but the level of y has 4 sequences"):
        vl.sequence_expand(x, y, -1)
    block = vl.Ragged(np.arange(4).reshape(1, 2, 2), [1])
    result = vl.sequence_expand(block, over([2], [1, 1]), ref_level=0)
    assert result.values.tolist() == [[[0, 1], [2, 3]]] * 2
    assert result.lengths.tolist() == [1, 1]
    one = vl.Ragged([1, 2, 3, 4], [1, 1, 1, 1])
    assert expanded(one, over([2, 2, 2, 2])) == ([1, 1, 2, 2, 3, 3, 4, 4], [1] * 8)
    x = vl.Ragged([1, 2, 3, 4, 5], [2, 3])
    assert expanded(x, over([2], [2, 3])) == ([1, 2, 1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5], [2, 2, 3, 3, 3])
    x = vl.Ragged([1, 2, 3, 4], [1, 1, 0, 1, 1])
    assert expanded(x, over([0, 2, 4, 2, 0])) == ([2, 2, 3, 3], [1, 1, 0, 0, 0, 0, 1, 1])


@pytest.mark.parametrize(
    ("rows", "lengths", "ref_level", "wanted"),
    [
        ([1, 2, 3], [[2, 0, 3]], -1, [1, 1, 3, 3, 3]),
        ([1, 2, 3], [[1, 3, 4]], 0, [1, 2, 2, 2, 3, 3, 3, 3]),
        ([1, 2, 3, 4, 5], [[2, 3], [2, 2, 3, 3, 3]], 1, [1, 1, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5]),
        ([1, 2, 3, 4, 5, 6], [[2, 4], [2, 2, 3, 0, 3, 3]], 1, [1, 1, 2, 2, 3, 3, 3, 5, 5, 5, 6, 6, 6]),
        ([1, 2], [[0, 0]], -1, []),
    ],
)
def test_rows_are_repeated_as_paddle_repeats_them(rows, lengths, ref_level, wanted):
    result = vl.sequence_expand(rows, over(*lengths), ref_level)
    assert result.tolist() == wanted
    column = vl.sequence_expand(np.array(rows, np.int16)[:, None], over(*lengths), ref_level)
    assert (column.shape, column.dtype) == ((len(wanted), 1), np.int16)
    assert column[:, 0].tolist() == wanted


def test_gradients_are_those_of_paddle():
    y = over([3, 3])
    assert backprop_sequence_expand([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [1.0, 2.0], y).round(9).tolist() == [
        0.6,
        1.5,
    ]
    y = over([2, 2], [3, 3, 0, 2])
    x = vl.Ragged(np.ones(4), [1, 3])
    assert everywhere(lambda x: backprop_sequence_expand(np.arange(1.0, 9), x, y, 0), x) == [[3], [9, 11, 13]]
    x, y = vl.Ragged(np.ones(4), [1, 1, 0, 1, 1]), over([0, 2, 4, 2, 0])
    result = everywhere(lambda x: backprop_sequence_expand([1.0, 2, 3, 4], x, y), x)
    assert result == [[0], [3], [], [7], [0]]


def test_rows_are_repeated_for_every_row_of_another():
    result = vl.sequence_expand_as([1, 2, 3, 4], over([3, 3, 1, 1]))
    assert result.values.tolist() == [1, 1, 1, 2, 2, 2, 3, 4]
    y = over([2, 2, 0, 3, 3])
    result = vl.sequence_expand_as(vl.Ragged([1, 2, 3, 4, 5], [2, 3]), y)
    assert result.values.tolist() == [1, 1, 2, 2, 4, 4, 4, 5, 5, 5]
    assert result.levels == y.levels
    result = vl.sequence_expand_as(np.arange(1, 6)[:, None], over([0, 4, 0, 6, 0]))
    assert result.values[:, 0].tolist() == [2] * 4 + [4] * 6
    block = np.arange(100.0).reshape(1, 2, 50)
    assert np.array_equal(vl.sequence_expand_as(block, over([2])).values, np.repeat(block, 2, axis=0))
    below = deeper(over([3, 0, 1]))
    for level, rows, wanted in (
        (-1, [7, 8, 9], [7, 7, 7, 9]),
        (1, range(4), [0, 0, 0, 3]),
        (0, [4, 5, 6], [4, 4, 4, 6]),
    ):
        result = vl.sequence_expand_as(np.array(rows), below, level=level)
        assert result.levels == below.levels
        assert result.values.tolist() == wanted
    assert vl.sequence_expand_as([True, False], over([1, 2])).values.tolist() == [True, False, False]
    assert backprop_sequence_expand_as([1.0, 2, 4, 8], over([3, 0, 1])).tolist() == [7, 0, 8]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6), strategies.dtypes(), st.data())
def test_expand_is_what_the_oracle_says(pairs, dtype, data):
    lengths, times = np.array(pairs, np.int64).reshape(-1, 2).T
    width = data.draw(st.sampled_from([(), (3,), (0,)]))
    x = vl.Ragged(data.draw(strategies.rows(int(lengths.sum()), dtype, width)), lengths)
    y = Level(times)
    result = vl.sequence_expand(x, y)
    index = [i for row in oracle.sequence_expand(oracle_rows(lengths), times) for i in row]
    assert result.values.dtype == x.values.dtype
    assert result.lengths.tolist() == np.repeat(lengths, times).tolist()
    assert result.values.tobytes() == x.values[np.array(index, np.int64)].tobytes()
    if dtype in ("float32", "float64", "int8", "uint64", "float16"):
        d = np.arange(result.total * int(np.prod(width))).reshape(result.values.shape).astype(dtype) % 3 + 40
        back = backprop_sequence_expand(d, x, y)
        summed = "int64" if dtype == "int8" else dtype
        wanted = np.zeros(x.values.shape, summed)
        np.add.at(wanted, np.array(index, np.int64), d.astype(summed))
        assert back.values.dtype == summed
        assert np.array_equal(back.values, wanted)


def oracle_rows(lengths):
    ends = np.cumsum(lengths)
    return [list(range(end - n, end)) for n, end in zip(lengths, ends, strict=True)]


def test_whole_documents_are_repeated_with_all_that_nests_in_them():
    x = vl.Ragged.from_list([[[1, 2], [3]], [[4], []]])
    result = vl.sequence_expand(x, Level([2, 1]), level=0)
    assert result.to_list() == [[[1, 2], [3]], [[1, 2], [3]], [[4], []]]
    d = backprop_sequence_expand(np.arange(7.0), x, Level([2, 1]), level=0)
    assert d.to_list() == [[[3, 5], [7]], [[6], []]]
    assert raised(vl.sequence_expand(deeper(x), Level([1, 1]), level=-2)).equals(x)


def test_sums_of_many_repeats_are_the_same_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    before = vl.num_threads()
    for times, lengths in (([9000, 3], [2, 5]), ([3, 40], [400_000, 30]), ([100, 0, 7], [40_000, 9, 1])):
        groups = Level(np.multiply(times, lengths))
        d = rng.normal(size=groups.total).astype(np.float32)
        result = []
        for n in (1, 3):
            vl.set_num_threads(n)
            result.append(_core.reduce_blocks(d, groups, Level(lengths)))
        vl.set_num_threads(before)
        assert result[0].tobytes() == result[1].tobytes()
        for k, (n, m) in enumerate(zip(times, lengths, strict=True)):
            each = d[groups.offsets[k] : groups.offsets[k + 1]].astype(np.float64).reshape(n, m).sum(0)
            of = Level(lengths).offsets
            assert np.allclose(result[0][of[k] : of[k + 1]], each, atol=1e-3)


@pytest.mark.parametrize("level", [-1, 0])
def test_expand_under_autograd(level):
    torch = pytest.importorskip("torch")
    r = vl.Ragged(np.zeros((4, 2)), [[2, 0, 1], [1, 3, 0]])
    y = Level([2, 1, 3])
    x = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)

    def call(x):
        return vl.sequence_expand(r._make(x, r.levels), y, level=level).values

    assert torch.autograd.gradcheck(call, x)
    assert torch.autograd.gradgradcheck(call, x)
    d = torch.randn(call(x).shape, dtype=torch.float64)
    (wanted,) = torch.autograd.grad(call(x), x, d)
    for given_d in (d, d.numpy()):
        back = backprop_sequence_expand(given_d, r, y, level=level)
        assert np.array_equal(np.asarray(back.values), wanted.numpy())
    assert torch.equal(torch.func.grad(lambda x: (call(x) * d).sum())(x), wanted)
    batch = torch.stack([x.detach(), 2 * x.detach()])
    assert torch.equal(torch.func.vmap(call)(batch), torch.stack([call(b) for b in batch]).detach())
    for dtype in (torch.bfloat16, torch.int16, torch.float8_e5m2):
        result = vl.sequence_expand(
            vl.Ragged(torch.tensor([1, 2, 3]).to(dtype), [1, 2]), Level([2, 1])
        ).values
        assert (result.dtype, result.float().tolist()) == (dtype, [1, 1, 2, 3])


def test_rows_expanded_under_autograd():
    torch = pytest.importorskip("torch")
    x = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    y = over([2, 0, 1])
    for call in (lambda x: vl.sequence_expand(x, y), lambda x: vl.sequence_expand_as(x, y).values):
        assert torch.autograd.gradcheck(call, x)
        d = torch.randn(3, 2, dtype=torch.float64)
        (wanted,) = torch.autograd.grad(call(x), x, d)
        assert torch.equal(backprop_sequence_expand_as(d, y), wanted)
        assert torch.equal(backprop_sequence_expand(d, x, y), wanted)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: vl.sequence_expand(3, over([1])), ValueError, "x: expected at least one dimension"),
        (lambda: vl.sequence_expand([1, 2], [1, 1]), TypeError, "y: expected a Ragged, got list"),
        (
            lambda: vl.sequence_expand([1], over([1], [1]), 2),
            IndexError,
            "ref_level: 2 is out of range for 2",
        ),
        (lambda: vl.sequence_expand([1], over([1], [1]), -3), IndexError, "ref_level: -3 is out of range"),
        (
            lambda: vl.sequence_expand([1, 2], over([1])),
            ValueError,
            "x: has 2 rows, but the level of y has 1",
        ),
        (lambda: vl.sequence_expand(over([1]), over([1]), level=1), IndexError, "level: 1 is out of range"),
        (
            lambda: vl.sequence_expand_as([1, 2], over([1])),
            ValueError,
            "x: has 2 rows, but the level of y has 1",
        ),
        (lambda: vl.sequence_expand_as([1], [1]), TypeError, "y: expected a Ragged, got list"),
        (
            lambda: backprop_sequence_expand([1.0], vl.Ragged([1.0, 2], [1, 1]), Level([2, 1])),
            ValueError,
            "dY: has 1 rows, expected 3",
        ),
        (
            lambda: _core.reduce_blocks(np.ones(5), Level([5]), Level([2])),
            ValueError,
            "groups: 5 rows are no repeats of sequence 0, which has 2",
        ),
        (
            lambda: _core.reduce_blocks(np.ones(5), Level([5]), Level([2, 3])),
            ValueError,
            "groups: there are 1, but 2 sequences",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_results_that_memory_does_not_hold_are_refused():
    with pytest.raises(MemoryError, match=r"an array of 140737488355\d+ bytes does not fit into memory"):
        vl.sequence_expand(np.ones((2, 4)), Level([2**42, 1]))
