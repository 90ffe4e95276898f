"""Arrays end to end, with gaps between them where a layer needs them, and the arrays again as views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen.arguments import as_dtype, as_int, one_of, scalar_error
from varlen.backends import backend_of
from varlen.errors import index_error, value_error
from varlen.levels import first_longer
from varlen.ops.support.inputs import as_level
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from varlen.backends.values import DTypes, Lengths, RowsT


def flatten(
    X: Sequence[RowsT] | Sequence[Sequence[Any]] | None,
    dtype: DTypes | None = None,
    pad: int = 0,
    ndim_if_empty: int = 2,
) -> RowsT:
    """Lay arrays end to end on their first axis, as one array.

    Parameters
    ----------
    X
        n arrays, (length, ...), or what `np.asarray` makes arrays of. Only their lengths may differ; dtypes
        are promoted as NumPy does. Arrays without elements that are unlike the others do not count. Torch
        tensors give a tensor, and gradients flow through it.
    dtype
        The dtype of the result. Every number is checked, none wraps.
    pad
        The number of zero rows before each array that has rows, and after the last. They keep windows of
        neighbours from reaching into another sequence.
    ndim_if_empty
        The number of axes of the result if there are no arrays.

    Returns
    -------
    numpy.ndarray
        (total, ...), a copy. Without arrays, shape (0, 0), float32 unless a dtype is given.

    Raises
    ------
    TypeError
        X is not a list of arrays, an array holds Python objects, or the dtypes have no common one.
    ValueError
        Arrays differ in more than their length (the message names the array), pad is below 0, or the dtype
        cannot hold a number.

    Notes
    -----
    As Thinc's `Ops.flatten`, which drops all arrays without elements, and returns float32 if none is left.
    Here the result keeps the dtype, and the rows of arrays with a trailing axis of 0.

    Examples
    --------
    >>> vl.ops.flatten([np.array([1, 2]), np.array([3])])
    array([1, 2, 3])
    >>> vl.ops.flatten([np.array([1, 2]), np.array([3])], pad=1)
    array([0, 1, 2, 0, 3, 0])
    """
    if getattr(X, "ndim", 1) == 0:
        raise scalar_error("X")
    if X is None or (hasattr(X, "__len__") and len(X) == 0):
        shape = (0,) * as_int(ndim_if_empty, "ndim_if_empty")
        return cast("RowsT", np.zeros(shape, np.float32 if dtype is None else as_dtype(dtype, "dtype")))
    first = X[0] if isinstance(X, (list, tuple)) else X
    return cast("RowsT", backend_of(first).flatten(X, dtype, as_int(pad, "pad")))


list2array = flatten


@eager_only()
def unflatten(X: RowsT | Sequence[Any], lengths: Lengths, pad: int = 0) -> list[RowsT]:
    """Split one array into the arrays that lie end to end in it. The inverse of `flatten`.

    Parameters
    ----------
    X
        (total, ...): an array of any strides, or a tensor.
    lengths
        (n,) integers, a list of them, or a `Level`.
    pad
        The `pad` of `flatten`; the gaps are left out.

    Returns
    -------
    list
        n arrays (length, ...): views of X.

    Raises
    ------
    ValueError
        A length is negative, or the lengths and gaps do not add up to the rows of X.
    TypeError
        The lengths are not integers.

    Notes
    -----
    As Thinc's `Ops.unflatten`, which does not compare the lengths with the rows, and drops or repeats some.

    Examples
    --------
    >>> vl.ops.unflatten(np.array([1, 2, 3]), [2, 0, 1])
    [array([1, 2]), array([], dtype=int64), array([3])]
    >>> vl.ops.unflatten(np.array([0, 1, 2, 0, 3, 0]), [2, 0, 1], pad=1)
    [array([1, 2]), array([], dtype=int64), array([3])]
    """
    level, gap = as_level(lengths), as_int(pad, "pad")
    backend = backend_of(X)
    values = backend.as_array(X, "X")
    if values.ndim == 0:
        raise scalar_error("X")
    if gap == 0:
        level.lengths  # noqa: B018  # a list has as many arrays as they say: those of a device are waited for
        _check_rows(level.total, len(values), "add up to")
        result: list[RowsT] = backend.split(values, level)
        return result
    has_rows = level.lengths > 0
    count = int(np.count_nonzero(has_rows))
    _check_rows(level.total + gap * (count + (count > 0)), len(values), f"and gaps of {gap} add up to")
    begins = level.offsets[:-1] + gap * np.cumsum(has_rows)
    return cast("list[RowsT]", backend.views(values, begins, begins + level.lengths))


@eager_only()
def unpad(padded: RowsT | Sequence[Any], lengths: Lengths, *, padding_side: str = "right") -> list[RowsT]:
    """Remove the padding of a rectangle's sequences. The inverse of `pad`.

    Parameters
    ----------
    padded
        (n, width, ...): an array of any strides, or a tensor.
    lengths
        The lengths of the first sequences, or of all: integers, a list of them, or a `Level`.
    padding_side
        "right" or "left": the side of the padding.

    Returns
    -------
    list
        An array (length, ...) for each length: views of `padded`.

    Raises
    ------
    IndexError
        There are more lengths than sequences.
    ValueError
        A length is negative or exceeds the width; the message names the sequence.

    Notes
    -----
    As Thinc's `Ops.unpad`, which cuts a larger length to the width.

    Examples
    --------
    >>> vl.ops.unpad(np.array([[1, 2, 0], [3, 4, 5]]), [2, 3])
    [array([1, 2]), array([3, 4, 5])]
    """
    backend = backend_of(padded)
    block = backend.as_array(padded, "padded")
    if block.ndim < 2:
        raise value_error("padded", f"expected (n, width, ...), got shape {tuple(block.shape)}")
    one_of(padding_side, "padding_side", ("left", "right"))
    level = as_level(lengths)
    n, width = block.shape[:2]
    if len(level) > n:
        raise index_error("lengths", f"there are {len(level)}, but padded has {n} sequences")
    counts = level.lengths
    i = first_longer(level, width)
    if i is not None:
        raise value_error(
            "lengths",
            f"sequence {i} has {counts[i]} rows, but padded is {width} wide",
            row=i,
            number=int(counts[i]),
        )
    begins = width - counts if padding_side == "left" else np.zeros(len(level), np.int64)
    ends = begins + counts
    if not backend.is_contiguous(block):
        result: list[RowsT] = [
            row[a:b] for row, a, b in zip(block, begins.tolist(), ends.tolist(), strict=False)
        ]
        return result
    starts = width * np.arange(len(level))
    return cast(
        "list[RowsT]",
        backend.views(block.reshape(n * width, *block.shape[2:]), starts + begins, starts + ends),
    )


def _check_rows(total: int, rows: int, what: str) -> None:
    if total != rows:
        raise value_error("lengths", f"{what} {total}, but X has {rows} rows")
