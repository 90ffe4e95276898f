// `expand.hpp` on the device: the same functions, the stream first. Levels and rows lie there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cuda/stream.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

[[nodiscard]] Error expand(Stream stream, Offsets level, std::int64_t total, Rows rows,
                           std::byte* out) noexcept;
[[nodiscard]] Error expand_end(Stream stream, Offsets level, std::int64_t total, Rows rows, bool last,
                               std::byte* out) noexcept;

}  // namespace varlen::cuda
