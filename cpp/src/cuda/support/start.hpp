// What memory of a device holds first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "launch.hpp"
#include "varlen/cuda/stream.hpp"

namespace varlen::cuda {

/// The same byte, so many times.
[[nodiscard]] inline Error fill_bytes([[maybe_unused]] Stream stream, int byte, std::int64_t bytes,
                                      void* out) noexcept {
  if (bytes == 0) return 0;
  const auto size = static_cast<std::size_t>(bytes);
#if defined(__CUDACC__)
  const OnDevice device_guard(stream.device);
  return clear_error(cudaMemsetAsync(out, byte, size, static_cast<cudaStream_t>(stream.handle)));
#else
  host::graph().put([=] { std::memset(out, byte, size); });
  return 0;
#endif
}

/// Bytes of the host, which may change once the call has returned, also where a graph captures the stream.
[[nodiscard]] Error embed(Stream stream, const std::byte* from, std::int64_t bytes, std::byte* to) noexcept;

/// The bytes of `from`, which is `to` or apart from it; null: zeros.
[[nodiscard]] inline Error start_with(Stream stream, const std::byte* from, std::int64_t bytes,
                                      std::byte* to) noexcept {
  if (from == nullptr) return fill_bytes(stream, 0, bytes, to);
  if (bytes == 0 || from == to) return 0;
  const auto size = static_cast<std::size_t>(bytes);
#if defined(__CUDACC__)
  const OnDevice device_guard(stream.device);
  return clear_error(
      cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream.handle)));
#else
  host::graph().put([=] { std::memcpy(to, from, size); });
  return 0;
#endif
}

}  // namespace varlen::cuda
