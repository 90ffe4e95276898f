"""What runs a verb on one kind of values: NumPy's arrays or torch's tensors."""
