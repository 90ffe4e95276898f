"""Sequences dealt out by a mask, and gathered again."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample

# Of memcpy, for each of the two ways.
GOAL = 1.15


@row("route.mask", "rows of 64 numbers, mean length 64, dealt out by a mask and gathered again, 8 MB")
def _(case: Case) -> None:
    source = sample.rows(case.size(512, 21), 64, 64)
    values, lengths, offsets = source
    mask = np.random.default_rng(3).random(len(lengths)) < 0.5
    by_row = np.repeat(mask, lengths)
    case.reference = [values[by_row], values[~by_row], values]
    out = case.buffer(values.shape, values.dtype)
    yes = case.buffer((int(by_row.sum()), 64), values.dtype)
    no = case.buffer((int((~by_row).sum()), 64), values.dtype)

    @case.contender("varlen", show=lambda result: [result[0].values, result[1].values, result[2].values])
    def _() -> Any:
        import varlen

        r = varlen.Ragged(values, lengths)

        def there_and_back() -> Any:
            true, false = varlen.sequence.split_lod_tensor(r, mask)
            return true, false, varlen.sequence.merge_lod_tensor(true, false, None, mask)

        return there_and_back

    @case.contender("numba", needs="numba", show=lambda _: [yes, no, out])
    def _() -> Any:
        from .by_hand import scan as by_hand_scan

        return by_hand_scan.there_and_back, values, offsets, mask, yes, no, out

    @case.contender("NumPy masks")
    def _() -> Any:
        def there_and_back() -> Any:
            rows = np.repeat(mask, lengths)
            true, false = values[rows], values[~rows]
            back = np.empty_like(values)
            back[rows] = true
            back[~rows] = false
            return [true, false, back]

        return there_and_back

    def plain(array: Any) -> Any:
        import awkward

        return awkward.flatten(array).to_numpy()

    @case.contender("awkward", needs="awkward", show=lambda result: [plain(part) for part in result])
    def _() -> Any:
        import awkward

        content = awkward.contents.NumpyArray(values)
        array = awkward.Array(awkward.contents.ListOffsetArray(awkward.index.Index64(offsets), content))

        def there_and_back() -> Any:
            true, false = array[mask], array[~mask]
            order = np.where(mask, np.cumsum(mask) - 1, mask.sum() + np.cumsum(~mask) - 1)
            return [true, false, awkward.concatenate([true, false])[order]]

        return there_and_back

    case.yardstick("memcpy", yardstick.memcpy, out, values)
    case.over("memcpy", 2 * GOAL, text=f"<= {2 * GOAL:g} of memcpy")
