// What computes on a device: one table, so that who calls it links nothing of CUDA. No function of it waits
// for the device.
#pragma once

#include <cstdint>

#include "varlen/cuda/concat.hpp"
#include "varlen/cuda/expand.hpp"
#include "varlen/cuda/gather.hpp"
#include "varlen/cuda/mask.hpp"
#include "varlen/cuda/offsets.hpp"
#include "varlen/cuda/pack.hpp"
#include "varlen/cuda/pad.hpp"
#include "varlen/cuda/shift.hpp"
#include "varlen/cuda/span_rows.hpp"
#include "varlen/cuda/stream.hpp"
#include "varlen/cuda/window.hpp"

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

  decltype(&cuda::concat) concat;
  decltype(&cuda::interleave) interleave;
  decltype(&cuda::expand) expand;
  decltype(&cuda::expand_end) expand_end;
  decltype(&cuda::gather_rows) gather_rows;
  decltype(&cuda::block_mask) block_mask;
  decltype(&cuda::lengths_of) lengths_of;
  decltype(&cuda::offsets_of) offsets_of;
  decltype(&cuda::row_ids_of) row_ids_of;
  decltype(&cuda::positions_of) positions_of;
  decltype(&cuda::pack) pack;
  decltype(&cuda::unpack) unpack;
  decltype(&cuda::pad) pad;
  decltype(&cuda::pad_mask) pad_mask;
  decltype(&cuda::unpad) unpad;
  decltype(&cuda::reverse_rows) reverse_rows;
  decltype(&cuda::roll_rows) roll_rows;
  decltype(&cuda::shift_rows) shift_rows;
  decltype(&cuda::insert_rows) insert_rows;
  decltype(&cuda::remove_rows) remove_rows;
  decltype(&cuda::take_rows) take_rows;
  decltype(&cuda::seq2col) seq2col;
};

[[nodiscard]] const Kernels& kernels() noexcept;

}  // namespace varlen::cuda
