"""Checks of training loops: `trial` runs one, `report` says what is wrong with it, `check` does both."""
