"""Python that runs between a verb on tensors and the core: few functions, so that a small call is quick."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import varlen as vl
from varlen import tracing

torch = pytest.importorskip("torch")

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
    "reduce_sum": lambda r: vl.ops.reduce_sum(r),
    "reduce_max": lambda r: vl.ops.reduce_max(r),
}


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


@pytest.mark.parametrize("name", VERBS)
@pytest.mark.parametrize(("follows", "most"), [(False, 8), (True, 12)])
def test_a_verb_on_tensors_runs_few_functions_of_python(name, follows, most, monkeypatch):
    from varlen.backends.torch import tracing as of_torch

    # As it is until the process meets a graph of make_fx or torch.export.
    monkeypatch.setattr(tracing, "is_tracing", of_torch._is_dynamo)
    r = vl.Ragged(torch.arange(1.0, 7.0).requires_grad_(follows), [2, 3, 1])
    called = functions_run(VERBS[name], r)
    assert called, "nothing of varlen was seen"
    assert len(called) <= most, " > ".join(called)
