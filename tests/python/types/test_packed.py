"""Packed and RankTable: steps of any depth and order, and the way back, against nested Python lists."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from nested import levels_above
from oracles import verbs as oracle
from varlen import _core
from varlen.testing import strategies

torch = pytest.importorskip("torch")


def lists(step):
    return step.to_list() if isinstance(step, vl.Ragged) else step.tolist()


def flattened(r, at):
    """The sequences of level `at`, one after another."""
    nested = r.to_list()
    for _ in range(at):
        nested = [x for row in nested for x in row]
    return nested


@st.composite
def cases(draw, dtype="int64", trailing=None):
    r = draw(strategies.raggeds(dtype=dtype, trailing=trailing))
    return r, draw(st.integers(0, len(r.levels) - 1)), draw(st.sampled_from(["stable", "reversed"]))


@given(cases(), st.booleans())
def test_packed_is_the_longest_first_step_by_step_and_back(case, tensors):
    r, level, order = case
    nested = flattened(r, level)
    if tensors:
        r = r._make(torch.from_numpy(r.values.copy()), r.levels)
    p = r.pack(level=level, order=order)
    steps = oracle.columns(nested, order)
    assert [lists(step) for step in p] == [lists(p[t]) for t in range(len(p))] == steps
    assert p.indices.tolist() == oracle.order([len(row) for row in nested], order)
    assert p.size_at_t.tolist() == [len(step) for step in steps]
    assert p.lengths.tolist() == [len(nested[i]) for i in p.indices]
    assert p.table.inverse[p.indices].tolist() == list(range(len(p.indices)))
    assert p.table.places[p.table.rows].tolist() == list(range(p.total))
    back = p.to_ragged()
    assert back.equals(r)
    assert back.dtype == r.dtype
    assert all(a is b for a, b in zip(back.levels[: level + 1], r.levels, strict=False))
    assert vl.sequence.concat_outputs(p.steps(), p.table).to_list() == r.to_list() or p.total == 0
    again = vl.Packed(p.values, p.level, p.indices, p.size_at_t, inner=p.inner, outer=p.outer)
    assert again == p == pickle.loads(pickle.dumps(p)) == copy.deepcopy(p)
    assert all(np.shares_memory(p[t], p.values) for t in range(len(p)) if r.size and not (p.inner or tensors))


@given(strategies.raggeds(depth=1), st.randoms(use_true_random=False))
def test_packed_moves_every_dtype_in_an_order_that_is_given(r, random):
    lengths = r.levels[0].lengths.tolist()
    order = sorted(range(len(r)), key=lambda i: (-lengths[i], random.random()))
    p = r.pack(order=order)
    assert p.indices.tolist() == order
    back = p.to_ragged()
    assert back.values.tobytes() == r.values.tobytes()
    assert back.values.dtype == r.values.dtype
    shared = vl.Ragged(np.arange(r.total), levels=r.levels).pack(order=p.table)
    assert shared.table is p.table
    assert shared.values.tolist() == p.table.rows.tolist()


def fields_of(padded):
    """What Thinc's Padded holds."""
    return {name: getattr(padded, name) for name in ("data", "size_at_t", "lengths", "indices")}


@given(strategies.raggeds(depth=1, dtype="float32"), st.sampled_from(["stable", "reversed", "torch"]))
def test_packed_is_whole_after_padded_and_packed_sequences(r, order):
    p = r.pack(order=order)
    padded = p.to_padded()
    assert vl.Packed.from_padded(padded).equals(p, equal_nan=True)
    assert vl.Packed.from_padded(padded).to_padded().equals(padded, equal_nan=True)
    if order == "reversed":
        assert padded.equals(r.to_padded(), equal_nan=True)
        assert vl.Packed.from_padded(SimpleNamespace(**fields_of(padded))).equals(p, equal_nan=True)
    if not r.size:
        return
    there = p.to_packed_sequence(empty="drop")
    back = vl.Packed.from_packed_sequence(there, p.table).values
    assert back.numpy().tobytes() == p.values.tobytes()
    assert vl.Packed.from_packed_sequence(there, p.table).table is p.table
    alone = vl.Packed.from_packed_sequence(there)
    assert alone.level.lengths.tolist() == [n for n in p.level.lengths.tolist() if n]
    again = alone.to_packed_sequence()
    for a, b in zip(there, again, strict=True):
        assert a.numpy().tobytes() == b.numpy().tobytes()
    sequences = [torch.from_numpy(row.copy()) for row in r if len(row)]
    other = torch.nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False)
    taken = vl.Packed.from_packed_sequence(other)
    for a, b in zip(other, taken.to_packed_sequence(), strict=True):
        assert a.numpy().tobytes() == b.numpy().tobytes()
    assert taken.to_ragged().values.numpy().tobytes() == r.values.tobytes()


def test_packed_sequences_without_a_permutation_stay_without():
    other = torch.nn.utils.rnn.pack_sequence([torch.arange(3), torch.arange(3), torch.arange(1)])
    assert other.sorted_indices is None
    p = vl.Packed.from_packed_sequence(other)
    assert p.table.presorted
    assert p.indices.tolist() == [0, 1, 2]
    back = pickle.loads(pickle.dumps(p)).to_packed_sequence()
    assert back.sorted_indices is None
    assert back.unsorted_indices is None
    assert torch.equal(back.data, other.data)


def test_packed_under_other_levels_comes_back_whole():
    r = vl.Ragged(torch.arange(9.0), [3, 0, 5, 1])
    deep = r._make(r.values, (*levels_above(4), *r.levels))
    p = deep.pack(level=-1)
    there = p.to_packed_sequence(empty="drop")
    assert vl.Packed.from_packed_sequence(there, p.table).to_ragged().equals(deep)
    assert vl.Packed.from_padded(p.to_padded(), p.table).to_ragged().equals(deep)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_packed_tensors_have_gradients(level):
    values = torch.randn(13, 2, dtype=torch.float64, requires_grad=True)
    r = vl.Ragged(values, [[2, 0, 1], [2, 0, 2], [3, 4, 1, 5]])
    permutation = vl.Ragged(np.arange(13), levels=r.levels).pack(level=level).values
    d = torch.randn(13, 2, dtype=torch.float64)
    p = r.pack(level=level)
    (dx,) = torch.autograd.grad(p.values, values, d, retain_graph=True)
    assert torch.equal(dx[permutation], d)
    (dx,) = torch.autograd.grad(p.to_ragged().values, values, d)
    assert torch.equal(dx, d)
    assert torch.autograd.gradcheck(lambda x: r._make(x, r.levels).pack(level=level).values, values)
    assert torch.autograd.gradgradcheck(lambda x: r._make(x, r.levels).pack(level=level).values ** 2, values)


def test_packed_tensors_under_transforms():
    r = vl.Ragged(torch.randn(6, 2), [1, 0, 3, 2])

    def doubled(x):
        return r._make(x, r.levels).pack().values * 2

    batch = torch.randn(3, 6, 2)
    assert torch.equal(torch.func.vmap(doubled)(batch), torch.stack([doubled(x) for x in batch]))
    assert torch.equal(torch.func.grad(lambda x: doubled(x).sum())(r.values), torch.full((6, 2), 2.0))
    half = vl.Ragged(torch.ones(3, dtype=torch.bfloat16, requires_grad=True), [1, 2])
    assert half.pack().to_ragged().values.dtype == torch.bfloat16


def test_packed_says_what_it_is():
    r = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
    assert repr(r.pack(level=0)).startswith(
        "Packed(2 sequences, 2 steps, 3 sub-sequences, 4 rows, lengths 1 to 2, int64)"
    )
    assert repr(r.pack()).endswith("[[1, 3, 4], [2]]")
    assert r.pack().dtype == np.int64
    assert r.pack().device == "cpu"
    assert r.pack(level=0)[-1].to_list() == r.pack(level=0)[1:][0].to_list() == [[3]]
    assert r.pack() == r.pack(level=1) != r.pack(level=0)
    assert r.pack().table == r.pack().table
    assert len(vl.Ragged(np.zeros((0, 2)), []).pack()) == 0
    assert vl.Ragged(np.zeros((0, 2)), []).pack().values.shape == (0, 2)


R = vl.Ragged(np.arange(6.0), [3, 1, 2])
TWO = vl.Ragged(np.arange(6.0), [[2, 1], [3, 1, 2]])
TABLE = R.pack().table


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: R.pack(level=2), IndexError, "level: 2 is out of range for 1 levels"),
        (lambda: R.pack(order="long"), ValueError, "order: expected one of stable, reversed, torch"),
        (lambda: R.pack(order=[0, 1]), ValueError, "order: 2 entries for 3 sequences"),
        (lambda: R.pack(order=[0, 2, 2]), ValueError, "order: column 2 holds 2, as a column before"),
        (lambda: R.pack(order=[0, 2, 9]), ValueError, "order: column 2 holds 9, but there are 3"),
        (lambda: R.pack(order=[0, 2, -2]), ValueError, "order: column 2 holds -2, but there are 3"),
        (lambda: R.pack(order=[0, 1, 2]), ValueError, "order: column 2 has length 2, more than"),
        (lambda: R.pack(order=[0.0, 2.0, 1.0]), TypeError, "order: expected integers"),
        (lambda: R[:2].pack(order=TABLE), ValueError, "level 0 has 2 sequences in one and 3"),
        (lambda: R[::-1].pack(order=TABLE), ValueError, "sequence 0 of level 0 has length 2 in one and 3"),
        (lambda: vl.Packed(np.arange(5), [3, 1, 2], [0, 2, 1]), ValueError, "values: there are 5, but the"),
        (lambda: vl.Packed(np.arange(6), [3, 1, 2]), ValueError, "lengths: column 2 has length 2, more than"),
        (lambda: vl.Packed(np.arange(6), [3, 2, 1], None, [3, 2, 2]), ValueError, "size_at_t: step 2 has 2"),
        (lambda: vl.Packed(np.arange(6), TABLE, [0, 2, 1]), TypeError, "a RankTable already has indices"),
        (lambda: vl.Packed(np.arange(6), [2], inner=[1, 1, 4]), ValueError, "inner: level 0 has 3, but the"),
        (lambda: vl.Packed(np.arange(6), [2], inner=[1, 4]), ValueError, "inner: the lengths add up to 5"),
        (lambda: vl.RankTable([2, 1], outer=[[1]]), ValueError, "outer: the lengths of level 0 add up to 1"),
        (lambda: R.pack().with_values(np.arange(5)), ValueError, "values: there are 5"),
        (lambda: R.pack()[3], IndexError, "step 3 is out of range for 3 steps"),
        (lambda: np.asarray(R.pack()), TypeError, "a Packed is not an array"),
        (lambda: TWO.pack(level=0).to_padded(), ValueError, "steps hold sub-sequences, which a Padded"),
        (lambda: TWO.pack(level=0).to_packed_sequence(), ValueError, "a PackedSequence cannot store"),
        (lambda: R[[0, 1, 1]].pack().to_packed_sequence(empty="x"), ValueError, "expected 'raise' or 'drop'"),
        (lambda: vl.Ragged([1], [0, 1]).pack().to_packed_sequence(), ValueError, "sequence 0 is empty"),
        (lambda: vl.Packed.from_ragged([1]), TypeError, "ragged: expected a Ragged, got list"),
        (lambda: vl.Packed.from_padded([1]), TypeError, "padded: expected data, size_at_t"),
        (lambda: vl.Packed.from_packed_sequence([1]), TypeError, "expected a PackedSequence"),
        (lambda: vl.Packed.from_padded(R[:2].to_padded(), TABLE), ValueError, "the table in its lengths"),
        (
            lambda: vl.Packed.from_padded(vl.Padded.from_list([[1], [2]]), vl.RankTable([1, 1])),
            ValueError,
            "differs from the table in its order",
        ),
        (lambda: vl.Packed.from_padded(R.to_padded(), 3), TypeError, "table: expected a RankTable"),
        (lambda: _core.ragged2packed(R.values, R.levels[0], "stable", (1, 2)), TypeError, "fields: expected"),
        (
            lambda: _core.ragged2packed(R.values, R.levels[0], "stable", vl.RankTable([3, 2, 1])._fields),
            ValueError,
            "level: sequence 1 has length 1, but its column has 2",
        ),
        (lambda: _core.pack_order([1]), TypeError, "level: expected a Level, got list"),
    ],
)  # fmt: skip
def test_packed_refuses_what_does_not_fit(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("depth", [1, 2])
def test_a_notebook_gets_facts_and_a_picture(depth: int) -> None:
    r = vl.Ragged.from_list([[3, 1], [], [4]] if depth == 1 else [[[3], [1, 5]], [], [[4]]])
    page = r.pack(level=0)._repr_html_()
    assert page.startswith("<div><b>Packed</b><table><tr><th>sequences</th><td>3</td></tr>")
    assert f"<th>{'rows' if depth == 1 else 'sub-sequences'}</th><td>3</td>" in page
    assert page.count("<svg") == 1
    assert "<svg" not in vl.Ragged(np.zeros(0), []).pack()._repr_html_()


@pytest.mark.parametrize(
    ("rows", "sizes", "order", "text"),
    [
        (3, [1, 2], None, "size_at_t: step 1 has 2"),
        (4, [2, 1], None, "values: there are 4, but the lengths add up to 3"),
        (2, [2, 1], None, "values: there are 2, but the lengths add up to 3"),
        (3, [3, -1, 1], None, "size_at_t: step 1 has -1"),
        (3, [2, 1], [0, 0], "indices: column 1 holds 0, as a column before it does"),
        (3, [2, 1], [0], "indices: 1 entries for a block of 2 columns"),
    ],
)
def test_a_packed_sequence_has_to_be_one(rows, sizes, order, text):
    order = order if order is None else torch.tensor(order)
    given = torch.nn.utils.rnn.PackedSequence(torch.arange(rows), torch.tensor(sizes), order, None)
    with pytest.raises(ValueError, match=text):
        vl.Packed.from_packed_sequence(given)


@pytest.mark.parametrize(
    "outer",
    [[[1, 1]], [1, 1], np.array([1, 1]), vl.Level.from_lengths([1, 1]), (vl.Level.from_lengths([1, 1]),)],
)
def test_outer_lengths_of_a_rank_table_come_in_any_form(outer):
    (level,) = vl.RankTable([2, 1], outer=outer).outer
    assert level.lengths.tolist() == [1, 1]


def test_outer_lengths_of_a_rank_table_may_be_a_tensor():
    torch = pytest.importorskip("torch")
    for outer in (torch.tensor([1, 1]), [torch.tensor([1, 1])]):
        (level,) = vl.RankTable([2, 1], outer=outer).outer
        assert level.lengths.tolist() == [1, 1]
