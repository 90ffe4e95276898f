"""The containers: values laid end to end, and the levels that say where each sequence begins and ends."""

from varlen.types.packed import Packed
from varlen.types.padded import Padded
from varlen.types.pairs import Pairs
from varlen.types.ragged import Ragged
from varlen.types.ranks import RankTable

__all__ = [
    "Packed",
    "Padded",
    "Pairs",
    "Ragged",
    "RankTable",
]
