"""Rows of a fixed number of tokens, each filled with whole sequences."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from varlen import _core
from varlen.arguments import as_int, one_of
from varlen.data.sampler import HasLengths, Ints, Sampler, Uneven

__all__ = ["BinPacking"]


class BinPacking(Sampler):
    """Batches of whole rows that fill a fixed number of tokens: sequence packing, with next to no room left.

    Each batch is one bin. As a ragged batch it is what attention over `cu_seqlens` takes, and its tokens are
    at most `size`. The longest rows of a window are put first, each where `fit` says; a row that fits nowhere
    opens a bin.

    Parameters
    ----------
    lengths
        (rows,) integers, the tokens of every row; or a dataset, for its `lengths`.
    size
        The most tokens of a batch.
    fit
        "best" puts a row into the bin that it leaves the least room in, "first" into the first with room:
        best-fit and first-fit decreasing.
    window
        How many rows are packed by themselves. More fill bins better: of 10,000, which is the default, mostly
        over 99 per cent; fewer make batches more random.
    max_len
        The length that rows are cut to, as by `Dataset.batch(max_len=...)`: longer rows count as this.
    too_long
        What to do with a row that is over `size` by itself: "raise" a ValueError, or "skip" it.
    shuffle
        Other windows, and another order of batches, for each seed and epoch.
    seed
        int, at least 0.
    drop_last
        Short for uneven="drop": no batch is left out for being small.
    uneven, num_replicas, rank
        As those of `Sampler`: what the last step does, and how many processes share the rows.

    Raises
    ------
    ValueError, TypeError
        Lengths that are negative or not integers, sizes below 1, a row over `size` where too_long is "raise".

    Examples
    --------
    >>> list(BinPacking([5, 2, 3, 4, 6], 10, shuffle=False))
    [[4, 3], [0, 2, 1]]
    >>> import varlen as vl
    >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [4], [5, 6]]}))
    >>> [ds.batch(rows, layout="ragged")["x"] for rows in BinPacking(ds, 4, shuffle=False)]
    [array([1, 2, 3, 4], dtype=uint8), array([5, 6], dtype=uint8)]
    """

    _OPTIONS = ("size", "fit", "window", "too_long")

    def __init__(
        self,
        lengths: ArrayLike | HasLengths,
        size: int,
        *,
        fit: Literal["best", "first"] = "best",
        window: int = 10_000,
        max_len: int | None = None,
        too_long: Literal["raise", "skip"] = "raise",
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
        uneven: Uneven | None = None,
        num_replicas: int | None = None,
        rank: int | None = None,
    ) -> None:
        super().__init__(
            lengths, shuffle=shuffle, seed=seed, drop_last=drop_last, uneven=uneven,
            num_replicas=num_replicas, rank=rank,
        )  # fmt: skip
        self.size = as_int(size, "size", 1)
        self.window = as_int(window, "window", 1)
        one_of(fit, "fit", ("best", "first"))
        one_of(too_long, "too_long", ("raise", "skip"))
        self.fit, self.too_long = fit, too_long
        if max_len is not None:
            self.lengths = np.minimum(self.lengths, as_int(max_len, "max_len", 1))
        is_over = self.lengths > self.size
        if too_long == "raise" and is_over.any():
            row = int(np.argmax(is_over))
            raise ValueError(
                f"lengths: row {row} has {self.lengths[row]} tokens, over size={size}; give max_len, or "
                "too_long='skip'"
            )
        self._rows: Ints = np.flatnonzero(~is_over)

    def padding_share(self) -> float:
        """The share of this epoch's bins that holds no data, each of `size` tokens.

        Returns
        -------
        float
            From 0, where all bins are full, to 1.

        Examples
        --------
        >>> BinPacking([5, 2, 3, 4, 6], 10).padding_share()
        0.0
        """
        batches = [batch for batch in self._batches() if len(batch)]
        if not batches:
            return 0.0
        return 1 - int(self.lengths[np.concatenate(batches)].sum()) / (self.size * len(batches))

    @property
    def _counts_padding(self) -> bool:
        return False

    def _deal(self, rng: np.random.Generator) -> list[Ints]:
        rows = rng.permutation(self._rows) if self.shuffle else self._rows
        order, offsets = _core.fill_bins(self.lengths[rows], self.size, self.window, self.fit == "best")
        rows, ends = rows[order], offsets.tolist()
        batches: list[Any] = [rows[begin:end] for begin, end in pairwise(ends)]
        return [batches[i] for i in rng.permutation(len(batches))] if self.shuffle else batches
