// `window.hpp` on the device: what moves rows. Levels and rows lie there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cuda/stream.hpp"
#include "varlen/views.hpp"
#include "varlen/window.hpp"

namespace varlen::cuda {

/// `total`: the rows that are kept.
[[nodiscard]] Error seq2col(Stream stream, Rows values, Offsets level, Offsets kept, Window how,
                            std::int64_t total, std::byte* out) noexcept;

}  // namespace varlen::cuda
