"""Arrays of JAX in, arrays of JAX out; nobody writes them.

    pip install jax && pytest tests/python/devices/jax_verbs.py

in a process of its own: JAX starts threads, after which other tests must not fork.
"""

import pickle

import device_verbs
import jax
import numpy as np
import pytest
import varlen as vl
from varlen import ops

LENGTHS = [3, 0, 2, 1]
VALUES = np.arange(12.0, dtype=np.float32).reshape(6, 2)
CASES = [pytest.param(make, step, id=f"{make.__name__}-{name}") for make, name, step in device_verbs.CASES]


@pytest.fixture
def wide():
    """Numbers of 64 bits."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize(("make", "step"), CASES)
def test_verbs_give_what_they_give_of_numpy(make, step, wide):
    device_verbs.check(step, make, jax.numpy.asarray, jax.Array, np.asarray)


@pytest.fixture
def r():
    return vl.Ragged(jax.numpy.asarray(VALUES), LENGTHS)


def test_what_would_be_written_is_refused_in_a_sentence(r):
    out = jax.numpy.zeros((4, 2))
    for call in (
        lambda: ops.reduce_sum(r, out=out),
        lambda: r.to_dense(out=jax.numpy.zeros((4, 3, 2))),
        lambda: ops.softmax(r, out=r.values),
        lambda: np.add(r, 1, out=r),
    ):
        with pytest.raises(TypeError, match=r"^out: arrays of JAX cannot be written"):
            call()
    with pytest.raises(TypeError, match=r"^table: arrays of JAX cannot be written; use backprop_gather_add"):
        ops.scatter_add(out, np.array([0]), r.values[:1])
    assert r.values.tolist() == VALUES.tolist()


def test_numbers_of_64_bits_are_those_of_32_where_they_fit(r):
    assert r.row_ids.dtype == r.argmax(empty=0).dtype == np.int32
    assert ops.ngrams(2, jax.numpy.arange(1)).shape == (0,)
    with pytest.raises(OverflowError, match="which JAX's 32 bits cannot; set jax_enable_x64"):
        ops.ngrams(2, jax.numpy.arange(4))


def test_lengths_and_indices_may_be_of_jax(r):
    lengths = jax.numpy.asarray(LENGTHS)
    assert vl.Ragged(r.values, lengths).equals(r)
    assert vl.Level(lengths) == r.levels[0]
    assert r[jax.numpy.asarray([2, 0])].equals(r[[2, 0]])


def test_halves_of_ml_dtypes_stay():
    x = jax.numpy.arange(6, dtype=jax.numpy.bfloat16)
    for result in (ops.reduce_sum(x, LENGTHS), vl.Ragged(x, LENGTHS).softmax().values):
        assert isinstance(result, jax.Array)
        assert result.dtype == jax.numpy.bfloat16


def test_arrays_of_numpy_are_copied(r):
    row = np.array([1.0, 2], np.float32)
    s = r * row
    wanted = (VALUES * row).tolist()
    row[:] = 0
    assert s.values.tolist() == wanted
    numbers = np.arange(3, dtype=np.int32)
    kept = ops.gather_add(r.values, numbers[:, None])
    numbers[:] = 5
    assert kept.tolist() == VALUES[:3].tolist()


def test_places_and_pickles(r):
    assert r.device == r.cpu().device == "cpu"
    assert r.to("cpu") is r
    copy = pickle.loads(pickle.dumps(r))
    assert isinstance(copy.values, jax.Array)
    assert copy.equals(r)
    with pytest.raises(RuntimeError):
        r.to("cuda")


def test_tracers_are_refused_in_a_sentence():
    for trace in (
        jax.jit(lambda x: vl.Ragged(x, LENGTHS).sum()),
        jax.grad(lambda x: vl.Ragged(x, LENGTHS).sum().sum()),
    ):
        with pytest.raises(
            TypeError, match="varlen cannot read an array that JAX traces: call it outside of jit"
        ):
            trace(VALUES)


def test_several_kinds_in_one_call(r):
    wanted = ops.backprop_softmax(VALUES, ops.softmax(VALUES, LENGTHS), LENGTHS)
    found = ops.backprop_softmax(jax.numpy.asarray(VALUES), ops.softmax(VALUES, LENGTHS), LENGTHS)
    assert isinstance(found, jax.Array)
    assert found.tolist() == wanted.tolist()


def test_what_torch_has_is_made_by_dlpack(r):
    torch = pytest.importorskip("torch")
    assert [x.tolist() for x in r.to_nested().unbind()] == r.to_list()
    full = r[[0, 2, 3]]
    assert full.to_padded().to_packed_sequence().data.tolist() == full.pack().values.tolist()
    assert isinstance(full.pack().to_packed_sequence().data, torch.Tensor)
