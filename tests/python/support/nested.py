"""The same sequences two levels deeper, for what has to hold at any depth."""

from varlen import Level


def levels_above(n):
    """Two levels over n sequences, with empty ones among them."""
    return Level([1, 0, 3]), Level([n // 2, 0, n // 3, n - n // 2 - n // 3])


def deeper(r):
    """A Ragged under two more levels."""
    return r._make(r.values, (*levels_above(len(r)), *r.levels))


def raised(r):
    """What `deeper` took, whose levels must be there still; an array where no other level is left."""
    above = levels_above(r.levels[1].total)
    assert r.levels[:2] == above
    return r._make(r.values, r.levels[2:]) if len(r.levels) > 2 else r.values
