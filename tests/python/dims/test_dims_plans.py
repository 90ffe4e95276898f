"""Plans of ops are kept for dims that come again, and for no others."""

import numpy as np
import pytest
import varlen as vl
from varlen.dims import plan_cache as plans

BATCH = vl.dims.batch_dim
TIME = vl.Dim("time")
FEATURE = vl.Dim("feature", 2)
WORDS = vl.Dim("words", 3)

MOVES = {
    "pad": lambda x: vl.dims.pad(x, TIME, 1, 2, value=9),
    "pad by a mode": lambda x: vl.dims.pad(x, TIME, 1, mode="reflect"),
    "slice": lambda x: vl.dims.slice(x, TIME, 1),
    "slice to an end": lambda x: vl.dims.slice(x, TIME, end=2, out_dim=vl.Dim("part")),
    "window": lambda x: vl.dims.window(x, TIME, vl.Dim("width", 2), padding="valid"),
    "concat": lambda x: vl.dims.concat((x, TIME), (x, TIME)),
    "gather": lambda x: vl.dims.gather(x, vl.Data(np.array([0, 0]), [BATCH]), TIME),
    "masked_select": lambda x: vl.dims.masked_select(x, x > 1, TIME)[0],
    "one_hot": lambda x: vl.dims.one_hot(x % 3, WORDS),
    "dropout": lambda x: vl.dims.dropout(x * 1.0, 0.5, generator=0),
    "cross_entropy": lambda x: vl.dims.cross_entropy(vl.dims.one_hot(x % 3, WORDS), x % 3, WORDS),
}


def data(lengths):
    return vl.Data(np.arange(sum(lengths)), [BATCH, TIME.bind(lengths)])


@pytest.mark.parametrize("name", MOVES)
def test_a_dim_bound_anew_has_a_plan_of_its_own(name):
    move = MOVES[name]
    each = [3, 1], [1, 3], [3, 1], [2, 2]
    found = [move(data(lengths)).to_list() for lengths in each]
    for lengths, kept in zip(each, found, strict=True):
        plans._plans.entries.clear()
        assert move(data(lengths)).to_list() == kept


@pytest.mark.parametrize("name", MOVES)
def test_the_dims_of_a_plan_are_those_of_the_first_call(name):
    x = data([3, 1])
    first, again = MOVES[name](x), MOVES[name](x)
    assert [dim.name for dim in again.dims] == [dim.name for dim in first.dims]
    assert again.values.shape == first.values.shape


def test_a_declaration_makes_plans_out_of_date():
    a, b = vl.Dim("a", lengths=[2, 1]), vl.Dim("b", lengths=[2, 1])
    x = vl.Data(np.arange(3), [BATCH, a])
    assert vl.dims.pad(x, a, 1).axis(1 + a).lengths.tolist() == [3, 2]
    with pytest.raises(IndexError, match="not among"):
        vl.dims.pad(x, a, 1).axis(1 + b)
    a.declare_same_as(b)
    assert vl.dims.pad(x, a, 1).axis(1 + b).lengths.tolist() == [3, 2]


def test_what_equals_a_number_of_a_plan_is_still_refused():
    x = data([3, 1])
    vl.dims.pad(x, TIME, 1)
    vl.dims.slice(x, TIME, 1)
    with pytest.raises(TypeError, match="left"):
        vl.dims.pad(x, TIME, True)
    with pytest.raises(TypeError, match="start"):
        vl.dims.slice(x, TIME, True)
    with pytest.raises(TypeError, match="left"):
        vl.dims.pad(x, TIME, 1.0)


def test_refusals_are_said_again():
    x = data([3, 1])
    for _ in range(2):
        with pytest.raises(ValueError, match="left: expected at least 0, got -1"):
            vl.dims.pad(x, TIME, -1)


def test_equal_dims_of_other_lengths_are_other_keys():
    made = []

    @plans.cached_plan
    def plan(dim, count):
        made.append(dim)
        return dim + count

    short, long = TIME.bind([1, 1]), TIME.bind([2, 2])
    assert plan(short, 1) is plan(short, 1)
    assert plan(long, 1).lengths.tolist() == [3, 3]
    assert len(made) == 2


def test_plans_are_few_and_small():
    held = plans._Plans()
    for k in range(3 * plans._MOST):
        held.keep(k, (), (), 1)
    assert len(held.entries) == plans._MOST
    held.keep("much", (np.zeros(plans._MOST_BYTES, np.int8),), (), 1)
    assert "much" not in held.entries
    part = np.zeros(plans._MOST_BYTES // 5, np.int8)
    for k in range(20):
        held.keep((k, "part"), (part,), (), 1)
    assert held.bytes <= plans._MOST_BYTES
    assert held.bytes == sum(size for _, _, size in held.entries.values())
    held.keep("later", (), (), 2)
    assert list(held.entries) == ["later"]
