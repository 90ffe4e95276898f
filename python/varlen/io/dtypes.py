"""Names that the file format has for dtypes, and the dtypes that NumPy has for them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

__all__ = ["RANK", "dtype_of", "tag_of"]

_PLAIN = {
    "U64": "<u8",
    "I64": "<i8",
    "F64": "<f8",
    "C64": "<c8",
    "F32": "<f4",
    "U32": "<u4",
    "I32": "<i4",
    "F16": "<f2",
    "U16": "<u2",
    "I16": "<i2",
    "I8": "|i1",
    "U8": "|u1",
    "BOOL": "|b1",
}

# Dtypes of the ml_dtypes package, and what stands in for them where it is not installed.
_EXTRA = {
    "BF16": ("bfloat16", "<u2"),
    "F8_E5M2FNUZ": ("float8_e5m2fnuz", "|u1"),
    "F8_E4M3FNUZ": ("float8_e4m3fnuz", "|u1"),
    "F8_E8M0": ("float8_e8m0fnu", "|u1"),
    "F8_E4M3": ("float8_e4m3fn", "|u1"),
    "F8_E5M2": ("float8_e5m2", "|u1"),
}

# The order of tensors in a file: widest first, so that each lies at a multiple of its width.
_ORDER = ["U64", "I64", "F64", "C64", "F32", "U32", "I32", "BF16", "F16", "U16", "I16"]
_ORDER += ["F8_E5M2FNUZ", "F8_E4M3FNUZ", "F8_E8M0", "F8_E4M3", "F8_E5M2", "I8", "U8", "BOOL"]
RANK = {tag: rank for rank, tag in enumerate(_ORDER)}

_TAGS = {np.dtype(code): tag for tag, code in _PLAIN.items()}
_EXTRA_TAGS = {name: tag for tag, (name, _) in _EXTRA.items()}


@functools.cache
def dtype_of(tag: str) -> np.dtype[Any]:
    """The NumPy dtype of a file's dtype name; unsigned integers of the same width where NumPy has none.

    >>> dtype_of("F32")
    dtype('float32')
    """
    if tag in _PLAIN:
        return np.dtype(_PLAIN[tag])
    name, stand_in = _EXTRA[tag]
    try:
        import ml_dtypes
    except ImportError:
        return np.dtype(stand_in)
    return np.dtype(getattr(ml_dtypes, name, stand_in))


def tag_of(dtype: np.dtype[Any], name: str = "array") -> str:
    """The file's name for a dtype; TypeError names the tensor that has none.

    >>> tag_of(np.dtype(">i4"))
    'I32'
    """
    tag = _TAGS.get(dtype.newbyteorder("<")) or _EXTRA_TAGS.get(dtype.name)
    if tag is None:
        raise TypeError(f"{name}: a file cannot hold dtype {dtype}")
    return tag


def little_endian(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array as C-contiguous little-endian memory; itself where it is that already."""
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    flat: np.ndarray[Any, Any] = np.ascontiguousarray(array).reshape(array.shape)
    return flat
