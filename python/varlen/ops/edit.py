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
        (total,) integers, bools, bytes or texts, an array or a tensor; or a `Ragged` of these. They are
        compared by equality alone. Sequence by sequence, whatever their lengths.
    a_lengths, b_lengths
        (n,) integers, or a `Level`: how many rows each sequence of a, of b has; none beside a Ragged.
    normalize
        Divide by the length of the sequence of b: an error rate.
    counts
        Give the number of edits of each kind as well.
    level
        The level whose sequences are compared, with all that nests below them as one sequence; -1 is the
        innermost of a. The levels above it are kept, and b has the same.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        int64 (n,): the fewest substitutions, insertions and deletions that make a sequence of a from that of
        b. With `normalize` float64: a share of no rows is 0 for no edits, else inf. For more levels a Ragged
        of those above. With `counts` a pair of this and int64 (n, 3): substitutions, insertions (rows of a
        alone) and deletions (rows of b alone).

    Raises
    ------
    TypeError
        Values that are not integers, bytes or texts; texts on one side alone.
    ValueError
        Numbers of sequences that differ, levels above that differ, lengths that are negative or do not add
        up to the rows.
    IndexError
        There is no such level.

    See Also
    --------
    ctc_loss

    Notes
    -----
    As `tf.edit_distance(hypothesis, truth)`, whose `normalize` is True where nobody says so. Among the ways
    of fewest edits `counts` are those with the fewest substitutions. Distances take a step for each 64 rows
    of one side and each row of the other; counts one for each pair of rows. Values on a device are compared
    on the host.

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
