"""Padded: made, checked, indexed, compared and written out, against lists of the same sequences."""

import copy
import pickle

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from oracles import verbs as oracle
from varlen.testing import strategies


def of_lengths(lengths, width=2, ties="reversed"):
    """Row j of sequence i is 100 i + j."""
    rows = [np.add.outer(100 * i + np.arange(n), np.zeros(width, int)) for i, n in enumerate(lengths)]
    return vl.Padded.from_list(rows, ties=ties) if rows else vl.Padded.from_list([])


def checked(p):
    """The same, through the checks of the constructor."""
    return vl.Padded(p.data, p.size_at_t, p.lengths, p.indices)


def numbers(p):
    return [x[:, 0].tolist() for x in p.to_list()]


@st.composite
def chosen(draw):
    lengths = draw(strategies.lengths())
    p = of_lengths(lengths, ties=draw(st.sampled_from(["stable", "reversed"])))
    return lengths, p, draw(strategies.index_for(len(lengths)))


@given(chosen())
def test_padded_index_chooses_columns_in_their_original_order(case):
    _, p, index = case
    column = oracle.gather(p.indices.tolist(), strategies.as_index(index))
    every = numbers(p)
    result = p[index]
    assert numbers(result) == [every[i] for i in sorted(column)]
    assert len(result.data) == max((len(every[i]) for i in column), default=0)
    assert checked(result) == result
    assert result.data.shape[1:] == (len(column), *p.data.shape[2:])


@given(chosen())
def test_padded_item_is_one_sequence(case):
    _, p, _ = case
    every = numbers(p)
    items = list(p)
    assert len(items) == len(p)
    for k, item in enumerate(items):
        assert numbers(item) == [every[p.indices[k]]]
        assert item == p[k - len(p)] == p[np.int32(k)]
        assert checked(item) == item


def test_padded_slice_drops_steps_and_ranks_anew():
    p = of_lengths([7, 2, 4])
    part = p[1:3]
    assert numbers(part) == [[100, 101], [200, 201, 202, 203]]
    assert part.data.shape == (4, 2, 2)
    assert part.size_at_t.tolist() == [2, 2, 1, 1]
    assert part.lengths.tolist() == [4, 2]
    assert part.indices.tolist() == [1, 0]


@pytest.mark.parametrize("key", [3, -4, np.int64(3), [0, 3], np.array([-4])])
def test_padded_index_out_of_range_names_the_number(key):
    with pytest.raises(IndexError, match=r"index (3|-4)( at position \d)? is out of range for 3 sequences"):
        of_lengths([1, 2, 3])[key]


@pytest.mark.parametrize("key", [None, "a", 1.0, (0, 1), [True, False], True, np.zeros((1, 1), int)])
def test_padded_refuses_other_indices(key):
    with pytest.raises(IndexError):
        of_lengths([1, 2, 3])[key]


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("lengths", [4, 7, 2], "lengths: column 1 has length 7, more than the column before it"),
        ("lengths", [8, 4, 2], "lengths: column 0 has length 8, but the block has 7 steps"),
        ("lengths", [7, 4, -1], "lengths: column 2 has length -1"),
        ("lengths", [7, 4], "lengths: 2 entries for a block of 3 columns"),
        ("size_at_t", [3, 3, 2, 2, 1, 1, 2], "size_at_t: step 6 has 2, but 1 of the lengths are above 6"),
        ("size_at_t", [7, 4, 2], "size_at_t: 3 entries for a block of 7 steps"),
        ("indices", [0, 2, 2], "indices: column 2 holds 2, as a column before it does"),
        ("indices", [0, 3, 1], "indices: column 1 holds 3, but there are 3 sequences"),
        ("indices", [0, -1, 1], "indices: column 1 holds -1, but there are 3 sequences"),
        ("data", np.zeros(3), r"data: expected \(steps, columns, ...\), got shape \(3,\)"),
    ],
)
def test_padded_checks_its_fields(field, value, text):
    p = of_lengths([7, 2, 4])
    fields = {name: getattr(p, name) for name in ("data", "size_at_t", "lengths", "indices")}
    with pytest.raises(ValueError, match=text):
        vl.Padded(**{**fields, field: value})


def test_padded_refuses_other_kinds():
    with pytest.raises(TypeError, match="lengths: expected integers"):
        vl.Padded(np.zeros((1, 1)), [1], [1.0], [0])
    with pytest.raises(TypeError, match="data: arrays of Python objects"):
        vl.Padded(np.array([[None]]), [1], [1], [0])
    with pytest.raises(ValueError, match="size_at_t: 0 entries for a block of 2147483648 steps"):
        vl.Padded(np.zeros((2**31, 1, 0)), [], [1], [0])


def test_padded_may_have_more_steps_than_its_longest():
    p = vl.Padded(np.arange(8).reshape(4, 2), [2, 1, 0, 0], [2, 1], [0, 1])
    assert [x.tolist() for x in p.to_list()] == [[0, 2], [1]]
    assert p[:1].data.tolist() == [[0], [2]]
    same = vl.Padded(np.zeros((4, 2, 3)), [2] * 4, [4, 4], [0, 1])
    assert len(same.to_ragged().values) == 8


def test_padded_keeps_its_structure_to_itself():
    lengths = np.array([2, 1])
    p = vl.Padded(np.arange(4).reshape(2, 2), [2, 1], lengths, [0, 1])
    lengths[0] = 9
    assert p.lengths.tolist() == [2, 1]
    for field in (p.size_at_t, p.lengths, p.indices):
        assert field.dtype == np.int64
        with pytest.raises(ValueError, match="read-only"):
            field[0] = 5
    with pytest.raises(AttributeError):
        p.lengths = lengths
    other = of_lengths([3, 1]).lengths
    assert vl.Padded(np.zeros((3, 2)), [2, 1, 1], other, [0, 1]).lengths is other


def test_padded_shares_its_data_and_copies_it():
    data = np.arange(4).reshape(2, 2)
    p = vl.Padded(data, [2, 1], [2, 1], [0, 1])
    assert p.data is data
    for twin in (p.copy(), copy.copy(p), copy.deepcopy(p)):
        assert twin == p
        assert not np.shares_memory(twin.data, data)


@pytest.mark.parametrize("protocol", [2, 5])
@pytest.mark.parametrize("lengths", [[], [0], [3, 1, 2]])
def test_padded_pickles(protocol, lengths):
    p = of_lengths(lengths)
    assert pickle.loads(pickle.dumps(p, protocol)) == p


def test_padded_pickles_its_arrays_out_of_band():
    p = of_lengths([300, 100])
    buffers = []
    text = pickle.dumps(p, 5, buffer_callback=buffers.append)
    assert len(text) < 1000
    assert pickle.loads(text, buffers=buffers) == p


def test_padded_is_equal_where_all_fields_are():
    p = of_lengths([2, 3, 2])
    assert p == of_lengths([2, 3, 2])
    assert p != of_lengths([2, 3, 2], ties="stable")
    assert p != p[:2]
    assert p != 3
    assert p.equals(vl.Padded(p.data.astype(np.float32), p.size_at_t, p.lengths, p.indices))
    nan = vl.Padded([[np.nan]], [1], [1], [0])
    assert not nan.equals(nan)
    assert nan.equals(nan, equal_nan=True)
    with pytest.raises(TypeError, match="unhashable"):
        hash(p)


def test_padded_is_no_array():
    with pytest.raises(TypeError, match="a Padded is not an array"):
        np.asarray(of_lengths([1]))


@given(strategies.lengths(), st.sampled_from(["stable", "reversed"]))
def test_padded_packed_rows_and_back(lengths, ties):
    p = of_lengths(lengths, ties=ties)
    rows = p.to_packed()
    assert rows[:, :1].ravel().tolist() == [x for step in oracle.columns(numbers(p), ties) for x in step]
    assert vl.Padded.from_packed(rows, p.size_at_t, p.lengths, p.indices) == p


def test_padded_from_packed_checks_its_rows():
    with pytest.raises(ValueError, match="rows: there are 2 rows, but the lengths add up to 3"):
        vl.Padded.from_packed([1, 2], [2, 1], [2, 1], [0, 1])
    p = vl.Padded.from_packed(np.zeros((0, 3), np.int8), [0], [0, 0], [1, 0])
    assert (p.data.shape, p.dtype) == ((1, 2, 3), np.int8)


@given(strategies.lengths())
def test_padded_shows_counts(lengths):
    p = of_lengths(lengths)
    line, _, values = repr(p).partition("\n")
    assert line.startswith(f"Padded({len(p)} sequence")
    assert f"{sum(lengths)} row" in line
    assert len(values) <= 2000
    assert p._repr_html_().startswith("<div><b>Padded</b>")


def test_padded_says_what_it_is():
    p = of_lengths([2, 0])
    assert (
        repr(p)
        == "Padded(2 sequences, 2 steps, 2 rows of shape (2,), lengths 0 to 2, int64)\n[[[0, 0], [1, 1]], []]"
    )
    assert (p.shape, p.total, p.device, p.nbytes) == ((2, 2, 2), 2, "cpu", 64 + 16 + 32)


torch = pytest.importorskip("torch")


@st.composite
def tensors(draw):
    lengths = draw(strategies.lengths())
    dtype = draw(st.sampled_from([torch.float32, torch.bfloat16, torch.int64, torch.bool]))
    rows = torch.arange(sum(lengths) * 2).reshape(-1, 2).to(dtype)
    return vl.Ragged(rows, lengths)


@given(tensors(), st.sampled_from(["stable", "reversed"]))
def test_padded_of_tensors_is_that_of_arrays(r, ties):
    p = r.to_padded(ties=ties)
    plain = vl.Ragged(np.arange(r.total) + 1, levels=r.levels).to_padded(ties=ties)
    assert p.dtype == r.dtype
    assert p.indices.tolist() == plain.indices.tolist()
    assert p.to_ragged().equals(r)
    assert p[: len(p) // 2].size_at_t.tolist() == plain[: len(p) // 2].size_at_t.tolist()
    assert not p.data[torch.from_numpy(plain.data == 0)].any()
    assert pickle.loads(pickle.dumps(p)) == p
    assert "torch" in repr(p)
    if len(r):
        assert vl.Padded.from_list(list(r), ties=ties) == p


def test_padded_of_watched_tensors_passes_gradients_on():
    leaf = torch.arange(6.0, requires_grad=True)
    r = vl.Ragged(leaf, [1, 3, 0, 2])
    p = r.to_padded()
    assert p.data.tolist() == [[1, 4, 0, 0], [2, 5, 0, 0], [3, 0, 0, 0]]
    (p.data * torch.arange(12.0).reshape(3, 4)).sum().backward()
    assert leaf.grad.tolist() == [2, 0, 4, 8, 1, 5]
    leaf.grad = None
    p = r.to_padded()
    (p.to_ragged().values * torch.arange(6.0)).sum().backward()
    assert leaf.grad.tolist() == [0, 1, 2, 3, 4, 5]


@given(tensors().filter(len), st.booleans())
def test_padded_and_packed_sequences_are_the_same(r, enforce):
    """Of torch's own packing, whose order of ties is its own."""
    from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

    rows = [row for row in r if len(row)]
    if not rows:
        return
    if enforce:
        rows.sort(key=len, reverse=True)
    ps = pack_sequence(rows, enforce_sorted=enforce)
    p = vl.Padded.from_packed_sequence(ps)
    assert all(torch.equal(one, other) for one, other in zip(p.to_list(), rows, strict=True))
    assert torch.equal(
        p.data, pad_packed_sequence(ps._replace(sorted_indices=None, unsorted_indices=None))[0]
    )
    back = p.to_packed_sequence()
    for one, other in zip(back, ps, strict=True):
        assert other is None or (torch.equal(one, other) and one.dtype == other.dtype)
    assert torch.equal(pad_packed_sequence(back)[0], pad_packed_sequence(ps)[0])


def test_padded_has_no_packed_sequence_of_empty_ones():
    p = vl.Padded.from_list([torch.ones(n, 2) for n in (0, 3, 0, 1)])
    with pytest.raises(ValueError, match="sequence 2 is empty"):
        p.to_packed_sequence()
    ps = p.to_packed_sequence(empty="drop")
    assert ps.sorted_indices.tolist() == [0, 1]
    assert ps.batch_sizes.tolist() == [2, 1, 1]
    none = p[:0].to_packed_sequence()
    assert none.data.shape == (0, 2)
    assert vl.Padded.from_packed_sequence(none) == p[:0]
    with pytest.raises(TypeError, match="expected a PackedSequence, got int"):
        vl.Padded.from_packed_sequence(3)
    with pytest.raises(ValueError, match="empty: expected 'raise' or 'drop'"):
        p.to_packed_sequence(empty="keep")
