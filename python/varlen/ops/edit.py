"""How far sequences are from each other, counted in edits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from varlen.arguments import as_bool
from varlen.backends import backend_of
from varlen.errors import name_argument
from varlen.levels import check_nest
from varlen.ops.reduce import wrap_units
from varlen.ops.support.inputs import units_of
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from varlen.backends.values import Lengths, Rows, SequencesLike


@overload
def edit_distance(
    a: SequencesLike, b: SequencesLike, a_lengths: Lengths | None = None, b_lengths: Lengths | None = None, *,
    normalize: bool = False, counts: Literal[False] = False, level: int = -1,
) -> Rows: ...  # fmt: skip
@overload
def edit_distance(
    a: SequencesLike, b: SequencesLike, a_lengths: Lengths | None = None, b_lengths: Lengths | None = None, *,
    normalize: bool = False, counts: Literal[True], level: int = -1,
) -> tuple[Rows, Rows]: ...  # fmt: skip
@overload
def edit_distance(
    a: SequencesLike, b: SequencesLike, a_lengths: Lengths | None = None, b_lengths: Lengths | None = None, *,
    normalize: bool = False, counts: bool, level: int = -1,
) -> Rows | tuple[Rows, Rows]: ...  # fmt: skip
@eager_only()
def edit_distance(
    a: Any,
    b: Any,
    a_lengths: Lengths | None = None,
    b_lengths: Lengths | None = None,
    *,
    normalize: bool = False,
    counts: bool = False,
    level: int = -1,
) -> Rows | tuple[Rows, Rows]:
    """The edit distance (Levenshtein) between each hypothesis in `a` and its reference in `b`.

    Parameters
    ----------
    a, b
        (total,) integers, bools, bytes or texts, an array or a tensor; or a `Ragged` of these. Values are
        compared by equality alone, sequence by sequence.
    a_lengths, b_lengths
        (n,) integers, or a `Level`: the lengths of the sequences; omit them with a Ragged.
    normalize
        If True, divide by the length of the sequence in b, which gives an error rate.
    counts
        If True, also return the number of edits of each kind.
    level
        The level of a whose sequences are compared; levels below it are merged. -1 is the innermost. The
        levels above are kept, and b has the same.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        The distances, int64 (n,): the fewest substitutions, insertions and deletions that turn a sequence of
        b into that of a. For more levels a Ragged of those above. With `normalize` float64; for an empty
        reference, 0 if there are no edits, else inf. With `counts` a pair: the distances, and int64 (n, 3)
        with the substitutions, insertions (rows of a alone) and deletions (rows of b alone).

    Raises
    ------
    TypeError
        The values are not integers, bytes or text, or only one side is text.
    ValueError
        The numbers of sequences or the levels above differ, or lengths are negative or do not add up to the
        rows.
    IndexError
        There is no such level.

    See Also
    --------
    ctc_loss

    Notes
    -----
    As `tf.edit_distance(hypothesis, truth)`, whose `normalize` is True by default. If several edit paths are
    shortest, `counts` are those of the path with the fewest substitutions. Distances take a step for each 64
    rows of one side and each row of the other; counts take one for each pair of rows. Values on a device are
    compared on the host.

    Examples
    --------
    >>> a, b = vl.Ragged([3, 1, 4, 1], [3, 1]), vl.Ragged([3, 4, 4, 1, 5], [3, 2])
    >>> vl.ops.edit_distance(a, b)
    array([1, 1])
    >>> words = vl.Ragged(np.array("a cat sat".split()), [3, 0])
    >>> truth = vl.Ragged(np.array("the cat sat down up".split()), [4, 1])
    >>> vl.ops.edit_distance(words, truth, normalize=True, counts=True)
    (array([0.5, 1. ]), array([[1, 0, 1],
           [0, 0, 1]]))
    """
    by_share, with_counts = as_bool(normalize, "normalize"), as_bool(counts, "counts")
    try:
        rows, units, outer_levels = units_of(a, a_lengths, level, "a")
    except Exception as error:
        raise name_argument(error, lengths="a_lengths") from None
    try:
        others, other_units, other_levels = units_of(b, b_lengths, len(outer_levels), "b")
    except Exception as error:
        raise name_argument(error, lengths="b_lengths") from None
    if isinstance(rows, np.ndarray):
        others = backend_of(others).readable(others)
    check_nest(other_levels, outer_levels, "b")
    distances, kinds = backend_of(rows).edit_distance(rows, units, others, other_units, by_share, with_counts)
    distances = wrap_units(a, distances, outer_levels)
    return (distances, wrap_units(a, kinds, outer_levels)) if with_counts else distances
