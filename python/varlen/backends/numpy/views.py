"""Arrays as they are, with any strides, and parts of them that share their memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.arguments import unmasked

if TYPE_CHECKING:
    from numpy.typing import NDArray


def as_array(x: Any, argument: str) -> NDArray[Any]:
    """An array of any strides, from what NumPy reads.

    Examples
    --------
    >>> as_array([3, 1], "X")
    array([3, 1])
    """
    return np.asarray(unmasked(x, argument))


def is_contiguous(x: NDArray[Any]) -> bool:
    """Whether the memory of an array is in C order.

    Examples
    --------
    >>> is_contiguous(np.zeros((2, 3)).T)
    False
    """
    return x.flags.c_contiguous


def tile(values: NDArray[Any], multiples: tuple[int, ...]) -> NDArray[Any]:
    """What lies along each axis, so many times.

    Examples
    --------
    >>> tile(np.array([[3, 1]]), (1, 2))
    array([[3, 1, 3, 1]])
    """
    return np.tile(values, multiples)
