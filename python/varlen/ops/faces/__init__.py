"""Functions that are written from the declarations of `python/faces`."""
