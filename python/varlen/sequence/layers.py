"""Run torch's recurrent layers over packed rows, with cuDNN on a GPU."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.backends.values import is_tensor
from varlen.errors import type_error, value_error
from varlen.ops.shift import reverse as reversed_rows
from varlen.sequence.states import as_many, each_state
from varlen.sequence.steps import init_memories
from varlen.types import Packed

if TYPE_CHECKING:
    from collections.abc import Callable

    from varlen.backends.values import Values
    from varlen.types import Ragged


def is_layer(cell: object) -> bool:
    """Whether it is torch's LSTM, GRU or RNN."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(cell, torch.nn.RNNBase)


def run_layer(
    layer: Any, x: Packed[Any], init: Values | None, reverse: bool, rows_of: Callable[[Any, str], Any]
) -> tuple[Ragged[Any], Any]:
    """The outputs of a layer, and its states by rank; `rows_of` checks the rows of a given state."""
    import torch

    name = type(layer).__name__
    if not is_tensor(x.values):
        raise type_error("inputs", f"expected tensors for {name}, got {type(x.values).__name__}")
    if x.inner:
        raise value_error("level", f"{name} runs over rows, expected the innermost level")
    if tuple(x.values.shape[1:]) != (layer.input_size,):
        shape = tuple(x.values.shape[1:])
        raise value_error("inputs", f"rows have shape {shape}, {name} takes ({layer.input_size},)")
    table = x.table
    packed = _reverse(x) if reverse else x
    start = init_memories(_start(layer, init, x, rows_of), table)
    n_active = int(table.size_at_t[0]) if table.longest else 0
    directions = 2 if layer.bidirectional else 1
    if n_active:
        first = each_state(lambda one, _: one[:n_active].transpose(0, 1).contiguous(), start)
        steps = torch.from_numpy(np.array(table.size_at_t, np.int64))
        result, states = layer(torch.nn.utils.rnn.PackedSequence(packed.values, steps), first)
        rows = result.data
        start_states = iter(start if isinstance(start, tuple) else (start,))
        last = each_state(
            lambda one, _: torch.cat((one.transpose(0, 1), next(start_states)[n_active:].to(one.dtype))),
            states,
        )
    else:
        rows = x.values.new_zeros((0, directions * (layer.proj_size or layer.hidden_size)))
        last = start
    outputs = packed.with_values(rows)
    outputs = _reverse(outputs) if reverse else outputs
    is_one = directions * layer.num_layers == 1
    return outputs.to_ragged(), each_state(lambda one, _: one[:, 0], last) if is_one else last


def _reverse(x: Packed[Any]) -> Packed[Any]:
    """The rows of each sequence from its last to its first."""
    return Packed.from_ragged(reversed_rows(x.to_ragged()), order=x.table)


def _start(layer: Any, init: Values | None, x: Packed[Any], rows_of: Callable[[Any, str], Any]) -> Any:
    """States (n, layers and directions, width) in the original order."""
    import torch

    depth = layer.num_layers * (2 if layer.bidirectional else 1)
    widths = [layer.proj_size or layer.hidden_size, layer.hidden_size]
    template: Any = (None, None) if isinstance(layer, torch.nn.LSTM) else None
    if init is None:
        zeros = [x.values.new_zeros((len(x.table), depth, width)) for width in widths]
        return tuple(zeros) if template else zeros[0]
    as_many(init, template, "init")
    width_iter = iter(widths)

    def one(value: object, name: str) -> Any:
        rows, width = rows_of(value, name), next(width_iter)
        shape = tuple(rows.shape[1:])
        if shape != (depth, width) and (depth > 1 or shape != (width,)):
            expected = (depth, width) if depth > 1 else (width,)
            raise value_error(name, f"rows have shape {shape}, expected {expected}")
        return rows.reshape(len(x.table), depth, width)

    return each_state(one, init, "init")
