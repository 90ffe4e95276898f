"""Eager calls under autograd: what is saved, what is let go of, transforms that ended, second gradients."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import varlen as vl
from deep import mostly_deep

torch = pytest.importorskip("torch")

VERBS = ["sum", "mean", "max", "min", "prod", "softmax", "cumsum", "cummax", "reverse", "to_dense"]
LENGTHS = [2, 1, 3]


def leaf():
    return torch.tensor(
        [[3.0, 1.0], [4.0, 1.5], [5.0, 9.0], [2.0, 6.0], [5.5, 3.5], [8.0, 7.0]], requires_grad=True
    )


def values_of(result):
    return result.values if isinstance(result, vl.Ragged) else result


def called(verb, x):
    ragged = vl.Ragged(x, LENGTHS)
    return values_of(vl.ops.cummax(ragged) if verb == "cummax" else getattr(ragged, verb)())


@pytest.mark.parametrize("verb", VERBS)
def test_result_is_that_of_arrays_whether_or_not_gradients_are_wanted(verb):
    x = leaf()
    expected = called(verb, x.detach().numpy())
    for result in (called(verb, x), called(verb, x.detach()), called(verb, torch.nn.Parameter(x.detach()))):
        np.testing.assert_array_equal(result.detach().numpy(), expected)
    assert called(verb, x).grad_fn is not None
    with torch.no_grad():
        assert not called(verb, x).requires_grad
    with torch.inference_mode():
        np.testing.assert_array_equal(called(verb, x).numpy(), expected)


@pytest.mark.parametrize("verb", VERBS)
def test_gradients_of_both_orders_agree_with_differences(verb):
    x = leaf().detach().double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: called(verb, x), x)
    assert torch.autograd.gradgradcheck(lambda x: called(verb, x), x)


def garbage():
    """Objects of varlen and of torch that only the collector of cycles frees."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return [x for x in gc.garbage if type(x).__module__.partition(".")[0] in ("varlen", "torch")]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


@pytest.mark.parametrize("verb", mostly_deep(VERBS, "sum", "softmax", "to_dense"))
def test_graph_is_let_go_of_with_its_result(verb):
    x = leaf()
    called(verb, x).sum().backward()  # what is imported at the first call is no part of a graph
    while gc.collect():  # what earlier tests left behind; finalizers may leave more
        pass
    gc.freeze()  # what is there does not have to be looked through again
    gc.disable()
    try:
        middle = x * 1
        alive = weakref.ref(middle)
        result = called(verb, middle)
        del middle
        result.sum().backward()
        del result
        assert alive() is None
        result = called(verb, x)
        node = weakref.ref(result.grad_fn)
        del result
        assert node() is None
        assert garbage() == []
    finally:
        gc.enable()
        gc.unfreeze()


def test_cycle_of_tensors_is_garbage():
    gc.collect()
    tensor = torch.zeros(1)
    tensor.itself = tensor
    del tensor
    assert garbage() != []


@pytest.mark.parametrize(
    ("verb", "count"), [("max", 1), ("cummax", 1), ("softmax", 1), ("sum", 0), ("reverse", 0)]
)
def test_hooks_see_the_tensors_that_a_gradient_needs(verb, count):
    packed, unpacked = [], []

    def pack(tensor):
        packed.append(tensor.clone())
        return len(packed) - 1

    def unpack(k):
        unpacked.append(k)
        return packed[k]

    x = leaf()
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        result = called(verb, x)
    result.sum().backward()
    assert len(packed) == len(unpacked) == count
    if verb in ("max", "cummax"):
        assert packed[0].dtype == torch.int64


def test_result_that_was_changed_is_no_longer_good_for_its_gradient():
    x = leaf()
    y = called("softmax", x)
    with torch.no_grad():
        y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_graph_that_was_used_is_used_up():
    y = called("max", leaf())
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()
    y = called("max", leaf())
    y.sum().backward(retain_graph=True)
    y.sum().backward()


@pytest.mark.parametrize("verb", VERBS)
def test_tensor_that_outlived_its_transform_is_the_tensor_that_it_wrapped(verb):
    kept = []
    x = leaf()

    def keep(x):
        kept.append(x)
        return x.sum()

    torch.func.grad(keep)(x.detach())
    expected = called(verb, x).detach()
    assert torch.equal(called(verb, kept[0].detach()), expected)
    torch.func.vmap(lambda _: kept.append(x * 1) or x.sum())(torch.zeros(2))
    result = called(verb, kept[1])
    assert torch.equal(result.detach(), expected)
    result.sum().backward()
    assert x.grad is not None


@pytest.mark.parametrize("verb", ["max", "min"])
def test_extremes_have_one_value_with_places_and_without(verb):
    x = leaf()
    both = getattr(vl.ops, f"reduce_{verb}")(vl.Ragged(x, LENGTHS), which=True)
    alone = called(verb, x)
    assert torch.equal(both[0], alone)
    first, second = (torch.autograd.grad(y.sum(), x)[0] for y in (both[0], alone))
    assert torch.equal(first, second)
    assert not both[1].requires_grad


def test_empty_of_zero_is_zero_in_every_dtype_and_other_numbers_have_to_fit():
    level = vl.Level([0, 1])
    for name in ("bool", "int8", "uint64", "float16", "float64"):
        for reduce in (vl.ops.reduce_sum, vl.ops.reduce_max, vl.ops.reduce_any):
            assert reduce(np.ones(1, name), level, empty=0).tolist() == [0, 1]
    with pytest.raises(ValueError, match="empty: 300 does not fit int8"):
        vl.ops.reduce_max(np.ones(1, np.int8), level, empty=300)
    with pytest.raises((ValueError, OverflowError)):
        vl.ops.reduce_max(np.ones(1, np.int8), level, empty=2**70)
