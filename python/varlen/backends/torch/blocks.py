"""Rows of sequences at places of longer arrays, apart from each other, and back; gradients go with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

if TYPE_CHECKING:
    from varlen._core import Level


class Places(NamedTuple):
    """Where rows are in the blocks of all buckets."""

    rows: torch.Tensor  # the row of each place; 0 for padding
    padding: torch.Tensor | None  # the places of padding
    places: torch.Tensor  # the place of each row; 0 for rows in no bucket
    idle: torch.Tensor | None  # the rows in no bucket


def places_of(level: Level, order: np.ndarray, starts: np.ndarray, total: int, device: str) -> Places:
    """The places of the rows of sequences `order`, whose blocks begin at `starts`, among `total`."""
    lengths = level.lengths[order]
    ends = np.cumsum(lengths)
    steps = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - lengths, lengths)
    row_of = np.repeat(level.offsets[order], lengths) + steps
    place_of = np.repeat(starts, lengths) + steps
    rows, places = np.full(total, -1), np.full(level.total, -1)
    rows[place_of], places[row_of] = row_of, place_of
    padding, idle = np.flatnonzero(rows < 0), np.flatnonzero(places < 0)
    return Places(
        torch.from_numpy(np.maximum(rows, 0)).to(device),
        torch.from_numpy(padding).to(device) if len(padding) else None,
        torch.from_numpy(np.maximum(places, 0)).to(device),
        torch.from_numpy(idle).to(device) if len(idle) else None,
    )  # fmt: skip


def to_places(x: torch.Tensor, places: Places) -> torch.Tensor:
    """Rows at their places, and zeros in the padding."""
    if not len(x):
        return x.new_zeros((len(places.rows), *x.shape[1:]))
    blocks = x.index_select(0, places.rows)
    return blocks if places.padding is None else blocks.index_fill_(0, places.padding, 0)


def from_places(blocks: torch.Tensor, places: Places) -> torch.Tensor:
    """The rows of blocks in their order, and zeros for those in no bucket."""
    if not len(places.rows):
        return blocks.new_zeros((len(places.places), *blocks.shape[1:]))
    x = blocks.index_select(0, places.places)
    return x if places.idle is None else x.index_fill_(0, places.idle, 0)


class ToPlaces(torch.autograd.Function):  # type: ignore[misc]
    """`to_places`; its gradient comes from the places."""

    @staticmethod
    def forward(x: torch.Tensor, places: Places) -> torch.Tensor:
        return to_places(x, places)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.places = inputs[1]

    @staticmethod
    def backward(ctx: Any, d: torch.Tensor) -> tuple[torch.Tensor, None]:
        return FromPlaces.apply(d, ctx.places), None


class FromPlaces(torch.autograd.Function):  # type: ignore[misc]
    """`from_places`; its gradient goes to the places."""

    @staticmethod
    def forward(blocks: torch.Tensor, places: Places) -> torch.Tensor:
        return from_places(blocks, places)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.places = inputs[1]

    @staticmethod
    def backward(ctx: Any, d: torch.Tensor) -> tuple[torch.Tensor, None]:
        return ToPlaces.apply(d, ctx.places), None
