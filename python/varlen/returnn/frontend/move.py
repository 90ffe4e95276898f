"""Concatenating, padding and slicing dims, as RETURNN's frontend names it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from varlen import dims
from varlen.dims import Data, Dim
from varlen.errors import value_error
from varlen.returnn.frontend.convert import number
from varlen.returnn.frontend.faces import identity, sigmoid, split
from varlen.returnn.frontend.operands import check_operand, check_pair, check_tensor
from varlen.returnn.tensor import Tensor, as_tensor


def concat(
    *sources: tuple[Data[Any], Dim],
    allow_broadcast: bool = False,
    out_dim: Dim | None = None,
    handle_dynamic_dims: bool | None = None,
) -> tuple[Tensor, Dim]:
    """Concatenate tensors, each along a dim of its own; dynamic dims row by row.

    Parameters
    ----------
    *sources
        Pairs of a tensor and its dim.
    allow_broadcast
        Whether to repeat tensors over the dims that only others have.
    out_dim
        The sum of the dims.
    handle_dynamic_dims
        Accepted for compatibility: each row ends at its own end.

    Returns
    -------
    tuple of Tensor and Dim
        The result, and the sum of the dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, time])
    >>> y, both = rf.concat((x, time), (x, time))
    >>> y.to_list(), both == time + time
    ([[3, 1, 3, 1], [4, 4]], True)
    """
    for i, pair in enumerate(sources):
        check_pair(pair, f"sources[{i}]")
    result = dims.concat(*sources, out_dim=out_dim, broadcast=allow_broadcast)
    total = sources[0][1]
    for _, dim in sources[1:]:
        total = total + dim
    return as_tensor(result), result.axis(total if out_dim is None else out_dim)


def concat_features(*sources: Data[Any], allow_broadcast: bool = False) -> Tensor:
    """Concatenate tensors along their features.

    Parameters
    ----------
    *sources
        Tensors with features.
    allow_broadcast
        Whether to repeat tensors over the dims that only others have.

    Returns
    -------
    Tensor
        The result, with the sum of the features.

    Raises
    ------
    ValueError
        A tensor has no features.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x, y = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)]), vl.Data(np.array([4]), [vl.Dim("one", 1)])
    >>> rf.concat_features(x, y).values
    array([3, 1, 4])
    """
    for i, part in enumerate(sources):
        check_tensor(part, f"sources[{i}]")
    parts = []
    for k, source in enumerate(sources):
        feature = source.feature_dim
        if feature is None:
            raise value_error("sources", f"source {k}, {source!r}, has no feature dim")
        parts.append((source, feature))
    result, dim = concat(*parts, allow_broadcast=allow_broadcast)
    return result.copy(feature_dim=dim)


def cum_concat_step(
    source: Data[Any], *, prev_accum: Data[Any], axis: Dim, out_spatial_dim: Dim | None = None
) -> tuple[Tensor, Dim]:
    """Append one position to each row.

    Parameters
    ----------
    source
        The values of the new position, without the dim.
    prev_accum
        The values before it.
    axis
        The dim of prev_accum.
    out_spatial_dim
        The longer dim.

    Returns
    -------
    tuple of Tensor and Dim
        The result, and the dim axis + 1.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 0])
    >>> x = vl.Data(np.array([3, 1]), [vl.dims.batch_dim, time])
    >>> new = vl.Data(np.array([8, 9]), [vl.dims.batch_dim])
    >>> y, longer = rf.cum_concat_step(new, prev_accum=x, axis=time)
    >>> y.to_list(), longer == time + 1
    ([[3, 1, 8], [9]], True)
    """
    check_tensor(source, "source")
    check_tensor(prev_accum, "prev_accum")
    one = Dim(1, name="step")
    out = axis + 1 if out_spatial_dim is None else out_spatial_dim
    return concat((prev_accum, axis), (dims.expand_dim(source, one), one), allow_broadcast=True, out_dim=out)


def gating(
    x: Data[Any],
    *,
    axis: Dim | None = None,
    gate_func: Callable[[Tensor], Data[Any]] = sigmoid,
    act_func: Callable[[Tensor], Data[Any]] = identity,
    out_dim: Dim | None = None,
) -> tuple[Tensor, Dim]:
    """Multiply the first half of the features by a gate made of the second half.

    Parameters
    ----------
    x
        Floats.
    axis
        The dim to halve; the features by default.
    gate_func, act_func
        The functions of the second half, and of the first.
    out_dim
        The dim of a half.

    Returns
    -------
    tuple of Tensor and Dim
        The result, with half as many features, and their dim.

    Raises
    ------
    ValueError
        There are no features, or an odd number of them.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3.0, 1.0, 0.0, np.inf]), [vl.Dim("four", 4)])
    >>> rf.gating(x)[0].values
    array([1.5, 1. ])
    """
    check_tensor(x, "x")
    dim = x.feature_dim if axis is None else axis
    if dim is None or dim.size is None or dim.size % 2:
        raise value_error("axis", f"expected an even number of features, got {dim!r} of {x!r}")
    half = dim.div_left(2) if out_dim is None else out_dim
    active, gate = split(x, axis=dim, out_dims=[half, half])
    return as_tensor(act_func(active) * gate_func(gate)), half


def stack(sources: Sequence[Data[Any]], *, out_dim: Dim | None = None) -> tuple[Tensor, Dim]:
    """Stack tensors of the same dims along a new dim.

    Parameters
    ----------
    sources
        Tensors.
    out_dim
        The new dim.

    Returns
    -------
    tuple of Tensor and Dim
        The result, and the new dim.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.stack([x, x, x])[1].size
    3
    """
    for i, part in enumerate(sources):
        check_tensor(part, f"sources[{i}]")
    result = dims.stack(sources, out_dim)
    return as_tensor(result), next(dim for dim in result.dims if dim not in sources[0].dims_set)


def unstack(source: Data[Any], *, axis: Dim) -> tuple[Tensor, ...]:
    """Split a tensor along a dim; the inverse of `stack`.

    Parameters
    ----------
    source
        Any values.
    axis
        A dim of fixed size.

    Returns
    -------
    tuple of Tensor
        One for each position, without the dim.

    Raises
    ------
    ValueError
        The lengths of the dim differ.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> two, three = vl.Dim("two", 2), vl.Dim("three", 3)
    >>> x = vl.Data(np.arange(6).reshape(2, 3), [two, three])
    >>> [part.to_list() for part in rf.unstack(x, axis=two)]
    [[0, 1, 2], [3, 4, 5]]
    """
    check_tensor(source, "source")
    if axis.size is None:
        raise value_error("axis", f"expected a dim of fixed size, got {axis!r}")
    places = [Data(np.asarray(k), []) for k in range(axis.size)]
    return tuple([as_tensor(dims.gather(source, place, axis)) for place in places])


def pad(
    source: Data[Any],
    *,
    axes: Sequence[Dim],
    padding: Any,
    out_dims: Sequence[Dim] | None = None,
    mode: str = "constant",
    value: Data[Any] | complex | None = None,
    handle_dynamic_dims: bool | None = None,
) -> tuple[Tensor, list[Dim]]:
    """Pad rows at both ends, along some dims.

    Parameters
    ----------
    source
        Any values.
    axes
        The dims.
    padding
        The numbers of positions on the left and on the right, for each dim or for all: numbers or dims, also
        dynamic ones.
    out_dims
        The longer dims.
    mode
        "constant", "reflect" or "replicate".
    value
        The value of the new positions: a number, or a tensor without dims; by default the class "[PAD]" of a
        vocabulary, else 0.
    handle_dynamic_dims
        Accepted for compatibility: each row ends at its own end.

    Returns
    -------
    tuple of Tensor and list of Dim
        The result, and the longer dims: left + axis + right.

    Notes
    -----
    Each row is padded at its own ends, also by dynamic dims, which RETURNN refuses.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, time])
    >>> y, (longer,) = rf.pad(x, axes=[time], padding=[(1, 0)], value=9)
    >>> y.to_list(), longer == 1 + time
    ([[9, 3, 1], [9, 4]], True)
    """
    check_tensor(source, "source")
    if value is not None:
        check_operand(value, "value")
    one = len(padding) == 2 and not isinstance(padding[0], (tuple, list))
    pairs = [padding] * len(axes) if one else list(padding)
    left, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    fill = None if value is None else number(value, "value")
    result = dims.pad(source, list(axes), left, right, value=fill, mode=mode, out_dim=out_dims)
    longer = [begin + axis + end for axis, begin, end in zip(axes, left, right, strict=True)]
    return as_tensor(result), [result.axis(dim) for dim in (longer if out_dims is None else out_dims)]


def slice(
    source: Data[Any],
    *,
    axis: Dim,
    start: Any = None,
    end: Any = None,
    step: int | None = None,
    size: Any = None,
    out_dim: Dim | None = None,
) -> tuple[Tensor, Dim]:
    """Slice each row along a dim.

    Parameters
    ----------
    source
        Any values.
    axis
        The dim.
    start, end
        The bounds, as in Python's slices, for all rows or for each.
    step
        The distance between positions.
    size
        The number of positions, instead of `end`.
    out_dim
        The dim of the result.

    Returns
    -------
    tuple of Tensor and Dim
        The result, and its dim. A row that is too short gives fewer positions; RETURNN pads it.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([3, 1, 4, 1]), [vl.dims.batch_dim, time])
    >>> rf.slice(x, axis=time, end=2)[0].to_list()
    [[3, 1], [1]]
    """
    check_tensor(source, "source")
    place = source.dims.index(source.axis(axis))
    result = dims.slice(source, axis, start, end, 1 if step is None else step, size=size, out_dim=out_dim)
    return as_tensor(result), result.dims[place]
