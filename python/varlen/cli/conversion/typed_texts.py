"""Texts of JSON lines that are declared as numbers or times."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from varlen.cli.conversion.words import unknown_word
from varlen.errors import value_error
from varlen.io.time_texts import WHOLE, time_of

__all__ = ["LEADING", "NOT_GIVEN_BACK", "NUMBER", "WHOLE", "comes_back", "number_of", "parse_texts"]

#: Numbers as they are written, without what Python alone reads as one.
NUMBER = re.compile(r"\s*[-+]?((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|inf(inity)?|nan)\s*", re.IGNORECASE | re.ASCII)
#: Zeros or a plus before a number, which the number does not give back.
LEADING = r"^[ \t]*(?:\+|-?0[0-9])"
NOT_GIVEN_BACK = "texts that begin with a zero or a plus, which their numbers do not give back"
_TRUTH = {"true": True, "false": False, "1": True, "0": False}


def parse_texts(
    texts: Sequence[str], dtype: np.dtype, who: str = "--types"
) -> tuple[np.ndarray, npt.NDArray[np.int8]]:
    """Values of texts, and which of them are times with a zone: 1; without one: 0; neither: -1.

    `who` names the origin of the dtype, for the error.
    """
    zones = np.full(len(texts), -1, np.int8)
    values = np.zeros(len(texts), dtype)
    for i, text in enumerate(texts):
        try:
            if dtype.kind in "mM":
                values[i], zones[i] = time_of(text, dtype)
            elif dtype.kind == "b":
                values[i] = _TRUTH[text.strip().lower()]
            elif dtype.kind == "f":
                with np.errstate(over="ignore"):
                    values[i] = number_of(text)
                if np.isinf(values[i]) and "inf" not in text.lower():
                    raise ValueError
            elif WHOLE.fullmatch(text):
                values[i] = int(text)
            else:
                raise ValueError
        except (ValueError, OverflowError, KeyError):
            raise unknown_word(f"{text!r} is no {dtype}, as {who} says", i) from None
    return values, zones


def number_of(text: str) -> float:
    """The double that a text denotes."""
    number = float(text) if NUMBER.fullmatch(text) else None
    if number is None or (math.isinf(number) and "inf" not in text.lower()):
        raise value_error("", f"{text!r} is no double")
    return number


def comes_back(text: str) -> bool:
    """Whether a number, written with as many digits as its text, gives the same digits."""
    digits = re.sub(r"[eE].*|[^0-9]", "", text).strip("0")
    number = float(text)
    return not digits or Decimal(f"{number:.{len(digits) - 1}e}") == Decimal(text.strip())
