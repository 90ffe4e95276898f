"""Sums of products by letters, of arrays of a library that lies on devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.backends.namespace.library import LibraryVerbs
from varlen.backends.padded import padded_einsum

if TYPE_CHECKING:
    from collections.abc import Callable

    from varlen.backends.equation import Equation
    from varlen.levels import Levels


class BlockContraction:
    """What padded blocks are made with, by the verbs of a backend and the functions of its library."""

    def __init__(self, backend: Any) -> None:
        self.backend, self.xp = backend, backend.xp
        self.gather: Callable[..., Any] = lambda x, levels, index: backend.gather(x, levels, index)[0]
        self.unpad: Callable[..., Any] = backend.unpad
        self.einsum: Callable[..., Any] = self.xp.einsum

    def pad(self, x: Any, levels: Any, sizes: list[int]) -> Any:
        """A rectangle of sequences, zeros behind them."""
        return self.backend.pad(x, levels, sizes=sizes)

    def take(self, x: Any, index: Any, axis: int) -> Any:
        """Some entries along an axis."""
        return self.xp.take(x, self.backend.like(index, x), axis)

    def ones(self, x: Any, shape: tuple[int, ...]) -> Any:
        """Ones of the dtype of an array."""
        return self.xp.ones(shape, x.dtype)

    def concat(self, parts: list[Any], axis: int) -> Any:
        """Arrays end to end."""
        return self.xp.concatenate(parts, axis)


class Einsum(LibraryVerbs):
    """The verb of a backend of such arrays."""

    if TYPE_CHECKING:
        assign: Callable[..., Any]
        contiguous: Callable[..., Any]

    def einsum(
        self,
        equation: Equation,
        values: list[Any],
        levels: Levels,
        extents: tuple[int, ...],
        out: Any = None,
    ) -> Any:
        """The sum of products of one or two arrays of one dtype; halves are computed in float32."""
        dtype = values[0].dtype
        narrow = dtype.itemsize == 2 and dtype.kind in "fV"
        operands = [x.astype("f4") if narrow else x for x in values]
        with self.library.device_of(operands[0]):
            if levels:
                result = padded_einsum(BlockContraction(self), equation, operands, levels, extents)
            else:
                result = self.xp.einsum(f"{','.join(equation.terms)}->{equation.out}", *operands)
            result = self.contiguous(result.astype(dtype, copy=False))
        return result if out is None else self.assign(out, result)
