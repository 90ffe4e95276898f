"""Cases of what takes, brings and cuts values by position: dims of results, sharing, and bad input."""

import re

import numpy as np
import pytest
from varlen import Data, Dim, dims

batch = dims.batch_dim
time = Dim("time", lengths=[3, 1, 0])
source = Dim("source", lengths=[1, 2, 2])
feature = Dim("feature", 2)
X = Data(np.arange(8.0).reshape(4, 2), [batch, time, feature])
IDS = Data(np.array([2, 0, 1, 1]), [batch, time], sparse_dim=Dim("words", 3))


def test_rows_of_a_table_are_looked_up():
    words = Data(np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]), [IDS.sparse_dim, feature])
    found = dims.gather(words, IDS, out_shape={batch, time, feature})
    assert found.dims == (batch, time, feature)
    assert found.to_list() == [[[4, 5], [0, 1], [2, 3]], [[2, 3]], []]


def test_scores_of_classes_are_picked_at_each_position():
    scores = Data(np.arange(12).reshape(4, 3), [batch, time, IDS.sparse_dim])
    assert dims.gather(scores, IDS).to_list() == [[2, 3, 7], [10], []]


def test_sequences_move_as_a_whole():
    unit = Dim("unit").bind([2, 0, 1, 3], over=[batch.bind(3), time])
    x = Data(np.arange(6), [batch, time, unit])
    assert x.to_list() == [[[0, 1], [], [2]], [[3, 4, 5]], []]
    places = Data(np.array([2, 0, 0, 0]), [batch, Dim("new", lengths=[2, 2, 0])])
    found = dims.gather(x, places, time)
    assert found.to_list() == [[[2], [0, 1]], [[3, 4, 5], [3, 4, 5]], []]
    assert found.axis("unit").over == (batch, places.dims[1])


def test_gather_keeps_what_is_said():
    x = Data(np.array([2, 0, 1, 1]), [batch, time], sparse_dim=IDS.sparse_dim, time_dim=time, name="ids")
    found = dims.gather(x, dims.argsort(x))
    assert (found.sparse_dim, found.time_dim, found.name) == (IDS.sparse_dim, time, None)
    assert dims.argsort(x).sparse_dim == time
    assert found.to_list() == dims.sort(x)[0].to_list() == [[0, 1, 2], [1], []]


def test_a_dim_in_the_place_of_time_is_the_time():
    x = X.copy(time_dim=time)
    assert dims.repeat(x, time, 2)[0].time_dim == time * 2
    chosen, new = dims.masked_select(x, IDS > 0, time)
    assert chosen.time_dim == new
    assert dims.flatten(x, [batch, time])._facts.time_dim is None


def test_clip_goes_by_rows():
    last = Data(np.array([9, -4]), [Dim("two", 2)])
    x = Data(np.array([1, 2, 3, 4]), [batch, Dim("time", lengths=[3, 1])])
    assert dims.gather(x, last, "T", clip=True).to_list() == [[3, 1], [4, 4]]


def test_nested_lengths_are_scanned_position_by_position():
    unit = Dim("unit").bind([2, 1, 2], over=[batch.bind(2), Dim("time", lengths=[2, 1])])
    x = Data(np.array([1, 2, 3, 4, 5]), [*unit.over, unit])
    assert dims.cumsum(x, "time").to_list() == [[[1, 2], [4]], [[4, 5]]]


def test_flatten_shares_values_that_lie_in_order():
    flat = dims.flatten(X, [batch, time])
    assert np.shares_memory(flat.values, X.values)
    assert np.shares_memory(dims.merge_dims(X, [time, feature]).values, X.values)
    assert np.shares_memory(dims.split_dims(X, feature, [Dim("one", 1), Dim("two", 2)]).values, X.values)
    assert np.shares_memory(dims.unflatten(flat, "flat", [batch.bind(3), time]).values, X.values)
    back = dims.unflatten(flat, "flat", [batch, time])  # time knows how many rows there are
    assert back.to_list() == X.to_list()


def test_flatten_goes_step_by_step_where_time_is_first():
    assert dims.flatten(X, [time, batch]).values[:, 0].tolist() == [0, 6, 2, 4]
    assert dims.flatten(X).values.tolist() == list(range(8))


def test_merged_dims_are_products():
    merged = dims.merge_dims(X, [time, feature])
    assert merged.axis(time * feature).lengths.tolist() == [6, 2, 0]
    assert dims.merge_dims(X, [feature, time]).to_list() == [[0, 2, 4, 1, 3, 5], [6, 7], []]
    assert dims.split_dims(merged, time * feature, [time, feature]).to_list() == X.to_list()
    both = Data(np.arange(5), [batch, time, source])
    assert dims.merge_dims(both, [time, source]).axis(time * source).lengths.tolist() == [3, 2, 0]


def test_best_of_a_fixed_number_have_one_size():
    beam, words = Dim("beam", 2), Dim("words", 3)
    x = Data(np.array([[[0.1, 0.5, 0.2], [0.9, 0.3, 0.4]]]), [batch, beam, words])
    values, (at_beam, at_word), dim = dims.top_k(x, [beam, words], beam)
    assert dim == beam
    assert values.dims == (batch, beam)
    assert (at_beam.to_list(), at_word.to_list()) == ([[1, 0]], [[0, 1]])
    assert (at_beam.sparse_dim, at_word.sparse_dim) == (beam, words)
    assert dims.top_k(x, [beam, words], 9)[2].size == 6


def test_best_of_rows_are_as_many_as_there_are():
    values, (places,), dim = dims.top_k(X, time, 2)
    assert dim.lengths.tolist() == [2, 1, 0]
    assert dim.over == (batch,)
    assert values.dims == (batch, dim, feature)
    assert values.to_list() == [[[4, 5], [2, 3]], [[6, 7]], []]
    assert dims.gather(X, places).to_list() == values.to_list()
    known = Dim("kept")
    assert dims.top_k(X, time, 2, known)[2] == known


def test_best_of_nested_lengths_are_found_position_by_position():
    unit = Dim("unit").bind([2, 1, 2], over=[batch.bind(2), Dim("time", lengths=[2, 1])])
    x = Data(np.array([1, 2, 3, 4, 5]), [*unit.over, unit])
    values, (places,), dim = dims.top_k(x, "time", 2)
    assert values.transpose([batch, unit, dim]).to_list() == [[[3, 1], [2]], [[4], [5]]]
    assert places.transpose([batch, unit, dim]).to_list() == [[[1, 0], [0]], [[0], [0]]]


def test_squeeze_drops_dims_of_one_position():
    one, single = Dim("one", 1), Dim("single", lengths=[1, 1])
    x = Data(np.array([[7], [8]]), [batch, single, one])
    assert dims.squeeze(x, one).to_list() == [[7], [8]]
    assert dims.squeeze(x, [one, single]).to_list() == [7, 8]
    unit = Dim("unit").bind([2, 1], over=[*single.over, single])
    assert dims.squeeze(Data(np.arange(3), [batch, single, unit]), single).to_list() == [[0, 1], [2]]


def test_counts_repeat_whole_sequences():
    unit = Dim("unit").bind([2, 1], over=[batch.bind(1), Dim("time", lengths=[2])])
    x = Data(np.array([1, 2, 3]), [*unit.over, unit])
    counts = Data(np.array([1, 2]), list(unit.over))
    assert dims.repeat(x, "time", counts)[0].to_list() == [[[1, 2], [3], [3]]]


def test_scatter_keeps_the_batch_and_what_the_target_is_over():
    target = Dim("target", lengths=[2, 1, 1])
    at = Data(np.array([1, 1, 0, 0]), [batch, time], sparse_dim=target)
    assert dims.scatter(X, at, target).to_list() == [[[4, 5], [2, 4]], [[6, 7]], [[0, 0]]]
    assert dims.scatter(X, at, target, mode="max", fill=-1).to_list() == [
        [[4, 5], [2, 3]],
        [[6, 7]],
        [[-1, -1]],
    ]
    counts = dims.scatter(Data(np.ones(4, bool), [batch, time]), at, Dim("bins", 2), axis=["B", "T"])
    assert (counts.dtype, counts.to_list()) == (np.int64, [2, 2])


def test_backup_may_lack_dims():
    mask = Data(np.array([True, False, True, False]), [batch, time])
    taken, new = dims.masked_select(X, mask, time)
    backup = Data(np.array([-1.0, -2.0]), [feature])
    assert dims.masked_scatter(taken, mask, time, backup=backup).to_list() == [
        [[0, 1], [-1, -2], [4, 5]],
        [[-1, -2]],
        [],
    ]
    assert new.lengths.tolist() == [2, 0, 0]


BAD = {
    "gather out of a row": (
        lambda: dims.gather(X, Data(np.array([2, 1, 0]), [batch]), time),
        IndexError,
        "indices: 1 at batch 1 is no position of 'time', which has 1 there",
    ),
    "gather below 0": (
        lambda: dims.gather(X, Data(np.array(-1), []), feature),
        IndexError,
        "indices: -1 is no position of 'feature', which has 2",
    ),
    "gather of an empty row": (
        lambda: dims.gather(X, Data(np.array([0, 0, 0]), [batch]), time, clip=True),
        IndexError,
        "indices: 0 at batch 2 is no position of 'time', which has 0",
    ),
    "gather by floats": (
        lambda: dims.gather(X, X, time),
        TypeError,
        "indices: expected integers, got float64",
    ),
    "gather without an axis": (
        lambda: dims.gather(X, Data(np.array(0), [])),
        ValueError,
        "axis: is not given",
    ),
    "gather by an int": (lambda: dims.gather(X, 0, time), TypeError, "indices: expected a Data, got int"),
    "gather by another batch": (
        lambda: dims.gather(X, Data(np.array([0, 0]), [batch]), feature),
        dims.LengthMismatchError,
        "gather: .*batch",
    ),
    "scatter out of the target": (
        lambda: dims.scatter(X, IDS, feature.copy(name="bins", same_as_self=False)),
        IndexError,
        "indices: 2 at batch 0, time 0 is no position of 'bins', which has 2",
    ),
    "scatter by an unknown mode": (
        lambda: dims.scatter(X, IDS, IDS.sparse_dim, mode="median"),
        ValueError,
        "mode: expected 'sum',",
    ),
    "scatter of no integers": (
        lambda: dims.scatter(IDS, IDS, IDS.sparse_dim, mode="max"),
        ValueError,
        "scatter: no value goes to batch 1, words 0, and int64 has no max of nothing; pass fill=",
    ),
    "scatter to an unknown size": (
        lambda: dims.scatter(X, IDS, Dim("bins")),
        ValueError,
        "'bins' has no lengths",
    ),
    "scatter of the batch alone": (
        lambda: dims.scatter(X, Data(np.array([0, 0, 0]), [batch]), Dim("bins", 1)),
        ValueError,
        "axis: cannot infer which dim of the indices",
    ),
    "repeat below 0": (
        lambda: dims.repeat(X, time, IDS - 1),
        ValueError,
        "counts: -1 at batch 0, time 1 is below 0",
    ),
    "repeat of other lengths": (
        lambda: dims.repeat(X, time, 2, source),
        dims.LengthMismatchError,
        "out_dim: 'source' is 1 long at batch 0, not 6",
    ),
    "select by numbers": (
        lambda: dims.masked_select(X, IDS, time),
        TypeError,
        "mask: expected bools, got int64",
    ),
    "select without what a dim is over": (
        lambda: dims.masked_select(X, X > 0, batch),
        ValueError,
        "'time' has lengths over 'batch'",
    ),
    "scatter more than the mask takes": (
        lambda: dims.masked_scatter(X, Data(np.ones(5, bool), [batch, source]), source),
        dims.LengthMismatchError,
        "in_dim: 'time' is 3 long at batch 0, the mask takes 1",
    ),
    "merge of ragged rows": (
        lambda: dims.merge_dims(X, [batch, time]),
        dims.LengthMismatchError,
        "'time' has several lengths along 'batch'; use flatten",
    ),
    "split that does not divide": (
        lambda: dims.split_dims(X, time, [Dim("half"), Dim("pair", 2)]),
        dims.LengthMismatchError,
        "^split_dims: dims: 'time' is 3 long at batch 0, but the product",
    ),
    "split of two unknown": (
        lambda: dims.split_dims(X, time, [Dim("a"), Dim("b")]),
        ValueError,
        "^dims: 'a' and 'b' have no lengths",
    ),
    "unflatten to other lengths": (
        lambda: dims.unflatten(X, time, [source]),
        dims.LengthMismatchError,
        "^unflatten: dims: 'time' is 3 long at batch 0, .* have 1 positions",
    ),
    "squeeze of several": (
        lambda: dims.squeeze(X, time),
        dims.LengthMismatchError,
        "^squeeze: 'time' is 3 long at batch 0, not 1",
    ),
    "best of none": (lambda: dims.top_k(X, time, 0), ValueError, "k"),
    "best of an unknown number": (
        lambda: dims.top_k(X, time, Dim("k")),
        ValueError,
        "k: 'k' has no fixed size",
    ),
    "search along a dim of both": (
        lambda: dims.search_sorted(X, X, time),
        ValueError,
        "values: 'time' of .* is the dim to search along",
    ),
    "search from another side": (lambda: dims.search_sorted(X, 1, time, side="up"), ValueError, "side"),
    "an unknown dim": (lambda: dims.cumsum(X, source), IndexError, "'source' is not among"),
    "another shape than expected": (
        lambda: dims.cumsum(X, time, out_shape={batch}),
        dims.OutShapeError,
        "'feature'",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_by_name(name):
    function, error, text = BAD[name]
    with pytest.raises(error, match=text):
        function()


@pytest.mark.parametrize(
    ("call", "argument", "row", "number"),
    [
        (lambda x, odd: dims.gather(x, odd, feature), "indices", 2, 9),
        (lambda x, odd: dims.scatter(x, odd, Dim("bins", 3)), "indices", None, 9),
        (lambda x, odd: dims.cross_entropy(x, odd, feature), "target", 2, 9),
        (lambda x, odd: Data(odd.values, [batch], sparse_dim=feature), "values", 2, 9),
    ],
    ids=["gather", "scatter", "loss", "labels"],
)
def test_a_position_that_a_dim_lacks_is_a_record(call, argument, row, number):
    odd = Data(np.array([0, 1, 9]), [batch])
    x = Data(np.ones((3, 2)), [batch, feature])
    if argument == "indices":
        odd = Data(np.repeat(odd.values[:, None], 1, axis=1), [batch, Dim("one", 1)])
    with pytest.raises((IndexError, ValueError)) as raised:
        call(x, odd)
    error = raised.value
    assert (error.argument, getattr(error, "row", None), error.number) == (argument, row, number)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: dims.flatten(X, out_dim=time),
            "out_dim: 'time' has lengths over 'batch', but the result has one length",
        ),
        (
            lambda: dims.repeat(X, time, 2, Dim("odd").bind([1, 2], over=[feature])),
            "out_dim: 'odd' has lengths over 'feature', but the result has lengths over 'batch'",
        ),
        (lambda: dims.flatten(X, out_dim="flat"), "out_dim: expected a Dim, got 'flat'"),
        (lambda: dims.unique(IDS, time, out_dim=3), "out_dim: expected a Dim, got 3"),
    ],
)
def test_a_dim_for_the_result_that_cannot_be_its_own_is_refused(call, text):
    with pytest.raises((TypeError, ValueError), match=re.escape(text)):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: dims.one_hot(x),
        lambda x: dims.ones_like(x),
        lambda x: dims.cross_entropy(X, x),
        lambda x: dims.cross_entropy(X, IDS, feature, label_smoothing=x),
        lambda x: dims.edit_distance(IDS, x),
        lambda x: dims.ctc_loss(x, IDS, blank=0),
        lambda x: dims.zeros([feature], like=x),
        lambda x: dims.range_over_dim(time, like=x),
        lambda x: dims.random("normal", [feature], like=x),
        lambda x: dims.stack(x),
        lambda x: dims.layer_norm(X, feature, scale=x),
        lambda x: dims.batch_norm(X, feature, eps=x),
        lambda x: dims.batch_norm(X, feature, statistics=x),
        lambda x: dims.softmax(X, time, scale=x),
        lambda x: dims.dropout(X, x, axes=feature),
        lambda x: dims.search_sorted(X, x),
        lambda x: dims.write_dims(x),
    ],
)
@pytest.mark.parametrize("given", ["text", object()])
def test_arguments_of_another_kind_are_named(call, given):
    with pytest.raises(TypeError, match="expected"):
        call(given)


@pytest.mark.parametrize("given", [None, 1, np.array(5), [1, 2]], ids=str)
@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda x: dims.conv1d(x, X, time, feature, feature), "x"),
        (lambda x: dims.cross_entropy(x, IDS), "estimated"),
        (lambda x: dims.dropout(x, 0.5), "x"),
        (lambda x: dims.expand_dim(x, feature), "data"),
        (lambda x: dims.masked_scatter(x, X > 0, time), "x"),
        (lambda x: dims.scatter(x, IDS, feature), "x"),
        (lambda x: dims.transposed_conv1d(x, X, time, feature, feature), "x"),
    ],
    ids=[
        "conv1d",
        "cross_entropy",
        "dropout",
        "expand_dim",
        "masked_scatter",
        "scatter",
        "transposed_conv1d",
    ],
)
def test_what_is_no_data_is_refused(call, argument, given):
    with pytest.raises(TypeError, match=f"^{argument}: expected a Data, got ") as raised:
        call(given)
    assert raised.value.argument == argument


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda x: dims.reduce(X, "sum", x), "axis"),
        (lambda x: dims.softmax(X, x), "axis"),
        (lambda x: dims.dot(X, X, x), "reduce"),
        (lambda x: dims.zeros(x), "dims"),
        (lambda x: dims.reverse(X, out_shape=x), "out_shape"),
        (lambda x: dims.stack(x), "xs"),
        (lambda x: dims.FeatureDim("words", vocab=x), "vocab"),
    ],
    ids=["reduce", "softmax", "dot", "zeros", "out_shape", "stack", "vocab"],
)
def test_a_number_in_an_array_is_no_list(call, argument):
    with pytest.raises(TypeError, match=f"{argument}: expected ") as raised:
        call(np.array(1))
    assert raised.value.argument == argument
