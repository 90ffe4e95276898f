"""Edit distances of tensors, which the host compares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from varlen.backends.numpy import edit as on_host
from varlen.backends.torch.memory import like, readable
from varlen.errors import dtype_error

if TYPE_CHECKING:
    from varlen._core import Level


def edit_distance(
    a: torch.Tensor, a_level: Level, b: Any, b_level: Level, normalize: bool, counts: bool
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Distances, or shares of the lengths of b, and how many edits of each kind there are, where asked."""
    for name, x in (("a", a), ("b", b)):
        if isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex()):
            raise dtype_error(name, "integers", f"dtype {x.dtype}")
    rows, others = (x if hasattr(x, "__array_interface__") else readable(x) for x in (a, b))
    distances, kinds = on_host.edit_distance(rows, a_level, others, b_level, normalize, counts)
    return like(distances, a), None if kinds is None else like(kinds, a)
