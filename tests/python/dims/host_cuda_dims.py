"""Data on a device, which is memory of the host here: the way there and back, and operations there.

pytest -p host_cuda tests/python/dims/host_cuda_dims.py
"""

import sys

import numpy as np
import pytest
import torch
import varlen as vl
from varlen import _cuda_host, dims
from varlen.dims import DataDict, batch_dim

if "host_cuda" not in sys.modules:
    raise RuntimeError("run this with pytest -p host_cuda")

BATCH = batch_dim.bind(3)
TIME, SOURCE = vl.Dim("time", lengths=[3, 0, 2]), vl.Dim("source", lengths=[2, 2, 1])
FEATURE, OUT = vl.Dim("feature", 4), vl.Dim("out", 2)
RNG = np.random.default_rng(0)


def data(each, **facts):
    each = [BATCH if dim == batch_dim else dim for dim in each]
    shape = vl._core.Shape(each).array_shape
    return vl.Data(torch.from_numpy(RNG.standard_normal(shape)), each, **facts)


X = data([batch_dim, TIME, FEATURE], name="x")
Y = data([batch_dim, SOURCE, FEATURE])
W = data([FEATURE, OUT])
BIAS = data([FEATURE])
ENERGIES = data([batch_dim, TIME, SOURCE])

# By its name, an operation on Data that `there` takes to where it is tried.
OPERATIONS = {
    "add": lambda there: there(X) + there(X),
    "add a dim less": lambda there: there(X) * there(BIAS) + there(ENERGIES).sum(SOURCE),
    "compare": lambda there: there(X) > 0,
    "where": lambda there: dims.where(there(X) > 0, there(X), 0.0),
    "sum over time": lambda there: there(X).sum(TIME),
    "sum over batch": lambda there: there(X).sum(batch_dim),
    "sum over all": lambda there: there(X).sum("*"),
    "mean": lambda there: there(ENERGIES).mean([TIME, SOURCE], empty=0),
    "max": lambda there: there(X).max(TIME),
    "argmax": lambda there: there(ENERGIES).argmax(SOURCE),
    "logsumexp": lambda there: there(ENERGIES).logsumexp(TIME),
    "softmax": lambda there: dims.softmax(there(ENERGIES), SOURCE),
    "softmax of the outer dim": lambda there: dims.softmax(there(ENERGIES), TIME),
    "log_softmax": lambda there: dims.log_softmax(there(X), FEATURE),
    "linear": lambda there: dims.dot(there(X), there(W), FEATURE),
    "energies": lambda there: dims.dot(there(X), there(Y), FEATURE),
    "attention": lambda there: dims.dot(dims.softmax(there(ENERGIES), SOURCE), there(Y), SOURCE),
    "dot over time": lambda there: dims.dot(there(X), there(ENERGIES), TIME),
    "expand": lambda there: dims.expand_dim(there(X), OUT),
    "transpose": lambda there: there(X).transpose(["F", "B", "T"]),
    "apply": lambda there: there(X).apply(torch.relu),
    "cast": lambda there: there(X).cast("float32"),
}


def close(there, here):
    assert there.device == "cuda:0"
    assert there.dims == here.dims
    assert there.values.dtype == here.values.dtype
    torch.testing.assert_close(there.values.detach().cpu(), here.values.detach())


# The device of this file lacks a view of torch that devices have, and says so.
@pytest.mark.filterwarnings("ignore:.*no implementation for the backend")
@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_on_a_device_is_that_of_the_host(name):
    operation = OPERATIONS[name]
    close(operation(lambda x: x.cuda()), operation(lambda x: x))


@pytest.mark.parametrize(
    "name", ["add a dim less", "sum over time", "softmax", "linear", "energies", "attention"]
)
def test_gradient_on_a_device_is_that_of_the_host(name):
    def gradients(place):
        leaves = {}

        def there(x):
            values = leaves.setdefault(id(x), x.values.detach().to(place).requires_grad_())
            return x._like(values)

        OPERATIONS[name](there).apply(torch.square).sum("*").values.backward()
        return [leaf.grad.cpu() for leaf in leaves.values()]

    for on_device, on_host in zip(gradients("cuda"), gradients("cpu"), strict=True):
        torch.testing.assert_close(on_device, on_host)


def test_data_goes_to_a_device_and_back():
    there = X.to("cuda")
    assert there.device == there.cuda().device == X.cuda(0).device == "cuda:0"
    assert there.to("cuda:0") is there
    assert there.name == "x"
    assert "device=cuda:0" in repr(there)
    assert there.cpu().to_list() == X.to_list() == there.to_list()
    assert there.cpu().device == "cpu"
    assert X.cpu() is X
    assert there.axis(TIME).level is X.axis(TIME).level  # lengths stay on the host
    assert there.numpy().device == "cpu"


def test_rectangle_of_a_device_lies_there():
    there = X.cuda()
    assert there.to_padded().device.type == "cuda"
    assert torch.equal(there.to_padded(fill=9).cpu(), X.to_padded(fill=9))
    assert there.mask(TIME).device == "cuda:0"
    assert there.padded().values.device.type == "cuda"


def test_data_of_two_devices_do_not_mix():
    with pytest.raises((ValueError, RuntimeError, TypeError), match=r"cuda|device"):
        X.cuda() + X


def test_pinned_data_is_where_a_device_reads():
    pinned = X.pin_memory()
    assert pinned.values.is_pinned()
    assert pinned.pin_memory() is pinned
    assert pinned.to("cuda", non_blocking=True).to_list() == X.to_list()


def test_batch_goes_to_a_device_and_back():
    batch = DataDict({"x": X, "energies": ENERGIES})
    there = batch.pin_memory().to("cuda", non_blocking=True)
    assert there.device == "cuda:0"
    assert "device=cuda:0" in repr(there)
    for key, value in there.items():
        close(value, batch[key])
        assert there.cpu()[key].to_list() == batch[key].to_list()
    assert there.to("cuda") is there


def test_batch_on_its_way_is_kept_for_the_stream_that_uses_it():
    batch = DataDict({"x": X, "energies": ENERGIES}).pin_memory()
    _cuda_host.asked()
    list(vl.data.DeviceLoader([batch]))
    assert _cuda_host.asked().count("kept for 0") == 2


def test_file_of_data_on_a_device_is_that_of_the_host(tmp_path):
    batch = DataDict({"x": X, "energies": ENERGIES})
    batch.cuda().save(tmp_path / "there")
    assert DataDict.load(tmp_path / "there")["x"].to_list() == X.to_list()


def test_dataset_gives_data_on_a_device():
    rows = {"x": [[1.5, 2.5], [], [3.5]], "id": [7, 8, 9]}
    ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict(rows))
    batch = ds.batch([2, 0], layout="named", device="cuda")
    assert batch.device == "cuda:0"
    assert batch["x"].to_list() == [[3.5], [1.5, 2.5]]
    batches = list(ds.epoch(2, layout="named", device="cuda", prefetch=2))
    assert [batch["x"].device for batch in batches] == ["cuda:0", "cuda:0"]
    assert batches[0]["x"].to_list() == [[1.5, 2.5], []]
    loader = vl.data.DeviceLoader([ds.batch([i], layout="named", framework="torch") for i in range(3)])
    assert [batch["id"].to_list() for batch in loader] == [[7], [8], [9]]
