"""Paddle's LoD family at any depth: ops on sequences, with a level to choose, and their gradients."""

__all__: list[str] = []
