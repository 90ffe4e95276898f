"""Layers that turn one kind of container into another; their gradients go the other way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from varlen import ops
from varlen.ops.support.inputs import one_level
from varlen.transforms.convert import Conversion, as_array, as_laid_out, as_padded, as_ragged
from varlen.transforms.kinds import check_gradient, kind_error
from varlen.transforms.layer import Backprop
from varlen.types import Padded, Ragged


def convert(name: str, X: Any, is_train: bool) -> tuple[Any, Backprop]:
    """X as another kind of container, by the name of the conversion, and the way back for gradients."""
    Y, callback = _CONVERSIONS[name](X)

    def backprop(dY: Any) -> Any:
        check_gradient(dY, Y)
        return callback(dY)

    return Y, backprop


def _list2array(X: Any) -> Conversion:
    if not isinstance(X, (Ragged, list, tuple)):
        raise kind_error(X, expected="a list of arrays, or a Ragged")
    return as_array(X)


def _list2ragged(X: Any) -> Conversion:
    if not isinstance(X, (Ragged, list, tuple)):
        raise kind_error(X, expected="a list of arrays, or a Ragged")
    return as_ragged(X)


def _ragged2list(X: Any) -> Conversion:
    level = one_level(X, "X")
    return ops.ragged2list(X), lambda d: X._make(ops.flatten(d) if d else X.values, (level,))


def _list2padded(X: Any) -> Conversion:
    if not isinstance(X, (Padded, list, tuple)):
        raise kind_error(X, expected="a list of arrays, or a Padded")
    return as_padded(X)


def _padded2list(X: Any) -> Conversion:
    if not isinstance(X, Padded):
        raise kind_error(X, expected="a Padded")
    return X.to_list(), lambda d: as_laid_out(ops.list2padded(d), X) if d else X


_CONVERSIONS: dict[str, Callable[[Any], Conversion]] = {
    "list2array": _list2array,
    "list2padded": _list2padded,
    "list2ragged": _list2ragged,
    "padded2list": _padded2list,
    "ragged2list": _ragged2list,
}
