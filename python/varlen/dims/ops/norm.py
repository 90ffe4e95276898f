"""Normalize numbers to mean 0 and variance 1, over dims or over all valid frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen._core import Dim
from varlen.arguments import as_float, as_fraction
from varlen.backends import backend_of
from varlen.backends.numeric import as_of, numbers, widen_halves
from varlen.dims.axes import places, quote_names
from varlen.dims.base import check_data, dtype_name, make_data
from varlen.dims.ops.combine import combine, where
from varlen.dims.ops.elementwise import rsqrt
from varlen.dims.ops.reduce import group_dims, order_left
from varlen.dims.ops.softmax import ungroup
from varlen.dims.out_shape import check_out_shape
from varlen.errors import instance_error, naming, value_error

if TYPE_CHECKING:
    from varlen._core import Level
    from varlen.backends.values import Values
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape


def layer_norm(
    x: Data[Any],
    in_dim: Axis | Sequence[Axis],
    *,
    scale: Data[Any] | None = None,
    bias: Data[Any] | None = None,
    eps: float = 1e-6,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Normalize over some dims, at each position of the others: subtract the mean, divide by the deviation.

    Parameters
    ----------
    x
        Numbers.
    in_dim
        The dims that mean and variance are taken over, with a fixed size or with lengths.
    scale, bias
        The factor and the summand of the result, as Data over dims of `x`, mostly `in_dim`.
    eps
        A small number that is added to the variance, which divides by the count of numbers.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The normalized numbers, over the dims of `x`. Integers become floats; 16-bit floats are computed in
        float32.

    Raises
    ------
    IndexError
        There is no such dim.
    ValueError
        A scale or a bias has dims that `x` lacks.
    OutShapeError
        The dims differ from the expected ones.

    Notes
    -----
    As RETURNN's `LayerNorm`, as a function of its parameters.

    Examples
    --------
    >>> time, feature = vl.Dim("time", lengths=[2, 1]), vl.Dim("feature", 2)
    >>> x = vl.Data(np.array([[1.0, 3.0], [0.0, 8.0], [5.0, 5.0]]), [vl.dims.batch_dim, time, feature])
    >>> vl.dims.layer_norm(x, feature).values.round(4)
    array([[-1.,  1.],
           [-1.,  1.],
           [ 0.,  0.]])
    """
    axes, eps = places(x, in_dim, "in_dim"), as_float(eps, "eps")
    for operand, name in ((scale, "scale"), (bias, "bias")):
        _check_within(x, operand, name)
    numbers(x._values, "x")
    front = x._shape.rank - len(axes)
    if (
        axes
        and x._values.dtype.itemsize > 1
        and front >= x._shape.ragged
        and sorted(axes) == list(range(front, x._shape.rank))
    ):
        return check_out_shape(_normalize_rows(x, front, scale, bias, eps), out_shape)
    values, level, order, _ = group_dims(x._map(widen_halves), axes)
    values = _as_float(values)
    mean, variance = _moments(values, level)
    backend = backend_of(values)
    residual = values - backend.broadcast_rows(mean, level)
    factor = backend.ufunc("rsqrt", [variance + eps], {})
    result = ungroup(x, residual * backend.broadcast_rows(factor, level), axes, order)
    return check_out_shape(_narrow_halves(_scale(result, scale, bias), x, scale, bias), out_shape)


def _normalize_rows(x: Data[Any], front: int, scale: Any, bias: Any, eps: float) -> Data[Any]:
    """Over the last axes of rows, by the function of the backend, which takes a scale and a bias of a row."""
    dims = x._shape.dims[front:]
    fits = [
        part is not None
        and part._shape.dims == dims
        and type(part._values) is type(x._values)
        and part._values.dtype == x._values.dtype
        for part in (scale, bias)
    ]
    first = scale._values if fits[0] and (bias is None or fits[1]) else None
    second = bias._values if fits[1] and (scale is None or fits[0]) else None
    values = backend_of(x._values).layer_norm(x._values, len(dims), first, second, eps)
    result = x._map(lambda _: values)
    return _scale(result, None if first is not None else scale, None if second is not None else bias)


def _scale(x: Data[Any], scale: Data[Any] | None, bias: Data[Any] | None) -> Data[Any]:
    x = x if scale is None else combine("*", x, scale)
    return x if bias is None else combine("+", x, bias)


def _check_within(x: Data[Any], operand: Data[Any] | None, name: str) -> None:
    if operand is None:
        return
    check_data(operand, name)
    missing = [dim for dim in operand.dims if x._shape.find(dim) < 0]
    if missing:
        raise value_error(name, f"{quote_names(missing, 'and')} is not in {x!r}")


def _as_float(values: Values) -> Any:
    if "float" in dtype_name(values.dtype):
        return values
    backend = backend_of(values)
    # What the backend makes of a root of integers is its float.
    return backend.astype(values, backend.ufunc("sqrt", [values[:0]], {}).dtype)


def _narrow_halves(result: Data[Any], *operands: Data[Any] | None) -> Data[Any]:
    """Compute halves in float32, in which their squares do not overflow, and return halves."""
    dtypes = [part._values for part in operands if part is not None]
    return result._map(lambda values: as_of(values, *dtypes))


def _moments(values: Values, level: Level) -> tuple[Any, Any]:
    """The mean and the variance of each sequence; NaN of none."""
    backend = backend_of(values)
    return tuple(backend.reduce(op, values, level, np.nan) for op in ("mean", "var"))


class Moments(NamedTuple):
    """Mean, variance and count of numbers, of one batch or running over many.

    Parameters
    ----------
    mean, variance
        Data over the dims that were kept.
    frames
        The count of numbers: int64 over the same dims.

    Examples
    --------
    >>> feature = vl.Dim("feature", 2)
    >>> vl.dims.Moments.initial(feature).variance.values
    array([1., 1.])
    """

    mean: Data[Any]
    variance: Data[Any]
    frames: Data[Any]

    @staticmethod
    def initial(in_dim: Dim | Sequence[Dim], *, like: Data[Any] | None = None) -> Moments:
        """The start of running statistics: mean 0, variance 1, count 0.

        Parameters
        ----------
        in_dim
            The dims to keep.
        like
            A Data whose kind of array, device and dtype the result has. By default NumPy's.

        Returns
        -------
        Moments
            Statistics of no numbers.

        Examples
        --------
        >>> vl.dims.Moments.initial(vl.Dim("feature", 2)).mean.values
        array([0., 0.])
        """
        from varlen.dims.ops.faces import zeros

        dims = [in_dim] if isinstance(in_dim, Dim) else in_dim
        with naming(dims="in_dim"):
            mean = zeros(dims, like=like)
        return Moments(mean, mean + 1, zeros(dims, like=like, dtype=np.int64))

    def updated(self, now: Moments, momentum: float = 0.1) -> Moments:
        """Update running statistics by one step towards those of a batch.

        Parameters
        ----------
        now
            The moments of the batch, through which no gradient flows. Features without numbers do not change.
        momentum
            The step: 0 keeps the old statistics, 1 replaces them.

        Returns
        -------
        Moments
            The new statistics.

        Raises
        ------
        ValueError
            The momentum is below 0 or above 1.

        Notes
        -----
        As RETURNN's `BatchNorm`. Both divide the running variance by the count n; torch divides by n - 1.

        Examples
        --------
        >>> feature = vl.Dim("feature", 1)
        >>> x = vl.Data(np.array([[4.0], [6.0]]), [vl.dims.batch_dim, feature])
        >>> running = vl.dims.Moments.initial(feature)
        >>> running = running.updated(vl.dims.moments(x, vl.dims.batch_dim), momentum=0.5)
        >>> running.mean.values, running.variance.values
        (array([2.5]), array([1.]))
        """
        momentum = as_fraction(momentum, "momentum")
        if not isinstance(now, Moments):
            raise instance_error("now", "Moments", now)
        mask = now.frames > 0
        nearer = [
            where(mask, old + (_detach(new) - old) * momentum, old)
            for old, new in ((self.mean, now.mean), (self.variance, now.variance))
        ]
        return Moments(nearer[0], nearer[1], self.frames + now.frames)


def _detach(x: Data[Any]) -> Data[Any]:
    detach = getattr(x._values, "detach", None)
    return x if detach is None else x._like(detach())


def moments(x: Data[Any], axis: Axis | Sequence[Axis]) -> Moments:
    """The mean and variance over some dims, of all valid positions.

    Parameters
    ----------
    x
        Numbers.
    axis
        The dims to reduce.

    Returns
    -------
    Moments
        Mean and variance over the remaining dims. The variance divides by the count of numbers; both are NaN
        if there are none.

    Raises
    ------
    IndexError
        There is no such dim.

    Notes
    -----
    As RETURNN's `moments`, which gives the first two.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([1.0, 3.0, 5.0]), [vl.dims.batch_dim, time])
    >>> mean, variance, frames = vl.dims.moments(x, time)
    >>> mean.values, variance.values, frames.values
    (array([2., 5.]), array([1., 0.]), array([2, 1]))
    """
    axes = places(x, axis)
    numbers(x._values, "x")
    values, level, _, rest = group_dims(x, axes)
    values = _as_float(values)
    backend = backend_of(values)
    rows = _moments(values, level)
    order = order_left(x, axes)
    mean, variance = (make_data(part.reshape(rest.array_shape), rest, order) for part in rows)
    counts = np.broadcast_to(level.lengths.reshape(-1, *[1] * (rows[0].ndim - 1)), tuple(rows[0].shape))
    frames = backend.like(np.ascontiguousarray(counts).reshape(rest.array_shape), values)
    return Moments(mean, variance, make_data(frames, rest, order))


def batch_norm(
    x: Data[Any],
    in_dim: Axis | Sequence[Axis] = "F",
    *,
    statistics: Moments | None = None,
    scale: Data[Any] | None = None,
    bias: Data[Any] | None = None,
    eps: float = 1e-3,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Normalize each feature by its mean and deviation over all valid frames of the batch.

    Parameters
    ----------
    x
        Numbers.
    in_dim
        The dims to keep: the features.
    statistics
        The mean and variance to use: running ones, or those of `moments`. By default those of `x`.
    scale, bias
        The factor and the summand of the result.
    eps
        A small number that is added to the variance, which divides by the count of numbers.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The normalized numbers, over the dims of `x`.

    Raises
    ------
    IndexError
        There is no such dim.
    ValueError
        Statistics, a scale or a bias have dims that `x` lacks.
    OutShapeError
        The dims differ from the expected ones.

    See Also
    --------
    moments, Moments

    Notes
    -----
    As RETURNN's `BatchNorm` with a mask. Nothing changes in place: `Moments.updated` returns the new running
    statistics.

    Examples
    --------
    >>> time, feature = vl.Dim("time", lengths=[2, 1]), vl.Dim("feature", 1)
    >>> x = vl.Data(np.array([[1.0], [3.0], [5.0]]), [vl.dims.batch_dim, time, feature])
    >>> now = vl.dims.moments(x, [vl.dims.batch_dim, time])
    >>> vl.dims.batch_norm(x, feature, statistics=now, eps=0).values.round(3).ravel()
    array([-1.225,  0.   ,  1.225])
    >>> running = vl.dims.Moments.initial(feature).updated(now, momentum=0.1)
    >>> running.mean.values.round(3), running.variance.values.round(3)
    (array([0.3]), array([1.167]))
    """
    axes, eps = places(x, in_dim, "in_dim"), as_float(eps, "eps")
    if statistics is not None and not isinstance(statistics, tuple):
        raise instance_error("statistics", "Moments", statistics)
    for operand, name in ((scale, "scale"), (bias, "bias")):
        _check_within(x, operand, name)
    numbers(x._values, "x")
    operands = (x, *(() if statistics is None else statistics[:2]), scale, bias)
    x = x._map(widen_halves)
    dims = x._shape.dims
    frame_dims = [dims[k] for k in range(x._shape.rank) if k not in axes]
    if any(dim in dims[k].over for dim in frame_dims for k in axes):
        return check_out_shape(
            _narrow_halves(_normalize_positions(x, frame_dims, statistics, scale, bias, eps), *operands),
            out_shape,
        )
    if statistics is None:
        statistics = moments(x, frame_dims)
    for moment, name in zip(statistics[:2], ("mean", "variance"), strict=True):
        _check_within(x, moment, f"statistics.{name}")
    factor = rsqrt(statistics.variance + eps)
    factor = factor if scale is None or _lacks(statistics.variance, scale) else combine("*", factor, scale)
    result = combine("*", combine("-", x, statistics.mean), factor)
    if scale is not None and _lacks(statistics.variance, scale):
        result = combine("*", result, scale)
    result = result if bias is None else combine("+", result, bias)
    return check_out_shape(_narrow_halves(result, *operands), out_shape)


def _normalize_positions(
    x: Data[Any], frame_dims: Sequence[Dim], statistics: Moments | None, scale: Any, bias: Any, eps: float
) -> Data[Any]:
    """Where the dims that are kept have other lengths without those that go: position by position."""
    if statistics is None:
        return layer_norm(x, frame_dims, scale=scale, bias=bias, eps=eps)
    axes = places(x, frame_dims)
    values, level, order, rest = group_dims(x, axes)
    backend = backend_of(values)
    for moment, name in zip(statistics[:2], ("mean", "variance"), strict=True):
        _check_within(x, moment, f"statistics.{name}")
    ones = make_data(backend.like(np.ones(rest.array_shape, np.int8), values), rest)
    mean, variance = (
        backend.broadcast_rows(
            backend.contiguous(combine("*", ones, part)._values).reshape(len(level), *values.shape[1:]), level
        )
        for part in statistics[:2]
    )
    factor = backend.ufunc("rsqrt", [variance + eps], {})
    return _scale(ungroup(x, (_as_float(values) - mean) * factor, axes, order), scale, bias)


def _lacks(x: Data[Any], other: Data[Any]) -> bool:
    return any(x._shape.find(dim) < 0 for dim in other.dims)
