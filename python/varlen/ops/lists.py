"""Lists of arrays to one array, padded or end to end, and back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from varlen import _core
from varlen._core import RaggedBase
from varlen.backends.values import from_memory, is_tensor, like, memory_of
from varlen.ops.outputs import new_ragged, ragged_class

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from varlen.types import Ragged

_list2dense = _core.list2dense
_list2ragged = _core.list2ragged
_make = new_ragged


def _are_tensors(arrays: Any) -> bool:
    """Whether torch tensors were given; judged by the first, because this is on every call."""
    first = arrays[0] if isinstance(arrays, (list, tuple)) and arrays else None
    return first.__class__ is not ndarray and is_tensor(first)


def pad(
    arrays: Sequence[Any],
    round_to: int = 1,
    *,
    fill: Any = 0,
    padding_side: str = "right",
    max_len: int | None = None,
    truncate: str = "right",
    mask: bool = False,
    out: Any = None,
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
        (n, width or more, ...) of the dtype, C-contiguous: filled and given back. What is wider is padded.
    dtype
        Of the result. Every number is checked, none wraps.
    max_bytes
        Refuse a result larger than this; half of the machine's memory by default.

    Returns
    -------
    numpy.ndarray or tuple
        (n, width, ...), or that and the mask. Torch tensors for a list of tensors.

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
    if _are_tensors(arrays):
        result = _pad_tensors(arrays, round_to, fill, padding_side, max_len, truncate, dtype, max_bytes)
        if out is not None:
            if not is_tensor(out) or (out.shape, out.dtype) != (result[0].shape, result[0].dtype):
                needed = f"{result[0].dtype}{tuple(result[0].shape)}"
                got = f"{out.dtype}{tuple(out.shape)}" if hasattr(out, "dtype") else type(out).__name__
                raise (ValueError if is_tensor(out) else TypeError)(f"out: needs {needed}, got {got}")
            out.copy_(result[0])
            result = out, result[1]
        return result if mask else result[0]
    return _list2dense(arrays, round_to, fill, padding_side, max_len, truncate, mask, out, dtype, max_bytes)


def _is_plain(tensor: Any, dtype: Any) -> bool:
    """Whether it is memory on the host that nobody watches."""
    return (
        is_tensor(tensor)
        and tensor.dtype == dtype
        and tensor.device.type == "cpu"
        and not tensor.requires_grad
    )


def _pad_tensors(
    tensors: Sequence[Any],
    round_to: int,
    fill: Any,
    padding_side: str,
    max_len: int | None,
    truncate: str,
    dtype: Any,
    max_bytes: int | None,
) -> tuple[Any, Any]:
    """The rectangle and its mask: by the core, unless autograd watches or a device holds the tensors."""
    from varlen.backends.torch.memory import filled

    first = tensors[0]
    if dtype is None and all(_is_plain(tensor, first.dtype) for tensor in tensors):
        fill = filled(fill, first.dtype, ()) if fill else 0
        arrays = [memory_of(t) for t in tensors]
        block, there = _list2dense(
            arrays, round_to, fill, padding_side, max_len, truncate, True, None, None, max_bytes
        )
        return from_memory(block, first), like(there, first)
    values, levels = (ragged := ragged_class().from_list(tensors, dtype)).values, ragged.levels
    numbers = _core.ragged2list(np.arange(len(values)), levels)
    limit = None if max_bytes is None else max_bytes * 8 // max(1, values.element_size() * values[:1].numel())
    rows, there = _list2dense(numbers, round_to, 0, padding_side, max_len, truncate, True, None, None, limit)
    mask = like(there, values)
    if len(values) == 0:
        return values.new_full((*rows.shape, *values.shape[1:]), fill), mask
    block = values[like(rows, values)]
    block[~mask] = fill
    return block, mask


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
    (array([3, 1, 4, 1, 5]), array([3, 2], dtype=int32))
    """
    if out is None and _are_tensors(arrays):
        result: Ragged = ragged_class().from_list(arrays, dtype)
        return result
    values, level = _list2ragged(arrays, dtype, out)
    return _make(values, (level,))


def ragged2list(ragged: Ragged) -> list[Any]:
    """Each sequence as a view of the values; lists of lists of views where there is more than one level.

    Examples
    --------
    >>> vl.ops.ragged2list(vl.Ragged([3, 1, 4, 1, 5], lengths=[3, 0, 2]))
    [array([3, 1, 4]), array([], dtype=int64), array([1, 5])]
    """
    if not isinstance(ragged, RaggedBase):
        raise TypeError(f"ragged: expected a Ragged, got {type(ragged).__name__}")
    values = ragged.values
    if is_tensor(values):
        rows = list(values.split(ragged.levels[-1].lengths.tolist()))
        for level in reversed(ragged.levels[:-1]):
            ends = level.offsets.tolist()
            rows = [rows[a:b] for a, b in pairwise(ends)]
        return rows
    return _core.ragged2list(values, ragged.levels)
