"""Random numbers, as RETURNN's frontend names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import dims as _dims
from varlen.arguments import one_of
from varlen.dims import Data, Dim
from varlen.dims.base import dtype_name
from varlen.errors import value_error
from varlen.returnn.frontend.convert import FLOAT, number, on_device, with_roles
from varlen.returnn.frontend.operands import check_operand, check_tensor
from varlen.returnn.tensor import Tensor

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    SeedLike = int | Sequence[int] | NDArray[np.integer[Any]]

_DISTRIBUTIONS = ("uniform", "normal", "truncated_normal")


def random(
    dims: Sequence[Dim],
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    sparse_dim: Dim | None = None,
    feature_dim: Dim | None = None,
    distribution: str,
    mean: Data[Any] | float | None = None,
    stddev: Data[Any] | float | None = None,
    bound: Data[Any] | float | None = None,
    minval: Data[Any] | float | None = None,
    maxval: Data[Any] | float | None = None,
    seed: SeedLike | None = None,
    algorithm: str | None = None,
    explicit_state: None = None,
    auto_update_state: bool | None = None,
    static: bool | None = None,
    out: None = None,
    like: Data[Any] | None = None,
) -> Tensor:
    """Draw random numbers.

    Parameters
    ----------
    dims
        Dims with lengths.
    dtype
        The dtype of the numbers; float32 by default, or that of `like`. Integers are drawn as integers.
    device
        The device of the result: "cpu" gives an array, others a tensor.
    sparse_dim
        The Dim that integers index.
    feature_dim
        The dim that "F" stands for.
    distribution
        "uniform", "normal", or "truncated_normal", which is cut at two standard deviations.
    mean, stddev
        The parameters of a normal distribution, 0 and 1 by default: numbers, or tensors without dims.
    bound
        A number that sets `minval` and `maxval` of a uniform distribution to -bound and bound.
    minval, maxval
        The bounds of a uniform distribution, 0 and 1 by default; `maxval` is exclusive.
    seed
        The seed; by default the numbers differ each time.
    algorithm, auto_update_state, static
        Accepted for compatibility.
    explicit_state, out
        Must be None: there is no state, and nothing to fill.
    like
        A tensor that gives the kind of array, the device and the dtype by default.

    Returns
    -------
    Tensor
        The random numbers, over these dims.

    Raises
    ------
    ValueError
        The distribution is unknown, `explicit_state` or `out` is given, or the bounds of a truncated normal
        distribution are not at two standard deviations.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.random([vl.Dim("two", 2)], distribution="normal", stddev=0.0, mean=3).values
    array([3., 3.], dtype=float32)
    """
    if mean is not None:
        check_operand(mean, "mean")
    if stddev is not None:
        check_operand(stddev, "stddev")
    if bound is not None:
        check_operand(bound, "bound")
    if minval is not None:
        check_operand(minval, "minval")
    if maxval is not None:
        check_operand(maxval, "maxval")
    if like is not None:
        check_tensor(like, "like")
    one_of(distribution, "distribution", _DISTRIBUTIONS)
    for word, value in (("explicit_state", explicit_state), ("out", out)):
        if value is not None:
            raise value_error(word, "expected None: no state is kept, and no tensor is filled", "pass seed=")
    moments = [(mean, "mean", 0.0), (stddev, "stddev", 1.0)]
    center, spread = [default if x is None else number(x, word) for x, word, default in moments]
    if bound is not None:
        minval, maxval = -bound, bound
    low, high = number(minval, "minval"), number(maxval, "maxval")
    if distribution == "truncated_normal":
        cuts = center - 2 * spread, center + 2 * spread
        for word, value, cut in zip(("minval", "maxval"), (low, high), cuts, strict=True):
            if value is not None and value != cut:
                raise value_error(word, f"expected {cut}, two standard deviations on, got {value}")
    out_dtype = (FLOAT if like is None else dtype_name(like.dtype)) if dtype is None else dtype
    kind = "randint" if "int" in str(out_dtype) and distribution == "uniform" else distribution
    high = 1 if kind == "randint" and high is None else high
    sample = _dims.random(
        kind, dims, low=low, high=high, mean=center, std=spread, generator=seed, dtype=out_dtype, like=like
    )
    return on_device(with_roles(sample, sparse_dim, feature_dim), device)
