"""Lookups of tensors, their ways back, and gradients of both."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from varlen import _core
from varlen._core import is_plain_tensor, on_tensors
from varlen.backends import arrays
from varlen.backends.torch.autograd import AutogradOp, as_numbers, has_no_name, require_device, write_result
from varlen.backends.torch.followers import suspend_modes
from varlen.backends.torch.memory import as_numpy, like, on_host, tensor_of, writing
from varlen.errors import instance_error, type_error, value_error

_gather: AutogradOp = AutogradOp(
    "gather_add(Tensor table, Tensor indices) -> Tensor",
    _core.gather_add,
    lambda table, indices: table.new_empty((indices.shape[0], *table.shape[1:])),
    lambda context, d: _gradient_op(d, context.rest[0], context.rows),
)
_gradient_op: AutogradOp = AutogradOp(
    "backprop_gather_add(Tensor d, Tensor indices, SymInt rows) -> Tensor",
    _core.backprop_gather_add,
    lambda d, indices, rows: d.new_empty((rows, *d.shape[1:])),
    lambda context, d: _gather(d, context.rest[0]),
)
_add_op: AutogradOp = AutogradOp(
    "scatter_added(Tensor table, Tensor rows, Tensor places) -> Tensor",
    lambda table, rows, places: _core.scatter_added(table, places, rows),
    lambda table, rows, places: torch.empty_like(table),
    lambda context, d: (d, _gather(d, context.rest[0][:, None])),
    columns=2,
)


def as_places(indices: Any) -> torch.Tensor:
    """Integers as a tensor: the one that was given, wherever it lies, or one on the CPU."""
    return indices if isinstance(indices, torch.Tensor) else tensor_of(indices)


def gather_add(table: torch.Tensor, indices: Any, out: Any = None) -> torch.Tensor:
    """`_core.gather_add` of a tensor, watched by autograd."""
    return write_result(_gather(table, as_places(indices)), out)


def backprop_gather_add(d: torch.Tensor, indices: Any, rows: int, out: Any = None) -> torch.Tensor:
    """`_core.backprop_gather_add` of a tensor, watched by autograd."""
    return write_result(_gradient_op(d, as_places(indices), rows), out)


def scatter_add(table: torch.Tensor, indices: Any, values: Any) -> None:
    """`_core.scatter_add` in the memory of a tensor."""
    if not isinstance(values, torch.Tensor):
        raise instance_error("values", "a tensor", values)
    if table.requires_grad or values.requires_grad:
        raise value_error("table", "autograd watches it, or values", "use backprop_gather_add")
    if table.dtype != values.dtype:
        raise type_error("values", f"expected {table.dtype}, the dtype of the table, got {values.dtype}")
    if not on_host(table):
        with writing(table):
            if on_tensors(_core.scatter_add, table, as_places(indices), values) is NotImplemented:
                require_device(table, "table")
                raise type_error(
                    "table", f"expected numbers that the core adds, got {table.dtype} on {table.device}"
                )
        return
    with suspend_modes():
        places = as_numbers(as_places(indices).cpu())
    if not (is_plain_tensor(table) and is_plain_tensor(values)):
        _add_followed(table, places, values)
        return
    if has_no_name(table):
        raise type_error("table", f"expected bool, integers or floats of 16 bits and more, got {table.dtype}")
    memory = as_numpy(table)
    if table.dtype == torch.bfloat16:
        memory = memory.view(_core.bfloat16)
    with writing(table):
        _core.scatter_add(memory, places, arrays.as_rows(as_numbers(values), "values"))


def _add_followed(table: torch.Tensor, places: np.ndarray, values: torch.Tensor) -> None:
    """Where somebody follows the tensors, torch adds; the core refuses what is no row of the table."""
    shape = (*places.shape, *table.shape[1:])
    if values.shape != shape:
        raise value_error("values", f"expected shape {tuple(shape)}, got {tuple(values.shape)}")
    rows = int(table.shape[0])
    _core.scatter_add(np.empty((rows, 0), np.float32), places, np.empty((*places.shape, 0), np.float32))
    flat = like(places.reshape(-1).astype(np.int64), table)
    table.index_add_(0, flat, values.reshape(-1, *table.shape[1:]))


def add_rows(table: torch.Tensor, rows: torch.Tensor, places: Any) -> torch.Tensor:
    """A copy of a table after each of rows was added to the row that its place names; watched by autograd."""
    result: torch.Tensor = _add_op(table, rows, as_places(places))
    return result
