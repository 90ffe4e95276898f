"""Gathering, scattering, selecting and sorting positions, as RETURNN's frontend names it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import dims as _dims
from varlen.dims import Data, Dim
from varlen.errors import value_error
from varlen.returnn.frontend.convert import number
from varlen.returnn.frontend.operands import check_operand, check_tensor
from varlen.returnn.tensor import Tensor, as_tensor

if TYPE_CHECKING:
    pass


def gather(
    source: Data[Any], *, indices: Data[Any] | int, axis: Dim | None = None, clip_to_valid: bool = False
) -> Tensor:
    """Gather the values at positions along a dim.

    Parameters
    ----------
    source
        Any values.
    indices
        The positions, or one for all. Dims that both have are aligned.
    axis
        The dim; `indices.sparse_dim` by default.
    clip_to_valid
        Whether to clip positions outside a row to its ends.

    Returns
    -------
    Tensor
        The values, with the dims of `indices` in place of `axis`.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([3, 1, 4, 1]), [vl.dims.batch_dim, time])
    >>> rf.gather(x, indices=rf.reduce_argmax(x, axis=time)).to_list()
    [4, 1]
    """
    check_tensor(source, "source")
    check_operand(indices, "indices")
    places = indices if isinstance(indices, Data) else Data(np.asarray(indices), [])
    return as_tensor(_dims.gather(source, places, axis, clip=clip_to_valid))


def scatter(
    source: Data[Any],
    *,
    indices: Data[Any],
    indices_dim: Dim | Sequence[Dim],
    mode: str = "sum",
    fill_value: Any = None,
    out_dim: Dim | None = None,
    use_mask: bool | None = None,
) -> Tensor:
    """Scatter values to positions along a new dim, and reduce those that meet.

    Parameters
    ----------
    source
        Any values.
    indices
        The positions.
    indices_dim
        The dims of `source` to reduce.
    mode
        The reduction: "sum", "max", "min", "mean" and more, as in `varlen.dims.scatter`.
    fill_value
        The value of positions that get none; by default 0 for a mean, as in RETURNN, otherwise as in
        `varlen.dims.scatter`.
    out_dim
        The new dim; `indices.sparse_dim` by default.
    use_mask
        Accepted for compatibility: there is no padding to mask.

    Returns
    -------
    Tensor
        The results, with the new dim.

    Raises
    ------
    ValueError
        There is no `out_dim`, and `indices` have no `sparse_dim`.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> words, time = vl.Dim("words", 3), vl.Dim("time", lengths=[3, 1])
    >>> ids = vl.Data(np.array([2, 0, 2, 1]), [vl.dims.batch_dim, time], sparse_dim=words)
    >>> ones = vl.Data(np.ones(4, int), [vl.dims.batch_dim, time])
    >>> rf.scatter(ones, indices=ids, indices_dim=time).to_list()
    [[1, 0, 2], [0, 1, 0]]
    """
    check_tensor(source, "source")
    check_tensor(indices, "indices")
    target = indices.sparse_dim if out_dim is None else out_dim
    if target is None:
        raise value_error("out_dim", "expected a Dim, because indices have no sparse_dim")
    fill = 0 if fill_value is None and mode == "mean" else fill_value
    return as_tensor(_dims.scatter(source, indices, target, mode=mode, fill=fill, axis=indices_dim))


def scatter_count(
    *,
    indices: Data[Any],
    indices_dim: Dim | Sequence[Dim],
    out_dim: Dim | None = None,
    fill_value: int | None = None,
) -> Tensor:
    """Count how often each position occurs.

    Parameters
    ----------
    indices
        The positions.
    indices_dim
        The dims to reduce.
    out_dim
        The dim of the counts; `indices.sparse_dim` by default.
    fill_value
        The value of positions that do not occur; 0 by default.

    Returns
    -------
    Tensor
        int32, with the new dim.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> words, time = vl.Dim("words", 3), vl.Dim("time", lengths=[3, 1])
    >>> ids = vl.Data(np.array([2, 0, 2, 1]), [vl.dims.batch_dim, time], sparse_dim=words)
    >>> rf.scatter_count(indices=ids, indices_dim=time).to_list()
    [[1, 0, 2], [0, 1, 0]]
    """
    check_tensor(indices, "indices")
    ones = _dims.ones(indices.dims, dtype="int32", like=indices)
    return scatter(ones, indices=indices, indices_dim=indices_dim, fill_value=fill_value, out_dim=out_dim)


def _scatter_function(mode: str, what: str) -> Callable[..., Tensor]:
    def function(
        source: Data[Any],
        *,
        indices: Data[Any],
        indices_dim: Dim | Sequence[Dim],
        fill_value: float | None = None,
        out_dim: Dim | None = None,
    ) -> Tensor:
        keywords = {"indices": indices, "indices_dim": indices_dim, "out_dim": out_dim}
        return scatter(source, mode=mode, fill_value=fill_value, **keywords)  # type: ignore[arg-type]

    name = f"scatter_{mode}"
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{what} of the values that are put to each place along a new dim.

    Parameters
    ----------
    source, indices, indices_dim, fill_value, out_dim
        As in `scatter`.

    Returns
    -------
    Tensor
        The results, with the new dim.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> ids = vl.Data(np.array([2, 0, 2]), [vl.Dim("three", 3)], sparse_dim=vl.Dim("words", 3))
    >>> rf.{name}(ids.cast(float), indices=ids, indices_dim=ids.dims[0]).dims == (ids.sparse_dim,)
    True
    """
    return function


scatter_mean = _scatter_function("mean", "The mean")
scatter_logsumexp = _scatter_function("logsumexp", "The logarithm of the sum of exponentials")


def repeat(
    values: Data[Any],
    *,
    in_spatial_dim: Dim,
    repeats: Data[Any] | int,
    out_spatial_dim: Dim | None = None,
    max_len_factor: float | None = None,
) -> tuple[Tensor, Dim]:
    """Repeat each position a number of times.

    Parameters
    ----------
    values
        Any values.
    in_spatial_dim
        The dim.
    repeats
        The number of times, for all positions or for each.
    out_spatial_dim
        The dim of the result.
    max_len_factor
        The largest factor by which a row may grow. In rows that would be longer, each repeated position stays
        once; further repeats are scaled by one factor and rounded down.

    Returns
    -------
    tuple of Tensor and Dim
        The result, and its dim, which is as long as the sum of `repeats`.

    Raises
    ------
    ValueError
        `max_len_factor` is below 1.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3, 1, 2]), [vl.dims.batch_dim, time])
    >>> rf.repeat(x, in_spatial_dim=time, repeats=x)[0].to_list()
    [[3, 3, 3, 1], [2, 2]]
    """
    check_tensor(values, "values")
    check_operand(repeats, "repeats")
    if max_len_factor is not None:
        repeats = _limit_counts(repeats, values.axis(in_spatial_dim), max_len_factor)
    result, dim = _dims.repeat(values, in_spatial_dim, repeats, out_spatial_dim)
    return as_tensor(result), dim


def _limit_counts(repeats: Data[Any] | int, dim: Dim, factor: float) -> Data[Any] | int:
    """Counts that add up to no more than a factor times as many positions as each row has."""
    if factor < 1:
        raise value_error("max_len_factor", f"expected at least 1, got {factor}")
    if not isinstance(repeats, Data):
        return min(repeats, int(factor))
    if dim not in repeats.dims_set:
        repeats = _dims.expand_dim(repeats, dim)
    counts = repeats.numpy().cast("int64")
    base = (counts > 0).cast("int64")
    rest = counts - base
    limit = factor * (base * 0 + 1).sum(dim)
    scale = (limit - base.sum(dim)) / _dims.combine("maximum", rest.sum(dim), 1)
    scale = _dims.where(counts.sum(dim) > limit, scale, 1.0)
    result: Data[Any] = base + _dims.floor(rest * scale).cast("int64")
    return result.cast(repeats._values.dtype)


def masked_select(
    tensor: Data[Any], *, mask: Data[Any], dims: Sequence[Dim], out_dim: Dim | None = None
) -> tuple[Tensor, Dim]:
    """Select the positions of some dims where a mask is True, as one dim.

    Parameters
    ----------
    tensor
        Any values.
    mask
        Bools.
    dims
        The dims to replace. With one dim, each row keeps its own positions.
    out_dim
        The dim of the selected positions.

    Returns
    -------
    tuple of Tensor and Dim
        The values, without padding, and their dim.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([3, 1, 4, 1]), [vl.dims.batch_dim, time])
    >>> rf.masked_select(x, mask=x > 1, dims=[time])[0].to_list()
    [[3, 4], []]
    """
    check_tensor(tensor, "tensor")
    check_tensor(mask, "mask")
    result, dim = _dims.masked_select(tensor, mask, list(dims), out_dim)
    return as_tensor(result), dim


def masked_scatter(
    source: Data[Any],
    backup: Data[Any] | float | None = None,
    *,
    mask: Data[Any],
    dims: Sequence[Dim],
    in_dim: Dim,
) -> Tensor:
    """The inverse of `masked_select`.

    Parameters
    ----------
    source
        Values for the positions where the mask is True.
    backup
        Values for the others; 0 by default.
    mask
        Bools.
    dims
        The dims that replace `in_dim`.
    in_dim
        The dim of `source` to replace.

    Returns
    -------
    Tensor
        The values, over the dims of the mask and the other dims of `source`.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([3, 1, 4, 1]), [vl.dims.batch_dim, time])
    >>> y, some = rf.masked_select(x, mask=x > 1, dims=[time])
    >>> rf.masked_scatter(y, mask=x > 1, dims=[time], in_dim=some).to_list()
    [[3, 0, 4], [0]]
    """
    check_tensor(source, "source")
    if backup is not None:
        check_operand(backup, "backup")
    check_tensor(mask, "mask")
    others = 0 if backup is None else backup
    return as_tensor(_dims.masked_scatter(source, mask, list(dims), backup=others, in_dim=in_dim))


def merge_dims(source: Data[Any], *, dims: Sequence[Dim], out_dim: Dim | None = None) -> tuple[Tensor, Dim]:
    """Merge some dims into one; the first dim varies slowest.

    Parameters
    ----------
    source
        Any values.
    dims
        The dims, whose product has a fixed size in each row. Use `pack_padded` for others.
    out_dim
        The product of the dims.

    Returns
    -------
    tuple of Tensor and Dim
        The result, and the product of the dims.

    Notes
    -----
    RETURNN merges the padding of dynamic dims as well.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> two, three = vl.Dim("two", 2), vl.Dim("three", 3)
    >>> x = vl.Data(np.arange(6).reshape(2, 3), [two, three])
    >>> rf.merge_dims(x, dims=[two, three])[1] == two * three
    True
    """
    check_tensor(source, "source")
    result = _dims.merge_dims(source, list(dims), out_dim)
    return as_tensor(result), _new_dim(result, source)


def split_dims(
    source: Data[Any],
    *,
    axis: Dim,
    dims: Sequence[Dim],
    pad_to_multiples: bool | None = None,
    pad_value: complex | None = None,
) -> Tensor:
    """Split one dim into several; the first dim varies slowest.

    Parameters
    ----------
    source
        Any values.
    axis
        The dim.
    dims
        The dims, whose product is `axis`. One of them may have no size.
    pad_to_multiples
        Whether to pad the dim up to a multiple; by default if there is a `pad_value`.
    pad_value
        The value of the padding; 0 by default.

    Returns
    -------
    Tensor
        The values, with these dims in place of `axis`.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> two, three = vl.Dim("two", 2), vl.Dim("three", 3)
    >>> x = vl.Data(np.arange(6), [two * three])
    >>> rf.split_dims(x, axis=two * three, dims=[two, three]).to_list()
    [[0, 1, 2], [3, 4, 5]]
    """
    check_tensor(source, "source")
    if pad_to_multiples is not None:
        pad_value = (pad_value or 0) if pad_to_multiples else None
    return as_tensor(_dims.split_dims(source, axis, dims, pad_value=pad_value))


def pack_padded(
    source: Data[Any], *, dims: Sequence[Dim], enforce_sorted: bool = False, out_dim: Dim | None = None
) -> tuple[Tensor, Dim]:
    """Pack the valid positions of some dims into one dim, in the order of these dims.

    Parameters
    ----------
    source
        Any values.
    dims
        The dims, the slowest first.
    enforce_sorted
        Accepted for compatibility: rows keep their order, sorted by length or not.
    out_dim
        The packed dim.

    Returns
    -------
    tuple of Tensor and Dim
        The values, without padding, and their dim.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, time])
    >>> rf.pack_padded(x, dims=[time, vl.dims.batch_dim])[0].to_list()
    [3, 4, 1]
    """
    check_tensor(source, "source")
    result = _dims.flatten(source, list(dims), out_dim)
    return as_tensor(result), _new_dim(result, source)


def top_k(
    source: Data[Any],
    *,
    axis: Dim | Sequence[Dim],
    k: Data[Any] | int | None = None,
    k_dim: Dim | None = None,
    sorted: bool = True,
) -> tuple[Tensor, Any, Dim]:
    """The k greatest numbers over some dims, in descending order, and their positions.

    Parameters
    ----------
    source
        Numbers.
    axis
        One dim or several.
    k
        The number of results: a number, or a tensor without dims.
    k_dim
        The dim of the numbers.
    sorted
        Accepted for compatibility: the results are sorted.

    Returns
    -------
    tuple of Tensor, Tensor or list of Tensor, and Dim
        The numbers, their positions along the dim or along each of several, and the new dim.

    Raises
    ------
    ValueError
        There is neither k nor k_dim.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([[3, 1, 4], [1, 5, 9]]), [vl.dims.batch_dim, vl.Dim("words", 3)])
    >>> values, places, best = rf.top_k(x, axis=x.dims[1], k=2)
    >>> values.to_list(), places.to_list(), best.size
    ([[4, 3], [9, 5]], [[2, 0], [2, 1]], 2)
    """
    check_tensor(source, "source")
    if k is not None:
        check_operand(k, "k")
    count = k_dim if k is None else number(k, "k")
    if count is None:
        raise value_error("k", "pass k or k_dim")
    values, places, dim = _dims.top_k(source, axis, count, k_dim)
    indices = [as_tensor(place) for place in places]
    return as_tensor(values), indices[0] if isinstance(axis, Dim) else indices, dim


def sort(
    source: Data[Any], *, axis: Dim, descending: bool = False, stable: bool = True
) -> tuple[Tensor, Tensor, Dim]:
    """Sort the numbers of each row.

    Parameters
    ----------
    source
        Numbers.
    axis
        The dim; its lengths may differ, unlike in RETURNN.
    descending
        Whether the greatest comes first.
    stable
        Accepted for compatibility: equal numbers keep their order.

    Returns
    -------
    tuple of Tensor, Tensor and Dim
        The sorted numbers, their original positions, and the dim, which is `axis`.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([3, 1, 4, 1]), [vl.dims.batch_dim, time])
    >>> [part.to_list() for part in rf.sort(x, axis=time)[:2]]
    [[[1, 3, 4], [1]], [[1, 0, 2], [0]]]
    """
    check_tensor(source, "source")
    values, places = _dims.sort(source, axis, descending=descending)
    return as_tensor(values), as_tensor(places), values.axis(axis)


def top_k_mask(values: Data[Any], *, axis: Dim, k: Data[Any] | int) -> Tensor:
    """The mask of the k greatest numbers over a dim.

    Parameters
    ----------
    values
        Numbers.
    axis
        The dim.
    k
        The number of results: a number, or a tensor without dims.

    Returns
    -------
    Tensor
        Bools over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([[3, 1, 4], [1, 5, 9]]), [vl.dims.batch_dim, vl.Dim("words", 3)])
    >>> rf.top_k_mask(x, axis=x.dims[1], k=1).to_list()
    [[False, False, True], [False, False, True]]
    """
    check_tensor(values, "values")
    check_operand(k, "k")
    _, places, best = top_k(values, axis=axis, k=k)
    marks = _dims.full(places.dims, True, like=places, dtype="bool")
    is_best = _dims.scatter(marks, places, values.axis(axis), mode="any", fill=False, axis=best)
    return as_tensor(is_best.transpose(values.dims))


def _new_dim(result: Data[Any], source: Data[Any]) -> Dim:
    return next(dim for dim in result.dims if dim not in source.dims_set)
