// The host as a place where kernels run: its own, in a table like that of devices, called by the same names.
#pragma once

#include "varlen/cuda/kernels.hpp"

// Those of the table that the host has; the others are null.
#define VARLEN_HOST_KERNELS(KERNEL) \
  KERNEL(concat)                    \
  KERNEL(interleave)                \
  KERNEL(gather_rows)               \
  KERNEL(take_rows)                 \
  KERNEL(insert_rows)               \
  KERNEL(remove_rows)               \
  KERNEL(ngrams)                    \
  KERNEL(hash)                      \
  KERNEL(pad_mask)                  \
  KERNEL(unpad)                     \
  KERNEL(gather_add_scratch)        \
  KERNEL(gather_add)                \
  KERNEL(scatter_add_scratch)       \
  KERNEL(scatter_add)               \
  KERNEL(expand)                    \
  KERNEL(expand_end)                \
  KERNEL(expand_which)              \
  KERNEL(block_mask)                \
  KERNEL(reduce_scratch)            \
  KERNEL(reduce)                    \
  KERNEL(reduce_extreme)            \
  KERNEL(reduce_back_scratch)       \
  KERNEL(reduce_back)               \
  KERNEL(reduce_blocks_scratch)     \
  KERNEL(reduce_blocks)             \
  KERNEL(divide_by_lengths)         \
  KERNEL(weighted_scratch)          \
  KERNEL(weighted_sum)              \
  KERNEL(weighted_sum_to_values)    \
  KERNEL(weighted_sum_to_weights)   \
  KERNEL(scan_scratch)              \
  KERNEL(scan)                      \
  KERNEL(scan_which)                \
  KERNEL(scan_which_back)           \
  KERNEL(scan_prod_back_scratch)    \
  KERNEL(scan_prod_back)            \
  KERNEL(reverse_rows)              \
  KERNEL(roll_rows)                 \
  KERNEL(shift_rows)                \
  KERNEL(softmax_scratch)           \
  KERNEL(softmax)                   \
  KERNEL(sort_scratch)              \
  KERNEL(sort)                      \
  KERNEL(unique_scratch)            \
  KERNEL(unique_find)               \
  KERNEL(unique_take)               \
  KERNEL(unsort_scratch)            \
  KERNEL(unsort)                    \
  KERNEL(rank_scratch)              \
  KERNEL(rank)                      \
  KERNEL(seq2col)                   \
  KERNEL(backprop_seq2col)          \
  KERNEL(merge_windows)             \
  KERNEL(share_windows)

namespace varlen::host {

// The stream is nobody's. None fails: what can be wrong was checked before.
#define VARLEN_DECLARED(name) decltype(cuda::name) name;  // NOLINT(bugprone-macro-parentheses)
VARLEN_HOST_KERNELS(VARLEN_DECLARED)
#undef VARLEN_DECLARED

extern const cuda::Kernels kKernels;

}  // namespace varlen::host
