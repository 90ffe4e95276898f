"""Paddle's LoD family at any depth: ops on the sequences of any level, and their gradients."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from typing import TYPE_CHECKING

from varlen._lazy import loaded_from
from varlen.sequence.beam import Beam
from varlen.sequence.concat import backprop_sequence_concat, sequence_concat
from varlen.sequence.conv import backprop_sequence_conv, sequence_conv
from varlen.sequence.enumerate import backprop_sequence_enumerate, sequence_enumerate
from varlen.sequence.erase import backprop_sequence_erase, sequence_erase
from varlen.sequence.expand import (
    backprop_sequence_expand,
    backprop_sequence_expand_as,
    sequence_expand,
    sequence_expand_as,
)
from varlen.sequence.faces import (
    backprop_sequence_first_step,
    backprop_sequence_last_step,
    sequence_first_step,
    sequence_last_step,
)
from varlen.sequence.image import backprop_im2sequence, im2sequence
from varlen.sequence.lod import lod_append, lod_reset
from varlen.sequence.lookahead import backprop_row_conv, row_conv
from varlen.sequence.mask import sequence_mask
from varlen.sequence.pad import backprop_sequence_pad, backprop_sequence_unpad, sequence_pad, sequence_unpad
from varlen.sequence.pool import backprop_sequence_pool, sequence_pool
from varlen.sequence.reshape import backprop_sequence_reshape, sequence_reshape
from varlen.sequence.reverse import backprop_sequence_reverse, sequence_reverse
from varlen.sequence.rnn import rnn
from varlen.sequence.route import merge_lod, merge_lod_tensor, split_lod, split_lod_tensor
from varlen.sequence.scatter import backprop_sequence_scatter, sequence_scatter
from varlen.sequence.slice import backprop_sequence_slice, sequence_slice
from varlen.sequence.softmax import backprop_sequence_softmax, sequence_softmax
from varlen.sequence.steps import (
    array_to_lod_tensor,
    backprop_concat_outputs,
    backprop_reorder,
    backprop_segment_inputs,
    backprop_shrink,
    concat_outputs,
    init_memories,
    lod_rank_table,
    lod_tensor_to_array,
    max_sequence_len,
    reorder,
    reorder_lod_tensor_by_rank,
    segment_inputs,
    shrink,
    shrink_memory,
    sort_by_length,
)
from varlen.sequence.topk import backprop_sequence_topk_avg_pooling, sequence_topk_avg_pooling

__all__ = [
    "Beam",
    "array_to_lod_tensor",
    "backprop_concat_outputs",
    "backprop_im2sequence",
    "backprop_reorder",
    "backprop_row_conv",
    "backprop_segment_inputs",
    "backprop_sequence_concat",
    "backprop_sequence_conv",
    "backprop_sequence_enumerate",
    "backprop_sequence_erase",
    "backprop_sequence_expand",
    "backprop_sequence_expand_as",
    "backprop_sequence_first_step",
    "backprop_sequence_last_step",
    "backprop_sequence_pad",
    "backprop_sequence_pool",
    "backprop_sequence_reshape",
    "backprop_sequence_reverse",
    "backprop_sequence_scatter",
    "backprop_sequence_slice",
    "backprop_sequence_softmax",
    "backprop_sequence_topk_avg_pooling",
    "backprop_sequence_unpad",
    "backprop_shrink",
    "concat_outputs",
    "im2sequence",
    "init_memories",
    "lod_append",
    "lod_rank_table",
    "lod_reset",
    "lod_tensor_to_array",
    "max_sequence_len",
    "merge_lod",
    "merge_lod_tensor",
    "reorder",
    "reorder_lod_tensor_by_rank",
    "rnn",
    "row_conv",
    "segment_inputs",
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
    "shrink",
    "shrink_memory",
    "sort_by_length",
    "split_lod",
    "split_lod_tensor",
]

if not TYPE_CHECKING:  # type checkers know all names
    __getattr__ = loaded_from(__name__, {})
