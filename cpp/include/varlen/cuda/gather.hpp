// `gather.hpp` on the device: what moves rows. Which rows is chosen on the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cuda/stream.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

/// All of it lies on the device; out: `total` rows.
[[nodiscard]] Error gather_rows(Stream stream, Rows values, const Range* ranges, const std::int64_t* ends,
                                std::int64_t n, std::int64_t total, std::byte* out) noexcept;

}  // namespace varlen::cuda
