"""Sequences put into bins, as an expert writes it with numba."""

from __future__ import annotations

import numpy as np

from . import jit


@jit
def first_fit(lengths, size, bins):
    """The bin of each sequence, in the order given: a tree of the room of all bins, most on top."""
    leaves = 1
    while leaves < len(lengths):
        leaves *= 2
    tree = np.full(2 * leaves, size)
    for i in range(len(lengths)):
        node = 1
        while node < leaves:
            node *= 2
            if tree[node] < lengths[i]:
                node += 1
        bins[i] = node - leaves
        tree[node] -= lengths[i]
        while node > 1:
            node //= 2
            tree[node] = max(tree[2 * node], tree[2 * node + 1])
