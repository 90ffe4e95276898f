"""The ops that torch knows: each runs on the CPU and on CUDA, has a fake, and its place under autograd."""

import importlib

import pytest

torch = pytest.importorskip("torch")

for module in ("graph", "attend", "conv", "recur"):  # and with them all that registers an op
    importlib.import_module(f"varlen.backends.torch.{module}")
FAKES = importlib.import_module("torch._library.simple_registry").singleton
NAMES = sorted(name for name in torch._C._dispatch_get_all_op_names() if name.startswith("varlen::"))
# Of numbers of levels alone, which have no gradient.
PLACES = {"varlen::column_places", "varlen::gather_places", "varlen::slice_places", "varlen::window_places"}


def has_kernel(name, key):
    return torch._C._dispatch_has_kernel_for_dispatch_key(name, key)


def test_every_op_is_registered_for_all_that_it_may_meet():
    assert len(NAMES) > 40
    assert set(NAMES) > PLACES
    for name in NAMES:
        missing = [key for key in ("CPU", "CUDA", "Meta") if not has_kernel(name, key)]
        if name not in PLACES and not has_kernel(name, "Autograd"):
            missing.append("Autograd")
        if FAKES.find(name).fake_impl.kernel is None:
            missing.append("fake")
        assert not missing, name


def test_every_schema_names_what_it_takes():
    for name in NAMES:
        schema = getattr(torch.ops.varlen, name.removeprefix("varlen::")).default._schema
        assert not schema.is_mutable, name
        assert schema.returns, name
