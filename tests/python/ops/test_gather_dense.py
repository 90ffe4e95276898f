"""Some sequences as a rectangle, its mask and positions: what gathering, padding and masks give, at once."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from varlen import ops

HOW = st.sampled_from(
    [
        {},
        {"padding_side": "left", "fill": 7},
        {"max_len": 2},
        {"max_len": 2, "truncate": "left", "padding_side": "left"},
        {"max_len": 3, "pad_to_multiple_of": 4},
        {"dtype": "float32", "fill": 0.5},
    ]
)


@pytest.fixture(params=["numpy", "torch"])
def kind(request):
    """What makes an array, or a tensor."""
    if request.param == "numpy":
        return np.asarray
    return pytest.importorskip("torch").as_tensor


def chain(r, indices, how):
    picked = r if indices is None else r[indices]
    places = vl.Ragged(np.array(picked.levels[-1].positions), levels=picked.levels)
    sizes = {name: how[name] for name in how if name not in ("fill", "dtype")}
    return (*picked.to_dense(mask=True, **how), places.to_dense(**sizes))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), st.integers(1, 2), st.sampled_from([(), (3,), (0,)]), HOW)
def test_it_gives_what_its_parts_give(kind, data, depth, trailing, how):
    lengths = data.draw(st.lists(st.integers(0, 4), max_size=5))
    levels = [vl.Level(lengths)]
    if depth == 2:
        count = sum(lengths)
        levels.append(vl.Level(data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))))
    shape = (levels[-1].total, *trailing)
    x = np.arange(np.prod(shape), dtype="i4").reshape(shape)
    n = len(lengths)
    indices = data.draw(st.none() | st.lists(st.integers(-n, n - 1), max_size=6) if n else st.none())
    wanted = chain(vl.Ragged(x, levels=levels), indices, how)
    r = vl.Ragged(kind(x), levels=levels)
    options = {**how, "dtype": kind(np.zeros(0, "f4")).dtype} if "dtype" in how else how
    found = ops.gather_dense(r, indices, positions=True, **options)
    for a, b in zip(map(np.asarray, found), wanted, strict=True):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    assert len(ops.gather_dense(r, indices, **options)) == 2


@pytest.mark.parametrize("picks", [False, True])
@pytest.mark.parametrize("side", ["right", "left"])
def test_positions_of_one_giant_sequence_are_those_of_its_parts(any_threads, picks, side):
    level = vl.Level([0, 400_000, 3])
    how = {"padding_side": side, "max_len": 399_999, "truncate": "left", "positions": True}
    places = ops.gather_dense(np.zeros((level.total, 0)), [1, 2] if picks else None, level, **how)[2]
    giant, three = places[-2:]
    assert np.array_equal(giant, np.arange(1, 400_000))
    assert (three[:3] if side == "right" else three[-3:]).tolist() == [0, 1, 2]
    assert three.sum() == 3


@pytest.mark.parametrize("index", [slice(None, None, 2), np.array([True, False, True]), np.array([2, 0])])
def test_indices_are_what_brackets_take(kind, index):
    r = vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2])
    block, mask = ops.gather_dense(r, index if isinstance(index, slice) else kind(index))
    wanted, present = r[index].to_dense(mask=True)
    assert np.array_equal(block, wanted)
    assert np.array_equal(mask, present)


def test_indices_out_of_range_are_refused(kind):
    for index in (3, -4):
        with pytest.raises(IndexError, match=f"index {index} at position 1 is out of range for 3 sequences"):
            ops.gather_dense(kind(np.arange(5)), [0, index], [3, 0, 2])
    with pytest.raises(ValueError, match="fill"):
        ops.gather_dense(kind(np.arange(5)), [0], [3, 0, 2], fill=0.5)


def test_autograd_follows_twice():
    torch = pytest.importorskip("torch")
    x = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)

    def block(x):
        return ops.gather_dense(x, [2, 0, 2], [3, 0, 2], max_len=2, fill=1.0)[0]

    assert torch.autograd.gradcheck(block, x)
    assert torch.autograd.gradgradcheck(block, x)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn"])
def test_dtypes_that_numpy_lacks(name):
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, name)
    x = torch.tensor([1.0, 2.0, 3.0]).to(dtype)
    assert ops.gather_dense(x, [1, 0], [2, 1], fill=2)[0].float().tolist() == [[3, 2], [1, 2]]
    assert ops.gather_dense(x, [1, 0], [2, 1], dtype=torch.float32)[0].tolist() == [[3, 0], [1, 2]]
    assert ops.gather_dense(x.float(), [1], [2, 1], dtype=dtype)[0].dtype == dtype


@pytest.mark.parametrize("name", ["float32", "float8_e4m3fn"])
def test_positions_need_no_rows_of_a_known_dtype(name):
    torch = pytest.importorskip("torch")
    x = torch.ones(5).to(getattr(torch, name)).requires_grad_(name == "float32")
    places = ops.gather_dense(x, [2, 0], [3, 0, 2], padding_side="left", positions=True)[2]
    assert (places.dtype, places.tolist()) == (torch.int64, [[0, 0, 1], [0, 1, 2]])
