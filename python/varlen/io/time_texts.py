"""Texts as times: dates and moments as ISO 8601 has them, durations as whole numbers of their unit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from varlen.errors import value_error

__all__: list[str] = []

WHOLE = re.compile(r"\s*[-+]?\d+\s*", re.ASCII)
_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d(?:[T ]\d\d(?::\d\d(?::\d\d(?:\.\d{1,9})?)?)?)?)(Z|[-+]\d\d(?::?\d\d)?)?", re.ASCII
)
_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")


def are_moments(texts: Iterable[str]) -> bool:
    """Whether all are moments without a zone; what is no text raises TypeError, what is not ASCII ValueError.

    >>> are_moments(["2024-02-29", "2024-02-29T01:00"]), are_moments(["2024-02-29T01:00Z"]), are_moments([""])
    (True, False, False)
    """
    shapes = set("\n".join(texts).encode("ascii").translate(_AS_ZEROS).split(b"\n"))  # a few
    return all((match := _MOMENT.fullmatch(shape.decode())) and not match[2] for shape in shapes)


def time_of(text: str, dtype: np.dtype) -> tuple[Any, int]:
    """The time in UTC, and whether the text has a zone: 1; none: 0; no moment: -1. Others raise ValueError.

    >>> time_of("2024-02-29T01:00+01", np.dtype("M8[s]")), time_of("90", np.dtype("m8[s]"))
    ((np.datetime64('2024-02-29T00:00:00'), 1), (np.timedelta64(90,'s'), -1))
    """
    if text == "NaT":
        return dtype.type("NaT"), -1
    match = (WHOLE if dtype.kind == "m" else _MOMENT).fullmatch(text)
    if match is None or (dtype.kind == "m" and abs(int(text)) >= 2**63):
        raise value_error("", f"expected times, got {text!r}")
    if dtype.kind == "m":
        return np.int64(text).view(dtype), -1
    time, zone = np.datetime64(match[1]), match[2]
    if zone not in (None, "Z"):
        digits = re.sub(r"\D", "", zone).ljust(4, "0")
        minutes = 60 * int(digits[:2]) + int(digits[2:])
        time = time - np.timedelta64(minutes if zone[0] == "+" else -minutes, "m")
    cast = time.astype(dtype)
    if cast.astype(time.dtype) != time:
        raise value_error("", f"{text!r} does not fit {dtype}")
    return cast, int(zone is not None)
