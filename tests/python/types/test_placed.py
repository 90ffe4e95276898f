"""Containers and their devices: where values lie, and the way elsewhere."""

import numpy as np
import pytest
import varlen as vl


def containers(values):
    r = vl.Ragged(values, [3, 0, 2])
    return [r, r.to_padded(), r.pack()]


@pytest.mark.parametrize("kind", range(3))
def test_arrays_lie_on_the_cpu_and_nowhere_else(kind):
    x = containers(np.arange(5))[kind]
    assert x.device == "cpu"
    assert x.to("cpu") is x
    assert x.cpu() is x
    for move in (lambda: x.to("cuda"), lambda: x.cuda(), lambda: x.to(0), lambda: x.cuda("cuda:1", True)):
        with pytest.raises(TypeError, match=r"device: a NumPy array lies on the CPU, not on (cuda|0)"):
            move()
    with pytest.raises(TypeError, match="pin_memory: a NumPy array cannot be pinned; convert it"):
        x.pin_memory()


@pytest.mark.parametrize("kind", range(3))
def test_tensors_go_where_torch_takes_them(kind):
    torch = pytest.importorskip("torch")
    x = containers(torch.arange(5.0, requires_grad=True))[kind]
    assert x.to("cpu") is x
    assert x.to(torch.device("cpu"), non_blocking=True) is x.to(None) is x
    there = x.to("meta")
    assert type(there) is type(x)
    assert there.device == "meta"
    assert len(there) == len(x)
    for nowhere in ("nowhere", 1.5, 2**70, [1], True):
        with pytest.raises(TypeError, match=r'^device: expected one of torch, as "cuda:1" or "cpu"; got '):
            x.to(nowhere)
    if not torch.backends.cuda.is_built():
        with pytest.raises(ValueError, match=r"^device: torch has no cuda:1 here"):
            x.cuda(1)


def test_what_is_moved_keeps_its_levels_and_attributes():
    torch = pytest.importorskip("torch")

    class Named(vl.Ragged):
        pass

    r = Named(torch.arange(5.0), [3, 0, 2])
    r.name = "tokens"
    there = r.to("meta")
    assert type(there) is Named
    assert there.name == "tokens"
    assert all(a is b for a, b in zip(there.levels, r.levels, strict=True))


def test_of_batches_with_arrays_of_both_kinds_the_tensors_move():
    torch = pytest.importorskip("torch")
    batch = vl.data.collate([{"id": 5, "name": "a", "x": torch.arange(2)}])
    there = batch.to("meta")
    assert type(there) is vl.data.Batch
    assert list(there) == list(batch)
    assert there.device == there["x"].device.type == there["x/mask"].device.type == "meta"
    assert there["id"] is batch["id"]
    assert batch.to("cpu") is batch
    with pytest.raises(TypeError, match="device: a NumPy array lies on the CPU"):
        vl.data.collate([{"id": 5}]).to("meta")
