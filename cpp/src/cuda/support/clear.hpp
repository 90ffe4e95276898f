// Zeros on a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "launch.hpp"
#include "varlen/cuda/stream.hpp"

namespace varlen::cuda {

[[nodiscard]] inline Error clear([[maybe_unused]] Stream stream, std::byte* data,
                                 std::int64_t bytes) noexcept {
  if (bytes == 0) return 0;
#if defined(__CUDACC__)
  const OnDevice here(stream.device);
  return cudaMemsetAsync(data, 0, static_cast<std::size_t>(bytes), static_cast<cudaStream_t>(stream.handle));
#else
  std::memset(data, 0, static_cast<std::size_t>(bytes));
  return 0;
#endif
}

}  // namespace varlen::cuda
