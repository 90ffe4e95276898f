"""Rows of a fixed number of tokens, each filled with whole sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from varlen import _core
from varlen.arguments import as_int, one_of
from varlen.data.options import check_names
from varlen.data.records import PackedRows
from varlen.data.sampler import HasLengths, Ints, OrderKeywords, Sampler, with_order
from varlen.errors import value_error
from varlen.io.account import Account

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["BinPacking"]


class BinPacking(Sampler):
    """Sample batches for sequence packing: whole rows fill bins of a fixed number of tokens.

    It places the longest rows of a window first, each where `fit` says. A row that fits nowhere opens a new
    bin.
    `Dataset.batch(layout="packed", pad_to=size)` lays the bins of a batch into a block `(batch_size, size)`;
    a ragged batch holds their rows end to end. Empty rows are kept, and take no space.

    Parameters
    ----------
    lengths
        (rows,) integers, the tokens of every row; or a dataset, for its `lengths`.
    size
        The most tokens per bin.
    batch_size
        The bins per batch; the last batch may have fewer, unless `drop_last`.
    fit
        "best" puts a row into the fullest bin that has room for it, "first" into the first bin with room
        (best-fit and first-fit decreasing).
    window
        The number of rows packed together. More rows fill bins better: 10,000, the default, mostly fill over
        99 per cent; fewer make batches more random.
    max_len
        The length that rows are cut to, as by `Dataset.batch(max_len=...)`; longer rows count as this long.
    too_long
        What to do with a row longer than `size`: "raise" a ValueError, "skip" it, or "split" it into pieces
        of `size` tokens and a shorter last one, each packed as its own row. The pieces travel with the row
        numbers to `Dataset.epoch`, `Dataset.batch` and the collator.
    shuffle
        Whether windows and the order of bins change with the seed and the epoch.
    seed, drop_last, uneven, num_replicas, rank
        As in `Sampler`: the order, the last step, and the processes that share the rows.

    Raises
    ------
    ValueError, TypeError
        Lengths are negative or not integers; a size is below 1; a row is longer than `size` and too_long is
        "raise"; max_len is combined with too_long="split".

    Examples
    --------
    >>> list(BinPacking([5, 2, 3, 4, 6], 10, shuffle=False))
    [[4, 3], [0, 2, 1]]
    >>> import varlen as vl
    >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [4], [5, 6, 7, 8, 9]]}))
    >>> bins = BinPacking(ds, 4, batch_size=3, too_long="split", shuffle=False)
    >>> [ds.batch(rows, layout="packed", pad_to=4)["x"] for rows in bins]
    [array([[5, 6, 7, 8],
           [1, 2, 3, 4],
           [9, 0, 0, 0]], dtype=uint8)]
    """

    _OPTIONS = ("size", "_batch_size", "fit", "window", "too_long")

    @with_order
    def __init__(
        self,
        lengths: ArrayLike | HasLengths,
        size: int,
        *,
        batch_size: int = 1,
        fit: Literal["best", "first"] = "best",
        window: int = 10_000,
        max_len: int | None = None,
        too_long: Literal["raise", "skip", "split"] = "raise",
        shuffle: bool = True,
        **order: Unpack[OrderKeywords],
    ) -> None:
        check_names(order, OrderKeywords, type(self).__init__)
        super().__init__(lengths, shuffle=shuffle, **order)
        self.size = as_int(size, "size", 1)
        self._batch_size = as_int(batch_size, "batch_size", 1)
        self.window = as_int(window, "window", 1)
        one_of(fit, "fit", ("best", "first"))
        one_of(too_long, "too_long", ("raise", "skip", "split"))
        self.fit, self.too_long = fit, too_long
        self._row_lengths = self.lengths
        if max_len is not None:
            if too_long == "split":
                raise value_error(
                    "max_len",
                    "cannot be combined with too_long='split': rows are either cut or split",
                    "leave out one of them",
                )
            self.lengths = np.minimum(self.lengths, as_int(max_len, "max_len", 1))
        is_over = self.lengths > self.size
        if too_long == "raise" and is_over.any():
            row = int(np.argmax(is_over))
            fault = f"row {row} has {self.lengths[row]} tokens, over size={size}"
            advice = "give max_len, or too_long='skip' or 'split'"
            raise value_error("lengths", fault, advice, row=row, number=int(self.lengths[row]))
        # Of every piece of a row that is split: its row, and where in the row it begins. Then `lengths` are
        # those of the pieces, and the batches of `_deal` have numbers of pieces.
        self._piece_rows: Ints | None = None
        self._piece_starts: Ints | None = None
        if too_long == "split" and is_over.any():
            pieces = _core.Level.from_lengths(np.maximum(-(-self.lengths // self.size), 1))
            self._piece_rows = pieces.row_ids
            self._piece_starts = pieces.positions * self.size
            rest = self.lengths[self._piece_rows] - self._piece_starts
            self.lengths = np.minimum(rest, self.size)
        self._rows: Ints = np.flatnonzero(self.lengths <= self.size)

    @property
    def _drawn_rows(self) -> Ints:
        return self._rows

    def _cut(self, count: int) -> None:
        super()._cut(count)
        rows = count
        if self._piece_rows is not None and self._piece_starts is not None:
            self._piece_rows, self._piece_starts = self._piece_rows[:count], self._piece_starts[:count]
            rows = int(self._piece_rows[-1]) + 1 if count else 0
        self._row_lengths, self._rows = self._row_lengths[:rows], self._rows[self._rows < count]

    @property
    def account(self) -> Account:
        """The account of the rows and tokens: what came in, what the bins hold, what was cut or skipped.

        It covers all bins of an epoch; `drop_last` and `uneven` then drop other bins in each epoch.
        """
        account = Account({"rows": len(self._row_lengths)})
        account.column("tokens").source.values = int(self._row_lengths.sum())
        lengths = self.lengths if self._piece_rows is None else self._row_lengths
        cut = self._row_lengths - lengths
        is_over = lengths > self.size if self._piece_rows is None else np.zeros(len(lengths), bool)
        cut_first, skipped_first = (
            [f"row {row}: {self._row_lengths[row]} tokens" for row in np.flatnonzero(rows)[:3].tolist()]
            for rows in (cut, is_over)
        )
        account.leave_out("tokens", "tokens over max_len", int(cut.sum()), None, cut_first)
        account.leave_out(None, "rows over size", int(is_over.sum()), 0, skipped_first)
        account.leave_out("tokens", "rows over size", int(lengths[is_over].sum()), None, skipped_first)
        rows = self._rows if self._piece_rows is None else self._piece_rows[self._rows]
        account.set_result(len(np.unique(rows)), {"tokens": int(self.lengths[self._rows].sum())})
        return account

    def _sizes(self, batches: list[Any], padded: bool) -> Ints:
        if not padded:
            return super()._sizes(batches, padded)
        return np.array([self.size * batch.count for batch in batches], np.int64)

    @property
    def _counts_padding(self) -> bool:
        return False

    @property
    def _row_count(self) -> int:
        return len(self._row_lengths)

    def _why_nothing(self) -> str:
        if len(self._rows):
            return super()._why_nothing()
        return f"too_long: 'skip' leaves out all rows, each over size={self.size}; give max_len or 'split'"

    def _deal(self, rng: np.random.Generator) -> list[Any]:
        order, bins = self._fill(rng)
        count = len(bins) - 1
        if self.drop_last:
            count -= count % self._batch_size
        batches = []
        for first in range(0, count, self._batch_size):
            ends = bins[first : min(first + self._batch_size, count) + 1]
            batches.append(_Bins(order[ends[0] : ends[-1]], ends - ends[0]))
        return batches

    def _empty_batch(self) -> Any:
        return _Bins(np.empty(0, np.int64), np.zeros(1, np.int64))

    def _fill(self, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """The rows of all bins, one after the other, and where each begins."""
        rows = rng.permutation(self._rows) if self.shuffle else self._rows
        order, offsets = _core.fill_bins(self.lengths[rows], self.size, self.window, self.fit == "best")
        if not self.shuffle:
            return rows[order], offsets
        level = _core.Level.from_offsets(offsets)
        rows, levels = _core.gather(rows[order], (level,), rng.permutation(len(level)))
        return rows, levels[0].offsets

    def _row_numbers(self, batch: Any, epoch: int) -> PackedRows:
        pieces, bins = batch.pieces, batch.offsets.tolist()
        if self._piece_rows is None or self._piece_starts is None:
            return PackedRows(pieces.tolist(), epoch, bins=bins)
        start = self._piece_starts[pieces]
        end = start + self.lengths[pieces]
        rows = self._piece_rows[pieces].tolist()
        return PackedRows(rows, epoch, bins=bins, start=start.tolist(), end=end.tolist())


class _Bins:
    """The pieces of a batch, an array to the base class, and where among them each bin begins."""

    __slots__ = ("offsets", "pieces")

    @with_order
    def __init__(self, pieces: Ints, offsets: Ints) -> None:
        self.pieces, self.offsets = pieces, offsets

    def __len__(self) -> int:
        return len(self.pieces)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.pieces, dtype, copy=copy)

    @property
    def count(self) -> int:
        return len(self.offsets) - 1
