"""Results of the sequence ops as LoDTensors."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from varlen.lod.tensor import LoDTensor
from varlen.types import Ragged

if TYPE_CHECKING:
    from collections.abc import Callable

    from varlen.backends.values import SequencesLike


def with_lod_results(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The op of this name of `varlen.lod`: its Raggeds are LoDTensors unless a plain one was given."""

    @functools.wraps(function)
    def op(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return result if any(map(_holds_plain, (*args, *kwargs.values()))) else _as_lod(result)

    op.__module__, op.__qualname__ = "varlen.lod", name  # where a pickle finds it
    return op


def _holds_plain(x: SequencesLike) -> bool:
    return type(x) is Ragged or (isinstance(x, (list, tuple)) and any(type(y) is Ragged for y in x))


def _as_lod(result: object) -> Any:
    if type(result) is Ragged:
        return LoDTensor._make(result._values, result._levels)
    return tuple(map(_as_lod, result)) if type(result) is tuple else result
