"""Datasets, batches, collate functions, samplers, prefetching."""

from typing import TYPE_CHECKING

from varlen._lazy import loaded_from
from varlen.data.batch import Batch
from varlen.data.bin_packing import BinPacking
from varlen.data.buffers import Buffers
from varlen.data.collation.collator import Collator, StagedCollator
from varlen.data.collation.samples import Collate, collate
from varlen.data.dataset import Dataset
from varlen.data.devices.loader import DeviceLoader
from varlen.data.devices.staged_batch import StagedBatch
from varlen.data.document_mask import attention_mask, document_mask
from varlen.data.epoch import Epoch
from varlen.data.iterable import IterableDataset
from varlen.data.loader import Loader
from varlen.data.loops.check import check_loop
from varlen.data.loops.report import LoopFinding, LoopReport
from varlen.data.loops.trial import Loop
from varlen.data.mix import Mix
from varlen.data.packing import pack
from varlen.data.prefetch import Prefetcher
from varlen.data.records import Records
from varlen.data.sampler import Sampler
from varlen.data.samplers import BatchSampler, LengthBuckets, TokenBudget
from varlen.data.shard_sampler import ShardSampler
from varlen.data.sources.files import open
from varlen.data.weighted_sampler import WeightedSampler

__all__ = [
    "Batch",
    "BatchSampler",
    "BinPacking",
    "Buffers",
    "Collate",
    "Collator",
    "Dataset",
    "DeviceLoader",
    "Epoch",
    "IterableDataset",
    "LengthBuckets",
    "Loader",
    "Loop",
    "LoopFinding",
    "LoopReport",
    "Mix",
    "Prefetcher",
    "Records",
    "Sampler",
    "ShardSampler",
    "StagedBatch",
    "StagedCollator",
    "TokenBudget",
    "WeightedSampler",
    "attention_mask",
    "check_loop",
    "collate",
    "document_mask",
    "open",
    "pack",
]

if not TYPE_CHECKING:  # type checkers know all names
    __getattr__ = loaded_from(__name__, {})
