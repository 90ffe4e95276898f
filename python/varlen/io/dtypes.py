"""Dtypes of a file: the format's names for NumPy's, the dtype that joins two, and casts that lose nothing."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from varlen import _core

__all__ = [
    "TAG_ORDER",
    "cast_exactly",
    "common_dtype",
    "dtype_of",
    "promote",
    "smallest_integer",
    "tag_of",
    "widened",
]

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
TAG_ORDER = {tag: rank for rank, tag in enumerate(_ORDER)}

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


def has_stand_in(tag: str) -> bool:
    """True where NumPy has no such dtype, and its bits are handed out as unsigned integers."""
    return stand_in_name(tag) is not None


def stand_in_name(tag: str) -> str | None:
    """What ml_dtypes and torch call a dtype whose bits are handed out as unsigned integers; None for others.

    >>> stand_in_name("U16") is None
    True
    """
    return _EXTRA[tag][0] if tag in _EXTRA and dtype_of(tag).kind == "u" else None


def common_dtype(one: np.dtype[Any], other: np.dtype[Any]) -> np.dtype[Any] | None:
    """The dtype that NumPy promotes two dtypes of numbers to; None where there is none.

    Times go with times of their own unit alone: in another one the same integers are other times.

    >>> common_dtype(np.dtype("u1"), np.dtype("i2")), common_dtype(np.dtype("u1"), np.dtype("M8[s]"))
    (dtype('int16'), None)
    """
    if one == other:
        return one
    if not (_is_number(one) and _is_number(other)):
        return None
    try:
        return np.result_type(one, other)
    except TypeError:  # bfloat16 and float16
        return None


def _is_number(dtype: np.dtype[Any]) -> bool:
    return (dtype.kind in "biuf" and dtype.itemsize <= 8) or dtype.name == "bfloat16"


def widened(joint: _core.Joint, dtypes: Mapping[str, np.dtype[Any]]) -> _core.Joint:
    """The same rows with some keys converted to wider dtypes; keys that an index removed are skipped.

    >>> widened(_core.Joint(["x"], [0], [np.array([1], "u1")], []), {"x": np.dtype("f4")}).values("x")
    array([1.], dtype=float32)
    """
    for name, dim in zip(joint.names, joint.dims, strict=True) if dtypes else ():
        if name in dtypes and dim >= 0:
            joint = joint.with_column(name, dim, joint.values(name).astype(dtypes[name]), joint.meta)
    return joint


def little_endian(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array as C-contiguous little-endian memory; the array itself where it is that."""
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    flat: np.ndarray[Any, Any] = np.ascontiguousarray(array).reshape(array.shape)
    return flat


def cast_exactly(name: str, array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The array in another dtype; ValueError names a value that does not fit. Only floats may lose precision.

    >>> cast_exactly("code", np.array([1, 300]), np.dtype(np.uint8))
    Traceback (most recent call last):
    ValueError: code: 300 at row 1 does not fit uint8
    """
    if np.can_cast(array.dtype, dtype, "safe"):
        return array.astype(dtype)
    with np.errstate(all="ignore"):
        cast = array.astype(dtype)
        if dtype.kind == "f" or dtype.kind not in "biufcmM":
            bad = np.isfinite(array) & ~np.isfinite(cast.astype(np.float64))
        elif dtype.kind in "mM":
            bad = (cast.astype(array.dtype) != array) & ~np.isnat(array)
        else:
            bad = (cast.astype(array.dtype) != array) | ((cast < 0) != (array < 0))
    if bad.any():
        where = np.argwhere(bad)[0]
        raise ValueError(f"{name}: {array[tuple(where)]} at row {where[0]} does not fit {dtype}")
    return cast


def smallest_integer(least: int, most: int) -> np.dtype[Any]:
    """The smallest integer dtype for values from `least` (at most 0) to `most`; unsigned where it can be.

    >>> smallest_integer(0, 300), smallest_integer(-1, 128)
    (dtype('uint16'), dtype('int16'))
    """
    for kind in "ui" if least >= 0 else "i":
        for width in (1, 2, 4, 8):
            info = np.iinfo(f"{kind}{width}")
            if info.min <= least and most <= info.max:
                return info.dtype
    raise OverflowError(f"no integer dtype holds {least} to {most}")


def promote(name: str, a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that holds the values of both; ValueError where there is none that holds all of them.

    >>> promote("code", np.dtype(np.uint8), np.dtype(np.int8))
    dtype('int16')
    """
    if a == b:
        return a
    try:
        both = np.promote_types(a, b)
    except TypeError:
        both = np.dtype(object)
    lossy = both.kind == "f" and "f" not in (a.kind, b.kind)  # uint64 and a signed integer
    if lossy or both.kind not in "biufcV" or "b" in (a.kind, b.kind):
        raise ValueError(f"{name}: no dtype holds both {a} and {b}")
    return both
