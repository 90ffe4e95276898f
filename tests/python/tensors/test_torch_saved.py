"""Containers that torch saves and loads, also where it is to call no unknown function (weights_only)."""

import io
import pickle
import subprocess
import sys

import numpy as np
import pytest
import varlen as vl
from deep import mostly_deep

torch = pytest.importorskip("torch")

from varlen import _restored  # noqa: E402

TIME = vl.Dim("time", lengths=[2, 1])
FEATURE = vl.Dim("feature", 2)


def ragged(tensors, kind=vl.Ragged):
    values = np.arange(6.0).reshape(3, 2)
    return kind(torch.from_numpy(values) if tensors else values, [2, 1])


def data(tensors):
    x = vl.Data(ragged(tensors).values, [vl.dims.batch_dim, TIME, FEATURE])
    return x.transpose([FEATURE, vl.dims.batch_dim, TIME]) if hasattr(x, "transpose") else x


MADE = {
    "Ragged": ragged,
    "deep Ragged": lambda tensors: ragged(tensors).add_level([1, 1]),
    "Padded": lambda tensors: ragged(tensors).to_padded(),
    "Packed": lambda tensors: ragged(tensors).pack(),
    "Pairs": lambda tensors: vl.Pairs(ragged(tensors), ragged(tensors) * 2),
    "RankTable": lambda tensors: ragged(tensors).pack().table,
    "Level": lambda tensors: vl.Level([2, 0, 1]),
    "no sequences": lambda tensors: ragged(tensors)[:0],
    "RaggedTensor": lambda tensors: vl.tf.RaggedTensor.from_row_lengths(ragged(tensors).values, [2, 1]),
    "LoDTensor": lambda tensors: vl.lod.LoDTensor(ragged(tensors).values, [2, 1]),
    "Dim": lambda tensors: 2 * TIME + 1,
    "Data": data,
}


def through_torch(x, **options):
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return torch.load(file, **options)


def same(x, y):
    assert type(x) is type(y)
    if isinstance(x, vl.Data):
        assert x.dims == y.dims
        assert x.to_list() == y.to_list()
        assert type(x.values) is type(y.values)
    elif isinstance(x, (vl.Level, vl.Dim, vl.RankTable, vl.Pairs)):
        assert x == y if not isinstance(x, vl.Pairs) else x.one.equals(y.one) and x.two.equals(y.two)
    else:
        assert x.equals(y)
        assert x.dtype == y.dtype


@pytest.mark.parametrize("tensors", [False, True])
@pytest.mark.parametrize("name", MADE)
def test_what_torch_saves_it_loads_with_weights_only(name, tensors):
    x = MADE[name](tensors)
    for options in ({"weights_only": True}, {"weights_only": False}, {}):
        same(through_torch(x, **options), x)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        same(pickle.loads(pickle.dumps(x, protocol)), x)
    inside = through_torch({"model": [x, torch.ones(2)], "epoch": 3}, weights_only=True)
    same(inside["model"][0], x)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "uint16", "complex64", "bool"])
def test_tensors_keep_dtype_and_gradient_and_no_rows_of_others(name):
    dtype = getattr(torch, name)
    values = torch.ones(1000, 2).to(dtype)
    r = vl.Ragged(values[:3], [2, 1])
    file = io.BytesIO()
    torch.save(r, file)
    assert file.tell() < 4000
    assert through_torch(r, weights_only=True).values.dtype == dtype
    wanted = vl.Ragged(torch.ones(3, requires_grad=True), [2, 1])
    assert through_torch(wanted, weights_only=True).values.requires_grad
    assert not through_torch(wanted * 2, weights_only=True).values.grad_fn


def printed(code):
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize(
    "first", mostly_deep(["import varlen, torch", "import torch, varlen"], "import varlen, torch")
)
def test_torch_is_told_whichever_is_imported_first(first, tmp_path):
    torch.save(ragged(True), tmp_path / "a")
    code = f"{first}; r = torch.load({str(tmp_path / 'a')!r}, weights_only=True); print(r.lengths.tolist())"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "[2, 1]\n", done.stderr[-2000:]


def test_importing_varlen_imports_no_torch():
    code = "import sys, varlen; varlen.Ragged([1], [1]); print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "False\n", done.stderr[-2000:]


class Named(vl.Ragged):
    pass


def test_classes_of_users_are_told_by_them():
    x = ragged(True, Named)
    with pytest.raises(pickle.UnpicklingError, match="Named"):
        through_torch(x, weights_only=True)
    with torch.serialization.safe_globals([Named]):
        same(through_torch(x, weights_only=True), x)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: _restored.kind("os:system"), "of no class of varlen: 'os:system'"),
        (lambda: _restored.kind("varlen._restored:Call"), "of no class of varlen"),
        (lambda: _restored.kind("varlen.types.ragged:np"), "of no class of varlen"),
        (lambda: _restored.level(b"\x01" * 16), "offsets"),
        (lambda: _restored.container(vl.Ragged, torch.ones(4), (vl.Level([2, 1]),)), "add up to 3|4"),
        (
            lambda: _restored.container(vl.Data, np.ones(4), data(False).dims, None, (None,) * 5 + (True,)),
            "shape",
        ),
        (lambda: _restored.container(vl.Data, np.ones((3, 2)), data(False).dims, (0, 0, 1), ()), "order"),
    ],
)
def test_what_was_not_saved_so_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()
