"""torch's PackedSequence from the fields of a time-major block, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import PackedSequence

from varlen.backends.torch.memory import tensor_of


def to_packed_sequence(padded: Any, empty: str = "raise") -> Any:
    """`Padded.to_packed_sequence`.

    Examples
    --------
    >>> to_packed_sequence(vl.Padded.from_list([[1.0], [2.0, 3.0]])).sorted_indices
    tensor([1, 0])
    """
    if empty not in ("raise", "drop"):
        raise ValueError(f"empty: expected 'raise' or 'drop', got {empty!r}")
    there = int(np.count_nonzero(padded.lengths))
    if there < len(padded):
        if empty == "raise":
            raise ValueError(
                f"column {there} (sequence {padded.indices[there]}) is empty, which a PackedSequence cannot "
                'hold; leave empty sequences out with empty="drop"'
            )
        padded = padded[:there]
    rows = padded.to_packed()
    data = tensor_of(rows) if isinstance(rows, np.ndarray) else rows
    order = torch.from_numpy(padded.indices.astype(np.int64)).to(data.device)
    # Steps that nobody reaches are none of torch's.
    steps = int(padded.lengths[0]) if len(padded) else 0
    sizes = torch.from_numpy(padded.size_at_t[:steps].astype(np.int64))
    return PackedSequence(data, sizes, order, torch.argsort(order))


def from_packed_sequence(packed_sequence: Any) -> tuple[Any, Any, Any, Any]:
    """Rows, size_at_t, lengths and indices of a PackedSequence.

    Raises
    ------
    TypeError
        It is none.

    Examples
    --------
    >>> from torch.nn.utils.rnn import pack_sequence
    >>> from_packed_sequence(pack_sequence([torch.arange(2), torch.arange(1)]))[2]
    array([2, 1])
    """
    if not isinstance(packed_sequence, PackedSequence):
        raise TypeError(f"packed_sequence: expected a PackedSequence, got {type(packed_sequence).__name__}")
    rows, batch_sizes, order, inverse = packed_sequence
    sizes = batch_sizes.numpy()
    count = int(sizes[0]) if len(sizes) else 0
    if order is not None:
        indices = order.cpu().numpy()
    elif inverse is not None:
        indices = np.argsort(inverse.cpu().numpy())
    else:
        indices = np.arange(count)
    lengths = np.searchsorted(
        -sizes, -np.arange(count)
    )  # a column is as long as there are steps wider than it
    return rows, sizes, lengths, indices
