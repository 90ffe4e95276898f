// What computes on a device: one table, so that who calls it links nothing of CUDA. No function of it waits
// for the device.
#pragma once

#include <cstdint>

#include "varlen/cuda/expand.hpp"
#include "varlen/cuda/pad.hpp"
#include "varlen/cuda/scan.hpp"
#include "varlen/cuda/softmax.hpp"
#include "varlen/cuda/stream.hpp"

namespace varlen::cuda {

/// Raised by one where the table changes: both sides are compiled apart.
constexpr int kKernelsVersion = 1;

struct Kernels {
  int version = kKernelsVersion;

  /// What an error is called.
  const char* (*text_of)(Error error) noexcept;
  /// From the host to the device. What lies at `from` may change once the call has returned.
  Error (*upload)(Stream stream, const void* from, std::int64_t bytes, void* to) noexcept;

  decltype(&cuda::expand) expand;
  decltype(&cuda::expand_end) expand_end;
  decltype(&cuda::pad) pad;
  decltype(&cuda::pad_mask) pad_mask;
  decltype(&cuda::unpad) unpad;
  decltype(&cuda::scan) scan;
  decltype(&cuda::scan_prod_back) scan_prod_back;
  decltype(&cuda::scan_prod_back_scratch) scan_prod_back_scratch;
  decltype(&cuda::scan_scratch) scan_scratch;
  decltype(&cuda::scan_which) scan_which;
  decltype(&cuda::scan_which_back) scan_which_back;
  decltype(&cuda::softmax) softmax;
  decltype(&cuda::softmax_scratch) softmax_scratch;
};

[[nodiscard]] const Kernels& kernels() noexcept;

}  // namespace varlen::cuda
