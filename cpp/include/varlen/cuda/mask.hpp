// `mask.hpp` on the device: the stream first. The level and the output lie there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cuda/stream.hpp"
#include "varlen/mask.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

/// out (total, total) of `unit` bytes each, 1, 2, 4 or 8; `inside` and `outside` are the host's.
[[nodiscard]] Error block_mask(Stream stream, Offsets level, std::int64_t total, AttentionWindow window,
                               std::int64_t unit, const std::byte* inside, const std::byte* outside,
                               std::byte* out) noexcept;

}  // namespace varlen::cuda
