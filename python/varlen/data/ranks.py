"""Which of several processes that train together this one is."""

from __future__ import annotations

import os
import sys

from varlen.arguments import as_int

__all__: list[str] = []


def as_rank(num_replicas: int | None, rank: int | None) -> tuple[int, int]:
    """How many processes share the rows, and which this is; what is not given is found.

    An initialised group of torch.distributed says it; then WORLD_SIZE and RANK of the environment, as
    torchrun sets them. Without either there is one process.

    Parameters
    ----------
    num_replicas, rank
        What was given, or None.

    Returns
    -------
    tuple of int
        Both numbers.

    Raises
    ------
    ValueError, TypeError
        A rank that is not below num_replicas, one of the variables without the other, no number in it.

    Examples
    --------
    >>> as_rank(4, 1)
    (4, 1)
    """
    if num_replicas is None or rank is None:
        found = _of_torch() or _of_environment() or (1, 0)
        num_replicas = found[0] if num_replicas is None else num_replicas
        rank = found[1] if rank is None else rank
    num_replicas, rank = as_int(num_replicas, "num_replicas", 1), as_int(rank, "rank")
    if rank >= num_replicas:
        raise ValueError(f"rank: expected 0 to {num_replicas - 1}, got {rank}")
    return num_replicas, rank


def _of_torch() -> tuple[int, int] | None:
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed.get_world_size(), distributed.get_rank()


def _of_environment() -> tuple[int, int] | None:
    given = {name: os.environ[name] for name in ("WORLD_SIZE", "RANK") if os.environ.get(name)}
    if not given:
        return None
    if len(given) < 2:
        [(name, text)] = given.items()
        other = "RANK" if name == "WORLD_SIZE" else "WORLD_SIZE"
        raise ValueError(
            f"rank: the environment has {name}={text} and no {other}; give num_replicas and rank"
        )
    for name, text in given.items():
        if not text.isdecimal():
            raise ValueError(f"rank: expected a number in the environment, got {name}={text!r}")
    return int(given["WORLD_SIZE"]), int(given["RANK"])
