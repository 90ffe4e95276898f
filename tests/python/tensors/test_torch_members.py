"""Members of torch's tensors on containers: each is that of the values, and the structure stays."""

import numpy as np
import pytest
import varlen as vl

torch = pytest.importorskip("torch")

LENGTHS = [2, 0, 3]
KINDS = ["Ragged", "Padded", "Packed", "Data"]


def container(kind, values):
    r = vl.Ragged(values, LENGTHS)
    if kind == "Data":
        return vl.Data(values, [vl.dims.batch_dim, vl.Dim("time", lengths=LENGTHS)])
    return {"Ragged": r, "Padded": r.to_padded(), "Packed": r.pack()}[kind]


def both(kind):
    return container(kind, torch.arange(5.0)), container(kind, np.arange(5.0))


def rows(x):
    return x.data if isinstance(x, vl.Padded) else x.values


CASTS = {
    "float": "float32", "double": "float64", "half": "float16", "bool": "bool", "int": "int32",
    "long": "int64", "short": "int16", "byte": "uint8",
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_casts_are_those_of_tensors_and_keep_the_structure(kind):
    for x in both(kind):
        for name, dtype in CASTS.items():
            result = getattr(x, name)()
            assert type(result) is type(x)
            assert str(result.dtype).removeprefix("torch.") == dtype
            assert result.tolist() == [[0, 1], [], [2, 3, 4]] or dtype == "bool"
            assert getattr(result, name)() is result
    assert container(kind, torch.arange(5.0)).bfloat16().dtype is torch.bfloat16


@pytest.mark.parametrize("kind", KINDS)
def test_copies_and_conversions_have_the_plain_meaning_for_arrays_and_tensors(kind):
    for x in both(kind):
        assert x.clone().tolist() == x.tolist() == [[0, 1], [], [2, 3, 4]]
        assert rows(x.clone()) is not rows(x)
        assert x.contiguous() is x
        assert x.torch().numpy().tolist() == x.tolist()
        assert isinstance(rows(x.numpy()), np.ndarray)
        assert isinstance(rows(x.torch()), torch.Tensor)
        assert (x.is_floating_point(), x.is_complex(), x.long().is_floating_point()) == (True, False, False)
        assert x.numel() == np.prod(rows(x).shape)
        assert x.element_size() == rows(x).dtype.itemsize
        assert (x.is_cuda, x.is_meta, x.requires_grad, x.is_leaf) == (False, False, False, True)
        assert x.grad is None
        assert x.grad_fn is None
    assert np.shares_memory(rows(both(kind)[0].numpy()), rows(both(kind)[0].numpy())) is False
    x = container(kind, np.arange(5.0))
    assert np.shares_memory(rows(x), rows(x.torch()).numpy())


@pytest.mark.parametrize("kind", KINDS)
def test_members_of_autograd_are_those_of_the_values(kind):
    x = container(kind, torch.arange(5.0))
    assert x.requires_grad_() is x
    assert x.requires_grad
    assert x.is_leaf
    assert not x.detach().requires_grad
    y = x.clone()
    assert not y.is_leaf
    assert y.grad_fn is not None
    y.retain_grad()
    twos = x.detach().clone().double()
    rows(twos).fill_(2)
    y.double().backward(twos)
    for part in (x.grad, y.grad):
        assert type(part) is type(x)
        assert part.tolist() == [[2, 2], [], [2, 2, 2]]
    assert not x.requires_grad_(False).requires_grad


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("member", ["detach", "requires_grad_", "retain_grad", "backward"])
def test_arrays_refuse_members_of_autograd_and_name_the_way(kind, member):
    with pytest.raises(TypeError, match=rf"^{member}: NumPy arrays have no gradients; use x\.torch\(\)$"):
        getattr(both(kind)[1], member)()


def test_backward_of_several_numbers_says_what_to_do():
    x = container("Ragged", torch.arange(5.0)).requires_grad_()
    with pytest.raises(
        ValueError, match=r"^backward: Ragged\(.*\) holds several numbers; reduce it first, .*"
    ):
        x.backward()
    with pytest.raises(ValueError, match=r"^gradient: has shape \(4,\), the values \(5,\)"):
        x.backward(torch.ones(4))
    with pytest.raises(ValueError, match=r"^gradient: its sequences have other lengths"):
        x.backward(vl.Ragged(torch.ones(5), [5, 0, 0]))
    one = vl.Ragged(torch.ones(1, requires_grad=True), [0, 1])
    (one * 3).backward()
    assert one.grad.tolist() == [[], [3]]


def test_to_takes_what_to_of_tensors_takes():
    r, a = both("Ragged")
    assert r.to("cpu") is r.to(torch.float32) is r.to("cpu", torch.float32) is r.to(r) is r
    assert r.to("cpu", True) is r.to(device="cpu", non_blocking=True) is r.to(dtype=torch.float32) is r
    for result in (r.to(torch.float64), r.to("cpu", torch.float64), r.to(dtype=np.float64), r.to(r.double())):
        assert result.dtype is torch.float64
        assert result.levels is r.levels
    assert r.to(torch.zeros(1, dtype=torch.int8)).dtype is torch.int8
    assert r.type_as(torch.zeros(1, dtype=torch.int8)).dtype is torch.int8
    assert r.to("cpu", copy=True) is not r
    assert r.to(torch.float64, copy=True).dtype is torch.float64
    assert a.to(np.float32).dtype == a.to(torch.float32).dtype == np.float32
    assert r.to("meta").is_meta
    with pytest.raises(TypeError, match=r"^dtype: given twice, as torch\.float64 and torch\.int8$"):
        r.to(torch.float64, torch.int8)
    with pytest.raises(TypeError, match=r"^device: "):
        r.to("float")
    with pytest.raises(TypeError, match="cuda"):
        a.to("cuda")


def test_containers_of_several_arrays_convert_their_floats():
    batch = vl.data.Batch({"x": torch.ones(2), "id": torch.tensor([1, 2]), "max_seqlen": 2})
    there = batch.to("cpu", torch.float64)
    assert type(there) is vl.data.Batch
    assert (there["x"].dtype, there["id"].dtype, there["max_seqlen"]) == (torch.float64, torch.int64, 2)
    assert batch.to(torch.float32) is batch
    arrays = vl.JointNestedRaggedTensorDict({"x": [[1.5], [2.5]]}).to("meta")
    with pytest.raises(TypeError, match=r"^dtype: JointArrays keep the dtypes of their joint dict"):
        arrays.to(dtype=torch.float64)


@pytest.mark.parametrize("kind", KINDS)
def test_copy_writes_the_values_of_a_container_that_nests_alike(kind):
    for x in both(kind):
        own = rows(x)
        assert x.copy_(x.clone().double()) is x
        assert x.copy_(rows(x.clone())) is x
        assert rows(x) is own
        with pytest.raises(ValueError, match=r"^source: has shape"):
            x.copy_(rows(x)[:-1])
    other = {
        "Ragged": vl.Ragged(np.zeros(5), [0, 2, 3]), "Padded": vl.Ragged(np.zeros(5), [0, 2, 3]).to_padded(),
        "Packed": vl.Ragged(np.zeros(5), [0, 2, 3]).pack(), "Data": both("Data")[1],
    }[kind]  # fmt: skip
    with pytest.raises(ValueError, match=r"^source: its sequences have other lengths or another order$"):
        both(kind)[1].copy_(other)


def test_a_ragged_is_a_buffer_of_a_module():
    module = torch.nn.Module()
    module.register_buffer("table", container("Ragged", torch.arange(5.0)))
    assert module.double().table.dtype is torch.float64
    state = module.state_dict()
    assert state["table"].tolist() == [[0, 1], [], [2, 3, 4]]
    again = torch.nn.Module()
    again.register_buffer("table", container("Ragged", torch.zeros(5)))
    again.load_state_dict(state)
    assert again.table.tolist() == [[0, 1], [], [2, 3, 4]]
    other = torch.nn.Module()
    other.register_buffer("table", vl.Ragged(torch.zeros(5), [5, 0, 0]))
    with pytest.raises(RuntimeError, match="its sequences have other lengths or another order"):
        other.load_state_dict(state)
    assert again.to("meta").table.is_meta


def test_members_are_traced_to_one_graph():
    def run(r):
        return (r.double().detach().requires_grad, r.float().to(torch.float64).clone() * 2, r.numel())

    r = container("Ragged", torch.arange(5.0).requires_grad_())
    is_watched, result, count = torch.compile(run, fullgraph=True, backend="eager")(r)
    assert (is_watched, count, result.dtype) == (False, 5, torch.float64)
    assert result.tolist() == [[0, 2], [], [4, 6, 8]]
