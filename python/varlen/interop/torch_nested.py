"""Conversions between values of one level and torch's nested tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.backends.torch.memory import share_memory, tensor_of
from varlen.errors import instance_error, value_error

if TYPE_CHECKING:
    import torch

    from varlen._core import Level
    from varlen.backends.values import Values


def to_nested(values: Values, level: Level) -> torch.Tensor:
    """A nested tensor of the jagged layout, which shares the values."""
    import torch

    rows = share_memory(values)
    offsets = tensor_of(level.offsets).to(rows.device)
    return torch.nested.nested_tensor_from_jagged(
        rows, offsets, min_seqlen=level.shortest, max_seqlen=level.longest
    )


def from_nested(nested: object) -> tuple[Any, Any]:
    """Rows, and their lengths or offsets by name; `Ragged.from_nested`."""
    import torch

    if not isinstance(nested, torch.Tensor) or not nested.is_nested:
        raise instance_error("nested", "a nested tensor", nested)
    if nested.layout != torch.jagged:
        parts = nested.unbind()
        _check_parts(parts)
        rows = torch.cat(parts) if parts else torch.empty(0, dtype=nested.dtype, device=nested.device)
        return rows, {"lengths": [len(part) for part in parts]}
    if nested._ragged_idx != 1:
        raise value_error("nested", f"is ragged at axis {nested._ragged_idx}", "transpose it to axis 1")
    rows, offsets, lengths = nested.values(), nested.offsets(), nested.lengths()
    if lengths is None and int(offsets[0]) == 0 and int(offsets[-1]) == len(rows):
        return rows, {"offsets": offsets}
    counts = offsets.diff() if lengths is None else lengths
    pieces = [rows.narrow(0, a, n) for a, n in zip(offsets.tolist(), counts.tolist(), strict=False)]
    return torch.cat([rows[:0], *pieces]), {"lengths": counts}


def _check_parts(parts: Any) -> None:
    for i, part in enumerate(parts):
        if part.ndim == 0 or part.shape[1:] != parts[0].shape[1:]:
            raise value_error(
                "nested", f"part {i} has shape {tuple(part.shape)}, part 0 {tuple(parts[0].shape)}"
            )
