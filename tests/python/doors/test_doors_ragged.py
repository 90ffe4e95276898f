"""The doors of Level and Ragged: bad input is refused by name and place, odd memory gives the same."""

import numpy as np
import pytest
import varlen as vl
from doors import INTEGERS, NAN, ODD, OUTPUTS, WHOLE, doors, masked, refuses
from varlen import Level, Ragged

BLOCK = np.arange(6).reshape(2, 3)


def example():
    return Ragged(np.arange(6), [3, 1, 2])


@pytest.mark.parametrize(
    ("door", "given", "error", "text"),
    doors(
        INTEGERS,
        **{
            "lengths of a level": Level,
            "lengths from_lengths": Level.from_lengths,
            "offsets from_offsets": Level.from_offsets,
            "bounds from_bounds": Level.from_bounds,
            "row_ids from_row_ids": Level.from_row_ids,
            "lengths of Ragged": lambda x: Ragged(np.arange(6), x),
            "lengths of two levels": lambda x: Ragged(np.arange(6), lengths=[[2, 0], x]),
            "offsets of Ragged": lambda x: Ragged(np.arange(6), offsets=x),
            "levels of Ragged": lambda x: Ragged(np.arange(6), levels=[x]),
            "row_ids of Ragged": lambda x: Ragged.from_row_ids(np.arange(6), x),
            "lengths of a block": lambda x: Ragged.from_dense(BLOCK, x),
        },
    ),
)
def test_structure_is_integers(door, given, error, text):
    refuses(door, given, error, text, BLOCK)


def test_sizes_of_pieces_are_integers():
    r = example()
    for given, error, text in INTEGERS[2:]:
        refuses(r.split, given, error, f"sizes: .*{text}", r)


@pytest.mark.parametrize(
    ("door", "given", "error", "text"),
    doors(
        WHOLE,
        pad_to_multiple_of=lambda x: example().to_dense(pad_to_multiple_of=x),
        max_len=lambda x: example().to_dense(max_len=x),
        max_bytes=lambda x: example().to_dense(max_bytes=x),
        count=lambda x: Ragged.from_row_ids([1], [0], x),
        sizes=lambda x: example().split(x),
    ),
)
def test_numbers_are_whole(door, given, error, text):
    refuses(door, given, error, text)


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ([2**61], OverflowError, "row_ids: 2305843009213693953 sequences do not fit into memory"),
        ([2**63 - 1], OverflowError, "row_ids: 9223372036854775807 sequences"),
        ([0, -3], ValueError, "row_ids: position 1 holds row id -3"),
        ([1, 0], ValueError, "row_ids: (position|row ids)"),
    ],
)
def test_row_ids_name_sequences_that_can_be(given, error, text):
    refuses(Level.from_row_ids, given, error, text)
    for count, wrong in ((-2, ValueError), (1.5, TypeError), (True, TypeError), (2**70, OverflowError)):
        with pytest.raises(wrong, match="count: "):
            Level.from_row_ids([0], count)


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ([1, None], TypeError, r"values\[1\]: expected a number, got NoneType"),
        ([1, [2]], ValueError, "values: not a rectangle"),
        ([2**70, 1], OverflowError, rf"values\[0\]: {2**70} does not fit 64 bits"),
        ((1, object()), TypeError, r"values\[1\]: expected a number, got object"),
        (np.array(["a", "b"], dtype=np.dtypes.StringDType()), TypeError, "values: arrays of Python objects"),
        ({1, 2}, TypeError, "values: arrays of Python objects"),
        ("ab", ValueError, "values: expected at least one dimension"),
        (masked(), TypeError, "values: expected an array without a mask"),
    ],
)
def test_values_are_rows(given, error, text):
    with pytest.raises(error, match=text):
        Ragged(given, [1, 1])


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (None, TypeError, "data: expected a list, tuple or array, got NoneType"),
        ("ab", TypeError, "data: expected a list, tuple or array, got str"),
        ({"a": 1}, TypeError, "data: expected a list, tuple or array, got dict"),
        ([1, 2], ValueError, "data: expected lists inside a list"),
        ([[1, None]], TypeError, r"data\[0\]\[1\]: expected a number, got NoneType"),
        ([[1], ["a"]], TypeError, r"data\[1\]\[0\]: expected a number, got str"),
        ([[[1]], [[2, b"3"]]], TypeError, r"data\[1\]\[0\]\[1\]: expected a number, got bytes"),
        ([[1], 2], ValueError, r"data\[1\]: expected a list or an array, got int: not nested as deep"),
        ([[1], [[2]]], ValueError, r"data\[1\]\[0\]: expected a number, got list: nested deeper"),
        ([[2**64]], OverflowError, rf"data\[0\]\[0\]: {2**64} does not fit 64 bits"),
        ([[2**63], [-1]], OverflowError, "data: no 64-bit integer type holds both"),
        ([np.ones((1, 2)), np.ones((1, 3))], ValueError, r"data\[1\]: has shape \(1, 3\)"),
        ([np.array([1, None])], TypeError, r"data\[0\]\[1\]: expected a number, got NoneType"),
        ([np.ones(2), masked()], TypeError, r"data\[1\]: expected an array without a mask"),
    ],
)
def test_lists_are_nested_alike_around_numbers(given, error, text):
    with pytest.raises(error, match=text):
        Ragged.from_list(given)


def test_lists_that_contain_themselves_end():
    endless = [1]
    endless.append(endless)
    with pytest.raises(ValueError, match=r"data\[0\]\[1\]: a list that contains itself"):
        Ragged.from_list([endless])
    for nested in ([], [[]], [[1], (), []]):
        nested.append(nested)
        for data in (nested, [nested], [[], [nested]], [[[1]], nested]):
            with pytest.raises(ValueError, match=r"data.*: .*a list that contains itself"):
                Ragged.from_list(data)
    shared = [1, 2]
    assert Ragged.from_list([[shared, shared], [shared]]).to_list() == [[[1, 2], [1, 2]], [[1, 2]]]
    deep = [1]
    for _ in range(100):
        deep = [deep]
    with pytest.raises(ValueError, match="data: nested deeper than 64 levels"):
        Ragged.from_list(deep)


def test_lists_of_tensors_that_contain_themselves_end():
    torch = pytest.importorskip("torch")
    endless = [[torch.ones(2)]]
    endless.append(endless)
    with pytest.raises(ValueError, match=r"data\[1\]: a list that contains itself"):
        Ragged.from_list(endless)


@pytest.mark.parametrize(
    ("dtype", "error", "text"),
    [
        ("int8", OverflowError, r"data\[0\]\[1\]: 300 does not fit int8"),
        ("uint8", OverflowError, r"data\[0\]\[1\]: 300 does not fit uint8"),
        ("bool", ValueError, r"data\[0\]\[1\]: 300 is neither 0 nor 1"),
        ("V4", TypeError, r"data\[0\]\[0\]: int64 values do not go into .*, such as 1"),
        (object, TypeError, "dtype: object holds Python objects"),
        (np.dtypes.StringDType(), TypeError, "dtype: StringDType.* holds Python objects"),
        ("nope", TypeError, "expected a NumPy dtype, got 'nope'"),
    ],
)
def test_dtypes_that_do_not_hold_the_numbers(dtype, error, text):
    with pytest.raises(error, match=text):
        Ragged.from_list([[1, 300], [-1]], dtype=dtype)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({}, TypeError, "exactly one of lengths and mask"),
        ({"lengths": [1, 1], "mask": np.ones((2, 3), bool)}, TypeError, "exactly one of lengths and mask"),
        ({"lengths": [1]}, ValueError, "lengths: 1 of them for 2 rows"),
        ({"lengths": [1, 4]}, ValueError, "lengths: row 1 has length 4, the block is 3 wide"),
        ({"lengths": [1, -1]}, ValueError, "lengths: row 1 has a negative length, -1"),
        ({"lengths": [[1, 2], [1, 1, 1]]}, ValueError, r"block: expected \(n, width, ...\) for 2 levels"),
        ({"mask": np.ones((2, 2), bool)}, ValueError, r"mask: has shape \(2, 2\), the block \(2, 3\)"),
        ({"mask": np.ones(2, bool)}, ValueError, r"mask: has shape \(2,\)"),
        ({"mask": np.ones((2, 3))}, TypeError, "mask: expected bool, got float64"),
        ({"mask": np.array([[1, 0, 1], [1, 1, 0]], bool)}, ValueError, "mask: row 0 of the mask has a gap"),
        ({"mask": np.ma.ones((2, 3)).astype(bool)}, TypeError, "mask: expected an array without a mask"),
        ({"lengths": [1, 1], "padding_side": None}, ValueError, "padding_side must be .*; got '?None'?"),
        (
            {"mask": np.ones((2, 3), bool), "padding_side": 1},
            ValueError,
            "padding_side must be .*; got '?1'?",
        ),
        ({"lengths": [3, 3], "out": [0] * 6}, TypeError, "out: expected an array, got list"),
        (
            {"lengths": [3, 3], "out": np.zeros(5, int)},
            ValueError,
            r"out: needs int64\(6,\), got int64\(5,\)",
        ),
        ({"lengths": [3, 3], "out": BLOCK.reshape(-1)}, ValueError, "out: shares memory"),
    ],
)
def test_blocks_fit_their_lengths(arguments, error, text):
    refuses(lambda x: Ragged.from_dense(BLOCK, **x), arguments, error, text, BLOCK)


@pytest.mark.parametrize(("out", "error", "text"), OUTPUTS)
def test_rectangles_are_written_where_they_fit(out, error, text):
    r = Ragged(np.arange(5), [3, 2])
    refuses(lambda o: r.to_dense(out=o), out, error, f"out: .*({text})", r)
    assert r.to_dense(out=np.ones((2, 3), int)).tolist() == [[0, 1, 2], [3, 4, 0]]


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"padding_side": "up"}, ValueError, "padding_side must be 'left' or 'right'; got 'up'"),
        ({"padding_side": None}, ValueError, "padding_side must be 'left' or 'right'; got '?None'?"),
        ({"truncate": 3}, ValueError, "truncate must be 'left' or 'right'; got '?3'?"),
        ({"fill": "a"}, ValueError, "fill: 'a' does not fit int64"),
        ({"fill": 2.5}, ValueError, "fill: 2.5 does not fit int64"),
        ({"fill": NAN}, ValueError, "fill: nan does not fit int64"),
        ({"fill": 2**70}, ValueError, "fill: .* does not fit int64"),
        ({"fill": [1, 2]}, ValueError, r"fill: expected one number, got shape \(2,\)"),
        ({"max_len": [1, 1]}, ValueError, "max_len: 2 numbers for 1 levels"),
        ({"max_len": [1.5]}, TypeError, "max_len: expected an integer, got float"),
        ({"max_len": [-1]}, ValueError, "max_len: expected at least 0, got -1"),
        ({"mask": "yes"}, TypeError, "mask: expected an array, got str"),
        ({"mask": np.zeros((3, 2), bool)}, ValueError, r"mask: needs bool\(3, 3\), got bool\(3, 2\)"),
        ({"dtype": object}, TypeError, "int64 does not become object"),
        ({"dtype": np.int8}, ValueError, r"values: element 5 \(row 5\) is 300, which does not fit int8"),
        (
            {"max_bytes": 71},
            ValueError,
            r"\(3, 3\) of 8 bytes .* 72 bytes, over max_bytes=71; give max_len",
        ),
        (
            {"pad_to_multiple_of": 2**40},
            ValueError,
            r"\(3, 1099511627776\).*over max_bytes=.*; give max_len",
        ),
        ({"pad_to_multiple_of": 2**62}, OverflowError, "does not fit 63 bits"),
        ({"out": np.zeros((3, 4), int)}, ValueError, r"out: needs int64\(3, 3\), got int64\(3, 4\)"),
    ],
)
def test_rectangles_name_options_that_do_not_fit(options, error, text):
    r = Ragged(np.array([0, 1, 2, 3, 4, 300]), [3, 1, 2])
    refuses(lambda x: r.to_dense(**x), options, error, text, r)


def test_outputs_stay_as_they_were_where_a_value_does_not_fit():
    r, out = Ragged(np.array([1, 2, 3, 300]), [2, 2]), np.full((2, 2), 7, np.int8)
    refuses(lambda o: r.to_dense(dtype=np.int8, out=o), out, ValueError, "element 3", r)


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        (2**70, IndexError, f"index {2**70} is out of range"),
        ((slice(None), -(2**70)), IndexError, "index -.* is out of range"),
        (np.array([0, 2**63], "u8"), OverflowError, "index: .*63 bits"),
        ([0, 2**70], IndexError, "not by list of object"),
        ([0, None], IndexError, "not by list of object"),
        (masked(), TypeError, "index: expected an array without a mask"),
        (np.ma.array([True] * 3, mask=[1, 0, 0]), TypeError, "index: expected an array without a mask"),
        ((masked(), slice(1)), TypeError, "index: expected an array without a mask"),
        (np.array([[True]] * 3), IndexError, r"index: expected one dimension, got shape \(3, 1\)"),
        ((slice(None), True), IndexError, "not by bool"),
        ({0}, IndexError, "not by set"),
    ],
)
def test_indices_are_in_range_and_whole(key, error, text):
    r = example()
    refuses(lambda k: r[k], key, error, text, r)
    with pytest.raises(TypeError, match="i: expected an integer, got bool"):
        r.row(True)


@pytest.mark.parametrize(
    ("parts", "error", "text"),
    [
        (None, TypeError, "raggeds: expected a list of Ragged, got NoneType"),
        (3, TypeError, "raggeds: expected a list of Ragged, got int"),
        (example(), TypeError, "raggeds: expected a list of Ragged, got one Ragged"),
        ([], ValueError, "raggeds: expected at least one part"),
        ([example(), [1]], TypeError, "raggeds: part 1: expected a Ragged, got list"),
        ([example(), Ragged([1], lengths=[[1], [1]])], ValueError, "raggeds: part 1 has 2 levels"),
        ([example(), Ragged(np.ones((1, 2)), [1])], ValueError, r"raggeds: part 1 has rows of shape \(2,\)"),
        (
            [example(), Ragged(np.array([1], "M8[s]"), [1])],
            TypeError,
            "raggeds: no dtype holds int64 and",
        ),
    ],
)
def test_parts_go_together(parts, error, text):
    for door in (vl.concatenate, vl.stack):
        refuses(door, parts, error, text)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda r: r + np.array([1, None, 2]), TypeError, "unsupported operand"),
        (
            lambda r: r + np.array([1, 2, 3], object),
            TypeError,
            "the result would hold Python objects",
        ),
        (lambda r: r + masked((1, 2, 3), (1, 0, 0)), TypeError, "operand: expected an array without a mask"),
        (lambda r: np.add(r, [1, 2]), ValueError, r"an array of shape \(2,\) does not match 3 sequences"),
        (lambda r: np.add(r, 1, out=Ragged(bytes_of(48), levels=r.levels)), ValueError, "read-only"),
        (lambda r: np.add(r, 1.5, out=r.copy()), TypeError, "Cannot cast"),
        (lambda r: r.astype(object), TypeError, "dtype: object holds Python objects"),
        (lambda r: r.astype("nope"), TypeError, "expected a NumPy dtype, got 'nope'"),
    ],
)
def test_operands_go_together(call, error, text):
    r = example()
    refuses(call, r, error, text)


def bytes_of(n):
    return np.frombuffer(bytes(n), np.int64)


@pytest.mark.parametrize("lay", ODD.values(), ids=ODD)
def test_odd_memory_gives_what_plain_memory_gives(lay):
    lengths, values = [3, 0, 2], [7, 8, 9, 4, 5]
    want = [[7, 8, 9], [], [4, 5]]
    for r in (
        Ragged(lay(values), lay(lengths)),
        Ragged(lay(values), offsets=lay([0, 3, 3, 5])),
        Ragged(lay(values), levels=[Level.from_bounds(lay([3, 3, 5]))]),
        Ragged.from_row_ids(lay(values), lay([0, 0, 0, 2, 2])),
        Ragged.from_dense(np.array([[7, 8, 9], [0, 0, 0], [4, 5, 0]]), lay(lengths)),
    ):
        assert r.to_list() == want
        assert r[np.asarray(lay([2, 0]))].to_list() == [want[2], want[0]]
        assert r.to_dense(fill=1).tolist() == [[7, 8, 9], [1, 1, 1], [4, 5, 1]]
        assert [piece.to_list() for piece in r.split(lay([1, 2]))] == [want[:1], want[1:]]
    assert Level(lay(lengths)) == Level(lengths)
