"""What pictures share: matplotlib, Axes to draw into, colours that colour-blind readers can tell apart."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

from varlen.errors import instance_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__: list[str] = []

# Okabe and Ito's, those that are seen on white.
BLUE, ORANGE, GREEN, RED, PURPLE, SKY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9"
GREY, PALE = "#6e6e6e", "#ececec"
STYLES = tuple(zip((BLUE, RED, GREEN, ORANGE, PURPLE, SKY, "#000000"), "os^Dv<>", strict=True))


def load() -> Any:
    """The module matplotlib.pyplot."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        text = "varlen.plot needs matplotlib, which is not installed; pip install 'varlen[plot]'"
        raise ModuleNotFoundError(text, name="matplotlib") from None
    return plt


def as_axes(ax: Any, width: float = 6.4, height: float = 3.4) -> Axes:
    """The given Axes, or those of a new figure of this size in inches."""
    plt = load()
    if ax is None:
        return plt.subplots(figsize=(width, height), layout="constrained")[1]
    if not callable(getattr(ax, "get_xlim", None)):
        raise instance_error("ax", "an Axes of matplotlib", ax)
    return ax


def label(ax: Axes, title: str, note: str = "", x: str = "", y: str = "") -> None:
    """Write a title with a note below it, and what the axes count."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set_title(f"{title}\n{note}" if note else title, loc="left", fontsize="medium")
    ax.set_xlabel(x)
    ax.set_ylabel(y)


def say_empty(ax: Axes, text: str) -> None:
    """Write in the middle why there is nothing to see."""
    place = {"ha": "center", "va": "center", "transform": ax.transAxes}
    ax.text(0.5, 0.5, text, color=GREY, **place)
    ax.set(xticks=[], yticks=[])


def styles(n: int) -> Iterable[tuple[str, str]]:
    """A colour and a marker for each of n lines."""
    return islice(cycle(STYLES), n)


def shorten_dates(axis: Any) -> None:
    """Write only what differs between dates, and the rest once."""
    from matplotlib.dates import ConciseDateFormatter

    axis.set_major_formatter(ConciseDateFormatter(axis.get_major_locator()))


def size(ax: Axes) -> tuple[float, float]:
    """The width and height of Axes in inches, before the layout makes room for texts."""
    place, figure = ax.get_position(), ax.figure.get_size_inches()
    return place.width * figure[0], place.height * figure[1]
