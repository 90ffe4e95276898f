// `mask.hpp` on the device: the stream first. The level and the output lie there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cuda/stream.hpp"
#include "varlen/mask.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

/// out (total, total) of `unit` bytes each, 1, 2, 4 or 8; `content` and `blank` are the host's.
[[nodiscard]] Error block_mask(Stream stream, Offsets level, std::int64_t total, AttentionWindow window,
                               std::int64_t unit, const std::byte* content, const std::byte* blank,
                               std::byte* out) noexcept;

}  // namespace varlen::cuda
