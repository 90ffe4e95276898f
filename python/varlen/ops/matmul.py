"""Products of matrices: all rows with one matrix, or the matrix of each sequence with that of its number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from varlen._core import Level, RaggedBase
from varlen.arguments import as_bool
from varlen.backends import backend_of
from varlen.backends.blocks import Blocks
from varlen.backends.values import as_values, is_tensor, one_device
from varlen.errors import type_error, value_error
from varlen.levels import describe_difference, same_levels
from varlen.ops.support.outputs import ragged_like

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from varlen.backends.values import RaggedT, Rows, SequencesLike
    from varlen.levels import Levels
    from varlen.types import Ragged

    Ints = NDArray[np.int64]


@overload
def matmul(
    a: RaggedT, b: SequencesLike, *, transpose_a: bool = False, transpose_b: bool = False
) -> RaggedT | Any: ...
@overload
def matmul(
    a: SequencesLike, b: RaggedT, *, transpose_a: bool = False, transpose_b: bool = False
) -> RaggedT | Any: ...
def matmul(a: SequencesLike, b: Any, *, transpose_a: bool = False, transpose_b: bool = False) -> Rows:
    """The matrix product `a @ b`: of all rows with one matrix, or sequence by sequence.

    Parameters
    ----------
    a, b
        At least one is a Ragged. The sequences of a Ragged with rows (total, d) are matrices of d columns.
        One of plain numbers has matrices at its last level but one, whose sequences are their rows: all of
        one length in a matrix. An array (n, p, q) has a matrix for each sequence. The levels above must be
        alike. An array (d, m) as b is one matrix for all rows of `a`, (total, ..., d), and (d,) one vector.
    transpose_a, transpose_b
        If True, the matrices are transposed first.

    Returns
    -------
    Ragged or array
        With one matrix, a Ragged that nests as `a`, with rows (..., m) or (...). Otherwise the products,
        matrix by matrix: rows (total, m) if all have m columns, a Ragged of one level more if the columns are
        ragged too, an array (n, p, q) if neither rows nor columns are ragged. Dtypes are promoted. Autograd
        follows tensors.

    Raises
    ------
    TypeError
        Neither argument is a Ragged.
    ValueError
        A sequence is not a matrix, or does not fit; the message names the sequence and both sizes.

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
    if not isinstance(a, RaggedBase) and not isinstance(b, RaggedBase):
        raise type_error("a", "expected a Ragged")
    if isinstance(a, RaggedBase) and not isinstance(b, RaggedBase):
        ragged: Any = a
        b = backend_of(b).as_array(b, "b")
        one_device(b, "b", ragged._values, "a")
        if b.ndim in (1, 2):
            if as_bool(transpose_a, "transpose_a"):
                raise value_error(
                    "transpose_a",
                    "cannot be used with one matrix b for all rows; transpose the values yourself",
                )
            return _multiply_rows(ragged, b.T if as_bool(transpose_b, "transpose_b") and b.ndim == 2 else b)
    A = _matrices(a, "a", as_bool(transpose_a, "transpose_a"))
    B = _matrices(b, "b", as_bool(transpose_b, "transpose_b"))
    if a is b:
        B.values = A.values
    return _by_sequence(A, B, a if isinstance(a, RaggedBase) else b)


def _multiply_rows(a: Ragged[Any], b: Any) -> Ragged[Any]:
    """All rows with one matrix."""
    values, levels = a._values, a._levels
    size = b.shape[0]
    if values.ndim == 1 and len(levels) > 1:  # the rows are the sequences of the innermost level
        inner = levels[-1]
        if len(inner) and (inner.shortest != size or inner.longest != size):
            i = int((inner.lengths != size).argmax())
            raise value_error(
                "b",
                f"has {size} rows, sequence {i} of the innermost level of a {inner.lengths[i]}",
                row=i,
                number=int(inner.lengths[i]),
            )
        values, levels = values.reshape(len(inner), size), levels[:-1]
    elif values.ndim == 1:
        raise value_error(
            "a", "has one level of plain numbers, which are no matrices", "add a second axis to its values"
        )
    if values.shape[-1] != size:
        raise value_error("b", f"has {size} rows, the rows of a have {values.shape[-1]} columns")
    values, b = backend_of(values, b).promote_pair(values, b)
    rows = values.reshape(math.prod(list(values.shape[:-1])), size)
    result = backend_of(rows).ufunc("matmul", [rows, b], {}) if is_tensor(rows) else rows @ b
    products: Ragged[Any] = ragged_like(a, result.reshape(*values.shape[:-1], *b.shape[1:]), levels)
    return products


@dataclass
class _Operand:
    values: Any
    blocks: Blocks
    outer_levels: Levels | None
    by_rows: Level | None
    fixed_sizes: tuple[int | None, int | None]

    @property
    def sizes(self) -> tuple[int | None, int | None]:
        """Rows and columns as they are taken, where all matrices have as many."""
        return self.fixed_sizes[::-1] if self.blocks.is_transposed else self.fixed_sizes


def _matrices(x: SequencesLike, argument: str, transpose: bool) -> _Operand:
    if not isinstance(x, RaggedBase):
        values = as_values(x, argument)
        if values.ndim != 3:
            raise value_error(argument, f"expected (n, p, q), got shape {tuple(values.shape)}")
        n, p, q = values.shape
        blocks = Blocks(np.full(n, p), np.full(n, q), transpose)
        return _Operand(values.reshape(-1), blocks, None, None, (p, q))
    values, levels = x._values, x._levels
    if values.ndim == 2:
        level, width = levels[-1], values.shape[1]
        blocks = Blocks(level.lengths, np.full(len(level), width), transpose)
        return _Operand(values.reshape(-1), blocks, levels[:-1], level, (None, width))
    if values.ndim > 2 or len(levels) < 2:
        what = f"rows of shape {tuple(values.shape[1:])}" if values.ndim > 2 else "plain numbers at one level"
        raise value_error(argument, f"has {what}, expected matrices")
    level, inner = levels[-2:]
    widths = np.full(len(level), -1)  # a matrix without rows may have any number of columns
    full = level.lengths > 0
    widths[full] = inner.lengths[level.offsets[:-1][full]]
    uneven = inner.lengths != widths[level.row_ids]
    if uneven.any():
        k = int(uneven.argmax())
        i = level.row_ids[k]
        raise value_error(
            argument,
            f"sequence {i} is not a matrix: row {level.positions[k]} has "
            f"{inner.lengths[k]} columns, row 0 has {widths[i]}",
            row=i,
            number=int(inner.lengths[k]),
        )
    return _Operand(values, Blocks(level.lengths, widths, transpose), levels[:-2], level, (None, None))


def _by_sequence(A: _Operand, B: _Operand, model: Any) -> Any:
    one_device(B.values, "b", A.values, "a")
    outer_levels = A.outer_levels if A.outer_levels is not None else B.outer_levels or ()
    if B.outer_levels is not None and not same_levels(outer_levels, B.outer_levels):
        raise value_error(
            "b", f"nests differently from a: {describe_difference(outer_levels, B.outer_levels)}"
        )
    n, count = len(A.blocks.rows), len(B.blocks.rows)
    if n != count:
        raise value_error("b", f"has {count} matrices, a has {n}")
    (P, K), (L, Q) = A.blocks.shape, B.blocks.shape
    K, L = np.where(K < 0, np.maximum(L, 0), K), np.where(L < 0, np.maximum(K, 0), L)
    if not np.array_equal(K, L):
        i = int((K != L).argmax())
        raise value_error("b", f"matrix {i} has {L[i]} rows, that of a has {K[i]} columns")
    P, Q = np.maximum(P, 0), np.maximum(Q, 0)
    backend = backend_of(A.values, B.values)
    a, b = backend.promote_pair(A.values, B.values)
    # Sizes that were open are known now.
    ta, tb = A.blocks.is_transposed, B.blocks.is_transposed
    one, two = Blocks(*((K, P) if ta else (P, K)), ta), Blocks(*((K, Q)[::-1] if tb else (K, Q)), tb)
    result = backend.product(a, one, b, two)
    p, q = A.sizes[0], B.sizes[1]
    if p is not None and q is not None:
        block = result.reshape(n, p, q)
        return model._make(block, outer_levels) if outer_levels else block
    by_rows = A.by_rows if A.by_rows is not None and not ta else Level.from_lengths(P)
    if q is not None:
        return model._make(result.reshape(by_rows.total, q), (*outer_levels, by_rows))
    return model._make(result, (*outer_levels, by_rows, Level.from_lengths(Q[by_rows.row_ids])))
