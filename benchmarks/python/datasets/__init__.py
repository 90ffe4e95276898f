"""Rows of datasets, their files and their loaders, and how peers make the same batches."""
