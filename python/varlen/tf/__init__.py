"""TensorFlow's ragged names: `RaggedTensor`, and the functions of `tf.ragged`.

TensorFlow itself is neither needed nor imported: values are arrays, or tensors of torch.
"""

from varlen.tf.functions import (
    boolean_mask,
    constant,
    map_flat_values,
    range,
    row_splits_to_segment_ids,
    segment_ids_to_row_splits,
    stack,
    stack_dynamic_partitions,
)
from varlen.tf.ragged_tensor import RaggedTensor
from varlen.tf.sparse import SparseTensor

__all__ = [
    "RaggedTensor",
    "SparseTensor",
    "boolean_mask",
    "constant",
    "map_flat_values",
    "range",
    "row_splits_to_segment_ids",
    "segment_ids_to_row_splits",
    "stack",
    "stack_dynamic_partitions",
]
