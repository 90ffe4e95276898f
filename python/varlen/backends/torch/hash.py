"""Hashes of keys in tensors, where they lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from varlen import _core
from varlen._core import on_tensors
from varlen.backends.torch.followers import numbers_of
from varlen.backends.torch.memory import tensor_of
from varlen.errors import dtype_error

if TYPE_CHECKING:
    import torch

    from varlen._core import Level


def hash(ids: torch.Tensor, seed: int) -> torch.Tensor:
    """Four hashes of 32 bits for each id."""
    result: torch.Tensor = _call_keys(lambda keys: (_core.hash(keys, seed), None), ids, "ids")[0]
    return result


def ngrams(n: int, keys: torch.Tensor, level: Level) -> tuple[torch.Tensor, Level]:
    """A hash of every n consecutive keys of a sequence, and the level of them."""
    pair: tuple[torch.Tensor, Level] = _call_keys(lambda rows: _core.ngrams(n, rows, level), keys, "keys")
    return pair


def _call_keys(call: Callable[[Any], tuple[Any, Any]], keys: torch.Tensor, argument: str) -> tuple[Any, Any]:
    """What a call gives of keys where they lie; by their numbers where they do not show their memory."""
    if keys.is_floating_point() or keys.is_complex():
        raise dtype_error(argument, "integers", keys.dtype)
    result: Any = on_tensors(call, keys)
    if result is NotImplemented:
        rows, rest = call(numbers_of(keys))
        result = tensor_of(rows).to(keys.device), rest
    pair: tuple[Any, Any] = result
    return pair
