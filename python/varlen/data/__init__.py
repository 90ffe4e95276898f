"""Datasets, batches, collate functions, samplers, prefetching."""

from varlen.data.buffers import Buffers
from varlen.data.collator import Collator
from varlen.data.dataset import Dataset
from varlen.data.epoch import Epoch
from varlen.data.files import open
from varlen.data.prefetch import Prefetcher
from varlen.data.records import Records
from varlen.data.samplers import LengthBuckets, TokenBudget
from varlen.data.samples import Collate, collate

__all__ = [
    "Buffers",
    "Collate",
    "Collator",
    "Dataset",
    "Epoch",
    "LengthBuckets",
    "Prefetcher",
    "Records",
    "TokenBudget",
    "collate",
    "open",
]
