"""Dims that go, as RETURNN's frontend names it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from varlen import dims
from varlen.dims import Data, Dim
from varlen.errors import value_error
from varlen.returnn.frontend.operands import check_tensor
from varlen.returnn.tensor import Tensor, as_tensor


def check_alone(distributed: bool) -> None:
    """Refuse to reduce over the batches of several processes."""
    if distributed:
        raise value_error("distributed", "expected False: the mean and variance are those of this process")


def reduce(
    source: Data[Any],
    *,
    mode: str,
    axis: Dim | Sequence[Dim],
    use_mask: bool = True,
    distributed: bool = False,
) -> Tensor:
    """What all positions of some dims come to.

    Parameters
    ----------
    source
        Numbers.
    mode
        As `varlen.dims.reduce` takes it.
    axis
        The dims to reduce.
    use_mask
        Taken for the sake of code that says it: there is no padding to be masked.
    distributed
        False: over the positions of this process alone.

    Returns
    -------
    Tensor
        Over the dims that stay.

    Raises
    ------
    ValueError
        `distributed`.

    Notes
    -----
    Of no positions come -inf, inf and -1 for max, min and places, where RETURNN has the least float, the
    greatest and 0.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
    >>> rf.reduce(x, mode="max", axis=time).values
    array([3., 5.])
    """
    check_tensor(source, "source")
    check_alone(distributed)
    return as_tensor(dims.reduce(source, mode, axis))


def reduce_out(source: Data[Any], *, mode: str, num_pieces: int, out_dim: Dim | None = None) -> Tensor:
    """What each few features that lie side by side come to, as for maxout.

    Parameters
    ----------
    source
        Numbers with features.
    mode
        As in `reduce`.
    num_pieces
        How many features become one.
    out_dim
        The dim of the result; the features over `num_pieces` by default.

    Returns
    -------
    Tensor
        With fewer features.

    Raises
    ------
    ValueError
        No features.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1, 4, 1]), [vl.Dim("four", 4)])
    >>> rf.reduce_out(x, mode="max", num_pieces=2).values
    array([3, 4])
    """
    check_tensor(source, "source")
    feature = source.feature_dim
    if feature is None:
        raise value_error("source", f"{source!r} has no feature dim")
    pieces = Dim(num_pieces, name="pieces")
    out = feature // pieces if out_dim is None else out_dim
    result = reduce(dims.split_dims(source, feature, [out, pieces]), mode=mode, axis=pieces)
    return result.copy(feature_dim=out)
