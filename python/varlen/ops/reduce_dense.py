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
        What a sequence without rows gives; None refuses such a sequence. By default what `reduce_sum` and its
        kin give.
    ddof
        What is taken off the number of rows, for "var" and "std".
    out
        (n, ...) of the result's dtype, C-contiguous: filled and given back.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        (n, ...): the bits that the reduction of `from_dense(block, lengths)` gives, whose rows are not made.

    Raises
    ------
    TypeError
        Lengths and a mask, or neither; values that are not numbers.
    ValueError
        A length beyond the width, which is named; no such op; lengths of several levels; an `empty` that the
        dtype cannot hold.

    Notes
    -----
    Autograd follows tensors. On a device this is one kernel, and one more where a sequence is long. Of
    lengths that lie there alone nothing is asked: one over the width is told when the level is used next.

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
