"""Gradients of verbs whose functions the declarations write."""
