"""The rows, one module a noun. Importing a module puts its rows into the table."""

from __future__ import annotations

import importlib

NOUNS = (
    "datasets.data",
    "datasets.dicts",
    "datasets.loader",
    "datasets.io",
    "datasets.checksums",
    "datasets.compressed",
    "datasets.formats",
    "datasets.sets",
    "datasets.remote",
    "lists",
    "flatten",
    "mask",
    "pad",
    "unpad",
    "pack",
    "gather",
    "expand",
    "window",
    "reduce",
    "family",
    "scan",
    "shift",
    "route",
    "scatter",
    "span",
    "bins",
    "softmax",
    "losses",
    "sort",
    "thinc",
    "transforms",
    "vmap",
    "lstm",
    "matmul",
    "einsum",
    "dim",
    "named",
    "named_moves",
    "rnn",
    "joint",
    "offsets",
    "tensors",
    "layers",
    "arrow",
    "neighbours",
    "indexing",
    "numbers",
    "trees",
    "boundary",
    "threads",
    "imports",
    "grid",
)


def load() -> None:
    """Import every noun, in the order of the table."""
    for noun in NOUNS:
        importlib.import_module(f".{noun}", __package__)
