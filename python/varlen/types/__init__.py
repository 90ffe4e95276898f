"""The containers: values laid end to end, and the levels that say where each sequence begins and ends."""

from varlen.types.combine import concatenate, split, stack
from varlen.types.ragged import Ragged

__all__ = ["Ragged", "concatenate", "split", "stack"]
