"""Arrays of CuPy, JAX and Numba on a device: the verbs, their streams and their memory, and Thinc's ops."""

import device_verbs
import numpy as np
import pytest
import varlen as vl
from device_batches import KINDS, OPTIONS, ROWS, dataset_of, fitting
from varlen import ops

pytestmark = pytest.mark.cuda

CASES = [pytest.param(make, step, id=f"{make.__name__}-{name}") for make, name, step in device_verbs.CASES]
LENGTHS = np.array([300, 0, 7, 1], np.int32)


@pytest.fixture
def cupy():
    found = pytest.importorskip("cupy")
    if not isinstance(getattr(found, "__file__", None), str):
        pytest.skip("a stand-in for CuPy is loaded")
    return found


@pytest.mark.parametrize(("make", "step"), CASES)
def test_verbs_of_cupy_give_what_they_give_of_numpy(make, step, cupy):
    device_verbs.check(step, make, cupy.asarray, cupy.ndarray, cupy.asnumpy)


@pytest.mark.parametrize(("make", "step"), CASES)
def test_verbs_of_jax_give_what_they_give_of_numpy(make, step, cupy):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    device = jax.devices("cuda")[0]
    device_verbs.check(step, make, lambda x: jax.device_put(x, device), jax.Array, np.asarray)


def test_verbs_of_numba_give_what_they_give_of_numpy(cupy):
    cuda = pytest.importorskip("numba.cuda")
    x = np.arange(12.0).reshape(6, 2)
    r = vl.Ragged(cuda.to_device(x), [3, 0, 2, 1])
    whole = vl.Ragged(x, [3, 0, 2, 1])
    for call in (
        lambda r: r.sum(),
        lambda r: r.softmax().values,
        lambda r: r.to_dense(),
        lambda r: (r * 2).values,
    ):
        found = call(r)
        assert type(found) is type(r.values)
        np.testing.assert_allclose(found.copy_to_host(), call(whole), rtol=1e-12)


def test_cupy_works_on_its_current_stream_and_pool(cupy):
    x = cupy.ones((1 << 20, 8), dtype=cupy.float32)
    cupy.cuda.Device().synchronize()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        x *= 3
        total = ops.reduce_sum(x, [1 << 20])
        assert cupy.cuda.get_current_stream() == stream
        stream.synchronize()
    assert total.tolist() == [[3 << 20] * 8]
    pool = cupy.get_default_memory_pool()
    before = pool.used_bytes()
    result = ops.reverse(x, [1 << 20])
    assert pool.used_bytes() >= before + x.nbytes
    del result
    assert pool.used_bytes() == before


def same_bits(cupy, batch, wanted):
    assert list(batch) == list(wanted)
    for name, x in wanted.items():
        y = batch[name]
        if isinstance(x, np.ndarray):
            assert isinstance(y, cupy.ndarray), name
            assert (y.shape, cupy.asnumpy(y).tobytes()) == (x.shape, x.tobytes()), name
        else:
            assert y == x


@pytest.mark.parametrize("name", OPTIONS)
def test_batches_of_cupy_are_those_of_the_cpu(name, cupy, tmp_path):
    for kind in KINDS:
        ds = dataset_of(kind, tmp_path)
        options = fitting(ds, OPTIONS[name])
        wanted = ds.batch(ROWS, **options)
        same_bits(cupy, ds.batch(ROWS, framework="cupy", **options), wanted)
        seed = options.pop("seed", None)
        staged = ds.collator(framework="cupy", seed=seed, **options)(ROWS)
        same_bits(cupy, staged.pin_memory().to(cupy.cuda.Device(0)), wanted)


def test_batches_of_cupy_are_the_loops_to_keep(cupy):
    ds = vl.Dataset(vl.JointNestedRaggedTensorDict({"x": [[float(i)] * 5000 for i in range(60)]}))
    with cupy.cuda.Stream(non_blocking=True) as stream:
        sums, kept = [], []
        for batch in ds.epoch(2, framework="cupy", prefetch=2):
            for _ in range(20):  # the loop works on a batch while the next ones arrive
                batch["x"] += 1
            sums.append(batch["x"].sum())
            kept.append(batch if len(kept) % 3 == 0 else None)
        stream.synchronize()
    assert [float(x) for x in sums] == [5000.0 * (4 * i + 41) for i in range(30)]
    for i, batch in enumerate(kept):
        assert batch is None or batch["x"][:, 0].tolist() == [2 * i + 20, 2 * i + 21]


def test_what_torch_has_is_made_of_cupy_by_dlpack(cupy, torch):
    r = vl.Ragged(cupy.arange(5.0), [3, 2])
    nested = r.to_nested()
    assert nested.is_cuda
    assert [x.tolist() for x in nested.unbind()] == r.to_list()
    assert r.pack().to_packed_sequence().data.tolist() == r.pack().values.tolist()


def test_cupy_on_two_devices(cupy):
    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("there is one device")
    with cupy.cuda.Device(1):
        x = cupy.ones((308, 2))
    assert ops.reduce_sum(x, LENGTHS).device.id == 1
    with pytest.raises(ValueError, match="expected an array on device 0, got one on device 1"):
        ops.backprop_softmax(cupy.ones((308, 2)), x, LENGTHS)


def test_ops_of_thinc_give_what_cupy_ops_gives(cupy):
    pytest.importorskip("thinc")
    from thinc.api import CupyOps
    from varlen.thinc import VarlenCupyOps

    ours, theirs = VarlenCupyOps(), CupyOps()
    rng = np.random.default_rng(0)
    X = cupy.asarray(rng.standard_normal((308, 16), np.float32))
    full, some = cupy.asarray(np.array([300, 7, 1], np.int32)), cupy.asarray(LENGTHS)
    d = cupy.asarray(rng.standard_normal((4, 16), np.float32))
    ids = cupy.asarray(rng.integers(0, 2**63, 50, np.uint64))
    which = theirs.reduce_max(X, full)[1]
    for call in (
        lambda ops: ops.reduce_sum(X, some),
        lambda ops: ops.reduce_mean(X, some),
        lambda ops: ops.reduce_max(X, full),
        lambda ops: ops.reduce_first(X, full),
        lambda ops: ops.reduce_last(X, full),
        lambda ops: ops.backprop_reduce_sum(d, some),
        lambda ops: ops.backprop_reduce_mean(d, some),
        lambda ops: ops.backprop_reduce_max(d[:3], which, full),
        lambda ops: ops.seq2col(X, 2, lengths=full),
        lambda ops: ops.backprop_seq2col(cupy.tile(X, 3), 1, lengths=full),
        lambda ops: ops.gather_add(X, cupy.asarray(np.array([[0, 1], [307, 5]], np.uint32))),
        lambda ops: ops.hash(ids, 3),
        lambda ops: ops.pad([X[:3], X[3:10]]),
        lambda ops: ops.flatten([X[:3], X[3:10]], pad=1),
        lambda ops: ops.padded2list(ops.list2padded([X[:3], X[3:10], X[:7]])),
    ):
        found, wanted = call(ours), call(theirs)
        pairs = zip(found, wanted, strict=True) if isinstance(found, (list, tuple)) else [(found, wanted)]
        for x, y in pairs:
            assert (x.dtype, x.shape) == (y.dtype, y.shape)
            cupy.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-4)
