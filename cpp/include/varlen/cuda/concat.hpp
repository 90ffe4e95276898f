// `concat.hpp` on the device: what moves rows. Tables of inputs are the host's, and go with the launch where
// they are short; longer ones are needed on the device as well. What they point to lies on the device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/concat.hpp"
#include "varlen/cuda/stream.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

/// Inputs that go with a launch.
constexpr std::int64_t kFewInputs = 64;

/// `mirror`: the same blocks on the device; not looked at where there are few.
[[nodiscard]] Error concat(Stream stream, const ConcatBlock* blocks, const ConcatBlock* mirror,
                           std::int64_t n, std::byte* out) noexcept;

/// Parts of `width` bytes a row. `mirror`: as above. `result` lies on the device; out: `total` rows.
[[nodiscard]] Error interleave(Stream stream, const Part* parts, const Part* mirror, std::int64_t n,
                               std::int64_t width, Offsets result, std::int64_t total,
                               std::byte* out) noexcept;

}  // namespace varlen::cuda
