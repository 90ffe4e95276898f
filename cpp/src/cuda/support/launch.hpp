// Puts a body on a stream, as a grid of blocks; on the host runs it to its end.
#pragma once

#include <cstddef>
#include <cstdint>

#include "thread.hpp"
#include "varlen/cuda/stream.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#else
#include "grid_host.hpp"
#endif

namespace varlen::cuda {

struct Grid {
  std::int64_t blocks = 0;
  int threads = 256;  ///< whole warps
  std::size_t shared_bytes = 0;
};

/// Blocks of `each` for `count` things.
[[nodiscard]] constexpr std::int64_t blocks_for(std::int64_t count, std::int64_t each) noexcept {
  return count / each + (count % each != 0 ? 1 : 0);
}

#if defined(__CUDACC__)

template <class Body>
__global__ void run_body(const __grid_constant__ Body body) {
  static_assert(Body::kAlone || !Body::kAlone);  // said for the host
  DeviceThread thread;
  body(thread);
}

/// The current device is the stream's while this lives.
class OnDevice {
 public:
  explicit OnDevice(int device) noexcept {
    if (cudaGetDevice(&before_) != cudaSuccess || before_ == device) return;
    changed_ = cudaSetDevice(device) == cudaSuccess;
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() {
    if (changed_) (void)cudaSetDevice(before_);
  }

 private:
  int before_ = 0;
  bool changed_ = false;
};

/// Grids of no blocks are not launched. What an earlier call of somebody else left is not reported.
template <class Body>
Error launch(Stream stream, Grid grid, const Body& body) noexcept {
  (void)Body::kAlone;  // the host asks
  if (grid.blocks == 0) return cudaSuccess;
  if (grid.blocks > INT32_MAX) return cudaErrorInvalidConfiguration;
  const OnDevice here(stream.device);
  (void)cudaGetLastError();
  run_body<Body><<<static_cast<unsigned>(grid.blocks), static_cast<unsigned>(grid.threads), grid.shared_bytes,
                   static_cast<cudaStream_t>(stream.handle)>>>(body);
  return cudaGetLastError();
}

#else

template <class Body>
Error launch(Stream, Grid grid, const Body& body) noexcept {
  host::run(body, grid.blocks, grid.threads, grid.shared_bytes);
  return 0;
}

#endif

}  // namespace varlen::cuda
