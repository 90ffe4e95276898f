"""Hypothesis strategies for ragged and named data, and a plain model of named data, for tests."""
