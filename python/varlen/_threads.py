"""The number of threads that this process starts with."""

import os
import sys
import warnings

from varlen._core import set_num_threads


def in_worker() -> bool:
    """Whether this process is a worker of multiprocessing, by fork, spawn or forkserver.

    Only a loaded multiprocessing is asked, and every worker has loaded it. A worker that imports this package
    while it unpickles its arguments has no parent yet, but is marked as inheriting.
    """
    multiprocessing = sys.modules.get("multiprocessing.process")
    if multiprocessing is None:
        return False
    is_child = getattr(multiprocessing.current_process(), "_inheriting", False)
    return bool(is_child) or multiprocessing.parent_process() is not None


def limit_worker() -> None:
    """Give a worker one thread, since its siblings have the other cores.

    A VARLEN_NUM_THREADS that is not a number is ignored with a warning; one that is too large counts as the
    maximum. The core itself reads the variable, and gives one thread to every forked child.
    """
    if in_worker():
        set_num_threads(1)
    text = os.environ.get("VARLEN_NUM_THREADS")
    if text is None:
        return
    from varlen.arguments import MOST_THREADS

    digits = text.lstrip("0") if text.isascii() and text.isdigit() else ""
    if digits and len(digits) < 9 and int(digits) <= MOST_THREADS:
        return
    action = f"this process has {MOST_THREADS} threads" if digits else "it is ignored"
    warnings.warn(
        f"VARLEN_NUM_THREADS: expected a whole number of at least 1 and at most {MOST_THREADS}, "
        f"got {text[:30]!r}; {action}",
        RuntimeWarning,
        stacklevel=3,
    )
