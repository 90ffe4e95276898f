"""Conversions between packed rows, with their size_at_t, lengths and indices, and torch's PackedSequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.utils.rnn import PackedSequence

from varlen.arguments import one_of
from varlen.backends.torch.memory import share_memory, tensor_of
from varlen.errors import instance_error, value_error

if TYPE_CHECKING:
    from varlen._core import Level


def to_packed_sequence(
    rows: object, size_at_t: Any, lengths: Any, indices: Any, empty: str = "raise", is_sorted: bool = False
) -> PackedSequence:
    """A PackedSequence of packed rows."""
    one_of(empty, "empty", ("raise", "drop"))
    count = int(np.count_nonzero(lengths))
    if count < len(lengths) and empty == "raise":
        raise value_error(
            "",
            f"sequence {indices[count]} is empty, which a PackedSequence cannot hold",
            'pass empty="drop" to leave empty sequences out',
            row=indices[count],
        )
    data = share_memory(rows)
    # Steps that no sequence reaches are none of torch's.
    steps = int(lengths[0]) if len(lengths) else 0
    sizes = torch.from_numpy(size_at_t[:steps].astype(np.int64))
    if is_sorted:
        return PackedSequence(data, sizes, None, None)
    sequences = indices[:count]
    order = torch.from_numpy(np.searchsorted(np.sort(sequences), sequences)).to(data.device)
    return PackedSequence(data, sizes, order, torch.argsort(order))


def from_packed_sequence(packed_sequence: object) -> tuple[Any, Any, Any, Any]:
    """Rows, size_at_t, lengths and indices of a PackedSequence."""
    if not isinstance(packed_sequence, PackedSequence):
        raise instance_error("packed_sequence", "a PackedSequence", packed_sequence)
    rows, batch_sizes, order, inverse = packed_sequence
    sizes = batch_sizes.numpy()
    count = int(sizes[0]) if len(sizes) else 0
    if order is not None:
        indices = order.cpu().numpy()
    elif inverse is not None:
        indices = np.argsort(inverse.cpu().numpy())
    else:
        indices = np.arange(count)
    # A column is as long as there are steps wider than it.
    lengths = np.searchsorted(-sizes, -np.arange(count))
    return rows, sizes, lengths, indices


def order_of(level: Level) -> np.ndarray:
    """The order that torch.sort gives lengths: the longest first, ties as it likes."""
    order: np.ndarray = torch.sort(tensor_of(level.lengths), descending=True)[1].numpy()
    return order
