"""Masks, positions and segment ids from lengths, for dense blocks, packed rows and attention."""

from __future__ import annotations

from reprlib import repr as short
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen import tracing
from varlen._core import Level, RaggedBase, nothing_beside, on_tensors
from varlen.arguments import TENSOR, as_bool, as_int, check_output, over_limit
from varlen.backends import backend_of
from varlen.errors import name_argument, value_error
from varlen.levels import flatten_levels, is_on_device, resolve_level
from varlen.ops.support.inputs import as_level, count_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import DTypes, Output, RowsT


def mask(
    lengths: RaggedBase[RowsT] | RowsT | Level | Sequence[Any],
    max_len: int | None = None,
    padding_side: str = "right",
    *,
    width: int | None = None,
    pad_to_multiple_of: int = 1,
    max_bytes: int | None = None,
) -> RowsT:
    """The mask of the padded sequences: True where there is data.

    Parameters
    ----------
    lengths
        (n,) integers, a `Level`, or a Ragged, whose innermost level is taken. A tensor, or a Ragged of one,
        gives a tensor on its device, a `Level` of numbers on a device such numbers there.
    max_len
        Sequences are cut to this many rows.
    padding_side
        "right" or "left": where the padding goes.
    width
        The width of the result; by default the length of the longest sequence, rounded up to a multiple of
        `pad_to_multiple_of`.
    max_bytes
        Refuse a result larger than this; half of the machine's memory by default.

    Returns
    -------
    numpy.ndarray
        bool (n, width): the mask that `ops.pad` gives.

    Raises
    ------
    ValueError
        A length is negative, a sequence is longer than `width` (the message names it), or the result exceeds
        max_bytes. Or lengths lie on a device without a bound, and neither max_len nor width is given.
    TypeError
        The lengths are not integers.

    Notes
    -----
    The `maxlen` of `tf.sequence_mask` and Paddle's `sequence_mask` cuts silently; here `max_len` cuts, and
    `width` raises an error.

    Examples
    --------
    >>> vl.ops.mask([1, 3])
    array([[ True, False, False],
           [ True,  True,  True]])
    >>> vl.ops.mask([1, 3], 2, "left", width=3).astype(int)
    array([[0, 0, 1],
           [0, 1, 1]])
    """
    level, values = _level_and_kind(lengths)
    backend = backend_of(values, level)
    try:
        result = backend.mask(level, max_len, padding_side, width, pad_to_multiple_of, max_bytes, values)
    except (TypeError, ValueError, OverflowError) as error:
        overflow = name_argument(over_limit(error), pad_to_multiple="pad_to_multiple_of", mask="width")
        raise overflow from None
    return cast("RowsT", result)


def positions(lengths: RaggedBase[RowsT] | RowsT | Level | Sequence[Any]) -> RowsT:
    """The position of each row inside its sequence, which models call `position_ids`.

    Parameters
    ----------
    lengths
        (n,) integers, a `Level`, or a Ragged, whose innermost level is taken. A tensor, or a Ragged of one,
        gives a tensor on its device, a `Level` of numbers on a device such numbers there.

    Returns
    -------
    numpy.ndarray
        int64 (total,). For a Level, read-only and kept with it.

    Examples
    --------
    >>> vl.ops.positions([2, 0, 3])
    array([0, 1, 0, 1, 2])
    """
    level, values = _counted_level_and_kind(lengths)
    return cast("RowsT", backend_of(values, level).level_array(level, "positions", values))


def segment_ids(lengths: RaggedBase[RowsT] | RowsT | Level | Sequence[Any], *, level: int = -1) -> RowsT:
    """The sequence that holds each row, as `row_ids` of a Ragged.

    Parameters
    ----------
    lengths
        (n,) integers, a `Level`, or a Ragged. A tensor, or a Ragged of one, gives a tensor on its device, a
        `Level` of numbers on a device such numbers there.
    level
        For a Ragged, the level whose sequences are numbered; by default the innermost.

    Returns
    -------
    numpy.ndarray
        int64 (total,). For a Level, read-only and kept with it.

    Raises
    ------
    IndexError
        There is no such level.

    Examples
    --------
    >>> vl.ops.segment_ids([2, 0, 3])
    array([0, 0, 2, 2, 2])
    >>> vl.ops.segment_ids(vl.Ragged.from_list([[[1, 2], [3]], [[4]]]), level=0)
    array([0, 0, 0, 1])
    """
    units, values = _counted_level_and_kind(lengths, level)
    return cast("RowsT", backend_of(values, units).level_array(units, "row_ids", values))


def cu_seqlens(lengths: RaggedBase[RowsT] | RowsT | Level | Sequence[Any]) -> RowsT:
    """The starts of all sequences and the end of the last, for attention kernels.

    Parameters
    ----------
    lengths
        (n,) integers, a `Level`, or a Ragged, whose innermost level is taken. A tensor, or a Ragged of one,
        gives a tensor on its device, a `Level` of numbers on a device such numbers there.

    Returns
    -------
    numpy.ndarray
        int32 (n + 1,). For a Level, read-only and kept with it.

    Raises
    ------
    OverflowError
        There are more rows than int32 can count, as far as the host knows the lengths.

    Examples
    --------
    >>> vl.ops.cu_seqlens([2, 0, 3])
    array([0, 2, 2, 5], dtype=int32)
    """
    level, values = _level_and_kind(lengths)
    return cast("RowsT", backend_of(values, level).level_array(level, "offsets32", values))


def block_mask(
    lengths: RaggedBase[RowsT] | RowsT | Level | Sequence[Any],
    causal: bool = False,
    window: int | tuple[int | None, int | None] | None = None,
    *,
    dtype: DTypes = bool,
    out: Output | None = None,
    max_bytes: int | None = None,
) -> RowsT:
    """The attention mask of rows laid end to end: each row sees only its own sequence.

    Parameters
    ----------
    lengths
        (n,) integers, a `Level`, or a Ragged, whose innermost level is taken. A tensor, or a Ragged of one,
        gives a tensor.
    causal
        If True, a row sees itself and earlier rows only.
    window
        The number of rows that a row sees on each side besides itself: one number, or a pair for before and
        after; None means no limit.
    dtype
        For bool and integers, 1 where a row sees another. For floats, the number to add to scores: 0 where a
        row sees another, minus infinity elsewhere. For tensors, a dtype of torch.
    out
        (total, total) of the dtype, C-contiguous: filled and returned.
    max_bytes
        Refuse a result larger than this; half of the machine's memory by default.

    Returns
    -------
    numpy.ndarray
        (total, total): entry [i, j] tells whether row i sees row j. Every row sees itself.

    Raises
    ------
    ValueError
        A length or the window is negative, `out` has another shape, or the result exceeds max_bytes.
    TypeError
        The lengths are not integers, or the dtype is not numeric.

    Notes
    -----
    The window is that of FlashAttention's `window_size`, with None in place of its -1.

    Examples
    --------
    >>> vl.ops.block_mask([1, 2]).astype(int)
    array([[1, 0, 0],
           [0, 1, 1],
           [0, 1, 1]])
    >>> vl.ops.block_mask([3], causal=True, window=1, dtype=np.float32)
    array([[  0., -inf, -inf],
           [  0.,   0., -inf],
           [-inf,   0.,   0.]], dtype=float32)
    """
    if out is not None:
        check_output(out, lengths)
    level, values = _counted_level_and_kind(lengths)
    ends = window if isinstance(window, (tuple, list)) else (window, window)
    if len(ends) != 2:
        raise value_error("window", f"expected one number, or two of them, got {short(window)}")
    lookback, lookahead = ends
    lookback, lookahead = (None if x is None else as_int(x, "window") for x in (lookback, lookahead))
    if as_bool(causal, "causal"):
        lookahead = 0
    backend = backend_of(values, out, dtype)
    try:
        return cast("RowsT", backend.block_mask(level, dtype, lookback, lookahead, out, max_bytes, values))
    except ValueError as error:
        raise over_limit(error) from None


def _level_and_kind(lengths: Any, place: int = -1) -> tuple[Level, Any]:
    """The level that cuts all rows, and an array or tensor of the kind of the result."""
    if isinstance(lengths, RaggedBase):
        levels, values = lengths._levels, lengths._values
    else:
        levels = (as_level(lengths),)
        if type(lengths) is Level:
            values = None if tracing.is_tracing() else on_tensors(nothing_beside, lengths)
        else:
            values = lengths if hasattr(lengths, TENSOR) or is_on_device(lengths) else None
    units = (
        levels[-1]
        if type(place) is int and place == -1
        else flatten_levels(levels[resolve_level(place, levels) :])
    )
    return units, _HOST if values is None else values


def _counted_level_and_kind(lengths: object, place: int = -1) -> tuple[Level, Any]:
    """The same, where as many rows as lengths say are made: of lengths without a level that waits."""
    level, values = _level_and_kind(lengths, place)
    if not isinstance(lengths, RaggedBase):
        count_rows([level], lengths)
    return level, values


_HOST = np.empty(0)
