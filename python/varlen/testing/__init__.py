"""Hypothesis strategies that draw ragged and named data, with a plain model of the latter, for tests."""
