"""Random numbers over dims, and numbers dropped at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Shape
from varlen.arguments import SMALLEST, as_bool, as_float, as_fraction, as_int, one_of, rng_of
from varlen.backends import backend_of
from varlen.dims.axes import places
from varlen.dims.base import Annotations, check_data, dtype_name, make_data
from varlen.dims.make import check_facts
from varlen.dims.ops.combine import unify_kind
from varlen.dims.ops.make_values import shape_of
from varlen.dims.out_shape import check_out_shape
from varlen.dims.place import align
from varlen.dims.plan_cache import cached_plan
from varlen.errors import dtype_error, instance_error, value_error

if TYPE_CHECKING:
    import torch
    from numpy.typing import DTypeLike

    from varlen.backends.values import DTypes, Values
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape

_KINDS = ("uniform", "normal", "truncated_normal", "randint")

# A truncated normal distribution ends so many standard deviations from its mean.
_TRUNCATED = 2.0


def random(
    kind: str,
    dims: Sequence[Dim],
    *,
    low: float | None = None,
    high: float | None = None,
    mean: float = 0.0,
    std: float = 1.0,
    generator: np.random.Generator | torch.Generator | None = None,
    dtype: DTypeLike | None = None,
    like: Data[Any] | None = None,
    sparse_dim: Dim | None = None,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Draw random numbers at the valid positions of dims; none is drawn for padding.

    Parameters
    ----------
    kind
        "uniform" draws from `low` to `high`, without `high`, by default from 0 to 1. "normal" is the normal
        distribution; "truncated_normal" redraws numbers beyond two standard deviations. "randint" draws
        integers from `low`, by default 0, to `high`, without `high`, which is by default the size of
        `sparse_dim`.
    dims
        Dims with lengths, in any order, including the dims that their lengths depend on.
    low, high
        The bounds of "uniform" and "randint".
    mean, std
        The mean and standard deviation of the normal distribution.
    generator
        A `numpy.random.Generator`, a seed, or a `torch.Generator`, which gives a tensor on its device.
    dtype
        By default float64 for arrays, torch's default for tensors, and int64 for integers.
    like
        A Data that gives the kind of array, device and dtype.
    sparse_dim
        The Dim whose positions the integers are.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The random numbers, over `dims`.

    Raises
    ------
    ValueError
        The kind is unknown, there are no numbers between the bounds, the std is negative, or a dim has no
        lengths.
    OutShapeError
        The dims differ from the expected ones.

    Notes
    -----
    As RETURNN's `random`. The numbers of a row depend on the rows before it.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.dims.random("randint", [vl.dims.batch_dim, time], high=10, generator=0)
    >>> x, x.to_list()
    (Data([batch(2), time(1 to 2)], int64), [[8, 6], [5]])
    """
    one_of(kind, "kind", _KINDS)
    if kind == "randint" and high is None and sparse_dim is not None:
        high = sparse_dim.max_size()
    if kind == "randint" and high is None:
        raise value_error("high", "required for integers without a sparse_dim")
    low, high = 0 if low is None else low, 1 if high is None else high
    numbers = {"low": low, "high": high, "mean": mean, "std": std}
    for word, number in numbers.items():
        as_float(number, word)
    if kind in ("uniform", "randint") and not (low < high or (kind == "uniform" and low == high)):
        raise value_error("high", f"there are no numbers from {low} up to {high}")
    if kind == "randint":
        as_int(int(low), "low", SMALLEST)
        as_int(int(high), "high", SMALLEST)
    if not std >= 0:
        raise value_error("std", f"expected a number of 0 or more, got {std}")
    shape, order = shape_of(dims)
    if like is not None:
        check_data(like, "like")
    draw_dtype: Any = (
        like._values.dtype if dtype is None and like is not None and kind != "randint" else dtype
    )
    reference = None if like is None else like._values
    draw = _drawn_by_torch if _is_of_torch(generator, reference) else _drawn_by_numpy
    values = draw(kind, shape.array_shape, (low, high), (mean, std), generator, draw_dtype, reference)
    result = make_data(values, shape, order)
    if sparse_dim is not None:
        result._facts = check_facts(result, Annotations(sparse_dim=sparse_dim))
    return check_out_shape(result, out_shape)


def _is_of_torch(generator: np.random.Generator | torch.Generator, reference: object) -> bool:
    if generator is None:
        return reference is not None and type(reference).__module__.split(".")[0] == "torch"
    if type(generator).__module__.split(".")[0] != "torch":
        return False
    if not hasattr(generator, "initial_seed"):
        raise instance_error("generator", "a torch.Generator, a seed or None", generator)
    return True


def _drawn_by_numpy(
    kind: str,
    shape: tuple[int, ...],
    bounds: tuple[float, float],
    moments: tuple[float, float],
    generator: np.random.Generator | torch.Generator,
    dtype: DTypes,
    reference: object,
) -> Any:
    draw = rng_of(generator, "generator")
    values: Any
    if kind == "uniform":
        values = _scale_uniform(draw.random(shape), bounds)
    elif kind == "randint":
        values = draw.integers(int(bounds[0]), int(bounds[1]), shape)
    else:
        values = draw.standard_normal(shape)
        if kind == "truncated_normal":
            _draw_again(values, lambda count: draw.standard_normal(count))
        values = values * moments[1] + moments[0]
    if reference is not None:
        values = backend_of(reference).like(values, reference)
    return values if dtype is None else backend_of(values).cast(values, dtype, "dtype")


def _drawn_by_torch(
    kind: str,
    shape: tuple[int, ...],
    bounds: tuple[float, float],
    moments: tuple[float, float],
    generator: Any,
    dtype: DTypes,
    reference: Any,
) -> Any:
    import torch

    device = generator.device if generator is not None else reference.device
    if kind == "randint":
        values = torch.randint(
            int(bounds[0]), int(bounds[1]), shape, generator=generator, device=device, dtype=torch.int64
        )
    elif kind == "uniform":
        values = _scale_uniform(torch.rand(shape, generator=generator, device=device), bounds)
    else:

        def draw(size: object) -> Any:
            return torch.randn(size, generator=generator, device=device)

        values = draw(shape)
        if kind == "truncated_normal":
            _draw_again(values, lambda count: draw((count,)))
        values = values * moments[1] + moments[0]
    return values if dtype is None else backend_of(values).cast(values, dtype, "dtype")


def _scale_uniform(values: Values, bounds: tuple[float, float]) -> Any:
    """Numbers from 0 to 1 brought between others."""
    return values if bounds == (0, 1) else values * (bounds[1] - bounds[0]) + bounds[0]


def _draw_again(values: Values, draw: Callable[[int], Any]) -> None:
    """Numbers too far from 0 become others, in place."""
    while True:
        far = abs(values) > _TRUNCATED
        count = int(far.sum())
        if not count:
            return
        values[far] = draw(count)


def dropout(
    x: Data[Any],
    p: float,
    *,
    axes: Axis | Sequence[Axis] | None = None,
    generator: np.random.Generator | torch.Generator | None = None,
    training: bool = True,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Set a random share of the numbers to 0, and divide the others by the share that is kept.

    Parameters
    ----------
    x
        Floats.
    p
        The share to set to 0, from 0 to 1.
    axes
        The dims whose positions are drawn one by one. Positions of the other dims are dropped together. By
        default all dims.
    generator
        As in `random`.
    training
        If False, `x` is returned unchanged.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The numbers after dropout, over the dims of `x`.

    Raises
    ------
    ValueError
        The share is below 0 or above 1.
    TypeError
        `x` holds integers or bools.
    IndexError
        There is no such dim.

    Notes
    -----
    As RETURNN's `dropout`, whose `axis` is called `axes` here. A dropped number is 0, even if it was NaN.

    Examples
    --------
    >>> feature = vl.Dim("feature", 4)
    >>> x = vl.Data(np.ones((2, 4)), [vl.dims.batch_dim, feature])
    >>> vl.dims.dropout(x, 0.5, axes=feature, generator=1).values
    array([[2., 2., 0., 2.],
           [2., 2., 0., 2.]])
    """
    p = as_fraction(p, "p")
    check_data(x, "x")
    if "float" not in dtype_name(x.dtype):
        raise dtype_error("x", "floats", x.dtype)
    if not as_bool(training, "training") or p == 0:
        return check_out_shape(x, out_shape)
    shape = _drawn_over(x._shape, None if axes is None else tuple(sorted(places(x, axes, "axes"))))
    draw = _drawn_by_torch if _is_of_torch(generator, x._values) else _drawn_by_numpy
    noise = draw("uniform", shape.array_shape, (0, 1), (0.0, 1.0), generator, np.float32, x._values)
    mask, values = unify_kind([align(noise >= p, shape, x._shape), x._values])
    quotients = values * (1 / (1 - p) if p < 1 else 0.0)
    return check_out_shape(x._map(lambda _: backend_of(mask).where(mask, quotients, 0.0)), out_shape)


@cached_plan
def _drawn_over(shape: Shape, axes: tuple[int, ...] | None) -> Shape:
    """The shape of some of the dims, all if nothing is said."""
    dims = shape.dims if axes is None else [_dim_alone(shape, k, axes) for k in axes]
    return shape_of(dims)[0]


def _dim_alone(shape: Shape, k: int, axes: Sequence[int]) -> Dim:
    """A dim as it is where some of what it is over is left out: as long as the longest."""
    dim = shape.dims[k]
    if all(shape.find(outer_dim) in axes for outer_dim in dim.over):
        return dim
    return dim._bound(shape.extent(k))
