"""Sequences to a rectangle, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from varlen import _core, tracing
from varlen._core import Level, RaggedBase
from varlen.arguments import as_int, check_output, over_limit, overflow_of_multiple
from varlen.backends import backend_of
from varlen.backends.values import as_values
from varlen.errors import type_error, value_error
from varlen.levels import levels_from
from varlen.ops.support.inputs import count_rows, rows_and_levels
from varlen.ops.support.outputs import new_ragged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import ArrayT, DTypes, Lengths, Output, Rows, RowsLike, RowsT, SequencesLike
    from varlen.levels import Levels
    from varlen.types import Ragged

_DEEPEST = 64  # levels that the core reads


@overload
def to_dense(
    X: RaggedBase[ArrayT], lengths: None = None, *, padding_side: str = "right", fill: RowsLike | None = None,
    mask: Literal[False] = False, max_len: int | Sequence[int | None] | None = None, truncate: str = "right",
    out: Output | None = None, dtype: DTypes | None = None, pad_to_multiple_of: int = 1,
    max_bytes: int | None = None,
) -> ArrayT: ...  # fmt: skip
@overload
def to_dense(
    X: RaggedBase[ArrayT], lengths: None = None, *, padding_side: str = "right", fill: RowsLike | None = None,
    mask: Literal[True], max_len: int | Sequence[int | None] | None = None, truncate: str = "right",
    out: Output | None = None, dtype: DTypes | None = None, pad_to_multiple_of: int = 1,
    max_bytes: int | None = None,
) -> tuple[ArrayT, ArrayT]: ...  # fmt: skip
@overload
def to_dense(
    X: RaggedBase[ArrayT], lengths: None = None, *, padding_side: str = "right", fill: RowsLike | None = None,
    mask: bool,
    max_len: int | Sequence[int | None] | None = None, truncate: str = "right", out: Output | None = None,
    dtype: DTypes | None = None, pad_to_multiple_of: int = 1, max_bytes: int | None = None,
) -> ArrayT | tuple[ArrayT, ArrayT]: ...  # fmt: skip
@overload
def to_dense(
    X: RowsT | Sequence[Any], lengths: Lengths, *, padding_side: str = "right", fill: RowsLike | None = None,
    mask: Literal[False] = False, max_len: int | Sequence[int | None] | None = None, truncate: str = "right",
    out: Output | None = None, dtype: DTypes | None = None, pad_to_multiple_of: int = 1,
    max_bytes: int | None = None,
) -> RowsT: ...  # fmt: skip
@overload
def to_dense(
    X: RowsT | Sequence[Any], lengths: Lengths, *, padding_side: str = "right", fill: RowsLike | None = None,
    mask: Literal[True], max_len: int | Sequence[int | None] | None = None, truncate: str = "right",
    out: Output | None = None, dtype: DTypes | None = None, pad_to_multiple_of: int = 1,
    max_bytes: int | None = None,
) -> tuple[RowsT, RowsT]: ...  # fmt: skip
@overload
def to_dense(
    X: RowsT | Sequence[Any], lengths: Lengths, *, padding_side: str = "right", fill: RowsLike | None = None,
    mask: bool,
    max_len: int | Sequence[int | None] | None = None, truncate: str = "right", out: Output | None = None,
    dtype: DTypes | None = None, pad_to_multiple_of: int = 1, max_bytes: int | None = None,
) -> Rows | tuple[Rows, Rows]: ...  # fmt: skip
def to_dense(
    X: Any,
    lengths: Any = None,
    *,
    padding_side: str = "right",
    fill: Any = None,
    mask: bool = False,
    max_len: int | Sequence[int | None] | None = None,
    truncate: str = "right",
    out: Any = None,
    dtype: Any = None,
    pad_to_multiple_of: int = 1,
    max_bytes: int | None = None,
) -> Rows | tuple[Rows, Rows]:
    """Pad the sequences to a rectangle.

    Parameters
    ----------
    X
        (total, ...) rows of any dtype, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    padding_side
        "right" or "left": the side of the padding, and the end that a sequence longer than max_len loses.
    fill
        The fill value: a number, or one row of the values' trailing shape; None for zeros.
    mask
        If True, return (block, mask). The mask is True where data is present: (n, width), or (n, width, ...)
        for more levels.
    max_len
        The most slots per sequence: one number per level, or one for the outermost.
    truncate
        "right" or "left": the side of the padding, and the end that a sequence longer than max_len loses.
    out
        An array of the result's shape, to write into; it is returned.
    dtype
        The dtype of the result; values are cast while writing.
    pad_to_multiple_of
        The width of every level is rounded up to a multiple of this.
    max_bytes
        The largest block to make, by default half of the machine's memory; a larger one is refused.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        The rectangle: (n, width, *trailing), or (n, width, width of the next level, ..., *trailing). Autograd
        follows tensors.

    Raises
    ------
    ValueError
        The dtype cannot hold the fill, `out` has another shape, or the block exceeds max_bytes.

    Examples
    --------
    >>> vl.ops.to_dense([3, 1, 4, 1, 5], [3, 0, 2], padding_side="left", fill=-1)
    array([[ 3,  1,  4],
           [-1, -1, -1],
           [-1,  1,  5]])
    """
    if lengths is None and isinstance(X, RaggedBase):
        values, levels = X._values, X._levels
    else:
        if out is not None:
            check_output(out, lengths)
        values, levels = rows_and_levels(X, lengths)
    return padded(
        values, levels, padding_side, fill, mask, max_len, truncate, out, dtype, pad_to_multiple_of, max_bytes
    )


def padded(
    values: SequencesLike, levels: Levels, side: str, fill: RowsLike | None, mask: bool, max_len: object,
    truncate: str, out: Output | None,
    dtype: DTypes | None, multiple: int, max_bytes: int | None,
) -> Any:  # fmt: skip
    """The rows under levels as a rectangle: `to_dense` of what is known to fit."""
    if out is not None and type(out) is not np.ndarray:  # the core checks arrays
        check_output(out, values, fill)
    pad = backend_of(values).pad
    is_one = type(multiple) is int and multiple == 1
    if not is_one:
        as_int(multiple, "pad_to_multiple_of", 1)
    try:
        return pad(values, levels, side, fill, mask, max_len, truncate, out, dtype, multiple, max_bytes)
    except ValueError as error:
        raise over_limit(error) from None
    except OverflowError as error:
        raise (error if is_one else overflow_of_multiple(error)) from None


def from_dense(
    block: RowsT | Sequence[Any],
    lengths: Lengths | None = None,
    *,
    mask: SequencesLike | None = None,
    padding_side: str = "right",
    out: Output | None = None,
) -> Ragged[RowsT]:
    """Convert a padded rectangle to sequences, by its lengths or mask. The inverse of `to_dense`.

    Parameters
    ----------
    block
        (n, width, ...): sequence i lies in block[i], on the side opposite to the padding.
    lengths
        (n,), none beyond width; or a `Level`; or a list of either, for a block of more ragged axes.
    mask
        (n, width) of bools, True where data is present, without gaps.
    padding_side
        "right" or "left": the side of the padding.
    out
        (total, ...): an array that becomes the values.

    Returns
    -------
    Ragged
        The sequences, with a level for each ragged axis, and values of the kind of the block.

    Raises
    ------
    TypeError
        Both lengths and a mask are given, or neither.
    ValueError
        A length exceeds the width, or the mask has gaps or padding on the other side; the message names the
        row.

    Examples
    --------
    >>> vl.ops.from_dense(np.array([[1, 2, 0], [3, 0, 0]]), [2, 1]).to_list()
    [[1, 2], [3]]
    """
    return new_ragged(*unpad_block(block, lengths, mask, padding_side, out))


def unpad_block(
    block: Any, lengths: Any = None, mask: Any = None, padding_side: str = "right", out: Output | None = None
) -> tuple[Any, Levels]:
    """The rows of a padded rectangle that are data, and their levels."""
    if out is not None:
        check_output(out, block, lengths, mask)
    dense, levels = block_and_levels(block, lengths, mask, padding_side)
    count_rows(levels, lengths)
    return backend_of(dense).unpad(dense, levels, padding_side, out), levels


def block_and_levels(
    block: SequencesLike, lengths: object, mask: object, padding_side: str
) -> tuple[Any, Levels]:
    """A padded rectangle, and its levels from lengths or a mask."""
    if (lengths is None) == (mask is None):
        raise type_error("", "pass exactly one of lengths and mask")
    dense = block if type(block) is np.ndarray else as_values(block, "block")
    if mask is not None:
        marks = as_values(mask, "mask")
        slots = dense.shape[:2]
        if marks.ndim != len(slots) or any(map(_differ, marks.shape, slots)):
            is_deep = marks.ndim > len(slots) and not any(map(_differ, marks.shape, dense.shape))
            advice = "a mask of several levels does not tell empty sequences from none; pass lengths=r.levels"
            text = f"has shape {tuple(marks.shape)}, the block {tuple(dense.shape)}"
            raise value_error("mask", text, advice if is_deep else "")
        tracing.is_traced(marks)
        return dense, (backend_of(marks).mask_to_level(marks, padding_side),)
    return dense, (lengths,) if type(lengths) is Level else levels_from(None, lengths)


def _differ(a: SequencesLike, b: SequencesLike) -> bool:
    return tracing.holds_surely(a != b)


def values_of_list(data: SequencesLike | None, dtype: object = None) -> tuple[Any, Levels]:
    """Values and levels of nested lists of numbers, arrays or tensors."""
    return backend_of(_first_leaf(data)).from_list(data, dtype)


def _first_leaf(data: SequencesLike | None) -> Any:
    leaf = data
    for _ in range(_DEEPEST):
        if not isinstance(leaf, (list, tuple)):
            return leaf
        leaf = next((x for x in leaf if not isinstance(x, (list, tuple)) or len(x)), None)
    _core.refuse_cycles(data, "data")  # not before: it looks at every object, which takes most of the time
    return None
