"""Lists of arrays to one array, padded or end to end, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from varlen._core import RaggedBase
from varlen.arguments import as_int, check_output, overflow_of_multiple
from varlen.backends import backend_of
from varlen.backends.values import device_of, is_array
from varlen.errors import instance_error, value_error
from varlen.ops.support.outputs import new_ragged
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from varlen.backends.table import Backend
    from varlen.backends.values import ArrayT, Output, Rows, RowsLike, RowsT, SequencesLike
    from varlen.types import Ragged


def _backend_of(arrays: SequencesLike) -> Backend:
    """The backend of a list of arrays; judged by the first, because this is on every call."""
    return backend_of(arrays[0] if isinstance(arrays, (list, tuple)) and arrays else None)


def _error_of(error: TypeError, arrays: Any) -> Exception:
    """An error of arrays that cannot be read on the host: the first that lies elsewhere is named."""
    is_list = isinstance(arrays, (list, tuple)) and len(arrays) > 0
    for i, x in enumerate(arrays) if is_list and isinstance(arrays[0], np.ndarray) else ():
        where = device_of(x) if is_array(x) else "cpu"
        if where != "cpu":
            return value_error(
                "arrays", f"array {i} is on {where}, the first on cpu", "move one of them there", row=i
            )
    return error


@overload
def pad(
    arrays: Sequence[RowsT] | Sequence[Sequence[Any]], pad_to_multiple_of: int = 1, *, fill: RowsLike = 0,
    padding_side: str = "right", max_len: int | None = None, truncate: str = "right",
    mask: Literal[False] = False, out: Output | None = None, dtype: DTypeLike | None = None,
    max_bytes: int | None = None,
) -> RowsT: ...  # fmt: skip
@overload
def pad(
    arrays: Sequence[RowsT] | Sequence[Sequence[Any]], pad_to_multiple_of: int = 1, *, fill: RowsLike = 0,
    padding_side: str = "right", max_len: int | None = None, truncate: str = "right", mask: Literal[True],
    out: Output | None = None, dtype: DTypeLike | None = None, max_bytes: int | None = None,
) -> tuple[RowsT, RowsT]: ...  # fmt: skip
@overload
def pad(
    arrays: Sequence[RowsT] | Sequence[Sequence[Any]], pad_to_multiple_of: int = 1, *, fill: RowsLike = 0,
    padding_side: str = "right", max_len: int | None = None, truncate: str = "right", mask: bool,
    out: Output | None = None, dtype: DTypeLike | None = None, max_bytes: int | None = None,
) -> Rows | tuple[Rows, Rows]: ...  # fmt: skip
@eager_only()
def pad(
    arrays: Sequence[Any],
    pad_to_multiple_of: int = 1,
    *,
    fill: RowsLike = 0,
    padding_side: str = "right",
    max_len: int | None = None,
    truncate: str = "right",
    mask: bool = False,
    out: Output | None = None,
    dtype: DTypeLike | None = None,
    max_bytes: int | None = None,
) -> Rows | tuple[Rows, Rows]:
    """Pad arrays of different lengths to one rectangle.

    Parameters
    ----------
    arrays
        n arrays, (length, ...), or what `np.asarray` makes arrays of. Only their lengths may differ; dtypes
        are promoted as NumPy does. No arrays give a rectangle of shape (0, 0).
    pad_to_multiple_of
        The width is the longest length, rounded up to a multiple of this.
    fill
        The fill value: a number, or an array that broadcasts to one row.
    padding_side
        "right" or "left": where the padding goes.
    max_len
        Sequences are cut to this many rows.
    truncate
        The end that too long sequences lose: "right" keeps the beginning, "left" the end.
    mask
        If True, also return a mask, bool (n, width), True where data is present.
    out
        (n, width or more, ...) of the dtype, C-contiguous: filled and returned. Extra width is padded.
    dtype
        The dtype of the result. Every number is checked, none wraps.
    max_bytes
        Refuse a result larger than this; half of the machine's memory by default.

    Returns
    -------
    numpy.ndarray or tuple
        The rectangle (n, width, ...), or a tuple of it and the mask. Tensors for a list of tensors.

    Raises
    ------
    TypeError
        The argument is not a list of arrays, an array holds Python objects, or the dtypes have no common one.
    ValueError
        Arrays differ in more than their length (the message names the array), an option is wrong, `out` has
        another shape, or the result exceeds max_bytes.
    OverflowError
        A number or the fill does not fit the dtype; a size does not fit 63 bits.

    Notes
    -----
    As Thinc's `Ops.pad`, which calls its second argument `round_to`.

    Examples
    --------
    >>> vl.ops.pad([np.array([3, 1, 4]), np.array([1, 5])], padding_side="left", fill=-1)
    array([[ 3,  1,  4],
           [-1,  1,  5]])
    >>> dense, mask = vl.ops.pad([[1], [2, 3]], 4, mask=True)
    >>> dense.shape, mask.sum()
    ((2, 4), np.int64(3))
    """
    if out is not None and type(out) is not np.ndarray:  # the core checks arrays
        check_output(out, arrays)
    if type(pad_to_multiple_of) is not int or not 1 <= pad_to_multiple_of < 2**62:
        as_int(pad_to_multiple_of, "pad_to_multiple_of", 1)
    try:
        return _backend_of(arrays).list2dense(
            arrays, pad_to_multiple_of, fill, padding_side, max_len, truncate, mask, out, dtype, max_bytes
        )
    except TypeError as error:
        raise _error_of(error, arrays) from None
    except OverflowError as error:
        raise (error if pad_to_multiple_of == 1 else overflow_of_multiple(error)) from None


@eager_only()
def list2ragged(
    arrays: Sequence[RowsT] | Sequence[Sequence[Any]],
    *,
    dtype: DTypeLike | None = None,
    out: RowsT | None = None,
) -> Ragged[RowsT]:
    """Lay arrays end to end on their first axis, as a `Ragged`.

    Parameters
    ----------
    arrays
        n arrays, (length, ...), or what `np.asarray` makes arrays of. Only their lengths may differ; dtypes
        are promoted as NumPy does.
    dtype
        The dtype of the values. Every number is checked, none wraps.
    out
        (total, ...) of the dtype, C-contiguous: an array that becomes the values.

    Returns
    -------
    Ragged
        A Ragged of one level, with n sequences. The values are a copy.

    Raises
    ------
    TypeError
        The argument is not a list of arrays, an array holds Python objects, or the dtypes have no common one.
    ValueError
        Arrays differ in more than their length; the message names the array.
    OverflowError
        A number does not fit the dtype.

    Examples
    --------
    >>> r = vl.ops.list2ragged([np.array([3, 1, 4]), np.array([1, 5])])
    >>> r.values, r.lengths
    (array([3, 1, 4, 1, 5]), array([3, 2]))
    """
    if out is not None and type(out) is not np.ndarray:  # the core checks arrays
        check_output(out, arrays)
    try:
        return new_ragged(*_backend_of(arrays).list2ragged(arrays, dtype, out))
    except TypeError as error:
        raise _error_of(error, arrays) from None


@eager_only()
def ragged2list(ragged: RaggedBase[ArrayT]) -> list[ArrayT | Any]:
    """Return each sequence as a view of the values.

    Parameters
    ----------
    ragged
        A `Ragged` of any depth and dtype.

    Returns
    -------
    list
        A view (length, ...) for each sequence; nested lists of views if there are several levels.

    Raises
    ------
    TypeError
        The argument is not a Ragged.

    Examples
    --------
    >>> vl.ops.ragged2list(vl.Ragged([3, 1, 4, 1, 5], lengths=[3, 0, 2]))
    [array([3, 1, 4]), array([], dtype=int64), array([1, 5])]
    """
    if not isinstance(ragged, RaggedBase):
        raise instance_error("ragged", "a Ragged", ragged)
    values, levels = ragged._values, ragged._levels
    return backend_of(values).ragged2list(values, levels)
