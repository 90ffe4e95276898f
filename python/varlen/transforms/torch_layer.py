"""torch modules as layers: containers in and out, gradients by autograd."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import PackedSequence

from varlen.backends.torch.memory import as_numpy, tensor_of
from varlen.transforms.convert import innermost
from varlen.transforms.kinds import check_gradient, map_values
from varlen.transforms.layer import Backprop, Layer, not_trained
from varlen.types import Padded, Ragged


def as_layer(module: torch.nn.Module) -> Layer:
    """A Layer that calls a module with tensors, or with a container of tensors.

    Arrays become tensors that share their memory, and results become arrays that share the module's; tensors
    stay tensors, which autograd follows. `predict` calls the module in eval mode without autograd, and
    restores the mode. With is_train the module keeps its mode; backprop adds to the `grad` of its parameters,
    and returns the gradient of X, which is zeros for integers.

    A recurrent module sees a PackedSequence instead of a Padded or a Ragged, and reads no padding; an array
    is one sequence for it, or (steps, columns, width). If a module that sees a Padded or a Ragged returns a
    tensor with as many rows, the tensor is the data of the result. A module that writes into its input writes
    into X.
    """
    name = type(module).__name__.lower()
    return Layer(name, partial(_run, module))


def _run(module: torch.nn.Module, X: Any, is_train: bool) -> tuple[Any, Backprop]:
    if not is_train:
        return _predict(module, X), not_trained
    leaves: list[torch.Tensor] = []
    arrays: list[bool] = []

    def enter(x: Any) -> torch.Tensor:
        arrays.append(isinstance(x, np.ndarray))
        tensor = tensor_of(x) if arrays[-1] else x
        if tensor.is_floating_point() or tensor.is_complex():
            # A tensor that needs gradients stays in the graph of the caller.
            tensor = tensor.view_as(tensor) if tensor.requires_grad else tensor.detach().requires_grad_()
        leaves.append(tensor)
        return tensor

    inputs = map_values(X, enter)
    with torch.enable_grad():
        y = _call_module(module, inputs)
    on_arrays = any(arrays)
    Y = map_values(y, _array) if on_arrays else y

    def backprop(dY: Any) -> Any:
        check_gradient(dY, Y)
        results: list[torch.Tensor] = []
        gradients: list[torch.Tensor] = []
        map_values(y, _append_to(results))
        map_values(dY, _append_to(gradients))
        pairs = [(r, d.to(r.dtype)) for r, d in zip(results, gradients, strict=True) if r.requires_grad]
        targets = [x for x in leaves if x.requires_grad]
        targets += [p for p in module.parameters() if p.requires_grad]
        if pairs and targets:
            torch.autograd.backward([r for r, _ in pairs], [d for _, d in pairs], inputs=targets)
        tensors = iter(leaves)

        def gradient(x: Any) -> Any:
            tensor = next(tensors)
            grad = tensor.grad if tensor.requires_grad else None
            grad = torch.zeros_like(tensor) if grad is None else grad
            return as_numpy(grad) if isinstance(x, np.ndarray) else grad

        return map_values(X, gradient)

    return Y, backprop


def _predict(module: torch.nn.Module, X: Any) -> Any:
    arrays: list[bool] = []

    def enter(x: Any) -> torch.Tensor:
        arrays.append(isinstance(x, np.ndarray))
        return tensor_of(x) if arrays[-1] else x

    inputs = map_values(X, enter)
    training = [part for part in module.modules() if part.training]
    module.eval()
    try:
        with torch.no_grad():
            y = _call_module(module, inputs)
    finally:
        for part in training:
            part.training = True
    return map_values(y, _array) if any(arrays) else y


def _call_module(module: torch.nn.Module, inputs: Any) -> Any:
    if isinstance(module, torch.nn.RNNBase):
        if isinstance(inputs, Ragged):
            outputs = _call_recurrent(module, innermost(inputs).to_padded()).to_ragged()
            return inputs._make(outputs.values, inputs.levels)
        return _call_recurrent(module, inputs) if isinstance(inputs, Padded) else module(inputs)[0]
    y = module(inputs)
    if isinstance(y, torch.Tensor) and isinstance(inputs, Padded) and y.shape[:2] == inputs.data.shape[:2]:
        return inputs._make(y.contiguous(), *inputs._fields)
    if isinstance(y, torch.Tensor) and isinstance(inputs, Ragged) and len(y) == len(inputs.values):
        return inputs._make(y.contiguous(), inputs.levels)
    return y


def _call_recurrent(module: torch.nn.RNNBase, padded: Padded[Any]) -> Padded[Any]:
    """Call a recurrent module with the rows; sequences without rows give none."""
    sizes, lengths, indices = padded._fields
    rows = padded.to_packed()
    if len(rows):
        batch_sizes = torch.from_numpy(sizes[: lengths[0]].astype(np.int64))
        result = module(PackedSequence(rows, batch_sizes))[0].data
    else:
        width = (module.proj_size or module.hidden_size) * (2 if module.bidirectional else 1)
        result = rows.new_zeros((0, width))
    return Padded.from_packed(result, sizes, lengths, indices)


def _array(tensor: Any) -> Any:
    """A result as an array; NumPy has no bfloat16, which float32 holds."""
    if not isinstance(tensor, torch.Tensor):
        return tensor
    return as_numpy((tensor.float() if tensor.dtype == torch.bfloat16 else tensor).cpu())


def _append_to(tensors: list[torch.Tensor]) -> Any:
    def keep(x: Any) -> Any:
        tensors.append(tensor_of(x) if isinstance(x, np.ndarray) else x)
        return x

    return keep
