"""Several containers to one, and one to several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.types.arguments import listed, whole
from varlen.types.levels import composed, each_level
from varlen.types.ragged import Ragged
from varlen.types.values import host, is_tensor, like, like_bits


def concatenate(raggeds: Iterable[Ragged], axis: int = 0) -> Ragged:
    """One after another: their sequences (axis 0), or the rows inside each sequence (axis 1).

    Parameters
    ----------
    raggeds
        At least one Ragged; all with as many levels and with rows of one shape. Dtypes that differ are
        promoted as NumPy's are.
    axis
        0: n sequences and m sequences make n + m. 1: sequence i is all their sequences i, end to end; they
        have as many sequences.

    Raises
    ------
    TypeError
        Something that is no Ragged.
    ValueError
        Nothing to concatenate; levels, rows or numbers of sequences that do not fit: which part is named.

    Examples
    --------
    >>> a, b = vl.Ragged([3, 1, 4], [2, 1]), vl.Ragged([1, 5], [0, 2])
    >>> vl.concatenate([a, b]).to_list(), vl.concatenate([a, b], axis=1).to_list()
    ([[3, 1], [4], [], [1, 5]], [[3, 1], [4, 1, 5]])
    """
    parts = _parts(raggeds)
    if axis in (0, -parts[0].ndim):
        return _one_after_another(parts)
    if axis not in (1, 1 - parts[0].ndim):
        raise ValueError(f"axis: expected 0 or 1, got {axis}")
    for p, part in enumerate(parts):
        if len(part) != len(parts[0]):
            raise ValueError(f"raggeds: part {p} has {len(part)} sequences, the first has {len(parts[0])}")
    return _woven(parts)


def stack(raggeds: Iterable[Ragged]) -> Ragged:
    """One after another under a new outermost level: each part becomes one sequence of it.

    Examples
    --------
    >>> vl.types.stack([vl.Ragged([3, 1, 4], [2, 1]), vl.Ragged([1], [1])]).to_list()
    [[[3, 1], [4]], [[1]]]
    """
    parts = _parts(raggeds)
    inner = _one_after_another(parts)
    return inner._make(inner.values, (Level([len(part) for part in parts]), *inner.levels))


def split(ragged: Ragged, sizes: int | Sequence[int] | Any) -> list[Ragged]:
    """Consecutive pieces that share values: `sizes` sequences in each, or sizes[k] in piece k.

    Parameters
    ----------
    sizes
        A number, where the last piece may be shorter, or numbers that add up to len(ragged).

    Raises
    ------
    ValueError
        Sizes below 0 (below 1 for a number), or that add up to something else.

    Examples
    --------
    >>> [len(piece) for piece in vl.split(vl.Ragged([3, 1, 4], [1, 1, 1]), 2)]
    [2, 1]
    """
    n = len(ragged)
    if np.ndim(sizes) == 0:
        cuts = [*range(0, n, whole(sizes, "sizes", 1)), n] if n else [0]
    else:
        (level,) = each_level([sizes], Level, "sizes")
        if level.total != n:
            raise ValueError(f"sizes: they add up to {level.total}, but there are {n} sequences")
        cuts = level.offsets.tolist()
    return [ragged[a:b] for a, b in pairwise(cuts)]


def _parts(raggeds: Iterable[Ragged]) -> list[Ragged]:
    if isinstance(raggeds, Ragged):
        raise TypeError("raggeds: expected a list of Ragged, got one Ragged")
    parts = listed(raggeds, "raggeds", "Ragged")
    if not parts:
        raise ValueError("raggeds: there is nothing to concatenate")
    for p, part in enumerate(parts):
        if not isinstance(part, Ragged):
            raise TypeError(f"raggeds: part {p} is no Ragged but {type(part).__name__}")
        if len(part.levels) != len(parts[0].levels):
            raise ValueError(
                f"raggeds: part {p} has {len(part.levels)} levels, the first has {len(parts[0].levels)}"
            )
        if part.values.shape[1:] != parts[0].values.shape[1:]:
            raise ValueError(
                f"raggeds: part {p} has rows of shape {tuple(part.values.shape[1:])}, "
                f"the first has {tuple(parts[0].values.shape[1:])}"
            )
    return parts


def _one_after_another(parts: list[Ragged]) -> Ragged:
    levels = tuple(_core.concat_levels(list(each)) for each in zip(*(r.levels for r in parts), strict=True))
    values: list[Any] = [part.values for part in parts]
    if any(is_tensor(x) for x in values):
        from varlen.interop.torch import concat

        return parts[0]._make(concat(values), levels)
    return parts[0]._make(_core.concat([host(x) for x in _of_one_dtype(values)]), levels)


def _woven(parts: list[Ragged]) -> Ragged:
    """Sequence i of every part, end to end."""
    values: list[Any] = [part.values for part in parts]
    over = [composed(part.levels) for part in parts]
    if any(is_tensor(x) for x in values):
        rows, level = _woven_tensors(values, over)
    else:
        rows, level = _core.weave(_of_one_dtype(values), over)
    if len(parts[0].levels) == 1:
        return parts[0]._make(rows, (level,))
    made = []
    for d in range(1, len(parts[0].levels)):
        above = [composed(part.levels[:d]) for part in parts]
        lengths, _ = _core.weave([part.levels[d].lengths for part in parts], above)
        made.append(Level.from_lengths(lengths))
    outer = Level.from_offsets(np.sum([part.offsets for part in parts], axis=0))
    return parts[0]._make(rows, (outer, *made))


def _woven_tensors(values: list[Any], over: list[Level]) -> tuple[Any, Level]:
    first = next(x for x in values if is_tensor(x))
    if all(is_tensor(x) and _is_plain(x) and x.dtype == first.dtype for x in values):
        rows, level = _core.weave([host(x) for x in values], over)
        return like_bits(rows, first), level
    from varlen.interop.torch import concat

    ends = np.cumsum([0, *(len(x) for x in values)])
    index, level = _core.weave([np.arange(a, b) for a, b in pairwise(ends)], over)
    rows = concat(values)
    return rows[like(index, rows)], level


def _is_plain(x: Any) -> bool:
    """Whether the memory of a tensor can be read by the core, and nobody watches."""
    return bool(x.device.type == "cpu" and not x.requires_grad)


def _of_one_dtype(values: list[Any]) -> list[Any]:
    if all(x.dtype is values[0].dtype for x in values):
        return values
    try:
        dtype = np.result_type(*{x.dtype for x in values})
    except TypeError:
        each = " and ".join(dict.fromkeys(str(x.dtype) for x in values))
        raise TypeError(f"raggeds: no dtype holds {each}") from None
    return [x.astype(dtype, copy=False) for x in values]
