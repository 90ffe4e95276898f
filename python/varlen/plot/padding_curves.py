"""How much of a batch is padding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.arguments import as_int, as_list
from varlen.data import BatchSampler, BinPacking, LengthBuckets, TokenBudget
from varlen.display.text import plural
from varlen.errors import instance_error, value_error
from varlen.plot import canvas
from varlen.plot.sources import levels_of, number_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Rule = Callable[[Ints, int], Iterable[Any]]

__all__ = ["padding"]

MOST_ROWS = 50_000  # a share hardly changes beyond, and five samplers take a second or two
SIZES = (2, 4, 8, 16, 32, 64, 128, 256)


def _tokens(lengths: Ints, batch_size: int) -> int:
    """The tokens of a mean batch."""
    return max(int(np.ceil(lengths.mean() * batch_size)), 1)


_RULES: dict[str, Rule] = {
    "random": lambda x, size: BatchSampler(x, size, shuffle=True, num_replicas=1, rank=0),
    "LengthBuckets": lambda x, size: LengthBuckets(x, size, num_replicas=1, rank=0),
    "TokenBudget": lambda x, size: TokenBudget(x, _tokens(x, size), too_long="alone", num_replicas=1, rank=0),
    "sorted": lambda x, size: LengthBuckets(x, size, shuffle=False, num_replicas=1, rank=0),
    "BinPacking": lambda x, size: BinPacking(x, max(_tokens(x, size), int(x.max())), num_replicas=1, rank=0),
}


def padding(
    source: Any,
    *,
    batch_sizes: Sequence[int] = SIZES,
    samplers: Sequence[str] | Mapping[str, Rule] = tuple(_RULES),
    level: int = 0,
    key: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the share of padding in batches, by batch size, with a line for each sampler.

    Parameters
    ----------
    source
        As in `lengths`: the rows that batches are made of.
    batch_sizes
        The rows per batch, each at least 1; sizes above the number of rows are left out. Samplers that count
        tokens get as many as so many rows of mean length have.
    samplers
        Names of "random" (rows in random order), "sorted" (all rows by length), "LengthBuckets",
        "TokenBudget" and "BinPacking". Or a mapping from labels to functions of (lengths, batch_size) that
        return a sampler, or any iterable of batches of row numbers.
    level
        The level whose sequences are the rows, 0 for the outermost.
    key
        As in `lengths`.
    ax
        The Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes, with a line for each sampler.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    TypeError, ValueError, KeyError
        The source has no lengths, a batch size is below 1, or there is no such sampler, level or key.

    Notes
    -----
    Of more than 50,000 rows it takes a sample, the same at each call; the title says so.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ax = vl.plot.padding(rng.poisson(20, 500), samplers=["random", "sorted"])
    >>> [line.get_label() for line in ax.lines], ax.get_xlabel()
    (['random', 'sorted'], 'rows per batch')
    """
    levels = levels_of(source, key)
    numbers = levels[number_of(level, levels)].lengths
    rules = _rules(samplers)
    sizes = [as_int(size, "batch_sizes", 1) for size in as_list(batch_sizes, "batch_sizes", "numbers")]
    target = canvas.as_axes(ax)
    note = plural(len(numbers), "row")
    if len(numbers) > MOST_ROWS:
        note = f"a sample of {MOST_ROWS:,} of {note}"
        numbers = np.random.default_rng(0).choice(numbers, MOST_ROWS, replace=False)
    canvas.label(target, "Padding by batch size", note, "rows per batch", "share of padding")
    sizes = sorted({size for size in sizes if size <= len(numbers)})
    if not sizes:
        canvas.say_empty(target, "no rows" if not len(numbers) else "no batch size fits the rows")
        return target
    shares = {
        name: [_share(rule(numbers, size), numbers, name) for size in sizes] for name, rule in rules.items()
    }
    lines = []
    for name, (color, marker) in zip(shares, canvas.styles(len(shares)), strict=True):
        lines += target.plot(sizes, shares[name], color=color, marker=marker, markersize=4, label=name)
    target.set_xscale("log", base=2)
    target.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")
    target.minorticks_off()
    target.set_ylim(bottom=0)
    target.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    target.grid(axis="y", color=canvas.PALE)
    target.set_axisbelow(True)
    lines.sort(key=lambda line: -shares[line.get_label()][-1])  # as their right ends lie
    place = {"loc": "upper left", "bbox_to_anchor": (1, 1)}
    target.legend(handles=lines, fontsize="small", frameon=False, handlelength=1.2, **place)
    return target


def _rules(samplers: Any) -> dict[str, Rule]:
    if isinstance(samplers, Mapping):
        for name, rule in samplers.items():
            if not callable(rule):
                raise instance_error(f"samplers[{name!r}]", "a function of (lengths, batch_size)", rule)
        return dict(samplers)
    names = as_list(samplers, "samplers", "names")
    for name in names:
        if name not in _RULES:
            raise value_error("samplers", f"{name!r} is none of {', '.join(_RULES)}")
    return {name: _RULES[name] for name in names}


def _share(batches: Any, lengths: Ints, name: str) -> float:
    """The share of padding in the batches of one epoch."""
    if hasattr(batches, "padding_share"):
        return float(batches.padding_share())
    tokens = slots = 0
    for batch in batches:
        rows = np.asarray(batch, np.int64)
        if rows.ndim != 1:
            raise value_error(f"samplers[{name!r}]", f"a batch is a list of row numbers, got {batch!r}")
        if len(rows):
            tokens += int(lengths[rows].sum())
            slots += len(rows) * int(lengths[rows].max())
    return 1 - tokens / slots if slots else 0.0
