"""Matrices that lie end to end, and their products, for arrays and tensors alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


# Bytes that are brought together in the time that a call for one more matrix takes, 3 to 5 us; measured.
CALL = 16384


@dataclass
class Blocks:
    """Matrices that lie end to end, row by row: their sizes, and whether they are taken transposed."""

    rows: Ints
    cols: Ints
    is_transposed: bool = False

    @property
    def shape(self) -> tuple[Ints, Ints]:
        """Rows and columns as they are taken."""
        return (self.cols, self.rows) if self.is_transposed else (self.rows, self.cols)

    def with_transposed(self, transpose: bool) -> Blocks:
        """The same matrices, transposed or as they are."""
        return Blocks(self.rows, self.cols, transpose)


def multiply_blocks(
    a: Any,
    A: Blocks,
    b: Any,
    B: Blocks,
    empty: Callable[..., Any],
    multiply: Callable[..., Any],
    gather: Callable[..., Any],
) -> Any:
    """The products of matrices that lie end to end, end to end: neighbours of one shape in one call."""

    def reorder(flat: Any, sizes: Ints, order: Ints) -> Any:
        """Matrices in another order."""
        return gather(flat, (Level.from_lengths(sizes),), order)[0]

    (P, K), Q = A.shape, B.shape[1]
    shapes = np.stack((P, K, Q))
    sizes = np.stack((P * K, K * Q, P * Q))
    order = np.lexsort(shapes)
    cuts = _runs(shapes)
    sorted_cuts = _runs(shapes[:, order])
    moved_bytes = int(sizes.sum()) * a.dtype.itemsize
    by_shape = (len(cuts) - len(sorted_cuts)) * CALL > moved_bytes
    if by_shape:
        cuts, shapes = sorted_cuts, shapes[:, order]
        same_rows = b is a and A.rows is B.rows and A.cols is B.cols
        a = reorder(a, sizes[0], order)
        b = a if same_rows else reorder(b, sizes[1], order)
        sizes = sizes[:, order]
    result = empty(int(sizes[2].sum()), a)
    ends = np.concatenate((np.zeros((3, 1), np.int64), np.cumsum(sizes, axis=1)), axis=1)[:, cuts]
    runs = np.concatenate((ends[:, :-1], ends[:, 1:], shapes[:, cuts[:-1]], np.diff(cuts)[None]))
    ta, tb = A.is_transposed, B.is_transposed
    for a0, b0, c0, a1, b1, c1, p, k, q, count in runs.T.tolist():
        if c0 == c1:
            continue
        x, y, z = a[a0:a1], b[b0:b1], result[c0:c1]
        if count == 1:
            x = x.reshape(k, p).T if ta else x.reshape(p, k)
            y = y.reshape(q, k).T if tb else y.reshape(k, q)
            multiply(x, y, out=z.reshape(p, q))
            continue
        x = x.reshape(count, k, p).swapaxes(1, 2) if ta else x.reshape(count, p, k)
        y = y.reshape(count, q, k).swapaxes(1, 2) if tb else y.reshape(count, k, q)
        multiply(x, y, out=z.reshape(count, p, q))
    return reorder(result, sizes[2], np.argsort(order)) if by_shape else result


def _runs(shapes: Ints) -> Ints:
    """Where matrices of another shape begin, and the end."""
    n = shapes.shape[1]
    changes = np.flatnonzero((shapes[:, 1:] != shapes[:, :-1]).any(axis=0)) + 1
    return np.concatenate(([0], changes, [n])) if n else np.zeros(1, np.int64)
