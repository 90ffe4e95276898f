"""The order inside a record: ``--sort-by``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from varlen._core import Joint
from varlen.cli.conversion.words import Vocabularies
from varlen.errors import value_error

__all__ = ["sort_inside"]


def sort_inside(joint: Joint, names: Sequence[str], words: Vocabularies) -> Joint:
    """Each sequence sorted by the named keys, which have a value for each of its elements.

    Ties keep their order. Keys at several depths each sort their own depth. Words sort as text, NaN comes
    last.
    """
    by_dim: dict[int, list[str]] = {}
    for name in names:
        dim = joint.dim(name)
        if dim is None:
            raise value_error("--sort-by", f"no key {name!r}; there are {', '.join(joint.names)}")
        if dim == 0:
            raise value_error("--sort-by", f"{name!r} has one value a record, and records keep their order")
        if joint.values(name).ndim > 1:
            raise value_error("--sort-by", f"{name!r} has rows of {joint.values(name).shape[1:]} values")
        by_dim.setdefault(dim, []).append(name)
    for dim, keys in sorted(by_dim.items()):
        level = joint.level(dim)
        order = np.lexsort((*(_sortable(joint, key, words) for key in reversed(keys)), level.row_ids))
        if not np.array_equal(order, np.arange(len(order))):
            joint = _reorder(joint, dim, order)
    return joint


def _sortable(joint: Joint, key: str, words: Vocabularies) -> np.ndarray:
    values = joint.values(key)
    if key not in words:
        return values
    ranks = np.empty(len(words.words_of(key)), np.int64)
    ranks[np.argsort(np.array(words.words_of(key), object), kind="stable")] = np.arange(len(ranks))
    out: np.ndarray = ranks[values]
    return out


def _reorder(joint: Joint, dim: int, order: npt.NDArray[np.int64]) -> Joint:
    """The elements of level `dim`, with all that lies below them, in another order; their counts stay."""
    inner = [name for name in joint.names if (joint.dim(name) or 0) >= dim]
    dims = [(joint.dim(name) or 0) - dim for name in inner]
    levels = [joint.level(d) for d in range(1, joint.depth + 1)]
    part = Joint(inner, dims, [joint.values(name) for name in inner], levels[dim:], len(order)).take(order)
    new_levels = [*levels[:dim], *(part.level(d) for d in range(1, part.depth + 1))]
    values = [part.values(name) if name in inner else joint.values(name) for name in joint.names]
    return Joint(joint.names, joint.dims, values, new_levels, len(joint))
