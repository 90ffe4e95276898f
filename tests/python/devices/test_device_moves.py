"""Rows of a device that move: what verbs give is what they give of arrays, and comes back as what it was."""

import devices
import numpy as np
import pytest
import varlen as vl
from device_calls import LEVEL, MOVES, X
from devices import Array, call
from varlen import _core

host = pytest.importorskip("varlen._cuda_host", reason="the kernels of devices were not built for the host")


@pytest.fixture(autouse=True)
def _on_devices():
    """Kernels of devices alone: arrays of the host stay what they are."""
    _core.forget_kernels()  # those that get the arrays of the host as well
    _core.register(kernels=host.kernels)
    yield
    _core.forget_kernels()


def bare(result):
    if isinstance(result, Array):
        return result.numbers
    if isinstance(result, list | tuple):
        return [bare(each) for each in result]
    return result.lengths if isinstance(result, vl.Level) else result


def same(got, wanted):
    if isinstance(got, list):
        assert len(got) == len(wanted)
        for each in zip(got, wanted, strict=True):
            same(*each)
    else:
        np.testing.assert_array_equal(got, wanted)
        assert np.asarray(got).dtype == np.asarray(wanted).dtype


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("dtype", ["f8", "u1", "f2", "i8"])
def test_verbs_give_what_they_give_of_arrays(name, dtype):
    verb, x, *rest = MOVES[name]
    x = x.astype(dtype)
    result = call(verb, Array(x), *rest)
    rows = result[0] if isinstance(result, tuple) else result
    assert type(rows) is Array
    same(bare(result), bare(verb(x, *rest)))


@pytest.mark.parametrize("name", MOVES)
def test_verbs_take_rows_of_nothing(name):
    verb, x, *rest = MOVES[name]
    x = x[..., :0]
    if name == "shift by sequence":
        rest[-1] = 7
    same(bare(call(verb, Array(x), *rest)), bare(verb(x, *rest)))


def test_rows_of_a_run_of_sequences_are_shared():
    x = Array(X)
    rows, _ = call(_core.gather, x, (LEVEL,), slice(1, None))
    assert np.shares_memory(rows.numbers, X)
    rows, _ = call(_core.gather_row, x, (LEVEL,), 0)
    assert np.shares_memory(rows.numbers, X)


@pytest.mark.parametrize("n", [1, 3, 64, 65, 200])
def test_many_inputs_are_laid_end_to_end(n):
    parts = [np.arange(k % 4 * 3, dtype=np.int16).reshape(-1, 3) + k for k in range(n)]
    result = call(_core.concat, [Array(each) for each in parts])
    np.testing.assert_array_equal(result.numbers, np.concatenate(parts))


@pytest.mark.parametrize("n", [1, 3, 64, 65])
def test_many_inputs_are_interleaved(n):
    rng = np.random.default_rng(n)
    levels = [vl.Level(rng.integers(0, 4, 7)) for _ in range(n)]
    parts = [rng.random((level.total, 2), np.float32) for level in levels]
    rows, level = call(_core.interleave, [Array(each) for each in parts], levels)
    wanted, wanted_level = _core.interleave(parts, levels)
    np.testing.assert_array_equal(rows.numbers, wanted)
    assert level == wanted_level
    out = Array(np.zeros_like(wanted))
    assert call(_core.interleave, [Array(each) for each in parts], levels, out)[0] is out
    np.testing.assert_array_equal(out.numbers, wanted)


LISTS = {
    "list2ragged": (_core.list2ragged,),
    "list2ragged as another dtype": (_core.list2ragged, np.float64),
    "list2padded": (_core.list2padded, "stable", 9),
    "list2dense": (_core.list2dense,),
    "list2dense, cut": (_core.list2dense, 1, -1, "left", 2, "left", True),
    "list2dense, wide": (_core.list2dense, 4, [1, 2, 3], "right", None, "right", True),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_give_what_they_give_of_arrays(name):
    verb, *rest = LISTS[name]
    parts = [np.arange(3.0 * k, dtype=np.float32).reshape(-1, 3) + k for k in (2, 0, 5, 1)]
    same(bare(call(verb, [Array(each) for each in parts], *rest)), bare(verb(parts, *rest)))


def test_lists_are_written_where_they_are_to_go():
    parts = [X[:2], X[2:]]
    for dtype in ("f8", "f4"):
        out = Array(np.zeros((5, 2), dtype))
        result, _ = call(_core.list2ragged, [Array(each) for each in parts], dtype, out)
        assert result is out
        np.testing.assert_array_equal(out.numbers, X)
    out = Array(np.zeros((2, 3, 2)))
    result = call(_core.list2dense, [Array(e) for e in parts], 1, 0, "right", None, "right", False, out)
    assert result is out
    np.testing.assert_array_equal(out.numbers, _core.list2dense(parts))
    with pytest.raises(ValueError, match=r"^seqs: expected an array on device 0, got one on the host"):
        call(_core.list2padded, [Array(X), X])
    with pytest.raises(ValueError, match=r"^out: "):
        call(_core.list2ragged, [Array(X)], None, Array(X))
    with pytest.raises(TypeError, match=r"^arrays: numbers of float64 may not fit int64"):
        call(_core.list2ragged, [Array(X)], np.int64)


def test_inputs_of_two_places_are_refused():
    with pytest.raises(ValueError, match=r"^arrays: expected an array on device 0, got one on the host"):
        call(_core.concat, [Array(X), X])
    with pytest.raises(ValueError, match=r"^arrays: expected an array on the host, got one on device 0"):
        call(_core.concat, [X, Array(X)])
    with pytest.raises(ValueError, match=r"^rows: expected an array on device 0, got one on the host"):
        call(_core.insert_rows, Array(X), np.array([1]), X[:1])


def test_rows_that_lie_there_are_put_in():
    before = np.array([1, 5])
    result = call(_core.insert_rows, Array(X), before, Array(-X[:2]))
    np.testing.assert_array_equal(result.numbers, _core.insert_rows(X, before, -X[:2]))


def test_outputs_are_written_where_the_values_lie():
    out = Array(np.zeros_like(X))
    assert call(_core.reverse, Array(X), LEVEL, out) is out
    np.testing.assert_array_equal(out.numbers, _core.reverse(X, LEVEL))
    with pytest.raises(ValueError, match=r"^out: expected an array on device 0, got one on the host"):
        call(_core.roll, Array(X), LEVEL, 1, np.zeros_like(X))
    x = Array(X.copy())
    with pytest.raises(ValueError, match=r"^out: "):
        call(_core.roll, x, LEVEL, 1, x)


def test_numbers_of_the_host_are_checked():
    with pytest.raises(IndexError, match=r"^index 3 at position 0 is out of range for 3 sequences"):
        call(_core.gather, Array(X), (LEVEL,), [3])
    with pytest.raises(IndexError, match=r"^index 5 at position 1 is out of range for 5 rows"):
        call(_core.take_rows, Array(X), np.array([0, 5]))
    with pytest.raises(ValueError, match=r"^by: has 2 numbers for 3 sequences"):
        call(_core.shift, Array(X), LEVEL, np.array([1, 2]))
    with pytest.raises(ValueError, match=r"^dY: has 5 rows, fewer than the 6"):
        call(_core.remove_rows, Array(X), np.zeros(6, int))


def test_numbers_of_the_device_are_not_read_by_the_host():
    rows = Array(np.array([4, -1, 5, 2**62, 0]))
    wanted = np.zeros((5, 2))
    wanted[[0, 4]] = X[[4, 0]]
    np.testing.assert_array_equal(call(_core.take_rows, Array(X), rows).numbers, wanted)
    by = np.array([1, 0, -1])
    np.testing.assert_array_equal(
        call(_core.shift, Array(X), LEVEL, Array(by)).numbers, _core.shift(X, LEVEL, by)
    )
    before = np.array([0, 2])
    for verb in (_core.insert_rows, _core.remove_rows):
        same(bare(call(verb, Array(X), Array(before))), bare(verb(X, before)))


def test_numbers_of_the_device_are_int64():
    with pytest.raises(TypeError, match=r"^rows: expected int64 on a device, got dtype int32"):
        call(_core.take_rows, Array(X), Array(np.zeros(2, np.int32)))
    with pytest.raises(ValueError, match=r"^rows: expected one dimension, got 2"):
        call(_core.take_rows, Array(X), Array(np.zeros((2, 1), int)))
    with pytest.raises(TypeError, match=r"^index: lies on a device; give it on the CPU"):
        call(_core.gather, Array(X), (LEVEL,), Array(np.zeros(2, int)))


def test_lists_of_tensors_come_back_as_a_tensor():
    torch = pytest.importorskip("torch")
    pytest.importorskip("varlen.backends.torch")  # makes tensors known to the core
    _core.forget_kernels()
    _core.register(host_kernels=host.kernels)
    result = call(_core.concat, [torch.arange(3), torch.arange(2)])
    assert type(result) is torch.Tensor
    assert result.tolist() == [0, 1, 2, 0, 1]


@pytest.mark.parametrize("dtype", ["f2", "f8"])
@pytest.mark.parametrize("indices", [None, [2, 0, -1]])
def test_rectangles_change_their_dtype_without_a_table_of_it(indices, dtype, monkeypatch):
    x = np.random.default_rng(0).normal(size=(4000, 2)).astype("f4")
    level = vl.Level([3, 0, 2, 3995])
    picked = vl.Level([2, 3, 3995]) if indices else level
    how = (picked, level if indices else None, indices, True, "left", 9.5, 4, "left", np.dtype(dtype))
    made = []
    monkeypatch.setattr(devices, "pool", made)
    result = call(_core.gather_dense, Array(x), *how)
    same(bare(result), bare(_core.gather_dense(x, *how)))
    assert max(array.nbytes for array in made) < 1000
    made.clear()
    block = call(_core.pad, Array(x), level, "right", 0, False, 4, "right", None, np.dtype(dtype))
    same(bare(block), _core.pad(x, level, "right", 0, False, 4, "right", None, np.dtype(dtype)))
    assert max(array.nbytes for array in made) < 1000


def test_rectangles_of_more_levels_than_a_device_takes_are_refused():
    levels = tuple(vl.Level([1]) for _ in range(9))
    with pytest.raises(ValueError, match="levels: 9 of them, over 8"):
        call(_core.pad, Array(np.ones(1)), levels)
    with pytest.raises(ValueError, match="levels: 9 of them, over 8"):
        call(_core.unpad, Array(np.ones((1,) * 10)), levels)
