// What goes where no row comes from.
#pragma once

#include <cstddef>
#include <cstdint>

namespace varlen::cuda {

/// Bytes of the longest fill that the host gives.
constexpr std::int64_t kWidestFill = 16;

/// Whether a fill that repeats every so many bytes is the host's, and read before the call returns.
[[nodiscard]] constexpr bool is_host_fill(std::int64_t period) noexcept {
  return period > 0 && kWidestFill % period == 0;
}

/// `period` bytes; null is zeros. One that is not the host's is a row on the device.
struct Fill {
  const std::byte* data = nullptr;
  std::int64_t period = 0;
};

}  // namespace varlen::cuda
