"""Sequences of libraries that have no module of their own here, as values and what cuts them, and back.

A reader gives values and the keyword that cuts them, `{"lengths": ...}`, `{"offsets": ...}` or
`{"levels": ...}`, as `Ragged` takes them. No library is imported to read its objects, which are known by what
they carry.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from varlen._core import Level, RaggedBase, ragged2list
from varlen.arguments import as_array, as_ints
from varlen.backends import backend_of
from varlen.backends.values import readable, take
from varlen.errors import instance_error, naming, type_error, value_error

__all__: list[str] = []

# Values, and what cuts them.
Parts = tuple[Any, dict[str, Any]]


def cut_of(x: Any) -> tuple[Any, Any, Any, Any]:
    """Values, lengths, offsets and levels of sequences that bring their own; others as they are, with None.

    TypeError names the method for an object that holds more than one Ragged does.
    """
    parts: Parts = (x, {})
    if isinstance(x, RaggedBase):
        parts = x._values, {"levels": x._levels}
    elif hasattr(x, "nested_row_splits"):
        parts = from_tensorflow(x)
    elif getattr(x, "is_nested", False) is True:
        from varlen.interop.torch_nested import from_nested

        parts = from_nested(x)
    elif callable(getattr(x, "lengths", None)) and callable(getattr(x, "values", None)):
        if hasattr(x, "keys"):
            raise _several(x, "from_torchrec")
        parts = from_torchrec(x)
    elif getattr(getattr(x, "dtype", None), "kind", "") == "O" and getattr(x, "ndim", 0) == 1:
        pieces = list(np.asarray(x))  # HDF5 and Zarr read it here
        if pieces and all(isinstance(piece, (np.ndarray, list, tuple)) for piece in pieces):
            values, levels = backend_of(pieces[0]).from_list(pieces, None)
            parts = values, {"levels": levels}
    elif hasattr(x, "indptr") and hasattr(x, "indices"):
        raise _several(x, "from_scipy")
    elif hasattr(x, "data_vars"):
        raise _several(x, "from_xarray")
    elif hasattr(x, "num_graphs") and hasattr(x, "batch"):
        raise _several(x, "from_pyg")
    values, cut = parts
    return values, cut.get("lengths"), cut.get("offsets"), cut.get("levels")


def _several(x: object, method: str) -> TypeError:
    text = f"expected values and what cuts them, got a {type(x).__name__}"
    return type_error("values", text, f"Ragged.{method}() takes it")


def ints_of(numbers: Any, argument: str) -> np.ndarray:
    """Integers of one dimension, on the host."""
    array = as_array(as_ints(numbers), argument)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise type_error(argument, f"expected integers, got {array.dtype} of shape {array.shape}")
    return array


def from_row_ids(values: Any, row_ids: Any, count: int | None = None) -> Parts:
    """Rows with the sequence of each, in any order: shared if the ids never fall, else sorted by them."""
    ids = ints_of(row_ids, "batch")
    if len(ids) != len(values):
        raise value_error("batch", f"{len(ids)} ids for {len(values)} rows")
    count = -1 if count is None else count
    try:
        level = Level.from_row_ids(ids, count)
    except ValueError:
        order = np.argsort(ids, kind="stable")
        with naming(row_ids="batch"):
            level = Level.from_row_ids(ids[order], count)
        values = take(values, order)
    return values, {"levels": (level,)}


def from_scipy(matrix: Any) -> tuple[Parts, Parts]:
    """The ids and the data of the rows of a CSR matrix, or of the columns of a CSC matrix."""
    if getattr(matrix, "format", None) not in ("csr", "csc"):
        kind = type(matrix).__name__
        raise type_error("matrix", f"expected a CSR or CSC matrix of scipy, got {kind}", "call tocsr()")
    level = Level.from_offsets(matrix.indptr)
    cut = {"levels": (level,)}
    return (matrix.indices[: level.total], cut), (matrix.data[: level.total], cut)  # scipy may have more


def to_scipy(data: Any, ids: Any, level: Level, width: int | None, kind: str) -> Any:
    """A CSR or CSC array of SciPy over the same data and ids."""
    numbers, numbers_of_data = ints_of(ids, "ids"), readable(data)
    if numbers_of_data.ndim != 1 or len(numbers) != len(data):
        raise value_error("ids", f"{len(numbers)} ids for data of shape {tuple(data.shape)}")
    if len(numbers) and int(numbers.min()) < 0:
        place = int(numbers.argmin())
        raise value_error("ids", f"{numbers[place]} at position {place} is negative", row=place)
    size = int(numbers.max(initial=-1)) + 1
    width = size if width is None else width
    if size > width:
        place = int(numbers.argmax())
        text = f"{numbers[place]} at position {place} is out of range for width={width}"
        raise value_error("ids", text, row=place)
    sparse = importlib.import_module("scipy.sparse")
    shape = (len(level), width) if kind == "csr" else (width, len(level))
    offsets = level.offsets if numbers.itemsize == 8 else level.offsets32
    return getattr(sparse, f"{kind}_array")((numbers_of_data, numbers, offsets), shape=shape)


def from_xarray(dataset: Any) -> dict[str, Any]:
    """The variables of CF's ragged arrays: parts for those with a number for each row, arrays for others."""
    if not (hasattr(dataset, "variables") and hasattr(dataset, "sizes")):
        raise instance_error("dataset", "an xarray Dataset", dataset)
    variables = dataset.variables
    marks = [
        (way, name, variable.attrs[way])
        for name, variable in variables.items()
        for way in ("sample_dimension", "instance_dimension")
        if way in variable.attrs
    ]
    if len(marks) != 1:
        raise value_error(
            "dataset",
            "expected one variable with the attribute sample_dimension or instance_dimension, which mark the "
            f"ragged arrays of CF, got {len(marks)}",
        )
    ((way, name, dim),) = marks
    numbers = ints_of(variables[name].values, str(name))
    order: Any = slice(None)
    if way == "sample_dimension":
        sample, cut = dim, {"levels": (Level.from_lengths(numbers),)}
    else:
        (sample,) = variables[name].dims
        order, cut = from_row_ids(np.arange(len(numbers)), numbers, dataset.sizes.get(dim))
    return {
        key: (variable.values[order], cut) if variable.dims[:1] == (sample,) else variable.values
        for key, variable in variables.items()
        if key != name
    }


def to_xarray(columns: Mapping[str, Any], level: Level, dims: tuple[str, str]) -> Any:
    """A Dataset of values of one level, as the contiguous ragged arrays of CF."""
    instance, sample = dims
    variables: dict[str, Any] = {"row_size": (instance, level.lengths, {"sample_dimension": sample})}
    for name, values in columns.items():
        rest = tuple(f"{name}_{axis}" for axis in range(1, values.ndim))
        variables[name] = ((sample, *rest), readable(values))
    return importlib.import_module("xarray").Dataset(variables)


def from_tensorflow(tensor: Any) -> Parts:
    """The flat values and the row splits of a RaggedTensor."""
    if not (hasattr(tensor, "nested_row_splits") and hasattr(tensor, "flat_values")):
        raise instance_error("tensor", "a RaggedTensor of TensorFlow", tensor)
    offsets = [np.asarray(splits) for splits in tensor.nested_row_splits]
    return np.asarray(tensor.flat_values), {"offsets": offsets}


def to_tensorflow(values: Any, levels: tuple[Level, ...]) -> Any:
    """A RaggedTensor, for which TensorFlow copies the values."""
    cls = importlib.import_module("tensorflow").RaggedTensor
    return cls.from_nested_row_splits(readable(values), [level.offsets for level in levels])


def from_torchrec(tensor: Any) -> Any:
    """The parts of a JaggedTensor, or a dict of those of each key of a KeyedJaggedTensor."""
    values, lengths = tensor.values(), tensor.lengths()
    if not hasattr(tensor, "keys"):
        return values, {"lengths": lengths}
    keys = list(tensor.keys())
    if not keys or len(lengths) % len(keys):
        raise value_error("tensor", f"{len(lengths)} lengths for {len(keys)} keys")
    rows = len(lengths) // len(keys)
    level = Level.from_lengths(as_ints(lengths))
    if not level._fits(len(values)):
        raise value_error(
            "tensor", f"its lengths add up to {level.total}, but there are {len(values)} values"
        )
    edges = level.offsets[::rows] if rows else np.zeros(len(keys) + 1, np.int64)
    return {
        key: (values[edges[k] : edges[k + 1]], {"lengths": lengths[k * rows : (k + 1) * rows]})
        for k, key in enumerate(keys)
    }


def from_zarr(group: Any) -> Parts:
    """The arrays `values` and `offsets`, or `offsets0`, `offsets1` and so on, of a group of Zarr or HDF5."""
    _check_group(group)
    names = sorted((name for name in group if str(name).startswith("offsets")), key=lambda x: (len(x), x))
    if "values" not in group or not names:
        raise value_error("group", f"expected arrays called values and offsets, got {sorted(group)}")
    return group["values"][...], {"offsets": [group[name][...] for name in names]}


def to_zarr(values: Any, levels: tuple[Level, ...], group: Any) -> None:
    """Write the arrays that `from_zarr` reads."""
    _check_group(group)
    arrays = {"values": readable(values)}
    for i, level in enumerate(levels):
        arrays["offsets" if len(levels) == 1 else f"offsets{i}"] = level.offsets
    for name, array in arrays.items():
        group[name] = array


def _check_group(group: Any) -> None:
    if not (hasattr(group, "keys") and hasattr(group, "__setitem__")):
        raise instance_error("group", "a group of Zarr or HDF5, or a dict", group)


def objects_of(values: Any, level: Level) -> np.ndarray:
    """An array of Python objects, one array a sequence, which are views of the values."""
    return np.fromiter(ragged2list(readable(values), level), object, len(level))
