"""One array of Arrow over the memory of its producer, as the core reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__: list[str] = []


class Part(NamedTuple):
    """One array of Arrow and those below it, as the core reads it. Of a schema alone the length is -1."""

    format: str
    name: str
    flags: int
    metadata: dict[bytes, bytes] | None
    length: int
    offset: int
    null_count: int
    buffers: tuple[NDArray[np.uint8] | None, ...]
    children: tuple[tuple[Any, ...], ...]
    dictionary: tuple[Any, ...] | None

    def parts(self) -> Iterator[Part]:
        """The children."""
        return map(Part._make, self.children)

    def nulls(self, begin: int, end: int) -> NDArray[np.bool_] | None:
        """Where entries are null; None if none is."""
        bits = self.buffers[0] if self.buffers else None
        if bits is None or self.null_count == 0:
            return None
        mask = ~bits_of(bits, self.offset + begin, self.offset + end)
        return mask if mask.any() else None


def bits_of(bits: NDArray[np.uint8], begin: int, end: int) -> NDArray[np.bool_]:
    """Bits as bools."""
    first = begin // 8
    wide = np.unpackbits(bits[first : (end + 7) // 8], bitorder="little", count=end - first * 8)
    return wide[begin - first * 8 :].view(np.bool_)
