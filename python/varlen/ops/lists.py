"""Lists of arrays to one array, padded or end to end, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from varlen import _core
from varlen.types.ragged import Ragged

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

_list2dense = _core.list2dense
_list2ragged = _core.list2ragged
_make = Ragged._make


def pad(
    arrays: Sequence[Any],
    round_to: int = 1,
    *,
    fill: Any = 0,
    padding_side: str = "right",
    max_len: int | None = None,
    truncate: str = "right",
    mask: bool = False,
    out: NDArray[Any] | None = None,
    dtype: DTypeLike | None = None,
    max_bytes: int | None = None,
) -> Any:
    """Arrays of different lengths as one rectangle.

    Parameters
    ----------
    arrays
        n arrays, (length, ...), or what `np.asarray` makes arrays of. Only their lengths may differ; dtypes
        are promoted as NumPy does. No arrays give a rectangle of shape (0, 0).
    round_to
        The width is the longest length, rounded up to a multiple of this.
    fill
        What stands where no data is: a number, or an array that broadcasts to one row.
    padding_side
        "right" or "left": where the padding goes.
    max_len
        Sequences are cut to this many rows.
    truncate
        Which end a sequence that is too long loses: "right" keeps its beginning, "left" its end.
    mask
        Also give a bool (n, width), True where data is.
    out
        (n, width or more, ...) of the dtype, C-contiguous: filled and given back. Padding fills the rest.
    dtype
        Of the result. Every number is checked, none wraps.
    max_bytes
        Refuse a result larger than this.

    Returns
    -------
    numpy.ndarray or tuple
        (n, width, ...), or that and the mask.

    Raises
    ------
    TypeError
        Not a list of arrays, arrays of Python objects, dtypes without a common one.
    ValueError
        Arrays that differ in more than their length (the text names the array), a bad option, `out` of
        another shape, a result over max_bytes.
    OverflowError
        A number or the fill does not fit the dtype; a size does not fit 63 bits.

    Notes
    -----
    With `round_to` in second place, as Thinc's `Ops.pad` has it.

    Examples
    --------
    >>> vl.ops.pad([np.array([3, 1, 4]), np.array([1, 5])], padding_side="left", fill=-1)
    array([[ 3,  1,  4],
           [-1,  1,  5]])
    >>> dense, mask = vl.ops.pad([[1], [2, 3]], 4, mask=True)
    >>> dense.shape, mask.sum()
    ((2, 4), np.int64(3))
    """
    return _list2dense(arrays, round_to, fill, padding_side, max_len, truncate, mask, out, dtype, max_bytes)


def list2ragged(
    arrays: Sequence[Any], *, dtype: DTypeLike | None = None, out: NDArray[Any] | None = None
) -> Ragged:
    """Arrays laid end to end on their first axis, as a `Ragged`.

    Parameters
    ----------
    arrays
        n arrays, (length, ...), or what `np.asarray` makes arrays of. Only their lengths may differ; dtypes
        are promoted as NumPy does.
    dtype
        Of the values. Every number is checked, none wraps.
    out
        (total, ...) of the dtype, C-contiguous: becomes the values.

    Returns
    -------
    Ragged
        One level, n sequences. The values are a copy.

    Raises
    ------
    TypeError
        Not a list of arrays, arrays of Python objects, dtypes without a common one.
    ValueError
        Arrays that differ in more than their length; the text names the array.
    OverflowError
        A number does not fit the dtype.

    Examples
    --------
    >>> r = vl.ops.list2ragged([np.array([3, 1, 4]), np.array([1, 5])])
    >>> r.values, r.lengths
    (array([3, 1, 4, 1, 5]), array([3, 2]))
    """
    values, level = _list2ragged(arrays, dtype, out)
    return _make(values, (level,))


def ragged2list(ragged: Ragged) -> list[Any]:
    """Each sequence as a view of the values; lists of lists of views where there is more than one level.

    Raises
    ------
    TypeError
        The values are not a NumPy array.

    Examples
    --------
    >>> vl.ops.ragged2list(vl.Ragged([3, 1, 4, 1, 5], lengths=[3, 0, 2]))
    [array([3, 1, 4]), array([], dtype=int64), array([1, 5])]
    """
    return _core.ragged2list(ragged.values, ragged.levels)
