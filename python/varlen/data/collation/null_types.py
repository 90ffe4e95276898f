"""The types of nulls in columns of Arrow, Polars and pandas, which declare them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.data.collation.arrow_samples import is_arrow
from varlen.data.collation.mappings import is_frame

if TYPE_CHECKING:
    from varlen.backends.values import DTypes


__all__: list[str] = []

Stand = tuple[int, Any]  #: In how many lists the values of all samples are, and a value like them.


def stands_of(samples: object) -> dict[Any, Stand]:
    """A value like those of each column of numbers, by the types of the columns.

    >>> import pyarrow as pa
    >>> stands_of(pa.table({"n": pa.nulls(2, pa.int8()), "t": ["a", "b"]}))
    {'n': (1, 0)}
    """
    stands = {name: _stand(kind) for name, kind in _types(samples).items()}
    return {name: stand for name, stand in stands.items() if stand is not None}


def _types(samples: Any) -> dict[Any, Any]:
    """The types of columns as their library has them."""
    first = samples[0] if isinstance(samples, (list, tuple)) and samples else samples
    if is_frame(first):
        return {name: first[name].dtype for name in first.columns}
    if is_arrow(first):
        return {field.name: field.type for field in getattr(first, "schema", ())}
    if isinstance(first, Mapping):
        columns = {key: getattr(value, "type", getattr(value, "dtype", None)) for key, value in first.items()}
        return {key: kind for key, kind in columns.items() if _is_typed(first[key])}
    return {}


def _is_typed(value: object) -> bool:
    return is_arrow(value) or type(value).__module__.split(".")[0] in ("polars", "pandas")


def _stand(kind: DTypes) -> Stand | None:
    """A value like those of a type, in as many lists as it has and one; None where they are no numbers."""
    are_arrays = is_arrow(kind)  # the lists of numbers of Arrow; those of others are lists of Python's
    kind = getattr(kind, "pyarrow_dtype", kind)
    depth = 1
    while (inner := _inner(kind)) is not None:
        kind, depth = inner, depth + 1
    dtype = _dtype(kind, are_arrays)
    if dtype is None or dtype.kind not in "iufb":
        return None
    zero = np.zeros((), dtype).item()
    if depth == 2:
        return 1, np.zeros(0, dtype if are_arrays and dtype.kind != "b" else type(zero))
    return depth, zero


def _inner(kind: Any) -> Any:
    """The type in a list."""
    if not is_arrow(kind):
        return getattr(kind, "inner", None)
    from varlen.interop.arrow_columns import _is_list

    return kind.value_type if _is_list(kind) else None


def _dtype(kind: Any, has_decimals: bool) -> np.dtype | None:
    """The dtype of the numbers of a type, if it has some."""
    if hasattr(kind, "is_integer"):  # of Polars
        is_float, is_bool = kind.is_float(), str(kind) == "Boolean"
        return np.dtype(int if kind.is_integer() else float if is_float else bool if is_bool else object)
    if not is_arrow(kind):
        return np.dtype({"b": bool, "i": int, "u": int, "f": float}.get(getattr(kind, "kind", ""), object))
    import pyarrow as pa

    if pa.types.is_decimal(kind):
        return np.dtype(int if kind.scale <= 0 else float) if has_decimals else None
    try:
        dtype: np.dtype = np.dtype(kind.to_pandas_dtype())
    except (NotImplementedError, TypeError):
        return None
    return dtype
