"""Small eager calls on torch's tensors: with gradients and without, beside the same calls on arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..harness import Case, row
from . import sample

LENGTHS = (5, 3, 4)
VERBS = ("sum", "max", "softmax", "cumsum", "reverse")


def _numbers() -> np.ndarray:
    return np.random.default_rng(0).random((sum(LENGTHS), 4)).astype(np.float32)


def _array(result: Any) -> np.ndarray:
    """The numbers of a result of any kind."""
    values = result.values if hasattr(result, "levels") else result
    return values.detach().numpy() if hasattr(values, "detach") else values


def _on_tensors(case: Case, call: Callable[[Any], Any], gradients: bool = False) -> None:
    """One call on a container of a tensor."""

    @case.contender("varlen", needs="torch", show=_array)
    def _() -> Any:
        import torch
        from varlen import Ragged

        torch.set_num_threads(1)
        tensor = torch.from_numpy(_numbers()).requires_grad_(gradients)
        return call, Ragged(tensor, LENGTHS)


def _on_arrays(case: Case, call: Callable[[Any], Any]) -> None:
    from varlen import Ragged

    ragged = Ragged(_numbers(), LENGTHS)
    case.reference = _array(call(ragged))
    case.yardstick("on an array", call, ragged)


for _verb in VERBS:
    for _gradients, _more in ((False, 2.0), (True, 6.0)):
        _name = f"tensor.{_verb}" + (".gradients" if _gradients else "")
        _title = f"{_verb} of a tensor of 12 x 4 numbers in 3 sequences"

        @row(_name, _title + (", which wants gradients, forward" if _gradients else ""))
        def _(case: Case, verb: str = _verb, gradients: bool = _gradients, more: float = _more) -> None:
            def call(ragged: Any) -> Any:
                return getattr(ragged, verb)()

            case.over("on an array", 1.0, more)
            _on_arrays(case, call)
            _on_tensors(case, call, gradients)


@row("tensor.sum.backward", "sum of a tensor of 12 x 4 numbers in 3 sequences, forward and backward")
def _(case: Case) -> None:
    case.reference = np.ones((sum(LENGTHS), 4), np.float32)
    peer = "torch.segment_reduce"
    case.rivals.append(peer)
    case.goal(f"<= 1.3 {peer}", 1.3, lambda times: times.ratio("varlen", peer), f"x {peer}")

    def there_and_back(call: Callable[[], Any], tensor: Any, ones: Any) -> Any:
        tensor.grad = None
        call().backward(ones)
        return tensor.grad

    @case.contender("varlen", needs="torch", show=_array)
    def _() -> Any:
        import torch
        from varlen import Ragged

        tensor = torch.from_numpy(_numbers()).requires_grad_()
        return there_and_back, Ragged(tensor, LENGTHS).sum, tensor, torch.ones(len(LENGTHS), 4)

    @case.contender(peer, needs="torch", show=_array)
    def _() -> Any:
        import torch

        torch.set_num_threads(1)
        tensor, lengths = torch.from_numpy(_numbers()).requires_grad_(), torch.tensor(LENGTHS)
        ones = torch.ones(len(LENGTHS), 4)

        def call() -> Any:
            return torch.segment_reduce(tensor, "sum", lengths=lengths)

        return there_and_back, call, tensor, ones


_INDEX = np.array([2, 0])
_PICKS = {
    "row": ("r[1]", lambda ragged: ragged[1]),
    "slice": ("r[1:]", lambda ragged: ragged[1:]),
    "list": ("r[[2, 0]]", lambda ragged: ragged[[2, 0]]),
    "gather": ("r.gather of an array", lambda ragged: ragged.gather(_INDEX)),
}
for _name, (_text, _pick) in _PICKS.items():

    @row(f"tensor.{_name}", f"{_text} of a tensor of 12 x 4 numbers in 3 sequences")
    def _(case: Case, pick: Callable[[Any], Any] = _pick) -> None:
        case.within("<= 2 us", 2.0)
        _on_arrays(case, pick)
        _on_tensors(case, pick)


for _gradients, _most in ((False, 3.0), (True, 8.0)):
    _text = "to_dense of a tensor of 12 x 4 numbers in 3 sequences"

    @row("tensor.dense" + (".gradients" if _gradients else ""), _text + (", forward" if _gradients else ""))
    def _(case: Case, gradients: bool = _gradients, most: float = _most) -> None:
        def call(ragged: Any) -> Any:
            return ragged.to_dense()

        case.within(f"<= {most:g} us", most)
        _on_arrays(case, call)
        _on_tensors(case, call, gradients)


@row("reduce.max.places", "largest rows and their places, 12 x 4 numbers in 3 sequences")
def _(case: Case) -> None:
    from varlen import Ragged, ops

    ragged = Ragged(_numbers(), LENGTHS)
    case.reference = ragged.max()
    case.over("max alone", 1.3)
    case.yardstick("max alone", ops.reduce_max, ragged)

    @case.contender("varlen", show=lambda result: result[0])
    def _() -> Any:
        return lambda: ops.reduce_max(ragged, which=True)


@row("reduce.sum.nested", "sum(level=0) of 50,000 x 4 x 2 numbers, against the flat call")
def _(case: Case) -> None:
    from varlen import Ragged

    count = case.size(50_000, 21)
    values = sample.of_lengths(np.full(count, 8)).values
    flat = Ragged(values, np.full(count, 8))
    case.reference = flat.sum()
    case.over("flat", 1.05)
    case.yardstick("flat", flat.sum)

    @case.contender("varlen")
    def _() -> Any:
        nested = Ragged(values, [np.full(count, 4), np.full(4 * count, 2)])
        return lambda: nested.sum(level=0)
