"""Parameters of which most run in deep runs alone."""

import pytest


def mostly_deep(values, *short):
    """All values; those that are not named run in deep runs alone."""
    assert set(short) <= set(values), short
    return [value if value in short else pytest.param(value, marks=pytest.mark.deep) for value in values]
