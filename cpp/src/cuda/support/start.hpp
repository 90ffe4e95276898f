// What memory of a device holds first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "launch.hpp"
#include "varlen/cuda/stream.hpp"

namespace varlen::cuda {

/// The bytes of `from`, which is `to` or apart from it; null: zeros.
[[nodiscard]] inline Error start_with([[maybe_unused]] Stream stream, const std::byte* from,
                                      std::int64_t bytes, std::byte* to) noexcept {
  if (bytes == 0 || from == to) return 0;
  const auto size = static_cast<std::size_t>(bytes);
#if defined(__CUDACC__)
  const OnDevice here(stream.device);
  auto* const handle = static_cast<cudaStream_t>(stream.handle);
  return from == nullptr ? cudaMemsetAsync(to, 0, size, handle)
                         : cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToDevice, handle);
#else
  if (from == nullptr) {
    std::memset(to, 0, size);
  } else {
    std::memcpy(to, from, size);
  }
  return 0;
#endif
}

}  // namespace varlen::cuda
