"""A folder of shards from partitions, made by the available engine.

`plan.py` has `build`: one task per partition makes a draft; the fields of the drafts are merged, and a second
task rewrites drafts that differ. `folder.py` finds existing shards, and names the new ones. `engines.py` runs
tasks: a loop, processes, Dask, Ray. `drafts.py` has the two tasks, which run wherever the engine likes.
"""

from varlen.io.building.plan import build

__all__ = ["build"]
