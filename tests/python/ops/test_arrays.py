"""Arrays made, read and reshaped, in Thinc's families of names."""

import inspect

import numpy as np
import pytest
from doors import masked
from varlen import thinc

FAMILIES = [(n, kind) for n in range(1, 5) for kind in "fi"]
DEFAULT = {"f": np.float32, "i": np.int32}


@pytest.mark.parametrize(("n", "kind"), FAMILIES)
def test_families_have_their_axes_and_kind(n, kind):
    sizes = (2, 1, 3, 2)[:n]
    alloc, asarray = getattr(thinc, f"alloc{n}{kind}"), getattr(thinc, f"asarray{n}{kind}")
    reshape = getattr(thinc, f"reshape{n}{kind}")
    result = alloc(*sizes)
    assert (result.shape, result.dtype) == (sizes, DEFAULT[kind])
    assert not result.any()
    assert alloc(*sizes, zeros=False, dtype="uint8").dtype == np.uint8
    named = {f"d{k}": size for k, size in enumerate(sizes)}
    assert alloc(**named).shape == sizes
    assert alloc(sizes[0], **{k: v for k, v in named.items() if k != "d0"}).shape == sizes
    read = asarray(result.tolist())
    assert (read.shape, read.dtype) == (sizes, DEFAULT[kind])
    assert asarray(read) is read
    assert asarray(read, dtype=np.int64).dtype == np.int64
    with pytest.raises(ValueError, match="data: expected"):
        asarray(result[None])
    flat = np.arange(result.size)
    any_kind = getattr(thinc, f"reshape{n}")
    for shaped in (reshape(flat, *sizes), any_kind(flat, *sizes), reshape(flat, **named)):
        assert shaped.shape == sizes
        assert np.shares_memory(shaped, flat)
    assert list(inspect.signature(alloc).parameters) == [*named, "dtype", "zeros"]
    assert list(inspect.signature(reshape).parameters) == ["array", *named]
    for wrong in ((), (*sizes, 1)):
        with pytest.raises(TypeError, match=f"alloc{n}{kind}"):
            alloc(*wrong)
    with pytest.raises(TypeError, match="depth"):
        alloc(*sizes, depth=1)


@pytest.mark.parametrize("kind", "fi")
def test_families_without_a_number_take_shapes(kind):
    assert getattr(thinc, f"alloc_{kind}")((2, 3)).dtype == DEFAULT[kind]
    assert getattr(thinc, f"asarray_{kind}")([[1, 2]]).dtype == DEFAULT[kind]
    assert getattr(thinc, f"reshape_{kind}")(np.arange(6), (2, -1)).shape == (2, 3)
    assert thinc.alloc(3).shape == (3,)
    assert thinc.alloc((2,), dtype="i").dtype == np.int32


def test_asarray_copies_where_it_has_to():
    x = np.arange(3)
    assert thinc.asarray(x) is x
    assert thinc.asarray(x, dtype=np.int64) is x
    assert thinc.asarray(x, dtype=">i4").tolist() == [0, 1, 2]
    assert thinc.asarray(np.arange(3, dtype=">i4"), dtype=np.int32).tolist() == [0, 1, 2]
    assert thinc.asarray(np.float64(2.5), dtype="f").shape == ()
    assert thinc.asarray([], dtype="i").shape == (0,)
    assert thinc.asarray([np.arange(2), np.arange(2)]).shape == (2, 2)


def test_asarray_does_not_wrap():
    for given, dtype in (([300], np.uint8), ([1.5], np.int32), ([np.nan], "i"), ([2**40], "i")):
        with pytest.raises(ValueError, match="does not fit"):
            thinc.asarray(given, dtype=dtype)
    with pytest.raises(ValueError, match="data: not a rectangle"):
        thinc.asarray([[1], [2, 3]])
    with pytest.raises(TypeError, match="data: holds Python objects"):
        thinc.asarray([None])
    with pytest.raises(TypeError, match="masked"):
        thinc.asarray(masked())
    with pytest.raises(TypeError, match="dtype"):
        thinc.asarray([1], dtype="no such")


def test_as_contig_lays_rows_end_to_end():
    x = np.arange(6.0).reshape(2, 3)
    assert thinc.as_contig(x) is x
    assert thinc.as_contig(x.T).flags.c_contiguous
    assert np.array_equal(thinc.as_contig(x.T), x.T)
    assert thinc.as_contig(x, dtype="f").dtype == np.float32
    assert thinc.as_contig(np.float32(1)).shape == ()


def test_reshape_refuses_other_sizes():
    with pytest.raises(ValueError, match="reshape"):
        thinc.reshape(np.arange(3), (2, 2))
    with pytest.raises(TypeError, match="masked"):
        thinc.reshape(masked(), (2, 1))
    assert thinc.reshape(np.arange(3), 3).shape == (3,)


def test_alloc_refuses_what_cannot_be():
    with pytest.raises(ValueError, match="negative"):
        thinc.alloc1f(-1)
    with pytest.raises(TypeError, match="dtype"):
        thinc.alloc((2,), dtype=object)


def test_dropout_masks_are_drawn_from_their_seed():
    result = thinc.get_dropout_mask((100, 50), 0.25, seed=1)
    assert (result.dtype, result.shape) == (np.float32, (100, 50))
    assert set(np.unique(result)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs(result.mean() - 1) < 0.05
    assert np.array_equal(result, thinc.get_dropout_mask((100, 50), 0.25, seed=1))
    rng = np.random.default_rng(1)
    assert np.array_equal(result, thinc.get_dropout_mask((100, 50), 0.25, seed=rng))
    assert not np.array_equal(result, thinc.get_dropout_mask((100, 50), 0.25, seed=rng))
    assert not np.array_equal(thinc.get_dropout_mask(99, 0.5), thinc.get_dropout_mask(99, 0.5))


def test_dropout_masks_at_the_ends():
    for drop in (None, 0, -1):
        assert thinc.get_dropout_mask((2, 3), drop).tolist() == [[1, 1, 1], [1, 1, 1]]
    for drop in (1, 1.0, 7):
        assert thinc.get_dropout_mask(2, drop).tolist() == [0, 0]
    with pytest.raises(ValueError, match="drop"):
        thinc.get_dropout_mask(2, float("nan"))


def test_tensors_stay_tensors():
    torch = pytest.importorskip("torch")
    x = torch.arange(6.0).reshape(2, 3)
    assert thinc.asarray(x) is x
    assert thinc.asarray2f(x) is x
    assert thinc.asarray2i(x).dtype == torch.int32
    assert thinc.asarray(x, dtype=torch.float64).dtype == torch.float64
    assert thinc.as_contig(x.T).is_contiguous()
    assert thinc.reshape2f(x, 3, 2).shape == (3, 2)
    with pytest.raises(ValueError, match="shape"):
        thinc.reshape1f(x, 4)
    with pytest.raises(ValueError, match="fit"):
        thinc.asarray_i(torch.tensor([1.5]))
    with pytest.raises(ValueError, match="data: expected 1 axis"):
        thinc.asarray1f(x)
