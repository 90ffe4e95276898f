"""Decimals of Arrow as numbers: whole ones as integers, others as doubles that give their decimals back."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.errors import row_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from varlen.interop.column import Place

__all__: list[str] = []

_TEXT_HINT = "cast the column to strings"
_SURELY_BACK = 2**52  # up to here a double is nearer to its decimal than any other of the same scale is
_EXACT_POWER = 22  # the largest power of ten that is a double


def words_of_decimals(buffer: NDArray[np.uint8] | None, bits: int) -> NDArray[np.int64]:
    """The integers behind decimals as 64-bit words, (count, words), the lowest first."""
    if buffer is None:
        return np.empty((0, max(bits // 64, 1)), np.int64)
    if bits == 32:
        return buffer.view("<i4").astype(np.int64)[:, None]
    return buffer.view("<i8").reshape(-1, bits // 64)


def numbers_of_decimals(
    words: NDArray[np.int64], scale: int, mask: NDArray[np.bool_] | None, place: Place
) -> NDArray[Any]:
    """int64, or uint64 if they need it, of decimals without a fraction, and float64 of others."""
    if mask is not None:
        words = np.where(mask[:, None], 0, words)
    return _wholes(words, 10**-scale, place) if scale <= 0 else _doubles(words, scale, place)


def _is_narrow(words: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where int64 holds the integer."""
    return (words[:, 1:] == (words[:, :1] >> 63)).all(axis=1)


def _integer(words: NDArray[np.int64]) -> int:
    return int.from_bytes(words.astype("<i8").tobytes(), "little", signed=True)


def _wholes(words: NDArray[np.int64], factor: int, place: Place) -> NDArray[Any]:
    low = words[:, 0]
    limits: Any = np.iinfo(np.int64)
    fits = _is_narrow(words) & (low <= limits.max // factor) & (low >= -(-limits.min // factor))
    if fits.all():
        return low * factor if 1 < factor <= limits.max else low
    if (words[:, -1] >= 0).all():
        limits = np.iinfo(np.uint64)
        fits = (words[:, 1:] == 0).all(axis=1) & (low.view(np.uint64) <= limits.max // factor)
        if fits.all():
            return low.view(np.uint64) * np.uint64(min(factor, limits.max))
    i = int(fits.argmin())
    text = str(_integer(words[i]) * factor)
    raise row_error(place.name, text, place.row_of(i), f" does not fit {limits.dtype}", _TEXT_HINT, "decimal")


def _doubles(words: NDArray[np.int64], scale: int, place: Place) -> NDArray[np.float64]:
    low = words[:, 0]
    is_small = _is_narrow(words) & (low <= _SURELY_BACK) & (low >= -_SURELY_BACK)
    if scale > _EXACT_POWER:
        is_small &= low == 0
    values = np.where(is_small, low, 0) / 10.0 ** min(scale, _EXACT_POWER)
    for i in np.flatnonzero(~is_small).tolist():
        integer = _integer(words[i])
        decimal = Decimal(f"{integer}e{-scale}")
        values[i] = float(decimal)
        numerator, denominator = values[i].item().as_integer_ratio()
        if 2 * abs(numerator * 10**scale - integer * denominator) >= denominator:
            why = f" has more digits than a double, which makes {values[i].item()} of it"
            advice = f"{_TEXT_HINT}, or to float64 to round it"
            raise row_error(place.name, str(decimal), place.row_of(i), why, advice, "decimal")
    return values
