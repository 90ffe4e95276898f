// What computes on a device: one table, so that who calls it links nothing of CUDA. No function of it waits
// for the device, but `download` and `wait`. An error is told once, by the call that met it: nothing is left
// for the next call of anybody.
#pragma once

#include <cstdint>

#include "varlen/cuda/batch.hpp"
#include "varlen/cuda/cast.hpp"
#include "varlen/cuda/concat.hpp"
#include "varlen/cuda/erase.hpp"
#include "varlen/cuda/expand.hpp"
#include "varlen/cuda/gather.hpp"
#include "varlen/cuda/hash.hpp"
#include "varlen/cuda/mask.hpp"
#include "varlen/cuda/offsets.hpp"
#include "varlen/cuda/pack.hpp"
#include "varlen/cuda/pad.hpp"
#include "varlen/cuda/reduce.hpp"
#include "varlen/cuda/scan.hpp"
#include "varlen/cuda/scatter.hpp"
#include "varlen/cuda/shift.hpp"
#include "varlen/cuda/softmax.hpp"
#include "varlen/cuda/sort.hpp"
#include "varlen/cuda/span_rows.hpp"
#include "varlen/cuda/stream.hpp"
#include "varlen/cuda/window.hpp"

// The functions of the table, noun by noun: each is called as it is declared in the noun's header.
#define VARLEN_CUDA_KERNELS(KERNEL) \
  KERNEL(batch)                     \
  KERNEL(cast)                      \
  KERNEL(nan_mask)                  \
  KERNEL(concat)                    \
  KERNEL(interleave)                \
  KERNEL(erase_scratch)             \
  KERNEL(erase_find)                \
  KERNEL(erase_take)                \
  KERNEL(expand)                    \
  KERNEL(expand_end)                \
  KERNEL(expand_which)              \
  KERNEL(gather_rows)               \
  KERNEL(ngrams)                    \
  KERNEL(hash)                      \
  KERNEL(block_mask)                \
  KERNEL(lengths_of)                \
  KERNEL(offsets_of)                \
  KERNEL(offsets_from_scratch)      \
  KERNEL(offsets_from)              \
  KERNEL(row_ids_of)                \
  KERNEL(positions_of)              \
  KERNEL(pack)                      \
  KERNEL(unpack)                    \
  KERNEL(pad)                       \
  KERNEL(pad_mask)                  \
  KERNEL(unpad)                     \
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
  KERNEL(gather_add_scratch)        \
  KERNEL(gather_add)                \
  KERNEL(scatter_add_scratch)       \
  KERNEL(scatter_add)               \
  KERNEL(reverse_rows)              \
  KERNEL(roll_rows)                 \
  KERNEL(shift_rows)                \
  KERNEL(softmax_scratch)           \
  KERNEL(softmax)                   \
  KERNEL(sort_scratch)              \
  KERNEL(sort)                      \
  KERNEL(unsort_scratch)            \
  KERNEL(unsort)                    \
  KERNEL(rank_scratch)              \
  KERNEL(rank)                      \
  KERNEL(unique_scratch)            \
  KERNEL(unique_find)               \
  KERNEL(unique_take)               \
  KERNEL(insert_rows)               \
  KERNEL(remove_rows)               \
  KERNEL(take_rows)                 \
  KERNEL(seq2col)                   \
  KERNEL(backprop_seq2col)          \
  KERNEL(merge_windows)             \
  KERNEL(share_windows)

namespace varlen::cuda {

/// Raised by one where the table changes: both sides are compiled apart.
constexpr int kKernelsVersion = 4;

/// What a capsule of the table is called.
constexpr const char* kKernelsName = "varlen.cuda.Kernels";

struct Kernels {
  int version = kKernelsVersion;

  /// What an error is called.
  const char* (*text_of)(Error error) noexcept;
  /// From the host to the device. What lies at `from` may change once the call has returned, also where a
  /// graph captures the stream, which then holds the bytes.
  Error (*upload)(Stream stream, const void* from, std::int64_t bytes, void* to) noexcept;
  /// From the device to the host, once the stream has done all that came before: the call waits for that.
  /// kCaptured where a graph captures the stream.
  Error (*download)(Stream stream, const void* from, std::int64_t bytes, void* to) noexcept;
  /// Which capture of a graph the stream takes part in; 0 for none.
  Error (*capture_of)(Stream stream, std::uint64_t* id) noexcept;
  /// What is put on `later` from now on comes after what was put on `earlier`, of the same device.
  Error (*follow)(Stream earlier, Stream later) noexcept;
  /// `count` words, zeros, that the host and kernels of every device read and write, for ever; null where
  /// there are none.
  std::int64_t* (*common_words)(std::int64_t count) noexcept;
  /// Memory of the host that devices read by themselves, made on behalf of one of them. kNoMemory where the
  /// host has none to spare.
  Error (*pin)(int device, std::int64_t bytes, void** memory) noexcept;
  /// Waits for the devices that read it.
  void (*unpin)(void* memory) noexcept;
  /// From pinned memory to the device, once the stream comes to it; the event, made where it is null, comes
  /// behind that. The bytes stay as they are until then. kCaptured where a graph captures the stream.
  Error (*send)(Stream stream, const void* from, std::int64_t bytes, void* to, void** event) noexcept;
  /// 0 where an event has come, kNotYet where it has not.
  Error (*query)(void* event) noexcept;
  /// Until an event has come.
  Error (*wait)(void* event) noexcept;
  void (*forget)(void* event) noexcept;

#define VARLEN_FIELD(name) decltype(&cuda::name) name;  // NOLINT(bugprone-macro-parentheses)
  VARLEN_CUDA_KERNELS(VARLEN_FIELD)
#undef VARLEN_FIELD
};

[[nodiscard]] const Kernels& kernels() noexcept;

}  // namespace varlen::cuda
