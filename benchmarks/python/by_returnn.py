"""RETURNN beside the operations over named axes: its padded tensors, under its frontend of torch."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ..harness import Case

PEER = "RETURNN, padded"
SHARE = 0.1


def by_returnn(
    case: Case,
    data: Any,
    dim: Any,
    call: Callable[..., Any],
    show: Callable[[Any], Any],
    others: tuple[tuple[Any, Any], ...] = (),
) -> None:
    """A contender: call(frontend, tensor, dim), and more pairs of a tensor and its dim behind them."""

    def valid(result: Any) -> Any:
        from varlen.returnn import from_returnn

        return show(from_returnn(result))

    @case.contender(PEER, needs=("torch", "returnn", "tree"), show=valid)
    def _() -> Any:
        os.environ.setdefault("RETURNN_FRONTEND_NATIVE_OPT", "0")  # compiles nothing
        import returnn.frontend as rf
        import torch
        from varlen.returnn import to_returnn

        rf.select_backend_torch()
        torch.set_num_threads(1)
        known: dict[Any, Any] = {}
        given = []
        for each, over in ((data, dim), *others):
            tensor = to_returnn(each.torch(), known)
            given += [tensor, known[over]]
        _know_the_batch(given[0])
        return call, rf, *given

    text = f"<= {SHARE} of RETURNN"
    case.rivals.append(PEER)
    case.goal(text, SHARE, lambda times: times.ratio("varlen", PEER), f"x {PEER}")


def _know_the_batch(tensor: Any) -> None:
    """Some operations ask the batch for its size."""
    import torch
    from returnn.tensor import Tensor

    rows = torch.tensor(tensor.raw_tensor.shape[0], dtype=torch.int32)
    tensor.dims[0].dyn_size_ext = Tensor("rows", dims=[], dtype="int32", raw_tensor=rows)
