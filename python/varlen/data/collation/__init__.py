"""Collate samples: `collator` and `samples` hold the functions, the others handle kinds of samples."""
