"""Arrays of xarray, whose axes have names."""

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
    from varlen.dims.data import Data


def from_xarray(array: Any, dims: Sequence[Dim] = (), **facts: Any) -> Data[Any]:
    """As `Data.from_xarray`."""
    coords: Mapping[str, Any] = array.coords
    each = _dims_of([str(name) for name in array.dims], np.shape(array.values), dims, coords)
    return from_padded(array.values, each, **{"name": array.name, **facts})


def to_xarray(data: Data[Any], fill: Any = None) -> Any:
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
    given = check_dims(dims)
    known = {dim.name: dim for dim in given}
    for dim in given:
        if dim.name not in names:
            raise value_error("dims", f"'{dim.name}' names no axis of {tuple(names)}")
    if len(known) < len(given):
        raise value_error("dims", f"one name is twice in {describe(given)}")
    for name, size in zip(names, sizes, strict=True):
        beside = f"{name}_lengths"
        if name in known:
            dim = known[name]
        else:
            kind = "batch" if name == "batch" else "unspecified"
            labels = np.asarray(coords[name]) if name in coords else None
            vocab = labels.tolist() if labels is not None and labels.dtype.kind == "U" else None
            dim = Dim(
                None if beside in coords or kind == "batch" else size, name=name, kind=kind, vocab=vocab
            )
        known[name] = dim if dim.is_defined or beside in coords else dim.bind(size)
    for name in names:
        beside = f"{name}_lengths"
        if beside in coords and not known[name].is_defined:
            lengths = coords[beside]
            over = from_padded(np.asarray(lengths), [known[str(each)] for each in lengths.dims])
            known[name] = known[name].bind(over._values, over.dims)
    return [known[name] for name in names]


def _names_of(data: Data[Any]) -> list[str]:
    names = [dim.name for dim in data.dims]
    if len(set(names)) < len(names):
        raise value_error("", f"axes are told by their names, and one is twice in {describe(data.dims)}")
    return names
