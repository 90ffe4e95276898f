"""Neighbours compared, sequence by sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from varlen.arguments import as_int
from varlen.backends import backend_of
from varlen.ops.support.inputs import units_of
from varlen.ops.support.outputs import ragged_like

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import Lengths, RaggedT, Rows, RowsT
    from varlen.types import Ragged


@overload
def diff(X: RaggedT, lengths: None = None, *, n: int = 1, level: int = -1) -> RaggedT: ...
@overload
def diff(X: RowsT | Sequence[Any], lengths: Lengths, *, n: int = 1, level: int = -1) -> Ragged[RowsT]: ...
def diff(X: Any, lengths: Any = None, *, n: int = 1, level: int = -1) -> Rows:
    """Subtract from each row the previous row of its sequence, n times; a sequence loses up to n rows.

    Parameters
    ----------
    X
        (T, ...), an array or a tensor of numbers, bools or dates; or a `Ragged`.
    lengths
        The lengths: integers, or a `Level`.
    n
        The number of times, 0 or more.
    level
        The level whose sequences are processed; levels below it are merged. -1 is the innermost.

    Returns
    -------
    Ragged
        The differences, in the class of X: the levels above, and a level of the remaining lengths. The dtype
        is that of a difference. Autograd follows tensors.

    Raises
    ------
    TypeError
        `lengths` are given with a Ragged, or missing with an array.
    ValueError
        n is below 0, or the lengths do not add up to T.

    Examples
    --------
    >>> vl.ops.diff([3, 1, 4, 1, 5], [3, 0, 2]).to_list()
    [[-2, 3], [], [4]]
    """
    values, units, outer_levels = units_of(X, lengths, level)
    result, new_level = backend_of(values).diff(values, units, as_int(n, "n"))
    return ragged_like(X, result, (*outer_levels, new_level))
