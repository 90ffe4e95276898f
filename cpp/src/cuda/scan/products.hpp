// Running products in a type of the caller's, for what is worked out from them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cuda/stream.hpp"
#include "varlen/scan.hpp"

namespace varlen::cuda {

/// scan of products of floats, written as `result`, a float type too.
[[nodiscard]] Error scan_products(Stream stream, const ScanJob& job, std::int64_t total, Type result,
                                  std::byte* scratch, std::byte* out) noexcept;

}  // namespace varlen::cuda
