"""Spans taken out of sequences, rows put in, pieces aligned; and the ways back."""

import numpy as np
import pytest
import varlen as vl
from doors import INTEGERS, doors, refuses
from hypothesis import given
from hypothesis import strategies as st
from oracles import scatter as plain
from oracles import verbs as oracle
from varlen import _core, ops
from varlen.testing import strategies


@st.composite
def sequences(draw, something):
    """Lengths, and for each sequence a list of what `something(length)` draws."""
    lengths = draw(strategies.lengths(max_rows=6))
    return lengths, [draw(st.lists(something(length), max_size=4)) for length in lengths]


def a_span(length):
    ends = st.tuples(st.integers(0, length), st.integers(0, length))
    return ends.map(lambda pair: (min(pair), max(pair)))


def a_token(length):
    return st.lists(st.integers(0, length - 1), max_size=4) if length else st.just([])


def flat(named):
    return [x for some in named for x in some]


def ids(named):
    return np.array([i for i, some in enumerate(named) for _ in some], np.int64)


def counts(named):
    return np.array([len(some) for some in named], np.int64)


def pairs_of(at):
    return np.array(flat(at), np.int64).reshape(-1, 2)


def bits(nested, X):
    """The rows of X that numbers of rows stand for, laid end to end."""
    while any(isinstance(x, list) for x in nested):
        nested = flat(nested)
    return b"".join(X[t : t + 1].tobytes() for t in nested)


@given(st.data(), sequences(a_span), strategies.dtypes())
def test_spans_are_the_oracles(data, drawn, dtype):
    lengths, at = drawn
    X = data.draw(strategies.rows(sum(lengths), dtype))
    want = plain.spans(oracle.nest(range(sum(lengths)), [lengths]), at)
    r = vl.Ragged(pairs_of(at), counts(at))
    got = ops.spans(vl.Ragged(X, lengths), r)
    assert got.values.tobytes() == bits(want, X)
    assert got.dtype == X.dtype
    assert got.shape[3:] == X.shape[1:]
    assert got.levels[0] is r.levels[0]
    assert got.levels[1].lengths.tolist() == [b - a for a, b in flat(at)]
    again = ops.spans(X, pairs_of(at).astype(">i4"), lengths=lengths, row_ids=ids(at))
    assert again.values.tobytes() == got.values.tobytes()
    assert again.levels == got.levels
    assert not np.shares_memory(again.values, X)


@given(st.data(), sequences(a_token), strategies.dtypes())
def test_align_is_the_oracles(data, drawn, dtype):
    lengths, tokens = drawn
    X = data.draw(strategies.rows(sum(lengths), dtype))
    want = plain.align(oracle.nest(range(sum(lengths)), [lengths]), tokens)
    nesting = [counts(tokens), counts(flat(tokens))]
    alignment = vl.Ragged(np.array(flat(flat(tokens)), np.int32), nesting)
    got = ops.align(X, alignment, lengths=lengths)
    assert got.values.tobytes() == bits(want, X)
    assert got.levels == alignment.levels
    owner = [i for i, some in enumerate(tokens) for _ in flat(some)]
    starts = np.array(oracle.offsets(lengths), np.int64)[owner] if owner else 0
    whole = np.array(flat(flat(tokens)), np.int64) + starts
    through = vl.Ragged(whole, nesting[1])
    assert ops.align(X, through).values.tobytes() == got.values.tobytes()


@given(st.data(), sequences(lambda length: st.integers(0, length)), strategies.dtypes(), st.booleans())
def test_insert_rows_is_the_oracles(data, drawn, dtype, zeros):
    lengths, at = drawn
    at = [sorted(some) for some in at]
    X = data.draw(strategies.rows(sum(lengths), dtype))
    count = len(flat(at))
    rows = np.zeros((count, *X.shape[1:]), X.dtype)
    if not zeros:
        rows = data.draw(strategies.rows(count, X.dtype, X.shape[1:]))
    total = sum(lengths)
    new = oracle.nest(range(total, total + count), [[len(some) for some in at]])
    want = plain.insert_rows(oracle.nest(range(total), [lengths]), at, new)
    both = np.concatenate([X, rows], dtype=X.dtype)
    r = vl.Ragged(X, lengths)
    got = ops.insert_rows(r, np.array(flat(at), np.int64), rows=None if zeros else rows, row_ids=ids(at))
    assert got.values.tobytes() == bits(want, both)
    assert got.lengths.tolist() == [len(row) for row in want]
    places = vl.Ragged(np.array(flat(at), np.int64), counts(at))
    again = ops.insert_rows(X, places, rows=rows, lengths=lengths)
    assert again.values.tobytes() == got.values.tobytes()
    kept, taken = ops.backprop_insert_rows(got, places, lengths)
    assert kept.values.tobytes() == X.tobytes()
    assert kept.lengths.tolist() == list(lengths)
    assert taken.tobytes() == rows.tobytes()
    assert (
        ops.backprop_insert_rows(got.values, flat(at), lengths, row_ids=ids(at))[0].tobytes() == X.tobytes()
    )


@given(sequences(a_span), st.sampled_from(["float32", "float16", "int64", "bool"]))
def test_backprop_spans_adds_what_lies_over_each_other(drawn, dtype):
    lengths, at = drawn
    total = sum(lengths)
    taken = flat(flat(plain.spans(oracle.nest(range(total), [lengths]), at)))
    dY = np.random.default_rng(len(taken)).integers(0, 2, (len(taken), 3)).astype(dtype)
    want = np.zeros((total, 3), dtype)
    np.add.at(want, taken, dY)
    r = vl.Ragged(pairs_of(at), counts(at))
    got = ops.backprop_spans(dY, r, lengths)
    assert got.dtype == want.dtype
    assert got.tolist() == want.tolist()
    Y = ops.spans(np.zeros((total, 3), dtype), r, lengths=lengths)
    back = ops.backprop_spans(vl.Ragged(dY, levels=Y.levels), pairs_of(at), lengths, row_ids=ids(at))
    assert back.values.tolist() == want.tolist()
    assert back.lengths.tolist() == list(lengths)


@given(sequences(a_span), sequences(a_token))
def test_ways_back_are_adjoint(of_spans, of_tokens):
    rng = np.random.default_rng(0)
    lengths, at = of_spans
    X = rng.integers(-9, 9, (sum(lengths), 2))
    Y = ops.spans(X, pairs_of(at), lengths=lengths, row_ids=ids(at))
    dY = rng.integers(-9, 9, Y.values.shape)
    dX = ops.backprop_spans(dY, pairs_of(at), lengths, row_ids=ids(at))
    assert (Y.values * dY).sum() == (X * dX).sum()
    lengths, tokens = of_tokens
    nesting = [counts(tokens), counts(flat(tokens))]
    alignment = vl.Ragged(np.array(flat(flat(tokens)), np.int64), nesting)
    X = rng.integers(-9, 9, (sum(lengths), 2))
    Y = ops.align(vl.Ragged(X, lengths), alignment)
    dY = vl.Ragged(rng.integers(-9, 9, Y.values.shape), levels=Y.levels)
    dX = ops.backprop_align(dY, alignment, lengths)
    assert (Y.values * dY.values).sum() == (X * dX.values).sum()


def test_levels_above_are_kept():
    r = vl.Ragged([3, 1, 4, 1, 5], [[2, 1], [2, 1, 2]])
    at = vl.Ragged([[0, 2], [0, 1], [1, 2]], [1, 0, 2])
    result = ops.spans(r, at)
    assert result.to_list() == [[[[3, 1]], []], [[[1], [5]]]]
    assert ops.backprop_spans(result, at, r.levels[-1]).to_list() == [[[3, 1], [0]], [[1, 5]]]
    alignment = vl.Ragged([1, 0, 0, 1], [2, 0, 2])
    result = ops.align(r, alignment)
    assert result.to_list() == [[[1, 3], []], [[1, 5]]]
    assert ops.backprop_align(result, alignment, r.levels[-1]).to_list() == [[[3, 1], [0]], [[1, 5]]]
    grown = ops.insert_rows(r, vl.Ragged([0, 2, 2], [1, 0, 2]))
    assert grown.to_list() == [[[0, 3, 1], [4]], [[1, 5, 0, 0]]]


def test_one_sequence_needs_no_lengths():
    X = np.arange(4) * 10
    assert ops.spans(X, [[1, 3], [2, 2]]).to_list() == [[[10, 20], []]]
    assert ops.spans(X, []).shape == (1, None, None)
    assert ops.align(X, vl.Ragged.from_list([[3, 0], [], [1]])).to_list() == [[30, 0], [], [10]]
    assert ops.align(X, vl.Ragged.from_list([[[3], [0]]])).to_list() == [[[30], [0]]]
    assert ops.insert_rows(X, [0, 4, 4], rows=[1, 2, 3]).to_list() == [[1, 0, 10, 20, 30, 2, 3]]
    assert ops.insert_rows(X, []).to_list() == [[0, 10, 20, 30]]
    tokens = ops.reduce_mean(ops.align(X, vl.Ragged([0, 1, 2], [2, 0, 1])))
    assert tokens.tolist() == [5, 0, 20]


def test_rows_are_the_same_for_any_threads():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60_000, 33)).astype(np.float32)
    begins = np.sort(rng.integers(0, 59_000, 9000))
    at = np.stack([begins, begins + rng.integers(0, 20, 9000)], 1)
    places = np.sort(rng.integers(0, 60_001, 9000))
    before, found = vl.num_threads(), []
    try:
        for threads in (1, 3):
            vl.set_num_threads(threads)
            Y = ops.spans(X, at)
            grown = ops.insert_rows(X, places, rows=X[:9000])
            back = ops.backprop_insert_rows(grown, places, [60_000])
            found.append([Y.values, ops.backprop_spans(Y.values, at, [60_000]), grown.values, back[1]])
    finally:
        vl.set_num_threads(before)
    for one, many in zip(*found, strict=True):
        assert one.tobytes() == many.tobytes()
    assert found[0][2].tobytes() == np.insert(X, places, X[:9000], 0).tobytes()
    assert back[0].values.tobytes() == X.tobytes()


@pytest.mark.parametrize("bad", [-1, 5, 2**62, -(2**63)])
def test_rows_that_are_not_there_are_not_taken(bad):
    with pytest.raises(IndexError, match=f"index {bad} at position 1 is out of range for 5 rows"):
        _core.take_rows(np.arange(5), np.array([4, bad]))


R = vl.Ragged(np.arange(5.0), [3, 0, 2])
AT = [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("at", "error", "text"),
    [
        ([[0, 2], [1, 4]], IndexError, "span 1 of sequence 0 is 1 to 4, but the sequence has 3 rows"),
        ([[0, 2], [-1, 2]], IndexError, "span 1 of sequence 0 is -1 to 2"),
        ([[0, 2], [2, 1]], ValueError, "span 1 of sequence 0 is 2 to 1"),
        ([[0, 2], [3, 3]], None, ""),
        ([0, 2], ValueError, r"expected \(S, 2\) integers, got shape \(2,\)"),
        ([[0, 1, 2]] * 2, ValueError, r"expected \(S, 2\) integers"),
        ([[0.0, 1.0]] * 2, TypeError, "expected integers"),
        ([[False, True]] * 2, TypeError, "expected integers"),
    ],
)
def test_spans_outside_their_sequence_are_refused(at, error, text):
    rows = [0, 0]
    if error is None:
        assert ops.spans(R, at, row_ids=rows).to_list() == [[[0, 1], []], [], []]
        return
    refuses(lambda x: ops.spans(R, x, row_ids=rows), np.array(at), error, f"at: .*{text}")
    refuses(lambda x: ops.backprop_spans(R.values, x, R.lengths, row_ids=rows), np.array(at), error, text)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ops.spans(R, AT), TypeError, "row_ids: required, because X has 3 sequences"),
        (lambda: ops.spans(R, AT, row_ids=[1, 0]), ValueError, "row.ids"),
        (lambda: ops.spans(R, AT, row_ids=[0, 3]), ValueError, "row.id"),
        (lambda: ops.spans(R, AT, row_ids=[0]), ValueError, "row_ids: has 1 entries, but at has 2"),
        (lambda: ops.spans(R, vl.Ragged(AT, [1, 1])), ValueError, "at: has 2 sequences, but X has 3"),
        (
            lambda: ops.spans(R, vl.Ragged(AT, [1, 1, 0]), row_ids=[0, 0]),
            TypeError,
            "row_ids: not allowed, because at is a Ragged",
        ),
        (lambda: ops.spans(R, AT, lengths=[5]), TypeError, "lengths: not allowed, because X is a Ragged"),
        (lambda: ops.spans(R.values, AT, lengths=[4]), ValueError, "add up to 4, but X has 5 rows"),
        (lambda: ops.spans(R.values, AT, max_bytes=8), ValueError, "max_bytes=8"),
        (lambda: ops.backprop_spans(np.ones(3), AT, [5]), ValueError, "dY: has 3 rows, expected 2"),
        (lambda: ops.backprop_spans(np.ones(2, complex), AT, [5]), TypeError, "dY: expected bool"),
        (
            lambda: ops.backprop_spans(vl.Ragged([1.0, 2.0], [[2], [2, 0]]), AT, [5]),
            ValueError,
            "dY: nests differently: sequence 0 of level 1 has length 2 in one and 1 in the other",
        ),
        (lambda: ops.align(R, [[0]]), TypeError, "alignment: expected a Ragged, got list"),
        (lambda: ops.align(R, vl.Ragged([0.0], [1, 0, 0])), TypeError, "alignment: expected integers"),
        (lambda: ops.align(R, vl.Ragged([0], [1, 0])), ValueError, "has 2 sequences, but X has 3"),
        (lambda: ops.align(R, vl.Ragged([[0]], [1, 0, 0])), ValueError, "alignment: expected one dimension"),
        (
            lambda: ops.align(R, vl.Ragged([0, 1, 0, 2], [1, 0, 3])),
            IndexError,
            "alignment: entry 2 of sequence 2 is 2, but the sequence has 2 rows",
        ),
        (lambda: ops.align(R, vl.Ragged([0], [0, 1, 0])), IndexError, "entry 0 of sequence 1 is 0"),
        (lambda: ops.align(R, vl.Ragged([-1], [1, 0, 0])), IndexError, "entry 0 of sequence 0 is -1"),
        (lambda: ops.align(R.values, vl.Ragged([0], [1]), max_bytes=4), ValueError, "max_bytes=4"),
        (lambda: ops.backprop_align(np.ones(2), vl.Ragged([0], [1]), [5]), ValueError, "dY: has 2 rows"),
        (lambda: ops.insert_rows(R, [4], row_ids=[0]), IndexError, "entry 0 of sequence 0 is 4"),
        (lambda: ops.insert_rows(R, [-1], row_ids=[2]), IndexError, "entry 0 of sequence 2 is -1"),
        (lambda: ops.insert_rows(R, [2, 1], row_ids=[2, 2]), ValueError, "is 1, less than the one before"),
        (lambda: ops.insert_rows(R, [[1]], row_ids=[0]), ValueError, r"at: expected \(S,\) integers"),
        (lambda: ops.insert_rows(R, [1]), TypeError, "row_ids: required"),
        (
            lambda: ops.insert_rows(R, [1], row_ids=[0], rows=np.ones(2)),
            ValueError,
            r"rows: expected float64\(1,\)",
        ),
        (
            lambda: ops.insert_rows(R, [1], row_ids=[0], rows=np.ones(1, "f4")),
            ValueError,
            "rows: expected float64",
        ),
        (lambda: ops.insert_rows(R, [1], row_ids=[0], max_bytes=4), ValueError, "max_bytes=4"),
        (lambda: ops.backprop_insert_rows(R, [1], [5]), ValueError, "dY: nests differently"),
        (lambda: ops.backprop_insert_rows(R.values, [1], [5]), ValueError, "dY: has 5 rows, expected 6"),
    ],
)
def test_bad_input_is_refused_by_name(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    ("door", "given", "error", "text"),
    doors(
        [entry for entry in INTEGERS if np.ndim(entry[0]) == 1 and np.asarray(entry[0]).dtype.kind != "O"],
        at=lambda x: ops.insert_rows(np.arange(9), x),
    ),
)
def test_places_are_integers(door, given, error, text):
    refuses(door, given, error, text)
