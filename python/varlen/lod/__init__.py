"""Paddle's names for Paddle code: `LoDTensor`, its constructors, and the sequence ops.

The ops are those of `varlen.sequence`. Replace the import of `paddle.static.nn` or `paddle.fluid.layers`; the
calls stay the same. Arrays give a `LoDTensor`; a Ragged keeps its class.
"""

from __future__ import annotations

from varlen._lazy import loaded_from
from varlen.lod.create import create_lod_tensor, create_random_int_lodtensor
from varlen.lod.results import with_lod_results
from varlen.lod.tensor import LoDTensor

__all__ = [
    "LoDTensor",
    "array_to_lod_tensor",
    "create_lod_tensor",
    "create_random_int_lodtensor",
    "im2sequence",
    "lod_append",
    "lod_rank_table",
    "lod_reset",
    "lod_tensor_to_array",
    "max_sequence_len",
    "merge_lod_tensor",
    "reorder_lod_tensor_by_rank",
    "row_conv",
    "sequence_concat",
    "sequence_conv",
    "sequence_enumerate",
    "sequence_erase",
    "sequence_expand",
    "sequence_expand_as",
    "sequence_first_step",
    "sequence_last_step",
    "sequence_mask",
    "sequence_pad",
    "sequence_pool",
    "sequence_reshape",
    "sequence_reverse",
    "sequence_scatter",
    "sequence_slice",
    "sequence_softmax",
    "sequence_topk_avg_pooling",
    "sequence_unpad",
    "shrink_memory",
    "split_lod_tensor",
]

# The family is imported when first asked for.
__getattr__ = loaded_from(
    __name__, {name: "varlen.sequence" for name in __all__ if name not in globals()}, with_lod_results
)


def __dir__() -> list[str]:
    return sorted(__all__)
