"""The containers: values laid end to end, and the levels that say where each sequence begins and ends."""

from typing import TYPE_CHECKING

from varlen._lazy import loaded_from
from varlen.ops.outputs import container_later
from varlen.types.padded import Padded
from varlen.types.pairs import Pairs
from varlen.types.ragged import Ragged

if TYPE_CHECKING:
    from varlen.types.packed import Packed
    from varlen.types.ranks import RankTable

__all__ = [
    "Packed",
    "Padded",
    "Pairs",
    "Ragged",
    "RankTable",
]

# What `import varlen` need not cost.
HOMES = {
    "Packed": "varlen.types.packed",
    "RankTable": "varlen.types.ranks",
}

__getattr__ = loaded_from("varlen.types", HOMES)

container_later("Packed", lambda: __getattr__("Packed"))
