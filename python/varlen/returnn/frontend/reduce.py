"""Reductions over dims, as RETURNN's frontend names them."""

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
    """Reduce over some dims.

    Parameters
    ----------
    source
        Numbers.
    mode
        The reduction, as in `varlen.dims.reduce`.
    axis
        The dims to reduce.
    use_mask
        Accepted for compatibility: there is no padding to mask.
    distributed
        Must be False: the reduction covers the positions of this process alone.

    Returns
    -------
    Tensor
        The results, over the remaining dims.

    Raises
    ------
    ValueError
        `distributed` is True.

    Notes
    -----
    Without positions max, min, argmax and argmin give -inf, inf, -1 and -1; RETURNN gives the least float,
    the greatest float, 0 and 0.

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
    """Reduce groups of adjacent features, as for maxout.

    Parameters
    ----------
    source
        Numbers with features.
    mode
        As in `reduce`.
    num_pieces
        The number of features in a group.
    out_dim
        The dim of the result; the features over `num_pieces` by default.

    Returns
    -------
    Tensor
        The result, with fewer features.

    Raises
    ------
    ValueError
        There are no features.

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
