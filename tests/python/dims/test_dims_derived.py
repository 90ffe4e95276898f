"""Dims that operations make know their lengths, and what follows from them does too."""

import numpy as np
import pytest
import varlen as vl
from varlen import dims
from varlen.dims import LengthMismatchError, batch_dim

LENGTHS = [3, 0, 2]


def made_by(name):
    """A Data over the batch, a dim that an operation made and more, and that dim."""
    time, feature = vl.Dim("time", lengths=LENGTHS), vl.Dim("feature", 4)
    x = vl.Data(np.arange(20.0).reshape(5, 4), [batch_dim, time, feature])
    result = MAKERS[name](x, time, feature)
    y = result[0] if isinstance(result, tuple) else result
    return y, y.dims[1], time


MAKERS = {
    "repeat": lambda x, time, feature: dims.repeat(x, time, 2),
    "repeat_of_counts": lambda x, time, feature: dims.repeat(x, time, x.sum(feature).cast(int) // 20),
    "merge_dims": lambda x, time, feature: dims.merge_dims(x, [time, feature]),
    "merge_dims_the_other_way": lambda x, time, feature: dims.merge_dims(
        x.transpose([batch_dim, feature, time]), [feature, time]
    ),
    "flatten": lambda x, time, feature: dims.flatten(x, [time, feature]),
    "split_dims": lambda x, time, feature: dims.split_dims(
        dims.repeat(x, time, 2)[0], time * 2, [vl.Dim("pairs"), vl.Dim("two", 2)]
    ),
    "masked_select": lambda x, time, feature: dims.masked_select(x, x.sum(feature) > 20, [time]),
    "pad": lambda x, time, feature: dims.pad(x, time, 1, 2),
    "concat": lambda x, time, feature: dims.concat((x, time), (x, time)),
    "slice": lambda x, time, feature: dims.slice(dims.pad(x, time, 1, 2), 1 + time + 2, end=2),
    "window": lambda x, time, feature: dims.window(x, time, vl.Dim("width", 2), stride=2),
    "pool": lambda x, time, feature: dims.pool(x, "max", time, 2, padding="same"),
}

# What moves the rows of the batch, and the lengths of the dims that are over it with them.
MOVES = {
    "as_it_is": lambda y: y,
    "gather": lambda y: dims.gather(
        y, vl.Data(np.array([2, 0, 2]), [vl.Dim("pick", 3)], sparse_dim=batch_dim), batch_dim
    ),
    "masked_select": lambda y: dims.masked_select(
        y, vl.Data(np.array([True, False, True]), [batch_dim]), [batch_dim]
    )[0],
    "slice": lambda y: dims.slice(y, batch_dim, 1),
    "concat": lambda y: dims.concat((y, batch_dim), (y, batch_dim)),
    "replace_dim": lambda y: y.replace_dim(batch_dim, vl.Dim("rows")),
    "unflatten": lambda y: dims.unflatten(y, batch_dim, [vl.Dim("three", 3), vl.Dim("one", 1)]),
}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("name", MAKERS)
def test_made_dim_knows_its_lengths_wherever_its_rows_go(name, move):
    y, dim, _ = made_by(name)
    y = MOVES[move](y)
    dim = y.axis(dim)
    lengths = y.lengths(dim)
    assert (dim.lengths == lengths).all()
    assert ((dim + 1).lengths == lengths + 1).all()
    assert ((2 * dim + dim).lengths == 3 * lengths).all()
    assert (dim.ceildiv_right(2).lengths == -(-lengths // 2)).all()
    assert (dims.pad(y, dim, 1, 1).lengths(1 + dim + 1) == lengths + 2).all()
    assert (dims.slice(y, dim, 1).lengths(dim.sub_left(1)) == np.maximum(lengths - 1, 0)).all()
    assert (dims.concat((y, dim), (y, dim)).lengths(dim + dim) == 2 * lengths).all()
    assert (dims.repeat(y, dim, 3)[1].lengths == 3 * lengths).all()
    assert dims.window(y, dim, vl.Dim("width of it", 2)).axis(dim) == dim
    assert dims.pool(y, "max", dim, 2, padding="same").ndim == y.ndim


def test_made_dim_is_checked_against_others():
    _, twice, _ = made_by("repeat")
    other = vl.Dim("other", lengths=[1, 1])
    assert (twice + 1).is_defined
    with pytest.raises(LengthMismatchError, match="'batch' has length 3 in one and 2 in the other"):
        _ = (twice + other).lengths


def test_factors_of_a_repeated_dim_are_found_again():
    y, twice, time = made_by("repeat")
    assert twice.div_right(2) == time
    assert (twice.div_right(2).lengths == LENGTHS).all()
    y = MOVES["gather"](y)
    assert (y.axis(twice).div_right(2).lengths == [2, 3, 2]).all()


def test_merged_batch_of_equal_lengths_is_one_dim_of_known_size():
    time = vl.Dim("time", lengths=[2, 2])
    y = dims.merge_dims(vl.Data(np.arange(4), [batch_dim, time]), [batch_dim, time])
    (dim,) = y.dims
    assert [dim.max_size(), (dim + 1).max_size(), (2 * dim).max_size()] == [4, 5, 8]
    assert dims.pad(y, dim, 1, 1).to_list() == [0, 0, 1, 2, 3, 0]


@pytest.mark.parametrize("lengths", [2, [1, 1, 5], [9, 9, 9], [0, 0, 1]])
def test_slice_up_to_a_dim_is_cut_where_rows_are_shorter(lengths):
    _, _, time = made_by("repeat")
    x = vl.Data(np.arange(5), [batch_dim, time])
    end = vl.Dim("end", lengths) if lengths == 2 else vl.Dim("end", lengths=lengths)
    for start in (None, 0):
        found = dims.slice(x, time, start, end).to_list()
        rows = zip(x.to_list(), np.broadcast_to(lengths, 3), strict=True)
        assert found == [row[:n] for row, n in rows]
    fits = dims.slice(x, time, end=vl.Dim("end", lengths=[2, 0, 2]))
    assert fits.dims[1].name == "end"


@pytest.mark.parametrize("kind", ["numpy", "torch"])
@pytest.mark.parametrize("over", [["batch", "K"], ["K", "batch"]])
@pytest.mark.parametrize("kept", [["s"], ["K", "s"], ["batch", "s"], ["s", "feature", "K"]])
def test_batch_norm_keeps_dims_whose_lengths_are_over_those_that_go(kind, over, kept):
    batch, heads, feature = batch_dim.bind(2), vl.Dim("K", 2), vl.Dim("feature", 4)
    by_name = {"batch": batch, "K": heads, "feature": feature}
    outer = [by_name[name] for name in over]
    time = by_name["s"] = vl.Dim("s").bind(np.array([[1, 2], [3, 0]]), outer)
    x = vl.Data(np.random.default_rng(0).normal(size=(6, 4)), [*outer, time, feature])
    if kind == "torch":
        pytest.importorskip("torch")
        x = x.torch()
    scale = vl.Data(np.arange(4.0), [feature])
    scale = scale.torch() if kind == "torch" else scale
    gone = [dim for dim in x.dims if dim not in [by_name[name] for name in kept]]
    wanted = dims.layer_norm(x, gone, scale=scale, bias=scale, eps=1e-3).values
    for statistics in (None, dims.moments(x, gone)):
        found = dims.batch_norm(x, kept, statistics=statistics, scale=scale, bias=scale)
        np.testing.assert_allclose(np.asarray(found.values), np.asarray(wanted), rtol=1e-12)


def test_hint_of_out_dim_stands_where_the_algebra_gives_a_name():
    _, _, time = made_by("repeat")
    x = vl.Data(np.arange(5), [batch_dim, time])
    short = dims.slice(x, time, 5)
    for left, name in ((5, "time"), (1, r"-4\+time")):
        with pytest.raises(LengthMismatchError, match=f"'{name}' is .* give out_dim= without lengths"):
            dims.pad(short, short.dims[1], left, 0)
        padded = dims.pad(short, short.dims[1], left, 0, out_dim=vl.Dim("padded"))
        assert padded.lengths().tolist() == [left] * 3
