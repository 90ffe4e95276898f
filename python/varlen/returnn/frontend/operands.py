"""Operands of RETURNN's functions: what has no dims is refused by the name that the function gives it."""

from __future__ import annotations

from typing import Any

from varlen.dims.base import is_data
from varlen.dims.ops.combine import is_operand
from varlen.errors import type_error

_ADVICE = "rf.convert_to_tensor(array, dims=...) makes a tensor"


def check_tensor(x: Any, argument: str) -> None:
    """Refuse what is no tensor."""
    if not is_data(x):
        raise type_error(argument, f"expected a Tensor, got {type(x).__name__}", _ADVICE)


def check_operand(x: Any, argument: str) -> None:
    """Refuse what is neither a tensor nor a number."""
    if not is_operand(x):
        raise type_error(argument, f"expected a Tensor or a number, got {type(x).__name__}", _ADVICE)


def check_pair(pair: Any, argument: str) -> None:
    """Refuse what is not a tensor and a dim of it."""
    if not (isinstance(pair, tuple) and len(pair) == 2 and is_data(pair[0])):
        raise type_error(argument, f"expected a pair of a Tensor and a dim of it, got {pair!r}")
