"""Values over named dims against the model of them: any dims, any order, any lengths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.dims import arithmetic as model
from oracles.dims.axes import to_padded
from varlen import Data, dims
from varlen.testing.model import Model, differences, transpose
from varlen.testing.strategies_data import data_of, orders, other_over, samples

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
few = settings(max_examples=40, report_multiple_bugs=False)


def agree(found, expected, ordered=True):
    assert differences(Model.from_data(found), expected, tolerance=1e-9, ordered=ordered) is None


@given(samples(finite=False), st.data())
def test_data_holds_the_valid_positions(x, data):
    made = data_of(x)
    agree(made, x.model)
    other = data.draw(orders(x))
    agree(made.transpose(other.dims), other.model)
    nested = transpose(x.model, sorted(x.dims, key=lambda dim: len(dim.over)))
    ordered = made.transpose(nested.dims)
    assert ordered.to_list() == nested.to_list() or not x.model.table or np.isnan(made.values).any()


@given(samples())
def test_lists_give_back_what_they_were_made_of(x):
    order = sorted(x.dims, key=lambda dim: len(dim.over))
    x = transpose(x.model, order)
    agree(Data.from_list(x.to_list(), order, dtype="float64"), x)


@given(samples("int64"), st.sampled_from(["left", "right"]))
def test_rectangles_hold_what_the_model_says(x, side):
    assert data_of(x, "int64").to_padded(fill=77, side=side).tolist() == to_padded(
        x.model, fill=77, side=side
    )


@pytest.mark.parametrize("mode", model.EMPTY)
@few
@given(st.data())
def test_reductions_are_over_any_dims(mode, data):
    dtype = "bool" if mode in ("any", "all") else "float64"
    x = data.draw(samples(dtype))
    gone = [dim for dim in x.dims if data.draw(st.booleans())]
    if mode in ("argmax", "argmin"):  # on several dims they are ordinals, which are a law of their own
        gone = gone[:1]
    agree(dims.reduce(data_of(x, dtype), mode, gone), model.reduce(x.model, mode, gone))


@few
@given(samples("int64"), st.data())
def test_sums_of_integers_are_exact(x, data):
    gone = [dim for dim in x.dims if data.draw(st.booleans())]
    agree(dims.reduce(data_of(x, "int64"), "sum", gone), model.reduce(x.model, "sum", gone))


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@few
@given(st.data())
def test_softmax_is_over_any_dims(name, data):
    x = data.draw(samples())
    along = [dim for dim in x.dims if data.draw(st.booleans())]
    scale = data.draw(st.sampled_from([1.0, 0.5, 3.0]))
    agree(
        getattr(dims, name)(data_of(x), along, scale=scale), getattr(model, name)(x.model, along, scale=scale)
    )


@pytest.mark.parametrize("name", ["add", "sub", "mul", "maximum", "lt", "eq"])
@few
@given(st.data())
def test_operands_line_up_by_their_dims(name, data):
    x = data.draw(samples())
    y = data.draw(other_over(x, "BTSUVZHF"))
    names = {"lt": "<", "eq": "=="}
    found = dims.combine(names.get(name, name), data_of(x), data_of(y))
    agree(found, model.combine(name, x.model, y.model))
    agree(dims.combine(names.get(name, name), data_of(y), data_of(x)), model.combine(name, y.model, x.model))


@few
@given(samples("bool"), st.data())
def test_where_lines_up_by_dims(x, data):
    a, b = (data.draw(other_over(x, "BTSUVZHF")) for _ in range(2))
    found = dims.where(data_of(x, "bool"), data_of(a), data_of(b))
    agree(found, model.where(x.model, a.model, b.model))


@settings(max_examples=150, report_multiple_bugs=False)
@given(samples(), st.data())
def test_dot_sums_over_any_dims(x, data):
    y = data.draw(other_over(x, "BTSUVZHF"))
    gone = [dim for dim in x.dims if data.draw(st.booleans())]
    agree(dims.dot(data_of(x), data_of(y), gone), model.dot(x.model, y.model, gone))


@pytest.mark.parametrize("mode", ["argmax", "argmin"])
@few
@given(st.data())
def test_places_on_several_dims_count_their_positions_as_asked(mode, data):
    x = data.draw(samples())
    gone = data.draw(st.permutations([dim for dim in x.dims if data.draw(st.booleans())]))
    agree(dims.reduce(data_of(x), mode, gone), model.reduce(x.model, mode, gone))


@few
@given(samples(finite=False), st.data())
def test_reductions_take_infinities_and_nan(x, data):
    gone = [dim for dim in x.dims if data.draw(st.booleans())]
    for mode in ("max", "min", "logsumexp", "logmeanexp"):
        agree(dims.reduce(data_of(x), mode, gone), model.reduce(x.model, mode, gone))
