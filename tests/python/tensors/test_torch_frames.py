"""Python that runs between a verb on tensors and the core: few functions, so that a small call is quick."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import varlen as vl
from varlen import tracing

torch = pytest.importorskip("torch")

from torch.nn import functional as F  # noqa: E402

PACKAGE = str(Path(vl.__file__).parent)
VERBS = {
    "sum": lambda r: r.sum(),
    "mean": lambda r: r.mean(),
    "max": lambda r: r.max(),
    "softmax": lambda r: r.softmax(),
    "log_softmax": lambda r: r.log_softmax(),
    "sort": lambda r: r.sort(),
    "cumsum": lambda r: r.cumsum(),
    "cumprod": lambda r: r.cumprod(),
    "std": lambda r: r.std(),
    "prod": lambda r: r.prod(),
    "argmax": lambda r: r.argmax(),
    "first": lambda r: r.first(),
    "reverse": lambda r: r.reverse(),
    "add a number": lambda r: r + 1,
    "subtract from a number": lambda r: 1 - r,
    "negate": lambda r: -r,
    "compare": lambda r: r > 2,
    "multiply two": lambda r: r * r,
    "gather": lambda r: r[[2, 0]],
    "gather by a method": lambda r: r.gather([2, 0]),
    "cut": lambda r: r[:, :2],
    "choose": lambda r: r[r.lengths > 1],
    "to_dense": lambda r: r.to_dense(),
    "reduce_sum": lambda r: vl.ops.reduce_sum(r),
    "reduce_max": lambda r: vl.ops.reduce_max(r),
}
# What makes rows and levels of arrays and lengths first, or looks at several containers, runs more.
LENGTHS = np.array([2, 3, 1])
LONGER = {
    "reduce of rows and lengths": (lambda r, v: vl.ops.reduce_max(v, LENGTHS), 13, 17),
    "softmax of rows and lengths": (lambda r, v: vl.ops.softmax(v, LENGTHS), 13, 17),
    "reverse of rows and lengths": (lambda r, v: vl.ops.reverse(v, LENGTHS), 12, 16),
    "a container of rows and lengths": (lambda r, v: vl.Ragged(v, LENGTHS), 8, 8),
    "add two": (lambda r, v: r + EQUAL, 11, 11),
    "concatenate": (lambda r, v: vl.concatenate([r, r]), 16, 16),
    "where": (lambda r, v: vl.where(MASK, r, 0), 15, 15),
    "shift": (lambda r, v: r.shift(1), 11, 15),
    "seq2col": (lambda r, v: vl.ops.seq2col(r, 1), 13, 17),
    "sequence_expand": (lambda r, v: vl.sequence_expand(v[:3], r, ref_level=0), 17, 21),
    "from_dense": (lambda r, v: vl.Ragged.from_dense(v.reshape(3, 2), np.array([2, 0, 1])), 14, 23),
    "to_dense with a mask": (lambda r, v: r.to_dense(mask=True), 4, 18),
}
EQUAL, MASK = vl.Ragged(torch.ones(6), LENGTHS), vl.Ragged(torch.arange(6) > 2, LENGTHS)


def functions_run(verb, r):
    """The functions of varlen that a verb calls, in their order, once what is looked up is known."""
    verb(r)
    called = []
    sys.setprofile(
        lambda frame, event, _: called.append(frame.f_code) if event == "call" else None,
    )
    try:
        verb(r)
    finally:
        sys.setprofile(None)
    return [
        f"{Path(code.co_filename).name}:{code.co_name}"
        for code in called
        if code.co_filename.startswith(PACKAGE)
    ]


@pytest.fixture(autouse=True)
def no_graph(monkeypatch):
    """As it is until the process meets a graph of make_fx or torch.export."""
    from varlen.backends.torch import tracing as of_torch

    monkeypatch.setattr(tracing, "is_tracing", of_torch._is_dynamo)


def rows(follows):
    return torch.arange(1.0, 7.0).requires_grad_(follows)


@pytest.mark.parametrize("name", VERBS)
@pytest.mark.parametrize(("follows", "most"), [(False, 8), (True, 12)])
def test_a_verb_on_tensors_runs_few_functions_of_python(name, follows, most):
    called = functions_run(VERBS[name], vl.Ragged(rows(follows), LENGTHS))
    assert called or name == "gather", "nothing of varlen was seen"
    assert len(called) <= most, " > ".join(called)


@pytest.mark.parametrize("name", LONGER)
@pytest.mark.parametrize("follows", [False, True])
def test_a_verb_that_reads_lengths_or_several_containers_runs_no_more_than_it_needs(name, follows):
    verb, plain, followed = LONGER[name]
    values = rows(follows)
    called = functions_run(lambda r: verb(r, values), vl.Ragged(values, LENGTHS))
    assert called, "nothing of varlen was seen"
    assert len(called) <= (followed if follows else plain), " > ".join(called)


CLASSES = torch.zeros(6, dtype=torch.int64)
LAYERS = {
    "linear": lambda r: F.linear(r, torch.ones(1, 1)),
    "relu": torch.relu,
    "layer_norm": lambda r: F.layer_norm(r, (1,)),
    "mse_loss": lambda r: F.mse_loss(r, r),
    "cross_entropy": lambda r: F.cross_entropy(r, r._make(CLASSES, r._levels)),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("follows", [False, True])
def test_a_layer_of_torch_runs_few_functions_of_python(name, follows):
    called = functions_run(LAYERS[name], vl.Ragged(rows(follows).reshape(6, 1), LENGTHS))
    assert called, "nothing of varlen was seen"
    assert len(called) <= 1, " > ".join(called)
