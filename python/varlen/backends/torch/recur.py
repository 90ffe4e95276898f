"""Recurrent layers of torch over sequences, without padding; an empty one keeps its state."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from varlen import _core
from varlen._core import Level
from varlen.backends.torch.layer_op import LayerOp, Tensors
from varlen.backends.torch.pack import permute_rows


def recur(
    name: str, x: torch.Tensor, level: Level, states: Tensors, weights: Tensors, options: tuple[Any, ...]
) -> list[torch.Tensor]:
    """Rows (total, width) and the last states, in the order of the sequences, by `torch._VF`.

    The options are has_biases, num_layers, dropout, train and bidirectional.
    """
    result: list[torch.Tensor] = _recur([x, *states, *weights], [level], name, len(states), *options)
    return result


def _run(inputs: Tensors, levels: list[Level], name: str, count: int, *options: Any) -> list[torch.Tensor]:
    x, *rest = inputs
    states, weights = rest[:count], rest[count:]
    numbers, sizes, lengths, order = _core.ragged2packed(np.arange(len(x)), levels[0], "stable")
    active = int(np.count_nonzero(lengths))
    if not active:
        width = states[0].shape[-1] * (2 if options[-1] else 1)
        return [states[0].new_zeros((0, width)), *(state.clone() for state in states)]
    places = np.empty_like(numbers)
    places[numbers] = np.arange(len(numbers))
    ranks = torch.from_numpy(order.copy()).to(x.device)
    sorted_states = [state.index_select(1, ranks) for state in states]
    first = [state[:, :active].contiguous() for state in sorted_states]
    output, *finals = getattr(torch._VF, name)(
        permute_rows(x, numbers, places), torch.from_numpy(sizes[: lengths[0]].copy()),
        first if name == "lstm" else first[0], weights, *options,
    )  # fmt: skip
    inverse = ranks.argsort()
    lasts = [
        torch.cat([final, state[:, active:]], 1).index_select(1, inverse)
        for final, state in zip(finals, sorted_states, strict=True)
    ]
    return [permute_rows(output, places, numbers), *lasts]


def _fake(inputs: Tensors, offsets: Tensors, name: str, count: int, *options: Any) -> list[torch.Tensor]:
    x, *states = inputs[: count + 1]
    width = states[0].shape[-1] * (2 if options[-1] else 1)
    return [x.new_empty((x.shape[0], width)), *(x.new_empty(state.shape) for state in states)]


_recur: LayerOp = LayerOp(
    "recur",
    "str name, int count, bool has_biases, int layers, float dropout, bool train, bool bidirectional",
    _run,
    _fake,
    casts=False,
    draws=lambda name, count, has_biases, layers, dropout, train, bidirectional: (
        train and dropout > 0 and layers > 1
    ),
)
