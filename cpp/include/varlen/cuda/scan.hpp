// `scan.hpp` on the device: the same functions, the stream first. Levels, values, outputs and scratch lie
// there; `total` is that of the level.
//
// Floats are added up and multiplied in double, halves too, and rounded once an element; a product that
// leaves the range of double on its way and comes back into it is right. A sequence is cut by its length
// alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cuda/stream.hpp"
#include "varlen/scan.hpp"

namespace varlen::cuda {

/// Bytes of scratch for scan and scan_which, aligned to 16: none where no sequence is long.
[[nodiscard]] std::int64_t scan_scratch(const ScanJob& job, std::int64_t total) noexcept;

[[nodiscard]] Error scan(Stream stream, const ScanJob& job, std::int64_t total, std::byte* scratch,
                         std::byte* out) noexcept;
[[nodiscard]] Error scan_which(Stream stream, const ScanJob& job, std::int64_t total, std::byte* scratch,
                               std::int64_t* which) noexcept;

/// Places outside of their sequence are left out. One thread a sequence and column.
[[nodiscard]] Error scan_which_back(Stream stream, Type type, const std::byte* dy, Offsets level,
                                    std::int64_t total, std::int64_t columns, const std::int64_t* which,
                                    std::byte* out) noexcept;

/// Of any float type; the products before each row are worked out in scratch, which is aligned to 16.
[[nodiscard]] std::int64_t scan_prod_back_scratch(const ScanJob& job, std::int64_t total) noexcept;
[[nodiscard]] Error scan_prod_back(Stream stream, const ScanJob& job, std::int64_t total, const std::byte* dy,
                                   std::byte* scratch, std::byte* out) noexcept;

}  // namespace varlen::cuda
