"""Tensors seen as arrays by the core, and made of arrays: which, whose memory, who keeps whom alive."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest
import varlen as vl
from house import in_python
from kernels import of_cpu
from varlen import _core

torch = pytest.importorskip("torch")
pytest.importorskip("varlen.backends.torch")

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
SEEN = of_cpu("tensors come as arrays of a device, which hide their numbers")
TYPES = (torch.Tensor, torch.nn.Parameter)


class NoTensor:
    """A type that offers no DLPack to C."""


@pytest.fixture(params=[pytest.param("by exchange", marks=SEEN), "by methods"])
def _way(request):
    """Both ways to the memory of a tensor: by torch's table for C, and by its methods, for older ones."""
    if request.param == "by methods":
        _core.register(tensor_types=(NoTensor, *TYPES))
    yield
    _core.register(tensor_types=TYPES)


def seen(tensor):
    """What a function is given for a tensor."""
    shown = []
    result = _core.on_tensors(lambda array: shown.append(array), tensor)
    return result if result is NotImplemented else shown[0]


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("name", DTYPES)
def test_tensor_and_array_are_the_same_memory_both_ways(name):
    tensor = (torch.rand(4, 3, 2) * 3).to(getattr(torch, name)).permute(2, 0, 1)[:, ::2]
    array = seen(tensor)
    assert array.dtype == np.dtype(name)
    assert array.ctypes.data == tensor.data_ptr()
    assert array.strides == tuple(step * tensor.element_size() for step in tensor.stride())
    np.testing.assert_array_equal(array, tensor.numpy())
    fresh = np.ascontiguousarray(array)
    back, word, again = _core.on_tensors(lambda x: (fresh, "word", x), tensor)
    assert word == "word"
    assert back.data_ptr() == fresh.ctypes.data
    assert back.dtype == again.dtype == tensor.dtype
    assert torch.equal(back, tensor)
    assert torch.equal(again, tensor)


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), ()])
def test_tensor_without_numbers_and_scalar_keep_their_shape(shape):
    assert seen(torch.zeros(shape)).shape == shape
    assert _core.on_tensors(lambda x: x.copy(), torch.zeros(shape)).shape == shape


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.zeros(2, device="meta"),
        lambda: torch.zeros(2, 2).to_sparse(),
        lambda: torch.zeros(2, dtype=torch.complex64).conj(),
        lambda: torch.zeros(2, dtype=torch.complex64).conj().imag,
        lambda: torch._efficientzerotensor(3),
        lambda: torch.zeros(2, dtype=torch.uint8).view(torch.uint1),
    ],
    ids=["meta", "sparse", "conjugate", "negative", "zeros", "uint1"],
)
def test_tensor_whose_memory_holds_other_numbers_is_not_shown(make):
    assert seen(make()) is NotImplemented


@SEEN
def test_bfloat16_is_shown_as_the_dtype_that_the_core_has_for_it():
    tensor = torch.tensor([1.0, -2.5], dtype=torch.bfloat16)
    array = seen(tensor)
    assert array.dtype == _core.bfloat16
    assert array.ctypes.data == tensor.data_ptr()
    back = _core.on_tensors(lambda x: x, tensor)
    assert back.dtype == torch.bfloat16
    assert torch.equal(back, tensor)


@pytest.mark.usefixtures("_way")
def test_tensor_that_wants_gradients_is_seen_without_them():
    leaf = torch.ones(2, requires_grad=True)
    for tensor in (leaf, leaf * 2, torch.nn.Parameter(torch.ones(2))):
        np.testing.assert_array_equal(seen(tensor), tensor.detach().numpy())
        assert not _core.on_tensors(lambda x: x + 1, tensor).requires_grad


def test_tensor_of_a_transform_shows_no_memory():
    shown = []
    torch.vmap(lambda x: (shown.append(seen(x)), x)[1])(torch.ones(2, 3))
    assert shown == [NotImplemented]


@pytest.mark.usefixtures("_way")
def test_tensor_keeps_the_array_alive_and_lets_it_go_on_any_thread():
    class Watched(np.ndarray):
        pass

    array = np.arange(3).view(Watched)
    alive = weakref.ref(array)
    given = [array]
    held = [_core.on_tensors(lambda _: given.pop(), torch.zeros(1))]
    del array
    gc.collect()
    assert alive() is not None
    assert held[0].tolist() == [0, 1, 2]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert alive() is None


@pytest.mark.usefixtures("_way")
def test_array_keeps_the_tensor_alive():
    tensor = torch.arange(3)
    array = seen(tensor)
    alive = weakref.ref(tensor)
    base = array.base
    while isinstance(base, np.ndarray):
        base = base.base
    del tensor
    assert array.tolist() == [0, 1, 2]
    del array, base
    gc.collect()
    assert alive() is None


@pytest.mark.usefixtures("_way")
def test_error_of_the_function_passes_and_leaves_nothing_behind():
    tensor = torch.zeros(2)
    alive = weakref.ref(tensor)
    with pytest.raises(ZeroDivisionError):
        _core.on_tensors(lambda x: 1 // 0, tensor)
    del tensor
    gc.collect()
    assert alive() is None


def test_read_only_and_reversed_arrays_become_tensors_as_torch_takes_them():
    with pytest.raises(ValueError, match="negative"):
        _core.on_tensors(lambda x: np.arange(3)[::-1], torch.arange(3))
    with pytest.raises(TypeError, match="numpy"):
        _core.on_tensors(lambda x: np.array(["word"]), torch.arange(3))


def test_torch_says_that_it_takes_a_read_only_array():
    code = """
import numpy as np, torch
import varlen as vl
from varlen import _core

vl.Ragged(torch.arange(3.0), [2, 1]).sum()
fixed = np.arange(3.0)
fixed.flags.writeable = False
print(_core.on_tensors(lambda x: fixed, torch.arange(3.0)).tolist())
"""
    out, warnings = in_python(code)
    assert out == "[0.0, 1.0, 2.0]"
    assert "not writable" in warnings


@SEEN
def test_what_is_cut_from_a_tensor_is_rows_of_it_or_a_copy():
    x = torch.arange(12.0).reshape(6, 2)
    rows = _core.on_tensors(lambda a: a[2:5], x)
    assert (rows.tolist(), rows.data_ptr()) == (x[2:5].tolist(), x[2:].data_ptr())
    for cut in (
        lambda a: a[::-1],
        lambda a: a[:, 1:],
        lambda a: a[::2],
        lambda a: a.view(np.int32),
        lambda a: a.T,
    ):
        found = _core.on_tensors(cut, x)
        assert found.numpy().tolist() == cut(x.numpy()).tolist()
        found.zero_()
        assert x.count_nonzero() == 11


def test_too_many_arguments_are_refused():
    with pytest.raises(TypeError, match="at most 16"):
        _core.on_tensors(print, *range(17))
    with pytest.raises(TypeError, match="expected a function"):
        _core.on_tensors()


@pytest.mark.parametrize("key", [1, -1, slice(1, None), slice(None, None, -1), [2, 0], [True, False, True]])
@pytest.mark.parametrize("needs", [False, True])
def test_tensor_is_indexed_as_an_array(key, needs):
    numbers = np.arange(24.0).reshape(12, 2)
    lengths = [5, 3, 4]
    expected = vl.Ragged(numbers, lengths)[key]
    tensor = torch.from_numpy(numbers.copy()).requires_grad_(needs)
    for index in (key, np.array(key)) if isinstance(key, list) else (key,):
        found = vl.Ragged(tensor, lengths)[index]
        if isinstance(key, int):
            assert torch.equal(found.detach(), torch.from_numpy(expected))
            assert found.requires_grad == needs
        else:
            assert found.to_list() == expected.to_list()
            assert found.values.requires_grad == needs
    with pytest.raises(IndexError, match="out of range for 3"):
        vl.Ragged(tensor, lengths)[3]


def test_view_of_a_tensor_shares_its_memory_and_a_choice_does_not():
    tensor = torch.arange(4)
    ragged = vl.Ragged(tensor, [1, 2, 1])
    tensor[1] = 9
    assert ragged[1].data_ptr() == tensor[1:].data_ptr()
    assert ragged[1:].values.data_ptr() == tensor[1:].data_ptr()
    chosen = ragged[[1]].values
    tensor[1] = 7
    assert chosen.tolist() == [9, 2]


@pytest.mark.parametrize("needs", [False, True])
@pytest.mark.parametrize("kind", [list, np.array, lambda x: np.array(x, np.int16), torch.tensor])
def test_gather_of_numbers_in_a_row_is_gather_of_any_numbers(kind, needs):
    tensor = torch.arange(12.0).requires_grad_(needs)
    ragged = vl.Ragged(tensor, [5, 3, 4])
    expected = ragged.gather(vl.Ragged([2, 0, 2], [3]))[0]
    found = ragged.gather(kind([2, 0, 2]))
    assert found.to_list() == expected.to_list()
    assert found.values.requires_grad == needs
    for bad in ([1, 3], [-1]):
        entry = len(bad) - 1
        with pytest.raises(
            IndexError, match=rf"indices: entry {entry} is {bad[-1]}, out of range for 3 items"
        ):
            ragged.gather(kind(bad))
    with pytest.raises(TypeError, match="expected integers"):
        ragged.gather([True, False, True])


def test_gather_keeps_the_class():
    class Own(vl.Ragged):
        __slots__ = ()

    assert type(Own([1, 2], [1, 1]).gather([1])) is Own
    assert type(Own([1, 2], [1, 1])[[1]]) is Own
    assert type(Own(torch.arange(2), [1, 1])[1:]) is Own


@pytest.mark.parametrize("needs", [False, True])
def test_list_of_ints_picks_as_the_array_does_and_other_lists_as_before(needs):
    ragged = vl.Ragged(torch.arange(6.0).requires_grad_(needs), [1, 2, 3])
    assert ragged[[2, -3]].to_list() == ragged[np.array([2, -3])].to_list() == [[3.0, 4.0, 5.0], [0.0]]
    assert ragged[[np.int8(1), 1]].to_list() == [[1.0, 2.0]] * 2
    assert ragged[[True, False, True]].to_list() == [[0.0], [3.0, 4.0, 5.0]]
    assert ragged[[]].to_list() == []
    for bad in ([3], [0, -4]):
        with pytest.raises(
            IndexError, match=rf"index {bad[-1]} at position {len(bad) - 1} is out of range for 3"
        ):
            ragged[bad]
    for bad in ([0.5], ["a"], [None], [2**70]):
        with pytest.raises(IndexError, match="sequences are chosen by"):
            ragged[bad]
    assert _core.row_of_ints([2, -1]).tolist() == [2, -1]
    assert all(_core.row_of_ints(x) is None for x in ([], [True], [1, 2.0], [2**63], (1, 2), np.arange(2)))


def test_rows_of_a_tensor_hold_its_memory_whatever_becomes_of_it():
    parameter = torch.nn.Parameter(torch.arange(400_000.0), requires_grad=False)
    holder = torch.nn.Module()
    holder.values = parameter
    r = vl.Ragged(holder.values, [200_000, 200_000])
    views = [r[1], r[1:].values, r.row(1), list(r)[1], r[:, :].values[200_000:], r[-1]]
    holder.half()  # the parameter lies elsewhere from now on
    torch.zeros(400_000)
    for view in views:
        assert torch.equal(view, torch.arange(200_000.0, 400_000.0))


def test_writing_to_rows_of_a_tensor_is_known_to_autograd():
    for write in (lambda r: r.row(0).mul_(5), lambda r: r[0].mul_(5), lambda r: r[:1].values.mul_(5)):
        x, weight = torch.ones(4), torch.ones(4, requires_grad=True)
        y = (weight * x).sum()
        write(vl.Ragged(x, [2, 2]))
        assert x.tolist() == [5, 5, 1, 1]
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()
