"""The weights of a mix: of each source, from some steps on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from reprlib import repr as short
from typing import Any, NamedTuple

import numpy as np

from varlen.arguments import as_float, as_int
from varlen.errors import error_of, instance_error, type_error, value_error

__all__: list[str] = []

Floats = np.ndarray[tuple[Any, ...], np.dtype[np.float64]]
Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]


class Pieces(NamedTuple):
    """Shares of the sources, one row for each step at which they change."""

    steps: Ints
    shares: Floats

    def by_name(self, names: Sequence[str]) -> dict[str, float] | dict[int, dict[str, float]]:
        """The shares as a caller writes weights."""
        rows = [dict(zip(names, row, strict=True)) for row in self.shares.tolist()]
        return rows[0] if len(rows) == 1 else dict(zip(self.steps.tolist(), rows, strict=True))


def pieces_of(weights: Any, names: Sequence[str]) -> Pieces:
    """The weights of sources by name; or of a schedule, which has such weights by step.

    >>> pieces_of({"a": 3, "b": 1}, ["a", "b"]).shares.tolist()
    [[0.75, 0.25]]
    """
    expected = "names to numbers, or steps to such mappings"
    if not isinstance(weights, Mapping):
        raise instance_error("weights", expected, weights)
    if not weights:
        raise value_error("weights", f"expected {expected}, got none")
    if all(isinstance(name, str) for name in weights):
        return Pieces(np.zeros(1, np.int64), np.array([_shares_of(weights, names, "")]))
    for step, piece in weights.items():
        if isinstance(step, str):
            raise type_error("weights", f"expected {expected}, got {step!r} among steps")
        as_int(step, "weights")
        if not isinstance(piece, Mapping):
            text = f"expected names to numbers at step {step}, got {type(piece).__name__}"
            raise type_error("weights", text)
    steps = sorted(weights)
    if steps[0] != 0:
        raise value_error(
            "weights", f"the first step is {steps[0]}", "give the weights of step 0", number=steps[0]
        )
    rows = [_shares_of(weights[step], names, f" at step {step}") for step in steps]
    return Pieces(np.array(steps, np.int64), np.array(rows))


def shares_of_sizes(sizes: Ints, temperature: Any) -> Pieces:
    """The weights of sources by their sizes: all the same where the temperature is high.

    >>> shares_of_sizes(np.array([80, 20]), 2).shares.round(3).tolist()
    [[0.667, 0.333]]
    """
    number = 1.0 if temperature is None else as_float(temperature, "temperature")
    if not number > 0:
        raise value_error("temperature", f"expected a number above 0, got {number}", number=number)
    shares = (sizes / sizes.max()) ** (1 / number)
    if not (shares > 0).all():
        raise value_error("temperature", f"{number} leaves a source no share", number=number)
    return Pieces(np.zeros(1, np.int64), (shares / shares.sum())[None])


def _shares_of(weights: Mapping[Any, Any], names: Sequence[str], where: str) -> Floats:
    """The weights in the order of the names, with the sum 1."""
    for name in weights:
        if name not in names:
            raise error_of(
                KeyError, "weights", f"{short(name)}{where} is no source; there are {', '.join(names)}"
            )
    for name in names:
        if name not in weights:
            raise error_of(KeyError, "weights", f"no weight for {name!r}{where}", "0 leaves a source out")
    values = [_weight(weights[name], f"{name!r}{where}") for name in names]
    if max(values) == 0:
        raise value_error("weights", f"all are 0{where}; expected one above 0")
    total = sum(values)
    if total == np.inf:
        raise value_error(
            "weights", f"the sum{where} is beyond float64", "give smaller ones; only ratios count"
        )
    shares = np.array(values) / total
    for name, value, share in zip(names, values, shares.tolist(), strict=True):
        if value > 0 and share == 0:
            raise value_error("weights", f"{value} for {name!r}{where} leaves no share beside {max(values)}")
    return shares


def _weight(value: Any, what: str) -> float:
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise type_error("weights", f"expected a number for {what}, got {value!r}")
    number = as_float(value, "weights")
    if not 0 <= number < np.inf:
        text = f"expected a number of at least 0 for {what}, got {number}"
        raise value_error("weights", text, number=number)
    return number
