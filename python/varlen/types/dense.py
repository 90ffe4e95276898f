"""Rectangles and nested lists to a Ragged's parts, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.types.levels import Levels
from varlen.types.values import as_ints, as_values, host, is_tensor, like, like_bits

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from varlen.types.ragged import Ragged
    from varlen.types.values import Values

VIEWS = 4096  # views of sequences that are made in one call


def from_list(data: Any, dtype: DTypeLike | None = None) -> tuple[Values, Levels]:
    """Values and levels of nested lists; `Ragged.from_list`.

    Examples
    --------
    >>> from_list([[1, 2], []])
    (array([1, 2]), (Level(2 sequences, 2 rows, lengths 0 to 2),))
    """
    if _holds_tensors(data):
        from varlen.interop.torch import from_list as from_tensors

        return from_tensors(data, dtype)
    values, levels = _core.from_lists(data, -1, dtype, name="data")
    if not levels:
        raise ValueError(
            "data: expected lists inside a list, or arrays; for one level of numbers use Ragged()"
        )
    return values, tuple(levels)


def to_list(r: Ragged) -> list[Any]:
    """Nested lists; `Ragged.to_list`.

    Examples
    --------
    >>> to_list(vl.Ragged([1, 2], [0, 2]))
    [[], [1, 2]]
    """
    values = r.values
    if is_tensor(values):
        from varlen.interop.torch import readable

        values = readable(values)
    return _core.to_lists(values, r.levels)


def iterate(r: Ragged) -> Iterator[Any]:
    """The sequences of a Ragged, one after another, sharing memory.

    Examples
    --------
    >>> list(iterate(vl.Ragged([3, 1, 4], [2, 1])))
    [array([3, 1]), array([4])]
    """
    if len(r.levels) > 1 or is_tensor(r.values):
        return (r.row(i) for i in range(len(r)))
    return (row for at in range(0, len(r), VIEWS) for row in _views(r[at : at + VIEWS]))


def to_dense(
    r: Ragged,
    padding_side: str = "right",
    fill: Any = None,
    mask: bool = False,
    max_len: int | Sequence[int | None] | None = None,
    truncate: str = "right",
    out: Any = None,
    dtype: Any = None,
    pad_to_multiple: int = 1,
    max_bytes: int | None = None,
) -> Any:
    """A rectangle; `Ragged.to_dense`.

    Examples
    --------
    >>> block, mask = to_dense(vl.Ragged([1, 2, 3], [2, 1]), mask=True)
    >>> block
    array([[1, 2],
           [3, 0]])
    """
    depth = len(r.levels)
    most = [*_per_level(max_len, depth), *[None] * depth][:depth]
    if pad_to_multiple < 1:
        raise ValueError(f"pad_to_multiple: expected at least 1, got {pad_to_multiple}")
    values, row = r.values, fill
    if is_tensor(values):  # the core sees bits, and NumPy has no name for some of torch's dtypes
        values = r.astype(dtype).values if dtype is not None else values
        row, dtype = fill_row(values, fill), None
    made = _core.pad(
        host(values),
        r.levels,
        padding_side,
        truncate,
        None,
        most,
        [pad_to_multiple] * depth,
        row,
        mask,
        None if out is None else host(out),
        dtype,
        max_bytes=max_bytes,
    )
    block = made[0] if mask else made
    block = like_bits(block, values) if out is None else out
    return (block, like(made[1], values)) if mask else block


def fill_row(values: Values, fill: Any) -> NDArray[Any] | None:
    """What goes where no data is, as one row of the values' memory; None for zero bytes.

    Raises
    ------
    ValueError, OverflowError
        A fill that the dtype cannot hold, or of another shape than the rows.

    Examples
    --------
    >>> fill_row(np.zeros((3, 2), np.int8), -1)
    array([-1, -1], dtype=int8)
    """
    if fill is None:
        return None
    trailing = tuple(values.shape[1:])
    if is_tensor(values):
        from varlen.interop.torch import filled

        return filled(fill, values.dtype, trailing)
    given = np.asarray(fill)
    try:
        with np.errstate(all="ignore"):
            row = np.asarray(fill, values.dtype)
        held = values.dtype.kind not in "biu" or bool(np.all(row == given))
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"fill: {error}") from None
    if not held:
        raise ValueError(f"fill: {fill!r} is no {values.dtype}")
    try:
        return np.ascontiguousarray(np.broadcast_to(row, trailing))
    except ValueError:
        raise ValueError(f"fill: shape {row.shape} does not go with rows of shape {trailing}") from None


def from_dense(
    block: Any, lengths: Any = None, mask: Any = None, padding_side: str = "right", out: Any = None
) -> tuple[Values, Levels]:
    """Values and levels of a padded block; `Ragged.from_dense`.

    Examples
    --------
    >>> from_dense(np.array([[1, 2], [3, 0]]), [2, 1])[0]
    array([1, 2, 3])
    """
    values = as_values(block, "block")
    if values.ndim < 2:
        raise ValueError(f"block: expected (n, width, ...), got shape {tuple(values.shape)}")
    if padding_side not in ("left", "right"):
        raise ValueError(f"padding_side must be 'left' or 'right'; got {padding_side!r}")
    if (lengths is None) == (mask is None):
        raise TypeError("give exactly one of lengths and mask")
    n, width = values.shape[:2]
    if mask is not None:
        level = _core.mask_to_level(host(as_values(mask, "mask")), padding_side)
    else:
        level = lengths if isinstance(lengths, Level) else Level(as_ints(lengths))
    if len(level) != n:
        raise ValueError(f"lengths: {len(level)} of them for {n} rows")
    if level.longest > width:
        i = int((level.lengths > width).argmax())
        raise ValueError(f"lengths: row {i} has length {level.lengths[i]}, the block is {width} wide")
    rows = _core.unpad(host(values), level, padding_side, None if out is None else host(out))
    return like_bits(rows, values) if out is None else out, (level,)


def _per_level(max_len: int | Sequence[int | None] | None, depth: int) -> Sequence[int | None]:
    given = [max_len] if max_len is None or isinstance(max_len, int) else list(max_len)
    if len(given) > depth:
        raise ValueError(f"max_len: {len(given)} numbers for {depth} levels")
    for most in given:
        if most is not None and most < 0:
            raise ValueError(f"max_len: expected at least 0, got {most}")
    return given


def _views(r: Ragged) -> list[Any]:
    return _core.ragged2list(r.values, r.levels[0])


def _holds_tensors(data: Any) -> bool:
    while isinstance(data, (list, tuple)):
        data = next((x for x in data if not isinstance(x, (list, tuple)) or len(x)), None)
    return is_tensor(data)
