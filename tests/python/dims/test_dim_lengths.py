"""Lengths of dims: what they are bound to, over what, and what follows for derived ones."""

import numpy as np
import pytest
from devices import Array, Capture
from varlen import Data, Dim, Level, Padded, Ragged, _core
from varlen.dims import LengthMismatchError, batch_dim

time = Dim("time", lengths=[5, 3, 0])
beam = Dim(2, name="beam")


def numbers(dim):
    return dim.lengths.tolist()


@pytest.mark.parametrize(
    ("dim", "expected"),
    [
        (time - 4, [1, 0, 0]),
        (time - 4 + 4, [5, 3, 0]),
        (time.ceildiv_right(2), [3, 2, 0]),
        (time.sub_left(1).sub_right(1), [3, 1, 0]),
        (time.sub_left(1).sub_right(2).ceildiv_right(2), [1, 0, 0]),
        (time * 2 + 1, [11, 7, 1]),
        (time - 3 + 1, [3, 1, 0]),
        (1 + time + 1, [7, 5, 2]),
        ((1 + time + 1).sub_left(1).sub_right(1).ceildiv_right(2), [3, 2, 0]),
        (-time, [0, 0, 0]),
        (time.div_left(2), [2, 1, 0]),
        ((time - 4) // 2 + 1, [1, 1, 1]),  # a quotient is a dim of its own: its operands are cut off at 0
    ],
)
def test_lengths_of_derived_dims(dim, expected):
    assert numbers(dim) == expected


def test_only_the_total_is_cut_off():
    a, b, c = Dim("a", lengths=[5, 6, 7]), Dim("b", lengths=[20, 21, 22]), Dim("c", lengths=[10, 5, 3])
    assert numbers((a + b + c).sub_left(8).sub_left(8)) == [19, 16, 16]
    assert numbers(a - 8 + b + c - 8) == [19, 16, 16]
    p, q, r = Dim("p", lengths=[1, 9]), Dim("q", lengths=[4, 4]), Dim("r", lengths=[3, 1])
    assert numbers(p - (q - r)) == numbers(p - q + r) == [0, 6]
    assert numbers(1 + (p - q)) == [0, 6]
    assert numbers((1 + p) - q) == [0, 6]
    s = Dim("s", lengths=[6, 7, 0, 8])
    assert numbers((1 + s + 2).sub_left(3)) == [6, 7, 0, 8]


def test_extent_is_that_of_the_derived_lengths():
    assert (Dim("a", lengths=[2, 3]) + Dim("b", lengths=[5, 4])).max_size() == 7
    assert time.max_size() == 5
    assert Dim(7).max_size() == 7
    assert Dim("none", lengths=[]).max_size() == 0


def test_a_level_is_shared():
    level = Level([3, 0, 2])
    bound = Dim("x", lengths=level)
    assert bound.level is level
    assert Dim(level).level is level
    assert (bound + 0).level is level
    assert (bound + 2 - 2).level is level
    assert time.bind(level).level is level
    assert bound.lengths is level.lengths
    assert bound.offsets() is level.offsets
    derived = bound + 1
    assert derived.level is derived.level
    assert derived.level == Level([4, 1, 3])
    assert derived.offsets().tolist() == [0, 4, 5, 8]


def test_lengths_come_in_many_forms():
    torch = pytest.importorskip("torch")
    for given in (
        [5, 3, 0],
        (5, 3, 0),
        np.array([5, 3, 0], "u2"),
        np.array([5, 3, 0], ">i4"),
        torch.tensor([5, 3, 0]),
    ):
        assert numbers(time.bind(given)) == [5, 3, 0]
    square = torch.tensor([[1, 2], [3, 4]])
    assert numbers(Dim("x", lengths=square, over=[batch_dim, beam])) == [[1, 2], [3, 4]]
    with pytest.raises(TypeError):
        Dim("x", lengths=torch.tensor([1.5]))


def test_one_schema_serves_every_batch():
    schema = Dim("time")
    rule = 2 * schema + 1
    for lengths in ([1, 2], [3], []):
        bound = schema.bind(lengths)
        assert bound == schema
        assert 2 * bound + 1 == rule
        assert numbers(2 * bound + 1) == [2 * n + 1 for n in lengths]
    assert schema.lengths is None
    assert schema.level is None
    assert not rule.is_defined
    with pytest.raises(ValueError, match="'2\\*time\\+1' has no lengths: bind 'time' to some"):
        rule.max_size()


def test_scalars():
    one = Dim("one", lengths=3)
    assert (one.lengths.shape, int(one.lengths), one.over, one.max_size()) == ((), 3, (), 3)
    assert one.is_dynamic
    assert one.size is None
    assert Dim("one", lengths=np.array(3)).max_size() == 3
    assert numbers(time + one) == [8, 6, 3]
    static = Dim(4)
    assert (static.lengths.shape, int(static.lengths), static.dimension) == ((), 4, 4)
    assert numbers(one * static) == 12
    with pytest.raises(ValueError, match="lengths: expected at least 0, got -1"):
        Dim("one", lengths=-1)
    with pytest.raises(ValueError, match="over: one number is over nothing"):
        Dim("one", lengths=3, over=batch_dim)


def test_lengths_over_several_dims():
    square = Dim("square", lengths=[[1, 2], [3, 4], [5, 6]], over=[batch_dim, beam])
    assert square.lengths.shape == (3, 2)
    assert [dim.name for dim in square.over] == ["batch", "beam"]
    assert square.over == (batch_dim, beam)
    assert square.over[0].max_size() == 3
    assert numbers(square + time) == [[6, 7], [6, 7], [5, 6]]
    assert numbers(time + square) == [[6, 7], [6, 7], [5, 6]]
    assert numbers(square * square) == [[1, 4], [9, 16], [25, 36]]
    source = Dim("source", lengths=[10, 20], over=beam)
    assert numbers(time + source) == [[15, 25], [13, 23], [10, 20]]
    assert numbers(source + time) == [[15, 13, 10], [25, 23, 20]]
    assert numbers(square + source) == [[11, 22], [13, 24], [15, 26]]
    turned = Dim("turned", lengths=[[1, 3, 5], [2, 4, 6]], over=[beam, batch_dim.bind(3)])
    assert numbers(turned + square) == [[2, 6, 10], [4, 8, 12]]


def test_lengths_over_a_ragged_dim_come_one_after_the_other():
    outer = Dim("outer", lengths=[2, 0, 1])
    inner = Dim("inner", lengths=[4, 1, 2], over=[batch_dim, outer])
    assert numbers(inner) == [4, 1, 2]
    assert inner.over == (batch_dim, outer)
    p = Dim("p", lengths=[10, 20, 30])
    assert numbers(inner + p) == [14, 11, 32]
    assert numbers(p + inner) == [14, 11, 32]
    assert (p + inner).over == (batch_dim, outer)
    source = Dim("source", lengths=[100, 200], over=beam)
    assert numbers(inner + source) == [104, 204, 101, 201, 102, 202]
    assert numbers(source + inner) == [104, 101, 102, 204, 201, 202]
    deeper = Dim("deeper", lengths=Level(range(7)), over=[batch_dim, outer, inner])
    assert numbers(deeper * 2 + inner) == [4, 6, 8, 10, 9, 12, 14]
    with pytest.raises(ValueError, match="over: 'outer' has lengths over 'batch', which has to come before"):
        Dim("x", lengths=[1, 2, 3], over=[outer])
    with pytest.raises(LengthMismatchError, match=r"lengths: expected 3, .* got 2"):
        Dim("x", lengths=[1, 2], over=[batch_dim, outer])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: Dim("x", lengths=[1, -1]), ValueError, "lengths: row 1 has a negative length, -1"),
        (lambda: Dim("x", lengths=[1.5]), TypeError, "lengths: expected integers"),
        (lambda: Dim("x", lengths=[[1, 2]]), ValueError, "over: lengths of 2 axes need the dims"),
        (lambda: Dim("x", lengths=[[1, 2]], over=beam), ValueError, "over: expected 2 dims, .* got 1"),
        (lambda: Dim("x", lengths=[1, 2, 3], over=beam), LengthMismatchError, r"the shape \(2\).* got \(3\)"),
        (
            lambda: Dim("x", lengths=[[1, 2]], over=[beam, beam]),
            ValueError,
            "over: 'beam' is in it twice|the shape",
        ),
        (
            lambda: time + time.bind([5, 4, 0]),
            LengthMismatchError,
            "row 1 of 'time' has length 3 in one and 4",
        ),
        (
            lambda: time + time.bind([5, 4]),
            LengthMismatchError,
            "'time' have 3 rows in one and 2 in the other",
        ),
        (
            lambda: time.bind(3) + time.bind(4),
            LengthMismatchError,
            "'time' has length 3 in one and 4 in the other",
        ),
        (lambda: time.bind(3) + time, LengthMismatchError, "are over other dims"),
        (
            lambda: (time + Dim("x", lengths=[1])).lengths,
            LengthMismatchError,
            "'batch' has length 3 in one and 1 in the other",
        ),
        (lambda: (time // (time - 2)).lengths, ValueError, "divisor: 'time-2' has length 0 in row 2"),
        (
            lambda: (Dim("x", lengths=[1, 2**62]) * 4).lengths,
            OverflowError,
            "length in row 1 does not fit 63 bits",
        ),
    ],
)
def test_bad_lengths_are_named(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_equal_lengths_of_two_bindings_agree():
    again = time.bind(np.array([5, 3, 0]))
    assert again.level is not time.level
    assert numbers(time + again) == [10, 6, 0]


def test_lengths_stay_on_their_device_until_they_are_read():
    """A Level travels as the object that it is: nothing is asked of it that would wait."""
    host = pytest.importorskip(
        "varlen._cuda_host", reason="the kernels of devices were not built for the host"
    )
    _core.register(host_kernels=host.kernels)
    try:
        bound = Dim("x", lengths=Array(np.array([3, 0, 2])))
        with Capture():
            assert not bound.level.is_on_host
            assert (bound - 1 + 1).level is bound.level
            assert bound == time - time + bound
            assert repr(bound) == "Dim('x', 3 lengths on a device over batch)"
            assert repr(bound + 1) == "Dim('x+1', lengths on a device)"
        assert numbers(bound + 1) == [4, 1, 3]
        assert bound.level.is_on_host
    finally:
        _core.forget_kernels()


@pytest.mark.parametrize(
    ("dim", "text"),
    [
        (Dim("x"), "Dim('x')"),
        (Dim(3, name="x"), "Dim('x', 3)"),
        (Dim("x", lengths=3), "Dim('x', length 3)"),
        (time + 1, "Dim('time+1', 3 lengths 1 to 6 over batch)"),
        (time // (time - 2), "Dim('time//(time-2)', no lengths)"),
        (Dim("x", lengths=[[1, 2]], over=[batch_dim, beam]), "Dim('x', 2 lengths 1 to 2 over batch, beam)"),
    ],
)
def test_printed(dim, text):
    assert repr(dim) == text


def test_lengths_may_be_a_data_which_says_what_they_are_over():
    counts = Data(np.array([[1, 2], [0, 3]], np.int32), [batch_dim, beam])
    for dim in (Dim("x", lengths=counts), Dim("x").bind(counts), Dim(counts, name="x")):
        assert dim.over == (batch_dim, beam)
        assert numbers(dim) == [[1, 2], [0, 3]]
    turned = Dim("x", lengths=counts.transpose([beam, batch_dim]))
    assert turned.over == (beam, batch_dim)
    assert numbers(turned) == [[1, 0], [2, 3]]
    alone = Dim("x", lengths=counts.sum())
    assert (alone.over, numbers(alone)) == ((), 6)


def test_lengths_may_be_a_data_over_ragged_dims():
    words = Data(np.array([2, 0, 1]), [batch_dim, Dim("rows", lengths=[1, 2])])
    dim = Dim("words", lengths=words)
    assert dim.over == words.dims
    assert numbers(dim) == [2, 0, 1]
    letters = Data(np.arange(3), [*words.dims, dim])
    assert letters.to_list() == [[[0, 1]], [[], [2]]]


def test_lengths_may_be_a_ragged_over_dims_that_are_said():
    rows = Dim("rows")
    given = Ragged([2, 0, 1], [1, 2])
    dim = Dim("words", lengths=given, over=[batch_dim, rows])
    assert dim.over == (batch_dim, rows)
    assert numbers(dim.over[1]) == [1, 2]
    assert numbers(dim) == [2, 0, 1]
    with pytest.raises(LengthMismatchError, match="'rows' is 2 long in row 0, but 1 are given"):
        Dim("words", lengths=given, over=[batch_dim, rows.bind([2, 1])])


def test_lengths_may_be_a_data_of_tensors():
    torch = pytest.importorskip("torch")
    dim = Dim("x", lengths=Data(torch.tensor([3, 1]), [batch_dim]))
    assert numbers(dim) == [3, 1]
    assert dim.over == (batch_dim,)


@pytest.mark.parametrize(
    ("lengths", "over", "error", "text"),
    [
        (
            Data(np.array([1, 2]), [batch_dim]),
            batch_dim,
            TypeError,
            r"over: lengths that are a Data are over its dims, \[batch\(2\)\]",
        ),
        (
            Data(np.array([1.0]), [batch_dim]),
            None,
            TypeError,
            "lengths: expected integers, got a Data of float",
        ),
        (
            Data(np.array([True]), [batch_dim]),
            None,
            TypeError,
            "lengths: expected integers, got a Data of bool",
        ),
        (Data(np.array([-1]), [batch_dim]), None, ValueError, "lengths: row 0 has a negative length, -1"),
        (
            Ragged([1, 2], [1, 1]),
            None,
            TypeError,
            "lengths: a Ragged does not name the dims .* pass them as over=",
        ),
        (Ragged([1, 2], [1, 1]), batch_dim, ValueError, "dims: 1 dims"),
        (
            Ragged([0.5], [1]),
            [batch_dim, Dim("rows")],
            TypeError,
            "lengths: expected integers, got a Data of float64",
        ),
        (Padded.from_ragged(Ragged([1], [1])), None, TypeError, "lengths: expected integers, got a Padded"),
    ],
)
def test_containers_that_are_no_lengths(lengths, over, error, text):
    with pytest.raises(error, match=text):
        Dim("x", lengths=lengths, over=over)
