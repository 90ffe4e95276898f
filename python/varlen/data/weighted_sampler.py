"""Rows drawn at random by their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from varlen.arguments import as_array, as_bool, as_few, as_int
from varlen.data.facts import digest_of
from varlen.data.options import check_names
from varlen.data.sampler import HasLengths, Ints, OrderKeywords, Sampler, cut, with_order
from varlen.data.samplers import is_count, length_of_rows
from varlen.errors import dtype_error, value_error
from varlen.io.lookup import search_sorted

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["WeightedSampler"]

Floats = np.ndarray[tuple[Any, ...], np.dtype[np.float64]]

_MOST_DRAWS = 2**31 - 1


class WeightedSampler(Sampler):
    """Batches of rows drawn at random, each by its weight, with or without replacement.

    It is torch's WeightedRandomSampler, in batches, with ranks, epochs and states: the draws depend only on
    seed and epoch, and each rank gets its share of one sequence of draws.

    Parameters
    ----------
    lengths
        (rows,) integers, the length of every row; or a dataset, for its `lengths`; or the number of rows.
    batch_size
        The rows per batch; the last batch may have fewer, unless `drop_last`.
    weights
        (rows,) numbers of at least 0; only their ratios count. By default all rows have the same.
    num_samples
        The draws of an epoch, over all ranks. By default as many as there are rows; without replacement, as
        there are rows with a weight above 0.
    replacement
        True: every draw is independent, and a row may come many times in an epoch. False: a row that was
        drawn does not come again in this epoch, and the others are drawn by their weights.
    seed, drop_last, uneven, num_replicas, rank
        As in `Sampler`: the order, the last step, and the processes that share the rows.

    Raises
    ------
    ValueError, TypeError
        Weights are negative, not finite, all 0, or not one a row; or there are fewer rows with a weight than
        num_samples.

    Examples
    --------
    >>> sampler = WeightedSampler(4, 2, [0, 1, 1, 6], num_samples=1000, seed=1)
    >>> rows = [row for batch in sampler for row in batch]
    >>> len(rows), 0 in rows, 0.7 < rows.count(3) / 1000 < 0.8
    (1000, False, True)
    >>> once = WeightedSampler(4, 2, [0, 1, 1, 6], replacement=False)
    >>> sorted(row for batch in once for row in batch)
    [1, 2, 3]
    """

    _OPTIONS = ("batch_size", "num_samples", "replacement")

    @with_order
    def __init__(
        self,
        lengths: int | ArrayLike | HasLengths,
        batch_size: int,
        weights: ArrayLike | None = None,
        *,
        num_samples: int | None = None,
        replacement: bool = True,
        **order: Unpack[OrderKeywords],
    ) -> None:
        check_names(order, OrderKeywords, type(self).__init__)
        super().__init__(length_of_rows(lengths), shuffle=True, **order)
        self._has_lengths = not is_count(lengths)
        self.batch_size = as_int(batch_size, "batch_size", 1)
        self.replacement = as_bool(replacement, "replacement")
        n = len(self.lengths)
        self._weights = np.ones(n) if weights is None else _checked_weights(weights, n)
        self._is_whole = num_samples is None
        largest = self._most_draws
        self.num_samples = (
            largest if num_samples is None else as_few(num_samples, "num_samples", _MOST_DRAWS, 1)
        )
        if self.num_samples > largest and (n == 0 or not self.replacement):
            raise value_error(
                "num_samples",
                f"expected at most {largest}, the rows with a weight above 0, got {self.num_samples}",
                "" if n == 0 else "pass replacement=True, or fewer",
                number=self.num_samples,
            )

    @property
    def _most_draws(self) -> int:
        """The rows of an epoch that has all."""
        return len(self.lengths) if self.replacement else int(np.count_nonzero(self._weights))

    @property
    def _drawn_rows(self) -> Ints:
        return np.flatnonzero(self._weights)

    def _cut(self, count: int) -> None:
        super()._cut(count)
        self._weights = self._weights[:count]
        if self._is_whole:
            self.num_samples = self._most_draws

    def _deal(self, rng: np.random.Generator) -> list[Ints]:
        count = self.num_samples
        weights = _scale(self._weights)
        if self.replacement:
            sums = np.cumsum(weights)
            order = np.minimum(search_sorted(sums, rng.random(count) * sums[-1:], "right"), self._last)
        else:  # the first of so many clocks that ring at random (Efraimidis and Spirakis, 2006)
            rows = np.flatnonzero(weights)
            with np.errstate(over="ignore"):
                times = rng.exponential(size=len(rows)) / weights[rows]
            order = rows[np.argsort(times, kind="stable")[:count]]
        return cut(order, self.batch_size, self.drop_last)

    @property
    def _last(self) -> int:
        """The last row that has a weight: sums of weights round."""
        return int(self._drawn_rows[-1]) if self.num_samples else 0

    def _identity(self) -> dict[str, Any]:
        return {**super()._identity(), "weights": digest_of(_scale(self._weights), 8)}


def _scale(weights: Floats) -> Floats:
    """Weights of which the largest is 1: only their ratios count."""
    largest = float(weights.max(initial=0.0))
    return weights / largest if largest else weights


def _checked_weights(weights: ArrayLike, count: int) -> Floats:
    array = as_array(weights, "weights")
    if array.dtype.kind not in "iuf":
        raise dtype_error("weights", "numbers", f"dtype {array.dtype}")
    if array.shape != (count,):
        raise value_error("weights", f"expected one for each of {count} rows, got shape {array.shape}")
    values = array.astype(np.float64)
    is_wrong = ~((values >= 0) & (values < np.inf))
    if is_wrong.any():
        row = int(np.argmax(is_wrong))
        raise value_error(
            "weights",
            f"row {row} has {array[row]}; expected numbers of at least 0",
            row=row,
            number=float(values[row]),
        )
    largest = float(values.max(initial=0.0))
    if count and largest == 0:
        raise value_error("weights", f"all {count} are 0; expected one above 0")
    return values
