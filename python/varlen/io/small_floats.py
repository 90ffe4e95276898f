"""Floats of 8 and 16 bits that NumPy has only with the package ml_dtypes: without it, the same as float32.

Their memory has a dtype of its own, a structure with one field named after the format, so that nobody takes
the bits for integers. For bfloat16 this is the core's own stand-in, with which it computes.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from varlen import _core

__all__: list[str] = []

Array = np.ndarray[tuple[Any, ...], np.dtype]

# Bits of the exponent and of the fraction, the exponent's bias, and what has no number: infinities and many
# NaNs as IEEE has them, one NaN where all bits but the sign are set, or one in the place of negative zero.
_FORMATS = {
    "float8_e5m2": (5, 2, 15, "ieee"),
    "float8_e4m3fn": (4, 3, 7, "ones"),
    "float8_e5m2fnuz": (5, 2, 16, "minus zero"),
    "float8_e4m3fnuz": (4, 3, 8, "minus zero"),
}


def stand_in(name: str) -> np.dtype:
    """The dtype of the memory of a format.

    >>> stand_in("float8_e5m2").names
    ('float8_e5m2',)
    """
    return _core.bfloat16 if name == "bfloat16" else np.dtype([(name, "u1")])


def name_of(dtype: np.dtype) -> str | None:
    """The format that a dtype stands for; None for every other dtype.

    >>> name_of(stand_in("bfloat16")), name_of(np.dtype("u2"))
    ('bfloat16', None)
    """
    names = dtype.names
    is_known = names is not None and (names == ("bfloat16",) or names[0] in _TABLED)
    return names[0] if names is not None and is_known and len(names) == 1 else None


def as_float32(values: Array) -> Array:
    """The numbers of a format, which float32 holds exactly.

    >>> as_float32(np.array([0x3FC0, 0x4020], "u2").view(stand_in("bfloat16")))
    array([1.5, 2.5], dtype=float32)
    """
    name = name_of(values.dtype)
    assert name is not None
    if name == "bfloat16":
        bits = np.ascontiguousarray(values).view(np.uint16).reshape(values.shape)
        wide: Array = (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return wide
    numbers: Array = _table(name)[np.ascontiguousarray(values).view(np.uint8).reshape(values.shape)]
    return numbers


@functools.cache
def _table(name: str) -> Array:
    """The number of each of the 256 bytes."""
    bits = np.arange(256)
    if name == "float8_e8m0fnu":
        powers: Array = np.ldexp(np.float32(1), np.minimum(bits, 254) - 127)
        powers[255] = np.nan
        return powers
    exponent_bits, fraction_bits, bias, nan_rule = _FORMATS[name]
    max_exponent = 2**exponent_bits - 1
    exponent, fraction = bits >> fraction_bits & max_exponent, bits & (2**fraction_bits - 1)
    lead = np.where(exponent > 0, 2**fraction_bits, 0)
    size = np.ldexp((lead + fraction).astype(np.float32), np.maximum(exponent, 1) - bias - fraction_bits)
    out: Array = np.where(bits >= 128, -size, size)
    if nan_rule == "ieee":
        out[exponent == max_exponent] = np.nan
        out[(exponent == max_exponent) & (fraction == 0)] = np.inf
        out[(exponent == max_exponent) & (fraction == 0) & (bits >= 128)] = -np.inf
    else:
        out[[127, 255] if nan_rule == "ones" else [128]] = np.nan
    return out


_TABLED = {*_FORMATS, "float8_e8m0fnu"}
