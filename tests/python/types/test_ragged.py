"""Ragged: its doors, its structure, NumPy's indexing, ufuncs, equality, copies and pickles."""

import copy
import pickle

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from oracles import verbs as oracle
from varlen.testing import strategies


def example():
    return vl.Ragged(np.arange(6), [3, 1, 2])


def nested():
    return vl.Ragged(np.arange(12).reshape(6, 2), lengths=[[2, 0, 1], [1, 2, 3]])


# Doors


@given(strategies.levels(2), st.data())
def test_lengths_offsets_and_levels_say_the_same(lengths, data):
    values = data.draw(strategies.rows(sum(lengths[-1]), "int32"))
    by_lengths = vl.Ragged(values, lengths=[np.array(x, int) for x in lengths])
    by_offsets = vl.Ragged(values, offsets=[np.array(oracle.offsets(x)) for x in lengths])
    by_levels = vl.Ragged(values, levels=by_lengths.levels)
    assert by_lengths.equals(by_offsets)
    assert by_levels.levels == by_lengths.levels
    assert by_lengths.to_list() == oracle.nest(values.tolist(), lengths)


@pytest.mark.parametrize(
    "kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", ">i4"]
)
def test_lengths_may_be_of_any_integer_dtype(kind):
    assert vl.Ragged(np.arange(5), np.array([3, 0, 2], kind)).offsets.tolist() == [0, 3, 3, 5]
    assert vl.Ragged(np.arange(5), np.array([3, 9, 0, 9, 2, 9], kind)[::2]).offsets.tolist() == [0, 3, 3, 5]


@given(strategies.lengths())
def test_structure_is_what_the_oracle_says(lengths):
    r = vl.Ragged(np.zeros(sum(lengths)), np.array(lengths, int))
    assert r.offsets.tolist() == oracle.offsets(lengths)
    assert r.lengths.tolist() == lengths
    assert r.row_ids.tolist() == oracle.row_ids(lengths)
    assert r.positions.tolist() == oracle.positions(lengths)
    assert (r.longest, r.total, len(r)) == (max(lengths, default=0), sum(lengths), len(lengths))
    rows = r.row_ids
    assert vl.Ragged.from_row_ids(r.values, rows, len(lengths)).equals(r)
    assert vl.Ragged(r.values, levels=[vl.Level.from_bounds(r.offsets[1:])]).equals(r)
    assert vl.Ragged.from_offsets(r.values, r.cu_seqlens).equals(r)
    assert r.cu_seqlens.dtype == np.int32


def test_values_are_shared_and_kept_as_they_came():
    values = np.arange(6)
    r = vl.Ragged(values, [3, 1, 2])
    assert r.values is values
    r.row(0)[:] = 7
    assert values.tolist() == [7, 7, 7, 3, 4, 5]
    values.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        r[:1].values[0] = 1


def test_structure_cannot_be_written():
    r = example()
    for array in (r.offsets, r.lengths, r.row_ids, r.positions):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    lengths = np.array([3, 1, 2])
    shared = vl.Ragged(np.arange(6), lengths)
    lengths[0] = 99
    assert shared.lengths.tolist() == [3, 1, 2]
    with pytest.raises(AttributeError):
        r.values = np.zeros(6)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({}, TypeError, "exactly one of lengths, offsets and levels, got none"),
        ({"lengths": [6], "offsets": [0, 6]}, TypeError, "got lengths and offsets"),
        ({"lengths": [3, 1]}, ValueError, "lengths: the lengths add up to 4, but there are 6 values"),
        ({"lengths": [7, -1]}, ValueError, "lengths: row 1 has a negative length, -1"),
        ({"lengths": [6.0]}, TypeError, "lengths: expected integers, got dtype float64"),
        ({"lengths": [True]}, TypeError, "lengths: expected integers, got dtype bool"),
        ({"lengths": [None]}, TypeError, "lengths: position 0 holds NoneType, not an integer"),
        ({"lengths": np.array([[6]])}, ValueError, "lengths: expected one dimension"),
        ({"lengths": np.array([2**63], "u8")}, OverflowError, "lengths"),
        ({"lengths": [2**62, 2**62]}, OverflowError, "lengths"),
        (
            {"lengths": [[2], [6, 1]]},
            ValueError,
            "lengths of level 1 add up to 7|add up to 7, but there are 6",
        ),
        ({"lengths": [[3], [6, 0]]}, ValueError, "level 0 add up to 3, but level 1 has 2 sequences"),
        ({"lengths": [[2], [-6, 12]]}, ValueError, r"lengths\[1\]: row 0"),
        ({"offsets": [1, 6]}, ValueError, "offsets: offsets must start at 0, got 1"),
        ({"offsets": [0, 4, 3, 6]}, ValueError, "offsets: row 1 ends at 3"),
        ({"offsets": []}, ValueError, "offsets: .*at least one"),
        ({"levels": np.array([0, 6])}, TypeError, "levels: expected a tuple"),
        ({"levels": ()}, ValueError, "at least one level"),
        ({"levels": [object()]}, TypeError, "levels: expected an array or a list of integers, got object"),
    ],
)
def test_doors_name_what_does_not_fit(arguments, error, text):
    with pytest.raises(error, match=text):
        vl.Ragged(np.arange(6), **arguments)


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        (np.array([1, None]), TypeError, "values: arrays of Python objects"),
        (np.array([(1, None)], [("a", int), ("b", object)]), TypeError, "values: arrays of Python objects"),
        (np.ma.masked_array([1, 2], [True, False]), TypeError, "values: expected an array without a mask"),
        (np.float32(3), ValueError, "values: expected at least one dimension"),
        (None, TypeError, "values"),
        ([[1], [2, 3]], ValueError, "use Ragged.from_list"),
    ],
)
def test_doors_refuse_values_that_are_no_rows(values, error, text):
    with pytest.raises(error, match=text):
        vl.Ragged(values, [1, 1])


@given(strategies.raggeds())
def test_shape_tells_axes_and_none_for_ragged_ones(r):
    levels = len(r.levels)
    assert r.shape == (len(r), *(None,) * levels, *r.values.shape[1:])
    assert r.ndim == len(r.shape)
    assert (r.dtype, r.size, r.device) == (r.values.dtype, r.values.size, "cpu")
    assert r.nbytes == r.values.nbytes + sum(8 * (len(level) + 1) for level in r.levels)


# Indexing


@given(strategies.raggeds(dtype="int16"), st.data())
def test_first_axis_is_indexed_as_a_list(r, data):
    index = data.draw(strategies.index_for(len(r)))
    got = r[index]
    assert got.to_list() == oracle.gather(r.to_list(), strategies.as_index(index))
    assert (got.dtype, got.shape[1:]) == (r.dtype, r.shape[1:])


@given(strategies.raggeds(dtype="int16"), st.data())
def test_first_axis_and_window_together(r, data):
    index, window = data.draw(strategies.index_for(len(r))), data.draw(strategies.slices(4))
    want = oracle.window(oracle.gather(r.to_list(), strategies.as_index(index)), window)
    assert r[index, window].to_list() == want
    assert r[index, window, ...].to_list() == want


@given(strategies.raggeds(depth=2, dtype="int16", trailing=(2,)), strategies.slices(3), strategies.slices(3))
def test_windows_of_deeper_axes(r, second, third):
    want = [oracle.window(row[second], third) for row in r.to_list()]
    assert r[:, second, third].to_list() == want
    assert r[:, second, third, 1].to_list() == [[[x[1] for x in c] for c in row] for row in want]
    assert r[..., -1].to_list() == [[[x[-1] for x in c] for c in row] for row in r.to_list()]


@given(strategies.raggeds(dtype="int16"))
def test_integers_give_rows(r):
    lists = r.to_list()
    rows = [r[i] for i in range(len(r))]
    for i, row in enumerate(rows):
        assert (row.to_list() if len(r.levels) > 1 else row.tolist()) == lists[i]
        for j in range(-len(lists[i]), len(lists[i])):
            found = r[i, j]
            assert (found.to_list() if hasattr(found, "to_list") else found.tolist()) == lists[i][j]
    for i in (np.int8(0), np.array(0), np.uint64(0)) if rows else ():
        got = r[i]
        assert (got.to_list() if len(r.levels) > 1 else got.tolist()) == lists[0]
    as_lists = [row.to_list() if len(r.levels) > 1 else row.tolist() for row in r]
    assert as_lists == lists
    assert len(list(reversed(r))) == len(r)


def test_slices_of_step_one_are_views():
    r = nested()
    for part in (r[1:], r[...], r[:], r[:, :], r[()], r[1:, ...]):
        assert np.shares_memory(part.values, r.values)
    assert r[:].levels[0] is r.levels[0]
    assert not np.shares_memory(r[::2].values, r.values)


def test_columns_drop_a_level():
    r = vl.Ragged(np.arange(6), [3, 1, 2])
    assert r[:, 0].tolist() == [0, 3, 4]
    assert r[1:, -1].tolist() == [3, 5]
    assert nested()[[0, 2], 0].to_list() == [[[0, 1]], [[6, 7], [8, 9], [10, 11]]]
    with pytest.raises(IndexError, match="index 1 is out of range for sequence 1 of length 1"):
        r[:, 1]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (3, "index 3 is out of range for 3 sequences"),
        (-4, "index -4 is out of range"),
        ([0, 5], "index 5 at position 1 is out of range"),
        (1.0, "not by float"),
        ("a", "not by str"),
        (True, "not by bool"),
        (np.True_, "not by bool"),
        ([0.5], "not by list of float64"),
        (np.array([1.0]), "not by ndarray of float64"),
        ([[0, 1]], "one dimension"),
        ([True, False], "the mask has 2 entries"),
        ((0, 0, 0), "too many indices"),
        ((slice(None), [0.5]), "a ragged axis takes ints, slices, lists or arrays of integers, got list"),
        ((None, [0]), "new axes"),
        ((..., 0, ...), "single ellipsis"),
        ((0, 5), "out of range"),
    ],
)
def test_indices_that_mean_nothing_say_so(key, text):
    with pytest.raises(IndexError, match=text):
        example()[key]


def test_slices_take_integers_only():
    with pytest.raises(TypeError, match="slice indices"):
        example()[0.5:]
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        example()[:, ::0]


# Values


@given(strategies.raggeds(dtype="float64"), st.data())
def test_ufuncs_work_on_values_and_keep_levels(r, data):
    other = vl.Ragged(data.draw(strategies.rows(r.total, "float64", r.values.shape[1:])), levels=r.levels)
    with np.errstate(all="ignore"):
        for result, want in [
            (r + other, r.values + other.values),
            (2 - r, 2 - r.values),
            (r == other, r.values == other.values),
            (np.isnan(r), np.isnan(r.values)),
            (abs(-r), abs(r.values)),
        ]:
            assert_array_equal(result.values, want)
            assert all(a is b for a, b in zip(result.levels, r.levels, strict=True))
        whole, rest = np.divmod(r, 2.0)
        assert_array_equal(whole.values, r.values // 2)
        assert_array_equal(rest.values, r.values % 2)


@given(strategies.raggeds(dtype="int64", trailing=()))
def test_arrays_give_each_sequence_its_number(r):
    numbers = np.arange(len(r)) * 10
    ids = np.arange(len(r))
    for level in r.levels:
        ids = np.repeat(ids, level.lengths)
    for ones in range(len(r.levels) + 1):
        added = r + numbers.reshape((len(r), *(1,) * ones))
        assert_array_equal(added.values, r.values + numbers[ids])


def test_arrays_may_hold_a_row_for_each_sequence():
    r = vl.Ragged(np.ones((3, 2)), [2, 1])
    result = r * np.array([[[1, 2]], [[3, 4]]])
    assert result.to_list() == [[[1, 2], [1, 2]], [[3, 4]]]
    assert (r * np.ones((1, 1, 2))).equals(r)


def test_out_and_in_place_write_the_values():
    r, values = example(), np.zeros(6, int)
    out = vl.Ragged(values, levels=r.levels)
    assert np.add(r, 1, out=out) is out
    assert values.tolist() == [1, 2, 3, 4, 5, 6]
    before = r.values
    r += 10
    assert r.values is before
    assert np.add(r, 1, where=r > 12, out=out).to_list() == [[1, 2, 3], [14], [15, 16]]
    assert np.add(r, 1, where=True).to_list() == (r + 1).to_list()
    for where in (r > 12, [True], np.array([False])):
        with pytest.raises(ValueError, match="where: results are undefined where it is False; pass out="):
            np.add(r, 1, where=where)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda r: r + vl.Ragged(np.arange(6), [3, 2, 1]),
            ValueError,
            "sequence 1 of level 0 has length 1 in one and 2",
        ),
        (lambda r: r + nested(), ValueError, "the containers nest differently: sequence 0 of level 0"),
        (lambda r: r + np.ones(4), ValueError, r"shape \(4,\) does not match 3 sequences"),
        (lambda r: r + np.ones((3, 2)), ValueError, "does not match 3 sequences"),
        (lambda r: np.add(r, 1, out=np.zeros(6, int)), TypeError, "out: expected a Ragged"),
        (lambda r: np.subtract.reduce(r), TypeError, r"np\.subtract\.reduce has no meaning for a Ragged"),
        (lambda r: r @ r, ValueError, "a: has plain numbers at one level, expected matrices"),
        (lambda r: r + "a", TypeError, None),
        (lambda r: bool(r), ValueError, "ambiguous"),
        (lambda r: hash(r), TypeError, "unhashable"),
    ],
)
def test_ufuncs_name_what_does_not_fit(call, error, text):
    with pytest.raises(error, match=text):
        call(example())


def test_equals_asks_for_levels_and_values():
    r = vl.Ragged(np.array([1.0, np.nan]), [1, 1])
    assert not r.equals(r)
    assert r.equals(r.copy(), equal_nan=True)
    assert not r.equals(vl.Ragged(r.values, [2]), equal_nan=True)
    assert not r.equals([1.0])
    assert vl.Ragged(np.array(["NaT"], "M8[s]"), [1]).equals(vl.Ragged(np.array(["NaT"], "M8[s]"), [1]), True)
    assert 1.0 in r
    assert 2.0 not in r


def test_equal_lengths_make_an_array():
    r = vl.Ragged(np.arange(12).reshape(6, 2), [3, 3])
    block = np.asarray(r)
    assert block.shape == (2, 3, 2)
    assert np.shares_memory(block, r.values)
    assert not np.shares_memory(np.array(r), r.values)
    assert np.asarray(r, np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="copy"):
        np.array(r, np.float32, copy=False)
    assert np.asarray(vl.Ragged(np.zeros((0, 2)), [])).shape == (0, 0, 2)
    with pytest.raises(ValueError, match="sequence 1 has length 1, sequence 0 has 3"):
        np.asarray(example())
    with pytest.raises(ValueError, match="sequence 1 of level 1 has length 2"):
        np.asarray(vl.Ragged(np.arange(6), lengths=[[1, 1, 1], [1, 2, 3]]))


# Copies


@given(strategies.raggeds(), st.sampled_from([2, 3, 4, 5]))
def test_pickles_come_back_equal(r, protocol):
    back = pickle.loads(pickle.dumps(r, protocol))
    assert back.equals(r, equal_nan=True)
    assert back.dtype.newbyteorder("=") == r.dtype.newbyteorder("=")  # NumPy's older protocols make it native
    assert back.shape == r.shape


def test_pickles_leave_large_memory_out_of_band():
    r = vl.Ragged(np.arange(100_000), np.full(1000, 100))[1:-1]
    buffers = []
    stream = pickle.dumps(r, protocol=5, buffer_callback=buffers.append)
    assert len(stream) < 1500
    assert pickle.loads(stream, buffers=buffers).equals(r)
    assert sum(len(b.raw()) for b in buffers) == r.values.nbytes + r.offsets.nbytes


def test_pickles_whose_parts_do_not_fit_are_refused():
    restore, (kind, values, levels) = example().__reduce_ex__(4)
    with pytest.raises(ValueError, match="add up to 6, but there are 5"):
        restore(kind, values[:5], levels)


def test_copies_own_their_values_and_share_levels():
    r = example()
    for other in (r.copy(), copy.copy(r), copy.deepcopy(r)):
        assert other.equals(r)
        assert not np.shares_memory(other.values, r.values)
        assert other.levels[0] is r.levels[0]
    assert r.astype(np.float16).to_list() == r.to_list()


@given(strategies.raggeds())
def test_layout_of_memory_does_not_matter(r):
    plain = vl.Ragged(np.array(r.values, order="C"), levels=r.levels)
    assert r.equals(plain, equal_nan=True)
    assert r[::-1].equals(plain[::-1], equal_nan=True)


def test_subclasses_stay_what_they_are():
    class Tokens(vl.Ragged):
        pass

    r = Tokens(np.arange(6), [3, 1, 2])
    for other in (r[:1], r[[0]], r[:, :1], r + 1, r.copy()):
        assert type(other) is Tokens
    assert type(Tokens.from_offsets(np.arange(2), [0, 2])) is Tokens


def test_no_sequences_at_all_are_a_list_too():
    for empty in ([], ()):
        r = vl.Ragged.from_list(empty)
        assert (len(r), r.total, r.shape, r.dtype) == (0, 0, (0, None), np.dtype(float))
        assert r.to_list() == []
        assert vl.Ragged.from_list(empty, np.int8).dtype == np.int8


@pytest.mark.parametrize("lengths", [None, "a", 1.5])
def test_what_is_no_list_of_lengths_is_a_type_error(lengths):
    kind = type(lengths).__name__
    with pytest.raises(TypeError, match=f"lengths: expected an array or a list of integers, got {kind}"):
        vl.Level(lengths)
    with pytest.raises(TypeError, match=f"by: expected an array or a list of integers, got {kind}"):
        vl.Ragged([1, 2], [2]).shift(lengths)
