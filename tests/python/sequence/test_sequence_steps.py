"""The path of recurrent layers, function by function: Paddle's cases, gradients, bad input."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from nested import deeper, levels_above
from oracles import verbs as oracle
from varlen import sequence
from varlen.testing import strategies

torch = pytest.importorskip("torch")


def rows(*lengths):
    return vl.Ragged(np.arange(sum(lengths[-1])), list(lengths))


def steps_of(x, level=0):
    table = sequence.sort_by_length(x, level)
    steps = sequence.segment_inputs(x, table)
    assert sequence.concat_outputs(list(steps), table).equals(x)
    assert sequence.concat_outputs(steps).equals(x)
    assert len(steps) == sequence.max_sequence_len(table)
    return steps


@pytest.mark.parametrize("lengths", [[3, 6, 1], [3, 6, 0, 1]])
@pytest.mark.parametrize("tensors", [False, True])
def test_steps_of_rows(lengths, tensors):
    x = rows(lengths)
    if tensors:
        x = vl.Ragged(torch.arange(10), lengths)
    wanted = [[3, 0, 9], [4, 1], [5, 2], [6], [7], [8]]
    assert [step.tolist() for step in steps_of(x)] == wanted
    deep = x._make(x.values, (*levels_above(len(x)), *x.levels))
    assert [step.tolist() for step in steps_of(deep, -1)] == wanted


def test_steps_of_the_design_page():
    x = vl.Ragged(np.array(list("abcdefghi")), [4, 2, 3])
    table = sequence.sort_by_length(x)
    assert table.items == [(0, 4), (2, 3), (1, 2)]
    assert ["".join(step) for step in sequence.segment_inputs(x, table)] == ["age", "bhf", "ci", "d"]
    outputs = [np.char.upper(step) for step in steps_of(x)]
    result = sequence.concat_outputs(outputs, table)
    assert ["".join(row) for row in result] == ["ABCD", "EF", "GHI"]


def test_steps_of_sub_sequences():
    x = rows([2, 3], [3, 6, 2, 6, 3])
    for steps in (steps_of(x), steps_of(deeper(x), 2)):
        assert steps[0].to_list() == [[9, 10], [0, 1, 2]]
        assert [step.lengths.tolist() for step in steps] == [[2, 3], [6, 6], [3]]
        assert steps[2].to_list() == [[17, 18, 19]]
    tied = rows([3, 2, 4, 2], [3, 4, 4, 0, 1, 5, 2, 2, 2, 7, 1])
    for steps in (steps_of(tied), steps_of(deeper(tied), 2)):
        assert [step.lengths.tolist() for step in steps] == [[5, 3, 0, 7], [2, 4, 1, 1], [2, 4], [2]]


def test_steps_of_sub_sequences_of_sub_sequences():
    x = rows([2, 3, 1], [2, 3, 1, 4, 2, 1], [3, 4, 4, 6, 4, 1, 1, 4, 4, 8, 6, 1, 4])
    for steps in (steps_of(x), steps_of(deeper(x), 2)):
        assert [level.lengths.tolist() for level in steps[0].levels] == [[1, 2, 1], [1, 3, 4, 4]]
    assert len(steps_of(x, 1)) == 4
    assert len(steps_of(x, 2)) == 8


def test_shrink_keeps_a_prefix():
    table = sequence.sort_by_length(rows([1, 2, 3]))
    memory = np.array([[1.0], [2.0], [3.0]])
    kept = [sequence.shrink(memory, t, table) for t in range(4)]
    assert [len(one) for one in kept] == [3, 2, 1, 0]
    assert all(np.shares_memory(one, memory) for one in kept[:3])
    nested = rows([2, 3, 1])
    assert [sequence.shrink_memory(nested, t, table).total for t in range(3)] == [6, 5, 2]
    inner = sequence.sort_by_length(deeper(rows([1, 2, 3])), 2)
    assert [len(sequence.shrink(memory, t, inner)) for t in range(4)] == [3, 2, 1, 0]
    assert [sequence.shrink_memory(nested, t, inner).total for t in range(3)] == [6, 5, 2]
    d = sequence.backprop_shrink(np.array([[5.0]]), memory)
    assert d.tolist() == [[5], [0], [0]]
    deep = sequence.backprop_shrink(nested[:1], nested)
    assert deep.to_list() == [[0, 1], [0, 0, 0], [0]]
    tensors = torch.ones(3, requires_grad=True)
    (dx,) = torch.autograd.grad(sequence.shrink(tensors, 1, table).sum(), tensors)
    assert dx.tolist() == [1, 1, 0]


def test_rank_table_of_an_inner_level():
    x = rows([1, 2], [5, 1, 1], [3, 1, 5, 1, 3, 3, 1])
    table = sequence.lod_rank_table(x, 1)
    assert table.items == [(0, 5), (1, 1), (2, 1)]
    assert table.outer == x.levels[:1]
    below = sequence.lod_rank_table(deeper(x), 3)
    assert below.items == table.items
    assert below.outer == deeper(x).levels[:3]


def test_reorder_moves_sequences_and_rows():
    table = sequence.sort_by_length(rows([1, 3, 2]))
    x = rows([2, 1, 3])
    result = sequence.reorder_lod_tensor_by_rank(x, table)
    assert result.to_list() == [[2], [3, 4, 5], [0, 1]]
    assert sequence.backprop_reorder(result, table).equals(x)
    h = np.array([[10], [20], [30]])
    assert sequence.init_memories(h, table).ravel().tolist() == [20, 30, 10]
    assert sequence.backprop_reorder(sequence.reorder(h, table), table).tolist() == h.tolist()
    inner = sequence.sort_by_length(deeper(rows([1, 3, 2])), 2)
    assert sequence.reorder(x, inner).equals(result)
    assert sequence.init_memories(h, inner).ravel().tolist() == [20, 30, 10]
    with_empty = sequence.sort_by_length(rows([0, 2]))
    assert sequence.reorder(rows([0, 1]), with_empty).to_list() == [[0], []]


@given(strategies.lengths(), st.data())
def test_reorder_of_tensors_has_the_inverse_as_gradient(lengths, data):
    table = sequence.sort_by_length(rows(lengths))
    inner = data.draw(st.lists(st.integers(0, 3), min_size=len(lengths), max_size=len(lengths)))
    values = torch.randn(sum(inner), 2, dtype=torch.float64, requires_grad=True)
    result = sequence.reorder(vl.Ragged(values, inner), table)
    d = torch.randn(result.values.shape, dtype=torch.float64)
    (dx,) = torch.autograd.grad(result.values, values, d)
    wanted = sequence.backprop_reorder(vl.Ragged(d.numpy(), levels=result.levels), table)
    assert np.array_equal(dx.numpy(), wanted.values)
    assert (wanted.values * values.detach().numpy()).sum() == pytest.approx(
        float((d * result.values.detach()).sum()), abs=1e-9
    )


def test_steps_have_each_other_as_gradient():
    x = rows([2, 0, 3], [3, 1, 2, 0, 4])
    values = torch.randn(10, dtype=torch.float64, requires_grad=True)
    table = sequence.sort_by_length(x, level=0)
    steps = sequence.segment_inputs(x._make(values, x.levels), table)
    d = torch.randn(10, dtype=torch.float64)
    (dx,) = torch.autograd.grad(torch.cat([step.values for step in steps]), values, d, retain_graph=True)
    ds = steps.with_values(d)
    assert torch.equal(dx, sequence.backprop_segment_inputs(ds).values)
    again = sequence.backprop_concat_outputs(x._make(dx, x.levels), table)
    assert torch.equal(again.values, d)
    whole = sequence.concat_outputs(steps.steps(), table).values
    (dx,) = torch.autograd.grad(whole, values, d)
    assert torch.equal(dx, d)


def test_steps_without_sequences_or_rows():
    for lengths in ([], [0, 0]):
        x = vl.Ragged(np.zeros((0, 3), np.int16), lengths)
        table = sequence.sort_by_length(x)
        assert sequence.max_sequence_len(table) == 0
        steps = sequence.lod_tensor_to_array(x, table)
        assert list(steps) == []
        assert sequence.array_to_lod_tensor(steps, table).equals(x)
        assert sequence.concat_outputs([], table).lengths.tolist() == lengths
        assert sequence.reorder(x, table).equals(x)
    assert oracle.columns([[], []]) == []


TABLE = vl.RankTable([2, 0, 3], [2, 0, 1])
TWO = [np.zeros(2), np.zeros(2)]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: sequence.sort_by_length([1]), TypeError, "x: expected a Ragged, got list"),
        (lambda: sequence.sort_by_length(rows([1]), 1), IndexError, "level: 1 is out of range for 1 levels"),
        (
            lambda: sequence.segment_inputs(rows([1]), None),
            TypeError,
            "table: expected a RankTable, got None",
        ),
        (
            lambda: sequence.segment_inputs(rows([1]), TABLE),
            ValueError,
            "level 0 has 1 sequences in one and 3",
        ),
        (
            lambda: sequence.concat_outputs(TWO, TABLE),
            ValueError,
            "2 steps, but the longest sequence has length 3",
        ),
        (
            lambda: sequence.concat_outputs([*TWO, np.zeros(2)], TABLE),
            ValueError,
            "step 2 holds 2, but 1 sequences are longer than 2",
        ),
        (lambda: sequence.concat_outputs(rows([1]).pack(), TABLE), ValueError, "packed with another table"),
        (lambda: sequence.concat_outputs(TWO), TypeError, "table: expected a RankTable"),
        (
            lambda: sequence.reorder(np.zeros(2), TABLE),
            ValueError,
            "x: has 2 rows, but the table 3 sequences",
        ),
        (lambda: sequence.reorder(rows([1]), TABLE), ValueError, "x: has 1 sequences, but the table 3"),
        (lambda: sequence.backprop_reorder(np.zeros(2), TABLE), ValueError, "dY: has 2 rows"),
        (
            lambda: sequence.shrink(np.zeros(1), 0, TABLE),
            ValueError,
            "has 1 rows, but 2 sequences are longer",
        ),
        (lambda: sequence.shrink(np.zeros(3), -1, TABLE), ValueError, "t: expected"),
        (
            lambda: sequence.backprop_shrink(np.zeros(3), np.zeros(2)),
            ValueError,
            "dY: has 3 rows, the memory 2",
        ),
    ],
)
def test_steps_refuse_what_does_not_fit(call, error, text):
    with pytest.raises(error, match=text):
        call()
