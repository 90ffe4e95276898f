"""Arrays and lengths in, arrays out: the verbs of the package as plain functions."""

from varlen.ops.lists import list2ragged, pad, ragged2list

__all__ = ["list2ragged", "pad", "ragged2list"]
