"""Constants and forms of arguments from both generations of nested_ragged_tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from varlen import _core
from varlen.arguments import SMALLEST, as_int
from varlen.errors import contract_error, type_error

__all__ = [
    "NESTED_NUM_LIST_T",
    "NP_FLOAT_TYPES",
    "NP_INT_TYPES",
    "NP_UINT_TYPES",
    "NUM_LIST_T",
    "NUM_T",
    "is_ndim_list",
]

NP_FLOAT_TYPES = (np.float16, np.float32, np.float64)
NP_INT_TYPES = (np.int8, np.int16, np.int32, np.int64)
NP_UINT_TYPES = (np.uint8, np.uint16, np.uint32, np.uint64)

NUM_T: TypeAlias = "int | float | bool | np.integer[Any] | np.floating[Any]"
NUM_LIST_T: TypeAlias = "list[NUM_T]"
NESTED_NUM_LIST_T: TypeAlias = "list[NESTED_NUM_LIST_T] | NUM_LIST_T"

_NUMBERS = (int, float, np.integer, np.floating, np.bool_)


def is_ndim_list(L: Any, dim: int = 1) -> bool:
    """True for lists nested `dim` deep around numbers, and for an array of `dim` dimensions.

    Parameters
    ----------
    L
        Any object. Lists may end in arrays; tuples do not count as lists; an empty list has any depth.
    dim
        The depth, at least 1.

    Returns
    -------
    bool
        False for anything else.

    Raises
    ------
    ValueError
        `dim` is not positive.

    Examples
    --------
    >>> from varlen.joint import is_ndim_list
    >>> is_ndim_list([[1, 2], [4]], dim=2), is_ndim_list([[1, 2], [4]]), is_ndim_list([])
    (True, False, True)
    """
    dim = as_int(dim, "dim", SMALLEST)
    if dim <= 0:
        raise contract_error(ValueError, "dim", f"dim must be positive, but got {dim}")
    if isinstance(L, np.ndarray):
        return bool(L.ndim == dim)
    if not isinstance(L, list):
        return False
    if dim == 1:
        return all(isinstance(item, _NUMBERS) for item in L)
    return all(is_ndim_list(item, dim - 1) for item in L)


def _is_dtype_like(value: object) -> bool:
    return isinstance(value, (type, np.dtype, str))


def first_generation(
    tensors: object, tensors_fp: object, schema: object, pre_raggedified: bool
) -> tuple[Any, Any, Any, bool]:
    """The arguments of a call in the first generation's order, `(tensors, schema, pre_raggedified)`.

    A dict of dtypes is no dict of tensors, and a bool no path. An empty dict stays what it is today.
    """
    if isinstance(tensors, dict) and tensors and all(map(_is_dtype_like, tensors.values())):
        if schema is not None:
            raise type_error(
                "schema", "given twice, by position, as the first generation had it, and by name"
            )
        tensors, schema = None, tensors
    if isinstance(tensors_fp, bool):
        tensors_fp, pre_raggedified = None, tensors_fp or pre_raggedified
    return tensors, tensors_fp, schema, pre_raggedified


def flat_tensors(tensors: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Flat arrays from tensors of the first generation, which have one array per row, and lengths."""
    out: dict[str, np.ndarray] = {}
    for full, value in tensors.items():
        dim, _, name = full.partition("/")
        if dim != "dim0" and name == "lengths":
            continue  # what the bounds say
        if isinstance(value, np.ndarray):
            out[full] = value
        else:
            rows = [np.asarray(row) for row in value]
            out[full] = _core.list2ragged(rows)[0] if rows else np.zeros(0)
    for full in [full for full in tensors if full.endswith("/lengths") and not full.startswith("dim0/")]:
        bounds = full.removesuffix("lengths") + "bounds"
        if bounds not in out:
            out[bounds] = np.cumsum(np.asarray(tensors[full], dtype=np.int64))
    return out
