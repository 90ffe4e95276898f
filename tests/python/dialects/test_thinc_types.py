"""What Thinc's code asks of containers, of those whose items are Ragged, and the ways to Thinc's and back."""

import copy
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from varlen import thinc
from varlen.testing import strategies
from varlen.thinc import types as thinc_types

KINDS = [vl.Ragged, thinc_types.Ragged]
DATA = np.arange(12, dtype=np.float32).reshape(6, 2)
LENGTHS = [2, 0, 3, 1]

both = pytest.mark.parametrize("kind", KINDS, ids=["varlen", "thinc"])


def example():
    return thinc_types.Ragged(DATA, LENGTHS)


def same(r, rows, lengths):
    """Of the kind, over these rows, and of these lengths."""
    assert type(r) is thinc_types.Ragged
    assert r.dtype == np.float32
    np.testing.assert_array_equal(r.data, DATA[rows])
    assert r.lengths.tolist() == lengths
    return True


def test_offsets_and_lengths_are_int32_read_only_and_kept():
    r = example()
    assert len(r) == 4
    assert r.starts_ends.tolist() == r._get_starts_ends().tolist() == [0, 2, 2, 5, 6]
    assert r._get_starts().tolist() == [0, 2, 2, 5]
    assert r._get_ends().tolist() == [2, 2, 5, 6]
    for array in (r.lengths, r.starts_ends):
        assert array.dtype == np.int32
        assert not array.flags.writeable
    assert r.lengths is r.lengths
    assert r.starts_ends is r.starts_ends
    assert r.levels[0].lengths.dtype == r.offsets.dtype == np.int64


@both
def test_data_has_two_axes_and_shares_memory(kind):
    x = np.arange(24.0).reshape(6, 2, 2)
    r = kind(x, LENGTHS)
    assert (r.data.shape, r.dataXd.shape, r.data_shape) == ((6, 4), (6, 2, 2), (-1, 2, 2))
    assert np.shares_memory(r.data, x)
    assert r.dataXd is r.values
    flat = kind(np.arange(5), [2, 3])
    assert (flat.data.shape, flat.dataXd.shape, flat.data_shape) == ((5, 1), (5,), (-1,))


@both
def test_empty_data_keeps_its_shape_and_dtype(kind):
    for lengths in ([], [0, 0]):
        r = kind(np.zeros((0, 4), np.int16), lengths)
        assert (r.data.shape, r.dtype, len(r)) == ((0, 4), np.int16, len(lengths))
    r = kind(np.zeros((5, 0)), [2, 3])
    assert (r.data.shape, r.total) == ((5, 0), 5)
    deep = kind(np.zeros((0, 2, 3)), [])
    assert (deep.data.shape, deep.dataXd.shape) == ((0, 6), (0, 2, 3))


@both
def test_structure_is_checked(kind):
    for lengths in ([1, 1], [100], [-1, 7]):
        with pytest.raises(ValueError, match="lengths"):
            kind(DATA, lengths)


@both
def test_data_is_another_name_of_values(kind):
    r = kind(data=DATA, lengths=LENGTHS)
    assert r.values is DATA
    assert kind(data=DATA, offsets=[0, 6]).lengths.tolist() == [6]
    for wrong in ({"lengths": [1]}, {"values": DATA, "data": DATA, "lengths": LENGTHS}):
        with pytest.raises(TypeError, match="either values or data"):
            kind(**wrong)


def test_lengths_beyond_int32_are_refused():
    kind = thinc_types.Ragged
    many = kind(np.zeros((2**31, 0)), [1, 2**31 - 1])
    assert many.lengths.tolist() == [1, 2**31 - 1]
    for ask in (lambda: many.starts_ends, many._get_ends, many._get_starts):
        with pytest.raises(OverflowError, match=f"{2**31} rows do not fit int32"):
            ask()
    with pytest.raises(OverflowError, match=f"{2**31} rows do not fit int32"):
        kind(np.zeros((2**31, 0)), [0, 2**31]).lengths  # noqa: B018


def test_fields_of_a_padded_are_int32_read_only_and_refused_beyond():
    p = thinc_types.Padded.from_list([DATA[:2], DATA[2:]])
    for name in ("size_at_t", "lengths", "indices"):
        field = getattr(p, name)
        assert (field.dtype, field.flags.writeable) == (np.int32, False)
        assert field.tolist() == getattr(vl.Padded.from_list([DATA[:2], DATA[2:]]), name).tolist()
    wide = np.array([2**31, 1])
    beyond = thinc_types.Padded._make(DATA, wide, wide, wide)
    for name in ("size_at_t", "lengths", "indices"):
        with pytest.raises(OverflowError, match=f"{name}: entry 0 is {2**31}, beyond int32"):
            getattr(beyond, name)


@both
def test_tensors_have_the_same_face(kind):
    torch = pytest.importorskip("torch")
    x = torch.arange(12.0).reshape(3, 2, 2)
    r = kind(x, [1, 2])
    assert (tuple(r.data.shape), r.data_shape) == ((3, 4), (-1, 2, 2))
    assert r.data.data_ptr() == x.data_ptr()
    assert r.lengths.tolist() == [1, 2]


def test_an_item_is_a_ragged_of_one_sequence():
    r = example()
    assert same(r[2], slice(2, 5), [3])
    assert same(r[1], slice(2, 2), [0])
    assert r[1].data.shape == (0, 2)
    assert same(r[-1], slice(5, 6), [1])
    assert same(r[np.int64(2)], slice(2, 5), [3])
    assert np.shares_memory(r[2].data, DATA)
    for out in (4, -5):
        with pytest.raises(IndexError, match=f"index {out} is out of range for 4 sequences"):
            r[out]


def test_slices_share_memory_and_clip():
    r = example()
    assert same(r[1:3], slice(2, 5), [0, 3])
    assert np.shares_memory(r[1:3].data, DATA)
    assert same(r[:2], slice(0, 2), [2, 0])
    assert same(r[-2:], slice(2, 6), [3, 1])
    assert same(r[::2], [0, 1, 2, 3, 4], [2, 3])
    assert same(r[::-1], [5, 2, 3, 4, 0, 1], [1, 3, 0, 2])
    assert same(r[3:1], [], [])
    assert same(r[0:0], [], [])
    assert same(r[0:100], slice(0, 6), LENGTHS)
    assert same(r[...], slice(0, 6), LENGTHS)


def test_lists_and_masks_choose_sequences():
    r = example()
    assert same(r[[2, 0]], [2, 3, 4, 0, 1], [3, 2])
    assert not np.shares_memory(r[[2, 0]].data, DATA)
    assert same(r[[3, 3]], [5, 5], [1, 1])
    assert same(r[[0, 1]], [0, 1], [2, 0])
    assert same(r[[]], [], [])
    assert same(r[np.array([True, False, True, False])], [0, 1, 2, 3, 4], [2, 3])
    assert same(r[np.array([-1, 0])], [5, 0, 1], [1, 2])


def test_items_keep_their_trailing_axes():
    r = thinc_types.Ragged(np.arange(24.0).reshape(6, 2, 2), LENGTHS)
    assert r[0].dataXd.shape == (2, 2, 2)
    assert r[[0, 2]].dataXd.shape == (5, 2, 2)
    assert r[1:].data_shape == (-1, 2, 2)


def test_iterating_gives_items():
    items = list(example())
    assert [item.lengths.tolist() for item in items] == [[2], [0], [3], [1]]
    assert all(type(item) is thinc_types.Ragged for item in items)
    padded = thinc_types.Padded.from_list([DATA[:2], DATA[2:]])
    assert [len(item) for item in padded] == [1, 1]


def test_tuples_address_rows_in_both():
    r, plain = example(), vl.Ragged(DATA, LENGTHS)
    np.testing.assert_array_equal(r[2, 0], plain[2, 0])
    np.testing.assert_array_equal(r[2, 1:], plain[2, 1:])
    assert type(r[:, :1]) is thinc_types.Ragged
    assert r[:, :1].equals(plain[:, :1])
    np.testing.assert_array_equal(r[..., 1].values, DATA[:, 1])
    nested = thinc_types.Ragged(DATA, [[1, 3], LENGTHS])
    assert type(nested[1]) is thinc_types.Ragged
    assert nested[1].to_list() == [vl.Ragged(DATA, [[1, 3], LENGTHS])[1].to_list()]
    assert nested[1, 1].tolist() == DATA[2:5].tolist()


def test_what_is_made_of_it_is_of_its_kind():
    r = example()
    pieces = [r.copy(), copy.deepcopy(r), pickle.loads(pickle.dumps(r)), r.astype(np.int8), r * 2]
    pieces += [vl.concatenate([r, r]), *r.split(2), *vl.ops.minibatch(3, r)]
    assert {type(piece) for piece in pieces} == {thinc_types.Ragged}
    assert isinstance(r, vl.Ragged)
    assert repr(r) == repr(vl.Ragged(DATA, LENGTHS))
    assert thinc_types.Pairs(r, [1, 2, 3, 4])[1].one.lengths.tolist() == [0]
    assert r.row(0).shape == (2, 2)


@given(strategies.raggeds())
def test_items_are_the_sequences(r):
    mine = thinc_types.Ragged._make(r.values, r.levels)
    assert len(list(mine)) == len(r)
    for i in range(-len(r), len(r)):
        item = mine[i]
        assert len(item) == 1
        assert item.shape[1:] == r.shape[1:]
        np.testing.assert_array_equal(item.values, r[[i]].values)


def test_the_examples_of_thincs_page():
    ops = vl.ops
    sequences = [thinc.alloc2f(7, 5) + 1, thinc.alloc2f(2, 5) + 2, thinc.alloc2f(4, 5) + 3]
    padded = ops.list2padded(sequences)
    assert padded.data.shape == (7, 3, 5)
    assert (padded.data[:, 0] == 1).all()
    assert (padded.data[:4, 1] == 3).all()
    assert (padded.data[:2, 2] == 2).all()
    assert list(padded.indices) == [0, 2, 1]
    assert isinstance(padded[0], vl.Padded)
    assert padded[0].data.shape == (7, 1, 5)
    ragged = thinc_types.Ragged.from_list(sequences)
    assert ragged.data.shape == (13, 5)
    assert ragged.data.shape[0] == ragged.lengths.sum()
    assert (ragged.data[:7] == 1).all()
    assert (ragged.data[7:9] == 2).all()
    assert (ragged.data[9:] == 3).all()
    assert ragged[0].data.shape == (7, 5)
    out = thinc_types.Ragged(ragged.data @ np.ones((5, 6), np.float32), ragged.lengths)
    assert out[1].data.tolist() == [[10] * 6] * 2
    deep = thinc_types.Ragged.from_list([thinc.alloc3f(5, 6, 7), thinc.alloc3f(10, 6, 7)])
    assert (deep.data.shape, deep.dataXd.shape) == ((15, 42), (15, 6, 7))


@dataclass
class TheirRagged:
    """As Thinc's, which forgets how many rows have no width."""

    dataXd: Any
    lengths: Any


@dataclass
class TheirPadded:
    data: Any
    size_at_t: Any
    lengths: Any
    indices: Any


@dataclass
class TheirPairs:
    one: Any
    two: Any


def test_from_what_looks_like_thincs():
    kind = thinc_types.Ragged
    r = kind.from_thinc(TheirRagged(DATA, np.array(LENGTHS, np.int32)))
    assert type(r) is kind
    assert r.values is DATA
    assert r.lengths.tolist() == LENGTHS
    rows = kind.from_thinc(TheirRagged(np.zeros((0, 3, 0), np.int8), [2, 3])).values
    assert (rows.shape, rows.dtype) == ((5, 3, 0), np.int8)
    for lengths in ([7], [-1, 7]):
        with pytest.raises(ValueError, match=r"levels|lengths"):
            kind.from_thinc(TheirRagged(DATA, lengths))
    with pytest.raises(TypeError, match="ragged: expected dataXd, lengths, but a list has no dataXd"):
        kind.from_thinc([1])


def test_padded_and_pairs_from_what_looks_like_thincs():
    p = thinc_types.Padded.from_list([DATA[:2], DATA[2:]])
    theirs = TheirPadded(p.data, p.size_at_t, p.lengths, p.indices)
    assert thinc_types.Padded.from_thinc(theirs) == p
    assert thinc_types.Padded.from_thinc(theirs).data is p.data
    with pytest.raises(ValueError, match="size_at_t"):
        thinc_types.Padded.from_thinc(TheirPadded(p.data, p.size_at_t + 1, p.lengths, p.indices))
    with pytest.raises(TypeError, match="padded"):
        thinc_types.Padded.from_thinc(TheirRagged(DATA, LENGTHS))
    pairs = thinc_types.Pairs.from_thinc(
        TheirPairs(TheirRagged(DATA, LENGTHS), TheirPairs([1] * 4, np.ones(4)))
    )
    assert (type(pairs.one), type(pairs.two)) == (thinc_types.Ragged, thinc_types.Pairs)
    assert thinc_types.Pairs.from_thinc(TheirPairs(theirs, [1, 2])).one == p


def test_to_thinc_and_back():
    types = pytest.importorskip("thinc.types")
    for values in (
        DATA,
        np.arange(12.0).reshape(6, 1, 2),
        np.arange(6),
        np.zeros((6, 0)),
        np.zeros((6, 2, 0)),
    ):
        r = thinc_types.Ragged(values, LENGTHS)
        theirs = r.to_thinc()
        assert isinstance(theirs, types.Ragged)
        assert theirs.lengths.dtype == np.int32
        assert theirs.lengths.flags.writeable
        assert not values.size or np.shares_memory(theirs.data, values)
        back = thinc_types.Ragged.from_thinc(theirs)
        assert back.equals(r)
        assert (back.values.shape, back.dtype) == (values.shape, values.dtype)
    p = thinc_types.Padded.from_list([DATA[:2], DATA[2:]])
    assert isinstance(p.to_thinc(), types.Padded)
    assert thinc_types.Padded.from_thinc(p.to_thinc()) == p
    pairs = thinc_types.Pairs(r, [1, 2, 3, 4]).to_thinc()
    assert isinstance(pairs, types.Pairs)
    assert isinstance(pairs.one, types.Ragged)
    assert thinc_types.Pairs.from_thinc(pairs).one.equals(r)
    with pytest.raises(ValueError, match="2 levels"):
        thinc_types.Ragged(DATA, [[1, 3], LENGTHS]).to_thinc()


def test_tensors_to_thinc():
    pytest.importorskip("thinc.types")
    torch = pytest.importorskip("torch")
    x = torch.zeros(3, 2)
    assert np.shares_memory(thinc_types.Ragged(x, [1, 2]).to_thinc().data, x.numpy())
    with pytest.raises(TypeError, match="gradients"):
        thinc_types.Ragged(x.requires_grad_(), [1, 2]).to_thinc()


def test_nested_tensors_share_memory_and_gradients():
    torch = pytest.importorskip("torch")
    x = torch.arange(12.0).reshape(6, 2).requires_grad_()
    r = vl.Ragged(x, LENGTHS)
    nested = r.to_nested()
    assert nested.is_nested
    assert [len(part) for part in nested.unbind()] == LENGTHS
    back = vl.Ragged.from_nested(nested)
    assert back.equals(r)
    assert back.values.data_ptr() == x.data_ptr()
    (back.values * 2).sum().backward()
    assert torch.equal(x.grad, torch.full((6, 2), 2.0))
    assert torch.equal(vl.Ragged(DATA, LENGTHS).to_nested().values(), torch.from_numpy(DATA))
    assert len(vl.Ragged(DATA[:0], []).to_nested().offsets()) == 1


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_tensors_of_other_layouts():
    torch = pytest.importorskip("torch")
    parts = [torch.ones(2, 3), torch.zeros(0, 3), torch.ones(1, 3)]
    strided = torch.nested.nested_tensor(parts)
    assert vl.Ragged.from_nested(strided).lengths.tolist() == [2, 0, 1]
    holes = torch.nested.nested_tensor_from_jagged(
        torch.arange(6), offsets=torch.tensor([0, 3, 6]), lengths=torch.tensor([2, 1])
    )
    assert vl.Ragged.from_nested(holes).to_list() == [[0, 1], [3]]
    jagged = torch.nested.nested_tensor(parts, layout=torch.jagged)
    with pytest.raises(ValueError, match="axis 2"):
        vl.Ragged.from_nested(jagged.transpose(1, 2))
    with pytest.raises(TypeError, match="nested: expected a nested tensor"):
        vl.Ragged.from_nested(parts[0])
    with pytest.raises(ValueError, match="part 1"):
        vl.Ragged.from_nested(torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(2, 4)]))
    with pytest.raises(ValueError, match="2 levels"):
        vl.Ragged(DATA, [[1, 3], LENGTHS]).to_nested()
