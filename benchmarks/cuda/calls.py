"""Small calls: what one costs on the device, and until it has come back in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..python import sample
from .timing import CALLS_IN_GRAPH, DeviceCase, in_graph, row

SMALL = (64, 32, 16)  # sequences, rows of each on average, numbers in a row: 128 KB

VERBS: dict[str, Callable[[Any], Callable[[], Any]]] = {
    "sum": lambda ragged: ragged.sum,
    "softmax": lambda ragged: lambda: ragged.softmax().values,
    "pad": lambda ragged: ragged.to_dense,
    "reverse": lambda ragged: lambda: ragged.reverse().values,
}


def _small(case: DeviceCase, verb: str) -> tuple[Callable[[], Any], Any]:
    """The call on the device; the reference is what the CPU gives."""
    import torch
    import varlen

    count, mean, width = SMALL
    source = sample.rows(count, mean, width)
    values = torch.from_numpy(source.values) / 100
    case.close = 1e-5
    case.reference = VERBS[verb](varlen.Ragged(values, source.lengths))().to(case.device)
    there = values.to(case.device)
    return VERBS[verb](varlen.Ragged(there, source.lengths)), there


for _verb in VERBS:

    @row(f"small.{_verb}.python", f"{_verb} of 64 sequences of 2 KB on average, until the call is back")
    def _(case: DeviceCase, verb: str = _verb) -> None:
        call, values = _small(case, verb)
        case.by_host = True
        case.within("<= 6 us", 6.0)
        target = values.clone()
        case.yardstick("torch copy_", target.copy_, values)
        case.contender("varlen")(lambda: call)

    @row(
        f"small.{_verb}.device", f"{_verb} of 64 sequences of 2 KB on average, in a graph of {CALLS_IN_GRAPH}"
    )
    def _(case: DeviceCase, verb: str = _verb) -> None:
        call, values = _small(case, verb)
        case.unit = ("ns a call", CALLS_IN_GRAPH)
        case.goal("<= 3 us a call", 3.0, lambda t: _a_call(t.of()), "us")
        if case.device == "cuda":
            target = values.clone()
            case.yardstick("copy", in_graph(lambda: target.copy_(values)))
        case.contender("varlen")(lambda: in_graph(call) if case.device == "cuda" else call)


def _a_call(figure: Any) -> Any:
    return type(figure)(*(x / (CALLS_IN_GRAPH * 1000) for x in figure))
