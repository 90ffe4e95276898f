// What the body of a kernel sees of the thread that it runs on: one interface, on the device and on the host.
//
// A body is a functor on views, called once by every thread of a grid:
//
//     struct Twice {
//       static constexpr bool kNoBarrier = true;  // threads neither wait for each other nor exchange values
//       View<const float> input;
//       View<float> out;
//       template <class Thread>
//       VARLEN_DEVICE void operator()(Thread& thread) const {
//         const std::int64_t i = thread.block() * thread.threads() + thread.index();
//         if (i < out.count) out[i] = 2 * input[i];
//       }
//     };
//
// Threads of a block that exchange values all reach the same `sync` and the same shuffles.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define VARLEN_DEVICE __device__ __forceinline__
#define VARLEN_CALLED inline __device__ __noinline__
#define VARLEN_ANYWHERE __host__ __device__ __forceinline__
#define VARLEN_UNROLLED _Pragma("unroll")
#define VARLEN_ROLLED _Pragma("unroll 1")
#else
#define VARLEN_DEVICE inline
#define VARLEN_CALLED inline
#define VARLEN_ANYWHERE inline
#define VARLEN_UNROLLED
#define VARLEN_ROLLED
#endif

namespace varlen::cuda {

constexpr int kWarp = 32;

#if defined(__CUDACC__)

class DeviceThread {
 public:
  [[nodiscard]] VARLEN_DEVICE std::int64_t block() const { return blockIdx.x; }
  [[nodiscard]] VARLEN_DEVICE std::int64_t blocks() const { return gridDim.x; }
  [[nodiscard]] VARLEN_DEVICE int index() const { return static_cast<int>(threadIdx.x); }
  [[nodiscard]] VARLEN_DEVICE int threads() const { return static_cast<int>(blockDim.x); }
  [[nodiscard]] VARLEN_DEVICE int lane() const { return index() % kWarp; }

  /// Memory that the threads of a block share, as many bytes as the launch said.
  template <class T>
  [[nodiscard]] VARLEN_DEVICE T* memory() const {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    return reinterpret_cast<T*>(shared_memory);
  }
  VARLEN_DEVICE void sync() const { __syncthreads(); }
  VARLEN_DEVICE void sync_warp() const { __syncwarp(); }

  /// The value of the lane whose number differs in the bits of `mask`.
  template <class T>
  [[nodiscard]] VARLEN_DEVICE T shuffle_xor(T value, int mask) const {
    return __shfl_xor_sync(0xffffffffU, value, mask);
  }
  /// That of the lane `delta` below; its own where there is none.
  template <class T>
  [[nodiscard]] VARLEN_DEVICE T shuffle_up(T value, int delta) const {
    return __shfl_up_sync(0xffffffffU, value, static_cast<unsigned>(delta));
  }
  /// That of one lane.
  template <class T>
  [[nodiscard]] VARLEN_DEVICE T shuffle(T value, int lane_of) const {
    return __shfl_sync(0xffffffffU, value, lane_of);
  }
  /// A bit for each lane that says so.
  [[nodiscard]] VARLEN_DEVICE std::uint32_t ballot(bool says) const {
    return __ballot_sync(0xffffffffU, says);
  }
  /// A number that is raised by several threads ends as the largest of theirs.
  VARLEN_DEVICE void raise(std::int64_t& number, std::int64_t minimum) const {
    atomicMax(reinterpret_cast<long long*>(&number), static_cast<long long>(minimum));
  }
};

#endif

}  // namespace varlen::cuda
