"""The rows, one module a noun. Importing a module puts its rows into the table."""

from __future__ import annotations

import importlib

NOUNS = (
    "data",
    "io",
    "lists",
    "pad",
    "unpad",
    "gather",
    "joint",
    "offsets",
    "boundary",
    "threads",
    "imports",
)


def load() -> None:
    """Import every noun, in the order of the table."""
    for noun in NOUNS:
        try:
            importlib.import_module(f".{noun}", __package__)
        except ModuleNotFoundError as e:
            print(e)
