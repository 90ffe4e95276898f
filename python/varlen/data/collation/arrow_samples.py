"""Arrow samples: tables, record batches and scalars as rows of arrays, with nulls masked."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.data.collation.mappings import is_frame
from varlen.data.collation.nulls import rows_of_masked
from varlen.errors import value_error
from varlen.interop.arrow_parts import is_foreign
from varlen.interop.awkward import as_arrow, is_awkward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import DTypes


__all__: list[str] = []


def is_arrow(value: object) -> bool:
    """Whether a value is a pyarrow object, without importing pyarrow."""
    return type(value).__module__.startswith("pyarrow.")


def as_arrow_samples(samples: Any) -> Any:
    """Samples that another library holds and shows to Arrow, as a table or an array of pyarrow."""
    if is_arrow(samples) or is_frame(samples) or not is_foreign(samples):
        return samples
    import pyarrow as pa

    array = as_arrow(samples) if is_awkward(samples) else samples
    try:
        return pa.table(array)
    except (TypeError, ValueError):  # no fields
        return pa.chunked_array(array) if hasattr(array, "__arrow_c_stream__") else pa.array(array)


def rows_of_arrow(samples: Any) -> list[Any]:
    """The rows of a table, or the values of an array."""
    has_fields = hasattr(samples, "schema") or hasattr(samples, "as_py")
    return from_arrow_samples([samples]) if has_fields else _column(samples, "samples")


def from_arrow_samples(samples: Sequence[object]) -> list[Any]:
    """Samples without Arrow objects: tables become their rows, lists of numbers arrays."""
    return list(chain.from_iterable(map(_rows, samples)))


def _rows(sample: Any) -> list[Any]:
    if isinstance(sample, Mapping) and not hasattr(sample, "as_py"):
        return [{key: _plain_value(value) for key, value in sample.items()}]
    if not hasattr(sample, "column_names") and not hasattr(sample, "schema"):
        return [_plain_value(sample)]
    columns = {name: _column(sample.column(name), name) for name in sample.schema.names}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _column(array: Any, name: str) -> list[Any]:
    """The values of one column, row by row."""
    import pyarrow as pa

    is_nested = pa.types.is_list(array.type) or pa.types.is_large_list(array.type)
    inner = array.type.value_type if is_nested else array.type
    if not (pa.types.is_decimal(inner) or (is_nested and _is_number(inner))):
        rows: list[Any] = array.to_pylist()
        return rows
    import pyarrow.compute as pc

    from varlen.interop.arrow import Nulls, columns_of

    column = columns_of(array, name, Nulls("fill", 0))[name]
    rows = _core.ragged2list(column.values, column.levels[0]) if is_nested else column.values.tolist()
    null = pc.is_null(pc.list_flatten(array)).to_numpy(zero_copy_only=False) if is_nested else np.False_
    if null.any():
        rows = list(rows_of_masked(column.values, null, column.levels[0].lengths))
    if array.null_count:
        is_valid = array.is_valid().to_numpy(zero_copy_only=False)
        rows = [row if valid else None for row, valid in zip(rows, is_valid, strict=True)]
    return rows


def _plain_value(value: Any) -> Any:
    """A scalar as a Python value, or as an array if it is a list of numbers."""
    if not is_arrow(value):
        return value
    import pyarrow as pa

    if isinstance(value, pa.StructScalar):
        names = [field.name for field in value.type]
        if len(set(names)) < len(names):
            repeat = next(name for i, name in enumerate(names) if name in names[:i])
            raise value_error("", f"two fields of a struct are called {repeat!r}")
        return {key: _plain_value(item) for key, item in value.items()}
    values = getattr(value, "values", None)
    if isinstance(value, pa.Scalar) and pa.types.is_decimal(value.type):
        return _column(pa.array([value.as_py()], value.type), "value")[0]
    is_decimal = isinstance(values, pa.Array) and pa.types.is_decimal(values.type)
    if isinstance(values, pa.Array) and (is_decimal or _is_number(values.type)):
        array = _fill_decimals(values) if is_decimal else values.fill_null(0).to_numpy(zero_copy_only=False)
        null = values.is_null().to_numpy(zero_copy_only=False)
        return np.ma.array(array, mask=null) if values.null_count else array
    return value.as_py() if hasattr(value, "as_py") else value.to_pylist()


def _fill_decimals(decimals: object) -> Any:
    from varlen.interop.arrow import Nulls, columns_of

    return columns_of(decimals, "value", Nulls("fill", 0))["value"].values


def _is_number(kind: DTypes) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
