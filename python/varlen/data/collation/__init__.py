"""Samples to batches: `collator` and `samples` are the functions, the others know kinds of samples."""
