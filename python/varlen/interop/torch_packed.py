"""Packed tensors: rows under a permutation, watched by autograd, and torch's PackedSequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.utils.rnn import PackedSequence

from varlen.backends.torch.memory import tensor_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from varlen._core import Level
    from varlen.types.packed import Packed


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
