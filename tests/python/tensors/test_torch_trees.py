"""Containers as trees: other libraries reach what they hold, and keep their structure."""

import importlib.util
import io
import subprocess
import sys

import numpy as np
import pytest
import varlen as vl
from deep import mostly_deep

torch = pytest.importorskip("torch")

from torch.utils import _pytree as pytree  # noqa: E402

LENGTHS = [2, 0, 3]
TIME = vl.Dim("time", lengths=LENGTHS)


class Named(vl.Ragged):
    pass


def containers(values):
    r = vl.Ragged(values, LENGTHS)
    data = vl.Data(values, [vl.dims.batch_dim, TIME])
    return {
        "Ragged": r, "deep": r.add_level([1, 2]), "Padded": r.to_padded(), "Packed": r.pack(), "Data": data,
        "DataDict": vl.dims.DataDict({"x": data}), "Batch": vl.data.Batch({"x": values, "id": values}),
        "LoDTensor": vl.lod.LoDTensor(values, LENGTHS), "a user's": Named(values, LENGTHS),
        "RaggedTensor": vl.tf.RaggedTensor.from_row_lengths(values, LENGTHS), "Pairs": vl.Pairs(r, r),
        "thinc's": vl.thinc.Ragged(values, LENGTHS),
    }  # fmt: skip


NAMES = list(containers(np.zeros(5)))


def numbers(x):
    return [leaf.flatten().tolist() for leaf in pytree.tree_leaves(x)]


@pytest.mark.parametrize("name", NAMES)
def test_trees_reach_the_values_and_keep_the_structure(name):
    x = containers(torch.arange(5.0))[name]
    leaves, structure = pytree.tree_flatten([x, 3])
    assert all(isinstance(leaf, torch.Tensor) for leaf in leaves[:-1])
    twice, three = pytree.tree_map_only(torch.Tensor, lambda values: values * 2, [x, 3])
    assert type(twice) is type(x)
    assert three == 3
    assert pytree.tree_structure([twice, 3]) == structure
    assert hash(pytree.tree_structure(twice)) == hash(pytree.tree_structure(x))
    assert numbers(twice) == [[2 * number for number in leaf] for leaf in numbers(x)]
    total = pytree.tree_map(torch.add, x, twice)
    assert numbers(total) == [[3 * number for number in leaf] for leaf in numbers(x)]
    assert pytree.tree_map(lambda values: values.shape, x) is not None  # leaves may be anything for a while
    assert repr(structure)


@pytest.mark.parametrize("name", ["Ragged", "Padded", "Packed", "Data"])
def test_values_with_other_rows_are_refused_by_a_structure(name):
    x = containers(torch.arange(5.0))[name]
    text = rf"^values: shape \(.*\) does not begin with \(\d,.*\), the rows of the {name}; map functions"
    with pytest.raises(ValueError, match=text):
        pytree.tree_map(torch.sum, x)
    with pytest.raises(ValueError, match=text):
        torch.func.vmap(lambda x: x)(x)


def test_structures_of_other_lengths_differ():
    a, b = (vl.Ragged(torch.zeros(5), lengths) for lengths in ([2, 3], [3, 2]))
    for x, y in (
        (a, b),
        (a.pack(), b.pack()),
        (a.to_padded(), b.to_padded()),
        (a, Named(a.values, a.levels)),
    ):
        assert pytree.tree_structure(x) != pytree.tree_structure(y)
    with pytest.raises(ValueError, match="Node context mismatch"):
        pytree.tree_map(torch.add, a, b)


def test_paths_name_the_values():
    x = containers(torch.arange(5.0))
    paths = [pytree.keystr(path) for path, _ in pytree.tree_flatten_with_path([x["Ragged"], x["Batch"]])[0]]
    assert paths == ["[0].values", "[1]['x']", "[1]['id']"]


def test_gradients_by_function_are_containers():
    r = containers(torch.arange(5.0))["Ragged"]
    gradient = torch.func.grad(lambda r: (r * r).sum().sum())(r)
    assert gradient.tolist() == [[0, 2], [], [4, 6, 8]]
    value, pull = torch.func.vjp(lambda r: r.softmax(), r)
    assert value.equals(r.softmax())
    assert type(pull(value)[0]) is vl.Ragged


def test_checkpoints_take_containers():
    x = torch.arange(5.0, requires_grad=True)
    r = torch.utils.checkpoint.checkpoint(lambda r: r * 3, vl.Ragged(x * 2, LENGTHS), use_reentrant=False)
    r.sum().sum().backward()
    assert x.grad.tolist() == [6] * 5


def test_exported_programs_take_a_ragged_of_these_lengths():
    class Pool(torch.nn.Module):
        def forward(self, r):
            return r.softmax().sum()

    r = vl.Ragged(torch.arange(6.0).reshape(3, 2), [2, 1])
    program = torch.export.export(Pool(), (r,), strict=False).module()
    assert torch.equal(program(r), r.softmax().sum())
    with pytest.raises(ValueError, match="input tree spec"):
        program(vl.Ragged(r.values, [1, 2]))


def test_transfers_of_lightning_move_containers():
    apply = pytest.importorskip("lightning_utilities.core.apply_func")
    batch = {"x": [vl.Ragged(torch.zeros(5), LENGTHS)], "n": 3}
    there = apply.apply_to_collection(batch, vl.Ragged, lambda r: r.to("meta", non_blocking=True))
    assert there["x"][0].is_meta


def test_batches_are_saved_and_loaded_with_weights_only():
    x = containers(torch.arange(5.0))
    for name in ("Batch", "DataDict"):
        file = io.BytesIO()
        torch.save([x[name]], file)
        file.seek(0)
        (again,) = torch.load(file, weights_only=True)
        assert type(again) is type(x[name])
        assert list(again) == list(x[name])
        assert again["x"].tolist() == x[name]["x"].tolist()


def test_jax_reaches_the_values():
    """In a process of its own: the threads of JAX would make each fork of later tests warn."""
    if importlib.util.find_spec("jax") is None:
        pytest.skip("jax is not installed")
    code = (
        "import jax, varlen\n"
        f"r = varlen.Ragged(jax.numpy.arange(5.0), {LENGTHS})\n"
        "print(jax.tree_util.tree_map(lambda x: x * 2, r).tolist())\n"
        "print(jax.grad(lambda r: (r.values**2).sum())(r).tolist())\n"
        "print(jax.jit(lambda r: jax.tree_util.tree_map(lambda x: x + 1, r))(r).tolist())\n"
    )
    twice = "[[0.0, 2.0], [], [4.0, 6.0, 8.0]]"
    assert output_of(code).splitlines() == [twice, twice, "[[1.0, 2.0], [], [3.0, 4.0, 5.0]]"]


def output_of(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert not done.returncode, done.stderr[-2000:]
    return done.stdout


ORDERS = ["import varlen, torch, optree", "import torch, varlen", "import optree, varlen, torch"]


@pytest.mark.parametrize("order", mostly_deep(ORDERS, "import torch, varlen"))
def test_libraries_are_told_whichever_is_imported_first(order):
    if "optree" in order and importlib.util.find_spec("optree") is None:
        pytest.skip("optree is not installed")
    code = (
        f"{order}, torch.utils._pytree as p\n"
        "r = varlen.Ragged(torch.ones(3), [2, 1])\n"
        "class Own(varlen.Ragged): pass\n"
        "print(p.tree_leaves([r, Own(r.values, levels=r.levels)]))\n"
    )
    if "optree" in order:
        code += "import torch.utils._cxx_pytree as c\n"
        code += "print(len(c.tree_leaves([r, r])), len(optree.tree_leaves([r, r])))\n"
        code += "print(optree.tree_map(lambda x: x * 2, r).tolist())\n"
    lines = output_of(code).splitlines()
    assert lines[0] == "[tensor([1., 1., 1.]), tensor([1., 1., 1.])]"
    if "optree" in order:
        assert lines[1:] == ["2 2", "[[2.0, 2.0], [2.0]]"]
