"""Convert xarray's arrays, whose axes have names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim
from varlen.dims.axes import describe
from varlen.dims.export import to_padded
from varlen.dims.make import check_dims, from_padded
from varlen.dims.place import lengths_of
from varlen.errors import value_error

if TYPE_CHECKING:
    from varlen.backends.values import RowsLike
    from varlen.dims.data import Data


def from_xarray(array: Any, dims: Sequence[Dim] = (), **facts: Any) -> Data[Any]:
    """As `Data.from_xarray`."""
    coords: Mapping[str, Any] = array.coords
    dim_list = _dims_of([str(name) for name in array.dims], np.shape(array.values), dims, coords)
    return from_padded(array.values, dim_list, **{"name": array.name, **facts})


def to_xarray(data: Data[Any], fill: RowsLike | None = None) -> Any:
    """As `Data.to_xarray`."""
    import xarray

    names = _names_of(data)
    data = data.cpu().numpy()
    if fill is None:
        fill = np.nan if data._values.dtype.kind in "fc" else None
    coords: dict[str, Any] = {}
    for dim in data.dims:
        if dim.is_dynamic and dim.over:
            coords[f"{dim.name}_lengths"] = (
                [x.name for x in dim.over],
                to_padded(lengths_of(dim), None, 0, "right"),
            )
        if dim.vocab is not None:
            coords[dim.name] = list(dim.vocab.labels)
    return xarray.DataArray(data.to_padded(fill=fill), coords, names, data.name)


def _dims_of(
    names: Sequence[str], sizes: Sequence[int], dims: Sequence[Dim], coords: Mapping[str, Any]
) -> list[Dim]:
    """A dim for each axis: that of its name, else a new one of its size or of the lengths beside it."""
    dim_list = check_dims(dims)
    dim_by_name = {dim.name: dim for dim in dim_list}
    for dim in dim_list:
        if dim.name not in names:
            raise value_error("dims", f"'{dim.name}' names no axis of {tuple(names)}")
    if len(dim_by_name) < len(dim_list):
        raise value_error("dims", f"one name is twice in {describe(dim_list)}")
    for name, size in zip(names, sizes, strict=True):
        key = f"{name}_lengths"
        if name in dim_by_name:
            dim = dim_by_name[name]
        else:
            kind = "batch" if name == "batch" else "unspecified"
            labels = np.asarray(coords[name]) if name in coords else None
            vocab = labels.tolist() if labels is not None and labels.dtype.kind == "U" else None
            dim = Dim(None if key in coords or kind == "batch" else size, name=name, kind=kind, vocab=vocab)
        dim_by_name[name] = dim if dim.is_defined or key in coords else dim.bind(size)
    for name in names:
        key = f"{name}_lengths"
        if key in coords and not dim_by_name[name].is_defined:
            lengths = coords[key]
            data = from_padded(np.asarray(lengths), [dim_by_name[str(label)] for label in lengths.dims])
            dim_by_name[name] = dim_by_name[name].bind(data._values, data.dims)
    return [dim_by_name[name] for name in names]


def _names_of(data: Data[Any]) -> list[str]:
    names = [dim.name for dim in data.dims]
    if len(set(names)) < len(names):
        raise value_error("", f"axes need different names, but one is twice in {describe(data.dims)}")
    return names
