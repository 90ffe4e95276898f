// What computes on a device: one table, so that who calls it links nothing of CUDA. No function of it waits
// for the device.
#pragma once

#include <cstdint>

#include "varlen/cuda/expand.hpp"
#include "varlen/cuda/mask.hpp"
#include "varlen/cuda/offsets.hpp"
#include "varlen/cuda/pad.hpp"
#include "varlen/cuda/reduce.hpp"
#include "varlen/cuda/stream.hpp"

namespace varlen::cuda {

/// Raised by one where the table changes: both sides are compiled apart.
constexpr int kKernelsVersion = 1;

/// What a capsule of the table is called.
constexpr const char* kKernelsName = "varlen.cuda.Kernels";

struct Kernels {
  int version = kKernelsVersion;

  /// What an error is called.
  const char* (*text_of)(Error error) noexcept;
  /// From the host to the device. What lies at `from` may change once the call has returned.
  Error (*upload)(Stream stream, const void* from, std::int64_t bytes, void* to) noexcept;

  decltype(&cuda::expand) expand;
  decltype(&cuda::expand_end) expand_end;
  decltype(&cuda::expand_which) expand_which;
  decltype(&cuda::block_mask) block_mask;
  decltype(&cuda::lengths_of) lengths_of;
  decltype(&cuda::offsets_of) offsets_of;
  decltype(&cuda::row_ids_of) row_ids_of;
  decltype(&cuda::positions_of) positions_of;
  decltype(&cuda::pad) pad;
  decltype(&cuda::pad_mask) pad_mask;
  decltype(&cuda::unpad) unpad;
  decltype(&cuda::reduce_scratch) reduce_scratch;
  decltype(&cuda::reduce) reduce;
  decltype(&cuda::reduce_extreme) reduce_extreme;
  decltype(&cuda::reduce_back_scratch) reduce_back_scratch;
  decltype(&cuda::reduce_back) reduce_back;
  decltype(&cuda::reduce_blocks_scratch) reduce_blocks_scratch;
  decltype(&cuda::reduce_blocks) reduce_blocks;
  decltype(&cuda::divide_by_lengths) divide_by_lengths;
};

[[nodiscard]] const Kernels& kernels() noexcept;

}  // namespace varlen::cuda
