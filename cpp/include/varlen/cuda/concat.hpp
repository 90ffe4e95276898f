// `concat.hpp` on the device: what moves rows. Tables of inputs are the host's, and go with the launch where
// they are short; longer ones are needed on the device as well.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cuda/stream.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

/// Inputs that go with a launch.
constexpr std::int64_t kFewInputs = 64;

/// Memory of the device, and the byte of the output that it ends at.
struct Source {
  const std::byte* data = nullptr;
  std::int64_t end = 0;
};

/// Rows of the device, and the level over them, there as well.
struct Part {
  const std::byte* data = nullptr;
  const std::int64_t* ends = nullptr;
};

/// `there`: the same sources on the device; not looked at where there are few.
[[nodiscard]] Error concat(Stream stream, const Source* sources, const Source* there, std::int64_t n,
                           std::byte* out) noexcept;

/// Parts of `width` bytes a row. `there`: as above. `interleaved` lies on the device; out: `total` rows.
[[nodiscard]] Error interleave(Stream stream, const Part* parts, const Part* there, std::int64_t n,
                               std::int64_t width, Offsets interleaved, std::int64_t total,
                               std::byte* out) noexcept;

}  // namespace varlen::cuda
