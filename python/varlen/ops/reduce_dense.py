"""Sequences of a padded rectangle to one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.arguments import check_output, one_of
from varlen.backends import backend_of
from varlen.errors import value_error
from varlen.ops.dense import block_and_levels
from varlen.ops.faces.folds import COMPOSED, EMPTY
from varlen.ops.support.inputs import count_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import RowsT


def reduce_dense(
    block: RowsT | Sequence[Any],
    lengths: Any = None,
    op: str = "mean",
    *,
    mask: Any = None,
    padding_side: str = "right",
    empty: Any = ...,
    ddof: float = 0,
    out: Any = None,
) -> RowsT:
    """Reduce each sequence of a padded rectangle to one row: masked pooling that never reads the padding.

    Parameters
    ----------
    block
        (n, width, ...): sequence i lies in block[i], on the side opposite to the padding.
    lengths
        (n,), none beyond width; or a `Level`.
    op
        "sum", "mean", "prod", "max", "min", "any", "all", "norm", "logsumexp", "var" or "std".
    mask
        (n, width) of bools in place of lengths: True where data is present, without gaps.
    padding_side
        "right" or "left": the side of the padding.
    empty
        The result for a sequence without rows; None raises an error for it. By default as in `reduce_sum` and
        the other reductions.
    ddof
        Delta degrees of freedom for "var" and "std": the divisor is the number of rows minus `ddof`.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        (n, ...), the same bits as the reduction of `from_dense(block, lengths)`, but without making its rows.

    Raises
    ------
    TypeError
        Both lengths and a mask are given, or neither; or the values are not numbers.
    ValueError
        A length exceeds the width (the message names it), the op is unknown, the lengths have several levels,
        or the dtype cannot hold `empty`.

    Notes
    -----
    Autograd follows tensors. On a device this is one kernel, and one more for long sequences. Lengths that
    lie only on the device are not read: one that exceeds the width raises an error when the level is used
    next.

    Examples
    --------
    >>> block = np.array([[1.0, 3.0, 99.0], [5.0, 99.0, 99.0]])
    >>> vl.ops.reduce_dense(block, [2, 1])
    array([2., 5.])
    >>> vl.ops.reduce_dense(block, mask=block < 99, op="max")
    array([3., 5.])
    """
    one_of(op, "op", tuple(fold for fold in EMPTY if fold not in COMPOSED))
    if out is not None:
        check_output(out, block, lengths, mask)
    dense, levels = block_and_levels(block, lengths, mask, padding_side)
    if len(levels) != 1:
        raise value_error("lengths", f"expected lengths of one level, got {len(levels)}")
    if getattr(dense, "requires_grad", False):
        count_rows(levels, lengths)  # the gradient makes as many rows
    empty_value = EMPTY[op] if empty is ... else empty
    rows: RowsT = backend_of(dense).reduce_dense(op, dense, levels[0], padding_side, empty_value, out, ddof)
    return rows
