"""Add a sequence of updates to each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen.backends import backend_of
from varlen.backends.values import as_values
from varlen.errors import dtype_error, index_error, type_error, value_error
from varlen.levels import describe_difference, same_levels
from varlen.ops.support.inputs import units_of
from varlen.sequence.inputs import array_of, sequences
from varlen.tracing import eager_only
from varlen.types import Ragged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import DTypes, SameT, SequencesLike


@eager_only()
def sequence_scatter(
    input: SameT | Sequence[Any], index: Any, updates: Any, name: str | None = None, *, level: int = -1
) -> SameT:
    """Copy `input` and add sequence k of the updates to row k, at the indices in sequence k.

    Parameters
    ----------
    input
        (n, W, ...) numbers, an array or a tensor; or a `Ragged` of such rows.
    index
        `Ragged` of integers (T,) or (T, 1), from 0 to W - 1. Indices may repeat.
    updates
        `Ragged` of rows (T, ...) that nests as `index`, or its rows; of the dtype of `input`.
    name
        Accepted for compatibility with Paddle, and ignored.
    level
        The level of `index` whose sequence k belongs to row k; levels below it are merged. -1 is the
        innermost.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        The sums, in the shape, dtype and kind of `input`. Updates are added one after another, in order.

    Raises
    ------
    IndexError
        An index is below 0, or not below W (the message names its sequence and entry); or there is no such
        level.
    ValueError
        There are more or fewer sequences than rows, or the updates nest differently or have another shape.
    TypeError
        `index` is not a Ragged of integers, or the updates have another dtype.

    Notes
    -----
    As Paddle's `sequence_scatter`, which does not check indices, and hangs if one is below 0.

    Examples
    --------
    >>> index = vl.Ragged([0, 1, 1, 3], [2, 2])
    >>> vl.sequence_scatter(np.zeros((2, 4)), index, np.array([1.0, 2.0, 3.0, 4.0]))
    array([[1., 2., 0., 0.],
           [0., 3., 0., 4.]])
    """
    block = input.values if isinstance(input, Ragged) else as_values(input, "input")
    places, r = _target_rows(block, index, level)
    rows = _updates(updates, r, block)
    shape = tuple(map(int, block.shape))  # a tracer has tensors there
    table = block.reshape(shape[0] * shape[1], *shape[2:])
    result = backend_of(block).add_rows(table, rows, places).reshape(shape)
    return cast("SameT", input._make(result, input.levels) if isinstance(input, Ragged) else result)


def backprop_sequence_scatter(dY: SequencesLike, index: Any, *, level: int = -1) -> tuple[Any, Ragged[Any]]:
    """The gradients of `sequence_scatter`.

    Parameters
    ----------
    dY
        The gradient of the result of `sequence_scatter`: (n, W, ...), or a `Ragged` of such rows.
    index, level
        The arguments of `sequence_scatter`.

    Returns
    -------
    d_input : numpy.ndarray, torch.Tensor or Ragged
        dY itself.
    d_updates : Ragged
        Nests as `index`, of the dtype of dY.

    Raises
    ------
    IndexError, ValueError, TypeError
        `index` does not fit, as in `sequence_scatter`.

    Examples
    --------
    >>> index = vl.Ragged([0, 1, 1], [2, 1])
    >>> vl.sequence.backprop_sequence_scatter(np.array([[5.0, 6.0], [7.0, 8.0]]), index)[1].to_list()
    [[5.0, 6.0], [8.0]]
    """
    block = dY.values if isinstance(dY, Ragged) else as_values(dY, "dY")
    places, r = _target_rows(block, index, level, "dY")
    table = block.reshape(block.shape[0] * block.shape[1], *block.shape[2:])
    return dY, r._make(backend_of(block).take_rows(table, places), r.levels)


def _target_rows(block: Any, index: Any, level: int, argument: str = "input") -> tuple[Any, Ragged[Any]]:
    """The place that each entry of index names, among the places of all rows laid end to end."""
    r = sequences(index, "index")
    _, units, _ = units_of(r, None, level)
    if block.ndim < 2:
        raise value_error(argument, f"expected (n, W, ...), got shape {tuple(block.shape)}")
    if len(units) != len(block):
        raise value_error("index", f"has {len(units)} sequences for {len(block)} rows of {argument}")
    places = array_of(r, "index")
    if not places.size:
        places = places.astype(np.int64)
    if places.dtype.kind not in "iu":
        raise dtype_error("index", "integers", places.dtype)
    if places.shape[1:] not in ((), (1,)):
        raise value_error("index", f"expected rows of one integer, got shape {places.shape[1:]}")
    places, width = places.reshape(-1), int(block.shape[1])
    out = (places < 0) | (places >= width)
    if out.any():
        entry = int(out.argmax())
        k = int(units.row_ids[entry])
        raise index_error(
            "index",
            f"entry {entry - int(units.offsets[k])} of sequence {k} is {places[entry]}, the rows of "
            f"{argument} have {width} places",
            row=k,
            number=int(places[entry]),
        )
    return units.row_ids * width + places.astype(np.int64), r


def _updates(updates: Any, r: Ragged[Any], block: Any) -> Any:
    if isinstance(updates, Ragged):
        if not same_levels(updates.levels, r.levels):
            raise value_error(
                "updates", f"nests differently from index: {describe_difference(updates.levels, r.levels)}"
            )
        rows = updates.values
    else:
        rows = as_values(updates, "updates")
        if len(rows) != r.total:
            raise value_error("updates", f"has {len(rows)} rows, index has {r.total}")
    if rows.shape[1:] == (1,) and block.ndim == 2:
        rows = rows.reshape(-1)
    if tuple(rows.shape[1:]) != tuple(block.shape[2:]):
        raise value_error(
            "updates", f"expected rows of shape {tuple(block.shape[2:])}, got {tuple(rows.shape[1:])}"
        )
    if backend_of(rows) is not backend_of(block) or _native(rows.dtype) != _native(block.dtype):
        raise type_error("updates", f"expected {block.dtype} as input, got {rows.dtype}")
    return rows


def _native(dtype: DTypes) -> Any:
    """A dtype in the byte order of the machine."""
    return dtype.newbyteorder("=") if isinstance(dtype, np.dtype) else dtype
