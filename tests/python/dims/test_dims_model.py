"""The model of values over named dims, against cases worked out by hand."""

import math

import pytest
from oracles.dims import arithmetic, lines, moves
from oracles.dims.axes import replace_dim, to_padded
from varlen import Dim
from varlen.dims import LengthMismatchError, batch_dim
from varlen.testing.model import Axis, Model, differences, fill, take, transpose

NAN, INF = math.nan, math.inf
batch = batch_dim.bind(3)
time = Dim(name="time").bind([3, 1, 0], over=batch)
feature = Dim(2, name="feature", kind="feature")
x = Model.from_list([batch, time], [[1, 2, 3], [4], []])
wide = Model.from_list([batch, time, feature], [[[1, 10], [2, 20], [3, 30]], [[4, 40]], []])
source = Dim(name="source").bind([2, 1, 2], over=batch)
energies = Model.from_list([batch, time, source], [[[1, 2], [3, 4], [5, 6]], [[7]], []])
words = Dim(name="words").bind([2, 0, 1, 3], over=[batch, time])
nested = Model.from_list([batch, time, words], [[[1, 2], [], [3]], [[4, 5, 6]], []])


def lengths(model, dim):
    """Of a dim that is over the batch alone."""
    return [model.axis(dim).length({batch_dim: i}) for i in range(model.axis(batch_dim).length({}))]


def is_same(found, expected, **options):
    return differences(found, expected, **options) is None


def near(found, expected):
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(near, found, expected))
    return found == pytest.approx(expected, nan_ok=True)


# What a model is.


def test_only_valid_positions_are_there():
    assert x.table == {(0, 0): 1, (0, 1): 2, (0, 2): 3, (1, 0): 4}
    assert energies.axis(source).length({batch_dim: 2}) == 2
    assert (2, 0, 0) not in energies.table
    assert nested.to_list() == [[[1, 2], [], [3]], [[4, 5, 6]], []]


def test_positions_without_a_number_and_numbers_without_a_position_are_refused():
    with pytest.raises(LengthMismatchError):
        Model([batch, time], {(0, 0): 1})
    with pytest.raises(LengthMismatchError):
        Model([batch, time], {**x.table, (2, 0): 5})
    with pytest.raises(LengthMismatchError, match="has 2 items where there are 3"):
        Model.from_list([batch, time], [[1, 2], [4], []])
    with pytest.raises(ValueError, match="twice"):
        Model.from_list([feature, feature], [[1, 2], [3, 4]])


def test_lists_hold_valid_positions_in_any_order_of_the_dims():
    assert transpose(x, [time, batch]).to_list() == [[1, 4], [2], [3]]
    assert transpose(energies, [source, time, batch]).to_list() == [[[1, 7], [3], [5]], [[2], [4], [6]]]
    assert transpose(nested, [time, words, batch]).to_list() == [[[1, 4], [2, 5], [6]], [], [[3]]]
    for order in ([time, batch, words], [words, time, batch], [words, batch, time]):
        moved = transpose(nested, order)
        assert is_same(Model.from_list(moved.axes, moved.to_list()), moved)


def test_a_dim_without_the_dims_that_it_is_over_is_as_long_as_its_longest_row():
    assert Model.from_list([time], [5, 6, 7]).axis(time).length({}) == 3
    assert Axis.from_dim(words).length({}) == 3
    assert Axis.from_dim(words).length({batch_dim: 0}) == 2


def test_a_rectangle_is_filled_where_nothing_is_valid():
    assert to_padded(energies, fill=-1) == [
        [[1, 2], [3, 4], [5, 6]],
        [[7, -1], [-1, -1], [-1, -1]],
        [[-1, -1]] * 3,
    ]
    assert to_padded(energies, side="left")[1] == [[0, 0], [0, 0], [0, 7]]
    assert to_padded(transpose(x, [time, batch])) == [[1, 4, 0], [2, 0, 0], [3, 0, 0]]
    assert to_padded(nested, side="left")[0] == [[0, 1, 2], [0, 0, 0], [0, 0, 3]]


def test_differences_are_said():
    assert differences(x, x) is None
    assert "dims" in differences(transpose(x, [1, 0]), x)
    assert "3 where 4 is expected, at batch 1, time 0" in differences(Model(x.axes, x.table | {(1, 0): 3}), x)
    empty = Dim(0, name="empty")
    one, other = (Model([batch, time.bind(n, over=batch), empty], {}) for n in ([3, 1, 0], [2, 1, 0]))
    assert "length 3 where 2 is expected, of time at batch 0" in differences(one, other)
    assert is_same(Model([], {(): NAN}), Model([], {(): NAN}))
    assert not is_same(Model([], {(): 1.0}), Model([], {(): 1.0 + 1e-6}))
    assert is_same(Model([], {(): 1.0}), Model([], {(): 1.0 + 1e-6}), tolerance=1e-5)


def test_a_row_alone_has_its_own_lengths():
    assert take(nested, batch_dim, [1]).to_list() == [[[4, 5, 6]]]
    assert take(nested, batch_dim, [2]).to_list() == [[]]
    assert take(x, batch_dim, [1, 0]).to_list() == [[4], [1, 2, 3]]
    assert lengths(take(x, batch_dim, [1, 0]), time) == [1, 3]


def test_a_dim_by_another_name_takes_along_what_is_over_it():
    rows = Dim(name="rows")
    renamed = replace_dim(nested, batch_dim, rows)
    assert renamed.dims == (rows, time, words)
    assert renamed.to_list() == nested.to_list()
    assert take(renamed, rows, [1]).to_list() == [[[4, 5, 6]]]


# Reductions.


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("sum", [6, 4, 0]),
        ("prod", [6, 4, 1]),
        ("mean", [2, 4, NAN]),
        ("max", [3, 4, -INF]),
        ("min", [1, 4, INF]),
        ("logsumexp", [math.log(math.e + math.e**2 + math.e**3), 4, -INF]),
        ("logmeanexp", [math.log((math.e + math.e**2 + math.e**3) / 3), 4, NAN]),
        ("argmax", [2, 0, -1]),
        ("argmin", [0, 0, -1]),
        ("any", [True, True, False]),
        ("all", [True, True, True]),
    ],
)
def test_reductions_give_what_is_stated_for_rows_of_none(mode, expected):
    assert near(arithmetic.reduce(x, mode, [time]).to_list(), expected)


def test_max_of_no_integers_is_refused_unless_a_number_is_given():
    with pytest.raises(ValueError, match="no integers"):
        arithmetic.reduce(x, "max", [time], is_float=False)
    assert arithmetic.reduce(x, "max", [time], is_float=False, empty=-7).to_list() == [3, 4, -7]


@pytest.mark.parametrize(
    ("dims", "expected"),
    [
        ([batch, time], [10, 100]),
        ([time, feature], [66, 44, 0]),
        ([batch], [[5, 50], [2, 20], [3, 30]]),
        ([batch, feature], [55, 22, 33]),
        ([feature], [[11, 22, 33], [44], []]),
        ([batch, time, feature], 110),
        ([], [[[1, 10], [2, 20], [3, 30]], [[4, 40]], []]),
    ],
)
def test_sums_are_over_any_dims(dims, expected):
    """Where time is kept and the batch is not, each position gets the rows that have it."""
    assert arithmetic.reduce(wide, "sum", dims).to_list() == expected


def test_means_count_valid_positions_of_all_dims_together():
    assert arithmetic.reduce(x, "mean", [batch, time]).to_list() == 2.5
    assert arithmetic.reduce(x, "mean", [batch]).to_list() == [2.5, 2, 3]


def test_dims_that_are_kept_have_one_length_when_the_batch_is_gone():
    total = arithmetic.reduce(energies, "sum", [batch])
    assert total.to_list() == [[8, 2], [3, 4], [5, 6]]
    assert arithmetic.reduce(energies, "sum", [time]).to_list() == [[9, 12], [7], [0, 0]]
    assert arithmetic.reduce(energies, "max", [source]).to_list() == [[2, 4, 6], [7], []]
    assert arithmetic.reduce(nested, "sum", [time]).to_list() == [[4, 2], [4, 5, 6], []]
    assert arithmetic.reduce(nested, "max", [time]).to_list() == [[3, 2], [4, 5, 6], []]


def test_arg_gives_the_position_on_one_dim_and_the_ordinal_on_several():
    assert arithmetic.reduce(x, "argmax", [batch]).to_list() == [1, 0, 0]
    holed = Model.from_list([batch, time.bind([0, 1, 2], over=batch)], [[], [5], [7, 6]])
    assert arithmetic.reduce(holed, "argmin", [batch]).to_list() == [1, 2]
    assert arithmetic.reduce(energies, "argmax", [time, source]).to_list() == [5, 0, -1]
    assert arithmetic.reduce(energies, "argmax", [source, time]).to_list() == [5, 0, -1]
    assert arithmetic.reduce(energies, "argmin", [batch, time, source]).to_list() == 0
    assert arithmetic.fold("argmax", [1, 3, 3]) == 1
    assert arithmetic.fold("argmax", [1, NAN, 3]) == 1


def test_nan_goes_through():
    assert math.isnan(arithmetic.fold("max", [1, NAN, 3]))
    assert math.isnan(arithmetic.fold("min", [NAN, 1]))
    assert math.isnan(arithmetic.fold("logsumexp", [NAN, 1]))
    assert arithmetic.fold("logsumexp", [-INF, -INF]) == -INF
    assert arithmetic.fold("logsumexp", [INF, 1]) == INF


# Softmax.


def test_softmax_of_a_row_of_none_is_empty():
    assert near(arithmetic.softmax(x, [time]).to_list(), [[0.09003057, 0.24472847, 0.66524096], [1], []])
    assert near(arithmetic.log_softmax(x, [time]).to_list()[0], [-2.40760596, -1.40760596, -0.40760596])


def test_softmax_is_over_any_dims():
    both = arithmetic.softmax(energies, [time, source])
    assert near(arithmetic.reduce(both, "sum", [time, source]).to_list(), [1, 1, 0])
    across = arithmetic.softmax(x, [batch])
    assert near(across.to_list(), [[1 / (1 + math.exp(3)), 1, 1], [1 / (1 + math.exp(-3))], []])


def test_softmax_leaves_out_what_a_mask_says():
    mask = Model.from_list([batch, time], [[True, False, True], [False], []])
    expected = [[1 / (1 + math.exp(4)), 0, 1 / (1 + math.exp(-4))], [0], []]
    assert near(arithmetic.softmax(x, [time], scale=2.0, mask=mask).to_list(), expected)
    assert arithmetic.log_softmax(x, [time], mask=mask).to_list()[1] == [-INF]


@pytest.mark.parametrize("row", [[-INF, -INF], [INF, 1.0], [NAN, 1.0]])
def test_softmax_of_what_has_no_answer_is_nan(row):
    for op in (arithmetic.softmax, arithmetic.log_softmax):
        line = Model.from_rows([row])
        assert all(map(math.isnan, op(line, [line.dims[1]]).to_list()[0]))


# Combining.


def test_dims_of_the_second_operand_follow_those_of_the_first():
    bias = Model.from_list([feature, batch], [[1, 2, 3], [10, 20, 30]])
    total = arithmetic.combine("add", x, bias)
    assert total.dims == (batch, time, feature)
    assert total.to_list() == [[[2, 11], [3, 12], [4, 13]], [[6, 24]], []]
    assert arithmetic.combine("add", bias, x).dims == (feature, batch, time)


def test_an_operand_without_the_batch_goes_by_position():
    places = Model.from_list([Axis.fixed(time, 5)], [10, 20, 30, 40, 50])
    assert arithmetic.combine("add", x, places).to_list() == [[11, 22, 33], [14], []]
    assert arithmetic.combine("add", places, x).to_list() == [[11, 14], [22], [33]]
    with pytest.raises(LengthMismatchError):
        arithmetic.combine("add", x, Model.from_list([Axis.fixed(time, 2)], [10, 20]))


def test_lengths_that_differ_are_refused():
    other = Model.from_list([batch, time.bind([3, 2, 0], over=batch)], [[1, 2, 3], [4, 5], []])
    with pytest.raises(LengthMismatchError, match="time has length 2 in one, 1 in another, at batch 1"):
        arithmetic.combine("add", x, other)
    with pytest.raises(LengthMismatchError):
        arithmetic.combine("mul", x, Model.from_list([batch_dim.bind(2)], [1, 2]))
    with pytest.raises(LengthMismatchError):
        arithmetic.combine("add", Model([Axis.fixed(time, 0)], {}), Model([Axis.fixed(time, 1)], {(0,): 1}))


def test_two_dynamic_dims_over_the_batch_combine_to_both():
    queries = x
    keys = Model.from_list([batch, source], [[10, 20], [30], [40, 50]])
    product = arithmetic.combine("add", queries, keys)
    assert product.dims == (batch, time, source)
    assert product.to_list() == [[[11, 21], [12, 22], [13, 23]], [[34]], []]


@pytest.mark.parametrize(
    ("name", "a", "b", "expected"),
    [
        ("sub", 5, 3, 2),
        ("truediv", 1, 4, 0.25),
        ("truediv", -1, 0, -INF),
        ("truediv", 0, 0, NAN),
        ("floordiv", -7, 2, -4),
        ("mod", -7, 2, 1),
        ("pow", 2, 3, 8),
        ("maximum", NAN, 1, NAN),
        ("minimum", 2, 1, 1),
        ("squared_difference", 2, 5, 9),
        ("logaddexp", 0, 0, math.log(2)),
        ("eq", NAN, NAN, False),
        ("ne", 1, 2, True),
        ("ge", 2, 2, True),
        ("logical_and", True, False, False),
        ("logical_or", True, False, True),
        ("logical_xor", True, True, False),
    ],
)
def test_operators_are_those_of_numbers(name, a, b, expected):
    found = arithmetic.combine(name, a, b).to_list()
    assert found == pytest.approx(expected, nan_ok=True)
    assert type(found) is type(expected) or not isinstance(expected, bool)


def test_where_chooses_by_position():
    condition = Model.from_list([batch], [True, False, True])
    assert arithmetic.where(condition, x, -1).to_list() == [[1, 2, 3], [-1], []]
    assert arithmetic.where(condition, 0, x).dims == (batch, time)


# Dot.


def test_dot_is_over_dynamic_dims_too():
    keys = Model.from_list([batch, time], [[1, 0, 2], [3], []])
    assert arithmetic.dot(wide, keys, [time]).to_list() == [[7, 70], [12, 120], [0, 0]]
    assert arithmetic.dot(wide, keys, [time, batch]).to_list() == [19, 190]
    assert arithmetic.dot(keys, wide, [batch]).dims == (time, feature)
    assert arithmetic.dot(keys, wide, [batch]).to_list() == [[13, 130], [0, 0], [6, 60]]


def test_dims_of_dot_are_common_ones_then_those_of_each():
    out = Dim(3, name="out")
    weights = Model.from_list([out, feature], [[1, 0], [0, 1], [1, 1]])
    product = arithmetic.dot(wide, weights, [feature])
    assert product.dims == (batch, time, out)
    assert product.to_list()[1] == [[4, 40, 44]]
    heads = Dim(1, name="heads")
    values = Model.from_list([heads, time, batch], [[[1, 4], [2], [3]]])
    assert arithmetic.dot(wide, values, []).dims == (batch, time, feature, heads)
    assert arithmetic.dot(values, wide, [feature]).dims == (time, batch, heads)


def test_a_dim_that_one_operand_lacks_is_summed_over_all_the_same():
    bias = Model.from_list([feature], [1, 2])
    assert arithmetic.dot(x, bias, [time]).to_list() == [[6, 12], [4, 8], [0, 0]]


def test_attention_over_two_dynamic_dims():
    weights = arithmetic.softmax(energies, [source])
    values = Model.from_list([batch, source], [[1, 1], [5], [7, 7]])
    assert near(arithmetic.dot(weights, values, [source]).to_list(), [[1, 1, 1], [5], []])


def test_einsum_says_which_dims_stay():
    assert arithmetic.einsum([x, x], [time]).to_list() == [17, 4, 9]
    assert arithmetic.einsum([x, wide, x], [feature, batch]).to_list() == [[36, 64, 0], [360, 640, 0]]


# Concat, split, stack.


def test_rows_are_concatenated_one_by_one():
    y = Model.from_list([source, batch], [[10, 30, 40], [20, 50]])
    both = moves.concat([(x, time), (y, source)])
    assert both.dims == (batch, time + source)
    assert both.to_list() == [[1, 2, 3, 10, 20], [4, 30], [40, 50]]
    assert lengths(both, time + source) == [5, 2, 2]
    twice = moves.concat([(x, time), (x, time), (y, source)])
    assert twice.dims[1] == 2 * time + source
    with pytest.raises(ValueError, match="other dims differ"):
        moves.concat([(x, time), (wide, time)])


def test_what_is_over_a_concatenated_dim_goes_along():
    more = Dim(name="more").bind([1, 0, 1], over=batch)
    again = words.bind([3, 1], over=[batch, more])
    tail = Model.from_list([batch, more, again], [[[7, 8, 9]], [], [[0]]])
    both = moves.concat([(nested, time), (tail, more)])
    assert both.to_list() == [[[1, 2], [], [3], [7, 8, 9]], [[4, 5, 6]], [[0]]]


def test_a_split_is_the_inverse_of_a_concat():
    first, rest = Dim(name="first").bind([1, 1, 0], over=batch), Dim(name="rest").bind([2, 0, 0], over=batch)
    parts = moves.split(x, time, [first, rest])
    assert [part.to_list() for part in parts] == [[[1], [4], []], [[2, 3], [], []]]
    assert is_same(moves.concat([*zip(parts, [first, rest], strict=True)], time), x)
    with pytest.raises(LengthMismatchError):
        moves.split(x, time, [first, first])


def test_models_are_stacked_along_a_new_first_dim():
    two = Dim(2, name="two")
    stacked = moves.stack([x, transpose(x, [1, 0])], two)
    assert stacked.dims == (two, batch, time)
    assert stacked.to_list() == [[[1, 2, 3], [4], []]] * 2


# Pad, slice, shift, reverse.


def test_padding_is_at_the_end_of_each_row():
    padded = moves.pad(x, time, 1, 2, value=9)
    assert padded.dims[1] == 1 + time + 2
    assert padded.to_list() == [[9, 1, 2, 3, 9, 9], [9, 4, 9, 9], [9, 9, 9]]


def test_padding_may_differ_from_row_to_row():
    before = Dim(name="before").bind([0, 2, 1], over=batch)
    padded = moves.pad(x, time, before, 1)
    assert padded.dims[1] == before + time + 1
    assert padded.to_list() == [[1, 2, 3, 0], [0, 0, 4, 0], [0, 0]]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("replicate", [[1, 1, 1, 1, 2, 3, 3, 3, 3, 3], [4] * 8, [7] * 7]),
        ("reflect", [[2, 3, 2, 1, 2, 3, 2, 1, 2, 3], [4] * 8, [7] * 7]),
    ],
)
def test_padding_repeats_a_row_as_far_as_it_has_to(mode, expected):
    assert moves.pad(x, time, 3, 4, mode=mode, value=7).to_list() == expected


def test_new_positions_have_no_positions_of_dims_over_them():
    assert moves.pad(nested, time, 1, 0).to_list() == [[[], [1, 2], [], [3]], [[], [4, 5, 6]], [[]]]


@pytest.mark.parametrize(
    ("cut", "expected"),
    [
        ({"end": 2}, [[1, 2], [4], []]),
        ({"start": 1}, [[2, 3], [], []]),
        ({"start": 1, "end": -1}, [[2], [], []]),
        ({"end": -1}, [[1, 2], [], []]),
        ({"start": -2}, [[2, 3], [4], []]),
        ({"step": 2}, [[1, 3], [4], []]),
        ({"start": 1, "step": 2}, [[2], [], []]),
        ({"step": -1}, [[3, 2, 1], [4], []]),
        ({"start": 0, "size": 2}, [[1, 2], [4], []]),
        ({"start": -2, "size": 1}, [[2], [4], []]),
        ({"start": Model.from_list([batch], [2, 0, 0])}, [[3], [4], []]),
        ({"end": Model.from_list([batch], [-1, 5, 1])}, [[1, 2], [4], []]),
        ({"start": 1, "size": Model.from_list([batch], [1, 1, 1])}, [[2], [], []]),
    ],
)
def test_slices_are_those_of_each_row(cut, expected):
    assert moves.slice_dim(x, time, **cut).to_list() == expected


def test_the_dim_of_a_slice_is_an_expression_where_there_is_one():
    assert moves.slice_dim(x, time).dims[1] == time
    assert moves.slice_dim(x, time, 1).dims[1] == time.sub_left(1)
    assert moves.slice_dim(x, time, 1, -1).dims[1] == time.sub_left(1).sub_right(1)
    assert moves.slice_dim(x, time, None, None, 2).dims[1] == time.ceildiv_right(2)
    assert moves.slice_dim(x, time, None, 2).dims[1] != time


def test_a_slice_to_a_dim_has_to_fit_in_each_row():
    part = Dim(name="part").bind([2, 1, 0], over=batch)
    start = Model.from_list([batch], [1, 0, 0])
    assert moves.slice_dim(x, time, start, size=part).to_list() == [[2, 3], [4], []]
    with pytest.raises(IndexError, match="out of a row of 1"):
        moves.slice_dim(x, time, 1, size=part)


def test_slices_take_along_what_is_over_the_dim():
    assert moves.slice_dim(nested, time, 1).to_list() == [[[], [3]], [], []]
    assert moves.reverse(nested, time).to_list() == [[[3], [], [1, 2]], [[4, 5, 6]], []]
    assert moves.slice_dim(nested, words, None, 1).to_list() == [[[1], [], [3]], [[4]], []]


def test_shift_and_reverse_keep_the_dim():
    assert moves.shift(x, time, 2, value=9).to_list() == [[9, 9, 1], [9], []]
    assert moves.shift(x, time, -1).to_list() == [[2, 3, 0], [0], []]
    assert moves.reverse(wide, time).to_list() == [[[3, 30], [2, 20], [1, 10]], [[4, 40]], []]
    assert moves.reverse(x, time).dims == x.dims
    assert moves.reverse(x, batch_dim).to_list() == [[], [4], [1, 2, 3]]


# Merge, split, flatten, select.


def test_dims_that_are_a_rectangle_are_merged():
    merged = moves.merge_dims(wide, [time, feature])
    assert merged.dims == (batch, time * feature)
    assert merged.to_list() == [[1, 10, 2, 20, 3, 30], [4, 40], []]
    assert moves.merge_dims(wide, [feature, time]).to_list() == [[1, 2, 3, 10, 20, 30], [4, 40], []]
    assert moves.merge_dims(energies, [time, source]).to_list() == [[1, 2, 3, 4, 5, 6], [7], []]
    with pytest.raises(LengthMismatchError, match="flatten"):
        moves.merge_dims(x, [batch, time])
    with pytest.raises(LengthMismatchError):
        moves.merge_dims(nested, [time, words])
    even = Model.from_rows([[1, 2], [3, 4]])
    assert moves.merge_dims(even, even.dims).to_list() == [1, 2, 3, 4]


def test_a_dim_is_split_into_a_rectangle():
    merged = moves.merge_dims(wide, [time, feature])
    assert is_same(moves.split_dims(merged, time * feature, [time, feature]), wide)
    rows, two = Dim(name="rows"), Dim(2, name="two")
    found = moves.split_dims(merged, time * feature, [rows, two])
    assert found.to_list() == wide.to_list()
    assert found.dims == (batch, rows, two)
    with pytest.raises(LengthMismatchError):
        moves.split_dims(x, time, [rows, two])
    assert moves.split_dims(x, time, [rows, two], pad_value=0).to_list() == [[[1, 2], [3, 0]], [[4, 0]], []]


def test_flat_rows_are_in_the_order_of_the_dims_as_given():
    assert moves.flatten(x, [batch, time]).to_list() == [1, 2, 3, 4]
    assert moves.flatten(x, [time, batch]).to_list() == [1, 4, 2, 3]
    assert moves.flatten(transpose(x, [time, batch]), [batch, time]).to_list() == [1, 2, 3, 4]
    assert moves.flatten(wide, [batch, time]).to_list() == [[1, 10], [2, 20], [3, 30], [4, 40]]
    assert moves.flatten(energies, [source, time]).to_list() == [[1, 3, 5, 2, 4, 6], [7], []]
    assert moves.flatten(nested, [batch, time]).to_list() == [[1, 2], [], [3], [4, 5, 6]]
    assert moves.flatten(nested, [time, words]).to_list() == [[1, 2, 3], [4, 5, 6], []]


def test_flat_rows_of_no_features_are_counted():
    none = Dim(0, name="none")
    rows = moves.flatten(Model([batch, time, none], {}), [batch, time])
    assert rows.axes[0].length({}) == 4


def test_a_mask_selects_rows_and_scatters_them_back():
    mask = Model.from_list([batch, time], [[True, False, True], [False], []])
    per_row = moves.masked_select(wide, mask, [time])
    assert per_row.to_list() == [[[1, 10], [3, 30]], [], []]
    assert per_row.dims[0] == batch_dim
    assert lengths(per_row, per_row.dims[1]) == [2, 0, 0]
    flat = moves.masked_select(wide, mask, [batch, time])
    assert flat.to_list() == [[1, 10], [3, 30]]
    zeros = [[[1, 10], [0, 0], [3, 30]], [[0, 0]], []]
    assert moves.masked_scatter(flat, flat.dims[0], mask, [batch, time]).to_list() == zeros
    back = moves.masked_scatter(per_row, per_row.dims[1], mask, [time], backup=wide)
    assert is_same(back, wide)
    every = Model.from_list([batch], [True] * 3)
    with pytest.raises(LengthMismatchError, match="2 numbers where the mask takes 3"):
        moves.masked_scatter(flat, flat.dims[0], every, [batch])
    with pytest.raises(ValueError, match="twice"):
        moves.masked_scatter(wide, feature, mask, [batch, time])


def test_a_mask_may_be_over_one_dim_of_several():
    mask = Model.from_list([batch], [False, True, True])
    assert moves.masked_select(x, mask, [batch]).to_list() == [[4], []]


# Gather, scatter, repeat.


def test_dims_that_both_have_go_together_in_gather():
    picks = Dim(name="picks").bind([2, 1, 0], over=batch)
    places = Model.from_list([batch, picks], [[2, 0], [0], []])
    found = moves.gather(wide, places, time)
    assert found.dims == (batch, picks, feature)
    assert found.to_list() == [[[3, 30], [1, 10]], [[4, 40]], []]
    order = Model.from_list([batch, time], [[2, 2, 0], [0], []])
    assert moves.gather(x, order, time).to_list() == [[3, 3, 1], [4], []]
    table = Model.from_list([feature], [10, 20])
    assert moves.gather(table, Model.from_list([batch, time], [[1, 0, 1], [0], []]), feature).to_list() == [
        [20, 10, 20],
        [10],
        [],
    ]


def test_an_index_out_of_its_row_is_refused_or_clipped():
    last = Model.from_list([batch_dim.bind(2)], [-1, 5])
    two = take(x, batch_dim, [0, 1])
    with pytest.raises(IndexError, match="-1 is no position of time"):
        moves.gather(two, last, time)
    assert moves.gather(two, last, time, clip=True).to_list() == [1, 4]
    with pytest.raises(IndexError, match="which has 0"):
        moves.gather(x, Model.from_list([batch], [0, 0, 0]), time, clip=True)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("sum", [[3, 0, 3], [0, 4, 0], [0, 0, 0]]),
        ("max", [[2, -INF, 3], [-INF, 4, -INF], [-INF] * 3]),
        ("min", [[1, INF, 3], [INF, 4, INF], [INF] * 3]),
        ("mean", [[1.5, NAN, 3], [NAN, 4, NAN], [NAN] * 3]),
    ],
)
def test_scatter_brings_together_what_has_one_index(mode, expected):
    bins = Dim(3, name="bins")
    places = Model.from_list([batch, time], [[0, 0, 2], [1], []])
    found = moves.scatter(x, places, [time], bins, mode=mode)
    assert found.dims == (batch, bins)
    assert near(found.to_list(), expected)


def test_scatter_fills_what_nothing_is_brought_to():
    bins = Dim(name="bins").bind([3, 2, 1], over=batch)
    places = Model.from_list([batch, time], [[0, 0, 2], [1], []])
    assert moves.scatter(x, places, [time], bins, mode="max", fill_value=9).to_list() == [
        [2, 9, 3],
        [9, 4],
        [9],
    ]
    all_rows = moves.scatter(x, places, [batch, time], Dim(3, name="all"))
    assert all_rows.to_list() == [3, 4, 3]
    with pytest.raises(IndexError, match="2 is no position of few"):
        moves.scatter(x, places, [time], Dim(2, name="few"))


def test_positions_are_repeated_by_their_counts():
    counts = Model.from_list([batch, time], [[0, 2, 1], [3], []])
    found = moves.repeat(x, time, counts)
    assert found.to_list() == [[2, 2, 3], [4, 4, 4], []]
    assert moves.repeat(x, time, 2).dims[1] == time * 2
    by_row = moves.repeat(x, batch_dim, Model.from_list([batch], [2, 0, 1]))
    assert by_row.to_list() == [[1, 2, 3], [1, 2, 3], []]
    assert moves.repeat(x, time, Model.from_list([batch], [1, 2, 3])).to_list() == [[1, 2, 3], [4, 4], []]


def test_one_position_more_or_fewer_dims():
    two = Dim(2, name="two")
    assert moves.expand(x, two).to_list() == [[[1, 1], [2, 2], [3, 3]], [[4, 4]], []]
    one = Dim(1, name="one")
    assert is_same(moves.squeeze(moves.expand(x, one), one), x)
    with pytest.raises(LengthMismatchError, match="not 1"):
        moves.squeeze(x, time)


def test_positions_as_numbers():
    assert moves.range_over_dim(time).to_list() == [0, 1, 2]
    assert moves.arange(feature, 5, -2).to_list() == [5, 3]
    places = arithmetic.combine("add", fill(x.axes, lambda _: 0), moves.range_over_dim(time))
    assert places.to_list() == [[0, 1, 2], [0], []]
    classes = Dim(3, name="classes")
    assert moves.one_hot(places, classes).to_list() == [[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 0, 0]], []]
    with pytest.raises(IndexError, match="3 is no position of classes, at batch 0, time 2"):
        moves.one_hot(x, classes)


# Scans and order.


@pytest.mark.parametrize(
    ("mode", "given", "expected"),
    [
        ("sum", {}, [[1, 3, 6], [4], []]),
        ("prod", {}, [[1, 2, 6], [4], []]),
        ("max", {"backward": True}, [[3, 3, 3], [4], []]),
        ("min", {"exclusive": True}, [[INF, 1, 1], [INF], []]),
        ("sum", {"exclusive": True}, [[0, 1, 3], [0], []]),
        ("prod", {"exclusive": True, "backward": True}, [[6, 3, 1], [1], []]),
    ],
)
def test_scans_restart_in_each_row(mode, given, expected):
    assert lines.cumulate(x, mode, time, **given).to_list() == expected


def test_scans_go_along_any_dim():
    assert lines.cumulate(x, "sum", batch_dim).to_list() == [[1, 2, 3], [5], []]
    assert lines.cumulate(wide, "sum", feature).to_list()[1] == [[4, 44]]


def test_rows_are_sorted_one_by_one():
    mixed = Model.from_rows([[3, NAN, 1, 3], [2], []])
    values, places = lines.sort(mixed, mixed.dims[1])
    assert near(values.to_list(), [[1, 3, 3, NAN], [2], []])
    assert places.to_list() == [[2, 0, 3, 1], [0], []]
    values, places = lines.sort(mixed, mixed.dims[1], descending=True)
    assert near(values.to_list(), [[3, 3, 1, NAN], [2], []])
    assert places.to_list() == [[0, 3, 2, 1], [0], []]
    assert lines.sort(x, batch_dim, descending=True)[0].to_list() == [[4, 2, 3], [1], []]


def test_the_largest_of_several_dims_have_a_place_on_each():
    best = Dim(name="best")
    values, places = lines.top_k(energies, [time, source], 3, best)
    assert values.to_list() == [[6, 5, 4], [7], []]
    assert [each.to_list() for each in places] == [[[2, 2, 1], [0], []], [[1, 0, 1], [0], []]]
    values, places = lines.top_k(wide, [time], 1, best)
    assert values.to_list() == [[[3, 30]], [[4, 40]], []]
    assert places[0].to_list() == [[[2, 2]], [[0, 0]], []]
    with pytest.raises(ValueError, match="another dim is over"):
        lines.top_k(nested, [time], 1, best)


def test_values_are_searched_in_rows_that_are_in_order():
    values = Model.from_list([batch, source], [[2, 9], [4], [1, 1]])
    assert lines.search_sorted(x, time, values).to_list() == [[1, 3], [0], [0, 0]]
    assert lines.search_sorted(x, time, values, right=True).to_list() == [[2, 3], [1], [0, 0]]
    every = lines.search_sorted(x, time, Model([], {(): 2}))
    assert every.dims == (batch,)
    assert every.to_list() == [1, 0, 0]


def test_each_row_has_its_own_distinct_numbers():
    mixed = Model.from_rows([[3, 1, 3], [2, NAN, NAN], []])
    values, inverse, counts = lines.unique(mixed, mixed.dims[1], Dim(name="kinds"))
    assert near(values.to_list(), [[1, 3], [2, NAN], []])
    assert inverse.to_list() == [[1, 0, 1], [0, 1, 1], []]
    assert counts.to_list() == [[1, 2], [1, 2], []]


# Windows, pooling, convolution.

long = Dim(name="long").bind([5, 3, 0], over=batch)
numbers = Model.from_list([batch, long], [[1, 2, 3, 4, 5], [6, 7, 8], []])


@pytest.mark.parametrize(
    ("size", "given", "expected"),
    [
        (3, {"padding": "same"}, [5, 3, 0]),
        (3, {"padding": "same", "stride": 2}, [3, 2, 0]),
        (3, {}, [3, 1, 0]),
        (4, {"stride": 2}, [1, 0, 0]),
        (3, {"dilation": 2}, [1, 0, 0]),
        (3, {"padding": 1, "stride": 2}, [3, 2, 0]),
        (2, {"padding": 1}, [6, 4, 1]),
        (1, {"stride": 3}, [2, 1, 0]),
    ],
)
def test_convolutions_have_a_place_for_each_length_of_the_algebra(size, given, expected):
    """The dims of the algebra, the places counted out, and the lengths by hand are the same."""
    assert lines.conv_out_dim(long, size, **given).lengths.tolist() == expected
    assert [len(lines.windowed(n, size, **given)) for n in [5, 3, 0]] == expected


def test_the_dim_of_a_convolution_is_an_expression():
    assert lines.conv_out_dim(long, 3, padding="same") == long
    assert lines.conv_out_dim(long, 3, padding=1, stride=2) == long.ceildiv_right(2)
    assert lines.conv_out_dim(long, 3) == long.sub_left(1).sub_right(1)
    assert lines.conv_out_dim(2 + long + 2, 5) == long


def test_windows_are_around_each_position_or_start_at_it():
    three = Dim(3, name="three")
    same_places = lines.window(numbers, long, three, value=9)
    assert same_places.dims == (batch, long, three)
    assert same_places.to_list()[1] == [[9, 6, 7], [6, 7, 8], [7, 8, 9]]
    inside = lines.window(numbers, long, three, padding="valid")
    assert inside.dims[1] == long - three + 1
    assert inside.to_list() == [[[1, 2, 3], [2, 3, 4], [3, 4, 5]], [[6, 7, 8]], []]
    strided = lines.window(numbers, long, three, stride=2, padding="same")
    assert strided.to_list() == [[[0, 1, 2], [2, 3, 4], [4, 5, 0]], [[0, 6, 7], [7, 8, 0]], []]


def test_pools_read_no_padding():
    assert lines.pool(numbers, "max", long, 2).to_list() == [[2, 4], [7], []]
    assert lines.pool(numbers, "mean", long, 3, stride=1, padding="same").to_list()[1] == [6.5, 7, 7.5]
    assert lines.pool(numbers, "mean", long, 3, stride=2, padding="same").to_list() == [
        [1.5, 3, 4.5],
        [6.5, 7.5],
        [],
    ]
    assert lines.pool(numbers, "min", long, 3, stride=1, padding=2).to_list()[2] == [INF, INF]


def test_a_convolution_is_along_each_row():
    taps, one, out = Dim(3, name="taps"), Dim(1, name="one"), Dim(2, name="out")
    weights = Model.from_list([taps, one, out], [[[1, 0]], [[0, 1]], [[1, 0]]])
    found = lines.conv1d(moves.expand(numbers, one), weights, long, taps, one)
    assert found.dims == (batch, lines.conv_out_dim(long, 3), out)
    assert found.to_list() == [[[4, 2], [6, 3], [8, 4]], [[14, 7]], []]
    found = lines.conv1d(moves.expand(numbers, one), weights, long, taps, one, padding="same", stride=2)
    assert found.to_list() == [[[2, 1], [6, 3], [4, 5]], [[7, 6], [7, 8]], []]


# Norms and losses.


def test_norms_are_over_valid_positions():
    assert near(arithmetic.layer_norm(x, [time], epsilon=1 / 3).to_list(), [[-1, 0, 1], [0], []])
    assert near(arithmetic.layer_norm(wide, [feature], epsilon=0.0).to_list()[1], [[-1, 1]])
    frames = arithmetic.batch_norm(wide, feature, epsilon=0.0)
    deviation = math.sqrt(1.25)
    expected = [[-1.5 / deviation] * 2, [-0.5 / deviation] * 2, [0.5 / deviation] * 2]
    assert near(frames.to_list(), [expected, [[1.5 / deviation] * 2], []])


def test_cross_entropy_is_minus_the_log_of_the_target():
    logits = Model.from_list([batch, time, feature], [[[0, 0], [0, 0], [0, math.log(3)]], [[0, 0]], []])
    targets = Model.from_list([batch, time], [[0, 1, 1], [0], []])
    loss = arithmetic.cross_entropy(logits, targets, feature)
    assert near(loss.to_list(), [[math.log(2), math.log(2), math.log(4 / 3)], [math.log(2)], []])
    spread = moves.one_hot(targets, feature)
    assert is_same(arithmetic.cross_entropy(logits, spread, feature), loss, tolerance=1e-12)
    with pytest.raises(IndexError, match="target 2 is no position of feature"):
        arithmetic.cross_entropy(logits, x, feature)
