"""Pictures of lengths, padding, batches and records, drawn with matplotlib (the extra `plot`).

Each function draws into the given Axes or a new figure, returns the Axes, and reads only what it draws.
"""

from typing import TYPE_CHECKING

from varlen._lazy import loaded_from
from varlen.plot.batch_cells import raster
from varlen.plot.events import timeline
from varlen.plot.length_bars import lengths
from varlen.plot.padding_curves import padding

__all__ = ["lengths", "padding", "raster", "timeline"]

if not TYPE_CHECKING:  # type checkers know all names
    __getattr__ = loaded_from(__name__, {})
