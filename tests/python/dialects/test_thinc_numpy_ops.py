"""NumpyOps of `varlen.thinc` beside Thinc's where they know no sequences, and what chooses ops."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from varlen import thinc

OURS = thinc.NumpyOps()


@pytest.fixture(scope="module")
def stock():
    return pytest.importorskip("thinc.backends", reason="thinc is not installed").NumpyOps()


def outcome(call):
    """What it gives, or the class of its error."""
    try:
        return call()
    except Exception as error:
        return type(error)


def same(got, want):
    if isinstance(want, np.ndarray):
        assert type(got) is np.ndarray
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    else:
        assert got == want


SIZES = (2, 1, 3, 2)
X = np.arange(12, dtype="f")


def families():
    """(method, arguments, options) of the families that count axes in their names."""
    for n in range(1, 5):
        shape, nested = SIZES[:n], np.ones(SIZES[:n]).tolist()
        for kind in "fi":
            yield f"alloc{n}{kind}", shape, {}
            yield f"alloc{n}{kind}", shape, {"dtype": "float64"}
            yield f"asarray{n}{kind}", (nested,), {}
            yield f"asarray{n}{kind}", (np.array(nested),), {"dtype": "int64"}
        for kind in ("", "f", "i"):
            yield f"reshape{n}{kind}", (X, *SIZES[: n - 1], -1), {}


A, B, NESTED = X.reshape(3, 4), X.reshape(4, 3), [[1, 2]]
CALLS = [
    *families(),
    ("alloc", ((2, 3),), {}),
    ("alloc", ((2,),), {"dtype": "uint64"}),
    ("alloc_f", ((2, 3),), {}),
    ("alloc_i", ((2, 3),), {}),
    ("asarray", (NESTED, "int64"), {}),
    ("asarray_f", (NESTED,), {}),
    ("asarray_i", (NESTED,), {}),
    ("as_contig", (A.T,), {}),
    ("as_contig", (X,), {"dtype": "float64"}),
    ("reshape", (X, (3, -1)), {}),
    ("reshape", (X, (5, 5)), {}),
    ("reshape_f", (X, (3, 4)), {}),
    ("reshape_i", (X, (3, 4)), {}),
    ("to_numpy", (X,), {}),
    ("to_numpy", (X,), {"byte_order": ">"}),
    ("to_numpy", ([1],), {}),
    ("gemm", (A, B), {}),
    ("gemm", (A, B), {"trans1": True, "trans2": True}),
    ("gemm", (A, B), {"out": np.zeros((3, 3), "f")}),
    ("gemm", (X, A), {}),
    ("gemm", (A, X), {}),
    ("affine", (B, X[:6].reshape(2, 3), X[:2]), {}),
    ("tile", (B, 2), {}),
    ("backprop_maxout", (X[:4].reshape(2, 2), np.array([[0, 2], [1, 1]], "i"), 3), {}),
    ("get_dropout_mask", ((2, 3), None), {}),
    ("get_dropout_mask", ((2, 3), 1.0), {}),
    ("minibatch", (2, iter([1])), {}),
]


@pytest.mark.parametrize(("name", "args", "options"), CALLS)
def test_arrays_are_made_as_thincs_ops_make_them(name, args, options, stock):
    ours, theirs = (outcome(lambda ops=ops: getattr(ops, name)(*args, **options)) for ops in (OURS, stock))
    same(ours, theirs)


def test_ops_say_what_they_are_as_thincs_do(stock):
    for name in ("name", "xp", "device_type", "device_id", "use_blis"):
        assert getattr(OURS, name) == getattr(stock, name)
    assert OURS.alloc((2, 3), zeros=False).shape == (2, 3)
    assert [[len(x) for x in both] for both in OURS.multibatch(2, [1, 2, 3], X[:3])] == [[2, 2], [1, 1]]


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.5, 0.9]))
def test_masks_are_thincs_from_the_same_state(seed, drop):
    backends = pytest.importorskip("thinc.backends", reason="thinc is not installed")
    masks = []
    for ops in (OURS, backends.NumpyOps()):
        np.random.seed(seed)  # noqa: NPY002
        masks.append(ops.get_dropout_mask((5, 4), drop))
    same(*masks)


def test_conversions_that_thincs_page_names_are_there():
    arrays = [np.ones((2, 3), "f"), np.ones((0, 3), "f")]
    r = OURS.list2ragged(arrays)
    assert type(r) is thinc.Ragged
    assert r.lengths.tolist() == [2, 0]
    back = OURS.ragged2list(r)
    assert [x.shape for x in back] == [(2, 3), (0, 3)]
    assert np.shares_memory(back[0], r.data)


def test_ops_are_chosen_by_name():
    for name in ("cpu", "numpy", "varlen"):
        assert type(thinc.get_ops(name, use_blis=False)) is thinc.NumpyOps
    with pytest.raises(ValueError, match=r"Invalid backend: tpu; expected one of cpu, numpy"):
        thinc.get_ops("tpu")


def test_ops_for_cuda_need_thinc(monkeypatch):
    monkeypatch.setitem(vars(thinc), "VarlenCupyOps", lambda **options: options)
    assert thinc.get_ops("cupy", device_id=1) == {"device_id": 1}


def test_ops_are_chosen_for_a_block_and_a_thread():
    before = thinc.get_current_ops()
    assert thinc.get_current_ops() is before
    with thinc.use_ops("numpy"):
        inside = thinc.get_current_ops()
        assert inside is not before
        assert thinc.noop().ops is inside
    assert thinc.get_current_ops() is before
    found = []
    thread = threading.Thread(target=lambda: found.append(thinc.get_current_ops()))
    thread.start()
    thread.join()
    assert type(found[0]) is thinc.NumpyOps
    assert found[0] is not before
    thinc.set_current_ops(inside)
    assert thinc.get_current_ops() is inside
    thinc.set_current_ops(before)


def test_what_ops_lack_is_told_with_where_it_is():
    with pytest.raises(AttributeError, match=r"no attribute 'relu'; VarlenOps has all of Thinc's"):
        OURS.relu  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute '_nothing'$"):
        OURS._nothing  # noqa: B018
    assert not hasattr(OURS, "__array__")


def test_everything_is_imported_by_a_star():
    names = {}
    exec("from varlen.thinc import *", names)
    assert {"Ragged", "NumpyOps", "get_current_ops", "list2ragged", "Linear", "alloc2f"} <= set(names)


@pytest.mark.parametrize(
    ("X", "width"),
    [
        (np.ones((2, 3)), 3),
        (np.array([0, 4]), 5),
        (np.array(2.0), 0),
        (np.zeros(0, int), 0),
        ([np.ones((2, 3))], 3),
        ([], 0),
        (thinc.Ragged(np.ones((2, 3)), [2]), 3),
        (thinc.Padded.from_list([np.ones((2, 3))]), 3),
    ],
)
def test_widths_are_those_of_rows(X, width):
    assert thinc.get_width(X) == width
    with pytest.raises(ValueError, match="expected an array"):
        thinc.get_width(None)
