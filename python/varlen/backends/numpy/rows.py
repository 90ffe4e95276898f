"""Arrays as rows that the core can move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.arguments import unmasked

if TYPE_CHECKING:
    from numpy.typing import NDArray


def as_rows(x: Any, argument: str = "values") -> NDArray[Any]:
    """Rows that the core can move: the array itself where its memory is contiguous, a copy where it is not.

    Raises
    ------
    TypeError
        Arrays of Python objects, masked arrays.
    ValueError
        A scalar: rows need at least one dimension.

    Examples
    --------
    >>> as_rows([3, 1])
    array([3, 1])
    """
    if not isinstance(x, np.ndarray):
        given = unmasked(x, argument)
        try:
            x = np.asarray(x)
        except ValueError as error:
            raise ValueError(
                f"{argument}: not a rectangle of values ({error}); for nested lists use Ragged.from_list"
            ) from None
        if x.dtype.hasobject and isinstance(given, (list, tuple)):
            _core.from_lists(given, 0, name=argument)  # says which item is no number
    unmasked(x, argument)
    if x.dtype.hasobject:
        raise TypeError(f"{argument}: arrays of Python objects cannot be moved as bytes (dtype {x.dtype})")
    if x.ndim == 0:
        raise ValueError(f"{argument}: expected at least one dimension, got the scalar {x}")
    return x if x.flags.c_contiguous else np.ascontiguousarray(x)


def plain_rows(x: Any, argument: str, beside: str) -> NDArray[Any]:
    """Rows that have to be an array, because what they go with is one.

    Raises
    ------
    TypeError
        They are a tensor.

    Examples
    --------
    >>> plain_rows([3, 1], "X", "params")
    array([3, 1])
    """
    if hasattr(x, "detach"):
        raise TypeError(f"{argument}: a tensor, but {beside} is an array")
    return as_rows(x, argument)
