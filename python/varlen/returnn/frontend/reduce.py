"""Dims that go, as RETURNN's frontend names it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from varlen import dims
from varlen.dims import Data, Dim
from varlen.returnn.tensor import Tensor, as_tensor


def check_alone(distributed: bool) -> None:
    """Refuse to reduce over the batches of several processes."""
    if distributed:
        raise ValueError("distributed: expected False, other processes are not asked for theirs")


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
        The dims that go.
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
    check_alone(distributed)
    return as_tensor(dims.reduce(source, mode, axis))


_Reduction = Callable[..., Tensor]


def _reducing(mode: str, what: str) -> _Reduction:
    if mode == "sum":

        def function(
            source: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True, distributed: bool = False
        ) -> Tensor:
            return reduce(source, mode=mode, axis=axis, distributed=distributed)
    else:

        def function(  # type: ignore[misc]
            source: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True
        ) -> Tensor:
            return reduce(source, mode=mode, axis=axis)

    name = f"reduce_{mode}"
    numbers = "np.array([True, False, True])" if mode in ("any", "all") else "np.array([3.0, 1.0, 5.0])"
    distributed = "    distributed\n        False, as that of `reduce`.\n" if mode == "sum" else ""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{what} over some dims.

    Parameters
    ----------
    source
        {"Bools" if mode in ("any", "all") else "Numbers"}.
    axis
        The dims that go.
    use_mask
        Taken for the sake of code that says it: there is no padding to be masked.
{distributed}
    Returns
    -------
    Tensor
        Over the dims that stay.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data({numbers}, [vl.dims.batch_dim, time])
    >>> rf.{name}(x, axis=time).dims == (vl.dims.batch_dim,)
    True
    """
    return function


reduce_sum = _reducing("sum", "The sum")
reduce_mean = _reducing("mean", "The mean")
reduce_max = _reducing("max", "The greatest number")
reduce_min = _reducing("min", "The least number")
reduce_any = _reducing("any", "Whether one is true")
reduce_all = _reducing("all", "Whether all are true")
reduce_argmax = _reducing("argmax", "The place of the greatest number")
reduce_argmin = _reducing("argmin", "The place of the least number")
reduce_logsumexp = _reducing("logsumexp", "The logarithm of the sum of exponentials")
reduce_logmeanexp = _reducing("logmeanexp", "The logarithm of the mean of exponentials")


def reduce_out(source: Data[Any], *, mode: str, num_pieces: int, out_dim: Dim | None = None) -> Tensor:
    """What each few features that lie side by side come to, as for maxout.

    Parameters
    ----------
    source
        Numbers with features.
    mode
        As that of `reduce`.
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
    feature = source.feature_dim
    if feature is None:
        raise ValueError(f"source: {source!r} has no features")
    pieces = Dim(num_pieces, name="pieces")
    out = feature // pieces if out_dim is None else out_dim
    result = reduce(dims.split_dims(source, feature, [out, pieces]), mode=mode, axis=pieces)
    return result.copy(feature_dim=out)
