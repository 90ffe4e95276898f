"""The dtype in which rows are accumulated, against NumPy, and integers beyond it, against Python's."""

import itertools
import math
import operator

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from varlen import Data, Dim, Level, ops
from varlen.dims import batch_dim

LENGTHS = [3, 0, 2]
DTYPES = ["bool", "int8", "uint8", "int32", "int64", "uint64", "float32", "float64"]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
MOST = 2**63 - 1
VERBS = {"sum": operator.add, "prod": operator.mul}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("given", ["bool", "int8", "uint16", "int64", "float32"])
@pytest.mark.parametrize("verb", ["sum", "prod", "mean", "cumsum", "cumprod"])
def test_rows_are_accumulated_as_numpys_dtype_says(verb, given, dtype):
    r = vl.Ragged(np.array([1, 90, 3, 60, 2]).astype(given), LENGTHS)
    result = getattr(r, verb)(dtype=dtype)
    rows = result.values if verb.startswith("cum") else result[[0, 2]]
    wanted = [getattr(np, verb)(row, dtype=dtype) for row in (r.values[:3], r.values[3:])]
    assert result.dtype == dtype
    assert np.array_equal(rows, np.concatenate(wanted) if verb.startswith("cum") else wanted)
    by_numpy = getattr(np, verb)(r, axis=1, dtype=dtype)
    assert by_numpy.dtype == dtype
    expected = getattr(result, "values", result)
    if verb == "mean" and np.dtype(dtype).kind == "f":
        expected[1] = np.nan  # as NumPy's mean of nothing
    assert np.array_equal(getattr(by_numpy, "values", by_numpy), expected, equal_nan=True)


def test_a_dtype_is_that_of_what_is_added_not_of_the_sum_alone():
    halves = vl.Ragged(np.full(5000, 1.001, np.float16), [5000])
    assert halves.sum(dtype="float64") == halves.values.astype(float).sum()
    assert vl.Ragged([300, -300], [2]).sum(dtype="float16") == 0
    assert vl.Ragged([0.6, 0.6], [2]).sum(dtype=int).tolist() == [0]
    assert vl.Ragged([1.0, 2.0], [2]).sum(dtype=">f4").dtype == ">f4"


def rows_of(name, x, how):
    """What a scan gives of one sequence, in Python's integers; of a reduction one number."""
    op, start = VERBS[name.removeprefix("cum")], int(name.endswith("prod"))
    if not name.startswith("cum"):
        return [sum(x) if op is operator.add else math.prod(x)] if x else []
    x = x[::-1] if how["reverse"] else x
    found = list(itertools.accumulate(x, op, initial=start))
    found = found[: len(x)] if how["exclusive"] else found[1:]
    return found[::-1] if how["reverse"] else found


@st.composite
def near_the_edge(draw):
    """Integers whose sums and products come near to what a dtype holds, from either side, and lengths."""
    dtype, wanted = (np.iinfo(draw(st.sampled_from(INTS))) for _ in range(2))
    limits = [0, 1, -1, 2, dtype.min, dtype.max, wanted.min, wanted.max, wanted.max // 2 + 1, 2**32, -(2**31)]
    near = st.sampled_from(limits).flatmap(lambda x: st.integers(x - 2, x + 2))
    numbers = st.one_of(near, st.integers(dtype.min, dtype.max)).map(
        lambda x: min(max(x, dtype.min), dtype.max)
    )
    return dtype.dtype, wanted.dtype, draw(st.lists(st.lists(numbers, max_size=4), min_size=1, max_size=4))


@pytest.mark.parametrize("tensors", [False, True])
@pytest.mark.parametrize("name", ["sum", "prod", "cumsum", "cumprod"])
@given(drawn=near_the_edge(), reverse=st.booleans(), exclusive=st.booleans())
def test_integers_are_refused_where_pythons_are_beyond_the_dtype(name, tensors, drawn, reverse, exclusive):
    dtype, wanted, rows = drawn
    how = {"reverse": reverse, "exclusive": exclusive} if name.startswith("cum") else {}
    values = np.array(list(itertools.chain(*rows)), dtype)
    if tensors:
        torch = pytest.importorskip("torch")
        values, wanted = torch.from_numpy(values), getattr(torch, wanted.name)
    found = [rows_of(name, row, how) for row in rows]
    bounds = np.iinfo(str(wanted).removeprefix("torch."))
    beyond = [(i, x) for i, row in enumerate(found) for x in row if not bounds.min <= x <= bounds.max]
    verb = getattr(vl.Ragged(values, [len(row) for row in rows]), name)
    if beyond:
        i, x = beyond[0]
        with pytest.raises(
            OverflowError, match=rf"^{name}: .* in sequence {i} is beyond {bounds.dtype}"
        ) as error:
            verb(dtype=wanted, overflow="raise", **how)
        assert f"{x} in" in str(error.value) or "prod: about" in str(error.value)
        return
    result = verb(dtype=wanted, overflow="raise", **how)
    kept = found if name.startswith("cum") else [row or [int(name == "prod")] for row in found]
    assert result.dtype == wanted
    assert (result.values if name.startswith("cum") else result).tolist() == list(itertools.chain(*kept))


@pytest.mark.parametrize("tensors", [False, True])
def test_sums_of_the_dtypes_own_width_are_looked_at_without_dtype(tensors):
    def of(x, dtype):
        return pytest.importorskip("torch").from_numpy(np.array(x, dtype)) if tensors else np.array(x, dtype)

    assert ops.reduce_sum(of([MOST, MOST, -MOST], "int64"), [3], overflow="raise").tolist() == [MOST]
    assert ops.reduce_prod(of([2**40, 2**40, 0], "int64"), [3], overflow="raise").tolist() == [0]
    assert ops.reduce_prod(of([-(2**62), 2], "int64"), [2], overflow="raise").tolist() == [-(2**63)]
    assert ops.reduce_sum(of([2**63, MOST], "uint64"), [2], overflow="raise").tolist() == [2**64 - 1]
    assert ops.reduce_sum(of([255] * 300, "uint8"), [300], overflow="raise").tolist() == [255 * 300]
    with pytest.raises(OverflowError, match=f"cumsum: {2 * MOST} in sequence 0 is beyond int64"):
        ops.cumsum(of([MOST, MOST, -MOST], "int64"), [3], overflow="raise")
    with pytest.raises(OverflowError, match=r"cumprod: about 1\.20893e\+24 in sequence 0"):
        ops.cumprod(of([2**40, 2**40, 0], "int64"), [3], overflow="raise")
    with pytest.raises(
        OverflowError, match=rf"sum: {2**64} in sequence 1 is beyond uint64, .* dtype='float64'"
    ):
        ops.reduce_sum(of([1, 2**63, 2**63], "uint64"), [1, 2], overflow="raise")


def test_long_sequences_of_large_integers_add_up_without_a_false_alarm():
    count = 2**17
    x = np.tile(np.array([MOST, -MOST]), count)
    x[-1] += 7
    assert ops.reduce_sum(x, [2 * count], overflow="raise").tolist() == [7]
    assert ops.reduce_sum(x, [2 * count], dtype="int8", overflow="raise").tolist() == [7]
    x[-1], x[-3] = MOST, -MOST + 8
    with pytest.raises(OverflowError, match=f"sum: {2 * MOST + 8} in sequence 0"):
        ops.reduce_sum(x, [2 * count], overflow="raise")
    assert ops.reduce_prod(np.tile([1, -1], count), [2 * count], overflow="raise").tolist() == [1]


def test_empty_sequences_give_what_empty_says_and_the_dtype_holds():
    x = np.array([MOST, 1, 5])
    for empty in (-1, 0, MOST, -(2**63)):
        assert ops.reduce_sum(x - 5, [1, 0, 2], empty=empty, overflow="raise").tolist() == [
            MOST - 5,
            empty,
            -4,
        ]
        assert ops.reduce_prod(x, [1, 0, 2], empty=empty, overflow="raise").tolist() == [MOST, empty, 5]
    big = np.array([2**63, 1], np.uint64)
    assert ops.reduce_sum(big, [2, 0], empty=2**64 - 1, overflow="raise").tolist() == [2**63 + 1, 2**64 - 1]
    assert ops.reduce_sum(np.zeros((0, 2), int), [0, 0], empty=3, overflow="raise").tolist() == [[3, 3]] * 2
    assert ops.reduce_sum(np.zeros(0, int), [], overflow="raise").tolist() == []
    with pytest.raises(ValueError, match="empty: 300 does not fit int8"):
        ops.reduce_sum(x, [3, 0], empty=300, dtype="int8")
    with pytest.raises(ValueError, match="sequence 1 is empty"):
        ops.reduce_sum(x, [3, 0], empty=None, dtype="int8", overflow="raise")


NESTED = vl.Ragged(np.array([[1, 2**62], [MOST, 3], [5, 2**62], [1, 6]]), lengths=[[2, 1], [2, 0, 2]])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: NESTED.sum(overflow="raise"), rf"sum: {2**63} in column 0 of sequence 0 is"),
        (
            lambda: NESTED[1:].prod(overflow="raise"),
            r"prod: about 2\.76701e\+19 in column 1 of sequence 0 is",
        ),
        (lambda: NESTED.sum(level=0, overflow="raise"), rf"sum: {2**63} in column 0 of sequence 0 is"),
        (lambda: NESTED.sum(axis=0, overflow="raise"), rf"sum: {2**63} in column 1 of line 0 along axis 0"),
        (lambda: NESTED.sum(axis=-1, overflow="raise"), r"sum: \d+ in line 1 along axis -1"),
        (lambda: NESTED.sum(axis=(0, 1, 2, 3), overflow="raise"), r"in line 0 along axis \(0, 1, 2, 3\)"),
        (lambda: NESTED.cumsum(level=0, overflow="raise"), rf"cumsum: {2**63} in column 0 of sequence 0 is"),
        (lambda: NESTED.cumsum(axis=0, overflow="raise"), r"cumsum: \d+ in column 1 of line 0 along axis 0"),
        (lambda: NESTED.cumprod(axis=3, overflow="raise"), r"cumprod: about 2\.76701e\+19 in line 1 along"),
        (lambda: NESTED.cumsum(reverse=True, overflow="raise"), r"in column 0 of sequence 0 is"),
    ],
)
def test_errors_name_number_and_place(call, text):
    with pytest.raises(OverflowError, match=text):
        call()


def test_out_is_filled_with_the_dtype_and_kept_where_a_sum_is_refused():
    x, out = np.array([100, 100, 3]), np.array([7, 7], "int8")
    with pytest.raises(OverflowError, match=r"sum: 200 in sequence 0 is beyond int8, .* pass dtype='int64'"):
        ops.reduce_sum(x, [2, 1], out=out, dtype="int8", overflow="raise")
    assert out.tolist() == [7, 7]
    assert ops.reduce_sum(x, [2, 1], out=out, dtype="int8") is out
    assert out.tolist() == [-56, 3]
    running = np.zeros(3, "float32")
    assert ops.cumsum(x, [2, 1], out=running, dtype="float32") is running
    assert running.tolist() == [100, 200, 3]
    wide = np.zeros(2, "int64")
    assert ops.reduce_sum(x, [2, 1], out=wide, overflow="raise") is wide
    assert wide.tolist() == [200, 3]
    with pytest.raises(ValueError, match="out: needs"):
        ops.reduce_sum(x, [2, 1], out=wide, dtype="int8")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: ops.reduce_sum([1], [1], overflow="clip"),
            ValueError,
            "expected 'wrap' or 'raise', got 'clip'",
        ),
        (
            lambda: ops.reduce_sum([1.0], [1], overflow="raise"),
            TypeError,
            "'raise' needs integers, got the sum of",
        ),
        (lambda: ops.cumsum([1], [1], dtype="float32", overflow="raise"), TypeError, "of int64 in float32"),
        (lambda: ops.reduce_sum([True], [1], dtype=bool, overflow="raise"), TypeError, "of bool in bool"),
        (lambda: ops.reduce_sum(["1"], [1], dtype=int), TypeError, "dtype: expected numbers .*, got <U1"),
        (lambda: ops.reduce_sum(np.array([1], "M8[s]"), [1], dtype=float), TypeError, "got datetime64"),
        (lambda: ops.reduce_sum([1], [1], dtype="no such"), TypeError, "dtype: expected a NumPy dtype"),
    ],
)
def test_bad_input_is_refused_by_name(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_tensors_take_a_dtype_of_torch_and_keep_gradients():
    torch = pytest.importorskip("torch")
    r = vl.Ragged(torch.tensor([100, 100, 3], dtype=torch.int8), [2, 1])
    for dtype in (torch.int8, "int8", np.int8):
        assert r.sum(dtype=dtype).tolist() == [-56, 3]
        assert r.sum(dtype=dtype).dtype == torch.int8
    assert torch.sum(r, dim=1, dtype=torch.float32).tolist() == [200, 3]
    assert torch.cumsum(r, dim=1, dtype=torch.int8).to_list() == [[100, -56], [3]]
    assert torch.mean(r, dim=1, dtype=torch.float64).dtype == torch.float64
    assert r.sum(dtype="bfloat16").dtype == torch.bfloat16
    x = torch.ones(3, dtype=torch.float16, requires_grad=True)
    ops.reduce_sum(x, [2, 1], dtype=torch.float32).sum().backward()
    assert x.grad.dtype == torch.float16
    assert x.grad.tolist() == [1, 1, 1]


def test_graphs_hold_a_dtype_and_break_for_raise():
    torch = pytest.importorskip("torch")
    r = vl.Ragged(torch.tensor([100, 100, 3]), [2, 1])

    def narrow(r):
        return r.sum(dtype=torch.int8), r.cumsum(dtype=torch.int8).values, r.mean(dtype=torch.float64)

    def checked(r):
        return (r * 2).sum(dtype=torch.int8, overflow="raise") + 1

    for a, b in zip(torch.compile(narrow, fullgraph=True, backend="eager")(r), narrow(r), strict=True):
        assert a.dtype == b.dtype
        assert torch.equal(a, b)
    assert torch.compile(checked, backend="eager")(r // 4).tolist() == [101, 1]
    with pytest.raises(OverflowError, match="sum: 400 in sequence 0"):
        torch.compile(checked, backend="eager")(r)
    torch._dynamo.reset()
    with pytest.raises(Exception, match="overflow='raise' of varlen runs only outside of graphs"):
        torch.compile(checked, backend="eager", fullgraph=True)(r)


def test_numbers_that_do_not_show_are_not_passed_over():
    torch = pytest.importorskip("torch")
    batch = torch.tensor([[1, 2], [3, 4]])

    def total(x):
        return ops.reduce_sum(x, [2], overflow="raise")

    with pytest.raises(NotImplementedError, match="overflow: 'raise' must read numbers"):
        torch.vmap(total)(batch)
    assert torch.vmap(total)(batch.int()).tolist() == [[3], [7]]  # no int32 could be too large


def test_data_accumulates_as_a_ragged_does():
    time = Dim("time", lengths=LENGTHS)
    values = np.array([100, 100, 3, 1, 2])
    x, r = Data(values, [batch_dim, time]), vl.Ragged(values, LENGTHS)
    z = Data(values.astype("complex64"), [batch_dim, time])
    for dtype in ("int8", "uint16", "float32"):
        for verb in ("sum", "prod"):
            given, wanted = getattr(x, verb)(time, dtype=dtype).values, getattr(r, verb)(dtype=dtype)
            assert given.dtype == dtype
            assert given.tolist() == wanted.tolist()
        for name in ("cumsum", "cumprod"):
            scan = getattr(vl.dims, name)(x, time, dtype=dtype)
            assert scan.values.dtype == dtype
            assert scan.values.tolist() == getattr(r, name)(dtype=dtype).values.tolist()
    assert x.mean("*", dtype="float32").values.dtype == "float32"
    assert x.sum(time, dtype="complex64").values.tolist() == [203, 0, 3]
    assert vl.dims.cumsum(z, time, dtype="complex128").values.dtype == "complex128"
    assert x.sum(time, overflow="raise").values.tolist() == [203, 0, 3]
    with pytest.raises(OverflowError, match="sum: 203 in row 0 along 'time' is beyond int8"):
        x.sum(time, dtype="int8", overflow="raise")
    with pytest.raises(OverflowError, match="cumsum: 200 in row 0 along 'time' is beyond int8"):
        vl.dims.cumsum(x, time, dtype="int8", overflow="raise")
    with pytest.raises(TypeError, match=r"sum of .*overflow: 'raise' needs integers"):
        z.sum(time, overflow="raise")
    with pytest.raises(TypeError, match="only sum, mean and prod take dtype and overflow, got max"):
        vl.dims.reduce(x, "max", time, dtype="int8")


def test_a_level_of_its_own_names_its_sequences():
    with pytest.raises(OverflowError, match="in sequence 1 is"):
        ops.reduce_sum(np.array([1, 100, 100], "int8"), Level([1, 2]), dtype="int8", overflow="raise")
