"""Sequences of several inputs, woven."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from nested import deeper, raised
from oracles import sequence as oracle
from varlen import Level, _core
from varlen.sequence import backprop_sequence_concat
from varlen.testing import strategies


def concat(*parts):
    """At one level, and two levels deeper."""
    result = vl.sequence_concat(parts)
    below = raised(vl.sequence_concat([deeper(part) for part in parts]))
    assert below.equals(result)
    return result.to_list()


def test_concat_gives_what_paddle_gives():
    a, b = vl.Ragged([1, 2, 3, 4, 5], [3, 2]), vl.Ragged([6, 7, 8, 9], [2, 2])
    assert concat(a, b) == [[1, 2, 3, 6, 7], [4, 5, 8, 9]]
    assert concat(vl.Ragged([1, 2, 3], [3, 0]), vl.Ragged([6, 7, 8], [2, 1])) == [[1, 2, 3, 6, 7], [8]]
    assert concat(vl.Ragged([1, 2, 3], [0, 3]), vl.Ragged([6, 7], [2, 0])) == [[6, 7], [1, 2, 3]]
    for one, two in (([7, 3], [12, 8]), ([10, 0], [20, 0]), ([0, 10], [0, 20])):
        result = concat(vl.Ragged(np.zeros(10), one), vl.Ragged(np.zeros(20), two))
        assert [len(row) for row in result] == np.add(one, two).tolist()
    assert concat(a) == a.to_list()


def test_concat_merges_two_levels_as_once_designed():
    a = vl.Ragged(np.arange(4), offsets=[[0, 2, 4], [0, 1, 2, 3, 4]])
    b = vl.Ragged(np.arange(5) + 10, offsets=[[0, 3, 5], [0, 1, 3, 4, 4, 5]])
    result = vl.sequence_concat([a, b], level=0)
    assert result.levels[0].offsets.tolist() == [0, 5, 9]
    assert result.levels[1].lengths.tolist() == [1, 1, 1, 2, 1, 1, 1, 0, 1]
    assert result.values.tolist() == [0, 1, 10, 11, 12, 13, 2, 3, 14]
    assert result.equals(vl.concatenate([a, b], axis=1))


@given(st.integers(0, 5), st.integers(1, 4), strategies.dtypes(), st.data())
def test_concat_is_what_the_oracle_says(n, k, dtype, data):
    each = [data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)) for _ in range(k)]
    parts = [vl.Ragged(np.arange(sum(x)).astype(dtype), np.array(x, np.int64)) for x in each]
    result = concat(*parts)
    assert result == oracle.sequence_concat([part.to_list() for part in parts])
    backs = backprop_sequence_concat(vl.sequence_concat(parts), parts)
    assert all(back.equals(part) for back, part in zip(backs, parts, strict=True))


def test_concat_has_the_gradient_of_autograd():
    torch = pytest.importorskip("torch")
    levels = [[Level([2, 1]), Level(x)] for x in ([2, 0, 3], [1, 1, 0])]
    xs = [torch.randn(each[1].total, 2, dtype=torch.float64, requires_grad=True) for each in levels]
    parts = [vl.Ragged(x, levels=each) for x, each in zip(xs, levels, strict=True)]
    for level in (-1, 0):
        result = vl.sequence_concat(parts, level=level)
        plain = vl.sequence_concat(
            [part._make(part.values.detach(), part.levels) for part in parts], level=level
        )
        assert torch.equal(result.values, plain.values)
        d = torch.randn(result.values.shape, dtype=torch.float64)
        wanted = torch.autograd.grad(result.values, xs, d)
        for backs in (
            backprop_sequence_concat(d, parts, level=level),
            backprop_sequence_concat(d.numpy(), parts, level=level),
        ):
            for back, dx, part in zip(backs, wanted, parts, strict=True):
                assert np.array_equal(np.asarray(back.values), dx.numpy())
                assert back.levels == part.levels


def test_concat_refuses_what_does_not_fit():
    a = vl.Ragged([1, 2], [1, 1])
    with pytest.raises(TypeError, match="input: expected a list of Ragged, got one Ragged"):
        vl.sequence_concat(a)
    with pytest.raises(ValueError, match="input: expected at least one part, got none"):
        vl.sequence_concat([])
    with pytest.raises(TypeError, match="input: part 1: expected a Ragged, got ndarray"):
        vl.sequence_concat([a, a.values])
    with pytest.raises(ValueError, match="part 1 has 1 sequences, the first has 2"):
        vl.sequence_concat([a, vl.Ragged([1], [1])])
    with pytest.raises(ValueError, match=r"part 1 has rows of shape \(2,\), the first has \(\)"):
        vl.sequence_concat([a, vl.Ragged(np.ones((2, 2)), [1, 1])])
    with pytest.raises(ValueError, match="input: part 1 has 3 levels, the first has 1"):
        vl.sequence_concat([a, deeper(a)])
    one, two = a._make(a.values, (Level([2, 0]), *a.levels)), a._make(a.values, (Level([1, 1]), *a.levels))
    with pytest.raises(ValueError, match="part 1 nests differently from the first: sequence 0 of level 0"):
        vl.sequence_concat([one, two])


def test_interleave_refuses_what_does_not_fit_and_writes_into_out():
    rows, level = np.arange(3.0), Level([1, 2])
    out = np.empty(6)
    assert _core.interleave([rows, rows], [level, level], out)[0] is out
    assert out.tolist() == [0, 0, 1, 2, 1, 2]
    for arrays, match in (
        ([], "expected at least one part"),
        ([rows], "levels: 2 of them for 1 arrays"),
        ([rows, rows[:2]], "the lengths of part 1 add up to 3, but it has 2 rows"),
        ([rows, rows.astype("f4")], "array 1 has dtype float32, the first has float64"),
    ):
        with pytest.raises(ValueError, match=match):
            _core.interleave(arrays, [level, level])
    with pytest.raises(ValueError, match="levels: part 1 has 1 sequences, the first has 2"):
        _core.interleave([rows, rows], [level, Level([3])])
    with pytest.raises(ValueError, match="out"):
        _core.interleave([rows, rows], [level, level], out[:5])
    both = np.zeros(9)
    with pytest.raises(ValueError, match="out"):
        _core.interleave([rows, both[3:6]], [level, level], both[:6])
