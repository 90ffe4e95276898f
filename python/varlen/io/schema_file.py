"""Schemas from files: from TOML, which people edit, and from data files that store one."""

from __future__ import annotations

import os

from varlen.arguments import as_path
from varlen.errors import name_file
from varlen.io.intent import Schema
from varlen.io.shard_set import open_shards

__all__ = ["read_schema"]


def read_schema(path: str | os.PathLike[str]) -> Schema:
    """Read the schema from a TOML file, a ``.nrt`` file or a folder of shards.

    Parameters
    ----------
    path : path
        The file or folder.

    Returns
    -------
    Schema
        The stored schema; without one, a schema inferred from the keys.

    Raises
    ------
    ValueError
        The file holds no schema. The error names it.
    FileNotFoundError
        There is no such file.

    Examples
    --------
    >>> import tempfile, varlen.io
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     varlen.io.Schema({"x": {"kind": "code"}}).write(f"{folder}/x.toml")
    ...     read_schema(f"{folder}/x.toml")["x"].kind
    'code'
    """
    name = as_path(path)
    if os.path.isdir(name) or name.endswith((".nrt", ".safetensors", ".json")):
        return open_shards(name).schema
    with open(name, encoding="utf-8") as file:
        try:
            return Schema.from_toml(file.read())
        except (TypeError, ValueError) as wrong:
            raise name_file(wrong, path, ValueError) from None
