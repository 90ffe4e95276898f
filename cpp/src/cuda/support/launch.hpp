// Puts a body on a stream, as a grid of blocks; on the host runs it to its end.
#pragma once

#include <cstddef>
#include <cstdint>

#include "thread.hpp"
#include "varlen/cuda/stream.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#else
#include "graph_host.hpp"
#include "grid_host.hpp"
#endif

namespace varlen::cuda {

struct Grid {
  std::int64_t blocks = 0;
  int threads = 256;  ///< whole warps
  std::size_t shared_bytes = 0;
};

/// Blocks of `per_block` for `count` things.
[[nodiscard]] constexpr std::int64_t blocks_for(std::int64_t count, std::int64_t per_block) noexcept {
  return count / per_block + (count % per_block != 0 ? 1 : 0);
}

#if defined(__CUDACC__)

template <class Body>
__global__ void run_body(const __grid_constant__ Body body) {
  static_assert(Body::kNoBarrier || !Body::kNoBarrier);  // said for the host
  DeviceThread thread;
  body(thread);
}

/// The current device is the stream's while this lives.
class OnDevice {
 public:
  explicit OnDevice(int device) noexcept {
    if (cudaGetDevice(&old_device_) != cudaSuccess || old_device_ == device) return;
    has_switched_ = cudaSetDevice(device) == cudaSuccess;
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() {
    if (has_switched_) (void)cudaSetDevice(old_device_);
  }

 private:
  int old_device_ = 0;
  bool has_switched_ = false;
};

/// What a call of the runtime met, which the runtime keeps no longer: the next one to ask for the last error
/// would be told of ours. What somebody else left there is not touched by calls that succeed.
[[nodiscard]] inline Error clear_error(cudaError_t error) noexcept {
  if (error != cudaSuccess) (void)cudaGetLastError();
  return error;
}

/// Grids of no blocks are not launched.
template <class Body>
Error launch(Stream stream, Grid grid, const Body& body) noexcept {
  (void)Body::kNoBarrier;  // the host asks
  if (grid.blocks == 0) return cudaSuccess;
  if (grid.blocks > INT32_MAX) return cudaErrorInvalidConfiguration;
  const OnDevice device_guard(stream.device);
  void* arguments[] = {const_cast<Body*>(&body)};
  return clear_error(cudaLaunchKernel(reinterpret_cast<const void*>(&run_body<Body>),
                                      dim3(static_cast<unsigned>(grid.blocks)),
                                      dim3(static_cast<unsigned>(grid.threads)), arguments, grid.shared_bytes,
                                      static_cast<cudaStream_t>(stream.handle)));
}

#else

template <class Body>
Error launch(Stream, Grid grid, const Body& body) noexcept {
  if (const Error error = host::take_error(); error != 0) return error;
  const auto run = [=] { host::run(body, grid.blocks, grid.threads, grid.shared_bytes); };
  host::graph().put(run);
  return 0;
}

#endif

}  // namespace varlen::cuda
