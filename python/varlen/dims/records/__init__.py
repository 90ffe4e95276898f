"""Data by name: specs of keys, batches of samples, joint dicts and files."""
