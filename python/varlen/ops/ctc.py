"""Connectionist temporal classification: the loss of labels whose places nobody knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from varlen._core import RaggedBase
from varlen.arguments import as_bool, as_int
from varlen.backends import backend_of
from varlen.backends.values import as_values
from varlen.errors import value_error
from varlen.levels import check_nest
from varlen.ops.reduce import wrap_units
from varlen.ops.support.inputs import same_kind, units_of

if TYPE_CHECKING:
    from varlen.backends.values import ArrayT, Lengths, Rows, RowsT, SequencesLike


@overload
def ctc_loss(
    log_probs: RaggedBase[ArrayT], targets: SequencesLike, lengths: None = None,
    target_lengths: Lengths | None = None,
    *, blank: int = 0, zero_infinity: bool = False, level: int = -1,
) -> ArrayT | Any: ...  # fmt: skip
@overload
def ctc_loss(
    log_probs: RowsT, targets: SequencesLike, lengths: Lengths, target_lengths: Lengths | None = None,
    *, blank: int = 0, zero_infinity: bool = False, level: int = -1,
) -> RowsT: ...  # fmt: skip
def ctc_loss(
    log_probs: Any,
    targets: Any,
    lengths: Lengths | None = None,
    target_lengths: Lengths | None = None,
    *,
    blank: int = 0,
    zero_infinity: bool = False,
    level: int = -1,
) -> Rows:
    """The CTC loss: minus the log probability of each sequence's labels, over all alignments.

    Parameters
    ----------
    log_probs
        (total, classes) floats, an array or a tensor, or a `Ragged` of such rows: the log probabilities of
        the classes, as `log_softmax(axis=-1)` gives them.
    targets
        (total labels,) integers, or a `Ragged` of them: classes other than the blank.
    lengths, target_lengths
        (n,) integers, or a `Level`: the numbers of rows and of labels of each sequence; omit them with a
        Ragged.
    blank
        The class that stands for no label.
    zero_infinity
        If True, an infinite loss becomes 0 and has no gradient.
    level
        The level of log_probs whose sequences get one loss each; levels below it are merged. -1 is the
        innermost. The levels above are kept, and the targets have the same.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        The losses: (n,) of the dtype of log_probs, float32 for 16-bit floats; for more levels a Ragged of
        those above. A loss is inf if there are too few rows or no alignment has a probability above zero, and
        0 for no labels in no rows.

    Raises
    ------
    TypeError
        The log probabilities are not floats, or are CuPy arrays; or the labels are not integers.
    ValueError
        A label is the blank or no class (the message names the sequence, the position and the label), the
        blank is no class, the numbers of sequences differ, or the lengths do not add up.
    IndexError
        There is no such level.

    See Also
    --------
    backprop_ctc_loss, log_softmax, edit_distance

    Notes
    -----
    As `torch.nn.functional.ctc_loss(reduction="none")`, but rows need no padding. torch's mean divides each
    loss by its number of labels. Autograd follows tensors once, as in torch. On a CUDA device, varlen pads
    tensors and torch computes the loss. A sequence gives the same bits alone and in a batch.

    Examples
    --------
    >>> log_probs = np.log(np.array([[0.5, 0.5], [0.5, 0.5], [0.1, 0.9]]))
    >>> np.exp(-vl.ops.ctc_loss(log_probs, [1, 1], [2, 1], [1, 1])).round(6)
    array([0.75, 0.9 ])
    """
    rows, units, outer_levels, labels, label_units = _ctc_inputs(
        log_probs, targets, lengths, target_lengths, level
    )
    blank_id, is_zero = as_int(blank, "blank"), as_bool(zero_infinity, "zero_infinity")
    return wrap_units(
        log_probs,
        backend_of(rows).ctc_loss(rows, units, labels, label_units, blank_id, is_zero),
        outer_levels,
    )


def backprop_ctc_loss(
    d: SequencesLike,
    log_probs: Any,
    targets: Any,
    lengths: Lengths | None = None,
    target_lengths: Lengths | None = None,
    *,
    blank: int = 0,
    zero_infinity: bool = False,
    level: int = -1,
) -> Rows:
    """The gradient of `ctc_loss`, from the gradient of its result.

    Parameters
    ----------
    d
        (n,) floats, or a Ragged of them: the gradient of each loss.
    log_probs, targets, lengths, target_lengths, blank, zero_infinity, level
        The arguments of `ctc_loss`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, classes) of the dtype of log_probs; a Ragged if log_probs is one.

    Raises
    ------
    TypeError, ValueError, IndexError
        As in `ctc_loss`; or `d` is not one number for each sequence.

    Notes
    -----
    As in torch, this is the gradient of the input of log_softmax: exp(log_probs) minus the share of the
    alignments that have a class at a row. A loss of inf gives NaN, or 0 with `zero_infinity`. A class of
    probability zero gives 0, where torch gives NaN.

    Examples
    --------
    >>> log_probs = np.log(np.array([[0.5, 0.5], [0.5, 0.5]]))
    >>> vl.ops.backprop_ctc_loss(np.ones(1), log_probs, [1], [2], [1]).round(6)
    array([[ 0.166667, -0.166667],
           [ 0.166667, -0.166667]])
    """
    rows, units, _, labels, label_units = _ctc_inputs(log_probs, targets, lengths, target_lengths, level)
    losses = d._values if isinstance(d, RaggedBase) else as_values(d, "d")
    if tuple(losses.shape) != (len(units),):
        raise value_error("d", f"expected shape ({len(units)},), got {tuple(losses.shape)}")
    blank_id, is_zero = as_int(blank, "blank"), as_bool(zero_infinity, "zero_infinity")
    gradient = backend_of(rows).backprop_ctc_loss(losses, rows, units, labels, label_units, blank_id, is_zero)
    return same_kind(log_probs, gradient)


def _ctc_inputs(
    log_probs: SequencesLike, targets: SequencesLike, lengths: Lengths | None, target_lengths: Any, level: int
) -> tuple[Any, Any, Any, Any, Any]:
    """Rows, their units and the levels above; labels and their units."""
    rows, units, outer_levels = units_of(log_probs, lengths, level, "log_probs")
    labels, label_units, label_levels = units_of(targets, target_lengths, len(outer_levels), "targets")
    check_nest(label_levels, outer_levels, "targets")
    if isinstance(rows, np.ndarray):
        labels = backend_of(labels).readable(labels)
    if isinstance(labels, np.ndarray) and not labels.size:
        labels = labels.astype(np.int64)  # of no labels there is no dtype that is wrong
    return rows, units, outer_levels, labels, label_units
