"""How long sequences are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from varlen.arguments import as_int
from varlen.display.picture import count_lengths
from varlen.display.text import plural
from varlen.errors import value_error
from varlen.plot import canvas
from varlen.plot.sources import levels_of, number_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from varlen._core import Level

__all__ = ["lengths"]


@overload
def lengths(
    source: Any, *, level: int, key: str | None = None, bins: int = 40, ax: Axes | None = None
) -> Axes: ...
@overload
def lengths(
    source: Any,
    *,
    level: None = None,
    key: str | None = None,
    bins: int = 40,
    ax: Axes | Sequence[Axes] | None = None,
) -> Axes | NDArray[np.object_]: ...
def lengths(
    source: Any,
    *,
    level: int | None = None,
    key: str | None = None,
    bins: int = 40,
    ax: Axes | Sequence[Axes] | None = None,
) -> Axes | NDArray[np.object_]:
    """Draw a histogram of the lengths of sequences, for one level or for each.

    Parameters
    ----------
    source
        A Ragged, Padded, Packed, Data, joint dict, Dataset, sampler or Level; or (n,) integers, the lengths.
    level
        The level to draw, 0 for the outermost; by default every level, each in Axes of its own.
    key
        Of a joint dict or Dataset: the key whose levels to draw; by default those of the deepest key.
    bins
        The most bars. Each bar covers the same number of whole lengths.
    ax
        The Axes to draw into, or one for each level; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes or numpy.ndarray
        The Axes; for several levels an array of them, outermost first.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    TypeError, ValueError, KeyError
        The source has no lengths, the level or the key does not exist, or `ax` does not fit.

    Notes
    -----
    It counts lengths before it draws, and never reads values: a million sequences take some milliseconds. For
    long tails, call `set_yscale("log")` on the result.

    Examples
    --------
    >>> words = vl.Ragged.from_list([[[3, 1], [4]], [], [[1, 5]]])
    >>> ax = vl.plot.lengths(words, level=0)
    >>> ax.get_title(loc="left").splitlines()
    ['Lengths at level 0', '3 sequences, 1 empty', 'median 1, 95% up to 2 (dashed)']
    >>> vl.plot.lengths(words).shape
    (2,)
    """
    levels = levels_of(source, key)
    bin_count = as_int(bins, "bins", 1)
    if level is not None:
        levels, numbers = (levels[number_of(level, levels)],), [number_of(level, levels)]
    else:
        numbers = list(range(len(levels)))
    is_one = len(levels) == 1
    targets = _targets(ax, len(levels))
    for number, item, target in zip(numbers, levels, targets, strict=True):
        title = "Lengths" if is_one and number == 0 and level is None else f"Lengths at level {number}"
        _draw(target, item, title, bin_count)
    return targets[0] if is_one else np.array(targets, object)


def _targets(ax: Any, n: int) -> list[Axes]:
    """Axes for n levels."""
    if ax is None and n > 1:
        size = (min(3.6 * n, 12), 3.2)
        return list(canvas.load().subplots(1, n, figsize=size, layout="constrained")[1])
    several = list(np.ravel(ax)) if isinstance(ax, (list, tuple, np.ndarray)) else [ax]
    if len(several) != n:
        reason = f"expected Axes for each of {n} levels, got {len(several)}"
        raise value_error("ax", reason, "pass level= for one of them")
    return [canvas.as_axes(target) for target in several]


def _draw(ax: Axes, level: Level, title: str, bins: int) -> None:
    numbers = level.lengths
    empty = int((numbers == 0).sum())
    note = plural(len(numbers), "sequence") + (f", {empty:,} empty" if empty else "")
    if not len(numbers):
        canvas.label(ax, title, note, "length", "sequences")
        canvas.say_empty(ax, "no sequences")
        return
    counts, edges = count_lengths(numbers, bins)
    ax.stairs(counts, edges - 0.5, fill=True, color=canvas.BLUE)
    middle, high = np.percentile(numbers, [50, 95], method="inverted_cdf").astype(int)
    ax.axvline(middle, color=canvas.RED)
    ax.axvline(high, color=canvas.GREY, linestyle="--")
    note = f"{note}\nmedian {middle:,}, 95% up to {high:,} (dashed)"
    canvas.label(ax, title, note, "length", "sequences")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.yaxis.get_major_locator().set_params(integer=True)
