"""To Thinc's classes, and from whichever of them it is. Thinc is imported when something becomes its own."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.backends.values import memory_of
from varlen.types import Padded, Pairs, Ragged
from varlen.types.padded import one_level

if TYPE_CHECKING:
    from numpy.typing import NDArray


def ragged(r: Any) -> Any:
    """`Ragged.to_thinc`.

    Examples
    --------
    >>> ragged(vl.Ragged([[3.0], [1.0]], [0, 2])).lengths  # doctest: +SKIP
    array([0, 2], dtype=int32)
    """
    level = one_level(r)
    return _thinc().Ragged(_array(r.values), level.lengths32.copy())  # its kernels take writable lengths only


def padded(p: Any) -> Any:
    """`Padded.to_thinc`.

    Examples
    --------
    >>> padded(vl.Padded.from_list([[[1.0]], [[2.0]]])).lengths  # doctest: +SKIP
    array([1, 1], dtype=int32)
    """
    return _thinc().Padded(_array(p.data), p.size_at_t.copy(), p.lengths.copy(), p.indices.copy())


def pairs(both: Any) -> Any:
    """`Pairs.to_thinc`.

    Examples
    --------
    >>> pairs(vl.Pairs([3, 1], [4, 1])).one  # doctest: +SKIP
    [3, 1]
    """
    parts = (part.to_thinc() if hasattr(part, "to_thinc") else part for part in (both.one, both.two))
    return _thinc().Pairs(*parts)


def from_any(x: Any) -> Any:
    """What was given of Thinc's as varlen's; what is neither stays.

    Examples
    --------
    >>> from_any([3, 1])
    [3, 1]
    """
    kinds = {Ragged: ("dataXd", "lengths"), Padded: ("size_at_t", "indices"), Pairs: ("one", "two")}
    for kind, fields in kinds.items():
        if isinstance(x, kind):
            return x
        if all(hasattr(x, field) for field in fields):
            return kind.from_thinc(x)  # type: ignore[attr-defined]
    return x


def _thinc() -> Any:
    return importlib.import_module("thinc.types")


def _array(values: Any) -> NDArray[Any]:
    if not isinstance(values, np.ndarray) and values.requires_grad:
        raise TypeError("values: a tensor that wants gradients is no array for Thinc; detach it first")
    return memory_of(values)
