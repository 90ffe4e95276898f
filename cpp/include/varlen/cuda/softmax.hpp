// `softmax.hpp` on the device: the same function, the stream first. Levels, values, the output and scratch
// lie there; `total` is that of the level. A sequence of more than 2048 elements is read twice.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cuda/stream.hpp"
#include "varlen/softmax.hpp"

namespace varlen::cuda {

/// Bytes of scratch, aligned to 16: none where no sequence is long.
[[nodiscard]] std::int64_t softmax_scratch(const SoftmaxJob& job, std::int64_t total) noexcept;

[[nodiscard]] Error softmax(Stream stream, const SoftmaxJob& job, std::int64_t total, std::byte* scratch,
                            std::byte* out) noexcept;

}  // namespace varlen::cuda
