"""How many threads this process starts with."""

import os
import sys
import warnings

from varlen._core import set_num_threads


def in_worker() -> bool:
    """Whether this process is a worker of multiprocessing, by fork, spawn or forkserver.

    multiprocessing is asked only where it is loaded already, which it is in every worker. While a
    worker unpickles what it was given, and with that imports this package, it has no parent yet but
    is marked as inheriting.
    """
    multiprocessing = sys.modules.get("multiprocessing.process")
    if multiprocessing is None:
        return False
    is_child = getattr(multiprocessing.current_process(), "_inheriting", False)
    return bool(is_child) or multiprocessing.parent_process() is not None


def limit_worker() -> None:
    """Give a worker one thread, since its siblings have the other cores.

    A VARLEN_NUM_THREADS that is not a number is ignored with a warning. The core itself reads the variable,
    and gives one thread to every forked child.
    """
    if in_worker():
        set_num_threads(1)
    text = os.environ.get("VARLEN_NUM_THREADS")
    if text is not None and not (text.isascii() and text.isdigit() and int(text) >= 1):
        warnings.warn(
            f"VARLEN_NUM_THREADS: expected a whole number of at least 1, got {text!r}; it is ignored",
            RuntimeWarning,
            stacklevel=3,
        )
