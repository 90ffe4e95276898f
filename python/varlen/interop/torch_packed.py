"""Packed tensors: rows under a permutation, watched by autograd, and torch's PackedSequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.utils.rnn import PackedSequence

from varlen import _core
from varlen.backends.torch.autograd import AutogradOp
from varlen.backends.torch.memory import as_numpy, tensor_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from varlen._core import Level
    from varlen.types.packed import Packed
    from varlen.types.ranks import RankTable

_permute: AutogradOp = AutogradOp(
    "permute_rows(Tensor x, Tensor rows, Tensor back) -> Tensor",
    lambda x, rows, back: _core.take_rows(x, rows),
    lambda x, rows, back: x.new_empty((rows.shape[0], *x.shape[1:])),
    lambda seen, d: _permute(d, seen.rest[1], seen.rest[0]),
)


def permuted(x: torch.Tensor, rows: Any, back: Any) -> torch.Tensor:
    """x[rows], where `rows` is a permutation and `back` its inverse: the gradient is such a one too.

    Examples
    --------
    >>> permuted(torch.tensor([1.0, 2.0, 3.0]), np.array([2, 0, 1]), np.array([1, 2, 0]))
    tensor([3., 1., 2.])
    """
    if x.device.type == "cpu" and _is_plain(x):
        return tensor_of(_core.take_rows(as_numpy(x), rows), x.dtype)
    return _watched(x, _indices(rows), _indices(back))


def laid(x: torch.Tensor, table: RankTable) -> torch.Tensor:
    """Rows of sequences in packed order.

    Examples
    --------
    >>> laid(torch.tensor([3, 1, 4]), vl.RankTable([1, 2], [1, 0]))
    tensor([1, 3, 4])
    """
    if x.device.type == "cpu" and _is_plain(x):
        rows = _core.ragged2packed(as_numpy(x), table.level, "stable", table._fields)[0]
        return tensor_of(rows, x.dtype)
    rows, back = _both(table)
    return _watched(x, rows, back)


def relaid(x: torch.Tensor, table: RankTable) -> torch.Tensor:
    """Packed rows in the order of their sequences.

    Examples
    --------
    >>> relaid(torch.tensor([1, 3, 4]), vl.RankTable([1, 2], [1, 0]))
    tensor([3, 1, 4])
    """
    if x.device.type == "cpu" and _is_plain(x):
        return tensor_of(_core.packed2ragged(as_numpy(x), *table._fields)[0], x.dtype)
    rows, back = _both(table)
    return _watched(x, back, rows)


def order_of(level: Level) -> NDArray[Any]:
    """What torch.sort makes of lengths: the longest first, ties as it likes.

    Examples
    --------
    >>> order_of(vl.Level([1, 3, 2]))
    array([1, 2, 0])
    """
    order: NDArray[Any] = torch.sort(tensor_of(level.lengths), descending=True)[1].numpy()
    return order


def to_packed_sequence(packed: Packed, empty: str = "raise") -> PackedSequence:
    """`Packed.to_packed_sequence`.

    Examples
    --------
    >>> to_packed_sequence(vl.Ragged([3.0, 1.0, 4.0], [1, 2]).pack()).sorted_indices
    tensor([1, 0])
    """
    if empty not in ("raise", "drop"):
        raise ValueError(f"empty: expected 'raise' or 'drop', got {empty!r}")
    table = packed.table
    there = table.active(0)
    if there < len(table) and empty == "raise":
        raise ValueError(
            f"sequence {table.indices[there]} is empty, which a PackedSequence cannot hold; "
            'leave empty sequences out with empty="drop"'
        )
    data = packed.values if isinstance(packed.values, torch.Tensor) else tensor_of(packed.values)
    sizes = torch.from_numpy(table.size_at_t.astype(np.int64))
    if table.presorted:
        return PackedSequence(data, sizes, None, None)
    names = table.indices[:there]
    order = torch.from_numpy(np.searchsorted(np.sort(names), names)).to(data.device)
    return PackedSequence(data, sizes, order, torch.argsort(order))


def _watched(x: torch.Tensor, rows: torch.Tensor, back: torch.Tensor) -> torch.Tensor:
    if x.device.type not in ("cpu", "meta") or x.is_complex():
        return x.index_select(0, rows.to(x.device))
    result: torch.Tensor = _permute(x, rows, back)
    return result


def _is_plain(x: torch.Tensor) -> bool:
    """Whether nobody watches: neither autograd, nor a transform, nor a compiler."""
    watched = torch._C._are_functorch_transforms_active() or torch.compiler.is_compiling()
    return not watched and not x.requires_grad


def _both(table: RankTable) -> tuple[torch.Tensor, torch.Tensor]:
    """The gather index of a table and its inverse as tensors, made once."""
    if table._tensors is None:
        table._tensors = (_indices(table.rows), _indices(table.places))
    return table._tensors


def _indices(rows: Any) -> torch.Tensor:
    return tensor_of(np.asarray(rows, np.int64))
