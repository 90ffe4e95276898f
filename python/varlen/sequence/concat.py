"""Join several inputs sequence by sequence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen._core import Level
from varlen.levels import flatten_levels, resolve_level
from varlen.ops.combine import check_rows, interleave, parts_of, require_same_nesting
from varlen.sequence.inputs import gradient_rows, select
from varlen.types import Ragged

if TYPE_CHECKING:
    from varlen.backends.values import RaggedT, SequencesLike


def sequence_concat(input: Iterable[RaggedT], name: str | None = None, *, level: int = -1) -> RaggedT:
    """Join the inputs sequence by sequence: sequence k of the result is sequence k of each, end to end.

    Parameters
    ----------
    input
        A list of `Ragged` with the same number of levels, and rows of one shape. Different dtypes are
        promoted.
    name
        Accepted for compatibility with Paddle, and ignored.
    level
        The level whose sequences grow: by rows at the innermost (-1), otherwise by whole sequences of the
        level below. All inputs must nest alike above it.

    Returns
    -------
    Ragged
        The joined sequences, with as many levels as the inputs; the levels above `level` are those of the
        first. The values are a copy.

    Raises
    ------
    TypeError
        `input` is not a list, or something in it is not a Ragged.
    ValueError
        The list is empty, or levels, rows or numbers of sequences do not fit; the message names the input.
    IndexError
        There is no such level.

    Notes
    -----
    As Paddle's `sequence_concat`, which takes one level and at least two inputs, each with rows. level=0
    merges two levels, as Paddle once designed it. level=k is `varlen.concatenate` with axis=k + 1.

    Examples
    --------
    >>> a, b = vl.Ragged([1, 2, 3, 4, 5], [3, 2]), vl.Ragged([6, 7, 8, 9], [2, 2])
    >>> vl.sequence_concat([a, b]).to_list()
    [[1, 2, 3, 6, 7], [4, 5, 8, 9]]
    >>> c, d = vl.Ragged.from_list([[[1], [2]], [[3]]]), vl.Ragged.from_list([[[4]], [[5], [6]]])
    >>> vl.sequence_concat([c, d], level=0).to_list()
    [[[1], [2], [4]], [[3], [5], [6]]]
    """
    parts, index = _parts(input, level)
    check_rows(parts, "input")
    return cast("RaggedT", interleave(parts, index, "input"))


def backprop_sequence_concat(
    dY: SequencesLike, input: Iterable[Any], *, level: int = -1
) -> list[Ragged[Any]]:
    """The gradient of `sequence_concat`: each input gets its part.

    Parameters
    ----------
    dY
        The gradient of the result of `sequence_concat`: a `Ragged`, or its rows.
    input, level
        The arguments of `sequence_concat`.

    Returns
    -------
    list of Ragged
        A gradient for each input, which nests as the input, of the dtype of dY.

    Examples
    --------
    >>> a, b = vl.Ragged([1.0, 2.0], [1, 1]), vl.Ragged([3.0], [0, 1])
    >>> [d.to_list() for d in vl.sequence.backprop_sequence_concat([5.0, 6.0, 7.0], [a, b])]
    [[[5.0], [6.0]], [[], [7.0]]]
    """
    parts, index = _parts(input, level)
    check_rows(parts, "input")
    stubs = [part._make(np.empty((part.total, 0), np.uint8), part.levels) for part in parts]
    result = interleave(stubs, index, "input")
    units = [flatten_levels(part.levels[index:]) for part in parts]
    d = gradient_rows(dY, result.total, result.levels, inner=tuple(parts[0].values.shape[1:]))
    lengths = np.stack([item.lengths for item in units], axis=1)
    pieces = Ragged._make(d, (Level.from_lengths(lengths.reshape(-1)),))
    n, k = lengths.shape
    rows = [select(pieces, 0, np.arange(p, n * k, k))[0] for p in range(k)]
    return [part._make(item, part.levels) for part, item in zip(parts, rows, strict=True)]


def _parts(input: object, level: int) -> tuple[list[Ragged[Any]], int]:
    """The inputs, which nest alike above a level, and its number."""
    parts = parts_of(input, "input")
    index = resolve_level(level, parts[0].levels)
    require_same_nesting(parts, index, "input")
    return parts, index
