"""Sequences of different lengths, from a file to a padded batch."""

from varlen._core import Level, __version__, num_threads, set_num_threads

__all__ = ["Level", "__version__", "num_threads", "set_num_threads"]
