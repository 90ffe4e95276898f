"""Ragged masks and indices, pairs, blocks and new axes; and assignment through them."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from varlen.testing import strategies

torch = pytest.importorskip("torch")

KINDS = [np.array, torch.tensor]


def example(kind=np.array):
    return vl.Ragged(kind([3, 1, 4, 1, 5]), [3, 0, 2])


def nested(kind=np.array):
    return vl.Ragged(kind([3, 1, 4, 1, 5, 9]), lengths=[[2, 0, 1], [2, 1, 3]])


# Masks


@given(strategies.raggeds(dtype="int64"), st.data())
def test_a_ragged_mask_keeps_what_it_marks_in_place(r, data):
    marks = data.draw(strategies.rows(r.total, "bool", ()))
    mask = vl.Ragged(marks, levels=r.levels)
    kept = r[mask]
    rows, cuts = iter(zip(r.values.tolist(), marks.tolist(), strict=True)), r.levels[-1].lengths.tolist()
    want = [[row for row, keep in (next(rows) for _ in range(n)) if keep] for n in cuts]
    assert kept.values.tolist() == [row for rows in want for row in rows]
    assert kept.levels[-1].lengths.tolist() == [len(rows) for rows in want]
    assert kept.levels[:-1] == r.levels[:-1]
    assert kept.equals(r.boolean_mask(mask))
    assert kept.equals(r[:, mask] if len(r.levels) == 1 else r[..., mask])


@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8", "c16", "M8[s]", "U3", "S7", "f8, i4"])
@pytest.mark.parametrize("trailing", [(), (0,), (3,)])
def test_masks_move_rows_of_any_width(dtype, trailing):
    rng = np.random.default_rng(0)
    lengths = np.array([0, 7, 1, 0, 30, 8, 3])
    values = rng.integers(0, 9, (49, *trailing)).astype("i8").astype(dtype)
    for share in (0, 0.1, 0.5, 0.9, 1):
        marks = rng.random(49) < share
        kept = vl.Ragged(values, lengths)[vl.Ragged(marks, lengths)]
        assert_array_equal(kept.values, values[marks])
        assert kept.lengths.tolist() == [int(part.sum()) for part in np.split(marks, np.cumsum(lengths)[:-1])]


@pytest.mark.parametrize("change", ["[::2]", ".astype('>f8')", "[::-1]"])
def test_masks_move_rows_that_lie_anywhere(change):
    values = eval(f"np.arange(98.0 if '::2' in change else 49.0){change}", {"np": np, "change": change})
    lengths, marks = [20, 0, 29], np.arange(49) % 3 > 0
    kept = vl.Ragged(values, lengths)[vl.Ragged(marks, lengths)]
    assert_array_equal(kept.values, values[marks])
    assert kept.dtype == values.dtype


@pytest.mark.parametrize("kind", KINDS)
def test_masks_of_outer_levels_keep_whole_sequences(kind):
    q = nested(kind)
    outer = vl.Ragged(kind([True, False, True]), levels=q.levels[:1])
    assert q[outer].to_list() == [[[3, 1]], [], [[1, 5, 9]]]
    assert q[q > 3].to_list() == [[[], [4]], [], [[5, 9]]]
    assert q[q.lengths > 1].to_list() == [[[3, 1], [4]]]


def test_masks_take_gradients_through():
    x = torch.tensor([3.0, 1.0, 4.0, 1.0, 5.0], requires_grad=True)
    r = vl.Ragged(x, [3, 0, 2])
    r[r > 1].values.sum().backward()
    assert x.grad.tolist() == [1, 0, 1, 0, 1]


# Ragged integers


@given(strategies.raggeds(dtype="int64", trailing=(), depth=1), st.data())
def test_ragged_integers_pick_inside_each_sequence(r, data):
    rows = r.to_list()
    keys = [
        data.draw(st.lists(st.integers(-len(row), len(row) - 1), max_size=4)) if row else [] for row in rows
    ]
    key = vl.Ragged(np.array([i for k in keys for i in k], int), [len(k) for k in keys])
    want = [[row[i] for i in k] for row, k in zip(rows, keys, strict=True)]
    assert r[key].to_list() == want
    tensors = vl.Ragged(torch.from_numpy(r.values.copy()), levels=r.levels)
    assert tensors[key].to_list() == tensors[key.torch()].to_list() == want


@pytest.mark.parametrize("kind", KINDS)
def test_negative_integers_count_from_the_end_of_their_own_sequence(kind):
    r = example(kind)
    assert r[vl.Ragged(kind([-1, 0, -2, -1]), [2, 0, 2])].to_list() == [[4, 3], [], [1, 5]]
    assert r[[0, 2]][:, [-1, -2]].tolist() == [[4, 1], [5, 1]]
    assert r[[2, 0], [-1, -3]].tolist() == [5, 3]
    inner = vl.Ragged(kind([-1, -2, -1]), lengths=[[2, 0, 1], [1, 1, 1]])
    deep = vl.Ragged(kind([3, 1, 4, 1, 5, 9]), lengths=[[2, 0, 1], [1, 2, 3]])
    assert deep[inner].to_list() == [[[3], [1]], [], [[9]]]


@given(strategies.raggeds(dtype="float64", trailing=()))
def test_an_order_sorts(r):
    assert_array_equal(r[r.argsort()].values, r.sort().values)


@pytest.mark.parametrize("kind", KINDS)
def test_ragged_integers_out_of_range_name_sequence_and_number(kind):
    for bad, text in [
        (2, "2, out of range for 2 items of sequence 2"),
        (-3, "index -3 .* sequence 2 of length 2"),
    ]:
        with pytest.raises(IndexError, match=text) as error:
            example(kind)[vl.Ragged(kind([0, bad]), [1, 0, 1])]
        assert error.value.number == bad


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (lambda r: vl.Ragged(r.values * 1.0, levels=r.levels), "float64 is no index; .*boolean_mask.*gather"),
        (lambda r: (r > 1, 0), "ambiguous; .*boolean_mask and r.gather"),
        (lambda r: nested() - 1, "ambiguous for 2 axes; use r.gather"),
        (lambda r: (slice(None), [True, False]), "boolean_mask"),
        (lambda r: (slice(None), -1), r"sequence 1 of length 0; r.last\(empty=...\)"),
        (lambda r: (..., 0), r"sequence 1 of length 0; r.first\(empty=...\)"),
        (lambda r: ([0, 2], [3, 0]), "index 3 is out of range for sequence 0 of length 3"),
        (lambda r: ([0, 7], [0, 0]), "index 7 is out of range for 3 sequences"),
        (lambda r: ([0, 2], [0, 1, 1]), r"shapes \(2,\) and \(3,\) name no pairs"),
        (lambda r: (None, [0]), "new axes"),
    ],
)
def test_what_is_ambiguous_names_the_way_out(key, text):
    r = example()
    with pytest.raises(IndexError, match=text):
        r[key(r)]


# Pairs and blocks


def indices(kind, rows):
    return vl.Ragged(kind([i for row in rows for i in row]), [len(row) for row in rows])


@pytest.mark.parametrize("kind", KINDS)
def test_ragged_pairs_nest_as_their_indices_do(kind):
    q, r = nested(kind), example(kind)
    rows, columns = indices(kind, [[0, 2, -1], [0]]), indices(kind, [[0, -1, 0], [1]])
    assert q[rows, columns].to_list() == [[[3, 1], [1, 5, 9], [1, 5, 9]], [[4]]]
    assert r[rows, columns].to_list() == [[3, 5, 1], [1]]
    deep = [indices(kind, key) for key in ([[2, 0], [], [0]], [[0, 1], [], [0]], [[-1, 0], [], [1]])]
    assert q[tuple(deep)].to_list() == [[9, 4], [], [1]]
    r[rows, columns] = indices(kind, [[6, 7, 8], [9]])
    assert r.to_list() == [[6, 9, 4], [], [8, 7]]
    with pytest.raises(IndexError, match=r"^index: the Raggeds nest differently"):
        r[rows, indices(kind, [[0, 0], [0, 0]])]


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_of_indices_are_those_of_numpy(kind):
    block = np.arange(24).reshape(2, 3, 4)
    r = vl.Ragged(kind(block.reshape(6, 4).tolist()), [3, 3])
    q = vl.Ragged(kind(block.reshape(24).tolist()), lengths=[[3, 3], [4] * 6])
    for key in [
        ([0, 1], [2, -1]),
        ([0, -1], 1),
        (np.array([[0], [1]]), np.array([[0, 2]])),
        ([True, False], [0, 2]),
        (slice(None), [0, -1]),
        (slice(None), np.array([[0, 1], [2, 2]])),
        ([1, 0], [0, 0], slice(1, 3)),
        ([1, 0], [0, 1], [3, 2]),
        ([1, 0], [0, 1], 2),
        (slice(1, None), [0, 2]),
        (slice(None), [0, 2], 1),
        (slice(None), [0, 2], slice(2)),
    ]:
        for x in (r, q):
            got = x[key]
            got = got if not isinstance(got, vl.Ragged) else got.numpy() if hasattr(got, "numpy") else got
            assert (
                np.asarray(got.to_list() if isinstance(got, vl.Ragged) else got).tolist()
                == block[key].tolist()
            )


@pytest.mark.parametrize("kind", KINDS)
def test_steps_may_go_back(kind):
    r = example(kind)
    cubes = vl.Ragged(r.values[:, None] * r.values[None, :3], r.lengths)
    assert r[0, ::-1].tolist() == r[:, ::-1][0].tolist() == r[0].tolist()[::-1]
    assert cubes[0, ::-1, 0].tolist() == cubes[0][:, 0].tolist()[::-1]
    assert cubes[0, 0, ::-2].tolist() == cubes[0][0].tolist()[::-2]
    assert cubes[:, :, ::-1].to_list()[2] == [row[::-1] for row in cubes[2].tolist()]


@pytest.mark.parametrize("kind", KINDS)
def test_none_is_an_axis_of_length_one(kind):
    r, q = example(kind), nested(kind)
    assert r[:, None].to_list() == [[[3, 1, 4]], [[]], [[1, 5]]]
    assert r[None].to_list() == [[[3, 1, 4], [], [1, 5]]]
    assert r[..., None].to_list() == r[:, :, None].to_list() == [[[3], [1], [4]], [], [[1], [5]]]
    assert q[:, None].shape == (3, None, None, None)
    assert q[::2, 0, None].to_list() == [[[3, 1]], [[1, 5, 9]]]
    assert tuple(r[::2, 0, None].shape) == (2, 1)


# Assignment


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("write", "want"),
    [
        ("r[r > 1] = 0", [[0, 1, 0], [], [1, 0]]),
        ("r[r > 1] = r * 10", [[30, 1, 40], [], [1, 50]]),
        ("r[r > 1] = r[r > 1] * 10", [[30, 1, 40], [], [1, 50]]),
        ("r[r > 1] = [7, 8, 9]", [[7, 1, 8], [], [1, 9]]),
        ("r[0] = [7, 8, 9]", [[7, 8, 9], [], [1, 5]]),
        ("r[-1] = 7", [[3, 1, 4], [], [7, 7]]),
        ("r[:2] = 0", [[0, 0, 0], [], [1, 5]]),
        ("r[:] = [7, 8, 9]", [[7, 7, 7], [], [9, 9]]),
        ("r[...] = 4", [[4, 4, 4], [], [4, 4]]),
        ("r[[0, 2]] = [[7, 8, 9], [5, 6]]", [[7, 8, 9], [], [5, 6]]),
        ("r[r.lengths > 0] = 9", [[9, 9, 9], [], [9, 9]]),
        ("r[r.lengths > 0, 0] = 9", [[9, 1, 4], [], [9, 5]]),
        ("r[::2, -1] = [7, 8]", [[3, 1, 7], [], [1, 8]]),
        ("r[:, :1] = 9", [[9, 1, 4], [], [9, 5]]),
        ("r[[0, 2], [1, 0]] = [7, 8]", [[3, 7, 4], [], [8, 5]]),
        ("r[0, 1] = 7", [[3, 7, 4], [], [1, 5]]),
        ("r[r.argsort()] = r.sort()", [[3, 1, 4], [], [1, 5]]),
        ("r[0][:] = 7", [[7, 7, 7], [], [1, 5]]),
        ("r[r > 1] += 10", [[13, 1, 14], [], [1, 15]]),
    ],
)
def test_assignment_writes_where_reading_reads(kind, write, want):
    r = example(kind)
    values = r.values
    exec(write, {"r": r})
    assert r.to_list() == want
    assert r.values is values


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("write", "want"),
    [
        ("r[1:] = r[:-1]", [[0, 1], [0, 1], [2, 3]]),
        ("r[[1, 2]] = r[:-1]", [[0, 1], [0, 1], [2, 3]]),
        ("r[:, ::-1] = r", [[1, 0], [3, 2], [5, 4]]),
        ("r[r.argsort(descending=True)] = r", [[1, 0], [3, 2], [5, 4]]),
        ("r[r > 1] = r[::-1]", [[0, 1], [2, 3], [0, 1]]),
    ],
)
def test_assignment_reads_all_before_it_writes(kind, write, want):
    r = vl.Ragged(kind([0, 1, 2, 3, 4, 5]), [2, 2, 2])
    exec(write, {"r": r})
    assert r.to_list() == want


def test_assignment_goes_below_any_level_and_into_rows():
    q = nested()
    q[0] = [[7, 7], [8]]
    q[2, 0, 1] = 0
    q[:, :, -1] = 6
    assert q.to_list() == [[[7, 6], [6]], [], [[1, 0, 6]]]
    w = vl.Ragged(np.zeros((3, 2)), [1, 2])
    w[:, :, 1] = 3
    w[1] = [5, 6]
    w[w > 5] = -1
    assert w.to_list() == [[[0, 3]], [[5, -1], [5, -1]]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("write", "text"),
    [
        ("r[0] = [7, 8]", r"value: has shape \(2,\), its place \(3,\); the lengths of a Ragged stay"),
        ("r[0] = 0.5", "value: 0.5 does not fit"),
        ("r[0] = [7, 8, 0.5]", "value: 0.5 does not fit"),
        ("r[r > 1] = [1, 2]", "its place"),
        ("r[:2] = r[1:]", "nest differently"),
        ("r[r > 1] = r[:2]", "nests differently"),
        ("r[0] = 'a'", "does not fit"),
        ("r[[0, 7]] = 1", "index 7"),
        ("r[:, 0] = 1", "sequence 1 of length 0"),
        ("r[:, None] = 1", "new axes"),
        ("r[0] = r", "a Ragged in the place of an array"),
    ],
)
def test_assignment_that_loses_something_changes_nothing(kind, write, text):
    r = example(kind)
    with pytest.raises((ValueError, TypeError, IndexError), match=text):
        exec(write, {"r": r})
    assert r.to_list() == example().to_list()


def test_values_that_nobody_may_write_refuse():
    r = example()
    r.values.flags.writeable = False
    with pytest.raises(ValueError, match=r"read-only; r.copy\(\)"):
        r[r > 1] = 0
    leaf = vl.Ragged(torch.ones(3, requires_grad=True), [1, 2])
    with pytest.raises(ValueError, match=r"a leaf that requires a gradient.*vl.where"):
        leaf[leaf > 0] = 0
    with torch.no_grad():
        leaf[0] = 0
    assert leaf.values.tolist() == [0, 1, 1]
    text = vl.Ragged(np.array(["a", "b"]), [1, 1])
    with pytest.raises(ValueError, match="'abc' does not fit"):
        text[0] = "abc"


def test_autograd_follows_what_was_written():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    new = torch.tensor([5.0, 6.0], requires_grad=True)
    r = vl.Ragged(x * 2, [1, 2])
    r[r > 5] = 0
    r[1] = new
    (r.values * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [2, 0, 0]
    assert new.grad.tolist() == [2, 3]


# Graphs


@pytest.mark.parametrize(
    "index",
    [
        lambda r: r[r > 1],
        lambda r: r[r.argsort()],
        lambda r: r[vl.Ragged(torch.tensor([-1, 0]), [1, 0, 1])],
        lambda r: r[:, None],
        lambda r: r[..., None],
        lambda r: r[r.lengths > 1][:, [0, 1]],
    ],
)
def test_graphs_hold_it_whole(index):
    def run(x):
        result = index(vl.Ragged(x, [3, 0, 2]))
        return result.values if isinstance(result, vl.Ragged) else result

    x = torch.tensor([3.0, 1.0, 4.0, 1.0, 5.0])
    torch.compiler.reset()
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    assert torch.equal(torch.compile(run, fullgraph=True, backend="eager")(x), run(x))
