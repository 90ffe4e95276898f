"""Padded and tensors: blocks that autograd or a device watches, and torch's PackedSequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.backends.torch.memory import apply_rows, as_numpy, filled, tensor_of

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray

    from varlen._core import Level
    from varlen.types.padded import Padded

    Int32s = NDArray[np.int32]


def ragged2padded(
    tensor: torch.Tensor, level: Level, ties: str = "reversed", fill: Any = None, max_bytes: int | None = None
) -> tuple[torch.Tensor, Int32s, Int32s, Int32s]:
    """`Padded.from_ragged` of a tensor: the block, size_at_t, lengths and indices.

    Examples
    --------
    >>> import torch
    >>> ragged2padded(torch.tensor([3, 1, 4]), vl.Level([1, 2]))[0]
    tensor([[1, 3],
            [4, 0]])
    """
    import torch

    blank = None if fill is None else filled(fill, tensor.dtype, tuple(tensor.shape[1:]))
    if tensor.device.type == "cpu" and not tensor.requires_grad:
        data, *fields = _core.ragged2padded(as_numpy(tensor), level, ties, blank, max_bytes)
        return tensor_of(data, tensor.dtype), *fields
    # torch picks the rows: the core says which goes where, and where there is none.
    width = max(1, tensor.element_size() * tensor[:1].numel())
    limit = None if max_bytes is None else max_bytes * 8 // width
    numbers, *fields = _core.ragged2padded(np.arange(len(tensor)), level, ties, -1, limit)
    rows = tensor_of(numbers).to(tensor.device)
    source = tensor if len(tensor) else tensor.new_zeros((1, *tensor.shape[1:]))
    there = (rows >= 0).reshape(rows.shape + (1,) * (tensor.ndim - 1))
    other = tensor.new_zeros(()) if blank is None else tensor_of(blank, tensor.dtype).to(tensor.device)
    return torch.where(there, source[rows.clamp(min=0)], other), *fields


def padded2ragged(
    data: torch.Tensor, size_at_t: Int32s, lengths: Int32s, indices: Int32s
) -> tuple[torch.Tensor, Level]:
    """`Padded.to_ragged` of a tensor: the values and their level.

    Examples
    --------
    >>> import torch
    >>> padded2ragged(torch.tensor([[1, 3], [4, 0]]), *vl.Ragged([3, 1, 4], [1, 2]).to_padded()._fields)[0]
    tensor([3, 1, 4])
    """
    steps, columns = data.shape[:2]

    def moved(rows: NDArray[Any]) -> tuple[NDArray[Any], Level]:
        block = rows.reshape(steps, columns, *rows.shape[1:])
        return _core.padded2ragged(block, size_at_t, lengths, indices)

    return apply_rows(data.reshape(steps * columns, *data.shape[2:]), moved)


def to_packed_sequence(padded: Padded, empty: str = "raise") -> Any:
    """`Padded.to_packed_sequence`.

    Examples
    --------
    >>> to_packed_sequence(vl.Padded.from_list([[1.0], [2.0, 3.0]])).sorted_indices
    tensor([1, 0])
    """
    import torch
    from torch.nn.utils.rnn import PackedSequence

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
    >>> import torch
    >>> from torch.nn.utils.rnn import pack_sequence
    >>> from_packed_sequence(pack_sequence([torch.arange(2), torch.arange(1)]))[2]
    array([2, 1])
    """
    from torch.nn.utils.rnn import PackedSequence

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
