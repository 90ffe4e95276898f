"""Rectangles and nested lists to a Ragged's parts, and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.backends.values import as_values, is_tensor, memory_of
from varlen.levels import Levels, check_levels, each_level

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from varlen.backends.values import Values
    from varlen.types.ragged import Ragged

VIEWS = 4096  # views of sequences that are made in one call


def from_list(data: Any, dtype: DTypeLike | None = None) -> tuple[Values, Levels]:
    """Values and levels of nested lists; `Ragged.from_list`.

    Examples
    --------
    >>> from_list([[1, 2], []])
    (array([1, 2]), (Level(2 sequences, 2 rows, lengths 0 to 2),))
    """
    if isinstance(data, (list, tuple)):
        _core.refuse_cycles(data, "data")
    if _holds_tensors(data):
        from varlen.backends.torch.memory import from_list as from_tensors

        return from_tensors(data, dtype)
    values, levels = _core.from_lists(data, -1, dtype, name="data")
    if not levels and len(data) == 0:
        return values, (Level([]),)
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
        from varlen.backends.torch.memory import readable

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
    dense = block if type(block) is np.ndarray else as_values(block, "block")
    levels: Levels
    if mask is not None:
        there = as_values(mask, "mask")
        if tuple(there.shape) != tuple(dense.shape[:2]):
            raise ValueError(f"mask: has shape {tuple(there.shape)}, the block {tuple(dense.shape)}")
        levels = (_core.mask_to_level(memory_of(there), padding_side),)
    else:
        levels = each_level(lengths, Level.from_lengths, "lengths")
        check_levels(levels[-1].total, levels, "lengths")
    if isinstance(dense, np.ndarray):
        return _core.unpad(dense, levels, padding_side, out), levels
    from varlen.backends.torch.memory import unpad

    return unpad(dense, levels, padding_side, out), levels


def _views(r: Ragged) -> list[Any]:
    return _core.ragged2list(r.values, r.levels[0])


def _holds_tensors(data: Any) -> bool:
    while isinstance(data, (list, tuple)):
        data = next((x for x in data if not isinstance(x, (list, tuple)) or len(x)), None)
    return is_tensor(data)
