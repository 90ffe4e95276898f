"""Widths of data, and initial values of parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.arguments import axis_of
from varlen.backends.values import is_array
from varlen.errors import value_error
from varlen.types import Padded, Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from varlen.thinc.numpy_ops import NumpyOps


def get_width(X: Any, *, dim: int = -1) -> int:
    """The width of the rows: of an array, a container, or the first array of a list.

    Parameters
    ----------
    X
        An array, a container or a list of arrays. The width of an array of one axis, which holds ids, is the
        largest id + 1. The width of an empty list is 0.
    dim
        The axis that is the width, if an array has several.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        `X` is none of these.

    Notes
    -----
    Like Thinc's `get_width`.

    Examples
    --------
    >>> vl.thinc.get_width(np.ones((2, 3))), vl.thinc.get_width([np.array([0, 4])])
    (3, 5)
    """
    if isinstance(X, (Ragged, Padded)):
        return get_width(X.data, dim=dim)
    if isinstance(X, (list, tuple)):
        return get_width(X[0], dim=dim) if X else 0
    if not is_array(X):
        raise value_error(
            "X", f"expected an array, a container or a list of arrays, got a {type(X).__name__}"
        )
    if X.ndim < 2:
        return int(X.max()) + 1 if X.ndim and len(X) else 0
    return int(X.shape[axis_of(dim, X.ndim, "dim")])


def glorot_uniform_init(ops: NumpyOps, shape: tuple[int, int]) -> NDArray[np.float32]:
    """Draw uniform numbers within +- sqrt(6 / (nO + nI)), which keeps the scale of activations.

    Parameters
    ----------
    ops
        The ops that make the array.
    shape
        (nO, nI).

    Returns
    -------
    numpy.ndarray
        float32, drawn from NumPy's global state, which `np.random.seed` sets.

    Notes
    -----
    Like Thinc's `glorot_uniform_init`.

    Examples
    --------
    >>> vl.thinc.glorot_uniform_init(vl.thinc.NumpyOps(), (2, 3)).shape
    (2, 3)
    """
    scale = np.sqrt(6.0 / (shape[0] + shape[1]))
    return ops.asarray_f(np.random.uniform(-scale, scale, shape))  # noqa: NPY002 - as Thinc draws


def zero_init(ops: NumpyOps, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Make an array of zeros.

    Parameters
    ----------
    ops
        The ops that make the array.
    shape
        The size of each axis.

    Returns
    -------
    numpy.ndarray
        float32.

    Notes
    -----
    Like Thinc's `zero_init`.

    Examples
    --------
    >>> vl.thinc.zero_init(vl.thinc.NumpyOps(), (2,))
    array([0., 0.], dtype=float32)
    """
    return ops.alloc_f(shape)
