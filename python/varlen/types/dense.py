"""Rectangles and nested lists to a Ragged's parts, and back."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.types.levels import Levels, each_level
from varlen.types.values import as_values, host, is_tensor, through

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
    if pad_to_multiple < 1:
        raise ValueError(f"pad_to_multiple: expected at least 1, got {pad_to_multiple}")
    most = [*_per_level(max_len, depth), *[None] * depth][:depth]
    options: dict[str, Any] = {
        "max_sizes": most,
        "multiple_of": [pad_to_multiple] * depth,
        "max_bytes": max_bytes,
    }
    options |= {"padding_side": padding_side, "truncate": truncate, "mask": mask}
    if is_tensor(r.values):
        from varlen.interop.torch import pad

        return pad(r.values, r.levels, fill, out, dtype, options)
    return _core.pad(r.values, r.levels, fill=fill, out=out, dtype=dtype, **options)


def from_dense(
    block: Any, lengths: Any = None, mask: Any = None, padding_side: str = "right", out: Any = None
) -> tuple[Values, Levels]:
    """Values and levels of a padded block; `Ragged.from_dense`.

    Examples
    --------
    >>> from_dense(np.array([[1, 2], [3, 0]]), [2, 1])[0]
    array([1, 2, 3])
    """
    if (lengths is None) == (mask is None):
        raise TypeError("give exactly one of lengths and mask")
    dense = as_values(block, "block")
    levels: Levels
    if mask is None:
        levels = tuple(each_level(lengths, Level.from_lengths, "lengths"))
    else:
        levels = (_core.mask_to_level(host(as_values(mask, "mask")), padding_side),)
    shape, depth = tuple(dense.shape), len(levels)
    if len(shape) < depth + 1:
        raise ValueError(f"block: expected (n, width, ...) for {depth} levels, got shape {shape}")
    if len(levels[0]) != shape[0]:
        raise ValueError(f"lengths: {len(levels[0])} of them for {shape[0]} rows")
    for level, width in zip(levels, shape[1:], strict=False):
        if level.longest > width:
            i = int((level.lengths > width).argmax())
            raise ValueError(f"lengths: row {i} has length {level.lengths[i]}, the block is {width} wide")
    slots, trailing = shape[: depth + 1], shape[depth + 1 :]
    into = None if out is None else host(out)

    def unpad(rows: NDArray[Any]) -> tuple[NDArray[Any], None]:
        return _core.unpad(rows.reshape(*slots, *rows.shape[1:]), levels, padding_side, into), None

    values, _ = through(dense.reshape(math.prod(slots), *trailing), unpad)
    return (values if out is None else out), levels


def _per_level(max_len: int | Sequence[int | None] | None, depth: int) -> Sequence[int | None]:
    given = [max_len] if max_len is None or isinstance(max_len, (int, np.integer)) else list(max_len)
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
