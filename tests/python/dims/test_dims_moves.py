"""Positions that move along dims, against the model of them."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.dims import lines
from oracles.dims import moves as model
from varlen import Dim, dims
from varlen.testing.model import Axis, Model, differences, walk
from varlen.testing.strategies_data import bound, data_of, sample_of, samples, values

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
few = settings(max_examples=60, report_multiple_bugs=False)


def agree(found, expected, ordered=True):
    assert differences(Model.from_data(found), expected, tolerance=1e-9, ordered=ordered) is None


def one_of(x, data):
    """One of the dims of a sample."""
    assume(x.dims)
    return data.draw(st.sampled_from(x.dims))


@few
@given(samples(finite=False), st.data())
def test_reverse_turns_rows_of_any_dim(x, data):
    dim = one_of(x, data)
    agree(dims.reverse(data_of(x), dim), model.reverse(x.model, dim))


@few
@given(samples("int64"), st.integers(-3, 3), st.data())
def test_shift_keeps_the_lengths_of_any_dim(x, amount, data):
    dim = one_of(x, data)
    agree(dims.shift(data_of(x, "int64"), dim, amount, value=7), model.shift(x.model, dim, amount, value=7))


@few
@given(samples("int64"), st.integers(0, 3), st.integers(0, 3), st.data())
def test_pad_is_at_the_ends_of_rows_of_any_dim(x, left, right, data):
    dim = one_of(x, data)
    mode = data.draw(st.sampled_from(["constant", "reflect", "replicate"]))
    found = dims.pad(data_of(x, "int64"), dim, left, right, value=5, mode=mode)
    agree(found, model.pad(x.model, dim, left, right, value=5, mode=mode))


bounds = st.none() | st.integers(-4, 4)


@few
@given(samples("int64"), bounds, bounds, st.sampled_from([1, 1, 2, 3, -1, -2]), st.data())
def test_slice_is_that_of_a_list_in_each_row(x, start, end, step, data):
    dim, out = one_of(x, data), Dim("out")
    found = dims.slice(data_of(x, "int64"), dim, start, end, step, out_dim=out)
    agree(found, model.slice_dim(x.model, dim, start, end, step, out_dim=out))


@few
@given(samples("int64"), st.none() | st.integers(-4, 4), st.integers(0, 3), st.data())
def test_slice_of_a_size_is_cut_at_the_end_of_the_row(x, start, size, data):
    dim, out = one_of(x, data), Dim("out")
    found = dims.slice(data_of(x, "int64"), dim, start, size=size, out_dim=out)
    agree(found, model.slice_dim(x.model, dim, start, size=size, out_dim=out))


def beside(x, dim, data):
    """Values over the dims of a sample, in any order, but for one: another dim is in its place."""
    new, found = Dim("part"), {}
    for each in sorted(x.dims, key=lambda each: len(each.over)):
        if each != dim and not each.over:
            found[each] = each
            continue
        over = [found[outer] for outer in each.over]
        count = len(walk([Axis.from_dim(outer) for outer in over]))
        if each == dim or dim in each.over:
            lengths = data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
            found[each] = bound(new if each == dim else each, lengths, over)
        else:
            found[each] = each
    order = data.draw(st.permutations(list(found.values())))
    count = len(walk([Axis.from_dim(each) for each in order]))
    return sample_of(order, data.draw(st.lists(values("int64"), min_size=count, max_size=count))), found[dim]


@few
@given(samples("int64"), st.data())
def test_concat_joins_rows_and_split_is_the_way_back(x, data):
    dim = one_of(x, data)
    y, new = beside(x, dim, data)
    a, b = data_of(x, "int64"), data_of(y, "int64")
    joined = dims.concat((a, dim), (b, new))
    agree(joined, model.concat([(x.model, dim), (y.model, new)]))
    total = dim + new
    for pieces in ([dim, new], [Dim("first"), new], [dim, Dim("second")]):
        first, second = dims.split(joined, total, pieces)
        agree(first.replace_dim(pieces[0], dim) if pieces[0] != dim else first, x.model)
        agree(second.replace_dim(pieces[1], new) if pieces[1] != new else second, y.model, ordered=False)


@few
@given(samples("int64"), st.integers(1, 3), st.data())
def test_stack_is_along_a_first_dim(x, count, data):
    parts = [x] + [sample_of(data.draw(st.permutations(x.dims)), range(1000)) for _ in range(count - 1)]
    new = Dim(count, name="parts")
    found = dims.stack([data_of(part, "int64") for part in parts], new)
    agree(found, model.stack([part.model for part in parts], new))


@few
@given(samples("int64"), st.data())
def test_pad_of_a_dim_differs_by_row(x, data):
    dim = one_of(x, data)
    over = list(dim.over) or [each for each in x.dims if each != dim and not each.over]
    count = len(walk([Axis.from_dim(each) for each in over]))
    drawn = [data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count)) for _ in range(2)]
    left, right = (
        bound(Dim(name), lengths, over) for name, lengths in zip(("left", "right"), drawn, strict=True)
    )
    assume(dim not in left.over)
    mode = data.draw(st.sampled_from(["constant", "reflect", "replicate"]))
    found = dims.pad(data_of(x, "int64"), dim, left, right, value=5, mode=mode)
    agree(found, model.pad(x.model, dim, left, right, value=5, mode=mode))


@few
@given(samples("int64"), st.data())
def test_slice_starts_where_each_row_says(x, data):
    dim = one_of(x, data)
    over = [each for each in x.dims if each != dim and dim not in each.over]
    over = data.draw(st.lists(st.sampled_from(over), unique=True)) if over else []
    over = [each for each in x.dims if any(each == o or each in o.over for o in over)]
    count = len(walk([Axis.from_dim(each) for each in over]))
    ends = [data.draw(st.lists(st.integers(-4, 4), min_size=count, max_size=count)) for _ in range(2)]
    start, end = (sample_of(over, each) for each in ends)
    step, out = data.draw(st.sampled_from([1, 2, -1])), Dim("out")
    found = dims.slice(
        data_of(x, "int64"), dim, data_of(start, "int64"), data_of(end, "int64"), step, out_dim=out
    )
    agree(found, model.slice_dim(x.model, dim, start.model, end.model, step, out_dim=out))


paddings = st.sampled_from(["same", "valid", 0, 1, 2])


@few
@given(samples("int64"), st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), paddings, st.data())
def test_windows_read_their_row_alone(x, size, stride, dilation, padding, data):
    dim, width = one_of(x, data), Dim(size, name="width")
    how = {"stride": stride, "dilation": dilation, "padding": padding}
    found = dims.window(data_of(x, "int64"), dim, width, **how)
    out = dims.conv_out_dim(dim, size, **how) if dilation > 1 else None
    agree(found, lines.window(x.model, dim, width, out_dim=out, **how))


@few
@given(samples(), st.sampled_from(["max", "mean", "sum", "logsumexp"]), st.data())
def test_pool_counts_what_is_in_the_row(x, mode, data):
    dim = one_of(x, data)
    assume(not any(dim in each.over for each in x.dims))
    size, stride = data.draw(st.integers(1, 3)), data.draw(st.none() | st.integers(1, 3))
    how = {"dilation": data.draw(st.integers(1, 2)), "padding": data.draw(paddings)}
    found = dims.pool(data_of(x), mode, dim, size, stride, **how)
    agree(found, lines.pool(x.model, mode, dim, size, stride=stride, **how))


@few
@given(samples(min_size=1), st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), paddings, st.data())
def test_conv1d_goes_along_any_dim(x, size, stride, dilation, padding, data):
    static = [each for each in x.dims if each.is_static]
    assume(static and len(x.dims) > 1)
    comes = data.draw(st.sampled_from(static))
    dim = data.draw(st.sampled_from([each for each in x.dims if each != comes]))
    assume(not any({dim, comes} & set(each.over) for each in x.dims))
    taps, goes = Dim(size, name="taps"), Dim(2, name="out")
    weights = data.draw(st.permutations([taps, comes, goes]))
    filter = sample_of(weights, [i % 5 - 2.0 for i in range(100)])
    how = {"stride": stride, "dilation": dilation, "padding": padding}
    found = dims.conv1d(data_of(x), data_of(filter), dim, comes, goes, **how)
    agree(found, lines.conv1d(x.model, filter.model, dim, taps, comes, **how), ordered=False)
