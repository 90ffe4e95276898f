"""Levels as Paddle has them: every form in and out, ranges of a level, a level more or fewer."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from nested import deeper, levels_above, raised
from oracles import lod as oracle_lod
from oracles import verbs as oracle
from varlen.lod import LoDTensor
from varlen.testing.strategies import levels
from varlen.tf import RaggedTensor

# Two paragraphs of 3 and 2 sentences, which have these numbers of words.
PARAGRAPHS = [[3, 2], [3, 4, 2, 5, 3]]
LOD = [[0, 3, 5], [0, 3, 7, 9, 14, 17]]
ABSOLUTE = [[0, 9, 17], [0, 3, 7, 9, 14, 17]]
STARTS = [[0, 9], [0, 3, 7], [0, 5]]


def words(lengths=PARAGRAPHS):
    return LoDTensor.from_recursive_sequence_lengths(np.arange(sum(lengths[-1])), lengths)


def test_forms_of_one_example():
    r = words()
    assert r.recursive_sequence_lengths() == PARAGRAPHS
    assert r.lod() == LOD
    assert [x.tolist() for x in r.absolute_offsets()] == ABSOLUTE
    assert r.seq_pos().to_list() == STARTS
    assert vl.ops.segment_ids(r, level=0).tolist() == [0] * 9 + [1] * 8
    assert vl.ops.segment_ids(r) is r.levels[1].row_ids
    assert [level.row_ids.tolist() for level in r.levels] == [[0, 0, 0, 1, 1], oracle.row_ids(PARAGRAPHS[1])]
    assert all(type(x) is int for level in r.lod() + r.recursive_sequence_lengths() for x in level)
    for result in (
        LoDTensor.from_lod(r.values, LOD),
        LoDTensor.from_absolute_offsets(r.values, ABSOLUTE),
        LoDTensor.from_seq_pos(r.values, STARTS),
        RaggedTensor.from_nested_value_rowids(r.values, [level.row_ids for level in r.levels]),
    ):
        assert result.equals(r)
        assert result.values is r.values
    inner = LoDTensor(r.values, levels=r.levels[1:])
    assert LoDTensor.from_seq_pos(inner, [[0, 3]]).equals(r)


def test_absolute_offsets_of_three_levels():
    r = LoDTensor.from_lod(np.arange(5), [[0, 2], [0, 1, 3], [0, 2, 4, 5]])
    assert [x.tolist() for x in r.absolute_offsets()] == [[0, 5], [0, 2, 5], [0, 2, 4, 5]]


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_forms_come_back(data):
    depth = data.draw(st.integers(1, 4))
    lengths = data.draw(levels(depth, max_rows=4, max_length=3))
    rows = np.arange(sum(lengths[-1]))
    r = LoDTensor.from_recursive_sequence_lengths(rows, lengths)
    nested = oracle.nest(rows.tolist(), lengths)
    assert r.to_list() == nested
    assert r.recursive_sequence_lengths() == lengths
    assert r.lod() == [oracle.offsets(x) for x in lengths]
    absolute = oracle_lod.absolute(nested, depth)
    assert [x.tolist() for x in r.absolute_offsets()] == absolute
    starts = r.seq_pos()
    assert starts.to_list() == oracle_lod.seq_pos(nested, depth)
    for d in range(depth):
        assert vl.ops.segment_ids(r, level=d).tolist() == oracle.row_ids(np.diff(absolute[d]))
    counts = [len(x) for x in lengths]
    tf = RaggedTensor(rows, levels=r.levels)
    for result in (
        LoDTensor.from_lod(rows, r.lod()),
        LoDTensor.from_seq_pos(rows, starts, dim=depth),
        LoDTensor.from_seq_pos(rows, starts.to_list(), depth),
        RaggedTensor.from_nested_row_splits(rows, tf.nested_row_splits),
        RaggedTensor.from_nested_row_lengths(rows, tf.nested_row_lengths()),
        RaggedTensor.from_nested_value_rowids(rows, tf.nested_value_rowids(), counts),
    ):
        assert result.equals(r)
    # Rows do not say which sequence an empty one at its edge is in: every choice has the same rows.
    for empty in ("before", "after"):
        again = LoDTensor.from_absolute_offsets(rows, absolute, empty=empty)
        assert [x.tolist() for x in again.absolute_offsets()] == absolute
    clear = all(len(set(below)) == len(below) for below in absolute[1:])
    if clear and all(map(len, lengths)):
        assert LoDTensor.from_absolute_offsets(rows, absolute).equals(r)


def test_levels_are_shared_and_views_are_read_only():
    level = vl.Level([3, 1])
    r = LoDTensor.from_recursive_sequence_lengths(np.arange(4), [vl.Level([2]), level])
    assert r.levels[1] is level
    assert r.slice_in_level(1, 0, 2).levels[0].lengths.tolist() == [3, 1]
    assert r.drop_level(0).levels[0] is level
    assert r.add_level([1]).levels[1:] == r.levels
    assert r.add_level([1]).levels[2] is level
    assert r.absolute_offsets()[1] is level.offsets
    for array in (*r.absolute_offsets(), vl.ops.segment_ids(r, level=0), vl.ops.segment_ids(r, level=1)):
        assert not array.flags.writeable
    assert np.shares_memory(r.slice_in_level(1, 1, 2).values, r.values)


def test_sub_lod_of_a_range():
    lod = [[0, 2, 4, 5], [0, 1, 6, 8, 10, 11], [0, 2, 5, 7, 10, 12, 15, 17, 20, 24, 26, 29]]
    r = LoDTensor.from_lod(np.arange(29), lod)
    assert r.sub_lod(0, 1, 2) == ([[2], [2, 2], [2, 3, 4, 2]], (15, 26))
    part = r.slice_in_level(0, 1, 2)
    assert part.recursive_sequence_lengths() == [[2], [2, 2], [2, 3, 4, 2]]
    assert part.values.tolist() == list(range(15, 26))
    assert r.sub_lod(-1, 2, 2) == ([[]], (5, 5))
    assert r.slice_in_level(1, 5, 5).recursive_sequence_lengths() == [[], []]
    assert r[1].recursive_sequence_lengths() == [[2, 2], [2, 3, 4, 2]]


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_ranges_of_a_level(data):
    depth = data.draw(st.integers(1, 3))
    lengths = data.draw(levels(depth, max_rows=4, max_length=3))
    level = data.draw(st.integers(0, depth - 1))
    end = data.draw(st.integers(0, len(lengths[level])))
    begin = data.draw(st.integers(0, end))
    r = words(lengths)
    flat = r.to_list()
    for _ in range(level):
        flat = [x for each in flat for x in each]
    part = r.slice_in_level(level, begin, end)
    assert part.to_list() == flat[begin:end]
    lens, (first, last) = r.sub_lod(level - depth, begin, end)
    assert lens == part.recursive_sequence_lengths()
    assert r.values[first:last].tolist() == part.values.tolist()


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_levels_dropped_and_added(data):
    depth = data.draw(st.integers(2, 4))
    lengths = data.draw(levels(depth, max_rows=4, max_length=3))
    at = data.draw(st.integers(0, depth - 1))
    r = words(lengths)
    fewer = r.drop_level(at)
    assert fewer.values is r.values
    nested = r.to_list()
    if at == 0:
        flat = [x for each in nested for x in each]
    else:

        def merged(nested, depth):
            if depth == 0:
                return [x for each in nested for x in each]
            return [merged(each, depth - 1) for each in nested]

        flat = merged(nested, at)
    assert fewer.to_list() == flat
    for empty in ("before", "after"):
        again = fewer.add_level(lengths[at], at, empty=empty)
        assert again.levels[at] == r.levels[at]
        assert again.drop_level(at).equals(fewer)
    if all(lengths[at]):
        assert fewer.add_level(r.levels[at], at).equals(r)


def test_a_level_more_two_levels_deeper():
    r = deeper(LoDTensor(np.arange(10), [3, 2, 5]))
    result = raised(r.add_level([3, 1, 1, 5], -1))
    assert result.recursive_sequence_lengths() == [[1, 2, 1], [3, 1, 1, 5]]
    assert raised(r.add_level(np.ones(10, int), 3)).recursive_sequence_lengths() == [[3, 2, 5], [1] * 10]
    groups = levels_above(3)[1].lengths
    assert r.add_level(groups[groups > 0], 2).drop_level(2).equals(r)


def test_valid_levels_are_known():
    assert words([[2, 3], [1, 3, 1, 2, 1]]).has_valid_recursive_sequence_lengths()
    torch = pytest.importorskip("torch")
    r = LoDTensor(torch.arange(3), [2, 1])
    r.values.resize_(2)
    assert not r.has_valid_recursive_sequence_lengths()


ROWS = np.arange(8)
FORM = LoDTensor.from_recursive_sequence_lengths
STARTS_OF = LoDTensor.from_seq_pos
ABSOLUTES = LoDTensor.from_absolute_offsets


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: FORM(ROWS, [[], [1], [3]]), ValueError, "lengths of level 0 add up to 0, but level 1 has 1"),
        (
            lambda: FORM(ROWS, [[0], [2], [3]]),
            ValueError,
            "lengths of level 0 add up to 0, but level 1 has 1",
        ),
        (
            lambda: FORM(ROWS, [[2, 3], [1, 3, 1, 2, 2]]),
            ValueError,
            "recursive_sequence_lengths: the lengths add up to 9, but there are 8 values",
        ),
        (lambda: FORM(ROWS, [[2, -1]]), ValueError, r"lengths\[0\]: row 1 has a negative length, -1"),
        (
            lambda: FORM(ROWS, [3, 5]),
            TypeError,
            "expected a list of arrays, one per level; item 0 is of type int",
        ),
        (lambda: FORM(ROWS, []), ValueError, "recursive_sequence_lengths: a Ragged needs at least one level"),
        (lambda: FORM(ROWS, 8), TypeError, "recursive_sequence_lengths: expected a list of arrays"),
        (lambda: FORM(ROWS, [[1.0, 7.0]]), TypeError, "expected integers, got dtype float64"),
        (
            lambda: LoDTensor.from_lod(ROWS[:0], [[0, 3]]),
            ValueError,
            "lod: the lengths add up to 3, but there are 0",
        ),
        (lambda: LoDTensor.from_lod(ROWS, [[0, 9, 8]]), ValueError, r"lod\[0\]: row 1 ends at 8, before"),
        (lambda: LoDTensor.from_lod(ROWS, [[1, 8]]), ValueError, r"lod\[0\]: offsets must start at 0, got 1"),
        (lambda: LoDTensor.from_lod(ROWS, [[]]), ValueError, r"lod\[0\]: offsets need at least one entry"),
        (
            lambda: ABSOLUTES(ROWS, [[0, 4, 8], [0, 3, 5, 8]]),
            ValueError,
            "offsets: sequence 0 of level 0 ends at 4, inside a sequence of level 1",
        ),
        (
            lambda: ABSOLUTES(ROWS, [[0, 3, 8], [0, 3, 3, 8]]),
            ValueError,
            "offsets: sequence 0 of level 0 ends at 3, beside an empty sequence of level 1; pass empty=",
        ),
        (
            lambda: ABSOLUTES(ROWS, [[0, 4, 8], [0, 3, 5, 8]], empty="after"),
            ValueError,
            "ends at 4, inside a sequence",
        ),
        (
            lambda: ABSOLUTES(ROWS, [[0, 4], [0, 8]]),
            ValueError,
            "offsets: the lengths of level 0 add up to 4, those of level 1 to 8",
        ),
        (
            lambda: ABSOLUTES(ROWS[:0], [[0], [0, 0]]),
            ValueError,
            "offsets: level 0 has no sequences, but level 1 has 1",
        ),
        (lambda: ABSOLUTES(ROWS, [[0, 8]], empty="both"), ValueError, "empty: expected 'before' or 'after'"),
        (lambda: STARTS_OF(ROWS, []), ValueError, "start_poses: "),
        (lambda: STARTS_OF(ROWS, [0, 4]), ValueError, "start_poses: "),
        (lambda: STARTS_OF(ROWS, [[0.5]]), TypeError, "start_poses: expected integers, got dtype float64"),
        (lambda: STARTS_OF(ROWS, [[1, 4]]), ValueError, "start_poses: vector 0 starts at 1, not at 0"),
        (lambda: STARTS_OF(ROWS, [[0, 4, 3]]), ValueError, "start_poses: vector 0 has 3 after 4"),
        (
            lambda: STARTS_OF(ROWS, [[0, 9]]),
            ValueError,
            "start_poses: vector 0 has a start at 9, but its sequence has 8 rows",
        ),
        (
            lambda: STARTS_OF(ROWS, [[0, 4], [0, 5], [0]]),
            ValueError,
            "start_poses: vector 1 has a start at 5, but its sequence has 4 rows",
        ),
        (
            lambda: STARTS_OF(ROWS, [[0, 4], [], [0]]),
            ValueError,
            "vector 1 is empty, but its sequence has 4 rows",
        ),
        (
            lambda: STARTS_OF(ROWS, [[0, 4], [0]]),
            ValueError,
            "start_poses: dim 2 needs 2 vectors from vector 1 on, but there are 2 in total",
        ),
        (
            lambda: STARTS_OF(ROWS, [[0, 4], [0], [0]], dim=1),
            ValueError,
            "start_poses: 1 dims need 1 vectors, but there are 3",
        ),
        (lambda: STARTS_OF(ROWS[:0], [[], [0]]), ValueError, "1 dims need 1 vectors, but there are 2"),
        (lambda: STARTS_OF(ROWS, [[0]], dim=0), ValueError, "dim: expected at least 1, got 0"),
        (lambda: STARTS_OF(ROWS[:0], [[]], dim=99), ValueError, "dim: expected at most 64, got 99"),
        (lambda: vl.ops.segment_ids(words(), level=2), IndexError, "level: 2 is out of range for 2 levels"),
        (
            lambda: words().slice_in_level(1, 0, 6),
            IndexError,
            "end: 6 is out of range for 5 sequences of level 1",
        ),
        (lambda: words().slice_in_level(0, 2, 1), ValueError, "begin: 2 is after end, 1"),
        (lambda: words().sub_lod(0, -1, 1), ValueError, "begin: expected at least 0, got -1"),
        (lambda: words().sub_lod(-3, 0, 1), IndexError, "level: -3 is out of range for 2 levels"),
        (
            lambda: words().add_level([1]),
            ValueError,
            "lengths: the lengths add up to 1, but there are 2 values",
        ),
        (
            lambda: words().add_level([2, 3], 1),
            ValueError,
            "sequence 0 of level 0 ends at 3, inside a sequence of level 1",
        ),
        (lambda: words().add_level([3, 0, 2], 1), ValueError, "beside an empty sequence of level 1"),
        (lambda: words().add_level([2, 2], 1), ValueError, "level 0 add up to 5, those of level 1 to 4"),
        (
            lambda: words().add_level([2], 3),
            IndexError,
            "level: 3 is out of range: a new [a-z]+ can have number 0 to 2",
        ),
        (lambda: words().drop_level(2), IndexError, "level: 2 is out of range for 2 levels"),
        (lambda: LoDTensor([1], [1]).drop_level(), ValueError, "level: a Ragged needs at least one"),
    ],
)
def test_bad_input_is_refused_by_name_and_place(call, error, text):
    with pytest.raises(error, match=text):
        call()
