"""A batch as cells: values in colour, padding hatched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.arguments import as_int
from varlen.display.text import plural
from varlen.plot import canvas
from varlen.plot.blocks import Block, block_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

__all__ = ["raster"]

MOST_TEXTS = 200  # cells that have their value written in them
WIDTH, HEIGHT = 0.09, 0.18  # of a letter in inches
MOST_BORDERS = (40, 80)  # rows and steps with white lines between


def raster(
    source: Any,
    key: str | None = None,
    *,
    mask: ArrayLike | None = None,
    max_rows: int = 256,
    max_steps: int = 1024,
    ax: Axes | None = None,
) -> Axes:
    """Draw a batch as a rectangle of cells, values in colour and padding hatched.

    Parameters
    ----------
    source
        A batch of any layout; a Ragged, Data or joint dict, as it would be padded; a Padded, the longest
        sequence on top; or an array or tensor of (rows, steps, ...).
    key
        Of a batch or joint dict: the key to draw; by default the first that has steps.
    mask
        Of an array: True where data is present, of its first two axes or more; by default a masked array's
        own mask, or everywhere.
    max_rows, max_steps
        Draw the first rows and steps only.
    ax
        The Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes; step 0 is on the left, row 0 on top.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    TypeError, ValueError, KeyError
        The source is no batch, has no such key, or the mask does not fit.

    Notes
    -----
    Values of rows with several numbers have one colour. Inner levels lie side by side, with a line after each
    step of the first. A small picture has the values in its cells.

    Examples
    --------
    >>> ax = vl.plot.raster(vl.Ragged.from_list([[3, 1, 4], [], [1, 5]]))
    >>> ax.get_title(loc="left").splitlines()
    ['3 rows of 3 steps', '44% padding (hatched)']
    """
    block = block_of(source, key, mask, as_int(max_rows, "max_rows", 1), as_int(max_steps, "max_steps", 1))
    rows, steps = block.mask.shape
    target = canvas.as_axes(ax, 6.4, min(max(1.5 + 0.28 * rows, 2.2), 4.8))
    n, width = block.shape
    title = f"{plural(n, 'row')} of {plural(width, 'step')}"
    note = f"{block.padding:.0%} padding (hatched)"
    if (rows, steps) != (n, width):
        note = f"first {rows:,} x {steps:,} drawn; {note}"
    canvas.label(target, title, note if block.mask.size else "", "step", "row")
    if not block.mask.size:
        canvas.say_empty(target, "no rows" if not n else "no steps")
        return target
    target.patch.set(facecolor=canvas.PALE, hatch="////", edgecolor="#c8c8c8", linewidth=0)
    numbers, texts = _numbers(block)
    is_odd = block.mask & ~np.isfinite(numbers)
    if is_odd.any():
        canvas.label(target, title, f"{note}, {is_odd.sum():,} not finite (red)", "step", "row")
    finite = numbers[block.mask & ~is_odd]
    low, high = (finite.min(), finite.max()) if len(finite) else (0, 1)
    image = target.imshow(
        np.ma.masked_array(np.where(is_odd, high + abs(high) + 1.0, numbers), ~block.mask),
        aspect="auto",
        interpolation="nearest",
        cmap=_colors(texts is None),
        vmin=low,
        vmax=high,
    )
    if texts is not None:
        _write(target, image, block.mask, texts)
        if np.issubdtype(block.values.dtype, np.number) and block.mask.any():
            target.figure.colorbar(image, ax=target, label=block.name or "value")
    _draw_lines(target, block)
    target.xaxis.get_major_locator().set_params(integer=True)
    target.yaxis.get_major_locator().set_params(integer=True)
    return target


def _colors(is_single: bool) -> Any:
    """One colour, or many, and one more for what is not finite."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap([canvas.BLUE]) if is_single else colormaps["viridis"].with_extremes(over=canvas.RED)


def _numbers(block: Block) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """A number for the colour of each cell, and the values; None where a cell has no single value."""
    values = block.values
    if values.ndim > 2 or values.dtype.kind not in "biufmMSUO":
        return np.zeros(block.mask.shape), None
    if values.dtype.kind in "SUO":
        words = values.astype(str)
        codes = np.unique(words, return_inverse=True)[1].reshape(words.shape)
        return codes.astype(np.float64), words
    if values.dtype.kind in "mM":
        return np.where(np.isnat(values), np.nan, values.astype(np.int64)), values
    return values.astype(np.float64), values


def _write(ax: Axes, image: Any, mask: NDArray[np.bool_], values: NDArray[Any]) -> None:
    """Write values into the cells of a small picture."""
    if mask.size > MOST_TEXTS:
        return
    texts = {cell: _text(values[cell]) for cell in map(tuple, np.argwhere(mask).tolist())}
    (width, height), (rows, steps) = canvas.size(ax), mask.shape
    longest = max(map(len, texts.values()), default=0)
    if longest * WIDTH > 0.8 * width / steps or height / rows < HEIGHT:
        return
    for (row, step), text in texts.items():
        shade = image.norm(image.get_array()[row, step])
        color = "black" if shade > 0.6 else "white"
        ax.text(step, row, text, ha="center", va="center", color=color, fontsize="small")


def _text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)


def _draw_lines(ax: Axes, block: Block) -> None:
    """White lines between cells that are large, black ones after the steps of the first level."""
    rows, steps = block.mask.shape
    if rows <= MOST_BORDERS[0] and steps <= MOST_BORDERS[1]:
        ax.hlines(np.arange(rows - 1) + 0.5, -0.5, steps - 0.5, color="white", linewidth=1)
        ax.vlines(np.arange(steps - 1) + 0.5, -0.5, rows - 0.5, color="white", linewidth=1)
    if 1 < block.inner < steps and steps // block.inner <= MOST_BORDERS[1]:
        places = np.arange(block.inner, steps, block.inner) - 0.5
        ax.vlines(places, -0.5, rows - 0.5, color="black", linewidth=0.8)
