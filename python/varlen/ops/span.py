"""Parts of sequences that are named: spans taken out, rows put in, pieces aligned; and the ways back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from varlen import _core
from varlen._core import Level, RaggedBase
from varlen.arguments import as_ints
from varlen.backends import backend_of
from varlen.backends.values import as_values
from varlen.errors import instance_error, type_error, value_error
from varlen.levels import Levels, check_nest
from varlen.ops.support.inputs import as_level, rows_and_sequences
from varlen.ops.support.outputs import ragged_like
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from varlen.backends.values import Lengths, RaggedT, Rows, RowsT, SameT, SequencesLike, Values
    from varlen.types import Ragged


@overload
def spans(
    X: RaggedT, at: SequencesLike, *, lengths: None = None, row_ids: ArrayLike | None = None,
    max_bytes: int | None = None,
) -> RaggedT: ...  # fmt: skip
@overload
def spans(
    X: RowsT | Sequence[Any], at: SequencesLike, *, lengths: Lengths | None = None,
    row_ids: ArrayLike | None = None,
    max_bytes: int | None = None,
) -> Ragged[RowsT]: ...  # fmt: skip
@eager_only()
def spans(
    X: Any,
    at: SequencesLike,
    *,
    lengths: Lengths | None = None,
    row_ids: ArrayLike | None = None,
    max_bytes: int | None = None,
) -> Rows:
    """Take the rows of spans, grouped by sequence. Spans may be empty and may overlap.

    Parameters
    ----------
    X
        (T, ...), an array or a tensor of any dtype, or a `Ragged`, whose innermost sequences are taken.
    at
        (S, 2) integers, the first row of each span and the row after its last, counted from the first row of
        its sequence. A `Ragged` with as many sequences as X says where they belong.
    lengths
        The lengths: integers, or a `Level`. Without them an array is one sequence.
    row_ids
        (S,) integers that do not decrease: the sequence of each span, if `at` is an array. Omit them for a
        single sequence.
    max_bytes
        Refuse a result larger than this; half of the machine's memory by default.

    Returns
    -------
    Ragged
        A Ragged with one level more than X: sequences > spans > rows. The values are a copy. Pass it to
        `reduce_mean` or another reduction to get one row for each span.

    Raises
    ------
    IndexError
        A span leaves its sequence; the message names the span, the sequence and the length.
    ValueError
        A span ends before it begins, or lengths or row_ids do not fit.
    TypeError
        Spans of several sequences are an array without row_ids, or numbers are not integers.

    See Also
    --------
    backprop_spans : the gradient.
    windows : spans of one size, evenly apart.

    Notes
    -----
    As spaCy's `extract_spans`, which takes a Ragged of spans, and whose result does not tell their sequences.

    Examples
    --------
    >>> r = vl.Ragged([3, 1, 4, 1, 5], [3, 2])
    >>> vl.ops.spans(r, [[0, 2], [1, 3], [0, 1]], row_ids=[0, 0, 1]).to_list()
    [[[3, 1], [1, 4]], [[1]]]
    """
    rows, level = rows_and_sequences(X, lengths)
    pairs, groups = _name_spans(at, level, row_ids, "at", (2,))
    values, inner = backend_of(rows).spans(rows, level, groups, pairs, max_bytes)
    result: Ragged[Any] = ragged_like(X, values, (*_outer_levels(X), groups, inner))
    return result


def backprop_spans(
    dY: SameT | Sequence[Any], at: SequencesLike, lengths: Lengths, *, row_ids: ArrayLike | None = None
) -> SameT:
    """The gradient of `spans`: each row of X sums the rows of dY that were taken from it.

    Parameters
    ----------
    dY
        The gradient of the result of `spans`: a `Ragged`, or its values.
    at
        The argument of `spans`.
    lengths
        The lengths of X.
    row_ids
        The argument of `spans`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (T, ...) of the dtype of dY, for a Ragged a Ragged with one level fewer; zeros outside all spans. Rows
        are added in the order of the spans, float16 and bfloat16 in float32 and rounded once. Integers wrap;
        bools are combined by "or".

    Raises
    ------
    ValueError
        dY does not belong to these spans; or as in `spans`.

    Examples
    --------
    >>> vl.ops.backprop_spans(np.array([1.0, 2.0, 30.0, 4.0]), [[0, 2], [1, 3]], [4])
    array([ 1., 32.,  4.,  0.])
    """
    level = as_level(lengths)
    pairs, groups = _name_spans(at, level, row_ids, "at", (2,))
    which, inner = _core.span_rows(level, groups, pairs)
    result: SameT = _add_gradient(dY, which, (groups, inner), level)
    return result


@overload
def align(
    X: RaggedT, alignment: Ragged[Any], *, lengths: None = None, max_bytes: int | None = None
) -> RaggedT: ...
@overload
def align(
    X: RowsT | Sequence[Any], alignment: Ragged[Any], *, lengths: Lengths | None = None,
    max_bytes: int | None = None,
) -> Ragged[RowsT]: ...  # fmt: skip
@eager_only()
def align(
    X: Any,
    alignment: Ragged[Any],
    *,
    lengths: Lengths | None = None,
    max_bytes: int | None = None,
) -> Rows:
    """Group the rows of pieces by the token that they belong to.

    Parameters
    ----------
    X
        (T, ...), an array or a tensor of any dtype, or a `Ragged`, whose innermost sequences are taken: a row
        for each piece.
    alignment
        A `Ragged` of integers, sequences > tokens > pieces: row numbers, counted from the first row of their
        sequence, in any order and any number of times. A token may have none. It may have any number of
        levels; the outermost has the sequences of X, and may be missing if X is one sequence.
    lengths
        The lengths: integers, or a `Level`. Without them an array is one sequence.
    max_bytes
        Refuse a result larger than this; half of the machine's memory by default.

    Returns
    -------
    Ragged
        A Ragged that nests as the alignment. Pass it to `reduce_mean` to get one row for each token.

    Raises
    ------
    IndexError
        A number is no row of its sequence; the message names the entry, the sequence and the length.
    TypeError
        The alignment is not a Ragged of integers.
    ValueError
        The number of sequences differs from that of X.

    See Also
    --------
    backprop_align : the gradient.

    Notes
    -----
    As the alignment of spacy-transformers, whose numbers count through the whole batch: for such an
    alignment, pass X without lengths.

    Examples
    --------
    >>> pieces = vl.Ragged([1.0, 3.0, 5.0, 7.0], [3, 1])
    >>> alignment = vl.Ragged.from_list([[[0, 1], [2]], [[0], []]])
    >>> tokens = vl.ops.align(pieces, alignment)
    >>> tokens.to_list(), vl.ops.reduce_mean(tokens).to_list()
    ([[[1.0, 3.0], [5.0]], [[7.0], []]], [[2.0, 5.0], [7.0, 0.0]])
    """
    rows, level = rows_and_sequences(X, lengths)
    which = _alignment_rows(alignment, level)
    values = backend_of(rows).take_rows(rows, which, max_bytes)
    result: Ragged[Any] = ragged_like(X, values, (*_outer_levels(X), *alignment._levels))
    return result


def backprop_align(dY: SameT | Sequence[Any], alignment: Ragged[Any], lengths: Lengths) -> SameT:
    """The gradient of `align`: each row of X sums the rows of dY that were taken from it.

    Parameters
    ----------
    dY
        The gradient of the result of `align`: a `Ragged`, or its values.
    alignment
        The argument of `align`.
    lengths
        The lengths of X.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (T, ...) of the dtype of dY, a Ragged for a Ragged. Rows are added as in `backprop_spans`.

    Raises
    ------
    ValueError
        dY does not belong to this alignment; or as in `align`.

    Examples
    --------
    >>> alignment = vl.Ragged.from_list([[0, 1], [1]])
    >>> vl.ops.backprop_align(np.array([1.0, 2.0, 30.0]), alignment, [3])
    array([ 1., 32.,  0.])
    """
    level = as_level(lengths)
    result: SameT = _add_gradient(dY, _alignment_rows(alignment, level), alignment._levels, level)
    return result


@overload
def insert_rows(
    X: RaggedT, at: SequencesLike, *, rows: SequencesLike | None = None, lengths: None = None,
    row_ids: ArrayLike | None = None,
    max_bytes: int | None = None,
) -> RaggedT: ...  # fmt: skip
@overload
def insert_rows(
    X: RowsT | Sequence[Any], at: SequencesLike, *, rows: SequencesLike | None = None,
    lengths: Lengths | None = None,
    row_ids: ArrayLike | None = None, max_bytes: int | None = None,
) -> Ragged[RowsT]: ...  # fmt: skip
@eager_only()
def insert_rows(
    X: Any,
    at: SequencesLike,
    *,
    rows: SequencesLike | None = None,
    lengths: Lengths | None = None,
    row_ids: ArrayLike | None = None,
    max_bytes: int | None = None,
) -> Rows:
    """Put rows into sequences.

    Parameters
    ----------
    X
        (T, ...), an array or a tensor of any dtype, or a `Ragged`, whose innermost sequences are taken.
    at
        (S,) integers: each new row goes in front of this row of X, counted from the first row of its
        sequence; the length of the sequence means its end. They must not decrease in a sequence, and new rows
        at one position keep their order. A `Ragged` with as many sequences as X tells the sequence of each.
    rows
        (S, ...) of the dtype of X, or a list of rows; zeros by default.
    lengths
        The lengths: integers, or a `Level`. Without them an array is one sequence.
    row_ids
        (S,) integers that do not decrease: the sequence of each new row, if `at` is an array. Omit them for a
        single sequence.
    max_bytes
        Refuse a result larger than this; half of the machine's memory by default.

    Returns
    -------
    Ragged
        A Ragged that nests as X, with longer sequences. The values are a copy.

    Raises
    ------
    IndexError
        A position is below 0 or beyond its sequence; the message names the entry, the sequence and the
        length.
    ValueError
        Positions decrease, the rows have another dtype or shape, or lengths or row_ids do not fit.
    TypeError
        Positions of several sequences are an array without row_ids, or numbers are not integers.

    See Also
    --------
    backprop_insert_rows : the gradient.

    Notes
    -----
    Positions are those of `numpy.insert`, in every sequence at once. spaCy's transformers do this to give
    whitespace a row of zeros.

    Examples
    --------
    >>> r = vl.Ragged([3, 1, 4], [2, 1])
    >>> vl.ops.insert_rows(r, vl.Ragged([1, 0, 1], [1, 2])).to_list()
    [[3, 0, 1], [0, 4, 0]]
    >>> vl.ops.insert_rows([3, 1, 4], [1, 1], rows=[7, 8]).to_list()
    [[3, 7, 8, 1, 4]]
    """
    values, level = rows_and_sequences(X, lengths)
    places, groups = _name_spans(at, level, row_ids, "at", ())
    row_places, new_level = _core.place_rows(level, groups, places, True)
    new_rows = rows._values if isinstance(rows, RaggedBase) else rows
    all_rows = backend_of(values).insert_rows(values, row_places, new_rows, max_bytes)
    result: Ragged[Any] = ragged_like(X, all_rows, (*_outer_levels(X), new_level))
    return result


def backprop_insert_rows(
    dY: SameT | Sequence[Any], at: SequencesLike, lengths: Lengths, *, row_ids: ArrayLike | None = None
) -> tuple[SameT, Values]:
    """The gradients of `insert_rows`: rows of dY, for the original and for the inserted rows.

    Parameters
    ----------
    dY
        The gradient of the result of `insert_rows`: a `Ragged`, or its values.
    at
        The argument of `insert_rows`.
    lengths
        The lengths of X.
    row_ids
        The argument of `insert_rows`.

    Returns
    -------
    dX : numpy.ndarray, torch.Tensor or Ragged
        (T, ...) of the dtype of dY; a Ragged for a Ragged.
    d_rows : numpy.ndarray or torch.Tensor
        (S, ...) of the dtype of dY.

    Raises
    ------
    ValueError
        dY does not belong to these positions; or as in `insert_rows`.

    Examples
    --------
    >>> vl.ops.backprop_insert_rows(np.array([3, 7, 8, 1, 4]), [1, 1], [3])
    (array([3, 1, 4]), array([7, 8]))
    """
    level = as_level(lengths)
    places, groups = _name_spans(at, level, row_ids, "at", ())
    row_places, new_level = _core.place_rows(level, groups, places, True)
    rows = _rows_of(dY, (new_level,))
    d_values, d_rows = backend_of(rows).remove_rows(rows, row_places)
    return (dY._make(d_values, (*dY._levels[:-1], level)) if isinstance(dY, RaggedBase) else d_values), d_rows


def _outer_levels(X: SequencesLike) -> Levels:
    """The levels over the sequences that are taken."""
    return X._levels[:-1] if isinstance(X, RaggedBase) else ()


def _name_spans(
    value: object, level: Level, row_ids: object, argument: str, row_shape: tuple[int, ...]
) -> tuple[np.ndarray, Level]:
    """What was named, laid end to end, and which of it belongs to each sequence."""
    numbers: Any
    if isinstance(value, RaggedBase):
        if row_ids is not None:
            raise type_error("row_ids", f"not allowed, because {argument} is a Ragged, which has its own")
        numbers, groups = as_ints(value._values), value._levels[-1]
    else:
        numbers = as_values(as_ints(value), argument)
        if not np.size(numbers) and not isinstance(value, np.ndarray):
            numbers = np.zeros((0, *row_shape), np.int64)
        if row_ids is not None:
            groups = Level.from_row_ids(as_ints(row_ids), len(level))
        elif len(level) == 1:
            groups = Level.from_lengths(np.array([len(numbers)]))
        else:
            raise type_error("row_ids", f"required, because X has {len(level)} sequences")
        if groups.total != len(numbers):
            raise value_error("row_ids", f"has {groups.total} entries, but {argument} has {len(numbers)}")
    if numbers.shape[1:] != row_shape:
        layout = "(S, 2)" if row_shape else "(S,)"
        raise value_error(argument, f"expected {layout} integers, got shape {numbers.shape}")
    return numbers.reshape(-1), groups


def _alignment_rows(alignment: object, level: Level) -> NDArray[np.int64]:
    """The numbers of an alignment as rows of the values."""
    if not isinstance(alignment, RaggedBase):
        raise instance_error("alignment", "a Ragged", alignment)
    if len(level) == 1:
        groups = Level.from_lengths(np.array([alignment._levels[-1].total]))
    else:
        offsets = alignment._levels[0].offsets
        for inner in alignment._levels[1:]:
            offsets = inner.offsets[offsets]
        groups = alignment._levels[0] if len(alignment._levels) == 1 else Level.from_offsets(offsets)
    rows: NDArray[np.int64] = _core.place_rows(level, groups, as_ints(alignment._values))
    return rows


def _rows_of(dY: SequencesLike, levels: Levels) -> Any:
    """The rows of a gradient, which has to have these levels innermost."""
    if isinstance(dY, RaggedBase):
        check_nest(dY._levels[-len(levels) :], levels, "dY")
        return dY._values
    rows = as_values(dY, "dY")
    if len(rows) != levels[-1].total:
        raise value_error("dY", f"has {len(rows)} rows, expected {levels[-1].total}")
    return rows


def _add_gradient(dY: SequencesLike, which: NDArray[np.int64], levels: Levels, level: Level) -> Any:
    """Rows of a gradient, added to the rows that they were taken from."""
    rows = _rows_of(dY, levels)
    dX = backend_of(rows).backprop_gather_add(rows, which[:, None], level.total)
    return dY._make(dX, (*dY._levels[: -len(levels)], level)) if isinstance(dY, RaggedBase) else dX
