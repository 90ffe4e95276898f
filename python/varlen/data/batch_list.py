"""A list of batches as a sampler, for states of the loops over it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from varlen.data.records import RowNumbers
from varlen.data.sampler import Ints, Sampler

__all__: list[str] = []


class BatchList(Sampler):
    """Batches in the order of a list, the same in every epoch; each process has a list of its own."""

    def __init__(self, batches: Sequence[Any], row_count: int) -> None:
        super().__init__(np.empty(0, np.int64), num_replicas=1, rank=0)
        self._list, self._count = batches, row_count

    @property
    def _row_count(self) -> int:
        return self._count

    def take_first(self, count: Any) -> BatchList:
        """The same batches of the first rows."""
        is_fewer = isinstance(count, int) and 0 <= count < self._count
        return BatchList(self._list, count) if is_fewer else self

    def _deal_rest(self, epoch: int, history: tuple[tuple[int, int], ...]) -> list[Any]:
        return list(self._list)

    def _row_numbers(self, batch: Any, epoch: int) -> Any:
        if isinstance(batch, (list, tuple)) and not hasattr(batch, "epoch"):
            return RowNumbers(batch, epoch)
        is_rows = isinstance(batch, np.ndarray) and batch.ndim == 1 and batch.dtype.kind in "iu"
        return RowNumbers(batch.tolist(), epoch) if is_rows else batch

    def _identity(self) -> dict[str, Any]:
        digest = hashlib.blake2b(digest_size=8)
        for batch in self._list:
            digest.update(_text_of(batch))
        return {"batches": len(self._list), "rows": digest.hexdigest()}

    def _sizes(self, batches: list[Any], padded: bool) -> Ints:
        return np.zeros(len(batches), np.int64)  # there are no lengths here

    def __repr__(self) -> str:
        return f"{type(self._list).__name__}({len(self._list)} batches)"


def _text_of(batch: Any) -> bytes:
    """What a batch is, as bytes that do not depend on the kind of its list."""
    if isinstance(batch, slice):
        return repr(batch).encode()
    array = np.asarray(batch)
    if array.dtype.kind in "iu":
        array = array.astype(np.int64)
    if array.dtype.hasobject or array.dtype.kind == "U":
        return repr(array.tolist()).encode()
    return f"{array.dtype.str} {array.shape}".encode() + array.tobytes()
