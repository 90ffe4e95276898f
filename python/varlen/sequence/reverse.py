"""Reverse sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from varlen.sequence.inputs import sequences

if TYPE_CHECKING:
    from varlen.backends.values import RaggedT


def sequence_reverse(x: RaggedT, name: str | None = None, *, level: int = -1) -> RaggedT:
    """Reverse the contents of each sequence.

    Parameters
    ----------
    x
        `Ragged` of rows of any dtype and shape.
    name
        Accepted for compatibility with Paddle, and ignored.
    level
        The level whose contents are reversed: rows at the innermost (-1), otherwise whole sequences of the
        level below.

    Returns
    -------
    Ragged
        The reversed contents, with the rows and trailing dimensions of x; at the innermost level also its
        levels.

    Raises
    ------
    TypeError
        x is not a Ragged.
    IndexError
        There is no such level.

    Notes
    -----
    As Paddle's `sequence_reverse`, which takes one level and five dtypes.

    Examples
    --------
    >>> vl.sequence_reverse(vl.Ragged([1, 2, 3, 4, 5], [2, 3])).values
    array([2, 1, 5, 4, 3])
    >>> vl.sequence_reverse(vl.Ragged.from_list([[[1, 2], [3]], [[4]]]), level=0).to_list()
    [[[3], [1, 2]], [[4]]]
    """
    return cast("RaggedT", sequences(x).reverse(level=level))


def backprop_sequence_reverse(dY: RaggedT, *, level: int = -1) -> RaggedT:
    """The gradient of `sequence_reverse`: the reversed gradient.

    Parameters
    ----------
    dY
        The gradient of the result of `sequence_reverse`, as a `Ragged`.
    level
        The `level` of `sequence_reverse`.

    Returns
    -------
    Ragged
        The reversed gradient, with the dtype and trailing dimensions of dY.

    Raises
    ------
    TypeError
        dY is not a Ragged.
    IndexError
        There is no such level.

    Examples
    --------
    >>> vl.sequence.backprop_sequence_reverse(vl.Ragged([0.5, 1.0], [2])).values
    array([1. , 0.5])
    """
    return cast("RaggedT", sequences(dY, "dY").reverse(level=level))
