"""The doors of varlen.ops and of the package: bad input is refused by name and place, nothing is changed."""

import numpy as np
import pytest
import varlen as vl
from doors import OUTPUTS, WHOLE, doors, masked, read_only, refuses
from varlen import Ragged, arguments, ops

PARTS = [np.array([3, 1, 4]), np.array([1, 5])]


@pytest.mark.parametrize(
    ("door", "given", "error", "text"),
    doors(
        WHOLE,
        pad_to_multiple_of=lambda x: ops.pad(PARTS, x),
        max_len=lambda x: ops.pad(PARTS, max_len=x),
        max_bytes=lambda x: ops.pad(PARTS, max_bytes=x),
        n=vl.set_num_threads,
    ),
)
def test_numbers_are_whole(door, given, error, text):
    refuses(door, given, error, text)


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (None, TypeError, "arrays: expected a list of arrays"),
        (3, TypeError, "arrays: expected a list of arrays"),
        ("ab", TypeError, r"arrays\[0\]: expected an array, got str"),
        ([None], TypeError, r"arrays\[0\]: expected an array, got NoneType"),
        ([1, 2], ValueError, r"arrays\[0\]: expected at least one dimension, got a scalar"),
        ([[1], 2], ValueError, r"arrays\[1\]: expected at least one dimension, got a scalar"),
        ([[1], [2, None]], TypeError, r"arrays\[1\]\[1\]: expected a number, got NoneType"),
        ([[1], [2, "a"]], TypeError, r"arrays\[1\]\[1\]: expected a number, got str"),
        ([[1], [[2], [3, 4]]], ValueError, r"arrays\[1\]: a list that is no rectangle of numbers"),
        ([[2**70]], TypeError, r"arrays\[0\]: "),
        ([np.array([None])], TypeError, r"arrays\[0\]: arrays of Python objects"),
        ([PARTS[0], masked()], TypeError, r"arrays\[1\]: expected an array without a mask"),
        ([PARTS[0], np.ones((1, 1))], ValueError, r"arrays\[1\]: has shape \(1, 1\), but arrays\[0\]"),
        ([np.ones((1, 2)), np.ones((1, 3))], ValueError, r"arrays\[1\]: has shape \(1, 3\)"),
        ([PARTS[0], np.array([1], "M8[s]")], TypeError, "arrays: no dtype holds int64 and datetime64"),
        ([np.zeros(1, "i4,i4"), PARTS[0]], TypeError, "arrays: no dtype holds"),
    ],
)
def test_arrays_differ_in_their_length_alone(given, error, text):
    for door in (ops.pad, ops.list2ragged):
        refuses(door, given, error, text)


@pytest.mark.parametrize(
    ("dtype", "error", "text"),
    [
        ("int8", OverflowError, r"arrays\[1\]\[1\]: 300 does not fit int8"),
        ("bool", ValueError, r"arrays\[0\]\[1\]: 2 is neither 0 nor 1"),
        (object, TypeError, "dtype: object holds Python objects"),
        (np.dtypes.StringDType(), TypeError, "dtype: StringDType.* holds Python objects"),
        ([("a", "i4"), ("b", object)], TypeError, "dtype: .* holds Python objects"),
        ("nope", TypeError, "expected a NumPy dtype, got 'nope'"),
    ],
)
def test_dtypes_hold_the_numbers_and_no_objects(dtype, error, text):
    arrays = [np.array([1, 2]), np.array([1, 300])]
    for door, shape in ((ops.pad, (2, 2)), (ops.list2ragged, (4,))):
        out = np.full(shape, 7, np.int8)
        refuses(lambda x, door=door: door(arrays, dtype=dtype, out=x), out, error, text)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"padding_side": "up"}, ValueError, "padding_side must be 'left' or 'right'; got 'up'"),
        ({"truncate": None}, ValueError, "truncate must be 'left' or 'right'; got None"),
        ({"fill": "a"}, ValueError, "fill: 'a' does not fit int64"),
        ({"fill": 1.5}, ValueError, "fill: 1.5 does not fit int64"),
        ({"fill": 2**70}, ValueError, f"fill: {2**70} does not fit int64"),
        ({"fill": None}, TypeError, "fill: expected a value, got None"),
        ({"fill": [1, 2]}, ValueError, r"fill: expected one number, got shape \(2,\)"),
        (
            {"max_bytes": 47},
            ValueError,
            "2 sequences padded to 3 rows .* 48 bytes, over max_bytes=47; give max_len",
        ),
        (
            {"pad_to_multiple_of": 2**50},
            ValueError,
            "2 sequences padded to .* over max_bytes=.*; give max_len",
        ),
        ({"pad_to_multiple_of": 2**62}, OverflowError, "do not fit 63 bits"),
        ({"out": np.zeros((2, 2), int)}, ValueError, r"out: has shape \(2, 2\), but \(2, 3\) is needed"),
        ({"out": np.zeros((3, 3), int)}, ValueError, r"out: has shape \(3, 3\)"),
    ],
)
def test_rectangles_name_options_that_do_not_fit(options, error, text):
    refuses(lambda x: ops.pad(PARTS, **x), options, error, text, PARTS)


@pytest.mark.parametrize(("out", "error", "text"), OUTPUTS)
def test_outputs_are_written_where_they_fit(out, error, text):
    refuses(lambda o: ops.pad(PARTS, out=o), out, error, f"out: .*({text})", PARTS)
    flat = out.reshape(-1)[:5] if isinstance(out, np.ndarray) and out.flags.c_contiguous else out
    if flat is not out:
        refuses(lambda o: ops.list2ragged(PARTS, out=o), flat, error, f"out: .*({text})", PARTS)


def test_outputs_do_not_share_memory_with_the_arrays():
    memory = np.arange(8)
    arrays = [memory[:3], memory[3:5], np.zeros(0, int)]
    refuses(
        lambda o: ops.pad(arrays, out=o), memory[2:8].reshape(3, 2).repeat(1), ValueError, "out: ", arrays
    )
    refuses(
        lambda o: ops.pad(arrays[:2], out=o), memory[2:8].reshape(2, 3), ValueError, "out: shares", memory
    )
    refuses(lambda o: ops.list2ragged(arrays, out=o), memory[3:], ValueError, "out: shares", memory)
    assert ops.list2ragged([memory[:2], memory[:1]], out=memory[2:5]).to_list() == [[0, 1], [0]]


@pytest.mark.parametrize("given", [None, 3, [1], PARTS, {"levels": 1, "values": 2}])
def test_ragged2list_takes_a_ragged(given):
    refuses(ops.ragged2list, given, TypeError, "ragged: expected a Ragged, got ")


def test_odd_memory_gives_what_plain_memory_gives():
    want = [[3, 1, 4], [1, 5]]
    for lay in (
        lambda x: np.repeat(x, 2)[::2],
        lambda x: np.array(x)[::-1].copy()[::-1],
        lambda x: np.array(x, ">i8"),
        lambda x: np.array(x, "i1"),
        read_only,
        list,
        tuple,
        memoryview,
    ):
        parts = [lay(part) for part in PARTS]
        assert ops.pad(parts).tolist() == [want[0], [*want[1], 0]]
        assert ops.list2ragged(parts).to_list() == want
        assert [row.tolist() for row in ops.ragged2list(ops.list2ragged(iter(parts)))] == want
        assert Ragged.from_list(parts).to_list() == want if lay is not memoryview else True


def test_arguments_speak_in_one_voice():
    assert arguments.as_int(np.uint8(3), "n") == 3
    assert arguments.as_int(np.array(3), "n") == 3
    assert arguments.as_int(2**80, "seed", maximum=None) == 2**80
    assert arguments.ints_per_level(np.array([1, 2]), "n", 3) == [1, 2, None]
    assert arguments.as_list({"a": 1}, "keys", "keys") == ["a"]
    with pytest.raises(TypeError, match=r"n: expected an int, got \[0, 1, 2, 3, 4, 5, ...\]"):
        arguments.as_int(list(range(100)), "n")


class ByDlpack:
    """An object of a library that nothing here knows, but for DLPack."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


def test_objects_of_dlpack_are_rows_where_the_host_reads_them():
    x = np.arange(3.0)
    r = vl.Ragged(ByDlpack(x), [2, 1])
    assert np.shares_memory(r.values, x)
    assert vl.ops.reduce_sum(ByDlpack(x), [2, 1]).tolist() == [1, 2]
    with pytest.raises(TypeError, match=r"values: a ByDlpack on a device; give cupy\.asarray"):
        vl.Ragged(ByDlpack(x, (2, 0)), [2, 1])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ops.list2array(np.array(1)), ValueError, "X: expected at least one dimension, got a scalar"),
        (lambda: ops.pad(np.array(1)), TypeError, "arrays: expected a list of arrays, got ndarray"),
        (lambda: ops.list2ragged(np.array(1)), TypeError, "arrays: expected a list of arrays, got ndarray"),
        (lambda: ops.list2padded(np.array(1)), TypeError, "seqs: expected a list of arrays, got ndarray"),
        (lambda: ops.split(np.array(1), 1), ValueError, "ragged: expected at least one dimension"),
        (lambda: ops.block_mask([2], window=[1]), ValueError, r"window: .*, or two of them, got \[1\]"),
        (lambda: ops.segment_ids([2], level=np.array([1, 2])), TypeError, "level: expected an int"),
        (lambda: ops.backprop_lstm(np.ones((3, 2)), [3], 1, ()), ValueError, "params: expected at least one"),
        (lambda: ops.backprop_lstm(np.ones((3, 2)), [3], np.ones(2), 1), TypeError, "fwd_state: .* a tuple"),
        (lambda: ops.einsum("bt->b", PARTS[0], lengths=[1]), TypeError, "lengths: expected a dict"),
        (lambda: next(ops.minibatch(1, PARTS, shuffle=True, seed="a")), TypeError, "seed: expected a Gen"),
    ],
)
def test_what_is_no_list_no_pair_and_no_seed_is_refused(call, error, text):
    with pytest.raises(error, match=text) as found:
        call()
    assert "reason" in vars(found.value)


def test_a_mask_of_two_levels_names_what_tells_more():
    r = Ragged.from_list([[[1, 2], []], [], [[4]]])
    block, mask = r.to_dense(mask=True)
    with pytest.raises(ValueError, match=r"mask: has shape \(3, 2, 2\), .* pass lengths=r\.levels"):
        ops.from_dense(block, mask=mask)
    assert ops.from_dense(block, r.levels).to_list() == r.to_list()
