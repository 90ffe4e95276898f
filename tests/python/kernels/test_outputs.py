"""Outputs that a caller gives: apart from all that the call reads, filled to the last byte, no further."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import varlen as vl
from varlen.ops.faces import reduce, scan, softmax

LENGTHS = [3, 0, 4, 1]
ROWS = sum(LENGTHS)
WORDS = 2
F = np.float64


def rows(seed: int = 0, count: int = ROWS, dtype: Any = F) -> Any:
    return np.random.default_rng(seed).normal(1.5, 0.4, (count, WORDS)).astype(dtype)


def places() -> Any:
    own = [[(r + 1) % n] * WORDS for n in LENGTHS for r in range(n)]
    return np.array(own, np.int64).reshape(-1, WORDS)


def one_each() -> Any:
    return np.array([[0, 1], [-1, -1], [3, 2], [0, 0]], np.int64)


def per_sequence() -> Any:
    return rows(5, len(LENGTHS))


# verb: its arrays, and what is said beside them.
TABLE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "gather_add": ({"table": rows(), "indices": np.array([[0, 1], [5, 7]])}, {}),
    "backprop_gather_add": ({"dY": rows(count=2), "indices": np.array([[0, 1], [3, 1]])}, {"rows": 4}),
    "seq2col": ({"X": rows()}, {"nW": 1, "lengths": LENGTHS}),
    "backprop_seq2col": ({"dY": np.repeat(rows(), 3, 1)}, {"nW": 1, "lengths": LENGTHS}),
    "shift": ({"X": rows(), "by": np.array([1, 0, -1, 2])}, {"lengths": LENGTHS}),
    "roll": ({"X": rows(), "by": np.array([1, 0, -1, 2])}, {"lengths": LENGTHS}),
    "backprop_shift": ({"dY": rows(), "by": np.array([1, 0, -1, 2])}, {"lengths": LENGTHS}),
    "backprop_roll": ({"dY": rows(), "by": np.array([1, 0, -1, 2])}, {"lengths": LENGTHS}),
    "backprop_softmax": ({"dY": rows(), "Y": rows(1)}, {"lengths": LENGTHS}),
    "backprop_log_softmax": ({"dY": rows(), "Y": rows(1)}, {"lengths": LENGTHS}),
    "sort": ({"X": rows()}, {"lengths": LENGTHS}),
    "backprop_sort": ({"dY": rows(), "which": places()}, {"lengths": LENGTHS}),
    "backprop_topk": (
        {"dY": rows(count=8).reshape(4, 2, WORDS), "which": np.full((4, 2, WORDS), -1)},
        {"lengths": LENGTHS},
    ),
    "backprop_cummax": ({"dY": rows(), "which": places()}, {"lengths": LENGTHS}),
    "backprop_cummin": ({"dY": rows(), "which": places()}, {"lengths": LENGTHS}),
    "backprop_cumprod": ({"dY": rows(), "X": rows(1)}, {"lengths": LENGTHS}),
    "backprop_reduce_max": ({"d_maxes": per_sequence(), "which": one_each()}, {"lengths": LENGTHS}),
    "backprop_reduce_min": ({"d_mins": per_sequence(), "which": one_each()}, {"lengths": LENGTHS}),
    "block_mask": ({}, {"lengths": LENGTHS}),
    "to_dense": ({"X": rows()}, {"lengths": LENGTHS}),
    "reduce_dense": ({"block": rows(count=16).reshape(4, 4, WORDS)}, {"lengths": LENGTHS}),
    "from_dense": ({"block": rows(count=16).reshape(4, 4, WORDS)}, {"lengths": LENGTHS}),
}
TABLE["reverse"] = ({"X": rows()}, {"lengths": LENGTHS})
for name in ("backprop_reverse", "backprop_cumsum"):
    TABLE[name] = ({"dY": rows()}, {"lengths": LENGTHS})
for name in ("sum", "mean", "first", "last", "norm", "logsumexp", "prod", "var", "std"):
    arrays = {{"first": "d_firsts", "last": "d_lasts"}.get(name, f"d_{name}s"): per_sequence()}
    if name in ("norm", "logsumexp", "prod", "var", "std"):
        arrays["X"] = rows(1)
        if name == "logsumexp":
            arrays = {"d_sums": per_sequence(), "X": rows(1)}
    TABLE[f"backprop_reduce_{name}"] = (arrays, {"lengths": LENGTHS})

# What is declared takes rows of sequences.
for declared in (reduce, scan, softmax):
    for name in declared.__all__:
        names = inspect.signature(getattr(declared, name)).parameters
        if "out" in names:
            TABLE[name] = ({"X": rows()}, {"lengths": LENGTHS} | ({"empty": 0} if "empty" in names else {}))

TABLE["einsum"] = ({"a": rows(), "b": rows(1)}, {"lengths": LENGTHS})


def einsum(a: Any, b: Any, lengths: Any, out: Any = None) -> Any:
    return vl.ops.einsum("btd,bsd->bts", a, b, lengths={"t": lengths, "s": LENGTHS}, out=out)


# Verbs whose arrays have no names.
BY_PLACE: dict[str, Callable[..., Any]] = {"einsum": einsum}

# Lists of arrays have a test of their own.
LISTS = {"pad", "list2ragged"}


def verbs_with_out() -> set[str]:
    found = set()
    for name in vl.ops.__all__:
        verb = getattr(vl.ops, name)
        if callable(verb) and not inspect.isclass(verb) and "out" in inspect.signature(verb).parameters:
            found.add(name)
    return found


def test_the_table_holds_every_verb_that_takes_an_output():
    assert verbs_with_out() == set(TABLE) | LISTS


def verb_of(name: str) -> Callable[..., Any]:
    return BY_PLACE.get(name) or getattr(vl.ops, name)


def as_tensor(array: Any) -> Any:
    return pytest.importorskip("torch").from_numpy(array)


WORLDS: list[Callable[[Any], Any]] = [np.asarray, as_tensor]


def given_as(world: Callable[[Any], Any], arrays: dict[str, Any]) -> dict[str, Any]:
    return {name: world(array) for name, array in arrays.items()}


def array_of(result: Any) -> Any:
    result = result[0] if isinstance(result, tuple) else result
    return result.values if isinstance(result, vl.Ragged) else result


def beside(memory: Any, at: int, like: Any) -> Any:
    return memory[at : at + like.nbytes].view(like.dtype).reshape(like.shape)


def overlapping(given: Any, like: Any) -> tuple[Any, Any]:
    """A copy of an array, and memory for a result that begins in the last number of the array."""
    memory = np.zeros(given.nbytes + like.nbytes + 64, np.uint8)
    at = (given.nbytes - 1) // like.itemsize * like.itemsize
    held = beside(memory, 0, given)
    held[...] = given
    return held, beside(memory, at, like)


CASES = [(verb, name) for verb, (arrays, _) in sorted(TABLE.items()) for name in arrays]


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("verb", "name"), CASES)
def test_an_output_that_overlaps_any_input_is_refused(verb, name, world):
    arrays, rest = TABLE[verb]
    call = verb_of(verb)
    expected = array_of(call(**arrays, **rest))
    held, out = overlapping(arrays[name], expected)
    with pytest.raises(ValueError, match="out: shares memory with an input"):
        call(**given_as(world, {**arrays, name: held}), **rest, out=world(out))
    np.testing.assert_array_equal(held, arrays[name])


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("verb", [verb for verb, (_, rest) in sorted(TABLE.items()) if "lengths" in rest])
def test_an_output_in_the_memory_of_lengths_is_refused(verb, world):
    arrays, rest = TABLE[verb]
    call = verb_of(verb)
    expected = array_of(call(**arrays, **rest))
    lengths, out = overlapping(np.array(LENGTHS, np.int64), expected)
    with pytest.raises(ValueError, match="out: shares memory with an input"):
        call(**given_as(world, arrays), **{**rest, "lengths": world(lengths)}, out=world(out))
    np.testing.assert_array_equal(lengths, LENGTHS)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("verb", sorted(TABLE))
def test_an_output_with_gaps_is_refused(verb, world):
    arrays, rest = TABLE[verb]
    call = verb_of(verb)
    expected = array_of(call(**arrays, **rest))
    memory = np.ones((*expected.shape, 2), expected.dtype)
    with pytest.raises(ValueError, match="out: is not C-contiguous"):
        call(**given_as(world, arrays), **rest, out=world(memory[..., 0]))
    assert (memory == 1).all()


AXES = [k for n in range(1, 5) for k in itertools.combinations(range(4), n)]


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("axis", [*range(4), *AXES])
def test_an_output_along_axes_has_the_shape_of_the_result(axis, world):
    r = vl.Ragged(world(rows(count=4)), levels=[vl.Level([2, 1]), vl.Level([1, 2, 1])])
    for name, (arrays, _) in TABLE.items():
        call = getattr(vl.ops, name, None)
        if list(arrays) != ["X"] or "axis" not in inspect.signature(call).parameters:
            continue
        if isinstance(axis, tuple) and not name.startswith("reduce_"):
            continue
        expected = array_of(call(r, axis=axis))
        out = world(np.full(expected.shape, 9, np.asarray(expected).dtype))
        result = call(r, axis=axis, out=out)
        assert array_of(result) is out, name
        np.testing.assert_array_equal(out, expected, err_msg=name)
        wrong = world(np.full((1, *expected.shape), 9, np.asarray(expected).dtype))
        with pytest.raises(ValueError, match="out: needs"):
            call(r, axis=axis, out=wrong)


@pytest.mark.parametrize(("verb", "name"), CASES)
def test_an_output_among_the_numbers_of_a_strided_input_is_refused_or_right(verb, name):
    # Such an input is copied before it is read, by the core or before.
    arrays, rest = TABLE[verb]
    call = verb_of(verb)
    expected = array_of(call(**arrays, **rest))
    given = arrays[name]
    memory = np.zeros(2 * (given.nbytes + expected.nbytes) + 64, np.uint8)
    strided = memory[: given.nbytes * 2].view(given.dtype).reshape(*given.shape, 2)[..., 0]
    strided[...] = given
    out = beside(memory, 0, expected)
    try:
        call(**{**arrays, name: strided}, **rest, out=out)
    except ValueError as error:
        if str(error) != "out: shares memory with an input; pass other memory":
            raise
        np.testing.assert_array_equal(strided, given)
    else:
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("verb", "name"), CASES)
def test_an_input_in_the_other_byte_order_gives_the_same(verb, name):
    arrays, rest = TABLE[verb]
    call = verb_of(verb)
    swapped = arrays[name].astype(arrays[name].dtype.newbyteorder("S"))
    expected = array_of(call(**arrays, **rest))
    np.testing.assert_array_equal(array_of(call(**{**arrays, name: swapped}, **rest)), expected)


@pytest.mark.parametrize("verb", sorted(TABLE))
def test_arrays_that_cannot_be_written_are_read(verb):
    arrays, rest = TABLE[verb]
    call = verb_of(verb)
    expected = array_of(call(**arrays, **rest))
    read_only = {name: array.copy() for name, array in arrays.items()}
    for array in read_only.values():
        array.flags.writeable = False
    np.testing.assert_array_equal(array_of(call(**read_only, **rest)), expected)


@pytest.mark.parametrize("verb", sorted(TABLE))
def test_an_output_that_cannot_be_written_is_refused(verb):
    arrays, rest = TABLE[verb]
    call = verb_of(verb)
    out = np.full_like(array_of(call(**arrays, **rest)), 1)
    before = out.copy()
    out.flags.writeable = False
    with pytest.raises(ValueError, match=r"^out: (is read-only|must be writeable)"):
        call(**arrays, **rest, out=out)
    np.testing.assert_array_equal(out, before)


@pytest.mark.parametrize(
    "call",
    [
        lambda out: vl.ops.sort(np.array([3, 1], "M8[s]"), [2], out=out(2, "M8[s]")),
        lambda out: vl.ops.cummax(np.array([3, 1], "m8[s]"), [2], out=out(2, "m8[s]")),
        lambda out: vl.ops.sort(np.array(["b", "a"]), [2], out=out(2, "U1")),
        lambda out: vl.ops.reduce_sum(np.array([3, 1], "m8[s]"), [2], out=out(1, "m8[s]")),
        lambda out: vl.ops.reduce_max(np.array([3, 1], "M8[s]"), [2], out=out(1, "M8[s]")),
        lambda out: vl.ops.einsum("f,f->f", np.ones(2, "f2"), np.ones(2, "f2"), out=out(2, "f2")),
    ],
    ids=["times", "durations", "text", "sums", "extremes", "halves"],
)
def test_an_output_of_any_dtype_that_cannot_be_written_is_refused(call):
    def out(n, dtype):
        array = np.zeros(n, dtype)
        array.flags.writeable = False
        return array

    with pytest.raises(ValueError, match=r"^out: (is read-only|must be writeable)") as raised:
        call(out)
    assert raised.value.argument == "out"


@pytest.mark.parametrize("verb", sorted(TABLE))
def test_an_output_apart_is_filled_and_nothing_around_it(verb):
    arrays, rest = TABLE[verb]
    call = verb_of(verb)
    expected = array_of(call(**arrays, **rest))
    around = 64
    memory = np.full(expected.nbytes + 2 * around, 0xA5, np.uint8)
    out = beside(memory, around, expected)
    assert array_of(call(**arrays, **rest, out=out)) is out
    np.testing.assert_array_equal(out, expected)
    assert (memory[:around] == 0xA5).all()
    assert (memory[around + expected.nbytes :] == 0xA5).all()


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("verb", sorted(LISTS))
def test_an_output_that_overlaps_an_array_of_a_list_is_refused(verb, world):
    memory = np.arange(12.0)
    arrays = [memory[:3], memory[3:4], np.arange(2.0)]
    call = getattr(vl.ops, verb)
    expected = array_of(call(arrays))
    out = np.lib.stride_tricks.as_strided(memory[2:], expected.shape, expected.strides)
    with pytest.raises(ValueError, match="out: shares memory with an input"):
        call([world(array) for array in arrays], out=world(out))
    np.testing.assert_array_equal(memory, np.arange(12.0))


def test_a_table_that_overlaps_what_is_added_to_it_is_refused():
    memory = np.zeros((8, 1), np.int64)
    for given in ({"indices": memory[2:4, 0]}, {"values": memory[2:4]}):
        arrays = {"indices": np.array([0, 1]), "values": np.ones((2, 1), np.int64), **given}
        for world in WORLDS:
            with pytest.raises(ValueError, match="table: shares memory with an input"):
                vl.ops.scatter_add(world(memory[:3]), **given_as(world, arrays))


def test_outputs_of_one_call_lie_apart():
    level = vl.Level([2, 1])
    values = np.array([1.0, np.nan, 3.0])
    memory = np.zeros(64, np.uint8)
    out = memory[:32].view(F).reshape(2, 2)
    with pytest.raises(ValueError, match="mask: shares memory with another output"):
        vl._core.pad(values, level, out=out, mask=memory[28:32].view(bool).reshape(2, 2))
    with pytest.raises(ValueError, match="nan_mask: shares memory with another output"):
        vl._core.pad(values, level, out=out, nan_mask=memory[28:32].view(bool).reshape(2, 2))
    both = memory[40:44].view(bool).reshape(2, 2)
    with pytest.raises(ValueError, match="nan_mask: shares memory with another output"):
        vl._core.pad(values, level, out=out, mask=both, nan_mask=both)


def test_ragged_outputs_lie_apart_from_the_values_and_the_rectangle():
    memory = np.arange(16.0)
    r = vl.Ragged(memory[:4], [3, 1])
    with pytest.raises(ValueError, match="out: shares memory with an input"):
        r.to_dense(out=memory[2:8].reshape(2, 3))
    with pytest.raises(ValueError, match="out: shares memory with an input"):
        r.to_dense(fill=memory[9:10], out=memory[8:14].reshape(2, 3))
    with pytest.raises(ValueError, match="out: shares memory with an input"):
        vl.Ragged.from_dense(memory[:6].reshape(2, 3), [3, 1], out=memory[4:8])


def test_a_joint_output_lies_apart_from_values_and_bounds():
    bounds, values = np.array([2, 3, 3, 3, 3, 3]), np.array([1, 2, 3, 0, 0, 0])
    J = vl._core.Joint(["x"], [1], [values[:3]], [bounds[:2]])
    for memory in (bounds, values):
        with pytest.raises(ValueError, match="shares memory with an input"):
            J.dense(out={"x": memory[1:5].reshape(2, 2)})


def test_an_output_over_an_input_that_runs_backwards_is_refused():
    memory = np.arange(12.0)
    for given in (memory[6:2:-1], memory[8:1:-2], memory[6:2:-1].reshape(2, 2).T.reshape(-1)):
        held = given.copy()
        for at in range(12 - len(given)):
            out = memory[at : at + len(given)]
            if not np.shares_memory(out, given):
                continue
            with pytest.raises(ValueError, match="out: shares memory with an input"):
                vl._core.reverse(given, vl.Level([len(given)]), out=out)
            np.testing.assert_array_equal(given, held)
