"""Values taken, brought and cut by position, against the model of named dims: any dims, any order."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.dims import lines, moves
from varlen import Dim, dims
from varlen.testing.model import Model, differences, walk
from varlen.testing.strategies_data import Sample, data_of, other_over, samples

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
few = settings(max_examples=60, report_multiple_bugs=False)


def agree(found, expected, ordered=True):
    assert differences(Model.from_data(found), expected, tolerance=1e-9, ordered=ordered) is None


def one_dim(data, x):
    assume(x.dims)
    return data.draw(st.sampled_from(x.dims))


def refused(function, *args, **options):
    try:
        return function(*args, **options)
    except (ValueError, KeyError, StopIteration):
        assume(False)


def made_of(model, dtype="int64"):
    """A Data of a model, whose axes are those of bound dims."""
    return data_of(Sample(model.dims, model.to_list(), model), dtype)


def letters_of(x, gone, itself=False):
    """Dims that a partner may have where some go: none that is over those."""
    there = [(letter, dim) for letter, dim in x.letters().items() if not {*gone} & {*dim.over}]
    return "".join([letter for letter, dim in there if itself or dim not in gone])


@few
@given(samples(), st.data())
def test_gather_takes_numbers_and_sequences(x, data):
    dim = one_dim(data, x)
    over = data.draw(other_over(x, letters_of(x, [dim]), "int64")).model
    if data.draw(st.booleans()):
        over = moves.expand(over, Dim(data.draw(st.integers(0, 3)), name="new"))
    clip = data.draw(st.booleans())
    table = {at: n if clip else abs(n) % 2 for at, n in over.table.items()}
    indices = Model(over.axes, table)
    try:
        rows = [axis for axis in x.model.axes if axis.dim in (dim, *dim.over)]
        moves.gather(moves.fill(rows, lambda _: 0), indices, dim, clip=clip)
        expected = moves.gather(x.model, indices, dim, clip=clip)
    except IndexError:
        with pytest.raises(IndexError, match=f"no position of '{dim.name}'"):
            dims.gather(data_of(x), made_of(indices), dim, clip=clip)
        return
    found = dims.gather(data_of(x), made_of(indices), dim, clip=clip)
    agree(found, expected)


@pytest.mark.parametrize("mode", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@settings(max_examples=20, report_multiple_bugs=False)
@given(st.data())
def test_scans_go_along_any_dim(mode, exclusive, reverse, data):
    x = data.draw(samples())
    dim = one_dim(data, x)
    scan = getattr(dims, f"cum{mode}")
    expected = lines.cumulate(x.model, mode, dim, exclusive=exclusive, backward=reverse)
    agree(scan(data_of(x), dim, exclusive=exclusive, reverse=reverse), expected)


@few
@given(samples(finite=False), st.data(), st.booleans())
def test_sort_is_along_any_dim(x, data, descending):
    dim = one_dim(data, x)
    values, places = lines.sort(x.model, dim, descending=descending)
    found, at = dims.sort(data_of(x), dim, descending=descending)
    agree(found, values)
    agree(at, places)
    assert at.sparse_dim == dim
    agree(dims.argsort(data_of(x), dim, descending=descending), places)


@few
@given(samples(finite=False), st.data(), st.integers(1, 4))
def test_top_k_is_over_any_dims(x, data, k):
    assume(x.dims)
    gone = data.draw(st.lists(st.sampled_from(x.dims), min_size=1, max_size=3, unique=True))
    found, at, new = dims.top_k(data_of(x), gone, k)
    values, places = refused(lines.top_k, x.model, gone, k, new)
    agree(found, values)
    assert [each.sparse_dim for each in at] == gone
    for one, other in zip(at, places, strict=True):
        agree(one, other)


@few
@given(samples(finite=False), st.data())
def test_unique_is_along_any_dim(x, data):
    dim = one_dim(data, x)
    assume(not any(dim in each.over for each in x.dims))
    values, inverse, counts, new = dims.unique(data_of(x), dim)
    for found, expected in zip((values, inverse, counts), lines.unique(x.model, dim, new), strict=True):
        agree(found, expected)


@few
@given(samples(finite=False), st.data(), st.booleans())
def test_search_sorted_is_along_any_dim(x, data, right):
    dim = one_dim(data, x)
    assume(not any(dim in each.over for each in x.dims))
    values = data.draw(other_over(x, letters_of(x, [dim]), finite=False))
    ordered = lines.sort(x.model, dim)[0]
    side = "right" if right else "left"
    found = dims.search_sorted(dims.sort(data_of(x), dim)[0], data_of(values), dim, side=side)
    agree(found, lines.search_sorted(ordered, dim, values.model, right=right))


@few
@given(samples(), st.data())
def test_repeat_is_along_any_dim(x, data):
    dim = one_dim(data, x)
    if data.draw(st.booleans()):
        counts = data.draw(st.integers(0, 3))
        found, new = dims.repeat(data_of(x), dim, counts)
        assert new == dim * counts
        agree(found, moves.repeat(x.model, dim, counts))
        return
    drawn = data.draw(other_over(x, letters_of(x, [dim], itself=True), "int64"))
    counts = Model(drawn.model.axes, {at: abs(n) % 4 for at, n in drawn.model.table.items()})
    out = Dim(name="out")
    expected = refused(moves.repeat, x.model, dim, counts, out)
    found, new = dims.repeat(data_of(x), dim, made_of(counts), out)
    assert new == out
    agree(found, expected)


def some_of(data, x):
    assume(x.dims)
    return data.draw(st.lists(st.sampled_from(x.dims), min_size=1, max_size=3, unique=True))


@few
@given(samples(), st.data())
def test_masks_take_positions_of_any_dims(x, data):
    mask = data.draw(other_over(x, "BTSUVZHF", "bool"))
    gone = [dim for dim in some_of(data, x) if dim in mask.dims]
    assume(gone)
    out = Dim(name="out")
    expected = refused(moves.masked_select, x.model, mask.model, gone, out)
    assume(all(each in x.dims for each in mask.dims))
    found, new = dims.masked_select(data_of(x), data_of(mask, "bool"), gone, out)
    agree(found, expected)
    backup = data.draw(st.sampled_from([0.0, -1.5]))
    there = refused(moves.masked_scatter, expected, new, mask.model, gone, backup=backup)
    back = dims.masked_scatter(found, data_of(mask, "bool"), gone, backup=backup, in_dim=new)
    agree(back, there)


@few
@given(samples(), st.data())
def test_flatten_takes_valid_positions_in_order(x, data):
    gone = some_of(data, x)
    out = Dim(name="out")
    expected = refused(moves.flatten, x.model, gone, out)
    found = dims.flatten(data_of(x), gone, out)
    agree(found, expected)


def regular(x, dim, gone):
    """Whether a dim has one length along those that go, whatever the others."""
    over = [axis for axis in x.axes if axis.dim in dim.over]
    lengths = {}
    for at in walk(over):
        others = tuple(n for each, n in at.items() if each not in gone)
        lengths.setdefault(others, set()).add(x.axis(dim).length(at))
    return all(len(each) == 1 for each in lengths.values())


@few
@given(samples(), st.data())
def test_merge_dims_is_the_product(x, data):
    gone = some_of(data, x)
    try:
        expected = moves.merge_dims(x.model, gone)
    except dims.LengthMismatchError:
        with pytest.raises(dims.LengthMismatchError, match="flatten"):
            dims.merge_dims(data_of(x), gone)
        return
    except (ValueError, KeyError, StopIteration):
        assume(False)
    ragged = any(not regular(x.model, dim, gone) for dim in gone)
    if ragged:  # so many times nothing is a rectangle to the model
        assert not expected.table
        with pytest.raises(dims.LengthMismatchError, match="flatten"):
            dims.merge_dims(data_of(x), gone)
        return
    found = dims.merge_dims(data_of(x), gone)
    agree(found, expected)
    if all(not set(gone) & set(dim.over) for dim in x.dims):
        product = found.dims[min(x.dims.index(dim) for dim in gone)]
        assert found.axis(product) == product


@pytest.mark.parametrize("count", [0, 1, 3])
def test_merge_dims_of_one_that_also_lies_over_a_third(count):
    batch, head = Dim(2, name="batch"), Dim(count, name="head")
    lengths = np.tile(np.arange(count) + 1, (2, 1))
    voice = Dim(name="voice", lengths=vl.Data(lengths, [batch, head]))
    places = [(i, n, k) for i in range(2) for n in range(count) for k in range(n + 1)]
    x = vl.Data(np.arange(len(places)), [batch, head, voice])
    found = dims.merge_dims(x, [batch, voice])
    expected = sorted(range(len(places)), key=lambda at: (places[at][1], places[at][0], places[at][2]))
    assert found.values.tolist() == expected
    assert found.dims[0].lengths.tolist() == lengths.sum(0).tolist()


@few
@given(samples(), st.data(), st.booleans())
def test_split_dims_goes_by_rows(x, data, padded):
    dim = one_dim(data, x)
    factors = [Dim(data.draw(st.integers(1, 3)), name=name) for name in "ab"[: data.draw(st.integers(0, 2))]]
    factors.insert(data.draw(st.integers(0, len(factors))), Dim(name="rest"))
    pad_value = -3.0 if padded else None
    try:
        expected = moves.split_dims(x.model, dim, factors, pad_value=pad_value)
    except dims.LengthMismatchError:
        with pytest.raises(dims.LengthMismatchError):
            dims.split_dims(data_of(x), dim, factors, pad_value=pad_value)
        return
    agree(dims.split_dims(data_of(x), dim, factors, pad_value=pad_value), expected)


@few
@given(samples(), st.data())
def test_unflatten_is_the_way_back(x, data):
    gone = some_of(data, x)
    assume(not any(dim in each.over for each in x.dims if each not in gone for dim in gone))
    out = Dim(name="out")
    refused(moves.flatten, x.model, gone, out)
    flat = dims.flatten(data_of(x), gone, out)
    back = dims.unflatten(flat, out, gone)
    agree(back, x.model, ordered=False)


SCATTERED = ["sum", "mean", "max", "min", "prod", "logsumexp"]


@pytest.mark.parametrize("mode", SCATTERED)
@settings(max_examples=30, report_multiple_bugs=False)
@given(st.data())
def test_scatter_brings_numbers_to_positions(mode, data):
    x = data.draw(samples())
    drawn = data.draw(other_over(x, "BTSUVZHF", "int64"))
    gone = [dim for dim in some_of(data, x) if dim in drawn.dims]
    assume(gone)
    size = data.draw(st.integers(1, 3))
    indices = Model(drawn.model.axes, {at: n % size for at, n in drawn.model.table.items()})
    out = Dim(size, name="out")
    fill = data.draw(st.sampled_from([None, 0.0, 7.0]))
    expected = refused(moves.scatter, x.model, indices, gone, out, mode=mode, fill_value=fill)
    found = dims.scatter(data_of(x), made_of(indices), out, mode=mode, fill=fill, axis=gone)
    agree(found, expected)
