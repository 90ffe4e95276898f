"""A folder of shards from partitions, made by the engine that is at hand.

`plan.py` has `build`: partitions become drafts, each by one task; what the drafts say is merged, and a second
task writes those again that differ. `folder.py` says what is there already, and gives names to what was made.
`engines.py` runs tasks: a loop, processes, Dask, Ray. `drafts.py` has the two tasks, which run wherever the
engine likes.
"""

from varlen.io.building.plan import build

__all__ = ["build"]
