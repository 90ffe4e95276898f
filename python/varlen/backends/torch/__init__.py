"""The verbs on torch tensors."""
