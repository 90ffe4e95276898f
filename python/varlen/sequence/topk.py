"""Means of the largest numbers of each row of a table of each item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.sequence.given import gradient_rows, sequences
from varlen.types import Ragged
from varlen.types.arguments import listed, whole
from varlen.types.ordering import ordered
from varlen.types.values import is_tensor, like


def sequence_topk_avg_pooling(
    input: Any, row: Any, col: Any, topks: Sequence[int], channel_num: int, *, level: int = -1
) -> Ragged:
    """Of each row of each item's tables, the sums of its k largest numbers, divided by k, for each k.

    Parameters
    ----------
    input
        `Ragged` of numbers (T,) or (T, 1). Item i holds `channel_num` tables of as many rows as sequence i of
        `row` has, and as many columns as that of `col`, row after row.
    row, col
        `Ragged` whose lengths are meant.
    topks
        Numbers of 1 and more. A row of fewer columns adds what it has, and is divided by k all the same.
    channel_num
        Tables an item, 1 or more.
    level
        The level of the items, in all three, with all rows below; -1 is the innermost.

    Returns
    -------
    Ragged
        Nests as `row`, with rows (channel_num * len(topks),): for each channel all of topks. Floats keep
        their dtype, others become float64.

    Raises
    ------
    ValueError
        An item of another size than its tables have, which is named; another number of items; a k below 1.
    TypeError
        Something that is no Ragged.
    IndexError
        No such level.

    Notes
    -----
    As Paddle's op `sequence_topk_avg_pooling`, which takes topks that ascend, and of equal numbers gives the
    gradient to later ones; here the first get it.

    Examples
    --------
    >>> x = vl.Ragged([1.0, 5, 3, 2, 2, 9], [6])
    >>> row, col = vl.Ragged(np.zeros(2), [2]), vl.Ragged(np.zeros(3), [3])
    >>> vl.sequence_topk_avg_pooling(x, row, col, [1, 2, 4], 1).values
    array([[5.  , 4.  , 2.25],
           [9.  , 5.5 , 3.25]])
    """
    r, into, tables, order, ks = _tables(input, row, col, topks, channel_num, level)
    values = r.values.reshape(-1)
    if is_tensor(values):
        values = values if values.is_floating_point() else values.double()
    elif values.dtype.kind != "f":
        values = values.astype(np.float64)
    best, _, kept = ordered(values, tables, True, max(ks), True, True)
    if is_tensor(values):
        from varlen.interop.torch import pad

        block = pad(best, (kept,), sizes=[max(ks)])
        sums = block.cumsum(1)[:, like(np.array(ks) - 1, values)]
        made = (sums / like(np.array(ks), values)).to(values.dtype)
    else:
        block = _core.pad(best, kept, sizes=max(ks))
        made = np.cumsum(block, axis=1, dtype=block.dtype)[:, np.array(ks) - 1] / np.array(ks, block.dtype)
    count = whole(channel_num, "channel_num", 1)
    return into._make(made[like(order, values)].reshape(into.total, count * len(ks)), into.levels)


def backprop_sequence_topk_avg_pooling(
    dY: Any, input: Any, row: Any, col: Any, topks: Sequence[int], channel_num: int, *, level: int = -1
) -> Ragged:
    """The gradient of `sequence_topk_avg_pooling`: each of the k largest numbers gets 1 / k of it.

    Parameters
    ----------
    dY
        The gradient of what `sequence_topk_avg_pooling` gave: a `Ragged`, or its rows.
    input, row, col, topks, channel_num, level
        As they were given to `sequence_topk_avg_pooling`.

    Returns
    -------
    Ragged
        Nests as `input`.

    Examples
    --------
    >>> x = vl.Ragged([1.0, 5, 3], [3])
    >>> row, col = vl.Ragged(np.zeros(1), [1]), vl.Ragged(np.zeros(3), [3])
    >>> vl.sequence.backprop_sequence_topk_avg_pooling([[1.0, 1.0]], x, row, col, [1, 2], 1).values
    array([0. , 1.5, 0.5])
    """
    r, into, tables, order, ks = _tables(input, row, col, topks, channel_num, level)
    d = gradient_rows(dY, into.total, into.levels)
    if tuple(d.shape[1:]) != (channel_num * len(ks),):
        raise ValueError(f"dY: has rows of shape {tuple(d.shape[1:])}, expected ({channel_num * len(ks)},)")
    values = r.values.reshape(-1)
    which, kept = ordered(values, tables, True, max(ks), False, True)[1:]
    rank = np.arange(max(ks))
    shares = (rank < np.array(ks)[:, None]) / np.array(ks)[:, None]
    by_table = np.argsort(order)
    if is_tensor(d):
        import torch

        from varlen.interop.torch import unpad
        from varlen.interop.torch_sort import unsort

        each = d.reshape(-1, len(ks))[like(by_table, d)] @ torch.from_numpy(shares).to(d)
        dX = unsort(unpad(each.contiguous(), (kept,)), tables, kept, which)
    else:
        each = d.reshape(-1, len(ks))[by_table] @ shares.astype(d.dtype)
        dX = _core.unsort(_core.unpad(each, kept), tables, kept, which)
    return r._make(dX.reshape(r.values.shape), r.levels)


def _tables(
    input: Any, row: Any, col: Any, topks: Any, channel_num: int, level: int
) -> tuple[Ragged, Ragged, Level, Any, list[int]]:
    """A level over the rows of all tables, and for each row and channel of the result the row of a table."""
    r, into, across = sequences(input, "input"), sequences(row, "row"), sequences(col, "col")
    count = whole(channel_num, "channel_num", 1)
    ks = [whole(k, f"topks[{i}]", 1) for i, k in enumerate(listed(topks, "topks", "integers"))]
    if not ks:
        raise ValueError("topks: expected one number or more")
    if r.values.shape[1:] not in ((), (1,)):
        raise ValueError(f"input: expected rows of one number, got shape {tuple(r.values.shape[1:])}")
    items, rows, columns = (each._over(level)[1] for each in (r, into, across))
    for name, each in (("row", rows), ("col", columns)):
        if len(each) != len(items):
            raise ValueError(f"{name}: has {len(each)} sequences, input has {len(items)}")
    wanted = count * rows.lengths * columns.lengths
    if (wanted != items.lengths).any():
        i = int((wanted != items.lengths).argmax())
        raise ValueError(
            f"input: item {i} has {items.lengths[i]} numbers, expected {count} tables of "
            f"{rows.lengths[i]} rows and {columns.lengths[i]} columns"
        )
    tables = Level.from_lengths(np.repeat(columns.lengths, count * rows.lengths))
    starts = np.repeat(count * rows.offsets[:-1], rows.lengths) + rows.positions
    steps = np.repeat(rows.lengths, rows.lengths)
    order = (starts[:, None] + np.arange(count) * steps[:, None]).reshape(-1)
    return r, into, tables, order, ks
