"""Tensors side by side, time-major, as blocks and as packed rows; watched by autograd."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import _core
from varlen._core import is_plain_tensor
from varlen.backends.torch.autograd import AutogradOp
from varlen.backends.torch.cast import pick
from varlen.backends.torch.concat import from_list
from varlen.backends.torch.followers import is_followed
from varlen.backends.torch.memory import (
    apply_rows,
    as_numpy,
    at_least_one,
    byte_limit,
    fill_of,
    fill_row,
    like,
    on_host,
    tensor_of,
)
from varlen.errors import value_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from varlen._core import Level

    Ints = NDArray[np.int64]

_permute: AutogradOp = AutogradOp(
    "permute_rows(Tensor x, Tensor rows, Tensor back) -> Tensor",
    lambda x, rows, inverse: _core.take_rows(x, rows),
    lambda x, rows, inverse: x.new_empty((rows.shape[0], *x.shape[1:])),
    lambda context, d: _permute(d, context.rest[1], context.rest[0]),
)


def list2padded(
    tensors: Any, ties: str = "reversed", fill: Any = None, max_bytes: int | None = None
) -> tuple[torch.Tensor, Ints, Ints, Ints]:
    """Tensors side by side, time-major, the longest first: the block, size_at_t, lengths and indices."""
    values, levels = from_list(tensors)
    if len(levels) > 1:
        raise value_error("seqs", f"expected a list of tensors, got lists nested {len(levels)} deep")
    return ragged2padded(values, levels[0], ties, fill, max_bytes)


def ragged2padded(
    tensor: torch.Tensor, level: Level, ties: str = "reversed", fill: Any = None, max_bytes: int | None = None
) -> tuple[torch.Tensor, Ints, Ints, Ints]:
    """Sequences side by side, time-major, the longest first: the block, size_at_t, lengths and indices."""
    if on_host(tensor) and is_plain_tensor(tensor) and not is_followed(fill):
        blank = None if fill is None else fill_row(fill, tensor.dtype, tuple(tensor.shape[1:]))
        data, sizes, lengths, order = _core.ragged2padded(as_numpy(tensor), level, ties, blank, max_bytes)
        return tensor_of(data, tensor.dtype), sizes, lengths, order
    # torch picks the rows: the core says which goes where, and where there is none.
    limit = byte_limit(max_bytes, tensor)
    numbers, *fields = _core.ragged2padded(np.arange(len(tensor)), level, ties, -1, limit)
    rows = like(numbers, tensor)
    source = at_least_one(tensor)
    present = (rows >= 0).reshape(rows.shape + (1,) * (tensor.ndim - 1))
    other = tensor.new_zeros(()) if fill is None else fill_of(fill, tensor)
    return torch.where(present, source[rows.clamp(min=0)], other), *fields


def padded2ragged(
    data: torch.Tensor, size_at_t: Ints, lengths: Ints, indices: Ints
) -> tuple[torch.Tensor, Level]:
    """The sequences of a time-major block, end to end: the values and their level."""
    steps, columns = data.shape[:2]

    def move(rows: np.ndarray) -> tuple[np.ndarray, Level]:
        block = rows.reshape(steps, columns, *rows.shape[1:])
        return _core.padded2ragged(block, size_at_t, lengths, indices)

    return apply_rows(data.reshape(steps * columns, *data.shape[2:]), move)


def ragged2packed(x: torch.Tensor, level: Level, table: Any) -> torch.Tensor:
    """Rows of sequences in packed order."""
    if on_host(x) and is_plain_tensor(x):
        packed = _core.ragged2packed(as_numpy(x), level, "stable", table._fields)[0]
        return tensor_of(packed, x.dtype)
    rows, inverse = _permutations(table)
    return _record_pack(x, rows, inverse)


def packed2ragged(x: torch.Tensor, table: Any) -> torch.Tensor:
    """Packed rows in the order of their sequences."""
    if on_host(x) and is_plain_tensor(x):
        return tensor_of(_core.packed2ragged(as_numpy(x), *table._fields)[0], x.dtype)
    rows, inverse = _permutations(table)
    return _record_pack(x, inverse, rows)


def permute_rows(x: torch.Tensor, rows: Any, inverse: Any) -> torch.Tensor:
    """x[rows], where `rows` is a permutation and `inverse` its inverse: the gradient is such a one too."""
    if on_host(x) and is_plain_tensor(x):
        return tensor_of(_core.take_rows(as_numpy(x), rows), x.dtype)
    return _record_pack(x, _indices(rows), _indices(inverse))


def _record_pack(x: torch.Tensor, rows: torch.Tensor, inverse: torch.Tensor) -> torch.Tensor:
    if x.device.type not in ("cpu", "cuda", "meta") or x.is_complex():
        return pick(x, rows.to(x.device))
    result: torch.Tensor = _permute(x, rows, inverse)
    return result


def _permutations(table: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """The gather index of a table and its inverse as tensors, made once."""
    if table._tensors is None:
        table._tensors = (_indices(table.rows), _indices(table.places))
    result: tuple[torch.Tensor, torch.Tensor] = table._tensors
    return result


def _indices(rows: Any) -> torch.Tensor:
    return tensor_of(np.asarray(rows, np.int64))
