"""The rank of this process among those that train together."""

from __future__ import annotations

import os
import sys

from varlen.arguments import as_int
from varlen.errors import value_error

__all__: list[str] = []


def as_rank(num_replicas: int | None, rank: int | None) -> tuple[int, int]:
    """The number of processes that share the rows, and the number of this one; missing ones are looked up.

    An initialised group of torch.distributed comes first, then WORLD_SIZE and RANK of the environment, as
    torchrun sets them. Without either there is one process. Processes of Lightning on the first machine have
    LOCAL_RANK instead of RANK.
    """
    count = None if num_replicas is None else as_int(num_replicas, "num_replicas", 1)
    number = None if rank is None else as_int(rank, "rank")
    if count is None or number is None:
        group = group_rank() or _environment_rank()
        if count is None:
            if group is None and number:
                raise value_error("num_replicas", f"expected a number with rank={number}, but got none")
            count = group[0] if group else 1
        if number is None and count > 1:
            if group is None:
                raise value_error("rank", f"expected a number with num_replicas={count}, but got none")
            if group[0] != count:
                raise value_error(
                    "num_replicas", f"there are {group[0]} processes, got {count}", "pass rank, too"
                )
            number = group[1]
        number = number or 0
    if number >= count:
        raise value_error("rank", f"expected 0 to {count - 1}, got {number}")
    return count, number


def group_rank() -> tuple[int, int] | None:
    """The number of processes in an initialised group of torch.distributed, and the rank of this one."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed.get_world_size(), distributed.get_rank()


def _environment_rank() -> tuple[int, int] | None:
    values = {name: os.environ[name] for name in ("WORLD_SIZE", "RANK") if os.environ.get(name)}
    if [*values] == ["WORLD_SIZE"] and os.environ.get("NODE_RANK") == "0" and os.environ.get("LOCAL_RANK"):
        values["RANK"] = os.environ["LOCAL_RANK"]  # as Lightning tells its processes before they are a group
    if not values:
        return None
    if len(values) < 2:
        [(name, text)] = values.items()
        other = "RANK" if name == "WORLD_SIZE" else "WORLD_SIZE"
        raise value_error(
            "rank",
            f"the environment has {name}={text} and no {other}",
            "pass num_replicas and rank, or make the sampler after the process group",
        )
    for name, text in values.items():
        if not text.isdecimal():
            raise value_error("rank", f"expected a number in the environment, got {name}={text!r}")
    return int(values["WORLD_SIZE"]), int(values["RANK"])
