"""Lookups in a table, their gradient, and rows added to rows in place."""

import numpy as np
import pytest
import varlen as vl
from doors import OUTPUTS, doors, masked, read_only, refuses
from hypothesis import given
from hypothesis import strategies as st
from kernels import ON_DEVICE
from oracles import scatter as oracle
from varlen import ops
from varlen.testing import strategies

NUMBERS = ["bool", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"]
NUMBERS += ["float16", "float32", "float64", ">f4", ">i8"]
try:
    import ml_dtypes

    NUMBERS += ["bfloat16"]
except ImportError:
    pass
INDICES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", ">i4", ">u8"]


def dtype_of(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def small(rng, dtype, shape):
    """Numbers whose sums every dtype holds exactly."""
    return rng.integers(0, 2 if dtype.kind == "b" else 4, shape).astype(dtype)


def wide(array):
    """The same as Python would add it."""
    return array.astype(bool if array.dtype.kind == "b" else np.float64)


def added(start, indices, values):
    result = oracle.scatter_add(list(wide(start)), indices.ravel().tolist(), list(wide(values)))
    return np.array(result).reshape(start.shape).astype(start.dtype.newbyteorder("="))


@st.composite
def lookups(draw):
    """Rows of a table, trailing axes, and indices of any dtype and layout."""
    V, T, K = draw(st.integers(1, 30)), draw(st.integers(0, 12)), draw(st.sampled_from([0, 1, 2, 3, 4, 4, 9]))
    trailing = draw(st.sampled_from([(), (1,), (3,), (37,), (2, 2), (0,), (300,)]))
    drawn = draw(st.lists(st.integers(0, V - 1), min_size=T * K, max_size=T * K))
    indices = np.array(drawn, draw(st.sampled_from(INDICES))).reshape(T, K)
    return V, trailing, draw(strategies.layouts(indices))


@given(st.sampled_from(NUMBERS), lookups())
def test_gather_add_is_the_oracles(name, drawn):
    V, trailing, indices = drawn
    table = small(np.random.default_rng(V), dtype_of(name), (V, *trailing))
    zero = np.zeros(trailing, wide(table).dtype)
    want = np.array(oracle.gather_add(list(wide(table)), indices.tolist(), zero))
    got = ops.gather_add(table, indices)
    assert got.dtype == table.dtype.newbyteorder("=")
    assert got.shape == (len(indices), *trailing)
    assert got.tobytes() == want.reshape(got.shape).astype(got.dtype).tobytes()


@given(st.sampled_from(NUMBERS), lookups())
def test_backprop_gather_add_is_the_oracles(name, drawn):
    V, trailing, indices = drawn
    T, K = indices.shape
    dY = small(np.random.default_rng(T), dtype_of(name), (T, *trailing))
    got = ops.backprop_gather_add(dY, indices, V)
    assert got.tobytes() == added(np.zeros((V, *trailing), dY.dtype), indices, dY.repeat(K, 0)).tobytes()
    assert got.dtype == dY.dtype.newbyteorder("=")


@given(st.sampled_from([x for x in NUMBERS if x[0] != ">"]), lookups())
def test_scatter_add_is_the_oracles(name, drawn):
    V, trailing, indices = drawn
    rng = np.random.default_rng(V)
    table = small(rng, dtype_of(name), (V, *trailing))
    values = small(rng, table.dtype, (*indices.shape, *trailing))
    want = added(table, indices, values.reshape(indices.size, *trailing))
    assert ops.scatter_add(table, indices, values) is None
    assert table.tobytes() == want.tobytes()


def test_lookups_of_small_numbers():
    table = np.arange(8).reshape(4, 2)
    for kind in INDICES:
        assert ops.gather_add(table, np.array([[0, 1], [3, 3]], kind)).tolist() == [[2, 4], [12, 14]]
    assert ops.gather_add(table, [[0, 1], [3, 3]]).dtype == np.int64
    assert ops.gather_add(table, np.zeros((0, 2), np.int32)).shape == (0, 2)
    assert ops.gather_add(table, np.zeros((3, 0), np.int32)).tolist() == [[0, 0]] * 3
    assert ops.gather_add(table[:0], np.zeros((0, 3), np.int64)).shape == (0, 2)
    table = np.zeros((3, 2), np.float32)
    ops.scatter_add(table, np.array([0, 2, 0]), np.array([[1, 2], [3, 4], [5, 6]], np.float32))
    assert table.tolist() == [[6, 8], [0, 0], [3, 4]]
    ops.scatter_add(table, [], np.zeros((0, 2), np.float32))
    assert table.tolist() == [[6, 8], [0, 0], [3, 4]]


def test_ragged_indices_give_a_ragged():
    r = vl.Ragged([[0, 1], [3, 3], [2, 2]], [2, 0, 1])
    result = ops.gather_add(np.arange(4) * 10, r)
    assert result.to_list() == [[10, 60], [], [40]]
    assert result.levels == r.levels
    assert ops.backprop_gather_add(result, r, 4).tolist() == [10, 10, 80, 120]


@given(lookups())
def test_lookups_are_adjoint(drawn):
    V, trailing, indices = drawn
    rng = np.random.default_rng(V)
    table = rng.integers(-9, 9, (V, *trailing))
    Y = ops.gather_add(table, indices)
    dY = rng.integers(-9, 9, Y.shape)
    assert (Y * dY).sum() == (table * ops.backprop_gather_add(dY, indices, V)).sum()


def test_halves_are_summed_in_float32_and_integers_wrap():
    table = np.array([2048, 1, 1], np.float16)
    assert ops.gather_add(table, [[0, 1, 2]])[0] == 2050  # in float16 both ones were lost
    assert ops.gather_add(table, [[0, 1, 1, 1, 1, 2, 2, 2, 2]])[0] == 2056
    assert ops.backprop_gather_add(table, [[0], [0], [0]], 1)[0] == 2050
    ops.scatter_add(table, [0, 1, 0], np.ones(3, np.float16))
    assert table.tolist() == [2050, 2, 1]
    assert ops.gather_add(np.full(1, 100, np.int8), [[0, 0, 0]])[0] == np.int8(300 - 256)
    assert ops.backprop_gather_add(np.full(3, 100, np.int8), [[0]] * 3, 1)[0] == np.int8(300 - 256)
    assert ops.gather_add(np.array([np.nan, np.inf, -np.inf]), [[0, 1], [1, 1], [1, 2]])[1] == np.inf


def test_sums_go_from_left_to_right():
    rng = np.random.default_rng(0)
    for K in (1, 2, 3, 4, 5, 8, 11):
        table, indices = rng.normal(size=(50, 40)).astype(np.float32), rng.integers(0, 50, (30, K))
        want = table[indices[:, 0]].copy()
        for k in range(1, K):
            want += table[indices[:, k]]
        assert ops.gather_add(table, indices).tobytes() == want.tobytes()
        dY = rng.normal(size=(30, 40)).astype(np.float32)
        want = np.zeros_like(table)
        np.add.at(want, indices, dY[:, None])
        assert ops.backprop_gather_add(dY, indices, 50).tobytes() == want.tobytes()
        start = table.copy()
        np.add.at(start, indices[:, 0], dY)
        ops.scatter_add(table, indices[:, 0], dY)
        assert table.tobytes() == start.tobytes()


@pytest.mark.parametrize(
    ("dtype", "columns"), [("float32", 96), ("float16", 33), ("float32", 1), ("int64", 2)]
)
@pytest.mark.parametrize("V", [1, 7, 3000, 2_000_000])
def test_lookups_are_the_same_for_any_threads(dtype, columns, V):
    rng = np.random.default_rng(5)
    T = 4_000_000 // np.dtype(dtype).itemsize // columns
    if ON_DEVICE:
        T //= 100  # its kernels know no threads of the host
    V = min(V, 6_000_000 // columns)
    indices = rng.integers(0, V, (T, 2), dtype=np.int32)
    indices[T // 4 : T // 2] = V // 2
    dY = rng.normal(0, 9, (T, columns)).astype(dtype)
    before, found = vl.num_threads(), []
    try:
        for threads in (1, 3):
            vl.set_num_threads(threads)
            table = ops.backprop_gather_add(dY, indices, V)
            result = ops.gather_add(table, indices)
            ops.scatter_add(table, indices[:, 1], dY)
            found.append((table.tobytes(), result.tobytes()))
    finally:
        vl.set_num_threads(before)
    assert found[0] == found[1]


X, INDEX = np.arange(8.0).reshape(4, 2), np.array([[0, 1], [3, 3]])


@pytest.mark.parametrize("kind", INDICES)
def test_indices_outside_the_table_are_refused_by_place(kind):
    beyond = np.array([[0, 1], [3, 4]], kind)
    table, values = X.copy(), np.ones((2, 2, 2))
    where = r"indices: position 1, 1 holds 4, but the table has 4 rows"
    for door in (
        lambda i: ops.gather_add(X, i),
        lambda i: ops.backprop_gather_add(X[:2], i, 4),
        lambda i: ops.scatter_add(table, i, values),
    ):
        refuses(door, beyond, IndexError, where, table)
        if np.dtype(kind).kind == "i":
            refuses(door, np.array([[0, -1], [3, 4]], kind), IndexError, "position 0, 1 holds -1", table)
        else:
            most = np.iinfo(np.dtype(kind)).max
            refuses(door, np.array([[0, most], [3, 4]], kind), IndexError, f"0, 1 holds {most}", table)
    refuses(
        lambda i: ops.scatter_add(table, i, X),
        np.array([0, 1, 4, 9]),
        IndexError,
        "position 2 holds 4",
        table,
    )
    refuses(lambda i: ops.gather_add(X[:0], i), np.array([[0]]), IndexError, "the table has 0 rows")


@pytest.mark.parametrize(
    ("door", "given", "error", "text"),
    doors(
        [
            (np.array([0, 1]), ValueError, "expected two dimensions, got 1"),
            (np.array([[[0]]]), ValueError, "expected two dimensions, got 3"),
            (np.array([[0.0]]), TypeError, "expected integers, got dtype float64"),
            (np.array([[True]]), TypeError, "expected integers, got dtype bool"),
            (masked([[0, 1]], [[True, False]]), TypeError, "expected an array without a mask"),
        ],
        indices=lambda x: ops.gather_add(X, x),
    )
    + doors(OUTPUTS, out=lambda x: ops.gather_add(np.zeros((4, 3), np.int64), INDEX, out=x))
    + doors(OUTPUTS, out=lambda x: ops.backprop_gather_add(np.zeros((2, 3), np.int64), INDEX % 2, 2, out=x))
    + doors(
        [
            (np.zeros((2, 2)), ValueError, r"expected \(3, 2\), the shape of indices and of a row"),
            (np.zeros(3), ValueError, r"expected \(3, 2\)"),
            (np.zeros((3, 2), np.float32), TypeError, "expected float64, the dtype of the table"),
            (np.zeros((3, 2), complex), TypeError, "expected bool, integers or floats"),
        ],
        values=lambda x: ops.scatter_add(X, [0, 1, 2], x),
    )
    + doors(
        [
            (read_only(X), ValueError, "read-only"),
            (np.asfortranarray(X), ValueError, "C-contiguous"),
            (X.tolist(), TypeError, "expected an array, got list"),
        ],
        **{"table given": lambda x: ops.scatter_add(x, [0, 1], np.ones((2, 2)))},
    ),
)
def test_bad_input_is_refused_by_name(door, given, error, text):
    refuses(door, given, error, text)


def test_memory_that_is_read_is_not_written():
    table = np.arange(8.0).reshape(4, 2)
    with pytest.raises(ValueError, match="table"):
        ops.scatter_add(table, [0, 1], table[:2])
    with pytest.raises(ValueError, match="out"):
        ops.gather_add(table, INDEX, out=table[:2])
    index = np.arange(4)
    with pytest.raises(ValueError, match="table"):
        ops.scatter_add(index, index, np.ones(4, np.int64))
    assert table.tolist() == X.tolist()
    assert index.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="dY: has 3 rows for 2 of indices"):
        ops.backprop_gather_add(np.zeros(3), INDEX, 4)
    with pytest.raises(ValueError, match="rows: expected at least 0, got -1"):
        ops.backprop_gather_add(np.zeros(2), INDEX, -1)
