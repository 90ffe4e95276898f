"""Laws of ops over named dims, held by the model that values are compared with."""

import pytest
from dims_ops import MODEL, OPS, drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen.dims import batch_dim
from varlen.testing.model import Model, differences, take
from varlen.testing.strategies_data import orders, row_alone, samples

# Of each op of the table.
few = settings(max_examples=8)


def run(op, operands):
    return op.run(MODEL, operands[0].letters(), *(operand.model for operand in operands))


@given(samples(finite=False))
def test_nested_lists_and_models_are_the_same(x):
    assert differences(Model.from_list(x.dims, x.nested), x.model) is None
    assert repr(Model.from_list(x.dims, x.nested).to_list()) == repr(x.nested) or not x.model.table
    assert differences(Model.from_data(x.model), x.model) is None


@given(samples(shapes=["B", "BT", "BTF", "BTS", "BTU", "BTUF", "BHV", "BZ", "BHTS"]), st.data())
def test_a_row_alone_is_the_slice_of_the_batch(x, data):
    rows = x.model.axis(batch_dim).length({})
    for row in range(rows):
        alone = row_alone(x, row)
        assert differences(Model.from_list(alone.dims, alone.nested), take(x.model, batch_dim, [row])) is None


@pytest.mark.parametrize("name", OPS)
@few
@given(st.data())
def test_the_order_of_dims_changes_no_result(name, data):
    op = OPS[name]
    operands = data.draw(drawn(op))
    others = [data.draw(orders(operand)) for operand in operands]
    assert differences(run(op, others), run(op, operands), tolerance=1e-9, ordered=False) is None


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if op.keeps_rows])
@few
@given(st.data())
def test_each_row_alone_gives_its_slice_of_the_batch(name, data):
    op = OPS[name]
    operands = data.draw(drawn(op))
    whole = run(op, operands)
    for row in range(operands[0].model.axis(batch_dim).length({})):
        one = [row_alone(each, row) if batch_dim in each.dims else each for each in operands]
        here = take(whole, batch_dim, [row]) if batch_dim in whole.dims else whole
        assert differences(run(op, one), here, tolerance=1e-9) is None
