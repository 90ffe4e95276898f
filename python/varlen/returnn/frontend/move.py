"""Positions that move along dims, as RETURNN's frontend names it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from varlen import dims
from varlen.dims import Data, Dim
from varlen.returnn.tensor import Tensor, as_tensor


def concat(
    *sources: tuple[Data[Any], Dim], allow_broadcast: bool = False, out_dim: Dim | None = None
) -> tuple[Tensor, Dim]:
    """Tensors one behind the other, each along a dim of its own; of dynamic ones row by row.

    Parameters
    ----------
    *sources
        A tensor and its dim, each.
    allow_broadcast
        Whether tensors that lack a dim of others are repeated over it.
    out_dim
        What the sum of the dims is called.

    Returns
    -------
    tuple of Tensor and Dim
        The dim is the sum of the dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, time])
    >>> y, both = rf.concat((x, time), (x, time))
    >>> y.to_list(), both == time + time
    ([[3, 1, 3, 1], [4, 4]], True)
    """
    result = dims.concat(*sources, out_dim=out_dim, broadcast=allow_broadcast)
    total = sources[0][1]
    for _, dim in sources[1:]:
        total = total + dim
    return as_tensor(result), result.axis(total if out_dim is None else out_dim)


def split(source: Data[Any], *, axis: Dim, out_dims: Sequence[Dim]) -> tuple[Tensor, ...]:
    """The parts of which a dim is the sum.

    Parameters
    ----------
    source
        Any values.
    axis
        The dim.
    out_dims
        Dims of the parts; their sum is as long.

    Returns
    -------
    tuple of Tensor
        One for each dim.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> two, three = vl.Dim("two", 2), vl.Dim("three", 3)
    >>> x = vl.Data(np.arange(5), [two + three])
    >>> [part.to_list() for part in rf.split(x, axis=two + three, out_dims=[two, three])]
    [[0, 1], [2, 3, 4]]
    """
    return tuple([as_tensor(part) for part in dims.split(source, axis, out_dims)])


def stack(sources: Sequence[Data[Any]], *, out_dim: Dim | None = None) -> tuple[Tensor, Dim]:
    """Tensors of the same dims along a new one.

    Parameters
    ----------
    sources
        Tensors.
    out_dim
        The new dim.

    Returns
    -------
    tuple of Tensor and Dim
        The dim counts the tensors.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.stack([x, x, x])[1].size
    3
    """
    result = dims.stack(sources, out_dim)
    return as_tensor(result), next(dim for dim in result.dims if dim not in sources[0].dims_set)


def pad(
    source: Data[Any],
    *,
    axes: Sequence[Dim],
    padding: Any,
    out_dims: Sequence[Dim] | None = None,
    mode: str = "constant",
    value: Any = 0,
) -> tuple[Tensor, list[Dim]]:
    """More positions before and behind those of some dims.

    Parameters
    ----------
    source
        Any values.
    axes
        The dims.
    padding
        How many before and behind, for each dim or for all; numbers or dims, also dynamic ones.
    out_dims
        What the longer dims are called.
    mode
        "constant", "reflect" or "replicate".
    value
        Of the new positions.

    Returns
    -------
    tuple of Tensor and list of Dim
        The longer dims: left + axis + right.

    Notes
    -----
    Each row is padded at its own ends, by dims of its own too, which RETURNN refuses.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, time])
    >>> y, (longer,) = rf.pad(x, axes=[time], padding=[(1, 0)], value=9)
    >>> y.to_list(), longer == 1 + time
    ([[9, 3, 1], [9, 4]], True)
    """
    one = len(padding) == 2 and not isinstance(padding[0], (tuple, list))
    pairs = [padding] * len(axes) if one else list(padding)
    left, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    result = dims.pad(source, list(axes), left, right, value=value, mode=mode, out_dim=out_dims)
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
    """Positions of a dim from one place to another, of each row.

    Parameters
    ----------
    source
        Any values.
    axis
        The dim.
    start, end
        Places, as slices have them, for all rows or one for each.
    step
        How far positions are apart.
    size
        How many, in place of `end`.
    out_dim
        What the dim is called then.

    Returns
    -------
    tuple of Tensor and Dim
        A row that is shorter than asked has what it has; RETURNN gives it padding.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([3, 1, 4, 1]), [vl.dims.batch_dim, time])
    >>> rf.slice(x, axis=time, end=2)[0].to_list()
    [[3, 1], [1]]
    """
    place = source.dims.index(axis)
    result = dims.slice(source, axis, start, end, 1 if step is None else step, size=size, out_dim=out_dim)
    return as_tensor(result), result.dims[place]


def shift_right(source: Data[Any], *, axis: Dim, pad_value: Any, amount: int = 1) -> Tensor:
    """What stood some positions before, in each row.

    Parameters
    ----------
    source
        Any values.
    axis
        The dim.
    pad_value
        Of the first positions.
    amount
        How far.

    Returns
    -------
    Tensor
        Over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([3, 1, 4, 1]), [vl.dims.batch_dim, time])
    >>> rf.shift_right(x, axis=time, pad_value=0).to_list()
    [[0, 3, 1], [0]]
    """
    return as_tensor(dims.shift(source, axis, amount, value=pad_value))


def shift_left(source: Data[Any], *, axis: Dim, pad_value: Any, amount: int = 1) -> Tensor:
    """What stands some positions behind, in each row.

    Parameters
    ----------
    source, axis, pad_value, amount
        As those of `shift_right`.

    Returns
    -------
    Tensor
        Over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([3, 1, 4, 1]), [vl.dims.batch_dim, time])
    >>> rf.shift_left(x, axis=time, pad_value=0).to_list()
    [[1, 4, 0], [0]]
    """
    return as_tensor(dims.shift(source, axis, -amount, value=pad_value))


def reverse_sequence(tensor: Data[Any], *, axis: Dim) -> Tensor:
    """Each row the other way round.

    Parameters
    ----------
    tensor
        Any values.
    axis
        The dim.

    Returns
    -------
    Tensor
        Over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([3, 1, 4, 1]), [vl.dims.batch_dim, time])
    >>> rf.reverse_sequence(x, axis=time).to_list()
    [[4, 1, 3], [1]]
    """
    return as_tensor(dims.reverse(tensor, axis))
