"""Levels whose numbers lie on a device: facts wait for nothing, numbers do, lies are told."""

import gc
import pickle

import numpy as np
import pytest
import varlen as vl
from devices import Array, Capture, call
from varlen import _core

host = pytest.importorskip("varlen._cuda_host", reason="the kernels of devices were not built for the host")

LENGTHS = np.array([3, 0, 2])
X = np.arange(10.0).reshape(5, 2)
WAITS = "has to wait for the device"


@pytest.fixture(autouse=True)
def _on_host():
    _core.register(host_kernels=host.kernels)
    yield
    host.fail_next(0)
    _core.forget_kernels()


def born(lengths=LENGTHS, **said):
    return vl.Level(Array(np.asarray(lengths)), **said)


def test_facts_of_a_device_wait_for_nothing():
    with Capture():
        level = born(total=5, max_len=4)
        assert (len(level), level.total, level.longest, level.is_on_host) == (3, 5, 4, False)
        assert repr(level) == "Level(3 sequences, 5 rows, lengths up to 4, on a device)"
        bare = born()
        assert repr(bare) == "Level(3 sequences, on a device)"
        for fact, remedy in (("total", "total="), ("longest", "max_len="), ("shortest", "level.sync()")):
            with pytest.raises(ValueError, match=rf"not known .* on a device.*{remedy}"):
                getattr(bare, fact)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "u8"])
def test_numbers_of_a_device_are_those_of_the_host(dtype):
    level, same = born(LENGTHS.astype(dtype)), vl.Level(LENGTHS)
    assert level.sync() is level
    assert level.is_on_host
    assert (level.total, level.longest, level.shortest) == (5, 3, 0)
    for name in ("offsets", "lengths", "row_ids", "positions", "bounds", "lengths32", "offsets32"):
        np.testing.assert_array_equal(getattr(born(LENGTHS.astype(dtype)), name), getattr(same, name))
    assert born() == same
    assert hash(born()) == hash(same)
    assert pickle.loads(pickle.dumps(born())) == same
    assert vl.Level.from_offsets(Array(same.offsets.astype("i8"))) == same
    assert born(np.zeros(0, int)).sync().total == 0


def test_the_row_where_lengths_are_too_many_is_named_as_on_the_host():
    for row in (1, 10_000, 19_999):
        lengths = np.ones(20_000, np.int64)
        lengths[row] = 2**63 - 1
        for make in (vl.Level, born):
            with pytest.raises(
                OverflowError, match=f"^lengths: the sizes up to row {row} do not fit 63 bits$"
            ):
                len(make(lengths).lengths)


def test_many_lengths_are_added_up_in_parts():
    many = np.arange(20_000) % 7
    assert born(many) == vl.Level(many)


def test_bounds_stand_for_the_longest_until_the_host_has_the_numbers():
    for look in (
        lambda level: level.lengths,
        lambda level: level.offsets,
        pickle.dumps,
        lambda level: level == vl.Level(LENGTHS),
        lambda level: level.sync(),
        _core.pack_order,
    ):
        level = born(max_len=2**40)
        assert level.longest == 2**40
        look(level)
        assert (level.longest, level.total) == (3, 5)
    assert vl.Level([3, 0, 2], total=5, max_len=4).longest == 3


def test_bounds_of_levels_made_in_a_graph_stand_for_all_its_replays():
    with Capture() as graph:
        level = born(total=5, max_len=4)
    graph.replay()
    assert level.lengths.tolist() == [3, 0, 2]
    assert level.longest == 4
    assert level.sync().longest == 3


def test_facts_of_numbers_that_lie_are_not_given():
    for fact in ("total", "longest"):
        level = born([4, 0, 1], total=5, max_len=3)
        assert repr(level) == "Level(3 sequences, 5 rows, lengths up to 3, on a device)"
        with pytest.raises(ValueError, match="lengths: row 0 has length 4, over max_len=3"):
            getattr(level, fact)
    level = born([4, 0, 1], total=5, max_len=3)
    with Capture():
        assert level.total == 5  # nobody may wait for what the error says


def test_rows_say_how_many_there_are():
    level = born()
    assert level._fits(5)
    assert not level._fits(6)
    assert level.total == 5
    with pytest.raises(ValueError, match=r"levels: the lengths add up to 5, but there are 4 values"):
        vl.Ragged(np.zeros(4), levels=level)
    assert not born(np.zeros(0, int))._fits(1)
    assert not born(max_len=1)._fits(5)


TWO = vl.Level([2, 0, 3])


def _in_lengths(level, x):
    return call(_core.level_numbers, level, "lengths", x)


# Every one of them, without a look at the lengths.
CALLS = {
    "sum": lambda x, level: call(_core.reduce, "sum", x, level, 0),
    "max": lambda x, level: call(_core.reduce, "max", x, level, 7),
    "softmax": lambda x, level: call(_core.softmax, x, level),
    "cumsum": lambda x, level: call(_core.scan, "sum", x, level),
    "sort": lambda x, level: call(_core.sort, x, level)[0],
    "rank": lambda x, level: call(_core.rank, x, level, "min"),
    "reverse": lambda x, level: call(_core.reverse, x, level),
    "roll": lambda x, level: call(_core.roll, x, level, 1),
    "shift": lambda x, level: call(_core.shift, x, level, 1, 9),
    "seq2col": lambda x, level: call(_core.seq2col, x, level, 1, 1)[0],
    "weighted_sum": lambda x, level: call(_core.weighted_sum, x, x, level),
    "pad": lambda x, level: call(_core.pad, x, (level,), "left", 9),
    "unpad": lambda x, level: call(_core.unpad, call(_core.pad, x, (level,)), (level,)),
    "unpad what was cut": lambda x, level: call(
        _core.unpad, call(_core.pad, x, (level,), "left", 9, False, 2), (level,), "left", None, 2, "left"
    ),
    "reduce_dense": lambda x, level: call(
        _core.reduce_dense, "mean", call(_core.pad, x, (level,)), level, "right", 0
    ),
    "interleave": lambda x, level: call(_core.interleave, [x, x, x], [level, TWO, level])[0],
    "interleaved": lambda x, level: _in_lengths(call(_core.interleave, [x, x], [level, level])[1], x),
    "concat_levels": lambda x, level: _in_lengths(_core.concat_levels([level, TWO, level]), x),
    "expand": lambda x, level: call(_core.expand, call(_core.reduce, "sum", x, level, 0), level),
    "row_ids": lambda x, level: call(_core.level_numbers, level, "row_ids", x),
    "positions": lambda x, level: call(_core.level_numbers, level, "positions", x),
}


@pytest.mark.parametrize("name", CALLS)
def test_verbs_look_at_no_lengths_of_a_device(name):
    wanted = CALLS[name](Array(X), vl.Level([3, 0, 2], max_len=3)).numbers
    before = host.waits()
    with Capture() as graph:
        level = born(max_len=3, total=5) if name in ("row_ids", "positions", "unpad") else born(max_len=3)
        result = CALLS[name](Array(X), level)
    graph.replay()
    np.testing.assert_array_equal(result.numbers, wanted)
    assert host.waits() == before
    assert level.lengths.tolist() == [3, 0, 2]
    assert host.waits() == before + 1


@pytest.mark.parametrize("name", CALLS)
def test_graphs_follow_lengths_that_change(name):
    lengths, x = Array(LENGTHS.copy()), Array(X.copy())
    with Capture() as graph:
        result = CALLS[name](x, vl.Level(lengths, total=5, max_len=5))
    for now in ([3, 0, 2], [0, 5, 0], [1, 1, 3]):
        lengths.numbers[:] = now
        graph.replay()
        wanted = CALLS[name](x, vl.Level(Array(np.array(now)), total=5, max_len=5))
        np.testing.assert_array_equal(result.numbers, wanted.numbers)


def test_graphs_hold_what_the_host_gave():
    by = np.array([1, 0, -1])
    x = Array(X.copy())
    with Capture() as graph:
        level = vl.Level(LENGTHS.copy())
        result = call(_core.roll, x, level, by)
        again = call(_core.reverse, x, level)
    del level
    by[:] = 99
    gc.collect()
    np.empty(4096).fill(-1)  # where the level was
    x.numbers[:] += 1
    graph.replay()
    np.testing.assert_array_equal(result.numbers, (X + 1)[[2, 0, 1, 4, 3]])
    np.testing.assert_array_equal(again.numbers, (X + 1)[[2, 1, 0, 4, 3]])


def test_graphs_hold_levels_of_any_size():
    lengths = np.arange(3000) % 3
    x = Array(np.arange(float(lengths.sum())))
    with Capture() as graph:
        result = call(_core.reverse, x, vl.Level(lengths))
    graph.replay()
    wanted = call(_core.reverse, x, vl.Level(lengths))
    np.testing.assert_array_equal(result.numbers, wanted.numbers)


def test_what_is_copied_in_a_graph_stays_there():
    level = vl.Level([3, 0, 2])
    with Capture():
        call(_core.reverse, Array(X), level)
    np.testing.assert_array_equal(call(_core.reverse, Array(X), level).numbers, X[[2, 1, 0, 4, 3]])


def test_numbers_are_not_looked_at_while_a_graph_is_made():
    level = born()
    with Capture():
        with pytest.raises(RuntimeError, match=WAITS):
            level.sync()
        with pytest.raises(RuntimeError, match=WAITS):
            call(_core.unique, Array(X[:, 0].copy()), vl.Level([3, 0, 2]))
    assert level.sync().total == 5


LIES = {
    "negative": (([3, -1, 3], {}), "lengths: row 1 has a negative length, -1"),
    "sum": (([3, 0, 3], {}), "lengths: they add up to 6, but there are 5 rows"),
    "long": (([4, 0, 1], {"max_len": 3}), "lengths: row 0 has length 4, over max_len=3"),
    "huge": (([2**62, 2**62, 2**62], {}), "lengths: the sizes up to row 1 do not fit 63 bits"),
}


@pytest.mark.parametrize("name", LIES)
def test_lies_are_told_at_the_next_touch_and_reach_no_memory(name):
    (lengths, said), text = LIES[name]
    kind = OverflowError if name == "huge" else ValueError
    with pytest.raises(kind, match=text):
        born(lengths, total=5, check=True, **said)
    level = born(lengths, total=5, **said)
    for _ in range(2):
        with pytest.raises(kind, match=text):
            call(_core.reverse, Array(X), level)
        with pytest.raises(kind, match=text):
            len(level.lengths)
    # A kernel that comes before anybody could know stays inside: the host checks each of its accesses.
    with Capture() as graph:
        level = born(lengths, total=5, **said)
        padded = ("pad", "unpad", "unpad what was cut", "reduce_dense")
        results = [CALLS[each](Array(X), level) for each in CALLS if each not in padded or said]
    graph.replay()
    assert all(len(result.numbers) in (3, 5, 9, 15) for result in results)
    with pytest.raises(kind, match=text):
        level.sync()


def test_lies_are_told_by_what_was_worked_out_of_them():
    for make in (
        lambda level: _core.concat_levels([TWO, level]),
        lambda level: call(_core.interleave, [Array(X), Array(X)], [TWO, level])[1],
        lambda level: vl.Level([2, 1]).compose(level),
    ):
        with Capture() as graph:
            level = make(born([3, 0, 3], total=5))
        graph.replay()
        for _ in range(2):
            with pytest.raises(ValueError, match="lengths: they add up to 6, but there are 5 rows"):
                level.sync()


def test_facts_of_joined_levels_are_those_of_their_parts():
    level = _core.concat_levels([TWO, born(total=5, max_len=4)])
    assert (len(level), level.total, level.longest, level.is_on_host) == (6, 10, 4, False)
    assert level == vl.Level([2, 0, 3, 3, 0, 2])
    assert repr(_core.concat_levels([TWO, born()])) == "Level(6 sequences, on a device)"
    rows, level = call(_core.interleave, [Array(X), Array(X)], [TWO, born(max_len=4)])
    assert (len(rows.numbers), level.total, level.longest) == (10, 10, 7)
    assert level == vl.Level([5, 0, 5])
    with pytest.raises(ValueError, match="part 1 has 2 sequences"):
        call(_core.interleave, [Array(X), Array(X)], [TWO, born([3, 2])])


def test_rectangles_say_what_no_length_exceeds():
    block = Array(np.arange(6.0).reshape(3, 2))
    level = born([2, 0, 1])
    pooled = call(_core.reduce_dense, "sum", block, level, "left", 0)
    assert (level.longest, level.is_on_host) == (2, False)
    np.testing.assert_array_equal(pooled.numbers, [1, 0, 5])
    for verb in (
        lambda level: call(_core.reduce_dense, "sum", block, level, "left", 0),
        lambda level: call(_core.unpad, block, (level,)),
    ):
        with Capture() as graph:
            level = born([2, 0, 3], total=5)
            result = verb(level)
        graph.replay()
        assert len(result.numbers) in (3, 5)
        with pytest.raises(ValueError, match="lengths: row 2 has length 3, over max_len=2"):
            level.sync()
    with pytest.raises(ValueError, match="lengths: row 0 has length 7, the block is 2 wide"):
        call(_core.unpad, block, (born([7, 0, 0], total=7),))


def test_bounds_wider_than_a_rectangle_say_nothing_of_its_lengths():
    block = Array(np.arange(9.0).reshape(3, 3))
    for is_seen in (False, True):
        level = born(total=5, max_len=4)
        assert not is_seen or level.lengths.tolist() == [3, 0, 2]
        np.testing.assert_array_equal(call(_core.unpad, block, (level,)).numbers, [0, 1, 2, 6, 7])
        np.testing.assert_array_equal(
            call(_core.reduce_dense, "sum", block, level, "right", 0).numbers, [3, 0, 13]
        )


def test_columns_are_as_many_as_the_longest_has_rows_whatever_bound_was_given():
    wanted = call(_core.ragged2padded, Array(X), vl.Level([3, 0, 2]), "stable", 9)
    found = call(_core.ragged2padded, Array(X), born(max_len=4), "stable", 9)
    assert found[0].numbers.shape == wanted[0].numbers.shape == (3, 3, 2)
    for x, y in zip(found[1:], wanted[1:], strict=True):
        np.testing.assert_array_equal(x, y)
    np.testing.assert_array_equal(_core.pack_order(born(max_len=4))[0], [2, 2, 1])


def test_offsets_that_lie_are_told():
    for offsets, text in (
        ([0, 4, 3, 5], "offsets: row 2 ends at 3, before the row in front of it"),
        ([1, 2, 3, 5], "offsets: .*start"),
        ([0, 1, 2, 4], "offsets: they add up to 4, but there are 5 rows"),
    ):
        level = vl.Level.from_offsets(Array(np.array(offsets)))
        assert level._fits(5)
        with pytest.raises(ValueError, match=text):
            call(_core.reduce, "sum", Array(X), level, 0)


def test_what_was_said_is_checked_on_the_host_too():
    with pytest.raises(ValueError, match="lengths: they add up to 5, but there are 4 rows"):
        vl.Level([3, 0, 2], total=4)
    with pytest.raises(ValueError, match="lengths: row 0 has length 3, over max_len=2"):
        vl.Level.from_lengths([3, 0, 2], max_len=2)
    with pytest.raises(ValueError, match="total: expected at least 0, got -1"):
        vl.Level([3], total=-1)
    with pytest.raises(ValueError, match="total: 5 rows have no room in 3 sequences of at most max_len=1"):
        born(total=5, max_len=1)
    with pytest.raises(TypeError, match="lengths: expected integers, got dtype float64"):
        born([1.0])
    with pytest.raises(ValueError, match="lengths: expected one dimension, got 2"):
        born([[1]])


def test_nests_stay_on_the_device():
    outer, inner = born([2, 1]), born()
    with Capture() as graph:
        outer, inner = born([2, 1]), born(total=5)
        flat = outer.compose(inner)
        result = call(_core.reduce, "sum", Array(X), flat, 0)
    graph.replay()
    np.testing.assert_array_equal(result.numbers, [X[:3].sum(0), X[3:].sum(0)])
    assert flat == vl.Level([3, 2])
    mixed = vl.Level([2, 1]).compose(born())
    assert not mixed.is_on_host
    assert mixed == vl.Level([3, 2])
    with pytest.raises(ValueError, match=r"levels: the lengths of one level add up to 3, but .* 2 sequences"):
        born([2, 1], total=3).compose(born([1, 1]))


def test_what_nobody_knows_is_asked_for():
    x = np.ones((3, 1))
    with pytest.raises(ValueError, match=r"total: .*give total="):
        call(_core.expand, Array(x), born())
    with pytest.raises(ValueError, match=r"max_len: .*give max_len="):
        call(_core.pad, Array(X), (born(),))
    with pytest.raises(ValueError, match="lengths: whether some are 0 is not known"):
        call(_core.reduce, "max", Array(X), born())
    assert call(_core.expand, Array(x), born(total=5)).numbers.shape == (5, 1)
    assert call(_core.pad, Array(X), (born(),), "right", None, False, 4).numbers.shape == (3, 4, 2)


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (2, MemoryError, "out of memory"),
        (3, RuntimeError, "forked child"),
        (35, RuntimeError, "driver is too old"),
        (209, RuntimeError, "without kernels for device 0"),
        (222, RuntimeError, "driver is too old"),
        (719, RuntimeError, "CUDA: "),
    ],
)
def test_an_error_of_a_launch_is_told_once_and_by_that_call(error, kind, text):
    level = born(total=5)
    host.fail_next(error)
    with pytest.raises(kind, match=f"^reverse: .*{text}"):
        call(_core.reverse, Array(X), level)
    np.testing.assert_array_equal(call(_core.reverse, Array(X), level).numbers, X[[2, 1, 0, 4, 3]])
