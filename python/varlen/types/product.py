"""Products of matrices: all rows with one matrix, or the matrix of each sequence with that of its number."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Level
from varlen.arguments import unmasked
from varlen.backends.values import as_values, is_tensor
from varlen.levels import describe_difference, same_levels
from varlen.types.ragged import Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from varlen.levels import Levels

    Ints = NDArray[np.int64]


# Bytes that are brought together in the time that a call for one more matrix takes, 3 to 5 us; measured.
CALL = 16384


def matmul(a: Any, b: Any, *, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """The product of matrices: of all rows and one matrix, or sequence by sequence; `a @ b`.

    Parameters
    ----------
    a, b
        One at least is a Ragged. The sequences of a Ragged with rows (total, d) are matrices of d columns.
        One of plain numbers has matrices at its last level but one, whose sequences are their rows: all of
        one length in a matrix. An array (n, p, q) has a matrix for each. Levels above are alike. An array
        (d, m) as b is one matrix for all rows of `a`, (total, ..., d), and (d,) one vector.
    transpose_a, transpose_b
        Take the matrices with rows and columns exchanged.

    Returns
    -------
    Ragged or array
        With one matrix a Ragged that nests as `a`, with rows (..., m) or (...). Else matrix by matrix: rows
        (total, m) where all have m columns; a level more where the columns are ragged too; an array (n, p, q)
        where neither are. Dtypes are promoted. Watched by autograd.

    Raises
    ------
    TypeError
        No Ragged.
    ValueError
        What is no matrix, or does not fit: the sequence and both sizes are named.

    Notes
    -----
    As TensorFlow's `tf.matmul`, which takes each sequence by itself. Here neighbours of one shape are
    multiplied in one call; many small ones of mixed shapes are brought together first.

    Examples
    --------
    >>> r = vl.Ragged(np.arange(6.0).reshape(3, 2), [2, 1])
    >>> (r @ np.array([[1.0], [10.0]])).to_list()
    [[[10.0], [32.0]], [[54.0]]]
    >>> scores = vl.matmul(r, r, transpose_b=True)
    >>> scores.to_list()
    [[[1.0, 3.0], [3.0, 13.0]], [[41.0]]]
    >>> (scores @ r).to_list() == [(x @ x.T @ x).tolist() for x in r]
    True
    """
    if not isinstance(a, Ragged) and not isinstance(b, Ragged):
        raise TypeError("matmul: expected a Ragged")
    if isinstance(a, Ragged) and not isinstance(b, Ragged):
        b = b if is_tensor(b) else np.asarray(unmasked(b, "b"))
        if b.ndim in (1, 2):
            if transpose_a:
                raise ValueError("transpose_a: the rows of all sequences go with one matrix b as they are")
            return _flat(a, b.T if transpose_b and b.ndim == 2 else b)
    A, B = _matrices(a, "a", transpose_a), _matrices(b, "b", transpose_b)
    if a is b:
        B.values = A.values
    return _by_sequence(A, B)


def _flat(a: Ragged, b: Any) -> Ragged:
    """All rows with one matrix."""
    values, levels = a.values, a.levels
    size = b.shape[0]
    if values.ndim == 1 and len(levels) > 1:  # the rows are the sequences of the innermost level
        inner = levels[-1]
        if len(inner) and (inner.shortest != size or inner.longest != size):
            i = int((inner.lengths != size).argmax())
            raise ValueError(
                f"b: has {size} rows, sequence {i} of the innermost level of a {inner.lengths[i]}"
            )
        values, levels = values.reshape(len(inner), size), levels[:-1]
    elif values.ndim == 1:
        raise ValueError(
            "a: has plain numbers at one level, which are no matrices; give its values a second axis"
        )
    if values.shape[-1] != size:
        raise ValueError(f"b: has {size} rows, the rows of a have {values.shape[-1]} columns")
    values, b = _of_one_kind(values, b)
    result = values.reshape(math.prod(values.shape[:-1]), size) @ b
    return a._make(result.reshape(*values.shape[:-1], *b.shape[1:]), levels)


@dataclass
class Blocks:
    """Matrices that lie end to end, row by row: their sizes, and whether they are taken transposed.

    Examples
    --------
    >>> Blocks(np.array([2]), np.array([3]), True).shape
    (array([3]), array([2]))
    """

    rows: Ints
    cols: Ints
    transposed: bool = False

    @property
    def shape(self) -> tuple[Ints, Ints]:
        """Rows and columns as they are taken."""
        return (self.cols, self.rows) if self.transposed else (self.rows, self.cols)

    def turned(self, transposed: bool) -> Blocks:
        """The same matrices, taken as said."""
        return Blocks(self.rows, self.cols, transposed)


@dataclass
class _Operand:
    values: Any
    blocks: Blocks
    above: Levels | None
    by_rows: Level | None
    fixed: tuple[int | None, int | None]

    @property
    def sizes(self) -> tuple[int | None, int | None]:
        """Rows and columns as they are taken, where all matrices have as many."""
        return self.fixed[::-1] if self.blocks.transposed else self.fixed


def _matrices(x: Any, argument: str, transposed: bool) -> _Operand:
    if not isinstance(x, Ragged):
        values = as_values(x, argument)
        if values.ndim != 3:
            raise ValueError(f"{argument}: expected (n, p, q), got shape {tuple(values.shape)}")
        n, p, q = values.shape
        blocks = Blocks(np.full(n, p), np.full(n, q), transposed)
        return _Operand(values.reshape(-1), blocks, None, None, (p, q))
    values, levels = x.values, x.levels
    if values.ndim == 2:
        level, width = levels[-1], values.shape[1]
        blocks = Blocks(level.lengths, np.full(len(level), width), transposed)
        return _Operand(values.reshape(-1), blocks, levels[:-1], level, (None, width))
    if values.ndim > 2 or len(levels) < 2:
        what = f"rows of shape {tuple(values.shape[1:])}" if values.ndim > 2 else "plain numbers at one level"
        raise ValueError(f"{argument}: has {what}, which are no matrices")
    level, inner = levels[-2:]
    widths = np.full(len(level), -1)  # a matrix without rows may have any number of columns
    full = level.lengths > 0
    widths[full] = inner.lengths[level.offsets[:-1][full]]
    uneven = inner.lengths != widths[level.row_ids]
    if uneven.any():
        k = int(uneven.argmax())
        i = level.row_ids[k]
        raise ValueError(
            f"{argument}: sequence {i} is no matrix: row {level.positions[k]} has "
            f"{inner.lengths[k]} columns, row 0 has {widths[i]}"
        )
    return _Operand(values, Blocks(level.lengths, widths, transposed), levels[:-2], level, (None, None))


def _by_sequence(A: _Operand, B: _Operand) -> Any:
    above = A.above if A.above is not None else B.above or ()
    if B.above is not None and not same_levels(above, B.above):
        raise ValueError(f"b: nests otherwise than a: {describe_difference(above, B.above)}")
    n, count = len(A.blocks.rows), len(B.blocks.rows)
    if n != count:
        raise ValueError(f"b: has {count} matrices, a has {n}")
    (P, K), (L, Q) = A.blocks.shape, B.blocks.shape
    K, L = np.where(K < 0, np.maximum(L, 0), K), np.where(L < 0, np.maximum(K, 0), L)
    if not np.array_equal(K, L):
        i = int((K != L).argmax())
        raise ValueError(f"b: matrix {i} has {L[i]} rows, that of a has {K[i]} columns")
    P, Q = np.maximum(P, 0), np.maximum(Q, 0)
    a, b = _of_one_kind(A.values, B.values)
    # Sizes that were open are known now.
    ta, tb = A.blocks.transposed, B.blocks.transposed
    one, two = Blocks(*((K, P) if ta else (P, K)), ta), Blocks(*((K, Q)[::-1] if tb else (K, Q)), tb)
    if is_tensor(a):
        from varlen.backends.torch.product import product as of_tensors

        result = of_tensors(a, one, b, two)
    else:
        result = product(a, one, b, two, _empty, np.matmul)
    p, q = A.sizes[0], B.sizes[1]
    if p is not None and q is not None:
        block = result.reshape(n, p, q)
        return Ragged._make(block, above) if above else block
    by_rows = A.by_rows if A.by_rows is not None and not ta else Level.from_lengths(P)
    if q is not None:
        return Ragged._make(result.reshape(by_rows.total, q), (*above, by_rows))
    return Ragged._make(result, (*above, by_rows, Level.from_lengths(Q[by_rows.row_ids])))


def product(
    a: Any, A: Blocks, b: Any, B: Blocks, empty: Callable[..., Any], multiply: Callable[..., Any]
) -> Any:
    """The products of matrices that lie end to end, end to end: neighbours of one shape in one call.

    Examples
    --------
    >>> ones = Blocks(np.array([1, 1]), np.array([1, 1]))
    >>> a, b = np.array([2.0, 3.0]), np.array([5.0, 7.0])
    >>> product(a, ones, b, ones, lambda count, like: np.empty(count), np.matmul)
    array([10., 21.])
    """
    (P, K), Q = A.shape, B.shape[1]
    shapes = np.stack((P, K, Q))
    sizes = np.stack((P * K, K * Q, P * Q))
    order = np.lexsort(shapes)
    cuts = _runs(shapes)
    sorted_cuts = _runs(shapes[:, order])
    moved = int(sizes.sum()) * a.dtype.itemsize
    together = (len(cuts) - len(sorted_cuts)) * CALL > moved
    if together:
        cuts, shapes = sorted_cuts, shapes[:, order]
        same_rows = b is a and A.rows is B.rows and A.cols is B.cols
        a = _picked(a, sizes[0], order)
        b = a if same_rows else _picked(b, sizes[1], order)
        sizes = sizes[:, order]
    result = empty(int(sizes[2].sum()), a)
    ends = np.concatenate((np.zeros((3, 1), np.int64), np.cumsum(sizes, axis=1)), axis=1)[:, cuts]
    runs = np.concatenate((ends[:, :-1], ends[:, 1:], shapes[:, cuts[:-1]], np.diff(cuts)[None]))
    ta, tb = A.transposed, B.transposed
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
    return _picked(result, sizes[2], np.argsort(order)) if together else result


def _empty(count: int, like: Any) -> Any:
    return np.empty(count, like.dtype)


def _runs(shapes: Ints) -> Ints:
    """Where matrices of another shape begin, and the end."""
    n = shapes.shape[1]
    changed = np.flatnonzero((shapes[:, 1:] != shapes[:, :-1]).any(axis=0)) + 1
    return np.concatenate(([0], changed, [n])) if n else np.zeros(1, np.int64)


def _picked(flat: Any, sizes: Ints, order: Ints) -> Any:
    """Matrices in another order."""
    return Ragged._make(flat, (Level.from_lengths(sizes),))[order].values


def _of_one_kind(a: Any, b: Any) -> tuple[Any, Any]:
    """Both arrays, or both tensors of one dtype on one device."""
    if is_tensor(a) or is_tensor(b):
        from varlen.backends.torch.product import of_one_kind

        return of_one_kind(a, b)
    dtype = np.result_type(a, b)
    return a.astype(dtype, copy=False), b.astype(dtype, copy=False)
