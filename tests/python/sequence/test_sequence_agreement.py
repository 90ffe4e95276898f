"""`sequence_f(r)`, `ops.f(r)` and `r.f()` give the same numbers in the same kind of container."""

import numpy as np
import pytest
import varlen as vl
from varlen import ops, sequence

VALUES = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0])


def pool(kind):
    return lambda r, level: sequence.sequence_pool(r, kind, pad_value=0, level=level)


# By the name of the sequence op: what it gives, what the function of `ops` gives, what the method gives.
FORMS = {
    "softmax": (
        lambda r, level: sequence.sequence_softmax(r, level=level),
        lambda r, level: ops.softmax(r, level=level),
        lambda r, level: r.softmax(level=level),
    ),
    "reverse": (
        lambda r, level: sequence.sequence_reverse(r, level=level),
        lambda r, level: ops.reverse(r, level=level),
        lambda r, level: r.reverse(level=level),
    ),
    "pool sum": (
        pool("sum"),
        lambda r, level: ops.reduce_sum(r, level=level),
        lambda r, level: r.sum(level=level),
    ),
    "pool average": (
        pool("average"),
        lambda r, level: ops.reduce_mean(r, level=level),
        lambda r, level: r.mean(level=level),
    ),
    "pool max": (
        pool("max"),
        lambda r, level: ops.reduce_max(r, level=level, empty=0),
        lambda r, level: r.max(level=level, empty=0),
    ),
    "pool first": (
        pool("first"),
        lambda r, level: ops.reduce_first(r, level=level, empty=0),
        lambda r, level: r.first(level=level, empty=0),
    ),
    "pool last": (
        pool("last"),
        lambda r, level: ops.reduce_last(r, level=level, empty=0),
        lambda r, level: r.last(level=level, empty=0),
    ),
    "first_step": (
        lambda r, level: sequence.sequence_first_step(r, level=level),
        lambda r, level: ops.reduce_first(r, level=level, empty=0),
        lambda r, level: r.first(level=level, empty=0),
    ),
    "last_step": (
        lambda r, level: sequence.sequence_last_step(r, level=level),
        lambda r, level: ops.reduce_last(r, level=level, empty=0),
        lambda r, level: r.last(level=level, empty=0),
    ),
    "concat": (
        lambda r, level: sequence.sequence_concat([r, r], level=level),
        lambda r, level: ops.concatenate([r, r], axis=level % len(r.levels) + 1),
        lambda r, level: vl.concatenate([r, r], axis=level % len(r.levels) + 1),
    ),
}


def containers():
    for make in (np.asarray, as_tensor):
        for lengths in ([2, 0, 3, 1], [[2, 1, 0], [3, 0, 3]]):
            yield pytest.param(make, lengths, id=f"{make.__name__}-{np.ndim(lengths[0]) + 1}")


def as_tensor(values):
    return pytest.importorskip("torch").from_numpy(values.copy())


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, vl.Ragged):
        assert a.levels == b.levels
        same(a.values, b.values)
        return
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize(("make", "lengths"), [*containers()])
def test_three_forms_agree(name, make, lengths):
    r = vl.Ragged(make(VALUES), lengths)
    for level in range(-len(r.levels), len(r.levels)):
        found, *others = (form(r, level) for form in FORMS[name])
        for other in others:
            same(found, other)


@pytest.mark.parametrize(("make", "lengths"), [*containers()])
def test_rectangles_agree(make, lengths):
    r = vl.Ragged(make(VALUES), lengths)
    block, counts = sequence.sequence_pad(vl.Ragged(r.values, levels=r.levels[-1:]), 0)
    inner = vl.Ragged(r.values, levels=r.levels[-1:])
    same(block, inner.to_dense())
    same(np.asarray(counts), inner.lengths)
    same(sequence.sequence_unpad(block, counts), vl.Ragged.from_dense(block, inner.lengths))
    marks = sequence.sequence_mask(inner.lengths, dtype="bool")
    same(marks, ops.mask(inner.lengths))
    same(marks, inner.to_dense(mask=True)[1] if isinstance(r.values, np.ndarray) else marks)


@pytest.mark.parametrize(("make", "lengths"), [*containers()])
def test_expanded_rows_agree(make, lengths):
    r = vl.Ragged(make(VALUES), lengths)
    for level in range(len(r.levels)):
        rows = make(np.arange(float(len(r.levels[level]))))
        same(sequence.sequence_expand_as(rows, r, level=level), r.broadcast_rows(rows, level=level))
    inner = vl.Ragged(r.values, levels=r.levels[-1:])
    rows = make(np.arange(float(len(inner))))
    same(sequence.sequence_expand(rows, inner), inner.broadcast_rows(rows).values)
