"""The projections of multi-head attention, on rows of any number."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import linear


def project(rows: list[torch.Tensor], x: dict[str, Any]) -> list[torch.Tensor]:
    """Queries, keys and values of several heads, (total, heads, d), from rows (total, width)."""
    bias = x["in_proj_bias"]
    biases = [None] * 3 if bias is None else bias.chunk(3)
    if x["use_separate_proj_weight"]:
        weights = [x["q_proj_weight"], x["k_proj_weight"], x["v_proj_weight"]]
    else:
        weights = x["in_proj_weight"].chunk(3)
    if not x["use_separate_proj_weight"] and rows[0] is rows[1] is rows[2]:
        results = linear(rows[0], x["in_proj_weight"], bias).chunk(3, -1)
    else:
        results = [linear(*part) for part in zip(rows, weights, biases, strict=True)]
    return [y.unflatten(-1, (x["num_heads"], -1)) for y in results]


def project_back(rows: torch.Tensor, x: dict[str, Any]) -> torch.Tensor:
    """The heads together, and projected to the width of the output."""
    return linear(rows.flatten(1), x["out_proj_weight"], x["out_proj_bias"])
